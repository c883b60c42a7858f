"""Scores on the scale of each group's negatives, and the covariate-adjusted ROC curve."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from skfedauc import (
    Bins,
    GroupAdjustedClassifier,
    GroupAUC,
    GroupPercentileTransformer,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    cross_validate_group_auc,
    group_roc_auc_score,
    make_group_auc_scorer,
)
from skfedauc._input import encode_groups
from skfedauc.adjustment.references import Groups
from skfedauc.inference import roc_curves
from skfedauc.mitigation import sensitive
from skfedauc.plotting import GroupRocCurveDisplay
from skfedauc.plotting.curves import adjusted_curve


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scored(seed, *, n=300, n_groups=5, digits=1, weighted=False):
    """Return labels, scores, groups and weights; groups have different scales and sizes."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n) * rng.integers(0, 2, n)
    y = rng.random(n) < 0.3 + 0.05 * group
    score = (rng.normal(size=n) + y * 0.3 * (group + 1) + 2.0 * group).round(digits)
    return y, score, group, rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)


def table(score, group):
    return pd.DataFrame({"marker": score, "site": np.asarray(list("abcdefgh"))[group]})


def by_brute_force(y, score, group, weight):
    """Return the weighted share of the negatives of each row's group that score lower."""
    found = []
    for own, value in zip(group, score, strict=True):
        mine = ~y & (group == own)
        below = (score[mine] < value) + 0.5 * (score[mine] == value)
        found.append(np.average(below, weights=weight[mine]))
    return np.array(found)


def transformed(y, score, group, weight=None):
    found = GroupPercentileTransformer(groups="site").fit_transform(
        table(score, group), y, sample_weight=weight
    )
    assert found.shape == (y.size, 1)
    return found.ravel()


# Percentiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_percentiles_equal_brute_force(digits, weighted):
    y, score, group, weight = scored(digits, digits=digits, weighted=weighted)
    found = transformed(y, score, group, weight if weighted else None)
    assert_allclose(found, by_brute_force(y, score, group, weight), rtol=0, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_mean_percentile_of_positives_is_the_average_by_positives(digits, weighted):
    y, score, group, weight = scored(digits, digits=digits, weighted=weighted)
    found = transformed(y, score, group, weight)
    expected = group_roc_auc_score(
        y, score, groups=group, statistic="positives", sample_weight=weight
    )
    assert np.average(found[y], weights=weight[y]) == pytest.approx(expected, abs=1e-12)
    # The AUC of each group is unchanged.
    for g in np.unique(group):
        mine = group == g
        before, after = (
            roc_auc_score(y[mine], s[mine], sample_weight=weight[mine]) for s in (score, found)
        )
        assert after == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_pooled_auc_is_within_half_the_mean_largest_tie_block(digits, weighted):
    y, score, group, weight = scored(digits, digits=digits, weighted=weighted)
    found = transformed(y, score, group, weight)
    expected = group_roc_auc_score(
        y, score, groups=group, statistic="positives", sample_weight=weight
    )
    bound = 0.0
    for g in np.unique(group):
        mine = ~y & (group == g)
        tie, place = np.unique(score[mine], return_inverse=True)
        largest = np.bincount(place, weight[mine], tie.size).max()
        bound += largest / weight[~y].sum() / 2
    pooled = roc_auc_score(y, found, sample_weight=weight)
    assert abs(pooled - expected) <= bound + 1e-12
    if digits == 9 and not weighted:
        assert bound == pytest.approx(np.unique(group).size / (2 * (~y).sum()))


@pytest.mark.parametrize("seed", range(3))
def test_the_pooled_auc_is_the_average_with_equal_numbers_of_untied_negatives(seed):
    rng = np.random.default_rng(seed)
    n_negatives, n_positives = 17, [3, 8, 40, 1]
    group = np.concatenate([np.repeat(np.arange(4), n_negatives), np.repeat(range(4), n_positives)])
    y = np.arange(group.size) >= 4 * n_negatives
    score = rng.normal(size=y.size) * (1 + group) + 5 * group + y
    # Positives may be tied with negatives.
    tied = np.flatnonzero(y)[::3]
    for row in tied:
        score[row] = score[rng.choice(np.flatnonzero(~y & (group == group[row])))]
    expected = group_roc_auc_score(y, score, groups=group, statistic="positives")
    assert roc_auc_score(y, transformed(y, score, group)) == pytest.approx(expected, abs=1e-12)
    assert abs(roc_auc_score(y, score) - expected) > 1e-4


def test_equal_shares_are_equal_floats():
    """A third of 3 and of 3,000,000 negatives is the same percentile, in any group."""
    score = np.concatenate([[1, 2, 3, 1.5], np.repeat([1, 2, 3], 1000), [1.5]])
    y = np.zeros(score.size, bool)
    y[[3, -1]] = True
    group = np.repeat([0, 1], [4, 3001])
    found = transformed(y, score, group)
    assert found[3] == found[-1] == 1 / 3


def test_new_rows_and_scores_beyond_the_training_scores():
    X = table(np.array([1.0, 2, 3, 9, 8, 7]), np.array([0, 0, 0, 1, 1, 1]))
    made = GroupPercentileTransformer(groups="site").fit(X, [0, 0, 1, 0, 0, 1])
    new = table(np.array([0.0, 1, 1.5, 99, 8.5]), np.array([0, 0, 0, 0, 1]))
    assert_array_equal(made.transform(new).ravel(), [0, 0.25, 0.5, 1, 0.5])
    assert made.groups_ == ["a", "b"]
    assert_array_equal(made.classes_, [0, 1])


@pytest.mark.parametrize("weight", [0.0, 1e-80])
def test_rows_of_weight_zero_are_left_out(weight):
    y, score, group, weights = scored(4, weighted=True)
    weights[::7] = weight
    found = transformed(y, score, group, weights)
    assert_allclose(found, by_brute_force(y, score, group, weights), rtol=0, atol=1e-14)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_of_other_libraries_and_several_group_columns(frame):
    y, score, group, _ = scored(0)
    X = frame({"site": group // 2, "score": score, "sex": group % 2})
    found = GroupPercentileTransformer(groups=["site", "sex"]).fit_transform(X, y)
    assert_array_equal(found.ravel(), transformed(y, score, group))
    array = np.column_stack([group // 2, score, group % 2])
    positions = GroupPercentileTransformer(groups=[0, 2]).fit_transform(array, y)
    assert_array_equal(positions, found)


# Groups without negatives ---------------------------------------------------------------------


def test_unseen_groups_raise_by_default():
    y, score, group, _ = scored(1, n_groups=3)
    made = GroupPercentileTransformer(groups="site").fit(table(score, group), y)
    new = table(np.array([0.0, 1.0, 1.0]), np.array([0, 6, 6]))
    with pytest.raises(
        ValueError, match=r"^2 of 3 rows belong to groups without negatives in fit \('g'\).*pooled"
    ):
        made.transform(new)


def test_groups_without_negatives_raise_in_fit():
    X = table(np.arange(6.0), np.array([0, 0, 0, 1, 1, 2]))
    y = [0, 1, 0, 1, 1, 1]
    with pytest.raises(ValueError, match=r"^2 groups of 3 have no negatives .*'b', 'c'.*unseen="):
        GroupPercentileTransformer(groups="site").fit(X, y)


def test_pooled_fallback_uses_the_negatives_of_all_groups():
    y, score, group, weight = scored(2, n_groups=3, weighted=True)
    y[group == 2] = True
    made = GroupPercentileTransformer(groups="site", unseen="pooled")
    found = made.fit_transform(table(score, group), y, sample_weight=weight).ravel()
    own, of_all = (by_brute_force(y, score, g, weight) for g in (group % 2, np.zeros_like(group)))
    for g, expected in ((1, own), (2, of_all)):
        assert_allclose(found[group == g], expected[group == g], rtol=0, atol=1e-14)
    assert made.groups_ == ["a", "b"]
    new = made.transform(table(score[:5], np.full(5, 7))).ravel()
    assert_allclose(new, of_all[:5], rtol=0, atol=1e-14)


# The transformer in pipelines -----------------------------------------------------------------


def test_in_a_column_transformer():
    y, score, group, _ = scored(3)
    X = table(score, group).assign(dose=score**2)
    columns = make_column_transformer(
        (GroupPercentileTransformer(groups="site"), ["marker", "site"]),
        ("passthrough", ["dose"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    found = columns.fit_transform(X, y)
    assert list(found.columns) == ["marker", "dose"]
    assert_array_equal(found["marker"], transformed(y, score, group))
    model = make_pipeline(columns, LogisticRegression())
    assert cross_val_score(model, X, y, cv=WithinGroupStratifiedKFold(3, groups="site")).size == 3


def test_each_column_of_scores_is_transformed():
    y, score, group, weight = scored(3, weighted=True)
    other = -score + 0.1 * y
    X = table(score, group).assign(age=other)[["age", "site", "marker"]]
    made = GroupPercentileTransformer(groups="site").set_output(transform="pandas")
    found = made.fit_transform(X, y, sample_weight=weight)
    assert list(found.columns) == ["age", "marker"]
    for name, values in (("marker", score), ("age", other)):
        assert_array_equal(found[name], transformed(y, values, group, weight))
    assert made.set_output(transform="polars").transform(X).columns == ["age", "marker"]
    array = np.column_stack([other, group, score])
    positions = GroupPercentileTransformer(groups=1).fit(array, y, sample_weight=weight)
    assert_array_equal(positions.transform(array), found)
    assert positions.get_feature_names_out().tolist() == ["x0", "x2"]
    assert positions.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "c"]
    with pytest.raises(ValueError, match="input_features should have length equal"):
        positions.get_feature_names_out(["a", "b"])


@pytest.mark.parametrize("is_routed", [False, True])
def test_weights_of_the_transformer_in_a_pipeline(is_routed):
    y, score, group, weight = scored(3, weighted=True)
    X = table(score, group)
    with sklearn.config_context(enable_metadata_routing=is_routed):
        made = GroupPercentileTransformer(groups="site")
        if is_routed:
            made.set_fit_request(sample_weight=True)
        model = make_pipeline(made, LogisticRegression())
        if is_routed:
            model[-1].set_fit_request(sample_weight=False)
        name = "sample_weight" if is_routed else "grouppercentiletransformer__sample_weight"
        model.fit(X, y, **{name: weight})
        found = model.decision_function(X)
    percentiles = transformed(y, score, group, weight)[:, None]
    expected = LogisticRegression().fit(percentiles, y).decision_function(percentiles)
    assert_allclose(found, expected)


@pytest.mark.parametrize(
    "made",
    [
        GroupPercentileTransformer(groups="site", unseen="pooled"),
        GroupAdjustedClassifier(LogisticRegression(), groups="site", cv=3, false_positive_rate=0.2),
    ],
)
def test_clones_and_pickles(made):
    y, score, group, _ = scored(3)
    X = table(score, group)
    method = "transform" if hasattr(made, "transform") else "decision_function"
    expected = getattr(clone(made).fit(X, y), method)(X)
    again = pickle.loads(pickle.dumps(clone(made).fit(X, y)))
    assert_array_equal(getattr(again, method)(X), expected)
    assert again.get_params().keys() == made.get_params().keys()
    with pytest.raises(NotFittedError):
        getattr(clone(again), method)(X)


BAD_INPUT = {
    "no column of scores": (lambda X, y: (X[["site"]], y, {}), "X has 1 feature.s., all of them"),
    "no such column": (lambda X, y: (X[["marker"]], y, {}), "groups requires the column 'site'"),
    "NaN": (
        lambda X, y: (X.assign(marker=np.nan), y, {}),
        "column 'marker' of the scores must be finite; got 300 NaN",
    ),
    "missing labels": (
        lambda X, y: (X.assign(site=[None, *X["site"][1:]]), y, {}),
        "column 'site' of X has 1 missing labels of 300; drop these rows, or give them a label",
    ),
    "no y": (lambda X, y: (X, None, {}), "requires y to be passed"),
    "no rows of y": (lambda X, y: (X, [], {}), "y has no rows; pass the class of each row"),
    "one class": (lambda X, y: (X, y * 0, {}), "y has only one class, 0"),
    "three classes": (lambda X, y: (X, np.arange(300) % 3, {}), "y has 3 classes, 0, 1, 2"),
    "missing y": (
        lambda X, y: (X, [None, *y[1:].tolist()], {}),
        "y has 1 missing labels of 300; drop these rows first",
    ),
    "short y": (lambda X, y: (X, y[1:], {}), "inconsistent numbers of samples"),
    "negative weights": (
        lambda X, y: (X, y, {"sample_weight": np.full(300, -1.0)}),
        "sample_weight must be 0 or more",
    ),
    "weights of 0": (
        lambda X, y: (X, y, {"sample_weight": y.astype(float)}),
        "sample_weight is zero for all negatives",
    ),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input(name):
    y, score, group, _ = scored(0)
    change, message = BAD_INPUT[name]
    X, target, options = change(table(score, group), y)
    if name == "one class":
        target = target.astype(int)
    made: list = [GroupPercentileTransformer(groups="site")]
    if name != "NaN":
        made.append(GroupAdjustedClassifier(LogisticRegression(), groups="site"))
    for estimator in made:
        with pytest.raises((ValueError, TypeError), match=message):
            estimator.fit(X, target, **options)


@pytest.mark.parametrize("unseen", ["skip", None, 0.5])
def test_bad_unseen(unseen):
    y, score, group, _ = scored(0)
    with pytest.raises(ValueError, match=r"unseen must be 'raise' .* or 'pooled'"):
        GroupPercentileTransformer(groups="site", unseen=unseen).fit(table(score, group), y)


# The classifier -------------------------------------------------------------------------------


def features(seed, n=600, n_groups=3):
    """Return features with an offset by group, labels, and groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    y = rng.random(n) < np.array([0.2, 0.4, 0.6, 0.3])[group]
    X = pd.DataFrame(rng.normal(size=(n, 2)) + y[:, None], columns=["dose", "age"])
    X["dose"] += 3.0 * group
    return X.assign(site=np.array(list("abcd"))[group]), np.where(y, "yes", "no"), group


def test_reference_scores_are_out_of_fold():
    X, y, group = features(0)
    numbers = X[["dose", "age"]]
    folds = list(WithinGroupStratifiedKFold(5).split(numbers, y, groups=group))
    out_of_fold = cross_val_predict(
        LogisticRegression(), numbers, y, cv=folds, method="decision_function"
    )
    model = LogisticRegression().fit(numbers, y)
    new = features(1)[0]
    expected = []
    for site, value in zip(new["site"], model.decision_function(new[["dose", "age"]]), strict=True):
        negatives = out_of_fold[(y == "no") & (X["site"] == site)]
        expected.append(np.mean(negatives < value) + np.mean(negatives == value) / 2)
    adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site").fit(X, y)
    assert_allclose(adjusted.percentiles(new), expected, rtol=0, atol=1e-14)
    assert_allclose(adjusted.decision_function(new), np.array(expected) - 0.95, atol=1e-14)
    assert_array_equal(adjusted.predict(new) == "yes", adjusted.decision_function(new) > 0)
    assert_array_equal(adjusted.estimator_.coef_, model.coef_)
    assert adjusted.classes_.tolist() == ["no", "yes"]
    assert adjusted.groups_ == ["a", "b", "c"]
    assert adjusted.n_features_in_ == 3
    # A splitter that reads the groups from X makes the same folds.
    other = GroupAdjustedClassifier(
        LogisticRegression(), groups="site", cv=WithinGroupStratifiedKFold(5, groups="site")
    )
    assert_array_equal(other.fit(X, y).percentiles(new), adjusted.percentiles(new))


def test_the_pooled_auc_of_new_rows_is_near_the_average_by_positives():
    X, y, _ = features(0, n=3000)
    new, labels, group = features(1, n=3000)
    adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site").fit(X, y)
    report = GroupAUC.from_estimator(
        adjusted.estimator_, new.drop(columns="site"), labels, groups=group
    )
    assert roc_auc_score(labels, adjusted.percentiles(new)) == pytest.approx(
        report.average("positives"), abs=0.01
    )
    assert abs(report.pooled - report.average("positives")) > 0.02


def test_false_positive_rates_are_equal():
    X, y, group = features(2, n=3000)
    for rate in (0.05, 0.2):
        adjusted = GroupAdjustedClassifier(
            FrozenEstimator(LogisticRegression().fit(X[["dose", "age"]], y)),
            groups="site",
            cv=None,
            false_positive_rate=rate,
        ).fit(X, y)
        for g in range(3):
            mine = (group == g) & (y == "no")
            found = np.mean(adjusted.predict(X[mine]) == "yes")
            assert found == pytest.approx(rate, abs=0.5 / mine.sum() + 1e-12)
    threshold = FixedThresholdClassifier(adjusted, threshold=0.1).fit(X, y)
    assert_array_equal(threshold.predict(X) == "yes", adjusted.decision_function(X) >= 0.1)


def test_out_of_fold_scores_prevent_percentiles_near_one():
    X, y, _ = features(0)
    new, labels, _ = features(1)
    forest = RandomForestClassifier(20, random_state=0)
    medians = []
    for cv in (3, None):
        adjusted = GroupAdjustedClassifier(forest, groups="site", cv=cv).fit(X, y)
        medians.append(np.median(adjusted.percentiles(new)[labels == "no"]))
    assert medians[0] == pytest.approx(0.5, abs=0.1)
    assert medians[1] > 0.8


def test_in_searches_and_cross_validation():
    X, y, _ = features(0)
    adjusted = GroupAdjustedClassifier(
        make_pipeline(StandardScaler(), LogisticRegression()), groups="site", cv=3
    )
    folds = WithinGroupStratifiedKFold(3, groups="site")
    search = GridSearchCV(
        adjusted,
        {"estimator__logisticregression__C": [0.01, 1.0], "groups": ["site"]},
        scoring={
            "pooled": make_group_auc_scorer("pooled", groups="site"),
            "positives": make_group_auc_scorer("positives", groups="site"),
            "roc_auc": "roc_auc",
        },
        refit="pooled",
        cv=folds,
        error_score="raise",
    ).fit(X, y)
    results = search.cv_results_
    assert_allclose(results["mean_test_pooled"], results["mean_test_roc_auc"], atol=1e-12)
    assert_allclose(results["mean_test_pooled"], results["mean_test_positives"], atol=0.05)
    scores = cross_val_predict(adjusted, X, y, cv=folds, method="decision_function")
    assert scores.shape == y.shape
    assert ((scores >= -0.95) & (scores <= 0.05 + 1e-12)).all()
    result = cross_validate_group_auc(adjusted, X, y, groups="site", cv=folds)
    assert len(result.folds) == 3
    assert clone(adjusted).get_params()["cv"] == 3


def test_group_columns_stay_with_drop_false():
    X, y, _ = features(0)
    X["site"] = X["site"].map({"a": 0, "b": 1, "c": 2})
    adjusted = GroupAdjustedClassifier(
        DecisionTreeClassifier(max_depth=3), groups="site", drop=False
    ).fit(X, y)
    assert adjusted.estimator_.n_features_in_ == 3
    frozen = GroupAdjustedClassifier(FrozenEstimator(adjusted.estimator_), groups="site")
    with pytest.raises(ValueError, match="feature names"):
        frozen.fit(X, y)
    frozen.set_params(drop=False).fit(X, y)


def test_weights_of_rows():
    X, y, _group = features(3, n=200)
    weight = np.random.default_rng(0).integers(0, 3, y.size).astype(float)
    rows = np.repeat(np.arange(y.size), weight.astype(int))
    options = {"groups": "site", "cv": None}
    one = GroupAdjustedClassifier(LogisticRegression(tol=1e-10), **options)
    one.fit(X, y, sample_weight=weight)
    other = GroupAdjustedClassifier(LogisticRegression(tol=1e-10), **options)
    other.fit(X.iloc[rows], y[rows])
    new, _, _ = features(4)
    assert_allclose(one.percentiles(new), other.percentiles(new), atol=1e-9)
    # Weights reach the last step of a pipeline.
    piped = GroupAdjustedClassifier(make_pipeline(LogisticRegression(tol=1e-10)), **options)
    piped.fit(X, y, sample_weight=weight)
    assert_allclose(piped.percentiles(new), one.percentiles(new), atol=1e-9)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed():
    X, y, _ = features(3, n=200)
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    plain = GroupAdjustedClassifier(LogisticRegression(), groups="site", cv=3)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        plain.fit(X, y, sample_weight=weight)
    asking = GroupAdjustedClassifier(
        LogisticRegression().set_fit_request(sample_weight=True), groups="site", cv=3
    ).set_fit_request(sample_weight=True)
    routed = make_pipeline(asking).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=False):
        expected = plain.fit(X, y, sample_weight=weight)
    assert_array_equal(routed.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize(("n", "rate"), [(10, 0.05), (18, 0.05), (19, 0.05), (21, 0.05), (39, 0.1)])
def test_false_positive_rates_of_new_rows_with_few_negatives(n, rate):
    """The mean over 1,500 groups is within three standard errors of the rate in the notes."""
    rng = np.random.default_rng(n)
    n_groups = 1500
    group = np.repeat(np.arange(n_groups), n + 1)
    y = np.tile(np.append(np.zeros(n, int), 1), n_groups)
    X = pd.DataFrame({"marker": rng.normal(size=y.size), "site": group})
    scorer = FrozenEstimator(LogisticRegression().fit(X[["marker"]], X["marker"] > 0))
    adjusted = GroupAdjustedClassifier(scorer, groups="site", cv=None, false_positive_rate=rate)
    if n >= 1 / rate - 1:
        adjusted.fit(X, y)
    else:
        message = (
            rf"1,500 groups of 1,500 \(0, 1, .*\) have too few negatives for "
            rf"false_positive_rate=0.05: .* is {1 / (n + 1):.3g} with {n}\. .* has 19 negatives"
        )
        with pytest.warns(UserWarning, match=message):
            adjusted.fit(X, y)
    new = pd.DataFrame({"marker": rng.normal(size=20 * n_groups)})
    new["site"] = np.repeat(np.arange(n_groups), 20)
    found = adjusted.predict(new).reshape(n_groups, 20).mean(axis=1)
    expected = np.ceil(round(n * rate, 9)) / (n + 1)
    assert abs(found.mean() - expected) < 3 * found.std() / np.sqrt(n_groups)


REFUSED = {
    "folds that repeat rows": (
        {"cv": RepeatedKFold(n_splits=2, n_repeats=2)},
        r"cv must test each row once.* tests 0 of 600 rows never and 600 several times",
    ),
    "too few folds": ({"cv": 1}, "cv must be a whole number of at least 2; got 1"),
    "drop": ({"drop": "no"}, "drop must be True or False; got 'no'"),
    "rate": ({"false_positive_rate": 5}, "false_positive_rate must be a number between 0 and 1"),
    "unseen": ({"unseen": "nan"}, "unseen must be 'raise'"),
    "groups": ({"groups": None}, "groups must be the name of a column of X"),
    "estimator": ({"estimator": StandardScaler()}, "estimator cannot rank rows"),
    "regressor": (
        {"estimator": Ridge()},
        r"has no decision_function and no predict_proba\. Pass a classifier with one of these",
    ),
    "search of a regressor": (
        {"estimator": GridSearchCV(Ridge(), {"alpha": [1.0]}, error_score="raise")},
        "Pass a classifier with one of these methods, such as",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_parameters(name):
    X, y, _ = features(0)
    options, message = REFUSED[name]
    adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site").set_params(**options)
    with pytest.raises((ValueError, TypeError), match=message):
        adjusted.fit(X, y)


def test_unseen_groups_of_a_classifier():
    X, y, _ = features(0)
    new, _, _ = features(1, n_groups=4)
    adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site").fit(X, y)
    with pytest.raises(ValueError, match=r"groups without negatives in fit \('d'\)"):
        adjusted.predict(new)
    adjusted.set_params(unseen="pooled").fit(X, y)
    assert np.isfinite(adjusted.percentiles(new)).all()
    with pytest.raises(NotFittedError):
        clone(adjusted).predict(new)


@pytest.mark.parametrize("cv", [KFold(4), StratifiedKFold(3), 2])
def test_other_folds(cv):
    X, y, _ = features(0)
    adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site", cv=cv).fit(X, y)
    in_sample = clone(adjusted).set_params(cv=None).fit(X, y)
    assert_allclose(adjusted.percentiles(X), in_sample.percentiles(X), atol=0.1)


# scikit-learn's checks ------------------------------------------------------------------------


def groups_by_sign(cls, X, columns):
    """Return two groups by the sign of the random numbers of the checks, which are not labels."""
    (values,) = sensitive.select(X, columns, "groups")
    return cls(*encode_groups(values.astype(np.float64) > 0, "groups"))


CHECKS = [
    case
    for made in (
        GroupPercentileTransformer(groups=1, unseen="pooled"),
        GroupAdjustedClassifier(LogisticRegression(), groups=1, unseen="pooled", drop=False, cv=2),
    )
    for case in estimator_checks_generator(made)
]


@pytest.mark.filterwarnings("ignore:.* too few negatives for false_positive_rate")
@pytest.mark.parametrize(
    ("estimator", "check"),
    CHECKS,
    ids=lambda part: getattr(getattr(part, "func", None), "__name__", type(part).__name__),
)
def test_checks_of_scikit_learn(estimator, check, monkeypatch):
    monkeypatch.setattr(Groups, "of", classmethod(groups_by_sign))
    check(estimator)


# The covariate-adjusted curve -----------------------------------------------------------------


def area(line):
    fpr, tpr = line.get_data()
    return np.trapezoid(tpr, fpr)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_area_under_the_adjusted_curve_is_the_average_by_positives(digits, weighted):
    y, score, group, weight = scored(digits, digits=digits, weighted=weighted)
    display = GroupRocCurveDisplay.from_predictions(
        y, score, groups=group, sample_weight=weight, adjusted=True
    )
    expected = group_roc_auc_score(
        y, score, groups=group, statistic="positives", sample_weight=weight
    )
    assert area(display.adjusted_line_) == pytest.approx(expected, abs=1e-12)
    assert display.adjusted_auc == pytest.approx(expected, abs=1e-12)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"adjusted for groups (AUC {expected:.3f})" in texts
    # The curve is the mean of the groups' curves, weighted by positives.
    at, heights, positives = np.linspace(0.0013, 0.9987, 101), [], []
    for g in np.unique(group):
        mine = group == g
        fpr, tpr, _ = roc_curve(y[mine], score[mine], sample_weight=weight[mine])
        heights.append(np.interp(at, fpr, tpr))
        positives.append(weight[mine & y].sum())
    drawn = np.interp(at, *display.adjusted_line_.get_data())
    assert_allclose(drawn, np.average(heights, 0, positives), rtol=0, atol=1e-12)
    fpr, tpr = display.adjusted_line_.get_data()
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= -1e-15).all()


def test_the_adjusted_curve_is_the_curve_of_the_percentiles():
    """With equal numbers of untied negatives, both curves are equal."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 60)
    y = np.tile(np.arange(60) % 3 == 0, 3)
    score = rng.normal(size=180) + y + 3 * group
    display = GroupRocCurveDisplay.from_predictions(y, score, groups=group, adjusted=True)
    fpr, tpr, _ = roc_curve(y, transformed(y, score, group), drop_intermediate=False)
    assert np.trapezoid(tpr, fpr) == pytest.approx(area(display.adjusted_line_), abs=1e-12)
    at = (np.arange(40) + 0.5) / 40  # rates between the vertical segments
    assert_allclose(
        np.interp(at, *display.adjusted_line_.get_data()), np.interp(at, fpr, tpr), atol=1e-12
    )


def test_groups_without_a_curve_are_left_out():
    y, score, group, _ = scored(0)
    y[group == 3] = True
    y[group == 2] = False
    report = GroupAUC.from_predictions(y, score, groups=group, undefined="ignore")
    display = GroupRocCurveDisplay.from_report(report, adjusted=True)
    assert area(display.adjusted_line_) == pytest.approx(report.average("positives"), abs=1e-12)
    alone = GroupAUC.from_predictions([1, 1], [1, 2], groups=["a", "b"], undefined="ignore")
    display = GroupRocCurveDisplay.from_report(alone, adjusted=True)
    assert display.adjusted_line_ is None
    assert np.isnan(display.adjusted_auc)


def test_no_adjusted_curve_by_default():
    y, score, group, _ = scored(0)
    display = GroupRocCurveDisplay.from_predictions(y, score, groups=group)
    assert display.adjusted_line_ is display.adjusted_fpr is display.adjusted_auc is None
    with pytest.raises(TypeError, match="adjusted must be True or False; got 'yes'"):
        GroupRocCurveDisplay.from_predictions(y, score, groups=group, adjusted="yes")


def test_the_adjusted_curve_within_folds():
    X, y, _ = features(0)
    result = cross_validate_group_auc(
        LogisticRegression(), X[["dose", "age"]], y, groups=X["site"], cv=3, pos_label="yes"
    )
    display = GroupRocCurveDisplay.from_report(result.within_folds, adjusted=True)
    expected = result.within_folds.average("positives")
    assert area(display.adjusted_line_) == pytest.approx(expected, abs=1e-12)


def test_the_adjusted_curve_of_an_estimator():
    X, y, group = features(0)
    model = LogisticRegression().fit(X[["dose", "age"]], y)
    display = GroupRocCurveDisplay.from_estimator(
        model, X[["dose", "age"]], y, groups=group, adjusted=True
    )
    expected = GroupAUC.from_estimator(model, X[["dose", "age"]], y, groups=group)
    assert area(display.adjusted_line_) == pytest.approx(expected.average("positives"), abs=1e-12)


def test_the_adjusted_band_contains_the_curve_of_the_exact_scores():
    y, score, group, _ = scored(5, n=900, digits=9)
    probability = 1 / (1 + np.exp(-score / 4))
    exact = ScoreCounts.from_predictions(y, probability, groups=group)
    binned = exact.reduced(Bins.of_probabilities(octaves=3, parts=2))
    display, of_exact = (
        GroupRocCurveDisplay.from_report(GroupAUC(counts), adjusted=True)
        for counts in (binned, exact)
    )
    assert "adjusted" in display.bands_
    assert of_exact.bands_ == {}
    bounds = GroupAUC(binned).bounds().loc["positives"]
    band = np.asarray(display.adjusted_band)
    ends = np.flatnonzero((band == 1).all(axis=1))
    lowest, highest = band[: ends[0] + 1], band[ends[0] + 1 :][::-1]
    areas = [np.trapezoid(curve[:, 1], curve[:, 0]) for curve in (lowest, highest)]
    assert areas == pytest.approx([bounds["low"], bounds["high"]])
    at = np.linspace(0.0013, 0.9987, 101)
    low, high, true = (
        np.interp(at, *curve) for curve in (lowest.T, highest.T, of_exact.adjusted_line_.get_data())
    )
    assert (low <= true + 1e-12).all()
    assert (true <= high + 1e-12).all()


def test_the_mean_of_many_long_curves_is_short(monkeypatch):
    y, score, group, _weight = scored(0, n=4000, digits=9)
    cells = ScoreCounts.from_predictions(y, score, groups=group).cells
    curves = roc_curves.RocCurves(cells)
    some = [curves.of_group(g) for g in range(5)]
    positives = np.bincount(group[y])
    exact = adjusted_curve(some, positives)
    monkeypatch.setattr(roc_curves, "_MOST_HEIGHTS", 100)
    monkeypatch.setattr(roc_curves, "_RATES", 128)
    thinned = adjusted_curve(some, positives)
    assert thinned.fpr.size <= 4 * 129 < exact.fpr.size
    assert thinned.area == pytest.approx(exact.area, abs=1 / 128)
    assert_allclose(np.interp(thinned.fpr, *exact), thinned.tpr, atol=0.05)
