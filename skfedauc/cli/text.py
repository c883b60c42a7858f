"""Lines of the printed report."""

from __future__ import annotations

from collections.abc import Sequence

from skfedauc._words import counted, listed, shortened
from skfedauc.cli.groupings import Grouping
from skfedauc.report import estimates_of, first_lines_of
from skfedauc.report.text import summary_note


def report_lines(grouping: Grouping) -> list[str]:
    """Return the lines of a report, as ``print`` shows a report."""
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
