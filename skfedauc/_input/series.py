"""Encoding of one column of labels of any dataframe library.

narwhals reads pandas, polars and pyarrow. Each library has a different fast way of numbering text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._input import encoding
from skfedauc._input.arrays import object_array
from skfedauc._input.encoding import (
    drop_unused,
    encode_array,
    example_rows,
    in_order,
    missing_last,
    number_integers,
    of_all_rows,
)
from skfedauc._input.labels import Labels
from skfedauc._input.text import digits_as_integers, even_text


def encode_column(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and sorted labels of a column, with the number -1 for missing labels."""
    if not isinstance(column, np.ndarray):
        return missing_last(*_encode_series(column, name))
    return missing_last(*encode_array(column, name))


def _encode_series(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and sorted labels of a native series."""
    import narwhals.stable.v2 as nw

    even = _encode_even_text(column) if len(column) >= encoding.HASHED_ROWS else None
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
    """Return numbers and sorted labels of strings of equal length, or None for other strings.

    Identifiers often have equal length. Strings of equal length need neither a hash table nor
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
    """Return numbers and sorted labels from codes of labels, and drop labels without rows."""
    has_label = codes >= 0
    codes, labels = drop_unused(codes[has_label], labels)
    numbers, labels = encode_array(labels, name)
    return of_all_rows(has_label, numbers[codes], labels)


def _encode_instants(series: Any, zone: str, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and labels of dates with a time zone, without changing the time zone."""
    import pandas as pd

    in_utc = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    codes, dates = encode_array(in_utc, name)
    labels = pd.DatetimeIndex(dates).tz_localize("UTC").tz_convert(zone)
    return codes, object_array(labels)


def _polars_codes(column: Any) -> tuple[NDArray[np.integer], Labels]:
    """Return codes and distinct labels of strings in polars, in polars' order."""
    import polars as pl

    category = column.cast(pl.Categorical) if column.dtype == pl.String else column
    codes, _ = number_integers(category.to_physical().to_numpy())
    return codes, object_array(column.gather(example_rows(codes)).to_list())


def _arrow_codes(column: Any) -> tuple[NDArray[np.intp], Labels]:
    """Return codes and distinct labels of strings or a dictionary array in pyarrow."""
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
