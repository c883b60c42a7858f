"""Conversion of score counts to the content of a Parquet file, and back.

Other tools can read the file. The file has one row per cell, with the columns of
`ScoreCounts.to_counts`, sorted by group and score. The metadata of the file has the key
``skfedauc``, a JSON object (`file_facts`).

Exact counts have version 1 of the format. Binned counts have version 2: two more columns hold the
ranges of the scores, and the metadata hold the level of disclosure and the bins. Summaries have
version 3, with one row per group and the columns of `file_columns.summary_columns`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc._words import listed, shortened
from skfedauc.counts import file_columns, parquet
from skfedauc.counts.file_facts import (
    BINNED,
    SUMMARY,
    NewerVersionError,
    check_facts,
    facts_of,
    origin_of,
)
from skfedauc.counts.file_groups import group_arrays, groups_of
from skfedauc.counts.group_columns import GroupColumn, columns_of, labels_of
from skfedauc.counts.limits import LimitError, Limits, check_limits
from skfedauc.counts.ranges import Ranges
from skfedauc.counts.state import State
from skfedauc.counts.summary import Summary, arrays_of
from skfedauc.counts.tables import names_of_columns

# Rows of a row group; each row group has its own dictionaries.
_GROUP_ROWS = 1 << 20
# Size of the sample of values that shows whether a dictionary saves space
_SAMPLE = 1 << 16
# Bytes of a value in a page besides its text, and of the pages of an empty file
_BYTES_PER_VALUE, _FEW_BYTES = 64, 1 << 20


# Writing -------------------------------------------------------------------------------------


def content_of(state: State, checkpoint: Any = None) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    state : State
    checkpoint : object, default=None
        Entry of the metadata of a checkpoint.

    Raises
    ------
    TypeError
        If reading could not restore a group label, such as a member of an Enum.
    ImportError
        If pyarrow is missing.
    """
    parquet.pyarrow_parquet()  # raise the error for a missing package
    starts, counted = file_columns.columns_of(state.content, state.ranges)
    columns = None if state.labels is None else columns_of(state.labels)
    if columns is not None and len(starts) == 1:
        # Without groups, only the names of the group columns determine the number of columns.
        columns *= max(1, len(state.origin.group_names))
    facts = facts_of(state, starts, counted, columns, checkpoint)
    facts["sha256"] = _digest(facts, arrays_of(state.content, state.ranges), columns or [])
    data = _written(facts, starts, counted, columns or [], "zstd")
    if parquet.is_too_large(parquet.opened(data).metadata, len(data)):
        # Some content, such as the scores 0, 1, 2, ..., compresses very well. A reader would refuse
        # such a small file, because its content may exhaust the memory.
        data = _written(facts, starts, counted, columns or [], "none")
    return data


def _digest(
    facts: Mapping[str, Any], arrays: list[NDArray[Any]], columns: Sequence[GroupColumn]
) -> str:
    """Return the SHA-256 of the metadata, the labels of the groups and the arrays of the counts."""
    texts = []
    for column in columns:
        if column.values.dtype.kind == "O":
            texts.append(column.values.tolist())
        else:
            arrays = [*arrays, column.values]
        if column.is_missing is not None:
            arrays = [*arrays, column.is_missing]
    return parquet.digest(facts, texts, arrays)


def _written(
    facts: Mapping[str, Any],
    starts: NDArray[np.intp],
    counted: Mapping[str, NDArray[Any]],
    columns: Sequence[GroupColumn],
    compression: str,
) -> bytes:
    schema = _schema(facts, [column.is_missing is not None for column in columns])
    floats = {name: values for name, values in counted.items() if values.dtype.kind == "f"}
    varied = [name for name, values in floats.items() if not _repeats(values)]
    return parquet.written(
        schema,
        _tables(schema, starts, counted, columns),
        facts,
        _GROUP_ROWS,
        compression=compression,
        use_dictionary=[name for name in schema.names if name not in varied],
        column_encoding=dict.fromkeys(varied, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
    )


def _repeats(values: NDArray[np.float64]) -> bool:
    """Return whether a dictionary of the values takes less space than the values."""
    if values.size > _SAMPLE:
        values = values[np.random.default_rng(0).integers(values.size, size=_SAMPLE)]
    return np.unique(values).size <= values.size // 2


def _tables(
    schema: Any,
    starts: NDArray[np.intp],
    counted: Mapping[str, NDArray[Any]],
    columns: Sequence[GroupColumn],
) -> Iterator[Any]:
    """Yield the rows of each row group."""
    import pyarrow as pa

    n_rows = int(starts[-1])
    for start in range(0, n_rows, _GROUP_ROWS):
        stop = min(start + _GROUP_ROWS, n_rows)
        arrays = [*group_arrays(schema, starts, columns, start, stop)]
        arrays += [
            file_columns.array_of(values[start:stop], schema.field(name).type)
            for name, values in counted.items()
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)


def _schema(facts: Mapping[str, Any], may_lack: Sequence[bool]) -> Any:
    """Return the Arrow schema that the metadata determine."""
    import pyarrow as pa

    types = {
        "boolean": pa.bool_(),
        "integer": pa.int64(),
        "unsigned": pa.uint64(),
        "text": pa.dictionary(pa.int32(), pa.string()),
        "date": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"),
        "coded": pa.dictionary(pa.int32(), pa.string()),
    }
    is_weighted = facts["is_weighted"]
    if facts["version"] == SUMMARY:
        counted = file_columns.summary_columns(is_weighted, facts["has_limits"])
    else:
        counted = file_columns.cell_columns(facts["version"] == BINNED, is_weighted)
    kinds = [column["kind"] for column in facts["group_columns"] or []]
    names = names_of_columns(facts["group_names"], len(kinds), facts["n_groups"], counted)
    fields = [
        pa.field(name, types[kind], nullable=lacks)
        for name, kind, lacks in zip(names, kinds, may_lack, strict=False)
    ]
    fields += [
        pa.field(name, file_columns.type_of(name, is_weighted), nullable=False) for name in counted
    ]
    return pa.schema(fields)


# Reading -------------------------------------------------------------------------------------


def read_content(data: Any, name: str, limits: Limits | None = None) -> tuple[State, Any]:
    """Return the score counts and the entry of a checkpoint, after checking that a file is whole.

    Pass the result to `state.restored`: a checksum does not show that rows can have these counts.

    Parameters
    ----------
    data : bytes-like
        Content of the file.
    name : str
        Name of the file for messages.
    limits : Limits, default=None
        What the receiver accepts; None means the default limits.

    Raises
    ------
    ValueError
        If `data` is damaged, or `content_of` of this or an earlier version did not write `data`. If
        `data` is above a limit.
    ImportError
        If pyarrow is missing.
    """
    limits = check_limits(limits)
    try:
        limits.check("max_bytes", len(data), "it has {} bytes or more")
        return _content_in(data, name, limits)
    except LimitError as error:
        raise LimitError(f"{name} is refused: {error}.") from None


def _content_in(data: Any, name: str, limits: Limits) -> tuple[State, Any]:
    file, facts = parquet.opened_with_facts(data, name)
    if facts is None:
        raise parquet.OtherFileError(
            f"{name} is a Parquet file, but ScoreCounts.save did not write it: its metadata has no "
            "key 'skfedauc'. A table of counts is read by "
            "ScoreCounts.from_counts(**pandas.read_parquet(path))."
        )
    if isinstance(facts, dict) and facts.get("format") == parquet.PRIVATE_FORMAT:
        raise parquet.OtherFileError(
            f"{name} holds counts with noise for differential privacy, not exact counts. Read it "
            "by skfedauc.privacy.PrivateCounts.load or from_bytes."
        )
    try:
        check_facts(facts, name, limits)
        return _read(file, facts, data, limits), facts.get("checkpoint")
    except (NewerVersionError, LimitError):
        raise
    except Exception as error:
        raise parquet.damaged(name, error) from error


def _read(file: Any, facts: dict[str, Any], data: Any, limits: Limits) -> State:
    columns = facts["group_columns"]
    table, counted_names = _table(file, facts, data, limits)
    n_columns = len(columns or [])
    starts, values = groups_of(table.columns[:n_columns], table.num_rows)
    counted = dict(zip(counted_names, table.columns[n_columns:], strict=True))
    content, ranges = _counts(starts, counted, facts)
    described = [
        GroupColumn(column["kind"], own, is_missing, column.get("zone"), column.get("labels"))
        for column, (own, is_missing) in zip(columns or [], values, strict=True)
    ]
    if _digest(facts, arrays_of(content, ranges), described) != facts["sha256"]:
        raise ValueError("its SHA-256 is another one")
    origin = origin_of(facts)
    labels = None if columns is None else labels_of(described)
    return State(content, labels, origin, ranges)


def _table(file: Any, facts: dict[str, Any], data: Any, limits: Limits) -> tuple[Any, list[str]]:
    """Return the table of a file, and the names of the columns after the group columns."""
    kinds = [column["kind"] for column in facts["group_columns"] or []]
    fields = _schema(facts, [kind != "text" for kind in kinds])
    _check_columns(file.schema_arrow, fields)
    texts = [field.name for field in fields if hasattr(field.type, "value_type")]
    _check_sizes(file.metadata, facts, len(data), len(texts), limits)
    table = parquet.opened(data, file.metadata, texts).read(use_threads=False)
    table.validate(full=True)
    _check_texts(table, texts, limits)
    for field, column in zip(fields, table.columns, strict=True):
        if column.type != field.type:
            raise ValueError(f"column {shortened(field.name)} has the type {column.type}")
        if column.null_count and not field.nullable:
            place = int(np.argmax(column.is_null().to_numpy()))
            raise ValueError(f"column {shortened(field.name)} has no value in row {place}")
    return table, fields.names[len(kinds) :]


def _counts(
    starts: NDArray[np.intp], counted: Mapping[str, Any], facts: Mapping[str, Any]
) -> tuple[Cells | Summary, Ranges | None]:
    """Return the counts, after comparing the totals of the counts with the metadata."""
    content: Cells | Summary
    if facts["version"] == SUMMARY:
        if starts.size - 1 != starts[-1]:
            raise ValueError("it is a summary with several rows of a group")
        content, ranges = file_columns.summary_of(counted), None
        of_classes: tuple[NDArray[Any], ...] = (content.n_negatives, content.n_positives)
    else:
        content, ranges = file_columns.cells_of(starts, counted)
        of_classes = content.negatives, content.positives
    found = {"n_groups": starts.size - 1}
    for name, numbers in zip(("n_negatives", "n_positives"), of_classes, strict=True):
        found[name] = int(numbers.sum(dtype=np.uint64))
    for name, number in found.items():
        if facts[name] != number:
            raise ValueError(f"its metadata has {name} {facts[name]}, and its columns {number}")
    return content, ranges


def _check_columns(found: Any, expected: Any) -> None:
    """Refuse columns of other names or types."""
    if found.names != expected.names:
        raise ValueError(
            f"it has the columns {listed(found.names, most=8)}; its metadata calls for "
            f"{listed(expected.names, most=8)}"
        )
    for name, has, wants in zip(expected.names, found.types, expected.types, strict=True):
        wanted = getattr(wants, "value_type", wants)
        if has != wanted:
            raise ValueError(f"column {shortened(name)} has the type {has} instead of {wanted}")


def _check_sizes(
    metadata: Any, facts: Mapping[str, Any], size: int, n_texts: int, limits: Limits
) -> None:
    """Refuse numbers of rows that differ, and content that would exhaust the memory."""
    numbers = parquet.row_numbers(metadata)
    if min(numbers, default=0) < 0 or not sum(numbers) == metadata.num_rows == facts["n_cells"]:
        raise ValueError(
            f"it has {metadata.num_rows} rows, {sum(numbers)} in its row groups and "
            f"{facts['n_cells']} by its metadata"
        )
    in_memory = parquet.size_in_memory(metadata)
    if parquet.is_too_large(metadata, size):
        raise ValueError(
            f"its content would take {in_memory:,} bytes of memory, and the file has {size:,} bytes"
        )
    limits.check("max_bytes", in_memory, "its content would take {} bytes of memory")
    # A character of UTF-8 has up to 4 bytes. Pages hold a text once, or once per row.
    per_row = _BYTES_PER_VALUE * metadata.num_columns + 4 * limits.max_label_length * n_texts
    if parquet.size_declared(metadata) > _FEW_BYTES + per_row * metadata.num_rows:
        raise LimitError(
            f"its {metadata.num_rows:,} rows would take {in_memory:,} bytes of memory, so it has "
            f"labels above the receiver's limit of {limits.max_label_length:,} characters; pass "
            "limits=Limits(max_label_length=...) to accept it"
        )


def _check_texts(table: Any, names: Sequence[str], limits: Limits) -> None:
    """Refuse long labels before Python objects are made of them."""
    from pyarrow import compute

    chunks = (chunk for name in names for chunk in table.column(name).chunks)
    lengths = (compute.max(compute.utf8_length(chunk.dictionary)).as_py() for chunk in chunks)
    limits.check_text(max((length or 0 for length in lengths), default=0))
