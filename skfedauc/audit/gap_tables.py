"""Tables of the gaps, tolerances and AUCs of a model, as text for pages and notebooks."""

from __future__ import annotations

import math
from typing import NamedTuple

from skfedauc.audit.cells import (
    Body,
    Cell,
    Column,
    Row,
    Table,
    label_cell,
    number_cell,
    number_text,
)
from skfedauc.audit.names import named
from skfedauc.audit.tables import AuditTables, row_of
from skfedauc.audit.tolerances import required

# Names of the rows of `FairnessAudit.gaps` on the page, and definitions of the rows
GAPS = {
    "difference": ("AUC difference", "largest minus smallest group AUC"),
    "ratio": ("AUC ratio", "smallest over largest group AUC"),
    "tau": ("tau", "standard deviation of the true group AUCs"),
    "xauc_disparity": (
        "xAUC disparity",
        "disparity of a group that is largest in standard errors",
    ),
    "cross_difference": ("Cross AUC difference", "largest xAUC disparity of two groups"),
    "abroca": ("ABROCA", "largest area between the ROC curves of a group and of all others"),
    "demographic_parity_difference": (
        "Demographic parity difference",
        "largest minus smallest selection rate",
    ),
    "demographic_parity_ratio": (
        "Demographic parity ratio",
        "smallest over largest selection rate (of positive predictions)",
    ),
    "true_positive_rate_difference": (
        "True positive rate difference",
        "largest minus smallest true positive rate",
    ),
    "false_positive_rate_difference": (
        "False positive rate difference",
        "largest minus smallest false positive rate",
    ),
    "equalized_odds_difference": (
        "Equalized odds difference",
        "larger one of the differences of true and of false positive rates",
    ),
    "equalized_odds_ratio": (
        "Equalized odds ratio",
        "smaller one of the ratios of true and of false positive rates",
    ),
}
_GAP_COLUMNS = {
    "value": "value",
    "ci_low": "95 % from",
    "ci_high": "to",
    "expected": "if equal",
    "pvalue": "p of the gap alone",
    "pvalue_adjusted": "adjusted p",
}
_EXTREMES = {"lowest": "lowest group", "highest": "highest group"}
_DECISIONS = ("demographic_parity", "true_positive", "false_positive", "equalized_odds")
QUALITY = {
    "pooled": ("Pooled AUC", "all rows together"),
    "within": ("AUC within groups", "average over the pairs of a positive and a negative"),
    "worst": ("Lowest group AUC", "groups that are not small"),
}


def gap_table(tables: AuditTables, number: int) -> Table:
    """Return the table of the gaps, whose rows have ids for links, see `gap_id`."""
    rows = []
    for name, gap in zip(tables.gaps.index, tables.gaps.to_dict("records"), strict=True):
        if not tables.has_decisions and str(name).startswith(_DECISIONS):
            continue
        title, meaning = GAPS[name]
        if isinstance(gap["rate"], str):
            meaning += f": that of the {gap['rate'].replace('_', ' ')}s"
        # The gap determines the format of the value and the limits. The column determines the
        # format of the other cells.
        of_gap = ("value", "ci_low", "ci_high")
        cells = [Cell(title, key=str(name), note=meaning)]
        cells += [number_cell(name if c in of_gap else c, gap[c]) for c in _GAP_COLUMNS]
        cells += [label_cell(gap[side]) for side in _EXTREMES]
        rows.append(Row(cells, gap_id(str(name), number)))
    columns = [Column(name, heading) for name, heading in _GAP_COLUMNS.items()]
    columns += [Column(name, heading, "label") for name, heading in _EXTREMES.items()]
    return Table(
        id=f"gaps-{number}",
        name=f"Gaps between groups by {tables.grouping}",
        columns=[Column("gap", "gap", "row"), *columns],
        bodies=[Body(rows)],
        style="gaps",
    )


def gap_id(name: str, number: int) -> str:
    """Return the id of a gap's row on the page."""
    return f"gap-{number}-{name.replace('_', '-')}"


def tolerance_table(tables: AuditTables, number: int) -> Table:
    """Return the table of the tolerances and their answers."""
    table, rows = tables.tolerances, []
    for name, row in zip(table.index, table.to_dict("records"), strict=True):
        title, limit = GAPS[name][0], row["limit"]
        cells = [Cell(title, key=str(name), note=required(name, limit)), label_cell(row["answer"])]
        cells += [number_cell(c, row[c]) for c in ("limit", "value", "ci_low", "ci_high")]
        rows.append(Row(cells))
    return Table(
        id=f"tolerances-{number}",
        name=f"Tolerances by {tables.grouping}",
        columns=[
            Column("gap", "tolerance", "row"),
            Column("answer", "answer", "label"),
            Column("limit", "tolerance"),
            Column("value", "value"),
            Column("ci_low", "limits from"),
            Column("ci_high", "to"),
        ],
        bodies=[Body(rows)],
        style="tolerances",
    )


def quality_table(tables: AuditTables, number: int) -> Table:
    """Return the table of the AUCs of the model."""
    rows = []
    for name, row in zip(tables.quality.index, tables.quality.to_dict("records"), strict=True):
        title, meaning = QUALITY[name]
        cells = [Cell(title, key=str(name), note=meaning)]
        cells += [number_cell(column, row[column]) for column in ("auc", "ci_low", "ci_high")]
        rows.append(Row([*cells, label_cell(row["group"])]))
    columns = {"auc": "AUC", "ci_low": "95 % from", "ci_high": "to"}
    return Table(
        id=f"model-{number}",
        name=f"AUC of the model by {tables.grouping}",
        columns=[
            Column("statistic", "AUC", "row"),
            *(Column(name, heading) for name, heading in columns.items()),
            Column("group", "group", "label"),
        ],
        bodies=[Body(rows)],
        style="quality",
    )


class Intervals(NamedTuple):
    """Two intervals of the AUC of the worst group, as text.

    Attributes
    ----------
    group : str
    of_group : str
        Interval of the AUC of this group.
    of_worst : str
        Interval of the smallest true AUC.
    """

    group: str
    of_group: str
    of_worst: str


def worst_intervals(tables: AuditTables) -> Intervals | None:
    """Return both intervals of the AUC of the worst group, or None if they do not differ."""
    worst = row_of(tables.quality, "worst")
    if tables.compared.n_groups < 2 or math.isnan(worst["ci_low"]):
        return None
    own = tables.by_group.iloc[tables.groups.index(worst["group"])]
    of_group, of_worst = (
        " to ".join(number_text(float(row[end])) for end in ("ci_low", "ci_high"))
        for row in (own, worst)
    )
    if of_group == of_worst:
        return None
    return Intervals(named(worst["group"]), of_group, of_worst)
