"""Bins of scores: every rule is checked at the floats around each of its edges."""

import copy
import functools
import itertools
import json
import math
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest

from skfedauc import Bins, DisclosureError, ScoreCounts

LARGEST, SMALLEST = sys.float_info.max, 5e-324
PROBABILITIES = [(1, 1), (3, 2), (20, 64), (51, 1), (35, 1 << 16), (39, 1 << 12)]
RULES = {
    "probabilities": Bins.of_probabilities(octaves=4, parts=4),
    "finest next to 1": Bins.of_probabilities(octaves=50, parts=2),
    "scores": Bins.of_scores(parts=1),
    "one edge at 0": Bins.at([0.0]),
    "edges": Bins.at([-LARGEST / 2, -1.0, -SMALLEST, 0.0, SMALLEST, 1e-300, 0.1, 1.0, LARGEST]),
}


def number_of_probability(score, octaves, parts):
    """Return the number of the bin, from the definition in rational numbers."""
    distance = min(Fraction(score), 1 - Fraction(score))
    n_half = octaves * parts + 2
    if distance == 0:
        number = 0
    elif distance == Fraction(1, 2):
        number = n_half - 1
    else:
        octave = 0  # number of the octave, from the lowest octave on
        while octave < octaves and distance >= Fraction(1, 2 ** (octaves - octave)):
            octave += 1
        low = Fraction(1, 2 ** (octaves + 1 - octave))
        number = 2 + octave * parts + math.floor((distance / low - 1) * parts)
        number = 1 if distance < Fraction(1, 2 ** (octaves + 1)) else number
    return number if score < 0.5 else 2 * n_half - 1 - number


def floats_around(numbers, low=-LARGEST, high=LARGEST):
    """Return each number, and the two nearest floats on each side of the number."""
    found = np.unique(numbers)
    for _ in range(2):
        found = np.unique([found, np.nextafter(found, low), np.nextafter(found, high)])
    return found


@pytest.mark.parametrize("bins", RULES.values(), ids=RULES)
def test_ranges_are_closed_attained_and_adjacent(bins):
    ends = (0.0, 1.0) if "prob" in repr(bins) else (-LARGEST, LARGEST)
    last = int(bins.numbers_of(ends[1:])[0])
    numbers = np.arange(0 if bins.n_bins else -last, last + 1)
    lows, highs = bins.ranges_of(numbers)
    assert (lows <= highs).all()
    np.testing.assert_array_equal(bins.numbers_of(lows), numbers)
    np.testing.assert_array_equal(bins.numbers_of(highs), numbers)
    np.testing.assert_array_equal(np.nextafter(highs[:-1], np.inf), lows[1:])
    assert (lows[0], highs[-1]) == ends
    assert not np.signbit(lows[lows == 0]).any()
    assert not np.signbit(highs[highs == 0]).any()


@pytest.mark.parametrize(("octaves", "parts"), PROBABILITIES)
def test_probabilities_follow_the_definition(octaves, parts):
    bins = Bins.of_probabilities(octaves, parts)
    assert bins.n_bins == 2 * (octaves * parts + 1) + 2
    rng = np.random.default_rng(octaves)
    ends = bins.ranges_of(rng.choice(bins.n_bins, 40))
    scores = floats_around(
        [*ends.flat, 0.0, SMALLEST, 2.0**-53, 2.0**-21, 0.5, 1.0, *rng.random(40)]
    )
    scores = scores[(scores >= 0) & (scores <= 1)]
    expected = [number_of_probability(score, octaves, parts) for score in scores.tolist()]
    assert bins.numbers_of(scores).tolist() == expected


@pytest.mark.parametrize("parts", [1, 64, 1 << 16])
def test_scores_follow_the_definition(parts):
    bins = Bins.of_scores(parts)
    assert bins.n_bins is None
    rng = np.random.default_rng(parts)
    scores = np.concatenate([rng.normal(size=300), 10.0 ** rng.uniform(-307, 308, 300)])
    scores = floats_around([*scores, *-scores, 1.0, 2.0, -1.0, LARGEST, SMALLEST, 2.0**-1022])
    numbers = bins.numbers_of(scores)
    np.testing.assert_array_equal(bins.numbers_of(-scores), -numbers)
    for score, number in zip(scores.tolist(), numbers.tolist(), strict=True):
        fraction, exponent = math.frexp(abs(score))
        exponent = max(exponent, -1021)  # numbers below 2**-1022 are in parts of equal width
        place = Fraction(abs(score)) / Fraction(2) ** (exponent - 1)
        if place < 1:
            expected = 1 + math.floor(place * parts)
        else:
            expected = 1 + (exponent + 1022) * parts + math.floor((place - 1) * parts)
        assert abs(number) == (expected if fraction else 0)
        assert np.sign(number) == np.sign(score)
    low, high = bins.ranges_of(numbers)
    assert ((low <= scores) & (scores <= high)).all()
    np.testing.assert_array_equal(bins.numbers_of(low), numbers)
    np.testing.assert_array_equal(bins.numbers_of(high), numbers)
    below_top = numbers < numbers.max()
    above = bins.numbers_of(np.nextafter(high[below_top], np.inf))
    np.testing.assert_array_equal(above, numbers[below_top] + 1)
    representative = bins.scores_of(numbers)
    assert ((low <= representative) & (representative <= high)).all()


def smallest_limit(n_rows, n_bins):
    """Return the smallest limit on the rows of bins of several scores, by all partitions."""
    limits = []
    for size in range(min(n_bins, len(n_rows))):
        for cuts in itertools.combinations(range(1, len(n_rows)), size):
            parts = np.split(n_rows, cuts)
            limits.append(max((part.sum() for part in parts if part.size > 1), default=0))
    return min(limits)


@pytest.mark.parametrize("seed", range(40))
def test_quantiles_have_the_smallest_limit(seed):
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, rng.choice([3, 30, 300]), rng.integers(2, 9), np.intp)
    if seed % 3 == 0:
        n_rows[rng.integers(n_rows.size)] += 1000
    scores = np.repeat(np.sort(rng.normal(size=n_rows.size)), n_rows)
    y, groups = rng.integers(0, 2, scores.size), rng.integers(0, 3, scores.size)
    counts = ScoreCounts.from_predictions(y, scores, groups=groups)
    n_bins = int(rng.integers(2, 7))
    bins = Bins.of_quantiles(counts, n_bins)
    assert 2 <= bins.n_bins <= n_bins
    numbers = bins.numbers_of(scores)
    several = [n for n in range(bins.n_bins) if np.unique(scores[numbers == n]).size > 1]
    found = max((int((numbers == n).sum()) for n in several), default=0)
    assert found == smallest_limit(n_rows, n_bins)
    assert set(bins.to_dict()["edges"]) <= set(scores.tolist())


def test_quantiles_of_binned_counts_are_unions_of_their_bins():
    rng = np.random.default_rng(0)
    scores = rng.beta(0.5, 4, 4000)
    y = rng.integers(0, 2, scores.size)
    for fixed in (Bins.of_probabilities(), Bins.of_scores(16), Bins.at([0.01, 0.1, 0.3, 0.6])):
        counts = ScoreCounts.from_predictions(y, scores, disclosure=fixed)
        bins = Bins.of_quantiles(counts, 8)
        assert fixed.refines(bins)
        assert counts.reduced(bins) == ScoreCounts.from_predictions(y, scores, disclosure=bins)
    counts = ScoreCounts.from_predictions(y, scores, disclosure="bins")
    n_rows = np.bincount(Bins.of_quantiles(counts, 8).numbers_of(scores))
    assert n_rows.size == 8
    assert n_rows.max() < 1.05 * scores.size / 8


def test_quantiles_cut_no_overlapping_ranges():
    counts = ScoreCounts.from_counts(
        group=["a", "b", "a", "b"],
        score=[1.0, 2.0, 3.5, 9.0],
        n_negatives=[5, 5, 5, 5],
        n_positives=[1, 1, 1, 1],
        score_low=[0.0, 1.0, 3.0, 9.0],
        score_high=[1.0, 3.0, 4.0, 9.0],
    )
    assert Bins.of_quantiles(counts, 4) == Bins.at([9.0])


@pytest.mark.parametrize("bins", [*RULES.values(), Bins.at(np.arange(20) / 7)], ids=repr)
def test_copies_and_states_are_equal(bins):
    stored = json.loads(json.dumps(bins.to_dict()))
    for other in (Bins.from_dict(stored), pickle.loads(pickle.dumps(bins)), copy.deepcopy(bins)):
        assert other == bins
        assert hash(other) == hash(bins)
        assert other.to_dict() == bins.to_dict()
    assert all(bins != other for other in RULES.values() if other is not bins)
    assert bins != bins.to_dict()
    if len(repr(bins)) < 200 and "..." not in repr(bins):
        assert eval(repr(bins), {"Bins": Bins}) == bins


def test_bins_are_immutable():
    bins = Bins.of_scores()
    with pytest.raises(AttributeError, match="immutable"):
        bins._rule = None
    with pytest.raises(AttributeError, match="immutable"):
        del bins._rule
    with pytest.raises(TypeError, match="no public constructor"):
        Bins()


# Lists within lists, too deep for repr
DEEP = functools.reduce(lambda value, _: [value], range(2000), [])


@pytest.mark.parametrize(
    "state",
    [
        None,
        "of_scores",
        {},
        DEEP,
        {"rule": DEEP},
        {"rule": "at", "edges": DEEP},
        {"rule": "of_scores", "parts": DEEP},
        {"rule": "of_scores"},
        {"rule": "of_scores", "parts": 64, "octaves": 2},
        {"rule": "of_scores", "parts": 63},
        {"rule": "of_scores", "parts": 64.0},
        {"rule": "of_scores", "parts": 1 << 40},
        {"rule": "of_probabilities", "octaves": 10**30, "parts": 64},
        {"rule": "of_probabilities", "octaves": 46, "parts": 64},
        {"rule": "from_dict", "state": {}},
        {"rule": "__init__"},
        {"rule": ["at"], "edges": [1.0]},
        {"rule": "at", "edges": []},
        {"rule": "at", "edges": "0.5"},
        {"rule": "at", "edges": ["0.5"]},
        {"rule": "at", "edges": [True]},
        {"rule": "at", "edges": [[0.5]]},
        {"rule": "at", "edges": [math.nan]},
        {"rule": "at", "edges": [0.5, math.inf]},
        {"rule": "at", "edges": [0.0, -0.0]},
        {"rule": "at", "edges": [0.5, 0.25]},
        {"rule": "at", "edges": [10**400]},
        {"rule": "at", "edges": [2**53, 2**53 + 1]},
        {"rule": "at", "edges": [-LARGEST]},
    ],
    ids=itertools.count(),
)
def test_hostile_states_are_refused(state):
    with pytest.raises((ValueError, TypeError), match=r"state|edges|parts|octaves"):
        Bins.from_dict(state)


ONE_SCORE = ScoreCounts.from_predictions([0, 1], [0.5, 0.5])
NO_ROWS = ScoreCounts.from_counts(None, [], [], [])


def test_quantiles_need_scores():
    with pytest.raises(DisclosureError, match="summary"):
        Bins.of_quantiles(ONE_SCORE.reduced("summary"), 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Bins.of_quantiles(ONE_SCORE, 4), r"at least two scores.*got ScoreCounts\(no gr"),
        (lambda: Bins.of_quantiles(NO_ROWS, 4), "at least two scores"),
        (lambda: Bins.of_probabilities(parts=48), "parts must be a power of two up to 65,536"),
        (lambda: Bins.of_probabilities(40, 1 << 12), "must be at most 51"),
        (lambda: Bins.at([]), "at least one cut point"),
        (lambda: Bins.at([0.2, 0.1]), r"got 0.2 before 0.1. Pass np.unique\(edges\)"),
        (lambda: Bins.of_probabilities().numbers_of([0.1, 1.5, -2]), r"from -2.0 to 1.5\. Bins"),
        (lambda: Bins.of_scores().numbers_of([math.nan]), "scores must be finite; got 1 NaN"),
        (lambda: Bins.of_probabilities(1, 1).ranges_of([0, 6]), "must be from 0 to 5.*got 6"),
        (lambda: Bins.of_scores(1).ranges_of([np.uint64(1 << 63)]), "numbers must be from -2047"),
        (lambda: Bins.at([1]).ranges_of([0.0]), "whole numbers"),
        (lambda: Bins.at([1]).ranges_of([True]), "whole numbers"),
    ],
)
def test_messages(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
