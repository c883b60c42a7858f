"""Label columns from numpy or any dataframe library, encoded as group numbers.

A row is encoded as its group number: the position of its label among the sorted
distinct labels. Rows without a label get the number -1. The module imports pandas only for Python
objects and for long columns of integers. narwhals reads pandas, polars and pyarrow, each of which
has a different fast way of numbering text.
"""

from __future__ import annotations

import bisect
import functools
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.arrays import not_single_values, object_array
from skfedauc._input.labels import (
    KINDS,
    MISSING,
    NO_FLOATS,
    Labels,
    as_label,
    checked_labels,
    is_missing,
    is_whole,
    microseconds,
    not_a_label,
    order_of,
    some_labels,
)
from skfedauc._input.text import code_points, digits_as_integers, even_text

# Least number of rows for which integers of a wide range get numbers by a hash table of pandas
HASHED_ROWS = 1 << 16


def encode_array(column: NDArray[Any], name: str) -> tuple[NDArray[np.intp], Labels]:
    if column.dtype.kind in "OT":
        return in_order(*_object_codes(column.astype(object, copy=False), name), name)
    if column.dtype.kind == "b":
        codes, values = number_integers(column.view(np.uint8))
        return codes, values.astype(np.bool_)
    if column.dtype.kind in "iu":
        return number_integers(column)
    if column.dtype.kind in "fM":
        has_label = ~(np.isnan(column) if column.dtype.kind == "f" else np.isnat(column))
        if not has_label.all():
            return of_all_rows(has_label, *encode_array(column[has_label], name))
    if column.dtype.kind == "f":
        return number_integers(_whole_numbers(column, name))
    if column.dtype.kind == "M":
        codes, values = number_integers(microseconds(column, name).view(np.int64))
        return codes, values.view("datetime64[us]")
    if column.dtype.kind == "U":
        numbers = digits_as_integers(code_points(column))
        if numbers is None:
            return encode_array(column.astype(object), name)
        codes, _ = number_integers(numbers)
        return codes, checked_labels(column[example_rows(codes)].astype(object), name)
    raise TypeError(
        f"{name} must hold {KINDS}; got an array of {column.dtype}: convert them with .astype(str)."
    )


def _whole_numbers(column: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Return whole numbers in floats as integers; refuse numbers that floats do not distinguish."""
    finfo = np.finfo(column.dtype)
    most = 2.0 ** min(finfo.nmant + 1, 62)
    if not (np.isfinite(column).all() and (column == np.rint(column)).all()):
        raise TypeError(f"{name} must hold {KINDS}; got an array of {column.dtype}: {NO_FLOATS}.")
    if column.size and np.abs(column).max() > most:
        raise TypeError(
            f"{name} holds floats beyond 2**{int(np.log2(most))}, which may be rounded integers: "
            "read the column as integers or as text."
        )
    return column.astype(np.int64)


def _object_codes(column: NDArray[Any], name: str) -> tuple[NDArray[np.integer], Labels]:
    """Return codes and distinct labels for Python objects, with the code -1 for missing labels."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    kind = infer_dtype(column, skipna=True)
    if kind == "datetime" and any(getattr(date, "tzinfo", None) for date in column):
        column = object_array(map(as_label, column))
    try:
        codes, labels = pd.factorize(column)
    except TypeError as error:
        raise not_single_values(column, name) from error
    if kind in ("floating", "decimal") or kind.startswith("mixed"):
        labels = _one_kind(np.asarray(labels, object), {*map(type, column[codes >= 0])}, name)
    if kind == "string" and not _pandas_distinguishes_strings():
        labels = np.asarray(labels, object)
        has_label = codes >= 0
        text = column[has_label]
        if not np.array_equal(labels[codes[has_label]], text):
            places: dict[str, int] = {}
            numbers = np.array([places.setdefault(label, len(places)) for label in text], np.intp)
            return of_all_rows(has_label, numbers, object_array(places))
    return codes, np.asarray(labels, object)


def _one_kind(labels: Labels, types: set[type], name: str) -> Labels:
    """Return distinct labels with one kind from objects with these types.

    Whole numbers may be floats. The text `MISSING` may occur beside other kinds of labels.
    """
    numbers = (int, float, Decimal, np.integer, np.floating)
    if all(issubclass(t, numbers) and t is not bool for t in types):
        floats = [label for label in labels if not isinstance(label, int | np.integer)]
        odd = next((label for label in floats if not is_whole(label)), None)
        if odd is not None:
            raise not_a_label(odd, name)
        # Decimals are exact.
        rounded = [label for label in floats if not isinstance(label, Decimal)]
        _whole_numbers(np.array(rounded, np.float64), name)
        return object_array(map(int, labels))
    if str in types and all(is_missing(label) for label in labels if isinstance(label, str)):
        types = types - {str}
    if len(types) > 1:
        kinds = sorted(t.__name__ for t in types)
        raise TypeError(
            f"{name} mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        )
    return labels


@functools.cache
def _pandas_distinguishes_strings() -> bool:
    """Return whether pandas distinguishes all strings.

    Before pandas 3.1, NUL or a surrogate ends a string.
    """
    import pandas as pd

    return len(pd.factorize(np.array(["", "\0"], object))[1]) == 2


def number_integers(values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return integers' numbers and sorted distinct values, without sorting a small range."""
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
        offsets = values.astype(np.int64, copy=False)
        offsets = (offsets - low if low else offsets).astype(np.intp, copy=False)
        used = np.zeros(high - low + 1, np.bool_)
        for start in range(0, offsets.size, HASHED_ROWS):
            used[offsets[start : start + HASHED_ROWS]] = True
            if used.all():  # The first rows often have every value.
                return offsets, np.arange(high - low + 1, dtype=np.int64) + low
        number_of, numbers = np.cumsum(used) - 1, np.empty_like(offsets)
        for start in range(0, offsets.size, HASHED_ROWS):  # twice as fast as all rows at once
            mine = slice(start, start + HASHED_ROWS)
            numbers[mine] = number_of.take(offsets[mine])
        return numbers, np.flatnonzero(used).astype(np.int64) + low
    values = values.astype(np.int64, copy=False)
    if values.size < HASHED_ROWS:
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct
    import pandas as pd

    codes, distinct = pd.factorize(values)
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place[codes], distinct[order]


def example_rows(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return one row's index for each group, shape (n_groups,)."""
    example = np.full(int(codes.max()) + 1 if codes.size else 0, -1, np.intp)
    for start in range(0, codes.size, HASHED_ROWS):
        mine = codes[start : start + HASHED_ROWS]
        example[mine] = np.arange(start, start + mine.size)
        if example.min() >= 0:  # The first rows often contain every group.
            break
    return example


def in_order(
    codes: NDArray[np.integer], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and sorted labels from codes for unsorted labels."""
    labels = checked_labels(labels, name)
    if labels.dtype.kind != "O":  # Conversion to one dtype may equate objects.
        labels, numbers = np.unique(labels, return_inverse=True)
    else:
        order = order_of(labels.tolist())
        numbers = np.empty_like(order)
        numbers[order] = np.arange(order.size)
        labels = labels[order]
    # The code -1 indexes the last of these numbers, which is -1.
    return np.append(numbers, -1)[codes], labels


def missing_last(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Move the label `MISSING` to the end of sorted text."""
    if labels.size < 2 or not isinstance(labels[0], str):
        return codes, labels
    place = bisect.bisect_left(labels, MISSING)
    if place >= labels.size - 1 or labels[place] != MISSING:
        return codes, labels
    others = np.delete(np.arange(labels.size), place)
    numbers = np.full(labels.size + 1, -1)
    numbers[others] = np.arange(others.size)
    numbers[place] = others.size
    return numbers[codes], object_array([*labels[others], MISSING])


def of_all_rows(
    has_label: NDArray[np.bool_], codes: NDArray[np.intp], labels: Labels
) -> tuple[NDArray[np.intp], Labels]:
    """Extend the labeled rows' numbers to all rows, with -1 for rows without a label."""
    of_rows = np.full(has_label.size, -1, np.intp)
    of_rows[has_label] = codes
    return of_rows, labels


def drop_unused(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Renumber the groups that have rows, and drop the other groups' labels."""
    used = np.bincount(codes, minlength=labels.size) > 0
    if used.all():
        return codes, labels
    return (np.cumsum(used) - 1)[codes], some_labels(labels, used)


def encode_column(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return a column's numbers and sorted labels, with the number -1 for missing labels."""
    if not isinstance(column, np.ndarray):
        return missing_last(*_encode_series(column, name))
    return missing_last(*encode_array(column, name))


def _encode_series(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return a native series' numbers and sorted labels."""
    import narwhals.stable.v2 as nw

    even = _encode_even_text(column) if len(column) >= HASHED_ROWS else None
    if even is not None:
        return even
    # pandas columns bypass narwhals, which takes half of the run time for short columns.
    if nw.dependencies.is_pandas_series(column):
        if column.dtype == object or getattr(column.dtype, "storage", "") == "python":
            return encode_array(column.to_numpy(object), name)
        if column.dtype in ("str", "string"):
            codes, labels = column.factorize()
            return in_order(codes, np.asarray(labels, object), name)
        if column.dtype == "category":
            labels = np.asarray(column.cat.categories, object)
            return _encode_dictionary(np.asarray(column.cat.codes, np.intp), labels, name)
    series = nw.from_native(column, series_only=True)
    if series.dtype.is_nested():
        raise TypeError(
            f"{name} must hold one label per row; got a column of {series.dtype}: pass a column of "
            "single values, such as one column for each field."
        )
    native, is_text = nw.to_native(series), series.dtype in (nw.String, nw.Categorical, nw.Enum)
    if is_text and nw.dependencies.is_pyarrow_chunked_array(native):
        return _encode_dictionary(*_arrow_codes(native), name)
    if series.null_count():
        has_label = ~np.asarray(series.is_null().to_numpy(), np.bool_)
        return of_all_rows(has_label, *_encode_series(nw.to_native(series.drop_nulls()), name))
    if is_text:
        if hasattr(native, "factorize"):  # Pandas stores these strings in arrow arrays.
            codes, labels = native.factorize()
            return in_order(codes, np.asarray(labels, object), name)
        if nw.dependencies.is_polars_series(native):
            return in_order(*_polars_codes(native), name)
        series = series.cast(nw.String)
    zone = getattr(series.dtype, "time_zone", None)
    if zone is not None:
        return _encode_instants(series, zone, name)
    return encode_array(series.to_numpy(), name)


def _encode_even_text(column: Any) -> tuple[NDArray[np.intp], Labels] | None:
    """Return numbers and sorted labels for equally long strings, or None for other strings.

    Identifiers often have equal length. Such strings need neither a hash table nor
    sorting.
    """
    text = even_text(column)
    numbers = None if text is None else digits_as_integers(text)
    if text is None or numbers is None:
        return None
    codes, _ = number_integers(numbers)
    return codes, object_array(row.tobytes().decode() for row in text[example_rows(codes)])


def _encode_dictionary(
    codes: NDArray[np.intp], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and sorted labels from label codes, and drop labels without rows."""
    has_label = codes >= 0
    codes, labels = drop_unused(codes[has_label], labels)
    numbers, labels = encode_array(labels, name)
    return of_all_rows(has_label, numbers[codes], labels)


def _encode_instants(series: Any, zone: str, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and labels for dates with a time zone, without changing the zone."""
    import pandas as pd

    in_utc = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    codes, dates = encode_array(in_utc, name)
    labels = pd.DatetimeIndex(dates).tz_localize("UTC").tz_convert(zone)
    return codes, object_array(labels)


def _polars_codes(column: Any) -> tuple[NDArray[np.integer], Labels]:
    """Return codes and distinct labels for polars strings, in polars' order."""
    import polars as pl

    category = column.cast(pl.Categorical) if column.dtype == pl.String else column
    codes, _ = number_integers(category.to_physical().to_numpy())
    return codes, object_array(column.gather(example_rows(codes)).to_list())


def _arrow_codes(column: Any) -> tuple[NDArray[np.intp], Labels]:
    """Return codes and distinct labels for pyarrow strings or a dictionary array."""
    plain = getattr(column.type, "value_type", None)
    # A dictionary may contain a missing label, or the same label twice.
    if plain is not None and any(chunk.dictionary.null_count for chunk in column.chunks):
        return _arrow_codes(column.cast(plain))
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary
    if plain is not None and len(values.unique()) < len(values):
        return _arrow_codes(column.cast(plain))
    # Codes may have an unsigned type.
    codes = encoded.indices.cast("int64").fill_null(-1).to_numpy().astype(np.intp)
    return codes, object_array(values.to_pylist())
