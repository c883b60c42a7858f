"""Tables as text for pages and notebooks: cells, rows, columns, and numbers in cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from skfedauc import _input, _words
from skfedauc.audit.findings import SIGNIFICANT

UNDEFINED = "\N{EN DASH}"
# Largest number of rows of a table that does not scroll within a part of the window
_MOST_WITHOUT_SCROLLING = 25
# Largest number of characters in the tooltip of a long label
_MOST_IN_TITLE = 1000
# Columns of whole numbers, of numbers with a sign, and of p values
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
        Content of the table, which names the region and the downloaded file.
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


def label_columns(labels: Sequence[Any]) -> Iterator[list[Cell]]:
    """Yield a column for each part of the labels, with sort keys by value instead of text."""
    split = [label if isinstance(label, tuple) else (label,) for label in labels]
    for parts in zip(*split, strict=True):
        # encode_groups can also sort labels without a natural order, such as integers and
        # "(missing)", or Enum members.
        places, _ = _input.encode_groups(list(parts))
        yield [label_cell(*cell) for cell in zip(parts, places.tolist(), strict=True)]
