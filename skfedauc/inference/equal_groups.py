"""Test that all groups have the same true AUC, see `EqualGroupsTest`."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import fdtrc, ndtr

from skfedauc._words import counted
from skfedauc.counts.moments import Floats
from skfedauc.inference.differences import Result, compare_pairs
from skfedauc.inference.intervals import newcombe_variance
from skfedauc.inference.row_effects import LEAST_EFFECTIVE
from skfedauc.inference.variances import Extremes, Variances

# The test for many tiny groups needs at least MANY_GROUPS groups, with fewer than TINY_CLASS rows
# of the smaller class on average. Groups beside a larger one are small if they have fewer than
# SMALL_CLASSES such rows divided by the number of groups: errors of more variances cancel.
MANY_GROUPS, TINY_CLASS, SMALL_CLASSES = 100, 10.0, 100.0


@dataclasses.dataclass(frozen=True, repr=False)
class EqualGroupsTest(Result):
    """Result of testing that all groups have the same true AUC; it has no estimate.

    Attributes
    ----------
    statistic, pvalue : float
        Test statistic and p value; for two groups, those of their difference.
    method : str
        The test's form, or why there is no result.
    degrees_of_freedom : float
        Degrees of freedom of the numerator, which are the mean of the statistic under the null
        hypothesis; NaN for the forms for two groups and for many tiny groups.
    n_groups, n_left_out : int
        How many groups are tested, and how many are left out because they have fewer than two
        positives or negatives (for weighted rows, an effective sample size below 1.5).
    """

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
    """Test that all groups have the same true AUC; group sizes determine the test's form.

    For binned scores, the AUCs are those within the certain intervals that differ least, with the
    variances of the binned scores or of an extreme, whichever gives the largest p value.
    """
    given = extremes.given
    given.check_independent_groups("test_equal_groups", "Use test_difference() instead.")
    kept = given.estimable & given.defined
    if kept.sum() == 2:
        first, second = np.flatnonzero(kept)[:, None]
        pair = compare_pairs(extremes, first, second, confidence_level=0.95)
        of_test = "difference of two groups", np.nan, 2, kept.size - 2
        statistic, pvalue = abs(float(pair.statistic[0])), float(pair.pvalue[0])
        return EqualGroupsTest(*of_test, statistic=statistic, pvalue=pvalue)
    if not extremes.is_binned:
        return _equal_groups_test(given, given.auc)
    low, high = (end.auc[kept] for end in extremes[1:])
    auc = given.auc.copy()
    auc[kept] = nearest_to_equal(low, high, given.size_weights[kept])
    found = [_equal_groups_test(variances, auc) for variances in extremes]
    largest = max(found, key=lambda test: -1.0 if np.isnan(test.pvalue) else test.pvalue)
    if largest.n_groups < 2:
        return largest
    method = f"{largest.method}; binned scores: AUCs as nearly equal as possible"
    if low.max() <= high.min():
        # Rounding error must not change the result if all AUCs can be equal.
        return dataclasses.replace(largest, statistic=0.0, pvalue=1.0, method=method)
    return dataclasses.replace(largest, method=method)


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
    return np.asarray(np.clip((least + most) / 2.0, low, high))


def _equal_groups_test(variances: Variances, aucs: Floats) -> EqualGroupsTest:
    kept = variances.estimable & variances.defined
    sizes = int(kept.sum()), int((~kept).sum())
    if sizes[0] < 2:
        reason = f"needs two groups with two rows ({LEAST_EFFECTIVE} effective rows) of each class"
        return EqualGroupsTest(reason, np.nan, *sizes)
    auc, weight = aucs[kept], variances.size_weights[kept]
    unbiased, delong = variances.unbiased[kept], variances.delong[kept]
    if sizes[0] >= MANY_GROUPS and variances.n_pairs[kept].mean() < TINY_CLASS:
        # A sum with one term per group, whose mean is 0 under the null hypothesis
        share = weight / weight.sum()
        mean = (share * auc).sum()
        terms = share * ((auc - mean) ** 2 - (1 - share) * unbiased)
        norm = np.sqrt((terms**2).sum())
        statistic = 0.0 if norm == 0 else float(terms.sum() / norm)
        pvalue = 1.0 if norm == 0 else float(ndtr(-statistic))
        of_test = "sum over many tiny groups, normal", np.nan, *sizes
        return EqualGroupsTest(*of_test, statistic=statistic, pvalue=pvalue)
    # Weighted rows: the variance is a mean with squared weights, which are more unequal than the
    # weights.
    of_variance = variances.degrees_of_freedom[kept] / (2.0 if variances.weighted else 1.0)
    of_variance = np.maximum(of_variance, 1.0)
    own = delong if variances.weighted else unbiased
    # The variance of a small group beside a larger one is often far too small by chance. Newcombe's
    # (2006) for equal true AUCs is a lower bound.
    n_pairs, true = variances.n_pairs[kept], (weight * auc).sum() / weight.sum()
    model = newcombe_variance(true, variances.once[kept], variances.often[kept])
    is_small = n_pairs < min(SMALL_CLASSES / sizes[0], n_pairs.max() / 2.0)
    own = np.where(is_small, np.fmax(own, model), own)
    tested = _anova_type(auc, own, weight, of_variance)
    # Unbiased variances can sum to 0 or less; DeLong's variances only without any variation.
    tested = tested or _anova_type(auc, delong, weight, of_variance)
    method = "ANOVA-type statistic, Box's approximation"
    if tested is None and np.ptp(auc) == 0:
        tested = 0.0, 1.0, 1.0
    if tested is None:
        method = "no variation within groups to judge the difference by"
        tested = np.nan, np.nan, np.nan
    statistic, degrees_of_freedom, pvalue = tested
    of_test = method, degrees_of_freedom, *sizes
    return EqualGroupsTest(*of_test, statistic=statistic, pvalue=pvalue)


def _anova_type(
    auc: Floats, variance: Floats, weight: Floats, of_variance: Floats
) -> tuple[float, float, float] | None:
    """Return statistic, degrees of freedom and p value; None without variation.

    By Brunner et al. (1997): the weighted variance of the AUCs, divided by its estimated mean, has
    approximately an F distribution. Box's approximation gives the numerator degrees of freedom, and
    Satterthwaite's the denominator degrees of freedom, from those of each group's variance,
    `of_variance`.
    """
    total = weight.sum()
    between = float((weight * (auc - (weight * auc).sum() / total) ** 2).sum())
    factor, spread = weight * (1 - weight / total), weight * variance
    expected = float((factor * variance).sum())
    if expected <= 0:
        return None
    squares = (spread**2 * (1 - 2 * weight / total)).sum() + (weight * spread).sum() ** 2 / total**2
    of_expected = float(((factor * variance) ** 2 / of_variance).sum())
    degrees_of_freedom = expected**2 / float(squares)
    pvalue = float(fdtrc(degrees_of_freedom, expected**2 / of_expected, between / expected))
    return degrees_of_freedom * between / expected, degrees_of_freedom, pvalue
