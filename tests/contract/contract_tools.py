"""The ways to pass groups to a scorer, and scikit-learn's tools that call scorers.

Each tool is run twice: with a scorer of ours, and with a plain function that knows the groups.
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
from contract_oracle import Expected, decision, fold_scores
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


def in_function(function, way, scorer, **options):
    options = {**SETTINGS, "scoring": scorer, "params": way.params, **options}
    return function(way.model, way.X, way.y, **options)


def cross_validation(way, scoring, **options):
    return in_function(cross_validate, way, scoring, **options)


def train_and_test_scores(way, scorer):
    result = cross_validation(way, scorer, return_train_score=True)
    return np.array([result["train_score"], result["test_score"]])


SIZES = [80, 160]


def learning(way, scorer):
    _, train, test = in_function(learning_curve, way, scorer, train_sizes=SIZES)
    return np.array([train, test])


def validation(way, scorer):
    candidates = {"param_name": PENALTY, "param_range": PENALTIES}
    return in_function(validation_curve, way, scorer, **candidates)[1]


def permutations(way, scorer):
    options = {"scoring": scorer, "params": way.params, "cv": CV, "n_permutations": 3}
    options |= {"random_state": 0}
    score, permuted, _ = permutation_test_score(way.model, way.X, way.y, **options)
    return np.array([score, *permuted])


def eliminate(way, scorer):
    search = RFECV(LogisticRegression(), cv=CV, scoring=scorer).fit(way.X, way.y, **way.params)
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(3)])


def select_features(way, scorer):
    search = SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=2, scoring=scorer, cv=CV
    ).fit(way.X, way.y, **way.params)
    return search.get_support()


def path_of(**options):
    """Scikit-learn's releases require different arguments for results of the old shape."""
    known = "use_legacy_attributes" in signature(LogisticRegressionCV).parameters
    shape = {"use_legacy_attributes": False, "l1_ratios": (0,)} if known else {}
    return LogisticRegressionCV(**shape, **options)


def path_scores(way, scorer):
    model = path_of(Cs=PENALTIES, scoring=scorer, cv=CV, tol=1e-10)
    scores = model.fit(way.X, way.y, **way.params).scores_
    return np.reshape(next(iter(scores.values())) if isinstance(scores, dict) else scores, (3, -1))


def leave_one_out(way, scorer):
    return RidgeCV(PENALTIES, scoring=scorer).fit(way.X, way.y, **way.params).best_score_


@functools.cache
def by_loop(loop, wanted):
    """Scores by a plain loop, which are the same for all ways: a statistic's, or several's."""
    return loop(make_way("routed"), list(wanted) if isinstance(wanted, tuple) else wanted)


def by_fold(way, statistic):
    return fold_scores(way, statistic, CV)


# Runs of the tools in the table of the docstring
TOOLS = {
    "GridSearchCV": lambda way, scorer: by_candidate(grid_search(way, scorer)),
    "RandomizedSearchCV": lambda way, scorer: by_candidate(randomized_search(way, scorer)),
    "HalvingGridSearchCV": halving_search,
    "cross_validate": train_and_test_scores,
    "cross_val_score": functools.partial(in_function, cross_val_score),
    "learning_curve": learning,
    "validation_curve": validation,
    "permutation_test_score": permutations,
    "RFECV": eliminate,
    "SequentialFeatureSelector": select_features,
    "LogisticRegressionCV": path_scores,
    "RidgeCV": leave_one_out,
}
TURN_X_INTO_NUMPY = ["RFECV", "SequentialFeatureSelector", "LogisticRegressionCV", "RidgeCV"]
# In scikit-learn 1.8, RidgeCV requires a decision function, which no regressor has.
if sklearn.__version__.startswith("1.8."):
    del TOOLS["RidgeCV"]
    TURN_X_INTO_NUMPY.remove("RidgeCV")


def plain_scorer(statistic):
    """Return a function of model, X and y that finds the sites by the values of any feature."""
    frame, _, site = make_data()
    known = {value: label for name in frame for value, label in zip(frame[name], site, strict=True)}

    def score(model, X, y):
        values = np.asarray(X)
        # RidgeCV passes leave-one-out predictions of all rows in place of X.
        sites = site if values.ndim == 1 else [known[value] for value in values[:, 0]]
        return Expected(y, decision(model, X), sites)[statistic]

    return score


@functools.cache
def by_plain_scorer(tool, statistic):
    """Scores of a tool that knows of no groups, which are the same for all ways."""
    return TOOLS[tool](replace(make_way("routed"), params={}), plain_scorer(statistic))
