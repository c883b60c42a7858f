"""Printed audit, page and document of the commands `audit` and `report`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skfedauc._output_file import write_whole
from skfedauc._words import shortened
from skfedauc.audit import FairnessAudit
from skfedauc.audit.arguments import MissingDecisionsError, check_tolerances
from skfedauc.audit.fairness_audit import joined
from skfedauc.audit.output import Output, as_json, page_of
from skfedauc.audit.page import check_installed
from skfedauc.audit.samples import bin_of_threshold
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.document import document_of
from skfedauc.cli.errors import CommandError, OutputError, ToleranceError
from skfedauc.cli.groupings import Grouping
from skfedauc.cli.text import grouping_line, report_lines

if TYPE_CHECKING:
    import pandas as pd

# Largest number of tolerances in a message
_MOST_NAMED = 5


def check_options(options: Arguments) -> None:
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
    options: Arguments,
) -> Iterator[list[str]]:
    """Yield lines to print as early as possible, and then write the files.

    The function writes files last, so the user sees the audit even if writing fails.

    Parameters
    ----------
    groupings : sequence of Grouping
    headline : str
        First line of the printed audit.
    facts : mapping of str to object
        First entries of the document.
    options : Arguments

    Raises
    ------
    CommandError
        If a tolerance needs decisions, or if writing a file fails. A `ToleranceError` at the end if
        the answer to a tolerance is one of ``--fail-if``.
    """
    if groupings[0].report.counts.disclosure.level == "summary":
        # A summary by group has no scores for an audit.
        yield [headline]
        for grouping in groupings:
            yield ["", *report_lines(grouping)]
        return
    groupings, audit = _audited(groupings, options)

    headlines = [headline, *map(grouping_line, groupings), ""]
    yield from outputs(audit, headlines, lambda: document_of(facts, groupings, audit), options)
    check_answers(answers_of(audit.tolerances), options)


def outputs(
    result: Output,
    headlines: Sequence[str],
    document: Callable[[], dict[str, Any]],
    options: Arguments,
) -> Iterator[list[str]]:
    """Yield the lines of an audit or a comparison, and then write its files.

    Parameters
    ----------
    result : Output
    headlines : sequence of str
        First lines of the printed result.
    document : callable
        Returns the JSON document.
    options : Arguments
    """
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
    """Raise an error if the answer to a tolerance is an answer that makes the command fail.

    Parameters
    ----------
    answers : iterable of tuples of two str
        Names of tolerances, and their answers.
    options : Arguments
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
