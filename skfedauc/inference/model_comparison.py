"""Comparisons between two or more models on the same rows, from row effects (`row_effects.py`).

The variance of a difference between two models comes from their effects' differences (DeLong et al.
1988): a difference of covariances would lose precision if the models agree on nearly all rows. All
pairs of models are compared by how the largest standardized difference is distributed (Hothorn et
al. 2008), a multivariate t distribution with the smallest of Satterthwaite's degrees of freedom of
the differences: with each difference's own (Hasler and Hothorn 2008), and 20 models with 10
positives, the error rate at 5 % is 8 % instead of 4 %.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from skfedauc.counts.moments import Floats, ratio
from skfedauc.inference.differences import adjusted, crossing, difference
from skfedauc.inference.proportions import ClusterSums, tail_of, wilson
from skfedauc.inference.quantiles import (
    LargestDifference,
    OverGroups,
    Pairs,
    StudentT,
    t_quantile,
    variance_over_groups,
)
from skfedauc.inference.row_effects import (
    ROUNDING,
    ClassUnits,
    Numbers,
    Rows,
    Sizes,
    Units,
    cluster_effects,
    placements,
    satterthwaite,
)
from skfedauc.inference.variances import Variances, clustered_variance, freedom_of_shares

# Largest product of the numbers of groups and rows for variances of xAUC disparities
_MOST_VISITS = 50_000_000


class RowValues(NamedTuple):
    """A measure for several models, and the row values that determine its sampling error.

    The values, by model and row, are placement values, or influence values for other measures.
    `auc` is the AUC or measure from 0 to 1 by model and group, or by model for all rows; NaN if a
    class lacks rows. `means` are mean values by model, class (negatives first) and group. `few`
    marks groups with too few rows beyond a threshold for a test; `rates` are the shares of the
    negatives and the positives beyond it, which determine the degrees of freedom.
    """

    values: Sequence[Floats]
    auc: Floats
    means: Floats
    few: NDArray[np.bool_] | bool = False
    rates: tuple[float, float] = (1.0, 1.0)


def auc_values(rows: Rows) -> tuple[RowValues, RowValues]:
    """Return the models' AUCs within groups and over all rows, and placement values."""
    within, among_all = placements(rows)
    own, means, weight = means_of(rows, within), means_of(rows, among_all), rows.sizes.weight
    sums = (weight * np.where(weight > 0, means, 0.0)).sum(axis=2)
    overall = ratio(sums, np.broadcast_to(weight.sum(axis=1), sums.shape))
    # Rounding of weights may give slightly more than 1.
    auc, pooled = np.minimum(own[:, 1], 1.0), np.minimum(overall[:, 1:], 1.0)
    return RowValues(within, auc, own), RowValues(among_all, pooled, means)


def means_of(rows: Rows, values: Sequence[Floats]) -> Floats:
    """Return the mean values by model, class and group, shape (n_models, 2, n_groups)."""
    amounts = (rows.weights * of_model if rows.is_weighted else of_model for of_model in values)
    scale = 1.0 if rows.is_weighted else rows.weights[:1].sum()
    return np.array([ratio(scale * rows.by_class(of), rows.sizes.weight) for of in amounts])


class Joint(NamedTuple):
    """Several models' AUCs by group, and the variances of all pairwise differences.

    Variance and degrees of freedom (at least 1) have the shape (n_models, n_models, n_groups). The
    variance is NaN with too few rows. `effects`, shape (n_models, 2, n_units), and `units` are
    those of clusters on the AUCs within groups; None for independent rows and other AUCs.
    """

    auc: Floats
    variance: Floats
    freedom: Floats
    effects: Floats | None = None
    units: ClassUnits | None = None


def _joint(auc: Floats, of_pairs: Iterable[tuple[Floats, Floats]]) -> Joint:
    """Return variances and degrees of freedom as matrices, from those by pair."""
    n_models = len(auc)
    variance = np.zeros((n_models, n_models, auc.shape[1]))
    freedom = np.ones_like(variance)
    pairs = itertools.combinations(range(n_models), 2)
    for (i, j), found in zip(pairs, of_pairs, strict=True):
        variance[i, j], freedom[i, j] = variance[j, i], freedom[j, i] = found
    return Joint(auc, variance, freedom)


def _of_classes(auc: Floats, parts: Iterable[Floats], freedom: Floats) -> Joint:
    """Return the sums of the variances of both classes, which have these degrees of freedom."""
    return _joint(auc, ((part.sum(axis=0), satterthwaite(part, freedom)) for part in parts))


def joint_within(rows: Rows, of: RowValues) -> Joint:
    """Return the AUCs within groups, from values within groups."""
    sizes = rows.sizes
    if rows.clusters is None:
        scale = ratio(sizes.corrections, sizes.weight**2, 0.0)
        parts = (scale * squared for _, squared in _squares(rows, of))
        joint = _of_classes(of.auc, parts, _freedom(sizes, of.rates))
    else:
        effects, units = cluster_effects(rows, of.values)
        has_two, of_units = units.has_two, units.freedom()
        found = (
            (np.where(has_two, units.by_group(apart.sum(axis=0) ** 2), np.nan), of_units)
            for apart in _apart(effects)
        )
        joint = _joint(of.auc, found)._replace(effects=effects, units=units)
    joint.variance[..., sizes.few | of.few] = np.nan
    return joint


def joint_pooled(rows: Rows, of: RowValues) -> list[Joint]:
    """Return the pooled AUCs as if for one group, with the variances of two designs.

    With fixed class counts in each group, deviations are from the mean of the group. With random
    ones, as in a random sample, they are from the overall mean.
    """
    all_rows = rows.sizes.of_all()
    if rows.clusters is not None:
        joints = [_of_clusters(design, of) for design in (rows, rows.pooled())[: rows.n_groups]]
    else:
        joints = []
        designs = zip(*_pooled_parts(rows, of, all_rows), strict=True)
        for parts, strata in zip(designs, (rows.sizes, all_rows)[: rows.n_groups], strict=False):
            of_strata = np.where(strata.n > 1, strata.n - 1, strata.n).sum(axis=1, keepdims=True)
            freedom = np.minimum(_freedom(all_rows, of.rates), of_strata)
            joints.append(_of_classes(of.auc, parts, freedom))
    for joint in joints:
        joint.variance[..., all_rows.few | of.few] = np.nan
    return joints


def _pooled_parts(rows: Rows, of: RowValues, all_rows: Sizes) -> Iterator[list[Floats]]:
    """Yield the variances of both classes for all model pairs: with fixed and random numbers."""
    sizes, means = rows.sizes, np.nan_to_num(of.means)
    pairs = itertools.combinations(means, 2)
    for (one, other), (apart, squared) in zip(pairs, _squares(rows, of), strict=True):
        overall = (sizes.weight * (one - other)).sum(axis=1, keepdims=True) / all_rows.weight
        once = rows.by_class(rows.weights * apart) if rows.is_weighted else 0.0
        # A single row deviates from the overall mean instead of the mean of its group.
        shift = one - other - overall
        shifts = np.where(sizes.n > 1, 0.0, shift), shift
        fixed, random = (squared + 2.0 * by * once + by**2 * sizes.squares for by in shifts)
        random = random.sum(axis=1, keepdims=True)
        designs = sizes.corrections * fixed, all_rows.corrections * random
        yield [parts.sum(axis=1, keepdims=True) / all_rows.weight**2 for parts in designs]


def _squares(rows: Rows, of: RowValues) -> Iterator[tuple[Floats, Floats]]:
    """Yield the weighted differences of deviations for all model pairs, and sums of squares.

    The deviations are from the means of each model first: the differences of equal models are then
    exactly 0.
    """
    deviations = [
        values - mean.ravel().take(rows.key)
        for values, mean in zip(of.values, np.nan_to_num(of.means), strict=True)
    ]
    scale = 1.0 if rows.is_weighted else rows.weights[:1].sum() ** 2
    for apart in _apart(deviations):
        if rows.is_weighted:
            apart *= rows.weights
        yield apart, scale * rows.by_class(apart**2)


def _of_clusters(rows: Rows, of: RowValues) -> Joint:
    """Return the AUCs over clustered rows in all groups, which are strata."""
    effects, units = cluster_effects(rows, of.values, among_all=True)
    number = np.arange(units.n_clusters)
    weights = np.array([units.by_cluster(of_class) for of_class in units.weights])
    freedom = ClassUnits(np.zeros_like(number), number, 1, number.size, weights).freedom()
    has_two = units.n_clusters > 1
    of_pairs = (units.by_cluster(apart.sum(axis=0)) for apart in _apart(effects))
    squares = (np.array([(p**2).sum() if has_two else np.nan]) for p in of_pairs)
    return _joint(of.auc, ((variance, freedom) for variance in squares))


def _apart(effects: Iterable[Floats]) -> Iterator[Floats]:
    """Yield the differences for all model pairs."""
    return (one - other for one, other in itertools.combinations(effects, 2))


def joint_disparities(rows: Rows) -> Joint:
    """Return the groups' xAUC disparities.

    Each row is in one of the two AUCs of a disparity, as if there were two groups. The variances
    are NaN if the group count times the row count is above 50 million, because all rows are sorted
    for each group.
    """
    n_models, n_groups = len(rows.scores), rows.n_groups
    auc = np.full((n_models, n_groups), np.nan)
    variance = np.full((n_models, n_models, n_groups), np.nan)
    freedom = np.ones_like(variance)
    if n_groups * rows.codes.size <= _MOST_VISITS:
        for g in range(n_groups):
            side = (rows.positive != (rows.codes == g)).astype(np.intp)
            two = dataclasses.replace(rows, codes=side, n_groups=2)
            both = joint_within(two, auc_values(two)[0])
            auc[:, g] = both.auc[:, 0] - both.auc[:, 1]
            # Without variance, only a disparity that is the same for both models is known.
            of_pairs, change = both.variance.sum(axis=-1), auc[:, None, g] - auc[:, g]
            if both.effects is not None and both.units is not None:
                # A cluster may have rows in both AUCs. The second has a negative sign.
                signed = both.effects.sum(axis=1) * np.where(both.units.group == 0, 1.0, -1.0)
                of_clusters = np.array([*map(both.units.by_cluster, signed)])
                squares = ((of_clusters[:, None] - of_clusters) ** 2).sum(axis=-1)
                of_pairs = np.where(np.isnan(of_pairs), np.nan, squares)
            is_unknown = (of_pairs < ROUNDING**2) & (np.abs(change) > ROUNDING)
            variance[..., g] = np.where(is_unknown, np.nan, of_pairs)
            parts, of_parts = (np.moveaxis(of, -1, 0) for of in (both.variance, both.freedom))
            freedom[..., g] = satterthwaite(parts, of_parts)
    return Joint(auc, variance, freedom)


def _freedom(sizes: Sizes, rates: tuple[float, float]) -> Floats:
    """Return the degrees of freedom of each class's variance, for independent rows."""
    return np.maximum(np.array(rates)[:, None] * sizes.effective - 1.0, 1.0)


class Comparisons(NamedTuple):
    """Differences within model pairs, second minus first, with limits and tests.

    Arrays have the shape (n_pairs,) or (n_pairs, n_groups). Limits and p values are those of each
    difference alone, and then those of all differences together. They are NaN if the standard error
    is unknown, or is 0 for a difference that is not 0 or for two AUCs of 0 or 1. The p value of
    other equal AUCs with a standard error of 0, such as identical scores, is 1.
    """

    value_a: Floats
    value_b: Floats
    difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    pvalue_adjusted: Floats

    def hull(self, other: Comparisons) -> Comparisons:
        """Return the limits that contain both intervals, and the tests with the larger p values.

        A design without variance has no limits and no test, and the other design has the result.
        """
        is_other = np.isnan(self.pvalue) | (other.pvalue > self.pvalue)
        return self._replace(
            ci_low=np.fmin(self.ci_low, other.ci_low),
            ci_high=np.fmax(self.ci_high, other.ci_high),
            statistic=np.where(is_other, other.statistic, self.statistic),
            pvalue=np.where(is_other, other.pvalue, self.pvalue),
            simultaneous_low=np.fmin(self.simultaneous_low, other.simultaneous_low),
            simultaneous_high=np.fmax(self.simultaneous_high, other.simultaneous_high),
            pvalue_adjusted=np.fmax(self.pvalue_adjusted, other.pvalue_adjusted),
        )


def compare_all(designs: list[Joint], pairs: Pairs, confidence_level: float) -> Comparisons:
    """Compare the pooled AUCs, for both designs: from `joint_pooled`.

    Limits and adjusted p values are simultaneous for all pairs.
    """
    found = []
    for joint in designs:
        variance, freedom = joint.variance[..., 0], joint.freedom[..., 0]
        least = float(freedom[pairs][_is_tested(variance[pairs])].min(initial=np.inf))
        found.append(
            _simultaneous(joint.auc[:, 0], variance, freedom[pairs], least, pairs, confidence_level)
        )
    return found[0] if len(found) == 1 else found[0].hull(found[1])


def compare_average(
    within: Joint, share: Floats, of_models: Floats, pairs: Pairs, confidence_level: float
) -> Comparisons:
    """Compare averages over group AUCs, with simultaneous limits for all pairs.

    The shares of the groups sum to 1; all are 0 for an undefined average. `of_models` has the
    variances by model and group, or bounds for groups with a single row in a class.

    The variances of small groups are imprecise, and so are the groups' shares in the variance of an
    average. The smallest of many degrees of freedom from such shares would be far too small, so the
    joint degrees of freedom use the mean shares over all pairs.
    """
    used = share > 0
    # The variance of a difference is at most twice the sum of both variances.
    bound = 2.0 * (of_models[:, None] + of_models)
    bound[np.diag_indices(len(bound))] = 0.0
    of_groups = np.where(np.isnan(within.variance), bound, within.variance)
    variance = (share[used] ** 2 * of_groups[..., used]).sum(axis=-1)
    tested = _is_tested(variance[pairs])
    relative = of_groups[pairs][tested] / variance[pairs][tested, None]
    mean = relative.mean(axis=0) if tested.any() else np.zeros(share.size)

    def freedom_of(variances: Floats, freedom: Floats) -> float:
        if within.units is not None:
            return within.units.average_freedom(share, variances, freedom)
        return float(satterthwaite(share[used] ** 2 * variances[used], freedom[used], np.inf))

    of_pairs = within.freedom[pairs]
    freedom = np.array([*map(freedom_of, of_groups[pairs], of_pairs)])
    least = min((freedom_of(mean, of_pair) for of_pair in of_pairs[tested]), default=np.inf)
    if within.effects is not None and within.units is not None:
        known = within.units.has_two
        every = itertools.combinations(range(len(variance)), 2)
        for (i, j), apart in zip(every, _apart(within.effects), strict=True):
            parts = share, of_groups[i, j], known, apart.sum(axis=0)
            variance[i, j] = variance[j, i] = within.units.of_average(*parts)
    auc = _average(within.auc, share)
    return _simultaneous(auc, variance, freedom, least, pairs, confidence_level)


def compare_in_groups(
    within: Joint, pairs: Pairs, confidence_level: float
) -> tuple[Comparisons, str]:
    """Compare each group's AUCs, and name the method of adjustment.

    Adjusted p values are for all groups and pairs; there are no simultaneous limits.
    """
    first, second = pairs
    variance, freedom = within.variance[pairs], within.freedom[pairs]
    reach = t_quantile((1.0 - confidence_level) / 2.0, freedom)
    found = tested(within.auc[first], within.auc[second], variance, freedom, reach, np.nan)
    # The order of the p values does not matter.
    pvalue_adjusted, adjustment = adjusted(found.pvalue.ravel())
    return found._replace(pvalue_adjusted=pvalue_adjusted.reshape(variance.shape)), adjustment


def why_untested(rows: Rows, of: RowValues, within: Joint) -> NDArray[np.str_]:
    """Return for each group why a difference in it has no test, if it has none."""
    has_two = True if within.units is None else within.units.has_two
    return np.select(
        [(rows.sizes.n == 0).any(axis=0), rows.sizes.few, ~np.asarray(has_two), of.few],
        [
            "a class is absent",
            "too few rows of a class",
            "fewer than two clusters of a class",
            "too few rows within the rates",
        ],
        "no variation seen",
    )


def compare_over_groups(
    rows: Rows, of: RowValues, share: Floats | None, pairs: Pairs, confidence_level: float
) -> Comparisons:
    """Compare pooled AUCs (`share` is None) or averages of group AUCs, if the groups are random.

    The pooled AUCs use the variance of clustered data with the groups as clusters, and values among
    the rows in all groups. Limits and adjusted p values are simultaneous (Bonferroni).
    """
    null: StudentT | OverGroups
    first, second = pairs
    if share is None:
        auc, weight = of.auc[:, 0], rows.sizes.weight
        total = weight.sum(axis=1, keepdims=True)
        sums = weight * np.nan_to_num(of.means)
        residuals = (sums - weight / total * sums.sum(axis=2, keepdims=True)) / total
        of_pairs = residuals[second] - residuals[first]
        variance = np.array([clustered_variance(list(r), list(weight)) for r in of_pairs])
        variance[np.any(of.few)] = np.nan
        of_groups = (weight / total).mean(axis=0)
        null = StudentT(freedom_of_shares(of_groups))
    else:
        auc, used = _average(of.auc, share), share > 0
        null, variance = StudentT(1.0), np.full(first.size, np.nan)
        if used.sum() > 1:
            null = OverGroups(share[used])
            apart = (of.auc[second] - of.auc[first])[:, used]
            variance = np.array([variance_over_groups(of_pair, share[used]) for of_pair in apart])
    tail = (1.0 - confidence_level) / 2.0
    reaches = null.quantile(tail), null.quantile(tail / first.size)
    found = tested(auc[first], auc[second], variance, np.ones(first.size), *reaches)
    tails = [2.0 * null.tail(abs(t)) if t else 1.0 for t in found.statistic.tolist()]
    pvalue = np.where(np.isnan(found.statistic), np.nan, tails)
    return found._replace(pvalue=pvalue, pvalue_adjusted=np.minimum(pvalue * first.size, 1.0))


def _average(auc: Floats, share: Floats) -> Floats:
    """Return each model's average group AUC; NaN if no group has a share."""
    used = share > 0
    found: Floats = auc[:, used] @ share[used]
    return found if used.any() else np.full(len(auc), np.nan)


def _simultaneous(
    auc: Floats,
    variance: Floats,
    freedom: Floats,
    joint_freedom: float,
    pairs: Pairs,
    confidence_level: float,
) -> Comparisons:
    """Compare pairs with simultaneous limits, from all pairs' variances.

    `freedom` are the degrees of freedom of the compared pairs, and `joint_freedom` those of the
    largest standardized difference. No adjusted p value is below the p value of the single
    difference, which has its own degrees of freedom.
    """
    first, second = pairs
    of_pairs = variance[pairs]
    has_error = _is_tested(of_pairs)
    single = of_all = t_quantile((1.0 - confidence_level) / 2.0, freedom)
    null = None
    if has_error.any():
        compared = first[has_error], second[has_error]
        null = LargestDifference.of(variance, compared, joint_freedom)
        of_all = np.maximum(null.quantile(1.0 - confidence_level), single)
    found = tested(auc[first], auc[second], of_pairs, freedom, single, of_all)
    if null is not None:
        tails = [null.tail(abs(t)) for t in found.statistic[has_error].tolist()]
        found.pvalue_adjusted[has_error] = np.maximum(tails, found.pvalue[has_error])
    return found


def tested(
    value_a: Floats,
    value_b: Floats,
    variance: Floats,
    freedom: Floats,
    reach: Floats | float,
    reach_of_all: Floats | float,
) -> Comparisons:
    """Compare values with Student's t; half widths of both intervals are in standard errors."""
    difference = value_b - value_a
    error = np.sqrt(np.where(variance < ROUNDING**2, 0.0, variance))
    is_inside = np.abs(value_a - np.rint(value_a)) > ROUNDING
    is_same = (error == 0) & (np.abs(difference) < ROUNDING) & is_inside
    error[(error == 0) & ~is_same] = np.nan
    difference = np.where(is_same, 0.0, difference)
    statistic = np.where(is_same, 0.0, ratio(difference, error))
    pvalue = 2.0 * stdtr(freedom, -np.abs(statistic))
    own, of_all = (np.where(is_same, 0.0, half * error) for half in (reach, reach_of_all))
    test = difference - own, difference + own, statistic, pvalue
    simultaneous = difference - of_all, difference + of_all, pvalue.copy()
    return Comparisons(value_a, value_b, difference, *test, *simultaneous)


def _is_tested(variance: Floats) -> NDArray[np.bool_]:
    """Return True for a variance above 0 and above rounding error, False for NaN."""
    return np.asarray(variance >= ROUNDING**2, np.bool_)


class GroupValues(NamedTuple):
    """Two models' values by group, such as AUCs.

    The arrays have the shape (2, n_groups), except the covariances between both models' values.
    `between`, shape (3, n_groups, n_groups), has the covariances between different groups, for the
    first model, the second, and the first model's groups with the second's; None if groups share
    no clusters.
    """

    values: Floats
    variance: Floats
    covariance: Floats
    degrees_of_freedom: Floats
    between: Floats | None = None

    @classmethod
    def of_aucs(cls, joint: Joint, of_models: Sequence[Variances]) -> GroupValues:
        """Return two models' group AUCs; variances of 0 and unknown ones are bounds."""
        known, variance, freedom = (
            np.array([getattr(of, name) for of in of_models])
            for name in ("delong", "bounded", "degrees_of_freedom")
        )
        covariance = np.nan_to_num((known.sum(axis=0) - joint.variance[0, 1]) / 2.0)
        clusters = [of.clusters for of in of_models if of.clusters is not None]
        if not clusters:
            return cls(joint.auc, variance, covariance, freedom)
        between = _between_groups(clusters[0].units, [of.effects for of in clusters])
        return cls(joint.auc, variance, covariance, freedom, between)

    def contrasts(self, kept: NDArray[np.bool_]) -> Contrasts:
        """Return the differences of all ordered pairs of some groups."""
        groups = np.flatnonzero(kept)
        pairs = groups[np.array(np.nonzero(~np.eye(groups.size, dtype=bool)))]
        values = self.values[:, pairs[0]] - self.values[:, pairs[1]]
        before, after = (pairs[:, [of.argmax()]] for of in values)
        ends = (pairs, pairs), (before, pairs), (pairs, after)
        paired, *crossed = (np.sqrt(self._variance_of_change(*of)) for of in ends)
        # Degrees of freedom of the difference of two groups with a typical variance
        variance, freedom = self.variance[:, groups], self.degrees_of_freedom[:, groups]
        imprecision = (variance**2 / freedom).sum(axis=1)
        typical = ratio(2.0 * (variance**2).sum(axis=1), imprecision, np.inf)
        return Contrasts(values, paired, np.array(crossed), max(float(typical.min()), 1.0))

    def _variance_of_change(self, first: Numbers, second: Numbers) -> Floats:
        """Return the variance of the second model's differences minus the first model's ones.

        Differences are between the groups of pairs, shape (2, n) or (2, 1).
        """
        (i, j), (k, m) = first, second
        variance = self._within(0, i, j) + self._within(1, k, m)
        shared = self._across(i, k) + self._across(j, m) - self._across(i, m) - self._across(j, k)
        found = variance - 2.0 * shared
        return np.where(found < 1e-12 * variance, 0.0, found)  # rounding error of equal models

    def _within(self, model: int, one: Numbers, other: Numbers) -> Floats:
        variance: Floats = self.variance[model, one] + self.variance[model, other]
        return (
            variance if self.between is None else variance - 2.0 * self.between[model, one, other]
        )

    def _across(self, one: Numbers, other: Numbers) -> Floats:
        between = 0.0 if self.between is None else self.between[2, one, other]
        return np.where(one == other, self.covariance[one], between)


def _total(codes: NDArray[np.intp], n_groups: int, amounts: Floats) -> Floats:
    return np.bincount(codes, amounts, n_groups).astype(np.float64)


def _between_groups(units: Units, effects: Sequence[Floats]) -> Floats | None:
    if not units.shares_clusters:
        return None
    first, second = map(units.table, effects)
    pairs = (first, first), (second, second), (first, second)
    return np.array([(one @ other.T).toarray() for one, other in pairs])


def group_means(rows: Rows, of_rows: Floats, chosen: NDArray[np.bool_]) -> GroupValues:
    """Return two models' mean values by group, each over the rows that the model chooses.

    The arguments have the shape (2, n_rows). The degrees of freedom are Kish's effective numbers of
    rows or clusters minus 1. Means are NaN for groups without chosen rows.
    """
    return _of_sums(_sums(rows, of_rows, chosen))


def group_rates(rows: Rows, happens: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> GroupValues:
    """Return the shares of the chosen rows for which something happens, see `group_means`.

    Half a row in each cell: shares of 0 and 1 would have a variance of 0.
    """
    sums = _sums(rows, happens.astype(np.float64), chosen)
    values, n = _of_sums(sums), np.array([of.shares.effective for of in sums])
    smoothed = (n * values.values + 1.0) / (n + 2.0)
    least = ratio(smoothed * (1.0 - smoothed), n)
    return values._replace(variance=np.fmax(values.variance, least))


def _sums(rows: Rows, of_rows: Floats, chosen: NDArray[np.bool_]) -> list[ClusterSums]:
    if rows.clusters is None:
        rows = dataclasses.replace(rows, clusters=np.arange(rows.codes.size))
    units, unit = ClassUnits.of(rows)
    numbers = units.group, units.cluster, units.n_groups, units.n_clusters
    found = []
    for weights, values in zip(rows.weights * chosen, of_rows, strict=True):
        amounts = weights * values, weights, weights**2
        totals = (_total(unit, units.group.size, of) for of in amounts)
        found.append(ClusterSums(*numbers, *totals))
    return found


def _of_sums(sums: list[ClusterSums]) -> GroupValues:
    effects, units = [of.residuals for of in sums], sums[0]
    return GroupValues(
        np.array([of.value for of in sums]),
        np.array([of.variance for of in sums]),
        units.by_group(np.prod(effects, axis=0)),
        np.array([np.maximum(of.n_effective_clusters - 1.0, 1.0) for of in sums]),
        _between_groups(units, effects),
    )


class Contrasts(NamedTuple):
    """Contrasts of groups in two models, of which the largest one is a gap.

    `values` has the shape (2, n). `paired` has the errors of the contrasts' changes. `crossed`,
    shape (2, n), has those of the second model's contrasts minus the first model's largest one, and
    of the second model's largest one minus the first model's contrasts. Errors are infinite if they
    are unknown. Limits are Student's.
    """

    values: Floats
    paired: Floats
    crossed: Floats
    freedom: float

    @classmethod
    def of_sizes(
        cls, values: Floats, errors: Floats, of_changes: Floats, freedom: float
    ) -> Contrasts:
        """Return the sizes of values, which may correlate in any way between groups."""
        signed = np.concatenate([values, -values], axis=1)
        one, other = (np.tile(of, 2) for of in np.nan_to_num(errors, nan=np.inf))
        crossed = np.array([other + one[signed[0].argmax()], one + other[signed[1].argmax()]])
        paired = np.tile(np.nan_to_num(of_changes, nan=np.inf), 2)
        return cls(signed, paired, crossed, freedom)

    @property
    def sizes(self) -> tuple[float, float]:
        """Both models' gaps."""
        before, after = self.values.max(axis=1).tolist()
        return before, after

    def change(self, alpha: float, most: float) -> tuple[float, float, float, float]:
        """Return the change of the gap, its limits, of at most `most`, and the p value.

        Let a contrast be the largest true one in the second model. The first model's gap is not
        below this contrast there, nor below any other, so the change is at most that of this
        contrast, and at most the difference from the first model's largest one. The upper limit
        holds for whichever contrast that is, and the lower limit likewise. The observed largest
        contrast is one of `n`, which has a tenth of the error (Bonferroni), and the change of
        one contrast the rest. The p value is the smallest alpha at which the limits exclude 0.
        """
        before, after = self.sizes
        changes, n = self.values[1] - self.values[0], self.values.shape[1]
        if not changes.any() and (self.paired < ROUNDING).all():
            return 0.0, 0.0, 0.0, 1.0

        def limits(tail: float) -> tuple[float, float]:
            of_change, of_largest = (
                float(t_quantile(part * tail, self.freedom)) for part in (0.9, 0.1 / n)
            )
            paired, crossed = of_change * self.paired, of_largest * self.crossed
            high = np.minimum(changes + paired, self.values[1] - before + crossed[0]).max()
            low = np.maximum(changes - paired, after - self.values[0] - crossed[1]).min()
            return max(float(low), -most), min(float(high), most)

        def excess(deviate: float) -> float:
            low, high = limits(tail_of(deviate))
            return max(low, -high)

        pvalue = 2.0 * tail_of(max(crossing(excess, 0.0), 0.0))
        return after - before, *limits(alpha / 2.0), pvalue


def rate_changes(
    decisions: NDArray[np.bool_],
    codes: NDArray[np.intp],
    n_groups: int,
    weights: Floats,
    confidence_level: float,
) -> tuple[Floats, Floats, GroupValues]:
    """Return limits of the change of each group's share of positive decisions, and both shares.

    The interval is Newcombe's method 10 (1998): the Wilson limits of both rates, combined with the
    correlation phi of the decisions, whose numerator has a continuity correction. With weights,
    Kish's effective sample sizes replace the numbers of rows. NaN for groups without rows.
    """
    before, after = decisions
    total = functools.partial(_total, codes, n_groups)
    of_rows, squares = total(weights), total(weights**2)
    n_rows = ratio(of_rows**2, squares, 0.0)
    both, lost, gained, neither = (
        ratio(total(weights * cell), of_rows)
        for cell in (before & after, before & ~after, ~before & after, ~before & ~after)
    )
    shares = np.array([both + lost, both + gained])
    product = n_rows * (both * neither - gained * lost)
    product = np.where(product > 0, np.maximum(product - 0.5, 0.0), product)
    margins = (shares * (1.0 - shares)).prod(axis=0)
    phi = ratio(product, n_rows * np.sqrt(margins), 0.0)
    tail = (1.0 - confidence_level) / 2.0
    of_before, of_after = (wilson(share, n_rows, tail) for share in shares)
    change = difference(of_after, of_before, phi)
    # Half a row in each cell of the table of both decisions (Agresti and Min 2005): shares of 0 and
    # 1, and equal decisions, would have a variance of 0.
    smoothed, of_both = (n_rows * shares + 1.0) / (n_rows + 2.0), (n_rows * both + 0.5)
    n_known = np.maximum(n_rows, 1.0)
    values = GroupValues(
        shares,
        smoothed * (1.0 - smoothed) / n_known,
        (of_both / (n_rows + 2.0) - smoothed[0] * smoothed[1]) / n_known,
        np.full(shares.shape, np.inf),
    )
    return change.low, change.high, values
