"""Group labels: numbered, compared and renamed.

Labels are booleans, integers, strings, dates, periods, intervals, members of an enumeration, or
tuples of them (from several columns). Whole numbers that came as floats are integers. Rows without
a label are the group `MISSING`, if so asked: text that goes with labels of any kind, so that the
labels of a group of integers stay integers, and states merge wherever labels are missing.
Inside the package groups are numbered, and the number of a group is the place of its label in
sorted order. Narwhals reads pandas, polars and pyarrow alike, and each of them numbers text of
its own kind; pandas is imported only to number Python's objects and dates with a time zone.
"""

from __future__ import annotations

import bisect
import datetime
import enum
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.arrays import (
    check_length,
    column_of,
    from_array_api,
    object_array,
)
from skfedauc._input.text import (
    MOST_CHARACTERS,
    check_text,
    code_points,
    digits_as_integers,
    even_text,
)
from skfedauc._words import all_shortened, described, shortened

Labels = NDArray[Any]
# What is done with rows without a group label
Missing: TypeAlias = Literal["raise", "drop", "group"]

# From so many rows on, numbers far apart are told from each other by pandas' hash table.
_HASHED_ROWS = 1 << 16
# So many labels are sorted as they are.
_FEW_LABELS = 100

# Label of the rows without one, where they are a group. It is sorted last.
MISSING = "(missing)"
# Kind of the label MISSING, which goes with any other.
_ANY_KIND = "any"

_KINDS = (
    "booleans, integers, strings, dates, periods, intervals, members of an Enum, or tuples of them"
)
_NO_FLOATS = (
    "whole numbers are taken as integers; cut other ones into bands, for instance with pandas.cut"
)
# Kind of dates with a time zone, which are compared by their instant.
_AWARE = "date with a time zone"
_TOO_FINE = "dates finer than a microsecond; round them, for instance with .dt.round('us')."


def check_missing(missing: Any) -> Missing:
    """What is done with rows without a group label."""
    if missing not in ("raise", "drop", "group"):
        raise ValueError(
            "missing must be 'raise' (an error), 'drop' (leave rows without a group label out) or "
            f"'group' (make them the group {MISSING!r}); got {described(missing)}."
        )
    return missing  # type: ignore[no-any-return]


def encode_groups(
    groups: Any, name: str = "groups", missing: Missing = "raise"
) -> tuple[NDArray[np.intp], Labels]:
    """Number the rows' groups.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or (n_rows, n_columns)
        One column of labels, or several whose combinations are the groups: numpy, lists
        (of tuples, for several), pandas, polars, pyarrow.
    missing : {"raise", "drop", "group"}, default="raise"
        What is done with rows that lack a label in one of the columns: a ValueError, the number
        -1, or the label `MISSING` in that column.

    Returns
    -------
    codes : ndarray of intp, shape (n_rows,)
    labels : ndarray of shape (n_groups,)
        Sorted; tuples where there are several columns.
    """
    return _encode_all(_group_columns(groups, name), name, missing)


def encode_columns(columns: Mapping[str, Any]) -> tuple[NDArray[np.intp], Labels]:
    """Number the groups that columns of labels make, each of which has a name."""
    several = []
    for name, column in columns.items():
        own = _group_columns(column, name)
        if len(own) != 1:
            raise ValueError(f"{name} must be one column of labels; got {len(own)}.")
        several += own
    first, *others = columns
    for name, column in zip(others, several[1:], strict=True):
        check_length(name, len(column), first, len(several[0]))
    return _encode_all(several, ", ".join(columns), "raise")


def _encode_all(columns: list[Any], name: str, missing: Missing) -> tuple[NDArray[np.intp], Labels]:
    encoded = [_encode_column(column, name) for column in columns]
    has_gaps = [bool(codes.size) and int(codes.min()) < 0 for codes, _ in encoded]
    if any(has_gaps) and missing == "group":
        encoded = [
            _with_missing_group(codes, labels, name) if gaps else (codes, labels)
            for (codes, labels), gaps in zip(encoded, has_gaps, strict=True)
        ]
    elif any(has_gaps):
        has_label = np.all([codes >= 0 for codes, _ in encoded], axis=0)
        if missing == "raise":
            _refuse_missing(int((~has_label).sum()), has_label.size, name)
        codes = np.full(has_label.size, -1, np.intp)
        kept = [drop_unused(numbers[has_label], labels) for numbers, labels in encoded]
        codes[has_label], labels = _combined(kept)
        return codes, labels
    return _combined(encoded)


def _combined(
    encoded: list[tuple[NDArray[np.intp], Labels]],
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and labels of the combinations of columns."""
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


def _with_missing_group(
    codes: NDArray[np.intp], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Rows without a label as a group of their own, the last one."""
    if labels.size and isinstance(labels[-1], str) and labels[-1] == MISSING:
        raise ValueError(
            f"{name} has rows without a label, and a group called {MISSING!r} already; rename "
            "that group, or pass missing='drop'."
        )
    return (
        np.where(codes < 0, labels.size, codes),
        object_array([*labels.tolist(), MISSING]),
    )


def drop_unused(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Renumber the groups so that each has a row."""
    used = np.bincount(codes, minlength=labels.size) > 0
    if used.all():
        return codes, labels
    return (np.cumsum(used) - 1)[codes], some_labels(labels, used)


def some_labels(labels: Labels, chosen: NDArray[Any]) -> Labels:
    """Some of sorted labels, in the type that they have without the others."""
    some = labels[chosen]
    had_missing = labels.dtype.kind == "O" and labels.size and _is_missing(labels[-1])
    return _checked_labels(some, "groups") if had_missing else some


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
        columns = sorted(kind.__name__ for kind in set(map(type, groups)) if _is_column(kind))
        if columns:
            raise TypeError(
                f"{name} is a {type(groups).__name__} of {len(groups)} columns ("
                f"{', '.join(columns)}): pass one column as it is, several as a DataFrame, such as "
                "pandas.DataFrame({'site': site, 'sex': sex}), or as an array, "
                "numpy.column_stack([site, sex])."
            )
        return [_mixed_array(groups)]
    if isinstance(groups, str | bytes | Mapping | set) or not hasattr(groups, "__len__"):
        mend = " Pass pandas.DataFrame(groups)." if isinstance(groups, Mapping) else ""
        raise TypeError(
            f"{name} must hold one label per row, as an array, a column or a DataFrame of "
            f"columns; got {described(groups)}.{mend}"
        )
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_into_series(groups):
        return [groups]
    if nw.dependencies.is_into_dataframe(groups):
        names = list(getattr(groups, "column_names", groups.columns))
        repeated = sorted({str(column) for column in names if names.count(column) > 1})
        if repeated:
            raise ValueError(f"{name} has several columns named {all_shortened(repeated)}.")
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


def _is_column(kind: type) -> bool:
    """Whether objects of this class are columns of labels rather than labels."""
    has_rows = hasattr(kind, "__len__") and not issubclass(kind, str | bytes)
    return has_rows and (hasattr(kind, "dtype") or hasattr(kind, "type"))


def _mixed_array(values: Sequence[Any]) -> NDArray[Any]:
    """An array of a list of labels that turns no label into another kind."""
    kinds = set(map(type, values))
    if kinds <= {int}:
        integers = np.asarray(values, None if kinds else np.int64)
        if integers.dtype.kind in "iu":
            return integers
    return np.array(values, object) if kinds == {str} else object_array(values)


def _encode_column(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels of one column; rows without a label have the number -1."""
    if not isinstance(column, np.ndarray):
        return _missing_last(*_encode_series(column, name))
    return _missing_last(*_encode_array(column, name))


def _encode_array(column: NDArray[Any], name: str) -> tuple[NDArray[np.intp], Labels]:
    if column.dtype.kind in "OT":
        return _in_order(*_object_codes(column.astype(object, copy=False), name), name)
    if column.dtype.kind == "b":
        codes, values = _number_integers(column.view(np.uint8))
        return codes, values.astype(np.bool_)
    if column.dtype.kind in "iu":
        return _number_integers(column)
    if column.dtype.kind in "fM":
        has_label = ~(np.isnan(column) if column.dtype.kind == "f" else np.isnat(column))
        if not has_label.all():
            return _in_place(has_label, *_encode_array(column[has_label], name))
    if column.dtype.kind == "f":
        return _number_integers(_whole_numbers(column, name))
    if column.dtype.kind == "M":
        codes, values = _number_integers(_microseconds(column, name).view(np.int64))
        return codes, values.view("datetime64[us]")
    if column.dtype.kind == "U":
        numbers = digits_as_integers(code_points(column))
        if numbers is None:
            return _encode_array(column.astype(object), name)
        codes, _ = _number_integers(numbers)
        return codes, _checked_labels(column[_example_rows(codes)].astype(object), name)
    raise TypeError(
        f"{name} must hold {_KINDS}; got an array of {column.dtype}: convert them with "
        ".astype(str)."
    )


def _whole_numbers(column: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Floats that are whole numbers as integers, as long as floats tell those apart."""
    finfo = np.finfo(column.dtype)
    most = 2.0 ** min(finfo.nmant + 1, 62)
    if not (np.isfinite(column).all() and (column == np.rint(column)).all()):
        raise TypeError(f"{name} must hold {_KINDS}; got an array of {column.dtype}: {_NO_FLOATS}.")
    if column.size and np.abs(column).max() > most:
        raise TypeError(
            f"{name} holds floats beyond 2**{int(np.log2(most))}, which may be rounded integers: "
            "read the column as integers or as text."
        )
    return column.astype(np.int64)


def _in_place(
    has_label: NDArray[np.bool_], codes: NDArray[np.intp], labels: Labels
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers of all rows from those of the rows that have a label."""
    of_rows = np.full(has_label.size, -1, np.intp)
    of_rows[has_label] = codes
    return of_rows, labels


def _refuse_missing(n_missing: int, n_rows: int, name: str) -> None:
    mend = "drop these rows, or give them a label of their own such as 'missing'"
    if name == "groups":
        mend = (
            "pass missing='drop' to leave these rows out, or missing='group' to give them a "
            f"label of their own, {MISSING!r}"
        )
    raise ValueError(f"{name} has {n_missing} missing labels of {n_rows}; {mend}.")


def _encode_series(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels of a native series."""
    import narwhals.stable.v1 as nw

    even = _encode_even_text(column) if len(column) >= _HASHED_ROWS else None
    if even is not None:
        return even
    # Small calls are frequent, and narwhals takes as long for one as all else.
    if nw.dependencies.is_pandas_series(column):
        if column.dtype == object or getattr(column.dtype, "storage", "") == "python":
            return _encode_array(column.to_numpy(object), name)
        if column.dtype in ("str", "string"):
            codes, labels = column.factorize()
            return _in_order(codes, np.asarray(labels, object), name)
        if column.dtype == "category":
            labels = np.asarray(column.cat.categories, object)
            return _encode_dictionary(np.asarray(column.cat.codes, np.intp), labels, name)
    series = nw.from_native(column, series_only=True)
    native, is_text = nw.to_native(series), series.dtype in (nw.String, nw.Categorical, nw.Enum)
    if is_text and nw.dependencies.is_pyarrow_chunked_array(native):
        return _encode_dictionary(*_arrow_codes(native), name)
    if series.null_count():
        has_label = ~np.asarray(series.is_null().to_numpy(), np.bool_)
        return _in_place(has_label, *_encode_series(nw.to_native(series.drop_nulls()), name))
    if is_text:
        if hasattr(native, "factorize"):  # pandas' text that arrow holds, and the like
            codes, labels = native.factorize()
            return _in_order(codes, np.asarray(labels, object), name)
        if nw.dependencies.is_polars_series(native):
            return _in_order(*_polars_codes(native), name)
        series = series.cast(nw.String)
    zone = getattr(series.dtype, "time_zone", None)
    if zone is not None:
        return _encode_instants(series, zone, name)
    return _encode_array(series.to_numpy(), name)


def _encode_dictionary(
    codes: NDArray[np.intp], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels from codes of labels of any kind, of which rows may use some."""
    has_label = codes >= 0
    codes, labels = drop_unused(codes[has_label], labels)
    numbers, labels = _encode_array(labels, name)
    return _in_place(has_label, numbers[codes], labels)


def _encode_instants(series: Any, zone: str, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and labels of dates with a time zone, in that zone."""
    import pandas as pd

    in_utc = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    codes, dates = _encode_array(in_utc, name)
    labels = pd.DatetimeIndex(dates).tz_localize("UTC").tz_convert(zone)
    return codes, object_array(labels)


def _polars_codes(column: Any) -> tuple[NDArray[np.integer], Labels]:
    """Codes and distinct labels of polars text, whose own codes are in no order."""
    import polars as pl

    category = column.cast(pl.Categorical) if column.dtype == pl.String else column
    codes, _ = _number_integers(category.to_physical().to_numpy())
    return codes, object_array(column.gather(_example_rows(codes)).to_list())


def _arrow_codes(column: Any) -> tuple[NDArray[np.intp], Labels]:
    """Codes and distinct labels of pyarrow text, or of a dictionary of anything."""
    plain = getattr(column.type, "value_type", None)
    # A dictionary may hold a missing label, or one label repeatedly.
    if plain is not None and any(chunk.dictionary.null_count for chunk in column.chunks):
        return _arrow_codes(column.cast(plain))
    encoded = column.dictionary_encode().combine_chunks()
    values = encoded.dictionary
    if plain is not None and len(values.unique()) < len(values):
        return _arrow_codes(column.cast(plain))
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.intp)
    return codes, object_array(values.to_pylist())


def _object_codes(column: NDArray[Any], name: str) -> tuple[NDArray[np.integer], Labels]:
    """Codes and distinct labels of Python's objects; -1 where there is none."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    kind = infer_dtype(column, skipna=True)
    if kind == "datetime" and any(getattr(date, "tzinfo", None) for date in column):
        column = object_array(map(as_label, column))
    codes, labels = pd.factorize(column)
    if kind == "floating" or kind.startswith("mixed"):
        labels = _one_kind(np.asarray(labels, object), {*map(type, column[codes >= 0])}, name)
    if kind == "string" and not _pandas_tells_text_apart():
        labels = np.asarray(labels, object)
        has_label = codes >= 0
        text = column[has_label]
        if not np.array_equal(labels[codes[has_label]], text):
            places: dict[str, int] = {}
            numbers = np.array([places.setdefault(label, len(places)) for label in text], np.intp)
            return _in_place(has_label, numbers, object_array(places))
    return codes, np.asarray(labels, object)


def _one_kind(labels: Labels, types: set[type], name: str) -> Labels:
    """Distinct labels of one kind from objects of these types.

    Whole numbers may come as floats, and text may be the label of the rows without one.
    """
    numbers = (int, float, np.integer, np.floating)
    if all(issubclass(t, numbers) and t is not bool for t in types):
        floats = [label for label in labels if not isinstance(label, int | np.integer)]
        if any(not np.isfinite(label) or label % 1 for label in floats):
            odd = next(label for label in floats if not np.isfinite(label) or label % 1)
            raise TypeError(
                f"{name} must hold {_KINDS}; got {shortened(odd)} of type {type(odd).__name__}: "
                f"{_NO_FLOATS}."
            )
        _whole_numbers(np.array(floats, np.float64), name)
        return object_array(map(int, labels))
    if str in types and all(_is_missing(label) for label in labels if isinstance(label, str)):
        types = types - {str}
    if len(types) > 1:
        kinds = sorted(t.__name__ for t in types)
        raise TypeError(
            f"{name} mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        )
    return labels


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
    else:
        order = _order_of(labels.tolist())
        numbers = np.empty_like(order)
        numbers[order] = np.arange(order.size)
        labels = labels[order]
    # The code -1 takes the last of these numbers.
    return np.append(numbers, -1)[codes], labels


def _missing_last(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Sorted text with the label of the rows without one as the last."""
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


def _order_of(items: list[Any]) -> NDArray[np.intp]:
    """Order of distinct labels of one kind."""
    # Integers sort several times faster than much text; an array drops NULs at a text's end.
    is_text = len(items) > _FEW_LABELS and isinstance(items[0], str)
    if is_text and max(map(len, items)) <= MOST_CHARACTERS and "\0" not in "".join(items):
        numbers = digits_as_integers(code_points(np.array(items, np.str_)))
        if numbers is not None:
            return np.argsort(numbers)
    by_rank = not all(isinstance(item, str) for item in items)
    ranks = list(map(_rank, items)) if by_rank else items
    return np.array(sorted(range(len(items)), key=ranks.__getitem__), np.intp)


def _rank(label: Any) -> tuple[bool, Any]:
    """What orders labels of one kind: as they are, the missing one last, an Enum as defined."""
    if _is_missing(label):
        return True, None
    if isinstance(label, tuple):
        return False, tuple(map(_rank, label))
    if isinstance(label, enum.Enum):
        return False, list(type(label)).index(label)
    return False, label


def are_sorted_labels(labels: Labels) -> bool:
    """Whether these are different labels of one kind as `encode_groups` sorts them."""
    if labels.dtype.kind in "biuM":
        return bool((labels[1:] > labels[:-1]).all())
    if labels.dtype.kind != "O":
        return False
    items = labels.tolist()
    kinds = set(map(_kind, items))
    if None in kinds or (kinds and functools.reduce(unite_kinds, kinds) is None):
        return False
    ranks = list(map(_rank, items))
    return all(map(operator.lt, ranks, ranks[1:]))


def _is_missing(label: Any) -> bool:
    return isinstance(label, str) and label == MISSING


def _checked_labels(labels: Labels, name: str) -> Labels:
    """Distinct labels in their plainest type; other kinds are refused."""
    items = labels.tolist()
    if set(map(type, items)) <= {str}:
        check_text(items, name)
        return labels
    plain = [item.item() if isinstance(item, np.generic) else item for item in items]
    check_text((item for item in plain if isinstance(item, str)), name)
    kinds = {_kind(item) for item in plain}
    if None in kinds:
        odd = next(item for item in plain if _kind(item) is None)
        mend = _NO_FLOATS if isinstance(odd, float) else "convert them with .astype(str)"
        raise TypeError(
            f"{name} must hold {_KINDS}; got {shortened(odd)} of type {type(odd).__name__}: {mend}."
        )
    kind = functools.reduce(unite_kinds, kinds)
    if kind is None:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} mixes labels of different kinds ({found}); convert them to one kind, "
            "for instance with .astype(str)."
        )
    has_missing = _ANY_KIND in kinds
    if kind == "bool" and not has_missing:
        return np.asarray(plain, np.bool_)
    if kind == "int":
        numbers = [item for item in plain if not _is_missing(item)]
        low, high = min(numbers), max(numbers)
        if low < -1 << 63 or high >= 1 << (64 if low >= 0 else 63):
            raise TypeError(
                f"{name} holds integers from {low} to {high}, which no type of 64 bits holds; "
                "convert them with .astype(str)."
            )
        if not has_missing:
            return np.asarray(plain, np.int64 if high < 1 << 63 else np.uint64)
    if kind in ("date", _AWARE):
        if any(getattr(item, "nanosecond", 0) for item in plain):
            raise ValueError(f"{name} holds {_TOO_FINE}")
        if kind == "date" and not has_missing:
            return np.asarray(plain, "datetime64[us]")
        return object_array(map(as_label, plain))
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
        return _ANY_KIND if label == MISSING else "str"
    if isinstance(label, datetime.date | np.datetime64):
        return "date" if getattr(label, "tzinfo", None) is None else _AWARE
    if isinstance(label, tuple) and label:
        kinds = tuple(_kind(part) for part in label)
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
    """The kind of labels of two kinds together, where a missing one goes with any; else None."""
    if left == right or right == _ANY_KIND:
        return left
    if left == _ANY_KIND:
        return right
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        kinds = tuple(map(unite_kinds, left, right))
        return None if None in kinds else kinds
    return None


def _is_open(kind: Any) -> bool:
    """Whether labels beside these may be of several kinds."""
    return any(map(_is_open, kind)) if isinstance(kind, tuple) else kind == _ANY_KIND


def as_label(label: Any) -> Any:
    """The label as `encode_groups` has it: in Python's own types, dates with a time.

    Dates with a time zone are pandas' Timestamps, since Python's own compare by the clock, and
    take two hours for one where the clock is put back.
    """
    if isinstance(label, tuple):
        return tuple(as_label(part) for part in label)
    if isinstance(label, np.datetime64):
        label = label.astype("datetime64[us]").item()
    if isinstance(label, np.generic):
        return label.item()
    if isinstance(label, float) and label.is_integer():
        return int(label)
    if isinstance(label, datetime.datetime) and label.tzinfo is not None:
        import pandas as pd

        return pd.Timestamp(label)
    if isinstance(label, datetime.datetime):
        return label.to_pydatetime() if hasattr(label, "to_pydatetime") else label
    if isinstance(label, datetime.date):
        return datetime.datetime(label.year, label.month, label.day)
    return label


def check_label(label: Any, name: str) -> Any:
    """One label as `encode_groups` has it; a TypeError if it cannot be one."""
    label = as_label(label)
    if _kind(label) is None:
        raise TypeError(
            f"{name} must hold {_KINDS}; got {shortened(label)} of type {type(label).__name__}."
        )
    return label


def names_of(labels: Labels | None, *sources: Any) -> tuple[str, ...]:
    """Names of the columns that labels come from: of the first source that has them.

    An empty name is none: polars gives it to a Series that was not named.
    """
    for source in sources:
        names = getattr(source, "column_names", getattr(source, "columns", None))
        if names is None:
            name = source if isinstance(source, str) else getattr(source, "name", None)
            names = (name,) if isinstance(name, str) else ()
        names = tuple(map(str, names))
        if names and all(names) and len(names) == _n_columns_of(labels):
            check_text(names, "the name of a column of groups")
            return names
    return ()


def check_group_names(names: Any, labels: Labels | None) -> tuple[str, ...]:
    """Names of the columns that labels come from, one for each; or none."""
    listed = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"group_names must be a str or a list of str; got {described(names)}.")
    given = () if list(listed) == [""] else tuple(listed)
    check_text(given, "group_names")
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


def kind_of(labels: Labels | None) -> Any:
    """Return the kind that labels have in common; None for an empty array of labels.

    Rows without groups have the kind "no groups".
    """
    if labels is None:
        return "no groups"
    kind = None
    for label in labels:
        own = _kind(label.item() if isinstance(label, np.generic) else label)
        kind = own if kind is None else unite_kinds(kind, own)
        if not _is_open(kind):  # the first label, but where it is missing
            break
    return kind


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
    kinds = {kind_of(table) for table in tables if table.size}
    if kinds and functools.reduce(unite_kinds, kinds) is None:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} are of different kinds in the states to be merged ({found}), so equal "
            "groups cannot be told; use .regroup(str) to make them alike."
        )
    first = tables[0]
    if all(table is first or np.array_equal(table, first) for table in tables[1:]):
        return [np.arange(first.size)] * len(tables), first
    filled = [table for table in tables if table.size]
    if {"i", "u"} <= {table.dtype.kind for table in filled}:
        low, high = min(int(table[0]) for table in filled), max(int(table[-1]) for table in filled)
        if low < 0:
            raise TypeError(
                f"{name} of the states to be merged are integers from {low} to {high}, which no "
                "type of 64 bits holds; use .regroup(str) to make text of them."
            )
        filled = [table.astype(np.uint64) for table in filled]
    codes, labels = _encode_column(np.concatenate(filled), name)
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
                f"them {all_shortened(absent[:3])}; add them, or pass a function."
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
            "groups use sklearn.metrics.roc_auc_score or ScoreCounts.from_predictions."
        )
