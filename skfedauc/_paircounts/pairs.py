"""Concordant pairs counted over cells: by group, and for every two groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import (
    BLOCK_CELLS,
    Cells,
    group_blocks,
    group_of_cell,
    have_one_row,
)
from skfedauc._paircounts.keys import Floats, Keys, ScoreCode, is_new_key, stable_order

# Sums by block and group that are held at once.
MATRIX_CELLS = 1 << 22


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
    if cells.weights is None:
        n_negatives, n_positives, twice = _count_pairs(cells)
        twice = _beyond_64_bits(cells, n_negatives, n_positives, twice)
        return Tally(n_negatives, n_positives, n_negatives, n_positives, twice)
    negatives, positives = cells.weights[:2]
    return Tally(
        _by_group(cells.negatives, starts, np.int64),
        _by_group(cells.positives, starts, np.int64),
        _by_group(negatives, starts, np.float64),
        _by_group(positives, starts, np.float64),
        _weighted_concordance(starts, negatives, positives),
    )


def _by_group(amounts: NDArray[Any], starts: NDArray[np.int64], dtype: type) -> NDArray[Any]:
    """Sums of the cells of each group."""
    if starts.size == 1:
        return np.zeros(0, dtype)
    return np.add.reduceat(amounts, starts[:-1], dtype=dtype)


def _count_pairs(
    cells: Cells,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Negatives, positives and twice the concordant pairs of each group.

    Numbers may wrap around on the way, since a group's own fit 64 bits.
    """
    starts = cells.starts
    sums = np.zeros((3, starts.size - 1), np.uint64)
    double = 2 * np.arange(min(BLOCK_CELLS, cells.scores.size), dtype=np.uint64)
    for a in range(0, cells.scores.size, BLOCK_CELLS):
        here = slice(a, a + BLOCK_CELLS)
        negatives, positives = cells.negatives[here], cells.positives[here]
        # The groups that have cells here, of which the first may go on from before
        first, end = np.searchsorted(starts, [a, a + positives.size - 1], side="right") - [1, 0]
        local = np.maximum(starts[first:end] - a, 0)
        n_positives = np.add.reduceat(positives, local, dtype=np.uint64)
        if have_one_row(negatives, positives):
            # Of the rows below the k-th positive, all but k are negatives.
            n_negatives = np.diff(local, append=positives.size).view(np.uint64) - n_positives
            twice = np.add.reduceat(double[: positives.size] * positives, local)
            twice -= double[local] * n_positives
            twice -= n_positives * (n_positives - np.uint64(1))
        else:
            negatives = negatives.astype(np.uint64)
            n_negatives = np.add.reduceat(negatives, local)
            # Those below each cell and those up to it: a tied pair counts one, others two.
            heights = np.cumsum(negatives)
            heights += heights
            heights -= negatives
            twice = np.add.reduceat(heights * positives, local)
            twice -= (heights[local] - negatives[local]) * n_positives
        # The negatives of the group's cells before these
        twice += np.uint64(2) * sums[0, first:end] * n_positives
        for total, of_block in zip(sums, (n_negatives, n_positives, twice), strict=True):
            total[first:end] += of_block
    n_negatives, n_positives, twice = sums
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
    """Twice the concordant weight by group."""
    twice = np.zeros(starts.size - 1)
    for block in walk(starts, [negatives]):
        concordant = block.below[0] * positives[block.cells]
        # No dot product: its rounding depends on the number of threads.
        twice[block.groups] += np.add.reduceat(concordant, block.starts)
    return twice


class GroupBlock(NamedTuple):
    """Consecutive groups, or a stretch of a large one: few enough cells for the cache.

    Attributes
    ----------
    groups, cells : slice
        The numbers of the groups, and their cells.
    starts : ndarray of int64
        Where the cells of each group begin among those of the block.
    amounts : list of ndarray of float64
        The cells' part of each column that was asked for.
    below : list of ndarray of float64
        For each column, twice the amount of the cells of the same group that score below each
        cell, and its own amount once.
    """

    groups: slice
    cells: slice
    starts: NDArray[np.int64]
    amounts: list[Floats]
    below: list[Floats]


def walk(starts: NDArray[np.int64], columns: Sequence[NDArray[Any]]) -> Iterator[GroupBlock]:
    """Go through all cells block by block, with each one's place within its own group.

    Sums by group are made block by block: since a large group comes in several blocks, they
    are to be added up. Other groups change a group's sums by rounding at most.
    """
    so_far = [0.0] * len(columns)
    for first, end, a, b in _stretches(starts):
        of_block = np.maximum(starts[first:end] - a, 0)
        amounts = [column[a:b].astype(np.float64) for column in columns]
        below = []
        for i, amount in enumerate(amounts):
            sums = running_sums(amount, of_block)
            if a > starts[first]:
                sums += so_far[i]
            so_far[i] = sums[-1]
            sums += sums
            sums -= amount
            below.append(sums)
        yield GroupBlock(slice(first, end), slice(a, b), of_block, amounts, below)


def _stretches(starts: NDArray[np.int64]) -> Iterator[tuple[int, int, int, int]]:
    """Groups ``first:end`` and cells ``a:b`` of blocks that fit the cache."""
    bounds = group_blocks(starts, BLOCK_CELLS).tolist()
    for first, end in itertools.pairwise(bounds):
        # A large group is the last one of its block.
        a, large, b = (int(starts[g]) for g in (first, end - 1, end))
        if b - a <= 2 * BLOCK_CELLS:
            yield first, end, a, b
            continue
        if a < large:
            yield first, end - 1, a, large
        for stretch in range(large, b, BLOCK_CELLS):
            yield end - 1, end, stretch, min(stretch + BLOCK_CELLS, b)


def running_sums(amounts: Floats, starts: NDArray[np.int64]) -> Floats:
    """Sums of each group's amounts from its first cell up to each cell.

    One sum over all groups, less what it is where a group begins, would let rounding errors
    of one group into the next. So groups of similar numbers of cells are laid out as rows of
    a matrix.
    """
    if starts.size == 1:
        return np.cumsum(amounts)
    sizes = np.diff(starts, append=amounts.size)
    sums = np.empty_like(amounts)
    exponents = np.frexp(sizes.astype(np.float64) - 0.5)[1]
    for exponent in np.unique(exponents):
        members = np.flatnonzero(exponents == exponent)
        columns = np.arange(int(sizes[members].max()))
        cell = starts[members][:, None] + columns
        inside = columns < sizes[members][:, None]
        matrix = np.where(inside, amounts[np.minimum(cell, amounts.size - 1)], 0.0)
        sums[cell[inside]] = np.cumsum(matrix, axis=1)[inside]
    return sums


class Places(NamedTuple):
    """Each cell's place among the rows of all groups.

    Row 0 of an array is about negatives and row 1 about positives. Numbers are unsigned
    integers where every row weighs 1.

    Attributes
    ----------
    under, up_to : ndarray of uint64 or float64, shape (2, n_cells)
        Weight of all rows that score below the cell, and of those that score at most as high.
    total : ndarray of the same type, shape (2,)
        Weight of all rows.
    """

    under: NDArray[Any]
    up_to: NDArray[Any]
    total: NDArray[Any]


def places_in_all(cells: Cells) -> Places:
    """Compare each cell with the rows of all groups."""
    columns = cells[2:4] if cells.weights is None else cells.weights[:2]
    dtype: Any = np.uint64 if cells.weights is None else np.float64
    under, up_to = np.zeros((2, 2, cells.scores.size), dtype)
    if cells.scores.size == 0:
        return Places(under, up_to, np.zeros(2, dtype))
    order, is_new = _order_by_score(cells)
    first = np.flatnonzero(is_new)
    tie = np.cumsum(is_new) - 1
    total = np.zeros(2, dtype)
    for i, column in enumerate(columns):
        sums = np.cumsum(np.add.reduceat(column.take(order), first, dtype=dtype), dtype=dtype)
        total[i] = sums[-1]
        up_to[i, order] = sums.take(tie)
        under[i, order] = np.append(dtype(0), sums[:-1]).take(tie)
    return Places(under, up_to, total)


def wins_over_all(cells: Cells) -> NDArray[Any]:
    """Twice the weight of pairs in which a group's row scores above another row, ties one half.

    Returns
    -------
    ndarray, shape (2, 2, n_groups)
        By the class of the group's rows, 0 for negatives, by the class of the rows of all groups
        that they are compared with, and by group. Of the type that `Tally.twice` has: exact
        integers without weights.
    """
    places = places_in_all(cells)
    dtype: Any = places.total.dtype.type
    if dtype is np.uint64 and float(places.total.max()) ** 2 >= 2.0**62:
        dtype = object  # Python's integers, which do not overflow
    amounts = cells[2:4] if cells.weights is None else cells.weights[:2]
    below = (places.under + places.up_to).astype(dtype, copy=False)
    wins = np.empty((2, 2, cells.starts.size - 1), dtype)
    for i, j in itertools.product(range(2), repeat=2):
        wins[i, j] = _by_group(amounts[i].astype(dtype) * below[j], cells.starts, dtype)
    return wins


def wins_over_others(cells: Cells) -> NDArray[Any]:
    """The same over the rows of all other groups."""
    wins, own = wins_over_all(cells), tally(cells)
    negatives, positives, twice = (amounts.astype(wins.dtype) for amounts in own[2:])
    wins[1, 0] -= twice
    wins[0, 1] -= 2 * negatives * positives - twice
    # Within a class one row of each two wins, or each half.
    wins[0, 0] -= negatives**2
    wins[1, 1] -= positives**2
    if cells.weights is not None:
        for g in _dominating(own.negatives, own.positives):
            wins[:, :, g] = _wins_of(cells, g)
    return wins


def _dominating(*weights: Floats) -> Iterator[int]:
    """Groups that have nearly all weight of a class: others' part drowns in the rounding."""
    return iter({int(w.argmax()) for w in weights if w.size and w.max() > 0.999 * w.sum()})


def _wins_of(cells: Cells, g: int) -> Floats:
    """Wins of one group over the rows of the others, which are summed by themselves."""
    assert cells.weights is not None
    mine = np.zeros(cells.scores.size, np.bool_)
    mine[cells.starts[g] : cells.starts[g + 1]] = True
    order = np.flatnonzero(~mine)
    order = order[np.argsort(cells.scores[order], kind="stable")]
    ordered, own = cells.scores[order], cells.scores[mine]
    places = [np.searchsorted(ordered, own, side) for side in ("left", "right")]
    wins = np.zeros((2, 2))
    for j, amounts in enumerate(cells.weights[:2]):
        sums = np.append(0.0, np.cumsum(amounts[order]))
        below = sums[places[0]] + sums[places[1]]
        for i, of_own in enumerate(cells.weights[:2]):
            wins[i, j] = (of_own[mine] * below).sum()
    return wins


def _order_by_score(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cells of all groups in order of score, and whether each one's score is a new one."""
    code = ScoreCode.of(cells.scores, (cells.scores.size - 1).bit_length())
    order, keys = stable_order(code.encode(cells.scores), code.width)
    return order, is_new_key(keys)


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
    order, new_score = _order_by_score(cells)
    groups = group_of_cell(cells.starts)[order]
    if cells.weights is None:
        negatives = cells.negatives[order].astype(np.float64)
        positives = cells.positives[order].astype(np.float64)
    else:
        negatives, positives = cells.weights[0][order], cells.weights[1][order]
    # Blocks of about `length` cells balance the product against the pairs within. A tie of
    # more cells is a block of its own.
    length = max(32, n_groups // 16)
    tie = np.cumsum(new_score) - 1
    first_of_tie = np.flatnonzero(new_score)
    large_tie = np.diff(first_of_tie, append=order.size) >= length
    new_block = is_new_key(first_of_tie // length) | large_tie
    new_block[1:] |= large_tie[:-1]
    block = (np.cumsum(new_block) - 1)[tie]
    one_tie = np.bincount(block[new_score]) == 1
    below = np.zeros(n_groups)
    blocks_at_once = max(MATRIX_CELLS // n_groups, 1)
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
