"""Confidence intervals of measures: by group, pooled, of averages and of the worst group.

The limits are limits of an index, which is a measure on the scale from 0 to 1; see
`skfedauc.inference.measures`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc._kernel import number_cells
from skfedauc.inference import limits, measures
from skfedauc.inference.curves import LogitErrors
from skfedauc.inference.paired_measures import has_valid_averages
from skfedauc.inference.quantiles import OverGroups, variance_over_groups
from skfedauc.inference.variances import clustered_variance
from skfedauc.report.bounds import Bounds, certain_range
from skfedauc.report.measure_statistics import MeasureEstimates
from skfedauc.report.measured import Measured
from skfedauc.report.statistics import shares
from skfedauc.report.undefined import NotDefined

Floats = NDArray[np.float64]

_NO_GROUP = "needs a group with both classes"


class Ends(NamedTuple):
    """Limits of an index, and a note; limits are NaN if there is no interval."""

    low: float
    high: float
    note: str = ""


def group_limits(measured: Measured, tail: float) -> measures.Limits:
    """Return the limits of the index of each group, from both extremes of binned scores."""

    def at(end: int) -> measures.Limits:
        curves, index = measured.extremes[end].curves, measured.bounds[end]
        errors = measured.errors[end]
        return measures.limits_of(measured.measure, curves, errors, index, tail)

    lowest = highest = at(0)
    if measured.pairs.is_binned:
        highest = at(1)
    note = np.where(lowest.note == highest.note, lowest.note, "")
    return measures.Limits(lowest.low, highest.high, note)


def notes(measured: Measured, of_groups: NDArray[np.object_]) -> NDArray[np.object_]:
    """Add the certain intervals of binned scores to notes of the groups."""
    if not measured.pairs.is_binned:
        return of_groups
    low, high = (measured.scaled(end) for end in measured.bounds)
    certain = [
        "" if np.isnan(ends[0]) else f"scores are binned: certainly {certain_range(ends)}"
        for ends in map(Bounds, low, high)
    ]
    pairs = zip(of_groups, certain, strict=True)
    return np.array(["; ".join(filter(None, both)) for both in pairs], dtype=object)


def statistic_limits(
    estimates: MeasureEstimates, name: str, tail: float, *, new_groups: bool
) -> Ends:
    """Return the limits of the index of a statistic, or raise `NotDefined`.

    Parameters
    ----------
    estimates : MeasureEstimates
    name : str
    tail : float
        Error probability of each limit.
    new_groups : bool
        Whether the groups are a sample from a population of groups.
    """
    measured = estimates.measured
    if name == "worst":
        return _of_worst(estimates, tail)
    if name == "difference":
        return _of_difference(estimates, tail)

    def at(end: int) -> Ends:
        if name == "pooled":
            of_end, index = measured.extremes[end], measured.pooled_bounds[end]
            return _of_pooled(of_end, index, tail, new_groups)
        return _of_average(estimates, name, end, tail, new_groups)

    lowest = highest = at(0)
    if measured.pairs.is_binned:
        highest = at(1)
    return Ends(lowest.low, highest.high, lowest.note if lowest.note == highest.note else "")


# Pooled ------------------------------------------------------------------------------------------


def _of_pooled(measured: Measured, pooled: float, tail: float, new_groups: bool) -> Ends:
    """Return the limits of the index of all rows together."""
    if np.isnan(pooled):
        raise NotDefined(_NO_GROUP)
    index, curve = np.array([pooled]), measured.pooled_curve
    if new_groups:
        variance, freedom = pooled_clustered(measured)
        if not variance > 0:
            raise NotDefined("needs two groups with rows of each class")
        errors = LogitErrors(np.array([variance]), np.array([freedom]))
        return _ends(*errors.limits(index, tail))
    own = measures.errors_of(measured.measure, curve, index)
    low, high, note = measures.limits_of(measured.measure, curve, own, index, tail)
    return _ends(low, high, note[0])


def _ends(low: Floats, high: Floats, note: str = "") -> Ends:
    return Ends(float(low[0]), float(high[0]), note)


def pooled_clustered(measured: Measured) -> tuple[float, float]:
    """Return the variance of the pooled index for random groups, and its degrees of freedom.

    The variance uses the sum of the influence values of each group's rows, because rows of a group
    are dependent. The formulas are those of `clustered_variance` and `Variances.cluster_freedom`
    for AUCs.
    """
    curves, pooled = measured.curves, measured.pooled_curve
    influence = measures.influence_of(measured.measure, pooled)
    # The cells of the pooled curve are the distinct scores of all groups.
    place, _ = number_cells(measured.pairs.counts.cells.scores)
    sides = (
        (curves.positives, influence.positives, pooled.top - pooled.bottom,
         curves.top - curves.bottom),
        (curves.negatives, influence.negatives, pooled.right - pooled.left,
         curves.right - curves.left),
    )  # fmt: skip
    residuals, share = [], np.zeros(len(measured.pairs.counts))
    for rows, values, of_all, of_group in sides:
        centered = values - float((of_all * values).sum())
        weight = rows.weight / rows.weight.sum()
        residuals.append(curves.sums(of_group * centered[place]) * weight)
        share += weight / 2.0
    variance = clustered_variance(residuals, [curves.positives.weight, curves.negatives.weight])
    return variance, max(1.0 / float((share**2).sum()) - 1.0, 1.0)


# Averages and the worst group --------------------------------------------------------------------


def _of_average(
    estimates: MeasureEstimates, name: str, end: int, tail: float, new_groups: bool
) -> Ends:
    """Return the limits of an average of the index of the groups, at one end of the bounds."""
    measured, share = estimates.measured, shares(estimates.values, name)
    if share is None or not measured.pairs.defined[share > 0].any():
        raise NotDefined(_NO_GROUP)
    index, used = _with_replacement(estimates, measured.bounds[end]), share > 0
    n_defined = (used & measured.pairs.defined).sum()
    if n_defined > 1 and not has_valid_averages(measured.measure):
        raise NotDefined("no interval: averages of the average precision of few rows are biased")
    value = np.clip((share[used] * index[used]).sum(keepdims=True), 0.0, 1.0)
    few, of_class = measures.few_within(measured.measure, measured.curves, tail)
    n_few = int(few[used].sum())
    note = f"biased: {_words.counted(n_few, 'group')} with few {of_class}s within the rates"
    note = note if n_few else ""
    if not new_groups:
        # A number that replaces the value of a group has no variance.
        counted = np.where(measured.pairs.defined, share, 0.0)
        return _ends(*measured.errors[end].averaged(counted).limits(value, tail), note)
    if used.sum() < 2:
        raise NotDefined("needs two groups")
    variance = variance_over_groups(index[used], share[used])
    if not variance > 0:
        raise NotDefined("no variation seen: no interval")
    quantile = OverGroups(share[used]).quantile(tail)
    return _ends(*limits.limits(value, variance, quantile, "logit"), note)


def _of_worst(estimates: MeasureEstimates, tail: float) -> Ends:
    """Return the limits of the smallest index, see `intervals.worst_interval`."""
    _, used = estimates.values.group_aucs
    if not used.any():
        raise NotDefined(_NO_GROUP)
    low = _with_replacement(estimates, group_limits(estimates.measured, tail).low)
    high = _with_replacement(estimates, group_limits(estimates.measured, tail / used.sum()).high)
    return Ends(float(low[used].min()), float(high[used].min()))


def _of_difference(estimates: MeasureEstimates, tail: float) -> Ends:
    """Return the limits of the largest minus the smallest index.

    The lower limit fails only if a limit of a group fails, so Bonferroni's correction applies. The
    upper limit has to cover the true difference of two groups, as in `difference_interval`.
    """
    _, used = estimates.values.group_aucs
    if used.sum() < 2:
        raise NotDefined("needs two groups")

    def of_groups(tail: float) -> tuple[Floats, Floats]:
        found = group_limits(estimates.measured, tail)
        low, high = (_with_replacement(estimates, end)[used] for end in (found.low, found.high))
        return low, high

    low, high = of_groups(tail / (2.0 * used.sum()))
    least = max(float(low.max() - high.min()), 0.0)
    low, high = of_groups(tail / 2.0)
    return Ends(least, float(high.max() - low.min()))


def _with_replacement(estimates: MeasureEstimates, index: Floats) -> Floats:
    """Return the index by group, with the number that replaces the index of one-class groups."""
    replacement = estimates.estimates.policy.replacement
    if replacement is None:
        return index
    defined = estimates.estimates.pairs.defined
    return np.where(defined, index, estimates.measured.unscaled(replacement))
