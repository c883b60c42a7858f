"""ROC curves of the groups to draw, from the counts of a `ScoreCounts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.curves import GroupCurves, RocCurve, mean_curve

Floats: TypeAlias = NDArray[np.float64]
# False and true positive rates
Corners: TypeAlias = tuple[Floats, Floats]

# Largest number of corners of a curve. `_thinned` thins curves with more corners on a grid of GRID
# by GRID squares, each smaller than two pixels.
MOST_CORNERS = 1000
GRID = 500


class Curve(NamedTuple):
    """ROC curve of a plot: corners, AUC, and the outline of the area of binned scores."""

    fpr: Floats
    tpr: Floats
    auc: float
    band: Floats | None = None


def group_curves(states: Sequence[ScoreCounts], groups: Sequence[Any]) -> list[RocCurve | None]:
    """Return the ROC curve of each group; None if no `ScoreCounts` has both classes of a group.

    With several `ScoreCounts`, such as folds, the curve is the mean of theirs, weighted by pairs,
    so the area below is the AUC of the pairs within each `ScoreCounts`.
    """
    found: dict[Any, list[tuple[RocCurve, float]]] = {label: [] for label in groups}
    for state in states:
        curves, of_state = GroupCurves.of(state), view_of(state).concordance
        for g, label in enumerate(groups if state.groups is None else state.groups):
            curve = curves.corners(g)
            if curve is not None:
                weight = float(of_state.positives[g]) * float(of_state.negatives[g])
                found[label].append((curve, weight))
    return [mean_curve(*zip(*parts, strict=True)) if parts else None for parts in found.values()]


def adjusted_curve(curves: Sequence[RocCurve | None], positives: NDArray[Any]) -> RocCurve | None:
    """Return the mean of the curves, weighted by positives; None if no group has a curve."""
    weights = positives.astype(np.float64).tolist()
    parts = [(c, w) for c, w in zip(curves, weights, strict=True) if c is not None]
    return mean_curve(*zip(*parts, strict=True)) if parts else None


def drawn_corners(curve: RocCurve | None) -> Corners:
    """Return false and true positive rates at the corners of a curve; empty without a curve.

    With more than `MOST_CORNERS` corners, thinning moves no point by more than ``1 / GRID``. The
    area under the thinned curve differs by at most about 1e-3.
    """
    if curve is None:
        return np.zeros(0), np.zeros(0)
    fpr, tpr = curve.turns
    if fpr.size <= MOST_CORNERS:
        return fpr, tpr
    # Keep the first and the last corner in each square of the grid.
    column, row = np.floor(fpr * GRID), np.floor(tpr * GRID)
    is_new = (np.diff(column) > 0) | (np.diff(row) > 0)
    kept = np.append(True, is_new) | np.append(is_new, True)
    return fpr[kept], tpr[kept]


def outline(lowest: Corners, highest: Corners) -> Floats:
    """Return the outline of the area between two curves."""
    return np.concatenate([np.column_stack(lowest), np.column_stack(highest)[::-1]])
