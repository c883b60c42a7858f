"""Strategies: a common interface to fairlearn's mitigators.

A strategy copies an unfitted mitigator and fits the copy to the features, the classes and the
sensitive columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from skfedauc._sklearn import weight_name
from skfedauc._words import shortened
from skfedauc.mitigation.sensitive import (
    CenteredNumbers,
    KnownGroups,
    Target,
    labels_of,
    like,
)


class Strategy(ABC):
    """Base class of strategies, each of which fits one kind of mitigator and predicts labels.

    Strategies with scores also have ``predict_proba`` or ``decision_function``.

    Attributes
    ----------
    is_random : bool
        Whether predictions are random.
    reads_groups : bool
        Whether predictions need the sensitive columns.
    takes_fit_params : bool
        Whether the classifier gets weights and other metadata of fit.
    """

    is_random = False
    takes_fit_params = True
    reads_groups = False

    def __init__(self, mitigator: Any) -> None:
        self.mitigator = fresh(mitigator)

    @abstractmethod
    def fit(
        self, X: Any, target: Target, sensitive: Sequence[Any], fit_params: Mapping[str, Any]
    ) -> None:
        """Fit the copy of the mitigator."""

    @abstractmethod
    def predict(self, X: Any, sensitive: Sequence[Any], random_state: Any) -> NDArray[Any]:
        """Return the predicted labels."""


class GridReduction(Strategy):
    """Strategy for ``GridSearch``: the best of many classifiers with different row weights."""

    takes_fit_params = False
    _least_groups = 2

    def fit(
        self, X: Any, target: Target, sensitive: Sequence[Any], fit_params: Mapping[str, Any]
    ) -> None:
        """Fit the classifiers with the weights that the reduction computes."""
        from fairlearn.reductions import ClassificationMoment

        name = type(self.mitigator).__name__
        if not isinstance(self.mitigator.constraints, ClassificationMoment):
            raise ValueError(
                f"constraints of {name} must be constraints for classifiers, such as "
                f"DemographicParity(); got {type(self.mitigator.constraints).__name__}."
            )
        if isinstance(self.mitigator.estimator, FrozenEstimator):
            raise ValueError(
                f"{name} fits its estimator many times, which a FrozenEstimator does not "
                "allow; pass an estimator to be fitted, or use ThresholdOptimizer."
            )
        if self.mitigator.sample_weight_name == "sample_weight":
            self.mitigator.set_params(sample_weight_name=weight_name(self.mitigator.estimator))
        self._classes = target.classes
        labels = labels_of(sensitive)
        if KnownGroups(labels).size < self._least_groups:
            raise ValueError(
                f"{name} needs two groups or more, but groups has a single label, "
                f"{shortened(labels[:1].tolist()[0])}; in a search, stratify the folds by group."
            )
        self.mitigator.fit(X, target.codes, sensitive_features=labels)

    def predict(self, X: Any, sensitive: Sequence[Any], random_state: Any) -> NDArray[Any]:
        """Return the labels that the best classifier predicts."""
        return self._labels(self.mitigator.predict(X))

    def predict_proba(self, X: Any, sensitive: Sequence[Any]) -> NDArray[np.float64]:
        """Return the weighted mean of the classifiers' probabilities."""
        positive = np.zeros(np.shape(X)[0])
        for weight, classifier in self._mixture():
            # A classifier with a single class in fit has a probability column for this class only.
            if 1 in classifier.classes_:
                place = list(classifier.classes_).index(1)
                positive += weight * np.asarray(classifier.predict_proba(X))[:, place]
        positive = np.clip(positive, 0.0, 1.0)  # The sum of the weights is 1 except for rounding.
        return np.column_stack([1.0 - positive, positive])

    def _mixture(self) -> list[tuple[float, Any]]:
        """Return the classifiers that predict, with weights."""
        return [(1.0, self.mitigator.predictors_[self.mitigator.best_idx_])]

    def _labels(self, codes: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self._classes[np.asarray(codes, np.intp)]
        return labels


class MixtureReduction(GridReduction):
    """Strategy for ``ExponentiatedGradient``: a randomly drawn classifier for each row."""

    is_random = True
    _least_groups = 1

    def predict(self, X: Any, sensitive: Sequence[Any], random_state: Any) -> NDArray[Any]:
        """Return the labels that a randomly drawn classifier predicts for each row."""
        return self._labels(self.mitigator.predict(X, random_state=random_state))

    def _mixture(self) -> list[tuple[float, Any]]:
        weights = self.mitigator.weights_
        return [(weights[i], self.mitigator.predictors_[i]) for i in weights.index[weights > 0]]


class Thresholds(Strategy):
    """Strategy for ``ThresholdOptimizer``: per group, one threshold or two with a random choice."""

    is_random = True
    reads_groups = True

    def fit(
        self, X: Any, target: Target, sensitive: Sequence[Any], fit_params: Mapping[str, Any]
    ) -> None:
        """Fit the classifier, and then fit the thresholds to the scores of the classifier."""
        self._check_estimator(X.shape[1], target.classes)
        self._classes = target.classes
        labels = labels_of(sensitive)
        self._known = KnownGroups(labels)
        self.mitigator.fit(X, target.codes, sensitive_features=labels, **fit_params)

    def predict(self, X: Any, sensitive: Sequence[Any], random_state: Any) -> NDArray[Any]:
        """Return the labels at the threshold of each row's group."""
        labels = labels_of(sensitive)
        # fairlearn predicts the negative class for rows of groups that fit did not have.
        self._known.check(labels, "threshold")
        codes = self.mitigator.predict(X, sensitive_features=labels, random_state=random_state)
        decisions: NDArray[Any] = self._classes[codes]
        return decisions

    def _check_estimator(self, n_features: int, classes: NDArray[Any]) -> None:
        estimator, method = self.mitigator.estimator, self.mitigator.predict_method
        if not isinstance(estimator, FrozenEstimator):
            if self.mitigator.prefit:
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
        if method == "predict" and known.dtype.kind not in "biuf":
            raise ValueError(
                "predict_method='predict' of ThresholdOptimizer takes the labels of its frozen "
                f"estimator as scores, but these are {known.tolist()}; use "
                "predict_method='predict_proba', or fit the model to labels 0 and 1."
            )


class CorrelationRemoval(Strategy):
    """Strategy for ``CorrelationRemover``, with a classifier of the remover's output."""

    reads_groups = True

    def __init__(self, mitigator: Any, estimator: Any) -> None:
        super().__init__(mitigator)
        self.estimator = clone(estimator)

    def fit(
        self, X: Any, target: Target, sensitive: Sequence[Any], fit_params: Mapping[str, Any]
    ) -> None:
        """Fit the remover, and then fit the classifier to the output of the remover."""
        self._numbers = CenteredNumbers(sensitive)
        n_sensitive = self._numbers.of(sensitive).shape[1]
        self.mitigator.set_params(sensitive_feature_ids=list(range(n_sensitive)))
        if hasattr(self.mitigator, "set_output"):  # Fairlearn 0.15 added this method.
            # Return arrays: with transform_output="pandas", the output has other column names.
            self.mitigator.set_output(transform="default")
        self.mitigator.fit(self._table(X, sensitive))
        self.estimator.fit(self._features(X, sensitive), target.classes[target.codes], **fit_params)

    def predict(self, X: Any, sensitive: Sequence[Any], random_state: Any) -> NDArray[Any]:
        """Return the labels that the classifier predicts."""
        return np.asarray(self.estimator.predict(self._features(X, sensitive)))

    def predict_proba(self, X: Any, sensitive: Sequence[Any]) -> NDArray[np.float64]:
        """Return the probabilities of the classifier."""
        return np.asarray(self.estimator.predict_proba(self._features(X, sensitive)))

    def decision_function(self, X: Any, sensitive: Sequence[Any]) -> NDArray[np.float64]:
        """Return the scores of the classifier."""
        return np.asarray(self.estimator.decision_function(self._features(X, sensitive)))

    def _features(self, X: Any, sensitive: Sequence[Any]) -> Any:
        """Return the output of the remover as a DataFrame or an array, like X."""
        return like(X, self.mitigator.transform(self._table(X, sensitive)))

    def _table(self, X: Any, sensitive: Sequence[Any]) -> NDArray[np.float64]:
        """Return the centered sensitive numbers, followed by the features.

        Centering is necessary because fairlearn 0.13 subtracts the mean of all sensitive columns
        from each column, instead of the mean of the column.
        """
        return np.hstack([self._numbers.of(sensitive), np.asarray(X, np.float64)])


def strategy_of(mitigator: Any) -> type[Strategy] | None:
    """Return the strategy class for a mitigator, or None for other objects."""
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.preprocessing import CorrelationRemover
    from fairlearn.reductions import ExponentiatedGradient, GridSearch

    strategies: dict[type, type[Strategy]] = {
        ExponentiatedGradient: MixtureReduction,
        GridSearch: GridReduction,
        ThresholdOptimizer: Thresholds,
        CorrelationRemover: CorrelationRemoval,
    }
    return next((s for kind, s in strategies.items() if isinstance(mitigator, kind)), None)


def fresh(mitigator: Any) -> Any:
    """Return an unfitted copy from the constructor.

    ``clone`` rejects a mitigator if the user has set parameters to integers after construction.
    ``constraint_weight`` of ``GridSearch`` has an effect only in the constructor.
    """
    params = mitigator.get_params(deep=False)
    return type(mitigator)(**{name: clone(value, safe=False) for name, value in params.items()})
