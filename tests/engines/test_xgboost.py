"""`XGBoostMetric` in training with XGBoost: one process, workers on loopback, Dask."""

import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xgboost
from boosting_cases import TRAIN, VALID, WEIGHTS, oracle
from processes import run_python
from sklearn.base import clone
from xgboost.tracker import RabitTracker

from skfedauc.boosting import XGBoostMetric

WORKER = Path(__file__).with_name("xgboost_worker.py")
STATISTICS = ["pooled", "macro", "worst", "neg_difference"]
PARAMS = {
    "objective": "binary:logistic",
    "max_depth": 2,
    "eta": 0.3,
    "nthread": 1,
    "disable_default_eval_metric": True,
}


def of_rounds(statistic, predict, n_rounds, weights=None):
    """Return the statistic of VALID in each round, with the six decimals that XGBoost keeps."""
    values = [
        oracle(statistic, VALID[1], predict(i + 1), VALID[2], weights) for i in range(n_rounds)
    ]
    return [float(f"{value:f}") for value in values]


@pytest.mark.parametrize("matrix", [xgboost.DMatrix, xgboost.QuantileDMatrix])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_every_round_has_the_statistic_of_its_predictions(matrix, statistic, weights):
    train = matrix(*TRAIN[:2])
    further = {} if matrix is xgboost.DMatrix else {"ref": train}
    valid = matrix(VALID[0], VALID[1], weight=weights, **further)
    history = {}
    booster = xgboost.train(
        PARAMS,
        train,
        10,
        evals=[(train, "train"), (valid, "valid")],
        custom_metric=XGBoostMetric(statistic, groups=[TRAIN[1:], VALID[1:]]),
        evals_result=history,
        verbose_eval=False,
    )
    expected = of_rounds(
        statistic, lambda i: booster.predict(valid, iteration_range=(0, i)), 10, weights
    )
    assert history["valid"][f"auc_{statistic}"] == expected
    assert len(set(expected)) > 3


def classifier(metric, **params):
    return xgboost.XGBClassifier(
        n_estimators=80, max_depth=2, learning_rate=0.3, eval_metric=metric, **params
    )


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_early_stopping_takes_the_best_round(statistic, n_jobs):
    metric = XGBoostMetric(statistic, groups=[VALID[1:]])
    model = classifier(metric, early_stopping_rounds=8, n_jobs=n_jobs)
    model.fit(*TRAIN[:2], eval_set=[VALID[:2]], verbose=False)
    whole = classifier(None, n_jobs=n_jobs).fit(*TRAIN[:2])
    found = model.evals_result()["validation_0"][f"auc_{statistic}"]
    expected = of_rounds(
        statistic,
        lambda i: whole.predict_proba(VALID[0], iteration_range=(0, i))[:, 1],
        len(found),
    )
    assert found == expected
    assert model.best_iteration == int(np.argmax(expected)) < len(expected) < 80


def test_classifiers_with_the_metric_can_be_cloned_and_pickled():
    model = clone(classifier(XGBoostMetric("worst", groups=[VALID[1:]]), early_stopping_rounds=8))
    model = pickle.loads(pickle.dumps(model))
    model.fit(*TRAIN[:2], eval_set=[VALID[:2]], verbose=False)
    again = pickle.loads(pickle.dumps(model))
    assert again.evals_result() == model.evals_result()
    assert again.best_iteration == model.best_iteration
    assert repr(again.eval_metric) == "XGBoostMetric('worst', groups=<1 evaluation set>)"


def test_a_function_of_the_matrix_finds_the_groups_of_folds():
    codes = np.unique(TRAIN[2], return_inverse=True)[1]
    train = xgboost.DMatrix(*TRAIN[:2])
    train.set_float_info("label_lower_bound", codes)
    folds = [(np.arange(100, 400), np.arange(100)), (np.arange(250), np.arange(250, 400))]
    found = xgboost.cv(
        PARAMS,
        train,
        3,
        folds=folds,
        custom_metric=XGBoostMetric(
            "macro", groups=lambda matrix: matrix.get_float_info("label_lower_bound")
        ),
        as_pandas=False,
    )
    values = []
    for fit, test in folds:
        booster = xgboost.train(PARAMS, xgboost.DMatrix(TRAIN[0][fit], TRAIN[1][fit]), 3)
        scores = booster.predict(xgboost.DMatrix(TRAIN[0][test]))
        values.append(oracle("macro", TRAIN[1][test], scores, TRAIN[2][test]))
    assert found["test-auc_macro-mean"][-1] == pytest.approx(np.mean(values), abs=1e-6)


def test_undefined_groups_are_reported_once_by_training():
    X, y, site = VALID
    site = np.where((site == "oslo") & (y == 1), "bern", site)
    metric = XGBoostMetric("macro", groups=[(y, site)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        classifier(metric).fit(*TRAIN[:2], eval_set=[(X, y)], verbose=False)
    assert len([one for one in caught if "1 of 3 groups" in str(one.message)]) == 1


# The worker of each row of TRAIN and VALID
SPLITS = {
    "unequal": (np.arange(400) % 2, np.arange(300) // 270),
    "no rows": (np.arange(400) % 2, np.zeros(300, int)),
    "one group each": (np.arange(400) % 2, (VALID[2] == "bern").astype(int)),
    "one class each": (np.arange(400) % 2, VALID[1]),
}


def run_worker(worker, tracker):
    task = {
        "collective": tracker.worker_args(),
        "params": PARAMS,
        "statistics": STATISTICS,
        "shards": {
            name: [
                [part[numbers == worker].tolist() for part in some]
                for some, numbers in zip((TRAIN, VALID), split, strict=True)
            ]
            for name, split in SPLITS.items()
        },
    }
    done = run_python("-W", "error", WORKER, input=json.dumps(task), timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # XGBoost may print earlier lines


@pytest.fixture(scope="module")
def on_workers():
    tracker = RabitTracker(n_workers=2, host_ip="127.0.0.1", timeout=600)
    tracker.start()
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(run_worker, range(2), [tracker] * 2))
    tracker.wait_for()
    return results


def scores_of(split, results):
    scores = np.empty(300)
    for worker, result in enumerate(results):
        scores[SPLITS[split][1] == worker] = result[split]["scores"]
    return scores


@pytest.mark.parametrize("split", SPLITS)
def test_both_workers_have_the_statistics_of_all_rows(on_workers, split):
    scores = scores_of(split, on_workers)
    expected = {
        f"auc_{name}": pytest.approx(oracle(name, VALID[1], scores, VALID[2]), abs=5.1e-7)
        for name in STATISTICS
    }
    for result in on_workers:
        assert {name: result[split]["history"][name][-1] for name in expected} == expected
    if split in ("unequal", "one group each"):  # both workers have both classes
        # XGBoost's own AUC is the average within workers, weighted by pairs.
        within = oracle("within", VALID[1], scores, SPLITS[split][1])
        for result in on_workers:
            assert result[split]["history"]["auc"][-1] == pytest.approx(within, abs=5.1e-7)
    # Compare texts, because NaN equals NaN as text.
    first, second = (json.dumps(result[split]["history"]) for result in on_workers)
    assert first == second
    # Without the six decimals of XGBoost
    exact = [oracle(name, VALID[1], scores, VALID[2]) for name in STATISTICS]
    assert on_workers[0][split]["exact"] == on_workers[1][split]["exact"] == exact


@pytest.mark.parametrize("split", SPLITS)
def test_early_stopping_is_the_same_on_both_workers(on_workers, split):
    best = [result[split]["best_iteration"] for result in on_workers]
    values = on_workers[0][split]["stopped"]
    assert best == [int(np.argmax(values))] * 2


def test_an_error_on_one_worker_ends_the_training_of_both(on_workers):
    first, second = (result["error"] for result in on_workers)
    assert first.startswith("groups has no tuple (y, groups) for an evaluation set of 270 rows")
    assert second.startswith("the metric failed on worker")
    assert first in second
