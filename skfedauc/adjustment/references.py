"""Percentiles of scores among the negatives of each group.

The percentile of a score in a group is the share of the group's negatives with a lower score; a tie
counts one half. The percentile of a positive is its placement value within the group. Pepe and Cai
[1]_ count the negatives with a higher score instead. The distribution of the positives' percentiles
determines the covariate-adjusted ROC curve [2]_. The mean of this distribution is the area under
the curve.

References
----------
.. [1] Pepe, M. S. and Cai, T. (2004). The analysis of placement values for evaluating
   discriminatory measures. Biometrics 60(2).
   https://doi.org/10.1111/j.0006-341X.2004.00200.x
.. [2] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on classification
   accuracy using the covariate-adjusted receiver operating characteristic curve. Biometrika 96(2).
   https://doi.org/10.1093/biomet/asp002
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.mitigation import sensitive
from skfedauc.mitigation.target import Target

Floats = NDArray[np.float64]

# Treatment of rows of groups without negatives among the training rows
Unseen: TypeAlias = Literal["raise", "pooled"]


class Groups(NamedTuple):
    """Group number of each row, and the sorted labels of the groups."""

    codes: NDArray[np.intp]
    labels: NDArray[Any]

    @classmethod
    def of(cls, X: Any, columns: sensitive.Columns) -> Groups:
        """Return the combinations of the labels of some columns of X."""
        values = sensitive.select(X, columns, "groups")
        named = {f"column {name!r} of X": v for name, v in zip(columns, values, strict=True)}
        return cls(*_input.encode_columns(named))

    def rows(self) -> list[tuple[Any, NDArray[np.intp]]]:
        """Return the label and the rows of each group."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=self.labels.size))
        return list(zip(self.labels.tolist(), np.split(order, ends[:-1]), strict=True))


class Reference(NamedTuple):
    """Distribution of the scores of some negatives.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_scores,)
        Distinct scores in ascending order.
    sums : ndarray, shape (n_scores + 1,)
        Weight of the negatives before each score, and of all negatives. Without weights, the sums
        are whole numbers, so that equal shares are equal as floats.
    """

    scores: Floats
    sums: NDArray[Any]

    @classmethod
    def of(cls, scores: Floats, weights: Floats | None) -> Reference:
        """Return the distribution of scores."""
        distinct, place = np.unique(scores, return_inverse=True)
        amounts = np.bincount(place, weights, distinct.size)
        return cls(distinct, np.append(0, np.cumsum(amounts)))

    def percentiles(self, scores: Floats) -> Floats:
        """Return the share of the negatives below each score; a tie counts one half."""
        below, up_to = (
            self.sums[np.searchsorted(self.scores, scores, side)] for side in ("left", "right")
        )
        found: Floats = (below + up_to) / (2.0 * self.sums[-1])
        return found


class GroupReferences:
    """Distributions of the scores of each group's negatives.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_scores)
        One or more scores of each training row.
    groups : Groups
    chosen : ndarray of bool, shape (n_rows,)
        Negatives with a weight above 0; see `reference_rows`.
    weights : ndarray of float64, shape (n_rows,), or None
    unseen : {"raise", "pooled"}

    Attributes
    ----------
    labels : list
        Sorted labels of the groups with negatives.

    Raises
    ------
    ValueError
        If a group has no negatives and `unseen` is "raise".
    """

    def __init__(
        self,
        scores: Floats,
        groups: Groups,
        chosen: NDArray[np.bool_],
        weights: Floats | None,
        unseen: Unseen,
    ) -> None:
        def references(rows: NDArray[np.intp]) -> list[Reference]:
            of_rows = None if weights is None else weights[rows]
            return [Reference.of(column[rows], of_rows) for column in scores.T]

        negatives = [(label, rows[chosen[rows]]) for label, rows in groups.rows()]
        lacking = [label for label, rows in negatives if not rows.size]
        if lacking and unseen == "raise":
            raise ValueError(
                f"{_words.counted(len(lacking), 'group')} of {groups.labels.size} "
                f"{'has' if len(lacking) == 1 else 'have'} no negatives among the training rows "
                f"({_words.listed(lacking, most=5)}), so scores have no percentile among them. "
                "Pass unseen='pooled' to use the negatives of all groups, merge small groups, or "
                "leave these rows out."
            )
        self._by_group = {label: references(rows) for label, rows in negatives if rows.size}
        self._all = references(np.flatnonzero(chosen)) if unseen == "pooled" else None
        self.labels = list(self._by_group)

    def percentiles(self, scores: Floats, groups: Groups) -> Floats:
        """Return the percentile of each score among the negatives of the row's group.

        Raises
        ------
        ValueError
            If a group has no negatives among the training rows, and `unseen` is "raise".
        """
        unseen = {label: rows.size for label, rows in groups.rows() if label not in self._by_group}
        if unseen and self._all is None:
            raise ValueError(
                f"{sum(unseen.values()):,} of {_words.counted(len(scores), 'row')} belong to "
                f"groups without negatives in fit ({_words.listed(list(unseen), most=5)}); the "
                f"groups of fit are {_words.listed(self.labels, most=10)}. Pass unseen='pooled' to "
                "use the negatives of all groups for such rows."
            )
        found = np.empty(scores.shape)
        for label, rows in groups.rows():
            for i, reference in enumerate(self._by_group.get(label, self._all) or ()):
                found[rows, i] = reference.percentiles(scores[rows, i])
        return found


def reference_rows(target: Target, weights: Floats | None) -> NDArray[np.bool_]:
    """Return which rows are negatives with a weight above 0; require at least one such row."""
    chosen: NDArray[np.bool_] = target.codes == 0
    if weights is not None:
        chosen = chosen & (weights > 0)
    if not chosen.any():
        raise ValueError(
            "sample_weight is zero for all negatives, the rows of the first class, so percentiles "
            "among them are undefined; give negatives weights above 0."
        )
    return chosen


def check_unseen(unseen: Any) -> Unseen:
    """Return `unseen`; raise an error for an invalid value."""
    options = {"raise": "an error", "pooled": "the negatives of all groups"}
    return _input.check_option("unseen", unseen, options)  # type: ignore[no-any-return]
