"""Rows of predictions: the needed columns of a file, their values, and counts of the rows.

Cells of text files stay text: "007" and "NA" are labels, and scores keep every digit. Only empty
cells are missing. The program refuses files with signs of damage.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _rows
from skfedauc._input import refuse_ties
from skfedauc._words import counted, listed, shortened
from skfedauc.cli.arguments import ENDINGS, STDIN, Arguments
from skfedauc.cli.terminal import CommandError, check_file, refusals

# Largest content of a compressed file: this multiple of the size, or this number of bytes
MOST_EXPANSION = 100
ALWAYS_READ = 1 << 28


def read_columns(arguments: Arguments) -> pd.DataFrame:
    """Return the columns of the arguments, in the order of the file's rows."""
    try:
        read = _read_parquet if _ending(arguments.file) == ".parquet" else _read_text
        table = read(arguments)
    except ImportError:
        raise CommandError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except LookupError:
        raise CommandError(f"--encoding {shortened(arguments.encoding)} is unknown") from None
    except UnicodeError:
        raise CommandError(
            f"{arguments.file_name}: is not {(arguments.encoding or 'utf-8').upper()} text; save "
            "it as UTF-8, or pass its encoding, such as --encoding latin-1"
        ) from None
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"{arguments.file_name}: cannot be read: {reason}") from None
    if table.empty and arguments.epsilon is None:  # noise hides whether there are rows
        raise CommandError(f"{arguments.file_name}: there are no rows")
    return table


def _ending(path: str) -> str:
    if path == STDIN:
        return ENDINGS[0]
    ending = next((end for end in ENDINGS if path.lower().endswith(end)), None)
    if ending is None:
        raise CommandError(
            f"{path}: the name must end in one of {', '.join(ENDINGS)}; skfedauc report and "
            "skfedauc show read counts"
        )
    check_file(path)
    return ending


def _read_text(arguments: Arguments) -> pd.DataFrame:
    """Return the needed columns as text, with None for empty cells.

    The csv module keeps cells as they are, and the number of the cells of each row is checked: a
    row with fewer or more cells than the header is a sign of damage.
    """
    file_name, needed = arguments.file_name, arguments.columns
    # The header is read before the rows, and a pipe can be read only once.
    content = _content(arguments.file)
    # The codec utf-8 would keep a byte order mark.
    encoding = arguments.encoding or "utf-8"
    encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding

    def rows(separator: str, **layout: Any) -> Iterator[list[str]]:
        opened: io.TextIOBase
        if content is None:
            opened = open(arguments.file, encoding=encoding, newline="")  # noqa: SIM115
        else:
            opened = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
        with opened as text:
            for cells in csv.reader(text, delimiter=separator, **layout):
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield cells

    def header(separator: str) -> list[str]:
        found = next(rows(separator), None)
        if found is None:
            raise CommandError(f"{file_name}: is empty; it has no header")
        return found

    limit = csv.field_size_limit(sys.maxsize)
    try:
        usual = "\t" if _ending(arguments.file) == ".tsv" else ","
        separator, columns = _rows.header_of(header, needed, usual)
        with refusals():
            _rows.check_column_names(needed, columns, "the command", file_name)
        places = [columns.index(column) for column in needed]
        table: list[list[str | None]] = [[] for _ in needed]
        for number, cells in enumerate(rows(separator, strict=True)):
            if len(cells) != len(columns):
                raise CommandError(
                    f"{file_name}: data row {number:,} has {len(cells)} cells and the header has "
                    f"{len(columns)}; the file may be cut short, or lack separators after empty "
                    "cells or quotes around a cell with a separator"
                )
            for column, place in zip(table, places, strict=True):
                column.append(sys.intern(cells[place]) or None)  # equal cells are stored once
    finally:
        csv.field_size_limit(limit)
    found = {name: column[1:] for name, column in zip(needed, table, strict=True)}
    return pd.DataFrame(found, dtype=object)


def _content(path: str) -> bytes | None:
    """Return the content of standard input or of a compressed file, and None for other files."""
    if path == STDIN:
        if sys.stdin is None:
            raise CommandError("standard input is closed")
        return sys.stdin.buffer.read()
    if not path.lower().endswith(".gz"):
        return None
    with gzip.open(path) as compressed:
        content = compressed.read(_most_bytes(path) + 1)
    _check_size(path, len(content), "decompressed")
    return content


def _most_bytes(path: str) -> int:
    return max(MOST_EXPANSION * os.path.getsize(path), ALWAYS_READ)


def _check_size(path: str, n_bytes: int, instead: str) -> None:
    """Refuse a content that is far larger than the file."""
    if n_bytes > _most_bytes(path):
        raise CommandError(
            f"{path}: expands to more than {MOST_EXPANSION} times its size and "
            f"{ALWAYS_READ >> 20} MiB; if this is intended, pass it {instead}"
        )


def _read_parquet(arguments: Arguments) -> pd.DataFrame:
    if arguments.encoding is not None:
        raise CommandError("--encoding is for text files; a Parquet file defines its own")
    import pyarrow
    import pyarrow.parquet as parquet

    path, needed = arguments.file, arguments.columns
    try:
        columns = parquet.read_schema(path).names
        with refusals():
            _rows.check_column_names(needed, columns, "the command", path)
        # A run of equal values takes a few bytes for any length.
        _check_size(path, 8 * len(needed) * parquet.read_metadata(path).num_rows, "as CSV")
        table = parquet.read_table(path, columns=needed, page_checksum_verification=True)
        table.validate(full=True)  # Detect invalid UTF-8 and codes outside a dictionary.
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:  # The error is not always an OSError or ValueError.
        raise OSError(*error.args) from None
    series = {}
    for name in needed:
        column = table[name]
        if pyarrow.types.is_nested(column.type):
            raise CommandError(f"{path}: column {shortened(name)} holds {column.type}, no values")
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        # Integers with missing values stay integers. In columns of floats, both NaN and null are
        # missing values.
        keeps_type = not pyarrow.types.is_floating(column.type)
        series[name] = column.to_pandas(types_mapper=pd.ArrowDtype if keeps_type else None)
    return pd.DataFrame(series)


_SWAPPED = str.maketrans(",.", ".,")
_LARGE = 2**53  # from which floats are not exact integers
# Different numbers with at most this number of digits have different float64 values.
_MOST_DIGITS = 15


def number_in(cell: Any, mark: str = ".") -> str:
    """Return a cell as the text of a number with a decimal point.

    With a decimal comma, a point makes the text no number, as it may separate thousands.
    """
    return cell.translate(_SWAPPED) if mark == "," and isinstance(cell, str) else str(cell)


def number(text: str) -> float:
    """Return the float nearest to the number in the text, or NaN for other text."""
    # Python's own numerals, such as 1_0 and digits of any script, are no numbers.
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def refuse(column: pd.Series[Any], bad: Any, what: str, mend: str = "") -> None:
    """Raise an error with the first of the bad rows; `what` says what is wrong with them."""
    if bad.any():
        first = int(bad.argmax())
        value = "" if what == "empty" else f" ({shortened(str(column.iloc[first]))})"
        raise CommandError(
            f"column {shortened(column.name)} is {what} in {int(bad.sum()):,} of "
            f"{counted(len(column), 'row')}, the first being data row "
            f"{column.index[first] + 1}{value}{mend}"
        )


def numbers_of(column: pd.Series[Any], mark: str = ".") -> NDArray[np.float64]:
    """Return finite numbers, and refuse different ones with equal float64 values."""
    refuse(column, column.isna(), "empty")
    if column.dtype in (np.float16, np.float32, np.float64):
        refuse(column, ~np.isfinite(column), "not a finite number")
        return column.to_numpy(np.float64)
    codes, cells = pd.factorize(column.to_numpy() if isinstance(column.dtype, np.dtype) else column)
    texts = [number_in(cell, mark) for cell in cells]
    found = np.array([number(text) for text in texts])
    bad = ~np.isfinite(found)[codes]
    has_comma = any("," in str(cell) for cell in cells[~np.isfinite(found)])
    refuse(column, bad, "not a finite number", "; see --decimal" if has_comma else "")
    # An exponent can make a number too small for a float64 value of its own.
    if any(len(text) > _MOST_DIGITS or "e" in text.lower() for text in texts):
        with refusals():
            refuse_ties(list(map(Decimal, texts)), found, f"column {shortened(column.name)}")
    return found[codes]


def groups_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the group labels as text, with None for missing labels."""
    codes, distinct = pd.factorize(column)
    values = np.asarray(distinct)
    is_float = values.dtype.kind == "f"
    if is_float and (values % 1 == 0).all() and (np.abs(values) <= _LARGE).all():
        values = values.astype(np.int64)  # These floats are integers.
    texts = [str(value) for value in values]
    if values.dtype.kind == "M":  # The text must not depend on the unit.
        texts = [str(pd.Timestamp(value)).removesuffix(" 00:00:00") for value in values]
    labels = _rows.without_zero_decimals(texts)
    found = np.array([number(text) for text in labels])
    if found.size and np.isfinite(found).all() and (found % 1 != 0).any():
        raise CommandError(
            f"column {shortened(column.name)} holds numbers that are not whole, and the groups of "
            "--group must be labels; cut the numbers into bands, such as '20 to 29'"
        )
    text = np.array([*labels, None], object)
    return pd.Series(text[codes], index=column.index, dtype=object)


def labels_of(column: pd.Series[Any], mark: str = ".") -> NDArray[Any]:
    """Return class labels as numbers if all are numbers or true and false, otherwise as text."""
    refuse(column, column.isna(), "empty")
    codes, cells = pd.factorize(column)
    found: list[Any] = [label_of(cell, mark) for cell in cells]
    if any(isinstance(label, str) for label in found):
        found = [str(cell).strip() for cell in cells]
    return np.array(found, object if found and isinstance(found[0], str) else None)[codes]


def label_of(cell: Any, mark: str = ".") -> int | float | str:
    """Return the number of a text, true as 1, false as 0, and other text without outer spaces."""
    text = str(cell).strip()
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    found = number(number_in(text, mark))
    if math.isnan(found):
        return text
    return int(found) if found.is_integer() and abs(found) < _LARGE else found


def decisions_of(
    column: pd.Series[Any], labels: NDArray[Any], positive: Any, mark: str = "."
) -> NDArray[Any]:
    """Return the predicted class labels.

    Decisions are class labels, or 0 and 1 where these numbers are not labels of the other class.
    """
    decided = labels_of(column, mark)
    found, known = (set(of.tolist()) for of in (decided, labels))
    if found <= known:
        return decided
    # 1 must not be the negative class, and 0 not the positive one.
    if not found <= {0, 1} or positive == 0 or (positive != 1 and 1 in known):
        raise CommandError(
            f"column {shortened(column.name)} has the decisions {listed(sorted(found, key=str))}; "
            f"they must be labels of the classes, {listed(sorted(known, key=str))}, or 0 and 1"
        )
    negative = next((label for label in labels.tolist() if label != positive), 0)
    return np.asarray(np.array([negative, positive], object)[(decided == 1).astype(int)])


def rows_of(table: pd.DataFrame, arguments: Arguments, model: int = 0) -> dict[str, Any]:
    """Return a table's rows with the scores of a model, as arguments of `from_predictions`."""
    mark, weight = arguments.decimal, arguments.weight
    if arguments.clusters is not None:
        clusters = table[arguments.clusters]
        refuse(clusters, clusters.isna(), "empty", "; give each row a cluster, or drop these rows")
    for name in arguments.group_columns if arguments.missing == "raise" else ():
        mend = "drop to drop these rows, or --missing group to make them a group of their own"
        refuse(table[name], table[name].isna(), "empty", f"; pass --missing {mend}")
    labels, positive = labels_of(table[arguments.label], mark), arguments.pos_label
    if positive is not None:
        is_text = labels.dtype.kind == "O"
        positive = positive.strip() if is_text else label_of(positive, mark)
    rows = {
        "y_true": labels,
        "y_score": numbers_of(table[arguments.score[model]], mark),
        "groups": pd.DataFrame({name: groups_of(table[name]) for name in arguments.group_columns}),
        "sample_weight": None if weight is None else numbers_of(table[weight], mark),
        "pos_label": positive,
        "missing": "group" if arguments.missing == "group" else "drop",
    }
    if arguments.decisions:
        decided = table[arguments.decisions[model]]
        rows["y_pred"] = decisions_of(decided, labels, 1 if positive is None else positive, mark)
    return rows


def refusals_of(arguments: Arguments, model: int = 0) -> AbstractContextManager[None]:
    """Turn errors of the library into a `CommandError`; columns replace names of arguments."""
    columns = {"y_true": arguments.label, "y_score": arguments.score[model]}
    columns |= {"sample_weight": arguments.weight}
    return refusals(**{name: f"column {shortened(of)}" for name, of in columns.items() if of})
