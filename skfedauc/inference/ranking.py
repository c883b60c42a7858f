"""Ranking of groups: confidence sets of ranks and the worst group, and shrunken AUCs.

Shrunken AUCs assume normal true AUCs with variance tau2 (Morris 1983); their limits, uniform priors
of the mean and tau2. Ranks follow from comparisons of all pairs (Mogstad et al. 2024).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from skfedauc._group_codes import example_rows
from skfedauc.counts.moments import Floats, ratio
from skfedauc.inference.differences import MOST_GROUPS, all_pairs
from skfedauc.inference.heterogeneity import (
    LARGEST_TAU,
    estimable_aucs,
    reml,
    reml_limits,
    restricted_log_likelihood,
)
from skfedauc.inference.intervals import AUCSpread, Spreads
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes, Variances, bounded, numbered

Ints = NDArray[np.int64]

# Largest number of groups that each group is compared with, to rule it out as the worst
_MOST_OTHERS = 256
_AT_ONCE = 512


class Ranking(NamedTuple):
    """Shrunken AUCs with limits, and ranks; NaN for the groups without a variance.

    `reliability` is the weight of the group's own AUC in the shrunken AUC. The others are for the
    groups that are `ranked`: the rank of the AUC (1 is the largest; ties have the smallest of their
    ranks) with its simultaneous confidence set, and whether the group is in the confidence set of
    the group with the smallest true AUC.
    """

    shrunken_auc: Floats
    ci_low: Floats
    ci_high: Floats
    reliability: Floats
    ranked: NDArray[np.bool_]
    rank: Ints
    rank_low: Ints
    rank_high: Ints
    may_be_worst: NDArray[np.bool_]


def ranking(extremes: Extremes, confidence_level: float) -> Ranking:
    """Return shrunken AUCs and ranks for the groups that have a variance.

    For binned scores, limits and comparisons have the groups at the least favorable extremes.
    """
    extremes.given.check_independent_groups("ranking")
    auc, low, high, reliability = shrunken_aucs(extremes.given, confidence_level)
    if extremes.is_binned:
        low = np.minimum(low, shrunken_aucs(extremes.lowest, confidence_level)[1])
        high = np.maximum(high, shrunken_aucs(extremes.highest, confidence_level)[2])
    ranked = ~np.isnan(auc)
    # Groups that are alike in all extremes are compared once.
    ends = extremes if extremes.is_binned else extremes[:1]
    place = numbered(*(end.alike[ranked] for end in ends))
    example, n = np.flatnonzero(ranked)[example_rows(place)], np.bincount(place)
    observed, spreads = extremes.given.auc[example], Spreads.of(extremes).take(example)
    n_larger, n_smaller = n_clearly_different(spreads, n, confidence_level)
    may_be_worst = may_be_smallest(spreads, n, confidence_level)
    return Ranking(
        *(auc, low, high, reliability),
        ranked,
        rank=1 + _n_above(observed, n, observed)[place],
        rank_low=1 + n_larger[place],
        rank_high=(n.sum() - n_smaller)[place],
        may_be_worst=may_be_worst[place],
    )


def _n_above(values: Floats, n: Ints, limits: Floats) -> Ints:
    """Return how many groups have a value above each limit; each value is that of `n` groups."""
    order = np.argsort(values)
    up_to = np.append(0, np.cumsum(n[order]))
    return np.asarray(up_to[-1] - up_to[np.searchsorted(values[order], limits, side="right")])


def n_clearly_different(spreads: Spreads, n: Ints, confidence_level: float) -> tuple[Ints, Ints]:
    """Return the numbers of groups with a clearly larger or smaller true AUC than each AUC.

    Each AUC is that of `n` groups. A difference is clear if its simultaneous interval, as in
    `compare_pairs`, excludes 0; above `MOST_GROUPS` groups, if those of both AUCs do not overlap.
    """
    n_groups = int(n.sum())
    n_larger, n_smaller = np.zeros((2, n.size), np.int64)
    if n_groups < 2:
        return n_larger, n_smaller
    deviate = all_pairs(1.0 - confidence_level, n_groups).deviate
    one, two = spreads.estimates(deviate)
    lowest, low, highest, high = one.value, one.low, two.value, two.high
    if n_groups > MOST_GROUPS:
        return _n_above(low, n, high), _n_above(-high, n, -low)
    order = np.argsort(low)
    for start in range(0, n.size, 256):
        here = order[start : start + 256]
        # Only these can be smaller, because either distance is at most the difference.
        others = np.flatnonzero((highest < low[here].max()) & (high < lowest[here].max()))
        # Row g, column h: True if the AUC of group g is clearly larger than the AUC of group h
        of_others = (high - highest)[others]
        is_larger = _exceeds((lowest - low)[here], lowest[here], highest[others], of_others)
        n_smaller[here] = is_larger @ n[others]
        n_larger[others] += n[here] @ is_larger
    return n_larger, n_smaller


def may_be_smallest(spreads: Spreads, n: Ints, confidence_level: float) -> NDArray[np.bool_]:
    """Return a set that contains the group with the smallest true AUC (Gupta 1965).

    Only the k - 1 comparisons of the worst group itself can rule it out. Their correlations are
    positive, so Sidak's quantile for k - 1 comparisons is an upper bound. Each AUC, that of `n`
    groups, is compared with the 256 AUCs whose upper limits are smallest; more could only rule out
    further groups.
    """
    if n.sum() < 2:
        return np.ones(n.size, np.bool_)
    tail = -np.expm1(np.log(confidence_level) / (n.sum() - 1))
    deviate = normal_quantile(min(float(tail), 0.5))
    one, two = spreads.estimates(deviate)
    lowest, low, highest, high = one.value, one.low, two.value, two.high
    others = np.argsort(high, kind="stable")[:_MOST_OTHERS]
    of_others = (high - highest)[others]
    found = np.ones(lowest.size, np.bool_)
    # Only these groups can be ruled out, because either distance is at most the reach.
    tested = np.flatnonzero((low > highest[others].min()) & (lowest > high[others].min()))
    for start in range(0, tested.size, _AT_ONCE):
        here = tested[start : start + _AT_ONCE]
        is_larger = _exceeds((lowest - low)[here], lowest[here], highest[others], of_others)
        found[here] = ~is_larger.any(axis=1)
    return found


def _exceeds(below: Floats, auc: Floats, other: Floats, above: Floats) -> NDArray[np.bool_]:
    """Return whether the lower limit of each difference, AUC minus other AUC, is above 0.

    `below` and `above` are the distances of the AUCs to their lower and upper limits. Compare
    squares, because roots take most of the time of large rankings.
    """
    apart = auc[:, None] - other
    return (apart > 0.0) & (np.square(apart) > np.square(below)[:, None] + np.square(above))


# Shrinkage towards an estimated mean reduces the error only with at least four groups.
LEAST_GROUPS = 4
# The posterior of tau2 is negligible outside of the interval of tau2 at this confidence level.
_NEARLY_SURE = 1.0 - 1e-6
# Nodes of the integral over tau2. A posterior on a range of ``log(v + tau2)`` below `_NARROW` times
# its distance from tau2 = 0 needs `_FEW_NODES` nodes only, for an error below 1e-12.
_N_NODES, _FEW_NODES, _NARROW = 32, 6, 0.5
# Steps to a quantile, the error of a deviate at which a last step follows, and numbers in memory
_MOST_STEPS, _TOLERANCE = 30, 1e-3
_NUMBERS_AT_ONCE = 1 << 15


def shrunken_aucs(variances: Variances, confidence_level: float) -> Floats:
    """Return shrunken AUCs, their limits and reliabilities, shape (4, n_groups).

    The variances are those from placement values pooled over groups: with a group's own variance,
    an AUC that is high by chance would shrink too little. With fewer than four groups, the result
    is the AUCs themselves with their own limits.
    """
    auc, variance, kept = estimable_aucs(variances)
    found = np.full((4, kept.size), np.nan)
    if auc.size < LEAST_GROUPS:
        deviate = normal_quantile((1.0 - confidence_level) / 2.0)
        low, high = AUCSpread.of(variances).limits(deviate)
        found[:, kept] = auc, low[kept], high[kept], np.ones(auc.size)
        return found
    # A least variance for groups without variation (perfect separation)
    delong, n = variances.delong, variances.n_pairs
    least = bounded(delong, variances.auc, n, n, variances.defined)[kept]
    variance = np.where(delong[kept] == 0.0, np.maximum(variance, least), variance)
    place = numbered(auc, variance)
    example, n = example_rows(place), np.bincount(place).astype(np.float64)
    auc, variance = auc[example], variance[example]
    estimate, reliability = empirical_bayes(auc, variance, n)
    low, high = posterior_limits(auc, variance, confidence_level, n)
    # At a low confidence level, the estimate can be outside of the limits.
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    of_pairs = np.array([estimate, *np.clip([low, high], 0.0, 1.0), reliability])
    found[:, np.flatnonzero(kept)] = of_pairs.take(place, axis=1)
    return found


def empirical_bayes(
    values: ArrayLike, variances: ArrayLike, n: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Estimate the true values of at least four groups; each value is that of `n` groups.

    By Morris (1983): with k groups, ``w = 1 / (v + tau2)`` and the weighted mean m, the weight of m
    is ``b = (k - 3) / (k - 1) v w``. The first factor makes b unbiased if all variances are equal.
    The second result is the weight of each value, 1 - b.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    tau2 = min(reml(y, v, n), LARGEST_TAU**2)
    k, weight = np.broadcast_to(n, y.shape).sum(), 1.0 / (v + tau2)
    mean = (n * weight * y).sum() / (n * weight).sum()
    of_mean = (k - 3) / (k - 1) * v * weight
    return y - of_mean * (y - mean), 1.0 - of_mean


def posterior_limits(
    y: Floats, v: Floats, confidence_level: float, n: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Return limits of the true values from their posterior; `n` as in `empirical_bayes`.

    By Morris and Lysy (2012): given tau2, a true value is normal with mean ``y - v w (y - m)`` and
    variance ``tau2 v w + (v w)**2 / sum(w)``. The posterior of tau2 is proportional to the
    restricted likelihood. Limits at a single estimate of tau2, which is often 0 by chance, would be
    too narrow.
    """
    share, tau2, mean, mean_variance = _posterior(y, v, n)
    tail = (1.0 - confidence_level) / 2.0
    low, high = np.empty((2, y.size))
    step = _NUMBERS_AT_ONCE // share.size
    for start in range(0, y.size, step):
        here = slice(start, start + step)
        of_mean = v[here] / (v[here] + tau2)
        centers = y[here] - of_mean * (y[here] - mean)
        deviations = np.sqrt(tau2 * of_mean + of_mean**2 * mean_variance)
        low[here] = _lower_quantiles(share, centers, deviations, tail)
        high[here] = -_lower_quantiles(share, -centers, deviations, tail)
    return low, high


def _posterior(y: Floats, v: Floats, n: Floats | float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the posterior of tau2 on a few nodes.

    The result holds the probability of each node, and columns of tau2, of the mean of the true
    values and of the variance of this mean.
    """
    typical = np.broadcast_to(n, v.shape).sum() / (n / v).sum()
    ends = np.log(np.square(reml_limits(y, v, _NEARLY_SURE, n)) + typical)

    def tau2_at(points: Floats) -> Floats:
        tau2: Floats = np.exp(ends.mean() + np.ptp(ends) / 2.0 * points) - typical
        return np.maximum(tau2, 0.0)

    # Gauss and Legendre's rule for the logarithm of ``v + tau2``
    points, lengths = np.polynomial.legendre.leggauss(_N_NODES)
    nodes = tau2_at(points)
    likelihood = np.array([restricted_log_likelihood(y, v, tau2, n) for tau2 in nodes.tolist()])
    # A uniform density of tau2 is proportional to the variance on the logarithmic scale.
    share = lengths * (nodes + typical) * np.exp(likelihood - likelihood.max())
    share /= share.sum()
    if np.ptp(ends) < _NARROW * min(ends.mean() - np.log(typical), 1.0):
        # Gauss's rule for the posterior: nodes are eigenvalues of its tridiagonal matrix.
        polynomials = np.polynomial.legendre.legvander(points, _FEW_NODES - 1)
        basis, _ = np.linalg.qr(np.sqrt(share)[:, None] * polynomials)
        points, vectors = np.linalg.eigh(basis.T @ (points[:, None] * basis))
        nodes, share = tau2_at(points), vectors[0] ** 2
    total, mean = np.empty((2, nodes.size))
    for i, tau2 in enumerate(nodes.tolist()):
        weight = n / (v + tau2)
        total[i], mean[i] = weight.sum(), (weight * y).sum()
    return share, nodes[:, None], (mean / total)[:, None], 1.0 / total[:, None]


def _lower_quantiles(share: Floats, means: Floats, deviations: Floats, tail: float) -> Floats:
    """Return the quantile at `tail` of each column's mixture of normal distributions."""
    # Unlike a matrix product, einsum starts no threads, which would take longer.
    average: Callable[[Floats], Floats] = functools.partial(np.einsum, "i,ij->j", share)
    deviate = -normal_quantile(tail)
    # A quantile of a mixture is between the smallest and the largest quantile of its components.
    quantiles = means + deviate * deviations
    low, high = quantiles.min(axis=0), quantiles.max(axis=0)
    found, over = average(quantiles), 1.0 / deviations
    for _ in range(_MOST_STEPS):
        scaled = (found - means) * over
        # Halley's step for the deviate of the probability, which is nearly linear. The error after
        # a step is about the cube of the error before.
        reached = ndtri(np.clip(average(ndtr(scaled)), 1e-12, 1.0 - 1e-12))
        scale, error = np.exp(np.square(reached) / 2.0), reached - deviate
        density = over * np.exp(-np.square(scaled) / 2.0)
        slope = scale * average(density)
        curvature = reached * slope**2 - scale * average(scaled * density * over)
        step = found - ratio(2.0 * error * slope, 2.0 * slope**2 - error * curvature)
        low, high = np.where(error < 0.0, found, low), np.where(error < 0.0, high, found)
        is_inside = (low <= step) & (step <= high)
        found = np.where(is_inside, step, (low + high) / 2.0)
        if (is_inside & (np.abs(error) < _TOLERANCE)).all():
            break
    return found
