"""Checks that parts of score counts agree before `ScoreCounts.merge` adds them up.

Errors name the first part that differs and the earlier part that contradicts this part.
"""

from __future__ import annotations

from typing import Any, Literal

from skfedauc import _input
from skfedauc._words import counted, listed, shortened, shortened_label
from skfedauc.counts.disclosure import DisclosureError
from skfedauc.counts.integrity import checksum_of
from skfedauc.counts.levels import level_in_words, level_of, mend_of_levels
from skfedauc.counts.origin import Origin
from skfedauc.counts.state import State


class MergeError(ValueError):
    """Error for parts of score counts that do not agree.

    Attributes
    ----------
    reason : str
        Difference between the parts: "pos_label" (the positive label), "labels" (more than two
        class labels, or two class labels without the positive label), "groups" (only some parts
        have groups), "columns" (the group columns), "kinds" (the kinds of group labels) or
        "disclosure" (the level of disclosure or the bins). The reason is "repeated" if parts have
        rows of the same counting.
    found : tuple of (value, str)
        Values that differ, each with the name of the first part with the value. The values are
        class labels, booleans for parts with and without groups, kinds of group labels, levels of
        disclosure (the `Bins` of binned counts), or sources.
    place : int or None
        Number of the group column that has labels of different kinds.
    """

    reason: str = ""
    found: tuple[tuple[Any, str], ...] = ()
    place: int | None = None


class MergeTypeError(MergeError, TypeError):
    """Error for parts whose group labels are of different kinds."""


class MergeDisclosureError(MergeError, DisclosureError):
    """Error for parts whose levels of disclosure prevent merging."""


_Reason = Literal["pos_label", "labels", "groups", "columns", "kinds", "disclosure", "repeated"]


def _error(
    message: str, reason: _Reason, *found: tuple[Any, str], place: int | None = None
) -> MergeError:
    of_reason = {"kinds": MergeTypeError, "disclosure": MergeDisclosureError}
    error = of_reason.get(reason, MergeError)(message)
    error.reason, error.found, error.place = reason, found, place
    return error


class Agreement:
    """Class labels, groups and level of disclosure that all parts must share.

    Parameters
    ----------
    parts : str
        Noun for several parts in messages, such as "batches".
    mend : str
        How to convert group labels to one kind, such as "text by .astype(str)".
    mend_of_groups : str
        Remedy in the message if only some parts have groups.
    """

    def __init__(self, parts: str, mend: str, mend_of_groups: str) -> None:
        self._parts, self._mend, self._mend_of_groups = parts, mend, mend_of_groups
        self._classes = _input.Classes()
        # The first part of each class label, positive label, and tuple of group columns
        self._by_label: dict[Any, str] = {}
        self._by_positive: dict[Any, str] = {}
        self._by_columns: dict[tuple[str, ...], str] = {}
        # The first part with groups (True) and without groups (False)
        self._by_grouping: dict[bool, str] = {}
        # Kind of the labels of each group column, with the part that determined the kind
        self._kinds: list[tuple[Any, str]] = []
        # The first part of each group of summaries, and of each level of disclosure
        self._by_group: dict[Any, str] = {}
        self._by_level: dict[Any, tuple[str, str]] = {}

    def check(self, name: str, state: State) -> None:
        """Raise an error for a part that does not agree with earlier parts.

        Raises
        ------
        MergeError
            If the part differs in a property that all parts must share.
        """
        self._check_columns(name, state)
        self._check_classes(name, state)
        self._check_groups(name, state)
        self._check_kinds(name, state)

    def check_level(self, name: str, state: State) -> None:
        """Refuse a part with another level of disclosure or with other bins.

        Ranges that are not bins of one rule agree with any bins. Summaries agree if their groups
        differ.

        Raises
        ------
        MergeError
            If the part has another level of disclosure or other bins.
        """
        level = level_of(state)
        if level == "summary":
            self._check_groups_of_summary(name, state)
        if level in self._by_level:
            return
        self._by_level[level] = name, level_in_words(state)
        levels = dict(self._by_level)
        if not levels.keys() & {"exact", "summary"}:
            levels.pop(None, None)
        if len(levels) < 2:
            return
        (one, (first, words)), *_, (other, (second, of_second)) = levels.items()
        raise _error(
            f"{first} is {words}, and {second} is {of_second}. {mend_of_levels(one, other)}",
            "disclosure",
            (one, first),
            (other, second),
        )

    def _check_groups_of_summary(self, name: str, state: State) -> None:
        """Refuse a summary with a group of an earlier summary."""
        labels = [None] if state.labels is None else state.labels.tolist()
        for label in labels if state.n_groups else []:
            first = self._by_group.get(label)
            if first is None:
                self._by_group[label] = name
                continue
            group = "rows without groups"
            if label is not None:
                group = f"rows of the group {shortened_label(label)}"
            raise _error(
                f"{first} and {name} are summaries with {group}. The pairs of a row of one part "
                "and a row of the other are unknown. Merge the parts with disclosure='bins' or "
                "'exact', and reduce the result to a summary.",
                "disclosure",
                ("summary", first),
                ("summary", name),
            )

    def _check_classes(self, name: str, state: State) -> None:
        """Raise an error if the parts have two positive labels, or more than two labels."""
        if state.origin.classes == self._classes:
            return
        seen, positive = state.origin.classes
        if positive is not None:
            self._by_positive.setdefault(positive, name)
        for label in (*seen, *(() if positive is None else (positive,))):
            self._by_label.setdefault(label, name)
        try:
            self._classes = _input.Classes.merged([self._classes, state.origin.classes])
        except ValueError as error:
            is_of_positive = len(self._by_positive) > 1
            raise _error(
                f"{name}: with the {self._parts} before, {error}",
                "pos_label" if is_of_positive else "labels",
                *(self._by_positive if is_of_positive else self._by_label).items(),
            ) from error

    def _check_columns(self, name: str, state: State) -> None:
        """Compare the names of the group columns; raise an error, or warn if all names differ."""
        columns = state.origin.group_names
        # Counts without rows have no group labels.
        if not columns or columns in self._by_columns or not state.n_groups:
            return
        for others, first in self._by_columns.items():
            if len(columns) != len(others) or set(columns) & set(others):
                raise _error(
                    f"{_two_groupings(first, others, name, columns)}. Count all {self._parts} with "
                    "the same group columns in the same order.",
                    "columns",
                    (others, first),
                    (columns, name),
                )
        if len(self._by_columns) == 1:
            ((others, first),) = self._by_columns.items()
            _input.warn(
                f"{_two_groupings(first, others, name, columns)}; the merged counts have no names "
                "of group columns. Give the columns the same names if they hold the same labels.",
                UserWarning,
            )
        self._by_columns[columns] = name

    def _check_groups(self, name: str, state: State) -> None:
        """Refuse a part without groups if earlier parts have groups, and the reverse."""
        labels = state.labels
        # Counts without rows agree with counts of any groups
        if labels is not None and labels.size == 0:
            return
        self._by_grouping.setdefault(labels is not None, name)
        if len(self._by_grouping) > 1:
            without, first = self._by_grouping[False], self._by_grouping[True]
            raise _error(
                f"{without} has no groups, and {first} has groups; {self._mend_of_groups}",
                "groups",
                (False, without),
                (True, first),
            )

    def _check_kinds(self, name: str, state: State) -> None:
        """Refuse a part with group labels of another kind."""
        kind = None if state.labels is None else _input.kind_of(state.labels)
        if kind is None:  # there are no labels
            return
        kinds = kind if isinstance(kind, tuple) else (kind,)
        self._kinds = self._kinds or [(of_column, name) for of_column in kinds]
        if len(kinds) != len(self._kinds):
            before = tuple(of_column for of_column, _ in self._kinds)
            raise self._error_of_kinds((before, self._kinds[0][1]), (kinds, name))
        for place, (own, (before, first)) in enumerate(zip(kinds, self._kinds, strict=True)):
            united = _input.unite_kinds(before, own)
            if united is None:
                raise self._error_of_kinds((before, first), (own, name), place=place)
            if united != before:  # all rows of earlier parts lack a label
                self._kinds[place] = united, name

    def _error_of_kinds(
        self, one: tuple[Any, str], other: tuple[Any, str], place: int | None = None
    ) -> MergeError:
        (before, first), (kind, name) = one, other
        column = f" in column {place}" if place is not None and len(self._kinds) > 1 else ""
        return _error(
            f"{name}: groups of different kinds cannot be merged: it has groups labelled by "
            f"{_described(kind)}{column}, and {first} has groups labelled by {_described(before)}. "
            f"All need groups of one kind, for instance {self._mend}.",
            "kinds",
            one,
            other,
            place=place,
        )


def _described(kind: Any) -> str:
    return listed(kind, " and ") if isinstance(kind, tuple) else str(kind)


def _two_groupings(
    first: str, columns: tuple[str, ...], second: str, others: tuple[str, ...]
) -> str:
    return (
        f"{first} has groups by {listed(columns, ' and ')}, and {second} has groups by "
        f"{listed(others, ' and ')}"
    )


class Repeats:
    """Countings of all parts, to detect rows that count twice.

    The check skips counts without sources: counts that the user never saved or sent.
    """

    def __init__(self) -> None:
        # Name of the part, and its name in messages, by the identifier of each source
        self._found: dict[str, tuple[str, str]] = {}
        # Name of the part in messages, by the name of each source
        self._by_name: dict[str, str] = {}
        # Name of the part, and whether all its sources have names, by the content of the part
        self._by_content: dict[tuple[int, ...], tuple[str, bool]] = {}
        self._alike: list[str] = []

    def check(self, name: str, state: State) -> None:
        """Raise an error if an earlier part has the same counting; note parts with equal content.

        Raises
        ------
        MergeError
            If two parts have rows of the same counting; the message names both parts.
        """
        sources = state.origin.sources
        if not sources:
            return
        by_name: dict[str, str] = {}
        shown = name
        for source in sources:
            shown = name if source.name is None else f"{name} (source {shortened(source.name)})"
            if source.identifier in self._found:
                first, before = self._found[source.identifier]
                raise _error(
                    f"{before} and {shown} contain rows of the same counting, with the identifier "
                    f"{source.identifier}, so rows may count twice. Leave one of them out. If they "
                    "have no row in common, such as different groups of the counting, pass "
                    "repeated='allow' to ScoreCounts.merge.",
                    "repeated",
                    (source, first),
                    (source, name),
                )
            self._found[source.identifier] = name, shown
            if source.name is not None:
                by_name.setdefault(source.name, shown)
        self._note_alike(shown if len(sources) == 1 else name, by_name, state)

    def _note_alike(self, shown: str, by_name: dict[str, str], state: State) -> None:
        """Note a part if an earlier part has the same source name or equal content."""
        content = _content_of(state)
        has_names = all(source.name is not None for source in state.origin.sources)
        before, had_names = self._by_content.setdefault(content, (shown, has_names))
        is_repeated = before != shown and state.n_groups > 0
        repeated = next((name for name in by_name if name in self._by_name), None)
        if repeated is not None:
            self._alike.append(
                f"{self._by_name[repeated]} and {by_name[repeated]} are different countings with "
                "the same source name"
            )
        elif is_repeated and not (has_names and had_names):
            # Parts with different names are different countings: small countings may be equal by
            # coincidence.
            self._alike.append(f"{before} and {shown} are different countings with equal counts")
        self._by_name = by_name | self._by_name

    def warn(self) -> None:
        """Warn once about the parts that may hold the same rows."""
        if not self._alike:
            return
        first, *others = self._alike
        more = f" This holds for {counted(len(others), 'other part')} as well." if others else ""
        _input.warn(
            f"{first}, so rows may count twice. If one replaces the other, leave the other out. If "
            f"both are to count, give the countings different source names.{more}",
            UserWarning,
        )


def _content_of(state: State) -> tuple[int, ...]:
    """Return a fingerprint of the counts; different counts practically never share it."""
    totals = state.n_rows
    sizes = (array.size for array in state.arrays)
    return *totals, *sizes, checksum_of(state.arrays, state.labels, Origin())
