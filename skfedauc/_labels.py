"""Labels of classes and of groups: their kinds, their order, and the names of their columns."""

from __future__ import annotations

import datetime
import enum
import functools
import math
import numbers
import operator
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._words import all_shortened, described, listed, shortened

if TYPE_CHECKING:
    import pandas as pd


def check_text(texts: Iterable[str], name: str) -> None:
    """Refuse text with surrogates, which no file, table or page can hold."""
    known = list(texts)
    try:
        "".join(known).encode()
    except UnicodeEncodeError:
        odd = next(text for text in known if re.search("[\ud800-\udfff]", text))
        raise ValueError(
            f"{name} holds {odd[:60]!a}, which is not valid Unicode: it has a surrogate, probably "
            "because the text was decoded with a wrong encoding. Read the text with the correct "
            "encoding, or replace the surrogates by text.encode('utf-8', 'replace').decode()."
        ) from None


def folded(text: str) -> str:
    """Return a key to compare text without regard to case and spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


Labels = NDArray[Any]

# Label of the group of rows without a label, which comes last
MISSING = "(missing)"
# Kind of the label `MISSING`, which any other kind may accompany
ANY_KIND = "any"
# Kind of dates with a time zone, which sort by instant
_AWARE = "date with a time zone"
# Kinds of labels whose arrays have a dtype of their own
_DTYPES = {"bool": "?", "int": "i8", "uint": "u8", "date": "M8[us]"}

# Texts that several messages share
KINDS = (
    "booleans, integers, strings, dates, periods, intervals, members of an Enum, or tuples of them"
)
NO_FLOATS = (
    "whole numbers count as integers; cut other numbers into bands, for instance with pandas.cut"
)
_AS_TEXT = "convert them to text, by .astype(str) in memory or by CAST in a query"
TOO_FINE = "dates finer than a microsecond; round them, for instance with .dt.round('us')."


def kind_of(labels: Labels | None) -> Any:
    """Return the labels' common kind, or None for an empty array.

    Rows without groups have the kind "no groups".
    """
    if labels is None:
        return "no groups"
    first = kind_of_label(labels[0]) if labels.size else None
    return _common_kind(labels) if _is_open(first) else first


def _common_kind(labels: Iterable[Any]) -> Any:
    """Return the kind of all labels, or None for labels that do not mix or are not valid."""
    return functools.reduce(unite_kinds, set(map(kind_of_label, labels)), ANY_KIND)


def kind_of_label(label: Any) -> Any:
    """Return a label's kind, or None for types that are not valid."""
    if isinstance(label, bool | np.bool_):
        return "bool"
    if isinstance(label, int | np.integer):
        return "int"
    if isinstance(label, str):
        return ANY_KIND if label == MISSING else "str"
    if isinstance(label, datetime.date | np.datetime64):
        return "date" if getattr(label, "tzinfo", None) is None else _AWARE
    if isinstance(label, tuple) and label:
        kinds = tuple(kind_of_label(part) for part in label)
        return None if None in kinds else kinds
    if isinstance(label, enum.Enum):
        return f"enum {type(label).__module__}.{type(label).__qualname__}"
    pd = sys.modules.get("pandas")
    if pd is not None and isinstance(label, pd.Period):
        return f"period {label.freqstr}"
    if pd is not None and isinstance(label, pd.Interval):
        is_number = isinstance(label.left, int | float | np.integer | np.floating)
        return f"interval of {'numbers' if is_number else type(label.left).__name__}"
    return None


def unite_kinds(left: Any, right: Any) -> Any:
    """Return the common kind for two label kinds, or None for kinds that do not mix."""
    if left == right or right == ANY_KIND:
        return left
    if left == ANY_KIND:
        return right
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        kinds = tuple(map(unite_kinds, left, right))
        return None if None in kinds else kinds
    return None


def _is_open(kind: Any) -> bool:
    """Return whether several other kinds of labels may accompany this kind."""
    return any(map(_is_open, kind)) if isinstance(kind, tuple) else kind == ANY_KIND


def is_missing(label: Any) -> bool:
    return isinstance(label, str) and label == MISSING


def position_of(label: Any, known: Sequence[Any]) -> int | None:
    """Return a label's position, or None if it is not known, whatever its type."""
    if isinstance(label, np.ndarray):  # compares by element
        return None
    try:
        return known.index(label)
    except (ValueError, TypeError):  # Tables compare by element, and pandas.NA is neither.
        return None


def as_label(label: Any) -> Any:
    """Return a label as a Python object, with a time for dates, as `encode_groups` does.

    Dates with a time zone become pandas Timestamps. Python compares dates by local time, which
    repeats an hour at the end of daylight saving time.
    """
    if isinstance(label, tuple):
        return tuple(as_label(part) for part in label)
    if isinstance(label, np.datetime64):
        label = label.astype("datetime64[us]").item()
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float | Decimal | np.longdouble) and math.isfinite(label):
        return int(label) if label == math.floor(label) else label
    if isinstance(label, datetime.datetime):
        if label.tzinfo is not None:
            import pandas as pd

            return pd.Timestamp(label)
        return label.to_pydatetime() if hasattr(label, "to_pydatetime") else label
    if isinstance(label, datetime.date):
        return datetime.datetime(label.year, label.month, label.day)
    return label


def not_a_label(odd: Any, name: str) -> TypeError:
    """Return the error for a value with another type, or for a number that is not whole."""
    mend = NO_FLOATS if isinstance(odd, float | np.floating | Decimal) else _AS_TEXT
    if isinstance(odd, Decimal):
        mend += f", or {_AS_TEXT}"
    return TypeError(
        f"{name} must hold {KINDS}; got {shortened(odd)} of type {type(odd).__name__}: {mend}."
    )


def checked_labels(labels: Labels, name: str) -> Labels:
    """Return distinct labels as `as_label` does, in their simplest dtype."""
    items = labels.tolist()
    check_text((item for item in items if isinstance(item, str)), name)
    if set(map(type, items)) <= {str}:
        return labels
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    exact_values(np.array([item for item in items if isinstance(item, float)], np.float64), name)
    if any(getattr(item, "nanosecond", 0) for item in items):
        raise ValueError(f"{name} holds {TOO_FINE}")
    # The parts of tuples were labels of a column before.
    items = [item if isinstance(item, tuple) else as_label(item) for item in items]
    kind = _common_kind(items)
    if kind is None:
        odd = [item for item in items if kind_of_label(item) is None]
        if odd:
            raise not_a_label(odd[0], name)
        raise _input.mixed_kinds(map(kind_of_label, items), name)
    has_missing = any(map(is_missing, items))
    if kind == "int":
        valid = [item for item in items if not is_missing(item)]
        low, high = min(valid), max(valid)
        if low < -1 << 63 or high >= 1 << (64 if low >= 0 else 63):
            raise TypeError(
                f"{name} holds integers from {low} to {high}, which do not fit in 64 bits; "
                "convert them with .astype(str), or .regroup(str) of score counts."
            )
        kind = "uint" if high >= 1 << 63 else kind
    dtype = None if has_missing else _DTYPES.get(kind)
    return _input.object_array(items) if dtype is None else np.asarray(items, dtype)


def exact_values(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Return whole floats as integers, and dates as fine as Python's; refuse other numbers."""
    if column.dtype.kind == "M":
        dates = column.astype("datetime64[us]")
        if not np.array_equal(dates, column):
            raise ValueError(f"{name} holds {TOO_FINE}")
        return dates
    is_whole_number = np.isfinite(column) & (column == np.rint(column))
    if not is_whole_number.all():
        raise not_a_label(column[is_whole_number.argmin()].item(), name)
    most = 2.0 ** min(np.finfo(column.dtype).nmant + 1, 62)
    if column.size and np.abs(column).max() > most:
        raise TypeError(
            f"{name} holds floats beyond 2**{int(np.log2(most))}, which may be rounded integers: "
            "read the column as integers or as text."
        )
    return column.astype(np.int64)


def some_labels(labels: Labels, chosen: NDArray[Any]) -> Labels:
    """Return the chosen labels in their simplest dtype."""
    some = labels[chosen]
    had_missing = labels.dtype.kind == "O" and labels.size and is_missing(labels[-1])
    return checked_labels(some, "groups") if had_missing else some


def label_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return a label list as an array, without changing any label's kind."""
    kinds = set(map(type, values))
    if kinds <= {int}:
        integers = np.asarray(values, None if kinds else np.int64)
        if integers.dtype.kind in "iu":
            return integers
    return np.array(values, object) if kinds == {str} else _input.object_array(values)


def index_of_labels(labels: Labels | Sequence[Any], names: Sequence[str]) -> pd.Index:
    """Return sorted labels as an index, named by the columns that they come from."""
    import pandas as pd

    if len(labels) and isinstance(labels[0], tuple):
        named = {len(label) for label in labels} == {len(names)}
        return pd.MultiIndex.from_tuples(list(labels), names=list(names) if named else None)
    return pd.Index(labels, name=names[0] if names else "group")


def are_sorted_labels(labels: Labels) -> bool:
    """Return whether labels are distinct, share a kind, and have `encode_groups`'s order."""
    if labels.dtype.kind in "biuM":
        return bool((labels[1:] > labels[:-1]).all())
    if labels.dtype.kind != "O" or _common_kind(labels) is None:
        return False
    ranks = list(map(_rank, labels.tolist()))
    return all(map(operator.lt, ranks, ranks[1:]))


def order_of(items: list[Any]) -> NDArray[np.intp]:
    """Return the order of distinct labels with one kind, like `numpy.argsort`."""
    is_text = all(isinstance(item, str) and item != MISSING for item in items)
    ranks = items if is_text else list(map(_rank, items))
    return np.array(sorted(range(len(items)), key=ranks.__getitem__), np.intp)


def _rank(label: Any) -> tuple[bool, Any]:
    """Return a label's sort key: MISSING is last, and Enum members keep their order."""
    if is_missing(label):
        return True, None
    if isinstance(label, tuple):
        return False, tuple(map(_rank, label))
    if isinstance(label, enum.Enum):
        return False, list(type(label)).index(label)
    return False, label


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
        parts = list(parts)
        positive = {part.pos_label for part in parts if part.pos_label is not None}
        labels = sorted({label for part in parts for label in part.seen}, key=_order)
        of_rows = listed(labels, most=4)
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
        if len(labels) == 2 and positive and not positive <= {*labels}:
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
    The default positive label is 1.
    """
    if hasattr(pos_label, "__len__") and not isinstance(pos_label, str | bytes):
        raise TypeError(
            f"pos_label must be one label, such as 1 or 'yes'; got {described(pos_label)}."
        )
    is_usual = pos_label is None or isinstance(pos_label, str | bytes | int | np.integer)
    is_missing_label = not is_usual and _input.count_missing(_input.object_array([pos_label])) > 0
    if is_missing_label or is_infinite(pos_label):
        raise ValueError(f"pos_label must be a label; got {shortened(pos_label)}.")
    if isinstance(pos_label, str):
        check_text([pos_label], "pos_label")
    if y.dtype.kind == "b":
        y = y.view(np.uint8) != 0  # Boolean views of other bytes may have values above 1.
    # Integers 0 and 1, the common case, use only the lowest bit.
    elif pos_label is None and y.dtype.kind in "iu" and int(np.bitwise_or.reduce(y)) in (0, 1):
        y = y.astype(np.bool_)
    if y.dtype.kind == "b" and pos_label in (None, True):
        bits = [bit for bit, some in ((0, not y.all()), (1, y.any())) if some]
        return y, Classes.of(bits, pos_label)
    classes, given = classes_of(y, n_rows, name), pos_label
    if len(classes) > 2:
        raise ValueError(
            f"{name} must have two classes; got {len(classes)}: {listed(classes, most=4)}. AUC "
            f"compares one class with another: pass {name} == label to compare one label with the "
            "rest, or multi_class= to functions and scorers that accept it."
        )
    if pos_label is None:
        usual = all(isinstance(c, int | float) for c in classes) and (
            set(classes) <= {0, 1} or set(classes) <= {-1, 1}
        )
        if not usual:
            raise ValueError(
                f"{name} has the labels [{all_shortened(classes)}]: pass pos_label=, the positive "
                "label; pos_label is optional for {0, 1}, {-1, 1} and booleans only."
            )
        pos_label = 1
    elif pos_label not in classes and (
        len(classes) == 2
        or any(isinstance(c, str) != isinstance(pos_label, str) for c in classes)
        or (y.dtype.kind == "b" and pos_label not in (0, 1))
    ):
        raise ValueError(
            f"pos_label={shortened(pos_label)} is not among the labels of {name}, "
            f"[{all_shortened(classes)}]; pass one of these labels."
        )
    return np.asarray(y == pos_label, np.bool_), Classes.of(classes, given)


def warn_if_misspelled(classes: Classes) -> None:
    """Warn if all rows have one label that differs from `pos_label` only in spelling.

    Other labels cause no warning, because all rows of a batch may be negatives.
    """
    if len(classes.seen) != 1 or not classes.lacks_positive:
        return
    (label,), positive = classes.seen, classes.pos_label
    if isinstance(label, str) and isinstance(positive, str) and _folded(label) == _folded(positive):
        _input.warn(
            f"pos_label={shortened(positive)} is not among the labels of y_true: all labels are "
            f"{shortened(label)}, so all rows count as negatives. Spell pos_label as in y_true.",
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
    _refuse_labels(_input.count_missing(y, n_rows), "missing", y, n_rows, name)


def _refuse_labels(n_odd: int, what: str, y: Labels, n_rows: Any, name: str) -> None:
    if n_odd:
        total = _input.total_of_rows(y.size, n_rows)
        raise ValueError(f"{name} has {n_odd} {what} labels of {total}; drop these rows first.")


def is_infinite(label: Any) -> bool:
    return isinstance(label, numbers.Number | Decimal) and label in (math.inf, -math.inf)


def classes_of(
    y: NDArray[Any], n_rows: NDArray[np.int64] | None = None, name: str = "y_true"
) -> list[Any]:
    """Return the sorted distinct class labels as Python objects."""
    if y.dtype.kind not in "iufbOUTS":
        raise TypeError(
            f"{name} must hold labels of two classes (numbers, booleans or strings); got "
            f"an array of {y.dtype}."
        )
    refuse_missing_labels(y, n_rows, name)
    try:
        is_numeric = y.dtype.kind in "iufb"
        classes = list(np.unique(y).tolist() if is_numeric else dict.fromkeys(y.tolist()))
    except TypeError as error:
        raise _input.not_single_values(y, name) from error
    check_text((label for label in classes if isinstance(label, str)), name)
    infinite = [label for label in classes if is_infinite(label)]
    # The results of a division are no classes.
    n_infinite = _input.number_of_rows(np.isin(y, infinite), n_rows) if infinite else 0
    _refuse_labels(n_infinite, "infinite", y, n_rows, name)
    try:
        return sorted(classes)
    except TypeError as error:
        raise _input.mixed_kinds({type(c).__name__ for c in classes}, name) from error


def class_labels(y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted class labels, however many, and each row's class number."""
    column = _input.column_of(y, "y")
    if not column.size:
        raise ValueError("y has no rows; pass the class of each row of X.")
    classes_of(column, name="y")
    with _input.named("y"):  # objects that do not compare
        labels, codes = np.unique(column, return_inverse=True)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise ValueError(
            "y must hold class labels; got numbers with fractions, "
            f"{listed(labels.tolist(), most=3)} (unknown label type: continuous). Pass classes, "
            "such as y > threshold."
        )
    return labels, codes


def warn_if_hard_labels(y: NDArray[Any], scores: NDArray[np.float64] | NDArray[np.float32]) -> None:
    # Unless scores are class labels, the first 16 almost always have more than two distinct values.
    if scores.size < 2 or y.dtype.kind not in "biuf" or len(set(scores[:16].tolist())) > 2:
        return
    low, high = float(scores.min()), float(scores.max())
    are_ends = low < high and (low, high) == (float(y.min()), float(y.max()))
    if are_ends and bool(((scores == low) | (scores == high)).all()):
        _input.warn(
            f"y_score holds only {low:g} and {high:g}: these look like predicted labels, "
            "and the AUC of labels ignores the ranking of rows by score. Pass "
            "predict_proba(X)[:, 1] or decision_function(X).",
        )


# How to treat rows without a group label
Missing: TypeAlias = Literal["raise", "drop", "group"]


def check_missing(missing: Any) -> Missing:
    return _input.check_option("missing", missing, ("raise", "drop", "group"))  # type: ignore[no-any-return]


def check_groups_given(groups: Any) -> None:
    if groups is None:
        raise TypeError(
            "groups must give the group of each row; got None. For the AUC of rows without "
            "groups use sklearn.metrics.roc_auc_score or ScoreCounts.from_predictions."
        )


def names_of(labels: Labels | None, groups: Any) -> tuple[str, ...]:
    """Return the names of the columns of `groups`, if there are as many as of the labels.

    An empty name is no name: polars gives it to an unnamed Series.
    """
    names = getattr(groups, "column_names", getattr(groups, "columns", None))
    if names is None:
        name = getattr(groups, "name", None)
        names = (name,) if isinstance(name, str) else ()
    names = tuple(map(str, names))
    if not all(names) or len(names) != _n_columns_of(labels):
        return ()
    check_text(names, "the name of a column of groups")
    return names


def check_group_names(names: Any, labels: Labels | None) -> tuple[str, ...]:
    """Return the checked group column names, or an empty tuple without names."""
    listed = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"group_names must be a str or a list of str; got {described(names)}.")
    given = () if list(listed) == [""] else tuple(listed)
    check_text(given, "group_names")
    if len(set(given)) < len(given):
        raise ValueError(f"group_names must be different; got {described(names)}.")
    n_columns = _n_columns_of(labels)
    # Without groups the number of columns is unknown.
    is_known = labels is None or labels.size > 0
    if given and is_known and len(given) != n_columns:
        raise ValueError(
            f"group_names must have one name for each of the {n_columns} columns that groups come "
            f"from; got {described(names)}."
        )
    return given


def column_names(groups: Sequence[Any] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    return names or default_names(_n_columns_of(groups) or 1)


def default_names(n_columns: int) -> tuple[str, ...]:
    if n_columns == 1:
        return ("group",)
    return tuple(f"group_{number}" for number in range(1, n_columns + 1))


def _n_columns_of(labels: Labels | Sequence[Any] | None) -> int:
    """Return how many group columns there are: how many parts the first label has."""
    if labels is None:
        return 0
    first = labels[0] if len(labels) else None
    return len(first) if isinstance(first, tuple) else 1
