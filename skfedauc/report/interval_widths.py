"""Table of the widths of intervals by method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skfedauc.counts.disclosure import cells_for
from skfedauc.inference import intervals
from skfedauc.inference.variances import Floats
from skfedauc.report.bounds import group_bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.intervals import group_intervals

if TYPE_CHECKING:
    import pandas as pd


def interval_widths(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float
) -> pd.DataFrame:
    """Return the table of `GroupAUC.interval_widths`."""
    import pandas as pd

    cells_for(estimates.pairs.counts, "interval_widths")  # The error message names the table.
    columns: dict[str, Floats] = {}
    methods: tuple[intervals.Method, ...] = ("logit", "delong", "disjoint_pairs", "exact")
    is_weighted, unknown = estimates.variances.weighted, np.full(len(index), np.nan)
    for method in methods:
        if is_weighted and method == "disjoint_pairs":
            columns[method] = unknown
            continue
        table = group_intervals(estimates, index, confidence_level, method)
        columns[method] = (table["ci_high"] - table["ci_low"]).to_numpy()
    variances, (low, high) = estimates.variances, group_bounds(estimates)
    m, n = variances.positives.effective, variances.negatives.effective
    with np.errstate(divide="ignore"):
        squares = {"hoeffding": 1.0 / np.minimum(m, n), "mcdiarmid": 1.0 / m + 1.0 / n}
    for name, of_groups in squares.items():
        reach = np.sqrt(-np.log((1.0 - confidence_level) / 2.0) * of_groups / 2.0)
        columns[name] = np.minimum(high + reach, 1.0) - np.maximum(low - reach, 0.0)
    if is_weighted:
        # Pairs of weighted rows have no Hoeffding's bound with the smaller effective sample size.
        columns["hoeffding"] = unknown
    return pd.DataFrame(columns, index=index)
