"""An audit as nested plain values, for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from skfedauc.audit.facts import plain_label, plain_labels, plain_number
from skfedauc.audit.tables import AuditTables

_LABELS = ("group", "lowest", "highest")


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
        "calibration": _calibration(tables),
        "left_out": {name: plain_labels(labels) for name, labels in tables.left_out.items()},
    }


def _calibration(tables: AuditTables) -> dict[str, Any] | None:
    """Return the calibration of the groups and of all rows; None without a test."""
    if tables.calibration is None:
        return None
    *of_groups, of_all = plain_rows(tables.calibration)
    labels = [{"label": plain_label(label)} for label in tables.groups]
    groups = [label | row for label, row in zip(labels, of_groups, strict=True)]
    return {"groups": groups, "all": of_all}


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
    if isinstance(value, float):  # also NaN in place of a label or a name
        return plain_number(value)
    if column in _LABELS:
        return plain_label(value)
    return list(value) if isinstance(value, tuple) else value
