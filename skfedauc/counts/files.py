"""The open file format of score counts, version 4, and files of earlier versions.

A file is a Parquet table with one row per cell, and two metadata entries: ``skfedauc``, a JSON
object, and ``skfedauc.sha256``, the SHA-256 of the bytes of this object and of all values. The
checksum covers the JSON as it is written, so that writers in other languages need no canonical
form. The documentation's page "File format" defines every byte that matters.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels
from skfedauc._input import object_array
from skfedauc._kernel import Cells, compact_counts
from skfedauc._labels import is_missing as is_missing_label
from skfedauc._output_file import check_target, write_whole
from skfedauc._words import counted, described, listed, shortened
from skfedauc.counts import parquet
from skfedauc.counts.bins import Bins, Immutable
from skfedauc.counts.disclosure import Disclosure, Withheld
from skfedauc.counts.moments import OwnMoments, Summary, dtype_of_u2
from skfedauc.counts.reducing import regrouped
from skfedauc.counts.state import MOST_ROWS, Source, State, changed, checked, in_order

# Columns of counts, after the columns of the group labels
COUNT_COLUMNS = ("score", "n_negatives", "n_positives")
RANGE_COLUMNS = ("score_low", "score_high")
WEIGHT_COLUMNS = (
    "weight_negatives",
    "weight_positives",
    "squared_weight_negatives",
    "squared_weight_positives",
)
_TEXTS = ("text", "coded")
_KINDS_OF_ARRAYS = {"b": "boolean", "i": "integer", "u": "unsigned", "M": "date"}
# Microseconds of the first and of the last date in Python
_FIRST, _LAST = (
    int(np.datetime64(date, "us").astype(np.int64))
    for date in (datetime.datetime.min, datetime.datetime.max)
)
VERSION = 4
_CHECKSUM = b"skfedauc.sha256"
_N_ROWS = COUNT_COLUMNS[1:]
_PREFIXES = ("", "lowest_", "highest_")
_ABSENT = b"(missing)"
# Values that are converted for the checksum at a time
_CHUNK = 1 << 20
# Size of the sample of values that shows whether a dictionary saves space
_SAMPLE = 1 << 16
# Bytes of a value in a page besides its text, and of the pages of an empty file
_BYTES_PER_VALUE, _FEW_BYTES = 64, 1 << 20


class LimitError(parquet.RefusedError):
    """A file that a receiver's limit refuses."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """What a receiver accepts; checked before anything large is read.

    The defaults suit your own files; `GroupAUCAggregator` has lower ones.

    Parameters
    ----------
    max_bytes : int, default=2**34
        A file's size, and its content's in memory.
    max_rows : int, default=2**40
        Counted rows by class.
    max_cells, max_groups, max_sources : int, default=2**40
        Cells, groups and sources.
    max_label_length : int, default=10_000
        Characters in a group label, a class label, a source name or another name.
    groups : collection of labels, default=None
        The only groups that the sender may have; None for any.
    source : str, default=None
        The only source name that the sender may use; None for any.

    Examples
    --------
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.counts import Limits
    >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
    >>> ScoreCounts.from_bytes(counts.to_bytes(), limits=Limits(max_rows=1))
    Traceback (most recent call last):
    skfedauc.counts.files.LimitError: data is refused: it counts 2 rows of a class, above the \
receiver's limit of 1; pass limits=Limits(max_rows=...) to accept it.
    """

    max_bytes: int = 1 << 34
    max_rows: int = MOST_ROWS
    max_cells: int = 1 << 40
    max_groups: int = 1 << 40
    max_sources: int = 1 << 40
    max_label_length: int = 10_000
    groups: Any = None
    source: str | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.name.startswith("max_"):
                number = _input.check_whole_number(getattr(self, field.name), field.name, 0)
                object.__setattr__(self, field.name, number)
        if self.groups is not None:
            if isinstance(self.groups, str) or not isinstance(self.groups, Iterable):
                raise TypeError(f"groups must be a list of labels; got {described(self.groups)}.")
            object.__setattr__(self, "groups", tuple(self.groups))
        if not isinstance(self.source, str | None):
            raise TypeError(f"source must be a name or None; got {described(self.source)}.")

    def check(self, name: str, number: int, what: str) -> None:
        """Raise a LimitError for a number above a limit; `what` is a sentence with ``{}``."""
        most = getattr(self, name)
        if number > most:
            raise LimitError(
                f"{what.format(f'{number:,}')}, above the receiver's limit of {most:,}; pass "
                f"limits=Limits({name}=...) to accept it"
            )

    def check_text(self, length: int) -> None:
        """Raise a LimitError for a label or name with more characters than the limit."""
        self.check("max_label_length", length, "it has a label or name of {} characters")

    def check_sender(self, groups: Iterable[Any], sources: Iterable[Source]) -> None:
        """Raise a LimitError for groups or sources that the sender may not use."""
        if self.groups is not None:
            others = [label for label in groups if label not in self.groups]
            if others:
                raise LimitError(
                    f"it has rows of {counted(len(others), 'group')} that its sender may not "
                    f"have: {listed(others)}"
                )
        names = {source.name for source in sources} - {self.source}
        if self.source is not None and names:
            raise LimitError(f"it has counts of another source, {listed(names)}")


def check_limits(limits: object) -> Limits:
    """Return the limits, or the default limits for None."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(
            f"limits must be a skfedauc.counts.Limits or None; got {described(limits)}."
        )
    return limits


class Saved(Immutable):
    """Counts that files and messages hold."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, completely or not at all.

        The file is a Parquet file, which polars, DuckDB, Spark and other tools read, and which
        ``skfedauc show`` describes. That of a `ScoreCounts` has the columns of `to_counts`, and the
        page "File format" defines it; the first `save` or `to_bytes` gives counts without a source
        a random identifier, so that `merge` adds them only once.

        Parameters
        ----------
        path : str or os.PathLike
            File to write or replace; the customary ending is ``.skfa``.

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If group labels are members of an `enum.Enum`, or dates whose time zone has no name.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Examples
        --------
        >>> import tempfile
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/monday.skfa")
        ...     ScoreCounts.load(f"{folder}/monday.skfa") == counts
        True
        """
        check_target(path)
        write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content of the file that `save` writes.

        Returns
        -------
        bytes
            Content of a Parquet file, for a message or a column of a database.

        Raises
        ------
        TypeError, ImportError
            As in `save`.
        """
        return self._of_file()

    def _of_file(self) -> bytes:
        raise NotImplementedError


def _column_names(level: str, *, is_weighted: bool, has_limits: bool) -> tuple[str, ...]:
    """Return the column names after the group columns.

    A summary has `u2`, twice Mann-Whitney's U, and the sums in `OwnMoments`; ``lowest_`` and
    ``highest_`` belong to the lowest and the highest AUC that score ranges permit.
    """
    weights = WEIGHT_COLUMNS if is_weighted else ()
    if level == "summary":
        prefixes = _PREFIXES if has_limits else _PREFIXES[:1]
        sums = [prefix + name for prefix in prefixes for name in ("u2", *OwnMoments._fields)]
        return (*_N_ROWS, *weights, *sums)
    return ("score", *(RANGE_COLUMNS if level == "bins" else ()), *_N_ROWS, *weights)


def values_of(state: State) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return each group's first row, and the columns after the group columns."""
    content, summary = state.content, state.summary
    # Unsigned integers would wrap around silently when users add or subtract columns.
    columns: list[Any] = [of.astype(np.int64) for of in (content.negatives, content.positives)]
    columns += [] if content.weights is None else list(content.weights)
    if summary is None:
        columns = [state.cells.scores, *([] if state.ranges is None else state.ranges), *columns]
    else:
        for u2, moments in zip(summary.u2, summary.moments, strict=True):
            columns += [u2, *moments]
    names = _column_names(
        state.disclosure.level,
        is_weighted=state.is_weighted,
        has_limits=summary is not None and summary.has_limits,
    )
    return content.starts, dict(zip(names, columns, strict=True))


def _type_of(name: str, *, is_weighted: bool) -> Any:
    import pyarrow as pa

    if name.endswith("u2") and not is_weighted:  # more than 64 bits
        return pa.decimal128(25, 0)
    return pa.int64() if name in _N_ROWS else pa.float64()


def _types_of_kinds() -> dict[str, Any]:
    import pyarrow as pa

    return {
        "boolean": pa.bool_(),
        "integer": pa.int64(),
        "unsigned": pa.uint64(),
        "text": pa.string(),
        "date": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"),
        "coded": pa.string(),
    }


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
    import pyarrow as pa

    if pa.types.is_decimal(values.type):
        yield b"".join(map(_of_text, _integers(values)))
        return
    if not (pa.types.is_dictionary(values.type) or values.null_count):
        for first in range(0, len(values), _CHUNK):
            yield _of_numbers(values.slice(first, _CHUNK))
        return
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    if pa.types.is_string(distinct.type):
        known = list(map(_of_text, distinct.to_pylist()))
    else:
        numbers = _of_numbers(distinct)
        known = [numbers[first : first + 8] for first in range(0, len(numbers), 8)]
    known.append(_ABSENT)  # which the code -1 indexes
    codes = encoded.indices.fill_null(-1).to_numpy()
    first_rows = np.flatnonzero(_begins(codes))
    sizes = np.diff(first_rows, append=codes.size)
    for code, size in zip(codes[first_rows].tolist(), sizes.tolist(), strict=True):
        yield known[code] * size


def _of_numbers(values: Any) -> bytes:
    """Return numbers in 8 bytes each, big-endian: doubles or integers of 64 bits."""
    numbers = _plain(values)
    return numbers.astype(">f8" if numbers.dtype.kind == "f" else ">i8").tobytes()


def _integers(decimals: Any) -> list[int]:
    """Return decimals without fraction as integers; those of 64 bits take less time."""
    import pyarrow as pa

    try:
        found: list[int] = decimals.cast(pa.int64()).to_numpy().tolist()
    except pa.ArrowInvalid:
        found = list(map(int, decimals.to_pylist()))
    return found


def _of_text(text: Any) -> bytes:
    """Return a text as its length in bytes (8 bytes, big-endian) and UTF-8."""
    data = str(text).encode()
    return len(data).to_bytes(8, "big") + data


def _plain(values: Any) -> NDArray[Any]:
    """Return the values of a column, with dates as microseconds."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _begins(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where runs of equal codes begin."""
    begins = np.ones(codes.size, np.bool_)
    begins[1:] = codes[1:] != codes[:-1]
    return begins


def content_of(state: State) -> bytes:
    """Return a file's content."""
    parquet.pyarrow_parquet()  # raise the error for a missing package
    import pyarrow as pa

    starts, values = values_of(state)
    sizes = np.diff(starts)
    columns = {name: _column_of(of) for name, of in named_columns(state, values).items()}
    group_of_row = pa.array(np.repeat(np.arange(sizes.size), sizes))
    arrays = [column.array.take(group_of_row) for column in columns.values()]
    for name, array in values.items():
        kind = _type_of(name, is_weighted=state.is_weighted)
        arrays.append(pa.array(array.tolist() if pa.types.is_decimal(kind) else array, kind))
    fields = [
        pa.field(name, array.type, nullable=array.null_count > 0)
        for name, array in zip((*columns, *values), arrays, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    text = json.dumps(_facts_of(state, columns), ensure_ascii=False).encode()
    varied = [name for name, of in values.items() if of.dtype.kind == "f" and not _repeats(of)]
    return parquet.written(
        table,
        {parquet.KEY: text, _CHECKSUM: checksum(text, table)},
        use_dictionary=[name for name in table.column_names if name not in varied],
        column_encoding=dict.fromkeys(varied, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
    )


def _facts_of(state: State, columns: Mapping[str, GroupColumn]) -> dict[str, Any]:
    negatives, positives = state.n_rows
    rule = state.disclosure
    facts: dict[str, Any] = {
        "format": parquet.FORMATS["ScoreCounts"],
        "version": VERSION,
        "package": parquet.version_of_package(),
        "level": rule.level,
        "n_cells": state.n_cells,
        "n_negatives": negatives,
        "n_positives": positives,
        "n_missing": state.n_missing,
        "is_weighted": state.is_weighted,
        "group_columns": None,
        "labels_seen": list(state.classes.seen),
        "pos_label": state.classes.pos_label,
        "sources": [source.to_dict() for source in state.sources],
    }
    if state.labels is not None:
        described = [{"name": name, **column.facts} for name, column in columns.items()]
        facts["group_columns"] = described
    if state.group_names != tuple(columns):
        facts["group_names"] = list(state.group_names)
    if rule.level == "bins":
        facts["bins"] = None if rule.bins is None else rule.bins.to_dict()
    if state.summary is not None:
        facts["has_limits"] = state.summary.has_limits
    if rule.min_count is not None:
        facts["min_count"] = rule.min_count
    if rule.withheld != Withheld():
        labels = rule.withheld.labels
        known = None if labels is None else [entry_of(label) for label in labels]
        facts["withheld"] = {**rule.withheld._asdict(), "labels": known}
    return facts


def _repeats(values: NDArray[np.float64]) -> bool:
    """Return whether a dictionary takes less space than the values."""
    if values.size > _SAMPLE:
        values = values[np.random.default_rng(0).integers(values.size, size=_SAMPLE)]
    return np.unique(values).size <= values.size // 2


def read_content(data: Any, name: str, limits: Limits) -> State:
    """Return a file's counts, if the file is whole and rows with these counts can exist."""

    def content_of(file: Any, facts: dict[str, Any]) -> State:
        return _read(file, facts, data, limits)

    try:
        limits.check("max_bytes", len(data), "it has {} bytes or more")
        state = parquet.read(data, name, "ScoreCounts", VERSION, content_of)
    except LimitError as error:
        raise LimitError(f"{name} is refused: {error}.") from None
    return checked(state, name)


def read_path(path: str | os.PathLike[str], limits: Limits, of: str = "") -> State:
    """Return the counts in a file; messages have `of` before its name."""
    data = parquet.read_file(path, most=limits.max_bytes)
    return read_content(data, f"{of}{os.fspath(path)!r}", limits)


def read_sources(path: Any) -> tuple[Source, ...]:
    """Return a file's sources without reading its table; none if it is damaged."""
    try:
        metadata = parquet.pyarrow_parquet().read_metadata(path).metadata
        return _sources_of(json.loads(metadata[parquet.KEY]))
    except Exception:  # reading the counts will raise the error
        return ()


_NONE = type(None)
# Types of the values in the metadata; None is also the value of an absent name.
_TYPES: dict[str, tuple[type, ...]] = {
    "package": (str,),
    "level": (str,),
    "n_cells": (int,),
    "n_negatives": (int,),
    "n_positives": (int,),
    "n_missing": (int,),
    "is_weighted": (bool,),
    "has_limits": (bool, _NONE),
    "group_columns": (list, _NONE),
    "labels_seen": (list,),
    "sources": (list,),
    "min_count": (int, _NONE),
    "withheld": (dict, _NONE),
}


def _check_facts(facts: dict[str, Any], limits: Limits) -> None:
    for key, kinds in _TYPES.items():
        if type(facts.get(key)) not in kinds:
            raise ValueError(f"its metadata has no {key} of type {kinds[0].__name__}")
    level, withheld, columns = facts["level"], facts.get("withheld"), facts["group_columns"] or []
    if level not in _LEVELS.values() or ("bins" in facts) != (level == "bins"):
        raise ValueError("its metadata has no known level of disclosure")
    if (facts.get("has_limits") is not None) != (level == "summary"):
        raise ValueError("its metadata has no has_limits of type bool")
    classes = [*facts["labels_seen"], *[facts["pos_label"]] * (facts["pos_label"] is not None)]
    if not all(type(label) in (int, float, str) and label == label for label in classes):
        raise ValueError("its metadata has labels of classes that are none")
    if withheld and (
        set(withheld) != set(Withheld._fields) or not isinstance(withheld["labels"], list | None)
    ):
        raise ValueError("its metadata has withheld groups that are none")
    if "checkpoint" in facts:
        raise ValueError("it is a checkpoint of from_batches, with only a part of the rows")
    if not facts["sources"]:
        raise ValueError("its metadata has no sources")
    for column in columns:
        kind, zone, labels = (column.get(name) for name in ("kind", "zone", "labels"))
        if (
            kind not in _types_of_kinds()
            or (type(zone) is str) != (kind == "instant")
            or (type(labels) is list) != (kind == "coded")
        ):
            raise ValueError("its metadata does not describe the labels of a column of groups")
    if facts["group_columns"] == []:
        raise ValueError("its metadata has group_columns that are none")
    of_file, own = [column["name"] for column in columns], facts.get("group_names", [])
    if type(own) is not list or not all(type(name) is str for name in own + of_file):
        raise ValueError("its metadata has group_names that are no names")
    n_rows = max(facts["n_negatives"], facts["n_positives"])
    limits.check("max_rows", n_rows, "it counts {} rows of a class")
    limits.check("max_cells", facts["n_cells"], "it has {} cells")
    limits.check("max_sources", len(facts["sources"]), "it has {} sources")
    limits.check_text(max(map(len, _texts_in(facts)), default=0))


def _texts_in(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the labels and names in the metadata."""
    known = ("group_names", "labels_seen", "pos_label", "withheld", "group_columns")
    waiting: list[Any] = [facts.get(name) for name in known]
    for source in facts["sources"]:
        waiting += [value for name, value in source.items() if name != "identifier"]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            waiting += value.values() if isinstance(value, dict) else value


def _read(file: Any, written: dict[str, Any], data: Any, limits: Limits) -> State:
    is_old = written["version"] < VERSION
    facts = _updated(written, file.schema_arrow.names) if is_old else written
    _check_facts(facts, limits)
    described, metadata = facts["group_columns"] or [], file.metadata.metadata
    wanted = _column_names(
        facts["level"],
        is_weighted=facts["is_weighted"],
        has_limits=bool(facts.get("has_limits")),
    )
    table = _table(file, facts, wanted, data, limits)
    starts, columns = _runs(table, described)
    values = {name: _values(table[name], name) for name in wanted}
    for name in _N_ROWS:
        found = int(values[name].sum(dtype=np.uint64))
        if found != facts[name]:
            raise ValueError(f"its metadata has {name} {facts[name]}, and its column {found}")
    labels = labels_of(columns) if described else None
    known = _known_facts(facts, [column["name"] for column in described])
    state = _state_of(starts, values, labels, known)
    if is_old:
        digest, expected = _old_checksum(written, state, columns), written.get("sha256")
    else:
        digest = checksum(metadata[parquet.KEY], table)
        expected = metadata.get(_CHECKSUM, b"").decode()
    if digest != expected:
        raise ValueError("its SHA-256 is another one")
    limits.check("max_groups", state.n_groups, "it has {} groups")
    limits.check_sender([] if state.labels is None else state.labels.tolist(), state.sources)
    return state


def _known_facts(facts: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the `State` attributes that the metadata hold."""
    bins, withheld = facts.get("bins"), facts.get("withheld")
    told = Withheld()
    if withheld is not None:
        labels = withheld["labels"]
        known = None if labels is None else tuple(map(label_of, labels))
        told = Withheld(**{**withheld, "labels": known})
    of_bins = None if bins is None else Bins.from_dict(bins)
    rule = Disclosure(facts["level"], of_bins, facts.get("min_count"), withheld=told)
    sources = _sources_of(facts)
    return {
        "disclosure": rule,
        "group_names": tuple(facts.get("group_names", names)),
        "classes": _labels.Classes(tuple(facts["labels_seen"]), facts["pos_label"]),
        "n_missing": facts["n_missing"],
        "sources": sources,
        "is_complete": bool(sources),
    }


def _sources_of(facts: Mapping[str, Any]) -> tuple[Source, ...]:
    return in_order(map(Source.from_dict, facts["sources"]))


def _table(
    file: Any, facts: dict[str, Any], wanted: Sequence[str], data: Any, limits: Limits
) -> Any:
    """Return a file's table, with texts as numbers of distinct texts."""
    from pyarrow import compute

    types, metadata, is_weighted = _types_of_kinds(), file.metadata, facts["is_weighted"]
    named = [(column["name"], column["kind"]) for column in facts["group_columns"] or []]
    of_groups = [(name, types[kind]) for name, kind in named]
    of_values = [(name, _type_of(name, is_weighted=is_weighted)) for name in wanted]
    parquet.check_columns(file.schema_arrow, [*of_groups, *of_values])
    parquet.check_size(metadata, facts["n_cells"], len(data))
    texts = [name for name, kind in named if kind in _TEXTS]
    _check_limits_of_size(metadata, len(texts), limits)
    may_lack = [name for name, kind in named if kind != "text"]
    table = parquet.table_of(data, metadata, texts, may_lack)
    # Refuse long labels before they become Python objects.
    chunks = (chunk for name in texts for chunk in table.column(name).chunks)
    lengths = (compute.max(compute.utf8_length(chunk.dictionary)).as_py() for chunk in chunks)
    limits.check_text(max((length or 0 for length in lengths), default=0))
    return table


def _check_limits_of_size(metadata: Any, n_texts: int, limits: Limits) -> None:
    """Refuse content beyond the receiver's limits before it is read."""
    in_memory = parquet.size_in_memory(metadata)
    limits.check("max_bytes", in_memory, "its content would take {} bytes of memory")
    # A character of UTF-8 has up to 4 bytes. Pages hold a text once, or once per row.
    per_row = _BYTES_PER_VALUE * metadata.num_columns + 4 * limits.max_label_length * n_texts
    if parquet.size_declared(metadata) > _FEW_BYTES + per_row * metadata.num_rows:
        raise LimitError(
            f"its {metadata.num_rows:,} rows would take {in_memory:,} bytes of memory, so it has "
            f"labels above the receiver's limit of {limits.max_label_length:,} characters; pass "
            "limits=Limits(max_label_length=...) to accept it"
        )


def _runs(table: Any, described: Sequence[Any]) -> tuple[NDArray[np.int64], list[GroupColumn]]:
    """Return where the groups change, and the group columns with one value per run."""
    import pyarrow as pa

    begins = np.zeros(table.num_rows, np.bool_)
    begins[:1] = True
    whole = [column.combine_chunks() for column in table.columns[: len(described)]]
    for array in whole:
        begins |= _begins(array.dictionary_encode().indices.fill_null(-1).to_numpy())
    first = np.flatnonzero(begins)
    of_runs = [array.take(pa.array(first)) for array in whole]
    columns = list(map(GroupColumn, described, of_runs))
    return np.append(first, table.num_rows), columns


def _values(column: Any, name: str) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        return np.array(_integers(column), object)
    values: NDArray[Any] = column.to_numpy()
    if name in _N_ROWS and values.size and int(values.min()) < 0:
        place = int(np.argmax(values < 0))
        raise ValueError(f"column {name} has {values[place]} in row {place}")
    return values


def _state_of(
    starts: NDArray[np.int64], values: Mapping[str, Any], labels: Any, facts: dict[str, Any]
) -> State:
    """Return a state from rows in any order; rows in order keep their arrays."""
    weights, ranges = stacked(values, WEIGHT_COLUMNS), stacked(values, RANGE_COLUMNS)
    negatives, positives = (values[name] for name in _N_ROWS)
    is_sorted = labels is None or _labels.are_sorted_labels(labels)
    content: Cells | Summary
    if facts["disclosure"].level == "summary":
        if starts[-1] != (starts.size - 1 if labels is None else len(set(labels.tolist()))):
            raise ValueError("it is a summary with several rows of a group")
        dtype = dtype_of_u2(negatives, positives) if weights is None else np.dtype(np.float64)
        prefixes = [prefix for prefix in _PREFIXES if f"{prefix}u2" in values]
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
        return changed(state, state.cells, None)
    return regrouped(state, lambda label: label)._replace(**facts)


class GroupColumn(NamedTuple):
    """Group label column, with one value per group; texts are a `pyarrow.DictionaryArray`.

    ========  ==========================================  ===================================
    kind      labels                                      values
    ========  ==========================================  ===================================
    boolean   booleans                                    booleans
    integer   integers                                    64-bit integers
    unsigned  integers, some of 2**63 or more             unsigned 64-bit integers
    text      strings                                     strings
    date      dates without a time zone                   microseconds since 1970
    instant   dates of one time zone                      microseconds since 1970 in UTC
    coded     periods, intervals, tuples, instants of     text, with the labels of all texts
              several time zones
    ========  ==========================================  ===================================

    The label `MISSING` is text in a column of text, and an absent value in all other columns. The
    facts, for the metadata, are the kind, an instant's zone and the labels of coded texts.
    """

    facts: Mapping[str, Any]
    array: Any


def _column_of(labels: NDArray[Any]) -> GroupColumn:
    import pyarrow as pa

    is_missing = np.zeros(labels.size, np.bool_)
    facts, known = {"kind": "text"}, labels
    if labels.dtype.kind != "O":
        facts, known = _coded(labels)
    elif not all(isinstance(label, str) for label in labels):
        is_missing = np.fromiter(map(is_missing_label, labels), np.bool_, labels.size)
        facts, known = _coded(_typed(labels[~is_missing]))
    values = np.full(labels.size, "" if known.dtype.kind == "O" else 0, known.dtype)
    values[~is_missing] = known
    wanted = _types_of_kinds()[facts["kind"]]
    if facts["kind"] not in _TEXTS:
        return GroupColumn(facts, pa.array(values, mask=is_missing).cast(wanted))
    encoded = pa.array(values, wanted).dictionary_encode()
    codes = pa.array(encoded.indices.to_numpy(), mask=is_missing)
    return GroupColumn(facts, pa.DictionaryArray.from_arrays(codes, encoded.dictionary))


def _coded(known: NDArray[Any]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return the facts and the values of a column of labels that are not missing."""
    kind = _KINDS_OF_ARRAYS.get(known.dtype.kind)
    if kind is not None:
        return {"kind": kind}, _checked_dates(known.view(np.int64)) if kind == "date" else known
    entries = [entry_of(item) for item in known]
    zones = {entry.get("zone") if isinstance(entry, dict) else None for entry in entries}
    if len(zones) == 1 and None not in zones:
        dates = np.array([instant.to_datetime64() for instant in known], "datetime64[us]")
        return {"kind": "instant", "zone": zones.pop()}, dates.view(np.int64)
    coded = [json.dumps(entry) for entry in entries]
    text_of = {code: str(label) for code, label in zip(coded, known.tolist(), strict=True)}
    if len(set(text_of.values())) < len(text_of):  # labels whose texts are equal
        text_of = {code: code for code in text_of}
    pairs = [[text, json.loads(code)] for code, text in text_of.items()]
    return {"kind": "coded", "labels": pairs}, object_array(text_of[code] for code in coded)


def _typed(known: NDArray[Any]) -> NDArray[Any]:
    """Return labels of one simple type as an array of this type; others unchanged."""
    items = known.tolist()
    types = set(map(type, items))
    if types == {bool}:
        return known.astype(np.bool_)
    if types == {int} and (max(items) < 1 << 63 or min(items) >= 0):
        return known.astype(np.int64 if max(items) < 1 << 63 else np.uint64)
    if types == {datetime.datetime} and all(date.tzinfo is None for date in items):
        return known.astype("datetime64[us]")
    return known


def _checked_dates(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Raise an error for NaT and for dates that Python cannot represent."""
    if values.size and (values.min() < _FIRST or values.max() > _LAST):
        raise ValueError("dates must be from the years 1 to 9999")
    return values


def labels_of(columns: list[GroupColumn]) -> NDArray[Any]:
    """Return the group labels from a file's columns."""
    if len(columns) == 1:
        labels = _labels_of(columns[0])
        if labels.size and isinstance(labels[0], tuple):
            raise ValueError("one column has the labels of several")
        return labels
    parts = [_labels_of(column).tolist() for column in columns]
    return object_array(zip(*parts, strict=True))


def _labels_of(column: GroupColumn) -> NDArray[Any]:
    labels = _known_labels(column)
    if not column.array.null_count:
        return labels
    with_missing = object_array([_labels.MISSING] * len(column.array))
    with_missing[_plain(column.array.is_valid())] = object_array(labels.tolist())
    return with_missing


def _known_labels(column: GroupColumn) -> NDArray[Any]:
    facts, array = column.facts, column.array.drop_null()
    if facts["kind"] in _TEXTS:
        texts: NDArray[Any] = object_array(array.dictionary.to_pylist())
        known: NDArray[Any] = texts[_plain(array.indices)]
    else:
        known = _plain(array)
    if facts["kind"] == "unsigned":
        # Integers that fit have the signed type, so that equal labels have equal arrays.
        is_small = known.size == 0 or int(known.max()) < 1 << 63
        return known.astype(np.int64) if is_small else known
    if facts["kind"] == "date":
        return _checked_dates(known).view("datetime64[us]")
    if facts["kind"] == "instant":
        import pandas as pd

        dates = pd.DatetimeIndex(_checked_dates(known).view("datetime64[us]"))
        instants = dates.tz_localize("UTC").tz_convert(facts["zone"])
        if str(instants.tz) != facts["zone"]:
            raise ValueError(f"{shortened(facts['zone'])} is no time zone")
        return object_array(instants)
    if facts["kind"] == "coded":
        label_of_text = {text: label_of(entry) for text, entry in facts["labels"]}
        # Labels that a simpler kind of column can hold have arrays of another type.
        if _column_of(object_array(label_of_text.values())).facts["kind"] != "coded":
            raise ValueError("coded labels are of another kind")
        return object_array(label_of_text[text] for text in known)
    return known


def stacked(values: Mapping[str, NDArray[Any]], names: Sequence[str]) -> Any:
    """Return columns as rows of one array; None if there are none of these names."""
    known = [values[name] for name in names if name in values]
    return np.stack(known) if known else None


def named_columns(state: State, taken: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return the group columns of a table, with one label per group; none has a name in `taken`."""
    if state.labels is None:
        return {}
    names, columns = state.group_names, _labels.columns_of_labels(state.labels)
    if not state.labels.size:  # only the names determine the number of columns
        columns *= max(1, len(names))
    if not len(names) == len(columns) == len(set(names) - set(taken)):
        names = _labels.default_names(len(columns))
    return dict(zip(names, columns, strict=True))


def entry_of(label: Any) -> Any:
    """Return a label as a value that JSON can represent."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [entry_of(part) for part in label]
    if isinstance(label, datetime.datetime) and label.tzinfo is None:
        return {"date": label.isoformat()}
    if isinstance(label, bool | int | float | str):
        return label
    entry = _entry_of_pandas(label)
    if entry is not None:
        return entry
    is_enum = isinstance(label, enum.Enum)
    mend = "[member.name for member in labels]" if is_enum else ".astype(str)"
    raise TypeError(
        "files keep groups labelled by booleans, integers, strings, dates, periods or intervals; "
        f"got {shortened(label)}. Convert labels, for instance by {mend}."
    )


def _entry_of_pandas(label: Any) -> dict[str, Any] | None:
    """Return an entry for a pandas label; None if reading the entry gives a different label."""
    pd = sys.modules.get("pandas")
    entry: dict[str, Any]
    if pd is None:
        return None
    if isinstance(label, pd.Period):
        entry = {"period": label.ordinal, "frequency": label.freqstr}
    elif isinstance(label, pd.Interval):
        ends = [entry_of(end) for end in (label.left, label.right)]
        entry = {"interval": ends, "closed": label.closed}
    elif isinstance(label, pd.Timestamp):
        entry = {"instant": label.tz_convert("UTC").isoformat(), "zone": str(label.tz)}
    else:
        return None
    try:
        again = label_of(entry)
        is_alike = again == label and str(again) == str(label)
    except (TypeError, ValueError, KeyError):  # pandas may not know the time zone
        return None
    return entry if is_alike else None


def label_of(entry: Any) -> Any:
    """Return an entry's label."""
    if isinstance(entry, list):
        return tuple(map(label_of, entry))
    if not isinstance(entry, dict):
        return entry
    if "date" in entry:
        return datetime.datetime.fromisoformat(entry["date"])
    import pandas as pd

    if "period" in entry:
        return pd.Period(ordinal=entry["period"], freq=entry["frequency"])
    if "interval" in entry:
        ends = map(label_of, entry["interval"])
        left, right = (pd.Timestamp(e) if isinstance(e, datetime.datetime) else e for e in ends)
        return pd.Interval(left, right, closed=entry["closed"])
    return pd.Timestamp(entry["instant"]).tz_convert(entry["zone"])


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


def _old_checksum(facts: Mapping[str, Any], state: State, columns: Sequence[GroupColumn]) -> str:
    """Return the SHA-256 of the sorted JSON, the texts of the groups and the arrays."""
    import pyarrow as pa

    arrays, texts = state._replace(labels=None).arrays, []
    if state.summary is not None:
        *arrays, u2, moments = arrays
        for of_prefix in zip(u2, moments, strict=True):
            arrays += of_prefix
    for of_column, array in columns:
        if of_column["kind"] in _TEXTS:
            texts.append(array.dictionary_decode().fill_null("").to_pylist())
        else:
            arrays.append(_plain(array.fill_null(pa.scalar(0).cast(array.type))))
        if array.null_count:
            arrays.append(_plain(array.is_null()))
    return parquet.digest(facts, texts, arrays)
