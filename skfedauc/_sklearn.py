"""The only file that imports scikit-learn's private names.

Each is here for want of a public one: a scorer that takes part in the shared predictions
of multi-metric searches must derive from the private base class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sklearn
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _BaseScorer as BaseScorer
from sklearn.utils._metadata_requests import MetadataRequest
from sklearn.utils._response import _get_response_values
from sklearn.utils.validation import _check_response_method

__all__ = [
    "BaseScorer",
    "is_routing_enabled",
    "positive_class",
    "response_method_name",
    "response_values",
    "score_requests",
]


def is_routing_enabled() -> bool:
    return bool(sklearn.get_config().get("enable_metadata_routing", False))


def score_requests(owner: Any, requests: Mapping[str, Any]) -> MetadataRequest:
    """A scorer's metadata request, by name of the metadata."""
    request = MetadataRequest(owner=owner)
    for name, alias in requests.items():
        request.score.add_request(param=name, alias=alias)
    return request


def response_method_name(estimator: Any, response_method: Any) -> str:
    """The first of these methods that the estimator has."""
    method = _check_response_method(estimator, response_method)
    return str(getattr(method, "__name__", None) or method.func.__name__)


def response_values(estimator: Any, X: Any, response_method: Any) -> Any:
    """Scores of the class ``classes_[1]``, or what a regressor predicts."""
    values, _ = _get_response_values(estimator, X, response_method=response_method)
    return values


def positive_class(estimator: Any, pos_label: Any) -> tuple[Any, bool]:
    """The positive label, and whether the default scores are those of the other class.

    Raises
    ------
    ValueError
        If the estimator is a classifier of more or fewer than two classes, or
        `pos_label` is none of them.
    """
    if not is_classifier(estimator) or not hasattr(estimator, "classes_"):
        return pos_label, False
    classes = estimator.classes_
    if len(classes) != 2:
        raise ValueError(
            f"group AUC needs a binary classifier; {type(estimator).__name__} has "
            f"{len(classes)} classes."
        )
    known = list(classes.tolist())
    if pos_label is None:
        return known[1], False
    if pos_label not in known:
        raise ValueError(
            f"pos_label={pos_label!r} is not among the classes of the estimator, {known}."
        )
    return pos_label, pos_label == known[0]
