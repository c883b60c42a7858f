"""Answers of audits, compared with fairlearn, scikit-learn and the rows."""

import json
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audits import audit_of, by_rows, rows_of
from fairlearn import metrics as fairlearn
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from oracles import random_case
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    RepeatedStratifiedKFold,
    TunedThresholdClassifierCV,
)

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MitigatedClassifier,
    ScoreCounts,
    cross_validate_group_auc,
)
from skfedauc.audit import QUESTIONS, rates_and_gaps, wording
from skfedauc.audit.answers import answer
from skfedauc.report.group_auc import null_difference_of

RATES = [name for name in QUESTIONS if QUESTIONS[name].requires == "decisions"][:3]
GAPS = {"true_positive_rate_difference": fairlearn.equal_opportunity_difference}
GAPS |= {
    name: getattr(fairlearn, name)
    for name in (RATES[0], RATES[2], "demographic_parity_ratio", "equalized_odds_difference")
}
TOOLS = json.loads((Path(__file__).parent / "data" / "other_tools.json").read_text())["data"]
ALL = {"ratio": 0.9, "demographic_parity_ratio": 0.8, "equalized_odds_difference": 0.1}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, 6])
def test_values_are_those_of_the_rows(weighted, digits):
    rows = rows_of(digits=digits, weighted=weighted)
    audit = audit_of(*rows, tolerances=ALL)
    expected = by_rows(*rows)
    found = audit.by_group()
    pd.testing.assert_frame_equal(found[list(expected)], expected, check_names=False, atol=1e-12)
    y, score, groups, weight = rows
    for name, function in GAPS.items():
        direct = function(y, score >= 0.5, sensitive_features=groups, sample_weight=weight)
        assert audit.answers["group"][name].estimate == pytest.approx(direct, abs=1e-12)
    auc = expected["auc"]
    gaps = audit.gaps.loc["group"]["estimate"]
    assert gaps["difference"] == pytest.approx(auc.max() - auc.min())
    assert gaps["ratio"] == pytest.approx(auc.min() / auc.max())
    assert gaps["xauc_disparity"] == pytest.approx(expected["xauc_disparity"].abs().max())
    rates = ("selection_rate", "true_positive_rate", "false_positive_rate")
    frame = fairlearn.MetricFrame(
        metrics={rate: getattr(fairlearn, rate) for rate in rates},
        y_true=y,
        y_pred=score >= 0.5,
        sensitive_features=groups,
        sample_params={rate: {"sample_weight": weight} for rate in rates},
    )
    np.testing.assert_allclose(audit.metric_frame.by_group, frame.by_group)


@pytest.mark.parametrize("data", TOOLS)
def test_rates_are_those_of_aequitas_and_aif360(data):
    """The record names the versions, and why other numbers of these packages differ."""
    groups, reference = TOOLS[data]["groups"], TOOLS[data]["reference"]
    n_rows = np.array([of["rows"] for of in groups.values()]).reshape(-1, 2, 2)
    group, y, decision = (
        np.repeat(of, n_rows.ravel()) for of in np.indices(n_rows.shape).reshape(3, -1)
    )
    names, options = np.array(list(groups))[group], {"min_per_class": 1, "tolerances": ALL}
    audit = audit_of(y, np.where(decision, 0.75, 0.25), names, **options)
    found, gaps = audit.by_group(), audit.gaps.loc["group"]["estimate"]
    aequitas, aif360 = (
        pd.DataFrame({name: of[tool] for name, of in groups.items()}).T.loc[found.index]
        for tool in ("aequitas", "AIF360")
    )
    rates = ["selection_rate", "true_positive_rate", "false_positive_rate"]
    np.testing.assert_allclose(found[rates], aif360[rates], atol=1e-12)
    np.testing.assert_allclose(found[rates], aequitas[["pprev", "tpr", "fpr"]], atol=1e-12)
    for name, of in zip(
        RATES, ("statistical_parity", "equal_opportunity", "false_positive_rate"), strict=True
    ):
        signed = aif360[f"{of}_difference"].fillna(0.0)  # no number for the reference
        assert np.ptp(signed) == pytest.approx(gaps[name], abs=1e-11)
    ratio = aequitas["pprev_disparity"]
    assert ratio.min() / ratio.max() == pytest.approx(gaps["demographic_parity_ratio"], abs=1e-11)
    for name in set(groups) - {reference}:
        two = np.isin(names, [name, reference])
        own = audit_of(y[two], 0.25 + decision[two] / 2, names[two], **options)
        odds = own.answers["group"]["equalized_odds_difference"].estimate
        assert odds == pytest.approx(aif360.loc[name, "equalized_odds_difference"], abs=1e-11)


def test_changes_of_a_row_do_not_reach_the_answer():
    found = audit_of(*rows_of(0)).answers["group"]["difference"]
    group = found.groups[0]
    kept = found.row(group)
    found.row(group)["value"] = 99.0
    assert found.row(group) == kept


def test_the_pairs_of_the_primary_answer_are_those_of_the_report():
    """`test_one_answer.py` compares the difference, and the values and limits of the groups."""
    for seed in range(6):
        rows = rows_of(seed, gap=seed / 3, n_groups=2 + seed % 4)
        audit = audit_of(*rows)
        found = audit.answers["group"]["difference"]
        test = audit.report.test_difference()
        assert (found.highest, found.lowest) == (test.highest, test.lowest)
        pairs = audit.report.compare_groups()
        for group in found.groups:
            if group != found.reference:
                row = found.row(group)
                limits = row["simultaneous_low"], row["simultaneous_high"]
                key, sign = (group, found.reference), 1.0
                if key not in pairs.index:
                    key, sign = key[::-1], -1.0
                ends = sign * pairs.loc[key, ["simultaneous_low", "simultaneous_high"]]
                ends = np.clip(sorted(ends), -test.ci_high, test.ci_high)
                np.testing.assert_allclose(limits, ends, atol=1e-12)
        if found.verdict == "undecided":
            assert found.expected == null_difference_of(audit.report)


def cases():
    for seed in range(8):
        yield audit_of(*rows_of(seed, 400, gap=seed / 2, n_groups=2 + seed % 3), tolerances=ALL)
        yield audit_of(*rows_of(seed, 400, digits=1, weighted=True, gap=1), tolerances=ALL)
        y, score, groups, _ = rows_of(seed, 600, gap=1)
        yield audit_of(y, score, groups, clusters=np.arange(600) // 4)
        yield audit_of(y, score, groups, clusters=np.arange(600) % 97)
        counts = ScoreCounts.from_predictions(y, score, groups=groups, disclosure="bins")
        yield FairnessAudit(GroupAUC(counts))


def assert_no_pair_exceeds_the_largest_difference(found):
    limits = found.table[["simultaneous_low", "simultaneous_high"]].abs().max().max()
    assert max(limits, found.shown.ci_high) <= found.ci_high
    assert found.shown.ci_low <= found.ci_low + 1e-12


def test_verdict_interval_and_p_value_never_disagree():
    n_claims = 0
    for audit in cases():
        for found in audit.answers["group"].values():
            if found.missing:
                continue
            null = 1.0 if found.question.is_ratio else 0.0
            excludes = not found.ci_low <= null <= found.ci_high
            assert found.is_claim == excludes == (found.pvalue < 0.05), found
            assert found.ci_low <= found.estimate + 1e-12 <= found.ci_high + 2e-12, found
            n_claims += found.is_claim
            parts = [audit.answers["group"][name] for name in found.question.parts]
            if parts:
                assert found.gap == tuple(np.max([part.gap for part in parts], axis=0))
                assert found.pvalue == min(part.pvalue for part in parts)
            elif found.is_claim:
                assert null < found.shown.ci_low or found.shown.ci_high < null
            outside = not found.shown.ci_low <= null <= found.shown.ci_high
            assert outside == (found.shown.pvalue < 0.05), found
            if not found.question.is_for_tolerance:
                assert_no_pair_exceeds_the_largest_difference(found)
    assert n_claims > 30


def test_the_primary_verdict_does_not_depend_on_other_questions_or_columns():
    y, score, groups, _ = rows_of(3, gap=0.8)
    both = pd.DataFrame({"a": groups, "b": np.arange(y.size) % 3, "c": np.arange(y.size) % 7})
    report = GroupAUC.from_predictions(y, score, groups=both["a"])
    statistics = report.confidence_intervals(of="statistics")[["value", "ci_low", "ci_high"]]
    alone = audit_of(y, score * 3, both[["a"]], threshold=None)
    audits = (
        audit_of(y, score * 3, both, threshold=0.7),
        audit_of(y, score, both, intersections=[("a", "b")], tolerances={"difference": 0.1}),
        audit_of(y, score, both[["a"]], y_pred=y),
    )
    expected = alone.answers["a"]["difference"]
    for audit in (alone, *audits):
        for numbers in statistics.loc[["pooled", "within"]].to_numpy():
            assert "{:.3f} ({:.3f} to {:.3f})".format(*numbers) in audit._document.data["headline"]
        found = audit.answers["a"]["difference"]
        for name in ("estimate", "ci_low", "ci_high", "pvalue", "verdict", "shown"):
            assert getattr(found, name) == getattr(expected, name)
    # One secondary question without decisions or probabilities, five with both
    n_claims = [
        audit.answers["a"]["xauc_disparity"].n_claims for audit in (alone, audits[0], audits[1])
    ]
    assert n_claims == [1, 4, 5]


def test_small_groups_are_not_headlined():
    """A tiny group has the largest AUC; the sentence names an established pair of large groups."""
    y, score, groups, _ = rows_of(1, 3000, few=60, gap=2.5)
    tiny = groups == "tiny"
    score[tiny] = np.where(y[tiny] == 1, 0.95, 0.05)
    found = audit_of(y, score, groups).answers["group"]["difference"]
    assert found.verdict == "differ"
    assert found.highest == "tiny"
    assert "tiny" not in found.shown[:2]
    assert found.shown.lowest == found.lowest == "g0"
    assert found.shown.ci_low > 0
    # If only the small group differs, the sentence names it.
    y, score, groups, _ = rows_of(1, 3000, few=60)
    score[groups == "tiny"] = np.where(y[groups == "tiny"] == 1, 0.02, 0.9)
    found = audit_of(y, score, groups).answers["group"]["difference"]
    assert found.shown.lowest == "tiny"
    said = wording.sentence(found)
    assert "tiny 0.000 (60 rows, few of a class), g0" in said
    auc = by_rows(y, score, groups, None)["auc"].drop("tiny")
    size = f"{auc.max() - auc.min():.3f}"
    assert said.endswith(f" Without tiny (60 rows, few of a class), the largest is {size}.")


def test_the_largest_difference_of_few_rows_is_said_to_be_one():
    y, score, groups, _ = rows_of(0, 3000, few=60)
    found = audit_of(y, score, groups).answers["group"]["difference"]
    aucs = by_rows(y, score, groups, None)["auc"]
    auc = aucs.drop("tiny")
    assert found.verdict == "undecided"
    assert "tiny" in (found.lowest, found.highest)
    assert (found.shown.lowest, found.shown.highest) == (auc.idxmin(), auc.idxmax())
    assert found.shown.ci_low < 0 < found.shown.ci_high
    largest = f"The largest observed difference is {np.ptp(aucs):.3f}, with tiny"
    assert largest in wording.sentence(found)
    assert "(60 rows, few of a class)" in wording.sentence(found)


@pytest.mark.parametrize("clustered", [False, True])
def test_audits_within_a_control_column_share_the_error_rates(clustered):
    y, score, groups, _ = rows_of(gap=1)
    site = np.arange(y.size) % 2
    clusters = np.arange(y.size) // 4 if clustered else None
    columns = pd.DataFrame({"group": groups, "band": np.arange(y.size) // 500, "site": site})
    audit = audit_of(y, score, columns, clusters=clusters, intersections=[("group", "band")])
    parts = audit.within("site")
    assert list(parts) == [0, 1]
    for level, part in parts.items():
        own = site == level
        assert list(part.samples) == ["group", "band", "group \N{MULTIPLICATION SIGN} band"]
        alone = audit_of(
            y[own], score[own], groups[own], clusters=None if clusters is None else clusters[own]
        )
        for name, question in QUESTIONS.items():
            if not question.is_for_tolerance:
                found = part.answers["group"][name]
                if found.missing:
                    assert name == "calibration_difference"
                    continue
                one = answer(question, alone.samples["group"], found.n_claims)
                n_asked = 4 if clustered else 5  # calibration needs clusters in one group each
                assert found.n_claims == (2 if name == "difference" else 2 * n_asked)
                assert found.pvalue == pytest.approx(one.pvalue, rel=1e-9)
                assert found.ci_high == pytest.approx(one.ci_high, rel=1e-9)
        assert part.facts["within"] == {"site": level}
        assert "2 audits together" in " ".join(repr(part).split())
    for wrong in ("age", ["site"]):
        with pytest.raises((ValueError, TypeError), match=r"column|unhashable"):
            audit.within(wrong)
    with pytest.raises(ValueError, match="column must be one of several group columns"):
        audit_of(y, score, groups).within("group")


def test_counts_give_the_audit_of_the_rows():
    y, score, groups, weight = rows_of(few=15, weighted=True)
    decided = (np.random.default_rng(1).random(y.size) < score).astype(int)
    whole = audit_of(y, score, groups, weight, y_pred=decided)
    parts = [
        audit_of(y[i::2], score[i::2], groups[i::2], weight[i::2], y_pred=decided[i::2])
        for i in (0, 1)
    ]
    merged = FairnessAudit(
        GroupAUC(parts[0].report.counts + parts[1].report.counts),
        decisions=parts[1].decisions + parts[0].decisions,
    )
    pd.testing.assert_frame_equal(merged.gaps, whole.gaps, rtol=1e-9)
    pd.testing.assert_frame_equal(merged.by_group(), whole.by_group(), rtol=1e-9)
    report = whole.report
    with pytest.raises(ValueError, match="decisions must have the rows of the report"):
        FairnessAudit(report, decisions=parts[0].decisions)
    with pytest.raises(ValueError, match="decisions must have the scores 0 and 1 only"):
        FairnessAudit(report, decisions=report.counts)
    with pytest.raises(TypeError, match=r"decisions must be a ScoreCounts .* got ndarray"):
        FairnessAudit(report, decisions=decided)
    with pytest.raises(ValueError, match="pass either decisions or a threshold, not both"):
        audit_of(y, score, groups, y_pred=decided, threshold=0.5)
    with pytest.raises(TypeError, match="decisions are counts for a report; got ScoreCounts"):
        audit_of(y, score, groups, decisions=whole.decisions)


def test_copies_of_rows_in_a_cluster_establish_nothing():
    y, score, groups, _ = rows_of(5, n=240, n_groups=2, gap=0.6)
    five = np.repeat(np.arange(240), 5)
    once = audit_of(y, score, groups)
    blind = audit_of(y[five], score[five], groups[five])
    found = audit_of(y[five], score[five], groups[five], clusters=five)
    for name, of_rows in once.answers["group"].items():
        one = found.answers["group"][name]
        assert one.estimate == pytest.approx(of_rows.estimate)
        assert abs(one.ci_high - of_rows.ci_high) < 0.03
        assert one.ci_high > blind.answers["group"][name].ci_high
    assert "240 clusters" in repr(found)
    shared = audit_of(y, score, groups, clusters=np.arange(240) % 50)
    needs = shared.answers["group"]["calibration_difference"].missing
    assert needs == "clusters that are each in one group"


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": np.arange(400) % 2})
    y = np.where(rng.normal(size=400) + frame["x"] + frame["sex"] > 0.6, "yes", "no")
    return LogisticRegression().fit(frame, y), frame, y


@pytest.mark.parametrize("pos_label", [None, "no"])
def test_rates_are_those_of_predict_and_aucs_those_of_scores(fitted, pos_label):
    model, X, y = fitted
    recall = make_scorer(recall_score, pos_label="yes")
    reduction = ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3)
    positive = pos_label or "yes"
    for estimator in (
        model,
        TunedThresholdClassifierCV(FrozenEstimator(model), scoring=recall, cv=2).fit(X, y),
        FixedThresholdClassifier(FrozenEstimator(model), threshold=0.8).fit(X, y),
        MitigatedClassifier(reduction, groups="sex", random_state=0).fit(X, y),
    ):
        given = {"groups": "sex", "pos_label": pos_label}
        audit = FairnessAudit.from_estimator(estimator, X, y, **given)
        assert list(audit.samples) == ["sex"]
        assert audit.facts["threshold"] is None
        chosen = estimator.predict(X) == positive
        expected = pd.Series(chosen).groupby(X["sex"]).mean()
        np.testing.assert_allclose(audit.by_group()["selection_rate"], expected)
        own = GroupAUC.from_estimator(estimator, X, y, **given).by_group["auc"]
        np.testing.assert_allclose(audit.by_group()["auc"], own, atol=1e-12)
        # A threshold argument overrides the decisions of the estimator.
        audit = FairnessAudit.from_estimator(estimator, X, y, threshold=0.3, **given)
        column = list(estimator.classes_).index(positive)
        expected = pd.Series(estimator.predict_proba(X)[:, column] >= 0.3).groupby(X["sex"]).mean()
        np.testing.assert_allclose(audit.by_group()["selection_rate"], expected)
        assert audit.facts["threshold"] == 0.3
        ranking = FairnessAudit.from_estimator(estimator, X, y, threshold=None, **given)
        assert ranking.decisions is None


def test_decisions_are_drawn_once(fitted):
    _, X, y = fitted

    class Drawn(LogisticRegression):
        n_calls = 0

        def predict(self, X):
            Drawn.n_calls += 1
            return super().predict(X)

    model = Drawn().fit(X, y)
    FairnessAudit.from_estimator(model, X, y, groups="sex")
    assert Drawn.n_calls == 1


def test_tolerances_are_answered_by_the_interval_that_is_shown():
    rows, seen = rows_of(gap=1), set()
    for limit in (0.01, 0.1, 0.3, 0.6, 0.85, 0.99):
        audit = audit_of(*rows, tolerances=dict.fromkeys(QUESTIONS, limit))
        for (_, name), row in audit.tolerances.iterrows():
            found = audit.answers["group"][name]
            assert [row["ci_low"], row["ci_high"]] == [found.ci_low, found.ci_high]
            within = found.ci_high <= limit
            beyond = found.ci_low > limit
            if name.endswith("ratio"):
                within, beyond = found.ci_low >= limit, found.ci_high < limit
            answers = {True: "met", False: "not met" if beyond else "undecided"}
            assert row["answer"] == answers[bool(within)]
            seen.add(row["answer"])
    assert seen == {"met", "not met", "undecided"}
    assert audit_of(*rows).tolerances.empty


@pytest.mark.parametrize(
    ("name", "limit"), [("difference", 0.1), ("demographic_parity_ratio", 0.75)]
)
def test_the_rows_that_would_decide_a_tolerance_do(name, limit):
    y, score, groups, _ = rows_of(0)
    audit = audit_of(y, score, groups, tolerances={name: limit})
    (case,) = audit.to_dict()["tolerances"]["cases"]
    n_rows = case["n_rows_to_decide"]
    assert case["answer"] == "undecided"
    assert f"; needs {n_rows:,} rows" in audit._document.tolerances[0].cells[0].text
    assert "decide it in about 80 % of cases" in audit._document.data["promise"]
    answers = []
    for n in (n_rows / 4, n_rows * 1.05):
        again = np.tile(np.arange(y.size), max(round(n / y.size), 1))
        found = audit_of(y[again], score[again], groups[again], tolerances={name: limit})
        answers.append(found.tolerances["answer"].tolist() == ["undecided"])
    assert answers == [True, False]


def test_a_new_rate_is_one_entry(monkeypatch):
    entry = rates_and_gaps._rate(
        "false_omission_rate",
        of=((1, 0), (1, 0)),
        counts=((0, 0), (1, 1)),
        definition="The false omission rate is the share of positives among the rows left out.",
    )
    monkeypatch.setitem(QUESTIONS, entry.name, entry)
    y, score, groups, _ = rows_of()
    audit = audit_of(y, score, groups)
    out = score < 0.5
    expected = [y[out & (groups == group)].mean() for group in ("g0", "g1", "g2")]
    np.testing.assert_allclose(audit.by_group()["false_omission_rate"], expected)
    assert "False omission rate" in repr(audit)
    assert "False omission rate by group" in audit.to_markdown(appendix=True)
    assert audit.answers["group"][entry.name].n_claims == 6
    second = (score + 0.1 * (np.arange(y.size) % 3 == 0)).clip(0, 1)
    comparison = audit.compare(audit_of(y, second, groups))
    found = comparison.answers["group"][entry.name]
    after = [y[(second < 0.5) & (groups == group)].mean() for group in ("g0", "g1", "g2")]
    np.testing.assert_allclose(found.table[["before", "after"]], np.transpose([expected, after]))
    assert "False omission rate" in repr(comparison)
    assert comparison.answers["group"]["xauc_disparity"].n_claims == 6
    # Standard error by the infinitesimal jackknife, with n / (n - 1) for each rate
    own, change = groups == "g1", np.zeros(y.size)
    for s, rate, sign in ((score, expected[1], -1), (second, after[1], 1)):
        out = own & (s < 0.5)
        change += sign * out * (y - rate) / np.sqrt(out.sum() * (out.sum() - 1))
    row = found.row("g1")
    reach = stats.t.ppf(0.975, min((own & (s < 0.5)).sum() for s in (score, second)) - 1)
    np.testing.assert_allclose(
        row["ci_high"] - row["difference"], reach * np.sqrt((change**2).sum()), rtol=2e-2
    )


def test_five_hundred_groups_take_seconds_and_a_small_page(tmp_path):
    rng = np.random.default_rng(0)
    n = 60_000
    groups = rng.integers(0, 500, n)
    logit = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    start = time.process_time()
    audit = audit_of(y, 1 / (1 + np.exp(-logit)), groups)
    audit.to_html(tmp_path / "audit.html")
    assert time.process_time() - start < 10  # about 3 seconds alone
    for found in audit.answers["group"].values():
        assert_no_pair_exceeds_the_largest_difference(found)
    assert (tmp_path / "audit.html").stat().st_size < 2e6
    assert len(repr(audit).splitlines()) < 80


def test_any_rows_can_be_audited():
    """Ties, weights, one-class groups and single rows cause no error, warning or rate above 1."""
    for seed in (*range(13), 26):
        case = random_case(seed, most_groups=12)
        if case.weights is not None and not case.weights.sum():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            audit = FairnessAudit.from_predictions(
                case.y,
                case.scores,
                groups=case.groups,
                sample_weight=case.weights,
                threshold=0.4,
                min_per_class=seed % 4,
            )
            assert repr(audit)
            values = audit.gaps["estimate"].dropna()
            assert audit.to_json()
        assert values.between(0, 1).all()


def test_what_cannot_be_audited_is_said():
    y, score, groups, _ = rows_of(n=60)
    report = GroupAUC.from_predictions(y, score * 3, groups=groups)
    with pytest.raises(ValueError, match=r"threshold must be one number for all groups; got .*y_p"):
        FairnessAudit(report, threshold={"a": 0.4, "b": 0.6})
    with pytest.raises(TypeError, match=r"FairnessAudit\(GroupAUC\(counts"):
        FairnessAudit(report.counts)
    with pytest.raises(ValueError, match="an audit needs groups"):
        FairnessAudit(GroupAUC(ScoreCounts.from_predictions(y, score)))
    with pytest.raises(ValueError, match="an audit needs rows; the report has none"):
        FairnessAudit(GroupAUC(ScoreCounts.from_predictions([], [], groups=[])), threshold=0)
    X = pd.DataFrame({"score": score, "site": groups})
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=2)
    repeated = cross_validate_group_auc(
        LogisticRegression(), X[["score"]], y, groups=groups, cv=folds
    )
    for of_folds in (repeated.within_folds, repeated.over_folds):
        with pytest.raises(ValueError, match=r"this report compares rows within.*folds\[0\]"):
            FairnessAudit(of_folds, threshold=0)
    for y_pred, said in (
        (score, r"y_pred must hold the labels of y_true, \[0, 1\]; got 0\."),
        (np.where(np.arange(60) < 2, np.nan, y), "y_pred has 2 missing labels of 60"),
        (y[1:], "y_pred"),
    ):
        with pytest.raises(ValueError, match=said):
            audit_of(y, score, groups, y_pred=y_pred)
    ranking = audit_of(y, score * 3, groups)
    assert ranking.decisions is None
    with pytest.raises(ValueError, match=r"needs decisions.* pass threshold= or y_pred="):
        _ = ranking.metric_frame
    with pytest.raises(ValueError, match="names"):
        audit_of(y, score, groups, names={"modell": "x"})


@pytest.mark.parametrize("n_few", [0, 10])
def test_equal_rates_name_two_groups(n_few):
    y = np.tile([0, 1], 40 + n_few // 2)
    groups = np.repeat(["few", "f", "m"], [n_few, 40, 40])
    audit = audit_of(y, y * 0.0, groups, threshold=3.0, min_per_class=1)
    for name in ("demographic_parity_difference", "difference"):
        found = audit.answers["group"][name]
        assert (found.estimate, {found.shown.highest, found.shown.lowest}) == (0.0, {"f", "m"})
        assert found.highest != found.lowest


def test_disparities_without_a_variance_are_undecided():
    y = [1, 0, 0, 0] * 3
    audit = audit_of(y, np.arange(12) / 12, np.repeat(["a", "b", "c"], 4), min_per_class=1)
    found = audit.answers["group"]["xauc_disparity"]
    assert (found.verdict, found.pvalue) == ("undecided", 1.0)


@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.9, float(np.nextafter(0.5, 1))])
def test_float32_scores_reach_a_threshold_as_in_numpy(threshold):
    y, score, groups, _ = rows_of(n=400, digits=1)
    score = score.astype(np.float32)
    audit = audit_of(y, score, groups, threshold=threshold)
    expected = pd.Series(score >= threshold).groupby(groups).mean()
    assert audit.by_group()["selection_rate"].to_dict() == pytest.approx(expected.to_dict())
    assert audit._by_row.selected.tolist() == (score >= threshold).tolist()
    of_counts = FairnessAudit(
        GroupAUC.from_predictions(y, score, groups=groups), threshold=threshold
    )
    assert of_counts.facts["threshold"] == audit.facts["threshold"] == threshold
    pd.testing.assert_frame_equal(of_counts.by_group(), audit.by_group())
    double = (score * 10).round() / 8  # values of float32 in float64
    for above in (np.nextafter(0.5, 1), 1e-50):
        selected = audit_of(y, double.astype(np.float64), groups, threshold=above)._by_row.selected
        assert selected.tolist() == (double.astype(np.float64) >= above).tolist()


def test_gaps_of_calibration_reach_two():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(500) < 50, np.arange(500) >= 50].astype(int)
    score = np.r_[rng.uniform(0.9, 1, 500), rng.uniform(0, 0.1, 500)]
    found = audit_of(y, score, np.repeat(["a", "b"], 500)).answers["group"]
    found = found["calibration_difference"]
    assert 1.6 < found.ci_low < found.estimate < found.ci_high < 1.8


def test_a_column_with_the_name_of_a_combination_is_refused():
    groups = pd.DataFrame({"a": list("xyxy"), "b": list("xxyy"), "a \N{MULTIPLICATION SIGN} b": 1})
    with pytest.raises(ValueError, match=r"the name of another column, 'a . b'; rename"):
        audit_of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups, intersections=[("a", "b")])


def test_a_wrong_tolerance_is_refused_before_rows_are_read():
    for name, limit in (("gap", 0.1), ("difference", 2)):
        with pytest.raises(ValueError, match="tolerances"):
            audit_of(None, None, None, tolerances={name: limit})
        with pytest.raises(ValueError, match="tolerances"):
            FairnessAudit.from_estimator(None, None, None, groups="a", tolerances={name: limit})


def test_audits_are_pickled_with_and_without_answers():
    y, score, groups, _ = rows_of(0, 400)
    audit = audit_of(y, score, groups, tolerances=ALL)
    for result in (audit, audit.compare(audit_of(y, score**2, groups))):
        copy = pickle.loads(pickle.dumps(result))  # has the same identifier
        assert repr(copy) == repr(result) == repr(pickle.loads(pickle.dumps(result)))


def test_a_tolerance_without_an_answer_is_undecided_everywhere():
    groups = ["a"] * 35 + ["b"] * 5
    audit = audit_of([0, 1] * 20, np.linspace(0, 1, 40), groups, tolerances={"difference": 0.05})
    assert audit.tolerances["answer"].tolist() == ["undecided"]
    assert "? undecided: needs two groups with 10 rows of each class" in repr(audit)
