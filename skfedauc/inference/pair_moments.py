"""Moments of comparisons between a positive and a negative, which determine an AUC's variance.

The variance of the AUC A of m positives and n negatives is [1]_ [2]_ ::

    [H - A^2 + (m - 1)(Q1 - A^2) + (n - 1)(Q2 - A^2)] / (m n)

where Q1 is the probability that two positives both outrank the same negative, and Q2 is the
probability that a positive outranks two negatives. Without ties, H equals A. With ties, H is A
minus a quarter of the share of tied pairs.

References
----------
.. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below the
   receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
   https://doi.org/10.1016/0022-2496(75)90001-2
.. [2] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
   operating characteristic (ROC) curve. Radiology 143(1).
   https://doi.org/10.1148/radiology.143.1.7063747
.. [3] Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of
   Mathematical Statistics 27(4). https://doi.org/10.1214/aoms/1177728074
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class PairMoments(NamedTuple):
    """Moments of pair comparisons that determine an AUC's variance for any row count.

    Comparing a positive with a negative gives 1, one half (a tie) or 0.

    Attributes
    ----------
    pair : float
        A comparison's variance.
    same_negative, same_positive : float
        Covariance between two comparisons that share only the negative, or only the positive.
    """

    pair: float
    same_negative: float
    same_positive: float

    def variance(self, m: float, n: float) -> float:
        """Variance of the AUC with m positives and n negatives."""
        return self.covariance(m, n, 1.0)

    def covariance(self, m: float, n: float, same: float) -> float:
        """Covariance between two models' AUCs if a share `same` of rows has equal scores.

        Two comparisons correlate if they share a row with the same score in both models.
        """
        of_a_negative = same * (m - same) * self.same_negative
        of_a_positive = same * (n - same) * self.same_positive
        return (same**2 * self.pair + of_a_negative + of_a_positive) / (m * n)

    def share_of_same_scores(self, m: float, n: float, correlation: float) -> float:
        """Share of rows with equal scores that gives two models' AUCs this correlation."""
        squared = self.pair - self.same_negative - self.same_positive
        linear = m * self.same_negative + n * self.same_positive
        wanted = correlation * self.variance(m, n) * m * n
        # Return the root of squared * x^2 + linear * x = wanted between 0 and 1, without
        # cancellation.
        return 2 * wanted / (linear + math.sqrt(linear**2 + 4 * squared * wanted))


def binormal_moments(auc: Any, sd_ratio: float = 1.0) -> PairMoments:
    """Return the moments for normal scores.

    Two comparisons that share a row are signs of two normal variables with correlation rho. If the
    standard deviation of the positives is r times that of the negatives, rho is ``1 / (1 + r^2)``
    for a shared negative and ``r^2 / (1 + r^2)`` for a shared positive. The probability that both
    variables are positive is ``Phi(h) - 2 T(h, sqrt((1 - rho) / (1 + rho)))``, where
    ``h = Phi^-1(A)`` and T is Owen's function [3]_.

    Parameters
    ----------
    auc : float or ndarray of float64
        AUC, between 0 and 1; the moments of an array are arrays.
    sd_ratio : float, default=1.0
        The positives' standard deviation over the negatives'.
    """
    from scipy.special import ndtri, owens_t

    separation = ndtri(auc)
    squared = sd_ratio**2

    def shared(correlation: float) -> Any:
        slope = math.sqrt((1 - correlation) / (1 + correlation))
        return auc * (1 - auc) - 2 * owens_t(separation, slope)

    return PairMoments(auc * (1 - auc), shared(1 / (1 + squared)), shared(squared / (1 + squared)))
