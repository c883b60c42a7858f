"""Parser of the command line: commands, help, and hints at misspelled commands and options."""

from __future__ import annotations

import argparse
import difflib
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import skfedauc
from skfedauc._words import shortened, shortened_text
from skfedauc.cli import options
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.checks import check
from skfedauc.cli.terminal import PROG, CommandError


class _Command(NamedTuple):
    about: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]


_COMMANDS = {
    "audit": _Command(
        "Report the AUC over groups of the predictions in a file.",
        "skfedauc audit predictions.csv --label died --score risk --group hospital --group sex",
        options.add_audit,
    ),
    "compare": _Command(
        "Compare two models, or a model before and after a mitigation, on the same rows.",
        "skfedauc compare predictions.csv --label died --score before --score after --group sex",
        options.add_compare,
    ),
    "count": _Command(
        "Count the predictions in a file by group, score and class, and write the counts.",
        "skfedauc count oslo.csv --label died --score risk --group sex --source oslo -o oslo.skfa",
        options.add_count,
    ),
    "merge": _Command(
        "Add up the counts of several files, such as the files of all sites.",
        "skfedauc merge oslo.skfa bern.skfa -o all.skfa",
        options.add_merge,
    ),
    "report": _Command(
        "Report the AUC over groups from counts, with the numbers of an audit of the rows.",
        "skfedauc report all.skfa --html report.html",
        options.add_report,
    ),
    "show": _Command(
        "Say what a file of counts holds and what it discloses.",
        "skfedauc show oslo.skfa",
        options.add_show,
    ),
}

_DESCRIPTION = """\
AUC over groups: pooled, averaged, worst, and gaps between groups.

Without a command, skfedauc runs an example on data of scikit-learn: a grid search that
selects on a group statistic, and a report on held-out rows."""

_EXIT_CODES = """\
exit codes:
  0    success
  2    an error in the arguments or in a file that is read
  3    standard output or a file could not be written; everything else was
  4    not enough memory
  5    a tolerance is not met or undecided, see --fail-if; everything was written
  130  interrupted
  141  the reader of the output closed the pipe
"""


def parse(argv: Sequence[str] | None) -> Arguments | None:
    """Return the checked arguments of the command line, or None without a command."""
    words = sys.argv[1:] if argv is None else list(argv)
    program, parsers = _parsers()
    _check_spelling(words, program, parsers)
    values = vars(program.parse_args(words))
    if values["command"] is None:
        return None
    every = dict.fromkeys(name for parser in parsers.values() for name in parser.names)
    arguments = Arguments(**every | values)
    check(arguments)
    return arguments


# Parsers -------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Argument parser with a list of long options, which raises `CommandError`."""

    def __init__(self, **layout: Any) -> None:
        self.long_options: list[str] = []
        self.names: list[str] = []
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **layout
        )

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """Add an argument, and remember the long name and that of its value."""
        self.long_options += [name for name in names if name.startswith("--")]
        action = super().add_argument(*names, **settings)
        self.names.append(action.dest)
        return action

    def error(self, message: str) -> NoReturn:
        if message.endswith("required: FILE") and "--json" in self.long_options:
            message += ", before the options; the name after --json is the file to be written"
        raise CommandError(f"{message} (see {self.prog} --help)")


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser of the program, and the parsers of the commands."""
    program = _Parser(
        prog=PROG,
        description=_DESCRIPTION,
        epilog=_epilog(command.example for command in _COMMANDS.values()),
    )
    program.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print the version and exit",
    )
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    parsers = {}
    for name, command in _COMMANDS.items():
        parsers[name] = commands.add_parser(
            name, help=command.about, description=command.about, epilog=_epilog([command.example])
        )
        command.add_arguments(parsers[name])
    return program, parsers


def _epilog(examples: Iterable[str]) -> str:
    listed = [f"  {example}" for example in examples]
    title = "example:" if len(listed) == 1 else "examples:"
    return "\n".join([title, *listed, "", _EXIT_CODES])


class _Version(argparse.Action):
    """Option that prints the version, the only option that loads the kernel and numpy."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from skfedauc import _kernel

        print(f"{PROG} {skfedauc.__version__} ({_kernel.name()} kernel)")
        parser.exit()


# Spelling ------------------------------------------------------------------------------


def _check_spelling(words: Sequence[str], program: _Parser, parsers: dict[str, _Parser]) -> None:
    """Refuse an unknown command, and unknown long options, with a hint.

    argparse reports a missing argument first, although the user may have misspelled the argument.
    """
    place = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    _check_options(words[:place], program)
    if place < len(words):
        command = words[place]
        if command not in parsers:
            raise CommandError(
                f"there is no command {shortened(command)}; the commands are {', '.join(parsers)}"
                f"{_nearest(command, parsers)} (see {PROG} --help)"
            )
        _check_options(words[place + 1 :], parsers[command])


def _check_options(words: Iterable[str], parser: _Parser) -> None:
    for word in itertools.takewhile(lambda word: word != "--", words):
        option = word.partition("=")[0]
        # argparse takes a word with a space as a value, even after a dash.
        is_option = option.startswith("--") and " " not in option
        if is_option and option not in parser.long_options:
            raise CommandError(
                f"unrecognized arguments: {shortened_text(option)}"
                f"{_nearest(option, parser.long_options)} (see {parser.prog} --help)"
            )


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint at the word that is nearest, or no text."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
