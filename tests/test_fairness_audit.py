"""Audits against fairlearn called on rows, and against their parts."""

import warnings

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from oracles import LABELS, random_case
from scipy.stats import chi2_contingency
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from skfedauc import (
    AUCPartial,
    FairnessAudit,
    GroupAUC,
    cross_validate_group_auc,
    make_devices,
)
from skfedauc.fairness import decisions

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


# The decision side ------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_groups", [2, 7])
@pytest.mark.parametrize("threshold", ["auto", 0.31, 0.8])
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
    places = dict(zip(audit.report.partial.groups, found, strict=True))
    assert places == pytest.approx({label: np.mean(chosen) for label, chosen in rate.items()})
    assert repr(audit)


def test_a_class_that_is_absent_has_no_rate():
    audit = audit_of([0, 1, 0, 0], [0.1, 0.9, 0.2, 0.8], list("aabb"), None, min_per_class=1)
    rates = audit.by_group[list(RATES)]
    assert rates.loc["a"].tolist() == [0.5, 1.0, 0.0]
    assert rates.loc["b"].fillna(-1).tolist() == [0.5, -1.0, 0.5]
    assert audit.by_group["is_small"].tolist() == [False, True]
    assert "no two groups that are large enough" in audit.findings[-1]
    assert audit.gaps["value"].isna().all()


def test_chance_of_parity_differences():
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
    # Rows that all weigh the same count as often as they are; unequal ones count less.
    name = "demographic_parity_difference"
    same, unequal = (audit_of(y, score, group, y * part + 2.0).gaps.loc[name] for part in (0, 30))
    assert same["expected"] == pytest.approx(audit.gaps.loc[name, "expected"], rel=1e-9)
    assert same["pvalue"] == pytest.approx(audit.gaps.loc[name, "pvalue"], rel=1e-9)
    assert unequal["expected"] > 1.2 * same["expected"]


@pytest.mark.parametrize("rate", [0.001, 0.3, 0.999])
def test_chance_makes_no_difference_above_1(rate):
    sizes = np.random.default_rng(0).integers(1, 400, 2000).astype(float)
    shares = np.full(sizes.size, rate)
    found = decisions.expected_difference(shares, sizes)
    drawn = np.random.default_rng(1).binomial(sizes.astype(int), rate, (400, sizes.size)) / sizes
    assert found == pytest.approx(np.ptp(drawn, axis=1).mean(), rel=0.05)
    assert found <= 1
    # Between two large groups chance makes that of two normal variables.
    error = np.sqrt(rate * (1 - rate) / 1e8)
    large = decisions.expected_difference(shares[:2], np.full(2, 1e8))
    assert large == pytest.approx(2 / np.sqrt(np.pi) * error, rel=0.01)


def test_tests_of_rates_are_chi_squared():
    y, score, group, _ = rows = people(n_groups=4)
    audit, chosen, pvalues = audit_of(*rows, threshold=0.45), score >= 0.45, {}
    for name, kept in (("selection", y >= 0), ("true", y == 1), ("false", y == 0)):
        table = pd.crosstab(group[kept], chosen[kept])
        pvalues[name] = chi2_contingency(table, correction=False).pvalue
    gaps = audit.gaps["pvalue"]
    for kind in ("difference", "ratio"):
        assert gaps[f"demographic_parity_{kind}"] == pytest.approx(pvalues["selection"], rel=1e-9)
        smaller = min(pvalues["true"], pvalues["false"])
        assert gaps[f"equalized_odds_{kind}"] == pytest.approx(min(2 * smaller, 1), rel=1e-9)
    none = audit_of(*rows, threshold=9)
    assert none.gaps["pvalue"][-4:].tolist() == [1.0] * 4
    assert none.gaps["highest"][-4:].isna().all()


def test_equalized_odds_name_the_groups_of_the_rate_that_makes_them():
    audit = audit_of(*people(n_groups=5), threshold=0.45)
    rates = audit.by_group[["true_positive_rate", "false_positive_rate"]]
    widest = np.ptp(rates, axis=0).argmax()
    smallest = (rates.min() / rates.max()).argmin()
    for kind, rate in (("difference", widest), ("ratio", smallest)):
        row = audit.gaps.loc[f"equalized_odds_{kind}"]
        assert row["lowest"] == rates.iloc[:, rate].idxmin()
        assert row["highest"] == rates.iloc[:, rate].idxmax()


# The ranking side -------------------------------------------------------------------------


def test_tables_are_made_of_the_report():
    audit = audit_of(*people(n_groups=4))
    report, table, gaps = audit.report, audit.by_group, audit.gaps
    intervals = report.confidence_intervals()
    for column in ("auc", "ci_low", "ci_high"):
        assert table[column].tolist() == intervals[column].tolist()
    bias = report.bias_by_group
    pd.testing.assert_frame_equal(table[bias.columns], bias)
    with_rest = report.compare_groups("rest")
    assert table["pvalue_adjusted"].tolist() == with_rest["pvalue_adjusted"].tolist()
    assert gaps.loc["difference", "value"] == report.difference
    assert gaps.loc["difference", "expected"] == report.expected_difference
    assert gaps.loc["difference", "pvalue"] == report.test_equal_groups().pvalue
    assert gaps.loc["difference", "lowest"] == report.by_group["auc"].idxmin()
    assert gaps.loc["ratio", "value"] == report.ratio
    assert gaps.loc["tau", "value"] == report.tau
    assert gaps.loc["cross_difference", "value"] == report.cross_difference
    assert abs(gaps.loc["xauc_disparity", "value"]) in bias["xauc_disparity"].abs().tolist()
    assert gaps.loc["abroca", "value"] == report.abroca()["abroca"].max()
    matrix, row = report.cross_matrix, gaps.loc["cross_difference"]
    found = matrix.loc[row["highest"], row["lowest"]] - matrix.loc[row["lowest"], row["highest"]]
    assert found == row["value"]


def test_merged_partials_give_the_same_audit():
    y, score, group, _ = rows = people()
    halves = [
        AUCPartial.from_predictions(y[i::2], score[i::2], groups=group[i::2]) for i in range(2)
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
    pd.testing.assert_frame_equal(audit.gaps, without.gaps)
    pd.testing.assert_frame_equal(
        audit.by_group.drop(columns="is_small").loc[[0, 1, 2]],
        without.by_group.drop(columns="is_small"),
    )
    assert not {7} & {*audit.gaps["lowest"], *audit.gaps["highest"]}
    assert audit.findings[0].startswith("1 of 4 groups has fewer than 10")
    everyone = audit_of(y, score, group, None, min_per_class=9)
    assert everyone.gaps.loc["difference", "lowest"] == 7


# What is said ------------------------------------------------------------------------------


def test_findings_tell_a_gap_across_from_one_within():
    devices = make_devices("different", 400, 600, shifts=(0, 1), random_state=0)
    arguments = devices.y_true, devices.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=devices.groups, threshold=0.5)
    within, across, decided, odds = audit.findings
    assert "cannot be told apart" in within
    assert "favours 'device 2':" in across
    assert "p < 0.001" in across
    assert "selects 45.2% of 'device 1' and 77.8% of 'device 2'" in decided
    assert odds.startswith("The equalized odds difference is 0.")
    assert repr(audit).splitlines()[0] == (
        "FairnessAudit of 2 groups by group, decisions at the threshold 0.5"
    )
    apart = make_devices("same_negatives", 400, 600, shifts=(-1, 0, 0), random_state=0)
    arguments = apart.y_true, apart.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=apart.groups, threshold=0.5)
    assert "The groups differ (p < 0.001)." in audit.findings[0]
    assert audit.findings[1] == (
        "The AUC is below the average of the other groups' AUCs in 'device 1'."
    )
    same = make_devices("identical", 400, 600, shifts=(0, 0, 0), random_state=1)
    arguments = same.y_true, same.y_score
    audit = FairnessAudit.from_predictions(*arguments, groups=same.groups, threshold=0.5)
    assert audit.findings[1].startswith("Between groups no favour is seen")


def test_integers_stay_integers_and_long_labels_are_cut():
    y, score, group, _ = people()
    gaps = audit_of(y, score, group, None).gaps
    assert {type(v) for v in gaps["lowest"].dropna()} == {int}
    long = np.array([f"{'x' * 400}{g}" for g in group], object)
    assert max(map(len, audit_of(y, score, long, None).findings)) < 500


def test_a_tiny_group_does_not_hide_a_favour():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [5000, 5000, 60])
    y = (rng.random(group.size) < 0.5).astype(int)
    score = y + rng.normal(size=group.size) + 0.15 * (group == "a")
    score[group == "tiny"] += 0.6
    audit = audit_of(y, score, group, None, threshold=0.5)
    assert abs(audit.by_group["xauc_disparity"]).idxmax() == "tiny"
    assert audit.gaps.loc["xauc_disparity", "pvalue"] < 0.001
    favoured = audit.findings[1:-2]
    assert "most clearly" in favoured[0]
    named = audit.by_group.index[audit.by_group["xauc_pvalue_adjusted"] < 0.05]
    assert len(named) >= 2
    assert all(any(repr(group) in text for text in favoured) for group in named)


def test_tiny_groups_make_no_favour_of_others():
    """What small groups score is of no account to those that are compared."""
    rng = np.random.default_rng(0)
    group = np.concatenate([np.repeat(["a", "b"], 3000), np.repeat(np.arange(200).astype(str), 8)])
    y = rng.integers(0, 2, group.size)
    score = y + rng.normal(size=group.size)
    is_tiny = np.char.isnumeric(group)
    score[is_tiny] += np.where(y[is_tiny], 0, 3)
    audit = audit_of(y, score, group, None, threshold=0.5)
    assert audit.gaps.loc["xauc_disparity", "pvalue"] > 0.05
    assert "no favour is seen" in audit.findings[-3]


def test_what_is_the_same_in_all_groups_is_said_once():
    group = np.repeat(["a", "b"], 30)
    y = np.tile([0, 1, 1], 20)
    audit = audit_of(y, y * 0.8 + 0.1, group, None)
    assert audit.findings[0] == "The AUC within groups is 1.000 in each of them."
    assert "no favour is seen" in audit.findings[1]
    assert audit.findings[2] == "At the threshold 0.5 it selects 66.7% of every group."
    assert audit.findings[1].endswith("all xAUC disparities are 0.")
    assert audit.gaps[["lowest", "highest"]].isna().all(axis=None)
    for threshold, said in ((2, "no row of any group"), (-1, "every row")):
        found = audit_of(y, y * 0.8 + 0.1, group, None, threshold=threshold).findings
        assert found[-1] == f"At the threshold {threshold} it selects {said}."
    alone = audit_of(y, y * 0.8 + 0.1, ["a"] * 60, None)
    assert repr(alone).startswith("FairnessAudit of 1 group by group")
    lacking = audit_of([0, 1, 0], [0.1, 0.9, 0.2], list("aab"), None, min_per_class=0)
    assert "1 of 2 groups has no positives or negatives" in lacking.findings[0]


# How it is made ----------------------------------------------------------------------------


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


def test_an_estimator_that_decides_otherwise_is_told_of(fitted):
    model, X, y = fitted
    other = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.8).fit(X, y)
    with pytest.warns(UserWarning, match=r"predict differs from predict_proba >= 0\.5 in .*%"):
        FairnessAudit.from_estimator(other, X, y, groups="sex")
    expected = pd.Series(other.predict(X) == "yes").groupby(X["sex"]).mean()
    for options in ({"threshold": 0.8}, {"response_method": "predict"}):
        audit = FairnessAudit.from_estimator(other, X, y, groups="sex", **options)
        np.testing.assert_allclose(audit.by_group["selection_rate"], expected)


def test_a_threshold_of_the_other_class_is_on_its_scale(fitted):
    model, X, y = fitted
    audit = FairnessAudit.from_estimator(model, X, y, groups="sex", pos_label="no", threshold=0.7)
    expected = pd.Series(model.predict_proba(X)[:, 0] >= 0.7).groupby(X["sex"]).mean()
    np.testing.assert_allclose(audit.by_group["selection_rate"], expected)
    assert audit.threshold == audit.of("sex").threshold == 0.7


@pytest.mark.parametrize("make", [pd.DataFrame, lambda d: d, "polars"])
def test_one_audit_by_several_columns(make):
    rng = np.random.default_rng(0)
    columns = {"sex": rng.choice(["f", "m"], 600), "band": rng.integers(0, 3, 600)}
    y, score = rng.integers(0, 2, 600), rng.random(600)
    if make == "polars":
        make = pytest.importorskip("polars").DataFrame
    table = make(columns)
    groups = table if not isinstance(table, dict) else pd.DataFrame(table)
    audit = FairnessAudit.from_predictions(y, score, groups=groups, threshold=0.4)
    assert audit.columns == ("sex", "band")
    assert audit.by_group.index.nlevels == 2
    for name, column in columns.items():
        alone = FairnessAudit.from_predictions(
            y, score, groups=pd.Series(column, name=name), threshold=0.4
        )
        pd.testing.assert_frame_equal(audit.of(name).by_group, alone.by_group)
        assert audit.of(name).findings == alone.findings
        assert audit.of(name).of(name).columns == (name,)
    pd.testing.assert_frame_equal(
        audit.of(["band", "sex"]).by_group.swaplevel().sort_index(), audit.by_group
    )
    for unknown in ("age", [], ["sex", "sex"]):
        with pytest.raises(ValueError, match=r"columns must be one or some of \['sex', 'band'\]"):
            audit.of(unknown)


def test_names_of_columns_can_be_given_to_merged_partials():
    y, score, group, _ = people()
    partial = AUCPartial.from_predictions(y, score, groups=np.column_stack([group, group % 2]))
    report = GroupAUC(partial, group_names=["site", "sex"])
    assert FairnessAudit(report).of("sex").columns == ("sex",)
    assert list(report.by_group.index.names) == ["site", "sex"]
    alone = AUCPartial.from_predictions(y, score, groups=group)
    assert GroupAUC(alone, group_names="site").by_group.index.name == "site"
    with pytest.raises(ValueError, match=r"one name for each of the 2 columns .* got str 'site'"):
        GroupAUC(partial, group_names="site")
    for names in ([1], 5):
        with pytest.raises(TypeError, match="group_names must be a str or a list of str"):
            GroupAUC(alone, group_names=names)
    with pytest.raises(ValueError, match="group_names must be different"):
        GroupAUC(partial, group_names=["sex", "sex"])


def test_groups_of_several_columns_may_all_be_small():
    columns = pd.DataFrame({"a": list("ppqq") * 2, "b": list("uvuv") * 2})
    audit = FairnessAudit.from_predictions([0, 1] * 4, np.arange(8) / 9, groups=columns)
    assert audit.compared.n_groups == 0
    assert audit.by_group["is_small"].all()
    assert "no two groups that are large enough" in repr(audit)


def test_perfect_and_reversed_groups():
    """No group AUC is beyond 0 and 1, so that tau is at most one half."""
    group = np.repeat(["a", "b"], 60)
    y = np.tile([0, 1], 60)
    score = np.where(y == 1, 0.7, 0.3) + np.linspace(0, 0.1, 120)
    audit = audit_of(y, np.where(group == "a", score, 1 - score), group, None)
    tau = audit.gaps.loc["tau"]
    assert tau["ci_low"] <= tau["value"] <= tau["ci_high"] <= 0.5


def test_what_cannot_be_audited_is_said():
    y, score, group, _ = people(50)
    report = GroupAUC.from_predictions(y, score * 3, groups=group)
    with pytest.raises(ValueError, match=r"the scores are from .* Pass the score from which"):
        FairnessAudit(report)
    with pytest.raises(ValueError, match="threshold must be 'auto' or a finite number; got nan"):
        FairnessAudit(report, threshold=np.nan)
    with pytest.raises(ValueError, match="threshold must be 'auto' or a finite number; got 'x'"):
        FairnessAudit(report, threshold="x")
    with pytest.raises(ValueError, match="min_per_class must be a whole number"):
        FairnessAudit(report, threshold=1, min_per_class=0.5)
    with pytest.raises(TypeError, match=r"reads a GroupAUC; got ndarray\. Use"):
        FairnessAudit(score)
    with pytest.raises(TypeError, match=r"FairnessAudit\(GroupAUC\(partial"):
        FairnessAudit(report.partial)
    with pytest.raises(ValueError, match="an audit needs groups"):
        FairnessAudit(GroupAUC(AUCPartial.from_predictions(y, score)))
    with pytest.raises(ValueError, match="an audit needs rows; the report has none"):
        FairnessAudit(GroupAUC(AUCPartial.from_predictions([], [], groups=[])), threshold=0)
    X = pd.DataFrame({"score": score, "site": group})
    result = cross_validate_group_auc(LogisticRegression(), X, y, groups="site", cv=2)
    with pytest.raises(ValueError, match=r"this report does not.*folds\[0\]"):
        FairnessAudit(result.within_folds, threshold=0)


def test_any_rows_can_be_audited():
    """Ties, weights, one-class groups and single rows: no error, no warning, no rate beyond 1."""
    for seed in range(40):
        case = random_case(seed)
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
        assert tables[0]["selection_rate"].between(0, 1).all()
        values = tables[1].loc[tables[1].index != "xauc_disparity", "value"].dropna()
        assert values.between(0, 1).all()
