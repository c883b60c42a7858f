"""Which groups a report lists, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import select_groups, view_of
from skfedauc.pairs import GroupPairs

if TYPE_CHECKING:
    import pandas as pd


def labels_of_rows(
    groups: Any, clusters: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any]:
    """Return the groups and the clusters of the rows of X, which all arguments must align with."""
    _input.check_groups_given(groups)
    labels = _input.groups_of_rows(groups, X)
    if clusters is not None:
        clusters = _input.groups_of_rows(clusters, X, "clusters")
    inputs = {"X": X, "y": y, "groups": labels, "sample_weight": sample_weight}
    _input.check_row_order({**inputs, "clusters": clusters})
    return labels, clusters


def number_of_group(label: Any, counts: ScoreCounts) -> int:
    """Return the index of the reference group."""
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    groups = counts.groups or ()
    number = _input.position_of(_input.as_label(label), groups)
    if number is None:
        raise ValueError(
            "reference must be None, 'rest' or a group's label; got "
            f"{_words.shortened(label)}, and the "
            f"groups are {_words.all_shortened(groups[:5])}{', ...' * (len(groups) > 5)}."
        )
    return number


def listed(counts: ScoreCounts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the groups of counts in the order of their categories."""
    order = order_of(counts)
    return table if order is None else table.iloc[order]


def by_number(counts: ScoreCounts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a listed table with the groups in the order of the counts."""
    order = order_of(counts)
    return table if order is None else table.iloc[np.argsort(order)]


def order_of(counts: ScoreCounts) -> NDArray[np.intp] | None:
    """Return group numbers in the order of the categories, or None without an order."""
    orders, groups = view_of(counts).orders, counts.groups
    if not any(orders) or not groups:
        return None
    columns = list(zip(*groups, strict=True)) if isinstance(groups[0], tuple) else [groups]
    if len(columns) != len(orders):
        return None
    keys = [_places(column, order) for column, order in zip(columns, orders, strict=True)]
    return np.lexsort(keys[::-1])


def _places(column: Sequence[Any], order: Sequence[Any]) -> NDArray[np.intp]:
    """Return each label's place: among the categories, then among the other labels."""
    place = {label: number for number, label in enumerate(order)}
    others = [label for label in dict.fromkeys(column) if label not in place]
    codes, _ = _input.encode_groups(_input.object_array(others))
    place |= {label: len(order) + int(code) for label, code in zip(others, codes, strict=True)}
    return np.array([place[label] for label in column], np.intp)


# Largest number of groups to name
_MOST_NAMED = 5


class LeftOut(NamedTuple):
    """Groups that a report leaves out.

    Attributes
    ----------
    least : int
        Least number of positives and negatives in the other groups.
    groups : tuple of tuples
        Label, number of positives and number of negatives in each group.
    """

    least: int
    groups: tuple[tuple[Any, int, int], ...]

    def in_words(self) -> str:
        """Return a sentence that names the groups and their sizes; empty without such groups."""
        if not self.groups:
            return ""
        named = [
            f"{_words.shortened_label(label)} ({positives:,} and {negatives:,})"
            for label, positives, negatives in self.groups[:_MOST_NAMED]
        ]
        others = self.groups[_MOST_NAMED:]
        if others:
            n_rows = sum(positives + negatives for _, positives, negatives in others)
            named.append(f"{_words.counted(len(others), 'more group')} with {n_rows:,} rows")
        return (
            f"Left out, with fewer than {self.least:,} positives or negatives: "
            f"{_words.enumerated(named)}."
        )


def large_groups(pairs: GroupPairs, least: int) -> tuple[GroupPairs, LeftOut]:
    """Return the pairs of the groups with enough rows in each class, and the other groups.

    Parameters
    ----------
    pairs : GroupPairs
    least : int
        Least number of positives and negatives.
    """
    if pairs.is_within_folds or pairs.rows_repeat:
        raise ValueError("min_per_class must be 1 for a report over folds.")
    is_large = pairs.has_per_class(least)
    kept, others = np.flatnonzero(is_large), np.flatnonzero(~is_large).tolist()
    counts, clusters = pairs.counts, pairs.clusters
    labels = counts.groups or ("all",)
    left_out = tuple(
        (labels[g], int(counts.n_positives[g]), int(counts.n_negatives[g])) for g in others
    )
    if clusters is not None and view_of(counts).labels is not None:
        clusters = clusters.select_groups(kept)
    large = GroupPairs(
        # The remaining groups tell whether a group has enough rows.
        select_groups(counts, kept, at_least=least or None),
        clusters=clusters,
        is_over_folds=pairs.is_over_folds,
        is_multiclass=pairs.is_multiclass,
    )
    return large, LeftOut(least, left_out)
