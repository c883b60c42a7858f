"""MitigatedClassifier in pipelines and searches, against plain loops with fairlearn alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from contract_oracle import Expected
from fairlearn.metrics import demographic_parity_difference
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.preprocessing import CorrelationRemover
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfedauc import (
    MitigatedClassifier,
    WithinGroupStratifiedKFold,
    group_auc_scoring,
    make_group_auc_scorer,
    select_within_gap,
)

FEATURES = ["dose", "level"]
FOLDS = StratifiedKFold(2, shuffle=True, random_state=0)
STATISTICS = ["pooled", "macro", "positives", "neg_difference", "neg_cross_difference"]
STEP = "mitigatedclassifier__"
EPS, CONSTRAINTS = [0.01, 0.3], ["demographic_parity", "equalized_odds"]

both = pytest.mark.parametrize("routing_on", [False, True], ids=["routing off", "routing on"])


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 200)
    X = pd.DataFrame({"dose": rng.normal(size=200) + (sex == "m"), "sex": sex})
    X["level"] = rng.normal(size=200)
    return X, (X["dose"] + X["level"] + rng.normal(size=200) > 0.5).to_numpy().astype(int)


def piped(mitigator, **options):
    """Features are scaled, and the sensitive column goes by them under its name."""
    options = {"sensitive_features": "sex", "random_state": 0, **options}
    scaled = make_column_transformer(
        (StandardScaler(), FEATURES), remainder="passthrough", verbose_feature_names_out=False
    )
    model = MitigatedClassifier(mitigator, **options)
    return make_pipeline(scaled.set_output(transform="pandas"), model)


def reduction(eps=0.01):
    return ExponentiatedGradient(LogisticRegression(), DemographicParity(), eps=eps, max_iter=2)


def optimizer(constraints="demographic_parity"):
    return ThresholdOptimizer(estimator=LogisticRegression(), constraints=constraints)


def folds_by_hand(X, y):
    """Scaled features, labels and sensitive features of the rows to fit and to score."""
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


@both
def test_search_over_eps_of_exponentiated_gradient(people, routing_on):
    X, y = people
    sklearn.set_config(enable_metadata_routing=routing_on)
    scoring = {
        **group_auc_scoring(STATISTICS, groups="sex"),
        "accuracy": "accuracy",
        "roc_auc": "roc_auc",
    }
    search = GridSearchCV(
        piped(reduction()),
        {f"{STEP}mitigator__eps": EPS},
        scoring=scoring,
        refit="pooled",
        cv=FOLDS,
        error_score="raise",
        n_jobs=2,
    ).fit(X, y)
    for i, eps in enumerate(EPS):
        for fold, ((Z, labels, sex), (Z_test, y_test, sex_test)) in enumerate(folds_by_hand(X, y)):
            plain = reduction(eps).fit(Z, labels, sensitive_features=sex)
            mixture = sum(
                weight * plain.predictors_[k].predict_proba(Z_test)[:, 1]
                for k, weight in plain.weights_.items()
            )
            expected = Expected(y_test, mixture, sex_test)
            for name in STATISTICS:
                assert scores_of(search, name)[i, fold] == pytest.approx(expected[name], abs=1e-9)
            assert scores_of(search, "roc_auc")[i, fold] == pytest.approx(expected["pooled"])
            decided = plain.predict(Z_test, random_state=0)
            assert scores_of(search, "accuracy")[i, fold] == accuracy_score(y_test, decided)
    assert search.predict_proba(X).shape == (200, 2)


@both
def test_search_over_constraints_of_threshold_optimizer(people, routing_on):
    """It does not rank: group scorers score its decisions, fairlearn's metrics their parity."""
    X, y = people
    sklearn.set_config(enable_metadata_routing=routing_on)

    def parity(model, X, y):
        return -demographic_parity_difference(y, model.predict(X), sensitive_features=X["sex"])

    scoring = group_auc_scoring(STATISTICS, groups="sex", response_method="predict")
    search = GridSearchCV(
        piped(optimizer()),
        {f"{STEP}mitigator__constraints": CONSTRAINTS},
        scoring={**scoring, "parity": parity},
        refit="macro",
        cv=FOLDS,
        error_score="raise",
        n_jobs=2,
    ).fit(X, y)
    for i, constraints in enumerate(CONSTRAINTS):
        for fold, ((Z, labels, sex), (Z_test, y_test, sex_test)) in enumerate(folds_by_hand(X, y)):
            plain = optimizer(constraints).fit(Z, labels, sensitive_features=sex)
            decided = plain.predict(Z_test, sensitive_features=sex_test, random_state=0)
            expected = Expected(y_test, decided, sex_test)
            for name in STATISTICS:
                assert scores_of(search, name)[i, fold] == pytest.approx(expected[name], abs=1e-12)
            rates = [decided[sex_test == label].mean() for label in ("f", "m")]
            assert scores_of(search, "parity")[i, fold] == pytest.approx(-abs(np.diff(rates)[0]))
    assert set(search.predict(X)) == {0, 1}


def test_mitigators_are_candidates_of_one_search(people):
    X, y = people
    remover = {
        f"{STEP}estimator": [LogisticRegression()],
        f"{STEP}mitigator": [CorrelationRemover()],
    }
    grid = [
        {f"{STEP}mitigator": [reduction()], f"{STEP}mitigator__eps": EPS},
        {
            f"{STEP}mitigator": [GridSearch(LogisticRegression(), DemographicParity())],
            f"{STEP}mitigator__grid_size": [2, 3],
            f"{STEP}mitigator__grid_limit": [1, 2],
            f"{STEP}mitigator__estimator__C": [0.1, 1.0],
        },
        {**remover, f"{STEP}mitigator__alpha": [0.0, 1.0], f"{STEP}estimator__C": [0.1, 1.0]},
    ]
    search = GridSearchCV(
        piped(reduction()),
        grid,
        scoring=group_auc_scoring(["pooled", "neg_difference"], groups="sex"),
        refit=select_within_gap("pooled", gap="difference", at_most=1.0),
        cv=WithinGroupStratifiedKFold(2, groups="sex"),
        error_score="raise",
    ).fit(X, y)
    scores = scores_of(search, "pooled")
    assert scores.shape == (2 + 8 + 4, 2)
    assert np.isfinite(scores).all()
    # The parameters of each took effect.
    assert len(np.unique(scores[2:10].mean(axis=1))) > 2
    assert len(np.unique(scores[10:].mean(axis=1))) > 2
    nested = cross_validate(search, X, y, scoring="roc_auc", cv=2, error_score="raise")
    assert np.isfinite(nested["test_score"]).all()


def test_correlation_remover_in_a_search(people):
    X, y = people
    search = GridSearchCV(
        piped(CorrelationRemover(), estimator=LogisticRegression()),
        {f"{STEP}estimator__C": [0.01, 10.0]},
        scoring=make_group_auc_scorer("pooled", groups="sex"),
        cv=FOLDS,
        error_score="raise",
    ).fit(X, y)
    for i, penalty in enumerate([0.01, 10.0]):
        for fold, ((Z, labels, sex), (Z_test, y_test, sex_test)) in enumerate(folds_by_hand(X, y)):
            table, table_test = np.c_[sex == "m", Z], np.c_[sex_test == "m", Z_test]
            remover = CorrelationRemover(sensitive_feature_ids=[0]).fit(table)
            plain = LogisticRegression(C=penalty).fit(remover.transform(table), labels)
            expected = roc_auc_score(y_test, plain.decision_function(remover.transform(table_test)))
            assert scores_of(search, "score")[i, fold] == pytest.approx(expected, abs=1e-9)


# Weights that scikit-learn routes ----------------------------------------------------


def test_sample_weight_is_routed_on_request(people, routing):
    X, y = people
    weight = np.linspace(0.1, 5, len(y))
    model = MitigatedClassifier(optimizer(), sensitive_features="sex", random_state=0)
    scorer = make_group_auc_scorer("macro", groups="sex", response_method="predict")

    def searched(model):
        return GridSearchCV(
            make_pipeline(model),
            {f"{STEP}drop": [True]},
            scoring=scorer.set_score_request(sample_weight=True),
            cv=FOLDS,
            error_score="raise",
        ).fit(X, y, sample_weight=weight)

    with pytest.raises(UnsetMetadataPassedError, match=r"MitigatedClassifier\.set_fit_request"):
        searched(model)
    plain = {
        asked: optimizer().fit(
            X[FEATURES], y, sensitive_features=X["sex"], sample_weight=weight if asked else None
        )
        for asked in (True, False)
    }
    for asked in (True, False):
        search = searched(model.set_fit_request(sample_weight=asked))
        fitted = search.best_estimator_[-1].mitigator_.estimator_
        assert_allclose(fitted.coef_, plain[asked].estimator_.coef_)
    assert np.abs(plain[True].estimator_.coef_ - plain[False].estimator_.coef_).max() > 1e-3


# What the user is told ---------------------------------------------------------------


def test_arrays_between_the_steps(people):
    X, y = people
    lost = make_column_transformer((StandardScaler(), FEATURES), remainder="passthrough")
    model = MitigatedClassifier(optimizer(), sensitive_features="sex")
    with pytest.raises(
        TypeError, match=r"X arrived as ndarray .*\.set_output\(transform='pandas'\)"
    ):
        make_pipeline(lost, model).fit(X, y)


def test_scorer_that_ranks_meets_a_mitigator_that_does_not(people):
    X, y = people
    search = GridSearchCV(
        piped(optimizer()),
        {f"{STEP}mitigator__constraints": CONSTRAINTS},
        scoring=make_group_auc_scorer("macro", groups="sex"),
        cv=FOLDS,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    told = [str(one.message) for one in caught]
    assert any(
        "none of the following attributes: decision_function, predict_proba" in t
        and "can be scored on its decisions: response_method='predict'" in t
        for t in told
    )
