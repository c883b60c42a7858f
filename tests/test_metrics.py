"""group_roc_auc_score: its arguments; test_report.py has the statistics."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score

from skfedauc import group_roc_auc_score

ROWS = {
    "y_true": [0, 1, 0, 1, 1],
    "y_score": [0.2, 0.6, 0.5, 0.4, 0.9],
    "groups": ["a", "a", "b", "b", "c"],
}


def test_groups_are_needed_by_name():
    with pytest.raises(TypeError, match="groups"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"])
    with pytest.raises(TypeError, match="groups must give the group of each row"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"], groups=None)
    with pytest.raises(TypeError, match="positional"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"], ROWS["groups"])


def test_it_is_a_metric_that_scikit_learn_takes():
    X, y = np.array(ROWS["y_score"])[:, None], ROWS["y_true"]
    model = LogisticRegression().fit(X, y)
    options = {"groups": ROWS["groups"], "statistic": "pooled"}
    scorer = make_scorer(group_roc_auc_score, response_method="predict_proba", **options)
    assert scorer(model, X, y) == pytest.approx(roc_auc_score(y, X), abs=1e-12)
