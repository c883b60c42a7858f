"""JSON document of the results of `audit` and `report`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from skfedauc import GroupAUC
from skfedauc._words import label_text
from skfedauc.audit import FairnessAudit
from skfedauc.cli.groupings import Grouping
from skfedauc.counts import Withheld


def document_of(
    facts: Mapping[str, Any], groupings: Sequence[Grouping], audits: Sequence[FairnessAudit]
) -> str:
    """Return the results of all groupings as JSON, with null for undefined numbers.

    Parameters
    ----------
    facts : mapping of str to object
        Entries on the file, which come first.
    groupings : sequence of Grouping
    audits : sequence of FairnessAudit
        An audit of each grouping.
    """
    document = {
        **facts,
        "groupings": [
            _grouping(grouping) | {"findings": list(audit.findings), "n_claims": audit.n_claims}
            for grouping, audit in zip(groupings, audits, strict=True)
        ],
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _grouping(grouping: Grouping) -> dict[str, Any]:
    report = grouping.report
    of_equality, of_difference = report.test_equal_groups(), report.test_difference()
    return {
        "by": list(grouping.columns),
        "n_positives": int(report.counts.n_positives.sum()),
        "n_negatives": int(report.counts.n_negatives.sum()),
        "n_dropped": report.n_missing,
        "withheld": _withheld(report.counts.withheld),
        "n_groups": report.n_groups,
        "n_undefined": report.n_undefined,
        "statistics": {str(k): _or_null(v) for k, v in report.statistics().items()},
        "bounds": _bounds(report),
        "decomposition": {k: _or_null(v) for k, v in report.decomposition()._asdict().items()},
        "null_difference": _or_null(report.null_difference),
        "test_difference": {
            "ci_low": _or_null(of_difference.ci_low),
            "ci_high": _or_null(of_difference.ci_high),
            "pvalue": _or_null(of_difference.pvalue),
        },
        "without_small_groups": _without_small_groups(grouping),
        "test_equal_groups": {
            "statistic": _or_null(of_equality.statistic),
            "pvalue": _or_null(of_equality.pvalue),
            "method": of_equality.method,
            "n_groups": of_equality.n_groups,
        },
        "groups": _groups(report),
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
        "labels": None if labels is None else [*map(_label_of_group, labels)],
        "is_n_dropped_low": withheld.is_n_missing_low,
    }


def _bounds(report: GroupAUC) -> dict[str, Any] | None:
    """Return the certain interval of each statistic of binned scores, or None for exact scores."""
    if not report.pairs.is_binned:
        return None
    table = report.bounds()[["low", "high"]]
    return {
        str(name): {"low": _or_null(low), "high": _or_null(high)}
        for name, low, high in table.itertuples(name=None)
    }


def _without_small_groups(grouping: Grouping) -> dict[str, Any] | None:
    others = grouping.without_small_groups
    if others is None:
        return None
    test = others.test_difference()
    return {
        "n_left_out": grouping.report.n_groups - others.n_groups,
        "difference": _or_null(test.difference),
        "ci_low": _or_null(test.ci_low),
        "ci_high": _or_null(test.ci_high),
        "null_difference": _or_null(others.null_difference),
        "pvalue": _or_null(test.pvalue),
    }


def _groups(report: GroupAUC) -> list[dict[str, Any]]:
    limits = report.confidence_intervals()[["ci_low", "ci_high"]]
    columns = ["auc", "ci_low", "ci_high", "n_positives", "n_negatives"]
    table = report.by_group.join(limits)[columns]
    return [
        {
            "label": _label_of_group(label),
            "auc": _or_null(auc),
            "ci_low": _or_null(ci_low),
            "ci_high": _or_null(ci_high),
            "n_positives": int(n_positives),
            "n_negatives": int(n_negatives),
        }
        for label, auc, ci_low, ci_high, n_positives, n_negatives in table.itertuples(name=None)
    ]


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _label_of_group(label: Any) -> str | int | list[str | int]:
    return [*map(_label, label)] if isinstance(label, tuple) else _label(label)


def _label(label: Any) -> str | int:
    """Return a label, or a part of a label, with text for dates and other kinds."""
    return label if isinstance(label, str | int) else label_text(label)
