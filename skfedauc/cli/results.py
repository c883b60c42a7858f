"""Printed audit, page and document of the commands `audit` and `report`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skfedauc import GroupAUC
from skfedauc._output_file import write_whole
from skfedauc._words import counted, listed, shortened
from skfedauc.audit import FairnessAudit
from skfedauc.audit.arguments import MissingDecisionsError, check_tolerances
from skfedauc.audit.document import plain_label, plain_labels, plain_number
from skfedauc.audit.fairness_audit import joined
from skfedauc.audit.output import Output, as_json, check_installed, page_of
from skfedauc.audit.samples import bin_of_threshold
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import headline, n_by_class
from skfedauc.cli.groupings import Counted, Grouping
from skfedauc.cli.terminal import CommandError, OutputError, ToleranceError
from skfedauc.counts import Withheld
from skfedauc.report import estimates_of, first_lines_of
from skfedauc.report.text import summary_note

if TYPE_CHECKING:
    import pandas as pd


def report_lines(grouping: Grouping) -> list[str]:
    """Return a report's lines, as ``print`` shows a report."""
    lines = first_lines_of(grouping.shown)
    return [grouping_line(grouping), *lines.answers, *lines.table_lines()]


def grouping_line(grouping: Grouping) -> str:
    """Return how many rows and groups a report has, and which rows it leaves out."""
    report, columns = grouping.report, grouping.columns
    pairs = estimates_of(report).pairs
    rows = int(report.counts.n_positives.sum() + report.counts.n_negatives.sum())
    line = f"By {grouping.by}: {counted(rows, 'row')}"
    line += f", {counted(report.n_groups, 'group')}"
    if pairs.n_undefined:
        line += f", {pairs.n_undefined:,} of them undefined (one class only)"
    if pairs.clusters is not None:
        line += f"; {counted(pairs.clusters.n_clusters, 'cluster')}"
        shared = pairs.clusters.n_shared
        line += f" ({shared:,} in several groups)" if shared else ""
    if pairs.n_undefined == report.n_groups:
        line += (
            "; does each row have a group of its own? "
            f"The labels in --group {shortened(columns[0])} should repeat"
        )
    if grouping.n_dropped:
        without = listed(grouping.lacking, " or ")
        line += f"; {counted(grouping.n_dropped, 'row')} without {without} dropped"
    line += report.counts.disclosure.withheld.in_words().replace(", ", "; ")
    return line + summary_note(estimates_of(report))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with the first column flush left, and other columns flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def document_of(
    facts: Mapping[str, Any], groupings: Sequence[Grouping], audit: FairnessAudit
) -> dict[str, Any]:
    """Return facts on the file, the report of each grouping, and `FairnessAudit.to_dict`."""
    return {**facts, "groupings": list(map(_grouping, groupings)), **audit.to_dict()}


def _grouping(grouping: Grouping) -> dict[str, Any]:
    """Return the sizes and AUCs of all groups, and the statistics of the groups that are compared.

    The answers of the audit are about the same groups.
    """
    report, compared = grouping.report, grouping.shown
    estimates = estimates_of(report)
    test, clusters = None, estimates.pairs.clusters
    if not estimates_of(compared).variances.shares_clusters:
        test = compared.test_equal_groups()
    counts, auc = report.counts, estimates.pairs.auc
    rows = zip(counts.groups or (), counts.n_positives, counts.n_negatives, auc, strict=True)
    return {
        "by": list(grouping.columns),
        "within": {name: plain_label(label) for name, label in grouping.within.items()},
        "n_positives": int(counts.n_positives.sum()),
        "n_negatives": int(counts.n_negatives.sum()),
        "n_dropped": grouping.n_dropped,
        "withheld": _withheld(counts.disclosure.withheld),
        "n_groups": report.n_groups,
        "n_undefined": estimates.pairs.n_undefined,
        "n_compared": compared.n_groups,
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "statistics": {str(k): plain_number(v) for k, v in compared.statistics().items()},
        "bounds": _bounds(compared),
        "decomposition": {
            k: plain_number(v) for k, v in compared.decomposition()._asdict().items()
        },
        "test_equal_groups": None
        if test is None
        else {
            "statistic": plain_number(test.statistic),
            "pvalue": plain_number(test.pvalue),
            "method": test.method,
            "n_groups": test.n_groups,
        },
        "groups": [
            {
                "label": plain_label(label),
                "n_positives": int(n_positives),
                "n_negatives": int(n_negatives),
                "auc": plain_number(value),
            }
            for label, n_positives, n_negatives, value in rows
        ],
    }


def _withheld(withheld: Withheld) -> dict[str, Any]:
    """Return the numbers, limits and labels of withheld groups, with null for unknown entries."""
    labels = withheld.labels
    return {
        "n_groups": withheld.n_groups,
        "n_positives": withheld.n_positives,
        "n_negatives": withheld.n_negatives,
        "most_positives": withheld.most_positives,
        "most_negatives": withheld.most_negatives,
        "labels": None if labels is None else plain_labels(labels),
        "is_n_dropped_low": withheld.is_n_missing_low,
    }


def _bounds(report: GroupAUC) -> dict[str, Any] | None:
    """Return the certain interval of each statistic of binned scores, or None for exact scores."""
    if not estimates_of(report).pairs.is_binned:
        return None
    table = report.bounds()[["low", "high"]]
    return {
        str(name): {"low": plain_number(low), "high": plain_number(high)}
        for name, low, high in table.itertuples(name=None)
    }


# Largest number of tolerances in a message
_MOST_NAMED = 5


def check_options(options: Arguments) -> None:
    """Check options that need packages or gap names, before reading the file."""
    try:
        if options.html is not None:
            check_installed()
        check_tolerances(options.tolerances, options.favorable)
    except (ImportError, ValueError) as error:
        raise CommandError(_as_option(error)) from None


def _as_option(error: Exception) -> str:
    """Return a message of the library with the option in place of the argument."""
    said = str(error).replace("tolerances has", "--tolerance has")
    said = re.sub("favorable='(.*?)'", r"--favorable \1", said).replace("pos_label=", "--pos-label")
    return said.removesuffix(".")


def results(
    counted_rows: Counted,
    more: str,
    facts: Mapping[str, Any],
    options: Arguments,
) -> Iterator[list[str]]:
    """Yield lines to print, and then write the files, so the user sees the audit if writing fails.

    The headline ends with `more`, and `facts` are the first entries of the document.
    """
    groupings, counts = counted_rows.groupings, counted_rows.with_a_label
    more += counted_rows.without_level_in_words()
    first_line = headline(counts, options.file_name, more)
    if options.within is not None:
        control = {"column": options.within, "n_dropped": counted_rows.n_without_level}
        facts = {**facts, "within": control}
    facts = {**facts, **n_by_class(counts)}
    if groupings[0].report.counts.disclosure.level == "summary":
        # A summary by group has no scores for an audit.
        yield [first_line]
        for grouping in groupings:
            yield ["", *report_lines(grouping)]
        return
    groupings, audit = _audited(groupings, options)

    headlines = [first_line, *map(grouping_line, groupings), ""]
    yield from outputs(audit, headlines, lambda: document_of(facts, groupings, audit), options)
    check_answers(answers_of(audit.tolerances), options)


def outputs(
    result: Output,
    headlines: Sequence[str],
    document: Callable[[], dict[str, Any]],
    options: Arguments,
) -> Iterator[list[str]]:
    """Yield the lines of an audit or a comparison, and then write its files."""
    if options.json_is_printed:
        yield as_json(document()).splitlines()
    else:
        yield list(headlines)
        yield result.document.lines()
    contents = {}
    if options.html is not None:
        contents[options.html] = page_of(result)
    if options.markdown is not None:
        contents[options.markdown] = result.document.to_markdown()
    if options.json_file is not None:
        contents[options.json_file] = as_json(document()) + "\n"
    _write_files(contents)
    if contents and not options.json_is_printed:
        yield [
            "",
            *(f"The {what} is in {path}." for what, path in options.described_outputs.items()),
        ]


# Audits --------------------------------------------------------------------------------


def _audited(
    groupings: Sequence[Grouping], options: Arguments
) -> tuple[list[Grouping], FairnessAudit]:
    """Return the groupings, and one audit with a column for each of them.

    With a control column, each grouping has a part for each label of the column.
    """
    chosen: dict[str, Any] = {
        "threshold": options.threshold,
        "favorable": options.favorable,
        "names": options.names,
        "min_per_class": options.min_per_class,
        "tolerances": options.tolerances,
    }
    _check_threshold(groupings, options.threshold)
    parts, audits, base = [], [], None
    for grouping in groupings:
        columns = grouping.columns
        crossed = [columns] if len(columns) > 1 else []
        report, decisions = grouping.report, grouping.decisions
        try:
            audit = FairnessAudit(report, decisions=decisions, intersections=crossed, **chosen)
        except MissingDecisionsError as error:
            raise needs_decisions(error) from None
        base = audit if base is None else base
        if options.within is None:
            parts.append(grouping)
            audits.append(audit)
            continue
        for level, of_level in audit.within(options.within).items():
            parts.append(grouping.of_level(options.within, level, of_level.report))
            audits.append(of_level)
    assert base is not None
    return parts, joined(base, audits)


def needs_decisions(error: MissingDecisionsError) -> CommandError:
    """Return the error of a tolerance of decisions without decisions."""
    return CommandError(
        f"--tolerance has {shortened(error.gap)}, a gap of decisions, and this audit has none; "
        "pass --decisions or a number as --threshold"
    )


def answers_of(tolerances: pd.DataFrame, more: str = "") -> list[tuple[str, str]]:
    """Return the names of tolerances, and their answers."""
    answers = tolerances["answer"]
    return [
        (f"{gap} by {column}{more}", answer)
        for (column, gap), answer in zip(answers.index, answers, strict=True)
    ]


def check_answers(answers: Iterable[tuple[str, str]], options: Arguments) -> None:
    """Raise an error if the answer to a tolerance is one that makes the command fail."""
    if options.fail_if is None:
        return
    failing = {"not met"} if options.fail_if == "not-met" else {"not met", "undecided"}
    found = [f"{name} is {answer}" for name, answer in answers if answer in failing]
    if found:
        more = len(found) - _MOST_NAMED
        named = [*found[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])]
        raise ToleranceError(f"--fail-if {options.fail_if}: {'; '.join(named)}")


def _check_threshold(groupings: Sequence[Grouping], threshold: Any) -> None:
    """Raise an error if the threshold is within a bin or range, which hides decisions."""
    if not isinstance(threshold, float):
        return
    for grouping in groupings:
        counts = grouping.report.counts
        bin_ = bin_of_threshold(counts, threshold)
        if bin_ is not None:
            low, high = bin_
            noun, mend = "bin", "pass an edge of a bin, or none"
            if counts.disclosure.bins is None:
                noun, mend = "range", "count the rows by bins without --min-count, or pass none"
            raise CommandError(
                f"--threshold {threshold:g} is within a {noun} of scores, from {low} to {high}, "
                f"so the decisions are unknown; {mend} to audit the ranking alone"
            )


# Files ---------------------------------------------------------------------------------


def _write_files(contents: Mapping[str, str]) -> None:
    """Write each file, even if writing another file fails."""
    failed = []
    for path, text in contents.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path}: cannot be written: {error.strerror}")
    if failed:
        raise OutputError("; ".join(failed))
