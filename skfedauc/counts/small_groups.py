"""Groups with few rows of a class, which `ScoreCounts.reduced` withholds or joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.limits import MOST_ROWS
from skfedauc.counts.regrouping import with_groups
from skfedauc.counts.state import State, added
from skfedauc.counts.withheld import Withheld

# Treatment of groups with few rows of a class
SmallGroups: TypeAlias = Literal["withhold", "join"]
# Smallest permitted `min_count`: with 2, totals and the ranges of two rows determine single rows
LEAST_MIN_COUNT = 3
# Disclosed facts about withheld groups
ToldOfWithheld: TypeAlias = Literal["number", "rows", "labels"]

_TREATMENTS = {
    "withhold": "leave groups with few rows of a class out",
    "join": "make them one group",
    None: "",
}
_FACTS = {
    "number": "of groups",
    "rows": "also their rows of each class",
    "labels": "also their labels",
    None: "",
}


def check_small_groups(small_groups: object, tell_withheld: object, *, has_min_count: bool) -> None:
    """Raise an error for arguments of `ScoreCounts.reduced` that are invalid or have no effect."""
    _input.check_option("small_groups", small_groups, _TREATMENTS)
    _input.check_option("tell_withheld", tell_withheld, _FACTS)
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
    """Raise an error if a group already has the label of the joined small groups.

    Raises
    ------
    ValueError
        If the counts have a group of rows without a group label, and another group is small.
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
    """Return whether each group has a class with more than 0 and fewer than `least` rows.

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
    """Return the disclosed facts about withheld groups.

    Parameters
    ----------
    n_negatives, n_positives : ndarray of int64, shape (n_withheld,)
        Rows of the groups.
    labels : sequence
        Labels of the groups; empty for rows without groups.
    min_count : int
        Smallest number of rows to disclose. A total of a class below this number times the number
        of groups could narrow down the numbers of single groups. The function withholds such a
        total, and gives an upper limit in place of the total.
    tell : {"number", "rows", "labels"}
        Facts to disclose about the groups.
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
    limit = least - 1 if least <= MOST_ROWS else None
    most = [limit if total is None else total for total in (negatives, positives)]
    return Withheld(n_groups, negatives, positives, known, False, *most)


def with_small_joined(state: State, min_count: int) -> State:
    """Join the groups with few rows of a class; withhold the joined group if it is small too."""
    small = is_small(state.n_by_class, min_count)
    if state.labels is None or not small.any():
        return state
    cells = cells_for(state, "small_groups='join'")
    groups = state.labels.tolist()
    check_can_be_joined(groups, small)
    to = {
        label: joined_label(label) if is_one else label
        for label, is_one in zip(groups, small, strict=True)
    }
    numbers, labels = _input.map_labels(groups, to, "groups")
    joined = added(cells, numbers[cells.groups], labels, state.origin, state.ranges)
    return state if is_small(joined.n_by_class, min_count).any() else joined


def without_small(state: State, min_count: int, tell: ToldOfWithheld) -> State:
    """Withhold the groups with few rows of a class, and a small number of missing rows."""
    n_negatives, n_positives = state.n_by_class
    small = is_small([n_negatives, n_positives], min_count)
    labels = [] if state.labels is None else state.labels[small].tolist()
    found = withheld_of(n_negatives[small], n_positives[small], labels, min_count, tell)
    n_missing = state.origin.n_missing
    if 0 < n_missing < min_count:
        n_missing, found = 0, found._replace(is_n_missing_low=True)
    withheld = Withheld.merged([state.origin.withheld, found])
    origin = state.origin._replace(n_missing=n_missing, withheld=withheld, is_suppressed=True)
    if small.any():
        state = with_groups(state, np.flatnonzero(~small))
    return state._replace(origin=origin)
