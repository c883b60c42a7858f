"""Labels of every kind, whole numbers stored as floats, and rows without a label."""

import datetime
import enum
import itertools
import pickle
import re
import zoneinfo

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import surface
from oracles import Case, all_pairs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from surface import public_functions

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    MulticlassGroupAUC,
    RepeatedWithinGroupStratifiedKFold,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    compare_models,
    cross_validate_group_auc,
    group_auc_scoring,
    group_roc_auc_score,
)

N = 240
RNG = np.random.default_rng(11)
SCORE = RNG.integers(0, 40, N) / 40
LABEL = (SCORE + RNG.normal(0, 0.4, N) > 0.5).astype(int)
# Index of the row's label in a list of three labels
PLACE = RNG.permutation(np.resize([0, 1, 2], N))
LACKING = np.arange(N) % 12 == 5
OSLO = zoneinfo.ZoneInfo("Europe/Oslo")


class Stage(enum.Enum):
    LATE = "late"
    EARLY = "early"
    AFTER = "after"


# Labels of each kind, in sorted order
KINDS = {
    "int": [1, 2, 10],
    "bool": [False, True],
    "str": ["Oslo", "basel", "zürich"],
    "date": [datetime.datetime(2020, 1, day) for day in (1, 2, 10)],
    "interval": list(pd.cut([1, 20, 60], [0, 10, 50, 100])),
    "period": list(pd.period_range("2019-12", periods=3, freq="M")),
    "instant": [pd.Timestamp(2020, 10, 24 + day, tz=OSLO) for day in range(3)],
    "enum": list(Stage),
}


def rows_of(labels, lacking=None):
    column = np.empty(N, object)
    column[:] = [labels[place % len(labels)] for place in PLACE]
    if lacking is not None:
        column[lacking] = None
    return column


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_every_kind_are_kept_in_their_own_order(kind):
    labels = KINDS[kind]
    column = rows_of(labels)
    expected = {
        label: roc_auc_score(LABEL[rows], SCORE[rows])
        for label in labels
        for rows in [np.array([other == label for other in column])]
    }
    for given in (column, column.tolist(), pd.Series(column), pd.Series(column.tolist())):
        found = GroupAUC.from_predictions(LABEL, SCORE, groups=given).by_group["auc"]
        assert found.index.tolist() == labels
        assert found.to_dict() == pytest.approx(expected, abs=1e-12)
    counts = ScoreCounts.from_predictions(LABEL, SCORE, groups=column)
    halves = [
        ScoreCounts.from_predictions(LABEL[half], SCORE[half], groups=column[half])
        for half in (slice(0, 100), slice(100, N))
    ]
    assert sum(halves) == counts == pickle.loads(pickle.dumps(counts))
    pairs = ScoreCounts.from_predictions(LABEL, SCORE, groups=list(zip(column, PLACE, strict=True)))
    assert [label for label, _ in pairs.groups] == sorted(
        (label for label, _ in pairs.groups), key=labels.index
    )
    assert pairs.regroup(lambda label: label[0]) == counts


def test_the_hour_that_comes_twice_is_two_hours():
    twice = [datetime.datetime(2020, 10, 25, 2, 30, tzinfo=OSLO, fold=fold) for fold in (0, 1)]
    assert twice[0] == twice[1]  # equal in Python
    for groups in (twice, pd.Series(twice), np.array(twice, object)):
        one = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=groups)
        assert len(one) == len(one + one) == 2
        assert [label.utcoffset().seconds for label in one.groups] == [7200, 3600]


FLOATS = {
    "numpy": lambda v: v,
    "float32": lambda v: v.astype(np.float32),
    "objects": lambda v: v.astype(object),
    "mixed": lambda v: [int(x) if i % 2 and x.is_integer() else x for i, x in enumerate(v)],
    "pandas": pd.Series,
    "pandas nullable": lambda v: pd.Series(v).astype("Float64"),
    "pandas arrow": lambda v: pd.Series(v).astype("double[pyarrow]"),
    "pandas categories": lambda v: pd.Series(v).astype("category"),
    "polars": pl.Series,
    "polars null": lambda v: pl.Series([None if x != x else x for x in v]),
    "pyarrow": lambda v: pa.array(v, from_pandas=True),
    "pyarrow NaN": lambda v: pa.array(v),
    "pyarrow dictionary": lambda v: pa.array(v, from_pandas=True).dictionary_encode(),
}


@pytest.mark.parametrize("flavour", FLOATS)
def test_whole_floats_are_integers(flavour):
    whole = np.array([1.0, 2.0, 10.0])[PLACE]
    expected = ScoreCounts.from_predictions(LABEL, SCORE, groups=whole.astype(int))
    found = ScoreCounts.from_predictions(LABEL, SCORE, groups=FLOATS[flavour](whole))
    assert found == expected
    assert [type(label) for label in found.groups] == [int] * 3
    gaps = FLOATS[flavour](np.where(LACKING, np.nan, whole))
    with pytest.raises(ValueError, match=rf"groups has {LACKING.sum()} missing labels of {N}"):
        ScoreCounts.from_predictions(LABEL, SCORE, groups=gaps)
    dropped = ScoreCounts.from_predictions(LABEL, SCORE, groups=gaps, missing="drop")
    assert dropped == ScoreCounts.from_predictions(
        LABEL[~LACKING], SCORE[~LACKING], groups=whole[~LACKING].astype(int)
    )
    grouped = ScoreCounts.from_predictions(LABEL, SCORE, groups=gaps, missing="group")
    assert grouped.groups == (1, 2, 10, "(missing)")
    odd = FLOATS[flavour](np.where(LACKING, 2.5, whole))
    with pytest.raises(TypeError, match=r"groups must hold.*pandas\.cut"):
        ScoreCounts.from_predictions(LABEL, SCORE, groups=odd)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["drop", "group"])
@pytest.mark.parametrize("weighted", [False, True])
def test_states_merge_wherever_labels_are_missing(kind, missing, weighted):
    """Parts have all labels, no labels, or some labels; rows without weight are not counted."""
    column = rows_of(KINDS[kind], LACKING)
    weight = np.arange(N) // 12 % 3 if weighted else np.ones(N)

    def count(rows):
        given = {"sample_weight": weight[rows]} if weighted else {}
        return ScoreCounts.from_predictions(
            LABEL[rows], SCORE[rows], groups=column[rows], missing=missing, **given
        )

    whole, order = count(slice(None)), np.argsort(LACKING, kind="stable")
    n_missing = (LACKING & (weight > 0)).sum() if missing == "drop" else 0
    for cuts in ([200], [100, 225], [220], [50, 51, 219, 221]):
        parts = [count(rows) for rows in np.split(order, cuts)]
        for merged in (ScoreCounts.merge(parts), ScoreCounts.merge(parts[::-1]), sum(parts)):
            restored = pickle.loads(pickle.dumps(merged))
            assert merged == whole == restored
            assert merged.n_missing == restored.n_missing == n_missing
            assert merged.groups == whole.groups
        columns = (LABEL, SCORE, column, weight)[: 4 if weighted else 3]
        batches = [[values[rows] for values in columns] for rows in np.split(order, cuts)]
        counted = ScoreCounts.from_batches(batches, missing=missing)
        assert counted == whole
        assert counted.n_missing == n_missing


def test_a_group_that_has_the_name_already():
    for labels in (["a", "(missing)", None], [1, "(missing)", None]):
        with pytest.raises(ValueError, match=r"a group called '\(missing\)' already; rename"):
            group_roc_auc_score([0, 1, 1], [0.1, 0.2, 0.3], groups=labels, missing="group")
    # A group that is written to a file and read again is the same group.
    text = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=["b", "(missing)"])
    gaps = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=["b", None], missing="group")
    assert text == gaps
    assert text.groups == ("b", "(missing)")


@pytest.mark.parametrize(
    "function",
    [
        function
        for function in public_functions()
        # Metrics for boosting get the groups of evaluation sets, and tables have other names.
        if {"groups", "missing"} <= {*function.parameters} and "boosting" not in function.name
    ],
    ids=lambda function: function.name,
)
def test_every_way_in_takes_missing(function):
    lacking = np.arange(surface.N) % 9 == 5
    groups = pd.Series(surface.GROUPS).mask(lacking)
    if "scor" not in function.name:  # scorers read the groups when they score
        with pytest.raises(ValueError, match=f"{lacking.sum()} missing labels of {surface.N}"):
            function(groups=groups)
    for missing in ("drop", "group"):
        function(groups=groups, missing=missing)
    with pytest.raises(ValueError, match=r"missing must be 'raise'.*got 'skip'"):
        function(groups=groups, missing="skip")
    plt.close("all")


def test_folds_hold_rows_without_a_label_and_scores_do_not():
    X = pd.DataFrame({"x": SCORE, "site": np.where(LACKING, np.nan, PLACE)})
    folds = list(WithinGroupStratifiedKFold(4, groups="site", missing="drop").split(X, LABEL))
    tests = [test for _, test in folds]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(N))
    repeated = RepeatedWithinGroupStratifiedKFold(
        n_splits=4, n_repeats=2, groups=X["site"], missing="drop", random_state=0
    )
    assert len(list(repeated.split(X[["x"]], LABEL))) == 8
    with pytest.raises(ValueError, match="20 missing labels of 240"):
        next(RepeatedWithinGroupStratifiedKFold(groups=X["site"]).split(X, LABEL))
    of_class = [LABEL[LACKING].sum(), (1 - LABEL)[LACKING].sum()]
    for train, test in folds:
        assert np.intersect1d(train, test).size == 0
        for wanted, number in zip((1, 0), of_class, strict=True):
            in_fold = (LACKING & (wanted == LABEL))[test].sum()
            assert number // 4 <= in_fold <= -(-number // 4)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1.0]},
        scoring=group_auc_scoring(["macro", "pooled"], groups=X["site"], missing="drop"),
        cv=folds,
        refit="macro",
        error_score="raise",
    ).fit(X[["x"]], LABEL)
    expected = []
    for train, test in folds:
        model = LogisticRegression(C=1.0).fit(X.loc[train, ["x"]], LABEL[train])
        kept = test[~LACKING[test]]
        scores = model.decision_function(X.loc[kept, ["x"]])
        truth = all_pairs(Case(LABEL[kept], scores, PLACE[kept].tolist(), None))
        expected.append(truth.statistics["macro"])
    found = [search.cv_results_[f"split{k}_test_macro"][1] for k in range(4)]
    assert found == pytest.approx(expected, abs=1e-12)
    result = cross_validate_group_auc(
        LogisticRegression(), X[["x"]], LABEL, groups=X["site"], cv=folds, missing="drop"
    )
    assert result.by_fold["macro"].tolist() == pytest.approx(expected, abs=1e-12)
    n_missing = [fold.counts.n_missing for fold in result.folds]
    assert n_missing == [LACKING[test].sum() for test in tests]
    assert result.over_folds.counts.n_missing == result.within_folds.counts.n_missing == 20


BAD = "a\ud800"
Y, SCORES = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
INVALID = {
    "list": lambda bad: [bad, "b"] * 2,
    "numpy": lambda bad: np.array([bad, "b"] * 2),
    "numpy of one length": lambda bad: np.array([bad, "bb"] * 2),
    "objects": lambda bad: np.array([bad, "b"] * 2, object),
    "Series": lambda bad: pd.Series([bad, "b"] * 2, dtype=object),
    "Series of Python's text": lambda bad: pd.Series([bad, "b"] * 2, dtype="string[python]"),
    "categories": lambda bad: pd.Categorical.from_codes(
        [0, 1, 0, 1], pd.Index([bad, "b"], dtype=object)
    ),
    "tuples": lambda bad: [(1, bad), (2, "b")] * 2,
    "beside a missing label": lambda bad: [bad, None] * 2,
}


@pytest.mark.parametrize("bad", [BAD, "\udcff", "\ude00\ud83d"], ids=ascii)
@pytest.mark.parametrize("kind", INVALID)
def test_surrogates_are_refused(kind, bad):
    groups = INVALID[kind](bad)
    message = rf"groups holds {re.escape(ascii(bad))}, which is not valid Unicode"
    for count in (ScoreCounts.from_predictions, GroupAUC.from_predictions, group_roc_auc_score):
        with pytest.raises(ValueError, match=message):
            count(Y, SCORES, groups=groups, missing="group")
    with pytest.raises(ValueError, match=message):
        ScoreCounts.from_batches([(Y, SCORES, groups)], missing="group")


@pytest.mark.parametrize(
    "left", ["i1", "u1", "i4", "i8", "u8", "f8", bool, "M8[D]", "M8[ns]", object]
)
@pytest.mark.parametrize("right", ["u2", "i8", "u8", object])
def test_empty_states_of_any_type_are_equal_and_merge(left, right):
    empty = [
        ScoreCounts.from_predictions([], [], groups=np.array([], kind)) for kind in (left, right)
    ]
    one = ScoreCounts.from_predictions([0, 1], [0.2, 0.4], groups=np.array([7, 7], np.uint64))
    both = ScoreCounts.merge(empty)
    assert empty[0] == empty[1] == both == ScoreCounts.merge(empty[::-1])
    assert both.groups == ()
    assert both + one == one + both == ScoreCounts.merge([empty[0], one, empty[1]]) == one
    whole = one.regroup(None)
    assert both + whole == whole + both == whole
    assert pickle.loads(pickle.dumps(both)) == both
    assert both.to_counts().empty
    assert GroupAUC(both, undefined="ignore").by_group.empty


BANDS = ["0-9", "10-60", "61-100", "100+"]


def banded(n=800):
    rng = np.random.default_rng(0)
    band, sex = rng.choice(BANDS, n), rng.choice(["f", "m"], n)
    y = rng.integers(0, 2, n)
    strength = np.array([0.4, 0.8, 1.2, 2.0])[[BANDS.index(label) for label in band]]
    score = rng.normal(size=n) + strength * y + 0.5 * (band == "100+")
    return y, 1 / (1 + np.exp(-score)), band, sex


def ordered(kind, band):
    if kind == "pandas":
        return pd.Series(pd.Categorical(band, categories=BANDS, ordered=True))
    if kind == "categorical":
        return pd.Categorical(band, categories=BANDS, ordered=True)
    return pl.Series("band", band).cast(pl.Enum(BANDS))


def test_lazy_tables_keep_the_order_of_categories():
    y, score, band, _ = banded()
    table = pl.DataFrame({"ill": y, "risk": score, "band": ordered("polars", band)}).lazy()
    counts = ScoreCounts.from_table(table, label="ill", score="risk", group="band")
    assert GroupAUC(counts).by_group.index.tolist() == BANDS


@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars"])
def test_tables_list_ordered_categories_in_their_order(kind):
    y, score, band, _ = banded()
    report = GroupAUC.from_predictions(y, score, groups=ordered(kind, band))
    plain = GroupAUC.from_predictions(y, score, groups=band)
    assert report.counts == plain.counts
    for table, expected in (
        (report.by_group, plain.by_group),
        (report.confidence_intervals(), plain.confidence_intervals()),
        (report.bounds("groups"), plain.bounds("groups")),
        (report.ranking(), plain.ranking()),
        (report.abroca(), plain.abroca()),
        (report.bias_by_group, plain.bias_by_group),
        (report.cross_matrix, plain.cross_matrix),
    ):
        assert list(table.index) == BANDS
        assert list(expected.index) == sorted(BANDS)
        columns = BANDS if set(table.columns) == set(BANDS) else table.columns
        assert list(table.columns) == list(columns)
        pd.testing.assert_frame_equal(
            table.loc[expected.index, expected.columns], expected, check_names=False
        )
    audits = [
        FairnessAudit.from_predictions(y, score, groups=groups, threshold=0.6)
        for groups in (ordered(kind, band), band)
    ]
    for reference, order in (("rest", BANDS), (BANDS[1], [BANDS[0], *BANDS[2:]])):
        table, expected = (of.compare_groups(reference) for of in (report, plain))
        assert list(table.index) == order
        pd.testing.assert_frame_equal(table.loc[expected.index], expected, check_names=False)
    pairs, expected = report.compare_groups(), plain.compare_groups()
    assert list(pairs.index) == list(itertools.combinations(BANDS, 2))
    turned = [pair if pair in pairs.index else pair[::-1] for pair in expected.index]
    for name in ("pvalue", "pvalue_adjusted"):
        assert pairs.loc[turned, name].to_list() == pytest.approx(expected[name].to_list())
    assert abs(pairs.loc[turned, "difference"]).to_list() == pytest.approx(
        abs(expected["difference"]).to_list()
    )
    tables = [audit.by_group() for audit in audits]
    assert list(tables[0].index) == BANDS
    pd.testing.assert_frame_equal(tables[0].loc[sorted(BANDS)], tables[1], check_names=False)
    gaps = [audit.gaps.droplevel("column") for audit in audits]
    pd.testing.assert_frame_equal(*gaps)


def test_models_folds_and_classes_are_listed_in_the_order_of_the_categories():
    y, score, band, _ = banded()
    several = np.where(score > 0.8, 2, y)
    shares = np.stack([1 - score, score**2, score - score**2], axis=1)

    def tables_of(groups):
        models = compare_models(y, {"a": score, "b": score**2 % 0.7, "c": -score}, groups=groups)
        yield models.by_group.set_index(pd.Index(models.by_group.index.to_flat_index()))
        folds = cross_validate_group_auc(
            LogisticRegression(), score[:, None], y, groups=groups, undefined="ignore"
        )
        yield from (of.by_group for of in (folds.folds[0], folds.within_folds, folds.over_folds))
        for multi_class in ("ovr", "ovo"):
            classes = MulticlassGroupAUC.from_predictions(
                several, shares, groups=groups, multi_class=multi_class, undefined="ignore"
            )
            yield classes.by_group
            yield classes.confidence_intervals(of="groups")

    for ours, plain in zip(tables_of(ordered("pandas", band)), tables_of(band), strict=True):
        labels = [label[0] if isinstance(label, tuple) else label for label in ours.index]
        assert list(dict.fromkeys(labels)) == BANDS
        assert list(plain.index) != list(ours.index)
        pd.testing.assert_frame_equal(ours.loc[plain.index], plain, check_names=False)


def test_orders_of_merged_parts():
    """Parts of the same order keep it; the grouping of the merge does not matter."""
    y, score, band, _ = banded()

    def part(rows, groups):
        return ScoreCounts.from_predictions(y[rows], score[rows], groups=groups[rows])

    first, second, third = (np.arange(y.size) % 3 == k for k in range(3))
    ours, plain = ordered("categorical", band), band
    same = ScoreCounts.merge([part(rows, ours) for rows in (first, second, third)])
    assert list(GroupAUC(same).by_group.index) == BANDS
    assert list(GroupAUC(pickle.loads(pickle.dumps(same))).by_group.index) == BANDS
    a, b, c = part(first, ours), part(second, plain), part(third, ours)
    for mixed in (a + b + c, a + (b + c), (a + c) + b, ScoreCounts.merge([c, b, a])):
        assert mixed == same
        assert list(GroupAUC(mixed).by_group.index) == sorted(BANDS)
    assert list(GroupAUC(ScoreCounts.from_bytes(same.to_bytes())).by_group.index) == sorted(BANDS)
