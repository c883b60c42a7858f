"""Heterogeneity of the true AUCs: tests, standard deviation, and expected range under the null.

References
----------
.. [1] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in nonparametric
   factorial designs. Journal of the American Statistical Association 92(440).
   https://doi.org/10.1080/01621459.1997.10473671
.. [2] DerSimonian, R. and Laird, N. (1986). Meta-analysis in clinical trials. Controlled
   Clinical Trials 7(3). https://doi.org/10.1016/0197-2456(86)90046-2
.. [3] Viechtbauer, W. (2005). Bias and efficiency of meta-analytic variance estimators in the
   random-effects model. Journal of Educational and Behavioral Statistics 30(3).
   https://doi.org/10.3102/10769986030003261
.. [4] Paule, R. C. and Mandel, J. (1982). Consensus values and weighting factors. Journal of
   Research of the National Bureau of Standards 87(5). https://doi.org/10.6028/jres.087.022
.. [5] Viechtbauer, W. (2007). Confidence intervals for the amount of heterogeneity in
   meta-analysis. Statistics in Medicine 26(1). https://doi.org/10.1002/sim.2514
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc._kernel import concordance, count_rows
from skfedauc._words import counted
from skfedauc.counts.moments import ratio
from skfedauc.inference.variances import LEAST_EFFECTIVE, Extremes, Variances
from skfedauc.ranks import sum_of_others

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


# Standard deviation of the true AUCs ---------------------------------------------------


def squared_tau(auc: Floats, unbiased: Floats) -> float:
    """Estimate the variance of the true AUCs without bias; NaN with fewer than two groups.

    The estimate is the variance of the observed AUCs minus the mean of their sampling variances.
    The estimate can be negative.
    """
    if auc.size < 2:
        return float("nan")
    found = float(auc.var(ddof=1) - unbiased.mean())
    # Set rounding error to 0.
    return 0.0 if abs(found) <= 1e-15 else found


# Largest standard deviation of numbers between 0 and 1
LARGEST_TAU = 0.5


def tau_interval(
    auc: Floats, unbiased: Floats, delong: Floats, confidence_level: float
) -> tuple[float, float]:
    """Return confidence limits of the standard deviation of the true AUCs.

    The interval inverts a test. The interval holds the values for which the observed variance of
    the AUCs lies between two quantiles. The variance divided by its mean is approximately a
    chi-square variable divided by its degrees of freedom, by Box's approximation [1]_. The limits
    are NaN with fewer than two groups.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtr

    n_groups = auc.size
    if n_groups < 2:
        return float("nan"), float("nan")
    observed = float(auc.var(ddof=1))

    def probability(tau2: float) -> float:
        """Return the probability that the variance is below the observed variance."""
        sampling = np.where(tau2 + unbiased > 0, unbiased, delong)
        variance = np.maximum(tau2 + sampling, 1e-12)
        squares = (variance**2).sum() * (1 - 2 / n_groups) + (variance.sum() / n_groups) ** 2
        degrees_of_freedom = variance.mean() ** 2 * (n_groups - 1) ** 2 / squares
        return float(chdtr(degrees_of_freedom, degrees_of_freedom * observed / variance.mean()))

    def solved(target: float) -> float:
        if probability(0.0) <= target:
            return 0.0
        if probability(LARGEST_TAU**2) >= target:
            return LARGEST_TAU
        found = brentq(lambda tau2: probability(tau2) - target, 0.0, LARGEST_TAU**2, xtol=1e-14)
        return float(np.sqrt(found))

    tail = (1.0 - confidence_level) / 2.0
    return solved(1.0 - tail), solved(tail)


class MetaAnalysis(NamedTuple):
    """Random-effects mean over groups, and the heterogeneity between groups.

    Attributes
    ----------
    mean, standard_error : float
        Mean of the true values and its standard error.
    tau2 : float
        Variance of the true values, at least 0.
    q, i2 : float
        Cochran's Q, and the share (0 to 1) of the observed variation that sampling error does not
        explain.
    """

    mean: float
    standard_error: float
    tau2: float
    q: float
    i2: float


def moments(auc: Floats, unbiased: Floats) -> MetaAnalysis:
    """Estimate mean and tau2 by moments: observed variance minus mean sampling variance."""
    observed = float(auc.var(ddof=1))
    tau2 = float(np.clip(squared_tau(auc, unbiased), 0.0, LARGEST_TAU**2))
    i2 = min(tau2 / observed, 1.0) if observed > 0 else 0.0
    error = float(np.sqrt(observed / auc.size))
    return MetaAnalysis(float(auc.mean()), error, tau2, float("nan"), i2)


def dersimonian_laird(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Estimate the random-effects mean and tau2 by DerSimonian and Laird's method [2]_."""
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    weight = 1.0 / v
    q = _cochran_q(y, weight)
    excess = q - (y.size - 1)
    tau2 = max(excess * weight.sum() / np.dot(weight, sum_of_others(weight)), 0.0)
    i2 = max(excess / q, 0.0) if q > 0 else 0.0
    weight = 1.0 / (v + tau2)
    return MetaAnalysis(
        float(np.dot(weight, y) / weight.sum()), float(weight.sum() ** -0.5), float(tau2), q, i2
    )


def reml(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Estimate the random-effects mean and tau2 by restricted maximum likelihood [3]_."""
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    tau2 = max(float(y.var(ddof=1) - v.mean()), 0.0)
    for _ in range(10_000):
        weight = 1.0 / (v + tau2)
        mean = np.dot(weight, y) / weight.sum()
        squares = weight**2
        found = np.dot(squares, (y - mean) ** 2 - v) / squares.sum() + 1.0 / weight.sum()
        found = max(float(found), 0.0)
        change, tau2 = abs(found - tau2), found
        if change <= 1e-15 + 1e-12 * tau2:
            break
    return _with_spread(y, v, tau2)


def reml_interval(
    values: ArrayLike, variances: ArrayLike, confidence_level: float
) -> tuple[float, float]:
    """Return limits of tau from the profile of the restricted likelihood [3]_.

    The interval holds all values of tau that the likelihood ratio test does not reject. The
    interval includes the estimate of `reml`, up to LARGEST_TAU.
    """
    from scipy.special import ndtri

    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    estimate = min(reml(y, v).tau2, LARGEST_TAU**2)
    drop = float(ndtri((1.0 + confidence_level) / 2.0)) ** 2 / 2.0
    least = restricted_log_likelihood(y, v, estimate) - drop
    return _crossings(lambda tau2: restricted_log_likelihood(y, v, tau2) - least, estimate)


def restricted_log_likelihood(y: Floats, v: Floats, tau2: float) -> float:
    """Return the logarithm of the density of the values `y` given tau2, except for a constant.

    The density is an integral over the mean with a uniform prior.
    """
    variance = v + tau2
    weight = 1.0 / variance
    excess = _cochran_q(y, weight) + np.log(weight.sum()) + np.log(variance).sum()
    return -float(excess) / 2.0


def paule_mandel(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Estimate the random-effects mean and tau2 by Paule and Mandel's method [4]_.

    The estimate of tau2 equates Cochran's Q with its expectation.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    tau2 = _spread_at(y, v, y.size - 1.0)
    return _with_spread(y, v, tau2)


def paule_mandel_interval(
    values: ArrayLike, variances: ArrayLike, confidence_level: float
) -> tuple[float, float]:
    """Return limits of tau by the Q-profile method: Q equals a chi-square quantile [5]_."""
    from scipy.special import chdtri

    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    tail = (1.0 - confidence_level) / 2.0
    low, high = (_spread_at(y, v, chdtri(y.size - 1, p)) for p in (tail, 1.0 - tail))
    return float(np.sqrt(low)), float(np.sqrt(high))


def _spread_at(y: Floats, v: Floats, q: float) -> float:
    """Return the tau2, from 0 to LARGEST_TAU**2, at which Cochran's Q equals `q`."""
    from scipy.optimize import brentq

    def excess(tau2: float) -> float:
        return _cochran_q(y, 1.0 / (v + tau2)) - q

    if excess(0.0) <= 0:
        return 0.0
    if excess(LARGEST_TAU**2) >= 0:
        return LARGEST_TAU**2
    return float(brentq(excess, 0.0, LARGEST_TAU**2, xtol=1e-14))


def _crossings(function: Callable[[float], float], inside: float) -> tuple[float, float]:
    """Return the tau on either side of tau2 = `inside` at which a function of tau2 becomes 0."""
    from scipy.optimize import brentq

    limits = []
    for end in (0.0, LARGEST_TAU**2):
        if end == inside or function(end) >= 0:
            limits.append(end)
        else:
            limits.append(brentq(function, *sorted((end, inside)), xtol=1e-14))
    return float(np.sqrt(limits[0])), float(np.sqrt(limits[1]))


def _with_spread(y: Floats, v: Floats, tau2: float) -> MetaAnalysis:
    """Return the mean with weights 1 / (v + tau2), with Knapp and Hartung's standard error.

    I2 is tau2 divided by the sum of tau2 and a typical sampling variance.
    """
    weight = 1.0 / (v + tau2)
    mean = float(np.dot(weight, y) / weight.sum())
    error = np.sqrt(np.dot(weight, (y - mean) ** 2) / ((y.size - 1) * weight.sum()))
    fixed = 1.0 / v
    typical = (y.size - 1) * fixed.sum() / np.dot(fixed, sum_of_others(fixed))
    i2 = float(tau2 / (tau2 + typical))
    return MetaAnalysis(mean, float(error), tau2, _cochran_q(y, fixed), i2)


def _cochran_q(values: Floats, weight: Floats) -> float:
    mean = np.dot(weight, values) / weight.sum()
    return float(np.dot(weight, (values - mean) ** 2))


class Spread(NamedTuple):
    """Standard deviation of the true AUCs with limits, the mean, I2 and Cochran's Q."""

    tau: float
    ci_low: float
    ci_high: float
    mean: float
    standard_error: float
    i2: float
    q: float


def tau(variances: Variances) -> float:
    """Return the REML standard deviation of the true AUCs; NaN with fewer than two groups."""
    auc, variance, _ = estimable_aucs(variances)
    if auc.size < 2:
        return float("nan")
    return min(float(np.sqrt(reml(auc, variance).tau2)), LARGEST_TAU)


def spreads(variances: Variances, confidence_level: float) -> dict[str, Spread]:
    """Estimate the standard deviation of the true AUCs by four methods; NaN below two groups."""
    names = "reml", "paule_mandel", "moments", "dersimonian_laird"
    variances.check_independent_groups("heterogeneity")
    auc, variance, kept = estimable_aucs(variances)
    nan = float("nan")
    if auc.size < 2:
        return dict.fromkeys(names, Spread(*[nan] * 7))
    unbiased, delong = variances.unbiased[kept], variances.delong[kept]
    found = (
        (reml(auc, variance), reml_interval(auc, variance, confidence_level)),
        (paule_mandel(auc, variance), paule_mandel_interval(auc, variance, confidence_level)),
        (moments(auc, unbiased), tau_interval(auc, unbiased, delong, confidence_level)),
        (dersimonian_laird(auc, variance), (nan, nan)),
    )
    return {
        name: Spread(
            min(float(np.sqrt(of.tau2)), LARGEST_TAU),
            *limits,
            of.mean,
            of.standard_error,
            of.i2,
            of.q,
        )
        for name, (of, limits) in zip(names, found, strict=True)
    }


def estimable_aucs(variances: Variances) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return AUCs and variances of the groups with two rows of each class, and their mask."""
    kept = variances.estimable & variances.defined
    shared, bounded = variances.shared[kept], variances.bounded[kept]
    return variances.auc[kept], np.where(shared > 0, shared, bounded), kept


# Expected range of equal groups ----------------------------------------------------------

# Least number of rows of the smaller class for which the AUC of a group counts as normal.
_NORMAL_ROWS = 30
# Total of simulated rows, and bounds on the number of simulated sets of groups.
_SIMULATED_ROWS, _LEAST_SETS, _MOST_SETS = 2_000_000, 20, 1_000
_ROWS_AT_ONCE = 1 << 16


def null_difference(variances: Variances, seed: int = 0) -> float:
    """Return the expected largest minus smallest group AUC if all true AUCs are equal.

    The function pools the variance of the placement values over groups. A group's own estimate has
    a downward bias if sampling error makes the group's AUC high. If all groups have at least 30
    rows of each class, the function assumes normal group AUCs. The expected range is then an
    integral. Otherwise, the function simulates groups from the placement values. For clustered
    rows, the function assumes normal AUCs for any number of rows.
    """
    kept = variances.defined
    n_groups = int(kept.sum())
    if n_groups < 2:
        return float("nan")
    variances.check_independent_groups("null_difference")
    # Simulated rows are independent.
    if variances.n_smaller_class[kept].min() < _NORMAL_ROWS and not variances.has_clusters:
        return _simulated_difference(variances, seed)
    shared = variances.shared[kept]
    return mean_range(np.sqrt(np.where(np.isnan(shared), variances.bounded[kept], shared)))


def mean_range(deviations: Floats) -> float:
    """Return the mean range of independent normal variables with mean 0."""
    from scipy.special import log_ndtr

    sizes, counts = np.unique(deviations, return_counts=True)
    if sizes[-1] == 0:
        return 0.0
    x = np.linspace(-10.0, 10.0, 2001) * sizes[-1]
    below, above = np.zeros((2, x.size))
    # P(largest < x) and P(smallest > x) are products over the variables.
    step = max((1 << 21) // x.size, 1)
    for a in range(0, sizes.size, step):
        with np.errstate(divide="ignore"):
            scaled = x[:, None] / np.maximum(sizes[a : a + step], 1e-300)
        below += log_ndtr(scaled) @ counts[a : a + step]
        above += log_ndtr(-scaled) @ counts[a : a + step]
    inside = 1.0 - np.exp(below) - np.exp(above)
    return float(np.trapezoid(inside, x))


def _simulated_difference(variances: Variances, seed: int) -> float:
    """Return `null_difference` by simulation of the group AUCs.

    The simulation draws the placement values of positives from the positives of all groups. The
    placement values of negatives are uniform on [0, 1]. For small groups, the simulation draws rows
    one by one. For large groups, the simulation draws the number of rows at each placement value.
    """
    rng = np.random.default_rng(seed)
    kept = variances.defined
    n_positives, n_negatives = (
        np.rint(rows.effective[kept]).astype(np.int64)
        for rows in (variances.positives, variances.negatives)
    )
    placements, shares = _placement_distribution(variances)
    is_large = n_positives + n_negatives > 2 * placements.size
    small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
    n_rows = int((n_positives + n_negatives)[small].sum())
    n_drawn = n_rows + 2 * placements.size * large.size
    n_sets = int(np.clip(_SIMULATED_ROWS // n_drawn, _LEAST_SETS, _MOST_SETS))
    auc = np.empty((n_sets, n_positives.size))
    for g in large:
        auc[:, g] = _aucs_by_numbers(
            rng, placements, shares, int(n_positives[g]), int(n_negatives[g]), n_sets
        )
    up_to = np.cumsum(shares)
    of_small = n_positives[small], n_negatives[small]
    group = np.arange(small.size)
    of_set = np.concatenate([np.repeat(group, n.astype(np.intp)) for n in of_small])
    positive = np.arange(n_rows) < of_small[0].sum()
    # Count the groups of several sets in one call, as separate groups.
    n_at_once = max(_ROWS_AT_ONCE // max(n_rows, 1), 1)
    for start in range(0, n_sets if small.size else 0, n_at_once):
        n = min(n_at_once, n_sets - start)
        scores = rng.random((n, n_rows))
        place = np.searchsorted(up_to, scores[:, positive] * up_to[-1], side="right")
        scores[:, positive] = placements[np.minimum(place, placements.size - 1)]
        groups = np.add.outer(small.size * np.arange(n), of_set)
        found = concordance(
            count_rows(scores.ravel(), np.tile(positive, n), groups.ravel(), n * small.size)
        )
        u2 = found.u2.reshape(n, small.size)
        auc[start : start + n, small] = u2 / (2.0 * of_small[0] * of_small[1])
    return float(np.ptp(auc, axis=1).mean())


# Largest number of distinct placement values. With more values, the simulation merges neighboring
# values.
_MOST_PLACEMENTS = 1024


def _placement_distribution(variances: Variances) -> tuple[Floats, Floats]:
    """Return the sorted placement values of the positives of all groups, with their shares."""
    found, weights = variances.placements_of_positives
    placements, place = np.unique(found, return_inverse=True)
    shares: Floats = np.bincount(place, weights / weights.sum()).astype(np.float64)
    if placements.size > _MOST_PLACEMENTS:
        part = np.minimum(np.cumsum(shares) * _MOST_PLACEMENTS, _MOST_PLACEMENTS - 1).astype(int)
        first = np.flatnonzero(np.diff(part, prepend=-1))
        of_part = np.add.reduceat(shares, first)
        placements = np.add.reduceat(shares * placements, first) / of_part
        shares = of_part
    return placements, shares


def _aucs_by_numbers(
    rng: np.random.Generator, placements: Floats, shares: Floats, m: int, n: int, n_sets: int
) -> Floats:
    """Draw sets of m positives and n negatives by placement value, and return their AUCs."""
    # Negatives between two placement values are below the larger value.
    gaps = np.diff(placements, prepend=0.0, append=1.0)
    positives = rng.multinomial(m, shares, n_sets)
    below = np.cumsum(rng.multinomial(n, np.maximum(gaps, 0.0) / gaps.sum(), n_sets), axis=1)
    auc: Floats = (positives / m * (below[:, :-1] / n)).sum(axis=1)
    return auc
