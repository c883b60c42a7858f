"""Counts by group, score and label from one query of a database or a lazy table.

The engine runs one aggregation: ``SELECT group, score, label, COUNT(*) ... GROUP BY group, score,
label``. This module reads only the result, and validates the result by the rules for rows. Engines
differ in comparisons of missing and NaN values, and of booleans with numbers. The query therefore
contains no rule.

With bins, the engine groups rows by the number of the bin in place of the score. The engine groups
scores without a bin, such as missing and infinite scores, by value; this module bins or refuses
these scores. The engine bins only columns of floats: for other numbers, such as decimals, this
module first checks that float64 is exact.
"""

from __future__ import annotations

import contextlib
import io
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells
from skfedauc.counts.bin_expressions import NOT_BINNED
from skfedauc.counts.bins import Bins
from skfedauc.counts.columns import Columns, arguments_of, check_columns, naming_columns
from skfedauc.counts.counting import count_rows
from skfedauc.counts.disclosure import Disclosure, bins_of
from skfedauc.counts.levels import at_level
from skfedauc.counts.origin import Origin
from skfedauc.counts.state import State, added

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# Range of valid weights, so that sums of their squares neither overflow nor underflow
_SMALLEST, _LARGEST = 1e-100, 1e100


def frame_of(table: Any, columns: Columns) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Check the columns of a table, and return the table as a narwhals DataFrame or LazyFrame.

    Raises
    ------
    TypeError
        If narwhals does not read the table.
    ValueError
        If a column is absent or repeated.
    """
    import narwhals.stable.v2 as nw

    if type(table).__name__ == "RecordBatch":
        import pyarrow as pa

        table = pa.Table.from_batches([table])
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(
            _input.distinct_columns(table, columns.by_argument, "table")
        )
    except TypeError as error:
        is_path = isinstance(table, str) or hasattr(table, "__fspath__")
        mend = " Files are counted by ScoreCounts.from_batches([path], ...)." if is_path else ""
        raise TypeError(
            "table must be a table of pandas, polars, pyarrow, DuckDB, Spark, Dask, SQLFrame or "
            f"Ibis, or another one that narwhals reads; got {_words.described(table)}.{mend}"
        ) from error
    schema = frame.collect_schema()
    for argument, names in columns.by_argument.items():
        _input.check_column_names(names, schema.names(), argument, "table")
        _input.check_single_values(schema, names, argument)
    return frame


def count_table(
    table: Any,
    columns: Columns,
    pos_label: Any,
    missing: _input.Missing,
    max_cells: int,
    disclosure: Disclosure,
) -> State:
    """Count the rows of a table, with the arguments of `ScoreCounts.from_table`."""
    import narwhals.stable.v2 as nw

    check_columns(columns, required=("label", "score"))
    missing = _input.check_missing(missing)
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    bins = bins_of(disclosure)
    frame = frame_of(table, columns)
    if isinstance(frame, nw.LazyFrame):
        with naming_columns(columns):
            counted = count_in_table(frame, columns, pos_label, missing, max_cells, bins)
        return at_level(counted, disclosure)
    arguments = arguments_of(nw.to_native(frame), columns, "table")
    with naming_columns(columns):
        rows = _input.check_rows(**arguments, pos_label=pos_label, missing=missing)
    names = _input.names_of(rows.labels, arguments.get("groups"))
    return at_level(count_rows(rows, group_names=names), disclosure)


def query_of(
    frame: nw.LazyFrame[Any], columns: Columns, bins: Bins | None = None
) -> nw.LazyFrame[Any]:
    """Return the aggregation that counts rows by group, score or bin, and label.

    The result has the columns `group_0`, `group_1` and so on, `score`, `label` and `n_rows`. With
    bins of floats, the result also has the column `bin`, and `score` is 0 unless `bin` is
    `NOT_BINNED`. With weights, the result counts rows of weight 0 separately (`is_zero`). The
    result then also has the number of valid weights (`n_valid`), the smallest and the largest
    weight, the sum of the weights and the sum of the squared weights.
    """
    import narwhals.stable.v2 as nw

    keys = _keys(columns)
    if frame.implementation.is_dask():
        # Dask mixes up groups if a column of Arrow floats has both -0.0 and 0.0.
        schema = frame.select(**keys).collect_schema()
        keys = {k: key + 0.0 if schema[k].is_float() else key for k, key in keys.items()}
    if columns.weight is None:
        rows, names = _with_bins(frame.select(**keys), list(keys), bins)
        return rows.group_by(names).agg(n_rows=nw.len())
    weight = _as_float(frame, columns.weight)
    valid = (weight > 0) & (weight <= sys.float_info.max)
    summed = (weight >= _SMALLEST) & (weight <= _LARGEST)
    rows = frame.select(
        **keys,
        is_zero=nw.when(weight == 0).then(nw.lit(1)).otherwise(nw.lit(0)),
        valid=nw.when(valid).then(weight),
        summed=nw.when(summed).then(weight),
    ).with_columns(square=nw.col("summed") * nw.col("summed"))
    rows, names = _with_bins(rows, [*keys, "is_zero"], bins)
    return rows.group_by(names).agg(
        n_rows=nw.len(),
        n_valid=nw.col("valid").count(),
        smallest=nw.col("valid").min(),
        largest=nw.col("valid").max(),
        total=nw.col("summed").sum(),
        squares=nw.col("square").sum(),
    )


def _keys(columns: Columns) -> dict[str, nw.Expr]:
    """Return the columns to group by, under names that differ from all columns of the table."""
    import narwhals.stable.v2 as nw

    groups = columns.by_argument.get("group", [])
    keys = {f"group_{number}": nw.col(name) for number, name in enumerate(groups)}
    return {**keys, "score": nw.col(str(columns.score)), "label": nw.col(str(columns.label))}


def _with_bins(
    rows: nw.LazyFrame[Any], names: list[str], bins: Bins | None
) -> tuple[nw.LazyFrame[Any], list[str]]:
    """Return rows with the column `bin`, and the names of the columns to group by."""
    import narwhals.stable.v2 as nw

    bins = _bins_of_engine(rows, "score", bins)
    if bins is None:
        return rows, names
    score = nw.col("score")
    rows = rows.with_columns(score=score.cast(nw.Float64))
    rows = rows.with_columns(bin=bins.expression(score))
    rest = nw.when(nw.col("bin") == NOT_BINNED).then(score).otherwise(nw.lit(0.0))
    return rows.with_columns(score=rest), [*names, "bin"]


def _bins_of_engine(frame: nw.LazyFrame[Any], score: str, bins: Bins | None) -> Bins | None:
    """Return the bins that the engine computes; None for scores that are not floats."""
    return bins if frame.collect_schema()[score].is_float() else None


def _as_float(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    import narwhals.stable.v2 as nw

    values = nw.col(column)
    if frame.collect_schema()[column] == nw.Boolean:
        values = values.cast(nw.Int32)  # PostgreSQL converts booleans only to this type
    return values.cast(nw.Float64)


def count_in_table(
    frame: nw.LazyFrame[Any],
    columns: Columns,
    pos_label: Any,
    missing: _input.Missing,
    max_cells: int,
    bins: Bins | None = None,
) -> State:
    """Count the rows of a lazy table.

    Parameters
    ----------
    frame : LazyFrame
    columns : Columns
    pos_label : int, float, bool, str or None
    missing : {"raise", "drop", "group"}
    max_cells : int
        Largest number of rows of the result of the query.
    bins : Bins, default=None
        Bins to count; None counts each distinct score.


    Raises
    ------
    ValueError, TypeError
        For the reasons that hold for rows in memory, or if the query returns more than `max_cells`
        rows.
    """
    import narwhals.stable.v2 as nw

    _refuse_other_than_numbers(frame, columns)
    found = query_of(frame, columns, bins).head(max_cells + 1).collect()
    n_rows = _array(found, "n_rows", np.int64)
    scores = nw.to_native(found["score"])
    of_engine = _bins_of_engine(frame, str(columns.score), bins)
    if of_engine is not None:
        if found["score"].is_null().any():
            _input.check_scores(scores, n_rows=n_rows)  # an error, which counts NULL apart from NaN
        scores = _array(found, "score", np.float64).copy()
        numbers = _array(found, "bin", np.int64)
        is_binned = numbers != NOT_BINNED
        scores[is_binned] = of_engine.scores_of(numbers[is_binned])
        if len(found) > max_cells:  # invalid scores may be the cause
            of_engine.numbers_of(_input.check_scores(scores, n_rows=n_rows))
    if len(found) > max_cells:
        raise _too_many(found, columns, max_cells)
    groups = None
    if columns.group is not None:
        named = {name: f"group_{i}" for i, name in enumerate(columns.by_argument["group"])}
        groups = nw.to_native(found.select(**{k: nw.col(alias) for k, alias in named.items()}))
    # Leave rows of weight 0 out only after their validation.
    rows = _input.check_rows(
        nw.to_native(found["label"]),
        scores,
        groups,
        None if columns.weight is None else 1.0 - _array(found, "is_zero", np.float64),
        pos_label,
        missing=missing,
        n_rows=n_rows,
    )
    kept = slice(None) if rows.kept is None else rows.kept
    by_class = np.stack([~rows.positive, rows.positive])
    weights = None
    if columns.weight is not None:
        _check_weights(frame, columns.weight, found)
        ends = [_array(found, name, np.float64)[kept] for name in ("smallest", "largest")]
        if any((end != 1.0).any() for end in ends):
            sums = [_array(found, name, np.float64)[kept] for name in ("total", "squares")]
            weights = np.concatenate([np.where(by_class, of_rows, 0.0) for of_rows in sums])
    negatives, positives = np.where(by_class, n_rows[kept], 0)
    # Adding 0.0 converts -0.0 to 0.0, because engines may count the two separately.
    of_cells = rows.scores.astype(np.float64) + 0.0
    ranges = None
    if bins is not None:
        numbers = bins.numbers_of(of_cells)
        of_cells, ranges = bins.scores_of(numbers), bins.ranges_of(numbers)
    cells = Cells(np.zeros(0, np.int64), of_cells, negatives, positives, weights)
    names = _input.names_of(rows.labels, groups)
    origin = Origin(rows.n_missing, names, rows.classes, bins=bins)
    return added(cells, rows.codes, rows.labels, origin, ranges)


def _array(found: nw.DataFrame[Any], name: str, dtype: Any) -> NDArray[Any]:
    return np.asarray(found[name].to_numpy(), dtype)


def _refuse_other_than_numbers(frame: nw.LazyFrame[Any], columns: Columns) -> None:
    """Refuse scores and weights that are text or dates, before the query reads all values."""
    import narwhals.stable.v2 as nw

    schema = frame.collect_schema()
    checks = ((columns.score, _input.check_scores), (columns.weight, _input.check_weights))
    for column, check in checks:
        dtype = None if column is None else schema[column]
        if dtype is None or dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown):
            continue
        values = frame.select(value=nw.col(str(column))).filter(~nw.col("value").is_null())
        first = nw.to_native(values.head(3).collect()["value"])
        # Leave the check of numbers, such as decimals that Dask takes for text, to the counting.
        with contextlib.suppress(ValueError):
            check(first)


def _check_weights(frame: nw.LazyFrame[Any], column: str, found: nw.DataFrame[Any]) -> None:
    """Raise an error for negative, missing, infinite and extreme weights."""
    import narwhals.stable.v2 as nw

    n_rows, n_valid = (_array(found, name, np.int64) for name in ("n_rows", "n_valid"))
    is_zero = _array(found, "is_zero", np.int64) == 1
    n_zero, n_invalid = int(n_rows[is_zero].sum()), int((n_rows - n_valid)[~is_zero].sum())
    numbers: dict[float | None, int] = {0.0: n_zero}
    has_valid = n_valid > 0
    if has_valid.any():
        smallest = float(_array(found, "smallest", np.float64)[has_valid].min())
        largest = float(_array(found, "largest", np.float64)[has_valid].max())
        numbers |= {smallest: 1}
        numbers |= {largest: int(n_valid.sum()) - (smallest != largest)}
    if n_invalid:
        weight = _as_float(frame, column)
        # NaN is larger than all numbers in some engines, and not comparable in others.
        is_infinite = (weight < -sys.float_info.max) | ((0 - weight) < -sys.float_info.max)
        is_negative = (weight < 0) & (weight >= -sys.float_info.max)
        counted = frame.select(
            infinite=nw.when(is_infinite).then(nw.lit(1)),
            negative=nw.when(is_negative).then(nw.lit(1)),
            null=nw.when(weight.is_null()).then(nw.lit(1)),
        ).select(*(nw.col(name).count() for name in ("infinite", "negative", "null")))
        only = counted.collect()
        n_infinite, n_negative, n_null = (int(only[name][0]) for name in only.columns)
        numbers |= {np.inf: n_infinite, -1.0: n_negative, None: n_null}
        numbers |= {np.nan: n_invalid - n_infinite - n_negative - n_null}
    known = {value: n for value, n in numbers.items() if n}
    values = nw.new_series("weight", list(known), nw.Float64, backend=found.implementation)
    _input.check_weights(nw.to_native(values), n_rows=np.array(list(known.values()), np.int64))


def _too_many(found: nw.DataFrame[Any], columns: Columns, max_cells: int) -> ValueError:
    groups = columns.by_argument.get("group", [])
    names = [*groups, str(columns.score), str(columns.label)]
    aliases, kind, mend = list(_keys(columns)), "values", "Count bins of scores (disclosure=)"
    if "bin" in found.columns:
        aliases[-2], kind, mend = "bin", "values and bins", "Pass wider Bins as disclosure"
    read = [
        f"{found[alias].n_unique():,} of {_words.shortened(name)}"
        for alias, name in zip(aliases, names, strict=True)
    ]
    return ValueError(
        f"table has more than max_cells={max_cells:,} combinations of {_words.listed(names)}; the "
        f"first ones have these numbers of {kind}: {', '.join(read)}. {mend}, round the scores in "
        "the table to a few digits, or count the rows by partition and merge the counts, as "
        "ScoreCounts.from_batches does. Each combination takes about 100 bytes here."
    )


def explain_query(table: Any, columns: Columns, max_cells: int, disclosure: Disclosure) -> str:
    """Return the SQL of the query, or the query plan of an engine without SQL."""
    import narwhals.stable.v2 as nw

    check_columns(columns, required=("label", "score"))
    max_cells = _input.check_whole_number(max_cells, "max_cells")
    frame = frame_of(table, columns)
    if not isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"table is a {_input.kind_in_words(table)}, whose rows are in memory and are counted "
            "without a query; explain_table takes lazy tables and relations."
        )
    query = nw.to_native(query_of(frame, columns, bins_of(disclosure)).head(max_cells + 1))
    engine = frame.implementation
    if engine.is_duckdb():
        return str(query.sql_query())
    if engine.is_ibis():
        import ibis

        return str(ibis.to_sql(query))
    if engine.is_sqlframe():
        return str(query.sql())
    if engine.is_polars():
        return str(query.explain())
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        query.pprint() if engine.is_dask() else query.explain()
    return printed.getvalue().strip()
