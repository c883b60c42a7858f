"""Test that rows with equal scores are equally often positive in all groups.

All groups may be miscalibrated in the same way. Perfect calibration in all groups is a special case
of equal calibration.

References
----------
.. [1] Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika
   45(3/4). https://doi.org/10.1093/biomet/45.3-4.562
.. [2] Rao, C. R. (1948). Large sample tests of statistical hypotheses concerning several parameters
   with applications to problems of estimation. Mathematical Proceedings of the Cambridge
   Philosophical Society 44(1). https://doi.org/10.1017/S0305004100023987
.. [3] Boos, D. D. (1992). On generalized score tests. The American Statistician 46(4).
   https://doi.org/10.1080/00031305.1992.10475921
.. [4] Harrell, F. E. (2015). Regression modeling strategies. Springer. Section 2.4.5.
.. [5] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in nonparametric
   factorial designs. Journal of the American Statistical Association 92(440).
   https://doi.org/10.1080/01621459.1997.10473671
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.counts.moments import ratio
from skfedauc.inference.calibration import Amounts
from skfedauc.inference.cluster_calibration import ClusterCells
from skfedauc.inference.simulation import sequential_pvalue

Floats = NDArray[np.float64]

# Newton's method: largest number of steps, largest change of a logit, and size of the last step
_MOST_STEPS, _LONGEST, _SHORTEST = 100, 4.0, 1e-9
# Penalty on the squares of the coefficients, as a share of a row: a curve that rises without limit
# has no maximum of the likelihood.
_PENALTY = 1e-6
# Quantiles of the knots of the curve by number of knots (Harrell), and rows of the smaller class
# for each knot after the second
_KNOTS = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95), 5: (0.05, 0.275, 0.5, 0.725, 0.95)}
_ROWS_PER_KNOT = 30
# Share of the variance of a direction below which the common curve has the direction
_IN_CURVE = 1e-9
# Variance of the number of positives of each group from which the null distribution is chi-squared
_LEAST_VARIANCE = 10.0
# Largest number of groups below this variance whose labels are simulated
_MOST_SIMULATED = 50
# Largest number of simulated sets of labels, larger statistics that suffice, distinct scores of all
# small groups together, and labels drawn at once
_MOST_DRAWS, _ENOUGH, _MOST_CELLS, _AT_ONCE = 10_000, 100, 20_000, 1_000_000
# Largest product of the numbers of groups and clusters for a test of clustered rows
_MOST_PRODUCTS = 10_000_000


class EqualCalibration(NamedTuple):
    """Test of equal calibration of all groups.

    Attributes
    ----------
    statistic : float
    degrees_of_freedom : int
    pvalue : float
        NaN without degrees of freedom, or without one of the classes.
    expected : ndarray of float64, shape (n_groups,)
        Share of positives of each group that the common curve predicts for the scores of the group.
    deviation : ndarray of float64, shape (n_groups,)
        Share of positives minus `expected`, divided by the standard error for a known curve.
    """

    statistic: float
    degrees_of_freedom: int
    pvalue: float
    expected: Floats
    deviation: Floats


def test_equal_calibration(cells: Cells) -> EqualCalibration:
    """Test that the probability of a positive, given the score, is the same in all groups.

    The null hypothesis is a logistic regression of the labels on a curve of ``logit(score)`` that
    all groups have in common. The alternative has another calibration intercept and slope [1]_ in
    each group. The test is the score test [2]_, or with weights the generalized score test [3]_.
    The score test needs the fit of the common curve only, and is defined for groups of one class.

    The curve is a restricted cubic spline [4]_. With at least 90 rows of the smaller class, the
    spline has five knots. The spline has four knots with at least 60 such rows, and three knots
    with at least 30 such rows. With fewer rows, the curve is a line. A curve is necessary because
    the groups can have different scores: if the common curve were a line, a bend would look like
    different lines. Scores of 0 and 1 have logits one unit beyond the other logits.

    The null distribution is chi-squared. If the variance of the number of positives of a group is
    below 10, the function simulates labels of such groups from the common curve, with a fixed seed.
    With more than 50 such groups, the null distribution is the gamma distribution whose mean and
    variance are those of the statistic.
    """
    return _tested(cells, None)


def test_equal_calibration_of_clusters(found: ClusterCells) -> EqualCalibration:
    """Test that the probability of a positive, given the score, is the same in all groups.

    The p value is at least that of `test_equal_calibration`, and at least that of the sum of the
    squares of the scores, with the covariance matrix of clustered rows [3]_ and Box's approximation
    [5]_. The p value is NaN if the product of the numbers of groups and of clusters exceeds 10
    million.
    """
    return _tested(found.of_groups, found)


def _tested(cells: Cells, of_clusters: ClusterCells | None) -> EqualCalibration:
    """Return the test of the groups, with the clusters of the rows or None."""
    from scipy.special import chdtrc, gammaincc

    amounts, logits = Amounts.of(cells), _logits(cells.scores)
    basis = _basis(logits, amounts)
    mean = _fit(basis, amounts)
    efficient = _EfficientScore(cells, amounts, logits, basis, mean)
    errors = amounts.positives - amounts.rows * mean
    statistic = float(efficient.statistics(*efficient.sums(errors))[0])
    expected = ratio(efficient.total(amounts.rows * mean), efficient.total(amounts.rows))
    n_free = efficient.degrees_of_freedom
    deviation = ratio(efficient.total(errors), np.sqrt(efficient.variance), 0.0)
    if n_free < 1 or not (cells.positives.any() and cells.negatives.any()):
        return EqualCalibration(np.nan, n_free, np.nan, expected, deviation)
    unit = efficient.total(amounts.squares) / efficient.total(amounts.rows)
    is_small = efficient.variance / unit**2 < _LEAST_VARIANCE
    if is_small.sum() > _MOST_SIMULATED:
        spread = 2.0 * n_free + efficient.excess
        pvalue = float(gammaincc(n_free**2 / spread, statistic * n_free / spread))
    elif is_small.any():
        pvalue = _simulated_pvalue(statistic, efficient, is_small)
    else:
        pvalue = float(chdtrc(n_free, statistic))
    if of_clusters is not None:
        pvalue = float(np.maximum(pvalue, _pvalue_of_clusters(efficient, of_clusters)))
    return EqualCalibration(statistic, n_free, pvalue, expected, deviation)


# Common curve ------------------------------------------------------------------------------------


def _logits(scores: Floats) -> Floats:
    """Return finite logits; those of 0 and 1 are one unit beyond the others."""
    from scipy.special import logit

    found: Floats = logit(scores)
    is_finite = np.isfinite(found)
    low, high = (found[is_finite].min(), found[is_finite].max()) if is_finite.any() else (0.0, 0.0)
    return np.clip(found, low - 1.0, high + 1.0)


def _basis(logits: Floats, amounts: Amounts) -> Floats:
    """Return orthonormal columns of the curve, shape (n_cells, n_columns)."""
    n_smaller = min(
        of.sum() ** 2 / max(squares.sum(), np.finfo(float).tiny)
        for of, squares in (
            (amounts.negatives, amounts.squared_negatives),
            (amounts.positives, amounts.squared_positives),
        )
    )
    columns = [np.ones_like(logits), logits]
    quantiles = _KNOTS.get(min(2 + int(n_smaller / _ROWS_PER_KNOT), max(_KNOTS)), ())
    order = np.argsort(logits, kind="stable")
    up_to = np.cumsum(amounts.rows[order])
    middle = (up_to - amounts.rows[order] / 2.0) / up_to[-1]
    # Rounding error must not move a knot to the next score.
    places = np.searchsorted(middle, np.array(quantiles) - 1e-9)
    knots = np.unique(logits[order[np.minimum(places, order.size - 1)]])
    if knots.size > 2:
        *inner, before, last = knots.tolist()
        cubes = {knot: np.maximum(logits - knot, 0.0) ** 3 for knot in knots.tolist()}
        for knot in inner:
            bend = cubes[knot] - cubes[before] * (last - knot) / (last - before)
            columns.append(bend + cubes[last] * (before - knot) / (last - before))
    root = np.sqrt(amounts.rows / amounts.rows.sum())
    # Centered columns of the same length, so that dependent columns have small singular values.
    found = np.column_stack(columns)
    found[:, 1:] -= root**2 @ found[:, 1:]
    lengths = np.linalg.norm(root[:, None] * found, axis=0)
    found = found[:, lengths > 0.0] / lengths[lengths > 0.0]
    _, size, rotation = np.linalg.svd(root[:, None] * found, full_matrices=False)
    is_free = size > 1e-8 * size[0]
    orthonormal: Floats = found @ (rotation[is_free].T / size[is_free])
    return orthonormal


def _fit(basis: Floats, amounts: Amounts) -> Floats:
    """Return the probability of a positive of each cell by logistic regression (Newton)."""
    from scipy.special import expit, log_expit

    def likelihood(beta: Floats) -> float:
        eta = basis @ beta
        of_cells = amounts.positives @ log_expit(eta) + amounts.negatives @ log_expit(-eta)
        return float(of_cells - _PENALTY * beta @ beta / 2.0)

    beta = np.zeros(basis.shape[1])
    reached = likelihood(beta)
    penalty = _PENALTY * np.eye(beta.size)
    for _ in range(_MOST_STEPS):
        mean = expit(basis @ beta)
        score = basis.T @ (amounts.positives - amounts.rows * mean) - _PENALTY * beta
        information = (basis.T * (amounts.rows * mean * (1.0 - mean))) @ basis + penalty
        step = np.linalg.solve(information, score)
        size = np.abs(basis @ step).max()
        if size < _SHORTEST:
            break
        step *= min(1.0, _LONGEST / size)
        for _ in range(30):
            found = likelihood(beta + step)
            if found >= reached - 1e-12 * abs(reached):
                break
            step /= 2.0
        beta, reached = beta + step, found
    fitted: Floats = expit(basis @ beta)
    return fitted


# Score test --------------------------------------------------------------------------------------


class _EfficientScore:
    """Score of an intercept and a slope of each group, given the common curve.

    The score of a group has two parts: the sum of the errors ``y - mean``, and the sum of the
    errors times the centered logits, each divided by the standard deviation. The efficient score
    subtracts the part that a change of the curve explains. The covariance matrix of the efficient
    score is the identity plus a matrix of low rank, so the statistic takes little time with many
    groups.

    Attributes
    ----------
    degrees_of_freedom : int
    variance : ndarray of float64, shape (n_groups,)
        Variance of the weight of the positives of each group.
    excess : float
        Variance of the statistic beyond that of the chi-squared distribution, for a known curve:
        the sum of the fourth cumulants of the errors times the squares of their leverages.
    """

    def __init__(
        self, cells: Cells, amounts: Amounts, logits: Floats, basis: Floats, mean: Floats
    ) -> None:
        self.cells, self.amounts, self.basis, self.mean = cells, amounts, basis, mean
        binomial = mean * (1.0 - mean)
        information, variance = amounts.rows * binomial, amounts.squares * binomial
        self.variance = self.total(variance)
        center = ratio(self.total(variance * logits), self.variance, 0.0)
        centered = logits - center[cells.groups]
        spread = self.total(variance * centered**2)
        spread[spread <= 1e-12 * self.variance * np.square(np.ptp(logits))] = 0.0
        of_groups = np.sqrt(ratio(1.0, self.variance, 0.0)), np.sqrt(ratio(1.0, spread, 0.0))
        # Columns of each cell: those of the intercept and of the slope of its group
        self.columns = np.column_stack(
            [of_groups[0][cells.groups], of_groups[1][cells.groups] * centered]
        )
        fourth = ratio(amounts.squares**3, amounts.rows**2, 0.0)
        fourth *= binomial * (1.0 - 6.0 * binomial)
        self.excess = float(fourth @ (self.columns**2).sum(axis=1) ** 2)
        self.of_curve = (basis.T * variance) @ basis
        with_curve = self._by_group(information), self._by_group(variance)
        inverse = np.linalg.pinv((basis.T * information) @ basis, hermitian=True)
        self.explained, self.shared = with_curve[0] @ inverse, with_curve[1]
        self._rotation, corner = np.linalg.qr(np.column_stack([self.explained, self.shared]))
        one = np.eye(basis.shape[1])
        inner = np.block([[self.of_curve, -one], [-one, 0.0 * one]])
        low_rank = corner @ inner @ corner.T
        self._values, self._vectors = np.linalg.eigh(
            np.eye(len(low_rank)) + (low_rank + low_rank.T) / 2.0
        )
        is_known = np.concatenate([of > 0.0 for of in of_groups])
        self.degrees_of_freedom = int(is_known.sum() - (self._values <= _IN_CURVE).sum())

    def total(self, values: Floats) -> Floats:
        """Return the sum over the cells of each group, on the last axis."""
        found: Floats = np.add.reduceat(values, self.cells.starts[:-1], axis=-1)
        return found

    def _by_group(self, values: Floats) -> Floats:
        """Return products of the groups' and the curve's columns, (2 n_groups, n_columns)."""
        parts = [self.total((values * own * self.basis.T)[None])[0].T for own in self.columns.T]
        return np.concatenate(parts)

    def sums(self, errors: Floats) -> tuple[Floats, Floats]:
        """Return the scores of the groups and of the curve for errors of the cells."""
        errors = np.atleast_2d(errors)
        of_groups = [self.total(errors * own) for own in self.columns.T]
        return np.concatenate(of_groups, axis=1), errors @ self.basis

    def statistics(self, of_groups: Floats, of_curve: Floats) -> Floats:
        """Return the statistic of each row of scores."""
        z = of_groups - of_curve @ self.explained.T
        inside = z @ self._rotation
        is_free = self._values > _IN_CURVE
        along = (inside @ self._vectors)[:, is_free] ** 2 / self._values[is_free]
        found: Floats = (z**2).sum(axis=1) - (inside**2).sum(axis=1) + along.sum(axis=1)
        return np.maximum(found, 0.0)


def _simulated_pvalue(
    observed: float, efficient: _EfficientScore, is_small: NDArray[np.bool_]
) -> float:
    """Return the p value of the statistic, with simulated labels of the small groups.

    The scores of the other groups are normal.
    """
    cells, amounts, n_groups = efficient.cells, efficient.amounts, is_small.size
    in_small = is_small[cells.groups]
    labels = _Labels.of(efficient, in_small, max(_MOST_CELLS // int(is_small.sum()), 10))
    # Large groups: the scores of groups are standard normal, and the scores of the curve follow.
    large = np.flatnonzero(np.tile(~is_small, 2) & (np.abs(efficient.shared).sum(axis=1) > 0.0))
    shared = efficient.shared[large]
    weights = (amounts.squares * efficient.mean * (1.0 - efficient.mean))[~in_small]
    basis = efficient.basis[~in_small]
    rest, vectors = np.linalg.eigh((basis.T * weights) @ basis - shared.T @ shared)
    residual = vectors * np.sqrt(np.maximum(rest, 0.0))
    rng = np.random.default_rng(0)
    n_at_once = int(np.clip(_AT_ONCE // max(labels.n.size, 1), 10, 200))

    def draw(n_draws: int) -> Floats:
        of_groups = np.zeros((n_draws, 2 * n_groups))
        of_groups[:, large] = rng.normal(size=(n_draws, large.size))
        of_curve = of_groups[:, large] @ shared + rng.normal(size=(n_draws, rest.size)) @ residual.T
        drawn = rng.binomial(labels.n, labels.mean, (n_draws, labels.n.size))
        errors = labels.per_row * (drawn - labels.n * labels.mean)
        for part, own in enumerate(labels.columns):
            sums = np.add.reduceat(errors * own, labels.starts, axis=1)
            of_groups[:, part * n_groups + labels.groups] = sums
        return efficient.statistics(of_groups, of_curve + errors @ labels.basis)

    return sequential_pvalue(
        observed, draw, at_once=n_at_once, enough=_ENOUGH, most_draws=_MOST_DRAWS
    )


def _pvalue_of_clusters(efficient: _EfficientScore, found: ClusterCells) -> float:
    """Return the p value of the sum of the squared scores of clustered rows.

    The statistic over its estimated mean has approximately an F distribution. Box's approximation
    [5]_ gives the numerator degrees of freedom, from the covariance matrix of the scores.
    Satterthwaite's approximation gives the denominator degrees of freedom: the variance of each
    score has k - 1 degrees of freedom, with the effective number k of clusters of the group.
    """
    from scipy.special import fdtrc

    n_groups, n_clusters = found.clusters.n_groups, found.clusters.n_clusters
    if n_groups * n_clusters > _MOST_PRODUCTS:
        return float("nan")
    amounts, mean = found.amounts, efficient.mean[found.place]
    errors = amounts.positives - amounts.rows * mean
    of_curve = [
        np.bincount(found.cluster, errors * column[found.place], n_clusters)
        for column in efficient.basis.T
    ]
    # Efficient score of each cluster: the intercepts of all groups, and then the slopes
    scores = -(efficient.explained @ np.array(of_curve))
    of_unit = found.group.astype(np.int64) * n_clusters + found.cluster
    for part, column in enumerate(efficient.columns.T):
        own = np.bincount(of_unit, errors * column[found.place], n_groups * n_clusters)
        scores[part * n_groups : (part + 1) * n_groups] += own.reshape(n_groups, n_clusters)
    has_part = [efficient.total(np.abs(column)) > 0.0 for column in efficient.columns.T]
    scores = scores[np.concatenate(has_part)]
    sums = found.sums(errors, amounts.rows * mean * (1.0 - mean))
    of_cluster = np.bincount(sums.cluster, sums.weight, n_clusters)
    n_effective = float(of_cluster.sum() ** 2 / max((of_cluster**2).sum(), 1e-300))
    freedom = np.tile(np.maximum(sums.n_effective_clusters - 1.0, 1e-9), 2)
    freedom = freedom[np.concatenate(has_part)]
    scale = n_effective / (n_effective - 1.0) if n_effective > 2.0 else np.nan
    variances = scale * (scores**2).sum(axis=1)
    # Both matrices of products have the same sum of squares.
    is_smaller = scores.shape[0] <= n_clusters
    products = scale * (scores @ scores.T if is_smaller else scores.T @ scores)
    expected, squares = float(variances.sum()), float((products**2).sum())
    if not expected > 0.0:
        return float("nan")
    of_variance = expected**2 / float((variances**2 / freedom).sum())
    statistic = float((scores.sum(axis=1) ** 2).sum()) / expected
    return float(fdtrc(expected**2 / squares, min(of_variance, n_effective - 1.0), statistic))


class _Labels(NamedTuple):
    """Rows whose labels are simulated, with neighboring scores of a group together.

    Attributes
    ----------
    n : ndarray of int64, shape (n_cells,)
        Number of rows, or effective sample size.
    per_row, mean : ndarray of float64, shape (n_cells,)
        Weight of each of these rows, and probability of a positive.
    columns : ndarray of float64, shape (2, n_cells)
    basis : ndarray of float64, shape (n_cells, n_columns)
        Columns of the groups and of the curve.
    starts, groups : ndarray of int64, shape (n_small_groups,)
        First cell and number of each group.
    """

    n: NDArray[np.int64]
    per_row: Floats
    mean: Floats
    columns: Floats
    basis: Floats
    starts: NDArray[np.intp]
    groups: NDArray[np.intp]

    @classmethod
    def of(cls, efficient: _EfficientScore, chosen: NDArray[np.bool_], n_parts: int) -> _Labels:
        """Return the chosen cells, with up to `n_parts` cells of each group."""
        groups, mean = efficient.cells.groups[chosen], efficient.mean[chosen]
        rows, squares = efficient.amounts.rows[chosen], efficient.amounts.squares[chosen]
        variance = squares * mean * (1.0 - mean)
        is_first = np.append(True, np.diff(groups) != 0)
        place = np.cumsum(is_first) - 1
        size = np.bincount(place)
        # Parts of a group have equal variances. Groups with few cells keep all cells.
        up_to = np.cumsum(variance)
        before = (up_to - variance)[is_first][place]
        whole = np.bincount(place, variance)[place]
        part = np.floor(n_parts * (up_to - variance / 2.0 - before) / np.maximum(whole, 1e-300))
        part = np.where(size[place] <= n_parts, np.arange(place.size), part)
        starts = np.flatnonzero(is_first | np.append(True, np.diff(part) != 0))
        of_rows = np.add.reduceat(rows, starts)
        of_squares = np.add.reduceat(squares, starts)
        amount = np.add.reduceat(variance, starts)
        is_even = amount <= 0.0
        weight = np.where(np.repeat(is_even, np.diff(np.append(starts, rows.size))), rows, variance)
        total = np.add.reduceat(weight, starts)
        n = np.maximum(np.rint(of_rows**2 / of_squares), 1.0)
        first = np.searchsorted(starts, np.flatnonzero(is_first))
        return cls(
            n.astype(np.int64),
            of_rows / n,
            np.clip(np.add.reduceat(rows * mean, starts) / of_rows, 0.0, 1.0),
            np.add.reduceat(efficient.columns[chosen].T * weight, starts, axis=1) / total,
            (np.add.reduceat(efficient.basis[chosen].T * weight, starts, axis=1) / total).T,
            first,
            groups[starts][first],
        )
