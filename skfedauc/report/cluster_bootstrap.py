"""Table of bootstrap intervals of clustered rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from skfedauc import _input
from skfedauc.inference.cluster_bootstrap import Resamples, percentile_limits, resampled_aucs
from skfedauc.inference.intervals import Of
from skfedauc.inference.variances import Floats
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import AVERAGES, STATISTICS, shares

if TYPE_CHECKING:
    import pandas as pd

_LEAST_RESAMPLES = 100


def bootstrap_table(
    estimates: GroupEstimates,
    index: pd.Index,
    of: Of,
    confidence_level: float,
    n_resamples: int,
    random_state: Any,
) -> pd.DataFrame:
    """Return the table of `GroupAUC.cluster_bootstrap`."""
    import pandas as pd

    n_resamples = _input.check_whole_number(n_resamples, "n_resamples", _LEAST_RESAMPLES)
    if estimates.pairs.clusters is None:
        raise ValueError(
            "cluster_bootstrap needs a report with clusters. Pass the cluster of each row, "
            "GroupAUC.from_predictions(..., clusters=patient), or the name of the column of "
            "clusters, GroupAUC(counts, clusters='patient')."
        )
    if not estimates.pairs.pooled[1]:
        raise ValueError("cluster_bootstrap needs rows of both classes; the report has none.")
    # Draw the same clusters at both extremes of binned scores.
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    tail = (1.0 - confidence_level) / 2.0
    ends = (estimates, *estimates.extremes) if estimates.pairs.is_binned else (estimates,)
    drawn_values = []
    for end in ends:
        clusters = end.pairs.clusters
        assert clusters is not None
        drawn = resampled_aucs(clusters, n_resamples, np.random.RandomState(seed))
        values = drawn.groups if of == "groups" else _statistics(estimates, drawn)
        drawn_values.append(values)
    limits = [percentile_limits(values, tail) for values in drawn_values]
    # With binned scores, the second element has the lowest AUCs and the last the highest.
    low, high, error = limits[len(limits) // 2][0], limits[-1][1], limits[0][2]
    value = estimates.pairs.auc
    if of == "statistics":
        index = pd.Index(_names(estimates), name="statistic")
        value = np.array([estimates.value_of(STATISTICS[name].compute) for name in index])
    return pd.DataFrame(
        {
            "value": value,
            "standard_error": error,
            "ci_low": low,
            "ci_high": high,
            "n_undefined": np.isnan(drawn_values[0]).sum(axis=0),
        },
        index=index,
    )


def _names(estimates: GroupEstimates) -> list[str]:
    return ["pooled", *(name for name in AVERAGES if shares(estimates, name) is not None)]


def _statistics(estimates: GroupEstimates, drawn: Resamples) -> Floats:
    """Return the pooled AUC and the averages of each resample, with the observed weights.

    A number that replaces an undefined AUC is a constant.
    """
    auc, used = estimates.group_aucs
    of_groups = np.where(estimates.pairs.defined, drawn.groups, auc)
    columns = [drawn.pooled]
    for name in _names(estimates)[1:]:
        share = shares(estimates, name)
        assert share is not None
        counted = used & (share > 0)
        columns.append(of_groups[:, counted] @ share[counted])
    return np.column_stack(columns)
