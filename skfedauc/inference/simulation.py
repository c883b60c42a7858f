"""P values from simulated statistics.

References
----------
.. [1] Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78(2).
   https://doi.org/10.1093/biomet/78.2.301
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def sequential_pvalue(
    observed: float,
    draw: Callable[[int], NDArray[np.float64]],
    *,
    at_once: int,
    enough: int,
    most_draws: int,
) -> float:
    """Return the share of simulated statistics that are at least as large as the observed one.

    The simulation stops early after `enough` such statistics, and the test still has its level
    [1]_. The relative standard error of the p value is then about ``1 / sqrt(enough)``.

    Parameters
    ----------
    observed : float
    draw : callable
        Returns as many simulated statistics as its argument says.
    at_once : int
        Number of statistics of one call.
    enough : int
    most_draws : int
        The simulation stops once it has this number of statistics.
    """
    n_draws, n_larger = 0, 0
    while n_draws < most_draws:
        # Statistics of identical data can differ by rounding.
        larger = np.flatnonzero(draw(at_once) >= observed * (1.0 - 1e-9))
        if n_larger + larger.size >= enough:
            return float(enough / (n_draws + larger[enough - n_larger - 1] + 1))
        n_draws, n_larger = n_draws + at_once, n_larger + larger.size
    return float((1 + n_larger) / (1 + n_draws))
