"""Comparison of the candidates of a search with the best candidate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input, _words
from skfedauc.inference.limits import check_confidence_level

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

# Below this number of splits the corrected test has little power.
_FEW_SPLITS = 20


def compare_candidates(
    search: Any,
    score: str,
    *,
    test_fraction: float | None = None,
    confidence_level: float = 0.95,
    margin: float | None = None,
) -> pd.DataFrame:
    """List a search's candidates, and test the difference of each from the best candidate.

    Nadeau and Bengio's corrected resampled t test compares the scores of each candidate with the
    scores of the best candidate, paired by split.

    Parameters
    ----------
    search : fitted GridSearchCV or RandomizedSearchCV, or mapping
        A fitted search, or the ``cv_results_`` of a search as a dict or a DataFrame.
    score : str
        Score name, which is a key of ``scoring``; "score" for a search with a single score.
    test_fraction : float, default=None
        Share of the rows in the test set of each split, between 0 and 1. None computes it from
        ``search.cv``, if this is a number of folds, one of scikit-learn's K-fold or shuffle
        splitters (also repeated), `LeaveOneGroupOut` or `WithinGroupStratifiedKFold`.
    confidence_level : float, default=0.95
        Candidates are tied with the best, or with `margin` not inferior to it, by their adjusted p
        value and the error rate ``1 - confidence_level``.
    margin : float, default=None
        Non-inferiority margin, above 0, in units of the score. None tests whether a score differs
        from the best score; with a margin, whether it is lower by less than the margin.

    Returns
    -------
    pandas.DataFrame
        One row per candidate, from the best score to the worst; the index is the candidate's number
        in ``cv_results_``. The columns are the mean score (with score name), its
        `difference` from the best, the `standard_error` of the difference, `pvalue` (two-sided;
        one-sided with `margin`), `pvalue_adjusted`, `tied` (with `margin`: `not_inferior`), and the
        parameters. Candidates with a score that is not finite are left out. ``attrs`` holds
        "n_splits", "test_fraction", "adjustment" and "hint", which is about few splits and left out
        candidates.

    Raises
    ------
    ValueError
        If the search lacks the score, has a single split, is a halving search, or has only failed
        candidates. If ``search.cv`` does not determine `test_fraction`.
    NotFittedError
        If the search is not fitted.

    See Also
    --------
    SelectSimplest : Refit rule for the simplest of the tied candidates.
    auc_critical_difference : Return the critical difference of two test sets.
    compare_models : Compare models on the same test rows.

    Notes
    -----
    With differences d over J splits, the variance of their mean is ``(1/J + n_test/n_train)
    var(d)``, and the quantiles are those of Student's t with J - 1 degrees of freedom [1]_; the
    second term allows for overlapping training sets. Selecting the best score in effect compares
    all pairs of candidates, so p values are multiplied by the pair count, or, with `margin`,
    by the number of other candidates. Tied candidates are not shown to be equal: pass `margin` for
    that. With fewer than 20 splits the test has little power; repeat the folds.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52(3). https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skfedauc import compare_candidates
    >>> X, y = make_classification(200, random_state=0)
    >>> search = GridSearchCV(
    ...     KNeighborsClassifier(),
    ...     {"n_neighbors": [1, 15, 45]},
    ...     scoring="roc_auc",
    ...     cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0),
    ... ).fit(X, y)
    >>> compare_candidates(search, "score")[["score", "tied", "n_neighbors"]].round(2)
       score   tied  n_neighbors
    2   0.96   True           45
    1   0.95   True           15
    0   0.82  False            1
    """
    import pandas as pd

    margin = check_margin(margin)
    results = results_of(search)
    scores = split_scores(results, score)
    n_splits = scores.shape[1]
    if test_fraction is not None:
        test_fraction = _input.check_share(test_fraction, "test_fraction")
    else:
        test_fraction = _test_fraction_of(search, n_splits)
    compared = compared_with_best(
        results, score, test_fraction, check_confidence_level(confidence_level), margin
    )
    kept = compared.candidates.tolist()
    parameters = list(results["params"])
    adjusted_over = f"{math.comb(len(kept), 2)} pairs of candidates"
    if margin is not None:
        adjusted_over = _words.counted(max(len(kept) - 1, 1), "comparison")
    report = pd.concat(
        [
            pd.DataFrame(
                {
                    score: compared.means,
                    "difference": compared.differences,
                    "standard_error": compared.standard_errors,
                    "pvalue": compared.pvalues,
                    "pvalue_adjusted": compared.pvalues_adjusted,
                    "tied" if margin is None else "not_inferior": compared.accepted,
                },
                index=kept,
            ),
            pd.DataFrame([parameters[i] for i in kept], index=kept),
        ],
        axis=1,
    )
    report.attrs.update(
        n_splits=n_splits,
        test_fraction=test_fraction,
        adjustment=f"Bonferroni over {adjusted_over}",
        hint=_hint(n_splits, len(scores) - len(kept), len(scores)),
    )
    return report


class ComparedWithBest(NamedTuple):
    """Comparison of each candidate of a search with the best, in order of score, without failures.

    Attributes
    ----------
    candidates : intp array, shape (n_candidates,)
        Numbers of the candidates in ``cv_results_``.
    means, differences, standard_errors, pvalues, pvalues_adjusted : float64 array, \
shape (n_candidates,)
    accepted : bool array, shape (n_candidates,)
        Whether the candidate is tied with the best, or, with a margin, not inferior to the best.
    """

    candidates: NDArray[np.intp]
    means: Floats
    differences: Floats
    standard_errors: Floats
    pvalues: Floats
    pvalues_adjusted: Floats
    accepted: NDArray[np.bool_]


def compared_with_best(
    results: Mapping[str, Any],
    score: str,
    test_fraction: float,
    confidence_level: float,
    margin: float | None = None,
) -> ComparedWithBest:
    """Compare each candidate with the best by the corrected resampled t test.

    The test is two-sided; a margin makes it a one-sided test of non-inferiority.
    """
    from scipy.special import stdtr

    scores = split_scores(results, score)
    n_splits = scores.shape[1]
    means = np.asarray(results[f"mean_test_{score}"], np.float64)
    finite = np.flatnonzero(np.isfinite(scores).all(axis=1))
    if finite.size == 0:
        raise ValueError(
            f"the {score} of every candidate is NaN or infinite in some split; see the warnings "
            "of the search, or run it with error_score='raise'."
        )
    candidates = finite[np.argsort(-means[finite], kind="stable")]
    scores = scores[candidates]
    difference = scores - scores[0]
    # Differences within rounding error are 0.
    difference[np.abs(difference) <= 1e-14 * np.abs(scores)] = 0.0
    mean = difference.mean(axis=1)
    inflation = 1 / n_splits + test_fraction / (1 - test_fraction)
    error = np.sqrt(inflation * difference.var(axis=1, ddof=1))
    distance = mean if margin is None else mean + margin
    ends = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    t = np.divide(distance, error, out=ends, where=error > 0)
    if margin is None:
        pvalue = 2 * stdtr(n_splits - 1, -np.abs(t))
        # Selection of the best candidate in effect compares all pairs.
        n_tests = math.comb(candidates.size, 2)
    else:
        pvalue = stdtr(n_splits - 1, -t)
        n_tests = candidates.size - 1
    adjusted = np.minimum(1.0, pvalue * max(n_tests, 1))
    is_rejected = adjusted <= 1 - confidence_level
    return ComparedWithBest(
        candidates,
        means[candidates],
        mean,
        error,
        pvalue,
        adjusted,
        ~is_rejected if margin is None else is_rejected,
    )


def check_margin(margin: Any) -> float | None:
    """Return the margin of a test of non-inferiority, or None."""
    hint = " None tests whether scores differ."
    return None if margin is None else _input.check_number(margin, "margin", above=0, hint=hint)


def split_scores(results: Mapping[str, Any], score: Any) -> Floats:
    """Return the scores by candidate and split, shape (n_candidates, n_splits)."""
    if not isinstance(score, str):
        raise TypeError(f"score must be the name of a score; got {type(score).__name__}.")
    if "n_resources" in results:
        raise ValueError(
            "a halving search scores its candidates on different numbers of rows, which cannot be "
            "compared split by split; use GridSearchCV or RandomizedSearchCV."
        )
    n_splits = 0
    while f"split{n_splits}_test_{score}" in results:
        n_splits += 1
    if n_splits == 0 or f"mean_test_{score}" not in results:
        first = "split0_test_"
        there = [key.removeprefix(first) for key in results if str(key).startswith(first)]
        raise ValueError(
            f"the search has no score named {_words.shortened(score)} with its values in "
            "each split; it has "
            f"{_words.all_shortened(there) or 'none'}."
        )
    if n_splits == 1:
        raise ValueError(
            "the search has a single split, from which the variance of scores cannot be "
            "estimated; use cv=5 or more, or repeated folds."
        )
    columns = [results[f"split{i}_test_{score}"] for i in range(n_splits)]
    return np.array(columns, np.float64).T


def results_of(search: Any) -> Mapping[str, Any]:
    """Return the ``cv_results_`` of a search, or `search` itself if it is a table of results."""
    if isinstance(search, Mapping) or hasattr(search, "columns"):
        results: Mapping[str, Any] = search
        return results
    if isinstance(search, type) or not hasattr(search, "fit"):
        raise TypeError(
            "search must be a fitted search, such as GridSearchCV, or its cv_results_; got "
            f"{_words.described(search)}."
        )
    check_is_fitted(search, "cv_results_")
    results = search.cv_results_
    return results


# Names of the splitters that test each row once
_EACH_ROW_ONCE = {
    "KFold",
    "StratifiedKFold",
    "GroupKFold",
    "StratifiedGroupKFold",
    "LeaveOneGroupOut",
    "WithinGroupStratifiedKFold",
}


def _test_fraction_of(search: Any, n_splits: int) -> float:
    """Return the share of the rows in each test set; raise a ValueError for an unknown share."""
    if not hasattr(search, "cv"):
        raise ValueError(
            "cv_results_ do not contain the share of the rows in each test set: pass "
            "test_fraction=, such as 0.2 for 5 folds, repeated or not."
        )
    cv = search.cv
    if cv is None or isinstance(cv, int | np.integer):
        return 1 / n_splits
    kind = type(cv).__name__
    # A subclass may have other folds.
    if type(cv).__module__.partition(".")[0] in ("sklearn", "skfedauc"):
        if kind in _EACH_ROW_ONCE:
            return 1 / n_splits
        if kind in ("RepeatedKFold", "RepeatedStratifiedKFold"):
            return float(cv.n_repeats / n_splits)
        if kind in ("ShuffleSplit", "StratifiedShuffleSplit"):
            fraction = _shuffled_fraction(cv.test_size, cv.train_size)
            if fraction is not None:
                return fraction
    raise ValueError(
        f"the share of the rows in each test set of cv={kind} is not known: pass "
        "test_fraction=, the mean size of the test sets divided by the mean size of test and "
        "training set together."
    )


def _shuffled_fraction(test_size: Any, train_size: Any) -> float | None:
    """Return the share of test rows; None for a share that depends on the row count."""
    if test_size is None and train_size is None:
        return 0.1  # the default `test_size` of scikit-learn
    shares = [size for size in (test_size, train_size) if size is not None]
    if len(shares) == 2 and len({isinstance(size, int | np.integer) for size in shares}) == 1:
        return float(test_size / (test_size + train_size))
    if len(shares) == 1 and not isinstance(shares[0], int | np.integer):
        return float(test_size) if train_size is None else 1.0 - float(train_size)
    return None


def _hint(n_splits: int, n_failed: int, n_candidates: int) -> str:
    hints = []
    if n_failed:
        hints.append(
            f"{n_failed} of {n_candidates} candidates are left out, because one of their scores is "
            "NaN or infinite."
        )
    if n_splits < _FEW_SPLITS:
        hints.append(
            f"with {n_splits} splits the test has little power: repeat the folds, for instance by "
            "cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=10)."
        )
    return " ".join(hints)
