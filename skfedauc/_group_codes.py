"""Group numbers of rows: the columns of groups that users pass, and their sorted labels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels
from skfedauc._labels import MISSING, Labels, Missing
from skfedauc._words import all_shortened, described

# A group's number is the position of its label among the sorted distinct labels. Rows without a
# label get the number -1. pandas is imported only for Python objects and for long columns of
# integers. narwhals reads pandas, polars and pyarrow, each of which has another fast way of
# numbering text. Short strings become integers in the same order, which sort faster.

# Largest length of strings to convert to integers
MOST_CHARACTERS = 32


def text_as_integers(text: NDArray[np.str_]) -> NDArray[np.int64] | None:
    """Return integers in the same order as strings.

    Each character is a digit. The base of a digit is the range of the characters at the position of
    the digit. The result is None if the integers do not fit in 64 bits.
    """
    n_rows, width = text.size, text.dtype.itemsize // 4
    if n_rows == 0 or not 0 < width <= MOST_CHARACTERS:
        return None
    native = np.ascontiguousarray(text, text.dtype.newbyteorder("="))
    characters = native.view(np.uint32).reshape(n_rows, width)
    # The first rows often show that the integers do not fit in 64 bits.
    if np.prod(np.ptp(characters[:1000], axis=0) + 1.0) >= 1 << 62:
        return None
    # Long rows are reduced faster, so 64 short rows at once.
    whole = n_rows // 64 * 64
    many, rest = characters[:whole].reshape(-1, 64 * width), characters[whole:]
    lows = many.min(axis=0, initial=1 << 31).reshape(64, width)
    highs = many.max(axis=0, initial=0).reshape(64, width)
    low, high = np.concatenate([lows, rest]).min(axis=0), np.concatenate([highs, rest]).max(axis=0)
    bases = high.astype(np.int64) - low + 1
    if np.prod(bases, dtype=np.float64) >= 1 << 62:
        return None
    numbers = np.zeros(n_rows, np.int64)
    for place in np.flatnonzero(bases > 1):
        numbers *= bases[place]
        numbers += characters[:, place]
        numbers -= low[place]
    return numbers


# Least number of rows for which integers of a wide range get numbers by a hash table of pandas
HASHED_ROWS = 1 << 16
# Each row's group number, -1 for rows without a label, and the sorted labels
Encoded: TypeAlias = tuple[NDArray[np.intp], Labels]


def encode_array(column: NDArray[Any], name: str) -> Encoded:
    if column.dtype.kind in "OT":
        return in_order(*_object_codes(column.astype(object, copy=False), name), name)
    if column.dtype.kind == "b":
        codes, values = number_integers(column.view(np.uint8))
        return codes, values.astype(np.bool_)
    if column.dtype.kind in "iu":
        return number_integers(column)
    if column.dtype.kind in "fM":
        has_label = column == column  # NaN and NaT are not equal to themselves.
        if not has_label.all():
            return of_all_rows(has_label, *encode_array(column[has_label], name))
        exact = _labels.exact_values(column, name)
        codes, values = number_integers(exact.view(np.int64))
        return codes, values.view(exact.dtype)
    if column.dtype.kind == "U":
        numbers = text_as_integers(column)
        if numbers is None:
            return encode_array(column.astype(object), name)
        codes, _ = number_integers(numbers)
        labels = _labels.checked_labels(column[example_rows(codes)].astype(object), name)
        if MISSING in labels.tolist():  # This label comes last.
            return encode_array(column.astype(object), name)
        return codes, labels
    raise TypeError(
        f"{name} must hold {_labels.KINDS}; got an array of {column.dtype}: convert them with "
        ".astype(str)."
    )


def _object_codes(column: NDArray[Any], name: str) -> tuple[NDArray[np.integer], Labels]:
    """Return codes and distinct labels for Python objects, with the code -1 for missing labels."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    kind = infer_dtype(column, skipna=True)
    if kind == "datetime" and any(getattr(date, "tzinfo", None) for date in column):
        column = _input.object_array(map(_labels.as_label, column))
    try:
        codes, labels = pd.factorize(column)
    except TypeError as error:
        raise _input.not_single_values(column, name) from error
    if kind.startswith("mixed"):
        # Some objects, as 1 and True, are equal, but of no common kind.
        types = {*map(type, column[codes >= 0])}
        if all(_labels.is_missing(label) for label in labels if isinstance(label, str)):
            types.discard(str)
        numbers = (int, float, Decimal, np.integer, np.floating)
        are_numbers = all(issubclass(of, numbers) and of is not bool for of in types)
        if len(types) > 1 and not are_numbers:
            raise _input.mixed_kinds([of.__name__ for of in types], name)
    labels = np.asarray(labels, object)
    # Before pandas 3.1, NUL or a surrogate ends a string.
    if kind == "string" and len(pd.factorize(np.array(["", "\0"], object))[1]) < 2:
        has_label = codes >= 0
        text = column[has_label]
        if not np.array_equal(labels[codes[has_label]], text):
            places = {label: place for place, label in enumerate(dict.fromkeys(text))}
            codes[has_label] = [places[label] for label in text]
            labels = _input.object_array(places)
    return codes, labels


def number_integers(values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return integers' numbers and sorted distinct values, without sorting a small range."""
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.size == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high < 1 << 63:
        values = values.astype(np.int64, copy=False)
        if high - low < 4 * values.size + 1024:
            offsets = (values - low).astype(np.intp, copy=False)
            return drop_unused(offsets, low + np.arange(high - low + 1))
        if values.size >= HASHED_ROWS:
            import pandas as pd

            return pd.factorize(values, sort=True)
    distinct, codes = np.unique(values, return_inverse=True)
    return codes, distinct


def example_rows(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return one row's index for each group, shape (n_groups,)."""
    example = np.zeros(int(codes.max()) + 1 if codes.size else 0, np.intp)
    example[codes] = np.arange(codes.size)
    return example


def in_order(codes: NDArray[np.integer], labels: Labels, name: str) -> Encoded:
    """Return numbers and sorted labels from codes for unsorted labels."""
    labels = _labels.checked_labels(labels, name)
    if labels.dtype.kind != "O":  # Conversion to one dtype may equate objects.
        labels, numbers = np.unique(labels, return_inverse=True)
    else:
        order = _labels.order_of(labels.tolist())
        labels, numbers = labels[order], np.argsort(order)
    # The code -1 indexes the last of these numbers, which is -1.
    return np.append(numbers, -1)[codes], labels


def of_all_rows(has_label: NDArray[np.bool_], codes: NDArray[np.intp], labels: Labels) -> Encoded:
    """Extend the labeled rows' numbers to all rows, with -1 for rows without a label."""
    of_rows = np.full(has_label.size, -1, np.intp)
    of_rows[has_label] = codes
    return of_rows, labels


def drop_unused(codes: NDArray[np.intp], labels: Labels) -> Encoded:
    """Renumber the groups that have rows, and drop the other groups' labels."""
    used = np.zeros(labels.size, np.bool_)
    used[codes] = True
    if used.all():
        return codes, labels
    return (np.cumsum(used) - 1)[codes], _labels.some_labels(labels, used)


def encode_column(column: Any, name: str) -> Encoded:
    """Return a column's numbers and sorted labels, with the number -1 for missing labels."""
    if isinstance(column, np.ndarray):
        return encode_array(column, name)
    import narwhals.stable.v2 as nw

    if hasattr(column, "dictionary_encode"):  # an array of pyarrow
        import pandas as pd

        # The labels of a dictionary take the place of its codes.
        plain = column.type.value_type if hasattr(column.type, "index_type") else column.type
        if str(plain) == "string_view":  # which older versions of pandas do not know
            plain = "large_string"
        column = pd.Series(pd.arrays.ArrowExtensionArray(column.cast(plain)))
    if nw.dependencies.is_pandas_series(column):
        if getattr(column.dtype, "storage", column.dtype) in (object, "python"):
            return encode_array(column.to_numpy(object), name)
        if column.dtype == "category":  # whose text narwhals encodes, which may be invalid
            codes, labels = column.factorize()
            return in_order(codes, np.asarray(labels, object), name)
    series = nw.from_native(column, series_only=True)
    if series.dtype.is_nested():
        raise _input.nested(f"a column of {series.dtype}", name)
    is_text = series.dtype in (nw.String, nw.Categorical, nw.Enum)
    if is_text and hasattr(column, "factorize"):  # strings in arrow arrays
        codes, labels = column.factorize()
        return in_order(codes, np.asarray(labels, object), name)
    if series.null_count():
        has_label = ~np.asarray(series.is_null().to_numpy(), np.bool_)
        return of_all_rows(has_label, *encode_column(nw.to_native(series.drop_nulls()), name))
    if is_text:  # in polars' order
        import polars as pl

        category = column.cast(pl.Categorical) if column.dtype == pl.String else column
        codes, _ = number_integers(category.to_physical().to_numpy())
        labels = _input.object_array(column.gather(example_rows(codes)).to_list())
        return in_order(codes, labels, name)
    if getattr(series.dtype, "time_zone", None) is not None:
        return encode_array(_input.object_array(series.to_list()), name)
    return encode_array(series.to_numpy(), name)


class EncodedGroups(NamedTuple):
    """Each row's group number, -1 for rows without a label, all labels, and facts on columns.

    `orders` has each column's ordered categories, () for other columns; () if no column has any.
    Ordered are pandas categories that are declared so, and polars Enum.
    """

    codes: NDArray[np.intp]
    labels: Labels
    orders: tuple[tuple[Any, ...], ...] = ()
    column_names: tuple[str, ...] = ()


def encode_groups(
    groups: Any,
    name: str = "groups",
    missing: Missing | None = None,
    n_rows: NDArray[np.int64] | None = None,
) -> EncodedGroups:
    """Return each row's group number, and the sorted group labels.

    Combinations of several columns are groups. Rows without a label in a column raise a ValueError,
    get the number -1 ("drop"), or get the label `MISSING` in the column ("group"). With None,
    `missing` is no option of the caller, so the error does not name it.
    """
    if isinstance(groups, EncodedGroups):
        has_label = groups.codes >= 0
        used = drop_unused(groups.codes[has_label], groups.labels)
        return EncodedGroups(*of_all_rows(has_label, *used), groups.orders)
    columns = _group_columns(groups, name)
    orders = tuple(map(_ordered_categories, columns))
    encoded = _encode_all(columns, name, missing, n_rows)
    return EncodedGroups(*encoded, orders if any(orders) else ())


def _ordered_categories(column: Any) -> tuple[Any, ...]:
    dtype: Any = getattr(column, "dtype", None)
    is_ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    return tuple(dtype.categories) if is_ordered else ()


def encode_columns(columns: Mapping[str, Any]) -> Encoded:
    """Return each row's group number, and the labels, from several named columns."""
    several: list[Any] = []
    for name, column in columns.items():
        own = _group_columns(column, name)
        if len(own) != 1:
            raise ValueError(f"{name} must be one column of labels; got {len(own)}.")
        several += own
        _input.check_length(name, len(own[0]), next(iter(columns)), len(several[0]))
    return _encode_all(several, ", ".join(columns), None)


def _group_columns(groups: Any, name: str) -> list[Any]:
    """Convert the group labels that users pass to columns: numpy arrays or native series."""
    groups = _input.from_array_api(_input.unwrapped(groups))
    if isinstance(groups, np.ndarray):
        is_table = groups.ndim == 2 and groups.shape[1] > 0
        return [_input.column_of(column, name) for column in (groups.T if is_table else [groups])]
    if isinstance(groups, list | tuple):
        if groups and all(isinstance(row, tuple | list) for row in groups):
            widths = {len(row) for row in groups}
            if len(widths) > 1 or widths == {0}:
                raise ValueError(
                    f"{name} must give every row the same number of labels; got rows of "
                    f"{sorted(widths)} labels."
                )
            return [_labels.label_array(column) for column in zip(*groups, strict=True)]
        return [_labels.label_array(groups)]
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_series(groups) or hasattr(groups, "dictionary_encode"):
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
    if hasattr(groups, "factorize") and not hasattr(groups, "levels"):
        return [nw.dependencies.get_pandas().Series(groups)]
    return [_input.column_of(groups, name)]


def _encode_all(
    columns: list[Any], name: str, missing: Missing | None, n_rows: NDArray[np.int64] | None = None
) -> Encoded:
    encoded = [encode_column(column, name) for column in columns]
    if missing == "group":
        encoded = [_with_missing_group(codes, labels, name) for codes, labels in encoded]
    if all(codes.min(initial=0) >= 0 for codes, _ in encoded):
        return _combined(encoded)
    has_label = np.all([codes >= 0 for codes, _ in encoded], axis=0)
    if missing != "drop":
        mend = "drop these rows, or give them a label of their own such as 'missing'"
        if missing == "raise":
            mend = "pass missing='drop', or missing='group' for a label of their own, "
            mend += repr(MISSING)
        raise ValueError(
            f"{name} has {_input.number_of_rows(~has_label, n_rows)} missing labels of "
            f"{_input.total_of_rows(has_label.size, n_rows)}; {mend}."
        )
    kept = [drop_unused(numbers[has_label], labels) for numbers, labels in encoded]
    return of_all_rows(has_label, *_combined(kept))


def _combined(encoded: list[Encoded]) -> Encoded:
    """Return numbers and labels for combinations of encoded columns."""
    if len(encoded) == 1:
        return encoded[0]
    # Number all possible combinations, then only the combinations that occur.
    combined = encoded[0][0].astype(np.int64)
    n_combinations = encoded[0][1].size
    for codes, labels in encoded[1:]:
        n_combinations *= max(labels.size, 1)
        if n_combinations >= 1 << 62:
            combined, _ = number_integers(combined)
            n_combinations = (int(combined.max()) + 1) * labels.size
        combined = combined * labels.size + codes
    codes, _ = number_integers(combined)
    # Read the label of a combination from one of its rows.
    example = example_rows(codes)
    parts = [labels[part[example]].tolist() for part, labels in encoded]
    return codes, _input.object_array(zip(*parts, strict=True))


def _with_missing_group(codes: NDArray[np.intp], labels: Labels, name: str) -> Encoded:
    """Give the rows without a label, if any, the last group, with the label `MISSING`."""
    if codes.min(initial=0) >= 0:
        return codes, labels
    if labels.size and _labels.is_missing(labels[-1]):
        raise ValueError(
            f"{name} has rows without a label, and a group called {MISSING!r} already; rename "
            "that group, or pass missing='drop'."
        )
    return np.where(codes < 0, labels.size, codes), _input.object_array([*labels.tolist(), MISSING])


def unite_labels(tables: list[Labels]) -> tuple[list[NDArray[np.intp]], Labels]:
    """Number the groups in several `ScoreCounts` by common labels."""
    kinds = {_labels.kind_of(table) for table in tables if table.size}
    if kinds and functools.reduce(_labels.unite_kinds, kinds) is None:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"groups are of different kinds in the score counts to be merged ({found}), so equal "
            "groups cannot be matched; use .regroup(str) to convert all labels to text."
        )
    first = tables[0]
    if all(table is first or np.array_equal(table, first) for table in tables[1:]):
        return [np.arange(first.size)] * len(tables), first
    filled = [table for table in tables if table.size]
    of_tables = {table.dtype.kind for table in filled}
    if {"i", "u"} <= of_tables:  # numpy would convert them to floats.
        is_small = of_tables == {"i", "u"} and min(int(table[0]) for table in filled) >= 0
        filled = [table.astype(np.uint64 if is_small else object) for table in filled]
    codes, labels = encode_column(np.concatenate(filled), "groups")
    return np.split(codes, np.cumsum([table.size for table in tables])[:-1]), labels


def places_of(labels: Labels, known: Labels) -> NDArray[np.intp]:
    """Return the position of each label among known ones; -1 without one."""
    (mine, theirs), united = unite_labels([labels, known])
    place = np.full(united.size, -1, np.intp)
    place[theirs] = np.arange(theirs.size)
    return place[mine]


def positions_of(labels: Iterable[Any], known: Sequence[Any]) -> NDArray[np.intp]:
    """Return each label's place among known labels, and their number for other labels."""
    place = {label: i for i, label in enumerate(known)}
    return np.array([place.get(label, len(known)) for label in labels], np.intp)


def map_labels(labels: Iterable[Any], to: Mapping[Any, Any] | Callable[[Any], Any]) -> Encoded:
    """Return each old label's group number and the sorted new labels."""
    listed = list(labels)
    if isinstance(to, Mapping):
        to = {_labels.as_label(old): new for old, new in to.items()}
        absent = [label for label in listed if label not in to]
        if absent:
            raise ValueError(
                f"regroup has no entry for {len(absent)} of {len(listed)} groups, among "
                f"them {all_shortened(absent[:3])}; add them, or pass a function."
            )
        sent = [to[label] for label in listed]
    elif callable(to):
        sent = [to(label) for label in listed]
    else:
        raise TypeError(
            f"regroup must be a mapping from labels to labels or a function of a label; got "
            f"{described(to)}."
        )
    if any(isinstance(label, list | np.ndarray) for label in sent):
        raise TypeError("regroup gave a list as a label; give a tuple.")
    without = sum(label is None for label in sent)
    if without:
        raise ValueError(
            f"regroup gave None for {without} of {len(listed)} groups; give each group a label."
        )
    return encode_groups(sent, "regroup")[:2]
