"""Sizes of the pages of a Parquet file, read from the headers of the pages.

The metadata of a Parquet file declare how large its pages become in memory, and readers believe
them. Here, the headers of the pages are read before any page, so that a false declaration does not
fill the memory. Headers and metadata are structures of Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Encodings of Parquet whose values take no more memory than their page and 8 bytes per row: plain,
# dictionaries, runs and split bytes. Texts that share beginnings can take far more.
_ENCODINGS = {0, 2, 3, 8, 9}
# Largest number of pages. A page of pyarrow has up to 20,000 rows or 1 MB.
_MOST_PAGES = 1 << 20
# Kinds of values in Thrift's compact protocol
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
# Fields of Parquet's structures, by their numbers in its specification
_ROW_GROUPS, _COLUMNS, _COLUMN_FACTS = 4, 1, 3
_COMPRESSED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 7, 9, 11
_PAGE_SIZE, _PAGE_COMPRESSED = 2, 3
# Structures of a page by kind, with the number of the field of the encoding
_KINDS_OF_PAGES = {5: 2, 7: 2, 8: 4}


def size_of_pages(data: Any) -> int:
    """Return the number of bytes of all pages after decompression, by the headers of the pages.

    Parameters
    ----------
    data : bytes-like
        Content of a Parquet file.

    Raises
    ------
    ValueError, IndexError, KeyError
        If the headers contradict the metadata, a page has an encoding that can expand, or pages
        overlap.
    """
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
    """Yield the first byte and the end of the pages of each column in each row group."""
    for _ in thrift.structures(_ROW_GROUPS):
        for _ in thrift.structures(_COLUMNS):
            found: dict[int, int] = {}
            for field, kind in thrift.fields():
                if field == _COLUMN_FACTS:
                    found = thrift.integers()
                else:
                    thrift.skip(kind)
            start = found[_DATA_OFFSET]
            if 0 < found.get(_DICTIONARY_OFFSET, 0) < start:
                start = found[_DICTIONARY_OFFSET]
            yield start, start + found[_COMPRESSED_SIZE]


def _sizes(view: memoryview, place: int, stop: int) -> Iterator[int]:
    """Yield the size of each page between two places."""
    if not 0 <= place <= stop <= len(view):
        raise ValueError("its pages are not in the file")
    while place < stop:
        thrift = _Thrift(view, place)
        found: dict[int, int] = {}
        for field, kind in thrift.fields():
            if field in _KINDS_OF_PAGES:
                encoding = thrift.integers().get(_KINDS_OF_PAGES[field])
                if encoding not in _ENCODINGS:
                    raise ValueError(f"a page has the encoding {encoding}")
            elif kind in range(_BYTE + 1, _DOUBLE):
                found[field] = thrift.integer()
            else:
                thrift.skip(kind)
        size, compressed = found[_PAGE_SIZE], found[_PAGE_COMPRESSED]
        if size < 0 or compressed < 0:
            raise ValueError("a page has a negative size")
        yield size
        place = thrift.place + compressed
    if place != stop:
        raise ValueError("its pages do not end where its metadata says")


class _Thrift:
    """Reader of Thrift's compact protocol that keeps nothing it is not asked for."""

    def __init__(self, view: memoryview, place: int) -> None:
        self._view, self.place = view, place

    def byte(self) -> int:
        if self.place < 0:
            raise ValueError("its metadata begin before the file")
        self.place += 1
        return self._view[self.place - 1]

    def number(self) -> int:
        """Read an unsigned integer of 7 bits per byte."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer has too many bytes")

    def integer(self) -> int:
        """Read a signed integer."""
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each field; the caller reads or skips its value."""
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            yield field, head & 15

    def integers(self) -> dict[int, int]:
        """Read a structure, and return its integers by field."""
        found = {}
        for field, kind in self.fields():
            if kind in range(_BYTE + 1, _DOUBLE):
                found[field] = self.integer()
            else:
                self.skip(kind)
        return found

    def structures(self, wanted: int) -> Iterator[None]:
        """Read a structure; yield for each item of its list `wanted`, which the caller reads."""
        for field, kind in self.fields():
            if field == wanted and kind == _LIST:
                for _ in range(self._length()[0]):
                    yield
            else:
                self.skip(kind)

    def _length(self) -> tuple[int, int]:
        """Read the number of items of a list, and their kind."""
        head = self.byte()
        return self._items(self.number() if head >> 4 == 15 else head >> 4), head & 15

    def _items(self, number: int) -> int:
        """Return a number of items, each of which has a byte or more."""
        if number > len(self._view):
            raise ValueError("a list has more items than the file has bytes")
        return number

    def skip(self, kind: int, is_item: bool = False) -> None:
        """Skip a value; booleans take a byte only as items of lists."""
        if kind in (_TRUE, _FALSE):
            self.place += is_item
        elif kind == _BYTE:
            self.place += 1
        elif kind == _DOUBLE:
            self.place += 8
        elif kind == _BINARY:
            length = self.number()  # moves the place
            self.place += length
        elif kind in (_LIST, _SET):
            length, of_items = self._length()
            for _ in range(length):
                self.skip(of_items, is_item=True)
        elif kind == _MAP:
            length = self._items(self.number())
            kinds = self.byte() if length else 0
            for _ in range(length):
                self.skip(kinds >> 4, is_item=True)
                self.skip(kinds & 15, is_item=True)
        elif kind == _STRUCT:
            for _, of_field in self.fields():
                self.skip(of_field)
        else:
            self.integer()
