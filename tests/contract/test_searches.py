"""All tools of scikit-learn return the scores of plain functions and of loops over folds.

The last tests are of groups that scikit-learn routes: requests, aliases, splitters and weights.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
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
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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


@pytest.fixture
def routed(routing):
    return make_way("routed")


@pytest.mark.parametrize(
    "make", [make_group_auc_scorer, lambda name, groups: group_auc_scoring([name], groups=groups)]
)
def test_factory_refuses_none_while_routing_is_off(make):
    with pytest.raises(ValueError, match=r"metadata routing is off") as refusal:
        make("macro", groups=None)
    for remedy in (
        "groups='site'",
        "pandas Series",
        "sklearn.set_config(enable_metadata_routing=True)",
        "params={'groups': ...}",
    ):
        assert remedy in str(refusal.value)


FORGOTTEN = r"search\.fit\(X, y, groups=labels\), or cross_validate\(..., params=\{'groups': labels"


@pytest.mark.parametrize("run", [grid_search, cross_validation])
@pytest.mark.parametrize("is_dict", [False, True], ids=["scorer", "dict"])
def test_forgotten_groups_are_an_error_that_says_how_to_pass_them(routed, run, is_dict):
    scoring = make_group_auc_scorer("macro", groups=None)
    scoring = {"macro": scoring, "roc_auc": "roc_auc"} if is_dict else scoring
    options = {"refit": "macro"} if is_dict and run is grid_search else {}
    routed.params = {}
    with pytest.raises(ValueError, match=FORGOTTEN):
        run(routed, scoring, **options)


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pd.Categorical, pl.Series])
def test_routed_groups_of_every_kind(routed, kind):
    """A routed Series is matched by position, as scikit-learn selects rows, for any index."""
    result = cross_validation(
        routed,
        {"macro": make_group_auc_scorer("macro", groups=None)},
        params={"groups": kind(routed.site)},
    )
    assert_same(result["test_macro"], fold_scores(routed, "macro", CV))


@pytest.mark.parametrize("splitter", [GroupKFold(2), LeaveOneGroupOut()], ids=str)
def test_splitter_by_the_same_groups_in_a_search(routed, splitter):
    splits = list(splitter.split(routed.X, routed.y, routed.site))
    search = grid_search(routed, make_group_auc_scorer("macro", groups=None), cv=splitter)
    assert_same(by_candidate(search), penalised(routed, "macro", splits))


def test_alias_in_a_search_beside_a_splitter_of_other_groups(routed):
    patient = np.arange(routed.y.size) // 2
    splits = list(GroupKFold(3).split(routed.X, routed.y, patient))
    scoring = group_auc_scoring(["macro", "worst"], groups=None)
    for scorer in scoring.values():
        scorer.set_score_request(groups="site")
    routed.params = {"groups": patient, "site": routed.site}
    search = grid_search(routed, scoring, refit="worst", cv=GroupKFold(3))
    for name in scoring:
        assert_same(by_candidate(search, name), penalised(routed, name, splits))


def test_members_of_a_dict_may_take_different_groups(routed):
    sex = np.where(np.arange(routed.y.size) % 3, "f", "m")
    scoring = {
        name: make_group_auc_scorer("macro", groups=None).set_score_request(groups=name)
        for name in ("site", "sex")
    }
    result = cross_validation(routed, scoring, params={"site": routed.site, "sex": sex})
    assert_same(result["test_site"], fold_scores(routed, "macro", CV))
    routed.site = sex
    assert_same(result["test_sex"], fold_scores(routed, "macro", CV))


WEIGHTED = ["pooled", "macro", "positives", "within", "neg_difference", "cross"]


@pytest.fixture
def weight(routed):
    return np.random.default_rng(1).uniform(0.1, 3, routed.y.size)


@pytest.fixture
def weighted(routed):
    """Return the routed with a model that does not request weights; only scores change."""
    model = LogisticRegression().set_fit_request(sample_weight=False)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    return Way(routed.X, routed.y, routed.site, make_pipeline(scaler, model), None, routed.params)


def test_sample_weight_adds_to_the_request_of_groups(weighted, weight):
    scoring = group_auc_scoring(WEIGHTED, groups=None)
    for scorer in scoring.values():
        scorer.set_score_request(sample_weight=True)
    params = {"groups": weighted.site, "sample_weight": weight}
    result = cross_validation(weighted, scoring, params=params)
    plain = fold_scores(weighted, WEIGHTED, CV)
    for i, (train, test) in enumerate(CV.split(weighted.X, weighted.y)):
        fitted = weighted.model.fit(weighted.X.iloc[train], weighted.y[train])
        score = fitted.decision_function(weighted.X.iloc[test])
        expected = Expected(weighted.y[test], score, weighted.site[test], weight=weight[test])
        for name, unweighted in zip(WEIGHTED, plain, strict=True):
            assert result[f"test_{name}"][i] == pytest.approx(expected[name], abs=1e-12)
            assert result[f"test_{name}"][i] != pytest.approx(unweighted[i], abs=1e-6)


@pytest.mark.parametrize(
    ("groups", "request_", "message"),
    [
        (None, {"weights": True}, r"takes groups, sample_weight; got weights"),
        ("site", {"groups": True}, r"reads its groups from X; make it with groups=None"),
    ],
)
def test_requests_for_what_the_scorer_does_not_take_are_refused(routing, groups, request_, message):
    scorer = make_group_auc_scorer("macro", groups=groups)
    with pytest.raises(TypeError, match=message):
        scorer.set_score_request(**request_)


def test_set_score_request_needs_routing():
    scorer = make_group_auc_scorer("macro", groups="site")
    with pytest.raises(RuntimeError, match=r"enable_metadata_routing=True"):
        scorer.set_score_request(sample_weight=True)
