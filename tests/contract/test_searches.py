"""All tools of scikit-learn return the scores of plain functions and of loops over folds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from contract_oracle import STATISTICS, Expected, fold_scores
from contract_tools import (
    CV,
    PENALTIES,
    PENALTY,
    TOOLS,
    TURN_X_INTO_NUMPY,
    WAYS,
    Way,
    assert_same,
    by_candidate,
    by_fold,
    by_loop,
    by_plain_scorer,
    cross_validation,
    dropping_model,
    grid_search,
    make_way,
    penalised,
    plain_scorer,
    randomized_search,
    with_penalty,
)
from sklearn.metrics import average_precision_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from skfedauc import group_auc_scoring, make_group_auc_scorer

SITES = ["budapest", "cleveland", "va", "zurich"]

FEW_WAYS = ["routed", "polars column", "aligned series"]
few_ways = pytest.mark.parametrize("way", FEW_WAYS, indirect=True)


# These tools run another tool of the list, so one way is enough.
SAME_INSIDE = ["RandomizedSearchCV", "cross_val_score"]
# One way of each kind; the tests of dicts use all ways.
IN_TOOLS = [
    (tool, way)
    for tool in TOOLS
    if tool not in TURN_X_INTO_NUMPY
    for way in (FEW_WAYS[-1:] if tool in SAME_INSIDE else FEW_WAYS)
]


@pytest.mark.parametrize(("tool", "way"), IN_TOOLS, indirect=["way"])
def test_scorer_in_a_tool(way, tool):
    scorer = make_group_auc_scorer("positives", groups=way.groups)
    assert_same(TOOLS[tool](way, scorer), by_plain_scorer(tool, "positives"))


@pytest.mark.parametrize(
    ("way", "statistic"), [("routed", "macro"), ("routed polars", "pooled")], indirect=["way"]
)
@pytest.mark.parametrize("tool", TURN_X_INTO_NUMPY)
def test_scorer_in_a_tool_that_turns_x_into_numpy(way, tool, statistic):
    scorer = make_group_auc_scorer(statistic, groups=None)
    assert_same(TOOLS[tool](way, scorer), by_plain_scorer(tool, statistic))


@few_ways
def test_search_scores_rows_it_is_given(way):
    search = grid_search(way, make_group_auc_scorer("within", groups=way.groups))
    best = with_penalty(way.model, search.best_params_[PENALTY]).fit(way.X, way.y)
    expected = Expected(way.y, best.decision_function(way.X), way.site)["within"]
    assert search.score(way.X, way.y, **way.params) == pytest.approx(expected, abs=1e-12)


def scoring_of(way, statistic_names=STATISTICS):
    ours = group_auc_scoring(statistic_names, groups=way.groups, each_group=SITES)
    return {**ours, "roc_auc": "roc_auc", "log_loss": "neg_log_loss"}


def pooled_auc(model, X, y):
    return roc_auc_score(y, model.decision_function(X))


def minus_log_loss(model, X, y):
    return -log_loss(y, model.predict_proba(X))


EXPECTED = {name: name for name in [*STATISTICS, *(f"auc_{site}" for site in SITES)]}
EXPECTED |= {"roc_auc": pooled_auc, "log_loss": minus_log_loss}


@pytest.mark.parametrize(
    ("way", "search"),
    [*((way, grid_search) for way in WAYS), ("routed", randomized_search)],
    indirect=["way"],
)
def test_dict_in_a_search(way, search):
    found = search(way, scoring_of(way), refit="macro")
    expected = by_loop(penalised, tuple(EXPECTED.values()))
    for i, name in enumerate(EXPECTED):
        assert_same(by_candidate(found, name), expected[:, i])
    assert found.best_index_ == np.argmax(found.cv_results_["mean_test_macro"])


@pytest.mark.parametrize(
    ("way", "n_jobs"),
    [*((way, None) for way in WAYS), *((way, 2) for way in FEW_WAYS)],
    indirect=["way"],
)
def test_dict_in_cross_validate(way, n_jobs):
    result = cross_validation(way, scoring_of(way), n_jobs=n_jobs)
    expected = by_loop(by_fold, tuple(EXPECTED.values()))
    for name, scores in zip(EXPECTED, expected, strict=True):
        assert_same(result[f"test_{name}"], scores)
    assert_same(result["test_pooled"], result["test_roc_auc"])


def test_groups_of_two_columns():
    way = make_way("two columns")
    scoring = group_auc_scoring(
        ["macro", "worst"], groups=["site", "ward"], each_group=[("va", "day")]
    )
    result = cross_validation(way, scoring)
    for name in ("macro", "worst", "auc_va_day"):
        assert_same(result[f"test_{name}"], fold_scores(way, name, CV))


def nested_scores(way, inner, outer, **options):
    """Scores of the outer folds: of another scorer, and of the search's own."""
    search = GridSearchCV(way.model, {PENALTY: PENALTIES}, scoring=inner, cv=2, **options)
    settings = {"params": way.params, "cv": CV, "error_score": "raise"}
    return [
        cross_val_score(search, way.X, way.y, scoring=scoring, **settings)
        for scoring in (outer, None)
    ]


@pytest.mark.parametrize(
    ("way", "is_dict"),
    [("routed", True), ("polars column", False), ("aligned series", True)],
    indirect=["way"],
)
def test_nested_cross_validation(way, is_dict):
    scoring = (
        group_auc_scoring(["pooled", "neg_difference"], groups=way.groups)
        if is_dict
        else make_group_auc_scorer("neg_difference", groups=way.groups)
    )
    refit = "neg_difference" if is_dict else True
    outer = make_group_auc_scorer("macro", groups=way.groups)
    found = nested_scores(way, scoring, outer, refit=refit, error_score="raise")
    known = replace(make_way("routed"), params={})
    plain = plain_scorer("neg_difference"), plain_scorer("macro")
    assert_same(found, nested_scores(known, *plain))


LABELS = {
    "text": lambda y: np.where(y == 1, "sick", "healthy"),
    "text in a Series": lambda y: pd.Series(np.where(y == 1, "sick", "healthy")),
    "categorical": lambda y: pd.Series(np.where(y == 1, "sick", "healthy"), dtype="category"),
    "booleans": lambda y: y == 1,
    "-1 and 1": lambda y: 2 * y - 1,
    "1 and 2": lambda y: y + 1,
}


@pytest.mark.parametrize(
    ("labels", "groups"), [*((kind, "series") for kind in LABELS), ("text in a Series", "site")]
)
def test_labels_of_every_kind(data, labels, groups):
    """The index of y has no effect; groups are aligned with X."""
    X, y, site = data
    way = Way(X.assign(site=site), y, site, dropping_model(), "site")
    scorer = make_group_auc_scorer(
        "positives", groups="site" if groups == "site" else pd.Series(site, X.index)
    )
    scores = cross_val_score(
        way.model, way.X, LABELS[labels](y), scoring=scorer, cv=CV, error_score="raise"
    )
    assert_same(scores, by_loop(by_fold, "positives"))


@few_ways
@pytest.mark.parametrize("response_method", ["decision_function", "predict_proba"])
def test_other_class_beside_the_default_one(way, response_method):
    way.y = np.where(way.y == 1, "sick", "healthy")
    names, scoring = ["pooled", "positives", "neg_cross_difference"], {}
    for label, pos_label in [("default", None), ("healthy", "healthy"), ("sick", "sick")]:
        ours = group_auc_scoring(
            names, groups=way.groups, pos_label=pos_label, response_method=response_method
        )
        scoring |= {f"{label}_{name}": scorer for name, scorer in ours.items()}
    result = cross_validation(way, {"roc_auc": "roc_auc", **scoring})
    of_classes = (fold_scores(way, names, CV, positive=label) for label in ("sick", "healthy"))
    for name, sick, healthy in zip(names, *of_classes, strict=True):
        assert_same(result[f"test_default_{name}"], sick)
        assert_same(result[f"test_sick_{name}"], sick)
        assert_same(result[f"test_healthy_{name}"], healthy)
    assert_same(result["test_default_pooled"], result["test_roc_auc"])
    assert (result["test_default_positives"] != result["test_healthy_positives"]).all()


def precision_of_the_healthy(model, X, y):
    return average_precision_score(y == "healthy", model.predict_proba(X)[:, 0])


@pytest.mark.parametrize("response_method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("order", ["ours first", "ours last"])
def test_beside_a_scorer_of_scikit_learn_for_the_other_class(order, response_method):
    """Group scorers are correct in any order.

    Scikit-learn caches one column of a method for all scorers. Scikit-learn's scorer is therefore
    correct if it comes first, or if the group scorers use another method.
    """
    way = make_way("pandas column")
    way.y = np.where(way.y == 1, "sick", "healthy")
    healthy = {"pos_label": "healthy", "response_method": "predict_proba"}
    theirs = {"precision": make_scorer(average_precision_score, **healthy)}
    ours = group_auc_scoring(["positives"], groups="site", response_method=response_method)
    scoring = {**ours, **theirs} if order == "ours first" else {**theirs, **ours}
    result = cross_validation(way, scoring)
    assert_same(result["test_positives"], fold_scores(way, "positives", CV, positive="sick"))
    if order == "ours last" or response_method == "decision_function":
        assert_same(result["test_precision"], fold_scores(way, precision_of_the_healthy, CV))
