"""WithinGroupStratifiedKFold: each fold has an equal share of each group and class."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold

from skfedauc import (
    RepeatedWithinGroupStratifiedKFold,
    WithinGroupStratifiedKFold,
    cross_validate_group_auc,
)


def fold_of_row(splits, n_rows):
    """Return the fold that tests each row; each row must be in exactly one test set."""
    fold = np.full(n_rows, -1)
    for number, (train, test) in enumerate(splits):
        assert train.dtype.kind == test.dtype.kind == "i"
        assert np.array_equal(test, np.unique(test))
        assert np.array_equal(train, np.setdiff1d(np.arange(n_rows), test))
        assert (fold[test] == -1).all()
        fold[test] = number
    assert (fold >= 0).all()
    return fold


def folds(splitter, y, groups, X=None):
    X = np.zeros((len(y), 1)) if X is None else X
    return fold_of_row(splitter.split(X, y, groups), len(y))


def spread(*codes, fold, n_splits):
    table = np.zeros((*(code.max() + 1 for code in codes), n_splits), int)
    np.add.at(table, (*codes, fold), 1)
    return int((table.max(axis=-1) - table.min(axis=-1)).max())


def check_balance(y, codes, fold, n_splits):
    assert np.unique(fold).size == n_splits
    assert spread(fold=fold, n_splits=n_splits) <= 1
    assert spread(y, fold=fold, n_splits=n_splits) <= 1
    assert spread(codes, y, fold=fold, n_splits=n_splits) <= 1
    for group in np.unique(codes):
        rows = codes == group
        if np.bincount(y[rows], minlength=2).min() >= n_splits:
            for number in range(n_splits):
                assert set(y[rows & (fold == number)]) == {0, 1}


def random_rows(rng, n_groups, largest, n_classes=2):
    """Return rows in random order, with groups and classes of random sizes, some empty."""
    counts = rng.integers(0, largest + 1, (n_groups, n_classes))
    counts[rng.random(counts.shape) < 0.2] = 0
    codes = np.repeat(np.arange(n_groups), counts.sum(axis=1))
    y = np.repeat(np.tile(np.arange(n_classes), n_groups), counts.ravel())
    order = rng.permutation(y.size)
    return y[order], codes[order]


@pytest.mark.parametrize("seeds", [range(k, k + 40) for k in range(0, 80, 40)], ids=str)
def test_random_groups_and_class_sizes(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n_splits = int(rng.integers(2, 12))
        y, codes = random_rows(rng, int(rng.integers(1, 30)), int(rng.integers(1, 40)))
        if np.bincount(y, minlength=2).min() < n_splits:
            y, codes = np.tile([0, 1], n_splits), np.repeat(np.arange(n_splits), 2)
        plain = folds(WithinGroupStratifiedKFold(n_splits), y, codes)
        check_balance(y, codes, plain, n_splits)
        for group, label in itertools.product(np.unique(codes), np.unique(y)):
            in_order = plain[(codes == group) & (y == label)]
            assert (np.diff(in_order) >= 0).all()
        shuffled = WithinGroupStratifiedKFold(n_splits, shuffle=True, random_state=seed)
        check_balance(y, codes, folds(shuffled, y, codes), n_splits)


@pytest.fixture
def rows():
    return random_rows(np.random.default_rng(5), 12, 20)


def shuffled_folds(rows, random_state):
    return folds(WithinGroupStratifiedKFold(4, shuffle=True, random_state=random_state), *rows)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)], ids=["None", "state"])
def test_each_split_is_another_without_a_seed(rows, random_state):
    splitter = WithinGroupStratifiedKFold(4, shuffle=True, random_state=random_state)
    assert not np.array_equal(folds(splitter, *rows), folds(splitter, *rows))


def test_shuffling_leaves_the_order_of_numpy_alone(rows):
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.RandomState(0).rand()
    shuffled_folds(rows, 1)
    assert np.random.rand() == expected  # noqa: NPY002


def test_shuffling_puts_every_row_in_every_fold_alike(rows):
    """Shuffling assigns each row to all folds equally often, also the first row of a group."""
    y, _ = rows
    times = np.zeros((y.size, 4), int)
    for seed in range(200):
        times[np.arange(y.size), shuffled_folds(rows, seed)] += 1
    assert times.min() > 15  # 50 expected; 35 is 5.7 standard deviations away
    assert times.max() < 90


def test_shuffling_makes_no_fold_the_larger_one():
    """With 43 rows in four folds, three random folds have 11 rows."""
    y, codes = np.arange(43) % 2, np.arange(43) % 3
    sizes = [np.bincount(shuffled_folds((y, codes), seed)) for seed in range(100)]
    larger = np.sum(np.array(sizes) == 11, axis=0)
    assert larger.sum() == 300
    assert larger.min() > 50  # 75 expected


def test_shuffling_puts_any_two_rows_of_a_class_in_one_fold_by_chance():
    y, codes = np.tile([0, 1], 60), np.zeros(120, int)
    pairs = np.array([shuffled_folds((y, codes), seed)[[0, 2]] for seed in range(200)])
    assert 20 < (pairs[:, 0] == pairs[:, 1]).sum() < 80  # 47 expected


def test_y_of_every_kind_gives_the_same_folds():
    y, codes = random_rows(np.random.default_rng(8), 6, 15)
    expected = folds(WithinGroupStratifiedKFold(3), y, codes)
    text = np.where(y == 1, "yes", "no")
    series = pd.Series(text, index=np.arange(y.size)[::-1])
    plain = [y.tolist(), y == 1, y[:, None], y * 2.0 - 1.0]
    for same in (*plain, text.astype(object), series, pl.Series(text)):
        assert np.array_equal(folds(WithinGroupStratifiedKFold(3), same, codes), expected)


Y = np.tile([0, 1], 6)
SITE = np.repeat(["a", "b", "c"], 4)
FRAME = pd.DataFrame({"x": np.zeros(12), "site": SITE})


@pytest.mark.parametrize(
    ("names", "X", "y", "groups", "error", "message"),
    [
        (None, FRAME, Y, None, ValueError, r"got no groups\. .*groups='site'.*groups=labels"),
        (None, FRAME, [], SITE, ValueError, r"y has no rows; pass the class of each row"),
        (None, FRAME, None, SITE, ValueError, r"needs y"),
        ("ward", FRAME, Y, None, ValueError, r"'ward', not found in X\. .*'x', 'site'"),
        ("site", np.zeros((12, 2)), Y, None, TypeError, r"'site' of X, but X arrived as ndarray"),
        (None, FRAME, Y, SITE[:9], ValueError, r"groups has 9 rows and y has 12"),
        (None, FRAME, Y + np.arange(12) / 7, SITE, ValueError, r"y must hold class labels.*y > t"),
        (None, FRAME, np.where(Y, 1, np.nan), SITE, ValueError, r"y has 6 missing labels"),
        (None, FRAME, np.ones((12, 2)), SITE, ValueError, r"y must be one-dimensional"),
        (None, FRAME.iloc[:9], Y, SITE, ValueError, r"inconsistent numbers of samples"),
    ],
)
def test_rows_that_cannot_be_split(names, X, y, groups, error, message):
    with pytest.raises(error, match=message):
        list(WithinGroupStratifiedKFold(2, groups=names).split(X, y, groups))


def copies_of(splitter):
    pickled = pickle.loads(pickle.dumps(splitter))
    return pickled, copy.copy(splitter), copy.deepcopy(splitter), clone(splitter, safe=False)


def test_copies_split_alike(rows):
    splitter = WithinGroupStratifiedKFold(4, shuffle=True, random_state=3)
    for other in copies_of(splitter):
        assert repr(other) == repr(splitter)
        assert np.array_equal(folds(other, *rows), folds(splitter, *rows))


def rows_with_an_index():
    rng = np.random.default_rng(0)
    index = rng.permutation(1000)[:120]
    X = pd.DataFrame({"dose": rng.normal(size=120)}, index=index)
    y, site = rng.integers(0, 2, 120), pd.Series(rng.choice(["a", "b", "c"], 120), index)
    more = pd.concat([site, pd.Series(["d"], [-1])])  # a label that X lacks
    return X, y, site, more.sample(frac=1, random_state=0)


def test_a_series_is_aligned_with_the_index_of_x():
    X, y, site, shuffled = rows_with_an_index()
    expected = folds(WithinGroupStratifiedKFold(3), y, site.to_numpy(), X)
    cv = WithinGroupStratifiedKFold(3, groups=shuffled)
    assert np.array_equal(folds(cv, y, None, X), expected)
    some = X.index[::2]  # the rows that a nested search gets
    expected = folds(WithinGroupStratifiedKFold(3), y[::2], site[some].to_numpy(), X.loc[some])
    assert np.array_equal(folds(cv, y[::2], None, X.loc[some]), expected)
    assert cv.get_n_splits() == 3
    assert repr(cv).startswith("WithinGroupStratifiedKFold(groups=<Series of 121 labels>, ")
    for copied in copies_of(cv):
        assert np.array_equal(folds(copied, y[::2], None, X.loc[some]), expected)
    with pytest.warns(UserWarning, match=r"are ignored: .* its own groups \(groups=<Series of 121"):
        folds(cv, y, site.to_numpy(), X)


@pytest.mark.parametrize("given", ["column", "series", "split"])
def test_repeated_folds(given):
    X, y, site, shuffled = rows_with_an_index()
    X = X.assign(site=site)
    groups = {"column": "site", "series": shuffled, "split": None}[given]
    passed = {"groups": site.to_numpy()} if given == "split" else {}
    cv = RepeatedWithinGroupStratifiedKFold(n_splits=3, n_repeats=4, groups=groups, random_state=7)
    assert cv.get_n_splits() == 12
    splits = list(cv.split(X, y, **passed))
    assert len(splits) == 12
    repeats = [fold_of_row(splits[i : i + 3], 120) for i in range(0, 12, 3)]
    codes = pd.factorize(site)[0]
    for fold in repeats:
        check_balance(y, codes, fold, 3)
    assert len({tuple(fold) for fold in repeats}) == 4
    again = list(cv.split(X, y, **passed))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))
    random = np.random.RandomState(7)
    for fold in repeats:
        one = WithinGroupStratifiedKFold(3, groups=groups, shuffle=True, random_state=random)
        assert np.array_equal(folds(one, y, passed.get("groups"), X), fold)


def test_repeated_folds_have_scikit_learns_parameters():
    ours, theirs = RepeatedWithinGroupStratifiedKFold(), RepeatedStratifiedKFold()
    assert ours.get_n_splits() == theirs.get_n_splits() == 50
    assert " ".join(repr(ours).split()) == (
        "RepeatedWithinGroupStratifiedKFold(groups=None, missing='raise', n_repeats=10, "
        "n_splits=5, random_state=None)"
    )
    _, _, _, labels = rows_with_an_index()
    shown = " ".join(repr(RepeatedWithinGroupStratifiedKFold(groups=labels, n_repeats=2)).split())
    assert "(groups=<Series of 121 labels>, missing='raise', n_repeats=2, n_splits=5" in shown


def small_groups(n_small=4):
    """Return a large group, small groups of 3 positives and 10 negatives, and a one-class group."""
    sizes = {"large": (20, 20), **{f"small {i}": (10, 3) for i in range(n_small)}, "one": (3, 0)}
    rows = [(g, k) for g, counts in sizes.items() for k in (0, 1) for _ in range(counts[k])]
    groups, y = (np.array(column) for column in zip(*rows, strict=True))
    return pd.DataFrame({"x": np.arange(len(y)) % 7, "site": groups}), y.astype(int)


TOLD = (
    r"4 of 6 groups have fewer rows of a class than there are folds \(5\), so some folds lack this "
    r"class .*: 'small 0', 'small 1', 'small 2', \.\.\.\. Use fewer folds"
)


@pytest.mark.parametrize(
    "cv", [None, 5, WithinGroupStratifiedKFold(5), RepeatedWithinGroupStratifiedKFold(n_repeats=2)]
)
@pytest.mark.parametrize("missing", ["raise", "drop"])
@pytest.mark.filterwarnings("error")
def test_cross_validation_names_small_groups(cv, missing):
    X, y = small_groups()
    if missing == "drop":
        X.loc[X["site"] == "one", "site"] = None
    arguments = LogisticRegression(), X[["x"]], y
    options = {"groups": X["site"], "cv": cv, "missing": missing}
    told = TOLD.replace("6 groups", f"{X['site'].nunique()} groups")
    with pytest.warns(UserWarning, match=told) as warned:
        cross_validate_group_auc(*arguments, **options)
    assert len(warned) == 1
    # With a value of `undefined` other than the default, there is no warning.
    cross_validate_group_auc(*arguments, **options, undefined="ignore")


def test_subclasses_and_changed_repetitions_split_as_they_say():
    class Own(WithinGroupStratifiedKFold):
        def split(self, X, y=None, groups=None):
            yield from super().split(X, y, np.asarray(groups))

    y, site = np.tile([0, 1], 20), np.repeat(["a", "b"], 20)
    X = np.arange(40.0)[:, None]
    found = cross_validate_group_auc(LogisticRegression(), X, y, groups=site, cv=Own(2))
    assert len(found.folds) == 2
    repeated = RepeatedWithinGroupStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    repeated.n_repeats = 3
    assert repeated.get_n_splits() == len(list(repeated.split(X, y, site))) == 6
