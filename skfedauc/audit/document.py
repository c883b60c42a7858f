"""Audits and comparisons as nested plain values, for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from skfedauc._output_file import check_target, write_whole
from skfedauc.audit.comparison_findings import ComparisonTables
from skfedauc.audit.facts import plain_label, plain_labels, plain_number
from skfedauc.audit.tables import AuditTables

if TYPE_CHECKING:
    import os

_LABELS = ("group", "lowest", "highest")
_ANSWERED = ("value", "ci_low", "ci_high", "answer")


def document_of(tables: AuditTables, findings: tuple[str, ...]) -> dict[str, Any]:
    """Return the results of an audit, see `FairnessAudit.to_dict`."""
    return {
        "facts": dict(tables.facts),
        "findings": list(findings),
        "n_claims": tables.claims.family.n_claims,
        "quality": _rows_by_name(tables.quality),
        "gaps": _rows_by_name(tables.gaps),
        "tolerances": _rows_by_name(tables.tolerances),
        "groups": [
            {"label": plain_label(label)} | row
            for label, row in zip(tables.groups, plain_rows(tables.by_group), strict=True)
        ],
        "rates": _rates(tables),
        "calibration": _calibration(tables),
        "left_out": {name: plain_labels(labels) for name, labels in tables.left_out.items()},
    }


def _rates(tables: AuditTables) -> dict[str, Any] | None:
    """Return the rates of the groups by name of the rate, or None without decisions."""
    found = tables.rates()
    if found is None:
        return None
    labels = [{"label": plain_label(label)} for label in tables.groups]
    return {
        str(rate): [label | row for label, row in zip(labels, plain_rows(of_rate), strict=True)]
        for rate, of_rate in found.groupby(level="rate", sort=False)
    }


def _calibration(tables: AuditTables) -> dict[str, Any] | None:
    """Return the calibration of the groups and of all rows, or None without a test."""
    if tables.calibration is None:
        return None
    *of_groups, of_all = plain_rows(tables.calibration)
    labels = [{"label": plain_label(label)} for label in tables.groups]
    groups = [label | row for label, row in zip(labels, of_groups, strict=True)]
    return {"groups": groups, "all": of_all}


def comparison_document_of(tables: ComparisonTables, findings: tuple[str, ...]) -> dict[str, Any]:
    """Return the results of a comparison, see `AuditComparison.to_dict`."""
    of_quantities = {name: plain_rows(tables.changes_of(name)) for name in tables.quantities}
    return {
        "facts": dict(tables.facts),
        "findings": list(findings),
        "n_claims": tables.n_claims,
        "quality": _rows_by_name(tables.quality),
        "decomposition": _rows_by_name(tables.decomposition),
        "gaps": _rows_by_name(tables.gaps),
        "tolerances": _tolerances(tables),
        "groups": [
            {"label": plain_label(label)} | {name: rows[g] for name, rows in of_quantities.items()}
            for g, label in enumerate(tables.groups)
        ],
    }


def _tolerances(tables: ComparisonTables) -> dict[str, Any]:
    """Return the limit of each tolerance, and the answers for both models."""
    found = {}
    for gap, rows in tables.answers_by_gap().items():
        before, after = ({name: _plain(name, row[name]) for name in _ANSWERED} for row in rows)
        found[gap] = {"limit": rows[0]["limit"], "before": before, "after": after}
    return found


def text_or_file(make: Callable[[], str], path: str | os.PathLike[str] | None) -> str | None:
    """Return a text, or write the text to a file with a last line break."""
    if path is None:
        return make()
    check_target(path)
    write_whole(path, f"{make()}\n")
    return None


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as JSON without NaN or infinite numbers."""
    return json.dumps(document, indent=2, allow_nan=False)


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, without the index."""
    return [
        {str(name): _plain(str(name), value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _rows_by_name(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return dict(zip(map(str, table.index), plain_rows(table), strict=True))


def _plain(column: str, value: Any) -> Any:
    if isinstance(value, float):  # NaN may replace a label or a name
        return plain_number(value)
    if column in _LABELS:
        return plain_label(value)
    return list(value) if isinstance(value, tuple) else value
