"""Rows sorted by group and score, and equal ones added up to cells.

Rows are sorted in one of three ways, whichever is the quickest that the scores allow:

* where few pairs of group and score are possible, a table counts each: nothing is sorted;
* without weights, keys of group, score and label are sorted by value. Where they are longer
  than 64 bits, two arrays of keys share the bits of the score between them (`by_value.py`);
* with weights, or where that fails, keys hold group, the highest bits of the score, and the
  number of the row (`by_row_number.py`).

What is sorted is read off stretch by stretch, in threads; no cell is in two stretches
(`stretches.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.by_row_number import by_row_number
from skfedauc._paircounts.by_value import count_by_one_key, count_by_two_keys
from skfedauc._paircounts.cells import (
    Cells,
    Integers,
    columns_of,
    compact_counts,
    have_one_row,
    no_cells,
    room_for_cells,
)
from skfedauc._paircounts.keys import (
    Booleans,
    Floats,
    Packed,
    ScoreCode,
    group_starts,
    is_new_key,
    pack,
    stable_order,
    taken,
)
from skfedauc._paircounts.stretches import Firsts, put_counts, put_weights

# Keys of which a table of sums stays in the cache.
MOST_DENSE = 1 << 18


def count_rows(
    scores: Floats,
    positive: Booleans,
    groups: NDArray[np.intp] | None = None,
    n_groups: int = 1,
    n_jobs: int | None = None,
) -> Cells:
    """Cells of rows that weigh 1.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Finite.
    positive : ndarray of bool, shape (n_rows,)
    groups : ndarray of intp, shape (n_rows,), default=None
        Group numbers; each of ``range(n_groups)`` occurs. None where there is one group.
    n_groups : int, default=1
    n_jobs : int, default=None
        Threads, as scikit-learn counts them. The result does not depend on it.

    Returns
    -------
    Cells
        Their arrays may be the first parts of others that are up to a third larger.
    """
    if scores.size == 0:
        return no_cells()
    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + 1)
    if _is_dense(code.width + bits, scores.size):
        return _count_in_table(pack(scores, groups, n_groups, positive, code), None)
    if code.width + bits < 64:
        return count_by_one_key(pack(scores, groups, n_groups, positive, code), n_jobs)
    cells = count_by_two_keys(scores, positive, groups, n_groups, code, n_jobs)
    if cells is not None:
        return cells
    out = room_for_cells(scores.size, weighted=False)

    def put(place: int, rows: Any, labels: Integers, is_new: Booleans) -> Firsts:
        return put_counts(out, place, labels, is_new)

    return by_row_number(scores, positive, groups, n_groups, code, put, out, n_jobs)


def weigh_rows(
    scores: Floats,
    positive: Booleans,
    weights: Floats,
    groups: NDArray[np.intp] | None = None,
    n_groups: int = 1,
    n_jobs: int | None = None,
) -> Cells:
    """Cells of rows with weights above 0; otherwise as `count_rows`."""
    if scores.size == 0:
        return no_cells(weighted=True)
    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + (scores.size - 1).bit_length() + 1)
    if _is_dense(code.width + bits, scores.size):
        return _count_in_table(pack(scores, groups, n_groups, positive, code), weights)
    out = room_for_cells(scores.size, weighted=True)

    def put(place: int, rows: NDArray[np.int64], labels: Integers, is_new: Booleans) -> Firsts:
        return put_weights(out, place, labels, taken(weights, rows), is_new)

    return by_row_number(scores, positive, groups, n_groups, code, put, out, n_jobs)


def add_cells(cells: Cells, groups: NDArray[np.intp] | None = None, n_groups: int = 1) -> Cells:
    """Cells in any order, with repetitions and new group numbers, sorted and added up.

    Parameters
    ----------
    cells : Cells
        Its `starts` are not looked at.
    groups : ndarray of intp, shape (n_cells,), default=None
        Group number of each cell; each of ``range(n_groups)`` occurs. None puts all
        cells into one group.
    n_groups : int, default=1

    Returns
    -------
    Cells
    """
    _, scores, negatives, positives, weights = cells
    if scores.size == 0:
        return no_cells(weighted=weights is not None)
    # Where few rows share a cell, counting the rows beats adding up cells.
    if weights is None and have_one_row(negatives, positives):
        return count_rows(scores, positives.astype(np.bool_), groups, n_groups, n_jobs=1)
    n_negatives, n_positives = (float(counts.sum(dtype=np.float64)) for counts in cells[2:4])
    if weights is None and n_negatives + n_positives <= 1.2 * scores.size:
        of_row = np.concatenate([_repeated(negatives), _repeated(positives)])
        positive = np.zeros(of_row.size, np.bool_)
        positive[int(n_negatives) :] = True
        row_groups = None if groups is None else groups[of_row]
        return count_rows(scores[of_row], positive, row_groups, n_groups, n_jobs=1)
    large = n_negatives + n_positives >= 1 << 32
    out = room_for_cells(scores.size, weighted=weights is not None, large=large)

    def put(place: int, rows: NDArray[np.int64], labels: Any, is_new: Booleans) -> Firsts:
        first = np.flatnonzero(is_new)
        here = slice(place, place + first.size)
        for added, amounts in zip(columns_of(out)[1:], columns_of(cells)[1:], strict=True):
            of_row = amounts.take(rows, axis=-1)
            added[..., here] = np.add.reduceat(of_row, first, axis=-1, dtype=added.dtype)
        return first

    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + (scores.size - 1).bit_length() + 1)
    return by_row_number(scores, None, groups, n_groups, code, put, out, n_jobs=1)


def _repeated(counts: Integers) -> NDArray[np.intp]:
    """Index of each cell, once per row that it counts."""
    return np.repeat(np.arange(counts.size), counts.astype(np.intp))


def cells_of_rows(
    scores: Floats, groups: NDArray[np.intp], n_groups: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Number of the cell that each row belongs to, and the first cell of each group."""
    if scores.size == 0:
        return np.zeros(0, np.intp), np.zeros(n_groups + 1, np.int64)
    packed = pack(scores, groups, n_groups)
    order, keys = stable_order(packed.keys, packed.width)
    is_new = is_new_key(keys)
    cell = np.empty(scores.size, np.intp)
    cell[order] = np.cumsum(is_new) - 1
    return cell, group_starts(keys[is_new], n_groups, packed.score_bits)


# By a table ----------------------------------------------------------------------------


def _is_dense(width: int, n_rows: int) -> bool:
    """Whether so few keys are possible that a table of them all is small and well filled."""
    return 1 << width <= MOST_DENSE and 4 << width <= n_rows


def _count_in_table(packed: Packed, weights: Floats | None) -> Cells:
    """Cells by counting each possible key with its label, without sorting."""
    numbers, n_keys = packed.keys.view(np.int64), 1 << packed.width

    def sums(amounts: Floats | None) -> NDArray[Any]:
        """By key, of negatives and of positives, added in the order of the rows."""
        return np.bincount(numbers, amounts, 2 * n_keys).reshape(n_keys, 2).T

    counts = sums(None)
    occupied = np.flatnonzero(counts.any(axis=0))
    keys = occupied.astype(np.uint64)
    negatives, positives = counts[:, occupied]
    if weights is not None:
        weights = np.concatenate(
            [sums(weights)[:, occupied], sums(np.square(weights))[:, occupied]]
        )
    return Cells(
        group_starts(keys, packed.n_groups, packed.score_bits),
        packed.scores(keys),
        compact_counts(negatives),
        compact_counts(positives),
        weights,
    )
