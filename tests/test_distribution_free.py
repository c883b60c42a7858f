"""Limits that hold for any number of rows: AUCs, error rates, and classifiers of few rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from skfedauc import GroupAUC, cross_validate_group_auc
from skfedauc.error_bounds import error_rate_bound, fit_with_error_bound
from skfedauc.inference.proportions import lower_limit, upper_limit


def test_binomial_limits_invert_the_tails():
    low, high = lower_limit(3, 20, 0.05), upper_limit(3, 20, 0.05)
    assert stats.binom.sf(2, 20, low) == pytest.approx(0.05)
    assert stats.binom.cdf(3, 20, high) == pytest.approx(0.05)
    assert_allclose(upper_limit([0, 5], [0, 5], 0.05), [np.nan, 1.0])
    assert_allclose(lower_limit([0, 0], [0, 5], 0.05), [np.nan, 0.0])


def test_limits_for_few_rows_refuse_out_of_fold_scores():
    y, groups = np.tile([0, 1], 50), np.repeat([0, 1], 50)
    X = np.random.default_rng(5).normal(size=(100, 1)) + y[:, None]
    found = cross_validate_group_auc(LogisticRegression(), X, y, groups=groups)
    for of_folds in (
        found.within_folds,
        found.over_folds,
        GroupAUC(found.over_folds._estimates.pairs, min_per_class=2),
    ):
        for of in ("groups", "statistics"):
            with pytest.raises(ValueError, match="'exact' needs the scores of one model"):
                of_folds.confidence_intervals(method="exact", of=of)
    assert found.folds[0].confidence_intervals(method="exact")["ci_low"].notna().all()


def test_published_bounds_are_reproduced():
    """Published results for FOURCLASS, a data set of LIBSVM with 862 rows, with confidence 99 %.

    A tenth of the rows, 87, has no labels. A
    tenth of the other rows are 78 test rows with 13 errors, which gives the test set bound 28.75 %.
    With one disagreement in the 87 rows, the semi-supervised bound is 38.33 %.
    """
    assert round(100 * error_rate_bound(13, 78, confidence_level=0.99), 2) == 28.75
    bound = error_rate_bound(13, 78, n_disagreements=1, n_unlabeled=87, confidence_level=0.99)
    assert round(100 * bound, 2) == 38.33


def test_bounds_are_those_of_langfords_program():
    # The documentation of J. Langford's program `bound`, version 0.9, prints these limits for 192
    # errors of 600 rows: an upper limit at delta .025, and a lower limit at delta .5.
    assert error_rate_bound(192, 600, confidence_level=0.975) == pytest.approx(
        0.358976827934, abs=5e-10
    )
    assert lower_limit(192, 600, 0.5) == pytest.approx(0.31926717516, abs=5e-10)


def test_error_rate_bounds_equal_their_formulas():
    k, m = np.array([2, 0, 5]), np.array([20, 21, 19])

    def tails(d, errors=k, rows=m):
        return stats.beta.isf(d, errors + 1, rows - errors)

    assert error_rate_bound(2, 20) == pytest.approx(tails(0.05)[0])
    assert error_rate_bound(k, m) == pytest.approx(tails(0.05 / 3).mean())
    found = error_rate_bound(k, m, n_disagreements=4, n_unlabeled=50)
    expected = tails(0.05 / 6).mean() + tails(0.025, np.array([4]), np.array([50]))[0]
    assert found == pytest.approx(expected)
    assert error_rate_bound(20, 20) == 1.0
    assert error_rate_bound(19, 20, n_disagreements=50, n_unlabeled=50) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2), "n_errors of at most n_rows; got 3 of 2"),
        ((0, 0), "n_rows of 1 or more, .*; got 0 of 0"),
        (([], []), "one number for each member"),
        ((1.5, 2), r"n_errors must hold whole numbers; got 1.5\. The bound counts rows"),
        ((1, float("nan")), "n_rows must hold whole numbers; got nan"),
        ((-1, 2), "n_errors must be 0 or more"),
        (([1, 2], 10), r"one number for each member, .*; got \[1, 2\] of 10"),
    ],
)
def test_error_rate_bounds_refuse_wrong_counts(arguments, message):
    with pytest.raises(ValueError, match=message):
        error_rate_bound(*arguments)


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[y], np.array(list("abc"))[y]


@pytest.mark.parametrize(
    ("resampling", "n_rows"), [("train_test", 100), ("cross_validation", 200), ("bagging", None)]
)
def test_classifiers_count_their_errors_on_rows_they_did_not_see(resampling, n_rows):
    X, y = drawn(0, 200)
    others, truth = drawn(1, 5000)
    found = fit_with_error_bound(GaussianNB(), X, y, resampling=resampling, random_state=0)
    n_members = 1 if resampling == "train_test" else 10
    assert len(found.members) == len(found.tests) == n_members
    if n_rows is None:  # a bootstrap sample leaves out 1 / e of the rows
        assert found.tests["n_rows"].between(55, 95).all()
    else:
        assert found.tests["n_rows"].sum() == n_rows
    expected = error_rate_bound(found.tests["n_errors"], found.tests["n_rows"])
    assert found.error_bound == expected
    assert found.classifier is None
    assert (found.predict(others, random_state=0) != truth).mean() < found.error_bound
    both = fit_with_error_bound(
        GaussianNB(), X, y, resampling=resampling, X_unlabeled=others, random_state=0
    )
    assert both.tests.equals(found.tests)
    assert both.n_unlabeled == 5000
    assert (both.predict(others) != truth).mean() < both.error_bound
    assert (both.predict(others) == GaussianNB().fit(X, y).predict(others)).all()
    assert f"{len(both.members)} member" in repr(both)


def test_fitting_refuses_classifiers_that_are_not_fitted_again():
    X, y = drawn(0, 30)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    bounded = fit_with_error_bound(GaussianNB(), X, y, random_state=0)
    for wrong in (frozen, make_pipeline(StandardScaler(), frozen), bounded):
        with pytest.raises(ValueError, match=r"keep their fit, .* to error_rate_bound"):
            fit_with_error_bound(wrong, X, y)
    # A transformer that was fitted to other rows is part of the input.
    scaler = FrozenEstimator(StandardScaler().fit(drawn(1, 30)[0]))
    assert fit_with_error_bound(make_pipeline(scaler, GaussianNB()), X, y).error_bound < 1


def test_bounded_classifiers_are_classifiers_of_scikit_learn():
    X, y = drawn(0, 60)
    others, truth = drawn(1, 300)
    for unlabeled in (None, others):
        found = fit_with_error_bound(GaussianNB(), X, y, X_unlabeled=unlabeled, random_state=0)
        check_is_fitted(found)
        assert is_classifier(found)
        assert clone(found) is found.fit(X, y) is found
        assert found.classes_.tolist() == ["a", "b", "c"]
        assert found.score(others, truth) == (found.predict(others) == truth).mean()
        assert (found.predict(others) == found.predict(others)).all()
        assert isinstance(found._repr_html_(), str)
        saved = pickle.loads(pickle.dumps(found))
        assert (saved.predict(others) == found.predict(others)).all()
        assert set(cross_val_score(found, X, y, cv=3)) <= set(np.arange(21) / 20)
        assert permutation_importance(found, X, y, random_state=0).importances_mean.shape == (2,)
    again = fit_with_error_bound(GaussianNB(), X, y, X_unlabeled=others, random_state=0)
    assert again.random_state == found.random_state
    random = fit_with_error_bound(
        DecisionTreeClassifier(max_depth=1), X, y, resampling="bagging", random_state=1
    )
    assert random.random_state != found.random_state
    source = np.random.RandomState(0)
    drawn_twice = [random.predict(others, random_state=source) for _ in range(2)]
    assert (drawn_twice[0] != drawn_twice[1]).any()
    assert (random.predict(others, random_state=3) != random.predict(others)).any()
    # Each row has the prediction of one of the members.
    of_members = np.stack([member.predict(others) for member in random.members])
    assert (of_members == random.predict(others)).any(axis=0).all()
