"""Levels of disclosure of score counts, and reduction of counts to a lower level."""

from __future__ import annotations

from typing import Any

import numpy as np

from skfedauc._kernel import Cells, concordance, placement_sums
from skfedauc._words import shortened
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import DisclosureError, check_disclosure
from skfedauc.counts.moments import ClassRows, own_moments, rows_by_class
from skfedauc.counts.ranges import united_bins
from skfedauc.counts.state import State, added
from skfedauc.counts.summary import PairSums, Summary, check_exponent, pair_sums


def level_in_words(state: State) -> str:
    """Return the level of disclosure of score counts, with the rule of the bins."""
    if state.disclosure != "bins":
        return "a summary" if state.disclosure == "summary" else "exact"
    return "ranges of scores" if state.bins is None else repr(state.bins)


def level_of(state: State) -> Any:
    """Return "exact", "summary" or the bins; None for ranges that are not bins of one rule."""
    return state.bins if state.disclosure == "bins" else state.disclosure


def common_level(one: Any, other: Any) -> Any:
    """Return the highest level that `at_level` can give for counts of both levels.

    Both arguments are results of `level_of`. The result is None without such a level, or if the
    level depends on the ranges of the counts.
    """
    if "summary" in (one, other):
        return "summary"
    rules = [level for level in (one, other) if isinstance(level, Bins)]
    if len(rules) < 2:
        return rules[0] if rules else None
    first, second = rules
    return second if first.refines(second) else first if second.refines(first) else None


def mend_of_levels(one: Any, other: Any) -> str:
    """Return a sentence with the remedy for merging counts of two different levels."""
    common = common_level(one, other)
    if common is not None:
        return f"ScoreCounts.merge(parts, disclosure={common!r}) reduces all of them first."
    if None in (one, other):
        return "Pass Bins, such as those of the ranges, as disclosure= to ScoreCounts.merge."
    return "Neither has bins that are unions of the other's: count one of them again."


def at_level(state: State, disclosure: object, *, widen: bool = False) -> State:
    """Reduce counts to a level of disclosure; return the same state if nothing changes.

    Parameters
    ----------
    state : State
    disclosure : "exact", "bins", "summary" or Bins
    widen : bool, default=False
        Whether to widen ranges that are not bins of one rule. Such a range becomes the union of the
        new bins that overlap the range. If False, each range must lie within one bin.

    Raises
    ------
    DisclosureError
        If the counts disclose less than this level.
    ValueError, TypeError
        If `disclosure` is not a level, or a score is outside the domain of the bins.
    """
    level = check_disclosure(disclosure)
    if level == "summary":
        return state if state.summary is not None else _summarized(state)
    if state.summary is not None:
        raise DisclosureError(
            f"disclosure={shortened(disclosure)} would disclose more than these counts hold: they "
            "are a summary by group. Count the rows again."
        )
    if isinstance(level, Bins):
        return state if level == state.bins else _binned(state, level, widen=widen)
    if state.ranges is not None:
        raise DisclosureError(
            "disclosure='exact' would disclose more than these counts hold: they are "
            f"{level_in_words(state)}. Count the rows again with disclosure='exact'."
        )
    return state


def _binned(state: State, to: Bins, *, widen: bool) -> State:
    """Return the counts by bin."""
    cells, bins = state.cells, state.bins
    if state.ranges is None:
        low = high = to.numbers_of(cells.scores)
    elif bins is not None and not bins.refines(to):
        raise DisclosureError(
            f"counts with {bins!r} cannot be reduced to {to!r}, whose bins are no unions of "
            "theirs. Count the rows again, or pass bins that contain theirs."
        )
    else:
        low, high = (to.numbers_of(ends) for ends in state.ranges)
        if not widen and (low != high).any():
            first, last = state.ranges[:, np.argmax(low != high)]
            raise DisclosureError(
                f"the counts cannot be reduced to {to!r}: the range from {first:.17g} to "
                f"{last:.17g} is not within one of its bins. Count the rows again."
            )
    if (low == high).all():
        scores, ranges = to.scores_of(low), to.ranges_of(low)
        origin = state.origin._replace(bins=to)
    else:
        scores, ranges = united_bins(to, low, high)
        origin = state.origin._replace(bins=None)
    codes = None if state.labels is None else cells.groups
    return added(cells._replace(scores=scores), codes, state.labels, origin, ranges)


def _summarized(state: State) -> State:
    """Return the summary of counts by score."""
    exponent = state.weight_exponent
    check_exponent(exponent)
    ends = () if state.ranges is None else state.extremes
    counted = [_pairs_of(of.over(exponent).cells) for of in (state, *ends)]
    negatives, positives = counted[0][0]
    weights = None
    if state.content.weights is not None:
        weights = np.stack(
            [negatives.weight, positives.weight, negatives.squares, positives.squares]
        )
    sums = (of_pairs for _, of_pairs in counted)
    summary = Summary(negatives.n, positives.n, weights, *sums).over(-exponent)
    return State(summary, state.labels, state.origin._replace(bins=None))


def _pairs_of(cells: Cells) -> tuple[tuple[ClassRows, ClassRows], PairSums]:
    """Return the negatives and the positives of each group, and the sums over their pairs."""
    found = concordance(cells)
    rows = rows_by_class(cells, found)
    return rows, pair_sums(found, own_moments(placement_sums(cells)[0], *rows))
