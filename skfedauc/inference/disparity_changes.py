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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import number_cells
from skfedauc.counts.moments import ratio
from skfedauc.inference.effects import LEAST_EFFECTIVE, satterthwaite
from skfedauc.inference.paired import PairedRows
from skfedauc.inference.variances import Floats

# Largest product of the numbers of groups and rows for which an audit has changes of disparities
_MOST_VISITS = 50_000_000
# Share of all weights below which a difference of weights is rounding error
_ROUNDING = 1e-12


class DisparityChanges(NamedTuple):
    """The xAUC disparities of two models, and variances of their changes.

    Attributes
    ----------
    disparity : ndarray of float64, shape (2, n_groups)
        Disparities before and after.
    variance : ndarray of float64, shape (n_groups,)
        Variance of the change. NaN below an effective sample size of 1.5 of a class in the group or
        in the other groups, and if the number of groups times the number of rows is above 50
        million. The computation visits all rows for each group.
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
    models = [_Model(rows, scores) for scores in rows.scores]
    order = np.argsort(rows.codes, kind="stable")
    of_groups = np.split(order, np.cumsum(np.bincount(rows.codes, minlength=n_groups))[:-1])
    of_class = rows.positive.astype(np.intp)
    for g, own in enumerate(of_groups):
        values = np.array([model.cross_placements(own) for model in models])
        weights = rows.weights.copy()
        weights[own] = 0.0
        sides = [
            _Side(of_class, weights, values),
            _Side(of_class[own], rows.weights[own], values[:, own]),
        ]
        disparity[:, g] = sides[1].mean[:, 1] - sides[0].mean[:, 1]
        effective = np.concatenate([side.effective for side in sides])
        if effective.min() >= LEAST_EFFECTIVE:
            of_stratum = np.concatenate([side.variance_of_change() for side in sides])
            variance[g] = of_stratum.sum()
            freedom[g] = satterthwaite(of_stratum, np.maximum(effective - 1.0, 1.0))
    return DisparityChanges(disparity, variance, freedom)


class _Model:
    """Weights of the rows of both classes below each score of a model; a tie counts one half."""

    def __init__(self, rows: PairedRows, scores: Floats) -> None:
        self._rows = rows
        self._cell = number_cells(scores)[0]
        self._n_cells = int(self._cell.max()) + 1
        # Each row needs the weight of the other class; negatives come first.
        self._other = (~rows.positive).astype(np.intp)
        self._place = self._cell + self._other * self._n_cells
        self._below_all, self._of_all = self._below(slice(None))

    def _below(self, chosen: Any) -> tuple[Floats, Floats]:
        """Return the weights below each score, first of negatives, and the weight of each class."""
        rows = self._rows
        place = self._cell[chosen] + np.where(rows.positive[chosen], self._n_cells, 0)
        amounts = np.bincount(place, rows.weights[chosen], 2 * self._n_cells).reshape(2, -1)
        up_to: Floats = np.cumsum(amounts, axis=1).astype(np.float64)
        return (up_to - amounts / 2.0).ravel(), up_to[:, -1]

    def cross_placements(self, own: NDArray[np.intp]) -> Floats:
        """Return placement values among the other class's rows on the other side of a group.

        One side has the rows `own` of the group, and the other side has all other rows. The values
        are NaN if there are no such rows.
        """
        below_own, of_own = self._below(own)
        found = below_own[self._place]
        found[own] = self._below_all[self._place[own]] - found[own]
        total: Floats = of_own[self._other]
        total[own] = (self._of_all - of_own)[self._other[own]]
        # Set a difference of sums to 0 if the difference is rounding error.
        total[total <= _ROUNDING * self._of_all.sum()] = 0.0
        found = ratio(found, total)
        return np.where(self._rows.positive, found, 1.0 - found)


class _Side:
    """Rows of a group, or the rows of all other groups, by class.

    Parameters
    ----------
    of_class : ndarray of intp, shape (n_rows,)
        1 for positives, 0 for negatives.
    weights : ndarray of float64, shape (n_rows,)
        Weights; 0 for rows of the other side.
    values : ndarray of float64, shape (2, n_rows)
        Placement values before and after.
    """

    def __init__(self, of_class: NDArray[np.intp], weights: Floats, values: Floats) -> None:
        self._of_class, self._weights = of_class, weights
        self._change = np.nan_to_num(values[1] - values[0])
        self._weight, self._squares = self._total(weights), self._total(weights**2)
        self.mean = np.array(
            [ratio(self._total(weights * np.nan_to_num(v)), self._weight) for v in values]
        )
        self.effective = ratio(self._weight**2, self._squares, 0.0)

    def _total(self, amounts: Floats) -> Floats:
        return np.bincount(self._of_class, amounts, 2).astype(np.float64)

    def variance_of_change(self) -> Floats:
        """Variance of the change of the mean placement value of each class."""
        mean = ratio(self._total(self._weights * self._change), self._weight)
        squared = self._total((self._weights * (self._change - mean[self._of_class])) ** 2)
        return ratio(squared, self._weight**2 - self._squares)
