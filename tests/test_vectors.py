"""Counts as vectors for secure sums: `to_vector`, `from_vector`."""

import numpy as np
import pytest

from skfedauc import Bins, ScoreCounts
from skfedauc.counts.score_counts import select_groups, view_of

BINS = Bins.of_probabilities(octaves=4, parts=2)
SITES = ["bern", "lima", "oslo"]


def counts_of(seed, groups=SITES, n=200, scores=None):
    """Return counts of random rows, with scores at edges of bins and at 0 and 1."""
    rng = np.random.default_rng(seed)
    score = rng.choice([0, 1, 0.5, 0.25, rng.random(), *rng.random(20)], n)
    labels = None if groups is None else [groups[i] for i in rng.integers(len(groups), size=n)]
    return ScoreCounts.from_predictions(rng.integers(0, 2, n), score, groups=labels)


@pytest.mark.parametrize("groups", [SITES, [3, 7, 2**60], [("a", 1), ("a", 2), ("b", 1)], None])
@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_vectors_is_the_merged_state(groups, seed):
    sites = [counts_of([seed, site], groups, n=30) for site in range(4)]
    sites.append(select_groups(sites[0], [0]) if groups else counts_of(9, None, n=0))
    total = sum(site.to_vector(BINS, groups) for site in sites)
    merged = ScoreCounts.merge([site.reduced(BINS) for site in sites])
    again = ScoreCounts.from_vector(total, BINS, groups)
    assert again == merged
    assert again.disclosure.bins == BINS
    assert again.disclosure.level == "bins"
    assert np.array_equal(view_of(again).ranges, view_of(merged).ranges)
    for mine, yours in zip(again.cells[:4], merged.cells[:4], strict=True):
        assert mine.dtype == yours.dtype
    assert np.array_equal(again.to_vector(BINS, groups), total)


@pytest.mark.parametrize("bits", [16, 32, 63, 64])
def test_masks_modulo_a_power_of_two_cancel(bits):
    """Each pair of sites shares a mask, which one site adds and the other site subtracts."""
    sites = [counts_of([bits, site]) for site in range(5)]
    modulus, rng = 2**bits, np.random.default_rng(bits)
    sent = [[int(n) for n in site.to_vector(BINS, SITES)] for site in sites]
    for a in range(5):
        for b in range(a):
            mask = rng.integers(0, 2**bits, len(sent[0]), np.uint64, endpoint=False).tolist()
            sent[a] = [(x + m) % modulus for x, m in zip(sent[a], mask, strict=True)]
            sent[b] = [(x - m) % modulus for x, m in zip(sent[b], mask, strict=True)]
    total = [sum(entries) % modulus for entries in zip(*sent, strict=True)]
    expected = ScoreCounts.merge([site.reduced(BINS) for site in sites])
    dtypes = [object, np.uint64] + ([np.int64, float] if bits < 53 else [])
    for dtype in dtypes:
        array = np.array(total, dtype)
        assert ScoreCounts.from_vector(array, BINS, SITES, modulus=modulus) == expected
    # Sums that were not reduced are equal modulo the power of two.
    sums = np.array([sum(entries) for entries in zip(*sent, strict=True)], object)
    assert ScoreCounts.from_vector(sums, BINS, SITES, modulus=modulus) == expected
    # Without one site, masks remain.
    rest = np.array([sum(entries) % modulus for entries in zip(*sent[1:], strict=True)], object)
    with pytest.raises(ValueError, match=r"negative entries .* masks remain .*dropped out"):
        ScoreCounts.from_vector(rest, BINS, SITES, modulus=modulus)


def test_sums_from_half_of_the_modulus_on_are_refused():
    counts = ScoreCounts.from_vector(with_entry(127, int), BINS, modulus=256)
    assert counts.n_negatives.tolist() == [127]
    with pytest.raises(ValueError, match=r"1 negative entries .* a sum of counts reached 2\*\*7"):
        ScoreCounts.from_vector(with_entry(128, int), BINS, modulus=256)


def test_max_count_keeps_the_sum_below_the_modulus():
    counts = ScoreCounts.from_counts(["a"], [0.3], [5], [43])
    assert counts.to_vector(BINS, ["a"], max_count=43).sum() == 48
    with pytest.raises(ValueError, match=r"count is 43 \(positives of group 'a' in bin 8\)"):
        counts.to_vector(BINS, ["a"], max_count=127 // 3)


def test_weighted_rows_and_counts_without_groups_are_refused():
    counts = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="these counts have sample weights"):
        counts.to_vector(BINS)
    with pytest.raises(ValueError, match=r"these counts have no groups.*regroup"):
        counts_of(1, None).to_vector(BINS, SITES)


def with_entry(value, dtype=None):
    vector = np.zeros(2 * BINS.n_bins, dtype)
    vector[3] = value
    return vector


@pytest.mark.parametrize(
    ("vector", "error", "message"),
    [
        (np.zeros(7, int), ValueError, "must have 40 entries, 2 classes . 1 group . 20 bins"),
        (np.zeros((2, 20), int), ValueError, "one-dimensional"),
        (with_entry(-1, int), ValueError, "1 negative entries of 40: the sum of counts cannot be"),
        (with_entry(2**41, int), ValueError, r"entry 2,199,023,255,552 \(negatives in bin 3\)"),
        (with_entry(2**63, np.uint64), ValueError, r"above 2\*\*40"),
        (with_entry(2**80, object), ValueError, r"above 2\*\*40"),
        (with_entry(-(2**80), object), ValueError, "1 negative entries"),
        (with_entry(2.5), ValueError, r"1 of 40 .* vector\[3\] = 2\.5\. Clipping or quantization"),
        (with_entry(np.nan), ValueError, r"vector\[3\] = nan"),
        (with_entry(2.0**53), ValueError, r"1 of 40 .* = 9007199254740992\.0"),
        (with_entry("1", object), TypeError, "vector must hold whole numbers"),
        (with_entry(1j, complex), TypeError, "vector must hold whole numbers"),
        (5, TypeError, "vector"),
    ],
)
def test_vectors_that_are_no_sums_are_refused(vector, error, message):
    with pytest.raises(error, match=message):
        ScoreCounts.from_vector(vector, BINS)


@pytest.mark.parametrize("modulus", [2**8, 2**32, 2**64])
def test_entries_of_every_type_are_the_same_modulo_a_power_of_two(modulus):
    expected = ScoreCounts.from_vector(with_entry(3, int), BINS)
    for entry in (3, 3 - 2**64, 3 + 2**64, 3 + 5 * 2**64):
        vector = with_entry(entry, object)
        assert ScoreCounts.from_vector(vector, BINS, modulus=modulus) == expected
    if modulus < 2**64:
        for vector in (with_entry(2**63 + 3, np.uint64), with_entry(3 - 2**62, np.int64)):
            assert ScoreCounts.from_vector(vector, BINS, modulus=modulus) == expected
    with pytest.raises(ValueError, match="1 negative entries of 40: modulo"):
        ScoreCounts.from_vector(with_entry(2**64 - 1, np.uint64), BINS, modulus=modulus)
