"""Clustered rows: variances by brute force, reference values, refusals, merging."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from oracles import placements
from scipy import stats
from test_inference import CLUSTERS, GROUPS, S1, S1_VARIANCE, Y

from skfedauc import DisclosureError, GroupAUC, ScoreCounts, compare_models, rows_needed
from skfedauc.counts.score_counts import extremes_of
from skfedauc.inference import intervals
from skfedauc.inference.differences import _group_and_rest
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.row_effects import Rows, cluster_effects
from skfedauc.measures import PartialAUC
from skfedauc.report.group_auc import null_difference_of
from skfedauc.report.statistics import AVERAGES

NAMES = ["site", "patient"]


def simulated(seed, shared=False, weighted=False, n=240, n_groups=4, n_clusters=40):
    """Return rows with ties and unequal clusters; some clusters have rows of one class."""
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(0, n_clusters, n))
    groups = rng.integers(0, n_groups, n) if shared else clusters % n_groups
    y = rng.random(n) < 0.4
    scores = (rng.normal(size=n) + rng.normal(size=n_clusters)[clusters] + y).round(1)
    weights = rng.uniform(0.5, 3.0, n) if weighted else None
    known = {"groups": groups, "clusters": clusters, "sample_weight": weights}
    return {"y_true": y, "y_score": scores, **known}


def report_of(rows, **changed):
    return GroupAUC.from_predictions(**{**rows, **changed})


def independent(rows):
    return report_of(rows, clusters=None)


def counts_of(rows, kept=slice(None), **options):
    both = pd.DataFrame({"site": rows["groups"], "patient": rows["clusters"]})[kept]
    weights = rows["sample_weight"]
    return ScoreCounts.from_predictions(
        rows["y_true"][kept],
        rows["y_score"][kept],
        groups=both.reset_index(drop=True),
        sample_weight=None if weights is None else weights[kept],
        **options,
    )


def compared(rows, other, **options):
    known = {name: rows[name] for name in ("groups", "clusters", "sample_weight")}
    options |= {**known, "min_per_class": 1}
    return compare_models(rows["y_true"], {"a": rows["y_score"], "b": other}, **options)


def weights_of(rows):
    given = rows["sample_weight"]
    return np.ones(rows["y_true"].size) if given is None else given


def placements_of(rows, mine):
    """Return the placement value of each row of `mine` among these rows, and 0 for other rows."""
    found = placements(rows["y_true"], rows["y_score"], weights_of(rows), np.outer(mine, mine))
    return np.nan_to_num(found)


def residuals_of(rows, g):
    """Return the corrected residuals of each cluster by class."""
    y, w, clusters = rows["y_true"], weights_of(rows), rows["clusters"]
    mine = rows["groups"] == g
    placements = placements_of(rows, mine)
    residuals = np.zeros((2, clusters.max() + 1))
    for i, of_class in enumerate((mine & y, mine & ~y)):
        auc = np.average(placements[of_class], weights=w[of_class])
        for c, correction in corrections_of(rows, of_class).items():
            total = (w * (placements - auc))[of_class & (clusters == c)].sum()
            residuals[i, c] = correction * total / w[of_class].sum()
    return residuals


def corrections_of(rows, of_class):
    """Return Bell and McCaffrey's correction of each cluster with rows of a class of a group."""
    w, clusters = weights_of(rows), rows["clusters"]
    total = w[of_class].sum()
    share = {c: w[of_class & (clusters == c)].sum() / total for c in set(clusters[of_class])}
    squares = sum(p**2 for p in share.values())
    return {c: 1 / np.sqrt((1 - p) ** 2 + squares - p**2) for c, p in share.items()}


def covariances_of(rows, labels=range(4)):
    of_groups = np.array([residuals_of(rows, g).sum(axis=0) for g in labels])
    return of_groups @ of_groups.T


CASES = [(seed, shared, weighted) for seed in range(2) for shared in (0, 1) for weighted in (0, 1)]


@pytest.mark.parametrize(("seed", "shared", "weighted"), CASES)
def test_variances_equal_sums_over_rows(seed, shared, weighted):
    rows = simulated(seed, shared, weighted)
    found = report_of(rows)._estimates.variances
    assert found.shares_clusters == bool(shared)
    expected = covariances_of(rows)
    assert_allclose(found.delong, np.diag(expected), rtol=1e-10)
    assert_allclose(found.auc, independent(rows)._estimates.variances.auc, rtol=0)
    share = np.random.default_rng(seed).dirichlet(np.ones(4))
    assert_allclose(found.of_average(share), share @ expected @ share, rtol=1e-10)
    matrix = found.clusters.correlation_matrix(np.ones(4, bool))
    assert found.shares_clusters == bool(shared)
    if not shared:
        assert_allclose(matrix, np.eye(4), rtol=1e-12)
        return
    deviations = np.sqrt(np.diag(expected))
    correlations = expected / np.outer(deviations, deviations)
    off = ~np.eye(4, dtype=bool)
    assert_allclose(matrix[off], correlations[off], rtol=1e-9, atol=1e-12)
    first, second = np.triu_indices(4, 1)
    assert_allclose(
        found.clusters.correlations(first, second), correlations[first, second], rtol=1e-9
    )


@pytest.mark.parametrize(("seed", "shared", "weighted"), CASES)
def test_variance_of_pooled_for_fixed_groups_equals_sums_over_rows(seed, shared, weighted):
    rows = simulated(seed, shared, weighted)
    y, w, groups, clusters = rows["y_true"], weights_of(rows), rows["groups"], rows["clusters"]
    pooled = placements_of(rows, np.ones(y.size, bool))
    residuals = np.zeros((4, 2, 40))
    for g in range(4):
        for i, of_class in enumerate((y, ~y)):
            mine = of_class & (groups == g)
            centre = np.average(pooled[mine], weights=w[mine])
            deviations = (w * (pooled - centre))[mine] / w[of_class].sum()
            correction = np.zeros(40)
            for c, of_cluster in corrections_of(rows, mine).items():
                correction[c] = of_cluster
            residuals[g, i] += correction * np.bincount(clusters[mine], deviations, 40)
    expected = (residuals.sum(axis=(0, 1)) ** 2).sum()
    found = report_of(rows)._estimates.pooled.fixed
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("seed", "shared", "weighted"), CASES)
def test_paired_comparison_equals_sums_over_rows(seed, shared, weighted):
    rows = simulated(seed, shared, weighted)
    other = (rows["y_score"] + np.random.default_rng(seed).normal(size=240)).round(1)
    found = compared(rows, other, statistic="macro")
    rows_of_other = {**rows, "y_score": other}
    of_groups = np.array(
        [(residuals_of(rows, g) - residuals_of(rows_of_other, g)).sum(axis=0) for g in range(4)]
    )
    variances = of_groups @ of_groups.T
    table = found.by_group
    assert_allclose((table["difference"] / table["statistic"]) ** 2, np.diag(variances), rtol=1e-8)
    row = found.table.iloc[0]
    assert (row.difference / row.statistic) ** 2 == pytest.approx(variances.mean(), rel=1e-8)


def covariance_parts(rows, g):
    """Return parts of a variance due to pairs of rows of a cluster, weights of pairs, and scales.

    The rows of the result are pairs of negatives, of positives, and of a positive and a negative.
    """
    y, w, clusters, mine = rows["y_true"], weights_of(rows), rows["clusters"], rows["groups"] == g
    placements = placements_of(rows, mine)
    share, deviation = np.zeros((2, y.size)), np.zeros((2, y.size))
    for i, of_class in enumerate((mine & ~y, mine & y)):
        share[i, of_class] = w[of_class] / w[of_class].sum()
        deviation[i] = share[i] * (placements - np.average(placements, weights=share[i]))
    squares = (share**2).sum(axis=1)
    own = (deviation**2).sum(axis=1) / (1 - squares)
    x, z = residuals_of(rows, g)
    parts = np.array([(z**2).sum() - own[0], (x**2).sum() - own[1], 2 * (x * z).sum()])
    pairs = np.zeros(3)
    for c in set(clusters[mine]):
        negative, positive = share[:, clusters == c]
        pairs += [
            np.outer(negative, negative)[~np.eye(negative.size, dtype=bool)].sum(),
            np.outer(positive, positive)[~np.eye(positive.size, dtype=bool)].sum(),
            2 * np.outer(negative, positive).sum(),
        ]
    scales = np.array([squares[0] ** -2, squares[1] ** -2, 1 / np.prod(squares)])
    return parts, pairs, scales


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_of_averages_add_the_correlations_of_shared_clusters(weighted):
    rows = simulated(0, shared=True, weighted=weighted)
    report = report_of(rows)
    covariances = covariances_of(rows)
    deviations = np.sqrt(np.diag(covariances))
    freedom = report._estimates.variances.average_freedom(np.full(4, 0.25))
    spread = intervals.AUCSpread.of(report._estimates.variances)._replace(
        degrees_of_freedom=freedom
    )
    low, high = spread.limits(normal_quantile(0.025), "logit")
    found = report.confidence_intervals(of="statistics", over="rows").loc["macro"]
    below, above = (
        np.sqrt(parts @ covariances @ parts)
        for parts in (
            (report._estimates.variances.auc - end) / deviations / 4 for end in (low, high)
        )
    )
    assert found["value"] - found["ci_low"] == pytest.approx(below, rel=1e-9)
    # The upper limit of the average's logit can be further out.
    assert found["ci_high"] - found["value"] >= above * (1 - 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_covariances_equal_sums_over_pairs_of_rows(weighted):
    rows = simulated(0, weighted=weighted)
    parts, pairs, scales = np.moveaxis([covariance_parts(rows, g) for g in range(4)], 1, 0)
    covariances = (scales * parts).sum(axis=0) / (scales * pairs).sum(axis=0)
    expected = independent(rows)._estimates.variances.shared + pairs @ covariances
    assert_allclose(report_of(rows)._estimates.variances.shared, expected, rtol=1e-9)


def test_unknown_variance_of_a_group_may_be_correlated_with_the_others():
    rows = simulated(0, shared=True)
    first = np.flatnonzero(rows["y_true"] & (rows["groups"] == 2))[0]
    rows["y_true"] &= (rows["groups"] != 2) | (rows["clusters"] == rows["clusters"][first])
    variances = report_of(rows)._estimates.variances
    assert variances.estimable.tolist() == [True, True, False, True]
    known = [0, 1, 3]
    covariances = covariances_of(rows, known)
    error = np.sqrt(covariances.sum()) / 4 + np.sqrt(variances.bounded[2]) / 4
    found = variances.of_average(np.full(4, 0.25))
    assert found == pytest.approx(error**2, rel=1e-9)
    other = rows["y_score"] + np.random.default_rng(0).normal(size=240)
    for statistic in ("pooled", *AVERAGES):
        found = compared(rows, other, statistic=statistic)
        assert 0 <= found.pvalue <= 1
    assert found.by_group["pvalue"].notna().tolist() == [True, True, False, True]


def test_variance_of_unequal_fully_dependent_clusters_is_unbiased():
    """All rows of a cluster deviate by the same amount, with equal probability up or down."""
    weights = np.array([7.0, 1.0, 1.0, 2.0, 4.0])
    none = np.zeros(5)
    rows = Rows(none < 1, none[None], weights, none.astype(np.intp), 1, np.arange(5))
    found = [
        (cluster_effects(rows, np.array([signs]))[0] ** 2).sum()
        for signs in itertools.product([-1.0, 1.0], repeat=5)
    ]
    share = weights / weights.sum()
    assert np.mean(found) == pytest.approx((share**2).sum(), rel=1e-12)
    # With the correction of equal clusters, the variance would be 33 % too small.
    assert 5 / 4 * (share**2 * (1 - 2 * share + (share**2).sum())).sum() < 0.7 * np.mean(found)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_rows_as_clusters_give_delongs_variance(groups):
    given = ["all"] * 20 if groups is None else groups
    aware = GroupAUC.from_predictions(Y, S1, groups=given, clusters=np.arange(20))
    blind = GroupAUC.from_predictions(Y, S1, groups=given)
    one, other = aware._estimates.variances, blind._estimates.variances
    if groups is None:
        assert_allclose(one.delong, [S1_VARIANCE], rtol=1e-12)
    for name in ("delong", "n_pairs", "estimable", "bounded", "once", "often"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-15)
    assert_allclose(one.shared, other.shared, rtol=1e-10)
    fixed = [report._estimates.pooled.fixed for report in (aware, blind)]
    assert fixed[0] == pytest.approx(fixed[1], rel=1e-10)


def test_intervals_use_students_t():
    """With equal clusters, the degrees of freedom are the number of clusters minus one."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(12), 10)
    y = np.tile(np.arange(10) % 2 == 0, 12)
    scores = rng.normal(size=120) + y
    report = GroupAUC.from_predictions(y, scores, groups=["all"] * 120, clusters=clusters)
    assert_allclose(report._estimates.variances.degrees_of_freedom, [11.0])
    row = report.confidence_intervals(method="delong").iloc[0]
    reach = stats.t.ppf(0.975, 11) * np.sqrt(report._estimates.variances.delong[0])
    assert_allclose(
        [row.ci_low, row.ci_high], [row.auc - reach, min(row.auc + reach, 1)], rtol=1e-9
    )
    table = report.confidence_intervals(method="delong", of="statistics")
    for name in ("pooled", "macro", "worst"):
        assert_allclose(table.loc[name, "ci_low"], row.ci_low, rtol=1e-9)
    logit = report.confidence_intervals().iloc[0]
    reach /= row.auc * (1 - row.auc)
    odds = np.log(row.auc / (1 - row.auc))
    assert logit.ci_low <= 1 / (1 + np.exp(reach - odds)) + 1e-12


@pytest.mark.parametrize("weighted", [False, True])
def test_degrees_of_freedom_of_the_other_groups_are_satterthwaites(weighted):
    variances = report_of(simulated(1, weighted=weighted))._estimates.variances
    spread, rest = _group_and_rest(variances, variances.shared)
    for g in range(4):
        parts = np.delete(variances.size_weights**2 * spread.variance, g)
        freedom = np.delete(spread.degrees_of_freedom, g)
        expected = parts.sum() ** 2 / (parts**2 / freedom).sum()
        assert rest.degrees_of_freedom[g] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [independent, report_of])
def test_pairs_of_the_other_groups_are_at_most_their_weights(make):
    """The limit of perfect separation holds for an average by weight, which is below the pairs."""
    report = make(simulated(1))
    variances, counts = report._estimates.variances, report.counts
    weights = 1 / (1 / counts.n_positives + 1 / counts.n_negatives)
    expected = [np.delete(np.minimum(weights, variances.n_pairs), g).sum() for g in range(4)]
    assert_allclose(_group_and_rest(variances, variances.shared)[1].n_pairs, expected)


def test_shared_clusters_change_the_test_of_a_difference():
    """With scores of the same patients in both groups, the difference has a smaller variance."""
    rng = np.random.default_rng(1)
    n = 60
    clusters, groups = np.tile(np.arange(n), 2), np.repeat([0, 1], n)
    y = np.tile(np.arange(n) % 2 == 0, 2)
    scores = np.tile(rng.normal(size=n), 2) + 0.3 * rng.normal(size=2 * n) + y * (1 + 0.6 * groups)
    report = GroupAUC.from_predictions(y, scores, groups=groups, clusters=clusters)
    separate = GroupAUC.from_predictions(y, scores, groups=groups, clusters=np.arange(2 * n))
    variances = report._estimates.variances
    correlation = variances.clusters.correlation_matrix(np.ones(2, bool))[0, 1]
    assert correlation > 0.5
    test, other = report.test_difference(), separate.test_difference()
    assert test.pvalue < other.pvalue
    table = report.compare_groups()
    assert test.pvalue == pytest.approx(table["pvalue"].iloc[0], rel=1e-6)
    limits, r = report.confidence_intervals(), correlation
    a, b = limits["auc"]
    squared = np.square([a - limits["ci_low"].iloc[0], limits["ci_high"].iloc[1] - b])
    quantile = stats.t.ppf(0.975, variances.degrees_of_freedom.min())
    errors = quantile * np.sqrt(variances.delong)
    own = squared + r * np.maximum(errors**2 - squared, 0)
    reach = np.sqrt((1 - r) * own.sum() + r * np.ptp(errors) ** 2)
    assert table["ci_low"].iloc[0] == pytest.approx(a - b - reach, rel=1e-9)
    one_sided = report.compare_groups(confidence_level=0.9).iloc[0]
    limit = max(one_sided["ci_high"], -one_sided["ci_low"])
    assert report.test_margin(0.1).ci_high == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize("seed", [242, None])
def test_few_clusters_in_both_groups_give_no_p_value_of_zero(seed):
    """Few clusters can have a correlation of nearly 1, or of 1, by chance."""
    if seed is None:  # In the second group, each positive is above one more negative.
        y, score = np.repeat([True, False], 3), np.array([[4, 2, 0, 1, 3, 5], [6, 4, 2, 1, 3, 5]])
    else:
        rng, y = np.random.default_rng(seed), np.arange(43) < 3
        score = np.sqrt(0.9) * rng.normal(size=43) + np.sqrt(0.1) * rng.normal(size=(2, 43))
        score += 1.19 * y
    report = GroupAUC.from_predictions(
        np.tile(y, 2),
        score.ravel(),
        groups=np.repeat([0, 1], y.size),
        clusters=np.tile(np.arange(y.size), 2),
    )
    correlation = report._estimates.variances.clusters.correlation_matrix(np.array([0, 1]))[0, 1]
    assert correlation > (0.98 if seed else 1 - 1e-9)
    found = report.test_difference()
    assert found.estimate > 0.1
    assert found.pvalue > 0.05
    for level in (0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-12):
        test = report.test_difference(confidence_level=level)
        pair = report.compare_groups(confidence_level=level).iloc[0]
        assert (test.ci_low > 0) == (test.pvalue < 1 - level)
        assert (pair.ci_low > 0 or pair.ci_high < 0) == (pair.pvalue < 1 - level)


def test_a_single_cluster_gives_the_widest_interval():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2 == 0
    report = GroupAUC.from_predictions(
        y, rng.normal(size=100) + y, groups=["a"] * 100, clusters=["one"] * 100
    )
    row = report.confidence_intervals().iloc[0]
    assert row.note == "fewer than two clusters of a class: variance bounded"
    assert row.ci_low < 0.1
    assert row.ci_high > 0.9
    found = compare_models(y, rng.normal(size=(100, 2)), clusters=["one"] * 100)
    assert np.isnan(found.pvalue)


def tables_of(report):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            report.confidence_intervals(),
            report.confidence_intervals(of="statistics", over="rows"),
            report.compare_groups(),
        ]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_by_group_and_cluster_give_the_report_of_the_rows(shared, weighted):
    rows = simulated(0, shared, weighted)
    report = report_of(rows)
    first = np.random.default_rng(0).random(240) < 0.5
    for counts in (
        counts_of(rows),
        counts_of(rows, first) + counts_of(rows, ~first),  # clusters at both sites
        ScoreCounts.from_counts(**counts_of(rows).to_counts()),
    ):
        same = GroupAUC(counts, clusters="patient")
        n_clusters = report._estimates.pairs.clusters.n_clusters
        assert same.n_groups == 4
        assert same._estimates.pairs.clusters.n_clusters == n_clusters
        assert same._estimates.group_names == ("site",)
        assert same.counts == report.counts
        assert same._estimates.variances.shares_clusters == shared
        for one, other in zip(tables_of(same), tables_of(report), strict=True):
            numbers = one.select_dtypes("number"), other.select_dtypes("number")
            assert_allclose(*numbers, rtol=1e-9, atol=1e-13)


def test_equal_labels_at_two_sites_are_one_cluster():
    """Patients 0 to 9 of both sites are different patients if both columns are passed."""
    rng = np.random.default_rng(0)
    site, patient = np.repeat(["bern", "oslo"], 60), np.tile(np.repeat(np.arange(10), 6), 2)
    y, scores = rng.random(120) < 0.4, rng.normal(size=120)
    columns = pd.DataFrame({"site": site, "patient": patient})
    same = GroupAUC.from_predictions(y, scores, groups=site, clusters=patient)
    assert same._estimates.pairs.clusters.n_clusters == 10
    assert "in 10 clusters (10 in several groups)" in repr(same)
    with pytest.raises(ValueError, match="same label are the same cluster: if they are different"):
        same.test_equal_groups()
    counts = ScoreCounts.from_predictions(y, scores, groups=columns)
    assert GroupAUC(counts, clusters="patient")._estimates.pairs.clusters.n_clusters == 10

    different = GroupAUC.from_predictions(y, scores, groups=site, clusters=columns)
    assert different._estimates.pairs.clusters.n_clusters == 20
    assert not different._estimates.variances.shares_clusters
    numbers = patient + 10 * (site == "oslo")
    pvalues = [
        compare_models(y, {"a": scores, "b": -scores}, groups=site, clusters=of).pvalue
        for of in (columns, numbers)
    ]
    assert pvalues[0] == pytest.approx(pvalues[1])


def test_intervals_of_binned_scores_contain_those_of_both_extremes():
    rows = simulated(0)
    rows["y_score"] = 1 / (1 + np.exp(-rows["y_score"]))
    counts = counts_of(rows, disclosure="bins")
    report = GroupAUC(counts, clusters="patient")
    found = report.confidence_intervals()
    lowest, highest = (
        GroupAUC(end, group_names=NAMES, clusters="patient") for end in extremes_of(counts)
    )
    assert_allclose(found["ci_low"], lowest.confidence_intervals()["ci_low"], rtol=1e-9)
    assert_allclose(found["ci_high"], highest.confidence_intervals()["ci_high"], rtol=1e-9)


PARTIAL = PartialAUC(max_fpr=0.5)
# Whether clusters of several groups are needed, the call, and the message
REFUSED = {
    "exact": (False, lambda r: r.confidence_intervals(method="exact"), "assumes independent rows"),
    "agreement": (False, lambda r: r.agreement(), "agreement assumes independent rows"),
    "measure": (
        False,
        lambda r: GroupAUC(r._estimates.pairs, measure=PARTIAL).confidence_intervals(),
        "the interval of 'partial_auc_max_fpr_0.5' assumes independent rows",
    ),
    "planning": (False, lambda r: rows_needed(r, width=0.1), "rows_needed assumes independent"),
    "equal": (True, lambda r: r.test_equal_groups(), r"Use test_difference\(\)"),
    "rest": (True, lambda r: r.compare_groups("rest"), "Compare all pairs of groups"),
    "ranking": (True, lambda r: r.ranking(), "ranking assumes independent groups"),
    "null": (True, null_difference_of, "null_difference assumes independent groups"),
    "over": (
        True,
        lambda r: r.confidence_intervals(of="statistics", over="groups"),
        "Pass over='rows'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_independent_rows_or_groups_is_refused(name):
    shared, call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call(report_of(simulated(0, shared=shared)))


def test_shared_clusters_are_seen_and_tau_is_undefined():
    report = report_of(simulated(0, shared=True), undefined="ignore")
    assert "in several groups)" in repr(report)
    assert np.isnan(report.tau)
    rows = simulated(0, shared=True, n=1000, n_groups=25)
    table = report_of(rows).confidence_intervals(of="statistics")
    assert (table["estimand"] == "these groups, new rows").all()
    assert compared(rows, -rows["y_score"]).over == "rows"


def test_bad_clusters_of_counts():
    pairs = list(zip(GROUPS, CLUSTERS, strict=True))
    counts = ScoreCounts.from_predictions(Y, S1, groups=pairs)
    named = ScoreCounts.from_predictions(Y, S1, groups=pd.DataFrame(pairs, columns=NAMES))
    report = GroupAUC(named, clusters="patient")
    rows = ", or the cluster of each row to GroupAUC.from_predictions."
    for of, clusters, options, message in (
        (counts, "patient", {}, f"no names: pass group_names={NAMES}, for example{rows}"),
        (named, "ward", {}, f"the names are 'site', 'patient': pass one of them{rows}"),
        (counts, "person", {"group_names": NAMES}, "the names are 'site', 'patient'"),
        (report._estimates.pairs, "site", {"group_names": "site"}, "needs a ScoreCounts"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            GroupAUC(of, clusters=clusters, **options)
    with pytest.raises(TypeError, match="must be the name of the group column"):
        GroupAUC(counts, group_names=NAMES, clusters=CLUSTERS)
    with pytest.raises(DisclosureError, match="a report with clusters needs disclosure"):
        GroupAUC(named.reduced("summary"), clusters="patient")


def test_no_rows_and_one_class():
    empty = ScoreCounts.from_predictions([], [], groups=[], pos_label=1)
    report = GroupAUC(empty, group_names=NAMES, clusters="patient")
    assert (report.n_groups, report._estimates.pairs.clusters.n_clusters) == (0, 0)
    rows = simulated(0)
    rows["y_true"] = rows["y_true"] & (rows["groups"] != 2)
    report = report_of(rows, undefined="ignore")
    assert np.isnan(report._estimates.variances.delong[2])
    assert report.confidence_intervals()["note"].iloc[2] == "no positives"
    for table in tables_of(report):
        assert len(table)
    only = report_of(rows, y_true=np.zeros(240, bool), undefined="ignore")
    assert only.confidence_intervals(of="statistics")["ci_low"].isna().all()


def test_quantiles_of_few_clusters_exist_for_all_tails():
    freedom = np.random.default_rng(0).uniform(1, 6, 4000)
    spread = intervals.AUCSpread(*np.full((5, freedom.size), 0.5), freedom)
    found = np.array([spread.quantile(z) for z in (0.0, 5.0, 20.0, 30.0, 36.0, 38.0)])
    assert np.isfinite(found).all()
    assert (np.diff(found, axis=0) >= 0).all()


@pytest.mark.parametrize("reference", [None, 0.8])
def test_p_values_of_margins_agree_with_limits_for_few_clusters(reference):
    for seed in range(80, 120):
        rng = np.random.default_rng(seed)
        y, groups = rng.integers(0, 2, 60), rng.choice(["a", "b"], 60)
        clusters, score = rng.integers(0, 4, 60), y + rng.normal(size=60)
        report = GroupAUC.from_predictions(
            y, score, groups=groups, clusters=clusters, undefined="ignore"
        )
        found = report.test_margin(0.1, reference=reference)
        assert found.is_shown == (found.pvalue < 0.05)
