"""Weights of pairs and of concordant pairs, and the memory that their matrix may take."""

import os

import numpy as np
import pytest
from oracles import WEIGHTS, all_pairs, random_case

from skfedauc import GroupAUC, ScoreCounts
from skfedauc import pairs as pairs_module
from skfedauc._kernel import Cells, add_cells
from skfedauc.pairs import GroupPairs, share_of, u2_over_all, u2_over_others


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


def test_u2_beyond_64_bits(version):
    n = 2**34
    scores, counts = np.array([0.5, 0.5]), (np.array([n, n]), np.array([n, 2]))
    cells = add_cells(Cells(np.zeros(0, np.int64), scores, *counts, None), np.array([0, 1]), 2)
    all_tied = [[[n * 2 * n, n * 2 * n], [n * (n + 2), n * (n + 2)]]]
    all_tied.append([[n * 2 * n, 2 * 2 * n], [n * (n + 2), 2 * (n + 2)]])
    assert u2_over_all(cells).tolist() == all_tied
    others = [[[n * n, n * n], [2 * n, n * n]], [[n * n, 2 * n], [2 * n, 2 * n]]]
    assert u2_over_others(cells).tolist() == others


MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
UNLIMITED = 9223372036854771712  # In version 1, this number means that there is no limit


@pytest.fixture
def limits(tmp_path, monkeypatch):
    files = tmp_path / "memory.max", tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(pairs_module, "_LIMITS", files)

    def write(*texts):
        for path, text in zip(files, texts, strict=False):
            path.write_text(f"{text}\n")

    return write


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        ((), MACHINE),
        (("max",), MACHINE),
        (("", UNLIMITED), MACHINE),
        (("4096",), 4096),
        (("max", 700), 700),
        (("many", "\u0663"), MACHINE),
    ],
)
def test_the_least_limit_holds(limits, texts, limit):
    limits(*texts)
    assert pairs_module.usable_memory() == limit


def test_systems_without_a_number_of_pages_have_8_gib(limits, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert pairs_module.usable_memory() == 8 << 30


def test_a_matrix_beyond_the_limit_of_the_container_is_refused(limits):
    groups = np.repeat(np.arange(200), 2)
    limits(2 * 32 * 200**2)
    assert GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups).cross_matrix.size
    limits(2 * 32 * 200**2 - 1)
    report = GroupAUC.from_predictions([0, 1] * 200, groups * 0.1, groups=groups)
    refused = r"200 groups needs 0.00119 GiB, more than half of the 0.0.*decomposition\(\)"
    for name in ("cross_auc", "cross_difference"):
        with pytest.raises(ValueError, match=refused):
            _ = report.cross_matrix if name == "cross_auc" else report.statistic(name)
    assert report.decomposition().within == 0.5
