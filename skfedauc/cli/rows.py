"""Rows of predictions from a table, and counts of the rows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from skfedauc import _input
from skfedauc._words import counted, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.columns import (
    decisions_of,
    groups_of,
    labels_of,
    refuse,
    scores_of,
    weights_of,
    with_point,
)
from skfedauc.cli.terminal import CommandError, print_warning
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import counts_of_rows


class Rows(NamedTuple):
    """Rows of a table, with None for missing group labels, and the library's `missing`."""

    labels: NDArray[Any]
    positive: Any
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: pd.DataFrame
    missing: Literal["drop", "group"]
    decisions: NDArray[np.float64] | None = None


def rows_of(table: pd.DataFrame, arguments: Arguments) -> Rows:
    """Convert a table to rows according to the arguments."""
    groups = groups_of(table, arguments.group_columns, arguments.missing)
    pos_label = arguments.pos_label
    if arguments.decimal == ",":
        table = _with_points(table, arguments)
        pos_label = None if pos_label is None else with_point(pos_label)
    labels, positive = labels_of(table[arguments.label], pos_label)
    scores = scores_of(table[arguments.score])
    weights = None if arguments.weight is None else weights_of(table[arguments.weight])
    decisions = None
    if arguments.decisions is not None:
        classes = table[arguments.label].unique(), pos_label
        decisions = decisions_of(table[arguments.decisions], *classes)
    missing: Literal["drop", "group"] = "group" if arguments.missing == "group" else "drop"
    return Rows(labels, positive, scores, weights, groups, missing, decisions)


def _with_points(table: pd.DataFrame, arguments: Arguments) -> pd.DataFrame:
    """Replace the decimal commas of labels, scores, weights and decisions by points."""
    of_labels = [name for name in (arguments.label, arguments.decisions) if name is not None]
    of_numbers = [name for name in (arguments.score, arguments.weight) if name is not None]
    changed = {}
    for name in dict.fromkeys([*of_labels, *of_numbers]):
        column = table[name]
        if is_numeric_dtype(column):
            continue
        text = column.map(str, na_action="ignore")
        has_point = text.str.contains(".", regex=False, na=False).to_numpy(bool)
        if name not in of_labels:
            refuse(column, has_point, "written with a point, although --decimal is a comma,")
        changed[name] = text.map(with_point, na_action="ignore")
    return table.assign(**changed)


# Counts --------------------------------------------------------------------------------


def counts_of(rows: Rows, arguments: Arguments) -> ScoreCounts:
    """Count the rows by group, with tuples as labels for several columns."""
    return _counted(rows, rows.scores, f"column {shortened(arguments.score)}")


def decision_counts_of(rows: Rows, arguments: Arguments) -> ScoreCounts | None:
    """Return the counts of the decisions by group, or None without decisions."""
    if rows.decisions is None:
        return None
    return _counted(rows, rows.decisions, f"column {shortened(arguments.decisions)}")


def _counted(rows: Rows, scores: NDArray[np.float64], name: str) -> ScoreCounts:
    try:
        checked = _input.check_rows(
            rows.labels,
            scores,
            rows.groups,
            rows.weights,
            rows.positive,
            name=name,
            missing=rows.missing,
            warn_labels=False,
        )
        names = _input.names_of(checked.labels, rows.groups)
    except (ValueError, TypeError) as error:
        said = str(error).replace("missing='drop'", "--missing drop")
        raise CommandError(said.removesuffix(".")) from error
    return counts_of_rows(checked, group_names=names)


def weights_in_words(rows: Rows, arguments: Arguments) -> str:
    """Return the end of the headline, with the column of weights and the rows of weight 0."""
    if rows.weights is None:
        return ""
    n_left_out = int((rows.weights == 0).sum())
    left_out = f"; {counted(n_left_out, 'row')} of weight 0 left out"
    return f", weighted by {shortened(arguments.weight)}{left_out if n_left_out else ''}"


def warn_of_labels(rows: Rows, column: str) -> None:
    """Warn if the scores are class labels."""
    is_text = rows.labels.dtype.kind == "O"
    labels = rows.labels == rows.positive if is_text else rows.labels
    found = _input.hard_labels(labels, rows.scores)
    if found is not None:
        low, high = found
        print_warning(
            f"column {shortened(column)} holds only {low:g} and {high:g}: these look like "
            "predicted labels, and the AUC of labels ignores how sure the model is; if the file "
            "has a column of probabilities or scores, pass that column as --score"
        )
