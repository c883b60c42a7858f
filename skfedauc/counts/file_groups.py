"""Group columns of a file with one value per row, and the groups of these rows.

The module `group_columns` converts the values of the groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.arrays import object_array
from skfedauc.counts.group_columns import GroupColumn


def group_arrays(
    schema: Any,
    starts: NDArray[np.intp],
    columns: Sequence[GroupColumn],
    start: int,
    stop: int,
) -> Iterator[Any]:
    """Yield the group columns of the rows from `start` to `stop`.

    Parameters
    ----------
    schema : pyarrow.Schema
        Schema of the file, whose first fields are the group columns.
    starts : ndarray of intp, shape (n_groups + 1,)
        First row of each group.
    columns : sequence of GroupColumn
    start, stop : int
    """
    import pyarrow as pa

    first, last = np.searchsorted(starts, [start, stop - 1], side="right") - 1
    groups = slice(first, last + 1)
    bounds = np.clip(starts[first : last + 2], start, stop)
    sizes = bounds[1:] - bounds[:-1]
    for column, field in zip(columns, schema, strict=False):
        mask = None if column.is_missing is None else np.repeat(column.is_missing[groups], sizes)
        if column.values.dtype.kind != "O":
            values = pa.array(np.repeat(column.values[groups], sizes), mask=mask)
            yield values if values.type == field.type else values.view(field.type)
            continue
        places: dict[str, int] = {}
        codes = [places.setdefault(text, len(places)) for text in column.values[groups]]
        numbers = np.repeat(np.array(codes, np.int32), sizes)
        texts = pa.array(list(places), pa.string())
        yield pa.DictionaryArray.from_arrays(pa.array(numbers, mask=mask), texts)


def groups_of(columns: Sequence[Any], n_rows: int) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the first rows of the groups, and the values of the groups in each column.

    A group begins where the value of a column changes. The function makes no Python object per row.
    """
    begins = np.zeros(n_rows, np.bool_)
    begins[:1] = True
    encoded = [_encoded(column) for column in columns]
    for values, _, is_missing in encoded:
        for array in (values, is_missing):
            if array is not None:
                begins[1:] |= array[1:] != array[:-1]
    first = np.flatnonzero(begins)
    of_groups = []
    for values, texts, is_missing in encoded:
        own = values[first]
        known = own if texts is None else texts[own]
        of_groups.append((known, None if is_missing is None else is_missing[first]))
    return np.append(first, n_rows), of_groups


def _encoded(column: Any) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.bool_] | None]:
    """Return values of all rows, the texts that the values index, and where values are absent."""
    import pyarrow as pa

    is_missing = column.is_null().to_numpy() if column.null_count else None
    if pa.types.is_dictionary(column.type):
        chunks = column.unify_dictionaries().chunks
        texts = chunks[0].dictionary.to_pylist() if chunks else []
        numbers = [chunk.indices for chunk in chunks]
        codes = [n.fill_null(-1).to_numpy() if n.null_count else n.to_numpy() for n in numbers]
        # The code -1 indexes the last text.
        values = np.concatenate([np.zeros(0, np.int32), *codes])
        return values, object_array([*texts, ""]), is_missing
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return column.to_numpy(), None, is_missing
