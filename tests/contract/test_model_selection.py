"""The splitter and the refit rules inside scikit-learn's tools."""

import copy
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from contract_oracle import fold_scores
from contract_tools import (
    CV,
    PENALTIES,
    PENALTY,
    Way,
    assert_same,
    by_candidate,
    by_loop,
    grid_search,
    make_way,
    path_of,
    penalised,
    plain_model,
)
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline

from skfedauc import (
    GroupAUC,
    SelectWithinGap,
    WithinGroupStratifiedKFold,
    group_auc_scoring,
    make_group_auc_scorer,
)
from skfedauc.datasets import make_group_scores

GRID = {"C": [0.01, 1.0]}


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def any_routing(request, default_sklearn_config):
    sklearn.set_config(enable_metadata_routing=request.param)
    return request.param


def splits_of(X, y, site):
    return list(WithinGroupStratifiedKFold(3).split(X, y, site))


@pytest.mark.parametrize("value", [True, False, None, "hospital"])
def test_set_split_request(routing, value):
    cv = WithinGroupStratifiedKFold()
    assert cv.set_split_request(groups=value) is cv
    assert copy.deepcopy(cv).get_metadata_routing().split.requests == {"groups": value}
    # Other instances keep their metadata requests.
    assert WithinGroupStratifiedKFold().get_metadata_routing().split.requests["groups"] is True


def test_a_splitter_that_names_columns_cannot_be_asked_to_take_others(routing):
    """A request would have no effect, so the splitter refuses the request, as scorers do."""
    folds = WithinGroupStratifiedKFold(groups="site").set_split_request(groups=True)
    with pytest.raises(TypeError, match="has its own groups"):
        folds.get_metadata_routing()


SEARCHES = {
    "GridSearchCV": GridSearchCV,
    "RandomizedSearchCV": partial(RandomizedSearchCV, n_iter=3, random_state=0),
}


def penalised_within_sites(way, statistic):
    return penalised(way, statistic, splits_of(way.X, way.y, way.site))


@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("by", ["column", "fit"])
def test_splitter_in_a_search(data, any_routing, kind, by):
    X, y, site = data
    X = X.assign(site=pd.Categorical(site).codes) if by == "column" else X
    model = make_way("pandas column").model if by == "column" else plain_model()
    search = SEARCHES[kind](
        model,
        {PENALTY: PENALTIES},
        scoring="roc_auc",
        cv=WithinGroupStratifiedKFold(3, groups="site" if by == "column" else None),
        error_score="raise",
    )
    search.fit(X, y, **({} if by == "column" else {"groups": site}))
    assert search.n_splits_ == 3
    assert_same(by_candidate(search), by_loop(penalised_within_sites, "pooled"))


@pytest.mark.parametrize("by", ["column", "groups"])
def test_splitter_in_functions(data, any_routing, by):
    X, y, site = data
    model = LogisticRegression()
    X = X.assign(site=pd.Categorical(site).codes)
    cv = WithinGroupStratifiedKFold(3, groups="site" if by == "column" else None)
    splits = splits_of(X, y, site)
    groups = {"groups": site}
    passed = {"params": groups} if any_routing else groups
    extra = {} if by == "column" else passed
    loose = {"cv": cv, "scoring": "roc_auc", **extra}
    expected = fold_scores(Way(X, y, site, model, None), "pooled", splits)
    assert_same(cross_val_score(model, X, y, **loose), expected)
    assert_same(cross_validate(model, X, y, **loose)["test_score"], expected)
    scores = cross_val_predict(model, X, y, cv=cv, method="decision_function", **extra)
    assert_same([roc_auc_score(y[test], scores[test]) for _, test in splits], expected)
    curve = validation_curve(model, X, y, param_name="C", param_range=[1.0], **loose)
    assert_same(curve[1][0], expected)
    _, _, at_sizes = learning_curve(model, X, y, train_sizes=[160], **loose)
    assert at_sizes.shape == (1, 3)
    score, _, _ = permutation_test_score(model, X, y, n_permutations=1, **loose)
    assert score == pytest.approx(expected.mean(), abs=1e-12)


@pytest.mark.parametrize("flavour", ["pandas", "polars"])
def test_groups_of_others_do_not_reach_a_splitter_that_names_columns(routing, flavour):
    """Groups are routed to the scorer, and the splitter uses its column."""
    way = make_way("routed" if flavour == "pandas" else "routed polars")
    ward = np.arange(way.y.size) % 5
    if flavour == "pandas":
        way.X = way.X.assign(ward=ward)
    else:
        way.X = way.X.with_columns(pl.Series("ward", ward))
    scorer = make_group_auc_scorer("macro", groups=None)
    search = grid_search(way, scorer, cv=WithinGroupStratifiedKFold(3, groups="ward"))
    splits = splits_of(way.X, way.y, ward)
    assert_same(by_candidate(search), penalised(way, "macro", splits))


MODEL = LogisticRegression()
ROUTERS = {
    "GridSearchCV": lambda cv: GridSearchCV(MODEL, GRID, cv=cv),
    "RandomizedSearchCV": lambda cv: RandomizedSearchCV(MODEL, GRID, n_iter=1, cv=cv),
    "HalvingGridSearchCV": lambda cv: HalvingGridSearchCV(
        MODEL, GRID, cv=cv, min_resources=80, random_state=0
    ),
    "LogisticRegressionCV": lambda cv: path_of(Cs=2, scoring="roc_auc", cv=cv),
    "RFECV": lambda cv: RFECV(MODEL, cv=cv, scoring="roc_auc"),
    "CalibratedClassifierCV": lambda cv: CalibratedClassifierCV(MODEL, cv=cv),
    "TunedThresholdClassifierCV": lambda cv: TunedThresholdClassifierCV(MODEL, cv=cv, thresholds=3),
}


@pytest.mark.parametrize("kind", ROUTERS)
def test_groups_are_routed_to_it_in_everything_that_takes_cv(routing, data, kind, monkeypatch):
    """In a cross-validation that routes the groups, each split receives the groups of its rows."""
    (X, y, site), split, given = data, WithinGroupStratifiedKFold.split, []

    def noted(self, X, y=None, groups=None):
        given.append((X, groups))
        return split(self, X, y, groups)

    monkeypatch.setattr(WithinGroupStratifiedKFold, "split", noted)
    # The first column identifies the row.
    X = np.column_stack([np.arange(y.size) / y.size, X.to_numpy()])
    result = cross_validate(
        ROUTERS[kind](WithinGroupStratifiedKFold(2)),
        X,
        y,
        params={"groups": site},
        cv=WithinGroupStratifiedKFold(3),
        scoring="roc_auc",
        error_score="raise",
    )
    assert len(result["test_score"]) == 3
    assert len(given) >= 4
    for rows, groups in given:
        number = np.rint(rows[:, 0] * y.size).astype(int)
        assert np.array_equal(groups, site[number])


def test_halving_wants_folds_that_repeat(data):
    X, y, site = data
    X = X.assign(site=pd.Categorical(site).codes)
    options = {"min_resources": 80, "random_state": 0, "scoring": "roc_auc"}
    for random_state in (None, np.random.RandomState(0)):
        cv = WithinGroupStratifiedKFold(3, groups="site", shuffle=True, random_state=random_state)
        with pytest.raises(ValueError, match="consistent"):
            HalvingGridSearchCV(MODEL, GRID, cv=cv, **options).fit(X, y)
    cv = WithinGroupStratifiedKFold(3, groups="site", shuffle=True, random_state=0)
    assert HalvingGridSearchCV(MODEL, GRID, cv=cv, **options).fit(X, y).n_splits_ == 3


NAMES = ["pooled", "macro", "neg_difference", "neg_cross_difference"]


@pytest.fixture
def within_limit():
    """A limit on the gap that excludes the best penalty by the pooled AUC, and the best within."""
    pooled, _, gap, _ = by_loop(penalised, tuple(NAMES)).mean(axis=2).T
    gap = -gap
    assert gap.min() < gap[np.argmax(pooled)]
    limit = (gap.min() + gap[np.argmax(pooled)]) / 2
    return limit, PENALTIES[np.argmax(np.where(gap <= limit, pooled, -np.inf))]


def search_by_rule(kind, limit, **options):
    way = make_way("pandas column")
    scoring = options.pop("scoring", group_auc_scoring(NAMES, groups="site"))
    rule = SelectWithinGap("pooled", at_most=limit)
    return grid_search(way, scoring, make=SEARCHES[kind], refit=rule, **options)


@pytest.mark.parametrize("kind", SEARCHES)
def test_rule_picks_the_best_within_the_limit(within_limit, kind):
    limit, best = within_limit
    search = search_by_rule(kind, limit)
    assert search.best_params_ == {PENALTY: best}
    expected = by_loop(penalised, tuple(NAMES))
    for number, name in enumerate(NAMES):
        assert_same(by_candidate(search, name), expected[:, number])


def test_failed_candidates_are_left_out(within_limit):
    limit, best = within_limit
    search = GridSearchCV(
        (way := make_way("pandas column")).model,
        {PENALTY: [-1.0, *PENALTIES]},
        scoring=group_auc_scoring(NAMES, groups="site"),
        refit=SelectWithinGap("pooled", at_most=limit),
        cv=CV,
    )
    with (
        pytest.warns(UserWarning, match="non-finite"),
        pytest.warns(FitFailedWarning, match="3 fits failed"),
    ):
        search.fit(way.X, way.y)
    assert np.isnan(search.cv_results_["mean_test_pooled"]).tolist() == [True] + [False] * 3
    assert search.best_params_ == {PENALTY: best}


def test_absent_scores_are_an_error_that_names_what_is_there():
    two = group_auc_scoring(["pooled", "macro"], groups="site")
    named = r"'neg_difference'; it has 'pooled', 'macro'\..*group_auc_scoring"
    single = r"'pooled' or 'neg_difference'; it has 'score'"
    for scoring, names in ((two, named), ("roc_auc", single)):
        with pytest.raises(ValueError, match=f"no metric named {names}"):
            search_by_rule("GridSearchCV", 0.1, scoring=scoring)


def test_tau_in_a_search_is_averaged_as_a_square():
    devices = make_group_scores("different", 60, 90, random_state=0)
    X = pd.DataFrame({"x": devices.y_score, "noise": np.arange(600) % 7, "device": devices.groups})
    y = devices.y_true
    search = GridSearchCV(
        make_pipeline(
            make_column_transformer(("passthrough", ["x", "noise"])), LogisticRegression()
        ),
        {"logisticregression__C": [1e-6, 1.0]},
        cv=WithinGroupStratifiedKFold(3, groups="device"),
        scoring=group_auc_scoring(["pooled", "neg_tau"], groups="device"),
        refit=SelectWithinGap("pooled", gap="tau", at_most=0.5),
        error_score="raise",
    ).fit(X, y)
    for number, (train, test) in enumerate(search.cv.split(X, y)):
        model = clone(search.estimator).set_params(logisticregression__C=1.0)
        scores = model.fit(X.iloc[train], y[train]).decision_function(X.iloc[test])
        report = GroupAUC.from_predictions(y[test], scores, groups=X["device"].iloc[test])
        square = report.by_group["auc"].var() - report._estimates.variances.unbiased.mean()
        assert search.cv_results_[f"split{number}_test_neg_tau"][1] == pytest.approx(-square)
