"""Bins in lazy tables and in batches: the cells of the same rows in memory."""

from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from edge_tables import (
    BY_SITE,
    REFUSED_SCORES,
    WEIGHTED,
    assert_same,
    rows,
)

from skfedauc import Bins, ScoreCounts


def counted(table, bins, **columns):
    """Count the rows of an arrow table in memory, by bins."""
    names = {"label": "y_true", "score": "y_score", "group": "groups", "weight": "sample_weight"}
    arguments = {names[key]: table.select([column]) for key, column in columns.items()}
    return ScoreCounts.from_predictions(**arguments, disclosure=bins)


def test_the_level_bins_is_bins_of_probabilities():
    found = ScoreCounts.from_table(pl.from_arrow(rows()).lazy(), **BY_SITE, disclosure="bins")
    assert found.disclosure.bins == Bins.of_probabilities()
    assert found == counted(rows(), "bins", **BY_SITE)


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
