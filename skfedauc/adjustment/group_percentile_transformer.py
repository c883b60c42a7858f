"""Define `GroupPercentileTransformer`, for percentiles of scores among each group's negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import ClassifierTags, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input
from skfedauc.adjustment.references import (
    Floats,
    GroupReferences,
    Groups,
    Unseen,
    check_unseen,
    reference_rows,
)
from skfedauc.mitigation import sensitive
from skfedauc.mitigation.target import target_of


class GroupPercentileTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transform columns of scores to percentiles among the negatives of a row's group.

    The percentile of a row is the share of its group's training negatives with a lower score; a tie
    counts one half. Scores may have a different distribution in each group, such as a marker from
    different devices. Percentiles put such scores on a common scale [1]_.

    Parameters
    ----------
    groups : str, int, or list or tuple of str or of int
        Name or names of the columns of X with the groups; groups are the combinations of the
        labels. Pass positions from 0 for an array X, and names for a DataFrame. All other columns
        are scores.
    unseen : {"raise", "pooled"}, default="raise"
        Treatment of groups without negatives among the training rows, in fit and later: raise a
        ValueError ("raise"), or use the percentile among the negatives of all groups ("pooled").

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels of y. Rows of the first class are the negatives.
    groups_ : list
        Sorted labels of the groups with negatives among the training rows.
    n_features_in_ : int
        Number of columns of X in fit, including group columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns of X, if all names are strings.

    See Also
    --------
    GroupAdjustedClassifier : Percentiles of the scores of a classifier.
    sklearn.preprocessing.QuantileTransformer : Quantiles of columns, without groups and classes.

    Notes
    -----
    On the training rows, the mean percentile of the positives equals the average of the group AUCs
    weighted by positives, and the AUC of each group does not change. The notes of
    `GroupAdjustedClassifier` state when the pooled AUC of the percentiles equals this average, and
    bound the difference.

    The reference negatives include the training negative itself. For scores of a model, pass
    out-of-fold scores of the training rows to `fit`, for instance from ``cross_val_predict``.

    References
    ----------
    .. [1] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on classification
       accuracy using the covariate-adjusted receiver operating characteristic curve.
       Biometrika 96(2). https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> import pandas as pd
    >>> from skfedauc import GroupPercentileTransformer
    >>> X = pd.DataFrame(
    ...     {"marker": [1.0, 2.0, 3.0, 10.0, 20.0, 15.0], "device": ["a"] * 3 + ["b"] * 3}
    ... )
    >>> y = [0, 0, 1, 0, 0, 1]
    >>> GroupPercentileTransformer(groups="device").fit_transform(X, y).ravel()
    array([0.25, 0.75, 1.  , 0.25, 0.75, 0.5 ])
    """

    def __init__(
        self,
        *,
        groups: str | int | Sequence[str] | Sequence[int],
        unseen: Unseen = "raise",
    ) -> None:
        self.groups = groups
        self.unseen = unseen

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GroupPercentileTransformer:
        """Fit the distributions of the scores of each group's negatives.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Columns of scores and group columns, in a DataFrame of pandas, polars or pyarrow, or an
            array.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more for the negatives.

        Returns
        -------
        GroupPercentileTransformer
            The transformer itself.

        Raises
        ------
        ValueError, TypeError
            If X lacks the group columns, or the columns have missing values. If scores are not
            finite, or y does not have two classes. If a group has no negatives, and `unseen` is
            "raise".
        """
        unseen = check_unseen(self.unseen)
        X = sensitive.checked(self, X, reset=True)
        target = target_of(y, self)
        check_consistent_length(X, target.codes, sample_weight)
        weights = None if sample_weight is None else _input.check_weights(np.asarray(sample_weight))
        chosen = reference_rows(target, weights)
        self._references = GroupReferences(*self._parts(X), chosen, weights, unseen)
        self.classes_ = target.classes
        self.groups_ = self._references.labels
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the percentiles of the scores.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Columns of scores, and group columns, as in fit.

        Returns
        -------
        ndarray of shape (n_rows, n_scores)
            Percentiles from 0 to 1, in the order of the columns of scores.

        Raises
        ------
        ValueError, TypeError
            If the columns of X differ from fit. If X has a group without negatives in fit, and
            `unseen` is "raise".
        """
        check_is_fitted(self)
        return self._references.percentiles(*self._parts(sensitive.checked(self, X, reset=False)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of scores.

        Parameters
        ----------
        input_features : array-like of str of shape (n_columns,), default=None
            Names of the columns of X, for an X without names in fit.

        Returns
        -------
        ndarray of shape (n_scores,)
            Names of the columns of X without the group columns.
        """
        names = super().get_feature_names_out(input_features)
        columns = sensitive.check_columns(self.groups, "groups")
        kept: NDArray[Any]
        if _input.is_column_names(columns):
            kept = names[~np.isin(names, columns)]
        else:
            kept = np.delete(names, columns)
        return kept

    def _parts(self, X: Any) -> tuple[Floats, Groups]:
        """Return the scores, and the groups."""
        columns = sensitive.check_columns(self.groups, "groups")
        groups = Groups.of(X, columns)
        if X.shape[1] == len(columns):
            raise ValueError(
                f"X has {X.shape[1]} feature(s), all of them in groups, so that no scores are "
                "left; add a column of scores."
            )
        rest = sensitive.without(X, columns, "groups")
        names: list[Any] = sensitive.names_of(rest)
        if not names:
            rest = rest.astype(np.float64) if rest.dtype.kind == "O" else rest
            names = list(range(rest.shape[1]))
        scores = [
            _input.check_scores(values, f"column {name!r} of the scores")
            for name, values in zip(names, sensitive.select(rest, names, "groups"), strict=True)
        ]
        return np.column_stack(scores), groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # Describe y as binary; the transformer is not a classifier.
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
