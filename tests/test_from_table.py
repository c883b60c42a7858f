"""ScoreCounts.from_table on tables in memory and on lazy polars; engines are in tests/engines."""

import itertools

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from edge_tables import BY_SITE, EDGES, WEIGHTED, assert_same, rows
from oracles import random_case

from skfedauc import GroupAUC, ScoreCounts

READERS = {
    "pandas": lambda table: table.to_pandas(),
    "pandas of arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "narwhals": lambda table: nw.from_native(pl.from_arrow(table).lazy()),
}
# `from_table` unwraps a frame of narwhals, so a few edges suffice for narwhals.
EDGES_OF_NARWHALS = ["plain", "groups missing", "weights", "an absent column"]


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge):
    for reader, read in READERS.items():
        if reader != "narwhals" or edge in EDGES_OF_NARWHALS:
            EDGES[edge].check(read(EDGES[edge].table))


def test_random_rows():
    for seed in range(40):
        case = random_case(seed, most_groups=8)
        columns = {"ill": case.y, "risk": case.scores, "site": list(map(str, case.groups))}
        arguments = BY_SITE
        if case.weights is not None:
            columns, arguments = columns | {"weight": case.weights}, WEIGHTED
        found = ScoreCounts.from_table(pl.DataFrame(columns).lazy(), **arguments)
        expected = ScoreCounts.from_predictions(**(case.arguments | {"groups": columns["site"]}))
        np.testing.assert_equal(found.groups, expected.groups)
        assert_same(found.regroup(str), expected.regroup(str))


def test_counts_that_are_merged_with_counts_of_rows():
    first, last = rows().slice(0, 3), rows().slice(3)
    merged = ScoreCounts.merge(
        [
            ScoreCounts.from_table(pl.from_arrow(first).lazy(), **BY_SITE),
            ScoreCounts.from_table(last, **BY_SITE),
        ]
    )
    assert_same(merged, ScoreCounts.from_table(rows(), **BY_SITE))


def test_only_counts_are_collected(monkeypatch):
    """The engine counts the rows, and only counts leave the lazy table."""
    collected = []
    collect = pl.LazyFrame.collect

    def watched(frame, *args, **kwargs):
        found = collect(frame, *args, **kwargs)
        collected.append(found.height)
        return found

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    n = 100_000
    table = pl.DataFrame({"ill": np.arange(n) % 2, "risk": np.arange(n) % 10 / 10}).lazy()
    counts = ScoreCounts.from_table(table, label="ill", score="risk")
    assert collected == [10]
    assert GroupAUC(counts).pooled == 0.6


# Too many cells ---------------------------------------------------------------------------------


def test_too_many_cells():
    n = 1000
    table = pl.DataFrame(
        {"ill": np.arange(n) % 2, "risk": np.arange(n) / n, "site": np.arange(n) // 2 % 3}
    ).lazy()
    assert len(ScoreCounts.from_table(table, **BY_SITE, max_cells=n)) == 3
    with pytest.raises(
        ValueError,
        match=r"table has more than max_cells=999 combinations of 'site', 'risk', 'ill'; .*: 3 of "
        r"'site', 1,000 of 'risk', 2 of 'ill'\. Count bins .*, round the .* by partition",
    ):
        ScoreCounts.from_table(table, **BY_SITE, max_cells=n - 1)
    rounded = table.with_columns(pl.col("risk").round(1))
    assert ScoreCounts.from_table(rounded, **BY_SITE, max_cells=70).cells.scores.size <= 33
    # Rows in memory have no limit.
    assert len(ScoreCounts.from_table(table.collect(), **BY_SITE, max_cells=1)) == 3


# Columns without single values -----------------------------------------------------------------


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_columns_of_lists_and_structs(read):
    for argument, (value, kind) in itertools.product(
        ["label", "score", "group", "weight"],
        [([1, 2], "(List|ndarray)"), ({"a": 1, "b": "x"}, "(Struct|dict)")],
    ):
        table = rows(nested=pa.array([None, *[value] * 5]))
        message = (
            rf"^{argument} names the column 'nested', whose values are of type {kind}.*each field"
        )
        with pytest.raises(TypeError, match=message):
            ScoreCounts.from_table(read(table), **{**WEIGHTED, argument: "nested"})


def test_rows_in_arrays_of_lists_and_structs():
    for groups in (pl.Series([{"a": 1}] * 2), pa.array([[1], [2]]), np.array([{}, None], object)):
        with pytest.raises(TypeError, match=r"^groups must hold one label per row.*each field"):
            ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=groups)
    with pytest.raises(TypeError, match=r"^y_true must hold one label per row; got dict"):
        ScoreCounts.from_predictions(np.array([{}, {}], object), [0.1, 0.2])


# Arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"label": None}, TypeError, "label must be the name of a column; got None"),
        ({"score": 1}, TypeError, "score must be the name of a column; got 1"),
        ({"weight": ["weight"]}, TypeError, r"weight must be the name of a column; got \['wei"),
        ({"group": 1}, TypeError, "group must be a column's name or a list of names; got 1"),
        ({"group": []}, TypeError, r"group must be a column's name or a list of names; got \[\]"),
        ({"group": ["site", "site"]}, ValueError, "group must name different columns"),
        ({"missing": "keep"}, ValueError, "missing must be 'raise'"),
    ],
)
@pytest.mark.parametrize("read", [READERS["pandas"], READERS["polars lazy"]])
def test_arguments(arguments, error, message, read):
    with pytest.raises(error, match=message):
        ScoreCounts.from_table(read(rows()), **(BY_SITE | arguments))


def test_record_batch():
    (batch,) = rows().to_batches()
    assert_same(ScoreCounts.from_table(batch, **BY_SITE), EDGES["plain"].expected())


# The query as text ------------------------------------------------------------------------------
