"""Audits compared with fairlearn on rows, and with the reports that they use."""

import collections
import dataclasses
import datetime
import html
import itertools
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    false_positive_rate,
    false_positive_rate_difference,
    selection_rate,
    true_positive_rate,
    true_positive_rate_difference,
)
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from oracles import LABELS, random_case
from scipy.stats import chi2_contingency, hypergeom
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    RepeatedStratifiedKFold,
    TunedThresholdClassifierCV,
)
from statsmodels.stats.multitest import multipletests

from skfedauc import (
    AuditComparison,
    FairnessAudit,
    GroupAUC,
    MitigatedClassifier,
    ScoreCounts,
    cross_validate_group_auc,
)
from skfedauc.audit import decisions
from skfedauc.audit.claims import weighted_holm
from skfedauc.audit.findings import answers
from skfedauc.audit.names import named, named_in
from skfedauc.datasets import make_group_scores
from skfedauc.report import null_difference_of

FUNCTIONS = {
    "demographic_parity_difference": demographic_parity_difference,
    "demographic_parity_ratio": demographic_parity_ratio,
    "equalized_odds_difference": equalized_odds_difference,
    "equalized_odds_ratio": equalized_odds_ratio,
}
RATES = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
}


def people(n=900, seed=0, n_groups=3, weighted=False):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    y = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + y + 0.4 * group)))
    weight = rng.uniform(0.2, 3, n) if weighted else None
    return y, score.round(2), group, weight


def audit_of(y, score, group, weight, **options):
    return FairnessAudit.from_predictions(y, score, groups=group, sample_weight=weight, **options)


# Decisions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_groups", "weighted", "threshold"),
    [
        (2, False, "auto"),
        (7, True, "auto"),
        (7, False, 0.31),
        (2, True, 0.8),
    ],
)
def test_decisions_are_fairlearns(n_groups, weighted, threshold):
    y, score, group, weight = rows = people(n_groups=n_groups, weighted=weighted)
    audit = audit_of(*rows, threshold=threshold)
    decision = (score >= audit.threshold).astype(int)
    direct = {"sensitive_features": group, "sample_weight": weight}
    for name, function in FUNCTIONS.items():
        expected = function(y, decision, **direct)
        assert audit.gaps.loc[name, "value"] == pytest.approx(expected, abs=1e-12)
    frame = MetricFrame(
        metrics=RATES,
        y_true=y,
        y_pred=decision,
        sensitive_features=group,
        sample_params={name: {"sample_weight": weight} for name in RATES},
    )
    np.testing.assert_allclose(audit.by_group[list(RATES)], frame.by_group, rtol=0, atol=1e-12)
    ours = audit.metric_frame
    for method in ("between_groups", "to_overall"):
        np.testing.assert_allclose(ours.difference(method=method), frame.difference(method=method))
        np.testing.assert_allclose(ours.ratio(method=method), frame.ratio(method=method))
    np.testing.assert_allclose(ours.overall, frame.overall)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind):
    y, score, group, _ = people(n_groups=4)
    labels = [LABELS[kind](int(g)) for g in group]
    audit = audit_of(y, score, labels, None)
    assert list(audit.by_group.index) == list(audit.report.by_group.index)
    assert audit.by_group.notna().all(axis=None)
    rate = {label: [] for label in labels}
    for label, s in zip(labels, score, strict=True):
        rate[label].append(s >= 0.5)
    found = audit.by_group["selection_rate"]
    places = dict(zip(audit.report.counts.groups, found, strict=True))
    assert places == pytest.approx({label: np.mean(chosen) for label, chosen in rate.items()})
    assert repr(audit)


def test_a_class_that_is_absent_has_no_rate():
    audit = audit_of([0, 1, 0, 0], [0.1, 0.9, 0.2, 0.8], list("aabb"), None, min_per_class=1)
    rates = audit.by_group[list(RATES)]
    assert rates.loc["a"].tolist() == [0.5, 1.0, 0.0]
    assert rates.loc["b"].fillna(-1).tolist() == [0.5, -1.0, 0.5]
    assert audit.by_group["is_small"].tolist() == [False, True]
    assert any("Fewer than two groups are large enough" in text for text in audit.findings)
    ranking = audit.gaps.index[:6]
    assert audit.gaps.loc[ranking, "value"].isna().all()
    # Both groups have rows and negatives; a true positive rate needs positives.
    assert audit.left_out == {
        "auc": ("b",),
        "selection_rate": (),
        "true_positive_rate": ("b",),
        "false_positive_rate": (),
    }
    assert audit.gaps.loc["demographic_parity_difference", "value"] == 0
    assert audit.gaps.loc["equalized_odds_difference", "rate"] == "false_positive_rate"
    assert audit.gaps.loc["equalized_odds_difference", "value"] == 0.5


def test_expected_parity_differences():
    rng = np.random.default_rng(0)
    sizes, found = np.array([40, 90, 300]), []
    for _ in range(400):
        chosen = [rng.random(size) < 0.3 for size in sizes]
        rates = [c.mean() for c in chosen]
        found.append(max(rates) - min(rates))
    group = np.repeat([0, 1, 2], sizes)
    y = np.arange(group.size) % 2
    score = np.concatenate([np.arange(size) < 0.3 * size for size in sizes]) * 0.5 + 0.25
    audit = audit_of(y, score, group, None)
    assert audit.gaps.loc["demographic_parity_difference", "expected"] == pytest.approx(
        np.mean(found), rel=0.06
    )
    # With equal weights the effective sample size is the number of rows; otherwise it is smaller.
    name = "demographic_parity_difference"
    same, unequal = (audit_of(y, score, group, y * part + 2.0).gaps.loc[name] for part in (0, 30))
    assert same["expected"] == pytest.approx(audit.gaps.loc[name, "expected"], rel=1e-9)
    assert same["pvalue"] == pytest.approx(audit.gaps.loc[name, "pvalue"], rel=1e-9)
    assert unequal["expected"] > 1.2 * same["expected"]


@pytest.mark.parametrize("rate", [0.001, 0.3, 0.999])
def test_null_differences_are_at_most_1(rate):
    sizes = np.random.default_rng(0).integers(1, 400, 2000).astype(float)
    shares = np.full(sizes.size, rate)
    found = decisions.null_difference(shares, sizes)
    drawn = np.random.default_rng(1).binomial(sizes.astype(int), rate, (400, sizes.size)) / sizes
    assert found == pytest.approx(np.ptp(drawn, axis=1).mean(), rel=0.05)
    assert found <= 1
    # With two large groups, the difference is a difference of two normal variables.
    error = np.sqrt(rate * (1 - rate) / 1e8)
    large = decisions.null_difference(shares[:2], np.full(2, 1e8))
    assert large == pytest.approx(2 / np.sqrt(np.pi) * error, rel=0.01)


def test_tests_of_rates_are_chi_squared():
    y, score, group, _ = rows = people(4000, n_groups=4)
    audit, chosen, pvalues = audit_of(*rows, threshold=0.45), score >= 0.45, {}
    kinds = ("selection_rate", "true_positive_rate", "false_positive_rate")
    for name, kept in zip(kinds, (y >= 0, y == 1, y == 0), strict=True):
        table = pd.crosstab(group[kept], chosen[kept])
        pvalues[name] = chi2_contingency(table, correction=False).pvalue
    gaps = audit.gaps["pvalue"]
    for kind in ("difference", "ratio"):
        name = f"demographic_parity_{kind}"
        assert gaps[name] == pytest.approx(pvalues["selection_rate"], rel=1e-9)
        odds = audit.gaps.loc[f"equalized_odds_{kind}"]
        _, of_two, *_ = multipletests([pvalues[rate] for rate in kinds[1:]], method="holm")
        expected = of_two[kinds[1:].index(odds["rate"])]
        assert odds["pvalue"] == pytest.approx(expected, rel=1e-9)
    for rate in kinds[1:]:
        assert gaps[f"{rate}_difference"] == pytest.approx(pvalues[rate], rel=1e-9)
    none = audit_of(*rows, threshold=9)
    assert none.gaps["pvalue"][-6:].tolist() == [1.0] * 6
    assert none.gaps["highest"][-6:].isna().all()


def test_rates_of_few_rows_are_tested_by_their_exact_distribution():
    """With two groups, the p value is a sum over the tables that are at least as unequal."""
    for n, k in (((12, 300), (3, 15)), ((11, 25), (0, 6)), ((10, 4000), (2, 40))):
        sizes, shares = np.array(n, float), np.array(k) / n
        draws = np.arange(0, min(n[0], sum(k)) + 1)
        weights = hypergeom.pmf(draws, sum(n), sum(k), n[0])
        distance = np.abs(draws - n[0] * sum(k) / sum(n))
        expected = weights[distance >= abs(k[0] - n[0] * sum(k) / sum(n)) - 1e-9].sum()
        found = decisions.test_equal_shares(shares, sizes)
        error = np.sqrt(expected * (1 - expected) / 20_000)
        assert found == pytest.approx(expected, abs=5 * error + 1e-4)


def test_equalized_odds_name_the_rate_that_makes_them_with_its_groups_and_p():
    audit = audit_of(*people(n_groups=5), threshold=0.45)
    rates = audit.by_group[["true_positive_rate", "false_positive_rate"]]
    widest = np.ptp(rates, axis=0).argmax()
    smallest = (rates.min() / rates.max()).argmin()
    for kind, rate in (("difference", widest), ("ratio", smallest)):
        row = audit.gaps.loc[f"equalized_odds_{kind}"]
        assert row["rate"] == rates.columns[rate]
        assert row["lowest"] == rates.iloc[:, rate].idxmin()
        assert row["highest"] == rates.iloc[:, rate].idxmax()


def test_the_p_value_of_equalized_odds_is_that_of_the_rate_reported():
    """The rates have a gap of .25 among 12 positives, and of .05 among 20,000 negatives."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], [10_012, 10_012])
    y = np.tile(np.r_[np.ones(12), np.zeros(10_000)], 2).astype(int)
    decided = np.concatenate(
        [np.arange(12) < 6, np.arange(10_000) < 2000, np.arange(12) < 9, np.arange(10_000) < 1500]
    )
    score = rng.random(y.size).round(2)
    audit = FairnessAudit.from_predictions(y, score, groups=group, y_pred=decided)
    row = audit.gaps.loc["equalized_odds_difference"]
    assert row["value"] == equalized_odds_difference(y, decided, sensitive_features=group) == 0.25
    assert (row["rate"], row["lowest"], row["highest"]) == ("true_positive_rate", "a", "b")
    assert row["pvalue"] > 0.3
    assert audit.gaps.loc["false_positive_rate_difference", "pvalue"] < 1e-10
    said = [text for text in audit.findings if "positive rates" in text]
    assert said[0].startswith("The difference of true positive rates, the equalized odds")
    adjusted = row["pvalue_adjusted"]
    assert f"No difference is established (adjusted p = {adjusted:.2g})" in said[0]
    assert "The false positive rates differ (adjusted p < 0.001)." in said[1]


def decided_on(positives, negatives):
    """Return an audit of groups from (selected, rows) of the positives and of the negatives."""
    y, decided, group = [], [], []
    for label, counts in ((1, positives), (0, negatives)):
        for name, (selected, n) in zip("abcdefgh", counts, strict=False):
            y.append(np.full(n, label))
            decided.append(np.arange(n) < selected)
            group.append(np.full(n, name))
    y, decided, group = map(np.concatenate, (y, decided, group))
    score = np.random.default_rng(0).random(y.size).round(2)
    return FairnessAudit.from_predictions(y, score, groups=group, y_pred=decided.astype(int))


@pytest.mark.parametrize(
    ("positives", "negatives"),
    [
        (((6, 12), (9, 12)), ((10_000, 50_000), (10_600, 50_000))),
        (((6, 12), (9, 12)), ((100, 500), (100, 500))),
        (((60, 200), (80, 200)), ((10_000, 50_000), (11_000, 50_000))),
        (((60, 200), (80, 200)), ((100, 500), (101, 500))),
        (((60, 200), (80, 200), (61, 200)), ((100, 500), (190, 500), (99, 500))),
    ],
)
def test_adjusted_p_values_of_equalized_odds_are_never_below_the_raw_ones(positives, negatives):
    audit = decided_on(positives, negatives)
    gaps = audit.gaps.dropna(subset="pvalue")
    assert (gaps["pvalue_adjusted"] >= gaps["pvalue"]).all()
    rates = ["true_positive_rate", "false_positive_rate"]
    raw = [audit.gaps.loc[f"{rate}_difference", "pvalue"] for rate in rates]
    odds = audit.gaps.loc["equalized_odds_difference"]
    expected = multipletests(raw, method="holm")[1][rates.index(odds["rate"])]
    assert odds["pvalue"] == pytest.approx(expected, rel=1e-9)
    rate = audit.gaps.loc[f"{odds['rate']}_difference"]
    assert odds["pvalue_adjusted"] == rate["pvalue_adjusted"]
    (said,) = [text for text in audit.findings if "the equalized odds difference," in text]
    shown = odds["pvalue_adjusted"]
    assert f"adjusted p = {shown:.2g}" in said or (shown < 0.001 and "adjusted p < 0.001" in said)


def test_the_test_of_the_rates_of_many_groups_names_none_of_them():
    """The groups with the lowest and the highest rate need not be the groups that differ."""
    two, three = ([(300, 1000), (400, 1000)], [(300, 1000), (400, 1000), (9, 20)])
    audit = decided_on(three, three)
    parity, odds, other = [text for text in audit.findings if "The test covers" in text]
    whole = " The test covers all 3 groups together and does not show which of them"
    for said, rate in ((parity, "selection"), (odds, "positive"), (other, "positive")):
        assert f"{rate} rates differ (adjusted p < 0.001).{whole} differ." in said
        assert "30.0% of 'a' and 45.0% of 'c'" in said
    assert chi2_contingency([[18, 22], [600, 1400]], correction=False).pvalue > 0.03
    none = decided_on([(300, 1000), (301, 1000), (6, 20)], [(300, 1000)] * 3)
    said = next(text for text in none.findings if "demographic parity" in text)
    assert said.endswith(" The test covers all 3 groups together.")
    assert "all 2 groups" not in repr(decided_on(two, two))
    # Only two of three groups have enough positives.
    few = decided_on([(300, 1000), (400, 1000), (4, 5)], three)
    said = [
        text for text in few.findings if "true positive rates" in text and "left out" not in text
    ]
    assert "The true positive rates differ (adjusted p < 0.001)." in said[0]
    assert "all" not in said[0].split()


def test_intervals_are_named_if_a_difference_is_not_established():
    advice = "A difference that is not established may still exist: read its interval."
    equal = [(300, 1000), (301, 1000)]
    assert decided_on(equal, equal).findings[-1] == advice
    y, _, group, _ = people(3000, n_groups=2)
    rng = np.random.default_rng(0)
    alike = rng.normal(size=y.size) + y
    ranking = audit_of(y, alike, group, None, threshold=None)
    assert ranking.findings[-1] == advice
    differing = np.where(group == 0, alike, 3 * y + alike + 5)
    all_selected = audit_of(y, differing, group, None, threshold=-99)
    assert "for every row" in " ".join(all_selected.findings)
    assert advice not in all_selected.findings
    decided = rng.permutation(y.size) % 2
    by_rate = FairnessAudit.from_predictions(y, differing, groups=group, y_pred=decided)
    assert by_rate.findings[-1] == advice


def test_groups_are_small_by_the_rows_that_a_rate_needs():
    """Half of a group of 3,000 rows is selected; the group has 9 positives."""
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "few", "none"], [3000, 3000, 3000, 5])
    y = (rng.random(group.size) < 0.3).astype(int)
    y[group == "few"] = np.arange(3000) < 9
    share = pd.Series(group).map({"a": 0.19, "b": 0.2, "few": 0.507, "none": 1.0})
    decided = (rng.random(group.size) < share).astype(int)
    audit = FairnessAudit.from_predictions(y, rng.random(group.size), groups=group, y_pred=decided)
    assert audit.left_out == {
        "auc": ("few", "none"),
        "selection_rate": ("none",),
        "true_positive_rate": ("few", "none"),
        "false_positive_rate": ("none",),
    }
    for name, function, kept in (
        ("demographic_parity_difference", demographic_parity_difference, group != "none"),
        ("demographic_parity_ratio", demographic_parity_ratio, group != "none"),
        ("true_positive_rate_difference", true_positive_rate_difference, group < "few"),
        ("false_positive_rate_difference", false_positive_rate_difference, group != "none"),
    ):
        expected = function(y[kept], decided[kept], sensitive_features=group[kept])
        assert audit.gaps.loc[name, "value"] == pytest.approx(expected, abs=1e-12)
    assert audit.gaps.loc["demographic_parity_difference", "highest"] == "few"
    said = [text for text in audit.findings if "left out" in text]
    assert said == [
        "2 of 4 groups have fewer than 10 positives or negatives ('few' and 'none'). They are "
        "shown, but left out of comparisons of AUCs.",
        "1 of 4 groups has fewer than 10 rows ('none'). It is shown, but left out of comparisons "
        "of selection rates.",
        "2 of 4 groups have fewer than 10 positives ('few' and 'none'). They are shown, but left "
        "out of comparisons of true positive rates.",
        "1 of 4 groups has fewer than 10 negatives ('none'). It is shown, but left out of "
        "comparisons of false positive rates.",
    ]


# Ranking ----------------------------------------------------------------------------------


def test_tables_are_made_of_the_report():
    audit = audit_of(*people(n_groups=4))
    report, table, gaps = audit.report, audit.by_group, audit.gaps
    intervals = report.confidence_intervals()
    for column in ("auc", "ci_low", "ci_high"):
        assert table[column].tolist() == intervals[column].tolist()
    bias = report.bias_by_group
    pd.testing.assert_frame_equal(table[bias.columns], bias)
    with_rest = report.compare_groups("rest")
    assert table["pvalue"].tolist() == with_rest["pvalue"].tolist()
    assert table["reference_auc"].tolist() == with_rest["reference_auc"].tolist()
    assert gaps.loc["difference", "value"] == report.difference
    assert gaps.loc["difference", "expected"] == null_difference_of(report)
    # The test of equality and the interval of tau use different statistics.
    assert gaps.loc["tau", ["pvalue", "pvalue_adjusted"]].isna().all()
    assert audit.tables.claims.pvalues["equal_aucs"] == [report.test_equal_groups().pvalue]
    adjusted = audit.tables.claims.adjusted["equal_aucs"][0]
    (said,) = [
        text for text in audit.findings if text.startswith("The test of all groups together ")
    ]
    assert f"(adjusted p = {adjusted:.2g})" in said
    test = report.test_difference()
    found = gaps.loc["difference", ["ci_low", "ci_high", "pvalue"]]
    assert found.tolist() == [test.ci_low, test.ci_high, test.pvalue]
    assert gaps.loc["difference", "lowest"] == report.by_group["auc"].idxmin()
    assert gaps.loc["ratio", "value"] == report.statistic("ratio")
    assert gaps.loc["tau", "value"] == report.tau
    assert gaps.loc["cross_difference", "value"] == report.statistic("cross_difference")
    assert abs(gaps.loc["xauc_disparity", "value"]) in bias["xauc_disparity"].abs().tolist()
    assert gaps.loc["abroca", "value"] == report.abroca()["abroca"].max()
    matrix, row = report.cross_matrix, gaps.loc["cross_difference"]
    found = matrix.loc[row["highest"], row["lowest"]] - matrix.loc[row["lowest"], row["highest"]]
    assert found == row["value"]


def test_merged_counts_give_the_same_audit():
    y, score, group, _ = rows = people()
    halves = [
        ScoreCounts.from_predictions(y[i::2], score[i::2], groups=group[i::2]) for i in range(2)
    ]
    merged, whole = FairnessAudit(GroupAUC(halves[1] + halves[0])), audit_of(*rows)
    pd.testing.assert_frame_equal(merged.by_group, whole.by_group, check_exact=True)
    pd.testing.assert_frame_equal(merged.gaps, whole.gaps, check_exact=True)
    assert merged.findings == whole.findings


def test_small_groups_are_shown_but_not_compared():
    y, score, group, _ = people(n_groups=3)
    y, score = np.append(y, [0] * 9 + [1] * 20), np.append(score, [0.99] * 9 + [0.01] * 20)
    group = np.append(group, [7] * 29)
    audit = audit_of(y, score, group, None)
    assert audit.by_group["is_small"].tolist() == [False, False, False, True]
    assert audit.by_group.loc[7, ["auc", "selection_rate"]].tolist() == [0.0, 9 / 29]
    assert np.isnan(audit.by_group.loc[7, "pvalue_adjusted"])
    without = audit_of(y[group < 7], score[group < 7], group[group < 7], None)
    own = [name for name in audit.gaps if name != "pvalue_adjusted"]
    ranking = audit.gaps.index[:6]
    pd.testing.assert_frame_equal(audit.gaps.loc[ranking, own], without.gaps.loc[ranking, own])
    own = [name for name in audit.by_group if not name.endswith(("is_small", "adjusted"))]
    pd.testing.assert_frame_equal(audit.by_group[own].loc[[0, 1, 2]], without.by_group[own])
    assert not {7} & {*audit.gaps.loc[ranking, "lowest"], *audit.gaps.loc[ranking, "highest"]}
    assert audit.findings[1].startswith("1 of 4 groups has fewer than 10")
    # The group has 29 rows and 20 positives, so its selection and true positive rates are compared.
    assert audit.gaps.loc["demographic_parity_difference", "lowest"] == 7
    assert audit.gaps.loc["true_positive_rate_difference", "lowest"] == 7
    assert audit.gaps.loc["false_positive_rate_difference", "highest"] != 7
    everyone = audit_of(y, score, group, None, min_per_class=9)
    assert everyone.gaps.loc["difference", "lowest"] == 7


# Findings ----------------------------------------------------------------------------------


def test_findings_tell_a_gap_across_from_one_within():
    devices = make_group_scores("different", 400, 600, shifts=(0, 1), random_state=0)
    arguments = devices.y_true, devices.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=devices.groups, threshold=0.5)
    model, within, across, decided, *_ = audit.findings
    assert model.startswith("The AUC of all rows together (pooled) is 0.")
    assert "No difference is established (adjusted p = " in within
    assert across.startswith("The ranking between groups differs: positives of 'device 2' outrank")
    assert "adjusted p < 0.001" in across
    assert "predicts the positive class for 45.2% of 'device 1' and 77.8% of 'device 2'" in decided
    assert audit.findings[-2].startswith("5 claims are tested.")
    assert repr(audit).splitlines()[0] == (
        "FairnessAudit of 2 groups by group, decisions at the threshold 0.5"
    )
    apart = make_group_scores("same_negatives", 400, 600, shifts=(-1, 0, 0), random_state=0)
    arguments = apart.y_true, apart.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=apart.groups, threshold=0.5)
    assert "Groups differ (adjusted p < 0.001)." in audit.findings[1]
    assert audit.findings[2] == (
        "The test of all groups together rejects equal group AUCs (adjusted p < 0.001)."
    )
    assert audit.findings[3] == "The AUC is lower in 'device 1' than in the other groups."
    same = make_group_scores("identical", 400, 600, shifts=(0, 0, 0), random_state=1)
    arguments = same.y_true, same.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=same.groups, threshold=0.5)
    assert audit.findings[3].startswith("No difference in ranking between groups is established.")
    assert audit.findings[-1].startswith("A difference that is not established ")


@pytest.mark.parametrize(
    ("favorable", "north", "south"),
    [
        (None, None, None),
        ("positive", "disadvantage of 'north'", "advantage of 'south'"),
        ("negative", "advantage of 'north'", "disadvantage of 'south'"),
    ],
)
def test_favor_depends_on_the_favorable_outcome(favorable, north, south):
    rng = np.random.default_rng(0)
    group = np.repeat(["north", "south", "west"], 1000)
    y = rng.integers(0, 2, group.size)
    score = y + rng.normal(size=group.size) + 0.7 * (group == "south") - 0.7 * (group == "north")
    audit = audit_of(y, score, group, None, threshold=None, favorable=favorable)
    said = " ".join(audit.findings)
    gap = audit.gaps.loc["xauc_disparity"]
    assert (gap["highest"] == "south") != (gap["lowest"] == "north")
    assert ("advantage" in said) == (favorable is not None)
    if favorable is not None:
        clearest = south if gap["highest"] == "south" else north
        assert f"Most clearly, to the {clearest}: positives of" in said
    predicted = audit_of(y, score, group, None, threshold=0.5, favorable=favorable).findings
    outcome = {None: "class for", "positive": "(the favorable", "negative": "(the adverse"}
    assert any(outcome[favorable] in text for text in predicted)


def test_findings_begin_with_how_good_the_model_is():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], 1000)
    y = (rng.random(3000) < np.repeat([0.1, 0.3, 0.8], 1000)).astype(int)
    skilled = y + rng.normal(size=3000)
    audit = audit_of(y, skilled, group, None, threshold=None)
    quality = audit.quality
    report = audit.report
    expected = [report.pooled, report.average("within"), report.worst]
    np.testing.assert_allclose(quality["auc"], expected, rtol=1e-12)
    assert quality.loc["worst", "group"] == report.by_group["auc"].idxmin()
    assert "pos_label" not in " ".join(audit.findings)
    # Scores with the reverse order in all groups, and in one group
    said = audit_of(y, -skilled, group, None, threshold=None).findings
    assert said[1].startswith("The pooled AUC is below 0.5: check pos_label")
    one = audit_of(y, np.where(group == "a", -skilled, skilled), group, None, threshold=None)
    assert one.reversed_groups == ("a",)
    assert one.findings[1].startswith("The AUC is below 0.5 in 'a': check pos_label")
    # The score depends on the group only.
    useless = np.repeat([0.0, 1, 2], 1000) + rng.normal(size=3000) / 5
    audit = audit_of(y, useless, group, None, threshold=None)
    assert audit.quality.loc["pooled", "auc"] > 0.75
    within = audit.quality.loc["within"]
    assert within["ci_low"] < 0.5 < within["ci_high"] < audit.quality.loc["pooled", "ci_low"]
    assert audit.findings[1] == (
        f"An AUC above 0.5 within groups is not established (the interval of {within['auc']:.3f} "
        "contains 0.5): the pooled AUC comes from differences between groups."
    )
    against = audit_of(y, useless - 0.2 * y, group, None, threshold=None)
    assert against.quality.loc["within", "ci_high"] < 0.5 < against.quality.loc["pooled", "ci_low"]
    assert against.findings[1] == (
        "The AUC within groups is below 0.5: the pooled AUC comes from differences between groups."
    )
    # The score is random.
    aimless = audit_of(y, np.arange(3000) % 7, group, None, threshold=None)
    low, high = aimless.quality.loc["pooled", ["ci_low", "ci_high"]]
    assert low < 0.5 < high
    said = " ".join(aimless.findings)
    assert "do not show that the model ranks better" in said
    assert "is below 0.5" not in said


def test_findings_on_the_model_follow_its_intervals():
    """Test all orders of the limits of both intervals and 0.5; each claim requires a limit."""
    audit = audit_of(*people(60, n_groups=2), threshold=None)
    intervals = list(itertools.combinations_with_replacement([0.3, 0.4, 0.5, 0.6, 0.7], 2))
    kinds = collections.Counter()
    for pooled, within in itertools.product(intervals, intervals):
        quality = audit.quality.copy()
        quality.loc[["pooled", "within"], ["ci_low", "ci_high"]] = [pooled, within]
        quality.loc[["pooled", "within"], "auc"] = [np.mean(pooled), np.mean(within)]
        tables = dataclasses.replace(audit.tables, quality=quality)
        said = " ".join(finding.sentence for finding in answers(tables)[:3])
        assert ("The pooled AUC is below 0.5" in said) == (pooled[1] < 0.5)
        holds = pooled[0] <= 0.5 <= pooled[1]
        assert ("interval of the pooled AUC contains 0.5" in said) == holds
        is_above = pooled[0] > 0.5
        comes_from = is_above and within[0] <= 0.5 and within[1] < pooled[0]
        assert ("comes from differences between groups" in said) == comes_from
        not_shown = is_above and within[0] <= 0.5 <= within[1]
        assert ("An AUC above 0.5 within groups is not established" in said) == not_shown
        is_below = pooled[1] >= 0.5 > within[1]
        assert ("The AUC within groups is below 0.5" in said) == is_below
        kinds.update(
            touched=not_shown and not comes_from,
            below_but_contained=holds and np.mean(pooled) < 0.5,
            between=comes_from,
        )
    assert min(kinds.values()) >= 2


def test_a_single_class_is_said():
    audit = audit_of([1] * 30, np.arange(30) / 30, [0, 1] * 15, None)
    assert audit.findings[0].startswith("The model cannot be judged: there are no positives")


def test_groups_are_compared_with_a_named_one():
    y, score, group, _ = people(n=1500, n_groups=4)
    labels = np.array(["w", "x", "y", "rest"])[group]
    audit = audit_of(y, score, labels, None, reference="x")
    expected = audit.report.compare_groups("x")
    found = audit.by_group
    assert np.isnan(found.loc["x", "pvalue"])
    assert np.isnan(found.loc["x", "pvalue_adjusted"])
    assert (found["reference_auc"] == found.loc["x", "auc"]).all()
    for name in ("w", "y", "rest"):
        assert found.loc[name, "pvalue"] == expected.loc[name, "pvalue"]
    assert audit_of(y, score, labels, None, reference=["rest"]).tables.reference == "rest"
    assert audit_of(y, score, labels, None).tables.reference is None
    better = np.where(labels == "w", score, y + 2 * score)
    audit = audit_of(y, better, labels, None, reference="x", threshold=None)
    assert audit.by_group.loc["w", "pvalue_adjusted"] < 0.05
    assert "The AUC is lower in 'w' than in 'x'." in audit.findings
    pairs = list(zip(labels, group % 2, strict=True))
    audit = audit_of(y, score, pairs, None, reference=("x", 1))
    assert audit.of("column 1").tables.reference == "x"
    assert audit.of("column 2").tables.reference == 1
    with pytest.raises(ValueError, match="reference must be 'rest' or a group's label; got 'z'"):
        audit_of(y, score, labels, None, reference="z")
    small = np.where(np.arange(1500) < 5, "tiny", labels)
    with pytest.raises(ValueError, match=r"the reference group 'tiny' is too small .* it has"):
        audit_of(y, score, small, None, reference="tiny")


# Claims ---------------------------------------------------------------------------------------


def test_p_values_are_adjusted_by_weighted_holm():
    rng = np.random.default_rng(0)
    p, ones = rng.random(20) ** 4, np.ones(20)
    expected = multipletests(p, method="holm")[1]
    np.testing.assert_allclose(weighted_holm(p, ones), expected)
    # The definition, claim by claim: reject while p_i <= alpha w_i / (weights not yet rejected)
    weights = rng.uniform(0.1, 3, 20)
    for alpha in (0.01, 0.05, 0.3):
        left = set(range(20))
        while left:
            least = min(left, key=lambda i: p[i] / weights[i])
            if p[least] > alpha * weights[least] / sum(weights[i] for i in left):
                break
            left.remove(least)
        rejected = weighted_holm(p, weights) <= alpha
        assert set(np.flatnonzero(~rejected)) == left
    some = weighted_holm(np.array([0.01, np.nan, 0.02]), np.ones(3))
    np.testing.assert_allclose(some, [0.02, np.nan, 0.02])


def test_claims_are_counted_and_adjusted_together():
    y, score, group, _ = people(n=1500, n_groups=4)
    audit = audit_of(y, score, group, None)
    # difference, equality, 4 groups, 4 disparities, 3 rates, calibration of 4 groups
    assert audit.n_claims == 17
    assert audit_of(y, score, group, None, threshold=None).n_claims == 10
    assert audit_of(y, score, group % 2, None).n_claims == 7
    by_two = FairnessAudit.from_predictions(
        y, score, groups=pd.DataFrame({"a": group, "b": group % 3 > 0})
    )
    assert by_two.n_claims == 17 + 7 + 17
    assert by_two.of("a").n_claims == by_two.of("b").n_claims == by_two.n_claims
    assert any("41 claims are tested by a, b and a" in text for text in by_two.findings)
    for own in (audit, by_two, by_two.of("a")):
        for table in (own.gaps, own.by_group):
            for name in ("pvalue", "xauc_pvalue"):
                if name in table:
                    adjusted = table[f"{name}_adjusted"]
                    assert (adjusted.isna() == table[name].isna()).all()
        assert (own.by_group["pvalue_adjusted"] >= own.by_group["pvalue"]).all()


def test_audits_that_are_adjusted_together_are_one_family():
    y, score, group, _ = people(n=600, n_groups=4)
    by_one = audit_of(y, score, group, None)
    by_two = audit_of(y, score, pd.DataFrame({"b": group // 2, "a": group % 2}), None)
    before = by_one.n_claims, by_two.n_claims
    together = FairnessAudit.adjusted_together([by_one, by_two])
    # An audit by several columns counts as one audit by all of its columns.
    assert [audit.n_claims for audit in together] == [34, 34]
    assert together[0].tables.claims.family is together[1].tables.claims.family
    assert together[1].of(["b", "a"]) is together[1]
    with pytest.raises(ValueError, match="available for an audit that adjusted_together returned"):
        together[1].of("a")
    assert (by_one.n_claims, by_two.n_claims) == before == (17, 31)
    # Both audits have the same groups, so each claim occurs twice.
    expected = weighted_holm(*flat_claims([by_one, by_one]))
    found = np.concatenate([np.concatenate([*a.tables.claims.adjusted.values()]) for a in together])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def flat_claims(audits):
    """Return p values and weights of all claims: equal for audits, questions and groups."""
    pvalues, weights = [], []
    for audit in audits:
        asked = {k: p for k, p in audit.tables.claims.pvalues.items() if not np.isnan(p).all()}
        for question, p in audit.tables.claims.pvalues.items():
            pvalues.append(p)
            n_tested = max(np.count_nonzero(~np.isnan(p)), 1)
            weights.append(np.full(p.size, 1 / len(asked) / n_tested if question in asked else 1))
    return np.concatenate(pvalues), np.concatenate(weights)


def test_integers_stay_integers_and_long_labels_are_cut():
    y, score, group, _ = people()
    gaps = audit_of(y, score, group, None).gaps
    assert {type(v) for v in gaps["lowest"].dropna()} == {int}
    long = np.array([f"{'x' * 400}{g}" for g in group], object)
    assert max(map(len, audit_of(y, score, long, None).findings)) < 600


def test_a_tiny_group_does_not_hide_a_favored_group():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [5000, 5000, 60])
    y = (rng.random(group.size) < 0.5).astype(int)
    score = y + rng.normal(size=group.size) + 0.15 * (group == "a")
    score[group == "tiny"] += 0.6
    audit = audit_of(y, score, group, None, threshold=0.5)
    assert abs(audit.by_group["xauc_disparity"]).idxmax() == "tiny"
    assert audit.gaps.loc["xauc_disparity", "pvalue"] < 0.001
    favored = [text for text in audit.findings if "outrank" in text]
    assert favored[0].startswith("Most clearly: positives of ")
    named = audit.by_group.index[audit.by_group["xauc_pvalue_adjusted"] < 0.05]
    assert len(named) >= 2
    assert all(any(repr(group) in text for text in favored) for group in named)


def test_tiny_groups_do_not_make_others_favored():
    """Scores of small groups do not affect the comparisons of other groups."""
    rng = np.random.default_rng(0)
    group = np.concatenate([np.repeat(["a", "b"], 3000), np.repeat(np.arange(200).astype(str), 8)])
    y = rng.integers(0, 2, group.size)
    score = y + rng.normal(size=group.size)
    is_tiny = np.char.isnumeric(group)
    score[is_tiny] += np.where(y[is_tiny], 0, 3)
    audit = audit_of(y, score, group, None, threshold=0.5)
    assert audit.gaps.loc["xauc_disparity", "pvalue"] > 0.05
    assert any(
        "No difference in ranking between groups is established" in text for text in audit.findings
    )


def test_what_is_the_same_in_all_groups_is_said_once():
    group = np.repeat(["a", "b"], 30)
    y = np.tile([0, 1, 1], 20)
    audit = audit_of(y, y * 0.8 + 0.1, group, None)
    _, within, between, decided, *_ = audit.findings
    assert within == "The AUC is 1.000 within every group."
    assert (
        between
        == "No difference in ranking between groups is observed: all xAUC disparities are 0."
    )
    whom = "the model predicts the positive class for"
    assert decided == f"At the threshold 0.5 {whom} 66.7% of every group."
    assert audit.gaps[["lowest", "highest"]].isna().all(axis=None)
    for threshold, said in ((2, "no row of any group"), (-1, "every row")):
        found = audit_of(y, y * 0.8 + 0.1, group, None, threshold=threshold).findings
        assert f"At the threshold {threshold} {whom} {said}." in found
    alone = audit_of(y, y * 0.8 + 0.1, ["a"] * 60, None)
    assert repr(alone).startswith("FairnessAudit of 1 group by group")
    lacking = audit_of([0, 1, 0], [0.1, 0.9, 0.2], list("aab"), None, min_per_class=0)
    said = " ".join(lacking.findings)
    assert "1 of 2 groups has no positives or negatives ('b')" in said


def test_labels_in_sentences_cannot_be_taken_for_figures():
    assert named(("va", 1.0, pd.Interval(55, 65))) == "'va · 1.0 · (55, 65]'"
    assert named(("", "x\ny")) == "\"'' · 'x\\ny'\""
    assert named("va") == "'va'"
    assert named("2") == "'2'"
    assert named(7) == "group 7"
    assert named(-1.5) == "group -1.5"
    assert named(True) == "group True"
    assert named(datetime.datetime(2024, 1, 31)) == "group 2024-01-31"
    assert named(pd.Interval(55, 65)) == "group (55, 65]"
    assert [named_in("site", label) for label in (3, "oslo")] == ["site 3", "site 'oslo'"]


@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_sentences_name_groups_in_words(n_columns, n_groups):
    """Labels are odd numbers, which no sentence has except behind "group" or within quotes."""
    rng = np.random.default_rng(8)
    n = 4000
    group = rng.integers(0, n_groups, n)
    # The first group is ranked badly, the second one has high scores, and the last one is small.
    y = rng.random(n) < 0.5
    z = y * np.array([-0.8, 1.5, 1.5, 3.0])[group] + np.array([0, 2, 0.5, -1])[group]
    score = 1 / (1 + np.exp(-z - rng.normal(size=n)))
    codes = np.where((rng.random(n) < 0.003) & (n_groups > 2), n_groups, group)
    labels = 777_001.0 + codes
    if n_columns == 2:
        labels = np.column_stack([labels, labels])
    audit = FairnessAudit.from_predictions(y, score, groups=labels, tolerances={"difference": 0.1})
    audits = [audit, *map(audit.of, audit.columns)]
    after = np.where(codes == 1, score**4, score)
    comparison = AuditComparison.from_predictions(y, {"a": score, "b": after}, groups=labels)
    texts = [*comparison.findings, audit._repr_html_().partition("<details>")[0]]
    for each in audits:
        texts += each.findings
        texts += each.intersections()["finding"].tolist() if len(each.columns) > 1 else []
    texts = [html.unescape(text) for text in texts]
    named_groups = r"group 77700\d|'77700\d · 77700\d'|column \d 77700\d"
    assert not [text for text in texts if "77700" in re.sub(named_groups, "", text)]
    said = " ".join(texts)
    label = "group 777001" if n_columns == 1 else "'777001 · 777001'"
    for topic in (
        "below 0.5 in {}",
        "in the worst group ({})",
        "The AUC is lower in {}",
        "% of {}",
        "ranges from 0.",
        "calibrated in",
    ):
        if n_groups > 2 or "lower" not in topic:
            assert topic.format(label) in said


# Constructors ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": np.arange(400) % 2})
    y = np.where(rng.normal(size=400) + frame["x"] + frame["sex"] > 0.6, "yes", "no")
    return LogisticRegression().fit(frame, y), frame, y


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("pos_label", [None, "yes", "no"])
def test_auto_threshold_decides_as_the_estimator(fitted, method, pos_label):
    model, X, y = fitted
    audit = FairnessAudit.from_estimator(
        model, X, y, groups="sex", pos_label=pos_label, response_method=method
    )
    chosen = model.predict(X) == (pos_label or "yes")
    expected = pd.Series(chosen).groupby(X["sex"]).mean()
    np.testing.assert_allclose(audit.by_group["selection_rate"], expected)
    assert audit.columns == ("sex",)


@pytest.fixture(scope="module")
def deciding(fitted):
    """Return estimators with a tuned threshold, a fixed threshold, and random decisions."""
    model, X, y = fitted
    recall = make_scorer(recall_score, pos_label="yes")
    tuned = TunedThresholdClassifierCV(FrozenEstimator(model), scoring=recall, cv=2).fit(X, y)
    assert abs(tuned.best_threshold_ - 0.5) > 0.1
    fixed = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.8).fit(X, y)
    reduction = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3)
    drawn = MitigatedClassifier(reduction, groups="sex", random_state=0).fit(X, y)
    return tuned, fixed, drawn


@pytest.mark.parametrize("pos_label", [None, "no"])
def test_rates_are_those_of_predict_and_aucs_those_of_scores(fitted, deciding, pos_label):
    _, X, y = fitted
    for estimator in deciding:
        audit = FairnessAudit.from_estimator(estimator, X, y, groups="sex", pos_label=pos_label)
        positive = pos_label or "yes"
        chosen = estimator.predict(X) == positive
        frame = MetricFrame(
            metrics=RATES,
            y_true=y == positive,
            y_pred=chosen,
            sensitive_features=X["sex"],
        )
        np.testing.assert_allclose(audit.by_group[list(RATES)], frame.by_group)
        report = GroupAUC.from_estimator(
            estimator,
            X,
            y,
            groups="sex",
            pos_label=pos_label,
            response_method="predict_proba",
        )
        assert audit.by_group["auc"].tolist() == report.by_group["auc"].tolist()
        assert audit.threshold is None
        negative = "no" if positive == "yes" else "yes"
        classes = f"positive class {positive} (negative class: {negative})"
        headline = repr(audit).splitlines()[0]
        assert headline.endswith(f"by sex, {classes}, decisions of the model")
        # A threshold argument overrides the decisions of the estimator.
        audit = FairnessAudit.from_estimator(
            estimator, X, y, groups="sex", pos_label=pos_label, threshold=0.3
        )
        column = list(estimator.classes_).index(positive)
        chosen = estimator.predict_proba(X)[:, column] >= 0.3
        expected = pd.Series(chosen).groupby(X["sex"]).mean()
        np.testing.assert_allclose(audit.by_group["selection_rate"], expected)
        ranking = FairnessAudit.from_estimator(
            estimator, X, y, groups="sex", pos_label=pos_label, threshold=None
        )
        assert ranking.decisions is None


def test_decisions_are_drawn_once():
    class Drawn(LogisticRegression):
        n_calls = 0

        def predict(self, X):
            Drawn.n_calls += 1
            return super().predict(X)

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "sex": np.arange(60) % 2})
    model = Drawn().fit(X, np.arange(60) % 3 == 0)
    FairnessAudit.from_estimator(model, X, np.arange(60) % 3 == 0, groups="sex")
    assert Drawn.n_calls == 1


def test_decisions_are_passed_as_predicted_labels():
    y, score, group, weight = people(weighted=True)
    weight[::7] = 0
    drawn = np.random.default_rng(1).random(y.size) < score
    names = np.array(["no", "yes"])
    expected = {}
    for given in (None, weight):
        direct = {"sensitive_features": group, "sample_weight": given}
        expected[given is None] = {name: f(y, drawn, **direct) for name, f in FUNCTIONS.items()}
    for labels, y_pred, pos_label, given in (
        (y, drawn.astype(int), None, None),
        (y, drawn, None, weight),
        (pd.Series(y), pd.Series(drawn.astype(int)), 1, None),
        (names[y], names[drawn.astype(int)], "yes", weight),
        (y.tolist(), drawn.astype(float).tolist(), None, weight),
    ):
        audit = audit_of(labels, score, group, given, y_pred=y_pred, pos_label=pos_label)
        for name, value in expected[given is None].items():
            assert audit.gaps.loc[name, "value"] == pytest.approx(value, abs=1e-12)
        assert audit.by_group["auc"].tolist() == audit.report.by_group["auc"].tolist()
    np.testing.assert_allclose(
        audit.metric_frame.overall["selection_rate"], selection_rate(y, drawn, sample_weight=weight)
    )


def test_decisions_merge_as_scores_do():
    y, score, group, _ = people()
    drawn = (np.random.default_rng(1).random(y.size) < score).astype(int)
    whole = audit_of(y, score, group, None, y_pred=drawn)
    parts = [audit_of(y[i::2], score[i::2], group[i::2], None, y_pred=drawn[i::2]) for i in (0, 1)]
    merged = FairnessAudit(
        GroupAUC(parts[0].report.counts + parts[1].report.counts),
        decisions=parts[1].decisions + parts[0].decisions,
    )
    pd.testing.assert_frame_equal(merged.by_group, whole.by_group, check_exact=True)
    pd.testing.assert_frame_equal(merged.gaps, whole.gaps, check_exact=True)
    counts = whole.decisions.to_counts()
    assert counts[["n_negatives", "n_positives"]].to_numpy().sum() == y.size
    assert set(counts["score"]) == {0.0, 1.0}
    report = whole.report
    with pytest.raises(ValueError, match="decisions must have the rows of the report"):
        FairnessAudit(report, decisions=parts[0].decisions)
    with pytest.raises(ValueError, match="decisions must have the scores 0 and 1 only"):
        FairnessAudit(report, decisions=report.counts)
    with pytest.raises(TypeError, match=r"decisions must be a ScoreCounts .* got ndarray"):
        FairnessAudit(report, decisions=drawn)
    for threshold in (0.5, None):
        with pytest.raises(ValueError, match="pass either decisions or a threshold, not both"):
            audit_of(y, score, group, None, y_pred=drawn, threshold=threshold)


def test_rows_without_a_label_are_left_out_of_decisions_as_well():
    y, score, group, _ = people()
    drawn = (np.random.default_rng(1).random(y.size) < score).astype(int)
    labels = pd.Series(group).astype("string").where(np.arange(y.size) % 9 > 0)
    audit = audit_of(y, score, labels, None, y_pred=drawn, missing="drop")
    assert repr(audit).splitlines()[0].endswith("100 rows without a group label left out")
    kept = labels.notna().to_numpy()
    expected = audit_of(y[kept], score[kept], labels[kept].tolist(), None, y_pred=drawn[kept])
    pd.testing.assert_frame_equal(audit.gaps, expected.gaps)
    as_group = audit_of(y, score, labels, None, y_pred=drawn, missing="group")
    assert as_group.report.n_groups == 4
    assert as_group.gaps.loc["demographic_parity_difference", "value"] == pytest.approx(
        demographic_parity_difference(y, drawn, sensitive_features=labels.fillna("-")), abs=1e-12
    )
    assert repr(as_group)


def test_decisions_in_another_order_are_refused():
    y, score, group, _ = people(60)
    shuffled = pd.Series(y).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="y_pred"):
        audit_of(pd.Series(y), score, group, None, y_pred=shuffled)
    with pytest.raises(ValueError, match="y_pred"):
        audit_of(y, pd.Series(score), group, None, y_pred=shuffled)


def test_predicted_labels_that_are_none():
    y, score, group, _ = people(60)
    for y_pred, said in (
        (score, r"y_pred must hold the labels of y_true, \[0, 1\]; got 0\."),
        (y + 1, r"y_pred must hold the labels of y_true, \[0, 1\]; got 2\."),
        (np.where(y, "yes", "no"), "y_pred must hold the labels of y_true"),
        (np.where(np.arange(60) < 2, np.nan, y), "y_pred has 2 missing labels of 60"),
        (y[1:], "y_pred"),
    ):
        with pytest.raises(ValueError, match=said):
            audit_of(y, score, group, None, y_pred=y_pred)


@pytest.mark.parametrize("threshold", ["auto", None])
def test_scores_that_are_no_probabilities_are_audited_by_their_ranking(threshold):
    y, score, group, _ = people()
    audit = audit_of(y, np.log(score + 0.1), group, None, threshold=threshold)
    assert audit.decisions is None
    assert audit.threshold is None
    assert audit.by_group[list(RATES)].isna().all(axis=None)
    assert audit.gaps.loc[audit.gaps.index[6:], "value"].isna().all()
    said = [text for text in audit.findings if "Decisions are not audited" in text]
    assert len(said) == (threshold == "auto")
    assert repr(audit).startswith("FairnessAudit of 3 groups by group, ranking only\n")
    with pytest.raises(ValueError, match=r"needs decisions.* pass threshold= or y_pred="):
        _ = audit.metric_frame
    # The ranking by log scores equals the ranking by probabilities.
    ranking = audit.gaps.index[:6]
    own = ["value", "ci_low", "ci_high", "pvalue"]
    of_probabilities = audit_of(y, score, group, None).gaps
    pd.testing.assert_frame_equal(audit.gaps.loc[ranking, own], of_probabilities.loc[ranking, own])


def test_a_threshold_of_the_other_class_is_on_its_scale(fitted):
    model, X, y = fitted
    audit = FairnessAudit.from_estimator(model, X, y, groups="sex", pos_label="no", threshold=0.7)
    expected = pd.Series(model.predict_proba(X)[:, 0] >= 0.7).groupby(X["sex"]).mean()
    np.testing.assert_allclose(audit.by_group["selection_rate"], expected)
    assert audit.threshold == audit.of("sex").threshold == 0.7


def test_one_audit_by_several_columns():
    rng = np.random.default_rng(0)
    columns = {"sex": rng.choice(["f", "m"], 600), "band": rng.integers(0, 3, 600)}
    y, score = rng.integers(0, 2, 600), rng.random(600)
    audit, of_polars = (
        FairnessAudit.from_predictions(y, score, groups=make(columns), threshold=0.4)
        for make in (pd.DataFrame, pl.DataFrame)
    )
    assert audit.columns == of_polars.columns == ("sex", "band")
    pd.testing.assert_frame_equal(of_polars.by_group, audit.by_group)
    pd.testing.assert_frame_equal(of_polars.gaps, audit.gaps)
    assert audit.by_group.index.nlevels == 2
    for name, column in columns.items():
        alone = FairnessAudit.from_predictions(
            y, score, groups=pd.Series(column, name=name), threshold=0.4
        )
        own = [column for column in alone.by_group if not column.endswith("adjusted")]
        pd.testing.assert_frame_equal(audit.of(name).by_group[own], alone.by_group[own])
        own = [column for column in alone.gaps if not column.endswith("adjusted")]
        pd.testing.assert_frame_equal(audit.of(name).gaps[own], alone.gaps[own])
        assert audit.of(name).of(name).columns == (name,)
    turned = audit.of(["band", "sex"]).by_group.swaplevel().sort_index()
    pd.testing.assert_frame_equal(turned, audit.by_group)
    for unknown in ("age", [], ["sex", "sex"]):
        with pytest.raises(ValueError, match=r"columns must be one or several of \['sex', 'band'"):
            audit.of(unknown)


def test_names_of_columns_can_be_given_to_merged_counts():
    y, score, group, _ = people()
    counts = ScoreCounts.from_predictions(y, score, groups=np.column_stack([group, group % 2]))
    report = GroupAUC(counts, group_names=["site", "sex"])
    assert FairnessAudit(report).of("sex").columns == ("sex",)
    assert list(report.by_group.index.names) == ["site", "sex"]
    alone = ScoreCounts.from_predictions(y, score, groups=group)
    assert GroupAUC(alone, group_names="site").by_group.index.name == "site"
    with pytest.raises(ValueError, match=r"one name for each of the 2 columns .* got str 'site'"):
        GroupAUC(counts, group_names="site")
    for names in ([1], 5):
        with pytest.raises(TypeError, match="group_names must be a str or a list of str"):
            GroupAUC(alone, group_names=names)
    with pytest.raises(ValueError, match="group_names must be different"):
        GroupAUC(counts, group_names=["sex", "sex"])


def test_groups_of_several_columns_may_all_be_small():
    columns = pd.DataFrame({"a": list("ppqq") * 2, "b": list("uvuv") * 2})
    audit = FairnessAudit.from_predictions([0, 1] * 4, np.arange(8) / 9, groups=columns)
    assert audit.compared.n_groups == 0
    assert audit.by_group["is_small"].all()
    assert "Fewer than two groups are large enough" in repr(audit)


def test_groups_of_weighted_rows_may_all_be_small():
    y, score, weight = [0, 1, 1, 0], [0.1, 0.4, 0.3, 0.2], [0.5, 2.0, 1.5, 3.0]
    audit = audit_of(y, score, list("abab"), weight)
    assert audit.compared.n_groups == 0
    assert "Fewer than two groups are large enough" in repr(audit)


def test_perfect_and_reversed_groups():
    """Group AUCs are from 0 to 1, so tau is at most one half."""
    group = np.repeat(["a", "b"], 60)
    y = np.tile([0, 1], 60)
    score = np.where(y == 1, 0.7, 0.3) + np.linspace(0, 0.1, 120)
    audit = audit_of(y, np.where(group == "a", score, 1 - score), group, None)
    tau = audit.gaps.loc["tau"]
    assert tau["ci_low"] <= tau["value"] <= tau["ci_high"] <= 0.5


def test_what_cannot_be_audited_is_said():
    y, score, group, _ = people(50)
    report = GroupAUC.from_predictions(y, score * 3, groups=group)
    for threshold in (np.nan, "x", [0.5]):
        with pytest.raises(ValueError, match="threshold must be 'auto', None or a finite number"):
            FairnessAudit(report, threshold=threshold)
    # A mapping cannot describe how a randomized rule decides at ties; y_pred has these decisions.
    for thresholds in ({"a": 0.4, "b": 0.6}, pd.Series({"a": 0.4, "b": 0.6})):
        mend = "threshold must be one number for all groups; got .*pass the predicted labels as y_p"
        with pytest.raises(ValueError, match=mend):
            FairnessAudit(report, threshold=thresholds)
        with pytest.raises(ValueError, match=mend):
            FairnessAudit.from_predictions(y, score, groups=group, threshold=thresholds)
    for favorable in ("good", 1, True):
        with pytest.raises(ValueError, match="favorable must be 'positive', 'negative' or None"):
            FairnessAudit(report, favorable=favorable)
    with pytest.raises(ValueError, match="min_per_class must be a whole number"):
        FairnessAudit(report, threshold=1, min_per_class=0.5)
    with pytest.raises(TypeError, match=r"must be a GroupAUC; got ndarray\. Use"):
        FairnessAudit(score)
    with pytest.raises(TypeError, match=r"FairnessAudit\(GroupAUC\(counts"):
        FairnessAudit(report.counts)
    with pytest.raises(ValueError, match="an audit needs groups"):
        FairnessAudit(GroupAUC(ScoreCounts.from_predictions(y, score)))
    with pytest.raises(ValueError, match="an audit needs rows; the report has none"):
        FairnessAudit(GroupAUC(ScoreCounts.from_predictions([], [], groups=[])), threshold=0)
    X = pd.DataFrame({"score": score, "site": group})
    result = cross_validate_group_auc(LogisticRegression(), X, y, groups="site", cv=2)
    repeated = cross_validate_group_auc(
        LogisticRegression(),
        X,
        y,
        groups="site",
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2),
    )
    for of_folds in (result.within_folds, repeated.within_folds, repeated.over_folds):
        with pytest.raises(ValueError, match=r"this report compares rows within.*folds\[0\]"):
            FairnessAudit(of_folds, threshold=0)


def test_any_rows_can_be_audited():
    """Ties, weights, one-class groups and single rows cause no error, warning or rate above 1."""
    kinds = set()
    for seed in (*range(13), 26):
        case = random_case(seed, most_groups=12)
        weights = np.ones(case.y.size) if case.weights is None else case.weights
        if not weights.sum():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            audit = FairnessAudit.from_predictions(
                groups=case.groups,
                sample_weight=case.weights,
                y_true=case.y,
                y_score=case.scores,
                threshold=0.4,
                min_per_class=seed % 4,
            )
            tables, said = (audit.by_group, audit.gaps), audit.findings
        assert said
        kinds.add((case.weights is None, min(audit.compared.n_groups, 3)))
        assert tables[0]["selection_rate"].between(0, 1).all()
        values = tables[1].loc[tables[1].index != "xauc_disparity", "value"].dropna()
        assert values.between(0, 1).all()
    # The cases cover both kinds of weights, and 0, 1, 2 and more compared groups.
    assert len(kinds) >= 7
