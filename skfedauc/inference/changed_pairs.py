"""Pairs of a positive and a negative whose order changed between two scores of the same rows.

The comparison of a pair is 1 if the positive has the higher score, one half for a tie, and 0
otherwise. The change of the AUC is the mean raise minus the mean fall of the comparisons, and their
sum is the share of pairs whose order changed: Kendall's distance [1]_ over these pairs. It follows
from the sum over pairs of s t, where s and t are the signs of the differences of both scores, as
``|s - t| = 1 - s t`` unless both scores tie the pair.

The ranks before of the two rows of a pair agree, as binary numbers, down to some bit. So a loop
over the bits visits each pair once, and the kernel counts the pairs of a bit by their scores after.
The time is O(n log(n)^2) for n rows.

References
----------
.. [1] Kendall, M. G. (1938). A new measure of rank correlation. Biometrika 30(1/2).
   https://doi.org/10.1093/biomet/30.1-2.81
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import concordance, count_rows, number_cells
from skfedauc.inference.effects import Floats, Rows

# Share of the pairs below which a sum of weights is rounding error
_ROUNDING = 1e-12


class ChangedPairs(NamedTuple):
    """Weights of all pairs by group, of raises and falls of comparisons, and of reversed pairs.

    The other changed pairs are new or lost ties.
    """

    pairs: Floats
    raised: Floats
    lowered: Floats
    reversed: Floats


def changed_pairs(rows: Rows) -> ChangedPairs:
    """Count the pairs of each group whose order differs between the two scores."""
    before, after = rows.scores
    n_groups, codes = rows.n_groups, rows.codes
    pairs = rows.by_class(rows.weights).prod(axis=0)
    numbered = [number_cells(scores, codes, n_groups) for scores in (before, after)]
    agreement = _agreement(rows, numbered[0][0] - numbered[0][1][codes])
    cells = [of_model[0] for of_model in numbered]
    both_tied = _tied(rows, cells[0] * (int(cells[1].max(initial=0)) + 1) + cells[1])
    in_order = pairs - _tied(rows, cells[0]) - _tied(rows, cells[1]) + both_tied
    turned = (in_order - agreement) / 2.0
    turned[turned <= _ROUNDING * pairs] = 0.0
    changed = (pairs - agreement - both_tied) / 2.0
    gain = (_excess(rows, after) - _excess(rows, before)) / 2.0
    changed[np.abs(changed) <= _ROUNDING * pairs] = 0.0
    gain[(np.abs(gain) <= _ROUNDING * pairs) | (changed == 0)] = 0.0
    raised, lowered = ((changed + sign * gain) / 2.0 for sign in (1.0, -1.0))
    return ChangedPairs(pairs, np.maximum(raised, 0.0), np.maximum(lowered, 0.0), turned)


def _excess(rows: Rows, scores: Floats) -> Floats:
    """Return the weight of the concordant minus the discordant pairs, by group."""
    of = concordance(count_rows(scores, rows.positive, rows.codes, rows.n_groups, _weights(rows)))
    found: Floats = of.u2.astype(np.float64) - of.negatives.astype(np.float64) * of.positives
    return found


def _agreement(rows: Rows, rank: NDArray[np.int64]) -> Floats:
    """Return the sum over pairs of the products of the signs of both differences, by group.

    `rank` has the dense ranks of the scores before, within the group.
    """
    found, after, weights = np.zeros(rows.n_groups), rows.scores[1], _weights(rows)
    n_ranks = int(rank.max(initial=0)) + 1
    for bit in range((n_ranks - 1).bit_length()):
        # Rows with equal higher bits form a block, in which the rows with this bit set have higher
        # ranks. The positive has the higher rank in the first kind of pairs.
        block = rows.codes.astype(np.int64) * ((n_ranks >> (bit + 1)) + 1) + (rank >> (bit + 1))
        is_set = (rank >> bit & 1).astype(bool)
        kinds, number = np.unique(block * 2 + (is_set != rows.positive), return_inverse=True)
        of = concordance(count_rows(after, rows.positive, number, kinds.size, weights))
        excess = of.u2.astype(np.float64) - of.negatives.astype(np.float64) * of.positives
        group = (kinds // 2) // ((n_ranks >> (bit + 1)) + 1)
        found += np.bincount(group, np.where(kinds % 2, -excess, excess), rows.n_groups)
    return found


def _tied(rows: Rows, cell: NDArray[np.int64]) -> Floats:
    """Return the weight of the pairs in the same cell, by group. Groups share no cells."""
    _, first, number = np.unique(cell, return_index=True, return_inverse=True)
    negatives, positives = (
        np.bincount(number, rows.weights * (rows.positive == label)) for label in (False, True)
    )
    return np.bincount(rows.codes[first], negatives * positives, rows.n_groups).astype(np.float64)


def _weights(rows: Rows) -> Floats | None:
    """Return the weights, or None if all weights are 1, so that sums are exact."""
    return None if bool((rows.weights == 1.0).all()) else rows.weights
