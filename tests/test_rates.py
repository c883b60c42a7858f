"""Limits of rates and of their gaps between groups, compared with statsmodels and binomials."""

import itertools

import numpy as np
import pytest
from oracles import mover
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from skfedauc import FairnessAudit
from skfedauc.audit import QUESTIONS
from skfedauc.audit.answers import answer
from skfedauc.inference import differences
from skfedauc.inference import proportions as limits_of
from skfedauc.inference.differences import AllPairs, difference
from skfedauc.inference.intervals import Limits


def decided(rng, sizes):
    """Labels, predictions and groups; each group has its own rates."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    y, predicted = (rng.random(group.size) < rng.random(len(sizes))[group] for _ in range(2))
    return y.astype(int), predicted.astype(int), group


def audit_of(y, predicted, group, **options):
    scores = np.linspace(0, 1, y.size)
    return FairnessAudit.from_predictions(y, scores, groups=group, y_pred=predicted, **options)


def shares(y, predicted):
    """Numerator and denominator of each rate, by definition."""
    y, predicted = y == 1, predicted == 1
    everyone = np.ones_like(y)
    of_rates = {
        "selection_rate": (predicted, everyone),
        "true_positive_rate": (predicted, y),
        "false_positive_rate": (predicted, ~y),
    }
    return {rate: (int((a & b).sum()), int(b.sum())) for rate, (a, b) in of_rates.items()}


def mover_ratio(one, other):
    """Limits of a ratio as printed by Donner and Zou, from two values and their limits."""
    (a, low_a, high_a), (b, low_b, high_b) = one, other
    ab = a * b
    root = np.sqrt(ab**2 - low_a * high_b * (2 * a - low_a) * (2 * b - high_b))
    low = (ab - root) / (high_b * (2 * b - high_b))
    root = np.sqrt(ab**2 - high_a * low_b * (2 * a - high_a) * (2 * b - low_b))
    return low, (ab + root) / (low_b * (2 * b - low_b))


def ratio_of(one, other):
    """Limits of the ratio between two estimates."""
    with np.errstate(divide="ignore"):
        high = 1.0 / limits_of.lower_limit_of_ratio(other, one)
    return limits_of.lower_limit_of_ratio(one, other), high


def test_ratios_of_any_shares_have_ordered_limits():
    """The published formula is 0 / 0 if an upper limit is twice the share."""
    n = np.array([1.0, 10.0, 1000.0])
    one = limits_of.wilson(*np.broadcast_arrays(np.linspace(0, 1, 11)[:, None], n), 0.025)
    flat = Limits(*(part.ravel() for part in one[:3]))
    rows = flat.take((slice(None), None))
    low, high = ratio_of(rows, flat)
    known = flat.value > 0
    value = rows.value / flat.value[known]
    assert (low[:, known] <= value * (1 + 1e-12)).all()
    assert (high[:, known] >= value * (1 - 1e-12)).all()
    twice = Limits(*map(np.array, (0.2, 0.1, 0.4)))
    near = twice._replace(high=np.array(0.4 + 1e-9))
    one = Limits(*map(np.array, (0.3, 0.2, 0.4)))
    exact, _ = ratio_of(one, twice)
    np.testing.assert_allclose(exact, ratio_of(one, near)[0], rtol=1e-7)
    assert 0 < exact < 1.5


def limits_of_pairs(k, n, alpha, tail):
    """Limits of the largest difference and of the smallest ratio, from all pairs one by one."""
    deviates = (
        differences.deviate_of_all_pairs(alpha, len(k)),
        differences.deviate_of_furthest_pair(tail, len(k)),
    )
    found = []
    for deviate in deviates:
        of_one = 2 * limits_of.tail_of(deviate)
        limits = [
            proportion_confint(*of, alpha=of_one, method="beta") for of in zip(k, n, strict=True)
        ]
        pairs = []
        for i, j in itertools.permutations(range(len(k)), 2):
            one, other = ((k[g] / n[g], *limits[g]) for g in (i, j))
            pairs.append([*mover(one, other), *mover_ratio(one, other)])
        found.append(np.array(pairs))
    together, alone = found
    return (
        (max(together[:, 0].max(), 0), min(alone[:, 1].max(), 1)),
        (alone[:, 2].min(), min(together[:, 3].min(), 1)),
    )


@pytest.mark.parametrize("seed", range(4))
def test_gaps_of_decisions_have_the_limits_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    y, predicted, group = decided(rng, rng.integers(40, 300, 2 + seed))
    sample = audit_of(y, predicted, group, min_per_class=1).samples["group"]
    of_group = [shares(y[group == g], predicted[group == g]) for g in sample.groups]
    odds = []
    for rate, name in (
        ("selection_rate", "demographic_parity"),
        ("true_positive_rate", "true_positive_rate"),
        ("false_positive_rate", "false_positive_rate"),
    ):
        counted = np.array([of[rate] for of in of_group])
        if (counted[:, 0] == 0).any():
            continue
        difference, ratio = limits_of_pairs(*counted.T, 0.05, 0.025)
        found = answer(QUESTIONS[f"{name}_difference"], sample)
        assert [found.ci_low, found.ci_high] == pytest.approx(difference, abs=1e-9)
        if name == "demographic_parity":
            found = answer(QUESTIONS[f"{name}_ratio"], sample)
            assert [found.ci_low, found.ci_high] == pytest.approx(ratio, abs=1e-9)
        else:
            odds.append(difference)
    if len(odds) == 2:
        found = answer(QUESTIONS["equalized_odds_difference"], sample)
        assert [found.ci_low, found.ci_high] == pytest.approx(np.max(odds, axis=0), abs=1e-9)


def test_limits_of_two_groups_fail_as_rarely_as_stated():
    """The oracle adds up the probabilities of all numbers of events for which a limit fails."""
    for n_rows in ((10, 10), (10, 400), (40, 40)):
        n = np.array(n_rows, float)
        k, other = (np.arange(size + 1) for size in n_rows)
        one = limits_of.clopper_pearson(k / n[0], n[0], 0.05)
        two = limits_of.clopper_pearson(other / n[1], n[1], 0.05)
        rows = one.take((slice(None), None))
        apart = difference(rows, two)[1:3]
        ratio = ratio_of(rows, two)
        for p, q in itertools.product((0.003, 0.02, 0.1, 0.4, 0.6), (0.02, 0.1, 0.3, 0.6)):
            probability = binom.pmf(k, n[0], p)[:, None] * binom.pmf(other, n[1], q)
            for (low, high), true in ((apart, p - q), (ratio, p / q)):
                assert probability[low > true + 1e-12].sum() <= 0.0501
                assert probability[high < true - 1e-12].sum() <= 0.0501


def test_gaps_of_very_many_groups_have_wider_limits(monkeypatch):
    rng = np.random.default_rng(0)
    n_rows = rng.integers(20, 200, 300).astype(float)
    values = rng.binomial(n_rows.astype(int), 0.3) / n_rows
    estimates = limits_of.estimates_of_shares(values, n_rows)
    pairs = AllPairs(estimates, n_rows.size)
    functions = AllPairs.largest, limits_of.limits_of_ratio
    exact = [f(pairs, 0.05) for f in functions]
    monkeypatch.setattr(limits_of, "MOST_GROUPS", 299)
    monkeypatch.setattr(differences, "MOST_GROUPS", 299)
    for near, function in zip(exact, functions, strict=True):
        low, high = function(pairs, 0.05)
        assert low <= near[0]
        assert near[1] <= high
        assert high - low < 2 * (near[1] - near[0])


def test_limits_of_shares_are_known_for_the_smallest_tails():
    n_trials = np.arange(2, 60)
    for tail in (1e-100, 1e-200, 1e-300):
        low = limits_of.lower_limit(2.0, n_trials, tail)
        assert ((low >= 0.0) & (low <= 2.0 / n_trials)).all()


@pytest.mark.parametrize("seed", [32, 36, 195, 244, 305])
def test_p_values_of_correlated_shares_agree_with_limits(seed):
    """Clusters with equal events in all groups give correlations up to 1."""
    rng = np.random.default_rng(seed)
    k, c = int(rng.integers(2, 4)), int(rng.integers(3, 25))
    rows = rng.integers(1, 6, (k, c)).astype(float)
    if rng.random() < 0.3:
        rows *= rng.lognormal(0, 1, (k, c))
    base = rng.random(c) < rng.choice([0.1, 0.3, 0.5, 0.8])
    other = rng.random((k, c)) < rng.choice([0, 0.05, 0.3, 1])
    events = np.where(other, rng.random((k, c)) < 0.5, base)
    group, cluster = np.divmod(np.arange(k * c), c)
    weights = rows.ravel()
    sums = limits_of.ClusterSums(group, cluster, k, c, events.ravel() * weights, weights, weights)
    estimates = limits_of.estimates_of_shares(sums.value, sums.shares)
    pairs = AllPairs(estimates, k, sums.correlation)
    pvalue, _ = pairs.test()
    assert pvalue > 1e-9
    for alpha in (0.5, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-6):
        least, most = pairs.largest(alpha)
        low, high = limits_of.limits_of_ratio(pairs, alpha)
        assert (pvalue < alpha) == (least > 0) == (high < 1)
        assert least <= np.ptp(sums.value) <= most
        assert low <= sums.value.min() / sums.value.max() <= high
