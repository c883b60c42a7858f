"""AUCs of three or more classes by group, against scikit-learn and all pairs of rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from oracles import comparisons
from scipy.special import expit, logit, ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MulticlassCounts,
    MulticlassGroupAUC,
    group_auc_scoring,
    group_roc_auc_score,
    make_group_auc_scorer,
)
from skfedauc.plotting import GroupAUCDisplay


class Rows:
    """Random rows of `n_classes` classes with tied probabilities, in groups."""

    def __init__(self, seed=0, n=300, n_groups=3, n_classes=4):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, n_classes, n)
        scores = rng.normal(size=(n, n_classes)) + 1.2 * (self.y[:, None] == np.arange(n_classes))
        scores = np.exp(scores).round(1) + 0.1
        self.score = scores / scores.sum(axis=1, keepdims=True)
        self.groups = rng.integers(0, n_groups, n)
        self.weights = rng.integers(1, 4, n).astype(float)

    def report(self, **named):
        return MulticlassGroupAUC.from_predictions(self.y, self.score, groups=self.groups, **named)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_and_each_group_equal_scikit_learn(multi_class, average, weighted):
    rows, options = Rows(), {"multi_class": multi_class, "average": average}
    if weighted and multi_class == "ovo":  # scikit-learn takes no weights there
        return

    def expected(own):
        weights = rows.weights[own] if weighted else None
        return roc_auc_score(rows.y[own], rows.score[own], sample_weight=weights, **options)

    weights = rows.weights if weighted else None
    report = rows.report(multi_class=multi_class, sample_weight=weights)
    assert report.statistic("pooled", average) == pytest.approx(expected(slice(None)), rel=1e-12)
    found = report.average_by_group(average)
    assert found.index.tolist() == [0, 1, 2]
    of_groups = [expected(rows.groups == g) for g in range(3)]
    assert_allclose(found, of_groups, rtol=1e-12)
    score = group_roc_auc_score(
        rows.y, rows.score, groups=rows.groups, statistic="pooled", sample_weight=weights,
        multi_class=multi_class, class_average=average,
    )  # fmt: skip
    assert score == pytest.approx(expected(slice(None)), rel=1e-12)


def test_reports_are_those_of_two_classes():
    rows = Rows()
    by_class, by_pair = rows.report(), rows.report(multi_class="ovo")
    assert list(by_class) == [0, 1, 2, 3]
    assert len(by_pair) == 12
    for c in range(4):
        expected = GroupAUC.from_predictions(rows.y == c, rows.score[:, c], groups=rows.groups)
        assert by_class[c].counts == expected.counts
        assert_allclose(by_class.by_group[c], expected.by_group["auc"])
    for i, j in by_pair:
        own = (rows.y == i) | (rows.y == j)
        expected = GroupAUC.from_predictions(
            rows.y[own] == i, rows.score[own, i], groups=rows.groups[own]
        )
        assert by_pair[i, j].counts == expected.counts
        assert_allclose(by_pair.by_group[i, j], expected.by_group["auc"])
        assert by_pair.statistics().loc[(i, j), "worst"] == expected.worst
    assert by_class.statistics().index.tolist() == [0, 1, 2, 3]
    values = by_class.statistics()["difference"]
    assert by_class.statistic("difference") == pytest.approx(values.mean())


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_merged_counts_are_those_of_all_rows(multi_class):
    rows = Rows(n=40, n_groups=6)
    device = np.arange(40) % 7
    named = {"multi_class": multi_class, "labels": [0, 1, 2, 3]}
    parts = [
        MulticlassCounts.from_predictions(
            rows.y[own], rows.score[own], groups=rows.groups[own], **named
        )
        for own in (device == d for d in range(7))
    ]
    whole = MulticlassCounts.from_predictions(rows.y, rows.score, groups=rows.groups, **named)
    assert sum(parts) == whole
    assert MulticlassCounts.merge(reversed(parts)) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert repr(whole).endswith(", 40 rows)")


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_rows_without_groups_and_without_a_class(multi_class):
    rows = Rows(n=60)
    none = rows.y != 3
    counts = MulticlassCounts.from_predictions(
        rows.y[none], rows.score[none], labels=range(4), multi_class=multi_class
    )
    counts += MulticlassCounts.from_predictions(
        rows.y[~none], rows.score[~none], labels=range(4), multi_class=multi_class
    )
    expected = roc_auc_score(rows.y, rows.score, multi_class=multi_class)
    assert MulticlassGroupAUC(counts).statistic("pooled") == pytest.approx(expected)


def test_groups_of_one_class_keep_their_row_in_pairs():
    y, groups = [0, 1, 2, 0], list("aaab")
    report = MulticlassGroupAUC.from_predictions(
        y, np.eye(3)[y], groups=groups, multi_class="ovo", undefined="ignore"
    )
    assert report.by_group.index.tolist() == ["a", "b"]
    assert report.by_group.loc["a"].tolist() == [1.0] * 6
    assert report.average_by_group("weighted").isna().tolist() == [False, True]


def test_audits_name_the_class():
    rows = Rows(n_classes=3)
    site = ["ab"[group % 2] for group in rows.groups]
    for multi_class, key, classes in (
        ("ovr", 1, "1 (negative class: not 1)"),
        ("ovo", (1, 0), "1 (negative class: 0)"),
    ):
        report = MulticlassGroupAUC.from_predictions(
            rows.y, rows.score, groups=site, multi_class=multi_class
        )
        for of_class in (report[key], GroupAUC(report[key]._estimates.pairs, min_per_class=1)):
            audit = FairnessAudit(of_class)
            assert audit.decisions is audit.facts["threshold"] is None
            assert str(audit) == str(FairnessAudit(of_class, threshold=None))
            assert "the ranking alone" in str(audit)
        assert FairnessAudit(report[key], threshold=0.5).facts["threshold"] == 0.5
        facts = audit.facts
        assert f"{facts['positive_class']} (negative class: {facts['negative_class']})" == classes
    with pytest.raises(TypeError, match=r"Use FairnessAudit\(report\[\(0, 1\)\]\) for one of its"):
        FairnessAudit(report)
    with pytest.raises(TypeError, match=r"Pass one of its reports, such as report\[\(0, 1\)\]\."):
        GroupAUCDisplay.from_report(report)
    counts = report.counts.parts
    with pytest.raises(ValueError, match="the positive label is not the same for all rows"):
        _ = counts[1, 0] + counts[2, 0]


def test_labels_and_columns_of_tables():
    rows = Rows(n=90, n_classes=3)
    y = np.array(["hi", "lo", "mid"])[rows.y]
    frame = pd.DataFrame(rows.score, columns=["hi", "lo", "mid"])
    site = pd.DataFrame({"site": rows.groups, "sex": rows.groups % 2})
    report = MulticlassGroupAUC.from_predictions(y, frame, groups=site, multi_class="ovo")
    assert report.by_group.index.names == ["site", "sex"]
    assert report.by_group.columns.names == ["positive", "negative"]
    assert "hi" in repr(report)


FRAMES = {
    "pandas": lambda scores, names: pd.DataFrame(scores, columns=names),
    "polars": lambda scores, names: pl.DataFrame(scores, schema=list(map(str, names))),
    "pyarrow": lambda scores, names: pa.table(dict(zip(map(str, names), scores.T, strict=True))),
}


@pytest.mark.parametrize("frame_of", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    "names", [["hi", "lo", "mid"], [0, 1, 2], [7, 3, 5], [0.5, 1.5, 2.5]], ids=str
)
def test_named_columns_in_another_order_are_matched_by_name(frame_of, names):
    rows = Rows(n=90, n_classes=3)
    y, order = np.array(names)[rows.y], [2, 0, 1]
    frame = frame_of(rows.score[:, order], [names[n] for n in order])
    by_label = rows.score[:, np.argsort(names)]
    expected = MulticlassGroupAUC.from_predictions(y, by_label, groups=rows.groups).by_group
    unnamed = pd.DataFrame(by_label)
    for given, labels in ((frame, None), (frame, names), (rows.score, names), (unnamed, None)):
        found = MulticlassGroupAUC.from_predictions(y, given, groups=rows.groups, labels=labels)
        pd.testing.assert_frame_equal(found.by_group[expected.columns], expected)


def test_default_names_of_polars_are_in_the_order_of_the_classes():
    rows = Rows(n=90, n_classes=3)
    y = np.array(["hi", "lo", "mid"])[rows.y]
    found, expected = (
        MulticlassGroupAUC.from_predictions(y, score, groups=rows.groups).by_group
        for score in (pl.DataFrame(rows.score), rows.score)
    )
    pd.testing.assert_frame_equal(found, expected)


def test_wrong_counts():
    counts = Rows().report().counts
    part = counts.parts[0]
    with pytest.raises(ValueError, match="the same multi_class; got 'ovr' and 'ovo'"):
        _ = counts + Rows().report(multi_class="ovo").counts
    with pytest.raises(ValueError, match="the same labels"):
        _ = counts + Rows(n_classes=3).report().counts
    with pytest.raises(ValueError, match="parts must have the keys 0, 1, 2, 3; got 0"):
        MulticlassCounts((0, 1, 2, 3), "ovr", {0: part})
    with pytest.raises(TypeError, match="parts must be ScoreCounts; got"):
        MulticlassCounts((0, 1, 2), "ovr", dict.fromkeys(range(3), 1))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("class_average", ["macro", "weighted"])
def test_several_scorers_equal_single_scorers_and_share_predictions(multi_class, class_average):
    rows = Rows()
    X = pd.DataFrame(rows.score).assign(site=rows.groups).rename(columns=str)
    calls = []

    class Counted(LogisticRegression):
        def predict_proba(self, X):
            calls.append(len(X))
            return super().predict_proba(X)

    named = {"groups": "site", "multi_class": multi_class, "class_average": class_average}
    scoring = group_auc_scoring(["pooled", "worst", "neg_difference"], each_group=[0, 2], **named)
    assert list(scoring) == ["pooled", "worst", "neg_difference", "auc_0", "auc_2"]
    assert f"each_group=[2], multi_class={multi_class!r}" in repr(scoring["auc_2"])
    folds = StratifiedKFold(2)
    found = cross_validate(
        Counted(), X, rows.y, cv=folds, scoring=scoring, error_score="raise", return_estimator=True
    )
    assert len(calls) == 2
    for fold, (_, test) in enumerate(folds.split(X, rows.y)):
        report = MulticlassGroupAUC.from_predictions(
            rows.y[test], found["estimator"][fold].predict_proba(X.iloc[test]),
            groups=rows.groups[test], multi_class=multi_class,
        )  # fmt: skip
        for name, sign in (("pooled", 1), ("worst", 1), ("neg_difference", -1)):
            expected = sign * report.statistic(name.removeprefix("neg_"), class_average)
            assert found[f"test_{name}"][fold] == pytest.approx(expected, rel=1e-12)
        single = make_group_auc_scorer("worst", **named)
        of_one = single(found["estimator"][fold], X.iloc[test], rows.y[test])
        assert of_one == found["test_worst"][fold]
        for group, expected in report.average_by_group(class_average)[[0, 2]].items():
            assert found[f"test_auc_{group}"][fold] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_reports_of_estimators_are_those_of_their_scores(multi_class):
    rows = Rows(n_classes=3)
    y = np.array(["no", "yes", "maybe"])[rows.y]
    X = pd.DataFrame(rows.score).assign(site=rows.groups, patient=np.arange(300) // 2)
    X = X.rename(columns=str)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = MulticlassGroupAUC.from_estimator(
        model, X, y, groups="site", multi_class=multi_class, sample_weight=rows.weights,
        clusters="patient",
    )  # fmt: skip
    expected = MulticlassGroupAUC.from_predictions(
        y, model.predict_proba(X), groups=X["site"], multi_class=multi_class,
        labels=["maybe", "no", "yes"], sample_weight=rows.weights, clusters=X["patient"],
    )  # fmt: skip
    assert found.counts == expected.counts
    pd.testing.assert_frame_equal(found.confidence_intervals(), expected.confidence_intervals())
    few = MulticlassGroupAUC.from_estimator(
        model, X[y != "no"], y[y != "no"], groups="site", undefined="ignore"
    )
    assert few.by_group["no"].isna().all()
    two = LogisticRegression().fit(X[y != "no"], y[y != "no"])
    with pytest.raises(ValueError, match=r"three or more classes.* has 2 classes.*GroupAUC"):
        MulticlassGroupAUC.from_estimator(two, X, y, groups="site")


@pytest.mark.parametrize("wrap", [lambda m: m, make_pipeline, lambda m: GridSearchCV(m, {})])
def test_decision_values_of_pairs_of_classes_are_refused(wrap):
    rows = Rows(n_classes=3)
    X = pd.DataFrame(rows.score).assign(site=rows.groups).rename(columns=str)
    pairs = wrap(SVC(decision_function_shape="ovo")).fit(X, rows.y)
    assert pairs.decision_function(X).shape[1] == 3
    by_request = {"response_method": "decision_function"}
    scorer = make_group_auc_scorer("pooled", groups="site", multi_class="ovr", **by_request)
    message = r"returns a score for each pair of classes.*Pass decision_function_shape='ovr'"
    with pytest.raises(ValueError, match=message):
        scorer(pairs, X, rows.y)
    with pytest.raises(ValueError, match=message):
        MulticlassGroupAUC.from_estimator(pairs, X, rows.y, groups="site", **by_request)
    with pytest.raises(AttributeError, match=r"It has 'decision_function': pass resp"):
        MulticlassGroupAUC.from_estimator(pairs, X, rows.y, groups="site")
    model = wrap(SVC()).fit(X, rows.y)
    scores = model.decision_function(X)
    expected = np.mean([roc_auc_score(rows.y == c, scores[:, c]) for c in range(3)])
    assert scorer(model, X, rows.y) == pytest.approx(expected)


def test_counts_of_bins_and_summaries_have_reports():
    rows = Rows()
    for multi_class in ("ovr", "ovo"):
        exact = rows.report(multi_class=multi_class)
        summary, binned = (
            MulticlassCounts.from_predictions(
                rows.y, rows.score, groups=rows.groups, multi_class=multi_class, disclosure=level
            )
            for level in ("summary", "bins")
        )
        pd.testing.assert_frame_equal(MulticlassGroupAUC(summary).by_group, exact.by_group)
        assert "pooled" not in MulticlassGroupAUC(summary).statistics()
        assert_allclose(MulticlassGroupAUC(binned).by_group, exact.by_group, atol=0.02)


def covariance_of_all_pairs(y, score, keys, cluster):
    """Covariances of AUCs, from the effects of clusters, computed from all pairs of rows."""
    effects, aucs = [], []
    for key in keys:
        one, other = key if isinstance(key, tuple) else (key, None)
        positive = y == one
        negative = ~positive if other is None else y == other
        pairs = comparisons(score[positive, one], score[negative, one])
        auc, effect = pairs.mean(), np.zeros(len(y))
        effect[positive] = (pairs.mean(axis=1) - auc) / positive.sum()
        effect[negative] = (pairs.mean(axis=0) - auc) / negative.sum()
        effects.append(np.bincount(cluster, effect))
        aucs.append(auc)
    return np.array(effects) @ np.array(effects).T, np.array(aucs)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("class_average", ["macro", "weighted"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_standard_errors_equal_covariances_of_all_pairs(multi_class, class_average, clustered):
    rows = Rows(n=120, n_classes=3)
    cluster = np.arange(120) // 2 if clustered else np.arange(120)
    # Clusters do not share groups.
    groups = rows.groups[2 * cluster] if clustered else rows.groups
    report = MulticlassGroupAUC.from_predictions(
        rows.y, rows.score, groups=groups, multi_class=multi_class,
        clusters=cluster if clustered else None,
    )  # fmt: skip
    found = report.confidence_intervals(class_average=class_average)
    assert_allclose(found["auc"], report.average_by_group(class_average))
    for g in range(3):
        own = groups == g
        covariance, _ = covariance_of_all_pairs(
            rows.y[own], rows.score[own], list(report), cluster[own]
        )
        variances = np.array([one._estimates.variances.delong[g] for one in report.values()])
        raw = np.sqrt(np.diag(covariance))
        covariance *= np.outer(np.sqrt(variances) / raw, np.sqrt(variances) / raw)
        sizes = np.bincount(rows.y[own])
        of_pairs = [sizes[k] if multi_class == "ovr" else sizes[list(k)].sum() for k in report]
        share = np.ones(len(report)) if class_average == "macro" else np.array(of_pairs)
        share = share / share.sum()
        error, value = np.sqrt(share @ covariance @ share), found["auc"][g]
        assert found["standard_error"][g] == pytest.approx(error)
        if not clustered:
            limits = [one.confidence_intervals().loc[g, ["auc", "ci_low", "ci_high"]]
                      for one in report.values()]  # fmt: skip
            auc, *ends = np.array(limits, float).T
            reach = ndtri(0.975) * error / (value * (1 - value))
            further = expit(logit(value) - reach), expit(logit(value) + reach)
            for name, end, sign, other in zip(
                ["ci_low", "ci_high"], ends, [-1, 1], further, strict=True
            ):
                parts = share * (auc - end) / np.sqrt(variances)
                of_limits = value + sign * np.sqrt(parts @ covariance @ parts)
                expected = (min, max)[sign == 1](of_limits, other)
                assert found[name][g] == pytest.approx(expected, rel=1e-9)
    table = report.confidence_intervals(of="statistics", class_average=class_average)
    assert table.index.tolist() == [
        "pooled", "macro", "samples", "positives", "negatives", "within"
    ]  # fmt: skip
    for name, value in table["value"].items():
        assert value == pytest.approx(report.statistic(name, class_average), rel=1e-12)
    if class_average == "macro":
        expected = np.sqrt((found["standard_error"] ** 2).sum()) / 3
        assert table["standard_error"]["macro"] == pytest.approx(expected)
    one_group = MulticlassGroupAUC.from_predictions(
        rows.y, rows.score, groups=[0] * 120, multi_class=multi_class,
        clusters=cluster if clustered else None,
    ).confidence_intervals(class_average=class_average)  # fmt: skip
    expected = one_group[["standard_error", "ci_low", "ci_high"]].iloc[0]
    assert_allclose(table.loc["pooled", expected.index].astype(float), expected)


def test_clusters_of_one_row_are_independent_rows():
    rows = Rows(n=120, n_classes=3)
    independent = rows.report().confidence_intervals()
    single = rows.report(clusters=np.arange(120)).confidence_intervals()
    assert_allclose(single["standard_error"], independent["standard_error"])
    assert (single["ci_low"] < independent["ci_low"]).all()


def test_shared_clusters_correlate_groups():
    """Two groups with the same rows of the same clusters have the same average."""
    rows = Rows(n=60, n_groups=1, n_classes=3)
    both = MulticlassGroupAUC.from_predictions(
        np.tile(rows.y, 2), np.tile(rows.score, (2, 1)), groups=np.repeat([0, 1], 60),
        clusters=np.tile(np.arange(60) // 2, 2),
    )  # fmt: skip
    of_group = both.confidence_intervals()["standard_error"]
    of_macro = both.confidence_intervals(of="statistics")["standard_error"]["macro"]
    assert_allclose(of_group, of_macro)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_intervals_of_special_groups(multi_class):
    """Groups with perfect separation, without a class, with single rows, and with equal scores."""
    rows = Rows(n=60, n_groups=1, n_classes=3)
    y = np.concatenate([rows.y, [0, 1, 2] * 5, [0, 0, 1, 1], [0, 0, 1, 1, 2], [0, 1, 2] * 4])
    perfect, equal = np.eye(3)[[0, 1, 2] * 5], np.ones((12, 3))
    some = [[3, 1, 1], [1, 2, 1], [2, 1, 4], [1, 4, 2]]
    score = np.concatenate([rows.score, perfect, some, [*some, [1, 1, 5]], equal])
    groups = np.repeat(["a", "perfect", "absent", "single", "equal"], [60, 15, 4, 5, 12])
    report = MulticlassGroupAUC.from_predictions(
        y, score, groups=groups, multi_class=multi_class, undefined="ignore"
    )
    found = report.confidence_intervals(confidence_level=0.9)
    assert found["note"].to_dict() == {
        "a": "", "perfect": "perfect separation", "absent": "a class is absent",
        "single": "a variance is 0 or unknown: bounded",
        "equal": "a variance is 0 or unknown: bounded",
    }  # fmt: skip
    assert found.loc["absent"].drop("note").isna().all()
    rest = found.drop(index="absent")
    assert ((rest["ci_low"] >= 0) & (rest["ci_low"] < rest["auc"])).all()
    assert ((rest["auc"] <= rest["ci_high"]) & (rest["ci_high"] <= 1)).all()
    assert found["ci_low"]["perfect"] == pytest.approx(0.05 ** (1 / 5))
    # Compare with the bounds of all AUCs, whose correlation is 1.
    assert found["standard_error"]["equal"] == pytest.approx(
        np.mean([np.sqrt(one._estimates.variances.bounded[one._estimates.labels.get_loc("equal")])
                 for one in report.values()])
    )  # fmt: skip
    table = report.confidence_intervals(of="statistics")
    assert table["note"]["pooled"] == ""
    assert (table["ci_low"] < table["value"]).all()
    of_value = MulticlassGroupAUC.from_predictions(
        y, score, groups=groups, multi_class=multi_class, undefined=0.5
    )
    replaced = of_value.confidence_intervals()
    assert replaced["auc"]["absent"] == pytest.approx(of_value.average_by_group()["absent"])
    value = of_value.confidence_intervals(of="statistics")["value"]["macro"]
    assert value == pytest.approx(of_value.statistic("macro"))


def test_intervals_of_counts_are_refused():
    rows = Rows(n=40)
    report = rows.report()
    with pytest.raises(ValueError, match=r"need the rows.*Make the report with Multi"):
        MulticlassGroupAUC(report.counts).confidence_intervals()
    with pytest.raises(ValueError, match=r"clusters has 3 .* 40"):
        rows.report(clusters=[0, 1, 2])


@pytest.mark.parametrize("undefined", ["raise", "skip"])
def test_printing_neither_warns_nor_raises(undefined):
    report = MulticlassGroupAUC.from_predictions(
        [0, 1, 2, 0], np.eye(3)[[0, 1, 2, 1]], groups=list("aaab"), undefined=undefined
    )
    assert "pooled" in repr(report)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_first_lines_have_the_numbers_of_the_report(multi_class):
    """How good, which group is lowest, and is the gap real, as for two classes."""
    rows = Rows(n=400, n_classes=3)
    report = rows.report(multi_class=multi_class)
    told, table = repr(report), report.confidence_intervals()
    statistics = report.confidence_intervals(of="statistics")
    for name in ("pooled", "within"):
        value, _, low, high, _ = statistics.loc[name]
        assert f"\n{name} {value:.3f} ({low:.3f} to {high:.3f}): " in told
    lowest = table["auc"].idxmin()
    assert f"\nlowest average {table['auc'].min():.3f}: {lowest}, " in told
    test = report.test_difference()
    limits = f"{test.estimate:.3f} (true: {test.ci_low:.3f} to {test.ci_high:.3f}): "
    assert test.estimate == pytest.approx(np.ptp(table["auc"]))
    assert f"\nlargest difference of averages {limits}" in told
    assert "\npooled by class, lowest first: " in told
    for group, row in table.iterrows():
        line = f"  {row.auc:.3f}  {row.ci_low:.3f} to {row.ci_high:.3f} "
        assert any(line in of and of.split()[0] == str(group) for of in told.splitlines())
    html, markdown = report._repr_html_(), report._repr_markdown_()
    for answer in told.split("\n\n")[0].splitlines():
        assert answer in html
        assert answer in markdown
    of_counts = MulticlassGroupAUC(report.counts)
    assert "; no interval without rows\n" in repr(of_counts)
    of_clusters = rows.report(multi_class=multi_class, clusters=np.arange(400) // 3)
    assert "; groups share clusters\n" in repr(of_clusters)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_small_groups_are_left_out_of_everything(multi_class):
    rows = Rows(n=300)
    rows.groups[:9] = 7
    rows.y[:9] = [0, 0, 0, 1, 1, 1, 2, 3, 3]
    clusters = np.arange(300) // 2
    options = {"multi_class": multi_class, "min_per_class": 3}
    of_counts = MulticlassGroupAUC(rows.report(multi_class=multi_class).counts, min_per_class=3)
    least, large = rows.report(**options, clusters=clusters), rows.groups != 7
    rows.y, rows.score, rows.groups = rows.y[large], rows.score[large], rows.groups[large]
    own = rows.report(multi_class=multi_class, clusters=clusters[large])
    left_out = "Left out, with fewer than 3 rows of a class (0, 1, 2, 3): 7 (3, 3, 1 and 2)."
    lines = (
        repr(least).replace(f"{left_out}\n", "").replace("rows of these groups", "rows together")
    )
    assert lines == repr(own)
    assert left_out in repr(least)
    assert left_out in repr(of_counts)
    assert left_out in repr(least[next(iter(least))])
    pd.testing.assert_frame_equal(least.by_group, of_counts.by_group)
    none = rows.report(multi_class=multi_class, min_per_class=1000)
    assert none.by_group.empty
    assert none.confidence_intervals(of="statistics")["value"].isna().all()
    assert "over 0 groups" in repr(none)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_an_undefined_pooled_average_has_no_interval(multi_class):
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 90), rng.integers(0, 2, 90)
    report = MulticlassGroupAUC.from_predictions(
        y,
        rng.dirichlet(np.ones(3), 90),
        groups=groups,
        labels=[0, 1, 2],
        multi_class=multi_class,
        undefined="ignore",
    )
    row = report.confidence_intervals(of="statistics").loc["pooled"]
    assert row[["value", "ci_low", "ci_high"]].isna().all()
    assert row["note"] == "a class is absent"
