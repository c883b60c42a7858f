"""Error rates at a threshold by group, with upper limits for any number of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts.disclosure import cells_for
from skfedauc.inference.binomial import upper_limit
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.report.estimates import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd


def error_rate_table(
    estimates: GroupEstimates, index: pd.Index, threshold: Any, confidence_level: Any
) -> pd.DataFrame:
    """Return the error rates at a threshold by group, see `GroupAUC.error_rates`."""
    import pandas as pd

    if not _input.is_number(threshold) or not math.isfinite(threshold):
        raise ValueError(f"threshold must be a finite number; got {_words.shortened(threshold)}.")
    tail = 1.0 - check_confidence_level(confidence_level)
    estimates.pairs.check_no_repeated_rows()
    estimates.pairs.check_one_model(
        "error_rates",
        " To bound the error rate over folds, pass the n_errors and the rows of each fold's report "
        "to error_bounds.error_rate_bound.",
    )
    estimates.pairs.check_independent_rows("error_rates")
    # For binned scores, use the scores within the bins with the largest number of errors.
    cells = cells_for(estimates.extremes[0].pairs.counts, "error_rates")
    if cells.weights is not None:
        raise ValueError(
            "error_rates counts rows, but these rows have weights; count the rows without "
            "sample_weight."
        )
    is_positive = cells.scores >= float(threshold)
    n_groups, groups = cells.starts.size - 1, cells.groups

    def rows_of(of_cells: NDArray[Any], which: NDArray[np.bool_]) -> NDArray[np.int64]:
        counts = np.zeros(n_groups, np.int64)
        np.add.at(counts, groups[which], of_cells[which].astype(np.int64))
        return counts

    counts = estimates.pairs.counts
    n_negatives, n_positives = counts.n_negatives, counts.n_positives
    false_positives = rows_of(cells.negatives, is_positive)
    false_negatives = rows_of(cells.positives, ~is_positive)
    columns: dict[str, NDArray[Any]] = {}
    for name, n_errors, n_rows in (
        ("error", false_positives + false_negatives, n_positives + n_negatives),
        ("false_positive", false_positives, n_negatives),
        ("false_negative", false_negatives, n_positives),
    ):
        rate = np.full(n_groups, np.nan)
        np.divide(n_errors, n_rows, out=rate, where=n_rows > 0)
        columns[f"n_{name}s"] = n_errors
        columns[f"{name}_rate"] = rate
        columns[f"{name}_limit"] = upper_limit(n_errors, n_rows, tail)
    return pd.DataFrame(columns, index=index)
