"""Joining of neighboring cells, to limit the number of cells.

A joined cell has the rows of several cells, and a range that holds the ranges of these cells.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.ranges import Ranges, score_between
from skfedauc.counts.state import State

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Cost of a pair of rows of the same class, as a share of the cost of a pair of different classes.
# Later rows in a range may have the other class.
_SAME_CLASS = 0.1


def within(state: State, max_cells: int) -> State:
    """Return counts with ranges of scores and at most `max_cells` cells."""
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    cells, ranges = cells_for(state, "max_cells"), state.ranges
    if max_cells < state.n_groups:
        raise ValueError(
            f"max_cells must be at least the number of groups, {state.n_groups}; got {max_cells}."
        )
    if ranges is None:
        ranges = np.stack([cells.scores] * 2)
    if cells.scores.size <= max_cells:
        return state._replace(ranges=ranges)
    cells, ranges = join_nearest(cells, ranges, max_cells)
    return State(cells, state.labels, state.origin._replace(bins=None), ranges)


def join_nearest(cells: Cells, ranges: Ranges | None, max_cells: int) -> tuple[Cells, Ranges]:
    """Join neighboring cells of each group until there are `max_cells`.

    The function chooses the joins that widen the certain interval of the AUC least.

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
        Ranges of the joined cells.

    Notes
    -----
    A join makes the order of some pairs of a negative and a positive unknown. The cost of a join is
    the share of these pairs among all pairs, plus the mean over groups of the share of these pairs
    among the pairs of the group. This cost alone would join long runs of one class. Later rows of
    the other class would then fall into these long ranges. Therefore, the cost also includes pairs
    of the same class, with a small factor.

    Sites that reduce their counts separately should cut ranges at the same scores. A join therefore
    costs more if the joined range contains a rounder binary fraction than the scores next to its
    ends.

    Each round makes the joins with the lowest costs. The round makes the cheaper of two joins of
    the same cell. Costs of the same binary order count as equal in this comparison, so that the
    number of rounds grows with the logarithm of the number of cells.
    """
    chain = _Chain(cells, ranges)
    while chain.size > max_cells:
        chain.join(chain.size - max_cells)
    first = chain.first
    last = np.append(first[1:], cells.scores.size) - 1
    low, high = cells.scores[first], cells.scores[last]
    joined = Cells(
        np.searchsorted(first, cells.starts),
        np.where(first == last, low, score_between(low, high)) + 0.0,
        compact_counts(np.add.reduceat(cells.negatives, first, dtype=np.int64)),
        compact_counts(np.add.reduceat(cells.positives, first, dtype=np.int64)),
        None if cells.weights is None else np.add.reduceat(cells.weights, first, axis=1),
    )
    return joined, np.stack([chain.low, chain.high])


class _Chain:
    """Chain of sorted cells that joins neighbors.

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
        # Shares of the rows with a range below this range, and with a range that begins at or below
        # the end of this range
        self._below = _shares_before(self._shares, high, low, "left")
        self._upto = _shares_before(self._shares, low, high, "right")
        # Shares of each group; pairs of these shares give the mean width of the groups' intervals
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
        # Of two joins of a cell, make the join with the lower cost. Costs of the same binary order
        # have random order.
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
        """Return the cost of joining each cell with the next cell; infinite between groups."""
        left, right = slice(None, -1), slice(1, None)
        shares, low, high = self._shares, self.low, self.high
        is_range = low < high
        overlap = (high[left] >= low[right]) & (low[left] <= high[right])
        # Pairs of rows within each cell, and between neighboring cells
        own, between = _pairs(shares, shares) / 2, _pairs(shares[:, left], shares[:, right])
        # Pairs with all rows within the range; pairs within the cell count twice
        within = _pairs(shares, self._upto - self._below)
        joined = _pairs(
            shares[:, left] + shares[:, right],
            np.maximum(self._upto[:, left], self._upto[:, right])
            - np.minimum(self._below[:, left], self._below[:, right]),
        )
        # Pairs within the range of the joined cell, each once, minus pairs whose order is already
        # unknown
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
    """Return products of shares of different classes, plus a fraction of products of one class."""
    of_other_class = left[0] * right[1] + left[1] * right[0]
    return np.asarray(of_other_class + _SAME_CLASS * (left * right).sum(axis=0))


def _crossing(low: Floats, high: Floats) -> Floats:
    """Return factors that raise the costs of joins whose range crosses a rounder score.

    The factor is the squared ratio of two lengths. The numerator is the length of the shortest
    range between multiples of a power of two that holds the range. The denominator is the length of
    the range.
    """
    below, above = _in_order(low), _in_order(high)
    differing = (below ^ above).astype(np.float64)
    differing[differing < 0] = 2.0**63  # the range contains 0
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
