"""Ranks among the rows of all groups, and U statistics of a group against other groups."""

import itertools

import numpy as np
import pytest
from kernel_cases import cells_of
from oracles import random_case

from skfedauc._kernel import Cells, add_cells
from skfedauc.pairs import u2_over_all, u2_over_others


def cases_with_rows(n_seeds, weights):
    """Yield random cases, with the weight and the group of each row, and the groups in use."""
    for seed in range(n_seeds):
        case = random_case(seed, weights=weights, labels="int")
        amounts = np.ones(case.y.size) if case.weights is None else case.weights
        codes = np.array(case.groups)
        labels = sorted(set(codes[amounts > 0].tolist()))
        if labels:
            yield case, amounts, codes, labels


@pytest.mark.parametrize("weights", ["unit", "integer", "float", "far apart"])
def test_u2_over_others_equals_brute_force(version, weights):
    for case, amounts, codes, labels in cases_with_rows(16, weights):
        wins = np.sign(np.subtract.outer(case.scores, case.scores)) + 1.0
        products = wins * np.outer(amounts, amounts)
        over_all, over_others = np.zeros((2, 2, 2, len(labels)))
        for i, j in itertools.product(range(2), repeat=2):
            for g, label in enumerate(labels):
                mine = products[(codes == label) & (case.y == i)][:, case.y == j]
                over_all[i, j, g] = mine.sum()
                over_others[i, j, g] = mine[:, codes[case.y == j] != label].sum()
        cells = cells_of(case, labels)
        scale = max(over_all.max(), 1.0)
        for function, expected in ((u2_over_all, over_all), (u2_over_others, over_others)):
            found = function(cells).astype(float)
            assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * scale)
            if weights == "unit":
                assert found.tolist() == expected.tolist()


def test_u2_beyond_64_bits(version):
    n = 2**34
    scores, counts = np.array([0.5, 0.5]), (np.array([n, n]), np.array([n, 2]))
    cells = add_cells(Cells(np.zeros(0, np.int64), scores, *counts, None), np.array([0, 1]), 2)
    all_tied = [[[n * 2 * n, n * 2 * n], [n * (n + 2), n * (n + 2)]]]
    all_tied.append([[n * 2 * n, 2 * 2 * n], [n * (n + 2), 2 * (n + 2)]])
    assert u2_over_all(cells).tolist() == all_tied
    others = [[[n * n, n * n], [2 * n, n * n]], [[n * n, 2 * n], [2 * n, 2 * n]]]
    assert u2_over_others(cells).tolist() == others
