"""The kernel in plain numpy, for installations without the compiled kernel and for tests.

The two kernels take the same arguments and return bit-identical results. All sums of floats use
`bincount` or `cumsum`, because these functions, unlike `reduceat`, add one number after the other.
Positions are `intp`: numpy refuses 64-bit positions in browsers, which have 32-bit addresses.
"""

from __future__ import annotations

import functools
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


def number_cells(scores: Array, groups: Array | None, n_groups: int, n_threads: int) -> Tuple:
    order, cell, _, starts = _sorted(scores, groups, n_groups)
    numbers = np.empty(scores.size, np.intp)
    numbers[order] = cell
    return numbers, starts


def placements(
    scores: Array, positive: Array, groups: Array, n_groups: int, weights: Array | None
) -> Tuple:
    weights = np.ones(scores.size) if weights is None else weights
    positive, one_group = (positive != 0).astype(np.intp), np.zeros_like(groups)
    found = [_placements(scores, positive, groups, n_groups, weights)]
    return *found, _placements(scores, positive, one_group, 1, weights)


def _placements(
    scores: Array, positive: Array, groups: Array, n_groups: int, weights: Array
) -> Array:
    order, cell, first, starts = _sorted(scores, groups, n_groups)
    ends = np.append(first, scores.size)
    total = np.bincount(2 * groups + positive, weights, 2 * n_groups).reshape(-1, 2)
    label, weights, group = positive[order], weights[order], groups[order]
    shares = []
    for of_class in (0, 1):
        _, sums = _sums_in_groups(ends[starts], np.where(label == of_class, weights, 0.0))
        up_to = sums[ends[1:] - 1]  # of each cell
        under = np.append(0.0, up_to)[:-1]
        under[starts[:-1][starts[:-1] < under.size]] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):  # NaN without rows of the class
            shares.append((under + up_to)[cell] * (0.5 / total[:, of_class])[group])
    values = np.empty(scores.size)
    values[order] = np.where(label == 1, shares[0], 1.0 - shares[1])
    return values


# Squares of weights that are not scaled may overflow, in sums that nothing uses.
@np.errstate(over="ignore", invalid="ignore")
def _placement_sums(cells: Tuple, n_threads: int, *, task: str) -> Tuple:
    starts, scores, *counts, weights = cells
    n_groups = starts.size - 1
    group = np.repeat(np.arange(n_groups), np.diff(starts))
    amounts = list(weights) if weights is not None else [c.astype(np.uint64) for c in counts] * 2

    def by_group(values: Array) -> Array:
        if values.dtype == np.uint64:
            return np.add.reduceat(values, starts[:-1], dtype=np.uint64)
        return np.bincount(group, values, n_groups).astype(np.float64)

    total = [by_group(column) for column in amounts]
    # For each column: sums of the lower cells, sums that include the tied cells, and overall sums
    within = [
        (*_sums_in_groups(starts, column), of_groups)
        for column, of_groups in zip(amounts, total, strict=True)
    ]
    compared = [within]
    if task == "among_all":
        tie, (_, n_ties) = number_cells(scores, None, 1, 1)
        compared.append([_sums_of_ties(tie, n_ties, column) for column in amounts])
    u2 = [
        by_group(amounts[side] * (ranks[1 - side][0] + ranks[1 - side][1]))
        for ranks in compared
        for side in (0, 1)
    ]
    sums = [column.astype(np.float64) for column in total[:2]]
    if task == "pairs":
        return np.concatenate(u2).view(np.uint64), np.concatenate(sums)
    squares = [column.astype(np.float64) for column in amounts[2:]]
    deviations = []
    for i, ranks in enumerate(compared):
        for side in (0, 1):
            under, up_to, whole = ranks[1 - side]
            half = np.broadcast_to(_half_over(whole), n_groups)
            mean = u2[2 * i + side].astype(np.float64) * half * (2.0 * _half_over(total[side]))
            deviations.append((under + up_to).astype(np.float64) * half[group] - mean[group])
        of_ranks = deviations[2 * i :]
        sums += [by_group(squares[side] * of_ranks[side]) for side in (0, 1)]
        sums += [by_group(squares[side] * (of_ranks[side] * of_ranks[side])) for side in (0, 1)]
        under, up_to = (column.astype(np.float64) for column in ranks[2][:2])
        sums += [by_group(squares[1] * (under + (up_to - under) / part)) for part in (2.0, 4.0)]
    if len(compared) > 1:
        sums += [
            by_group(squares[side] * (deviations[2 + side] * deviations[side])) for side in (0, 1)
        ]
    return np.concatenate(u2).view(np.uint64), np.concatenate(sums)


pair_sums = functools.partial(_placement_sums, task="pairs")
sums_within = functools.partial(_placement_sums, task="within")
sums_among_all = functools.partial(_placement_sums, task="among_all")


def _sums_in_groups(starts: Array, amounts: Array) -> tuple[Array, Array]:
    """Return for each cell the sum of the lower cells of the group, and this sum plus the cell."""
    if amounts.dtype == np.uint64:  # Sums of integers do not depend on the order.
        up_to: Array = np.cumsum(amounts, dtype=np.uint64)
        up_to -= np.repeat((up_to - amounts)[starts[:-1]], np.diff(starts))
        return up_to - amounts, up_to
    under, up_to = np.empty((2, amounts.size))
    for begin, end in itertools.pairwise(starts):
        sums = np.append(0.0, np.cumsum(amounts[begin:end]))
        under[begin:end], up_to[begin:end] = sums[:-1], sums[1:]
    return under, up_to


def _sums_of_ties(tie: Array, n_ties: int, amounts: Array) -> tuple[Array, Array, Array]:
    """Return for each cell the sum of all lower cells, this sum plus ties, and the overall sum."""
    sums = np.zeros(n_ties + 1, amounts.dtype)
    # The compiled kernel, too, adds up tied cells from the last cell to the first.
    np.add.at(sums, tie[::-1] + 1, amounts[::-1])
    sums = np.cumsum(sums, dtype=amounts.dtype)
    return sums[tie], sums[tie + 1], sums[-1]


def _half_over(whole: Array) -> Array:
    whole = np.asarray(whole, np.float64)
    return np.divide(0.5, whole, out=np.zeros_like(whole), where=whole > 0)


def ranks_in_groups(starts: Array, amounts: Array) -> Array:
    return np.add(*_sums_in_groups(starts, amounts))


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
