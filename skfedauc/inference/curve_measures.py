"""Values, variances, limits and certain intervals of measures, for the curves of all groups.

An *index* is a measure on a linear scale from 0 to 1. The index of a partial area is the area
divided by its largest possible value. For other measures, the index equals the measure. The module
omits transformed AUCs (`Measure.is_auc`).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference import average_precision, curve_points, group_curves, partial_areas
from skfedauc.inference.group_curves import SAME_RATE, GroupCurves, Influence, LogitErrors
from skfedauc.measures import (
    AveragePrecision,
    Measure,
    PartialAUC,
    Sensitivity,
    Specificity,
)

Floats = NDArray[np.float64]


class Limits(NamedTuple):
    """Limits of an index by group, with notes; NaN if there is no interval."""

    low: Floats
    high: Floats
    note: NDArray[Any]


def _oriented(measure: Measure, curves: GroupCurves) -> tuple[GroupCurves, float]:
    """Return curves and a false positive rate that define the measure as a height or an area.

    Measures at a true positive rate are measures at a false positive rate of the reversed curves.
    """
    match measure:
        case PartialAUC():
            return (curves if measure.min_tpr is None else curves.reversed()), measure.width
        case Sensitivity():
            return curves, 1.0 - measure.specificity
        case Specificity():
            return curves.reversed(), 1.0 - measure.sensitivity
    raise TypeError(f"{measure!r} is not a measure of a part of the ROC curve.")


def method_of(measure: Measure) -> str:
    """Return the name of the interval's method."""
    match measure:
        case Sensitivity() | Specificity():
            return "wilson"
    return "logit"


def index_of(measure: Measure, curves: GroupCurves) -> Floats:
    """Return the index of each group; NaN if the group lacks a class."""
    match measure:
        case AveragePrecision():
            return average_precision.average_precision(curves)
        case PartialAUC():
            return partial_areas.partial_area(*_oriented(measure, curves))
    return curve_points.true_positive_rate(*_oriented(measure, curves))


# Sampling errors ---------------------------------------------------------------------------------


class Errors(Protocol):
    """Sampling errors of an index of each group, from which confidence limits follow."""

    def averaged(self, share: Floats, /) -> Errors:
        """Return the errors of an average of the groups, with weights `share`; one element."""

    def limits(self, index: Floats, tail: float, /) -> tuple[Floats, Floats]:
        """Return limits with error probability `tail` each; NaN if there is no interval."""


def influence_of(measure: Measure, curves: GroupCurves) -> Influence:
    """Return the influence of the rows on the index."""
    if isinstance(measure, AveragePrecision):
        return average_precision.average_precision_influence(curves)
    oriented, rate = _oriented(measure, curves)
    if isinstance(measure, PartialAUC):
        found = partial_areas.partial_area_influence(oriented, rate)
    else:
        found = curve_points.true_positive_rate_influence(oriented, rate)
    # The positives of reversed curves are the negatives.
    return found if oriented is curves else Influence(found.negatives, found.positives)


def errors_of(measure: Measure, curves: GroupCurves, index: Floats) -> Errors:
    """Return the sampling errors of the index of each group.

    Parameters
    ----------
    measure : Measure
    curves : GroupCurves
    index : ndarray of float64, shape (n_groups,)
        Index of each group; NaN if undefined. For binned scores, an end of the certain interval.
    """
    match measure:
        case Sensitivity() | Specificity():
            return curve_points.sensitivity_errors(*_oriented(measure, curves), index)
    variance, freedom = group_curves.errors_of(curves, influence_of(measure, curves))
    if isinstance(measure, PartialAUC):
        bound = partial_areas.greatest_variance(index, *_oriented(measure, curves))
    else:
        bound = average_precision.greatest_variance(index, curves)
    # An upper bound replaces an unknown variance, as if the bound had no sampling error.
    unknown = curves.defined & np.isnan(variance)
    return LogitErrors(np.where(unknown, bound, variance), np.where(unknown, np.inf, freedom))


# Limits of groups --------------------------------------------------------------------------------


def limits_of(
    measure: Measure, curves: GroupCurves, errors: Errors, index: Floats, tail: float
) -> Limits:
    """Return the limits of the index of each group, each with error probability `tail`.

    Parameters
    ----------
    measure : Measure
    curves : GroupCurves
    errors : Errors
    index : ndarray of float64, shape (n_groups,)
        Index of each group, as in `errors_of`.
    tail : float
    """
    low, high = errors.limits(index, tail)
    note = np.full(index.size, "", dtype=object)
    note[curves.positives.n == 0] = "no positives"
    note[curves.negatives.n == 0] = "no negatives"
    few, scarce = few_within(measure, curves, tail)
    if isinstance(measure, Sensitivity | Specificity):
        oriented, rate = _oriented(measure, curves)
        guard = curve_points.sensitivity_guard(oriented, rate, index, tail)
        low = np.minimum(low, guard)
        note[few] = f"low lower limit: few {scarce}s determine the threshold"
        none = curves.defined & (rate * oriented.negatives.effective < 1.0 - SAME_RATE)
        low[none] = 0.0
        note[none] = f"no lower limit: the threshold is the most extreme {scarce}"
    if isinstance(errors, LogitErrors):
        # Degrees of freedom are infinite if the variance is an upper bound.
        bounded = curves.defined & np.isinf(errors.degrees_of_freedom)
        note[bounded] = "no variation seen: variance bounded"
        for rows, name in ((curves.positives, "positive"), (curves.negatives, "negative")):
            note[bounded & (rows.n == 1)] = f"one {name}: variance bounded"
    if isinstance(measure, PartialAUC):
        oriented, rate = _oriented(measure, curves)
        guard = partial_areas.partial_area_guard(oriented, rate, index, tail)
        low = np.minimum(low, guard)
        note[few] = f"no lower limit: too few {scarce}s within the rates"
        _set_extreme_limits(measure, curves, index, tail, Limits(low, high, note))
    return Limits(low, high, note)


def few_within(measure: Measure, curves: GroupCurves, tail: float) -> tuple[NDArray[np.bool_], str]:
    """Return which groups may have no row within the rates of the measure, and the class.

    A part of the ROC curve begins or ends at the threshold of a rate. The rows of one class set
    this threshold. Consider a threshold with this rate in the population. The function returns True
    if the probability that no row is beyond the threshold exceeds `tail`.
    """
    if not isinstance(measure, PartialAUC | Sensitivity | Specificity):
        return np.zeros(curves.defined.size, np.bool_), ""
    oriented, rate = _oriented(measure, curves)
    fewest = curve_points.fewest_within(oriented.negatives.effective, rate, tail)
    is_reversed = oriented is not curves
    return curves.defined & (fewest < 1.0), "positive" if is_reversed else "negative"


def _set_extreme_limits(
    measure: PartialAUC, curves: GroupCurves, index: Floats, tail: float, found: Limits
) -> None:
    """Replace the limits of partial areas of 0 and 1, and write their notes."""
    oriented, rate = _oriented(measure, curves)
    perfect, none = index == 1.0, index == 0.0
    found.low[perfect] = partial_areas.perfect_area_limit(oriented, rate, tail)[perfect]
    found.high[perfect] = 1.0
    found.note[perfect] = "perfect separation"
    # The smaller effective sample size: all positives, or the negatives within the rates.
    n = np.minimum(oriented.positives.effective, rate * oriented.negatives.effective)
    found.low[none] = 0.0
    found.high[none] = 1.0 - tail ** (1.0 / np.maximum(n[none], 1.0))
    where = "positive" if measure.min_tpr is None else "negative"
    found.note[none] = f"no {where} within the rates"


# Certain intervals -------------------------------------------------------------------------------


def bounds_of(
    measure: Measure, lowest: GroupCurves, highest: GroupCurves, *, overlaps: bool = False
) -> tuple[Floats, Floats]:
    """Return certain intervals of the index of each group of binned scores.

    No point of the ROC curve moves down if a positive gets a higher score, or a negative gets a
    lower score. A test with a random threshold then keeps its false positive rate, and its true
    positive rate does not decrease. Areas and heights of the curve are therefore between their
    values at both extremes.

    The average precision is not a function of the order of pairs, because positives with equal
    scores have equal precisions. The average precision is largest if the positives of a range have
    one score, as in `highest`. The average precision is smallest if the positives have different
    scores. If ranges overlap, positives of different ranges can also have the same score.

    Parameters
    ----------
    measure : Measure
    lowest, highest : GroupCurves
        Curves of the results of `ScoreCounts.extremes`.
    overlaps : bool, default=False
        Whether ranges of scores may overlap.
    """
    match measure:
        case AveragePrecision():
            low = average_precision.least_average_precision(lowest)
            if overlaps:
                return low, average_precision.greatest_average_precision(highest)
            return low, average_precision.average_precision(highest)
    return index_of(measure, lowest), index_of(measure, highest)
