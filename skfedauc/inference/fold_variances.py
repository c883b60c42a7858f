"""Variances of AUCs over the pairs of rows of the same fold."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.inference.variances import Variances
from skfedauc.pairs import GroupPairs

Floats = NDArray[np.float64]


def variances_of(pairs: GroupPairs) -> Variances:
    """Return the variances of the group AUCs and of the pooled AUC of these pairs.

    Raises
    ------
    ValueError
        If rows can be in several test sets.
    """
    pairs.check_no_repeated_rows()
    if not pairs.is_within_folds:
        return Variances(pairs.counts)
    exponent = pairs.counts.weight_exponent
    folds = [Variances(part, exponent) for part in pairs.parts]
    return FoldVariances(folds, list(pairs.positions), pairs.n_groups)


class FoldVariances(Variances):
    """Variances of AUCs over the pairs of rows of the same fold.

    The AUC of a group is the average of its AUCs in the folds, weighted by pairs. The variance of
    this average, given the models of the folds, is the sum of the folds' variances times the
    squared shares of pairs.

    Parameters
    ----------
    folds : list of Variances
    positions : list of ndarray of intp
        For each fold, the index of each of its groups among all groups.
    n_groups : int
        Number of all groups.

    Attributes
    ----------
    shares : list of ndarray of float64
        For each fold, the share of each of its groups in the weight of the group's pairs.
    """

    def __init__(
        self, folds: list[Variances], positions: list[NDArray[np.intp]], n_groups: int
    ) -> None:
        self._folds, self._positions, self._n_groups = folds, positions, n_groups
        self.weighted = any(fold.weighted for fold in folds)
        self.negatives, self.positives = (
            ClassRows(
                *(
                    self._added([getattr(getattr(f, side), part) for f in folds])
                    for part in ClassRows._fields
                )
            )
            for side in ("negatives", "positives")
        )
        pairs = [fold.negatives.weight * fold.positives.weight for fold in folds]
        all_pairs = self._added(pairs)
        self.defined = all_pairs > 0
        self.shares = [
            ratio(of_fold, all_pairs[own], 0.0)
            for of_fold, own in zip(pairs, positions, strict=True)
        ]
        self.auc = np.where(self.defined, self._averaged("auc", 1), np.nan)

    def _added(self, of_folds: list[NDArray[Any]]) -> NDArray[Any]:
        total = np.zeros(self._n_groups, of_folds[0].dtype)
        for positions, values in zip(self._positions, of_folds, strict=True):
            total[positions] += values
        return total

    def _averaged(self, name: str, power: int) -> Floats:
        """Sum over folds of an attribute times a power of the group's share of pairs."""
        return self._added(
            [
                np.where(share > 0, getattr(fold, name), 0.0) * share**power
                for fold, share in zip(self._folds, self.shares, strict=True)
            ]
        )

    @functools.cached_property
    def n_smaller_class(self) -> Floats:
        """Number of independent pairs: sum over folds of the rows of the smaller class."""
        return self._added([fold.n_smaller_class for fold in self._folds])

    @functools.cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """True for groups that are estimable in every fold with pairs of the group."""
        lacking = [
            (share > 0) & ~fold.estimable
            for fold, share in zip(self._folds, self.shares, strict=True)
        ]
        n_lacking = self._added([of_fold.astype(np.int64) for of_fold in lacking])
        estimable: NDArray[np.bool_] = self.defined & (n_lacking == 0)
        return estimable

    @functools.cached_property
    def degrees_of_freedom(self) -> Floats:
        """Satterthwaite's degrees of freedom of the sum of variances; at least 1."""
        squares = [
            np.where(share > 0, fold.bounded, 0.0) ** 2 * share**4 / fold.degrees_of_freedom
            for fold, share in zip(self._folds, self.shares, strict=True)
        ]
        return np.maximum(ratio(self.bounded**2, self._added(squares), 1.0), 1.0)

    @functools.cached_property
    def delong(self) -> Floats:
        """Sum over folds of DeLong's variances; NaN unless estimable."""
        return np.where(self.estimable, self._averaged("delong", 2), np.nan)

    @functools.cached_property
    def unbiased(self) -> Floats:
        """Sum over folds of the unbiased variances; NaN unless estimable."""
        return np.where(self.estimable, self._averaged("unbiased", 2), np.nan)

    @functools.cached_property
    def bounded(self) -> Floats:
        """Sum over folds of variances, with bounds for variances that are 0 or not estimable."""
        return self._averaged("bounded", 2)

    @functools.cached_property
    def shared(self) -> Floats:
        """Sum over folds of the variances from pooled variances of placement values.

        In folds without an estimable group, the sum uses the group's own variance.
        """
        of_folds = [np.where(np.isnan(f.shared), f.bounded, f.shared) for f in self._folds]
        squares = [share**2 for share in self.shares]
        return self._added(
            [
                np.where(share > 0, of_fold, 0.0) * share
                for of_fold, share in zip(of_folds, squares, strict=True)
            ]
        )

    @functools.cached_property
    def model_coefficients(self) -> tuple[Floats, Floats]:
        """Coefficients of Newcombe's variance, summed over folds."""
        once, often = (
            self._added(
                [
                    fold.model_coefficients[i] * share**2
                    for fold, share in zip(self._folds, self.shares, strict=True)
                ]
            )
            for i in (0, 1)
        )
        return once, often

    @functools.cached_property
    def pooled(self) -> FoldVariances:
        """Variances of all groups together, within folds."""
        return FoldVariances(
            [fold.pooled for fold in self._folds], [np.zeros(1, np.intp)] * len(self._folds), 1
        )

    @property
    def pooled_fixed(self) -> float:
        """Variance of the pooled AUC within folds, for fixed groups."""
        shares = np.concatenate(self.pooled.shares)
        return float(np.dot(shares**2, [fold.pooled_fixed for fold in self._folds]))

    why_not_clustered = "not known within folds"

    @property
    def pooled_clustered(self) -> float:
        """Variance for random groups: NaN, because rows of different folds make no pairs."""
        return float("nan")
