"""Arguments of the command line: options, their help texts, and checks without reading rows."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import skfedauc
from skfedauc._output_file import check_target
from skfedauc._words import shortened
from skfedauc.cli.errors import CommandError
from skfedauc.cli.terminal import PROG

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
STDIN = "-"

_DESCRIPTION = """\
AUC over groups: pooled, averaged, worst, and gaps between groups.

Without a command, skfedauc runs an example on data of scikit-learn: a grid search that
selects on a group statistic, and a report on held-out rows."""

_EXAMPLE = """\
example:
  skfedauc audit predictions.csv --label died --score risk --group hospital --group sex

exit codes:
  0    success
  2    an error in the arguments or in the predictions
  3    standard output or a file could not be written; everything else was
  4    not enough memory
  130  interrupted
  141  the reader of the output closed the pipe
"""


class Arguments(argparse.Namespace):
    """Parsed arguments, each under the name of its option.

    `command` is None without a command, and the other attributes are then absent.
    """

    command: Literal["audit"] | None
    file: str
    label: str
    score: str
    group: list[str]
    weight: str | None
    pos_label: str | None
    missing: Literal["error", "drop", "group"]
    encoding: str | None
    decimal: Literal[".", ","]
    html: str | None
    threshold: float | Literal["auto"] | None
    decisions: str | None
    reference: str | None
    favorable: Literal["positive", "negative"] | None
    json: str | None

    @property
    def group_columns(self) -> list[str]:
        """Columns of the groups, without repetitions."""
        return list(dict.fromkeys(self.group))

    @property
    def columns(self) -> list[str]:
        """All columns to read, without repetitions."""
        optional = [name for name in (self.weight, self.decisions) if name is not None]
        return list(dict.fromkeys([self.label, self.score, *self.group, *optional]))

    @property
    def file_name(self) -> str:
        """Name of the file of predictions in messages."""
        return "standard input" if self.file == STDIN else self.file

    @property
    def json_is_printed(self) -> bool:
        """Whether JSON replaces the printed report."""
        return self.json == STDIN

    @property
    def json_file(self) -> str | None:
        """File for the JSON document."""
        return None if self.json_is_printed else self.json


def parse(argv: Sequence[str] | None) -> Arguments:
    """Return the checked arguments of the command line.

    Raises
    ------
    CommandError
        If the arguments are wrong or contradict each other, or if an output file has the path of
        the predictions or cannot be written.
    SystemExit
        After ``--help`` or ``--version``.
    """
    arguments = parser().parse_args(argv, Arguments())
    if arguments.command is not None:
        _check_options(arguments)
        _check_targets(arguments)
    return arguments


# Options -------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Return the parser of the program and of its command `audit`."""
    layout: dict[str, Any] = {
        "epilog": _EXAMPLE,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    program = _Parser(prog=PROG, description=_DESCRIPTION, **layout)
    program.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    about = "Report the AUC over groups of the predictions in a file."
    _add_options(commands.add_parser("audit", help=about, description=about, **layout))
    return program


def _add_options(audit: argparse.ArgumentParser) -> None:
    add = audit.add_argument
    add(
        "file",
        metavar="FILE",
        help=f"predictions, one per row: {', '.join(ENDINGS)}, or {STDIN} for CSV from standard "
        "input; the separator of text files may be a comma, a semicolon or a tab",
    )
    add("--label", metavar="COL", required=True, help="column of the true labels")
    add(
        "--score",
        metavar="COL",
        required=True,
        help="column of the scores; a larger score makes the positive class more likely",
    )
    add(
        "--group",
        metavar="COL",
        required=True,
        action="append",
        help="column of the groups; may be repeated to report by each column, and then by "
        "their combinations",
    )
    add("--weight", metavar="COL", help="column of the rows' weights (default: equal weights)")
    add(
        "--pos-label",
        metavar="V",
        help="label of the positive class (default: 1 or true, if the labels are 0 and 1, -1 and "
        "1, or false and true)",
    )
    add(
        "--missing",
        choices=["error", "drop", "group"],
        default="error",
        help="what to do with rows whose group is empty: stop (error), drop them from the reports "
        "by that column (drop), or make them a group of their own (group) (default: %(default)s)",
    )
    add(
        "--encoding",
        metavar="NAME",
        type=_encoding,
        help="encoding of a text file, such as latin-1 or utf-16 (default: utf-8)",
    )
    add(
        "--decimal",
        metavar="MARK",
        choices=[".", ","],
        default=".",
        help="decimal mark of labels, scores and weights in text: a point or a comma "
        "(default: %(default)s)",
    )
    add(
        "--html",
        metavar="PAGE",
        help="also write a fairness audit, with tables and plots, to this HTML file, which is "
        "overwritten if it exists",
    )
    add(
        "--threshold",
        metavar="T",
        type=_threshold,
        default="auto",
        help="with --html or --json: also audit the decisions that predict the positive class "
        "for scores of at least T; none audits the ranking only (default: 0.5 if all scores are "
        "between 0 and 1, otherwise none)",
    )
    add(
        "--decisions",
        metavar="COL",
        help="with --html or --json: audit the decisions in this column instead of those of a "
        "threshold; decisions are labels of the classes, or 0 and 1",
    )
    add(
        "--reference",
        metavar="GROUP",
        help="with --html or --json, and one --group: compare the AUC of each group with that "
        "of this group (default: with that of all other groups)",
    )
    add(
        "--favorable",
        choices=["positive", "negative"],
        help="with --html or --json: class that is the favorable outcome for a person, such as "
        "positive for an approved loan, or negative for a default; findings then state which "
        "groups the model favors",
    )
    add(
        "--json",
        metavar="DOCUMENT",
        nargs="?",
        const=STDIN,
        help="also write all results to this file as JSON; without a file, or with "
        f"{STDIN}, print the JSON instead of the report. Undefined numbers are null; "
        "cross_difference is omitted above 500 groups",
    )


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises `CommandError`."""

    def error(self, message: str) -> NoReturn:
        if message.endswith("required: FILE"):
            message += ", before the options; the name after --json is the file to be written"
        raise CommandError(f"{message} (see {self.prog} --help)")


class _Version(argparse.Action):
    """Option that prints the version; only this option loads the kernel, which imports numpy."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from skfedauc import _kernel

        print(f"{PROG} {skfedauc.__version__} ({_kernel.name()} kernel)")
        parser.exit()


def _threshold(text: str) -> float | str | None:
    if text in ("none", "auto"):
        return None if text == "none" else text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"must be a finite number or none; got {shortened(text)}")
    return number


def _encoding(text: str) -> str:
    """Return the standard name of an encoding of text."""
    import codecs

    try:
        "".encode(text)
    except LookupError:  # `encode` also refuses codecs of bytes
        raise argparse.ArgumentTypeError(f"unknown encoding {shortened(text)}") from None
    return codecs.lookup(text).name


# Checks --------------------------------------------------------------------------------

_NEEDS_AUDIT = {"threshold": "auto", "favorable": None, "decisions": None, "reference": None}


def _check_options(arguments: Arguments) -> None:
    """Refuse options that have no effect or contradict each other."""
    if arguments.html is None and arguments.json is None:
        for option, default in _NEEDS_AUDIT.items():
            if getattr(arguments, option) != default:
                raise CommandError(f"--{option} needs --html or --json; pass one of them as well")
    if arguments.decisions is not None and arguments.threshold != "auto":
        raise CommandError(
            "--decisions and --threshold both define the decisions; pass one of them"
        )
    if arguments.reference is not None and len(arguments.group_columns) > 1:
        raise CommandError("--reference is a group of one column; pass a single --group")


def _check_targets(arguments: Arguments) -> None:
    """Refuse files that cannot be written, before the rows are read."""
    page, document = arguments.html, arguments.json_file
    for option, path in {"--html": page, "--json": document}.items():
        if path is None:
            continue
        if _are_same(path, arguments.file):
            raise CommandError(f"{option} {path} would overwrite the predictions")
        try:
            check_target(path)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from None
    if page is not None and document is not None and _are_same(page, document):
        raise CommandError(f"--html and --json are both {page}; pass two files")


def _are_same(path: str, other: str) -> bool:
    """Return whether both paths name the same regular file, which may not exist yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
