"""Parquet files in memory, with JSON metadata and a checksum in addition to the columns.

Score counts (`files`) and private counts (`skfedauc.privacy`) have separate formats.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc._output_file import check_path
from skfedauc._words import described, listed, shortened

# Values of the key `format` of the metadata, by the class whose files have it
FORMATS = {"ScoreCounts": "skfedauc counts", "PrivateCounts": "skfedauc private counts"}
MAGIC = b"PAR1"
KEY = b"skfedauc"
T = TypeVar("T")
# Rows of a row group
_GROUP_ROWS = 1 << 20
# Largest size of content in memory: this number of bytes, or this number of times its file.
_SMALL, _MOST_EXPANDED = 1 << 24, 1 << 10


class RefusedError(ValueError):
    """A file that is refused although it is not damaged."""


class OtherFileError(RefusedError):
    """Error for data that are not score counts."""


class NewerVersionError(RefusedError):
    """A file with a version that this package does not know."""


class DamagedFileError(ValueError):
    """Error for unreadable data, caused by the reader's error."""


def damaged(name: str, error: Exception, kind: str = "ScoreCounts") -> DamagedFileError:
    """Return the error for an unreadable file."""
    reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
    return DamagedFileError(
        f"{name} is no file of {kind}, or is damaged: {reason[:400].rstrip('.')}. Ask for another "
        "copy."
    )


def pyarrow_parquet() -> Any:
    """Return the module `pyarrow.parquet`."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            "Files of ScoreCounts need pyarrow, which is not installed by default. Install it by: "
            'pip install "skfedauc[files]"'
        ) from error


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
    """Raise a TypeError unless a file's content is bytes."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"data must be the bytes that {kind}.to_bytes returned; got {described(data)}. "
            f"{kind}.load reads a file by its path."
        )


def version_of_package() -> str:
    """Return this package's version, or "unknown" without an installation."""
    try:
        return skfedauc.__version__
    except PackageNotFoundError:  # a cluster may send the package to its workers as a plain folder
        return "unknown"


def written(table: Any, metadata: Mapping[Any, Any], **options: Any) -> bytes:
    """Return a file's content; the options are those of `pyarrow.parquet.ParquetWriter`."""
    import pyarrow as pa

    options |= {"write_page_checksum": True, "store_schema": False}
    for compression in ("zstd", "none"):
        sink = pa.BufferOutputStream()
        with pyarrow_parquet().ParquetWriter(
            sink, table.schema, compression=compression, **options
        ) as writer:
            if table.num_rows:
                writer.write_table(table, row_group_size=_GROUP_ROWS)
            writer.add_key_value_metadata(metadata)
        data = bytes(sink.getvalue())
        # Some content, such as the scores 0, 1, 2, ..., compresses very well. A reader would refuse
        # such a small file, because its content may exhaust the memory.
        if not is_too_large(opened(data).metadata, len(data)):
            break
    return data


def digest(
    facts: Mapping[str, Any], texts: Iterable[list[Any]], arrays: Iterable[NDArray[Any]]
) -> str:
    """Return the SHA-256 over metadata, text lists and arrays, in hexadecimal.

    Text is UTF-8. Numbers are little-endian, as on most processors.
    """
    plain = {name: value for name, value in facts.items() if name != "sha256"}
    sha256 = hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode())
    for of_column in texts:
        sha256.update(json.dumps(of_column, ensure_ascii=False).encode())
    for array in arrays:
        if array.dtype.kind == "O":  # integers of more than 64 bits
            sha256.update(json.dumps(array.tolist()).encode())
            continue
        ordered = array.astype(array.dtype.newbyteorder("<"), copy=False)
        sha256.update(np.ascontiguousarray(ordered).reshape(-1).view(np.uint8).data)
    return sha256.hexdigest()


def opened(data: Any, metadata: Any = None, texts: Sequence[str] = ()) -> Any:
    """Open a file, and read the columns `texts` as indices into distinct texts."""
    import pyarrow as pa

    return pyarrow_parquet().ParquetFile(
        pa.BufferReader(pa.py_buffer(data)),
        metadata=metadata,
        read_dictionary=list(texts),
        page_checksum_verification=True,
        pre_buffer=False,
        # By default, pyarrow refuses metadata of more than 100 MB, such as those of a million
        # sources.
        thrift_string_size_limit=min(len(data), (1 << 31) - 1),
    )


def read(
    data: Any, name: str, kind: str, newest: int, content_of: Callable[[Any, dict[str, Any]], T]
) -> T:
    """Return what `content_of` makes of a file and its metadata, if the class `kind` wrote it."""
    pyarrow_parquet()  # raise the error for a missing package
    head, tail = bytes(data[: len(MAGIC)]), bytes(data[-len(MAGIC) :])
    if MAGIC.startswith(head) and (tail != MAGIC or len(data) == len(MAGIC)):
        reason = "its end is missing, so it was probably cut off when it was copied"
        raise damaged(name, ValueError(reason), kind)
    if head != MAGIC:
        raise OtherFileError(
            f"{name} is not a file of {kind}, which begins with {MAGIC!r}; got {head!r}. Pass what "
            f"{kind}.save or to_bytes wrote."
        )
    try:
        file = opened(data)
        facts = json.loads((file.metadata.metadata or {}).get(KEY, "{}"))
        _check_format(facts, name, kind, newest)
        found, declared = size_of_pages(data), size_declared(file.metadata)
        if found > declared:
            raise ValueError(
                f"its pages would take {found:,} bytes of memory, and its metadata says "
                f"{declared:,}"
            )
        return content_of(file, facts)
    except RefusedError:
        raise
    except Exception as error:  # a damaged file may raise any exception
        raise damaged(name, error, kind) from error


def _check_format(facts: dict[str, Any], name: str, kind: str, newest: int) -> None:
    """Raise an error unless a file has a version up to the newest one of the class's format."""
    found, version = facts.get("format"), facts.get("version")
    if facts and found not in FORMATS.values():
        raise ValueError("its metadata has another format")
    if found != FORMATS[kind]:
        others = [other for other, known in FORMATS.items() if known == found]
        mend = "A table of counts is read by ScoreCounts.from_counts(**pandas.read_parquet(path))."
        raise OtherFileError(
            f"{name} is a Parquet file, but {kind}.save did not write it. "
            f"{f'Read it by {others[0]}.load or from_bytes.' if others else mend}"
        )
    if type(version) is not int or version < 1:
        raise ValueError(f"its metadata has the version {shortened(version)}")
    if version > newest:
        raise NewerVersionError(
            f"{name} has version {version} of the file format, written by skfedauc "
            f"{shortened(facts.get('package'))}; skfedauc {version_of_package()} reads versions "
            f"up to {newest}. Upgrade by: pip install --upgrade skfedauc"
        )


def check_columns(schema: Any, expected: Sequence[tuple[str, Any]]) -> None:
    """Raise an error unless a file has columns of these names and types."""
    import pyarrow as pa

    names = [name for name, _ in expected]
    if schema.names != names or len(set(names)) < len(names):
        raise ValueError(
            f"it has the columns {listed(schema.names, most=8)}; its metadata calls for "
            f"{listed(names, most=8)}"
        )
    for (name, wanted), found in zip(expected, schema.types, strict=True):
        # Decimals without fraction may have any precision.
        is_decimal = all(pa.types.is_decimal(of) and of.scale == 0 for of in (found, wanted))
        if found != wanted and not is_decimal:
            raise ValueError(f"column {shortened(name)} has the type {found} instead of {wanted}")


def check_size(metadata: Any, n_rows: int, size: int) -> None:
    """Refuse row counts that differ, and content that would exhaust the memory."""
    numbers = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if min(numbers, default=0) < 0 or not sum(numbers) == metadata.num_rows == n_rows:
        raise ValueError(
            f"it has {metadata.num_rows} rows, {sum(numbers)} in its row groups and {n_rows} by "
            "its metadata"
        )
    if is_too_large(metadata, size):
        raise ValueError(
            f"its content would take {size_in_memory(metadata):,} bytes of memory, and the file "
            f"has {size:,} bytes"
        )


def table_of(
    data: Any, metadata: Any, texts: Sequence[str] = (), may_lack: Iterable[str] = ()
) -> Any:
    """Return a file's table; only the columns `may_lack` may lack values."""
    table = opened(data, metadata, texts).read(use_threads=False)
    table.validate(full=True)
    for name, column in zip(table.column_names, table.columns, strict=True):
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
    view = memoryview(data)
    footer = len(view) - 8 - int.from_bytes(view[-8:-4], "little")
    size = n_pages = n_bytes = 0
    for start, stop in _chunks(_Thrift(view, footer)):
        n_bytes += stop - start
        if n_bytes > len(view):  # reading the same pages again and again would take forever
            raise ValueError("its pages overlap")
        for of_page in _sizes(view, start, stop):
            size, n_pages = size + of_page, n_pages + 1
            if n_pages > _MOST_PAGES:
                raise ValueError(f"it has more than {_MOST_PAGES:,} pages")
    return size


def _chunks(thrift: _Thrift) -> Iterator[tuple[int, int]]:
    """Yield where each column's pages begin and end in each row group."""
    for group in thrift.structure().get(_ROW_GROUPS, []):
        for column in group[_COLUMNS]:
            facts = column[_COLUMN_FACTS]
            start = facts[_DATA_OFFSET]
            if 0 < facts.get(_DICTIONARY_OFFSET, 0) < start:
                start = facts[_DICTIONARY_OFFSET]
            yield start, start + facts[_COMPRESSED_SIZE]


def _sizes(view: memoryview, place: int, stop: int) -> Iterator[int]:
    """Yield each page's size between two places."""
    if not 0 <= place <= stop <= len(view):
        raise ValueError("its pages are not in the file")
    while place < stop:
        thrift = _Thrift(view, place)
        header = thrift.structure()
        for kind, field in _KINDS_OF_PAGES.items():
            if kind in header and header[kind].get(field) not in _ENCODINGS:
                raise ValueError(f"a page has the encoding {header[kind].get(field)}")
        size, compressed = header[_PAGE_SIZE], header[_PAGE_COMPRESSED]
        if size < 0 or compressed < 0:
            raise ValueError("a page has a negative size")
        yield size
        place = thrift.place + compressed
    if place != stop:
        raise ValueError("its pages do not end where its metadata says")


class _Thrift:
    """Reader for Thrift's compact protocol: integers, lists and structures; others are None."""

    def __init__(self, view: memoryview, place: int) -> None:
        if place < 0:
            raise ValueError("its metadata begin before the file")
        self._view, self.place = view, place

    def _byte(self) -> int:
        self.place += 1
        return self._view[self.place - 1]

    def _number(self) -> int:
        """Read an unsigned integer with 7 bits per byte."""
        value = self._byte()
        if value < 128:  # most are
            return value
        value &= 127
        for shift in range(7, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer has too many bytes")

    def _integer(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)

    def structure(self) -> dict[int, Any]:
        """Read a structure, and return its values by field."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._integer()
            if field in found:
                raise ValueError("its metadata repeat a field")
            found[field] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self.structure()
        if kind in _LISTS:
            head = self._byte()
            number = self._number() if head >> 4 == 15 else head >> 4
            if number > len(self._view):  # each item has a byte or more
                raise ValueError("a list has more items than the file has bytes")
            return [self._item(head & 15) for _ in range(number)]
        if kind != _BINARY and kind not in _SIZES:
            raise ValueError(f"its metadata have a value of kind {kind}")
        size = self._number() if kind == _BINARY else _SIZES[kind]
        self.place += size
        return None

    def _item(self, kind: int) -> Any:
        """Read an item of a list, in which a boolean takes a byte."""
        return self._value(kind) if kind > 2 else self._byte()
