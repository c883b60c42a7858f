"""Tests with a margin against limits computed from all pairs of rows."""

import math

import numpy as np
import pytest
from oracles import comparisons, delong, hull
from scipy import optimize, stats

from skfedauc import GroupAUC

LEVELS = (0.8, 0.9, 0.95, 0.99)


def rows_of(seed=0, sizes=((12, 30), (20, 25), (9, 40)), shift=(1.0, 1.4, 0.8)):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(m + n) < m for m, n in sizes])
    groups = np.repeat(list("abcdefgh")[: len(sizes)], [m + n for m, n in sizes])
    scores = rng.normal(size=y.size) + np.repeat(shift, [m + n for m, n in sizes]) * y
    return y, scores.round(1), groups


def aucs_and_variances(y, scores, groups):
    """Return AUC, DeLong's variance and class counts of each group, from all pairs."""
    found = []
    for group in np.unique(groups):
        own = groups == group
        h = comparisons(scores[own & y], scores[own & ~y])
        _, parts = delong(h, *map(np.ones, h.shape))
        found.append((h.mean(), sum(parts), *h.shape))
    return found


def lowest_limit(groups, z):
    return min(hull(*group, z)[0] for group in groups)


def largest_limit(groups, z):
    """Return the largest upper limit of the difference of a pair of groups."""
    return max(
        a[0] - b[0] + math.hypot(hull(*a, z)[1] - a[0], b[0] - hull(*b, z)[0])
        for a in groups
        for b in groups
        if a is not b
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_limit_and_p_value_of_the_worst(seed, level):
    case = rows_of(seed)
    groups = aucs_and_variances(*case)
    report = GroupAUC.from_predictions(*case[:2], groups=case[2])
    test = report.test_margin(0.15, reference=0.7, confidence_level=level)
    expected = lowest_limit(groups, stats.norm.ppf(level))
    assert test.limit == pytest.approx(expected, abs=1e-9)
    assert test.bound == pytest.approx(0.55)
    assert test.estimate == report.worst == min(group[0] for group in groups)
    assert test.is_shown == (expected > 0.55) == (test.pvalue < 1 - level)
    z = optimize.brentq(lambda z: lowest_limit(groups, z) - 0.55, 0, 10)
    assert test.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-6)


def test_worst_auc_below_the_bound_has_a_large_p_value():
    case = rows_of(0)
    report = GroupAUC.from_predictions(*case[:2], groups=case[2])
    above = report.test_margin(0.0, reference=report.worst + 0.05)
    assert not above.is_shown
    assert above.pvalue > 0.5
    # For a single group the test in the other direction has the complementary p value.
    y, scores, groups = rows_of(0, ((30, 60),), (1.0,))
    one = GroupAUC.from_predictions(y, scores, groups=groups)
    (group,) = aucs_and_variances(y, scores, groups)
    bound = one.worst + 0.05
    z = optimize.brentq(lambda z: hull(*group, z)[1] - bound, 0, 10)
    assert one.test_margin(0.0, reference=bound).pvalue == pytest.approx(
        stats.norm.cdf(z), rel=1e-6
    )


def test_perfect_separation_uses_the_exact_limit():
    y, scores = np.arange(20) < 8, np.r_[np.full(8, 5.0), np.arange(12) / 20]
    report = GroupAUC.from_predictions(y, scores, groups=np.zeros(20, int))
    test = report.test_margin(0.0, reference=0.6)
    assert test.limit == pytest.approx(0.05 ** (1 / 8))
    assert test.pvalue == pytest.approx(0.6**8, rel=1e-9)
    # The exact limit also holds for error rates above one half.
    assert report.test_margin(0.0, reference=0.99).pvalue == pytest.approx(0.99**8, rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_limit_and_p_value_of_equivalence(seed, level):
    case = rows_of(seed)
    groups = aucs_and_variances(*case)
    report = GroupAUC.from_predictions(*case[:2], groups=case[2])
    test = report.test_margin(0.35, confidence_level=level)
    expected = largest_limit(groups, stats.norm.ppf(level))
    assert test.limit == pytest.approx(min(expected, 1), abs=1e-9)
    assert test.is_shown == (expected < 0.35) == (test.pvalue < 1 - level)
    z = optimize.brentq(lambda z: largest_limit(groups, z) - 0.35, 0, 10)
    assert test.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-6)


@pytest.mark.parametrize("margin", [0.01, 0.1])
def test_equivalence_of_two_perfect_groups_uses_the_exact_limit(margin):
    y, groups = np.tile(np.arange(20) < 8, 2), np.repeat([0, 1], 20)
    report = GroupAUC.from_predictions(y, 5.0 * y, groups=groups)
    assert report.test_margin(margin).pvalue == pytest.approx((1 - margin) ** 8, rel=1e-9)


def test_too_few_groups_show_nothing():
    one = GroupAUC.from_predictions(
        [0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], groups=["a", "a", "b", "b"], undefined="ignore"
    )
    test = one.test_margin(0.1)
    assert not test.is_shown
    assert np.isnan([test.pvalue, test.limit, test.estimate]).all()
    assert test.groups == ()
    none = GroupAUC(one._estimates.pairs, min_per_class=5)
    assert np.isnan(none.test_margin(0.0, reference=0.7).pvalue)
    assert repr(none.test_margin(0.0, reference=0.7)).endswith(
        "no result, too few groups have both classes): 0 groups"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"margin": 0.0, "reference": 80},
            r"reference must be a number between 0 and 1; got 80\. Pass 0\.8 for 80 %\.",
        ),
        ({"reference": 0.8, "margin": -0.1}, r"margin must be .*; got -0\.1"),
        ({"reference": 0.8, "margin": 0.8}, r"at least 0 and below 0\.8; got 0\.8\. All"),
        ({"margin": 0}, r"margin must be a number between 0 and 1; got 0"),
    ],
)
def test_arguments_that_cannot_be(arguments, message):
    report = GroupAUC.from_predictions(*rows_of()[:2], groups=rows_of()[2])
    with pytest.raises(ValueError, match=message):
        report.test_margin(**arguments)
