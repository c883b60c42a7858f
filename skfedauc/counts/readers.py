"""Reading of batches in workers, from files and from functions that return a batch."""

from __future__ import annotations

import csv
import datetime
import functools
import gzip
import inspect
import os
from typing import TYPE_CHECKING, Any, TypeAlias

from skfedauc import _input, _words
from skfedauc.counts.columns import Columns

if TYPE_CHECKING:
    import pyarrow as pa

    Table: TypeAlias = pa.Table

ENDINGS = (".parquet", ".csv", ".csv.gz")


def is_path(batch: Any) -> bool:
    """Return whether a batch is the path of a file."""
    return isinstance(batch, str | os.PathLike)


def read_batch(batch: Any, columns: Columns) -> Any:
    """Read a file or call a function, and return the rows; return other batches unchanged."""
    if is_path(batch):
        return _read_file(os.fspath(batch), columns)
    rows = batch() if callable(batch) else batch
    if is_path(rows):
        raise TypeError(
            f"the function returns the path {_words.shortened(os.fspath(rows))}; pass the path "
            "itself as the batch."
        )
    if is_lazy(rows):
        raise TypeError(
            f"the rows of a {_input.kind_in_words(rows)} are not in memory: collect them into a "
            "DataFrame, in polars by .collect(), or pass the table to ScoreCounts.from_table."
        )
    return rows


def is_lazy(table: Any) -> bool:
    """Return whether a table keeps its rows outside memory."""
    if isinstance(table, tuple | list):
        return False
    # The import is local because counting rows in arrays does not need narwhals.
    import narwhals.stable.v2 as nw

    # narwhals refuses a DataFrame with repeated names, whatever the columns in use.
    if nw.dependencies.is_into_dataframe(table):
        return False
    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def identity_of(batch: Any) -> list[Any] | None:
    """Return values that identify a batch for workers to read; None for a batch of rows.

    The absolute path and the size identify a file, and the name identifies a function. The identity
    of a `functools.partial` includes its arguments.

    Raises
    ------
    TypeError
        If a function has no unique name, or an argument of a `functools.partial` is not a plain
        value.
    """
    if is_path(batch):
        path = os.path.abspath(os.fspath(batch))
        return [path, os.path.getsize(path) if os.path.exists(path) else None]
    if not callable(batch):
        return None
    is_partial = isinstance(batch, functools.partial)
    function = batch.func if is_partial else batch
    name = getattr(function, "__qualname__", "<>")
    # The names of lambdas and of functions within functions contain "<".
    if not inspect.isfunction(function) or "<" in name:
        raise TypeError(
            "checkpoint= identifies a function by its name, which "
            f"{_words.described(function)} lacks; pass paths, or functools.partial(read, day) of a "
            "function that is defined in a module."
        )
    identity = [function.__module__, name]
    if is_partial:
        arguments = [*enumerate(batch.args), *sorted(batch.keywords.items())]
        identity += [f"{key}={_plain(value)}" for key, value in arguments]
    return identity


def _plain(value: Any) -> str:
    """Return the code of an argument; the code is the same in every process."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if value is None or isinstance(value, str | bytes | int | float | datetime.date):
        return repr(value)
    raise TypeError(
        "checkpoint= identifies a functools.partial by its arguments, which must be text, numbers, "
        f"dates, paths or lists of these; got {_words.described(value)}."
    )


def _read_file(path: str, columns: Columns) -> Table:
    """Return the named columns of a Parquet or CSV file."""
    if columns.label is None:
        raise TypeError("files need label= and score=, the names of columns.")
    ending = next((end for end in ENDINGS if path.lower().endswith(end)), None)
    if ending is None:
        raise ValueError(f"the name of a file must end in {_words.enumerated(ENDINGS, 'or')}.")
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError('files need pyarrow: pip install "skfedauc[files]"') from error
    try:
        return _read_parquet(path, columns) if ending == ".parquet" else _read_csv(path, columns)
    except pa.ArrowException as error:
        raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _read_parquet(path: str, columns: Columns) -> Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read(_needed(columns, file.schema_arrow.names))
    table.validate(full=True)
    return table


def _read_csv(path: str, columns: Columns) -> Table:
    """Return columns of a CSV file, with group labels as text, since 007 is not the number 7."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator, _ = _input.header_of(functools.partial(_header, path))
    layout = arrow_csv.ParseOptions(delimiter=separator)
    with arrow_csv.open_csv(path, parse_options=layout) as reader:
        needed = _needed(columns, reader.schema.names)
    groups = columns.by_argument.get("group", [])
    # Only empty cells are missing values, because NA may be the label of a group.
    options = arrow_csv.ConvertOptions(
        include_columns=needed,
        column_types={name: pa.string() for name in groups},
        null_values=[""],
        strings_can_be_null=True,
    )
    table = arrow_csv.read_csv(path, parse_options=layout, convert_options=options)
    for name in groups:
        labels = _without_zero_decimals(table[name])
        table = table.set_column(table.column_names.index(name), name, labels)
    return table


def _header(path: str, separator: str) -> list[str]:
    """Return the cells of the first line that is not empty."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    # Replace invalid UTF-8 here; pyarrow raises the error later.
    with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(filter(None, csv.reader(lines, delimiter=separator)), [])


def _without_zero_decimals(labels: Any) -> Any:
    """Remove the ending ".0" if all texts of a column are integers with this ending."""
    import pyarrow as pa
    from pyarrow import compute

    known = labels.unique().drop_null()
    written = known.to_pylist()
    texts = _input.without_zero_decimals(written)
    if texts is written:
        return labels
    return pa.chunked_array([pa.array(texts, pa.string())]).take(
        compute.index_in(labels, value_set=known)
    )


def _needed(columns: Columns, known: list[str]) -> list[str]:
    """Return the names of the needed columns, each once; raise an error if the file lacks one."""
    for argument, names in columns.by_argument.items():
        _input.check_column_names(names, known, argument, "the file")
    return list(dict.fromkeys(name for names in columns.by_argument.values() for name in names))
