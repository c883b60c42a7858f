"""MitigatedClassifier in pipelines and searches, against plain loops with fairlearn."""

import functools
import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
import sklearn.tests.test_metaestimators_metadata_routing as theirs
from contract_oracle import Expected
from fairlearn.metrics import demographic_parity_difference
from fairlearn.postprocessing import ThresholdOptimizer
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter
from test_mitigation import FEATURES, gradient, grid, thresholds
from test_mitigation import make_people as people_of

from skfedauc import MitigatedClassifier, group_auc_scoring, make_group_auc_scorer

FOLDS = StratifiedKFold(2, shuffle=True, random_state=0)
STATISTICS = ["pooled", "macro", "positives", "neg_difference", "neg_cross_difference"]
STEP = "mitigatedclassifier__"
EPS, CONSTRAINTS = [0.01, 0.3], ["demographic_parity", "equalized_odds"]

both = pytest.mark.parametrize("routing_on", [False, True], ids=["routing off", "routing on"])


def make_people():
    X, y = people_of(200)
    return X.drop(columns="band"), y


@pytest.fixture
def people():
    return make_people()


def piped(mitigator, **options):
    """Return a pipeline that scales the features and passes the sensitive column unchanged."""
    options = {"groups": "sex", "random_state": 0, **options}
    scaled = make_column_transformer(
        (StandardScaler(), FEATURES), remainder="passthrough", verbose_feature_names_out=False
    )
    model = MitigatedClassifier(mitigator, **options)
    return make_pipeline(scaled.set_output(transform="pandas"), model)


def folds_by_hand(X, y):
    """Yield scaled features, labels and sensitive features of training and test rows."""
    for train, test in FOLDS.split(X, y):
        scaler = StandardScaler().fit(X[FEATURES].iloc[train])
        yield [
            (scaler.transform(X[FEATURES].iloc[rows]), y[rows], X["sex"].to_numpy()[rows])
            for rows in (train, test)
        ]


def scores_of(search, name):
    return np.transpose(
        [search.cv_results_[f"split{i}_test_{name}"] for i in range(search.n_splits_)]
    )


@functools.cache
def mixtures():
    """Return scores of fairlearn's mixtures by position of eps and fold, and their decisions."""
    found = {}
    for i, eps in enumerate(EPS):
        for fold, ((Z, labels, sex), (Z_test, y_test, sex_test)) in enumerate(
            folds_by_hand(*make_people())
        ):
            plain = gradient(eps=eps).fit(Z, labels, sensitive_features=sex)
            mixture = sum(
                weight * plain.predictors_[k].predict_proba(Z_test)[:, 1]
                for k, weight in plain.weights_.items()
            )
            decided = plain.predict(Z_test, random_state=0)
            found[i, fold] = Expected(y_test, mixture, sex_test), accuracy_score(y_test, decided)
    return found


@both
def test_search_over_eps_of_exponentiated_gradient(people, routing_on):
    X, y = people
    sklearn.set_config(enable_metadata_routing=routing_on)
    scoring = group_auc_scoring(STATISTICS, groups="sex")
    scoring |= {name: name for name in ("accuracy", "roc_auc")}
    options = {"scoring": scoring, "refit": "pooled", "cv": FOLDS, "error_score": "raise"}
    search = GridSearchCV(piped(gradient()), {f"{STEP}mitigator__eps": EPS}, **options).fit(X, y)
    for place, (expected, accuracy) in mixtures().items():
        for name in STATISTICS:
            assert scores_of(search, name)[place] == pytest.approx(expected[name], abs=1e-9)
        assert scores_of(search, "roc_auc")[place] == pytest.approx(expected["pooled"])
        assert scores_of(search, "accuracy")[place] == accuracy
    assert search.predict_proba(X).shape == (200, 2)


@both
def test_search_over_constraints_of_threshold_optimizer(people, routing_on):
    """Group scorers score the decisions of ThresholdOptimizer, which has no scores."""
    X, y = people
    sklearn.set_config(enable_metadata_routing=routing_on)

    def parity(model, X, y):
        return -demographic_parity_difference(y, model.predict(X), sensitive_features=X["sex"])

    scoring = group_auc_scoring(STATISTICS, groups="sex", response_method="predict")
    options = {"refit": "macro", "cv": FOLDS, "error_score": "raise"}
    options |= {"n_jobs": 2 if routing_on else None}  # workers take seconds to start
    grid = {f"{STEP}mitigator__constraints": CONSTRAINTS}
    scoring |= {"parity": parity}
    search = GridSearchCV(piped(thresholds()), grid, scoring=scoring, **options).fit(X, y)
    for i, constraints in enumerate(CONSTRAINTS):
        for fold, ((Z, labels, sex), (Z_test, y_test, sex_test)) in enumerate(folds_by_hand(X, y)):
            plain = thresholds(constraints=constraints).fit(Z, labels, sensitive_features=sex)
            decided = plain.predict(Z_test, sensitive_features=sex_test, random_state=0)
            expected = Expected(y_test, decided, sex_test)
            for name in STATISTICS:
                assert scores_of(search, name)[i, fold] == pytest.approx(expected[name], abs=1e-12)
            rates = [decided[sex_test == label].mean() for label in ("f", "m")]
            assert scores_of(search, "parity")[i, fold] == pytest.approx(-abs(np.diff(rates)[0]))
    assert set(search.predict(X)) == {0, 1}


def test_sample_weight_is_routed_to_the_classifier_on_its_request(people, routing):
    X, y = people
    weight = np.linspace(0.1, 5, len(y))
    scorer = make_group_auc_scorer("macro", groups="sex", response_method="predict")

    def searched(asked):
        classifier = LogisticRegression()
        if asked is not None:
            classifier.set_fit_request(sample_weight=asked)
        model = MitigatedClassifier(
            ThresholdOptimizer(estimator=classifier), groups="sex", random_state=0
        )
        return GridSearchCV(
            make_pipeline(model),
            {f"{STEP}drop": [True]},
            scoring=scorer.set_score_request(sample_weight=True),
            cv=FOLDS,
            error_score="raise",
        ).fit(X, y, sample_weight=weight)

    with pytest.raises(UnsetMetadataPassedError, match=r"LogisticRegression\.set_fit_request"):
        searched(None)
    plain = {
        asked: thresholds().fit(
            X[FEATURES], y, sensitive_features=X["sex"], sample_weight=weight if asked else None
        )
        for asked in (True, False)
    }
    for asked in (True, False):
        fitted = searched(asked).best_estimator_[-1].mitigator_.estimator_
        assert_allclose(fitted.coef_, plain[asked].estimator_.coef_)
    assert np.abs(plain[True].estimator_.coef_ - plain[False].estimator_.coef_).max() > 1e-3


def test_weights_pass_by_a_reduction_in_a_search(people, routing):
    """The scorer requests the weights; the reduction computes other weights."""
    X, y = people
    weight = np.linspace(0.1, 5, len(y))
    model = MitigatedClassifier(gradient(), groups="sex", random_state=0)
    scorer = make_group_auc_scorer("pooled", groups="sex").set_score_request(sample_weight=True)
    search = GridSearchCV(
        model, {"mitigator__eps": [0.01]}, scoring=scorer, cv=FOLDS, error_score="raise"
    ).fit(X, y, sample_weight=weight)
    for fold, (train, test) in enumerate(FOLDS.split(X, y)):
        fitted = clone(model).fit(X.iloc[train], y[train])
        scores = fitted.predict_proba(X.iloc[test])[:, 1]
        expected = roc_auc_score(y[test], scores, sample_weight=weight[test])
        assert scores_of(search, "score")[0, fold] == pytest.approx(expected)
    with pytest.raises(ValueError, match="sets the weights of the rows itself"):
        model.fit(X, y, sample_weight=weight)


def test_only_the_classifier_requests_metadata():
    for mitigator in (thresholds(), gradient()):
        model = MitigatedClassifier(mitigator, groups="sex")
        assert not hasattr(model, "set_fit_request")
        assert has_fit_parameter(model, "sample_weight")
        with pytest.raises(ValueError, match="enable_metadata_routing=True"):
            model.fit(pd.DataFrame({"sex": [0, 1], "dose": [0, 1]}), [0, 1], cost=[1, 2])


class WithThresholds(MitigatedClassifier):
    """A mitigated classifier whose classifier is an argument, as the tests need it."""

    def __init__(self, estimator):
        optimizer = ThresholdOptimizer(estimator=estimator, predict_method="predict")
        super().__init__(optimizer, groups=0)
        self.estimator = estimator


AS_META_ESTIMATOR = {
    "metaestimator": WithThresholds,
    "estimator_name": "estimator",
    "estimator": "classifier",
    "init_args": {},
    "X": np.column_stack([np.arange(len(theirs.X)) % 2, theirs.X]),
    "y": theirs.y_binary,
    "estimator_routing_methods": ["fit"],
}
THEIR_TESTS = {
    name: test
    for name, test in vars(theirs).items()
    if name.startswith("test_") and "metaestimator" in inspect.signature(test).parameters
}


@pytest.mark.parametrize("test", THEIR_TESTS.values(), ids=THEIR_TESTS)
def test_of_scikit_learn_for_meta_estimators(test):
    assert len(THEIR_TESTS) >= 7
    test(AS_META_ESTIMATOR)


def scaled(routing_on):
    """Return a pipeline in which only the last step accepts weights."""
    scaler, classifier = StandardScaler(), LogisticRegression()
    if routing_on:
        scaler.set_fit_request(sample_weight=False)
        classifier.set_fit_request(sample_weight=True)
    return make_pipeline(scaler, classifier)


class ScaledLogisticRegression(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        self.scaler_ = StandardScaler().fit(X)
        return super().fit(self.scaler_.transform(X), y, sample_weight)

    def decision_function(self, X):
        return super().decision_function(self.scaler_.transform(X))


def mitigators_of(classifier):
    return {
        "reduction": gradient(classifier),
        "grid": grid(classifier),
        "thresholds": thresholds(estimator=classifier),
    }


@pytest.mark.parametrize(
    ("name", "weighted"),
    [*((name, False) for name in mitigators_of(None)), ("thresholds", True)],
)
@both
def test_pipeline_inside_is_weighted_as_its_last_step(people, name, weighted, routing_on):
    X, y = people
    sklearn.set_config(enable_metadata_routing=routing_on)
    params = {"sample_weight": np.linspace(0.1, 5, len(y))} if weighted else {}
    answers = []
    for classifier in (scaled(routing_on), ScaledLogisticRegression()):
        if routing_on and not isinstance(classifier, Pipeline):
            classifier.set_fit_request(sample_weight=True)
        mitigator = mitigators_of(classifier)[name]
        model = MitigatedClassifier(mitigator, groups="sex", random_state=0).fit(X, y, **params)
        assert getattr(mitigator, "sample_weight_name", "sample_weight") == "sample_weight"
        scores = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
        answers.append(scores)
    assert_allclose(answers[0], answers[1], rtol=0, atol=1e-9)
    assert len(np.unique(answers[0])) > 1


def test_named_weights_of_a_pipeline_inside(people):
    X, y = people
    named = gradient(scaled(False), sample_weight_name="logisticregression__sample_weight")
    filled_in, by_name = (
        MitigatedClassifier(mitigator, groups="sex").fit(X, y).predict_proba(X)
        for mitigator in (mitigators_of(scaled(False))["reduction"], named)
    )
    assert_allclose(filled_in, by_name)
    nested = make_pipeline(scaled(False))
    deeper = mitigators_of(nested)["reduction"]
    model = MitigatedClassifier(deeper, groups="sex").fit(X, y)
    assert_allclose(model.predict_proba(X), by_name)
    assert model.mitigator_.sample_weight_name == "pipeline__logisticregression__sample_weight"
