"""Tables of an audit with a row for each group, as text for pages and notebooks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skfedauc import _words
from skfedauc.audit.cells import (
    Body,
    Cell,
    Column,
    Row,
    Table,
    label_cell,
    label_columns,
    number_cell,
)
from skfedauc.audit.findings import BNSP, BPSN
from skfedauc.audit.names import by
from skfedauc.audit.tables import AuditTables

# Headings of the columns of `FairnessAudit.by_group`, by topic.
_GROUP_COLUMNS = {
    "Rows": {"n_positives": "positives", "n_negatives": "negatives"},
    "Within the group": {
        "auc": "AUC",
        "ci_low": "95 % from",
        "ci_high": "to",
        "reference_auc": "compared with",
        "pvalue": "unadjusted p of AUC",
        "pvalue_adjusted": "adjusted p of AUC",
    },
    "With the other groups": {
        "bpsn_auc": "BPSN AUC",
        "bnsp_auc": "BNSP AUC",
        "xauc_disparity": "xAUC disparity",
        "xauc_pvalue": "unadjusted p of disparity",
        "xauc_pvalue_adjusted": "adjusted p of disparity",
        "positive_aeg": "positive AEG",
        "negative_aeg": "negative AEG",
    },
    "Decisions": {
        "selection_rate": "selection rate",
        "true_positive_rate": "true positive rate",
        "false_positive_rate": "false positive rate",
    },
}
# Abbreviations in headings, in full
_IN_FULL = {
    "bpsn_auc": BPSN,
    "bnsp_auc": BNSP,
    "positive_aeg": "average equality gap of the positives",
    "negative_aeg": "average equality gap of the negatives",
}
# Headings of the columns of `FairnessAudit.calibration`, by topic
_CALIBRATION = {
    "Means": {"mean_score": "mean score", "prevalence": "share of positives"},
    "Mean score minus share of positives": {
        "difference": "difference",
        "difference_low": "95 % from",
        "difference_high": "to",
        "pvalue": "unadjusted p",
        "pvalue_adjusted": "adjusted p",
    },
    "Slope": {"slope": "slope", "slope_low": "95 % from", "slope_high": "to"},
}
# Headings of the columns of `FairnessAudit.rates`, by topic
_RATES = {
    "Rate": {"n_rows": "rows", "value": "rate", "ci_low": "95 % from", "ci_high": "to"},
    "Difference to the reference": {
        "reference_value": "reference",
        "difference": "difference",
        "difference_ci_low": "95 % from",
        "difference_ci_high": "to",
    },
    "Ratio to the reference": {
        "ratio": "ratio",
        "ratio_ci_low": "95 % from",
        "ratio_ci_high": "to",
    },
}
# Rates, with the rows in their denominators
_DENOMINATORS = {
    "selection_rate": "of all rows",
    "true_positive_rate": "of the positives",
    "false_positive_rate": "of the negatives",
    "precision": "of the rows predicted positive",
    "false_discovery_rate": "of the rows predicted positive",
    "false_omission_rate": "of the rows predicted negative",
    "accuracy": "of all rows",
    "prevalence": "of all rows",
}
# Headings of the columns of `FairnessAudit.intersections`
_INTERSECTION_COLUMNS = {
    "n_positives": "positives",
    "n_negatives": "negatives",
    "auc": "AUC",
    "ci_low": "95 % from",
    "ci_high": "to",
    "shrunken_auc": "shrunken AUC",
    "shrunken_ci_low": "95 % from",
    "shrunken_ci_high": "to",
    "rest_auc": "compared with",
    "difference": "difference",
    "pvalue": "unadjusted p",
    "pvalue_adjusted": "adjusted p",
}


def group_table(tables: AuditTables, number: int, most: int) -> tuple[Table, str]:
    """Return the table of the groups, and a text on groups left out.

    The groups have the order of their AUCs, and small groups are last. With more than `most`
    groups, the table has the groups with the lowest and with the highest AUCs.
    """
    table = tables.by_group
    auc, is_small = table["auc"].to_numpy(), table["is_small"].to_numpy(np.bool_)
    order = np.argsort(auc, kind="stable")
    lowest, beyond, highest = _words.ends(order[~is_small[order]], most)
    compared = np.concatenate([lowest, highest])
    small, small_beyond = np.split(order[is_small[order]], [most - compared.size])
    left_out = []
    if beyond.size:
        low, high = auc[beyond[[0, -1]]]
        of_aucs = f"with an AUC of {low:.3f} to {high:.3f}"
        left_out.append(f"{_words.counted(beyond.size, 'group')} {of_aucs}")
    if small_beyond.size:
        left_out.append(_words.counted(small_beyond.size, "small group"))
    topics = {
        topic: columns
        for topic, columns in _GROUP_COLUMNS.items()
        if topic != "Decisions" or tables.has_decisions
    }
    headings = {name: text for columns in topics.values() for name, text in columns.items()}
    columns = [
        *label_columns(tables.groups),
        *([number_cell(name, value) for value in table[name].tolist()] for name in headings),
    ]
    rows = [Row(cells) for cells in zip(*columns, strict=True)]
    bodies = [Body([rows[g] for g in compared], "", "groups", {"is_small": "false"})]
    if small.size:
        least = max(tables.min_per_class, 1)
        few = f"fewer than {least}" if least > 1 else "no"
        heading = f"Small groups, with {few} positives or negatives: AUCs not compared"
        bodies.append(Body([rows[g] for g in small], heading, "groups small", {"is_small": "true"}))
    of_groups = Table(
        id=f"groups-{number}",
        name=f"Groups by {tables.grouping}",
        columns=[
            *(Column(name, name, "row") for name in map(_words.shortened_label, tables.columns)),
            *(
                Column(name, text, in_full=_IN_FULL.get(name, ""))
                for name, text in headings.items()
            ),
        ],
        bodies=bodies,
        topics={topic: len(columns) for topic, columns in topics.items()},
        style="sortable",
        sorted_by="auc",
    )
    return of_groups, " and ".join(left_out)


def rate_table(tables: AuditTables, number: int, most: int) -> tuple[Table | None, str]:
    """Return the table of the rates, and a text on groups left out; None without decisions.

    Each rate is a part of the table, whose groups have the order of their rates. Groups without a
    comparison are last. With more than `most` groups, each part has the groups with the lowest and
    with the highest rates.
    """
    found = tables.rates()
    if found is None:
        return None, ""
    headings = {name: text for columns in _RATES.values() for name, text in columns.items()}
    names = {"difference": "rest_difference"}  # a number with a sign, other than the gap
    labels, n_groups, bodies = list(label_columns(tables.groups)), len(tables.groups), []
    for rate, part in found.groupby(level="rate", sort=False):
        values = part["value"].to_numpy()
        is_few = part["n_rows"].to_numpy() < tables.min_per_class
        order = np.lexsort([values, is_few])
        lowest, _, highest = _words.ends(order, most)
        columns = [part[name].tolist() for name in headings]
        rows = [
            Row(
                [
                    *(column[g] for column in labels),
                    *(
                        number_cell(names.get(name, name), column[g])
                        for name, column in zip(headings, columns, strict=True)
                    ),
                ]
            )
            for g in [*lowest.tolist(), *highest.tolist()]
        ]
        title = str(rate).replace("_", " ").capitalize()
        heading = f"{title}: share {_DENOMINATORS[str(rate)]}"
        bodies.append(Body(rows, heading, "groups", {"rate": str(rate)}))
    table = Table(
        id=f"rates-{number}",
        name=f"Rates of the decisions by {tables.grouping}",
        columns=[
            *(Column(name, name, "row") for name in map(_words.shortened_label, tables.columns)),
            *(Column(name, text) for name, text in headings.items()),
        ],
        bodies=bodies,
        topics={topic: len(columns) for topic, columns in _RATES.items()},
        style="sortable rates",
        sorted_by="value",
    )
    n_others = n_groups - most
    if n_others <= 0:
        return table, ""
    return table, f"{_words.counted(n_others, 'group')} between the lowest and the highest rates"


def calibration_table(tables: AuditTables, number: int, most: int) -> tuple[Table | None, str]:
    """Return the table of the calibration, and a text on groups left out; None without a test.

    The groups have the order of their p values, and all groups together are last. With more than
    `most` groups, the table has the groups with the lowest p values.
    """
    if tables.calibration is None:
        return None, ""
    table, n_groups = tables.calibration, len(tables.groups)
    headings = {name: text for columns in _CALIBRATION.values() for name, text in columns.items()}
    order = np.argsort(table["pvalue"].to_numpy()[:n_groups], kind="stable")[:most]
    labels = [[*column, Cell("")] for column in label_columns(tables.groups)]
    labels[0][-1] = Cell("all groups")
    columns = [
        *labels,
        *([number_cell(name, value) for value in table[name].tolist()] for name in headings),
    ]
    rows = [Row(cells) for cells in zip(*columns, strict=True)]
    found = Table(
        id=f"calibration-{number}",
        name=f"Calibration by {tables.grouping}",
        columns=[
            *(Column(name, name, "row") for name in map(_words.shortened_label, tables.columns)),
            *(Column(name, text) for name, text in headings.items()),
        ],
        bodies=[Body([rows[g] for g in order.tolist()], "", "groups"), Body([rows[-1]])],
        topics={topic: len(columns) for topic, columns in _CALIBRATION.items()},
        style="sortable calibration",
        sorted_by="pvalue",
    )
    n_others = n_groups - order.size
    others = f"{_words.counted(n_others, 'group')} with higher p values" if n_others else ""
    return found, others


def intersection_table(found: pd.DataFrame, id_: str, by_columns: str) -> Table:
    """Return the table of `FairnessAudit.intersections`."""
    rows = []
    for row in found.to_dict("records"):
        columns = Cell(by(row["columns"]))
        numbers = [
            number_cell("rest_difference" if name == "difference" else name, row[name])
            for name in _INTERSECTION_COLUMNS
        ]
        rows.append(Row([label_cell(row["group"]), columns, *numbers]))
    return Table(
        id=id_,
        name=f"Intersections of {by_columns}",
        columns=[
            Column("group", "group", "row"),
            Column("columns", "columns", "label"),
            *(Column(name, heading) for name, heading in _INTERSECTION_COLUMNS.items()),
        ],
        bodies=[Body(rows)],
        style="intersections",
    )
