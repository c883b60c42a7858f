"""Null distribution of the largest standardized difference of several correlated estimates.

References
----------
.. [1] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general parametric
   models. Biometrical Journal 50(3). https://doi.org/10.1002/bimj.200810425
.. [2] Deak, I. (1980). Three digit accurate multiple normal probabilities. Numerische
   Mathematik 35.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.over_groups import StudentT

Floats = NDArray[np.float64]

# Indices of the first and of the second model of each difference
Pairs: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

# Number of random directions, and largest number of projections at once
_DIRECTIONS, _AT_ONCE = 10_000, 1 << 22
# Number of sorted directions in a block; a block has the mean of its largest differences. The
# highest differences stay separate, because small tail probabilities depend on these differences.
_BLOCK, _HIGHEST = 20, 200


class LargestDifference(NamedTuple):
    """Distribution of the largest absolute standardized difference if true values are equal [1]_.

    The standardized differences are a linear map of independent normal variables. The length of the
    vector of these variables does not depend on the direction of the vector. The squared length has
    a chi-squared distribution, or for Student's t, a multiple of an F distribution. The tail
    probability is the mean, over random directions with a fixed seed, of the tail probability given
    the direction [2]_.

    Attributes
    ----------
    largest : ndarray of float64, shape (n_blocks,)
        Largest absolute standardized difference for vectors of length 1; mean of a block of
        directions.
    share : ndarray of float64, shape (n_blocks,)
        Share of the directions in each block.
    n_variables : int
        Number of independent normal variables.
    n_comparisons : int
    degrees_of_freedom : float
        Degrees of freedom of all variances; infinite for known variances.
    """

    largest: Floats
    share: Floats
    n_variables: int
    n_comparisons: int
    degrees_of_freedom: float

    @classmethod
    def of(cls, variance: Floats, pairs: Pairs, degrees_of_freedom: float) -> LargestDifference:
        """Return the distribution for pairs of estimates.

        Parameters
        ----------
        variance : ndarray of float64, shape (n_estimates, n_estimates)
            Variance of the difference of each pair of estimates.
        pairs : tuple of two ndarray of intp, shape (n_pairs,)
            Pairs whose difference has a variance above 0.
        degrees_of_freedom : float
        """
        first, second = pairs
        # Covariances of the differences of all estimates from the first one
        covariance = (variance[0] + variance[:, [0]] - variance) / 2.0
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        maps = root[first] - root[second]
        maps /= np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), np.finfo(np.float64).tiny)
        # Rotate the variables, and leave out variables that no difference depends on.
        _, lengths, turned = np.linalg.svd(maps, full_matrices=False)
        n_variables = int((lengths > 1e-9 * lengths[0]).sum())
        if n_variables == 1:
            return cls(np.ones(1), np.ones(1), 1, first.size, degrees_of_freedom)
        maps = maps @ turned[:n_variables].T
        directions = np.random.default_rng(0).standard_normal((_DIRECTIONS, n_variables))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        step = max(_AT_ONCE // first.size, 1)
        largest = [
            np.abs(directions[start : start + step] @ maps.T).max(axis=1)
            for start in range(0, _DIRECTIONS, step)
        ]
        ordered = np.sort(np.concatenate(largest))
        blocks = ordered[:-_HIGHEST].reshape(-1, _BLOCK).mean(axis=1)
        sizes = np.repeat([_BLOCK, 1], [blocks.size, _HIGHEST])
        return cls(
            np.append(blocks, ordered[-_HIGHEST:]),
            sizes / _DIRECTIONS,
            n_variables,
            first.size,
            degrees_of_freedom,
        )

    def tail(self, statistic: float) -> float:
        """Return the probability that the largest difference exceeds `statistic`.

        The probability is at least the probability for one comparison, and at most the sum of these
        probabilities (Bonferroni). The random directions cannot move the result outside these two
        bounds.
        """
        single = min(2.0 * StudentT(self.degrees_of_freedom).tail(statistic), 1.0)
        most = min(self.n_comparisons * single, 1.0)
        return float(np.clip(self._drawn_tail(statistic), single, most))

    def quantile(self, tail: float) -> float:
        """Return the value that the largest difference exceeds with probability `tail`."""
        from scipy.optimize import brentq

        null = StudentT(self.degrees_of_freedom)
        low, high = null.quantile(tail / 2.0), null.quantile(tail / (2.0 * self.n_comparisons))
        if self._drawn_tail(low) <= tail:
            return low
        if self._drawn_tail(high) >= tail:
            return high
        return float(brentq(lambda x: self._drawn_tail(x) - tail, low, high, xtol=1e-12))

    def _drawn_tail(self, statistic: float) -> float:
        from scipy.special import chdtrc, fdtrc

        squares = (statistic / self.largest) ** 2
        if np.isinf(self.degrees_of_freedom):
            tails = chdtrc(self.n_variables, squares)
        else:
            tails = fdtrc(self.n_variables, self.degrees_of_freedom, squares / self.n_variables)
        return float((self.share * tails).sum())
