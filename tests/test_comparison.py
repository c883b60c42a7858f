"""Two or more models on the same rows: reference values, sums over rows, unusual input."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import comparisons, placements
from scipy import stats
from test_inference import CLUSTERS, S1, S2, Y
from test_measures import derivatives
from test_measures import expected as value_of

from skfedauc import GroupAUC, compare_models
from skfedauc.inference.quantiles import LargestDifference
from skfedauc.measures import AveragePrecision, PartialAUC, Sensitivity
from skfedauc.report.statistics import AVERAGES, shares

STATISTICS = ["pooled", *AVERAGES]


def rows(seed, *, n=240, n_models=4, n_groups=3, weighted=False):
    rng = np.random.default_rng(seed)
    y, base = rng.random(n) < 0.4, rng.normal(size=n)
    scores = {
        f"model {i}": (base + y * (1 + 0.2 * i) + 0.5 * rng.normal(size=n)).round(1)
        for i in range(n_models)
    }
    groups = rng.integers(0, n_groups, n)
    return y, scores, groups, rng.uniform(0.5, 3, n) if weighted else None


def compare_two(y, a, b, **options):
    return compare_models(y, {"a": a, "b": b}, **{"min_per_class": 1} | options)


def variances(table):
    return (table["difference"] / table["statistic"]) ** 2


def test_paired_test_equals_proc():
    """pROC compares the same statistic with the normal distribution."""
    found = compare_two(Y, S2, S1)
    assert found.statistic == pytest.approx(0.689591400229764, rel=1e-9)
    assert 2 * stats.norm.sf(found.statistic) == pytest.approx(0.490451176972435, rel=1e-9)
    change = np.subtract(*(placements(Y, np.array(s), np.ones(Y.size)) for s in (S1, S2)))
    parts = [change[mine] for mine in (Y == 0, Y == 1)]
    of_class, rows_of_class = (np.array([f(d) for d in parts]) for f in (stats.sem, len))
    freedom = (of_class**2).sum() ** 2 / (of_class**4 / (rows_of_class - 1)).sum()
    null = stats.t(freedom)
    assert found.pvalue == pytest.approx(2 * null.sf(found.statistic), rel=1e-9)
    row = found.table.iloc[0]
    error = row.difference / row.statistic
    variance = 0.00950923375165799 + 0.0127078869503112 - 2 * 0.00507409958167534
    assert error**2 == pytest.approx(variance, rel=1e-9)
    assert row.ci_high - row.ci_low == pytest.approx(2 * null.isf(0.025) * error, rel=1e-9)
    assert found.by_group is None
    assert found.estimate == row.difference
    assert [found.ci_low, found.ci_high, found.pvalue] == row[
        ["ci_low", "ci_high", "pvalue"]
    ].tolist()


def test_three_models_equal_delong_over_all_pairs_of_rows():
    y, scores, *_ = rows(0, n_models=3)
    kernels = [comparisons(s[y], s[~y]) for s in scores.values()]
    # One row per model: means over the other class, for each positive and for each negative
    of_positives = np.array([kernel.mean(axis=1) for kernel in kernels])
    of_negatives = np.array([kernel.mean(axis=0) for kernel in kernels])
    covariance = np.cov(of_positives) / y.sum() + np.cov(of_negatives) / (~y).sum()
    auc = of_positives.mean(axis=1)
    contrasts = np.array([[-1, 1, 0], [-1, 0, 1], [0, -1, 1]])
    of_contrasts = contrasts @ covariance @ contrasts.T
    z = contrasts @ auc / np.sqrt(np.diag(of_contrasts))
    # Satterthwaite's degrees of freedom
    of_class = [
        np.var(contrasts @ of, axis=1, ddof=1) / of.shape[1] for of in (of_positives, of_negatives)
    ]
    squares = of_class[0] ** 2 / (y.sum() - 1) + of_class[1] ** 2 / ((~y).sum() - 1)
    freedom = sum(of_class) ** 2 / squares
    found = compare_models(y, scores)
    assert_allclose(found.by_model, auc, rtol=1e-12)
    assert_allclose(found.table["statistic"], z, rtol=1e-9)
    assert_allclose(found.table["pvalue"], 2 * stats.t.sf(np.abs(z), freedom), rtol=1e-9)
    # Adjusted p values and limits follow from the largest of three correlated t variables.
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal(np.zeros(3), covariance, 400_000) @ contrasts.T
    draws /= np.sqrt(rng.chisquare(freedom.min(), 400_000) / freedom.min())[:, None]
    largest = np.abs(draws / np.sqrt(np.diag(of_contrasts))).max(axis=1)
    expected = (largest[:, None] > np.abs(z)).mean(axis=0)
    assert_allclose(found.table["pvalue_adjusted"], expected, rtol=0.03, atol=1e-3)
    errors = np.sqrt(np.diag(of_contrasts))
    reach = (found.table["simultaneous_high"] - found.table["difference"]) / errors
    assert_allclose(reach, np.quantile(largest, 0.95), rtol=0.005)
    reach = (found.table["ci_high"] - found.table["difference"]) / errors
    assert_allclose(reach, stats.t.isf(0.025, freedom), rtol=1e-9)


def test_clustered_test_uses_the_variance_of_clusters():
    found = compare_two(Y, S1, S2, groups=CLUSTERS, over="groups")
    row = found.table.iloc[0]
    error = row.difference / row.statistic
    clustered = compare_two(Y, S1, S2, clusters=CLUSTERS).table.iloc[0]
    assert error == pytest.approx(clustered.difference / clustered.statistic, rel=1e-9)
    # The effective number of groups is smaller if groups have unequal sizes.
    of_class = [np.array(CLUSTERS)[rows] for rows in (Y == 0, Y == 1)]
    sizes = [np.mean([np.mean(rows == c) for rows in of_class]) for c in "abcdef"]
    degrees_of_freedom = 1 / np.sum(np.square(sizes)) - 1
    assert 4 < degrees_of_freedom < 5
    assert found.pvalue == pytest.approx(
        2 * stats.t.sf(abs(row.statistic), degrees_of_freedom), rel=1e-9
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_limits_of_several_models_use_the_smallest_degrees_of_freedom_of_all_pairs(weighted):
    y, scores, groups, weights = rows(0, weighted=weighted)
    w = np.ones(y.size) if weights is None else weights
    same = groups[:, None] == groups
    own = np.column_stack([placements(y, s, w, same) for s in scores.values()])
    first, second = np.triu_indices(4, 1)
    own = own[:, second] - own[:, first]
    of_class, freedom = np.zeros((2, 3, 6)), np.zeros((2, 3, 1))
    for k, g in itertools.product(range(2), range(3)):
        of_group = (y == (k == 0)) & (groups == g)
        v = w[of_group]
        d = v[:, None] * (own[of_group] - np.average(own[of_group], 0, v))
        freedom[k, g] = v.sum() ** 2 / (v**2).sum() - 1
        of_class[k, g] = (d**2).sum(axis=0) / (v.sum() ** 2 - (v**2).sum())
    of_groups = of_class.sum(axis=0)
    found = compare_models(y, scores, groups=groups, sample_weight=weights, statistic="positives")
    assert_allclose(variances(found.by_group), of_groups.ravel(), rtol=1e-9)
    share = np.bincount(groups[y], w[y]) / w[y].sum()
    variance = share**2 @ of_groups
    assert_allclose(variances(found.table), variance, rtol=1e-9)
    # Shares in the variance are means over pairs
    of_pairs = of_groups**2 / (of_class**2 / freedom).sum(axis=0)
    mean = (share[:, None] ** 2 * of_groups / variance).mean(axis=1, keepdims=True)
    matrix = np.zeros((4, 4))
    matrix[first, second] = matrix[second, first] = variance
    least = (mean.sum() ** 2 / (mean**2 / of_pairs).sum(axis=0)).min()
    null = LargestDifference.of(matrix, (first, second), least)
    reach = (found.table["simultaneous_high"] - found.table["difference"]) / np.sqrt(variance)
    assert_allclose(reach, null.quantile(0.05), rtol=1e-9)


def test_random_groups_of_equal_shares_are_compared_by_students_and_bonferronis_tests():
    y, scores, groups, _ = rows(0)
    macro = compare_models(y, scores, groups=groups, statistic="macro", over="groups")
    by_pair = macro.by_group["difference"].groupby(level=["model_a", "model_b"], sort=False)
    for row, (_, differences) in zip(macro.table.itertuples(), by_pair, strict=True):
        expected = stats.ttest_1samp(differences, 0)
        assert row.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert row.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert row.pvalue_adjusted == pytest.approx(min(6 * expected.pvalue, 1), rel=1e-9)
        assert_allclose([row.ci_low, row.ci_high], expected.confidence_interval(0.95), rtol=1e-9)
        limits = expected.confidence_interval(1 - 0.05 / 6)
        assert_allclose([row.simultaneous_low, row.simultaneous_high], limits, rtol=1e-9)


@pytest.mark.parametrize("statistic", ["pooled", "macro"])
@pytest.mark.parametrize("clustered", [False, True])
def test_each_of_several_pairs_is_compared_as_two_models(statistic, clustered):
    y, scores, groups, _ = rows(1, n_models=4)
    known = {"groups": groups, "clusters": np.arange(y.size) % 50 if clustered else None}
    found = compare_models(y, scores, statistic=statistic, **known)
    columns = ["difference", "statistic", "pvalue"]
    for (a, b), row in found.table.iterrows():
        expected = compare_two(y, scores[a], scores[b], statistic=statistic, **known)
        assert_allclose(row[columns], expected.table[columns].iloc[0])
        assert expected.table["pvalue_adjusted"].iloc[0] == pytest.approx(expected.pvalue)
        of_pair = found.by_group.xs((a, b), level=["model_a", "model_b"])
        assert_allclose(of_pair[columns], expected.by_group[columns])
    assert (found.table["pvalue_adjusted"] >= found.table["pvalue"]).all()
    for limit, pvalue in (("ci", "pvalue"), ("simultaneous", "pvalue_adjusted")):
        excludes = (found.table[f"{limit}_low"] > 0) | (found.table[f"{limit}_high"] < 0)
        assert_array_equal(excludes, found.table[pvalue] < 0.05)
    clearest = found.table.loc[found.table["pvalue_adjusted"].idxmin()]
    assert (found.estimate, found.pvalue) == (clearest.difference, clearest.pvalue_adjusted)


@pytest.mark.parametrize("groups", [None, CLUSTERS])
def test_identical_scores_have_a_p_value_of_one(groups):
    options = {"groups": groups, "statistic": "macro"} if groups else {}
    found = compare_two(Y, S1, np.exp(S1), **options)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert (found.table["pvalue"] == 1.0).all()


@pytest.mark.parametrize("kind", ["weighted", "clusters", "shared clusters"])
def test_the_pooled_comparison_is_never_narrower_than_without_groups(kind):
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.3, 2.0):
        y, groups = rng.random(200) < 0.3, rng.random(200) < 0.5
        base = rng.normal(size=200) + y
        # Two models of the same AUC, each of which shifts one of two groups
        a, b = base + shift * groups, base + shift * ~groups
        options = {"sample_weight": rng.uniform(0.5, 3, y.size)}
        if kind != "weighted":
            clusters = rng.integers(0, 60, y.size)
            options["clusters"] = clusters if kind == "shared clusters" else 2 * clusters + groups
        found = compare_two(y, a, b, groups=groups, **options).table.iloc[0]
        single = compare_two(y, a, b, **options).table.iloc[0]
        assert found.ci_low <= single.ci_low + 1e-12
        assert found.ci_high >= single.ci_high - 1e-12
        assert found.pvalue >= single.pvalue - 1e-12
        if shift == 2.0:
            assert_allclose([found.ci_low, found.pvalue], [single.ci_low, single.pvalue], rtol=1e-9)


def of_differences(covariance):
    """Return the variances of all differences of variables with this covariance."""
    diagonal = np.diag(covariance)
    return diagonal[:, None] + diagonal - 2 * covariance


@pytest.mark.parametrize("freedom", [np.inf, 12.0])
@pytest.mark.parametrize("n_models", [2, 3, 6])
def test_all_pairs_of_exchangeable_models_are_compared_by_tukeys_method(n_models, freedom):
    """With equal variances and correlations, the distribution is the studentized range."""
    covariance = 0.01 * (0.4 + 0.6 * np.eye(n_models))
    null = LargestDifference.of(of_differences(covariance), np.triu_indices(n_models, 1), freedom)
    tukey = stats.studentized_range(n_models, 1e6 if np.isinf(freedom) else freedom)
    for tail in (0.1, 0.05, 0.01):
        expected = tukey.isf(tail) / np.sqrt(2)
        assert null.quantile(tail) == pytest.approx(expected, rel=6e-3)
        assert null.tail(null.quantile(tail)) == pytest.approx(tail, rel=1e-9)
    assert null.tail(0.0) == 1


@pytest.mark.parametrize("freedom", [np.inf, 12.0])
def test_two_comparisons_with_a_reference_equal_a_bivariate_distribution(freedom):
    covariance = np.array([[1.0, 0.3, 0.2], [0.3, 2.0, 0.5], [0.2, 0.5, 0.7]])
    pairs = np.array([1, 2]), np.array([0, 0])
    null = LargestDifference.of(of_differences(covariance), pairs, freedom)
    contrasts = np.array([[-1, 1, 0], [-1, 0, 1]])
    of_contrasts = contrasts @ covariance @ contrasts.T
    scale = np.sqrt(np.diag(of_contrasts))
    shape = of_contrasts / np.outer(scale, scale)
    for value in (1.0, 2.0, 3.0):
        both = np.full(2, value)
        if np.isinf(freedom):
            inside = stats.multivariate_normal(cov=shape).cdf(both, lower_limit=-both)
        else:
            joint = stats.multivariate_t(shape=shape, df=freedom, seed=0)
            inside = joint.cdf(both, lower_limit=-both)
        assert null.tail(value) == pytest.approx(1 - inside, rel=0.02)


def test_small_tail_probabilities_are_accurate():
    null = LargestDifference.of(of_differences(np.eye(4)), np.triu_indices(4, 1), np.inf)
    assert null.tail(6.0) == pytest.approx(6 * 2 * stats.norm.sf(6.0), rel=0.05)
    assert 0 < null.tail(30.0) <= 12 * stats.norm.sf(30.0)


TWO = {"a": [0.1, 0.4, 0.3, 0.2], "b": [0.4, 0.6, 0.1, 0.3]}
OF_ROWS = {"measure": AveragePrecision(), "clusters": [1, 1, 2, 2]}
SAME_NAME = pd.DataFrame([[0.1, 0.2]] * 4, columns=["a", "a"])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": [*TWO.values()]}, r"list of shape \(2, 4\) for 4 rows.*np\.column_stack"),
        ({"scores": SAME_NAME}, "scores must have a different name .* several columns named 'a'"),
        ({"scores": TWO | {"b": [1, 2, 3]}}, r"scores\['b'\] has 3 rows and y_true has 4"),
        ({"reference": "c"}, "reference='c' is not among the models, 'a', 'b'"),
        ({"statistic": "macro"}, "statistic='macro' .*needs groups"),
        ({"over": "groups"}, "over='groups' needs groups"),
        ({"y_true": [1, 1, 1, 1]}, "y_true must hold both classes"),
        ({"measure": Sensitivity(specificity=0.9)}, r"Pass measure=PartialAUC\(max_fpr=0\.1\)"),
        (OF_ROWS, r"AveragePrecision\(\) is for independent rows; got clusters"),
        ({"sample_weight": [0, 0, 0, 0]}, "no class in 0 rows with a weight above 0"),
    ],
)
def test_errors(changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compare_models(**{"y_true": [0, 1, 0, 1], "scores": TWO, **changed})


def changes(measure, y, a, b, weights):
    """Return the change of the difference of two models with the weight of each row."""
    one, other = (derivatives(measure, y.astype(int), s, weights, 1e-5) for s in (a, b))
    return one - other


def variance_of_class(changes, weights):
    """Return the infinitesimal jackknife's variance; for equal weights, times n / (n - 1)."""
    total, squares = weights.sum(), (weights**2).sum()
    return total**2 / (total**2 - squares) * (weights**2 * changes**2).sum()


@pytest.mark.parametrize(
    ("measure", "weighted"),
    [
        (PartialAUC(max_fpr=1.0), True),  # the AUC
        (PartialAUC(max_fpr=0.613), True),
        (PartialAUC(min_tpr=0.387), False),
        (AveragePrecision(), True),
        (AveragePrecision(), False),
    ],
    ids=repr,
)
def test_variances_of_measures_are_those_of_the_jackknife(measure, weighted):
    y, scores, groups, weights = rows(3, n=44, n_models=2, n_groups=2, weighted=weighted)
    a, b = scores.values()
    w = np.ones(y.size) if weights is None else weights
    options = {"groups": groups, "sample_weight": weights, "measure": measure}
    found = compare_two(y, a, b, **options)
    reports = [
        GroupAUC.from_predictions(y, s, groups=groups, sample_weight=weights) for s in (a, b)
    ]
    variance, freedom = np.zeros(2), np.zeros(2)
    within = {True: 1.0, False: 1.0}
    if isinstance(measure, PartialAUC):
        within[measure.max_fpr is None] = measure.max_fpr or 1 - measure.min_tpr
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
            [value_of(measure, y[mine], s[mine], w[mine]) for s in (a, b)]
        )
    table = found.by_group
    assert list(table.columns[:2]) == ["value_a", "value_b"]
    assert_allclose((table["difference"] / table["statistic"]) ** 2, variance, rtol=1e-4)
    assert_allclose(table["pvalue"], 2 * stats.t.sf(table["statistic"].abs(), freedom), rtol=1e-3)
    reach = stats.t.isf(0.025, freedom) * np.sqrt(variance)
    assert_allclose((table["ci_high"] - table["ci_low"]) / 2, reach, rtol=1e-3)
    for name in STATISTICS:
        row = compare_two(y, a, b, statistic=name, **options).table.iloc[0]
        assert [row.value_a, row.value_b] == pytest.approx(
            [GroupAUC(report.counts, measure=measure).statistic(name) for report in reports]
        )
        if isinstance(measure, AveragePrecision) and name != "pooled":
            assert row.drop(["value_a", "value_b", "difference"]).isna().all()
        elif name != "pooled":
            share = shares(reports[0]._estimates, name)
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
    row = found.table.iloc[0]
    assert (row.difference / row.statistic) ** 2 == pytest.approx(max(fixed, random), rel=1e-4)
    single = compare_two(y, a, b, sample_weight=weights, measure=measure)
    assert (row.difference / single.statistic) ** 2 == pytest.approx(random, rel=1e-4)
    assert single.by_group is None
    macro = compare_two(y, a, b, over="groups", statistic="macro", **options)
    expected = stats.ttest_1samp(table["difference"], 0).pvalue
    if isinstance(measure, AveragePrecision):
        expected = np.nan
    assert macro.pvalue == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_the_whole_partial_auc_is_the_auc_also_with_clusters():
    y, scores, groups, weights = rows(4, n_models=2, weighted=True)
    a, b = scores.values()
    for options in (
        {},
        {"clusters": np.arange(y.size) // 3, "statistic": "macro"},
        {"over": "groups", "statistic": "samples"},
    ):
        auc, whole = (
            compare_two(y, a, b, groups=groups, sample_weight=weights, measure=of, **options)
            for of in (None, PartialAUC(max_fpr=1.0))
        )
        for name in ("table", "by_group"):
            of_auc, of_whole = getattr(auc, name), getattr(whole, name)
            columns = ["difference", "ci_low", "ci_high", "pvalue"]
            assert_allclose(of_whole[columns], of_auc[columns], rtol=1e-12)
            assert_allclose(of_whole["value_b"], of_auc["value_b"], rtol=1e-12)


def test_limits_are_differences_that_values_can_have():
    rng, n_clipped = np.random.default_rng(0), 0
    for measure, most in ((None, 1.0), (PartialAUC(max_fpr=0.8), 1 / 1.2), (AveragePrecision(), 1)):
        for _ in range(20):
            y, (a, b) = rng.permutation(np.arange(10) % 2), rng.random((2, 10))
            found = compare_models(y, {"a": a, "b": b}, measure=measure).table
            low, difference, high = found[["ci_low", "difference", "ci_high"]].to_numpy()[0]
            if not np.isnan(low):
                assert -most - 1e-12 <= low <= difference <= high <= most + 1e-12
                n_clipped += low < 1e-9 - most or high > most - 1e-9
    assert n_clipped > 3


def test_comparisons_name_groups_that_they_leave_out():
    y, scores, groups, _ = rows(0)
    groups = np.where(y & (np.arange(y.size) < 20), 7, groups)
    with pytest.warns(UserWarning, match="1 of 4 groups without rows of both"):
        compare_models(y, scores, groups=groups, statistic="macro", min_per_class=1)
    found = compare_models(y, scores, groups=groups, min_per_class=1)
    assert set(found.by_group.loc[7, "note"]) == {"a class is absent"}
    assert set(found.by_group["note"]) == {"a class is absent", ""}
    large = compare_models(y, scores, groups=groups)
    sentence = "Left out, with fewer than 10 positives or negatives: 7 ("
    assert sentence in repr(large)
    kept = groups != 7
    own = {name: score[kept] for name, score in scores.items()}
    alone = compare_models(y[kept], own, groups=groups[kept])
    for name in ("table", "by_group"):
        pd.testing.assert_frame_equal(getattr(large, name), getattr(alone, name))
    with pytest.raises(ValueError, match=r"=500 leaves out all 4 groups\. Pass at most \d+\."):
        compare_models(y, scores, groups=groups, min_per_class=500)


@pytest.mark.parametrize("weights", [None, 0.7, 0.3])
def test_two_perfect_models_show_no_variation(weights):
    y = np.tile([0, 1], 100)
    weights = None if weights is None else np.full(200, weights)
    options = {"groups": np.repeat([0, 1], 100), "sample_weight": weights}
    scores = y + np.arange(200) / 400, y
    table = compare_two(y, *scores, **options).table
    assert table.iloc[0, :3].tolist() == [1, 1, 0]
    assert table.iloc[0, 3:].isna().all()
    average = compare_two(y, *scores, statistic="macro", **options).table.iloc[0]
    assert average[3:].isna().all()
    three = dict(zip("abc", [*scores, y + np.random.default_rng(0).normal(size=200)], strict=True))
    table = compare_models(y, three, **options).table
    assert table["pvalue_adjusted"].isna().tolist() == [True, False, False]


def test_what_is_printed_of_models_without_names_and_without_a_test():
    y, scores, groups, _ = rows(0)
    array = np.column_stack(list(scores.values())[:2])
    found = repr(compare_models(y, array, confidence_level=0.9))
    assert "AUC of 2 models: 1 minus 0 " in found.split(", 90 % interval ")[0]
    assert "no p value, too few rows" in repr(compare_models(y, array, clusters=np.zeros(y.size)))
    options = {"groups": groups, "statistic": "macro", "measure": AveragePrecision()}
    found = repr(compare_models(y, array, **options))
    assert "no p value, averages of average precision have no test, over" in found
