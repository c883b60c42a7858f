"""Define `GroupAdjustedClassifier`, with scores as percentiles among a group's negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input, _sklearn, _words
from skfedauc.adjustment.references import (
    Floats,
    GroupReferences,
    Groups,
    Unseen,
    check_unseen,
    reference_rows,
)
from skfedauc.mitigation import sensitive
from skfedauc.mitigation.target import Target, target_of
from skfedauc.model_selection.splitter import SplitWarning, WithinGroupStratifiedKFold

_SCORES = ("decision_function", "predict_proba")
_NEEDS_SCORES = "Pass a classifier with one of these methods, such as LogisticRegression()."
# Training and test rows of each fold
Folds: TypeAlias = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class GroupAdjustedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Binary classifier with percentiles among the negatives of a row's group as scores.

    The percentile of a row is the share of its group's negatives with a lower score; a tie counts
    one half. Percentiles of different groups are comparable: a common threshold on percentiles has
    the same false positive rate in every group. The ROC curve of the percentiles is the
    covariate-adjusted ROC curve [1]_. The area under this curve is the average of the group AUCs
    weighted by positives, the statistic ``"positives"``.

    Parameters
    ----------
    estimator : classifier
        Unfitted classifier to adjust, or fitted classifier in a ``FrozenEstimator(model)``.
    groups : str, int, or list or tuple of str or of int
        Name or names of the columns of X with the groups; groups are the combinations of the
        labels. Pass positions from 0 for an array X, and names for a DataFrame.
    cv : int, splitter, iterable or None, default=5
        Folds for the scores of the training rows, which serve as the reference for new scores. An
        int is the number of folds of a `WithinGroupStratifiedKFold`. In each fold, a clone with the
        other rows as its training rows scores the test rows. None uses the scores of the classifier
        itself for its training rows. Use None only for a `FrozenEstimator` with other training
        rows.
    unseen : {"raise", "pooled"}, default="raise"
        Treatment of groups without negatives among the training rows, in fit and later: raise a
        ValueError ("raise"), or use the percentile among the negatives of all groups ("pooled").
    false_positive_rate : float, default=0.05
        Share of each group's negatives that `predict` assigns to the positive class. The share is
        higher in groups with few negatives; see the notes.
    drop : bool, default=True
        Whether to drop the group columns from the features of the classifier.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels. The second class is the positive class.
    estimator_ : classifier
        The classifier, fitted to all training rows.
    groups_ : list
        Sorted labels of the groups with negatives among the training rows.
    n_features_in_ : int
        Number of columns of X in fit, including group columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns of X, if all names are strings.

    See Also
    --------
    GroupPercentileTransformer : Percentiles of a column of scores.
    skfedauc.plotting.GroupRocCurveDisplay : Draw the covariate-adjusted ROC curve.
    sklearn.model_selection.FixedThresholdClassifier : Another threshold for `predict`.

    Notes
    -----
    Scikit-learn's searches and scorers do not pass metadata to ``predict`` or
    ``decision_function``, so this estimator reads the groups from columns of X. A transformer of
    scores cannot be the last step of a pipeline for scorers, because scorers need the
    ``decision_function`` of a classifier.

    The scores of training rows are too extreme if a classifier overfits. New negatives would then
    have percentiles near 1. `fit` therefore compares new scores with out-of-fold scores of the
    training rows.

    All scores between two neighboring negatives of the group have the same percentile. All scores
    above the negatives also have the same percentile. Ties of new rows are more frequent if a group
    has few negatives. In simulations with normal scores, the mean pooled AUC of new percentiles was
    below the average by positives. The difference was .014 with 10 or 20 training negatives per
    group, and .001 to .003 with 100 training negatives.

    The false positive rate of new rows also depends on the number of negatives. Let r be
    `false_positive_rate`, and let a group have n training negatives without ties. If the scores of
    new negatives have the same distribution, the expected rate is ``ceil(n * r) / (n + 1)``. This
    rate is at least ``1 / (n + 1)``, and `fit` warns if ``1 / (n + 1)`` is above r. For
    ``r = 0.05``, the expected rate is .091 with 10 negatives, at most .091 with 19 or more
    negatives, and at most .059 with 100 or more negatives.

    For the training rows with their reference scores in `fit`, the percentiles have three
    properties:

    - The mean percentile of the positives equals the average by positives of the reference scores
      exactly. For each group, the mean percentile of the positives is the AUC with ties as one
      half.
    - The AUC of each group does not change.
    - The pooled AUC of the percentiles treats the negatives as finite samples of the uniform
      distribution. The pooled AUC differs from the average by positives by a bounded amount. For
      each group, take the share of the largest tie block among its negatives. The bound is half the
      mean of this share over all negatives. Without ties, the bound is the number of groups divided
      by twice the number of negatives. The pooled AUC equals the average if all groups have the
      same number of negatives, and no group has tied negatives.

    References
    ----------
    .. [1] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on classification
       accuracy using the covariate-adjusted receiver operating characteristic curve.
       Biometrika 96(2). https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfedauc import GroupAdjustedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"marker": rng.normal(size=400), "site": ["a", "b"] * 200})
    >>> y = X["marker"] + rng.normal(size=400) > 0.5
    >>> X["marker"] += 2.0 * (X["site"] == "b")  # another calibration of the device
    >>> adjusted = GroupAdjustedClassifier(LogisticRegression(), groups="site").fit(X, y)
    >>> percentiles = adjusted.percentiles(X)
    >>> bool(((0.0 <= percentiles) & (percentiles <= 1.0)).all())
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        groups: str | int | Sequence[str] | Sequence[int],
        cv: Any = 5,
        unseen: Unseen = "raise",
        false_positive_rate: float = 0.05,
        drop: bool = True,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.cv = cv
        self.unseen = unseen
        self.false_positive_rate = false_positive_rate
        self.drop = drop

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **params: Any
    ) -> GroupAdjustedClassifier:
        """Fit the classifier, and the distributions of the scores of each group's negatives.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Features and group columns, in a DataFrame of pandas, polars or pyarrow, or an array.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more for the negatives in percentiles, and for the rows in the fit of
            the classifier. With metadata routing, this estimator and the classifier must request
            the weights.
        **params : dict
            Other metadata for the classifier's fit; needs scikit-learn's metadata routing.

        Returns
        -------
        GroupAdjustedClassifier
            The estimator itself.

        Raises
        ------
        ValueError, TypeError
            If X lacks the group columns, or the columns have missing values. If y does not have two
            classes. If a group has no negatives, and `unseen` is "raise". If the folds do not test
            each row once.

        Warns
        -----
        UserWarning
            If a group has fewer negatives than ``1 / false_positive_rate - 1``.
        """
        unseen = check_unseen(self.unseen)
        if not isinstance(self.drop, bool):
            raise TypeError(f"drop must be True or False; got {_words.shortened(self.drop)}.")
        _input.check_share(self.false_positive_rate, "false_positive_rate")
        _sklearn.refuse_without_scores(self.estimator, _SCORES, _NEEDS_SCORES)
        X = sensitive.checked(self, X, reset=True)
        sample_weight = _input.from_array_api(sample_weight)
        target = target_of(y, self)
        check_consistent_length(X, target.codes, sample_weight)
        weights = None if sample_weight is None else _input.check_weights(np.asarray(sample_weight))
        chosen = reference_rows(target, weights)
        fit_params = self._fit_params(sample_weight, params)
        features, groups = self._parts(X)
        self._warn_if_few(groups, chosen)
        y = target.classes[target.codes]
        folds = None if self.cv is None else self._folds(X, target, groups)
        self.estimator_ = clone(self.estimator).fit(features, y, **fit_params)
        if folds is None:
            scores = self._scores_of(self.estimator_, features)
        else:
            scores = self._out_of_fold(features, y, folds, fit_params)
        self._references = GroupReferences(scores[:, np.newaxis], groups, chosen, weights, unseen)
        self.classes_ = target.classes
        self.groups_ = self._references.labels
        return self

    def percentiles(self, X: Any) -> Floats:
        """Return the percentile of each row among the negatives of its group.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Features and group columns, as in fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Percentiles from 0 to 1.

        Raises
        ------
        ValueError, TypeError
            If the columns of X differ from fit. If X has a group without negatives in fit, and
            `unseen` is "raise".
        """
        check_is_fitted(self)
        X = sensitive.checked(self, X, reset=False)
        features, groups = self._parts(X)
        scores = self._scores_of(self.estimator_, features)
        return self._references.percentiles(scores[:, np.newaxis], groups).ravel()

    def decision_function(self, X: Any) -> Floats:
        """Return the percentiles minus the threshold ``1 - false_positive_rate``.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Features and group columns, as in fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores. `predict` returns ``classes_[1]`` for scores above 0.

        Raises
        ------
        ValueError, TypeError
            If X is not valid for `percentiles`.
        """
        return self.percentiles(X) - (1.0 - self.false_positive_rate)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row, with about the same false positive rate in each group.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Features and group columns, as in fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predicted labels.

        Raises
        ------
        ValueError, TypeError
            If X is not valid for `percentiles`.
        """
        is_above = self.decision_function(X) > 0.0
        labels: NDArray[Any] = self.classes_[is_above.astype(np.intp)]
        return labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing, which routes metadata of `fit` to the classifier's fit.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            Request of this estimator, and routes of metadata to its classifier.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def _fit_params(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the classifier's fit."""
        _sklearn.refuse_unrouted(params, self, "fit")
        given = {**params, "sample_weight": sample_weight}
        given = {name: value for name, value in given.items() if value is not None}
        if not given:
            return {}
        if _sklearn.is_routing_enabled():
            return dict(process_routing(self, "fit", **given).estimator.fit)
        return {_sklearn.weight_name(self.estimator): given["sample_weight"]}

    def _warn_if_few(self, groups: Groups, chosen: NDArray[np.bool_]) -> None:
        """Warn if groups have too few negatives for the false positive rate."""
        n_negatives = np.bincount(groups.codes[chosen], minlength=groups.labels.size)
        least = (1.0 / self.false_positive_rate) * (1.0 - 1e-9) - 1.0
        few = (n_negatives > 0) & (n_negatives < least)
        if not few.any():
            return
        fewest = int(n_negatives[few].min())
        _input.warn(
            f"{_words.counted(int(few.sum()), 'group')} of {groups.labels.size:,} "
            f"({_words.listed(groups.labels[few].tolist(), most=5)}) "
            f"{'has' if few.sum() == 1 else 'have'} too few negatives for "
            f"false_positive_rate={self.false_positive_rate:g}: with n negatives, the rate of new "
            f"rows is 1 / (n + 1) or more, which is {1 / (fewest + 1):.3g} with {fewest}. Pass a "
            f"higher rate, merge groups until each has {int(np.ceil(least))} negatives, or ignore "
            "this warning if you use only percentiles.",
            UserWarning,
        )

    def _folds(self, X: Any, target: Target, groups: Groups) -> Folds:
        """Return the training and test rows of each fold; the folds test each row once."""
        n_rows = groups.codes.size
        if isinstance(self.cv, int | np.integer):
            n_splits = _input.check_whole_number(self.cv, "cv", 2)
            # Suppress the warning: a model that lacks a rare group may score the rows of this
            # group.
            splitter = WithinGroupStratifiedKFold(n_splits).with_warning(
                SplitWarning(is_quiet=True)
            )
            folds = list(splitter.split(np.zeros((n_rows, 0)), target.codes, groups.codes))
        else:
            folds = list(check_cv(self.cv, target.codes, classifier=True).split(X, target.codes))
        n_tests = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
        if not (n_tests == 1).all():
            raise ValueError(
                f"cv must test each row once; got {self.cv!r}, which tests "
                f"{int((n_tests == 0).sum())} of {n_tests.size} rows never and "
                f"{int((n_tests > 1).sum())} several times. Use folds such as cv=5."
            )
        return folds

    def _out_of_fold(
        self, features: Any, y: NDArray[Any], folds: Folds, fit_params: dict[str, Any]
    ) -> Floats:
        """Score each row by a clone of the classifier whose training rows exclude this row."""
        scores = np.empty(y.size)
        for train, test in folds:
            params = _sklearn.of_rows(features, fit_params, train)
            known = _sklearn.rows_of(features, train)
            of_fold = clone(self.estimator).fit(known, y[train], **params)
            scores[test] = self._scores_of(of_fold, _sklearn.rows_of(features, test))
        return scores

    def _parts(self, X: Any) -> tuple[Any, Groups]:
        """Return the features of the classifier, and the groups."""
        columns = sensitive.check_columns(self.groups, "groups")
        groups = Groups.of(X, columns)
        return sensitive.without(X, columns, "groups") if self.drop else X, groups

    def _scores_of(self, estimator: Any, features: Any) -> Floats:
        values = _sklearn.response_values(estimator, features, _SCORES, _NEEDS_SCORES)
        return _input.check_scores(values, "the scores of the estimator")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        if hasattr(self.estimator, "fit"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags
