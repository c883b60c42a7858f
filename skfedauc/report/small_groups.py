"""Groups with few rows of a class, which a report can leave out: the argument `min_per_class`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skfedauc import _words
from skfedauc.counts.score_counts import select_groups, view_of
from skfedauc.pairs import GroupPairs

# Largest number of groups to name
_MOST_NAMED = 5


class LeftOut(NamedTuple):
    """Groups that a report leaves out.

    Attributes
    ----------
    least : int
        Least number of positives and of negatives of the other groups.
    groups : tuple of tuples
        Label, number of positives and number of negatives of each group.
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
    """Return the pairs of the groups with enough rows of each class, and the other groups.

    Parameters
    ----------
    pairs : GroupPairs
    least : int
        Least number of positives and of negatives.

    Raises
    ------
    ValueError
        If the pairs are within folds, or rows are in several test sets.
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
