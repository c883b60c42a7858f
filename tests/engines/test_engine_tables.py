"""ScoreCounts.from_table on each engine: the counts or the error of the same rows in memory."""

import itertools

import dask
import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from edge_tables import (
    BINS,
    BY_SITE,
    EDGES,
    REFUSED_SCORES,
    WEIGHTED,
    assert_same,
    rows,
    rows_around_edges,
)
from sqlframe.duckdb import DuckDBSession

from skfedauc import Bins, ScoreCounts
from skfedauc.counts.score_counts import view_of

NUMBERS = itertools.count()


def name_of_table():
    return f"rows_{next(NUMBERS)}"


def without_dictionaries(table):
    """Return the table with text in place of categories, for engines without categories."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def created(connection, table):
    """Create a table of DuckDB from a table of Arrow, and return its name."""
    name = name_of_table()
    connection.register("arrow", table)
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
    return name


def in_duckdb(request):
    connection = duckdb.connect()
    return lambda table: connection.table(created(connection, table))


def in_sqlframe(request):
    connection = duckdb.connect()
    session = DuckDBSession(conn=connection)
    return lambda table: session.table(created(connection, table))


def in_ibis(request):
    connection = ibis.duckdb.connect()
    return lambda table: connection.table(created(connection.con, table))


def in_postgres(request):
    connection = request.getfixturevalue("postgres")
    return lambda table: connection.create_table(name_of_table(), without_dictionaries(table))


def in_spark(request):
    spark = request.getfixturevalue("spark")
    return lambda table: spark.createDataFrame(without_dictionaries(table)).repartition(2)


def in_dask(request):
    def read(table):
        # By default, Dask converts all objects to text, also decimals.
        with dask.config.set({"dataframe.convert-string": False}):
            return dd.from_pandas(table.to_pandas(), npartitions=2)

    return read


def in_dask_of_arrow(request):
    return lambda table: dd.from_pandas(
        without_dictionaries(table).to_pandas(types_mapper=pd.ArrowDtype), npartitions=2
    )


ENGINES = {
    "duckdb": in_duckdb,
    "sqlframe": in_sqlframe,
    "ibis": in_ibis,
    "postgres": in_postgres,
    "spark": in_spark,
    "dask": in_dask,
    "dask of arrow": in_dask_of_arrow,
}


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(name, marks=[pytest.mark.spark] if name == "spark" else []) for name in ENGINES
    ],
)
def engine(request):
    """Return the name of an engine, and a function that loads an Arrow table into the engine."""
    return request.param, ENGINES[request.param](request)


# Tables that the engine refuses, with the engine's message
REFUSED = {("sqlframe", "names with spaces and signs"): r"column 'is ill\?', not found in table"}


@pytest.mark.parametrize("name", EDGES)
def test_edges(engine, name):
    engine_name, read = engine
    edge = EDGES[name]
    if (engine_name, name) in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[engine_name, name]):
            ScoreCounts.from_table(read(edge.table), **edge.arguments)
        return
    edge.check(read(edge.table))


def many_rows(n=50_000, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.integers(0, 2, n)
    return pa.table(
        {
            "ill": ill,
            "risk": np.where(rng.random(n) < 0.5, rng.random(n), (rng.random(n) + ill).round(2)),
            "site": rng.choice(["va", "oslo", "bern", "rome", "Åre"], n),
            "ward": rng.integers(0, 40, n),
            "weight": rng.integers(0, 4, n) * rng.random(n),
        }
    )


def test_many_rows(engine):
    _, read = engine
    rows = many_rows(10_000)
    table = read(rows)
    by = {"label": "ill", "score": "risk", "group": ["site", "ward"]}
    for arguments in (by, {**by, "weight": "weight"}):
        assert_same(
            ScoreCounts.from_table(table, **arguments), ScoreCounts.from_table(rows, **arguments)
        )


def test_too_many_cells(engine):
    _, read = engine
    table = read(many_rows(5000))
    with pytest.raises(
        ValueError, match=r"more than max_cells=1,000 combinations of 'site', 'risk'"
    ):
        ScoreCounts.from_table(table, **BY_SITE, max_cells=1000)


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_bins(engine, bins):
    """The engine bins the floats around each edge exactly as `Bins` does."""
    _, read = engine
    rows = rows_around_edges(bins)
    table = read(rows)
    found = ScoreCounts.from_table(table, **WEIGHTED, disclosure=bins)
    expected = ScoreCounts.from_table(rows, **WEIGHTED, disclosure=bins)
    assert_same(found, expected)
    np.testing.assert_array_equal(view_of(found).ranges, view_of(expected).ranges)


def test_bins_of_float32(engine):
    _, read = engine
    table = rows(risk=pa.array([0.1, 0.7, 0.3, 0.7, 0.1, 0.1], pa.float32()))
    bins = Bins.at([0.1, 0.3, 0.7])
    found = ScoreCounts.from_table(read(table), **BY_SITE, disclosure=bins)
    assert_same(found, ScoreCounts.from_table(table, **BY_SITE, disclosure=bins))


@pytest.mark.parametrize("name", REFUSED_SCORES)
def test_bins_refuse_scores_as_in_memory(engine, name):
    _, read = engine
    scores, message = REFUSED_SCORES[name]
    table = read(rows(risk=pa.array(scores, pa.float64())))
    # Spark takes seconds to plan a query of the bins of all floats.
    for bins in ("probabilities",) if name == "outside" else ("probabilities", "edges"):
        with pytest.raises(ValueError, match=message):
            ScoreCounts.from_table(table, **BY_SITE, disclosure=BINS[bins])


def test_bins_in_the_query(engine):
    """The engine returns at most one row for each bin and label."""
    _, read = engine
    table, bins = read(many_rows(5000)), Bins.at([0.25, 0.5, 1.5])
    names = {"label": "ill", "score": "risk", "max_cells": 8, "disclosure": bins}
    assert ScoreCounts.from_table(table, **names).cells.scores.size == 4


def test_timestamps_of_spark_are_instants(spark):
    """The type TIMESTAMP is an instant, which Spark returns in the session's time zone."""
    table = spark.sql("SELECT 0 AS ill, .5 AS risk, TIMESTAMP_LTZ '2020-10-25 00:30:00 UTC' AS at")
    (label,) = ScoreCounts.from_table(table, label="ill", score="risk", group="at").groups
    assert label.tz_convert("UTC").isoformat() == "2020-10-25T00:30:00+00:00"


def test_columns_that_spark_does_not_distinguish(spark):
    table = spark.createDataFrame([(0, 0.5, 0.7)], "ill int, risk double, Risk double")
    with pytest.raises(Exception, match=r"AMBIGUOUS_REFERENCE.*`risk`"):
        ScoreCounts.from_table(table, label="ill", score="risk")


def test_enum_of_duckdb():
    """The codes of the engine are unsigned."""
    connection = duckdb.connect()
    connection.execute("CREATE TYPE site AS ENUM ('va', 'oslo', 'bern')")
    in_arrow = rows(site=["va", None, "va", "oslo", "bern", "va"])
    connection.register("arrow", in_arrow)
    connection.execute("CREATE TABLE t AS SELECT ill, risk, weight, site::site AS site FROM arrow")
    table = connection.table("t")
    expected = ScoreCounts.from_table(in_arrow, **BY_SITE, missing="group")
    assert ScoreCounts.from_table(table, **BY_SITE, missing="group") == expected
    in_memory = table.to_arrow_table()
    assert pa.types.is_unsigned_integer(in_memory.schema.field("site").type.index_type)
    assert ScoreCounts.from_table(in_memory, **BY_SITE, missing="group") == expected


def test_batches_are_no_lazy_tables(engine):
    _, read = engine
    table = read(rows())
    for batches in (table, [table], [lambda: table]):
        with pytest.raises(TypeError, match=r"ScoreCounts\.from_table"):
            ScoreCounts.from_batches(batches, **BY_SITE)
