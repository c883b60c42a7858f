"""`AuditComparison`: how gaps between groups change from one model to another."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pandas as pd

from skfedauc import _words
from skfedauc._group_codes import positions_of
from skfedauc.audit.answers import ESTIMATE, Answer, Audited, change, change_within, gap_table
from skfedauc.audit.contents import Output
from skfedauc.audit.rates_and_gaps import QUESTIONS, TwoModels
from skfedauc.audit.samples import column_names, labels_by
from skfedauc.comparison import paired_rows

# Claims that share the error rate of the primary question: the gap, and the AUC within groups
_N_PRIMARY = 2
# Facts that differ between models on the same rows
_OF_A_MODEL = ("threshold", "has_decisions", "identifier")


class AuditComparison(Output):
    """Two models' audits compared on the same rows, returned by `FairnessAudit.compare`.

    Each column's primary question has two parts, which share 5 %: did the AUC gap between groups
    change, and the AUC within groups? The other gaps' changes share another 5 %. Every verdict is
    read from the interval beside it. Changes are second minus first.

    Parameters
    ----------
    first, second : Audited
        Two models' audits, from the same rows in the same order. Each has its own scores.
    models : tuple of two str
        Model names.
    """

    def __init__(self, first: Audited, second: Audited, models: tuple[str, str]) -> None:
        if type(second) is not type(first):
            raise TypeError(f"other must be a FairnessAudit; got {_words.described(second)}.")
        is_pair = isinstance(models, list | tuple) and len(models) == 2
        if not is_pair or not all(isinstance(name, str) and name.strip() for name in models):
            raise TypeError(f"names must be two texts; got {_words.described(models)}.")
        if models[0] == models[1]:
            raise ValueError(f"names must be different; got {_words.described(models)}.")
        by_row, by_row_of_second = first._by_row, second._by_row  # noqa: SLF001
        if by_row is None or by_row_of_second is None:
            raise ValueError(
                "a comparison needs rows: make both audits by from_predictions or from_estimator, "
                "not from counts."
            )
        rows, others = by_row.rows, by_row_of_second.rows
        is_same = all(
            np.array_equal(getattr(rows, name), getattr(others, name))
            for name in ("positive", "codes", "weights", "clusters")
        )
        if not is_same or first.report.counts.groups != second.report.counts.groups:
            raise ValueError(
                "a comparison needs the same labels, groups, weights and clusters, in the same "
                "order."
            )
        least = {audit.facts["min_per_class"] for audit in (first, second)}
        if list(first.samples) != list(second.samples) or len(least) > 1:
            raise ValueError("a comparison needs audits with equal columns and min_per_class.")
        self.audits, self.models = (first, second), (models[0], models[1])
        self.samples = first.samples  # The second has the same groups.
        self._by_row = by_row, by_row_of_second

    @functools.cached_property
    def answers(self) -> dict[str, dict[str, Answer]]:
        """Changes by column and by gap name; "within" is the AUC within groups."""
        found = {}
        asked = {name: of for name, of in QUESTIONS.items() if of.changes is not None}
        primary = asked.pop("difference")
        for column in self.samples:
            models = self._models_by(column)
            n_secondary = sum(not any(map(of.missing, models.samples)) for of in asked.values())
            gap = change(primary, models, _N_PRIMARY)
            within = change_within(gap, models, _N_PRIMARY)
            found[column] = {"difference": gap, "within": within} | {
                name: change(question, models, max(n_secondary, 1))
                for name, question in asked.items()
            }
        return found

    def _models_by(self, column: str) -> TwoModels:
        sample, other = (audit.samples[column] for audit in self.audits)
        report, n_groups = self.audits[0].report, len(sample.groups)
        labels = labels_by(report.counts.groups or (), column_names(report), sample.names)
        rows = paired_rows([of.rows for of in self._by_row], report)
        # The rows in other groups are a last group.
        codes = positions_of(labels, sample.groups)[rows.codes]
        mine, is_compared = codes < n_groups, np.arange(n_groups + 1) < n_groups
        rows = dataclasses.replace(rows, codes=codes, n_groups=n_groups + 1)
        decided = [of.selected[mine] for of in self._by_row if of.selected is not None]
        decisions = np.array(decided) if len(decided) == len(self._by_row) else None
        return TwoModels(self.models, (sample, other), rows.of_groups(is_compared), decisions)

    @functools.cached_property
    def gaps(self) -> pd.DataFrame:
        """Change table, with index levels `column` and `gap`.

        The columns are the gaps `before` and `after`, the change `estimate` with its limits
        `ci_low` and `ci_high`, `confidence_level`, `pvalue` and `verdict`. The gaps are between
        groups with at least 50 rows of each class, if there are two.
        """
        return gap_table(self.answers, ["before", "after", *ESTIMATE])

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """Facts about the rows and both models, as plain values."""
        own = [{key: audit.facts[key] for key in _OF_A_MODEL} for audit in self.audits]
        shared = {key: of for key, of in self.audits[0].facts.items() if key not in _OF_A_MODEL}
        return {"models": dict(zip(self.models, own, strict=True)), **shared}
