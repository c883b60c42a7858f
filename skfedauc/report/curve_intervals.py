"""Confidence intervals of measures of a part of the ROC curve, and of the average precision.

The limits are limits of an index, which is a measure on the scale from 0 to 1; see
`skfedauc.inference.measures`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc._kernel import number_cells
from skfedauc.inference import intervals, limits, measures
from skfedauc.inference.curves import LogitErrors
from skfedauc.inference.paired_measures import has_valid_averages
from skfedauc.inference.quantiles import OverGroups, variance_over_groups
from skfedauc.inference.variances import clustered_variance
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import shares
from skfedauc.report.undefined import NotDefined

Floats = NDArray[np.float64]

NO_GROUP = "needs a group with both classes"


def group_limits(estimates: GroupEstimates, tail: float) -> measures.Limits:
    """Return the limits of each group's measure, each with error probability `tail`."""
    measure = estimates.measure
    low, high, note = measures.limits_of(
        measure, estimates.curves, estimates.errors, estimates.index, tail
    )
    return measures.Limits(measures.value_of(measure, low), measures.value_of(measure, high), note)


def _interval(
    estimates: GroupEstimates, low: Floats, high: Floats, note: str = ""
) -> intervals.Interval:
    """Return the limits of an index as limits of the measure."""
    least, most = (float(measures.value_of(estimates.measure, end)[0]) for end in (low, high))
    return intervals.Interval(np.nan, least, most, note)


# Pooled ------------------------------------------------------------------------------------------


def pooled_interval(
    estimates: GroupEstimates, tail: float, *, new_groups: bool
) -> intervals.Interval:
    """Return the limits of the measure of all rows together."""
    if np.isnan(estimates.pooled_index):
        raise NotDefined(NO_GROUP)
    index, curve = np.array([estimates.pooled_index]), estimates.pooled_curve
    if new_groups:
        variance, freedom = pooled_clustered(estimates)
        if not variance > 0:
            raise NotDefined("needs two groups with rows of each class")
        errors = LogitErrors(np.array([variance]), np.array([freedom]))
        return _interval(estimates, *errors.limits(index, tail))
    own = measures.errors_of(estimates.measure, curve, index)
    low, high, note = measures.limits_of(estimates.measure, curve, own, index, tail)
    return _interval(estimates, low, high, note[0])


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
    return variance, max(1.0 / float((share**2).sum()) - 1.0, 1.0)


# Averages and the worst group --------------------------------------------------------------------


def average_interval(
    estimates: GroupEstimates, name: str, tail: float, *, new_groups: bool
) -> intervals.Interval:
    """Return the limits of an average of the measure of the groups."""
    measure, defined, share = estimates.measure, estimates.pairs.defined, shares(estimates, name)
    if share is None or not defined[share > 0].any():
        raise NotDefined(NO_GROUP)
    low, high = measure.scale
    index = (estimates.group_values[0] - low) / (high - low)
    used = share > 0
    if (used & defined).sum() > 1 and not has_valid_averages(measure):
        raise NotDefined("no interval: averages of the average precision of few rows are biased")
    value = np.clip((share[used] * index[used]).sum(keepdims=True), 0.0, 1.0)
    few, of_class = measures.few_within(measure, estimates.curves, tail)
    n_few = int(few[used].sum())
    note = f"biased: {_words.counted(n_few, 'group')} with few {of_class}s within the rates"
    note = note if n_few else ""
    if not new_groups:
        # A number that replaces the value of a group has no variance.
        counted = np.where(defined, share, 0.0)
        return _interval(estimates, *estimates.errors.averaged(counted).limits(value, tail), note)
    if used.sum() < 2:
        raise NotDefined("needs two groups")
    variance = variance_over_groups(index[used], share[used])
    if not variance > 0:
        raise NotDefined("no variation seen: no interval")
    quantile = OverGroups(share[used]).quantile(tail)
    return _interval(estimates, *limits.limits(value, variance, quantile, "logit"), note)


def worst_interval(estimates: GroupEstimates, tail: float) -> intervals.Interval:
    """Return the limits of the smallest value, see `intervals.worst_interval`."""
    values, used = estimates.group_values
    if not used.any():
        raise NotDefined(NO_GROUP)
    low = _known(estimates, group_limits(estimates, tail).low)
    high = _known(estimates, group_limits(estimates, tail / used.sum()).high)
    return intervals.Interval(float(values[used].min()), float(low.min()), float(high.min()))


def difference_interval(estimates: GroupEstimates, tail: float) -> intervals.Interval:
    """Return the limits of the largest minus the smallest value.

    The lower limit fails only if a limit of a group fails, so Bonferroni's correction applies. The
    upper limit has to cover the true difference of two groups, as for AUCs.
    """
    values, used = estimates.group_values
    if used.sum() < 2:
        raise NotDefined("needs two groups")

    def of_groups(tail: float) -> tuple[Floats, Floats]:
        lowest, highest = estimates.extremes
        return (
            _known(estimates, group_limits(lowest, tail).low),
            _known(estimates, group_limits(highest, tail).high),
        )

    low, high = of_groups(tail / (2.0 * used.sum()))
    least = max(float(low.max() - high.min()), 0.0)
    low, high = of_groups(tail / 2.0)
    return intervals.Interval(np.ptp(values[used]), least, float(high.max() - low.min()))


def _known(estimates: GroupEstimates, limit: Floats) -> Floats:
    """Return the group limits in use; a number for an undefined value is its own limit."""
    values, used = estimates.group_values
    return np.where(estimates.pairs.defined, limit, values)[used]
