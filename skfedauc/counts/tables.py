"""Counts of tables of rows, lazy tables and databases.

A lazy table or database runs one aggregation: ``SELECT group, score, label, COUNT(*) ... GROUP BY
group, score, label``. Only its result is read here, and checked by the rules for rows: engines
differ in comparisons of missing and NaN values, and of booleans with numbers, so that the query
contains no rule. With bins, the engine groups rows by the number of the bin in place of the score.
It groups scores without a bin, such as missing and infinite ones, by value, and they are binned or
refused here. Engines bin only floats: for other numbers, such as decimals, this module first checks
that float64 is exact.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows, _words
from skfedauc._kernel import Cells
from skfedauc.counts.bins import NOT_BINNED, Bins, expression_of
from skfedauc.counts.disclosure import check_rule
from skfedauc.counts.reducing import reduced
from skfedauc.counts.state import State, added, state_of_rows

# Column names by argument of `ScoreCounts.from_table`: label, score, group and weight
Names: TypeAlias = dict[str, list[str]]
# Arguments of `from_predictions`, and which of the columns each is
_ARGUMENTS = {"y_true": "label", "y_score": "score", "groups": "group", "sample_weight": "weight"}
# Range of valid weights, so that sums of their squares neither overflow nor underflow
_SMALLEST, _LARGEST = 1e-100, 1e100


def checked_names(columns: Mapping[str, Any], required: tuple[str, ...] = ()) -> Names:
    """Return the column names that are given, after checking them."""
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
        if argument == "groups" and of in names:
            found[argument] = _rows.columns_of(frame, names[of], of, what)
        elif of in names:
            found[argument] = _rows.column_named(frame, names[of][0], of, what)
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
    missing = _labels.check_missing(missing)
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    rule = check_rule(disclosure)
    frame = _frame_of(table, names)
    if isinstance(frame, nw.LazyFrame):
        with _naming_columns(names):
            counted = _count_by_query(frame, names, pos_label, missing, max_cells, rule.bins)
    else:
        arguments = arguments_of(nw.to_native(frame), names, "table")
        counted = counted_rows(arguments, names, pos_label, missing)
    return reduced(counted, rule)


def counted_rows(
    arguments: dict[str, Any],
    names: Names,
    pos_label: Any,
    missing: _labels.Missing,
    *,
    warn_labels: bool = True,
) -> State:
    """Count the rows of columns in memory; errors name the columns."""
    with _naming_columns(names):
        rows = _rows.check_rows(
            **arguments, pos_label=pos_label, missing=missing, warn_labels=warn_labels
        )
    return state_of_rows(rows, None, _labels.names_of(rows.labels, arguments.get("groups")))


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


def _weight_columns(
    frame: nw.LazyFrame[Any], column: str
) -> tuple[dict[str, nw.Expr], dict[str, nw.Expr]]:
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
    frame: nw.LazyFrame[Any],
    names: Names,
    pos_label: Any,
    missing: _labels.Missing,
    max_cells: int,
    bins: Bins | None,
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
    rows = _rows.check_rows(
        nw.to_native(found["label"]),
        scores,
        groups,
        1.0 - _array(found, "is_zero") if "weight" in names else None,
        pos_label,
        missing=missing,
        n_rows=n_rows,
    )
    kept = slice(None) if rows.kept is None else rows.kept
    by_class = np.stack([~rows.positive, rows.positive])
    if "weight" in names:
        _check_weights(names["weight"][0], found)
        if any((_array(found, end)[kept] != 1.0).any() for end in ("smallest", "largest")):
            sums = [_array(found, name)[kept] for name in ("total", "squares")]
            weights = np.concatenate([np.where(by_class, of_rows, 0.0) for of_rows in sums])
    negatives, positives = np.where(by_class, n_rows[kept], 0)
    # Adding 0.0 converts -0.0 to 0.0, because engines may count the two separately.
    of_cells = rows.scores.astype(np.float64) + 0.0
    return added(
        Cells(np.zeros(0, np.int64), of_cells, negatives, positives, weights),
        rows.codes,
        labels=rows.labels,
        group_names=_labels.names_of(rows.labels, groups),
        classes=rows.classes,
        n_missing=rows.n_missing,
    )


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
            # Leave the check of numbers, such as decimals that Dask takes for text, to the counting.
            with contextlib.suppress(ValueError):
                check(first)


def _check_weights(column: str, found: nw.DataFrame[Any]) -> None:
    """Raise an error for negative, missing, infinite and extreme weights."""
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
