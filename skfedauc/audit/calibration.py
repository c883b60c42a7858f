"""Table of the calibration of the scores by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.inference import calibration as calibrating

Floats = NDArray[np.float64]

# Label of the row of all groups together
ALL = "all"


def pvalues(counts: ScoreCounts, clusters: ClusterCounts | None) -> Floats:
    """Return the p value of the mean score minus the share of positives of each group."""
    cells = counts.cells
    own = None if clusters is None else calibrating.ClusterCells(clusters, cells)
    return calibrating.mean_scores(cells, 0.95, own).pvalue


def calibration(
    counts: ScoreCounts,
    clusters: ClusterCounts | None,
    index: pd.Index,
    adjusted: Floats,
    confidence_level: float,
) -> pd.DataFrame:
    """Return the table `FairnessAudit.calibration` of the groups and of all rows together.

    Parameters
    ----------
    counts : ScoreCounts
        Counts of the groups.
    clusters : ClusterCounts or None
        Counts of the same rows by group and cluster, or None if all rows are independent.
    index : Index
        Labels of the groups.
    adjusted : ndarray of float64, shape (n_groups,)
        Adjusted p values.
    confidence_level : float

    Raises
    ------
    DisclosureError
        If the counts do not hold exact scores.
    ValueError
        If the scores are not from 0 to 1.
    """
    cells = calibrating.cells_of_probabilities(counts, "calibration")
    table = _table(cells, clusters, confidence_level)
    table["pvalue_adjusted"] = adjusted
    if clusters is not None:
        clusters = clusters.regroup(np.zeros(clusters.n_groups, np.intp), 1)
    of_all = _table(counts.regroup(None).cells, clusters, confidence_level)
    label = ALL if index.nlevels == 1 else (ALL,) * index.nlevels
    both = pd.concat([table, of_all], ignore_index=True)
    labels = [*index.tolist(), label]
    if index.nlevels > 1:
        both.index = pd.MultiIndex.from_tuples(labels, names=index.names)
    else:
        both.index = pd.Index(labels, dtype=object, name=index.name)
    both.insert(len(both.columns) - 1, "note", both.pop("note"))
    return both


def _table(cells: Cells, clusters: ClusterCounts | None, confidence_level: float) -> pd.DataFrame:
    own = None if clusters is None else calibrating.ClusterCells(clusters, cells)
    means = calibrating.mean_scores(cells, confidence_level, own)
    slopes = calibrating.slopes(cells, confidence_level, own)
    return pd.DataFrame(
        {
            "mean_score": means.mean,
            "prevalence": means.prevalence,
            "difference": means.mean - means.prevalence,
            "difference_low": means.low,
            "difference_high": means.high,
            "slope": slopes.estimate,
            "slope_low": slopes.low,
            "slope_high": slopes.high,
            "pvalue": means.pvalue,
            "note": slopes.note.astype(object),
        }
    )
