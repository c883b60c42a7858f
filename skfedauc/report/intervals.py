"""Certain intervals of binned scores, and confidence intervals, of groups and of named statistics.

Binned score counts hold a range of scores for each cell, and the exact score of a row can be
anywhere in the range of its cell. The exact value of a statistic that does not decrease when a
positive gets a higher rank is between its values at both extremes, see `GroupPairs.extremes`. The
rows can have the scores of either extreme, so no narrower interval is certain.

A withheld row and any other row can have either order, so the certain intervals that also cover
withheld rows count each such pair as concordant or as discordant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skfedauc.counts.score_counts import view_of
from skfedauc.inference import intervals
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import NotDefined
from skfedauc.report.statistics import (
    STATISTICS,
    Bounds,
    Sampling,
    all_statistics,
    determined_statistics,
)

if TYPE_CHECKING:
    import pandas as pd


def group_bounds(estimates: GroupEstimates) -> Bounds:
    """Return the certain intervals of the group values, each of shape (n_groups,)."""
    low, high = (end.by_group for end in estimates.extremes)
    return _widened(estimates, Bounds(low, high))


def statistic_bounds(estimates: GroupEstimates, name: str) -> Bounds:
    """Return the certain interval of a statistic; NaN if it is undefined or unknown, as for tau."""
    statistic, (lowest, highest) = STATISTICS[name], estimates.extremes
    low = high = np.nan
    with contextlib.suppress(NotDefined):
        # A gap that is undefined for the highest AUCs is undefined for all possible scores.
        if statistic.is_monotone:
            low, high = statistic.compute(lowest), statistic.compute(highest)
        elif statistic.bounds and not np.isnan(statistic.compute(highest)):
            low, high = statistic.bounds(estimates)
    return _widened(estimates, Bounds(low, high), name)


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
    """Widen the intervals of `bounds_table` to cover the rows of withheld groups."""
    counts = estimates.pairs.counts_for("withheld=True")
    withheld = counts.disclosure.withheld
    if withheld.n_groups == 0:
        return table
    most_negatives, most_positives = withheld.most_negatives, withheld.most_positives
    if most_negatives is None or most_positives is None:
        raise ValueError(
            "withheld=True needs the numbers of withheld rows, or limits of these numbers, and "
            "these counts hold only the number of withheld groups. Reduce with "
            "Disclosure(tell_withheld='rows')."
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


def _check_rows_of(method: intervals.Method, estimates: GroupEstimates) -> None:
    """Raise an error for dependent rows, because the method assumes independent rows.

    The models of several folds depend on the rows in other folds.
    """
    pairs, measure = estimates.pairs, estimates.measure
    if not measure.is_auc:
        pairs.check_no_repeated_rows()
        pairs.check_independent_rows(f"the interval of {measure.name!r}")
    elif method == "exact":
        pairs.check_independent_rows(f"method={method!r}")
        pairs.check_one_model(f"method={method!r}")


def group_intervals(
    estimates: GroupEstimates, confidence_level: float, method: intervals.Method
) -> pd.DataFrame:
    """Return group intervals, see `GroupAUC.confidence_intervals`."""
    import pandas as pd

    _check_rows_of(method, estimates)
    tail = (1.0 - confidence_level) / 2.0
    ends = estimates.extremes if estimates.pairs.is_binned else (estimates,)
    limits = [end.limits(tail, method) for end in ends]
    (low, _, note), (_, high, note_of_high) = limits[0], limits[-1]
    if estimates.pairs.is_binned:
        bounds = map(Bounds, *group_bounds(estimates))
        notes = map(_note_of_binned, bounds, note, note_of_high)
        note = np.array(list(notes), dtype=object)
    columns = {
        estimates.measure.name: estimates.by_group,
        "ci_low": low,
        "ci_high": high,
        "method": method,
        "note": note,
    }
    return pd.DataFrame(columns, index=estimates.labels)


def _note_of_binned(bounds: Bounds, of_low: str, of_high: str) -> str:
    """Return the note of an interval of binned scores, whose limits can have different notes."""
    notes = [of_low]
    if of_low != of_high:
        named = {"lower limit: ": of_low, "upper limit: ": of_high}
        notes = [name + note for name, note in named.items() if note]
    if not np.isnan(bounds.low):
        notes.append(f"scores are binned: certainly {certain_range(bounds)}")
    return "; ".join(filter(None, notes))


def statistic_intervals(
    estimates: GroupEstimates,
    confidence_level: float,
    method: intervals.Method,
    over: str | None,
    *,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the intervals of statistics, see `GroupAUC.confidence_intervals`; None means all."""
    import pandas as pd

    _check_rows_of(method, estimates)
    _, used = estimates.group_values
    new_groups = intervals.is_over_groups(over, int(used.sum()))
    if new_groups and estimates.pairs.clusters is not None:
        if over is not None:
            estimates.variances.check_independent_groups("over='groups'", "Pass over='rows'.")
        new_groups = not estimates.variances.shares_clusters
    quiet, is_binned = estimates.quiet(), estimates.pairs.is_binned
    rows = {}
    for name in determined_statistics(estimates):
        statistic = STATISTICS[name]
        if statistic.limits is None or (names is not None and name not in names):
            continue
        is_new = new_groups and statistic.is_mean
        sampling = Sampling(confidence_level, method, is_new)
        # Without monotonicity, the function considers the extremes.
        ends = quiet.extremes if is_binned and statistic.is_monotone else (quiet,)
        low, high, note = np.nan, np.nan, ""
        try:
            found = [statistic.limits(end, sampling) for end in ends]
            low, high, note = found[0].low, found[-1].high, found[0].note
            if is_binned:
                note = _note_of_binned(statistic_bounds(quiet, name), note, found[-1].note)
        except NotDefined as error:
            note = error.reason
        value = quiet.value_of(statistic.compute)
        estimand = intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS
        rows[name] = value, low, high, method, estimand, note
    columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
    index = pd.Index(rows, name="statistic")
    return pd.DataFrame(list(rows.values()), columns=columns, index=index)
