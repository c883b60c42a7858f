"""Partial areas under ROC curves: values, influence values, and limits of special cases.

Consider the area up to a false positive rate e. The influence value of a positive is the length of
the part of [0, e] where the positive is above the threshold. The influence value of a negative is
its placement value, but at most the true positive rate at e. This maximum accounts for the sampling
error of the threshold [1]_ [2]_. The values are areas divided by e.

References
----------
.. [1] Dodd, L. E. and Pepe, M. S. (2003). Partial AUC estimation and regression. Biometrics 59(3).
   https://doi.org/10.1111/1541-0420.00071
.. [2] He, Y. and Escobar, M. (2008). Nonparametric statistical inference method for partial areas
   under receiver operating characteristic curves, with application to genomic studies. Statistics
   in Medicine 27(25). https://doi.org/10.1002/sim.3335
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.curve_points import (
    combined_lower_limit,
    fewest_within,
    true_positive_rate,
)
from skfedauc.inference.group_curves import GroupCurves, Influence, errors_of_parts, parts_of

Floats = NDArray[np.float64]


def partial_area(curves: GroupCurves, max_fpr: float) -> Floats:
    """Return the area under each curve up to a false positive rate, divided by this rate."""
    area = _mean_height(curves, np.full(curves.starts.size - 1, max_fpr))
    # Avoid rounding error, to recognize perfect separation.
    area[true_positive_rate(curves, 0.0) == 1.0] = 1.0
    return curves.if_defined(area)


def _mean_height(curves: GroupCurves, rate: Floats) -> Floats:
    """Return the area under each curve up to the rate of the group, divided by this rate."""
    share = curves.share_within(rate)
    width = share * (curves.right - curves.left)
    height = curves.bottom + share * (curves.top - curves.bottom) / 2.0
    return np.clip(ratio(curves.sums(width * height), rate, 0.0), 0.0, 1.0)


def partial_area_influence(curves: GroupCurves, max_fpr: float) -> Influence:
    """Return influence values on `partial_area`.

    Rows of a tie block count as uniformly distributed over the segment of the block. The influence
    values of a positive are 0 for false positive rates above `max_fpr`.
    """
    share = curves.share_within(np.full(curves.starts.size - 1, max_fpr))
    height = true_positive_rate(curves, max_fpr)[curves.groups]
    width, rise = curves.right - curves.left, curves.top - curves.bottom
    of_positives = share**2 * width / 2.0 + np.maximum(max_fpr - curves.right, 0.0)
    of_negatives = curves.bottom + rise * (share - share**2 / 2.0)
    of_negatives = np.where(curves.left >= max_fpr, height, of_negatives)
    return Influence(of_positives / max_fpr, of_negatives / max_fpr)


def greatest_variance(area: Floats, curves: GroupCurves, max_fpr: float) -> Floats:
    """Return an upper bound on the variance of each `partial_area`.

    With the area A (as a share of e), m positives and n negatives, the bound is ``A (1 - A) / m +
    (1 - A) / (e n)``. The influence values of the positives are between 0 and 1 with mean A. The
    influence values of the negatives are smaller than their maximum by at most 1 / e, and by at
    most 1 - A on average. The bound adds half a success and half a failure to A.
    """
    m, n = curves.positives.effective, curves.negatives.effective
    fewer = np.minimum(m, n)
    shrunk = (fewer * area + 0.5) / (fewer + 1.0)
    return (1.0 - shrunk) * (ratio(shrunk, m) + ratio(1.0 / max_fpr, n))


def partial_area_guard(curves: GroupCurves, max_fpr: float, area: Floats, tail: float) -> Floats:
    """Return lower limits of `partial_area` that hold if few negatives are within the rates.

    One part is the limit for a given number of negatives within the rates, with the variance of the
    mean influence value of `fewest_within` negatives. The other part is the area up to the
    threshold of this number of negatives. Given the threshold of one negative, the negatives above
    it are a random sample, so this part does not count the negative at the threshold. The limit is
    0 if no negative remains.
    """
    n, rates = curves.negatives.effective, np.full(curves.starts.size - 1, max_fpr)
    fewest = np.clip(fewest_within(n, max_fpr, tail) - 1.0, 0.0, n * max_fpr)
    reached = _mean_height(curves, ratio(fewest, n, 0.0)) * np.minimum(fewest, 1.0)
    # Given the number of negatives, a negative beyond the rates has no influence.
    found = partial_area_influence(curves, max_fpr)
    beyond = (true_positive_rate(curves, max_fpr) - area)[curves.groups] / max_fpr
    negatives = found.negatives + curves.share_within(rates) * beyond
    parts, freedom = parts_of(curves, Influence(found.positives, negatives))
    parts[1] *= np.maximum(n * max_fpr / (fewest + 1.0), 1.0)
    freedom[1] = np.maximum(n * max_fpr - 1.0, 1.0)
    errors = errors_of_parts(curves, parts, freedom)
    bound = greatest_variance(area, curves, max_fpr)
    variance = np.where(np.isnan(errors.variance), bound, errors.variance)
    given = errors._replace(variance=variance).limits(area, tail)[0]
    low = combined_lower_limit(area, given, reached)
    return np.where(fewest > 0, low, 0.0)


def perfect_area_limit(curves: GroupCurves, max_fpr: float, tail: float) -> Floats:
    """Return the lower limit of `partial_area` if all positives are above all negatives.

    Let k positives each have r negatives of their own. A positive with the false positive rate u is
    above its r negatives with probability ``(1 - u)**r``, a convex function of u. Given the area A
    (as a share of `max_fpr`), all k positives are therefore above their negatives with probability
    at most ``(A + (1 - A) c)**k``, with ``c = (1 - max_fpr)**r``. The limit is the A where this
    probability is `tail`. The function returns the larger of the limits for two numbers r.
    """
    m, n = curves.positives.effective, curves.negatives.effective
    limits = np.zeros((2, m.size))
    for i, least in enumerate((1.0, np.ceil(2.0 / max_fpr))):
        r = np.maximum(np.floor(ratio(n, m, 1.0)), least)
        k = np.minimum(m, np.floor(n / r))
        within = -np.expm1(r * np.log1p(-max_fpr))  # 1 - c
        reached = np.exp(ratio(np.log(tail), k, -np.inf))
        limits[i] = (reached - 1.0 + within) / within
    found: Floats = np.clip(limits.max(axis=0), 0.0, 1.0)
    return found
