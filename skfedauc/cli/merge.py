"""The command `merge`: add up the counts of several files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from skfedauc._words import enumerated, shortened
from skfedauc.cli.arguments import MergeArguments
from skfedauc.cli.counts_file import (
    columns_of,
    groups_in_words,
    names_of_sources,
    read_counts,
    rows_by_class,
    write_counts,
)
from skfedauc.cli.disclosure import level_in_words, level_of, options_of
from skfedauc.cli.errors import CommandError
from skfedauc.cli.spelling import warn_of_spellings
from skfedauc.counts import MergeError, ScoreCounts
from skfedauc.counts.levels import common_level
from skfedauc.counts.score_counts import merge_named

# Kinds of group labels in messages
_KINDS = {"str": "text", "int": "integers", "bool": "booleans", "date": "dates"}


def merge(arguments: MergeArguments) -> Iterator[list[str]]:
    """Yield the lines to print, and write the sum at the end.

    `merge` reads one file at a time.

    Raises
    ------
    CommandError
        If a file does not hold counts, or if writing the sum fails. If files do not fit together,
        or hold the same counting.
    """
    lines: list[str] = []
    columns: tuple[str, ...] = ()

    def read() -> Iterator[tuple[str, ScoreCounts]]:
        nonlocal columns
        for path in arguments.files:
            counts = read_counts(path)
            lines.append(_line(path, counts))
            columns = columns_of(counts)
            yield path, counts

    try:
        whole = merge_named(
            read(),
            repeated="allow" if arguments.allow_repeated else "raise",
            disclosure=level_of(arguments),
        )
    except MergeError as error:
        raise CommandError(_in_words(error, columns)) from None
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removesuffix(".")) from None
    warn_of_spellings(whole)
    yield [*lines, _line("sum", whole)]
    write_counts(whole, arguments.output)
    yield [f"The sum is in {arguments.output}."]


def _line(name: str, counts: ScoreCounts) -> str:
    weighted = ", weighted" if counts.is_weighted else ""
    disclosed = "" if counts.disclosure == "exact" else f", {level_in_words(counts)}"
    return (
        f"{name}: {names_of_sources(counts)}: {rows_by_class(counts)}{weighted}, "
        f"{groups_in_words(counts)}{counts.withheld.in_words()}{disclosed}"
    )


# Errors --------------------------------------------------------------------------------


def _in_words(error: MergeError, columns: tuple[str, ...]) -> str:
    """Return the message for files that do not fit together, with a remedy by the command line."""
    words = _WORDS.get(error.reason)
    message = None if words is None else words(error, columns)
    return str(error).removesuffix(".") if message is None else message


def _of_classes(error: MergeError, _: tuple[str, ...]) -> str | None:
    found = error.found
    is_of_positive = error.reason == "pos_label"
    if len(found) < 2 + (not is_of_positive):
        return None
    noun, mend = "class labels", "give the classes the same names, and count again"
    if is_of_positive:
        noun, mend = "positive labels", "count them with the same --pos-label"
    shown = enumerated([f"{shortened(label)} in {path}" for label, path in found[:4]])
    return f"the files have {len(found)} {noun}, {shown}; {mend}"


def _of_groups(error: MergeError, _: tuple[str, ...]) -> str:
    (_, without), _ = error.found
    return (
        f"{without} has no groups, and other files have groups; name the missing group in Python, "
        "for instance by counts.regroup({None: 'device 7'})"
    )


def _of_kinds(error: MergeError, columns: tuple[str, ...]) -> str | None:
    if error.place is None:  # The files have groups by different numbers of columns.
        return None
    (before, first), (kind, path) = error.found
    of_first, of_path = (_KINDS.get(each, str(each)) for each in (before, kind))
    others = [path for kind, path in error.found if kind != "str"]
    return (
        f"the groups by {shortened(columns[error.place])} are {of_first} in {first} and "
        f"{of_path} in {path}; skfedauc count writes groups as text: count the rows of "
        f"{' and of '.join(others)} again in Python, with the groups as text by groups.astype(str)"
    )


def _of_disclosure(error: MergeError, _: tuple[str, ...]) -> str | None:
    if len({level for level, _ in error.found}) < 2:
        return None
    (one, first), (other, second) = error.found
    of_level = {"exact": "exact", "summary": "a summary", None: "of ranges of scores"}
    words = [of_level.get(level) or f"of {level!r}" for level in (one, other)]
    differ = f"{first} is {words[0]}, and {second} is {words[1]}"
    common = common_level(one, other)
    if common is None and None in (one, other):
        return f"{differ}; pass --disclosure bins with the options of the bins of these ranges"
    if common is None:
        return f"{differ}; count the rows of one of them again with the bins of the other"
    return f"{differ}; pass {options_of(common)} to reduce all files to this level"


def _of_repeated(error: MergeError, _: tuple[str, ...]) -> str:
    (source, first), (_, second) = error.found
    identifier, name = source
    counting = identifier if name is None else f"{shortened(name)} ({identifier})"
    holders = f"{first} twice" if first == second else f"{first} and {second}"
    return (
        f"the same counting, {counting}, is in {holders}; its rows may count twice: leave one file "
        "out, or pass --allow-repeated"
    )


# Functions that write the message, by the reason of the error. None keeps the message.
_WORDS: dict[str, Callable[[MergeError, tuple[str, ...]], str | None]] = {
    "pos_label": _of_classes,
    "labels": _of_classes,
    "groups": _of_groups,
    "kinds": _of_kinds,
    "disclosure": _of_disclosure,
    "repeated": _of_repeated,
}
