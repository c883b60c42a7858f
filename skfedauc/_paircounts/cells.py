"""Rows and cells cut into blocks of whole groups, and the blocks' cells put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.blocks import (
    Cells,
    add_block,
    compact_counts,
    count_block,
    no_cells,
    weigh_block,
)
from skfedauc._paircounts.keys import Booleans, Floats, Keys, ScoreCode, is_new_key

T = TypeVar("T")

# Rows that a block holds if its groups are small: keys and index stay in a core's cache.
BLOCK_ROWS = 1 << 16
# Rows whose index by group is sorted at once.
PART_ROWS = 1 << 19
# Below this many rows a global sort is cheaper than cutting the rows into blocks.
UNCUT_ROWS = 1 << 18


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

    def count(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        return count_block(_taken(scores, rows), _taken(positive, rows), groups, n_groups)

    bits = (n_groups - 1).bit_length() + 1
    cut = scores.size > UNCUT_ROWS and ScoreCode.of(scores, bits).width + bits > 64
    return _by_blocks(count, groups, n_groups, cut=cut, n_jobs=n_jobs)


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

    def weigh(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        return weigh_block(
            _taken(scores, rows), _taken(positive, rows), _taken(weights, rows), groups, n_groups
        )

    cut = scores.size > UNCUT_ROWS and n_groups > 1
    return _by_blocks(weigh, groups, n_groups, cut=cut, weighted=True, n_jobs=n_jobs)


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
    starts, scores, negatives, positives, weights = cells
    if scores.size == 0:
        return no_cells(weighted=weights is not None)

    def add(rows: NDArray[np.int64] | None, groups: Keys | None, n_groups: int) -> Cells:
        taken = Cells(
            starts,
            _taken(scores, rows),
            _taken(negatives, rows),
            _taken(positives, rows),
            weights if weights is None or rows is None else weights.take(rows, axis=1),
        )
        return add_block(taken, groups, n_groups)

    cut = scores.size > UNCUT_ROWS and n_groups > 1
    total = float(negatives.sum(dtype=np.float64) + positives.sum(dtype=np.float64))
    large = total >= 1 << 32
    return _by_blocks(add, groups, n_groups, cut=cut, weighted=weights is not None, large=large)


def merge_cells(
    parts: Sequence[Cells], numbers: Sequence[NDArray[np.intp]], n_groups: int
) -> Cells:
    """Cells of several states added up.

    Each part is sorted by group already, so that a block of groups is a slice of each: no
    more than a block is held beside the parts and the result.

    Parameters
    ----------
    parts : sequence of Cells
        All with weights or all without.
    numbers : sequence of ndarray of intp
        For each part, the new numbers of its groups, which rise; all together they are
        ``range(n_groups)``.
    n_groups : int

    Returns
    -------
    Cells
    """
    sizes = np.zeros(n_groups, np.int64)
    for part, number in zip(parts, numbers, strict=True):
        sizes[number] += np.diff(part.starts)
    if n_groups == 0:
        return no_cells(weighted=parts[0].weights is not None)
    # Slices of many parts are short: fewer, larger blocks then.
    size = max(BLOCK_ROWS, int(sizes.sum()) * len(parts) // 1000)
    bounds = group_blocks(np.append(0, np.cumsum(sizes)), size)
    # places[i][b]: first group of part i that is in block b or after it
    places = [np.searchsorted(number, bounds) for number in numbers]

    def merge(block: int) -> Cells:
        n_groups = int(bounds[block + 1] - bounds[block])
        groups, columns = [], []
        for part, number, place in zip(parts, numbers, places, strict=True):
            first, end = int(place[block]), int(place[block + 1])
            if first == end:
                continue
            cells = slice(int(part.starts[first]), int(part.starts[end]))
            if n_groups > 1:
                local = (number[first:end] - bounds[block]).astype(np.uint64)
                groups.append(np.repeat(local, np.diff(part.starts[first : end + 1])))
            columns.append([c[..., cells] for c in part[1:] if c is not None])
        scores, negatives, positives, *weights = (
            np.concatenate(column, axis=-1) for column in zip(*columns, strict=True)
        )
        together = Cells(part.starts, scores, negatives, positives, next(iter(weights), None))
        return add_block(together, np.concatenate(groups) if groups else None, n_groups)

    return _concatenated([merge(block) for block in range(bounds.size - 1)])


def _concatenated(blocks: list[Cells]) -> Cells:
    """The cells of consecutive blocks as one."""
    sizes = np.cumsum([0] + [block.scores.size for block in blocks])
    starts = [b.starts[:-1] + n for b, n in zip(blocks, sizes[:-1], strict=True)]
    weights = [block.weights for block in blocks if block.weights is not None]
    return Cells(
        np.append(np.concatenate(starts), sizes[-1]),
        np.concatenate([block.scores for block in blocks]),
        compact_counts(np.concatenate([block.negatives for block in blocks])),
        compact_counts(np.concatenate([block.positives for block in blocks])),
        np.concatenate(weights, axis=1) if weights else None,
    )


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
