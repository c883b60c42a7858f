"""JSON document of the results of `audit` and `report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skfedauc import GroupAUC
from skfedauc.audit import FairnessAudit
from skfedauc.audit.facts import plain_label, plain_labels, plain_number
from skfedauc.cli.groupings import Grouping
from skfedauc.counts import Withheld
from skfedauc.report import estimates_of


def document_of(
    facts: Mapping[str, Any], groupings: Sequence[Grouping], audit: FairnessAudit
) -> dict[str, Any]:
    """Return facts on the file, the report of each grouping, and `FairnessAudit.to_dict`."""
    return {**facts, "groupings": list(map(_grouping, groupings)), **audit.to_dict()}


def _grouping(grouping: Grouping) -> dict[str, Any]:
    """Return the sizes and AUCs of all groups, and the statistics of the groups that are compared.

    The answers of the audit are about the same groups.
    """
    report, compared = grouping.report, grouping.shown
    estimates = estimates_of(report)
    test, clusters = None, estimates.pairs.clusters
    if not estimates_of(compared).variances.shares_clusters:
        test = compared.test_equal_groups()
    counts, auc = report.counts, estimates.pairs.auc
    rows = zip(counts.groups or (), counts.n_positives, counts.n_negatives, auc, strict=True)
    return {
        "by": list(grouping.columns),
        "within": {name: plain_label(label) for name, label in grouping.within.items()},
        "n_positives": int(counts.n_positives.sum()),
        "n_negatives": int(counts.n_negatives.sum()),
        "n_dropped": grouping.n_dropped,
        "withheld": _withheld(counts.disclosure.withheld),
        "n_groups": report.n_groups,
        "n_undefined": estimates.pairs.n_undefined,
        "n_compared": compared.n_groups,
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "statistics": {str(k): plain_number(v) for k, v in compared.statistics().items()},
        "bounds": _bounds(compared),
        "decomposition": {
            k: plain_number(v) for k, v in compared.decomposition()._asdict().items()
        },
        "test_equal_groups": None
        if test is None
        else {
            "statistic": plain_number(test.statistic),
            "pvalue": plain_number(test.pvalue),
            "method": test.method,
            "n_groups": test.n_groups,
        },
        "groups": [
            {
                "label": plain_label(label),
                "n_positives": int(n_positives),
                "n_negatives": int(n_negatives),
                "auc": plain_number(value),
            }
            for label, n_positives, n_negatives, value in rows
        ],
    }


def _withheld(withheld: Withheld) -> dict[str, Any]:
    """Return the numbers, limits and labels of withheld groups, with null for unknown entries."""
    labels = withheld.labels
    return {
        "n_groups": withheld.n_groups,
        "n_positives": withheld.n_positives,
        "n_negatives": withheld.n_negatives,
        "most_positives": withheld.most_positives,
        "most_negatives": withheld.most_negatives,
        "labels": None if labels is None else plain_labels(labels),
        "is_n_dropped_low": withheld.is_n_missing_low,
    }


def _bounds(report: GroupAUC) -> dict[str, Any] | None:
    """Return the certain interval of each statistic of binned scores, or None for exact scores."""
    if not estimates_of(report).pairs.is_binned:
        return None
    table = report.bounds()[["low", "high"]]
    return {
        str(name): {"low": plain_number(low), "high": plain_number(high)}
        for name, low, high in table.itertuples(name=None)
    }
