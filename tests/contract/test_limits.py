"""Arguments that are refused, undefined results, limits of scikit-learn, and their messages."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from contract_oracle import fold_scores, folds_of
from contract_tools import (
    CV,
    TOOLS,
    TURN_X_INTO_NUMPY,
    Way,
    assert_same,
    cross_validation,
    make_data,
    make_way,
    plain_model,
)
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    ValidationCurveDisplay,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

from skfedauc import WithinGroupStratifiedKFold, group_auc_scoring, make_group_auc_scorer

ROUTE = r"sklearn\.set_config\(enable_metadata_routing=True\), groups=None here"


def tune_threshold(way, scorer):
    return TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=CV).fit(
        way.X, way.y, **way.params
    )


def boost(way, scorer):
    model = HistGradientBoostingClassifier(scoring=scorer, early_stopping=True, max_iter=3)
    return model.fit(way.X, way.y)


def monitor(way, scorer):
    callback = pytest.importorskip("sklearn.callback").ScoringMonitor(scoring=scorer)
    return LogisticRegression().set_callbacks(callback).fit(way.X, way.y)


def shown(display, **options):
    """Return a run of a display, in a figure that pyplot does not keep in memory."""
    return lambda way, scorer: display.from_estimator(
        way.model,
        way.X,
        way.y,
        scoring=scorer,
        cv=CV,
        error_score="raise",
        ax=Figure().subplots(),
        **options,
        **({"fit_params": way.params} if way.params else {}),
    )


RANGE = {"param_name": "logisticregression__C", "param_range": [0.1, 1.0]}
EVERY_TOOL = {
    **TOOLS,
    "TunedThresholdClassifierCV": tune_threshold,
    "HistGradientBoostingClassifier": boost,
    "ScoringMonitor": monitor,
    "LearningCurveDisplay": shown(LearningCurveDisplay, train_sizes=[80, 160]),
    "ValidationCurveDisplay": shown(ValidationCurveDisplay, **RANGE),
}


def documented():
    """Return the table in the docstring of `make_group_auc_scorer`: yes or no by tool and way."""
    text = make_group_auc_scorer.__doc__
    body = text.split("Supported forms of `groups` by tool:")[1].split(".. [a]")[0]
    cells = {}
    for line in body.splitlines():
        columns = re.split(r"\s{2,}", line.strip())
        if len(columns) == 4 and not line.strip().startswith(("=", "Tool")):
            for tool in (name for name in columns[0].split(", ") if name in EVERY_TOOL):
                for way, cell in zip(("column", "series", "routed"), columns[1:], strict=True):
                    cells[tool, way] = cell.split()[0]
    return cells


def test_table_tells_of_every_tool():
    ways = ("column", "series", "routed")
    assert set(documented()) == {(tool, way) for tool in EVERY_TOOL for way in ways}
    assert set(documented().values()) == {"yes", "no"}
    assert {case: documented()[case] for case in itertools.product(TOOLS, ways)} == dict.fromkeys(
        IN_TEST_SEARCHES, "yes"
    ) | {(tool, way): "no" for tool in TURN_X_INTO_NUMPY for way in ("column", "series")}


# test_searches.py compares the scores of the tools in these ways.
IN_TEST_SEARCHES = {
    (tool, way)
    for tool in TOOLS
    for way in (["routed"] if tool in TURN_X_INTO_NUMPY else ["column", "series", "routed"])
}
OTHERS = [case for case in documented() if case not in IN_TEST_SEARCHES]


def numeric_way(kind):
    """Return data with numeric columns only, for tools that convert X to an array."""
    if kind == "routed":
        return make_way("routed")
    if kind == "series":
        return make_way("aligned series")
    X, y, site = make_data()
    code = pd.Categorical(site).codes.astype(int)
    return Way(X.assign(site=code), y, code, plain_model(), "site")


@pytest.mark.parametrize(("tool", "kind"), OTHERS, ids=map(" ".join, OTHERS))
def test_table_is_true(tool, kind):
    way = numeric_way(kind)
    sklearn.set_config(enable_metadata_routing=way.is_routed)
    scorer = make_group_auc_scorer("macro", groups=way.groups)
    if documented()[tool, kind] == "yes":
        assert EVERY_TOOL[tool](way, scorer) is not None
        return
    if tool == "TunedThresholdClassifierCV":
        refused = pytest.raises(TypeError, match="then tune its threshold")
    elif kind == "routed":
        refused = pytest.raises(ValueError, match="groups=None, but received no groups")
    elif tool == "SequentialFeatureSelector":
        refused = pytest.warns(UserWarning, match=ROUTE)
    else:
        refused = pytest.raises(TypeError, match=ROUTE)
    with refused:
        EVERY_TOOL[tool](way, scorer)


def test_tools_that_call_the_metric_of_a_scorer_are_told_to_call_the_scorer():
    """Skore calls the metric with scores; report.metrics.add takes a function instead."""
    way = numeric_way("column")
    scorer, model = make_group_auc_scorer("macro", groups="site"), way.model.fit(way.X, way.y)
    with pytest.raises(TypeError, match=r"without X .*lambda model, X, y: scorer\(model, X, y\)"):
        scorer._score_func(way.y, model.predict_proba(way.X)[:, 1])
    remedy = lambda model, X, y: scorer(model, X, y)  # noqa: E731
    assert remedy(model, way.X, way.y) == scorer(model, way.X, way.y)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X: X.to_numpy(), TypeError, rf"ndarray without an index.*{ROUTE}"),
        (lambda X: pl.from_pandas(X), TypeError, r"polars DataFrame without an .*groups='site'"),
        (lambda X: X.set_axis([0] * len(X)), ValueError, r"index of X has 239 repeated labels"),
        (
            lambda X: X.set_axis([*X.index[:-2], -1, -2]),
            ValueError,
            r"no label for 2 of 240.*-1, -2",
        ),
    ],
    ids=["numpy", "polars", "repeated index", "rows that the series lacks"],
)
def test_x_that_a_series_cannot_be_aligned_with(data, change, error, message):
    X, y, site = data
    scorer = make_group_auc_scorer("macro", groups=pd.Series(site, X.index))
    with pytest.raises(error, match=message):
        scorer(plain_model().fit(change(X), y), change(X), y)


@pytest.fixture(params=["routed", "pandas column", "aligned series"])
def tiny(request):
    """Data with a device "tiny": one class in fold 0, both in fold 1, no row in fold 2."""
    way = make_way(request.param)
    sklearn.set_config(enable_metadata_routing=way.is_routed)
    folds = folds_of(CV, way.y)
    (_, first), (_, second), _ = folds
    rows = [*first[way.y[first] == 0][:4], *second[way.y[second] == 0][:3]]
    rows += [*second[way.y[second] == 1][:3]]
    way.site = way.site.astype(object)
    way.site[rows] = "tiny"
    if request.param == "routed":
        way.params = {"groups": way.site}
    elif request.param == "pandas column":
        way.X["site"] = way.site
    else:
        way.groups = pd.Series(way.site, way.X.index)
    return way


SOME = ["macro", "samples", "within", "worst", "neg_difference"]


def assert_as_expected(result, way, names, stand_in=None):
    expected = fold_scores(way, names, CV, stand_in=stand_in)
    assert_same([result[f"test_{name}"] for name in names], expected)


def test_skip_leaves_a_device_of_one_class_out_with_one_warning(tiny):
    scoring = group_auc_scoring(SOME, groups=tiny.groups)
    with pytest.warns(UndefinedMetricWarning) as told:
        result = cross_validation(tiny, scoring)
    assert_as_expected(result, tiny, SOME)
    assert len(told) == 1
    assert "1 of 5 groups, with 5.00% of the rows" in str(told[0].message)


@pytest.mark.parametrize("stand_in", [0.5, 0])
def test_number_stands_in(tiny, stand_in):
    scoring = group_auc_scoring(SOME, groups=tiny.groups, undefined=stand_in)
    result = cross_validation(tiny, scoring)
    assert_as_expected(result, tiny, SOME, stand_in)


@pytest.mark.parametrize("statistic", SOME)
def test_raise(tiny, statistic):
    scorer = make_group_auc_scorer(statistic, groups=tiny.groups, undefined="raise")
    with pytest.raises(ValueError, match=r"1 of 5 groups, .*undefined='skip'"):
        cross_validation(tiny, scorer)


def test_pooled_auc_needs_no_group_to_be_whole(tiny):
    scoring = group_auc_scoring(["pooled", "cross"], groups=tiny.groups, undefined="raise")
    assert_as_expected(cross_validation(tiny, scoring), tiny, ["pooled", "cross"])


def test_each_group_is_nan_where_the_group_lacks_a_class_or_is_absent(tiny):
    scoring = group_auc_scoring(["pooled"], groups=tiny.groups, each_group=["tiny", "va"])
    with (
        pytest.warns(UndefinedMetricWarning, match="group 'tiny' lacks a class"),
        pytest.warns(UndefinedMetricWarning, match="group 'tiny' is absent .*'budapest', 'clevel"),
    ):
        result = cross_validation(tiny, scoring)
    assert np.isnan(result["test_auc_tiny"]).tolist() == [True, False, True]
    expected = fold_scores(tiny, "auc_tiny", CV)
    assert result["test_auc_tiny"][1] == pytest.approx(expected[1], abs=1e-12)
    assert_as_expected(result, tiny, ["auc_va", "pooled"])


def test_a_number_stands_in_for_a_group_that_lacks_a_class_not_for_an_absent_one(tiny):
    scoring = group_auc_scoring([], groups=tiny.groups, each_group=["tiny"], undefined=0.25)
    with pytest.warns(UndefinedMetricWarning, match="group 'tiny' is absent"):
        result = cross_validation(tiny, scoring)
    whole = fold_scores(tiny, "auc_tiny", CV)[1]
    assert sorted(result["test_auc_tiny"][[0, 2]].tolist(), key=np.isnan)[0] == 0.25
    assert np.isnan(result["test_auc_tiny"]).sum() == 1
    assert result["test_auc_tiny"][1] == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize(
    ("statistic", "undefined"),
    [
        *itertools.product(["worst", "neg_cross_difference", "neg_tau"], ["skip", "raise"]),
        *itertools.product(["macro", "ratio", "neg_difference", "bias_score"], ["skip"]),
    ],
)
def test_rows_sorted_by_group_in_the_default_folds(statistic, undefined):
    """The score is NaN and candidate 0 is selected; the warnings name the correct splitter."""
    # 90 % positives in the first site and 10 % in the second
    y = np.concatenate([np.tile([1] * 9 + [0], 10), np.tile([0] * 9 + [1], 10)])
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": y + rng.normal(size=200), "site": np.repeat([1, 2], 100)})
    scoring = group_auc_scoring([statistic, "pooled"], groups="site", undefined=undefined)
    grid = {"var_smoothing": [1e-9, 1.0]}
    search = GridSearchCV(GaussianNB(), grid, scoring=scoring, refit=statistic)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert np.isnan(search.best_score_)
    assert search.best_index_ == 0
    ours = [str(one.message) for one in told if "non-finite" not in str(one.message)]
    assert ours
    assert all("cv=WithinGroupStratifiedKFold(" in message for message in ours)
    if undefined == "raise":  # if all groups have an AUC, both settings give the same scores
        search.set_params(cv=WithinGroupStratifiedKFold(5, groups="site"), error_score="raise")
        assert np.isfinite(search.fit(X, y).best_score_)


@pytest.mark.parametrize("each_group", [[], [0], [0, 1]])
def test_a_search_warns_once_of_each_group_whatever_the_number_of_scores(each_group):
    """Each fold has two sites that occur in no other fold; one of them has positives only."""
    row = np.arange(200)
    X = pd.DataFrame({"dose": np.sin(row), "site": 2 * (row // 40) + row % 2})
    y = np.where(row % 2, 1, row // 2 % 2)
    statistics = ["worst", "macro", "ratio", "neg_difference", "neg_cross_difference", "pooled"]
    scoring = group_auc_scoring(statistics, groups="site", each_group=each_group)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = cross_validate(LogisticRegression(), X, y, scoring=scoring, cv=KFold(5))
    assert np.isnan(result["test_neg_difference"]).all()
    assert np.isfinite(result["test_worst"]).all()
    ours = [str(one.message) for one in told]
    absent = [message for message in ours if "is absent in the scored rows" in message]
    named = [re.search(r"1 of 2 groups, .* negatives \((\d)\), so", message) for message in ours]
    assert [found[1] for found in named if found] == ["1", "3", "5", "7", "9"]
    assert len(absent) == len(ours) - 5 == len(each_group)
    assert all(f"group {label} is" in text for label, text in zip(each_group, absent, strict=True))
    assert all("cv=WithinGroupStratifiedKFold(" in message for message in ours)
