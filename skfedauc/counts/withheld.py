"""Withheld groups: groups that are left out because they have few rows of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import counted, described

# How to treat groups with few rows of a class
SmallGroups: TypeAlias = Literal["withhold", "join"]
# What is disclosed of the groups that are withheld
ToldOfWithheld: TypeAlias = Literal["number", "rows", "labels"]
# Largest number of rows of withheld groups
_MOST_ROWS = 1 << 40


class Withheld(NamedTuple):
    """Groups that ``reduced(min_count=)`` withheld.

    Attributes
    ----------
    n_groups : int
        Number of groups. A group that two sites withheld counts twice.
    n_negatives, n_positives : int or None
        Number of rows of each class in all these groups; None if the number is withheld too.
    labels : tuple or None
        Labels of these groups; None if the labels are withheld too.
    is_n_missing_low : bool
        Whether a number of rows without a group label was withheld because it was below
        `min_count`; `ScoreCounts.n_missing` is then too low.
    most_negatives, most_positives : int or None
        Upper limit of the number of rows of each class in all these groups: the number, if it is
        known. None if no limit is known.
    """

    n_groups: int = 0
    n_negatives: int | None = 0
    n_positives: int | None = 0
    labels: tuple[Any, ...] | None = ()
    is_n_missing_low: bool = False
    most_negatives: int | None = 0
    most_positives: int | None = 0

    @classmethod
    def merged(cls, parts: Sequence[Withheld]) -> Withheld:
        """Add up withheld groups; what is unknown in a part is unknown in the sum."""
        labels: list[Any] | None = []
        for part in parts:
            labels = None if labels is None or part.labels is None else [*labels, *part.labels]
        return cls(
            sum(part.n_groups for part in parts),
            _sum([part.n_negatives for part in parts]),
            _sum([part.n_positives for part in parts]),
            None if labels is None else tuple(labels),
            any(part.is_n_missing_low for part in parts),
            _sum([part.most_negatives for part in parts]),
            _sum([part.most_positives for part in parts]),
        )

    @property
    def n_rows(self) -> int | None:
        """Number of rows in these groups; None if it is withheld."""
        return _sum([self.n_negatives, self.n_positives])

    def without_labels(self) -> Withheld:
        """Return the withheld groups without labels, for counts whose groups get other labels."""
        return self._replace(labels=None) if self.n_groups else self

    def in_words(self) -> str:
        """Return a phrase on withheld groups that begins with a comma; empty if there are none."""
        phrase = ""
        if self.n_groups:
            rows = "" if self.n_rows is None else f" of {counted(self.n_rows, 'row')}"
            phrase = f", {counted(self.n_groups, 'group')}{rows} withheld"
        if self.is_n_missing_low:
            phrase += ", number of rows without a group label withheld"
        return phrase


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def check_small_groups(small_groups: object, tell_withheld: object, *, has_min_count: bool) -> None:
    """Refuse arguments of `ScoreCounts.reduced` that are unknown or have no effect."""
    if small_groups not in (None, "withhold", "join"):
        raise ValueError(
            "small_groups must be 'withhold' (leave groups with few rows of a class out) or 'join' "
            f"(make them one group); got {described(small_groups)}."
        )
    if tell_withheld not in (None, "number", "rows", "labels"):
        raise ValueError(
            "tell_withheld must be 'number' (of groups), 'rows' (also their rows of each class) or "
            f"'labels' (also their labels); got {described(tell_withheld)}."
        )
    given = {"small_groups": small_groups, "tell_withheld": tell_withheld}
    for name, value in given.items():
        if value is not None and not has_min_count:
            raise ValueError(
                f"{name}={value!r} has no effect without min_count, the smallest number of rows "
                "that the result discloses. Pass min_count as well."
            )


def joined_label(label: Any) -> Any:
    """Return the label of the joined small groups, with a part for each column of `label`."""
    return (_input.MISSING,) * len(label) if isinstance(label, tuple) else _input.MISSING


def check_can_be_joined(groups: Sequence[Any], small: NDArray[np.bool_]) -> None:
    """Refuse to join small groups if another group has the label of the joined groups.

    Raises
    ------
    ValueError
        If there is a group of rows without a group label, and another group is small.
    """
    label = joined_label(groups[0])
    if label in groups and any(
        group != label for group, is_one in zip(groups, small, strict=True) if is_one
    ):
        raise ValueError(
            f"small_groups='join' makes small groups the group {label!r}, and these counts have "
            "a group with this label, of rows without a group label. Pass "
            "small_groups='withhold', count with missing='drop', or give the group another label "
            "by .regroup(function)."
        )


def is_small(numbers: Sequence[NDArray[np.int64] | int], least: int) -> NDArray[np.bool_]:
    """Return where a number of rows is above 0 and below `least`.

    Parameters
    ----------
    numbers : sequence of ndarray of int64, each of shape (n_groups,)
        Numbers of rows of each class.
    least : int

    Returns
    -------
    ndarray of bool, shape (n_groups,)
    """
    classes = np.asarray(numbers)
    return np.asarray(((classes > 0) & (classes < least)).any(axis=0))


def withheld_of(
    n_negatives: NDArray[np.int64],
    n_positives: NDArray[np.int64],
    labels: Sequence[Any],
    min_count: int,
    tell: ToldOfWithheld,
) -> Withheld:
    """Describe groups that are withheld.

    Parameters
    ----------
    n_negatives, n_positives : ndarray of int64, shape (n_withheld,)
        Rows of the groups.
    labels : sequence
        Labels of the groups; empty for rows without groups.
    min_count : int
        The total of a class is withheld too if it is below this number times the number of groups:
        it could narrow down the numbers of single groups. The result then has an upper limit.
    tell : {"number", "rows", "labels"}
        What to disclose of the groups.
    """
    if n_negatives.size == 0:
        return Withheld()
    n_groups = n_negatives.size
    known = tuple(labels) if tell == "labels" else None
    if tell == "number":
        return Withheld(n_groups, None, None, known, most_negatives=None, most_positives=None)
    least = n_groups * min_count
    totals = [int(n_rows.sum()) for n_rows in (n_negatives, n_positives)]
    negatives, positives = (total if total >= least else None for total in totals)
    limit = least - 1 if least <= _MOST_ROWS else None
    most = [limit if total is None else total for total in (negatives, positives)]
    return Withheld(n_groups, negatives, positives, known, False, *most)


def wrong_withheld(withheld: Any) -> str | None:
    """Return why these withheld groups are impossible; None if they are possible."""
    wrong = "what it says of withheld groups is impossible"
    if not isinstance(withheld, Withheld):
        return wrong
    n_groups, negatives, positives, labels, is_low, *most = withheld
    if not _is_number(n_groups) or type(is_low) is not bool:
        return wrong
    for number, limit in zip((negatives, positives), most, strict=True):
        if not all(value is None or _is_number(value) for value in (number, limit)):
            return wrong
        if number is not None and limit != number:
            return wrong
    n_rows, most_rows = withheld.n_rows, _sum(most)
    if most_rows is not None and most_rows < n_groups:
        return wrong
    if not n_groups and n_rows != 0:
        return wrong
    if labels is not None and not isinstance(labels, tuple):
        return wrong
    return wrong if labels is not None and len(labels) > n_groups else None


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MOST_ROWS
