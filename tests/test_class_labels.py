"""Class labels in score counts, which reveal a misspelled pos_label."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
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


def test_equality_does_not_depend_on_labels():
    assert device(0, 1) == device("no", "yes", pos_label="yes") == device(1, 0, pos_label=0)


# Warnings about a possible misspelling ---------------------------------------------------------


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


# Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 1), ("threading", 2)])
def test_batches_of_one_class(backend, n_jobs):
    batches = [(["no"] * 2, SCORES)] * 3 + [(["yes"] * 2, SCORES)]
    with joblib.parallel_config(backend):
        good = ScoreCounts.from_batches(batches, pos_label="yes", n_jobs=n_jobs)
        assert good.n_positives.sum() == 2
        with pytest.raises(ValueError, match=r"batch 3: .*pos_label='Yes' is not among the labels"):
            ScoreCounts.from_batches(batches, pos_label="Yes", n_jobs=n_jobs)


# Reports ---------------------------------------------------------------------------------------


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
