"""Counts of test rows as the score of a fold, so that `cross_validate` runs the folds.

`cross_validate` gives a scorer the test rows of X and y, but neither their groups nor, unless
metadata routing is on, their weights. Row numbers in place of y lead to all of them.
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

from skfedauc import _sklearn
from skfedauc import _validation as validation
from skfedauc.partials import AUCPartial
from skfedauc.report import GroupAUC


@dataclass(frozen=True)
class Rows:
    """What belongs to all rows, and how they are scored. Arrays have shape (n_rows,)."""

    y: NDArray[Any]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64] | None
    fit_params: Mapping[str, Any]
    pos_label: Any
    response_method: str | tuple[str, ...]


class FittedOnRows:
    """An estimator that is given row numbers in place of y.

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
        # X is cut by columns as well where it holds the kernel between rows.
        return get_tags(self.estimator)

    def fit(self, X: Any, numbers: NDArray[np.intp]) -> FittedOnRows:
        """Fit the estimator on its own y, weights and parameters for these rows."""
        y, weights = self.rows.y, self.rows.weights
        params = _sklearn.of_rows(y, self.rows.fit_params, numbers)
        if weights is not None:
            params[_sklearn.weight_name(self.estimator)] = weights[numbers]
        self.estimator.fit(X, y[numbers], **params)
        return self

    def count(self, X: Any, numbers: NDArray[np.intp]) -> FoldCounts:
        """Counts of these rows by group code."""
        rows = self.rows
        positive, is_other = _sklearn.positive_class(self.estimator, rows.pos_label)
        scores = _sklearn.response_values(self.estimator, X, rows.response_method)
        scores = validation.column_of(scores, "y_score")
        checked = validation.check_rows(
            rows.y[numbers],
            -scores if is_other else scores,
            rows.codes[numbers],
            None if rows.weights is None else rows.weights[numbers],
            positive,
            warn_labels=False,
        )
        partial = AUCPartial._of_rows(checked)
        # Rows without a label came as those of the group -1.
        lacks_label = np.array([code < 0 for code in partial.groups or ()], np.bool_)
        return FoldCounts(partial._dropping(lacks_label))


class FoldCounts(Number):
    """The score of a fold: a number to scikit-learn, which collects it without arithmetic."""

    def __init__(self, partial: AUCPartial) -> None:
        self.partial = partial

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        """Format the pooled AUC, for the lines that ``verbose`` prints."""
        return format(GroupAUC(self.partial, undefined="ignore").pooled, spec)


def count_rows(fitted: FittedOnRows, X: Any, numbers: NDArray[np.intp]) -> FoldCounts:
    """Scorer of `cross_validate`."""
    return fitted.count(X, numbers)
