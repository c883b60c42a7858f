"""The kernel in plain numpy, for installations without the compiled kernel and for tests.

The two kernels take the same arguments and return bit-identical results. All sums of floats use
`bincount` or `cumsum`, because these functions, unlike `reduceat`, add one number after the other.
Positions are `intp`: numpy refuses 64-bit positions in browsers, which have 32-bit addresses.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Tuple = tuple[Any, ...]


def count_rows(
    scores: Array,
    positive: Array,
    groups: Array | None,
    n_groups: int,
    weights: Array | None,
    n_threads: int,
) -> Tuple:
    scores = scores.astype(np.float64) + 0.0  # Convert -0.0 to 0.0.
    order, cell, first, starts = _sorted(scores, groups, n_groups)
    in_order, n_cells = positive[order] != 0, first.size
    sums: Array | None = None
    if weights is not None:
        of_class = [np.where(in_order == label, weights[order], 0.0) for label in (False, True)]
        columns = [*of_class, *(np.square(column) for column in of_class)]
        # Without rows, `bincount` returns integers.
        sums = np.array([np.bincount(cell, column, n_cells) for column in columns], np.float64)
    negatives, positives = (
        np.bincount(cell[in_order == label], minlength=n_cells).astype(np.uint32)
        for label in (False, True)
    )
    return starts, scores[order][first], negatives, positives, sums


def add_cells(cells: Tuple, groups: Array | None, n_groups: int) -> Tuple:
    _, scores, negatives, positives, weights = cells
    order, cell, first, starts = _sorted(scores, groups, n_groups)
    counts = [np.add.reduceat(c[order], first, dtype=c.dtype) for c in (negatives, positives)]
    if weights is not None:
        weights = np.array([np.bincount(cell, column[order]) for column in weights], np.float64)
    return starts, scores[order][first] + 0.0, *counts, weights


def merge_states(parts: list[Tuple], numbers: list[Array], n_groups: int) -> Tuple:
    groups = [
        np.repeat(of_part, np.diff(cells[0])) for of_part, cells in zip(numbers, parts, strict=True)
    ]
    columns = [
        None if column[0] is None else np.concatenate(column, axis=-1)
        for column in zip(*parts, strict=True)
    ]
    return add_cells(tuple(columns), np.concatenate(groups), n_groups)


def number_cells(scores: Array, groups: Array | None, n_groups: int, n_threads: int) -> Tuple:
    order, cell, _, starts = _sorted(scores, groups, n_groups)
    numbers = np.empty(scores.size, np.intp)
    numbers[order] = cell
    return numbers, starts


def total(counts: Array) -> int:
    return int(counts.sum(dtype=np.uint64))


def count_pairs(cells: Tuple) -> Tuple:
    starts, _, *counts, _ = cells
    negatives, positives = (column.astype(np.uint64) for column in counts)
    up_to = np.cumsum(negatives)
    before = np.repeat((up_to - negatives)[starts[:-1]], np.diff(starts))
    ranks = 2 * (up_to - before) - negatives
    n_negatives, n_positives, u2 = (
        np.add.reduceat(column, starts[:-1]) for column in (negatives, positives, ranks * positives)
    )
    return n_negatives.view(np.int64), n_positives.view(np.int64), u2


def ranks_in_groups(starts: Array, amounts: Array) -> Array:
    ranks = np.empty_like(amounts)
    for begin, end in itertools.pairwise(starts):
        sums = np.append(0.0, np.cumsum(amounts[begin:end]))
        ranks[begin:end] = sums[:-1] + sums[1:]
    return ranks


def cross_pairs(
    starts: Array, ranks: Array, n_ranks: int, negatives: Array, positives: Array, n_threads: int
) -> Array:
    n_groups = starts.size - 1
    u2, heights = np.zeros((n_groups, n_groups)), np.zeros(n_groups)
    group = np.repeat(np.arange(n_groups), np.diff(starts))
    first = np.cumsum(np.bincount(ranks, minlength=n_ranks))[:-1]
    for tied in np.split(np.argsort(ranks, kind="stable"), first):
        # `heights` of each group: twice the weight of the lower negatives plus the tied negatives
        heights[group[tied]] += negatives[tied]
        for cell in tied[positives[tied] > 0]:
            u2[group[cell]] += positives[cell] * heights
        heights[group[tied]] += negatives[tied]
    return u2


def _sorted(
    scores: Array, groups: Array | None, n_groups: int
) -> tuple[Array, Array, Array, Array]:
    """Return the sort order, the sorted items' cells, and the first items of cells and groups."""
    groups = np.zeros(scores.size, np.intp) if groups is None else groups
    order = np.lexsort((scores, groups))
    scores, groups = scores[order], groups[order]
    is_new = np.ones(scores.size, bool)
    is_new[1:] = (scores[1:] != scores[:-1]) | (groups[1:] != groups[:-1])
    first = np.flatnonzero(is_new)
    starts = np.searchsorted(groups[first], np.arange(n_groups + 1))
    return order, np.cumsum(is_new) - 1, first, starts
