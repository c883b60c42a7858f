"""Tests of xAUC disparities: differences between the two cross AUCs of each group.

The first cross AUC compares the group's positives with the negatives of all other groups. The
second cross AUC compares the positives of all other groups with the group's negatives. The two
cross AUCs share no row, so their variances [1]_ add up if all rows are independent.

With clusters, the residual of a cluster is the sum of four parts: the residuals of the placement
values of the group's positives, of the others' negatives, of the others' positives and of the
group's negatives. The variance of a disparity is the sum of the squares of the residuals of all
clusters [3]_, so it includes the covariances of both cross AUCs and of all groups. Each part has
the correction for clusters of unequal size of `skfedauc.inference.clusters`.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
   or more correlated receiver operating characteristic curves. Biometrics 44(3).
   https://doi.org/10.2307/2531595
.. [2] Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney
   statistic. Annals of Mathematical Statistics 28(4).
.. [3] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, ranks_in_groups
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.counts.score_counts import with_weights_over
from skfedauc.counts.view import sums_among_all
from skfedauc.inference.clusters import rows_of
from skfedauc.inference.differences import holm
from skfedauc.inference.effects import Rows, Units, effects_of, placements, satterthwaite
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import moments_of_all_rows, strata_of
from skfedauc.ranks import ranks_among_all

Floats = NDArray[np.float64]

# Largest product of the numbers of groups and cells for which disparities have variances of
# clustered rows
_MOST_VISITS = 20_000_000


class CrossGaps(NamedTuple):
    """The xAUC disparity between each group and all other groups, with its test.

    Attributes
    ----------
    disparity, error : ndarray of float64, shape (n_groups,)
        Disparity and its standard error. The error is NaN with fewer than two rows of a class in
        the group or in the other groups.
    pvalue, pvalue_adjusted : ndarray of float64, shape (n_groups,)
        P value of the null hypothesis that the disparity is 0, unadjusted and adjusted for the
        number of groups (Holm).
    ends : tuple of two tuples of ndarray of float64, shape (n_groups,)
        For binned scores: the lowest possible disparity with its standard error, and the highest
        possible disparity with its standard error. `error` is the larger standard error. The tuple
        is empty for exact scores.
    freedom : ndarray of float64, shape (n_groups,), or float
        Degrees of freedom of the standard errors; infinite for independent rows.
    """

    disparity: Floats
    error: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    ends: tuple[tuple[Floats, Floats], ...] = ()
    freedom: Floats | float = np.inf

    def limits(
        self, confidence_level: float, *, are_simultaneous: bool = True
    ) -> tuple[Floats, Floats]:
        """Limits of each group, by default simultaneous for all groups (Bonferroni)."""
        n_claims = _n_gaps(self.error) if are_simultaneous else 1
        deviate = self._quantile((1.0 - confidence_level) / (2.0 * n_claims))
        (low, of_low), (high, of_high) = self.ends or ((self.disparity, self.error),) * 2
        return np.maximum(low - deviate * of_low, -1.0), np.minimum(high + deviate * of_high, 1.0)

    def largest(self, alpha: float, tail: float) -> tuple[float, float, float]:
        """Return the largest absolute disparity with a lower and an upper limit.

        The lower limit fails only if a simultaneous limit of any group fails. The upper limit is
        the largest limit of all groups. The upper limit fails only if the limit of the group with
        the largest true disparity fails, so these limits are not adjusted. A group without a
        standard error has the upper limit 1.

        Parameters
        ----------
        alpha, tail : float
            Probabilities with which the lower and the upper limit may fail.
        """
        low, high = self.limits(1.0 - alpha)
        least = np.nanmax(np.append(np.maximum(low, -high), 0.0))
        deviate = self._quantile(tail)
        (lowest, of_low), (highest, of_high) = self.ends or ((self.disparity, self.error),) * 2
        furthest = np.maximum(highest + deviate * of_high, deviate * of_low - lowest)
        most = np.minimum(np.nan_to_num(furthest, nan=1.0), 1.0).max()
        return float(np.abs(self.disparity).max()), float(least), float(most)

    def _quantile(self, tail: float) -> Floats | float:
        """Return the quantile of Student's t, or the normal quantile for independent rows."""
        from scipy.special import stdtrit

        deviate = normal_quantile(tail)
        if np.isinf(self.freedom).all():
            return deviate
        return np.where(np.isinf(self.freedom), deviate, -stdtrit(self.freedom, tail))


def cross_gaps(counts: ScoreCounts, clusters: ClusterCounts | None = None) -> CrossGaps:
    """Compare the two cross AUCs of each group.

    Parameters
    ----------
    counts : ScoreCounts
    clusters : ClusterCounts, default=None
        Counts of the same rows by group and cluster; None if all rows are independent.

    Notes
    -----
    The variance is the larger of DeLong's variance [1]_ and the variance from the placement values
    of all rows pooled. DeLong's variance has a downward bias if sampling error gives a few rows
    similar scores. Selecting the group with the largest disparity increases this bias.

    The two cross AUCs share no row. With binned scores, one cross AUC can therefore be as low and
    the other as high as the bins permit. The p value tests the possible disparity nearest to 0.

    With clusters, the variance is the larger of this variance and the variance of clustered rows
    [3]_. The quantiles are those of Student's t. A disparity has no standard error if fewer than
    two clusters have rows of a class, in the group or in the other groups, or if the product of the
    numbers of groups and of cells exceeds 20 million.
    """
    if counts.ranges is None:
        exact = _disparities(counts, counts)
        freedom: Floats | float = np.inf
        if clusters is not None:
            error, freedom = _errors_of_clusters(clusters, clusters)
            exact = exact[0], np.maximum(exact[1], error)
        return _tested(exact[0], exact, (), freedom)
    lowest, highest = counts.extremes()
    ends = _disparities(lowest, highest), _disparities(highest, lowest)
    freedom = np.inf
    if clusters is not None:
        low_units, high_units = clusters.extremes()
        of_clusters = (low_units, high_units), (high_units, low_units)
        errors = [_errors_of_clusters(*units) for units in of_clusters]
        freedom = errors[0][1]
        low_end, high_end = (
            (end, np.maximum(of_rows, error))
            for (end, of_rows), (error, _) in zip(ends, errors, strict=True)
        )
        ends = low_end, high_end
    (low, of_low), (high, of_high) = ends
    nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    error = np.where(low > 0, of_low, np.where(high < 0, of_high, np.maximum(of_low, of_high)))
    found = _tested(_disparities(counts, counts)[0], (nearest, error), ends, freedom)
    return found._replace(error=np.maximum(of_low, of_high))


def pair_errors(counts: ScoreCounts) -> Floats:
    """Return the standard error of the xAUC disparity of each pair of groups, if groups are equal.

    The disparity of two groups is the AUC of the first group's positives against the second group's
    negatives, minus the AUC of the second group's positives against the first group's negatives.
    The standard errors hold under the null hypothesis that placement values have the same
    distribution in all groups.

    Returns
    -------
    ndarray of float64, shape (n_groups, n_groups)
        Symmetric, with NaN for pairs with a group that lacks a class.
    """
    negatives, positives = _rows_of(counts)
    variance = np.zeros((len(counts), len(counts)))
    for of_row, rows in zip(_row_variances(counts), (positives, negatives), strict=True):
        of_group = of_row * ratio(1.0, rows.effective)
        variance += of_group[:, None] + of_group
    return np.sqrt(variance)


def _rows_of(counts: ScoreCounts) -> tuple[ClassRows, ClassRows]:
    return with_weights_over(counts, counts.weight_exponent).rows_by_class


def _tested(
    disparity: Floats,
    tested: tuple[Floats, Floats],
    ends: tuple[tuple[Floats, Floats], ...],
    freedom: Floats | float,
) -> CrossGaps:
    """Test disparities with their standard errors."""
    from scipy.special import ndtr, stdtr

    error = tested[1]
    statistic = -np.abs(tested[0]) / error
    pvalue = 2.0 * ndtr(statistic)
    if not np.isinf(freedom).all():
        pvalue = np.where(np.isinf(freedom), pvalue, 2.0 * stdtr(freedom, statistic))
    adjusted = pvalue.copy()
    if _n_gaps(error) > 1:
        is_tested = ~np.isnan(pvalue)
        adjusted[is_tested] = holm(pvalue[is_tested])
    return CrossGaps(disparity, error, pvalue, adjusted, ends, freedom)


def _errors_of_clusters(own: ClusterCounts, others: ClusterCounts) -> tuple[Floats, Floats]:
    """Return the standard errors of the disparities of clustered rows, and degrees of freedom.

    `own` gives the AUC of each group's positives, and `others`, which has the same units, gives the
    AUC of the other groups' positives. The effect of a cluster has four parts: the group's
    positives and the others' negatives in the first AUC, the others' positives and the group's
    negatives in the second.
    """
    error, freedom = np.full((2, own.n_groups), np.nan)
    first = rows_of(own, own.units.weight_exponent)
    second = first if others is own else rows_of(others, others.units.weight_exponent)
    n_cells = max(of.units.cells.scores.size for of in (own, others))
    if own.n_groups * n_cells > _MOST_VISITS:
        return error, freedom
    for g in range(own.n_groups):
        masks = ((first.codes == g) == first.positive), ((second.codes == g) != second.positive)
        if not all(kept.any() for kept in masks):
            continue
        (one, of_one), (two, of_two) = map(_effects_on_auc, (first, second), masks)
        if not (of_one.has_two.all() and of_two.has_two.all()):
            continue
        # The second cross AUC has a negative sign.
        effects = np.bincount(of_one.cluster, one.sum(axis=0), own.n_clusters)
        effects -= np.bincount(of_two.cluster, two.sum(axis=0), own.n_clusters)
        error[g] = np.sqrt((effects**2).sum())
        n_effective = 1.0 / np.append((of_one.share**2).sum(axis=1), (of_two.share**2).sum(axis=1))
        of_parts = satterthwaite(1.0 / n_effective, np.maximum(n_effective - 1.0, 1.0))
        in_group = np.bincount(of_one.cluster, of_one.share[1], own.n_clusters)
        in_group += np.bincount(of_two.cluster, of_two.share[0], own.n_clusters)
        of_group = 1.0 / ((in_group / 2.0) ** 2).sum() - 1.0
        freedom[g] = max(min(float(of_parts), float(of_group)), 1.0)
    return error, freedom


def _effects_on_auc(rows: Rows, kept: NDArray[np.bool_]) -> tuple[Floats, Units]:
    """Return the effects of clusters on the AUC of some rows, by class, and their units."""
    one_group = rows._replace(codes=np.where(kept, 0, 1), n_groups=2).of_groups(np.arange(2) == 0)
    (effects,), units = effects_of(one_group, placements(one_group))
    assert units is not None
    return effects, units


def _disparities(counts: ScoreCounts, others: ScoreCounts) -> tuple[Floats, Floats]:
    """Return the disparities of all groups and their standard errors.

    `counts` gives the AUC of each group's positives, and `others`, which has the same rows, gives
    the AUC of the other groups' positives.
    """
    counts, others = (with_weights_over(one, one.weight_exponent) for one in (counts, others))
    negatives, positives = counts.rows_by_class
    other_negatives, other_positives = negatives.others(), positives.others()
    bnsp = _cross_aucs(counts.cells, positives, other_negatives)
    # Exchanging the classes and negating the scores turns the group's negatives into positives.
    turned = _reversed(negatives), _reversed(other_positives)
    bpsn = _CrossAUC(*(of[::-1] for of in _cross_aucs(_turned(others.cells), *turned)))
    sides = (positives, other_positives), (negatives, other_negatives)
    estimable = np.logical_and.reduce([rows.n > 1 for side in sides for rows in side])
    variance = np.maximum(bnsp.variance + bpsn.variance, _variance_if_equal(counts, sides))
    if others is not counts:
        variance = np.maximum(variance, _variance_if_equal(others, sides))
    return bnsp.auc - bpsn.auc, np.where(estimable, np.sqrt(variance), np.nan)


def _n_gaps(error: Floats) -> int:
    """Number of distinct disparities; with two groups, the disparities differ in sign only."""
    return 1 if error.size == 2 else max(int(np.isfinite(error).sum()), 1)


def _reversed(rows: ClassRows) -> ClassRows:
    n, weight, squares = rows
    return ClassRows(n[::-1], weight[::-1], squares[::-1])


def _turned(cells: Cells) -> Cells:
    """Cells with the classes exchanged, the scores negated and the groups in reverse order."""
    starts, scores, negatives, positives, weights = cells
    if weights is not None:
        weights = weights[[1, 0, 3, 2], ::-1]
    return Cells(
        scores.size - starts[::-1], -scores[::-1], positives[::-1], negatives[::-1], weights
    )


def _variance_if_equal(
    counts: ScoreCounts, sides: tuple[tuple[ClassRows, ClassRows], ...]
) -> Floats:
    """Variance of the disparities if placement values have the same distribution in all groups."""
    variance = np.zeros(len(counts))
    for of_row, (own, others) in zip(_row_variances(counts), sides, strict=True):
        variance += of_row * (ratio(1.0, own.effective) + ratio(1.0, others.effective))
    return variance


def _row_variances(counts: ScoreCounts) -> tuple[Floats, Floats]:
    """Variances of the placement values of a positive and of a negative, over all groups."""
    counts = with_weights_over(counts, counts.weight_exponent)
    found = moments_of_all_rows(strata_of(counts, 0), sums_among_all(counts))
    negatives, positives, own = found
    squared = (own.positives_squared, positives), (own.negatives_squared, negatives)
    of_positive, of_negative = (
        ratio(of_class, rows.pairs) * rows.effective for of_class, rows in squared
    )
    return of_positive, of_negative


class _CrossAUC(NamedTuple):
    """AUC of each group's positives against the others' negatives, and its variance."""

    auc: Floats
    variance: Floats


def _cross_aucs(cells: Cells, own: ClassRows, others: ClassRows) -> _CrossAUC:
    """Compare each group's positives (`own`) with the negatives of all `others`.

    The variance is DeLong's variance, or an upper bound [2]_ if DeLong's variance is 0.
    """
    starts, sizes = cells.starts[:-1], np.diff(cells.starts)
    around = squared = _Neighbors.of(cells)
    if cells.weights is not None:
        # Cells with squared weights in place of weights.
        squared = _Neighbors.of(cells._replace(weights=cells.weights[[2, 3, 2, 3]]))
    placement = ratio(around.below + around.tied / 2.0, np.repeat(others.weight, sizes), 0.0)
    auc = ratio(np.add.reduceat(around.weight * placement, starts), own.weight)
    auc[others.weight == 0] = np.nan
    of_own = np.add.reduceat(squared.weight * (placement - np.repeat(auc, sizes)) ** 2, starts)
    # The AUC is also the mean placement value of the others' negatives. The sum of the squares of
    # these placement values is a sum over pairs of positives. Each term is the squared weight of
    # the negatives below the lower positive, times the weights of both positives.
    outranked = squared.below + squared.tied / 2.0
    both = 2.0 * around.weight * around.above * outranked
    both += around.weight**2 * (squared.below + squared.tied / 4.0)
    of_others = ratio(np.add.reduceat(both, starts), own.weight**2)
    of_others -= 2.0 * auc * ratio(np.add.reduceat(around.weight * outranked, starts), own.weight)
    of_others += auc**2 * others.squares

    variance = np.zeros(auc.size)
    for of_class, rows in ((of_own, own), (of_others, others)):
        # Values below this limit are rounding error.
        variance += ratio(np.where(of_class > 1e-12 * rows.squares, of_class, 0.0), rows.pairs)
    pairs = own.effective * others.effective
    shrunk_auc = (pairs * auc + 0.5) / (pairs + 1.0)
    bound = ratio(shrunk_auc * (1.0 - shrunk_auc), np.minimum(own.effective, others.effective))
    return _CrossAUC(auc, np.where(variance == 0, bound, variance))


class _Neighbors(NamedTuple):
    """Weights of the group's positives and of the others' negatives around each cell.

    Attributes
    ----------
    weight : ndarray of float64, shape (n_cells,)
        Weight of the positives in the cell.
    above : ndarray of float64, shape (n_cells,)
        Weight of the group's positives that score above the cell.
    below, tied : ndarray of float64, shape (n_cells,)
        Weight of the others' negatives that score below the cell, and of those tied with the cell.
    """

    weight: Floats
    above: Floats
    below: Floats
    tied: Floats

    @classmethod
    def of(cls, cells: Cells) -> _Neighbors:
        """Compute the weights from one sort of the scores."""
        own = np.array([amounts.astype(np.float64) for amounts in cells.amounts])
        under = np.array([ranks_in_groups(cells.starts, amounts) for amounts in own])
        under = (under - own) / 2.0
        of_group = np.add.reduceat(own[1], cells.starts[:-1])
        above = np.repeat(of_group, np.diff(cells.starts)) - under[1] - own[1]
        of_all = ranks_among_all(cells)
        below, up_to = of_all.under[0].astype(np.float64), of_all.up_to[0].astype(np.float64)
        tied = np.maximum(up_to - below - own[0], 0.0)
        return cls(own[1], np.maximum(above, 0.0), np.maximum(below - under[0], 0.0), tied)
