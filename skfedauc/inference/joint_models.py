"""AUCs of several models on the same rows, and simultaneous comparisons of the models.

The variances of the differences are those of DeLong, DeLong and Clarke-Pearson [1]_. All
differences together are compared with the distribution of the largest standardized difference,
given the estimated correlations [2]_. With equal variances and correlations, the comparison of all
pairs is Tukey's method, and the comparison with a reference is Dunnett's method.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general parametric
   models. Biometrical Journal 50(3). https://doi.org/10.1002/bimj.200810425
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from skfedauc.counts.moments import ratio
from skfedauc.inference.largest_difference import LargestDifference, Pairs
from skfedauc.inference.paired import ROUNDING, PairedRows, placements_of
from skfedauc.inference.variances import LEAST_EFFECTIVE, Floats, satterthwaite


class JointAUCs(NamedTuple):
    """AUCs of several models on the same rows, and the variances of their differences.

    Attributes
    ----------
    auc : ndarray of float64, shape (n_models, n_groups)
        AUC by model and group; NaN if a group lacks a class.
    of_class : ndarray of float64, shape (2, n_models, n_models, n_groups)
        Variance of the difference of two models' AUCs: the part from the positives, and the part
        from the negatives. NaN below an effective sample size of 1.5 in a class. Computed from
        differences of placement values, because a difference of covariances loses precision if
        models agree on nearly all rows.
    effective : ndarray of float64, shape (2, n_groups)
        Effective sample size of each class.
    """

    auc: Floats
    of_class: Floats
    effective: Floats

    @property
    def variance(self) -> Floats:
        """Variance of each difference, shape (n_models, n_models, n_groups)."""
        total: Floats = self.of_class.sum(axis=0)
        return total

    def degrees_of_freedom(self, pairs: Pairs) -> Floats:
        """Return Satterthwaite's degrees of freedom, shape (n_pairs, n_groups)."""
        of_class = self.of_class[:, *pairs]
        freedom = np.maximum(self.effective - 1.0, 1.0)[:, None]
        return satterthwaite(of_class, np.broadcast_to(freedom, of_class.shape))


def joint_aucs(rows: PairedRows) -> JointAUCs:
    """Return the AUCs within groups [1]_."""
    values = np.array([placements_of(rows, scores) for scores in rows.scores])
    classes = [_ClassRows(rows, positive, values) for positive in (True, False)]
    of_class = np.array([c.squared_around(c.mean) / c.pairs for c in classes])
    # The mean placement value of the positives is the AUC.
    return _joint(classes[0].mean, of_class, np.array([c.effective for c in classes]))


def joint_pooled(rows: PairedRows) -> JointAUCs:
    """Return the pooled AUCs, as of a single group, with variances for fixed groups [1]_.

    Placement values are centered at their mean in each group, because the groups have fixed numbers
    of rows.
    """
    one_group = rows._replace(codes=np.zeros_like(rows.codes), n_groups=1)
    values = np.array([placements_of(one_group, scores) for scores in rows.scores])
    means, of_class, effective = [], [], []
    for positive in (True, False):
        c = _ClassRows(rows, positive, values)
        total = c.weight.sum()
        overall = np.nansum(c.mean * c.weight, axis=1, keepdims=True) / total
        # A single row has no deviation from its own mean; use the overall mean.
        several = c.count > 1
        squared = c.squared_around(np.where(several, c.mean, overall))
        lost = np.where(several, c.weight**2 / c.pairs, 1.0)
        means.append(overall)
        of_class.append((lost * squared).sum(axis=-1, keepdims=True) / total**2)
        effective.append([total**2 / c.squares.sum()])
    return _joint(means[0], np.array(of_class), np.array(effective))


def _joint(auc: Floats, of_class: Floats, effective: Floats) -> JointAUCs:
    """Return the AUCs; variances are NaN if a class has too few rows."""
    too_few = effective.min(axis=0) < LEAST_EFFECTIVE
    return JointAUCs(auc, np.where(too_few, np.nan, of_class), effective)


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

        Weights are squared. The shape of the result is (n_models, n_models, n_groups).
        """
        deviations = self._weights * (self._values - centre[:, self._codes])
        n_models = len(deviations)
        found = np.zeros((n_models, n_models, self._n_groups))
        for i, j in itertools.combinations(range(n_models), 2):
            found[i, j] = found[j, i] = self._sum((deviations[i] - deviations[j]) ** 2)
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
    """

    auc: Floats
    variance: Floats
    degrees_of_freedom: Floats

    @classmethod
    def of_pooled(cls, joint: JointAUCs, pairs: Pairs) -> JointStatistic:
        """Return the pooled AUCs, the result of `joint_pooled`."""
        freedom = joint.degrees_of_freedom(pairs)
        return cls(joint.auc[:, 0], joint.variance[..., 0], freedom[:, 0])

    @classmethod
    def of_average(
        cls, within: JointAUCs, share: Floats, bounded: Floats, pairs: Pairs
    ) -> JointStatistic:
        """Return averages of the group AUCs, the result of `joint_aucs`.

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
        share, variance = share[used], within.variance[..., used]
        # The variance of a difference is at most twice the sum of both variances.
        bound = 2.0 * (bounded[:, None] + bounded)[..., used]
        bound[np.diag_indices(len(bound))] = 0.0
        variance = np.where(np.isnan(variance), bound, variance)
        freedom = within.degrees_of_freedom(pairs)[:, used]
        auc = (share * within.auc[:, used]).sum(axis=1)
        return cls(
            auc if used.any() else np.full(auc.shape, np.nan),
            (share**2 * variance).sum(axis=-1),
            satterthwaite((share**2 * variance[pairs]).T, freedom.T, np.inf),
        )

    def compared(
        self, pairs: Pairs, weighted: bool, confidence_level: float
    ) -> tuple[Differences, Floats]:
        """Return the differences of pairs with simultaneous limits, and adjusted p values [2]_.

        If rows have unequal weights, all pairs have the smallest of their degrees of freedom.
        """
        first, second = pairs
        freedom = float(self.degrees_of_freedom.min()) if weighted else np.inf
        variance = self.variance[pairs]
        tested = variance >= ROUNDING**2
        null, reach = None, 0.0
        if tested.any():
            null = LargestDifference.of(self.variance, (first[tested], second[tested]), freedom)
            reach = null.quantile(1.0 - confidence_level)
        found = differences(self.auc[first] - self.auc[second], variance, freedom, reach)
        adjusted = found.pvalue.copy()
        if null is not None:
            adjusted[tested] = [null.tail(abs(t)) for t in found.statistic[tested].tolist()]
        return found, adjusted


class Differences(NamedTuple):
    """Differences of AUCs with confidence limits, and tests of no difference.

    Attributes
    ----------
    difference, ci_low, ci_high, statistic, pvalue : ndarray of float64
        Except for `difference`, NaN if the standard error is 0 or unknown. The p value of equal
        AUCs with a standard error of 0, as of identical scores, is 1.
    """

    difference: Floats
    ci_low: Floats
    ci_high: Floats
    statistic: Floats
    pvalue: Floats


def differences(
    difference: Floats,
    variance: Floats,
    degrees_of_freedom: Floats | float,
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
