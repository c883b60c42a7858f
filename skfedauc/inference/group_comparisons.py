"""Comparisons of each group with the other groups, and p values adjusted for multiple tests.

References
----------
.. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
   Journal of Statistics 6(2).
.. [2] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of
   the Royal Statistical Society B 57(1). https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.intervals import AUCSpread, spread_of
from skfedauc.inference.pairwise import Comparisons, Spreads, all_pairs, compare, sidak
from skfedauc.inference.variances import Extremes, Variances
from skfedauc.ranks import sum_of_others

Floats = NDArray[np.float64]

# Largest number of comparisons with control of the family-wise error rate. For more comparisons,
# `adjusted` controls the false discovery rate.
_MOST_OF_A_FAMILY = 50


def with_rest(extremes: Extremes, confidence_level: float) -> Comparisons:
    """Compare each group with a weighted average of the AUCs of the other groups.

    Group g has the weight m_g n_g / (m_g + n_g), with m_g positives and n_g negatives (effective
    sample sizes for weighted rows). The weights are inverse-variance weights if the placement
    values of both classes have equal variances. The weights w depend on the numbers of rows only.
    The weights are therefore constants in the variance of the average, sum w^2 v / (sum w)^2. The
    variance v of each AUC is the larger of two estimates: the group's own variance and the variance
    from pooled placement values. The group's own variance has a downward bias if sampling error
    makes the group's AUC high. Intervals and p values are simultaneous (Sidak).
    """
    given = extremes.given
    if given.auc.size == 2:
        return _from_both_sides(all_pairs(extremes, np.array([0]), np.array([1]), confidence_level))
    given.check_independent_groups(
        "compare_groups('rest')", "Compare all pairs of groups instead: compare_groups()."
    )
    spread, rest = lowest = highest = _with_average_of_others(given, given.shared)
    if extremes.lowest is not given:
        # The groups can be at different extremes, so use the larger of the pooled variances.
        shared = np.fmax(extremes.lowest.shared, extremes.highest.shared)
        lowest = _with_average_of_others(extremes.lowest, shared)
        highest = _with_average_of_others(extremes.highest, shared)
    tested = given.estimable & (rest.n_smaller_class > 0)
    deviates, simultaneous = sidak(confidence_level, int(tested.sum()))
    return compare(
        (spread.auc, Spreads(lowest[0], highest[0])),
        (rest.auc, Spreads(lowest[1], highest[1])),
        tested,
        deviates,
        lambda _, ends: (simultaneous(ends), "Sidak"),
    )


def _with_average_of_others(variances: Variances, shared: Floats) -> tuple[AUCSpread, AUCSpread]:
    """Return the AUCs of the groups, and for each group the average of the others' AUCs.

    `shared` is the variance of each group's AUC from pooled placement values.
    """
    positives, negatives = variances.positives.effective, variances.negatives.effective
    weight = np.where(variances.defined, ratio(positives * negatives, positives + negatives), 0.0)
    of_others = sum_of_others(weight)
    spread = spread_of(variances)
    spread = spread._replace(variance=np.fmax(spread.variance, shared))
    counted_parts = np.where(variances.defined, spread.variance, 0.0) * weight**2

    def average(values: Floats, power: int) -> Floats:
        counted = np.where(variances.defined, values, 0.0) * weight**power
        return ratio(sum_of_others(counted), of_others**power)

    freedom = ratio(
        sum_of_others(counted_parts) ** 2,
        sum_of_others(counted_parts**2 / variances.interval_freedom),
        np.inf,
    )
    # An average of AUCs of 1 (or of 0) is exactly 1 (or 0); remove rounding error.
    auc = average(spread.auc, 1)
    auc = np.where(np.abs(auc - 0.5) > 0.5 - 1e-12, np.round(auc), auc)
    rest = AUCSpread(
        auc,
        average(spread.variance, 2),
        # The probability that all other observed AUCs are 1 is at most (true average) ** (sum of
        # weights).
        sum_of_others(np.minimum(weight, variances.n_smaller_class)),
        average(spread.once, 2),
        average(spread.often, 2),
        freedom,
    )
    return spread, rest


def _from_both_sides(one: Comparisons) -> Comparisons:
    """Return a comparison of two groups together with its reverse."""

    def both(first: Floats, second: Floats) -> Floats:
        return np.concatenate([first, second])

    return Comparisons(
        both(one.auc, one.other),
        both(one.other, one.auc),
        both(one.ci_low, -one.ci_high),
        both(one.ci_high, -one.ci_low),
        both(one.simultaneous_low, -one.simultaneous_high),
        both(one.simultaneous_high, -one.simultaneous_low),
        both(one.statistic, -one.statistic),
        both(one.pvalue, one.pvalue),
        both(one.pvalue_adjusted, one.pvalue_adjusted),
        one.adjustment,
    )


def adjusted(pvalues: Floats) -> tuple[Floats, str]:
    """Return adjusted p values, ignoring NaN, and the name of the method [1]_, [2]_."""
    from scipy.stats import false_discovery_control

    tested = ~np.isnan(pvalues)
    is_family = tested.sum() <= _MOST_OF_A_FAMILY
    result = pvalues.copy()
    result[tested] = (holm if is_family else false_discovery_control)(pvalues[tested])
    return result, "Holm" if is_family else "Benjamini-Hochberg"


def holm(pvalues: ArrayLike) -> Floats:
    """Return p values adjusted by Holm's method [1]_, which scipy does not have."""
    p = np.asarray(pvalues, np.float64)
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
