"""The command `merge`: add up the counts of several files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skfedauc import _input
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
from skfedauc.cli.errors import CommandError
from skfedauc.cli.spelling import warn_of_spellings
from skfedauc.counts import ScoreCounts

# Kinds of group labels in messages
_KINDS = {"str": "text", "int": "integers", "bool": "booleans", "date": "dates"}


def merge(arguments: MergeArguments) -> Iterator[list[str]]:
    """Yield the lines to print; the sum is written after the lines on it.

    Files are read twice, one at a time: first to check and describe them, then to merge them.

    Raises
    ------
    CommandError
        If a file does not hold counts, if files do not go together or hold the same counting, or
        if the sum cannot be written.
    """
    checked, lines = _Files(), []
    for path in arguments.files:
        counts = read_counts(path)
        checked.add(path, counts)
        lines.append(_line(path, counts))
    checked.check_classes()
    checked.check_groups()
    checked.check_kinds()
    if not arguments.allow_repeated:
        checked.check_repetitions()
    try:
        whole = ScoreCounts.merge(
            arguments.files, repeated="allow" if arguments.allow_repeated else "raise"
        )
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removesuffix(".")) from None
    warn_of_spellings(whole)
    yield [*lines, _line("sum", whole)]
    write_counts(whole, arguments.output)
    yield [f"The sum is in {arguments.output}."]


def _line(name: str, counts: ScoreCounts) -> str:
    weighted = ", weighted" if counts.is_weighted else ""
    return (
        f"{name}: {names_of_sources(counts)}: {rows_by_class(counts)}{weighted}, "
        f"{groups_in_words(counts)}"
    )


class _Files:
    """Facts on the files, by which wrong sums are detected."""

    def __init__(self) -> None:
        # The first file with groups, and the first one without
        self._by_grouping: dict[bool, str] = {}
        self._by_identifier: dict[str, list[tuple[str, str | None]]] = {}
        # The first file of each combination of group columns and kinds of their labels
        self._kinds: dict[tuple[tuple[str, ...], tuple[Any, ...]], str] = {}
        # Files by their positive label, and by labels of classes
        self._by_positive: dict[Any, str] = {}
        self._by_label: dict[Any, str] = {}

    def add(self, path: str, counts: ScoreCounts) -> None:
        seen, positive = counts.origin.classes
        if positive is not None:
            self._by_positive.setdefault(positive, path)
            seen = (*seen, positive)
        for label in seen:
            self._by_label.setdefault(label, path)
        if counts.groups != ():  # counts without rows merge with all groups
            self._by_grouping.setdefault(counts.groups is not None, path)
            if counts.groups is not None:
                kind = _input.kind_of(counts.labels)
                kinds = kind if isinstance(kind, tuple) else (kind,)
                self._kinds.setdefault((columns_of(counts), kinds), path)
        for source in counts.sources:
            countings = self._by_identifier.setdefault(source.identifier, [])
            countings.append((path, source.name))

    def check_classes(self) -> None:
        """Refuse files with other positive labels, or with more than two class labels."""
        for by, most, noun, mend in (
            (self._by_positive, 1, "positive labels", "count them with the same --pos-label"),
            (self._by_label, 2, "class labels", "give the classes the same names, and count again"),
        ):
            if len(by) > most:
                found = enumerated([f"{shortened(label)} in {by[label]}" for label in [*by][:4]])
                raise CommandError(f"the files have {len(by)} {noun}, {found}; {mend}")

    def check_groups(self) -> None:
        """Refuse files without groups beside files with groups."""
        if len(self._by_grouping) > 1:
            raise CommandError(
                f"{self._by_grouping[False]} has no groups, and other files have groups; name the "
                "missing group in Python, for instance by counts.regroup({None: 'device 7'})"
            )

    def check_kinds(self) -> None:
        """Refuse files whose group labels are of different kinds, such as text and integers."""
        found: dict[int, tuple[Any, str]] = {}
        every = {columns for columns, _ in self._kinds}
        n_names = len({name for columns in every for name in columns})
        if n_names < sum(map(len, every)) or len(set(map(len, every))) > 1:
            return  # the merge refuses groups by other columns
        for (columns, kinds), path in self._kinds.items():
            for place, kind in enumerate(kinds):
                before, first = found.setdefault(place, (kind, path))
                united = _input.unite_kinds(before, kind)
                if united is None:
                    of_first, of_path = (_KINDS.get(each, str(each)) for each in (before, kind))
                    others = [p for p, k in ((first, before), (path, kind)) if k != "str"]
                    raise CommandError(
                        f"the groups by {shortened(columns[place])} are {of_first} in {first} and "
                        f"{of_path} in {path}; skfedauc count writes groups as text: count the "
                        f"rows of {' and of '.join(others)} again in Python, with the groups as "
                        "text by groups.astype(str)"
                    )
                if united != before:  # only rows without a label had been found before
                    found[place] = (united, path)

    def check_repetitions(self) -> None:
        """Refuse a counting that is in the files twice."""
        for identifier, countings in self._by_identifier.items():
            if len(countings) < 2:
                continue
            (first, name), (second, _), *_ = countings
            counting = identifier if name is None else f"{shortened(name)} ({identifier})"
            holders = f"{first} twice" if first == second else f"{first} and {second}"
            raise CommandError(
                f"the same counting, {counting}, is in {holders}; its rows may count twice: "
                "leave one file out, or pass --allow-repeated"
            )
