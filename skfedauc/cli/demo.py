"""Example without a command: search, selection and report on scikit-learn's data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import GroupAUC, group_auc_scoring
from skfedauc.cli.audit import report_lines


def demo(_: Any) -> Iterator[list[str]]:
    """Yield lines on a search, its selection and its report, for scikit-learn's diabetes data."""
    data = load_diabetes(as_frame=True, scaled=False)
    age = pd.cut(data.data["age"], [0, 50, 120], right=False, labels=["under 50", "50 and over"])
    group = "sex " + data.data["sex"].astype(int).astype(str) + ", " + age.astype(str)
    X, y = data.data.assign(group=group), (data.target > data.target.median()).astype(int)
    # Every part has both classes of every group, so all AUCs exist.
    strata = X["group"] + y.astype(str)
    X_train, X_test, y_train, y_test, strata_train, _ = train_test_split(
        X, y, strata, test_size=0.5, stratify=strata, random_state=0
    )
    search = _search(strata_train).fit(X_train, y_train)
    results = pd.DataFrame(search.cv_results_)
    candidates = pd.DataFrame({"C": results["param_model__C"].map("{:g}".format)})
    for name in search.scorer_:
        best = results[f"rank_test_{name}"].map(lambda rank: "*" if rank == 1 else " ")
        candidates[name] = results[f"mean_test_{name}"].map("{:.3f}".format) + best
    report = GroupAUC.from_estimator(search, X_test, y_test, groups="group")
    yield [
        f"Data: scikit-learn's diabetes data, {len(X)} patients, of whom {int(y.sum())} are "
        "labeled positive:",
        "their disease progression after one year is above the median of all patients.",
        "Groups: sex (the data do not document which sex is 1 and which is 2) by age.",
        "",
        f"Search: logistic regression on {len(X_train)} patients, 3 folds. Mean test scores;",
        f"* marks the best candidate. Selected on {search.refit!r}.",
        *candidates.to_string(index=False).splitlines(),
        f"Selected: C = {search.best_params_['model__C']:g}",
        "",
        f"The selected model on {len(X_test)} held-out patients:",
        *report_lines(report),
        "",
        *textwrap.wrap(
            f"What it means: {1 - report.decomposition().share_within:.0%} of the pairs of the "
            "pooled AUC compare patients of two groups; within measures how well the model ranks "
            "within a group.",
            width=92,
        ),
    ]


def _search(strata: pd.Series[str]) -> Any:
    # The model does not use the column of groups. The scorers read this column from X.
    numbers = make_column_selector(dtype_include="number")
    measurements = make_column_transformer((StandardScaler(), numbers), remainder="drop")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(
        Pipeline([("measurements", measurements), ("model", LogisticRegression())]),
        {"model__C": [0.001, 0.01, 0.1, 1.0, 10.0]},
        cv=list(folds.split(strata, strata)),
        scoring=group_auc_scoring(["pooled", "macro", "worst", "neg_difference"], groups="group"),
        refit="worst",
        error_score="raise",
    )
