"""Differences between group AUCs: two groups, all pairs of groups, and the largest difference.

The limits of a difference follow from the limits of the two AUCs [1]_. With AUCs a and b and their
limits (l, u) and (L, U), the lower limit of a - b is ``a - b - sqrt((a - l)**2 + (U - b)**2)``. The
comparison of all pairs uses quantiles of the studentized range [2]_ [3]_; with two groups, this is
the usual two-sample comparison. Each p value is the smallest error rate at which the interval
excludes 0, so p values and intervals agree.

If groups share clusters, the AUCs a and b have an estimated correlation r. The root then has the
additional term ``- 2 r (a - l) (U - b)``. The quantiles of the studentized range are then an
approximation. For binned scores, r is the smaller of its values at both extremes.

For binned scores, each limit uses the least favorable extreme. The lower limit of a - b uses a and
l of the lowest AUCs, and b and U of the highest AUCs.

References
----------
.. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
.. [2] Tukey, J. W. (1953). The problem of multiple comparisons. Princeton University.
.. [3] Kramer, C. Y. (1956). Extension of multiple range tests to group means with unequal numbers
   of replications. Biometrics 12(3). https://doi.org/10.2307/3001469
.. [4] Sidak, Z. (1967). Rectangular confidence regions for the means of multivariate normal
   distributions. Journal of the American Statistical Association 62(318).
   https://doi.org/10.1080/01621459.1967.10482935
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.intervals import AUCSpread, Interval, Method, group_limits, spread_of
from skfedauc.inference.quantiles import (
    normal_quantile,
    roots_of,
    studentized_range_quantile,
    studentized_range_tail,
)
from skfedauc.inference.variances import Extremes, Variances

Floats = NDArray[np.float64]

# The upper tail probability of this normal quantile is 0 in floating point.
_FURTHEST = 38.0
_AT_ONCE = 4096
# Largest number of groups for a comparison of all pairs. With more groups, compare the largest
# limit and the smallest limit of single groups.
MOST_GROUPS = 2_000


@dataclasses.dataclass(frozen=True, repr=False)
class DifferenceTest:
    """Test and interval of the largest difference between group AUCs.

    Attributes
    ----------
    difference : float
        Largest minus smallest group AUC.
    ci_low, ci_high : float
        Confidence limits of the largest minus the smallest true AUC.
    pvalue : float
        P value of the null hypothesis that all true AUCs are equal. The p value is below
        ``1 - confidence_level`` if and only if `ci_low` is above 0.
    confidence_level : float
        Confidence level of the interval.
    highest, lowest : object
        Labels of the groups with the largest and the smallest AUC; the first of tied groups.
    clearest : tuple of two objects, or None
        Labels of the two groups with the most significant difference, which determines `pvalue`;
        the group with the larger AUC comes first. The pair can differ from `highest` and `lowest`,
        because the largest or the smallest AUC can belong to a tiny group. None if `pvalue` is 1.
    n_groups : int
        Number of groups with a defined AUC.
    method : str
        Method of comparison, or the reason for the lack of a result.
    """

    difference: float
    ci_low: float
    ci_high: float
    pvalue: float
    confidence_level: float
    highest: Any
    lowest: Any
    clearest: tuple[Any, Any] | None
    n_groups: int
    method: str

    def __repr__(self) -> str:
        clearest = ""
        if self.clearest not in (None, (self.highest, self.lowest)):
            clearest = f" (clearest: {' minus '.join(map(repr, self.clearest or ()))})"
        return (
            f"DifferenceTest(difference={self.difference:.4g}, pvalue={self.pvalue:.4g}, "
            f"{self.confidence_level * 100:g} % interval {self.ci_low:.4g} to {self.ci_high:.4g}): "
            f"{self.highest!r} minus {self.lowest!r}{clearest}, {self.n_groups:,} groups, "
            f"{self.method}"
        )


class Comparisons(NamedTuple):
    """Comparisons of pairs of AUCs by their differences.

    Attributes
    ----------
    auc, other : ndarray of float64, shape (n_comparisons,)
        The two AUCs; their difference is ``auc - other``.
    ci_low, ci_high : ndarray of float64, shape (n_comparisons,)
        Confidence limits of each difference.
    simultaneous_low, simultaneous_high : ndarray of float64, shape (n_comparisons,)
        Simultaneous confidence limits of all differences.
    statistic : ndarray of float64, shape (n_comparisons,)
        Normal quantile at which the unadjusted interval of the comparison ends at 0, with the sign
        of the difference.
    pvalue, pvalue_adjusted : ndarray of float64, shape (n_comparisons,)
        Unadjusted and adjusted p values.
    adjustment : str
        Name of the adjustment for multiple comparisons.
    """

    auc: Floats
    other: Floats
    ci_low: Floats
    ci_high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    statistic: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    adjustment: str


# The largest difference ---------------------------------------------------------------------


class Spreads(NamedTuple):
    """Group AUCs at both extremes of binned scores; the extremes of exact scores are equal."""

    lowest: AUCSpread
    highest: AUCSpread

    @classmethod
    def of(cls, extremes: Extremes) -> Spreads:
        """Return the spreads of all groups."""
        lowest = spread_of(extremes.lowest)
        is_exact = extremes.highest is extremes.lowest
        return cls(lowest, lowest if is_exact else spread_of(extremes.highest))

    def take(self, which: NDArray[Any] | slice) -> Spreads:
        """Return the elements of the selected AUCs."""
        return Spreads(self.lowest.take(which), self.highest.take(which))

    def limits(self, deviate: ArrayLike, method: Method) -> tuple[Floats, Floats]:
        """Return lower limits of the lowest AUCs and upper limits of the highest AUCs."""
        return self.lowest.limit(0.0, deviate, method), self.highest.limit(1.0, deviate, method)


class UsedGroups(NamedTuple):
    """Groups of a comparison of AUCs.

    Attributes
    ----------
    variances : Variances
    auc : ndarray of float64, shape (n_groups,)
        AUC of each group; a number can replace an undefined AUC.
    used : ndarray of bool, shape (n_groups,)
    """

    variances: Variances
    auc: Floats
    used: NDArray[np.bool_]

    @property
    def spread(self) -> AUCSpread:
        """AUCs and variances of the groups in use; a number for an undefined AUC has variance 0."""
        spread, defined = spread_of(self.variances), self.variances.defined
        variance = np.where(defined, spread.variance, 0.0)
        return spread._replace(auc=self.auc, variance=variance).take(self.used)

    @property
    def correlation(self) -> Floats | None:
        """Correlations of the AUCs of all pairs of groups in use; None if they are independent."""
        if not self.variances.shares_clusters or self.used.sum() > MOST_GROUPS:
            return None
        return self.variances.correlation_matrix(self.used)

    def limits_of_groups(self, tail: float, method: Method) -> tuple[Floats, Floats]:
        """Return limits of each group; a number that replaces an undefined AUC is its own limit."""
        low, high, _ = group_limits(self.variances, tail, method)
        low = np.where(self.variances.defined, low, self.auc)
        high = np.where(self.variances.defined, high, self.auc)
        return low[self.used], high[self.used]


def least_correlation(lowest: UsedGroups, highest: UsedGroups) -> Floats | None:
    """Return the smaller of the correlations at both extremes; None if the AUCs are independent."""
    found, other = lowest.correlation, highest.correlation
    return None if found is None or other is None else np.minimum(found, other)


def difference_interval(
    value: float,
    lowest: UsedGroups,
    highest: UsedGroups,
    confidence_level: float,
    method: Method,
) -> Interval:
    """Return the interval of the largest minus the smallest true AUC of the groups.

    Parameters
    ----------
    value : float
        Largest minus smallest AUC of the groups.
    lowest, highest : UsedGroups
        The groups at both extremes of binned scores; equal for exact scores.
    confidence_level : float
    method : {"logit", "delong", "exact"}

    Notes
    -----
    The lower limit is the largest simultaneous lower limit of all pairs. The upper limit only has
    to cover the true difference of the two groups that are furthest apart. The upper limit is
    therefore the largest unadjusted upper limit of all pairs. If all true AUCs are equal, only the
    lower limit can fail. Otherwise, each limit fails with half the error probability.
    """
    alpha, n_groups = 1.0 - confidence_level, int(lowest.used.sum())
    if method == "exact":
        tail = alpha / (4 * n_groups)
        low, _ = lowest.limits_of_groups(tail, method)
        _, high = highest.limits_of_groups(tail, method)
        least = float(low.max() - high.min())
        low, _ = lowest.limits_of_groups(alpha / 4, method)
        _, high = highest.limits_of_groups(alpha / 4, method)
        return Interval(value, max(least, 0.0), min(float(high.max() - low.min()), 1.0))
    spreads = Spreads(lowest.spread, highest.spread)
    correlation = least_correlation(lowest, highest)
    deviate = deviate_of_all_pairs(alpha, n_groups)
    least, _ = _lower_limit(spreads, deviate, method, correlation)
    deviate = deviate_of_furthest_pair(alpha / 2, n_groups)
    most, _ = upper_limit(spreads, deviate, correlation, method)
    return Interval(value, max(least, 0.0), min(most, 1.0))


def clearest_difference(
    lowest: UsedGroups, highest: UsedGroups
) -> tuple[float, tuple[int, int] | None]:
    """Return the p value of the largest difference, and the indices of the most significant pair.

    The p value is the alpha at which the largest lower limit of all pairs is 0. The pair with this
    limit is the most significant pair. The pair is None if the p value is 1. For binned scores, the
    arguments are the groups at both extremes.
    """
    from scipy.optimize import brentq

    spreads, n_groups = Spreads(lowest.spread, highest.spread), int(lowest.used.sum())
    correlation = least_correlation(lowest, highest)

    def lower_limit(deviate: float) -> float:
        return _lower_limit(spreads, deviate, "logit", correlation)[0]

    if lower_limit(0.0) <= 0.0:
        return 1.0, None
    is_clear = lower_limit(_FURTHEST) > 0.0
    deviate = _FURTHEST
    if not is_clear:
        deviate = brentq(lower_limit, 0.0, _FURTHEST, xtol=1e-13, rtol=1e-13)
    _, (higher, lower) = _lower_limit(spreads, deviate, "logit", correlation)
    numbers = np.flatnonzero(lowest.used)
    pvalue = 0.0 if is_clear else _pvalue_of_all_pairs(deviate, n_groups)
    return pvalue, (int(numbers[higher]), int(numbers[lower]))


def deviate_of_all_pairs(alpha: float, n_groups: int) -> float:
    """Return the normal quantile of simultaneous intervals for the differences of all pairs."""
    if n_groups > MOST_GROUPS:
        return normal_quantile(alpha / (2 * n_groups))
    return studentized_range_quantile(alpha, n_groups) / float(np.sqrt(2.0))


def deviate_of_furthest_pair(tail: float, n_groups: int) -> float:
    """Return the normal quantile of an upper limit of the largest difference.

    The limit fails with probability `tail`. The limit only has to cover the difference of the two
    groups that are furthest apart, so the quantile needs no adjustment for the number of pairs.
    Above `MOST_GROUPS` groups, the limits of both groups of the pair can fail.
    """
    return normal_quantile(tail / 2.0 if n_groups > MOST_GROUPS else tail)


def upper_limit(
    spreads: Spreads, deviate: float, correlation: Floats | None, method: Method = "logit"
) -> tuple[float, tuple[int, int]]:
    """Return the largest upper limit of a difference, and its pair of groups.

    The limit increases with the deviate, and fails with a probability above one half if the deviate
    is below 0.
    """
    low = spreads.lowest.signed_limit(0.0, deviate, method)
    high = spreads.highest.signed_limit(1.0, deviate, method)
    lowest, highest = spreads.lowest.auc, spreads.highest.auc
    if low.size > MOST_GROUPS:
        return float(high.max() - low.min()), (int(high.argmax()), int(low.argmin()))
    return largest_of_pairs((highest, high - highest), (lowest, lowest - low), 1.0, correlation)


def _pvalue_of_all_pairs(deviate: float, n_groups: int) -> float:
    from scipy.special import ndtr

    if n_groups > MOST_GROUPS:
        return min(2.0 * n_groups * float(ndtr(-deviate)), 1.0)
    return float(studentized_range_tail(deviate * np.sqrt(2.0), n_groups))


def n_clearly_different(
    spreads: Spreads, confidence_level: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each group, the numbers of groups with a clearly larger and smaller true AUC.

    A difference is clear if its simultaneous interval, as in `all_pairs`, excludes 0. Above
    `MOST_GROUPS` groups, a difference is clear if the simultaneous intervals of the two AUCs do not
    overlap.
    """
    n_groups = spreads.lowest.auc.size
    n_larger, n_smaller = np.zeros((2, n_groups), np.int64)
    if n_groups < 2:
        return n_larger, n_smaller
    low, high = spreads.limits(deviate_of_all_pairs(1.0 - confidence_level, n_groups), "logit")
    if n_groups > MOST_GROUPS:
        n_larger += n_groups - np.searchsorted(np.sort(low), high, side="right")
        n_smaller += np.searchsorted(np.sort(high), low, side="left")
        return n_larger, n_smaller
    lowest, highest = spreads.lowest.auc, spreads.highest.auc
    for start in range(0, n_groups, 256):
        here = slice(start, start + 256)
        reach = np.hypot((lowest - low)[here, None], high - highest)
        # Row g, column h: True if the AUC of group g is clearly larger than the AUC of group h. No
        # AUC is larger than itself.
        is_larger = lowest[here, None] - highest - reach > 0.0
        n_smaller[here] = is_larger.sum(axis=1)
        n_larger += is_larger.sum(axis=0)
    return n_larger, n_smaller


def _lower_limit(
    spreads: Spreads, deviate: float, method: Method, correlation: Floats | None
) -> tuple[float, tuple[int, int]]:
    """Return the largest lower limit of a difference, and its pair of groups."""
    low, high = spreads.limits(deviate, method)
    lowest, highest = spreads.lowest.auc, spreads.highest.auc
    if low.size > MOST_GROUPS:
        return float(low.max() - high.min()), (int(low.argmax()), int(high.argmin()))
    return largest_of_pairs((lowest, lowest - low), (highest, high - highest), -1.0, correlation)


def largest_of_pairs(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    sign: float,
    correlation: Floats | None,
) -> tuple[float, tuple[int, int]]:
    """Return the largest upper (sign 1) or lower (sign -1) limit of all pairs, and its pair.

    `first` and `second` are the AUCs of the groups and their distances from their limits;
    `correlation` has the correlations of the AUCs of all pairs, or is None.
    """
    (auc, of_first), (other, of_second) = first, second
    largest, pair = -np.inf, (0, 0)
    for start in range(0, auc.size, 256):
        here = slice(start, start + 256)
        of_pairs = None if correlation is None else correlation[here]
        reach = reach_of_difference(of_first[here, None], of_second, of_pairs)
        limit = auc[here, None] - other + sign * reach
        # Omit the comparison of a group with itself.
        np.einsum("ii->i", limit[:, start : start + 256])[...] = -np.inf
        g, h = np.unravel_index(int(limit.argmax()), limit.shape)
        if limit[g, h] > largest:
            largest, pair = float(limit[g, h]), (start + int(g), int(h))
    return largest, pair


def reach_of_difference(first: Floats, second: Floats, correlation: Floats | None) -> Floats:
    """Return the distance from a difference to its limit, from the distances of both AUCs.

    A distance is below 0 if the AUC and its limit are in reverse order.
    """
    if first.min(initial=0.0) < 0.0 or second.min(initial=0.0) < 0.0:
        return _signed_reach(first, second, correlation)
    if correlation is None:
        found: Floats = np.hypot(first, second)
        return found
    # This sum of two terms of at least 0 does not overflow or cancel for nearly equal distances.
    squared = (first - second) ** 2 + 2.0 * (1.0 - correlation) * first * second
    return np.sqrt(np.maximum(squared, 0.0))


def _signed_reach(first: Floats, second: Floats, correlation: Floats | None) -> Floats:
    """Return the signed root of the sum of signed squares; see `reach_of_difference`."""
    squared = np.copysign(first**2, first) + np.copysign(second**2, second)
    if correlation is not None:
        product = first * second
        # Only perfect separation gives distances of different signs; the covariances are then 0.
        squared -= np.where(product > 0.0, 2.0 * correlation * np.copysign(product, first), 0.0)
    found: Floats = np.copysign(np.sqrt(np.abs(squared)), squared)
    return found


# Comparisons of two groups ------------------------------------------------------------------


def all_pairs(
    extremes: Extremes, first: NDArray[np.intp], second: NDArray[np.intp], confidence_level: float
) -> Comparisons:
    """Compare all pairs of groups, the first of each pair with the second.

    P values and intervals are simultaneous; they use the studentized range [2]_ [3]_.
    """
    n_groups = int(extremes.given.estimable.sum())

    def adjusted(deviate: Floats) -> Floats:
        return studentized_range_tail(deviate * np.sqrt(2.0), n_groups)

    alpha = 1.0 - confidence_level
    deviate = deviate_of_all_pairs(alpha, n_groups) if n_groups > 1 else np.nan
    deviates = normal_quantile(alpha / 2.0), deviate
    return _compared(extremes, first, second, deviates, adjusted, "Tukey")


def with_reference(
    extremes: Extremes, first: NDArray[np.intp], second: NDArray[np.intp], confidence_level: float
) -> Comparisons:
    """Compare groups with a reference group, with simultaneous p values and intervals [4]_."""
    estimable = extremes.given.estimable
    deviates, adjusted = sidak(confidence_level, int((estimable[first] & estimable[second]).sum()))
    return _compared(extremes, first, second, deviates, adjusted, "Sidak")


def sidak(
    confidence_level: float, n_comparisons: int
) -> tuple[tuple[float, float], Callable[[Floats], Floats]]:
    """Return the normal quantiles of single and of simultaneous intervals, and the adjustment [4]_.

    The adjustment is a function that maps normal quantiles to adjusted p values. An interval
    excludes 0 if and only if the adjusted p value is below ``1 - confidence_level``.
    """
    n_comparisons = max(n_comparisons, 1)

    def adjusted(deviate: Floats) -> Floats:
        from scipy.special import ndtr

        with np.errstate(divide="ignore"):  # The p value can be 1.
            found: Floats = -np.expm1(n_comparisons * np.log1p(-2.0 * ndtr(-deviate)))
        return found

    tails = (
        (1.0 - confidence_level) / 2.0,
        -np.expm1(np.log(confidence_level) / n_comparisons) / 2.0,
    )
    single, simultaneous = map(normal_quantile, tails)
    return (single, simultaneous), adjusted


def _compared(
    extremes: Extremes,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    deviates: tuple[float, float],
    adjusted: Callable[[Floats], Floats],
    adjustment: str,
) -> Comparisons:
    given, spreads = extremes.given, Spreads.of(extremes)
    least, other = (end.correlations(first, second) for end in extremes[1:])
    correlation = None if least is None or other is None else np.minimum(least, other)
    return compare(
        (given.auc[first], spreads.take(first)),
        (given.auc[second], spreads.take(second)),
        given.estimable[first] & given.estimable[second],
        deviates,
        lambda p, ends: (adjusted(ends), adjustment),
        correlation,
    )


def compare(
    one: tuple[Floats, Spreads],
    other: tuple[Floats, Spreads],
    tested: NDArray[np.bool_],
    deviates: tuple[float, float],
    adjusted: Callable[[Floats, Floats], tuple[Floats, str]],
    correlation: Floats | None = None,
) -> Comparisons:
    """Compare pairs of AUCs.

    Parameters
    ----------
    one, other : tuple of ndarray of float64 and Spreads
        AUCs of the binned scores, and AUCs of the same groups at both extremes.
    tested : ndarray of bool, shape (n_comparisons,)
        Comparisons to test; the results of other comparisons are NaN.
    deviates : tuple of two float
        Normal quantiles of the intervals of single comparisons, and of the simultaneous intervals.
    adjusted : callable
        Maps the p values and the normal quantiles of the tested comparisons to adjusted p values
        and the name of the adjustment.
    correlation : ndarray of float64, shape (n_comparisons,), default=None
        Correlation of the two AUCs of each comparison; None if they are independent.
    """
    from scipy.special import ndtr

    found = np.full((7, tested.size), np.nan)
    adjustment = adjusted(np.ones(0), np.zeros(0))[1]
    if tested.any():
        a, b = one[1].take(tested), other[1].take(tested)
        r = None if correlation is None else correlation[tested]
        for i, deviate in enumerate(deviates):
            found[2 * i : 2 * i + 2, tested] = _limits_of_differences(a, b, deviate, r)
        blocks = (slice(i, i + _AT_ONCE) for i in range(0, int(tested.sum()), _AT_ONCE))
        ends = np.concatenate(
            [
                _deviates(a.take(here), b.take(here), None if r is None else r[here])
                for here in blocks
            ]
        )
        pvalue = 2.0 * ndtr(-ends)
        signs = np.sign((one[0] - other[0])[tested])
        found[4, tested], found[5, tested] = signs * ends, pvalue
        found[6, tested], adjustment = adjusted(pvalue, ends)
    return Comparisons(one[0], other[0], *found, adjustment)  # type: ignore[call-arg]


def _limits_of_differences(
    one: Spreads, other: Spreads, deviate: float, correlation: Floats | None
) -> tuple[Floats, Floats]:
    (low, high), (other_low, other_high) = (x.limits(deviate, "logit") for x in (one, other))
    (first, first_high), (second, second_high) = (
        (x.lowest.auc, x.highest.auc) for x in (one, other)
    )
    below = reach_of_difference(first - low, other_high - second_high, correlation)
    above = reach_of_difference(high - first_high, second - other_low, correlation)
    return first - second_high - below, first_high - second + above


def _deviates(one: Spreads, other: Spreads, correlation: Floats | None) -> Floats:
    """Return the normal quantile at which the interval of each difference ends at 0."""
    larger = one.lowest.auc >= other.highest.auc
    upper = _chosen(larger, one.lowest, other.lowest)
    lower = _chosen(larger, other.highest, one.highest)
    # The difference is below 0 if neither AUC is certainly the larger one; the quantile is then 0.
    difference = upper.auc - lower.auc

    def lower_limit(deviate: Floats) -> Floats:
        low, high = upper.limit(0.0, deviate, "logit"), lower.limit(1.0, deviate, "logit")
        return difference - reach_of_difference(upper.auc - low, high - lower.auc, correlation)

    return roots_of(lower_limit, np.zeros_like(difference), np.full_like(difference, _FURTHEST))


def _chosen(which: NDArray[np.bool_], one: AUCSpread, other: AUCSpread) -> AUCSpread:
    """Return the elements of `one` where `which` is true, and of `other` elsewhere."""
    return AUCSpread(*(np.where(which, a, b) for a, b in zip(one, other, strict=True)))
