"""Scores and decisions of estimators: every entry point has the AUC of the same scores."""

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn import discriminant_analysis, ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from test_plotting import REPORT_DISPLAYS as DISPLAYS

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MulticlassGroupAUC,
    compare_models,
    cross_validate_group_auc,
    group_auc_scoring,
    make_group_auc_scorer,
)
from skfedauc.plotting import ReliabilityDisplay
from skfedauc.plotting.drawing import Display


class Rule(ClassifierMixin, BaseEstimator):
    """Classifier without scores, which decides equal rows equally."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.rng_ = np.random.default_rng(0)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


class TwoResponses(Rule):
    """Classifier whose probabilities rank rows in another order than its decision values."""

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict_proba(self, X):
        positive = 1 / (1 + np.exp(np.asarray(X)[:, 0] - np.asarray(X)[:, 1]))
        return np.column_stack([1 - positive, positive])


class Decides(Rule):
    """Randomized classifier without scores."""

    def predict(self, X):
        chance = self.rng_.normal(scale=0.3, size=len(X))
        return self.classes_[(np.asarray(X)[:, 0] + chance > 0).astype(int)]


LOGISTIC = LogisticRegression()
ESTIMATORS = {
    "both": LOGISTIC,
    "saturated": LogisticRegression(C=1e9),
    "linear discriminant": discriminant_analysis.LinearDiscriminantAnalysis(),
    "quadratic discriminant": discriminant_analysis.QuadraticDiscriminantAnalysis(),
    "boosting": ensemble.HistGradientBoostingClassifier(max_iter=5),
    "gradient boosting": ensemble.GradientBoostingClassifier(n_estimators=5, random_state=0),
    "ada boost": ensemble.AdaBoostClassifier(n_estimators=5),
    "probabilities": GaussianNB(),
    "forest": ensemble.RandomForestClassifier(n_estimators=5, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=2),
    "neighbors": KNeighborsClassifier(5),
    "constant": DummyClassifier(),
    "decision values": LinearSVC(),
    "ridge": RidgeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LOGISTIC),
    "search": GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {}, cv=2),
    "calibrated": CalibratedClassifierCV(LinearSVC(), cv=2),
    "tuned threshold": TunedThresholdClassifierCV(LOGISTIC, cv=2),
    "fixed threshold": FixedThresholdClassifier(LOGISTIC, threshold=0.2),
    "vote": ensemble.VotingClassifier([("a", LOGISTIC), ("b", GaussianNB())], voting="soft"),
    "clipped probabilities": SGDClassifier(loss="modified_huber", random_state=0),
    "mean of members": ensemble.BaggingClassifier(
        make_pipeline(StandardScaler(), TwoResponses()), n_estimators=3, random_state=0
    ),
    "opposite": TwoResponses(),
    "decisions": Rule(),
}
DISAGREEING = {"clipped probabilities", "mean of members", "opposite"}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    y = np.arange(160) % 2
    X = pd.DataFrame(rng.normal(size=(160, 3)) + 0.7 * y[:, None], columns=["a", "b", "c"])
    X["site"] = rng.integers(0, 3, 160)
    return X, y


def on_features(model):
    """Return a pipeline that leaves out the column of the groups."""
    return make_pipeline(make_column_transformer(("passthrough", ["a", "b", "c"])), model)


def by_entry_point(model, X, y, **options):
    of = {"groups": "site", **options}
    quiet = {**of, "undefined": "ignore"}
    yield "report", GroupAUC.from_estimator(model, X, y, **of).pooled
    yield "scorer", make_group_auc_scorer("pooled", **of)(model, X, y)
    yield "scorers", group_auc_scoring(["pooled"], **of)["pooled"](model, X, y)
    yield "audit", FairnessAudit.from_estimator(model, X, y, **of).report.pooled
    if "response_method" not in options:
        audit = FairnessAudit.from_estimator(model, X, y, threshold=0.4, **of)
        yield "audit at a threshold", audit.report.pooled
    for display in DISPLAYS:
        yield display.__name__, display.from_estimator(model, X, y, **quiet).report.pooled
    others = {"first": X["a"].to_numpy(), "model": scores_of(model, X)}
    yield "comparison", compare_models(y, others, groups=X["site"]).by_model["model"]


def scores_of(model, X):
    """Return the scores of the positive class by scikit-learn's methods, without the package."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    return model.predict(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_has_one_auc_at_every_entry_point(rows, name, monkeypatch):
    """The AUC is that of scikit-learn's scorer "roc_auc"."""
    monkeypatch.setattr(Display, "plot", lambda display, ax: display)  # takes most of the time
    X, y = rows
    model = on_features(ESTIMATORS[name]).fit(X, y)
    expected = roc_auc_score(y, scores_of(model, X))
    half = np.arange(160) < 80
    folds = [(np.flatnonzero(half), np.flatnonzero(~half))]
    if name != "decisions":
        assert get_scorer("roc_auc")(model, X, y) == pytest.approx(expected)
    with warnings.catch_warnings():
        if name in DISAGREEING:
            warnings.filterwarnings("ignore", "Pipeline orders rows differently")
        if name == "decisions":
            warnings.filterwarnings("ignore", ".* its scores are its decisions")
        found = dict(by_entry_point(model, X, y))
        crossed = cross_validate_group_auc(
            on_features(ESTIMATORS[name]), X, y, groups="site", cv=folds, return_estimator=True
        )
    assert found == pytest.approx(dict.fromkeys(found, expected), abs=1e-12)
    of_fold = roc_auc_score(y[~half], scores_of(crossed.estimators[0], X[~half]))
    assert crossed.within_folds.pooled == pytest.approx(of_fold, abs=1e-12)


@pytest.mark.parametrize("display", [*DISPLAYS, ReliabilityDisplay])
def test_displays_leave_out_small_groups_as_reports_do(rows, display):
    X, y = rows
    X = X.assign(site=np.where(np.arange(len(X)) < 6, "tiny", "many"))
    X.loc[:1, "site"] = "other"
    X.loc[20:80, "site"] = "other"
    model = on_features(GaussianNB()).fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    assert X["site"].value_counts()["tiny"] == 4
    for shown in (
        display.from_estimator(model, X, y, groups="site", min_per_class=3),
        display.from_predictions(y, scores, groups=X["site"], min_per_class=3),
    ):
        plt.close(shown.figure_)
        kept = (X["site"] != "tiny").to_numpy()
        assert list(shown.report.by_group.index) == ["many", "other"]
        assert shown.report.pooled == pytest.approx(roc_auc_score(y[kept], scores[kept]))
        drawn = {text.get_text() for text in shown.figure_.findobj(mpl.text.Text)}
        (told,) = (text.replace("\n", " ") for text in drawn if "tiny" in text)
        assert "1 group without 3 rows of each class not shown: tiny" in told


@pytest.mark.parametrize("name", sorted(DISAGREEING))
@pytest.mark.parametrize("threshold", ["auto", 0.4])
def test_audits_warn_of_two_orders(rows, name, threshold):
    X, y = rows
    model = on_features(ESTIMATORS[name]).fit(X, y)
    values, probability = model.decision_function(X), model.predict_proba(X)[:, 1]
    aucs = [roc_auc_score(y, score) for score in (values, probability)]
    message = rf"\(pooled AUC {aucs[0]:.4f}\).*\(pooled AUC {aucs[1]:.4f}\).*response_method="
    of = {"groups": "site", "threshold": threshold}
    with pytest.warns(UserWarning, match=message) as caught:
        audit = FairnessAudit.from_estimator(model, X, y, **of)
    assert len(caught) == 1
    # Decisions are those of the model, or of its probabilities.
    decided = model.predict(X) == 1 if threshold == "auto" else probability >= threshold
    shares = pd.Series(decided).groupby(X["site"]).mean()
    assert audit.by_group()["selection_rate"].to_dict() == pytest.approx(shares.to_dict())
    assert audit.facts["threshold"] == (None if threshold == "auto" else threshold)
    asked = FairnessAudit.from_estimator(model, X, y, response_method="predict_proba", **of)
    assert asked.report.pooled == pytest.approx(aucs[1])


class Rounded(LogisticRegression):
    def predict_proba(self, X):
        return np.round(super().predict_proba(X), 3)


def test_audits_have_the_aucs_of_reports_where_probabilities_are_rounded():
    """The AUCs differ by less than a warning tells."""
    rng = np.random.default_rng(0)
    X, sites = rng.normal(size=(3000, 1)), np.repeat(["a", "b"], 1500)
    y = X[:, 0] + rng.normal(size=3000) > 0
    model = Rounded().fit(X, y)
    report = GroupAUC.from_estimator(model, X, y, groups=sites)
    audit = FairnessAudit.from_estimator(model, X, y, groups=sites)
    assert audit.report.pooled == report.pooled != roc_auc_score(y, model.predict_proba(X)[:, 1])
    assert audit.by_group()["auc"].tolist() == report.by_group["auc"].tolist()


def test_reliability_shows_probabilities_and_warns_of_two_orders(rows):
    X, y = rows
    model = on_features(TwoResponses()).fit(X, y)
    with pytest.warns(UserWarning, match="The display shows predict_proba") as caught:
        shown = ReliabilityDisplay.from_estimator(model, X, y, groups="site")
    assert len(caught) == 1
    expected = ReliabilityDisplay.from_predictions(
        y, model.predict_proba(X)[:, 1], groups=X["site"]
    )
    np.testing.assert_allclose(shown.mean_score[0], expected.mean_score[0])
    same = on_features(LOGISTIC).fit(X, y)
    ReliabilityDisplay.from_estimator(same, X, y, groups="site")


@pytest.mark.parametrize("positive", [0, 1])
def test_decisions_are_compared_with_scores(rows, positive):
    """Each model has its own response, and a randomized model decides once."""
    X, y = rows
    scoring = on_features(LOGISTIC).fit(X, y)
    deciding = on_features(Decides()).fit(X, y)
    options = {"groups": "site", "pos_label": positive}
    audits = [FairnessAudit.from_estimator(of, X, y, **options) for of in (scoring, deciding)]
    pair = audits[0].compare(audits[1])
    of_scores = roc_auc_score(y == 1, scoring.decision_function(X))
    decided = on_features(Decides()).fit(X, y).predict(X) == 1
    of_decisions = roc_auc_score(y == 1, decided)
    assert audits[0].report.pooled == pytest.approx(of_scores, abs=1e-12)
    assert audits[1].report.pooled == pytest.approx(of_decisions, abs=1e-12)
    selected = pd.Series(decided == (positive == 1)).groupby(X["site"]).mean()
    found = pair.answers["site"]["demographic_parity_difference"].table["after"]
    assert found.to_dict() == pytest.approx(selected.to_dict())


def test_models_without_classes_or_with_other_classes_are_named(rows):
    X, y = rows
    for unfitted in map(clone, (on_features(LOGISTIC), LOGISTIC, DecisionTreeClassifier())):
        for report in (GroupAUC, MulticlassGroupAUC):
            with pytest.raises(NotFittedError, match="is not fitted yet"):
                report.from_estimator(unfitted, X, y, groups="site")
    texts = on_features(LOGISTIC).fit(X, np.where(y == 1, "yes", "no"))
    with pytest.raises(ValueError, match=r"y has the labels .* was fitted on 'no', 'yes'; pass y"):
        GroupAUC.from_estimator(texts, X, y, groups="site")
    with pytest.raises(ValueError, match="missing labels of"):
        GroupAUC.from_estimator(texts, X, np.full(len(X), np.nan), groups="site")
    one = on_features(DecisionTreeClassifier()).fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match=r"rows of 1\.0\. .* stratify the folds by class"):
        make_group_auc_scorer("pooled", groups="site")(one, X, y)
    with pytest.raises(ValueError, match="lack some: stratify the folds by class"):
        make_group_auc_scorer("pooled", groups="site", multi_class="ovr")(texts, X, y)


class Shifted(LogisticRegression):
    """Adds a number of each row to its decision values, which leaves the probabilities."""

    def decision_function(self, X):
        return super().decision_function(X) + 5 * X["alcohol"].to_numpy()[:, None]

    def predict_proba(self, X):
        return softmax(super().decision_function(X), axis=1)


SEVERAL = {
    "logistic": LOGISTIC,
    "pipeline": make_pipeline(StandardScaler(), LOGISTIC),
    "search": GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, cv=2),
    "calibrated": CalibratedClassifierCV(LOGISTIC, cv=2),
    "probabilities": GaussianNB(),
    "boosting": ensemble.HistGradientBoostingClassifier(max_iter=5),
    "quadratic discriminant": discriminant_analysis.QuadraticDiscriminantAnalysis(),
}


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[["alcohol", "ash"]], y.to_numpy()


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_several_classes_are_ranked_by_probabilities(wine, name, multi_class):
    X, y = wine
    model = SEVERAL[name].fit(X, y)
    expected = get_scorer(f"roc_auc_{multi_class}")(model, X, y)
    one = pd.Series("one", X.index)
    options = {"groups": one, "multi_class": multi_class}
    assert make_group_auc_scorer("pooled", **options)(model, X, y) == pytest.approx(expected)
    report = MulticlassGroupAUC.from_estimator(model, X, y, **options)
    assert report.statistic("pooled") == pytest.approx(expected)
    scorers = group_auc_scoring(["pooled"], each_group=["one"], **options)
    assert scorers["auc_one"](model, X, y) == pytest.approx(expected)


def test_numbers_added_to_the_logits_of_each_row_change_nothing(wine):
    X, y = wine
    one = pd.Series("one", X.index)
    plain, shifted = LogisticRegression(max_iter=1000).fit(X, y), Shifted(max_iter=1000).fit(X, y)
    np.testing.assert_allclose(shifted.predict_proba(X), plain.predict_proba(X))
    scorer = make_group_auc_scorer("macro", groups=one, multi_class="ovr")
    by_request = make_group_auc_scorer(
        "macro", groups=one, multi_class="ovr", response_method="decision_function"
    )
    assert "response_method='decision_function'" in repr(by_request)
    expected = roc_auc_score(y, plain.predict_proba(X), multi_class="ovr")
    assert scorer(plain, X, y) == pytest.approx(expected)
    assert scorer(shifted, X, y) == pytest.approx(expected)
    assert expected - by_request(shifted, X, y) > 0.2


@pytest.mark.parametrize("names", ["foo", ("foo", "bar")])
def test_an_unknown_method_is_answered_by_those_that_the_estimator_has(names):
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3
    two, three = (LogisticRegression().fit(X, of) for of in (y > 0, y))
    asked = {"groups": y % 2, "response_method": names}
    methods = "'decision_function', 'predict_proba'{} 'predict_log_proba'"
    mend = r"none of the following attributes: foo.*\. It has {}: pass response_method='decision_"
    with pytest.raises(AttributeError, match=mend.format(methods.format(",") + " and 'predict'")):
        GroupAUC.from_estimator(two, X, y > 0, **asked)
    with pytest.raises(AttributeError, match=mend.format(methods.format(" and"))):
        MulticlassGroupAUC.from_estimator(three, X, y, **asked)
