"""Several models on the same rows: variances, simultaneous intervals, unusual input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from test_comparison import influences
from test_inference import S1, S2, Y

from skfedauc import compare_models, compare_roc_auc
from skfedauc.inference.differences import adjusted
from skfedauc.inference.quantiles import LargestDifference
from skfedauc.report import AVERAGES


def rows(seed, *, n=240, n_models=4, n_groups=3, weighted=False):
    """Return labels, scores of correlated models with ties, groups and weights."""
    rng = np.random.default_rng(seed)
    y, base = rng.random(n) < 0.4, rng.normal(size=n)
    scores = {
        f"model {i}": (base + y * (1 + 0.2 * i) + 0.5 * rng.normal(size=n)).round(1)
        for i in range(n_models)
    }
    groups = rng.integers(0, n_groups, n)
    return y, scores, groups, rng.uniform(0.5, 3, n) if weighted else None


def variances(table):
    return (table["difference"] / table["statistic"]) ** 2


# Variances ------------------------------------------------------------------------------------


def test_two_models_equal_proc():
    """Statistic of pROC's roc.test on the same rows, as in test_comparison.py."""
    found = compare_models(Y, {"one": S1, "two": S2})
    row = found.table.loc[("one", "two")]
    assert row["statistic"] == pytest.approx(0.689591400229764, rel=1e-9)


def test_three_models_equal_delong_over_all_pairs_of_rows():
    y, scores, *_ = rows(0, n_models=3)
    kernels = []
    for s in scores.values():
        apart = s[y][:, None] - s[~y]
        kernels.append((apart > 0) + 0.5 * (apart == 0))
    # One row per model: means over the other class, for each positive and for each negative
    of_positives = np.array([kernel.mean(axis=1) for kernel in kernels])
    of_negatives = np.array([kernel.mean(axis=0) for kernel in kernels])
    covariance = np.cov(of_positives) / y.sum() + np.cov(of_negatives) / (~y).sum()
    auc = of_positives.mean(axis=1)
    contrasts = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])
    of_contrasts = contrasts @ covariance @ contrasts.T
    z = contrasts @ auc / np.sqrt(np.diag(of_contrasts))
    # Satterthwaite's degrees of freedom
    of_class = [
        np.var(contrasts @ of, axis=1, ddof=1) / of.shape[1] for of in (of_positives, of_negatives)
    ]
    squares = of_class[0] ** 2 / (y.sum() - 1) + of_class[1] ** 2 / ((~y).sum() - 1)
    freedom = sum(of_class) ** 2 / squares
    found = compare_models(y, scores)
    assert_allclose(found.auc, auc, rtol=1e-12)
    assert_allclose(found.table["statistic"], z, rtol=1e-9)
    assert_allclose(found.table["pvalue"], 2 * stats.t.sf(np.abs(z), freedom), rtol=1e-9)
    # Adjusted p values and limits follow from the largest of three correlated t variables.
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal(np.zeros(3), covariance, 400_000) @ contrasts.T
    draws /= np.sqrt(rng.chisquare(freedom.min(), 400_000) / freedom.min())[:, None]
    largest = np.abs(draws / np.sqrt(np.diag(of_contrasts))).max(axis=1)
    expected = (largest[:, None] > np.abs(z)).mean(axis=0)
    assert_allclose(found.table["pvalue_adjusted"], expected, rtol=0.03, atol=1e-3)
    reach = (found.table["ci_high"] - found.table["difference"]) / np.sqrt(np.diag(of_contrasts))
    assert_allclose(reach, np.quantile(largest, 0.95), rtol=0.005)


@pytest.mark.parametrize("weighted", [False, True])
def test_variances_equal_sums_over_rows(weighted):
    y, scores, groups, weights = rows(0, weighted=weighted)
    w = np.ones(y.size) if weights is None else weights
    same, every = groups[:, None] == groups, np.ones((y.size, y.size), bool)
    own, pooled = (
        np.column_stack([influences(y, s, w, of) for s in scores.values()]) for of in (same, every)
    )
    first, second = np.triu_indices(4, 1)
    own, pooled = (values[:, first] - values[:, second] for values in (own, pooled))
    of_class, freedom, of_all = np.zeros((2, 3, 6)), np.zeros((2, 3, 1)), np.zeros(6)
    without_strata = np.zeros(6)
    for k, mine in enumerate((y, ~y)):
        d = w[mine][:, None] * (pooled[mine] - np.average(pooled[mine], 0, w[mine]))
        without_strata += (d**2).sum(axis=0) / (w[mine].sum() ** 2 - (w[mine] ** 2).sum())
        for g in range(3):
            of_group = mine & (groups == g)
            v, total = w[of_group], w[mine].sum()
            pairs = v.sum() ** 2 - (v**2).sum()
            freedom[k, g] = v.sum() ** 2 / (v**2).sum() - 1
            for values, found in ((own, of_class[k, g]), (pooled, of_all)):
                d = v[:, None] * (values[of_group] - np.average(values[of_group], 0, v))
                share = 1.0 if values is own else v.sum() ** 2 / total**2
                found += (d**2).sum(axis=0) / pairs * share
    found = compare_models(y, scores, groups=groups, sample_weight=weights)
    assert_allclose(variances(found.table), np.maximum(of_all, without_strata), rtol=1e-9)
    of_groups = of_class.sum(axis=0)
    assert_allclose(variances(found.by_group), of_groups.ravel(), rtol=1e-9)
    found = compare_models(y, scores, groups=groups, sample_weight=weights, statistic="positives")
    share = np.bincount(groups[y], w[y]) / w[y].sum()
    variance = share**2 @ of_groups
    assert_allclose(variances(found.table), variance, rtol=1e-9)
    # Degrees of freedom of the limits: the smallest degrees of freedom of all pairs, with mean
    # shares in the variance
    of_pairs = of_groups**2 / (of_class**2 / freedom).sum(axis=0)
    mean = (share[:, None] ** 2 * of_groups / variance).mean(axis=1, keepdims=True)
    matrix = np.zeros((4, 4))
    matrix[first, second] = matrix[second, first] = variance
    least = (mean.sum() ** 2 / (mean**2 / of_pairs).sum(axis=0)).min()
    null = LargestDifference.of(matrix, (first, second), least)
    reach = (found.table["ci_high"] - found.table["difference"]) / np.sqrt(variance)
    assert_allclose(reach, null.quantile(0.05), rtol=1e-9)


@pytest.mark.parametrize("kind", ["unit weights", "weighted", "clusters", "shared clusters"])
@pytest.mark.parametrize("statistic", ["pooled", *AVERAGES])
def test_two_models_are_compared_as_by_compare_roc_auc(statistic, kind):
    y, scores, groups, weights = rows(1, n_models=2, weighted=kind != "unit weights")
    # One group has a single positive, whose variance is bounded.
    lone = np.flatnonzero((groups == 2) & y)
    y[lone[1:]] = False
    known = {"groups": groups, "sample_weight": weights}
    if "clusters" in kind:
        known["clusters"] = np.arange(y.size) % 50 + (0 if "shared" in kind else 50 * groups)
    found = compare_models(y, scores, statistic=statistic, **known)
    expected = compare_roc_auc(y, *scores.values(), over="rows", **known)
    columns = ["auc_a", "auc_b", "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    row = found.table.loc[("model 0", "model 1")]
    assert_allclose(row[columns], expected.table.loc[statistic, columns].astype(float), rtol=1e-8)
    assert row["pvalue_adjusted"] == pytest.approx(row["pvalue"], rel=1e-9)
    by_group = found.by_group.droplevel(["model_a", "model_b"])
    pd.testing.assert_frame_equal(by_group, expected.by_group, rtol=1e-8)


@pytest.mark.parametrize("statistic", ["pooled", "macro"])
@pytest.mark.parametrize("clustered", [False, True])
def test_each_of_several_pairs_is_compared_as_by_compare_roc_auc(statistic, clustered):
    y, scores, groups, _ = rows(1, n_models=4)
    known = {"groups": groups, "clusters": np.arange(y.size) % 50 if clustered else None}
    found = compare_models(y, scores, statistic=statistic, **known)
    columns = ["difference", "statistic", "pvalue"]
    for (a, b), row in found.table.iterrows():
        expected = compare_roc_auc(y, scores[a], scores[b], over="rows", **known)
        assert_allclose(row[columns], expected.table.loc[statistic, columns].astype(float))
        of_pair = found.by_group.xs((a, b), level=["model_a", "model_b"])
        assert_allclose(of_pair[columns], expected.by_group[columns])
    assert (found.table["pvalue_adjusted"] >= found.table["pvalue"]).all()
    excludes = (found.table["ci_low"] > 0) | (found.table["ci_high"] < 0)
    assert_array_equal(excludes, found.table["pvalue_adjusted"] < 0.05)


def test_clusters_of_equal_rows_are_compared_as_single_rows():
    """Five copies of each row in a cluster have the variance of one row."""
    y, scores, *_ = rows(0, n=80)
    five = np.repeat(np.arange(80), 5)
    once = compare_models(y, scores).table
    copies = {name: values[five] for name, values in scores.items()}
    often = compare_models(y[five], copies, clusters=five).table
    assert_allclose(often["statistic"], once["statistic"], rtol=1e-9)
    lone = compare_models(y, scores, clusters=np.zeros(80)).table
    assert lone[["pvalue", "pvalue_adjusted", "ci_low"]].isna().all(axis=None)


def test_models_that_agree_on_nearly_all_rows():
    """A single swapped pair of rows is the difference of the models."""
    y = np.repeat([0, 1], 20_000)
    score = np.arange(y.size) % 20_000 + 0.5 * y
    other = score.copy()
    other[[100, 20_100]] = score[[20_100, 100]]
    found = compare_models(y, {"a": score, "b": other, "c": -score})
    expected = compare_roc_auc(y, score, other)
    row = found.table.loc[("a", "b")]
    assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-6)
    assert row["pvalue"] == pytest.approx(expected.pvalue, rel=1e-6)


def test_p_values_by_group_are_adjusted_for_all_groups_and_comparisons():
    y, scores, groups, _ = rows(2, n_models=3)
    table = compare_models(y, scores, groups=groups).by_group
    assert len(table) == 9
    assert_allclose(table["pvalue_adjusted"], adjusted(table["pvalue"].to_numpy())[0])
    assert set(table["adjustment"]) == {"Holm"}
    many = compare_models(y, scores, groups=groups[np.argsort(groups)] * 10 + np.arange(240) % 8)
    assert set(many.by_group["adjustment"]) == {"Benjamini-Hochberg"}


# Simultaneous intervals -----------------------------------------------------------------------


def pairs_of(n_models):
    return np.triu_indices(n_models, 1)


def of_differences(covariance):
    """Return the variances of all differences of variables with this covariance."""
    diagonal = np.diag(covariance)
    return diagonal[:, None] + diagonal - 2 * covariance


@pytest.mark.parametrize("freedom", [np.inf, 12.0])
@pytest.mark.parametrize("n_models", [2, 3, 6])
def test_all_pairs_of_exchangeable_models_are_compared_by_tukeys_method(n_models, freedom):
    """With equal variances and correlations, the distribution is the studentized range."""
    covariance = 0.01 * (0.4 + 0.6 * np.eye(n_models))
    null = LargestDifference.of(of_differences(covariance), pairs_of(n_models), freedom)
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


def test_models_with_a_reference_are_compared_by_dunnetts_method():
    n_others = 5
    covariance = np.eye(n_others + 1)
    others = np.arange(1, n_others + 1)
    null = LargestDifference.of(of_differences(covariance), (others, 0 * others), np.inf)
    for value in (1.5, 2.5, 3.5):

        def inside(x, value=value):
            reach = value * np.sqrt(2)
            between = stats.norm.cdf(x + reach) - stats.norm.cdf(x - reach)
            return stats.norm.pdf(x) * between**n_others

        expected = 1 - integrate.quad(inside, -9, 9, epsabs=1e-12)[0]
        assert null.tail(value) == pytest.approx(expected, rel=0.02)


def test_small_tail_probabilities_are_accurate():
    null = LargestDifference.of(of_differences(np.eye(4)), pairs_of(4), np.inf)
    assert null.tail(6.0) == pytest.approx(6 * 2 * stats.norm.sf(6.0), rel=0.05)
    assert 0 < null.tail(30.0) <= 12 * stats.norm.sf(30.0)


def test_nearly_identical_models_need_no_correction():
    """Differences with correlations near 1 are a single comparison."""
    y, scores, *_ = rows(3, n_models=2)
    rng = np.random.default_rng(0)
    copies = {f"copy {i}": scores["model 1"] + 1e-9 * rng.normal(size=y.size) for i in range(3)}
    found = compare_models(y, {**scores, **copies}, reference="model 0")
    one = compare_models(y, scores)
    width = one.table.eval("ci_high - ci_low").iloc[0]
    assert_allclose(found.table.eval("ci_high - ci_low"), width, rtol=0.05)


def test_intervals_and_p_values_agree():
    for seed in range(2):
        y, scores, groups, weights = rows(seed, n=150, n_models=6, weighted=seed % 2 == 1)
        found = compare_models(
            y, scores, groups=groups, sample_weight=weights, confidence_level=0.9
        )
        for table, pvalue in ((found.table, "pvalue_adjusted"), (found.by_group, "pvalue")):
            excludes = (table["ci_low"] > 0) | (table["ci_high"] < 0)
            assert_array_equal(excludes, table[pvalue] < 0.1)
            assert (table["pvalue_adjusted"] >= table["pvalue"]).all()
        again = compare_models(
            y, scores, groups=groups, sample_weight=weights, confidence_level=0.9
        )
        pd.testing.assert_frame_equal(found.table, again.table)


def test_the_order_of_models_only_changes_signs():
    y, scores, groups, _ = rows(0)
    one = compare_models(y, scores, groups=groups, reference="model 2")
    other = compare_models(y, dict(reversed(scores.items())), groups=groups, reference="model 2")
    assert list(one.table.index.get_level_values("model_b").unique()) == ["model 2"]
    other_table = other.table.loc[one.table.index]
    assert_allclose(one.table, other_table, rtol=0.03, atol=1e-3)
    assert_allclose(one.table["statistic"], other_table["statistic"], rtol=1e-9)


# Unusual models -------------------------------------------------------------------------------


def test_identical_models():
    y, scores, groups, _ = rows(0, n_models=2)
    scores["copy"] = scores["model 0"]
    found = compare_models(y, scores, groups=groups).table.loc[("model 0", "copy")]
    assert found[["difference", "ci_low", "ci_high", "statistic"]].tolist() == [0, 0, 0, 0]
    assert found[["pvalue", "pvalue_adjusted"]].tolist() == [1, 1]


def test_perfect_models_have_no_standard_error():
    y = np.repeat([0, 1], 5)
    found = compare_models(y, {"perfect": y, "wrong": 1 - y, "also perfect": 2 * y + 1}).table
    assert found["difference"].tolist() == [1, 0, -1]
    assert np.isnan(found["pvalue"]).tolist() == [True, False, True]
    assert found["pvalue"].iloc[1] == 1


def test_groups_that_lack_a_class():
    y, scores, groups, _ = rows(0)
    y[groups == 1] = False
    found = compare_models(y, scores, groups=groups, statistic="macro")
    assert found.by_group.loc[1].drop(columns="adjustment").isna().all(axis=None)
    assert found.table.notna().all(axis=None)
    only_one = groups == 1
    y[:] = only_one  # every group lacks a class
    found = compare_models(y, scores, groups=groups, statistic="macro")
    assert found.table.isna().all(axis=None)
    assert repr(found) == "ModelComparison('macro', 4 models, 6 comparisons): no p value"


def test_forms_of_scores():
    y, scores, groups, _ = rows(0)
    expected = compare_models(y, scores, groups=groups).table
    for frame in (pd.DataFrame, pl.DataFrame):
        pd.testing.assert_frame_equal(
            compare_models(y, frame(scores), groups=groups).table, expected
        )
    array = compare_models(y, np.column_stack(list(scores.values())), groups=groups)
    assert_array_equal(array.table, expected)
    assert array.table.index[0] == (0, 1)
    assert array.auc.index.tolist() == [0, 1, 2, 3]


def test_several_group_columns_and_missing_labels():
    y, scores, groups, _ = rows(0)
    columns = pd.DataFrame({"site": groups // 2, "sex": (groups % 2).astype(float)})
    columns.loc[:4, "sex"] = np.nan
    found = compare_models(y, scores, groups=columns, missing="drop")
    assert found.by_group.index.names == ["site", "sex", "model_a", "model_b"]
    assert found.n_missing == 5
    assert repr(found).endswith("5 rows without a group label left out")
    kept = {name: values[5:] for name, values in scores.items()}
    pd.testing.assert_frame_equal(found.table, compare_models(y[5:], kept, groups=groups[5:]).table)


def test_scores_in_another_order_are_refused():
    y, scores, *_ = rows(0)
    one = pd.Series(scores["model 0"])
    with pytest.raises(ValueError, match="have the same index labels"):
        compare_models(y, {"one": one, "other": one.sample(frac=1, random_state=0)})


ERRORS = {
    "one model": (
        {"scores": {"a": [0.1, 0.2, 0.3, 0.4]}},
        "scores must hold the scores of at least two models; got 1",
    ),
    "a vector": ({"scores": [0.1, 0.2, 0.3, 0.4]}, r"array of shape \(n_rows, n_models\); got"),
    "a list of models": (
        {"scores": [[0.1, 0.4, 0.3, 0.2], [0.4, 0.6, 0.1, 0.3]]},
        r"got list of list of shape \(2, 4\) for 4 rows.*np\.column_stack",
    ),
    "repeated names": (
        {"scores": pd.DataFrame([[0.1, 0.2]] * 4, columns=["a", "a"])},
        "scores must have a different name for each model; got several columns named 'a'",
    ),
    "unknown reference": (
        {"reference": "c"},
        "reference='c' is not among the models, 'a', 'b'",
    ),
    "a gap": (
        {"statistic": "difference", "groups": [1, 1, 2, 2]},
        "statistic must be one of 'pooled', 'macro'",
    ),
    "an average without groups": ({"statistic": "macro"}, "so it needs groups"),
    "no such statistic": ({"statistic": "nonsense"}, "nonsense"),
    "NaN": (
        {"scores": {"a": [1, 2, 3, 4], "b": [1, np.nan, 3, 4]}},
        r"scores\['b'\] must be finite; got 1 NaN",
    ),
    "lengths": (
        {"scores": {"a": [1, 2, 3, 4], "b": [1, 2, 3]}},
        r"scores\['b'\] has 3 rows and y_true has 4",
    ),
    "lengths of clusters": (
        {"clusters": [1, 1, 2]},
        "clusters has 3 rows and y_true has 4",
    ),
    "one class": ({"y_true": [1, 1, 1, 1]}, "y_true must hold both classes"),
    "level": ({"confidence_level": 95}, "Pass 0.95 for 95 %"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    changed, message = ERRORS[name]
    given = {
        "y_true": [0, 1, 0, 1],
        "scores": {"a": [0.1, 0.4, 0.3, 0.2], "b": [0.4, 0.6, 0.1, 0.3]},
        **changed,
    }
    with pytest.raises((ValueError, TypeError), match=message):
        compare_models(**given)
