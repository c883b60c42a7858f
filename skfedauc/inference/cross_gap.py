"""Tests for xAUC disparities: differences between each group's two cross AUCs.

The first cross AUC compares the group's positives with the negatives in all other groups, and the
second the positives in all other groups with the group's negatives. They share no row, so their
variances (DeLong et al. 1988) add up if all rows are independent. With clusters, a cluster's effect
has four parts, one for each class and cross AUC, and the variance sums the squared effects
(Obuchowski 1997).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from skfedauc._kernel import Cells, ranks_in_groups
from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, Floats, ratio
from skfedauc.counts.score_counts import extremes_of, view_of, with_weights_over
from skfedauc.inference.clusters import rows_of
from skfedauc.inference.quantiles import t_quantile
from skfedauc.inference.row_effects import Rows, cluster_effects, placements, satterthwaite
from skfedauc.inference.variances import moments_of_all_rows, strata_of
from skfedauc.pairs import ranks_among_all

# Disparities of all groups, and their standard errors
End = tuple[Floats, Floats]

# Largest product of the numbers of groups and cells for which disparities have variances of
# clustered rows
_MOST_VISITS = 20_000_000


class CrossGaps(NamedTuple):
    """The xAUC disparity between each group and all other groups, with its test.

    The standard error is NaN with fewer than two rows in a class in the group or in the other
    groups. P values are for a disparity of 0. `lowest` and `highest` are the disparities that
    binned scores permit, with their standard errors. `freedom` has the degrees of freedom of the
    standard errors; infinite for independent rows.
    """

    disparity: Floats
    error: Floats
    pvalue: Floats
    lowest: End
    highest: End
    freedom: Floats

    def limits(self, confidence_level: float, *, are_simultaneous: bool = True) -> End:
        """Return lower and upper limits, by default simultaneous for all groups (Bonferroni)."""
        n_claims = 1
        # The disparities of two groups differ in sign only.
        if are_simultaneous and self.error.size != 2:
            n_claims = max(int(np.isfinite(self.error).sum()), 1)
        deviate = t_quantile((1.0 - confidence_level) / (2.0 * n_claims), self.freedom)
        (low, of_low), (high, of_high) = self.lowest, self.highest
        return np.maximum(low - deviate * of_low, -1.0), np.minimum(high + deviate * of_high, 1.0)

    def largest(self, alpha: float) -> tuple[float, float]:
        """Return a lower and an upper limit of the largest absolute disparity.

        The lower limit fails, with probability `alpha`, only if a simultaneous limit of any group
        fails. The upper limit fails, with half of it, only if that of the group with the largest
        true disparity fails, so it is not adjusted. A group without a standard error has the upper
        limit 1.
        """
        low, high = self.limits(1.0 - alpha)
        least = np.nanmax(np.append(np.maximum(low, -high), 0.0))
        deviate = t_quantile(alpha / 2.0, self.freedom)
        (lowest, of_low), (highest, of_high) = self.lowest, self.highest
        furthest = np.maximum(highest + deviate * of_high, deviate * of_low - lowest)
        most = np.minimum(np.nan_to_num(furthest, nan=1.0), 1.0).max()
        return float(least), float(most)


def cross_gaps(counts: ScoreCounts, clusters: ClusterCounts | None = None) -> CrossGaps:
    """Compare each group's two cross AUCs.

    The variance is the larger of DeLong's (1988) and that from the placement values of all rows
    pooled: DeLong's is too small where sampling error gives a few rows similar scores, and
    selecting the largest disparity favors such groups. With binned scores, one cross AUC can be as
    low and the other as high as the bins permit, and the p value tests the disparity nearest to 0.

    With clusters, the variance is at least that of clustered rows, with Student's t. There is none
    if fewer than two clusters have rows in a class, in the group or in the other groups, or if the
    numbers of groups and cells have a product above 20 million.
    """
    is_binned = view_of(counts).ranges is not None
    states = extremes_of(counts) if is_binned else (counts, counts)
    units = clusters.extremes() if clusters is not None and is_binned else (clusters, clusters)
    ends, freedom = [], np.full(len(counts), np.inf)
    for i in (0, 1) if is_binned else (0,):
        disparity, error = _disparities(states[i], states[1 - i])
        mine, other = units[i], units[1 - i]
        if mine is not None and other is not None:
            of_clusters, freedom = _errors_of_clusters(mine, other)
            error = np.maximum(error, of_clusters)
        ends.append((disparity, error))
    (low, of_low), (high, of_high) = ends[0], ends[-1]
    error = np.maximum(of_low, of_high)
    nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    of_nearest = np.where(low > 0, of_low, np.where(high < 0, of_high, error))
    pvalue = 2.0 * stdtr(freedom, -np.abs(nearest / of_nearest))
    own = _disparities(counts, counts)[0] if is_binned else low
    return CrossGaps(own, error, pvalue, ends[0], ends[-1], freedom)


def pair_errors(counts: ScoreCounts) -> Floats:
    """Return the standard error of each group pair's xAUC disparity, if groups are equal.

    The disparity between two groups is the AUC of the first group's positives against the second's
    negatives, minus the AUC of the second's positives against the first's negatives.
    Groups are equal if their placement values have the same distribution.
    """
    rows = view_of(with_weights_over(counts)).rows_by_class
    variance = np.zeros((len(counts), len(counts)))
    if not all(of_class.n.any() for of_class in rows):
        return variance + np.nan  # One class has no placement values.
    for of_row, of_class in zip(_row_variances(counts), rows, strict=True):
        of_group = of_row * ratio(1.0, of_class.effective)
        variance += of_group[:, None] + of_group
    return np.sqrt(variance)


def _disparities(counts: ScoreCounts, others: ScoreCounts) -> End:
    """Return all groups' disparities and their standard errors.

    `counts` gives the AUC of each group's positives, and `others`, which has the same rows, gives
    the AUC of the other groups' positives.
    """
    counts, others = (with_weights_over(one) for one in (counts, others))
    own = view_of(counts).rows_by_class
    of_others = own[0].others(), own[1].others()
    above, of_above = _above_others(counts.cells, 1, own[1], of_others[0])
    below, of_below = _above_others(others.cells, 0, own[0], of_others[1])
    variance = of_above + of_below
    for state in (counts, others)[: 1 if others is counts else 2]:
        # If placement values are distributed alike in all groups
        alike = np.zeros(len(counts))
        for of_row, one, other in zip(_row_variances(state), own, of_others, strict=True):
            alike += of_row * (ratio(1.0, one.effective) + ratio(1.0, other.effective))
        variance = np.maximum(variance, alike)
    estimable = np.logical_and.reduce([rows.n > 1 for rows in (*own, *of_others)])
    return above - (1.0 - below), np.where(estimable, np.sqrt(variance), np.nan)


def _row_variances(counts: ScoreCounts) -> tuple[Floats, Floats]:
    """Placement value variances for a negative and a positive, over all groups."""
    counts = with_weights_over(counts)
    negatives, positives, own = moments_of_all_rows(
        strata_of(counts, 0), view_of(counts).sums_among_all
    )
    sides = (own.negatives_squared, negatives), (own.positives_squared, positives)
    of_negative, of_positive = (ratio(of, rows.pairs) * rows.effective for of, rows in sides)
    return of_negative, of_positive


def _above_others(
    cells: Cells, side: int, own: ClassRows, others: ClassRows
) -> tuple[Floats, Floats]:
    """Return the share of pairs in which the group's row is above another group's row.

    `own` are the group's rows in one class (`side`: 0 for negatives, 1 for positives), and `others`
    the other groups' rows in the other class. The second result is DeLong's variance of the share,
    or a larger one if that is 0.
    """
    starts, sizes = cells.starts[:-1], np.diff(cells.starts)
    weight, weight_above, below, tied = squared = _neighbors(cells, side)
    if cells.weights is not None:
        # Cells with squared weights in place of weights
        squared = _neighbors(cells._replace(weights=cells.weights[[2, 3, 2, 3]]), side)
    squares, _, squares_below, squares_tied = squared
    placement = ratio(below + tied / 2.0, np.repeat(others.weight, sizes), 0.0)
    share = ratio(np.add.reduceat(weight * placement, starts), own.weight)
    share[others.weight == 0] = np.nan
    of_own = np.add.reduceat(squares * (placement - np.repeat(share, sizes)) ** 2, starts)
    # The share is also the mean placement value of the others' rows. The sum of the squares of
    # these values is a sum over pairs of rows of the group: the squared weight of the others' rows
    # below the lower row, times the weights of both rows.
    outranked = squares_below + squares_tied / 2.0
    both = 2.0 * weight * weight_above * outranked
    both += weight**2 * (squares_below + squares_tied / 4.0)
    of_others = ratio(np.add.reduceat(both, starts), own.weight**2)
    of_others -= 2.0 * share * ratio(np.add.reduceat(weight * outranked, starts), own.weight)
    of_others += share**2 * others.squares
    variance = np.zeros(share.size)
    for of_class, rows in ((of_own, own), (of_others, others)):
        # Values below this limit are rounding error.
        variance += ratio(np.where(of_class > 1e-12 * rows.squares, of_class, 0.0), rows.pairs)
    # Agresti and Coull (1998): limits of a share of 0 or 1 are not nearer than the exact ones.
    n = np.minimum(own.effective, others.effective)
    shrunk = (n * share + 2.0) / (n + 4.0)
    return share, np.where(variance > 0, variance, ratio(shrunk * (1.0 - shrunk), n))


def _neighbors(cells: Cells, side: int) -> tuple[Floats, Floats, Floats, Floats]:
    """By cell: the group's weight in and above it in a class; the others' below it and tied."""
    ranks = ranks_among_all(cells)
    own, other = (cells.amounts[i].astype(np.float64) for i in (side, 1 - side))
    under_own, under_other = (
        (ranks_in_groups(cells.starts, one) - one) / 2.0 for one in (own, other)
    )
    total = np.add.reduceat(own, cells.starts[:-1])
    above = np.repeat(total, np.diff(cells.starts)) - under_own - own
    under, up_to = (of[1 - side].astype(np.float64) for of in (ranks.under, ranks.up_to))
    tied = np.maximum(up_to - under - other, 0.0)
    return own, np.maximum(above, 0.0), np.maximum(under - under_other, 0.0), tied


def _errors_of_clusters(own: ClusterCounts, others: ClusterCounts) -> tuple[Floats, Floats]:
    """Return the disparities' standard errors for clustered rows, and degrees of freedom.

    `own` gives the AUC of each group's positives, and `others`, which has the same units, gives the
    AUC of the other groups' positives.
    """
    error, freedom = np.full((2, own.n_groups), np.nan)
    first = rows_of(own, view_of(own.units).weight_exponent)
    second = first if others is own else rows_of(others, view_of(others.units).weight_exponent)
    n_cells = max(of.units.cells.scores.size for of in (own, others))
    if own.n_groups * n_cells > _MOST_VISITS:
        return error, freedom
    for g in range(own.n_groups):
        # Each cross AUC is that of one of two groups of rows.
        kept = (first.codes == g) == first.positive, (second.codes == g) != second.positive
        columns = (
            (of.positive[rows], of.scores[0, rows], of.weights[rows], np.asarray(of.clusters)[rows])
            for of, rows in zip((first, second), kept, strict=True)
        )
        positive, scores, weights, clusters = map(np.concatenate, zip(*columns, strict=True))
        codes = np.repeat([0, 1], [rows.sum() for rows in kept])
        split = Rows(positive, scores[None], weights, codes, 2, clusters)
        (of_classes,), units = cluster_effects(split, placements(split)[0])
        if not units.has_two.all():
            continue
        # The second cross AUC has a negative sign.
        effects = units.by_cluster(np.where(units.group == 0, 1.0, -1.0) * of_classes.sum(axis=0))
        error[g] = np.sqrt((effects**2).sum())
        n_effective = 1.0 / units.by_group(units.share**2).T.ravel()
        of_parts = satterthwaite(1.0 / n_effective, np.maximum(n_effective - 1.0, 1.0))
        in_group = units.by_cluster(np.where(units.group == 0, units.share[1], units.share[0]))
        of_group = 1.0 / ((in_group / 2.0) ** 2).sum() - 1.0
        freedom[g] = max(min(float(of_parts), float(of_group)), 1.0)
    return error, freedom
