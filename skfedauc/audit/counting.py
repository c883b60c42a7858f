"""Counts of the rows of an audit: a report on the scores, and counts of decisions."""

from __future__ import annotations

from typing import Any

from skfedauc import _input
from skfedauc.audit import decisions as deciding
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.report import GroupAUC


def of_predictions(
    y_true: Any,
    y_score: Any,
    groups: Any,
    y_pred: Any,
    sample_weight: Any,
    pos_label: Any,
    missing: _input.Missing,
    n_jobs: int | None,
    clusters: Any = None,
) -> tuple[GroupAUC, ScoreCounts | None]:
    """Return the report on predictions, and the counts of decisions if there is `y_pred`.

    With `clusters`, the decisions are counts by unit, see `ClusterCounts`.
    `FairnessAudit.from_predictions` describes the parameters.
    """
    report = GroupAUC.from_predictions(
        y_true,
        y_score,
        groups=groups,
        sample_weight=sample_weight,
        clusters=clusters,
        pos_label=pos_label,
        undefined="ignore",
        missing=missing,
        n_jobs=n_jobs,
    )
    decisions = None
    if y_pred is not None:
        _input.check_row_order(
            {
                "y_true": y_true,
                "y_score": y_score,
                "y_pred": y_pred,
                "groups": groups,
                "sample_weight": sample_weight,
                "clusters": clusters,
            }
        )
        rows = _input.check_rows(
            y_true,
            deciding.predicted_positive(y_pred, y_true, pos_label),
            groups,
            sample_weight,
            pos_label,
            name="y_pred",
            missing=missing,
            warn_labels=False,
            clusters=clusters,
        )
        if clusters is None:
            decisions = ScoreCounts.of_rows(rows, n_jobs)
        else:
            decisions = ClusterCounts.of_rows(rows, n_jobs).units
    return report, decisions
