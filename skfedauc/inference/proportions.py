"""Limits of shares, of their differences and ratios, and of the extremes over pairs of groups.

Limits of a single share are Wilson's score limits [1]_. Limits of the difference of two shares of
different rows follow from the limits of both shares (Newcombe's square-and-add method [2]_). Limits
of the ratio of two shares also follow from the limits of both shares (MOVER-R [3]_).

The gap between groups is the difference, or the ratio, of the two true values that are furthest
apart. The limits of a gap are extremes over all pairs of groups:

- The largest upper limit of all pairs is an upper limit of the largest difference. The two groups
  whose true values are furthest apart are one of the pairs, so the maximum is below the true gap
  only if the limit of these two groups is below the true gap. The limit needs no adjustment for the
  number of pairs.
- A simultaneous lower limit of all pairs holds for each pair, and no pair differs by more than the
  gap. Therefore, the largest simultaneous lower limit is a lower limit of the largest difference.

Limits of a gap of shares use the limits of Clopper and Pearson for the single shares. Wilson's
limits of small groups with shares near 0 or 1 fail several times as often as stated. With 10 rows
per group, an upper limit of a difference at 5 % fails with a probability of up to 19 % with
Wilson's limits. With the limits of Clopper and Pearson, the probability exceeds 5 % only if the
true difference is near 1, by up to 2.3 percentage points.

References
----------
.. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
   Journal of the American Statistical Association 22(158).
   https://doi.org/10.1080/01621459.1927.10502953
.. [2] Newcombe, R. G. (1998). Interval estimation for the difference between independent
   proportions: comparison of eleven methods. Statistics in Medicine 17(8).
   https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
.. [3] Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the
   normal mean and standard deviation. Statistical Methods in Medical Research 21(4).
   https://doi.org/10.1177/0962280210383082
.. [4] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference import binomial
from skfedauc.inference.cluster_ratios import Shares
from skfedauc.inference.differences import (
    MOST_GROUPS,
    deviate_of_all_pairs,
    deviate_of_furthest_pair,
    largest_of_pairs,
    reach_of_difference,
)
from skfedauc.inference.limits import Spreads
from skfedauc.inference.quantiles import normal_quantile

Floats = NDArray[np.float64]

_GROUPS_AT_ONCE = 256


class Limits(NamedTuple):
    """Values with a lower and an upper limit each.

    Attributes
    ----------
    value, low, high : ndarray of float64
        Arrays of shapes that broadcast.
    """

    value: Floats
    low: Floats
    high: Floats


def wilson(share: ArrayLike, n_rows: ArrayLike, deviate: float) -> Limits:
    """Return Wilson's limits of a share [1]_; NaN without rows.

    Parameters
    ----------
    share : array-like of float
        Observed shares.
    n_rows : array-like of float
        Number of rows in the denominator, or the effective sample size of weighted rows.
    deviate : float
        Normal quantile of the limits.
    """
    share, n_rows = np.asarray(share, np.float64), np.asarray(n_rows, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = deviate**2 / n_rows
        center = (share + scale / 2.0) / (1.0 + scale)
        reach = np.sqrt(scale * share * (1.0 - share) + scale**2 / 4.0) / (1.0 + scale)
        # Rounding must not put a limit on the other side of the share or outside of 0 to 1.
        low = np.where(share > 0.0, np.clip(center - reach, 0.0, share), share)
        high = np.where(share < 1.0, np.clip(center + reach, share, 1.0), share)
    return Limits(share, low, high)


def wilson_of_clusters(share: Floats, found: Shares, deviate: float, tail: float) -> Limits:
    """Return Wilson's limits of shares of clustered rows; NaN for a single cluster.

    Parameters
    ----------
    share : ndarray of float64
        Observed shares.
    found : Shares
        Precision of the shares.
    deviate, tail : float
        Normal quantile of the limits, and its upper tail probability.
    """
    value, low, high = wilson(share, found.effective_rows(tail), deviate)
    known = found.has_interval
    return Limits(value, np.where(known, low, np.nan), np.where(known, high, np.nan))


def clopper_pearson(share: ArrayLike, n_rows: ArrayLike, tail: float) -> Limits:
    """Return the limits of a share from the tails of the binomial distribution.

    Parameters
    ----------
    share : array-like of float
        Observed shares.
    n_rows : array-like of float
        Number of rows in the denominator, or the effective sample size of weighted rows.
    tail : float
        Probability with which a limit may fail.
    """
    share, n_rows = np.asarray(share, np.float64), np.asarray(n_rows, np.float64)
    n_events = n_rows * share
    low = binomial.lower_limit(n_events, n_rows, tail)
    high = binomial.upper_limit(n_events, n_rows, tail)
    return Limits(share, np.minimum(low, share), np.maximum(high, share))


def difference(one: Limits, other: Limits, correlation: Floats | None = None) -> Limits:
    """Return the difference of two estimates with limits [2]_.

    Parameters
    ----------
    one, other : Limits
    correlation : ndarray of float64, default=None
        Correlation of the estimates [4]_; None if they are independent.
    """
    value = one.value - other.value
    below = reach_of_difference(one.value - one.low, other.high - other.value, correlation)
    above = reach_of_difference(one.high - one.value, other.value - other.low, correlation)
    return Limits(value, np.maximum(value - below, -1.0), np.minimum(value + above, 1.0))


def ratio(one: Limits, other: Limits, correlation: Floats | None = None) -> Limits:
    """Return the ratio of two estimates of at least 0, with limits [3]_.

    The ratio is undefined (NaN) if the denominator is 0; the upper limit is infinite if the lower
    limit of the denominator is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(other.value > 0.0, one.value / other.value, np.nan)
        high = 1.0 / _lower_limit_of_ratio(other, one, correlation)
    return Limits(value, _lower_limit_of_ratio(one, other, correlation), high)


def _lower_limit_of_ratio(one: Limits, other: Limits, correlation: Floats | None = None) -> Floats:
    """Return the lower limit of a ratio; the upper limit is the reciprocal with exchanged roles.

    The usual form, ``(a b - sqrt((a b)**2 - l (2 a - l) u (2 b - u))) / (u (2 b - u))``, is 0 / 0
    if ``u = 2 b``, and cancels near this point. Expanding the fraction avoids 0 / 0 and the
    cancellation. With the correlation r of the estimates, ``a b - r (a - l) (u - b)`` replaces
    ``a b``.
    """
    a, b, low, high = one.value, other.value, one.low, other.high
    of_one, of_other = low * (2.0 * a - low), high * (2.0 * b - high)
    product = a * b
    if correlation is not None:
        product = product - correlation * (a - low) * (high - b)
    root = np.sqrt(np.maximum(product**2 - of_one * of_other, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = of_one / (product + root)
    # A limit of 0 also holds for shares of 0, for which the fraction is 0 / 0.
    return np.where(of_one > 0.0, found, of_one)


# Gaps between groups ------------------------------------------------------------------------


class GapLimits(NamedTuple):
    """Lower and upper limit of a gap."""

    low: float
    high: float


# Function of a tail probability, the error probability of each limit. The function returns the
# values with their lower limits, and the values with their upper limits. Only binned scores give
# different values for the two limits.
Estimates = Callable[[float], tuple[Limits, Limits]]


def estimates_of_shares(shares: Floats, n_rows: Floats) -> Estimates:
    """Return the function that maps tail probabilities to shares with limits."""

    def estimates(tail: float) -> tuple[Limits, Limits]:
        found = clopper_pearson(shares, n_rows, tail)
        return found, found

    return estimates


def estimates_of_aucs(spreads: Spreads) -> Estimates:
    """Return the function that maps tail probabilities to AUCs with limits."""

    def estimates(tail: float) -> tuple[Limits, Limits]:
        low, high = spreads.limits(normal_quantile(tail))
        return (
            Limits(spreads.lowest.auc, low, spreads.lowest.auc),
            Limits(spreads.highest.auc, spreads.highest.auc, high),
        )

    return estimates


def estimates_of_clustered_shares(shares: Shares) -> Estimates:
    """Return the function that maps tail probabilities to shares of clustered rows with limits.

    Shares of a single cluster have the limits 0 and 1.
    """

    def estimates(tail: float) -> tuple[Limits, Limits]:
        value, low, high = clopper_pearson(shares.share, shares.effective_rows(tail), tail)
        known = shares.has_interval
        found = Limits(value, np.where(known, low, 0.0), np.where(known, high, 1.0))
        return found, found

    return estimates


def limits_of_difference(
    estimates: Estimates,
    n_groups: int,
    alpha: float,
    tail: float,
    correlation: Floats | None = None,
) -> GapLimits:
    """Return limits of the largest minus the smallest true value of the groups.

    Parameters
    ----------
    estimates : callable
        See `estimates_of_shares`.
    n_groups : int
        Number of groups, at least 2.
    alpha : float
        Probability with which the lower limit may fail.
    tail : float
        Probability with which the upper limit may fail.
    correlation : ndarray of float64, shape (n_groups, n_groups), default=None
        Correlations of the estimates of all pairs of groups; None if they are independent.
    """
    lowest, highest = estimates(_tail_of(deviate_of_all_pairs(alpha, n_groups)))
    least = _largest(lowest, highest, -1.0, correlation)
    lowest, highest = estimates(_tail_of(deviate_of_furthest_pair(tail, n_groups)))
    most = _largest(highest, lowest, 1.0, correlation)
    return GapLimits(max(least, 0.0), min(most, 1.0))


def _largest(one: Limits, other: Limits, sign: float, correlation: Floats | None) -> float:
    """Return the largest upper (sign 1) or lower (sign -1) limit of the differences of pairs."""
    if sign > 0:
        of_one, of_other = one.high - one.value, other.value - other.low
        alone = one.high.max() - other.low.min()
    else:
        of_one, of_other = one.value - one.low, other.high - other.value
        alone = one.low.max() - other.high.min()
    if one.value.size > MOST_GROUPS:
        return float(alone)
    return largest_of_pairs((one.value, of_one), (other.value, of_other), sign, correlation)[0]


def limits_of_ratio(
    estimates: Estimates,
    n_groups: int,
    alpha: float,
    tail: float,
    correlation: Floats | None = None,
) -> GapLimits:
    """Return limits of the smallest over the largest true value of the groups.

    Parameters
    ----------
    estimates : callable
        See `estimates_of_shares`.
    n_groups : int
        Number of groups, at least 2.
    alpha : float
        Probability with which the upper limit may fail.
    tail : float
        Probability with which the lower limit may fail.
    correlation : ndarray of float64, shape (n_groups, n_groups), default=None
        Correlations of the estimates of all pairs of groups; None if they are independent.
    """
    lowest, highest = estimates(_tail_of(deviate_of_furthest_pair(tail, n_groups)))
    least, _ = _extreme_ratios(lowest, highest, correlation)
    lowest, highest = estimates(_tail_of(deviate_of_all_pairs(alpha, n_groups)))
    _, largest = _extreme_ratios(lowest, highest, correlation)
    # The smallest upper limit of a ratio is the reciprocal of the largest lower limit.
    return GapLimits(least, min(1.0 / largest, 1.0) if largest > 0.0 else 1.0)


def _extreme_ratios(
    lowest: Limits, highest: Limits, correlation: Floats | None
) -> tuple[float, float]:
    """Return the smallest and the largest lower limit of the ratios of all pairs."""
    n_groups = lowest.value.size
    if n_groups > MOST_GROUPS:
        # Upper limits are above 0.
        smallest = float(lowest.low.min() / highest.high.max())
        return smallest, float(lowest.low.max() / highest.high.min())
    smallest, largest = np.inf, 0.0
    for start in range(0, n_groups, _GROUPS_AT_ONCE):
        here = slice(start, start + _GROUPS_AT_ONCE)
        of_pairs = None if correlation is None else correlation[here]
        own_limits = Limits(*(part[here, None] for part in lowest))
        found = _lower_limit_of_ratio(own_limits, highest, of_pairs)
        # Omit the ratio of a group to itself.
        own = np.eye(found.shape[0], n_groups, start, dtype=bool)
        smallest = min(smallest, float(found.min(where=~own, initial=np.inf)))
        largest = max(largest, float(found.max(where=~own, initial=0.0)))
    return smallest, largest


def _tail_of(deviate: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-deviate))
