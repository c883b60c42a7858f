"""ROC curve measures: values, variances, limits and certain intervals, for all groups at once.

An *index* is a measure on a linear scale from 0 to 1. A partial area's index is the area
divided by its largest possible value. For other measures, the index equals the measure. The module
omits transformed AUCs (`Measure.is_auc`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, digamma, ndtri

from skfedauc._kernel import number_cells, ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.curves import (
    SAME_RATE,
    GroupCurves,
    Influence,
    LogitErrors,
    logit_errors_of,
    summed_errors,
    variances_by_class,
)
from skfedauc.inference.intervals import AUCSpread, Notes, notes_of
from skfedauc.inference.model_comparison import RowValues, means_of
from skfedauc.inference.proportions import wilson
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.row_effects import Rows
from skfedauc.measures import (
    AveragePrecision,
    Measure,
    PartialAUC,
    Sensitivity,
    Specificity,
)

# Number of thresholds that represent the sampling distribution of a threshold
_N_THRESHOLDS = 32


def _oriented(measure: Measure, curves: GroupCurves) -> tuple[GroupCurves, float]:
    """Return curves and a false positive rate that define the measure as a height or an area.

    Measures at a true positive rate are measures at the reversed curves' false positive rate.
    """
    match measure:
        case PartialAUC():
            return (curves if measure.min_tpr is None else curves.reversed()), measure.width
        case Sensitivity():
            return curves, 1.0 - measure.specificity
        case Specificity():
            return curves.reversed(), 1.0 - measure.sensitivity
    raise TypeError(f"{measure!r} is not a measure of a part of the ROC curve.")


def index_of(measure: Measure, curves: GroupCurves) -> Floats:
    match measure:
        case AveragePrecision():
            return average_precision(curves)
        case PartialAUC():
            return partial_area(*_oriented(measure, curves))
    return true_positive_rate(*_oriented(measure, curves))


def value_of(measure: Measure, index: Floats) -> Floats:
    """Return a measure's values for indices."""
    low, high = measure.scale
    # An index of 1 has no rounding error.
    return index if high - low == 1.0 else high - (high - low) * (1.0 - index)


def influence_of(measure: Measure, curves: GroupCurves) -> Influence:
    """Return the rows' influence on the index."""
    if isinstance(measure, AveragePrecision):
        return average_precision_influence(curves)
    oriented, rate = _oriented(measure, curves)
    if isinstance(measure, PartialAUC):
        found = partial_area_influence(oriented, rate)
    else:
        found = true_positive_rate_influence(oriented, rate)
    # The positives of reversed curves are the negatives.
    return found if oriented is curves else Influence(found.negatives, found.positives)


def errors_of(measure: Measure, curves: GroupCurves, index: Floats) -> Errors:
    """Return the sampling errors of each group's index.

    The index is NaN if undefined. For binned scores, it is an end of the certain interval.
    """
    if isinstance(measure, Sensitivity | Specificity):
        return sensitivity_errors(*_oriented(measure, curves), index)
    variance, freedom = logit_errors_of(curves, influence_of(measure, curves))
    if isinstance(measure, PartialAUC):
        bound = greatest_area_variance(index, *_oriented(measure, curves))
    else:
        # At most A (1 - A) (Bhatia and Davis 2000), with half a success and half a failure added to
        # A, as if it were a share of the rows of the smaller class
        fewer = np.minimum(curves.positives.effective, curves.negatives.effective)
        shrunk = (fewer * index + 0.5) / (fewer + 1.0)
        bound = shrunk * (1.0 - shrunk)
    # An upper bound replaces an unknown variance, as if the bound had no sampling error.
    unknown = curves.defined & np.isnan(variance)
    return LogitErrors(np.where(unknown, bound, variance), np.where(unknown, np.inf, freedom))


# From an error probability to lower limits that hold if few rows are within the rates
Guard = Callable[[float], Floats]


def guard_of(measure: Measure, curves: GroupCurves, index: Floats) -> Guard | None:
    """Return lower limits for few rows within the rates; None for a measure without rates."""
    if isinstance(measure, AveragePrecision):
        return None
    of = *_oriented(measure, curves), index
    if isinstance(measure, PartialAUC):
        return area_guard(*of)
    return functools.partial(sensitivity_guard, *of)


def limits_of(
    measure: Measure,
    curves: GroupCurves,
    errors: Errors,
    guard: Guard | None,
    index: Floats,
    tail: float,
) -> tuple[Floats, Floats, Notes]:
    """Return the limits of each group's index, each with error probability `tail`, and notes."""
    low, high = errors.limits(index, tail)
    # Degrees of freedom are infinite if the variance is an upper bound.
    is_bound = isinstance(errors, LogitErrors) and np.isinf(errors.degrees_of_freedom)
    note = notes_of(curves.negatives, curves.positives, curves.defined & is_bound)
    if guard is None:
        return low, high, note
    oriented, rate = _oriented(measure, curves)
    few, scarce = few_within(measure, curves, tail)
    n_scarce = rate * oriented.negatives.effective
    if isinstance(measure, PartialAUC):
        # The area is about an AUC over the negatives within the rates, with Newcombe's limits.
        m, n = oriented.positives.effective, n_scarce
        spread = AUCSpread.of_rows(index, ratio(1.0, m * n, 0.0), m, n)
        ends = spread.limits(normal_quantile(tail))
        low, high = np.minimum(np.fmin(low, ends[0]), guard(tail)), np.fmax(high, ends[1])
        note[few] = f"no lower limit: too few {scarce}s within the rates"
        perfect, none = index == 1.0, index == 0.0
        low[perfect], high[perfect] = perfect_area_limit(oriented, rate, tail)[perfect], 1.0
        note[perfect] = "perfect separation"
        # The smaller effective sample size: all positives, or the negatives within the rates.
        n = np.minimum(oriented.positives.effective, n_scarce)[none]
        low[none], high[none] = 0.0, 1.0 - tail ** (1.0 / np.maximum(n, 1.0))
        note[none] = f"no {'positive' if measure.min_tpr is None else 'negative'} within the rates"
    else:
        low = np.minimum(low, guard(tail))
        note[few] = f"low lower limit: few {scarce}s determine the threshold"
        none = curves.defined & (n_scarce < 1.0 - SAME_RATE)
        low[none] = 0.0
        note[none] = f"no lower limit: the threshold is the most extreme {scarce}"
    return low, high, note


def few_within(measure: Measure, curves: GroupCurves, tail: float) -> tuple[NDArray[np.bool_], str]:
    """Return which groups may have no row within the measure's rates, and the class.

    One class sets the threshold at which a part of the ROC curve begins or ends. The
    result is True if, with probability above `tail`, none of them is beyond the threshold that has
    this rate in the population.
    """
    if not isinstance(measure, PartialAUC | Sensitivity | Specificity):
        return np.zeros(curves.defined.size, np.bool_), ""
    oriented, rate = _oriented(measure, curves)
    fewest = fewest_within(oriented.negatives.effective, rate, tail)
    is_reversed = oriented is not curves
    return curves.defined & (fewest < 1.0), "positive" if is_reversed else "negative"


def bounds_of(
    measure: Measure, lowest: GroupCurves, highest: GroupCurves, *, overlaps: bool = False
) -> tuple[Floats, Floats]:
    """Return certain intervals for each group's index if scores are binned.

    Areas and heights of the ROC curve are between their values at both extremes. The average
    precision is largest if the positives of a range have one score, as in `highest`, and smallest
    if they have different scores; positives of overlapping ranges can also have the same score.
    """
    if isinstance(measure, AveragePrecision):
        greatest = greatest_average_precision if overlaps else average_precision
        return least_average_precision(lowest), greatest(highest)
    return index_of(measure, lowest), index_of(measure, highest)


def true_positive_rate(curves: GroupCurves, fpr: float | Floats) -> Floats:
    """Return each curve's highest true positive rate at a false positive rate."""
    share = curves.share_within(fpr)
    partly = curves.bottom + share * (curves.top - curves.bottom)
    height = np.where(share == 1.0, curves.top, partly)
    # Curves rise, so the height is the largest height of the segments up to the rate.
    is_within = curves.left <= curves.by_segment(fpr) + SAME_RATE
    largest = np.maximum.reduceat(np.where(is_within, height, 0.0), curves.starts[:-1])
    return curves.if_defined(largest)


def threshold_moments(curves: GroupCurves, fpr: float) -> tuple[Floats, Floats]:
    """Return the true positive rate's moments over the threshold's sampling distribution.

    The threshold that `fpr` of n observed negatives exceed has a random false positive rate u in
    the population, whose transform ``arcsin(sqrt(u))`` is approximately normal with variance ``1 /
    (4 (n + 1))``. The observed curve gives the true positive rate at u, so no estimate of the slope
    is needed. The function returns mean and variance by group.
    """
    deviates = ndtri((np.arange(_N_THRESHOLDS) + 0.5) / _N_THRESHOLDS)
    deviates /= np.sqrt((deviates**2).mean())
    reach = 0.5 / np.sqrt(curves.negatives.effective + 1.0)
    once, squared = np.zeros((2, curves.starts.size - 1))
    for deviate in deviates:
        angle = np.clip(np.arcsin(np.sqrt(fpr)) + deviate * reach, 0.0, np.pi / 2.0)
        height = true_positive_rate(curves, np.sin(angle) ** 2)
        once += height / _N_THRESHOLDS
        squared += height**2 / _N_THRESHOLDS
    return once, np.maximum(squared - once**2, 0.0)


def true_positive_rate_influence(curves: GroupCurves, fpr: float) -> Influence:
    """Return influence values on `true_positive_rate`.

    The negatives' influence contains the curve's slope. The slope is the standard
    deviation of the true positive rate over thresholds, over that of the false positive rate.
    """
    share = curves.share_within(fpr)
    variance = threshold_moments(curves, fpr)[1]
    slope = np.sqrt(variance * (curves.negatives.effective + 1.0) / (fpr * (1.0 - fpr)))
    return Influence(share, -slope[curves.groups] * share)


def fewest_within(n: Floats, fpr: float, tail: float) -> Floats:
    """Return a lower limit for how many negatives are above a rate's threshold.

    At least this number k of `n` negatives are above the threshold that has the rate `fpr` in the
    population, with probability ``1 - tail``. The incomplete beta function interpolates between
    whole numbers. The result is below 1 if, with probability above `tail`, no negative is above.
    """
    distinct, place = np.unique(n, return_inverse=True)
    low, high = np.zeros_like(distinct), distinct + 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        is_below = betainc(middle, distinct + 1.0 - middle, fpr) >= 1.0 - tail
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low[place]


def combined_lower_limit(value: Floats, first: Floats, second: Floats) -> Floats:
    """Return the lower limit for two independent errors, each of which has a lower limit.

    It is as far below the value as the root of the summed squared distances (Zou and Donner 2008).
    """
    reach = np.hypot(np.maximum(value - first, 0.0), np.maximum(value - second, 0.0))
    return np.maximum(value - reach, 0.0)


def sensitivity_guard(curves: GroupCurves, fpr: float, observed: Floats, tail: float) -> Floats:
    """Return lower sensitivity limits that hold if few negatives determine the threshold.

    One part is Wilson's limit for a given threshold. The other part is the sensitivity at the
    threshold with `fewest_within` negatives above; for less than 1, the height of the chord from
    the curve's beginning to the highest negative, a lower bound for a concave curve.
    """
    n = curves.negatives.effective
    fewest = np.minimum(fewest_within(n, fpr, tail), n * fpr)
    # The height before the next negative
    rate = np.maximum(ratio(fewest, n, 0.0) - 2.0 * SAME_RATE, 0.0)
    reached = true_positive_rate(curves, rate) * np.minimum(fewest, 1.0)
    n_positives = curves.if_defined(curves.positives.effective)
    given = wilson(observed, n_positives, tail)
    return combined_lower_limit(observed, given.low, reached)


class WilsonErrors(NamedTuple):
    """Sampling errors of each group's sensitivity, with Wilson's limits (1927).

    Each group has an observed sensitivity, its mean over the sampling distribution of the
    threshold, and the number n of independent positives that give the same variance.
    """

    observed: Floats
    mean: Floats
    n: Floats

    def averaged(self, share: Floats) -> LogitErrors:
        """Return the errors of a group average.

        Half a success and half a failure are added, because 0 and 1 would have no variance.
        """
        shrunk = (self.n * self.observed + 0.5) / (self.n + 1.0)
        variance = shrunk * (1.0 - shrunk) / self.n
        return LogitErrors(variance, np.full(self.n.size, np.inf)).averaged(share)

    def limits(self, observed: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return the more distant limit: from the observed or the mean sensitivity.

        The observed one is the highest point of the curve at the rate, and has a bias if few
        negatives determine the threshold. The mean has less.
        """
        ends = [wilson(share, self.n, tail) for share in (observed, self.mean)]
        return np.minimum(ends[0].low, ends[1].low), np.maximum(ends[0].high, ends[1].high)


Errors = LogitErrors | WilsonErrors


def sensitivity_errors(curves: GroupCurves, fpr: float, observed: Floats) -> WilsonErrors:
    """Return the sampling errors of each group's sensitivity at a false positive rate.

    One threshold applies to all m positives, so they correlate like the rows in one cluster: by the
    variance of the sensitivity over thresholds, divided by the variance ``p (1 - p)`` of a single
    row. The number of independent positives is ``m / (1 + (m - 1) correlation)``.
    """
    mean, variance = threshold_moments(curves, fpr)
    n_positives = curves.positives.effective
    correlation = np.clip(ratio(variance, mean * (1.0 - mean), 0.0), 0.0, 1.0)
    effective = n_positives / (1.0 + np.maximum(n_positives - 1.0, 0.0) * correlation)
    return WilsonErrors(observed, mean, curves.if_defined(effective))


def partial_area(curves: GroupCurves, max_fpr: float) -> Floats:
    """Return the area under each curve up to a false positive rate, divided by this rate."""
    area = _mean_height(curves, np.full(curves.starts.size - 1, max_fpr))
    # Avoid rounding error, to recognize perfect separation.
    area[true_positive_rate(curves, 0.0) == 1.0] = 1.0
    return curves.if_defined(area)


def _mean_height(curves: GroupCurves, rate: Floats) -> Floats:
    share = curves.share_within(rate)
    width = share * (curves.right - curves.left)
    height = curves.bottom + share * (curves.top - curves.bottom) / 2.0
    return np.clip(ratio(curves.sums(width * height), rate, 0.0), 0.0, 1.0)


def partial_area_influence(curves: GroupCurves, max_fpr: float) -> Influence:
    """Return influence values on `partial_area`.

    A positive's value is the length of the rates at which it is above the threshold. A negative's
    value is its placement value, but at most the true positive rate at the last rate, which
    accounts for the sampling error of the threshold (Dodd and Pepe 2003; He and Escobar 2008). Rows
    in a tie block count as uniformly distributed over its segment.
    """
    share = curves.share_within(max_fpr)
    height = true_positive_rate(curves, max_fpr)[curves.groups]
    width, rise = curves.right - curves.left, curves.top - curves.bottom
    of_positives = share**2 * width / 2.0 + np.maximum(max_fpr - curves.right, 0.0)
    of_negatives = curves.bottom + rise * (share - share**2 / 2.0)
    of_negatives = np.where(curves.left >= max_fpr, height, of_negatives)
    return Influence(of_positives / max_fpr, of_negatives / max_fpr)


def greatest_area_variance(area: Floats, curves: GroupCurves, max_fpr: float) -> Floats:
    """Return an upper bound on each `partial_area`'s variance.

    With the rate e, the area A (as a share of e), m positives and n negatives, it is ``A (1 - A) /
    m + (1 - A) / (e n)``: values of positives are between 0 and 1 with mean A, and values of
    negatives below their maximum by at most 1 / e, and by 1 - A on average. The bound adds half a
    success and half a failure to A.
    """
    m, n = curves.positives.effective, curves.negatives.effective
    fewer = np.minimum(m, n)
    shrunk = (fewer * area + 0.5) / (fewer + 1.0)
    return (1.0 - shrunk) * (ratio(shrunk, m) + ratio(1.0 / max_fpr, n))


def area_guard(curves: GroupCurves, max_fpr: float, area: Floats) -> Guard:
    """Return lower `partial_area` limits that hold if few negatives are within the rates.

    One part is the limit for a given number of negatives within the rates, with the variance of the
    mean influence value of `fewest_within` negatives. The other part is the area up to the
    threshold of this negative count, without the one at the threshold. The limit is 0 if no
    negative remains.
    """
    m, n = curves.positives.effective, curves.negatives.effective
    # Given the number of negatives, a negative beyond the rates has no influence.
    found = partial_area_influence(curves, max_fpr)
    beyond = (true_positive_rate(curves, max_fpr) - area)[curves.groups] / max_fpr
    negatives = found.negatives + curves.share_within(max_fpr) * beyond
    parts = variances_by_class(curves, Influence(found.positives, negatives))
    bound = greatest_area_variance(area, curves, max_fpr)

    def limit(tail: float) -> Floats:
        fewest = np.clip(fewest_within(n, max_fpr, tail) - 1.0, 0.0, n * max_fpr)
        reached = _mean_height(curves, ratio(fewest, n, 0.0)) * np.minimum(fewest, 1.0)
        stretch = np.maximum(n * max_fpr / (fewest + 1.0), 1.0)
        stretched = np.array([parts[0], parts[1] * stretch])
        errors = summed_errors(curves, stretched, np.array([m, n * max_fpr]))
        variance = np.where(np.isnan(errors.variance), bound, errors.variance)
        given = errors._replace(variance=variance).limits(area, tail)[0]
        low = combined_lower_limit(area, given, reached)
        return np.where(fewest > 0, low, 0.0)

    return limit


def perfect_area_limit(curves: GroupCurves, max_fpr: float, tail: float) -> Floats:
    """Return the lower `partial_area` limit if all positives are above all negatives.

    Let k positives each have r negatives of their own. A positive with the false positive rate u is
    above its r negatives with probability ``(1 - u)**r``, a convex function of u. Given the area A
    (as a share of `max_fpr`), all k positives are therefore above their negatives with probability
    at most ``(A + (1 - A) c)**k``, with ``c = (1 - max_fpr)**r``. The limit is the A where this
    probability is `tail`. The function returns the larger of the limits for two numbers r.
    """
    m, n = curves.positives.effective, curves.negatives.effective
    limits = np.zeros((2, m.size))
    for i, least in enumerate((1.0, np.ceil(2.0 / max_fpr))):
        r = np.maximum(np.floor(ratio(n, m, 1.0)), least)
        k = np.minimum(m, np.floor(n / r))
        within = -np.expm1(r * np.log1p(-max_fpr))  # 1 - c
        reached = np.exp(ratio(np.log(tail), k, -np.inf))
        limits[i] = (reached - 1.0 + within) / within
    return np.asarray(np.clip(limits.max(axis=0), 0.0, 1.0))


def average_precision(curves: GroupCurves) -> Floats:
    """Return each group's average precision, as scikit-learn's `average_precision_score`."""
    found = curves.sums((curves.top - curves.bottom) * _precision(curves))
    return curves.if_defined(np.clip(found, 0.0, 1.0))


def _amounts(curves: GroupCurves) -> tuple[Floats, Floats]:
    groups = curves.groups
    return (
        curves.right * curves.negatives.weight[groups],
        curves.top * curves.positives.weight[groups],
    )


def _precision(curves: GroupCurves) -> Floats:
    false, true = _amounts(curves)
    return ratio(true, false + true, 0.0)


def average_precision_influence(curves: GroupCurves) -> Influence:
    """Return influence values on `average_precision`, with a fixed share of positives."""
    false, true = _amounts(curves)
    classes = curves.negatives, curves.positives
    of_negatives, of_positives = (rows.weight[curves.groups] for rows in classes)
    gained = (curves.top - curves.bottom) * of_positives
    both = (false + true) ** 2

    def in_lower_cells(values: Floats) -> Floats:
        """Sum over the cell and all lower cells in the group."""
        return (ranks_in_groups(curves.starts, values) + values) / 2.0

    positives = ratio(true, false + true, 0.0) + in_lower_cells(ratio(gained * false, both, 0.0))
    negatives = in_lower_cells(ratio(gained * true, both, 0.0))
    return Influence(positives, -negatives * ratio(of_negatives, of_positives, 0.0))


def least_average_precision(curves: GroupCurves) -> Floats:
    """Return each group's lowest average precision if tied positives may differ in score.

    The i-th of k positives in a cell, with T true positives above the cell and F false positives up
    to the cell, has the precision ``(T + i) / (T + i + F)``. With weights, an integral replaces the
    sum; the integral is a lower bound.
    """
    false, true = _amounts(curves)
    above = curves.bottom * curves.positives.weight[curves.groups]
    gained = true - above
    # Rates times totals are whole numbers except for rounding.
    if not curves.is_weighted:
        false, above, gained = np.rint(false), np.rint(above), np.rint(gained)
    lost = false * np.log1p(ratio(gained, false + above, 0.0))
    if not curves.is_weighted:
        # For large numbers, a difference of digammas has a larger error than the integral.
        exact = (gained > 0) & (false > 0) & (false + above + gained < 1 << 20)
        n = (false + above)[exact] + 1.0
        lost[exact] = false[exact] * (digamma(n + gained[exact]) - digamma(n))
    found = ratio(curves.sums(gained - lost), curves.positives.weight, 0.0)
    return curves.if_defined(np.clip(found, 0.0, 1.0))


def greatest_average_precision(curves: GroupCurves) -> Floats:
    """Return an upper bound on each group's average precision if score ranges overlap.

    `curves` have the highest possible scores of positives and the lowest of negatives. With other
    scores, no threshold has a higher precision. No positive is above its highest score. The bound
    is the mean over positives of the highest precision at the thresholds up to the score of the
    positive.
    """
    groups = curves.groups.astype(np.float64)
    # Precisions are at most 1. Therefore, adding the number of the group restarts the running
    # maximum in each group.
    highest = np.maximum.accumulate(_precision(curves) + groups) - groups
    highest += groups * 2.0**-52  # rounding error
    found = curves.sums((curves.top - curves.bottom) * highest)
    return curves.if_defined(np.clip(found, 0.0, 1.0))


# Largest probability that no row is within the rates of a partial AUC. Above this probability, the
# variance is too small on average, and there is no test.
_TAIL = 0.025


def check_comparable(measure: Measure, clusters: Any) -> None:
    """Raise an error for a measure, or for clusters, without a test of the difference.

    In simulations of `Sensitivity` and `Specificity`, tests with variances from influence values
    have error rates up to 22 % instead of 5 %.
    """
    if isinstance(measure, Sensitivity | Specificity):
        if isinstance(measure, Specificity):
            instead = f"PartialAUC(min_tpr={measure.sensitivity:.3g})"
        else:
            instead = f"PartialAUC(max_fpr={1.0 - measure.specificity:.3g})"
        raise ValueError(
            "measure must be a partial AUC or AveragePrecision(), because there is no reliable "
            f"test of the difference of two models for {measure!r}. Pass measure={instead}, or "
            "measure=None to compare AUCs."
        )
    if clusters is not None and not measure.is_auc:
        raise ValueError(
            f"the comparison by {measure!r} is for independent rows; got clusters. Leave out "
            "measure to compare AUCs of clustered rows."
        )


def has_valid_averages(measure: Measure | None) -> bool:
    """Return whether intervals and tests of averages over groups are near their nominal rates.

    The average precision has a bias in each group, which averages keep. The bias does not cancel
    between models whose ROC curves differ in shape: tests of averages over 20 groups err in 12 to
    15 % of runs instead of 5 %.
    """
    return not isinstance(measure, AveragePrecision)


def measure_values(measure: Measure, rows: Rows, counts: Sequence[ScoreCounts]) -> RowValues:
    """Return a measure of the models on the scale from 0 to 1, and influence values of the rows.

    `counts` are those of the rows with each model's scores, by group or without groups.
    """
    codes = rows.codes if view_of(counts[0]).labels is not None else None
    curves = [GroupCurves.of(of_model) for of_model in counts]
    values = []
    for of_curves, scores in zip(curves, rows.scores, strict=True):
        influence = influence_of(measure, of_curves)
        # The segments of the curves are the cells in order of group and score.
        cell, _ = number_cells(scores, codes, len(counts[0]))
        positives, negatives = influence.positives[cell], influence.negatives[cell]
        values.append(np.where(rows.positive, positives, negatives))
    index = np.array([index_of(measure, of_model) for of_model in curves])
    rates = (1.0, 1.0)
    if isinstance(measure, PartialAUC):
        rates = (measure.width, 1.0) if measure.min_tpr is None else (1.0, measure.width)
    few = few_within(measure, curves[0], _TAIL)[0]
    return RowValues(values, index, means_of(rows, values), few, rates)


def bounded_variances(measure: Measure, counts: Sequence[ScoreCounts], index: Floats) -> Floats:
    """Return the variance of the measure by model and group, or an upper bound if it is unknown.

    NaN if the group lacks a class. `index` has the measure's values, on the scale from 0 to 1.
    """
    found = [
        errors_of(measure, GroupCurves.of(of_model), values)
        for of_model, values in zip(counts, index, strict=True)
    ]
    return np.array([of.variance for of in found if isinstance(of, LogitErrors)])
