"""Lines of the printed report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skfedauc import DisclosureError, GroupAUC
from skfedauc._words import counted, ends, enumerated, listed, shortened, shortened_label
from skfedauc.audit import FairnessAudit
from skfedauc.audit.tolerances import required
from skfedauc.cli.groupings import Grouping
from skfedauc.inference.differences import DifferenceTest
from skfedauc.report import STATISTICS
from skfedauc.report.bounds import Bounds, certain_range
from skfedauc.report.statistics import MATRIX_GROUPS

# Number of lowest and of highest groups to print, if there are more than twice as many groups
N_ENDS = 10
TOLERANCES = "Tolerances, with limits that fail with a probability of at most 5% each:"
_SIGNIFICANT = 0.05


def report_lines(grouping: Grouping) -> list[str]:
    """Return the lines of a report: statistics, tests, and the table of groups."""
    report = grouping.report
    statistics, known = report.statistics(), report.determined_statistics
    unknown = [name for name in STATISTICS if name not in known]
    omitted = [name for name in known if name not in statistics.index]
    return [
        _grouping_line(grouping),
        *aligned(_statistic_rows(report)),
        *(f"{name} is omitted above {MATRIX_GROUPS} groups." for name in omitted),
        *([_unknown_line(unknown)] if unknown else [_decomposition_line(report)]),
        *_test_lines(grouping),
        *_group_lines(grouping),
    ]


def tolerance_lines(audit: FairnessAudit) -> list[str]:
    """Return the lines of the answers to tolerances, or no lines without tolerances."""
    if audit.tolerances.empty:
        return []
    return [TOLERANCES, *aligned(tolerance_rows(audit), n_text=2)]


def tolerance_rows(audit: FairnessAudit) -> list[list[str]]:
    """Return the cells of the answers to tolerances: requirement, answer, value and limits."""
    table = audit.tolerances
    return [
        [
            f"{name} {required(name, row['limit'])}",
            row["answer"],
            number_text(row["value"]),
            "" if math.isnan(row["value"]) else f"{row['ci_low']:.4f}..{row['ci_high']:.4f}",
        ]
        for name, row in zip(table.index, table.to_dict("records"), strict=True)
    ]


def _statistic_rows(report: GroupAUC) -> list[list[str]]:
    """Return the statistics, for binned scores with the certain interval of each statistic."""
    if not report.pairs.is_binned:
        return [[str(name), number_text(value)] for name, value in report.statistics().items()]
    rows = [["", "binned", "certainly"]]
    for name, value, low, high in report.bounds().itertuples(name=None):
        certain = "" if math.isnan(low) else certain_range(Bounds(low, high)).replace(" to ", "..")
        rows.append([str(name), number_text(value), certain])
    return rows


def _grouping_line(grouping: Grouping) -> str:
    report, columns = grouping.report, grouping.columns
    rows = int(report.counts.n_positives.sum() + report.counts.n_negatives.sum())
    line = f"By {grouping.by}: {counted(rows, 'row')}"
    line += f", {counted(report.n_groups, 'group')}"
    if report.n_undefined:
        line += f", {report.n_undefined:,} of them undefined (one class only)"
    clusters = report.pairs.clusters
    if clusters is not None:
        line += f"; {counted(clusters.n_clusters, 'cluster')}"
        line += f" ({clusters.n_shared:,} in several groups)" if clusters.n_shared else ""
    if report.n_undefined == report.n_groups:
        line += (
            "; does each row have a group of its own? "
            f"The labels in --group {shortened(columns[0])} should repeat"
        )
    if grouping.n_dropped:
        without = listed(grouping.lacking, " or ")
        line += f"; {counted(grouping.n_dropped, 'row')} without {without} dropped"
    return line + report.counts.withheld.in_words().replace(", ", "; ")


def _unknown_line(names: list[str]) -> str:
    return f"A summary by group does not determine {enumerated(names, 'or')}."


def _decomposition_line(report: GroupAUC) -> str:
    parts = report.decomposition()
    return (
        f"Pairs of the pooled AUC: {parts.share_within:.1%} within groups (AUC "
        f"{number_text(parts.within)}), {1 - parts.share_within:.1%} across groups (AUC "
        f"{number_text(parts.cross)})."
    )


# Tests ---------------------------------------------------------------------------------


def _test_lines(grouping: Grouping) -> list[str]:
    """Return the lines of the tests of equal group AUCs, or no lines for undefined tests."""
    report = grouping.report
    if report.n_groups - report.n_undefined < 2:
        return []
    lines = []
    # The test assumes that groups share no clusters.
    if not report.variances.shares_clusters:
        test = report.test_equal_groups()
        if math.isnan(test.pvalue):
            return []
        left_out = f" ({test.n_left_out:,} too small to be tested)" if test.n_left_out else ""
        lines.append(f"Test that all groups{left_out} have the same AUC: p = {test.pvalue:.2g}.")
    difference = report.test_difference()
    lines.append(
        f"Largest difference of two groups: {_interval(difference)}.{_clearest(difference)}"
    )
    expected = _null_difference(report)
    if expected is not None:
        lines.append(
            "If all true AUCs were equal, sampling error alone would make it "
            f"{expected:.4f} on average."
        )
    others = grouping.without_small_groups
    if others is not None:
        n_small = report.n_groups - others.n_groups
        difference, expected = others.test_difference(), _null_difference(others)
        alone = "" if expected is None else f"; from sampling error alone {expected:.4f} on average"
        few = f"fewer than {grouping.min_per_class:,} positives or negatives"
        lines.append(
            f"Without {counted(n_small, 'group')} of {few}: largest difference"
            f" {_interval(difference)}{alone}.{_clearest(difference)}"
        )
    return lines


def _null_difference(report: GroupAUC) -> float | None:
    """Return the expected difference of equal groups, or None if the counts do not give it."""
    if report.variances.shares_clusters:
        return None
    try:
        return report.null_difference
    except DisclosureError:
        return None


def _interval(test: DifferenceTest) -> str:
    return (
        f"{test.difference:.4f}, 95% interval {test.ci_low:.4f}..{test.ci_high:.4f}, "
        f"p = {test.pvalue:.2g}"
    )


def _clearest(test: DifferenceTest) -> str:
    """Return a sentence on the pair with the smallest p value if another pair differs more."""
    clearest = test.clearest
    if clearest in (None, (test.highest, test.lowest)) or test.pvalue >= _SIGNIFICANT:
        return ""
    larger, smaller = map(shortened_label, clearest or ())
    return f" The p value belongs to {larger!r} and {smaller!r}, the most significant difference."


# Tables --------------------------------------------------------------------------------


def _group_lines(grouping: Grouping) -> list[str]:
    """Return lines of the groups by AUC, of many groups only the lowest and the highest."""
    report = grouping.report
    table = report.confidence_intervals()[["auc", "ci_low", "ci_high"]]
    table = table.join(report.by_group[["n_positives", "n_negatives"]])
    table = table.sort_values("auc", kind="stable")
    n_left_out = 0
    if len(table) > 2 * N_ENDS:
        # Undefined groups come last.
        lowest, _, highest = ends(np.arange(len(table) - report.n_undefined), 2 * N_ENDS)
        n_left_out = len(table) - lowest.size - highest.size
        table = table.iloc[[*lowest, *highest]]
    names = list(map(shortened_label, grouping.columns))
    rows = [[*names, "auc", "95% interval", "positives", "negatives"]]
    for label, auc, low, high, *counts in table.itertuples(name=None):
        parts = label if isinstance(label, tuple) else (label,)
        interval = "" if math.isnan(low) else f"{low:.4f}..{high:.4f}"
        numbers = [number_text(auc), interval, *(f"{int(n):,}" for n in counts)]
        rows.append([*map(shortened_label, parts), *numbers])
    lines = aligned(rows, n_text=len(names))
    if n_left_out:
        lines.append(
            f"Only the lowest and highest {N_ENDS} are shown; "
            f"{counted(n_left_out, 'more group')} with --json."
        )
    return lines


def aligned(rows: Sequence[Sequence[str]], n_text: int = 1) -> list[str]:
    """Return rows as lines with `n_text` columns flush left, and other columns flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if i < n_text else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def number_text(value: float) -> str:
    """Return a number with four decimals."""
    return "undefined" if math.isnan(value) else f"{value:.4f}"
