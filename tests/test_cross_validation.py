"""cross_validate_group_auc equals a plain loop with scikit-learn, and returns no rows."""

import contextlib

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from oracles import STATISTICS, Case, all_pairs, general_hull, same_statistic
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.preprocessing import StandardScaler

from skfedauc import ScoreCounts, WithinGroupStratifiedKFold, cross_validate_group_auc
from skfedauc.datasets import make_group_scores
from skfedauc.model_selection import cross_validation
from skfedauc.report.group_auc import null_difference_of

MODEL = LogisticRegression()


def make_data(n=200, n_groups=4, seed=0, digits=1):
    """Rows with rounded features, so that scores tie, and groups of unequal size and prevalence."""
    rng = np.random.default_rng(seed)
    site = rng.choice(n_groups, n, p=np.arange(3, 3 + n_groups) / sum(range(3, 3 + n_groups)))
    X = rng.normal(size=(n, 2)).round(digits)
    X[:, 1] += site
    y = (X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=n) > 0.7).astype(int)
    return X, y, site


@pytest.fixture(scope="module")
def data():
    return make_data()


def plain_loop(model, X, y, splits):
    folds = []
    for train, test in splits:
        fitted = clone(model).fit(X[train], y[train])
        folds.append((test, fitted.decision_function(X[test])))
    return folds


def cases_of(folds, y, groups):
    return [Case(y[test], score, [groups[i] for i in test], None) for test, score in folds]


def together(cases):
    return Case(
        np.concatenate([case.y for case in cases]),
        np.concatenate([case.scores for case in cases]),
        [label for case in cases for label in case.groups],
        None,
    )


def within_folds(cases, stand_in=None):
    """Return the expected results from all pairs of rows in the same fold."""
    fold = np.repeat(np.arange(len(cases)), [case.y.size for case in cases])
    return all_pairs(together(cases), stand_in, fold)


def check_report(report, truth, names=STATISTICS):
    assert list(report.counts.groups) == truth.labels
    assert_allclose(report.by_group["auc"], truth.auc, rtol=0, atol=1e-12)
    assert_allclose(report.cross_matrix, truth.matrix, rtol=0, atol=1e-12)
    for name in ("n_positives", "n_negatives"):
        assert report.by_group[name].tolist() == getattr(truth, name).tolist()
    for name in names:
        assert same_statistic(name, report.statistic(name), truth.statistics[name]), name


def check_within_folds(report, cases, stand_in=None, names=STATISTICS):
    truth = within_folds(cases, stand_in)
    check_report(report, truth, names)
    within, cross, share = report.decomposition()
    assert share == pytest.approx(truth.share_within, abs=1e-12)
    assert within == pytest.approx(truth.statistics["within"], abs=1e-12)
    if share < 1:
        assert cross == pytest.approx(truth.statistics["cross"], abs=1e-12)
        assert share * within + (1 - share) * cross == pytest.approx(report.pooled, abs=1e-12)


def check_fold_effect(effect, cases):
    """Check the fold effect: to the oracle, folds are groups."""
    case = together(cases)
    fold = [number for number, c in enumerate(cases) for _ in c.y]
    truth = all_pairs(case._replace(groups=fold))
    found = {"pooled": effect.over_folds, "within": effect.within, "cross": effect.cross}
    assert found == pytest.approx({name: truth.statistics[name] for name in found}, abs=1e-12)
    assert effect.share_within == pytest.approx(truth.share_within, abs=1e-12)
    assert effect.difference == pytest.approx(effect.over_folds - effect.within, abs=1e-15)
    mixed = effect.share_within * effect.within + (1 - effect.share_within) * effect.cross
    assert mixed == pytest.approx(effect.over_folds, abs=1e-12)


def check_result(result, cases):
    assert len(result.folds) == len(cases)
    for fold, case in zip(result.folds, cases, strict=True):
        check_report(fold, all_pairs(case))
    assert result.by_fold.index.tolist() == list(range(len(cases)))
    assert result.by_fold.index.name == "fold"
    assert result.by_fold.columns.tolist() == list(STATISTICS)
    for number, case in enumerate(cases):
        for name, value in all_pairs(case).statistics.items():
            assert same_statistic(name, result.by_fold.loc[number, name], value), (number, name)
    # Tau is undefined if rows are counted several times.
    known = [name for name in STATISTICS if name != "tau"] if result._rows_repeat else STATISTICS
    check_report(result.over_folds, all_pairs(together(cases)), known)
    check_within_folds(result.within_folds, cases, names=known)
    check_fold_effect(result.fold_effect, cases)


SPLITTERS = {
    "within groups": WithinGroupStratifiedKFold(4),
    "shuffled": WithinGroupStratifiedKFold(3, shuffle=True, random_state=1),
    "KFold": KFold(3),
    "StratifiedKFold": StratifiedKFold(3, shuffle=True, random_state=0),
    "rows several times": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
    "some rows never": ShuffleSplit(3, test_size=0.3, random_state=0),
    "one group out": LeaveOneGroupOut(),
    "GroupKFold": GroupKFold(3),
    "StratifiedGroupKFold": StratifiedGroupKFold(2),
}
OF_GROUPS = WithinGroupStratifiedKFold | LeaveOneGroupOut | GroupKFold | StratifiedGroupKFold


@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_everything_equals_a_plain_loop(data, cv):
    X, y, site = data
    wanted = {"groups": site} if isinstance(cv, OF_GROUPS) else {}
    cases = cases_of(plain_loop(MODEL, X, y, cv.split(X, y, **wanted)), y, site)
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=cv, undefined="ignore")
    check_result(result, cases)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_every_backend_gives_the_same_counts(data, backend):
    X, y, site = data
    expected = cross_validate_group_auc(MODEL, X, y, groups=site, n_jobs=1)
    with joblib.parallel_config(backend, n_jobs=2):
        from_context = cross_validate_group_auc(MODEL, X, y, groups=site)
    assert from_context.over_folds.counts == expected.over_folds.counts
    with joblib.parallel_config(backend):
        result = cross_validate_group_auc(MODEL, X, y, groups=site, n_jobs=2)
    assert result.by_fold.equals(expected.by_fold)


def test_gap_across_groups_is_that_of_the_pairs_of_groups_that_share_a_fold(data):
    X, y, site = data
    fold = np.where(site < 2, 0, 1)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(2)]
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=splits)
    matrix = result.within_folds.cross_matrix.to_numpy()
    assert np.isnan(matrix[:2, 2:]).all()
    assert result.within_folds.statistic("cross_difference") == max(
        abs(matrix[g, h] - matrix[h, g]) for g, h in [(0, 1), (2, 3)]
    )


@pytest.fixture(scope="module")
def rare():
    """Many small groups; some lack a class in a fold or in all folds."""
    X, y, _ = make_data(150, seed=3)
    rng = np.random.default_rng(3)
    site = np.append(rng.integers(0, 25, 148), [90, 91])
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    return X, y, site, splits, cases_of(plain_loop(MODEL, X, y, splits), y, site)


def test_each_undefined_group_is_skipped_with_one_warning(rare):
    X, y, site, splits, cases = rare
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=splits)
    assert repr(result).startswith("GroupAUCCrossValidation of 3 folds")  # without a warning
    reports = (*result.folds, result.over_folds, result.within_folds)
    n_undefined = [report._estimates.pairs.n_undefined for report in reports]
    reported = set()
    for report, n in zip(reports, n_undefined, strict=True):
        new = {*report.by_group.index[report.by_group["auc"].isna()]} - reported
        reported |= new
        expected = pytest.warns(UndefinedMetricWarning, match=rf"{n} of \d+ groups")
        with expected if new else contextlib.nullcontext():
            report.average("macro")
        report.average("positives")
    assert n_undefined[-1] > n_undefined[-2] == all_pairs(together(cases)).n_undefined


def test_undefined_groups_raise(rare):
    X, y, site, splits, _ = rare
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=splits, undefined="raise")
    for report in (*result.folds, result.over_folds, result.within_folds):
        with pytest.raises(ValueError, match=r"have no positives or no negatives"):
            report.average("macro")
        assert 0 < report.pooled < 1


@pytest.mark.filterwarnings("ignore:tau needs two groups")
@pytest.mark.parametrize("stand_in", [0.5, 0.0])
def test_a_number_stands_in_for_undefined_groups(rare, stand_in):
    X, y, site, splits, cases = rare
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=splits, undefined=stand_in)
    for fold, case in zip(result.folds, cases, strict=True):
        check_report(fold, all_pairs(case, stand_in))
    check_report(result.over_folds, all_pairs(together(cases), stand_in))
    check_within_folds(result.within_folds, cases, stand_in)
    for number, case in enumerate(cases):
        for name, value in all_pairs(case, stand_in).statistics.items():
            assert same_statistic(name, result.by_fold.loc[number, name], value), (number, name)


def test_folds_of_one_class(data):
    """A test fold of one class has no pairs; the pairs of the other folds count."""
    X, y, site = data
    ill = np.flatnonzero(y == 1)[:10]
    rest = np.setdiff1d(np.arange(y.size), ill)
    splits = [(rest, ill), (ill.tolist() + rest[:90].tolist(), rest[90:])]
    cases = cases_of(plain_loop(MODEL, X, y, splits), y, site)
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=splits, undefined="ignore")
    assert result.by_fold.loc[0].isna().all()
    assert set(result.confidence_intervals()["note"]) == {"undefined in fold 0"}
    assert result.within_folds.pooled == pytest.approx(result.folds[1].pooled, abs=1e-12)
    check_fold_effect(result.fold_effect, cases)


def test_decisions_rank_if_asked_for(data):
    X, y, site = data
    model, every = Perceptron(random_state=0), np.arange(200)
    result = cross_validate_group_auc(
        model, X, y, groups=site, cv=[(every, every)], response_method="predict"
    )
    expected = roc_auc_score(y, model.fit(X, y).predict(X))
    assert result.folds[0].pooled == pytest.approx(expected, abs=1e-12)


FRAME = pd.DataFrame({"x": np.arange(12.0), "site": np.repeat([1, 2], 6)})
Y = np.tile([0, 1], 6)
HOLES = FRAME["site"].where(FRAME.index != 4)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"groups": "ward"}, ValueError, r"column 'ward', not found in X"),
        ({"groups": HOLES}, ValueError, r"groups has 1 missing labels of 12"),
        ({"groups": FRAME["site"][:8]}, ValueError, r"groups has no label for 4 of 12"),
        ({"X": FRAME.to_numpy(), "groups": "site"}, TypeError, r"X arrived as ndarray"),
        ({"y": Y[:9]}, ValueError, r"groups has 12 rows and y has 9"),
        ({"cv": 7}, ValueError, r"n_splits=7"),
        ({"cv": []}, ValueError, r"cv gave no folds"),
        ({"params": {"nonsense": 1}}, TypeError, r"unexpected keyword argument 'nonsense'"),
    ],
)
def test_arguments_that_cannot_be(changed, error, message):
    arguments = {"X": FRAME, "y": Y, "groups": "site", "cv": 3, **changed}
    with pytest.raises(error, match=message):
        cross_validate_group_auc(MODEL, arguments.pop("X"), arguments.pop("y"), **arguments)


@pytest.fixture(scope="module")
def devices():
    made = make_group_scores("different", 60, 90, random_state=0)
    X = made.y_score[:, None]
    return X, made.y_true, np.array([int(label[-1]) for label in made.groups])


def test_intervals_of_means_over_folds_add_up_the_folds_variances(devices):
    X, y, site = devices
    result = cross_validate_group_auc(MODEL, X, y, groups=site)
    table = result.confidence_intervals(method="delong")
    for name in ("pooled", "macro"):
        variances = [
            fold._estimates.pooled.fixed
            if name == "pooled"
            else fold._estimates.variances.delong.sum() / fold.n_groups**2
            for fold in result.folds
        ]
        row = table.loc[name]
        assert row["value"] == pytest.approx(result.by_fold[name].mean(), rel=1e-12)
        reach = 1.959963984540054 * np.sqrt(np.sum(variances)) / len(result.folds)
        assert row["ci_high"] - row["value"] == pytest.approx(reach, rel=1e-9)
    half = result.confidence_intervals(confidence_level=0.5)
    assert (half["ci_low"] > table["ci_low"]).all()
    with pytest.raises(ValueError, match=r"'logit' or 'delong'.*A mean over folds has no other"):
        result.confidence_intervals(method="exact")


def test_null_difference_within_folds_is_that_of_equal_groups():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        site, y = rng.integers(0, 4, 600), rng.integers(0, 2, 600)
        X = y[:, None] + rng.normal(size=(600, 1))
        within = cross_validate_group_auc(MODEL, X, y, groups=site).within_folds
        found.append((within.difference, null_difference_of(within)))
    differences, expected = np.transpose(found)
    error = differences.std() / np.sqrt(differences.size)
    assert abs(differences.mean() - expected.mean()) < 3 * error


def test_rows_that_are_tested_several_times_have_no_known_noise(devices):
    X, y, site = devices
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    result = cross_validate_group_auc(MODEL, X, y, groups=site, cv=cv, undefined="ignore")
    for report in (result.within_folds, result.over_folds):
        assert 0.5 < report.pooled < 1
        assert np.isnan(report.tau)
        assert "difference 0." in repr(report)
        tests = report.test_equal_groups, lambda of=report: of.test_margin(0.0, reference=0.6)
        for read in (report.confidence_intervals, *tests, report.agreement):
            with pytest.raises(ValueError, match=r"several test sets|within folds"):
                read()
    with pytest.raises(ValueError, match="several test sets"):
        result.confidence_intervals()
    assert result.folds[0].confidence_intervals().notna().all(axis=None)


def test_what_cannot_rank_is_refused_and_predictions_are_scores():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    of_rows = {"X": X, "y": y, "groups": np.arange(20) // 2 % 2, "cv": 2}
    with pytest.raises(TypeError, match="StandardScaler has none of the following attributes"):
        cross_validate_group_auc(StandardScaler(), **of_rows)
    result = cross_validate_group_auc(LinearRegression(), **of_rows)
    asked = cross_validate_group_auc(LinearRegression(), response_method="predict", **of_rows)
    assert result.over_folds.counts == asked.over_folds.counts
    vote = VotingClassifier([("a", LogisticRegression())])
    with pytest.warns(UserWarning, match="VotingClassifier has no .* its scores are its decisions"):
        cross_validate_group_auc(vote, **of_rows)


def folds_result(n_folds, scores_of, n_groups=2):
    """Return a result with 6 positives and 12 negatives per group and fold."""
    y = np.tile(np.arange(18) < 6, n_folds * n_groups)
    fold = np.repeat(np.arange(n_folds), 18 * n_groups)
    group = np.tile(np.repeat(np.arange(n_groups), 18), n_folds)
    scores, folds = scores_of(y), range(n_folds)
    counts = [
        ScoreCounts.from_predictions(y[fold == k], scores[fold == k], groups=group[fold == k])
        for k in folds
    ]
    return cross_validation.GroupAUCCrossValidation(counts, "ignore")


def apart(y):
    return y + np.arange(y.size) % 18 / 100


def test_perfect_folds_have_the_limits_of_their_independent_pairs():
    """If all true AUCs are A, a group is perfect in K folds with probability at most A ** (6 K)."""
    for n_groups in (1, 2):
        table = folds_result(4, apart, n_groups).confidence_intervals()
        assert (table["value"] == 1.0).all()
        assert (table["ci_high"] == 1.0).all()
        of_pooled = 0.025 ** (1 / (6 * 4 * n_groups))
        assert table.loc["pooled", "ci_low"] == pytest.approx(of_pooled, rel=1e-9)
        of_average = 1 - (1 - 0.025 ** (1 / (6 * 4))) / np.sqrt(n_groups)
        assert_allclose(table["ci_low"].drop("pooled"), of_average, rtol=1e-9)
    wrong = folds_result(4, lambda y: -apart(y)).confidence_intervals()
    assert (wrong["value"] == 0.0).all()
    assert (wrong["ci_low"] == 0.0).all()
    assert (wrong["ci_high"] > 0.0).all()


def test_a_single_fold_has_the_limits_of_its_report():
    rng = np.random.default_rng(0)
    for scores_of in (
        lambda y: rng.normal(size=y.size) + 2 * y,
        lambda y: rng.integers(0, 3, y.size) + y,
        apart,
        lambda y: np.full(y.size, 0.5),
    ):
        result = folds_result(1, scores_of)
        for method in ("logit", "delong"):
            options = {"confidence_level": 0.9, "method": method}
            found = result.confidence_intervals(**options)
            options |= {"of": "statistics", "over": "rows"}
            expected = result.folds[0].confidence_intervals(**options)
            columns = ["value", "ci_low", "ci_high"]
            assert_allclose(found[columns], expected.loc[found.index, columns], rtol=1e-12)


@pytest.mark.parametrize("n_wrong", [1, 3])
def test_the_mean_of_pooled_aucs_has_newcombes_limits_where_they_are_further(n_wrong):
    # n_wrong of the 12 negatives of each group are tied with all positives.
    wrong = 6 + np.arange(n_wrong)
    result = folds_result(5, lambda y: np.where(y | np.isin(np.arange(y.size) % 18, wrong), 2, 1))
    row = result.confidence_intervals().loc["pooled"]
    mean, m, n, z = row["value"], 12, 24, 1.959963984540054
    assert mean == pytest.approx(1 - n_wrong / 24, rel=1e-12)

    newcombe = 1 / (5 * m * n), ((m + n) / 2 - 1) / (5 * m * n)
    pooled = [fold._estimates.pooled for fold in result.folds]
    variances = sum(of.fixed for of in pooled) / 25, sum(of.rows.bounded for of in pooled) / 25
    limits = [general_hull(mean, variance, *newcombe, z) for variance in variances]
    low, high = zip(*limits, strict=True)
    assert row["ci_low"] == pytest.approx(min(low), abs=1e-9)
    assert row["ci_high"] == pytest.approx(max(high), abs=1e-9)
    without_variance = general_hull(mean, 0.0, *newcombe, z)
    assert max(high) == without_variance[1]
