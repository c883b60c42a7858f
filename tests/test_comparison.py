"""Two models on the same rows: reference values, brute force over rows, unusual input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score
from test_inference import CLUSTERS, S1, S2, WEIGHTS, Y, placement

from skfedauc import GroupAUC, compare_roc_auc
from skfedauc.measures import (
    AveragePrecision,
    PartialAUC,
    Sensitivity,
    Specificity,
)
from skfedauc.report import shares


def rows(seed, n=240, n_groups=6, weighted=False):
    rng = np.random.default_rng(seed)
    y, base = rng.random(n) < 0.4, rng.normal(size=n)
    a, b = ((base + y + rng.normal(size=n)).round(1) for _ in range(2))
    return y, a, b, rng.integers(0, n_groups, n), rng.uniform(0.5, 3, n) if weighted else None


def influences(y, scores, weights, of):
    """Return the placement value of each row among the rows `of` of the other class."""
    found = []
    for i, label in enumerate(y):
        others = (y != label) & of[i]
        found.append(placement(1 if label else -1, scores[i], scores[others], weights[others]))
    return np.array(found)


def test_paired_test_equals_proc():
    """pROC compares the same statistic with the normal distribution."""
    found = compare_roc_auc(Y, S1, S2)
    assert found.statistic == pytest.approx(0.689591400229764, rel=1e-9)
    assert 2 * stats.norm.sf(found.statistic) == pytest.approx(0.490451176972435, rel=1e-9)
    every = np.ones((Y.size, Y.size), bool)
    placements = [influences(Y, np.array(s), np.ones(Y.size), every) for s in (S1, S2)]
    parts = [np.subtract(*placements)[mine] for mine in (Y == 0, Y == 1)]
    of_class, rows_of_class = (np.array([f(d) for d in parts]) for f in (stats.sem, len))
    freedom = (of_class**2).sum() ** 2 / (of_class**4 / (rows_of_class - 1)).sum()
    null = stats.t(freedom)
    assert found.pvalue == pytest.approx(2 * null.sf(found.statistic), rel=1e-9)
    row = found.table.loc["pooled"]
    error = row.difference / row.statistic
    variance = 0.00950923375165799 + 0.0127078869503112 - 2 * 0.00507409958167534
    assert error**2 == pytest.approx(variance, rel=1e-9)
    assert row.ci_high - row.ci_low == pytest.approx(2 * null.isf(0.025) * error, rel=1e-9)
    assert found.by_group is None


def test_clustered_test_uses_the_variance_of_clusters():
    found = compare_roc_auc(Y, S1, S2, groups=CLUSTERS, over="groups")
    row = found.table.loc["pooled"]
    error = row.difference / row.statistic
    clustered = compare_roc_auc(Y, S1, S2, clusters=CLUSTERS).table.loc["pooled"]
    assert error == pytest.approx(clustered.difference / clustered.statistic, rel=1e-9)
    # The effective number of groups is smaller if groups have unequal sizes.
    of_class = [np.array(CLUSTERS)[rows] for rows in (Y == 0, Y == 1)]
    sizes = [np.mean([np.mean(rows == c) for rows in of_class]) for c in "abcdef"]
    degrees_of_freedom = 1 / np.sum(np.square(sizes)) - 1
    assert 4 < degrees_of_freedom < 5
    assert found.pvalue == pytest.approx(
        2 * stats.t.sf(row.statistic, degrees_of_freedom), rel=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_everything_equals_sums_over_rows(weighted):
    y, a, b, groups, weights = rows(0, weighted=weighted)
    w = np.ones(y.size) if weights is None else weights
    every = np.ones((y.size, y.size), bool)
    same = groups[:, None] == groups
    pooled, own = (influences(y, a, w, of) - influences(y, b, w, of) for of in (every, same))
    found = compare_roc_auc(y, a, b, groups=groups, sample_weight=weights, over="rows")
    variance, fixed, random = np.zeros(6), 0.0, 0.0
    for mine in (y, ~y):
        v = w[mine]
        d = pooled[mine] - np.average(pooled[mine], weights=v)
        random += (v**2 * d**2).sum() / (v.sum() ** 2 - (v**2).sum())
        for g in range(6):
            rows_of_group = mine & (groups == g)
            v, total = w[rows_of_group], w[mine].sum()
            pairs = v.sum() ** 2 - (v**2).sum()
            d = own[rows_of_group] - np.average(own[rows_of_group], weights=v)
            variance[g] += (v**2 * d**2).sum() / pairs
            d = pooled[rows_of_group] - np.average(pooled[rows_of_group], weights=v)
            fixed += (v**2 * d**2).sum() / pairs * v.sum() ** 2 / total**2
    one, other = (
        GroupAUC.from_predictions(y, s, groups=groups, sample_weight=weights) for s in (a, b)
    )
    table = found.by_group
    assert_allclose(table["auc_a"], one.by_group["auc"], rtol=1e-12)
    assert_allclose(table["auc_b"], other.by_group["auc"], rtol=1e-12)
    assert_allclose((table["difference"] / table["statistic"]) ** 2, variance, rtol=1e-9)
    for name in ("pooled", "macro", "samples", "positives", "negatives", "within"):
        row = found.table.loc[name]
        assert row.auc_a == pytest.approx(one.statistic(name), rel=1e-12)
        assert row.auc_b == pytest.approx(other.statistic(name), rel=1e-12)
        # The larger variance of two designs: groups as strata, and rows with random groups
        expected = max(fixed, random)
        if name != "pooled":
            expected = (shares(one._estimates, name) ** 2 * variance).sum()
        assert (row.difference / row.statistic) ** 2 == pytest.approx(expected, rel=1e-9)
    over_groups = compare_roc_auc(y, a, b, groups=groups, sample_weight=weights, over="groups")
    differences = table["difference"]
    expected = stats.ttest_1samp(differences, 0)
    row = over_groups.table.loc["macro"]
    assert row.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert row.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert_allclose([row.ci_low, row.ci_high], expected.confidence_interval(0.95), rtol=1e-9)


def test_order_scale_and_names_do_not_matter():
    y, a, b, groups, _ = rows(1)
    found = compare_roc_auc(y, a, b, groups=groups)
    order = np.random.default_rng(0).permutation(y.size)
    again = compare_roc_auc(
        np.where(y, "sick", "well")[order],
        pd.Series(np.exp(a))[order],
        2 * b[order] - 7,
        groups=groups[order],
        pos_label="sick",
    )
    pd.testing.assert_frame_equal(found.table, again.table)
    pd.testing.assert_frame_equal(found.by_group, again.by_group)
    turned = compare_roc_auc(y, b, a, groups=groups)
    assert turned.statistic == pytest.approx(-found.statistic, rel=1e-9)
    assert turned.pvalue == pytest.approx(found.pvalue, rel=1e-9)


def test_weights_of_zero_are_rows_left_out():
    kept = np.array(WEIGHTS) > 1
    found = compare_roc_auc(Y, S1, S2, groups=CLUSTERS, sample_weight=kept.astype(float))
    expected = compare_roc_auc(
        Y[kept], np.array(S1)[kept], np.array(S2)[kept], groups=np.array(CLUSTERS)[kept]
    )
    pd.testing.assert_frame_equal(found.table, expected.table)


@pytest.mark.parametrize("groups", [None, CLUSTERS])
def test_identical_scores_have_a_p_value_of_one(groups):
    found = compare_roc_auc(Y, S1, np.exp(S1), groups=groups)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert (found.table["pvalue"].dropna() == 1.0).all()


def test_models_without_variation_have_no_p_value():
    found = compare_roc_auc([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1])
    assert found.table.loc["pooled", "difference"] == 1.0
    assert np.isnan(found.pvalue)


def test_groups_that_lack_a_class_are_nan():
    y, a, b, groups, _ = rows(2)
    groups = np.where(y & (groups == 5), 4, groups)
    found = compare_roc_auc(y, a, b, groups=groups)
    assert found.by_group.loc[5].drop("adjustment").isna().all()
    assert found.table.notna().all(axis=None)


def test_repr_tells_the_result():
    text = repr(compare_roc_auc(Y, S1, S2))
    assert text.startswith("PairedComparison(statistic=0.6896, pvalue=0.4999): pooled AUC 0.8182")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score_b": S2[:-1]}, "score_b has 19 rows and y_true has 20"),
        ({"score_a": [*S1[:-1], np.nan]}, "score_a must be finite; got 1 NaN"),
        ({"y_true": np.ones(20)}, "y_true must hold both classes; got one class in 20 rows"),
        ({"over": "people"}, "over must be 'rows' .* got 'people'"),
        ({"confidence_level": 95}, "confidence_level must be a number between 0 and 1"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        compare_roc_auc(**{"y_true": Y, "score_a": S1, "score_b": S2, "groups": CLUSTERS, **change})


def test_a_group_with_one_positive_leaves_averages_defined():
    y, a, b, groups, _ = rows(3)
    kept = np.flatnonzero(y & (groups == 5))[1:]
    y, a, b, groups = (np.delete(column, kept) for column in (y, a, b, groups))
    found = compare_roc_auc(y, a, b, groups=groups)
    assert found.table.notna().all(axis=None)
    assert np.isnan(found.by_group.loc[5, "pvalue"])
    named = compare_roc_auc(y, a, b, groups=pd.Series(groups, name="site"))
    assert named.by_group.index.name == "site"
    assert repr(found).endswith("over these groups, new rows")


def test_p_values_by_group_are_adjusted():
    rng = np.random.default_rng(0)
    n = 1000
    y, groups = rng.random(n) < 0.4, rng.integers(0, 10, n)
    a, b = (rng.normal(size=n) + y for _ in range(2))
    table = compare_roc_auc(y, a, b, groups=groups).by_group
    p = table["pvalue"].to_numpy()
    holm = [min(1.0, max((10 - i) * q for i, q in enumerate(np.sort(p)) if q <= x)) for x in p]
    np.testing.assert_allclose(table["pvalue_adjusted"], holm, rtol=1e-12)
    assert set(table["adjustment"]) == {"Holm"}


@pytest.mark.parametrize(
    ("n_rows", "kind"), [(8, "of ratio 100"), (40, "of ratio 100"), (40, "lognormal")]
)
def test_unequally_weighted_rows_keep_the_level(n_rows, kind):
    """Random scores: with normal quantiles, the error rates were 24, 9 and 20 %."""
    pvalues = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, (a, b) = np.tile([0, 1], n_rows // 2), rng.normal(size=(2, n_rows))
        weights = rng.lognormal(0, 3, n_rows)
        if kind == "of ratio 100":
            weights = np.where(rng.random(n_rows) < 0.3, 100.0, 1.0)
        found = compare_roc_auc(y, a, b, sample_weight=weights)
        squares = [weights[y == k].sum() ** 2 / (weights[y == k] ** 2).sum() for k in (0, 1)]
        assert np.isnan(found.pvalue) == (min(squares) < 1.5)
        pvalues.append(found.pvalue)
    kept = np.array(pvalues)[~np.isnan(pvalues)]
    assert kept.size > 50
    # Three standard errors above 5 %, and one more because the sample is small
    assert (kept < 0.05).mean() < 0.05 + 4 * np.sqrt(0.05 * 0.95 / kept.size)
    assert (kept < 1e-6).sum() <= 1


def test_equal_weights_are_compared_as_no_weights():
    rng = np.random.default_rng(0)
    y, a, b = rng.integers(0, 2, 60), rng.normal(size=60), rng.normal(size=60)
    plain = compare_roc_auc(y, a, b)
    assert compare_roc_auc(y, a, b, sample_weight=np.ones(60)).pvalue == plain.pvalue
    # With equal weights of 3, the degrees of freedom follow from 60 rows.
    assert compare_roc_auc(y, a, b, sample_weight=np.full(60, 3.0)).pvalue == pytest.approx(
        plain.pvalue, rel=0.1
    )


def test_an_error_of_rounding_is_none():
    """All rows have equal differences of placement values, so the variance is rounding error."""
    y = [0, 0, 1, 1]
    for scale in (1.0, 3.0, 0.7):
        found = compare_roc_auc(y, [1, 2, 3, 4], [3, 4, 1, 2], sample_weight=np.full(4, scale))
        assert found.table.loc["pooled", "difference"] == 1.0
        assert np.isnan(found.pvalue)


def opposite_shifts(rng, shift):
    """Two models of the same AUC, each of which shifts one of two groups."""
    y, groups = rng.random(200) < 0.3, rng.random(200) < 0.5
    base = rng.normal(size=200) + y
    return y, base + shift * groups, base + shift * ~groups, groups


def test_models_that_shift_groups_are_compared_without_strata():
    """With random groups, the pooled AUC depends on the number of positives of each group."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, a, b, groups = opposite_shifts(rng, 1.0)
        found = compare_roc_auc(y, a, b, groups=groups)
        delong = compare_roc_auc(y, a, b)
        # The variance without strata is the larger one.
        columns = ["difference", "ci_low", "ci_high", "statistic", "pvalue"]
        expected = delong.table.loc["pooled", columns].tolist()
        assert_allclose(found.table.loc["pooled", columns].tolist(), expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["weighted", "clusters", "shared clusters"])
def test_the_pooled_comparison_is_never_narrower_than_without_groups(kind):
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.3, 2.0):
        y, a, b, groups = opposite_shifts(rng, shift)
        options = {"sample_weight": rng.uniform(0.5, 3, y.size)}
        if kind != "weighted":
            clusters = rng.integers(0, 60, y.size)
            options["clusters"] = clusters if kind == "shared clusters" else 2 * clusters + groups
        found = compare_roc_auc(y, a, b, groups=groups, **options).table.loc["pooled"]
        single = compare_roc_auc(y, a, b, **options).table.loc["pooled"]
        assert found.ci_low <= single.ci_low + 1e-12
        assert found.ci_high >= single.ci_high - 1e-12
        assert found.pvalue >= single.pvalue - 1e-12
        if shift == 2.0:
            assert_allclose([found.ci_low, found.pvalue], [single.ci_low, single.pvalue], rtol=1e-9)


# Measures ----------------------------------------------------------------------------------------


def value(measure, y, score, weights):
    """Return the measure of scikit-learn."""
    if isinstance(measure, AveragePrecision):
        return average_precision_score(y, score, sample_weight=weights)
    if measure.max_fpr is not None:
        return roc_auc_score(y, score, sample_weight=weights, max_fpr=measure.max_fpr)
    return roc_auc_score(~y, -score, sample_weight=weights, max_fpr=1 - measure.min_tpr)


def changes(measure, y, a, b, weights):
    """Change of the difference of two models with the weight of each row, in numbers.

    The shares of both classes do not change.
    """
    step, found = 1e-5, np.zeros(y.size)
    for i in range(y.size):
        for sign in (-1, 1):
            moved, mine = weights.copy(), y == y[i]
            moved[i] += sign * step
            moved[mine] *= weights[mine].sum() / moved[mine].sum()
            found[i] += sign * (value(measure, y, a, moved) - value(measure, y, b, moved))
    return found / (2 * step)


def variance_of_class(changes, weights):
    """Return the infinitesimal jackknife's variance; for equal weights, times n / (n - 1)."""
    total, squares = weights.sum(), (weights**2).sum()
    return total**2 / (total**2 - squares) * (weights**2 * changes**2).sum()


@pytest.mark.parametrize(
    ("measure", "weighted"),
    [
        (PartialAUC(max_fpr=0.613), True),
        (PartialAUC(min_tpr=0.387), False),
        (AveragePrecision(), True),
        (AveragePrecision(), False),
    ],
    ids=repr,
)
def test_variances_of_measures_are_those_of_the_jackknife(measure, weighted):
    y, a, b, groups, weights = rows(3, n=44, n_groups=2, weighted=weighted)
    w = np.ones(y.size) if weights is None else weights
    options = {"groups": groups, "sample_weight": weights, "measure": measure}
    found = compare_roc_auc(y, a, b, over="rows", **options)
    reports = [
        GroupAUC.from_predictions(y, s, groups=groups, sample_weight=weights) for s in (a, b)
    ]
    variance, freedom = np.zeros(2), np.zeros(2)
    within = {True: 1.0, False: 1.0}
    if isinstance(measure, PartialAUC):
        within[measure.max_fpr is None] = 0.613
    for g in range(2):
        mine = groups == g
        of_rows = changes(measure, y[mine], a[mine], b[mine], w[mine])
        parts, numbers = [], []
        for label in (True, False):
            of_class = y[mine] == label
            v = w[mine][of_class]
            parts.append(variance_of_class(of_rows[of_class], v))
            numbers.append(within[label] * v.sum() ** 2 / (v**2).sum() - 1)
        variance[g] = sum(parts)
        freedom[g] = variance[g] ** 2 / sum(p**2 / n for p, n in zip(parts, numbers, strict=True))
        assert found.by_group.iloc[g, :2].tolist() == pytest.approx(
            [value(measure, y[mine], s[mine], w[mine]) for s in (a, b)]
        )
    table = found.by_group
    assert list(table.columns[:2]) == ["value_a", "value_b"]
    assert_allclose((table["difference"] / table["statistic"]) ** 2, variance, rtol=1e-4)
    assert_allclose(table["pvalue"], 2 * stats.t.sf(table["statistic"].abs(), freedom), rtol=1e-3)
    reach = stats.t.isf(0.025, freedom) * np.sqrt(variance)
    assert_allclose((table["ci_high"] - table["ci_low"]) / 2, reach, rtol=1e-3)
    for name in ("pooled", "macro", "samples", "positives", "negatives", "within"):
        row = found.table.loc[name]
        assert [row.value_a, row.value_b] == pytest.approx(
            [report.measured(measure).statistic(name) for report in reports]
        )
        if isinstance(measure, AveragePrecision) and name != "pooled":
            assert np.isnan(row[["ci_low", "ci_high", "statistic", "pvalue"]].astype(float)).all()
        elif name != "pooled":
            share = shares(reports[0].estimates, name)
            expected = (share**2 * variance).sum()
            assert (row.difference / row.statistic) ** 2 == pytest.approx(expected, rel=1e-4)
    of_rows = changes(measure, y, a, b, w)
    random = sum(variance_of_class(of_rows[y == label], w[y == label]) for label in (True, False))
    fixed = 0.0
    for label in (True, False):
        for g in range(2):
            mine = (y == label) & (groups == g)
            v = w[mine]
            deviations = of_rows[mine] - np.average(of_rows[mine], weights=v)
            fixed += variance_of_class(deviations, v)
    row = found.table.loc["pooled"]
    assert (row.difference / row.statistic) ** 2 == pytest.approx(max(fixed, random), rel=1e-4)
    single = compare_roc_auc(y, a, b, sample_weight=weights, measure=measure)
    assert (row.difference / single.statistic) ** 2 == pytest.approx(random, rel=1e-4)
    assert single.by_group is None
    macro = compare_roc_auc(y, a, b, over="groups", **options).table.loc["macro"]
    expected = stats.ttest_1samp(table["difference"], 0).pvalue
    if isinstance(measure, AveragePrecision):
        expected = np.nan
    assert macro.pvalue == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_the_whole_partial_auc_is_the_auc_also_with_clusters():
    y, a, b, groups, weights = rows(4, weighted=True)
    for options in ({}, {"clusters": np.arange(y.size) // 3}, {"over": "groups"}):
        auc, whole = (
            compare_roc_auc(y, a, b, groups=groups, sample_weight=weights, measure=of, **options)
            for of in (None, PartialAUC(max_fpr=1.0))
        )
        for name in ("table", "by_group"):
            of_auc, of_whole = getattr(auc, name), getattr(whole, name)
            columns = ["difference", "ci_low", "ci_high", "pvalue"]
            assert_allclose(of_whole[columns], of_auc[columns], rtol=1e-12)
            assert_allclose(of_whole["value_b"], of_auc["auc_b"], rtol=1e-12)


def test_groups_with_few_rows_within_the_rates_have_no_test():
    rng = np.random.default_rng(0)
    sizes = [(30, 35), (30, 36), (9, 200)]
    y = np.concatenate([np.arange(m + n) < m for m, n in sizes])
    groups = np.repeat(list("abc"), [m + n for m, n in sizes])
    a, b = (rng.normal(size=y.size) + y for _ in range(2))
    low = compare_roc_auc(y, a, b, groups=groups, measure=PartialAUC(max_fpr=0.1))
    assert low.by_group["pvalue"].isna().tolist() == [True, False, False]
    high = compare_roc_auc(y, a, b, groups=groups, measure=PartialAUC(min_tpr=0.9))
    assert high.by_group["pvalue"].isna().tolist() == [True, True, True]
    # The variances of groups without a test have upper bounds in averages.
    for found in (low, high):
        assert found.table["pvalue"].between(0, 1).all()
        assert found.by_group["difference"].notna().all()
    few = y & (np.arange(y.size) >= 20)
    alone = compare_roc_auc(y[~few], a[~few], b[~few], measure=PartialAUC(min_tpr=0.9))
    assert np.isnan(alone.pvalue)
    same = compare_roc_auc(y, a, np.exp(a), groups=groups, measure=AveragePrecision())
    assert same.pvalue == 1
    assert (same.by_group["pvalue"] == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "ap"}, "measure must be a measure of skfedauc.measures"),
        ({"measure": Sensitivity(specificity=0.9)}, r"Pass measure=PartialAUC\(max_fpr=0\.1\)"),
        ({"measure": Specificity(sensitivity=0.95)}, r"Pass measure=PartialAUC\(min_tpr=0\.95\)"),
        (
            {"measure": AveragePrecision(), "clusters": CLUSTERS},
            r"AveragePrecision\(\) is for independent rows; got clusters",
        ),
    ],
)
def test_measures_without_a_test_are_refused(change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare_roc_auc(Y, S1, S2, groups=CLUSTERS, **change)
