"""Differences between averages and the pooled AUC, and between the groups' score distributions.

The average of the group AUCs weighted by positives equals the pooled AUC if the negatives have the
same score distribution in all groups, and the average weighted by negatives if the positives have.
Kolmogorov distances bound the difference, and the Anderson-Darling test for k samples tests whether
the distributions are equal (Scholz and Stephens 1987).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from skfedauc._kernel import Cells, ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats, OwnMoments, ratio
from skfedauc.counts.score_counts import with_weights_over
from skfedauc.inference.variances import Stratum, Variances
from skfedauc.pairs import Ranks, ranks_among_all


def kolmogorov_distances(cells: Cells, ranks: Ranks, side: int) -> Floats:
    """Kolmogorov distance between each group's distribution and the distribution of all groups."""
    column = cells.amounts[side]
    starts, group = cells.starts[:-1], cells.groups
    weight = np.add.reduceat(column.astype(np.float64), starts)
    # The group's distribution function is constant between its scores, so the largest distance is
    # at a score of the group, or just below one.
    up_to = (ranks_in_groups(cells.starts, column) + column) / 2.0
    scale = ratio(1.0, weight, 0.0)[group]
    total = float(ranks.total[side])
    here = np.abs(up_to * scale - ranks.up_to[side].astype(np.float64) / total)
    own_before = (up_to - column) * scale
    just_below = np.abs(own_before - ranks.under[side].astype(np.float64) / total)
    distances = np.maximum.reduceat(np.maximum(here, just_below), starts)
    return np.where(weight > 0, distances, np.nan)


def anderson_darling(cells: Cells, ranks: Ranks, side: int) -> tuple[float, float]:
    """Anderson-Darling statistic for k samples with ties (midranks), and its p value.

    The statistic is a sum over all scores. The rank within a group is constant between two scores
    of the group, so cumulative sums give the part of the sum between them.
    """
    column = cells.amounts[side]
    kept = np.flatnonzero(column)
    count, group = column[kept].astype(np.float64), cells.groups[kept]
    total = float(ranks.total[side])
    up_to = ranks.up_to[side][kept]
    # Number of rows and midrank of each distinct score of the class
    ends, score = np.unique(up_to, return_inverse=True)
    tied = np.diff(ends.astype(np.float64), prepend=0.0)
    middle = ends.astype(np.float64) - tied / 2.0
    spread = middle * (total - middle) - total * tied / 4.0
    n_samples = int(np.count_nonzero(np.bincount(group)))
    if n_samples < 2 or ends.size < 2:
        return (float("nan"), float("nan")) if n_samples < 2 else (0.0, 1.0)
    # sums[r][j] is the sum of tied * middle**r / spread over the first j scores.
    powers = tied / spread * middle ** np.arange(3)[:, None]
    sums = np.hstack([np.zeros((3, 1)), np.cumsum(powers, axis=1)])
    is_first = np.append(True, group[1:] != group[:-1])
    is_last = np.append(is_first[1:], True)
    sizes = np.bincount(group, weights=count).astype(np.float64)
    size = sizes[group]
    running = np.cumsum(count)
    rank = running - (running - count)[is_first][np.cumsum(is_first) - 1]

    def between(
        first: NDArray[Any], end: NDArray[Any], own: NDArray[Any], n: NDArray[Any]
    ) -> Floats:
        """Sum over the scores ``first:end``; `own` is the number of the group's rows below them."""
        zero, one, two = sums[:, end] - sums[:, first]
        return np.asarray((total * own) ** 2 * zero - 2 * total * own * n * one + n**2 * two)

    # Add the terms at each score of a group, and between this score and the group's previous score.
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
    """Upper tail of the gamma distribution with three cumulants of the limiting distribution.

    The limit is a weighted sum of chi-square variables with k - 1 degrees of freedom. The weights
    are the eigenvalues of the matrix L with the elements w_j c_jk, where c_jk = b_j (1 - b_k) for j
    < k, and b_j is the midrank of score j over the row count. The cumulants are traces of
    powers of L, which cumulative sums give.
    """
    own = middle * (1.0 - middle) - share / 4.0
    weight = share / own
    low, high = weight * middle**2, weight * (1.0 - middle) ** 2
    both = weight * middle * (1.0 - middle)
    low_before = np.cumsum(low) - low
    high_after = high.sum() - np.cumsum(high)
    trace2 = 2 * np.dot(low_before, high) + (share**2).sum()
    # In terms with two equal indices, the third index is below or above these two.
    alike = weight * share * ((1.0 - middle) ** 2 * low_before + middle**2 * high_after)
    trace3 = 6 * np.dot(low_before * both, high_after) + 3 * alike.sum() + (share**3).sum()
    degrees_of_freedom = n_samples - 1
    variance, third = 2 * degrees_of_freedom * trace2, 8 * degrees_of_freedom * trace3
    shape = 4 * variance**3 / third**2
    scale = third / (2 * variance)
    shift = degrees_of_freedom - shape * scale
    return float(gammaincc(shape, max(statistic - shift, 0.0) / scale))


def class_agreement(counts: ScoreCounts) -> tuple[list[Floats], list[tuple[float, float]]]:
    """Compare the groups' score distributions, for the negatives and for the positives.

    The first result has the Kolmogorov distance of each group from all groups, NaN without rows,
    and the second the Anderson-Darling statistic and its p value, NaN with weights or fewer than
    two groups.
    """
    cells = with_weights_over(counts).cells
    ranks, sides = ranks_among_all(cells), (0, 1)
    distances = [kolmogorov_distances(cells, ranks, side) for side in sides]
    if cells.weights is not None:
        return distances, [(np.nan, np.nan)] * 2
    return distances, [anderson_darling(cells, ranks, side) for side in sides]


def certain_bound(share: Floats, distances: Floats) -> float:
    """Upper bound on the absolute difference between an average and the pooled AUC.

    The average by positives has the shares of the positives, and the distances of the negatives.
    """
    return float(np.dot(share, np.where(np.isnan(distances), 1.0, distances)))


def null_distances(n_rows: Floats) -> Floats:
    """Approximate mean Kolmogorov distance of each group if all distributions are equal.

    It is the mean of the limiting distribution, sqrt(pi / 2) log 2, over the root of the number of
    rows, corrected for the group's rows among all rows.
    """
    share = n_rows / n_rows.sum()
    scale = np.sqrt(np.pi / 2) * np.log(2.0)
    distance = np.sqrt(ratio(1.0 - share, n_rows, 0.0))
    return np.asarray(np.minimum(scale * distance, 1.0))


def of_difference(
    strata: tuple[Stratum, Stratum], variances: Variances, own: OwnMoments, share: Floats
) -> float:
    """Variance of the pooled AUC minus an average of group AUCs, for fixed numbers of rows.

    `share` is that of each group in the average.
    """
    total = 0.0
    for of, squared in zip(strata, (own.negatives_squared, own.positives_squared), strict=True):
        (pooled, product), weight = of.within(), of.rows.weight.sum()
        scale = ratio(share, of.rows.weight, 0.0)
        parts = pooled / weight**2 - 2 * scale * product / weight + scale**2 * squared
        total += float((of.rows.corrections * parts).sum())
    # Add bounds for groups without an estimate of their own variance.
    bounded = ~variances.estimable & variances.defined & (share > 0)
    return max(total + float((share**2 * variances.bounded)[bounded].sum()), 0.0)


def of_random_numbers(strata: tuple[Stratum, Stratum], derivatives: tuple[Floats, Floats]) -> float:
    """Additional variance of the pooled AUC minus an average if the group of a row is random.

    It is that of the linear approximation by the weights of the rows. `derivatives` are those of
    the average by the weight of each group's negatives and positives.
    """
    total = 0.0
    for of, of_average in zip(strata, derivatives, strict=True):
        weight = of.rows.weight
        per_weight = ratio(of.influence, weight, 0.0) - of_average
        # The squares of the estimates are too large by the sampling variance of the estimates.
        noise = of.rows.corrections * ratio(of.within()[0], (weight * weight.sum()) ** 2, 0.0)
        total += float((of.rows.squares * (per_weight**2 - noise)).sum())
    return max(total, 0.0)
