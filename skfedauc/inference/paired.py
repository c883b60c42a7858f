"""Paired comparison of two models on the same rows.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.encoding import number_integers
from skfedauc._kernel import number_cells, ranks_in_groups
from skfedauc.counts.moments import is_rounding_error, ratio
from skfedauc.inference.effects import LEAST_EFFECTIVE, cluster_corrections, satterthwaite
from skfedauc.inference.variances import Floats, clustered_variance

Numbers = NDArray[np.intp]

# Placement values are between 0 and 1, so a standard error below this limit is rounding error.
ROUNDING = 1e-12


class Units(NamedTuple):
    """Units of clustered rows; a unit holds the rows of one cluster in one group.

    Residuals and placement values are sums over the rows of each unit.

    Attributes
    ----------
    group, cluster : ndarray of intp, shape (n_units,)
        Group number and cluster number of each unit.
    weights : ndarray of float64, shape (2, n_units)
        Weight of the negatives and of the positives of each unit.
    n_groups, n_clusters : int
    """

    group: Numbers
    cluster: Numbers
    weights: Floats
    n_groups: int
    n_clusters: int

    def by_group(self, values: Any) -> Floats:
        """Sum values of units by group; the last axis is the axis of units."""
        if values.ndim == 1:
            return np.bincount(self.group, values, self.n_groups).astype(np.float64)
        return np.array([self.by_group(row) for row in values])

    @property
    def n_in_group(self) -> Floats:
        """Numbers of clusters by group: with negatives, with positives, and all; shape (3, G)."""
        return self.by_group(np.concatenate([self.weights > 0, np.ones((1, self.group.size))]))

    @property
    def share(self) -> Floats:
        """Share of each unit in the weights of both classes of its group, shape (2, n_units)."""
        return ratio(self.weights, self.by_group(self.weights)[:, self.group], 0.0)

    @property
    def shares_clusters(self) -> bool:
        """True if a cluster has rows in several groups."""
        return self.group.size > self.n_clusters

    # Residuals ------------------------------------------------------------------------------

    @property
    def corrections(self) -> Floats:
        """Corrections of the residuals of both classes for their common mean, (2, n_units)."""
        squares = self.by_group(self.weights**2)[:, self.group]
        return cluster_corrections(
            self.weights, self.by_group(self.weights)[:, self.group], squares
        )

    def residuals(self, placements: Floats) -> Floats:
        """Return the corrected residuals of sums of placement values within groups.

        Parameters
        ----------
        placements : ndarray of float64, shape (2, n_units)
            Sums of the placement values of the negatives and of the positives.
        """
        totals = self.by_group(self.weights)
        centre = ratio(self.by_group(placements), totals, 0.0)[:, self.group]
        found = ratio(placements - self.weights * centre, totals[:, self.group], 0.0)
        return self._without_rounding_error(self.corrections * found, self.share)

    def _without_rounding_error(self, residuals: Floats, share: Floats) -> Floats:
        """Return the residuals, with 0 for classes of groups that have only rounding error."""
        is_error = is_rounding_error(self.by_group(residuals**2), self.by_group(share**2))
        return np.where(is_error[:, self.group], 0.0, residuals)

    def residuals_of_pooled(self, placements: Floats) -> Floats:
        """Return the corrected residuals of placement values among the rows of all groups.

        Residuals are deviations from the mean of the group, because groups are fixed. A single
        cluster has no deviation from the mean of its group, so the overall mean replaces this mean.
        """
        totals = self.weights.sum(axis=1, keepdims=True)
        centre = ratio(self.by_group(placements), self.by_group(self.weights), 0.0)
        overall = placements.sum(axis=1, keepdims=True) / totals
        centre = np.where(self.n_in_group[:2] > 1, centre, overall)[:, self.group]
        found: Floats = self.corrections * (placements - self.weights * centre) / totals
        return self._without_rounding_error(found, self.weights / totals)

    # Variances ------------------------------------------------------------------------------

    def parts(self, residuals: Floats) -> Floats:
        """Return the parts of the variance of each group's sum of residuals, shape (3, G).

        The parts are the variances of both classes, and twice their covariance.

        Parameters
        ----------
        residuals : ndarray of float64, shape (2, n_units)
            Corrected residuals of the negatives and of the positives.
        """
        x, y = residuals
        return self.by_group(np.array([x**2, y**2, 2.0 * x * y]))

    def variances(self, residuals: Floats) -> Floats:
        """Return the variance of each group's sum of residuals."""
        return self.by_group(residuals.sum(axis=0) ** 2)

    def covariances(self, residual: Floats) -> float:
        """Return the sum of the covariances of all ordered pairs of different groups.

        Parameters
        ----------
        residual : ndarray of float64, shape (n_units,)
            Corrected residuals of both classes together.
        """
        of_cluster = np.bincount(self.cluster, residual, self.n_clusters)
        return float((of_cluster**2).sum() - (residual**2).sum())

    def of_average(
        self, share: Floats, variances: Floats, is_known: NDArray[np.bool_], residual: Floats
    ) -> float:
        """Return the variance of an average of groups.

        A group without an estimated variance has a bound. If groups share clusters, the AUC of this
        group may have a correlation of 1 with the average of the other groups.

        Parameters
        ----------
        share, variances : ndarray of float64, shape (n_groups,)
            Share in the average, and variance or bound of each group.
        is_known : ndarray of bool, shape (n_groups,)
            Whether the variance is an estimate.
        residual : ndarray of float64, shape (n_units,)
            Corrected residuals of both classes together.
        """
        used = share > 0
        parts = share[used] ** 2 * variances[used]
        if not self.shares_clusters:
            return float(parts.sum())
        known = np.where(is_known, share, 0.0)
        variance = float(parts[is_known[used]].sum())
        variance += self.covariances(known[self.group] * residual)
        bounds = np.sqrt(parts[~is_known[used]]).sum()
        return float((np.sqrt(max(variance, 0.0)) + bounds) ** 2)

    # Degrees of freedom ---------------------------------------------------------------------

    def degrees_of_freedom(self) -> Floats:
        """Return the degrees of freedom of the variance of each group; at least 1."""
        share = self.share
        squares = self.by_group(share**2)
        of_classes = np.maximum(ratio(1.0, squares, 1.0) - 1.0, 1.0)
        of_all = ratio(1.0, self.by_group(share.mean(axis=0) ** 2), 1.0) - 1.0
        found = satterthwaite(squares, of_classes, np.inf)
        return np.maximum(np.minimum(found, of_all), 1.0)

    def average_freedom(self, share: Floats, variances: Floats, freedom: Floats) -> float:
        """Return the degrees of freedom of the variance of an average of groups; at least 1.

        Parameters
        ----------
        share, variances, freedom : ndarray of float64, shape (n_groups,)
            Share in the average, variance and degrees of freedom of each group.
        """
        used = (share > 0) & (variances > 0)
        found = satterthwaite(share[used] ** 2 * variances[used], freedom[used], np.inf)
        of_unit = np.where(used, share, 0.0)[self.group] * self.share.mean(axis=0)
        of_cluster = np.bincount(self.cluster, of_unit, self.n_clusters)
        squares = np.asarray((of_cluster**2).sum())
        of_all = ratio(of_cluster.sum() ** 2, squares, 1.0) - 1.0
        return max(float(np.minimum(found, of_all)), 1.0)


def units_of(
    group: Numbers, cluster: Numbers, n_groups: int, n_clusters: int, amounts: Floats
) -> tuple[Units, Floats]:
    """Add up amounts by group and cluster.

    Parameters
    ----------
    group, cluster : ndarray of intp, shape (n,)
    n_groups, n_clusters : int
    amounts : ndarray of float64, shape (n_amounts, n)
        The first two rows are the weights of negatives and of positives.

    Returns
    -------
    units : Units
    sums : ndarray of float64, shape (n_amounts - 2, n_units)
        Sums of the other rows.
    """
    unit, distinct = number_integers(group.astype(np.int64) * n_clusters + cluster)
    own_group, own_cluster = np.divmod(distinct.astype(np.intp), max(n_clusters, 1))
    sums = np.array([np.bincount(unit, a, distinct.size) for a in amounts], np.float64)
    return Units(own_group, own_cluster, sums[:2], n_groups, n_clusters), sums[2:]


class PairedRows(NamedTuple):
    """Rows with the scores of two or more models.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
    scores : list of ndarray of float64, shape (n_rows,)
        Scores of each model.
    weights : ndarray of float64, shape (n_rows,)
    codes : ndarray of intp, shape (n_rows,)
        Group numbers.
    n_groups : int
    clusters : ndarray of intp, shape (n_rows,), or None
        Cluster numbers; None if all rows are independent.
    """

    positive: NDArray[np.bool_]
    scores: list[Floats]
    weights: Floats
    codes: NDArray[np.intp]
    n_groups: int
    clusters: NDArray[np.intp] | None = None


class RowValues(NamedTuple):
    """A measure of two models, and values of the rows that determine its sampling error.

    The values are placement values for AUCs, and influence values for other measures. The variance
    of the difference of two models comes from each row's difference of these values.

    Attributes
    ----------
    own, pooled : list of ndarray of float64, shape (n_rows,)
        Values of each model's rows, within groups and among the rows of all groups.
    auc : ndarray of float64, shape (2, n_groups)
        AUC or measure by model and group; NaN if a group lacks a class.
    pooled_auc : ndarray of float64, shape (2,)
        AUC or measure of the rows of all groups.
    within_rates : tuple of two floats
        Shares of the positives and of the negatives that are beyond the threshold of a partial AUC;
        1 without threshold. These rows determine the degrees of freedom.
    """

    own: list[Floats]
    pooled: list[Floats]
    auc: Floats
    pooled_auc: Floats
    within_rates: tuple[float, float] = (1.0, 1.0)


class PairedDifferences(NamedTuple):
    """AUCs or measures of two models by group and pooled, and variances of their differences.

    Attributes
    ----------
    auc : ndarray of float64, shape (2, n_groups)
        AUC by model and group; NaN if a group lacks a class.
    variance : ndarray of float64, shape (n_groups,)
        Variance of the difference of a group's AUCs; NaN with fewer than two rows of a class.
    pooled : ndarray of float64, shape (2,)
        Pooled AUC of each model.
    pooled_fixed : ndarray of float64, shape (2,)
        Variances of the difference of the pooled AUCs for fixed groups: for fixed numbers of rows
        of each group and class, and for random numbers. NaN below an effective sample size of 1.5
        in a class.
    pooled_clustered : float
        Variance of the difference of the pooled AUCs for random groups; NaN with fewer than two
        groups.
    degrees_of_freedom : ndarray of float64, shape (n_groups,)
        Satterthwaite's degrees of freedom of `variance`, from effective sample sizes; at least 1.
    pooled_freedom : ndarray of float64, shape (2,)
        Degrees of freedom of `pooled_fixed`.
    clusters : PairedClusters or None
        Difference within groups of clustered rows; None if all rows are independent.
    """

    auc: Floats
    variance: Floats
    pooled: Floats
    pooled_fixed: Floats
    pooled_clustered: float
    degrees_of_freedom: Floats
    pooled_freedom: Floats
    clusters: PairedClusters | None = None


class PairedClusters(NamedTuple):
    """Difference of two models, by cluster [2]_; see `inference.clusters`.

    Attributes
    ----------
    units : Units
    residual : ndarray of float64, shape (n_units,)
        Corrected residuals of the differences of placement values of both classes together.
    """

    units: Units
    residual: Floats

    def variances(self) -> Floats:
        """Variance of each group's difference; NaN unless each class has rows of two clusters."""
        has_two = (self.units.n_in_group[:2] > 1).all(axis=0)
        return np.where(has_two, self.units.by_group(self.residual**2), np.nan)

    def average(self, share: Floats, variances: Floats) -> tuple[float, float]:
        """Return the variance of an average of the differences, and its degrees of freedom.

        Parameters
        ----------
        share : ndarray of float64, shape (n_groups,)
            Share of each group in the average; 0 for groups that lack a class.
        variances : ndarray of float64, shape (n_groups,)
            Variance of each group's difference, or a bound if it is unknown.
        """
        is_known = ~np.isnan(self.variances())
        variance = self.units.of_average(share, variances, is_known, self.residual)
        freedom = self.units.average_freedom(share, variances, self.units.degrees_of_freedom())
        return variance, freedom

    def pooled_variance(self) -> float:
        """Variance of the difference of the pooled AUCs for fixed groups; NaN with one cluster."""
        units = self.units
        if units.n_clusters < 2:
            return float("nan")
        return float((np.bincount(units.cluster, self.residual, units.n_clusters) ** 2).sum())

    def pooled_freedom(self) -> float:
        """Degrees of freedom of `pooled_variance`."""
        units, number = self.units, np.arange(self.units.n_clusters)
        weights = np.array([np.bincount(units.cluster, w, number.size) for w in units.weights])
        of_all = Units(np.zeros_like(number), number, weights, 1, number.size)
        return float(of_all.degrees_of_freedom()[0])


class ModelClusters(NamedTuple):
    """Residuals of the placement values of several models, by cluster.

    Attributes
    ----------
    units : Units
    residuals : ndarray of float64, shape (n_models, n_units)
        Corrected residuals of both classes together.
    """

    units: Units
    residuals: Floats

    @classmethod
    def of_placements(
        cls, rows: PairedRows, placements: Sequence[Floats] | Floats, *, among_all: bool = False
    ) -> ModelClusters:
        """Add up placement values by cluster.

        Parameters
        ----------
        rows : PairedRows
            Rows with clusters.
        placements : sequence of ndarray of float64, shape (n_rows,)
            Placement values of each model.
        among_all : bool, default=False
            Whether the placement values are those among the rows of all groups.
        """
        assert rows.clusters is not None
        n_clusters = int(rows.clusters.max()) + 1
        weights = np.where([~rows.positive, rows.positive], rows.weights, 0.0)
        # Rows of a group that lacks a class have no placement values within the group.
        amounts = np.concatenate([weights, *(weights * np.nan_to_num(p) for p in placements)])
        units, sums = units_of(rows.codes, rows.clusters, rows.n_groups, n_clusters, amounts)
        residuals = units.residuals_of_pooled if among_all else units.residuals
        of_models = [residuals(sums[i : i + 2]).sum(axis=0) for i in range(0, len(sums), 2)]
        return cls(units, np.array(of_models))

    def difference(self, first: int, second: int) -> PairedClusters:
        """Return the difference of two models."""
        return PairedClusters(self.units, self.residuals[first] - self.residuals[second])


class _ClassSums:
    """Sums by group for one class: rows, weights and differences of the rows' values.

    The share `within` of the rows determines the degrees of freedom.
    """

    def __init__(
        self, rows: PairedRows, positive: bool, differences: Floats, within: float = 1.0
    ) -> None:
        mine = rows.positive == positive
        self._codes, self._weights = rows.codes[mine], rows.weights[mine]
        self._differences, self._n_groups = differences[mine], rows.n_groups
        self.count = np.bincount(self._codes, minlength=rows.n_groups)
        self.weight = self._sum(self._weights)
        squares = self._sum(self._weights**2)
        self.effective = ratio(self.weight**2, squares, 0.0)
        self.freedom = within * self.effective - 1.0
        self.pooled_effective = float(self.weight.sum() ** 2 / squares.sum())
        self.pooled_freedom = min(within * self.pooled_effective - 1.0, within_groups(self.count))
        self.pairs = np.where(self.count > 1, self.weight**2 - squares, 0.0)
        self.mean = ratio(self._sum(self._weights * self._differences), self.weight)

    def _sum(self, amounts: Floats) -> Floats:
        return np.bincount(self._codes, amounts, self._n_groups).astype(np.float64)

    def squared_around(self, centre: Floats) -> Floats:
        """Sum by group of squared deviations from `centre`, with squared weights."""
        return self._sum(self._weights**2 * (self._differences - centre[self._codes]) ** 2)


def placement_values(rows: PairedRows) -> RowValues:
    """Return the AUCs of two models, and placement values."""
    own = [placements_of(rows, scores) for scores in rows.scores]
    one_group = rows._replace(codes=np.zeros_like(rows.codes), n_groups=1)
    pooled = own if rows.n_groups == 1 else [placements_of(one_group, s) for s in rows.scores]
    # The mean of the positives' placement values is the AUC.
    auc, pooled_auc = (
        np.array([_ClassSums(of, True, placements).mean for placements in each])
        for of, each in ((rows, own), (one_group, pooled))
    )
    return RowValues(own, pooled, auc, pooled_auc[:, 0])


def paired_differences(rows: PairedRows, values: RowValues) -> PairedDifferences:
    """Return the variances of the differences of two models from values of rows [1]_ [2]_."""
    own, pooled = values.own, values.pooled
    one_group = rows._replace(codes=np.zeros_like(rows.codes), n_groups=1)
    of_class, effective, freedom = [], [], []
    of_class_pooled, effective_pooled, freedom_pooled = [], [], []
    residuals, weights = [], []
    for positive, within in zip((True, False), values.within_rates, strict=True):
        sums = _ClassSums(rows, positive, own[0] - own[1], within)
        of_class.append(ratio(sums.squared_around(sums.mean), sums.pairs))
        effective.append(sums.effective)
        freedom.append(sums.freedom)
        sums = _ClassSums(rows, positive, pooled[0] - pooled[1], within)
        overall = float(np.nansum(sums.mean * sums.weight) / sums.weight.sum())
        # A single row has no deviation from its own mean; use the overall mean.
        centre = np.where(sums.count > 1, sums.mean, overall)
        lost = np.where(sums.count > 1, ratio(sums.weight**2, sums.pairs), 1.0)
        squared = float((lost * sums.squared_around(centre)).sum())
        of_all = _ClassSums(one_group, positive, pooled[0] - pooled[1], within)
        without_strata = ratio(of_all.squared_around(of_all.mean), of_all.pairs)
        of_class_pooled.append(np.append(squared / sums.weight.sum() ** 2, without_strata))
        effective_pooled.append(np.full(2, sums.pooled_effective))
        freedom_pooled.append(np.array([sums.pooled_freedom, of_all.pooled_freedom]))
        weights.append(sums.weight)
        residuals.append(np.nan_to_num(sums.mean - overall) * sums.weight / sums.weight.sum())
    clustered = clustered_variance(residuals, weights)
    variance, degrees_of_freedom = _summed(of_class, effective, freedom)
    fixed, fixed_freedom = _summed(of_class_pooled, effective_pooled, freedom_pooled)
    found = PairedDifferences(
        values.auc,
        variance,
        values.pooled_auc,
        fixed,
        clustered,
        degrees_of_freedom,
        fixed_freedom,
    )
    if rows.clusters is None:
        return found
    clusters = ModelClusters.of_placements(rows, own).difference(0, 1)
    of_pooled = [
        ModelClusters.of_placements(of, pooled, among_all=True).difference(0, 1)
        for of in (rows, one_group)
    ]
    pooled_clusters = [of.pooled_variance() for of in of_pooled]
    return found._replace(
        variance=np.where(np.isnan(variance), np.nan, clusters.variances()),
        pooled_fixed=np.where(np.isnan(fixed), np.nan, pooled_clusters),
        degrees_of_freedom=clusters.units.degrees_of_freedom(),
        pooled_freedom=np.array([of.pooled_freedom() for of in of_pooled]),
        clusters=clusters,
    )


def _summed(
    variances: list[Floats], effective: list[Floats], freedom: list[Floats]
) -> tuple[Floats, Floats]:
    """Add up the variances of both classes; also return Satterthwaite's degrees of freedom."""
    total = np.where(np.minimum(*effective) < LEAST_EFFECTIVE, np.nan, variances[0] + variances[1])
    return total, satterthwaite(np.array(variances), np.maximum(freedom, 1.0))


def within_groups(count: NDArray[np.intp]) -> float:
    """Return the degrees of freedom of deviations from the mean of the group.

    A single row deviates from the overall mean instead.
    """
    return float(np.where(count > 1, count - 1, count).sum())


def placements_of(rows: PairedRows, scores: Floats) -> Floats:
    """Return the placement value of each row among the other class's rows in its group."""
    cell, starts = number_cells(scores, rows.codes, rows.n_groups)
    of_cell = []
    for mine in (~rows.positive, rows.positive):
        amounts = np.bincount(cell, np.where(mine, rows.weights, 0.0))
        scale = ratio(0.5, np.add.reduceat(amounts, starts[:-1]))
        of_cell.append(ranks_in_groups(starts, amounts) * np.repeat(scale, np.diff(starts)))
    below, above = of_cell[0][cell], 1.0 - of_cell[1][cell]
    placements: Floats = np.where(rows.positive, below, above)
    return placements


def near_one(weights: Floats) -> Floats:
    """Divide weights by a power of two to avoid overflow; results do not depend on the scale."""
    scaled: Floats = np.ldexp(weights, -np.frexp(weights.mean())[1])
    return scaled
