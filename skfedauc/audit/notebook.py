"""HTML of an audit for notebooks: summary, findings and tables, without scripts and colors."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from skfedauc.audit.cells import Column, Row, Table
from skfedauc.audit.findings import findings
from skfedauc.audit.gap_tables import gap_table, quality_table
from skfedauc.audit.group_tables import group_table
from skfedauc.audit.summary import Line
from skfedauc.audit.tables import AuditTables

# Largest number of groups in the table
_MOST_ROWS = 20
# Notebooks have their own colors in light and dark mode, so the texts have none.
_CELL = "padding:.15em .5em;text-align:{};vertical-align:top"


def notebook_html(headline: str, lines: Sequence[Line], tables: AuditTables) -> str:
    """Return the summary of an audit, and its findings and tables, which unfold.

    Parameters
    ----------
    headline : str
    lines : sequence of Line
        Summary of the audit.
    tables : AuditTables
    """
    items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in findings(tables))
    groups, left_out = group_table(tables, 1, _MOST_ROWS)
    parts = [
        f"<strong>{html.escape(headline)}</strong>",
        _as_table([[line.about, f"{line.text}."] for line in lines], 2),
        _unfolding("Findings", f"<ul>{items}</ul>"),
        _unfolding("AUC of the model", _table(quality_table(tables, 1))),
        _unfolding("Gaps between groups", _table(gap_table(tables, 1))),
        _unfolding("Groups", _table(groups) + (f"Not shown: {left_out}." if left_out else "")),
    ]
    return f"<div>{''.join(parts)}</div>"


def _unfolding(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>"


def _table(table: Table) -> str:
    rows = [_texts(row) for body in table.bodies for row in body.rows]
    return _as_table(rows, table.n_labels, table.columns)


def _texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


def _as_table(rows: Iterable[Sequence[str]], n_left: int, columns: Sequence[Column] = ()) -> str:
    """Return a table whose first `n_left` columns are left-aligned."""

    def cells(contents: Sequence[str], tag: str) -> str:
        styles = [_CELL.format("left" if i < n_left else "right") for i in range(len(contents))]
        return "".join(
            f"<{tag} style='{style}'>{content}</{tag}>"
            for content, style in zip(contents, styles, strict=True)
        )

    head = f"<thead><tr>{cells(list(map(_heading, columns)), 'th')}</tr></thead>" if columns else ""
    body = "".join(f"<tr>{cells(list(map(html.escape, texts)), 'td')}</tr>" for texts in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _heading(column: Column) -> str:
    heading = html.escape(column.heading)
    return f"<abbr title='{column.in_full}'>{heading}</abbr>" if column.in_full else heading
