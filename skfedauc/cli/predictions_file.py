"""Conversion of a file of predictions to a table of the needed columns.

Cells of text files stay text: "007" and "NA" are labels, and scores keep every digit. Only empty
cells are missing. The program refuses files with signs of damage.
"""

from __future__ import annotations

import csv
import difflib
import functools
import gzip
import importlib
import io
import os
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pandas as pd

from skfedauc import _input
from skfedauc._words import listed, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.options import STDIN
from skfedauc.cli.terminal import CommandError

# Largest content of a compressed file: this multiple of the size, or this number of bytes
MOST_EXPANSION = 100
ALWAYS_READ = 1 << 28
_BLOCK = 1 << 20


def read_columns(arguments: Arguments) -> pd.DataFrame:
    """Return the columns of the arguments, in the order of the file's rows."""
    try:
        table = _reader(arguments.file)(arguments)
    except ImportError:
        raise CommandError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except UnicodeError:
        raise CommandError(
            f"{arguments.file_name}: is not {(arguments.encoding or 'utf-8').upper()} text; save "
            "it as UTF-8, or pass its encoding, such as --encoding latin-1"
        ) from None
    except pd.errors.EmptyDataError:
        raise CommandError(f"{arguments.file_name}: is empty; it has no header") from None
    except (OSError, EOFError, ValueError, Warning, zlib.error, csv.Error) as error:
        if "out of memory" in str(error):  # pandas' parser has a special error type
            raise MemoryError from None
        reason = " ".join(str(error).split())
        raise CommandError(f"{arguments.file_name}: cannot be read: {reason}") from None
    if table.empty:
        raise CommandError(f"{arguments.file_name}: there are no rows")
    return table


def _reader(path: str) -> Callable[[Arguments], pd.DataFrame]:
    """Return the function that reads files of this ending."""
    if path == STDIN:
        return READERS[".csv"]
    ending = next((end for end in READERS if path.lower().endswith(end)), None)
    if ending is None:
        is_of_counts = path.lower().endswith(".skfa")
        hint = "; skfedauc report and skfedauc show read counts" if is_of_counts else ""
        raise CommandError(f"{path}: the name must end in one of {', '.join(READERS)}{hint}")
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such file")
    return READERS[ending]


def _check_columns(file_name: str, columns: list[str], needed: list[str]) -> None:
    """Refuse a file in which a needed column is absent or repeated."""
    for name in needed:
        if columns.count(name) > 1:
            raise CommandError(
                f"{file_name}: {columns.count(name)} columns are named {shortened(name)}"
            )
        if name not in columns:
            raise CommandError(
                f"{file_name}: no column {shortened(name)} among its columns "
                f"{listed(columns)}{_hint(name, columns)}"
            )


def _hint(name: str, columns: list[str]) -> str:
    """Return a hint at the columns that an unknown name may mean, or no text."""
    spaced = [column for column in columns if column.strip() == name.strip()]
    if spaced:
        return (
            f"; did you mean {listed(spaced)}? Spaces belong to a name: pass the name with them, "
            "or remove them from the header"
        )
    by_lower = {column.lower(): column for column in columns}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.66)
    return f"; did you mean {listed(by_lower[key] for key in near)}?" if near else ""


# Text ----------------------------------------------------------------------------------


def _read_text(arguments: Arguments, separator: str) -> pd.DataFrame:
    """Return the needed columns of a text file, for the usual separator of such files."""
    return _TextFile(arguments).read(arguments.columns, separator)


class _TextFile:
    """A CSV or TSV file, possibly compressed, or standard input."""

    def __init__(self, arguments: Arguments) -> None:
        self.path, self.name = arguments.file, arguments.file_name
        self.encoding = arguments.encoding or "utf-8"
        # The program reads the header before the rows, and can read a pipe only once.
        self._content = _standard_input() if self.path == STDIN else None

    def read(self, needed: list[str], default_separator: str) -> pd.DataFrame:
        """Return the needed columns as text, with missing values for empty cells."""
        separator, columns = self._header(default_separator)
        _check_columns(self.name, columns, needed)
        positions = [columns.index(name) for name in needed]
        # With `usecols`, pandas accepts rows with more cells than the header.
        reader = pd.read_csv(
            self._open(),
            sep=separator,
            # Number the columns, because pandas renames columns without a name.
            header=0,
            names=range(len(columns)),
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            chunksize=100_000,
            encoding=self.encoding,
        )
        parts, may_be_short = [], False
        with reader as chunks:
            for chunk in chunks:
                # Pandas turns the first cells into an index if the first rows have too many cells.
                if not isinstance(chunk.index, pd.RangeIndex):
                    raise CommandError(
                        f"{self.name}: data row 1 has more cells than the header, which has "
                        f"{len(columns)}; name every column, and end no row with a separator"
                    )
                parts.append(chunk[positions])
                may_be_short |= bool(chunk.iloc[:, -1].isna().any())
        if may_be_short:
            self._refuse_short_rows(separator, len(columns))
        return pd.concat(parts, ignore_index=True).set_axis(needed, axis=1)

    def _header(self, default: str) -> tuple[str, list[str]]:
        """Return the separator, and the column names as a row, which pandas does not rename."""

        def read(separator: str) -> list[str]:
            header = pd.read_csv(
                self._open(),
                sep=separator,
                header=None,
                nrows=1,
                dtype=str,
                na_filter=False,
                encoding=self.encoding,
            )
            return list(header.iloc[0])

        return _input.header_of(read, default)

    def _refuse_short_rows(self, separator: str, n_columns: int) -> None:
        """Refuse rows with fewer cells than the header, as in damaged files.

        Pandas adds empty cells, so a short row looks like a row with an empty last cell.
        """
        opened = self._open()
        # The codec utf-8 keeps a byte order mark, which pandas skips.
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        limit = csv.field_size_limit(sys.maxsize)
        try:
            with (
                open(opened, "rb") if isinstance(opened, str) else opened as binary,
                io.TextIOWrapper(binary, encoding, newline="") as text,
            ):
                number = -1
                for cells in csv.reader(text, delimiter=separator):
                    if not cells or (len(cells) == 1 and not cells[0].strip()):
                        continue  # Pandas skips blank lines.
                    number += 1
                    if len(cells) < n_columns:
                        raise CommandError(
                            f"{self.name}: data row {number:,} has {len(cells)} of {n_columns} "
                            "cells; the file may be cut short, or lack separators after empty "
                            "cells"
                        )
        finally:
            csv.field_size_limit(limit)

    def _open(self) -> Any:
        """Return a binary stream, or the path of a file without compression."""
        if self._content is not None:
            return io.BytesIO(self._content)
        return _Decompressed(self.path) if self.path.lower().endswith(".gz") else self.path


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise CommandError("standard input is closed")
    return sys.stdin.buffer.read()


# Limits --------------------------------------------------------------------------------


class _Decompressed(gzip.GzipFile):
    """Compressed file that raises an error for a content far larger than the file."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path, self._n_left = path, _most_bytes(path)

    def read(self, size: int | None = -1) -> bytes:
        # Reading in blocks applies the limit before all data are in memory.
        return self._counted(super().read(_BLOCK if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def _counted(self, data: bytes) -> bytes:
        self._n_left -= len(data)
        if self._n_left < 0:
            raise CommandError(_expands(self._path, "decompressed"))
        return data


def _most_bytes(path: str) -> int:
    """Return the number of bytes that a compressed file may expand to."""
    return max(MOST_EXPANSION * os.path.getsize(path), ALWAYS_READ)


def _expands(path: str, instead: str) -> str:
    return (
        f"{path}: expands to more than {MOST_EXPANSION} times its size and "
        f"{ALWAYS_READ >> 20} MiB; if this is intended, pass it {instead}"
    )


# Parquet -------------------------------------------------------------------------------


def _read_parquet(arguments: Arguments) -> pd.DataFrame:
    if arguments.encoding is not None:
        raise CommandError("--encoding is for text files; a Parquet file defines its own")
    pyarrow, parquet = (importlib.import_module(f"pyarrow{name}") for name in ("", ".parquet"))
    try:
        return _parquet_columns(pyarrow, parquet, arguments.file, arguments.columns)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:  # The error is not always an OSError or ValueError.
        raise OSError(*error.args) from None


def _parquet_columns(pyarrow: Any, parquet: Any, path: str, needed: list[str]) -> pd.DataFrame:
    _check_columns(path, parquet.read_schema(path).names, needed)
    # A run of equal values takes a few bytes for any length.
    if 8 * len(needed) * parquet.read_metadata(path).num_rows > _most_bytes(path):
        raise CommandError(_expands(path, "as CSV"))
    table = parquet.read_table(path, columns=needed, page_checksum_verification=True)
    table.validate(full=True)  # Detect invalid UTF-8 and codes outside a dictionary.
    series = {}
    for name in needed:
        column = table[name]
        if pyarrow.types.is_nested(column.type):
            raise CommandError(
                f"{path}: column {shortened(name)} holds {column.type}, not single values"
            )
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        # Integers with missing values stay integers. In columns of floats, both NaN and null are
        # missing values.
        keeps_type = not pyarrow.types.is_floating(column.type)
        series[name] = column.to_pandas(types_mapper=pd.ArrowDtype if keeps_type else None)
    return pd.DataFrame(series)


# Readers by the ending of a file's name, in the order of `options.ENDINGS`
READERS: dict[str, Callable[[Arguments], pd.DataFrame]] = {
    ".csv": functools.partial(_read_text, separator=","),
    ".csv.gz": functools.partial(_read_text, separator=","),
    ".tsv": functools.partial(_read_text, separator="\t"),
    ".parquet": _read_parquet,
}
