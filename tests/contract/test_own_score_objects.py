"""sklearn/metrics/tests/test_score_objects.py with our scorer for one group as "roc_auc"."""

from unittest import mock

import pytest
import sklearn
from own_tests import OneGroupScorer, collected, reached_by
from sklearn.metrics import _scorer
from sklearn.utils.fixes import parse_version

FAILURES = {
    "test_thresholded_scorers": ("a regressor's predictions are scores", "DID NOT RAISE"),
    "test_thresholded_scorers_multilabel_indicator_data": (
        "one label a row: no multilabel y",
        "y_true must be one-dimensional",
    ),
    "test_make_scorer_repr[": ("it compares the repr, where ours is the call that makes it", ""),
}
if parse_version(sklearn.__version__) < parse_version("1.9"):
    FAILURES["test_scorer_metadata_request"] = (
        "a weight that is not requested is an error that says so, as from 1.9 on",
        "DID NOT RAISE",
    )

PATCH = mock.patch.dict(_scorer._SCORERS, roc_auc=OneGroupScorer())
REACHES = reached_by(['"roc_auc"', "_SCORERS", "get_scorer_names"], ["roc_auc", OneGroupScorer])
globals().update(collected("sklearn.metrics.tests.test_score_objects", PATCH, REACHES, FAILURES))


@pytest.fixture(autouse=True)
def our_scorer(monkeypatch):
    monkeypatch.setitem(_scorer._SCORERS, "roc_auc", OneGroupScorer())
