"""Addition of compatible score counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._kernel import Cells
from skfedauc.counts.joining import within
from skfedauc.counts.limits import check_n_rows
from skfedauc.counts.origin import Origin
from skfedauc.counts.ranges import merge_with_ranges
from skfedauc.counts.state import State
from skfedauc.counts.summary import merged_summaries


def sum_of(parts: Sequence[State]) -> State:
    """Add up compatible score counts in one pass.

    Raises
    ------
    ValueError
        If a class has too many rows for exact counts.
    """
    if len(parts) == 1:
        return parts[0]
    tables = [part.labels for part in parts if part.labels is not None]
    if tables:
        numbers, labels = _input.unite_labels(tables)
        n_groups = labels.size
    else:
        numbers, labels = [np.arange(part.n_groups) for part in parts], None
        n_groups = max(part.n_groups for part in parts)
    negatives, positives = zip(*(part.n_rows for part in parts), strict=True)
    check_n_rows(negatives, "negatives")
    check_n_rows(positives, "positives")
    check_n_rows([part.origin.n_missing for part in parts], "rows left out")
    origin = Origin.merged([part.origin for part in parts])
    summaries = [part.summary for part in parts if part.summary is not None]
    if summaries:
        return State(merged_summaries(summaries, numbers, n_groups), labels, origin)
    cells = [part.cells for part in parts]
    if any(of.weights is not None for of in cells):
        cells = [of._replace(weights=_weights_of(of)) for of in cells]
    merged, ranges = merge_with_ranges(cells, [part.ranges for part in parts], numbers, n_groups)
    return State(merged, labels, origin, ranges)


def sum_within(parts: Sequence[State], max_cells: int) -> State:
    """Add up compatible score counts, and join cells until there are `max_cells`."""
    return within(sum_of(parts), max_cells)


def _weights_of(cells: Cells) -> NDArray[np.float64]:
    """Return sums of weights and of squared weights by class; unweighted rows have weight 1."""
    if cells.weights is not None:
        return cells.weights
    counts = np.stack([cells.negatives, cells.positives]).astype(np.float64)
    return np.concatenate([counts, counts])
