"""Heterogeneity of the true AUCs: their standard deviation tau, by REML (Viechtbauer 2005)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from skfedauc.counts.moments import Floats
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Variances

# Largest standard deviation of numbers between 0 and 1
LARGEST_TAU = 0.5


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
    """Return AUCs and group variances with two rows in each class, and their mask."""
    kept = variances.estimable & variances.defined
    shared, bounded = variances.shared[kept], variances.bounded[kept]
    return variances.auc[kept], np.where(shared > 0, shared, bounded), kept


def reml(y: Floats, v: Floats, n: Floats | float = 1.0) -> float:
    """Return the variance of the true values by REML; each value is that of `n` groups."""
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
    """Return the least and the largest tau that the likelihood ratio test does not reject."""
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
