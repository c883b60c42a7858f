"""Variances of AUCs of clustered rows, such as several rows of each patient.

Rows of the same cluster may be dependent; clusters are independent. The variance of a group's AUC
[1]_ follows from the sums of the placement values by cluster. Let X_i be the sum of the placement
values of the m_i positives of cluster i, and Y_i the sum of the placement values of its n_i
negatives. The group has m positives, n negatives and the AUC A. Cluster i has the share
``p_i = m_i / m`` of the positives and the share ``q_i = n_i / n`` of the negatives. With the
residuals ``x_i = (X_i - m_i A) / (m sqrt(1 - 2 p_i + sum p_j^2))`` and
``y_i = (Y_i - n_i A) / (n sqrt(1 - 2 q_i + sum q_j^2))``, the variance is ``sum (x_i + y_i)^2``. If
each row is a cluster, this variance equals DeLong's variance. If clusters have rows in several
groups, the AUCs of groups g and h have the covariance ``sum (x_gi + y_gi) (x_hi + y_hi)``. Sums of
weights replace the numbers of rows if rows have weights.

The root is Bell and McCaffrey's correction [3]_ of the residuals. With fully dependent rows of the
same cluster and class, the variances of both classes are unbiased. Obuchowski [1]_ multiplies the
sum of the squares of I clusters by I / (I - 1) instead. The two corrections are equal if the
clusters have equal numbers of rows. With unequal numbers, I / (I - 1) is too small. In an example
with 5 clusters of positives and geometric numbers of rows, the variance was 24 % too small.

The effective number of clusters is k = 1 / sum(share^2). The degrees of freedom of the variance are
the smaller of two numbers. The first is k - 1, with the means of the shares of both classes. The
second is Satterthwaite's degrees of freedom [2]_ of the sum of two variances. Each class has the
variance 1 / k with k - 1 degrees of freedom. Satterthwaite's degrees of freedom are low if few
clusters have positives. The formula uses the shares in place of x_i and y_i. Otherwise, a variance
that sampling error makes too small would get too many degrees of freedom.

References
----------
.. [1] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
.. [2] Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
   Biometrics Bulletin 2(6). https://doi.org/10.2307/3002019
.. [3] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
   regression with multi-stage samples. Survey Methodology 28(2).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.encoding import number_integers
from skfedauc._kernel import number_cells, ranks_in_groups
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import is_rounding_error, ratio
from skfedauc.inference.variances import Variances, cluster_corrections, satterthwaite

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

SHARED = (
    "assumes independent groups, but {n_shared:,} of {n_clusters:,} clusters have rows in several "
    "groups. Clusters with the same label are the same cluster: if they are different, give them "
    "different labels. {mend}"
)


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


def _placement_sums(clusters: ClusterCounts, compared: Numbers, n_compared: int) -> Floats:
    """Return sums by unit of the counts, shape (4, n_units), from one sort of the scores.

    The rows are the weight of the negatives, the weight of the positives, and the sums of the
    placement values of both. `compared` is the number of the set of rows that make pairs with the
    rows of a unit. A placement value is 0 if the set lacks the other class.
    """
    cells = clusters.units.cells
    amounts = [of_class.astype(np.float64) for of_class in cells.amounts]
    if not amounts[0].size:
        return np.zeros((4, 0))
    of_cell = compared[cells.groups]
    cell, starts = number_cells(cells.scores, of_cell, n_compared)
    shares = []
    for of_class in amounts:
        summed = np.bincount(cell, of_class)
        scale = ratio(0.5, np.add.reduceat(summed, starts[:-1]), 0.0)
        shares.append(ranks_in_groups(starts, summed)[cell] * scale[of_cell])
    # A negative's placement value is the share of positives above it.
    has_positives = np.bincount(of_cell, amounts[1], n_compared) > 0
    lost = np.where(has_positives[of_cell], 1.0 - shares[1], 0.0)
    columns = (*amounts, amounts[0] * lost, amounts[1] * shares[0])
    return np.array([np.add.reduceat(column, cells.starts[:-1]) for column in columns])


class ClusterVariances(Variances):
    """Variances of the AUCs of clustered rows.

    The attributes have the names of `skfedauc.inference.variances.Variances`. Obuchowski's variance
    [1]_, corrected for clusters of unequal size, replaces DeLong's variance and the unbiased
    variance. Numbers of clusters replace numbers of rows.

    Parameters
    ----------
    counts : ScoreCounts
        Counts by group.
    clusters : ClusterCounts
        Counts of the same rows by group and cluster.

    References
    ----------
    .. [1] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2). https://doi.org/10.2307/2533958
    """

    has_clusters = True

    def __init__(self, counts: ScoreCounts, clusters: ClusterCounts) -> None:
        super().__init__(counts)
        self._clusters = clusters.with_weights_over(self.exponent)
        # Variances of the rows as if they were independent
        self._of_rows = Variances(counts)

    @functools.cached_property
    def _sums(self) -> tuple[Units, Floats]:
        found = self._clusters
        sums = _placement_sums(found, found.group_of, found.n_groups)
        return units_of(found.group_of, found.cluster_of, found.n_groups, found.n_clusters, sums)

    @property
    def units(self) -> Units:
        """Clusters of each group, which are the independent units of the variances."""
        return self._sums[0]

    @functools.cached_property
    def residuals(self) -> Floats:
        """Corrected residuals of the negatives and of the positives, shape (2, n_units)."""
        units, placements = self._sums
        return np.where(self.defined[units.group], units.residuals(placements), 0.0)

    @property
    def _residual(self) -> Floats:
        """Corrected residuals of both classes together, by unit."""
        both: Floats = self.residuals.sum(axis=0)
        return both

    # Single groups ------------------------------------------------------------------------

    @functools.cached_property
    def n_smaller_class(self) -> Floats:
        """Number of pairs of a positive and a negative such that no cluster is in two pairs."""
        n_negative, n_positive, n_clusters = self.units.n_in_group
        n_pairs = np.minimum(np.minimum(n_negative, n_positive), np.floor(n_clusters / 2.0))
        least = np.where(self.defined, 1.0, 0.0)
        found: Floats = np.maximum(np.minimum(n_pairs, self._of_rows.n_smaller_class), least)
        return found

    @functools.cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """True for groups with two clusters with rows of each class that are estimable by rows."""
        has_two = np.asarray((self.units.n_in_group[:2] > 1).all(axis=0), np.bool_)
        return self._of_rows.estimable & has_two

    @functools.cached_property
    def delong(self) -> Floats:
        """Corrected variance of each group's AUC; NaN unless estimable."""
        return np.where(self.estimable, self.units.variances(self.residuals), np.nan)

    @functools.cached_property
    def unbiased(self) -> Floats:
        """Corrected variance; the package has no unbiased variance for clustered rows."""
        return self.delong

    @functools.cached_property
    def degrees_of_freedom(self) -> Floats:
        """Degrees of freedom of the corrected variance; at least 1."""
        return self.units.degrees_of_freedom()

    @property
    def interval_freedom(self) -> Floats:
        """Degrees of freedom of the quantiles of each group's interval."""
        return self.degrees_of_freedom

    @functools.cached_property
    def shrunk_auc(self) -> Floats:
        """AUC with half a concordant and half a discordant pair of clusters added."""
        pairs = np.prod(self.units.n_in_group[:2], axis=0)
        found: Floats = (pairs * self.auc + 0.5) / (pairs + 1.0)
        return found

    @functools.cached_property
    def shared(self) -> Floats:
        """Variance of each group's AUC, from placement values pooled over groups.

        The variance is the variance for independent rows, plus the covariances of the placement
        values of rows of the same cluster. Pooling assumes equal covariances in all groups: of two
        positives of a cluster, of two negatives, and of a positive and a negative. Negative
        covariances can make the sum negative; the estimate is then 0.
        """
        kept, units, of_rows = self.estimable, self.units, self._of_rows
        if not kept.any():
            return np.full(kept.shape, np.nan)
        classes, own = (self.negatives, self.positives), of_rows.own_moments
        squared = own.negatives_squared, own.positives_squared
        # Parts of the variance due to pairs of rows of a cluster, and the weight of such pairs
        parts = units.parts(self.residuals)
        x, y = units.share
        pairs = units.by_group(np.array([x**2, y**2, 2.0 * x * y]))
        for i, rows in enumerate(classes):
            parts[i] -= ratio(squared[i], rows.pairs, 0.0)
            pairs[i] -= ratio(rows.squares, rows.weight**2, 0.0)
        pairs = np.maximum(pairs, 0.0)
        n, m = (rows.effective for rows in classes)
        scale = np.array([n**2, m**2, n * m])
        summed = [(scale * values)[:, kept].sum(axis=1) for values in (parts, pairs)]
        covariances = np.where(summed[1] > 1e-9 * scale[:, kept].sum(axis=1), ratio(*summed), 0.0)
        return np.maximum(of_rows.shared + covariances @ pairs, 0.0)

    @functools.cached_property
    def model_coefficients(self) -> tuple[Floats, Floats]:
        """Coefficients of Newcombe's variance, multiplied by the design effect of the group.

        Newcombe's variance follows from a model of independent rows and has no form for clusters.
        The design effect is the corrected variance divided by DeLong's variance, and at least 1.
        Without an estimate, the design effect is the number of independent pairs of rows divided by
        the number of independent pairs of clusters.
        """
        once, often = self._of_rows.model_coefficients
        effect = ratio(self._of_rows.n_smaller_class, self.n_smaller_class, 1.0)
        known = (self.delong > 0) & (self._of_rows.delong > 0)
        effect[known] = self.delong[known] / self._of_rows.delong[known]
        effect = np.maximum(effect, 1.0)
        return once * effect, often * effect

    # Several groups ------------------------------------------------------------------------

    @property
    def shares_clusters(self) -> bool:
        """True if a cluster has rows in several groups."""
        return self._clusters.n_shared > 0

    def check_independent_groups(self, result: str, mend: str = "") -> None:
        """Raise an error if groups share clusters, for a result that assumes independent groups."""
        if self.shares_clusters:
            found = self._clusters
            reason = SHARED.format(n_shared=found.n_shared, n_clusters=found.n_clusters, mend=mend)
            raise ValueError(f"{result} {reason}".rstrip())

    def of_average(self, share: Floats) -> float:
        """Variance of an average for fixed groups; bounds replace unknown variances."""
        return self.units.of_average(share, self.bounded, self.estimable, self._residual)

    def average_freedom(self, share: Floats) -> float:
        """Degrees of freedom of the variance of an average; at least 1."""
        variances = np.where(self.defined, self.bounded, 0.0)
        return self.units.average_freedom(share, variances, self.degrees_of_freedom)

    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        units = self.units
        deviation = np.sqrt(self.bounded)[units.group]
        scaled = ratio(self._residual, deviation, 0.0)
        shape = units.n_groups, units.n_clusters
        return csr_array((scaled, (units.group, units.cluster)), shape=shape)

    def correlations(self, first: Numbers, second: Numbers) -> Floats | None:
        """Correlations of the AUCs of pairs of groups; None if groups share no clusters."""
        if not self.shares_clusters:
            return None
        matrix = self._matrix()
        products = [
            matrix[first[i : i + 128]].multiply(matrix[second[i : i + 128]]).sum(axis=1)
            for i in range(0, first.size, 128)
        ]
        found: Floats = np.concatenate([np.zeros(0), *map(np.ravel, products)])
        return np.clip(found, -1.0, 1.0)

    def correlation_matrix(self, used: NDArray[np.bool_]) -> Floats | None:
        """Correlations of the AUCs of all groups in use; None if groups share no clusters."""
        if not self.shares_clusters:
            return None
        matrix = self._matrix()[np.flatnonzero(used)]
        found: Floats = np.clip((matrix @ matrix.T).toarray(), -1.0, 1.0)
        return found

    # All groups together -------------------------------------------------------------------

    @functools.cached_property
    def pooled(self) -> ClusterVariances:
        """Variances of all rows together, as one group."""
        return ClusterVariances(self._counts.without_groups(), self._clusters.without_groups())

    def of_difference(self, share: Floats | None) -> float:
        """Variance of the pooled AUC minus an average of group AUCs, for fixed groups.

        The residuals are pooled placement values minus their mean in the group. The overall mean
        replaces the mean of a group if a single cluster of the group has rows of the class.
        """
        found, units = self._clusters, self.units
        sums = _placement_sums(found, np.zeros_like(found.group_of), 1)
        # The units of counts without groups are not distinct.
        _, placements = units_of(
            found.group_of, found.cluster_of, found.n_groups, found.n_clusters, sums
        )
        residuals = units.residuals_of_pooled(placements)
        if share is not None:
            residuals = residuals - share[units.group] * self.residuals
        variance = float(units.variances(residuals).sum())
        if self.shares_clusters:
            variance += units.covariances(residuals.sum(axis=0))
        if share is not None:
            bounded = ~self.estimable & self.defined & (share > 0)
            variance += float((share**2 * self.bounded)[bounded].sum())
        return max(variance, 0.0)
