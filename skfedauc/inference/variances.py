"""Variances of group AUCs and of the pooled AUC, from placement values.

The *placement value* of a positive is the share of the negatives that it outranks. A tie counts one
half. The placement value of a negative is the share of the positives that outrank it. The mean
placement value of either class is the AUC, and the variance of the AUC follows from the variances
of the placement values [1]_. For weighted rows, squared weights replace counts in the variances.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
.. [3] Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney
   statistic. Annals of Mathematical Statistics 28(4).
.. [4] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
   regression with multi-stage samples. Survey Methodology 28(2).
"""

from __future__ import annotations

import copy
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import Cells, ScoreCounts
from skfedauc.counts.moments import (
    ClassRows,
    OwnMoments,
    group_aucs,
    is_rounding_error,
    ratio,
)
from skfedauc.counts.score_counts import with_weights_over
from skfedauc.counts.view import sums_among_all
from skfedauc.inference.pair_moments import PairMoments

Floats = NDArray[np.float64]

# Least effective sample size for a variance. Below this effective size, one row has most of the
# weight.
LEAST_EFFECTIVE = 1.5


class PooledMoments(NamedTuple):
    """Sums by group over the rows of one class, with squared weights.

    A pooled placement value is a placement value among the rows of all groups. The centered pooled
    placement values are deviations from the mean of the group.

    Attributes
    ----------
    squared : ndarray of float64, shape (n_groups,)
        Sum of the squared centered pooled placement values.
    product : ndarray of float64, shape (n_groups,)
        Sum of the products of two factors: the centered pooled placement value, and the placement
        value within the group minus the group's AUC.
    """

    squared: Floats
    product: Floats


class Variances:
    """Variances of the AUCs of a `ScoreCounts`, computed lazily.

    Attributes
    ----------
    auc : ndarray of float64, shape (n_groups,)
        AUC of each group; NaN if the group lacks a class.
    positives, negatives : ClassRows
    exponent : int
        Sums use the weights divided by two to this power. The exponent is 0 unless the mean weight
        is very small or large. The variances of all folds must have the same exponent.
    has_clusters : bool
        Whether rows are dependent within clusters; see `ClusterVariances`.
    """

    has_clusters = False

    def __init__(self, counts: ScoreCounts, exponent: int | None = None) -> None:
        # Fourth powers of very small or large weights underflow or overflow. All results are
        # ratios, which do not depend on the scale of the weights.
        self.exponent = counts.weight_exponent if exponent is None else exponent
        self._counts = counts = with_weights_over(counts, self.exponent)
        self.negatives, self.positives = counts.rows_by_class
        self.defined = self.negatives.weight * self.positives.weight > 0
        # Weights that are equal within each group and class have no effect on variances.
        self.weighted = any(
            not np.allclose(rows.effective, rows.n, rtol=1e-9)
            for rows in (self.negatives, self.positives)
        )
        self.auc = group_aucs(counts.concordance.u2, self.negatives, self.positives)

    @property
    def cells(self) -> Cells:
        """Counts of each group and distinct score, with weights over two to the `exponent`."""
        return self._counts.cells

    def with_auc(self, auc: Floats) -> Variances:
        """Return these variances with other AUCs of the groups.

        Parameters
        ----------
        auc : ndarray of float64, shape (n_groups,)
        """
        # The unbiased variance needs the AUC of the placement values.
        _ = self.unbiased
        other = copy.copy(self)
        other.auc = auc
        return other

    # Single groups ------------------------------------------------------------------------

    @functools.cached_property
    def n_smaller_class(self) -> Floats:
        """Number of rows of the smaller class; for weighted rows, the effective sample size."""
        return np.minimum(self.positives.effective, self.negatives.effective)

    @functools.cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """True for groups with at least two rows of each class, as a variance requires.

        Weighted rows must also have an effective sample size of at least 1.5.
        """
        has_two = [
            (rows.n > 1) & (rows.effective >= LEAST_EFFECTIVE)
            for rows in (self.positives, self.negatives)
        ]
        estimable: NDArray[np.bool_] = np.logical_and(*has_two)
        return estimable

    @functools.cached_property
    def delong(self) -> Floats:
        """DeLong's variance of each group's AUC; NaN unless estimable."""
        own = self.own_moments
        return ratio(own.positives_squared, self.positives.pairs) + ratio(
            own.negatives_squared, self.negatives.pairs
        )

    @functools.cached_property
    def degrees_of_freedom(self) -> Floats:
        """Satterthwaite's degrees of freedom of DeLong's variance; at least 1."""
        own = self.own_moments
        of_positives = ratio(own.positives_squared, self.positives.pairs, 0.0)
        of_negatives = ratio(own.negatives_squared, self.negatives.pairs, 0.0)
        effective = np.array([self.positives.effective, self.negatives.effective])
        return satterthwaite(np.array([of_positives, of_negatives]), np.maximum(effective - 1, 1))

    @property
    def interval_freedom(self) -> Floats:
        """Degrees of freedom of the quantiles of each group's interval; infinite for the normal."""
        return np.full(self.auc.shape, np.inf)

    @functools.cached_property
    def unbiased(self) -> Floats:
        """Unbiased variance of each group's AUC, possibly negative; NaN unless estimable.

        The variance is the squared AUC minus an unbiased estimate of the squared expectation of the
        AUC. The estimate of the squared expectation is the mean product of two comparisons that
        share no row.
        """
        own, auc = self.own_moments, self.auc
        negatives, positives = self.negatives.weight**2, self.positives.weight**2
        squares = self.positives.squares * self.negatives.squares
        # Center the comparisons at the AUC to reduce rounding error.
        comparisons = own.comparisons - auc * squares
        comparisons_squared = own.comparisons_squared - 2 * auc * own.comparisons + auc**2 * squares
        once = negatives * own.positives_once + positives * own.negatives_once - comparisons
        squared = negatives * own.positives_squared + positives * own.negatives_squared
        squared -= comparisons_squared
        pairs = self.positives.pairs * self.negatives.pairs
        found = ratio(2 * auc * once + squared, pairs)
        # If the placement values of each class are equal, so are all comparisons.
        return np.where(self.delong == 0.0, 0.0, found)

    @functools.cached_property
    def shrunk_auc(self) -> Floats:
        """AUC with half a concordant and half a discordant pair added; strictly within (0, 1)."""
        pairs = self.positives.effective * self.negatives.effective
        return (pairs * self.auc + 0.5) / (pairs + 1.0)

    @functools.cached_property
    def bounded(self) -> Floats:
        """DeLong's variance, or an upper bound if this variance is 0 or NaN.

        The variance of an AUC A of m positives and n negatives is at most A (1 - A) / min(m, n)
        (Birnbaum and Klose, 1957). The bound uses `shrunk_auc` as A. Unequal weights of rows can
        make DeLong's variance too small. A larger unbiased variance then replaces DeLong's
        variance.
        """
        found = np.fmax(self.delong, self.unbiased) if self.weighted else self.delong.copy()
        without = self.defined & ~(found > 0)
        auc = self.shrunk_auc[without]
        found[without] = auc * (1.0 - auc) / self.n_smaller_class[without]
        return found

    @functools.cached_property
    def _shared_parts(self) -> tuple[float, float, float]:
        """Coefficients of 1/m, 1/n and 1/(m n) in `shared`; NaN if no group is estimable."""
        kept = self.estimable
        if not kept.any():
            return float("nan"), float("nan"), float("nan")
        m, n = self.positives.effective[kept], self.negatives.effective[kept]
        own = self.own_moments
        # The excess is DeLong's variance minus the unbiased variance, times the number of pairs.
        excess = (self.delong - self.unbiased)[kept] * m * n
        of_positives = own.positives_squared[kept] / self.positives.pairs[kept] * m - excess / n
        of_negatives = own.negatives_squared[kept] / self.negatives.pairs[kept] * n - excess / m
        return (
            float(np.average(of_positives, weights=m - 1.0)),
            float(np.average(of_negatives, weights=n - 1.0)),
            float(np.average(excess, weights=m * n / (m + n))),
        )

    @property
    def shared_moments(self) -> PairMoments:
        """Unbiased moments of pair comparisons within groups, pooled over groups.

        The moments give the variance of an AUC for any numbers of rows; `shared` is this variance
        for the numbers of rows of each group. The moments are NaN if no group is estimable.
        """
        of_positives, of_negatives, excess = self._shared_parts
        return PairMoments(excess + of_positives + of_negatives, of_negatives, of_positives)

    @functools.cached_property
    def shared(self) -> Floats:
        """Variance of each group's AUC, from the variances of placement values pooled over groups.

        Pooling assumes that the placement values of a class have equal variances in all groups. A
        group's own variance has a downward bias if sampling error makes the group's AUC high.
        Inverse-variance weights would therefore favor such groups. The estimate is unbiased, except
        that 0 replaces negative estimates. The estimate is NaN if no group is estimable.
        """
        positives, negatives = self.positives.effective, self.negatives.effective
        of_positives, of_negatives, excess = self._shared_parts
        pairs = positives * negatives
        if np.isnan(excess):
            return np.full(pairs.shape, np.nan)
        variance = ratio(of_positives, positives) + ratio(of_negatives, negatives)
        variance += ratio(excess, pairs)
        # Values below this limit are rounding error.
        return np.where(variance * pairs < 1e-14, 0.0, variance)

    @functools.cached_property
    def model_coefficients(self) -> tuple[Floats, Floats]:
        """Coefficients of Newcombe's variance: 1 / (m n), and ((m + n) / 2 - 1) / (m n)."""
        positives, negatives = self.positives.effective, self.negatives.effective
        once = ratio(1.0, positives * negatives, 0.0)
        return once, once * ((positives + negatives) / 2.0 - 1.0)

    # Several groups ------------------------------------------------------------------------

    @property
    def shares_clusters(self) -> bool:
        """True if a cluster has rows in several groups, which makes group AUCs dependent."""
        return False

    def check_independent_groups(self, result: str, mend: str = "") -> None:
        """Raise an error if groups share clusters, for a result that assumes independent groups."""

    def of_average(self, share: Floats) -> float:
        """Variance of an average of group AUCs for fixed groups; bounds replace unknown variances.

        Parameters
        ----------
        share : ndarray of float64, shape (n_groups,)
            Share of each group in the average; 0 for groups without an AUC.
        """
        used = share > 0
        return float((share[used] ** 2 * self.bounded[used]).sum())

    def average_freedom(self, share: Floats) -> float:
        """Degrees of freedom of the variance of an average; infinite for the normal."""
        return float("inf")

    def correlations(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats | None:
        """Correlations of the AUCs of pairs of groups; None if groups are independent."""
        return None

    def correlation_matrix(self, used: NDArray[np.bool_]) -> Floats | None:
        """Correlations of the AUCs of all groups in use; None if groups are independent."""
        return None

    # All groups together -------------------------------------------------------------------

    @functools.cached_property
    def pooled(self) -> Variances:
        """Variances of all rows together, as one group."""
        if not self.auc.size:
            return Variances(self._counts.without_groups())
        return _PooledVariances(self._counts, self.negatives, self.positives, self.exponent)

    why_not_clustered = "needs two groups with rows of each class"

    @functools.cached_property
    def cluster_freedom(self) -> float:
        """Degrees of freedom of the clustered variance: effective number of groups minus one.

        The effective number of groups is 1 / sum(share**2); it equals the number of groups if all
        groups have the same size.
        """
        share = self.positives.weight / self.positives.weight.sum()
        share = (share + self.negatives.weight / self.negatives.weight.sum()) / 2.0
        return max(1.0 / float((share**2).sum()) - 1.0, 1.0)

    @property
    def pooled_fixed(self) -> float:
        """Variance of the pooled AUC for fixed groups with fixed numbers of rows."""
        return self.of_difference(None)

    def of_difference(self, share: Floats | None) -> float:
        """Variance of the pooled AUC minus an average of group AUCs, for fixed groups.

        Parameters
        ----------
        share : ndarray of float64, shape (n_groups,), or None
            Share of each group in the average; None for the pooled AUC alone.
        """
        total = 0.0
        sides = (
            (self.positives, self._pooled_moments[0], self.own_moments.positives_squared),
            (
                self.negatives,
                self._pooled_moments[1],
                self.own_moments.negatives_squared,
            ),
        )
        for rows, moments, own_squared in sides:
            # Correct for centering the placement values at their mean in the group.
            correction = ratio(rows.weight**2, rows.pairs, 1.0)
            of_pooled = moments.squared / rows.weight.sum() ** 2
            if share is not None:
                scale = ratio(share, rows.weight, 0.0)
                of_pooled = of_pooled - 2 * scale * moments.product / rows.weight.sum()
                of_pooled += scale**2 * own_squared
            total += float((correction * of_pooled).sum())
        if share is not None:
            # Add bounds for groups without an estimate of their own variance.
            bounded = ~self.estimable & self.defined & (share > 0)
            total += float((share**2 * self.bounded)[bounded].sum())
        return max(total, 0.0)

    def of_random_groups(self, of_positives: Floats, of_negatives: Floats) -> float:
        """Additional variance of the pooled AUC minus an average if the group of a row is random.

        With fixed numbers of rows by group and class, only the scores within groups vary
        (`of_difference`). Otherwise, the numbers of rows vary, too. The variance is that of the
        linear approximation of the difference by the weights of the rows.

        Parameters
        ----------
        of_positives, of_negatives : ndarray of float64, shape (n_groups,)
            Derivatives of the average by the weight of the positives and of the negatives of each
            group.
        """
        total = 0.0
        sides = (self.positives, of_positives), (self.negatives, of_negatives)
        parts = zip(self._pooled_residuals, self._pooled_moments, sides, strict=True)
        for residual, moments, (rows, of_average) in parts:
            per_weight = ratio(residual, rows.weight, 0.0) - of_average
            # The squares of the estimates are too large by the sampling variance of the estimates.
            noise = ratio(rows.weight**2, rows.pairs, 1.0) * ratio(
                moments.squared, (rows.weight * rows.weight.sum()) ** 2, 0.0
            )
            total += float((rows.squares * (per_weight**2 - noise)).sum())
        return max(total, 0.0)

    @functools.cached_property
    def pooled_clustered(self) -> float:
        """Variance of the pooled AUC for random groups; NaN with fewer than two groups."""
        weights = [self.positives.weight, self.negatives.weight]
        return clustered_variance(list(self._pooled_residuals), weights)

    @functools.cached_property
    def _pooled_residuals(self) -> tuple[Floats, Floats]:
        """Influence of positives and of negatives of each group on the pooled AUC."""
        u2, auc = sums_among_all(self._counts).u2, float(self.pooled.auc[0])
        return _influence(u2, self.negatives, self.positives, auc)[::-1]

    # Sums over cells -----------------------------------------------------------------------

    @property
    def own_moments(self) -> OwnMoments:
        """Sums of the placement values within each group."""
        return self._counts.own_moments

    @functools.cached_property
    def _pooled_moments(self) -> tuple[PooledMoments, PooledMoments]:
        """Sums of pooled placement values, for positives and for negatives."""
        found, residuals = sums_among_all(self._counts), self._pooled_residuals
        moments = []
        for side, rows in ((1, self.positives), (0, self.negatives)):
            # A single row has no deviation from its own mean; use the overall mean.
            apart = ratio(residuals[1 - side], rows.weight, 0.0) * rows.weight.sum()
            alone = np.where(rows.n == 1, apart, 0.0)
            sums = np.array([found.squared[side], found.product[side]])
            sums[0] += alone**2 * rows.squares
            sums[:, is_rounding_error(sums[0], rows.squares)] = 0.0
            moments.append(PooledMoments(*sums))
        return moments[0], moments[1]


class _PooledVariances(Variances):
    """Variances of the rows of all groups as one group, from the sums of the groups.

    Parameters
    ----------
    counts : ScoreCounts
        Counts of the groups, with weights over two to the `exponent`.
    negatives, positives : ClassRows
        Rows of the groups.
    exponent : int
    """

    def __init__(
        self, counts: ScoreCounts, negatives: ClassRows, positives: ClassRows, exponent: int
    ) -> None:
        self.exponent = exponent
        self._groups, self._rows = counts, (negatives, positives)
        self.negatives, self.positives = (
            ClassRows(*(np.array([values.sum()]) for values in rows)) for rows in self._rows
        )
        self.defined = self.negatives.weight * self.positives.weight > 0
        self.weighted = any(
            not np.allclose(rows.effective, rows.n, rtol=1e-9)
            for rows in (self.negatives, self.positives)
        )
        u2 = sums_among_all(counts).u2[1].astype(np.float64).sum()
        self.auc = group_aucs(np.array([u2]), self.negatives, self.positives)

    @functools.cached_property
    def _counts(self) -> ScoreCounts:  # type: ignore[override]
        return self._groups.without_groups()

    @functools.cached_property
    def own_moments(self) -> OwnMoments:
        """Sums of the placement values, moved from the means of the groups to the pooled AUC."""
        found = sums_among_all(self._groups)
        sums = []
        for side, residual in enumerate(_influence(found.u2, *self._rows, float(self.auc[0]))):
            rows = self._rows[side]
            apart = ratio(residual, rows.weight, 0.0) * rows.weight.sum()
            once = (found.once[side] + apart * rows.squares).sum()
            squared = found.squared[side] + 2.0 * apart * found.once[side]
            squared = (squared + apart**2 * rows.squares).sum()
            of_class = np.array([[once], [squared]])
            of_class[:, is_rounding_error(of_class[1], rows.squares.sum())] = 0.0
            sums.append(of_class)
        comparisons = found.comparisons, found.comparisons_squared
        totals = (np.array([values.sum()]) for values in comparisons)
        return OwnMoments(*sums[1], *sums[0], *totals)


def _influence(
    u2: NDArray[Any], negatives: ClassRows, positives: ClassRows, auc: float
) -> tuple[Floats, Floats]:
    """Influence of negatives and of positives of each group on the pooled AUC.

    The influence is the sum of the placement values among all rows minus the pooled AUC, divided by
    the weight of the class. `u2` is that of `PlacementSums`.
    """
    of_negatives, of_positives = u2.astype(np.float64)
    n, p = negatives.weight, positives.weight
    placements, lost = of_positives / (2.0 * n.sum()), of_negatives / (2.0 * p.sum())
    return (n - lost - n * auc) / n.sum(), (placements - p * auc) / p.sum()


class Extremes(NamedTuple):
    """Variances of the counts, and of the same rows with the lowest and with the highest AUCs.

    For exact counts, all attributes are the same object. For binned counts, `lowest` and `highest`
    are the variances of the results of `ScoreCounts.extremes`. The rows of each extreme are
    independent if the bins do not depend on the rows. The true AUC of the scores of `lowest` is at
    most the true AUC of the exact scores. A lower confidence limit for the scores of `lowest` is
    therefore a lower confidence limit for the exact scores. Likewise, an upper confidence limit for
    the scores of `highest` is an upper confidence limit for the exact scores.

    Attributes
    ----------
    given, lowest, highest : Variances
    """

    given: Variances
    lowest: Variances
    highest: Variances


def clustered_variance(residuals: list[Floats], weights: list[NDArray[Any]]) -> float:
    """Variance of a mean placement value for random groups [2]_; NaN with fewer than two groups.

    Parameters
    ----------
    residuals : list of two ndarray of float64, shape (n_groups,)
        For positives and for negatives: each group's sum of the placement values minus the overall
        mean, divided by the weight of all rows of the class.
    weights : list of two ndarray, shape (n_groups,)
        Weight of the class in each group.
    """
    total, shares = np.zeros((2, residuals[0].size))
    for residual, weight in zip(residuals, weights, strict=True):
        if (weight > 0).sum() < 2:
            return float("nan")
        of_class = weight.astype(np.float64)
        sums = (np.full_like(of_class, values.sum()) for values in (of_class, of_class**2))
        total += cluster_corrections(of_class, *sums) * residual
        shares += of_class / of_class.sum()
    variance = (total**2).sum()
    return 0.0 if is_rounding_error(variance, (shares**2).sum()) else float(variance)


def cluster_corrections(weights: Floats, totals: Floats, squares: Floats) -> Floats:
    """Return the corrections of the residuals of clusters for their common mean [4]_.

    The residual of a cluster is its deviation from its share of the sum of all clusters. The
    variance of the deviation is the variance of the cluster times ``1 - 2 share + sum(share^2)``,
    if the variances of the clusters are proportional to their squared shares. The correction is the
    inverse root of this factor.

    Parameters
    ----------
    weights, totals, squares : ndarray of float64
        Weight of each cluster, and the sums of the weights and of the squared weights of all
        clusters. The three arrays have the same shape.
    """
    # Compute the factor as a sum of two terms that are at least 0.
    others = np.maximum(squares - weights**2, 0.0)
    remaining = ratio((totals - weights) ** 2 + others, totals**2, 1.0)
    # A single cluster has no residual, or a residual around an overall mean.
    found: Floats = np.sqrt(ratio(1.0, remaining, 1.0))
    return found


def satterthwaite(variances: Floats, degrees_of_freedom: Floats, otherwise: float = 1.0) -> Floats:
    """Return the degrees of freedom of a sum of independent variances; at least 1.

    Parameters
    ----------
    variances, degrees_of_freedom : ndarray of float64
        Estimated variances and their degrees of freedom, of shape (n_variances,) or (n_variances,
        n_groups).
    otherwise : float, default=1.0
        Result if the sum has no sampling error.
    """
    squares = np.asarray((variances**2 / degrees_of_freedom).sum(axis=0))
    return np.maximum(ratio(variances.sum(axis=0) ** 2, squares, otherwise), 1.0)
