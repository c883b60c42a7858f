"""Comparisons of audits: changes of gaps, each model's own response, and outputs."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from audits import audit_of, by_rows, rows_of
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from test_audit_clusters import jackknifed

from skfedauc import FairnessAudit, GroupAUC, compare_models
from skfedauc.audit.wording import sentence, short
from skfedauc.inference.model_comparison import (
    GroupValues,
    auc_values,
    joint_disparities,
    joint_within,
    rate_changes,
)
from skfedauc.inference.row_effects import Rows
from skfedauc.report.group_auc import estimates_of


def two_models(seed=0, n=1500, spread=0.8, **options):
    """Return audits of two models and their rows; the second one ranks g0 as well as others."""
    y, score, groups, _ = rows_of(seed, n, gap=spread)
    better = rows_of(seed, n)[1]
    audits = [audit_of(y, of, groups, **options) for of in (score, better)]
    return audits, (y, score, better, groups)


@pytest.fixture(scope="module")
def compared():
    (first, second), rows = two_models(spread=2.0, tolerances={"difference": 0.05})
    return first.compare(second, ("old", "new <b>")), rows


def test_gaps_before_and_after_are_those_of_the_audits(compared):
    comparison, (y, *scores, groups) = compared
    for name, found in comparison.answers["group"].items():
        if name == "within":
            continue
        of_audits = [audit.answers["group"][name] for audit in comparison.audits]
        for audit, value, model in zip(of_audits, (found.before, found.after), (0, 1), strict=True):
            value = abs(value) if name == "xauc_disparity" else value
            values = by_rows(y, scores[model], groups, None)[audit.question.value]
            if name != "xauc_disparity":
                assert value == pytest.approx(values.max() - values.min())
                assert value == pytest.approx(audit.estimate)
        assert found.estimate == pytest.approx(found.after - found.before)


def test_changes_of_aucs_are_those_of_compare_models(compared):
    comparison, (y, score, better, groups) = compared
    within = comparison.answers["group"]["within"]
    expected = compare_models(
        y, {"a": score, "b": better}, groups=groups, statistic="within", confidence_level=0.975
    )
    np.testing.assert_allclose(
        [within.estimate, within.ci_low, within.ci_high, within.pvalue],
        [expected.estimate, expected.ci_low, expected.ci_high, min(2 * expected.pvalue, 1)],
        rtol=1e-9,
    )
    said = comparison.to_dict()["columns"]["group"]["answers"]["within"]["sentence"]
    assert said.startswith("The AUC within groups is higher")
    assert f"{within.before:.3f} with old, {within.after:.3f} with new <b>" in said
    table = comparison.answers["group"]["difference"].table
    by_group = expected.by_group.droplevel([0, 1])
    np.testing.assert_allclose(table["difference"], by_group["difference"], atol=1e-12)


def test_gap_changes_are_those_of_inference(compared):
    comparison, (y, score, better, groups) = compared
    codes = np.unique(groups, return_inverse=True)[1]
    rows = Rows(y == 1, np.array([score, better]), np.ones(y.size), codes, 3)
    within, kept = joint_within(rows, auc_values(rows)[0]), np.ones(3, bool)
    reports = [GroupAUC.from_predictions(y, of, groups=groups) for of in (score, better)]
    of_models = [estimates_of(report).variances for report in reports]
    expected = GroupValues.of_aucs(within, of_models).contrasts(kept).change(0.025, 1.0)
    found = comparison.answers["group"]["difference"]
    numbers = [found.estimate, found.ci_low, found.ci_high, found.pvalue]
    np.testing.assert_allclose(numbers, [*expected[:3], min(2 * expected[3], 1)], rtol=1e-9)
    decided = np.array([score >= 0.5, better >= 0.5])
    low, high, values = rate_changes(decided, codes, 3, np.ones(y.size), 0.95)
    table = comparison.answers["group"]["demographic_parity_difference"].table
    np.testing.assert_allclose(table["ci_low"], low)
    np.testing.assert_allclose(table["ci_high"], high)
    expected = values.contrasts(kept).change(0.05 / 5, 1.0)
    found = comparison.answers["group"]["demographic_parity_difference"]
    assert [found.ci_low, found.ci_high] == pytest.approx(expected[1:3])


def test_calibration_changes_are_paired_differences(compared):
    comparison, (_, score, better, groups) = compared
    table = comparison.answers["group"]["calibration_difference"].table
    for group in table.index:
        change = (better - score)[groups == group]
        error = change.std(ddof=1) / np.sqrt(change.size)
        row = table.loc[group]
        assert row["difference"] == pytest.approx(change.mean())
        assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.9639 * error, rel=5e-3)


def test_verdict_interval_and_p_value_never_disagree():
    n_claims = 0
    for seed in range(12):
        (first, second), _ = two_models(seed, 500, spread=seed / 3)
        for found in first.compare(second).answers["group"].values():
            excludes = found.ci_low > 0 or found.ci_high < 0
            assert found.is_claim == excludes == (found.pvalue < 0.05), found
            assert found.shown[2:] == (*found.gap, found.pvalue)
            n_claims += found.is_claim
    assert n_claims > 5


def test_variances_of_disparities_equal_the_jackknife():
    """The infinitesimal jackknife over rows; the strata are groups and classes."""
    rng = np.random.default_rng(5)
    groups, y, w = rng.integers(0, 3, 240), rng.integers(0, 2, 240), rng.uniform(0.5, 2.0, 240)
    scores = rng.normal(size=(2, 240)) + y
    rows = Rows(y == 1, scores, w, groups, 3)

    def values(weights):
        disparity = joint_disparities(dataclasses.replace(rows, weights=weights)).auc
        return disparity[1] - disparity[0]

    influence = jackknifed(lambda omega: values(omega * w), np.arange(y.size))
    found = joint_disparities(rows).variance[0, 1]
    for g in range(3):
        expected = 0.0
        for own, label in itertools.product((True, False), (0, 1)):
            mine = ((groups == g) == own) & (y == label)
            n = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
            expected += (influence[mine, g] ** 2).sum() * n / (n - 1)
        assert found[g] == pytest.approx(expected, rel=1e-4)


def test_a_disparity_that_changes_without_variance_has_no_test():
    """In the second model, each positive of a group is above one more negative of the others."""
    codes, positive = np.repeat([0, 1], 6), np.tile(np.repeat([True, False], 3), 2)
    scores = np.array([[4, 2, 0, 1, 3, 5] * 2, [6, 4, 2, 1, 3, 5, 4, 2, 0, 1, 3, 5]], float)
    found = joint_disparities(Rows(positive, scores, np.ones(12), codes, 2))
    assert found.auc[1] - found.auc[0] == pytest.approx([1 / 3, -1 / 3])
    assert np.isnan(found.variance[0, 1]).all()
    assert (found.variance[0, 0] == 0).all()


def test_each_model_keeps_its_own_response():
    """A model with decisions only, or decision values, is compared on these."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["u", "v"])
    X["site"] = rng.integers(0, 2, 400)
    y = np.where(X["u"] + X["v"] + rng.normal(size=400) > 0.5, "yes", "no")
    logistic, svm = LogisticRegression().fit(X, y), LinearSVC().fit(X, y)
    audits = [FairnessAudit.from_estimator(model, X, y, groups="site") for model in (logistic, svm)]
    comparison = audits[0].compare(audits[1], ("logistic", "svm"))
    for model, audit in zip((logistic, svm), audits, strict=True):
        expected = GroupAUC.from_estimator(model, X, y, groups="site")
        np.testing.assert_allclose(audit.by_group()["auc"], expected.by_group["auc"], atol=1e-12)
    found = comparison.answers["site"]
    assert found["calibration_difference"].missing == "exact scores that are probabilities"
    assert found["demographic_parity_difference"].verdict != "unanswered"
    ranking = FairnessAudit.from_estimator(svm, X, y, groups="site", threshold=None)
    needs = audits[0].compare(ranking).answers["site"]["demographic_parity_difference"].missing
    assert needs == "decisions"


def test_what_cannot_be_compared_is_said():
    y, score, groups, _ = rows_of()
    audit = audit_of(y, score, groups)
    from_counts = FairnessAudit(audit.report)
    for other, error, message in (
        (from_counts, ValueError, "a comparison needs rows"),
        (audit_of(1 - y, score, groups), ValueError, "same labels, groups, weights"),
        (audit_of(y, score, groups[::-1]), ValueError, "same labels, groups, weights"),
        (audit_of(y, score, groups, y + 1.0), ValueError, "same labels, groups, weights"),
        (audit_of(y, score, groups, min_per_class=5), ValueError, "equal columns and min_per"),
        (audit_of(y, score, groups, clusters=np.arange(y.size)), ValueError, "same labels"),
        (score, TypeError, "other must be a FairnessAudit; got"),
    ):
        with pytest.raises(error, match=message):
            audit.compare(other)
    for names, message in ((("a", "a"), "different"), (("a", " "), "two texts"), (None, "texts")):
        with pytest.raises((TypeError, ValueError), match=f"names must be .*{message}"):
            audit.compare(audit, names)


def test_groups_of_one_row_of_a_class_have_bounds_of_variances():
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 400), rng.integers(0, 30, 400)
    before, after = (
        FairnessAudit.from_predictions(y, rng.random(400).round(1), groups=groups, min_per_class=1)
        for _ in range(2)
    )
    changed = before.compare(after).answers["group"]["difference"]
    assert changed.table["n_rows"].size == 30
    low, high = changed.shown[3:5]
    assert low < changed.shown.estimate < high


def test_gaps_of_equal_decisions_may_have_changed():
    y, groups = np.tile([0, 1], 100), np.repeat(["a", "b"], 100)
    first, second = (
        FairnessAudit.from_predictions(y, y + np.arange(200) / 400, groups=groups, y_pred=y)
        for _ in range(2)
    )
    found = first.compare(second).gaps.loc["group"]
    assert (found["estimate"].dropna() == 0).all()
    for name in ("demographic_parity_difference", "true_positive_rate_difference"):
        assert 0.01 < found.loc[name, "ci_high"] == -found.loc[name, "ci_low"] < 0.08


@pytest.mark.parametrize(
    ("rate", "q", "n"), [(0.6, 0.01, 400), (0.6, 0.05, 50), (0.6, 0.1, 100), (0.4, 0.03, 500)]
)
def test_limits_of_changes_of_gaps_of_rates_cover(rate, q, n):
    rng, codes, held = np.random.default_rng(0), np.repeat([0, 1], n), []
    for _ in range(300):
        before = rng.random(2 * n) < np.where(codes == 0, rate, 0.4)
        after = before | ((codes == 0) & (rng.random(2 * n) < q))
        *_, values = rate_changes(np.array([before, after]), codes, 2, np.ones(2 * n), 0.95)
        _, low, high, _ = values.contrasts(np.ones(2, bool)).change(0.05, 1.0)
        held.append(low <= (1 - rate) * q <= high)
    assert np.mean(held) > 0.9


def test_changes_are_those_of_groups_with_enough_rows():
    """A group of few rows, which has both models' largest gaps, changes no answer."""
    (y, *scores, groups) = two_models(3, 900)[1]
    rng, few = np.random.default_rng(0), np.tile([0, 1], 20)
    y, groups = np.append(y, few), np.append(groups, ["tiny"] * 40)
    scores = [np.append(of, rng.random(40) - few) for of in scores]
    kept = groups != "tiny"
    found, expected = (
        audit_of(y[rows], scores[0][rows], groups[rows], threshold=None)
        .compare(audit_of(y[rows], scores[1][rows], groups[rows], threshold=None))
        .answers["group"]["difference"]
        for rows in (slice(None), kept)
    )
    assert found.shown == expected.shown
    assert (found.before, found.after) == (expected.before, expected.after)
    assert found.few == {"tiny"} == {*found.groups} - {*expected.groups}
    largest = np.ptp(found.table[["before", "after"]], axis=0)
    assert " With tiny (40 rows, few of a class), the largest is " in sentence(found)
    assert f"{largest['before']:.3f} with before and {largest['after']:.3f}" in sentence(found)
    assert "tiny" not in short(found)


def test_changes_of_gaps_cover_and_have_the_power_of_pairs():
    """The gap of five groups is that of one group; its change is found as if it were known."""
    rng, codes, found = np.random.default_rng(0), np.repeat(np.arange(5), 400), []
    for lift in np.repeat([0.0, 0.15], 60):
        y = rng.random(codes.size) < 0.5
        shift = np.where(codes == 0, 0.7, 1.5)
        z = rng.normal(size=codes.size) + y * shift
        scores = [z, z + 0.1 * rng.normal(size=y.size) + lift * y * (codes == 0)]
        audits = [audit_of(y, of, codes, threshold=None) for of in scores]
        answer = audits[0].compare(audits[1]).answers["group"]["difference"]
        true = [norm.cdf(of / np.sqrt(2)) for of in (1.5, 0.7, 1.5 / 1.005, (0.7 + lift) / 1.005)]
        change = (true[2] - true[3]) - (true[0] - true[1])
        found.append([answer.ci_low <= change <= answer.ci_high, answer.is_claim])
    covered, claimed = np.reshape(found, (2, 60, 2)).mean(axis=1).T
    assert covered.min() > 0.9
    assert claimed[0] < 0.1
    assert claimed[1] > 0.35
