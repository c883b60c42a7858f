"""Candidates of a search: comparison with the best, and rules for ``refit=``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr
from sklearn.utils.validation import check_is_fitted

from skfedauc import _input, _words
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.report.statistics import STATISTICS

Floats = NDArray[np.float64]

# Largest probable number of splits without repetition; more splits are probably repeated folds.
_MOST_FOLDS = 10
# What the name of a metric must be
_METRIC = "metric must be the name of a metric"


def compare_candidates(
    search: Any,
    metric: str,
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
    metric : str
        Name of the metric, a key of ``scoring``; "score" for a search with a single metric.
    test_fraction : float, default=None
        Share of the rows in the test set of each split, between 0 and 1. None computes it from
        ``search.cv``, if this is a number of folds, one of scikit-learn's K-fold splitters,
        `WithinGroupStratifiedKFold` (also repeated) or `LeaveOneGroupOut`.
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
        in ``cv_results_``. The columns are the mean score (named by the metric), its
        `difference` from the best, the `standard_error` of the difference, `pvalue` (two-sided;
        one-sided with `margin`), `pvalue_adjusted`, `tied` (with `margin`: `not_inferior`), and the
        parameters. Candidates with a score that is not finite are left out.

    Raises
    ------
    ValueError, NotFittedError
        If the search is not fitted, lacks the score, has a single split, is a halving search, or
        has only failed candidates. If ``search.cv`` does not determine `test_fraction`.

    See Also
    --------
    SelectSimplest : Refit rule for the simplest of the tied candidates.
    compare_models : Compare models on the same test rows.

    Notes
    -----
    With differences d over J splits, the variance of their mean is ``(1/J + n_test/n_train)
    var(d)``, and the quantiles are those of Student's t with J - 1 degrees of freedom [1]_; the
    second term allows for overlapping training sets. Selecting the best score in effect compares
    all pairs of candidates, so p values are multiplied by the pair count, or, with `margin`,
    by the number of other candidates. Tied candidates are not shown to be equal: pass `margin` for
    that.

    References
    ----------
    .. [1] Nadeau and Bengio (2003). Machine Learning 52(3). https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skfedauc import compare_candidates
    >>> X, y = make_classification(200, random_state=0)
    >>> search = GridSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": [1, 15, 45]}, scoring="roc_auc", cv=10
    ... ).fit(X, y)
    >>> compare_candidates(search, "score")[["score", "tied", "n_neighbors"]].round(2)
       score   tied  n_neighbors
    2   0.96   True           45
    1   0.94   True           15
    0   0.80  False            1
    """
    margin = _check_margin(margin)
    results = results_of(search)
    n_splits = _split_scores(results, metric).shape[1]
    if test_fraction is None:
        test_fraction = _test_fraction_of(search, n_splits)
    test_fraction = _input.check_share(test_fraction, "test_fraction")
    confidence_level = check_confidence_level(confidence_level)
    compared = _compared_with_best(results, metric, test_fraction, confidence_level, margin)
    parameters = [results["params"][i] for i in compared.index]
    return pd.concat([compared, pd.DataFrame(parameters, index=compared.index)], axis=1)


def _compared_with_best(
    results: Mapping[str, Any],
    metric: str,
    test_fraction: float,
    confidence_level: float,
    margin: float | None,
) -> pd.DataFrame:
    """Compare each candidate with the best by the corrected resampled t test, in order of score.

    The test is two-sided; a margin makes it a one-sided test of non-inferiority. The last column
    tells whether the candidate is tied with the best, or not inferior to it.
    """
    scores = _split_scores(results, metric)
    n_splits = scores.shape[1]
    means = np.asarray(results[f"mean_test_{metric}"], np.float64)
    finite = np.flatnonzero(np.isfinite(scores).all(axis=1))
    if finite.size == 0:
        raise ValueError(
            f"the {metric} of every candidate is NaN or infinite in some split; see the warnings "
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
    return pd.DataFrame(
        {
            metric: means[candidates],
            "difference": mean,
            "standard_error": error,
            "pvalue": pvalue,
            "pvalue_adjusted": adjusted,
            **({"tied": ~is_rejected} if margin is None else {"not_inferior": is_rejected}),
        },
        index=candidates.tolist(),
    )


def _check_margin(margin: Any) -> float | None:
    """Return the margin of a test of non-inferiority, or None."""
    hint = " None tests whether scores differ."
    return None if margin is None else _input.check_number(margin, "margin", above=0, hint=hint)


def _split_scores(results: Mapping[str, Any], metric: Any) -> Floats:
    """Return the scores by candidate and split, shape (n_candidates, n_splits)."""
    _input.check_type(metric, str, _METRIC)
    if "n_resources" in results:
        raise ValueError(
            "a halving search scores its candidates on different numbers of rows, which cannot be "
            "compared split by split; use GridSearchCV or RandomizedSearchCV."
        )
    n_splits = 0
    while f"split{n_splits}_test_{metric}" in results:
        n_splits += 1
    if n_splits == 0 or f"mean_test_{metric}" not in results:
        raise _no_scores(results, [metric], "split0_test_", "There must be a value for each split.")
    if n_splits == 1:
        raise ValueError(
            "the search has a single split, from which the variance of scores cannot be "
            "estimated; use cv=5 or more, or repeated folds."
        )
    columns = [results[f"split{i}_test_{metric}"] for i in range(n_splits)]
    return np.array(columns, np.float64).T


def _no_scores(results: Mapping[str, Any], absent: list[str], prefix: str, mend: str) -> ValueError:
    there = [key.removeprefix(prefix) for key in map(str, results) if key.startswith(prefix)]
    return ValueError(
        f"the search has no metric named {' or '.join(map(_words.shortened, absent))}; it has "
        f"{_words.all_shortened(there) or 'none'}. {mend}"
    )


def results_of(search: Any) -> Any:
    """Return the ``cv_results_`` of a search, or `search` itself if it is a table of results."""
    if isinstance(search, Mapping) or hasattr(search, "columns"):
        return search
    if hasattr(search, "estimator"):
        check_is_fitted(search, "cv_results_")
    results = getattr(search, "cv_results_", None) or {}
    if "params" not in results or isinstance(search, type):
        raise TypeError(
            "search must be a fitted search, such as GridSearchCV, or its cv_results_; got "
            f"{_words.described(search)}."
        )
    return results


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
    # A subclass may have other folds. All splitters with this ending test each row once, or once
    # in each repetition.
    is_known = type(cv).__module__.partition(".")[0] in ("sklearn", "skfedauc")
    if is_known and (kind.endswith("KFold") or kind == "LeaveOneGroupOut"):
        return float(getattr(cv, "n_repeats", 1) / n_splits)
    raise ValueError(
        f"the share of the rows in each test set of cv={kind} is not known: pass "
        "test_fraction=, the mean size of the test sets divided by the mean size of test and "
        "training set together."
    )


@dataclass(frozen=True, eq=False)
class _RefitRule:
    """Base class of refit rules: a callable that is also a key of the search's scorers.

    A search looks up its scorer by ``scorer_[refit]``. A rule therefore equals the name of its
    metric and has the hash of this name. Two rules are equal if all their parameters are equal.
    """

    metric: str

    def __post_init__(self) -> None:
        _input.check_type(self.metric, str, _METRIC)

    def __hash__(self) -> int:
        return hash(self.metric)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.metric == other
        if type(other) is type(self):
            return vars(self) == vars(other)
        return NotImplemented

    def __format__(self, spec: str) -> str:
        """Return the metric's name, for keys such as ``f"mean_test_{search.refit}"``."""
        return format(self.metric, spec)


@dataclass(frozen=True, eq=False)
class SelectWithinGap(_RefitRule):
    """Refit rule that selects the best score among candidates with a gap within a limit.

    Pass the rule as ``refit=`` to `GridSearchCV` or `RandomizedSearchCV` with several metrics. It
    equals the name of its metric, so ``search.score`` and nested cross-validation work, which fail
    with a plain function. Halving searches ignore it.

    Parameters
    ----------
    metric : str
        Name of the metric to maximize, a key of ``scoring``.
    gap : str, default="difference"
        Gap name: "difference", "cross_difference", "tau", or the difference of a measure,
        such as "difference_average_precision". ``scoring`` must contain the gap with the prefix
        ``"neg_"``.
    at_most : float
        Upper limit of the mean gap of a candidate over the folds.

    Raises
    ------
    ValueError
        If ``gap`` is no gap name, or `at_most` is negative. In a search, if ``scoring`` lacks
        the score or the gap, or the gap of a candidate is NaN.

    Warns
    -----
    UserWarning
        If no candidate is within the limit; the rule then selects the candidate with the smallest
        gap.

    See Also
    --------
    CandidatesDisplay : Plot the candidates and the front.

    Notes
    -----
    With small folds, the difference is mostly sampling error: set `at_most` above what equal groups
    would show. The search has no `best_score_`; the score is
    ``cv_results_["mean_test_..."][best_index_]``.

    Examples
    --------
    >>> from skfedauc import SelectWithinGap
    >>> rule = SelectWithinGap("pooled", gap="difference", at_most=0.1)
    >>> rule({"mean_test_pooled": [0.9, 0.8], "mean_test_neg_difference": [-0.2, -0.05]})
    1

    In a search: ``GridSearchCV(model, grid, scoring=group_auc_scoring(["pooled",
    "neg_difference"], groups="site"), refit=rule)``.
    """

    _: KW_ONLY
    gap: str = "difference"
    at_most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.at_most, Real) and self.at_most == math.inf):
            vars(self)["at_most"] = _input.check_number(self.at_most, "at_most", at_least=0)
        checked_gap(self.gap)

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the selected candidate in ``cv_results_``."""
        score, gap = scores_and_gaps(cv_results, self.metric, self.gap)
        within = gap <= self.at_most
        if not within.any():
            smallest = int(np.nanargmin(gap))
            _input.warn(
                f"no candidate has a mean {self.gap} of at most {self.at_most:g}; selected the "
                f"candidate with the smallest {self.gap}, {gap[smallest]:.4g}.",
            )
            return smallest
        return int(np.argmax(np.where(within, score, -np.inf)))


@dataclass(frozen=True, eq=False)
class SelectSimplest(_RefitRule):
    """Refit rule that selects the simplest candidate tied with, or not inferior to, the best.

    Pass the rule as ``refit=``, like `SelectWithinGap`. `compare_candidates` lists the candidates
    among which it selects.

    Parameters
    ----------
    metric : str
        Name of the metric, a key of ``scoring``; "score" for a single metric.
    simplest : str or callable
        Name of a numeric parameter of the search, whose smallest value is the simplest, or with the
        prefix "-", its largest. Or a function from the dict of a candidate's parameters to a sort
        key, smallest first; to pickle the search, define it in a module.
    test_fraction : float, default=None
        Share of the rows in each test set, between 0 and 1. None means ``1 / n_splits``, which is
        correct for K folds. Repeated folds and random splits require the argument, such as 0.2 for
        5 folds repeated 10 times.
    confidence_level : float, default=0.95
        Confidence level of the test, see `compare_candidates`.
    margin : float, default=None
        As in `compare_candidates`; without it, the choice is among the tied candidates.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. In a search, if the score is missing, all candidates
        failed, or a tied candidate has no number as the parameter; and with more than 10 splits,
        which are probably repeated folds, without ``test_fraction``.

    See Also
    --------
    compare_candidates : List the candidates with their differences from the best and p values.

    Notes
    -----
    Among equally simple candidates, the best score wins. With few splits, the rule may select a
    somewhat worse candidate, or, with ``margin``, a needlessly complex one: repeat the folds.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import SelectSimplest
    >>> X, y = make_classification(200, random_state=0)
    >>> rule = SelectSimplest("score", simplest="C")
    >>> search = GridSearchCV(
    ...     LogisticRegression(), {"C": [0.0001, 0.01, 1.0]}, scoring="roc_auc", refit=rule
    ... ).fit(X, y)
    >>> search.best_params_
    {'C': 0.0001}
    """

    _: KW_ONLY
    simplest: str | Callable[[Mapping[str, Any]], Any]
    test_fraction: float | None = None
    confidence_level: float = 0.95
    margin: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        simplest = self.simplest
        if not callable(simplest) and not (isinstance(simplest, str) and simplest.strip("-")):
            raise TypeError(
                "simplest must be the name of a parameter, with prefix '-' if larger is simpler, "
                f"or a function of a candidate's parameters; got {_words.shortened(simplest)}."
            )
        share = self.test_fraction
        vars(self).update(
            test_fraction=None if share is None else _input.check_share(share, "test_fraction"),
            confidence_level=check_confidence_level(self.confidence_level),
            margin=_check_margin(self.margin),
        )

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the selected candidate in ``cv_results_``."""
        n_splits = _split_scores(cv_results, self.metric).shape[1]
        if self.test_fraction is None and n_splits > _MOST_FOLDS:
            raise ValueError(
                f"SelectSimplest does not know the share of the rows in the test set of each of "
                f"{n_splits} splits; pass test_fraction, such as 0.2 for 5 folds that are repeated."
            )
        fraction = self.test_fraction or 1 / n_splits
        compared = _compared_with_best(
            cv_results, self.metric, fraction, self.confidence_level, self.margin
        )
        accepted = compared.index[compared.iloc[:, -1]].tolist()
        keys = [self._key(cv_results["params"][candidate]) for candidate in accepted]
        # Candidates have the order of their scores, so the first candidate of a key is the best.
        return int(accepted[keys.index(min(keys))])

    def _key(self, parameters: Mapping[str, Any]) -> Any:
        if not isinstance(self.simplest, str):
            return self.simplest(parameters)
        name = self.simplest.removeprefix("-")
        value = parameters.get(name)
        if not isinstance(value, Real) or np.isnan(float(value)):
            held = (
                f"{name}={_words.shortened(value)}" if name in parameters else "no such parameter"
            )
            raise ValueError(
                f"simplest={_words.shortened(self.simplest)} must name a parameter with a number "
                f"in every candidate; the tied candidate {_words.shortened(parameters)} has "
                f"{held}. Pass a function of the parameters, such as "
                f"lambda p: order.index(p[{_words.shortened(name)}])."
            )
        return -value if self.simplest.startswith("-") else value


def checked_gap(gap: Any) -> str:
    gaps = [name for name, statistic in STATISTICS.items() if not statistic.greater_is_better]
    if isinstance(gap, str) and (gap in gaps or gap.startswith("difference_")):
        return gap
    is_negated = isinstance(gap, str) and gap.startswith("neg_")
    hint = " Leave out the prefix 'neg_'." if is_negated else ""
    raise ValueError(
        f"gap must be one of {', '.join(map(repr, gaps))}, or the difference of a measure, such as "
        f"'difference_average_precision'; got {_words.shortened(gap)}.{hint}"
    )


def scores_and_gaps(
    cv_results: Mapping[str, Any], metric: str, gap: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean score and mean gap of each candidate; NaN for failed candidates."""
    prefix, keys = "mean_test_", (f"mean_test_{metric}", f"mean_test_neg_{gap}")
    if absent := [key.removeprefix(prefix) for key in keys if key not in cv_results]:
        mend = "Pass scoring=group_auc_scoring(...), where names of gaps have the prefix 'neg_'."
        raise _no_scores(cv_results, absent, prefix, mend)
    scores = np.asarray(cv_results[keys[0]], np.float64)
    gaps = -np.asarray(cv_results[keys[1]], np.float64)
    # Differences of measures are not in the table.
    statistic = STATISTICS.get(gap)
    if statistic is not None and statistic.from_score is not None:
        gaps = statistic.from_score(gaps)
    undefined = np.isnan(gaps) & ~np.isnan(scores)
    if undefined.any():
        raise ValueError(
            f"the {gap} of {int(undefined.sum())} of {scores.size} candidates is NaN in some fold; "
            "see the warnings of the search, or run it with error_score='raise'. A gap needs two "
            "groups with rows of both classes (tau: two rows of each) in every fold, and "
            "cv=WithinGroupStratifiedKFold(...) spreads each group over the folds."
        )
    gaps[np.isnan(scores)] = np.nan
    if np.isnan(scores).all():
        raise ValueError(
            f"the {metric} of every candidate is NaN; see the warnings of the search, or run "
            "it with error_score='raise'."
        )
    return scores, gaps
