"""Variances, intervals and tests against reference values, brute force and other packages."""

import dataclasses
import itertools
import warnings

import golden
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from oracles import (
    comparisons,
    general_hull,
    hull,
    mover,
    placements,
    restricted_deviance,
    shared_variances,
)
from scipy import optimize, stats
from sklearn.exceptions import UndefinedMetricWarning
from statsmodels.stats.nonparametric import rank_compare_2indep

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.inference import agreement, differences, heterogeneity, intervals, ranking, variances
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.inference.quantiles import (
    OverGroups,
    _quantile_over_groups,
    studentized_range_quantile,
    studentized_range_tail,
    variance_over_groups,
)
from skfedauc.inference.variances import strata_of
from skfedauc.pairs import ranks_among_all
from skfedauc.report.group_auc import null_difference_of
from skfedauc.report.statistics import AVERAGES, squared_tau

# Reference values of pROC 1.18.0 and metafor 3.8.1, on 20 rows.
Y = np.repeat([0, 1], [11, 9])
S1 = [0.1, 0.2, 0.2, 0.3, 0.35, 0.4, 0.4, 0.5, 0.55, 0.6, 0.7]
S1 += [0.3, 0.45, 0.5, 0.6, 0.65, 0.7, 0.8, 0.85, 0.9]
S2 = [0.3, 0.1, 0.25, 0.5, 0.2, 0.45, 0.6, 0.35, 0.7, 0.4, 0.65]
S2 += [0.55, 0.35, 0.5, 0.4, 0.75, 0.6, 0.8, 0.45, 0.95]
WEIGHTS = [1, 2, 1, 3, 1, 2, 2, 1, 1, 3, 1, 2, 1, 1, 2, 3, 1, 1, 2, 1]
CLUSTERS = list("aabbccddeefaabcddeff")
GROUPS = list("aaaabbbbcccaaabbbccc")
S1_VARIANCE, S2_VARIANCE = 0.00950923375165799, 0.0127078869503112
METHODS = ("logit", "delong", "exact")


def report_of(y, scores, groups=None, weights=None, **options):
    counts = ScoreCounts.from_predictions(y, scores, groups=groups, sample_weight=weights)
    return GroupAUC(counts, **options)


def variances_of(*arguments, **named):
    return report_of(*arguments, **named)._estimates.variances


def simulated(seed, n_groups=6, decimals=1, weighted=False, n=200):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    scores = (rng.normal(size=n) + y).round(decimals)
    groups = rng.integers(0, n_groups, n)
    weights = rng.uniform(0.5, 3.0, n) if weighted else None
    return y, scores, groups, weights


@pytest.mark.parametrize(("scores", "expected"), [(S1, S1_VARIANCE), (S2, S2_VARIANCE)])
def test_delong_equals_proc(scores, expected):
    assert_allclose(variances_of(Y, scores).delong, [expected], rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_delong_and_degrees_of_freedom_equal_statsmodels(seed):
    y, scores, groups, _ = simulated(seed, decimals=1 + seed % 3)
    found = variances_of(y, scores, groups)
    for g in range(6):
        mine = groups == g
        theirs = rank_compare_2indep(scores[mine & y], scores[mine & ~y])
        assert found.auc[g] == pytest.approx(theirs.prob1, rel=1e-12)
        assert found.delong[g] == pytest.approx(theirs.var_prob, rel=1e-10)
        assert found.degrees_of_freedom[g] == pytest.approx(theirs.df, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_variance_of_pooled_less_average_equals_sums_over_rows(seed, weighted):
    y, scores, groups, weights = simulated(seed, weighted=weighted)
    report = report_of(y, scores, groups, weights)
    w = np.ones(y.size) if weights is None else weights
    share = np.random.default_rng(seed).dirichlet(np.ones(6))
    sums = {"difference": 0.0, "pooled": 0.0}
    pooled, own = placements(y, scores, w), placements(y, scores, w, np.equal.outer(groups, groups))
    for mine in (y, ~y):
        for g in range(6):
            rows = mine & (groups == g)
            lost = w[rows].sum() ** 2 / (w[rows].sum() ** 2 - (w[rows] ** 2).sum())
            for which, influence in (
                ("difference", pooled[rows] / w[mine].sum() - share[g] * own[rows] / w[rows].sum()),
                ("pooled", pooled[rows] / w[mine].sum()),
            ):
                centred = influence - np.average(influence, weights=w[rows])
                sums[which] += lost * (w[rows] ** 2 * centred**2).sum()
    counts = report.counts
    own = view_of(counts).own_moments
    found = agreement.of_difference(strata_of(counts), report._estimates.variances, own, share)
    assert found == pytest.approx(sums["difference"], rel=1e-10)
    assert report._estimates.pooled.fixed == pytest.approx(sums["pooled"], rel=1e-10)


def without_variation(sizes, is_perfect, weighted):
    """Return a report of groups with constant scores, or with perfect separation at six scores."""
    n_rows = np.array(sizes).T
    y = np.repeat([True, False], n_rows.sum(axis=1))
    groups = np.concatenate([np.repeat(np.arange(len(sizes)), n) for n in n_rows])
    rng = np.random.default_rng(0)
    return report_of(
        y,
        y + 0.1 * rng.integers(0, 3, y.size) if is_perfect else np.full(y.size, 0.3),
        groups,
        weights=rng.uniform(0.1, 1.1, y.size) if weighted else None,
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_perfect", [False, True])
def test_equal_placement_values_have_no_variance(is_perfect, weighted):
    step = 2 if is_perfect or weighted else 1
    sizes = list(itertools.product(range(2, 131, step), repeat=2))
    report = without_variation(sizes, is_perfect, weighted)
    found, pooled = report._estimates.variances, report._estimates.pooled
    kept = found.estimable
    assert kept.mean() > 0.95
    for variance in (found.delong, found.unbiased, found.shared):
        assert (variance[kept] == 0).all()
    assert (found.bounded > 1e-8).all()
    assert (pooled.rows.delong, pooled.fixed, pooled.random) == (0, 0, 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_perfect", [False, True])
def test_intervals_without_variation_are_bounded(is_perfect, weighted):
    # Rounding error gives placement values in groups of these sizes a variance above 0.
    report = without_variation([(48, 49), (10, 12), (49, 98)], is_perfect, weighted)
    tables = [report.confidence_intervals(method=method) for method in ("logit", "delong")]
    for over in ("rows", "groups"):
        table = report.confidence_intervals(of="statistics", over=over)
        tables.append(table.loc[["pooled", *AVERAGES]])
    for table in tables:
        assert (table.ci_high - table.ci_low > 1e-3).all()
        assert table.note.str.contains("bounded|perfect").all()


def test_one_discordant_pair_is_variation():
    m, n = 100_000, 50_000
    y = np.repeat([True, False], [m, n])
    scores = y.astype(float) + 0.1
    scores[0] = 0.05
    scores[m:-1] = 0.01
    found = report_of(y, scores)._estimates.variances
    # One positive's placement value is below 1 by 1 / n, and one negative's by 1 / m.
    expected = 1 / (m * n**2 * m) + 1 / (n * m**2 * n)
    assert found.delong[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_odd_groups_have_an_interval_or_a_reason(method):
    y = [1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0]
    s = [2, 1, 3, 4, 1, 2, 2, 1, 1, 1, 1, 1, 9, 1]
    g = ["one positive"] * 4 + ["one negative"] * 3 + ["all tied"] * 4
    g += ["only negatives"] + ["one pair"] * 2
    report = report_of(y, s, g, undefined="ignore")
    table = report.confidence_intervals(method=method)
    for label, row in table.iterrows():
        if label == "only negatives":
            assert np.isnan([row.auc, row.ci_low, row.ci_high]).all()
            assert row.note == "no positives"
        else:
            assert 0 <= row.ci_low <= row.auc <= row.ci_high <= 1
            assert row.ci_high - row.ci_low > 0.1
            if method != "exact":
                assert row.note
    statistics = report.confidence_intervals(method=method, of="statistics")
    assert statistics[["ci_low", "ci_high"]].notna().all(axis=None)
    assert (statistics["ci_low"] <= statistics["value"]).all()
    assert (statistics["value"] <= statistics["ci_high"]).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("over", ["rows", "groups"])
def test_intervals_hold_their_estimate_and_grow_with_the_level(over, method, weighted):
    for seed in range(2):
        report = report_of(*simulated(seed, weighted=weighted))
        narrow, wide = (
            report.confidence_intervals(
                confidence_level=confidence_level, method=method, of="statistics", over=over
            )
            for confidence_level in (0.5, 0.99)
        )
        known = narrow["ci_low"].notna()
        assert known.all() or (method == "exact" and over == "groups")
        for table in (narrow, wide):
            assert (table["ci_low"] <= table["value"] + 1e-12)[known].all()
            assert (table["ci_high"] >= table["value"] - 1e-12)[known].all()
        assert (wide["ci_low"] <= narrow["ci_low"] + 1e-12)[known].all()
        assert (wide["ci_high"] >= narrow["ci_high"] - 1e-12)[known].all()
        assert narrow.loc[~known, "note"].str.len().gt(0).all()
        named = wide.loc[["pooled", "macro"], "estimand"].unique().tolist()
        assert named == ["new groups like these" if over == "groups" else "these groups, new rows"]


def test_variance_over_groups_is_unbiased():
    rng, n_groups = np.random.default_rng(0), 7
    values = rng.normal(0.8, 0.05, n_groups)
    for share in (np.full(n_groups, 1 / 7), rng.dirichlet(np.ones(n_groups))):
        # Quadratic form: the deviations are M @ values, and the variance is values @ K @ values.
        m = np.eye(n_groups) - share
        k = m.T @ np.diag(share**2 / np.diag(m @ m.T)) @ m
        assert variance_over_groups(values, share) == pytest.approx(values @ k @ values, rel=1e-10)
        assert np.trace(k) == pytest.approx((share**2).sum(), rel=1e-12)
    equal = variance_over_groups(values, np.full(n_groups, 1 / 7))
    assert equal == pytest.approx(values.var(ddof=1) / n_groups, rel=1e-10)


@pytest.mark.parametrize("n_groups", [3, 10, 30])
@pytest.mark.parametrize("shape", ["zipf", "dominated", "nearly equal"])
def test_the_statistic_over_groups_has_its_simulated_distribution(n_groups, shape):
    share = {
        "zipf": 1 / np.arange(1.0, n_groups + 1),
        "dominated": np.r_[0.6, np.full(n_groups - 1, 0.4 / (n_groups - 1))],
        "nearly equal": 1 + 1e-5 * np.arange(n_groups),
    }[shape]
    share = share / share.sum()
    null = OverGroups(share)
    values = np.random.default_rng(1).normal(size=(30_000, n_groups))
    mean = values @ share
    weight = share**2 / (1 - 2 * share + (share**2).sum())
    statistics = np.abs(mean) / np.sqrt((values - mean[:, None]) ** 2 @ weight)
    for tail in (0.25, 0.05, 0.025, 0.005):
        quantile = null.quantile(tail)
        assert null.tail(quantile) == pytest.approx(tail, rel=1e-6)
        seen = (statistics > quantile).mean()
        # Standard errors of this simulation, and of the draws of `OverGroups`
        allowed = 4 * np.sqrt(2 * tail / 30_000) + 0.03 * 2 * tail
        assert seen == pytest.approx(2 * tail, abs=allowed)
        if shape == "nearly equal":
            assert quantile == pytest.approx(stats.t.isf(tail, n_groups - 1), rel=0.03)
    assert null.tail(0.0) == 0.5
    tails = [null.tail(x) for x in np.linspace(0, 30, 60)]
    assert (np.diff(tails) <= 1e-12).all()
    assert min(tails) > 0
    assert OverGroups(share.copy()).quantile(0.025) == null.quantile(0.025)


@pytest.mark.parametrize("shape", ["linear", "one large", "two sizes"])
def test_many_groups_have_a_scaled_t_distribution(shape):
    share = {
        "linear": 1 + np.arange(200.0) / 100,
        "one large": np.r_[3.0, np.full(1000, 1.0)],
        "two sizes": np.r_[np.full(80, 3.0), np.full(800, 1.0)],
    }[shape]
    null = OverGroups(share / share.sum())
    assert null._student is not None
    for tail in (0.25, 0.025, 0.005):
        # The draws err by 0.05 %. Normal quantiles are up to 1.1 % too small.
        drawn = _quantile_over_groups(null.share.tobytes(), tail)
        assert null.quantile(tail) == pytest.approx(drawn, rel=1.5e-3)
        assert null.tail(drawn) == pytest.approx(tail, rel=1e-2)
    assert OverGroups(np.r_[0.6, np.full(1000, 0.4 / 1000)])._student is None


@pytest.mark.parametrize("method", METHODS)
def test_with_one_group_all_statistics_have_the_limits_of_the_group(method):
    rng = np.random.default_rng(0)
    y = np.arange(60) < 6
    for scores in (rng.normal(size=60) + 2 * y, rng.normal(size=60) + 9 * y, np.ones(60)):
        for sample_weight, clusters in ((None, None), (rng.exponential(size=60), None),
                                        (None, np.arange(60) // 3)):  # fmt: skip
            rows = {"groups": ["a"] * 60, "sample_weight": sample_weight, "clusters": clusters}
            report = GroupAUC.from_predictions(y, scores, **rows)
            if method == "exact" and clusters is not None:
                continue
            of_group = report.confidence_intervals(method=method).iloc[0]
            table = report.confidence_intervals(of="statistics", method=method)
            for name in set(table.index) - {"difference"}:
                assert table.loc[name, "ci_low"] == pytest.approx(of_group["ci_low"], abs=1e-12)
                assert table.loc[name, "ci_high"] == pytest.approx(of_group["ci_high"], abs=1e-12)


def test_newcombes_limits_are_found_anywhere():
    rng, n = np.random.default_rng(0), 20_000
    auc = np.r_[rng.random(n - 5), 0.0, 1.0, 1e-9, 1 - 1e-9, 0.5]
    positives, negatives = np.exp(rng.uniform(0, 10, (2, n)))
    deviate = np.exp(rng.uniform(-3, 3.6, n))
    once = 1 / (positives * negatives)
    often = once * ((positives + negatives) / 2 - 1)
    spread = intervals.AUCSpread(auc, auc, positives, once, often)
    for end in (0.0, 1.0):
        near, far = auc.copy(), np.full(n, end)
        for _ in range(70):
            middle = (near + far) / 2
            ratio = (1 - middle) / (2 - middle) + middle / (1 + middle)
            variance = middle * (1 - middle) * (once + often * ratio)
            inside = (middle - auc) ** 2 <= deviate**2 * variance
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        assert_allclose(spread._newcombe(end, deviate), far, rtol=0, atol=1e-14)


def test_groups_that_are_alike_have_the_results_of_each(monkeypatch):
    rng, n = np.random.default_rng(0), 1_200
    y, scores, groups = rng.random(n) < 0.4, rng.integers(0, 4, n), rng.integers(0, 200, n)

    def tables():
        report = report_of(y, scores, groups, undefined="ignore")
        yield report.confidence_intervals()
        yield report.confidence_intervals(of="statistics")
        yield report.ranking()

    monkeypatch.setattr(intervals, "_BLOCK", 16)
    found = list(tables())
    for module in (variances, ranking):
        monkeypatch.setattr(module, "numbered", lambda *columns: np.arange(columns[0].size))
    for table, expected in zip(found, tables(), strict=True):
        pd.testing.assert_frame_equal(table, expected, rtol=1e-12)


@pytest.mark.parametrize("n_groups", [2, 3, 10, 50, 500, 2000])
def test_the_studentized_range_equals_scipy(n_groups):
    values = np.array([0.0, 0.5, 2.0, 3.5, 5.0])
    assert_allclose(
        studentized_range_tail(values, n_groups),
        stats.studentized_range.sf(values, n_groups, np.inf),
        rtol=1e-9,
    )
    # The tail probability of a large range is nearly the sum of the tail probabilities of all
    # pairs.
    pairs = n_groups * (n_groups - 1)
    assert studentized_range_tail(40.0, n_groups) == pytest.approx(
        pairs * stats.norm.sf(40 / np.sqrt(2)), rel=1e-9
    )
    quantile = studentized_range_quantile(0.01, n_groups)
    assert studentized_range_tail(quantile, n_groups) == pytest.approx(0.01, rel=1e-11)


def limits_of_pair(v, one, other, deviate):
    """Return the limits of the difference of two groups at a normal quantile."""
    both = (
        (v.auc[g], *hull(v.auc[g], v.delong[g], v.positives.n[g], v.negatives.n[g], deviate))
        for g in (one, other)
    )
    return mover(*both)


def pair_deviate(v, first, second):
    """Return the normal quantile at which the interval of a difference ends at 0."""
    if v.auc[first] < v.auc[second]:
        first, second = second, first
    return optimize.brentq(lambda d: limits_of_pair(v, first, second, d)[0], 0, 20, xtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_of_the_difference_leaves_out_0_exactly_where_p_is_small(weighted):
    seen = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y, scores, groups, weights = simulated(
            seed, n_groups=2 + seed % 5, n=400, weighted=weighted
        )
        scores = np.round(scores + 0.8 * y * rng.normal(size=7)[groups], seed % 3)
        report = report_of(y, scores, groups, weights, undefined="ignore")
        test = report.test_difference()
        assert test.estimate == np.ptp(report.by_group["auc"].dropna())
        seen.add(test.pvalue < 0.05)
        assert (test.ci_low > 0) == (test.pvalue < 0.05)
        # At the level that equals the p value, the interval ends at 0.
        if 1e-8 < test.pvalue < 0.999:
            inside, outside = (
                report.test_difference(confidence_level=1 - test.pvalue * factor)
                for factor in (1 - 1e-6, 1 + 1e-6)
            )
            assert inside.ci_low == 0.0
            assert outside.ci_low > 0.0
        pairs = report.compare_groups()
        if pairs["pvalue"].notna().all():
            smallest = pairs["pvalue_adjusted"].min()
            assert test.pvalue == pytest.approx(smallest, rel=1e-9, abs=1e-300)
            # The limits are limits of pairs: simultaneous towards 0, and of one pair away from 0.
            least = max(pairs["simultaneous_low"].max(), -pairs["simultaneous_high"].min(), 0.0)
            most = max(pairs["ci_high"].max(), -pairs["ci_low"].min())
            assert (test.ci_low, test.ci_high) == pytest.approx((least, min(most, 1.0)), abs=1e-12)
            margin = report.test_margin(0.1, confidence_level=0.975)
            assert margin.ci_high == pytest.approx(test.ci_high, abs=1e-12)
        row = report.confidence_intervals(of="statistics").loc["difference"]
        found = test.estimate, test.ci_low, test.ci_high
        assert (row["value"], row["ci_low"], row["ci_high"]) == found
        auc = report.by_group["auc"]
        assert (test.highest, test.lowest) == (auc.idxmax(), auc.idxmin())
    assert seen == {True, False}


def test_the_difference_of_very_many_groups_compares_limits():
    report = report_of(
        *simulated(5, n_groups=differences.MOST_GROUPS + 1, n=80_000), undefined="ignore"
    )
    test, n_groups = report.test_difference(), report.n_groups - report._estimates.pairs.n_undefined
    assert n_groups > differences.MOST_GROUPS
    assert test.method == "Bonferroni limits of all groups"
    table = report.confidence_intervals(confidence_level=1 - 0.05 / n_groups)
    assert test.ci_low == max(table["ci_low"].max() - table["ci_high"].min(), 0.0)
    assert (test.ci_low > 0) == (test.pvalue < 0.05)


def test_statistics_that_cannot_be_are_nan_with_a_reason():
    one = report_of([0, 1, 0, 1], [1, 2, 3, 4], list("aaaa"))
    table = one.confidence_intervals(of="statistics")
    assert np.isnan(table.loc["difference", "ci_low"])
    assert table.loc["difference", "note"] == "needs two groups with both classes"
    none = report_of([0, 0, 1, 1], [1, 2, 3, 4], list("aabb"), undefined="ignore")
    table = none.confidence_intervals(of="statistics")
    assert table["ci_low"].notna().tolist() == [True] + [False] * 7
    assert (table["note"][1:].str.len() > 0).all()
    with pytest.raises(ValueError, match="agreement needs a group with rows of both classes"):
        none.agreement()


def test_exact_limits_are_where_the_divergence_is_allowed():
    auc, fewest = np.array([0.0, 0.2, 0.5, 0.9, 1.0]), np.array([5.0, 1.0, 40.0, 300.0, 7.0])
    low, high = intervals.exact_limits(auc, fewest, 0.025)
    assert low[0] == 0
    assert high[-1] == 1
    for limit, inner in ((low, slice(1, None)), (high, slice(-1))):
        for a, k, end in zip(auc[inner], fewest[inner], limit[inner], strict=True):
            divergence = k * stats.entropy([a, 1 - a], [end, 1 - end])
            assert divergence == pytest.approx(-np.log(0.025), rel=1e-6)


@pytest.mark.parametrize("unequal", [False, True])
def test_the_anova_type_statistic_equals_its_formula(unequal):
    y, scores, groups, _ = simulated(4, n=600)
    report = report_of(y, scores, np.minimum(np.arange(600) % 20, 5) if unequal else groups)
    counts, v = report.by_group, report._estimates.variances.unbiased
    m, n = counts["n_positives"].to_numpy(), counts["n_negatives"].to_numpy()
    w, auc = m * n / (m + n), counts["auc"].to_numpy()
    total = w.sum()
    # Newcombe's variance (2006), his method 5, is the least variance of groups that are small, and
    # smaller than half the largest.
    a, k = np.average(auc, weights=w), (m + n) / 2 - 1
    model = a * (1 - a) * (1 + k * (1 - a) / (2 - a) + k * a / (1 + a)) / (m * n)
    fewer = np.minimum(m, n)
    is_raised = (fewer < min(100 / 6, fewer.max() / 2)) & (v < model)
    assert is_raised.any() == unequal
    v = np.where(is_raised, model, v)
    t = (w * (auc - np.average(auc, weights=w)) ** 2).sum()
    e = (w * v * (1 - w / total)).sum()
    variance = 2 * (((w * v) ** 2 * (1 - 2 * w / total)).sum() + (w**2 * v).sum() ** 2 / total**2)
    f = 2 * e**2 / variance
    found = report.test_equal_groups()
    assert found.statistic == pytest.approx(f * t / e, rel=1e-10)
    assert found.degrees_of_freedom == pytest.approx(f, rel=1e-10)
    # Denominator degrees of freedom by Satterthwaite's formula
    terms = w * v * (1 - w / total)
    denominator = e**2 / (terms**2 / report._estimates.variances.degrees_of_freedom).sum()
    assert found.pvalue == pytest.approx(stats.f.sf(t / e, f, denominator), rel=1e-9)
    assert "ANOVA-type" in found.method
    assert repr(found).startswith("EqualGroupsTest(statistic=")


def test_few_rows_of_very_unequal_weights_are_not_tested():
    y, scores = [0, 0, 1, 1] * 2, [1, 2, 3, 4, 3, 4, 1, 2]
    groups, weights = list("aaaabbbb"), [1, 100] * 4
    found = report_of(y, scores, groups, weights).test_equal_groups()
    assert (found.n_groups, found.n_left_out) == (0, 2)
    assert np.isnan(found.pvalue)
    assert "1.5 effective rows" in found.method
    # With other weights the groups are tested, with few denominator degrees of freedom.
    weights = [1, 2] * 4
    scores = [1, 3, 2, 4, 3, 4, 1, 3]
    assert report_of(y, scores, groups, weights).test_equal_groups().pvalue > 0.05


def test_many_tiny_groups_have_a_form_of_their_own():
    report = report_of(*simulated(5, n_groups=200, n=4000), undefined="ignore")
    kept = report._estimates.variances.estimable
    auc, v = report._estimates.variances.auc[kept], report._estimates.variances.unbiased[kept]
    m, n = (report.by_group[c].to_numpy()[kept] for c in ("n_positives", "n_negatives"))
    w = m * n / (m + n)
    w = w / w.sum()
    terms = w * ((auc - (w * auc).sum()) ** 2 - (1 - w) * v)
    found = report.test_equal_groups()
    assert "tiny" in found.method
    assert found.n_groups == kept.sum()
    assert found.n_left_out == (~kept).sum()
    assert found.statistic == pytest.approx(terms.sum() / np.sqrt((terms**2).sum()), rel=1e-9)
    assert found.pvalue == pytest.approx(stats.norm.sf(found.statistic), rel=1e-9)


@pytest.mark.parametrize(
    ("y", "scores", "groups", "pvalue"),
    [
        ([0, 1] * 4, [2, 3] * 4, list("aaaabbbb"), 1.0),
        ([0, 1, 0, 1], [2, 3, 3, 2], list("aabb"), np.nan),
        ([0, 1] * 6, [2, 3] * 4 + [3, 2] * 2, list("aaaabbbbcccc"), np.nan),
    ],
    ids=["both perfect", "one row of each class", "perfect and reversed"],
)
def test_equal_groups_without_any_variation(y, scores, groups, pvalue):
    found = report_of(y, scores, groups).test_equal_groups()
    assert found.pvalue == pytest.approx(pvalue, nan_ok=True)


@pytest.mark.parametrize("kind", ["plain", "weights", "clusters", "bins"])
def test_two_groups_have_the_p_value_of_their_difference(kind):
    y, scores, _, weights = simulated(2, weighted=kind == "weights", n=150)
    clusters = np.arange(150) % 40
    scores = stats.norm.cdf(scores)  # from 0 to 1, for bins
    rows = {"y_true": y, "y_score": scores, "groups": clusters % 2, "sample_weight": weights}
    if kind == "bins":
        report = GroupAUC(ScoreCounts.from_predictions(**rows, disclosure="bins"))
    else:
        of_rows = {"clusters": clusters} if kind == "clusters" else {}
        report = GroupAUC.from_predictions(**rows, **of_rows)
    found, difference = report.test_equal_groups(), report.test_difference()
    assert found.pvalue == pytest.approx(difference.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(difference.statistic, rel=1e-9)


def test_pairs_are_compared_by_the_limits_of_both_groups():
    report = report_of(*simulated(6, n=600))
    table, v = report.compare_groups(), report._estimates.variances
    assert len(table) == 15
    quantile = stats.studentized_range.isf(0.05, 6, np.inf) / np.sqrt(2)
    for (one, other), row in table.iterrows():
        deviate = pair_deviate(v, one, other)
        assert row.difference == v.auc[one] - v.auc[other]
        assert row.statistic == pytest.approx(np.sign(row.difference) * deviate, rel=1e-9)
        assert row.pvalue == pytest.approx(2 * stats.norm.sf(deviate), rel=1e-9)
        adjusted = stats.studentized_range.sf(np.sqrt(2) * deviate, 6, np.inf)
        assert row.pvalue_adjusted == pytest.approx(adjusted, rel=1e-9)
        for deviate, expected in (
            (stats.norm.isf(0.025), (row.ci_low, row.ci_high)),
            (quantile, (row.simultaneous_low, row.simultaneous_high)),
        ):
            assert expected == pytest.approx(limits_of_pair(v, one, other, deviate), abs=1e-9)
        assert ((row.ci_low > 0) | (row.ci_high < 0)) == (row.pvalue < 0.05)
        adjusted = row.pvalue_adjusted < 0.05
        assert ((row.simultaneous_low > 0) | (row.simultaneous_high < 0)) == adjusted
    assert table["adjustment"].unique().tolist() == ["Tukey"]
    with_one = report.compare_groups(3)
    assert with_one.index.tolist() == [0, 1, 2, 4, 5]
    assert with_one.loc[5, "statistic"] == pytest.approx(-table.loc[(3, 5), "statistic"], rel=1e-12)
    for of in (with_one, report.compare_groups("rest")):
        assert of["adjustment"].unique().tolist() == ["Sidak"]
        assert_allclose(of["pvalue_adjusted"], 1 - (1 - of["pvalue"]) ** len(of), rtol=1e-9)


def pooled_variances(y, scores, groups):
    """Return variances of group AUCs from placement values pooled over groups."""
    mine = [groups == g for g in np.unique(groups)]
    wins = [comparisons(scores[of & y], scores[of & ~y]) for of in mine]
    return shared_variances([(of, *map(np.ones, of.shape)) for of in wins])


def test_the_rest_is_weighted_by_what_other_groups_say():
    rows = simulated(6, n=600)
    report = report_of(*rows)
    table, auc = report.compare_groups("rest"), report.by_group["auc"].to_numpy()
    m, n = (report.by_group[name].to_numpy() for name in ("n_positives", "n_negatives"))
    weight = m * n / (m + n)
    variance = np.maximum(report._estimates.variances.delong, pooled_variances(*rows[:3]))
    for g, row in enumerate(table.itertuples()):
        share = np.where(np.arange(6) != g, weight, 0.0)
        share /= share.sum()
        assert row.reference_auc == pytest.approx(share @ auc, rel=1e-12)
        of_model = (m + n) / 2 - 1
        sides = (
            (auc[g], variance[g], 1 / (m * n)[g], (of_model / (m * n))[g]),
            (
                share @ auc,
                share**2 @ variance,
                share**2 @ (1 / (m * n)),
                share**2 @ (of_model / (m * n)),
            ),
        )

        def limits(deviate, sides=sides):
            return mover(*((of[0], *general_hull(*of, deviate)) for of in sides))

        quantile = stats.norm.isf((1 - 0.95 ** (1 / 6)) / 2)
        difference = auc[g] - share @ auc
        assert row.difference == pytest.approx(difference, abs=1e-12)
        found = row.simultaneous_low, row.simultaneous_high
        assert found == pytest.approx(limits(quantile), abs=1e-9)
        # At the quantile of the p value, the interval ends at 0.
        end = limits(abs(row.statistic))[0 if difference > 0 else 1]
        assert end == pytest.approx(0.0, abs=1e-9)
        assert row.pvalue == pytest.approx(2 * stats.norm.sf(abs(row.statistic)), rel=1e-9)
        assert np.sign(row.statistic) == np.sign(difference)


def test_comparisons_with_a_group_that_lacks_a_class_are_nan():
    y, s = [0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0], [1, 2, 2, 3, 1, 3, 2, 4, 1, 2, 5]
    report = report_of(y, s, list("aaaabbbbccd"), undefined="ignore")
    for reference in (None, "rest", "a", "d"):
        table = report.compare_groups(reference)
        labels = table.index.to_flat_index()
        testable = [
            set(label) <= set("abc") if isinstance(label, tuple) else label in "abc"
            for label in labels
        ]
        if reference == "d":
            testable = [False] * len(table)
        assert table["pvalue"].notna().tolist() == testable
        assert table["pvalue_adjusted"].notna().tolist() == testable


def test_all_pairs_of_very_many_groups_are_refused():
    many = report_of(*simulated(0, n_groups=501, n=5000), undefined="ignore")
    with pytest.raises(ValueError, match=r"at most 500 groups; got 501 .*reference='rest'"):
        many.compare_groups()


AUCS, VARIANCES = [0.82, 0.78, 0.91, 0.7, 0.86], [0.001, 0.0022, 0.0006, 0.003, 0.0015]


def test_reml_equals_metafor():
    tau2 = heterogeneity.reml(np.array(AUCS), np.array(VARIANCES))
    assert tau2 == pytest.approx(0.004319256836, rel=1e-6)


def test_tau_is_of_largest_restricted_likelihood_and_within_its_interval():
    zeros = 0
    for seed in range(6):
        report = report_of(*simulated(seed, n=400))
        auc, v = report._estimates.variances.auc, report._estimates.variances.shared
        tau, limits = report.tau, heterogeneity.reml_limits(auc, v, 0.95)
        assert tau == report.statistic("tau") == report.statistics()["tau"]
        assert limits[0] <= tau <= limits[1]
        grid = np.linspace(0, 0.5, 200)
        (least,) = restricted_deviance([tau], auc, v)
        assert least <= restricted_deviance(grid, auc, v).min() + 1e-9
        for limit in limits:
            if 0 < limit < 0.5:
                (deviance,) = restricted_deviance([limit], auc, v) - least
                assert deviance == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-5)
        zeros += tau == 0
    assert 0 < zeros < 6


def test_the_spread_that_is_not_defined_is_nan_with_a_warning():
    one_row = ([0, 1, 0, 1], [2, 3, 3, 2], list("aabb"))
    # In group b, the first row of each class has nearly all the weight.
    weights = [1] * 4 + [1e9, 1e-9] * 2
    drowned = ([0, 0, 1, 1] * 2, [1, 3, 2, 4, 1, 2, 3, 2], list("aaaabbbb"), weights)
    reason = "two groups with two rows of each class"
    for rows in (one_row, drowned):
        report = report_of(*rows)
        with pytest.warns(UndefinedMetricWarning, match=reason):
            assert np.isnan(report.tau)
        with pytest.warns(UndefinedMetricWarning, match=reason):
            assert np.isnan(report._estimates.value_of(squared_tau))
        with pytest.raises(ValueError, match=reason):
            _ = report_of(*rows, undefined="raise").tau


@pytest.mark.parametrize("sizes", [(5, 15), (40, 160)])
def test_null_difference_is_what_equal_groups_show(sizes):
    n_groups, n_runs = 8, 200
    rng = np.random.default_rng(1)
    y = np.tile(np.repeat([True, False], sizes), n_groups)
    groups = np.repeat(np.arange(n_groups), sum(sizes))
    reports = [report_of(y, rng.normal(size=y.size) + y, groups) for _ in range(n_runs)]
    seen = np.mean([report.difference for report in reports])
    expected = np.mean([null_difference_of(report) for report in reports[:20]])
    assert expected == pytest.approx(seen, rel=0.08)


@pytest.mark.parametrize("decimals", [9, 1, 0])
@pytest.mark.parametrize("n_groups", [2, 3, 12])
def test_anderson_darling_and_kolmogorov_equal_scipy(n_groups, decimals):
    y, scores, groups, _ = simulated(n_groups, n_groups=n_groups, decimals=decimals, n=500)
    counts = ScoreCounts.from_predictions(y, scores, groups=groups)
    places = ranks_among_all(counts.cells)
    for side, mine in enumerate((~y, y)):
        samples = [scores[mine & (groups == g)] for g in range(n_groups)]
        statistic, pvalue = agreement.anderson_darling(counts.cells, places, side)
        assert statistic == pytest.approx(raw_anderson_darling(samples), rel=1e-10)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy limits p values to .001 and .25
            theirs = stats.anderson_ksamp(samples).pvalue
        if 0.002 < theirs < 0.24 and decimals == 9:
            assert pvalue == pytest.approx(theirs, abs=0.02)
        distances = agreement.kolmogorov_distances(counts.cells, places, side)
        expected = [stats.ks_2samp(of, scores[mine], method="asymp").statistic for of in samples]
        assert distances == pytest.approx(expected, abs=1e-12)


def raw_anderson_darling(samples):
    """Return the statistic with midranks by Scholz and Stephens' formula."""
    every = np.sort(np.concatenate(samples))
    total, points = every.size, np.unique(every)
    tied = np.searchsorted(every, points, "right") - np.searchsorted(every, points)
    middle = np.searchsorted(every, points) + tied / 2
    found = 0.0
    for sample in samples:
        left, right = (np.searchsorted(np.sort(sample), points, side) for side in ("left", "right"))
        own = (left + right) / 2
        inner = tied / total * (total * own - middle * sample.size) ** 2
        found += (inner / (middle * (total - middle) - total * tied / 4)).sum() / sample.size
    return found * (total - 1) / total


@pytest.mark.parametrize("seed", range(2))
def test_the_bound_is_certain(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        n, k = rng.integers(2, 30), rng.integers(1, 5)
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        if y.all() or not y.any():
            continue
        scores, groups = rng.integers(1, rng.integers(3, 9), n), rng.integers(0, k, n)
        report = report_of(y, scores, groups, undefined="ignore")
        if not report.n_groups > report._estimates.pairs.n_undefined:
            continue
        table = report.agreement().table
        for name in ("positives", "negatives"):
            row = table.loc[name]
            assert abs(row.difference) <= row.bound + 1e-12
            # Shares of one class with the groups' Kolmogorov distances of the other class, 1
            # without rows of it
            own, bound = y == (name == "positives"), 0.0
            for g in np.unique(groups):
                mine, distance = scores[~own & (groups == g)], 1.0
                if mine.size:
                    distance = stats.ks_2samp(mine, scores[~own]).statistic
                bound += (own & (groups == g)).sum() / own.sum() * distance
            assert row.bound == pytest.approx(bound, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_of_agreement_are_those_of_the_jackknife_for_rows_of_random_groups(weighted):
    """Shifts, shares of positives and AUCs differ between groups."""
    rng, n = np.random.default_rng(5), 900
    groups = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    y = rng.random(n) < np.array([0.3, 0.5, 0.4])[groups]
    scores = (
        rng.normal(size=n) + np.array([0, 0.8, 1.5])[groups] + y * np.array([2, 1, 0.5])[groups]
    )
    w = rng.integers(1, 4, n) / 2.0 if weighted else np.ones(n)
    order = scores[y][:, None] > scores[~y]
    members = [groups == g for g in range(3)]

    def differences(w):
        """Pooled AUC minus each average, from all pairs."""
        pairs = w[y][:, None] * order * w[~y]
        amounts = np.array([[w[y & of].sum(), w[~y & of].sum()] for of in members])
        auc = np.array([pairs[np.ix_(of[y], of[~y])].sum() for of in members]) / amounts.prod(1)
        pooled = pairs.sum() / amounts.sum(0).prod()
        weights = [np.ones(3), amounts.sum(1), amounts[:, 0], amounts[:, 1], amounts.prod(1)]
        return np.array([pooled - np.average(auc, weights=of) for of in weights])

    left_out = np.array([differences(np.where(np.arange(n) == i, 0.0, w)) for i in range(n)])
    expected = np.sqrt(((left_out - left_out.mean(0)) ** 2).sum(0) * (n - 1) / n)
    found = report_of(y.astype(int), scores, groups, w if weighted else None).agreement().table
    names = [*AVERAGES]
    assert found.loc[names, "difference"].to_numpy() == pytest.approx(differences(w), abs=1e-12)
    errors = (found["ci_high"] - found["ci_low"])[names].to_numpy() / (2 * stats.norm.ppf(0.95))
    assert errors == pytest.approx(expected, rel=0.07)


def test_agreement_of_few_rows_without_variation_is_left_open():
    for scores in ([1, 2, 5, 6, 2.5, 3, 6.5, 7], [2] * 8):
        found = report_of([0, 0, 1, 1] * 2, scores, list("aaaabbbb")).agreement()
        assert (found.table["equivalent_to_pooled"] == "cannot tell").all()


def test_the_scale_of_weights_changes_nothing(monkeypatch):
    def disparities(data):
        found = cross_gaps(data.counts)
        yield "disparities", {name: getattr(found, name) for name in ("error", "pvalue")}

    asked = golden.report, golden.models, golden.folds, disparities
    monkeypatch.setitem(golden.QUESTIONS, "scaled", asked)
    data = golden.make(3, [50, 40, 30], [50, 60, 45], weights=1, kind="scaled")
    columns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for scale in (1, 1e-99, 1e-82, 1e77):
            scaled = dataclasses.replace(data, weights=data.weights * scale)
            columns.append(golden.flat({scale: golden.answers(scaled)}))
    expected, *others = ({name.partition("/")[2]: of[name] for name in of} for of in columns)
    assert len(expected) > 700
    for found in others:
        assert found.keys() == expected.keys()
        for name, values in found.items():
            assert_allclose(values, expected[name], rtol=1e-12, atol=1e-14, err_msg=name)


def test_a_weighted_perfect_group_has_one_interval_everywhere():
    """Sums of weights round its AUC to slightly less than 1."""
    rng = np.random.default_rng(0)
    sizes = [20, 15, 20, 26]  # positives and negatives of both groups
    y, groups = np.repeat([1, 0, 1, 0], sizes), np.repeat(["a", "b"], [35, 46])
    scores = np.where(groups == "a", y + rng.random(81), y + rng.normal(size=81))
    for _ in range(20):
        weights = rng.gamma(4, 1, 81)
        report = GroupAUC.from_predictions(y, scores, groups=groups, sample_weight=weights)
        found, pairs = report.test_difference(), report.compare_groups()
        assert found.pvalue == pytest.approx(pairs["pvalue_adjusted"].min(), abs=1e-9)
        assert found.ci_low == pytest.approx(max(pairs["simultaneous_low"].max(), 0.0), abs=1e-9)
        least = report.confidence_intervals(confidence_level=0.9)["ci_low"].min()
        assert report.test_margin(0.05, reference=0.9).ci_low == pytest.approx(least, abs=1e-9)
