"""Metrics for XGBoost and LightGBM on workers of Dask, beside the AUC of each library."""

from operator import methodcaller

import dask.array as da
import lightgbm
import numpy as np
import pytest
import xgboost
from dask import delayed
from sklearn.metrics import roc_auc_score
from xgboost import dask as xgboost_dask

from skfedauc import group_roc_auc_score
from skfedauc.boosting import LightGBMMetric, XGBoostMetric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 4))
SITE = RNG.integers(0, 3, 900)
Y = (X[:, 0] + RNG.normal(size=900) > 0).astype(int)
TRAIN, VALID = slice(600), slice(600, 900)


def parts(array, n_rows):
    return da.from_array(array, chunks=(n_rows, *array.shape[1:]))


def in_parts(rows, n_rows):
    return parts(X[rows], n_rows), parts(Y[rows], n_rows)


@pytest.mark.parametrize("n_rows", [250, 300], ids=["unequal parts", "all rows on one worker"])
def test_classifiers_of_xgboost_report_the_pooled_auc_of_all_rows(dask_client, n_rows):
    model = xgboost_dask.DaskXGBClassifier(
        n_estimators=40,
        max_depth=2,
        early_stopping_rounds=10,
        eval_metric=["auc", XGBoostMetric("pooled")],
    )
    model.client = dask_client
    model.fit(*in_parts(TRAIN, 200), eval_set=[in_parts(VALID, n_rows)], verbose=False)
    history = model.evals_result()["validation_0"]
    matrix, booster = xgboost.DMatrix(X[VALID]), model.get_booster()
    rounds = range(1, len(history["auc"]) + 1)
    of_rounds = [booster.predict(matrix, iteration_range=(0, i)) for i in rounds]
    true = [roc_auc_score(Y[VALID], scores) for scores in of_rounds]
    assert history["auc_pooled"] == pytest.approx(true, abs=5.1e-7)
    assert model.best_iteration == int(np.argmax(np.round(true, 6)))
    # XGBoost averages the AUCs of the parts.
    is_average = abs(history["auc"][-1] - true[-1]) > 1e-3
    assert is_average == (n_rows == 250)


def test_groups_may_be_a_column_of_the_matrix_of_dask(dask_client):
    X_valid, y_valid = in_parts(VALID, 250)
    result = xgboost_dask.train(
        dask_client,
        {"objective": "binary:logistic", "max_depth": 2},
        xgboost_dask.DaskDMatrix(dask_client, *in_parts(TRAIN, 200)),
        num_boost_round=5,
        evals=[
            (
                xgboost_dask.DaskDMatrix(
                    dask_client,
                    X_valid,
                    y_valid,
                    label_lower_bound=parts(SITE[VALID].astype(np.float32), 250),
                ),
                "valid",
            )
        ],
        custom_metric=XGBoostMetric(
            "worst", groups=methodcaller("get_float_info", "label_lower_bound")
        ),
        verbose_eval=False,
    )
    scores = result["booster"].predict(xgboost.DMatrix(X[VALID]))
    expected = group_roc_auc_score(Y[VALID], scores, groups=SITE[VALID], statistic="worst")
    assert result["history"]["valid"]["auc_worst"][-1] == pytest.approx(expected, abs=5.1e-7)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.filterwarnings("ignore:Parameter n_jobs will be ignored")
def test_a_part_of_an_evaluation_set_is_refused_with_lightgbm(dask_client):
    workers = sorted(dask_client.scheduler_info()["workers"])

    def halves(array):
        blocks = np.split(array, 2)
        return da.concatenate(
            [
                da.from_delayed(
                    delayed(dask_client.scatter(block, workers=[worker], hash=False)),
                    block.shape,
                    block.dtype,
                )
                for block, worker in zip(blocks, workers, strict=True)
            ]
        )

    # LightGBM would report the AUC of one part.
    model = lightgbm.DaskLGBMClassifier(n_estimators=5, verbose=-1, client=dask_client)
    metric = LightGBMMetric("worst", groups=[(Y[VALID], SITE[VALID])])
    with pytest.raises(ValueError, match=r"groups has no tuple .* evaluation set of 150 rows"):
        model.fit(
            halves(X[TRAIN]),
            halves(Y[TRAIN]),
            eval_set=[(halves(X[VALID]), halves(Y[VALID]))],
            eval_metric=metric,
        )
