"""Rows of two models: scores and decisions of each model, their counts, and both row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skfedauc import _input, _sklearn, _words
from skfedauc.audit import arguments
from skfedauc.audit import decisions as deciding
from skfedauc.audit.changes import ComparedRows
from skfedauc.counts import ScoreCounts
from skfedauc.inference.paired import PairedRows, near_one
from skfedauc.report import GroupAUC, of_one_label

Threshold = float | Literal["auto"] | None


class Predictions(NamedTuple):
    """Predictions of two models, by name of the model.

    Attributes
    ----------
    scores : mapping of str to array-like of shape (n_rows,)
        Higher scores mean the positive class.
    selected : mapping of str to ndarray of float64, or None
        1 for rows with a positive prediction, and 0 for other rows; None if thresholds decide.
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
    response_method: str | tuple[str, ...],
) -> tuple[Predictions, Any]:
    """Return the predictions of two fitted estimators, and the label of their positive class.

    The parameters are those of `AuditComparison.from_estimators`.
    """
    models = arguments.check_models(estimators, "estimators")
    number = arguments.check_threshold(threshold)
    classes = [_sklearn.positive_class(estimators[name], pos_label) for name in models]
    (first, _), (second, _) = classes
    if first != second:
        raise ValueError(
            f"the estimators must have the same positive class; got {_words.shortened(first)} "
            f"and {_words.shortened(second)}. Pass pos_label=."
        )
    scores, selected, thresholds = {}, {}, {}
    for name, (positive, is_other) in zip(models, classes, strict=True):
        estimator = estimators[name]
        values = _input.column_of(
            _sklearn.response_values(estimator, X, response_method), f"y_scores[{name!r}]"
        )
        # Negative scores keep the order of the scores exactly, unlike one minus the scores.
        scores[name] = -values if is_other else values
        thresholds[name] = threshold
        if number is not None:
            method = _sklearn.response_method_name(estimator, response_method)
            thresholds[name] = deciding.threshold_of_scores(number, method, is_other)
        elif threshold == "auto" and is_classifier(estimator):
            predicted = _input.column_of(estimator.predict(X), f"y_preds[{name!r}]")
            selected[name] = deciding.predicted_positive(predicted, y, positive)
    of_both = selected if len(selected) == len(models) else None
    return Predictions(scores, of_both, thresholds), first


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
        `groups`, `sample_weight`, `pos_label` and `missing`.
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
        if predictions.selected is not None:
            decided = _input.check_rows(
                y_true,
                predictions.selected[name],
                name=f"y_preds[{called}]",
                warn_labels=False,
                **of_rows,
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
    rows, report = models[0].rows, models[0].report
    n_rows = rows.scores.size
    if not 0 < int(rows.positive.sum()) < n_rows:
        raise ValueError(
            f"y_true must hold both classes; got one class in {n_rows} rows"
            f"{of_one_label(report.counts)}."
        )
    assert rows.codes is not None
    paired = PairedRows(
        rows.positive,
        [model.rows.scores.astype(np.float64, copy=False) for model in models],
        np.ones(n_rows) if rows.weights is None else near_one(rows.weights),
        rows.codes,
        report.n_groups,
    )
    decided = [model.decided(at) for model, at in zip(models, thresholds, strict=True)]
    known = [of_model for of_model in decided if of_model is not None]
    return ComparedRows(paired, np.array(known) if len(known) == len(models) else None)
