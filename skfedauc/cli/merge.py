"""The command `merge`: add up the counts of several files."""

from __future__ import annotations

from collections.abc import Iterator

from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import (
    groups_in_words,
    names_of_sources,
    read_counts,
    rows_by_class,
    warn_of_spellings,
    write_counts,
)
from skfedauc.cli.disclosure import level_in_words, options_of, rule_of
from skfedauc.cli.terminal import CommandError, print_warning
from skfedauc.counts import MergeError, ScoreCounts
from skfedauc.counts.score_counts import merge_named, view_of

# Remedies by the command line, by the reason of the error; the reason "disclosure" has its own.
_REMEDIES = {
    "pos_label": "count them with the same --pos-label",
    "labels": "give the classes the same names, and count again",
    "columns": "count all files with the same --group columns in the same order",
    "kinds": "skfedauc count writes groups as text: count the rows of the other file again in "
    "Python, with the groups as text by groups.astype(str)",
    "repeated": "leave one file out, or pass --replace to keep the later one of two countings with "
    "the same source, model and period",
    "period": "count again with --period, each period into a file of its own",
    "model": "leave one file out, or pass --any-model if the scores are comparable",
}


def merge(arguments: Arguments) -> Iterator[list[str]]:
    """Yield the lines to print, and write the sum at the end."""
    lines: list[str] = []
    valid: dict[str, str] = {}
    for path in arguments.files:
        try:
            lines.append(_line(path, read_counts(path)))
        except CommandError as error:
            if not arguments.skip_invalid:
                raise
            print_warning(f"{error}; it is left out")
        else:
            valid[path] = path
    try:
        whole, repeated = merge_named(
            valid,
            repeated="replace" if arguments.replace else "raise",
            models="any" if arguments.any_model else "same",
            disclosure=rule_of(arguments),
            by_period=arguments.by_period,
        )
    except MergeError as error:
        raise CommandError(_in_words(error, arguments)) from None
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removesuffix(".")) from None
    lines += [f"{path}: not added: another file repeats or replaces it" for path in repeated]
    warn_of_spellings(whole)
    yield [*lines, _line("sum", whole)]
    write_counts(whole, arguments.output)
    yield [f"The sum is in {arguments.output}."]


def _line(name: str, counts: ScoreCounts) -> str:
    weighted = ", weighted" if view_of(counts).is_weighted else ""
    disclosed = "" if counts.disclosure.level == "exact" else f", {level_in_words(counts)}"
    return (
        f"{name}: {names_of_sources(counts)}: {rows_by_class(counts)}{weighted}, "
        f"{groups_in_words(counts)}{counts.disclosure.withheld.in_words()}{disclosed}"
    )


def _in_words(error: MergeError, arguments: Arguments) -> str:
    """Return the message for files that do not fit together, with a remedy by the command line."""
    remedy = _REMEDIES.get(error.reason)
    if error.reason == "repeated" and arguments.replace:
        remedy = "a sum cannot be taken apart again: merge the original files, without the sum"
    if error.reason == "disclosure":
        remedy = "count the rows of one of them again with the bins of the other"
        if "ranges of scores" in error.fact:
            remedy = "pass --disclosure bins with the options of the bins of these ranges"
        if error.level is not None:
            remedy = f"pass {options_of(error.level)} to reduce all files to this level"
    if remedy is None:
        return str(error).removesuffix(".")
    return f"{error.fact.replace('the parts have', 'the files have')}; {remedy}"
