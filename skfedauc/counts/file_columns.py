"""Columns of cells or of a summary in a file, which follow the group columns.

Exact counts have the columns of `ScoreCounts.to_counts`. Binned counts have two more columns with
the ranges of the scores. Summaries have numbers of rows, sums of weights, and sums over pairs of
rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.moments import OwnMoments
from skfedauc.counts.ranges import Ranges
from skfedauc.counts.summary import PairSums, Summary, dtype_of_u2
from skfedauc.counts.tables import COUNT_COLUMNS, RANGE_COLUMNS, WEIGHT_COLUMNS

# Decimal digits of twice U, which is at most 2**81
_DIGITS = 25
_PREFIXES = ("", "lowest_", "highest_")


def cell_columns(is_binned: bool, is_weighted: bool) -> tuple[str, ...]:
    """Return the names of the columns of exact or binned counts that follow the group columns."""
    score, *numbers = COUNT_COLUMNS
    ends, weights = RANGE_COLUMNS if is_binned else (), WEIGHT_COLUMNS if is_weighted else ()
    return (score, *ends, *numbers, *weights)


def summary_columns(is_weighted: bool, has_limits: bool) -> tuple[str, ...]:
    """Return the names of the columns of a summary that follow the group columns.

    `u2` is twice Mann-Whitney's U; the other sums have the names of `OwnMoments`. ``lowest_`` and
    ``highest_`` are the sums for the lowest and for the highest AUC that ranges of scores permit.
    """
    prefixes = _PREFIXES if has_limits else _PREFIXES[:1]
    sums = [prefix + name for prefix in prefixes for name in ("u2", *OwnMoments._fields)]
    return (*COUNT_COLUMNS[1:], *(WEIGHT_COLUMNS if is_weighted else ()), *sums)


def type_of(name: str, is_weighted: bool) -> Any:
    """Return the Arrow type of a column."""
    import pyarrow as pa

    if name.endswith("u2") and not is_weighted:
        return pa.decimal128(_DIGITS, 0)
    return pa.int64() if name.startswith("n_") else pa.float64()


# Writing -------------------------------------------------------------------------------------


def columns_of(
    content: Cells | Summary, ranges: Ranges | None
) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return the first rows of the groups, and the columns by name."""
    if isinstance(content, Summary):
        names = summary_columns(content.weights is not None, content.lowest is not None)
        # `arrays` has one array of shape (4, n_groups) for the weights.
        columns = [column for array in content.arrays for column in np.atleast_2d(array)]
        return np.arange(content.n_groups + 1), dict(zip(names, columns, strict=True))
    starts, scores, negatives, positives, weights = content
    ends = () if ranges is None else ranges
    names = cell_columns(ranges is not None, weights is not None)
    columns = [scores, *ends, negatives, positives, *(() if weights is None else weights)]
    return starts, dict(zip(names, columns, strict=True))


def array_of(values: NDArray[Any], wanted: Any) -> Any:
    """Return an Arrow array with signed integers, since unsigned integers wrap around."""
    import pyarrow as pa

    if pa.types.is_decimal(wanted):
        if values.dtype.kind == "u" and int(values.max(initial=0)) < 1 << 63:
            return pa.array(values.astype(np.int64)).cast(wanted)
        return pa.array(list(map(Decimal, values.tolist())), wanted)
    return pa.array(values.astype(np.int64) if values.dtype.kind == "u" else values)


# Reading -------------------------------------------------------------------------------------


def cells_of(starts: NDArray[np.intp], columns: Mapping[str, Any]) -> tuple[Cells, Ranges | None]:
    """Return the cells in columns, and their ranges."""
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    negatives, positives = (_counts(arrays[name], name) for name in COUNT_COLUMNS[1:])
    weights, ranges = _stacked(arrays, WEIGHT_COLUMNS), _stacked(arrays, RANGE_COLUMNS)
    return Cells(starts, arrays["score"], negatives, positives, weights), ranges


def summary_of(columns: Mapping[str, Any]) -> Summary:
    """Return the summary in columns."""
    arrays = {name: columns[name].to_numpy() for name in columns if not name.endswith("u2")}
    negatives, positives = (arrays[name] for name in COUNT_COLUMNS[1:])
    for name in COUNT_COLUMNS[1:]:
        _counts(arrays[name], name)
    weights = _stacked(arrays, WEIGHT_COLUMNS)
    dtype = dtype_of_u2(negatives, positives) if weights is None else np.dtype(np.float64)
    sums = [
        PairSums(
            _u2_of(columns[f"{prefix}u2"], dtype),
            OwnMoments(*(arrays[prefix + name] for name in OwnMoments._fields)),
        )
        for prefix in _PREFIXES
        if f"{prefix}u2" in columns
    ]
    return Summary(negatives, positives, weights, *sums)


def _stacked(arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any] | None:
    known = [arrays[name] for name in names if name in arrays]
    return np.stack(known) if known else None


def _u2_of(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a column of twice U as an array of this type."""
    import pyarrow as pa

    if dtype.kind == "O":
        return np.array([int(value) for value in column.to_pylist()], dtype)
    values: NDArray[Any] = (column.cast(pa.uint64()) if dtype.kind == "u" else column).to_numpy()
    return values


def _counts(values: NDArray[np.int64], name: str) -> NDArray[Any]:
    if values.size and int(values.min()) < 0:
        place = int(np.argmax(values < 0))
        raise ValueError(f"column {name} has {values[place]} in row {place}")
    return compact_counts(values)
