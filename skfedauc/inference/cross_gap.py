"""Tests of xAUC disparities: differences between the two cross AUCs of each group.

The first cross AUC compares the group's positives with the negatives of all other groups. The
second cross AUC compares the positives of all other groups with the group's negatives. The two
cross AUCs share no row, so their variances [1]_ add up.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
   or more correlated receiver operating characteristic curves. Biometrics 44(3).
   https://doi.org/10.2307/2531595
.. [2] Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney
   statistic. Annals of Mathematical Statistics 28(4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.inference.group_comparisons import holm
from skfedauc.inference.intervals import normal_quantile
from skfedauc.inference.variances import Variances
from skfedauc.ranks import ranks_among_all

Floats = NDArray[np.float64]


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
    """

    disparity: Floats
    error: Floats
    pvalue: Floats
    pvalue_adjusted: Floats
    ends: tuple[tuple[Floats, Floats], ...] = ()

    def limits(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Simultaneous normal limits for all groups (Bonferroni)."""
        deviate = normal_quantile((1.0 - confidence_level) / (2.0 * _n_gaps(self.error)))
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
        deviate = normal_quantile(tail)
        (lowest, of_low), (highest, of_high) = self.ends or ((self.disparity, self.error),) * 2
        furthest = np.maximum(highest + deviate * of_high, deviate * of_low - lowest)
        most = np.minimum(np.nan_to_num(furthest, nan=1.0), 1.0).max()
        return float(np.abs(self.disparity).max()), float(least), float(most)


def cross_gaps(counts: ScoreCounts) -> CrossGaps:
    """Compare the two cross AUCs of each group.

    The variance is the larger of DeLong's variance [1]_ and the variance from the placement values
    of all rows pooled. DeLong's variance has a downward bias if sampling error gives a few rows
    similar scores. Selecting the group with the largest disparity increases this bias.

    The two cross AUCs share no row. With binned scores, one cross AUC can therefore be as low and
    the other as high as the bins permit. The p value tests the possible disparity nearest to 0.
    """
    if counts.ranges is None:
        exact = _disparities(counts, counts)
        return _tested(exact[0], exact, ())
    lowest, highest = counts.extremes()
    ends = _disparities(lowest, highest), _disparities(highest, lowest)
    (low, of_low), (high, of_high) = ends
    nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    error = np.where(low > 0, of_low, np.where(high < 0, of_high, np.maximum(of_low, of_high)))
    found = _tested(_disparities(counts, counts)[0], (nearest, error), ends)
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
    variances = Variances(counts)
    variance = np.zeros((len(counts), len(counts)))
    sides = variances.positives, variances.negatives
    for of_row, rows in zip(_row_variances(counts), sides, strict=True):
        of_group = of_row * ratio(1.0, rows.effective)
        variance += of_group[:, None] + of_group
    return np.sqrt(variance)


def _tested(
    disparity: Floats, tested: tuple[Floats, Floats], ends: tuple[tuple[Floats, Floats], ...]
) -> CrossGaps:
    """Test disparities with their standard errors."""
    from scipy.special import ndtr

    error = tested[1]
    pvalue = 2.0 * ndtr(-np.abs(tested[0]) / error)
    adjusted = pvalue.copy()
    if _n_gaps(error) > 1:
        is_tested = ~np.isnan(pvalue)
        adjusted[is_tested] = holm(pvalue[is_tested])
    return CrossGaps(disparity, error, pvalue, adjusted, ends)


def _disparities(counts: ScoreCounts, others: ScoreCounts) -> tuple[Floats, Floats]:
    """Return the disparities of all groups and their standard errors.

    `counts` gives the AUC of each group's positives, and `others`, which has the same rows, gives
    the AUC of the other groups' positives.
    """
    counts, others = (one.with_weights_over(one.weight_exponent) for one in (counts, others))
    variances = Variances(counts)
    negatives, positives = variances.negatives, variances.positives
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
    pooled = Variances(counts.without_groups())
    moments = pooled.own_moments
    squared = moments.positives_squared, moments.negatives_squared
    positives, negatives = (
        ratio(of_class, rows.pairs) * rows.effective
        for of_class, rows in zip(squared, (pooled.positives, pooled.negatives), strict=True)
    )
    return positives, negatives


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
