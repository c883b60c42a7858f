"""Cells: what they hold, and pieces of them put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.keys import Floats, is_new_key

Integers = NDArray[np.integer[Any]]

# Cells of one group or several whose arrays stay in a core's cache.
BLOCK_CELLS = 1 << 16


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


def room_for_cells(
    n_cells: int, *, weighted: bool, large: bool = False, scores: Floats | None = None
) -> Cells:
    """Cells to be filled; `large` is said where so many as these may count 2**32 rows.

    `scores` is memory that may be used for them.
    """
    dtype = np.uint64 if large or n_cells >= 1 << 32 else np.uint32
    return Cells(
        np.zeros(0, np.int64),
        np.empty(n_cells) if scores is None else scores,
        np.empty(n_cells, dtype),
        np.empty(n_cells, dtype),
        np.empty((4, n_cells)) if weighted else None,
    )


def closed_up(
    cells: Cells, places: Sequence[int], sizes: Sequence[int], starts: NDArray[np.int64]
) -> Cells:
    """Cells that were filled piece by piece, without the room between the pieces.

    Piece i is the ``sizes[i]`` cells from ``places[i]`` on.
    """
    end = 0
    for place, size in zip(places, sizes, strict=True):
        if place > end:
            for column in columns_of(cells):
                column[..., end : end + size] = column[..., place : place + size]
        end += size

    def cut(column: NDArray[Any]) -> NDArray[Any]:
        kept = column[..., :end]
        # Memory of the others is given back unless it is little.
        return kept if 4 * end > 3 * column.shape[-1] else kept.copy()

    return Cells(
        starts,
        cut(cells.scores),
        compact_counts(cut(cells.negatives)),
        compact_counts(cut(cells.positives)),
        None if cells.weights is None else cut(cells.weights),
    )


def columns_of(cells: Cells) -> list[NDArray[Any]]:
    """What cells hold, but for `starts`; the last axis of each goes over the cells."""
    return [column for column in cells[1:] if column is not None]


def compact_counts(counts: Integers) -> Integers:
    """Counts in 32 bits where they fit, so that equal states have equal arrays."""
    small = counts.dtype == np.uint32 or counts.size == 0 or int(counts.max()) < 1 << 32
    return counts.astype(np.uint32 if small else np.uint64, copy=False)


def have_one_row(negatives: Integers, positives: Integers) -> bool:
    """Whether each of these cells has one row."""
    return int((negatives | positives).max()) <= 1 and bool((negatives ^ positives).all())


def group_of_cell(starts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Group number of each cell."""
    return np.repeat(np.arange(starts.size - 1), np.diff(starts))


def group_blocks(starts: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """Bounds of blocks of whole groups of about `size` cells each.

    Blocks are the unit in which things are computed by group: their arrays stay in the
    processor's cache. A group larger than `size` ends its block.
    """
    return np.append(np.flatnonzero(is_new_key(starts[:-1] // size)), starts.size - 1)
