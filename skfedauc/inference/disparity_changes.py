"""Changes of the xAUC disparities between two models on the same rows.

The xAUC disparity of a group is the AUC of its positives against the negatives of all other groups,
minus the AUC of the other groups' positives against its negatives. Each row is in one of these two
AUCs, so the disparity is a sum of means of placement values, with opposite signs for the two AUCs.
The variance of the change follows from the differences of both models' placement values by row, as
in the paired comparison of two AUCs [1]_.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
   or more correlated receiver operating characteristic curves: a nonparametric approach.
   Biometrics 44(3). https://doi.org/10.2307/2531595
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import number_cells
from skfedauc.counts.moments import ratio
from skfedauc.inference.paired import PairedRows
from skfedauc.inference.variances import LEAST_EFFECTIVE, Floats, satterthwaite

# Largest number of groups times rows for which an audit has the changes
_MOST_VISITS = 50_000_000


class DisparityChanges(NamedTuple):
    """The xAUC disparities of two models, and variances of their changes.

    Attributes
    ----------
    disparity : ndarray of float64, shape (2, n_groups)
        Disparities before and after.
    variance : ndarray of float64, shape (n_groups,)
        Variance of the change. NaN below an effective sample size of 1.5 of a class in the group or
        in the other groups. Also NaN if the number of groups times the number of rows is above 50
        million, because the computation visits all rows for each group.
    degrees_of_freedom : ndarray of float64, shape (n_groups,)
        Satterthwaite's degrees of freedom of `variance`.
    """

    disparity: Floats
    variance: Floats
    degrees_of_freedom: Floats


def disparity_changes(rows: PairedRows) -> DisparityChanges:
    """Return the changes of the disparities of all groups."""
    n_groups = rows.n_groups
    disparity = np.full((2, n_groups), np.nan)
    variance, freedom = np.full(n_groups, np.nan), np.ones(n_groups)
    if n_groups * rows.positive.size > _MOST_VISITS:
        return DisparityChanges(disparity, variance, freedom)
    cells = [number_cells(scores)[0] for scores in rows.scores]
    for g in range(n_groups):
        own = rows.codes == g
        values = np.array([_cross_placements(rows, cell, own) for cell in cells])
        # The AUC of the group's positives has the positives of the group and the negatives of
        # other groups. The rows of the other AUC have a negative sign.
        values *= np.where(own == rows.positive, 1.0, -1.0)
        stratum = 2 * own + rows.positive
        disparity[:, g] = [_means(rows, one, stratum)[0][[3, 1]].sum() for one in values]
        _, of_stratum, effective = _means(rows, values[1] - values[0], stratum)
        if effective.min() >= LEAST_EFFECTIVE:
            variance[g] = of_stratum.sum()
            freedom[g] = satterthwaite(of_stratum, np.maximum(effective - 1.0, 1.0))
    return DisparityChanges(disparity, variance, freedom)


def _cross_placements(rows: PairedRows, cell: NDArray[np.int64], own: NDArray[np.bool_]) -> Floats:
    """Return placement values among the other class's rows on the other side of a group.

    One side has the rows of the group, and the other side has all other rows. The values are NaN if
    there are no such rows.
    """
    found = np.empty(cell.size)
    for is_own in (False, True):
        for label in (False, True):
            of_others = np.where((rows.positive != label) & (own != is_own), rows.weights, 0.0)
            amounts = np.bincount(cell, of_others)
            up_to = np.cumsum(amounts)
            below = ratio(up_to - amounts / 2.0, np.full(up_to.shape, up_to[-1]))
            mine = (rows.positive == label) & (own == is_own)
            found[mine] = below[cell[mine]] if label else 1.0 - below[cell[mine]]
    return found


def _means(
    rows: PairedRows, values: Floats, stratum: NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Return the weighted mean of each stratum, its variance, and the effective sample size."""

    def total(amounts: Floats) -> Floats:
        return np.bincount(stratum, amounts, 4).astype(np.float64)

    weight, squares = total(rows.weights), total(rows.weights**2)
    mean = ratio(total(rows.weights * values), weight)
    squared = total((rows.weights * (values - mean[stratum])) ** 2)
    pairs = np.where(np.bincount(stratum, minlength=4) > 1, weight**2 - squares, 0.0)
    return mean, ratio(squared, pairs), ratio(weight**2, squares, 0.0)
