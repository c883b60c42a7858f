"""`MitigatedClassifier`: a classifier with a fairlearn mitigator, for scikit-learn searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import ClassificationMoment, ExponentiatedGradient, GridSearch
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skfedauc import _group_codes, _input, _labels, _rows, _words
from skfedauc._sklearn import is_routing_enabled, number_of_rows, refuse_unrouted, weight_name

Columns = list[Any]  # names or positions of sensitive columns: all strings or all integers


class MitigatedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Binary classifier with a fairlearn mitigator, for pipelines and searches.

    Fairlearn's mitigators take sensitive features as an argument, which scikit-learn's pipelines,
    searches and scorers do not pass. `MitigatedClassifier` reads them from columns of X.

    Parameters
    ----------
    mitigator : ExponentiatedGradient, GridSearch or ThresholdOptimizer
        The unfitted fairlearn mitigator; `fit` fits a copy. A search names its parameters
        ``mitigator__eps``, ``mitigator__estimator__C``.
    groups : str, int, or list or tuple of str or of int
        Names (for an array: positions) of the columns of X with the sensitive features; each
        combination of their labels is a group.
    drop : bool, default=True
        Whether to drop the sensitive columns from the features of the classifier.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws of `ExponentiatedGradient` and `ThresholdOptimizer` in ``predict``.
        Use None in production: with an int, rows that are predicted one at a time all get the same
        random number.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        Sorted class labels. The mitigator receives the second class, the positive class, as 1.
    mitigator_ : object
        The fitted mitigator. Reductions keep the training rows in ``mitigator_.constraints``.
    n_features_in_ : int
        Number of columns of X in fit, including sensitive columns.
    feature_names_in_ : ndarray, shape (`n_features_in_`,)
        Names of the columns of X, if all names are strings.

    See Also
    --------
    make_group_auc_scorer : Scorer for the group AUCs of a classifier.
    FairnessAudit : Measure the gaps that a mitigation should reduce.

    Notes
    -----
    =======================  ===============  ==============================  =================
    Mitigator                Sensitive        Scores                          ``sample_weight``
                             columns read by
    =======================  ===============  ==============================  =================
    `ExponentiatedGradient`  fit              mean of the ``predict_proba``   refused (1)
                                              of its classifiers, weighted
                                              by ``weights_``
    `GridSearch`             fit              ``predict_proba`` of the best   refused (1)
                                              classifier
    `ThresholdOptimizer`     fit, predict     none: it makes decisions        passed to its
                                              only                            estimator (2)
    =======================  ===============  ==============================  =================

    (1) Reductions compute weights of the rows [1]_.

    (2) Thresholds are computed from unweighted rows. Without metadata routing, the last step of a
    pipeline gets the weights, also those that a reduction computes; with it, the classifier must
    request them by ``set_fit_request(sample_weight=True)``.

    The scores of `ExponentiatedGradient` are a weighted mean of its classifiers' probabilities, so
    their AUC describes this mean and not the random decisions. To score the decisions of
    `ThresholdOptimizer`, make a group scorer with ``response_method="predict"``. Pass a fitted
    model as ``ThresholdOptimizer(estimator=FrozenEstimator(model))``, with ``drop=False`` if its
    features include the sensitive columns. Reductions predict without the sensitive columns if
    `drop` is true and X has the other columns in the order of fit. Fairlearn's `CorrelationRemover`
    is a transformer, so a pipeline needs nothing else for it.

    References
    ----------
    .. [1] Agarwal, Beygelzimer, Dudik, Langford & Wallach (2018), "A reductions approach to
       fair classification", ICML, PMLR 80:60-69.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfedauc import MitigatedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=60), "sex": ["f", "m", "m"] * 20})
    >>> y = X["dose"] + (X["sex"] == "m") + rng.normal(size=60) > 0.5
    >>> fair = MitigatedClassifier(
    ...     ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3),
    ...     groups="sex",
    ...     random_state=0,
    ... ).fit(X, y)
    >>> fair.predict_proba(X).shape
    (60, 2)
    """

    def __init__(
        self,
        mitigator: Any,
        *,
        groups: str | int | Sequence[str] | Sequence[int],
        drop: bool = True,
        random_state: Any = None,
    ) -> None:
        self.mitigator = mitigator
        self.groups = groups
        self.drop = drop
        self.random_state = random_state

    # The inner classifier requests the weights, so this estimator has no set_fit_request.
    __metadata_request__fit = {"sample_weight": UNUSED}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> MitigatedClassifier:
        """Fit the mitigator and the classifier.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features and sensitive columns, as an array or as a DataFrame of pandas, polars or
            pyarrow.
        y : array-like, shape (n_rows,)
            Labels with two classes.
        sample_weight : array-like, shape (n_rows,), default=None
            Weights for the classifier's fit, see the class's table. A `Pipeline` passes these
            weights to the last step.
        **params : dict
            Other metadata for the classifier's fit, which need scikit-learn's metadata routing.

        Returns
        -------
        MitigatedClassifier
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If the sensitive columns are absent from X or have missing values. If y does not have
            two classes. If `mitigator`, `drop` and `sample_weight` are not compatible.
        """
        mitigator = self._copied_mitigator()
        _input.check_random_state(self.random_state)
        features, sensitive = self._parts(X, reset=True)
        self._features = _names_of(features)
        sample_weight = _input.from_array_api(sample_weight)
        self.classes_, codes = _classes_of(y, type(self).__name__)
        n_rows = number_of_rows(features)
        _input.check_length("y", codes.size, "X", n_rows)
        if sample_weight is not None:
            n_weights = number_of_rows(sample_weight, "sample_weight")
            _input.check_length("sample_weight", n_weights, "X", n_rows)
        fit_params = self._fit_params(sample_weight, params)
        if not self._is_reduction:
            _check_frozen(mitigator, features.shape[1], self.classes_)
        labels = _labels_of(sensitive)
        self._known = _group_codes.encode_groups(labels).labels.tolist()
        if type(mitigator).__name__ == "GridSearch" and len(self._known) < 2:
            raise ValueError(
                "GridSearch needs two groups or more, but groups has a single label, "
                f"{_words.shortened(self._known[0])}; in a search, stratify the folds by group."
            )
        try:
            mitigator.fit(features, codes, sensitive_features=labels, **fit_params)
        except ValueError as error:
            if "Degenerate labels" not in str(error):
                raise
            raise ValueError(
                f"a group has rows of one class only, and {type(mitigator).__name__} needs both "
                f"classes in each group; merge or leave out this group. fairlearn says: {error}"
            ) from error
        self.mitigator_ = mitigator
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features and sensitive columns, as in fit.

        Returns
        -------
        ndarray, shape (n_rows,)
            Predicted labels, which are random for some mitigators; see `random_state`.

        Raises
        ------
        ValueError, TypeError
            If the columns of X differ from fit. If the mitigator needs groups, and a group of X was
            absent from fit.
        """
        check_is_fitted(self)
        features, sensitive = self._parts(X)
        options: dict[str, Any] = {}
        if self._is_random:
            options["random_state"] = self.random_state
        if not self._is_reduction:
            labels = options["sensitive_features"] = _labels_of(sensitive)
            # fairlearn predicts the negative class for rows of groups that fit did not have.
            codes, groups = _group_codes.encode_groups(labels, "groups")[:2]
            is_unknown = np.array([of not in self._known for of in groups.tolist()], np.bool_)
            if is_unknown.any():
                raise ValueError(
                    f"groups has {int(is_unknown[codes].sum())} of {codes.size} rows in groups "
                    "that were absent in fit "
                    f"({_words.listed(groups[is_unknown].tolist(), most=5)}), so there is no "
                    "threshold for them; the groups of fit are "
                    f"{_words.listed(self._known, most=10)}."
                )
        codes = np.asarray(self.mitigator_.predict(features, **options), np.intp)
        return self.classes_[codes]

    @available_if(  # type: ignore[untyped-decorator]
        lambda self: self._is_reduction and hasattr(self.mitigator.estimator, "predict_proba")
    )
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of both classes.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features and sensitive columns, as in fit.

        Returns
        -------
        ndarray, shape (n_rows, 2)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        ValueError, TypeError
            If X is not valid for `predict`.
        """
        check_is_fitted(self)
        features, _ = self._parts(X)
        positive = np.zeros(np.shape(features)[0])
        fitted = self.mitigator_
        best = getattr(fitted, "best_idx_", None)  # a GridSearch predicts by one classifier
        for number, weight in getattr(fitted, "weights_", {best: 1.0}).items():
            classifier = fitted.predictors_[number]
            # A classifier with a single class in fit has a probability column for this class only.
            if weight > 0 and 1 in classifier.classes_:
                place = list(classifier.classes_).index(1)
                positive += weight * np.asarray(classifier.predict_proba(features))[:, place]
        positive = np.clip(positive, 0.0, 1.0)  # The sum of the weights is 1 except for rounding.
        return np.column_stack([1.0 - positive, positive])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing from `fit` to the fit of the classifier.

        The classifier requests metadata, as in
        ``LogisticRegression().set_fit_request(sample_weight=True)``. A reduction computes weights
        and routes nothing.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            Routes of metadata from this estimator to the classifier.
        """
        router = MetadataRouter(owner=self)
        classifier = getattr(self.mitigator, "estimator", None)
        if not self._is_reduction and hasattr(classifier, "fit"):
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=classifier, method_mapping=mapping)
        return router

    def _fit_params(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        refuse_unrouted(params, self, "fit")
        given = {**params, "sample_weight": sample_weight}
        given = {name: value for name, value in given.items() if value is not None}
        if self._is_reduction and given:
            raise ValueError(
                f"{type(self.mitigator).__name__} sets the weights of the rows itself, so it "
                f"takes no {', '.join(given)}; do not pass it."
            )
        if is_routing_enabled():
            routed = process_routing(self, "fit", **given)
            return dict(routed.estimator.fit) if given else {}
        name = weight_name(self.mitigator.estimator)
        return {name: given["sample_weight"]} if given else {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = self._is_random
        classifier = getattr(self.mitigator, "estimator", None)
        if hasattr(classifier, "fit"):
            tags.input_tags.allow_nan = get_tags(classifier).input_tags.allow_nan
        return tags

    @property
    def _is_reduction(self) -> bool:
        """Whether many classifiers with different row weights predict, without the groups."""
        return isinstance(self.mitigator, ExponentiatedGradient | GridSearch)

    @property
    def _is_random(self) -> bool:
        return isinstance(self.mitigator, ExponentiatedGradient | ThresholdOptimizer)

    def _copied_mitigator(self) -> Any:
        if not (self._is_reduction or self._is_random):
            raise TypeError(
                "mitigator must be an ExponentiatedGradient, GridSearch or ThresholdOptimizer of "
                f"fairlearn; got {_words.shortened(self.mitigator)}. Other mitigators, such as "
                "CorrelationRemover, are steps of a pipeline."
            )
        _input.check_flag(self.drop, "drop")
        # ``clone`` rejects a mitigator if the user has set parameters to integers after
        # construction. ``constraint_weight`` of `GridSearch` acts only in the constructor.
        params = self.mitigator.get_params(deep=False)
        copied = {name: clone(value, safe=False) for name, value in params.items()}
        mitigator = type(self.mitigator)(**copied)
        if self._is_reduction:
            name = type(mitigator).__name__
            if not isinstance(mitigator.constraints, ClassificationMoment):
                raise ValueError(
                    f"constraints of {name} must be constraints for classifiers, such as "
                    f"DemographicParity(); got {type(mitigator.constraints).__name__}."
                )
            if isinstance(mitigator.estimator, FrozenEstimator):
                raise ValueError(
                    f"{name} fits its estimator many times, which a FrozenEstimator does not "
                    "allow; pass an estimator to be fitted, or use ThresholdOptimizer."
                )
            if mitigator.sample_weight_name == "sample_weight":
                mitigator.set_params(sample_weight_name=weight_name(mitigator.estimator))
        return mitigator

    def _parts(self, X: Any, *, reset: bool = False) -> tuple[Any, list[Any]]:
        """Return the features and the sensitive columns, without which reductions can predict."""
        names = _names_of(X)
        if not reset and names and names == self._features and self.drop and self._is_reduction:
            return X, []
        columns = _check_columns(self.groups)
        X = _checked(self, X, columns, reset)
        return _without(X, columns) if self.drop else X, select(X, columns)


def _check_frozen(mitigator: Any, n_features: int, classes: NDArray[Any]) -> None:
    estimator = mitigator.estimator
    if not isinstance(estimator, FrozenEstimator):
        if mitigator.prefit:
            raise ValueError(
                "prefit=True of ThresholdOptimizer needs a fitted estimator, but "
                "scikit-learn's searches and pipelines replace estimators by unfitted clones. "
                "Wrap the fitted model: ThresholdOptimizer(estimator="
                "sklearn.frozen.FrozenEstimator(model), prefit=True)."
            )
        return
    n_expected = getattr(estimator, "n_features_in_", n_features)
    if n_expected != n_features:
        raise ValueError(
            f"the frozen estimator of ThresholdOptimizer was fitted to {n_expected} features, "
            f"but gets {n_features}; drop=False passes the sensitive columns to it, drop=True "
            "does not."
        )
    known = np.asarray(getattr(estimator, "classes_", classes))
    if not np.array_equal(known, classes):
        raise ValueError(
            f"y has the classes {classes.tolist()}, and the frozen estimator of "
            f"ThresholdOptimizer was fitted on {known.tolist()}; pass labels of these classes."
        )
    if mitigator.predict_method == "predict" and known.dtype.kind not in "biuf":
        raise ValueError(
            "predict_method='predict' of ThresholdOptimizer takes the labels of its frozen "
            f"estimator as scores, but these are {known.tolist()}; use "
            "predict_method='predict_proba', or fit the model to labels 0 and 1."
        )


def _classes_of(y: Any, owner: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the two sorted classes, and the rows' labels as codes 0 and 1."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    with _input.named("y"):
        y = column_or_1d(_input.from_array_api(y), warn=True)
    classes, codes = _labels.class_labels(y)
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{classes.size} classes, {_words.listed(classes.tolist(), most=4)}. Pass y == label "
            "for one class versus rest."
        )
    if classes.size < 2:
        raise ValueError(
            f"y has only one class, {_words.shortened(classes.tolist()[0])}; "
            f"{owner} needs rows of two classes."
        )
    return classes, codes.astype(np.int64)


def _check_columns(groups: Any) -> Columns:
    several = isinstance(groups, list | tuple)
    columns = list(groups) if several else [groups]
    are_positions = all(
        isinstance(c, int | np.integer) and not isinstance(c, bool) and c >= 0 for c in columns
    )
    if not columns or not (_rows.is_column_names(columns) or are_positions):
        raise TypeError(
            "groups must be the name of a column of X or a list of names; if X is an array, "
            "it must be a position from 0 or a list of positions; got "
            f"{_words.shortened(groups)}."
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"groups must name different columns; got {_words.shortened(groups)}.")
    return columns


def _checked(estimator: Any, X: Any, columns: Columns, reset: bool) -> Any:
    """Check the columns of X, and return X as a DataFrame of its library or as an array.

    With `reset`, the estimator stores the names and the column count.
    """
    X = _input.from_array_api(_input.unwrapped(X))
    checks: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}
    known: list[Any] = _names_of(X)  # refuses repeated names
    if _is_frame(X):
        checks = {"skip_check_array": True}
    with _input.named("X"):
        X = validate_data(estimator, X, reset=reset, **checks)
    if not _is_frame(X):
        known = list(range(X.shape[1]))
    if set(columns) <= set(known):
        return X
    message = (
        f"groups requires {_words.all_shortened(columns)} among the columns of X, which has "
        f"{len(known)} feature(s): {_words.listed(known)}."
    )
    if _rows.is_column_names(columns) and not _is_frame(X):
        raise TypeError(
            f"{message} X arrived as {type(X).__name__} without named columns: pass a DataFrame. "
            "If earlier steps of a pipeline return arrays, make them return DataFrames: "
            "pipeline.set_output(transform='pandas')."
        )
    raise ValueError(message)


def _is_frame(X: Any) -> bool:
    return nw.dependencies.is_into_dataframe(X)


def _names_of(X: Any) -> list[str]:
    """Return the names of the columns of X; an empty list for an array."""
    try:
        return list(nw.from_native(X, eager_only=True).columns) if _is_frame(X) else []
    except DuplicateError as error:
        repeated = " ".join(str(error).split()).partition("- ")[2]
        raise ValueError(f"X has several columns of one name, {repeated}; rename them.") from error


def select(X: Any, columns: Columns) -> list[Any]:
    return [X[column] if _is_frame(X) else X[:, column] for column in columns]


def _without(X: Any, columns: Columns) -> Any:
    if len(columns) == X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} feature(s), all of them in groups, so that no feature is left "
            "to learn from; add features, or pass drop=False."
        )
    if _is_frame(X):
        return nw.to_native(nw.from_native(X, eager_only=True).drop(columns))
    return np.delete(X, columns, axis=1)


def _labels_of(columns: Sequence[Any]) -> NDArray[Any]:
    """Return labels of shape (n_rows,), or (n_rows, n_columns) with several columns."""
    labels = []
    for column in columns:
        codes, known = _group_codes.encode_groups(column, "groups")[:2]
        # Fairlearn compares labels, which fails for dates.
        labels.append((known.astype(str) if known.dtype.kind == "M" else known)[codes])
    if len(labels) == 1:
        return labels[0]
    return np.column_stack([column.astype(object) for column in labels])
