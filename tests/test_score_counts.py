"""ScoreCounts: the sum does not depend on how the rows are split."""

import datetime
import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from oracles import LABELS, all_pairs, plain_label, random_case
from saved_cases import CASES
from scipy.stats import rankdata

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import select_groups


def counts_of(case, rows=slice(None)):
    return ScoreCounts.from_predictions(**case.take(rows).arguments)


def assert_same_counts(counts, expected):
    pd.testing.assert_frame_equal(counts.to_counts(), expected.to_counts(), rtol=1e-12)
    assert counts == expected or counts.cells.weights is not None


SMALL = {
    "y_true": [0, 1, 1, 0, 1],
    "y_score": [0.25, 0.5, 0.5, 0.5, 0.75],
    "groups": ["a", "a", "b", "b", "b"],
}


@pytest.fixture
def small():
    return ScoreCounts.from_predictions(**SMALL)


def test_with_and_without_groups_do_not_merge(small):
    bare = ScoreCounts.from_predictions([0, 1], [0.2, 0.4])
    with pytest.raises(ValueError, match=r"part 1 has no groups, and part 0 has groups; .*regroup"):
        small + bare
    with pytest.raises(ValueError, match="part 0 has no groups, and part 1 has groups"):
        ScoreCounts.merge([bare, small, bare])
    named = bare.regroup({None: "c"})
    assert (small + named).groups == ("a", "b", "c")


@pytest.mark.parametrize(
    "kinds",
    list(itertools.combinations(["int", "str", "bool", "date", "pair", "triple"], 2)),
    ids="-".join,
)
def test_labels_of_different_kinds_do_not_merge(kinds):
    one, other = (
        ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=[LABELS[kind](0)] * 2)
        for kind in kinds
    )
    for parts in ([one, other], [other, one]):
        with pytest.raises(TypeError, match="different kinds"):
            ScoreCounts.merge(parts)


@pytest.mark.parametrize("seed", range(5))
def test_integers_of_63_and_of_64_bits_merge(seed):
    rng = np.random.default_rng(seed)
    few, far = [0, 3, 2**62], [3, 2**62, 2**63, 2**64 - 1]
    y, scores = rng.integers(0, 2, 40), rng.integers(0, 5, 40) / 4
    groups = [*rng.choice(few, 20).tolist(), *rng.choice(np.array(far, np.uint64), 20).tolist()]
    whole = ScoreCounts.from_predictions(y, scores, groups=np.array(groups, np.uint64))
    parts = [
        ScoreCounts.from_predictions(y[rows], scores[rows], groups=groups[rows])
        for rows in (slice(20), slice(20, 30), slice(30, 40))
    ]
    assert ScoreCounts.merge(parts) == ScoreCounts.merge(parts[::-1]) == whole
    assert whole.groups == tuple(sorted(set(groups)))


def test_integers_that_no_type_of_64_bits_holds_do_not_merge():
    below, far = (
        ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=groups)
        for groups in ([-1, -1], [2**63, 5])
    )
    for parts in ([below, far], [far, below]):
        with pytest.raises(TypeError, match=r"from -1 to 9223372036854775808.*regroup\(str\)"):
            ScoreCounts.merge(parts)
    assert (below.regroup(str) + far.regroup(str)).groups == ("-1", "5", "9223372036854775808")


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_dates_of_any_resolution_merge_with_dates_only(unit):
    days = np.array(["2020-01-01", "2020-01-02"], f"datetime64[{unit}]")
    dated = ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=days)
    listed = ScoreCounts.from_predictions(
        [0, 1], [0.2, 0.4], groups=[datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    )
    merged = dated + listed
    assert [plain_label(g) for g in merged.groups] == [
        datetime.datetime(2020, 1, 1),
        datetime.datetime(2020, 1, 2),
    ]
    assert merged.n_positives.tolist() == [0, 2]
    numbered = ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=[1, 2])
    with pytest.raises(TypeError, match="different kinds"):
        dated + numbered


@pytest.mark.parametrize("other", [1, 0.5, "a", None, [1]])
def test_only_counts_add(small, other):
    with pytest.raises(TypeError):
        small + other
    with pytest.raises(TypeError):
        other + small


def test_unit_and_weighted_rows_merge():
    for seed in range(20):
        case = random_case(seed, weights="float")
        unit = case._replace(weights=None)
        merged = counts_of(case) + counts_of(unit)
        doubled = case._replace(
            y=np.tile(case.y, 2),
            scores=np.tile(case.scores, 2),
            groups=case.groups * 2,
            weights=np.r_[case.weights, np.ones(case.y.size)],
        )
        truth = all_pairs(doubled)
        assert [plain_label(g) for g in merged.groups] == truth.labels
        auc = GroupAUC(merged).by_group["auc"]
        np.testing.assert_allclose(auc, truth.auc, rtol=0, atol=1e-12)
        assert np.array_equal(merged.n_positives, truth.n_positives)


def test_weights_of_one_are_no_weights(small):
    weighted = ScoreCounts.from_predictions(
        [0, 1, 1, 0, 1, 1],
        [0.25, 0.5, 0.5, 0.5, 0.75, 0.1],
        groups=["a", "a", "b", "b", "b", "gone"],
        sample_weight=[1, 1, 1, 1, 1, 0],
    )
    assert weighted == small


def test_billions_of_rows_have_the_results_of_few_rows_in_the_same_proportions():
    negatives, positives = [5, 4, 3, 4, 1, 2, 3, 4], [1, 4, 4, 5, 4, 3, 2, 1]
    few, many = (
        ScoreCounts.from_counts(
            ["a"] * 4 + ["b"] * 4, [0.1, 0.2, 0.3, 0.4] * 2, *np.multiply([negatives, positives], n)
        )
        for n in (1, 2**35)
    )
    assert many.n_positives.tolist() == [14 * 2**35, 10 * 2**35]
    of_few, of_many = GroupAUC(few), GroupAUC(many)
    assert of_many.by_group["auc"].equals(of_few.by_group["auc"])
    assert (of_many.pooled, of_many.decomposition()) == (of_few.pooled, of_few.decomposition())
    assert of_many.cross_matrix.equals(of_few.cross_matrix)


def test_more_rows_than_can_be_counted_are_refused():
    largest = ScoreCounts.from_counts(None, [0.5, 0.6], [2**40, 0], [0, 2**40])
    assert GroupAUC(largest).pooled == 1.0
    for counts in ([2**40 + 1, 0], [2**39, 2**40]):
        with pytest.raises(ValueError, match=r"2\*\*40"):
            ScoreCounts.from_counts(None, [0.5, 0.6], counts, [1, 1])
        with pytest.raises(ValueError, match=r"positives.*2\*\*40"):
            ScoreCounts.from_counts(None, [0.5, 0.6], [1, 1], counts)
    with pytest.raises(ValueError, match=r"2\*\*40"):
        largest + largest


def test_counts_equal_expanded_rows():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 60))
        group = rng.choice(["x", "y", "z"], n)
        score = rng.integers(2, 9, n) / 4
        negatives, positives = rng.integers(0, 4, (2, n), np.intp)
        counted = ScoreCounts.from_counts(group, score, negatives, positives)
        index = np.r_[np.repeat(np.arange(n), negatives), np.repeat(np.arange(n), positives)]
        y = np.repeat([0, 1], [negatives.sum(), positives.sum()])
        assert counted == ScoreCounts.from_predictions(y, score[index], groups=group[index])
        assert ScoreCounts.from_counts(None, score, negatives, positives) == (
            ScoreCounts.from_predictions(y, score[index])
        )


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64, float, list, pd.Series])
def test_counts_of_every_kind_of_number(kind):
    counts = [0, 2, 3]
    given = kind(counts) if kind in (list, pd.Series) else np.array(counts, kind)
    counts = ScoreCounts.from_counts([1, 1, 2], [0.1, 0.2, 0.3], given, given)
    assert counts.groups == (1, 2)
    assert counts.n_negatives.tolist() == [2, 3]


def test_equality(small):
    for other in (
        {"y_true": [1, 1, 1, 0, 1]},
        {"y_score": [0.25, 0.5, 0.5, 0.5, np.nextafter(0.75, 1)]},
        {"groups": ["a", "a", "b", "b", "a"]},
        {"groups": ["a", "a", "c", "c", "c"]},
        {"groups": None},
        {"sample_weight": [2.0, 1, 1, 1, 1]},
    ):
        assert ScoreCounts.from_predictions(**{**SMALL, **other}) != small
    assert small != "a ScoreCounts"
    assert (small == 1) is False


@pytest.mark.parametrize("name", CASES)
def test_every_state_is_made_again_from_its_counts(name):
    counts = CASES[name]
    table = counts.to_counts()
    again = ScoreCounts.from_counts(**table)
    assert again == counts
    clashes = name.startswith("names of the counts")
    assert again.group_names == (() if clashes else counts.group_names)
    pd.testing.assert_frame_equal(again.to_counts(), table)
    shuffled = table.sample(frac=1, random_state=0)
    assert ScoreCounts.from_counts(**shuffled) == counts
    halves = [ScoreCounts.from_counts(**table[i::2]) for i in range(2)]
    if len(table):
        assert ScoreCounts.merge(halves) == counts
        assert ScoreCounts.merge(halves).group_names == again.group_names


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_negatives": [1, -1]}, ValueError, "n_negatives must be 0 or more; got 1 negative"),
        ({"n_positives": [1.5, 1]}, ValueError, r"n_positives must hold whole numbers.*1\.5"),
        ({"n_positives": [np.nan, 1]}, ValueError, "n_positives must be finite; got 1 NaN"),
        ({"n_positives": [1, 2, 3]}, ValueError, "n_positives has 3 rows and score has 2"),
        (
            {"score": [0.1, np.inf]},
            ValueError,
            "score must be finite; got 0 NaN or NULL and 1 infinite",
        ),
        ({"group": ["a"]}, ValueError, "group has 1 rows and score has 2"),
        ({"group": ["a", None]}, ValueError, "group has 1 missing labels of 2"),
        ({"score": None}, TypeError, "needs the column score"),
        ({"n_positve": [1, 1]}, TypeError, r"no column 'n_positve': is it 'n_positives'\?"),
        ({"group": [1, 2], "site": ["a", "b"]}, TypeError, "takes group or columns.*site"),
        ({"site": ["a", "b"], "sex": [1]}, ValueError, "sex has 1 rows and site has 2"),
        ({"site": ["a", None]}, ValueError, "site has 1 missing labels of 2"),
        ({"weight_negatives": None}, TypeError, "weight_negatives is missing"),
        ({"weight_negatives": [2, -1]}, ValueError, "weight_negatives must be 0 or more"),
        ({"weight_negatives": [2, 0]}, ValueError, "weight_negatives and squared.* above 0"),
        ({"n_negatives": [2, 0]}, ValueError, "weight_negatives and squared.* above 0"),
        ({"squared_weight_positives": [5, 5]}, ValueError, r"from W\*\*2 / n to W\*\*2"),
        ({"squared_weight_positives": [1, 0.1]}, ValueError, r"from W\*\*2 / n to W\*\*2"),
    ],
)
def test_counts_that_cannot_be(change, error, message):
    good = {
        "score": [0.1, 0.2],
        "n_negatives": [2, 1],
        "n_positives": [1, 2],
        "weight_negatives": [3.0, 1.0],
        "weight_positives": [1.0, 2.0],
        "squared_weight_negatives": [5.0, 1.0],
        "squared_weight_positives": [1.0, 2.5],
    }
    ScoreCounts.from_counts(**good)
    with pytest.raises(error, match=message):
        ScoreCounts.from_counts(**{**good, **change})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_table_of_counts_is_passed_by_the_names_of_its_columns(kind):
    counts = ScoreCounts.from_counts(score=[0.1, 0.2], n_negatives=[2, 1], n_positives=[1, 2])
    table = kind(counts.to_counts().to_dict("list"))
    message = r"got none.*ScoreCounts\.from_counts\(\*\*.*\)\.$"
    with pytest.raises(TypeError, match=message) as error:
        ScoreCounts.from_counts(table)
    remedy = str(error.value).split(": ")[-1].rstrip(".")
    assert eval(remedy, {"ScoreCounts": ScoreCounts, "table": table}) == counts


@pytest.mark.parametrize("way", ["merge", "keep some groups"])
def test_states_of_single_rows_beside_a_count_beyond_32_bits(way):
    # One count beyond 32 bits makes the counts of all groups 64-bit integers.
    n = 300
    groups = np.r_[0, np.repeat([1, 2], n // 2)]
    scores = np.r_[0.5, np.arange(n)]
    negatives, positives = np.r_[2**32, np.arange(n) % 3 > 0], np.r_[0, np.arange(n) % 3 == 0]
    negatives[-1] = 2
    state = ScoreCounts.from_counts(groups, scores, negatives, positives)
    if way == "keep some groups":
        kept = select_groups(state, np.array([1, 2]))
        few = ScoreCounts.from_counts(groups[1:], scores[1:], negatives[1:], positives[1:])
        assert kept == few
        assert kept.cells.negatives.dtype == few.cells.negatives.dtype
        state, groups, scores = few, groups[1:], scores[1:]
        negatives, positives = negatives[1:], positives[1:]
        assert kept.regroup(None) == few.regroup(None)
    doubled = ScoreCounts.from_counts(groups, scores, 2 * negatives, 2 * positives)
    assert state + state == doubled
    higher = ScoreCounts.from_counts(groups, scores + 1000, negatives, positives)
    both = ScoreCounts.from_counts(
        np.tile(groups, 2),
        np.r_[scores, scores + 1000],
        np.tile(negatives, 2),
        np.tile(positives, 2),
    )
    assert state + higher == both


@pytest.mark.parametrize(
    "function",
    [
        lambda score: np.round(score) + 5,
        lambda score: np.where(score >= 1, 7, 2),
        lambda score: (-score).tolist(),
        lambda score: np.abs(score - 1),
        rankdata,
    ],
    ids=["round", "threshold", "negate", "not monotonic", "rank"],
)
def test_mapped_scores_are_those_of_mapped_rows(function):
    for seed in range(8):
        case = random_case(seed)
        if case.weights is not None:
            case = case.take(case.weights > 0)
        distinct, place = np.unique(case.scores, return_inverse=True)
        mapped = np.asarray(function(distinct), float)[place]
        counts = counts_of(case).map_scores(function)
        assert_same_counts(counts, counts_of(case._replace(scores=mapped)))
        alone = ScoreCounts.from_predictions(case.y, case.scores, sample_weight=case.weights)
        whole = ScoreCounts.from_predictions(case.y, mapped, sample_weight=case.weights)
        assert_same_counts(alone.map_scores(function), whole)


def test_names_of_groups_do_not_depend_on_the_order_of_merging():
    named = {
        name: ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=pd.Series([1, 1], name=name))
        for name in ("site", "ward", None)
    }
    assert (named["site"] + named["site"]).group_names == ("site",)
    for parts in itertools.permutations([*named.values(), named["site"]], 3):
        one, two, three = parts
        names = {part.group_names for part in parts}
        expected = names.pop() if len(names) == 1 else ()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "part . has groups by", UserWarning)
            assert ((one + two) + three).group_names == expected
            assert (one + (two + three)).group_names == expected
            assert ScoreCounts.merge(parts).group_names == expected
