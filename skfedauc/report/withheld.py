"""Certain intervals of statistics that cover the rows of withheld groups.

The order of a withheld row and any other row is unknown, so each such pair can be concordant or
discordant. Where the number of withheld rows is unknown, the intervals use its upper limit. The
intervals widen with the number, and therefore contain the intervals for each smaller number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skfedauc.counts.score_counts import view_of
from skfedauc.report.estimates import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd

# Largest rounding error of an end of an interval, which is a ratio of sums of few products
_REACH = 1e-14


def cover_withheld(table: pd.DataFrame, estimates: GroupEstimates) -> pd.DataFrame:
    """Widen the intervals of statistics to cover the rows of withheld groups.

    Parameters
    ----------
    table : pandas.DataFrame
        Table of `bounds_table`.
    estimates : GroupEstimates

    Returns
    -------
    pandas.DataFrame
        The table with wider intervals. `low` and `high` are NaN for statistics without an interval.
        Statistics that compare groups have no interval. Statistics of group AUCs have no interval
        if a withheld group may be among the groups of the report.

    Raises
    ------
    ValueError
        If the counts have no limits of the numbers of withheld rows, or rows have weights.
    """
    counts = estimates.pairs.counts_for("withheld=True")
    withheld = counts.disclosure.withheld
    if withheld.n_groups == 0:
        return table
    most_negatives, most_positives = withheld.most_negatives, withheld.most_positives
    if most_negatives is None or most_positives is None:
        raise ValueError(
            "withheld=True needs the numbers of withheld rows, or limits of these numbers, and "
            "these counts hold only the number of withheld groups. Reduce with "
            "Disclosure(small_groups='join') or Disclosure(tell_withheld='rows')."
        )
    if view_of(counts).is_weighted:
        raise ValueError(
            "withheld=True needs counts without sample weights: the weights of withheld rows are "
            "unknown."
        )
    n_negatives, n_positives = int(counts.n_negatives.sum()), int(counts.n_positives.sum())
    n_pairs = n_negatives * n_positives
    all_pairs = (n_negatives + most_negatives) * (n_positives + most_positives)
    # Weight of the known AUCs and weight of the unknown AUCs, by statistic
    weights = {"pooled": (n_pairs, all_pairs - n_pairs)}
    are_apart = withheld.labels is not None and set(withheld.labels).isdisjoint(counts.groups or ())
    if are_apart:
        used = estimates.group_values[1]
        negatives = counts.n_negatives[used].astype(np.float64)
        positives = counts.n_positives[used].astype(np.float64)
        unknown = most_negatives, most_positives
        weights |= {
            "macro": (int(used.sum()), withheld.n_groups),
            "samples": (negatives.sum() + positives.sum(), sum(unknown)),
            "positives": (positives.sum(), unknown[1]),
            "negatives": (negatives.sum(), unknown[0]),
            # The most pairs within groups, if all withheld rows are of one group
            "within": ((negatives * positives).sum(), unknown[0] * unknown[1]),
        }
    table = table.copy()
    for name, (low, high) in table[["low", "high"]].iterrows():
        ends = np.nan, np.nan
        if name in weights:
            known, of_withheld = weights[name]
            if known + of_withheld > 0:
                share = known / (known + of_withheld)
                ends = (low * share, 1 - (1 - high) * share) if known else (0.0, 1.0)
        elif name == "worst" and are_apart:
            ends = 0.0, 1.0 if np.isnan(high) else high
        elif name == "difference" and are_apart:
            ends = 0.0 if np.isnan(low) else low, 1.0
        table.loc[name, ["low", "high"]] = (
            max(ends[0] - _REACH, 0.0) if ends[0] > 0 else ends[0],
            min(ends[1] + _REACH, 1.0),
        )
    return table
