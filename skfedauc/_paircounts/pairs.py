"""Concordant pairs counted over cells: by group, and for every two groups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.blocks import Cells, group_of_cell
from skfedauc._paircounts.cells import BLOCK_ROWS
from skfedauc._paircounts.keys import Floats, Keys, is_new_key


class Tally(NamedTuple):
    """What each group comes to, by group number.

    Attributes
    ----------
    n_negatives, n_positives : ndarray of int64, shape (n_groups,)
        Rows.
    negatives, positives : ndarray of int64 or float64, shape (n_groups,)
        Their weight; the numbers of rows themselves where every row weighs 1.
    twice : ndarray of uint64, object or float64, shape (n_groups,)
        Twice the weight of the concordant pairs, a tie counted one half. Divided by
        ``2 * negatives * positives`` it is the group's AUC. Without weights the numbers
        are exact integers: unsigned 64-bit ones, or Python's where a group has so many
        pairs that they do not fit.
    """

    n_negatives: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    negatives: NDArray[Any]
    positives: NDArray[Any]
    twice: NDArray[Any]


def tally(cells: Cells) -> Tally:
    """Count rows and concordant pairs of each group in one pass over the cells."""
    starts = cells.starts
    n_negatives, n_positives, twice = _count_pairs(cells)
    if cells.weights is None:
        twice = _beyond_64_bits(cells, n_negatives, n_positives, twice)
        return Tally(n_negatives, n_positives, n_negatives, n_positives, twice)
    negatives, positives = cells.weights[:2]
    if starts.size == 1:
        return Tally(n_negatives, n_positives, np.zeros(0), np.zeros(0), np.zeros(0))
    return Tally(
        n_negatives,
        n_positives,
        np.add.reduceat(negatives, starts[:-1]),
        np.add.reduceat(positives, starts[:-1]),
        _weighted_concordance(starts, negatives, positives),
    )


def _count_pairs(
    cells: Cells,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Negatives, positives and twice the concordant pairs of each group, by running sums.

    A group's count is the running sum at its end less that at its start. The sums may wrap
    around on the way, since a group's own counts fit 64 bits.
    """
    starts = cells.starts
    at_start = np.zeros((3, starts.size), np.uint64)
    carried = np.zeros((3, 1), np.uint64)
    for a in range(0, cells.scores.size, BLOCK_ROWS):
        b = min(a + BLOCK_ROWS, cells.scores.size)
        sums = np.empty((3, b - a), np.uint64)
        negatives, positives, twice = sums
        of_negatives = cells.negatives[a:b].astype(np.uint64)
        of_positives = cells.positives[a:b].astype(np.uint64)
        np.cumsum(of_negatives, out=negatives)
        np.cumsum(of_positives, out=positives)
        sums[:2] += carried[:2]
        # negatives below each cell and those up to it: a tied pair counts one, others two
        np.add(negatives, negatives, out=twice)
        twice -= of_negatives
        twice *= of_positives
        np.cumsum(twice, out=twice)
        twice += carried[2]
        first, last = np.searchsorted(starts, [a, b], side="right")
        at_start[:, first:last] = sums[:, starts[first:last] - 1 - a]
        carried = sums[:, -1:].copy()
    n_negatives, n_positives, twice = np.diff(at_start, axis=1)
    # What the running sum counted against negatives of the groups before is taken off.
    twice -= np.uint64(2) * at_start[0, :-1] * n_positives
    return n_negatives.view(np.int64), n_positives.view(np.int64), twice


def _beyond_64_bits(
    cells: Cells,
    n_negatives: NDArray[np.int64],
    n_positives: NDArray[np.int64],
    twice: Keys,
) -> NDArray[Any]:
    """`twice`, with the groups of 2**62 pairs or more counted in Python's integers."""
    large = n_negatives.astype(np.float64) * n_positives > 2.0**62
    if not large.any():
        return twice
    exact = twice.astype(object)
    for g in np.flatnonzero(large):
        mine = slice(cells.starts[g], cells.starts[g + 1])
        negatives = cells.negatives[mine].astype(object)
        heights = 2 * np.cumsum(negatives) - negatives
        exact[g] = int(np.dot(heights, cells.positives[mine].astype(object)))
    return exact


def _weighted_concordance(
    starts: NDArray[np.int64], negatives: Floats, positives: Floats
) -> Floats:
    """Twice the concordant weight by group, each group summed on its own.

    Running sums across groups would let rounding errors of one group into the next. So
    groups of similar numbers of cells are laid out as rows of a matrix.
    """
    sizes = np.diff(starts)
    twice = np.zeros(sizes.size)
    for g in np.flatnonzero(sizes > BLOCK_ROWS):
        alone = slice(starts[g], starts[g + 1])
        up_to = np.cumsum(negatives[alone])
        up_to[1:] += up_to[:-1].copy()
        up_to *= positives[alone]
        # No dot product: its rounding depends on the number of threads.
        twice[g] = up_to.sum()
    exponents = np.frexp(sizes.astype(np.float64) - 0.5)[1]
    for exponent in np.unique(exponents[sizes <= BLOCK_ROWS]):
        width = 1 << int(exponent)
        members = np.flatnonzero(exponents == exponent)
        step = max(BLOCK_ROWS // width, 1)
        for at in range(0, members.size, step):
            mine = members[at : at + step]
            columns = np.arange(width)
            cell = starts[mine][:, None] + columns
            inside = columns < sizes[mine][:, None]
            cell = np.minimum(cell, negatives.size - 1)
            of_negatives = np.where(inside, negatives[cell], 0.0)
            heights = np.cumsum(of_negatives, axis=1)
            heights += np.hstack([np.zeros((mine.size, 1)), heights[:, :-1]])
            heights *= np.where(inside, positives[cell], 0.0)
            twice[mine] = heights.sum(axis=1)
    return twice


def cross_concordance(cells: Cells) -> Floats:
    """Twice the weight of the concordant pairs of every two groups, ties one half.

    The cells of all groups are put in order of score and cut into blocks that split no
    tie. Pairs of cells from different blocks are counted for all groups at once by a
    matrix product; those within a block, cell by cell. Without weights the numbers are
    exact as long as they stay below 2**53.

    Returns
    -------
    ndarray of float64, shape (n_groups, n_groups)
        Row: the group of the positives; column: the group of the negatives.
    """
    n_groups = cells.starts.size - 1
    twice = np.zeros((n_groups, n_groups))
    if cells.scores.size == 0:
        return twice
    order = np.argsort(cells.scores, kind="stable")
    scores, groups = cells.scores[order], group_of_cell(cells.starts)[order]
    if cells.weights is None:
        negatives = cells.negatives[order].astype(np.float64)
        positives = cells.positives[order].astype(np.float64)
    else:
        negatives, positives = cells.weights[0][order], cells.weights[1][order]
    # Blocks of about `length` cells balance the product against the pairs within. A tie of
    # more cells is a block of its own.
    length = max(32, n_groups // 16)
    new_score = np.r_[True, scores[1:] != scores[:-1]]
    tie = np.cumsum(new_score) - 1
    first_of_tie = np.flatnonzero(new_score)
    large_tie = np.diff(first_of_tie, append=scores.size) >= length
    new_block = is_new_key(first_of_tie // length) | large_tie
    new_block[1:] |= large_tie[:-1]
    block = (np.cumsum(new_block) - 1)[tie]
    one_tie = np.bincount(block[new_score]) == 1
    below = np.zeros(n_groups)
    blocks_at_once = max((1 << 22) // n_groups, 1)
    n_blocks = int(block[-1]) + 1
    for b in range(0, n_blocks, blocks_at_once):
        a, z = np.searchsorted(block, [b, b + blocks_at_once])
        count = min(blocks_at_once, n_blocks - b)
        where = (block[a:z] - b) * n_groups + groups[a:z]
        shape = (count, n_groups)
        size = count * n_groups
        block_negatives = np.bincount(where, negatives[a:z], minlength=size).reshape(shape)
        block_positives = np.bincount(where, positives[a:z], minlength=size).reshape(shape)
        heights: Floats = np.cumsum(block_negatives, axis=0, dtype=np.float64)
        last = heights[-1] + below
        heights += below
        heights -= block_negatives
        heights *= 2.0
        # In a block of one score every pair is a tie.
        heights[one_tie[b : b + count]] += block_negatives[one_tie[b : b + count]]
        twice += block_positives.T @ heights
        below = last
    _add_pairs_within_blocks(
        twice, np.where(one_tie[block], -1, block), tie, groups, negatives, positives
    )
    return twice


def _add_pairs_within_blocks(
    twice: Floats,
    block: NDArray[np.intp],
    tie: NDArray[np.intp],
    groups: NDArray[np.intp],
    negatives: Floats,
    positives: Floats,
) -> None:
    """Add to `twice` the pairs of cells that share a block; block -1 is passed over."""
    n_groups = twice.shape[0]
    keep = block >= 0
    block, tie, groups = block[keep], tie[keep], groups[keep]
    negatives, positives = negatives[keep], positives[keep]
    upper = np.flatnonzero(positives)
    # A positive and the cell `lag` places below it, of the same block.
    for lag in range(block.size):
        lower = upper - lag
        together = lower >= 0
        together &= block[lower] == block[upper]
        upper, lower = upper[together], lower[together]
        if upper.size == 0:
            break
        pairs = positives[upper] * negatives[lower]
        pairs[tie[upper] != tie[lower]] *= 2.0
        where = groups[upper] * n_groups + groups[lower]
        twice += np.bincount(where, pairs, minlength=n_groups**2).reshape(twice.shape)
    # The same above it: only cells of its own tie do not rank below it, but tie with it.
    upper = np.flatnonzero(positives)
    for lag in range(1, block.size):
        higher = upper + lag
        together = higher < block.size
        higher = np.minimum(higher, block.size - 1)
        together &= (block[higher] == block[upper]) & (tie[higher] == tie[upper])
        upper, higher = upper[together], higher[together]
        if upper.size == 0:
            break
        pairs = positives[upper] * negatives[higher]
        where = groups[upper] * n_groups + groups[higher]
        twice += np.bincount(where, pairs, minlength=n_groups**2).reshape(twice.shape)
