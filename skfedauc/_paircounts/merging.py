"""Cells of several states added up, without sorting all of them at once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import (
    BLOCK_CELLS,
    Cells,
    closed_up,
    columns_of,
    group_blocks,
    no_cells,
    room_for_cells,
)
from skfedauc._paircounts.keys import Floats
from skfedauc._paircounts.rows import add_cells


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
    n_cells = sum(part.scores.size for part in parts)
    # The most rows of a class that one cell may come to
    most = sum(int(max(counts.max(initial=0) for counts in part[2:4])) for part in parts)
    weighted = parts[0].weights is not None
    out = room_for_cells(n_cells, weighted=weighted, large=most >= 1 << 32)
    of_group, filled = np.zeros(n_groups, np.int64), 0
    for block, (first, end) in enumerate(spans):
        groups, columns = [], []
        for part, number, place in zip(parts, numbers, places, strict=True):
            cells = slice(place[block], place[block + 1])
            if cells.start == cells.stop:
                continue
            if end - first > 1:
                a, b = np.searchsorted(number, [first, end])
                local = (number[a:b] - first).astype(np.uint64)
                groups.append(np.repeat(local, np.diff(part.starts[a : b + 1])))
            columns.append([column[..., cells] for column in columns_of(part)])
        scores, negatives, positives, *weights = (
            np.concatenate(column, axis=-1) for column in zip(*columns, strict=True)
        )
        together = Cells(parts[0].starts, scores, negatives, positives, next(iter(weights), None))
        merged = add_cells(together, np.concatenate(groups) if groups else None, end - first)
        here = slice(filled, filled + merged.scores.size)
        for column, of_block in zip(columns_of(out), columns_of(merged), strict=True):
            column[..., here] = of_block
        of_group[first:end] += np.diff(merged.starts)
        filled = here.stop
    return closed_up(out, [0], [filled], np.append(0, np.cumsum(of_group)))


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
    size = max(BLOCK_CELLS, int(sizes.sum()) * len(parts) // 1000)
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
