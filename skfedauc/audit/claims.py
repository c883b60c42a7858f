"""P values of the claims of one or several audits, adjusted together.

An audit asks questions about its groups, such as whether all group AUCs are equal. A question
tests one claim, or one claim for each group. Holm's method [1]_ with weights [2]_ adjusts the p
values: all audits have equal weight, within an audit all questions, and within a question all
groups. This controls the family-wise error rate: the probability of any false claim is at most
the level of a single test, whichever null hypotheses are true and however the tests depend on
each other.

References
----------
.. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
   Journal of Statistics 6(2).
.. [2] Benjamini, Y. and Hochberg, Y. (1997). Multiple hypotheses testing with weights.
   Scandinavian Journal of Statistics 24(3). https://doi.org/10.1111/1467-9469.00072
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from skfedauc.audit.fairness_audit import FairnessAudit

Floats = NDArray[np.float64]


class Family:
    """Family of audits of the same predictions, whose p values are adjusted together.

    Parameters
    ----------
    audits : sequence of FairnessAudit
    """

    def __init__(self, audits: Sequence[FairnessAudit]) -> None:
        self.audits = tuple(audits)

    @classmethod
    def joined(cls, audits: Sequence[FairnessAudit]) -> Family:
        """Make one family of audits whose tables have not been computed yet."""
        family = cls(audits)
        for audit in family.audits:
            audit.__dict__["_family"] = family
        return family

    @property
    def n_claims(self) -> int:
        """Number of tested claims."""
        return int(sum((~np.isnan(p)).sum() for a in self.audits for p in a._pvalues.values()))

    def adjusted(self, audit: FairnessAudit) -> dict[str, Floats]:
        """Return the adjusted p values of an audit, by question."""
        return self._adjusted[next(i for i, own in enumerate(self.audits) if own is audit)]

    @functools.cached_property
    def _adjusted(self) -> list[dict[str, Floats]]:
        return adjusted_by_question([audit._pvalues for audit in self.audits])


def adjusted_by_question(pvalues: Sequence[Mapping[str, Floats]]) -> list[dict[str, Floats]]:
    """Return the p values of several audits, adjusted for all claims of all audits.

    Parameters
    ----------
    pvalues : sequence of mappings
        For each audit, the p values by question; NaN without a test.
    """
    flat, weights = [np.zeros(0)], [np.zeros(0)]
    for of_audit in pvalues:
        tested = {question: ~np.isnan(p) for question, p in of_audit.items()}
        n_questions = max(sum(bool(t.any()) for t in tested.values()), 1)
        for question, p in of_audit.items():
            flat.append(p)
            n_tested = max(int(tested[question].sum()), 1)
            weights.append(np.full(p.size, 1.0 / (n_questions * n_tested)))
    result = weighted_holm(np.concatenate(flat), np.concatenate(weights))
    parts = iter(np.split(result, np.cumsum([p.size for p in flat])[:-1])[1:])
    return [{question: next(parts) for question in of_audit} for of_audit in pvalues]


def weighted_holm(pvalues: Floats, weights: Floats) -> Floats:
    """Return p values adjusted by Holm's method with weights [1]_ [2]_; NaN stay NaN.

    P values are sorted by ``p / weight``. Each ``p / weight`` is multiplied by the sum of its own
    weight and all following weights, and adjusted p values are made non-decreasing in this order.
    Equal weights give Holm's method.
    """
    result = np.full(pvalues.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(pvalues))
    scaled = pvalues[tested] / weights[tested]
    order = np.argsort(scaled, kind="stable")
    remaining = np.cumsum(weights[tested][order][::-1])[::-1]
    result[tested[order]] = np.minimum(np.maximum.accumulate(scaled[order] * remaining), 1.0)
    return result
