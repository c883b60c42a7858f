"""Lines of the printed report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skfedauc._words import counted, listed, shortened
from skfedauc.audit import FairnessAudit
from skfedauc.audit.tolerances import required
from skfedauc.cli.groupings import Grouping
from skfedauc.report import estimates_of, first_lines_of
from skfedauc.report.text import summary_note

TOLERANCES = "Tolerances, with limits that fail with a probability of at most 5% each:"


def report_lines(grouping: Grouping) -> list[str]:
    """Return the lines of a report, as ``print`` shows a report."""
    lines = first_lines_of(grouping.shown)
    return [_grouping_line(grouping), *lines.answers, *lines.table_lines()]


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


def _grouping_line(grouping: Grouping) -> str:
    report, columns = grouping.report, grouping.columns
    rows = int(report.counts.n_positives.sum() + report.counts.n_negatives.sum())
    line = f"By {grouping.by}: {counted(rows, 'row')}"
    line += f", {counted(report.n_groups, 'group')}"
    if estimates_of(report).pairs.n_undefined:
        line += f", {estimates_of(report).pairs.n_undefined:,} of them undefined (one class only)"
    clusters = estimates_of(report).pairs.clusters
    if clusters is not None:
        line += f"; {counted(clusters.n_clusters, 'cluster')}"
        line += f" ({clusters.n_shared:,} in several groups)" if clusters.n_shared else ""
    if estimates_of(report).pairs.n_undefined == report.n_groups:
        line += (
            "; does each row have a group of its own? "
            f"The labels in --group {shortened(columns[0])} should repeat"
        )
    if grouping.n_dropped:
        without = listed(grouping.lacking, " or ")
        line += f"; {counted(grouping.n_dropped, 'row')} without {without} dropped"
    line += report.counts.disclosure.withheld.in_words().replace(", ", "; ")
    return line + summary_note(estimates_of(report))


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
