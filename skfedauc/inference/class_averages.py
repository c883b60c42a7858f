"""Variances of averages of the AUCs of several comparisons of classes on the same rows.

The AUCs of two comparisons have a correlation, because a row can belong to both comparisons. The
effect of a row on an AUC is the deviation of the row's placement value from the mean, divided by
the weight of the row's class [1]_. The effect of a row on an average of AUCs is the average of the
effects on the AUCs. The variance of the average is the sum of the squared effects. With clusters,
the variance is the sum of the squared sums of effects by cluster [2]_.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.paired import PairedRows, placements_of
from skfedauc.inference.variances import Floats


class Comparison(NamedTuple):
    """Rows of one comparison of classes.

    Attributes
    ----------
    rows : PairedRows
        Rows of the comparison, with one score.
    numbers : ndarray of intp, shape (n_compared_rows,)
        Number of each row among all rows.
    """

    rows: PairedRows
    numbers: NDArray[np.intp]


class ClassAverages:
    """Variances of averages of AUCs over comparisons and groups.

    Parameters
    ----------
    comparisons : sequence of Comparison
    codes : ndarray of intp, shape (n_rows,)
        Group number of each row.
    clusters : ndarray of intp, shape (n_rows,)
        Cluster number of each row; rows of different clusters are independent.
    variances : ndarray of float64, shape (n_groups, n_comparisons)
        Variance of each AUC; NaN if unknown.
    bounds : ndarray of float64, shape (n_groups, n_comparisons)
        Variance of each AUC, with an upper bound in place of a variance that is 0 or unknown.
    """

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        codes: NDArray[np.intp],
        clusters: NDArray[np.intp],
        variances: Floats,
        bounds: Floats,
    ) -> None:
        n_clusters = int(clusters.max(initial=-1)) + 1
        distinct, unit = np.unique(codes * n_clusters + clusters, return_inverse=True)
        self._group, self._cluster = np.divmod(distinct, max(n_clusters, 1))
        self._variances, self._bounds = variances, bounds
        self._shares_clusters = distinct.size > n_clusters
        columns = [
            np.bincount(unit[one.numbers], _effects(one.rows), distinct.size) for one in comparisons
        ]
        effects = np.column_stack(columns).astype(np.float64)
        squares = self._by_group(effects**2)
        # The scale makes the squared effects add up to the variance of the AUC, which has
        # corrections for the numbers of rows and of clusters.
        scale = np.sqrt(ratio(np.nan_to_num(variances), squares, 0.0))
        self._effects = effects * scale[self._group]

    def _by_group(self, values: Floats) -> Floats:
        """Sum values of units by group; the first axis is the axis of units."""
        found = np.zeros((len(self._variances), *values.shape[1:]))
        np.add.at(found, self._group, values)
        return found

    def of_groups(self, weights: Floats) -> Floats:
        """Return the variance of each group's average over the comparisons.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_groups, n_comparisons)
            Weights of the AUCs. An AUC with a variance of 0 or an unknown variance has a bound, and
            may have a correlation of 1 with the other AUCs.
        """
        return self._of_groups(weights, ~(self._variances > 0))

    def of_average(self, weights: Floats) -> tuple[float, Floats]:
        """Return the variance of an average over groups and comparisons, and its parts by group.

        Parameters
        ----------
        weights : ndarray of float64, shape (n_groups, n_comparisons)
            Weights of the AUCs. An AUC with an unknown variance has a bound; if all variances are
            0, all AUCs have bounds.
        """
        parts = self._of_groups(weights, np.isnan(self._variances))
        if not parts.any():
            parts = self.of_groups(weights)
        if not self._shares_clusters:
            return float(parts.sum()), parts
        effect = (self._effects * weights[self._group]).sum(axis=1)
        of_cluster = np.bincount(self._cluster, effect)
        across = float((of_cluster**2).sum() - (effect**2).sum())
        known = float(self._by_group(effect**2).sum())
        bounded = np.sqrt(parts) - np.sqrt(self._by_group(effect**2))
        return float((np.sqrt(max(known + across, 0.0)) + bounded.sum()) ** 2), parts

    def _of_groups(self, weights: Floats, is_bounded: NDArray[np.bool_]) -> Floats:
        effect = (self._effects * weights[self._group]).sum(axis=1)
        reach = np.where(is_bounded & (weights > 0), weights * np.sqrt(self._bounds), 0.0)
        found: Floats = (np.sqrt(self._by_group(effect**2)) + reach.sum(axis=1)) ** 2
        return found


def _effects(rows: PairedRows) -> Floats:
    """Return the effect of each row on the AUC of its group; 0 in groups that lack a class."""
    placements = np.nan_to_num(placements_of(rows, rows.scores[0]))
    found = np.empty_like(placements)
    for positive in (False, True):
        mine = rows.positive == positive
        codes, weights, values = rows.codes[mine], rows.weights[mine], placements[mine]
        total, summed = (
            np.bincount(codes, amounts, rows.n_groups).astype(np.float64)
            for amounts in (weights, weights * values)
        )
        mean = ratio(summed, total, 0.0)
        found[mine] = weights * (values - mean[codes]) / total[codes]
    return found
