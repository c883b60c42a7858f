"""Rules for ``refit=``: the selected candidate in a table of results, and the Pareto front."""

import copy
import dataclasses
import math
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_critical_difference import results as results_by_split
from test_saved_counts import through_skops

from skfedauc import SelectSimplest, SelectWithinGap, compare_candidates, group_auc_scoring
from skfedauc.plotting.candidates import front_of

NAN = np.nan


def results(scores, gaps, *, score="pooled", gap="difference", **others):
    return {
        "params": [{"C": 2.0**i} for i in range(len(scores))],
        "mean_fit_time": np.ones(len(scores)),
        f"mean_test_{score}": np.array(scores, float),
        f"mean_test_neg_{gap}": -np.array(gaps, float),
        **others,
    }


def best_within(scores, gaps, at_most):
    """Return the selected candidate by a loop over candidates without NaN."""
    candidates = range(len(scores))
    within = [i for i in candidates if gaps[i] <= at_most]
    if not within:
        return min(candidates, key=lambda i: (gaps[i], i))
    return max(within, key=lambda i: (scores[i], -i))


RULES = {
    "gap": SelectWithinGap("pooled", gap="cross_difference", at_most=0.05),
    "tied": SelectSimplest("pooled", simplest="C", test_fraction=0.2, confidence_level=0.9),
    "margin": SelectSimplest("pooled", simplest="C", test_fraction=0.2, margin=0.02),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@each_rule
def test_a_rule_equals_the_name_of_its_score(rule):
    assert not isinstance(rule, str)
    assert callable(rule)
    assert rule == "pooled"
    assert "pooled".__eq__(rule) is NotImplemented  # Python then calls `__eq__` of the rule
    assert rule != "macro"
    assert rule != 3
    assert rule == np.str_("pooled")
    assert {rule: 1} == {"pooled": 1}
    assert {"pooled": 1}[rule] == 1
    assert f"mean_test_{rule}" == "mean_test_pooled"
    with pytest.raises(AttributeError, match="cannot assign to field 'score'"):
        rule.score = "macro"


@each_rule
def test_rules_are_equal_if_all_parameters_are(rule):
    others = [dataclasses.replace(rule, metric="macro"), *set(RULES.values()) - {rule}]
    for copied in (copy.deepcopy(rule), pickle.loads(pickle.dumps(rule, protocol=2))):
        assert copied == rule
        assert hash(copied) == hash(rule) == hash("pooled")
        assert all(copied != other for other in others)
    again = eval(str(rule), {type(rule).__name__: type(rule)})
    assert again == rule


def test_other_gaps_and_scores_are_read_by_name():
    table = results([0.9, 0.8], [0.2, 0.0]) | results(
        [0.1, 0.2], [0.0, 0.0], score="ll", gap="cross_difference"
    )
    assert SelectWithinGap("pooled", at_most=0.1)(table) == 1
    assert SelectWithinGap("pooled", gap="cross_difference", at_most=0.1)(table) == 0
    assert SelectWithinGap("ll", gap="cross_difference", at_most=0.1)(table) == 1


def test_random_tables():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        scores, gaps = rng.integers(0, 6, n) / 8, rng.integers(0, 6, n) / 8
        at_most = float(gaps.min() + rng.integers(0, 4) / 8)
        if rng.random() < 0.1:
            at_most = np.inf
        picked = SelectWithinGap("pooled", at_most=at_most)(results(scores - 1, gaps))
        assert picked == best_within(scores - 1, gaps, at_most)
        assert isinstance(picked, int)


def test_an_infinite_limit_of_any_type_is_no_limit():
    assert SelectWithinGap("pooled", at_most=np.float32("inf")).at_most == np.inf


def test_none_within_the_limit():
    rule = SelectWithinGap("pooled", at_most=0.05)
    message = r"no candidate has a mean difference of at most 0\.05; .* smallest difference, 0\.12"
    with pytest.warns(UserWarning, match=message):
        picked = rule(results([0.9, 0.7, 0.8], [0.3, 0.2, 0.12]))
    assert picked == 2


SOME_FOLD = (
    " of 2 candidates is NaN in some fold; see the warnings of the search, "
    ".*error_score='raise'.*cv=WithinGroupStratifiedKFold"
)


@pytest.mark.parametrize(
    ("scores", "gaps", "message"),
    [
        ([0.9, 0.8], [NAN, 0.0], "the difference of 1" + SOME_FOLD),
        ([0.9, 0.8], [0.0, NAN], "the difference of 1" + SOME_FOLD),
        ([0.9, 0.8], [NAN, NAN], "the difference of 2" + SOME_FOLD),
        ([NAN, NAN], [NAN, NAN], r"every candidate is NaN; .*error_score='raise'"),
    ],
)
def test_undefined_gaps_are_an_error_that_says_where_to_look(scores, gaps, message):
    with pytest.raises(ValueError, match=message):
        SelectWithinGap("pooled", at_most=0.1)(results(scores, gaps))


def unbeaten(scores, gaps):
    """Return the Pareto front: the candidates that no other candidate dominates."""
    kept = []
    for i, (score, gap) in enumerate(zip(scores, gaps, strict=True)):
        if np.isnan(score):
            continue
        if not any(
            s >= score and g <= gap and (s > score or g < gap)
            for s, g in zip(scores, gaps, strict=True)
            if not np.isnan(s)
        ):
            kept.append(i)
    return kept


@pytest.mark.parametrize("steps", [2, 4, 8, 1000], ids=str)
def test_front_of_random_tables(steps):
    """With few distinct values, there are many ties and duplicates."""
    rng = np.random.default_rng(steps)
    for _ in range(100):
        n = int(rng.integers(1, 25))
        scores, gaps = rng.integers(0, steps, (2, n)) / steps
        failed = rng.random(n) < 0.2
        failed[rng.integers(n)] = False
        scores[failed] = gaps[failed] = NAN
        front = front_of(scores, gaps)
        assert sorted(front) == unbeaten(scores, gaps)
        assert (np.diff(scores[front]) <= 0).all()
        assert (np.diff(gaps[front]) <= 0).all()


split_results = partial(results_by_split, name="pooled")
# Candidates 0, 1 and 3 are tied, candidate 1 is the best, and candidate 2 is much worse.
TIED = [[0.80, 0.83, 0.81], [0.84, 0.80, 0.82], [0.10, 0.12, 0.11], [0.79, 0.85, 0.80]]


def simplest(column, table=TIED, **settings):
    rule = SelectSimplest("pooled", **{"simplest": "depth", **settings})
    return rule(split_results(table, params=[{"depth": value} for value in column]))


@pytest.mark.parametrize(
    ("depths", "settings", "picked"),
    [
        ([1, 2, 0, 3], {}, 0),
        ([3, 2, 0, 1], {}, 3),
        ([3, 1, 0, 2], {}, 1),
        ([3, 2, 9, 1], {"simplest": "-depth"}, 0),
        ([1, 2, 9, 3], {"simplest": "-depth"}, 3),
        # Equally simple candidates; the order by score is 1, 3, 0
        ([1, 2, 0, 1], {}, 3),
        ([1, 1, 1, 1], {}, 1),
        ([1.5, 2.5, 0.5, np.float32(1.25)], {}, 3),
        ([True, True, False, False], {}, 3),
        (["deep", "flat", "flat", "deep"], {"simplest": lambda p: p["depth"] != "flat"}, 1),
        ([None, 5, 1, 7], {"simplest": lambda p: p["depth"] or np.inf}, 1),
    ],
)
def test_simplest_of_the_tied(depths, settings, picked):
    index = simplest(depths, **settings)
    assert index == picked
    assert isinstance(index, int)


def test_share_of_test_rows_is_that_of_folds_unless_given():
    rng = np.random.default_rng(0)
    picked = set()
    for _ in range(40):
        table = 0.8 + rng.normal(0, 0.02, (4, 1)) + rng.normal(0, 0.01, (4, 6))
        results_ = split_results(table, params=[{"depth": i} for i in range(4)])
        index = {}
        for given in (None, 1 / 6, 0.5):
            report = compare_candidates(results_, "pooled", test_fraction=given or 1 / 6)
            index[given] = min(report.index[report["tied"]])
            rule = SelectSimplest("pooled", simplest="depth", test_fraction=given)
            assert rule(results_) == index[given]
        picked.add(index[None] == index[0.5])
    assert picked == {True, False}


def test_many_splits_are_hardly_folds():
    rng = np.random.default_rng(1)
    table = split_results(rng.random((3, 11)), params=[{"depth": i} for i in range(3)])
    message = r"in the test set of each of 11 splits; pass test_fraction, such as 0\.2"
    with pytest.raises(ValueError, match=message):
        SelectSimplest("pooled", simplest="depth")(table)
    SelectSimplest("pooled", simplest="depth", test_fraction=0.2)(table)
    del table["split10_test_pooled"]
    SelectSimplest("pooled", simplest="depth")(table)


@pytest.mark.parametrize(
    "depth", [None, "2", NAN, LogisticRegression()], ids=["None", "text", "NaN", "model"]
)
def test_parameters_that_are_no_numbers(depth):
    with pytest.raises(ValueError, match=r"has depth=.*\. Pass a function .*p\['depth'\]"):
        simplest([1, depth, 1, 1])


def test_only_tied_candidates_need_the_parameter():
    params = [{"depth": 2}, {"depth": 1}, {"kernel": "rbf"}, {"depth": 3}]
    rule = SelectSimplest("pooled", simplest="depth")
    assert rule(split_results(TIED, params=params)) == 1
    message = r"simplest='depth' must name .* candidate {'kernel': 'rbf'} has no such parameter"
    with pytest.raises(ValueError, match=message):
        rule(split_results(TIED, params=params[::-1]))
    with pytest.raises(ValueError, match=r"simplest='-C' must name .* has no such parameter"):
        SelectSimplest("pooled", simplest="-C")(split_results(TIED, params=params))


RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(240, 3)), columns=["a", "b", "c"]).assign(site=[1, 2, 3] * 80)
Y = (X["a"] + RNG.normal(size=240) > 0).astype(int)
GRID = {"logisticregression__C": [1e-3, 1e-1, 10.0]}


def searching(refit, **settings):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    settings = {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), **settings}
    return GridSearchCV(pipeline, GRID, refit=refit, error_score="raise", **settings)


RULE = {"simplest": "logisticregression__C", "test_fraction": 1 / 3}


@pytest.mark.parametrize(
    ("score", "scoring"),
    [
        ("score", None),
        ("worst", group_auc_scoring(["pooled", "worst"], groups="site")),
        ("roc_auc", ["roc_auc", "accuracy"]),
    ],
)
def test_search_refits_the_simplest_of_the_tied(score, scoring):
    search = searching(SelectSimplest(score, **RULE), scoring=scoring).fit(X, Y)
    report = compare_candidates(search, score)
    assert search.best_index_ == report.loc[report["tied"], "logisticregression__C"].idxmin()
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.best_params_["logisticregression__C"] == search.best_estimator_[-1].C
    assert 0 < search.score(X, Y) < 1
    again = pickle.loads(pickle.dumps(search))
    assert repr(again.refit) == repr(search.refit)
    assert again.score(X, Y) == search.score(X, Y)


@pytest.mark.parametrize(
    "rule", [SelectSimplest("pooled", **RULE), SelectWithinGap("pooled", at_most=0.5)]
)
def test_searches_saved_by_skops_keep_the_rule(rule):
    scoring = group_auc_scoring(["pooled", "worst", "neg_difference"], groups="site")
    search = searching(rule, scoring=scoring).fit(X, Y)
    again = through_skops(search)
    assert again.refit == rule
    assert repr(again.refit) == repr(rule)
    assert again.score(X, Y) == search.score(X, Y)
    assert again.refit(again.cv_results_) == again.best_index_ == search.best_index_
    assert clone(again).fit(X, Y).best_index_ == search.best_index_


def not_inferior(table, margin, test_fraction, level):
    table = np.array(table)
    best = int(table.mean(axis=1).argmax())
    n_splits, found = table.shape[1], {best}
    for candidate in set(range(len(table))) - {best}:
        d = table[candidate] - table[best]
        error = math.sqrt((1 / n_splits + test_fraction / (1 - test_fraction)) * d.var(ddof=1))
        pvalue = stats.t.sf((d.mean() + margin) / error, n_splits - 1)
        if pvalue * (len(table) - 1) <= 1 - level:
            found.add(candidate)
    return found


@pytest.mark.parametrize("margin", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_simplest_of_those_not_inferior(level, margin):
    rng = np.random.default_rng(0)
    numbers = set()
    for _ in range(50):
        table = 0.8 + rng.normal(0, 0.02, (5, 1)) + rng.normal(0, 0.02, (5, 10))
        expected = not_inferior(table, margin, 0.2, level)
        numbers.add(len(expected))
        results_ = split_results(table, params=[{"depth": i} for i in range(5)])
        options = {"test_fraction": 0.2, "confidence_level": level, "margin": margin}
        report = compare_candidates(results_, "pooled", **options)
        assert set(report.index[report["not_inferior"]]) == expected
        assert "tied" not in report
        assert SelectSimplest("pooled", simplest="depth", **options)(results_) == min(expected)
    assert len(numbers) > 1 or margin == 0.01


def test_only_searches_have_candidates():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    selection = RFECV(LogisticRegression(), cv=2, scoring="roc_auc").fit(X, y)
    for other in (LogisticRegression().fit(X, y), selection, GridSearchCV):
        with pytest.raises(TypeError, match="search must be a fitted search"):
            compare_candidates(other, "score")
    with pytest.raises(NotFittedError):
        compare_candidates(GridSearchCV(LogisticRegression(), {"C": [1]}), "score")
