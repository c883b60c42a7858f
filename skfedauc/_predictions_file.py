"""A file of predictions, read and turned into arguments of the library.

Heavy imports are made where they are used, so that ``--help`` answers at once.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import importlib
import io
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from skfedauc._words import counted, listed, shortened

if TYPE_CHECKING:
    import argparse

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet")
SEPARATORS = (",", ";", "\t")
STDIN = "-"
_WHOLE_FLOAT = re.compile(r"-?\d+\.0")
# Different numbers of so many digits are different as float64.
_MOST_DIGITS = 15
# Compressed files may expand to this many times their size, and to this many bytes in any case.
MOST_EXPANSION = 100
ALWAYS_READ = 1 << 28
_STEP = 1 << 20


class CommandError(Exception):
    """What the user can mend, told in one line."""

    exit_code = 2


class OutputError(CommandError):
    """What could not be written."""

    exit_code = 3


# Reading -------------------------------------------------------------------------------


def name_of(path: str) -> str:
    return "standard input" if path == STDIN else path


def text_encoding(name: str) -> str:
    """The name of an encoding of text, such as latin-1, if there is one."""
    found = codecs.lookup(name)
    if not getattr(found, "_is_text_encoding", True):
        raise LookupError(f"{name} is no encoding of text")
    return found.name


def read_columns(path: str, needed: list[str], encoding: str | None = None) -> pd.DataFrame:
    """These columns of a file, of which empty cells alone are missing."""
    name = name_of(path)
    ending = _ending(path)
    try:
        if ending == ".parquet":
            if encoding is not None:
                raise CommandError("--encoding is for text files, and Parquet has one of its own")
            table = _read_parquet(path, needed)
        else:
            table = _read_text(path, needed, "\t" if ending == ".tsv" else ",", encoding or "utf-8")
    except ImportError:
        raise CommandError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except UnicodeError:
        shown = (encoding or "utf-8").upper()
        raise CommandError(
            f"{name}: is not {shown} text; save it as UTF-8, or pass the encoding that it has, "
            "such as --encoding latin-1"
        ) from None
    except (OSError, EOFError, ValueError, Warning, zlib.error, csv.Error) as error:
        if "out of memory" in str(error):  # what pandas makes of it
            raise MemoryError from None
        raise CommandError(f"{name}: cannot be read: {' '.join(str(error).split())}") from None
    if table.empty:
        raise CommandError(f"{name}: there are no rows")
    return table


def _ending(path: str) -> str:
    """What the file is, told by its name; standard input is CSV."""
    if path == STDIN:
        return ".csv"
    ending = next((end for end in ENDINGS if path.lower().endswith(end)), None)
    if ending is None:
        raise CommandError(f"{path}: the name must end in one of {', '.join(ENDINGS)}")
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such file")
    return ending


def _read_text(path: str, needed: list[str], usual: str, encoding: str) -> pd.DataFrame:
    """Read cells as they are written: "007" and "NA" are text, scores keep every digit."""
    import pandas as pd

    source = _standard_input() if path == STDIN else path
    separator, columns = _header(source, usual, encoding)
    _check_columns(path, columns, needed)
    places = [columns.index(name) for name in needed]
    # With usecols pandas would not notice longer rows, so needed columns are picked by chunk.
    reader = pd.read_csv(
        _opened(source),
        sep=separator,
        # Numbers for names, since pandas would give a column without a name one.
        header=0,
        names=range(len(columns)),
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        chunksize=100_000,
        encoding=encoding,
    )
    parts, may_be_short = [], False
    with reader as chunks:
        for chunk in chunks:
            if not isinstance(chunk.index, pd.RangeIndex):  # made of the cells in excess
                raise CommandError(
                    f"{name_of(path)}: data row 1 has more cells than the header, which has "
                    f"{len(columns)}; name every column, and end no row with a separator"
                )
            parts.append(chunk[places])
            may_be_short |= bool(chunk.iloc[:, -1].isna().any())
    if may_be_short:
        _refuse_short_rows(path, source, separator, encoding, len(columns))
    return pd.concat(parts, ignore_index=True).set_axis(needed, axis=1)


def _refuse_short_rows(
    path: str, source: str | bytes, separator: str, encoding: str, n_columns: int
) -> None:
    """Refuse rows with fewer cells than the header, which pandas fills up with empty ones.

    Such a row was cut short, or a separator in it was damaged and its cells are shifted. Pandas
    does not distinguish it from a row whose last cell is empty.
    """
    opened = _opened(source)
    # Pandas skips the byte order mark of UTF-8.
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    most = csv.field_size_limit(sys.maxsize)
    try:
        with (
            open(opened, "rb") if isinstance(opened, str) else opened as binary,
            io.TextIOWrapper(binary, encoding, newline="") as text,
        ):
            number = -1
            for cells in csv.reader(text, delimiter=separator):
                if not cells or (len(cells) == 1 and not cells[0].strip()):
                    continue  # a blank line, which pandas skips
                number += 1
                if len(cells) < n_columns:
                    raise CommandError(
                        f"{name_of(path)}: data row {number:,} has {len(cells)} of {n_columns} "
                        "cells; the file may be cut short, or lack separators behind empty cells"
                    )
    finally:
        csv.field_size_limit(most)


def _standard_input() -> bytes:
    """All of it, since the header is read before the rows."""
    if sys.stdin is None:
        raise CommandError("standard input is closed")
    return sys.stdin.buffer.read()


def _header(source: str | bytes, usual: str, encoding: str) -> tuple[str, list[str]]:
    """The separator and the names of the columns, which pandas would rename if repeated.

    A header that the usual separator does not split is split by another that does.
    """
    import pandas as pd

    headers = {}
    for separator in (usual, *SEPARATORS):
        header = pd.read_csv(
            _opened(source),
            sep=separator,
            header=None,
            nrows=1,
            dtype=str,
            na_filter=False,
            encoding=encoding,
        )
        headers[separator] = header.iloc[0].tolist()
        if len(headers[separator]) > 1:
            return separator, headers[separator]
    return usual, headers[usual]


def _opened(source: str | bytes) -> Any:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    return _Expanding(source) if source.lower().endswith(".gz") else source


class _Expanding(gzip.GzipFile):
    """A compressed file that is not read on where it expands beyond all measure."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path, self._n_left = path, _most_bytes(path)

    def read(self, size: int | None = -1) -> bytes:
        # Never all at once
        return self._counted(super().read(_STEP if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def _counted(self, data: bytes) -> bytes:
        self._n_left -= len(data)
        if self._n_left < 0:
            raise CommandError(_expands(self._path))
        return data


def _most_bytes(path: str) -> int:
    """Bytes that a compressed file may expand to."""
    return max(MOST_EXPANSION * os.path.getsize(path), ALWAYS_READ)


def _expands(path: str) -> str:
    return (
        f"{path}: expands to more than {MOST_EXPANSION} times its size and "
        f"{ALWAYS_READ >> 20} MiB; if that is right, pass it decompressed"
    )


def _read_parquet(path: str, needed: list[str]) -> pd.DataFrame:
    pyarrow, parquet = (importlib.import_module(f"pyarrow{name}") for name in ("", ".parquet"))
    try:
        return _parquet_columns(pyarrow, parquet, path, needed)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:  # not every one is an OSError or a ValueError
        raise OSError(*error.args) from None


def _parquet_columns(pyarrow: Any, parquet: Any, path: str, needed: list[str]) -> pd.DataFrame:
    import pandas as pd

    _check_columns(path, parquet.read_schema(path).names, needed)
    # A run of equal values takes a few bytes, however long it is.
    if 8 * len(needed) * parquet.read_metadata(path).num_rows > _most_bytes(path):
        raise CommandError(_expands(path).replace("decompressed", "as CSV"))
    table = parquet.read_table(path, columns=needed, page_checksum_verification=True)
    table.validate(full=True)  # text that is no UTF-8, entries beyond a dictionary
    series = {}
    for name in needed:
        column = table[name]
        if pyarrow.types.is_nested(column.type):
            raise CommandError(
                f"{path}: column {shortened(name)} holds {column.type}, not single values"
            )
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        # Integers with gaps stay integers; of floats, NaN is missing as well as null.
        keeps_type = not pyarrow.types.is_floating(column.type)
        series[name] = column.to_pandas(types_mapper=pd.ArrowDtype if keeps_type else None)
    return pd.DataFrame(series)


def _check_columns(path: str, columns: list[str], needed: list[str]) -> None:
    for name in needed:
        if columns.count(name) > 1:
            raise CommandError(
                f"{name_of(path)}: {columns.count(name)} columns are named {shortened(name)}"
            )
        if name not in columns:
            by_lower = {column.lower(): column for column in columns}
            near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.66)
            hint = f"; did you mean {listed(by_lower[key] for key in near)}?" if near else ""
            raise CommandError(
                f"{name_of(path)}: no column {shortened(name)} among its columns "
                f"{listed(columns)}{hint}"
            )


# Arguments of the library ----------------------------------------------------------------


class Rows(NamedTuple):
    """Rows that are counted: those with a group in one column at least."""

    labels: NDArray[Any]
    positive: Any
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: pd.DataFrame
    n_read: int
    decisions: NDArray[np.float64] | None = None

    def having(self, names: Iterable[str]) -> Rows:
        """Rows with a group in each of these columns, and these columns only."""
        groups = self.groups[list(names)]
        has = groups.notna().all(axis=1).to_numpy()
        weights = None if self.weights is None else self.weights[has]
        decisions = None if self.decisions is None else self.decisions[has]
        kept = self._replace(labels=self.labels[has], scores=self.scores[has], weights=weights)
        return kept._replace(groups=groups[has], decisions=decisions)

    def n_with(self, names: Iterable[str]) -> int:
        """Number of rows with a group in each of these columns."""
        return int(self.groups[list(names)].notna().all(axis=1).sum())

    def n_without(self, names: Iterable[str]) -> int:
        """Number of rows read that lack a group in one of these columns."""
        return self.n_read - self.n_with(names)

    def n_by_class(self) -> tuple[int, int]:
        """Number of positives and of negatives; rows of weight 0 do not count."""
        positive = self.labels == self.positive
        if self.weights is not None:
            positive = positive[self.weights > 0]
        n_positives = int(positive.sum())
        return n_positives, positive.size - n_positives


def rows_of(table: pd.DataFrame, columns: list[str], arguments: argparse.Namespace) -> Rows:
    groups = groups_of(table, columns, arguments.missing)
    n_read, table = len(table), table.loc[groups.index]
    pos_label = arguments.pos_label
    if arguments.decimal == ",":
        table = _with_points(table, arguments)
        pos_label = None if pos_label is None else _with_point(pos_label)
    labels, positive = labels_of(table[arguments.label], pos_label)
    scores = scores_of(table[arguments.score])
    weights = None if arguments.weight is None else weights_of(table[arguments.weight])
    decisions = None
    if arguments.decisions is not None:
        classes = table[arguments.label].unique(), pos_label
        decisions = decisions_of(table[arguments.decisions], *classes)
    return Rows(labels, positive, scores, weights, groups, n_read, decisions)


def _with_points(table: pd.DataFrame, arguments: argparse.Namespace) -> pd.DataFrame:
    """Numbers of labels, scores and weights that are written with a comma, with a point."""
    from pandas.api.types import is_numeric_dtype

    changed = {}
    named = {arguments.label, arguments.score, arguments.weight, arguments.decisions} - {None}
    for name in named:
        column = table[name]
        if is_numeric_dtype(column):
            continue
        text = column.map(str, na_action="ignore")
        has_point = text.str.contains(".", regex=False, na=False).to_numpy(bool)
        if name not in (arguments.label, arguments.decisions):
            _refuse(column, has_point, "written with a point, although --decimal is a comma,")
        changed[name] = text.map(_with_point, na_action="ignore")
    return table.assign(**changed)


def _with_point(text: str) -> str:
    """A number with a decimal comma with a point in its place; other text as it is."""
    return text.replace(",", ".") if _has_decimal_comma(text) else text


def _has_decimal_comma(text: str) -> bool:
    is_one = text.count(",") == 1 and "." not in text
    return is_one and math.isfinite(_number(text.replace(",", ".")))


def groups_of(table: pd.DataFrame, columns: list[str], missing: str) -> pd.DataFrame:
    """Group labels as text, with missing ones treated as asked.

    If they are to be dropped, rows without any go, and the others keep their gaps.
    """
    import pandas as pd

    from skfedauc._input import encode_groups

    groups = pd.DataFrame({name: _as_text(table[name]) for name in columns})
    empty = groups.isna()
    n_empty = {name: int(empty[name].sum()) for name in columns if empty[name].any()}
    if not n_empty:
        return groups
    if missing == "drop":
        return groups[~empty.all(axis=1)]
    if missing == "error":
        counts = (
            f"{n:,} of {len(table):,} in column {shortened(name)}" for name, n in n_empty.items()
        )
        raise CommandError(
            f"the group is empty in some rows: {', '.join(counts)}; pass --missing drop to leave "
            "these rows out, or --missing group to make them a group of their own"
        )
    for name in n_empty:
        try:
            column = f"column {shortened(name)}"
            codes, labels = encode_groups(groups[name], column, missing="group")
        except ValueError as error:
            text = str(error).replace("missing='drop'", "--missing drop")
            raise CommandError(text.removesuffix(".")) from None
        groups[name] = labels[codes]
    return groups


def _as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    import numpy as np
    import pandas as pd

    codes, distinct = pd.factorize(column)
    values = np.asarray(distinct)
    is_float = values.dtype.kind == "f"
    if is_float and (values % 1 == 0).all() and (np.abs(values) <= 2**53).all():
        values = values.astype(np.int64)  # whole numbers that came as floats
    texts = [str(value) for value in values]
    # A column of whole numbers is written with ".0" once a value of it was missing.
    if texts and all(_WHOLE_FLOAT.fullmatch(value) for value in texts):
        texts = [value.removesuffix(".0") for value in texts]
    text = np.array([*texts, None], object)
    return pd.Series(text[codes], index=column.index, dtype=object)


def labels_of(column: pd.Series[Any], pos_label: str | None) -> tuple[NDArray[Any], Any]:
    """Labels, as numbers where they are numbers, and the positive one."""
    import numpy as np
    import pandas as pd

    _refuse(column, column.isna(), "empty")
    codes, values = pd.factorize(column)
    labels = [_label(value) for value in values]
    if pos_label is not None:
        _check_text(pos_label, "--pos-label")
    classes = dict(zip(labels, map(str, values), strict=True))
    found = f"column {shortened(column.name)} has the labels {listed(sorted(classes.values()))}"
    if len(classes) > 2:
        raise CommandError(
            f"{found}; an AUC needs two classes. Is --label the column of the true classes?"
        )
    positive = 1.0 if pos_label is None else _label(pos_label)
    if pos_label is None and not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
        hint = ", and --decimal , for decimal commas" * any(
            map(_has_decimal_comma, classes.values())
        )
        raise CommandError(f"{found}; pass --pos-label, the one that counts as positive{hint}")
    if pos_label is not None and positive not in classes:
        raise CommandError(f"{found}; --pos-label {shortened(pos_label)} is not among them")
    if any(isinstance(label, str) for label in classes):
        return np.array([label == positive for label in labels])[codes], True
    return np.array(labels)[codes], positive


def _check_text(text: str, name: str) -> None:
    from skfedauc._input import check_text

    try:
        check_text([text], name)
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def decisions_of(
    column: pd.Series[Any], classes: Iterable[Any], pos_label: str | None
) -> NDArray[np.float64]:
    """1 where the positive class is predicted and 0 elsewhere.

    Decisions are labels of the classes; or else 0 and 1, where those are not.
    """
    import numpy as np
    import pandas as pd

    _refuse(column, column.isna(), "empty")
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
    """A label's number if it is one, with true as 1 and false as 0; else its text."""
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    number = _number(text)
    return number if math.isfinite(number) else text


def numbers_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    import numpy as np
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    _refuse(column, column.isna(), "empty")
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        numbers = column.to_numpy(np.float64)
    else:
        numbers = _numbers(np.array([str(value) for value in column], object))
    bad = ~np.isfinite(numbers)
    if bad.any() and _has_decimal_comma(str(column.iloc[int(bad.argmax())])):
        _refuse(column, bad, "not a finite number", "; pass --decimal , for decimal commas")
    _refuse(column, bad, "not a finite number")
    return numbers


def _numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """The numbers nearest to what is written; NaN where it is not one."""
    import numpy as np

    if _is_plain("".join(cells)):
        try:
            return cells.astype(np.float64)
        except ValueError:
            pass
    return np.array([_number(cell) for cell in cells], np.float64)


def _number(text: str) -> float:
    try:
        return float(text) if _is_plain(text) else math.nan
    except ValueError:
        return math.nan


def _is_plain(text: str) -> bool:
    """Whether it is free of what Python alone takes for numbers: 1_0, digits of all scripts."""
    return text.isascii() and "_" not in text


def scores_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Numbers of which no two different ones are equal once they are float64."""
    import numpy as np
    from pandas.api.types import is_float_dtype

    from skfedauc._input import refuse_ties

    scores = numbers_of(column)
    if is_float_dtype(column):
        return scores
    cells = [str(cell) for cell in column.to_numpy(object)]
    long = np.fromiter((len(cell) > _MOST_DIGITS for cell in cells), np.bool_, len(cells))
    if long.any():
        try:
            exact = [Decimal(cell) for cell in cells]
            refuse_ties(exact, scores, f"column {shortened(column.name)}")
        except ValueError as error:
            text = str(error).partition("; round them")[0]
            raise CommandError(f"{text}; round them, or give their ranks as scores") from None
    return scores


def weights_of(column: pd.Series[Any]) -> NDArray[np.float64]:
    from skfedauc._input import check_weights

    weights = numbers_of(column)
    _refuse(column, weights < 0, "below 0")
    try:
        return check_weights(weights, f"column {shortened(column.name)}")
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def _refuse(column: pd.Series[Any], bad: Any, what: str, mend: str = "") -> None:
    if bad.any():
        first = int(bad.argmax())
        value = "" if what == "empty" else f" ({shortened(str(column.iloc[first]))})"
        raise CommandError(
            f"column {shortened(column.name)} is {what} in {int(bad.sum()):,} of "
            f"{counted(len(column), 'row')}, the first being data row "
            f"{column.index[first] + 1}{value}{mend}"
        )
