"""Sums by group that determine the AUC of each group and the variance of this AUC.

The sums are a few numbers per group. Exact and binned counts compute the sums from cells; summaries
store the sums in place of cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, Concordance, PlacementSums

Floats = NDArray[np.float64]

# Bound on the rounding error of the deviations of placement values from their mean. The error is
# largest for millions of weighted rows. A single discordant pair of m positives and n negatives
# gives the positives deviations with the root mean square 1 / (n sqrt(m)).
_ROUNDING_ERROR = 1e-10


class ClassRows(NamedTuple):
    """Numbers and weights of the rows of one class by group.

    Attributes
    ----------
    n : ndarray of int64, shape (n_groups,)
        Number of rows.
    weight, squares : ndarray of float64, shape (n_groups,)
        Sum of the weights and sum of the squared weights; both sums equal `n` without weights.
    """

    n: NDArray[np.int64]
    weight: Floats
    squares: Floats

    def others(self) -> ClassRows:
        """Return the rows of the class in all other groups."""
        n, weight, squares = self
        return ClassRows(n.sum() - n, weight.sum() - weight, squares.sum() - squares)

    @property
    def pairs(self) -> Floats:
        """Return the weight of the ordered pairs of two different rows; 0 for a single row."""
        return np.where(self.n > 1, self.weight**2 - self.squares, 0.0)

    @property
    def effective(self) -> Floats:
        """Return Kish's effective sample size; 0 without rows."""
        return ratio(self.weight**2, self.squares, 0.0)

    @property
    def half_over_weight(self) -> Floats:
        """Return one half divided by the weight of the rows; 0 without rows."""
        return ratio(0.5, self.weight, 0.0)


class OwnMoments(NamedTuple):
    """Sums by group over rows, from placement values within the group.

    Attributes
    ----------
    positives_once, negatives_once : ndarray of float64, shape (n_groups,)
        Sum of the placement values minus the group's AUC, with squared weights.
    positives_squared, negatives_squared : ndarray of float64, shape (n_groups,)
        Sum of the squares of these differences, with squared weights.
    comparisons, comparisons_squared : ndarray of float64, shape (n_groups,)
        Sum of the comparisons (1, one half or 0) of a positive with a negative, and sum of the
        squared comparisons. Both sums have products of squared weights as weights.
    """

    positives_once: Floats
    positives_squared: Floats
    negatives_once: Floats
    negatives_squared: Floats
    comparisons: Floats
    comparisons_squared: Floats


def rows_by_class(cells: Cells, found: Concordance) -> tuple[ClassRows, ClassRows]:
    """Return numbers and weights of the negatives and of the positives of each group."""
    squares: tuple[Any, Any] = (found.n_negatives, found.n_positives)
    if cells.weights is not None and found.u2.size:
        starts, (of_negatives, of_positives) = cells.starts[:-1], cells.weights[2:]
        squares = np.add.reduceat(of_negatives, starts), np.add.reduceat(of_positives, starts)
    return (
        _class_rows(found.n_negatives, found.negatives, squares[0]),
        _class_rows(found.n_positives, found.positives, squares[1]),
    )


def _class_rows(n: NDArray[Any], weight: NDArray[Any], squares: NDArray[Any]) -> ClassRows:
    return ClassRows(n, weight.astype(np.float64), squares.astype(np.float64))


def group_aucs(u2: NDArray[Any], negatives: ClassRows, positives: ClassRows) -> Floats:
    """Return the AUC of each group; NaN if the group lacks a class."""
    pairs = negatives.weight * positives.weight
    return np.minimum(ratio(u2.astype(np.float64) / 2.0, pairs), 1.0)


def own_moments(found: PlacementSums, negatives: ClassRows, positives: ClassRows) -> OwnMoments:
    """Return the sums within each group, without rounding errors of rows that do not vary.

    Parameters
    ----------
    found : PlacementSums
        Sums within the groups.
    negatives, positives : ClassRows
        Rows of each class.
    """
    kept = [
        np.where(is_rounding_error(squared, rows.squares), 0.0, [once, squared])
        for once, squared, rows in zip(
            found.once, found.squared, (negatives, positives), strict=True
        )
    ]
    (of_negatives, negatives_squared), (of_positives, positives_squared) = kept
    return OwnMoments(
        of_positives,
        positives_squared,
        of_negatives,
        negatives_squared,
        found.comparisons,
        found.comparisons_squared,
    )


def is_rounding_error(squared: Any, weights: Any) -> Any:
    """Return whether sums of squared deviations of placement values or AUCs are rounding error.

    Equal values have no variance, but each may differ from the computed mean by rounding error.

    Parameters
    ----------
    squared, weights : float or ndarray of float64
        Weighted sum of the squared deviations, and the sum of the same weights.
    """
    return squared <= _ROUNDING_ERROR**2 * weights


def ratio(part: Any, whole: Floats, otherwise: float = float("nan")) -> Floats:
    """Return part / whole, or `otherwise` where the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.full(whole.shape, otherwise), where=whole > 0)
    return found
