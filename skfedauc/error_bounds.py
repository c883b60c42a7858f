"""Upper bounds of the error rates of classifiers that learn from few rows.

The bounds hold for any number of rows and any classifier, without asymptotic approximations.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _sklearn, _words
from skfedauc.inference.binomial import upper_limit
from skfedauc.inference.intervals import check_confidence_level

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["error_rate_bound", "fit_with_error_bound"]

Resampling: TypeAlias = Literal["train_test", "bagging", "cross_validation"]
RESAMPLINGS = ("train_test", "bagging", "cross_validation")
# Numbers of the training rows, and of the test rows
Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


def error_rate_bound(
    n_errors: ArrayLike,
    n_rows: ArrayLike,
    *,
    n_disagreements: int | None = None,
    n_unlabeled: int | None = None,
    confidence_level: float = 0.95,
) -> float:
    """Compute an upper bound of the error rate of a classifier from counts of errors.

    Parameters
    ----------
    n_errors, n_rows : int or array-like of shape (n_members,)
        Number of errors and number of test rows. Several numbers are those of the members of a
        random classifier, each with test rows of its own; or those of groups of rows, whose
        average error rate is bounded.
    n_disagreements, n_unlabeled : int, default=None
        Number of rows without labels on which the classifier and a random member, drawn for each
        row, disagree, and the number of all rows without labels. None bounds the error rate of the
        random classifier.
    confidence_level : float, default=0.95
        Probability with which the bound is at least the true error rate.

    Returns
    -------
    float
        Upper bound of the error rate; at most 1.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    fit_with_error_bound : Fit a classifier and count the errors.
    GroupAUC.error_rates : Error rates at a threshold by group.

    Notes
    -----
    ``B(k, m, d)`` is the largest error rate at which k or fewer errors in m rows have a probability
    of at least d, by the binomial distribution. With ``d = 1 - confidence_level`` and K members,
    the bounds are

    - of one classifier, the test set bound ``B(k, m, d)`` [1]_;
    - of the random classifier, which predicts each row by a member drawn with equal
      probabilities: the mean over members of ``B(k_i, m_i, d / K)`` [2]_;
    - of another classifier: the mean over members of ``B(k_i, m_i, d / (2 K))``, plus
      ``B(n_disagreements, n_unlabeled, d / 2)`` [2]_. If the classifier errs on a row, the random
      classifier errs as well, or the two classifiers disagree.

    Assumptions: the rows, with and without labels, are independent draws from one distribution. No
    member depends on its own test rows. The classifiers do not depend on the rows without labels.
    The numbers of members and of rows are chosen before errors are counted. Test rows of different
    members can be the same rows.

    References
    ----------
    .. [1] Langford, J. (2005). Tutorial on practical prediction theory for classification. Journal
       of Machine Learning Research 6. https://www.jmlr.org/papers/v6/langford05a.html
    .. [2] Kaariainen, M. and Langford, J. (2005). A comparison of tight generalization error
       bounds. ICML 22. https://doi.org/10.1145/1102351.1102403

    Examples
    --------
    >>> from skfedauc.error_bounds import error_rate_bound
    >>> round(error_rate_bound(13, 78, confidence_level=0.99), 4)
    0.2875
    >>> round(
    ...     error_rate_bound(
    ...         13, 78, n_disagreements=1, n_unlabeled=87, confidence_level=0.99
    ...     ),
    ...     4,
    ... )
    0.3833
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
    """Return both arguments as arrays of the same length, after checking them."""
    counts = tuple(
        _input.check_counts(np.atleast_1d(values), argument)
        for values, argument in ((events, name), (trials, name_of_trials))
    )
    _input.check_length(name, counts[0].size, name_of_trials, counts[1].size)
    if counts[0].size == 0 or not counts[1].all():
        raise ValueError(f"{name_of_trials} must be 1 or more; got {_words.shortened(trials)}.")
    if (counts[0] > counts[1]).any():
        raise ValueError(
            f"{name} must be at most {name_of_trials}; got {_words.shortened(events)} of "
            f"{_words.shortened(trials)}."
        )
    return counts[0], counts[1]


# Classifiers -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class BoundedClassifier:
    """Classifier with an upper bound of its error rate, returned by `fit_with_error_bound`.

    Attributes
    ----------
    error_bound : float
        Upper bound of the error rate of `predict`.
    confidence_level : float
        Probability with which the bound is at least the true error rate.
    members : list of estimators
        Classifiers that were tested on rows outside their training rows.
    classifier : estimator or None
        Classifier that was fitted to all rows with labels; None without `X_unlabeled`.
    tests : pandas.DataFrame
        Number of errors and of test rows of each member (`n_errors`, `n_rows`).
    n_disagreements, n_unlabeled : int or None
        Rows without labels on which `classifier` and a random member disagree, and all rows
        without labels.
    """

    error_bound: float
    confidence_level: float
    members: list[Any]
    classifier: Any
    tests: pd.DataFrame
    n_disagreements: int | None
    n_unlabeled: int | None

    def predict(self, X: Any, random_state: Any = None) -> NDArray[Any]:
        """Predict the classes of rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        random_state : int, RandomState instance or None, default=None
            Source of the random members; without effect if there is a `classifier`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions of `classifier`, or of a random member for each row if it is None.
        """
        if self.classifier is not None:
            return np.asarray(self.classifier.predict(X))
        return _random_predictions(self.members, X, random_state)

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
    resampling: Resampling = "cross_validation",
    X_unlabeled: Any = None,
    n_members: int = 10,
    test_size: float = 0.1,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> BoundedClassifier:
    """Fit a classifier, and bound its error rate from the same rows.

    Parameters
    ----------
    estimator : estimator object
        A classifier; clones are fitted.
    X : array-like of shape (n_rows, n_features)
        Input of the estimator.
    y : array-like of shape (n_rows,)
        Labels of any number of classes.
    resampling : {"train_test", "bagging", "cross_validation"}, default="cross_validation"
        Training rows and test rows of the members: one random split ("train_test"); bootstrap
        samples, with the rows outside each sample as its test rows ("bagging"); or folds.
    X_unlabeled : array-like of shape (n_unlabeled, n_features), default=None
        Rows without labels. With these rows, the bound holds for a classifier that is fitted to
        all rows with labels. Without them, the bound holds for the random classifier, which
        predicts each row by a random member.
    n_members : int, default=10
        Number of bootstrap samples or folds; without effect on "train_test".
    test_size : float, default=0.1
        Share of the test rows of "train_test".
    confidence_level : float, default=0.95
        Probability with which the bound is at least the true error rate.
    random_state : int, RandomState instance or None, default=None
        Source of the splits and of the random members.

    Returns
    -------
    BoundedClassifier
        The classifier, its bound and the counts of errors.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    error_rate_bound : The bound from counts, with its assumptions.

    Notes
    -----
    The folds are not stratified, because test rows must be independent of the members. The
    estimator must be able to learn from each training set, also if this set lacks a class. Rows of
    one person or device are not independent; the bound does not hold for such rows.

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
    (300, True)
    """
    from sklearn.base import clone
    from sklearn.utils import check_random_state

    confidence_level = check_confidence_level(confidence_level)
    labels, rng = _input.column_of(y, "y"), check_random_state(random_state)
    splits = _splits(resampling, labels.size, n_members, test_size, rng)
    members, tests = _tested(estimator, X, labels, splits)
    classifier, n_disagreements, n_unlabeled = None, None, None
    if X_unlabeled is not None:
        classifier = clone(estimator).fit(X, labels)
        predicted = np.asarray(classifier.predict(X_unlabeled))
        others = _random_predictions(members, X_unlabeled, rng)
        n_disagreements, n_unlabeled = int((predicted != others).sum()), int(predicted.size)
    bound = error_rate_bound(
        tests["n_errors"].to_numpy(),
        tests["n_rows"].to_numpy(),
        n_disagreements=n_disagreements,
        n_unlabeled=n_unlabeled,
        confidence_level=confidence_level,
    )
    return BoundedClassifier(
        bound, confidence_level, members, classifier, tests, n_disagreements, n_unlabeled
    )


def _tested(
    estimator: Any, X: Any, labels: NDArray[Any], splits: list[Split]
) -> tuple[list[Any], pd.DataFrame]:
    """Return the members of the random classifier, and their numbers of errors and test rows."""
    import pandas as pd
    from sklearn.base import clone

    members, tests = [], []
    for train, test in splits:
        member = clone(estimator).fit(_sklearn.rows_of(X, train), labels[train])
        predicted = np.asarray(member.predict(_sklearn.rows_of(X, test)))
        members.append(member)
        tests.append((int((predicted != labels[test]).sum()), test.size))
    return members, pd.DataFrame(tests, columns=["n_errors", "n_rows"])


def _splits(
    resampling: Resampling, n_rows: int, n_members: int, test_size: float, rng: Any
) -> list[Split]:
    """Return the numbers of the training rows and of the test rows of each member."""
    if resampling not in RESAMPLINGS:
        raise ValueError(
            f"resampling must be one of {', '.join(map(repr, RESAMPLINGS))}; got "
            f"{_words.shortened(resampling)}."
        )
    least = 1 if resampling == "bagging" else 2
    n_members = _input.check_whole_number(n_members, "n_members", least)
    test_size = _input.check_share(test_size, "test_size")
    if resampling == "cross_validation" and n_members > n_rows:
        raise ValueError(f"n_members={n_members} folds need as many rows; got {n_rows}.")
    order = rng.permutation(n_rows)
    if resampling == "train_test":
        n_test = int(np.ceil(test_size * n_rows))
        if not 0 < n_test < n_rows:
            raise ValueError(f"X and y must have at least 2 rows; got {n_rows}.")
        return [(order[n_test:], order[:n_test])]
    if resampling == "cross_validation":
        folds = np.array_split(order, n_members)
        return [(np.setdiff1d(order, fold), fold) for fold in folds]
    found = []
    for _ in range(n_members):
        train = rng.randint(n_rows, size=n_rows)
        test = np.setdiff1d(order, train)
        if test.size == 0:
            raise ValueError(
                f"a bootstrap sample holds all {n_rows} rows, so no test row remains; pass more "
                "rows, or resampling='cross_validation'."
            )
        found.append((train, test))
    return found


def _random_predictions(members: list[Any], X: Any, random_state: Any) -> NDArray[Any]:
    """Return the prediction of a random member for each row."""
    from sklearn.utils import check_random_state

    predictions = np.stack([np.asarray(member.predict(X)) for member in members])
    drawn = check_random_state(random_state).randint(len(members), size=predictions.shape[1])
    return np.asarray(predictions[drawn, np.arange(drawn.size)])
