"""Certain intervals of the statistics of binned scores.

Binned score counts hold a range of scores for each cell, and the exact score of a row can be
anywhere in the range of its cell. A statistic is monotone if it does not decrease when a positive
gets a higher rank against a negative. The exact value of a monotone statistic is between its values
at both extremes, see `GroupPairs.extremes`. The rows can have the scores of either extreme, so no
narrower interval is certain. Gaps are not monotone. The certain intervals of gaps follow from the
certain intervals of the AUCs by interval arithmetic.

The intervals can also cover the rows of withheld groups. The order of a withheld row and any other
row is unknown, so each such pair can be concordant or discordant. Where the number of withheld rows
is unknown, the intervals use its upper limit: they widen with the number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.score_counts import view_of
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import STATISTICS, all_statistics
from skfedauc.report.undefined import NotDefined

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class Bounds(NamedTuple):
    """Certain interval of a value; NaN for an undefined value.

    Attributes
    ----------
    low, high : float or ndarray of float64
    """

    low: Any
    high: Any


# Certain interval of each statistic ---------------------------------------------------------------

Ends = tuple[GroupEstimates, GroupEstimates]


def _used_values(ends: Ends) -> tuple[Floats, Floats]:
    """Return the values in use at both extremes, for gaps of at least two groups."""
    (lowest, used), (highest, _) = (end.group_values for end in ends)
    if used.sum() < 2:
        raise NotDefined("a gap needs two groups with rows of both classes")
    return lowest[used], highest[used]


def _monotone(ends: Ends, name: str) -> Bounds:
    low, high = (STATISTICS[name].compute(end) for end in ends)
    return Bounds(low, high)


def _difference(ends: Ends) -> Bounds:
    low, high = _used_values(ends)
    widest = high + _largest_of_others(-low)
    return Bounds(max(0.0, float(low.max() - high.min())), float(widest.max()))


def _ratio(ends: Ends) -> Bounds:
    low, high = _used_values(ends)
    if high.max() <= 0:
        raise NotDefined("a ratio needs a group with an AUC above 0", more_rows_help=False)
    # A group with an AUC of certainly 0 has the largest AUC only if all AUCs are 0. The ratio is
    # then undefined.
    largest = _largest_of_others(high)
    smallest = np.divide(low, largest, out=np.full(low.size, np.inf), where=largest > 0).min()
    most = float(high.min() / low.max()) if low.max() > 0 else 1.0
    return Bounds(min(float(smallest), 1.0), min(most, 1.0))


def _largest_of_others(values: Floats) -> Floats:
    """Return, for each group, the largest value of the other groups."""
    found = np.full(values.size, values.max())
    place = int(values.argmax())
    found[place] = np.delete(values, place).max()
    return found


def _cross_difference(ends: Ends) -> Bounds:
    both = ends[0].pairs.defined
    if both.sum() < 2:
        raise NotDefined("a gap needs two groups with rows of both classes")
    low, high = (end.pairs.cross_auc[np.ix_(both, both)] for end in ends)
    off = ~np.eye(len(low), dtype=np.bool_)
    # The two cross AUCs of a pair of groups share no row, so each can be at either end.
    least, most = (low - high.T)[off], (high - low.T)[off]
    if np.isnan(most).all():
        raise NotDefined("no pair of groups has two cross AUCs")
    return Bounds(max(0.0, float(np.nanmax(least))), float(np.nanmax(most)))


def _unknown(ends: Ends) -> Bounds:
    return Bounds(np.nan, np.nan)


_MONOTONE = ("pooled", "macro", "samples", "positives", "negatives", "within", "worst", "cross")
BOUNDS: dict[str, Callable[[Ends], Bounds]] = {
    **{name: functools.partial(_monotone, name=name) for name in (*_MONOTONE, "bias_score")},
    "ratio": _ratio,
    "difference": _difference,
    "cross_difference": _cross_difference,
    # Tau depends on the variances of the AUCs, which are not monotone.
    "tau": _unknown,
}


# Tables ------------------------------------------------------------------------------------------


def group_bounds(estimates: GroupEstimates) -> Bounds:
    """Return the certain intervals of the group values, each of shape (n_groups,)."""
    low, high = (end.by_group for end in estimates.extremes)
    return _widened(estimates, Bounds(low, high))


def statistic_bounds(estimates: GroupEstimates, name: str) -> Bounds:
    """Return the certain interval of a statistic; NaN for an undefined statistic."""
    try:
        found = BOUNDS[name](estimates.extremes)
    except NotDefined:
        return Bounds(np.nan, np.nan)
    return _widened(estimates, found, name)


def _widened(estimates: GroupEstimates, bounds: Bounds, name: str = "") -> Bounds:
    """Widen an interval by the rounding error of sums of floats; sums of integers are exact."""
    pairs = estimates.pairs
    # The extremes of other measures than the AUC allow for rounding errors.
    if not pairs.is_binned or not estimates.measure.is_auc:
        return bounds
    reach = 0.0
    if estimates.extremes[0].pairs.u2.dtype.kind == "f":
        # If few pairs are across groups, the cross AUC is the difference of sums that are up to
        # 1,000 times larger.
        reach = pairs.rounding_reach * (1e3 if name == "cross" else 1.0)
    elif name in ("bias_score", "cross_difference"):
        reach = 1e-12  # rounding error of means of powers, and of a matrix of floats
    return Bounds(np.maximum(bounds.low - reach, 0.0), np.minimum(bounds.high + reach, 1.0))


def bounds_table(estimates: GroupEstimates) -> pd.DataFrame:
    """Return the table of `GroupAUC.bounds` of the statistics."""
    import pandas as pd

    values = all_statistics(estimates)
    ends = [Bounds(value, value) for value in values.values()]
    if estimates.pairs.is_binned:
        ends = [statistic_bounds(estimates, name) for name in values]
    table = pd.DataFrame(ends, columns=["low", "high"], index=pd.Index(values, name="statistic"))
    table.insert(0, "value", list(values.values()))
    return table.astype(np.float64)


def group_bounds_table(estimates: GroupEstimates, index: pd.Index) -> pd.DataFrame:
    """Return the table of `GroupAUC.bounds` of the group AUCs."""
    import pandas as pd

    low, high = group_bounds(estimates)
    return pd.DataFrame({"value": estimates.by_group, "low": low, "high": high}, index=index)


# In words ----------------------------------------------------------------------------------------


def certain_range(bounds: Bounds, digits: int = 4) -> str:
    """Return a certain interval in words; rounding never shortens the interval."""
    scale = 10.0**digits
    low = np.floor(float(bounds.low) * scale) / scale
    high = np.ceil(float(bounds.high) * scale) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}"


def binned_note(estimates: GroupEstimates) -> str:
    """Return a note on binned scores, with the certain interval of the pooled AUC.

    The note is empty for exact scores.
    """
    if not estimates.pairs.is_binned:
        return ""
    if not estimates.pairs.has_scores:
        return "scores were binned"
    pooled = statistic_bounds(estimates, "pooled")
    if np.isnan(pooled.low):
        return "scores are binned"
    counted = " of the counted rows" if estimates.pairs.counts.disclosure.withheld.n_groups else ""
    return (
        f"scores are binned: the pooled AUC{counted} is certainly {certain_range(pooled)} "
        f"(width {pooled.high - pooled.low:.1e})"
    )


# Largest rounding error of an end of an interval, which is a ratio of sums of few products
_REACH = 1e-14


def cover_withheld(table: pd.DataFrame, estimates: GroupEstimates) -> pd.DataFrame:
    """Widen the intervals of statistics to cover the rows of withheld groups.

    Parameters
    ----------
    table : pandas.DataFrame
        Table of `bounds_table`.
    estimates : GroupEstimates
    """
    counts = estimates.pairs.counts_for("withheld=True")
    withheld = counts.disclosure.withheld
    if withheld.n_groups == 0:
        return table
    most_negatives, most_positives = withheld.most_negatives, withheld.most_positives
    if most_negatives is None or most_positives is None:
        raise ValueError(
            "withheld=True needs the numbers of withheld rows, or limits of these numbers, and "
            "these counts hold only the number of withheld groups. Reduce with "
            "Disclosure(small_groups='join') or Disclosure(tell_withheld='rows')."
        )
    if view_of(counts).is_weighted:
        raise ValueError(
            "withheld=True needs counts without sample weights: the weights of withheld rows are "
            "unknown."
        )
    n_negatives, n_positives = int(counts.n_negatives.sum()), int(counts.n_positives.sum())
    n_pairs = n_negatives * n_positives
    all_pairs = (n_negatives + most_negatives) * (n_positives + most_positives)
    # Weight of the known AUCs and weight of the unknown AUCs, by statistic
    weights = {"pooled": (n_pairs, all_pairs - n_pairs)}
    are_apart = withheld.labels is not None and set(withheld.labels).isdisjoint(counts.groups or ())
    if are_apart:
        used = estimates.group_values[1]
        negatives = counts.n_negatives[used].astype(np.float64)
        positives = counts.n_positives[used].astype(np.float64)
        unknown = most_negatives, most_positives
        weights |= {
            "macro": (int(used.sum()), withheld.n_groups),
            "samples": (negatives.sum() + positives.sum(), sum(unknown)),
            "positives": (positives.sum(), unknown[1]),
            "negatives": (negatives.sum(), unknown[0]),
            # The most pairs within groups, if all withheld rows are of one group
            "within": ((negatives * positives).sum(), unknown[0] * unknown[1]),
        }
    table = table.copy()
    for name, (low, high) in table[["low", "high"]].iterrows():
        ends = np.nan, np.nan
        if name in weights:
            known, of_withheld = weights[name]
            if known + of_withheld > 0:
                share = known / (known + of_withheld)
                ends = (low * share, 1 - (1 - high) * share) if known else (0.0, 1.0)
        elif name == "worst" and are_apart:
            ends = 0.0, 1.0 if np.isnan(high) else high
        elif name == "difference" and are_apart:
            ends = 0.0 if np.isnan(low) else low, 1.0
        table.loc[name, ["low", "high"]] = (
            max(ends[0] - _REACH, 0.0) if ends[0] > 0 else ends[0],
            min(ends[1] + _REACH, 1.0),
        )
    return table
