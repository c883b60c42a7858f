"""Heterogeneity of the true AUCs: standard deviation, with limits, and random-effects mean.

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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.variances import Variances
from skfedauc.ranks import sum_of_others

Floats = NDArray[np.float64]

# Largest standard deviation of numbers between 0 and 1
LARGEST_TAU = 0.5


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
