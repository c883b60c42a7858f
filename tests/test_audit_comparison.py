"""Two models on the same rows: all pairs of rows, published values, resampling, sentences."""

import dataclasses
import itertools
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.contingency_tables import mcnemar
from test_audit_page import tree_of, words_of

from skfedauc import AuditComparison, FairnessAudit, compare_models
from skfedauc.inference.changed_pairs import changed_pairs
from skfedauc.inference.effects import Rows
from skfedauc.inference.largest_gap import GroupValues, gap_change
from skfedauc.inference.models import (
    auc_values,
    compare_all,
    joint_cross,
    joint_disparities,
    joint_pooled,
)
from skfedauc.inference.paired_rates import rate_changes
from skfedauc.plotting import CandidatesDisplay

pytestmark = pytest.mark.usefixtures("few_draws")

RATES = {
    "selection_rate": slice(None),
    "true_positive_rate": True,
    "false_positive_rate": False,
}
QUANTITIES = ["auc", "xauc_disparity", *RATES]


def people(seed, n=600, n_groups=3, weighted=False, digits=2):
    """Return labels, scores before and after, groups and weights."""
    rng = np.random.default_rng(seed)
    y, groups, base = rng.random(n) < 0.4, rng.integers(0, n_groups, n), rng.normal(size=n)
    scores = [
        (1 / (1 + np.exp(-(base + y + shift * groups + rng.normal(size=n) - 1)))).round(digits)
        for shift in (0.6, 0.1)
    ]
    weights = rng.uniform(0.3, 3, n) if weighted else None
    return y.astype(int), *scores, groups, weights


def compared(y, a, b, groups, weights=None, **options):
    return AuditComparison.from_predictions(
        y, {"old": a, "new": b}, groups=groups, sample_weight=weights, **options
    )


def comparisons(y, scores):
    """Return 1, 1/2 or 0 for each positive and each negative."""
    return (np.sign(np.subtract.outer(scores[y == 1], scores[y == 0])) + 1) / 2


@pytest.mark.parametrize("weighted", [False, True])
def test_decomposition_equals_all_pairs(weighted):
    y, a, b, groups, weights = people(0, 300, digits=1, weighted=weighted)
    w = np.ones(y.size) if weights is None else weights
    table = compared(y, a, b, groups, weights).decomposition
    before, after = comparisons(y, a), comparisons(y, b)
    pairs = np.outer(w[y == 1], w[y == 0])
    same = np.equal.outer(groups[y == 1], groups[y == 0])
    for name, kind in (("within", same), ("cross", ~same), ("pooled", np.ones_like(same))):
        of_kind = np.where(kind, pairs, 0.0)
        total = of_kind.sum()
        expected = {
            "share": total / pairs.sum(),
            "before": (of_kind * before).sum() / total,
            "after": (of_kind * after).sum() / total,
            "raised": (of_kind * (after - before).clip(0)).sum() / total,
            "lowered": (of_kind * (before - after).clip(0)).sum() / total,
            "reordered": (of_kind * np.abs(after - before)).sum() / total,
            "reversed": (of_kind * (np.abs(after - before) == 1)).sum() / total,
        }
        assert_allclose(table.loc[name, list(expected)], list(expected.values()), rtol=1e-11)
        row = table.loc[name]
        assert row["change"] == pytest.approx(row["raised"] - row["lowered"], abs=1e-12)
    contributions = table["contribution"]
    assert contributions["within"] + contributions["cross"] == pytest.approx(
        table.loc["pooled", "change"], abs=1e-12
    )


def test_changed_pairs_equal_all_pairs_of_random_rows():
    rng = np.random.default_rng(1)
    for case in range(150):
        n = int(rng.integers(1, 50))
        codes = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
        n_groups = int(codes.max()) + 1
        y = rng.random(n) < 0.5
        a, b = rng.integers(0, rng.integers(1, 20), (2, n)).astype(float)
        w = np.ones(n) if case % 2 else rng.uniform(0.1, 3, n)
        found = changed_pairs(Rows(y, np.array([a, b]), w, codes, n_groups))
        for g in range(n_groups):
            own = codes == g
            change = comparisons(y[own], b[own]) - comparisons(y[own], a[own])
            pairs = np.outer(w[own & y], w[own & ~y])
            amounts = pairs, pairs * change.clip(0), pairs * (-change).clip(0)
            amounts = *amounts, pairs * (np.abs(change) == 1)
            assert_allclose([of[g] for of in found], [of.sum() for of in amounts], atol=1e-9)


def test_auc_tests_are_those_of_paired_comparisons():
    y, a, b, groups, weights = people(2, weighted=True)
    comparison = compared(y, a, b, groups, weights)
    columns = ["difference", "ci_low", "ci_high", "pvalue"]
    ours = ["change", "ci_low", "ci_high", "pvalue"]
    known = {"groups": groups, "sample_weight": weights}
    for name in ("pooled", "within"):
        expected = compare_models(y, {"old": a, "new": b}, statistic=name, **known)
        row = comparison.quality.loc[name, ours]
        assert_allclose(row.astype(float), expected.table[columns].iloc[0])
        assert_allclose(comparison.decomposition.loc[name, ours], row.astype(float))
    assert_allclose(comparison.by_group.loc["auc"][ours], expected.by_group[columns])


def test_changes_of_audits_are_differences_of_their_values():
    y, a, b, groups, _ = people(3)
    comparison = compared(y, a, b, groups)
    audits = [FairnessAudit.from_predictions(y, s, groups=groups) for s in (a, b)]
    assert comparison.models == ("old", "new")
    for (name, ours), audit in zip(comparison.audits.items(), audits, strict=True):
        column = "before" if name == "old" else "after"
        pd.testing.assert_frame_equal(ours.by_group, audit.by_group)
        for quantity in comparison.by_group.index.levels[0]:
            expected = audit.by_group[quantity]
            assert_allclose(comparison.by_group.loc[quantity, column], expected)
        gaps = comparison.gaps
        omitted = ["xauc_disparity", "tau", "abroca"]
        values = audit.gaps["value"].drop(omitted)
        assert sorted(gaps.index) == sorted(values.index)
        assert_allclose(gaps[column], values[gaps.index])
        assert_allclose(comparison.quality[column], audit.quality["auc"])
    for table in (comparison.quality, comparison.by_group, comparison.gaps):
        assert_allclose(table["change"], table["after"] - table["before"], atol=1e-15)
        inside = (table["ci_low"] <= table["change"]) & (table["change"] <= table["ci_high"])
        assert (inside | table["ci_low"].isna()).all()
        adjusted = table["pvalue_adjusted"].dropna()
        assert (adjusted >= table.loc[adjusted.index, "pvalue"] - 1e-15).all()
    n_tested = sum(
        int(t["pvalue_adjusted"].notna().sum())
        for t in (comparison.decomposition, comparison.by_group, comparison.gaps)
    )
    assert comparison.n_claims == n_tested


def test_rates_have_newcombe_intervals_and_exact_mcnemar_tests():
    # Bentur et al. (2009) and Cavo et al. (2012), in Fagerland, Lydersen and Laake (2017)
    for cells, low, high in (
        ((1, 1, 7, 12), -0.5069, -0.0256),
        ((59, 6, 16, 80), -0.1186, -0.0046),
    ):
        first = np.repeat([True, True, False, False], cells)
        second = np.repeat([True, False, True, False], cells)
        rows = np.zeros(first.size, np.intp), 1, np.ones(first.size), 0.95
        found = rate_changes(np.array([second, first]), *rows)
        assert_allclose([found.ci_low[0], found.ci_high[0]], [low, high], atol=5e-5)
        expected = mcnemar(np.reshape(cells, (2, 2)), exact=True).pvalue
        assert found.pvalue[0] == pytest.approx(expected, rel=1e-9)
    y, a, b, groups, _ = people(4)
    by_group = compared(y, a, b, groups).by_group
    for rate, label in RATES.items():
        for g in range(3):
            mine = (groups == g) & ((y == label) if isinstance(label, bool) else True)
            old, new = a[mine] >= 0.5, b[mine] >= 0.5
            counts = [[np.sum((old == i) & (new == j)) for j in (1, 0)] for i in (1, 0)]
            row = by_group.loc[(rate, g)]
            assert row["change"] == pytest.approx(new.mean() - old.mean())
            assert row["pvalue"] == pytest.approx(mcnemar(counts, exact=True).pvalue, rel=1e-9)


def designs(joint, rows):
    """Return the AUCs of all rows of two models, with the variances of both designs."""
    own, pooled = auc_values(rows)
    return joint(rows, pooled) if joint is joint_pooled else joint(rows, own, pooled)


def test_variances_of_new_statistics_equal_the_jackknife():
    """The infinitesimal jackknife over rows, without ties.

    The strata are groups and classes, or classes alone for rows with random groups.
    """
    y, a, b, groups, w = people(5, 240, weighted=True, digits=9)
    rows = Rows(y == 1, np.array([a, b]), w, groups, 3)

    def values(weights):
        of = dataclasses.replace(rows, weights=weights)
        disparity, cross = joint_disparities(of).auc, designs(joint_cross, of)[0].auc[:, 0]
        return np.append(disparity[1] - disparity[0], cross[1] - cross[0])

    influence = np.zeros((y.size, 4))
    for i in range(y.size):
        bumped = w.copy()
        bumped[i] *= 1 + 1e-5
        influence[i] = (values(bumped) - values(w)) / 1e-5
    disparity = joint_disparities(rows).variance[0, 1]
    for g in range(3):
        expected = 0.0
        for own, label in itertools.product((True, False), (0, 1)):
            mine = ((groups == g) == own) & (y == label)
            n = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
            expected += (influence[mine, g] ** 2).sum() * n / (n - 1)
        assert disparity[g] == pytest.approx(expected, rel=1e-4)
    for joint, strata in zip(designs(joint_cross, rows), (groups, 0 * groups), strict=True):
        expected = 0.0
        for g, label in itertools.product(np.unique(strata), (0, 1)):
            mine = (strata == g) & (y == label)
            n = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
            share = w[mine] / w[mine].sum()
            centered = influence[mine, 3] - share * influence[mine, 3].sum()
            expected += (centered**2).sum() * n / (n - 1)
        assert joint.variance[0, 1, 0] == pytest.approx(expected, rel=1e-4)


def test_random_groups_are_part_of_the_change_of_pairs_across_groups():
    """Each model shifts one of two groups, so that both models are equally good."""
    rng, rejected = np.random.default_rng(0), []
    for _ in range(400):
        y, groups = rng.random(200) < 0.3, rng.random(200) < 0.5
        base = rng.normal(size=200) + y
        scores = [base + groups, base + ~groups]
        rows = Rows(y, np.array(scores), np.ones(200), groups.astype(np.intp), 2)
        pair = np.array([0]), np.array([1])
        found = [
            compare_all(designs(joint, rows), pair, 0.95).pvalue[0]
            for joint in (joint_pooled, joint_cross)
        ]
        rejected.append(np.array(found) < 0.05)
    rates = np.mean(rejected, axis=0)
    assert rates.min() > 0.025
    assert rates.max() < 0.08
    # An audit has the p value of the comparison without strata.
    comparison = compared(y.astype(int), *scores, np.where(groups, "f", "m"), threshold=None)
    expected = compare_models(y, dict(enumerate(scores))).pvalue
    assert comparison.quality.loc["pooled", "pvalue"] == pytest.approx(expected, rel=1e-9)
    models = compare_models(y, dict(enumerate(scores)), groups=groups)
    assert models.table["pvalue"].iloc[0] == pytest.approx(expected, rel=1e-9)


def test_interval_of_a_gap_of_two_groups_is_that_of_a_contrast():
    """Two groups have one pair, so the change of the gap is a sum of four values."""
    values = np.array([[0.6, 0.8], [0.72, 0.78]])
    variance = np.array([[4e-4, 3e-4], [2e-4, 5e-4]])
    covariance = np.array([1e-4, 2e-4])
    of = GroupValues(values, variance, covariance, np.full((2, 2), np.inf))
    for turned in (of, of._replace(values=values[:, ::-1], variance=variance[:, ::-1],
                                   covariance=covariance[::-1])):  # fmt: skip
        found = gap_change([turned], 0.95)
        error = np.sqrt(variance.sum() - 2 * covariance.sum())
        assert found.change == pytest.approx(-0.14)
        assert found.ci_low == pytest.approx(-0.14 - 1.959964 * error, abs=1e-6)
        assert found.ci_high == pytest.approx(-0.14 + 1.959964 * error, abs=1e-6)
        assert found.pvalue == pytest.approx(2 * 0.5 * _erfc(0.14 / error / np.sqrt(2)), rel=1e-6)
    # If the groups exchange their places, the errors of both gaps have opposite signs.
    swapped = gap_change([of._replace(values=np.array([[0.6, 0.8], [0.8, 0.7]]))], 0.95)
    error = np.sqrt(variance.sum() + 2 * covariance.sum())
    assert swapped.ci_high - swapped.ci_low == pytest.approx(2 * 1.959964 * error, rel=1e-6)


def _erfc(x):
    from scipy.special import erfc

    return erfc(x)


def test_a_mitigation_that_only_moves_groups_is_recognized():
    y, a, _, groups, weights = people(6, weighted=True)
    moved = np.where(groups == 2, a**2, a)
    comparison = compared(y, a, moved, groups, weights)
    table = comparison.decomposition
    assert table.loc["within", ["change", "raised", "lowered"]].eq(0).all()
    assert table.loc["cross", "reordered"] > 0.01
    assert table.loc["within", "pvalue"] == 1.0
    assert comparison.by_group.loc["auc", "change"].eq(0).all()
    assert comparison.gaps.loc["difference", ["change", "ci_low", "ci_high"]].eq(0).all()
    text = " ".join(comparison.findings)
    assert "'new' only moves groups against each other" in text
    assert "The selection rate fell in group 2." in text
    # A change of the thresholds changes decisions, but not the order of the rows.
    same = compared(y, a, a, groups, weights, threshold={"old": 0.5, "new": 0.7})
    assert same.decomposition["reordered"].eq(0).all()
    assert "only decisions can differ" in " ".join(same.findings)
    assert same.by_group.loc["selection_rate", "change"].lt(0).all()
    # A mitigation that rounds the scores makes ties.
    rounded = compared(y, a, np.where(groups == 2, a / 2, a).round(1), groups, weights)
    assert rounded.decomposition.loc["within", "reversed"] == 0
    text = " ".join(rounded.findings)
    assert "only moves groups against each other, except for ties" in text
    within, cross = (rounded.decomposition.loc[kind] for kind in ("within", "cross"))
    tied = [2 * (of["reordered"] - of["reversed"]) for of in (within, cross)]
    said = re.search(r"Of the pairs within .*? pairs across groups, .*?\.(?= )", text).group()
    assert said == (
        f"Of the pairs within groups, {tied[0]:.1%} became ties or are no longer ties; of the "
        f"pairs across groups, {cross['reversed']:.1%} have the opposite order and {tied[1]:.1%} "
        "became ties or are no longer ties."
    ).replace("%", " %")
    # One threshold for all groups reverses no pair at all, and moves no group.
    text = " ".join(compared(y, a, np.where(a > 0.5, 0.8, 0.3), groups, weights).findings)
    assert "'new' reverses no pair of a positive and a negative" in text
    assert "only moves groups" not in text
    assert "opposite order" not in text
    # A change of the order within a group also changes the ranking within groups.
    other = compared(y, a, np.where(groups == 2, 1 - a, a), groups, weights)
    text = " ".join(other.findings)
    assert "changes the ranking within groups and across groups" in text
    assert re.search(r"The AUC changed in group 2 \(\d\.\d{3} to \d\.\d{3}\)\.", text)
    assert other.quality.loc["within", "pvalue_adjusted"] < 0.01


def test_equal_predictions_make_no_claim():
    y, a, _, groups, _ = people(7)
    comparison = compared(y, a, a, groups)
    for table in (comparison.quality, comparison.by_group, comparison.gaps):
        assert (table["change"].dropna() == 0).all()
        assert (table["pvalue"].dropna() == 1).all()
    assert not any("became" in finding for finding in comparison.findings)


def test_order_scale_and_kind_of_input_do_not_matter():
    y, a, b, groups, weights = people(8, weighted=True)
    sites = np.array(["north", "south", "west"])[groups]
    expected = compared(y, a, b, pd.Series(sites, name="site"), weights)
    order = np.random.default_rng(0).permutation(y.size)
    frame = pd.DataFrame({"y": y, "a": a, "b": b, "site": sites, "w": weights})
    for rows in (frame.iloc[order], pl.from_pandas(frame.iloc[order])):
        found = compared(rows["y"], rows["a"], rows["b"], rows["site"], 2 * rows["w"])
        for name in ("quality", "decomposition", "by_group", "gaps"):
            left, right = getattr(found, name), getattr(expected, name)
            pd.testing.assert_frame_equal(left, right, rtol=1e-8, check_column_type=False)
        assert found.findings == expected.findings
    text = compared(np.where(y, "ill", "well"), a, b, sites, weights, pos_label="ill")
    pd.testing.assert_frame_equal(
        text.by_group.reset_index(drop=True), expected.by_group.reset_index(drop=True)
    )
    labels = {"old": (a >= 0.5).astype(int), "new": (b >= 0.5).astype(int)}
    by_label = compared(y, a, b, pd.Series(sites, name="site"), weights, y_preds=labels)
    pd.testing.assert_frame_equal(by_label.by_group, expected.by_group)


def test_small_and_one_class_groups_are_shown_without_tests():
    y, a, b, groups, _ = people(9)
    groups = np.where(np.arange(y.size) < 12, 3, groups)
    y[:12] = 0
    groups[12] = 4
    comparison = compared(y, a, b, groups)
    tested = ["ci_low", "ci_high", "pvalue", "pvalue_adjusted"]
    by_group = comparison.by_group
    assert by_group.loc[("auc", 3)].isna().all()
    assert by_group.loc[("false_positive_rate", 3), tested].notna().all()
    assert by_group.loc[("true_positive_rate", 3), tested].isna().all()
    assert by_group.loc[("selection_rate", 4), tested].isna().all()
    assert by_group.loc[("selection_rate", 4), "change"] in (-1.0, 0.0, 1.0)
    one = compared(y, a, b, np.zeros(y.size, int))
    assert one.decomposition.loc["cross"].drop(["share", "contribution"]).isna().all()
    row = one.decomposition.loc["within"]
    assert row["contribution"] == pytest.approx(one.quality.loc["pooled", "change"], abs=1e-12)
    two = compared(y, a, b, groups % 2, min_per_class=1).by_group.loc["xauc_disparity"]
    assert_allclose(two.loc[0, ["change", "pvalue"]].abs(), two.loc[1, ["change", "pvalue"]].abs())
    assert two["pvalue_adjusted"].nunique() == 1


@pytest.mark.filterwarnings("error")
def test_estimators_are_compared_by_scores_and_decisions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["u", "v"])
    X["site"] = rng.integers(0, 2, 400)
    y = np.where(X["u"] + X["v"] + rng.normal(size=400) > 0.5, "yes", "no")
    models = {
        "u": LogisticRegression().fit(X[["u", "v", "site"]] * [1, 0, 0], y),
        "both": LogisticRegression().fit(X, y),
    }
    found = AuditComparison.from_estimators(models, X, y, groups="site")
    scores = {name: model.predict_proba(X)[:, 1] for name, model in models.items()}
    labels = {name: model.predict(X) for name, model in models.items()}
    expected = AuditComparison.from_predictions(
        y, scores, groups=X["site"], y_preds=labels, pos_label="yes"
    )
    pd.testing.assert_frame_equal(found.by_group, expected.by_group)
    assert found.findings == expected.findings
    no = AuditComparison.from_estimators(models, X, y, groups="site", pos_label="no", threshold=0.4)
    opposite = AuditComparison.from_predictions(
        y,
        {name: 1 - of for name, of in scores.items()},
        groups=X["site"],
        threshold=0.4,
        pos_label="no",
    )
    pd.testing.assert_frame_equal(no.by_group, opposite.by_group)
    for name, audit in no.audits.items():
        # The audit of an estimator, whose sweep has the threshold on the scale of its scores
        alone = FairnessAudit.from_estimator(
            models[name], X, y, groups="site", pos_label="no", threshold=0.4,
            names={"model": name},
        )  # fmt: skip
        assert audit.threshold == alone.threshold == 0.4
        assert audit.facts | {"identifier": ""} == alone.facts | {"identifier": ""}
        pd.testing.assert_frame_equal(audit.sweep().rates, alone.sweep().rates)
        assert -0.6 in audit.sweep().gaps.index
    ranking = AuditComparison.from_estimators(models, X, y, groups="site", threshold=None)
    assert "selection_rate" not in ranking.by_group.index.levels[0]
    other = {"u": models["u"], "none": LogisticRegression().fit(X, y == "yes")}
    with pytest.raises(ValueError, match="estimators must have the same positive class"):
        AuditComparison.from_estimators(other, X, y, groups="site")


def test_comparisons_without_decisions_of_both_models_cover_the_ranking():
    y, a, b, groups, _ = people(10)
    comparison = compared(y, a, 10 * b, groups)
    assert set(comparison.by_group.index.levels[0]) == {"auc", "xauc_disparity"}
    assert "only one of the models has decisions" in " ".join(comparison.findings)
    assert repr(comparison).startswith("AuditComparison of 'old' and 'new' on 3 groups by group")


LIMITS = {"demographic_parity_ratio": 0.8, "difference": 0.3, "false_positive_rate_difference": 0.1}
NAMES = {"model": "credit | 3", "label": "default"}


def test_tolerances_have_the_answers_of_the_audit_of_each_model(tmp_path, without_plots):
    y, a, b, groups, weights = people(13, 1500, weighted=True)
    comparison = compared(y, a, b, groups, weights, tolerances=LIMITS, names=NAMES)
    answers = []
    for model, scores in (("old", a), ("new", b)):
        audit = FairnessAudit.from_predictions(
            y, scores, groups=groups, sample_weight=weights, tolerances=LIMITS,
            names=NAMES | {"model": f"credit | 3, {model}"},
        )  # fmt: skip
        ours = comparison.tolerances.xs(model, level="model")
        pd.testing.assert_frame_equal(ours, audit.tolerances)
        answers.append(audit.tolerances["answer"].tolist())
        assert comparison.audits[model].names == NAMES | {"model": f"credit | 3, {model}"}
        of_model = comparison.facts["models"][model]
        own = {"identifier": of_model["identifier"]}  # each counting has one of its own
        assert {key: audit.facts[key] for key in of_model} | own == of_model
    assert answers == [["not met", "met", "not met"], ["met", "met", "undecided"]]
    text = " ".join(comparison.findings)
    assert "The AUC difference has to be at most 0.3: met (" in text
    comparison.to_html(tmp_path / "page.html")
    root = tree_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    lines = {
        words_of(line.find("dt")): words_of(line.find("dd"))
        for line in root.iterfind(".//section[@class='summary']/dl/div")
    }
    assert list(lines) == ["Compared", "AUC", "Ranking", "Groups", "Tolerances"]
    assert lines["Tolerances"] == (
        "'old': 1 met (AUC difference), 2 not met (Demographic parity ratio, False positive rate "
        "difference); 'new': 2 met (Demographic parity ratio, AUC difference), 1 undecided (False "
        "positive rate difference)."
    )
    table = root.find(".//div[@id='tolerances']//tbody")
    shown = [[words_of(cell) for cell in row.findall("td")][::4] for row in table]
    assert shown == [list(pair) for pair in zip(*answers, strict=True)]


def test_documents_have_facts_and_tables(tmp_path):
    y, a, b, groups, _ = people(14, 700)
    groups = np.where(np.arange(y.size) < 5, 7, groups)
    comparison = compared(y, a, b, groups, tolerances=LIMITS, names=NAMES, favorable="positive")
    document = comparison.to_dict()
    comparison.to_json(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == document
    facts = document["facts"]
    assert facts["names"] == NAMES | {"score": None}
    assert (facts["favorable"], facts["tolerances"]) == ("positive", LIMITS)
    assert (facts["n_rows"], facts["n_groups"], facts["n_small_groups"]) == (700, 4, 1)
    assert list(facts["models"]) == ["old", "new"]
    assert facts["models"]["old"]["identifier"] != facts["models"]["new"]["identifier"]
    assert document["findings"] == list(comparison.findings)
    for group in document["groups"]:
        for quantity in QUANTITIES:
            row = comparison.by_group.loc[(quantity, group["label"])]
            expected = [None if np.isnan(value) else value for value in row]
            assert list(group[quantity].values()) == expected
    assert document["tolerances"]["difference"]["limit"] == 0.3
    by_gap = comparison.tolerances["answer"].unstack().loc["difference"]
    assert document["tolerances"]["difference"]["after"]["answer"] == by_gap["new"]
    text = comparison.to_markdown()
    titles = [line for line in text.splitlines() if line.startswith("#")]
    sections = "Models, Evaluation data, Changes, Changes by group, Tolerances, Findings, Caveats"
    assert titles == [f"## {title}" for title in sections.split(", ")]
    assert "- Model: credit \\| 3\n" in text
    plain = compared(y, a, b, groups, threshold=None)
    assert plain.tolerances.empty
    assert plain.to_dict()["tolerances"] == {}
    assert "## Tolerances" not in plain.to_markdown()
    with pytest.raises(ValueError, match="the model 'new' has none: pass y_preds="):
        compared(y, a, 10 * b, groups, tolerances=LIMITS)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"names": {"modell": "x"}}, ValueError, "names must have some of the keys 'model'"),
        ({"tolerances": {"ratio": 2}}, ValueError, "tolerances"),
        ({"y_scores": [0.1]}, TypeError, "y_scores must be a mapping with two names"),
        ({"y_scores": {"a": [1]}}, ValueError, "exactly two names, each a str; got 'a'"),
        ({"y_preds": {"old": 1, "x": 2}}, ValueError, "y_preds must have the names of y_scores"),
        ({"threshold": {"old": 0.5}}, ValueError, "threshold must have the names of y_scores"),
        ({"threshold": {"a": 0.4, "b": 0.6}}, ValueError, "thresholds of groups, pass the pred"),
        ({"threshold": {"old": {"a": 1}, "new": 1}}, ValueError, "must be one number for all g"),
        ({"threshold": "half"}, ValueError, "threshold must be 'auto', None or a finite number"),
        ({"y_true": [1, 1, 1, 1]}, ValueError, "must hold both classes; got one class in 4 rows"),
        ({"missing": "keep"}, ValueError, "missing must be"),
        ({"y_scores": {"old": [0.1] * 4, "new": [0.1] * 3}}, ValueError, "'new'.* has 3 rows"),
    ],
)
def test_bad_arguments(change, error, message):
    known = {
        "y_true": [0, 1, 0, 1],
        "y_scores": {"old": [0.1, 0.2, 0.3, 0.4], "new": [0.4, 0.3, 0.2, 0.5]},
        "groups": ["a", "a", "b", "b"],
    }
    with pytest.raises(error, match=message):
        AuditComparison.from_predictions(**known | change)
    labels = {"old": [0, 1, 0, 1], "new": [0, 1, 1, 1]}
    with pytest.raises(ValueError, match="either y_preds or a threshold"):
        AuditComparison.from_predictions(**known, y_preds=labels, threshold=0.5)


# The page -------------------------------------------------------------------------------------


def test_the_page_has_both_models_with_names_as_text(tmp_path):
    y, a, b, groups, weights = people(11, weighted=True)
    names = "<b>old</b>", "$new$ & \N{SNOWMAN}"
    sites = np.array(["<i>north</i>", "south", "west"])[groups]
    comparison = AuditComparison.from_predictions(
        y, dict(zip(names, (a, b), strict=True)), groups=sites, sample_weight=weights
    )
    comparison.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    comparison.to_html(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text
    root = tree_of(text)
    assert words_of(root.find(".//h1")) == f"Fairness audits of {names[0]} and {names[1]}"
    assert root.find(".//i") is None
    assert root.find(".//b") is None
    lines = [words_of(line) for line in root.iterfind(".//section[@class='summary']//dt")]
    assert lines == ["Compared", "AUC", "Ranking", "Groups", "Decisions"]
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    items = root.findall(".//section[@class='findings']//li")
    for item in items:
        links = item.findall("span[@class='links']/a")
        assert [words_of(link) for link in links] == ["Table", "Definition"]
        assert {link.get("href").removeprefix("#") for link in links} <= set(ids)
    sentences = [words_of(item) for item in root.iterfind(".//span[@class='sentence']")]
    assert len(items) == len(sentences)
    assert sentences == [" ".join(said.split()) for said in comparison.findings[:-1]]
    tables = {
        part.get("id"): part.find(".//table") for part in root.iterfind(".//div[@class='table']")
    }
    assert set(tables) == {"quality", "decomposition", "gaps", "groups"}
    # Cells have all digits for sorting and downloads.
    expected = comparison.by_group["change"].to_numpy()
    found = [
        float(row.findall("td")[2].get("data-v"))
        for body in tables["groups"].iterfind("tbody[@class='groups']")
        for row in body
    ]
    order = comparison.by_group.loc["auc", "change"].abs().sort_values(ascending=False).index
    assert_allclose(found, comparison.by_group["change"].unstack()[order].loc[QUANTITIES].stack())
    assert len(found) == expected.size
    assert [words_of(figure.find("h3")) for figure in root.iterfind(".//figure")] == [
        "AUC before and after",
        "xAUC disparity before and after",
        "Selection rate before and after",
        "True positive rate before and after",
        "False positive rate before and after",
        f"Cross AUCs of {names[0]}",
        f"Cross AUCs of {names[1]}",
    ]
    assert all(figure.find(".//svg") is not None for figure in root.iterfind(".//figure"))
    assert len(ids) == len(set(ids))


def test_the_page_of_a_ranking_with_small_groups_is_complete(tmp_path):
    y, a, b, groups, _ = people(12, 200)
    groups = np.where(np.arange(y.size) < 5, 7, groups)
    comparison = compared(y, a, b, groups, threshold=None)
    comparison.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "McNemar's exact" not in text
    assert "not compared" in text
    one = compared(y, a, b, np.ones(y.size, int), threshold=None)
    one.to_html(tmp_path / "one.html")
    assert "Cross AUCs of" not in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_the_page_has_the_candidates_of_a_search(tmp_path):
    y, a, b, groups, _ = people(15, 300)
    display = CandidatesDisplay(
        scores=[0.7, np.nan, 0.8, 0.75],
        gaps=[0.1, 0.2, 0.3, 0.3],
        params=[{"C": 1, "penalty": "<l2>"}, {"C": 2}, {"C": 3}, {}],
        front=[2, 0],
        chosen=0,
        score_name="pooled",
        gap_name="difference",
    )
    comparison = compared(y, a, b, groups, threshold=None)
    comparison.to_html(tmp_path / "page.html", candidates=display)
    root = tree_of((tmp_path / "page.html").read_text(encoding="utf-8"))
    table = root.find(".//div[@id='candidates-table']//table")
    shown = [[words_of(cell) for cell in row] for row in table.iterfind("tbody/tr")]
    assert shown == [
        ["C=3", "0.800", "0.300", "yes", "no"],
        ["candidate 3", "0.750", "0.300", "no", "no"],
        ["C=1, penalty=<l2>", "0.700", "0.100", "yes", "yes"],
        ["C=2", "\N{EN DASH}", "0.200", "no", "no"],
    ]
    section = root.find(".//section[@aria-labelledby='candidates']")
    assert section.find(".//svg") is not None
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    with pytest.raises(TypeError, match="candidates must be a CandidatesDisplay"):
        comparison.to_html(tmp_path / "other.html", candidates="search")
    assert not (tmp_path / "other.html").exists()
