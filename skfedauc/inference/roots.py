"""Roots of many functions at once.

References
----------
.. [1] Chandrupatla, T. R. (1997). A new hybrid quadratic/bisection algorithm for finding the zero
   of a nonlinear function without using derivatives. Advances in Engineering Software 28(3).
   https://doi.org/10.1016/S0965-9978(96)00051-8
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def roots_of(function: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return the root of each decreasing function, or the nearer limit if it has no root [1]_."""
    f_low, f_high = function(low), function(high)
    ended = np.where(f_low <= 0.0, low, np.where(f_high >= 0.0, high, np.nan))
    a, b, f_a, f_b = high.copy(), low.copy(), f_high, f_low
    c, f_c = a.copy(), f_a.copy()
    step = np.full_like(a, 0.5)
    for _ in range(60):
        x = a + step * (b - a)
        f_x = function(x)
        same = np.sign(f_x) == np.sign(f_a)
        c, f_c = np.where(same, a, b), np.where(same, f_a, f_b)
        b, f_b = np.where(same, b, a), np.where(same, f_b, f_a)
        a, f_a = x, f_x
        best = np.where(np.abs(f_a) < np.abs(f_b), a, b)
        width = np.abs(b - a)
        done = (f_a == 0.0) | (width <= 2e-14 * np.maximum(np.abs(best), 1.0)) | ~np.isnan(ended)
        if done.all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
            quadratic = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
            alpha = (c - a) / (b - a)
            inverse = f_a / (f_b - f_a) * f_c / (f_b - f_c)
            inverse += alpha * f_a / (f_c - f_a) * f_b / (f_c - f_b)
            least = np.minimum(1e-14 * np.maximum(np.abs(best), 1.0) / width, 0.5)
            step = np.where(quadratic, inverse, 0.5)
        step = np.where(np.isfinite(step), np.clip(step, least, 1.0 - least), 0.5)
    return np.where(np.isnan(ended), best, ended)
