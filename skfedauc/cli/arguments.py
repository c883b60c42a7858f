"""The arguments: parsing, hints at misspelled ones, and checks before files are read."""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import skfedauc
from skfedauc._output_file import check_target
from skfedauc._words import counted, enumerated, shortened, shortened_text
from skfedauc.cli.options import COMMANDS, OPTIONS, STDIN, Option
from skfedauc.cli.terminal import PROG, CommandError

_DESCRIPTION = """\
AUC over groups: pooled, averaged, worst, and gaps between groups.

Without a command, skfedauc runs an example on data of scikit-learn: a grid search that
selects on a group statistic, and a report on held-out rows."""

_EXIT_CODES = """\
exit codes:
  0    success
  2    an error in the arguments, such as a path where nothing can be written, or in a file
       that is read
  3    standard output or a file could not be written; everything else was
  4    not enough memory
  5    a tolerance is not met or undecided, see --fail-if; everything was written
  130  interrupted
  141  the reader of the output closed the pipe
"""


class Arguments(argparse.Namespace):
    """Values of the options by name, and the name of the `command`.

    `options` describes each option. Options that the command lacks are None.
    """

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Group columns, the control column of ``--within`` and that of the clusters."""
        others = [name for name in (self.within, self.clusters) if name is not None]
        return tuple(dict.fromkeys([*self.group, *others]))

    @property
    def columns(self) -> list[str]:
        """All columns of predictions to read, without repetitions."""
        if self.command == "compare":
            return list(dict.fromkeys(name for model in self.models for name in model.columns))
        optional = [name for name in (self.weight, self.decisions) if name is not None]
        return list(dict.fromkeys([self.label, self.score, *self.group_columns, *optional]))

    @property
    def models(self) -> list[Arguments]:
        """Arguments of each of the models to compare, as those of an audit."""
        decisions = self.decisions or [None] * len(self.score)
        return [
            Arguments(**vars(self) | {"command": "audit", "score": score, "decisions": of_model})
            for score, of_model in zip(self.score, decisions, strict=True)
        ]

    @property
    def file_name(self) -> str:
        """Name of the file of predictions in messages."""
        return "standard input" if self.file == STDIN else str(self.file)

    @property
    def inputs(self) -> list[str]:
        """Files that the command reads."""
        return self.files or [self.file]

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        written = {
            "--html": self.html,
            "--json": None if self.json_is_printed else self.json,
            "--markdown": self.markdown,
            "--output": self.output,
        }
        return {option: path for option, path in written.items() if path is not None}

    @property
    def json_is_printed(self) -> bool:
        """True if JSON replaces the printed report."""
        return bool(self.json == STDIN)

    @property
    def of_audit(self) -> dict[str, Any]:
        """Options that are arguments of a FairnessAudit."""
        own = ("threshold", "favorable", "min_per_class")
        chosen = {name: getattr(self, name) for name in own}
        return {**chosen, "names": dict(self.name), "tolerances": dict(self.tolerance)}

    @property
    def has_audit(self) -> bool:
        """True if an option asks for more than the report of a summary has."""
        files = (self.html, self.json, self.markdown)
        return self.threshold != "auto" or any(
            [*files, self.within, self.clusters, self.favorable, self.name, self.tolerance]
        )


def parse(argv: Sequence[str] | None) -> Arguments | None:
    """Return the checked arguments of the command line, or None without a command."""
    words = sys.argv[1:] if argv is None else list(argv)
    program = _program()
    _check_spelling(words)
    values = vars(program.parse_args(words))
    if values["command"] is None:
        return None
    every = itertools.chain.from_iterable(OPTIONS.values())
    absent = dict.fromkeys(_name(option.flags[-1]) for option in every)
    arguments = Arguments(**absent | values)
    _check(arguments)
    return arguments


def _options_of(command: str) -> Iterator[Option]:
    for commands, options in OPTIONS.items():
        if command in commands.split():
            yield from options


def _name(flag: str) -> str:
    """Return the name of an option's value."""
    return flag.removeprefix("--").replace("-", "_")


# Parsers -------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises `CommandError`."""

    def __init__(self, **layout: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **layout
        )

    def error(self, message: str) -> NoReturn:
        if message.endswith("required: FILE") and "--json" in self.format_usage():
            message += ", before the options; the name after --json is the file to be written"
        raise CommandError(f"{message} (see {self.prog} --help)")


def _program() -> _Parser:
    """Return the parser of the program."""
    program = _Parser(
        prog=PROG,
        description=_DESCRIPTION,
        epilog=_epilog(command.example for command in COMMANDS.values()),
    )
    program.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print the version and exit",
    )
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        parser = commands.add_parser(
            name, help=command.about, description=command.about, epilog=_epilog([command.example])
        )
        for option in _options_of(name):
            once = {"action": _Once} if option.flags[0].startswith("-") else {}
            parser.add_argument(*option.flags, **once | option.settings)
    return program


def _epilog(examples: Iterable[str]) -> str:
    listed = [f"  {example}" for example in examples]
    title = "example:" if len(listed) == 1 else "examples:"
    return "\n".join([title, *listed, "", _EXIT_CODES])


class _Once(argparse.Action):
    """Option with one value, which argparse would replace without a word."""

    is_given = False

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        if self.is_given:
            other = ", or use compare for two models" if self.dest == "score" else ""
            parser.error(f"{self.option_strings[-1]} is passed twice; pass it once{other}")
        self.is_given = True
        setattr(namespace, self.dest, value)


class _Version(argparse.Action):
    """Option that prints the version, the only option that loads the kernel and numpy."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from skfedauc import _kernel

        print(f"{PROG} {skfedauc.__version__} ({_kernel.name()} kernel)")
        parser.exit()


# Spelling ------------------------------------------------------------------------------


def _check_spelling(words: Sequence[str]) -> None:
    """Refuse an unknown command, and unknown long options, with a hint.

    argparse reports a missing argument first, although the user may have misspelled the argument.
    """
    place = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    _check_options(words[:place], PROG, ["--help", "--version"])
    if place < len(words):
        command = words[place]
        if command not in COMMANDS:
            raise CommandError(
                f"there is no command {shortened(command)}; the commands are {', '.join(COMMANDS)}"
                f"{_nearest(command, COMMANDS)} (see {PROG} --help)"
            )
        known = ["--help", *(option.flags[-1] for option in _options_of(command))]
        _check_options(words[place + 1 :], f"{PROG} {command}", known)


def _check_options(words: Iterable[str], program: str, known: list[str]) -> None:
    for word in itertools.takewhile(lambda word: word != "--", words):
        option = word.partition("=")[0]
        # argparse takes a word with a space as a value, even after a dash.
        if option.startswith("--") and " " not in option and option not in known:
            raise CommandError(
                f"unrecognized arguments: {shortened_text(option)}"
                f"{_nearest(option, known)} (see {program} --help)"
            )


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint at the word that is nearest, or no text."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


# Checks --------------------------------------------------------------------------------


def _check(arguments: Arguments) -> None:
    """Refuse contradictory arguments and output files that are not writable."""
    for option in _options_of(arguments.command):
        _check_needs(arguments, option)
    if arguments.decisions and arguments.threshold != "auto":
        raise CommandError(
            "--decisions and --threshold both define the decisions; pass one of them"
        )
    for name in arguments.group or []:
        if name == arguments.label:
            raise CommandError(
                f"--group {shortened(name)} is also the column of --label; pass a column of groups"
            )
    limited = [name for name, _ in arguments.tolerance or []]
    if len(set(limited)) < len(limited):
        repeated = max(limited, key=limited.count)
        raise CommandError(f"--tolerance has two limits of {shortened(repeated)}; pass one of them")
    if arguments.clusters and arguments.clusters in [*(arguments.group or []), arguments.within]:
        raise CommandError(
            f"--clusters {shortened(arguments.clusters)} is also the column of --group or "
            "--within; pass the column of the clusters as --clusters only"
        )
    if arguments.within is not None and set(arguments.group or ()) == {arguments.within}:
        raise CommandError(
            f"--within {shortened(arguments.within)} is the only group column; pass the column "
            "of the groups to be compared as --group"
        )
    if arguments.command == "compare":
        _check_models(arguments)
    if arguments.epsilon is not None:
        _check_noise(arguments)
    _check_targets(arguments)


def _check_needs(arguments: Arguments, option: Option) -> None:
    """Refuse an option without the other option that it needs."""
    needed, _, values = option.needs.partition(" ")
    if not needed or getattr(arguments, _name(option.flags[-1])) is None:
        return
    found = getattr(arguments, _name(needed))
    if found is None or found == [] or (values and found not in values.split(" or ")):
        raise CommandError(f"{option.flags[-1]} needs {option.needs}; pass it as well")


def _check_noise(arguments: Arguments) -> None:
    """Refuse options under which epsilon would not hold."""
    for name in ("min_count", "weight", "model", "period"):
        if getattr(arguments, name) is not None:
            raise CommandError(f"--{name.replace('_', '-')} does not go with --epsilon")
    if len(arguments.group) > 1:
        raise CommandError("--epsilon takes one --group column; pass one with joined labels")
    if not arguments.agreed_groups:
        raise CommandError(
            "--epsilon needs --agreed-groups, the labels of all groups, separated by commas: what "
            "the file lists must not depend on the rows"
        )


def _check_models(arguments: Arguments) -> None:
    """Refuse other numbers of models than two, and contradictory decisions."""
    scores, decisions = arguments.score, arguments.decisions
    if len(set(scores)) != 2 or len(scores) != 2:
        raise CommandError(
            "compare needs two different --score columns, of the first and of the second model; "
            f"got {enumerated(list(map(shortened, scores)))}. For one model use audit; compare "
            "each further model with the first one by a command of its own"
        )
    if decisions and len(decisions) != 2:
        raise CommandError(
            "--decisions must be passed for each model, in the order of --score; got "
            f"{counted(len(decisions), 'column')}"
        )


def _check_targets(arguments: Arguments) -> None:
    """Refuse output files that are not writable, or that would overwrite an input."""
    outputs = arguments.outputs
    for option, path in outputs.items():
        if any(_are_same(path, read) for read in arguments.inputs):
            raise CommandError(f"{option} {path} would overwrite {_inputs_of(arguments)}")
        if path == STDIN:
            raise CommandError(f"{option} needs the name of a file; only --json is printed by -")
        try:
            check_target(path)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from None
    for first, second in itertools.combinations(outputs, 2):
        if _are_same(outputs[first], outputs[second]):
            raise CommandError(f"{first} and {second} are both {outputs[first]}; pass two files")


def _inputs_of(arguments: Arguments) -> str:
    """Return a phrase for the files that the command reads."""
    if arguments.command == "merge":
        return "one of the files to be merged; write to another file, or leave this one out"
    return "the counts" if arguments.command == "report" else "the predictions"


def _are_same(path: str, other: str) -> bool:
    """Return whether both paths name the same regular file, which may not exist yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
