"""Bytes of the files of counts: the open format, version 4, files of earlier versions, and Parquet.

The documentation's page "File format" defines every byte that matters. Private counts
(`skfedauc.privacy`) have another table and another checksum.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _labels
from skfedauc._input import object_array
from skfedauc._kernel import Cells, compact_counts
from skfedauc._output_file import check_path
from skfedauc._words import described, listed, shortened
from skfedauc.counts import files
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, Withheld
from skfedauc.counts.moments import OwnMoments, Summary, dtype_of_u2
from skfedauc.counts.reducing import regrouped
from skfedauc.counts.state import Source, State, checked, in_order

pq = files.pyarrow_parquet()  # raises the error for a missing package
import pyarrow as pa  # noqa: E402
from pyarrow import compute  # noqa: E402

# Values of the key `format` of the metadata, by the class whose files have it
FORMATS = {"ScoreCounts": "skfedauc counts", "PrivateCounts": "skfedauc private counts"}
MAGIC = b"PAR1"
KEY, _CHECKSUM = b"skfedauc", b"skfedauc.sha256"
VERSION = 4
# Types of the columns of group labels by kind. A row without a label has the text `MISSING` in a
# column of text, and an absent value in others.
_KINDS = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "unsigned": pa.uint64(),
    "text": pa.string(),
    "date": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "coded": pa.string(),  # of periods, intervals, tuples, and instants of several time zones
}
_TEXTS, INTEGER = ("text", "coded"), pa.int64()
new_table = pa.table
# Rows of a row group, and values that are converted for the checksum at a time
_CHUNK = 1 << 20
# Size of the sample of values that shows whether a dictionary saves space
_SAMPLE = 1 << 16
# Largest size of content in memory: this number of bytes, or this number of times its file
_SMALL, _MOST_EXPANDED = 1 << 24, 1 << 10
# Bytes of a value in a page besides its text, and of the pages of an empty file
_BYTES_PER_VALUE, _FEW_BYTES = 64, 1 << 20


# Writing


def content_of(state: State) -> bytes:
    starts, values = files.values_of(state)
    sizes = np.diff(starts)
    of_groups = {name: _column_of(of) for name, of in files.named_columns(state, values).items()}
    group_of_row = pa.array(np.repeat(np.arange(sizes.size), sizes))
    columns = {name: array.take(group_of_row) for name, (_, array) in of_groups.items()}
    for name, array in values.items():
        kind = _type_of(name, is_weighted=state.is_weighted)
        columns[name] = pa.array(array.tolist() if pa.types.is_decimal(kind) else array, kind)
    table = new_table(columns)
    described = [{"name": name, **facts} for name, (facts, _) in of_groups.items()]
    text = json.dumps(_facts_of(state, described), ensure_ascii=False).encode()
    varied = [name for name, of in values.items() if of.dtype.kind == "f" and not _repeats(of)]
    return written(
        table,
        {KEY: text, _CHECKSUM: checksum(text, table)},
        use_dictionary=[name for name in table.column_names if name not in varied],
        column_encoding=dict.fromkeys(varied, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
    )


def _facts_of(state: State, columns: list[dict[str, Any]]) -> dict[str, Any]:
    negatives, positives = state.n_rows
    rule = state.disclosure
    facts: dict[str, Any] = {
        "format": FORMATS["ScoreCounts"],
        "version": VERSION,
        "package": skfedauc.__version__,
        "level": rule.level,
        "n_cells": state.n_cells,
        "n_negatives": negatives,
        "n_positives": positives,
        "n_missing": state.n_missing,
        "is_weighted": state.is_weighted,
        "group_columns": None if state.labels is None else columns,
        "labels_seen": list(state.classes.seen),
        "pos_label": state.classes.pos_label,
        "sources": [source.to_dict() for source in state.sources],
    }
    if state.group_names != tuple(column["name"] for column in columns):
        facts["group_names"] = list(state.group_names)
    if rule.level == "bins":
        facts["bins"] = None if rule.bins is None else rule.bins.to_dict()
    if state.summary is not None:
        facts["has_limits"] = state.summary.has_limits
    if rule.min_count is not None:
        facts["min_count"] = rule.min_count
    if rule.withheld != Withheld():
        labels = rule.withheld.labels
        facts["withheld"] = rule.withheld._asdict()
        facts["withheld"]["labels"] = None if labels is None else list(map(files.entry_of, labels))
    return facts


def _repeats(values: NDArray[np.float64]) -> bool:
    """Return whether a dictionary takes less space than the values."""
    if values.size > _SAMPLE:
        values = values[np.random.default_rng(0).integers(values.size, size=_SAMPLE)]
    return np.unique(values).size <= values.size // 2


def _type_of(name: str, *, is_weighted: bool) -> Any:
    if name.endswith("u2") and not is_weighted:  # more than 64 bits
        return pa.decimal128(25, 0)
    return pa.int64() if name in files.N_ROWS else pa.float64()


def checksum(facts: bytes, table: Any) -> str:
    """Return the SHA-256 over the metadata and the columns, one after the other."""
    sha256 = hashlib.sha256(facts)
    for column in table.columns:
        for chunk in column.chunks:
            for piece in _bytes_of(chunk):
                sha256.update(piece)
    return sha256.hexdigest()


def _bytes_of(values: Any) -> Iterator[bytes]:
    """Yield the bytes of a column's values; equal texts and absent values one run at a time."""
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    is_text = _is_text(values.type)
    if not (is_text or values.null_count):
        for first in range(0, len(values), _CHUNK):
            yield _of_numbers(values.slice(first, _CHUNK))
        return
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    if is_text:
        texts = [text.encode() for text in distinct.to_pylist()]
        known = [len(text).to_bytes(8, "big") + text for text in texts]
    else:
        numbers = _of_numbers(distinct)
        known = [numbers[first : first + 8] for first in range(0, len(numbers), 8)]
    known.append(_labels.MISSING.encode())  # which the code -1 indexes
    codes = encoded.indices.fill_null(-1).to_numpy()
    first_rows = _changes(codes)
    sizes = np.diff(first_rows, append=codes.size)
    for code, size in zip(codes[first_rows].tolist(), sizes.tolist(), strict=True):
        yield known[code] * size


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind))


def _of_numbers(values: Any) -> bytes:
    """Return numbers in 8 bytes each, big-endian: doubles or integers of 64 bits."""
    numbers = _plain(values)
    return numbers.astype(">f8" if numbers.dtype.kind == "f" else ">i8").tobytes()


def _plain(values: Any) -> NDArray[Any]:
    """Return the values of a column, with dates as microseconds."""
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _changes(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows in which runs of equal values begin."""
    is_first = np.zeros(columns[0].size, bool)
    is_first[:1] = True
    for values in columns:
        is_first[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(is_first)


# Reading


def read_path(path: str | os.PathLike[str], limits: files.Limits, of: str = "") -> State:
    """Return the counts in a file; messages have `of` before its name."""
    data = read_file(path, most=limits.max_bytes)
    return read_content(data, f"{of}{os.fspath(path)!r}", limits)


def read_content(data: Any, name: str, limits: files.Limits) -> State:
    """Return a file's counts, if the file is whole and rows with these counts can exist."""
    try:
        limits.check("max_bytes", len(data), "it has {} bytes or more")
        with reading(data, name, "ScoreCounts", VERSION) as (file, facts):
            state = _read(file, facts, data, limits)
    except files.LimitError as error:
        raise files.LimitError(f"{name} is refused: {error}.") from None
    return checked(state, name)


def read_sources(path: Any) -> tuple[Source, ...]:
    """Return a file's sources without reading its table; none if it is damaged."""
    try:
        facts = json.loads(pq.read_metadata(path).metadata[KEY])
        return in_order(map(Source.from_dict, facts["sources"]))
    except Exception:  # reading the counts will raise the error
        return ()


def _read(file: Any, told: dict[str, Any], data: Any, limits: files.Limits) -> State:
    is_old = told["version"] < VERSION
    facts = _updated(told, file.schema_arrow.names) if is_old else told
    _check_facts(facts, limits)
    described, metadata = facts["group_columns"] or [], file.metadata.metadata
    wanted = files.column_names(facts["level"], facts["is_weighted"], facts.get("has_limits"))
    table = _table(file, facts, wanted, data, limits)
    starts, columns = _runs(table, len(described))
    values = {name: _values(table[name], name) for name in wanted}
    for name in files.N_ROWS:
        found = int(values[name].sum(dtype=np.uint64))
        if found != facts[name]:
            raise ValueError(f"its metadata has {name} {facts[name]}, and its column {found}")
    labels = labels_of(described, columns) if described else None
    state = _state_of(starts, values, labels, _known_facts(facts))
    if is_old:
        digest, expected = _old_checksum(told, state, described, columns), told.get("sha256")
    else:
        digest = checksum(metadata[KEY], table)
        expected = metadata.get(_CHECKSUM, b"").decode()
    if digest != expected:
        raise ValueError("its SHA-256 is another one")
    limits.check_sender(state)
    return state


# Keys of the metadata by the type of their values; the optional ones may be None or absent.
_KEYS = {
    str: ("package", "level"),
    int: ("n_cells", "n_negatives", "n_positives", "n_missing", "min_count"),
    bool: ("is_weighted", "has_limits"),
    list: ("group_columns", "labels_seen", "sources"),
    dict: ("withheld",),
}
_OPTIONAL = ("has_limits", "group_columns", "min_count", "withheld")


def _check_facts(facts: dict[str, Any], limits: files.Limits) -> None:
    for kind, key in ((kind, key) for kind, keys in _KEYS.items() for key in keys):
        value = facts.get(key)
        if type(value) is not kind and not (value is None and key in _OPTIONAL):
            raise ValueError(f"its metadata has no {key} of type {kind.__name__}")
    level, withheld, columns = facts["level"], facts.get("withheld"), facts["group_columns"] or []
    classes = [*facts["labels_seen"], *[facts["pos_label"]] * (facts["pos_label"] is not None)]
    own = facts.get("group_names", [])
    files.check(
        {
            "it is a checkpoint of from_batches, with only a part of the rows": "checkpoint"
            not in facts,
            "its metadata has no known level of disclosure": level in _LEVELS.values()
            and ("bins" in facts) == (level == "bins"),
            "its metadata has no has_limits of type bool": (facts.get("has_limits") is None)
            == (level != "summary"),
            "its metadata has labels of classes that are none": all(
                type(label) in (int, float, str) and label == label for label in classes
            ),
            "its metadata has withheld groups that are none": withheld is None
            or (
                set(withheld) == set(Withheld._fields)
                and isinstance(withheld["labels"], list | None)
            ),
            "its metadata has no sources": facts["sources"],
            "its metadata has group_columns that are none": facts["group_columns"] != [],
            "its metadata does not describe the labels of a column of groups": all(
                column.get("kind") in _KINDS
                and (type(column.get("zone")) is str) == (column["kind"] == "instant")
                and (type(column.get("labels")) is list) == (column["kind"] == "coded")
                for column in columns
            ),
            "its metadata has group_names that are no names": type(own) is list
            and all(type(name) is str for name in [*own, *(of["name"] for of in columns)]),
        }
    )
    n_rows = max(facts["n_negatives"], facts["n_positives"])
    limits.check("max_rows", n_rows, "it counts {} rows of a class")
    limits.check("max_cells", facts["n_cells"], "it has {} cells")
    limits.check("max_sources", len(facts["sources"]), "it has {} sources")
    known = ("group_names", "labels_seen", "pos_label", "withheld", "group_columns")
    # The identifier is no name.
    sources = [{**source, "identifier": None} for source in facts["sources"]]
    limits.check_text(_longest([sources, *map(facts.get, known)]))


def _longest(value: Any) -> int:
    """Return the length of the longest text in a value of JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return max(map(_longest, value), default=0)
    return len(value) if isinstance(value, str) else 0


def _known_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `State` attributes that the metadata hold."""
    bins, withheld = facts.get("bins"), facts.get("withheld")
    told = Withheld(**(withheld or {}))
    if told.labels is not None:
        told = told._replace(labels=tuple(map(files.label_of, told.labels)))
    of_bins = None if bins is None else Bins.from_dict(bins)
    names = [column["name"] for column in facts["group_columns"] or []]
    return {
        "disclosure": Disclosure(facts["level"], of_bins, facts.get("min_count"), withheld=told),
        "group_names": tuple(facts.get("group_names", names)),
        "classes": _labels.Classes(tuple(facts["labels_seen"]), facts["pos_label"]),
        "n_missing": facts["n_missing"],
        "sources": in_order(map(Source.from_dict, facts["sources"])),
        "is_complete": True,
    }


def _table(
    file: Any, facts: dict[str, Any], wanted: Sequence[str], data: Any, limits: files.Limits
) -> Any:
    """Return a file's table, with texts as numbers of distinct texts."""
    kinds = {column["name"]: column["kind"] for column in facts["group_columns"] or []}
    types = {name: _KINDS[kind] for name, kind in kinds.items()}
    types |= {name: _type_of(name, is_weighted=facts["is_weighted"]) for name in wanted}
    if len(types) < len(facts["group_columns"] or []) + len(wanted):
        raise ValueError("its metadata has several columns of a name")
    texts = [name for name, kind in kinds.items() if kind in _TEXTS]
    _check_limits_of_size(file.metadata, len(texts), limits)
    may_lack = [name for name, kind in kinds.items() if kind != "text"]
    table = table_of(file, data, facts["n_cells"], types, texts=texts, may_lack=may_lack)
    # Refuse long labels before they become Python objects.
    for chunk in (chunk for name in texts for chunk in table.column(name).chunks):
        limits.check_text(compute.max(compute.utf8_length(chunk.dictionary)).as_py() or 0)
    return table


def _check_limits_of_size(metadata: Any, n_texts: int, limits: files.Limits) -> None:
    """Refuse content beyond the receiver's limits before it is read."""
    in_memory = size_in_memory(metadata)
    limits.check("max_bytes", in_memory, "its content would take {} bytes of memory")
    # A character of UTF-8 has up to 4 bytes. Pages hold a text once, or once per row.
    per_row = _BYTES_PER_VALUE * metadata.num_columns + 4 * limits.max_label_length * n_texts
    if size_declared(metadata) > _FEW_BYTES + per_row * metadata.num_rows:
        raise files.LimitError(
            f"its {metadata.num_rows:,} rows would take {in_memory:,} bytes of memory, so it has "
            f"labels above the receiver's limit of {limits.max_label_length:,} characters; pass "
            "limits=Limits(max_label_length=...) to accept it"
        )


def _runs(table: Any, n_columns: int) -> tuple[NDArray[np.intp], list[Any]]:
    """Return where the groups change, and the group columns with one value per run."""
    whole = [column.combine_chunks() for column in table.columns[:n_columns]]
    first = _changes(*(map(_codes, whole) if whole else [np.zeros(table.num_rows, np.int32)]))
    return np.append(first, table.num_rows), [array.take(pa.array(first)) for array in whole]


def _codes(labels: Any) -> NDArray[Any]:
    """Return a number for each label; the same numbers for the same labels."""
    if labels.null_count or _is_text(labels.type):
        labels = labels.dictionary_encode().indices.fill_null(-1)
    return _plain(labels)


def _values(column: Any, name: str) -> NDArray[Any]:
    if pa.types.is_decimal(column.type):
        return object_array(map(int, column.cast(pa.string()).to_pylist()))
    values: NDArray[Any] = column.to_numpy()
    if name in files.N_ROWS and values.size and int(values.min()) < 0:
        place = int(np.argmax(values < 0))
        raise ValueError(f"column {name} has {values[place]} in row {place}")
    return values


def _state_of(
    starts: NDArray[np.int64], values: Mapping[str, Any], labels: Any, facts: dict[str, Any]
) -> State:
    """Return a state from rows in any order; rows in order keep their arrays."""
    weights = files.stacked(values, files.WEIGHT_COLUMNS)
    ranges = files.stacked(values, files.RANGE_COLUMNS)
    negatives, positives = (values[name] for name in files.N_ROWS)
    is_sorted = labels is None or _labels.are_sorted_labels(labels)
    content: Cells | Summary
    if facts["disclosure"].level == "summary":
        if starts[-1] != (starts.size - 1 if labels is None else len(set(labels.tolist()))):
            raise ValueError("it is a summary with several rows of a group")
        dtype = dtype_of_u2(negatives, positives) if weights is None else np.dtype(np.float64)
        prefixes = [prefix for prefix in files.PREFIXES if f"{prefix}u2" in values]
        u2 = np.stack([values[f"{prefix}u2"].astype(dtype) for prefix in prefixes])
        sums = [[values[prefix + of] for of in OwnMoments._fields] for prefix in prefixes]
        content = Summary(negatives, positives, weights, u2, np.array(sums))
    else:
        rows = compact_counts(negatives), compact_counts(positives)
        scores = values["score"] + 0.0  # -0.0 becomes 0.0
        content = Cells(starts.astype(np.intp), scores, *rows, weights)
        rises = scores[1:] > scores[:-1]
        rises[starts[1:-1] - 1] = True
        # The check of the state refuses scores that are not finite.
        is_sorted = (is_sorted and rises.all()) or not np.isfinite(scores).all()
    state = State(content, labels, ranges, **facts)
    if is_sorted:
        return state
    if labels is None:
        return state.summed(None)
    return regrouped(state, lambda label: label)._replace(**facts)


# Group labels


def _column_of(labels: NDArray[Any]) -> tuple[dict[str, Any], Any]:
    """Return the facts and the values of a column of labels; texts as numbers of distinct texts.

    The facts are the kind, an instant's zone and the labels of coded texts.
    """
    items = labels.tolist()
    if labels.dtype.kind not in "biu" and not all(isinstance(label, str) for label in items):
        items = [None if _labels.is_missing(label) else label for label in items]
    known = [label for label in items if label is not None]
    if labels.dtype.kind == "M":
        _check_dates(known)
    empty = {"b": "boolean", "i": "integer", "u": "unsigned", "M": "date", "O": "text"}
    kind = _kind_of(known, empty[labels.dtype.kind])
    facts: dict[str, Any] = {"kind": kind}
    if kind == "other":
        facts, values = _coded(known)
        coded = iter(values)
        items = [None if label is None else next(coded) for label in items]
    array = pa.array(items, _KINDS[facts["kind"]])
    return facts, array.dictionary_encode() if facts["kind"] in _TEXTS else array


def _kind_of(known: list[Any], empty: str) -> str:
    """Return the kind of labels of one simple type; "other" for others, and `empty` for none."""
    types = set(map(type, known))
    if types == {int} and max(known) >= 1 << 63:
        return "unsigned" if min(known) >= 0 else "other"
    kinds = {bool: "boolean", int: "integer", str: "text", datetime.datetime: "date"}
    return kinds.get(types.pop(), "other") if len(types) == 1 else "other" if types else empty


def _check_dates(dates: Iterable[Any]) -> None:
    """Refuse dates that Python cannot represent, for which numpy has integers."""
    if any(isinstance(date, int) for date in dates):
        raise ValueError("dates must be from the years 1 to 9999")


def _coded(known: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return the facts and the values of a column of labels without a simple type."""
    entries = [files.entry_of(item) for item in known]
    zones = {entry.get("zone") if isinstance(entry, dict) else None for entry in entries}
    if len(zones) == 1 and None not in zones:
        return {"kind": "instant", "zone": zones.pop()}, known
    coded = [json.dumps(entry) for entry in entries]
    text_of = {code: str(label) for code, label in zip(coded, known, strict=True)}
    if len(set(text_of.values())) < len(text_of):  # labels whose texts are equal
        text_of = {code: code for code in text_of}
    pairs = [[text, json.loads(code)] for code, text in text_of.items()]
    return {"kind": "coded", "labels": pairs}, [text_of[code] for code in coded]


def labels_of(described: Sequence[Mapping[str, Any]], columns: Sequence[Any]) -> NDArray[Any]:
    parts = [_labels_of(facts, array) for facts, array in zip(described, columns, strict=True)]
    if len(parts) > 1:
        return object_array(zip(*parts, strict=True))
    if any(isinstance(label, tuple) for label in parts[0][:1]):
        raise ValueError("one column has the labels of several")
    # Integers that fit have the signed type, so that equal labels have equal arrays.
    kind = _kind_of(parts[0], described[0]["kind"])
    if kind not in ("boolean", "integer", "unsigned", "date"):
        return object_array(parts[0])
    return np.asarray(pa.array(parts[0], _KINDS[kind]).to_numpy(zero_copy_only=False))


def _labels_of(facts: Mapping[str, Any], array: Any) -> list[Any]:
    kind = facts["kind"]
    if kind in ("date", "instant"):
        dates = array.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False)
        items = dates.tolist()
        _check_dates(items)
        if kind == "instant":
            items = _instants(dates, facts["zone"])
    else:
        items = (array.dictionary_decode() if kind in _TEXTS else array).to_pylist()
    if kind == "coded":
        label_of_text = {text: files.label_of(entry) for text, entry in facts["labels"]}
        # Labels that a simpler kind of column can hold have arrays of another type.
        if _column_of(object_array(label_of_text.values()))[0]["kind"] != "coded":
            raise ValueError("coded labels are of another kind")
        items = [None if text is None else label_of_text[text] for text in items]
    return [_labels.MISSING if item is None else item for item in items]


def _instants(dates: NDArray[np.datetime64], zone: str) -> list[Any]:
    import pandas as pd

    instants = pd.DatetimeIndex(dates).tz_localize("UTC").tz_convert(zone)
    if str(instants.tz) != zone:
        raise ValueError(f"{shortened(zone)} is no time zone")
    return instants.astype(object).where(instants.notna(), None).tolist()


# Versions 1 to 3, whose checksum covers the JSON text that Python writes
_LEVELS = {1: "exact", 2: "bins", 3: "summary"}


def _updated(facts: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return metadata in the form of version 4; `names` are those of the file's columns."""
    level = _LEVELS[facts["version"]]
    if facts.get("disclosure") != (None if level == "exact" else level):
        raise ValueError("its metadata has another level of disclosure than its version")
    new = {**facts, "level": level}
    if facts["group_columns"] is not None:
        own = zip(facts["group_columns"], names, strict=False)
        new["group_columns"] = [{**column, "name": name} for column, name in own]
    # The value of min_count is unknown. Counts with rows that may count several times are
    # refused where counts with this mark are.
    if facts.get("is_suppressed") or facts.get("may_repeat"):
        new["min_count"] = 1
    return new


def _old_checksum(
    facts: Mapping[str, Any], state: State, described: Sequence[Any], columns: Sequence[Any]
) -> str:
    """Return the SHA-256 of the sorted JSON, the texts of the groups and the arrays."""
    texts, arrays = [], state._replace(labels=None).arrays
    if state.summary is not None:
        *arrays, u2, moments = arrays
        for of_prefix in zip(u2, moments, strict=True):
            arrays += of_prefix
    for of_column, array in zip(described, columns, strict=True):
        if of_column["kind"] in _TEXTS:
            texts.append(array.dictionary_decode().fill_null("").to_pylist())
        else:
            arrays.append(_plain(array.fill_null(pa.scalar(0).cast(array.type))))
        if array.null_count:
            arrays.append(_plain(array.is_null()))
    return digest(facts, [*texts, *arrays])


def digest(facts: Mapping[str, Any], parts: Iterable[list[Any] | NDArray[Any]]) -> str:
    """Return the SHA-256 over metadata, lists and arrays of numbers, which are little-endian."""
    plain = {name: value for name, value in facts.items() if name != "sha256"}
    sha256 = hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode())
    for part in parts:
        if isinstance(part, list) or part.dtype.kind == "O":  # texts, or integers above 64 bits
            sha256.update(json.dumps(list(part), ensure_ascii=False).encode())
        else:
            ordered = part.astype(part.dtype.newbyteorder("<"), copy=False)
            sha256.update(np.ascontiguousarray(ordered).reshape(-1).view(np.uint8).data)
    return sha256.hexdigest()


# Parquet


def read_file(
    path: str | os.PathLike[str], kind: str = "ScoreCounts", most: int | None = None
) -> bytes:
    """Return a Parquet file's content, or only another file's beginning.

    With `most`, it reads only a few bytes more than this from a larger file.
    """
    if isinstance(path, bytes | bytearray | memoryview):
        raise TypeError(
            f"path must be a str or os.PathLike; got {type(path).__name__}. {kind}.from_bytes "
            f"reads the bytes that {kind}.to_bytes returned."
        )
    with open(check_path(path), "rb") as file:
        head = file.read(len(MAGIC))
        return head + file.read(-1 if most is None else most) if head == MAGIC else head


def check_bytes(data: object, kind: str = "ScoreCounts") -> None:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"data must be the bytes that {kind}.to_bytes returned; got {described(data)}. "
            f"{kind}.load reads a file by its path."
        )


def written(table: Any, metadata: Mapping[Any, Any], **options: Any) -> bytes:
    """Return a file's content; the options are those of `pyarrow.parquet.ParquetWriter`."""
    options |= {"write_page_checksum": True, "store_schema": False}
    for compression in ("zstd", "none"):
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, table.schema, compression=compression, **options) as writer:
            if table.num_rows:
                writer.write_table(table, row_group_size=_CHUNK)
            writer.add_key_value_metadata(metadata)
        data = bytes(sink.getvalue())
        # Some content, such as the scores 0, 1, 2, ..., compresses very well. A reader would refuse
        # such a small file, because its content may exhaust the memory.
        if not is_too_large(opened(data).metadata, len(data)):
            break
    return data


def opened(data: Any, metadata: Any = None, texts: Sequence[str] = ()) -> Any:
    """Open a file, and read the columns `texts` as indices into distinct texts."""
    return pq.ParquetFile(
        pa.BufferReader(pa.py_buffer(data)),
        metadata=metadata,
        read_dictionary=list(texts),
        page_checksum_verification=True,
        pre_buffer=False,
        # By default, pyarrow refuses metadata of more than 100 MB, such as those of a million
        # sources.
        thrift_string_size_limit=min(len(data), (1 << 31) - 1),
    )


@contextlib.contextmanager
def reading(data: Any, name: str, kind: str, newest: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open a file of the class `kind`, and give its metadata; any error says what is wrong."""
    head, tail = bytes(data[: len(MAGIC)]), bytes(data[-len(MAGIC) :])
    try:
        if MAGIC.startswith(head) and (tail != MAGIC or len(data) == len(MAGIC)):
            raise ValueError("its end is missing, so it was probably cut off when it was copied")
        if head != MAGIC:
            raise files.OtherFileError(
                f"{name} is not a file of {kind}, which begins with {MAGIC!r}; got {head!r}. Pass "
                f"what {kind}.save or to_bytes wrote."
            )
        file = opened(data)
        facts = json.loads((file.metadata.metadata or {}).get(KEY, "{}"))
        _check_format(facts, name, kind, newest)
        found, declared = size_of_pages(data), size_declared(file.metadata)
        if found > declared:
            raise ValueError(
                f"its pages would take {found:,} bytes of memory, and its metadata says "
                f"{declared:,}"
            )
        yield file, facts
    except files.RefusedError:
        raise
    except Exception as error:  # a damaged file may raise any exception
        reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{name} is no file of {kind}, or is damaged: {reason[:400].rstrip('.')}. Ask for "
            "another copy."
        ) from error


def _check_format(facts: dict[str, Any], name: str, kind: str, newest: int) -> None:
    """Raise an error unless a file has a version up to the newest one of the class's format."""
    found, version = facts.get("format"), facts.get("version")
    if facts and found not in FORMATS.values():
        raise ValueError("its metadata has another format")
    if found != FORMATS[kind]:
        others = [other for other, known in FORMATS.items() if known == found]
        mend = "A table of counts is read by ScoreCounts.from_counts(**pandas.read_parquet(path))."
        raise files.OtherFileError(
            f"{name} is a Parquet file, but {kind}.save did not write it. "
            f"{f'Read it by {others[0]}.load or from_bytes.' if others else mend}"
        )
    if type(version) is not int or version < 1:
        raise ValueError(f"its metadata has the version {shortened(version)}")
    if version > newest:
        raise files.RefusedError(
            f"{name} has version {version} of the file format, written by skfedauc "
            f"{shortened(facts.get('package'))}; skfedauc {skfedauc.__version__} reads versions "
            f"up to {newest}. Upgrade by: pip install --upgrade skfedauc"
        )


def table_of(
    file: Any,
    data: Any,
    n_rows: int,
    types: Mapping[str, Any],
    *,
    texts: Sequence[str] = (),
    may_lack: Sequence[str] = (),
) -> Any:
    """Return a file's table, if it has these rows and columns and does not exhaust the memory.

    The columns `texts` are numbers of distinct texts, and only `may_lack` may lack values.
    """
    schema, metadata = file.schema_arrow, file.metadata
    if schema.names != list(types):
        raise ValueError(
            f"it has the columns {listed(schema.names, most=8)}; its metadata calls for "
            f"{listed(types, most=8)}"
        )
    for name, wanted, found in zip(types, types.values(), schema.types, strict=True):
        # Decimals without fraction may have any precision.
        is_decimal = all(pa.types.is_decimal(of) and of.scale == 0 for of in (found, wanted))
        if found != wanted and not is_decimal:
            raise ValueError(f"column {shortened(name)} has the type {found} instead of {wanted}")
    numbers = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(numbers, default=0) < 0 or not sum(numbers) == metadata.num_rows == n_rows:
        raise ValueError(
            f"it has {metadata.num_rows} rows, {sum(numbers)} in its row groups and {n_rows} by "
            "its metadata"
        )
    if is_too_large(metadata, len(data)):
        raise ValueError(
            f"its content would take {size_in_memory(metadata):,} bytes of memory, and the file "
            f"has {len(data):,} bytes"
        )
    table = opened(data, metadata, texts).read(use_threads=False)
    table.validate(full=True)
    for name, column in zip(types, table.columns, strict=True):
        if column.null_count and name not in may_lack:
            place = int(np.argmax(column.is_null().to_numpy()))
            raise ValueError(f"column {shortened(name)} has no value in row {place}")
    return table


def size_declared(metadata: Any) -> int:
    """Return how many bytes all pages take in memory, by the metadata."""
    # Do not read the sizes of single columns: damaged sizes make pyarrow end the process.
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return sum(abs(group.total_byte_size) for group in groups)


def size_in_memory(metadata: Any) -> int:
    """Return how many bytes the values take, with the pages that hold them."""
    return int(8 * metadata.num_rows * metadata.num_columns + size_declared(metadata))


def is_too_large(metadata: Any, size: int) -> bool:
    """Return whether the content would exhaust the memory, for a file this large."""
    return size_in_memory(metadata) > max(_SMALL, _MOST_EXPANDED * size)


# The metadata of a Parquet file declare how large its pages become in memory, and readers believe
# them. Here, the headers of the pages are read before any page, so that a false declaration does
# not fill the memory. Headers and metadata are structures of Thrift's compact protocol.

# Encodings of Parquet whose values take no more memory than their page and 8 bytes per row: plain,
# dictionaries, runs and split bytes. Texts that share beginnings can take far more.
_ENCODINGS = {0, 2, 3, 8, 9}
# Largest number of pages. A page of pyarrow has up to 20,000 rows or 1 MB.
_MOST_PAGES = 1 << 20
# Kinds of values in Thrift's compact protocol: integers of 16 to 64 bits, structures, and others
# that take this number of bytes
_INTEGERS, _BINARY, _LISTS, _STRUCT = (4, 5, 6), 8, (9, 10), 12
_SIZES = {1: 0, 2: 0, 3: 1, 7: 8}
# Fields of Parquet's structures, by their numbers in its specification
_ROW_GROUPS, _COLUMNS, _COLUMN_FACTS = 4, 1, 3
_COMPRESSED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 7, 9, 11
_PAGE_SIZE, _PAGE_COMPRESSED = 2, 3
# Structures of a page by kind, with the number of the field of the encoding
_KINDS_OF_PAGES = {5: 2, 7: 2, 8: 4}


def size_of_pages(data: Any) -> int:
    """Return how many bytes all pages take after decompression, according to their headers."""
    data = bytes(data)  # bytes are read fastest, and not copied
    metadata, _ = _structure(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    size = n_pages = n_bytes = 0
    chunks = (of for group in metadata.get(_ROW_GROUPS, []) for of in group[_COLUMNS])
    for facts in (chunk[_COLUMN_FACTS] for chunk in chunks):
        start = facts[_DATA_OFFSET]
        if 0 < facts.get(_DICTIONARY_OFFSET, 0) < start:
            start = facts[_DICTIONARY_OFFSET]
        n_bytes += facts[_COMPRESSED_SIZE]
        if n_bytes > len(data):  # reading the same pages again and again would take forever
            raise ValueError("its pages overlap")
        for of_page in _sizes(data, start, start + facts[_COMPRESSED_SIZE]):
            size, n_pages = size + of_page, n_pages + 1
            if n_pages > _MOST_PAGES:
                raise ValueError(f"it has more than {_MOST_PAGES:,} pages")
    return size


def _sizes(data: bytes, place: int, stop: int) -> Iterator[int]:
    """Yield each page's size between two places."""
    if not 0 <= place <= stop <= len(data):
        raise ValueError("its pages are not in the file")
    while place < stop:
        header, place = _structure(data, place)
        for kind, field in _KINDS_OF_PAGES.items():
            if kind in header and header[kind].get(field) not in _ENCODINGS:
                raise ValueError(f"a page has the encoding {header[kind].get(field)}")
        size, compressed = header[_PAGE_SIZE], header[_PAGE_COMPRESSED]
        if size < 0 or compressed < 0:
            raise ValueError("a page has a negative size")
        yield size
        place += compressed
    if place != stop:
        raise ValueError("its pages do not end where its metadata says")


# Values of Thrift's compact protocol: what is read at a place, and the next place.


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Read an unsigned integer with 7 bits per byte."""
    value = 0
    for shift in range(0, 70, 7):
        byte, place = data[place], place + 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("an integer has too many bytes")


def _structure(data: bytes, place: int) -> tuple[dict[int, Any], int]:
    """Read a structure as its values by field: integers, lists and structures; others are None."""
    if place < 0:
        raise ValueError("its metadata begin before the file")
    found: dict[int, Any] = {}
    field = 0
    while head := data[place]:
        if head >> 4:
            field, place = field + (head >> 4), place + 1
        else:
            field, place = _value(data, place + 1, _INTEGERS[0])
        if field in found:
            raise ValueError("its metadata repeat a field")
        found[field], place = _value(data, place, head & 15)
    return found, place + 1


def _value(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in _INTEGERS:
        value, place = _number(data, place)
        return value >> 1 ^ -(value & 1), place
    if kind == _STRUCT:
        return _structure(data, place)
    if kind in _LISTS:
        head = data[place]
        number, place = _number(data, place + 1) if head >> 4 == 15 else (head >> 4, place + 1)
        if number > len(data):  # each item has a byte or more
            raise ValueError("a list has more items than the file has bytes")
        items, kind = [], max(head & 15, 3)  # a boolean in a list takes a byte
        for _ in range(number):
            item, place = _value(data, place, kind)
            items.append(item)
        return items, place
    if kind != _BINARY and kind not in _SIZES:
        raise ValueError(f"its metadata have a value of kind {kind}")
    size, place = _number(data, place) if kind == _BINARY else (_SIZES[kind], place)
    return None, place + size
