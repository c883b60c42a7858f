"""Table of the calibration of the scores by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import select_groups
from skfedauc.inference import calibration as calibrating
from skfedauc.inference.cluster_calibration import ClusterCells
from skfedauc.inference.equal_calibration import (
    EqualCalibration,
    test_equal_calibration,
    test_equal_calibration_of_clusters,
)

Floats = NDArray[np.float64]

# Number of bins of the expected calibration error, and label of the row of all groups together
N_BINS, ALL = 10, "all"


def pvalues(counts: ScoreCounts, clusters: ClusterCounts | None) -> Floats:
    """Return the p value of the test of perfect calibration of each group."""
    test = calibrating.test_calibration(counts.cells)
    if clusters is not None:
        test = ClusterCells(clusters, counts.cells).test_calibration(test)
    return test.pvalue


def equal_calibration(
    counts: ScoreCounts, clusters: ClusterCounts | None, is_compared: NDArray[np.bool_]
) -> EqualCalibration:
    """Return the test that some of the groups have the same calibration.

    The results by group are NaN for the other groups.

    Raises
    ------
    DisclosureError
        If the counts do not hold exact scores.
    ValueError
        If the scores are not from 0 to 1.
    """
    of_groups = np.full((2, is_compared.size), np.nan)
    chosen = np.flatnonzero(is_compared)
    if chosen.size < 2:
        return EqualCalibration(np.nan, 0, np.nan, *of_groups)
    kept = counts if chosen.size == is_compared.size else select_groups(counts, chosen)
    cells = calibrating.cells_of_probabilities(kept, "equal_calibration")
    if clusters is None:
        test = test_equal_calibration(cells)
    else:
        own = ClusterCells(clusters.select_groups(chosen), cells)
        test = test_equal_calibration_of_clusters(own)
    of_groups[:, chosen] = test.expected, test.deviation
    return test._replace(expected=of_groups[0], deviation=of_groups[1])


def calibration(
    counts: ScoreCounts,
    clusters: ClusterCounts | None,
    index: pd.Index,
    adjusted: Floats,
    expected: Floats,
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
    expected : ndarray of float64, shape (n_groups,)
        Shares of positives that the curve common to all groups predicts.
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
    table.insert(2, "prevalence_expected", expected)
    table["pvalue_adjusted"] = adjusted
    if clusters is not None:
        clusters = clusters.regroup(np.zeros(clusters.n_groups, np.intp), 1)
    of_all = _table(counts.without_groups().cells, clusters, confidence_level)
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
    n_groups = cells.starts.size - 1
    means = calibrating.mean_scores(cells, confidence_level)
    intercepts = calibrating.intercepts(cells, confidence_level)
    slopes = calibrating.slopes(cells, confidence_level)
    bins = calibrating.equal_count_bins(cells, N_BINS)
    brier = calibrating.brier_scores(cells, confidence_level)
    test = calibrating.test_calibration(cells)
    expected_error = bins.expected_error(n_groups)
    if clusters is not None:
        own = ClusterCells(clusters, cells)
        means = own.mean_scores(means, confidence_level)
        intercepts = own.coefficients(intercepts, confidence_level, with_slope=False)
        slopes = own.coefficients(slopes, confidence_level, with_slope=True)
        brier = own.brier_scores(brier, confidence_level)
        test = own.test_calibration(test)
        # The mean of the error under perfect calibration is for independent labels.
        expected_error = np.full(n_groups, np.nan)
    return pd.DataFrame(
        {
            "mean_score": means.mean,
            "prevalence": means.prevalence,
            "difference": means.mean - means.prevalence,
            "difference_low": means.low,
            "difference_high": means.high,
            "intercept": intercepts.estimate,
            "intercept_low": intercepts.low,
            "intercept_high": intercepts.high,
            "slope": slopes.estimate,
            "slope_low": slopes.low,
            "slope_high": slopes.high,
            "ece": bins.error(n_groups),
            "ece_expected": expected_error,
            "brier": brier.score,
            "brier_low": brier.low,
            "brier_high": brier.high,
            "spiegelhalter_z": test.spiegelhalter,
            "pvalue": test.pvalue,
            "note": slopes.note.astype(object),
        }
    )
