"""Variances of AUCs over the pairs of rows of the same fold.

The AUC of a group is the average of its AUCs in the folds, weighted by pairs. The variance of this
average, given the models of the folds, is the sum of the folds' variances times the squared shares
of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.pair_moments import PairMoments
from skfedauc.inference.variances import Floats, Pooled, Variances, pooled_of, variances_of
from skfedauc.pairs import GroupPairs


def folds_of(pairs: GroupPairs) -> Variances:
    """Return the variances of the group AUCs of pairs within folds."""
    return combined(_parts(pairs), pairs.positions, pairs.n_groups)


def pooled_folds(pairs: GroupPairs) -> Pooled:
    """Return the variances of the pooled AUC of pairs within folds; not known for random groups."""
    exponent = view_of(pairs.counts).weight_exponent
    folds = [
        pooled_of(part, of_part, exponent)
        for part, of_part in zip(pairs.parts, _parts(pairs), strict=True)
    ]
    rows = [fold.rows for fold in folds]
    n_pairs = np.array([_pairs(fold)[0] for fold in rows])
    used = n_pairs > 0  # folds with both classes
    of_folds = np.array([fold.fixed for fold in folds])[used]
    fixed = float((n_pairs[used] / n_pairs.sum()) ** 2 @ of_folds)
    nan = float("nan")
    together = combined(rows, [np.zeros(1, np.intp)] * len(folds), 1)
    return Pooled(together, fixed, nan, nan, pairs.n_groups, "not known within folds")


def _parts(pairs: GroupPairs) -> list[Variances]:
    exponent = view_of(pairs.counts).weight_exponent
    return [variances_of(part, exponent) for part in pairs.parts]


def _pairs(fold: Variances) -> Floats:
    return fold.negatives.weight * fold.positives.weight


def combined(
    folds: Sequence[Variances], positions: Sequence[NDArray[np.intp]], n_groups: int
) -> Variances:
    """Return the variances of averages over folds.

    Parameters
    ----------
    folds : sequence of Variances
    positions : sequence of ndarray of intp
        For each fold, the index of each of its groups among all groups.
    n_groups : int
        Number of all groups.
    """

    def added(of_folds: Sequence[NDArray[Any]]) -> NDArray[Any]:
        total = np.zeros(n_groups, of_folds[0].dtype)
        for place, values in zip(positions, of_folds, strict=True):
            total[place] += values
        return total

    all_pairs = added([_pairs(fold) for fold in folds])
    shares = [
        ratio(_pairs(fold), all_pairs[place], 0.0)
        for fold, place in zip(folds, positions, strict=True)
    ]

    def averaged(of_folds: Sequence[Floats], power: int = 2) -> Floats:
        """Sum values over folds times a power of the group's share of pairs."""
        used = zip(of_folds, shares, strict=True)
        return added([np.where(share > 0, values, 0.0) * share**power for values, share in used])

    def rows_of(classes: Sequence[ClassRows]) -> ClassRows:
        return ClassRows(*(added(values) for values in zip(*classes, strict=True)))

    defined = all_pairs > 0
    lacking = [
        ((share > 0) & ~fold.estimable).astype(np.int64)
        for fold, share in zip(folds, shares, strict=True)
    ]
    estimable = defined & (added(lacking) == 0)
    bounded = averaged([fold.bounded for fold in folds])
    imprecision = averaged([fold.bounded**2 / fold.degrees_of_freedom for fold in folds], 4)
    nan = float("nan")
    return Variances(
        auc=np.where(defined, averaged([fold.auc for fold in folds], 1), np.nan),
        defined=defined,
        estimable=estimable,
        delong=np.where(estimable, averaged([fold.delong for fold in folds]), np.nan),
        unbiased=np.where(estimable, averaged([fold.unbiased for fold in folds]), np.nan),
        bounded=bounded,
        # Folds without an estimable group have the groups' own variances.
        shared=averaged([np.where(np.isnan(f.shared), f.bounded, f.shared) for f in folds]),
        degrees_of_freedom=np.maximum(ratio(bounded**2, imprecision, 1.0), 1.0),
        n_pairs=added([fold.n_pairs for fold in folds]),
        once=averaged([fold.once for fold in folds]),
        often=averaged([fold.often for fold in folds]),
        negatives=rows_of([fold.negatives for fold in folds]),
        positives=rows_of([fold.positives for fold in folds]),
        weighted=any(fold.weighted for fold in folds),
        shared_moments=PairMoments(nan, nan, nan),
    )
