"""What score counts that are read one by one must share, so that they can be merged.

The checks name the first part that differs. A merge of many parts cannot name this part.
"""

from __future__ import annotations

import contextlib
from typing import Any

from skfedauc import _input
from skfedauc._words import counted, listed, shortened
from skfedauc.counts.integrity import checksum_of
from skfedauc.counts.origin import Origin
from skfedauc.counts.state import State


class Agreement:
    """Class labels, kind of group labels and group columns that all parts must share.

    Parameters
    ----------
    parts : str
        Noun for several parts in messages, such as "batches".
    mend : str
        How to convert group labels to one kind, such as "text by .astype(str)".
    """

    def __init__(self, parts: str, mend: str) -> None:
        self._parts, self._mend = parts, mend
        self._classes = _input.Classes()
        self._kind: Any = None
        # The first part of each tuple of group columns
        self._by_columns: dict[tuple[str, ...], str] = {}

    def note(self, name: str, counts: State) -> None:
        """Take over a part in memory; merging raises errors about its classes and labels.

        Raises
        ------
        ValueError
            If its group columns and those of a part before do not go together.
        """
        self._check_columns(name, counts)
        with contextlib.suppress(ValueError):
            self._classes = _input.Classes.merged([self._classes, counts.origin.classes])
        self._unite(_input.kind_of(counts.labels))

    def check(self, name: str, counts: State) -> None:
        """Refuse a part with other classes, group columns or kinds of group labels."""
        self._check_columns(name, counts)
        try:
            self._classes = _input.Classes.merged([self._classes, counts.origin.classes])
        except ValueError as error:
            raise ValueError(f"{name}: with the {self._parts} before, {error}") from error
        kind, before = _input.kind_of(counts.labels), self._kind
        if not self._unite(kind):
            raise TypeError(
                f"{name}: it has {_described(kind)}, and {self._parts} before had "
                f"{_described(before)}; all need groups of one kind, for instance "
                f"{self._mend}."
            )

    def _check_columns(self, name: str, counts: State) -> None:
        """Refuse groups by partly the same columns; warn if all columns have other names."""
        columns = counts.origin.group_names
        # Counts without rows have no labels that could be mixed up.
        if not columns or columns in self._by_columns or not len(counts):
            return
        for others, first in self._by_columns.items():
            if len(columns) != len(others) or set(columns) & set(others):
                raise ValueError(
                    f"{_two_groupings(first, others, name, columns)}. Count all {self._parts} with "
                    "the same group columns in the same order."
                )
        if len(self._by_columns) == 1:
            ((others, first),) = self._by_columns.items()
            _input.warn(
                f"{_two_groupings(first, others, name, columns)}; the merged counts have no names "
                "of group columns. Give the columns the same names if they hold the same labels.",
                UserWarning,
            )
        self._by_columns[columns] = name

    def _unite(self, kind: Any) -> bool:
        """Return whether parts with groups of this kind can be merged with the parts before."""
        if kind is None:  # a part without rows has no kind of group labels
            return True
        united = kind if self._kind is None else _input.unite_kinds(self._kind, kind)
        self._kind = self._kind if united is None else united
        return united is not None


def _described(kind: Any) -> str:
    return kind if kind == "no groups" else f"groups labelled by {kind}"


def _two_groupings(
    first: str, columns: tuple[str, ...], second: str, others: tuple[str, ...]
) -> str:
    return (
        f"{first} has groups by {listed(columns, ' and ')}, and {second} has groups by "
        f"{listed(others, ' and ')}"
    )


class Repeats:
    """Countings in all parts, so that no row counts twice.

    Counts that were never saved or sent have no sources, and are not compared.
    """

    def __init__(self) -> None:
        # Parts by the identifiers and names of their sources, as messages show them
        self._found: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        # Parts by their content, and whether all their sources have names
        self._by_content: dict[tuple[int, ...], tuple[str, bool]] = {}
        self._alike: list[str] = []

    def check(self, name: str, counts: State) -> None:
        """Refuse a part with a counting that is in a part before; note a part like another one.

        Raises
        ------
        ValueError
            If a counting is repeated; the message names both parts.
        """
        sources = counts.origin.sources
        if not sources:
            return
        by_name: dict[str, str] = {}
        shown = name
        for source in sources:
            shown = name if source.name is None else f"{name} (source {shortened(source.name)})"
            if source.identifier in self._found:
                before = self._found[source.identifier]
                raise ValueError(
                    f"{before} and {shown} contain rows of the same counting, with the identifier "
                    f"{source.identifier}, so rows may count twice. Leave one of them out. If they "
                    "have no row in common, such as different groups of the counting, pass "
                    "repeated='allow' to ScoreCounts.merge."
                )
            self._found[source.identifier] = shown
            if source.name is not None:
                by_name.setdefault(source.name, shown)
        self._note_alike(shown if len(sources) == 1 else name, by_name, counts)

    def _note_alike(self, shown: str, by_name: dict[str, str], counts: State) -> None:
        """Note a part with the source name of a part before, or with its content."""
        content = _content_of(counts)
        has_names = all(source.name is not None for source in counts.origin.sources)
        before, had_names = self._by_content.setdefault(content, (shown, has_names))
        is_repeated = before != shown and len(counts) > 0
        repeated = next((name for name in by_name if name in self._by_name), None)
        if repeated is not None:
            self._alike.append(
                f"{self._by_name[repeated]} and {by_name[repeated]} are different countings with "
                "the same source name"
            )
        elif is_repeated and not (has_names and had_names):
            # Different names say that both are to count: small countings are equal by chance.
            self._alike.append(f"{before} and {shown} are different countings with equal counts")
        self._by_name = by_name | self._by_name

    def warn(self) -> None:
        """Warn once of the parts that may be the same rows, counted again."""
        if not self._alike:
            return
        first, *others = self._alike
        more = f" This holds for {counted(len(others), 'other part')} as well." if others else ""
        _input.warn(
            f"{first}, so rows may count twice. If one replaces the other, leave the other out. If "
            f"both are to count, give the countings different source names.{more}",
            UserWarning,
        )


def _content_of(counts: State) -> tuple[int, ...]:
    """Return numbers that equal counts share, and different counts practically never."""
    totals = int(counts.n_negatives.sum()), int(counts.n_positives.sum())
    sizes = (array.size for array in counts.arrays)
    return *totals, *sizes, checksum_of(counts.arrays, counts.labels, Origin())
