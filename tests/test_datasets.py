"""Simulated rows have the AUCs that `population` states."""

import itertools
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from oracles import Case, all_pairs
from sklearn.utils import Bunch

from skfedauc import GroupAUC
from skfedauc.datasets import make_group_scores, make_uniform_scores

UNEQUAL = [800, 400, 200, 100], [100, 300, 600, 1000]
NAMES = ("pooled", "macro", "samples", "positives", "negatives", "within")
SHIFTS = (-0.75, -0.25, 0.25, 0.75)
# Population values for normal scores, in the order of NAMES, computed independently of the package.
KNOWN = {
    ("identical", "equal"): [0.7602499389065233] * 6,
    ("identical", "unequal"): [0.7602499389065233] * 6,
    ("same_negatives", "equal"): [0.7439686321855542] * 6,
    ("same_negatives", "unequal"): [
        0.6589851367195552,
        0.7439686321855542,
        0.7528916705488794,
        0.6589851367195552,
        0.8233215709208725,
        0.7534711160534303,
    ],
    ("same_positives", "equal"): [0.7439686321855542] * 6,
    ("same_positives", "unequal"): [
        0.6620415303061846,
        0.7439686321855541,
        0.7313682179021559,
        0.8238038013634509,
        0.6620415303061846,
        0.7381435242377511,
    ],
    ("different", "equal"): [0.7305131533345341, *[0.7602499389065233] * 5],
    ("different", "unequal"): [0.5584332873626506, *[0.7602499389065233] * 5],
}
CASES = ("identical", "same_negatives", "same_positives", "different")


def phi(x):
    return statistics.NormalDist().cdf(x)


# Devices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "counts"), KNOWN, ids=lambda x: x)
def test_population_values(case, counts):
    sizes = (500, 500) if counts == "equal" else UNEQUAL
    population = make_group_scores(case, *sizes, random_state=0).population
    values = [population[name] for name in NAMES]
    assert values == pytest.approx(KNOWN[case, counts], abs=1e-12, rel=0)


@pytest.mark.parametrize("case", CASES)
def test_other_population_values(case):
    """Compute the population values by their definitions, over all pairs of devices."""
    shifts, separation, (positives, negatives) = (0.3, -1.0, 0.1), 0.7, ([5, 7, 2], [3, 1, 9])
    population = make_group_scores(
        case, positives, negatives, shifts=shifts, separation=separation
    ).population
    up = [separation + s * (case in ("same_negatives", "different")) for s in shifts]
    down = [s * (case in ("same_positives", "different")) for s in shifts]
    matrix = [[phi((u - d) / math.sqrt(2)) for d in down] for u in up]
    auc = [matrix[g][g] for g in range(3)]
    across = list(itertools.permutations(range(3), 2))
    pairs = [positives[g] * negatives[h] for g, h in across]
    expected = {
        "worst": min(auc),
        "ratio": min(auc) / max(auc),
        "difference": max(auc) - min(auc),
        "cross": sum(p * matrix[g][h] for p, (g, h) in zip(pairs, across, strict=True))
        / sum(pairs),
        "cross_difference": max(abs(matrix[g][h] - matrix[h][g]) for g, h in across),
    }
    assert {name: population[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert population["by_group"] == pytest.approx(auc, abs=1e-12)
    assert population["cross_matrix"] == pytest.approx(np.array(matrix), abs=1e-12)
    assert all(isinstance(population[name], float) for name in (*NAMES, *expected))


@pytest.mark.parametrize("case", CASES)
def test_rows_have_the_population_values(case):
    """With many rows, all AUCs are within about four standard errors."""
    sizes = [[10 * n for n in counts] for counts in UNEQUAL]
    devices = make_group_scores(case, *sizes, random_state=1)
    report = GroupAUC.from_predictions(devices.y_true, devices.y_score, groups=devices.groups)
    population = devices.population
    for name in (*NAMES, "worst", "difference", "ratio", "cross", "cross_difference"):
        assert report.statistic(name) == pytest.approx(population[name], abs=0.03), name
    assert report.by_group["auc"].to_numpy() == pytest.approx(population["by_group"], abs=0.03)
    assert report.cross_matrix.to_numpy() == pytest.approx(population["cross_matrix"], abs=0.03)


def test_rows_have_the_means_and_spreads():
    devices = make_group_scores("different", 4000, [3000, 2000, 4000, 5000], random_state=2)
    for number, shift in enumerate(SHIFTS, 1):
        mine = devices.groups == f"device {number}"
        for label in (0, 1):
            scores = devices.y_score[mine & (devices.y_true == label)]
            assert scores.mean() == pytest.approx(shift + label, abs=4 / math.sqrt(scores.size))
            assert scores.std() == pytest.approx(1, abs=4 / math.sqrt(2 * scores.size))


def test_rows_and_counts():
    devices = make_group_scores("identical", *UNEQUAL, random_state=0)
    assert isinstance(devices, Bunch)
    assert devices.y_true.dtype == np.int64
    assert devices.y_score.dtype == np.float64
    counts = pd.crosstab(devices.groups, devices.y_true)
    assert counts.index.tolist() == [f"device {i}" for i in (1, 2, 3, 4)]
    assert counts[1].tolist() == UNEQUAL[0]
    assert counts[0].tolist() == UNEQUAL[1]
    # Rows are in random order, so that consecutive folds have the same distribution.
    halves = devices.y_true.size // 2
    assert abs(devices.y_true[:halves].mean() - devices.y_true[halves:].mean()) < 0.05


def test_defaults():
    devices = make_group_scores("identical")
    assert devices.y_true.size == 4 * 1000
    assert devices.y_true.sum() == 4 * 500


def test_labels_sort_in_the_order_of_devices():
    devices = make_group_scores("same_negatives", 1, 1, shifts=np.arange(12.0), random_state=0)
    labels = np.unique(devices.groups)
    assert labels.tolist() == [f"device {i:02}" for i in range(1, 13)]
    assert devices.y_score[devices.groups == "device 12"].max() > 5
    assert (np.diff(devices.population["by_group"]) > 0).all()


def test_seeds_of_devices():
    first, again, other = (make_group_scores("different", 5, 5, random_state=s) for s in (3, 3, 4))
    for name in ("y_true", "y_score", "groups"):
        assert np.array_equal(first[name], again[name])
    assert not np.array_equal(first.y_score, other.y_score)
    generator = np.random.RandomState(3)
    one, two = (make_group_scores("different", 5, 5, random_state=generator) for _ in range(2))
    assert np.array_equal(one.y_score, first.y_score)
    assert not np.array_equal(one.y_score, two.y_score)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"case": "alike"}, ValueError, r"case must be 'identical', .*; got 'alike'"),
        ({"case": ["identical"]}, ValueError, r"case must be .*; got \['identical'\]"),
        ({"n_positives": 0}, ValueError, r"n_positives must be a whole number of at least 1; .* 0"),
        ({"n_negatives": 2.5}, ValueError, r"n_negatives must be a whole number .*; got 2\.5"),
        ({"n_negatives": True}, ValueError, r"n_negatives must be a whole number .*; got True"),
        ({"n_negatives": "5"}, ValueError, r"n_negatives must be a whole number .*; got '5'"),
        ({"n_positives": [5, 5]}, ValueError, r"n_positives has 2 numbers and shifts has 4: pass"),
        ({"n_positives": [5, 5, 0, 5]}, ValueError, r"n_positives must be at least 1 .*5, 5, 0, 5"),
        ({"n_positives": [5, 5, 0.5, 5]}, ValueError, r"n_positives must hold whole numbers"),
        (
            {"shifts": [1.0]},
            ValueError,
            r"shifts must have one number .* two or more devices; got \[1\.0\]",
        ),
        ({"shifts": [1.0, np.nan]}, ValueError, r"shifts must be finite"),
        ({"shifts": 1.0}, TypeError, r"shifts must be a one-dimensional array"),
        ({"separation": np.inf}, ValueError, r"separation must be a finite number; got inf"),
        ({"separation": "1"}, ValueError, r"separation must be a finite number; got '1'"),
    ],
)
def test_devices_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        make_group_scores(**{"case": "identical", **arguments})


# Universes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("auc", [0.5, 0.6, 0.75, 0.8, 0.9, 0.99, 1.0, np.float32(0.7), 1])
@pytest.mark.parametrize(
    ("n_samples", "prevalence"), [(2, 0.5), (20, 0.2), (30, 0.9), (100, 0.05), (999, 0.3)]
)
def test_the_auc_of_a_universe_is_that_of_its_rows(auc, n_samples, prevalence):
    universe = make_uniform_scores(auc, n_samples, prevalence, random_state=0)
    truth = all_pairs(Case(universe.y_true, universe.y_score, [0] * n_samples, None))
    assert universe.auc == pytest.approx(truth.statistics["pooled"], abs=1e-14)
    assert (universe.n_positives, universe.n_negatives) == (
        universe.y_true.sum(),
        (1 - universe.y_true).sum(),
    )
    assert universe.n_positives + universe.n_negatives == n_samples
    assert isinstance(universe.auc, float)
    # The midpoint of a part is at most half a part away from each score in the part.
    rows = min(universe.n_positives, universe.n_negatives)
    assert abs(universe.auc - auc) <= 0.5 / rows
    if auc in (0.5, 1):
        assert universe.auc == auc


def test_scores_of_a_universe():
    universe = make_uniform_scores(0.8, 7, 0.3, random_state=0)
    negatives = np.sort(universe.y_score[universe.y_true == 0])
    positives = np.sort(universe.y_score[universe.y_true == 1])
    assert negatives == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9], abs=1e-15)
    assert positives == pytest.approx([0.7, 0.9], abs=1e-15)


def test_many_rows_have_the_auc_that_was_asked_for():
    for auc, prevalence in itertools.product((0.55, 0.7, 0.8, 0.9, 0.97), (0.01, 0.05, 0.2, 0.5)):
        assert make_uniform_scores(auc, 10_000, prevalence).auc == pytest.approx(auc, abs=2e-5)


def test_seeds_of_universes():
    first, again, other = (make_uniform_scores(0.8, 50, 0.4, random_state=s) for s in (3, 3, 4))
    assert np.array_equal(first.y_score, again.y_score)
    assert not np.array_equal(first.y_score, other.y_score)
    assert np.array_equal(np.sort(first.y_score), np.sort(other.y_score))
    assert first.auc == other.auc
    # Rows are in random order.
    assert np.abs(np.diff(first.y_true)).sum() > 5


@pytest.mark.parametrize(
    ("n_samples", "prevalence", "n_positives"),
    [(1000, 0.05, 50), (10, 0.01, 1), (10, 0.99, 9), (7, 0.5, 4), (10, np.float64(0.26), 3)],
)
def test_number_of_positives(n_samples, prevalence, n_positives):
    assert make_uniform_scores(0.8, n_samples, prevalence).n_positives == n_positives
