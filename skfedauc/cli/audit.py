"""The command `audit`: read a file of predictions; write a report, a page and a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skfedauc._output_file import write_whole
from skfedauc.audit import FairnessAudit
from skfedauc.audit.page import Section, check_installed, page_of
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.document import document_of
from skfedauc.cli.errors import CommandError, OutputError
from skfedauc.cli.groupings import Grouping, groupings_of
from skfedauc.cli.predictions_file import read_columns
from skfedauc.cli.rows import rows_of
from skfedauc.cli.text import headline, report_lines


def audit(arguments: Arguments) -> Iterator[list[str]]:
    """Yield the lines to print as soon as they are computed, then write the files.

    Files are written last, so that the report is printed even if a file cannot be written.

    Raises
    ------
    CommandError
        If the arguments or the predictions are wrong, or if a file cannot be written.
    """
    if arguments.html is not None:
        _check_page_can_be_made()
    rows = rows_of(read_columns(arguments), arguments)
    groupings = groupings_of(rows, arguments)
    audits = []
    if arguments.html is not None or arguments.json is not None:
        audits = _audits(groupings, arguments)
    if arguments.json_is_printed:
        yield document_of(rows, groupings, audits, arguments).splitlines()
    else:
        yield [headline(rows, arguments)]
        for grouping in groupings:
            yield ["", *report_lines(grouping)]
    contents = {}
    if arguments.html is not None:
        contents[arguments.html] = _page(groupings, audits, arguments)
    if arguments.json_file is not None:
        contents[arguments.json_file] = document_of(rows, groupings, audits, arguments) + "\n"
    _write(contents)
    if contents and not arguments.json_is_printed:
        yield ["", *_written(arguments)]


def _check_page_can_be_made() -> None:
    try:
        check_installed()
    except ImportError as error:
        raise CommandError(str(error)) from None


def _audits(groupings: list[Grouping], arguments: Arguments) -> list[FairnessAudit]:
    """Return an audit of each grouping, with p values adjusted for the claims of all audits."""
    options: dict[str, Any] = {
        "threshold": arguments.threshold,
        "favorable": arguments.favorable,
    }
    if arguments.reference is not None:
        options["reference"] = [arguments.reference]
    try:
        audits = [
            FairnessAudit(grouping.report, decisions=grouping.decisions, **options)
            for grouping in groupings
        ]
    except ValueError as error:
        text = str(error).removesuffix(".")
        raise CommandError(
            text.replace("reference must be 'rest' or", "--reference must be")
        ) from None
    return FairnessAudit.adjusted_together(audits)


def _page(groupings: list[Grouping], audits: list[FairnessAudit], arguments: Arguments) -> str:
    sections = [
        Section(audit.tables, grouping.n_dropped)
        for audit, grouping in zip(audits, groupings, strict=True)
    ]
    return page_of(sections, subject=Path(arguments.file_name).name)


def _write(contents: Mapping[str, str]) -> None:
    """Write each file, even if another file cannot be written."""
    failed = []
    for path, text in contents.items():
        try:
            write_whole(path, text)
        except OSError as error:
            failed.append(f"{path}: cannot be written: {error.strerror}")
    if failed:
        raise OutputError("; ".join(failed))


def _written(arguments: Arguments) -> Iterator[str]:
    for what, path in (
        ("fairness audit", arguments.html),
        ("JSON document", arguments.json_file),
    ):
        if path is not None:
            yield f"The {what} is in {path}."
