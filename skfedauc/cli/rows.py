"""Rows of predictions, made from a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from skfedauc.cli.arguments import Arguments
from skfedauc.cli.columns import decisions_of, groups_of, labels_of, refuse, scores_of, weights_of
from skfedauc.cli.numerals import with_point


class Rows(NamedTuple):
    """Rows with a group in at least one column.

    Attributes
    ----------
    labels, scores : ndarray of shape (n_rows,)
    positive : object
        Positive label.
    weights, decisions : ndarray of shape (n_rows,), or None
    groups : pd.DataFrame with n_rows rows
    n_read : int
        Number of rows of the file.
    """

    labels: NDArray[Any]
    positive: Any
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    groups: pd.DataFrame
    n_read: int
    decisions: NDArray[np.float64] | None = None

    def having(self, names: Iterable[str]) -> Rows:
        """Return the rows with a group in each of these columns, with these columns only."""
        groups = self.groups[list(names)]
        has = groups.notna().all(axis=1).to_numpy()
        return self._replace(
            labels=self.labels[has],
            scores=self.scores[has],
            weights=None if self.weights is None else self.weights[has],
            groups=groups[has],
            decisions=None if self.decisions is None else self.decisions[has],
        )

    def n_with(self, names: Iterable[str]) -> int:
        """Return the number of rows with a group in each of these columns."""
        return int(self.groups[list(names)].notna().all(axis=1).sum())

    def n_without(self, names: Iterable[str]) -> int:
        """Return the number of rows of the file without a group in one of these columns."""
        return self.n_read - self.n_with(names)

    def n_by_class(self) -> tuple[int, int]:
        """Return the numbers of positives and of negatives with a weight above 0."""
        positive = self.labels == self.positive
        if self.weights is not None:
            positive = positive[self.weights > 0]
        n_positives = int(positive.sum())
        return n_positives, positive.size - n_positives


def rows_of(table: pd.DataFrame, arguments: Arguments) -> Rows:
    """Convert a table to rows, as the arguments specify.

    Raises
    ------
    CommandError
        If a column holds invalid values; the message names the first row with an invalid value.
    """
    groups = groups_of(table, arguments.group_columns, arguments.missing)
    n_read, table = len(table), table.loc[groups.index]
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
    return Rows(labels, positive, scores, weights, groups, n_read, decisions)


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
