"""Group labels: numbered, compared and renamed.

Labels are booleans, integers, strings, dates, or tuples of them (from several columns).
Inside the package groups are numbered, and the number of a group is the place of its label in
sorted order. Narwhals reads pandas, polars and pyarrow alike, and each of them numbers text of
its own kind; pandas is imported only to number Python's objects.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._validation.arrays import (
    column_of,
    count_missing,
    described,
    from_array_api,
    object_array,
)
from skfedauc._validation.text import MOST_CHARACTERS, code_points, digits_as_integers, even_text

Labels = NDArray[Any]

# From so many rows on, numbers far apart are told from each other by pandas' hash table.
_HASHED_ROWS = 1 << 16
# So many labels are sorted as they are.
_FEW_LABELS = 100

_KINDS = "booleans, integers, strings, dates, or tuples of them"
_NO_TIME_ZONE = "convert them to dates without one, for instance with .dt.tz_localize(None)."
_TOO_FINE = "dates finer than a microsecond; round them, for instance with .dt.round('us')."


def encode_groups(groups: Any, name: str = "groups") -> tuple[NDArray[np.intp], Labels]:
    """Number the rows' groups.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or (n_rows, n_columns)
        One column of labels, or several whose combinations are the groups: numpy, lists
        (of tuples, for several), pandas, polars, pyarrow.

    Returns
    -------
    codes : ndarray of intp, shape (n_rows,)
    labels : ndarray of shape (n_groups,)
        Sorted; tuples where there are several columns.
    """
    columns = _group_columns(groups, name)
    encoded = [_encode_column(column, name) for column in columns]
    if len(encoded) == 1:
        return encoded[0]
    # Mixed radix number of each combination, then numbers of those that occur.
    combined = encoded[0][0].astype(np.int64)
    n_combinations = encoded[0][1].size
    for codes, labels in encoded[1:]:
        n_combinations *= max(labels.size, 1)
        if n_combinations >= 1 << 62:
            combined, _ = _number_integers(combined)
            n_combinations = (int(combined.max()) + 1) * labels.size
        combined = combined * labels.size + codes
    codes, _ = _number_integers(combined)
    # One row of each combination tells its label.
    example = _example_rows(codes)
    parts = [labels[part[example]].tolist() for part, labels in encoded]
    return codes, object_array(zip(*parts, strict=True))


def drop_unused(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Renumber the groups so that each has a row."""
    used = np.bincount(codes, minlength=labels.size) > 0
    if used.all():
        return codes, labels
    return (np.cumsum(used) - 1)[codes], labels[used]


def _group_columns(groups: Any, name: str) -> list[Any]:
    """Split what the user passed into columns; each is an array or a native series."""
    groups = from_array_api(groups)
    if isinstance(groups, np.ndarray):
        if isinstance(groups, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array; drop the masked rows and pass .data.")
        if groups.ndim == 2 and groups.shape[1] > 0:
            return [groups[:, i] for i in range(groups.shape[1])]
        return [column_of(groups, name)]
    if isinstance(groups, list | tuple):
        if groups and all(isinstance(row, tuple | list) for row in groups):
            widths = {len(row) for row in groups}
            if len(widths) > 1 or widths == {0}:
                raise ValueError(
                    f"{name} must give every row the same number of labels; got rows of "
                    f"{sorted(widths)} labels."
                )
            return [_mixed_array(column) for column in zip(*groups, strict=True)]
        return [_mixed_array(groups)]
    if isinstance(groups, str | bytes | Mapping | set) or not hasattr(groups, "__len__"):
        raise TypeError(
            f"{name} must hold one label per row, as an array, a column or a DataFrame of "
            f"columns; got {described(groups)}."
        )
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_into_series(groups):
        return [groups]
    if nw.dependencies.is_into_dataframe(groups):
        names = list(getattr(groups, "column_names", groups.columns))
        repeated = sorted({str(column) for column in names if names.count(column) > 1})
        if repeated:
            raise ValueError(f"{name} has several columns named {', '.join(repeated)}.")
        frame = nw.from_native(groups, eager_only=True)
        if frame.shape[1] == 0:
            raise ValueError(f"{name} is a DataFrame without columns.")
        return [nw.to_native(frame.get_column(column)) for column in frame.columns]
    pa = nw.dependencies.get_pyarrow()
    if pa is not None and isinstance(groups, pa.Array):
        return [pa.chunked_array([groups])]
    pd = nw.dependencies.get_pandas()
    if pd is not None and isinstance(groups, pd.Index | pd.api.extensions.ExtensionArray):
        return [column_of(groups, name) if hasattr(groups, "levels") else pd.Series(groups)]
    return [column_of(groups, name)]


def _mixed_array(values: Sequence[Any]) -> NDArray[Any]:
    """An array of a list of labels that turns no label into another kind."""
    kinds = set(map(type, values))
    if kinds <= {int}:
        integers = np.asarray(values, None if kinds else np.int64)
        if integers.dtype.kind in "iu":
            return integers
    return np.array(values, object) if kinds == {str} else object_array(values)


def _encode_column(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels of one column."""
    if not isinstance(column, np.ndarray):
        even = _encode_even_text(column) if len(column) >= _HASHED_ROWS else None
        if even is not None:
            return even
        codes, column = _read_series(column, name)
        if codes is not None:
            return _in_order(codes, column, name)
    if column.dtype.kind in "OT":
        return _in_order(*_object_codes(column.astype(object, copy=False), name), name)
    _refuse_missing(count_missing(column), column.size, name)
    if column.dtype.kind == "b":
        codes, values = _number_integers(column.view(np.uint8))
        return codes, values.astype(np.bool_)
    if column.dtype.kind in "iu":
        return _number_integers(column)
    if column.dtype.kind == "M":
        codes, values = _number_integers(_microseconds(column, name).view(np.int64))
        return codes, values.view("datetime64[us]")
    if column.dtype.kind == "U":
        numbers = digits_as_integers(code_points(column))
        if numbers is None:
            return _encode_column(column.astype(object), name)
        codes, _ = _number_integers(numbers)
        return codes, column[_example_rows(codes)].astype(object)
    mend = (
        "convert whole numbers with .astype(int), or cut a continuous column into "
        "bands with text labels"
        if column.dtype.kind == "f"
        else "convert them with .astype(str)"
    )
    raise TypeError(f"{name} must hold {_KINDS}; got an array of {column.dtype}: {mend}.")


def _refuse_missing(n_missing: int, n_rows: int, name: str) -> None:
    if n_missing:
        raise ValueError(
            f"{name} has {n_missing} missing labels of {n_rows}; drop these rows, or "
            "give them a label of their own such as 'missing'."
        )


def _read_series(column: Any, name: str) -> tuple[NDArray[np.integer] | None, NDArray[Any]]:
    """A native series as an array; of text and categories, codes and distinct labels."""
    import narwhals.stable.v1 as nw

    # Small calls are frequent, and narwhals takes as long for one as all else.
    if nw.dependencies.is_pandas_series(column):
        if column.dtype == object or getattr(column.dtype, "storage", "") == "python":
            return None, column.to_numpy(object)
        if column.dtype in ("str", "string"):
            codes, labels = column.factorize()
            _refuse_missing(int((codes < 0).sum()), codes.size, name)
            return codes, np.asarray(labels, object)
        if column.dtype == "category":
            codes, labels = np.asarray(column.cat.codes, np.intp), column.cat.categories
            _refuse_missing(int((codes < 0).sum()), codes.size, name)
            return drop_unused(codes, np.asarray(labels, object))
    series = nw.from_native(column, series_only=True)
    native = nw.to_native(series)
    text = series.dtype in (nw.String, nw.Categorical, nw.Enum)
    if text and nw.dependencies.is_pyarrow_chunked_array(native):
        return _arrow_codes(native, name)
    _refuse_missing(int(series.null_count()), len(series), name)
    if text:
        if hasattr(native, "factorize"):  # pandas' text that arrow holds, and the like
            codes, labels = native.factorize()
            return codes, np.asarray(labels, object)
        if nw.dependencies.is_polars_series(native):
            return _polars_codes(native)
        series = series.cast(nw.String)
    if getattr(series.dtype, "time_zone", None) is not None:
        raise TypeError(f"{name} holds dates with a time zone; {_NO_TIME_ZONE}")
    return None, series.to_numpy()


def _polars_codes(column: Any) -> tuple[NDArray[np.integer], Labels]:
    """Codes and distinct labels of polars text, whose own codes are in no order."""
    import polars as pl

    category = column.cast(pl.Categorical) if column.dtype == pl.String else column
    codes, _ = _number_integers(category.to_physical().to_numpy())
    return codes, object_array(column.gather(_example_rows(codes)).to_list())


def _arrow_codes(column: Any, name: str) -> tuple[NDArray[np.integer], Labels]:
    """Codes and distinct labels of pyarrow text, or of a dictionary of anything."""
    plain = getattr(column.type, "value_type", None)
    # A dictionary may hold a missing label, or one label repeatedly.
    if plain is not None and any(chunk.dictionary.null_count for chunk in column.chunks):
        return _arrow_codes(column.cast(plain), name)
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary
    if plain is not None and len(values.unique()) < len(values):
        return _arrow_codes(column.cast(plain), name)
    _refuse_missing(encoded.indices.null_count, len(encoded), name)
    return drop_unused(encoded.indices.to_numpy(), object_array(values.to_pylist()))


def _object_codes(column: NDArray[Any], name: str) -> tuple[NDArray[np.integer], Labels]:
    """Codes and distinct labels of Python's objects."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    codes, labels = pd.factorize(column)
    _refuse_missing(int((codes < 0).sum()), column.size, name)
    kind = infer_dtype(column, skipna=False)
    if kind.startswith("mixed"):
        kinds = sorted({type(value).__name__ for value in column})
        if len(kinds) > 1:
            raise TypeError(
                f"{name} mixes labels of different kinds ({', '.join(kinds)}); convert them to "
                "one kind, for instance with .astype(str)."
            )
    if kind == "string" and not _pandas_tells_text_apart():
        labels = np.asarray(labels, object)
        if not np.array_equal(labels[codes], column):
            places: dict[str, int] = {}
            codes = np.array([places.setdefault(label, len(places)) for label in column], np.intp)
            labels = object_array(places)
    return codes, np.asarray(labels, object)


@functools.cache
def _pandas_tells_text_apart() -> bool:
    """Whether pandas numbers all texts rightly; before 3.1 it stops at a NUL or a surrogate."""
    import pandas as pd

    return len(pd.factorize(np.array(["", "\0"], object))[1]) == 2


def _encode_even_text(column: Any) -> tuple[NDArray[np.intp], Labels] | None:
    """Numbers and sorted labels of texts that are all as long; None where they are not.

    Codes of equal length are common, and need neither a hash table of texts nor sorting.
    """
    text = even_text(column)
    numbers = None if text is None else digits_as_integers(text)
    if text is None or numbers is None:
        return None
    codes, _ = _number_integers(numbers)
    return codes, object_array(row.tobytes().decode() for row in text[_example_rows(codes)])


def _number_integers(values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Numbers and sorted distinct values of integers, without sorting where ranges allow."""
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.dtype == np.uint64:
        if values.size and int(values.max()) >= 1 << 63:
            distinct, codes = np.unique(values, return_inverse=True)
            return codes, distinct
        values = values.astype(np.int64)
    if values.size == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * values.size + 1024:
        offsets = values.astype(np.intp) - low if low else values.astype(np.intp, copy=False)
        used = np.zeros(high - low + 1, np.bool_)
        used[offsets] = True
        if used.all():
            return offsets, np.arange(high - low + 1) + low
        return (np.cumsum(used) - 1)[offsets], np.flatnonzero(used) + low
    values = values.astype(np.int64, copy=False)
    if values.size < _HASHED_ROWS:
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct
    import pandas as pd

    codes, distinct = pd.factorize(values)
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place[codes], distinct[order]


def _example_rows(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """A row of each group."""
    example = np.full(int(codes.max()) + 1 if codes.size else 0, -1, np.intp)
    for start in range(0, codes.size, _HASHED_ROWS):
        mine = codes[start : start + _HASHED_ROWS]
        example[mine] = np.arange(start, start + mine.size)
        if example.min() >= 0:  # the first rows often have each
            break
    return example


def _in_order(
    codes: NDArray[np.integer], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels from codes of labels in any order."""
    labels = _checked_labels(labels, name)
    if labels.dtype.kind != "O":  # labels that differed may be equal in one type
        labels, numbers = np.unique(labels, return_inverse=True)
        return numbers[codes], labels
    order = _order_of(labels.tolist())
    numbers = np.empty_like(order)
    numbers[order] = np.arange(order.size)
    return numbers[codes], labels[order]


def _order_of(items: list[Any]) -> NDArray[np.intp]:
    """Order of distinct labels of one kind."""
    # Integers sort several times faster than much text; an array drops NULs at a text's end.
    is_text = len(items) > _FEW_LABELS and isinstance(items[0], str)
    if is_text and max(map(len, items)) <= MOST_CHARACTERS and "\0" not in "".join(items):
        numbers = digits_as_integers(code_points(np.array(items, np.str_)))
        if numbers is not None:
            return np.argsort(numbers)
    return np.array(sorted(range(len(items)), key=items.__getitem__), np.intp)


def _checked_labels(labels: Labels, name: str) -> Labels:
    """Distinct labels in their plainest type; other kinds are refused."""
    items = labels.tolist()
    if set(map(type, items)) <= {str}:
        return labels
    plain = [item.item() if isinstance(item, np.generic) else item for item in items]
    kinds = {_kind(item) for item in plain}
    if None in kinds:
        odd = next(item for item in plain if _kind(item) is None)
        mend = (
            "convert whole numbers with .astype(int), or cut a continuous column into "
            "bands with text labels"
            if isinstance(odd, float)
            else "convert them with .astype(str)"
        )
        raise TypeError(
            f"{name} must hold {_KINDS}; got {odd!r} of type {type(odd).__name__}: {mend}."
        )
    if len(kinds) > 1:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} mixes labels of different kinds ({found}); convert them to one kind, "
            "for instance with .astype(str)."
        )
    kind = kinds.pop() if kinds else "str"
    if kind == "bool":
        return np.asarray(plain, np.bool_)
    if kind == "int":
        low, high = min(plain), max(plain)
        if low < -1 << 63 or high >= 1 << (64 if low >= 0 else 63):
            raise TypeError(
                f"{name} holds integers from {low} to {high}, which no type of 64 bits holds; "
                "convert them with .astype(str)."
            )
        return np.asarray(plain, np.int64 if high < 1 << 63 else np.uint64)
    if kind == "date":
        if any(getattr(item, "tzinfo", None) is not None for item in plain):
            raise TypeError(f"{name} holds dates with a time zone; {_NO_TIME_ZONE}")
        if any(getattr(item, "nanosecond", 0) for item in plain):
            raise ValueError(f"{name} holds {_TOO_FINE}")
        return np.asarray(plain, "datetime64[us]")
    return object_array(plain)


def _microseconds(dates: NDArray[Any], name: str) -> NDArray[np.datetime64]:
    """Dates in the one unit that Python's own dates have."""
    converted = dates.astype("datetime64[us]")
    if not np.array_equal(converted, dates):
        raise ValueError(f"{name} holds {_TOO_FINE}")
    return converted


def _kind(label: Any) -> Any:
    """What kind of label this is; None if labels may not be of that kind."""
    if isinstance(label, bool | np.bool_):
        return "bool"
    if isinstance(label, int):
        return "int"
    if isinstance(label, str):
        return "str"
    if isinstance(label, datetime.date | np.datetime64):
        return "date"
    if isinstance(label, tuple) and label:
        kinds = tuple(_kind(part) for part in label)
        return None if None in kinds else kinds
    return None


def as_label(label: Any) -> Any:
    """The label as `encode_groups` has it: in Python's own types, dates with a time."""
    if isinstance(label, tuple):
        return tuple(as_label(part) for part in label)
    if isinstance(label, np.datetime64):
        label = label.astype("datetime64[us]").item()
    if isinstance(label, np.generic):
        return label.item()
    if isinstance(label, datetime.date) and not isinstance(label, datetime.datetime):
        return datetime.datetime(label.year, label.month, label.day)
    return label


def check_label(label: Any, name: str) -> Any:
    """One label as `encode_groups` has it; a TypeError if it cannot be one."""
    label = as_label(label)
    if _kind(label) is None:
        raise TypeError(f"{name} must hold {_KINDS}; got {label!r} of type {type(label).__name__}.")
    return label


def names_of(labels: Labels | None, *sources: Any) -> tuple[str, ...]:
    """Names of the columns that labels come from: of the first source that has them."""
    for source in sources:
        names = getattr(source, "column_names", getattr(source, "columns", None))
        if names is None:
            name = source if isinstance(source, str) else getattr(source, "name", None)
            names = (name,) if isinstance(name, str) else ()
        if len(names) and len(names) == _n_columns_of(labels):
            return tuple(map(str, names))
    return ()


def check_group_names(names: Any, labels: Labels | None) -> tuple[str, ...]:
    """Names of the columns that labels come from, one for each; or none."""
    listed = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"group_names must be a str or a list of str; got {described(names)}.")
    given = tuple(listed)
    if len(set(given)) < len(given):
        raise ValueError(f"group_names must be different; got {described(names)}.")
    n_columns = _n_columns_of(labels)
    # Where there are no groups, nothing tells how many columns they come from.
    is_empty = labels is not None and labels.size == 0
    if given and len(given) != n_columns and not is_empty:
        raise ValueError(
            f"group_names must have one name for each of the {n_columns} columns that groups come "
            f"from; got {described(names)}."
        )
    return given


def _n_columns_of(labels: Labels | None) -> int:
    """Number of columns that labels come from, by the first label."""
    if labels is None:
        return 0
    first = labels[0] if labels.size else None
    return len(first) if isinstance(first, tuple) else 1


def columns_of_labels(labels: Labels) -> list[Labels]:
    """Labels that are tuples as a column for each part; others as one column."""
    if not (labels.size and isinstance(labels[0], tuple)):
        return [labels]
    return [_mixed_array(column) for column in zip(*labels.tolist(), strict=True)]


def kinds_of(labels: Labels) -> str:
    """Kind of these labels in words; nothing where there are none."""
    return str(_kind(labels[:1].tolist()[0])) if labels.size else ""


def unite_labels(
    tables: list[Labels], name: str = "groups"
) -> tuple[list[NDArray[np.intp]], Labels]:
    """Number the groups of several states alike.

    Returns
    -------
    numbers : list of ndarray of intp
        For each table, the new numbers of its groups.
    labels : ndarray
        Sorted labels of all tables.
    """
    kinds = {_kind(table[:1].tolist()[0]) for table in tables if table.size}
    if len(kinds) > 1:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} are of different kinds in the states to be merged ({found}), so equal "
            "groups cannot be told; use .regroup(str) to make them alike."
        )
    if {"i", "u"} <= {table.dtype.kind for table in tables}:
        low = min(int(table[0]) for table in tables if table.size)
        high = max(int(table[-1]) for table in tables if table.size)
        if low < 0:
            raise TypeError(
                f"{name} of the states to be merged are integers from {low} to {high}, which no "
                "type of 64 bits holds; use .regroup(str) to make text of them."
            )
        tables = [table.astype(np.uint64) for table in tables]
    first = tables[0]
    if all(table is first or np.array_equal(table, first) for table in tables[1:]):
        return [np.arange(first.size)] * len(tables), first
    codes, labels = _encode_column(np.concatenate(tables), name)
    return np.split(codes, np.cumsum([table.size for table in tables])[:-1]), labels


def map_labels(
    labels: Iterable[Any], to: Mapping[Any, Any] | Callable[[Any], Any], name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and labels of the groups that a mapping or function sends labels to."""
    listed = list(labels)
    if isinstance(to, Mapping):
        to = {as_label(old): new for old, new in to.items()}
        absent = [label for label in listed if label not in to]
        if absent:
            raise ValueError(
                f"{name} has no entry for {len(absent)} of {len(listed)} groups, among "
                f"them {absent[:3]!r}; add them, or pass a function."
            )
        sent = [to[label] for label in listed]
    elif callable(to):
        sent = [to(label) for label in listed]
    else:
        raise TypeError(
            f"{name} must be a mapping from labels to labels or a function of a label; got "
            f"{described(to)}."
        )
    if any(isinstance(label, list) for label in sent):
        raise TypeError(f"{name} gave a list as a label; give a tuple.")
    without = sum(label is None for label in sent)
    if without:
        raise ValueError(
            f"{name} gave None for {without} of {len(listed)} groups; give each a label."
        )
    return encode_groups(sent, name)


def check_groups_given(groups: Any) -> None:
    if groups is None:
        raise TypeError(
            "groups must tell the group of each row; got None. For the AUC of rows without "
            "groups use sklearn.metrics.roc_auc_score or AUCPartial.from_predictions."
        )
