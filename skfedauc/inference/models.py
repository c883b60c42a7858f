"""Comparisons of two or more models on the same rows, from effects of rows (`effects.py`).

The variance of the difference of two models comes from the differences of their effects [1]_: a
difference of covariances would lose precision if the models agree on nearly all rows. All pairs of
models are compared by the distribution of the largest standardized difference [2]_, a multivariate
t distribution with the smallest of Satterthwaite's degrees of freedom of the differences. Hasler
and Hothorn [3]_ use each difference's own degrees of freedom instead. With 20 models, 10 positives
and 100 negatives (AUC .7, correlation .5 of the scores, 1,000 runs), the family-wise error rate at
5 % is 4 % with the smallest degrees of freedom, 8 % with each difference's own, and 25 % with the
normal distribution.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general parametric
   models. Biometrical Journal 50(3). https://doi.org/10.1002/bimj.200810425
.. [3] Hasler, M. and Hothorn, L. A. (2008). Multiple contrast tests in the presence of
   heteroscedasticity. Biometrical Journal 50(5).
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.differences import adjusted
from skfedauc.inference.effects import (
    ROUNDING,
    Effects,
    Floats,
    Rows,
    Units,
    effects_of,
    placements,
    satterthwaite,
)
from skfedauc.inference.quantiles import (
    LargestDifference,
    OverGroups,
    Pairs,
    StudentT,
    t_quantile,
    variance_over_groups,
)
from skfedauc.inference.variances import clustered_variance

# Largest product of the numbers of groups and rows for variances of xAUC disparities
_MOST_VISITS = 50_000_000

# Values ------------------------------------------------------------------------------------


class RowValues(NamedTuple):
    """A measure of several models by group, and values of rows that determine its sampling error.

    The values are placement values for AUCs, and influence values for other measures.

    Attributes
    ----------
    values : ndarray of float64, shape (n_models, n_rows)
    auc : ndarray of float64, shape (n_models, n_groups)
        AUC or measure, on the scale from 0 to 1; NaN if a group lacks a class.
    few : ndarray of bool, shape (n_groups,), or False
        Groups with too few rows beyond the threshold of a partial AUC for a test.
    rates : tuple of two float
        Shares of the negatives and of the positives that determine the degrees of freedom: those
        beyond the threshold.
    """

    values: Floats
    auc: Floats
    few: NDArray[np.bool_] | bool = False
    rates: tuple[float, float] = (1.0, 1.0)


def auc_values(rows: Rows) -> RowValues:
    """Return the AUCs of the models within groups, and placement values."""
    values = placements(rows)
    return RowValues(values, _means(rows, values))


def _means(rows: Rows, values: Floats) -> Floats:
    """Return the mean value of the positives by model and group; for placement values, the AUC."""
    weight = rows.by_class(rows.weights)[1]
    return np.array([ratio(rows.by_class(rows.weights * v)[1], weight) for v in values])


# Variances of differences ------------------------------------------------------------------


class Joint(NamedTuple):
    """AUCs of several models, and the variances of the differences of all pairs of models.

    Attributes
    ----------
    auc : ndarray of float64, shape (n_models, n_groups)
    variance, freedom : ndarray of float64, shape (n_models, n_models, n_groups)
        The variance is NaN with too few rows; the degrees of freedom are at least 1.
    effects : Effects or None
        Effects on the AUCs within groups; None for other AUCs.
    """

    auc: Floats
    variance: Floats
    freedom: Floats
    effects: Effects | None = None


def joint_within(rows: Rows, of: RowValues) -> Joint:
    """Return the AUCs within groups, from values within groups."""
    found, freedom = effects_of(rows, of.values), _class_freedom(rows, of.rates)
    joint = _joint(rows, of.auc, found, freedom)
    joint.variance[..., rows.few() | of.few] = np.nan
    return joint._replace(effects=found)


def joint_pooled(rows: Rows, of: RowValues) -> list[Joint]:
    """Return the pooled AUCs as AUCs of one group, with the variances of two designs.

    With fixed numbers of positives and negatives of each group, deviations are from the mean of the
    group. With random numbers, as in a random sample of rows, they are from the mean of all rows.
    The second variance is larger if the change of the placement values differs between groups.

    Parameters
    ----------
    rows : Rows
    of : RowValues
        Values among the rows of all groups.
    """
    return [_among_all(each, of) for each in (rows, rows.pooled())[: rows.n_groups]]


def joint_cross(rows: Rows, own: RowValues, pooled: RowValues) -> list[Joint]:
    """Return the AUCs of the pairs across groups, with the variances of both designs.

    The placement value of a row among the other class's rows of all groups is a weighted mean of
    two: among the rows of its own group, and among those of other groups. The AUCs and the
    variances use the second one, times the weight of its rows in units of their mean. With random
    numbers, this weight is random too: the deviation of a row is its value minus the AUC times the
    weight. Rows are independent.
    """
    rows = rows._replace(clusters=None)
    weight = rows.by_class(rows.weights)
    share = weight / weight.sum(axis=1, keepdims=True)
    of_own = np.where(rows.positive, share[0][rows.codes], share[1][rows.codes])
    across = 1.0 - float(share[0] @ share[1])
    apart = pooled.values - of_own * np.nan_to_num(own.values)
    if not across > 0:
        found = _among_all(rows, RowValues(apart, np.full_like(pooled.auc, np.nan), few=True))
        return [found, found]
    apart /= across
    auc = _means(rows.pooled(), apart)
    deviations = apart - auc * (1.0 - of_own) / across
    designs = (rows, apart), (rows.pooled(), deviations)
    return [_among_all(each, RowValues(values, auc)) for each, values in designs]


def _among_all(rows: Rows, of: RowValues) -> Joint:
    """Return AUCs over the rows of all groups, as AUCs of one group; the groups are strata."""
    together = rows.pooled()
    count = rows.by_class(np.ones(rows.codes.size))
    # A single row deviates from the overall mean instead of the mean of its group.
    of_strata = np.where(count > 1, count - 1, count).sum(axis=1, keepdims=True)
    freedom = np.minimum(_class_freedom(together, of.rates), of_strata)
    found = effects_of(rows, of.values, among_all=True)
    joint = _joint(rows, of.auc, found, freedom, among_all=True)
    joint.variance[..., together.few() | of.few] = np.nan
    return joint


def joint_disparities(rows: Rows) -> Joint:
    """Return the xAUC disparities of the groups.

    The disparity of a group is the AUC of its positives against the negatives of all other groups,
    minus the AUC of the other groups' positives against its negatives. Each row is in one of these
    two AUCs, as if they were those of two groups. The variances are NaN if the number of groups
    times the number of rows is above 50 million, because all rows are sorted for each group.
    """
    n_models, n_groups = len(rows.scores), rows.n_groups
    auc = np.full((n_models, n_groups), np.nan)
    variance = np.full((n_models, n_models, n_groups), np.nan)
    freedom = np.ones_like(variance)
    if n_groups * rows.codes.size <= _MOST_VISITS:
        for g in range(n_groups):
            side = (rows.positive != (rows.codes == g)).astype(np.intp)
            two = rows._replace(codes=side, n_groups=2, clusters=None)
            both = joint_within(two, auc_values(two))
            auc[:, g] = both.auc[:, 0] - both.auc[:, 1]
            variance[..., g] = both.variance.sum(axis=-1)
            parts, of_parts = (np.moveaxis(of, -1, 0) for of in (both.variance, both.freedom))
            freedom[..., g] = satterthwaite(parts, of_parts)
    return Joint(auc, variance, freedom)


def _class_freedom(rows: Rows, rates: tuple[float, float]) -> Floats:
    return np.maximum(np.array(rates)[:, None] * rows.effective() - 1.0, 1.0)


def _joint(
    rows: Rows, auc: Floats, found: Effects, of_classes: Floats, *, among_all: bool = False
) -> Joint:
    """Add up squared differences of effects.

    Parameters
    ----------
    rows : Rows
    auc : ndarray of float64, shape (n_models, n_groups)
    found : Effects
    of_classes : ndarray of float64, shape (2, n_groups)
        Degrees of freedom of the variance of each class, for independent rows.
    among_all : bool, default=False
        Whether the effects are those on AUCs of all rows together, as one group.
    """
    units = found.units
    n_models = len(found.values)
    variance = np.zeros((n_models, n_models, auc.shape[1]))
    freedom = np.ones_like(variance)
    if units is not None and among_all:
        freedom[:] = _as_one_group(units).freedom()
    elif units is not None:
        freedom[:] = units.freedom()
    for i, j in itertools.combinations(range(n_models), 2):
        apart = found.values[i] - found.values[j]
        if units is None:
            parts = rows.by_class(apart**2)
            parts = parts.sum(axis=1, keepdims=True) if among_all else parts
            of_pair = parts.sum(axis=0)
            freedom[i, j] = freedom[j, i] = satterthwaite(parts, of_classes)
        elif among_all:
            of_all = float((units.by_cluster(apart.sum(axis=0)) ** 2).sum())
            of_pair = np.array([of_all if units.n_clusters > 1 else np.nan])
        else:
            of_pair = np.where(units.has_two, units.by_group(apart.sum(axis=0) ** 2), np.nan)
        variance[i, j] = variance[j, i] = of_pair
    return Joint(auc, variance, freedom)


def _as_one_group(units: Units) -> Units:
    number = np.arange(units.n_clusters)
    weights = np.array([units.by_cluster(of_class) for of_class in units.weights])
    return Units(np.zeros_like(number), number, weights, 1, number.size)


# Comparisons -------------------------------------------------------------------------------


class Comparisons(NamedTuple):
    """Differences of pairs of models, second minus first, with limits and tests.

    Arrays have the shape (n_pairs,) or (n_pairs, n_groups). Limits and tests are NaN if the
    standard error is unknown, or is 0 for a difference that is not 0. The p value of equal AUCs
    with a standard error of 0, such as those of identical scores, is 1.
    """

    value_a: Floats
    value_b: Floats
    difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats
    pvalue_adjusted: Floats

    def without_tests(self) -> Comparisons:
        """Return the differences without limits and tests."""
        none = np.full_like(self.difference, np.nan)
        return Comparisons(*self[:3], *[none] * 5)

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
            pvalue_adjusted=np.fmax(self.pvalue_adjusted, other.pvalue_adjusted),
        )


def compare_all(designs: list[Joint], pairs: Pairs, confidence_level: float) -> Comparisons:
    """Compare the AUCs of all rows, for each of the designs: `joint_pooled` or `joint_cross`.

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
    within: Joint, share: Floats, bounded: Floats, pairs: Pairs, confidence_level: float
) -> Comparisons:
    """Compare averages of the group AUCs, with simultaneous limits for all pairs.

    The variances of small groups are imprecise, and so are the groups' shares in the variance of an
    average. The smallest of many degrees of freedom from such shares would be far too small. The
    joint degrees of freedom therefore use the mean shares over all pairs. With 10 models and 5
    groups of 4 positives and 20 negatives (AUC .7, 300 and 500 runs), the family-wise error rate of
    `macro` at 5 % is 3 %, and 0 % with the shares of each pair.

    Parameters
    ----------
    within : Joint
        Result of `joint_within`.
    share : ndarray of float64, shape (n_groups,)
        Shares of the groups, with sum 1; all 0 for an undefined average.
    bounded : ndarray of float64, shape (n_models, n_groups)
        Variances of the group AUCs, or bounds for groups with a single row of a class.
    pairs : tuple of two ndarray of intp, shape (n_pairs,)
    confidence_level : float
    """
    used = share > 0
    first, second = pairs
    # The variance of a difference is at most twice the sum of both variances.
    bound = 2.0 * (bounded[:, None] + bounded)
    bound[np.diag_indices(len(bound))] = 0.0
    of_groups = np.where(np.isnan(within.variance), bound, within.variance)
    auc = _average(within.auc, share)
    variance = (share[used] ** 2 * of_groups[..., used]).sum(axis=-1)
    tested = _is_tested(variance[pairs])
    relative = of_groups[pairs][tested] / variance[pairs][tested, None]
    mean = relative.mean(axis=0) if tested.any() else np.zeros(share.size)
    assert within.effects is not None
    effects, units = within.effects
    if units is None:
        of_pairs = within.freedom[pairs][:, used].T
        freedom = satterthwaite((share**2 * of_groups[pairs])[:, used].T, of_pairs, np.inf)
        parts = np.broadcast_to((share**2 * mean)[used, None], of_pairs.shape)
        joint = satterthwaite(parts, of_pairs, np.inf)
        least = float(joint[tested].min(initial=np.inf))
    else:
        known, of_units = units.has_two, units.freedom()
        for i, j in itertools.combinations(range(len(auc)), 2):
            apart = (effects[i] - effects[j]).sum(axis=0)
            of_pair = units.of_average(share, of_groups[i, j], known, apart)
            variance[i, j] = variance[j, i] = of_pair
        freedom = np.array(
            [
                units.average_freedom(share, of_groups[i, j], of_units)
                for i, j in zip(first, second, strict=True)
            ]
        )
        least = units.average_freedom(share, mean, of_units)
    return _simultaneous(auc, variance, freedom, least, pairs, confidence_level)


def compare_in_groups(
    within: Joint, pairs: Pairs, confidence_level: float
) -> tuple[Comparisons, str]:
    """Compare the AUCs of each group, and name the method of adjustment.

    Limits are unadjusted; adjusted p values are for all groups and pairs.
    """
    first, second = pairs
    variance, freedom = within.variance[pairs], within.freedom[pairs]
    reach = t_quantile((1.0 - confidence_level) / 2.0, freedom)
    found = tested(within.auc[first], within.auc[second], variance, freedom, reach)
    # The order of the p values does not matter.
    pvalue_adjusted, adjustment = adjusted(found.pvalue.ravel())
    return found._replace(pvalue_adjusted=pvalue_adjusted.reshape(variance.shape)), adjustment


def compare_over_groups(
    rows: Rows, of: RowValues, share: Floats | None, pairs: Pairs, confidence_level: float
) -> Comparisons:
    """Compare pooled AUCs or averages of group AUCs, if the groups are random.

    The pooled AUCs use the variance of clustered data with the groups as clusters. Limits and
    adjusted p values are simultaneous (Bonferroni).

    Parameters
    ----------
    rows : Rows
    of : RowValues
        Values among the rows of all groups, or for an average, within groups.
    share : ndarray of float64, shape (n_groups,), or None
        Shares of the groups in an average, with sum 1; None for the pooled AUCs.
    pairs : tuple of two ndarray of intp, shape (n_pairs,)
    confidence_level : float
    """
    null: StudentT | OverGroups
    first, second = pairs
    if share is None:
        auc, weight = of.auc[:, 0], rows.by_class(rows.weights)
        total = weight.sum(axis=1, keepdims=True)
        sums = np.array([rows.by_class(rows.weights * values) for values in of.values])
        residuals = (sums - weight / total * sums.sum(axis=2, keepdims=True)) / total
        of_pairs = residuals[second] - residuals[first]
        variance = np.array([clustered_variance(list(r), list(weight)) for r in of_pairs])
        variance[np.any(of.few)] = np.nan
        of_groups = (weight / total).mean(axis=0)
        null = StudentT(max(1.0 / float((of_groups**2).sum()) - 1.0, 1.0))
    else:
        auc, used = _average(of.auc, share), share > 0
        null, variance = StudentT(1.0), np.full(first.size, np.nan)
        if used.sum() > 1:
            null = OverGroups(share[used])
            apart = (of.auc[second] - of.auc[first])[:, used]
            variance = np.array([variance_over_groups(of_pair, share[used]) for of_pair in apart])
    reach = null.quantile((1.0 - confidence_level) / 2.0 / first.size)
    found = tested(auc[first], auc[second], variance, np.ones(first.size), reach)
    tails = [2.0 * null.tail(abs(t)) if t else 1.0 for t in found.statistic.tolist()]
    pvalue = np.where(np.isnan(found.statistic), np.nan, tails)
    return found._replace(pvalue=pvalue, pvalue_adjusted=np.minimum(pvalue * first.size, 1.0))


def _average(auc: Floats, share: Floats) -> Floats:
    """Return averages of group AUCs by model; NaN if no group has a share."""
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
    """Compare pairs with simultaneous limits, from the variances of all pairs.

    `freedom` are the degrees of freedom of the compared pairs, and `joint_freedom` those of the
    largest standardized difference. No adjusted p value is below the p value of the single
    difference, which has its own degrees of freedom.
    """
    first, second = pairs
    of_pairs = variance[pairs]
    has_error = _is_tested(of_pairs)
    null, reach = None, np.zeros(of_pairs.size)
    if has_error.any():
        compared = first[has_error], second[has_error]
        null = LargestDifference.of(variance, compared, joint_freedom)
        single = t_quantile((1.0 - confidence_level) / 2.0, freedom)
        reach = np.maximum(null.quantile(1.0 - confidence_level), single)
    found = tested(auc[first], auc[second], of_pairs, freedom, reach)
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
) -> Comparisons:
    """Compare values with Student's t; `reach` is the half width in standard errors."""
    from scipy.special import stdtr

    difference = value_b - value_a
    error = np.sqrt(np.where(variance < ROUNDING**2, 0.0, variance))
    is_same = (error == 0) & (np.abs(difference) < ROUNDING)
    error[(error == 0) & ~is_same] = np.nan
    statistic = np.where(is_same, 0.0, ratio(difference, error))
    pvalue = 2.0 * stdtr(freedom, -np.abs(statistic))
    half = np.where(is_same, 0.0, reach * error)
    low, high = difference - half, difference + half
    return Comparisons(value_a, value_b, difference, low, high, statistic, pvalue, pvalue.copy())


def _is_tested(variance: Floats) -> NDArray[np.bool_]:
    """Return True for a variance above 0 and above rounding error, False for NaN."""
    return np.asarray(variance >= ROUNDING**2, np.bool_)
