"""Tables of an audit as text, for the page and for notebooks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from skfedauc import _input, _words
from skfedauc.audit.findings import BNSP, BPSN, SIGNIFICANT
from skfedauc.audit.names import named, named_in
from skfedauc.audit.tables import AuditTables, row_of
from skfedauc.audit.tolerances import required

UNDEFINED = "\N{EN DASH}"
# Largest number of rows of a table that does not scroll within a part of the window
_MOST_WITHOUT_SCROLLING = 25
# Largest number of characters in the tooltip of a long label
_MOST_IN_TITLE = 1000

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
    "Means": {
        "mean_score": "mean score",
        "prevalence": "share of positives",
        "prevalence_expected": "if equal",
    },
    "Intercept": {"intercept": "intercept", "intercept_low": "95 % from", "intercept_high": "to"},
    "Slope": {"slope": "slope", "slope_low": "95 % from", "slope_high": "to"},
    "Calibration error": {"ece": "error", "ece_expected": "if calibrated"},
    "Brier score": {"brier": "score", "brier_low": "95 % from", "brier_high": "to"},
    "Perfect calibration": {"pvalue": "unadjusted p", "pvalue_adjusted": "adjusted p"},
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
_COUNTS = ("n_positives", "n_negatives", "n_rows")
_SIGNED = (
    "rest_difference",
    "xauc_disparity",
    "positive_aeg",
    "negative_aeg",
    *("intercept", "intercept_low", "intercept_high"),
    *("difference_ci_low", "difference_ci_high"),
)
_PVALUES = ("pvalue", "xauc_pvalue")
_ADJUSTED = ("pvalue_adjusted", "xauc_pvalue_adjusted")


class Cell(NamedTuple):
    """Cell of a table.

    Attributes
    ----------
    text : str
        Text of the cell.
    value : float or str
        Number, or the place of a label in the order of labels. Sorting and downloads use numbers
        with all digits. Empty for an undefined number.
    more : str
        Tooltip of a shortened label. Downloads have this text instead of the shortened label.
    is_significant : bool
        Whether the number is bold.
    key : str or None
        Text in downloads, if it differs from the text of the cell.
    note : str
        Small text below the text of a label.
    """

    text: str
    value: float | str = ""
    more: str = ""
    is_significant: bool = False
    key: str | None = None
    note: str = ""


class Row(NamedTuple):
    """Row of a table: cells, and the id for links, which may be empty."""

    cells: Sequence[Cell]
    id: str = ""


class Body(NamedTuple):
    """Part of a table: rows, and the heading and the style of the part.

    Attributes
    ----------
    rows : sequence of Row
    heading : str, default=""
        Text of a row above the part.
    style : str, default=""
        Name of the part's class. A click on a heading of a column sorts parts of class "groups".
    constants : mapping of str to str
        Columns of downloads with the same value in all rows of the part.
    """

    rows: Sequence[Row]
    heading: str = ""
    style: str = ""
    constants: Mapping[str, str] = {}


class Column(NamedTuple):
    """Column of a table.

    Attributes
    ----------
    name : str
        Name in downloads.
    heading : str
    kind : {"row", "number", "label"}
        Labels of the rows, numbers, or other labels. Columns with labels of the rows come first.
    in_full : str, default=""
        The abbreviation of the heading in full.
    """

    name: str
    heading: str
    kind: Literal["row", "number", "label"] = "number"
    in_full: str = ""


class Table(NamedTuple):
    """Table of the page.

    Attributes
    ----------
    id : str
        Id of the table, for links.
    name : str
        What the table shows, as the name of the region and of the downloaded file.
    columns : sequence of Column
    bodies : sequence of Body
    topics : mapping of str to int, default={}
        Headings over several columns, with numbers of columns, which follow the columns with labels
        of the rows. Empty without such headings.
    style : str, default=""
        Name of the table's class. A table of class "sortable" has buttons that sort it.
    sorted_by : str, default=""
        Name of the column that sorts the table.
    """

    id: str
    name: str
    columns: Sequence[Column]
    bodies: Sequence[Body]
    topics: Mapping[str, int] = {}
    style: str = ""
    sorted_by: str = ""

    @property
    def n_labels(self) -> int:
        """Number of columns with labels of the rows."""
        return sum(column.kind == "row" for column in self.columns)

    @property
    def is_tall(self) -> bool:
        """Whether the table scrolls within a part of the window."""
        return sum(len(body.rows) for body in self.bodies) > _MOST_WITHOUT_SCROLLING


def by(columns: Sequence[str]) -> str:
    """Return the names of the sensitive columns."""
    return " \N{MULTIPLICATION SIGN} ".join(map(_words.shortened_label, columns))


def grouping(tables: AuditTables) -> str:
    """Return the names of the sensitive columns, and of control columns with their labels."""
    levels = itertools.starmap(named_in, tables.within.items())
    return " within ".join([by(tables.columns), *levels])


# Groups ----------------------------------------------------------------------------------------


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
        name=f"Groups by {grouping(tables)}",
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


def label_columns(labels: Sequence[Any]) -> Iterator[list[Cell]]:
    """Yield a column for each part of the labels, with sort keys by value instead of text."""
    split = [label if isinstance(label, tuple) else (label,) for label in labels]
    for parts in zip(*split, strict=True):
        # encode_groups can also sort labels without a natural order, such as integers and
        # "(missing)", or Enum members.
        places, _ = _input.encode_groups(list(parts))
        yield [label_cell(*cell) for cell in zip(parts, places.tolist(), strict=True)]


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


def intersection_table(found: pd.DataFrame, id_: str, by_columns: str) -> Table:
    """Return the table of `FairnessAudit.intersections`."""
    rows = []
    for row in found.to_dict("records"):
        columns = Cell(
            " \N{MULTIPLICATION SIGN} ".join(map(_words.shortened_label, row["columns"]))
        )
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
        name=f"Calibration by {grouping(tables)}",
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
        name=f"Rates of the decisions by {grouping(tables)}",
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


# Gaps and the model ----------------------------------------------------------------------------


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
        name=f"Gaps between groups by {grouping(tables)}",
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
        name=f"Tolerances by {grouping(tables)}",
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
        name=f"AUC of the model by {grouping(tables)}",
        columns=[
            Column("statistic", "AUC", "row"),
            *(Column(name, heading) for name, heading in columns.items()),
            Column("group", "group", "label"),
        ],
        bodies=[Body(rows)],
        style="quality",
    )


# Cells -----------------------------------------------------------------------------------------


def number_cell(name: str, value: float) -> Cell:
    """Return the cell of a number, where `name` is the column or the gap of the number."""
    if math.isnan(value):
        return Cell(UNDEFINED)
    if name in _COUNTS:
        return Cell(f"{value:,}", value)
    if math.isinf(value):  # limit of a ratio
        return Cell("\N{INFINITY}", "Infinity")
    if name in _PVALUES or name in _ADJUSTED:
        text = "<0.001" if value < 0.001 else f"{value:.3f}"
        is_significant = name in _ADJUSTED and value < SIGNIFICANT
        return Cell(text, value, is_significant=is_significant)
    return Cell(number_text(value, "+" if name in _SIGNED else ""), value)


def number_text(value: float, sign: str = "") -> str:
    """Return a number with three decimals, and 0 without a sign."""
    if math.isnan(value):
        return UNDEFINED
    if round(value, 3) == 0:
        return "0.000"
    return f"{value:{sign}.3f}".replace("-", "\N{MINUS SIGN}")


def label_cell(label: Any, place: float | str = "") -> Cell:
    """Return the cell of a label."""
    if isinstance(label, float):  # NaN marks a gap without a lowest or highest group.
        return Cell(UNDEFINED, key="")
    whole = _words.label_text(label)
    text = _words.shortened_text(whole)
    if text == whole:
        return Cell(text, place)
    return Cell(text, place, _words.shortened_text(whole, _MOST_IN_TITLE))
