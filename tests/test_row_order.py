"""All functions refuse inputs whose pandas indexes disagree, and accept all other indexes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, permutation_test_score
from sklearn.pipeline import make_pipeline

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    ScoreCounts,
    WithinGroupStratifiedKFold,
    compare_models,
    cross_validate_group_auc,
    group_roc_auc_score,
    make_group_auc_scorer,
)

N = 60
RNG = np.random.default_rng(5)
SCORE = RNG.random(N)
LABEL = (SCORE + RNG.normal(0, 0.4, N) > 0.5).astype(int)
SITE = np.resize(["va", "oslo", "basel"], N)
WEIGHT = RNG.random(N) + 0.5
PATIENT = pd.Index([f"p{i}" for i in RNG.permutation(N)])
MODEL = LogisticRegression()


def rows(index=None):
    """Return label, score, groups, weight and features as pandas objects."""
    return {
        "y": pd.Series(LABEL, index),
        "score": pd.Series(SCORE, index),
        "groups": pd.Series(SITE, index, name="site"),
        "sample_weight": pd.Series(WEIGHT, index),
        "X": pd.DataFrame({"x": SCORE, "site": SITE}, index),
    }


def of_estimator(make):
    def run(y, groups, sample_weight, X, score):
        model = LogisticRegression().fit(X[["x"]], LABEL)
        return make(model, X[["x"]], y, groups=groups, sample_weight=sample_weight)

    return run


def of_rows(make):
    def run(y, score, groups, sample_weight, X):
        return make(y, score, groups=groups, sample_weight=sample_weight)

    return run


OF_ROWS = {
    "rows": of_rows(ScoreCounts.from_predictions),
    "report": of_rows(GroupAUC.from_predictions),
    "function": of_rows(group_roc_auc_score),
    "batches": of_rows(lambda *rows, **named: ScoreCounts.from_batches([(*rows, *named.values())])),
    "audit": of_rows(FairnessAudit.from_predictions),
    "comparison": of_rows(
        lambda y, score, **o: compare_models(y, {"a": SCORE, "b": score}, min_per_class=1, **o)
    ),
    "counts": of_rows(
        lambda y, score, groups, sample_weight: ScoreCounts.from_counts(
            groups, score, y, sample_weight * 0 + 1
        )
    ),
}
OF_X = {
    "report": of_estimator(GroupAUC.from_estimator),
    "audit": of_estimator(FairnessAudit.from_estimator),
    "folds": lambda y, groups, sample_weight, X, score: cross_validate_group_auc(
        MODEL, X[["x"]], y, groups=groups, sample_weight=sample_weight, cv=3
    ),
}
INDEXES = {"numbered": None, "named": PATIENT, "gaps": pd.RangeIndex(7, 7 + 2 * N, 2)}


def shuffled(values):
    return values.sample(frac=1, random_state=1)


# Every function with one index, and the first function with every index
WITH_INDEX = [(call, "named") for call in OF_ROWS] + [(next(iter(OF_ROWS)), k) for k in INDEXES]


@pytest.mark.parametrize(("call", "index"), WITH_INDEX)
def test_rows_in_another_order_are_refused(call, index):
    good = rows(INDEXES[index])
    OF_ROWS[call](**good)
    for name in ("y", "score", "groups", "sample_weight"):
        with pytest.raises(ValueError, match=r"same index labels in different orders.*\.loc\["):
            OF_ROWS[call](**{**good, name: shuffled(good[name])})


@pytest.mark.parametrize("call", OF_X.values(), ids=OF_X)
def test_other_labels_than_those_of_x_are_refused(call):
    good = rows(PATIENT)
    other = good["y"].set_axis(PATIENT + "x")
    with pytest.raises(ValueError, match="y and X have different index labels"):
        call(**{**good, "y": other})
    call(**{**good, "y": good["y"].reset_index(drop=True)})


def test_the_numbers_are_those_of_the_positions():
    named = rows(PATIENT)
    expected = {s: roc_auc_score(LABEL[s == SITE], SCORE[s == SITE]) for s in set(SITE)}
    for change in ({}, {"groups": SITE}, {"y": rows()["y"]}, {"score": list(SCORE)}):
        given = {**named, **change}
        found = GroupAUC.from_predictions(given["y"], given["score"], groups=given["groups"])
        assert found.by_group["auc"].to_dict() == pytest.approx(expected, abs=1e-12)


def test_frames_of_groups_and_repeated_labels():
    frame = pd.DataFrame({"site": SITE, "half": np.arange(N) % 2}, index=np.arange(N) // 2)
    y = pd.Series(LABEL, index=frame.index)
    assert len(ScoreCounts.from_predictions(y, SCORE, groups=frame)) == 6
    with pytest.raises(ValueError, match="in different orders"):
        ScoreCounts.from_predictions(y, SCORE, groups=frame.iloc[::-1])
    levels = frame.set_index("site", append=True)
    y = pd.Series(LABEL, index=levels.index)
    assert len(ScoreCounts.from_predictions(y, SCORE, groups=levels)) == 2
    with pytest.raises(ValueError, match="in different orders"):
        ScoreCounts.from_predictions(y, SCORE, groups=levels[::-1])
    # A MultiIndex and a plain index have different labels, so the plain index is ignored.
    assert len(ScoreCounts.from_predictions(y, pd.Series(SCORE), groups=levels)) == 2


def test_a_plain_index_beside_x_is_none():
    named, plain = rows(PATIENT), rows()
    model = LogisticRegression().fit(named["X"][["x"]], LABEL)
    expected = GroupAUC.from_estimator(model, named["X"][["x"]], LABEL, groups=SITE).counts
    for X, groups in ((named["X"], plain["groups"]), (plain["X"], named["groups"])):
        assert GroupAUC.from_estimator(model, X[["x"]], LABEL, groups=groups).counts == expected
    two = rows(pd.MultiIndex.from_arrays([SITE, PATIENT]))["groups"]
    report = GroupAUC.from_estimator(model, plain["X"][["x"]], LABEL, groups=two)
    assert report.counts == expected
    other = named["groups"].set_axis(PATIENT + "x")
    with pytest.raises(ValueError, match="no label for 60 of 60"):
        GroupAUC.from_estimator(model, named["X"][["x"]], LABEL, groups=other)


def pipeline_of(model):
    return make_pipeline(make_column_transformer(("passthrough", ["x"])), model)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_a_permuted_y_is_no_mistake_of_the_user(index):
    good = rows(index)
    model = pipeline_of(LogisticRegression())
    scorer = make_group_auc_scorer("pooled", groups="site", undefined="ignore")
    for cv, groups in ((3, None), (LeaveOneGroupOut(), good["groups"])):
        _, scores, _ = permutation_test_score(
            model,
            good["X"],
            good["y"],
            scoring=scorer,
            cv=cv,
            groups=groups,
            n_permutations=1,
            random_state=0,
        )
        assert np.isfinite(scores).all()


def test_the_splitter_refuses_groups_in_another_order():
    good = rows(PATIENT)
    splitter = WithinGroupStratifiedKFold(3)
    by_position = list(splitter.split(good["X"], good["y"], SITE))
    for groups in (good["groups"], rows()["groups"]):
        for expected, found in zip(
            by_position, splitter.split(good["X"], good["y"], groups), strict=True
        ):
            np.testing.assert_array_equal(found[1], expected[1])
    with pytest.raises(ValueError, match=r"groups and X have the same .*groups\.loc\[X\.index\]"):
        next(splitter.split(good["X"], good["y"], shuffled(good["groups"])))


def test_a_scorer_refuses_weights_in_another_order():
    good = rows(PATIENT)
    model = pipeline_of(LogisticRegression()).fit(good["X"], good["y"])
    scorer = make_group_auc_scorer("pooled", groups="site")
    assert np.isfinite(scorer(model, good["X"], good["y"], sample_weight=good["sample_weight"]))
    with pytest.raises(ValueError, match="sample_weight and X have the same index labels"):
        scorer(model, good["X"], good["y"], sample_weight=shuffled(good["sample_weight"]))


@pytest.mark.parametrize(
    "use",
    [
        lambda model, X, y, g: GroupAUC.from_estimator(model, X, y, groups=g),
        lambda model, X, y, g: cross_validate_group_auc(model, X, y, groups=g),
        lambda model, X, y, g: make_group_auc_scorer("macro", groups=g)(model, X, y),
        lambda model, X, y, g: next(WithinGroupStratifiedKFold(2, groups=g).split(X, y)),
        lambda model, X, y, g: make_group_auc_scorer("macro", groups=g)(model, X[5:30], y[5:30]),
    ],
    ids=["from_estimator", "cross_validate", "scorer", "splitter", "part"],
)
def test_a_reset_index_of_x_beside_shuffled_row_numbers_is_refused(use):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": rng.normal(size=60), "site": ["p", "q"] * 30})
    table["y"] = (table["dose"] + rng.normal(size=60) > 0).astype(int)
    shuffled = table.sample(frac=1, random_state=0)
    X, y = shuffled[["dose"]].reset_index(drop=True), shuffled["y"].to_numpy()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="as after reset_index"):
        use(model, X, y, shuffled["site"])
    # Both remedies of the message, and an X with its original index
    use(model, X, y, shuffled["site"].reset_index(drop=True))
    use(model, shuffled[["dose"]], y, shuffled["site"])
    use(model, table[["dose"]], table["y"].to_numpy(), shuffled["site"].sort_index())
