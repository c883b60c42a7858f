"""The oracle agrees with a loop over pairs, and `counts_by_search` agrees with the oracle."""

import math

import numpy as np
import pytest
from oracles import WEIGHTS, all_pairs, counts_by_search, random_case


def loop_auc(case, fold, g=None, h=None):
    """Return the AUC of positives of group g and negatives of group h, over pairs within folds."""
    weights = np.ones(case.y.size) if case.weights is None else case.weights
    concordant = total = 0.0
    for i in np.flatnonzero(case.y == 1):
        for j in np.flatnonzero(case.y != 1):
            of_groups = g is None or (case.groups[i], case.groups[j]) == (g, h)
            if of_groups and fold[i] == fold[j]:
                total += weights[i] * weights[j]
                wins = (case.scores[i] > case.scores[j]) + (case.scores[i] == case.scores[j]) / 2
                concordant += weights[i] * weights[j] * wins
    return concordant / total if total else math.nan


def same(number):
    return pytest.approx(number, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("n_folds", [1, 3])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_all_pairs_by_a_loop(weights, n_folds):
    for seed in range(6):
        case = random_case(seed, weights=weights, most_groups=4)
        fold = np.arange(case.y.size) % n_folds
        truth = all_pairs(case, fold=fold)
        assert truth.statistics["pooled"] == same(loop_auc(case, fold))
        for (g, h), auc in np.ndenumerate(truth.matrix):
            assert auc == same(loop_auc(case, fold, truth.labels[g], truth.labels[h]))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_counts_by_search_are_those_of_all_pairs(weights):
    for seed in range(20):
        case = random_case(seed, weights=weights)
        case = case._replace(groups=[0] * case.y.size)
        found, truth = counts_by_search(case.y, case.scores, case.weights), all_pairs(case)
        for got, expected in (
            (found.positives, truth.positives),
            (found.negatives, truth.negatives),
            (found.u2, 2 * truth.statistics["pooled"] * truth.positives * truth.negatives),
        ):
            assert float(got) == pytest.approx(np.nansum(expected), rel=1e-12)
