"""Decisions from scores or predictions, and tests of equal rates of decisions.

Decisions are a `ScoreCounts` with the score 1 for rows with a positive prediction, and 0 for other
rows. Such a `ScoreCounts` holds counts by group, decision and class, and can merge with the
decisions on other rows.

References
----------
.. [1] Pearson, K. (1900). On the criterion that a given system of deviations from the probable in
   the case of a correlated system of variables is such that it can be reasonably supposed to have
   arisen from random sampling. Philosophical Magazine 50(302).
   https://doi.org/10.1080/14786440009463897
.. [2] Cochran, W. G. (1954). Some methods for strengthening the common chi-squared tests.
   Biometrics 10(4). https://doi.org/10.2307/3001616
.. [3] Rao, J. N. K. and Scott, A. J. (1992). A simple method for the analysis of clustered binary
   data. Biometrics 48(2). https://doi.org/10.2307/2532311
.. [4] Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78(2).
   https://doi.org/10.1093/biomet/78.2.301
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.audit.rates import RateCounts
from skfedauc.counts import DisclosureError, ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.inference.rates import ClusterSums

if TYPE_CHECKING:
    from fairlearn.metrics import MetricFrame

Floats = NDArray[np.float64]

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate")
# Least expected count for the chi-squared distribution (Cochran's rule)
_LEAST_EXPECTED = 5.0
# Simulation of the null distribution: largest number of tables, number of large statistics after
# which it stops, and largest number of counts in memory
_MOST_DRAWS, _ENOUGH, _MOST_DRAWN = 19_999, 1_000, 500_000
# Number of points for the distributions of the largest and the smallest share
_N_SHARES = 2_000
# Largest number of distinct group sizes without rounding
_MOST_SIZES = 300


def bin_of_threshold(counts: ScoreCounts, threshold: float) -> tuple[float, float] | None:
    """Return the bin with scores on both sides of the threshold, or None.

    Without such a bin, the threshold decides on every row. The ends of the result are edges. The
    bin contains the lower end, and does not contain the upper end. Overlapping bins are a single
    bin here.
    """
    if counts.ranges is None:
        return None
    low, high = counts.ranges
    divided = (low < threshold) & (threshold <= high)
    if not divided.any():
        return None
    return float(low[divided].min()), float(np.nextafter(high[divided].max(), np.inf))


def default_threshold(counts: ScoreCounts) -> float | None:
    """Return 0.5 for probabilities, or None for other scores and if a bin has both decisions."""
    scores = counts.cells.scores if counts.ranges is None else counts.ranges
    are_probabilities = not scores.size or bool(scores.min() >= 0 and scores.max() <= 1)
    return 0.5 if are_probabilities and bin_of_threshold(counts, 0.5) is None else None


def are_decisions(counts: ScoreCounts) -> bool:
    """Return whether exact scores are decisions: 0 and 1, or -1 and 0 for the other class."""
    scores = counts.cells.scores
    return bool(np.isin(scores, (0.0, 1.0)).all() or np.isin(scores, (-1.0, 0.0)).all())


def threshold_of_scores(threshold: float, method: str, is_other: bool) -> float:
    """Return the threshold on the scale of an estimator's scores.

    Parameters
    ----------
    threshold : float
        Threshold on the probability or on the decision value of the positive class.
    method : str
        Method of the estimator that returns the scores.
    is_other : bool
        Whether the scores are minus those of the other class, ``classes_[1]``. These are minus
        probabilities of ``predict_proba``, or 0 and -1 of ``predict``.
    """
    return threshold - 1.0 if is_other and method in ("predict_proba", "predict") else threshold


def at_threshold(counts: ScoreCounts, threshold: float) -> ScoreCounts:
    """Return the decisions that select rows with a score of at least the threshold.

    Raises
    ------
    DisclosureError
        If the threshold is within a bin or range of binned scores.
    """
    bin_ = bin_of_threshold(counts, threshold)
    if bin_ is not None:
        noun, mend = "bin", "a threshold that is an edge of a bin"
        if counts.disclosure.bins is None:
            noun, mend = "range", "counts by bins that were made without min_count and max_cells"
        raise DisclosureError(
            f"the decisions at threshold={threshold:g} are unknown: it is within a {noun} of "
            f"scores, from {bin_[0]} to {bin_[1]}. Pass {mend}, "
            "decisions= with counts of the decisions, or threshold=None to audit the ranking alone."
        )
    # All scores of a bin are on the same side of the threshold.
    exact, _ = counts.extremes()
    return exact.map_scores(lambda scores: (scores >= threshold).astype(np.float64))


def check_decisions(decisions: Any, counts: ScoreCounts, has_clusters: bool) -> ScoreCounts:
    """Return decisions after checking their groups and numbers against a `ScoreCounts`.

    Parameters
    ----------
    decisions : object
    counts : ScoreCounts
        Counts by group, or by group and cluster.
    has_clusters : bool
        Whether the rows have clusters.

    Raises
    ------
    TypeError
        If `decisions` is not a ScoreCounts.
    ValueError
        If scores are not 0 or 1, or if the groups or the numbers of rows differ from the counts.
    """
    if not isinstance(decisions, ScoreCounts):
        raise TypeError(
            f"decisions must be a ScoreCounts whose scores are 0 and 1; got "
            f"{type(decisions).__name__}. Pass predicted labels as y_pred= to "
            "FairnessAudit.from_predictions."
        )
    needs(decisions.disclosure, Need.SCORES, "decisions")
    scores = decisions.cells.scores
    if not ((scores == 0) | (scores == 1)).all():
        raise ValueError(
            f"decisions must have the scores 0 and 1 only; got scores from {scores.min():g} to "
            f"{scores.max():g}."
        )
    same_groups = decisions.groups == counts.groups
    if not same_groups or not all(
        np.array_equal(getattr(decisions, name), getattr(counts, name))
        for name in ("n_positives", "n_negatives")
    ):
        of_clusters = (
            " Count the decisions by the columns of the report and its column of clusters, or pass "
            "y_pred= and clusters= to FairnessAudit.from_predictions."
            if has_clusters
            else ""
        )
        raise ValueError(
            "decisions must have the rows of the report: the same groups, with the same numbers of "
            f"positives and negatives. The decisions are {decisions!r}; the report has "
            f"{counts!r}.{of_clusters}"
        )
    return decisions


def predicted_positive(y_pred: Any, y_true: Any, pos_label: Any) -> Floats:
    """Return the score 1 for rows with a positive prediction, and 0 for other rows.

    Raises
    ------
    ValueError
        If `y_pred` has missing labels, or labels that are not in `y_true`.
    """
    predicted = _input.column_of(y_pred, "y_pred")
    missing = _input.count_missing(predicted)
    if missing:
        raise ValueError(
            f"y_pred has {missing} missing labels of {predicted.size}; drop these rows first."
        )
    known = _input.classes_of(_input.column_of(y_true, "y_true"))
    found = list(dict.fromkeys(predicted.tolist()))
    positive = 1 if pos_label is None else pos_label
    allowed = known if len(known) > 1 else list(dict.fromkeys([*known, positive]))
    unknown = [label for label in found if label not in allowed]
    if unknown and len(set(allowed) | set(found)) > 2:
        raise ValueError(
            f"y_pred must hold the labels of y_true, [{_words.all_shortened(known)}]; got "
            f"{_words.shortened(unknown[0])}. Scores and "
            "probabilities are passed as y_score."
        )
    return np.asarray(predicted == positive).astype(np.float64)


def n_rows_of_rates(counts: ScoreCounts) -> dict[str, NDArray[np.int64]]:
    """Return the number of rows in the denominator of each rate, by group."""
    positives, negatives = counts.n_positives, counts.n_negatives
    return dict(zip(RATES, (positives + negatives, positives, negatives), strict=True))


def metric_frame(decisions: ScoreCounts, features: pd.DataFrame) -> MetricFrame:
    """Return fairlearn's `MetricFrame` of the rates, with the labels of the groups in `features`.

    The frame has one weighted row for each group, label and decision. A rate is the selection rate
    of the rows in its denominator. Therefore, the true positive rate of a group without positives
    is undefined. Fairlearn's ``true_positive_rate`` returns 0 for such a group.
    """
    from fairlearn.metrics import MetricFrame, selection_rate

    weight = RateCounts.of(decisions).weight
    label, decision, group = np.indices(weight.shape).reshape(3, -1)
    weight = weight.ravel()
    of_label = [weight, weight * label, weight * (1 - label)]
    with np.errstate(invalid="ignore"):
        return MetricFrame(
            metrics=dict.fromkeys(RATES, selection_rate),
            y_true=label,
            y_pred=decision,
            sensitive_features=features.iloc[group].reset_index(drop=True),
            sample_params={
                rate: {"sample_weight": w} for rate, w in zip(RATES, of_label, strict=True)
            },
        )


def test_equal_shares(shares: Floats, n_rows: Floats) -> float:
    """Return the p value of Pearson's chi-squared test of equal shares in all groups [1]_.

    The null distribution is chi-squared if each group has an expected count of at least five for
    either decision [2]_. Otherwise, the function simulates the null distribution with a fixed seed.
    Simulated tables have the observed number of rows of each group and the observed number of
    selected rows.
    """
    from scipy.stats import chi2_contingency

    decided = np.column_stack([n_rows * shares, n_rows * (1.0 - shares)])
    if not decided.any(axis=0).all():
        return 1.0  # All rows have the same decision.
    found = chi2_contingency(decided, correction=False)
    if found.expected_freq.min() >= _LEAST_EXPECTED:
        return float(found.pvalue)
    whole = np.maximum(np.rint(n_rows), 1.0).astype(np.int64)
    n_selected = int(np.clip(np.rint(decided[:, 0].sum()), 0, whole.sum()))
    overall = n_selected / whole.sum()
    variance = whole * max(overall * (1.0 - overall), 1e-300)
    rng = np.random.default_rng(0)

    def draw(n_draws: int) -> Floats:
        drawn = rng.multivariate_hypergeometric(whole, n_selected, n_draws, method="marginals")
        statistics: Floats = ((drawn - whole * overall) ** 2 / variance).sum(axis=1)
        return statistics

    at_once = int(np.clip(_MOST_DRAWN // whole.size, 99, _MOST_DRAWS))
    return sequential_pvalue(
        float(found.statistic), draw, at_once=at_once, enough=_ENOUGH, most_draws=_MOST_DRAWS
    )


def sequential_pvalue(
    observed: float,
    draw: Callable[[int], Floats],
    *,
    at_once: int,
    enough: int,
    most_draws: int,
) -> float:
    """Return the share of simulated statistics that are at least as large as the observed one.

    The simulation stops early after `enough` such statistics, and the test still has its level
    [4]_. The relative standard error of the p value is then about ``1 / sqrt(enough)``. `draw`
    returns as many statistics as its argument says: `at_once` in a call, up to `most_draws`.
    """
    n_draws, n_larger = 0, 0
    while n_draws < most_draws:
        # Statistics of identical data can differ by rounding.
        larger = np.flatnonzero(draw(at_once) >= observed * (1.0 - 1e-9))
        if n_larger + larger.size >= enough:
            return float(enough / (n_draws + larger[enough - n_larger - 1] + 1))
        n_draws, n_larger = n_draws + at_once, n_larger + larger.size
    return float((1 + n_larger) / (1 + n_draws))


def test_equal_shares_of_clusters(sums: ClusterSums) -> float:
    """Return the p value of the test of equal shares of clustered rows in all groups.

    With an expected count below five, the p value is at least that of the chi-squared test of
    effective sample sizes [3]_, whose null distribution is simulated.
    """
    pvalue, shares = sums.test_equal(), sums.shares
    overall = np.average(shares.share, weights=shares.n_rows)
    least = float((shares.effective * min(overall, 1.0 - overall)).min())
    if least >= _LEAST_EXPECTED:
        return pvalue
    return max(pvalue, test_equal_shares(shares.share, shares.effective))


def null_difference(shares: Floats, n_rows: Floats) -> float:
    """Return the mean difference of the largest and the smallest share under the null hypothesis.

    Under the null hypothesis all groups have the same probability of selection, and the number of
    selected rows of each group is binomial.
    """
    from scipy.special import bdtr

    overall = float(np.average(shares, weights=n_rows))
    whole = np.maximum(np.rint(n_rows), 1.0).astype(np.int64)
    if np.unique(whole).size > _MOST_SIZES:
        # Two significant digits are precise enough.
        digit = 10 ** np.maximum(np.log10(whole).astype(np.int64) - 1, 0)
        whole = whole // digit * digit
    sizes, counts = np.unique(whole, return_counts=True)
    # The share of the smallest group is outside this range with negligible probability.
    reach = 10.0 * np.sqrt(overall * (1.0 - overall) / sizes[0]) + 10.0 / sizes[0]
    low, high = max(overall - reach, 0.0), min(overall + reach, 1.0)
    shares_of_all = low + (high - low) * (np.arange(_N_SHARES) + 0.5) / _N_SHARES
    # P(largest <= x) is the product of P(share <= x) over the groups. Likewise, P(smallest > x) is
    # the product of P(share > x) over the groups.
    n_selected = np.floor(sizes[:, None] * shares_of_all)
    # Neighboring shares can be the same number of rows. Compute the probability of a number once.
    is_new = np.diff(n_selected, axis=1, prepend=-1.0) > 0.0
    n_of_size = np.broadcast_to(sizes[:, None], is_new.shape)
    found = bdtr(n_selected[is_new], n_of_size[is_new], overall)
    at_most = found[np.cumsum(is_new) - 1].reshape(is_new.shape)
    largest = np.prod(at_most ** counts[:, None], axis=0)
    smallest = np.prod((1.0 - at_most) ** counts[:, None], axis=0)
    return float((1.0 - largest - smallest).mean() * (high - low))
