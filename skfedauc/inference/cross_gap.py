"""Whether a model favours a group: the two cross AUCs of a group and all others compared.

The positives of the group with the others' negatives, and the others' positives with the group's
negatives, have no row in common, so that their variances add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skfedauc._paircounts import Cells, group_of_cell
from skfedauc.inference.intervals import normal_quantile
from skfedauc.inference.variances import Variances
from skfedauc.partials import AUCPartial


class CrossGap(NamedTuple):
    """The xAUC disparity of a group with all others, its limits and p value.

    NaN where a class is absent; limits and p value are NaN also with fewer than two rows of a
    class in the group or in the others.
    """

    disparity: float
    ci_low: float
    ci_high: float
    pvalue: float


def cross_gap(partial: AUCPartial, group: int, level: float) -> CrossGap:
    """Compare the cross AUCs of a group; the test is DeLong's, with normal limits."""
    from scipy.special import ndtr

    unknown = float("nan")
    states = [_pairs_across(partial, group, positives_of_group=side) for side in (True, False)]
    if not all(
        state.n_positives.all() and state.n_negatives.all() and len(state) for state in states
    ):
        return CrossGap(unknown, unknown, unknown, unknown)
    favoured, others = map(Variances, states)
    disparity = float(favoured.auc[0] - others.auc[0])
    if not (favoured.estimable.all() and others.estimable.all()):
        return CrossGap(disparity, unknown, unknown, unknown)
    error = float(np.sqrt(favoured.safe[0] + others.safe[0]))
    reach = normal_quantile((1.0 - level) / 2.0) * error
    limits = max(disparity - reach, -1.0), min(disparity + reach, 1.0)
    return CrossGap(disparity, *limits, float(2.0 * ndtr(-abs(disparity) / error)))


def _pairs_across(partial: AUCPartial, group: int, *, positives_of_group: bool) -> AUCPartial:
    """A state of one class of the group and the other class of the others."""
    starts, scores, negatives, positives, weights = partial._cells
    from_group = group_of_cell(starts) == group
    gives_positives = from_group if positives_of_group else ~from_group
    negatives = np.where(gives_positives, 0, negatives)
    positives = np.where(gives_positives, positives, 0)
    if weights is not None:
        of_class = np.stack([~gives_positives, gives_positives] * 2)
        weights = np.where(of_class, weights, 0.0)
    kept = (negatives > 0) | (positives > 0)
    cells = Cells(
        starts,
        scores[kept],
        negatives[kept],
        positives[kept],
        None if weights is None else weights[:, kept],
    )
    return AUCPartial._added(cells, None, None)
