"""Binned ScoreCounts: ranges, merging and extremes, checked row by row."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from rules import rule
from test_bounds import case_of

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts import Disclosure, MergeError
from skfedauc.counts.score_counts import extremes_of, view_of

KINDS = (
    Bins.of_probabilities(),
    Bins.of_probabilities(octaves=3, parts=2),
    Bins.of_scores(),
    Bins.of_scores(parts=1),
    Bins.at([0.3]),
    Bins.at([-0.5, 0.0, 0.25, 0.5, 0.7]),
)


def counts_of(case, bins, rows=slice(None)):
    return ScoreCounts.from_predictions(**case.take(rows).arguments, disclosure=bins)


def assert_right(counts, case, bins):
    """Compare counts with the rows, one cell after the other."""
    numbers = bins.numbers_of(case.scores)
    expected = Counter(zip(case.groups, numbers.tolist(), case.y.tolist(), strict=True))
    found = Counter()
    cells = counts.cells
    for g, group in enumerate(counts.groups):
        for i in range(*cells.starts[g : g + 2]):
            (number,) = bins.numbers_of(cells.scores[i : i + 1]).tolist()
            assert (
                view_of(counts).ranges[:, i].tolist()
                == bins.ranges_of(np.array([number]))[:, 0].tolist()
            )
            assert (group, number, 0) not in found
            assert (group, number, 1) not in found
            found[group, number, 0] += int(cells.negatives[i])
            found[group, number, 1] += int(cells.positives[i])
    assert +found == expected
    assert counts.disclosure.bins == bins
    assert counts.disclosure.level == "bins"


def merged_as_a_tree(parts, rng):
    parts = list(parts)
    while len(parts) > 1:
        rng.shuffle(parts)
        n = min(len(parts), int(rng.integers(2, 4)))
        parts = [ScoreCounts.merge(parts[:n]), *parts[n:]]
    return parts[0]


@pytest.mark.parametrize("bins", KINDS, ids=repr)
def test_any_split_merged_in_any_order_is_the_whole(bins):
    for seed in range(2):
        case = case_of(seed, weights="unit")
        rng = np.random.default_rng(seed)
        whole = counts_of(case, bins)
        assert_right(whole, case, bins)
        assert whole == counts_of(case, "exact").reduced(bins)
        device = rng.integers(0, rng.integers(1, 9), case.y.size)
        parts = [counts_of(case, bins, device == d) for d in np.unique(device)]
        for merged in (merged_as_a_tree(parts, rng), ScoreCounts.merge(parts), sum(parts)):
            assert merged == whole
            assert_right(merged, case, bins)


def test_exact_counts_have_no_ranges_and_are_their_own_extremes():
    counts = counts_of(case_of(0), "exact")
    assert (counts.disclosure, view_of(counts).ranges) == (Disclosure(), None)
    assert extremes_of(counts) == (counts, counts)
    assert counts.reduced("exact") is counts


def test_equal_scores_of_other_ranges_get_the_smallest_range_that_holds_both():
    one = ScoreCounts.from_counts(
        score=[0.5, 0.5, 0.75], n_negatives=[1, 0, 2], n_positives=[2, 3, 0],
        score_low=[0.25, 0.5, 0.75], score_high=[0.5, 0.625, 0.75],
    )  # fmt: skip
    assert view_of(one).ranges.tolist() == [[0.25, 0.75], [0.625, 0.75]]
    assert one.cells.positives.tolist() == [5, 0]
    other = ScoreCounts.from_counts(
        score=[0.5], n_negatives=[1], n_positives=[0], score_low=[0.0], score_high=[0.5]
    )
    for merged in (one + other, other + one):
        assert view_of(merged).ranges.tolist() == [[0.0, 0.75], [0.625, 0.75]]
        assert merged.cells.negatives.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0.0, 0.6], [1.0, 1.0], "score must be from score_low to score_high: its score 0.5"),
        ([0.0, 0.0], [1.0, 0.4], "outside its range from 0 to 0.4.* at cell 1"),
        ([0.0, np.nan], [1.0, 1.0], "score_low"),
        ([0.0, 0.0], [1.0, np.inf], "score_high"),
        ([0.0, 0.0], None, "needs score_low and score_high together; score_high is missing"),
    ],
)
def test_other_ranges_are_refused(low, high, message):
    ends = {"score_low": low, "score_high": high}
    with pytest.raises((ValueError, TypeError), match=message):
        ScoreCounts.from_counts(score=[0.25, 0.5], n_negatives=[1, 1], n_positives=[1, 1], **ends)


def test_other_levels_and_bins_are_not_merged():
    exact = counts_of(case_of(0, "unit"), "exact")
    one, other, finer = (exact.reduced(Bins.at(e)) for e in ([0.5], [0.4], [0.5, 0.75]))
    ranges = ScoreCounts.from_counts(**other.to_counts())
    for parts, message in (
        ([exact, exact, one], "part 0 is exact, and part 2 is Bins.at([0.5]). "),
        ([exact, one], "Pass disclosure= to ScoreCounts.merge, which reduces all parts first, to "),
        ([one, other], "to Bins that are unions of the bins of all parts. If there are none, "),
        ([one, other], "pass 'summary' if no group is in two parts, or count one of them again."),
        ([one, finer], "part 0 is Bins.at([0.5]), and part 1 is Bins.at([0.5, 0.75]). Pass"),
        ([ranges, exact], "part 0 is ranges of scores, and part 1 is exact. Pass disclosure= to"),
    ):
        with pytest.raises(MergeError, match=re.escape(message)) as error:
            ScoreCounts.merge(parts)
        assert error.value.reason == "disclosure"
        if len(parts) == 2:
            with pytest.raises(MergeError, match=re.escape(message)):
                _ = parts[0] + parts[1]


def test_merging_at_a_lower_level(tmp_path):
    bins, coarse = Bins.at([0.25, 0.5, 0.75]), Bins.at([0.5])
    case = case_of(11, "unit")
    parts = [counts_of(case, "exact", np.arange(case.y.size) % 3 == i) for i in range(3)]
    whole = counts_of(case, "exact")
    mixed = [parts[0], parts[1].reduced(bins), parts[2]]
    mixed[2].save(tmp_path / "third.skfa")
    for order in itertools.permutations([*mixed[:2], tmp_path / "third.skfa"]):
        merged = ScoreCounts.merge(order, disclosure=bins)
        assert (merged, merged.disclosure.bins) == (whole.reduced(bins), bins)
        assert ScoreCounts.merge(order, disclosure=coarse) == whole.reduced(coarse)
        with pytest.raises(MergeError, match=r"^(part|'/).*: disclosure='exact' would disclose"):
            ScoreCounts.merge(order, disclosure="exact")
    assert ScoreCounts.merge(parts, disclosure="exact") == whole
    assert ScoreCounts.merge(parts[:1], disclosure=bins) == parts[0].reduced(bins)
    with pytest.raises(MergeError, match=r"^oslo: counts with Bins\.at.*cannot be reduced to"):
        ScoreCounts.merge({"oslo": mixed[1]}, disclosure=Bins.at([0.3]))


@pytest.mark.parametrize("how", ["min_count", "max_cells"])
def test_merging_ranges_of_no_rule_at_a_lower_level(how, tmp_path):
    """Each range becomes the bins that it overlaps, and intervals still hold the exact AUC."""
    bins, coarse = Bins.at([i / 16 for i in range(1, 16)]), Bins.at([0.25, 0.5, 0.75])
    rng = np.random.default_rng(2)
    y, score, groups = rng.random(400) < 0.4, rng.random(400).round(2), rng.choice(["a", "b"], 400)
    first, second = (
        ScoreCounts.from_predictions(y[rows], score[rows], groups=groups[rows])
        for rows in (slice(150), slice(150, 400))
    )
    whole = ScoreCounts.merge([first, second])
    exact = GroupAUC(whole).pooled
    small = {"min_count": second.reduced(rule(bins, min_count=5))}
    ranges = small.get(how, second.reduced(max_cells=9))
    assert (ranges.disclosure.level, ranges.disclosure.bins, len(ranges)) == ("bins", None, 2)
    if how == "min_count":  # these ranges are unions of bins
        assert ScoreCounts.merge([ranges], disclosure=bins) == ranges
    ranges.save(tmp_path / "ranges.skfa")
    for to, parts in itertools.product(
        (bins, coarse),
        [[first, ranges], [tmp_path / "ranges.skfa", first], [ranges, first.reduced(bins)]],
    ):
        merged = ScoreCounts.merge(parts, disclosure=to)
        assert merged.disclosure.bins is None
        assert merged.n_positives.tolist() == whole.n_positives.tolist()
        assert merged.n_negatives.tolist() == whole.n_negatives.tolist()
        # Only edges of the bins are disclosed.
        low, high = view_of(merged).ranges
        assert np.array_equal(to.ranges_of(to.numbers_of(low))[0], low)
        assert np.array_equal(to.ranges_of(to.numbers_of(high))[1], high)
        low, high = GroupAUC(merged).bounds().loc["pooled", ["low", "high"]]
        assert 0 < low < exact < high < 1
    with pytest.raises(ValueError, match="a range of theirs is not within one of its bins"):
        ranges.reduced(coarse)
    with pytest.raises(MergeError, match="would disclose more than these counts hold"):
        ScoreCounts.merge([first, ranges], disclosure="exact")
