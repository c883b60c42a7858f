"""Files of versions 1 to 3, whose checksum covers the JSON text that Python writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import compact_counts
from skfedauc.counts import parquet
from skfedauc.counts.labels import GroupColumn
from skfedauc.counts.moments import dtype_of_u2
from skfedauc.counts.tables import COUNT_COLUMNS, RANGE_COLUMNS, WEIGHT_COLUMNS, names_of_columns

_LEVELS = {1: "exact", 2: "bins", 3: "summary"}


def updated(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata in the form of version 4."""
    level = _LEVELS[facts["version"]]
    if facts.get("disclosure") != (None if level == "exact" else level):
        raise ValueError("its metadata has another level of disclosure than its version")
    columns, names = facts.get("group_columns"), facts.get("group_names")
    if type(names) is not list or len(set(map(repr, names))) < len(names):
        raise ValueError("its metadata has group_names that are no names")
    described = None
    if columns is not None:
        known = [*COUNT_COLUMNS, *WEIGHT_COLUMNS] if facts["is_weighted"] else [*COUNT_COLUMNS]
        known += RANGE_COLUMNS if level == "bins" else ()
        in_file = names_of_columns(names, len(columns), facts["n_groups"], known)
        described = [
            {**column, "name": name} for column, name in zip(columns, in_file, strict=True)
        ]
    new = {**facts, "level": level, "group_columns": described, "group_names": names}
    # The value of min_count is unknown. Counts with rows that may count several times are
    # refused where counts with this mark are.
    if facts.get("is_suppressed") or facts.get("may_repeat"):
        new["min_count"] = 1
    return new


def digest(
    facts: Mapping[str, Any],
    starts: NDArray[np.int64],
    values: Mapping[str, NDArray[Any]],
    columns: Sequence[GroupColumn],
) -> str:
    """Return the SHA-256 of the sorted JSON, the texts of the groups and the arrays."""
    if facts["version"] == 3:
        numbers = [values[name] for name in COUNT_COLUMNS[1:]]
        is_weighted = WEIGHT_COLUMNS[0] in values
        dtype = np.dtype(np.float64) if is_weighted else dtype_of_u2(*numbers)
        sums = [
            array.astype(dtype) if name.endswith("u2") else array
            for name, array in values.items()
            if name not in (*COUNT_COLUMNS, *WEIGHT_COLUMNS)
        ]
        weights = [np.stack([values[name] for name in WEIGHT_COLUMNS])] if is_weighted else []
        arrays = [*numbers, *weights, *sums]
    else:
        numbers = [compact_counts(values[name]) for name in COUNT_COLUMNS[1:]]
        stacked = [
            np.stack([values[name] for name in names])
            for names in (WEIGHT_COLUMNS, RANGE_COLUMNS)
            if names[0] in values
        ]
        arrays = [starts, values["score"], *numbers, *stacked]
    texts = [column.values.tolist() for column in columns if column.values.dtype.kind == "O"]
    for column in columns:
        of_groups = (column.values, column.is_missing)
        arrays += [of for of in of_groups if of is not None and of.dtype.kind != "O"]
    return parquet.digest(facts, texts, arrays)
