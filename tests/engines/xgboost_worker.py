"""Worker of test_xgboost: train on the shards of a worker, and print its metrics as JSON."""

import json
import sys

import numpy as np
import xgboost
from xgboost import collective

from skfedauc.boosting import XGBoostMetric


def train(task, matrices, metrics, **arguments):
    history = {}
    booster = xgboost.train(
        {**task["params"], "eval_metric": "auc"},
        matrices[0],
        12,
        evals=[(matrices[1], "valid")],
        custom_metric=lambda scores, matrix: [metric(scores, matrix) for metric in metrics],
        evals_result=history,
        verbose_eval=False,
        **arguments,
    )
    return booster, history["valid"]


def work(task):
    results = {}
    for name, shards in task["shards"].items():
        matrices, sets = [], []
        for X, y, site in shards:
            matrices.append(xgboost.DMatrix(np.reshape(X, (-1, 4)), np.array(y)))
            sets.append((np.array(y), np.array(site, str)))
        metrics = [XGBoostMetric(s, groups=sets[1:]) for s in task["statistics"]]
        booster, history = train(task, matrices, metrics)
        scores = booster.predict(matrices[1])
        stopped, of_stopped = train(task, matrices, metrics[-2:-1], early_stopping_rounds=3)
        results[name] = {
            "scores": scores.tolist(),
            "history": history,
            "exact": [metric(scores, matrices[1])[1] for metric in metrics],
            "best_iteration": stopped.best_iteration,
            "stopped": next(v for key, v in of_stopped.items() if key != "auc"),
        }
        if name == "unequal":
            # The worker with most of the rows does not find its groups.
            if len(sets[1][0]) > 100:
                metrics = [XGBoostMetric("macro", groups=sets[:1])]
            try:
                train(task, matrices, metrics[:1])
            except ValueError as error:
                results["error"] = str(error)
    return results


if __name__ == "__main__":
    task = json.load(sys.stdin)
    with collective.CommunicatorContext(**task["collective"]):
        results = work(task)
    print(json.dumps(results))
