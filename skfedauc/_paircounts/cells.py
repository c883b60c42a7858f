"""Rows and other cells sorted by group and score, and equal ones added up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.keys import (
    Booleans,
    Floats,
    Keys,
    ScoreCode,
    is_new_key,
    pack,
    stable_order,
)

Integers = NDArray[np.integer[Any]]
T = TypeVar("T")

# Rows that a block holds if its groups are small: keys and index stay in a core's cache.
BLOCK_ROWS = 1 << 16
# Rows whose index by group is sorted at once.
PART_ROWS = 1 << 19
# Below this many rows a global sort is cheaper than cutting the rows into blocks.
UNCUT_ROWS = 1 << 18


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
    """
    if scores.size == 0:
        return no_cells()

    def count_block(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        packed = pack(_taken(scores, rows), groups, n_groups, spare=1)
        keys = packed.keys
        keys <<= np.uint64(1)
        keys |= _taken(positive, rows)
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
            positives = np.add.reduceat(labels, first)
            negatives = np.diff(first, append=labels.size) - positives
        return Cells(
            packed.starts(keys),
            packed.scores(keys),
            compact_counts(negatives),
            compact_counts(positives),
            None,
        )

    bits = (n_groups - 1).bit_length() + 1
    cut = scores.size > UNCUT_ROWS and ScoreCode.of(scores, bits).width + bits > 64
    return _by_blocks(count_block, groups, n_groups, cut=cut, n_jobs=n_jobs)


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

    # The order is stable, so that the weights of a cell are added in the order of its rows,
    # whatever rows other groups have.

    def weigh_block(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        packed = pack(_taken(scores, rows), groups, n_groups, spare=0)
        order, keys = stable_order(packed.keys, packed.width)
        is_new = is_new_key(keys)
        # One array to put in order instead of two: the weight, below 0 for negatives.
        row_weights = np.where(_taken(positive, rows), 1.0, -1.0)
        row_weights *= _taken(weights, rows)
        row_weights = row_weights.take(order)
        positives: Integers = (row_weights > 0).astype(np.uint32)
        negatives: Integers = np.uint32(1) - positives
        sums = np.empty((4, order.size))
        np.maximum(row_weights, 0.0, out=sums[1])
        np.subtract(sums[1], row_weights, out=sums[0])
        np.square(sums[:2], out=sums[2:])
        if not is_new.all():
            first = np.flatnonzero(is_new)
            keys = keys.take(first)
            positives = np.add.reduceat(positives, first)
            negatives = np.add.reduceat(negatives, first)
            sums = np.stack([np.add.reduceat(amounts, first) for amounts in sums])
        return Cells(
            packed.starts(keys),
            packed.scores(keys),
            compact_counts(negatives),
            compact_counts(positives),
            sums,
        )

    cut = scores.size > UNCUT_ROWS and n_groups > 1
    return _by_blocks(weigh_block, groups, n_groups, cut=cut, weighted=True, n_jobs=n_jobs)


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
    if weights is None:
        n_rows = int(negatives.sum(dtype=np.int64) + positives.sum(dtype=np.int64))
        if n_rows <= 2 * scores.size:
            # Few rows share a cell: sorting rows by value beats sorting an index.
            of_row = np.concatenate([_repeated(negatives), _repeated(positives)])
            positive = np.zeros(n_rows, np.bool_)
            positive[int(negatives.sum(dtype=np.int64)) :] = True
            row_groups = None if groups is None else groups[of_row]
            return count_rows(scores[of_row], positive, row_groups, n_groups)

    def add_block(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        packed = pack(_taken(scores, rows), groups, n_groups, spare=0)
        order, keys = stable_order(packed.keys, packed.width)
        is_new = is_new_key(keys)
        first, keys = np.flatnonzero(is_new), keys[is_new]

        def added(amounts: NDArray[Any], dtype: type) -> NDArray[Any]:
            return np.add.reduceat(_taken(amounts, rows)[order], first, dtype=dtype)

        return Cells(
            packed.starts(keys),
            packed.scores(keys),
            compact_counts(added(negatives, np.int64)),
            compact_counts(added(positives, np.int64)),
            None if weights is None else np.stack([added(w, np.float64) for w in weights]),
        )

    cut = scores.size > UNCUT_ROWS and n_groups > 1
    total = float(negatives.sum(dtype=np.float64) + positives.sum(dtype=np.float64))
    large = total >= 1 << 32
    weighted = weights is not None
    return _by_blocks(add_block, groups, n_groups, cut=cut, weighted=weighted, large=large)


def _repeated(counts: Integers) -> NDArray[np.intp]:
    """Index of each cell, once per row that it counts."""
    if counts.max() <= 1:
        return np.flatnonzero(counts)
    return np.repeat(np.arange(counts.size), counts)


def _taken(values: NDArray[Any], rows: NDArray[np.int64] | None) -> NDArray[Any]:
    return values if rows is None else values.take(rows)


def _by_blocks(
    block: Callable[[NDArray[np.int64] | None, Keys | None, int], Cells],
    groups: NDArray[np.intp] | None,
    n_groups: int,
    *,
    cut: bool,
    weighted: bool = False,
    large: bool = False,
    n_jobs: int | None = None,
) -> Cells:
    """Cells of all rows, from `block` called on blocks of whole groups.

    `block(rows, groups, n_groups)` gets the index of its rows (None for all) and their
    groups, numbered from 0. Where blocks are cut depends on the sizes of the groups alone.
    `large` is said where a cell may count 2**32 rows.
    """
    if groups is None or n_groups == 1:
        return block(None, None, 1)
    if not cut:
        return block(None, groups.astype(np.uint64), n_groups)
    n_rows = groups.size
    row_bits = np.uint64((n_rows - 1).bit_length())
    row_mask = np.uint64((1 << int(row_bits)) - 1)
    starts = np.append(0, np.cumsum(np.bincount(groups, minlength=n_groups)))
    bounds = group_blocks(starts, BLOCK_ROWS)
    first_keys = bounds.astype(np.uint64) << row_bits

    def sort_part(first: int) -> list[Keys]:
        """Rows of a stretch of the input, by block."""
        # Sorted values of (group, row) are an index of rows by group, without argsort.
        rows = np.arange(first, min(first + PART_ROWS, n_rows), dtype=np.uint64)
        by_group = groups[first : first + PART_ROWS].astype(np.uint64)
        by_group <<= row_bits
        by_group |= rows
        by_group.sort()
        return np.split(by_group, np.searchsorted(by_group, first_keys[1:-1]))

    out = _empty_cells(n_rows, n_groups, weighted=weighted, large=large)

    def run(number: int) -> int:
        """Write the cells of a block where its rows would be; their number."""
        rows = np.concatenate([part[number] for part in parts])
        first, end = bounds[number : number + 2].tolist()
        block_groups = rows >> row_bits
        block_groups -= np.uint64(first)
        rows &= row_mask
        found = block(rows.view(np.int64), block_groups, end - first)
        size = found.scores.size
        here = slice(int(starts[first]), int(starts[first]) + size)
        out.starts[first:end] = found.starts[:-1]
        out.scores[here] = found.scores
        out.negatives[here] = found.negatives
        out.positives[here] = found.positives
        if out.weights is not None and found.weights is not None:
            out.weights[:, here] = found.weights
        return size

    parts = _in_threads(sort_part, range(0, n_rows, PART_ROWS), n_jobs)
    sizes = _in_threads(run, range(bounds.size - 1), n_jobs)
    return _closed_up(out, bounds, starts[bounds], np.append(0, np.cumsum(sizes)))


def _empty_cells(n_cells: int, n_groups: int, *, weighted: bool, large: bool) -> Cells:
    dtype = np.uint64 if large else np.uint32
    return Cells(
        np.empty(n_groups + 1, np.int64),
        np.empty(n_cells),
        np.empty(n_cells, dtype),
        np.empty(n_cells, dtype),
        np.empty((4, n_cells)) if weighted else None,
    )


def _closed_up(
    cells: Cells,
    bounds: NDArray[np.intp],
    places: NDArray[np.int64],
    new_places: NDArray[np.int64],
) -> Cells:
    """The cells of blocks that leave room between them, moved together.

    Block i has the groups ``bounds[i]:bounds[i + 1]`` and its cells at ``places[i]``; they are
    to be at ``new_places[i]``.
    """
    cells.starts[:-1] += np.repeat(new_places[:-1], np.diff(bounds))
    cells.starts[-1] = total = int(new_places[-1])
    if total == places[-1] and cells.negatives.dtype == np.uint32:
        return cells
    columns: list[NDArray[Any]] = [c for c in cells[1:] if c is not None]
    sizes = np.diff(new_places).tolist()
    for old, new, size in zip(places.tolist(), new_places.tolist(), sizes, strict=False):
        if old > new:
            for column in columns:
                column[..., new : new + size] = column[..., old : old + size]

    def cut_off(column: NDArray[Any]) -> NDArray[Any]:
        # Memory of cells that are not there is given back unless it is little.
        kept = column[..., :total]
        return kept if 4 * total > 3 * places[-1] else kept.copy()

    return Cells(
        cells.starts,
        cut_off(cells.scores),
        compact_counts(cut_off(cells.negatives)),
        compact_counts(cut_off(cells.positives)),
        None if cells.weights is None else cut_off(cells.weights),
    )


def _in_threads(function: Callable[[int], T], numbers: range, n_jobs: int | None) -> list[T]:
    """Results of the function, in order; a block is too short for processes."""
    if n_jobs is None or n_jobs == 1 or len(numbers) == 1:
        return [function(number) for number in numbers]
    from joblib import effective_n_jobs

    # joblib.Parallel looks for results every 10 ms, longer than many calls take in all.
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as threads:
        return list(threads.map(function, numbers))


def group_blocks(starts: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """Bounds of blocks of whole groups of about `size` rows or cells each.

    Blocks are the unit in which things are computed by group: their arrays stay in the
    processor's cache. A group larger than `size` ends its block.
    """
    return np.append(np.flatnonzero(is_new_key(starts[:-1] // size)), starts.size - 1)
