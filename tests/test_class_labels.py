"""Class labels in score counts, which reveal a misspelled pos_label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    ScoreCounts,
    compare_models,
    group_roc_auc_score,
)

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
    scores, groups = np.linspace(0, 1, 8), ["a", "b"] * 4
    y = sign * np.array([1.0, np.inf] * 4, kind)
    for pos_label in (sign * 1.0, sign * np.inf):
        with pytest.raises(ValueError, match=r"4 infinite labels of 8|got -?inf\.|labels? .*inf"):
            entrance(y, scores, groups, pos_label)
    with pytest.raises(ValueError, match=r"infinite labels|got inf\.|labels? .*inf"):
        entrance(np.zeros(8), scores, groups, np.inf)


# Tables of strings cannot hold such text.
@pytest.mark.parametrize("name", [name for name in ENTRANCES if "table" not in name])
@pytest.mark.parametrize("labels", [["a\ud800", "b"] * 2, ["a\ud800"] * 4], ids=ascii)
def test_text_that_is_not_valid_unicode_is_no_label(name, labels):
    entrance = ENTRANCES[name]
    scores, groups = [0.1, 0.2, 0.3, 0.4], ["f", "m"] * 2
    named = r"holds 'a\\ud800', which is not valid Unicode"
    with pytest.raises(ValueError, match=named):
        entrance(labels, scores, groups, "b")
    with pytest.raises(ValueError, match=f"pos_label {named}"):
        entrance(["b", "c"] * 2, scores, groups, "a\ud800")
