"""Tables of confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skfedauc.inference import intervals, pairwise
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import AVERAGES, shares

if TYPE_CHECKING:
    import pandas as pd


def group_intervals(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float, method: intervals.Method
) -> pd.DataFrame:
    """Return the intervals of the group AUCs, see `GroupAUC.confidence_intervals`."""
    import pandas as pd

    low, high, note = intervals.group_limits(
        estimates.variances, (1.0 - confidence_level) / 2.0, method
    )
    return pd.DataFrame(
        {
            "auc": estimates.pairs.auc,
            "ci_low": low,
            "ci_high": high,
            "method": method,
            "note": note,
        },
        index=index,
    )


def statistic_intervals(
    estimates: GroupEstimates, confidence_level: float, method: intervals.Method, over: str | None
) -> pd.DataFrame:
    """Return the intervals of statistics, see `GroupAUC.confidence_intervals`."""
    import pandas as pd

    auc, used = estimates.group_aucs
    new_groups = intervals.is_over_groups(over, int(used.sum()))
    variances = estimates.variances
    lacking = intervals.Interval(np.nan, np.nan, np.nan, "needs a group with both classes")
    found = dict.fromkeys(("pooled", *AVERAGES), (lacking, new_groups))
    found |= dict.fromkeys(("worst", "difference"), (lacking, False))
    if variances.pooled.defined.any():
        interval = intervals.pooled_interval(
            variances, confidence_level, method, new_groups=new_groups
        )
        found["pooled"] = interval, new_groups
    for name in AVERAGES:
        share = shares(estimates, name)
        if share is not None:
            interval = intervals.average_interval(
                variances, auc, share, confidence_level, method, new_groups=new_groups
            )
            found[name] = interval, new_groups
    if used.any():
        interval = intervals.worst_interval(variances, auc, used, confidence_level, method)
        found["worst"] = interval, False
        found["difference"] = lacking._replace(note="needs two groups with both classes"), False
    if used.sum() > 1:
        interval = pairwise.difference_interval(variances, auc, used, confidence_level, method)
        found["difference"] = interval, False
    columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
    rows = [
        (
            interval.estimate,
            interval.low,
            interval.high,
            method,
            intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS,
            interval.note,
        )
        for interval, is_new in found.values()
    ]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(found, name="statistic"))
