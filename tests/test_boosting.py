"""Metrics for XGBoost and LightGBM; training with XGBoost is tested in tests/engines."""

from functools import partial
from types import SimpleNamespace

import lightgbm
import numpy as np
import pandas as pd
import pytest
from boosting_cases import TRAIN, VALID, WEIGHTS, oracle
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from skfedauc import boosting, make_group_auc_scorer
from skfedauc.boosting import LightGBMMetric, XGBoostMetric

# LightGBM 4.7 deprecates `eval_set`, but encodes text labels only there.
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")

STATISTICS = ["pooled", "macro", "positives", "within", "worst", "cross", "neg_difference"]
SMALL = {"num_leaves": 4, "verbose": -1, "n_jobs": 1, "deterministic": True, "metric": "None"}


def dataset(X, y, weight=None):
    return lightgbm.Dataset(X, y, weight=weight, free_raw_data=False, params={"verbose": -1})


def booster_and_history(metric, weight=None, rounds=12, **params):
    history = {}
    train = dataset(*TRAIN[:2])
    booster = lightgbm.train(
        {"objective": "binary", **SMALL, **params},
        train,
        rounds,
        valid_sets=[lightgbm.Dataset(*VALID[:2], weight=weight, reference=train)],
        valid_names=["valid"],
        feval=metric,
        callbacks=[lightgbm.record_evaluation(history)],
    )
    return booster, history["valid"]


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_every_round_of_lightgbm_has_the_statistic_of_its_predictions(statistic, weight):
    metric = LightGBMMetric(statistic, groups=[VALID[1:]])
    booster, history = booster_and_history(metric, weight)
    expected = [
        oracle(
            statistic, VALID[1], booster.predict(VALID[0], num_iteration=i + 1), VALID[2], weight
        )
        for i in range(12)
    ]
    assert history[f"auc_{statistic}"] == pytest.approx(expected, rel=1e-12)
    assert len(set(expected)) > 3


# LightGBM 4.6 names the features of arrays when it fits, and not when it predicts.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_early_stopping_of_lightgbm_takes_the_best_round():
    metric = LightGBMMetric("worst", groups=[VALID[1:]])
    model = lightgbm.LGBMClassifier(n_estimators=60, **SMALL).fit(
        *TRAIN[:2],
        eval_set=[VALID[:2]],
        eval_metric=metric,
        callbacks=[lightgbm.early_stopping(8, verbose=False)],
    )
    values = model.evals_result_["valid_0"]["auc_worst"]
    assert model.best_iteration_ == 1 + int(np.argmax(values)) < len(values) < 60


def test_a_function_is_refused_on_several_machines():
    metric = LightGBMMetric("macro", groups=lambda data: VALID[2])
    for params in (
        {"num_machines": 2},
        {"machines": "10.0.0.1:12400,10.0.0.2:12400"},
        {"nodes": ["10.0.0.1:12400", "10.0.0.2:12400"]},
    ):
        local = SimpleNamespace(params=params, get_label=lambda: VALID[1], get_weight=lambda: None)
        with pytest.raises(ValueError, match="no exchange between the metrics of several machines"):
            metric(VALID[0][:, 0], local)


@pytest.fixture(params=[XGBoostMetric, LightGBMMetric])
def make(request):
    return request.param


def value(metric, y, scores, *weights):
    """Return the value of a metric, for calls by estimators with scikit-learn's interface."""
    found = metric(y, scores, *weights)
    return found[1] if isinstance(found, tuple) else found


def test_rows_that_are_not_those_of_the_groups_are_refused(make):
    metric = make("macro", groups=[VALID[1:]])
    with pytest.raises(ValueError, match="with the rows in their order"):
        metric(VALID[1][::-1], VALID[0][::-1, 0])
    with pytest.raises(ValueError, match=r"one score per row.*\(300, 4\)"):
        metric(VALID[1], VALID[0])
    with pytest.raises(TypeError, match="passes only arrays"):
        make("macro", groups=len)(VALID[1], VALID[0][:, 0])


def test_sets_that_cannot_be_distinguished_are_refused(make):
    y = np.repeat([0, 1], 5)
    a, b = list("aabbaabbab"), list("abababbaba")
    with pytest.raises(ValueError, match=r"groups\[0\] and groups\[1\] have the same labels y"):
        make("macro", groups=[(y, a), (y, b)])
    assert repr(make("macro", groups=[(y, a), (y == 1, a)])).endswith("groups=<2 evaluation sets>)")


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((VALID[1], VALID[2][:-1]), "groups has 299 rows and y has 300"),
        ((VALID[1] + 1, VALID[2]), r"y of groups\[0\] must be 0 and 1.* got 1, 2"),
        ((VALID[2], VALID[2]), r"y of groups\[0\] must be 0 and 1"),
        ((VALID[0][:, 0], VALID[2]), r"y of groups\[0\] must be 0 and 1"),
        ((VALID[1], np.where(VALID[1] == 1, None, VALID[2])), "missing labels"),
    ],
)
def test_invalid_sets_are_refused(make, pair, message):
    with pytest.raises(ValueError, match=message):
        make("macro", groups=[pair])


def test_groups_may_be_absent_for_the_pooled_auc_of_xgboost_only():
    assert XGBoostMetric("pooled")(VALID[1], VALID[0][:, 0]) == pytest.approx(
        roc_auc_score(VALID[1], VALID[0][:, 0])
    )
    with pytest.raises(ValueError, match="groups is required for the statistic 'macro'"):
        XGBoostMetric("macro")
    with pytest.raises(TypeError, match="use LightGBM's metric 'auc'"):
        LightGBMMetric("pooled", groups=None)


def test_an_evaluation_set_of_one_class_has_no_value(make):
    metric = make("pooled", groups=[([1, 1], ["a", "b"])])
    with pytest.warns(UndefinedMetricWarning, match="needs rows of both classes"):
        assert np.isnan(value(metric, [1, 1], [0.1, 0.2]))
    assert np.isnan(
        value(make("pooled", groups=[([1, 1], ["a", "b"])], undefined="ignore"), [1, 1], [0.1, 0.2])
    )


class Workers:
    """The operations of ``xgboost.collective`` that the metric uses, for one worker after another.

    In a first round the workers leave their messages, which they receive in a second round.
    """

    def __init__(self, n_workers):
        self.messages, self.rank = [b""] * n_workers, None

    def get_world_size(self):
        return len(self.messages)

    def broadcast(self, message, root):
        if root == self.rank:
            self.messages[root] = message
        return self.messages[root]

    def values(self, calls):
        """Return the result of each worker's call."""
        for _ in range(2):
            found = []
            for self.rank, call in enumerate(calls):
                found.append(call())
        return found


def test_weighted_rows_of_workers_are_merged(monkeypatch):
    """tests/engines trains workers of XGBoost, on rows without weights."""
    X, y, site = VALID
    scores, worker = X[:, 0].astype(np.float32), np.where(np.arange(300) < 40, 0, 2)
    workers = Workers(3)  # the second one has no rows
    monkeypatch.setattr(boosting, "_collective", lambda: workers)
    rows = [worker == number for number in range(3)]
    for statistic in STATISTICS:
        metrics = [XGBoostMetric(statistic, groups=[(y[of], site[of])]) for of in rows]
        calls = [
            partial(metric, y[of], scores[of], WEIGHTS[of])
            for metric, of in zip(metrics, rows, strict=True)
        ]
        # Sums of weights are exact: the weights are multiples of one half.
        assert workers.values(calls) == [oracle(statistic, y, scores, site, WEIGHTS)] * 3
    pooled = partial(XGBoostMetric("pooled", undefined="ignore"), [], [])
    assert np.isnan(workers.values([pooled] * 3)).all()


def test_tau_is_that_of_scorers():
    y, site = np.arange(120) % 2, np.repeat(["a", "b", "c"], 40)
    x = np.random.default_rng(0).normal(size=120) + y * np.repeat([0.5, 1.0, 2.0], 40)
    X = pd.DataFrame({"x": x, "site": site})
    model = FrozenEstimator(LogisticRegression().fit(x[:, None], y))
    pipeline = make_pipeline(make_column_transformer(("passthrough", ["x"])), model).fit(X, y)
    expected = make_group_auc_scorer("neg_tau", groups="site")(pipeline, X, y)
    metric = LightGBMMetric("neg_tau", groups=[(y, site)])
    found = metric(pipeline.decision_function(X), dataset(x[:, None], y).construct())
    assert found[1:] == (pytest.approx(expected), True)  # greater is better
