"""MitigatedClassifier equals direct calls of fairlearn with the sensitive columns."""

import pickle
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import (
    BoundedGroupLoss,
    DemographicParity,
    ExponentiatedGradient,
    GridSearch,
    ZeroOneLoss,
)
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from skfedauc import GroupAUC, MitigatedClassifier, mitigation

FEATURES = ["dose", "level"]
COLUMNS = ["sex", "band", ["sex", "band"]]


def make_people(n=150):
    rng = np.random.default_rng(0)
    sex, band = rng.choice(["f", "m"], n), rng.integers(0, 3, n)
    X = pd.DataFrame({"dose": rng.normal(size=n) + (sex == "m"), "sex": sex})
    X["level"], X["band"] = rng.normal(size=n) + band, band
    return X, (X["dose"] + 0.5 * X["level"] + rng.normal(size=n) > 1).to_numpy().astype(int)


@pytest.fixture(scope="module")
def people():
    return make_people()


def gradient(estimator=None, **options):
    estimator = LogisticRegression() if estimator is None else estimator
    options = {"max_iter": 2, "run_linprog_step": False, **options}
    return ExponentiatedGradient(estimator, DemographicParity(), **options)


def grid(estimator=None, **options):
    estimator = LogisticRegression() if estimator is None else estimator
    return GridSearch(estimator, DemographicParity(), **{"grid_size": 3, **options})


def thresholds(**options):
    return ThresholdOptimizer(**{"estimator": LogisticRegression(), **options})


MITIGATORS = {
    "ExponentiatedGradient": gradient,
    "GridSearch": grid,
    "ThresholdOptimizer": thresholds,
}
every_mitigator = pytest.mark.parametrize("name", MITIGATORS)
# Omit ExponentiatedGradient, because the code for GridSearch also fits ExponentiatedGradient.
every_fit = pytest.mark.parametrize("name", list(MITIGATORS)[1:])


def mitigated(name, groups="sex", **options):
    return MitigatedClassifier(MITIGATORS[name](), groups=groups, **{"random_state": 3, **options})


def outputs(model, X):
    """Return the decisions of a fitted model, and its probabilities if it has any."""
    methods = [method for method in ("predict", "predict_proba") if hasattr(model, method)]
    return [getattr(model, method)(X) for method in methods]


def assert_same_outputs(actual, expected, of=""):
    assert len(actual) == len(expected), of
    for one, other in zip(actual, expected, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-9, err_msg=of)


@pytest.fixture(params=[*((columns, True) for columns in COLUMNS), ("band", False)], ids=str)
def way(request, people):
    """Return X, its features, its sensitive columns, y, and the options of MitigatedClassifier."""
    (columns, drop), (X, y) = request.param, people
    # These classifiers need numbers, so the text column stays only if it is sensitive.
    X = X if "sex" in columns else X.drop(columns="sex")
    features = X.drop(columns=columns) if drop else X
    return X, features, X[columns], y, {"groups": columns, "drop": drop}


def test_thresholds(way):
    X, features, sensitive, y, options = way
    plain = thresholds().fit(features, y, sensitive_features=sensitive)
    expected = plain.predict(features, sensitive_features=sensitive, random_state=3)
    model = mitigated("ThresholdOptimizer", **options).fit(X, y)
    assert_array_equal(model.predict(X), expected)
    assert 0 < expected.mean() < 1


def test_mixture_of_a_reduction(way):
    X, features, sensitive, y, options = way
    plain = gradient()
    plain.fit(features, y, sensitive_features=sensitive)
    model = mitigated("ExponentiatedGradient", **options).fit(X, y)
    assert_array_equal(model.predict(X), plain.predict(features, random_state=3))
    mixture = sum(
        weight * plain.predictors_[i].predict_proba(features)
        for i, weight in plain.weights_.items()
    )
    assert_allclose(model.predict_proba(X), mixture, rtol=0, atol=1e-12)
    assert len(np.unique(mixture[:, 1])) == len(X)  # unlike the decisions
    assert len(np.unique(plain._pmf_predict(features)[:, 1])) < 10


def test_mixture_counts_a_classifier_that_saw_one_class(people):
    X, y = people
    model = mitigated("ExponentiatedGradient", "sex").fit(X[[*FEATURES, "sex"]], y)
    for label in (0, 1):
        always = DummyClassifier(strategy="constant", constant=label).fit(
            X[FEATURES], np.full(len(X), label)
        )
        model.mitigator_.predictors_ = pd.Series([always])
        model.mitigator_.weights_ = pd.Series([1.0])
        assert_array_equal(model.predict_proba(X[[*FEATURES, "sex"]])[:, 1], label)


FRAMES = {
    "polars": pl.from_pandas,
    "pyarrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "nullable": lambda X: X.convert_dtypes(),
    "categorical": lambda X: X.astype({"sex": "category"}),
    "other index": lambda X: X.set_index(np.arange(len(X))[::-1]),
    "whole floats": lambda X: X.astype({"band": float}),
}


@every_fit
def test_every_kind_of_table_gives_the_same(people, name):
    X, y = people
    expected = outputs(mitigated(name, ["sex", "band"]).fit(X, y), X)
    for kind, convert in FRAMES.items():
        model = mitigated(name, ["sex", "band"]).fit(convert(X), y)
        assert_same_outputs(outputs(model, convert(X)), expected, kind)


def test_seeds_of_random_decisions(people):
    X, y = people[0][[*FEATURES, "sex"]], people[1]
    for name in ("ExponentiatedGradient", "ThresholdOptimizer"):
        model = mitigated(name, random_state=5).fit(X, y)
        first = model.predict(X)
        assert_array_equal(model.predict(X), first)
        model.set_params(random_state=np.random.RandomState(5))
        assert_array_equal(model.predict(X), first)
        drawn = [model.predict(X).tolist() for _ in range(10)]
        assert len(set(map(tuple, drawn))) > 1
        if hasattr(model, "predict_proba"):
            assert_array_equal(model.predict_proba(X), model.predict_proba(X))


def test_tags_are_those_of_the_classifier(people):
    boosted = LGBMClassifier()
    as_boosted = get_tags(boosted).input_tags.allow_nan
    for model, allow_nan, is_random in (
        (MitigatedClassifier(gradient(boosted), groups="sex"), as_boosted, True),
        (MitigatedClassifier(grid(boosted), groups="sex"), as_boosted, False),
        (MitigatedClassifier(thresholds(), groups="sex"), False, True),
    ):
        tags = get_tags(model)
        assert (tags.input_tags.allow_nan, tags.non_deterministic) == (allow_nan, is_random)
        assert not tags.classifier_tags.multi_class
        assert not tags.input_tags.sparse
        assert tags.target_tags.required


@pytest.mark.parametrize(
    ("mitigator", "has_scores"),
    [
        (gradient(), True),
        (grid(), True),
        (gradient(LinearSVC()), False),
        (grid(LinearSVC()), False),
        (thresholds(), False),
        (LogisticRegression(), False),
    ],
)
def test_scores_that_an_estimator_says_it_has(people, mitigator, has_scores):
    model = MitigatedClassifier(mitigator, groups="sex")
    assert hasattr(model, "predict_proba") == has_scores
    assert is_classifier(model)
    X, y = people[0][[*FEATURES, "sex"]], people[1]
    if not isinstance(mitigator, LogisticRegression):
        assert len(outputs(model.fit(X, y), X)) == 1 + has_scores


@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("prefit", [True, False])
def test_frozen_model_survives_clone(people, prefit, method):
    X, y = people[0][[*FEATURES, "band"]], people[1]
    fitted = LogisticRegression().fit(X, y)
    plain = ThresholdOptimizer(estimator=fitted, prefit=True, predict_method=method)
    plain.fit(X, y, sensitive_features=X["band"])
    expected = plain.predict(X, sensitive_features=X["band"], random_state=3)
    frozen = thresholds(estimator=FrozenEstimator(fitted), prefit=prefit, predict_method=method)
    model = MitigatedClassifier(frozen, groups="band", drop=False, random_state=3)
    assert_array_equal(clone(model).fit(X, y).predict(X), expected)
    with pytest.raises(ValueError, match=r"fitted to 3 features, but gets 2; drop=False"):
        clone(model).set_params(drop=True).fit(X, y)
    with pytest.raises(ValueError, match=r"y has the classes \['a', 'b'\].*fitted on \[0, 1\]"):
        clone(model).fit(X, np.array(["a", "b"])[y])


def test_labels_of_text_are_no_scores(people):
    X, y = people
    fitted = FrozenEstimator(LogisticRegression().fit(X[FEATURES], np.array(["a", "b"])[y]))
    model = mitigated("ThresholdOptimizer")
    model.set_params(mitigator=thresholds(estimator=fitted, predict_method="predict"))
    with pytest.raises(ValueError, match=r"as scores, but these are \['a', 'b'\]; use predict_"):
        model.fit(X[[*FEATURES, "sex"]], np.array(["a", "b"])[y])


@every_mitigator
def test_copies(people, name):
    X, y = people[0][[*FEATURES, "sex"]], people[1]
    model = mitigated(name)
    before = {key: repr(value) for key, value in model.get_params().items()}
    expected = outputs(model.fit(X, y), X)
    # Fit does not change the user's mitigator, so a second fit is independent of the first.
    assert {key: repr(value) for key, value in model.get_params().items()} == before
    assert not [key for key in vars(model.mitigator) if key.endswith("_")]
    assert_same_outputs(outputs(model.fit(X, y), X), expected)
    assert_same_outputs(outputs(clone(model).fit(X, y), X), expected)
    assert_same_outputs(outputs(pickle.loads(pickle.dumps(model)), X), expected)
    for text in (repr(model), estimator_html_repr(model)):
        assert all(part in text for part in ("MitigatedClassifier", name, "LogisticRegression()"))
    assert model.n_features_in_ == 3
    assert_array_equal(model.feature_names_in_, X.columns)
    assert type(model.mitigator_).__name__ == name


def test_parameters_that_fairlearn_reads_in_its_constructor(people):
    X, y = people[0][[*FEATURES, "sex"]], people[1]
    for params in ({"constraint_weight": 0.99}, {"grid_limit": 1}, {"constraint_weight": 0}):
        plain = grid(**params)
        plain.fit(X[FEATURES], y, sensitive_features=X["sex"])
        model = mitigated("GridSearch")
        model.set_params(**{f"mitigator__{name}": value for name, value in params.items()})
        assert_allclose(model.fit(X, y).predict_proba(X), plain.predict_proba(X[FEATURES]))


def fit(mitigator=None, change=lambda X, y: (X, y), columns="sex", **options):
    X, y = make_people(60)
    mitigator = thresholds() if mitigator is None else mitigator
    return MitigatedClassifier(mitigator, groups=columns, **options).fit(*change(X, y))


def refused(*, error=ValueError, match, **options):
    return pytest.param(options, error, match, id=match[:40])


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        refused(
            mitigator=LogisticRegression(),
            error=TypeError,
            match=r"mitigator must be an ExponentiatedGradient, .* got LogisticRegression\(\)",
        ),
        refused(
            mitigator=ExponentiatedGradient(
                LogisticRegression(), BoundedGroupLoss(ZeroOneLoss(), upper_bound=0.1)
            ),
            match=r"constraints of ExponentiatedGradient .* got BoundedGroupLoss",
        ),
        refused(
            mitigator=grid(FrozenEstimator(LogisticRegression())),
            match=r"GridSearch fits its estimator many times",
        ),
        refused(
            mitigator=thresholds(prefit=True),
            match=r"prefit=True .*sklearn\.frozen\.FrozenEstimator\(model\), prefit=True",
        ),
        refused(columns=[], error=TypeError, match=r"name of a column of X .* got \[\]"),
        refused(
            change=lambda X, y: (X, np.where(X["sex"] == "m", 1, y)),
            match=r"ThresholdOptimizer needs both classes in each group",
        ),
        refused(
            change=lambda X, y: (pd.concat([X, X[["level"]]], axis=1), y),
            match=r"several columns of one name, 'level' 2 times",
        ),
        refused(columns="age", match=r"requires 'age' among the columns .*'dose', 'sex'"),
        refused(
            change=lambda X, y: (X[["level", "dose"]].to_numpy(), y),
            error=TypeError,
            match=r"arrived as ndarray without named .*set_output\(transform='pandas'\)",
        ),
        refused(
            change=lambda X, y: (X[["level", "band"]].to_numpy(), y),
            columns=2,
            match=r"requires 2 among .* X, which has 2 feature\(s\)",
        ),
        refused(
            change=lambda X, y: (X[["sex"]], y), match=r"1 feature\(s\), all of them.*drop=False"
        ),
        refused(
            mitigator=grid(),
            change=lambda X, y: (X.assign(sex="f"), y),
            match=r"GridSearch needs two groups or more, .* a single label, 'f'",
        ),
        refused(change=lambda X, y: (X, y * 0), match=r"y has only one class, 0;"),
        refused(
            change=lambda X, y: (X, np.arange(60) % 3),
            match=r"Only binary classification is supported.*y has 3 classes, 0, 1, 2",
        ),
        refused(
            change=lambda X, y: (X, np.where(y == 1, 1.0, np.inf)),
            match=r"y has \d+ infinite labels of 60",
        ),
    ],
)
def test_refused_in_fit(options, error, match):
    with pytest.raises(error, match=re.compile(match, re.DOTALL)):
        fit(**options)


def test_groups_that_fit_did_not_see(people):
    X, y = people
    known = X["band"] != 2
    model = mitigated("ThresholdOptimizer").fit(X[known][[*FEATURES, "sex"]], y[known])
    newcomers = X[[*FEATURES, "sex"]].assign(sex=np.where(known, X["sex"], "x"))
    with pytest.raises(
        ValueError, match=rf"{(~known).sum()} of 150 rows in groups .*\('x'\).*are 'f', 'm'\."
    ):
        model.predict(newcomers)
    # With two columns, both labels can be known and their combination unknown.
    X = X.assign(band=np.where(X["sex"] == "f", 0, X["band"]))
    model = mitigated("ThresholdOptimizer", ["sex", "band"]).fit(X, y)
    with pytest.raises(ValueError, match=r"\(\('f', 2\)\), so there is no threshold"):
        model.predict(X.assign(band=2))


WEIGHTED = [
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_classifiers_one_label_sample_weights",
]
REFUSES_WEIGHTS = dict.fromkeys(WEIGHTED, "reductions weight the rows themselves")
EXPECTED_TO_FAIL = {
    "GridSearch": REFUSES_WEIGHTS,
    "ExponentiatedGradient": {},
    "ThresholdOptimizer": {
        "check_sample_weight_equivalence_on_dense_data": "thresholds count each row once",
        "check_estimators_dtypes": "fairlearn sets doubles in a series of float32 scores",
    },
}


def alternating(X, columns):
    """Return two alternating groups in place of the random numbers of the checks."""
    return [np.arange(len(SELECT(X, columns)[0])) % 2]


SELECT = mitigation.select
CHECKED = [
    MitigatedClassifier(grid(grid_size=2), groups=0, drop=False),
    MitigatedClassifier(gradient(max_iter=1), groups=0, drop=False, random_state=0),
    MitigatedClassifier(thresholds(), groups=0, drop=False, random_state=0),
]
# Checks of predictions. The other tests check the validation of input, which GridSearch and
# ExponentiatedGradient share.
OF_MIXTURES = {
    "check_classifiers_train",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}
CHECKS = [
    (model, check)
    for candidate in CHECKED
    for model, check in estimator_checks_generator(candidate)
    if not isinstance(model.mitigator, ExponentiatedGradient) or check.func.__name__ in OF_MIXTURES
]


def name_of(part):
    return type(part.mitigator).__name__ if hasattr(part, "mitigator") else part.func.__name__


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=name_of)
def test_checks_of_scikit_learn(estimator, check, monkeypatch):
    monkeypatch.setattr(mitigation, "select", alternating)
    reasons = EXPECTED_TO_FAIL[type(estimator.mitigator).__name__]
    # pytest formats the traceback of each failure of the mark xfail.
    fails = check.func.__name__ in reasons
    with pytest.raises((AssertionError, ValueError)) if fails else nullcontext():
        check(estimator)


PARITY_GAPS = {  # of selection, true and false positive rates, between s = 0 and 1
    "baseline": [0.288, 0.252, 0.270],
    "GridSearch": [0.004, 0.027, 0.016],
    "ThresholdOptimizer": [0.004, 0.015, 0.023],
}
# AUCs: pooled, group 0, group 1, positives of 0 against negatives of 1, and of 1 against 0
AUCS = {
    "baseline": [0.603, 0.603, 0.592, 0.387, 0.780],
    "GridSearch": [0.590, 0.609, 0.591, 0.644, 0.552],
}


def simulate(n=10_000, share=0.1):
    """Simulate a feature x, a minority s = 0 with this share, and labels that depend on both."""
    s = np.repeat([0, 1], [int(n * share), n - int(n * share)])
    x = np.random.RandomState(0).normal(size=n) - 0.2 * s
    y = 0.3 * x + 0.5 * s + np.random.RandomState(1).normal(size=n)
    y = (1 / (1 + np.exp(-(y - y.mean()))) > 0.5).astype(int)
    train = np.random.RandomState(2).choice(n, n // 2, replace=False)
    test = np.setdiff1d(np.arange(n), train)
    X = pd.DataFrame({"x": x, "s": s})
    return (X.iloc[train], y[train]), (X.iloc[test], y[test])


# Four of the 50 multipliers of the published grid, including the best multiplier, 0.32. A negative
# multiplier belongs to the opposite constraint.
MULTIPLIERS = np.array([-0.4, 0.28, 0.32, 0.36])
LAMBDAS = pd.DataFrame(
    [0 * MULTIPLIERS, np.maximum(MULTIPLIERS, 0), 0 * MULTIPLIERS, np.maximum(-MULTIPLIERS, 0)],
    index=pd.MultiIndex.from_product(
        [["+", "-"], ["all"], [0, 1]], names=["sign", "event", "group_id"]
    ),
)
BOOSTED = LGBMClassifier(random_state=1, n_jobs=1, verbose=-1)


def in_experiment(name, baseline):
    if name == "baseline":
        return FrozenEstimator(baseline)
    mitigator = GridSearch(BOOSTED, DemographicParity(), grid=LAMBDAS)
    if name == "ThresholdOptimizer":
        mitigator = ThresholdOptimizer(
            estimator=FrozenEstimator(baseline),
            constraints="demographic_parity",
            prefit=True,
            predict_method="predict",
        )
    return MitigatedClassifier(mitigator, groups="s", drop=False, random_state=20)


def parity_gaps(model, X, y):
    """Return differences of selection, true and false positive rates between s = 0 and 1."""
    chosen, s = model.predict(X), X["s"].to_numpy()
    conditions = (np.ones(y.size, bool), y == 1, y == 0)
    return [abs(chosen[(s == 0) & c].mean() - chosen[(s == 1) & c].mean()) for c in conditions]


@pytest.fixture(scope="module")
def experiment():
    train, test = simulate()
    return train, test, clone(BOOSTED).fit(*train)


@pytest.mark.parametrize("name", PARITY_GAPS)
def test_experiment(experiment, name):
    train, (X, y), baseline = experiment
    model = clone(in_experiment(name, baseline)).fit(*train)
    assert np.round(parity_gaps(model, X, y), 3).tolist() == PARITY_GAPS[name]
    if name == "baseline":
        assert np.round(parity_gaps(model, *train), 3).tolist() == [0.271, 0.109, 0.321]
    if name in AUCS:  # thresholds have no scores
        report = GroupAUC.from_estimator(model, X, y, groups="s")
        cross = report.cross_matrix
        aucs = [report.pooled, *(cross.loc[g, h] for g, h in ((0, 0), (1, 1), (0, 1), (1, 0)))]
        assert np.round(aucs, 3).tolist() == AUCS[name]
