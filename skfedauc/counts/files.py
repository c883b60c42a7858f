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
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._input.arrays import object_array
from skfedauc._input.labels import is_missing as is_missing_label
from skfedauc._kernel import Cells, compact_counts
from skfedauc._output_file import check_target, write_whole
from skfedauc._words import counted, described, listed, shortened
from skfedauc.counts import parquet
from skfedauc.counts.bins import Bins, Immutable
from skfedauc.counts.disclosure import Disclosure, Withheld
from skfedauc.counts.moments import OwnMoments, Summary, dtype_of_u2
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
KINDS = ("boolean", "integer", "unsigned", "text", "date", "instant", "coded")
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


class LimitError(ValueError):
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


# Columns -------------------------------------------------------------------------------------


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
    content, is_weighted = state.content, state.is_weighted
    if isinstance(content, Summary):
        names = _column_names("summary", is_weighted=is_weighted, has_limits=content.has_limits)
        of_weights = () if content.weights is None else content.weights
        columns: list[Any] = [content.negatives, content.positives, *of_weights]
        for u2, moments in zip(content.u2, content.moments, strict=True):
            columns += [u2, *moments]
        return content.starts, dict(zip(names, columns, strict=True))
    names = _column_names(state.disclosure.level, is_weighted=is_weighted, has_limits=False)
    starts, scores, negatives, positives, weights = content
    ends = () if state.ranges is None else state.ranges
    columns = [scores, *ends, negatives, positives, *(() if weights is None else weights)]
    return starts, dict(zip(names, columns, strict=True))


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


# Checksum ------------------------------------------------------------------------------------


def checksum(
    facts: bytes,
    columns: Sequence[GroupColumn],
    sizes: NDArray[np.int64],
    values: Mapping[str, NDArray[Any]],
) -> str:
    """Return the SHA-256 over the metadata and the columns, one after the other.

    Group columns have one value per run of equal groups, `sizes` the rows of each run; the other
    columns have one value per row.
    """
    sha256 = hashlib.sha256(facts)
    for column in columns:
        for piece in _bytes_of_groups(column, sizes):
            sha256.update(piece)
    for array in values.values():
        pieces = map(_of_text, array.tolist()) if array.dtype.kind == "O" else _of_numbers(array)
        for piece in pieces:
            sha256.update(piece)
    return sha256.hexdigest()


def _of_numbers(values: NDArray[Any]) -> Iterator[bytes]:
    """Yield numbers in 8 bytes each, big-endian: doubles or integers of 64 bits."""
    kind = {"f": ">f8", "u": ">u8"}.get(values.dtype.kind, ">i8")
    for first in range(0, values.size, _CHUNK):
        yield values[first : first + _CHUNK].astype(kind).tobytes()


def _of_text(text: Any) -> bytes:
    """Return a text as its length in bytes (8 bytes, big-endian) and UTF-8."""
    data = str(text).encode()
    return len(data).to_bytes(8, "big") + data


def _bytes_of_groups(column: GroupColumn, sizes: NDArray[np.int64]) -> Iterator[bytes]:
    values, is_missing = column.values, column.is_missing
    if values.dtype.kind != "O" and is_missing is None:
        yield from _of_numbers(np.repeat(values, sizes))
        return
    for number, size in enumerate(sizes.tolist()):
        if is_missing is not None and is_missing[number]:
            yield _ABSENT * size
        elif values.dtype.kind == "O":
            yield _of_text(values[number]) * size
        else:
            yield b"".join(_of_numbers(values[number : number + 1])) * size


# Writing -------------------------------------------------------------------------------------


def content_of(state: State) -> bytes:
    """Return a file's content."""
    parquet.pyarrow_parquet()  # raise the error for a missing package
    import pyarrow as pa

    starts, values = values_of(state)
    sizes = np.diff(starts)
    columns = [] if state.labels is None else columns_of(state.labels)
    names: tuple[str, ...] = ()
    if columns:
        if not sizes.size:  # only the names determine the number of columns
            columns *= max(1, len(state.group_names))
        names = names_of_columns(state.group_names, len(columns), sizes.size, values)
    types = _types_of_kinds()
    types |= dict.fromkeys(("text", "coded"), pa.dictionary(pa.int32(), pa.string()))
    fields = [
        pa.field(name, types[column.kind], nullable=column.is_missing is not None)
        for name, column in zip(names, columns, strict=True)
    ]
    arrays = [
        _group_array(column, sizes, field.type)
        for column, field in zip(columns, fields, strict=True)
    ]
    floats = {name: array for name, array in values.items() if array.dtype.kind == "f"}
    varied = [name for name, array in floats.items() if not _repeats(array)]
    exact: dict[str, NDArray[Any]] = {}
    for name, array in values.items():
        kind = _type_of(name, is_weighted=state.is_weighted)
        fields.append(pa.field(name, kind, nullable=False))
        exact[name] = array.astype(object) if pa.types.is_decimal(kind) else array
        if pa.types.is_decimal(kind):
            arrays.append(pa.array(list(map(Decimal, array.tolist())), kind))
        else:  # unsigned integers would wrap around when users subtract columns
            arrays.append(pa.array(array.astype(np.int64) if array.dtype.kind == "u" else array))
    text = json.dumps(_facts_of(state, names, columns), ensure_ascii=False).encode()
    metadata = {parquet.KEY: text, _CHECKSUM: checksum(text, columns, sizes, exact)}
    return parquet.written(
        pa.Table.from_arrays(arrays, schema=pa.schema(fields)),
        metadata,
        use_dictionary=[field.name for field in fields if field.name not in varied],
        column_encoding=dict.fromkeys(varied, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
    )


def _facts_of(state: State, names: Sequence[str], columns: Sequence[GroupColumn]) -> dict[str, Any]:
    negatives, positives = state.n_rows
    rule = state.disclosure
    facts: dict[str, Any] = {
        "format": parquet.COUNTS_FORMAT,
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
        described = facts["group_columns"] = []
        for name, of in zip(names, columns, strict=True):
            told = {"name": name, "kind": of.kind, "zone": of.zone, "labels": of.labels}
            described.append({key: value for key, value in told.items() if value is not None})
    if state.group_names != tuple(names):
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


def _group_array(column: GroupColumn, sizes: NDArray[np.int64], wanted: Any) -> Any:
    import pyarrow as pa

    mask = None if column.is_missing is None else np.repeat(column.is_missing, sizes)
    if column.values.dtype.kind != "O":
        array = pa.array(np.repeat(column.values, sizes), mask=mask)
        return array if array.type == wanted else array.view(wanted)
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) for text in column.values]
    numbers = pa.array(np.repeat(np.array(codes, np.int32), sizes), mask=mask)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(list(places), pa.string()))


# Reading -------------------------------------------------------------------------------------


def read_content(data: Any, name: str, limits: Limits) -> State:
    """Return a file's counts, if the file is whole and rows with these counts can exist."""
    try:
        limits.check("max_bytes", len(data), "it has {} bytes or more")
        return _content_in(data, name, limits)
    except LimitError as error:
        raise LimitError(f"{name} is refused: {error}.") from None


def _content_in(data: Any, name: str, limits: Limits) -> State:
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
        if not isinstance(facts, dict) or facts.get("format") != parquet.COUNTS_FORMAT:
            raise ValueError("its metadata has another format")
        parquet.check_version(facts, name, VERSION)
        state = _read(file, facts, data, limits)
    except (parquet.NewerVersionError, LimitError):
        raise
    except Exception as error:
        raise parquet.damaged(name, error) from error
    return checked(state, name)


def read_sources(path: Any) -> tuple[Source, ...]:
    """Return a file's sources without reading its table; none if it is damaged."""
    try:
        metadata = parquet.pyarrow_parquet().read_metadata(path).metadata
        return _sources_of(json.loads(metadata[parquet.KEY]))
    except Exception:  # reading the counts will raise the error
        return ()


_TYPES: dict[str, type] = {
    "package": str,
    "level": str,
    "n_cells": int,
    "n_negatives": int,
    "n_positives": int,
    "n_missing": int,
    "is_weighted": bool,
    "labels_seen": list,
    "sources": list,
}


def _check_facts(facts: dict[str, Any], limits: Limits) -> None:
    for key, kind in _TYPES.items():
        if type(facts.get(key)) is not kind:
            raise ValueError(f"its metadata has no {key} of type {kind.__name__}")
    level = facts["level"]
    if level not in ("exact", "bins", "summary") or ("bins" in facts) != (level == "bins"):
        raise ValueError("its metadata has no known level of disclosure")
    if type(facts.get("has_limits")) is not (bool if level == "summary" else type(None)):
        raise ValueError("its metadata has no has_limits of type bool")
    classes = [*facts["labels_seen"], *[facts["pos_label"]] * (facts["pos_label"] is not None)]
    if not all(type(label) in (int, float, str) and label == label for label in classes):
        raise ValueError("its metadata has labels of classes that are none")
    names = facts.get("group_names", [])
    if type(names) is not list or not all(type(name) is str for name in names):
        raise ValueError("its metadata has group_names that are no names")
    withheld = facts.get("withheld")
    if withheld is not None and not (
        type(withheld) is dict
        and set(withheld) == set(Withheld._fields)
        and isinstance(withheld["labels"], list | None)
    ):
        raise ValueError("its metadata has withheld groups that are none")
    if "checkpoint" in facts:
        raise ValueError("it is a checkpoint of from_batches, with only a part of the rows")
    if not facts["sources"]:
        raise ValueError("its metadata has no sources")
    _check_group_columns(facts["group_columns"])
    n_rows = max(facts["n_negatives"], facts["n_positives"])
    limits.check("max_rows", n_rows, "it counts {} rows of a class")
    limits.check("max_cells", facts["n_cells"], "it has {} cells")
    limits.check("max_sources", len(facts["sources"]), "it has {} sources")
    limits.check_text(max(map(len, _texts_in(facts)), default=0))


def _check_group_columns(columns: Any) -> None:
    if columns is not None and not (type(columns) is list and columns):
        raise ValueError("its metadata has group_columns that are none")
    for column in columns or []:
        if type(column) is not dict or column.get("kind") not in KINDS:
            raise ValueError("its metadata has a column of groups of no known kind")
        if type(column.get("name")) is not str:
            raise ValueError("its metadata has a column of groups without a name")
        has_zone, has_labels = type(column.get("zone")) is str, type(column.get("labels")) is list
        if has_zone != (column["kind"] == "instant") or has_labels != (column["kind"] == "coded"):
            raise ValueError("its metadata does not describe the labels of a column of groups")


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


def _read(file: Any, facts: dict[str, Any], data: Any, limits: Limits) -> State:
    written = facts
    if facts["version"] < VERSION:
        facts = _updated(facts)
    _check_facts(facts, limits)
    described, level = facts["group_columns"] or [], facts["level"]
    is_weighted = facts["is_weighted"]
    wanted = _column_names(level, is_weighted=is_weighted, has_limits=bool(facts.get("has_limits")))
    table = _table(file, facts, wanted, data, limits)
    starts, columns = _runs(table, described)
    values = {
        name: _values(column, name)
        for name, column in zip(wanted, table.columns[len(described) :], strict=True)
    }
    if facts["version"] < VERSION:
        digest, expected = _old_checksum(written, starts, values, columns), written.get("sha256")
    else:
        metadata = file.metadata.metadata
        expected = metadata.get(_CHECKSUM, b"").decode()
        digest = checksum(metadata[parquet.KEY], columns, np.diff(starts), values)
    if digest != expected:
        raise ValueError("its SHA-256 is another one")
    for name in _N_ROWS:
        found = int(values[name].sum(dtype=np.uint64))
        if found != facts[name]:
            raise ValueError(f"its metadata has {name} {facts[name]}, and its column {found}")
    known = _known_facts(facts, [column["name"] for column in described])
    labels = labels_of(columns) if described else None
    state = (
        _summary_state(starts, values, labels, known)
        if level == "summary"
        else _cells_state(starts, values, labels, known)
    )
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
    min_count = facts.get("min_count")
    if min_count is not None and type(min_count) is not int:
        raise ValueError("its metadata has a min_count that is no number")
    of_bins = None if bins is None else Bins.from_dict(bins)
    rule = Disclosure(facts["level"], of_bins, min_count, withheld=told)
    sources = _sources_of(facts)
    return {
        "disclosure": rule,
        "group_names": tuple(facts.get("group_names", names)),
        "classes": _input.Classes(tuple(facts["labels_seen"]), facts["pos_label"]),
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
    types, metadata = _types_of_kinds(), file.metadata
    kinds = {column["name"]: column["kind"] for column in facts["group_columns"] or []}
    is_weighted = facts["is_weighted"]
    of_groups = [(column["name"], types[column["kind"]]) for column in facts["group_columns"] or []]
    of_values = [(name, _type_of(name, is_weighted=is_weighted)) for name in wanted]
    parquet.check_columns(file.schema_arrow, [*of_groups, *of_values])
    parquet.check_size(metadata, facts["n_cells"], len(data))
    texts = [name for name, kind in kinds.items() if kind in ("text", "coded")]
    _check_limits_of_size(metadata, len(texts), limits)
    may_lack = [name for name, kind in kinds.items() if kind != "text"]
    table = parquet.table_of(data, metadata, texts, may_lack)
    _check_texts(table, texts, limits)
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


def _check_texts(table: Any, names: Sequence[str], limits: Limits) -> None:
    """Refuse long labels before they become Python objects."""
    from pyarrow import compute

    chunks = (chunk for name in names for chunk in table.column(name).chunks)
    lengths = (compute.max(compute.utf8_length(chunk.dictionary)).as_py() for chunk in chunks)
    limits.check_text(max((length or 0 for length in lengths), default=0))


def _runs(table: Any, described: Sequence[Any]) -> tuple[NDArray[np.int64], list[GroupColumn]]:
    """Return where the groups change, and the group columns with one value per run."""
    n_rows = table.num_rows
    begins = np.zeros(n_rows, np.bool_)
    begins[:1] = True
    encoded = [_encoded(column) for column in table.columns[: len(described)]]
    for values, _, is_missing in encoded:
        for array in (values, is_missing):
            if array is not None:
                begins[1:] |= array[1:] != array[:-1]
    first = np.flatnonzero(begins)
    columns = []
    for (values, texts, is_missing), facts in zip(encoded, described, strict=True):
        own = values[first] if texts is None else texts[values[first]]
        absent = None if is_missing is None else is_missing[first]
        zone, labels = facts.get("zone"), facts.get("labels")
        columns.append(GroupColumn(facts["kind"], own, absent, zone, labels))
    return np.append(first, n_rows), columns


def _encoded(column: Any) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[np.bool_] | None]:
    """Return all rows' values, the texts that they index, and where values are absent."""
    import pyarrow as pa

    is_missing = column.is_null().to_numpy() if column.null_count else None
    if pa.types.is_dictionary(column.type):
        chunks = column.unify_dictionaries().chunks
        texts = chunks[0].dictionary.to_pylist() if chunks else []
        numbers = [chunk.indices for chunk in chunks]
        codes = [n.fill_null(-1).to_numpy() if n.null_count else n.to_numpy() for n in numbers]
        # The code -1 indexes the last text.
        values = np.concatenate([np.zeros(0, np.int32), *codes])
        return values, _input.object_array([*texts, ""]), is_missing
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return column.to_numpy(), None, is_missing


def _values(column: Any, name: str) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        return np.array([int(value) for value in column.to_pylist()], object)
    values: NDArray[Any] = column.to_numpy()
    if name in _N_ROWS and values.size and int(values.min()) < 0:
        place = int(np.argmax(values < 0))
        raise ValueError(f"column {name} has {values[place]} in row {place}")
    return values


def _cells_state(
    starts: NDArray[np.int64], values: Mapping[str, Any], labels: Any, facts: dict[str, Any]
) -> State:
    """Return a state from cells in any order; cells in order keep their arrays."""
    negatives, positives = (compact_counts(values[name]) for name in _N_ROWS)
    weights, ranges = stacked(values, WEIGHT_COLUMNS), stacked(values, RANGE_COLUMNS)
    scores = values["score"] + 0.0  # -0.0 becomes 0.0
    cells = Cells(starts.astype(np.intp), scores, negatives, positives, weights)
    state = State(cells, labels, ranges, **facts)
    rises = scores[1:] > scores[:-1]
    rises[starts[1:-1] - 1] = True
    is_sorted = rises.all() and (labels is None or _input.are_sorted_labels(labels))
    if is_sorted or not np.isfinite(scores).all():
        return state  # the check of the state refuses scores that are not finite
    if labels is None:
        return changed(state, cells, None)
    numbers, labels = _input.map_labels(labels.tolist(), lambda label: label, "labels")
    return changed(state, cells, np.repeat(numbers, np.diff(starts)), labels=labels)


def _summary_state(
    starts: NDArray[np.int64], values: Mapping[str, Any], labels: Any, facts: dict[str, Any]
) -> State:
    """Return a summary's state, with one row per group in any order."""
    if starts.size - 1 != starts[-1]:
        raise ValueError("it is a summary with several rows of a group")
    negatives, positives = (values[name] for name in _N_ROWS)
    weights = stacked(values, WEIGHT_COLUMNS)
    dtype = dtype_of_u2(negatives, positives) if weights is None else np.dtype(np.float64)
    prefixes = [prefix for prefix in _PREFIXES if f"{prefix}u2" in values]
    u2 = np.stack([values[f"{prefix}u2"].astype(dtype) for prefix in prefixes])
    moments = np.array([[values[prefix + of] for of in OwnMoments._fields] for prefix in prefixes])
    state = State(Summary(negatives, positives, weights, u2, moments), labels, **facts)
    if labels is None or _input.are_sorted_labels(labels):
        return state
    order, known = _input.map_labels(labels.tolist(), lambda label: label, "labels")
    if known.size < order.size:
        raise ValueError("it is a summary with several rows of a group")
    assert isinstance(state.content, Summary)
    return state._replace(content=state.content.take(np.argsort(order)), labels=known)


# Group labels -------------------------------------------------------------------------------


class GroupColumn(NamedTuple):
    """Group label column, with one value per group.

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

    The label `MISSING` is text in a column of text, and an absent value in all other columns.
    """

    kind: str
    values: NDArray[Any]
    is_missing: NDArray[np.bool_] | None = None
    zone: str | None = None
    labels: list[Any] | None = None


def columns_of(labels: NDArray[Any]) -> list[GroupColumn]:
    """Return group label columns, with one column for each part of a tuple."""
    return [_column_of(part) for part in _input.columns_of_labels(labels)]


def _column_of(labels: NDArray[Any]) -> GroupColumn:
    is_missing = np.zeros(labels.size, np.bool_)
    known = labels
    if labels.dtype.kind == "O":
        items = labels.tolist()
        if all(isinstance(item, str) for item in items):
            return GroupColumn("text", object_array(map(str.__str__, items)))
        is_missing = np.fromiter(map(is_missing_label, items), np.bool_, len(items))
        known = _typed(labels[~is_missing])
    zone = pairs = None
    if known.dtype.kind in _KINDS_OF_ARRAYS:
        kind = _KINDS_OF_ARRAYS[known.dtype.kind]
        if kind == "date":
            known = _checked_dates(known.view(np.int64))
        elif kind != "boolean":
            known = known.astype(np.uint64 if kind == "unsigned" else np.int64, copy=False)
    else:
        entries = [entry_of(item) for item in known]
        zones = {entry.get("zone") if isinstance(entry, dict) else None for entry in entries}
        if len(zones) == 1 and None not in zones:
            kind, zone = "instant", zones.pop()
            dates = [instant.to_datetime64() for instant in known]
            known = np.array(dates, "datetime64[us]").view(np.int64)
        else:
            kind, coded = "coded", [json.dumps(entry) for entry in entries]
            text_of = _texts(coded, known.tolist())
            known = object_array(text_of[code] for code in coded)
            pairs = [[text, json.loads(code)] for code, text in text_of.items()]
    if not is_missing.any():
        return GroupColumn(kind, known, None, zone, pairs)
    values = np.full(labels.size, "" if known.dtype.kind == "O" else 0, known.dtype)
    values[~is_missing] = known
    return GroupColumn(kind, values, is_missing, zone, pairs)


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


def _texts(coded: list[str], labels: list[Any]) -> dict[str, str]:
    """Return a text for each distinct label; labels whose texts are equal get their code."""
    text_of = {code: str(label) for code, label in zip(coded, labels, strict=True)}
    texts = list(text_of.values())
    if len(set(texts)) == len(texts):
        return text_of
    return {code: code for code in text_of}


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
    known = column.values if column.is_missing is None else column.values[~column.is_missing]
    labels = _known_labels(column, known)
    if column.is_missing is None:
        return labels
    with_missing = object_array([_input.MISSING] * column.values.size)
    with_missing[~column.is_missing] = object_array(labels.tolist())
    return with_missing


def _known_labels(column: GroupColumn, known: NDArray[Any]) -> NDArray[Any]:
    if column.kind == "unsigned":
        # Integers that fit have the signed type, so that equal labels have equal arrays.
        is_small = known.size == 0 or int(known.max()) < 1 << 63
        return known.astype(np.int64) if is_small else known
    if column.kind == "date":
        return _checked_dates(known).view("datetime64[us]")
    if column.kind == "instant":
        import pandas as pd

        dates = pd.DatetimeIndex(_checked_dates(known).view("datetime64[us]"))
        instants = dates.tz_localize("UTC").tz_convert(column.zone)
        if str(instants.tz) != column.zone:
            raise ValueError(f"{shortened(column.zone)} is no time zone")
        return object_array(instants)
    if column.kind == "coded":
        label_of_text = {text: label_of(entry) for text, entry in column.labels or []}
        # Labels that a simpler kind of column can hold have arrays of another type.
        if _column_of(object_array(label_of_text.values())).kind != "coded":
            raise ValueError("coded labels are of another kind")
        return object_array(label_of_text[text] for text in known)
    return known


# Names of columns ---------------------------------------------------------------------------


def stacked(values: Mapping[str, NDArray[Any]], names: Sequence[str]) -> Any:
    """Return columns as rows of one array; None if there are none of these names."""
    known = [values[name] for name in names if name in values]
    return np.stack(known) if known else None


def names_of_columns(
    names: Iterable[str], n_columns: int, n_groups: int, counted: Iterable[str]
) -> tuple[str, ...]:
    """Return the group column names in a table with the columns `counted`."""
    own = tuple(names)
    # Without labels, only the names determine the number of columns.
    has_other_number = len(own) != n_columns and n_groups > 0
    if not own or has_other_number or set(own) & set(counted):
        return _input.default_names(n_columns)
    return own


# Labels as JSON -----------------------------------------------------------------------------


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


# Versions 1 to 3, whose checksum covers the JSON text that Python writes --------------------

_LEVELS = {1: "exact", 2: "bins", 3: "summary"}


def _updated(facts: Mapping[str, Any]) -> dict[str, Any]:
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


def _old_checksum(
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
        weights = stacked(values, WEIGHT_COLUMNS)
        arrays = [*numbers, *([] if weights is None else [weights]), *sums]
    else:
        numbers = [compact_counts(values[name]) for name in COUNT_COLUMNS[1:]]
        known = [stacked(values, names) for names in (WEIGHT_COLUMNS, RANGE_COLUMNS)]
        arrays = [starts, values["score"], *numbers, *(of for of in known if of is not None)]
    texts = [column.values.tolist() for column in columns if column.values.dtype.kind == "O"]
    for column in columns:
        of_groups = (column.values, column.is_missing)
        arrays += [of for of in of_groups if of is not None and of.dtype.kind != "O"]
    return parquet.digest(facts, texts, arrays)
