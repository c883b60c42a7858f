"""Rows of predictions from a table, and counts of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

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
    number,
    refuse,
    scores_of,
    weights_of,
    with_point,
)
from skfedauc.cli.terminal import CommandError, print_warning
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import counts_of_rows, with_n_missing


class Rows(NamedTuple):
    """Rows with a group in at least one column, with "(missing)" for missing labels.

    `n_missing` counts rows without any group label, except rows of weight 0, which no count
    includes.
    """

    labels: NDArray[Any]
    positive: Any
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: pd.DataFrame
    dropped: frozenset[str] = frozenset()
    n_missing: int = 0
    decisions: NDArray[np.float64] | None = None
    n_weight_0: int = 0


def rows_of(table: pd.DataFrame, arguments: Arguments) -> Rows:
    """Convert a table to rows according to the arguments."""
    groups = groups_of(table, arguments.group_columns, arguments.missing)
    without_label = table[~groups.has_label]
    n_missing = _n_weighted(without_label, arguments.weight)
    n_weight_0 = len(without_label) - n_missing
    table = table[groups.has_label]
    pos_label = arguments.pos_label
    if arguments.decimal == ",":
        table = _with_points(table, arguments)
        pos_label = None if pos_label is None else with_point(pos_label)
    labels, positive = labels_of(table[arguments.label], pos_label)
    scores = scores_of(table[arguments.score])
    weights = None
    if arguments.weight is not None:
        weights = weights_of(table[arguments.weight])
        n_weight_0 += int((weights == 0).sum())
    decisions = None
    if arguments.decisions is not None:
        classes = table[arguments.label].unique(), pos_label
        decisions = decisions_of(table[arguments.decisions], *classes)
    return Rows(
        labels,
        positive,
        scores,
        weights,
        groups.labels,
        groups.dropped,
        n_missing,
        decisions,
        n_weight_0,
    )


def _n_weighted(table: pd.DataFrame, weight: str | None) -> int:
    """Return the number of rows whose weight is not 0, without other checks of the rows."""
    if weight is None:
        return len(table)
    return sum(number(with_point(str(cell))) != 0 for cell in table[weight])


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
            warn_labels=False,
        )
        names = _input.names_of(checked.labels, rows.groups)
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removesuffix(".")) from error
    return with_n_missing(counts_of_rows(checked, group_names=names), rows.n_missing)


def weights_in_words(rows: Rows, arguments: Arguments) -> str:
    """Return the end of the headline, with the column of weights and the rows of weight 0."""
    if arguments.weight is None:
        return ""
    left_out = f"; {counted(rows.n_weight_0, 'row')} of weight 0 left out"
    return f", weighted by {shortened(arguments.weight)}{left_out if rows.n_weight_0 else ''}"


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
