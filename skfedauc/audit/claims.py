"""P values of the claims of one or several audits, adjusted together.

An audit asks questions about groups, such as whether all group AUCs are equal. A question has one
claim, or one claim for each group. Each claim has a null hypothesis and a p value. Holm's method
[1]_ with weights [2]_ adjusts the p values. The weights are equal for all audits, for all questions
of an audit, and for all claims of a question. Holm's method bounds the family-wise error rate, the
probability of any false claim, by the level of a single test. The bound holds for any set of true
null hypotheses and any dependence between the tests.

References
----------
.. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
   Journal of Statistics 6(2).
.. [2] Benjamini, Y. and Hochberg, Y. (1997). Multiple hypotheses testing with weights.
   Scandinavian Journal of Statistics 24(3). https://doi.org/10.1111/1467-9469.00072
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Questions = Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Family:
    """Audits with joint adjustment of the p values.

    Families compare by identity.

    Attributes
    ----------
    groupings : tuple of str
        Names of the groupings of the audits, such as "sex" or "sex and age".
    n_claims : int
        Number of tested claims of all audits.
    """

    groupings: tuple[str, ...]
    n_claims: int


@dataclass(frozen=True, eq=False)
class Claims:
    """P values of the claims of one audit, by question.

    Attributes
    ----------
    pvalues, adjusted : mapping of str to ndarray of float64
        P values of the claims by question, unadjusted and adjusted for all claims of the family.
        NaN for claims without a test.
    family : Family
        The audits with joint adjustment of the p values, including this audit.
    """

    pvalues: Questions
    adjusted: Questions
    family: Family


def adjusted_together(groupings: Sequence[str], pvalues: Sequence[Questions]) -> list[Claims]:
    """Return the claims of several audits, adjusted for all claims of all audits.

    Parameters
    ----------
    groupings : sequence of str
        Names of the groupings of the audits.
    pvalues : sequence of mappings
        P values by question for each audit, or NaN for claims without a test.
    """
    flat, weights, n_claims = [np.zeros(0)], [np.zeros(0)], 0
    for of_audit in pvalues:
        n_tested = {question: int((~np.isnan(p)).sum()) for question, p in of_audit.items()}
        n_questions = max(sum(n > 0 for n in n_tested.values()), 1)
        n_claims += sum(n_tested.values())
        for question, p in of_audit.items():
            flat.append(p)
            weights.append(np.full(p.size, 1.0 / (n_questions * max(n_tested[question], 1))))
    result = weighted_holm(np.concatenate(flat), np.concatenate(weights))
    parts = iter(np.split(result, np.cumsum([p.size for p in flat])[:-1])[1:])
    family = Family(tuple(groupings), n_claims)
    return [
        Claims(of_audit, {question: next(parts) for question in of_audit}, family)
        for of_audit in pvalues
    ]


def weighted_holm(pvalues: Floats, weights: Floats) -> Floats:
    """Return p values adjusted by Holm's method with weights [1]_ [2]_, and keep NaN.

    The method sorts p values by ``p / weight``. Then the method multiplies each ``p / weight`` by
    the sum of the same weight and all following weights. The running maximum in this order gives
    the adjusted p values. Equal weights give Holm's method.
    """
    result = np.full(pvalues.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(pvalues))
    scaled = pvalues[tested] / weights[tested]
    order = np.argsort(scaled, kind="stable")
    remaining = np.cumsum(weights[tested][order][::-1])[::-1]
    result[tested[order]] = np.minimum(np.maximum.accumulate(scaled[order] * remaining), 1.0)
    return result
