"""Joining of neighboring cells, so that no count is small or the number of cells is limited.

A joined cell has the rows of the cells that are joined, and a range that holds their ranges.
"""

from __future__ import annotations

import sys
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.bins import Bins
from skfedauc.counts.ranges import Ranges

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A range from score a to score b has the score a + _SHARE * (b - a). With one half, different
# ranges would often have the same score, such as those from 1/4 to 3/4 and from 0 to 1, and cells
# with the same score are added up.
_SHARE = 0.5 + 0.01 / np.sqrt(2)
# Rows of the same class in a range count as this number of rows of the other class. Rows that are
# counted later may have the other class.
_SAME_CLASS = 0.1


# No small counts ------------------------------------------------------------------------------


def united_bins(bins: Bins, low: Integers, high: Integers) -> tuple[Floats, Ranges]:
    """Return the scores and the ranges of cells that hold several neighboring bins each.

    Parameters
    ----------
    bins : Bins
    low, high : ndarray of int64, shape (n_cells,)
        Numbers of the lowest and of the highest bin of each cell.

    Returns
    -------
    scores : ndarray of float64, shape (n_cells,)
        Score of each cell, which depends on the bins only.
    ranges : ndarray of float64, shape (2, n_cells)
    """
    scores = bins.scores_of(low)
    between = (1 - _SHARE) * scores + _SHARE * bins.scores_of(high)
    ranges = np.stack([bins.ranges_of(low)[0], bins.ranges_of(high)[1]])
    return np.where(low == high, scores, between) + 0.0, ranges


def join_small(cells: Cells, bins: Bins, min_count: int) -> tuple[Cells, Ranges, NDArray[np.intp]]:
    """Join neighboring bins of each group and class until each count is at least `min_count`.

    Parameters
    ----------
    cells : Cells
        Cells by bin. Each group has no rows of a class, or at least `min_count`.
    bins : Bins
        Bins of the cells.
    min_count : int

    Returns
    -------
    cells : Cells
        Unsorted cells, each with rows of one class; `starts` has no meaning.
    ranges : ndarray of float64, shape (2, n_cells)
        Range of each cell. The ranges of a group and class do not overlap.
    codes : ndarray of intp, shape (n_cells,)
        Group of each cell.

    Notes
    -----
    Bins are joined from the lowest to the highest. If the last bins have too few rows together,
    they are joined to the cell before them.

    A range from the lowest to the highest bin with rows would disclose the lowest and the highest
    score of a few rows, up to the width of a bin. The ends of each range are therefore rounded
    outwards to multiples of about half the number of bins in the range. Between two
    cells, no range reaches beyond the edge whose number is divisible by the highest power of two.
    """
    numbers = bins.numbers_of(cells.scores)
    parts = [_of_class(cells, numbers, bins, min_count, of_class) for of_class in (0, 1)]
    (negatives, *_), (positives, *_) = parts
    none = [np.zeros_like(of_class) for of_class in (negatives, positives)]
    weights = None
    if cells.weights is not None:
        weights = np.concatenate([part[4] for part in parts], axis=1)
    joined = Cells(
        cells.starts,
        np.concatenate([part[1] for part in parts]),
        compact_counts(np.concatenate([negatives, none[1]])),
        compact_counts(np.concatenate([none[0], positives])),
        weights,
    )
    ranges = np.concatenate([part[2] for part in parts], axis=1)
    return joined, ranges, np.concatenate([part[3] for part in parts])


def _of_class(
    cells: Cells, numbers: Integers, bins: Bins, min_count: int, of_class: int
) -> tuple[Integers, Floats, Ranges, NDArray[np.intp], Floats]:
    """Return counts, scores, ranges, groups and weights of the joined cells of a class."""
    counts = (cells.negatives, cells.positives)[of_class].astype(np.int64)
    used = np.flatnonzero(counts)
    counts, numbers, codes = counts[used], numbers[used], cells.groups[used]
    first = _first_of_runs(counts, codes, min_count)
    last = np.append(first[1:], used.size)[: first.size] - 1
    low, high = _rounded(numbers[first], numbers[last], codes[first], bins)
    scores, ranges = united_bins(bins, low, high)
    weights = np.zeros((4, first.size))
    if cells.weights is not None and first.size:
        of_rows = [of_class, of_class + 2]
        weights[of_rows] = np.add.reduceat(cells.weights[of_rows][:, used], first, axis=1)
    return (
        np.add.reduceat(counts, first) if first.size else counts[:0],
        scores,
        ranges,
        codes[first],
        weights,
    )


def _first_of_runs(counts: Integers, codes: NDArray[np.intp], least: int) -> NDArray[np.intp]:
    """Return the first items of runs within groups, each with a sum of at least `least`."""
    if not counts.size:  # `least` may then be too large for an array
        return np.zeros(0, np.intp)
    upto = np.cumsum(counts)
    before = upto - counts
    behind_group = np.searchsorted(codes, codes, side="right")
    # Without enough rows in the rest of the group, a run that begins here would end behind the
    # group.
    is_enough = before + least <= upto[behind_group - 1]
    behind = np.where(is_enough, np.searchsorted(upto, before + least) + 1, behind_group)
    firsts, item = [], 0
    behind_of, is_run = behind.tolist(), is_enough.tolist()
    while item < counts.size:
        if is_run[item]:
            firsts.append(item)
        item = behind_of[item]
    return np.array(firsts, np.intp)


def _rounded(
    first: Integers, last: Integers, codes: NDArray[np.intp], bins: Bins
) -> tuple[Integers, Integers]:
    """Return the lowest and the highest bin of ranges, rounded outwards without overlap."""
    if bins.n_bins is None:
        least, most = bins.numbers_of([-sys.float_info.max, sys.float_info.max]).tolist()
    else:
        least, most = 0, bins.n_bins - 1
    n_bits = np.maximum(_bit_length(last - first) - 1, 0)
    low = np.maximum(first >> n_bits << n_bits, least)
    high = np.minimum(((last >> n_bits) + 1 << n_bits) - 1, most)
    # Between two cells of a group, no range reaches beyond the edge with the roundest number.
    is_pair = codes[1:] == codes[:-1]
    ends, begins = last[:-1], first[1:]
    differing = np.maximum(_bit_length(ends ^ begins) - 1, 0)
    edges = np.where((ends < 0) & (begins >= 0), 0, begins >> differing << differing)
    low[1:] = np.where(is_pair, np.maximum(low[1:], edges), low[1:])
    high[:-1] = np.where(is_pair, np.minimum(high[:-1], edges - 1), high[:-1])
    return low, high


def _bit_length(numbers: Integers) -> Integers:
    """Return the number of bits of each nonnegative number below 2**53."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


# Few cells ------------------------------------------------------------------------------------


def join_nearest(cells: Cells, ranges: Ranges | None, max_cells: int) -> tuple[Cells, Ranges]:
    """Join neighboring cells of each group until there are `max_cells`.

    The joins are those that widen the certain interval of the AUC least.

    Parameters
    ----------
    cells : Cells
        More than `max_cells` cells.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Ranges of the cells; None if all rows of a cell have its score.
    max_cells : int
        Number of cells to keep; at least the number of groups.

    Returns
    -------
    cells : Cells
        The joined cells, sorted as before.
    ranges : ndarray of float64, shape (2, max_cells)
        Their ranges.

    Notes
    -----
    A join makes the order of some pairs of a negative and a positive unknown. The cost of a join is
    the share of these pairs among all pairs, plus the mean over groups of their share among the
    pairs of the group. This cost alone would join long runs of one class, and later rows of the
    other class would fall into these long ranges. Pairs of the same class therefore count too, with
    a small factor.

    Ranges should be cut at the same scores if counts are reduced apart and then merged. A join
    therefore costs more if the joined range has a score within it that is rounder, as a binary
    fraction, than the scores next to its ends.

    Each round makes the joins with the lowest costs. Of two joins of the same cell, the round makes
    the one with the lower cost. Costs of the same binary order count as equal in this comparison,
    so that the number of rounds grows with the logarithm of the number of cells.
    """
    chain = _Chain(cells, ranges)
    while chain.size > max_cells:
        chain.join(chain.size - max_cells)
    first = chain.first
    last = np.append(first[1:], cells.scores.size) - 1
    low, high = cells.scores[first], cells.scores[last]
    joined = Cells(
        np.searchsorted(first, cells.starts).astype(np.int64),
        np.where(first == last, low, (1 - _SHARE) * low + _SHARE * high) + 0.0,
        compact_counts(np.add.reduceat(cells.negatives, first, dtype=np.int64)),
        compact_counts(np.add.reduceat(cells.positives, first, dtype=np.int64)),
        None if cells.weights is None else np.add.reduceat(cells.weights, first, axis=1),
    )
    return joined, np.stack([chain.low, chain.high])


class _Chain:
    """Sorted cells, whose neighbors can be joined.

    Attributes
    ----------
    first : ndarray of intp, shape (n_cells,)
        First original cell of each joined cell.
    low, high : ndarray of float64, shape (n_cells,)
        Ranges of the cells.
    """

    def __init__(self, cells: Cells, ranges: Ranges | None) -> None:
        amounts = np.stack([amount.astype(np.float64) for amount in cells.amounts])
        n_groups = cells.starts.size - 1
        low, high = (cells.scores, cells.scores) if ranges is None else ranges
        self.first = np.arange(cells.scores.size)
        self.low, self.high = low.copy(), high.copy()
        self._codes = cells.groups
        self._shares = _shares(amounts, amounts.sum(axis=1))
        # Shares of all rows whose range ends below the range, or begins at or below its end
        self._below = _shares_before(self._shares, high, low, "left")
        self._upto = _shares_before(self._shares, low, high, "right")
        # Pairs of these shares give the mean width of the intervals of the groups.
        self._in_group = None
        if n_groups > 1:
            of_groups = np.add.reduceat(amounts, cells.starts[:-1], axis=1)
            self._in_group = _shares(amounts, of_groups[:, self._codes]) / np.sqrt(n_groups)
        self._round = 0

    @property
    def size(self) -> int:
        return self.first.size

    def join(self, most: int) -> None:
        """Join pairs of neighboring cells, at most `most`."""
        costs = self._costs()
        limit = np.partition(costs, most - 1)[most - 1]
        # Of two joins of a cell, the join with the lower cost is made. Costs of the same binary
        # order are in random order.
        self._round += 1
        is_joined = costs <= limit
        ranks = np.frexp(np.maximum(costs, np.finfo(np.float64).tiny))[1].astype(np.int64) << 32
        ranks |= _hashed(self.first[1:], self._round)
        ranks[~is_joined] = np.iinfo(np.int64).max
        is_lower = ranks[1:] < ranks[:-1]
        is_joined[1:] &= is_lower
        is_joined[:-1] &= ~is_lower
        joined = np.flatnonzero(is_joined)
        if joined.size > most:
            joined = np.sort(joined[np.argpartition(costs[joined], most - 1)[:most]])
        kept = np.ones(self.size, np.bool_)
        kept[joined + 1] = False
        first = np.flatnonzero(kept)
        self.first, self._codes = self.first[first], self._codes[first]
        self.low, self.high = (
            np.minimum.reduceat(self.low, first),
            np.maximum.reduceat(self.high, first),
        )
        self._below = np.minimum.reduceat(self._below, first, axis=1)
        self._upto = np.maximum.reduceat(self._upto, first, axis=1)
        self._shares = np.add.reduceat(self._shares, first, axis=1)
        if self._in_group is not None:
            self._in_group = np.add.reduceat(self._in_group, first, axis=1)

    def _costs(self) -> Floats:
        """Return the cost of joining each cell with the next one; infinite between groups."""
        left, right = slice(None, -1), slice(1, None)
        shares, low, high = self._shares, self.low, self.high
        is_range = low < high
        overlap = (high[left] >= low[right]) & (low[left] <= high[right])
        # Pairs of the rows of each cell, and of each two neighbors
        own, between = _pairs(shares, shares) / 2, _pairs(shares[:, left], shares[:, right])
        # Pairs with all rows within the range; pairs within the cell count twice
        within = _pairs(shares, self._upto - self._below)
        joined = _pairs(
            shares[:, left] + shares[:, right],
            np.maximum(self._upto[:, left], self._upto[:, right])
            - np.minimum(self._below[:, left], self._below[:, right]),
        )
        # Pairs within the range of the joined cell, each once, minus pairs that are unknown already
        known = within - own * (2 - is_range)
        cost = joined - (own[left] + own[right] + between) - known[left] - known[right]
        cost += overlap * between
        if self._in_group is not None:
            shares = self._in_group
            own, between = _pairs(shares, shares) / 2, _pairs(shares[:, left], shares[:, right])
            own *= ~is_range
            cost += own[left] + own[right] + ~overlap * between
        np.maximum(cost, 0.0, out=cost)
        cost *= _crossing(np.minimum(low[left], low[right]), np.maximum(high[left], high[right]))
        cost[self._codes[left] != self._codes[right]] = np.inf
        return cost


def _shares(amounts: Floats, of_all: Floats) -> Floats:
    """Return amounts by class as shares of all; 0 if there are none."""
    of_all = of_all.reshape(2, -1)
    return np.divide(amounts, of_all, out=np.zeros_like(amounts), where=of_all > 0)


def _shares_before(
    shares: Floats, of_cells: Floats, ends: Floats, side: Literal["left", "right"]
) -> Floats:
    """Return the sum of the shares of the cells before each end."""
    order = np.argsort(of_cells, kind="stable")
    upto = np.zeros((2, shares.shape[1] + 1))
    np.cumsum(shares[:, order], axis=1, out=upto[:, 1:])
    return upto[:, np.searchsorted(of_cells[order], ends, side=side)]


def _pairs(left: Floats, right: Floats) -> Floats:
    """Return products of shares of different classes, plus a part of products of one class."""
    of_other_class = left[0] * right[1] + left[1] * right[0]
    return np.asarray(of_other_class + _SAME_CLASS * (left * right).sum(axis=0))


def _crossing(low: Floats, high: Floats) -> Floats:
    """Return factors for the costs of joins whose ranges cross scores rounder than their ends.

    The factor is the square of the ratio of two lengths: the length of the shortest range between
    multiples of a power of two that holds the range, and the length of the range.
    """
    below, above = _in_order(low), _in_order(high)
    differing = (below ^ above).astype(np.float64)
    differing[differing < 0] = 2.0**63  # the range has 0 within it
    length = np.ldexp(1.0, np.frexp(differing)[1])
    return (length / (above.astype(np.float64) - below + 1)) ** 2


def _in_order(scores: Floats) -> Integers:
    """Return the bits of scores as integers in the order of the scores."""
    bits = scores.view(np.int64)
    return bits ^ (bits >> 63 & np.iinfo(np.int64).max)


def _hashed(numbers: NDArray[np.intp], seed: int) -> Integers:
    """Return reproducible random numbers of 32 bits."""
    mixed = (numbers.astype(np.uint64) + np.uint64(seed << 40)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(32)).astype(np.int64)
