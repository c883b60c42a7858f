"""Critical differences against integrals, and candidates against the definition of the test.

Expected values do not come from the package, except where two calls must agree.
"""

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from sklearn.dummy import DummyClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)

from skfedauc import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
    auc_critical_difference,
    compare_candidates,
)

Z = statistics.NormalDist().inv_cdf(0.975)
NAN = np.nan


@pytest.mark.parametrize("auc", [0.02, 0.3, 0.5, 0.8, 0.999])
def test_variance_of_normal_scores(auc):
    """The expected variance integrates P(two positives outrank a negative) over the negative."""
    separation = math.sqrt(2) * stats.norm.ppf(auc)
    q, _ = integrate.quad(
        lambda x: stats.norm.pdf(x) * stats.norm.cdf(separation - x) ** 2,
        -12,
        12,
        epsabs=1e-14,
        limit=200,
    )
    for m, n in ((1, 1), (1, 40), (40, 1), (10, 990), (300, 200)):
        expected = (auc * (1 - auc) + (m + n - 2) * (q - auc**2)) / (m * n)
        variance = (auc_critical_difference(auc, m, n) / Z) ** 2 / 2
        assert variance == pytest.approx(expected, rel=1e-8)


def test_level_and_correlation():
    critical = auc_critical_difference(0.8, 200, 800)
    for confidence_level in (0.5, 0.9, 0.99):
        quantile = statistics.NormalDist().inv_cdf((1 + confidence_level) / 2)
        assert auc_critical_difference(
            0.8, 200, 800, confidence_level=confidence_level
        ) == pytest.approx(critical * quantile / Z)
    for correlation in (0, 0.3, 0.99):
        correlated = auc_critical_difference(0.8, 200, 800, correlation=correlation)
        assert correlated == pytest.approx(critical * math.sqrt(1 - correlation))


def results(scores, *, name="score", params=None):
    scores = np.array(scores, float)
    return {
        "params": params or [{"C": 2.0**i} for i in range(len(scores))],
        "mean_fit_time": np.ones(len(scores)),
        **{f"split{i}_test_{name}": scores[:, i] for i in range(scores.shape[1])},
        f"mean_test_{name}": scores.mean(axis=1),
    }


def by_definition(scores, test_fraction):
    """Return mean difference from the best, standard error and both p values, by plain loops."""
    means = [statistics.fmean(row) for row in scores]
    best = max(range(len(scores)), key=lambda i: (means[i], -i))
    rows = {}
    for i, row in enumerate(scores):
        differences = [a - b for a, b in zip(row, scores[best], strict=True)]
        j = len(differences)
        factor = 1 / j + test_fraction / (1 - test_fraction)
        error = math.sqrt(factor * statistics.variance(differences))
        mean = statistics.fmean(differences)
        p = 2 * stats.t.sf(abs(mean) / error, j - 1) if error else 1.0
        rows[i] = (means[i], mean, error, p, min(1.0, p * max(math.comb(len(scores), 2), 1)))
    return rows


@pytest.mark.parametrize("seed", range(10))
def test_report_by_definition(seed):
    rng = np.random.default_rng(seed)
    n_candidates, n_splits = rng.integers(1, 12), rng.integers(2, 30)
    scores = (
        0.8 + rng.normal(0, 0.02, (n_candidates, 1)) + rng.normal(0, 0.01, (n_candidates, n_splits))
    )
    fraction, confidence_level = float(rng.uniform(0.05, 0.5)), float(rng.choice([0.5, 0.95]))
    report = compare_candidates(
        results(scores), "score", test_fraction=fraction, confidence_level=confidence_level
    )
    expected = by_definition(scores.tolist(), fraction)
    assert sorted(report.index) == list(range(n_candidates))
    columns = ["score", "difference", "standard_error", "pvalue", "pvalue_adjusted"]
    assert report.columns.tolist() == [*columns, "tied", "C"]
    for candidate, row in report.iterrows():
        assert row[columns].tolist() == pytest.approx(expected[candidate], abs=1e-12)
        assert row["tied"] == (expected[candidate][-1] > 1 - confidence_level)
        assert row["C"] == 2.0**candidate
    assert (np.diff(report["score"]) <= 0).all()


@pytest.mark.parametrize("failed", [NAN, np.inf, -np.inf])
def test_failed_candidates_are_left_out_and_not_counted(failed):
    rng = np.random.default_rng(1)
    scores = rng.normal(0.8, 0.01, (5, 25))
    scores[1, 3] = scores[4, 0] = failed
    kept = [0, 2, 3]
    report = compare_candidates(results(scores), "score", test_fraction=0.2)
    alone = compare_candidates(results(scores[kept]), "score", test_fraction=0.2)
    alone.index = [kept[i] for i in alone.index]
    alone["C"] = 2.0 ** np.array(alone.index)
    pd.testing.assert_frame_equal(report, alone)


RNG = np.random.default_rng(0)
X = pd.DataFrame({"x": RNG.normal(size=120), "site": np.repeat(np.arange(6), 20)})
Y = (X["x"] + RNG.normal(size=120) > 0).astype(int).to_numpy()

CVS = {
    "None": None,
    "3": 3,
    "numpy 3": np.int64(3),
    "KFold": KFold(4),
    "StratifiedKFold": StratifiedKFold(3, shuffle=True, random_state=0),
    "GroupKFold": GroupKFold(3),
    "StratifiedGroupKFold": StratifiedGroupKFold(2),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "WithinGroupStratifiedKFold": WithinGroupStratifiedKFold(4, groups="site"),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "RepeatedStratifiedKFold": RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
    "RepeatedWithinGroupStratifiedKFold": RepeatedWithinGroupStratifiedKFold(
        n_splits=3, n_repeats=2, groups="site", random_state=0
    ),
}


def groups_for(cv):
    takes = isinstance(cv, GroupKFold | StratifiedGroupKFold | LeaveOneGroupOut | GroupShuffleSplit)
    return {"groups": X["site"]} if takes else {}


def searched(cv, search=GridSearchCV, **settings):
    choices = {"strategy": ["prior", "stratified"]}
    found = search(DummyClassifier(random_state=0), choices, cv=cv, refit=False, **settings)
    return found.fit(X, Y, **groups_for(cv))


@pytest.mark.parametrize("cv", CVS.values(), ids=CVS)
def test_share_of_test_rows_is_that_of_the_splits(cv):
    search = searched(cv)
    splits = check_cv(cv, Y, classifier=True).split(X, Y, **groups_for(cv))
    shares = [test.size / (train.size + test.size) for train, test in splits]
    report = compare_candidates(search, "score")
    given = compare_candidates(search, "score", test_fraction=float(np.mean(shares)))
    pd.testing.assert_frame_equal(report, given)


class Purged(KFold):
    """Splitter that uses only half of the training rows of each fold."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            yield train[::2], test


UNCERTAIN = {
    "TimeSeriesSplit": TimeSeriesSplit(3),
    "PredefinedSplit": PredefinedSplit(np.arange(120) % 4 - 1),
    "GroupShuffleSplit": GroupShuffleSplit(3, random_state=0),
    "Purged": Purged(3),
    "ShuffleSplit": ShuffleSplit(3, random_state=0),
    "list": list(KFold(3).split(X)),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_share_of_test_rows_has_to_be_given_where_it_is_not_certain(name):
    search = searched(UNCERTAIN[name])
    with pytest.raises(ValueError, match=rf"test set of cv={name} is not known: .*test_fraction="):
        compare_candidates(search, "score")


@pytest.mark.parametrize(
    ("table", "arguments", "error", "message"),
    [
        ([[0.5, 0.6]], {"metric": "auc"}, ValueError, r"no metric named 'auc'; it has 'score'"),
        ([[0.5]], {}, ValueError, r"a single split, from which the variance of scores cannot"),
        ([[NAN, 0.6], [0.5, NAN]], {}, ValueError, r"the score of every candidate is NaN or inf"),
        ([[0.5, 0.6]], {"test_fraction": 1.0}, ValueError, r"test_fraction must be .*; got 1\.0"),
    ],
)
def test_reports_that_cannot_be(table, arguments, error, message):
    with pytest.raises(error, match=message):
        compare_candidates(results(table), **{"metric": "score", "test_fraction": 0.2, **arguments})
