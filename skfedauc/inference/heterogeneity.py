"""Heterogeneity of the true AUCs: their standard deviation tau, with limits.

References
----------
.. [1] Viechtbauer, W. (2005). Bias and efficiency of meta-analytic variance estimators in the
   random-effects model. Journal of Educational and Behavioral Statistics 30(3).
   https://doi.org/10.3102/10769986030003261
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Variances
from skfedauc.ranks import sum_of_others

Floats = NDArray[np.float64]

# Largest standard deviation of numbers between 0 and 1
LARGEST_TAU = 0.5


class Heterogeneity(NamedTuple):
    """Standard deviation tau of the true AUCs with limits, and the random-effects mean.

    The standard error of the mean is Knapp and Hartung's. `i2` is the share of the observed
    variation that sampling error does not explain, and `q` Cochran's Q.
    """

    tau: float
    ci_low: float
    ci_high: float
    mean: float
    standard_error: float
    i2: float
    q: float


def heterogeneity(variances: Variances, confidence_level: float) -> Heterogeneity:
    """Estimate the standard deviation of the true AUCs by REML [1]_; NaN below two groups."""
    variances.check_independent_groups("heterogeneity")
    y, v, _ = estimable_aucs(variances)
    if y.size < 2:
        return Heterogeneity(*[float("nan")] * 7)
    return meta_analysis(y, v, confidence_level)


def meta_analysis(y: Floats, v: Floats, confidence_level: float) -> Heterogeneity:
    """Return the results for values with known sampling variances [1]_."""
    tau2 = reml(y, v)
    weight, fixed = 1.0 / (v + tau2), 1.0 / v
    mean = float(weight @ y / weight.sum())
    error = np.sqrt(weight @ (y - mean) ** 2 / ((y.size - 1) * weight.sum()))
    typical = (y.size - 1) * fixed.sum() / (fixed @ sum_of_others(fixed))
    return Heterogeneity(
        min(float(np.sqrt(tau2)), LARGEST_TAU),
        *reml_limits(y, v, confidence_level),
        mean,
        float(error),
        float(tau2 / (tau2 + typical)),
        _cochran_q(y, fixed),
    )


def tau(variances: Variances) -> float:
    """Return the REML standard deviation of the true AUCs; NaN with fewer than two groups."""
    auc, variance, _ = estimable_aucs(variances)
    if auc.size < 2:
        return float("nan")
    return min(float(np.sqrt(reml(auc, variance))), LARGEST_TAU)


def squared_tau(variances: Variances) -> float:
    """Estimate the variance of the true AUCs without bias; NaN with fewer than two groups.

    It is their variance minus the mean of their unbiased sampling variances, possibly negative.
    """
    kept = variances.estimable
    if kept.sum() < 2:
        return float("nan")
    found = float(variances.auc[kept].var(ddof=1) - variances.unbiased[kept].mean())
    return 0.0 if abs(found) <= 1e-15 else found  # without rounding error


def estimable_aucs(variances: Variances) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return AUCs and variances of the groups with two rows of each class, and their mask."""
    kept = variances.estimable & variances.defined
    shared, bounded = variances.shared[kept], variances.bounded[kept]
    return variances.auc[kept], np.where(shared > 0, shared, bounded), kept


# Restricted maximum likelihood ---------------------------------------------------------------


def distinct(y: Floats, v: Floats) -> tuple[Floats, Floats, Floats, NDArray[np.intp]]:
    """Return the distinct pairs of value and variance, their numbers, and each pair's index."""
    pairs, place, n = np.unique(y + 1j * v, return_inverse=True, return_counts=True)
    return pairs.real, pairs.imag, n.astype(np.float64), place


def reml(y: Floats, v: Floats, n: Floats | float = 1.0) -> float:
    """Return the variance of the true values by REML [1]_; each value is that of `n` groups."""
    n = np.broadcast_to(n, y.shape)
    tau2 = max(float(_cochran_q(y, n) / (n.sum() - 1.0) - (n * v).sum() / n.sum()), 0.0)
    for _ in range(10_000):
        weight = n / (v + tau2)
        mean = (weight * y).sum() / weight.sum()
        squares = weight / (v + tau2)
        found = (squares * ((y - mean) ** 2 - v)).sum() / squares.sum() + 1.0 / weight.sum()
        found = max(float(found), 0.0)
        change, tau2 = abs(found - tau2), found
        if change <= 1e-15 + 1e-12 * tau2:
            break
    return tau2


def reml_limits(
    y: Floats, v: Floats, confidence_level: float, n: Floats | float = 1.0
) -> tuple[float, float]:
    """Return the least and the largest tau that the likelihood ratio test does not reject [1]_."""
    from scipy.optimize import brentq

    estimate = min(reml(y, v, n), LARGEST_TAU**2)
    drop = normal_quantile((1.0 - confidence_level) / 2.0) ** 2 / 2.0
    least = restricted_log_likelihood(y, v, estimate, n) - drop

    def above(tau2: float) -> float:
        return restricted_log_likelihood(y, v, tau2, n) - least

    limits = []
    for end in (0.0, LARGEST_TAU**2):
        is_end = end == estimate or above(end) >= 0
        limits.append(end if is_end else brentq(above, *sorted((end, estimate)), xtol=1e-14))
    return float(np.sqrt(limits[0])), float(np.sqrt(limits[1]))


def restricted_log_likelihood(y: Floats, v: Floats, tau2: float, n: Floats | float = 1.0) -> float:
    """Return the log density of the values given tau2 and a uniform mean, but for a constant."""
    variance = v + tau2
    weight = n / variance
    excess = _cochran_q(y, weight) + np.log(weight.sum()) + (n * np.log(variance)).sum()
    return -float(excess) / 2.0


def _cochran_q(values: Floats, weight: Floats) -> float:
    # Avoid dot products, because their rounding depends on the number of threads.
    mean = (weight * values).sum() / weight.sum()
    return float((weight * (values - mean) ** 2).sum())
