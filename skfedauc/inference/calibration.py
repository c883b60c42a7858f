"""Calibration of scores that are probabilities: intercept, slope, errors, Brier score and a test.

All functions take cells: counts of rows by group and score. A row with the score p is well
calibrated if it is positive with probability p.

References
----------
.. [1] Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika
   45(3/4). https://doi.org/10.1093/biomet/45.3-4.562
.. [2] Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical
   trials. Statistics in Medicine 5(5). https://doi.org/10.1002/sim.4780050506
.. [3] Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Monthly
   Weather Review 78(1). https://doi.org/10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2
.. [4] Albert, A. and Anderson, J. A. (1984). On the existence of maximum likelihood estimates in
   logistic regression models. Biometrika 71(1). https://doi.org/10.1093/biomet/71.1.1
.. [5] White, H. (1982). Maximum likelihood estimation of misspecified models. Econometrica 50(1).
   https://doi.org/10.2307/1912526
.. [6] Hoeffding, W. (1956). On the distribution of the number of successes in independent trials.
   Annals of Mathematical Statistics 27(3). https://doi.org/10.1214/aoms/1177728178
.. [7] Bröcker, J. and Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
   Weather and Forecasting 22(3). https://doi.org/10.1175/WAF993.1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.counts import DisclosureError, ScoreCounts
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.moments import ratio
from skfedauc.inference.proportions import wilson
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.simulation import sequential_pvalue

Floats = NDArray[np.float64]

# Notes on coefficients without a value
ONE_CLASS, CERTAIN, SEPARATED = "one class", "scores of 0 or 1", "separated classes"
CONSTANT = "one score"
# Newton's method: largest number of steps, largest step, and size of the last step
_MOST_STEPS, _LONGEST, _SHORTEST = 200, 2.0, 1e-10
# Variance of the number of positives from which the null distribution of the test is chi-squared
_LEAST_VARIANCE = 10.0
# Largest number of simulated sets of labels, sets drawn at once, larger statistics that suffice,
# and largest number of distinct scores
_MOST_DRAWS, _DRAWS, _ENOUGH, _MOST_CELLS = 10_000, 200, 20, 200
# Smallest variance of the number of positives for which a normal variable gives the mean absolute
# deviation of the number. For smaller variances: number of points of the distribution, and number
# of parts of each bin
_NORMAL_VARIANCE, _N_POINTS, _N_PARTS = 25.0, 128, 16


def are_exact_probabilities(counts: ScoreCounts) -> bool:
    """Return whether counts hold exact scores from 0 to 1."""
    if counts.disclosure != "exact":
        return False
    scores = counts.cells.scores
    return not scores.size or bool(scores.min() >= 0.0 and scores.max() <= 1.0)


def cells_of_probabilities(counts: ScoreCounts, result: str) -> Cells:
    """Return the cells of counts of probabilities, for a result that needs probabilities.

    Raises
    ------
    DisclosureError
        If the scores are binned, or the counts are a summary; the message names the result.
    ValueError
        If scores are not from 0 to 1.
    """
    cells = cells_for(counts, result)
    if counts.ranges is not None:
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
    """Weights and squared weights of negatives and positives in each cell."""

    negatives: Floats
    positives: Floats
    squared_negatives: Floats
    squared_positives: Floats

    @classmethod
    def of(cls, cells: Cells) -> Amounts:
        """Return the weights of the rows of cells; 1 for each row without weights.

        The function divides weights by a power of two near their mean, so that products of sums of
        weights do not overflow or underflow.
        """
        if cells.weights is not None:
            mean = cells.weights[:2].sum() / (cells.negatives.sum() + cells.positives.sum())
            exponent = int(np.rint(np.log2(mean))) if mean > 0 else 0
            return cls(*np.ldexp(cells.weights, -exponent * np.array([[1], [1], [2], [2]])))
        negatives, positives = (a.astype(np.float64) for a in (cells.negatives, cells.positives))
        return cls(negatives, positives, negatives, positives)

    @property
    def rows(self) -> Floats:
        """Weight of the rows of both classes."""
        return self.negatives + self.positives

    @property
    def squares(self) -> Floats:
        """Squared weight of the rows of both classes."""
        return self.squared_negatives + self.squared_positives


def effective_rows(cells: Cells) -> Floats:
    """Return Kish's effective sample size of each group; the number of rows without weights."""
    amounts = Amounts.of(cells)
    return ratio(_sums(cells, amounts.rows) ** 2, _sums(cells, amounts.squares))


def _sums(cells: Cells, values: Floats) -> Floats:
    """Return the sum over the cells of each group."""
    if not values.size:
        return np.zeros(0)
    found: Floats = np.add.reduceat(values, cells.starts[:-1])
    return found


# Mean score and Brier score ----------------------------------------------------------------------


class MeanScore(NamedTuple):
    """Mean score and share of positives of each group.

    Attributes
    ----------
    mean, prevalence : ndarray of float64, shape (n_groups,)
        Mean score, and share of positives.
    low, high : ndarray of float64, shape (n_groups,)
        Limits of the difference of the mean score and the probability of a positive.
    deviation : ndarray of float64, shape (n_groups,)
        The difference over its standard error under perfect calibration; 0 without a standard
        error.
    """

    mean: Floats
    prevalence: Floats
    low: Floats
    high: Floats
    deviation: Floats


def mean_scores(cells: Cells, confidence_level: float) -> MeanScore:
    """Return the mean score and the prevalence of each group, with limits of the difference.

    The scores are given, and the labels are random. The limits are the mean score minus Wilson's
    limits of the prevalence. The rows have different probabilities of a positive, so the variance
    of the prevalence is at most the binomial variance [6]_, and the limits are conservative.
    """
    amounts = Amounts.of(cells)
    weight = _sums(cells, amounts.rows)
    mean = _sums(cells, amounts.rows * cells.scores) / weight
    prevalence = np.minimum(_sums(cells, amounts.positives) / weight, 1.0)
    deviate = normal_quantile((1.0 - confidence_level) / 2.0)
    _, low, high = wilson(prevalence, effective_rows(cells), deviate)
    variance = _sums(cells, amounts.squares * cells.scores * (1.0 - cells.scores))
    deviation = ratio((mean - prevalence) * weight, np.sqrt(variance), 0.0)
    return MeanScore(mean, prevalence, mean - high, mean - low, deviation)


class Brier(NamedTuple):
    """Brier score of each group with confidence limits."""

    score: Floats
    low: Floats
    high: Floats


def brier_scores(cells: Cells, confidence_level: float) -> Brier:
    """Return the Brier score [3]_ of each group, the mean of the squared errors of the scores.

    The limits are Student's, on the logit scale. The limits are NaN if all rows of a group have the
    same squared error, because the variance is then unknown.
    """
    from scipy.special import expit, logit, stdtrit

    amounts = Amounts.of(cells)
    weight, n_rows = _sums(cells, amounts.rows), effective_rows(cells)
    of_negatives, of_positives = cells.scores**2, (1.0 - cells.scores) ** 2
    losses = amounts.negatives * of_negatives + amounts.positives * of_positives
    score = _sums(cells, losses) / weight
    center = score[cells.groups]
    squares = amounts.squared_negatives * (of_negatives - center) ** 2
    squares += amounts.squared_positives * (of_positives - center) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(_sums(cells, squares) / weight**2 * n_rows / (n_rows - 1.0))
        # Deviations of equal losses from their mean are rounding error.
        error[~(error > 1e-9 * score) | (n_rows <= 1.0)] = np.nan
        reach = -stdtrit(n_rows - 1.0, (1.0 - confidence_level) / 2.0)
        reach *= error / (score * (1.0 - score))
        middle = logit(score)
    return Brier(score, expit(middle - reach), expit(middle + reach))


# Intercept and slope -----------------------------------------------------------------------------


class Coefficients(NamedTuple):
    """Estimates of a coefficient with confidence limits.

    Attributes
    ----------
    estimate, low, high, error : ndarray of float64, shape (n_groups,)
        Estimate with limits, and its standard error.
    note : ndarray of str, shape (n_groups,)
        Reason for a NaN; empty for an estimate.
    fitted : ndarray of float64, shape (n_cells,)
        Fitted probability of a positive of each cell; NaN for groups without an estimate.
    """

    estimate: Floats
    low: Floats
    high: Floats
    error: Floats
    note: NDArray[np.str_]
    fitted: Floats


def intercepts(cells: Cells, confidence_level: float) -> Coefficients:
    """Return the calibration intercept of each group (calibration-in-the-large).

    The intercept a is the maximum likelihood estimate of the model ``logit P(y = 1) = a +
    logit(score)``, with limits of Wald. The variance is the variance of the model: the inverse of
    the information. With weights, the inverse multiplies the variance of the weighted score
    function from both sides [5]_. The intercept is NaN for groups of one class, and for groups with
    scores of exactly 0 or 1, whose logit is infinite.
    """
    return _coefficients(cells, confidence_level, with_slope=False)


def slopes(cells: Cells, confidence_level: float) -> Coefficients:
    """Return the calibration slope of each group.

    The slope b is the maximum likelihood estimate of the model ``logit P(y = 1) = a + b
    logit(score)`` [1]_. See `intercepts` for limits and undefined values. The slope is also NaN if
    all scores are equal, or if a threshold separates the classes, because the estimate is then
    infinite [4]_.
    """
    return _coefficients(cells, confidence_level, with_slope=True)


def _coefficients(cells: Cells, confidence_level: float, with_slope: bool) -> Coefficients:
    from scipy.special import ndtri

    note = _reasons(cells, with_slope)
    estimate, error = np.full((2, note.size), np.nan)
    fitted = np.full(cells.scores.size, np.nan)
    is_fitted = note == ""
    if is_fitted.any():
        part = _groups_of(cells, is_fitted)
        estimate[is_fitted], error[is_fitted], of_cells = _fit(part, with_slope)
        fitted[is_fitted[cells.groups]] = of_cells
    reach = ndtri((1.0 + confidence_level) / 2.0) * error
    return Coefficients(estimate, estimate - reach, estimate + reach, error, note, fitted)


def _reasons(cells: Cells, with_slope: bool) -> NDArray[np.str_]:
    """Return why each group has no coefficient; empty for groups with a coefficient."""
    starts, scores = cells.starts[:-1], cells.scores
    has_class = cells.negatives > 0, cells.positives > 0
    note = np.full(starts.size, "", dtype="<U20")
    if not starts.size:
        return note
    if with_slope:
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


def _groups_of(cells: Cells, chosen: NDArray[np.bool_]) -> Cells:
    """Return the cells of some groups."""
    if chosen.all():
        return cells
    kept = chosen[cells.groups]
    starts = np.append(0, np.cumsum(np.diff(cells.starts)[chosen]))
    weights = None if cells.weights is None else cells.weights[:, kept]
    columns = (cells.scores[kept], cells.negatives[kept], cells.positives[kept])
    return Cells(starts, *columns, weights)


def _fit(cells: Cells, with_slope: bool) -> tuple[Floats, Floats, Floats]:
    """Return the maximum likelihood estimate and the standard error of each group.

    The third result has the fitted probability of each cell.

    The method is Newton's with halved steps, for all groups together.
    """
    from scipy.special import expit, log_expit, logit

    amounts, groups, logits = Amounts.of(cells), cells.groups, logit(cells.scores)
    rows, weight = amounts.rows, _sums(cells, amounts.rows)
    offset, columns = logits, np.ones((1, logits.size))
    beta, spread = np.zeros((1, weight.size)), np.ones(weight.size)
    if with_slope:
        # With centered logits of variance 1, the coefficients have the same scale.
        center = _sums(cells, rows * logits) / weight
        centered = logits - center[groups]
        spread = np.sqrt(_sums(cells, rows * centered**2) / weight)
        columns = np.array([columns[0], centered / spread[groups]])
        # The start is the score itself: intercept 0 and slope 1.
        offset, beta = np.zeros_like(logits), np.array([center, spread])

    def predictors(beta: Floats) -> Floats:
        found: Floats = offset + (beta[:, groups] * columns).sum(axis=0)
        return found

    def likelihood(eta: Floats) -> Floats:
        of_cells = amounts.positives * log_expit(eta) + amounts.negatives * log_expit(-eta)
        return _sums(cells, of_cells)

    def moments(weights: Floats) -> Floats:
        of_cells = columns[:, None] * columns * weights
        found: Floats = np.add.reduceat(of_cells, cells.starts[:-1], axis=-1)
        return found

    reached = likelihood(predictors(beta))
    size = np.full(weight.size, np.inf)
    for _ in range(_MOST_STEPS):
        mean = expit(predictors(beta))
        score = np.add.reduceat(
            columns * (amounts.positives - rows * mean), cells.starts[:-1], axis=-1
        )
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
    """Return the inverses of symmetric matrices, shape (1, 1, n) or (2, 2, n)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if matrices.shape[0] == 1:
            return 1.0 / matrices
        (a, b), (_, d) = matrices
        found: Floats = np.array([[d, -b], [-b, a]]) / (a * d - b**2)
        return found


# Expected calibration error ----------------------------------------------------------------------


class Bins(NamedTuple):
    """Bins of the rows of each group, in ascending order of scores.

    Attributes
    ----------
    groups : ndarray of int64, shape (n_bins,)
        Group number of each bin.
    n_rows : ndarray of float64, shape (n_bins,)
        Effective sample size; the number of rows without weights.
    weight : ndarray of float64, shape (n_bins,)
        Weight of the rows of the bin as a share of the weight of the group.
    mean, share : ndarray of float64, shape (n_bins,)
        Mean score, and share of positives.
    expected : ndarray of float64, shape (n_bins,)
        Mean of the absolute difference of `mean` and `share` under perfect calibration.
    is_first : ndarray of bool, shape (n_cells,)
        Whether each cell is the first cell of a bin.
    """

    groups: NDArray[np.intp]
    n_rows: Floats
    weight: Floats
    mean: Floats
    share: Floats
    expected: Floats
    is_first: NDArray[np.bool_]

    def error(self, n_groups: int) -> Floats:
        """Return the expected calibration error of each group."""
        return self._averages(np.abs(self.share - self.mean), n_groups)

    def expected_error(self, n_groups: int) -> Floats:
        """Return the mean of `error` under perfect calibration, by group."""
        return self._averages(self.expected, n_groups)

    def _averages(self, values: Floats, n_groups: int) -> Floats:
        return np.bincount(self.groups, self.weight * values, n_groups).astype(np.float64)


def equal_count_bins(cells: Cells, n_bins: int) -> Bins:
    """Return bins with equal numbers of rows, or equal weights, in each group.

    Rows with equal scores are in the same bin: the bin of the middle row of these rows. Groups with
    few distinct scores have fewer bins.
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
        of_bins / weight[groups[starts[:-1]]],
        _sums(part, rows * cells.scores) / of_bins,
        np.minimum(_sums(part, amounts.positives) / of_bins, 1.0),
        _expected_deviations(part, amounts) / of_bins,
        is_first,
    )


def _expected_deviations(part: Cells, amounts: Amounts) -> Floats:
    """Return the mean absolute deviation of the weight of positives under perfect calibration.

    Large variances have the deviation of a normal variable, ``sqrt(2 variance / pi)``. Other
    numbers of positives have a Poisson-binomial distribution, the discrete Fourier transform of its
    characteristic function. To save time, each of up to 16 parts of a bin has one mean score. With
    weights, each bin has its effective sample size.
    """
    scores, rows = part.scores, amounts.rows
    variance = _sums(part, amounts.squares * scores * (1.0 - scores))
    found = np.sqrt(2.0 * variance / np.pi)
    weight, squares = _sums(part, rows), _sums(part, amounts.squares)
    unit = squares / weight
    small = np.flatnonzero(variance / unit**2 < _NORMAL_VARIANCE)
    # A bin of few rows has few parts, so a block of bins fits into the cache.
    for of_bins in np.array_split(small, max(1, small.size // 512)):
        found[of_bins] = unit[of_bins] * _small_deviations(part, rows, unit, of_bins)
    return found


def _small_deviations(part: Cells, rows: Floats, unit: Floats, bins: NDArray[np.intp]) -> Floats:
    """Return mean absolute deviations of Poisson-binomial variables of small variance."""
    n, mean = np.zeros((2, bins.size, _N_PARTS))
    for place, (first, end) in enumerate(
        zip(part.starts[bins], part.starts[bins + 1], strict=True)
    ):
        of_rows, scores = rows[first:end], part.scores[first:end]
        if end - first > _N_PARTS:
            up_to = np.cumsum(of_rows)
            of_parts = (_N_PARTS * (up_to - of_rows / 2.0) / up_to[-1]).astype(np.intp)
            total = np.bincount(of_parts, of_rows, _N_PARTS).astype(np.float64)
            scores = ratio(np.bincount(of_parts, of_rows * scores, _N_PARTS), total, 0.0)
            of_rows = total
        n[place, : of_rows.size] = of_rows / unit[bins[place]]
        mean[place, : of_rows.size] = scores
    expected = (n * mean).sum(axis=1)
    # The characteristic function of the deviation from the whole number below the mean
    base = np.floor(expected)
    angles = 2.0 * np.pi * np.arange(_N_POINTS // 2 + 1) / _N_POINTS
    log_of_rows = np.log1p(np.minimum(mean, 1.0)[..., None] * np.expm1(1j * angles))
    transform = np.exp((n[..., None] * log_of_rows).sum(axis=1) - 1j * base[:, None] * angles)
    probability = np.fft.irfft(transform.conj(), _N_POINTS, axis=1)
    values = (np.arange(_N_POINTS) + _N_POINTS // 2) % _N_POINTS - _N_POINTS // 2
    deviations = np.abs(values + (base - expected)[:, None])
    found: Floats = np.maximum((probability * deviations).sum(axis=1), 0.0)
    return found


# Test --------------------------------------------------------------------------------------------


class CalibrationTest(NamedTuple):
    """Test of perfect calibration of each group.

    Attributes
    ----------
    spiegelhalter : ndarray of float64, shape (n_groups,)
        Spiegelhalter's z; NaN if its variance is 0.
    statistic : ndarray of float64, shape (n_groups,)
        Statistic of the joint test; 0 if no score is between 0 and 1 and all labels equal the
        scores.
    pvalue : ndarray of float64, shape (n_groups,)
    """

    spiegelhalter: Floats
    statistic: Floats
    pvalue: Floats


def test_calibration(cells: Cells) -> CalibrationTest:
    """Test that rows with the score p are positive with probability p, in each group.

    The statistic uses the sums of ``y - p`` and of ``(y - p) p`` over the rows. Under perfect
    calibration, both sums have the mean 0 and a known covariance matrix. The statistic is the
    quadratic form of both sums with the inverse of the covariance matrix. This score test of the
    model ``P(y = 1) = p + a + b p`` detects a wrong mean and a wrong slope, as Cox's test on the
    logit scale [1]_. Unlike logits, the sums are finite for scores of 0 and 1. Spiegelhalter's z
    [2]_ is the standardized sum of ``(y - p) (1 - 2 p)``, so its square is at most the statistic.

    The null distribution is chi-squared with two degrees of freedom, or one for a single score. If
    the variance of the number of positives is below 10, the function simulates the null
    distribution with a fixed seed: up to 10,000 sets of labels of the group's scores.
    """
    from scipy.special import chdtrc

    amounts, p = Amounts.of(cells), cells.scores
    error, variance = amounts.positives - amounts.rows * p, amounts.squares * p * (1.0 - p)
    total = _sums(cells, variance)
    # Center the scores, so that the two sums are uncorrelated.
    centered = p - ratio(_sums(cells, variance * p), total, 0.5)[cells.groups]
    spread = _sums(cells, variance * centered**2)
    spread[spread <= 1e-20 * total] = 0.0
    found = _quadratic(_sums(cells, error), _sums(cells, error * centered), total, spread)
    # Without variance, any label that differs from its score refutes perfect calibration.
    is_refuted = (total == 0.0) & (_sums(cells, np.abs(error)) > 0.0)
    found[is_refuted] = np.inf
    pvalue = np.asarray(chdtrc(np.where(spread > 0.0, 2.0, 1.0), found), np.float64)
    unit = _sums(cells, amounts.squares) / _sums(cells, amounts.rows)
    for g in np.flatnonzero((total / unit**2 < _LEAST_VARIANCE) & (total > 0.0)):
        part = slice(cells.starts[g], cells.starts[g + 1])
        of_group = p[part], centered[part], amounts.rows[part], amounts.squares[part]
        pvalue[g] = _simulated_pvalue(found[g], *of_group, total[g], spread[g])
    z = _sums(cells, error * (1.0 - 2.0 * p))
    deviation = np.sqrt(_sums(cells, variance * (1.0 - 2.0 * p) ** 2))
    return CalibrationTest(ratio(z, deviation), found, pvalue)


def _quadratic(first: Floats, second: Floats, total: Floats, spread: Floats) -> Floats:
    """Return the sum of the squares of two uncorrelated sums over their variances."""
    found: Floats = ratio(first**2, total, 0.0) + ratio(second**2, spread, 0.0)
    return found


def _simulated_pvalue(
    observed: float,
    p: Floats,
    centered: Floats,
    rows: Floats,
    squares: Floats,
    total: float,
    spread: float,
) -> float:
    """Return the p value of the statistic of a group from simulated labels."""
    if p.size > _MOST_CELLS:
        # Blocks of neighboring scores with equal variance have one mean score.
        block = np.cumsum(squares * p * (1.0 - p)) / total * _MOST_CELLS
        starts = np.append(0, np.flatnonzero(np.diff(np.floor(block))) + 1)
        amount = np.add.reduceat(rows, starts)
        p, centered = (np.add.reduceat(rows * values, starts) / amount for values in (p, centered))
        rows, squares = amount, np.add.reduceat(squares, starts)
    n = np.maximum(np.rint(rows**2 / squares), 1.0)
    per_row = rows / n
    columns = np.column_stack([per_row, per_row * centered])
    rng = np.random.default_rng(0)
    totals, spreads = np.full(_DRAWS, total), np.full(_DRAWS, spread)

    def draw(n_draws: int) -> Floats:
        drawn = rng.binomial(n.astype(np.int64), np.clip(p, 0.0, 1.0), (n_draws, p.size)) - n * p
        first, second = (drawn @ columns).T
        return _quadratic(first, second, totals, spreads)

    return sequential_pvalue(observed, draw, at_once=_DRAWS, enough=_ENOUGH, most_draws=_MOST_DRAWS)
