"""How much the true AUCs of groups differ: tests, spread, and what chance alone would show.

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
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc._paircounts import count_rows, tally
from skfedauc._validation import counted
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]

# The form of the test for many tiny groups is taken from this many groups on, if their
# smaller class has fewer rows than this on average.
MANY_GROUPS = 100
TINY_CLASS = 10.0


@dataclasses.dataclass(frozen=True, repr=False)
class EqualGroupsTest:
    """Result of the test that all groups have the same true AUC.

    Attributes
    ----------
    statistic, pvalue : float
    method : str
        Which form of the test was taken.
    degrees_of_freedom : float
        Of the chi-square distribution; NaN for the form for many tiny groups.
    n_groups, n_left_out : int
        Groups that were tested, and groups with fewer than two positives or negatives.
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


def equal_groups_test(variances: Variances) -> EqualGroupsTest:
    """Test that all groups have the same true AUC, each form as its size allows."""
    kept = variances.estimable & variances.defined
    auc, unbiased = variances.auc[kept], variances.unbiased[kept]
    positives, negatives = (
        rows.effective[kept] for rows in (variances.positives, variances.negatives)
    )
    n_groups, n_left_out = int(kept.sum()), int((~kept).sum())
    if n_groups < 2:
        return EqualGroupsTest(
            np.nan,
            np.nan,
            "needs two groups with two rows of each class",
            np.nan,
            n_groups,
            n_left_out,
        )
    weight = positives * negatives / (positives + negatives)
    tiny = n_groups >= MANY_GROUPS and variances.fewest[kept].mean() < TINY_CLASS
    if tiny:
        statistic, pvalue = _many_tiny_groups(auc, unbiased, weight)
        method, freedom = "sum over many tiny groups, normal", np.nan
    else:
        statistic, freedom, pvalue = _anova_type(auc, unbiased, variances.delong[kept], weight)
        method = "ANOVA-type statistic, Box's approximation"
        if np.isnan(pvalue):
            method = "no variation within groups to judge the difference by"
    return EqualGroupsTest(statistic, pvalue, method, freedom, n_groups, n_left_out)


def _anova_type(
    auc: Floats, unbiased: Floats, delong: Floats, weight: Floats
) -> tuple[float, float, float]:
    """Statistic, degrees of freedom and p value of the ANOVA-type test [1]_."""
    from scipy.special import chdtrc

    total = weight.sum()
    mean = np.dot(weight, auc) / total
    between = float(np.dot(weight, (auc - mean) ** 2))

    def moments(variance: Floats) -> tuple[float, float]:
        spread = weight * variance
        expected = float((spread * (1 - weight / total)).sum())
        squares = (spread**2 * (1 - 2 * weight / total)).sum()
        squares += np.dot(weight, spread) ** 2 / total**2
        return expected, 2.0 * float(squares)

    expected, variance = moments(unbiased)
    if expected <= 0:
        # Unbiased variances may add up to nothing; DeLong's do only without any variation.
        expected, variance = moments(delong)
    if expected <= 0:
        # Without any variation: the same AUCs, or no scale on which to judge their difference
        return (0.0, 1.0, 1.0) if between == 0 else (np.nan, np.nan, np.nan)
    freedom = 2 * expected**2 / variance
    statistic = freedom * between / expected
    return statistic, freedom, float(chdtrc(freedom, statistic))


def _many_tiny_groups(auc: Floats, unbiased: Floats, weight: Floats) -> tuple[float, float]:
    """Statistic and one-sided p value: each group adds a term that is 0 on average."""
    from scipy.special import ndtr

    share = weight / weight.sum()
    mean = np.dot(share, auc)
    terms = share * ((auc - mean) ** 2 - (1 - share) * unbiased)
    norm = np.sqrt((terms**2).sum())
    if norm == 0:
        return 0.0, 1.0
    statistic = float(terms.sum() / norm)
    return statistic, float(ndtr(-statistic))


# Spread of the true AUCs ---------------------------------------------------------------


def squared_tau(auc: Floats, unbiased: Floats) -> float:
    """Variance of the true AUCs: that of the observed ones less what their noise makes.

    Unbiased, so that it may be below 0. NaN with fewer than two groups.
    """
    if auc.size < 2:
        return float("nan")
    found = float(auc.var(ddof=1) - unbiased.mean())
    # Rounding is not spread.
    return found if abs(found) > 1e-15 else 0.0


# The largest standard deviation that numbers between 0 and 1 can have.
LARGEST_TAU = 0.5


def tau_interval(
    auc: Floats, unbiased: Floats, delong: Floats, level: float
) -> tuple[float, float]:
    """Limits of the standard deviation of the true AUCs.

    Those values with which the observed variance of the AUCs is neither too large nor too small:
    divided by its mean it is nearly a chi-square variable over its degrees of freedom, by Box's
    approximation [1]_. NaN with fewer than two groups.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtr

    n_groups = auc.size
    if n_groups < 2:
        return float("nan"), float("nan")
    observed = float(auc.var(ddof=1))

    def probability(tau2: float) -> float:
        """Probability of a smaller variance than the observed one."""
        noise = np.where(tau2 + unbiased > 0, unbiased, delong)
        variance = np.maximum(tau2 + noise, 1e-12)
        squares = (variance**2).sum() * (1 - 2 / n_groups) + (variance.sum() / n_groups) ** 2
        freedom = variance.mean() ** 2 * (n_groups - 1) ** 2 / squares
        return float(chdtr(freedom, freedom * observed / variance.mean()))

    def solved(target: float) -> float:
        if probability(0.0) <= target:
            return 0.0
        if probability(LARGEST_TAU**2) >= target:
            return LARGEST_TAU
        found = brentq(lambda tau2: probability(tau2) - target, 0.0, LARGEST_TAU**2, xtol=1e-14)
        return float(np.sqrt(found))

    tail = (1.0 - level) / 2.0
    return solved(1.0 - tail), solved(tail)


class Spread(NamedTuple):
    """The standard deviation of the true AUCs, their mean, and the share that is not noise."""

    tau: float
    ci_low: float
    ci_high: float
    mean: float
    standard_error: float
    i2: float


def moments(auc: Floats, unbiased: Floats, delong: Floats, level: float) -> Spread:
    """From the variance of the group AUCs and the mean of their own; needs two groups."""
    observed = float(auc.var(ddof=1))
    tau2 = float(np.clip(squared_tau(auc, unbiased), 0.0, LARGEST_TAU**2))
    i2 = min(tau2 / observed, 1.0) if observed > 0 else 0.0
    error = float(np.sqrt(observed / auc.size))
    low, high = tau_interval(auc, unbiased, delong, level)
    return Spread(float(np.sqrt(tau2)), low, high, float(auc.mean()), error, i2)


class MetaAnalysis(NamedTuple):
    """A mean over groups and the spread of what is averaged, as meta-analysis software has them.

    Attributes
    ----------
    mean, standard_error : float
    tau2 : float
        Variance of the true values, 0 or more.
    q, i2 : float
        Cochran's Q, and the share (0 to 1) of the observed variation that is not noise.
    """

    mean: float
    standard_error: float
    tau2: float
    q: float
    i2: float


def dersimonian_laird(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Random-effects mean with DerSimonian and Laird's estimate of the spread [2]_."""
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    weight = 1.0 / v
    q = _cochran_q(y, weight)
    excess = q - (y.size - 1)
    tau2 = max(excess / (weight.sum() - (weight**2).sum() / weight.sum()), 0.0)
    i2 = max(excess / q, 0.0) if q > 0 else 0.0
    weight = 1.0 / (v + tau2)
    return MetaAnalysis(
        float(np.dot(weight, y) / weight.sum()), float(weight.sum() ** -0.5), float(tau2), q, i2
    )


def reml(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Random-effects mean with the spread of largest restricted likelihood [3]_.

    The standard error is Knapp and Hartung's. I2 relates the spread to a typical variance.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    tau2 = max(float(y.var(ddof=1) - v.mean()), 0.0)
    for _ in range(10_000):
        weight = 1.0 / (v + tau2)
        mean = np.dot(weight, y) / weight.sum()
        squares = weight**2
        found = np.dot(squares, (y - mean) ** 2 - v) / squares.sum() + 1.0 / weight.sum()
        change, tau2 = abs(found - tau2), max(float(found), 0.0)
        if change <= 1e-15 + 1e-12 * tau2:
            break
    weight = 1.0 / (v + tau2)
    mean = float(np.dot(weight, y) / weight.sum())
    error = np.sqrt(np.dot(weight, (y - mean) ** 2) / ((y.size - 1) * weight.sum()))
    fixed = 1.0 / v
    typical = (y.size - 1) * fixed.sum() / (fixed.sum() ** 2 - (fixed**2).sum())
    return MetaAnalysis(
        mean, float(error), tau2, _cochran_q(y, fixed), float(tau2 / (tau2 + typical))
    )


def _cochran_q(values: Floats, weight: Floats) -> float:
    mean = np.dot(weight, values) / weight.sum()
    return float(np.dot(weight, (values - mean) ** 2))


# What chance alone would show ----------------------------------------------------------

# Below this many rows of the smaller class the AUC of a group is far from normal.
_NORMAL_ROWS = 30
# Rows simulated in all, and bounds of the number of simulated sets of groups.
_SIMULATED_ROWS, _LEAST_SETS, _MOST_SETS = 2_000_000, 20, 1_000
_ROWS_AT_ONCE = 1 << 16


def expected_difference(variances: Variances, seed: int = 0) -> float:
    """Mean of the largest less the smallest group AUC, were all true AUCs equal.

    Every group is given the spread of placements that all groups have together, since an own one
    is too small just where the AUC is large by chance. With 30 rows of each class and more the
    group AUCs are taken as normal, and the mean of their range is an integral; otherwise
    groups are simulated from the placements.
    """
    kept = variances.defined
    n_groups = int(kept.sum())
    if n_groups < 2:
        return float("nan")
    if variances.fewest[kept].min() < _NORMAL_ROWS:
        return _simulated_difference(variances, seed)
    return mean_range(np.sqrt(variances.shared[kept]))


def mean_range(deviations: Floats) -> float:
    """Mean of the largest less the smallest of independent normal variables of mean 0."""
    from scipy.special import log_ndtr

    sizes, counts = np.unique(deviations, return_counts=True)
    if sizes[-1] == 0:
        return 0.0
    x = np.linspace(-10.0, 10.0, 2001) * sizes[-1]
    below, above = np.zeros((2, x.size))
    # The largest is below x if all are.
    step = max((1 << 21) // x.size, 1)
    for a in range(0, sizes.size, step):
        with np.errstate(divide="ignore"):
            scaled = x[:, None] / np.maximum(sizes[a : a + step], 1e-300)
        below += log_ndtr(scaled) @ counts[a : a + step]
        above += log_ndtr(-scaled) @ counts[a : a + step]
    inside = 1.0 - np.exp(below) - np.exp(above)
    return float(np.trapezoid(inside, x))


def _simulated_difference(variances: Variances, seed: int) -> float:
    """The same by drawing groups: positives from all placements, negatives uniformly."""
    rng = np.random.default_rng(seed)
    kept = variances.defined
    sizes = [
        np.rint(rows.effective[kept]).astype(np.int64)
        for rows in (variances.positives, variances.negatives)
    ]
    n_positives, n_negatives = sizes
    n_groups, n_rows = n_positives.size, int(n_positives.sum() + n_negatives.sum())
    n_sets = int(np.clip(_SIMULATED_ROWS // n_rows, _LEAST_SETS, _MOST_SETS))
    placements, weights = variances.placements_of_positives
    up_to = np.cumsum(weights)
    group = np.arange(n_groups)
    of_set = np.concatenate([np.repeat(group, n_positives), np.repeat(group, n_negatives)])
    positive = np.arange(n_rows) < n_positives.sum()
    ranges = np.empty(n_sets)
    # Groups of several sets are counted at once, as so many more groups.
    n_at_once = max(_ROWS_AT_ONCE // n_rows, 1)
    for start in range(0, n_sets, n_at_once):
        n = min(n_at_once, n_sets - start)
        scores = rng.random((n, n_rows))
        drawn = scores[:, positive] * up_to[-1]
        scores[:, positive] = placements[np.searchsorted(up_to, drawn, side="right")]
        groups = np.add.outer(n_groups * np.arange(n), of_set)
        found = tally(
            count_rows(scores.ravel(), np.tile(positive, n), groups.ravel(), n * n_groups)
        )
        auc = found.twice.reshape(n, n_groups) / (2.0 * n_positives * n_negatives)
        ranges[start : start + n] = auc.max(axis=1) - auc.min(axis=1)
    return float(ranges.mean())
