"""Rows or cells of one block sorted by group and score, and equal ones added up."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.keys import (
    STRETCH,
    Booleans,
    Floats,
    Packed,
    ScoreCode,
    is_new_key,
    pack,
    stable_order,
)

Integers = NDArray[np.integer[Any]]

# Keys of which a table of sums stays in the cache.
MOST_DENSE = 1 << 18


class Cells(NamedTuple):
    """Cells sorted by group and, within a group, by score.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_groups + 1,)
        The cells of group g are ``starts[g]:starts[g + 1]``; every group has one.
    scores : ndarray of float64, shape (n_cells,)
    negatives, positives : ndarray of unsigned integers, shape (n_cells,)
        Numbers of rows.
    weights : None or ndarray of float64, shape (4, n_cells)
        None where every row weighs 1. Otherwise, by row of the array: the weight of the
        negatives and of the positives, then their sums of squared weights.
    """

    starts: NDArray[np.int64]
    scores: Floats
    negatives: Integers
    positives: Integers
    weights: Floats | None


def no_cells(*, weighted: bool = False) -> Cells:
    """Cells of a state that has seen no row."""
    counts = np.zeros(0, np.uint32)
    return Cells(
        np.zeros(1, np.int64),
        np.zeros(0),
        counts,
        counts,
        np.zeros((4, 0)) if weighted else None,
    )


def group_of_cell(starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Group number of each cell."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def compact_counts(counts: Integers) -> Integers:
    """Counts in 32 bits where they fit, so that equal states have equal arrays."""
    small = counts.dtype == np.uint32 or counts.size == 0 or int(counts.max()) < 1 << 32
    return counts.astype(np.uint32 if small else np.uint64, copy=False)


def count_block(
    scores: Floats,
    positive: Booleans,
    groups: NDArray[Any] | None,
    n_groups: int,
    code: ScoreCode | None = None,
) -> Cells:
    """Cells of rows that weigh 1."""
    packed = pack(scores, groups, n_groups, positive, code)
    if _is_dense(packed):
        return _dense_cells(packed, None)
    keys = packed.keys
    keys.sort()
    # The lowest bit is the label again, the others are group and score.
    labels: Integers = keys.astype(np.uint32)
    labels &= np.uint32(1)
    keys >>= np.uint64(1)
    is_new = is_new_key(keys)
    if is_new.all():
        positives, negatives = labels, 1 - labels
    else:
        first = np.flatnonzero(is_new)
        keys = keys.take(first)
        ends = np.append(first[1:], labels.size)
        # Where runs are short, differences of one running sum beat a sum of each.
        np.cumsum(labels, out=labels)
        positives = np.diff(labels.take(ends - 1), prepend=np.uint32(0))
        negatives = ends - first - positives
    return Cells(
        packed.starts(keys),
        packed.scores(keys),
        compact_counts(negatives),
        compact_counts(positives),
        None,
    )


def weigh_block(
    scores: Floats,
    positive: Booleans,
    weights: Floats,
    groups: NDArray[Any] | None,
    n_groups: int,
    code: ScoreCode | None = None,
) -> Cells:
    """Cells of rows with weights above 0."""
    packed = pack(scores, groups, n_groups, code=code)
    # Weights of a cell are added in the order of its rows.
    if _is_dense(packed):
        np.left_shift(packed.keys, np.uint64(1), out=packed.keys)
        np.bitwise_or(packed.keys, positive, out=packed.keys)
        return _dense_cells(packed, weights)
    order, keys = stable_order(packed.keys, packed.width)
    is_new = is_new_key(keys)
    first = None if is_new.all() else np.flatnonzero(is_new)
    if first is not None:
        keys = keys.take(first)
    # One array to put in order instead of two: the weight, below 0 for negatives.
    sign = (~positive).astype(np.uint64)
    sign <<= np.uint64(63)
    sign |= weights.view(np.uint64)
    negatives, positives, sums = _weighed(sign.view(np.float64), order, first)
    return Cells(packed.starts(keys), packed.scores(keys), negatives, positives, sums)


def _is_dense(packed: Packed) -> bool:
    """Whether so few keys are possible that a table of them all is small and well filled."""
    n_keys = 1 << packed.width
    return n_keys <= MOST_DENSE and 4 * n_keys <= packed.keys.size


def _dense_cells(packed: Packed, weights: Floats | None) -> Cells:
    """Cells by counting each possible key with its label, without sorting."""
    numbers, n_keys = packed.keys.view(np.int64), 1 << packed.width

    def sums(amounts: Floats | None) -> NDArray[Any]:
        """By key, of negatives and of positives."""
        return np.bincount(numbers, amounts, 2 * n_keys).reshape(n_keys, 2).T

    counts = sums(None)
    occupied = np.flatnonzero(counts.any(axis=0))
    keys = occupied.astype(np.uint64)
    negatives, positives = counts[:, occupied]
    if weights is not None:
        weights = np.concatenate([sums(weights)[:, occupied], sums(weights**2)[:, occupied]])
    return Cells(
        packed.starts(keys),
        packed.scores(keys),
        compact_counts(negatives),
        compact_counts(positives),
        weights,
    )


def _weighed(
    signed: Floats, order: NDArray[np.int64], first: NDArray[np.intp] | None
) -> tuple[Integers, Integers, Floats]:
    """Rows and weights of each cell, a few cells at a time, which stay in the cache.

    `first` tells where the rows of each cell begin in `order`, None that each has one row.
    """
    n_cells = order.size if first is None else first.size
    negatives: Integers = np.empty(n_cells, np.uint32)
    positives: Integers = np.empty(n_cells, np.uint32)
    sums = np.empty((4, n_cells))
    if first is None:
        for a in range(0, n_cells, STRETCH):
            mine = slice(a, a + STRETCH)
            of_row = signed.take(order[mine])
            of_class, squares = sums[:2, mine], sums[2:, mine]
            np.maximum(of_row, 0.0, out=of_class[1])
            np.subtract(of_class[1], of_row, out=of_class[0])
            np.square(of_class, out=squares)
            positives[mine] = of_row > 0
        return 1 - positives, positives, sums
    cuts = np.append(np.flatnonzero(is_new_key(first // STRETCH)), n_cells)
    ends = np.append(first, order.size)
    for a, b in itertools.pairwise(cuts.tolist()):
        n_rows = np.diff(ends[a : b + 1])
        of_row = signed.take(order[ends[a] : ends[b]])
        # Two bins a cell, one for each class. Runs of rows are short as a rule, so that
        # bins beat a sum of each; they add in the order of the rows.
        bins = np.repeat(np.arange(0, 2 * (b - a), 2), n_rows)
        bins += of_row > 0

        def by_class(amounts: Floats | None, bins: Any = bins, n: int = b - a) -> NDArray[Any]:
            return np.bincount(bins, amounts, 2 * n).reshape(n, 2).T

        negatives[a:b], positives[a:b] = by_class(None)
        sums[:2, a:b] = by_class(np.abs(of_row, out=of_row))
        sums[2:, a:b] = by_class(np.square(of_row, out=of_row))
    return negatives, positives, sums


def add_block(cells: Cells, groups: NDArray[Any] | None, n_groups: int) -> Cells:
    """Cells in any order, with repetitions, added up.

    The `starts` of the cells are not looked at.
    """
    _, scores, negatives, positives, weights = cells
    n_negatives = int(negatives.sum(dtype=np.int64))
    n_rows = n_negatives + int(positives.sum(dtype=np.int64))
    # Where few rows share a cell, sorting rows by value beats putting cells in order.
    if weights is None and n_rows == scores.size:
        return count_block(scores, positives.astype(np.bool_), groups, n_groups)
    if weights is None and n_rows <= 1.2 * scores.size:
        of_row = np.concatenate([_repeated(negatives), _repeated(positives)])
        positive = np.zeros(n_rows, np.bool_)
        positive[n_negatives:] = True
        row_groups = None if groups is None else groups[of_row]
        return count_block(scores[of_row], positive, row_groups, n_groups)
    packed = pack(scores, groups, n_groups)
    order, keys = stable_order(packed.keys, packed.width)
    first = np.flatnonzero(is_new_key(keys))
    keys = keys.take(first)

    def added(amounts: NDArray[Any], dtype: type) -> NDArray[Any]:
        return np.add.reduceat(amounts.take(order), first, dtype=dtype)

    return Cells(
        packed.starts(keys),
        packed.scores(keys),
        compact_counts(added(negatives, np.int64)),
        compact_counts(added(positives, np.int64)),
        None if weights is None else np.stack([added(w, np.float64) for w in weights]),
    )


def _repeated(counts: Integers) -> NDArray[np.intp]:
    """Index of each cell, once per row that it counts."""
    if counts.max() <= 1:
        return np.flatnonzero(counts)
    return np.repeat(np.arange(counts.size), counts)
