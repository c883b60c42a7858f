"""Shrunken AUCs, ranks with confidence sets, and average ranks of several models."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from skfedauc import Bins, GroupAUC, ScoreCounts, cross_validate_group_auc
from skfedauc.inference import pairwise, rank_sets
from skfedauc.inference.average_ranks import average_ranks, undetected
from skfedauc.inference.shrinkage import empirical_bayes

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


# Empirical Bayes ---------------------------------------------------------------------------------

# Batting averages of 18 players in their first 45 times at bat of 1970 (Efron and Morris, 1975)
BATTING = [0.400, 0.378, 0.356, 0.333, 0.311, 0.311, 0.289, 0.267, 0.244, 0.244]
BATTING += [0.222, 0.222, 0.222, 0.222, 0.222, 0.200, 0.178, 0.156]


def test_batting_averages_are_shrunken_as_published():
    """Efron and Morris, Stein's paradox in statistics, Scientific American 236(5), 1977.

    The grand average is .265, the shrinking factor is .212, and Stein's estimate of Clemente's
    average of .400 is .294.
    """
    grand = np.mean(BATTING)
    found = empirical_bayes(BATTING, np.full(18, grand * (1 - grand) / 45))
    assert found.mean == pytest.approx(0.265, abs=5e-4)
    assert_allclose(found.reliability, 0.212, atol=5e-4)
    assert found.estimate[0] == pytest.approx(0.294, abs=5e-4)


@pytest.mark.parametrize("n_groups", [6, 18])
def test_with_equal_variances_estimates_are_the_exact_posterior(n_groups):
    """Posterior mean and variance by integration over s = v + tau2, uniform on all s above 0."""
    rng, v = np.random.default_rng(n_groups), 0.0043
    y = 0.8 + np.sqrt(3 * v) * rng.normal(size=n_groups)
    found = empirical_bayes(y, np.full(n_groups, v))
    assert found.tau2 > 0
    total = ((y - y.mean()) ** 2).sum()
    grid = np.exp(np.linspace(np.log(total) - 12, np.log(total) + 25, 400_001))
    # The density of the observed values given s, with the mean integrated out; ds = s d(log s)
    density = np.exp(-total / (2 * grid) - (n_groups - 1) / 2 * np.log(grid / total)) * grid
    density /= density.sum()
    b = v / grid
    mean_b = density @ b
    variance_b = density @ (b - mean_b) ** 2
    # Given s, a true value has mean y - b (y - mean) and variance v (1 - b) + b^2 s / k.
    within = density @ (v * (1 - b) + b**2 * grid / n_groups)
    assert_allclose(found.estimate, y - mean_b * (y - y.mean()), rtol=1e-4)
    assert_allclose(
        found.standard_error, np.sqrt(within + variance_b * (y - y.mean()) ** 2), rtol=1e-3
    )


def test_with_unequal_variances_estimates_are_close_to_the_posterior():
    """Posterior by integration over tau2, with uniform priors of tau2 and of the mean."""
    rng, n_groups = np.random.default_rng(1), 60
    v = 1e-3 * rng.uniform(0.5, 2.0, n_groups)
    y = 0.8 + rng.normal(size=n_groups) * np.sqrt(v + 1.5e-3)
    y[:2] = 0.95, 0.65
    found = empirical_bayes(y, v)
    means, variances, density = [], [], []
    grid = np.linspace(1e-7, 0.015, 4000)
    for tau2 in grid:
        w = 1 / (v + tau2)
        mean = w @ y / w.sum()
        log_density = np.log(w).sum() / 2 - np.log(w.sum()) / 2 - w @ (y - mean) ** 2 / 2
        density.append(log_density)
        means.append(y - v * w * (y - mean))
        variances.append(v * (1 - v * w) + (v * w) ** 2 / w.sum())
    density = np.exp(np.array(density) - max(density))
    density /= density.sum()
    posterior = density @ np.array(means)
    variance = density @ np.array(variances) + density @ (np.array(means) - posterior) ** 2
    assert_allclose(found.estimate, posterior, atol=0.002)
    assert_allclose(found.standard_error, np.sqrt(variance), rtol=0.03)


def test_eight_schools_have_the_pooled_mean_and_no_spread():
    """Rubin (1981): the pooled estimate of Gelman et al., Bayesian Data Analysis, 5.5, is 7.7."""
    effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    found = empirical_bayes(effects, np.array([15.0, 10, 16, 11, 9, 11, 10, 18]) ** 2)
    assert found.mean == pytest.approx(7.7, abs=0.05)
    assert found.tau2 == 0.0
    # Without Morris's factor of 5/7, all estimates would be equal to the mean.
    assert_allclose(found.estimate, effects - 5 / 7 * (effects - found.mean), rtol=1e-12)


def test_estimates_are_metafors_blups_except_for_the_factor():
    """`blup.rma.uni` with the mean and tau2 of metafor 3.8.1 (REML); Morris's factor is 2/4."""
    y = np.array([0.82, 0.78, 0.91, 0.7, 0.86])
    v = np.array([0.001, 0.0022, 0.0006, 0.003, 0.0015])
    mean, tau2 = 0.823092577122, 0.004319256836
    blup = (tau2 * y + v * mean) / (v + tau2)
    found = empirical_bayes(y, v)
    assert_allclose(found.estimate, (y + blup) / 2, rtol=1e-7)


def test_reliability_increases_with_the_number_of_rows():
    v = np.array([1e-7, 1e-5, 1e-4, 1e-3, 1e-2])
    found = empirical_bayes([0.7, 0.9, 0.8, 0.85, 0.75], v)
    assert (np.diff(found.reliability) < 0).all()
    assert_allclose(found.reliability, 1 - 2 / 4 * v / (v + found.tau2), rtol=1e-12)
    assert found.standard_error[0] == pytest.approx(np.sqrt(1e-7), rel=1e-3)


def test_equal_values_have_no_spread():
    found = empirical_bayes([0.8] * 6, [0.01] * 6)
    assert found.tau2 == 0.0
    assert_allclose(found.estimate, 0.8, rtol=1e-12)
    # The variance of one of six equal values: v (1 - 5/6 * 3/5)
    assert_allclose(found.standard_error, np.sqrt(0.01 * (1 - 5 / 6 * 3 / 5)), rtol=1e-12)


# The table ---------------------------------------------------------------------------------------


def ranks_by_comparisons(report, confidence_level=0.95):
    """Return first and last rank by label, from the table of all pairs."""
    table = report.compare_groups(confidence_level=confidence_level)
    pairs = table[~table["ci_low"].isna()]
    larger, smaller, labels = {}, {}, set()
    for (one, other), row in zip(pairs.index, pairs.itertuples(), strict=True):
        labels |= {one, other}
        if row.ci_low > 0:
            one, other = other, one
        elif not row.ci_high < 0:
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
    table = report.ranking(confidence_level)
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
    # One-sided comparisons with one group rule out more groups than those of all pairs.
    worst = table["may_be_worst"]
    assert worst.any()
    assert (table.loc[worst, "rank_high"] == len(table)).all()


def may_be_worst_by_pairs(counts, confidence_level=0.95):
    """Return the groups that may be worst, from a report of each pair of groups."""
    k = len(counts)
    tail = 1 - confidence_level ** (1 / (k - 1))
    found = np.ones(k, bool)
    for pair in itertools.combinations(range(k), 2):
        report = GroupAUC(counts.select_groups(np.array(pair)))
        (row,) = report.compare_groups(confidence_level=1 - 2 * tail).itertuples()
        found[pair[0]] &= not row.ci_low > 0
        found[pair[1]] &= not row.ci_high < 0
    return found


@pytest.mark.parametrize("bins", [None, COARSE])
@pytest.mark.parametrize("confidence_level", [0.5, 0.95])
def test_groups_that_may_be_worst_are_those_of_all_one_sided_comparisons(bins, confidence_level):
    counts = counts_of(n_groups=5, spread=0.4)
    counts = counts if bins is None else counts.reduced(bins)
    found = GroupAUC(counts).ranking(confidence_level)["may_be_worst"]
    assert_array_equal(found, may_be_worst_by_pairs(counts, confidence_level))
    assert 0 < found.sum() < len(found)


def test_fewer_comparisons_rule_out_fewer_groups(monkeypatch):
    report = GroupAUC(counts_of(n_groups=12, spread=1.0))
    all_compared = report.ranking()["may_be_worst"]
    monkeypatch.setattr(rank_sets, "_MOST_OTHERS", 2)
    monkeypatch.setattr(rank_sets, "_AT_ONCE", 5)
    found = report.ranking()["may_be_worst"]
    assert (found | ~all_compared).all()
    assert not found.all()


def test_a_level_below_one_half_keeps_the_smallest_auc():
    table = GroupAUC(counts_of(n_groups=2)).ranking(0.2)
    assert table["may_be_worst"].tolist() == (table["auc"] == table["auc"].min()).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_shrunken_aucs_are_those_of_the_heterogeneity_table(weighted):
    report = GroupAUC(counts_of(weighted=weighted))
    table, of_all = report.ranking(0.9), report.heterogeneity().loc["reml"]
    k, v = report.n_groups, report.variances.shared
    b = (k - 3) / (k - 1) * v / (v + report.tau**2)
    assert_allclose(table["reliability"], 1 - b, rtol=1e-8)
    assert_allclose(
        table["shrunken_auc"], table["auc"] - b * (table["auc"] - of_all["mean"]), rtol=1e-8
    )
    w = 1 / (v + report.tau**2)
    error = v * (1 - (1 - w / w.sum()) * b)
    error += (2 / (k - 3) * b**2 * w * (w @ v / w.sum() + report.tau**2)) * (
        table["auc"] - of_all["mean"]
    ) ** 2
    reach = stats.norm.isf(0.05) * np.sqrt(error)
    assert_allclose(table["ci_low"], np.maximum(table["shrunken_auc"] - reach, 0), rtol=1e-8)
    assert_allclose(table["ci_high"], np.minimum(table["shrunken_auc"] + reach, 1), rtol=1e-8)
    assert (table["note"] == "").all()


def test_a_summary_has_the_table_of_its_counts():
    counts = counts_of()
    pd.testing.assert_frame_equal(
        GroupAUC(counts).ranking(), GroupAUC(counts.reduced("summary")).ranking()
    )


@pytest.mark.parametrize("disclosure", [COARSE, "summary"])
def test_limits_of_binned_scores_are_those_of_both_extremes(disclosure):
    counts = counts_of().reduced(COARSE)
    report = GroupAUC(counts if disclosure is COARSE else counts.reduced(disclosure))
    lowest, highest = (GroupAUC(end).ranking() for end in report.counts.extremes())
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
    alone = GroupAUC(counts.select_groups(np.arange(5))).ranking()
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
    assert table["note"].tolist() == ["", "not ranked: effective sample size of a class below 1.5"]
    assert table["rank"].isna().tolist() == [False, True]


@pytest.mark.parametrize("n_groups", [1, 2, 3])
def test_fewer_than_four_groups_are_not_shrunken(n_groups):
    report = GroupAUC(counts_of(n_groups=n_groups))
    table, intervals = report.ranking(0.8), report.confidence_intervals(0.8)
    assert_array_equal(table["shrunken_auc"], table["auc"])
    assert_array_equal(table["reliability"], 1.0)
    assert_array_equal(table["ci_low"], intervals["ci_low"])
    assert_array_equal(table["ci_high"], intervals["ci_high"])
    assert table["rank_high"].max() == n_groups


def test_tables_without_groups_or_rows():
    none = GroupAUC(ScoreCounts.from_counts([], [], [], [])).ranking()
    assert none.columns.tolist() == COLUMNS
    assert len(none) == 0
    one = GroupAUC(ScoreCounts.from_predictions([0, 1, 1, 0], [0.1, 0.4, 0.2, 0.3])).ranking()
    assert one[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1]]
    assert one["may_be_worst"].tolist() == [True]


def test_perfect_groups_are_tied():
    y = np.tile([0, 1], 60)
    scores = y + np.random.default_rng(0).random(120) / 2
    scores[:30] = np.random.default_rng(1).random(30)
    report = GroupAUC.from_predictions(y, scores, groups=np.repeat(list("abcd"), 30))
    table = report.ranking()
    assert table["rank"].tolist() == [4, 1, 1, 1]
    assert table["rank_low"].tolist() == [4, 1, 1, 1]
    assert table["rank_high"].tolist() == [4, 3, 3, 3]
    assert table["may_be_worst"].tolist() == [True, False, False, False]
    assert table["ci_high"].max() <= 1.0


def test_many_groups_are_compared_by_their_intervals(monkeypatch):
    report = GroupAUC(counts_of(spread=1.0))
    k = report.n_groups
    monkeypatch.setattr(pairwise, "MOST_GROUPS", 3)
    table = report.ranking(0.9)
    intervals = report.confidence_intervals(1 - 0.1 / k)
    low, high = (intervals[name].to_numpy() for name in ("ci_low", "ci_high"))
    assert_array_equal(table["rank_low"], 1 + (low[:, None] > high).sum(axis=0))
    assert_array_equal(table["rank_high"], k - (high[:, None] < low).sum(axis=0))
    assert (table["rank_low"] > 1).any()


def test_blocks_of_groups_are_compared_completely():
    """More groups than the comparisons of one block."""
    rng, k = np.random.default_rng(0), 300
    true = np.where(np.arange(k) < 5, -1.0, 6.0)
    groups = np.repeat(np.arange(k), 80)
    y = np.tile([0, 1], k * 40)
    scores = rng.normal(size=groups.size) + y * true[groups]
    table = GroupAUC.from_predictions(y, scores, groups=groups).ranking()
    assert (table["rank_low"][:5] > k - 5).all()
    assert (table["rank_high"][:5] == k).all()
    assert (table["rank_high"][5:] == k - 5).all()
    assert (table["rank_low"][5:] == 1).all()
    assert table["may_be_worst"].tolist() == [True] * 5 + [False] * (k - 5)


def test_reports_within_folds():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=600), "site": rng.integers(0, 5, 600)})
    y = (X["x"] * (1 + X["site"]) / 2 + rng.normal(size=600) > 0).astype(int)
    found = cross_validate_group_auc(
        LogisticRegression(), X, y, groups="site", cv=StratifiedKFold(3)
    )
    table = found.within_folds.ranking()
    expected = ranks_by_comparisons(found.within_folds)
    assert {row.Index: (row.rank_low, row.rank_high) for row in table.itertuples()} == expected
    assert table["shrunken_auc"].notna().all()


def test_wrong_arguments_are_an_error():
    report = GroupAUC(counts_of())
    with pytest.raises(ValueError, match=r"confidence_level .* got 95. Pass 0.95 for 95 %"):
        report.ranking(95)


def test_sets_of_ranks_and_intervals_cover_the_truth():
    rng, n_runs, k = np.random.default_rng(0), 60, 10
    m = np.geomspace(10, 200, k).astype(int)
    groups = np.repeat(np.arange(k), 3 * m)
    y = np.concatenate([np.arange(3 * of) < of for of in m])
    errors, covered, contained, has_worst = [], [], [], []
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, 0.04, k), 0.6, 0.95)
        scores = rng.normal(size=y.size)
        scores += y * (stats.norm.ppf(auc) * np.sqrt(2))[groups]
        table = GroupAUC.from_predictions(y, scores, groups=groups).ranking()
        rank = stats.rankdata(-auc, method="min")
        contained.append(((table["rank_low"] <= rank) & (rank <= table["rank_high"])).all())
        covered.append(((table["ci_low"] <= auc) & (auc <= table["ci_high"])).mean())
        has_worst.append(table["may_be_worst"].to_numpy()[auc.argmin()])
        of_run = [((table[name] - auc) ** 2).mean() for name in ("auc", "shrunken_auc")]
        errors.append(of_run)
    assert np.mean(contained) > 0.9
    assert np.mean(has_worst) > 0.9
    assert 0.9 < np.mean(covered) < 0.99
    raw, shrunken = np.sqrt(np.mean(errors, axis=0))
    assert shrunken < 0.8 * raw


# Average ranks -----------------------------------------------------------------------------------

# Demsar (2006), table 6: AUCs of C4.5 with and without parameter tuning on 14 data sets
DEMSAR = """
.763 .768 .771 .798
.599 .591 .590 .569
.954 .971 .968 .967
.628 .661 .654 .657
.882 .888 .886 .898
.936 .931 .916 .931
.661 .668 .609 .685
.583 .583 .563 .625
.775 .838 .866 .875
1.00 1.00 1.00 1.00
.940 .962 .965 .962
.619 .666 .614 .669
.972 .981 .978 .975
.957 .978 .946 .970
"""
AUCS = np.array([[float(x) for x in line.split()] for line in DEMSAR.strip().splitlines()])


def test_average_ranks_are_those_of_demsar():
    found = average_ranks(AUCS, 0.95)
    assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    # Demsar's chi-square of 9.28 is not corrected for ties.
    squares = ((stats.rankdata(-AUCS, axis=1) - 2.5) ** 2).sum()
    assert found.statistic * squares / 70 == pytest.approx(9.28, abs=5e-3)
    assert [models.tolist() for models in undetected(found.ranks, 1.25)] == [[3, 1, 2, 0]]
    # At 10 %, both tuned trees with m are better than C4.5.
    of_10 = average_ranks(AUCS, 0.9)
    assert of_10.critical_difference == pytest.approx(1.12, abs=5e-3)
    sets = undetected(of_10.ranks, of_10.critical_difference)
    assert [models.tolist() for models in sets] == [[3, 1, 2], [2, 0]]


@pytest.mark.parametrize(
    ("confidence_level", "quantiles"),
    [
        (0.95, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.90, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_are_those_of_demsar(confidence_level, quantiles):
    """Demsar (2006), table 5 (a): critical values of Nemenyi's test."""
    rng = np.random.default_rng(0)
    for k, quantile in enumerate(quantiles, 2):
        found = average_ranks(rng.random((20, k)), confidence_level)
        expected = quantile * np.sqrt(k * (k + 1) / 120)
        assert found.critical_difference == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize("digits", [1, 8])
def test_friedmans_test_is_that_of_scipy(digits):
    values = np.round(np.random.default_rng(0).random((15, 5)), digits)
    found = average_ranks(values, 0.95)
    statistic = stats.friedmanchisquare(*values.T).statistic
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    ratio = 14 * statistic / (15 * 4 - statistic)
    assert found.pvalue == pytest.approx(stats.f.sf(ratio, 4, 56), rel=1e-10)


def test_equal_and_perfect_orders():
    tied = average_ranks(np.ones((5, 3)), 0.95)
    assert (tied.statistic, tied.pvalue) == (0.0, 1.0)
    assert tied.ranks.tolist() == [2.0, 2.0, 2.0]
    # All five groups have the same order of three models with probability (1/6)^4.
    perfect = average_ranks(np.tile([0.9, 0.7, 0.8], (5, 1)), 0.95)
    assert perfect.ranks.tolist() == [1.0, 3.0, 2.0]
    assert perfect.pvalue == pytest.approx(6.0**-4)


@pytest.mark.parametrize("critical", [0.1, 0.5, 2.0])
def test_undetected_sets_are_all_largest_sets(critical):
    ranks = np.random.default_rng(1).uniform(1, 7, 7).round(1)
    near = [
        set(models)
        for size in range(2, 8)
        for models in itertools.combinations(range(7), size)
        if np.ptp(ranks[list(models)]) < critical
    ]
    largest = [one for one in near if not any(one < other for other in near)]
    found = [set(models.tolist()) for models in undetected(ranks, critical)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
