"""Counts of the rows of an audit: a report on the scores, and counts of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skfedauc import _input, _sklearn
from skfedauc.audit import arguments
from skfedauc.audit import decisions as deciding
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.report import GroupAUC, responses_of

Threshold = float | Literal["auto"] | None

_TWO_ORDERS = (
    "The AUCs of the audit are those of decision_function; a threshold is compared with "
    "predict_proba. Pass response_method='decision_function' or response_method='predict_proba' "
    "to use one method for everything."
)


class EstimatorRows(NamedTuple):
    """Scores and decisions of an estimator.

    Attributes
    ----------
    scores : ModelScores
    selected : ndarray of float64, shape (n_rows,), or None
        1 for rows with a positive prediction, and 0 for other rows; None if a threshold on the
        scores decides, or nothing.
    threshold : float, "auto" or None
        Threshold on the scores; "auto" with `selected`.
    """

    scores: _sklearn.ModelScores
    selected: NDArray[np.float64] | None
    threshold: Threshold

    @property
    def decided(self) -> _sklearn.ModelScores:
        """The decisions in place of the scores."""
        assert self.selected is not None
        return self.scores._replace(scores=self.selected)


def of_estimator(
    estimator: Any,
    X: Any,
    threshold: Any,
    pos_label: Any,
    response_method: str | tuple[str, ...] | None,
    of_rows: Mapping[str, Any],
    name: str = "y_score",
) -> EstimatorRows:
    """Return the scores of an estimator, and its decisions or the threshold on its scores.

    Parameters
    ----------
    estimator : estimator object
    X, threshold, pos_label, response_method
        See `FairnessAudit.from_estimator`.
    of_rows : mapping of str to object
        See `skfedauc.report.responses_of`.
    name : str, default="y_score"
        Name of the scores in messages.
    """
    number = arguments.check_threshold(threshold)
    found = responses_of(
        estimator, X, response_method, pos_label, of_rows, mend=_TWO_ORDERS, name=name
    )
    scores = found.scores
    if number is not None:
        of = found.probabilities
        at = deciding.threshold_of_scores(number, of.method, of.is_other)
        if found.is_one_order:
            return EstimatorRows(scores, None, at)
        return EstimatorRows(scores, (of.scores >= at).astype(np.float64), "auto")
    if threshold is None or not is_classifier(estimator):
        return EstimatorRows(scores, None, threshold)
    # A randomized classifier decides differently in a second call.
    predicted = scores
    if scores.method != "predict":
        predicted = _sklearn.scores_of(estimator, X, "predict", pos_label)
    # Minus the prediction of ``classes_[1]`` is -1 or 0.
    middle = -0.5 if predicted.is_other else 0.5
    return EstimatorRows(scores, (predicted.scores > middle).astype(np.float64), "auto")


def of_predictions(
    y_true: Any,
    y_score: Any,
    groups: Any,
    y_pred: Any,
    sample_weight: Any,
    pos_label: Any,
    missing: _input.Missing,
    n_jobs: int | None,
    clusters: Any = None,
) -> tuple[GroupAUC, ScoreCounts | None]:
    """Return the report on predictions, and the counts of decisions if there is `y_pred`.

    With `clusters`, the decisions are counts by unit, see `ClusterCounts`.
    `FairnessAudit.from_predictions` describes the parameters.
    """
    report = GroupAUC.from_predictions(
        y_true,
        y_score,
        groups=groups,
        sample_weight=sample_weight,
        clusters=clusters,
        pos_label=pos_label,
        undefined="ignore",
        missing=missing,
        n_jobs=n_jobs,
    )
    decisions = None
    if y_pred is not None:
        _input.check_row_order(
            {
                "y_true": y_true,
                "y_score": y_score,
                "y_pred": y_pred,
                "groups": groups,
                "sample_weight": sample_weight,
                "clusters": clusters,
            }
        )
        rows = _input.check_rows(
            y_true,
            deciding.predicted_positive(y_pred, y_true, pos_label),
            groups,
            sample_weight,
            pos_label,
            name="y_pred",
            missing=missing,
            warn_labels=False,
            clusters=clusters,
        )
        if clusters is None:
            decisions = ScoreCounts.of_rows(rows, n_jobs)
        else:
            decisions = ClusterCounts.of_rows(rows, n_jobs).units
    return report, decisions
