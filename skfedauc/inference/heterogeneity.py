"""Heterogeneity of the true AUCs: standard deviation, with limits, and random-effects mean.

References
----------
.. [1] Viechtbauer, W. (2005). Bias and efficiency of meta-analytic variance estimators in the
   random-effects model. Journal of Educational and Behavioral Statistics 30(3).
   https://doi.org/10.3102/10769986030003261
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


def reml(values: ArrayLike, variances: ArrayLike) -> MetaAnalysis:
    """Estimate the random-effects mean and tau2 by restricted maximum likelihood [1]_."""
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
    """Return limits of tau from the profile of the restricted likelihood [1]_.

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


def spread(variances: Variances, confidence_level: float) -> Spread:
    """Estimate the standard deviation of the true AUCs by REML; NaN below two groups."""
    variances.check_independent_groups("heterogeneity")
    auc, variance, _ = estimable_aucs(variances)
    if auc.size < 2:
        return Spread(*[float("nan")] * 7)
    of = reml(auc, variance)
    limits = reml_interval(auc, variance, confidence_level)
    tau = min(float(np.sqrt(of.tau2)), LARGEST_TAU)
    return Spread(tau, *limits, of.mean, of.standard_error, of.i2, of.q)


def estimable_aucs(variances: Variances) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return AUCs and variances of the groups with two rows of each class, and their mask."""
    kept = variances.estimable & variances.defined
    shared, bounded = variances.shared[kept], variances.bounded[kept]
    return variances.auc[kept], np.where(shared > 0, shared, bounded), kept
