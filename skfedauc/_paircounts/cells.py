"""Rows and cells cut into blocks of whole groups, and the blocks' cells put together."""

from __future__ import annotations

import itertools
import sys
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
from skfedauc._paircounts.keys import (
    Booleans,
    Floats,
    Keys,
    ScoreCode,
    is_new_key,
    pack,
    stable_order,
)

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
        Threads, as scikit-learn counts them. The result does not depend on it. Where group and
        score fit one integer there is one sort to do, by one thread.

    Returns
    -------
    Cells
    """
    if scores.size == 0:
        return no_cells()

    bits = (n_groups - 1).bit_length() + 1
    code = ScoreCode.of(scores, bits)
    cut = scores.size > UNCUT_ROWS and code.width + bits > 64
    known = None if cut else code

    def count(rows: NDArray[np.int64] | None, groups: NDArray[Any] | None, n_groups: int) -> Cells:
        return count_block(_taken(scores, rows), _taken(positive, rows), groups, n_groups, known)

    # Blocks of fewer groups, if not of much fewer rows, leave room for the score.
    fitting = int(0.8 * scores.size / n_groups * 2.0 ** max(63 - code.width, 0))
    size = fitting if BLOCK_ROWS // 4 <= fitting < BLOCK_ROWS else BLOCK_ROWS
    return _by_blocks(count, groups, n_groups, cut=cut, size=size, n_jobs=n_jobs)


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
    # Room for the number of the row as well lets one sort do.
    code = ScoreCode.of(scores, bits + (scores.size - 1).bit_length())
    cut = scores.size > UNCUT_ROWS and code.width + bits > 64
    known = None if cut else code

    def weigh(rows: NDArray[np.int64] | None, groups: NDArray[Any] | None, n_groups: int) -> Cells:
        of_scores, of_weights = _taken(scores, rows), _taken(weights, rows)
        return weigh_block(of_scores, _taken(positive, rows), of_weights, groups, n_groups, known)

    return _by_blocks(weigh, groups, n_groups, cut=cut, weighted=True, n_jobs=n_jobs)


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
    return cell, packed.starts(keys[is_new])


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

    def add(rows: NDArray[np.int64] | None, groups: NDArray[Any] | None, n_groups: int) -> Cells:
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
    if n_groups == 0:
        return no_cells(weighted=parts[0].weights is not None)
    spans, places = _blocks_of_parts(parts, numbers, n_groups)

    def merge(block: int) -> Cells:
        first, end = spans[block]
        groups, columns = [], []
        for part, number, place in zip(parts, numbers, places, strict=True):
            cells = slice(place[block], place[block + 1])
            if cells.start == cells.stop:
                continue
            if end - first > 1:
                a, b = np.searchsorted(number, [first, end])
                local = (number[a:b] - first).astype(np.uint64)
                groups.append(np.repeat(local, np.diff(part.starts[a : b + 1])))
            columns.append([column[..., cells] for column in _columns(part)])
        scores, negatives, positives, *weights = (
            np.concatenate(column, axis=-1) for column in zip(*columns, strict=True)
        )
        together = Cells(parts[0].starts, scores, negatives, positives, next(iter(weights), None))
        return add_block(together, np.concatenate(groups) if groups else None, end - first)

    n_rows = sum(float(p.negatives.sum() + p.positives.sum()) for p in parts)
    room = np.sum(places, axis=0)
    weighted = parts[0].weights is not None
    return _filled(merge, spans, room, weighted=weighted, large=n_rows >= 1 << 32)


def _blocks_of_parts(
    parts: Sequence[Cells], numbers: Sequence[NDArray[np.intp]], n_groups: int
) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Blocks of groups, large groups cut by score, and where they begin in each part.

    Returns the first group of each block and the one after its last; and for each part the
    place of each block's first cell, and of the end.
    """
    sizes = np.zeros(n_groups, np.int64)
    for part, number in zip(parts, numbers, strict=True):
        sizes[number] += np.diff(part.starts)
    # Slices of many parts are short: fewer, larger blocks then.
    size = max(BLOCK_ROWS, int(sizes.sum()) * len(parts) // 1000)
    bounds = group_blocks(np.append(0, np.cumsum(sizes)), size).tolist()
    spans: list[tuple[int, int]] = []
    places: list[list[int]] = [[] for _ in parts]
    for first, end in itertools.pairwise(bounds):
        # A large group is the last one of its block.
        alone = end - 1 if sizes[end - 1] > 2 * size else end
        if first < alone:
            spans.append((first, alone))
            for place, part, number in zip(places, parts, numbers, strict=True):
                place.append(int(part.starts[np.searchsorted(number, first)]))
        if alone < end:
            mine = [
                _scores_of(part, number, alone) for part, number in zip(parts, numbers, strict=True)
            ]
            cuts = _quantiles([scores for _, scores in mine], size)
            spans += [(alone, end)] * (cuts.size + 1)
            for place, (start, scores) in zip(places, mine, strict=True):
                place += [start, *(start + np.searchsorted(scores, cuts)).tolist()]
    for place, part in zip(places, parts, strict=True):
        place.append(part.scores.size)
    return spans, places


def _scores_of(part: Cells, number: NDArray[np.intp], group: int) -> tuple[int, Floats]:
    """Where the cells of this group begin in the part, and their scores."""
    a, b = np.searchsorted(number, [group, group + 1])
    start, end = int(part.starts[a]), int(part.starts[b])
    return start, part.scores[start:end]


def _quantiles(lists: Sequence[Floats], size: int) -> Floats:
    """Scores that cut sorted lists, taken together, into stretches of about `size`."""
    step = max(size // 16, 1)
    sample = np.sort(np.concatenate([scores[step // 2 :: step] for scores in lists]))
    cuts = np.unique(sample[16::16])
    # Nothing is below the lowest score.
    lowest = min(float(scores[0]) for scores in lists if scores.size)
    return cuts[cuts > lowest]


def _taken(values: NDArray[Any], rows: NDArray[np.int64] | None) -> NDArray[Any]:
    return values if rows is None else values.take(rows)


def _by_blocks(
    block: Callable[[NDArray[np.int64] | None, NDArray[Any] | None, int], Cells],
    groups: NDArray[np.intp] | None,
    n_groups: int,
    *,
    cut: bool,
    size: int | None = None,
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
        return block(None, groups, n_groups)
    n_rows = groups.size
    row_bits = np.uint64((n_rows - 1).bit_length())
    row_mask = np.uint64((1 << int(row_bits)) - 1)
    starts = np.append(0, np.cumsum(np.bincount(groups, minlength=n_groups)))
    bounds = group_blocks(starts, size or BLOCK_ROWS)
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

    def run(number: int) -> Cells:
        rows = np.concatenate([part[number] for part in parts])
        first, end = spans[number]
        block_groups = rows >> row_bits
        block_groups -= np.uint64(first)
        rows &= row_mask
        return block(rows.view(np.int64), block_groups, end - first)

    parts = _in_threads(sort_part, range(0, n_rows, PART_ROWS), n_jobs)
    spans = list(itertools.pairwise(bounds.tolist()))
    return _filled(run, spans, starts[bounds], weighted=weighted, large=large, n_jobs=n_jobs)


def _filled(
    make: Callable[[int], Cells],
    spans: Sequence[tuple[int, int]],
    room: NDArray[np.int64],
    *,
    weighted: bool,
    large: bool,
    n_jobs: int | None = None,
) -> Cells:
    """The cells that `make` gives for each block, one block after another.

    Block i has the groups ``range(*spans[i])``; the next one may go on with the same group. Its
    cells are at most as many as ``room[i + 1] - room[i]``, so that blocks can be written before
    it is known how many cells those before them have.
    """
    if len(spans) == 1:
        return make(0)
    out = _empty_cells(int(room[-1]), weighted=weighted, large=large)

    def fill(number: int) -> NDArray[np.int64]:
        """Write the cells of a block; how many each group has."""
        found = make(number)
        here = slice(int(room[number]), int(room[number]) + found.scores.size)
        for column, of_block in zip(_columns(out), _columns(found), strict=True):
            column[..., here] = of_block
        return np.diff(found.starts)

    sizes = _in_threads(fill, range(len(spans)), n_jobs)
    of_group = np.zeros(spans[-1][1], np.int64)
    for (first, end), of_block in zip(spans, sizes, strict=True):
        of_group[first:end] += of_block
    _close_up(out, room, [int(of_block.sum()) for of_block in sizes])
    starts = np.append(0, np.cumsum(of_group))
    return _cut_off(out._replace(starts=starts), int(starts[-1]))


def _empty_cells(n_cells: int, *, weighted: bool, large: bool) -> Cells:
    dtype = np.uint64 if large else np.uint32
    return Cells(
        np.zeros(0, np.int64),
        np.empty(n_cells),
        np.empty(n_cells, dtype),
        np.empty(n_cells, dtype),
        np.empty((4, n_cells)) if weighted else None,
    )


def _columns(cells: Cells) -> list[NDArray[Any]]:
    """What cells hold, but for `starts`; the last axis of each goes over the cells."""
    return [column for column in cells[1:] if column is not None]


def _close_up(cells: Cells, room: NDArray[np.int64], sizes: Sequence[int]) -> None:
    """Move together the cells of blocks, which begin at `room`."""
    columns, new = _columns(cells), 0
    for old, size in zip(room.tolist(), sizes, strict=False):
        if old > new:
            for column in columns:
                column[..., new : new + size] = column[..., old : old + size]
        new += size


def _cut_off(cells: Cells, n_cells: int) -> Cells:
    """The first cells; memory of the others is given back unless it is little."""

    def cut(column: NDArray[Any]) -> NDArray[Any]:
        kept = column[..., :n_cells]
        return kept if 4 * n_cells > 3 * column.shape[-1] else kept.copy()

    return Cells(
        cells.starts,
        cut(cells.scores),
        compact_counts(cut(cells.negatives)),
        compact_counts(cut(cells.positives)),
        None if cells.weights is None else cut(cells.weights),
    )


def _in_threads(function: Callable[[int], T], numbers: range, n_jobs: int | None) -> list[T]:
    """Results of the function, in order; a block is too short for processes."""
    n_threads = 1 if len(numbers) == 1 else _effective_n_jobs(n_jobs)
    if n_threads == 1:
        return [function(number) for number in numbers]
    # joblib.Parallel looks for results every 10 ms, longer than many calls take in all.
    with ThreadPoolExecutor(min(n_threads, len(numbers))) as threads:
        return list(threads.map(function, numbers))


def _effective_n_jobs(n_jobs: int | None) -> int:
    # Without joblib nobody has set a default for None.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def group_blocks(starts: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """Bounds of blocks of whole groups of about `size` rows or cells each.

    Blocks are the unit in which things are computed by group: their arrays stay in the
    processor's cache. A group larger than `size` ends its block.
    """
    return np.append(np.flatnonzero(is_new_key(starts[:-1] // size)), starts.size - 1)
