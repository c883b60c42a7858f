"""Score ranges in binned cells: merging, joining cells, and suppressing small counts.

Ranges have shape (2, n_cells): the lowest and the highest possible score of the rows in each cell.
A cell's score lies within its range.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, add_cells, compact_counts, merge_cells, number_cells
from skfedauc.counts.bins import Bins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Ranges = NDArray[np.float64]

# A range from score a to score b has the score a + _SHARE * (b - a). With one half, ranges such as
# 1/4 to 3/4 and 0 to 1 would have the same score. Merging adds up cells with the same score.
_SHARE = 0.5 + 0.01 / np.sqrt(2)


def add_with_ranges(
    cells: Cells, ranges: Ranges | None, codes: NDArray[np.intp] | None, n_groups: int
) -> tuple[Cells, Ranges | None]:
    """Add up cells with equal group and score, and return each sum's smallest range."""
    added = add_cells(cells, codes, n_groups)
    return added, None if ranges is None else _hull(cells.scores, ranges, codes, added)


def merge_with_ranges(
    parts: Sequence[Cells],
    ranges: Sequence[Ranges | None],
    numbers: Sequence[NDArray[np.intp]],
    n_groups: int,
) -> tuple[Cells, Ranges | None]:
    """Merge cells from two or more score counts, and return each merged cell's range."""
    merged = merge_cells(parts, numbers, n_groups)
    known = [of_part for of_part in ranges if of_part is not None]
    if not known:
        return merged, None
    scores = np.concatenate([part.scores for part in parts])
    codes = np.concatenate(
        [of_part[part.groups] for part, of_part in zip(parts, numbers, strict=True)]
    )
    return merged, _hull(scores, np.concatenate(known, axis=1), codes, merged)


def _hull(
    scores: NDArray[np.float64], ranges: Ranges, codes: NDArray[np.intp] | None, added: Cells
) -> Ranges:
    """Return, for each cell in `added`, the smallest range that holds its parts' ranges."""
    numbers, _ = number_cells(scores, codes, added.starts.size - 1)
    hull = np.empty((2, added.scores.size))
    hull[0], hull[1] = np.inf, -np.inf
    np.minimum.at(hull[0], numbers, ranges[0])
    np.maximum.at(hull[1], numbers, ranges[1])
    return hull


def n_distinct(ranges: Ranges) -> int:
    """Return how many distinct ranges there are; different ones may have the same score."""
    low, high = ranges
    return int(np.unique(low + 1j * high).size)


def score_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score near each range's middle."""
    between: NDArray[np.float64] = (1 - _SHARE) * low + _SHARE * high
    return between


def united_bins(
    bins: Bins, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Ranges]:
    """Return scores and ranges for cells that each hold several neighboring bins."""
    scores = bins.scores_of(low)
    between = score_between(scores, bins.scores_of(high))
    ranges = np.stack([bins.ranges_of(low)[0], bins.ranges_of(high)[1]])
    return np.where(low == high, scores, between) + 0.0, ranges


def extremes_of(cells: Cells, ranges: Ranges) -> tuple[Cells, Cells]:
    """Return exact cells for the lowest and for the highest AUCs that the ranges permit."""
    low, high = ranges
    return _split(cells, high, low), _split(cells, low, high)


def _split(
    cells: Cells, of_negatives: NDArray[np.float64], of_positives: NDArray[np.float64]
) -> Cells:
    """Return cells with separate scores for the negatives and the positives."""
    n_cells = cells.scores.size
    weights = None
    if cells.weights is not None:
        is_positive = np.array([[False], [True]] * 2)
        weights = np.concatenate([cells.weights * ~is_positive, cells.weights * is_positive], 1)
    none = np.zeros(n_cells, np.uint32)
    both = Cells(
        cells.starts,
        np.concatenate([of_negatives, of_positives]),
        np.concatenate([cells.negatives, none]),
        np.concatenate([none, cells.positives]),
        weights,
    )
    kept = (both.negatives > 0) | (both.positives > 0)
    codes = np.concatenate([cells.groups] * 2)[kept]
    both = both._replace(
        scores=both.scores[kept],
        negatives=both.negatives[kept],
        positives=both.positives[kept],
        weights=None if weights is None else weights[:, kept],
    )
    return add_cells(both, codes, cells.starts.size - 1)


def wrong_ranges(scores: NDArray[np.float64], ranges: object, bins: Bins | None) -> str | None:
    """Return why these ranges are invalid for cells with these scores; None for valid ranges."""
    if ranges is None:
        return None if bins is None else "it has bins, but no ranges of scores"
    if (
        not isinstance(ranges, np.ndarray)
        or ranges.dtype != np.float64
        or ranges.shape != (2, scores.size)
    ):
        return "its ranges do not match its cells"
    low, high = ranges
    is_wrong = ~((low <= scores) & (scores <= high) & np.isfinite(low) & np.isfinite(high))
    is_wrong |= ((ranges == 0) & np.signbit(ranges)).any(axis=0)  # only 0.0 is valid, not -0.0
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return (
            f"its score {scores[cell]:.17g} is outside its range from {low[cell]:.17g} to "
            f"{high[cell]:.17g}, at cell {cell}"
        )
    if bins is None or scores.size == 0:
        return None
    try:
        numbers = bins.numbers_of(scores)
    except ValueError:
        return f"its scores are outside the scores of {bins!r}"
    is_wrong = (bins.ranges_of(numbers) != ranges).any(axis=0) | (bins.scores_of(numbers) != scores)
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return f"its range is no bin of {bins!r}, at cell {cell} with the score {scores[cell]:.17g}"
    return None


# Small counts


def join_small(cells: Cells, bins: Bins, min_count: int) -> tuple[Cells, Ranges, NDArray[np.intp]]:
    """Join neighboring bins by group and class until each count is at least `min_count`."""
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
    """Return counts, scores, ranges, groups and weights for a class's joined cells."""
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
    """Return each run's first item within a group; every run sums to at least `least`."""
    if not counts.size:  # without counts, `least` may be too large for an array
        return np.zeros(0, np.intp)
    upto = np.cumsum(counts)
    before = upto - counts
    behind_group = np.searchsorted(codes, codes, side="right")
    # A run that begins here ends within the group only if the rest of the group has enough rows.
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
    """Return the ranges' lowest and highest bins, rounded outwards without overlap."""
    if bins.n_bins is None:
        least, most = bins.numbers_of([-sys.float_info.max, sys.float_info.max]).tolist()
    else:
        least, most = 0, bins.n_bins - 1
    n_bits = np.maximum(_bit_length(last - first) - 1, 0)
    low = np.maximum(first >> n_bits << n_bits, least)
    high = np.minimum(((last >> n_bits) + 1 << n_bits) - 1, most)
    # Between two cells of a group, the edge with the roundest number limits both ranges.
    is_pair = codes[1:] == codes[:-1]
    ends, begins = last[:-1], first[1:]
    differing = np.maximum(_bit_length(ends ^ begins) - 1, 0)
    edges = np.where((ends < 0) & (begins >= 0), 0, begins >> differing << differing)
    low[1:] = np.where(is_pair, np.maximum(low[1:], edges), low[1:])
    high[:-1] = np.where(is_pair, np.minimum(high[:-1], edges - 1), high[:-1])
    return low, high


def _bit_length(numbers: Integers) -> Integers:
    """Return how many bits each nonnegative number below 2**53 has."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


# Fewer cells

# Cost of a pair of rows of the same class, as a share of the cost of a pair of different classes.
# Later rows in a range may have the other class.
_SAME_CLASS = 0.1


def join_nearest(cells: Cells, ranges: Ranges | None, max_cells: int) -> tuple[Cells, Ranges]:
    """Join neighboring cells by group until there are `max_cells`."""
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
    """Sorted cells in a chain that joins neighbors."""

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
        """Join neighboring cells in pairs, at most `most`."""
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
        """Return what joining each cell with the next costs; infinite between groups."""
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
    """Return amounts by class as shares; 0 if there are none."""
    of_all = of_all.reshape(2, -1)
    return np.divide(amounts, of_all, out=np.zeros_like(amounts), where=of_all > 0)


def _shares_before(
    shares: Floats, of_cells: Floats, ends: Floats, side: Literal["left", "right"]
) -> Floats:
    """Return the summed cell shares before each end."""
    order = np.argsort(of_cells, kind="stable")
    upto = np.zeros((2, shares.shape[1] + 1))
    np.cumsum(shares[:, order], axis=1, out=upto[:, 1:])
    return upto[:, np.searchsorted(of_cells[order], ends, side=side)]


def _pairs(left: Floats, right: Floats) -> Floats:
    """Return products of shares across classes, plus a fraction of those within a class."""
    of_other_class = left[0] * right[1] + left[1] * right[0]
    return np.asarray(of_other_class + _SAME_CLASS * (left * right).sum(axis=0))


def _crossing(low: Floats, high: Floats) -> Floats:
    """Return factors that make joins dearer if their range crosses a rounder score."""
    below, above = _in_order(low), _in_order(high)
    differing = (below ^ above).astype(np.float64)
    differing[differing < 0] = 2.0**63  # the range contains 0
    length = np.ldexp(1.0, np.frexp(differing)[1])
    return (length / (above.astype(np.float64) - below + 1)) ** 2


def _in_order(scores: Floats) -> Integers:
    """Return the scores' bits as integers in the same order."""
    bits = scores.view(np.int64)
    return bits ^ (bits >> 63 & np.iinfo(np.int64).max)


def _hashed(numbers: NDArray[np.intp], seed: int) -> Integers:
    """Return reproducible 32-bit random numbers."""
    mixed = (numbers.astype(np.uint64) + np.uint64(seed << 40)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(32)).astype(np.int64)
