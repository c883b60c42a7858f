"""Bootstrap of AUCs of clustered rows: draws of whole clusters with replacement."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, number_cells, ranks_in_groups
from skfedauc.clusters import ClusterCounts
from skfedauc.counts.moments import ratio

Floats = NDArray[np.float64]


class Resamples(NamedTuple):
    """AUCs of resampled clusters; NaN if a class is absent.

    Attributes
    ----------
    groups : ndarray of float64, shape (n_resamples, n_groups)
    pooled : ndarray of float64, shape (n_resamples,)
    """

    groups: Floats
    pooled: Floats


class _Compared:
    """Sets of rows whose pairs count: all rows, or the rows of each group."""

    def __init__(self, cells: Cells, compared: NDArray[np.intp], n_compared: int) -> None:
        self._amounts = [amounts.astype(np.float64) for amounts in cells.amounts]
        self._cell, self._starts = number_cells(cells.scores, compared, n_compared)

    def aucs(self, times: Floats) -> Floats:
        """Return the AUC of each set for given numbers of copies of each cell of the counts."""
        starts = self._starts
        negatives, positives = (
            np.bincount(self._cell, amounts * times, int(starts[-1])) for amounts in self._amounts
        )
        first = starts[:-1]
        u2 = np.add.reduceat(ranks_in_groups(starts, negatives) * positives, first)
        pairs = np.add.reduceat(negatives, first) * np.add.reduceat(positives, first)
        return np.minimum(ratio(u2, 2.0 * pairs), 1.0)


def resampled_aucs(
    clusters: ClusterCounts, n_resamples: int, random: np.random.RandomState
) -> Resamples:
    """Draw clusters with replacement, and return the group AUCs and the pooled AUC.

    The draws are within each group, or among all clusters if groups share clusters.
    """
    cells = clusters.units.cells
    unit = cells.groups
    group, cluster = clusters.group_of[unit], clusters.cluster_of[unit]
    within = _Compared(cells, group, clusters.n_groups)
    among_all = _Compared(cells, np.zeros_like(group), 1)
    stratum = np.zeros(clusters.n_clusters, np.intp)
    if not clusters.n_shared:
        stratum[clusters.cluster_of] = clusters.group_of
    order = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    found = Resamples(np.empty((n_resamples, clusters.n_groups)), np.empty(n_resamples))
    for i in range(n_resamples):
        # A random number below 1 times `size` is below `size` even after rounding, so `place` stays
        # in the stratum.
        place = starts + (random.random_sample(order.size) * size).astype(np.intp)
        times = np.bincount(order[place], minlength=order.size).astype(np.float64)[cluster]
        found.groups[i] = within.aucs(times)
        found.pooled[i] = among_all.aucs(times)[0]
    return found


def percentile_limits(values: Any, tail: float) -> tuple[Floats, Floats, Floats]:
    """Return lower limits, upper limits and standard deviations of resamples, without NaN.

    Parameters
    ----------
    values : ndarray of float64, shape (n_resamples, n_values)
    tail : float
        Error probability of each limit.
    """
    low, high, error = np.full((3, values.shape[1]), np.nan)
    known = (~np.isnan(values)).sum(axis=0) > 1
    low[known], high[known] = np.nanquantile(values[:, known], [tail, 1.0 - tail], axis=0)
    error[known] = np.nanstd(values[:, known], axis=0, ddof=1)
    return low, high, error
