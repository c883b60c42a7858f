"""Points of ROC curves: sensitivity at a specificity.

References
----------
.. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
   Journal of the American Statistical Association 22(158).
   https://doi.org/10.1080/01621459.1927.10502953
.. [2] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.group_curves import SAME_RATE, GroupCurves, Influence, LogitErrors
from skfedauc.inference.proportions import wilson
from skfedauc.inference.quantiles import normal_quantile

Floats = NDArray[np.float64]

# Number of thresholds that represent the sampling distribution of a threshold
_N_THRESHOLDS = 32


# Sensitivity -------------------------------------------------------------------------------------


def true_positive_rate(curves: GroupCurves, fpr: float | Floats) -> Floats:
    """Return the highest true positive rate of each curve at a false positive rate."""
    rate = np.broadcast_to(np.asarray(fpr, np.float64), curves.starts.size - 1)
    share = curves.share_within(rate)
    partly = curves.bottom + share * (curves.top - curves.bottom)
    height = np.where(share == 1.0, curves.top, partly)
    # Curves rise, so the height is the largest height of the segments up to the rate.
    is_within = curves.left <= rate[curves.groups] + SAME_RATE
    return curves.largest(np.where(is_within, height, 0.0))


def threshold_moments(curves: GroupCurves, fpr: float) -> tuple[Floats, Floats]:
    """Return moments of the true positive rate over the sampling distribution of the threshold.

    The threshold that `fpr` of n observed negatives exceed has another, random false positive rate
    in the population. The random rate u has approximately the mean `fpr` and the variance ``fpr (1
    - fpr) / (n + 1)``. The transformed rate ``arcsin(sqrt(u))`` is approximately normal with
    variance ``1 / (4 (n + 1))``. The observed curve gives the true positive rate at u, so the
    function needs no estimate of the slope of the ROC curve.

    Returns
    -------
    mean, variance : ndarray of float64, shape (n_groups,)
    """
    from scipy.special import ndtri

    deviates = ndtri((np.arange(_N_THRESHOLDS) + 0.5) / _N_THRESHOLDS)
    deviates /= np.sqrt((deviates**2).mean())
    reach = 0.5 / np.sqrt(curves.negatives.effective + 1.0)
    once, squared = np.zeros((2, curves.starts.size - 1))
    for deviate in deviates:
        angle = np.clip(np.arcsin(np.sqrt(fpr)) + deviate * reach, 0.0, np.pi / 2.0)
        height = true_positive_rate(curves, np.sin(angle) ** 2)
        once += height / _N_THRESHOLDS
        squared += height**2 / _N_THRESHOLDS
    return once, np.maximum(squared - once**2, 0.0)


def true_positive_rate_influence(curves: GroupCurves, fpr: float) -> Influence:
    """Return influence values on `true_positive_rate`.

    The influence of the negatives contains the slope of the curve. The slope is the standard
    deviation of the true positive rate over thresholds, divided by that of the false positive rate.
    """
    share = curves.share_within(np.full(curves.starts.size - 1, fpr))
    variance = threshold_moments(curves, fpr)[1]
    slope = np.sqrt(variance * (curves.negatives.effective + 1.0) / (fpr * (1.0 - fpr)))
    return Influence(share, -slope[curves.groups] * share)


# Few negatives within the rate ----------------------------------------------------------------


def fewest_within(n: Floats, fpr: float, tail: float) -> Floats:
    """Return a lower limit of the number of negatives above the threshold of a rate.

    Let `fpr` be the false positive rate of a threshold in the population. The number of observed
    negatives above the threshold is binomial. The result is the number k for which at least k of
    `n` negatives are above the threshold with probability ``1 - tail``. The incomplete beta
    function interpolates between whole numbers, also between 0 and 1. The result is smaller than 1
    if the probability that no negative is above the threshold exceeds `tail`.
    """
    from scipy.special import betainc

    distinct, place = np.unique(n, return_inverse=True)
    low, high = np.zeros_like(distinct), distinct + 1.0
    for _ in range(40):
        middle = (low + high) / 2.0
        is_below = betainc(middle, distinct + 1.0 - middle, fpr) >= 1.0 - tail
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    found: Floats = low[place]
    return found


def combined_lower_limit(value: Floats, first: Floats, second: Floats) -> Floats:
    """Return the lower limit for two independent errors, each of which has a lower limit [2]_.

    The limit is as far below the value as the square root of the sum of the squared distances.
    """
    reach = np.hypot(np.maximum(value - first, 0.0), np.maximum(value - second, 0.0))
    return np.maximum(value - reach, 0.0)


def sensitivity_guard(curves: GroupCurves, fpr: float, observed: Floats, tail: float) -> Floats:
    """Return lower limits of the sensitivity that hold if few negatives determine the threshold.

    One part is Wilson's limit for a given threshold. The other part is the sensitivity at the
    threshold with `fewest_within` negatives above. If this number is smaller than 1, the
    sensitivity is the height of the chord from the beginning of the curve to the highest negative.
    The chord is a lower bound of a concave curve.
    """
    n = curves.negatives.effective
    fewest = np.minimum(fewest_within(n, fpr, tail), n * fpr)
    # The height before the next negative
    rate = np.maximum(ratio(fewest, n, 0.0) - 2.0 * SAME_RATE, 0.0)
    reached = true_positive_rate(curves, rate) * np.minimum(fewest, 1.0)
    n_positives = curves.if_defined(curves.positives.effective)
    given = wilson(observed, n_positives, normal_quantile(tail))
    return combined_lower_limit(observed, given.low, reached)


class WilsonErrors(NamedTuple):
    """Effective numbers of rows of the sensitivity of each group; limits of Wilson [1]_.

    Attributes
    ----------
    observed : ndarray of float64, shape (n_groups,)
        Observed sensitivity.
    mean : ndarray of float64, shape (n_groups,)
        Mean sensitivity over the sampling distribution of the threshold.
    n : ndarray of float64, shape (n_groups,)
        Number of independent positives with the same variance of the sensitivity.
    """

    observed: Floats
    mean: Floats
    n: Floats

    def averaged(self, share: Floats) -> LogitErrors:
        """Return the errors of an average of the groups.

        The method adds half a success and half a failure to each sensitivity, because a sensitivity
        of 0 or 1 would have no variance.
        """
        shrunk = (self.n * self.observed + 0.5) / (self.n + 1.0)
        variance = shrunk * (1.0 - shrunk) / self.n
        return LogitErrors(variance, np.full(self.n.size, np.inf)).averaged(share)

    def limits(self, observed: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return the more distant of the limits of the observed and of the mean sensitivity.

        The observed sensitivity is the highest point of the curve at the rate. This point has a
        bias if few negatives determine the threshold. The mean sensitivity has less bias.
        """
        ends = [wilson(share, self.n, normal_quantile(tail)) for share in (observed, self.mean)]
        return np.minimum(ends[0].low, ends[1].low), np.maximum(ends[0].high, ends[1].high)


def sensitivity_errors(curves: GroupCurves, fpr: float, observed: Floats) -> WilsonErrors:
    """Return the sampling errors of the sensitivity of each group at a false positive rate.

    One threshold applies to all positives, so the positives correlate like the rows of one cluster.
    The correlation is the variance of the sensitivity over thresholds, divided by the variance ``p
    (1 - p)`` of a single row. The number of independent positives is ``m / (1 + (m - 1)
    correlation)``.
    """
    mean, variance = threshold_moments(curves, fpr)
    n_positives = curves.positives.effective
    correlation = np.clip(ratio(variance, mean * (1.0 - mean), 0.0), 0.0, 1.0)
    effective = n_positives / (1.0 + np.maximum(n_positives - 1.0, 0.0) * correlation)
    return WilsonErrors(observed, mean, curves.if_defined(effective))
