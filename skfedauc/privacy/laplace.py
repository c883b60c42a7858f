"""Discrete Laplace noise from OpenDP, with the distribution in the notes of `PrivateCounts`.

A person with at most k rows changes the numbers of rows in disjoint categories by at most k in
total, so that independent noise of the scale ``k / epsilon`` gives epsilon-differential privacy.
"""

from __future__ import annotations

import math
import re
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input

# Largest scale of the noise. Sums of counts with such noise are far within int64.
MOST_SCALE = 1e9
# Largest epsilon per row. At 10, one of 11,000 counts has noise.
_MOST_EPSILON = 10.0
# First version whose noise had the right distribution in tests/engines/test_opendp.py
_LEAST_OPENDP = (0, 14, 2)


def check_epsilon(epsilon: Any, rows_per_person: Any) -> tuple[float, int]:
    """Return both as numbers, after checking that the noise has a possible scale."""
    epsilon = _input.check_number(epsilon, "epsilon", above=0)
    rows_per_person = _input.check_whole_number(rows_per_person, "rows_per_person")
    if not 1.0 / MOST_SCALE <= epsilon / rows_per_person <= _MOST_EPSILON:
        raise ValueError(
            f"epsilon must be from {1.0 / MOST_SCALE:g} to {_MOST_EPSILON:g} per row, beyond which "
            f"practically no count has noise; got {epsilon:g} with "
            f"rows_per_person={rows_per_person}. For a recipient who may see single rows, send "
            "ScoreCounts."
        )
    return epsilon, rows_per_person


def variance_of(scale: float) -> float:
    """Return the variance of discrete Laplace noise."""
    return 2.0 * math.exp(-1.0 / scale) / math.expm1(-1.0 / scale) ** 2


def with_noise(
    counts: NDArray[np.int64], epsilon: float, rows_per_person: int
) -> NDArray[np.int64]:
    """Return counts of disjoint categories with independent discrete Laplace noise from OpenDP.

    It draws from the random numbers of the operating system, without floating-point arithmetic.
    """
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = rows_per_person / epsilon
    measurement = dp.m.make_laplace(*space, scale=scale)
    # OpenDP rounds the privacy loss up. The next larger scale has at most the loss epsilon.
    while measurement.map(rows_per_person) > epsilon:
        scale = math.nextafter(scale, math.inf)
        measurement = dp.m.make_laplace(*space, scale=scale)
    noisy = np.array(measurement(counts.reshape(-1).tolist()), np.int64)
    return noisy.reshape(counts.shape)


def _opendp() -> Any:
    needed = "The noise of differential privacy needs OpenDP"
    dp = _input.imported("opendp.prelude", needed, "privacy")
    found = version("opendp")
    if tuple(map(int, re.findall(r"\d+", found)[:3])) < _LEAST_OPENDP:
        raise ImportError(
            f"OpenDP {found} draws noise of another distribution for some scales, so that epsilon "
            'does not hold. Upgrade it by: pip install --upgrade "skfedauc[privacy]"'
        )
    # OpenDP requires this call for mechanisms without a vetted proof.
    dp.enable_features("contrib")
    return dp
