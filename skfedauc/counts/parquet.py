"""Score counts as the content of a Parquet file, which other tools can read, and back.

The file has one row per cell, with the columns of `ScoreCounts.to_counts`, sorted by group and
score. The metadata of the file has the key ``skfedauc``, a JSON object with what the columns do not
tell: version, totals, group names, class labels, sources, and the SHA-256 of the content.

Exact counts have version 1 of the format. Binned counts have version 2: two more columns hold the
ranges of the scores, and the metadata holds the level of disclosure and the bins. Summaries have
version 3, with one row per group and the columns of `summary_columns`: numbers of rows, sums of
weights, and sums over pairs of rows.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib.metadata import PackageNotFoundError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc._input.arrays import object_array
from skfedauc._kernel import Cells, compact_counts
from skfedauc._words import listed, shortened
from skfedauc.counts.bins import Bins
from skfedauc.counts.group_columns import KINDS, GroupColumn, columns_of, labels_of
from skfedauc.counts.label_entries import entry_of, label_of
from skfedauc.counts.moments import OwnMoments
from skfedauc.counts.origin import Origin, Source
from skfedauc.counts.ranges import Ranges
from skfedauc.counts.summary import PairSums, Summary, arrays_of, dtype_of_u2
from skfedauc.counts.tables import COUNT_COLUMNS, RANGE_COLUMNS, WEIGHT_COLUMNS, names_of_columns
from skfedauc.counts.withheld import Withheld

_FORMAT = "skfedauc counts"
# Versions of files of exact counts, of binned counts and of summaries
_EXACT, _BINNED, _SUMMARY = 1, 2, 3
_LEVELS = {_EXACT: None, _BINNED: "bins", _SUMMARY: "summary"}
# Decimal digits of twice U, which is at most 2**81
_DIGITS = 25
# Format of the files of `PrivateCounts`, which have another reader
PRIVATE_FORMAT = "skfedauc private counts"
_KEY = b"skfedauc"
_MAGIC = b"PAR1"
_CUT_OFF = "its end is missing, so it was probably cut off when it was copied"
# Rows of a row group; each row group has its own dictionaries.
_GROUP_ROWS = 1 << 20
# Values of a sample that shows whether values repeat, so that a dictionary saves space
_SAMPLE = 1 << 16
# Largest size of content in memory: this number of bytes, or this number of times its file.
_SMALL, _MOST_EXPANDED = 1 << 28, 1 << 10
# Types of the metadata that every file has
_TYPES: dict[str, type] = {
    "package": str,
    "n_cells": int,
    "n_groups": int,
    "n_negatives": int,
    "n_positives": int,
    "n_missing": int,
    "is_weighted": bool,
    "group_names": list,
    "labels_seen": list,
    "sources": list,
    "sha256": str,
}


class OtherFileError(ValueError):
    """Error for data that are no score counts."""


class DamagedFileError(ValueError):
    """Error for data that cannot be read; its cause is an error of the reader."""


class Content(NamedTuple):
    """Content of a file.

    Attributes
    ----------
    cells : Cells or Summary
    labels : ndarray or None
    origin : Origin
        Its classes are a plain tuple.
    ranges : ndarray or None
        Lowest and highest score of the rows of each cell; None for exact counts.
    checkpoint : object
        What `content_of` got as `checkpoint`.
    """

    cells: Cells | Summary
    labels: NDArray[Any] | None
    origin: Origin
    ranges: Ranges | None = None
    checkpoint: Any = None


def pyarrow_parquet() -> Any:
    """Return the module `pyarrow.parquet`.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    """
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            "Files of ScoreCounts need pyarrow, which is not installed by default. Install it by: "
            'pip install "skfedauc[files]"'
        ) from error


# Writing -------------------------------------------------------------------------------------


def content_of(content: Content) -> bytes:
    """Return the content of a file.

    Raises
    ------
    TypeError
        If a group label cannot be restored from a file, such as a member of an Enum.
    ImportError
        If pyarrow is not installed.
    """
    pyarrow_parquet()  # raise the error for a missing package
    cells, labels, origin, ranges, checkpoint = content
    starts, counted = _table_of(content)
    columns = None if labels is None else columns_of(labels)
    if columns is not None and len(starts) == 1:
        columns *= max(1, len(origin.group_names))  # only the names tell the number of columns
    facts: dict[str, Any] = {
        "format": _FORMAT,
        "version": _version_of(content),
        "package": _version_of_package(),
        "n_cells": int(starts[-1]),
        "n_groups": starts.size - 1,
        "n_negatives": int(counted["n_negatives"].sum(dtype=np.uint64)),
        "n_positives": int(counted["n_positives"].sum(dtype=np.uint64)),
        "n_missing": origin.n_missing,
        "is_weighted": cells.weights is not None,
        "group_names": list(origin.group_names),
        "group_columns": None if columns is None else list(map(_facts_of, columns)),
        "labels_seen": list(origin.classes[0]),
        "pos_label": origin.classes[1],
        "sources": [source._asdict() for source in origin.sources],
    }
    if ranges is not None:
        facts["disclosure"] = "bins"
        facts["bins"] = None if origin.bins is None else origin.bins.to_dict()
    if isinstance(cells, Summary):
        facts["disclosure"] = "summary"
        facts["has_limits"] = cells.lowest is not None
    if origin.withheld != Withheld():
        facts["withheld"] = _facts_of_withheld(origin.withheld)
    if checkpoint is not None:
        facts["checkpoint"] = checkpoint
    facts["sha256"] = _digest(facts, content, columns or [])
    data = _written(facts, content, columns or [], "zstd")
    if _is_too_large(_opened(data).metadata, facts, len(data)):
        # Some content, such as the scores 0, 1, 2, ..., is compressed so well that a reader would
        # take the file for one that is made to exhaust the memory.
        data = _written(facts, content, columns or [], "none")
    return data


def _version_of_package() -> str:
    try:
        return skfedauc.__version__
    except PackageNotFoundError:  # a cluster may send the package to its workers as a plain folder
        return "unknown"


def _facts_of(column: GroupColumn) -> dict[str, Any]:
    facts = {"kind": column.kind, "zone": column.zone, "labels": column.labels}
    return {name: value for name, value in facts.items() if value is not None}


def _digest(facts: Mapping[str, Any], content: Content, columns: Sequence[GroupColumn]) -> str:
    """Return the SHA-256 of the metadata, the cells and the labels of the groups, as hexadecimal.

    Text is UTF-8. Numbers have the byte order of most processors, little-endian.
    """
    plain = {name: value for name, value in facts.items() if name != "sha256"}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode())
    arrays = arrays_of(content.cells, content.ranges)
    for column in columns:
        if column.values.dtype.kind == "O":
            digest.update(json.dumps(column.values.tolist(), ensure_ascii=False).encode())
        else:
            arrays.append(column.values)
        if column.is_missing is not None:
            arrays.append(column.is_missing)
    for array in arrays:
        if array.dtype.kind == "O":  # integers of more than 64 bits
            digest.update(json.dumps(array.tolist()).encode())
            continue
        ordered = array.astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(np.ascontiguousarray(ordered).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _written(
    facts: Mapping[str, Any],
    content: Content,
    columns: Sequence[GroupColumn],
    compression: str,
) -> bytes:
    import pyarrow as pa

    starts, counted = _table_of(content)
    schema = _schema(facts, [column.is_missing is not None for column in columns])
    names = schema.names
    floats = {name: values for name, values in counted.items() if values.dtype.kind == "f"}
    varied = [name for name, values in floats.items() if not _repeats(values)]
    sink = pa.BufferOutputStream()
    with pyarrow_parquet().ParquetWriter(
        sink,
        schema,
        compression=compression,
        use_dictionary=[name for name in names if name not in varied],
        column_encoding=dict.fromkeys(varied, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        for start in range(0, int(starts[-1]), _GROUP_ROWS):
            stop = min(start + _GROUP_ROWS, int(starts[-1]))
            arrays = [*_group_arrays(schema, starts, columns, start, stop)]
            arrays += [
                _array(values[start:stop], schema.field(name).type)
                for name, values in counted.items()
            ]
            writer.write_table(
                pa.Table.from_arrays(arrays, schema=schema), row_group_size=_GROUP_ROWS
            )
        writer.add_key_value_metadata({_KEY: json.dumps(facts)})
    return bytes(sink.getvalue())


def _schema(facts: Mapping[str, Any], may_lack: Iterable[bool]) -> Any:
    """Return the Arrow schema that the metadata calls for."""
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
    if facts["version"] == _SUMMARY:
        counted = summary_columns(facts["is_weighted"], facts["has_limits"])
    else:
        counted = _names_of_counts(facts["version"] == _BINNED, facts["is_weighted"])
    kinds = [column["kind"] for column in facts["group_columns"] or []]
    names = names_of_columns(facts["group_names"], len(kinds), facts["n_groups"], counted)
    fields = [
        pa.field(name, types[kind], nullable=lacks)
        for name, kind, lacks in zip(names, kinds, may_lack, strict=False)
    ]
    for name in counted:
        of_count = pa.int64() if name.startswith("n_") else pa.float64()
        if facts["version"] == _SUMMARY and name.endswith("u2") and not facts["is_weighted"]:
            of_count = pa.decimal128(_DIGITS, 0)
        fields.append(pa.field(name, of_count, nullable=False))
    return pa.schema(fields)


def _repeats(values: NDArray[np.float64]) -> bool:
    """Return whether values repeat so much that a dictionary takes less space."""
    if values.size > _SAMPLE:
        values = values[np.random.default_rng(0).integers(values.size, size=_SAMPLE)]
    return np.unique(values).size <= values.size // 2


def _group_arrays(
    schema: Any,
    starts: NDArray[np.int64],
    columns: Sequence[GroupColumn],
    start: int,
    stop: int,
) -> Iterator[Any]:
    """Yield the group columns of the cells from `start` to `stop`."""
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


def _names_of_counts(is_binned: bool, is_weighted: bool) -> tuple[str, ...]:
    """Return the names of the columns that follow the group columns."""
    score, *numbers = COUNT_COLUMNS
    ends, weights = RANGE_COLUMNS if is_binned else (), WEIGHT_COLUMNS if is_weighted else ()
    return (score, *ends, *numbers, *weights)


def summary_columns(is_weighted: bool, has_limits: bool) -> tuple[str, ...]:
    """Return the names of the columns of a summary that follow the group columns.

    `u2` is twice Mann-Whitney's U, and the names of the other sums are those of `OwnMoments`.
    ``lowest_`` and ``highest_`` are the sums for the lowest and for the highest AUC that ranges of
    scores permit.
    """
    prefixes = ("", "lowest_", "highest_") if has_limits else ("",)
    sums = [prefix + name for prefix in prefixes for name in ("u2", *OwnMoments._fields)]
    return (*COUNT_COLUMNS[1:], *(WEIGHT_COLUMNS if is_weighted else ()), *sums)


def _version_of(content: Content) -> int:
    if isinstance(content.cells, Summary):
        return _SUMMARY
    return _EXACT if content.ranges is None else _BINNED


def _table_of(content: Content) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return the first rows of the groups, and the columns that follow the group columns."""
    if not isinstance(content.cells, Summary):
        return content.cells.starts, _columns_of_cells(content.cells, content.ranges)
    summary = content.cells
    names = summary_columns(summary.weights is not None, summary.lowest is not None)
    # `arrays` has one array of shape (4, n_groups) for the weights.
    columns = [column for array in summary.arrays for column in np.atleast_2d(array)]
    return np.arange(summary.n_groups + 1), dict(zip(names, columns, strict=True))


def _columns_of_cells(cells: Cells, ranges: Ranges | None) -> dict[str, NDArray[Any]]:
    """Return the columns that follow the group columns by name."""
    _, scores, negatives, positives, weights = cells
    ends = () if ranges is None else ranges
    names = _names_of_counts(ranges is not None, weights is not None)
    columns = [scores, *ends, negatives, positives, *(() if weights is None else weights)]
    return dict(zip(names, columns, strict=True))


def _array(values: NDArray[Any], wanted: Any) -> Any:
    """Return an Arrow array; counts are signed, as unsigned columns wrap around in subtractions."""
    import pyarrow as pa

    if pa.types.is_decimal(wanted):
        if values.dtype.kind == "u" and int(values.max(initial=0)) < 1 << 63:
            return pa.array(values.astype(np.int64)).cast(wanted)
        return pa.array(list(map(Decimal, values.tolist())), wanted)
    return pa.array(values.astype(np.int64) if values.dtype.kind == "u" else values)


# Reading -------------------------------------------------------------------------------------


def read_content(data: Any, name: str) -> Content:
    """Return what a file holds, after checking that the file is whole.

    `check_state` has to check the result: a checksum does not show that rows have these counts.

    Parameters
    ----------
    data : bytes-like
        Content of the file.
    name : str
        Name of the file for messages.

    Raises
    ------
    ValueError
        If `data` was not written by `content_of`, is damaged, or was written by a newer version.
    ImportError
        If pyarrow is not installed.
    """
    pyarrow_parquet()  # raise the error for a missing package
    if _is_cut_off(data):
        raise damaged(name, ValueError(_CUT_OFF))
    if bytes(data[:4]) != _MAGIC:
        raise OtherFileError(
            f"{name} is not a file of ScoreCounts, which begins with {_MAGIC!r}; got "
            f"{bytes(data[:4])!r}. Pass what ScoreCounts.save or to_bytes wrote."
        )
    try:
        file = _opened(data)
        text = (file.metadata.metadata or {}).get(_KEY)
        facts = None if text is None else json.loads(text)
    except Exception as error:  # a damaged file may raise any exception
        raise damaged(name, error) from error
    if facts is None:
        raise OtherFileError(
            f"{name} is a Parquet file, but ScoreCounts.save did not write it: its metadata has no "
            "key 'skfedauc'. A table of counts is read by "
            "ScoreCounts.from_counts(**pandas.read_parquet(path))."
        )
    if isinstance(facts, dict) and facts.get("format") == PRIVATE_FORMAT:
        raise OtherFileError(
            f"{name} holds counts with noise for differential privacy, not exact counts. Read it "
            "by skfedauc.privacy.PrivateCounts.load or from_bytes."
        )
    try:
        _check_version(facts, name)
        return _read(file, facts, data)
    except _NewerVersion:
        raise
    except Exception as error:
        raise damaged(name, error) from error


def _is_cut_off(data: Any) -> bool:
    """Return whether data begin like a Parquet file, but do not end like one."""
    head, tail = bytes(data[: len(_MAGIC)]), bytes(data[-len(_MAGIC) :])
    return _MAGIC.startswith(head) and (tail != _MAGIC or len(data) == len(_MAGIC))


def damaged(name: str, error: Exception) -> DamagedFileError:
    """Return the error for a file that cannot be read."""
    reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
    return DamagedFileError(
        f"{name} is no file of ScoreCounts, or is damaged: {reason[:400].rstrip('.')}. Ask for "
        "another copy."
    )


class _NewerVersion(ValueError):
    """A file that a newer version of this package wrote."""


def _check_version(facts: Any, name: str) -> None:
    if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
        raise ValueError("its metadata has another format")
    version = facts.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its metadata has the version {shortened(version)}")
    if version > _SUMMARY:
        raise _NewerVersion(
            f"{name} has version {version} of the file format, written by skfedauc "
            f"{shortened(facts.get('package'))}; skfedauc {_version_of_package()} reads versions "
            f"up to {_SUMMARY}. Upgrade by: pip install --upgrade skfedauc"
        )


def _read(file: Any, facts: dict[str, Any], data: Any) -> Content:
    _check_facts(facts)
    columns = facts["group_columns"]
    fields = _schema(facts, [column["kind"] != "text" for column in columns or []])
    _check_columns(file.schema_arrow, fields)
    _check_sizes(file.metadata, facts, len(data))
    texts = [field.name for field in fields if hasattr(field.type, "value_type")]
    table = _opened(data, file.metadata, texts).read(use_threads=False)
    table.validate(full=True)
    for field, column in zip(fields, table.columns, strict=True):
        if column.type != field.type:
            raise ValueError(f"column {shortened(field.name)} has the type {column.type}")
        if column.null_count and not field.nullable:
            place = int(np.argmax(column.is_null().to_numpy()))
            raise ValueError(f"column {shortened(field.name)} has no value in row {place}")
    n_columns = len(columns or [])
    of_groups, of_cells = table.columns[:n_columns], table.columns[n_columns:]
    starts, values = _groups_of(of_groups, table.num_rows)
    counted = dict(zip(fields.names[n_columns:], of_cells, strict=True))
    cells: Cells | Summary
    if facts["version"] == _SUMMARY:
        if starts.size - 1 != table.num_rows:
            raise ValueError("it is a summary with several rows of a group")
        cells, ranges = _summary_of(counted), None
        of_classes: tuple[NDArray[Any], ...] = (cells.n_negatives, cells.n_positives)
    else:
        cells, ranges = _cells_of(starts, counted)
        of_classes = cells.negatives, cells.positives
    found = {"n_groups": starts.size - 1}
    for name, numbers in zip(("n_negatives", "n_positives"), of_classes, strict=True):
        found[name] = int(numbers.sum(dtype=np.uint64))
    for name, number in found.items():
        if facts[name] != number:
            raise ValueError(f"its metadata has {name} {facts[name]}, and its columns {number}")
    described = [
        GroupColumn(column["kind"], own, is_missing, column.get("zone"), column.get("labels"))
        for column, (own, is_missing) in zip(columns or [], values, strict=True)
    ]
    if _digest(facts, Content(cells, None, Origin(), ranges), described) != facts["sha256"]:
        raise ValueError("its SHA-256 is another one")
    sources = tuple(Source(**source) for source in facts["sources"])
    if not sources and "checkpoint" not in facts:
        raise ValueError("its metadata has no sources")
    origin = Origin(
        facts["n_missing"],
        tuple(facts["group_names"]),
        (tuple(facts["labels_seen"]), facts["pos_label"]),  # type: ignore[arg-type]
        sources,
        bool(sources),
        _bins_of(facts),
        _withheld_of(facts),
    )
    labels = None if columns is None else labels_of(described)
    return Content(cells, labels, origin, ranges, facts.get("checkpoint"))


def _cells_of(starts: NDArray[np.int64], columns: Mapping[str, Any]) -> tuple[Cells, Ranges | None]:
    """Return the cells and their ranges from the columns that follow the group columns."""
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    weights = [arrays[name] for name in WEIGHT_COLUMNS if name in arrays]
    ends = [arrays[name] for name in RANGE_COLUMNS if name in arrays]
    negatives, positives = (_counts(arrays[name], name) for name in COUNT_COLUMNS[1:])
    cells = Cells(
        starts, arrays["score"], negatives, positives, np.stack(weights) if weights else None
    )
    return cells, np.stack(ends) if ends else None


def _summary_of(columns: Mapping[str, Any]) -> Summary:
    """Return the summary from the columns that follow the group columns."""
    numbers = {name: columns[name].to_numpy() for name in COUNT_COLUMNS[1:]}
    for name, values in numbers.items():
        _counts(values, name)
    negatives, positives = numbers.values()
    weights = [columns[name].to_numpy() for name in WEIGHT_COLUMNS if name in columns]
    dtype = np.dtype(np.float64) if weights else dtype_of_u2(negatives, positives)
    sums = []
    for prefix in ("", "lowest_", "highest_"):
        if f"{prefix}u2" in columns:
            moments = [columns[prefix + name].to_numpy() for name in OwnMoments._fields]
            sums.append(PairSums(_u2_of(columns[f"{prefix}u2"], dtype), OwnMoments(*moments)))
    return Summary(negatives, positives, np.stack(weights) if weights else None, *sums)


def _u2_of(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a column of twice U as an array of this type."""
    import pyarrow as pa

    if dtype.kind == "O":
        return np.array([int(value) for value in column.to_pylist()], dtype)
    values: NDArray[Any] = (column.cast(pa.uint64()) if dtype.kind == "u" else column).to_numpy()
    return values


def _bins_of(facts: Mapping[str, Any]) -> Bins | None:
    """Return the bins of the metadata; None for exact counts and for ranges without a rule."""
    found = facts.get("bins")
    return None if found is None else Bins.from_dict(found)


def _facts_of_withheld(withheld: Withheld) -> dict[str, Any]:
    labels = withheld.labels
    known = None if labels is None else [entry_of(label) for label in labels]
    return {**withheld._asdict(), "labels": known}


def _withheld_of(facts: Mapping[str, Any]) -> Withheld:
    found = facts.get("withheld")
    if found is None:
        return Withheld()
    labels = found["labels"]
    known = None if labels is None else tuple(map(label_of, labels))
    return Withheld(**{**found, "labels": known})


def _opened(data: Any, metadata: Any = None, texts: Sequence[str] = ()) -> Any:
    """Return the file; the columns `texts` are read as numbers of their distinct texts."""
    import pyarrow as pa

    return pyarrow_parquet().ParquetFile(
        pa.BufferReader(pa.py_buffer(data)),
        metadata=metadata,
        read_dictionary=list(texts),
        page_checksum_verification=True,
        pre_buffer=False,
        # By default, pyarrow refuses metadata of more than 100 MB, such as of a million sources.
        thrift_string_size_limit=min(len(data), (1 << 31) - 1),
    )


def _check_facts(facts: dict[str, Any]) -> None:
    """Refuse metadata without a value that is needed, or with one of another type."""
    for name, kind in _TYPES.items():
        if type(facts.get(name)) is not kind:
            raise ValueError(f"its metadata has no {name} of type {kind.__name__}")
    of_text = facts["group_names"]
    classes = [*facts["labels_seen"], *[facts["pos_label"]] * (facts["pos_label"] is not None)]
    if not all(type(name) is str for name in of_text) or len(set(of_text)) < len(of_text):
        raise ValueError("its metadata has group_names that are no names")
    if not all(type(label) in (int, float, str) and label == label for label in classes):
        raise ValueError("its metadata has labels of classes that are none")
    keys = set(Source._fields)
    if not all(type(source) is dict and set(source) == keys for source in facts["sources"]):
        raise ValueError("its metadata has sources that are none")
    withheld = facts.get("withheld")
    if withheld is not None and not (
        type(withheld) is dict
        and set(withheld) == set(Withheld._fields)
        and isinstance(withheld["labels"], list | None)
    ):
        raise ValueError("its metadata has withheld groups that are none")
    level = _LEVELS[facts["version"]]
    if facts.get("disclosure") != level or ("bins" in facts) != (level == "bins"):
        raise ValueError("its metadata has another level of disclosure than its version")
    if type(facts.get("has_limits")) is not (bool if level == "summary" else type(None)):
        raise ValueError("its metadata has no has_limits of type bool")
    columns = facts["group_columns"]
    if columns is not None and not (type(columns) is list and columns):
        raise ValueError("its metadata has group_columns that are none")
    for column in columns or []:
        if type(column) is not dict or column.get("kind") not in KINDS:
            raise ValueError("its metadata has a column of groups of no known kind")
        has_zone, has_labels = type(column.get("zone")) is str, type(column.get("labels")) is list
        if has_zone != (column["kind"] == "instant") or has_labels != (column["kind"] == "coded"):
            raise ValueError("its metadata does not describe the labels of a column of groups")


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


def _check_sizes(metadata: Any, facts: Mapping[str, Any], size: int) -> None:
    """Refuse numbers of rows that differ, and content that would exhaust the memory."""
    numbers = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(numbers, default=0) < 0 or not sum(numbers) == metadata.num_rows == facts["n_cells"]:
        raise ValueError(
            f"it has {metadata.num_rows} rows, {sum(numbers)} in its row groups and "
            f"{facts['n_cells']} by its metadata"
        )
    if _is_too_large(metadata, facts, size):
        raise ValueError(
            f"its content would take {_size_in_memory(metadata, facts):,} bytes of memory, and the "
            f"file has {size:,} bytes"
        )


def _is_too_large(metadata: Any, facts: Mapping[str, Any], size: int) -> bool:
    return _size_in_memory(metadata, facts) > max(_SMALL, _MOST_EXPANDED * size)


def _size_in_memory(metadata: Any, facts: Mapping[str, Any]) -> int:
    """Bytes of the values, and of the pages that hold them."""
    # The sizes of single columns are not read: pyarrow ends the process if they are damaged.
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    of_pages = sum(abs(group.total_byte_size) for group in groups)
    return int(8 * facts["n_cells"] * metadata.num_columns + of_pages)


def _groups_of(columns: Sequence[Any], n_rows: int) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the first rows of the groups, and the values of the groups in each column.

    A group begins where the value of a column changes. No Python object is made for a row.
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
        of_groups.append(
            (
                own if texts is None else texts[own],
                None if is_missing is None else is_missing[first],
            )
        )
    return np.append(first, n_rows).astype(np.int64), of_groups


def _encoded(column: Any) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.bool_] | None]:
    """Return values of all rows, texts that the values number, and whether a value is absent."""
    import pyarrow as pa

    is_missing = column.is_null().to_numpy() if column.null_count else None
    if pa.types.is_dictionary(column.type):
        chunks = column.unify_dictionaries().chunks
        texts = chunks[0].dictionary.to_pylist() if chunks else []
        numbers = [chunk.indices for chunk in chunks]
        codes = [n.fill_null(-1).to_numpy() if n.null_count else n.to_numpy() for n in numbers]
        # The code -1 indexes the last text.
        return (
            np.concatenate([np.zeros(0, np.int32), *codes]),
            object_array([*texts, ""]),
            is_missing,
        )
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return column.to_numpy(), None, is_missing


def _counts(values: NDArray[np.int64], name: str) -> NDArray[Any]:
    if values.size and int(values.min()) < 0:
        place = int(np.argmax(values < 0))
        raise ValueError(f"column {name} has {values[place]} in row {place}")
    return compact_counts(values)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; only its beginning if it is not a Parquet file."""
    with open(path, "rb") as file:
        head = file.read(len(_MAGIC))
        return head + file.read() if head == _MAGIC else head
