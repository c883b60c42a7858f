"""Limits of AUCs, margins and disparities by their formulas, from all pairs of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import comparisons, delong, hull, mover_of_pairs, placements
from scipy import optimize
from scipy.special import expit, logit
from scipy.stats import norm, t

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.inference.cross_gap import cross_gaps

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


LEVELS = (0.8, 0.9, 0.95, 0.99)


def margin_rows(seed=0, sizes=((12, 30), (20, 25), (9, 40)), shift=(1.0, 1.4, 0.8)):
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
    limits = np.array([hull(*group, z) for group in groups])
    return mover_of_pairs([auc for auc, *_ in groups], *limits.T)[1].max()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("arguments", "limit_of", "sign"),
    [((0.15, 0.7), lowest_limit, 1), ((0.35, None), largest_limit, -1)],
    ids=["worst", "equivalence"],
)
def test_limits_and_p_values_of_margins(seed, level, arguments, limit_of, sign):
    y, scores, groups = margin_rows(seed)
    report = GroupAUC.from_predictions(y, scores, groups=groups)
    margin, reference = arguments
    test = report.test_margin(margin, reference=reference, confidence_level=level)
    bound = margin if reference is None else reference - margin
    assert test.bound == pytest.approx(bound)
    known = aucs_and_variances(y, scores, groups)
    expected = limit_of(known, norm.ppf(level))
    limit = pytest.approx(min(expected, 1), abs=1e-9)
    assert (test.ci_low, test.ci_high) == ((0, limit) if reference is None else (limit, 1))
    assert test.is_shown == (sign * (expected - bound) > 0) == (test.pvalue < 1 - level)
    z = optimize.brentq(lambda z: limit_of(known, z) - bound, 0, 10)
    assert test.statistic == pytest.approx(z, rel=1e-6)
    assert test.pvalue == pytest.approx(norm.sf(z), rel=1e-6)
    estimate = report.difference if reference is None else report.worst
    assert test.estimate == pytest.approx(estimate, abs=1e-12)


def test_worst_auc_below_the_bound_has_a_large_p_value():
    case = margin_rows(0)
    report = GroupAUC.from_predictions(*case[:2], groups=case[2])
    above = report.test_margin(0.0, reference=report.worst + 0.05)
    assert not above.is_shown
    assert above.pvalue > 0.5
    # For a single group the test in the other direction has the complementary p value.
    y, scores, groups = margin_rows(0, ((30, 60),), (1.0,))
    one = GroupAUC.from_predictions(y, scores, groups=groups)
    (group,) = aucs_and_variances(y, scores, groups)
    bound = one.worst + 0.05
    z = optimize.brentq(lambda z: hull(*group, z)[1] - bound, 0, 10)
    assert one.test_margin(0.0, reference=bound).pvalue == pytest.approx(norm.cdf(z), rel=1e-6)


def test_perfect_separation_uses_the_exact_limit():
    y, scores = np.arange(20) < 8, np.r_[np.full(8, 5.0), np.arange(12) / 20]
    report = GroupAUC.from_predictions(y, scores, groups=np.zeros(20, int))
    test = report.test_margin(0.0, reference=0.6)
    assert test.ci_low == pytest.approx(0.05 ** (1 / 8))
    assert test.pvalue == pytest.approx(0.6**8, rel=1e-9)
    # The exact limit also holds for error rates above one half.
    assert report.test_margin(0.0, reference=0.99).pvalue == pytest.approx(0.99**8, rel=1e-9)
    two = GroupAUC.from_predictions(np.tile(y, 2), 5.0 * np.tile(y, 2), groups=np.arange(40) // 20)
    for margin in (0.01, 0.1):
        assert two.test_margin(margin).pvalue == pytest.approx((1 - margin) ** 8, rel=1e-9)


def test_too_few_groups_show_nothing():
    one = GroupAUC.from_predictions(
        [0, 1, 1, 1], [0.1, 0.2, 0.3, 0.4], groups=["a", "a", "b", "b"], undefined="ignore"
    )
    test = one.test_margin(0.1)
    assert not test.is_shown
    assert np.isnan([test.pvalue, test.ci_low, test.ci_high, test.estimate]).all()
    assert test.groups == ()
    none = GroupAUC(one._estimates.pairs, min_per_class=5)
    assert np.isnan(none.test_margin(0.0, reference=0.7).pvalue)
    assert repr(none.test_margin(0.0, reference=0.7)).endswith(
        "no result, too few groups have both classes): 0 groups"
    )


def disparity_rows(seed, weighted=False):
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
    for rows in (positive, ~positive):
        placement, w = placements(positive, score, weight)[rows], weight[rows]
        deviations = placement - np.average(placement, weights=w)
        effective = w.sum() ** 2 / (w**2).sum()
        of_row = (w**2 * deviations**2).sum() / (w.sum() ** 2 - (w**2).sum()) * effective
        for part in (rows & mine, rows & ~mine):
            alike += of_row * (weight[part] ** 2).sum() / weight[part].sum() ** 2
    return one[0] - other[0], np.sqrt(max(sum(one[1] + other[1]), alike))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_errors_by_hand(seed, weighted):
    y, score, group, weight = disparity_rows(seed, weighted)
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
