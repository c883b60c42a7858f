"""AUCs of several models on the same rows, and simultaneous comparisons of the models.

The variances of the differences follow DeLong, DeLong and Clarke-Pearson [1]_. A test of all
differences together uses the distribution of the largest standardized difference, given the
estimated correlations [2]_. With equal variances and correlations, the comparison of all pairs is
Tukey's method, and the comparison with a reference is Dunnett's method.

The distribution is a multivariate t distribution. The degrees of freedom of this distribution are
the smallest of Satterthwaite's degrees of freedom of the differences. Reference [3]_ uses each
difference's own degrees of freedom instead. The multivariate t distribution assumes one estimated
variance for all differences. In fact, each difference has its own variance, and sampling error
often makes the variance of the largest standardized difference too small. An example has 20 models,
10 positives and 100 negatives (AUC .7, correlation .5 of the scores, 1,000 runs). The family-wise
error rate at 5 % is 4 % with the smallest degrees of freedom. The rate is 8 % with each
difference's own degrees of freedom, and 25 % with the normal distribution. For averages of group
AUCs, the degrees of freedom use mean shares of the groups in the variance
(`JointStatistic.of_average`).

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
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.effects import LEAST_EFFECTIVE, satterthwaite
from skfedauc.inference.paired import (
    ROUNDING,
    ModelClusters,
    PairedRows,
    placements_of,
    within_groups,
)
from skfedauc.inference.quantiles import LargestDifference, Pairs
from skfedauc.inference.variances import Floats


class JointAUCs(NamedTuple):
    """AUCs of several models on the same rows, and the variances of their differences.

    Attributes
    ----------
    auc : ndarray of float64, shape (n_models, n_groups)
        AUC by model and group; NaN if a group lacks a class.
    variance : ndarray of float64, shape (n_models, n_models, n_groups)
        Variance of the difference of two models' AUCs. NaN below an effective sample size of 1.5 in
        a class. The variances come from differences of placement values, because a difference of
        covariances loses precision if models agree on nearly all rows.
    degrees_of_freedom : ndarray of float64, shape (n_models, n_models, n_groups)
        Satterthwaite's degrees of freedom of `variance`.
    clusters : ModelClusters or None
        Residuals of clustered rows; None if all rows are independent.
    """

    auc: Floats
    variance: Floats
    degrees_of_freedom: Floats
    clusters: ModelClusters | None = None


def joint_aucs(rows: PairedRows) -> JointAUCs:
    """Return the AUCs within groups [1]_."""
    values = np.array([placements_of(rows, scores) for scores in rows.scores])
    classes = [_ClassRows(rows, positive, values) for positive in (True, False)]
    of_class = np.array([c.squared_around(c.mean) / c.pairs for c in classes])
    effective = np.array([c.effective for c in classes])
    # The mean placement value of the positives is the AUC.
    found = _joint(classes[0].mean, of_class, effective, effective - 1.0)
    if rows.clusters is None:
        return found
    clusters = ModelClusters.of_placements(rows, values)
    variance = _by_pair(len(values), lambda i, j: clusters.difference(i, j).variances())
    return _clustered(found, clusters, variance, clusters.units.degrees_of_freedom())


class SamplingDesigns(NamedTuple):
    """AUCs over the rows of all groups, as AUCs of a single group, for two designs [1]_.

    With fixed numbers, each group has fixed numbers of positives and negatives, and the deviations
    of placement values are from the mean in each group. With random numbers, each row has a random
    group, and the deviations are from the mean of all groups. The variance of random numbers is
    larger if the change of the placement values differs between groups.

    Attributes
    ----------
    fixed_numbers, random_numbers : JointAUCs
        The same AUCs, with the variances of both designs.
    """

    fixed_numbers: JointAUCs
    random_numbers: JointAUCs


def joint_pooled(rows: PairedRows) -> SamplingDesigns:
    """Return the pooled AUCs; for random numbers, the variances are DeLong's [1]_."""
    one_group = rows._replace(codes=np.zeros_like(rows.codes), n_groups=1)
    values = np.array([placements_of(one_group, scores) for scores in rows.scores])
    return SamplingDesigns(_pooled(rows, values), _pooled(one_group, values))


def _pooled(rows: PairedRows, values: Floats) -> JointAUCs:
    """Return the means of pooled placement values, with the groups of the rows as strata."""
    found = _among_all(rows, values)
    if rows.clusters is None:
        return found
    clusters = ModelClusters.of_placements(rows, values, among_all=True)
    variance = _by_pair(len(values), lambda i, j: clusters.difference(i, j).pooled_variance())
    of_all = np.array([clusters.difference(0, 1).pooled_freedom()])
    return _clustered(found, clusters, variance, of_all)


def joint_cross(rows: PairedRows) -> SamplingDesigns:
    """Return the AUCs of the pairs across groups.

    A pair across groups consists of a positive and a negative of different groups. The placement
    value of a row among the other class's rows of all groups is a weighted mean of two placement
    values: among the rows of its own group, and among the rows of other groups. The AUCs and the
    variances use the second placement value, times the weight of its rows in units of their mean.
    With random numbers, this weight is also random. The deviation of a row is then its value minus
    the AUC times the weight. Rows are independent.
    """
    one_group = rows._replace(codes=np.zeros_like(rows.codes), n_groups=1)
    among_all = np.array([placements_of(one_group, scores) for scores in rows.scores])
    among_own = np.array([placements_of(rows, scores) for scores in rows.scores])
    negatives, positives = (
        np.bincount(rows.codes, rows.weights * (rows.positive == label), rows.n_groups)
        for label in (False, True)
    )
    share = [of_class / of_class.sum() for of_class in (positives, negatives)]
    of_own = np.where(rows.positive, share[1][rows.codes], share[0][rows.codes])
    across = 1.0 - float(share[0] @ share[1])
    # A row of a group that lacks the other class has no placement value within the group.
    values = among_all - of_own * np.nan_to_num(among_own)
    rows, one_group = rows._replace(clusters=None), one_group._replace(clusters=None)
    if across > 0:
        values /= across
        fixed = _among_all(rows, values)
        deviations = values - fixed.auc * (1.0 - of_own) / across
        return SamplingDesigns(fixed, _among_all(one_group, deviations)._replace(auc=fixed.auc))
    found = _among_all(rows, values)
    found = found._replace(
        auc=np.full_like(found.auc, np.nan), variance=np.full_like(found.variance, np.nan)
    )
    return SamplingDesigns(found, found)


def _among_all(rows: PairedRows, values: Floats) -> JointAUCs:
    """Return the means of placement values over the rows of all groups, as AUCs of one group."""
    means, of_class, effective, freedom = [], [], [], []
    for positive in (True, False):
        c = _ClassRows(rows, positive, values)
        total = c.weight.sum()
        overall = np.nansum(c.mean * c.weight, axis=1, keepdims=True) / total
        # A single row has no deviation from the mean of its group; use the overall mean.
        several = c.count > 1
        squared = c.squared_around(np.where(several, c.mean, overall))
        lost = np.where(several, c.weight**2 / c.pairs, 1.0)
        means.append(overall)
        of_class.append((lost * squared).sum(axis=-1, keepdims=True) / total**2)
        effective.append([total**2 / c.squares.sum()])
        freedom.append([min(effective[-1][0] - 1.0, within_groups(c.count))])
    return _joint(means[0], np.array(of_class), np.array(effective), np.array(freedom))


def _joint(auc: Floats, of_class: Floats, effective: Floats, freedom: Floats) -> JointAUCs:
    """Return the AUCs; variances are NaN if a class has too few rows."""
    too_few = effective.min(axis=0) < LEAST_EFFECTIVE
    freedom = np.broadcast_to(np.maximum(freedom, 1.0)[:, None, None], of_class.shape)
    variance = np.where(too_few, np.nan, of_class.sum(axis=0))
    return JointAUCs(auc, variance, satterthwaite(of_class, freedom))


def _clustered(
    independent: JointAUCs, clusters: ModelClusters, variance: Floats, freedom: Floats
) -> JointAUCs:
    """Replace the variances of independent rows by variances of clustered rows.

    The degrees of freedom have shape (n_groups,).
    """
    return JointAUCs(
        independent.auc,
        np.where(np.isnan(independent.variance), np.nan, variance),
        np.broadcast_to(freedom, variance.shape),
        clusters,
    )


class _ClassRows:
    """Rows of one class: sums by group of weights and of placement values by model."""

    def __init__(self, rows: PairedRows, positive: bool, placements: Floats) -> None:
        mine = rows.positive == positive
        self._codes, self._weights = rows.codes[mine], rows.weights[mine]
        self._values, self._n_groups = placements[:, mine], rows.n_groups
        self.count = np.bincount(self._codes, minlength=rows.n_groups)
        self.weight = self._sum(self._weights)
        self.squares = self._sum(self._weights**2)
        self.effective = ratio(self.weight**2, self.squares, 0.0)
        pairs = self.weight**2 - self.squares
        self.pairs = np.where((self.count > 1) & (pairs > 0), pairs, np.nan)
        sums = [self._sum(self._weights * of_model) for of_model in self._values]
        self.mean = np.array([ratio(of_model, self.weight) for of_model in sums])

    def _sum(self, amounts: Floats) -> Floats:
        return np.bincount(self._codes, amounts, self._n_groups).astype(np.float64)

    def squared_around(self, centre: Floats) -> Floats:
        """Sum by group the squared differences of two models' deviations from `centre`.

        The sums use squared weights. The shape of the result is (n_models, n_models, n_groups).
        """
        deviations = self._weights * (self._values - centre[:, self._codes])
        return _by_pair(
            len(deviations), lambda i, j: self._sum((deviations[i] - deviations[j]) ** 2)
        )


def _by_pair(n_models: int, compute: Callable[[int, int], ArrayLike]) -> Floats:
    """Compute numbers of each pair of models, shape (n_models, n_models, n_numbers).

    The numbers of a model and itself are 0.
    """
    found = np.zeros((n_models, n_models, np.size(compute(0, 1))))
    for i, j in itertools.combinations(range(n_models), 2):
        found[i, j] = found[j, i] = compute(i, j)
    return found


class JointStatistic(NamedTuple):
    """The pooled AUC of several models, or an average of their group AUCs.

    Attributes
    ----------
    auc : ndarray of float64, shape (n_models,)
    variance : ndarray of float64, shape (n_models, n_models)
        Variance of the difference of each pair of models.
    degrees_of_freedom : ndarray of float64, shape (n_pairs,)
        Satterthwaite's degrees of freedom of the variances of the compared pairs.
    joint_freedom : float
        Degrees of freedom of the largest standardized difference.
    other : JointStatistic or None
        The same statistic with the variances of a second design; None for a single design.
    """

    auc: Floats
    variance: Floats
    degrees_of_freedom: Floats
    joint_freedom: float
    other: JointStatistic | None = None

    @classmethod
    def of_designs(cls, designs: SamplingDesigns, pairs: Pairs) -> JointStatistic:
        """Return the AUCs of `joint_pooled` or of `joint_cross`."""
        fixed, random = (cls._of_one(joint, pairs) for joint in designs)
        return fixed._replace(other=random)

    @classmethod
    def _of_one(cls, joint: JointAUCs, pairs: Pairs) -> JointStatistic:
        variance, freedom = joint.variance[..., 0], joint.degrees_of_freedom[..., 0][pairs]
        least = float(freedom[_is_tested(variance[pairs])].min(initial=np.inf))
        return cls(joint.auc[:, 0], variance, freedom, least)

    @classmethod
    def of_average(
        cls, within: JointAUCs, share: Floats, bounded: Floats, pairs: Pairs
    ) -> JointStatistic:
        """Return averages of the group AUCs, the result of `joint_aucs`.

        The variances of small groups are imprecise, and so are the groups' shares in the variance
        of an average. The smallest of many degrees of freedom from such shares would be far too
        small. The joint degrees of freedom therefore use the mean shares over all pairs. An example
        has 10 models and 5 groups of 4 positives and 20 negatives (AUC .7, 300 and 500 runs). The
        family-wise error rate of `macro` at 5 % is 3 %, and 0 % with the shares of each pair.

        Parameters
        ----------
        within : JointAUCs
        share : ndarray of float64, shape (n_groups,)
            Weights of the groups, with sum 1.
        bounded : ndarray of float64, shape (n_models, n_groups)
            Variances of the group AUCs, or bounds for groups with a single row of a class.
        pairs : tuple of two ndarray of intp, shape (n_pairs,)
        """
        used = share > 0
        # The variance of a difference is at most twice the sum of both variances.
        bound = 2.0 * (bounded[:, None] + bounded)
        bound[np.diag_indices(len(bound))] = 0.0
        of_groups = np.where(np.isnan(within.variance), bound, within.variance)
        auc = (share[used] * within.auc[:, used]).sum(axis=1)
        if not used.any():
            auc = np.full(auc.shape, np.nan)
        variance = (share[used] ** 2 * of_groups[..., used]).sum(axis=-1)
        tested = _is_tested(variance[pairs])
        relative = of_groups[pairs][tested] / variance[pairs][tested, None]
        mean = relative.mean(axis=0) if tested.any() else np.zeros(share.size)
        if within.clusters is None:
            of_pairs = within.degrees_of_freedom[pairs][:, used].T
            parts = (share[used] ** 2 * of_groups[pairs][:, used]).T
            freedom = satterthwaite(parts, of_pairs, np.inf)
            joint = satterthwaite(
                np.broadcast_to((share**2 * mean)[used, None], parts.shape), of_pairs, np.inf
            )
            return cls(auc, variance, freedom, float(joint[tested].min(initial=np.inf)))
        clusters = within.clusters
        averages = _by_pair(
            len(bounded), lambda i, j: clusters.difference(i, j).average(share, of_groups[i, j])
        )
        variance, of_models = np.moveaxis(averages, -1, 0)
        units = clusters.units
        least = units.average_freedom(share, mean, units.degrees_of_freedom())
        return cls(auc, variance, of_models[pairs], least)

    def compared(self, pairs: Pairs, confidence_level: float) -> tuple[Differences, Floats]:
        """Return the differences of pairs with simultaneous limits, and adjusted p values.

        No adjusted p value is below the p value of the single difference, which has its own degrees
        of freedom. With two designs, each interval contains the intervals of both designs, and each
        p value is the larger one.
        """
        found = self._compared(pairs, confidence_level)
        if self.other is None:
            return found
        others, of_others = self.other.compared(pairs, confidence_level)
        return found[0].hull(others), np.fmax(found[1], of_others)

    def _compared(self, pairs: Pairs, confidence_level: float) -> tuple[Differences, Floats]:
        from scipy.special import stdtrit

        first, second = pairs
        variance = self.variance[pairs]
        tested = _is_tested(variance)
        null, reach = None, np.zeros(variance.size)
        if tested.any():
            compared = first[tested], second[tested]
            null = LargestDifference.of(self.variance, compared, self.joint_freedom)
            single = -stdtrit(self.degrees_of_freedom, (1.0 - confidence_level) / 2.0)
            reach = np.maximum(null.quantile(1.0 - confidence_level), single)
        difference = self.auc[first] - self.auc[second]
        found = differences(difference, variance, self.degrees_of_freedom, reach)
        adjusted = found.pvalue.copy()
        if null is not None:
            tails = [null.tail(abs(t)) for t in found.statistic[tested].tolist()]
            adjusted[tested] = np.maximum(tails, found.pvalue[tested])
        return found, adjusted


def _is_tested(variance: Floats) -> NDArray[np.bool_]:
    """Return True for a variance above 0 and above rounding error, False for NaN."""
    return np.asarray(variance >= ROUNDING**2, np.bool_)


class Differences(NamedTuple):
    """Differences of AUCs with confidence limits, and tests of no difference.

    Attributes
    ----------
    difference, ci_low, ci_high, statistic, pvalue : ndarray of float64
        Except for `difference`, NaN if the standard error is 0 or unknown. The p value of equal
        AUCs with a standard error of 0, such as those of identical scores, is 1.
    """

    difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats

    def hull(self, other: Differences) -> Differences:
        """Return the limits that contain both intervals, and the test with the larger p value.

        A design without variance has no limits and no test, and the result is the result of the
        other design.
        """
        is_other = np.isnan(self.pvalue) | (other.pvalue > self.pvalue)
        return Differences(
            self.difference,
            np.fmin(self.ci_low, other.ci_low),
            np.fmax(self.ci_high, other.ci_high),
            np.where(is_other, other.statistic, self.statistic),
            np.where(is_other, other.pvalue, self.pvalue),
        )


def differences(
    difference: Floats,
    variance: Floats,
    degrees_of_freedom: Floats,
    reach: Floats | float,
) -> Differences:
    """Compare differences with Student's t; `reach` is the half width in standard errors."""
    from scipy.special import stdtr

    error = np.sqrt(np.where(variance < ROUNDING**2, 0.0, variance))
    is_same = (error == 0) & (np.abs(difference) < ROUNDING)
    error[(error == 0) & ~is_same] = np.nan
    statistic = np.where(is_same, 0.0, ratio(difference, error))
    pvalue = 2.0 * stdtr(degrees_of_freedom, -np.abs(statistic))
    low, high = difference - reach * error, difference + reach * error
    return Differences(difference, low, high, statistic, pvalue)
