"""The ways to pass groups to a scorer, and scikit-learn's tools that call scorers.

Each tool is run twice: by scikit-learn with a scorer of ours, and as a plain loop.
"""

import functools
from dataclasses import dataclass, field, replace
from inspect import signature
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import sklearn
from contract_oracle import Expected, fold_scores, folds_of
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import resample

FEATURES = ["dose", "level", "noise"]
PENALTY = "logisticregression__C"
PENALTIES = [0.003, 0.1, 10.0]
CV = StratifiedKFold(3, shuffle=True, random_state=0)
# The options of all tools
SETTINGS = {"cv": CV, "error_score": "raise"}


def assert_same(actual, expected):
    assert np.shape(actual) == np.shape(expected)
    assert_allclose(actual, expected, rtol=0, atol=1e-12)


@dataclass
class Way:
    """A way to pass groups to a scorer: the data, `groups`, and the parameters of fit."""

    X: Any
    y: np.ndarray
    site: np.ndarray
    model: Any
    groups: Any
    params: dict = field(default_factory=dict)

    @property
    def is_routed(self):
        return self.groups is None


def make_data(n_rows=240, seed=4):
    """Return rows of four sites: "level" ranks between sites, "dose" ranks within sites."""
    rng = np.random.default_rng(seed)
    code = rng.choice(4, n_rows, p=[0.35, 0.3, 0.2, 0.15])
    dose, noise = rng.normal(size=(2, n_rows))
    level = code + rng.normal(scale=0.3, size=n_rows)
    y = (dose + 0.4 * code + rng.normal(size=n_rows) > 0.8).astype(int)
    X = pd.DataFrame(
        {"dose": dose, "level": level, "noise": noise},
        index=pd.Index(rng.permutation(10 * n_rows)[:n_rows], name="row"),
    )
    return X, y, np.array(["va", "cleveland", "budapest", "zurich"])[code]


def plain_model():
    return make_pipeline(StandardScaler(), LogisticRegression())


def dropping_model(columns=FEATURES):
    keep = ColumnTransformer([("features", StandardScaler(), columns)])
    return make_pipeline(keep, LogisticRegression())


def dropping_polars_model(columns=FEATURES):
    """Return `dropping_model` for polars; ColumnTransformer supports polars from 1.9 on."""
    keep = FunctionTransformer(itemgetter(columns))
    return make_pipeline(keep, StandardScaler(), LogisticRegression())


def make_way(name):
    X, y, site = make_data()
    if name == "routed":
        return Way(X, y, site, plain_model(), None, {"groups": site})
    if name == "routed polars":
        frame, labels = pl.from_pandas(X), pl.Series("site", site)
        return Way(frame, y, site, plain_model(), None, {"groups": labels})
    if name == "pandas column":
        return Way(X.assign(site=site), y, site, dropping_model(), "site")
    if name == "polars column":
        frame = pl.from_pandas(X.assign(site=site))
        return Way(frame, y, site, dropping_polars_model(), "site")
    if name == "two columns":
        ward = np.where(np.arange(y.size) % 2, "day", "night")
        both = np.char.add(np.char.add(site, "_"), ward)
        frame = X.assign(site=site, ward=ward)
        return Way(frame, y, both, dropping_model(), ["site", "ward"])
    if name == "aligned series":
        # The Series has another order than X, and labels of rows that X lacks.
        labels = pd.concat([pd.Series(site, X.index), pd.Series({-1: "paris", -2: "va"})])
        labels = labels.sample(frac=1, random_state=1)
        return Way(X, y, site, plain_model(), labels)
    raise KeyError(name)


WAYS = ["routed", "routed polars", "pandas column", "polars column", "aligned series"]


def with_penalty(model, penalty):
    return clone(model).set_params(**{PENALTY: penalty})


def penalised(way, statistic, splits=CV):
    """Return scores of the candidates in PENALTIES, shape (n_candidates, n_folds).

    A list of statistics gives the shape (n_candidates, n_statistics, n_folds).
    """
    models = [with_penalty(way.model, penalty) for penalty in PENALTIES]
    return np.array([fold_scores(way, statistic, splits, model=model) for model in models])


def by_candidate(search, name="score"):
    """Return scores of shape (n_candidates, n_folds), with candidates in the order of PENALTIES."""
    results = search.cv_results_
    order = np.argsort([params[PENALTY] for params in results["params"]])
    folds = [results[f"split{i}_test_{name}"] for i in range(search.n_splits_)]
    return np.transpose(folds)[order]


def grid_search(way, scoring, *, make=GridSearchCV, **options):
    search = make(way.model, {PENALTY: PENALTIES}, **{**SETTINGS, "scoring": scoring, **options})
    return search.fit(way.X, way.y, **way.params)


def randomized_search(way, scoring, **options):
    options |= {"n_iter": len(PENALTIES), "random_state": 0}
    return grid_search(way, scoring, make=RandomizedSearchCV, **options)


def halving_search(way, scorer):
    options = {"min_resources": 120, "factor": 2, "random_state": 0}
    results = grid_search(way, scorer, make=HalvingGridSearchCV, **options).cv_results_
    return np.array([results[f"split{i}_test_score"] for i in range(3)]).T


def halving_loop(way, statistic):
    """Keep the better half of the candidates, double the rows, and score the candidates again."""
    scores, left = [], PENALTIES
    for n_rows in (120, 240):
        part = {"replace": False, "random_state": 0}
        splits = [
            [resample(rows, n_samples=len(rows) * n_rows // 240, **part) for rows in fold]
            for fold in folds_of(CV, way.y)
        ]
        models = [with_penalty(way.model, penalty) for penalty in left]
        now = [fold_scores(way, statistic, splits, model=model) for model in models]
        scores += now
        best = np.argsort(np.mean(now, axis=1))[-2:]
        left = [left[i] for i in best]
    return np.array(scores)


def in_function(function, way, scorer, **options):
    options = {**SETTINGS, "scoring": scorer, "params": way.params, **options}
    return function(way.model, way.X, way.y, **options)


def cross_validation(way, scoring, **options):
    return in_function(cross_validate, way, scoring, **options)


def train_and_test_scores(way, scorer):
    result = cross_validation(way, scorer, return_train_score=True)
    return np.array([result["train_score"], result["test_score"]])


def train_and_test_loop(way, statistic):
    test_rows = folds_of(CV, way.y)
    train_rows = [(train, train) for train, _ in test_rows]
    return np.array([fold_scores(way, statistic, splits) for splits in (train_rows, test_rows)])


def cross_val_scores(way, scorer):
    return in_function(cross_val_score, way, scorer)


SIZES = [80, 160]


def learning(way, scorer):
    _, train, test = in_function(learning_curve, way, scorer, train_sizes=SIZES)
    return np.array([train, test])


def learning_loop(way, statistic):
    folds = folds_of(CV, way.y)
    train = [[(train[:size], train[:size]) for train, _ in folds] for size in SIZES]
    test = [[(train[:size], test) for train, test in folds] for size in SIZES]
    return np.array([[fold_scores(way, statistic, s) for s in part] for part in (train, test)])


def validation(way, scorer):
    candidates = {"param_name": PENALTY, "param_range": PENALTIES}
    return in_function(validation_curve, way, scorer, **candidates)[1]


def permutations(way, scorer):
    options = {"scoring": scorer, "params": way.params, "cv": CV, "n_permutations": 3}
    options |= {"random_state": 0}
    score, permuted, _ = permutation_test_score(way.model, way.X, way.y, **options)
    return np.array([score, *permuted])


def permutation_loop(way, statistic):
    """Shuffle the labels; the rows of X and the groups remain."""
    rng = np.random.RandomState(0)
    shuffled = [way.y, *(way.y[rng.permutation(way.y.size)] for _ in range(3))]
    return np.array([fold_scores(way, statistic, CV, y=y).mean() for y in shuffled])


def eliminate(way, scorer):
    search = RFECV(LogisticRegression(), cv=CV, scoring=scorer).fit(way.X, way.y, **way.params)
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(3)])


def eliminate_loop(way, statistic):
    """Repeatedly remove the feature with the smallest coefficient."""
    values = np.asarray(way.X)
    scores = np.zeros((3, values.shape[1]))
    for i, (train, test) in enumerate(folds_of(CV, way.y)):
        left = list(range(values.shape[1]))
        while left:
            model = LogisticRegression().fit(values[train][:, left], way.y[train])
            score = model.decision_function(values[test][:, left])
            expected = Expected(way.y[test], score, way.site[test])
            scores[i, len(left) - 1] = expected[statistic]
            del left[int(np.argmin(model.coef_[0] ** 2))]
    return scores


def select_features(way, scorer):
    search = SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=2, scoring=scorer, cv=CV
    ).fit(way.X, way.y, **way.params)
    return search.get_support()


def select_loop(way, statistic):
    """Repeatedly add the feature that increases the mean score most."""
    values, chosen = np.asarray(way.X), []
    plain = replace(way, model=LogisticRegression())
    for _ in range(2):
        left = [j for j in range(values.shape[1]) if j not in chosen]
        means = [
            fold_scores(replace(plain, X=values[:, sorted([*chosen, j])]), statistic, CV).mean()
            for j in left
        ]
        chosen.append(left[int(np.argmax(means))])
    return np.isin(np.arange(values.shape[1]), chosen)


def path_of(**options):
    """Scikit-learn's releases require different arguments for results of the old shape."""
    known = "use_legacy_attributes" in signature(LogisticRegressionCV).parameters
    shape = {"use_legacy_attributes": False, "l1_ratios": (0,)} if known else {}
    return LogisticRegressionCV(**shape, **options)


def path_scores(way, scorer):
    model = path_of(Cs=PENALTIES, scoring=scorer, cv=CV, tol=1e-10)
    scores = model.fit(way.X, way.y, **way.params).scores_
    return np.reshape(next(iter(scores.values())) if isinstance(scores, dict) else scores, (3, -1))


def path_loop(way, statistic):
    models = [LogisticRegression(C=penalty, tol=1e-10) for penalty in PENALTIES]
    return np.transpose([fold_scores(way, statistic, CV, model=model) for model in models])


def leave_one_out(way, scorer):
    return RidgeCV(PENALTIES, scoring=scorer).fit(way.X, way.y, **way.params).best_score_


def leave_one_out_loop(way, statistic):
    """Rank rows by leave-one-out predictions of a ridge regression on 0 and 1."""
    values, found = np.asarray(way.X, float), []
    for penalty in PENALTIES:
        scores = np.empty(way.y.size)
        for i in range(way.y.size):
            X, y = np.delete(values, i, axis=0), np.delete(way.y, i)
            X_mean, y_mean = X.mean(axis=0), y.mean()
            gram = (X - X_mean).T @ (X - X_mean) + penalty * np.eye(X.shape[1])
            coef = np.linalg.solve(gram, (X - X_mean).T @ (y - y_mean))
            scores[i] = y_mean + (values[i] - X_mean) @ coef
        found.append(Expected(way.y, scores, way.site)[statistic])
    return max(found)


@functools.cache
def by_loop(loop, wanted):
    """Scores by a plain loop, which are the same for all ways: a statistic's, or several's."""
    return loop(make_way("routed"), list(wanted) if isinstance(wanted, tuple) else wanted)


def by_fold(way, statistic):
    return fold_scores(way, statistic, CV)


# For each tool of the table in the docstring: a run with a scorer, and a plain loop
TOOLS = {
    "GridSearchCV": (lambda way, scorer: by_candidate(grid_search(way, scorer)), penalised),
    "RandomizedSearchCV": (
        lambda way, scorer: by_candidate(randomized_search(way, scorer)),
        penalised,
    ),
    "HalvingGridSearchCV": (halving_search, halving_loop),
    "cross_validate": (train_and_test_scores, train_and_test_loop),
    "cross_val_score": (cross_val_scores, by_fold),
    "learning_curve": (learning, learning_loop),
    "validation_curve": (validation, penalised),
    "permutation_test_score": (permutations, permutation_loop),
    "RFECV": (eliminate, eliminate_loop),
    "SequentialFeatureSelector": (select_features, select_loop),
    "LogisticRegressionCV": (path_scores, path_loop),
    "RidgeCV": (leave_one_out, leave_one_out_loop),
}
TURN_X_INTO_NUMPY = ["RFECV", "SequentialFeatureSelector", "LogisticRegressionCV", "RidgeCV"]
# In scikit-learn 1.8, RidgeCV requires a decision function, which no regressor has.
if sklearn.__version__.startswith("1.8."):
    del TOOLS["RidgeCV"]
    TURN_X_INTO_NUMPY.remove("RidgeCV")
