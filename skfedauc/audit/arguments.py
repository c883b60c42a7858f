"""Checks for `FairnessAudit`'s arguments, and an estimator's predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier

from skfedauc import _input, _labels, _sklearn, _words
from skfedauc.audit.rates_and_gaps import QUESTIONS
from skfedauc.report import GroupAUC, MulticlassGroupAUC
from skfedauc.report.group_auc import estimates_of, responses_of

# What the user can name
NAMES = ("model", "label", "score")
_TWO_ORDERS = (
    "The AUCs of the audit are those of decision_function; a threshold is compared with "
    "predict_proba. Pass response_method='decision_function' or response_method='predict_proba' "
    "to use one method for everything."
)


def check_report(report: Any) -> None:
    if not isinstance(report, GroupAUC):
        mend = (
            "FairnessAudit.from_predictions(y_true, y_score, groups=...) for rows, and "
            "FairnessAudit(GroupAUC(counts, undefined='ignore')) for a ScoreCounts."
        )
        if isinstance(report, MulticlassGroupAUC):
            mend = f"FairnessAudit(report[{next(iter(report))!r}]) for one of its reports."
        raise TypeError(f"report must be a GroupAUC; got {type(report).__name__}. Use {mend}")
    if not report.counts.groups:
        lacks = "groups" if report.counts.groups is None else "rows"
        out = _words.counted(report.counts.n_missing, "row")
        cause = f": {out} without a group label left out" if report.counts.n_missing else ""
        raise ValueError(f"an audit needs {lacks}; the report has none{cause}.")
    pairs = estimates_of(report).pairs
    if pairs.is_within_folds or pairs.rows_repeat:
        raise ValueError(
            "an audit compares all rows with each other, but this report compares rows within "
            "folds only, or counts rows several times. Pass the report of one fold (folds[0]), "
            "or use FairnessAudit.from_predictions."
        )
    estimates_of(report).of_auc("FairnessAudit")
    pairs.check_has_scores("FairnessAudit")


def check_names(names: Any) -> dict[str, str]:
    if names is None:
        return {}
    is_mapping = isinstance(names, Mapping)
    are_texts = is_mapping and all(isinstance(of, str) and of.strip() for of in names.values())
    if not are_texts or not set(names) <= set(NAMES):
        raise (ValueError if is_mapping else TypeError)(
            f"names must be a mapping of some of the keys {', '.join(map(repr, NAMES))} to text, "
            f"such as {{'model': 'credit score 3'}}; got {_words.shortened(names)}."
        )
    return {key: names[key] for key in NAMES if key in names}


def check_threshold(threshold: Any) -> float | None:
    """Return the threshold as a float, or None for None and "auto"."""
    if threshold is None or (isinstance(threshold, str) and threshold == "auto"):
        return None
    if isinstance(threshold, Mapping | pd.Series):
        raise ValueError(
            "threshold must be one number for all groups; got "
            f"{_input.kind_in_words(threshold)}. For thresholds of groups, as of fairlearn's "
            "ThresholdOptimizer, pass the predicted labels as y_pred=, or counts of the decisions "
            "as decisions=."
        )
    return _input.check_number(threshold, "threshold", hint=" 'auto' and None are also valid.")


def check_columns(intersections: Any, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return each column alone, and then the column combinations to be audited."""
    chosen: list[tuple[str, ...]] = [(column,) for column in columns]
    is_list = isinstance(intersections, Sequence) and not isinstance(intersections, str)
    for names in intersections if is_list else [intersections]:
        is_known = isinstance(names, Sequence) and not isinstance(names, str)
        if not is_known or len(names) < 2 or not set(names) <= set(columns):
            raise ValueError(
                "intersections must hold tuples of two or more of the columns "
                f"[{_words.all_shortened(columns)}]; got {_words.shortened(names)}."
            )
        # Labels keep the order of the columns.
        chosen.append(tuple(column for column in columns if column in names))
    return list(dict.fromkeys(chosen))


def check_tolerances(
    tolerances: Any, favorable: Any, *, has_decisions: bool = True
) -> dict[str, float]:
    """Return the limits by gap name; a gap of decisions needs decisions."""
    if tolerances is None:
        return {}
    if not isinstance(tolerances, Mapping):
        raise TypeError(
            "tolerances must be a dict of names of gaps and limits, such as "
            f"{{'demographic_parity_ratio': 0.8}}; got {_words.described(tolerances)}."
        )
    limits = {}
    for name, limit in tolerances.items():
        _input.check_option("each gap in tolerances", name, tuple(QUESTIONS))
        if name == "demographic_parity_ratio" and favorable == "negative":
            raise ValueError(
                f"tolerances has {name!r}, a ratio of rates of positive decisions, and "
                "favorable='negative' declares the negative class as the favorable outcome. The "
                "ratio says nothing of the rates of the favorable decision. Pass the favorable "
                "class as pos_label=, with scores that are high for this class, and "
                "favorable='positive'. Or pass a tolerance of "
                "'demographic_parity_difference', which is the same for both outcomes."
            )
        limits[str(name)] = _input.check_share(limit, f"tolerances[{name!r}]")
        if QUESTIONS[name].requires == "decisions" and not has_decisions:
            raise ValueError(
                f"tolerances has {name!r}, a gap of decisions, and this audit has none: pass "
                "y_pred=, decisions= or a number as threshold=, or omit this tolerance."
            )
    return limits


def predicted_positive(y_pred: Any, y_true: Any, pos_label: Any) -> NDArray[np.bool_]:
    predicted, y = _input.column_of(y_pred, "y_pred"), _input.column_of(y_true, "y_true")
    _labels.refuse_missing_labels(predicted, name="y_pred")
    _input.check_length("y_pred", predicted.size, "y_true", y.size)
    known = _labels.classes_of(y)
    found = list(dict.fromkeys(predicted.tolist()))
    positive = 1 if pos_label is None else pos_label
    allowed = known if len(known) > 1 else list(dict.fromkeys([*known, positive]))
    unknown = [label for label in found if label not in allowed]
    if unknown and len(set(allowed) | set(found)) > 2:
        raise ValueError(
            f"y_pred must hold the labels of y_true, [{_words.all_shortened(known)}]; got "
            f"{_words.shortened(unknown[0])}. Scores and probabilities are passed as y_score."
        )
    return np.asarray(predicted == positive)


def predictions_of(
    estimator: Any,
    X: Any,
    threshold: Any,
    pos_label: Any,
    response_method: Any,
    of_rows: Mapping[str, Any],
) -> tuple[_sklearn.ModelScores, NDArray[np.bool_] | None, Any]:
    """Return an estimator's scores, its decisions, and the threshold on the scores.

    Decisions are None if the threshold decides, or nothing. An estimator without scores,
    such as fairlearn's ``ThresholdOptimizer``, has its decisions in their place.
    """
    number = check_threshold(threshold)
    if response_method is None and not any(hasattr(estimator, m) for m in _sklearn.TWO_CLASSES):
        response_method = "predict"
    scores, of = responses_of(estimator, X, response_method, pos_label, of_rows, mend=_TWO_ORDERS)
    if number is not None:
        # Minus the probabilities of ``classes_[1]`` are above -0.5 where its probability is below.
        is_minus = of.is_other and of.method in ("predict_proba", "predict")
        at = number - 1.0 if is_minus else number
        selected = None if of is scores else of.scores >= at
        return scores, selected, at if selected is None else "auto"
    if threshold is None or not is_classifier(estimator):
        return scores, None, threshold
    # A randomized classifier decides differently in a second call.
    predicted = scores
    if scores.method != "predict":
        predicted = _sklearn.scores_of(estimator, X, "predict", pos_label)
    # Minus the prediction of ``classes_[1]`` is -1 or 0.
    middle = -0.5 if predicted.is_other else 0.5
    return scores, predicted.scores > middle, "auto"
