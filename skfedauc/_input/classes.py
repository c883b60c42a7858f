"""Class labels: validation, comparison and warnings."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.arrays import (
    column_of,
    count_missing,
    not_single_values,
    number_of_rows,
    object_array,
    total_of_rows,
    warn,
)
from skfedauc._input.labels import check_text, folded
from skfedauc._words import all_shortened, described, listed, shortened


class Classes(NamedTuple):
    """The counted rows' at most two sorted class labels, and the positive label.

    Booleans are 0 and 1. The positive label is None without rows.
    """

    seen: tuple[Any, ...] = ()
    pos_label: Any = None

    @classmethod
    def of(cls, seen: Iterable[Any], pos_label: Any) -> Classes:
        """Return classes with labels converted to a common form."""
        seen = tuple(sorted({_plain(label) for label in seen}, key=_order))
        if pos_label is None:
            return cls(seen, 1 if seen else None)
        return cls(seen, _plain(pos_label))

    @classmethod
    def merged(cls, parts: Iterable[Classes]) -> Classes:
        """Merge several parts' class labels."""
        seen: set[Any] = set()
        positive: set[Any] = set()
        for part in parts:
            seen.update(part.seen)
            if part.pos_label is not None:
                positive.add(part.pos_label)
        labels = sorted(seen, key=_order)
        of_rows = f"{all_shortened(labels[:4])}{', ...' if len(labels) > 4 else ''}"
        mend = (
            "A label may be misspelled. If the names of classes differ between parts, pass "
            "y_true == label instead of y_true."
        )
        if len(positive) > 1:
            shown = " and ".join(map(shortened, sorted(positive, key=_order)[:4]))
            raise ValueError(
                f"the positive label is not the same for all rows: pos_label is {shown}, and the "
                f"labels of rows are {of_rows or 'unknown'}. {mend}"
            )
        if len(labels) > 2:
            raise ValueError(
                f"the rows must have two labels; got {len(labels)} labels in all, {of_rows}. {mend}"
            )
        if len(labels) == 2 and positive and not positive <= seen:
            raise ValueError(
                f"pos_label={shortened(*positive)} is not among the labels of all rows, {of_rows}; "
                "pass one of these labels; otherwise the rows of both classes count as negatives."
            )
        return cls(tuple(labels), positive.pop() if positive else None)

    @property
    def lacks_positive(self) -> bool:
        """True if there are rows, but no rows with the positive label."""
        return bool(self.seen) and self.pos_label not in self.seen


def _plain(label: Any) -> int | float | str:
    """Return a label as an integer, a float or a string, with equal results for equal labels."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str):
        return str(label)
    if isinstance(label, bytes):
        return label.decode("utf-8", "backslashreplace")
    if isinstance(label, numbers.Integral):
        return int(label)
    try:
        number = float(label)
    except (TypeError, ValueError, OverflowError):
        return str(label)
    return int(number) if number.is_integer() else number


def _order(label: int | float | str) -> tuple[bool, Any]:
    return isinstance(label, str), label


def check_labels(
    y: NDArray[Any],
    pos_label: Any = None,
    n_rows: NDArray[np.int64] | None = None,
    name: str = "y_true",
) -> tuple[NDArray[np.bool_], Classes]:
    """Return whether each label is positive, and the classes.

    `pos_label` is optional for booleans and for labels in {0, 1} or {-1, 1}, as in scikit-learn.
    The default positive label is 1. For labels with counts, `n_rows` is the number of rows of each
    label, for messages.
    """
    if hasattr(pos_label, "__len__") and not isinstance(pos_label, str | bytes):
        raise TypeError(
            f"pos_label must be one label, such as 1 or 'yes'; got {described(pos_label)}."
        )
    is_usual = pos_label is None or isinstance(pos_label, str | bytes | int | np.integer)
    if not is_usual and count_missing(object_array([pos_label])):
        raise ValueError(f"pos_label must be a label; got {shortened(pos_label)}, a missing value.")
    if is_infinite(pos_label):
        raise ValueError(f"pos_label must be a label; got {shortened(pos_label)}.")
    if isinstance(pos_label, str):
        check_text([pos_label], "pos_label")
    if y.dtype.kind == "b":
        y = y.view(np.uint8) != 0  # Boolean views of other bytes may have values above 1.
    if y.dtype.kind == "b" and pos_label in (None, True):
        return y, Classes.of(_distinct_bits(y), pos_label)
    # Integers 0 and 1, the common case, use only the lowest bit.
    if pos_label is None and y.dtype.kind in "iu" and int(np.bitwise_or.reduce(y)) in (0, 1):
        positive = y.astype(np.bool_)
        return positive, Classes.of(_distinct_bits(positive), None)
    if y.dtype.kind == "f" and np.isnan(y).any():
        refuse_missing_labels(y, n_rows, name)
    classes, given = classes_of(y, n_rows, name), pos_label
    if len(classes) > 2:
        shown = all_shortened(classes[:4])
        raise ValueError(
            f"{name} must have two classes; got {len(classes)}: {shown}"
            f"{', ...' if len(classes) > 4 else ''}. AUC compares one class with another: "
            f"pass {name} == label to compare one label with the rest, or multi_class= to "
            "functions and scorers that accept it."
        )
    shown = f"[{all_shortened(classes)}]"
    if pos_label is None:
        usual = all(isinstance(c, int | float) for c in classes) and (
            set(classes) <= {0, 1} or set(classes) <= {-1, 1}
        )
        if not usual:
            raise ValueError(
                f"{name} has the labels {shown}: pass pos_label=, the positive "
                "label; pos_label is optional for {0, 1}, {-1, 1} and booleans only."
            )
        pos_label = 1
    elif pos_label not in classes and (
        len(classes) == 2
        or any(isinstance(c, str) != isinstance(pos_label, str) for c in classes)
        or (y.dtype.kind == "b" and pos_label not in (0, 1))
    ):
        raise ValueError(
            f"pos_label={shortened(pos_label)} is not among the labels of {name}, {shown}; pass "
            "one of these labels."
        )
    return np.asarray(y == pos_label, np.bool_), Classes.of(classes, given)


def _distinct_bits(y: NDArray[np.bool_]) -> list[int]:
    return [bit for bit, some in ((0, not y.all()), (1, y.any())) if some]


def warn_if_misspelled(classes: Classes) -> None:
    """Warn if all rows have one label that differs from `pos_label` only in spelling.

    Other labels cause no warning, because all rows in a batch, a device or a group may be
    negatives.
    """
    if len(classes.seen) != 1 or not classes.lacks_positive:
        return
    (label,), positive = classes.seen, classes.pos_label
    if isinstance(label, str) and isinstance(positive, str) and _folded(label) == _folded(positive):
        warn(
            f"pos_label={shortened(positive)} is not among the labels of y_true: all labels are "
            f"{shortened(label)}, so all rows count as negatives. Spell pos_label as in y_true.",
            UserWarning,
        )


def _folded(text: str) -> str | float:
    """Return a key to compare labels without regard to case, spaces and number format."""
    text = folded(text)
    try:
        return float(text)
    except ValueError:
        return text


def refuse_missing_labels(
    y: NDArray[Any], n_rows: NDArray[np.int64] | None = None, name: str = "y_true"
) -> None:
    """Raise a ValueError if class labels are missing."""
    n_missing = count_missing(y, n_rows)
    if n_missing:
        total = total_of_rows(y.size, n_rows)
        raise ValueError(
            f"{name} has {n_missing} missing labels of {total}; drop these rows first."
        )


def _refuse_infinite(
    classes: Iterable[Any], y: NDArray[Any], n_rows: NDArray[np.int64] | None, name: str
) -> None:
    """Raise an error for infinite labels, which are results of a division, not classes."""
    infinite = [label for label in classes if is_infinite(label)]
    if infinite:
        n_infinite = number_of_rows(np.isin(y, infinite), n_rows)
        raise ValueError(
            f"{name} has {n_infinite} infinite labels of {total_of_rows(y.size, n_rows)}; drop "
            "these rows first."
        )


def is_infinite(label: Any) -> bool:
    """Return whether a label is an infinite number."""
    return isinstance(label, numbers.Number | Decimal) and label in (math.inf, -math.inf)


def classes_of(
    y: NDArray[Any], n_rows: NDArray[np.int64] | None = None, name: str = "y_true"
) -> list[Any]:
    """Return the sorted distinct class labels as Python objects."""
    if y.dtype.kind in "iufb":
        refuse_missing_labels(y, n_rows, name)
        distinct = list(np.unique(y).tolist())
        _refuse_infinite(distinct, y, n_rows, name)
        return distinct
    if y.dtype.kind not in "OUTS":
        raise TypeError(
            f"{name} must hold labels of two classes (numbers, booleans or strings); got "
            f"an array of {y.dtype}."
        )
    refuse_missing_labels(y, n_rows, name)
    try:
        classes = list(dict.fromkeys(y.tolist()))
    except TypeError as error:
        raise not_single_values(y, name) from error
    check_text((label for label in classes if isinstance(label, str)), name)
    _refuse_infinite(classes, y, n_rows, name)
    try:
        return sorted(classes)
    except TypeError as error:
        kinds = sorted({type(c).__name__ for c in classes})
        raise TypeError(
            f"{name} mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        ) from error


def class_labels(y: Any, name: str = "y") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted class labels, however many, and each row's class number."""
    column = column_of(y, name)
    if not column.size:
        raise ValueError(f"{name} has no rows; pass the class of each row of X.")
    classes_of(column, name=name)
    labels, codes = np.unique(column, return_inverse=True)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise ValueError(
            f"{name} must hold class labels; got numbers with fractions, "
            f"{listed(labels.tolist(), most=3)} (unknown label type: continuous). Pass classes, "
            f"such as {name} > threshold."
        )
    return labels, codes


def hard_labels(
    y: NDArray[Any], scores: NDArray[np.float64] | NDArray[np.float32]
) -> tuple[float, float] | None:
    """Return the two score values if scores are class labels, or None for other scores."""
    # Unless scores are class labels, the first 16 almost always have more than two distinct values.
    if scores.size < 2 or y.dtype.kind not in "biuf" or len(set(scores[:16].tolist())) > 2:
        return None
    low, high = float(scores.min()), float(scores.max())
    if low == high or (low, high) != (float(y.min()), float(y.max())):
        return None
    return (low, high) if bool(((scores == low) | (scores == high)).all()) else None


def warn_if_hard_labels(y: NDArray[Any], scores: NDArray[np.float64]) -> None:
    """Warn if all scores are class labels."""
    found = hard_labels(y, scores)
    if found is not None:
        low, high = found
        warn(
            f"y_score holds only {low:g} and {high:g}: these look like predicted labels, "
            "and the AUC of labels ignores the ranking of rows by score. Pass "
            "predict_proba(X)[:, 1] or decision_function(X).",
            UserWarning,
        )
