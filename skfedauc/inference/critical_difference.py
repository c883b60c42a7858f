"""Critical difference between the observed AUCs of two equally good models.

References
----------
.. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below the
   receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
   https://doi.org/10.1016/0022-2496(75)90001-2
.. [2] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
   operating characteristic (ROC) curve. Radiology 143(1).
   https://doi.org/10.1148/radiology.143.1.7063747
.. [3] Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of
   Mathematical Statistics 27(4). https://doi.org/10.1214/aoms/1177728074
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.inference.limits import check_confidence_level
from skfedauc.inference.pair_moments import PairMoments, binormal_moments
from skfedauc.inference.quantiles import normal_quantile, t_quantile

Floats = NDArray[np.float64]

# Largest number of rows of simulated test sets in memory at a time.
_ROWS_AT_ONCE = 2_000_000


def auc_critical_difference(
    auc: float | None,
    n_positives: int,
    n_negatives: int,
    *,
    confidence_level: float = 0.95,
    distribution: str | tuple[Any, Any] = "binormal",
    correlation: float = 0.0,
    method: Literal["exact", "simulate"] = "exact",
    random_state: Any = None,
    n_simulations: int = 5000,
) -> float:
    """Return the critical difference between the observed AUCs of two equally good models.

    Two equally good models' observed AUCs differ by more than the critical difference with
    probability ``1 - confidence_level``. The function assumes two independent test sets of
    independent rows, with the same numbers of positives and of negatives. Pass `correlation` for
    two models on the same rows.

    Parameters
    ----------
    auc : float or None
        The true AUC of both models: between 0 and 1, or from 0.5 to below 1 if `distribution` is
        "uniform". Must be None if `distribution` holds pilot rows, which give an estimate of the
        AUC.
    n_positives, n_negatives : int
        Number of rows of each class in a test set.
    confidence_level : float, default=0.95
        Probability that the observed difference is at most the critical difference.
    distribution : {"binormal", "uniform"} or (y_true, y_score), default="binormal"
        Distribution of the scores, on which the variance of the AUC depends. "binormal": normal in
        both classes with the same standard deviation. "uniform": negatives uniform on [0, 1] and
        positives uniform on [2 auc - 1, 1], as in `make_uniform_scores`. A tuple: the empirical
        distribution of pilot rows, as two arrays of labels and scores of shape (n_rows,). Labels
        are in {0, 1}, {-1, 1} or booleans, with at least two rows of each class.
    correlation : float, default=0.0
        Correlation of the two observed AUCs, from 0 to below 1. The correlation is above 0 for two
        models on the same rows, and increases with the similarity of the models. The critical
        difference is largest with the correlation 0.
    method : {"exact", "simulate"}, default="exact"
        "exact" combines the exact variance of an AUC with a normal approximation for the
        difference. "simulate" draws test sets and returns the quantile of the simulated
        differences. Use "simulate" with few rows of a class or an AUC near 1, where differences are
        not normal.
    random_state : int, RandomState instance or None, default=None
        Seed of the simulation.
    n_simulations : int, default=5000
        Number of pairs of test sets to draw. With 5,000 pairs the standard error of the result
        is about 1.3 % of the result at the default level.

    Returns
    -------
    float
        The critical absolute difference.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. If the pilot rows are too few or too well separated for
        an estimate of the variance of their AUC.

    See Also
    --------
    auc_difference_pvalue : The p value of the difference between two observed AUCs.
    compare_candidates : The candidates of a search that are tied with the best.
    make_uniform_scores : Rows with uniform scores.
    compare_models : Compare models on the same rows.
    rows_needed : Number of rows that a study needs.

    Notes
    -----
    The variance of the AUC A of m positives and n negatives is exactly [1]_ [2]_ ::

        V = [H - A^2 + (m - 1)(Q1 - A^2) + (n - 1)(Q2 - A^2)] / (m n)

    where Q1 is the probability that two positives both outrank the same negative, and Q2 is the
    probability that a positive outranks two negatives. Without ties, H equals A. With ties, H is A
    minus a quarter of the share of tied pairs. The result is ``z sqrt(2 V (1 - correlation))`` with
    the normal quantile z at (1 + confidence_level) / 2.

    With normal scores ``Q1 = Q2 = Phi(h) - 2 T(h, 1 / sqrt(3))``, where Phi is the normal
    distribution function, ``h = Phi^-1(A)`` and T is Owen's function [3]_. With uniform scores
    ``Q1 = (1 + 2a) / 3`` and ``Q2 = (1 + a + a^2) / 3``, where ``a = 2A - 1``.

    *With few positives, uniform scores give critical differences that are too small.* At an AUC of
    0.8, the ratio of the binormal to the uniform critical difference is 1.3 with 200 positives and
    800 negatives. The ratio is 1.8 with 10 positives and 990 negatives, and 0.94 with 500 rows of
    each class. On normal scores, a difference exceeds the uniform "5 %" critical difference too
    often. The probability is 23 % for AUC 0.8, 50 positives and 950 negatives, and 41 % for AUC
    0.9, 10 positives and 990 negatives.

    With pilot rows, unbiased estimates replace H, Q1, Q2 and A^2, and z is a quantile of Student's
    t with the degrees of freedom of the estimated variance (Satterthwaite). Simulations used test
    sets as large as the pilot. With 10 positives, differences exceed the 5 % critical difference in
    5 to 8 % of cases at an AUC of 0.7 and 0.8. The share is 13 to 16 % at an AUC of 0.9, and 18 to
    21 % at an AUC of 0.95. With 50 positives, differences exceed the critical difference in 4 to
    9 % of cases. If the AUC is large and positives are few, pass "binormal" with the AUC instead.

    "simulate" draws test sets from the distribution, or from the pilot rows with replacement within
    each class. With pilot rows, "simulate" multiplies the simulated quantile by the ratio of
    Student's t quantile to the normal quantile. The simulation obtains a correlation from equal
    scores. The second model gives each row the score of the first model with some probability, and
    an independent score otherwise. The probability is such that the two AUCs have exactly the
    required correlation. The simulated differences come from few rows, whereas real models differ
    slightly in every row. With 10 positives the result is up to 1.05 times the exact result at a
    correlation of 0.75, and up to 1.3 times at 0.95. Prefer "exact" at such high correlations.

    References
    ----------
    .. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below
       the receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
       receiver operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747
    .. [3] Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of
       Mathematical Statistics 27(4). https://doi.org/10.1214/aoms/1177728074

    Examples
    --------
    Two models of AUC 0.8 on test sets of 200 positives and 800 negatives:

    >>> from skfedauc import auc_critical_difference
    >>> round(auc_critical_difference(0.8, 200, 800), 3)
    0.048
    >>> round(auc_critical_difference(0.8, 200, 800, distribution="uniform"), 3)
    0.038
    >>> round(auc_critical_difference(0.8, 200, 800, correlation=0.75), 3)
    0.024
    """
    m, n, correlation = _check_test_set(n_positives, n_negatives, correlation)
    confidence_level = check_confidence_level(confidence_level)
    _input.check_option("method", method, ("exact", "simulate"))
    population = _population(auc, distribution)
    quantile = population.quantile((1 - confidence_level) / 2, m, n)
    if method == "exact":
        variance = _positive(population.estimated.variance(m, n), distribution)
        return quantile * math.sqrt(2 * variance * (1 - correlation))
    n_simulations = _input.check_whole_number(n_simulations, "n_simulations", 2)
    _positive(population.drawn.variance(m, n), distribution)
    same = population.drawn.share_of_same_scores(m, n, correlation)
    random = check_random_state(random_state)
    differences = _simulated_differences(population, m, n, same, n_simulations, random)
    wider = quantile / normal_quantile((1 - confidence_level) / 2)
    return float(np.quantile(np.abs(differences), confidence_level)) * wider


def auc_difference_pvalue(
    auc_a: float,
    auc_b: float,
    n_positives: int,
    n_negatives: int,
    *,
    distribution: str | tuple[Any, Any] = "binormal",
    correlation: float = 0.0,
) -> float:
    """Return the p value of the null hypothesis that two observed AUCs have equal true AUCs.

    Use this function for published AUCs. If the scores of both models on the same rows are
    available, use `compare_models`.

    Parameters
    ----------
    auc_a, auc_b : float
        The observed AUCs, from 0 to 1.
    n_positives, n_negatives : int
        Number of rows of each class in a test set.
    distribution : {"binormal", "uniform"} or (y_true, y_score), default="binormal"
        Distribution of the scores, as in `auc_critical_difference`. "binormal" and "uniform" have
        the mean of the two AUCs as their AUC; a tuple holds pilot rows.
    correlation : float, default=0.0
        Correlation of the two observed AUCs, from 0 to below 1. The correlation is above 0 for two
        models on the same rows.

    Returns
    -------
    float
        Two-sided p value.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    auc_critical_difference : The difference that has a p value of 5 %.
    compare_models : Paired comparison of models on the same rows.

    Notes
    -----
    The test statistic is the difference divided by ``sqrt(2 V (1 - correlation))``, with the
    variance V of an AUC as in `auc_critical_difference`. The null distribution of the statistic is
    normal (Student's t with pilot rows). Simulations used normal scores, AUCs of 0.7 to 0.95, and
    10/40 to 50/950 positives/negatives. Without a true difference, the p value is below 5 % in 1 to
    6 % of cases.

    Examples
    --------
    >>> from skfedauc import auc_difference_pvalue
    >>> round(auc_difference_pvalue(0.82, 0.78, 200, 800), 3)
    0.1
    """
    m, n, correlation = _check_test_set(n_positives, n_negatives, correlation)
    for name, auc in (("auc_a", auc_a), ("auc_b", auc_b)):
        if not _input.is_number(auc) or not 0 <= auc <= 1:
            raise ValueError(f"{name} must be a number from 0 to 1; got {_words.shortened(auc)}.")
    center = (float(auc_a) + float(auc_b)) / 2
    known = isinstance(distribution, str)
    if known and auc_a == auc_b and center in (0, 1):
        return 1.0
    population = _population(center if known else None, distribution)
    variance = _positive(population.estimated.variance(m, n), distribution)
    ratio = abs(auc_a - auc_b) / math.sqrt(2 * variance * (1 - correlation))
    return 2 * population.tail(ratio, m, n)


def _check_test_set(n_positives: Any, n_negatives: Any, correlation: Any) -> tuple[int, int, float]:
    m = _input.check_whole_number(n_positives, "n_positives")
    n = _input.check_whole_number(n_negatives, "n_negatives")
    if not _input.is_number(correlation) or not 0 <= correlation < 1:
        raise ValueError(
            "correlation must be a number from 0 to below 1; got "
            f"{_words.shortened(correlation)}. The AUCs of two models on "
            "the same rows have a positive correlation; with independent test sets it is 0."
        )
    return m, n, float(correlation)


class _Population(NamedTuple):
    """Score distributions of both classes.

    Attributes
    ----------
    estimated : PairMoments
        Moments of the distribution; with pilot rows, unbiased estimates of the moments.
    drawn : PairMoments
        Moments of the scores that `draw` returns.
    draw : callable
        Function of a random state, a flag for positives and a shape, which returns an array of
        scores.
    pilot : tuple of int or None
        Numbers of positives and of negatives in the pilot rows; None for a known distribution.
    """

    estimated: PairMoments
    drawn: PairMoments
    draw: Callable[[np.random.RandomState, bool, tuple[int, int]], Floats]
    pilot: tuple[int, int] | None = None

    def degrees_of_freedom(self, m: int, n: int) -> float:
        """Degrees of freedom of the estimated variance of an AUC, by Satterthwaite's formula."""
        if self.pilot is None:
            return math.inf
        of_positives = max(self.estimated.same_positive, 0.0) / m
        of_negatives = max(self.estimated.same_negative, 0.0) / n
        least = min(self.pilot) - 1.0
        if of_positives + of_negatives == 0:
            return least
        squares = of_positives**2 / (self.pilot[0] - 1) + of_negatives**2 / (self.pilot[1] - 1)
        return max((of_positives + of_negatives) ** 2 / squares, least)

    def quantile(self, tail: float, m: int, n: int) -> float:
        """Upper quantile of a difference divided by its standard error."""
        degrees_of_freedom = self.degrees_of_freedom(m, n)
        known = math.isinf(degrees_of_freedom)
        return normal_quantile(tail) if known else float(t_quantile(tail, degrees_of_freedom))

    def tail(self, ratio: float, m: int, n: int) -> float:
        """Probability that a difference divided by its standard error exceeds `ratio`."""
        from scipy.special import ndtr, stdtr

        degrees_of_freedom = self.degrees_of_freedom(m, n)
        return float(
            ndtr(-ratio) if math.isinf(degrees_of_freedom) else stdtr(degrees_of_freedom, -ratio)
        )


def _population(auc: Any, distribution: Any) -> _Population:
    if isinstance(distribution, str) and distribution in ("binormal", "uniform"):
        is_uniform = distribution == "uniform"
        lowest = 0.5 if is_uniform else 0.0
        if not _input.is_number(auc) or not lowest <= auc < 1 or auc == 0:
            limits = "from 0.5 to below 1" if is_uniform else "between 0 and 1"
            hint = ""
            if _input.is_number(auc) and auc in (0, 1):
                hint = " The variance of a perfect AUC is 0."
            elif _input.is_number(auc) and 0 < auc < 0.5:
                hint = " The result is the same for 1 - auc with the classes exchanged."
            elif auc is None:
                hint = " It may be None only if distribution=(y_true, y_score)."
            raise ValueError(f"auc must be a number {limits}; got {_words.shortened(auc)}.{hint}")
        return _uniform(float(auc)) if is_uniform else _binormal(float(auc))
    if (
        isinstance(distribution, str)
        or not isinstance(distribution, tuple | list)
        or len(distribution) != 2
    ):
        is_name = isinstance(distribution, str)
        got = _words.shortened(distribution) if is_name else type(distribution).__name__
        raise ValueError(
            "distribution must be 'binormal', 'uniform' or a tuple (y_true, y_score) of the rows "
            f"of a model; got {got}."
        )
    if auc is not None:
        raise ValueError(
            "auc must be None with distribution=(y_true, y_score), since the AUC is estimated from "
            f"these rows; got {_words.shortened(auc)}. To choose an AUC, pass "
            "distribution='binormal'."
        )
    return _of_rows(*distribution)


def _uniform(auc: float) -> _Population:
    """Uniform scores: negatives on [0, 1], positives on [2 auc - 1, 1]."""
    lowest = 2 * auc - 1
    # Compute (1 + 2a) / 3 - A^2 and (1 + a + a^2) / 3 - A^2 without cancellation.
    moments = PairMoments(
        auc * (1 - auc), (1 - lowest) * (1 + 3 * lowest) / 12, (1 - lowest) ** 2 / 12
    )

    def draw(random: np.random.RandomState, positive: bool, shape: tuple[int, int]) -> Floats:
        even = random.random_sample(shape)
        return lowest + (1 - lowest) * even if positive else even

    return _Population(moments, moments, draw)


def _binormal(auc: float) -> _Population:
    """Normal scores with the same standard deviation in both classes."""
    from scipy.special import ndtri

    separation, moments = float(ndtri(auc)), binormal_moments(auc)

    def draw(random: np.random.RandomState, positive: bool, shape: tuple[int, int]) -> Floats:
        normal = random.standard_normal(shape)
        return normal + math.sqrt(2) * separation if positive else normal

    return _Population(moments, moments, draw)


def _of_rows(y_true: Any, y_score: Any) -> _Population:
    """Empirical distribution of the scores of pilot rows."""
    counts = ScoreCounts.from_predictions(y_true, y_score)
    m, n = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    if m < 2 or n < 2:
        raise ValueError(
            f"distribution must be rows with at least two positives and two negatives; got {m} and "
            f"{n}. Pass distribution='binormal' with an AUC."
        )
    positives, negatives = (
        of_class.astype(np.float64) for of_class in (counts.cells.positives, counts.cells.negatives)
    )
    # `beaten`: number of negatives that a positive at each score outranks. `beating`: number of
    # positives that outrank a negative at each score. Ties count one half.
    beaten = np.cumsum(negatives) - negatives / 2
    beating = m - np.cumsum(positives) + positives / 2
    total = float(positives @ beaten)
    squares = total - float(positives @ negatives) / 4
    same_positive = float(positives @ beaten**2)
    same_negative = float(negatives @ beating**2)

    distinct = total**2 - same_positive - same_negative + squares
    squared_auc = distinct / (m * (m - 1) * n * (n - 1))
    estimated = PairMoments(
        squares / (m * n) - squared_auc,
        (same_negative - squares) / (n * m * (m - 1)) - squared_auc,
        (same_positive - squares) / (m * n * (n - 1)) - squared_auc,
    )
    squared_auc = (total / (m * n)) ** 2
    drawn = PairMoments(
        squares / (m * n) - squared_auc,
        same_negative / (n * m**2) - squared_auc,
        same_positive / (m * n**2) - squared_auc,
    )
    # Draw ranks instead of scores. Ranks begin at 2, because scores of 0 and 1 look like labels.
    place = np.arange(positives.size) + 2.0
    of_class = np.repeat(place, negatives.astype(int)), np.repeat(place, positives.astype(int))

    def draw(random: np.random.RandomState, positive: bool, shape: tuple[int, int]) -> Floats:
        places = of_class[positive]
        return places[random.randint(places.size, size=shape)]

    return _Population(estimated, drawn, draw, (m, n))


def _positive(variance: float, distribution: Any) -> float:
    """Return the variance; raise a ValueError if the pilot rows cannot estimate the variance."""
    if not isinstance(distribution, str) and not variance > 1e-15:
        raise ValueError(
            "distribution=(y_true, y_score) must be rows that determine the variance of the AUC, "
            "but the variance cannot be estimated: there are too few rows, or the classes are too "
            "well separated. Pass distribution='binormal' with the AUC that you expect."
        )
    return variance


def _simulated_differences(
    population: _Population,
    m: int,
    n: int,
    same: float,
    n_simulations: int,
    random: np.random.RandomState,
) -> Floats:
    """Differences between the AUCs of simulated pairs of test sets.

    In each pair, a share `same` of the rows has the same score.
    """
    at_once = max(1, _ROWS_AT_ONCE // (2 * (m + n)))
    differences = []
    for start in range(0, n_simulations, at_once):
        size = min(at_once, n_simulations - start)
        pairs = np.empty((size, 2, m + n))
        for positive, rows in ((True, slice(m)), (False, slice(m, None))):
            shape = (size, m if positive else n)
            pairs[:, 0, rows] = population.draw(random, positive, shape)
            pairs[:, 1, rows] = population.draw(random, positive, shape)
        if same:
            kept = random.random_sample((size, m + n)) < same
            np.copyto(pairs[:, 1], pairs[:, 0], where=kept)
        auc = _aucs_of_test_sets(pairs.reshape(2 * size, m + n), m)
        differences.append(auc[0::2] - auc[1::2])
    return np.concatenate(differences)


def _aucs_of_test_sets(scores: Floats, m: int) -> Floats:
    """AUC of each row of a matrix of scores whose first m columns hold the positives."""
    n_sets, n_rows = scores.shape
    counts = ScoreCounts.from_predictions(
        np.tile(np.arange(n_rows) < m, n_sets),
        scores.ravel(),
        groups=np.repeat(np.arange(n_sets), n_rows),
    )
    auc: Floats = counts.concordance.u2 / (2.0 * m * (n_rows - m))
    return auc
