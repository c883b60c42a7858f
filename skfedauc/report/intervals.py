"""Certain intervals of binned scores, and confidence intervals, of groups and of named statistics.

Binned score counts hold a range of scores for each cell, and the exact score of a row can be
anywhere in the range of its cell. The exact value of a statistic that does not decrease when a
positive gets a higher rank is between its values at both extremes, see `GroupPairs.extremes`. The
rows can have the scores of either extreme, so no narrower interval is certain. The intervals of
gaps follow from those of the AUCs by interval arithmetic.

A withheld row and any other row can have either order, so the certain intervals that also cover
withheld rows count each such pair as concordant or as discordant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc._kernel import number_cells
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import view_of
from skfedauc.inference import intervals, measures
from skfedauc.inference.curves import LogitErrors
from skfedauc.inference.differences import difference_interval
from skfedauc.inference.measures import has_valid_averages
from skfedauc.inference.quantiles import OverGroups, variance_over_groups
from skfedauc.inference.variances import clustered_variance, freedom_of_shares
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import NotDefined
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    all_statistics,
    determined_statistics,
    shares,
)

if TYPE_CHECKING:
    import pandas as pd


class Bounds(NamedTuple):
    """Certain interval of a value, or of each of several values; NaN for an undefined value."""

    low: Any
    high: Any


# Certain intervals of gaps, from the values of the groups at both extremes ------------------------


def _difference_bounds(low: Floats, high: Floats) -> Bounds:
    widest = high + _largest_of_others(-low)
    return Bounds(max(0.0, float(low.max() - high.min())), float(widest.max()))


def _ratio_bounds(low: Floats, high: Floats) -> Bounds:
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


def _cross_difference_bounds(low: Floats, high: Floats) -> Bounds:
    off = ~np.eye(len(low), dtype=np.bool_)
    # The two cross AUCs of a pair of groups share no row, so each can be at either end.
    least, most = (low - high.T)[off], (high - low.T)[off]
    return Bounds(max(0.0, float(np.nanmax(least))), float(np.nanmax(most)))


# Certain intervals of all statistics -------------------------------------------------------------

# Tau depends on the variances of the AUCs, so it is neither monotone nor a gap of AUCs.
_MONOTONE = {"pooled", *AVERAGES, "worst", "cross", "bias_score"}
_GAPS: dict[str, Callable[[Floats, Floats], Bounds]] = {
    "difference": _difference_bounds,
    "ratio": _ratio_bounds,
    "cross_difference": _cross_difference_bounds,
}


def group_bounds(estimates: GroupEstimates) -> Bounds:
    """Return the certain intervals of the group values, each of shape (n_groups,)."""
    low, high = (end.by_group for end in estimates.extremes)
    return _widened(estimates, Bounds(low, high))


def statistic_bounds(estimates: GroupEstimates, name: str) -> Bounds:
    """Return the certain interval of a statistic; NaN if it is undefined or unknown, as for tau."""
    ends, undefined = estimates.extremes, Bounds(np.nan, np.nan)
    if name not in _MONOTONE and name not in _GAPS:
        return undefined
    try:
        # A gap that is undefined for the highest AUCs is undefined for all possible scores.
        high = STATISTICS[name].compute(ends[1])
        if name in _MONOTONE:
            low = STATISTICS[name].compute(ends[0])
            return _widened(estimates, Bounds(low, high), name)
    except NotDefined:
        return undefined
    if name == "cross_difference":
        both = np.ix_(estimates.pairs.defined, estimates.pairs.defined)
        values = [end.pairs.cross_auc[both] for end in ends]
    else:
        values = [auc[used] for auc, used in (end.group_values for end in ends)]
    return _widened(estimates, _GAPS[name](*values), name)


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


# Rows of withheld groups --------------------------------------------------------------------------

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


# Confidence intervals of groups -------------------------------------------------------------------

NO_GROUP = "needs a group with both classes"


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
    limits = [_group_limits(end, tail, method) for end in ends]
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


# Intervals of statistics -----------------------------------------------------------------------


class Sampling(NamedTuple):
    """Arguments of a statistic's interval; with `new_groups`, the groups are a sample of groups."""

    confidence_level: float
    method: intervals.Method
    new_groups: bool

    @property
    def tail(self) -> float:
        """Error probability of each limit."""
        return (1.0 - self.confidence_level) / 2.0


def _pooled(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return the limits of the value of all rows together."""
    level, tail, new_groups = sampling.confidence_level, sampling.tail, sampling.new_groups
    if np.isnan(estimates.pooled_index):
        raise NotDefined(NO_GROUP)
    if estimates.measure.is_auc:
        of_rows = estimates.pooled
        return intervals.pooled_interval(of_rows, level, sampling.method, new_groups=new_groups)
    index, curve = np.array([estimates.pooled_index]), estimates.pooled_curve
    if new_groups:
        variance, freedom = pooled_clustered(estimates)
        if not variance > 0:
            raise NotDefined("needs two groups with rows of each class")
        errors = LogitErrors(np.array([variance]), np.array([freedom]))
        return _on_scale(estimates, *errors.limits(index, tail))
    own = measures.errors_of(estimates.measure, curve, index)
    low, high, note = measures.limits_of(estimates.measure, curve, own, index, tail)
    return _on_scale(estimates, low, high, note[0])


def _average(estimates: GroupEstimates, sampling: Sampling, name: str) -> intervals.Interval:
    """Return the limits of an average of the values of the groups."""
    level, tail, new_groups = sampling.confidence_level, sampling.tail, sampling.new_groups
    measure, defined, share = estimates.measure, estimates.pairs.defined, shares(estimates, name)
    if share is None:
        raise NotDefined(NO_GROUP)
    if measure.is_auc:
        return intervals.average_interval(
            estimates.in_use, share, level, sampling.method, new_groups=new_groups
        )
    if not defined[share > 0].any():
        raise NotDefined(NO_GROUP)
    low, high = measure.scale
    index = (estimates.group_values[0] - low) / (high - low)
    used = share > 0
    if (used & defined).sum() > 1 and not has_valid_averages(measure):
        raise NotDefined("no interval: averages of the average precision of few rows are biased")
    value = np.clip((share[used] * index[used]).sum(keepdims=True), 0.0, 1.0)
    few, of_class = measures.few_within(measure, estimates.curves, tail)
    n_few, note = int(few[used].sum()), ""
    if n_few:
        note = f"biased: {_words.counted(n_few, 'group')} with few {of_class}s within the rates"
    if not new_groups:
        # A number that replaces the value of a group has no variance.
        counted = np.where(defined, share, 0.0)
        return _on_scale(estimates, *estimates.errors.averaged(counted).limits(value, tail), note)
    if used.sum() < 2:
        raise NotDefined("needs two groups")
    variance = variance_over_groups(index[used], share[used])
    if not variance > 0:
        raise NotDefined("no variation seen: no interval")
    quantile = OverGroups(share[used]).quantile(tail)
    return _on_scale(estimates, *intervals.limits(value, variance, quantile, "logit"), note)


def _worst(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return the limits of the smallest value.

    It belongs to one group, so lower limits need no adjustment; Bonferroni adjusts upper limits.
    """
    values, used = estimates.group_values
    if not used.any():
        raise NotDefined(NO_GROUP)
    low, _ = _limits_in_use(estimates, sampling.tail, sampling.method)
    _, high = _limits_in_use(estimates, sampling.tail / used.sum(), sampling.method)
    return intervals.Interval(float(values[used].min()), float(low.min()), float(high.min()))


def _difference(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return the limits of the largest minus the smallest value.

    The lower limit of other measures than the AUC, and of "exact", fails only if a limit of a group
    fails, so Bonferroni's correction applies. The upper limit has to cover the true difference of
    two groups.
    """
    values, used = estimates.group_values
    is_auc, method = estimates.measure.is_auc, sampling.method
    if is_auc and not used.any():
        raise NotDefined(NO_GROUP)
    if used.sum() < 2:
        raise NotDefined(f"needs two groups{' with both classes' if is_auc else ''}")
    if is_auc and method != "exact":
        return difference_interval(estimates.extremes_in_use, sampling.confidence_level, method)

    def of_groups(tail: float) -> tuple[Floats, Floats]:
        lowest, highest = (_limits_in_use(end, tail, method) for end in estimates.extremes)
        return lowest[0], highest[1]

    low, high = of_groups(sampling.tail / (2.0 * used.sum()))
    least = max(float(low.max() - high.min()), 0.0)
    low, high = of_groups(sampling.tail / 2.0)
    return intervals.Interval(np.ptp(values[used]), least, float(high.max() - low.min()))


# Statistics with an interval, in the order of the table; a function raises `NotDefined` if there is
# none.
_Compute: TypeAlias = Callable[[GroupEstimates, Sampling], intervals.Interval]
INTERVALS: dict[str, _Compute] = {
    "pooled": _pooled,
    **{name: functools.partial(_average, name=name) for name in AVERAGES},
    "worst": _worst,
    "difference": _difference,
}
_OF_NEW_GROUPS = {"pooled", *AVERAGES}


def _limits_of(
    name: str, estimates: GroupEstimates, sampling: Sampling
) -> tuple[float, float, str]:
    """Return a statistic's limits and their note, for binned scores from both extremes."""
    # Without monotonicity, the function considers the extremes.
    is_binned = estimates.pairs.is_binned
    ends = estimates.extremes if is_binned and name in _MONOTONE else (estimates,)
    found = [INTERVALS[name](end, sampling) for end in ends]
    low, high, note = found[0].low, found[-1].high, found[0].note
    if is_binned:
        note = _note_of_binned(statistic_bounds(estimates, name), note, found[-1].note)
    return low, high, note


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
    rows, quiet = [], estimates.quiet()
    known = INTERVALS if names is None else names
    names = [name for name in determined_statistics(estimates) if name in known]
    for name in names:
        is_new = new_groups and name in _OF_NEW_GROUPS
        low, high, note = np.nan, np.nan, ""
        try:
            low, high, note = _limits_of(name, quiet, Sampling(confidence_level, method, is_new))
        except NotDefined as error:
            note = error.reason
        value = quiet.value_of(STATISTICS[name].compute)
        estimand = intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS
        rows.append((value, low, high, method, estimand, note))
    columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(names, name="statistic"))


# Measures instead of the AUC --------------------------------------------------------------------
#
# The limits are limits of an index, the measure on the scale from 0 to 1; see
# `skfedauc.inference.measures`.


def _group_limits(
    estimates: GroupEstimates, tail: float, method: intervals.Method
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return the limits of each group's value, each with error probability `tail`, and notes."""
    measure = estimates.measure
    if measure.is_auc:
        return intervals.group_limits(estimates.variances, tail, method)
    low, high, note = measures.limits_of(
        measure, estimates.curves, estimates.errors, estimates.index, tail
    )
    return measures.value_of(measure, low), measures.value_of(measure, high), note


def _on_scale(
    estimates: GroupEstimates, low: Floats, high: Floats, note: str = ""
) -> intervals.Interval:
    """Return the limits of an index as limits of the measure."""
    least, most = (float(measures.value_of(estimates.measure, end)[0]) for end in (low, high))
    return intervals.Interval(np.nan, least, most, note)


def pooled_clustered(estimates: GroupEstimates) -> tuple[float, float]:
    """Return the variance of the pooled index for random groups, and its degrees of freedom.

    The variance uses the sum of the influence values of each group's rows, because rows in a group
    are dependent. The formulas are those of `clustered_variance` and `Variances.cluster_freedom`
    for AUCs.
    """
    curves, pooled, counts = estimates.curves, estimates.pooled_curve, estimates.pairs.counts
    influence = measures.influence_of(estimates.measure, pooled)
    # The cells of the pooled curve are the distinct scores of all groups.
    place, _ = number_cells(counts.cells.scores)
    sides = (
        (curves.positives, influence.positives, pooled.top - pooled.bottom,
         curves.top - curves.bottom),
        (curves.negatives, influence.negatives, pooled.right - pooled.left,
         curves.right - curves.left),
    )  # fmt: skip
    residuals, share = [], np.zeros(len(counts))
    for rows, values, of_all, of_group in sides:
        centered = values - float((of_all * values).sum())
        weight = rows.weight / rows.weight.sum()
        residuals.append(curves.sums(of_group * centered[place]) * weight)
        share += weight / 2.0
    variance = clustered_variance(residuals, [curves.positives.weight, curves.negatives.weight])
    return variance, freedom_of_shares(share)


def _limits_in_use(
    estimates: GroupEstimates, tail: float, method: intervals.Method
) -> tuple[Floats, Floats]:
    """Return the group limits in use; a number for an undefined value is its own limit."""
    (values, used), defined = estimates.group_values, estimates.pairs.defined
    low, high, _ = _group_limits(estimates, tail, method)
    return np.where(defined, low, values)[used], np.where(defined, high, values)[used]
