"""The commands `count` and `merge`: counts of a file of predictions, and of several sites."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skfedauc._words import counted, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.counts_file import (
    check_some_remain,
    groups_in_words,
    headline,
    level_in_words,
    names_of_sources,
    options_of,
    read_counts,
    reduced,
    rows_by_class,
    rule_of,
    scores_in_words,
    small_groups_in_words,
    warn_of_spellings,
    write_counts,
)
from skfedauc.cli.rows import counts_of, read_columns, rows_of, warn_of_labels, weights_in_words
from skfedauc.cli.terminal import CommandError, print_warning, refusals
from skfedauc.counts import Disclosure, MergeError, ScoreCounts
from skfedauc.counts.parquet import pyarrow_parquet
from skfedauc.counts.score_counts import merge_named, view_of


def count(arguments: Arguments) -> Iterator[list[str]]:
    """Yield the lines to print, and write the counts after the first lines."""
    rule = rule_of(arguments)
    with refusals():
        pyarrow_parquet()  # before the rows are read
    rows = rows_of(read_columns(arguments), arguments)
    exact = counts_of(rows, rows.scores, arguments.score)
    if arguments.epsilon is not None:
        warn_of_labels(rows, arguments.score)
        yield _write_private(exact, rule, arguments)
        return
    counts = reduced(exact, rule, f"column {shortened(arguments.score)}")
    _check_classes(exact, arguments)
    check_some_remain(exact, counts, arguments)
    warn_of_labels(rows, arguments.score)
    warn_of_spellings(exact)
    weighted = weights_in_words(rows, arguments)
    left_out = ""
    if exact.n_missing:
        left_out = f"; {counted(exact.n_missing, 'row')} without a group dropped"
    groups = f"{groups_in_words(exact)}{left_out}"
    lines = [headline(exact, arguments.file_name, weighted), groups]
    lines += small_groups_in_words(exact, counts, arguments)
    if counts.disclosure.level != "exact":
        scores = "" if counts.disclosure.level == "summary" else f"{scores_in_words(counts)}; "
        small = ""
        if arguments.min_count is not None:
            small = f"; each number of rows in it is 0 or at least {arguments.min_count}"
        lines.append(f"{scores}the file discloses {level_in_words(counts)}{small}")
    yield lines
    facts = {name: getattr(arguments, name) for name in ("model", "period")}
    write_counts(counts, arguments.output, arguments.source, **facts)
    size = counted(os.path.getsize(arguments.output), "byte")
    yield [
        f"The counts are in {arguments.output} ({size}). "
        f"skfedauc show {arguments.output} says what they disclose."
    ]


def _write_private(counts: ScoreCounts, rule: Disclosure | None, arguments: Arguments) -> list[str]:
    """Draw the noise of counts, write the file, and return the lines to print."""
    # The import is local, because importing takes longer than counting.
    from skfedauc.privacy import PrivateCounts

    assert rule is not None
    assert rule.bins is not None
    with refusals(written=arguments.output):
        private = PrivateCounts.from_counts(
            counts,
            rule.bins,
            arguments.agreed_groups,
            epsilon=arguments.epsilon,
            rows_per_person=arguments.rows_per_person or 1,
            pos_label=_agreed_label(arguments.pos_label),
            source=arguments.source,
        )
        private.save(arguments.output)
    return [
        f"{arguments.output}: {private!r}",
        f"skfedauc show {arguments.output} says what the counts disclose. Send this file again "
        "rather than drawing again: each draw of the same rows adds its epsilon.",
    ]


def _agreed_label(text: str | None) -> int | str:
    """Return the positive label by the option alone, since the file must not depend on the rows."""
    if text is None:
        return 1
    return int(text) if text.removeprefix("-").isdecimal() else text


def _check_classes(counts: ScoreCounts, arguments: Arguments) -> None:
    """Refuse counts without rows, and warn if the rows have one class only."""
    n_rows = {"positive": counts.n_positives.sum(), "negative": counts.n_negatives.sum()}
    absent = [name for name, n in n_rows.items() if n == 0]
    if len(absent) == 2:
        raise CommandError(f"{arguments.file_name}: there are no rows to count")
    if absent:
        print_warning(
            f"column {shortened(arguments.label)} has no {absent[0]} label among the "
            f"{counted(int(sum(n_rows.values())), 'row')}; other sites must hold the other class"
        )


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
    rule = rule_of(arguments)
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
    with refusals():
        try:
            whole, repeated = merge_named(
                valid,
                repeated="replace" if arguments.replace else "raise",
                models="any" if arguments.any_model else "same",
                disclosure=rule,
                by_period=arguments.by_period,
            )
        except MergeError as error:
            raise CommandError(_in_words(error, arguments)) from None
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
