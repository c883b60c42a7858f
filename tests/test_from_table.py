"""ScoreCounts.from_table on tables in memory and on lazy polars; engines are in tests/engines."""

import itertools

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from edge_tables import BY_SITE, EDGES, REFUSED_SCORES, WEIGHTED, assert_same, rows
from oracles import random_case

from skfedauc import Bins, ScoreCounts

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


def test_record_batch():
    (batch,) = rows().to_batches()
    assert_same(ScoreCounts.from_table(batch, **BY_SITE), EDGES["plain"].expected())


def test_query_returns_bins_and_no_scores():
    scores = np.random.default_rng(0).random(5000)
    table = pl.LazyFrame({"ill": [0, 1] * 2500, "risk": scores})
    names = {"label": "ill", "score": "risk"}
    bins = Bins.of_probabilities(2, 4)
    found = ScoreCounts.from_table(table, **names, disclosure=bins, max_cells=2 * bins.n_bins)
    assert found.cells.scores.size <= bins.n_bins
    with pytest.raises(ValueError, match=r"combinations of .risk., .ill.\. Pass wider Bins"):
        ScoreCounts.from_table(table, **names, disclosure=bins, max_cells=10)


@pytest.mark.parametrize("name", REFUSED_SCORES)
def test_bins_refuse_scores_as_in_memory(name):
    scores, message = REFUSED_SCORES[name]
    lazy = pl.from_arrow(rows(risk=pa.array(scores, pa.float64()))).lazy()
    for most, expected in ((1, "got .* NaN|got scores from"), (100, message)):
        with pytest.raises(ValueError, match=expected):
            ScoreCounts.from_table(lazy, **BY_SITE, disclosure="bins", max_cells=most)
    known = lazy.collect()
    with pytest.raises(ValueError, match=message):
        ScoreCounts.from_predictions(
            known["ill"], known["risk"], groups=known["site"], disclosure="bins"
        )
