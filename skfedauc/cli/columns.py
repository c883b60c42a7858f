"""Columns of a table of predictions as arrays: groups, labels, decisions, scores and weights.

Numbers may be written as text, with a decimal point or a decimal comma.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from skfedauc import _input
from skfedauc._input.arrays import object_array
from skfedauc._words import counted, listed, shortened
from skfedauc.cli.terminal import CommandError


def number(text: str) -> float:
    """Return the float nearest to the number in the text, or NaN for other text."""
    try:
        return float(text) if _is_plain(text) else math.nan
    except ValueError:
        return math.nan


def numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the float nearest to the number in each text, or NaN for other text."""
    if _is_plain("".join(cells)):
        try:
            return cells.astype(np.float64)
        except ValueError:
            pass
    return np.array([number(cell) for cell in cells], np.float64)


def has_decimal_comma(text: str) -> bool:
    """Return whether the text is a number with a decimal comma, such as 1,5."""
    has_one = text.count(",") == 1 and "." not in text
    return has_one and math.isfinite(number(text.replace(",", ".")))


def with_point(text: str) -> str:
    """Replace the decimal comma of a number by a point, and return other text unchanged."""
    return text.replace(",", ".") if has_decimal_comma(text) else text


def _is_plain(text: str) -> bool:
    """Return whether the text lacks Python's own numerals, such as 1_0 and digits of any script."""
    return text.isascii() and "_" not in text


# Different numbers with at most this number of digits have different float64 values.
_MOST_DIGITS = 15


def refuse(column: pd.Series[Any], bad: Any, what: str, mend: str = "") -> None:
    """Raise an error with the first of the bad rows; `what` says what is wrong with them."""
    if bad.any():
        first = int(bad.argmax())
        value = "" if what == "empty" else f" ({shortened(str(column.iloc[first]))})"
        raise CommandError(
            f"column {shortened(column.name)} is {what} in {int(bad.sum()):,} of "
            f"{counted(len(column), 'row')}, the first being data row "
            f"{column.index[first] + 1}{value}{mend}"
        )


# Groups --------------------------------------------------------------------------------


def groups_of(table: pd.DataFrame, columns: Sequence[str], missing: str) -> pd.DataFrame:
    """Return the group labels as text, with None for missing labels."""
    labels = pd.DataFrame({name: _as_text(table[name]) for name in columns})
    if missing == "error":
        _refuse_missing(labels.isna())
    return labels


def check_clusters(column: pd.Series[Any]) -> None:
    """Raise an error if rows have no cluster, because these rows are not one cluster."""
    n_empty = int(_as_text(column).isna().sum())
    if n_empty:
        raise CommandError(
            f"the cluster is empty in some rows: {n_empty:,} of {len(column):,} in column "
            f"{shortened(column.name)}; give each of these rows a label of its own if it is not "
            "in a cluster with other rows, or drop these rows"
        )


def _refuse_missing(empty: pd.DataFrame) -> None:
    counts = [
        f"{int(is_empty.sum()):,} of {len(empty):,} in column {shortened(name)}"
        for name, is_empty in empty.items()
        if is_empty.any()
    ]
    if counts:
        raise CommandError(
            f"the group is empty in some rows: {', '.join(counts)}; pass --missing drop to drop "
            "these rows, or --missing group to make them a group of their own"
        )


def _as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    codes, distinct = pd.factorize(column)
    values = np.asarray(distinct)
    is_float = values.dtype.kind == "f"
    if is_float and (values % 1 == 0).all() and (np.abs(values) <= 2**53).all():
        values = values.astype(np.int64)  # These floats are integers.
    texts = _input.without_zero_decimals([str(value) for value in values])
    found = numbers(np.array(texts, object))
    if found.size and np.isfinite(found).all() and (found % 1 != 0).any():
        raise CommandError(
            f"column {shortened(column.name)} holds numbers that are not whole, and the groups of "
            "--group must be labels; cut the numbers into bands, such as '20 to 29'"
        )
    text = np.array([*texts, None], object)
    return pd.Series(text[codes], index=column.index, dtype=object)


# Labels and decisions ------------------------------------------------------------------


def labels_of(column: pd.Series[Any], pos_label: str | None) -> tuple[NDArray[Any], Any]:
    """Return the labels as numbers or text, and the positive label.

    The labels are numbers if all values of the column are numbers. The column may lack the positive
    label, because one site may have negatives only.
    """
    refuse(column, column.isna(), "empty")
    codes, values = pd.factorize(column)
    labels = [_label(value) for value in values]
    if pos_label is not None:
        _check_text(pos_label, "--pos-label")
    infinite = np.array([isinstance(x, str) and math.isinf(number(x)) for x in labels], np.bool_)
    has_numbers = is_float_dtype(column) or any(isinstance(label, float) for label in labels)
    if has_numbers and infinite.any():  # without numbers, "inf" is the name of a class
        refuse(column, infinite[codes], "infinite")
    classes = dict(zip(labels, map(str, values), strict=True))
    found = f"column {shortened(column.name)} has the labels {listed(sorted(classes.values()))}"
    if len(classes) > 2:
        raise CommandError(
            f"{found}; an AUC needs two classes. Is --label the column of the true classes?"
        )
    positive = 1.0 if pos_label is None else _label(pos_label)
    if pos_label is None and not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
        has_commas = any(map(has_decimal_comma, classes.values()))
        hint = ", and --decimal , for decimal commas" if has_commas else ""
        raise CommandError(f"{found}; pass the positive one of them as --pos-label{hint}")
    is_text = any(isinstance(label, str) for label in classes)
    may_be_elsewhere = len(classes) == 1 and is_text == isinstance(positive, str)
    if pos_label is not None and positive not in classes and not may_be_elsewhere:
        raise CommandError(f"{found}; --pos-label {shortened(pos_label)} is not among them")
    if is_text:
        # Counts keep the names of the classes, because merging compares these names.
        return object_array(map(_name, labels))[codes], _name(positive)
    return np.array(labels)[codes], positive


def decisions_of(
    column: pd.Series[Any], classes: Iterable[Any], pos_label: str | None
) -> NDArray[np.float64]:
    """Return 1 for predictions of the positive class, and 0 for other predictions.

    Decisions are class labels, or 0 and 1 if neither number is a class label.
    """
    refuse(column, column.isna(), "empty")
    codes, values = pd.factorize(column)
    found, known = [_label(value) for value in values], {_label(value) for value in classes}
    positive = 1.0 if pos_label is None else _label(pos_label)
    if not set(found) <= known:
        if not set(found) <= {0, 1}:
            raise CommandError(
                f"column {shortened(column.name)} has the decisions "
                f"{listed(sorted(map(str, values)))}; "
                f"they must be labels of the classes, {listed(sorted(map(str, known)))}, or 0 and 1"
            )
        positive = 1.0
    return np.array([float(value == positive) for value in found])[codes]


def _label(value: Any) -> float | str:
    """Return a numeric label as a number, true as 1, false as 0, and other labels as text."""
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    found = number(text)
    return found if math.isfinite(found) else text


def _name(label: float | str) -> str:
    """Return a label's text."""
    return label if isinstance(label, str) else repr(label).removesuffix(".0")


def _check_text(text: str, name: str) -> None:
    try:
        _input.check_text([text], name)
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


# Scores and weights --------------------------------------------------------------------


def scores_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the scores, and refuse different numbers with equal float64 values."""
    scores = _numbers_of(column)
    if is_float_dtype(column):
        return scores
    cells = [str(cell) for cell in column.to_numpy(object)]
    if any(len(cell) > _MOST_DIGITS for cell in cells):
        exact = set(map(Decimal, cells))
        n_tied = len(exact) - np.unique(scores).size
        if n_tied:
            raise CommandError(
                f"column {shortened(column.name)} has {len(exact):,} different numbers, of which "
                f"{n_tied:,} are equal to another one as float64 and would tie; round them in the "
                "same way in all files, or subtract one constant that all files share"
            )
    return scores


def weights_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the weights, within the limits of the library."""
    weights = _numbers_of(column)
    refuse(column, weights < 0, "below 0")
    try:
        return _input.check_weights(weights, f"column {shortened(column.name)}")
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def _numbers_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    refuse(column, column.isna(), "empty")
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        found = column.to_numpy(np.float64)
    else:
        found = numbers(np.array([str(value) for value in column], object))
    bad = ~np.isfinite(found)
    if bad.any() and has_decimal_comma(str(column.iloc[int(bad.argmax())])):
        refuse(column, bad, "not a finite number", "; pass --decimal , for decimal commas")
    refuse(column, bad, "not a finite number")
    return found
