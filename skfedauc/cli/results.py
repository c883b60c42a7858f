"""Printed report, page and document of the commands `audit` and `report`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skfedauc._output_file import write_whole
from skfedauc._words import counted, label_text, shortened, shortened_label
from skfedauc.audit import FairnessAudit
from skfedauc.audit.decisions import bin_of_threshold
from skfedauc.audit.page import Section, check_installed, page_of
from skfedauc.cli.arguments import ReportOptions
from skfedauc.cli.document import document_of
from skfedauc.cli.errors import CommandError, OutputError
from skfedauc.cli.groupings import SMALL, Grouping
from skfedauc.cli.text import report_lines
from skfedauc.counts import ScoreCounts


def check_page_can_be_made() -> None:
    """Raise an error if a package that the page needs is missing.

    Raises
    ------
    CommandError
        If a package is missing.
    """
    try:
        check_installed()
    except ImportError as error:
        raise CommandError(str(error)) from None


def results(
    groupings: Sequence[Grouping],
    headline: str,
    facts: Mapping[str, Any],
    file_name: str,
    options: ReportOptions,
) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files.

    The function writes files last, so the user sees the report even if writing fails.

    Parameters
    ----------
    groupings : sequence of Grouping
    headline : str
        First line of the printed report.
    facts : mapping of str to object
        First entries of the document.
    file_name : str
        Name of the input file.
    options : ReportOptions

    Raises
    ------
    CommandError
        If the reference is not a group, or if writing a file fails.
    """
    audits = _audits(groupings, options) if options.has_audit else []

    def document() -> str:
        return document_of({**facts, "favorable": options.favorable}, groupings, audits)

    if options.json_is_printed:
        yield document().splitlines()
    else:
        yield [headline]
        for grouping in groupings:
            yield ["", *report_lines(grouping)]
    contents = {}
    if options.html is not None:
        contents[options.html] = _page(groupings, audits, file_name)
    if options.json_file is not None:
        contents[options.json_file] = document() + "\n"
    _write(contents)
    if contents and not options.json_is_printed:
        yield ["", *_written(options)]


# Audits --------------------------------------------------------------------------------


def _audits(groupings: Sequence[Grouping], options: ReportOptions) -> list[FairnessAudit]:
    """Return an audit of each grouping, with p values adjusted for the claims of all audits."""
    chosen: dict[str, Any] = {
        "threshold": options.threshold,
        "favorable": options.favorable,
        "names": options.names,
    }
    if options.reference is not None:
        # The command has checked that there is only one grouping.
        chosen["reference"] = [_reference(groupings[0].report.counts, options.reference)]
    _check_threshold(groupings, options.threshold)
    audits = [
        FairnessAudit(grouping.report, decisions=grouping.decisions, min_per_class=SMALL, **chosen)
        for grouping in groupings
    ]
    return FairnessAudit.adjusted_together(audits)


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
            if counts.bins is None:
                noun, mend = "range", "count the rows by bins without --min-count, or pass none"
            raise CommandError(
                f"--threshold {threshold:g} is within a {noun} of scores, from {low} to {high}, "
                f"so the decisions are unknown; {mend} to audit the ranking alone"
            )


def _reference(counts: ScoreCounts, text: str) -> Any:
    """Return the label of the reference group after checking the size of the group."""
    labels = counts.groups or ()
    texts = [label if isinstance(label, str) else label_text(label) for label in labels]
    if text not in texts:
        raise CommandError(
            f"--reference must be a group's label; got {shortened(text)}, and the groups are "
            f"{', '.join(map(shortened_label, texts[:5]))}{', ...' * (len(texts) > 5)}"
        )
    place = texts.index(text)
    positives, negatives = int(counts.n_positives[place]), int(counts.n_negatives[place])
    if min(positives, negatives) < SMALL:
        raise CommandError(
            f"--reference {shortened_label(text)} is too small to be compared with: the group has "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, and a "
            f"comparison needs {SMALL} of both classes; pass another group"
        )
    return labels[place]


# Files ---------------------------------------------------------------------------------


def _page(groupings: Sequence[Grouping], audits: Sequence[FairnessAudit], file_name: str) -> str:
    sections = [
        Section(audit.tables, grouping.report.n_missing)
        for audit, grouping in zip(audits, groupings, strict=True)
    ]
    return page_of(sections, subject=Path(file_name).name)


def _write(contents: Mapping[str, str]) -> None:
    """Write each file, even if writing another file fails."""
    failed = []
    for path, text in contents.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path}: cannot be written: {error.strerror}")
    if failed:
        raise OutputError("; ".join(failed))


def _written(options: ReportOptions) -> Iterator[str]:
    for what, path in (
        ("fairness audit", options.html),
        ("JSON document", options.json_file),
    ):
        if path is not None:
            yield f"The {what} is in {path}."
