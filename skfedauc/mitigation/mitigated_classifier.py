"""`MitigatedClassifier`: a classifier with a fairlearn mitigator, for scikit-learn searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input, _words
from skfedauc._sklearn import (
    is_routing_enabled,
    number_of_rows,
    refuse_unrouted,
    weight_name,
)
from skfedauc.mitigation import sensitive, strategies
from skfedauc.mitigation.sensitive import target_of


def _gives(method: str) -> Callable[[MitigatedClassifier], bool]:
    """Return a check that the mitigator has scores, and the classifier has this method."""

    def check(self: MitigatedClassifier) -> bool:
        strategy = strategies.strategy_of(self.mitigator)
        return hasattr(strategy, method) and hasattr(self._classifier, method)

    return check


class MitigatedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Binary classifier with a fairlearn mitigator, for pipelines and searches.

    Fairlearn's mitigators take sensitive features as an argument, which scikit-learn's pipelines,
    searches and scorers do not pass. `MitigatedClassifier` reads them from columns of X.

    Parameters
    ----------
    mitigator : ExponentiatedGradient, GridSearch, ThresholdOptimizer or CorrelationRemover
        The unfitted fairlearn mitigator; `fit` fits a copy. A search names its parameters
        ``mitigator__eps``, ``mitigator__estimator__C``.
    groups : str, int, or list or tuple of str or of int
        Names (for an array: positions) of the columns of X with the sensitive features; each
        combination of their labels is a group. `CorrelationRemover` also takes numbers.
    estimator : classifier, default=None
        Classifier to fit to the output of `CorrelationRemover`; the other mitigators have one
        inside.
    drop : bool, default=True
        Whether to drop the sensitive columns from the features of the classifier.
        `CorrelationRemover` always drops these columns.
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
    estimator_ : classifier
        The fitted `estimator`, only for `CorrelationRemover`.
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
    `CorrelationRemover`     fit, predict     scores of `estimator`           passed to
                                                                              `estimator` (2)
    =======================  ===============  ==============================  =================

    (1) Reductions compute weights of the rows [1]_.

    (2) Thresholds and correlations are computed from unweighted rows. Without metadata routing, the
    last step of a pipeline gets the weights, also those that a reduction computes; with it, the
    classifier must request them by ``set_fit_request(sample_weight=True)``.

    The scores of `ExponentiatedGradient` are a weighted mean of its classifiers' probabilities, so
    their AUC describes this mean and not the random decisions. To score the decisions of
    `ThresholdOptimizer`, make a group scorer with ``response_method="predict"``. Pass a fitted
    model as ``ThresholdOptimizer(estimator=FrozenEstimator(model))``, with ``drop=False`` if its
    features include the sensitive columns. Reductions predict without the sensitive columns if
    `drop` is true and X has the other columns in the order of fit.

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
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import MitigatedClassifier, group_auc_scoring
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=60), "sex": ["f", "m", "m"] * 20})
    >>> y = X["dose"] + (X["sex"] == "m") + rng.normal(size=60) > 0.5
    >>> fair = MitigatedClassifier(
    ...     ExponentiatedGradient(LogisticRegression(), DemographicParity(), max_iter=3),
    ...     groups="sex",
    ...     random_state=0,
    ... )
    >>> search = GridSearchCV(
    ...     fair,
    ...     {"mitigator__eps": [0.01, 0.1]},
    ...     scoring=group_auc_scoring(["pooled", "neg_difference"], groups="sex"),
    ...     cv=2,
    ...     refit="pooled",
    ...     error_score="raise",
    ... ).fit(X, y)
    >>> search.predict_proba(X).shape
    (60, 2)
    """

    def __init__(
        self,
        mitigator: Any,
        *,
        groups: str | int | Sequence[str] | Sequence[int],
        estimator: Any = None,
        drop: bool = True,
        random_state: Any = None,
    ) -> None:
        self.mitigator = mitigator
        self.groups = groups
        self.estimator = estimator
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
            two classes. If `mitigator`, `estimator`, `drop` and `sample_weight` are not compatible.
        """
        strategy = self._new_strategy()
        _input.check_random_state(self.random_state)
        columns = sensitive.check_columns(self.groups)
        X = sensitive.checked(self, X, reset=True)
        sample_weight = _input.from_array_api(sample_weight)
        groups = sensitive.select(X, columns)
        self._other_columns = [name for name in sensitive.names_of(X) if name not in columns]
        features = sensitive.without(X, columns) if self.drop else X
        target = target_of(y, self)
        n_rows = number_of_rows(X)
        _input.check_length("y", target.codes.size, "X", n_rows)
        if sample_weight is not None:
            n_weights = number_of_rows(sample_weight, "sample_weight")
            _input.check_length("sample_weight", n_weights, "X", n_rows)
        strategy.fit(features, target, groups, self._fit_params(sample_weight, params))
        # The type is Any, because only some strategies have scores. `_gives` checks for scores.
        self._strategy: Any = strategy
        self.classes_ = target.classes
        self.mitigator_ = strategy.mitigator
        if isinstance(strategy, strategies.CorrelationRemoval):
            self.estimator_ = strategy.estimator
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
        labels: NDArray[Any] = self._strategy.predict(*self._parts(X), self.random_state)
        return labels

    @available_if(_gives("predict_proba"))  # type: ignore[untyped-decorator]
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
        probabilities: NDArray[np.float64] = self._strategy.predict_proba(*self._parts(X))
        return probabilities

    @available_if(_gives("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of both classes.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features and sensitive columns, as in fit.

        Returns
        -------
        ndarray, shape (n_rows, 2)
            Logarithms in the order of ``classes_``, -inf for the probability 0.

        Raises
        ------
        ValueError, TypeError
            If X is not valid for `predict`.
        """
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    @available_if(_gives("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of ``classes_[1]``, only for `CorrelationRemover`.

        Parameters
        ----------
        X : DataFrame or array, shape (n_rows, n_columns)
            Features and sensitive columns, as in fit.

        Returns
        -------
        ndarray, shape (n_rows,)
            Scores, which are higher for ``classes_[1]``.

        Raises
        ------
        ValueError, TypeError
            If X is not valid for `predict`.
        """
        check_is_fitted(self)
        scores: NDArray[np.float64] = self._strategy.decision_function(*self._parts(X))
        return scores

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
        strategy = strategies.strategy_of(self.mitigator)
        if strategy is not None and strategy.takes_fit_params and hasattr(self._classifier, "fit"):
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(estimator=self._classifier, method_mapping=mapping)
        return router

    def _fit_params(self, sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the classifier's fit."""
        refuse_unrouted(params, self, "fit")
        given = {**params, "sample_weight": sample_weight}
        given = {name: value for name, value in given.items() if value is not None}
        strategy = strategies.strategy_of(self.mitigator)
        if strategy is not None and not strategy.takes_fit_params and given:
            raise ValueError(
                f"{type(self.mitigator).__name__} sets the weights of the rows itself, so it "
                f"takes no {', '.join(given)}; do not pass it."
            )
        if is_routing_enabled():
            routed = process_routing(self, "fit", **given)
            return dict(routed.estimator.fit) if given else {}
        name = weight_name(self._classifier)
        return {name: given["sample_weight"]} if given else {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        strategy = strategies.strategy_of(self.mitigator)
        tags.non_deterministic = strategy is not None and strategy.is_random
        if strategy is not strategies.CorrelationRemoval and hasattr(self._classifier, "fit"):
            tags.input_tags.allow_nan = get_tags(self._classifier).input_tags.allow_nan
        return tags

    @property
    def _classifier(self) -> Any:
        """Classifier inside the mitigator, or `estimator` for other mitigators."""
        return getattr(self.mitigator, "estimator", self.estimator)

    def _new_strategy(self) -> strategies.Strategy:
        strategy = strategies.strategy_of(self.mitigator)
        if strategy is None:
            raise TypeError(
                "mitigator must be an ExponentiatedGradient, GridSearch, ThresholdOptimizer or "
                f"CorrelationRemover of fairlearn; got {_words.shortened(self.mitigator)}."
            )
        if not isinstance(self.drop, bool):
            raise TypeError(f"drop must be True or False; got {_words.shortened(self.drop)}.")
        name = type(self.mitigator).__name__
        if strategy is not strategies.CorrelationRemoval:
            if self.estimator is not None:
                raise ValueError(
                    f"estimator is for CorrelationRemover only; {name} has its own estimator: pass "
                    f"mitigator={name}(estimator=...)."
                )
            return strategy(self.mitigator)
        if self.estimator is None:
            raise ValueError(
                f"{name} transforms features and does not classify: pass a classifier for its "
                "output, estimator=LogisticRegression()."
            )
        if not self.drop:
            raise ValueError(
                f"{name} always leaves the sensitive columns out, so drop=False is not possible; "
                "omit drop."
            )
        named = list(self.mitigator.sensitive_feature_ids)
        if named and named != sensitive.check_columns(self.groups):
            raise ValueError(
                f"sensitive_feature_ids={_words.shortened(named)} of {name} differ from "
                f"groups={_words.shortened(self.groups)}; pass "
                "CorrelationRemover(sensitive_feature_ids=[])."
            )
        return strategies.CorrelationRemoval(self.mitigator, self.estimator)

    def _parts(self, X: Any) -> tuple[Any, list[Any]]:
        """Return the features, and the sensitive columns for mitigators that need these columns."""
        needed = self._strategy.reads_groups
        names = sensitive.names_of(X)
        if names and names == self._other_columns and self.drop and not needed:
            return X, []
        columns = sensitive.check_columns(self.groups)
        X = sensitive.checked(self, X, reset=False)
        features = sensitive.without(X, columns) if self.drop else X
        return features, sensitive.select(X, columns) if needed else []
