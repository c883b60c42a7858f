"""The splitter and the refit rules inside scikit-learn's tools."""

import copy
from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from contract_oracle import fold_scores
from contract_tools import (
    PENALTIES,
    PENALTY,
    Way,
    assert_same,
    by_candidate,
    by_loop,
    grid_search,
    make_way,
    penalised,
    plain_model,
)
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
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
from sklearn.preprocessing import StandardScaler

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


@pytest.fixture
def given():
    """List of the X and the groups that each split receives."""
    return []


@pytest.fixture
def watched(monkeypatch, given):
    """Record each call of `split` in `given`."""
    split = WithinGroupStratifiedKFold.split

    def noted(self, X, y=None, groups=None):
        given.append((X, groups))
        return split(self, X, y, groups)

    monkeypatch.setattr(WithinGroupStratifiedKFold, "split", noted)


def passed(is_on, groups):
    """Return the argument that passes groups to functions, with and without metadata routing."""
    return {"params": {"groups": groups}} if is_on else {"groups": groups}


def splits_of(X, y, site, n_splits=3):
    return list(WithinGroupStratifiedKFold(n_splits).split(X, y, site))


@pytest.mark.parametrize("value", [True, False, None, "hospital"])
def test_set_split_request(routing, value):
    cv = WithinGroupStratifiedKFold()
    assert cv.set_split_request(groups=value) is cv
    assert cv.get_metadata_routing().split.requests == {"groups": value}
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
    extra = {} if by == "column" else passed(any_routing, site)
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


def path(**options):
    """Scikit-learn's releases require different arguments for results of the old shape."""
    shape = {"use_legacy_attributes": False, "l1_ratios": (0,)}
    known = "use_legacy_attributes" in signature(LogisticRegressionCV).parameters
    return LogisticRegressionCV(Cs=2, scoring="roc_auc", **options, **(shape if known else {}))


MODEL = LogisticRegression()
ROUTERS = {
    "GridSearchCV": lambda cv: GridSearchCV(MODEL, GRID, cv=cv),
    "RandomizedSearchCV": lambda cv: RandomizedSearchCV(MODEL, GRID, n_iter=1, cv=cv),
    "HalvingGridSearchCV": lambda cv: HalvingGridSearchCV(
        MODEL, GRID, cv=cv, min_resources=80, random_state=0
    ),
    "LogisticRegressionCV": lambda cv: path(cv=cv),
    "RFECV": lambda cv: RFECV(MODEL, cv=cv, scoring="roc_auc"),
    "CalibratedClassifierCV": lambda cv: CalibratedClassifierCV(MODEL, cv=cv),
    "TunedThresholdClassifierCV": lambda cv: TunedThresholdClassifierCV(MODEL, cv=cv, thresholds=3),
}


@pytest.mark.parametrize("kind", ROUTERS)
def test_groups_are_routed_to_it_in_everything_that_takes_cv(routing, data, kind, given, watched):
    """In a cross-validation that routes the groups, each split receives the groups of its rows."""
    X, y, site = data
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


def test_feature_selection_by_its_splits(data):
    """The selector converts X to an array, so groups must be passed."""
    X, y, site = data
    select = SequentialFeatureSelector(
        MODEL, n_features_to_select=1, scoring="roc_auc", cv=splits_of(X, y, site)
    ).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = SequentialFeatureSelector(
            MODEL, n_features_to_select=1, scoring="roc_auc", cv=WithinGroupStratifiedKFold(3)
        ).fit(X, y, groups=site)
    assert np.array_equal(routed.get_support(), select.get_support())


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


FEATURES = [["dose", "marker"], ["dose"], ["noise"], ["marker"]]
CHOICE = "columns__transformers"
CANDIDATES = {CHOICE: [[("keep", StandardScaler(), names)] for names in FEATURES]}
NAMES = ["pooled", "macro", "neg_difference", "neg_cross_difference"]
N_SPLITS = 3


def make_hospitals(seed=1):
    """Return rows of four hospitals with different prevalences and dose levels.

    The dose separates the classes equally well in all hospitals. The marker separates the classes
    nearly perfectly in one hospital, and poorly in the other hospitals.
    """
    rng = np.random.default_rng(seed)
    n = 1200
    code = np.repeat(np.arange(4), n // 4)
    y = (rng.random(n) < np.array([0.3, 0.4, 0.5, 0.6])[code]).astype(int)
    shift = np.array([-0.75, -0.25, 0.25, 0.75])[code]
    X = pd.DataFrame(
        {
            "hospital": np.array(["a", "b", "c", "d"])[code],
            "dose": y + shift + rng.normal(size=n),
            "marker": rng.normal(size=n) + y * np.where(code == 3, 4.0, 0.4),
            "noise": rng.normal(size=n),
        }
    )
    order = rng.permutation(n)
    return X.iloc[order].reset_index(drop=True), y[order]


@pytest.fixture(scope="module")
def hospitals():
    return make_hospitals()


def selecting_model():
    """Return a pipeline that selects columns and drops the hospital."""
    return sklearn.pipeline.Pipeline(
        [("columns", ColumnTransformer(CANDIDATES[CHOICE][0])), ("classify", LogisticRegression())]
    )


def hospital_search(refit, *, kind="GridSearchCV", scoring=None, **options):
    options |= {"n_iter": 4} if kind == "RandomizedSearchCV" else {}
    return SEARCHES[kind](
        selecting_model(),
        CANDIDATES,
        scoring=scoring or group_auc_scoring(NAMES, groups="hospital"),
        refit=refit,
        cv=WithinGroupStratifiedKFold(N_SPLITS, groups="hospital"),
        **{"error_score": "raise", **options},
    )


@pytest.fixture(scope="module")
def truth(hospitals):
    """Mean scores of the candidates in the order of FEATURES, by name, from a plain loop."""
    X, y = hospitals
    site = X["hospital"].to_numpy()
    splits = splits_of(X, y, site, N_SPLITS)
    models = [selecting_model().set_params(**{CHOICE: one}) for one in CANDIDATES[CHOICE]]
    way = Way(X, y, site, None, None)
    means = [fold_scores(way, NAMES, splits, model=model).mean(axis=1) for model in models]
    return dict(zip(NAMES, np.transpose(means), strict=True))


@pytest.fixture(scope="module")
def limit(truth):
    """A limit between the gap of the dose and the gap of dose and marker."""
    both, dose = -truth["neg_difference"][:2]
    assert both > dose + 0.05
    return float((both + dose) / 2)


def features_of(search, index=None):
    params = search.best_params_ if index is None else search.cv_results_["params"][index]
    return params[CHOICE][0][2]


@pytest.mark.parametrize("kind", SEARCHES)
def test_rule_picks_the_best_within_the_limit(hospitals, truth, limit, kind):
    X, y = hospitals
    plain = hospital_search("pooled", kind=kind).fit(X, y)
    assert features_of(plain) == ["dose", "marker"]
    search = hospital_search(SelectWithinGap("pooled", at_most=limit), kind=kind).fit(X, y)
    assert features_of(search) == ["dose"]
    for name in NAMES:
        means = search.cv_results_[f"mean_test_{name}"]
        order = [FEATURES.index(features_of(search, i)) for i in range(4)]
        assert_same(means, truth[name][order])


def test_failed_candidates_are_left_out(hospitals, limit):
    X, y = hospitals
    candidates = [[("keep", StandardScaler(), ["absent"])], *CANDIDATES[CHOICE]]
    search = hospital_search(SelectWithinGap("pooled", at_most=limit), error_score=np.nan)
    search.set_params(param_grid={CHOICE: candidates})
    with (
        pytest.warns(UserWarning, match="non-finite"),
        pytest.warns(FitFailedWarning, match="3 fits failed"),
    ):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_pooled"]).tolist() == [True] + [False] * 4
    assert features_of(search) == ["dose"]


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (
            group_auc_scoring(["pooled", "macro"], groups="hospital"),
            r"no score named 'neg_difference'; it has 'pooled', 'macro'\..*group_auc_scoring",
        ),
        ("roc_auc", r"no score named 'pooled' or 'neg_difference'; it has 'score'"),
    ],
    ids=["gap", "single"],
)
def test_absent_scores_are_an_error_that_names_what_is_there(hospitals, scoring, message):
    X, y = hospitals
    search = hospital_search(SelectWithinGap("pooled", at_most=0.1), scoring=scoring)
    with pytest.raises(ValueError, match=message):
        search.fit(X, y)


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
