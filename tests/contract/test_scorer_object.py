"""Scorers as objects: copies, pickles, representation and shared predictions."""

import copy
import importlib.util
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from contract_oracle import STATISTICS, fold_scores
from contract_tools import (
    CV,
    PENALTY,
    assert_same,
    by_fold,
    by_loop,
    cross_validation,
    make_way,
    plain_model,
)
from processes import run_python
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.fixes import parse_version

from skfedauc import group_auc_scoring, group_roc_auc_score, make_group_auc_scorer, pairs
from skfedauc import scoring as scorers
from skfedauc.counts.score_counts import counts_of_rows
from skfedauc.model_selection import cross_validation as folds

FEW_WAYS = ["routed", "pandas column", "aligned series"]
NAMES = ["pooled", "positives", "neg_difference"]


def pickled(scorer):
    return pickle.loads(pickle.dumps(scorer))


COPIES = {
    "pickle": pickled,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "clone": lambda scoring: clone(scoring, safe=False),
}


@pytest.mark.parametrize("way", FEW_WAYS, indirect=True)
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copy_scores_alike(way, copied):
    scoring = copied(group_auc_scoring(NAMES, groups=way.groups, each_group=["va"]))
    result = cross_validation(way, scoring)
    names = [*NAMES, "auc_va"]
    for name, expected in zip(names, by_loop(by_fold, tuple(names)), strict=True):
        assert_same(result[f"test_{name}"], expected)


@pytest.mark.parametrize(
    "call",
    [
        "make_group_auc_scorer('macro', groups=['site', 'sex'])",
        "make_group_auc_scorer('macro', groups='site', undefined=0.5, pos_label='s', "
        "response_method='predict')",
    ],
)
def test_repr_is_the_call_that_makes_it(call):
    assert repr(eval(call)) == call


CALLS = []


class Counting(ClassifierMixin, BaseEstimator):
    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        self.model_ = plain_model().set_params(**{PENALTY: self.C}).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        CALLS.append("predict_proba")
        return self.model_.predict_proba(X)

    def decision_function(self, X):
        CALLS.append("decision_function")
        return self.model_.decision_function(X)


@pytest.fixture
def parts(monkeypatch):
    """List of the score counts that are built from rows."""
    CALLS.clear()
    built = []

    def counted(*args, **kwargs):
        built.append(counts_of_rows(*args, **kwargs))
        return built[-1]

    for module in (pairs, scorers, folds):
        monkeypatch.setattr(module, "counts_of_rows", counted)
    return built


def counting_way(name):
    way = make_way(name)
    if name == "pandas column":
        way.X = way.X.assign(site=pd.Categorical(way.site).codes)
        way.site = way.X["site"].to_numpy()
    way.model = Counting()
    return way


@pytest.mark.parametrize("name", FEW_WAYS)
@pytest.mark.parametrize(
    ("response_method", "beside"),
    [
        ("decision_function", {}),
        ("predict_proba", {}),
        ("decision_function", {"roc_auc": "roc_auc"}),
        ("predict_proba", {"log_loss": "neg_log_loss", "brier": "neg_brier_score"}),
    ],
)
def test_members_of_a_dict_share_one_prediction_and_one_counts(
    routing, parts, name, response_method, beside
):
    way = counting_way(name)
    label = 1 if name == "pandas column" else "va"
    ours = group_auc_scoring(
        STATISTICS, groups=way.groups, each_group=[label], response_method=response_method
    )
    earlier = set(map(id, scorers._RESULTS))  # of errors that another test still holds
    cross_validation(way, {**ours, **beside})
    assert [response_method] * 3 == CALLS
    assert len(parts) == 3
    assert set(map(id, scorers._RESULTS)) <= earlier  # nothing is kept


def test_different_members_do_not_share(parts):
    """Two group columns and two positive classes need four score counts and one prediction."""
    way = counting_way("pandas column")
    way.X["half"] = np.arange(way.y.size) % 2
    scoring = {
        f"{column}_{pos_label}": make_group_auc_scorer("macro", groups=column, pos_label=pos_label)
        for column in ("site", "half")
        for pos_label in (0, 1)
    }
    result = cross_validation(way, scoring)
    assert (len(CALLS), len(parts)) == (3, 12)
    for column in ("site", "half"):
        way.site = way.X[column].to_numpy()
        for pos_label in (0, 1):
            expected = fold_scores(way, "macro", CV, positive=pos_label)
            assert_same(result[f"test_{column}_{pos_label}"], expected)


@pytest.mark.parametrize("copied", [lambda scorer: scorer, *COPIES.values()], ids=["", *COPIES])
def test_names_are_those_of_the_statistic(copied):
    """Displays, TPOT and skore show the name of a scorer or of its function."""
    scoring = group_auc_scoring(NAMES, groups="site", each_group=["va"])
    for name, scorer in {name: copied(one) for name, one in scoring.items()}.items():
        assert scorer.__name__ == name
        assert scorer._score_func.__name__ == name.removeprefix("neg_")
        assert scorer._sign == (-1 if name.startswith("neg_") else 1)
    (scorer,) = group_auc_scoring([], groups=["site", "ward"], each_group=[("va", 1)]).values()
    assert copied(scorer).__name__ == "auc_va_1"


class OtherArray:
    """The part of the array API that scikit-learn uses without dispatch."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array_namespace__(self, api_version=None):
        return np

    def __array__(self, dtype=None, copy=None):
        return self.values


def strict_array(values):
    return pytest.importorskip("array_api_strict").asarray(np.asarray(values))


@pytest.mark.parametrize("make", [OtherArray, strict_array])
def test_arrays_of_other_libraries_are_taken_as_scikit_learn_takes_them(make):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 60), rng.normal(size=60).round(1)
    site, weight = rng.integers(0, 3, 60), rng.uniform(0.5, 2, 60)
    X = pd.DataFrame({"score": score, "site": site})
    arguments = {"statistic": "macro", "groups": site, "sample_weight": weight}
    expected = group_roc_auc_score(y, score, **arguments)
    arguments |= {"groups": make(site), "sample_weight": make(weight)}
    assert group_roc_auc_score(make(y), make(score), **arguments) == expected
    assert_same(roc_auc_score(make(y), make(score)), roc_auc_score(y, score))
    scorer = make_group_auc_scorer("macro", groups="site")
    model = LogisticRegression().fit(X, y)
    assert scorer(model, X, make(y)) == scorer(model, X, y)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_dispatch_of_arrays_changes_no_result(library):
    is_old = parse_version(scipy.__version__) < parse_version("1.14")
    if importlib.util.find_spec(library) is None or is_old:
        pytest.skip(f"needs {library}, and scipy 1.14 as scikit-learn's dispatch does")
    script = Path(__file__).with_name("array_api_cases.py")
    done = run_python(script, library, env={"SCIPY_ARRAY_API": "1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "15 cases\n"
