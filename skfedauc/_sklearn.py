"""Scikit-learn's private names, which no other module imports, and estimators' scores.

Scikit-learn has no public alternative to these names. For instance, the scorers in a multi-metric
search share predictions only if they derive from a private base class.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils._metadata_requests import MetadataRequest
from sklearn.utils._metadata_requests import _raise_for_params as refuse_unrouted
from sklearn.utils._response import _get_response_values
from sklearn.utils.metadata_routing import UNUSED, get_routing_for_object
from sklearn.utils.metaestimators import _safe_split as split_of
from sklearn.utils.validation import _check_method_params as of_rows
from sklearn.utils.validation import (
    _check_response_method,
    _num_samples,
    check_is_fitted,
)

from skfedauc import _input, _labels
from skfedauc._words import (
    all_shortened,
    described,
    enumerated,
    listed,
    shortened,
    shortened_text,
)

# Names of scikit-learn for other modules
__all__ = ["BaseScorer", "GroupsConsumerMixin", "MetadataRequest", "of_rows", "refuse_unrouted"]
__all__ += ["rows_of", "split_of"]

# Methods that return scores, in the order of scikit-learn's scorers "roc_auc" and "roc_auc_ovr".
# The softmax of several classes is the same for decision values that differ by a constant in each
# row, so that decision values of different rows cannot be compared.
TWO_CLASSES = ("decision_function", "predict_proba")
OF_CLASSES = "predict_proba"
# An estimator without scores for two classes has its predictions.
PREFERRED = (*TWO_CLASSES, "predict")
# Methods with a score for each of several classes; messages offer those that an estimator has
_BY_CLASS = ("decision_function", "predict_proba", "predict_log_proba")


class NoMethodError(AttributeError, TypeError):
    """The estimator lacks the method: an AttributeError in scikit-learn, a TypeError here."""


def is_routing_enabled() -> bool:
    return bool(sklearn.get_config().get("enable_metadata_routing", False))


def weight_name(estimator: Any) -> str:
    """Return the ``fit`` parameter that weights a classifier's rows.

    Without metadata routing, the weights for the last step of a pipeline have the name of this step
    as a prefix.
    """
    if isinstance(estimator, Pipeline) and not is_routing_enabled():
        step, last = estimator.steps[-1]
        return f"{step}__{weight_name(last)}"
    return "sample_weight"


def number_of_rows(X: Any, name: str = "X") -> int:
    try:
        return int(_num_samples(_input.unwrapped(X)))
    except TypeError as error:
        raise TypeError(
            f"{name} must be an array or a DataFrame with one row per label; got {described(X)}."
        ) from error


def is_scored_by_a_tool() -> bool:
    """Return whether scikit-learn or joblib calls a scorer, and not the user."""
    # The base class of scorers, and a decorator of its ``__call__``, are on the way.
    through = (BaseScorer.__module__, _check_response_method.__module__)
    _, module = _input.caller(through)
    return module.partition(".")[0] in ("sklearn", "joblib")


def wants_groups(splitter: Any) -> bool:
    if hasattr(splitter, "get_metadata_routing"):
        requests = get_routing_for_object(splitter).split.requests
        return requests.get("groups") not in (None, False, UNUSED)
    return "groups" in inspect.signature(splitter.split).parameters


def response_method_name(
    estimator: Any, response_method: Any, offered: tuple[str, ...] = (*_BY_CLASS, "predict")
) -> str:
    """Return the first method in `response_method` that the estimator has.

    A message names those of the `offered` methods that it has.
    """
    is_several = isinstance(response_method, tuple | list) and len(response_method) > 0
    names = response_method if is_several else (response_method,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            "response_method must be None, the name of a method such as 'predict_proba', or a "
            f"tuple of names; got {shortened(response_method)}."
        )
    try:
        method = _check_response_method(estimator, response_method)
    except AttributeError as error:
        text = shortened_text(str(error), 300)
        there = [repr(name) for name in offered if hasattr(estimator, name)]
        mend = f" It has {enumerated(there)}: pass response_method={there[0]}." if there else ""
        raise NoMethodError(f"response_method: {text}{mend}") from error
    return str(getattr(method, "__name__", None) or method.func.__name__)


def _last_step(estimator: Any) -> Any:
    """Return the estimator at the end of pipelines, in searches and in frozen estimators."""
    while isinstance(estimator, Pipeline | BaseSearchCV | FrozenEstimator):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        else:
            estimator = getattr(estimator, "best_estimator_", estimator.estimator)
    return estimator


def check_estimator(estimator: Any, methods: tuple[str, ...] = ("fit", *PREFERRED)) -> None:
    """Raise a TypeError for classes, and for objects without these methods."""
    if isinstance(estimator, type) or not any(hasattr(estimator, name) for name in methods):
        code = shortened_text(" ".join(repr(estimator).split()), 100)
        raise TypeError(
            f"estimator must be an estimator, such as LogisticRegression(); got {code}."
        )


class ModelScores(NamedTuple):
    """Row scores for the positive class, from a fitted binary classifier or a regressor."""

    scores: NDArray[Any]
    positive: Any  # label of the positive class
    is_other: bool  # whether they are minus the scores for the other class, ``classes_[1]``
    method: str  # the estimator's method that returned the scores


def scores_of(
    estimator: Any,
    X: Any,
    response_method: Any = None,
    pos_label: Any = None,
    *,
    y: Any = None,
    method_caller: Any = None,
    reported: set[Any] | None = None,
) -> ModelScores:
    """Return a fitted estimator's scores, or `estimator` itself if it is known scores.

    All scores for two classes come from here. A `response_method` of None means `PREFERRED`, a
    `pos_label` of None ``estimator.classes_[1]``. `y` is checked before the estimator predicts, so
    that messages name y and X. `method_caller` is the cached caller of a scikit-learn scorer, which
    shares scores within a call, and a search `reported` its warnings.
    """
    if isinstance(estimator, ModelScores):
        return estimator
    check_estimator(estimator)
    positive, is_other = positive_class(estimator, pos_label)
    if y is not None:
        _check_labels(_labels_of(y, X), positive, estimator, is_default=pos_label is None)
    asked = PREFERRED if response_method is None else response_method
    method = response_method_name(estimator, asked)
    reported = set() if reported is None else reported
    is_unasked = response_method is None and method == "predict" and is_classifier(estimator)
    if is_unasked and method not in reported:
        reported.add(method)
        _input.warn(
            f"{type(estimator).__name__} has no {' and no '.join(TWO_CLASSES)}: its scores are its "
            "decisions. Pass response_method='predict' to suppress this warning.",
        )
    scores = _input.column_of(_shared_scores(method_caller, estimator, X, method), "y_score")
    # Negative scores keep the order of the scores exactly, unlike one minus the scores.
    return ModelScores(-scores if is_other else scores, positive, is_other, method)


def _check_labels(labels: NDArray[Any], positive: Any, estimator: Any, *, is_default: bool) -> None:
    """Check the labels of y, which may be others than those that the estimator was fitted on."""
    try:
        _labels.check_labels(labels, positive, name="y")
    except ValueError:
        fitted = np.asarray(getattr(estimator, "classes_", ())).tolist()
        found = [] if _input.count_missing(labels) else sorted(set(labels.tolist()), key=str)
        if is_default and fitted and len(found) == 2 and not set(found) & set(fitted):
            raise ValueError(
                f"y has the labels {listed(found)}, and {type(estimator).__name__} was fitted on "
                f"{listed(fitted)}; pass y with the labels of fit."
            ) from None
        raise


def _labels_of(y: Any, X: Any) -> NDArray[Any]:
    """Return y as an array with a label for each row in X."""
    labels = _input.column_of(y, "y")
    _input.check_length("X", number_of_rows(X), "y", labels.size)
    return labels


def class_scores_of(
    estimator: Any,
    X: Any,
    response_method: Any = None,
    *,
    remedy: str,
    y: Any = None,
    method_caller: Any = None,
) -> tuple[Any, Any]:
    """Return a fitted classifier's three or more classes, and a score for each.

    The parameters are those of `scores_of`; `response_method` of None means `OF_CLASSES`, and
    `remedy` ends the message for fewer classes.
    """
    check_estimator(estimator)
    classes = _classes_of(estimator)
    if classes is None or len(classes) < 3:
        number = "no" if classes is None else len(classes)
        folds = " If the data have more, the rows of fit lack some: stratify the folds by class."
        raise ValueError(
            f"multi_class needs a classifier of three or more classes; {type(estimator).__name__} "
            f"has {number} classes. {remedy}{'' if classes is None else folds}"
        )
    if y is not None:
        _labels.refuse_missing_labels(_labels_of(y, X), name="y")
    asked = OF_CLASSES if response_method is None else response_method
    method = response_method_name(estimator, asked, _BY_CLASS)
    last = _last_step(estimator)
    is_by_pair = getattr(last, "decision_function_shape", None) == "ovo"
    if method == "decision_function" and is_by_pair:  # 3 classes have as many pairs
        raise ValueError(
            f"the decision_function of {type(last).__name__}(decision_function_shape='ovo') "
            "returns a score for each pair of classes, not for each class. Pass "
            "decision_function_shape='ovr' to the classifier."
        )
    return classes, _shared_scores(method_caller, estimator, X, method)


def response_values(estimator: Any, X: Any, name: str) -> Any:
    """Return scores for the class ``classes_[1]``, or a regressor's predictions, by a method."""
    try:
        values, _ = _get_response_values(estimator, X, response_method=name)
    except (ValueError, TypeError) as error:
        # The messages of scikit-learn do not name X. NotFittedError stays what it is.
        if type(error) not in (ValueError, TypeError):
            raise
        raise type(error)(f"{type(estimator).__name__}.{name}(X): {error}") from error
    return _decisions_as_numbers(values, estimator, name)


def _decisions_as_numbers(values: Any, estimator: Any, name: str) -> Any:
    """Return predicted classes as 1 for ``classes_[1]``, else 0; return scores as numpy."""
    values = _input.from_array_api(values)
    if name != "predict" or not is_classifier(estimator):
        return values
    return (np.asarray(values) == _input.from_array_api(estimator.classes_)[1]).astype(np.float64)


def _shared_scores(method_caller: Any, estimator: Any, X: Any, name: str) -> Any:
    """Return scores for the class ``classes_[1]``, shared by all scorers in the call, if any.

    Scikit-learn caches predictions by method only. A scorer with another `pos_label` may have
    cached the other class's scores; comparing a few rows detects this.
    """
    if method_caller is None:
        return response_values(estimator, X, name)
    cache = next(iter(getattr(method_caller, "args", ())), None)
    if not isinstance(cache, dict):
        cache = {}
    ours = (name, "of classes_[1]")
    if ours not in cache:
        is_foreign = name in cache and name != "predict" and is_classifier(estimator)
        scores = _input.from_array_api(method_caller(estimator, name, X, pos_label=None))
        if is_foreign and not _are_of_default_class(scores, estimator, X, name):
            scores = response_values(estimator, X, name)
        cache[ours] = _decisions_as_numbers(scores, estimator, name)
    return cache[ours]


def _are_of_default_class(scores: Any, estimator: Any, X: Any, name: str) -> bool:
    few = np.arange(min(len(scores), 8))
    expected = response_values(estimator, rows_of(X, few), name)
    if name == "decision_function":
        other = -expected
    elif name == "predict_proba":
        other = 1 - expected
    else:
        other = np.log1p(-np.exp(expected))
    return bool(np.abs(scores[few] - expected).sum() < np.abs(scores[few] - other).sum())


def positive_class(estimator: Any, pos_label: Any) -> tuple[Any, bool]:
    """Return the positive label, and whether the default scores are for the other class."""
    classes = _classes_of(estimator) if is_classifier(estimator) else None
    if classes is None:
        return pos_label, False
    # The classes of several outputs are a list of arrays.
    known = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    if len(known) != 2 or any(map(np.ndim, known)):
        raise ValueError(
            f"group AUC needs a binary classifier; {type(estimator).__name__} was fitted on rows "
            f"of {listed(known, most=3)}. If the rows of a fold lack a class, stratify the folds "
            "by class. To compare one class with the others, fit and score on y == label; to "
            "compare all, use MulticlassGroupAUC.from_estimator, or multi_class= of scorers."
        )
    if pos_label is None:
        return known[1], False
    place = _labels.position_of(pos_label, known)
    if place is None:
        raise ValueError(
            f"pos_label={shortened(pos_label)} is not among the classes of the estimator, "
            f"[{all_shortened(known)}]."
        )
    return pos_label, place == 0


def _classes_of(estimator: Any) -> Any:
    """Return the classes of a fitted classifier; None without classes."""
    if (
        is_classifier(estimator)
        and hasattr(estimator, "fit")
        and not hasattr(estimator, "classes_")
    ):
        check_is_fitted(estimator)
    return _input.from_array_api(getattr(estimator, "classes_", None))
