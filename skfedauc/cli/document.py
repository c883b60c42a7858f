"""JSON document of the results of `audit` and `report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skfedauc import GroupAUC
from skfedauc.audit import FairnessAudit
from skfedauc.audit.document import as_json
from skfedauc.audit.facts import plain_label, plain_labels, plain_number
from skfedauc.audit.tolerances import ANSWERS, is_least
from skfedauc.cli.groupings import Grouping
from skfedauc.counts import Withheld
from skfedauc.report import estimates_of, null_difference_of

TOLERANCE_COLUMNS = ("limit", "value", "ci_low", "ci_high")


def document_of(
    facts: Mapping[str, Any], groupings: Sequence[Grouping], audits: Sequence[FairnessAudit]
) -> str:
    """Return the results of all groupings as JSON, with null for undefined numbers.

    Each grouping has the entries of `FairnessAudit.to_dict`, and further results of its report.

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
            _grouping(grouping) | audit.to_dict()
            for grouping, audit in zip(groupings, audits, strict=True)
        ],
        "tolerances": _tolerances(groupings, audits),
    }
    return as_json(document)


def _grouping(grouping: Grouping) -> dict[str, Any]:
    report = grouping.report
    of_difference = report.test_difference()
    of_equality, expected = None, float("nan")
    if not estimates_of(report).variances.shares_clusters:
        of_equality, expected = report.test_equal_groups(), null_difference_of(report)
    clusters = estimates_of(report).pairs.clusters
    return {
        "by": list(grouping.columns),
        "within": _within(grouping),
        "n_positives": int(report.counts.n_positives.sum()),
        "n_negatives": int(report.counts.n_negatives.sum()),
        "n_dropped": grouping.n_dropped,
        "withheld": _withheld(report.counts.disclosure.withheld),
        "n_groups": report.n_groups,
        "n_undefined": estimates_of(report).pairs.n_undefined,
        "statistics": {str(k): plain_number(v) for k, v in report.statistics().items()},
        "bounds": _bounds(report),
        "decomposition": {k: plain_number(v) for k, v in report.decomposition()._asdict().items()},
        "n_clusters": None if clusters is None else clusters.n_clusters,
        "n_shared_clusters": None if clusters is None else clusters.n_shared,
        "null_difference": plain_number(expected),
        "test_difference": {
            "ci_low": plain_number(of_difference.ci_low),
            "ci_high": plain_number(of_difference.ci_high),
            "pvalue": plain_number(of_difference.pvalue),
        },
        "without_small_groups": _without_small_groups(grouping),
        "test_equal_groups": None
        if of_equality is None
        else {
            "statistic": plain_number(of_equality.statistic),
            "pvalue": plain_number(of_equality.pvalue),
            "method": of_equality.method,
            "n_groups": of_equality.n_groups,
        },
    }


def _within(grouping: Grouping) -> dict[str, Any]:
    """Return the control column and its label, or an empty dict without a control column."""
    return {name: plain_label(label) for name, label in grouping.within.items()}


def _tolerances(groupings: Sequence[Grouping], audits: Sequence[FairnessAudit]) -> dict[str, Any]:
    """Return the answer to each tolerance by each grouping, and numbers of answers."""
    cases = [
        {
            "by": list(grouping.columns),
            "within": _within(grouping),
            "name": name,
            "required": "at least" if is_least(name) else "at most",
            **{column: plain_number(row[column]) for column in TOLERANCE_COLUMNS},
            "answer": row["answer"],
        }
        for grouping, audit in zip(groupings, audits, strict=True)
        for name, row in zip(
            audit.tolerances.index, audit.tolerances.to_dict("records"), strict=True
        )
    ]
    return answered(cases)


def answered(cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return answers to tolerances, and the number of each answer."""
    answers = [case["answer"] for case in cases]
    return {
        "total": len(cases),
        **{answer.replace(" ", "_"): answers.count(answer) for answer in ANSWERS},
        "cases": list(cases),
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


def _without_small_groups(grouping: Grouping) -> dict[str, Any] | None:
    others = grouping.shown
    if others is grouping.report:
        return None
    test = others.test_difference()
    shares_clusters = estimates_of(others).variances.shares_clusters
    expected = float("nan") if shares_clusters else null_difference_of(others)
    return {
        "n_left_out": grouping.report.n_groups - others.n_groups,
        "difference": plain_number(test.difference),
        "ci_low": plain_number(test.ci_low),
        "ci_high": plain_number(test.ci_high),
        "null_difference": plain_number(expected),
        "pvalue": plain_number(test.pvalue),
    }
