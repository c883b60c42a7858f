"""Simulated rows have the AUCs that `population` states."""

import itertools

import numpy as np
import pytest
from oracles import STATISTICS, Case, all_pairs

from skfedauc import GroupAUC
from skfedauc.datasets import make_group_scores, make_uniform_scores

UNEQUAL = [800, 400, 200, 100], [100, 300, 600, 1000]
CASES = ("identical", "same_negatives", "same_positives", "different")


@pytest.mark.parametrize("case", CASES)
def test_rows_have_the_population_values(case):
    """With many rows, all AUCs are within about four standard errors."""
    sizes = [[10 * n for n in counts] for counts in UNEQUAL]
    devices = make_group_scores(case, *sizes, random_state=1)
    report = GroupAUC.from_predictions(devices.y_true, devices.y_score, groups=devices.groups)
    population = devices.population
    for name in {*STATISTICS} - {"tau", "bias_score"}:
        assert report.statistic(name) == pytest.approx(population[name], abs=0.03), name
    assert report.by_group["auc"].to_numpy() == pytest.approx(population["by_group"], abs=0.03)
    assert report.cross_matrix.to_numpy() == pytest.approx(population["cross_matrix"], abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_positives": 0}, ValueError, r"n_positives must be a whole number of at least 1; .* 0"),
        ({"n_positives": [5, 5]}, ValueError, "must be 1 or more for all devices, or 4 such"),
        ({"n_positives": [5, 5, 0, 5]}, ValueError, r"n_positives must be 1 or more .*5, 5, 0, 5"),
        ({"shifts": [1.0]}, ValueError, r"one number .* two or more devices; got \[1\.0\]"),
    ],
)
def test_devices_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        make_group_scores(**{"case": "identical", **arguments})


@pytest.mark.parametrize("auc", [0.5, 0.6, 0.75, 0.8, 0.9, 0.99, 1.0, np.float32(0.7), 1])
@pytest.mark.parametrize(
    ("n_samples", "prevalence"), [(2, 0.5), (20, 0.2), (30, 0.9), (100, 0.05), (999, 0.3)]
)
def test_the_auc_of_a_universe_is_that_of_its_rows(auc, n_samples, prevalence):
    universe = make_uniform_scores(auc, n_samples, prevalence, random_state=0)
    truth = all_pairs(Case(universe.y_true, universe.y_score, [0] * n_samples, None))
    assert universe.auc == pytest.approx(truth.statistics["pooled"], abs=1e-14)
    assert universe.n_positives == universe.y_true.sum()
    assert universe.n_negatives == n_samples - universe.n_positives
    assert isinstance(universe.auc, float)
    # The midpoint of a part is at most half a part away from each score in the part.
    rows = min(universe.n_positives, universe.n_negatives)
    assert abs(universe.auc - auc) <= 0.5 / rows
    if auc in (0.5, 1):
        assert universe.auc == auc


def test_many_rows_have_the_auc_that_was_asked_for():
    for auc, prevalence in itertools.product((0.55, 0.7, 0.8, 0.9, 0.97), (0.01, 0.05, 0.2, 0.5)):
        assert make_uniform_scores(auc, 10_000, prevalence).auc == pytest.approx(auc, abs=2e-5)
