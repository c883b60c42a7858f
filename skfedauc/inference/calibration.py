"""Calibration by group, for scores that are probabilities: mean scores, slopes and bins.

A row with the score p is well calibrated if it is positive with probability p. All functions take
cells (counts of rows by group and score) and, for rows that are not independent, `ClusterCells`.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from skfedauc._kernel import Cells
from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import DisclosureError, ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.intervals import Interval, Limits
from skfedauc.inference.proportions import ClusterSums, Shares, wilson
from skfedauc.inference.quantiles import normal_quantile, t_quantile

# Notes on slopes without a value
ONE_CLASS, CERTAIN, SEPARATED = "one class", "scores of 0 or 1", "separated classes"
CONSTANT = "one score"
# Newton's method: largest number of steps, largest step, and size of the last step
_MOST_STEPS, _LONGEST, _SHORTEST = 200, 2.0, 1e-10


def are_exact_probabilities(counts: ScoreCounts) -> bool:
    """Return whether counts hold exact scores from 0 to 1."""
    if counts.disclosure.level != "exact":
        return False
    scores = counts.cells.scores
    return not scores.size or bool(scores.min() >= 0.0 and scores.max() <= 1.0)


def cells_of_probabilities(counts: ScoreCounts, result: str) -> Cells:
    """Return the cells; if scores are not probabilities, the error names the `result`."""
    needs(counts.disclosure, Need.SCORES, result)
    cells = counts.cells
    if view_of(counts).ranges is not None:
        raise DisclosureError(
            f"{result} needs disclosure='exact'; these counts hold ranges of scores, and the mean "
            "score of a range is unknown. Count the rows with exact scores."
        )
    if not are_exact_probabilities(counts):
        low, high = cells.scores.min(), cells.scores.max()
        raise ValueError(
            f"{result} needs scores that are probabilities, from 0 to 1; got scores from {low:g} "
            f"to {high:g}. Pass probabilities of the positive class, such as a column of "
            "predict_proba."
        )
    return cells


class Amounts(NamedTuple):
    """Weights by cell, of negatives, positives and both classes, and squared weights of both."""

    negatives: Floats
    positives: Floats
    rows: Floats
    squares: Floats

    @classmethod
    def of(cls, cells: Cells) -> Amounts:
        """Return the cells' row weights over a power of two, so that no product overflows."""
        negatives, positives = (a.astype(np.float64) for a in (cells.negatives, cells.positives))
        rows = squares = negatives + positives
        if cells.weights is not None:
            mean = cells.weights[:2].sum() / rows.sum()
            exponent = int(np.rint(np.log2(mean))) if mean > 0 else 0
            scaled = np.ldexp(cells.weights, -exponent * np.array([[1], [1], [2], [2]]))
            negatives, positives = scaled[:2]
            rows, squares = scaled[:2].sum(axis=0), scaled[2:].sum(axis=0)
        return cls(negatives, positives, rows, squares)


def _sums(cells: Cells, values: Floats) -> Floats:
    """Return the sum over each group's cells (last axis)."""
    if not values.size:
        return np.zeros(0)
    return np.add.reduceat(values, cells.starts[:-1], axis=-1)


class ClusterCells:
    """Cells by unit, a cluster in a group, beside the cells by group."""

    def __init__(self, clusters: ClusterCounts, cells: Cells) -> None:
        self.clusters, self.cells, self.of_groups = clusters, clusters.units.cells, cells
        self.group = clusters.group_of[self.cells.groups]
        self.cluster = clusters.cluster_of[self.cells.groups]
        self.amounts = Amounts.of(self.cells)

    @functools.cached_property
    def place(self) -> NDArray[np.intp]:
        """Cell in the group that has each cell's score."""
        of_groups = self.of_groups
        scores, rank = np.unique(of_groups.scores, return_inverse=True)
        keys = of_groups.groups.astype(np.int64) * scores.size + rank
        own = self.group.astype(np.int64) * scores.size
        own += np.searchsorted(scores, self.cells.scores)
        return np.searchsorted(keys, own).astype(np.intp)

    def sums(self, events: Floats, weight: Floats) -> ClusterSums:
        """Sum a numerator's and a denominator's parts by cell over each unit."""
        of = self.clusters
        of_unit = of.group_of, of.cluster_of, of.n_groups
        return self._sums(self.cells.groups, *of_unit, events, weight)

    def shares_of_bins(self, bins: Bins) -> Shares:
        """Return the bins' shares of positives by group."""
        n_clusters, bin_ = self.clusters.n_clusters, np.cumsum(bins.is_first) - 1
        keys = bin_[self.place].astype(np.int64) * n_clusters + self.cluster
        distinct, unit = np.unique(keys, return_inverse=True)
        of_unit = *np.divmod(distinct.astype(np.intp), n_clusters), bins.share.size
        return self._sums(unit, *of_unit, self.amounts.positives, self.amounts.rows).shares

    def _sums(
        self,
        unit: NDArray[np.intp],
        group: NDArray[np.intp],
        cluster: NDArray[np.intp],
        n_groups: int,
        *columns: Floats,
    ) -> ClusterSums:
        columns = *columns, self.amounts.squares
        sums = (np.bincount(unit, of, group.size).astype(np.float64) for of in columns)
        return ClusterSums(group, cluster, n_groups, self.clusters.n_clusters, *sums)


class MeanScore(NamedTuple):
    """Each group's mean score and share of positives (prevalence).

    `low` and `high` limit their difference, and `deviation` is the difference over its standard
    error under perfect calibration.
    """

    mean: Floats
    prevalence: Floats
    low: Floats
    high: Floats
    deviation: Floats


def mean_scores(
    cells: Cells, confidence_level: float, clusters: ClusterCells | None = None
) -> MeanScore:
    """Return the mean score minus the share of positives in each group, with limits.

    The scores are given, and the labels are random. The limits are the mean score minus Wilson's
    limits (1927) of the share of positives, which are conservative, because rows with different
    probabilities have less than the binomial variance (Hoeffding 1956). With clusters, the variance
    is that of the labels minus the scores, and at least the binomial variance.
    """
    amounts, tail = Amounts.of(cells), (1.0 - confidence_level) / 2.0
    weight = _sums(cells, amounts.rows)
    mean = _sums(cells, amounts.rows * cells.scores) / weight
    prevalence = np.minimum(_sums(cells, amounts.positives) / weight, 1.0)
    difference = mean - prevalence
    rows: Floats | Shares = ratio(weight**2, _sums(cells, amounts.squares))  # Kish's
    if clusters is not None:
        own, scores = clusters.amounts, clusters.cells.scores
        sums = clusters.sums(own.positives - own.rows * scores, own.rows)
        rows = sums.precision_of(prevalence)
    with np.errstate(invalid="ignore"):
        limits = wilson(prevalence, rows, tail)
    variance = _sums(cells, amounts.squares * cells.scores * (1.0 - cells.scores))
    deviation = ratio(difference * weight, np.sqrt(variance), 0.0)
    return MeanScore(mean, prevalence, mean - limits.high, mean - limits.low, deviation)


def slopes(cells: Cells, confidence_level: float, clusters: ClusterCells | None = None) -> Interval:
    """Return each group's calibration slope, which is 1 for calibrated scores.

    The slope b is the maximum likelihood estimate in the model ``logit P(y = 1) = a + b
    logit(score)`` (Cox 1958), with limits of Wald. Weighted rows have White's variance (1982). With
    clusters, the variance is at least that of Liang and Zeger (1986), with k - 1 degrees of freedom
    for k clusters. The slope is NaN for groups of one class or of equal scores, with scores of
    exactly 0 or 1, and if a threshold separates the classes (Albert and Anderson 1984); the note
    tells which.
    """
    note = _reasons(cells)
    estimate, error = np.full((2, note.size), np.nan)
    fitted = np.zeros(cells.scores.size)
    is_fitted = note == ""
    if is_fitted.any():
        starts = np.append(0, np.cumsum(np.diff(cells.starts)[is_fitted]))
        part = cells.take(is_fitted[cells.groups], starts)
        estimate[is_fitted], error[is_fitted], of_cells = _fit(part)
        fitted[is_fitted[cells.groups]] = of_cells
    deviate = normal_quantile((1.0 - confidence_level) / 2.0)
    if clusters is not None:
        sums = _slope_sums(clusters, fitted[clusters.place])
        error = np.maximum(error, np.sqrt(sums.variance))
        freedom = sums.n_effective_clusters - 1.0
        # There is no quantile for a single cluster.
        freedom = np.where(freedom > 1e-9, freedom, np.nan)
        deviate = t_quantile((1.0 - confidence_level) / 2.0, freedom)
    reach = deviate * error
    return Interval(estimate, estimate - reach, estimate + reach, note)


def _slope_sums(found: ClusterCells, mean: Floats) -> ClusterSums:
    """Return the slope's robust variance in parts by unit.

    Logits minus their mean are uncorrelated with the intercept.
    """
    amounts = found.amounts
    information = amounts.rows * mean * (1.0 - mean)
    # Groups with scores of 0 or 1 have no slope.
    logits = np.nan_to_num(logit(found.cells.scores), posinf=0.0, neginf=0.0)
    center = np.nan_to_num(found.sums(information * logits, information).value)
    centered = logits - center[found.group]
    errors = amounts.positives - amounts.rows * mean
    return found.sums(errors * centered, information * centered**2)


def _reasons(cells: Cells) -> NDArray[np.str_]:
    """Return why each group has no slope; empty for groups with a slope."""
    starts, scores = cells.starts[:-1], cells.scores
    has_class = cells.negatives > 0, cells.positives > 0
    note = np.full(starts.size, "", dtype="<U20")
    if not starts.size:
        return note
    # Lowest and highest score of each class
    low, high = (
        [of.reduceat(np.where(has, scores, other), starts) for has in has_class]
        for of, other in ((np.minimum, np.inf), (np.maximum, -np.inf))
    )
    note[(low[1] >= high[0]) | (low[0] >= high[1])] = SEPARATED
    note[np.minimum(*low) == np.maximum(*high)] = CONSTANT
    is_certain = (scores <= 0.0) | (scores >= 1.0)
    note[np.logical_or.reduceat(is_certain, starts)] = CERTAIN
    for has in has_class:
        note[~np.logical_or.reduceat(has, starts)] = ONE_CLASS
    return note


def _fit(cells: Cells) -> tuple[Floats, Floats, Floats]:
    """Return each group's slope with its standard error, and each cell's probability.

    The method is Newton's with halved steps, for all groups together.
    """
    amounts, groups, logits = Amounts.of(cells), cells.groups, logit(cells.scores)
    rows, weight = amounts.rows, _sums(cells, amounts.rows)
    # With centered logits of variance 1, intercept and slope have the same scale.
    center = _sums(cells, rows * logits) / weight
    centered = logits - center[groups]
    spread = np.sqrt(_sums(cells, rows * centered**2) / weight)
    columns = np.array([np.ones_like(logits), centered / spread[groups]])
    # The start is the score itself: intercept 0 and slope 1.
    beta = np.array([center, spread])

    def predictors(beta: Floats) -> Floats:
        return np.asarray((beta[:, groups] * columns).sum(axis=0))

    def likelihood(eta: Floats) -> Floats:
        of_cells = amounts.positives * log_expit(eta) + amounts.negatives * log_expit(-eta)
        return _sums(cells, of_cells)

    def moments(weights: Floats) -> Floats:
        return _sums(cells, columns[:, None] * columns * weights)

    reached = likelihood(predictors(beta))
    size = np.full(weight.size, np.inf)
    for _ in range(_MOST_STEPS):
        mean = expit(predictors(beta))
        score = _sums(cells, columns * (amounts.positives - rows * mean))
        step = (_inverse(moments(rows * mean * (1.0 - mean))) * score).sum(axis=1)
        size = np.abs(step).max(axis=0)
        if not (size > _SHORTEST).any():
            break
        step *= np.minimum(1.0, _LONGEST / np.maximum(size, _LONGEST))
        for _ in range(30):
            found = likelihood(predictors(beta + step))
            is_worse = found < reached - 1e-12 * np.abs(reached)
            if not is_worse.any():
                break
            step[:, is_worse] /= 2.0
        beta, reached = beta + step, found
    mean = expit(predictors(beta))
    variance = _inverse(moments(rows * mean * (1.0 - mean)))
    if cells.weights is not None:
        squares = moments(amounts.squares * mean * (1.0 - mean))
        variance = np.einsum("ijg,jkg,klg->ilg", variance, squares, variance)
    estimate, error = beta[-1] / spread, np.sqrt(variance[-1, -1]) / spread
    is_found = size < 1e-6
    return np.where(is_found, estimate, np.nan), np.where(is_found, error, np.nan), mean


def _inverse(matrices: Floats) -> Floats:
    """Invert symmetric matrices, shape (2, 2, n)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        (a, b), (_, d) = matrices
        return np.asarray(np.array([[d, -b], [-b, a]]) / (a * d - b**2))


class Bins(NamedTuple):
    """Bins of the rows in each group, in ascending order of scores.

    Each has a group number, an effective sample size, a mean score and a share of positives;
    `is_first` tells for each cell whether it begins a bin.
    """

    groups: NDArray[np.intp]
    n_rows: Floats
    mean: Floats
    share: Floats
    is_first: NDArray[np.bool_]


def reliability(
    cells: Cells, n_bins: int, clusters: ClusterCells | None = None
) -> tuple[Bins, Limits]:
    """Return the bins of a reliability curve, and 95 % limits of their shares of positives."""
    bins = equal_count_bins(cells, n_bins)
    rows = bins.n_rows if clusters is None else clusters.shares_of_bins(bins)
    return bins, wilson(bins.share, rows, 0.025)


def equal_count_bins(cells: Cells, n_bins: int) -> Bins:
    """Return bins with equal numbers of rows, or equal weights, in each group.

    Rows with equal scores are in their middle row's bin, so there may be fewer bins.
    """
    amounts, groups = Amounts.of(cells), cells.groups
    rows, weight = amounts.rows, _sums(cells, amounts.rows)
    up_to = np.cumsum(rows)
    before = np.append(0.0, up_to)[cells.starts[:-1]]
    middle = (up_to - rows / 2.0 - before[groups]) / weight[groups]
    # Rounding error must not move a row across an edge.
    bins = np.clip(np.floor(n_bins * middle + 1e-9), 0, n_bins - 1).astype(np.intp)
    is_first = np.append(True, (np.diff(bins) != 0) | (np.diff(groups) != 0))[: bins.size]
    starts = np.append(np.flatnonzero(is_first), bins.size)
    part = cells._replace(starts=starts)
    of_bins = _sums(part, rows)
    return Bins(
        groups[starts[:-1]],
        ratio(of_bins**2, _sums(part, amounts.squares)),
        _sums(part, rows * cells.scores) / of_bins,
        np.minimum(_sums(part, amounts.positives) / of_bins, 1.0),
        is_first,
    )


def threshold_of(counts: ScoreCounts, threshold: float) -> float:
    """Return the threshold that scores have to reach: in float32, if they were float32.

    There, 0.7 is below 0.7, and reaches it, as in numpy. Counts have all scores in float64; those
    that were float32 have no digits beyond it, and some have more than 18 binary digits.
    """
    scores = counts.cells.scores
    with np.errstate(over="ignore"):
        is_single = view_of(counts).ranges is None and (scores.astype(np.float32) == scores).all()
        is_long = (np.frexp(scores)[0] * 2.0**18 % 1.0 > 0.0) & (scores % 1.0 > 0.0)
        return float(np.float32(threshold)) if is_single and is_long.any() else threshold


def default_threshold(counts: ScoreCounts) -> float | None:
    """Return 0.5 for probabilities, or None for other scores and if a bin has both decisions."""
    ranges = view_of(counts).ranges
    scores = counts.cells.scores if ranges is None else np.concatenate(ranges)
    are_probabilities = not scores.size or bool(scores.min() >= 0 and scores.max() <= 1)
    is_divided = ranges is not None and ((ranges[0] < 0.5) & (ranges[1] >= 0.5)).any()
    return 0.5 if are_probabilities and not is_divided else None
