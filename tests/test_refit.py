"""Rules for ``refit=``: what they pick from a table of results, and what none beats."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from skfedauc import pareto_front, select_within_gap

NAN = np.nan


def results(scores, gaps, *, score="pooled", gap="difference", **others):
    """What a search keeps of its candidates; gaps are negative there."""
    return {
        "params": [{"C": 2.0**i} for i in range(len(scores))],
        "mean_fit_time": np.ones(len(scores)),
        f"mean_test_{score}": np.array(scores, float),
        f"mean_test_neg_{gap}": -np.array(gaps, float),
        **others,
    }


def best_within(scores, gaps, at_most):
    """The rule by a loop over candidates, for numbers without NaN."""
    candidates = range(len(scores))
    within = [i for i in candidates if gaps[i] <= at_most]
    if not within:
        return min(candidates, key=lambda i: (gaps[i], i))
    return max(within, key=lambda i: (scores[i], -i))


# The rule is a name --------------------------------------------------------------------------


def test_a_rule_is_the_name_of_its_score():
    rule = select_within_gap("pooled", gap="cross_difference", at_most=0.05)
    assert isinstance(rule, str)
    assert callable(rule)
    assert rule == "pooled"
    assert {rule: 1} == {"pooled": 1}
    assert {"pooled": 1}[rule] == 1
    assert f"mean_test_{rule}" == "mean_test_pooled"
    assert (rule.gap, rule.at_most) == ("cross_difference", 0.05)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            select_within_gap("pooled", at_most=0.05),
            "select_within_gap('pooled', gap='difference', at_most=0.05)",
        ),
        (
            select_within_gap('my "own"', gap="cross_difference", at_most=0.5),
            "select_within_gap('my \"own\"', gap='cross_difference', at_most=0.5)",
        ),
        (
            select_within_gap("macro", at_most=0.123456789),
            "select_within_gap('macro', gap='difference', at_most=0.123456789)",
        ),
    ],
    ids=["default", "cross", "digits"],
)
def test_repr_makes_the_rule_again(rule, text):
    assert repr(rule) == text
    again = eval(repr(rule), {"select_within_gap": select_within_gap})
    assert (again, again.gap, again.at_most) == (rule, rule.gap, rule.at_most)


COPIES = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "old pickle": lambda x: pickle.loads(pickle.dumps(x, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "clone": lambda x: clone(x, safe=False),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_of_a_rule_pick_alike(copied):
    rule = select_within_gap("macro", gap="cross_difference", at_most=0.07)
    other = copied(rule)
    assert type(other) is select_within_gap
    assert repr(other) == repr(rule)
    assert other == rule == "macro"
    table = results([0.9, 0.8], [0.2, 0.01], score="macro", gap="cross_difference")
    assert other(table) == rule(table) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"score": 3}, TypeError, r"score must be the name of a score; got int"),
        ({"score": None}, TypeError, r"score must be the name of a score; got NoneType"),
        ({"at_most": -0.1}, ValueError, r"at_most must be a number of 0 or more; got -0\.1"),
        ({"at_most": NAN}, ValueError, r"at_most must be a number of 0 or more; got nan"),
        ({"at_most": "0.1"}, ValueError, r"at_most must be a number of 0 or more; got '0\.1'"),
        ({"at_most": True}, ValueError, r"at_most must be a number of 0 or more; got True"),
        ({"at_most": None}, ValueError, r"at_most must be a number of 0 or more; got None"),
        ({"gap": "pooled"}, ValueError, r"gap must be .*'difference', 'cross_difference'.*'poo"),
        ({"gap": "neg_difference"}, ValueError, r"gap must be one of .*; got 'neg_difference'"),
        ({"gap": None}, ValueError, r"gap must be one of .*; got None"),
        ({"gap": ["difference"]}, ValueError, r"gap must be one of .*; got \['difference'\]"),
    ],
)
def test_rules_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        select_within_gap(**{"score": "pooled", "at_most": 0.1, **arguments})


def test_limit_has_to_be_given():
    with pytest.raises(TypeError, match="at_most"):
        select_within_gap("pooled")


def test_limit_of_numpy():
    rule = select_within_gap("pooled", at_most=np.float32(0.25))
    assert rule.at_most == 0.25
    assert select_within_gap("pooled", at_most=np.int64(1)).at_most == 1.0


# What it picks -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "gaps", "at_most", "picked"),
    [
        ([0.9, 0.8, 0.7], [0.3, 0.1, 0.0], 0.1, 1),
        ([0.9, 0.8, 0.7], [0.3, 0.1, 0.0], 0.05, 2),
        ([0.9, 0.8, 0.7], [0.3, 0.1, 0.0], 0, 2),
        ([0.9, 0.8, 0.7], [0.3, 0.1, 0.0], 0.3, 0),
        ([0.9, 0.8, 0.7], [0.3, 0.1, 0.0], np.inf, 0),
        ([0.7, 0.8, 0.8, 0.8], [0.0, 0.1, 0.0, 0.1], 0.1, 1),
        ([-3.0, -1.0, -2.0], [0.0, 0.2, 0.0], 0.1, 2),
        ([0.6], [0.0], 0.1, 0),
    ],
)
def test_best_score_within_the_limit(scores, gaps, at_most, picked):
    index = select_within_gap("pooled", at_most=at_most)(results(scores, gaps))
    assert index == picked
    assert isinstance(index, int)


def test_other_gaps_and_scores_are_read_by_name():
    table = results([0.9, 0.8], [0.2, 0.0]) | results(
        [0.1, 0.2], [0.0, 0.0], score="ll", gap="cross_difference"
    )
    assert select_within_gap("pooled", at_most=0.1)(table) == 1
    assert select_within_gap("pooled", gap="cross_difference", at_most=0.1)(table) == 0
    assert select_within_gap("ll", gap="cross_difference", at_most=0.1)(table) == 1


def test_random_tables():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        scores, gaps = rng.integers(0, 6, n) / 8, rng.integers(0, 6, n) / 8
        at_most = float(gaps.min() + rng.integers(0, 4) / 8)
        picked = select_within_gap("pooled", at_most=at_most)(results(scores, gaps))
        assert picked == best_within(scores, gaps, at_most)


def test_none_within_the_limit():
    rule = select_within_gap("pooled", at_most=0.05)
    message = r"no candidate has a mean difference of at most 0\.05; .* smallest, 0\.12"
    with pytest.warns(UserWarning, match=message):
        picked = rule(results([0.9, 0.7, 0.8], [0.3, 0.2, 0.12]))
    assert picked == 2


def test_lists_are_read():
    """As results are when they come back from a file."""
    table = results([0.9, 0.8], [0.3, 0.0])
    table = {key: value if key == "params" else list(value) for key, value in table.items()}
    assert select_within_gap("pooled", at_most=0.1)(table) == 1


# Candidates that failed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "gaps", "picked"),
    [
        ([NAN, 0.8, 0.7], [NAN, 0.3, 0.0], 2),
        ([0.8, NAN, 0.7], [0.05, NAN, 0.0], 0),
        ([0.6, 0.7, NAN], [0.05, 0.0, NAN], 1),
    ],
)
def test_failed_candidates_are_left_out(scores, gaps, picked):
    assert select_within_gap("pooled", at_most=0.1)(results(scores, gaps)) == picked


def test_failed_candidates_are_left_out_where_none_is_within():
    rule = select_within_gap("pooled", at_most=0.1)
    with pytest.warns(UserWarning, match=r"no candidate .* smallest, 0\.2"):
        assert rule(results([NAN, 0.8, 0.7], [NAN, 0.3, 0.2])) == 2


@pytest.mark.parametrize("scores", [[NAN, 0.8, 0.7], [0.7, NAN, 0.8], [0.7, 0.8, NAN]], ids=str)
def test_candidates_whose_score_alone_failed_are_left_out(scores):
    """A scorer beside the group ones may fail where these did not."""
    rule = select_within_gap("ll", at_most=0.1)
    gaps = np.where(np.isnan(scores), 0.0, 0.05)
    assert rule(results(scores, gaps, score="ll")) == int(np.nanargmax(scores))


def test_candidates_whose_score_alone_failed_do_not_have_the_smallest_gap():
    rule = select_within_gap("ll", at_most=0.1)
    with pytest.warns(UserWarning, match=r"no candidate .* smallest, 0\.2"):
        assert rule(results([NAN, 0.8, 0.7], [0.15, 0.3, 0.2], score="ll")) == 2


@pytest.mark.parametrize("gaps", [[NAN, 0.0], [0.0, NAN], [NAN, NAN]], ids=str)
def test_undefined_gaps_are_an_error_that_says_why(gaps):
    rule = select_within_gap("pooled", at_most=0.1)
    n_undefined = int(np.isnan(gaps).sum())
    message = (
        rf"the difference of {n_undefined} of 2 candidates is NaN, because a fold had fewer than "
        r"two groups .*GroupKFold.*cv=WithinGroupStratifiedKFold"
    )
    with pytest.raises(ValueError, match=message):
        rule(results([0.9, 0.8], gaps))


def test_all_candidates_failed():
    rule = select_within_gap("pooled", at_most=0.1)
    with pytest.raises(ValueError, match=r"every candidate is NaN; .*error_score='raise'"):
        rule(results([NAN, NAN], [NAN, NAN]))


# Scores that are not there ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            select_within_gap("macro", at_most=0.1),
            r"no score named 'macro'; it has 'pooled', 'neg_difference'.*group_auc_scoring",
        ),
        (
            select_within_gap("pooled", gap="cross_difference", at_most=0.1),
            r"no score named 'neg_cross_difference'; it has 'pooled', 'neg_difference'",
        ),
        (
            select_within_gap("macro", gap="cross_difference", at_most=0.1),
            r"no score named 'macro' or 'neg_cross_difference'; it has 'pooled'",
        ),
    ],
    ids=["score", "gap", "both"],
)
def test_absent_scores_are_an_error_that_names_what_is_there(rule, message):
    with pytest.raises(ValueError, match=message):
        rule(results([0.9], [0.1]))


def test_search_with_a_single_score():
    table = {"params": [{}], "mean_test_score": np.array([0.5])}
    rule = select_within_gap("pooled", at_most=0.1)
    with pytest.raises(ValueError, match=r"'pooled' or 'neg_difference'; it has 'score'"):
        rule(table)
    with pytest.raises(ValueError, match=r"'pooled' or 'neg_difference'; it has 'score'"):
        pareto_front(fitted(table), score="pooled")


# The front -------------------------------------------------------------------------------------


def fitted(table):
    """A search as it is after fitting, with these results."""
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]})
    search.cv_results_ = table
    return search


def unbeaten(scores, gaps):
    """Candidates that no other beats: better in one and not worse in the other."""
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


def test_front_of_a_small_table():
    table = results([0.7, 0.9, 0.8, 0.8, 0.6, NAN], [0.1, 0.3, 0.2, 0.25, 0.1, NAN])
    front = pareto_front(fitted(table), score="pooled")
    pd.testing.assert_frame_equal(
        front,
        pd.DataFrame(
            {"pooled": [0.9, 0.8, 0.7], "difference": [0.3, 0.2, 0.1], "C": [2.0, 4.0, 1.0]},
            index=[1, 2, 0],
        ),
    )


@pytest.mark.parametrize("steps", [2, 4, 8, 1000], ids=str)
def test_front_of_random_tables(steps):
    """With few steps there are many ties and duplicates."""
    rng = np.random.default_rng(steps)
    for _ in range(100):
        n = int(rng.integers(1, 25))
        scores, gaps = rng.integers(0, steps, (2, n)) / steps
        failed = rng.random(n) < 0.2
        failed[rng.integers(n)] = False
        scores[failed] = gaps[failed] = NAN
        front = pareto_front(fitted(results(scores, gaps)), score="pooled")
        assert sorted(front.index) == unbeaten(scores, gaps)
        assert (np.diff(front["pooled"]) <= 0).all()
        assert (np.diff(front["difference"]) <= 0).all()
        assert np.array_equal(front["pooled"], scores[front.index])
        assert np.array_equal(front["difference"], gaps[front.index])
        assert np.array_equal(front["C"], 2.0**front.index)


def test_what_is_picked_is_on_the_front():
    rng = np.random.default_rng(1)
    for _ in range(50):
        table = results(rng.random(15), rng.random(15))
        front = pareto_front(fitted(table), score="pooled")
        for at_most in (front["difference"].min(), 0.5, 1.0):
            if at_most >= front["difference"].min():
                picked = select_within_gap("pooled", at_most=at_most)(table)
                assert picked in front.index


def test_candidates_with_equal_results_are_all_kept():
    front = pareto_front(
        fitted(results([0.8, 0.9, 0.9, 0.8], [0.1, 0.2, 0.2, 0.1])), score="pooled"
    )
    assert sorted(front.index) == [0, 1, 2, 3]


def test_columns_are_the_names_that_were_asked_for():
    table = results([0.9, 0.8], [0.2, 0.1], score="ll", gap="cross_difference")
    table["params"] = [{"kernel": "rbf", "gamma": 1.0}, {"kernel": "linear"}]
    front = pareto_front(fitted(table), score="ll", gap="cross_difference")
    assert front.columns.tolist() == ["ll", "cross_difference", "kernel", "gamma"]
    assert front.index.tolist() == [0, 1]
    assert front["kernel"].tolist() == ["rbf", "linear"]
    assert np.isnan(front["gamma"].iloc[1])


def test_parameters_that_are_objects():
    table = results([0.9, 0.8], [0.2, 0.1])
    table["params"] = [{"steps": [1, 2], "clf": LogisticRegression()}, {"steps": [], "clf": None}]
    front = pareto_front(fitted(table), score="pooled")
    assert front["steps"].tolist() == [[1, 2], []]
    assert isinstance(front["clf"].iloc[0], LogisticRegression)


@pytest.mark.parametrize(
    ("table", "arguments", "message"),
    [
        (results([0.9], [NAN]), {}, r"1 of 1 candidates is NaN, because a fold had fewer than"),
        (results([NAN], [NAN]), {}, r"the pooled of every candidate is NaN"),
        (results([0.9], [0.1]), {"score": "macro"}, r"no score named 'macro'; it has 'pooled'"),
        (results([0.9], [0.1]), {"gap": "cross_difference"}, r"no score named 'neg_cross_diff"),
        (results([0.9], [0.1]), {"gap": "tau"}, r"gap must be one of .*; got 'tau'"),
    ],
)
def test_fronts_that_cannot_be(table, arguments, message):
    with pytest.raises(ValueError, match=message):
        pareto_front(fitted(table), **{"score": "pooled", **arguments})


def test_search_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        pareto_front(GridSearchCV(LogisticRegression(), {"C": [1.0]}), score="pooled")
