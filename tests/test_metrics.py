"""group_roc_auc_score: all statistics, and the arguments."""

import numpy as np
import pytest
from oracles import STATISTICS, WEIGHTS, all_pairs, random_case, same_statistic
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score

from skfedauc import group_roc_auc_score

ROWS = {
    "y_true": [0, 1, 0, 1, 1],
    "y_score": [0.2, 0.6, 0.5, 0.4, 0.9],
    "groups": ["a", "a", "b", "b", "c"],
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seeds", [range(8), range(8, 16)], ids=str)
def test_statistics_equal_brute_force(seeds, weights):
    for seed in seeds:
        case = random_case(seed, weights=weights)
        expected = all_pairs(case).statistics
        for name in STATISTICS:
            got = group_roc_auc_score(**case.arguments, statistic=name, undefined="ignore")
            assert isinstance(got, float)
            assert same_statistic(name, got, expected[name]), (name, seed)


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
