"""Counts that disclose less: bins, summaries, small counts and groups; other groups and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _words
from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import (
    Disclosure,
    DisclosureError,
    Need,
    Withheld,
    level_in_words,
    needs,
)
from skfedauc.counts.moments import Summary, ratio
from skfedauc.counts.state import Ranges, State, by_class

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A range from score a to score b has the score a + _SHARE * (b - a). With one half, ranges such as
# 1/4 to 3/4 and 0 to 1 would have the same score. Merging adds up cells with the same score.
_SHARE = 0.5 + 0.01 / np.sqrt(2)
# Largest binary exponent of the mean weight. Sums of products of four weights stay within the range
# of floats, which reaches 2**1023.
_MOST_EXPONENT = 200


def reduced(state: State, rule: Disclosure) -> State:
    """Apply a site's rule: small groups first, then the level, then small counts."""
    least = rule.min_count
    if least is not None:
        state = _without_small(state, least, rule.tell_withheld)
    state = at_level(state, rule)
    if least is None or state.disclosure.bins is None:
        return state
    cells, ranges, codes = _join_small(state.cells, state.disclosure.bins, least)
    return state._replace(content=cells, ranges=ranges).summed(codes).with_disclosure(bins=None)


def at_level(state: State, rule: Disclosure, *, widen: bool = False) -> State:
    """Return the counts at a level; the same state if nothing changes.

    A range over several bins becomes their union with `widen`, and is an error without.
    """
    held = state.disclosure
    if rule.level == "summary":
        return state if held.level == "summary" else _summarized(state)
    if held.level == "summary" or (held.level == "bins" and rule.level == "exact"):
        asked = rule.level if rule.level == "exact" else rule.bins
        raise DisclosureError(
            f"disclosure={_words.shortened(asked)} would disclose more than these counts hold: "
            f"they are {level_in_words(held)}. Count the rows again with this disclosure."
        )
    if rule.bins is None or rule.bins == held.bins:
        return state
    return _binned(state, rule.bins, widen=widen)


def _binned(state: State, to: Bins, *, widen: bool) -> State:
    cells, held = state.cells, state.disclosure
    if held.bins is None or held.bins.refines(to):
        ends = [cells.scores] if state.ranges is None else state.ranges
        numbers = [to.numbers_of(of_cells) for of_cells in ends]
        low, high = numbers[0], numbers[-1]
        is_of_rule = bool((low == high).all())
        if is_of_rule or widen:
            scores, ranges = _united_bins(to, low, high)
            state = state._replace(content=cells._replace(scores=scores), ranges=ranges)
            bins = to if is_of_rule else None
            return state.summed(cells.groups).with_disclosure(level="bins", bins=bins)
    raise DisclosureError(
        f"counts with {level_in_words(held)} cannot be reduced to {to!r}: a range of theirs is not "
        "within one of its bins. Count the rows again, or pass bins that contain theirs."
    )


def _summarized(state: State) -> State:
    exponent = state.weight_exponent
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(
            f"the mean weight of the rows is about 2**{exponent}; a summary needs a mean weight "
            f"from 2**-{_MOST_EXPONENT} to 2**{_MOST_EXPONENT}. Divide the weights by a constant: "
            "AUCs and variances do not depend on the constant."
        )
    ends = () if state.ranges is None else state.extremes
    counted = [one.over(exponent) for one in (state, *ends)]
    negatives, positives = counted[0].rows_by_class
    of_rows = negatives.weight, positives.weight, negatives.squares, positives.squares
    weights = np.stack(of_rows) if state.is_weighted else None
    u2 = np.stack([one.concordance.u2 for one in counted])
    has_pairs = (negatives.n > 0) & (positives.n > 0)
    moments = np.stack([np.where(has_pairs, one.own_moments, 0.0) for one in counted])
    summary = Summary(negatives.n, positives.n, weights, u2, moments)
    state = state._replace(content=summary, ranges=None).over(-exponent)
    return state.with_disclosure(level="summary", bins=None)


def within(state: State, max_cells: int) -> State:
    """Return counts with score ranges and at most `max_cells` cells."""
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    needs(state.disclosure, Need.SCORES, "max_cells")
    if max_cells < state.n_groups:
        raise ValueError(
            f"max_cells must be at least the number of groups, {state.n_groups:,}, because each "
            f"has a cell of its own; got {max_cells:,}."
        )
    cells, ranges, bins = state.cells, state.ranges, state.disclosure.bins
    if ranges is None:
        ranges = np.stack([cells.scores] * 2)
    if cells.scores.size > max_cells:
        cells, ranges = _join_nearest(cells, ranges, max_cells)
        bins = None
    state = state._replace(content=cells, ranges=ranges)
    return state.with_disclosure(level="bins", bins=bins)


def _without_small(state: State, least: int, tell: str) -> State:
    negatives, positives = rows = np.asarray(state.concordance[:2])
    small = ((rows > 0) & (rows < least)).any(axis=0)
    labels = [] if state.labels is None else state.labels[small].tolist()
    found = withheld_of(negatives[small], positives[small], labels, least, tell)
    n_missing, held = state.n_missing, state.disclosure
    if 0 < n_missing < least:
        n_missing, found = 0, found._replace(is_n_missing_low=True)
    if small.any():
        state = with_groups(state, np.flatnonzero(~small))
    # The mark must not depend on the rows: it is there even if nothing is small.
    return state._replace(n_missing=n_missing).with_disclosure(
        withheld=Withheld.merged([held.withheld, found]),
        min_count=min(least, held.min_count or least),
    )


def withheld_of(
    n_negatives: Integers, n_positives: Integers, labels: Sequence[Any], least: int, tell: str
) -> Withheld:
    """Return what is disclosed about withheld groups with these rows.

    A total below `least` times the group count could narrow down single groups' rows:
    only this limit is disclosed.
    """
    n_groups = n_negatives.size
    if n_groups == 0:
        return Withheld()
    if tell == "number":
        return Withheld(n_groups, None, None, None, most_negatives=None, most_positives=None)
    enough = n_groups * least
    totals = [int(n.sum()) for n in (n_negatives, n_positives)]
    negatives, positives = (total if total >= enough else None for total in totals)
    limit = enough - 1 if enough <= _input.MOST_ROWS else None
    most = [limit if total is None else total for total in (negatives, positives)]
    known = tuple(labels) if tell == "labels" else None
    return Withheld(n_groups, negatives, positives, known, False, *most)


def with_groups(state: State, chosen: NDArray[np.intp]) -> State:
    """Return the groups' counts at increasing positions."""
    labels = None if state.labels is None else _labels.some_labels(state.labels, chosen)
    if isinstance(state.content, Summary):
        return state._replace(content=state.content.take(chosen), labels=labels)
    starts = state.content.starts
    sizes = np.diff(starts)[chosen]
    new_starts = np.append(0, np.cumsum(sizes))
    # Offset of each group: its first cell before the selection minus its first cell after it
    cell = np.arange(new_starts[-1]) + np.repeat(starts[chosen] - new_starts[:-1], sizes)
    ranges = None if state.ranges is None else state.ranges[:, cell]
    taken = state.content.take(cell, new_starts)
    return state._replace(content=taken, labels=labels, ranges=ranges)


def regrouped(state: State, to: Mapping[Any, Any] | Callable[[Any], Any] | None) -> State:
    """Return the counts with new labels; None makes all rows one group without a label."""
    if to is None and state.labels is None:
        return state
    withheld = state.disclosure.withheld
    if withheld.n_groups:
        state = state.with_disclosure(withheld=withheld._replace(labels=None))
    # The new labels may not belong to the named columns.
    state = state._replace(group_names=(), orders=())
    old = [None] if state.labels is None else state.labels.tolist()
    labels: NDArray[Any] | None = None
    numbers = np.zeros(len(old), np.intp)
    if to is not None:
        numbers, labels = _group_codes.map_labels(old, to)
    if not state.n_groups:
        return state._replace(labels=None if labels is None else labels[:0])
    if not isinstance(state.content, Summary):
        return state._replace(labels=labels).summed(numbers[state.content.groups])
    order = np.argsort(numbers, kind="stable")
    equal = np.flatnonzero(np.diff(numbers[order]) == 0)
    if equal.size:
        first, second = (_words.shortened_label(old[order[equal[0] + i]]) for i in (0, 1))
        needs(state.disclosure, Need.SCORES, f"combining the groups {first} and {second}")
    return state._replace(content=state.content.take(order), labels=labels)


def with_scores(state: State, function: Callable[[Floats], Any]) -> State:
    if not callable(function):
        raise TypeError(f"function must be callable; got {_words.described(function)}.")
    needs(state.disclosure, Need.EXACT, "map_scores")
    cells, name = state.cells, "the result of function"
    distinct, numbers = np.unique(cells.scores, return_inverse=True)
    # Adding 0.0 converts -0.0 to 0.0.
    scores = _input.check_scores(function(distinct.copy()), name) + 0.0
    if scores.size != distinct.size:
        raise ValueError(
            f"{name} must have one number for each distinct score; got {scores.size} for "
            f"{distinct.size} scores."
        )
    return state._replace(content=cells._replace(scores=scores[numbers])).summed(cells.groups)


def _score_between(low: Floats, high: Floats) -> Floats:
    return np.asarray((1 - _SHARE) * low + _SHARE * high)


def _united_bins(bins: Bins, low: Integers, high: Integers) -> tuple[Floats, Ranges]:
    """Return scores and ranges for cells that each hold several neighboring bins."""
    scores = bins.scores_of(low)
    between = _score_between(scores, bins.scores_of(high))
    ranges = np.stack([bins.ranges_of(low)[0], bins.ranges_of(high)[1]])
    return np.where(low == high, scores, between) + 0.0, ranges


def _join_small(cells: Cells, bins: Bins, min_count: int) -> tuple[Cells, Ranges, NDArray[np.intp]]:
    """Join neighboring bins by group and class until each count is at least `min_count`."""
    apart, cell = by_class(cells)
    codes, numbers = cells.groups[cell], bins.numbers_of(apart.scores)
    # Classes are apart as groups are.
    parts = codes + (apart.positives > 0) * (cells.starts.size - 1)
    first = _first_of_runs((apart.negatives + apart.positives).astype(np.int64), parts, min_count)
    last = np.append(first[1:], cell.size)[: first.size] - 1
    low, high = _rounded(numbers[first], numbers[last], parts[first], bins)
    scores, ranges = _united_bins(bins, low, high)
    return _sums_of_runs(apart, first, scores, cells.starts), ranges, codes[first]


def _sums_of_runs(
    cells: Cells, first: NDArray[np.intp], scores: Floats, starts: NDArray[np.intp]
) -> Cells:
    """Return one cell for each run of cells, with a score and the groups' new `starts`."""
    negatives, positives = (
        compact_counts(np.add.reduceat(counts, first, dtype=np.int64)) for counts in cells[2:4]
    )
    weights = None if cells.weights is None else np.add.reduceat(cells.weights, first, axis=1)
    return Cells(starts, scores, negatives, positives, weights)


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
    rule = bins._rule  # noqa: SLF001
    n_bits = np.maximum(_bit_length(last - first) - 1, 0)
    low = np.maximum(first >> n_bits << n_bits, rule.first)
    high = np.minimum(((last >> n_bits) + 1 << n_bits) - 1, rule.last)
    # Between two cells of a group, the edge with the roundest number limits both ranges.
    is_pair = codes[1:] == codes[:-1]
    ends, begins = last[:-1], first[1:]
    differing = np.maximum(_bit_length(ends ^ begins) - 1, 0)
    edges = np.where((ends < 0) & (begins >= 0), 0, begins >> differing << differing)
    low[1:] = np.where(is_pair, np.maximum(low[1:], edges), low[1:])
    high[:-1] = np.where(is_pair, np.minimum(high[:-1], edges - 1), high[:-1])
    return low, high


def _bit_length(numbers: Integers) -> Integers:
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


# Cost of a pair of rows of the same class, as a share of the cost of a pair of different classes.
# Later rows in a range may have the other class.
_SAME_CLASS = 0.1


def _join_nearest(cells: Cells, ranges: Ranges, max_cells: int) -> tuple[Cells, Ranges]:
    lows, highs, sums = _shares_of_cells(cells, ranges)
    first, codes, seed = np.arange(cells.scores.size), cells.groups, 0
    while first.size > max_cells:
        seed += 1
        costs = _costs(lows, highs, sums)
        costs[codes[1:] != codes[:-1]] = np.inf
        kept = np.ones(first.size, np.bool_)
        kept[1 + _joined(costs, first.size - max_cells, _hashed(first[1:], seed))] = False
        place = np.flatnonzero(kept)
        first, codes = first[place], codes[place]
        lows = np.minimum.reduceat(lows, place, axis=1)
        highs = np.maximum.reduceat(highs, place, axis=1)
        sums = np.add.reduceat(sums, place, axis=1)
    last = np.append(first[1:], cells.scores.size) - 1
    low, high = cells.scores[first], cells.scores[last]
    scores = np.where(first == last, low, _score_between(low, high)) + 0.0
    starts = np.searchsorted(first, cells.starts)
    return _sums_of_runs(cells, first, scores, starts), np.stack([lows[0], highs[0]])


def _shares_of_cells(cells: Cells, ranges: Ranges) -> tuple[Floats, Floats, Floats]:
    """Return the ends of ranges with the shares of rows up to them, and shares of the rows."""
    amounts = np.stack([amount.astype(np.float64) for amount in cells.amounts])
    shares, (low, high) = ratio(amounts, amounts.sum(axis=1, keepdims=True), 0.0), ranges
    # The ends of each range; then shares of the rows with a range below this range, and with a
    # range that begins at or below the end of this range
    lows: Floats = np.stack([low, *_shares_before(shares, high, low, "left")])
    highs: Floats = np.stack([high, *_shares_before(shares, low, high, "right")])
    n_groups = cells.starts.size - 1
    if n_groups < 2:
        return lows, highs, shares
    # Shares of all rows; then shares of each group, whose pairs give the mean width of the groups'
    # intervals
    of_groups = np.add.reduceat(amounts, cells.starts[:-1], axis=1)[:, cells.groups]
    in_group = ratio(amounts, of_groups, 0.0) / np.sqrt(n_groups)
    return lows, highs, np.concatenate([shares, in_group])


def _joined(costs: Floats, most: int, noise: Integers) -> NDArray[np.intp]:
    """Return which cells to join with the next, in pairs, at most `most`."""
    # Of two joins of a cell, make the join with the lower cost. Costs of the same binary order
    # have random order.
    is_joined = costs <= np.partition(costs, most - 1)[most - 1]
    ranks = np.frexp(np.maximum(costs, np.finfo(np.float64).tiny))[1].astype(np.int64) << 32
    ranks |= noise
    ranks[~is_joined] = np.iinfo(np.int64).max
    is_lower = ranks[1:] < ranks[:-1]
    is_joined[1:] &= is_lower
    is_joined[:-1] &= ~is_lower
    joined = np.flatnonzero(is_joined)
    if joined.size > most:
        joined = np.sort(joined[np.argpartition(costs[joined], most - 1)[:most]])
    return joined


def _costs(lows: Floats, highs: Floats, sums: Floats) -> Floats:
    """Return what joining each cell with the next costs."""
    left, right = slice(None, -1), slice(1, None)
    shares, low, high, below, upto = sums[:2], lows[0], highs[0], lows[1:], highs[1:]
    is_range = low < high
    overlap = (high[left] >= low[right]) & (low[left] <= high[right])
    # Pairs of rows within each cell, and between neighboring cells
    own, between = _pairs(shares, shares) / 2, _pairs(shares[:, left], shares[:, right])
    # Pairs with all rows within the range; pairs within the cell count twice
    within = _pairs(shares, upto - below)
    joined = _pairs(
        shares[:, left] + shares[:, right],
        np.maximum(upto[:, left], upto[:, right]) - np.minimum(below[:, left], below[:, right]),
    )
    # Pairs within the range of the joined cell, each once, minus pairs whose order is already
    # unknown
    known = within - own * (2 - is_range)
    cost: Floats = joined - (own[left] + own[right] + between) - known[left] - known[right]
    cost += overlap * between
    if len(sums) > 2:
        shares = sums[2:]
        own, between = _pairs(shares, shares) / 2, _pairs(shares[:, left], shares[:, right])
        own *= ~is_range
        cost += own[left] + own[right] + ~overlap * between
    np.maximum(cost, 0.0, out=cost)
    # Joins are dearer if their range crosses a rounder score.
    low, high = np.minimum(low[left], low[right]), np.maximum(high[left], high[right])
    first, last = _in_order(low), _in_order(high)
    differing = (first ^ last).astype(np.float64)
    differing[differing < 0] = 2.0**63  # the range contains 0
    length = np.ldexp(1.0, np.frexp(differing)[1])
    cost *= (length / (last.astype(np.float64) - first + 1)) ** 2
    return cost


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


def _in_order(scores: Floats) -> Integers:
    """Return the scores' bits as integers in the same order."""
    bits = scores.view(np.int64)
    return bits ^ (bits >> 63 & np.iinfo(np.int64).max)


def _hashed(numbers: NDArray[np.intp], seed: int) -> Integers:
    """Return reproducible 32-bit random numbers."""
    mixed = (numbers.astype(np.uint64) + np.uint64(seed << 40)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(32)).astype(np.int64)
