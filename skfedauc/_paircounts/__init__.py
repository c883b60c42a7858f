"""The kernel: rows sorted into cells, and concordant pairs counted over cells.

A *cell* is one distinct score within one group, with the number of negatives and of
positives that have it. Two things are done here and nothing else:

* rows (or cells of other states, `merging.py`) are sorted by group and score, and equal ones
  added up: `rows.py`, by the ways of `by_value.py` and `by_row_number.py`, on top of `keys.py`,
  which packs group and score into integers, and `cells.py`, which says what a cell holds;
* pairs of one negative and one positive are counted over sorted cells, by group and for
  every two groups: `pairs.py`.

Only numpy is used here, and joblib to tell how many threads are meant.
"""

from skfedauc._paircounts.cells import Cells, compact_counts, group_of_cell
from skfedauc._paircounts.merging import merge_cells
from skfedauc._paircounts.pairs import (
    Places,
    Tally,
    cross_concordance,
    places_in_all,
    tally,
    walk,
    wins_over_all,
    wins_over_others,
)
from skfedauc._paircounts.rows import add_cells, cells_of_rows, count_rows, weigh_rows

__all__ = [
    "Cells",
    "Places",
    "Tally",
    "add_cells",
    "cells_of_rows",
    "compact_counts",
    "count_rows",
    "cross_concordance",
    "group_of_cell",
    "merge_cells",
    "places_in_all",
    "tally",
    "walk",
    "weigh_rows",
    "wins_over_all",
    "wins_over_others",
]
