"""Counts without small numbers, and within a number of cells, against all pairs of exact rows."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
from oracles import counts_by_search
from rules import restored, rule

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts import Withheld
from skfedauc.counts.reducing import withheld_of
from skfedauc.counts.score_counts import extremes_of, select_groups, view_of


def make_rows(rng, n_rows, n_groups=3):
    """Rows with ties within and across groups, and classes of unequal size."""
    y = rng.random(n_rows) < rng.uniform(0.1, 0.9)
    scores = np.clip(rng.normal(0.4 + 0.2 * y, rng.choice([0.01, 0.2]), n_rows), 0, 1)
    if rng.random() < 0.5:
        scores = scores.round(rng.integers(1, 4))
    return y, scores, rng.integers(0, n_groups, n_rows)


def counted(y, scores, groups):
    return ScoreCounts.from_predictions(y, scores, groups=groups)


def is_between(counts, y, scores, groups=None):
    """Whether the AUC of all rows, and of each group, is between those of the extremes."""
    if y.size == 0:
        return len(counts) == 0
    chosen = [np.ones(y.size, bool)]
    states = [counts.regroup(None)]
    for g, label in enumerate(counts.groups or ()):
        chosen.append(groups == label)
        states.append(select_groups(counts, [g]).regroup(None))
    for rows, state in zip(chosen, states, strict=True):
        lowest, highest = (view_of(end).concordance for end in extremes_of(state))
        u2 = counts_by_search(y[rows], scores[rows]).u2
        assert (lowest.n_positives, lowest.n_negatives) == ((rows & y).sum(), (rows & ~y).sum())
        if not lowest.u2[0] <= u2 <= highest.u2[0]:
            return False
    return True


def width(counts):
    low, high = (GroupAUC(end).pooled for end in extremes_of(counts))
    return high - low


@pytest.mark.parametrize("bins", [Bins.of_probabilities(4, 8), Bins.of_scores(8), Bins.at([0.3])])
def test_no_count_is_small_and_the_exact_auc_is_inside(bins):
    rng = np.random.default_rng(0)
    n_withheld = 0
    for _ in range(25):
        y, scores, groups = make_rows(rng, rng.integers(30, 200))
        least = int(rng.integers(3, 15))
        counts = counted(y, scores, groups).reduced(rule(bins, min_count=least))
        for numbers in (counts.cells.negatives, counts.cells.positives):
            assert (numbers[numbers > 0] >= least).all()
        kept = np.isin(groups, counts.groups)
        assert is_between(counts, y[kept], scores[kept], groups[kept])
        assert counts.disclosure.bins is None
        assert counts.disclosure.level == "bins"
        withheld = counts.disclosure.withheld
        assert withheld.n_groups == np.unique(groups[~kept]).size
        for n_rows, known, most in (
            ((~y[~kept]).sum(), withheld.n_negatives, withheld.most_negatives),
            (y[~kept].sum(), withheld.n_positives, withheld.most_positives),
        ):
            enough = withheld.n_groups * least
            if n_rows >= enough:
                assert known == most == n_rows
            else:
                assert known is None
                assert most == enough - 1
        n_withheld += withheld.n_groups
    assert n_withheld > 5


def test_other_scores_in_the_same_bins_send_the_same():
    bins = Bins.of_probabilities(5, 4)
    rng = np.random.default_rng(2)
    y, scores, groups = make_rows(rng, 300)
    low, high = bins.ranges_of(bins.numbers_of(scores))
    moved = np.clip(low + (high - low) * rng.random(300), low, high)
    first, second = (
        counted(y, s, groups).reduced(rule(bins, min_count=5)) for s in (scores, moved)
    )
    assert first == second


def test_the_ends_do_not_tell_the_extreme_scores():
    # The lowest score moves by several bins within the lowest range, and nothing else changes.
    bins = Bins.at(np.arange(1, 64) / 64)
    y = np.r_[np.zeros(10), np.ones(10)].astype(bool)
    rest = np.r_[np.linspace(0.30, 0.45, 9), np.linspace(0.6, 0.9, 10)]
    sent = {
        str(
            view_of(
                ScoreCounts.from_predictions(y, np.r_[x, rest]).reduced(rule(bins, min_count=10))
            ).ranges
        )
        for x in (0.26, 0.27, 0.29)
    }
    assert len(sent) == 1


def test_small_groups_are_withheld_with_their_labels():
    rng = np.random.default_rng(3)
    groups = np.repeat([1, 2, 3, 4], [60, 8, 9, 60])
    y, scores = np.arange(groups.size) % 2 == 0, rng.random(groups.size)
    exact = counted(y, scores, groups)
    withheld = exact.reduced(rule("bins", min_count=12, tell_withheld="labels"))
    assert withheld.groups == (1, 4)
    assert withheld.disclosure.withheld == Withheld(2, None, None, (2, 3), False, 23, 23)
    # Combined before, their rows stay
    combined = exact.regroup(lambda label: 2 if label in (2, 3) else label)
    joined = combined.reduced(rule("bins", min_count=5))
    assert joined.groups == (1, 2, 4)
    assert joined.disclosure.withheld == Withheld()
    assert is_between(joined.regroup(None), y, scores)


def test_what_withheld_groups_tell():
    y = np.tile([0, 1], 24)
    scores = np.random.default_rng(4).random(48)
    groups = np.repeat(list("abcd"), [24, 8, 8, 8])
    y[24:32] = 0
    exact = ScoreCounts.from_predictions(y, scores, groups=groups)
    tell = {
        told: exact.reduced(rule("bins", min_count=5, tell_withheld=told))
        for told in ("number", "rows", "labels")
    }
    assert tell["number"].disclosure.withheld == Withheld(2, None, None, None, False, None, None)
    assert tell["rows"].disclosure.withheld == Withheld(2, None, None, None, False, 9, 9)
    assert tell["labels"].disclosure.withheld == Withheld(2, None, None, ("c", "d"), False, 9, 9)
    assert ", 2 groups withheld" in repr(tell["rows"])
    for sums in (tell["rows"] + tell["labels"], tell["labels"].regroup(str.upper)):
        assert sums.disclosure.withheld.labels is None
    both = tell["rows"] + tell["labels"]
    assert both.disclosure.withheld == Withheld(4, None, None, None, False, 18, 18)
    assert (both + tell["number"]).disclosure.withheld == Withheld(
        6, None, None, None, False, None, None
    )


def with_groups(*sizes):
    """Counts with a group for each pair of numbers of positives and negatives."""
    numbers = np.array(sizes).ravel()
    y = np.repeat(np.tile([1, 0], len(sizes)), numbers)
    groups = np.repeat(np.repeat(np.arange(len(sizes)), 2), numbers)
    return counted(y, np.random.default_rng(20).random(y.size), groups)


@pytest.mark.parametrize(
    ("sizes", "least", "negatives", "positives"),
    [
        # Expected values: (known number, upper limit)
        ([(1, 100), (1, 100)], 3, (200, 200), (None, 5)),
        ([(1, 100), (5, 2)], 3, (102, 102), (6, 6)),
        ([(1, 100), (4, 2)], 3, (102, 102), (None, 5)),
        ([(8, 300)], 10, (300, 300), (None, 9)),
        ([(0, 4), (0, 3)], 5, (None, 9), (None, 9)),
    ],
)
def test_a_total_narrows_no_small_number(sizes, least, negatives, positives):
    withheld = with_groups(*sizes).reduced(rule("bins", min_count=least)).disclosure.withheld
    assert (withheld.n_negatives, withheld.most_negatives) == negatives
    assert (withheld.n_positives, withheld.most_positives) == positives


def test_every_small_number_is_possible_given_what_is_known():
    least, most = 3, 9
    n_rows = np.array(list(itertools.product(range(most), repeat=4))).reshape(-1, 2, 2)
    is_withheld = ((n_rows > 0) & (n_rows < least)).any(axis=1).all(axis=1)
    possible = {}
    for negatives, positives in n_rows[is_withheld]:
        if max(negatives.sum(), positives.sum()) < most:
            known = withheld_of(negatives, positives, [], least, "rows")
            possible.setdefault(known, set()).update(
                {("negatives", int(negatives[0])), ("positives", int(positives[0]))}
            )
    assert len(possible) == 16
    for numbers in possible.values():
        assert numbers >= set(itertools.product(["negatives", "positives"], range(1, least)))


def test_totals_and_limits_are_added_up():
    first, second = (
        with_groups(*sizes).reduced(rule("bins", min_count=least))
        for sizes, least in (([(8, 300)], 10), ([(40, 3)], 5))
    )
    assert (first + second).disclosure.withheld == Withheld(2, None, None, None, False, 304, 49)


def test_a_limit_that_no_rows_reach_is_not_kept():
    counts = with_groups((3, 4)).reduced(rule("bins", min_count=10**15))
    assert counts.disclosure.withheld == Withheld(1, None, None, None, False, None, None)


@pytest.mark.parametrize("level", ["bins", "summary"])
def test_bounds_cover_the_rows_of_withheld_groups(level):
    rng = np.random.default_rng(12)
    n_covered = 0
    for _ in range(12):
        y, scores, groups = make_rows(rng, 150, n_groups=8)
        exact = GroupAUC(counted(y, scores, groups), undefined="ignore")
        counts = exact.counts.reduced(rule(level, min_count=4, tell_withheld="labels"))
        if not counts.disclosure.withheld.n_groups or not len(counts):
            continue
        table = GroupAUC(counts, undefined="ignore").bounds(withheld=True)
        names = ["macro", "samples", "positives", "negatives", "within", "worst", "difference"]
        for name in names + ["pooled"] * (level == "bins"):
            value = exact.statistics()[name]
            if not np.isnan(value):
                assert table.loc[name, "low"] <= value <= table.loc[name, "high"], name
                n_covered += 1
        assert table.drop(index=[*names, "pooled"], errors="ignore")["low"].isna().all()
    assert n_covered > 30


@pytest.mark.parametrize("least", [3, 4])
def test_bounds_hold_for_every_number_of_withheld_rows_up_to_the_limit(least):
    y, scores = np.tile([0, 1, 0, 1, 0, 1, 1, 1], 3), np.arange(24) / 24
    small = np.full(5, 1), np.array([0, 0, 0, 0, 1]), np.linspace(0, 1, 5)
    exact = counted(
        np.r_[y, small[1]], np.r_[scores, small[2]], np.r_[np.full(24, "a"), np.full(5, "b")]
    )
    counts = exact.reduced(rule("bins", min_count=least, tell_withheld="labels"))
    withheld = counts.disclosure.withheld
    assert (withheld.n_negatives, withheld.most_positives) == (4, least - 1)
    table = GroupAUC(counts).bounds(withheld=True).dropna()
    assert {"pooled", "macro", "samples", "positives", "negatives", "within"} <= set(table.index)
    # All withheld rows are placed where the AUC is smallest or largest, in one group of their own.
    known = extremes_of(counts)
    found = []
    for n_positives in range(1, withheld.most_positives + 1):
        for end, sign in zip(known, (-1.0, 1.0), strict=True):
            rows = end.from_counts(["b"] * 2, [sign * 9, -sign * 9], [0, 4], [n_positives, 0])
            values = GroupAUC(end + rows).statistics()
            found.append((n_positives, values["pooled"]))
            for name in table.index:
                assert table.loc[name, "low"] <= values[name] <= table.loc[name, "high"], name
    for end, choose in (("low", min), ("high", max)):
        n_positives, value = choose(found, key=lambda pair: pair[1])
        assert n_positives == withheld.most_positives
        assert table.loc["pooled", end] == pytest.approx(value, abs=1e-12)


def test_bounds_need_the_numbers_of_withheld_rows():
    y, groups = [0, 1] * 9, list("aaaaaabbbbbbcccccc")
    exact = ScoreCounts.from_predictions(y, [0.1, 0.9] * 9, groups=groups)
    sent = select_groups(exact, [0, 1]).reduced(rule("bins", min_count=3))
    both = ScoreCounts.merge(
        [sent, select_groups(exact, [2]).reduced(rule("bins", min_count=4, tell_withheld="number"))]
    )
    assert both.disclosure.withheld == Withheld(1, None, None, None, False, None, None)
    with pytest.raises(
        ValueError,
        match=r"Reduce with Disclosure\(tell_withheld='rows'\)",
    ):
        GroupAUC(both).bounds(withheld=True)
    with pytest.raises(ValueError, match="of='statistics'"):
        GroupAUC(both).bounds(of="groups", withheld=True)
    plain = GroupAUC(sent).bounds()
    assert GroupAUC(sent).bounds(withheld=True).equals(plain)


def test_averages_have_no_bounds_if_a_withheld_group_may_be_among_the_groups():
    y, scores = [0, 1] * 12, np.arange(24) / 30
    exact = ScoreCounts.from_predictions(y, scores, groups=["a"] * 12 + ["b"] * 6 + ["c"] * 6)
    for tell, is_known in (("rows", False), ("labels", True)):
        counts = exact.reduced(rule("bins", min_count=4, tell_withheld=tell))
        assert (
            counts.disclosure.withheld.most_negatives
            == counts.disclosure.withheld.most_positives
            == 7
        )
        low = GroupAUC(counts, undefined="ignore").bounds(withheld=True)["low"]
        # At most 169 pairs exist. 36 pairs have a known number, and are certain
        known = GroupAUC(counts).bounds().loc["pooled", "low"]
        assert low["pooled"] == pytest.approx(known * 36 / 169, abs=1e-13)
        assert np.isnan(low["macro"]) != is_known
    again = counts + select_groups(exact, [1]).reduced("bins").regroup({"b": "c"})
    assert np.isnan(GroupAUC(again).bounds(withheld=True).loc["macro", "low"])


@pytest.mark.parametrize("tell", ["number", "rows", "labels"])
@pytest.mark.parametrize("level", ["bins", "summary"])
def test_files_and_pickles_keep_what_was_withheld(level, tell):
    y, scores = np.arange(40) % 2, np.arange(40) / 40
    groups = [("a", 1)] * 24 + [("a", 2)] * 8 + [("b", 1)] * 7 + [(None, 1)]
    exact = ScoreCounts.from_predictions(y, scores, groups=groups, missing="drop")
    counts = exact.reduced(rule(level, min_count=5, tell_withheld=tell))
    assert counts.disclosure.withheld.is_n_missing_low
    assert counts.disclosure.withheld.labels == ((("a", 2), ("b", 1)) if tell == "labels" else None)
    for copy in (ScoreCounts.from_bytes(counts.to_bytes()), pickle.loads(pickle.dumps(counts))):
        assert copy == counts
        assert copy.disclosure.withheld == counts.disclosure.withheld


def test_impossible_numbers_of_withheld_groups_are_refused():
    exact = ScoreCounts.from_predictions([0, 1] * 4, np.arange(8) / 8, groups=list("aaaaaabb"))
    counts = exact.reduced(rule("bins", min_count=3))
    assert counts.disclosure.withheld.n_groups == 1
    for wrong in (
        Withheld(-1),
        Withheld(0, 3, 2),
        Withheld(1, 1, None),
        Withheld(1, None, None, ("a", "b")),
        Withheld(5, 1, 1, None, False, 1, 1),
        Withheld(1, 5, None, None, False, 6, 3),
        Withheld(1, None, None, None, False, -1, 3),
        Withheld(1, None, None, None, False, True, 3),
        Withheld(5, None, None, None, False, 2, 2),
        Withheld(0, None, 0, (), False, 3, 0),
        Withheld(10**400, None, None, None, False, None, None),
    ):
        disclosure = dataclasses.replace(counts.disclosure, withheld=wrong)
        with pytest.raises(ValueError, match="withheld groups"):
            restored(counts, disclosure=disclosure)


def test_any_order_of_merges_and_joins_keeps_the_exact_auc_inside():
    rng = np.random.default_rng(7)
    n_joined = 0
    for _ in range(40):
        y, scores, groups = make_rows(rng, rng.integers(20, 120))
        n_parts = int(rng.integers(2, 7))
        part = rng.integers(0, n_parts, y.size)
        most = int(rng.integers(6, 25))
        states = [
            counted(y[part == p], scores[part == p], groups[part == p]).reduced(max_cells=most)
            for p in np.unique(part)
        ]
        while len(states) > 1:
            first, second = (states.pop(rng.integers(len(states))) for _ in range(2))
            states.append((first + second).reduced(max_cells=int(rng.integers(6, 25))))
        assert states[0].cells.scores.size <= 24
        assert is_between(states[0], y, scores, groups)
        n_joined += states[0].cells.scores.size < np.unique(np.c_[scores, groups], axis=0).shape[0]
    assert n_joined > 20


def test_joins_widen_the_interval_little():
    # Without ties, cells of equal numbers of rows have the width 1 / n_cells or less.
    rng = np.random.default_rng(8)
    scores = rng.random(20_000)
    y = rng.random(20_000) < scores
    exact = ScoreCounts.from_predictions(y, scores)
    for most in (64, 512):
        assert width(exact.reduced(max_cells=most)) < 0.8 / most
    # A stream: each batch is merged with all previous batches
    stream = exact.from_counts(score=[0.5], n_negatives=[0], n_positives=[1]).reduced(max_cells=64)
    for rows in np.array_split(np.arange(20_000), 20):
        batch = ScoreCounts.from_predictions(y[rows], scores[rows]).reduced(max_cells=10_000)
        stream = (stream + batch).reduced(max_cells=64)
    assert width(stream) < 1.2 / 64


def test_small_counts_stay_away_when_cells_are_joined_further():
    y, scores, groups = make_rows(np.random.default_rng(10), 600)
    counts = counted(y, scores, groups).reduced(rule("bins", min_count=10), max_cells=12)
    assert counts.cells.scores.size <= 12
    for numbers in (counts.cells.negatives, counts.cells.positives):
        assert (numbers[numbers > 0] >= 10).all()
    assert is_between(counts, y, scores, groups)
