"""Tests and confidence limits of xAUC disparities."""

import numpy as np
import pytest
from oracles import comparisons, delong
from scipy.stats import norm

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.inference.cross_gap import cross_gaps


def rows_of(seed, weighted=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 250))
    y, group = rng.integers(0, 2, n), rng.integers(0, 3, n)
    score = (rng.normal(size=n) + y + 0.3 * group).round(seed % 3)
    return y, score, group, rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)


def error_by_hand(y, score, group, weight, g):
    mine, positive = group == g, y == 1
    sides = [(mine & positive, ~mine & ~positive), (~mine & positive, mine & ~positive)]
    one, other = (delong(comparisons(score[p], score[n]), weight[p], weight[n]) for p, n in sides)
    alike = 0.0
    for rows, others in ((positive, ~positive), (~positive, positive)):
        wins = comparisons(score[rows], score[others])
        placement, w = wins @ weight[others] / weight[others].sum(), weight[rows]
        deviations = placement - np.average(placement, weights=w)
        effective = w.sum() ** 2 / (w**2).sum()
        of_row = (w**2 * deviations**2).sum() / (w.sum() ** 2 - (w**2).sum()) * effective
        for part in (rows & mine, rows & ~mine):
            alike += of_row * (weight[part] ** 2).sum() / weight[part].sum() ** 2
    return one[0] - other[0], np.sqrt(max(sum(one[1] + other[1]), alike))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_errors_by_hand(seed, weighted):
    y, score, group, weight = rows_of(seed, weighted)
    given = weight if weighted else None
    counts = ScoreCounts.from_predictions(y, score, groups=group, sample_weight=given)
    found = cross_gaps(counts)
    by_hand = np.array([error_by_hand(y, score, group, weight, g) for g in range(3)])
    np.testing.assert_allclose(found.disparity, by_hand[:, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.error, by_hand[:, 1], rtol=1e-9)
    bias = GroupAUC(counts).bias_by_group["xauc_disparity"]
    np.testing.assert_allclose(found.disparity, bias, rtol=0, atol=1e-12)
    low, high = found.limits(0.9)
    reach = norm.isf(0.05 / 3) * by_hand[:, 1]
    np.testing.assert_allclose(low, np.maximum(by_hand[:, 0] - reach, -1), atol=1e-9)
    np.testing.assert_allclose(high, np.minimum(by_hand[:, 0] + reach, 1), atol=1e-9)
    pvalues = 2 * norm.sf(np.abs(by_hand[:, 0]) / by_hand[:, 1])
    np.testing.assert_allclose(found.pvalue, pvalues, rtol=1e-6)


def test_disparities_near_perfect_separation_cover():
    rng, held = np.random.default_rng(0), []
    y, groups = np.tile([0, 1], 100), np.repeat(["a", "b"], 100)
    for _ in range(200):
        is_low = (y == 1) & (groups == "a") & (rng.random(200) < 0.02)
        score = np.where(is_low, -1.0, 10.0 * y) + rng.random(200)
        report = GroupAUC.from_predictions(y, score, groups=groups)
        low, high = cross_gaps(report.counts).limits(0.95, are_simultaneous=False)
        held.append(low[0] <= -0.02 <= high[0])
    assert np.mean(held) > 0.93
