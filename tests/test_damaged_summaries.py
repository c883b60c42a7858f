"""Damaged and hostile files and pickles of summaries: always a ValueError that names the reason."""

import numpy as np
import pyarrow as pa
import pytest
from file_format import file_of, parts_of, with_value
from rules import restored

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import extremes_of, view_of

COARSE = Bins.of_probabilities(octaves=3, parts=4)
ODD = [np.nan, np.inf, -1.0, 0.0, 7.0, 1e300]


def counts_of(weighted=False):
    """Group a has 6 positives and 9 negatives, b one positive, and c no positives."""
    rng = np.random.default_rng(0)
    groups = np.array(["a"] * 15 + ["b"] * 5 + ["c"] * 2)
    y = np.array([1] * 6 + [0] * 9 + [1] + [0] * 6)
    weights = rng.gamma(4.0, size=22) if weighted else None
    return ScoreCounts.from_predictions(
        y, np.round(rng.random(22), 1), groups=groups, sample_weight=weights
    )


def summary_of(counts, disclosure="summary"):
    return parts_of(counts.reduced(disclosure).to_bytes())


def plus(amount):
    return lambda value: value + type(value)(amount)


A, B, C = 0, 1, 2


@pytest.mark.parametrize(
    ("name", "group", "value", "message"),
    [
        ("u2", A, -1, "its u2 is not|out of bounds|cannot convert"),
        ("u2", A, 109, r"its u2 is not from 0 to twice its number of pairs, in group 0"),
        ("u2", A, 2**65, "too large|out of bounds|too big"),
        ("u2", A, plus(1), "its comparisons are not half of u2, in group 0"),
        ("u2", C, 1, "its u2 is not from 0 to twice its number of pairs, in group 2"),
        ("n_positives", A, -1, r"column n_positives has -1 in row 0"),
        ("n_positives", A, 7, "its metadata has n_positives 7"),
        ("positives_squared", A, -1e-3, "its positives_squared is negative or too large"),
        ("positives_squared", A, np.nan, "its sums are not finite numbers"),
        ("negatives_squared", A, np.inf, "its sums are not finite numbers"),
        ("negatives_squared", A, 8.0, "its negatives_squared is negative or too large"),
        ("negatives_squared", A, plus(1.5), "its sums of squares are too large for u2, in group 0"),
        ("positives_squared", B, 0.1, "positives_squared is negative or too large, in group 1"),
        ("positives_once", A, 0.01, "its positives_once is too large, in group 0"),
        ("negatives_once", A, 30.0, "its negatives_once is too large"),
        ("negatives_squared", C, 1.0, "its negatives_squared is negative or too large, in group 2"),
        ("comparisons", A, 0.0, "its comparisons and comparisons_squared contradict each other"),
        ("comparisons_squared", A, 1e6, "comparisons_squared contradict each other, in group 0"),
        ("comparisons_squared", B, plus(-1), "comparisons_squared contradict each other"),
        ("lowest_u2", A, 108, "its lowest comparisons are not half of u2"),
        ("lowest_positives_squared", A, -1.0, "its lowest positives_squared is negative"),
        ("group", B, "a", "its metadata has n_cells|several rows of a group"),
    ],
)
def test_impossible_sums_are_named(name, group, value, message):
    table, facts = summary_of(counts_of().reduced(COARSE))
    facts["n_positives"] += name == "n_positives"
    if name == "n_positives" and value == 7:
        facts["n_positives"] -= 1
        message = "its metadata has n_positives 7, and its column 8"
    with pytest.raises(ValueError, match=f"data (is|has) .*{message}"):
        ScoreCounts.from_bytes(file_of(with_value(table, name, group, value), facts))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weight_positives", -1.0, "its weights are not finite numbers of 0 or more"),
        ("weight_positives", 0.0, "its weights do not match its counts"),
        ("squared_weight_negatives", 1e-9, "its weights do not match its counts"),
        ("u2", 1e9, "its u2 is not from 0 to twice its number of pairs"),
        ("u2", np.nan, "its sums are not finite numbers"),
        ("positives_once", 1e4, "its positives_once is too large"),
        ("positives_squared", 1e4, "its positives_squared is negative or too large"),
    ],
)
def test_impossible_sums_of_weights_are_named(name, value, message):
    table, facts = summary_of(counts_of(weighted=True))
    assert ScoreCounts.from_bytes(file_of(table, facts)) == counts_of(True).reduced("summary")
    with pytest.raises(ValueError, match=f"data (is|has) .*{message}"):
        ScoreCounts.from_bytes(file_of(with_value(table, name, A, value), facts))


@pytest.mark.parametrize("weighted", [False, True])
def test_all_odd_numbers_are_refused_or_give_possible_aucs(weighted):
    table, facts = summary_of(counts_of(weighted).reduced(COARSE))
    n_accepted = 0
    for name in table.column_names[1:]:
        is_float = pa.types.is_floating(table.schema.field(name).type)
        for value in ODD if is_float else [-1, 1, 2**40]:
            data = file_of(with_value(table, name, A, value), facts)
            try:
                counts = ScoreCounts.from_bytes(data)
            except ValueError as error:
                assert "data " in str(error)  # noqa: PT017
                continue
            n_accepted += 1
            for of in (counts, *extremes_of(counts)):
                report = GroupAUC(of, undefined="ignore")
                auc = report.by_group["auc"].dropna()
                assert ((auc >= 0) & (auc <= 1)).all()
                delong = report._estimates.variances.delong
                assert (delong[report._estimates.variances.estimable] >= 0).all()
    assert n_accepted < (30 if weighted else 20)


@pytest.mark.parametrize(
    ("level", "change", "message"),
    [
        ("summary", {"has_limits": None}, "no has_limits of type bool"),
        ("summary", {"has_limits": True}, "its metadata calls for"),
        ("summary", {"level": "bins"}, "no known level of disclosure"),
        ("summary", {"level": "exact"}, "no has_limits of type bool"),
        ("summary", {"bins": None}, "no known level of disclosure"),
        ("summary", {"is_weighted": True}, "its metadata calls for"),
        ("summary", {"n_cells": 4}, "4 by its metadata"),
        ("exact", {"has_limits": True}, "no has_limits of type bool"),
    ],
)
def test_metadata_that_contradict_the_level(level, change, message):
    table, facts = summary_of(counts_of(), level)
    with pytest.raises(ValueError, match=f"data is .*{message}"):
        ScoreCounts.from_bytes(file_of(table, {**facts, **change}))


def test_a_changed_number_is_noticed():
    table, facts = summary_of(counts_of())
    changed = with_value(table, "comparisons", A, 3.0)
    with pytest.raises(ValueError, match="its SHA-256 is another one"):
        ScoreCounts.from_bytes(file_of(changed, facts, sealed=table))


def test_damaged_pickles_are_refused():
    for weighted in (False, True):
        counts = counts_of(weighted).reduced("summary")
        assert restored(counts, sealed=True) == counts
        summary = view_of(counts).summary
        u2 = summary.u2
        for wrong in (
            summary._replace(negatives=summary.negatives[::-1]),
            summary._replace(negatives=summary.negatives.astype(">i8").byteswap()),
            summary._replace(u2=u2 + u2.dtype.type(1)),
            summary._replace(moments=()),
            summary._replace(u2=None),
            None,
        ):
            with pytest.raises(ValueError, match="the pickled ScoreCounts is damaged"):
                restored(counts, sealed=True, content=wrong)
