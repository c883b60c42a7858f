"""Scorer for `cross_validate` that returns the score counts of the test rows in a fold.

`cross_validate` passes the test rows of X and y to a scorer, but not the groups of these rows.
Without metadata routing, `cross_validate` does not pass the weights either. This module therefore
passes row numbers as y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from skfedauc import _input, _sklearn
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import counts_of_rows, select_groups, with_n_missing
from skfedauc.report import GroupAUC


@dataclass(frozen=True)
class Rows:
    """Labels, groups and weights of all rows, and scoring options; arrays have shape (n_rows,)."""

    y: NDArray[Any]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64] | None
    fit_params: Mapping[str, Any]
    pos_label: Any
    response_method: str | tuple[str, ...] | None


class FittedOnRows:
    """Wrapper of an estimator that receives row numbers as y.

    Parameters
    ----------
    estimator : estimator object
    rows : Rows
        Shared by all clones.
    """

    def __init__(self, estimator: Any, rows: Rows) -> None:
        self.estimator = estimator
        self.rows = rows

    def __sklearn_clone__(self) -> FittedOnRows:
        return FittedOnRows(clone(self.estimator), self.rows)

    def __sklearn_tags__(self) -> Any:
        # For a pairwise estimator, X is a kernel matrix, and the split must select its columns too.
        return get_tags(self.estimator)

    def fit(self, X: Any, numbers: NDArray[np.intp]) -> FittedOnRows:
        """Fit the estimator on the y, weights and fit parameters of the rows with these numbers."""
        y, weights = self.rows.y, self.rows.weights
        params = _sklearn.of_rows(y, self.rows.fit_params, numbers)
        if weights is not None:
            params[_sklearn.weight_name(self.estimator)] = weights[numbers]
        self.estimator.fit(X, y[numbers], **params)
        return self

    def count(self, X: Any, numbers: NDArray[np.intp]) -> FoldCounts:
        """Score the rows with these numbers, and count the rows by group code."""
        rows = self.rows
        model = _sklearn.scores_of(self.estimator, X, rows.response_method, rows.pos_label)
        checked = _input.check_rows(
            rows.y[numbers],
            model.scores,
            rows.codes[numbers],
            None if rows.weights is None else rows.weights[numbers],
            model.positive,
            warn_labels=False,
        )
        counts = counts_of_rows(checked)
        # Rows without a label have the group code -1.
        lacks_label = np.array([code < 0 for code in counts.groups or ()], np.bool_)
        if not lacks_label.any():
            return FoldCounts(counts)
        n_dropped = int((counts.n_positives + counts.n_negatives)[lacks_label].sum())
        labeled = select_groups(counts, np.flatnonzero(~lacks_label))
        return FoldCounts(with_n_missing(labeled, counts.n_missing + n_dropped))


class FoldCounts(Number):
    """Score counts of a fold, as a number type, so that scikit-learn accepts them as a score."""

    def __init__(self, counts: ScoreCounts) -> None:
        self.counts = counts

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        """Format the pooled AUC, for the output of ``verbose``."""
        return format(GroupAUC(self.counts, undefined="ignore").pooled, spec)


def count_rows(fitted: FittedOnRows, X: Any, numbers: NDArray[np.intp]) -> FoldCounts:
    """Return the counts of test rows; a scorer for `cross_validate`."""
    return fitted.count(X, numbers)
