"""Validation: columns of all types give equal counts; other input raises a clear error."""

import datetime
import itertools
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skfedauc import GroupAUC, ScoreCounts, WithinGroupStratifiedKFold, _group_codes

ROWS = {
    "y_true": [0, 1, 0, 1],
    "y_score": [0.1, 0.4, 0.35, 0.8],
    "groups": ["b", "a", "a", "b"],
}
NUMBERS = [3, 1, 1, 2]


def counts_of(**change):
    return ScoreCounts.from_predictions(**{**ROWS, **change})


def index_with_gaps(values, **options):
    """Return a Series with an index that must not affect the result."""
    return pd.Series(values, index=np.resize([7, 3, 3, 0], len(values)), **options)


# Functions that make a column of each type from labels, scores, classes or weights
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda values: np.array(values, object),
    "numpy not contiguous": lambda values: np.repeat(np.array(values), 2)[::2],
    "numpy column": lambda values: np.array(values)[:, None],
    "numpy read-only": lambda values: np.broadcast_to(np.array(values), (len(values),)),
    "pandas": index_with_gaps,
    "pandas object": lambda values: index_with_gaps(values, dtype=object),
    "pandas nullable": lambda values: index_with_gaps(values).convert_dtypes(),
    "pandas nullable array": lambda values: pd.Series(values).convert_dtypes().array,
    "pandas pyarrow": lambda values: index_with_gaps(values).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas frame": lambda values: index_with_gaps(values).to_frame("x"),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"x": values}),
    "pyarrow": pa.array,
    "pyarrow chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "pyarrow table": lambda values: pa.table({"x": values}),
}
CATEGORICALS = {
    "pandas": lambda values: index_with_gaps(values, dtype="category"),
    "pandas array": pd.Categorical,
    "pandas, unused category": lambda values: pd.Series(
        pd.Categorical(values, categories=sorted({*values, ""}, reverse=True))
    ),
    "pandas ordered": lambda values: pd.Series(pd.Categorical(values, ordered=True)),
    "pyarrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "pyarrow chunked dictionary": lambda values: pa.chunked_array(
        [pa.array(values)]
    ).dictionary_encode(),
    "pyarrow table of a dictionary": lambda values: pa.table(
        {"x": pa.array(values).dictionary_encode()}
    ),
}
STRING_COLUMNS = {
    "numpy U of the other byte order": lambda values: np.array(values).astype(
        np.array(values).dtype.newbyteorder()
    ),
    "numpy StringDType": lambda values: np.array(values, np.dtypes.StringDType()),
    "pandas string[python]": lambda values: pd.Series(values, dtype="string[python]"),
    "pandas string[pyarrow]": lambda values: pd.Series(values, dtype="string[pyarrow]"),
    "pandas string[pyarrow] array": lambda values: pd.array(values, dtype="string[pyarrow]"),
    "pandas Arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas Arrow dictionary": lambda values: pd.Series(
        values, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "pandas CategoricalIndex": lambda values: pd.CategoricalIndex(
        values, categories=list(dict.fromkeys(["none", *values]))
    ),
    "pandas slice of a category": lambda values: pd.Series(["none", *values], dtype="category")[1:],
    "polars chunked": lambda values: pl.concat(
        [pl.Series(values[:2]), pl.Series(values[2:])], rechunk=False
    ),
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars slice of a categorical": lambda values: pl.Series(
        ["none", *values], dtype=pl.Categorical
    )[1:],
    "polars enum": lambda values: pl.Series(
        values, dtype=pl.Enum(list(dict.fromkeys(["none", *values])))
    ),
    "pyarrow large string": lambda values: pa.array(values, pa.large_string()),
    "pyarrow string view": lambda values: pa.array(values, pa.string_view()),
    "pyarrow slice of a dictionary": lambda values: pa.array(["none", *values]).dictionary_encode()[
        1:
    ],
    "pyarrow chunks of different dictionaries": lambda values: pa.chunked_array(
        [pa.array(values[:2]).dictionary_encode(), pa.array(values[2:]).dictionary_encode()]
    ),
    "pyarrow dictionary with repeated labels": lambda values: pa.DictionaryArray.from_arrays(
        pa.array(range(len(values))), pa.array(values)
    ),
    "pyarrow dictionary with a missing label unused": lambda values: pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(
                pa.array([0, 1], pa.int32()), pa.array([*values[:2], None])
            ),
            pa.array(values[2:]).dictionary_encode(),
        ]
    ),
}


# Characters whose order depends on the encoding, and characters that may be stripped
CHARACTERS = ["", "a", "b", "Z", "0", " ", "\0", "é", "ß", "中", "\uffff", "\U0001f600"]


def random_texts(kind, rng):
    """Return the labels of at least four rows."""
    n_labels = {"one": 1, "all distinct": 60}.get(kind, 7)
    longest = {"long": 40}.get(kind, 6)
    texts = {"".join(rng.choice(CHARACTERS, rng.integers(longest + 1))) for _ in range(n_labels)}
    if kind == "numbered":
        texts = [f"site {k:04d}" for k in rng.integers(0, 9999, 20)]
    if kind == "of two characters":  # two or three bytes in UTF-8
        texts = ["".join(pair) for pair in itertools.product("ab\0", "éßñ")]
    if kind == "all distinct":
        return list(texts)
    return rng.choice(np.array(list(texts), object), 40).tolist()


TEXTS = ["one", "few", "long", "numbered", "of two characters", "all distinct"]


@pytest.mark.parametrize("column", [*COLUMNS, *CATEGORICALS, *STRING_COLUMNS])
def test_numbers_of_text(monkeypatch, column):
    """The number of a label is its position among the sorted labels of the column."""
    make = {**CATEGORICALS, **COLUMNS, **STRING_COLUMNS}[column]
    for kind, seed in itertools.product(TEXTS, range(2)):
        given = make(random_texts(kind, np.random.default_rng(seed)))
        if hasattr(given, "columns"):
            given = given["x"]
        # Numpy drops a NUL at the end of a string; pandas before 3.1 drops it in categories.
        rows = np.ravel(given).tolist() if isinstance(given, np.ndarray) else list(given)
        rows = [row.as_py() if isinstance(row, pa.Scalar) else row for row in rows]
        positions = {label: position for position, label in enumerate(sorted(set(rows)))}
        assert_text_codes(given, rows, positions)
        with monkeypatch.context() as as_of_many_rows:
            as_of_many_rows.setattr(_group_codes, "HASHED_ROWS", 2)
            assert_text_codes(given, rows, positions)


def assert_text_codes(given, rows, positions):
    codes, labels = _group_codes.encode_groups(given)[:2]
    assert labels.dtype == object
    assert labels.tolist() == list(positions)
    assert {type(label) for label in labels} == {str}
    assert codes.dtype == np.intp
    assert codes.tolist() == [positions[row] for row in rows]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8"])
def test_integer_groups_of_every_width(dtype):
    assert counts_of(groups=np.array(NUMBERS, dtype)) == counts_of(groups=NUMBERS)


MASKED = np.ma.masked_array([0, 1, 0, 1], mask=[0, 0, 0, 1])
SCORE_ERRORS = [
    (
        np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]),
        ValueError,
        r"y_score must be one-dimensional; got an array of shape \(4, 2\).*y_score\[:, 1\]",
    ),
    ([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.2, 0.8]], ValueError, r"y_score\[:, 1\]"),
    (
        [0.1, np.nan, 0.3, np.nan],
        ValueError,
        "y_score must be finite; got 2 NaN or NULL and 0 infinite",
    ),
    ([0.1, np.inf, 0.3, -np.inf], ValueError, "got 0 NaN or NULL and 2 infinite values of 4"),
    ([0.1, None, 0.3, 0.4], ValueError, "got 1 NaN"),
    (pd.array([0.1, None, 0.3, 0.4], "Float64"), ValueError, "got 1 NaN"),
    ([0.1, 0.2], ValueError, "y_score has 2 rows and y_true has 4"),
    (["0.1", "0.2", "0.3", "0.4"], TypeError, "y_score must hold numbers; got.*'0.1'"),
    (np.array([1, 2, 3, 4], "M8[s]"), TypeError, "y_score must hold numbers"),
    ({0: 0.5}, TypeError, "y_score must be.*got dict {0: 0.5}"),
    ((s for s in (0.1, 0.2)), TypeError, "y_score must be a one-dimensional array.*generator"),
    ([[0.1], [0.2, 0.3], [0.4], [0.5]], ValueError, "y_score must be a one-dimensional array"),
    (MASKED, TypeError, r"y_score is a masked array; drop the masked rows and pass \.data"),
    (
        [1, 2, 3, 2**53 + 1],
        ValueError,
        r"1 of 4 numbers, such as .*9007199254740993.*; subtract one constant that all",
    ),
    (np.array([1, 2, 3, 2**64 - 1], "u8"), ValueError, "1 of 4 numbers.*; subtract one"),
    ([1, 2, 3, 10**400], ValueError, "y_score holds integers beyond the largest float"),
    (pd.DataFrame({"a": [0.1] * 4, "b": [0.2] * 4}), ValueError, r"shape \(4, 2\).*\[:, 1\]"),
]
LABEL_ERRORS = [
    ([0, 1, 2, 1], ValueError, "y_true must have two classes; got 3: 0, 1, 2.*== label"),
    (list("abca"), ValueError, "got 3: 'a', 'b', 'c'"),
    ([1, 2, 1, 2], ValueError, r"y_true has the labels \[1, 2\]: pass pos_label="),
    (["no", "yes", "no", "no"], ValueError, r"\['no', 'yes'\]: pass pos_label="),
    ([0, 1, np.nan, 1], ValueError, "y_true has 1 missing labels of 4"),
    (["no", None, None, "yes"], ValueError, "y_true has 2 missing labels of 4"),
    (pd.array([0, 1, None, 1], "Int64"), ValueError, "y_true has 1 missing"),
    ([0, "1", 0, "1"], TypeError, r"different kinds \(int, str\)"),
    (np.array(ROWS["y_true"], "M8[s]"), TypeError, "y_true must hold labels of two classes"),
    ([[0, 1], [1, 0], [0, 1], [1, 0]], ValueError, r"y_true must be one-dimensional.*\(4, 2\)"),
    (MASKED, TypeError, "y_true is a masked array"),
    ([0, 1], ValueError, "y_score has 4 rows and y_true has 2"),
]
WEIGHT_ERRORS = [
    ([1, -1, 1, -2], ValueError, "sample_weight must be 0 or more; got 2 negative values"),
    ([1, np.inf, 1, 1], ValueError, "sample_weight must be finite.*1 infinite"),
    ([1, 1, 1], ValueError, "sample_weight has 3 rows and y_true has 4"),
    (np.ones((4, 2)), ValueError, r"sample_weight must be one-dimensional.*\(4, 2\)\.$"),
    (MASKED, TypeError, "sample_weight is a masked array"),
]
GROUP_ERRORS = [
    (["a", None, "b", "b"], ValueError, "groups has 1 missing labels of 4.*label of their own"),
    (np.array(["2020", "NaT", "NaT", "2021"], "M8[D]"), ValueError, "2 missing labels of 4"),
    (
        pa.chunked_array(
            [
                pa.array(["a", None]).dictionary_encode(null_encoding="encode"),
                pa.array(["b", None]).dictionary_encode(),
            ]
        ),
        ValueError,
        "groups has 2 missing labels of 4",
    ),
    (
        np.array(["a", None, "b", None], np.dtypes.StringDType(na_object=None)),
        ValueError,
        "2 missing labels of 4",
    ),
    (
        pd.DataFrame([["x", "y"]] * 4, columns=["a", "a"]),
        ValueError,
        "groups has several columns named 'a'",
    ),
    (pd.DataFrame({"a": list("xyxy"), "b": ["p", None, "q", "q"]}), ValueError, "1 missing"),
    ([("x", "p"), ("y", None), ("x", "p"), ("x", "p")], ValueError, "1 missing labels"),
    (np.array([1.0, 2.5, 1.0, 2.0]), TypeError, r"got 2\.5 of type float: .*pandas\.cut"),
    (pd.DataFrame({"a": list("xyxy"), "b": [1.0, 2.5, 2.0, 1.0]}), TypeError, r"pandas\.cut"),
    ([1, np.inf, 1, 2], TypeError, r"got inf of type float"),
    (np.array([1.0, np.inf, 1.0, np.nan]), TypeError, r"got inf of type float"),
    (np.array([2.0**53 + 2, 1, 1, 1]), TypeError, r"floats beyond 2\*\*53.*rounded integers"),
    (np.array([2.0**24 + 2, 1, 1, 1], "f4"), TypeError, r"floats beyond 2\*\*24"),
    ([2.0**60, 1, 1, 1], TypeError, r"floats beyond 2\*\*53"),
    ([datetime.datetime(2020, 1, 1), *[pd.Timestamp("2020", tz="UTC")] * 3], TypeError, "kinds"),
    ([-1, 2**63, 1, 1], TypeError, r"integers from -1 to 9223372036854775808, which do.*astype"),
    ([0, 2**64, 1, 1], TypeError, r"integers from 0 to 18446744073709551616, which do.*astype"),
    ([pd.Timestamp(1), *[pd.Timestamp(2)] * 3], ValueError, r"finer than a microsecond.*round"),
    (pd.Categorical(pd.to_datetime([1, 2, 1, 2])), ValueError, r"finer than a microsecond"),
    (pd.Series(["a"] * 200 + [1, None], dtype=object), TypeError, r"different kinds \(int, str\)"),
    (["a", 1, "b", "b"], TypeError, r"groups mixes labels of different kinds \(int, str\)"),
    ([True, 1, 2, 2], TypeError, r"different kinds \(bool, int\)"),
    (pd.Categorical(["a", 1, "b", "b"]), TypeError, "different kinds"),
    ([("a", 1), ("a", 1), ("a", "1"), ("a", 1)], TypeError, "different kinds"),
    ([("a", 1), ("a",), ("a", 1), ("a", 1)], ValueError, r"same number of labels.*\[1, 2\]"),
    (np.array([b"a", b"b", b"a", b"b"]), TypeError, r"\.astype\(str\)"),
    ([object()] * 4, TypeError, r"groups must hold booleans, integers, strings, dates"),
    (["a", "b"], ValueError, "groups has 2 rows and y_true has 4"),
    (pd.DataFrame({"a": ["x"], "b": ["y"]}), ValueError, "groups has 1 rows and y_true has 4"),
    ("site", TypeError, "groups must be .* one value per row.* got str 'site'"),
    ({"a", "b"}, TypeError, "groups must be .* one value per row.* got set"),
    (pd.DataFrame(index=range(4)), ValueError, "groups is a DataFrame without columns"),
    (MASKED, TypeError, "groups is a masked array"),
    (np.ma.masked_array(np.eye(4, 2, dtype=int), mask=False), TypeError, "masked array"),
]


def rows_of(name, errors):
    return [
        pytest.param(name, *error, id=f"{name} {k}: {re.sub(r'[^a-z ]', '', error[2])[:40]}")
        for k, error in enumerate(errors)
    ]


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        *rows_of("y_score", SCORE_ERRORS),
        *rows_of("y_true", LABEL_ERRORS),
        *rows_of("sample_weight", WEIGHT_ERRORS),
        *rows_of("groups", GROUP_ERRORS),
    ],
)
def test_errors_name_the_argument_and_the_mend(name, value, error, message):
    with pytest.raises(error, match=message):
        counts_of(**{name: value})


# Columns that can hold missing labels; the others raise when they are made.
GAPPED = [
    "numpy object",
    *(name for name in COLUMNS if name.startswith(("pandas", "polars", "pyarrow"))),
    *(name for name in CATEGORICALS if name != "pandas, unused category"),
    *(name for name in STRING_COLUMNS if re.match("pandas (?!Cat)", name)),
    "pyarrow large string",
    "polars categorical",
]


@pytest.mark.parametrize("column", GAPPED)
def test_missing_labels_of_every_flavour_are_counted(column):
    make = {**CATEGORICALS, **COLUMNS, **STRING_COLUMNS}[column]
    with pytest.raises(ValueError, match="groups has 2 missing labels of 4"):
        counts_of(groups=make(["a", None, "b", None]))


TINY = Decimal("1e-20")
TIES = {
    "decimals": [Decimal("0.1"), Decimal("0.1") + TINY, Decimal("0.2"), Decimal("0.3")],
    "a decimal beside floats": [Decimal("0.1"), 0.1, 0.2, 0.3],
    "fractions": [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**20), 1, 2],
    "long doubles": [np.longdouble("0.1"), np.longdouble("0.1") + np.longdouble("1e-19"), 0.2, 1],
}


@pytest.mark.parametrize("name", TIES)
@pytest.mark.parametrize("flavour", [list, lambda v: pd.Series(v, dtype=object)])
def test_different_numbers_that_tie_as_floats_are_refused(name, flavour):
    given = TIES[name]
    with pytest.raises(ValueError, match=r"y_score .*tie"):
        ScoreCounts.from_predictions([0, 1, 0, 1], flavour(given))
    apart = [given[0], *given[2:]]
    if name not in ("long doubles", "fractions"):
        counts = ScoreCounts.from_predictions([0, 1, 1], flavour(apart))
        assert counts.cells.scores.size == len(set(apart))


@pytest.mark.parametrize("column", [pd.Series, np.array, pl.Series, pa.array, pd.Categorical])
def test_columns_in_a_list_or_tuple_are_refused(column):
    for kind in (list, tuple):
        groups = kind([column(list("abab")), column(list("xyxy"))])
        with pytest.raises(
            TypeError, match=r"groups must hold one label per row; got .* a DataFrame"
        ):
            GroupAUC.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], groups=groups)
    of_rows = list(zip("abab", "xyxy", strict=True))
    assert GroupAUC.from_predictions([0, 1, 0, 1], [1, 2, 3, 4], groups=of_rows).n_groups == 2


def test_counts_by_several_columns_of_groups():
    groups = pd.DataFrame({"site": ["a", "b"], "sex": [1, 2]})
    counts = ScoreCounts.from_counts(groups, [0.1, 0.2], [1, 2], [2, 1])
    assert counts.group_names == ("site", "sex")


def repeating(table, library):
    """Return the table with the column of scores twice."""
    if library == "pandas":
        return pd.concat([table, table[["dose"]]], axis=1)
    columns = [*table.columns, table.column("dose")]
    return pa.table(columns, names=[*table.column_names, "dose"])


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_repeated_names_matter_only_for_the_columns_in_use(library):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": rng.normal(size=60), "site": ["x", "y", "z"] * 20})
    table["y"] = (table["dose"] + rng.normal(size=60) > 0).astype(int)
    table["marker"] = np.arange(60.0)
    table = table if library == "pandas" else pa.Table.from_pandas(table)
    twice = repeating(table, library)
    split = WithinGroupStratifiedKFold(2, groups="site").split
    found, expected = (list(split(t, np.asarray(t["y"]))) for t in (twice, table))
    for (train, test), (known_train, known_test) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(train, known_train)
        np.testing.assert_array_equal(test, known_test)
    columns = {"label": "y", "score": "marker"}
    counts = ScoreCounts.from_table(twice, **columns, group="site")
    assert counts == ScoreCounts.from_table(table, **columns, group="site")
    assert counts == ScoreCounts.from_batches([twice], **columns, group="site")
    assert counts == ScoreCounts.from_batches([lambda: twice], **columns, group="site")
    with pytest.raises(ValueError, match="group names the column 'dose', and the batch has 2"):
        ScoreCounts.from_batches([twice], **columns, group="dose")
    with pytest.raises(ValueError, match="groups names the column 'dose', and X has 2 columns"):
        next(WithinGroupStratifiedKFold(2, groups="dose").split(twice, np.asarray(twice["y"])))
    with pytest.raises(ValueError, match="group names the column 'dose', and table has 2 columns"):
        ScoreCounts.from_table(twice, **columns, group="dose")
