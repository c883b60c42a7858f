"""Checks of arguments before reading any file."""

from __future__ import annotations

import itertools
import os

from skfedauc._output_file import check_target
from skfedauc._words import enumerated, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.terminal import CommandError


def check(arguments: Arguments) -> None:
    """Refuse contradictory arguments and output files that are not writable."""
    command = arguments.command
    if command in ("audit", "compare"):
        _check_one_source(arguments.decisions, arguments.threshold)
    if command in ("audit", "compare", "report"):
        _check_report_options(arguments)
    if command == "audit":
        _check_columns(arguments)
    if command == "compare":
        _check_models(arguments)
    if command == "count":
        _check_small_counts(arguments)
        _check_noise(arguments)
    if command in ("count", "merge"):
        # The import is local, because help and errors of usage do not need numpy.
        from skfedauc.cli.disclosure import rule_of

        rule_of(arguments)
    _check_targets(arguments)


def _check_columns(arguments: Arguments) -> None:
    """Refuse a column that is both groups and clusters, and an audit without groups to compare."""
    if arguments.clusters is not None and arguments.clusters in (
        *arguments.group,
        arguments.within,
    ):
        raise CommandError(
            f"--clusters {shortened(arguments.clusters)} is also the column of --group or "
            "--within; pass the column of the clusters as --clusters only"
        )
    others = (arguments.within, arguments.clusters)
    if all(name in others for name in arguments.group_columns):
        raise CommandError(
            f"--within {shortened(arguments.within)} is the only group column; pass the column "
            "of the groups to be compared as --group"
        )


def _check_report_options(options: Arguments) -> None:
    """Refuse two limits of one gap, and a condition of failure without a limit."""
    if options.fail_if is not None and not options.tolerance:
        raise CommandError("--fail-if needs --tolerance; pass it as well")
    names = [name for name, _ in options.tolerance]
    if len(set(names)) < len(names):
        repeated = max(names, key=names.count)
        raise CommandError(f"--tolerance has two limits of {shortened(repeated)}; pass one of them")


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
            "--decisions must be passed for each model, in the order of --score; got 1 column"
            if len(decisions) == 1
            else f"--decisions must be passed twice; got {len(decisions)} columns"
        )


def _check_one_source(decisions: str | list[str] | None, threshold: object) -> None:
    """Refuse decisions of a column together with decisions at a threshold."""
    if decisions and threshold != "auto":
        raise CommandError(
            "--decisions and --threshold both define the decisions; pass one of them"
        )


def _check_small_counts(arguments: Arguments) -> None:
    """Refuse options of small counts that have no effect."""
    if arguments.min_count is None:
        for name in ("small_groups", "tell_withheld"):
            if getattr(arguments, name) is not None:
                raise CommandError(f"--{name.replace('_', '-')} needs --min-count; pass it as well")
    elif arguments.disclosure not in ("bins", "summary"):
        raise CommandError("--min-count needs --disclosure bins or summary; pass it as well")


def _check_noise(arguments: Arguments) -> None:
    """Refuse options under which epsilon would not hold, and options of noise without it."""
    if arguments.epsilon is None:
        for name in ("rows_per_person", "agreed_groups"):
            if getattr(arguments, name) is not None:
                raise CommandError(f"--{name.replace('_', '-')} needs --epsilon; pass it as well")
        return
    if arguments.disclosure != "bins":
        raise CommandError("--epsilon needs --disclosure bins, agreed by all sites; pass it")
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


def _check_targets(arguments: Arguments) -> None:
    """Refuse output files that are not writable, or that would overwrite an input."""
    outputs = arguments.outputs
    for option, path in outputs.items():
        if any(_are_same(path, read) for read in arguments.inputs):
            raise CommandError(f"{option} {path} would overwrite {_inputs_of(arguments)}")
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
