"""Printed report, page and document of the commands `audit` and `report`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skfedauc._output_file import write_whole
from skfedauc._words import counted, label_text, shortened, shortened_label
from skfedauc.audit import FairnessAudit
from skfedauc.audit.card import card_of
from skfedauc.audit.decisions import bin_of_threshold
from skfedauc.audit.page import Section, check_installed, page_of
from skfedauc.audit.tolerances import MissingDecisionsError, check_tolerances
from skfedauc.cli.arguments import ReportOptions
from skfedauc.cli.document import document_of
from skfedauc.cli.errors import CommandError, OutputError, ToleranceError
from skfedauc.cli.groupings import Grouping
from skfedauc.cli.text import report_lines, tolerance_lines
from skfedauc.counts import ScoreCounts

# Largest number of tolerances in a message
_MOST_NAMED = 5


def check_options(options: ReportOptions) -> None:
    """Check options that need packages or the names of gaps, before reading the file.

    Raises
    ------
    CommandError
        If a package that the page needs is missing, or if a tolerance names no gap, or a ratio of
        rates of the adverse outcome.
    """
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
        If the reference is not a group, if a tolerance needs decisions, or if writing a file fails.
        A `ToleranceError` at the end if the answer to a tolerance is one of ``--fail-if``.
    """
    audits: list[FairnessAudit] = []
    if options.has_audit:
        groupings, audits = _audits(groupings, options)

    def document() -> str:
        return document_of({**facts, "favorable": options.favorable}, groupings, audits)

    if options.json_is_printed:
        yield document().splitlines()
    else:
        yield [headline]
        for i, grouping in enumerate(groupings):
            yield ["", *report_lines(grouping), *(tolerance_lines(audits[i]) if audits else [])]
    contents = {}
    if options.html is not None:
        contents[options.html] = _page(groupings, audits, file_name)
    if options.markdown is not None:
        contents[options.markdown] = f"{card_of([audit.to_dict() for audit in audits])}\n"
    if options.json_file is not None:
        contents[options.json_file] = document() + "\n"
    write_files(contents)
    if contents and not options.json_is_printed:
        yield ["", *written(options.described_outputs)]
    check_answers(
        [
            (f"{name} by {grouping.by}", row["answer"])
            # Without a tolerance, there may be no audits.
            for grouping, audit in zip(groupings, audits, strict=False)
            for name, row in audit.tolerances.to_dict("index").items()
        ],
        options,
    )


# Audits --------------------------------------------------------------------------------


def _audits(
    groupings: Sequence[Grouping], options: ReportOptions
) -> tuple[list[Grouping], list[FairnessAudit]]:
    """Return groupings with an audit of each, whose p values account for the claims of all audits.

    With a control column, each grouping has a part for each label of the column.
    """
    chosen: dict[str, Any] = {
        "threshold": options.threshold,
        "favorable": options.favorable,
        "names": options.names,
        "min_per_class": options.min_per_class,
    }
    if options.reference is not None:
        # The command has checked that there is only one grouping.
        chosen["reference"] = [_reference(groupings[0].report.counts, options)]
    _check_threshold(groupings, options.threshold)
    chosen["tolerances"] = options.tolerances
    try:
        audits = [
            FairnessAudit(grouping.report, decisions=grouping.decisions, **chosen)
            for grouping in groupings
        ]
    except MissingDecisionsError as error:
        raise needs_decisions(error) from None
    parts = list(groupings)
    if options.within is not None:
        parts, audits = _by_level(groupings, audits, options.within)
    return parts, FairnessAudit.adjusted_together(audits)


def _by_level(
    groupings: Sequence[Grouping], audits: Sequence[FairnessAudit], column: str
) -> tuple[list[Grouping], list[FairnessAudit]]:
    """Return the groupings and the audits of each label of a control column."""
    parts, of_levels = [], []
    for grouping, audit in zip(groupings, audits, strict=True):
        try:
            by_level = audit.within(column)
        except ValueError as error:  # the reference within a label
            message = str(error).replace("min_per_class", "--min-per-class")
            raise CommandError(f"--reference: {message.removesuffix('.')}") from None
        for level, of_level in by_level.items():
            parts.append(grouping.of_level(column, level, of_level.report))
            of_levels.append(of_level)
    return parts, of_levels


def needs_decisions(error: MissingDecisionsError) -> CommandError:
    """Return the error of a tolerance of decisions without decisions."""
    return CommandError(
        f"--tolerance has {shortened(error.gap)}, a gap of decisions, and this audit has none; "
        "pass --decisions or a number as --threshold"
    )


def check_answers(answers: Iterable[tuple[str, str]], options: ReportOptions) -> None:
    """Raise an error if the answer to a tolerance is an answer that makes the command fail.

    Parameters
    ----------
    answers : iterable of tuples of two str
        Names of tolerances, and their answers.
    options : ReportOptions
    """
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


def _reference(counts: ScoreCounts, options: ReportOptions) -> Any:
    """Return the label of the reference group after checking the size of the group."""
    labels, text = counts.groups or (), str(options.reference)
    # With a control column, a label is a pair, and each label of the column has a reference group.
    own = labels if options.within is None else [label[0] for label in labels]
    texts = [label if isinstance(label, str) else label_text(label) for label in own]
    if text not in texts:
        known = list(dict.fromkeys(texts))
        raise CommandError(
            f"--reference must be a group's label; got {shortened(text)}, and the groups are "
            f"{', '.join(map(shortened_label, known[:5]))}{', ...' * (len(known) > 5)}"
        )
    places = [place for place, one in enumerate(texts) if one == text]
    n_smaller = np.minimum(counts.n_positives, counts.n_negatives)
    place = max(places, key=n_smaller.__getitem__)
    positives, negatives = int(counts.n_positives[place]), int(counts.n_negatives[place])
    if min(positives, negatives) < options.min_per_class:
        raise CommandError(
            f"--reference {shortened_label(text)} is too small to be compared with: the group has "
            f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}, and a "
            f"comparison needs {options.min_per_class:,} of both classes; pass another group, or a "
            "smaller --min-per-class"
        )
    return labels[place]


# Files ---------------------------------------------------------------------------------


def _page(groupings: Sequence[Grouping], audits: Sequence[FairnessAudit], file_name: str) -> str:
    sections = [
        Section(audit.tables, grouping.n_dropped)
        for audit, grouping in zip(audits, groupings, strict=True)
    ]
    return page_of(sections, subject=Path(file_name).name)


def write_files(contents: Mapping[str, str]) -> None:
    """Write each file, even if writing another file fails."""
    failed = []
    for path, text in contents.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path}: cannot be written: {error.strerror}")
    if failed:
        raise OutputError("; ".join(failed))


def written(outputs: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each file by description."""
    for what, path in outputs.items():
        yield f"The {what} is in {path}."
