"""Differences between group AUCs: pairs, the rest and the largest, and tests of margins.

The limits of a difference come from the limits of the two AUCs (Zou and Donner 2008). With AUCs a
and b and their limits (l, u) and (L, U), the lower limit of a - b is ``a - b - sqrt((a - l)**2 + (U
- b)**2)``. The comparison of all pairs uses quantiles of the studentized range (Tukey 1953; Kramer
1956); with two groups, this is the usual two-sample comparison. Comparisons with a reference or
with the rest use Sidak's (1967). Each p value is the smallest error rate at which the interval
excludes 0.

If groups share clusters, the AUCs have an estimated correlation r. Zou and Donner's term ``- 2 r (a
- l) (U - b)`` takes the limits for shared, although what the clusters share cancels up to the
difference of the standard errors s and t; and the limits end at 0 and 1, so that r near 1 would
make the interval shorter at a higher level. With q for Student's quantile, the square is therefore
``(1 - r) (x + y) + r q**2 (s - t)**2``, where x is ``(a - l)**2``, or a part r of the way to ``(q
s)**2`` if that is larger, and y likewise. It grows with q without end, and is Zou and Donner's for
symmetric limits. Quantiles of the studentized range are an approximation here. For binned scores, a
and l are those of the lowest AUCs, b and U those of the highest, and r is the smaller of its values
at both extremes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import false_discovery_control

from skfedauc._words import counted, shortened
from skfedauc.counts.moments import Floats, ratio
from skfedauc.inference.intervals import AUCSpread, Limits, Method, Spreads
from skfedauc.inference.quantiles import (
    normal_quantile,
    roots_of,
    studentized_range_quantile,
    studentized_range_tail,
)
from skfedauc.inference.row_effects import ROUNDING, Numbers
from skfedauc.inference.variances import Clusters, Extremes, Variances
from skfedauc.pairs import sum_of_others

# The upper tail of this normal quantile is 0 in floating point.
FURTHEST = 38.0
_AT_ONCE = 1024  # groups or pairs
# Of more groups, the largest and the smallest limit of single groups are compared, not all pairs.
MOST_GROUPS = 2_000
# For more comparisons, `adjusted` controls the false discovery rate.
_MOST_OF_A_FAMILY = 50


class Adjustment(NamedTuple):
    """Normal quantile for simultaneous limits, and adjusted p values for other quantiles."""

    deviate: float
    pvalue: Callable[[Floats], Floats]
    name: str


def deviate_of_all_pairs(alpha: float, n_groups: int) -> float:
    """Return the normal quantile for simultaneous intervals over all pairs.

    Above `MOST_GROUPS` groups, it is Bonferroni's for single groups' limits.
    """
    if n_groups > MOST_GROUPS:
        return normal_quantile(alpha / (2 * n_groups))
    return studentized_range_quantile(alpha, n_groups) / float(np.sqrt(2.0))


def all_pairs(alpha: float, n_groups: int) -> Adjustment:
    """Return the adjustment for all pairwise group differences."""

    def pvalue(deviate: Floats) -> Floats:
        if n_groups > MOST_GROUPS:
            return np.asarray(np.minimum(2.0 * n_groups * ndtr(-deviate), 1.0))
        return studentized_range_tail(deviate * np.sqrt(2.0), n_groups)

    deviate = deviate_of_all_pairs(alpha, n_groups) if n_groups > 1 else np.nan
    return Adjustment(deviate, pvalue, "Tukey")


def sidak(alpha: float, n_comparisons: int) -> Adjustment:
    """Return the adjustment for independent or positively correlated comparisons (Sidak 1967)."""
    n_comparisons = max(n_comparisons, 1)

    def pvalue(deviate: Floats) -> Floats:
        with np.errstate(divide="ignore"):  # The p value can be 1.
            found: Floats = -np.expm1(n_comparisons * np.log1p(-2.0 * ndtr(-deviate)))
        return found

    tail = -np.expm1(np.log1p(-alpha) / n_comparisons) / 2.0
    return Adjustment(normal_quantile(float(tail)), pvalue, "Sidak")


def deviate_of_furthest_pair(tail: float, n_groups: int) -> float:
    """Return the normal quantile for an upper limit of the largest difference.

    The limit fails with probability `tail`. It only has to cover the difference of the two groups
    that are furthest apart, so it needs no adjustment for the pair count. Above `MOST_GROUPS`
    groups, both limits in the pair can fail.
    """
    return normal_quantile(tail / 2.0 if n_groups > MOST_GROUPS else tail)


def adjusted(pvalues: Floats) -> tuple[Floats, str]:
    """Return p values adjusted by Holm or Benjamini and Hochberg (1995), and the method's name."""
    tested = np.flatnonzero(~np.isnan(pvalues))
    result = pvalues.copy()
    if tested.size > _MOST_OF_A_FAMILY:
        result[tested] = false_discovery_control(pvalues[tested])
        return result, "Benjamini-Hochberg"
    # Holm's method (1979), which scipy does not have
    ordered = tested[np.argsort(pvalues[tested])]
    raised = np.maximum.accumulate(pvalues[ordered] * np.arange(tested.size, 0, -1))
    result[ordered] = np.minimum(raised, 1.0)
    return result, "Holm"


class Comparisons(NamedTuple):
    """Differences ``auc - reference_auc`` within AUC pairs; arrays have the shape (n_comparisons,).

    `ci_low` and `ci_high` limit each difference, and the simultaneous limits all differences
    together. `statistic` is the normal quantile at which the unadjusted interval ends at 0, with
    the difference's sign, and `adjustment` tells how p values are adjusted.
    """

    auc: Floats
    reference_auc: Floats
    difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    pvalue_adjusted: Floats
    adjustment: str


def compare_pairs(
    extremes: Extremes, first: Numbers, second: Numbers, confidence_level: float
) -> Comparisons:
    """Compare group pairs, each pair's first with its second, adjusted for all pairs."""
    adjustment = all_pairs(1.0 - confidence_level, int(extremes.given.defined.sum()))
    return _of_groups(extremes, first, second, confidence_level, adjustment)


def compare_with_reference(
    extremes: Extremes, reference: int, confidence_level: float
) -> Comparisons:
    """Compare all other groups with a reference group."""
    defined = extremes.given.defined
    first = np.delete(np.arange(defined.size), reference)
    second = np.full_like(first, reference)
    n_comparisons = int(defined[first].sum()) if defined[reference] else 0
    adjustment = sidak(1.0 - confidence_level, n_comparisons)
    return _of_groups(extremes, first, second, confidence_level, adjustment)


def compare_with_rest(extremes: Extremes, confidence_level: float) -> Comparisons:
    """Compare each group with the other groups' average AUC, weighted by m n / (m + n).

    Each AUC's variance is the larger one: its own, or from pooled placement values. The
    own variance is too small where sampling error makes the AUC high.
    """
    given = extremes.given
    if given.auc.size == 2:
        return compare_pairs(extremes, np.array([0, 1]), np.array([1, 0]), confidence_level)
    given.check_independent_groups(
        "compare_groups('rest')", "Compare all pairs of groups instead: compare_groups()."
    )
    spread, rest = lowest = highest = _group_and_rest(given, given.shared)
    if extremes.is_binned:
        # The groups can be at different extremes, so use the larger of the pooled variances.
        shared = np.fmax(extremes.lowest.shared, extremes.highest.shared)
        lowest = _group_and_rest(extremes.lowest, shared)
        highest = _group_and_rest(extremes.highest, shared)
    tested = given.defined & (rest.n_pairs > 0)
    adjustment = sidak(1.0 - confidence_level, int(tested.sum()))
    one, other = (Spreads(lowest[i], highest[i]) for i in (0, 1))
    return _compared(spread.auc, rest.auc, one, other, tested, confidence_level, adjustment)


def _group_and_rest(variances: Variances, shared: Floats) -> tuple[AUCSpread, AUCSpread]:
    """Return group AUCs, and for each group the others' average AUC."""
    defined = variances.defined
    weight = np.where(defined, variances.size_weights, 0.0)
    of_others = sum_of_others(weight)
    spread = AUCSpread.of(variances)
    spread = spread._replace(variance=np.fmax(spread.variance, shared), alike=None)

    def average(values: Floats, power: int) -> Floats:
        counted = np.where(defined, values, 0.0) * weight**power
        return ratio(sum_of_others(counted), of_others**power)

    parts = np.where(defined, spread.variance, 0.0) * weight**2
    imprecision = sum_of_others(parts**2 / spread.degrees_of_freedom)
    freedom = ratio(sum_of_others(parts) ** 2, imprecision, np.inf)
    # An average of AUCs of 1 (or of 0) is exactly 1 (or 0); remove rounding error.
    auc = average(spread.auc, 1)
    auc = np.where(np.abs(auc - 0.5) > 0.5 - 1e-12, np.round(auc), auc)
    # All other observed AUCs are 1 with at most the probability (true average)**(sum of weights).
    n_pairs = sum_of_others(np.minimum(weight, variances.n_pairs))
    of_model = average(spread.once, 2), average(spread.often, 2)
    return spread, AUCSpread(auc, average(spread.variance, 2), n_pairs, *of_model, freedom)


def _of_groups(
    extremes: Extremes,
    first: Numbers,
    second: Numbers,
    confidence_level: float,
    adjustment: Adjustment,
) -> Comparisons:
    given, spreads = extremes.given, Spreads.of(extremes)
    return _compared(
        given.auc[first],
        given.auc[second],
        spreads.take(first),
        spreads.take(second),
        given.defined[first] & given.defined[second],
        confidence_level,
        adjustment,
        least_correlation(extremes, lambda clusters: clusters.correlations(first, second)),
    )


def least_correlation(
    extremes: Extremes, correlation: Callable[[Clusters], Floats]
) -> Floats | None:
    """Return the smaller correlations at both extremes; None if groups share no clusters."""
    if not extremes.given.shares_clusters:
        return None
    found = [correlation(end.clusters) for end in extremes[1:] if end.clusters is not None]
    return np.minimum(*found)


def _compared(
    auc: Floats,
    other: Floats,
    one: Spreads,
    two: Spreads,
    tested: NDArray[np.bool_],
    confidence_level: float,
    adjustment: Adjustment,
    correlation: Floats | None = None,
) -> Comparisons:
    """Compare AUC pairs; comparisons that are not `tested` give NaN."""
    found: Floats = np.full((7, tested.size), np.nan)
    apart = auc - other
    if tested.any():
        a, b = one.take(tested), two.take(tested)
        r = None if correlation is None else correlation[tested]
        single = normal_quantile((1.0 - confidence_level) / 2.0)
        for i, quantile in enumerate((single, adjustment.deviate)):
            (least, most), (other_least, other_most) = (x.estimates(quantile) for x in (a, b))
            found[4 * i, tested] = difference(least, other_most, r).low
            found[4 * i + 1, tested] = difference(most, other_least, r).high
        blocks = [slice(i, i + _AT_ONCE) for i in range(0, int(tested.sum()), _AT_ONCE)]
        deviates = [_deviates(a.take(x), b.take(x), None if r is None else r[x]) for x in blocks]
        deviate = np.concatenate(deviates)
        found[2, tested] = np.sign(apart[tested]) * deviate
        found[3, tested] = 2.0 * ndtr(-deviate)
        found[6, tested] = adjustment.pvalue(deviate)
    return Comparisons(auc, other, apart, *found, adjustment.name)  # type: ignore[call-arg]


def _deviates(one: Spreads, other: Spreads, correlation: Floats | None) -> Floats:
    """Return the normal quantile at which each difference's interval ends at 0."""
    larger = one.lowest.auc >= other.highest.auc

    def chosen(a: AUCSpread, b: AUCSpread) -> AUCSpread:
        return AUCSpread(*(np.where(larger, x, y) for x, y in zip(a[:6], b[:6], strict=True)))

    upper = chosen(one.lowest, other.lowest)
    lower = chosen(other.highest, one.highest)
    # The difference is below 0 if neither AUC is certainly the larger one; the quantile is then 0.
    difference = upper.auc - lower.auc

    def lower_limit(deviate: Floats) -> Floats:
        one = Limits(upper.auc, upper.limit(0.0, deviate), upper.auc)
        two = Limits(lower.auc, lower.auc, lower.limit(1.0, deviate))
        limits = upper.with_errors(one, deviate), lower.with_errors(two, deviate)
        return difference - _distance(*limits, -1.0, correlation)

    return roots_of(lower_limit, np.zeros_like(difference), np.full_like(difference, FURTHEST))


def difference(
    one: Limits, other: Limits, correlation: Floats | None = None, most: float = 1.0
) -> Limits:
    """Return the difference, at most `most`, of two estimates, perhaps correlated, with limits."""
    value = one.value - other.value
    below, above = (_distance(one, other, sign, correlation) for sign in (-1.0, 1.0))
    return Limits(value, np.maximum(value - below, -most), np.minimum(value + above, most))


def _distance(one: Limits, other: Limits, sign: float, correlation: Floats | None) -> Floats:
    """Return the distance from a difference to its upper (sign 1) or lower (sign -1) limit."""
    near, far = (one.high, other.low) if sign > 0 else (one.low, other.high)
    distances = sign * (near - one.value), sign * (other.value - far)
    return reach_of_difference(*distances, *shared_errors(one, other, correlation))


def shared_errors(
    one: Limits, other: Limits, correlation: Floats | None
) -> tuple[Floats | None, tuple[Floats, Floats] | None]:
    """Return the correlation, and the errors up to the limits by the larger of both quantiles.

    If equal errors of all clusters leave no variance for a difference other than 0, nothing is
    known about it, and the values count as uncorrelated.
    """
    (*_, error, own), (*_, other_error, quantile) = one, other
    if correlation is None or error is None or other_error is None:
        return correlation, None
    is_equal = np.isclose(error, other_error, rtol=1e-6, atol=0.0)
    unknown = (correlation > 1.0 - ROUNDING) & is_equal & (one.value != other.value)
    if np.ptp(np.append(own, quantile)) > 0.0:
        quantile = np.copysign(np.maximum(np.abs(own), np.abs(quantile)), quantile)
    return np.where(unknown, 0.0, correlation), (quantile * error, quantile * other_error)


def reach_of_difference(
    first: Floats,
    second: Floats,
    correlation: Floats | None,
    errors: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Return the distance from a difference to its limit, from both values' distances and errors.

    Without errors, the distances take their place. With a deviate below 0, a value and its limit
    are in reverse order, and distances are below 0. The result is then the signed root of the
    summed signed squares.
    """
    if correlation is None and min(first.min(initial=0.0), second.min(initial=0.0)) >= 0.0:
        # Distances are at most 1, so squares do not overflow; `hypot` takes five times as long.
        return np.asarray(np.sqrt(np.square(first) + np.square(second)))
    one, two = errors or (first, second)
    r = np.zeros(1) if correlation is None else correlation
    shared = np.maximum(r, 0.0)
    parts = squares_between(first, one, shared) + squares_between(second, two, shared)
    squared = (1.0 - shared) * parts + shared * np.copysign((one - two) ** 2, one)
    # Only perfect separation gives different signs; the covariances are then 0.
    squared -= 2.0 * np.minimum(r, 0.0) * np.copysign(np.maximum(first * second, 0.0), first)
    return np.asarray(np.copysign(np.sqrt(np.abs(squared)), squared))


def squares_between(distance: Floats, error: Floats, share: Floats) -> Floats:
    """Return signed squares of distances, a share of the way to those of larger errors."""
    square = distance * np.abs(distance)
    with np.errstate(divide="ignore"):  # Distances are at most 1; a share of 1 needs any error.
        most = np.minimum(error * np.abs(error), 1.0 / (1.0 - share))
    return square + share * np.maximum(most - square, 0.0)


def _nan() -> float:
    return np.nan  # one object, which equals itself in comparisons of fields


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Result:
    """Fields of the results of all tests and comparisons; NaN, or empty, for what one lacks."""

    # Defaults by a factory are no attributes of the class, whose documentation has its fields.
    estimate: float = dataclasses.field(default_factory=_nan)
    ci_low: float = dataclasses.field(default_factory=_nan)
    ci_high: float = dataclasses.field(default_factory=_nan)
    statistic: float = dataclasses.field(default_factory=_nan)
    pvalue: float = dataclasses.field(default_factory=_nan)
    table: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame, compare=False)


@dataclasses.dataclass(frozen=True, repr=False)
class DifferenceTest(Result):
    """Test and interval for the largest difference between groups, of AUCs or of another measure.

    Attributes
    ----------
    estimate : float
        Largest minus smallest group AUC.
    ci_low, ci_high : float
        Confidence limits for the largest minus the smallest true AUC.
    statistic : float
        The normal quantile at which `ci_low` is 0, without an adjustment for the pairs.
    pvalue : float
        P value for equal true AUCs; below ``1 - confidence_level`` exactly if `ci_low` is above 0.
    confidence_level : float
    highest, lowest : object
        Groups with the largest and the smallest AUC, the first of tied groups; if all AUCs are
        equal, the first and the last group.
    clearest : tuple of two objects, or None
        Labels of the two groups with the most significant difference, the larger AUC first. They
        differ from `highest` and `lowest` if these are tiny groups. None if `pvalue` is 1.
    n_groups : int
        How many groups have an AUC.
    method : str
        How groups were compared, or why there is no result.
    table : pandas.DataFrame
        The clearest pair's difference with its simultaneous limits and adjusted p value, as in
        `GroupAUC.compare_groups`; empty without one.
    """

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
            f"DifferenceTest(estimate={self.estimate:.4g}, pvalue={self.pvalue:.4g}, "
            f"{self.confidence_level * 100:g} % interval {self.ci_low:.4g} to {self.ci_high:.4g}): "
            f"{self.highest!r} minus {self.lowest!r}{clearest}, {self.n_groups:,} groups, "
            f"{self.method}"
        )


def largest_difference(
    one: Limits, other: Limits, sign: float, correlation: Floats | None
) -> tuple[float, tuple[int, int]]:
    """Return the largest upper (sign 1) or lower (sign -1) limit over all pairs, and its pair.

    Above `MOST_GROUPS` groups, it is the difference between the largest and the smallest limit.
    """
    value, others = one.value, other.value
    near, far = (one.high, other.low) if sign > 0 else (one.low, other.high)
    of_first, of_second = sign * (near - value), sign * (others - far)
    top, bottom = value + sign * of_first, others - sign * of_second
    if value.size > MOST_GROUPS:
        return float(top.max() - bottom.min()), (int(top.argmax()), int(bottom.argmin()))
    largest, pair = -np.inf, (0, 0)

    def limits(rows: Numbers, columns: Numbers) -> Floats:
        of_pairs = None if correlation is None else correlation[np.ix_(rows, columns)]
        reach = _distance(one.take((rows, None)), other.take(columns), sign, of_pairs)
        apart: Floats = value[rows, None] - others[columns]
        # Omit a group itself, and equal AUCs: those of the same readings have a lower limit of 0.
        omitted = (rows[:, None] == columns) | (apart == 0.0 if sign < 0.0 else False)
        apart += sign * reach
        apart[omitted] = -np.inf
        return apart

    rows = columns = np.arange(value.size)
    if correlation is None and min(of_first.min(), of_second.min()) >= 0.0:
        # A reach is between the larger distance and the sum of both. Leave out groups whose limits
        # are thus all below the largest limit of one group.
        least = limits(np.array([top.argmax()]), columns).max() - 1e-12
        rows = np.flatnonzero(top - (bottom if sign > 0 else others).min() >= least)
        columns = np.flatnonzero((top if sign > 0 else value).max() - bottom >= least)
    for start in range(0, rows.size, 256):
        here = rows[start : start + 256]
        limit = limits(here, columns)
        g, h = np.unravel_index(int(limit.argmax()), limit.shape)
        if limit[g, h] > largest:
            largest, pair = float(limit[g, h]), (int(here[g]), int(columns[h]))
    return largest, pair


# From a normal quantile to values with lower, and with upper limits, which differ if binned
Estimates = Callable[[float], tuple[Limits, Limits]]


@dataclasses.dataclass(frozen=True, eq=False)
class AllPairs:
    """Differences between all pairs of groups, with limits for all pairs together.

    No limit is beyond that of the largest difference, and none above `most`. `correlation` has the
    shape (n_groups, n_groups); None for independent values. Above `MOST_GROUPS` groups, it is None
    as well, and the limits of single groups add up.
    """

    estimates: Estimates
    n_groups: int
    correlation: Floats | None = None
    most: float = 1.0

    @classmethod
    def of(cls, extremes: Extremes, method: Method = "logit") -> AllPairs:
        """Return the pairs of the groups with an AUC."""
        used, correlation = np.flatnonzero(extremes.given.defined), None
        if used.size <= MOST_GROUPS:
            correlation = least_correlation(extremes, lambda x: x.correlation_matrix(used))
        spreads = Spreads.of(extremes).take(used)
        return cls(functools.partial(spreads.estimates, method=method), used.size, correlation)

    def largest(self, alpha: float) -> tuple[float, float]:
        """Return limits for the largest minus the smallest true value, of at least two groups.

        The error probability of the lower limit is `alpha`, and that of the upper limit half of it.
        """
        least, _ = self.least_limit(deviate_of_all_pairs(alpha, self.n_groups))
        return max(least, 0.0), self._most_apart(alpha)

    def least_limit(self, deviate: float) -> tuple[float, tuple[int, int]]:
        """Return the largest lower limit, and its pair."""
        return largest_difference(*self.estimates(deviate), -1.0, self.correlation)

    def largest_limit(self, deviate: float) -> tuple[float, tuple[int, int]]:
        """Return the largest upper limit, and its pair."""
        lowest, highest = self.estimates(deviate)
        limit, pair = largest_difference(highest, lowest, 1.0, self.correlation)
        return min(limit, self.most), pair

    def _most_apart(self, alpha: float) -> float:
        return self.largest_limit(deviate_of_furthest_pair(alpha / 2, self.n_groups))[0]

    @functools.cached_property
    def statistic(self) -> float:
        """The normal quantile at which the largest lower limit of all pairs is 0."""
        return crossing(lambda z: self.least_limit(z)[0], 0.0)

    def test(self) -> tuple[float, tuple[int, int] | None]:
        """Return the p value of the largest difference, and the pair that determines it.

        The p value is the alpha at which the largest lower limit of all pairs is 0. There is no
        pair if it is 1.
        """
        if self.statistic < 0.0:
            return 1.0, None
        _, pair = self.least_limit(min(self.statistic, FURTHEST))
        if np.isinf(self.statistic):
            return 0.0, pair
        return float(all_pairs(0.05, self.n_groups).pvalue(np.array(self.statistic))), pair

    def limits_from(
        self, reference: int, alpha: float, most: float | None = None
    ) -> tuple[Floats, Floats]:
        """Return limits of the differences from one group; NaN for the group itself.

        They are at most `most`; None means the limit of the largest difference.
        """
        lowest, highest = self.estimates(deviate_of_all_pairs(alpha, self.n_groups))
        own = [of.take(reference) for of in (highest, lowest)]
        correlation = None if self.correlation is None else self.correlation[:, reference]
        if self.n_groups > MOST_GROUPS:
            correlation = np.full(self.n_groups, -1.0)
        most = self._most_apart(alpha) if most is None else most
        low = difference(lowest, own[0], correlation, most).low
        high = difference(highest, own[1], correlation, most).high
        low[reference] = high[reference] = np.nan
        return low, high

    def clearest(self, chosen: NDArray[np.intp], alpha: float) -> tuple[float, tuple[int, int]]:
        """Return the largest lower limit among some groups, and its pair."""
        low, (g, h) = self._among(chosen).least_limit(deviate_of_all_pairs(alpha, self.n_groups))
        return low, (int(chosen[g]), int(chosen[h]))

    def pvalue_of(self, above: int, below: int) -> float:
        """Return the alpha at which the lower limit of the difference of two groups is 0."""
        pair = self._among(np.array([above, below]))
        if self.n_groups > MOST_GROUPS:
            pair = dataclasses.replace(pair, correlation=np.array([[1.0, -1.0], [-1.0, 1.0]]))
        return pair.test()[0]

    def _among(self, chosen: NDArray[np.intp]) -> AllPairs:
        """Return the pairs of some groups, with limits for all pairs."""

        def estimates(deviate: float) -> tuple[Limits, Limits]:
            low, high = self.estimates(deviate)
            return low.take(chosen), high.take(chosen)

        r = self.correlation
        own = None if r is None else r[np.ix_(chosen, chosen)]
        return dataclasses.replace(self, estimates=estimates, correlation=own)


def crossing(distance: Callable[[float], float], least: float = -FURTHEST) -> float:
    """Return the normal quantile, from `least` on, at which a limit reaches its bound.

    `distance` decreases with the quantile; the result is infinite if it has no root.
    """
    if distance(least) <= 0.0:
        return -np.inf
    if distance(FURTHEST) > 0.0:
        return np.inf
    return float(brentq(distance, least, FURTHEST, xtol=1e-13, rtol=1e-13))


def null_difference(variances: Variances) -> float:
    """Return the expected largest minus smallest group AUC if all true AUCs are equal.

    Group AUCs are normal, with variances from placement values pooled over groups. In simulations
    of 2 to 20 groups with 2 to 20 positives (AUC .7 and .95), the result is 90 to 107 % of the mean
    difference. NaN with fewer than two groups.
    """
    variances.check_independent_groups("null_difference")
    shared = np.where(np.isnan(variances.shared), variances.bounded, variances.shared)
    shared = shared[variances.defined]
    return min(mean_range(np.sqrt(shared)), 1.0) if shared.size > 1 else float("nan")


def mean_range(deviations: Floats) -> float:
    """Return the mean range of independent normal variables with mean 0."""
    sizes, counts = np.unique(deviations, return_counts=True)
    if sizes[-1] == 0:
        return 0.0
    x = np.linspace(-10.0, 10.0, 2001) * sizes[-1]
    below, above = np.zeros((2, x.size))
    # P(largest < x) and P(smallest > x) are products over the variables.
    for a in range(0, sizes.size, _AT_ONCE):
        with np.errstate(divide="ignore"):
            scaled = x[:, None] / np.maximum(sizes[a : a + _AT_ONCE], 1e-300)
        below += log_ndtr(scaled) @ counts[a : a + _AT_ONCE]
        above += log_ndtr(-scaled) @ counts[a : a + _AT_ONCE]
    return float(np.trapezoid(1.0 - np.exp(below) - np.exp(above), x))


# Intersection-union tests (Berger 1982): a claim on all groups (or pairs) needs a significant test
# of each, so each has the full error probability. Equivalence has two one-sided tests of each pair
# (Schuirmann 1987).


@dataclasses.dataclass(frozen=True, repr=False)
class MarginTest(Result):
    """Result of `GroupAUC.test_margin`.

    Attributes
    ----------
    claim : str
        The alternative hypothesis in words.
    is_shown : bool
        Whether the one-sided interval is on the required side of `bound`.
    estimate : float
        The smallest group AUC, or the largest difference between two group AUCs.
    ci_low, ci_high : float
        One-sided interval of the true value: from a limit to 1 for the smallest AUC, and from 0 to
        a limit for the largest difference.
    statistic : float
        The normal quantile at which the limit is the bound.
    pvalue : float
        P value for the claim being wrong; below ``1 - confidence_level`` exactly if `is_shown`.
    bound : float
        What the smallest AUC has to exceed, or the largest difference has to stay below.
    confidence_level : float
        The one-sided interval's level.
    groups : tuple
        Labels of the group or pair that determines the limit, perhaps not those of the estimate;
        empty without a result.
    n_groups, n_left_out : int
        Groups in the test, and groups that lack a class, which the claim does not cover.
    """

    claim: str
    is_shown: bool
    bound: float
    confidence_level: float
    groups: tuple[Any, ...]
    n_groups: int
    n_left_out: int

    def __repr__(self) -> str:
        left_out = f", {self.n_left_out:,} left out" if self.n_left_out else ""
        result = "no result, too few groups have both classes"
        if self.groups:
            what = "smallest AUC" if len(self.groups) == 1 else "largest difference"
            result = (
                f"{'shown' if self.is_shown else 'not shown'}, pvalue={self.pvalue:.4g}, "
                f"{what} {self.estimate:.4g}, one-sided {self.confidence_level * 100:g} % "
                f"interval {self.ci_low:.4g} to {self.ci_high:.4g}, with the limit of "
                f"{' minus '.join(map(shortened, self.groups))}"
            )
        return f"MarginTest({self.claim}: {result}): {counted(self.n_groups, 'group')}{left_out}"


# One-sided limit, statistic, p value, and the groups that determine the limit
Extreme = tuple[float, float, float, list[int]]


def worst_above(lowest: Variances, bound: float, tail: float) -> Extreme:
    """Test that all true AUCs are above a bound; binned scores have their lowest AUCs."""
    numbers = np.flatnonzero(lowest.defined)
    spread = AUCSpread.of(lowest).take(numbers)
    found = spread.signed_limit(0.0, normal_quantile(tail))
    deviate = crossing(lambda z: float(spread.signed_limit(0.0, z).min()) - bound)
    return float(found.min()), deviate, float(ndtr(-deviate)), [int(numbers[found.argmin()])]


def difference_below(extremes: Extremes, bound: float, tail: float) -> Extreme:
    """Test that all true group AUCs in use differ by less than a bound."""
    pairs, used = AllPairs.of(extremes), np.flatnonzero(extremes.given.defined)
    limit, pair = pairs.largest_limit(deviate_of_furthest_pair(tail, used.size))
    deviate = crossing(lambda z: bound - pairs.largest_limit(z)[0])
    pvalue = float(ndtr(-deviate)) * (2.0 if used.size > MOST_GROUPS else 1.0)
    return limit, deviate, min(pvalue, 1.0), used[list(pair)].tolist()
