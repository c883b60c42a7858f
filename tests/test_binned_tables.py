"""Bins in lazy tables and in batches: the cells of the same rows in memory."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from edge_tables import BY_SITE, REFUSED_SCORES, rows

from skfedauc import Bins, ScoreCounts


def counted(table, bins, **columns):
    """Count the rows of an arrow table in memory, by bins."""
    names = {"label": "y_true", "score": "y_score", "group": "groups", "weight": "sample_weight"}
    arguments = {names[key]: table.select([column]) for key, column in columns.items()}
    return ScoreCounts.from_predictions(**arguments, disclosure=bins)


def test_query_returns_bins_and_no_scores():
    scores = np.random.default_rng(0).random(5000)
    table = pl.LazyFrame({"ill": [0, 1] * 2500, "risk": scores})
    names = {"label": "ill", "score": "risk"}
    bins = Bins.of_probabilities(2, 4)
    found = ScoreCounts.from_table(table, **names, disclosure=bins, max_cells=2 * bins.n_bins)
    assert found.cells.scores.size <= bins.n_bins
    with pytest.raises(ValueError, match=r"combinations of .risk., .ill.\. Pass wider Bins"):
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
