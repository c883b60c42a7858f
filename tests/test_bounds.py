"""Certain intervals of binned scores, checked against all pairs of the exact rows."""

import itertools
import re

import numpy as np
import pytest
from oracles import STATISTICS, Case, all_pairs, random_case
from rules import rule

from skfedauc import Bins, DisclosureError, FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.audit import QUESTIONS
from skfedauc.audit.answers import answer
from skfedauc.counts.score_counts import extremes_of, select_groups
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.inference.equal_groups import nearest_to_equal
from skfedauc.pairs import GroupPairs
from skfedauc.report.statistics import STATISTICS as ENTRIES

KINDS = (
    Bins.of_probabilities(),
    Bins.of_probabilities(octaves=2, parts=1),
    Bins.of_scores(parts=2),
    Bins.at([0.5]),
    Bins.at([0.1, 0.3, 0.32, 0.5, 0.9]),
)
# The ends of the intervals of these statistics are possible values of the statistic.
MONOTONE = set(STATISTICS) - {"tau", "ratio", "difference", "cross_difference"}


def case_of(seed, weights=None, most_groups=8):
    """Return random rows with scores from 0 to 1, of which many are tied or points."""
    case = random_case(seed, weights=weights or "unit", labels="int", most_groups=most_groups)
    rng = np.random.default_rng(seed)
    pool = [0.0, 1.0, 0.5, 0.3, *rng.random(6), *rng.beta(0.3, 2, 30)]
    return case._replace(scores=rng.choice(pool, case.y.size))


def binned(case, bins):
    return ScoreCounts.from_predictions(**case.arguments, disclosure=bins)


def at_ends(case, low, high):
    """Return the rows with the lowest and with the highest AUCs that the ranges permit."""
    positive = case.y == 1
    return (
        case._replace(scores=np.where(positive, low, high)),
        case._replace(scores=np.where(positive, high, low)),
    )


def assert_holds(table, truth, name, tolerance=0.0):
    value, low, high = table.loc[name]
    expected = truth.statistics[name]
    if np.isnan(expected):
        return
    assert low - tolerance <= expected <= high + tolerance, (name, low, expected, high)
    assert np.isnan(value) or low <= value <= high


def number_of_wide(table, lowest, highest):
    """Check the ends of monotone statistics; return the number of intervals with some width."""
    n_wide = 0
    for name in MONOTONE:
        ends = [end.statistics[name] for end in (lowest, highest)]
        found = table.loc[name, ["low", "high"]].tolist()
        assert found == pytest.approx(ends, nan_ok=True, abs=1e-10)
        n_wide += ends[1] - ends[0] > 1e-3
    return n_wide


@pytest.mark.parametrize("weights", ["unit", "far apart"])
@pytest.mark.parametrize("bins", KINDS, ids=repr)
def test_bounds_hold_the_exact_value_and_are_those_of_possible_rows(bins, weights):
    n_wide = n_undefined = 0
    for seed in range(4):
        case = case_of(seed, weights)
        if not case.y.size:
            continue
        # The bounds cover their own rounding error of sums of weights, but not the oracle's error.
        tolerance = 1e-14 if weights == "unit" else 1e-12
        low, high = bins.ranges_of(bins.numbers_of(case.scores))
        report = GroupAUC(binned(case, bins), undefined="ignore")
        table, of_groups = report.bounds(), report.bounds(of="groups")
        truth = all_pairs(case)
        lowest, highest = (all_pairs(end) for end in at_ends(case, low, high))
        assert table.index.tolist() == list(STATISTICS)
        assert table["value"].to_dict() == pytest.approx(
            report.statistics().to_dict(), nan_ok=True, abs=0
        )
        for name in set(STATISTICS) - {"tau"}:
            assert_holds(table, truth, name, tolerance)
            n_undefined += np.isnan(truth.statistics[name])
        n_wide += number_of_wide(table, lowest, highest)
        assert np.isnan(table.loc["tau", ["low", "high"]].tolist()).all()
        np.testing.assert_allclose(of_groups["low"], lowest.auc, rtol=0, atol=1e-11)
        np.testing.assert_allclose(of_groups["high"], highest.auc, rtol=0, atol=1e-11)
        np.testing.assert_array_equal(of_groups["value"], report._estimates.pairs.auc)
        defined = ~np.isnan(truth.auc)
        assert (of_groups["low"] - tolerance <= truth.auc)[defined].all()
        assert (truth.auc <= of_groups["high"] + tolerance)[defined].all()
        # Bins do not overlap, so each group AUC is in the middle of its interval.
        middle = (of_groups["low"] + of_groups["high"]) / 2
        assert of_groups["value"].to_numpy() == pytest.approx(middle.to_numpy(), nan_ok=True)
    assert n_wide > 10
    assert n_undefined > 0


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_if_ranges_overlap(seed):
    """Cells that were joined can overlap with cells of other groups, and with each other."""
    case = case_of(seed, most_groups=6)
    rng = np.random.default_rng(seed)
    n = case.y.size
    low, high = case.scores - rng.random(n) * 0.3, case.scores + rng.random(n) * 0.3
    counts = ScoreCounts.from_counts(
        case.groups, rng.uniform(low, high), 1 - case.y, case.y, score_low=low, score_high=high
    )
    report = GroupAUC(counts, undefined="ignore")
    table, truth = report.bounds(), all_pairs(case)
    for name in set(STATISTICS) - {"tau"}:
        assert_holds(table, truth, name, 1e-14)
    number_of_wide(table, *map(all_pairs, at_ends(case, low, high)))


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_gaps_are_the_widest_over_all_ends_of_the_groups(seed):
    """Each group can be at its own lowest or highest AUC, for any AUCs of the other groups."""
    rng = np.random.default_rng(seed)
    bins, n = Bins.at([0.25, 0.5, 0.75]), 24
    case = Case(rng.integers(0, 2, n), rng.random(n), [int(g) for g in np.arange(n) % 3], None)
    low, high = bins.ranges_of(bins.numbers_of(case.scores))
    groups, table = np.array(case.groups), GroupAUC(binned(case, bins)).bounds()
    extremes = [end.scores for end in at_ends(case, low, high)]
    differences, ratios = [], []
    for chosen in itertools.product((0, 1), repeat=3):
        of_row = np.array(chosen)[groups]
        scores = np.where(of_row == 1, extremes[1], extremes[0])
        found = all_pairs(case._replace(scores=scores)).statistics
        differences.append(found["difference"])
        ratios.append(found["ratio"])
    assert table.loc["difference", "high"] == pytest.approx(max(differences))
    assert table.loc["difference", "low"] <= min(differences)
    assert table.loc["ratio", "low"] == pytest.approx(min(ratios))
    assert table.loc["ratio", "high"] >= max(ratios)
    # The cross AUCs of g over h and of h over g share no row: any mixture of classes is possible.
    cross = []
    for positives, negatives in itertools.product(itertools.product((0, 1), repeat=3), repeat=2):
        of_row = np.where(case.y == 1, np.array(positives)[groups], np.array(negatives)[groups])
        scores = np.where(of_row == 1, extremes[1], extremes[0])
        cross.append(all_pairs(case._replace(scores=scores)).statistics["cross_difference"])
    assert table.loc["cross_difference", "high"] == pytest.approx(max(cross))
    assert table.loc["cross_difference", "low"] <= min(cross)


@pytest.mark.filterwarnings("ignore:y_score holds only 0 and 1")
def test_bounds_of_exact_counts_and_of_points_are_the_values():
    case = case_of(3)
    exact = GroupAUC(ScoreCounts.from_predictions(**case.arguments), undefined="ignore")
    for table in (exact.bounds(), exact.bounds(of="groups")):
        np.testing.assert_array_equal(table["low"], table["value"])
        np.testing.assert_array_equal(table["high"], table["value"])
    assert "binned" not in repr(exact) + exact._repr_html_()
    assert not exact.confidence_intervals()["note"].str.contains("binned").any()
    # 0 and 1 are bins of their own.
    points = case._replace(scores=(case.scores > 0.4).astype(float))
    report = GroupAUC(binned(points, Bins.of_probabilities()), undefined="ignore")
    table = report.bounds().drop(index=["tau", "bias_score", "cross_difference"])
    np.testing.assert_array_equal(table["low"], table["value"])
    np.testing.assert_array_equal(table["high"], table["value"])


def test_pairs_within_folds_have_bounds():
    bins, n_wide = Bins.at([0.2, 0.4, 0.6]), 0
    for seed in range(6):
        case = case_of(seed, most_groups=6)
        fold = np.arange(case.y.size) % 3
        if case.y.size < 12:
            continue
        pairs = GroupPairs(
            binned(case, bins), [binned(case.take(fold == number), bins) for number in range(3)]
        )
        table = GroupAUC(pairs, undefined="ignore").bounds()
        truth = all_pairs(case, fold=fold)
        low, high = bins.ranges_of(bins.numbers_of(case.scores))
        ends = [all_pairs(end, fold=fold) for end in at_ends(case, low, high)]
        for name in set(STATISTICS) - {"tau"}:
            assert_holds(table, truth, name, 1e-14)
        n_wide += number_of_wide(table, *ends)
    assert n_wide > 10


def wide_case(seed=0, n=900, n_groups=3, shift=0.0):
    rng = np.random.default_rng(seed)
    y, group = rng.integers(0, 2, n), np.arange(n) % n_groups
    scores = rng.normal(y * (1.0 + shift * (group == 0)), 1.0)
    return Case(y, 1 / (1 + np.exp(-scores)), [int(g) for g in group], None)


COARSE = Bins.of_probabilities(octaves=4, parts=4)


@pytest.mark.parametrize("method", ["logit", "delong", "exact"])
@pytest.mark.parametrize("over", ["rows", "groups"])
def test_limits_are_those_of_both_extremes(method, over):
    counts = binned(wide_case(), COARSE)
    report, *ends = map(GroupAUC, (counts, *extremes_of(counts)))
    found, low, high = (
        of.confidence_intervals(method=method, of="statistics", over=over) for of in (report, *ends)
    )
    monotone = [name for name, of in ENTRIES.items() if of.limits and name != "difference"]
    np.testing.assert_allclose(found["value"][monotone], report.statistics()[monotone], rtol=1e-15)
    np.testing.assert_array_equal(found["ci_low"][monotone], low["ci_low"][monotone])
    np.testing.assert_array_equal(found["ci_high"][monotone], high["ci_high"][monotone])
    by_group, low, high = (of.confidence_intervals(method=method) for of in (report, *ends))
    np.testing.assert_array_equal(by_group["ci_low"], low["ci_low"])
    np.testing.assert_array_equal(by_group["ci_high"], high["ci_high"])
    for table, bounds in ((found, report.bounds()), (by_group, report.bounds(of="groups"))):
        for name, row in table.iterrows():
            pattern = r"scores are binned: certainly ([\d.]+) to ([\d.]+)$"
            ends = [float(end) for end in re.search(pattern, row["note"]).groups()]
            # Rounding never shortens the interval.
            value, least, most = bounds.loc[name]
            assert least - 1e-4 < ends[0] <= least <= value <= most <= ends[1] < most + 1e-4
            # Some statistics have no interval of this method.
            assert np.isnan(row["ci_low"]) or row["ci_low"] <= least <= most <= row["ci_high"]


def test_the_interval_of_the_difference_covers_both_extremes():
    """The lower limit is the limit of a difference of lowest and highest AUCs."""
    counts = binned(wide_case(1, shift=3.0), COARSE)
    report = GroupAUC(counts)
    found = report.confidence_intervals(of="statistics").loc["difference"]
    test = report.test_difference()
    assert [test.ci_low, test.ci_high] == found[["ci_low", "ci_high"]].tolist()
    low, high = report.bounds().loc["difference", ["low", "high"]]
    assert 0 < test.ci_low < low <= test.estimate <= high < test.ci_high
    # Rows in which group 0 is at its lowest AUC and the other groups are at their highest.
    lowest, highest = extremes_of(counts)
    mixed = ScoreCounts.merge([select_groups(lowest, [0]), select_groups(highest, [1, 2])])
    of_mixed = GroupAUC(mixed).test_difference()
    assert test.ci_low == pytest.approx(of_mixed.ci_low, abs=1e-12)
    assert test.pvalue == pytest.approx(of_mixed.pvalue, rel=1e-9)
    assert test.clearest == of_mixed.clearest
    compared = report.compare_groups()
    assert compared["pvalue_adjusted"].min() == pytest.approx(test.pvalue, rel=1e-9)


@pytest.mark.parametrize("reference", [None, "rest", 1])
def test_comparisons_are_at_least_as_cautious_as_with_any_mixture_of_ends(reference):
    counts = binned(wide_case(2, shift=2.0), COARSE)
    ends = extremes_of(counts)
    found = GroupAUC(counts).compare_groups(reference)
    n_clear = 0
    for chosen in itertools.product((0, 1), repeat=3):
        mixed = ScoreCounts.merge([select_groups(ends[end], [g]) for g, end in enumerate(chosen)])
        table = GroupAUC(mixed).compare_groups(reference)
        if reference != "rest":  # "rest" also uses variances of all groups together
            assert (found["pvalue_adjusted"] >= table["pvalue_adjusted"] - 1e-9).all()
        assert (found["ci_low"] <= table["difference"]).all()
        assert (found["ci_high"] >= table["difference"]).all()
        n_clear += (table["pvalue"] < 0.01).sum()
    assert n_clear > 5
    for p, limits in (("pvalue", "ci"), ("pvalue_adjusted", "simultaneous")):
        excludes = (found[f"{limits}_low"] > 0) | (found[f"{limits}_high"] < 0)
        assert ((found[p] < 0.05) == excludes).all()


def test_equal_groups_are_compared_at_their_most_equal_aucs():
    fine, coarse = Bins.of_probabilities(octaves=20, parts=1024), COARSE
    case = wide_case(3, n=3000, shift=0.4)
    exact = GroupAUC.from_predictions(case.y, case.scores, groups=case.groups).test_equal_groups()
    narrow = GroupAUC(binned(case, fine)).test_equal_groups()
    wide = GroupAUC(binned(case, coarse)).test_equal_groups()
    assert exact.pvalue <= narrow.pvalue < 1.1 * exact.pvalue < 0.01 < wide.pvalue
    assert narrow.method.endswith("; binned scores: AUCs as nearly equal as possible")
    assert narrow.n_groups == 3
    one_bin = GroupAUC(binned(case, Bins.at([0.999999]))).test_equal_groups()
    assert one_bin.pvalue == pytest.approx(1.0)


def test_the_most_equal_aucs_have_the_smallest_variance():
    rng = np.random.default_rng(0)

    def spread(aucs, weight):
        centers = (aucs * weight).sum(axis=-1, keepdims=True) / weight.sum()
        return (weight * (aucs - centers) ** 2).sum(axis=-1)

    for _ in range(20):
        n_groups = int(rng.integers(2, 6))
        low, weight = rng.random(n_groups), rng.integers(1, 50, n_groups)
        high = low + rng.random(n_groups) * 0.3
        found = nearest_to_equal(low, high, weight)
        assert ((low <= found) & (found <= high)).all()
        others = rng.uniform(low, high, (2000, n_groups))
        assert spread(found, weight) <= spread(others, weight).min() + 1e-15


def test_disparities_are_tested_at_the_possible_value_nearest_to_zero():
    case = wide_case(5, n=600, shift=0.0)
    shifted = np.clip(case.scores + 0.2 * (np.array(case.groups) == 0), 0, 1)
    counts = binned(case._replace(scores=shifted), COARSE)
    found = cross_gaps(counts)
    lowest, highest = extremes_of(counts)
    biases = [GroupAUC(end).bias_by_group for end in (lowest, highest)]
    ends = [
        (biases[0]["bnsp_auc"] - biases[1]["bpsn_auc"]).to_numpy(),
        (biases[1]["bnsp_auc"] - biases[0]["bpsn_auc"]).to_numpy(),
    ]
    np.testing.assert_allclose([found.lowest[0], found.highest[0]], ends, atol=1e-12)
    low, high = found.limits(0.95)
    assert (np.diff([low, ends[0], found.disparity, ends[1], high], axis=0) >= 0).all()
    exact = cross_gaps(ScoreCounts.from_predictions(case.y, shifted, groups=case.groups))
    assert (found.pvalue >= exact.pvalue - 1e-12).all()
    assert found.pvalue[0] < 0.01
    may_be_zero = (ends[0] <= 0) & (ends[1] >= 0)
    assert found.pvalue[may_be_zero].tolist() == [1.0] * may_be_zero.sum()


def test_equivalence_holds_for_every_difference_that_the_bins_permit():
    case = wide_case(6, n=6000)
    fine = GroupAUC(binned(case, Bins.of_probabilities(octaves=20, parts=1024)))
    coarse = GroupAUC(binned(case, COARSE))
    exact = GroupAUC.from_predictions(case.y, case.scores, groups=case.groups).agreement(0.01)
    assert (exact.table["equivalent_to_pooled"] == "yes").all()
    assert (fine.agreement(0.01).table["equivalent_to_pooled"] == "yes").all()
    found = coarse.agreement(0.01).table
    assert (found["equivalent_to_pooled"] == "cannot tell").all()
    bounds = coarse.bounds()
    for name, row in found.iterrows():
        widest = bounds.loc["pooled", "high"] - bounds.loc[name, "low"]
        assert row["ci_high"] > widest
        true = exact.table.loc[name, "difference"]
        assert row["ci_low"] < true < row["ci_high"]
    for name in ("positives", "negatives"):
        assert abs(exact.table.loc[name, "difference"]) <= found.loc[name, "bound"]


def test_an_audit_never_claims_more_than_the_exact_scores():
    case = wide_case(7, n=1500, shift=1.0)
    audit = FairnessAudit(GroupAUC(binned(case, Bins.of_probabilities())))
    exact = FairnessAudit.from_predictions(case.y, case.scores, groups=case.groups)
    # 0.5 is an edge, so decisions and their rates are exact.
    rates = ["selection_rate", "true_positive_rate", "false_positive_rate"]
    assert audit.facts["threshold"] == 0.5
    assert (audit.by_group()[rates] == exact.by_group()[rates]).all(axis=None)
    for name in ("difference", "xauc_disparity"):
        found, truth = (of.answers["group"][name] for of in (audit, exact))
        assert found.pvalue / found.n_claims >= truth.pvalue / truth.n_claims - 1e-9
        found, truth = (answer(QUESTIONS[name], of.samples["group"]) for of in (audit, exact))
        assert found.ci_low <= truth.ci_low + 1e-12
        assert found.ci_high >= truth.ci_high - 1e-12
    needs = audit.answers["group"]["calibration_difference"].missing
    assert needs == "exact scores that are probabilities"


def test_thresholds_within_a_bin_are_refused():
    case = wide_case(8)
    report = GroupAUC(binned(case, Bins.of_probabilities(octaves=2, parts=1)))
    expected = FairnessAudit.from_predictions(
        case.y, case.scores, groups=case.groups, threshold=0.25
    )
    found = FairnessAudit(report, threshold=0.25)
    assert (found.by_group()["selection_rate"] == expected.by_group()["selection_rate"]).all()
    message = r"^the decisions at threshold=0\.3 are unknown: it is within .* from 0\.25 to 0\.5\."
    with pytest.raises(DisclosureError, match=message):
        FairnessAudit(report, threshold=0.3)
    assert FairnessAudit(report, threshold=None).decisions is None
    # 0.5 is an edge, but without bins of probabilities there is no threshold of its own.
    assert FairnessAudit(GroupAUC(binned(case, Bins.at([0.5])))).facts["threshold"] is None


def heights_at(corners, x):
    """Return the lowest and the highest point of a curve at x, from its corners."""
    on_line = [*corners[corners[:, 0] == x, 1], np.interp(x, *corners.T)]
    return min(on_line), max(on_line)


def test_the_band_of_a_roc_curve_holds_the_curve_of_the_exact_scores():
    plt = pytest.importorskip("matplotlib.pyplot")
    from skfedauc.plotting import GroupRocCurveDisplay

    case = wide_case(9, n=300)
    bins = Bins.of_probabilities(octaves=3, parts=2)
    display = GroupRocCurveDisplay.from_report(GroupAUC(binned(case, bins)))
    exact = GroupRocCurveDisplay.from_report(
        GroupAUC(ScoreCounts.from_predictions(**case.arguments))
    )
    assert set(display.bands_) == {"pooled", 0, 1, 2}
    assert exact.bands_ == {}
    table = GroupAUC(binned(case, bins)).bounds(of="groups")
    for g, band in enumerate(curve.band for curve in display.curves):
        ends = np.flatnonzero((band == 1).all(axis=1))
        lowest, highest = band[: ends[0] + 1], band[ends[0] + 1 :][::-1]
        areas = [np.trapezoid(curve[:, 1], curve[:, 0]) for curve in (lowest, highest)]
        assert areas == pytest.approx(table.loc[g, ["low", "high"]].tolist())
        for x, y in zip(*exact.curves[g][:2], strict=True):
            assert heights_at(lowest, x)[0] - 1e-12 <= y <= heights_at(highest, x)[1] + 1e-12
    plt.close(display.figure_)
    plt.close(exact.figure_)


def test_values_of_overlapping_ranges_are_in_the_middle_of_their_intervals():
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(12):
        y = np.repeat([1, 0], [12, 300])
        scores, groups = 1 / (1 + np.exp(-rng.normal(-2, 1, 312))), rng.choice(["a", "b"], 312)
        counts = ScoreCounts.from_predictions(y, scores, groups=groups)
        sent = counts.regroup({"a": "all", "b": "all"}).reduced(rule("bins", min_count=10))
        report = GroupAUC(sent, undefined="ignore")
        table = report.bounds().drop(["tau", "bias_score"]).dropna()
        monotone = table.drop(["difference", "ratio", "cross_difference"], errors="ignore")
        middle = (monotone["low"] + monotone["high"]) / 2
        np.testing.assert_allclose(monotone["value"], middle, atol=1e-12)
        assert report.by_group["auc"].iloc[0] == pytest.approx(middle["pooled"])
        intervals = report.confidence_intervals(of="statistics")
        assert intervals.loc["pooled", "value"] == pytest.approx(middle["pooled"])
        errors.append(report.pooled - GroupAUC(counts).pooled)
    # If each range had the rank of its score, the error would be 0.36.
    assert abs(np.mean(errors)) < 0.1
    both = ScoreCounts.merge([sent, sent.regroup(lambda label: "other")])
    report = GroupAUC(both)
    cross = (
        GroupAUC(extremes_of(both)[0]).cross_matrix + GroupAUC(extremes_of(both)[1]).cross_matrix
    )
    np.testing.assert_allclose(report.cross_matrix, cross / 2, atol=1e-12)
    assert report.compare_groups().loc[("all", "other"), "auc"] == report.by_group["auc"].iloc[0]
