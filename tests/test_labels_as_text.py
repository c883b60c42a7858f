import datetime
import enum
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skfedauc import _words

LONG = "x" * 1_000_000


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (3000, "3,000 rows")]
)
def test_counted(number, expected):
    assert _words.counted(number, "row") == expected


@pytest.mark.parametrize(
    ("items", "expected"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_enumerated(items, expected):
    assert _words.enumerated(items) == expected


def test_listed():
    assert _words.listed([]) == ""
    assert _words.listed(["a", 1]) == "'a', 1"
    assert _words.listed("ab", " or ") == "'a' or 'b'"
    assert _words.listed(range(3), most=3) == "0, 1, 2"
    assert _words.listed(range(4000), most=3) == "0, 1, 2, ... (4,000 in all)"
    assert _words.listed([LONG, "b"]) == f"'{LONG[:60]}'... (1,000,000 characters), 'b'"


@pytest.mark.parametrize(
    ("n", "most", "expected"),
    [
        (0, 2, ([], [], [])),
        (3, 3, ([0, 1, 2], [], [])),
        (4, 3, ([0, 1], [2], [3])),
        (5, 2, ([0], [1, 2, 3], [4])),
        (3, 1, ([0], [1, 2], [])),
    ],
)
def test_ends(n, most, expected):
    assert tuple(part.tolist() for part in _words.ends(np.arange(n), most)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(1, 3), "Fraction(1, 3)"),
        (Decimal("0.1"), "Decimal('0.1')"),
        (np.float64(0.5), "np.float64(0.5)"),
        (datetime.date(2024, 1, 31), "datetime.date(2024, 1, 31)"),
        (Colour.RED, "<Colour.RED: 1>"),
        (LogisticRegression(), "LogisticRegression()"),
        (0.5, "float 0.5"),
        (None, "NoneType None"),
        ("str", "str 'str'"),
        ([1, 2], "list [1, 2]"),
        (LONG, f"str '{LONG[:60]}'... (1,000,000 characters)"),
        (list(range(100)), f"list {str(list(range(100)))[:57]}..."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_type_is_named_once(value, expected):
    assert _words.described(value) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("a", "a"),
        (("va", 1.0, True), "va · 1.0 · True"),
        (datetime.datetime(2024, 5, 1), "2024-05-01"),
        (datetime.datetime(2024, 5, 1, 12), "2024-05-01 12:00:00"),
        ("two\nlines", r"'two\nlines'"),
        (" ", "' '"),
        ("=1+1", "'=1+1'"),
        ("-0.5", "-0.5"),
        ("x" * 80, "x" * 80),
        ("a" * 41 + "b" * 40, "a" * 40 + "…" + "b" * 39),
        ("a" * 39 + "  " + "b" * 41, "a" * 39 + "…" + "b" * 39),
    ],
)
def test_labels_are_one_short_line(label, expected):
    assert _words.shortened_label(label) == expected
