"""Variances of averages of the AUCs of several comparisons of classes on the same rows.

The AUCs of two comparisons have a correlation, because a row can belong to both comparisons. The
effect of a row on an AUC is the deviation of the row's placement value from the mean, divided by
the weight of the row's class [1]_. The effect of a row on an average of AUCs is the average of the
effects on the AUCs. The variance of the average is the sum of the squared effects. With clusters,
the variance is the sum of the squared sums of effects by cluster [2]_. Effects in standard
deviations of the AUCs give the correlations of the AUCs. With these, the distance of an average
from its limit follows from the distances of the AUCs from their limits [3]_.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
.. [3] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.effects import Floats, Rows, Units, placements


class Comparison(NamedTuple):
    """Rows of one comparison of classes.

    Attributes
    ----------
    rows : Rows
        Rows of the comparison, with one score.
    numbers : ndarray of intp, shape (n_compared_rows,)
        Number of each row among all rows.
    """

    rows: Rows
    numbers: NDArray[np.intp]


class ClassAverages:
    """Standard deviations of averages of AUCs over comparisons and groups.

    Parameters
    ----------
    comparisons : sequence of Comparison
    codes : ndarray of intp, shape (n_rows,)
        Group number of each row.
    clusters : ndarray of intp, shape (n_rows,)
        Cluster number of each row; rows of different clusters are independent.
    is_known : ndarray of bool, shape (n_groups, n_comparisons)
        Whether the AUC has an estimated variance above 0. Other AUCs may have a correlation of 1
        with the rest.
    """

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        codes: NDArray[np.intp],
        clusters: NDArray[np.intp],
        is_known: NDArray[np.bool_],
    ) -> None:
        every = np.ones(codes.size)
        all_rows = Rows(every > 0, every[None], every, codes, len(is_known), clusters)
        self._units, unit = Units.of(all_rows)
        self._is_known = is_known
        n_units = self._units.group.size
        effects = [
            np.bincount(unit[one.numbers], _effects(one.rows), n_units) for one in comparisons
        ]
        deviations = np.sqrt(self._units.by_group(np.square(effects)))
        scale = ratio(1.0, deviations, 0.0) * is_known.T
        self._effects = np.array(effects) * scale[:, self._units.group]

    def of_groups(self, deviations: Floats) -> Floats:
        """Return the standard deviation of the sum of each group's errors over the comparisons.

        Parameters
        ----------
        deviations : ndarray of float64, shape (n_groups, n_comparisons)
            Standard deviation of each error.
        """
        effect = (self._effects * deviations.T[:, self._units.group]).sum(axis=0)
        found: Floats = np.sqrt(self._units.by_group(effect**2)) + self._unknown(deviations)
        return found

    def of_average(self, deviations: Floats) -> float:
        """Return the standard deviation of the sum of the errors of all groups and comparisons."""
        if not self._units.shares_clusters:
            return float(np.sqrt((self.of_groups(deviations) ** 2).sum()))
        effect = (self._effects * deviations.T[:, self._units.group]).sum(axis=0)
        known = np.sqrt((self._units.by_cluster(effect) ** 2).sum())
        return float(known + self._unknown(deviations).sum())

    def _unknown(self, deviations: Floats) -> Floats:
        found: Floats = np.where(self._is_known, 0.0, deviations).sum(axis=1)
        return found


def _effects(rows: Rows) -> Floats:
    """Return the effect of each row on the AUC of its group; 0 in groups that lack a class."""
    values = np.nan_to_num(placements(rows)[0][0])
    total = rows.by_class(rows.weights)
    mean = ratio(rows.by_class(rows.weights * values), total, 0.0)
    place = rows.positive.astype(np.intp), rows.codes
    found: Floats = rows.weights * (values - mean[place]) / total[place]
    return found
