"""Bounds and tests of whether averages of group AUCs are equivalent to the pooled AUC.

An average of group AUCs by positives equals the pooled AUC if the negatives have the same score
distribution in all groups, one by negatives if the positives do (sufficient, not necessary). The
Kolmogorov distance between the distributions bounds the difference of the two AUCs, and their
equality is tested by Anderson and Darling's statistic for several samples [1]_.

References
----------
.. [1] Scholz, F. W. and Stephens, M. A. (1987). K-sample Anderson-Darling tests. Journal of the
   American Statistical Association 82(399). https://doi.org/10.1080/01621459.1987.10478517
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.inference.ranks import Ranks, ranks_among_all
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]
NEGATIVES, POSITIVES = 0, 1


class ClassAgreement(NamedTuple):
    """Differences between the score distributions of one class in all groups.

    Attributes
    ----------
    distances : ndarray of float64, shape (n_groups,)
        Kolmogorov distance of each group's distribution to that of all groups; NaN without rows.
    statistic, pvalue : float
        Of the Anderson-Darling test that all distributions are the same; NaN with weights or
        fewer than two groups.
    """

    distances: Floats
    statistic: float
    pvalue: float


def kolmogorov_distances(cells: Cells, ranks: Ranks, side: int) -> Floats:
    """Largest difference between each group's distribution function and that of all groups."""
    column = cells.amounts[side]
    starts, group = cells.starts[:-1], cells.groups
    weight = np.add.reduceat(column.astype(np.float64), starts)
    # Both functions only rise; so they are furthest apart at a score of the group, or just below.
    sums = np.cumsum(column, dtype=ranks.total.dtype)
    # Integers are exact, and with weights the error of a sum over all groups is harmless here.
    before = np.append(ranks.total.dtype.type(0), sums)[starts][group]
    up_to = (sums - before).astype(np.float64)
    scale = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)[group]
    total = float(ranks.total[side])
    here = np.abs(up_to * scale - ranks.up_to[side].astype(np.float64) / total)
    own_before = (up_to - column) * scale
    just_below = np.abs(own_before - ranks.under[side].astype(np.float64) / total)
    distances = np.maximum.reduceat(np.maximum(here, just_below), starts)
    return np.where(weight > 0, distances, np.nan)


def anderson_darling(cells: Cells, ranks: Ranks, side: int) -> tuple[float, float]:
    """Statistic for k samples with ties (midranks), and its p value.

    Between two scores of a group its own rank stays the same; so the sum over all scores is one
    over the group's scores, of differences of running sums over all scores. The p value is that
    of a gamma distribution with the mean, variance and third cumulant of the limit, ties included.
    """
    column = cells.amounts[side]
    kept = np.flatnonzero(column)
    count, group = column[kept].astype(np.float64), cells.groups[kept]
    total = float(ranks.total[side])
    up_to = ranks.up_to[side][kept]
    # Every score of the class once: how many rows have it, and how many are below, by midrank
    ends = np.unique(up_to)
    tied = np.diff(ends.astype(np.float64), prepend=0.0)
    middle = ends.astype(np.float64) - tied / 2.0
    spread = middle * (total - middle) - total * tied / 4.0
    n_samples = int(np.count_nonzero(np.bincount(group)))
    if n_samples < 2 or ends.size < 2:
        return (float("nan"), float("nan")) if n_samples < 2 else (0.0, 1.0)
    # sums[r][j]: of tied * middle**r / spread over the first j scores
    powers = tied / spread * middle ** np.arange(3)[:, None]
    sums = np.hstack([np.zeros((3, 1)), np.cumsum(powers, axis=1)])
    score = np.searchsorted(ends, up_to)
    is_first = np.append(True, group[1:] != group[:-1])
    is_last = np.append(is_first[1:], True)
    sizes = np.bincount(group, weights=count).astype(np.float64)
    size = sizes[group]
    running = np.cumsum(count)
    rank = running - (running - count)[is_first][np.cumsum(is_first) - 1]

    def between(
        first: NDArray[Any], end: NDArray[Any], own: NDArray[Any], n: NDArray[Any]
    ) -> Floats:
        """Sum over scores ``first:end`` where `own` of a group's `n` rows are below."""
        zero, one, two = sums[:, end] - sums[:, first]
        found: Floats = (total * own) ** 2 * zero - 2 * total * own * n * one + n**2 * two
        return found

    # At each score of a group, and from the one before up to it
    own_middle = rank - count / 2.0
    at = tied[score] / spread[score] * (total * own_middle - size * middle[score]) ** 2
    before = np.where(is_first, 0, np.append(0, score[:-1] + 1))
    terms = at + between(before, score, rank - count, size)
    last = score[is_last] + 1
    end = np.full_like(last, ends.size)
    after = between(last, end, size[is_last], size[is_last])
    statistic = (terms / size).sum() + (after / size[is_last]).sum()
    statistic *= (total - 1.0) / total**2
    return float(statistic), _gamma_pvalue(statistic, n_samples, tied / total, middle / total)


def _gamma_pvalue(statistic: float, n_samples: int, share: Floats, middle: Floats) -> float:
    """Upper tail of the gamma distribution with the limit's first three cumulants.

    The limit is a weighted sum of chi-square variables with k - 1 degrees of freedom, whose weights
    are the eigenvalues of L = w_j c_jk, with c_jk = b_j (1 - b_k) for j < k and b the middle of
    the share of rows below; so the cumulants are traces of its powers. The products are of one
    factor for each index, so that the sums are running ones.
    """
    from scipy.special import gammaincc

    own = middle * (1.0 - middle) - share / 4.0
    weight = share / own
    low, high = weight * middle**2, weight * (1.0 - middle) ** 2
    both = weight * middle * (1.0 - middle)
    low_before = np.cumsum(low) - low
    high_after = high.sum() - np.cumsum(high)
    trace2 = 2 * np.dot(low_before, high) + (share**2).sum()
    # of two indices alike: the third one below, or above
    alike = weight * share * ((1.0 - middle) ** 2 * low_before + middle**2 * high_after)
    trace3 = 6 * np.dot(low_before * both, high_after) + 3 * alike.sum() + (share**3).sum()
    freedom = n_samples - 1
    variance, third = 2 * freedom * trace2, 8 * freedom * trace3
    shape = 4 * variance**3 / third**2
    scale = third / (2 * variance)
    shift = freedom - shape * scale
    return float(gammaincc(shape, max(statistic - shift, 0.0) / scale))


def class_agreement(variances: Variances) -> tuple[ClassAgreement, ClassAgreement]:
    """Compare the score distributions of negatives, and of positives, in all groups."""
    cells = variances._cells
    ranks = ranks_among_all(cells)
    found = []
    for side in (NEGATIVES, POSITIVES):
        distances = kolmogorov_distances(cells, ranks, side)
        test = (np.nan, np.nan)
        if cells.weights is None:
            test = anderson_darling(cells, ranks, side)
        found.append(ClassAgreement(distances, *test))
    return found[0], found[1]


def certain_bound(share: Floats, distances: Floats) -> float:
    """What an average and the pooled AUC cannot be further apart than.

    For the average by positives: `share` is that of the positives in each group, `distances` are
    those of the negatives. Groups without a distance count as 1.
    """
    return float(np.dot(share, np.where(np.isnan(distances), 1.0, distances)))


def null_distances(n_rows: Floats) -> Floats:
    """About the mean Kolmogorov distance if all groups had the same distribution.

    The mean of the limit, sqrt(pi / 2) log 2, over the square root of the rows, for a group that is
    part of what it is compared with.
    """
    share = n_rows / n_rows.sum()
    scale = np.sqrt(np.pi / 2) * np.log(2.0)
    distance = np.sqrt(np.divide(1.0 - share, n_rows, out=np.zeros_like(share), where=n_rows > 0))
    about: Floats = np.minimum(scale * distance, 1.0)
    return about
