"""Distribution of the range of independent standard normal variables, for Tukey's comparisons.

The functions replace `scipy.stats.studentized_range` with infinite degrees of freedom, and are
accurate for small probabilities.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def studentized_range_tail(value: ArrayLike, n_groups: int) -> Floats:
    """Return the probability that the range of `n_groups` standard normals exceeds a value.

    The result is an integral over the largest variable. The integrand is the density of this
    variable times the probability that at least one other variable is lower by more than the value.
    The formula avoids cancellation, so small probabilities are accurate.
    """
    from scipy.special import log_ndtr

    value = np.asarray(value, np.float64)
    found = np.empty(value.size)
    share = np.linspace(0.0, 1.0, 160)
    for start in range(0, value.size, 512):
        q = value.reshape(-1)[start : start + 512, None]
        # For a large q, the integrand is largest where the largest variable is near q / 2.
        width = 17.0 + q / 2.0
        x = -8.0 + share * width
        below = log_ndtr(x)
        density = np.log(n_groups) - x**2 / 2.0 - np.log(2.0 * np.pi) / 2.0
        with np.errstate(divide="ignore"):  # The value can be 0.
            inside = np.log1p(-np.exp(log_ndtr(x - q) - below))
        reached = -np.expm1((n_groups - 1) * inside)
        terms = np.exp(density + (n_groups - 1) * below) * reached
        # The integrand is 0 at both ends, so the trapezoidal rule is a sum.
        found[start : start + 512] = terms.sum(axis=1) * (width / (share.size - 1))[:, 0]
    return np.minimum(found, 1.0).reshape(value.shape)


@functools.lru_cache(maxsize=256)
def studentized_range_quantile(alpha: float, n_groups: int) -> float:
    """Return the upper `alpha` quantile of the range of `n_groups` standard normal variables."""
    from scipy.optimize import brentq

    def excess(value: float) -> float:
        with np.errstate(divide="ignore"):
            return float(np.log(studentized_range_tail(value, n_groups) / alpha))

    return float(brentq(excess, 0.0, 50.0, xtol=1e-13, rtol=1e-13))
