"""Concordant pairs counted over cells: by group, and for every two groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import BLOCK_ROWS, Cells, group_of_cell
from skfedauc._paircounts.keys import Floats, Keys, is_new_key


def group_totals(starts: NDArray[np.int64], amounts: NDArray[Any]) -> NDArray[Any]:
    """Sum of the cells' amounts by group; of integers as int64, without rounding."""
    dtype = np.float64 if amounts.dtype.kind == "f" else np.int64
    if starts.size == 1:
        return np.zeros(0, dtype)
    return np.add.reduceat(amounts, starts[:-1], dtype=dtype)


def concordance(cells: Cells) -> NDArray[Any]:
    """Twice the weight of the concordant pairs of each group, ties counted one half.

    Divided by ``2 * W_plus * W_minus`` it is the group's AUC. Without weights the numbers
    are exact integers: unsigned 64-bit ones, or Python's where a group has so many pairs
    that they do not fit.

    Returns
    -------
    ndarray of uint64, object or float64, shape (n_groups,)
    """
    if cells.weights is not None:
        return _weighted_concordance(cells.starts, cells.weights[0], cells.weights[1])
    n_groups = cells.starts.size - 1
    twice = np.zeros(n_groups, np.uint64)
    # Sums may wrap around on the way, since a group's own result fits 64 bits.
    below = np.uint64(0)
    for a in range(0, cells.scores.size, BLOCK_ROWS):
        b = min(a + BLOCK_ROWS, cells.scores.size)
        negatives = cells.negatives[a:b].astype(np.uint64)
        # negatives below a cell plus those up to it: a tied pair counts one, others two
        heights = np.cumsum(negatives)
        last = heights[-1:].copy()
        heights += heights
        heights -= negatives
        heights += below + below
        heights *= cells.positives[a:b]
        first_group = int(np.searchsorted(cells.starts, a, side="right")) - 1
        end_group = int(np.searchsorted(cells.starts, b, side="left"))
        firsts = np.maximum(cells.starts[first_group:end_group] - a, 0)
        twice[first_group:end_group] += np.add.reduceat(heights, firsts)
        below = (last + below)[0]
    n_negatives = group_totals(cells.starts, cells.negatives).astype(np.uint64)
    n_positives = group_totals(cells.starts, cells.positives).astype(np.uint64)
    twice -= np.uint64(2) * (np.cumsum(n_negatives) - n_negatives) * n_positives
    return _beyond_64_bits(cells, twice, n_negatives, n_positives)


def _beyond_64_bits(
    cells: Cells, twice: Keys, n_negatives: Keys, n_positives: Keys
) -> NDArray[Any]:
    """`twice`, with the groups of 2**63 pairs or more counted in Python's integers."""
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
    exponents = np.frexp(sizes.astype(np.float64) - 0.5)[1]
    for exponent in np.unique(exponents):
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
    length = max(8, n_groups // 30)
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
