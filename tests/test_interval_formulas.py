"""The formulas in the notes of `GroupAUC.confidence_intervals`, from all pairs of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import comparisons, delong, hull
from scipy.special import expit, logit
from scipy.stats import norm, t

from skfedauc import GroupAUC

Z = norm.ppf(0.975)


def on_logit_scale(auc, variance, quantile=Z):
    reach = quantile * np.sqrt(variance) / (auc * (1 - auc))
    return expit(logit(auc) + np.array([-reach, reach]))


def furthest(*limits):
    low, high = np.array(limits).T
    return low.min(), high.max()


def check_average(report, by_group, name, share):
    """The limits of an average follow from those of the groups, or are those of its logit."""
    found = report.confidence_intervals(of="statistics", over="rows").loc[name]
    auc, value = by_group["auc"], share @ by_group["auc"]
    below, above = (
        np.sqrt((share**2 * (auc - by_group[end]) ** 2).sum()) for end in ("ci_low", "ci_high")
    )
    expected = furthest(
        on_logit_scale(value, share**2 @ report._estimates.variances.bounded),
        (value - below, value + above),
    )
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(expected, 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_follow_the_formulas_of_the_notes(seed):
    rng = np.random.default_rng(seed)
    # One group has a single positive; some draws have few positives, ties and shifted groups.
    groups = np.repeat(np.arange(4), [30, 60, 3, 200])
    y = (rng.random(groups.size) < (0.5, 0.12)[seed // 2]).astype(int)
    y[:6], y[90:93] = [1, 0, 1, 0, 1, 0], [1, 0, 0]
    score = np.round(y + rng.normal(size=groups.size) + 0.4 * (seed % 2) * groups, 1 + seed)
    report = GroupAUC.from_predictions(y, score, groups=groups)
    positive, negative = score[y == 1], score[y == 0]
    of_positives, of_negatives = groups[y == 1], groups[y == 0]
    by_group = report.confidence_intervals()
    for g in (0, 3):
        wins = comparisons(positive[of_positives == g], negative[of_negatives == g])
        auc, parts = delong(wins, *map(np.ones, wins.shape))
        expected = hull(auc, sum(parts), *wins.shape, Z)
        assert by_group.loc[g, ["ci_low", "ci_high"]].tolist() == pytest.approx(expected, 1e-9)

    share = np.bincount(of_positives) * np.bincount(of_negatives)
    check_average(report, by_group, "within", share / share.sum())
    check_average(report, by_group, "macro", np.full(4, 0.25))

    wins = comparisons(positive, negative)
    v, u = wins.mean(axis=1), wins.mean(axis=0)
    auc, parts = delong(wins, *map(np.ones, wins.shape))
    variance = 0.0
    sides = (v, of_positives), (u, of_negatives)
    for values, names in sides:
        for g in range(4):
            own = values[names == g]
            squares = (own - auc) ** 2 if own.size == 1 else own.size * own.var(ddof=1)
            variance += np.sum(squares) / values.size**2
    over_rows = report.confidence_intervals(of="statistics", over="rows").loc["pooled"]
    both = (hull(auc, of, v.size, u.size, Z) for of in (variance, sum(parts)))
    expected = furthest(*both)
    assert (over_rows["ci_low"], over_rows["ci_high"]) == pytest.approx(expected, 1e-9)
    plain = report.confidence_intervals(of="statistics", over="rows", method="delong")
    assert plain.loc["pooled", "ci_low"] == pytest.approx(auc - Z * np.sqrt(variance), 1e-9)

    deviations, shares = np.zeros(4), np.zeros(4)
    for values, names in sides:
        share = np.bincount(names, minlength=4) / names.size
        sums = np.bincount(names, values - auc, minlength=4) / names.size
        deviations += sums / np.sqrt(1 - 2 * share + (share**2).sum())
        shares += share / 2
    quantile = t.ppf(0.975, max(1 / (shares**2).sum() - 1, 1))
    expected = on_logit_scale(auc, (deviations**2).sum(), quantile)
    over_groups = report.confidence_intervals(of="statistics", over="groups").loc["pooled"]
    assert over_groups[["ci_low", "ci_high"]].tolist() == pytest.approx(expected, 1e-9)


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 3.7])
def test_equal_weights_do_not_change_perfect_separation(weight):
    y = np.repeat([1, 0], [21, 23])
    score, groups = y + np.arange(44) / 100, ["a"] * 44
    expected, found = (
        GroupAUC.from_predictions(y, score, groups=groups, sample_weight=of)
        for of in (None, np.full(44, weight))
    )
    assert found.by_group["auc"].tolist() == pytest.approx([1.0])
    for method in ("logit", "delong", "exact"):
        limits = [r.confidence_intervals(method=method).iloc[0, 1:3] for r in (expected, found)]
        assert_allclose(limits[1].astype(float), limits[0].astype(float), rtol=1e-12)
