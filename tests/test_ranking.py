"""Shrunken AUCs and ranks with confidence sets."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import extremes_of, select_groups
from skfedauc.inference import differences, ranking
from skfedauc.inference.heterogeneity import reml
from skfedauc.inference.ranking import empirical_bayes, posterior_limits

COLUMNS = ["auc", "shrunken_auc", "ci_low", "ci_high", "reliability"]
COLUMNS += ["rank", "rank_low", "rank_high", "may_be_worst", "note"]
COARSE = Bins.of_probabilities(octaves=3, parts=8)


def counts_of(seed=0, n_groups=8, n=2000, weighted=False, spread=0.6):
    """Counts of groups of unequal sizes, with ties, and different AUCs."""
    rng = np.random.default_rng(seed)
    size = rng.gamma(2.0, size=n_groups)
    groups = rng.choice(n_groups, n, p=size / size.sum())
    y = rng.random(n) < 0.4
    scores = rng.normal(size=n) + y * (1.0 + spread * rng.normal(size=n_groups))[groups]
    return ScoreCounts.from_predictions(
        y,
        np.round(stats.norm.cdf(scores), 3),
        groups=[f"site {g}" for g in groups],
        sample_weight=rng.gamma(8.0, size=n) if weighted else None,
    )


def posterior(y, v):
    """Return means, variances and shares of the normal components of the true values' posterior.

    The shares are the posterior probabilities of intervals of tau2, with uniform priors of the mean
    and of tau2. All sums are over 20,000 intervals of tau2.
    """
    ends = np.r_[0.0, np.geomspace(1e-9, 0.25, 20_001)]
    tau2, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    # The density of the values is multivariate normal; the mean is integrated out.
    w = 1 / (v + tau2[:, None])
    total = w.sum(axis=1)
    mean = w @ y / total
    log_density = stats.norm.logpdf(y, mean[:, None], w**-0.5).sum(axis=1) - np.log(total) / 2
    share = length * np.exp(log_density - log_density.max())
    share /= share.sum()
    # Precisions of the prior and of the observed value add up. The error of the mean adds variance.
    precision = 1 / tau2[:, None] + 1 / v
    centers = (mean[:, None] / tau2[:, None] + y / v) / precision
    variances = 1 / precision + (1 / tau2[:, None] / precision) ** 2 / total[:, None]
    return centers, variances, share


@pytest.mark.parametrize("n_groups", [6, 18])
def test_with_equal_variances_estimates_are_the_exact_posterior_mean(n_groups):
    """Posterior mean by integration over s = v + tau2, uniform on all s above 0."""
    rng, v = np.random.default_rng(n_groups), 0.0043
    y = 0.8 + np.sqrt(3 * v) * rng.normal(size=n_groups)
    assert reml(y, np.full(n_groups, v)) > 0
    total = ((y - y.mean()) ** 2).sum()
    grid = np.exp(np.linspace(np.log(total) - 12, np.log(total) + 25, 400_001))
    # The density of the observed values given s, with the mean integrated out; ds = s d(log s)
    density = np.exp(-total / (2 * grid) - (n_groups - 1) / 2 * np.log(grid / total)) * grid
    density /= density.sum()
    mean_b = density @ (v / grid)
    estimate, _ = empirical_bayes(y, np.full(n_groups, v))
    assert_allclose(estimate, y - mean_b * (y - y.mean()), rtol=1e-4)


@pytest.mark.parametrize("confidence_level", [0.5, 0.95])
@pytest.mark.parametrize("tau", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("n_groups", [4, 30])
def test_limits_are_quantiles_of_the_posterior(n_groups, tau, confidence_level):
    rng = np.random.default_rng(n_groups)
    v = np.geomspace(2e-4, 1e-2, n_groups)
    y = 0.8 + tau * rng.normal(size=n_groups) + np.sqrt(v) * rng.normal(size=n_groups)
    low, high = posterior_limits(y, v, confidence_level)
    centers, variances, share = posterior(y, v)
    below_low, below_high = (
        share @ stats.norm.cdf(limit, centers, np.sqrt(variances)) for limit in (low, high)
    )
    tail = (1 - confidence_level) / 2
    assert_allclose(below_low, tail, rtol=0.01)
    assert_allclose(1 - below_high, tail, rtol=0.01)


def test_limits_do_not_depend_on_the_groups_computed_at_once(monkeypatch):
    y, v = np.linspace(0.7, 0.9, 11), np.geomspace(1e-3, 1e-2, 11)
    expected = posterior_limits(y, v, 0.95)
    monkeypatch.setattr(ranking, "_NUMBERS_AT_ONCE", 128)
    assert_allclose(posterior_limits(y, v, 0.95), expected, atol=1e-7)


def test_equal_values_have_no_spread():
    y, v = np.full(6, 0.8), np.full(6, 0.01)
    assert reml(y, v) == 0.0
    assert_allclose(empirical_bayes(y, v)[0], 0.8, rtol=1e-12)
    low, high = posterior_limits(y, v, 0.95)
    assert_allclose(0.8 - low, high - 0.8, rtol=1e-6)


def ranks_by_comparisons(report, confidence_level=0.95):
    table = report.compare_groups(confidence_level=confidence_level)
    pairs = table[~table["simultaneous_low"].isna()]
    larger, smaller, labels = {}, {}, set()
    for (one, other), row in zip(pairs.index, pairs.itertuples(), strict=True):
        labels |= {one, other}
        if row.simultaneous_low > 0:
            one, other = other, one
        elif not row.simultaneous_high < 0:
            continue
        larger[one] = larger.get(one, 0) + 1
        smaller[other] = smaller.get(other, 0) + 1
    return {
        label: (1 + larger.get(label, 0), len(labels) - smaller.get(label, 0)) for label in labels
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [None, COARSE])
@pytest.mark.parametrize("confidence_level", [0.5, 0.95])
def test_sets_of_ranks_count_the_significant_differences(weighted, bins, confidence_level):
    counts = counts_of(weighted=weighted)
    counts = counts if bins is None else counts.reduced(bins)
    report = GroupAUC(counts)
    table = report.ranking(confidence_level=confidence_level)
    assert table.columns.tolist() == COLUMNS
    assert table.index.equals(report.by_group.index)
    expected = ranks_by_comparisons(report, confidence_level)
    found = {row.Index: (row.rank_low, row.rank_high) for row in table.itertuples()}
    assert found == expected
    assert len(set(found.values())) > 1
    assert_allclose(table["auc"], report.by_group["auc"], rtol=0)
    assert_array_equal(table["rank"], table["auc"].rank(ascending=False, method="min"))
    assert (table["rank_low"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_high"]).all()
    # One-sided comparisons with one group rule out more groups than comparisons of all pairs.
    worst = table["may_be_worst"]
    assert worst.any()
    assert (table.loc[worst, "rank_high"] == len(table)).all()


def may_be_worst_by_pairs(counts, confidence_level=0.95):
    k = len(counts)
    tail = 1 - confidence_level ** (1 / (k - 1))
    found = np.ones(k, bool)
    for pair in itertools.combinations(range(k), 2):
        report = GroupAUC(select_groups(counts, np.array(pair)))
        (row,) = report.compare_groups(confidence_level=1 - 2 * tail).itertuples()
        found[pair[0]] &= not row.ci_low > 0
        found[pair[1]] &= not row.ci_high < 0
    return found


@pytest.mark.parametrize("bins", [None, COARSE])
@pytest.mark.parametrize("confidence_level", [0.5, 0.95])
def test_groups_that_may_be_worst_are_those_of_all_one_sided_comparisons(bins, confidence_level):
    counts = counts_of(n_groups=5, spread=0.4)
    counts = counts if bins is None else counts.reduced(bins)
    found = GroupAUC(counts).ranking(confidence_level=confidence_level)["may_be_worst"]
    assert_array_equal(found, may_be_worst_by_pairs(counts, confidence_level))
    assert 0 < found.sum() < len(found)


@pytest.mark.parametrize("is_perfect", [False, True])
def test_groups_without_variation_have_bounded_variances(is_perfect):
    y = np.tile(np.repeat([True, False], [20, 40]), 4)
    scores = y + 0.1 if is_perfect else np.full(240, 0.3)
    table = GroupAUC.from_predictions(y, scores, groups=np.repeat(range(4), 60)).ranking()
    assert (table.note == "no variation seen: variance bounded").all()
    # Variance of 20 independent pairs, with half a concordant and half a discordant pair added
    auc = 20.5 / 21 if is_perfect else 0.5
    v = np.full(4, auc * (1 - auc) / 20)
    low, _ = posterior_limits(np.full(4, 1.0 if is_perfect else 0.5), v, 0.95)
    assert_allclose(table.ci_low, low)
    assert (table.ci_low < 0.97).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_shrunken_aucs_shrink_to_the_mean_of_the_heterogeneity(weighted):
    report = GroupAUC(counts_of(seed=1, weighted=weighted))
    table = report.ranking(confidence_level=0.9)
    k, v = report.n_groups, report._estimates.variances.shared
    mean = np.average(table["auc"], weights=1 / (v + report.tau**2))
    b = (k - 3) / (k - 1) * v / (v + report.tau**2)
    assert_allclose(table["reliability"], 1 - b, rtol=1e-8)
    assert_allclose(table["shrunken_auc"], table["auc"] - b * (table["auc"] - mean), rtol=1e-8)
    centers, variances, share = posterior(table["auc"].to_numpy(), v)
    for name, probability in (("ci_low", 0.05), ("ci_high", 0.95)):
        below = share @ stats.norm.cdf(table[name], centers, np.sqrt(variances))
        is_inside = table[name].to_numpy() < 1
        assert is_inside.sum() > 5
        assert_allclose(below[is_inside], probability, atol=1e-3)
    assert (table["note"] == "").all()


@pytest.mark.parametrize("n_groups", [4, 8])
def test_limits_contain_the_shrunken_auc_at_any_confidence_level(n_groups):
    table = GroupAUC(counts_of(n_groups=n_groups)).ranking(confidence_level=0.01)
    assert (table["ci_low"] <= table["shrunken_auc"]).all()
    assert (table["shrunken_auc"] <= table["ci_high"]).all()


@pytest.mark.parametrize("disclosure", [COARSE, "summary"])
def test_limits_of_binned_scores_are_those_of_both_extremes(disclosure):
    counts = counts_of().reduced(COARSE)
    report = GroupAUC(counts if disclosure is COARSE else counts.reduced(disclosure))
    lowest, highest = (GroupAUC(end).ranking() for end in extremes_of(report.counts))
    table = report.ranking()
    assert (table["ci_low"] <= lowest["ci_low"]).all()
    assert (table["ci_high"] >= highest["ci_high"]).all()
    assert (
        table["note"]
        .str.fullmatch(r"scores are binned: the AUC is certainly [01]\.\d{4} to [01]\.\d{4}")
        .all()
    )


def test_groups_without_a_variance_are_named_and_not_ranked():
    rng = np.random.default_rng(0)
    y, groups = rng.random(400) < 0.5, rng.choice(list("abcde"), 400)
    scores = rng.normal(size=400) + y
    extra = [("f", 1), ("g", 0), ("h", 1), ("h", 0), ("h", 0), ("i", 1), ("i", 1), ("i", 0)]
    counts = ScoreCounts.from_predictions(
        np.r_[y, [label for _, label in extra]].astype(int),
        np.r_[scores, np.zeros(len(extra))],
        groups=np.r_[groups, [group for group, _ in extra]],
    )
    table = GroupAUC(counts, undefined="ignore").ranking()
    alone = GroupAUC(select_groups(counts, np.arange(5))).ranking()
    pd.testing.assert_frame_equal(table.iloc[:5], alone)
    others = table.iloc[5:]
    assert others["note"].tolist() == [
        "not ranked: no negatives",
        "not ranked: no positives",
        "not ranked: one positive",
        "not ranked: one negative",
    ]
    assert others[COLUMNS[1:-1]].isna().all(axis=None)
    assert others["auc"].notna().tolist() == [False, False, True, True]
    # A number that replaces an undefined AUC is not ranked.
    pd.testing.assert_frame_equal(GroupAUC(counts, undefined=0.5).ranking(), table)
    assert table["rank_high"].max() == 5


def test_weights_of_one_row_are_no_sample():
    counts = ScoreCounts.from_predictions(
        [0, 1, 1, 0] * 2,
        [0.1, 0.4, 0.2, 0.3, 0.1, 0.5, 0.3, 0.4],
        groups=list("aaaabbbb"),
        sample_weight=[1, 1, 1, 1, 1, 1e6, 1, 1],
    )
    table = GroupAUC(counts).ranking()
    assert table["note"].tolist() == [
        "not shrunken: fewer than four groups",
        "not ranked: effective sample size of a class below 1.5",
    ]
    assert table["rank"].isna().tolist() == [False, True]


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_fewer_than_four_groups_are_not_shrunken(n_groups):
    counts = counts_of(n_groups=n_groups)
    report = GroupAUC(counts)
    table = report.ranking(confidence_level=0.8)
    limits = report.confidence_intervals(confidence_level=0.8)[["ci_low", "ci_high"]]
    assert_array_equal(table["shrunken_auc"], table["auc"])
    assert_array_equal(table["reliability"], 1.0)
    assert_array_equal(table[["ci_low", "ci_high"]], limits)
    assert table["rank_high"].max() == n_groups
    assert set(table["note"]) == {"not shrunken: fewer than four groups"}
    of_bins = GroupAUC(counts.reduced(COARSE)).ranking()["note"]
    assert of_bins.str.match("not shrunken: fewer than four groups; scores are binned").all()


def test_many_groups_are_compared_by_their_intervals(monkeypatch):
    report = GroupAUC(counts_of(spread=1.0))
    k = report.n_groups
    monkeypatch.setattr(differences, "MOST_GROUPS", 3)
    monkeypatch.setattr(ranking, "MOST_GROUPS", 3)
    table = report.ranking(confidence_level=0.9)
    intervals = report.confidence_intervals(confidence_level=1 - 0.1 / k)
    low, high = (intervals[name].to_numpy() for name in ("ci_low", "ci_high"))
    assert_array_equal(table["rank_low"], 1 + (low[:, None] > high).sum(axis=0))
    assert_array_equal(table["rank_high"], k - (high[:, None] < low).sum(axis=0))
    assert (table["rank_low"] > 1).any()


def test_ranking_raises_if_undefined_is_raise():
    report = GroupAUC.from_predictions(
        [0, 1, 0], [0.1, 0.2, 0.3], groups=["a", "a", "b"], undefined="raise"
    )
    with pytest.raises(ValueError, match="1 of 2 groups"):
        report.ranking()
