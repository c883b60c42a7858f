"""Calibration of the scores of clustered rows: limits and tests that allow for dependent labels.

Rows of the same cluster may be dependent; clusters are independent. The estimates are those of
`skfedauc.inference.calibration`. Their variances are sums of squares over clusters, see
`skfedauc.inference.cluster_ratios`, with k - 1 degrees of freedom for k clusters. The variances of
intercepts and slopes are robust variances of clustered rows [1]_, and at least the variances of
independent rows. The test of perfect calibration is the score test with a covariance matrix of
clustered rows [2]_, whose statistic has approximately Hotelling's distribution [3]_. The p value is
at least that of independent rows.

References
----------
.. [1] Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear
   models. Biometrika 73(1). https://doi.org/10.1093/biomet/73.1.13
.. [2] Boos, D. D. (1992). On generalized score tests. The American Statistician 46(4).
   https://doi.org/10.1080/00031305.1992.10475921
.. [3] Hotelling, H. (1931). The generalization of Student's ratio. Annals of Mathematical
   Statistics 2(3). https://doi.org/10.1214/aoms/1177732979
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.clusters import ClusterCounts
from skfedauc.counts.moments import ratio
from skfedauc.inference.calibration import (
    Amounts,
    Bins,
    Brier,
    CalibrationTest,
    Coefficients,
    MeanScore,
)
from skfedauc.inference.cluster_ratios import ClusterSums
from skfedauc.inference.proportions import Limits, wilson_of_clusters
from skfedauc.inference.quantiles import normal_quantile

Floats = NDArray[np.float64]

# Smallest effective number of clusters for the test of perfect calibration
_LEAST_CLUSTERS = 4.0


class ClusterCells:
    """Cells of the units of clustered rows, beside the cells of the groups.

    Parameters
    ----------
    clusters : ClusterCounts
        Counts by group and cluster; no two units have the same group and the same cluster.
    cells : Cells
        Counts of the same rows by group.
    """

    def __init__(self, clusters: ClusterCounts, cells: Cells) -> None:
        self.clusters, self.cells = clusters, clusters.units.cells
        self.group = clusters.group_of[self.cells.groups]
        self.cluster = clusters.cluster_of[self.cells.groups]
        self.amounts = Amounts.of(self.cells)
        self.of_groups = cells

    @functools.cached_property
    def place(self) -> NDArray[np.intp]:
        """Number of the cell of the group with the score of each cell."""
        of_groups = self.of_groups
        scores, rank = np.unique(of_groups.scores, return_inverse=True)
        keys = of_groups.groups.astype(np.int64) * scores.size + rank
        own = self.group.astype(np.int64) * scores.size
        own += np.searchsorted(scores, self.cells.scores)
        return np.searchsorted(keys, own).astype(np.intp)

    def by_group(self, values: Floats) -> Floats:
        """Return the sum over the cells of each group."""
        return np.bincount(self.group, values, self.clusters.n_groups).astype(np.float64)

    def sums(self, events: Floats, weight: Floats) -> ClusterSums:
        """Return sums over the cells of each unit.

        Parameters
        ----------
        events, weight : ndarray of float64, shape (n_cells,)
            Parts of the numerator and of the denominator of a ratio.
        """
        found, unit = self.clusters, self.cells.groups
        numbers = found.group_of, found.cluster_of
        sums = _added(unit, found.group_of.size, (events, weight, self.amounts.squares))
        return ClusterSums(*numbers, *sums, found.n_groups, found.n_clusters)

    # Limits ----------------------------------------------------------------------------------

    def mean_scores(self, found: MeanScore, confidence_level: float) -> MeanScore:
        """Return mean scores and prevalences with limits of their differences.

        The scores are given, so the variance is that of the labels minus the scores. The variance
        is at least the binomial variance of the prevalence.
        """
        amounts, tail = self.amounts, (1.0 - confidence_level) / 2.0
        sums = self.sums(amounts.positives - amounts.rows * self.cells.scores, amounts.rows)
        precision, deviate = sums.precision_of(found.prevalence), normal_quantile(tail)
        _, low, high = wilson_of_clusters(found.prevalence, precision, deviate, tail)
        return found._replace(low=found.mean - high, high=found.mean - low)

    def brier_scores(self, found: Brier, confidence_level: float) -> Brier:
        """Return Brier scores with Student's limits on the logit scale."""
        from scipy.special import expit, logit

        amounts, scores = self.amounts, self.cells.scores
        losses = amounts.negatives * scores**2 + amounts.positives * (1.0 - scores) ** 2
        sums = self.sums(losses, amounts.rows)
        error = np.sqrt(sums.variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Deviations of equal losses from their mean are rounding error.
            error[~(error > 1e-9 * found.score)] = np.nan
            reach = _quantiles(sums, confidence_level) * error
            reach /= found.score * (1.0 - found.score)
            middle = logit(found.score)
        return Brier(found.score, expit(middle - reach), expit(middle + reach))

    def coefficients(
        self, found: Coefficients, confidence_level: float, *, with_slope: bool
    ) -> Coefficients:
        """Return calibration intercepts or slopes with limits of Student's t [1]_.

        The variance of a slope has the residuals and the information of the logits minus their
        mean, which are uncorrelated with the intercept.
        """
        from scipy.special import logit

        amounts, mean = self.amounts, np.nan_to_num(found.fitted[self.place])
        errors = amounts.positives - amounts.rows * mean
        information = amounts.rows * mean * (1.0 - mean)
        column = np.ones_like(mean)
        if with_slope:
            # Groups with scores of 0 or 1 have no slope.
            logits = np.nan_to_num(logit(self.cells.scores), posinf=0.0, neginf=0.0)
            center = ratio(self.by_group(information * logits), self.by_group(information), 0.0)
            column = logits - center[self.group]
        sums = self.sums(errors * column, information * column**2)
        error = np.maximum(found.error, np.sqrt(sums.variance))
        reach = _quantiles(sums, confidence_level) * error
        return found._replace(low=found.estimate - reach, high=found.estimate + reach, error=error)

    def limits_of_bins(self, bins: Bins, tail: float) -> Limits:
        """Return the shares of positives of bins of the groups with Wilson's limits."""
        amounts, n_clusters = self.amounts, self.clusters.n_clusters
        bin_ = np.cumsum(bins.is_first) - 1
        keys = bin_[self.place].astype(np.int64) * n_clusters + self.cluster
        distinct, unit = np.unique(keys, return_inverse=True)
        of_bin, of_cluster = np.divmod(distinct.astype(np.intp), n_clusters)
        of_rows = amounts.positives, amounts.rows, amounts.squares
        added = _added(unit, distinct.size, of_rows)
        sums = ClusterSums(of_bin, of_cluster, *added, bins.share.size, n_clusters)
        return wilson_of_clusters(bins.share, sums.shares, normal_quantile(tail), tail)

    # Test ------------------------------------------------------------------------------------

    def test_calibration(self, found: CalibrationTest) -> CalibrationTest:
        """Test that rows with the score p are positive with probability p, in each group [2]_.

        The statistic is a quadratic form of the sums of ``y - p`` and of ``(y - p) p``, with the
        inverse of their covariance matrix, times ``(k - 2) / (2 (k - 1))`` for k clusters. The null
        distribution is the F distribution with 2 and k - 2 degrees of freedom [3]_. The p value is
        NaN with an effective number of clusters below four. Spiegelhalter's z is NaN, because its
        variance is that of independent rows.

        Parameters
        ----------
        found : CalibrationTest
            Test of the same rows, as if they were independent.
        """
        from scipy.special import fdtrc

        amounts, p = self.amounts, self.cells.scores
        error, variance = amounts.positives - amounts.rows * p, amounts.rows * p * (1.0 - p)
        total = self.by_group(variance)
        centered = p - ratio(self.by_group(variance * p), total, 0.5)[self.group]
        # Both sums have the weights of the variance, and their ratios have the mean 0.
        first, second = self.sums(error, variance), self.sums(error * centered, variance)
        a, b = np.nan_to_num(first.value), np.nan_to_num(second.value)
        u, v = first.residuals, second.residuals
        uu, uv, vv = (self._of_units(product) for product in (u * u, u * v, v * v))
        k, determinant = first.n_effective_clusters, uu * vv - uv**2
        spread = self.by_group(variance * centered**2)
        has_slope = (spread > 1e-20 * total) & (determinant > 1e-12 * uu * vv)
        n_free = np.where(has_slope, 2.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            of_two = (vv * a**2 - 2.0 * uv * a * b + uu * b**2) / determinant
            quadratic = np.where(has_slope, of_two, a**2 / uu)
            # Under the null hypothesis the sums have the mean 0, so the covariance matrix needs no
            # centering. Without centering, the test rejects less often.
            quadratic = quadratic / (1.0 + quadratic / k)
            statistic = quadratic * np.where(has_slope, (k - 2.0) / (2.0 * (k - 1.0)), 1.0)
        pvalue = np.full(total.size, np.nan)
        known = (k >= _LEAST_CLUSTERS) & (uu > 0.0)
        pvalue[known] = fdtrc(n_free[known], (k - n_free)[known], statistic[known])
        # Without variance, any label that differs from its score refutes perfect calibration.
        pvalue = np.where(total > 0.0, np.maximum(pvalue, found.pvalue), found.pvalue)
        return CalibrationTest(np.full(k.shape, np.nan), statistic, pvalue)

    def _of_units(self, values: Floats) -> Floats:
        found = self.clusters
        return np.bincount(found.group_of, values, found.n_groups).astype(np.float64)


def _added(
    unit: NDArray[np.intp], n_units: int, columns: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Return the sums of three columns by unit."""
    one, two, three = (np.bincount(unit, c, n_units).astype(np.float64) for c in columns)
    return one, two, three


def _quantiles(sums: ClusterSums, confidence_level: float) -> Floats:
    """Return the quantiles of Student's t of each group; NaN for a single cluster."""
    from scipy.special import stdtrit

    freedom = sums.n_effective_clusters - 1.0
    known = freedom > 1e-9
    found = np.full(freedom.shape, np.nan)
    found[known] = -stdtrit(freedom[known], (1.0 - confidence_level) / 2.0)
    return found
