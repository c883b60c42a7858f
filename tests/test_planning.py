"""Numbers of rows, compared with formulas, simulated normal AUCs, and the planned tests."""

import math

import numpy as np
import pytest
from oracles import hull
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold

from skfedauc import GroupAUC, cross_validate_group_auc, rows_needed
from skfedauc.datasets import make_group_scores
from skfedauc.planning import binormal_moments

PLANS = {
    "width": {"width": 0.08},
    "difference": {"difference": 0.06},
    "ten groups": {"difference": 0.06, "n_groups": 10},
    "equivalence": {"equivalence": 0.08, "n_groups": 3},
    "non_inferiority": {"non_inferiority": 0.05, "n_groups": 4},
}
each_plan = pytest.mark.parametrize("target", PLANS.values(), ids=PLANS)


def variance(auc, m, n, ratio=1.0):
    _, same_negative, same_positive = binormal_moments(auc, ratio)
    return (auc * (1 - auc) + (m - 1) * same_negative + (n - 1) * same_positive) / (m * n)


def test_moments_of_pilot_rows_give_the_shared_variance():
    devices = make_group_scores("different", [30, 20, 10, 5], [40, 90, 20, 9], random_state=0)
    report = GroupAUC.from_predictions(devices.y_true, devices.y_score, groups=devices.groups)
    variances = report._estimates.variances
    found = [
        variances.shared_moments.variance(m, n)
        for m, n in zip(variances.positives.n, variances.negatives.n, strict=True)
    ]
    assert found == pytest.approx(variances.shared, rel=1e-12)


def reach(auc, m, n, z, ratio=1.0):
    low, high = hull(auc, variance(auc, m, n, ratio), m, n, z)
    return auc - low, high - auc


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("prevalence", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("auc", [0.6, 0.9])
def test_the_interval_has_the_width(auc, prevalence, ratio):
    z = stats.norm.ppf(0.975)
    plan = rows_needed(auc, width=0.07, prevalence=prevalence, sd_ratio=ratio)
    assert sum(reach(auc, plan.n_positives, plan.n_negatives, z, ratio)) <= 0.07
    fewer = 0.98 * plan.n_rows
    assert sum(reach(auc, fewer * prevalence, fewer * (1 - prevalence), z, ratio)) > 0.07
    assert plan.reached <= 0.07


def observed_auc(auc, m, n):
    """Return the Beta distribution with the mean and the variance of the observed AUC."""
    total = auc * (1 - auc) / variance(auc, m, n) - 1
    return stats.beta(auc * total, (1 - auc) * total)


def power_at(n_rows, **settings):
    return rows_needed(0.8, **settings).curve([n_rows])["power"].iloc[0]


Z = np.linspace(-5, 5, 41)


def mean_over(function, values):
    """Return the mean of a function of a variable with these values at normal quantiles Z."""
    weights = stats.norm.pdf(Z)
    return np.average([function(value) for value in values], weights=weights)


@pytest.mark.parametrize(("n_groups", "deviate"), [(2, 1.959964), (10, 3.163684)])
def test_power_of_difference(n_groups, deviate):
    """The second quantile is that of the studentized range in tables, 4.474, by sqrt(2)."""
    m, n = 200, 800
    others, lowest = observed_auc(0.8, m, n), observed_auc(0.73, m, n)

    def detects(low):
        def excess(high):
            return (
                high - low - math.hypot(reach(high, m, n, deviate)[0], reach(low, m, n, deviate)[1])
            )

        return 1 - others.cdf(optimize.brentq(excess, low, 0.999)) ** (n_groups - 1)

    expected = mean_over(detects, lowest.ppf(stats.norm.cdf(Z)))
    found = power_at(m + n, difference=0.07, prevalence=0.2, n_groups=n_groups)
    assert found == pytest.approx(expected, abs=1e-4)
    assert 0.1 < found < 0.9


@pytest.mark.parametrize("n_groups", [2, 100])
def test_power_of_equivalence(n_groups):
    m, n, margin, deviate = 600, 1_400, 0.08, stats.norm.ppf(0.95)
    one = observed_auc(0.8, m, n)

    def shows(high):
        def excess(low):
            return (
                margin
                - (high - low)
                - math.hypot(reach(high, m, n, deviate)[1], reach(low, m, n, deviate)[0])
            )

        low = optimize.brentq(excess, high - margin, high) if excess(high) > 0 else high
        return (1 - one.cdf(low) / one.cdf(high)) ** (n_groups - 1)

    expected = mean_over(shows, one.ppf(stats.norm.cdf(Z) ** (1 / n_groups)))
    settings = {"equivalence": margin, "prevalence": 0.3, "n_groups": n_groups}
    assert power_at(m + n, **settings) == pytest.approx(expected, abs=1e-4)
    assert power_at(7, **settings) < 1e-6


@pytest.mark.parametrize("n_groups", [1, 5, 500])
def test_power_of_non_inferiority(n_groups):
    m, n, margin = 150, 350, 0.08
    z = stats.norm.ppf(0.95)
    least = optimize.brentq(lambda x: x - reach(x, m, n, z)[0] - (0.8 - margin), 0.73, 0.99)
    expected = observed_auc(0.8, m, n).sf(least) ** n_groups
    settings = {"non_inferiority": margin, "prevalence": 0.3, "n_groups": n_groups}
    assert power_at(m + n, **settings) == pytest.approx(expected, rel=1e-3, abs=1e-9)
    assert power_at(7, **settings) < 1e-6


@each_plan
@pytest.mark.parametrize("auc", [0.7, 0.95])
def test_the_number_of_rows_is_the_smallest(auc, target):
    plan = rows_needed(auc, prevalence=0.25, **target)
    fewer = plan.curve([0.98 * plan.n_rows]).iloc[0, 0]
    if plan.target == "width":
        assert plan.reached <= plan.value < fewer
    else:
        assert fewer < 0.8 <= plan.reached
        assert plan.reached == pytest.approx(0.8, abs=0.02)


def pilot(m=3_000, n=9_000, auc=0.8, ratio=1.0, n_groups=3):
    rng = np.random.default_rng(0)
    y = np.tile(np.arange(m + n) < m, n_groups)
    scores = rng.normal(size=y.size)
    scores[y] = scores[y] * ratio + stats.norm.ppf(auc) * math.sqrt(1 + ratio**2)
    return y, scores, np.repeat(np.arange(n_groups), m + n)


@each_plan
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_pilot_rows_replace_the_assumptions(target, ratio):
    y, scores, groups = pilot(ratio=ratio)
    report = GroupAUC.from_predictions(y, scores, groups=groups)
    plan = rows_needed(report, **target)
    assert plan.design.scale is not None
    assert plan.auc == report.statistic("within")
    assert plan.design.prevalence == pytest.approx(0.25)
    assert plan.design.n_groups == target.get("n_groups", 3)
    settings = {"n_groups": 3, **target, "prevalence": 0.25, "sd_ratio": ratio}
    known = rows_needed(plan.auc, **settings)
    assert plan.n_rows == pytest.approx(known.n_rows, rel=0.05)
    other = rows_needed(report, **target, prevalence=0.1)
    assert other.design.prevalence == 0.1
    assert other.n_rows > plan.n_rows
    assert "variance of pilot rows" in repr(plan)
    summary = GroupAUC(report.counts.reduced("summary"))
    assert rows_needed(summary, **target).n_rows == pytest.approx(plan.n_rows, abs=1)


def test_pilot_rows_that_do_not_determine_the_variance():
    perfect = GroupAUC.from_predictions([0, 0, 1, 1], [1, 2, 3, 4], groups=[0, 0, 0, 0])
    lacking = GroupAUC.from_predictions(
        [0, 0, 1], [1.5, 2, 3], groups=["a", "b", "c"], undefined="ignore"
    )
    for report in (perfect, lacking):
        with pytest.raises(ValueError, match=r"does not determine the variance .*Pass the AUC"):
            rows_needed(report, width=0.1)
    y, scores, groups = pilot(20, 20)
    weights = np.random.default_rng(0).random(y.size)
    weighted = GroupAUC.from_predictions(y, scores, groups=groups, sample_weight=weights)
    with pytest.raises(ValueError, match=r"weighted rows\. Pass the expected AUC .* multiply"):
        rows_needed(weighted, width=0.1)
    with pytest.raises(ValueError, match=r"sd_ratio must be 1 with a pilot report.*; got 2"):
        rows_needed(GroupAUC.from_predictions(y, scores, groups=groups), width=0.1, sd_ratio=2)


@pytest.mark.parametrize("n_rows", ["a", [[100, 200]], [None], [True]], ids=str)
def test_curves_need_numbers_of_rows(n_rows):
    plan = rows_needed(0.8, width=0.1, prevalence=0.5)
    with pytest.raises(ValueError, match="n_rows must be numbers of at least 4"):
        plan.curve(n_rows)


def test_reports_within_folds_are_refused():
    rng = np.random.default_rng(0)
    y, groups = rng.random(200) < 0.4, np.repeat([0, 1], 100)
    x = rng.normal(size=(200, 1)) + y[:, None]
    repeated = RepeatedStratifiedKFold(n_splits=2, n_repeats=2)
    for cv, message in (
        (2, r"not available within folds; .*folds\[0\].* \(over_folds\)"),
        (repeated, r"several test sets .*\(folds\[0\]\)\.$"),
    ):
        found = cross_validate_group_auc(LogisticRegression(), x, y, groups=groups, cv=cv)
        with pytest.raises(ValueError, match=message):
            rows_needed(found.within_folds, width=0.1)


@each_plan
def test_curves_are_monotone(target):
    plan = rows_needed(0.8, prevalence=0.2, **target)
    curve = plan.curve()
    (name,) = curve.columns
    assert name == ("width" if plan.target == "width" else "power")
    assert len(curve) == 41
    steps = np.diff(curve[name]) * (-1 if name == "width" else 1)
    assert (steps >= 0).all()
    with pytest.raises(
        ValueError, match="n_rows must be numbers of at least 10, so that a group has two"
    ):
        plan.curve([9])
