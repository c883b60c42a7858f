"""Upper bounds of the error rates of classifiers that learn from few rows.

The bounds hold for any number of rows and any classifier, without asymptotic approximations.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import Pipeline

from skfedauc import _input, _labels, _sklearn, _words
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.inference.proportions import upper_limit

__all__ = ["error_rate_bound", "fit_with_error_bound"]

Resampling: TypeAlias = Literal["train_test", "bagging", "cross_validation"]


def error_rate_bound(
    n_errors: ArrayLike,
    n_rows: ArrayLike,
    *,
    n_disagreements: int | None = None,
    n_unlabeled: int | None = None,
    confidence_level: float = 0.95,
) -> float:
    """Compute an upper bound for a classifier's error rate from its error count.

    Parameters
    ----------
    n_errors, n_rows : int or array-like, shape (n_members,)
        Number of errors and number of test rows. Pass several numbers for a random classifier: one
        number per member, each from the test rows of this member.
    n_disagreements, n_unlabeled : int, default=None
        Number of rows without labels on which the classifier and a random member disagree, and
        number of all rows without labels. Draw the random member anew for each row. None bounds the
        error rate of the random classifier.
    confidence_level : float, default=0.95
        Probability that the bound is at least the true error rate.

    Returns
    -------
    float
        Upper bound for the error rate; at most 1.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    fit_with_error_bound : Fit a classifier and count the errors.

    Notes
    -----
    ``B(k, m, d)`` is the largest error rate at which k or fewer errors in m rows have a binomial
    probability of at least d. With ``d = 1 - confidence_level`` and K members, the bounds are

    - of one classifier, the test set bound ``B(k, m, d)`` [1]_;
    - of the random classifier: the mean over members of ``B(k_i, m_i, d / K)`` [2]_. The random
      classifier draws a member for each row, with equal probabilities;
    - of another classifier: the mean over members of ``B(k_i, m_i, d / (2 K))``, plus
      ``B(n_disagreements, n_unlabeled, d / 2)`` [2]_. If the classifier errs on a row, the random
      classifier errs as well, or the two classifiers disagree.

    Assumptions: the rows, with and without labels, are independent draws from one distribution. No
    member depends on its own test rows, and no classifier on the rows without labels. The numbers
    of members and rows were chosen before errors were counted.

    For groups of rows that one classifier predicts, the bound of the summed errors and rows holds
    for the average of their error rates weighted by rows [3]_, and is tighter than a mean of bounds
    by group.

    References
    ----------
    .. [1] Langford, J. (2005). Tutorial on practical prediction theory for classification. Journal
       of Machine Learning Research 6. https://www.jmlr.org/papers/v6/langford05a.html
    .. [2] Kaariainen, M. and Langford, J. (2005). A comparison of tight generalization error
       bounds. ICML 22. https://doi.org/10.1145/1102351.1102403
    .. [3] Hoeffding, W. (1956). On the distribution of the number of successes in independent
       trials. Annals of Mathematical Statistics 27(3). https://doi.org/10.1214/aoms/1177728178

    Examples
    --------
    >>> from skfedauc.error_bounds import error_rate_bound
    >>> round(error_rate_bound(13, 78, confidence_level=0.99), 4)
    0.2875
    """
    tail = 1.0 - check_confidence_level(confidence_level)
    errors, rows = _counts(n_errors, n_rows, "n_errors", "n_rows")
    if (n_disagreements is None) != (n_unlabeled is None):
        raise ValueError("pass both n_disagreements and n_unlabeled, or neither.")
    if n_disagreements is None:
        return float(upper_limit(errors, rows, tail / errors.size).mean())
    differ, unlabeled = _counts(n_disagreements, n_unlabeled, "n_disagreements", "n_unlabeled")
    if differ.size > 1:
        raise ValueError(f"n_disagreements must be one number; got {differ.size}.")
    bound = float(upper_limit(errors, rows, tail / (2 * errors.size)).mean())
    return min(bound + float(upper_limit(differ, unlabeled, tail / 2)[0]), 1.0)


def _counts(
    events: Any, trials: Any, name: str, name_of_trials: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = []
    for values, argument in ((events, name), (trials, name_of_trials)):
        with _input.named(argument):
            found = np.atleast_1d(values)
        if found.dtype.kind == "f" and not (found == np.floor(found)).all():
            raise ValueError(
                f"{argument} must hold whole numbers; got {_words.shortened(values)}. The bound "
                "counts rows, and does not hold for sums of weights."
            )
        counts.append(_input.check_counts(found, argument))
    n_events, n_trials = counts
    has_pairs = n_events.size == n_trials.size > 0
    if not has_pairs or not n_trials.all() or (n_events > n_trials).any():
        raise ValueError(
            f"{name} and {name_of_trials} must have one number for each member, {name_of_trials} "
            f"of 1 or more, and {name} of at most {name_of_trials}; got "
            f"{_words.shortened(events)} of {_words.shortened(trials)}."
        )
    return n_events, n_trials


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class BoundedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fitted classifier with an upper bound of its error rate, from `fit_with_error_bound`.

    The bound belongs to this fit, so `fit` and `sklearn.base.clone` change nothing, as for
    `sklearn.frozen.FrozenEstimator`.

    Attributes
    ----------
    error_bound : float
        Upper bound of the error rate of `predict`.
    confidence_level : float
        Probability that the bound is at least the true error rate.
    members : list of estimators
        Classifiers with test rows outside their training rows.
    classifier : estimator or None
        Classifier fitted to all rows with labels; None without `X_unlabeled`.
    tests : pandas.DataFrame
        Number of errors and test rows of each member (`n_errors`, `n_rows`).
    n_disagreements, n_unlabeled : int or None
        Rows without labels on which `classifier` and a random member disagree, and all rows
        without labels.
    classes_ : ndarray, shape (n_classes,)
        Sorted class labels.
    random_state : int
        Seed of the random members in `predict`, drawn by `fit_with_error_bound`.
    """

    error_bound: float
    confidence_level: float
    members: list[Any]
    classifier: Any
    tests: pd.DataFrame
    n_disagreements: int | None
    n_unlabeled: int | None
    classes_: NDArray[Any]
    random_state: int

    def fit(self, X: Any, y: Any = None) -> BoundedClassifier:
        """Return the classifier without a change.

        Parameters
        ----------
        X : object
            Ignored.
        y : object, default=None
            Ignored.

        Returns
        -------
        BoundedClassifier
            The classifier itself.
        """
        return self

    def predict(self, X: Any, random_state: Any = None) -> NDArray[Any]:
        """Predict the classes of rows.

        Parameters
        ----------
        X : array-like, shape (n_rows, n_features)
        random_state : int, RandomState instance or None, default=None
            Source of the random members; without effect if there is a `classifier`. None uses the
            classifier's own seed. To predict rows one at a time, pass one RandomState instance to
            all calls: with a seed, one member would predict all rows, and the bound is not that of
            one member.

        Returns
        -------
        ndarray, shape (n_rows,)
            Predictions of `classifier`; without `classifier`, each row has the prediction of a
            random member.
        """
        X = _input.from_array_api(X)
        if self.classifier is not None:
            return np.asarray(self.classifier.predict(X))
        seed = self.random_state if random_state is None else random_state
        return _random_predictions(self.members, X, seed)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> BoundedClassifier:
        return self

    def __repr__(self) -> str:
        errors, rows = int(self.tests["n_errors"].sum()), int(self.tests["n_rows"].sum())
        of_rows = "" if self.n_unlabeled is None else f", {self.n_unlabeled:,} rows without labels"
        return (
            f"BoundedClassifier(error_bound={self.error_bound:.4f}, "
            f"confidence_level={self.confidence_level:g}): {errors:,} errors in "
            f"{_words.counted(rows, 'test row')} of {_words.counted(len(self.members), 'member')}"
            f"{of_rows}"
        )


def fit_with_error_bound(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    resampling: Resampling = "train_test",
    X_unlabeled: Any = None,
    n_members: int = 10,
    test_size: float = 0.5,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> BoundedClassifier:
    """Fit a classifier, and bound its error rate from the same rows.

    Parameters
    ----------
    estimator : estimator object
        A classifier that `fit` changes. The function fits clones. A fitted part, such as a
        transformer in a ``FrozenEstimator``, must not depend on the rows of X.
    X : array-like, shape (n_rows, n_features)
        The estimator's input.
    y : array-like, shape (n_rows,)
        Labels with any number of classes.
    resampling : {"train_test", "bagging", "cross_validation"}, default="train_test"
        Training rows and test rows of the members: one random split ("train_test"), bootstrap
        samples ("bagging"), or folds. The rows outside a bootstrap sample are its test rows.
    X_unlabeled : array-like, shape (n_unlabeled, n_features), default=None
        Rows without labels. With `X_unlabeled`, the bound holds for a classifier fitted to all rows
        with labels. Without `X_unlabeled`, the bound holds for the random classifier, which
        predicts each row by a random member.
    n_members : int, default=10
        Number of bootstrap samples or folds; without effect on "train_test".
    test_size : float, default=0.5
        Share of test rows with "train_test".
    confidence_level : float, default=0.95
        Probability that the bound is at least the true error rate.
    random_state : int, RandomState instance or None, default=None
        Source of the splits, of the random members and of the seed of `predict`.

    Returns
    -------
    BoundedClassifier
        The classifier, its bound and the error counts.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the estimator is not a classifier, or clones of the
        classifier are not fitted again, as of a ``FrozenEstimator``.

    See Also
    --------
    error_rate_bound : The bound from counts, with its assumptions.

    Notes
    -----
    Half of the rows as test rows, the default, give the tightest bound, because members divide its
    error probability. For ``GaussianNB()`` with 200 rows and a true error rate of 23 %, a test half
    bounds the error rate at 31 % on average, 10 bootstrap samples at 38 % and 10 folds at 54 %. The
    price is a classifier that learns from half of the rows. Choose the design before you count
    errors: the smallest of several bounds is no bound.

    The splits have no strata, so the estimator must be able to learn without one of the classes.
    The bound does not hold for dependent rows, such as several of one person.

    References
    ----------
    .. [1] Kaariainen, M. and Langford, J. (2005). A comparison of tight generalization error
       bounds. ICML 22. https://doi.org/10.1145/1102351.1102403

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skfedauc.error_bounds import fit_with_error_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = fit_with_error_bound(
    ...     GaussianNB(), X[:300], y[:300], X_unlabeled=X[300:], random_state=0
    ... )
    >>> int(found.tests["n_rows"].sum()), 0 < found.error_bound < 1
    (150, True)
    """
    confidence_level = check_confidence_level(confidence_level)
    _check_classifier(estimator)
    classes, codes = _labels.class_labels(y)
    labels, rng = classes[codes], _input.check_random_state(random_state)
    X, X_unlabeled = _input.from_array_api(X), _input.from_array_api(X_unlabeled)
    _input.check_length("y", labels.size, "X", _sklearn.number_of_rows(X))
    if X_unlabeled is not None and _sklearn.number_of_rows(X_unlabeled, "X_unlabeled") == 0:
        raise ValueError(
            "X_unlabeled has no rows; pass one or more rows without labels, or None for the bound "
            "of the random classifier."
        )
    splits = _splits(resampling, labels.size, n_members, test_size, rng)
    members, counts = [], []
    for train, test in splits:
        member = clone(estimator).fit(_sklearn.rows_of(X, train), labels[train])
        predicted = np.asarray(member.predict(_sklearn.rows_of(X, test)))
        members.append(member)
        counts.append((int((predicted != labels[test]).sum()), test.size))
    tests = pd.DataFrame(counts, columns=["n_errors", "n_rows"])
    classifier = n_disagreements = n_unlabeled = None
    if X_unlabeled is not None:
        classifier = clone(estimator).fit(X, labels)
        predicted = np.asarray(classifier.predict(X_unlabeled))
        others = _random_predictions(members, X_unlabeled, rng)
        n_disagreements, n_unlabeled = int((predicted != others).sum()), int(predicted.size)
    known: dict[str, Any] = {"n_disagreements": n_disagreements, "n_unlabeled": n_unlabeled}
    known |= {"confidence_level": confidence_level}
    bound = error_rate_bound(tests["n_errors"].to_numpy(), tests["n_rows"].to_numpy(), **known)
    return BoundedClassifier(
        **known,
        error_bound=bound,
        members=members,
        classifier=classifier,
        tests=tests,
        classes_=classes,
        random_state=int(rng.randint(2**31 - 1)),
    )


def _check_classifier(estimator: Any) -> None:
    """Raise an error for regressors, whose predictions equal no label, and for other objects."""
    is_estimator = not isinstance(estimator, type) and hasattr(estimator, "predict")
    has_tags = hasattr(estimator, "__sklearn_tags__")
    if not is_estimator or (has_tags and not is_classifier(estimator)):
        raise TypeError(
            "estimator must be a classifier, such as GaussianNB(); got "
            f"{_words.described(estimator)}."
        )
    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    # The test rows of a member that is not fitted again can be its training rows.
    if hasattr(last, "__sklearn_clone__") and clone(last) is last:
        raise ValueError(
            "estimator must be a classifier that can be fitted again; clones of "
            f"{type(last).__name__} keep their fit, and test rows can be among the rows of this "
            "fit. Pass the unfitted classifier. To bound the error rate of a fitted classifier, "
            "count its errors on other rows, and pass the numbers to error_rate_bound."
        )


def _splits(
    resampling: Resampling, n_rows: int, n_members: int, test_size: float, rng: Any
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the numbers of the training rows and the test rows of each member."""
    _input.check_option("resampling", resampling, get_args(Resampling))
    least = 1 if resampling == "bagging" else 2
    n_members = _input.check_whole_number(n_members, "n_members", least)
    test_size = _input.check_share(test_size, "test_size")
    if resampling != "bagging":
        split: Any = ShuffleSplit(1, test_size=test_size, random_state=rng)
        if resampling == "cross_validation":
            split = KFold(n_members, shuffle=True, random_state=rng)
        return list(split.split(np.zeros(n_rows)))
    found = []
    for _ in range(n_members):
        train = rng.randint(n_rows, size=n_rows)
        test = np.setdiff1d(np.arange(n_rows), train)
        if test.size == 0:
            raise ValueError(
                f"a bootstrap sample holds all {n_rows} rows, so no test row remains; pass more "
                "rows, or resampling='cross_validation'."
            )
        found.append((train, test))
    return found


def _random_predictions(members: list[Any], X: Any, random_state: Any) -> NDArray[Any]:
    """Return the prediction of a random member for each row."""
    predictions = np.stack([np.asarray(member.predict(X)) for member in members])
    rng = _input.check_random_state(random_state)
    drawn = rng.randint(len(members), size=predictions.shape[1])
    return np.asarray(predictions[drawn, np.arange(drawn.size)])
