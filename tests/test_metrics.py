"""group_roc_auc_score: all statistics, and the arguments."""

import inspect

import numpy as np
import pandas as pd
import pytest
from oracles import STATISTICS, WEIGHTS, all_pairs, random_case, same_number, same_statistic
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score

from skfedauc import group_roc_auc_score

ROWS = {
    "y_true": [0, 1, 0, 1, 1],
    "y_score": [0.2, 0.6, 0.5, 0.4, 0.9],
    "groups": ["a", "a", "b", "b", "c"],
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seeds", [range(8), range(8, 16)], ids=str)
def test_statistics_equal_brute_force(seeds, weights):
    for seed in seeds:
        case = random_case(seed, weights=weights)
        expected = all_pairs(case).statistics
        for name in STATISTICS:
            got = group_roc_auc_score(**case.arguments, statistic=name, undefined="ignore")
            assert isinstance(got, float)
            assert same_statistic(name, got, expected[name]), (name, seed)


@pytest.mark.parametrize("stand_in", [0, 0.5, 1.0])
def test_a_number_stands_in(stand_in):
    for seed in range(30):
        case = random_case(seed)
        truth = all_pairs(case, stand_in=stand_in)
        for name in ("macro", "samples", "worst"):
            got = group_roc_auc_score(**case.arguments, statistic=name, undefined=stand_in)
            assert same_statistic(name, got, truth.statistics[name])
        by_group = group_roc_auc_score(**case.arguments, statistic=None, undefined=stand_in)
        expected = np.where(np.isnan(truth.auc), stand_in, truth.auc)
        np.testing.assert_allclose(by_group, expected, rtol=0, atol=1e-12)


def test_none_gives_a_series_by_group():
    for seed in range(30):
        case = random_case(seed)
        truth = all_pairs(case)
        got = group_roc_auc_score(**case.arguments, statistic=None, undefined="ignore")
        assert isinstance(got, pd.Series)
        assert got.name == "auc"
        np.testing.assert_allclose(got, truth.auc, rtol=0, atol=1e-12)
        assert list(got.index) == truth.labels


def test_none_gives_groups_that_lack_a_class_too():
    with pytest.warns(UndefinedMetricWarning, match=r"1 of 3 groups, with 20\.00%") as caught:
        got = group_roc_auc_score(**ROWS, statistic=None)
    assert len(caught) == 1
    assert got.index.tolist() == ["a", "b", "c"]
    assert got.isna().tolist() == [False, False, True]
    with pytest.raises(ValueError, match=r"1 of 3 groups, with 20\.00%"):
        group_roc_auc_score(**ROWS, statistic=None, undefined="raise")


def test_macro_is_the_default():
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert group_roc_auc_score(**ROWS) == 0.5
    assert len(caught) == 1


def test_a_warning_points_at_the_line_that_asked():
    with pytest.warns(UndefinedMetricWarning) as undefined:
        group_roc_auc_score(**ROWS)
    with pytest.warns(UserWarning, match="predicted labels") as hard:
        group_roc_auc_score([0, 1, 1], [0, 1, 0], groups=[1, 1, 1])
    assert [undefined[0].filename, hard[0].filename] == [__file__, __file__]


def test_pooled_never_warns_of_groups():
    expected = roc_auc_score(ROWS["y_true"], ROWS["y_score"])
    assert same_number(group_roc_auc_score(**ROWS, statistic="pooled"), expected)


@pytest.mark.parametrize("pos_label", ["ill", "well"])
def test_pos_label(pos_label):
    y = np.where(np.array(ROWS["y_true"]) == 1, "ill", "well")
    got = group_roc_auc_score(
        y, ROWS["y_score"], groups=ROWS["groups"], statistic="pooled", pos_label=pos_label
    )
    assert got == pytest.approx(roc_auc_score(y == pos_label, ROWS["y_score"]), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("micro", "'micro' corresponds to 'pooled'"),
        ("weighted", "'weighted' corresponds to 'positives'"),
        ("neg_difference", "Only scorers have the prefix 'neg_': use 'difference'"),
        ("nonsense", "got 'nonsense'"),
        (["macro"], r"got \['macro'\]"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(name, message):
    with pytest.raises(ValueError, match=message) as caught:
        group_roc_auc_score(**ROWS, statistic=name)
    assert all(repr(statistic) in str(caught.value) for statistic in STATISTICS)


def test_groups_are_needed_by_name():
    with pytest.raises(TypeError, match="groups"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"])
    with pytest.raises(TypeError, match="groups must give the group of each row"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"], groups=None)
    with pytest.raises(TypeError, match="positional"):
        group_roc_auc_score(ROWS["y_true"], ROWS["y_score"], ROWS["groups"])
    kinds = {p.name: p.kind for p in inspect.signature(group_roc_auc_score).parameters.values()}
    assert [name for name, kind in kinds.items() if kind is not inspect.Parameter.KEYWORD_ONLY] == [
        "y_true",
        "y_score",
    ]


def test_it_is_a_metric_that_scikit_learn_takes():
    X, y = np.array(ROWS["y_score"])[:, None], ROWS["y_true"]
    model = LogisticRegression().fit(X, y)
    scorer = make_scorer(
        group_roc_auc_score,
        response_method="predict_proba",
        groups=ROWS["groups"],
        statistic="pooled",
    )
    assert scorer(model, X, y) == pytest.approx(roc_auc_score(y, X), abs=1e-12)
