"""The commands and their options: parsing, and checks before files are read."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from skfedauc._output_file import check_target
from skfedauc._words import listed, shortened, shortened_text
from skfedauc.cli.terminal import PROG, CommandError

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
STDIN = "-"

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

# What each command does, and an example
COMMANDS = """\
audit
  Report the AUC over groups of the predictions in a file.
  skfedauc audit predictions.csv --label died --score risk --group hospital --group sex
compare
  Compare two models, or a model before and after a mitigation, on the same rows.
  skfedauc compare predictions.csv --label died --score before --score after --group sex
count
  Count the predictions in a file by group, score and class, and write the counts.
  skfedauc count oslo.csv --label died --score risk --group sex --source oslo -o oslo.skfa
merge
  Add up the counts of several files, such as the files of all sites.
  skfedauc merge oslo.skfa bern.skfa -o all.skfa
report
  Report the AUC over groups from counts, with the numbers of an audit of the rows.
  skfedauc report all.skfa --html report.html
show
  Say what a file of counts holds and what it discloses.
  skfedauc show oslo.skfa"""


def _number(text: str) -> float | str | None:
    """Return a number, None for "none", and other text for the library to judge."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        return text


def _whole_number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() else text


class _Once(argparse.Action):
    """Option with one value, which argparse would replace without a word."""

    is_given = False

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        if self.is_given:
            parser.error(f"{self.option_strings[-1]} is passed twice; pass it once")
        self.is_given = True
        setattr(namespace, self.dest, value)


class _Named(argparse.Action):
    """Option NAME=VALUE, which may be repeated with other names."""

    def __call__(self, parser: Any, namespace: Any, value: Any, *_: Any) -> None:
        name, _, of_name = value.partition("=")
        known, option = getattr(namespace, self.dest), self.option_strings[-1]
        if not name or not of_name:
            lacking = str(self.metavar).partition("=")[2 if name else 0]
            parser.error(f"{option} {shortened(value)} lacks the {lacking}: pass {self.metavar}")
        if name in known:
            parser.error(f"{option} is passed twice for {name}; got {shortened(value)}")
        setattr(namespace, self.dest, {**known, name: of_name})


# Options by the commands that have them: usage and help. The usage has the name, and the value or
# the choices; an option without a value is true if it is passed. The help of an option that needs
# another one begins with it, and with the values that it needs.
OPTIONS = f"""\
audit compare count
  file FILE: predictions, one per row: {", ".join(ENDINGS)}, or {STDIN} to read CSV from a pipe
  --label COL: column of the true labels
  --score COL: column of the scores, higher for positives; compare: of each model, first of the
      model before, then of the model after
  --group COL: column of the groups; may be repeated for further columns and their combinations
  --weight COL: column of the rows' weights
  --pos-label V: positive class (default: 1 or true, of labels 0 and 1, -1 and 1, or false and true)
  --missing raise|drop|group: rows that lack a group: stop, drop them, or make '(missing)' their
      group (default: %(default)s)
  --encoding NAME: encoding of text, such as latin-1 (default: utf-8)
  --decimal MARK: decimal mark of numbers in text: a point or a comma (default: %(default)s)
report show
  file FILE: counts that `count` or `merge` wrote
merge
  files FILE: counts that `count` or `merge` wrote
  --replace: of two countings of a source, model and period, add the last
  --any-model: merge files of different models
  --skip-invalid: leave out absent and damaged files, and those that contradict most, with a
      warning
  --without FILE: take a file out of the sum that has it, such as that of a site that withdraws; may
      be repeated
  --by-period: make the period of each file the last group column
audit compare
  --decisions COL: column of the decisions, labels of the classes, or 0 and 1; compare: of each
      model, in the order of --score
audit report
  --within COL: audit the groups of the other columns within each label of this column, such as the
      hospital, whose differences are accepted
audit compare report
  --clusters COL: column of the clusters, such as patients with several rows each; intervals allow
      for dependent rows of a cluster
  --html PAGE: also write the results, with tables and plots, to this HTML file
  --threshold T: also ask about decisions for scores of at least T; none asks about the ranking only
      (default: 0.5 if all scores are between 0 and 1, otherwise none)
  --min-per-class N: least positives and negatives of a group that is compared; smaller groups are
      listed, and left out of all numbers (default: %(default)s)
  --favorable positive|negative: class that is the favorable outcome for a person: say which groups
      the model favors
  --tolerance NAME=LIMIT: limit of a gap between groups, such as difference=0.05 for AUCs that
      differ by at most 0.05; the answer is whether these rows show that it is met, not met or
      neither; may be repeated. At least the limit have to be: ratio, demographic_parity_ratio. At
      most: difference, xauc_disparity, demographic_parity_difference,
      true_positive_rate_difference, false_positive_rate_difference, equalized_odds_difference,
      calibration_difference
  --fail-if not-met|undecided: with --tolerance: exit with code 5 if a tolerance is not met
      (not-met), or not met or undecided (undecided), after everything is written; compare asks the
      second model
  --name KEY=TEXT: name of the model, the label or the score in the results, such as --name
      'model=credit score 3'; may be repeated
  --markdown CARD: also write the report to this Markdown file, as a section of a model card
  --json DOCUMENT: also write all results to this JSON file; without a file, or with {STDIN}, print
      the JSON instead of the report. Undefined numbers are null; cross_difference is omitted above
      500 groups
count merge
  -o --output COUNTS: file for the counts, such as NAME.skfa
  --disclosure exact|bins|summary: what the file discloses: each score, bins, which bound every AUC,
      or AUCs of groups with variances (default: exact; merge: the level of the files)
  --bins RULE: with --disclosure bins: probabilities, for scores from 0 to 1, scores, for all
      scores, or the cut points, separated by commas, with = if the first is negative: --bins=-1,0.
      probabilities:OCTAVES:PARTS and scores:PARTS set the numbers of skfedauc.Bins (default:
      probabilities)
count
  --source NAME: name of who counts, such as the site, stored in the file
  --model TEXT: name or version of the model, stored in the file
  --period TEXT: when the rows arose, such as 2026-10, stored in the file; merge adds a source,
      model and period once
  --min-count N: with --disclosure bins or summary: write no number of rows of a class from 1 to N -
      1, for N of 3 or more; neighboring bins of a group and class are joined, and groups with fewer
      rows of a class are left out
  --tell-withheld number|rows|labels: with --min-count: what the file discloses of groups that are
      left out: their number, also their rows of each class, unless a number is small (the default),
      or also their labels
  --epsilon E: with --disclosure bins: draw noise for differential privacy once, and write counts
      that disclose almost nothing about one row for a small E, such as 1; needs skfedauc[privacy].
      Run it once for the rows of a site: each run adds its E
  --rows-per-person N: with --epsilon: most rows of one person, all of which E protects (default: 1)
  --agreed-groups A,B: with --epsilon: labels of the groups of all sites, separated by commas,
      agreed before counting; the file has all of them, also those without rows"""
# Further settings of argparse
_SETTINGS: dict[str, dict[str, Any]] = {
    "--label": {"required": True},
    "--score": {"required": True, "action": "append"},
    "--group": {"required": True, "action": "append"},
    "--missing": {"default": "raise"},
    "--decimal": {"choices": [".", ","], "default": "."},
    "files": {"nargs": "+"},
    "--without": {"action": "append", "default": []},
    "--decisions": {"action": "append"},
    "--threshold": {"type": _number, "default": "auto"},
    "--min-per-class": {"type": _whole_number, "default": 10},
    "--tolerance": {"action": _Named, "default": {}},
    "--name": {"action": _Named, "default": {}},
    "--json": {"nargs": "?", "const": STDIN},
    "--output": {"required": True},
    "--min-count": {"type": _whole_number},
    "--epsilon": {"type": _number},
    "--rows-per-person": {"type": _whole_number},
    "--agreed-groups": {"type": lambda text: text.split(",")},
}


class Arguments(argparse.Namespace):
    """Values of the options by name, and the name of the `command`.

    Options that the command lacks are None.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Group columns, the control column of ``--within`` and that of the clusters."""
        others = [name for name in (self.within, self.clusters) if name is not None]
        return tuple(dict.fromkeys([*self.group, *others]))

    @property
    def columns(self) -> list[str]:
        """All columns of predictions to read, without repetitions."""
        of_models = [*self.score, *(self.decisions or [])]
        named = [self.label, *of_models, *self.group_columns, self.weight]
        return list(dict.fromkeys(name for name in named if name is not None))

    @property
    def file_name(self) -> str:
        """Name of the file that is read, in messages."""
        return "standard input" if self.file == STDIN else str(self.file)

    @property
    def outputs(self) -> dict[str, str]:
        """Files that the command writes, by option."""
        json = None if self.json_is_printed else self.json
        written = {"--html": self.html, "--json": json, "--markdown": self.markdown}
        return {k: v for k, v in (written | {"--output": self.output}).items() if v is not None}

    @property
    def json_is_printed(self) -> bool:
        """True if JSON replaces the printed report."""
        return bool(self.json == STDIN)

    def of_audit(self, columns: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the arguments of a FairnessAudit by these columns and their combination."""
        own = ("threshold", "favorable", "min_per_class")
        return {
            **{name: getattr(self, name) for name in own},
            "names": self.name,
            "tolerances": {name: _number(limit) for name, limit in self.tolerance.items()},
            "intersections": [columns] if len(columns) > 1 else [],
        }


class _Parser(argparse.ArgumentParser):
    """Argument parser that raises `CommandError`."""

    def __init__(self, **layout: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **layout
        )

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{shortened_text(message, 500)} (see {self.prog} --help)")


def parse(argv: Sequence[str] | None) -> Arguments:
    """Return the checked arguments of the command line; the command may be None."""
    listed_commands = list(_blocks(COMMANDS))
    examples = [example for _, _, example in listed_commands]
    program = _Parser(prog=PROG, description=_DESCRIPTION, epilog=_epilog(examples))
    program.add_argument("--version", action="store_true", help="print the version and exit")
    commands = program.add_subparsers(dest="command", metavar="COMMAND")
    for name, about, example in listed_commands:
        parser = commands.add_parser(name, help=about, description=about, epilog=_epilog([example]))
        for usage, text in _options_of(name):
            *flags, value = usage.split()
            own: dict[str, Any] = {"help": text}
            if not flags:
                flags, own["action"] = [value], "store_true"
            else:
                own |= {"choices": value.split("|")} if "|" in value else {"metavar": value}
                own |= {"action": _Once} if flags[0].startswith("-") else {}
            parser.add_argument(*flags, **own | _SETTINGS.get(_name_of(usage), {}))
    arguments = Arguments(**vars(program.parse_args(argv)))
    if arguments.command is not None:
        _check(arguments)
    return arguments


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield each line that is not indented, with the items below it."""
    for block in re.split(r"\n(?! )", text):
        yield re.split(r"\n  (?! )", block)


def _options_of(command: str) -> Iterator[tuple[str, str]]:
    """Yield the usage and the help of each option of a command."""
    for commands, *options in _blocks(OPTIONS):
        if command in commands.split():
            for option in options:
                usage, _, text = " ".join(option.split()).partition(": ")
                yield usage, text


def _name_of(usage: str) -> str:
    """Return an option's long name, or an argument's name."""
    return next(word for word in usage.split() if word.startswith("--") or word[0] != "-")


def _epilog(examples: list[str]) -> str:
    title = "example:" if len(examples) == 1 else "examples:"
    return "\n".join([title, *(f"  {example}" for example in examples), "", _EXIT_CODES])


def _check(arguments: Arguments) -> None:
    """Refuse contradictory arguments, and output files that are not writable."""
    for usage, text in _options_of(arguments.command):
        if text.startswith("with --"):
            option, needs = _name_of(usage), text.removeprefix("with ").partition(":")[0]
            needed, _, values = needs.partition(" ")
            found = _value(arguments, needed)
            lacks = found in (None, [], {}) or (values and found not in values.split(" or "))
            if lacks and _value(arguments, option) is not None:
                raise CommandError(f"{option} needs {needs}; pass it as well")
    if arguments.label in (arguments.group or []):
        name = shortened(arguments.label)
        raise CommandError(f"--group {name} is also the column of --label; pass groups")
    if arguments.score is not None:
        _check_models(arguments)
    if arguments.epsilon is not None:
        _check_noise(arguments)
    read = [*(arguments.files or [arguments.file]), *(arguments.without or [])]
    seen = {os.path.realpath(path): path for path in read}
    for option, path in arguments.outputs.items():
        if path == STDIN:
            raise CommandError(f"{option} needs the name of a file; only --json is printed by -")
        target = os.path.realpath(path)
        if target in seen:
            raise CommandError(
                f"{option} {path} would overwrite {seen[target]}, which the command reads or "
                "writes as well; pass another file"
            )
        seen[target] = path
        try:
            check_target(path)
        except OSError as error:
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from None


def _value(arguments: Arguments, option: str) -> Any:
    return getattr(arguments, option.removeprefix("--").replace("-", "_"))


def _check_noise(arguments: Arguments) -> None:
    """Refuse options that the noise would ignore."""
    if arguments.min_count is not None:
        raise CommandError(
            "--min-count does not go with --epsilon, which protects small counts by noise; leave "
            "one of them out"
        )
    if len(arguments.group) > 1:
        raise CommandError("--epsilon takes one --group column; pass one with joined labels")
    if not arguments.agreed_groups:
        raise CommandError(
            "--epsilon needs --agreed-groups, the labels of all groups, separated by commas: what "
            "the file lists must not depend on the rows"
        )


def _check_models(arguments: Arguments) -> None:
    """Refuse other numbers of models than one, or two of `compare`."""
    scores, decisions = arguments.score, arguments.decisions
    n_models = 2 if arguments.command == "compare" else 1
    if len(scores) != n_models or len(set(scores)) != n_models:
        need = "compare needs two different --score columns, of the first and of the second model"
        if n_models == 1:
            need = "--score is passed twice; pass it once, or use compare for two models"
        raise CommandError(f"{need}; got {listed(scores)}")
    if decisions and len(decisions) != n_models:
        raise CommandError(f"--decisions must be passed once per --score; got {listed(decisions)}")
