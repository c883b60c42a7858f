"""GroupAUC: all numbers against all pairs and scikit-learn; messages and displays."""

import dataclasses
import re
import warnings
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import (
    STATISTICS,
    WEIGHTS,
    Case,
    all_pairs,
    plain_label,
    random_case,
    same_number,
    same_statistic,
)
from sklearn.compose import make_column_transformer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from test_inference import GROUPS, S1, S2, Y
from test_inference import WEIGHTS as OTHER_WEIGHTS

from skfedauc import GroupAUC, ScoreCounts, compare_models, group_roc_auc_score
from skfedauc.report.group_auc import null_difference_of

CHUNKS = [range(k, k + 12) for k in range(0, 24, 12)]

# Groups "c" and "d" lack a class and have 3 of 8 rows.
ONE_CLASS = {
    "y_true": [0, 1, 1, 0, 1, 0, 0, 0],
    "y_score": [0.2, 0.6, 0.1, 0.5, 0.9, 0.3, 0.4, 0.7],
    "groups": ["a", "a", "a", "b", "b", "c", "c", "d"],
}


def report_of(case, undefined="ignore"):
    return GroupAUC.from_predictions(**case.arguments, undefined=undefined)


@pytest.fixture
def small():
    return GroupAUC.from_predictions(
        [0, 1, 0, 1, 1], [0.2, 0.6, 0.5, 0.4, 0.9], groups=["a", "a", "b", "b", "b"]
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seeds", CHUNKS, ids=str)
def test_every_statistic_equals_brute_force(seeds, weights):
    for seed in seeds:
        case = random_case(seed, weights=weights)
        got, truth = report_of(case), all_pairs(case)
        for name in STATISTICS:
            value = got.statistic(name)
            assert same_statistic(name, value, truth.statistics[name]), (seed, name)
            assert isinstance(value, float)
            of_rows = group_roc_auc_score(**case.arguments, statistic=name, undefined="ignore")
            assert isinstance(of_rows, float)
            assert same_number(of_rows, value, 0.0)
        assert got.statistics().index.tolist() == list(STATISTICS)
        assert [plain_label(g) for g in got.counts.groups] == truth.labels
        np.testing.assert_allclose(got.by_group["auc"], truth.auc, rtol=0, atol=1e-12)
        assert got.by_group["n_positives"].tolist() == truth.n_positives.tolist()
        assert got.by_group["n_negatives"].tolist() == truth.n_negatives.tolist()
        assert (got.n_groups, got._estimates.pairs.n_undefined) == (
            len(truth.labels),
            truth.n_undefined,
        )
        np.testing.assert_allclose(got.cross_matrix, truth.matrix, rtol=0, atol=1e-12)
        parts = got.decomposition()
        assert same_number(parts.share_within, truth.share_within)
        assert same_number(parts.within, truth.statistics["within"])
        assert same_number(parts.cross, truth.statistics["cross"])
        within, cross, share = np.nan_to_num(parts)
        if not np.isnan(got.pooled):
            assert abs(got.pooled - share * within - (1 - share) * cross) <= 1e-12


@pytest.mark.parametrize("stand_in", [0.0, 0.5, 1])
@pytest.mark.parametrize("weights", ["unit", "float"])
def test_a_number_stands_in_for_undefined_groups(stand_in, weights):
    for seed in range(12):
        case = random_case(seed, weights=weights)
        got, truth = report_of(case, undefined=stand_in), all_pairs(case, stand_in=stand_in)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            for name in STATISTICS:
                assert same_statistic(name, got.statistic(name), truth.statistics[name]), (
                    seed,
                    name,
                )
        assert got._estimates.pairs.n_undefined == truth.n_undefined


def test_values_of_other_software():
    got = GroupAUC.from_predictions(Y, S1, groups=GROUPS)
    assert got.pooled == pytest.approx(0.818181818181818, abs=1e-12)
    assert got.by_group["auc"].to_dict() == pytest.approx(
        {"a": 0.958333333333333, "b": 1.0, "c": 1.0}, abs=1e-12
    )
    weighted = GroupAUC.from_predictions(Y, S1, groups=GROUPS, sample_weight=OTHER_WEIGHTS)
    assert weighted.pooled == pytest.approx(0.8214285714285714, abs=1e-12)
    other = GroupAUC.from_predictions(Y, S2, groups=GROUPS)
    assert other.pooled == pytest.approx(0.742424242424242, abs=1e-12)
    ten = ScoreCounts.from_predictions(
        [0, 0, 1, 1, 0, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2, 0.7, 0.6, 0.9, 0.55, 0.3]
    )
    assert GroupAUC(ten).pooled == pytest.approx(0.88, abs=1e-12)


@pytest.mark.parametrize("n_groups", [1, 31, 239, 240, 241, 400])
def test_cross_matrix_with_ties_about_as_long_as_blocks(n_groups):
    for tie in (1, 7, 8, 9):
        rng = np.random.default_rng(tie)
        scores = np.repeat(rng.random(900 // tie), tie)
        n = scores.size
        case = Case(rng.integers(0, 2, n), scores, rng.integers(0, n_groups, n).tolist(), None)
        np.testing.assert_allclose(
            report_of(case).cross_matrix, all_pairs(case).matrix, rtol=0, atol=1e-12
        )


def test_cross_matrix_says_whose_rows_are_whose():
    matrix = GroupAUC.from_predictions(
        [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.2], groups=["high", "high", "low", "low"]
    ).cross_matrix
    assert matrix.loc["high", "low"] == 1.0
    assert matrix.loc["low", "high"] == 0.0
    assert (matrix.index.name, matrix.columns.name) == ("positives", "negatives")


@pytest.mark.parametrize("table", ["by_group", "cross_matrix"])
def test_a_table_is_the_users_to_change(small, table):
    frame = getattr(small, table)
    before = frame.copy()
    frame.iloc[0, 0] = -1.0
    pd.testing.assert_frame_equal(getattr(small, table), before)


def test_average_by_own_weights(small):
    expected = (3 * 1.0 + 1 * 0.5) / 4
    for weights in ({"a": 3, "b": 1}, {"b": 0.1, "a": 0.3}, pd.Series({"a": 3, "b": 1})):
        assert small.average(weights) == pytest.approx(expected, abs=1e-12)
    assert small.average({"a": 0, "b": 1}) == 0.5


def test_average_with_all_weight_on_undefined_groups_is_nan():
    got = GroupAUC.from_predictions(**ONE_CLASS, undefined="ignore")
    assert np.isnan(got.average({"a": 0, "b": 0, "c": 1, "d": 0}))


ONE_GROUP = {"y_true": [0, 1, 1], "y_score": [0.2, 0.6, 0.1], "groups": ["a"] * 3}
ALL_WRONG = {"y_true": [1, 0, 1, 0], "y_score": [0.2, 0.6, 0.1, 0.5], "groups": [1, 1, 2, 2]}


@pytest.mark.parametrize(
    ("rows", "name", "reason"),
    [
        *((ONE_GROUP, gap, "two groups") for gap in ("difference", "ratio", "cross_difference")),
        (ONE_GROUP, "cross", "cross AUC needs a pair"),
        (ONE_GROUP | {"sample_weight": [0.3, 0.1, 0.7]}, "cross", "cross AUC needs a pair"),
        (ALL_WRONG, "ratio", "AUC above 0"),
    ],
)
def test_undefined_statistics_are_nan_and_never_zero(rows, name, reason):
    got = GroupAUC.from_predictions(**rows)
    with pytest.warns(UndefinedMetricWarning, match=reason):
        assert np.isnan(got.statistic(name))
    with pytest.raises(ValueError, match=reason):
        GroupAUC(got.counts, undefined="raise").statistic(name)
    assert np.isnan(GroupAUC(got.counts, undefined="ignore").statistic(name))


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_no_defined_group_is_nan(y):
    got = GroupAUC.from_predictions(y, [0.2, 0.4, 0.6], groups=["a", "b", "b"])
    quiet = GroupAUC(got.counts, undefined="ignore")
    assert all(np.isnan(quiet.statistic(name)) for name in STATISTICS)
    assert quiet.statistics().isna().all()
    with pytest.warns(UndefinedMetricWarning, match="pooled AUC needs rows of both classes"):
        assert np.isnan(got.pooled)
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert np.isnan(got.average("macro"))
    assert any("2 of 2 groups, with 100.00%" in str(w.message) for w in caught)
    assert "pooled undefined: all rows together" in repr(got)


def test_no_rows():
    got = GroupAUC.from_predictions([], [], groups=[], undefined="ignore")
    assert got.statistics().isna().all()
    assert got.by_group.shape == (0, 3)
    assert "0 groups" in repr(got)


def first_lines_case(n_groups, n=100, gap=0.0):
    """Rows of groups of n positives and n negatives; the first group has a lower AUC by `gap`."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], n * n_groups)
    group = np.arange(n_groups).repeat(2 * n)
    score = rng.normal(size=y.size) + 1.5 * y - gap * y * (group == 0)
    return {"y_true": y, "y_score": score, "groups": pd.Series(group, name="site")}


@pytest.mark.parametrize(
    ("shift", "side"), [(2.0, "above"), (0.0, ""), (0.319, ""), (-2.0, "below")]
)
def test_the_first_lines_tell_a_pooled_auc_outside_the_groups(shift, side):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 1000)
    y = (rng.random(1000) < np.where(group, 0.8, 0.2)).astype(int)
    got = GroupAUC.from_predictions(y, rng.normal(size=1000) + y + shift * group, groups=group)
    aucs, pooled = got.by_group["auc"].round(3), round(got.pooled, 3)  # as printed
    assert (pooled > aucs.max(), pooled < aucs.min()) == (side == "above", side == "below")
    said = f"every group's, because pairs across groups have an AUC of {got.statistic('cross'):.3f}"
    assert (f"pooled is {side} {said}" in repr(got)) == ("every group's" in repr(got)) == bool(side)


def test_no_difference_is_established_between_equal_groups():
    report = GroupAUC.from_predictions(**first_lines_case(3))
    assert report.test_difference().pvalue > 0.05
    same = GroupAUC.from_predictions([0, 1] * 2, [0.1, 0.2] * 2, groups=list("aabb"))
    assert same.test_difference().clearest is None
    assert re.search(
        r"largest difference 0\.\d+ \(true: .*\): (\d) minus (?!\1)\d\n"
        r"No difference is established, p = 0\.\d+: "
        rf"equal groups show about {null_difference_of(report):.2g} by chance\.\n",
        repr(report),
    )


def test_the_clearest_pair_is_named_if_a_tiny_group_differs_more():
    case = first_lines_case(2, n=500, gap=1.2)
    tiny = {"y_true": [0, 1] * 2, "y_score": [-9.0, 9.0] * 2, "groups": ["tiny"] * 4}
    report = GroupAUC.from_predictions(
        **{name: [*map(str, case[name]), *tiny[name]] for name in ["groups"]},
        **{name: np.append(case[name], tiny[name]) for name in ["y_true", "y_score"]},
    )
    test, pairs = report.test_difference(), report.compare_groups()
    assert (test.highest, test.clearest) == ("tiny", ("1", "0"))
    assert "clearest: '1' minus '0'" in repr(test)
    assert test.pvalue == pytest.approx(pairs["pvalue_adjusted"].min(), rel=1e-6)
    clearest = report.by_group["auc"]["1"] - report.by_group["auc"]["0"]
    furthest = r"largest difference 0\.\d+ \(true: .*\): tiny \(only 2 positives\) minus 0\b"
    high, low = -pairs.loc[("0", "1"), ["simultaneous_low", "simultaneous_high"]]
    limits = f"({low:.3f} to {high:.3f})"
    differ = f"The groups differ, p < 0.0001: most clearly 1 minus 0, {clearest:.3f} {limits}."
    html = unescape(report._repr_html_())
    for told in (repr(report), html, report._repr_markdown_().replace("\\", "")):
        assert re.search(furthest, told)
        assert differ in told
    assert re.search(r"  tiny +1.000  [\d.]+ to 1.000 +2 +2  only 2 positives\n", repr(report))
    assert "tiny<br><small>only 2 positives</small>" in report._repr_html_()
    large = GroupAUC(report.counts, min_per_class=10)
    assert ": all rows of these groups" in str(large)


def test_a_worst_group_of_few_rows_is_marked():
    text = repr(GroupAUC.from_predictions([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=list("aabb")))
    assert "worst 0.000: b, 1 positive and 1 negative, few rows\n" in text


def test_of_many_groups_the_first_lines_show_both_ends():
    report = GroupAUC.from_predictions(**first_lines_case(25, n=5))
    lines = repr(report).splitlines()
    place = lines.index("Shown: the 10 lowest and the 10 highest of 25 groups.")
    shown = [int(line.split()[0]) for line in lines[place - 20 : place]]
    ordered = report.by_group["auc"].sort_values(kind="stable").index
    assert shown == [*ordered[:10], *ordered[-10:]]
    assert "(interval over new groups)" in lines[1]
    assert report._repr_html_().count("<tr>") == 21


def test_a_limit_above_zero_is_not_shown_as_zero():
    y, n = np.tile([0, 1], 400), 400
    score = np.random.default_rng(1).normal(size=2 * n) + 4.6 * y
    report = GroupAUC.from_predictions(y, score, groups=np.tile([0, 0, 1, 1], n // 2))
    low, high = report.confidence_intervals().loc[0, ["ci_low", "ci_high"]]
    assert low < high < 1
    assert f"{high:.3f}" == "1.000"
    assert "to 0.999" in repr(report)


def test_markdown_has_the_same_lines():
    case = first_lines_case(3)
    case["groups"] = case["groups"].map({0: "a|b", 1: "*c*", 2: "d"})
    report = GroupAUC.from_predictions(**case)
    headline, _, *lines = report._repr_markdown_().splitlines()
    said = repr(report).splitlines()
    assert headline == f"**{said[0]}**"
    assert len([line for line in lines if line.startswith("- ")]) == 5
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 5
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert any(r"a\|b" in line for line in table)


def test_html_escapes_labels():
    label = "<script>alert('x & y')</script>"
    html = GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=[label, label])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(&#x27;x &amp; y&#x27;)&lt;/script&gt;" in html
    pairs = GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=[("<b>", 1)] * 2)
    assert "<b>" not in pairs._repr_html_()


@pytest.fixture(scope="module")
def fitted():
    """A pipeline that uses only the column `age`, with X, y and scores."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.normal(size=90),
            "site": rng.choice(["oslo", "va"], 90),
            "sex": rng.choice(["f", "m"], 90),
        },
        index=rng.permutation(90) + 1000,
    )
    y = np.where(X["age"] + rng.normal(size=90) > 0, "sick", "healthy")
    model = make_pipeline(
        make_column_transformer(("passthrough", ["age"])), LogisticRegression()
    ).fit(X, y)
    return model, X, y, model.decision_function(X)


def test_from_estimator_with_groups_of_every_kind(fitted):
    model, X, y, scores = fitted
    expected = GroupAUC.from_predictions(
        y, scores, groups=X["site"].tolist(), pos_label="sick"
    ).counts
    for groups in (
        "site",
        ["site"],
        X["site"].to_numpy(),
        X["site"].tolist(),
        X["site"],
        X["site"].sample(frac=1, random_state=0),
        pl.Series(X["site"].tolist()),
    ):
        assert GroupAUC.from_estimator(model, X, y, groups=groups).counts == expected


@pytest.mark.parametrize("groups", ["site", ["site"], ["site", "sex"], ["sex", "site"]])
def test_tables_of_an_estimator_are_named_by_the_columns(fitted, groups):
    model, X, y, _ = fitted
    got = GroupAUC.from_estimator(model, X, y, groups=groups).by_group
    assert list(got.index.names) == ([groups] if isinstance(groups, str) else groups)
    by_series = GroupAUC.from_estimator(model, X, y, groups=X["site"])
    assert by_series.by_group.index.name == "site"


def test_weights_of_hardly_any_weight_count_in_the_cross_auc():
    """Tiny cross-group weights must not be lost in the difference of two large sums."""
    rng = np.random.default_rng(0)
    y, score, site = rng.integers(0, 2, 60), rng.random(60), np.arange(60) % 2
    weight = rng.random(60) + 0.1
    by_eps = []
    for eps in (1.0, 1e-5, 1e-9, 1e-13):
        report = GroupAUC.from_predictions(
            y, score, groups=site, sample_weight=weight * np.where(site == 1, eps, 1.0)
        )
        by_eps.append(report.decomposition().cross)
    # Both cross sums of two groups are proportional to the weight of one group.
    np.testing.assert_allclose(by_eps, by_eps[0], rtol=0, atol=1e-12)


def test_weights_never_round_an_auc_beyond_one():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y, groups = np.tile([0, 1], 20), rng.permutation(np.repeat([0, 1], 20))
        y[:2], groups[:4] = [0, 1], [0, 0, 1, 1]
        got = GroupAUC.from_predictions(
            y, y + rng.random(40) / 2, groups=groups, sample_weight=rng.uniform(0.1, 3, 40)
        )
        assert got.pooled <= 1
        assert got.by_group["auc"].max() <= 1
        assert got.average("positives") <= 1
        assert got.cross_matrix.max(axis=None) <= 1


def test_small_groups_are_left_out_and_named():
    case = random_case(3, weights="unit", labels="str")
    rows = {"y_true": case.y, "y_score": case.scores}
    rows["groups"] = pd.Series(case.groups, name="site")
    report = GroupAUC.from_predictions(**rows, undefined="ignore")
    assert report.n_groups > 10
    assert "Left out" not in repr(report)
    for least in range(1, 4):
        kept = GroupAUC.from_predictions(**rows, undefined="ignore", min_per_class=least)
        table = report.by_group
        is_large = table[["n_positives", "n_negatives"]].min(axis=1) >= least
        if least == 1:
            is_large[:] = True  # `undefined` applies to groups that lack a class
        pd.testing.assert_frame_equal(kept.by_group, table[is_large])
        others = table[~is_large]
        for label, of_group in others[:5].iterrows():
            size = f"{label} ({of_group['n_positives']:.0f} and {of_group['n_negatives']:.0f})"
            assert size in repr(kept)
        if len(others) > 5:
            n_rows = others[5:][["n_positives", "n_negatives"]].to_numpy().sum()
            assert f"and {len(others) - 5} more group" in repr(kept)
            assert f" with {n_rows} rows." in repr(kept)
    with pytest.raises(ValueError, match="min_per_class must be a whole number of at least 1"):
        GroupAUC(report.counts, min_per_class=0)


@pytest.mark.parametrize("name", ["pooled", "worst", "difference", "tau"])
def test_an_undefined_statistic_warns_at_its_first_access(name):
    report = GroupAUC.from_predictions([1, 1], [0.2, 0.6], groups=["a", "b"])
    with pytest.warns(UndefinedMetricWarning) as caught:
        assert np.isnan(getattr(report, name))
    assert str(caught[-1].message).endswith("so the result is NaN.")
    assert np.isnan(getattr(report, name))  # warnings are errors


def test_a_report_has_few_public_names_and_the_statistics_by_name(small):
    public = [name for name in dir(GroupAUC) if not name.startswith("_")]
    assert len(public) <= 24
    for name in set(STATISTICS) - set(public):
        with pytest.raises(
            AttributeError, match=rf"no attribute '{name}'; use statistic\('{name}'"
        ):
            getattr(small, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = small.nonsense


def test_a_number_for_an_undefined_auc_is_not_tested():
    rng = np.random.default_rng(0)
    y, group = np.r_[np.arange(200) % 2, np.ones(5, int)], np.repeat(["a", "b", "c"], [100, 100, 5])
    score = rng.normal(size=205) + y
    report = GroupAUC.from_predictions(y, score, groups=group, undefined=0.5)
    test = report.test_difference()
    assert np.isnan(test.pvalue)
    assert test.clearest is None
    assert test.estimate == report.statistics()["difference"] > 0.2
    assert "no test, with 0.5 for 1 group without an AUC" in repr(report)
    assert "worst 0.500: c, 5 positives and 0 negatives, which has no AUC" in repr(report)
    for margin in (report.test_margin(0.9), report.test_margin(0.4, reference=0.5)):
        assert (margin.is_shown, np.isnan(margin.pvalue)) == (False, True)
    usual = GroupAUC.from_predictions(y, score, groups=group, undefined="ignore")
    assert usual.test_margin(0.9).is_shown
    clearest = usual.compare_groups().nsmallest(1, "pvalue_adjusted").iloc[0]
    test = usual.test_difference()
    assert test.pvalue == pytest.approx(clearest["pvalue_adjusted"])
    assert test.statistic == pytest.approx(abs(clearest["statistic"]))
    shape = ["estimate", "ci_low", "ci_high", "statistic", "pvalue", "table"]
    results = (test, usual.test_equal_groups(), usual.test_margin(0.1), usual.agreement())
    for result in (*results, compare_models(y, {"a": score, "b": -score})):
        assert [field.name for field in dataclasses.fields(result)][:6] == shape


def test_groups_are_needed_by_name():
    y, score, groups = ONE_CLASS.values()
    with pytest.raises(TypeError, match="groups"):
        group_roc_auc_score(y, score)
    with pytest.raises(TypeError, match="groups must give the group of each row"):
        group_roc_auc_score(y, score, groups=None)
    with pytest.raises(TypeError, match="positional"):
        group_roc_auc_score(y, score, groups)
