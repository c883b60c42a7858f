"""Columns of a table of rows: their names, and their values as arguments."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from skfedauc import _input, _words


class Columns(NamedTuple):
    """Names of the columns of a table.

    Attributes
    ----------
    label, score : str or None
        None if rows come as tuples of arrays.
    group : str, list of str or None
    weight : str or None
    """

    label: str | None
    score: str | None
    group: str | list[str] | None
    weight: str | None

    @property
    def by_argument(self) -> dict[str, list[str]]:
        """Return the names of the columns for each argument."""
        group = [self.group] if isinstance(self.group, str) else self.group
        named = {
            "label": self.label and [self.label],
            "score": self.score and [self.score],
            "group": group,
            "weight": self.weight and [self.weight],
        }
        return {argument: names for argument, names in named.items() if names}


def check_columns(columns: Columns, required: tuple[str, ...] = ()) -> None:
    """Raise an error for names that are not text, repeated groups, and missing required names."""
    for name in ("label", "score", "weight"):
        value = getattr(columns, name)
        if not isinstance(value, str) and (value is not None or name in required):
            raise TypeError(f"{name} must be the name of a column; got {_words.shortened(value)}.")
    if columns.group is not None and not _input.is_column_names(columns.group):
        raise TypeError(
            "group must be a column's name or a list of names; got "
            f"{_words.shortened(columns.group)}."
        )
    group = columns.by_argument.get("group", [])
    if len(set(group)) < len(group):
        raise ValueError(f"group must name different columns; got {_words.shortened(group)}.")


@contextlib.contextmanager
def naming_columns(columns: Columns) -> Iterator[None]:
    """Let errors name columns of a table in place of arguments of `from_predictions`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        told = _with_names(str(error), columns)
        if type(error) not in (TypeError, ValueError) or told == str(error):
            raise
        raise type(error)(told) from error


def _with_names(message: str, columns: Columns) -> str:
    names = {"y_true": "label", "y_score": "score", "sample_weight": "weight", "groups": "group"}
    for argument, name in names.items():
        named = columns.by_argument.get(name, [])
        if named:
            found = f"column{'s' * (len(named) > 1)} {_words.listed(named)}"
            # "groups" is also a word within messages. Labels have quotes.
            pattern = (
                "^groups\\b" if argument == "groups" else rf"(?<!['\"])\b{argument}\b(?!['\"])"
            )
            message = re.sub(pattern, found.replace("\\", "\\\\"), message)
    return message


def arguments_of(table: Any, columns: Columns, name: str = "the batch") -> dict[str, Any]:
    """Return the columns of a table in memory by argument of `from_predictions`.

    Parameters
    ----------
    table : DataFrame, or pyarrow RecordBatch
    columns : Columns
    name : str, default="the batch"
        Name of the table in messages.
    """
    frame = _as_frame(table)
    found = {
        "y_true": _input.column_named(frame, columns.label, "label", name),
        "y_score": _input.column_named(frame, columns.score, "score", name),
    }
    if columns.group is not None:
        found["groups"] = _input.columns_of(frame, columns.by_argument["group"], "group", name)
    if columns.weight is not None:
        found["sample_weight"] = _input.column_named(frame, columns.weight, "weight", name)
    return found


def _as_frame(table: Any) -> Any:
    """Return the table, after conversion of a pyarrow RecordBatch to a Table."""
    if type(table).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([table])
    return table
