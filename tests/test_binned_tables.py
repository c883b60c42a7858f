"""Bins in lazy tables and in batches: the cells of the same rows in memory."""

import functools
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from edge_tables import (
    BINS,
    BY_SITE,
    REFUSED_SCORES,
    WEIGHTED,
    assert_same,
    rows,
    rows_around_edges,
)

from skfedauc import Bins, ScoreCounts
from skfedauc.counts import view_of


def counted(table, bins, **columns):
    """Count the rows of an arrow table in memory, by bins."""
    names = {"label": "y_true", "score": "y_score", "group": "groups", "weight": "sample_weight"}
    arguments = {names[key]: table.select([column]) for key, column in columns.items()}
    return ScoreCounts.from_predictions(**arguments, disclosure=bins)


@pytest.mark.parametrize("columns", [BY_SITE, WEIGHTED], ids=["", "weighted"])
@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_lazy_tables(bins, columns):
    table = rows_around_edges(bins)
    expected = counted(table, bins, **columns)
    assert expected.disclosure.bins == bins
    for native in (table, pl.from_arrow(table), pl.from_arrow(table).lazy()):
        found = ScoreCounts.from_table(native, **columns, disclosure=bins)
        assert_same(found, expected)
        np.testing.assert_array_equal(view_of(found).ranges, view_of(expected).ranges)


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_expression_is_the_number(bins):
    scores = rows_around_edges(bins)["risk"].to_numpy()
    frame = nw.from_native(pl.LazyFrame({"risk": scores}))
    found = frame.select(bin=bins.expression(nw.col("risk"))).collect()["bin"].to_numpy()
    assert found.dtype == np.int64
    expected = bins.numbers_of(scores)
    if bins.n_bins is None:
        size = np.abs(scores)
        expected[(size >= 2.0**64) | ((size < 2.0**-64) & (size > 0))] = -(2**40)
    np.testing.assert_array_equal(found, expected)


def test_the_level_bins_is_bins_of_probabilities():
    found = ScoreCounts.from_table(pl.from_arrow(rows()).lazy(), **BY_SITE, disclosure="bins")
    assert found.disclosure.bins == Bins.of_probabilities()
    assert found == counted(rows(), "bins", **BY_SITE)


def test_summary_of_a_lazy_table():
    found = ScoreCounts.from_table(pl.from_arrow(rows()).lazy(), **BY_SITE, disclosure="summary")
    assert found.disclosure.level == "summary"
    assert found == counted(rows(), "summary", **BY_SITE)


def test_query_returns_bins_and_no_scores():
    scores = np.random.default_rng(0).random(5000)
    table = pl.LazyFrame({"ill": [0, 1] * 2500, "risk": scores})
    names = {"label": "ill", "score": "risk"}
    bins = Bins.of_probabilities(2, 4)
    found = ScoreCounts.from_table(table, **names, disclosure=bins, max_cells=2 * bins.n_bins)
    assert found.cells.scores.size <= bins.n_bins
    with pytest.raises(
        ValueError, match=r"values and bins: \d+ of 'risk', 2 of 'ill'\. Pass wider"
    ):
        ScoreCounts.from_table(table, **names, disclosure=bins, max_cells=10)


@pytest.mark.parametrize("max_cells", [1, 100])
@pytest.mark.parametrize("name", REFUSED_SCORES)
def test_scores_are_refused_as_in_memory(name, max_cells):
    table = rows(risk=pa.array(REFUSED_SCORES[name].scores, pa.float64()))
    message = REFUSED_SCORES[name].message if max_cells > 1 else "got .* NaN|got scores from"
    lazy = pl.from_arrow(table).lazy()
    with pytest.raises(ValueError, match=message):
        ScoreCounts.from_table(lazy, **BY_SITE, disclosure="bins", max_cells=max_cells)
    with pytest.raises(ValueError, match=REFUSED_SCORES[name].message):
        counted(table, "bins", **BY_SITE)


SCORES = {
    "float32": pa.array([0.1, 0.7, 0.3, 0.7, 0.1, 0.1], pa.float32()),
    "integers": pa.array([0, 1, 1, 0, 0, 1]),
    "decimals": pa.array([Decimal(n) for n in (".1", ".5", ".25", ".5", ".5", ".1")]),
}


@pytest.mark.filterwarnings("ignore:y_score holds only 0 and 1")
@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_of_other_types(scores):
    table = rows(risk=scores)
    lazy = pl.from_arrow(table).lazy()
    for bins in (Bins.of_probabilities(), Bins.at([0.1, 0.25])):
        found = ScoreCounts.from_table(lazy, **BY_SITE, disclosure=bins)
        assert_same(found, counted(table, bins, **BY_SITE))


def test_rows_of_weight_0_may_be_outside_as_in_memory():
    table = rows(risk=[0.5, 7.0, 0.5, 0.25, 0.5, 0.25], weight=[1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    found = ScoreCounts.from_table(pl.from_arrow(table).lazy(), **WEIGHTED, disclosure="bins")
    assert_same(found, counted(table, "bins", **WEIGHTED))


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_batches(bins):
    table = rows_around_edges(bins)
    batches = [table.slice(start, 200) for start in range(0, len(table), 200)]
    found = ScoreCounts.from_batches(batches, **BY_SITE, disclosure=bins)
    expected = counted(table, bins, **BY_SITE)
    assert_same(found, expected)
    np.testing.assert_array_equal(view_of(found).ranges, view_of(expected).ranges)


def test_checkpoint_knows_the_bins(tmp_path):
    table, path = rows_around_edges(BINS["edges"]), tmp_path / "checkpoint"
    batches = [table.slice(start, 50) for start in range(0, len(table), 50)]
    count = functools.partial(ScoreCounts.from_batches, **BY_SITE, checkpoint=path)
    with pytest.raises(TypeError, match=f"batch {len(batches)}"):
        count([*batches, None], disclosure=BINS["edges"])
    assert path.exists()
    for other in (Bins.at([0.1]), "exact"):
        with pytest.raises(ValueError, match=r"disclosure="):
            count(batches, disclosure=other)
    found = count([*batches, batches[0]], disclosure=BINS["edges"])
    expected = counted(pa.concat_tables([table, batches[0]]), BINS["edges"], **BY_SITE)
    assert_same(found, expected)
    np.testing.assert_array_equal(view_of(found).ranges, view_of(expected).ranges)
