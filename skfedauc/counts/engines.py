"""Counts of tables of rows, lazy tables, databases and batches.

A lazy table or database runs one aggregation. Only its result is read here, and checked by the
rules for rows: engines differ in comparisons of missing and NaN values, and of booleans with
numbers, so that the query contains no rule. Engines bin only floats: for other numbers, such as
decimals, this module first checks that float64 is exact.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows, _words
from skfedauc._kernel import Cells
from skfedauc.counts.bins import NOT_BINNED, Bins, expression_of
from skfedauc.counts.disclosure import Disclosure, check_rule
from skfedauc.counts.files import pyarrow_parquet
from skfedauc.counts.merging import Agreement, sum_of
from skfedauc.counts.reducing import at_level, reduced
from skfedauc.counts.state import State, state_of_cells, state_of_rows

# Column names by argument of `ScoreCounts.from_table`: label, score, group and weight
Names: TypeAlias = dict[str, list[str]]
# Arguments of `from_predictions`, and which of the columns each is
_ARGUMENTS = {"y_true": "label", "y_score": "score", "groups": "group", "sample_weight": "weight"}
# Range of valid weights, so that sums of their squares neither overflow nor underflow
_SMALLEST, _LARGEST = 1e-100, 1e100
ENDINGS = (".parquet", ".csv", ".csv.gz")
_PATHS = (str, os.PathLike)
# Packages of joblib backends that raise their own errors about workers
_BACKENDS = ("distributed", "ray")


def checked_names(columns: Mapping[str, Any], required: tuple[str, ...] = ()) -> Names:
    for name in ("label", "score", "weight"):
        value = columns[name]
        if not isinstance(value, str) and (value is not None or name in required):
            raise TypeError(f"{name} must be the name of a column; got {_words.shortened(value)}.")
    group = columns["group"]
    if group is not None and not _rows.is_column_names(group):
        raise TypeError(
            f"group must be a column's name or a list of names; got {_words.shortened(group)}."
        )
    if isinstance(group, list) and len(set(group)) < len(group):
        raise ValueError(f"group must name different columns; got {_words.shortened(group)}.")
    given = {name: of for name, of in columns.items() if of is not None}
    return {name: [of] if isinstance(of, str) else of for name, of in given.items()}


@contextlib.contextmanager
def _naming_columns(names: Names) -> Iterator[None]:
    """Let errors name columns of a table in place of arguments of `from_predictions`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error)
        for argument, name in _ARGUMENTS.items():
            # "groups" is also a word within messages. Labels have quotes.
            place = "^groups\\b" if name == "group" else rf"(?<!['\"])\b{argument}\b(?!['\"])"
            if name in names:
                found = f"column{'s' * (len(names[name]) > 1)} {_words.listed(names[name])}"
                message = re.sub(place, found.replace("\\", "\\\\"), message)
        if type(error) not in (TypeError, ValueError) or message == str(error):
            raise
        raise type(error)(message) from error


def arguments_of(table: Any, names: Names, what: str = "the batch") -> dict[str, Any]:
    """Return the columns of a table in memory by argument of `from_predictions`."""
    frame = _as_frame(table)
    found = {}
    for argument, of in _ARGUMENTS.items():
        if of in names:
            columns = _rows.columns_of(frame, names[of], of, what)
            if of != "group":
                columns = nw.from_native(columns, eager_only=True)[names[of][0]].to_native()
            found[argument] = columns
    return found


def _as_frame(table: Any) -> Any:
    """Return the table, after conversion of a pyarrow RecordBatch to a Table."""
    if type(table).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([table])
    return table


def _frame_of(table: Any, names: Names) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Check a table's columns, and return the table as a narwhals DataFrame or LazyFrame."""
    table = _as_frame(table)
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(
            _rows.distinct_columns(table, names, "table")
        )
    except TypeError as error:
        raise TypeError(
            "table must be a table of pandas, polars, pyarrow, DuckDB, Spark, Dask, SQLFrame or "
            f"Ibis, or another one that narwhals reads; got {_words.described(table)}. Files are "
            "counted by ScoreCounts.from_batches([path], ...)."
        ) from error
    schema = frame.collect_schema()
    for argument, of in names.items():
        _rows.check_column_names(of, schema.names(), argument, "table")
        _rows.check_single_values(schema, of, argument)
    return frame


def count_table(
    table: Any,
    columns: Mapping[str, Any],
    max_cells: int,
    *,
    pos_label: Any = None,
    missing: _labels.Missing = "raise",
    disclosure: Any = "exact",
) -> State:
    """Count a table's rows, with the arguments of `ScoreCounts.from_table`."""
    names = checked_names(columns, required=("label", "score"))
    options = {"pos_label": pos_label, "missing": _labels.check_missing(missing)}
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    rule = check_rule(disclosure)
    frame = _frame_of(table, names)
    if isinstance(frame, nw.LazyFrame):
        with _naming_columns(names):
            counted = _count_by_query(frame, names, max_cells, rule.bins, **options)
    else:
        arguments = arguments_of(nw.to_native(frame), names, "table")
        counted = counted_rows(arguments, names, **options)
    return reduced(counted, rule)


def counted_rows(arguments: dict[str, Any], names: Names, **options: Any) -> State:
    """Count the rows of columns in memory; errors name the columns."""
    with _naming_columns(names):
        rows = _rows.check_rows(**arguments, **options)
    return state_of_rows(rows)


def _query_of(frame: nw.LazyFrame[Any], names: Names, bins: Bins | None) -> nw.LazyFrame[Any]:
    """Return the aggregation that counts rows by group, score or bin, and label.

    The result has the columns `group_0`, `group_1` and so on, `score`, `label` and `n_rows`. With
    bins of floats, the result also has the column `bin`, and `score` is 0 unless `bin` is
    `NOT_BINNED`. With weights, the result counts rows of weight 0 separately (`is_zero`). The
    result then also has the number of valid weights (`n_valid`), the smallest and the largest
    weight, the sum of the weights and the sum of the squared weights.
    """
    keys = {f"group_{number}": nw.col(of) for number, of in enumerate(names.get("group", []))}
    keys |= {name: nw.col(names[name][0]) for name in ("score", "label")}
    if frame.implementation.is_dask():
        # Dask mixes up groups if a column of Arrow floats has both -0.0 and 0.0.
        schema = frame.select(**keys).collect_schema()
        keys = {k: key + 0.0 if schema[k].is_float() else key for k, key in keys.items()}
    by, sums = list(keys), {"n_rows": nw.len()}
    values: dict[str, nw.Expr] = {}
    if "weight" in names:
        by.append("is_zero")
        values, of_weights = _weight_columns(frame, names["weight"][0])
        sums |= of_weights
    rows = frame.select(**keys, **values)
    if bins is not None:
        by.append("bin")
        score = nw.col("score")
        rows = rows.with_columns(score=score.cast(nw.Float64))
        rows = rows.with_columns(bin=expression_of(bins, score))
        rest = nw.when(nw.col("bin") == NOT_BINNED).then(score).otherwise(nw.lit(0.0))
        rows = rows.with_columns(score=rest)
    return rows.group_by(by).agg(**sums)


def _weight_columns(frame: nw.LazyFrame[Any], column: str) -> tuple[dict[str, nw.Expr], ...]:
    """Return columns of the weights by row, and their sums by group of rows."""
    weight = nw.col(column)
    if frame.collect_schema()[column] == nw.Boolean:
        weight = weight.cast(nw.Int32)  # PostgreSQL converts booleans only to this type
    weight = weight.cast(nw.Float64)
    valid = (weight > 0) & (weight <= sys.float_info.max)
    summed = (weight >= _SMALLEST) & (weight <= _LARGEST)
    values = {
        "is_zero": nw.when(weight == 0).then(nw.lit(1)).otherwise(nw.lit(0)),
        "valid": nw.when(valid).then(weight),
        "summed": nw.when(summed).then(weight),
        "square": nw.when(summed).then(weight * weight),
    }
    sums = {
        "n_valid": nw.col("valid").count(),
        "smallest": nw.col("valid").min(),
        "largest": nw.col("valid").max(),
        "total": nw.col("summed").sum(),
        "squares": nw.col("square").sum(),
    }
    return values, sums


def _count_by_query(
    frame: nw.LazyFrame[Any], names: Names, max_cells: int, bins: Bins | None, **options: Any
) -> State:
    """Count the rows of a lazy table, with a score for each of the bins."""
    _refuse_other_than_numbers(frame, names)
    if not frame.collect_schema()[names["score"][0]].is_float():
        bins = None  # other numbers are binned later
    found = _query_of(frame, names, bins).head(max_cells + 1).collect()
    n_rows = _array(found, "n_rows", np.int64)
    scores = nw.to_native(found["score"])
    if bins is not None:
        scores = _array(found, "score").copy()
        numbers = _array(found, "bin", np.int64)
        is_binned = numbers != NOT_BINNED
        scores[is_binned] = bins.scores_of(numbers[is_binned])
        if len(found) > max_cells:  # invalid scores may be the cause
            bins.numbers_of(_input.check_scores(scores, n_rows=n_rows))
    if len(found) > max_cells:
        combined = [*names.get("group", []), *names["score"], *names["label"]]
        raise ValueError(
            f"table has more than max_cells={max_cells:,} combinations of "
            f"{_words.listed(combined)}. Pass wider Bins as disclosure=, round the scores in the "
            "table to a few digits, or count the rows by partition and merge the counts, as "
            "ScoreCounts.from_batches does. Each combination takes about 100 bytes here."
        )
    groups, weights = None, None
    if "group" in names:
        named = [nw.col(f"group_{i}").alias(name) for i, name in enumerate(names["group"])]
        groups = nw.to_native(found.select(named))
    # Leave rows of weight 0 out only after their validation.
    has_weight = 1.0 - _array(found, "is_zero") if "weight" in names else None
    columns = nw.to_native(found["label"]), scores, groups, has_weight
    rows = _rows.check_rows(*columns, n_rows=n_rows, **options)
    kept = slice(None) if rows.kept is None else rows.kept
    by_class = np.stack([~rows.positive, rows.positive])
    if "weight" in names:
        _check_weights(names["weight"][0], found)
        if any((_array(found, end)[kept] != 1.0).any() for end in ("smallest", "largest")):
            sums = [_array(found, name)[kept] for name in ("total", "squares")]
            weights = np.concatenate([np.where(by_class, of_rows, 0.0) for of_rows in sums])
    negatives, positives = np.where(by_class, n_rows[kept], 0)
    scores = rows.scores.astype(np.float64)  # of which engines may count -0.0 and 0.0 apart
    cells = Cells(np.zeros(0, np.int64), scores, negatives, positives, weights)
    return state_of_cells(cells, rows).summed(rows.codes)


def _array(found: nw.DataFrame[Any], name: str, dtype: Any = np.float64) -> NDArray[Any]:
    return np.asarray(found[name].to_numpy(), dtype)


def _refuse_other_than_numbers(frame: nw.LazyFrame[Any], names: Names) -> None:
    """Refuse scores and weights that are text or dates, before the query reads all values."""
    schema = frame.collect_schema()
    for name, check in (("score", _input.check_scores), ("weight", _input.check_weights)):
        for column in names.get(name, []):
            dtype = schema[column]
            if dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown):
                continue
            values = frame.select(value=nw.col(column)).filter(~nw.col("value").is_null())
            first = nw.to_native(values.head(3).collect()["value"])
            # The counting checks numbers, such as decimals that Dask takes for text.
            with contextlib.suppress(ValueError):
                check(first)


def _check_weights(column: str, found: nw.DataFrame[Any]) -> None:
    n_rows, n_valid = (_array(found, name, np.int64) for name in ("n_rows", "n_valid"))
    n_invalid = int((n_rows - n_valid)[_array(found, "is_zero") != 1].sum())
    if n_invalid:
        raise ValueError(
            f"column {_words.shortened(column)} must hold finite weights of 0 or more; got "
            f"{n_invalid:,} of {int(n_rows.sum()):,} that are missing, infinite or negative."
        )
    if (n_valid > 0).any():
        low, high = (_array(found, name)[n_valid > 0] for name in ("smallest", "largest"))
        _input.check_weights(np.array([low.min(), high.max()]))


# Batches


def count_batches(
    batches: Iterable[Any],
    columns: Mapping[str, str | list[str] | None],
    n_jobs: int | None,
    *,
    pos_label: Any = None,
    missing: _labels.Missing = "raise",
    disclosure: Any = "exact",
) -> State:
    """Count batches in joblib workers, with the arguments of `ScoreCounts.from_batches`.

    The loop reads a round after the previous round has ended, because joblib's generators read
    ahead and keep all waiting batches in memory. It merges the counts of rounds once they are as
    large as the sum: memory stays within a small multiple of the sum, and each cell enters only a
    few merges.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    named = [name for name, value in columns.items() if value is not None]
    if named and not {"label", "score"} <= set(named):
        raise ValueError(
            f"batches of DataFrames need both label= and score=, the names of columns; got "
            f"{', '.join(named)} only."
        )
    names = checked_names(columns)
    n_jobs = _input.check_n_jobs(n_jobs)
    options = {"pos_label": pos_label, "missing": _labels.check_missing(missing)}
    rule = check_rule(disclosure)
    _refuse_single_batch(batches)
    # Workers count each batch by bins, so that no scores leave them. Summaries of the same groups
    # cannot be merged, and small counts are those of all rows: both follow at the end.
    of_batch = Disclosure(rule.level, rule.bins) if rule.level == "bins" else Disclosure()
    count = delayed(functools.partial(_counted_batch, names, of_batch, **options))
    n_workers = effective_n_jobs(n_jobs)
    in_flight = 1 if n_workers == 1 else 2 * n_workers
    numbered = _numbered(batches if in_flight == 1 else map(_for_workers, batches))
    agreement = Agreement("batches")
    parts: list[State] = []
    with Parallel(n_jobs=n_jobs) as workers:
        while batch_round := list(itertools.islice(numbered, in_flight)):
            counted = _counted_round(workers, count, batch_round)
            for (number, _), state in zip(batch_round, counted, strict=True):
                agreement.check(f"batch {number}", state)
            batch_round.clear()
            parts += counted
            if sum(part.n_cells for part in parts[1:]) >= max(parts[0].n_cells, 1 << 16):
                parts = [sum_of(parts)]
            del counted
    if not parts:
        raise ValueError("batches is empty: there is nothing to count.")
    whole = sum_of(parts)
    _labels.warn_if_misspelled(whole.classes)
    return whole if rule == of_batch else reduced(whole, rule)


def _refuse_single_batch(batches: Any) -> None:
    # Asking a lazy table itself for its columns may run its query.
    is_table = hasattr(type(batches), "columns") or hasattr(type(batches), "column_names")
    is_iterable = hasattr(batches, "__iter__") and not isinstance(batches, bytes)
    is_batch = is_table or (callable(batches) and not is_iterable)
    if is_batch or isinstance(batches, _PATHS):
        raise TypeError(
            f"batches must be an iterable of batches; got a single {type(batches).__name__}. Pass "
            "[batch] to count one batch; ScoreCounts.from_table counts tables that are not in "
            "memory."
        )
    if not is_iterable:
        raise TypeError(f"batches must be an iterable of batches; got {_words.described(batches)}.")


def _counted_round(
    workers: Any, count: Callable[[int, Any], Any], batch_round: list[tuple[int, Any]]
) -> list[State]:
    try:
        return list(workers(count(*item) for item in batch_round))
    except Exception as error:
        # Ray wraps the error that a worker raises.
        wrapped = getattr(error, "cause", None)
        raised = wrapped if isinstance(wrapped, Exception) else error
        package = type(raised).__module__.partition(".")[0]
        if not isinstance(raised, BrokenExecutor) and package not in _BACKENDS:
            raise raised from (error if raised is not error else error.__cause__)
        # The last line of joblib's message is about traceback text that may not exist.
        reason = str(raised).partition("\nDetailed tracebacks")[0].strip().split("\n")[-1]
        raise RuntimeError(
            f"a worker was killed, perhaps for lack of memory, or failed while batches "
            f"{batch_round[0][0]} to {batch_round[-1][0]} were counted, so no counts are returned "
            f"({type(raised).__name__}: {reason}). To keep those of earlier batches, save the "
            "counts of each, and merge the files."
        ) from error


def _for_workers(batch: Any) -> Any:
    """Return a batch for the workers: copied arrays, or an absolute path.

    A reader may reuse its buffers, and workers may have another working directory.
    """
    if isinstance(batch, _PATHS):
        return os.path.abspath(batch)
    if not isinstance(batch, tuple | list):
        return batch
    return tuple(np.array(c) if isinstance(c, np.ndarray) else c for c in batch)


def _numbered(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield batches with their number; reader errors name the batch."""
    numbers = itertools.count()
    try:
        for batch in batches:
            yield next(numbers), batch
    except Exception as error:
        raise _error_in_batch(error, next(numbers)) from error


def _counted_batch(
    names: Names, rule: Disclosure, number: int, batch: Any, **options: Any
) -> State:
    """Read and count a batch; errors name it."""
    try:
        arguments = _arguments_of_batch(batch, names)
        state = counted_rows(arguments, names, warn_labels=False, **options)
        return at_level(state, rule)
    except Exception as error:
        raise _error_in_batch(error, number, batch) from error


def _error_in_batch(error: Exception, number: int, batch: Any = None) -> Exception:
    """Return an error that names the batch's file, for an error in this batch."""
    name = f"batch {number}"
    if isinstance(batch, _PATHS):
        name += f" ({_words.shortened_text(repr(os.fspath(batch)), 500)})"
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(f"{name}: {error}")
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")


def _arguments_of_batch(batch: Any, names: Names) -> dict[str, Any]:
    """Read a file or call a function, and return its columns by argument of `from_predictions`."""
    if isinstance(batch, _PATHS):
        rows = _read_file(os.fspath(batch), names)
    else:
        rows = batch() if callable(batch) else batch
    if names:
        return arguments_of(rows, names)
    is_tuple = isinstance(rows, tuple | list)
    if not is_tuple or not 2 <= len(rows) <= 4:
        raise TypeError(
            "a batch must be a tuple (y_true, y_score[, groups[, sample_weight]]), or a DataFrame "
            "with the columns named by label=, score=, group= and weight=, or the path of a file "
            "with these columns, or a function that returns one; got "
            f"{type(rows).__name__}{f' of {len(rows)} items' if is_tuple else ''}."
        )
    return dict(zip(_ARGUMENTS, rows, strict=False))


def _read_file(path: str, names: Names) -> Any:
    """Return a Parquet or CSV file's columns by name."""
    if not names:
        raise TypeError("files need label= and score=, the names of columns.")
    if not path.lower().endswith(ENDINGS):
        raise ValueError(f"the name of a file must end in {_words.enumerated(ENDINGS, 'or')}.")
    pq = pyarrow_parquet()
    import pyarrow as pa

    try:
        if not path.lower().endswith(".parquet"):
            return _read_csv(path, names)
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(_needed(names, file.schema_arrow.names))
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError) as error:
        # Errors of the operating system have a number; those of pyarrow about content have none.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _read_csv(path: str, names: Names) -> Any:
    """Return a CSV file's columns, with group labels as text, since 007 is not the number 7."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    needed = list(itertools.chain(*names.values()))
    separator, header = _rows.header_of(functools.partial(_header, path), needed)
    if not header:
        raise ValueError("the file cannot be read: it has no header.")
    groups = names.get("group", [])
    # Only empty cells are missing values, because NA may be the label of a group.
    options = arrow_csv.ConvertOptions(
        include_columns=_needed(names, header),
        column_types={name: pa.string() for name in groups},
        null_values=[""],
        strings_can_be_null=True,
    )
    layout = arrow_csv.ParseOptions(delimiter=separator)
    table = arrow_csv.read_csv(path, parse_options=layout, convert_options=options)
    for name in groups:
        written = table[name].unique().drop_null().to_pylist()
        if _rows.without_zero_decimals(written) is not written:
            labels = compute.replace_substring_regex(table[name], r"\.0$", "")
            table = table.set_column(table.column_names.index(name), name, labels)
    return table


def _header(path: str, separator: str) -> list[str]:
    """Return the cells in the first line that is not empty."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    # Replace invalid UTF-8 here; pyarrow raises the error later.
    with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(filter(None, csv.reader(lines, delimiter=separator)), [])


def _needed(names: Names, known: list[str]) -> list[str]:
    """Return the needed columns by name, each once; raise an error if the file lacks one."""
    for argument, of in names.items():
        _rows.check_column_names(of, known, argument, "the file")
    return list(dict.fromkeys(itertools.chain(*names.values())))
