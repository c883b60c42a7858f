"""Limits for rates and other shares, for their differences and ratios, and for gaps between groups.

A rate has Clopper and Pearson's limits (1934), which hold for any row count. Wilson's limits (1927)
are for shares whose binomial variance is an upper limit, such as shares of positives given the
scores. Limits of the difference of two shares follow from the limits of both (Newcombe's
square-and-add method (1998), with correlations (Zou and Donner 2008)), and so do those of a ratio
(MOVER-R (Donner and Zou 2012)).

The gap between groups is the difference, or the ratio, between the two true values furthest
apart, with the limits of `differences.AllPairs`.

With clusters, cluster c has the part e_c of the numerator E of a group's ratio and the part m_c of
the denominator M. The linearized variance (Cochran 1977) is the sum of the squared residuals ``r_c
= (e_c - m_c E / M) / M``, divided by ``f = 1 - 2 sum(s_c^3) / sum(s_c^2) + sum(s_c^2)`` with ``s_c
= m_c / M``, which makes it unbiased if the rows in a cluster are fully dependent. If groups share
clusters, their ratios have the covariance ``sum r_gc r_hc / sqrt(f_g f_h)``. The design effect (Rao
and Scott 1992) of a rate p of n rows is the variance divided by ``p (1 - p) / (n - 1)``, and at
least 1. Limits use the effective sample size of Korn and Graubard (1998): n divided by the design
effect, times ``(t_{n-1} / t_{k-1})^2`` for an effective number k of clusters, ``1 / sum(s_c^2)``. A
rate of 0 or 1 has no estimated variance, and the effective sample size k of fully dependent rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from skfedauc.counts.moments import Floats
from skfedauc.counts.moments import ratio as divided
from skfedauc.inference.differences import (
    MOST_GROUPS,
    AllPairs,
    Estimates,
    deviate_of_all_pairs,
    deviate_of_furthest_pair,
    shared_errors,
    squares_between,
)
from skfedauc.inference.intervals import Limits
from skfedauc.inference.row_effects import Units

_GROUPS_AT_ONCE = 256
# A single cluster, apart from rounding error
_ONE_CLUSTER = 1.0 + 1e-9


def lower_limit(n_events: ArrayLike, n_trials: ArrayLike, tail: ArrayLike) -> Floats:
    """Return Clopper and Pearson's limit below the probability of an event; NaN without trials.

    It exceeds the true probability with probability `tail` at most. For weighted rows, the number
    of trials is the effective sample size.
    """
    events, trials, tails = np.broadcast_arrays(
        np.asarray(n_events, np.float64), np.asarray(n_trials, np.float64), tail
    )
    found = np.where(trials > 0, 0.0, np.nan)
    some = (events > 0) & (trials > 0)
    limits = betaincinv(events[some], trials[some] - events[some] + 1.0, tails[some])
    # scipy has no result for some tails below 1e-130; 0 is a limit as well.
    found[some] = np.nan_to_num(limits, nan=0.0)
    return found


def upper_limit(n_events: ArrayLike, n_trials: ArrayLike, tail: ArrayLike) -> Floats:
    """Return Clopper and Pearson's limit above the probability of an event, see `lower_limit`."""
    # A difference of unsigned integers could overflow.
    others = np.asarray(n_trials, np.float64) - np.asarray(n_events, np.float64)
    return 1.0 - lower_limit(others, n_trials, tail)


def clopper_pearson(share: ArrayLike, rows: ArrayLike | Shares, tail: float) -> Limits:
    """Return a share's limits from the binomial distribution's tails, each with error `tail`.

    `rows` is the row count in the denominator, the effective sample size if weighted, or the
    precision of clustered shares, which have no limits (NaN) with a single cluster.
    """
    value, n_rows = np.asarray(share, np.float64), _n_rows(rows, tail)
    n_events = n_rows * value
    low = np.minimum(lower_limit(n_events, n_rows, tail), value)
    return Limits(value, low, np.maximum(upper_limit(n_events, n_rows, tail), value))


def wilson(share: ArrayLike, rows: ArrayLike | Shares, tail: float) -> Limits:
    """Return Wilson's limits for a share (1927); arguments as in `clopper_pearson`."""
    value, n_rows = np.asarray(share, np.float64), _n_rows(rows, tail)
    deviate = -ndtri(tail)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = deviate**2 / n_rows
        center = (value + scale / 2.0) / (1.0 + scale)
        reach = np.sqrt(scale * value * (1.0 - value) + scale**2 / 4.0) / (1.0 + scale)
        # Rounding must not put a limit on the other side of the share or outside of 0 to 1.
        low = np.where(value > 0.0, np.clip(center - reach, 0.0, value), value)
        high = np.where(value < 1.0, np.clip(center + reach, value, 1.0), value)
    known = ~np.isnan(n_rows)
    return Limits(value, np.where(known, low, np.nan), np.where(known, high, np.nan))


def _n_rows(rows: ArrayLike | Shares, tail: float) -> Floats:
    return rows.effective_rows(tail) if isinstance(rows, Shares) else np.asarray(rows, np.float64)


def lower_limit_of_ratio(one: Limits, other: Limits, correlation: Floats | None = None) -> Floats:
    """Return the lower limit of a ratio between two estimates of at least 0 (Donner and Zou 2012).

    The upper limit is the reciprocal with exchanged roles, or infinite if that is 1 / 0.
    The usual form, ``(a b - sqrt((a b)**2 - l (2 a - l) u (2 b - u))) / (u (2 b - u))``, is 0 / 0
    if ``u = 2 b``; expanding the fraction avoids this. Correlated estimates have the squares of
    `differences.reach_of_difference`: the limit exceeds 1 if that of the difference exceeds 0.
    """
    a, b, low, high = one.value, other.value, one.low, other.high
    of_one, of_other = low * (2.0 * a - low), high * (2.0 * b - high)
    product = a * b
    r, errors = shared_errors(one, other, correlation)
    if r is not None:
        first, second = a - low, high - b
        s, t = errors or (first, second)
        shared = np.maximum(r, 0.0)
        product = product - shared * s * t - np.minimum(r, 0.0) * first * second

        def added(distance: Floats, error: Floats) -> Floats:
            own = squares_between(distance, error, shared)
            return own - distance**2 + shared * (error**2 - own)

        of_one, of_other = of_one - added(first, s), of_other - added(second, t)
    root = np.sqrt(np.maximum(product**2 - of_one * of_other, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # With a product below 0, the usual denominator would cancel.
        found = np.where(product < 0.0, (product - root) / of_other, of_one / (product + root))
    # Errors can reach beyond a value that is clearly the larger one. Else a limit of 0 holds, also
    # for shares of 0, for which the fraction is 0 / 0.
    is_larger = (a > b) & (of_one + of_other > 2.0 * product)
    return np.where((of_one > 0.0) | is_larger, found, 0.0)


def estimates_of_shares(shares: Floats, rows: Floats | Shares) -> Estimates:
    """Return the function that maps normal quantiles to shares with limits.

    A single cluster's shares have the limits 0 and 1.
    """

    def estimates(deviate: float) -> tuple[Limits, Limits]:
        found = clopper_pearson(shares, rows, tail_of(deviate))
        if isinstance(rows, Shares):
            low, high = np.nan_to_num(found.low, nan=0.0), np.nan_to_num(found.high, nan=1.0)
            found = Limits(found.value, low, high, *rows.errors(deviate))
        return found, found

    return estimates


def limits_of_ratio(pairs: AllPairs, alpha: float) -> tuple[float, float]:
    """Return limits for the smallest over the largest true value, see `AllPairs.largest`.

    Here, the upper limit has the error probability `alpha`, and the lower one half of it.
    """
    ends = pairs.estimates(deviate_of_furthest_pair(alpha / 2, pairs.n_groups))
    least, _ = _extreme_ratios(*ends, pairs.correlation)
    ends = pairs.estimates(deviate_of_all_pairs(alpha, pairs.n_groups))
    _, largest = _extreme_ratios(*ends, pairs.correlation)
    # The smallest upper limit of a ratio is the reciprocal of the largest lower limit.
    return least, min(1.0 / largest, 1.0) if largest > 0.0 else 1.0


def _extreme_ratios(
    lowest: Limits, highest: Limits, correlation: Floats | None
) -> tuple[float, float]:
    """Return the smallest and the largest lower limit over all pair ratios."""
    n_groups = lowest.value.size
    if n_groups > MOST_GROUPS:
        # Upper limits are above 0.
        smallest = float(lowest.low.min() / highest.high.max())
        return smallest, float(lowest.low.max() / highest.high.min())
    smallest, largest = np.inf, 0.0
    for start in range(0, n_groups, _GROUPS_AT_ONCE):
        here = slice(start, start + _GROUPS_AT_ONCE)
        of_pairs = None if correlation is None else correlation[here]
        found = lower_limit_of_ratio(lowest.take((here, None)), highest, of_pairs)
        # Omit the ratio of a group to itself.
        own = np.eye(found.shape[0], n_groups, start, dtype=bool)
        smallest = min(smallest, float(found.min(where=~own, initial=np.inf)))
        largest = max(largest, float(found.max(where=~own, initial=0.0)))
    return smallest, largest


def tail_of(deviate: float) -> float:
    return float(ndtr(-min(deviate, 37.0)))  # Smaller tails lose digits.


class Shares(NamedTuple):
    """Clustered shares (NaN without rows), such as rates, with their precision.

    `n_rows` is the row count in the denominator, or Kish's effective sample size if weighted, and
    `n_clusters` the effective cluster count. `effect` is the design effect, which is that of fully
    dependent rows unless the variance `is_estimated`.
    """

    share: Floats
    n_rows: Floats
    n_clusters: Floats
    effect: Floats
    is_estimated: NDArray[np.bool_]

    @property
    def effective(self) -> Floats:
        """Row count over the design effect; 0 without rows."""
        return divided(self.n_rows, self.effect, 0.0)

    def effective_rows(self, tail: float) -> Floats:
        """Return Korn and Graubard's sample size for limits that fail with probability `tail`.

        NaN for shares with a single cluster, which have no limits.
        """
        found = self.effective / self._stretch(np.asarray(tail)) ** 2
        return np.where(self.n_clusters > _ONE_CLUSTER, found, np.nan)

    def _stretch(self, tail: Floats) -> Floats:
        """Return by how much few clusters stretch the limits: a ratio between t quantiles."""
        # The ratio converges as the tail approaches one half. Quantiles of small tails overflow.
        tail = np.broadcast_to(np.clip(tail, 1e-100, 0.49), self.share.shape)
        found, known = np.ones(self.share.shape), self.is_estimated
        found[known] = stdtrit(self.n_clusters[known] - 1.0, tail[known])
        found[known] /= stdtrit(self.n_rows[known] - 1.0, tail[known])
        return found

    def errors(self, deviate: float) -> tuple[Floats, Floats]:
        """Return standard errors, and quantiles for a normal quantile."""
        stretch = self._stretch(np.asarray(tail_of(abs(deviate))))
        return np.sqrt(self.variance(np.nan_to_num(self.share))), deviate * stretch

    def variance(self, share: Floats) -> Floats:
        """Return the variances if the true shares are `share`; 0 without rows."""
        return divided(share * (1.0 - share), self.effective, 0.0)


@dataclass(frozen=True, eq=False)
class ClusterSums(Units):
    """Sums over units.

    `events` is the ratio's numerator; `weight` and `squares` are the summed weights and squared
    weights in its denominator.
    """

    events: Floats
    weight: Floats
    squares: Floats

    @functools.cached_property
    def total(self) -> Floats:
        """Row weight by group."""
        return self.by_group(self.weight)

    @functools.cached_property
    def value(self) -> Floats:
        """Each group's ratio; NaN without rows."""
        return divided(self.by_group(self.events), self.total)

    @property
    def n_effective_clusters(self) -> Floats:
        """Effective cluster count by group; 0 without rows."""
        return divided(self.total**2, self.by_group(self.weight**2), 0.0)

    @functools.cached_property
    def residuals(self) -> Floats:
        """Unit residuals, whose squares add up to the variances; shape (n_units,)."""
        centered = self.events - self.weight * np.nan_to_num(self.value)[self.group]
        squares, cubes = self.by_group(self.weight**2), self.by_group(self.weight**3)
        share = divided(squares, self.total**2, 1.0)
        remaining = 1.0 - 2.0 * divided(cubes, squares * self.total, 1.0) + share
        has_two = divided(1.0, share, 1.0) > _ONE_CLUSTER
        scale = np.where(has_two, divided(1.0, remaining, 0.0), 0.0)
        return centered * divided(np.sqrt(scale), self.total, 0.0)[self.group]

    @functools.cached_property
    def variance(self) -> Floats:
        """Ratio variances by group; 0 for a single cluster."""
        return self.by_group(self.residuals**2)

    @functools.cached_property
    def shares_clusters(self) -> bool:
        """True if a cluster has denominator rows in several groups."""
        return bool((self.by_cluster((self.weight > 0).astype(np.float64)) > 1).any())

    def precision_of(self, share: Floats) -> Shares:
        """Return row shares, such as prevalences, with the ratios' variances."""
        n_rows, n_clusters = self.n_rows, self.n_effective_clusters
        of_rows = np.nan_to_num(share * (1.0 - share))
        # Rounding error of a share of 0 or 1 of weighted rows is no variation.
        is_estimated = (of_rows > 1e-12) & (np.minimum(n_clusters, n_rows) > _ONE_CLUSTER)
        found = divided(self.variance * np.maximum(n_rows - 1.0, 0.0), of_rows, 1.0)
        effect = np.where(is_estimated, found, divided(n_rows, n_clusters, 1.0))
        return Shares(share, n_rows, n_clusters, np.maximum(effect, 1.0), is_estimated)

    @property
    def n_rows(self) -> Floats:
        """Row counts by group, or Kish's effective sample sizes if weighted."""
        return divided(self.total**2, self.by_group(self.squares), 0.0)

    @functools.cached_property
    def shares(self) -> Shares:
        """Group ratios that are shares of the denominator's rows."""
        return self.precision_of(self.value)

    @functools.cached_property
    def correlation(self) -> Floats | None:
        """Correlations between all groups' shares; None if they are independent."""
        if not self.shares_clusters:
            return None
        error = np.sqrt(self.shares.variance(np.nan_to_num(self.value)))
        found = self.correlations_of(self.residuals * divided(1.0, error, 0.0)[self.group])
        np.fill_diagonal(found, 1.0)
        return found
