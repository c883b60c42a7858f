"""Plots of the appendix: ROC curves and calibration of an audit's groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.audit.answers import Answer, Audited
from skfedauc.audit.document import Line, Panels
from skfedauc.audit.samples import Sample
from skfedauc.inference.calibration import equal_count_bins
from skfedauc.inference.rates import wilson

# Largest numbers of groups in a plot, of points of a curve, and of bins of a group
_MOST_GROUPS, _MOST_POINTS, _N_BINS = 12, 150, 10


def plots_of(audit: Audited) -> tuple[Panels, ...]:
    """Return each column's plots: ROC curves, and calibration if scores are probabilities."""
    found = []
    for column, sample in audit.samples.items():
        of_aucs = audit.answers[column]["difference"]
        if of_aucs.table is None:
            continue
        auc = of_aucs.table["value"].to_numpy()
        chosen = _shown(auc, sample)
        many = "" if len(chosen) == auc.size else f" of {len(chosen)} of {auc.size:,} groups"
        found.append(_roc_curves(column, sample, of_aucs, chosen, many))
        if sample.has_probabilities:
            found.append(_reliability(column, sample, chosen, many))
    return tuple(found)


def _shown(auc: NDArray[np.float64], sample: Sample) -> list[int]:
    """Return the groups to draw by AUC: all, or the lowest and highest that are not few."""
    order = np.argsort(auc, kind="stable")
    if order.size > _MOST_GROUPS:
        large = order[~sample.is_few[order]]
        order = large if large.size >= 2 else order
        lowest, _, highest = _words.ends(order, _MOST_GROUPS)
        order = np.append(lowest, highest)
    return [int(g) for g in order]


def _roc_curves(
    column: str, sample: Sample, of_aucs: Answer, chosen: list[int], many: str
) -> Panels:
    assert of_aucs.table is not None
    is_lower = of_aucs.table["simultaneous_high"].to_numpy() < 0
    if len(sample.groups) == 2 and of_aucs.is_claim:
        is_lower = np.array([group == of_aucs.lowest for group in sample.groups])
    lines = []
    for g in chosen:
        style = "low" if is_lower[g] else "few" if sample.is_few[g] else ""
        label = _words.shortened_label(sample.groups[g])
        lines.append(Line(label, _roc_points(sample, g), style))
    lines.sort(key=lambda line: line.style == "low")  # drawn last
    says = "Groups that are established to be lower are red" if is_lower.any() else ""
    few = "those of few rows are faint" if sample.is_few[chosen].any() else ""
    notes = "; ".join(filter(None, [says, few]))
    caption = f"ROC curves{many}, the lowest AUC first.{f' {notes}.' if notes else ''}"
    return Panels(
        f"ROC curves by {column}",
        caption,
        ("false positive rate", "true positive rate"),
        (("", tuple(lines)),),
    )


def _roc_points(sample: Sample, g: int) -> tuple[tuple[float, float], ...]:
    """Return the points of the ROC curve of a group, from (0, 0) to (1, 1)."""
    cells = sample.report.counts.cells
    mine = slice(cells.starts[g], cells.starts[g + 1])
    amounts = (cells.negatives, cells.positives) if cells.weights is None else cells.weights[:2]
    rates = [np.append(0.0, np.cumsum(np.asarray(of[mine], np.float64)[::-1])) for of in amounts]
    fpr, tpr = (of / of[-1] for of in rates)
    # Keep the points that are furthest along the curve.
    along = np.floor((fpr + tpr) * (_MOST_POINTS / 2.0))
    kept = np.append(True, np.diff(along) > 0) | (np.arange(fpr.size) == fpr.size - 1)
    return tuple(zip(fpr[kept].tolist(), tpr[kept].tolist(), strict=True))


def _reliability(column: str, sample: Sample, chosen: list[int], many: str) -> Panels:
    cells = sample.report.counts.cells
    bins = equal_count_bins(cells, _N_BINS)
    limits = wilson(bins.share, bins.n_rows, 0.025)
    of_clusters = sample.cells_of_clusters()
    if of_clusters is not None:
        limits = of_clusters.limits_of_bins(bins, 0.025)
    panels = []
    for g in chosen:
        mine = bins.groups == g
        points, ends = (
            tuple(zip(one[mine].tolist(), other[mine].tolist(), strict=True))
            for one, other in ((bins.mean, bins.share), (limits.low, limits.high))
        )
        style = "few" if sample.is_few[g] else ""
        name = _words.shortened_label(sample.groups[g])
        panels.append((name, (Line(name, points, style, ends),)))
    return Panels(
        f"Calibration by {column}",
        f"Share of positives with 95 % interval in up to {_N_BINS} bins of equal numbers of rows"
        f"{many}. On the diagonal, the scores are the shares.",
        ("mean score", "share of positives"),
        tuple(panels),
    )
