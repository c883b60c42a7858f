"""Rows of two models: scores and decisions of each model, their counts, and both row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _sklearn, _words
from skfedauc.audit import arguments, counting
from skfedauc.audit import decisions as deciding
from skfedauc.audit.changes import ComparedRows
from skfedauc.audit.counting import Threshold
from skfedauc.comparison import paired_rows
from skfedauc.counts import ScoreCounts
from skfedauc.report import GroupAUC


class Predictions(NamedTuple):
    """Predictions of two models, by name of the model.

    Attributes
    ----------
    scores : mapping of str to array-like of shape (n_rows,)
        Higher scores mean the positive class.
    selected : mapping of str to ndarray of float64, or None
        1 for rows with a positive prediction, and 0 for other rows, of models whose threshold is
        "auto"; None if thresholds decide.
    thresholds : mapping of str to float, "auto" or None
        Threshold on the scores of each model; "auto" with `selected`.
    """

    scores: Mapping[str, Any]
    selected: Mapping[str, NDArray[np.float64]] | None
    thresholds: Mapping[str, Threshold]


class ModelRows(NamedTuple):
    """Rows of a model, and their counts.

    Attributes
    ----------
    rows : Rows
        Validated rows with the scores of the model.
    report : GroupAUC
        Report on the scores.
    selected : ndarray of bool, shape (n_rows,), or None
        Whether the prediction of each row is positive; None if a threshold decides.
    decisions : ScoreCounts or None
        Counts of `selected`.
    """

    rows: _input.Rows
    report: GroupAUC
    selected: NDArray[np.bool_] | None = None
    decisions: ScoreCounts | None = None

    def decided(self, threshold: float | None) -> NDArray[np.bool_] | None:
        """Return the decision on each row, where a threshold may decide, or None without one."""
        if self.selected is not None or threshold is None:
            return self.selected
        decided: NDArray[np.bool_] = self.rows.scores.astype(np.float64, copy=False) >= threshold
        return decided


def of_predictions(
    y_true: Any,
    y_scores: Any,
    y_preds: Any,
    groups: Any,
    threshold: Any,
    pos_label: Any,
) -> Predictions:
    """Return the predictions of two models.

    The parameters are those of `AuditComparison.from_predictions`.
    """
    models = arguments.check_models(y_scores, "y_scores")
    if y_preds is not None and sorted(arguments.check_models(y_preds, "y_preds")) != sorted(models):
        raise ValueError(
            f"y_preds must have the names of y_scores, {_words.listed(models)}; got "
            f"{_words.listed(list(y_preds))}."
        )
    thresholds = arguments.thresholds_of(models, threshold)
    selected = None
    if y_preds is not None:
        if any(of_model != "auto" for of_model in thresholds.values()):
            raise ValueError("pass either y_preds or a threshold, not both.")
        selected = {
            name: deciding.predicted_positive(y_preds[name], y_true, pos_label) for name in models
        }
        _input.check_row_order(
            {"y_true": y_true}
            | {f"y_preds[{name!r}]": y_preds[name] for name in models}
            | {"groups": groups}
        )
    return Predictions({name: y_scores[name] for name in models}, selected, thresholds)


def of_estimators(
    estimators: Any,
    X: Any,
    y: Any,
    threshold: Any,
    pos_label: Any,
    response_method: str | tuple[str, ...] | None,
    of_rows: Mapping[str, Any],
) -> tuple[Predictions, Any]:
    """Return the predictions of two fitted estimators, and the label of their positive class.

    The parameters are those of `AuditComparison.from_estimators`, and those of
    `counting.of_estimator`.
    """
    models = arguments.check_models(estimators, "estimators")
    arguments.check_threshold(threshold)
    classes = [_sklearn.positive_class(estimators[name], pos_label) for name in models]
    (first, _), (second, _) = classes
    if first != second:
        raise ValueError(
            f"the estimators must have the same positive class; got {_words.shortened(first)} "
            f"and {_words.shortened(second)}. Pass pos_label=."
        )
    found = {
        name: counting.of_estimator(
            estimators[name],
            X,
            threshold,
            pos_label,
            _own_response(estimators[name]) if response_method is None else response_method,
            {"y_true": y, **of_rows},
            f"y_scores[{name!r}]",
        )
        for name in models
    }
    return Predictions(
        {name: of.scores.scores for name, of in found.items()},
        _decisions_of_both(found),
        {name: of.threshold for name, of in found.items()},
    ), first


def _own_response(estimator: Any) -> str | None:
    """Return None for an estimator with scores; an estimator without scores has predictions."""
    has_scores = any(hasattr(estimator, method) for method in _sklearn.TWO_CLASSES)
    return None if has_scores else "predict"


def _decisions_of_both(
    found: Mapping[str, counting.EstimatorRows],
) -> dict[str, NDArray[np.float64]] | None:
    """Return the known decisions of each model, or None unless both models have decisions."""
    known = {name: of.selected for name, of in found.items() if of.selected is not None}
    are_all = all(name in known or _input.is_number(of.threshold) for name, of in found.items())
    return known if known and are_all else None


def counted(
    y_true: Any,
    predictions: Predictions,
    of_rows: Mapping[str, Any],
    n_jobs: int | None,
    names_of_groups: Any = None,
) -> dict[str, ModelRows]:
    """Return the rows and the counts of each model, by name.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    predictions : Predictions
    of_rows : mapping of str to object
        `groups`, `sample_weight`, `pos_label`, `missing` and `warn_labels`.
    n_jobs : int or None
        Number of threads.
    names_of_groups : str, list of str, or array-like, default=None
        Names of the columns with the groups, or the groups themselves.
    """
    _input.check_missing(of_rows["missing"])
    by_name = {f"y_scores[{name!r}]": values for name, values in predictions.scores.items()}
    _input.check_row_order({"y_true": y_true, **by_name})
    found = {}
    for name, values in predictions.scores.items():
        called = _words.shortened(name)
        rows = _input.check_rows(y_true, values, name=f"y_scores[{called}]", **of_rows)
        labels = _input.names_of(rows.labels, of_rows["groups"], names_of_groups)
        report = GroupAUC(ScoreCounts.of_rows(rows, n_jobs, labels), undefined="ignore")
        found[name] = ModelRows(rows, report)
        if predictions.selected is not None and name in predictions.selected:
            decided = _input.check_rows(
                y_true,
                predictions.selected[name],
                name=f"y_preds[{called}]",
                **{**of_rows, "warn_labels": False},
            )
            found[name] = ModelRows(
                rows, report, decided.scores > 0.5, ScoreCounts.of_rows(decided, n_jobs)
            )
    return found


def compared_rows(models: Sequence[ModelRows], thresholds: Sequence[float | None]) -> ComparedRows:
    """Return the rows with the scores and the decisions of both models.

    Parameters
    ----------
    models : sequence of two ModelRows
    thresholds : sequence of two float or None
        Threshold on the scores of each model, or None.

    Raises
    ------
    ValueError
        If all rows have the same label.
    """
    paired = paired_rows([model.rows for model in models], models[0].report)
    decided = [model.decided(at) for model, at in zip(models, thresholds, strict=True)]
    known = [of_model for of_model in decided if of_model is not None]
    return ComparedRows(paired, np.array(known) if len(known) == len(models) else None)
