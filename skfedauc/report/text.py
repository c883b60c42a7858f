"""Text and HTML of a `GroupAUC`: numbers of rows, statistics, and the groups at both ends."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from skfedauc import _words
from skfedauc.counts import left_out
from skfedauc.pairs import GroupPairs
from skfedauc.report.bounds import binned_note, certain_range, statistic_bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import STATISTICS, all_statistics, determined_statistics


def text_of(estimates: GroupEstimates) -> str:
    """Return the lines of a report, for ``repr``."""
    lines = [_headline(estimates)]
    lines += [f"  {name:<16} {value:.4f}{ends}" for name, value, ends in _statistics(estimates)]
    lines += [
        f"  {name:<16} {auc:.4f}  {_words.shortened_label(label)}"
        for name, label, auc in _extremes(estimates.pairs)
    ]
    return "\n".join(lines)


def html_of(estimates: GroupEstimates) -> str:
    """Return a report as an HTML table, for notebooks."""
    statistics = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td>{value:.4f}{ends}</td></tr>"
        for name, value, ends in _statistics(estimates)
    )
    extremes = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td>{auc:.4f} "
        f"({html.escape(_words.shortened_label(label))})</td></tr>"
        for name, label, auc in _extremes(estimates.pairs)
    )
    headline = html.escape(_headline(estimates))
    return f"<table><caption>{headline}</caption>{statistics}{extremes}</table>"


def _headline(estimates: GroupEstimates) -> str:
    pairs, counts = estimates.pairs, estimates.pairs.counts
    n_undefined, note = int((~pairs.defined).sum()), binned_note(estimates)
    undefined = f" ({n_undefined:,} undefined)" if n_undefined else ""
    return (
        f"GroupAUC of {_words.counted(pairs.n_groups, 'group')}{undefined}, "
        f"{_words.counted(int(counts.n_positives.sum()), 'positive')} and "
        f"{_words.counted(int(counts.n_negatives.sum()), 'negative')}"
        f"{_clusters_note(pairs)}{left_out(counts.n_missing)}{counts.withheld.in_words()}"
        f"{f'; {note}' if note else ''}{_summary_note(pairs)}"
    )


def _clusters_note(pairs: GroupPairs) -> str:
    """Return the number of clusters in words; empty if all rows are independent."""
    clusters = pairs.clusters
    if clusters is None:
        return ""
    shared = f" ({clusters.n_shared:,} in several groups)" if clusters.n_shared else ""
    return f", in {_words.counted(clusters.n_clusters, 'cluster')}{shared}"


def _summary_note(pairs: GroupPairs) -> str:
    """Return a note on the omitted statistics; empty if the counts have scores."""
    absent = [name for name in STATISTICS if name not in determined_statistics(pairs)]
    if not absent:
        return ""
    return f"; a summary by group, which does not determine {_words.enumerated(absent, 'or')}"


def _statistics(estimates: GroupEstimates) -> list[tuple[str, float, str]]:
    """Return the names and values of the statistics, with the certain intervals in words."""
    found = []
    for name, value in all_statistics(estimates).items():
        ends = ""
        if estimates.pairs.is_binned:
            bounds = statistic_bounds(estimates, name)
            ends = "" if np.isnan(bounds.low) else f"  ({certain_range(bounds)})"
        found.append((name, value, ends))
    return found


def _extremes(pairs: GroupPairs) -> list[tuple[str, Any, float]]:
    """Return the groups with the smallest and the largest AUC."""
    if not pairs.defined.any():
        return []
    groups, auc = pairs.counts.groups or ("all",), pairs.auc
    worst, best = int(np.nanargmin(auc)), int(np.nanargmax(auc))
    return [
        ("lowest", groups[worst], float(auc[worst])),
        ("highest", groups[best], float(auc[best])),
    ]
