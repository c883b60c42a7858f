"""Averages of the AUCs of random groups: variance, and null distribution of the t statistic.

The groups are a sample from a population of groups, and their AUCs have equal variances. With
unequal weights, the weighted mean and the estimate of its variance are dependent. Student's t with
Satterthwaite's degrees of freedom therefore gives far too wide intervals. If one of ten groups has
60 % of the weight, the quantile of this t distribution for 95 % is 10.9. The quantile that accounts
for the dependence is 3.0.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import is_rounding_error

Floats = NDArray[np.float64]

# Largest total of random numbers, and bounds on the number of draws; a draw has one number per
# group.
_NUMBERS, _LEAST_DRAWS, _MOST_DRAWS = 1 << 23, 400, 20_000
_NUMBERS_AT_ONCE = 1 << 20
# Logarithm of the largest quantile that `_quantile` returns, in standard errors
_FURTHEST = 20.0


def variance_over_groups(values: Floats, share: Floats) -> float:
    """Estimate the variance of a weighted mean of random groups; `share` sums to 1.

    The expected squared deviation of a group's value from the mean is a multiple of the variance.
    With the share c of the group, the factor is 1 - 2 c + sum c**2. The estimate divides the
    squared deviation by this factor. With equal shares the result is the usual variance of a mean.
    """
    weight, deviation = _weights(share), values - np.dot(share, values)
    variance = (weight * deviation**2).sum()
    return 0.0 if is_rounding_error(variance, weight.sum()) else float(variance)


def _weights(share: Floats) -> Floats:
    weights: Floats = share**2 / (1.0 - 2.0 * share + (share**2).sum())
    return weights


class StudentT(NamedTuple):
    """Student's t distribution; the normal distribution for infinite degrees of freedom."""

    degrees_of_freedom: float

    def tail(self, statistic: float) -> float:
        """Return the probability of exceeding `statistic`."""
        from scipy.special import stdtr

        return float(stdtr(self.degrees_of_freedom, -statistic))

    def quantile(self, tail: float) -> float:
        """Return the upper quantile at the probability `tail`."""
        from scipy.special import stdtrit

        return float(-stdtrit(self.degrees_of_freedom, tail))


class OverGroups(NamedTuple):
    """Null distribution of a weighted mean divided by its estimated standard error.

    The standard error is the square root of `variance_over_groups`. The values of the groups are
    normal with mean 0 and equal variances. Draws with a fixed seed give the part of the values that
    is independent of the weighted mean. Given this part, the statistic exceeds a limit if a
    quadratic function of the weighted mean is positive. The tail probability is the mean over the
    draws of the probability of this event. With equal shares, the distribution is Student's t.

    Attributes
    ----------
    share : ndarray of float64, shape (n_groups,)
        Weight of each group; sums to 1.
    """

    share: Floats

    @property
    def _equal(self) -> bool:
        return bool(np.ptp(self.share) <= 1e-9 * self.share.max())

    def tail(self, statistic: float) -> float:
        """Return the probability of exceeding `statistic`, a number of at least 0."""
        from scipy.special import ndtr

        if self._equal:
            return StudentT(self.share.size - 1).tail(statistic)
        if statistic == 0.0:
            return 0.5
        drawn = _draws(self.share.tobytes())
        # Let x be the mean divided by its standard deviation. The random statistic exceeds
        # `statistic` if ``a x**2 - 2 b x - c > 0`` and x > 0.
        squared = statistic**2 / float((self.share**2).sum())
        a = 1.0 - squared * drawn.square
        b, c = squared * drawn.product, squared * drawn.rest
        root = np.sqrt(np.maximum(b**2 + a * c, 0.0))
        if a > 0:
            # Only one of the two roots is positive.
            return float(ndtr(-(b + root) / a).mean())
        # The estimated variance grows faster than the squared mean, so x must be between the roots.
        reached = (b**2 + a * c > 0) & (b < 0)
        ends = [(b[reached] + sign * root[reached]) / a for sign in (1.0, -1.0)]
        total = float((ndtr(-np.minimum(*ends)) - ndtr(-np.maximum(*ends))).sum())
        # The draws cannot resolve smaller tail probabilities: return at least half a draw.
        return max(total, 0.5) / reached.size

    def quantile(self, tail: float) -> float:
        """Return the upper quantile at the probability `tail`; infinite if `tail` is too small."""
        if self._equal:
            return StudentT(self.share.size - 1).quantile(tail)
        return _quantile(self.share.tobytes(), tail)


@functools.lru_cache(maxsize=64)
def _quantile(shares: bytes, tail: float) -> float:
    from scipy.optimize import brentq

    null = OverGroups(np.frombuffer(shares))

    def excess(logarithm: float) -> float:
        return null.tail(float(np.exp(logarithm))) - tail

    if excess(_FURTHEST) >= 0:
        return float("inf")
    return float(np.exp(brentq(excess, -_FURTHEST, _FURTHEST, xtol=1e-12)))


class _Draws(NamedTuple):
    """Estimated variance as a quadratic function of the weighted mean: coefficients by draw."""

    square: float
    product: Floats
    rest: Floats


@functools.lru_cache(maxsize=8)
def _draws(shares: bytes) -> _Draws:
    share = np.frombuffer(shares)
    squares = float((share**2).sum())
    weight, slope = _weights(share), share / squares - 1.0
    n_draws = int(np.clip(_NUMBERS // share.size, _LEAST_DRAWS, _MOST_DRAWS))
    rng = np.random.default_rng(0)
    product, rest = np.empty((2, n_draws))
    step = max(_NUMBERS_AT_ONCE // share.size, 1)
    for start in range(0, n_draws, step):
        values = rng.standard_normal((min(step, n_draws - start), share.size))
        # Remove the part that depends on the weighted mean.
        values -= np.outer(values @ share, share / squares)
        here = slice(start, start + len(values))
        product[here], rest[here] = values @ (weight * slope), values**2 @ weight
    scale = np.sqrt(squares)
    return _Draws(float((weight * slope**2).sum()) * squares, product * scale, rest)
