"""Results with scikit-learn's array API dispatch, beside those of numpy without it.

``SCIPY_ARRAY_API=1 python array_api_cases.py torch`` prints the names of the cases that differ.
scipy reads the variable when it is imported, so that the cases need a process of their own.
"""

import importlib
import sys

import numpy as np
import sklearn
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MitigatedClassifier,
    MulticlassGroupAUC,
    WithinGroupStratifiedKFold,
    compare_models,
    cross_validate_group_auc,
    group_roc_auc_score,
    make_group_auc_scorer,
)
from skfedauc.error_bounds import fit_with_error_bound


def make_rows(n=120):
    """Return features with the group in the last column, classes, groups and scores."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(size=(n, 2)), groups])
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64), groups, X[:, 0].copy()


def routed(X, y, groups):
    scorer = make_group_auc_scorer("pooled", groups=None)
    given = {"cv": 3, "params": {"groups": groups}, "error_score": "raise"}
    model = LinearDiscriminantAnalysis()
    return cross_validate(model, X, y, scoring=scorer, **given)["test_score"]


def weighted():
    return LogisticRegression().set_fit_request(sample_weight=True)


def optimizer():
    optimizer = ThresholdOptimizer(estimator=weighted(), predict_method="predict_proba")
    return MitigatedClassifier(optimizer, groups=2, random_state=0)


def results(X, y, groups, scores):
    """Return results by name; scikit-learn's own models are discriminants, which dispatch."""
    model = LinearDiscriminantAnalysis().fit(X, y)
    of_groups = LinearDiscriminantAnalysis().fit(X[:, :2], groups)
    of_three = make_group_auc_scorer("pooled", groups=None, multi_class="ovr")
    of_first = make_group_auc_scorer("worst", groups=None, pos_label=0)
    return {
        "predictions": GroupAUC.from_predictions(y, scores, groups=groups).pooled,
        "function": group_roc_auc_score(
            y, scores, groups=groups, statistic="macro", sample_weight=scores * 0 + 2.0
        ),
        "estimator": GroupAUC.from_estimator(model, X, y, groups=groups).pooled,
        "labels": GroupAUC.from_estimator(
            model, X, y, groups=groups, response_method="predict"
        ).pooled,
        "scorer": of_first(model, X, y, groups=groups),
        "scorer of classes": of_three(of_groups, X[:, :2], groups, groups=y),
        "classes": MulticlassGroupAUC.from_estimator(
            of_groups, X[:, :2], groups, groups=y
        ).statistic("pooled"),
        "routed": routed(X, y, groups),
        "cross-validation": cross_validate_group_auc(
            LinearDiscriminantAnalysis(), X, y, groups=groups, cv=3
        ).over_folds.pooled,
        "folds": np.concatenate(
            [test for _, test in WithinGroupStratifiedKFold(3).split(X, y, groups=groups)]
        ),
        "audit": FairnessAudit.from_estimator(model, X, y, groups=groups).gaps["estimate"],
        "decisions": FairnessAudit.from_predictions(
            y, scores, groups=groups, y_pred=scores > 0
        ).gaps["estimate"],
        "comparison": compare_models(
            y, {"a": scores, "b": X[:, 1]}, groups=groups
        ).table.to_numpy(),
        "thresholds": optimizer().fit(X, y, sample_weight=scores * 0 + 2.0).predict(X),
        "error bound": fit_with_error_bound(
            LinearDiscriminantAnalysis(), X, y, random_state=0
        ).predict(X),
    }


def main(library):
    convert = importlib.import_module(library).asarray
    with sklearn.config_context(enable_metadata_routing=True):
        expected = results(*make_rows())
        with sklearn.config_context(array_api_dispatch=True):
            found = results(*map(convert, make_rows()))
    for name, value in expected.items():
        if not np.allclose(
            np.asarray(found[name], float), np.asarray(value, float), rtol=1e-9, equal_nan=True
        ):
            print(name, found[name], value)
    print(f"{len(expected)} cases")


if __name__ == "__main__":
    main(sys.argv[1])
