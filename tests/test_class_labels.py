"""Class labels in score counts, which reveal a misspelled pos_label."""

import decimal
import itertools
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from rules import restored
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MulticlassCounts,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    compare_models,
    group_roc_auc_score,
)
from skfedauc.counts import view_of
from skfedauc.counts.score_counts import select_groups
from skfedauc.error_bounds import fit_with_error_bound

SCORES = [0.2, 0.7]


def device(*labels, pos_label=None, groups="a"):
    scores = np.linspace(0.1, 0.9, len(labels))
    names = None if groups is None else [groups] * len(labels)
    return ScoreCounts.from_predictions(list(labels), scores, groups=names, pos_label=pos_label)


def merged(parts, way):
    if way == "merge":
        return ScoreCounts.merge(parts)
    if way == "+":
        return sum(parts[1:], parts[0])
    if way == "tree":
        return parts[0] if len(parts) == 1 else merged(parts[:-1], "+") + parts[-1]
    return ScoreCounts.merge([pickle.loads(pickle.dumps(part)) for part in parts])


WAYS = ["merge", "+", "tree", "pickle"]


@pytest.mark.parametrize(
    "devices",
    [
        [([0, 0], None), ([1], None), ([], None), ([0, 1], 1)],
        [([-1], None), ([1, -1], None), ([1.0], 1.0)],
        [([False], None), ([True], True), ([0, 1], None), ([0.0, 1.0], np.int64(1))],
        [(["no"], "yes"), (["yes"], "yes"), ([], "yes"), ([], None)],
        [([np.str_("no")], np.str_("yes")), (["no", "yes"], "yes")],
        [([b"no"], b"yes"), ([b"no", b"yes"], b"yes")],
        [([1], 2), ([2], 2), ([1.0, 2.0], 2.0)],
        [([decimal.Decimal(0)], decimal.Decimal(1)), ([0, 1], None)],
    ],
    ids=str,
)
@pytest.mark.parametrize("way", WAYS)
def test_devices_that_do(devices, way):
    """Batches of one class cause no warning; a warning would fail the test."""
    parts = [device(*labels, pos_label=pos_label) for labels, pos_label in devices]
    wholes = [merged(list(order), way) for order in itertools.permutations(parts)]
    assert all(whole == wholes[0] for whole in wholes)
    known = {view_of(whole).classes for whole in wholes}
    assert len(known) == 1
    (classes,) = known
    assert len(classes.seen) == 2
    assert classes.pos_label == classes.seen[1]
    positive = next(label for labels, label in devices if label is not None)
    n_positives = sum(label == positive for labels, _ in devices for label in labels)
    assert wholes[0].n_positives.sum() == n_positives


def test_counts_know_no_labels():
    known, counts = (
        device("no", "yes", pos_label="yes"),
        ScoreCounts.from_counts(["a"], [2], [1], [1]),
    )
    assert view_of(counts).classes == ((), None)
    assert view_of(known + counts).classes == (("no", "yes"), "yes")
    again = ScoreCounts.from_counts(**known.to_counts())
    assert again == known
    assert view_of(again).classes == ((), None)


def test_equality_does_not_depend_on_labels():
    assert device(0, 1) == device("no", "yes", pos_label="yes") == device(1, 0, pos_label=0)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.regroup({"a": "b"}),
        lambda p: p.regroup(None),
        lambda p: select_groups(p, np.array([0])),
        lambda p: pickle.loads(pickle.dumps(p)),
    ],
    ids=["regroup", "pool", "only", "pickle"],
)
def test_labels_stay(change):
    assert view_of(change(device("no", "yes", pos_label="yes"))).classes == (("no", "yes"), "yes")


@pytest.mark.parametrize(
    "classes",
    [
        (("no", "yes", "maybe"), "yes"),
        (("no", "yes"), "Yes"),
        (("yes", "no"), "yes"),
        (("no",), None),
        ((b"no",), "yes"),
        (["no"], "yes"),
        ("no",),
        None,
    ],
    ids=str,
)
def test_labels_that_cannot_be_are_not_loaded(classes):
    counts = device("no", "yes", pos_label="yes")
    with pytest.raises(ValueError, match="damaged: the labels of its classes"):
        restored(counts, classes=classes)


# Warnings about a possible misspelling ---------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "pos_label"),
    [("yes", "Yes"), ("yes", "yes "), ("Case 1", "case  1"), ("1", "1.0"), ("\u00b2", "2")],
)
@pytest.mark.parametrize(
    "count",
    [
        lambda y, p: ScoreCounts.from_predictions(y, SCORES, pos_label=p),
        lambda y, p: ScoreCounts.from_batches([(y, SCORES)] * 3, pos_label=p),
        lambda y, p: GroupAUC.from_predictions(y, SCORES, groups=["a", "b"], pos_label=p),
        lambda y, p: group_roc_auc_score(y, SCORES, groups=["a", "b"], pos_label=p, undefined=0.5),
    ],
    ids=["counts", "batches", "report", "function"],
)
def test_another_spelling_is_warned_of(label, pos_label, count):
    message = f"pos_label={pos_label!r} is not among the labels of y_true: all labels are {label!r}"
    with pytest.warns(UserWarning, match=re.escape(message)) as caught:
        count([label, label], pos_label)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("label", "pos_label"),
    [
        ("no", "yes"),
        ("unhealthy", "healthy"),
        ("<50K", ">50K"),
        ("-", "+"),
        ("class_1", "class_0"),
        (0, 1),
        (-1, 1),
        (1, 2),
        (False, True),
        ("-1", "1"),
    ],
)
def test_devices_of_negatives_are_not(label, pos_label):
    counts = device(label, label, pos_label=pos_label)
    assert counts.n_negatives.sum() == 2


INFINITE_ROWS = [1.0, np.inf] * 4, np.linspace(0, 1, 8), ["a", "b"] * 4
# Functions of labels, scores and groups
ENTRANCES = {
    "metric": lambda y, s, g, p: group_roc_auc_score(
        y, s, groups=g, statistic="pooled", pos_label=p
    ),
    "counts": lambda y, s, g, p: ScoreCounts.from_predictions(y, s, groups=g, pos_label=p),
    "batches": lambda y, s, g, p: ScoreCounts.from_batches([(y, s, g)], pos_label=p),
    "table": lambda y, s, g, p: ScoreCounts.from_table(
        pd.DataFrame({"y": y, "s": s, "g": g}), label="y", score="s", group="g", pos_label=p
    ),
    "lazy table": lambda y, s, g, p: ScoreCounts.from_table(
        pl.LazyFrame({"y": y, "s": s, "g": g}, strict=False), label="y", score="s", group="g",
        pos_label=p,
    ),
    "report": lambda y, s, g, p: GroupAUC.from_predictions(y, s, groups=g, pos_label=p),
    "audit": lambda y, s, g, p: FairnessAudit.from_predictions(y, s, groups=g, pos_label=p),
    "models": lambda y, s, g, p: compare_models(
        y, {"a": s, "b": -np.array(s)}, groups=g, pos_label=p
    ),
}  # fmt: skip


@pytest.mark.parametrize("entrance", ENTRANCES.values(), ids=ENTRANCES)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", [float, object])
def test_infinite_numbers_are_no_labels(entrance, sign, kind):
    y, scores, groups = INFINITE_ROWS
    y = sign * np.array(y, kind)
    for pos_label in (sign * 1.0, sign * np.inf):
        with pytest.raises(ValueError, match=r"4 infinite labels of 8|got -?inf\.|labels? .*inf"):
            entrance(y, scores, groups, pos_label)
    with pytest.raises(ValueError, match=r"infinite labels|got inf\.|labels? .*inf"):
        entrance(np.zeros(8), scores, groups, np.inf)


def test_infinite_labels_of_several_classes_folds_and_error_bounds():
    y, scores, groups = [1, 2, 3, np.inf] * 3, np.ones((12, 4)), ["a"] * 12
    with pytest.raises(ValueError, match="3 infinite labels of 12"):
        MulticlassCounts.from_predictions(y, scores, groups=groups)
    with pytest.raises(ValueError, match="3 infinite labels of 12"):
        next(WithinGroupStratifiedKFold(3).split(np.zeros((12, 1)), y, groups))
    with pytest.raises(ValueError, match="3 infinite labels of 12"):
        fit_with_error_bound(GaussianNB(), np.arange(12)[:, None], y)


@pytest.mark.parametrize("pos_label", [2, -1, 0.5])
def test_booleans_have_two_labels(pos_label):
    with pytest.raises(ValueError, match="is not among the labels of y_true"):
        device(False, False, pos_label=pos_label)


# Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 1), ("threading", 2)])
def test_batches_of_one_class(backend, n_jobs):
    batches = [(["no"] * 2, SCORES)] * 3 + [(["yes"] * 2, SCORES)]
    with joblib.parallel_config(backend):
        good = ScoreCounts.from_batches(batches, pos_label="yes", n_jobs=n_jobs)
        assert good.n_positives.sum() == 2
        with pytest.raises(ValueError, match=r"batch 3: .*pos_label='Yes' is not among the labels"):
            ScoreCounts.from_batches(batches, pos_label="Yes", n_jobs=n_jobs)


def test_a_checkpoint_keeps_the_labels(tmp_path):
    path = tmp_path / "counted.skfa"
    batches = [(["no"] * 2, [0.1, k / 10]) for k in range(5)]
    with pytest.raises(ValueError, match="batch 5"):
        ScoreCounts.from_batches([*batches, (["no"], [np.nan])], pos_label="Yes", checkpoint=path)
    assert path.exists()
    with pytest.raises(ValueError, match=r"batch 5: .*pos_label='Yes' is not among .*'no', 'yes'"):
        ScoreCounts.from_batches([*batches, (["yes"], [0.2])], pos_label="Yes", checkpoint=path)
    whole = ScoreCounts.from_batches([*batches, (["Yes"], [0.2])], pos_label="Yes", checkpoint=path)
    assert view_of(whole).classes == (("Yes", "no"), "Yes")


# Reports ---------------------------------------------------------------------------------------


def test_reports_of_one_label_name_it():
    report = GroupAUC(
        device("no", "no", pos_label="yes") + device("no", pos_label="yes", groups="b")
    )
    named = r"\(all rows have the label 'no', and pos_label is 'yes'\)"
    for read in ("pooled", "macro", "worst", "cross", "difference"):
        with pytest.warns(UndefinedMetricWarning, match=named):
            assert np.isnan(GroupAUC(report.counts).statistic(read))
    with pytest.raises(ValueError, match=named):
        _ = GroupAUC(report.counts, undefined="raise").pooled
    with pytest.raises(ValueError, match=named):
        compare_models(["no", "no"], {"a": SCORES, "b": SCORES}, pos_label="yes")


def test_other_reports_do_not():
    """Reports do not name the label if some rows are positive, or if labels are unknown."""
    one = device("no", "no", pos_label="yes")
    for counts in (
        one + ScoreCounts.from_counts(["b"], [0.5], [0], [2]),
        one + device("yes", pos_label="yes", groups="b"),
        device(1, 1),
    ):
        with pytest.warns(UndefinedMetricWarning) as caught:
            _ = GroupAUC(counts).worst
        assert not any("pos_label" in str(w.message) for w in caught)


def test_long_labels_are_not_quoted_whole():
    labels, other = ["x" * 10**6, "y" * 10**6], "z" * 10**6
    for fails in (
        lambda: device(*labels),
        lambda: device(*labels, pos_label=other),
        lambda: device(*labels, other, pos_label=other),
        lambda: device(labels[0], pos_label=other) + device(labels[1], pos_label=other),
        lambda: device(labels[0], pos_label=labels[1]) + device(labels[0], pos_label=labels[0]),
    ):
        with pytest.raises(ValueError, match=r"'xxx.*\.\.\.") as caught:
            fails()
        assert len(str(caught.value)) < 1000
