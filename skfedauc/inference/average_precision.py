"""Average precision: values, influence values, and bounds for binned scores.

References
----------
.. [1] Bhatia, R. and Davis, C. (2000). A better bound on the variance. American Mathematical
   Monthly 107(4). https://doi.org/10.1080/00029890.2000.12005203
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import ranks_in_groups
from skfedauc.counts.moments import ratio
from skfedauc.inference.group_curves import GroupCurves, Influence

Floats = NDArray[np.float64]


def average_precision(curves: GroupCurves) -> Floats:
    """Return the average precision of each group, like `sklearn.metrics.average_precision_score`.

    The function adds up the precision at each distinct score times the increase of the recall,
    without interpolation.
    """
    found = curves.sums((curves.top - curves.bottom) * _precision(curves))
    return curves.if_defined(np.clip(found, 0.0, 1.0))


def _amounts(curves: GroupCurves) -> tuple[Floats, Floats]:
    """Return the weights of false and of true positives at the threshold of each segment."""
    groups = curves.groups
    return (
        curves.right * curves.negatives.weight[groups],
        curves.top * curves.positives.weight[groups],
    )


def _precision(curves: GroupCurves) -> Floats:
    false, true = _amounts(curves)
    return ratio(true, false + true, 0.0)


def average_precision_influence(curves: GroupCurves) -> Influence:
    """Return influence values on `average_precision`, with a fixed share of positives."""
    false, true = _amounts(curves)
    of_negatives, of_positives = (
        rows.weight[curves.groups] for rows in (curves.negatives, curves.positives)
    )
    gained = (curves.top - curves.bottom) * of_positives
    both = (false + true) ** 2

    def in_lower_cells(values: Floats) -> Floats:
        """Sum of the cell and of all lower cells of the group."""
        return (ranks_in_groups(curves.starts, values) + values) / 2.0

    positives = ratio(true, false + true, 0.0) + in_lower_cells(ratio(gained * false, both, 0.0))
    negatives = in_lower_cells(ratio(gained * true, both, 0.0))
    return Influence(positives, -negatives * ratio(of_negatives, of_positives, 0.0))


def greatest_variance(value: Floats, curves: GroupCurves) -> Floats:
    """Return an upper bound on the variance of the average precision of each group.

    A random number between 0 and 1 with mean A has a variance of at most ``A (1 - A)`` [1]_. The
    bound adds half a success and half a failure to A, as if A were a share of the rows of the
    smaller class.
    """
    fewer = np.minimum(curves.positives.effective, curves.negatives.effective)
    shrunk = (fewer * value + 0.5) / (fewer + 1.0)
    bound: Floats = shrunk * (1.0 - shrunk)
    return bound


def least_average_precision(curves: GroupCurves) -> Floats:
    """Return the lowest average precision of each group if tied positives may differ in score.

    The i-th of k positives of a cell, with T true positives above the cell and F false positives up
    to the cell, has the precision ``(T + i) / (T + i + F)``. With weights, an integral replaces the
    sum; the integral is a lower bound.
    """
    from scipy.special import digamma

    false, true = _amounts(curves)
    above = curves.bottom * curves.positives.weight[curves.groups]
    gained = true - above
    # Rates times totals are whole numbers except for rounding.
    if not curves.is_weighted:
        false, above, gained = np.rint(false), np.rint(above), np.rint(gained)
    lost = false * np.log1p(ratio(gained, false + above, 0.0))
    if not curves.is_weighted:
        # For large numbers, a difference of digammas has a larger error than the integral.
        exact = (gained > 0) & (false > 0) & (false + above + gained < 1 << 20)
        n = (false + above)[exact] + 1.0
        lost[exact] = false[exact] * (digamma(n + gained[exact]) - digamma(n))
    found = ratio(curves.sums(gained - lost), curves.positives.weight, 0.0)
    return curves.if_defined(np.clip(found, 0.0, 1.0))


def greatest_average_precision(curves: GroupCurves) -> Floats:
    """Return an upper bound on the average precision of each group if ranges of scores overlap.

    `curves` have the highest possible scores of positives and the lowest of negatives. With other
    scores, no threshold has a higher precision. No positive is above its highest score. The bound
    is the mean over positives of the highest precision at the thresholds up to the score of the
    positive.
    """
    groups = curves.groups.astype(np.float64)
    # Precisions are at most 1. Therefore, adding the number of the group restarts the running
    # maximum in each group.
    highest = np.maximum.accumulate(_precision(curves) + groups) - groups
    highest += groups * 2.0**-52  # rounding error
    found = curves.sums((curves.top - curves.bottom) * highest)
    return curves.if_defined(np.clip(found, 0.0, 1.0))
