"""Rows that several models scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from skfedauc import _input
from skfedauc.inference.paired import PairedRows, near_one
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC, of_one_label


class ModelRows(NamedTuple):
    """Validated rows, with the scores of each model.

    Attributes
    ----------
    models : list of Rows
        The rows with the scores of each model. All columns except the scores are equal.
    group_names : tuple of str
        Names of the columns that the groups come from.
    """

    models: list[_input.Rows]
    group_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        y_true: Any,
        scores: Mapping[str, Any],
        groups: Any,
        sample_weight: Any,
        pos_label: Any,
        missing: _input.Missing,
        clusters: Any,
    ) -> ModelRows:
        """Validate the rows. `scores` has the scores of each model by name for messages."""
        missing = _input.check_missing(missing)
        _input.check_row_order(scores)
        models = [
            _input.check_rows(
                y_true,
                values,
                groups,
                sample_weight,
                pos_label,
                name=name,
                missing=missing,
                warn_labels=False,
                clusters=clusters,
            )
            for name, values in scores.items()
        ]
        return cls(models, _input.names_of(models[0].labels, groups))

    @property
    def n_missing(self) -> int:
        """Number of rows without a group label that are left out."""
        return self.models[0].n_missing

    def report(self, number: int) -> GroupAUC:
        """Count the scores of a model."""
        pairs = GroupPairs.of_rows(self.models[number])
        return GroupAUC(pairs, undefined="ignore", group_names=self.group_names)

    def paired(self, report: GroupAUC) -> PairedRows:
        """Return the scores of all models by row; `report` is the report on a model."""
        rows = self.models[0]
        n_rows = rows.scores.size
        if not 0 < int(rows.positive.sum()) < n_rows:
            raise ValueError(
                f"y_true must hold both classes; got one class in {n_rows} rows"
                f"{of_one_label(report.counts)}."
            )
        return PairedRows(
            rows.positive,
            [model.scores.astype(np.float64, copy=False) for model in self.models],
            np.ones(n_rows) if rows.weights is None else near_one(rows.weights),
            np.zeros(n_rows, np.intp) if rows.codes is None else rows.codes,
            report.n_groups,
            rows.clusters,
        )
