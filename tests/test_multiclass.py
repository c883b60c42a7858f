"""AUCs of three or more classes by group, against scikit-learn and all pairs of rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_validate

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MulticlassCounts,
    MulticlassGroupAUC,
    group_roc_auc_score,
    make_group_auc_scorer,
)
from skfedauc.measures import Gini


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
def test_one_group_equals_scikit_learn(multi_class, average):
    rows = Rows(n_groups=1)
    expected = roc_auc_score(rows.y, rows.score, multi_class=multi_class, average=average)
    report = rows.report(multi_class=multi_class)
    assert report.statistic("pooled", average) == pytest.approx(expected, rel=1e-12)
    assert report.average_by_group(average).tolist() == pytest.approx([expected], rel=1e-12)
    for statistic in ("pooled", "macro", "worst"):
        found = group_roc_auc_score(
            rows.y, rows.score, groups=rows.groups, statistic=statistic, multi_class=multi_class,
            class_average=average,
        )  # fmt: skip
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_weighted_rows_equal_scikit_learn(average):
    rows = Rows(n_groups=1)
    expected = roc_auc_score(
        rows.y, rows.score, multi_class="ovr", average=average, sample_weight=rows.weights
    )
    found = rows.report(sample_weight=rows.weights).statistic("pooled", average)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_each_group_equals_scikit_learn_on_its_rows(multi_class, average):
    rows = Rows()
    report = rows.report(multi_class=multi_class)
    expected = [
        roc_auc_score(rows.y[own], rows.score[own], multi_class=multi_class, average=average)
        for own in (rows.groups == g for g in range(3))
    ]
    found = report.average_by_group(average)
    assert found.index.tolist() == [0, 1, 2]
    assert_allclose(found, expected, rtol=1e-12)
    table = group_roc_auc_score(
        rows.y, rows.score, groups=rows.groups, statistic=None, multi_class=multi_class,
        class_average=average,
    )  # fmt: skip
    pd.testing.assert_series_equal(table, found)


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


def test_groups_that_lack_a_class_have_no_average():
    rows = Rows(n=200)
    kept = (rows.groups != 1) | (rows.y != 2)
    y, score, groups = rows.y[kept], rows.score[kept], rows.groups[kept]
    for multi_class in ("ovr", "ovo"):
        report = MulticlassGroupAUC.from_predictions(
            y, score, groups=groups, multi_class=multi_class, undefined="ignore"
        )
        assert report.average_by_group().isna().tolist() == [False, True, False]
        assert report.by_group.loc[1].isna().sum() == (1 if multi_class == "ovr" else 6)
        filled = MulticlassGroupAUC(report.counts, undefined=0.5).average_by_group()
        expected = report.by_group.loc[1].fillna(0.5).mean()
        assert filled[1] == pytest.approx(expected)
    report = MulticlassGroupAUC.from_predictions(y, score, groups=groups)
    with pytest.warns(match=r"1 of 3 groups.* Class 2 is compared with the rest\."):
        _ = report.statistic("macro")


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
        audit = FairnessAudit(report[key], threshold=None)
        assert f"2 groups by group, positive class {classes}, ranking only" in repr(audit)
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
    reordered = MulticlassGroupAUC.from_predictions(
        y, frame[["mid", "hi", "lo"]], groups=site, labels=["mid", "hi", "lo"]
    )
    expected = MulticlassGroupAUC.from_predictions(y, frame, groups=site)
    pd.testing.assert_frame_equal(reordered.by_group[["hi", "lo", "mid"]], expected.by_group)
    with pytest.raises(ValueError, match=r"in another order than the classes.*y_score\[labels\]"):
        MulticlassGroupAUC.from_predictions(y, frame[["mid", "hi", "lo"]], groups=site)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"multi_class": "all"}, r"multi_class must be 'ovr' .* got 'all'"),
        ({"y_true": [0, 1, 0, 1]}, r"three or more different classes; got 0, 1\. For two classes"),
        ({"labels": [0, 1, 1]}, r"labels must hold three or more different classes"),
        ({"labels": [0, 1, 3]}, r"y_true has the labels 2, which are not among labels, 0, 1, 3"),
        ({"y_score": np.eye(4)}, r"one column for each of the 3 classes.* shape \(4, 4\)"),
        ({"y_score": [1, 2, 3, 4]}, r"one column for each .* shape \(4,\)"),
        ({"y_score": np.full((4, 3), np.nan)}, r"y_score\[:, 0\] must be finite"),
        ({"y_true": [0.0, 1.0, 2.0, np.nan]}, r"y_true has 1 missing labels of 4"),
        ({"groups": [1, 2]}, r"groups has 2 rows"),
        ({"undefined": "drop"}, r"undefined must be 'skip'"),
    ],
)
def test_wrong_arguments(changed, message):
    given = {"y_true": [0, 1, 2, 0], "y_score": np.eye(3)[[0, 1, 2, 0]], "groups": [1, 1, 1, 1]}
    with pytest.raises(ValueError, match=message):
        MulticlassGroupAUC.from_predictions(**{**given, **changed})


def test_wrong_counts():
    counts = Rows().report().counts
    part = counts.parts[0]
    with pytest.raises(TypeError, match="counts must be a MulticlassCounts; got ScoreCounts"):
        MulticlassGroupAUC(part)
    with pytest.raises(TypeError, match="parts must be MulticlassCounts; got"):
        MulticlassCounts.merge([counts, part])
    with pytest.raises(ValueError, match="parts is empty"):
        MulticlassCounts.merge([])
    with pytest.raises(ValueError, match="the same multi_class; got 'ovr' and 'ovo'"):
        _ = counts + Rows().report(multi_class="ovo").counts
    with pytest.raises(ValueError, match="the same labels"):
        _ = counts + Rows(n_classes=3).report().counts
    with pytest.raises(ValueError, match="parts must have the keys 0, 1, 2, 3; got 0"):
        MulticlassCounts((0, 1, 2, 3), "ovr", {0: part})
    with pytest.raises(TypeError, match="parts must be ScoreCounts; got"):
        MulticlassCounts((0, 1, 2), "ovr", dict.fromkeys(range(3), 1))
    with pytest.raises(ValueError, match="class_average must be 'macro'"):
        Rows().report().statistic("macro", "micro")
    with pytest.raises(ValueError, match="pos_label has no meaning with multi_class"):
        group_roc_auc_score([0], [0], groups=[0], multi_class="ovr", pos_label=1)
    with pytest.raises(ValueError, match=r"measure= and multi_class= cannot be combined"):
        group_roc_auc_score([0], [0], groups=[0], multi_class="ovr", measure=Gini())
    with pytest.raises(ValueError, match="labels needs multi_class"):
        group_roc_auc_score([0, 1], [0, 1], groups=[0, 0], labels=[0, 1])


# Scorers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_scorers_of_one_group_equal_scikit_learns(multi_class, average):
    rows = Rows(n_groups=1)
    X = pd.DataFrame(rows.score, columns=list("abcd")).assign(site="one")
    model = LogisticRegression().fit(X[["a", "b"]], rows.y)

    class OnTwoColumns(LogisticRegression):
        def fit(self, X, y):
            return super().fit(X[["a", "b"]], y)

        def predict_proba(self, X):
            return super().predict_proba(X[["a", "b"]])

    scorer = make_group_auc_scorer(
        "pooled", groups="site", multi_class=multi_class, class_average=average,
        response_method="predict_proba",
    )  # fmt: skip
    suffix = "_weighted" if average == "weighted" else ""
    expected = get_scorer(f"roc_auc_{multi_class}{suffix}")(model, X[["a", "b"]], rows.y)
    fitted = OnTwoColumns().fit(X, rows.y)
    assert scorer(fitted, X, rows.y) == pytest.approx(expected, rel=1e-12)
    assert f"multi_class={multi_class!r}" in repr(scorer)
    found = cross_validate(
        OnTwoColumns(), X, rows.y, cv=StratifiedKFold(3), error_score="raise",
        scoring={"groups": scorer, "all": f"roc_auc_{multi_class}{suffix}"},
    )  # fmt: skip
    assert_allclose(found["test_groups"], found["test_all"], rtol=1e-12)


def test_scorers_of_gaps_are_negated():
    rows = Rows()
    X = pd.DataFrame(rows.score).assign(site=rows.groups).rename(columns=str)
    model = LogisticRegression().fit(X, rows.y)
    scorer = make_group_auc_scorer("neg_difference", groups="site", multi_class="ovr")
    report = MulticlassGroupAUC.from_predictions(
        rows.y, model.decision_function(X), groups=rows.groups
    )
    assert scorer(model, X, rows.y) == pytest.approx(-report.statistic("difference"))


def test_scorers_refuse_two_classes():
    X, y = pd.DataFrame({"x": [0.0, 1, 2, 3], "site": 1}), [0, 1, 0, 1]
    model = LogisticRegression().fit(X, y)
    scorer = make_group_auc_scorer("macro", groups="site", multi_class="ovo")
    with pytest.raises(ValueError, match="needs a classifier of three or more classes"):
        scorer(model, X, y)
    with pytest.raises(ValueError, match="multi_class must be 'ovr'"):
        make_group_auc_scorer("macro", groups="site", multi_class="both")
    with pytest.raises(ValueError, match="pos_label has no meaning with multi_class"):
        make_group_auc_scorer("macro", groups="site", multi_class="ovr", pos_label=1)


def test_counts_of_bins_and_summaries_have_reports():
    rows = Rows()
    for multi_class in ("ovr", "ovo"):
        exact = rows.report(multi_class=multi_class)
        summary = MulticlassCounts.from_predictions(
            rows.y, rows.score, groups=rows.groups, multi_class=multi_class, disclosure="summary"
        )
        pd.testing.assert_frame_equal(MulticlassGroupAUC(summary).by_group, exact.by_group)
        assert "pooled" not in MulticlassGroupAUC(summary).statistics()
        binned = MulticlassCounts.from_predictions(
            rows.y, rows.score, groups=rows.groups, multi_class=multi_class, disclosure="bins"
        )
        assert_allclose(MulticlassGroupAUC(binned).by_group, exact.by_group, atol=0.02)
