"""Averages of group AUCs over new groups: their variance, and the distribution of the statistic.

The groups are a sample of a population, and their values vary alike. The weighted mean and the
estimate of its variance are then dependent unless the weights are equal, so that Student's t with
Satterthwaite's degrees of freedom is far too wide: for ten groups of which one has 60 % of the
weight the quantile of 95 % is 10.9, and 3.0 where the dependence is accounted for.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Random numbers drawn in all, and bounds of the number of draws; one draw has one for each group.
_NUMBERS, _LEAST_DRAWS, _MOST_DRAWS = 1 << 23, 400, 20_000
_NUMBERS_AT_ONCE = 1 << 20
# Logarithm of the largest number of standard errors that is looked for
_FURTHEST = 20.0


def variance_over_groups(values: Floats, share: Floats) -> float:
    """Variance of a weighted mean over new groups; `share` adds up to 1.

    The squared deviation of a group's value from the mean is too small by a factor that depends
    on the group's own share c, 1 - 2 c + sum c**2, and is divided by it. With equal shares this is
    the usual variance of a mean.
    """
    weight, deviation = _weights(share), values - np.dot(share, values)
    return float((weight * deviation**2).sum())


def _weights(share: Floats) -> Floats:
    weights: Floats = share**2 / (1.0 - 2.0 * share + (share**2).sum())
    return weights


class StudentT(NamedTuple):
    """Student's t with these degrees of freedom; the normal distribution with infinitely many."""

    freedom: float

    def tail(self, statistic: float) -> float:
        """Return the probability of a larger value."""
        from scipy.special import stdtr

        return float(stdtr(self.freedom, -statistic))

    def quantile(self, tail: float) -> float:
        """Return the value that is exceeded with probability `tail`."""
        from scipy.special import stdtrit

        return float(-stdtrit(self.freedom, tail))


NORMAL = StudentT(np.inf)


class OverGroups(NamedTuple):
    """A weighted mean of expectation 0 over the root of `variance_over_groups`.

    The values are normal and of equal variance. Given their part that is independent of the mean,
    which is drawn from a fixed seed, the statistic exceeds a value where a quadratic function of
    the mean is above 0: that probability is known, and averaged over the draws. With equal shares
    the distribution is Student's t.

    Attributes
    ----------
    share : ndarray of float64, shape (n_groups,)
        Weight of each group; adds up to 1.
    """

    share: Floats

    @property
    def _equal(self) -> bool:
        return bool(np.ptp(self.share) <= 1e-9 * self.share.max())

    def tail(self, statistic: float) -> float:
        """Return the probability of a larger value, for a value of at least 0."""
        from scipy.special import ndtr

        if self._equal:
            return StudentT(self.share.size - 1).tail(statistic)
        if statistic == 0.0:
            return 0.5
        drawn = _draws(self.share.tobytes())
        # With x the mean over its standard deviation: where ``a x**2 - 2 b x - c > 0`` and x > 0
        squared = statistic**2 / float((self.share**2).sum())
        a = 1.0 - squared * drawn.square
        b, c = squared * drawn.product, squared * drawn.rest
        root = np.sqrt(np.maximum(b**2 + a * c, 0.0))
        if a > 0:
            # One root is above 0, the other one below.
            return float(ndtr(-(b + root) / a).mean())
        # A larger mean increases the estimate of its own variance by more: x is between the roots.
        reached = (b**2 + a * c > 0) & (b < 0)
        ends = [(b[reached] + sign * root[reached]) / a for sign in (1.0, -1.0)]
        total = float((ndtr(-np.minimum(*ends)) - ndtr(-np.maximum(*ends))).sum())
        # Few draws get there: no probability is smaller than that of half a draw.
        return max(total, 0.5) / reached.size

    def quantile(self, tail: float) -> float:
        """Return the value that is exceeded with probability `tail`; infinite below half a draw."""
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
    """Coefficients of the estimated variance, a quadratic function of the mean, by draw."""

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
        # The part that is independent of the mean
        values -= np.outer(values @ share, share / squares)
        here = slice(start, start + len(values))
        product[here], rest[here] = values @ (weight * slope), values**2 @ weight
    scale = np.sqrt(squares)
    return _Draws(float((weight * slope**2).sum()) * squares, product * scale, rest)
