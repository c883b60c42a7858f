"""Test that all groups have the same true AUC.

References
----------
.. [1] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in nonparametric
   factorial designs. Journal of the American Statistical Association 92(440).
   https://doi.org/10.1080/01621459.1997.10473671
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted
from skfedauc.counts.moments import ratio
from skfedauc.inference.variances import LEAST_EFFECTIVE, Extremes, Variances

Floats = NDArray[np.float64]

# The test for many tiny groups needs at least MANY_GROUPS groups, with fewer than TINY_CLASS rows
# of the smaller class on average.
MANY_GROUPS = 100
TINY_CLASS = 10.0


@dataclasses.dataclass(frozen=True, repr=False)
class EqualGroupsTest:
    """Result of the test that all groups have the same true AUC.

    Attributes
    ----------
    statistic, pvalue : float
        Test statistic and p value.
    method : str
        Form of the test, or the reason for the lack of a result.
    degrees_of_freedom : float
        Degrees of freedom of the numerator, which are the mean of the statistic under the null
        hypothesis; NaN for the form for many tiny groups.
    n_groups, n_left_out : int
        Number of tested groups, and number of groups left out because they have fewer than two
        positives or negatives (for weighted rows, an effective sample size below 1.5).
    """

    statistic: float
    pvalue: float
    method: str
    degrees_of_freedom: float
    n_groups: int
    n_left_out: int

    def __repr__(self) -> str:
        left_out = f", {self.n_left_out:,} left out" if self.n_left_out else ""
        return (
            f"EqualGroupsTest(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}): "
            f"{self.method}, {counted(self.n_groups, 'group')}{left_out}"
        )


def equal_groups_test(extremes: Extremes) -> EqualGroupsTest:
    """Test that all groups have the same true AUC; group sizes determine the form of the test.

    For binned scores, the test uses those AUCs within the certain intervals that differ least. The
    test uses the variances of the binned scores or of an extreme, whichever gives the largest p
    value.
    """
    given = extremes.given
    given.check_independent_groups("test_equal_groups", "Use test_difference() instead.")
    if extremes.lowest is given:
        return _equal_groups_test(given, given.auc)
    kept = given.estimable & given.defined
    low, high = (end.auc[kept] for end in (extremes.lowest, extremes.highest))
    auc = given.auc.copy()
    auc[kept] = nearest_to_equal(low, high, _size_weights(given)[kept])
    found = [_equal_groups_test(variances, auc) for variances in extremes]
    largest = max(found, key=lambda test: -1.0 if np.isnan(test.pvalue) else test.pvalue)
    if largest.n_groups < 2:
        return largest
    method = f"{largest.method}; binned scores: AUCs as nearly equal as possible"
    if low.max() <= high.min():
        # Rounding error must not change the result if all AUCs can be equal.
        return dataclasses.replace(largest, statistic=0.0, pvalue=1.0, method=method)
    return dataclasses.replace(largest, method=method)


def _size_weights(variances: Variances) -> Floats:
    """Return the weights of the groups in the test of equal AUCs."""
    positives, negatives = variances.positives.effective, variances.negatives.effective
    return ratio(positives * negatives, positives + negatives, 0.0)


def nearest_to_equal(low: Floats, high: Floats, weight: Floats) -> Floats:
    """Return values between `low` and `high` with the smallest weighted variance.

    Each value is the number in its interval that is nearest to the weighted mean of all values. The
    weighted mean minus a trial value decreases with the trial value, so bisection finds the mean.
    """
    if low.size == 0:
        return low
    least, most = float(low.min()), float(high.max())
    for _ in range(60):
        center = (least + most) / 2.0
        is_less = np.average(np.clip(center, low, high), weights=weight) < center
        least, most = (least, center) if is_less else (center, most)
    found: Floats = np.clip((least + most) / 2.0, low, high)
    return found


def _equal_groups_test(variances: Variances, aucs: Floats) -> EqualGroupsTest:
    kept = variances.estimable & variances.defined
    auc, unbiased = aucs[kept], variances.unbiased[kept]
    n_groups, n_left_out = int(kept.sum()), int((~kept).sum())
    if n_groups < 2:
        return EqualGroupsTest(
            np.nan,
            np.nan,
            f"needs two groups with two rows ({LEAST_EFFECTIVE} effective rows) of each class",
            np.nan,
            n_groups,
            n_left_out,
        )
    weight = _size_weights(variances)[kept]
    tiny = n_groups >= MANY_GROUPS and variances.n_smaller_class[kept].mean() < TINY_CLASS
    if tiny:
        statistic, pvalue = _many_tiny_groups(auc, unbiased, weight)
        method, degrees_of_freedom = "sum over many tiny groups, normal", np.nan
    else:
        of_rows = variances.delong[kept] if variances.weighted else unbiased
        # Weighted rows: the variance is a mean with squared weights, which are more unequal than
        # the weights.
        of_variance = variances.degrees_of_freedom[kept] / (2.0 if variances.weighted else 1.0)
        statistic, degrees_of_freedom, pvalue = _anova_type(
            auc, of_rows, variances.delong[kept], weight, np.maximum(of_variance, 1.0)
        )
        method = "ANOVA-type statistic, Box's approximation"
        if np.isnan(pvalue):
            method = "no variation within groups to judge the difference by"
    return EqualGroupsTest(statistic, pvalue, method, degrees_of_freedom, n_groups, n_left_out)


def _anova_type(
    auc: Floats, variance: Floats, delong: Floats, weight: Floats, of_variance: Floats
) -> tuple[float, float, float]:
    """Return statistic, degrees of freedom and p value of the ANOVA-type test [1]_.

    The weighted variance of the AUCs, divided by its estimated mean, has approximately an F
    distribution. Box's approximation gives the numerator degrees of freedom. Satterthwaite's
    approximation gives the denominator degrees of freedom, from the degrees of freedom of each
    group's variance, `of_variance`.
    """
    from scipy.special import fdtrc

    total = weight.sum()
    mean = np.dot(weight, auc) / total
    between = float(np.dot(weight, (auc - mean) ** 2))
    factor = weight * (1 - weight / total)

    def moments(variance: Floats) -> tuple[float, float, float]:
        spread = weight * variance
        expected = float(np.dot(factor, variance))
        squares = (spread**2 * (1 - 2 * weight / total)).sum()
        squares += np.dot(weight, spread) ** 2 / total**2
        of_expected = float(((factor * variance) ** 2 / of_variance).sum())
        return expected, 2.0 * float(squares), of_expected

    expected, squares, of_expected = moments(variance)
    if expected <= 0:
        # Unbiased variances can sum to 0 or less; DeLong's variances sum to 0 only without any
        # variation.
        expected, squares, of_expected = moments(delong)
    if expected <= 0:
        # Without any variation, AUCs are equal, or no test of their difference exists.
        return (0.0, 1.0, 1.0) if between == 0 else (np.nan, np.nan, np.nan)
    degrees_of_freedom = 2 * expected**2 / squares
    ratio = between / expected
    pvalue = float(fdtrc(degrees_of_freedom, expected**2 / of_expected, ratio))
    return degrees_of_freedom * ratio, degrees_of_freedom, pvalue


def _many_tiny_groups(auc: Floats, unbiased: Floats, weight: Floats) -> tuple[float, float]:
    """Return an approximately normal statistic and its one-sided p value.

    The statistic is a sum with one term per group. Under the null hypothesis each term has mean 0.
    """
    from scipy.special import ndtr

    share = weight / weight.sum()
    mean = np.dot(share, auc)
    terms = share * ((auc - mean) ** 2 - (1 - share) * unbiased)
    norm = np.sqrt((terms**2).sum())
    if norm == 0:
        return 0.0, 1.0
    statistic = float(terms.sum() / norm)
    return statistic, float(ndtr(-statistic))
