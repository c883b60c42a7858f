"""Rows of predictions: the needed columns of a file, their values, and counts of the rows.

Cells of text files stay text: "007" and "NA" are labels, and scores keep every digit. Only empty
cells are missing. The program refuses files with signs of damage. Numbers may be written as text,
with a decimal point or a decimal comma.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import importlib
import io
import math
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from skfedauc import _input
from skfedauc._input.arrays import object_array
from skfedauc._words import counted, listed, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.options import ENDINGS, STDIN
from skfedauc.cli.terminal import CommandError, print_warning, refusals
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import counts_of_rows

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
    except UnicodeError:
        raise CommandError(
            f"{arguments.file_name}: is not {(arguments.encoding or 'utf-8').upper()} text; save "
            "it as UTF-8, or pass its encoding, such as --encoding latin-1"
        ) from None
    except (OSError, EOFError, ValueError, Warning, zlib.error, csv.Error) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"{arguments.file_name}: cannot be read: {reason}") from None
    if table.empty:
        raise CommandError(f"{arguments.file_name}: there are no rows")
    return table


def _ending(path: str) -> str:
    """Return the ending of a file that can be read."""
    if path == STDIN:
        return ENDINGS[0]
    ending = next((end for end in ENDINGS if path.lower().endswith(end)), None)
    if ending is None:
        is_of_counts = path.lower().endswith(".skfa")
        hint = "; skfedauc report and skfedauc show read counts" if is_of_counts else ""
        raise CommandError(f"{path}: the name must end in one of {', '.join(ENDINGS)}{hint}")
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such file")
    return ending


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


def _read_text(arguments: Arguments) -> pd.DataFrame:
    """Return the needed columns as text, with None for empty cells.

    The csv module keeps cells as they are, and the number of the cells of each row is checked: a
    row with fewer or more cells than the header is a sign of damage.
    """
    file_name, needed = arguments.file_name, arguments.columns
    # The header is read before the rows, and a pipe can be read only once.
    content = _standard_input() if arguments.file == STDIN else None

    def rows(separator: str, **layout: Any) -> Iterator[list[str]]:
        """Yield the rows that are not blank."""
        with _opened(arguments, content) as text:
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
        separator, columns = _input.header_of(header, usual)
        _check_columns(file_name, columns, needed)
        places = [columns.index(column) for column in needed]
        table: list[list[str | None]] = [[] for _ in needed]
        for number, cells in enumerate(rows(separator, strict=True)):
            if len(cells) < len(columns):
                raise CommandError(
                    f"{file_name}: data row {number:,} has {len(cells)} of {len(columns)} cells; "
                    "the file may be cut short, or lack separators after empty cells"
                )
            if len(cells) > len(columns):
                raise CommandError(
                    f"{file_name}: data row {number:,} has more cells than the header, which has "
                    f"{len(columns)}; name every column, and end no row with a separator"
                )
            for column, place in zip(table, places, strict=True):
                column.append(sys.intern(cells[place]) or None)  # equal cells are stored once
    finally:
        csv.field_size_limit(limit)
    found = {name: column[1:] for name, column in zip(needed, table, strict=True)}
    return pd.DataFrame(found, dtype=object)


def _opened(arguments: Arguments, content: bytes | None) -> io.TextIOWrapper:
    """Return the text of a file, or of the content of standard input."""
    # The codec utf-8 would keep a byte order mark.
    encoding = arguments.encoding or "utf-8"
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    binary: Any
    if content is not None:
        binary = io.BytesIO(content)
    elif arguments.file.lower().endswith(".gz"):
        binary = _Decompressed(arguments.file)
    else:
        binary = open(arguments.file, "rb")  # noqa: SIM115
    return io.TextIOWrapper(binary, encoding, newline="")


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

    def read1(self, size: int = -1) -> bytes:
        data = super().read1(size)  # what the decoder of text calls
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


# Numbers -------------------------------------------------------------------------------


def number(text: str) -> float:
    """Return the float nearest to the number in the text, or NaN for other text."""
    try:
        return float(text) if _is_plain(text) else math.nan
    except ValueError:
        return math.nan


def numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the float nearest to the number in each text, or NaN for other text."""
    if _is_plain("".join(cells)):
        try:
            return cells.astype(np.float64)
        except ValueError:
            pass
    return np.array([number(cell) for cell in cells], np.float64)


def has_decimal_comma(text: str) -> bool:
    """Return whether the text is a number with a decimal comma, such as 1,5."""
    has_one = text.count(",") == 1 and "." not in text
    return has_one and math.isfinite(number(text.replace(",", ".")))


def with_point(text: str) -> str:
    """Replace the decimal comma of a number by a point, and return other text unchanged."""
    return text.replace(",", ".") if has_decimal_comma(text) else text


def _is_plain(text: str) -> bool:
    """Return whether the text lacks Python's own numerals, such as 1_0 and digits of any script."""
    return text.isascii() and "_" not in text


# Different numbers with at most this number of digits have different float64 values.
_MOST_DIGITS = 15


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


# Groups --------------------------------------------------------------------------------


def groups_of(table: pd.DataFrame, columns: Sequence[str], missing: str) -> pd.DataFrame:
    """Return the group labels as text, with None for missing labels."""
    if missing == "raise":
        for name in columns:
            mend = "drop to drop these rows, or --missing group to make them a group of their own"
            refuse(table[name], table[name].isna(), "empty", f"; pass --missing {mend}")
    return pd.DataFrame({name: _as_text(table[name]) for name in columns})


def _as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    codes, distinct = pd.factorize(column)
    values = np.asarray(distinct)
    is_float = values.dtype.kind == "f"
    if is_float and (values % 1 == 0).all() and (np.abs(values) <= 2**53).all():
        values = values.astype(np.int64)  # These floats are integers.
    texts = _input.without_zero_decimals([str(value) for value in values])
    found = numbers(np.array(texts, object))
    if found.size and np.isfinite(found).all() and (found % 1 != 0).any():
        raise CommandError(
            f"column {shortened(column.name)} holds numbers that are not whole, and the groups of "
            "--group must be labels; cut the numbers into bands, such as '20 to 29'"
        )
    text = np.array([*texts, None], object)
    return pd.Series(text[codes], index=column.index, dtype=object)


# Labels and decisions ------------------------------------------------------------------


def labels_of(column: pd.Series[Any], pos_label: str | None) -> tuple[NDArray[Any], Any]:
    """Return the labels as numbers or text, and the positive label.

    The labels are numbers if all values of the column are numbers. The column may lack the positive
    label, because one site may have negatives only.
    """
    refuse(column, column.isna(), "empty")
    codes, values = pd.factorize(column)
    labels = [_label(value) for value in values]
    if pos_label is not None:
        with refusals():
            _input.check_text([pos_label], "--pos-label")
    infinite = np.array([isinstance(x, str) and math.isinf(number(x)) for x in labels], np.bool_)
    has_numbers = is_float_dtype(column) or any(isinstance(label, float) for label in labels)
    if has_numbers and infinite.any():  # without numbers, "inf" is the name of a class
        refuse(column, infinite[codes], "infinite")
    classes = dict(zip(labels, map(str, values), strict=True))
    found = f"column {shortened(column.name)} has the labels {listed(sorted(classes.values()))}"
    if len(classes) > 2:
        raise CommandError(
            f"{found}; an AUC needs two classes. Is --label the column of the true classes?"
        )
    positive = 1.0 if pos_label is None else _label(pos_label)
    if pos_label is None and not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
        has_commas = any(map(has_decimal_comma, classes.values()))
        hint = ", and --decimal , for decimal commas" if has_commas else ""
        raise CommandError(f"{found}; pass the positive one of them as --pos-label{hint}")
    is_text = any(isinstance(label, str) for label in classes)
    may_be_elsewhere = len(classes) == 1 and is_text == isinstance(positive, str)
    if pos_label is not None and positive not in classes and not may_be_elsewhere:
        raise CommandError(f"{found}; --pos-label {shortened(pos_label)} is not among them")
    if is_text:
        # Counts keep the names of the classes, because merging compares these names.
        return object_array(map(_name, labels))[codes], _name(positive)
    return np.array(labels)[codes], positive


def decisions_of(
    column: pd.Series[Any], classes: Iterable[Any], pos_label: str | None
) -> NDArray[np.float64]:
    """Return 1 for predictions of the positive class, and 0 for other predictions.

    Decisions are class labels, or 0 and 1 if neither number is a class label.
    """
    refuse(column, column.isna(), "empty")
    codes, values = pd.factorize(column)
    found, known = [_label(value) for value in values], {_label(value) for value in classes}
    positive = 1.0 if pos_label is None else _label(pos_label)
    if not set(found) <= known:
        if not set(found) <= {0, 1}:
            raise CommandError(
                f"column {shortened(column.name)} has the decisions "
                f"{listed(sorted(map(str, values)))}; "
                f"they must be labels of the classes, {listed(sorted(map(str, known)))}, or 0 and 1"
            )
        positive = 1.0
    return np.array([float(value == positive) for value in found])[codes]


def _label(value: Any) -> float | str:
    """Return a numeric label as a number, true as 1, false as 0, and other labels as text."""
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    found = number(text)
    return found if math.isfinite(found) else text


def _name(label: float | str) -> str:
    """Return a label's text."""
    return label if isinstance(label, str) else repr(label).removesuffix(".0")


# Scores and weights --------------------------------------------------------------------


def scores_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the scores, and refuse different numbers with equal float64 values."""
    scores = _numbers_of(column)
    if is_float_dtype(column):
        return scores
    cells = [str(cell) for cell in column.to_numpy(object)]
    if any(len(cell) > _MOST_DIGITS for cell in cells):
        exact = set(map(Decimal, cells))
        n_tied = len(exact) - np.unique(scores).size
        if n_tied:
            raise CommandError(
                f"column {shortened(column.name)} has {len(exact):,} different numbers, of which "
                f"{n_tied:,} are equal to another one as float64 and would tie; round them in the "
                "same way in all files, or subtract one constant that all files share"
            )
    return scores


def weights_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return the weights, within the limits of the library."""
    weights = _numbers_of(column)
    refuse(column, weights < 0, "below 0")
    with refusals():
        return _input.check_weights(weights, f"column {shortened(column.name)}")


def _numbers_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    refuse(column, column.isna(), "empty")
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        found = column.to_numpy(np.float64)
    else:
        found = numbers(np.array([str(value) for value in column], object))
    bad = ~np.isfinite(found)
    if bad.any() and has_decimal_comma(str(column.iloc[int(bad.argmax())])):
        refuse(column, bad, "not a finite number", "; pass --decimal , for decimal commas")
    refuse(column, bad, "not a finite number")
    return found


class Rows(NamedTuple):
    """Rows of a table, with None for missing group labels, and the library's `missing`."""

    labels: NDArray[Any]
    positive: Any
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: pd.DataFrame
    missing: Literal["drop", "group"]
    decisions: NDArray[np.float64] | None = None


def rows_of(table: pd.DataFrame, arguments: Arguments) -> Rows:
    """Convert a table to rows according to the arguments."""
    if arguments.clusters is not None:
        clusters = table[arguments.clusters]
        refuse(clusters, clusters.isna(), "empty", "; give each row a cluster, or drop these rows")
    groups = groups_of(table, arguments.group_columns, arguments.missing)
    pos_label = arguments.pos_label
    if arguments.decimal == ",":
        table = _with_points(table, arguments)
        pos_label = None if pos_label is None else with_point(pos_label)
    labels, positive = labels_of(table[arguments.label], pos_label)
    scores = scores_of(table[arguments.score])
    weights = None if arguments.weight is None else weights_of(table[arguments.weight])
    decisions = None
    if arguments.decisions is not None:
        classes = table[arguments.label].unique(), pos_label
        decisions = decisions_of(table[arguments.decisions], *classes)
    missing: Literal["drop", "group"] = "group" if arguments.missing == "group" else "drop"
    return Rows(labels, positive, scores, weights, groups, missing, decisions)


def warn_of_labels(rows: Rows, column: str) -> None:
    """Warn if the scores are class labels."""
    is_text = rows.labels.dtype.kind == "O"
    labels = rows.labels == rows.positive if is_text else rows.labels
    found = _input.hard_labels(labels, rows.scores)
    if found is not None:
        low, high = found
        print_warning(
            f"column {shortened(column)} holds only {low:g} and {high:g}: these look like "
            "predicted labels, and the AUC of labels ignores how sure the model is; if the file "
            "has a column of probabilities or scores, pass that column as --score"
        )


def _with_points(table: pd.DataFrame, arguments: Arguments) -> pd.DataFrame:
    """Replace the decimal commas of labels, scores, weights and decisions by points."""
    of_labels = [name for name in (arguments.label, arguments.decisions) if name is not None]
    of_numbers = [name for name in (arguments.score, arguments.weight) if name is not None]
    changed = {}
    for name in dict.fromkeys([*of_labels, *of_numbers]):
        column = table[name]
        if is_numeric_dtype(column):
            continue
        text = column.map(str, na_action="ignore")
        has_point = text.str.contains(".", regex=False, na=False).to_numpy(bool)
        if name not in of_labels:
            refuse(column, has_point, "written with a point, although --decimal is a comma,")
        changed[name] = text.map(with_point, na_action="ignore")
    return table.assign(**changed)


# Counts --------------------------------------------------------------------------------


def counts_of(rows: Rows, scores: NDArray[np.float64], column: str) -> ScoreCounts:
    """Count the rows by group, with the scores or the decisions of a column."""
    with refusals():
        checked = _input.check_rows(
            rows.labels,
            scores,
            rows.groups,
            rows.weights,
            rows.positive,
            name=f"column {shortened(column)}",
            missing=rows.missing,
            warn_labels=False,
        )
        names = _input.names_of(checked.labels, rows.groups)
    return counts_of_rows(checked, group_names=names)


def weights_in_words(rows: Rows, arguments: Arguments) -> str:
    """Return the end of the headline, with the column of weights and the rows of weight 0."""
    if rows.weights is None:
        return ""
    n_left_out = int((rows.weights == 0).sum())
    left_out = f"; {counted(n_left_out, 'row')} of weight 0 left out"
    return f", weighted by {shortened(arguments.weight)}{left_out if n_left_out else ''}"
