"""Scores of a fitted estimator, and its probabilities where a result needs probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _sklearn
from skfedauc._sklearn import ModelScores
from skfedauc.report.group_auc import GroupAUC

# Largest difference of AUCs from rounding: a model's probabilities can be equal for rows with
# different decision values. Reports print three digits.
_ROUNDING = 5e-4


class Responses(NamedTuple):
    """Scores for AUCs, and scores for thresholds and calibration.

    Attributes
    ----------
    scores : ModelScores
        Scores with the estimator's AUCs. These are `probabilities` if both have equal AUCs.
    probabilities : ModelScores
        Probabilities, or other scores of an estimator without probabilities.
    """

    scores: ModelScores
    probabilities: ModelScores

    @property
    def is_one_order(self) -> bool:
        """Whether the scores serve all purposes."""
        return self.scores is self.probabilities


def responses_of(
    estimator: Any,
    X: Any,
    response_method: Any,
    pos_label: Any,
    of_rows: Mapping[str, Any],
    *,
    mend: str,
    **options: Any,
) -> Responses:
    """Return the scores and the probabilities of an estimator; warn if the AUCs of both differ.

    Parameters
    ----------
    estimator : estimator object
    X : array-like
    response_method : str, tuple of str or None
        Only None has both methods.
    pos_label : object
    of_rows : mapping of str to object
        `y_true`, `groups`, and optionally `sample_weight` and `missing`.
    mend : str
        Last sentences of the warning.
    **options : dict
        See `_sklearn.scores_of`.
    """
    rows = {"X": X, "y": of_rows["y_true"], "sample_weight": of_rows.get("sample_weight")}
    _input.check_row_order(rows)
    y = _input.column_of(of_rows["y_true"], "y")
    scores = _sklearn.scores_of(estimator, X, response_method, pos_label, y=y, **options)
    by_default = response_method is None and scores.method == "decision_function"
    if not by_default or not hasattr(estimator, "predict_proba"):
        return Responses(scores, scores)
    probabilities = _sklearn.scores_of(estimator, X, "predict_proba", pos_label, **options)
    aucs, others = (_aucs(model, of_rows) for model in (scores, probabilities))
    if np.allclose(aucs, others, rtol=0, atol=_ROUNDING, equal_nan=True):
        return Responses(probabilities, probabilities)
    _input.warn(
        f"{type(estimator).__name__} orders rows differently by decision_function (pooled AUC "
        f"{aucs[0]:.4f}) and by predict_proba (pooled AUC {others[0]:.4f}). {mend}",
        UserWarning,
    )
    return Responses(scores, probabilities)


def _aucs(model: ModelScores, of_rows: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the pooled AUC, and the AUC of each group."""
    report = GroupAUC.from_predictions(
        y_score=model.scores, pos_label=model.positive, undefined="ignore", **of_rows
    )
    return np.append(report.pooled, report.by_group["auc"])
