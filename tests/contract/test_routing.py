"""Groups that scikit-learn routes: requests, aliases, splitters and weights."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contract_oracle import Expected, fold_scores
from contract_tools import (
    CV,
    Way,
    assert_same,
    by_candidate,
    cross_validation,
    grid_search,
    make_way,
    penalised,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import group_auc_scoring, make_group_auc_scorer


@pytest.fixture
def way(routing):
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
def test_forgotten_groups_are_an_error_that_says_how_to_pass_them(way, run, is_dict):
    scoring = make_group_auc_scorer("macro", groups=None)
    scoring = {"macro": scoring, "roc_auc": "roc_auc"} if is_dict else scoring
    options = {"refit": "macro"} if is_dict and run is grid_search else {}
    way.params = {}
    with pytest.raises(ValueError, match=FORGOTTEN):
        run(way, scoring, **options)


@pytest.mark.parametrize("kind", [np.asarray, list, pd.Series, pd.Categorical, pl.Series])
def test_routed_groups_of_every_kind(way, kind):
    """A routed Series is matched by position, as scikit-learn selects rows, for any index."""
    result = cross_validation(
        way,
        {"macro": make_group_auc_scorer("macro", groups=None)},
        params={"groups": kind(way.site)},
    )
    assert_same(result["test_macro"], fold_scores(way, "macro", CV))


@pytest.mark.parametrize("splitter", [GroupKFold(2), LeaveOneGroupOut()], ids=str)
def test_splitter_by_the_same_groups_in_a_search(way, splitter):
    splits = list(splitter.split(way.X, way.y, way.site))
    search = grid_search(way, make_group_auc_scorer("macro", groups=None), cv=splitter)
    assert_same(by_candidate(search), penalised(way, "macro", splits))


def test_alias_in_a_search_beside_a_splitter_of_other_groups(way):
    patient = np.arange(way.y.size) // 2
    splits = list(GroupKFold(3).split(way.X, way.y, patient))
    scoring = group_auc_scoring(["macro", "worst"], groups=None)
    for scorer in scoring.values():
        scorer.set_score_request(groups="site")
    way.params = {"groups": patient, "site": way.site}
    search = grid_search(way, scoring, refit="worst", cv=GroupKFold(3))
    for name in scoring:
        assert_same(by_candidate(search, name), penalised(way, name, splits))


def test_members_of_a_dict_may_take_different_groups(way):
    sex = np.where(np.arange(way.y.size) % 3, "f", "m")
    scoring = {
        name: make_group_auc_scorer("macro", groups=None).set_score_request(groups=name)
        for name in ("site", "sex")
    }
    result = cross_validation(way, scoring, params={"site": way.site, "sex": sex})
    assert_same(result["test_site"], fold_scores(way, "macro", CV))
    way.site = sex
    assert_same(result["test_sex"], fold_scores(way, "macro", CV))


WEIGHTED = ["pooled", "macro", "positives", "within", "neg_difference", "cross"]


@pytest.fixture
def weight(way):
    return np.random.default_rng(1).uniform(0.1, 3, way.y.size)


@pytest.fixture
def weighted(way):
    """Return the way with a model that does not request weights; only scores change."""
    model = LogisticRegression().set_fit_request(sample_weight=False)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    return Way(way.X, way.y, way.site, make_pipeline(scaler, model), None, way.params)


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
