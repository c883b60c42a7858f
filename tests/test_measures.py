"""Measures in place of the AUC, against scikit-learn, scipy and definitions over all rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from oracles import NAN, mover_of_pairs, random_case
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm, studentized_range, t
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from skfedauc import (
    DisclosureError,
    FairnessAudit,
    GroupAUC,
    ScoreCounts,
    cross_validate_group_auc,
    group_auc_scoring,
    group_roc_auc_score,
    make_group_auc_scorer,
    rows_needed,
)
from skfedauc.inference import measures as measuring
from skfedauc.inference.curves import GroupCurves
from skfedauc.measures import AveragePrecision, PartialAUC, Sensitivity, Specificity
from skfedauc.plotting import GroupAUCDisplay, RankingDisplay
from skfedauc.report.statistics import pooled_clustered

MEASURES = [
    PartialAUC(max_fpr=0.1),
    PartialAUC(max_fpr=1 / 3),
    PartialAUC(max_fpr=1),
    PartialAUC(min_tpr=0.8),
    PartialAUC(min_tpr=0),
    Sensitivity(specificity=0.9),
    Sensitivity(specificity=0.5),
    Specificity(sensitivity=0.8),
    AveragePrecision(),
]
CURVE_MEASURES = [measure for measure in MEASURES if not measure.is_auc]


def height(y, score, fpr, weights=None):
    """Highest point of scikit-learn's curve at a false positive rate, with straight tie blocks."""
    rates, heights, _ = roc_curve(y, score, sample_weight=weights, drop_intermediate=False)
    # The curve reaches a corner if the rates differ only by rounding error.
    last = np.searchsorted(rates, fpr + 1e-12, "right")
    if last == rates.size or rates[last - 1] >= fpr:
        return heights[last - 1]
    return np.interp(fpr, rates[last - 1 : last + 1], heights[last - 1 : last + 1])


def expected(measure, y, score, weights=None):
    """Value of a measure for rows of one group, by scikit-learn's functions."""
    y, score = np.asarray(y), np.asarray(score, np.float64)
    kept = slice(None) if weights is None else weights > 0
    y, score, weights = y[kept], score[kept], None if weights is None else weights[kept]
    if len(set(y.tolist())) < 2:
        return NAN
    match measure:
        case PartialAUC(min_tpr=None):
            return roc_auc_score(y, score, sample_weight=weights, max_fpr=measure.max_fpr)
        case PartialAUC():
            rate = 1 - measure.min_tpr
            return roc_auc_score(1 - y, -score, sample_weight=weights, max_fpr=rate)
        case Sensitivity():
            return height(y, score, 1 - measure.specificity, weights)
        case Specificity():
            return height(1 - y, -score, 1 - measure.sensitivity, weights)
        case AveragePrecision():
            return average_precision_score(y, score, sample_weight=weights)
    raise TypeError(measure)


def report_of(case, measure=None):
    return GroupAUC.from_predictions(**case.arguments, undefined="ignore", measure=measure)


def measured(report, measure):
    estimates = report._estimates
    return GroupAUC(estimates.pairs, undefined=estimates.policy, measure=measure)


def by_group(measure, case, groups):
    labels = np.array([repr(group) for group in case.groups])
    found = []
    for group in groups:
        mine = labels == repr(group)
        weights = None if case.weights is None else case.weights[mine]
        found.append(expected(measure, case.y[mine], case.scores[mine], weights))
    return np.array(found)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_values_equal_those_of_scikit_learn(version, measure):
    for seed in range(4):
        weights = ["unit", "integer", "float"][seed % 3]
        case = random_case(seed, labels="int", weights=weights, most_groups=8)
        report = report_of(case)
        if report.n_groups == 0:
            continue
        found = measured(report, measure)
        truth = by_group(measure, case, report.counts.groups)
        assert found.by_group[measure.name].to_numpy() == pytest.approx(
            truth, abs=1e-11, nan_ok=True
        )
        pooled = expected(measure, case.y, case.scores, case.weights)
        assert found.statistic("pooled") == pytest.approx(pooled, abs=1e-11, nan_ok=True)
        used = ~np.isnan(truth)
        share = {
            "macro": np.ones(truth.size),
            "samples": report._estimates.pairs.positives + report._estimates.pairs.negatives,
            "positives": report._estimates.pairs.positives,
            "negatives": report._estimates.pairs.negatives,
            "within": report._estimates.pairs.of_group,
        }
        for name, weights in share.items():
            average = np.average(truth[used], weights=weights[used]) if used.any() else NAN
            assert found.statistic(name) == pytest.approx(average, abs=1e-11, nan_ok=True)
        if used.any():
            assert found.statistic("worst") == pytest.approx(truth[used].min(), abs=1e-11)
        if used.sum() > 1:
            assert found.statistic("difference") == pytest.approx(np.ptp(truth[used]), abs=1e-11)


def test_partial_areas_equal_those_of_proc():
    # The data aSAH of the R package pROC: outcome by the grade `wfns`, 1 to 5. Expected values are
    # those of pROC's own tests (tests/testthat/test-auc.R) with partial.auc.correct = TRUE.
    good, poor = [37, 20, 3, 8, 4], [2, 12, 1, 8, 18]
    grades = np.arange(1, 6)
    score = np.concatenate([np.repeat(grades, good), np.repeat(grades, poor)])
    y = np.repeat([0, 1], [72, 41])
    report = GroupAUC.from_predictions(y, score, groups=["all"] * y.size)
    assert report.pooled == pytest.approx(0.823678861788618, abs=1e-15)
    for measure, value in (
        (PartialAUC(max_fpr=0.1), 0.649693339038653),
        (PartialAUC(min_tpr=0.9), 0.68473648552275),
    ):
        found = measured(report, measure).statistic("pooled")
        assert found == pytest.approx(value, abs=1e-14)
    # DeLong's variance, from the same package
    curves = GroupCurves.of(report.counts)
    variance, _ = measuring.logit_errors_of(curves, measuring.partial_area_influence(curves, 1.0))
    assert variance == pytest.approx([0.00146991470882363], rel=1e-12)


def test_the_sensitivity_is_the_highest_at_the_specificity():
    # With 10 negatives and a specificity of .9, one negative may be above the threshold, although
    # 1 - .9 is less than 1/10 in floating point.
    score = [*range(10), 8.5, 7.5]
    y = [0] * 10 + [1, 1]
    for specificity, sensitivity in ((0.9, 0.5), (0.91, 0), (0.8, 1), (0.89, 0.5)):
        measure = Sensitivity(specificity=specificity)
        assert group_roc_auc_score(y, score, groups=["a"] * 12, measure=measure) == sensitivity
    # Half of a tie block of one negative and one positive
    found = group_roc_auc_score(
        [0, 0, 1, 1], [1, 2, 2, 1], groups=["a"] * 4, measure=Sensitivity(specificity=0.75)
    )
    assert found == 0.25


def group_rows(seed, m=12, n=20, digits=1, weighted=False):
    rng = np.random.default_rng(seed)
    y = np.arange(m + n) < m
    score = (rng.normal(size=m + n) + y).round(digits)
    return y.astype(int), score, rng.uniform(0.5, 2, m + n) if weighted else np.ones(m + n)


def derivatives(measure, y, score, weights, step=1e-6):
    """Return the derivative of scikit-learn's value by the weight of each row, in numbers.

    The shares of both classes do not change.
    """
    found = np.zeros(y.size)
    for i in range(y.size):
        for sign in (-1, 1):
            moved, mine = weights.copy(), y == y[i]
            moved[i] += sign * step
            moved[mine] *= weights[mine].sum() / moved[mine].sum()
            found[i] += sign * expected(measure, y, score, moved)
    return found / (2 * step)


SMOOTH = [
    PartialAUC(max_fpr=0.23),
    PartialAUC(max_fpr=0.61),
    PartialAUC(min_tpr=0.71),
    AveragePrecision(),
]


@pytest.mark.parametrize("measure", SMOOTH, ids=repr)
def test_influence_values_are_derivatives_of_scikit_learns_values(measure):
    for weighted in (False, True):
        y, score, weights = group_rows(int(weighted), m=6, n=9, weighted=weighted)
        low, high = measure.scale
        cells = GroupCurves.of(ScoreCounts.from_predictions(y, score, sample_weight=weights))
        influence = measuring.influence_of(measure, cells)
        distinct = np.unique(score)
        slopes = derivatives(measure, y, score, weights) / (high - low)
        place = np.searchsorted(distinct, score)
        for label, of_cells in ((1, influence.positives), (0, influence.negatives)):
            mine = y == label
            values = of_cells[place[mine]]
            centered = values - np.average(values, weights=weights[mine])
            assert slopes[mine] * weights[mine].sum() == pytest.approx(centered, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_variance_of_the_whole_area_is_delongs(weighted):
    rows = [group_rows(seed, weighted=weighted) for seed in range(5)]
    y, score, weights = (np.concatenate(part) for part in zip(*rows, strict=True))
    groups = np.repeat(np.arange(5), rows[0][0].size)
    weights = weights if weighted else None
    report = GroupAUC.from_predictions(y, score, groups=groups, sample_weight=weights)
    curves = GroupCurves.of(report.counts)
    influence = measuring.partial_area_influence(curves, 1.0)
    variance, _ = measuring.logit_errors_of(curves, influence)
    assert variance == pytest.approx(report._estimates.variances.delong, rel=1e-10)
    # Beyond 1 - 1e-13 there is no negative.
    estimates = report._estimates.of_measure(PartialAUC(max_fpr=1 - 1e-13))
    clustered, freedom = pooled_clustered(estimates)
    assert clustered == pytest.approx(report._estimates.pooled.random, rel=1e-9)
    assert freedom == pytest.approx(report._estimates.variances.cluster_freedom)


def test_the_variance_of_a_sensitivity_is_that_of_the_delta_method():
    # Linnet (1987): p (1 - p) / m + slope**2 e (1 - e) / n, with the slope of the true curve
    m, n, e = 2_000, 3_000, 0.2
    rng = np.random.default_rng(0)
    y = np.arange(m + n) < m
    threshold = norm.isf(e)
    p, slope = norm.sf(threshold - 1), norm.pdf(threshold - 1) / norm.pdf(threshold)
    truth = p * (1 - p) / m + slope**2 * e * (1 - e) / n
    found = []
    for _ in range(10):
        score = rng.normal(size=m + n) + y
        curves = GroupCurves.of(ScoreCounts.from_predictions(y, score))
        errors = measuring.sensitivity_errors(curves, e, np.array([p]))
        found.append(p * (1 - p) / errors.n[0])
    assert np.mean(found) == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize(
    ("m", "n", "apart"),
    [(20, 80, 1.2), (80, 20, 1.2), (50, 200, 1.2), (200, 50, 2.3)],
)
def test_limits_hold_if_few_rows_determine_the_threshold(m, n, apart):
    n_runs = 200
    rng = np.random.default_rng(m + n)
    y = np.tile(np.arange(m + n) < m, n_runs)
    score = rng.normal(size=y.size) + apart * y
    report = GroupAUC.from_predictions(y, score, groups=np.repeat(np.arange(n_runs), m + n))
    # The ROC curve of normal scores with equal standard deviations is symmetric.
    area = quad(lambda u: norm.sf(norm.isf(u) - apart), 0, 0.1)[0]
    area = (1 + (area - 0.1**2 / 2) / (0.1 - 0.1**2 / 2)) / 2
    point = norm.sf(norm.isf(0.05) - apart)
    for measure, truth in (
        (PartialAUC(max_fpr=0.1), area),
        (PartialAUC(min_tpr=0.9), area),
        (Sensitivity(specificity=0.95), point),
        (Specificity(sensitivity=0.95), point),
    ):
        table = measured(report, measure).confidence_intervals()
        held = (table["ci_low"] <= truth) & (truth <= table["ci_high"])
        assert held.mean() >= 0.93, measure


def test_the_limit_of_perfect_separation():
    # With one negative per positive, a pair is in the wrong order within the rates with
    # probability e (1 - A).
    y, score = [0] * 6 + [1] * 6, range(12)
    table = GroupAUC.from_predictions(y, score, groups=["a"] * 12, measure=PartialAUC(max_fpr=0.9))
    table = table.confidence_intervals()
    area = 1 - (1 - 0.025 ** (1 / 6)) / 0.9
    low = (1 - 0.9) / (2 - 0.9) + area / (2 - 0.9)
    assert table.loc["a", "ci_low"] >= low - 1e-12
    assert table.loc["a", "ci_high"] == 1
    assert table.loc["a", "note"] == "perfect separation"


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_intervals_contain_their_values(measure):
    for seed in range(4):
        case = random_case(seed, labels="int", weights=["unit", "float"][seed % 2], most_groups=8)
        found = report_of(case, measure)
        tables = [found.confidence_intervals()]
        tables += [found.confidence_intervals(of="statistics", over=over) for over in
                   ("rows", "groups")]  # fmt: skip
        for table in tables:
            known, values = table.dropna(), table.dropna().iloc[:, 0]
            assert (known["ci_low"] <= values + 1e-12).all()
            assert (values <= known["ci_high"] + 1e-12).all()
            missing = table["ci_low"].isna()
            assert (missing == table["ci_high"].isna()).all()
            assert (table.loc[missing, "note"] != "").all()


@pytest.mark.parametrize("method", ["logit", "delong", "exact"])
def test_intervals_of_whole_aucs_are_those_of_the_auc(method):
    case = random_case(5, labels="int", weights="unit", most_groups=5)
    report = report_of(case)
    way = None if method == "logit" else method
    for of in ("groups", "statistics"):
        whole = measured(report, PartialAUC(max_fpr=1)).confidence_intervals(method=way, of=of)
        auc = report.confidence_intervals(method=method, of=of)
        assert (whole["method"] == auc["method"]).all()
        assert whole["ci_low"].to_numpy() == pytest.approx(auc["ci_low"].to_numpy(), nan_ok=True)
        assert whole.iloc[:, 0].to_numpy() == pytest.approx(auc.iloc[:, 0].to_numpy(), nan_ok=True)
        assert whole["ci_high"].to_numpy() == pytest.approx(auc["ci_high"].to_numpy(), nan_ok=True)


@pytest.mark.parametrize(
    "measure",
    [PartialAUC(max_fpr=0.2), Sensitivity(specificity=0.8), AveragePrecision()],
    ids=repr,
)
def test_limits_of_the_difference_combine_those_of_the_groups(measure):
    y, score, groups = (np.concatenate(parts) for parts in zip(*(
        (*group_rows(seed)[:2], np.full(group_rows(seed)[0].size, seed)) for seed in range(3)
    ), strict=True))  # fmt: skip
    y, score, groups = (np.tile(of, 3) for of in (y, score, groups))
    score += y * np.array([-1.0, 0.0, 1.5])[groups] + np.arange(y.size) / 1e4
    found = GroupAUC.from_predictions(y, score, groups=groups, measure=measure)
    row = found.confidence_intervals(confidence_level=0.9, of="statistics").loc["difference"]

    def furthest(level):
        """Limits of the pairs that they move furthest."""
        each = found.confidence_intervals(confidence_level=level)
        columns = each[[measure.name, "ci_low", "ci_high"]].to_numpy().T
        return [limits.max() for limits in mover_of_pairs(*columns)]

    deviate = studentized_range.ppf(0.9, 3, np.inf) / np.sqrt(2)
    least, _ = furthest(2 * norm.cdf(deviate) - 1)
    assert row["ci_low"] == pytest.approx(max(least, 0), rel=1e-6)
    assert row["ci_high"] == pytest.approx(furthest(0.9)[1])
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert row["value"] == found.statistic("difference")
    test = found.test_difference(confidence_level=0.9)
    assert [test.estimate, test.ci_low, test.ci_high] == row[
        ["value", "ci_low", "ci_high"]
    ].tolist()
    assert 0 < test.pvalue < 0.1, test
    for factor in (0.99, 1.01):
        other = found.test_difference(confidence_level=1 - factor * test.pvalue)
        assert (other.ci_low > 0) == (factor > 1)
    is_shown = "\nThe groups differ" in repr(found)
    assert is_shown == (test.pvalue < 0.05)
    alone = GroupAUC.from_predictions(y, score, groups=np.zeros(y.size), measure=measure)
    row = alone.confidence_intervals(of="statistics").loc["difference"]
    assert np.isnan(row["ci_low"])
    assert row["note"] == "needs two groups with both classes"


def test_the_interval_of_an_average_adds_variances():
    rows = [group_rows(seed, m=12 + seed) for seed in range(3)]
    y, score = (np.concatenate([part[i] for part in rows]) for i in (0, 1))
    groups = np.repeat(np.arange(3), [part[0].size for part in rows])
    report = GroupAUC.from_predictions(y, score, groups=groups)
    curves, measure = GroupCurves.of(report.counts), PartialAUC(max_fpr=0.5)
    variance, freedom = measuring.logit_errors_of(curves, measuring.influence_of(measure, curves))
    share = np.array([12, 13, 14]) / 39
    low, high = measure.scale
    value = np.average(by_group_of(measure, y, score, groups), weights=share)
    index = (value - low) / (high - low)
    total = (share**2 * variance).sum()
    degrees = total**2 / ((share**2 * variance) ** 2 / freedom).sum()
    reach = t.isf(0.05, degrees) * np.sqrt(total) / (index * (1 - index))
    found = (
        measured(report, measure)
        .confidence_intervals(confidence_level=0.9, of="statistics")
        .loc["positives"]
    )
    assert found["value"] == pytest.approx(value)
    limits = low + (high - low) * expit(logit(index) + np.array([-reach, reach]))
    assert found[["ci_low", "ci_high"]].to_numpy(float) == pytest.approx(limits)


def by_group_of(measure, y, score, groups):
    return [expected(measure, y[groups == g], score[groups == g]) for g in np.unique(groups)]


def test_a_bound_replaces_an_unknown_variance():
    # One positive: a number between 0 and 1 with mean A has a variance of at most A (1 - A).
    counts = ScoreCounts.from_predictions([0, 0, 1, 0], [0.1, 0.2, 0.3, 0.4])
    table = GroupAUC(counts, measure=AveragePrecision()).confidence_intervals()
    assert table["average_precision"].tolist() == [0.5]
    assert table["note"].tolist() == ["one positive: variance bounded"]
    limits = expit(norm.isf(0.025) * 0.5 / 0.25 * np.array([-1, 1]))
    assert table[["ci_low", "ci_high"]].to_numpy()[0] == pytest.approx(limits)


@pytest.mark.parametrize("over", ["rows", "groups"])
def test_averages_of_the_average_precision_have_no_interval(over):
    rng = np.random.default_rng(0)
    y, groups = rng.random(300) < 0.3, np.repeat(["a", "b", "c"], 100)
    report = GroupAUC.from_predictions(y, rng.normal(size=300) + y, groups=groups)
    table = measured(report, AveragePrecision()).confidence_intervals(of="statistics", over=over)
    averages = table.loc[["macro", "samples", "positives", "negatives", "within"]]
    assert averages["value"].between(0, 1).all()
    assert averages[["ci_low", "ci_high"]].isna().all(axis=None)
    assert set(averages["note"]) == {
        "no interval: averages of the average precision of few rows are biased"
    }
    assert table.loc[["pooled", "worst"], ["ci_low", "ci_high"]].notna().all(axis=None)


def arrangements(y, bins):
    """All scores within bins: each row has one of as many places as rows in its bin."""
    places = [np.arange(1, (bins == b).sum() + 1) / 10 for b in bins]
    for offsets in itertools.product(*places):
        yield bins + np.array(offsets)


@pytest.mark.parametrize("measure", CURVE_MEASURES, ids=repr)
def test_certain_intervals_are_those_of_all_possible_scores(measure):
    rng = np.random.default_rng(1)
    for bins in ([0, 0, 0, 1], [0, 0, 1, 1, 2], [0, 0, 1, 1, 2]):
        bins = np.array(bins)
        y = rng.permutation(np.arange(bins.size) % 2)
        values = [expected(measure, y, scores) for scores in arrangements(y, bins)]
        lowest, highest = (bins + np.where(y == side, 0.1, 0.9) for side in (1, 0))
        counts = [ScoreCounts.from_predictions(y, scores) for scores in (lowest, highest)]
        low, high = measuring.bounds_of(measure, *map(GroupCurves.of, counts))
        scale = measure.scale
        low, high = (scale[0] + (scale[1] - scale[0]) * end[0] for end in (low, high))
        assert low == pytest.approx(min(values), abs=1e-12)
        assert high == pytest.approx(max(values), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_certain_intervals_contain_the_values_of_exact_scores(measure):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        weights = ["unit", "float"][seed % 2]
        case = random_case(seed, labels="int", weights=weights, most_groups=6)
        case = case._replace(scores=rng.random(case.y.size) * 0.02)
        counts = ScoreCounts.from_predictions(**case.arguments, disclosure="bins")
        found = GroupAUC(counts, undefined="ignore", measure=measure)
        truth = report_of(case, measure)
        table = found.bounds(of="groups")
        values = truth.by_group[measure.name]
        known = ~values.isna().to_numpy()
        assert (table["low"] <= values + 1e-12)[known].all()
        assert (values <= table["high"] + 1e-12)[known].all()
        assert (table["low"] <= table["value"])[known].all()
        assert (table["value"] <= table["high"])[known].all()
        table, values = found.bounds(), truth.statistics()
        known = ~(values.isna() | table["low"].isna())  # tau has no certain interval
        assert (table["low"] <= values + 1e-12)[known].all()
        assert (values <= table["high"] + 1e-12)[known].all()
        # The limits are the limits at the ends of the ranges.
        ends = found.bounds(of="groups")
        limits = found.confidence_intervals().dropna()
        assert (limits["ci_low"] <= ends.loc[limits.index, "low"] + 1e-9).all()
        assert (limits["ci_high"] >= ends.loc[limits.index, "high"] - 1e-9).all()


def test_certain_intervals_of_ranges_that_overlap():
    # The ranges of both positives contain 1.5, so both positives can be tied.
    assert certain([5, 0, 1], [5, 2, 3], [0, 1, 1]) == pytest.approx((7 / 12, 2 / 3))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.array([0, 0, 1, 1, 1])
        low = rng.integers(0, 4, y.size)
        high = low + rng.integers(0, 3, y.size)
        places = [np.arange(a, b + 0.5, 0.5) for a, b in zip(low, high, strict=True)]
        values = [average_precision_score(y, scores) for scores in itertools.product(*places)]
        least, most = certain(low, high, y)
        assert least <= min(values) + 1e-12
        assert max(values) <= most + 1e-12


def certain(low, high, y):
    """Return the certain interval of the average precision of rows with ranges of scores."""
    y, low, high = np.asarray(y), np.asarray(low, float), np.asarray(high, float)
    # Cells of a group with equal scores would be added.
    score = low + (high - low) * np.linspace(0.3, 0.6, y.size)
    counts = ScoreCounts.from_counts(None, score, 1 - y, y, score_low=low, score_high=high)
    table = GroupAUC(counts, measure=AveragePrecision()).bounds(of="groups")
    value, least, most = table.to_numpy()[0]
    assert value == pytest.approx((least + most) / 2)
    return least, most


def test_summaries_have_whole_aucs_only():
    counts = ScoreCounts.from_predictions(
        [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=list("aabb"), disclosure="summary"
    )
    report = GroupAUC(counts)
    assert measured(report, PartialAUC(max_fpr=1)).statistic("macro") == 1.0
    assert "pooled" not in measured(report, PartialAUC(max_fpr=1)).statistics()
    with pytest.raises(DisclosureError, match="pooled"):
        measured(report, PartialAUC(max_fpr=1)).statistic("pooled")
    for measure in MEASURES:
        if not measure.is_auc:
            with pytest.raises(DisclosureError, match=f"the measure '{measure.name}' needs"):
                measured(report, measure)


def test_what_is_for_aucs_only_says_so():
    y, score, _ = group_rows(0)
    part = PartialAUC(max_fpr=0.5)
    report = GroupAUC.from_predictions(y, score, groups=np.arange(y.size) % 2, measure=part)
    calls = {
        "agreement": report.agreement,
        "abroca": report.abroca,
        "bias_by_group": lambda: report.bias_by_group,
        "compare_groups": report.compare_groups,
        "cross_matrix": lambda: report.cross_matrix,
        "decomposition": report.decomposition,
        "ranking": report.ranking,
        "test_equal_groups": report.test_equal_groups,
        "test_margin": lambda: report.test_margin(0.1),
        "FairnessAudit": lambda: FairnessAudit(report),
        "RankingDisplay.from_report": lambda: RankingDisplay.from_report(report),
        "rows_needed": lambda: rows_needed(report, width=0.1),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"{name} is for AUCs, and this report has measure="):
            call()
    with pytest.raises(ValueError, match="'tau' is for AUCs only"):
        _ = report.tau


def test_the_first_lines_and_the_display_show_the_measure():
    y, score, _ = group_rows(0)
    groups = np.where(np.arange(y.size) % 2, "b", "a")
    report = GroupAUC.from_predictions(y, score, groups=groups, measure=AveragePrecision())
    first, *lines = repr(report).splitlines()
    assert first.startswith("Average precision over 2 groups")
    table = report.confidence_intervals()
    for name, row in table.iterrows():
        told = f"{row.average_precision:.3f}  {row.ci_low:.3f} to {row.ci_high:.3f}"
        assert any(line.split()[:1] == [name] and told in line for line in lines)
    clustered = {"clusters": np.arange(y.size) // 2, "measure": AveragePrecision()}
    assert "\ndifference 0." in repr(
        GroupAUC.from_predictions(y, score, groups=groups, **clustered)
    )
    display = GroupAUCDisplay.from_report(report)
    np.testing.assert_allclose(display.table.iloc[:, :3], table.iloc[:, :3])
    assert display.ax_.get_xlabel().startswith("average precision and 95 % interval")


def test_replacements_are_values_of_the_measure():
    rows = {"y_true": [0, 1, 0, 0], "y_score": [0.1, 0.2, 0.3, 0.4], "groups": list("aabb")}
    measure = PartialAUC(max_fpr=0.1)
    message = r"undefined must be .* number from 0.47.* to 1.0, the range of partial AUC.* got 0.4"
    for make in (
        lambda: group_roc_auc_score(**rows, measure=measure, undefined=0.4),
        lambda: GroupAUC.from_predictions(**rows, undefined=0.4, measure=measure),
        lambda: make_group_auc_scorer("macro", groups="g", measure=measure, undefined=0.4),
        lambda: group_auc_scoring(["macro"], groups="g", measure=measure, undefined=0.4),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    for other in (measure, PartialAUC(max_fpr=1), AveragePrecision()):
        low, high = other.scale
        for value in (max(low, 0.0), high):
            found = GroupAUC.from_predictions(**rows, undefined=value, measure=other)
            table = found.confidence_intervals(of="statistics", over="rows").loc["macro"]
            assert table["ci_low"] <= table["value"] <= table["ci_high"]


@pytest.mark.parametrize(
    "measure", [PartialAUC(max_fpr=1), PartialAUC(max_fpr=0.5), AveragePrecision()], ids=repr
)
def test_intervals_and_statistics_use_the_same_replacement(measure):
    y, score, _ = group_rows(0)
    report = GroupAUC.from_predictions(
        [*y, 0], [*score, 0.5], groups=["a"] * y.size + ["b"], undefined=0.5
    )
    found = measured(report, measure)
    own = expected(measure, y, score)
    table = found.confidence_intervals(of="statistics", over="rows")
    for name, value in (("macro", (own + 0.5) / 2), ("worst", min(own, 0.5))):
        assert found.statistic(name) == pytest.approx(value)
        assert table.loc[name, "value"] == pytest.approx(value)
    # The number that replaces one of two AUCs has no variance, so half of the interval remains.
    of_a = found.confidence_intervals().loc["a"]
    width = table.loc["macro", "ci_high"] - table.loc["macro", "ci_low"]
    assert width == pytest.approx((of_a["ci_high"] - of_a["ci_low"]) / 2, rel=0.2)


def test_no_groups_and_no_rows():
    counts = ScoreCounts.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    for measure in MEASURES:
        found = GroupAUC(counts, measure=measure)
        assert found.statistic("pooled") == found.statistic("macro")
    grouped = GroupAUC.from_predictions([0, 1], [0.1, 0.2], groups=["a", "a"], undefined="ignore")
    empty = GroupAUC(grouped._estimates.pairs, min_per_class=9)
    for measure in MEASURES:
        found = measured(empty, measure)
        assert found.statistics().isna().all()
        assert found.confidence_intervals().empty
        if not measure.is_auc:
            table = found.confidence_intervals(of="statistics")
            assert table["ci_low"].isna().all()


def rows_of_sites(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=n), "site": np.arange(n) % 3})
    return X, (X["dose"] + rng.normal(size=n) > 0.5).astype(int)


def test_scorers_equal_the_function():
    X, y = rows_of_sites()
    measure = PartialAUC(max_fpr=0.2)
    scoring = group_auc_scoring(
        ["pooled", "worst", "neg_difference"], groups="site", each_group=[1], measure=measure
    )
    assert list(scoring) == [
        "pooled_partial_auc_max_fpr_0.2",
        "worst_partial_auc_max_fpr_0.2",
        "neg_difference_partial_auc_max_fpr_0.2",
        "partial_auc_max_fpr_0.2_1",
    ]
    model = LogisticRegression().fit(X, y)
    score = model.decision_function(X)
    rows = {"y_true": y, "y_score": score, "groups": X["site"], "measure": measure}
    for name, scorer in scoring.items():
        found = scorer(model, X, y)
        if name == "partial_auc_max_fpr_0.2_1":
            assert found == GroupAUC.from_predictions(**rows).by_group.loc[1].iloc[0]
            continue
        statistic = name.removesuffix("_partial_auc_max_fpr_0.2")
        value = group_roc_auc_score(**rows, statistic=statistic.removeprefix("neg_"))
        assert found == (-value if statistic.startswith("neg_") else value)
        assert scorer.__name__ == name
    assert repr(scoring["worst_partial_auc_max_fpr_0.2"]) == (
        "make_group_auc_scorer('worst', groups='site', measure=PartialAUC(max_fpr=0.2))"
    )


def test_reports_within_folds_have_whole_aucs_only():
    X, y = rows_of_sites(300)
    result = cross_validate_group_auc(LogisticRegression(), X, y, groups="site", cv=3)
    report = result.within_folds
    whole = measured(report, PartialAUC(max_fpr=1)).statistic("pooled")
    assert whole == pytest.approx(report.pooled, abs=1e-14)
    with pytest.raises(ValueError, match="not available within folds"):
        measured(report, AveragePrecision())


def test_limits_of_partial_areas_near_one_cover():
    m, n, n_groups, rng = 10, 1000, 300, np.random.default_rng(0)
    apart = norm.ppf(0.99) * np.sqrt(2)
    score = rng.normal(size=(n_groups, m + n)) + apart * (np.arange(m + n) < m)
    y, groups = np.tile(np.arange(m + n) < m, n_groups), np.repeat(np.arange(n_groups), m + n)
    rates = (np.arange(20_000) + 0.5) / 40_000
    area = norm.cdf(apart + norm.ppf(rates)).mean() / 2
    true = (1 + (area - 1 / 8) / (1 / 2 - 1 / 8)) / 2
    measure = PartialAUC(max_fpr=0.5)
    report = GroupAUC.from_predictions(y, score.ravel(), groups=groups, measure=measure)
    table = report.confidence_intervals()
    assert ((table["ci_low"] <= true) & (true <= table["ci_high"])).mean() > 0.95
