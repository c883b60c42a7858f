"""Counts with noise for differential privacy: estimates, intervals, merging and files.

OpenDP is not in the `test` extra. Here, numpy draws the noise, and tests/engines/test_opendp.py
compares the distributions.
"""

import contextlib
import copy
import io
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles import comparisons
from rules import rule

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.cli.main import main
from skfedauc.counts.score_counts import select_groups, view_of
from skfedauc.privacy import PrivateCounts, private_counts
from skfedauc.privacy.intervals import AVERAGES, NoisyAUCs, NoisyCounts, NoisyPairs
from skfedauc.privacy.laplace import variance_of
from skfedauc.privacy.state import Release, State, merged

BINS = Bins.of_probabilities(octaves=3, parts=2)


def geometric(rng, epsilon, shape):
    """Discrete Laplace noise as the difference of two geometric variables."""
    success = -np.expm1(-epsilon)
    return rng.geometric(success, shape) - rng.geometric(success, shape)


@pytest.fixture(autouse=True)
def noise(monkeypatch):
    rng = np.random.default_rng(0)

    def with_noise(counts, epsilon, rows_per_person):
        return counts + geometric(rng, epsilon / rows_per_person, counts.shape)

    monkeypatch.setattr(private_counts, "with_noise", with_noise)


def rows_of(rng, n_rows, prevalence=0.4, groups=("a", "b", "c")):
    y = (rng.random(n_rows) < prevalence).astype(int)
    y[:2] = [0, 1]
    score = 1.0 / (1.0 + np.exp(-rng.normal(1.2 * y - 0.8, 1.0)))
    score[::17] = 0.0  # a bin holds a single score
    return y, score, rng.choice(groups, n_rows)


def counts_of(seed=1, n_rows=3_000, **options):
    y, score, groups = rows_of(np.random.default_rng(seed), n_rows, **options)
    return ScoreCounts.from_predictions(y, score, groups=groups)


def grid_of(counts):
    """Negatives and positives of all rows by bin, each as an array of floats."""
    numbers = BINS.numbers_of(counts.cells.scores)
    return [
        np.bincount(numbers, of_class, BINS.n_bins)[None]
        for of_class in (counts.cells.negatives, counts.cells.positives)
    ]


def counted(**options):
    return ScoreCounts.from_predictions([0, 1], [0.2, 0.7], groups=["a", "a"], **options)


def released(counts, epsilon=1.0, bins=BINS, **options):
    return PrivateCounts.from_counts(counts, bins, counts.groups, epsilon=epsilon, **options)


def without_noise(counts, bins=BINS):
    """A release as of earlier versions, which permitted an epsilon without noise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_counts, "with_noise", lambda exact, *_: exact)
        private = released(counts, bins=bins)
    (release,) = private.releases
    return PrivateCounts._of(changed(private, releases=(release._replace(epsilon=500.0),)))


def changed(private, **fields):
    return State(**vars(private) | fields)


def test_without_noise_estimates_are_those_of_binned_counts():
    counts = counts_of()
    private = without_noise(counts)  # noise of 1 has the probability 1e-217
    report = GroupAUC(counts.reduced(BINS))
    by_group = private.confidence_intervals()
    np.testing.assert_allclose(by_group.auc, report.by_group.auc, rtol=1e-12)
    assert by_group.index.equals(report.by_group.index)
    assert (by_group.se_noise < 1e-50).all()
    assert by_group.n_positives.tolist() == counts.n_positives.tolist()
    table = private.confidence_intervals(of="statistics")
    for name in ("pooled", *AVERAGES, "difference"):
        assert table.value[name] == pytest.approx(report.statistic(name), rel=1e-12)
    assert table.note.eq("").all()


def test_the_bounds_of_the_bins_are_those_of_all_pairs():
    counts = counts_of(n_rows=400, groups=("a",))
    y, score, _ = rows_of(np.random.default_rng(1), 400, groups=("a",))
    numbers = BINS.numbers_of(score)
    shares = []
    for move in (-0.25, 0.25):  # move the positives within their bin, except in bins of one score
        low, high = BINS.ranges_of(numbers)
        moved = numbers + np.where((low < high) & (y == 1), move, 0.0)
        shares.append(comparisons(moved[y == 1], moved[y == 0]).mean())
    found = without_noise(counts).confidence_intervals()
    assert found.bin_width.to_list() == pytest.approx([shares[1] - shares[0]], rel=1e-9)


def test_variances_are_those_of_the_definitions():
    """The oracle has the matrix K of all pairs of bins."""
    negatives, positives = grid_of(counts_of(n_rows=700))
    variance, ties = 3.0, np.linspace(0.0, 1.0, BINS.n_bins)
    counts = NoisyCounts(negatives, positives, np.array([variance]))
    pairs = NoisyPairs(counts, ties)
    n, p = negatives[0], positives[0]
    kernel = np.tril(np.ones((n.size, n.size)), -1) + np.diag(ties)
    auc = p @ kernel @ n / (p.sum() * n.sum())
    assert pairs.auc[0] == pytest.approx(auc, rel=1e-12)
    k = kernel - auc
    noise = variance * ((k @ n) @ (k @ n) + (p @ k) @ (p @ k)) / (p.sum() * n.sum()) ** 2
    assert pairs.noise[0] == pytest.approx(noise, rel=1e-9)
    sampling = 0.0
    for own, others, matrix in ((p, n, k), (n, p, k.T)):
        squared = ((matrix @ others) ** 2 - variance * (matrix**2).sum(1)) / others.sum() ** 2
        sampling += own @ squared / own.sum() / (own.sum() - 1.0)
    assert pairs.sampling[0] == pytest.approx(sampling, rel=1e-9)


WEIGHTS = {
    "macro": lambda p, n: np.ones(p.shape),
    "samples": np.add,
    "positives": lambda p, n: p,
    "negatives": lambda p, n: n,
    "within": np.multiply,
}


@pytest.mark.parametrize("name", AVERAGES)
def test_standard_errors_of_averages_are_those_of_the_derivatives_by_each_count(name):
    """The noise of the weights is correlated with the noise of the group AUCs."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 40, (2, 3, 9)) * rng.integers(1, 4, (1, 3, 9)).astype(float)
    kernel = np.tril(np.ones((9, 9)), -1) + 0.5 * np.eye(9)

    def average(counts):
        n, p = counts
        auc = ((p @ kernel) * n).sum(1) / (p.sum(1) * n.sum(1))
        weights = WEIGHTS[name](p.sum(1), n.sum(1))
        return (weights * auc).sum() / weights.sum()

    variances, slopes = np.array([1.0, 0.2, 3.0]), np.zeros_like(counts)
    for place in np.ndindex(counts.shape):
        up, down = counts.copy(), counts.copy()
        up[place] += 1e-3
        down[place] -= 1e-3
        slopes[place] = (average(up) - average(down)) / 2e-3
    aucs = NoisyAUCs(NoisyCounts(*counts, variances), np.zeros(9, np.bool_))
    found = aucs.estimate(name, 0.025)
    assert found.value == pytest.approx(average(counts), rel=1e-12)
    expected = float((variances[:, None] * slopes**2).sum()) ** 0.5
    assert found.se_noise == pytest.approx(expected, rel=1e-5)


def test_intervals_cover_the_true_auc():
    """Each run has new rows and new noise. The bins are narrow, and hardly widen intervals."""
    from scipy.special import ndtr

    rng = np.random.default_rng(6)
    n_runs, m, n, epsilon, separation = 1_000, 250, 350, 1.0, 1.2
    edges = np.r_[-np.inf, np.linspace(-3.0, 4.5, 59), np.inf]
    shares = np.diff(ndtr(edges)), np.diff(ndtr(edges - separation))
    negatives, positives = (
        rng.multinomial(size, share, n_runs) + geometric(rng, epsilon, (n_runs, 60))
        for size, share in zip((n, m), shares, strict=True)
    )
    counts = NoisyCounts(negatives, positives, np.full(n_runs, variance_of(1.0 / epsilon)))
    used = counts.has_signal
    assert used.mean() > 0.95
    found = NoisyAUCs(counts.take(used), np.zeros(60, np.bool_)).estimate(None, 0.025)
    auc = ndtr(separation / 2**0.5)
    covered = ((found.ci_low <= auc) & (auc <= found.ci_high)).mean()
    assert 0.94 < covered < 0.995
    # Intervals with only the sampling variance, or only the variance of the noise, are too short.
    assert (abs(found.value - auc) < 1.96 * found.se_sampling).mean() < 0.85
    assert (abs(found.value - auc) < 1.96 * found.se_noise).mean() < 0.9


def test_limits_by_noise_are_infinite_where_the_denominator_may_be_0():
    counts = NoisyCounts(np.array([[5.0, 3.0]]), np.array([[3.0, 4.0]]), np.array([8.0]))
    pairs = NoisyPairs(counts, np.full(2, 0.5))
    assert np.isinf(pairs.reach(0, 1.96)).all()


def test_where_the_noise_dominates_there_is_no_value():
    rng = np.random.default_rng(7)
    y = np.repeat([1, 0, 1, 0], [14, 986, 4_000, 6_000])
    score = rng.random(y.size)
    counts = ScoreCounts.from_predictions(
        y, score, groups=np.repeat(["rare", "large"], [1000, 10_000])
    )
    private = released(counts, epsilon=0.5, bins=Bins.of_probabilities(octaves=15, parts=2))
    found = private.confidence_intervals()
    assert found.loc["rare", ["auc", "ci_low", "ci_high", "se_noise"]].isna().all()
    assert found.note["rare"].startswith("the noise dominates: ")
    assert found.note["rare"].endswith("positives with a standard error of 22")
    assert found.note["large"] == ""
    assert found.ci_low["large"] < found.auc["large"] < found.ci_high["large"]
    table = private.confidence_intervals(of="statistics")
    assert table.value["macro"] == found.auc["large"]
    assert table.note["macro"] == "without 1 of 2 groups, in which the noise dominates"
    assert np.isnan(table.value["difference"])
    assert table.note["difference"] == "needs two groups in which the noise does not dominate"
    assert table.note["pooled"] == ""


def test_the_difference_is_that_of_groups_that_differ():
    y, score, _ = rows_of(np.random.default_rng(8), 20_000)
    groups = np.repeat(["good", "bad"], 10_000)
    bad = groups == "bad"
    score[bad] = np.random.default_rng(9).permutation(score[bad])
    private = released(
        ScoreCounts.from_predictions(y, score, groups=groups), bins=Bins.of_probabilities(8, 16)
    )
    found = private.confidence_intervals(of="statistics").loc["difference"]
    groups = private.confidence_intervals()
    assert found.value == pytest.approx(groups.auc["good"] - groups.auc["bad"], rel=1e-12)
    assert 0.2 < found.ci_low < found.value < found.ci_high < 0.4


def test_agreed_groups_without_rows_have_noise():
    counts = counts_of(groups=("b",))
    private = PrivateCounts.from_counts(counts, BINS, ["c", "b", "a"], epsilon=0.5)
    assert private.groups == ("a", "b", "c")
    assert (private.negatives != 0).any(axis=1).all()
    found = private.confidence_intervals()
    assert found.auc.isna().to_list() == [True, False, True]


def test_merging_adds_counts_and_variances_of_the_sites_of_each_group():
    parts = [
        released(counts_of(seed, groups=groups), epsilon=epsilon, rows_per_person=k, source=name)
        for seed, groups, epsilon, k, name in (
            (1, ("a", "b"), 0.5, 1, "oslo"),
            (2, ("b", "c"), 1.0, 2, "lima"),
            (3, ("b",), 2.0, 1, "bern"),
        )
    ]
    merged = PrivateCounts.merge(parts)
    assert merged.groups == ("a", "b", "c")
    assert merged.positives[0].tolist() == parts[0].positives[0].tolist()
    in_b = parts[0].negatives[1] + parts[1].negatives[0] + parts[2].negatives[0]
    assert merged.negatives[1].tolist() == in_b.tolist()
    oslo, lima, bern = (variance_of(scale) for scale in (2.0, 2.0, 0.5))
    np.testing.assert_allclose(merged.variance, [oslo, oslo + lima + bern, lima])
    assert merged.epsilon == 2.0
    assert {release.name for release in merged.releases} == {"oslo", "lima", "bern"}
    assert repr(merged) == (
        "PrivateCounts(3 groups, 16 bins, 3 releases, epsilon 2 for each site's rows of a person)"
    )
    assert PrivateCounts.merge([PrivateCounts.merge(parts[:2]), parts[2]]) == merged
    assert PrivateCounts.merge(parts[::-1]) == merged


def test_merging_refuses_what_does_not_go_together(tmp_path):
    first, path = released(counts_of(1)), tmp_path / "first.skfa"
    first.save(path)
    other = released(counts_of(2), bins=Bins.at([0.5]))
    without = PrivateCounts.from_counts(counts_of(3).regroup(None), BINS, None, epsilon=1.0)
    positive_0 = released(counted(pos_label=0), pos_label=0)
    for parts, error, message in (
        ([first, path], ValueError, r"part 0 and part 1, '.*first\.skfa' contain the same release"),
        ([first, other], ValueError, r"part 0 has the bins .* part 1 has the bins Bins\.at"),
        ([first, without], ValueError, "part 1 has no groups, and part 0 has groups"),
        ([first, positive_0], ValueError, r"^part 1: .* pos_label is 0 and 1,"),
        ([counts_of(5)], ValueError, r"got only ScoreCounts, which ScoreCounts\.merge adds up"),
        ([first, 3], TypeError, "got one of type int"),
        ([], ValueError, "at least one PrivateCounts; got none"),
        (first, TypeError, "parts must be an iterable"),
    ):
        with pytest.raises(error, match=message):
            PrivateCounts.merge(parts)
    with pytest.raises(TypeError, match=r"PrivateCounts\.merge adds up score counts and"):
        ScoreCounts.merge([counts_of(5), first])
    named = [released(counts_of(seed), source="oslo") for seed in (6, 7)]
    with pytest.raises(ValueError, match="part 0 and part 1 both have the source name 'oslo'"):
        PrivateCounts.merge(named)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"counts": [1]}, TypeError, "counts must be a ScoreCounts; got list"),
        ({"bins": 64}, TypeError, "bins must be"),
        ({"bins": Bins.of_scores()}, ValueError, "bins must have a fixed number of bins"),
        ({"groups": ["a", "b"]}, ValueError, "have 1 group not among the agreed groups: 'c'"),
        ({"groups": None}, ValueError, "these counts have groups, and groups is None"),
        ({"epsilon": 0.0}, ValueError, r"epsilon must be a number above 0; got 0\.0"),
        ({"epsilon": 1e-12}, ValueError, "epsilon must be from 1e-09 to 10 per row, .* got 1e-12"),
        ({"epsilon": 10.1}, ValueError, "epsilon must be from 1e-09 to 10 per row"),
        ({"epsilon": 1e300, "rows_per_person": 9}, ValueError, "with rows_per_person=9"),
        ({"pos_label": None}, ValueError, "positive label that all sites agree on.*got None"),
        ({"pos_label": np.nan}, ValueError, "positive label that all sites agree on.*got nan"),
        ({"pos_label": "yes"}, ValueError, "not the same for all rows: pos_label is 1 and 'yes'"),
        ({"rows_per_person": 0}, ValueError, "rows_per_person must be a whole number"),
        ({"source": 7}, TypeError, "source must be a str or None; got int 7"),
    ],
)
def test_arguments_are_checked(change, error, message):
    arguments = {"counts": counts_of(), "bins": BINS, "groups": list("abc"), "epsilon": 1.0}
    with pytest.raises(error, match=message):
        PrivateCounts.from_counts(**arguments | change)


def test_counts_that_one_row_changes_by_more_are_refused():
    with pytest.raises(ValueError, match="these counts have sample weights"):
        released(counted(sample_weight=[2.0, 0.5]))
    with pytest.raises(ValueError, match="of must be 'groups' or 'statistics'; got 'rows'"):
        released(counts_of()).confidence_intervals(of="rows")
    with pytest.raises(TypeError, match="no public constructor"):
        PrivateCounts()


def saved(counts):
    return ScoreCounts.from_bytes(counts.to_bytes())


SUPPRESSED = {
    "withheld": lambda counts: counts.reduced(rule(BINS, min_count=10)),
    "number": lambda counts: counts.reduced(rule(BINS, min_count=10, tell_withheld="number")),
    "report": lambda counts: GroupAUC(counts, min_per_class=10).counts,
}
DERIVED = {
    "itself": lambda counts: counts,
    "file": saved,
    "pickle": lambda counts: pickle.loads(pickle.dumps(counts)),
    "copy": copy.deepcopy,
    "state": lambda counts: restored_by_state(counts),
    "merge": lambda counts: (
        ScoreCounts.merge([counts_of().reduced(counts.disclosure.bins or "exact"), counts])
        if view_of(counts).ranges is None
        else counts + counts.regroup(str)
    ),
    "select": lambda counts: select_groups(counts, range(len(counts))),
    "regroup": lambda counts: counts.regroup(str),
    "no groups": lambda counts: counts.regroup(None).regroup({None: "a"}),
    "coarser": lambda counts: counts.reduced(max_cells=10**6),
    "file of a file": lambda counts: saved(saved(counts).regroup(str)),
}


def restored_by_state(counts):
    new = object.__new__(ScoreCounts)
    new.__setstate__(counts.__getstate__())
    return new


@pytest.mark.parametrize("suppress", SUPPRESSED)
@pytest.mark.parametrize("derive", DERIVED)
@pytest.mark.parametrize("n_rows", [9, 10, 3_000])
def test_suppressed_counts_are_refused_whether_rows_were_withheld_or_not(suppress, derive, n_rows):
    """One row decides whether a group appears, so noise cannot hide the row."""
    y = np.tile([0, 1], n_rows)
    counts = ScoreCounts.from_predictions(y, np.linspace(0, 1, 2 * n_rows), groups=["a"] * y.size)
    found = DERIVED[derive](SUPPRESSED[suppress](counts))
    for release in (
        lambda: PrivateCounts.from_counts(found, BINS, list("abc"), epsilon=1.0),
        lambda: found.to_vector(BINS, list("abc")),
    ):
        with pytest.raises(ValueError, match=r"differential privacy .* without suppression"):
            release()


def test_files_of_earlier_versions_that_list_withheld_groups_are_refused():
    counts = counts_of().reduced(rule(BINS, min_count=2_000))
    assert counts.disclosure.withheld.n_groups
    without_mark = ScoreCounts._of(counts._state.with_disclosure(min_count=None))
    assert b"min_count" not in without_mark.to_bytes()
    with pytest.raises(ValueError, match="without suppression"):
        PrivateCounts.from_counts(saved(without_mark), BINS, list("abc"), epsilon=1.0)


def test_exact_parts_have_no_noise(tmp_path):
    """Groups of exact parts have the AUC of their bins; the noise of other groups is kept."""
    private = released(counts_of(1, groups=("a", "b")), source="oslo")
    exact, unsaved = (counts_of(2, groups=("b", "c")) for _ in range(2))
    exact = exact.with_source("lyon")
    binned = exact.reduced(Bins.of_probabilities(octaves=6, parts=4))  # finer bins
    exact.save(tmp_path / "lyon.skfa")
    private.save(tmp_path / "oslo.skfa")
    grid = exact.reduced(BINS).to_vector(BINS, ["b", "c"]).reshape(2, 2, -1)
    merged = PrivateCounts.merge([private, exact])
    for parts in (
        [exact, private],
        [binned, private],
        [tmp_path / "lyon.skfa", tmp_path / "oslo.skfa"],
        [PrivateCounts.merge([private, select_groups(unsaved, [0])]), select_groups(unsaved, [1])],
    ):
        found = PrivateCounts.merge(parts)
        assert found == merged
        assert found.pos_label == 1
        assert found.group_names == private.group_names
    assert (merged.groups, merged.exact_groups) == (("a", "b", "c"), ("b", "c"))
    assert merged.negatives[2].tolist() == grid[0, 1].tolist()
    assert merged.positives[1].tolist() == (private.positives[1] + grid[1, 0]).tolist()
    own = variance_of(1.0)
    assert merged.variance.tolist() == [own, own, 0.0]
    assert merged.releases == private.releases
    assert merged.epsilon == private.epsilon
    assert repr(merged).endswith("16 bins, epsilon 1 for one row, with exact counts of 2 groups)")
    table = merged.confidence_intervals()
    report = GroupAUC(select_groups(exact, [1]).reduced(BINS))
    assert table.auc["c"] == pytest.approx(report.pooled, rel=1e-12)
    assert table.se_noise["c"] == 0.0
    limits = report.confidence_intervals().loc["c", ["ci_low", "ci_high"]]
    np.testing.assert_allclose(
        table.loc["c", ["ci_low", "ci_high"]].astype(float), limits.astype(float)
    )
    alone = private.confidence_intervals()
    assert table.loc["a"].equals(alone.loc["a"])
    assert 0.0 < table.se_noise["b"] < alone.se_noise["b"]  # the noise is the same for more rows
    # A file of the sum restores the private counts and the sources of the sum.
    loaded = PrivateCounts.from_bytes(merged.to_bytes())
    assert (loaded, loaded.sources) == (merged, merged.sources)
    assert pickle.loads(pickle.dumps(merged)) == merged
    with pytest.raises(
        ValueError, match=r"lyon\.skfa' and part 1 contain the same release or counting"
    ):
        PrivateCounts.merge([tmp_path / "lyon.skfa", PrivateCounts.merge([private, exact])])


def test_exact_parts_without_groups():
    exact = counts_of(2).regroup(None)
    private = PrivateCounts.from_counts(counts_of(1).regroup(None), BINS, None, epsilon=1.0)
    assert repr(private) == "PrivateCounts(no groups, 16 bins, epsilon 1 for one row)"
    assert private.confidence_intervals().index.tolist() == ["all"]
    no_rows = ScoreCounts.from_predictions([], [], groups=[])  # agree with counts of any groups
    merged = PrivateCounts.merge([no_rows, private, exact])
    assert (merged.groups, merged.exact_groups) == (None, ())
    assert len(merged.sources) == 2
    added = merged.positives - private.positives
    assert added[0].tolist() == exact.to_vector(BINS, None)[BINS.n_bins :].tolist()
    assert repr(merged).endswith("epsilon 1 for one row, with exact counts)")
    assert PrivateCounts.from_bytes(merged.to_bytes()).sources == merged.sources


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (counts_of(2).reduced("summary"), "PrivateCounts.merge needs disclosure="),
        (counts_of(2).reduced(Bins.at([0.4])), "counts with Bins.at.*cannot be"),
        (counts_of(2).reduced(max_cells=6), ".* is not within one of its bins"),
        (counts_of(2).map_scores(lambda s: s + 1), ".*Bins.of_scores"),
        (counted(sample_weight=[2.0, 1.0]), ".* these counts have sample weights"),
        (counted(pos_label=0), ".* pos_label is 0 and 1,"),
    ],
)
def test_parts_without_noise_that_cannot_be_added_are_refused(part, message):
    private = released(counts_of(1))
    with pytest.raises(ValueError, match=f"^part 1: {message}"):
        PrivateCounts.merge([private, part])
    with pytest.raises(ValueError, match=r"has groups; .*'device 7'}\) before drawing the noise"):
        PrivateCounts.merge([private, counts_of(2).regroup(None)])


def test_what_exact_parts_must_share():
    private = released(counts_of(1), source="oslo")
    with pytest.raises(
        TypeError, match=r"different kinds.* of the counts before drawing the noise,"
    ):
        PrivateCounts.merge([private, counts_of(2).regroup({"a": 1, "b": 2, "c": 3})])
    for facts in ({}, {"model": "2"}, {"model": "2", "period": "May"}):  # may have the same rows
        named = ScoreCounts.from_bytes(counts_of(3).with_source("oslo", **facts).to_bytes())
        with pytest.raises(ValueError, match="both have the source name 'oslo'"):
            PrivateCounts.merge([private, named])
    few = ScoreCounts.from_counts(["a", "a", "d"], [0.2, 0.9, 0.5], [9, 9, 1], [9, 9, 2])
    withheld = few.reduced(rule(BINS, min_count=3))
    with pytest.warns(UserWarning, match="part 1 has 1 group withheld, whose rows the sum"):
        assert PrivateCounts.merge([private, withheld]).groups == ("a", "b", "c")


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b"],
        [True, False],
        [3, -1],
        [("x", 1), ("y", 2)],
        np.array(["2024-01-01", "2025-02-03"], "datetime64[D]"),
    ],
)
def test_files_give_back_the_same_counts(groups, tmp_path):
    counts = ScoreCounts.from_counts(groups, [0.2, 0.9], [30, 5], [4, 60])
    private = released(counts, source="oslo", rows_per_person=3)
    path = tmp_path / "oslo.skfa"
    private.save(path)
    loaded = PrivateCounts.load(path)
    assert loaded == private
    assert loaded.releases == private.releases
    assert loaded.groups == private.groups
    assert loaded.labels.dtype == private.labels.dtype
    assert pickle.loads(pickle.dumps(private)) == private
    columns = pq.read_table(path).to_pydict()
    assert columns["n_positives"] == private.positives.reshape(-1).tolist()


NAMES = {"label": "y", "score": "s", "group": "g"}


def of_table(table, **options):
    return ScoreCounts.from_predictions(table["y"], table["s"], groups=table["g"], **options)


INPUTS = {
    "rows": lambda t: of_table({name: t[name].to_numpy() for name in "ysg"}),
    "frames": lambda t: ScoreCounts.from_predictions(t["y"], t["s"], groups=t[["g"]]),
    "missing": lambda t: of_table(t.assign(g=t["g"].where(t["g"] == "a")), missing="drop"),
    "table": lambda t: ScoreCounts.from_table(t, **NAMES),
    "lazy": lambda t: ScoreCounts.from_table(pl.from_pandas(t).lazy(), **NAMES),
    "batches": lambda t: ScoreCounts.from_batches([t[:1], t[1:]], **NAMES),
    "counts": lambda t: ScoreCounts.from_counts(
        g=t["g"], score=t["s"], n_negatives=1 - t["y"], n_positives=t["y"]
    ),
    "file": lambda t: saved(of_table(t)),
    "merge": lambda t: ScoreCounts.merge([of_table(t[:1]), of_table(t[1:])]),
    "bins": lambda t: of_table(t, disclosure=BINS),
    "vector": lambda t: ScoreCounts.from_vector(
        of_table(t).to_vector(BINS, ["a", "b"]), BINS, ["a", "b"]
    ),
}


@pytest.mark.parametrize("pos_label", [None, 1])
@pytest.mark.parametrize("count", INPUTS)
def test_neighbouring_sites_have_files_that_differ_in_noise_and_identifier_only(count, pos_label):
    """Also sites without rows, of one class, of one group, and of negatives with the label -1."""
    table = pd.DataFrame({"y": [0, 1, 1, 0], "s": [0.1, 0.8, 0.3, 0.0], "g": list("abba")})
    found = []
    for rows in (table, table[:3], table[:1], table[1:2], table[:0]):
        counts = INPUTS[count](rows)
        label = {} if pos_label is None else {"pos_label": pos_label}
        private = PrivateCounts.from_counts(counts, BINS, ["a", "b"], epsilon=1.0, **label)
        content = pq.read_table(io.BytesIO(private.to_bytes()))
        facts = json.loads(content.schema.metadata[b"skfedauc"])
        del facts["sha256"], facts["releases"][0]["identifier"]
        columns = [content[name].to_pylist() for name in ("group", "bin")]
        found.append((facts, content.schema.remove_metadata(), content.num_rows, columns))
        assert private.pos_label == 1
    assert all(one == found[0] for one in found)


def test_sums_beyond_64_bits_are_refused():
    """Sums of single counts fit in 64 bits, and those over all bins do not."""
    bins = Bins.of_probabilities()
    counts = counts_of(n_rows=30).regroup(None)
    private = PrivateCounts.from_counts(counts, bins, None, epsilon=1.0)
    full, parts = np.full(private.negatives.shape, 2**40), {}
    for i in range(1000):
        release = private.releases[0]._replace(identifier=f"{i:032x}")
        parts[f"part {i}"] = changed(private, negatives=full, positives=full, releases=(release,))
    with pytest.raises(ValueError, match="the sum of the parts has more rows than can be counted"):
        merged(parts)
    assert merged(dict([*parts.items()][:500])).negatives[0, 0] == 500 * 2**40


def test_files_of_the_other_kind_are_named():
    counts = counts_of()
    content = released(counts).to_bytes()
    for read, data, message in (
        (ScoreCounts.from_bytes, content, r"did not write it\. Read it by PrivateCounts\.load"),
        (PrivateCounts.from_bytes, counts.to_bytes(), r"Read it by ScoreCounts\.load or from_byt"),
        (PrivateCounts.from_bytes, b"group,score\n", "is not a file of PrivateCounts"),
        (PrivateCounts.from_bytes, content[:-10], "no file of PrivateCounts.*probably cut off"),
    ):
        with pytest.raises(ValueError, match=message):
            read(data)


def rewritten(data, change_facts=None, change_columns=None, seal=True):
    """Content of a file with other metadata or columns, and a SHA-256 that fits."""
    from skfedauc.counts import file_format

    table = pq.read_table(io.BytesIO(data))
    facts = json.loads(table.schema.metadata[b"skfedauc"])
    columns = {name: table[name].to_numpy().copy() for name in table.column_names}
    for change, of in ((change_facts, facts), (change_columns, columns)):
        if change is not None:
            change(of)
    if seal:
        arrays = [columns["n_negatives"], columns["n_positives"]]
        facts["sha256"] = file_format.digest(facts, arrays)
    schema = pa.schema(
        [pa.field(name, pa.from_numpy_dtype(c.dtype)) for name, c in columns.items()]
    )
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema) as writer:
        writer.write_table(pa.table(columns, schema=schema))
        writer.add_key_value_metadata({b"skfedauc": json.dumps(facts)})
    return sink.getvalue()


def release(name, value):
    def change(facts):
        facts["releases"][0][name] = value

    return change


SOURCES = [{"identifier": "1" * 32, "name": None}]
HOSTILE = {
    "epsilon negative": release("epsilon", -1.0),
    "epsilon infinite": release("epsilon", float("inf")),
    "epsilon too small": release("epsilon", 1e-12),
    "epsilon text": release("epsilon", "1"),
    "rows of no person": release("rows_per_person", 0),
    "half a row": release("rows_per_person", 0.5),
    "no identifier": release("identifier", "x"),
    "name": release("name", 3),
    "group that is none": release("groups", [0, 1, 2, 3]),
    "group twice": release("groups", [0, 0, 1, 2]),
    "group missing": release("groups", [0, 1]),
    "group negative": release("groups", [-1, 0, 1]),
    "no releases": lambda facts: facts.update(releases=[]),
    "releases twice": lambda facts: facts.update(releases=facts["releases"] * 2),
    "another key": lambda facts: facts["releases"][0].update(more=1),
    "bins of other number": lambda facts: facts.update(bins={"rule": "at", "edges": [0.5]}),
    "bins without number": lambda facts: facts.update(bins={"rule": "of_scores", "parts": 2}),
    "bins of no rule": lambda facts: facts.update(bins={"rule": "__init__"}),
    "many bins": lambda facts: facts.update(
        bins={"rule": "of_probabilities", "octaves": 35, "parts": 65_536}
    ),
    "groups unordered": lambda facts: facts.update(groups=["b", "a", "c"]),
    "groups twice": lambda facts: facts.update(groups=["a", "a", "c"]),
    "groups of several kinds": lambda facts: facts.update(groups=["a", 1, "c"]),
    "groups of no kind": lambda facts: facts.update(groups=[None, 0.5, {}]),
    "no groups": lambda facts: facts.update(groups=None),
    "names of groups": lambda facts: facts.update(group_names=[1]),
    "positive label": lambda facts: facts.update(pos_label=[1]),
    "version": lambda facts: facts.update(version=0),
    "no bins": lambda facts: facts.pop("bins"),
    "no sources": lambda facts: facts.pop("sources"),
    "sources": lambda facts: facts.update(sources=[{"identifier": "x", "name": None}]),
    "exact groups without sources": lambda facts: facts.update(exact_groups=[0]),
    "exact groups that are none": lambda facts: facts.update(sources=SOURCES, exact_groups=[3]),
    "exact groups unordered": lambda facts: facts.update(sources=SOURCES, exact_groups=[1, 0]),
}
HOSTILE_COLUMNS = {
    "too many": lambda columns: columns["n_negatives"].__setitem__(3, 10**15),
    "far below 0": lambda columns: columns["n_negatives"].__setitem__(3, -100),
    "an overflow below": lambda columns: columns["n_negatives"].__setitem__(3, -(2**62)),
    "an overflow above": lambda columns: columns["n_positives"].__setitem__(3, 2**62),
    "bins unordered": lambda columns: columns["bin"].__setitem__(0, 1),
    "groups of rows unordered": lambda columns: columns["group"].__setitem__(0, 1),
    "floats": lambda columns: columns.update(n_positives=columns["n_positives"].astype(float)),
    "another column": lambda columns: columns.update(more=columns["bin"]),
    "fewer rows": lambda columns: columns.update({k: v[:-1] for k, v in columns.items()}),
}


@pytest.fixture(scope="module")
def data():
    counts = counts_of()
    rng = np.random.default_rng(0)
    shape = 3, BINS.n_bins
    state = State(
        rng.integers(-3, 9, shape),
        rng.integers(-3, 9, shape),
        view_of(counts).labels,
        BINS,
        (Release("0" * 32, "oslo", 1.0, 1, counts.groups),),
    )
    return PrivateCounts._of(state).to_bytes()


@pytest.mark.parametrize("case", [*HOSTILE, *HOSTILE_COLUMNS])
def test_files_with_other_metadata_or_columns_are_refused(data, case):
    with pytest.raises(ValueError, match="damaged"):
        PrivateCounts.from_bytes(rewritten(data, HOSTILE.get(case), HOSTILE_COLUMNS.get(case)))


def test_damaged_files_are_refused(data):
    assert PrivateCounts.from_bytes(rewritten(data)) == PrivateCounts.from_bytes(data)
    unsealed = rewritten(data, release("epsilon", 0.5), seal=False)
    with pytest.raises(ValueError, match="its SHA-256 is another one"):
        PrivateCounts.from_bytes(unsealed)
    with pytest.raises(ValueError, match="has version 9 of the file format, written by"):
        PrivateCounts.from_bytes(rewritten(data, lambda facts: facts.update(version=9)))
    for end in range(4, len(data), 97):
        with pytest.raises(ValueError, match="damaged"):
            PrivateCounts.from_bytes(data[:end])
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(data) - 8, 40):
        broken = bytearray(data)
        broken[place] ^= 1 << rng.integers(8)
        with contextlib.suppress(ValueError):
            assert PrivateCounts.from_bytes(bytes(broken)) == PrivateCounts.from_bytes(data)


def test_show_says_what_a_file_of_private_counts_holds(tmp_path, capsys):
    paths = [tmp_path / f"{name}.skfa" for name in ("oslo", "lima", "both")]
    parts = [
        released(counts_of(1, groups=list("abc")), 0.5, rows_per_person=2, source="oslo"),
        released(counts_of(2, groups=["b"]), 1.0, rows_per_person=2, source="lima"),
    ]
    for path, counts in zip(paths, [*parts, PrivateCounts.merge(parts)], strict=True):
        counts.save(path)
    exact = ScoreCounts.from_bytes(counts_of(4, groups=("d",)).with_source("lyon").to_bytes())
    PrivateCounts.merge([*parts, exact]).save(paths[2])
    # sqrt(2 a) / (1 - a) with a = exp(-0.5 / 2)
    noise = "- A number of {}, by bin and class, has noise with a standard deviation of 5.64 rows."
    release = f"Release: 'oslo', {parts[0].releases[0].identifier}, epsilon 0.5 for one person with"
    changed = (
        "- Whether the rows of a person with a protected release were counted changes the "
        "probability of any result at most by the factor 1.649; for someone who knows that they "
        "were counted, their classes at most by 2.718, exp(2 epsilon).\n"
    )
    for path, beginning in (
        (paths[0], f"{paths[0]}: {parts[0]!r}"),
        (paths[0], f"{release} at most 2 rows"),
        (paths[0], "Groups: a; b; c"),
        (paths[0], changed),
        (paths[0], noise.format("a; b; c")),
        (paths[2], noise.format("a; c")),
        (paths[2], f"Exact counts: 'lyon', counting {exact.sources[0].identifier}"),
    ):
        assert main(["show", str(path)]) == 0
        assert f"\n{beginning}" in "\n" + capsys.readouterr().out


def count_with_noise(folder, rows, *options):
    """Run ``skfedauc count --epsilon``; return its exit code."""
    pd.DataFrame(rows, columns=["died", "risk", "sex"]).to_csv(folder / "rows.csv", index=False)
    command = ["count", folder / "rows.csv", "--label", "died", "--score", "risk", "--group", "sex"]
    command += [] if "--disclosure" in options else ["--disclosure", "bins"]
    command += ["--bins", "0.5", "--output", folder / "p.skfa"]
    return main([str(argument) for argument in (*command, *options)])


ROWS = [(0, 0.2, "f"), (1, 0.7, "f"), (0, 0.9, "m"), (1, 0.6, "m")]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:3], ROWS[:2], ROWS[:1]])
def test_the_command_line_writes_counts_with_noise(rows, tmp_path, capsys, monkeypatch):
    """One row more or less changes counts and nothing else of the file."""
    monkeypatch.setattr(private_counts, "with_noise", lambda exact, *_: exact)
    options = ["--epsilon", "0.5", "--rows-per-person", "2", "--agreed-groups", "f,m,x"]
    assert count_with_noise(tmp_path, rows, *options, "--source", "oslo") == 0
    assert "epsilon 0.5 for one person with at most 2 rows" in capsys.readouterr().out
    found = PrivateCounts.load(tmp_path / "p.skfa")
    assert found.labels.tolist() == ["f", "m", "x"]
    assert found.bins == Bins.at([0.5])
    assert found.group_names == ("sex",)
    assert (found.pos_label, found.sources, found.exact_groups) == (1, (), ())
    assert found.releases[0]._replace(identifier="") == Release("", "oslo", 0.5, 2, ("f", "m", "x"))
    numbers = np.zeros((2, 3, 2), int)
    for label, score, sex in rows:
        numbers[label, "fmx".index(sex), int(score > 0.5)] += 1
    assert [found.negatives.tolist(), found.positives.tolist()] == numbers.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agreed-groups", "f,m"], "--agreed-groups needs --epsilon"),
        (["--rows-per-person", "2"], "--rows-per-person needs --epsilon"),
        (["--epsilon", "1"], "--epsilon needs --agreed-groups"),
        (["--epsilon", "1", "--agreed-groups", "f"], "1 group not among the agreed groups: 'm'"),
        (["--epsilon", "1", "--disclosure", "exact"], "needs --disclosure bins"),
        (["--epsilon", "1", "--min-count", "5"], "--min-count does not go with --epsilon"),
        (["--epsilon", "-1", "--agreed-groups", "f,m"], "--epsilon must be a number above 0"),
        (
            ["--epsilon", "1", "--agreed-groups", "f,m", "--pos-label", "0", "--period", "2026"],
            None,
        ),
    ],
)
def test_options_under_which_epsilon_does_not_hold_are_refused(options, message, tmp_path, capsys):
    assert count_with_noise(tmp_path, ROWS, *options) == (0 if message is None else 2)
    if message is None:
        private = PrivateCounts.load(tmp_path / "p.skfa")
        assert (private.pos_label, private.releases[0].period) == (0, "2026")
    else:
        assert message in capsys.readouterr().err
        assert not (tmp_path / "p.skfa").exists()


def test_releases_keep_the_model_and_the_period():
    parts = [
        released(counts_of(seed).with_source("x", model=model, period=period), source="oslo")
        for seed, (model, period) in enumerate([("m1", "2026-10"), ("m1", "2026-11"), ("m2", "p")])
    ]
    whole = PrivateCounts.merge(parts[:2])  # no warning
    again = PrivateCounts.from_bytes(whole.to_bytes()).releases
    assert {(of.name, of.model, of.period) for of in again} == {
        ("oslo", "m1", "2026-10"),
        ("oslo", "m1", "2026-11"),
    }
    with pytest.warns(UserWarning, match="scored by different models, 'm1', 'm2'"):
        PrivateCounts.merge(parts)


def test_commands_with_private_counts(tmp_path, capsys):
    path = tmp_path / "oslo.skfa"
    private = released(counts_of())
    private.save(path)
    assert main(["report", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: {private!r}"
    for of in ("groups", "statistics"):
        for label, row in private.confidence_intervals(of=of).iterrows():
            value, low, high = (f"{number:.3f}" for number in row.iloc[:3])
            shown = row["note"] if np.isnan(row.iloc[0]) else f"{value} {low} to {high}"
            assert any(" ".join(line.split()).startswith(f"{label} {shown}") for line in lines)
    for refused in (["report", str(path), "--json"], ["merge", str(path), "-o", f"{path}2"]):
        assert main(refused) == 2
        assert " noise" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:600] + b"x" + path.read_bytes()[601:])
    for command in ("show", "report"):
        assert main([command, str(path)]) == 2
        assert "damaged" in capsys.readouterr().err


def test_no_statistic_tells_neighbouring_sites_apart_beyond_epsilon():
    """Also those that do not depend on the rows: labels, groups and metadata."""
    from benchmarks.releases import CASES, bounds, statistics
    from benchmarks.releases import counts_of as counts_of_sizes

    for sizes in (*CASES.values(), ([0, 0], [1, 0])):
        found = bounds(*(statistics(counts_of_sizes(one), 1.0, 300, 50) for one in sizes))
        assert max(found.values()) < 1.0
        assert {found[name] for name in ("groups", "label", "text of the facts")} == {0.0}
