"""Whether a model favours a group: the two cross AUCs of a group and all others compared.

The positives of the group with the others' negatives, and the others' positives with the group's
negatives, have no row in common, so that their variances add up.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
   or more correlated receiver operating characteristic curves. Biometrics 44(3).
   https://doi.org/10.2307/2531595
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts import Cells, group_of_cell
from skfedauc.inference.intervals import normal_quantile
from skfedauc.inference.variances import Variances
from skfedauc.partials import AUCPartial


class CrossGap(NamedTuple):
    """The xAUC disparity of a group with all others, its limits and p value.

    NaN where a class is absent; limits and p value are NaN also with fewer than two rows of a
    class in the group or in the others.
    """

    disparity: float
    ci_low: float
    ci_high: float
    pvalue: float


def cross_gap(partial: AUCPartial, group: int, level: float) -> CrossGap:
    """Compare the cross AUCs of a group, with normal limits.

    The variance is DeLong's [1]_, or that of groups which all have the placements of all rows
    together, if it is larger: where a few rows lie close together by chance their own variance is
    too small, the more so in the group that was picked for its disparity.
    """
    from scipy.special import ndtr

    unknown = float("nan")
    directions = Variances(_directions(partial, group))
    if directions.auc.size < 2 or not directions.defined.all():
        return CrossGap(unknown, unknown, unknown, unknown)
    disparity = float(directions.auc[1] - directions.auc[0])
    if not directions.estimable.all():
        return CrossGap(disparity, unknown, unknown, unknown)
    error = float(np.sqrt(max(directions.safe.sum(), _variance_of_all(partial, directions))))
    reach = normal_quantile((1.0 - level) / 2.0) * error
    limits = max(disparity - reach, -1.0), min(disparity + reach, 1.0)
    return CrossGap(disparity, *limits, float(2.0 * ndtr(-abs(disparity) / error)))


def _directions(partial: AUCPartial, group: int) -> AUCPartial:
    """A state of two groups: 1 has the positives of the group and the others' negatives."""
    starts, scores, negatives, positives, weights = partial._cells
    mine = group_of_cell(starts) == group
    # Each cell twice, with its negatives and with its positives
    nothing = np.zeros_like(negatives)
    both = np.concatenate([negatives, nothing]), np.concatenate([nothing, positives])
    if weights is not None:
        of_class = np.repeat([[True, False], [False, True]] * 2, mine.size, axis=1)
        weights = np.where(of_class, np.tile(weights, 2), 0.0)
    kept = (both[0] > 0) | (both[1] > 0)
    cells = Cells(
        starts,
        np.tile(scores, 2)[kept],
        both[0][kept],
        both[1][kept],
        None if weights is None else weights[:, kept],
    )
    of_cell = np.concatenate([~mine, mine])[kept]
    labels, codes = np.unique(of_cell, return_inverse=True)
    return AUCPartial._added(cells, codes, labels)


def _variance_of_all(partial: AUCPartial, directions: Variances) -> float:
    """Variance of the disparity, were all rows of a class placed alike in every group."""
    sides = zip(
        (directions.positives, directions.negatives), _variances_of_rows(partial), strict=True
    )
    return sum(float((of_row / rows.effective).sum()) for rows, of_row in sides)


def _variances_of_rows(partial: AUCPartial) -> tuple[float, float]:
    """Variance of the placement of one positive and of one negative among all rows."""
    pooled = Variances(partial._pool())
    sides = (
        (pooled.positives, pooled._own.positives_squared),
        (pooled.negatives, pooled._own.negatives_squared),
    )
    of_positive, of_negative = (
        float(squared[0] / rows.pairs[0] * rows.effective[0]) for rows, squared in sides
    )
    return of_positive, of_negative


def in_standard_errors(partial: AUCPartial, disparity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each group's disparity over its standard error, were all rows of a class placed alike.

    A tiny group may have the largest disparity by chance; by this number it does not hide a group
    whose disparity is certain.
    """
    of_positive, of_negative = _variances_of_rows(partial)
    variance = np.zeros(disparity.size)
    for of_row, rows in ((of_positive, partial.n_positives), (of_negative, partial.n_negatives)):
        others = rows.sum() - rows
        variance += of_row * (1.0 / np.maximum(rows, 1) + 1.0 / np.maximum(others, 1))
    ratio = np.full(disparity.size, np.nan)
    np.divide(disparity, np.sqrt(variance), out=ratio, where=variance > 0)
    return ratio
