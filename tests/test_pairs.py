"""Weights of pairs and of concordant pairs, within groups, pooled and across groups."""

import numpy as np
import pytest
from oracles import WEIGHTS, all_pairs, random_case

from skfedauc import ScoreCounts
from skfedauc.pairs import GroupPairs, share_of


def same(number):
    return pytest.approx(number, rel=1e-11, abs=1e-12, nan_ok=True)


def counts_of(case):
    return ScoreCounts.from_predictions(**case.arguments)


def pairs_of(case, fold=None):
    if fold is None:
        return GroupPairs(counts_of(case))
    folds = [counts_of(case.take(fold == number)) for number in np.unique(fold)]
    return GroupPairs(counts_of(case), folds)


@pytest.mark.parametrize("n_folds", [None, 1, 3])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_pairs_equal_all_pairs(weights, n_folds):
    n_cases = 0
    for seed in range(12):
        case = random_case(seed, weights=weights, most_groups=12)
        fold = None if n_folds is None else np.arange(case.y.size) % n_folds
        pairs, truth = pairs_of(case, fold), all_pairs(case, fold=fold)
        if not truth.labels:
            continue
        n_cases += 1
        assert pairs.counts.groups == tuple(truth.labels)
        assert pairs.positives.astype(float) == same(truth.positives)
        assert pairs.negatives.astype(float) == same(truth.negatives)
        assert pairs.auc == same(truth.auc)
        assert pairs.defined.tolist() == (~np.isnan(truth.auc)).tolist()
        assert pairs.cross_auc == same(truth.matrix)
        assert pairs.pooled_auc == same(truth.statistics["pooled"])
        assert share_of(pairs.within[0], 2 * pairs.within[1]) == same(truth.statistics["within"])
        assert share_of(pairs.within[1], pairs.pooled[1]) == same(truth.share_within)
        u2, of_pairs = pairs.cross_sums()
        assert (pairs.pooled[0], pairs.pooled[1]) == (same(u2.sum()), same(of_pairs.sum()))
        assert pairs.has_cross_pairs == bool((of_pairs - np.diag(np.diag(of_pairs))).any())
        # Each group's positives against the negatives of the others, and the reverse
        others = ~np.eye(pairs.n_groups, dtype=bool)
        over_others, of_others = pairs.over_others
        assert over_others[1, 0] == same((u2 * others).sum(axis=1))
        assert of_others[1, 0] == same(2 * (of_pairs * others).sum(axis=1))
        assert of_others[0, 1] == same(2 * (of_pairs * others).sum(axis=0))
    assert n_cases > 8


def test_numbers_of_pairs_are_exact_beyond_64_bits():
    n = 2**35
    counts = ScoreCounts.from_counts(["a", "b"], [0.5, 0.5], [n, n], [n, n - 1])
    pairs = GroupPairs(counts)
    assert pairs.within == (2 * n * n - n, 2 * n * n - n)
    assert pairs.pooled == (2 * n * (2 * n - 1), 2 * n * (2 * n - 1))
    assert pairs.pooled_auc == 0.5


def test_a_share_of_nothing_is_nan_and_rounding_does_not_exceed_one():
    assert np.isnan(share_of(0, 0))
    assert share_of(1.0 + 1e-15, 1.0) == 1.0


def test_results_of_all_rows_are_refused_within_folds():
    case = random_case(0, weights="unit")
    with pytest.raises(ValueError, match="abroca is not available within folds"):
        pairs_of(case, np.arange(case.y.size) % 2).counts_for("abroca")
    assert pairs_of(case).counts_for("abroca") == counts_of(case)
