"""Groups compared two by two, or each with the rest, and p values adjusted for their number.

References
----------
.. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
   Journal of Statistics 6(2).
.. [2] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of
   the Royal Statistical Society B 57(1). https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.intervals import normal_quantile
from skfedauc.inference.variances import Variances, ratio, sum_of_others

Floats = NDArray[np.float64]

# Beyond this many comparisons the false discovery rate is controlled, not the family error.
_MOST_OF_A_FAMILY = 50


class Comparisons(NamedTuple):
    """AUCs compared on the logit scale.

    Attributes
    ----------
    auc, other : ndarray of float64, shape (n_comparisons,)
        The two AUCs.
    logit_difference, ci_low, ci_high : ndarray of float64, shape (n_comparisons,)
        Difference of their logits, with limits that hold for all comparisons together.
    statistic, pvalue, pvalue_adjusted : ndarray of float64, shape (n_comparisons,)
        NaN where a group has fewer than two rows of a class.
    adjustment : str
    """

    auc: Floats
    other: Floats
    logit_difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    adjustment: str


def with_rest(variances: Variances, level: float) -> Comparisons:
    """Compare each group with a weighted average of the AUCs of the other groups.

    Group g has the weight m_g n_g / (m_g + n_g), with m_g positives and n_g negatives (effective
    numbers of weighted rows): that of inverse variances where the placements of both classes vary
    alike. The weights depend on the numbers of rows only; so they are constants in the variance
    of the average, sum w^2 v / (sum w)^2. Each v is the larger one of the group's own variance and
    of that from pooled variances of placements, since the own one is too small where an AUC is
    large by sampling error. The statistic is compared with the normal distribution.
    """
    from scipy.special import ndtr

    if variances.auc.size == 2:
        return _from_both_sides(with_groups(variances, np.array([0]), np.array([1]), level))
    positives, negatives = variances.positives.effective, variances.negatives.effective
    weight = np.where(variances.defined, ratio(positives * negatives, positives + negatives), 0.0)
    auc = np.where(variances.defined, variances.auc, 0.0)
    variance = np.where(variances.defined, np.fmax(variances.safe, variances.shared), 0.0)
    of_others = sum_of_others(weight)
    rest = ratio(sum_of_others(weight * auc), of_others)
    variance_of_rest = ratio(sum_of_others(weight**2 * variance), of_others**2)
    # Half a pair on either side, as in each group, keeps the logit finite.
    pairs = sum_of_others(positives * negatives)
    drawn_rest, drawn = (pairs * rest + 0.5) / (pairs + 1.0), variances.drawn_auc

    allowed = variances.estimable & (of_others > 0)
    n_comparisons = max(int(allowed.sum()), 1)
    difference = np.where(allowed, _logit(drawn) - _logit(drawn_rest), np.nan)
    error = np.sqrt(
        variance / (drawn * (1.0 - drawn)) ** 2
        + variance_of_rest / (drawn_rest * (1.0 - drawn_rest)) ** 2
    )
    statistic = difference / error
    pvalue = 2.0 * ndtr(-np.abs(statistic))
    reach = normal_quantile((1.0 - level ** (1.0 / n_comparisons)) / 2.0) * error
    pvalue_adjusted, adjustment = adjusted(pvalue)
    return Comparisons(
        variances.auc,
        rest,
        difference,
        difference - reach,
        difference + reach,
        statistic,
        pvalue,
        pvalue_adjusted,
        adjustment,
    )


def with_groups(
    variances: Variances, first: NDArray[np.intp], second: NDArray[np.intp], level: float
) -> Comparisons:
    """Compare the first of each two groups with the second."""
    auc, logits = variances.auc, _of_groups(variances)
    allowed = variances.estimable[first] & variances.estimable[second] & (first != second)
    one, other = (_Logits(*(part[i] for part in logits)) for i in (first, second))
    return _compared(auc[first], one, auc[second], other, allowed, level)


def _from_both_sides(one: Comparisons) -> Comparisons:
    """One comparison of two groups, and the same of the second with the first."""

    def both(first: Floats, second: Floats) -> Floats:
        return np.concatenate([first, second])

    return Comparisons(
        both(one.auc, one.other),
        both(one.other, one.auc),
        both(one.logit_difference, -one.logit_difference),
        both(one.ci_low, -one.ci_high),
        both(one.ci_high, -one.ci_low),
        both(one.statistic, -one.statistic),
        both(one.pvalue, one.pvalue),
        both(one.pvalue_adjusted, one.pvalue_adjusted),
        one.adjustment,
    )


class _Logits(NamedTuple):
    """Logits with their variances, and the degrees of freedom of these."""

    value: Floats
    variance: Floats
    freedom: Floats


def _logit(auc: Floats) -> Floats:
    return np.log(auc / (1.0 - auc))


def _of_groups(variances: Variances) -> _Logits:
    """Of AUCs with half a pair on either side, so that perfect separation has one, too."""
    drawn = variances.drawn_auc
    variance = variances.safe / (drawn * (1.0 - drawn)) ** 2
    return _Logits(_logit(drawn), variance, variances.freedom)


def _compared(
    auc: Floats,
    one: _Logits,
    other_auc: Floats,
    other: _Logits,
    allowed: NDArray[np.bool_],
    level: float,
) -> Comparisons:
    from scipy.special import stdtr, stdtrit

    n_comparisons = max(int(allowed.sum()), 1)
    difference = np.where(allowed, one.value - other.value, np.nan)
    variance = np.where(allowed, one.variance + other.variance, np.nan)
    error = np.sqrt(variance)
    statistic = difference / error
    # Welch and Satterthwaite's, as in a t test of unequal variances
    squares = one.variance**2 / one.freedom + other.variance**2 / other.freedom
    freedom = variance**2 / squares
    pvalue = 2.0 * stdtr(freedom, -np.abs(statistic))
    reach = -stdtrit(freedom, (1.0 - level ** (1.0 / n_comparisons)) / 2.0) * error
    pvalue_adjusted, adjustment = adjusted(pvalue)
    return Comparisons(
        auc,
        other_auc,
        difference,
        difference - reach,
        difference + reach,
        statistic,
        pvalue,
        pvalue_adjusted,
        adjustment,
    )


def adjusted(pvalues: Floats) -> tuple[Floats, str]:
    """P values adjusted for the number of them that are not NaN, and after whom [1]_, [2]_."""
    from scipy.stats import false_discovery_control

    tested = ~np.isnan(pvalues)
    is_family = tested.sum() <= _MOST_OF_A_FAMILY
    result = pvalues.copy()
    result[tested] = (holm if is_family else false_discovery_control)(pvalues[tested])
    return result, "Holm" if is_family else "Benjamini-Hochberg"


def holm(pvalues: ArrayLike) -> Floats:
    """P values adjusted so that all together err as often as one [1]_; scipy has no function."""
    p = np.asarray(pvalues, np.float64)
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted
