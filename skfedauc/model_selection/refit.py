"""Rules that pick the candidate of a search: for ``refit=``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skfedauc.report import STATISTICS

if TYPE_CHECKING:
    import pandas as pd


class select_within_gap(str):
    """Pick the best score among the candidates whose gap is within a limit.

    For ``refit=`` of `GridSearchCV` and `RandomizedSearchCV` with several metrics. It is the
    name of the score as well as a callable, so that ``search.score`` and nested
    cross-validation work, which they do not with a plain function.

    Parameters
    ----------
    score : str
        Name of the score to be best, a key of ``scoring``.
    gap : {"difference", "cross_difference"}, default="difference"
        The gap to be limited; ``scoring`` has to hold it as "neg_difference" or
        "neg_cross_difference".
    at_most : float
        Limit of the candidate's mean gap over the folds.

    Raises
    ------
    ValueError
        If there is no such gap or `at_most` is negative; in a search, if the scores are not
        there or the gap of a candidate is NaN.

    Warns
    -----
    UserWarning
        If no candidate is within the limit; the one of smallest gap is picked.

    See Also
    --------
    pareto_front : The candidates that none beats in both.

    Notes
    -----
    With small folds the largest minus the smallest group AUC is mostly noise: of 4 hospitals
    without any difference (500 rows each, AUC .76, 5 folds) its mean over the folds was .10 on
    average and never below .05 in 300 simulated runs. Set `at_most` above what chance makes
    of the folds at hand.

    As with any callable for ``refit=``, the search has no `best_score_`; the score is
    ``cv_results_["mean_test_..."][best_index_]``.

    The halving searches take a single score and ignore callables for ``refit=``, so that this
    rule has no use there.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import (
    ...     WithinGroupStratifiedKFold, group_auc_scoring, select_within_gap
    ... )
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=400), "site": [1, 2] * 200})
    >>> y = X["dose"] + rng.normal(size=400) > 0
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.001, 1.0]},
    ...     cv=WithinGroupStratifiedKFold(5, groups="site"),
    ...     scoring=group_auc_scoring(["pooled", "neg_difference"], groups="site"),
    ...     refit=select_within_gap("pooled", gap="difference", at_most=0.2),
    ... ).fit(X, y)
    >>> search.refit
    select_within_gap('pooled', gap='difference', at_most=0.2)
    """

    gap: str
    at_most: float

    def __new__(cls, score: str, *, gap: str = "difference", at_most: float) -> select_within_gap:
        """Check the arguments; a str is made whole."""
        if not isinstance(score, str):
            raise TypeError(f"score must be the name of a score; got {type(score).__name__}.")
        if isinstance(at_most, bool) or not isinstance(at_most, Real) or not at_most >= 0:
            raise ValueError(f"at_most must be a number of 0 or more; got {at_most!r}.")
        rule = super().__new__(cls, score)
        rule.gap = _checked_gap(gap)
        rule.at_most = float(at_most)
        return rule

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Index of the picked candidate among those of ``cv_results_``."""
        score, gap = _scores_and_gaps(cv_results, str(self), self.gap)
        within = gap <= self.at_most
        if not within.any():
            smallest = int(np.nanargmin(gap))
            warnings.warn(
                f"no candidate has a mean {self.gap} of at most {self.at_most:g}; picked the "
                f"one with the smallest, {gap[smallest]:.4g}.",
                UserWarning,
                stacklevel=2,
            )
            return smallest
        return int(np.argmax(np.where(within, score, -np.inf)))

    def __repr__(self) -> str:
        return f"select_within_gap({str(self)!r}, gap={self.gap!r}, at_most={self.at_most!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _select_within_gap, (str(self), self.gap, self.at_most)


def _select_within_gap(score: str, gap: str, at_most: float) -> select_within_gap:
    return select_within_gap(score, gap=gap, at_most=at_most)


def pareto_front(search: Any, *, score: str, gap: str = "difference") -> pd.DataFrame:
    """List the candidates of a search that no other beats in both score and gap.

    Parameters
    ----------
    search : fitted GridSearchCV or RandomizedSearchCV
        With the score and the gap among its metrics.
    score : str
        Name of the score, a key of ``scoring``.
    gap : {"difference", "cross_difference"}, default="difference"
        Name of the gap; ``scoring`` has to hold it with "neg_" in front.

    Returns
    -------
    pandas.DataFrame
        From the best score to the smallest gap, with the means over folds in columns named
        as the score and the gap, then the candidate's parameters; indexed by candidate as in
        ``cv_results_``.

    Raises
    ------
    ValueError
        If the search does not have these scores, or the gap of a candidate is NaN.
    NotFittedError
        If the search is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import group_auc_scoring, pareto_front
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=400), "site": [1, 2] * 200})
    >>> y = X["dose"] + rng.normal(size=400) > 0
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.001, 1.0]},
    ...     scoring=group_auc_scoring(["pooled", "neg_difference"], groups="site"),
    ...     refit=False,
    ... ).fit(X, y)
    >>> pareto_front(search, score="pooled").columns.tolist()
    ['pooled', 'difference', 'C']
    """
    import pandas as pd

    check_is_fitted(search, "cv_results_")
    results = search.cv_results_
    scores, gaps = _scores_and_gaps(results, score, _checked_gap(gap))
    # In order of falling score, then rising gap, a candidate is beaten unless its gap is
    # smaller than all before it; equals of a kept one are kept.
    order = np.lexsort((gaps, -np.where(np.isnan(scores), -np.inf, scores)))
    kept: list[int] = []
    for candidate in order[: int((~np.isnan(scores)).sum())].tolist():
        last = kept[-1] if kept else candidate
        equal = gaps[candidate] == gaps[last] and scores[candidate] == scores[last]
        if equal or gaps[candidate] < gaps[last]:
            kept.append(candidate)
    means = pd.DataFrame({score: scores[kept], gap: gaps[kept]}, index=kept)
    parameters = pd.DataFrame([results["params"][i] for i in kept], index=kept)
    return pd.concat([means, parameters], axis=1)


def _checked_gap(gap: Any) -> str:
    gaps = [name for name, statistic in STATISTICS.items() if not statistic.greater_is_better]
    if not isinstance(gap, str) or gap not in gaps:
        raise ValueError(f"gap must be one of {', '.join(map(repr, gaps))}; got {gap!r}.")
    return gap


def _scores_and_gaps(
    cv_results: Mapping[str, Any], score: str, gap: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean score and mean gap of each candidate; both NaN where its fits failed."""
    keys = (f"mean_test_{score}", f"mean_test_neg_{gap}")
    absent = [key.removeprefix("mean_test_") for key in keys if key not in cv_results]
    if absent:
        there = [k.removeprefix("mean_test_") for k in cv_results if k.startswith("mean_test_")]
        raise ValueError(
            f"the search has no score named {' or '.join(map(repr, absent))}; it has "
            f"{', '.join(map(repr, there))}. Give them by scoring=group_auc_scoring([...], "
            "groups=...), where gaps have 'neg_' in front."
        )
    scores = np.asarray(cv_results[keys[0]], np.float64)
    gaps = -np.asarray(cv_results[keys[1]], np.float64)
    undefined = np.isnan(gaps) & ~np.isnan(scores)
    if undefined.any():
        raise ValueError(
            f"the {gap} of {int(undefined.sum())} of {scores.size} candidates is NaN, because a "
            "fold had fewer than two groups with rows of both classes (GroupKFold and "
            "LeaveOneGroupOut make such folds). Use cv=WithinGroupStratifiedKFold(...), which "
            "spreads each group over the folds."
        )
    gaps[np.isnan(scores)] = np.nan
    if np.isnan(scores).all():
        raise ValueError(
            f"the {score} of every candidate is NaN; see the warnings of the search, or run "
            "it with error_score='raise'."
        )
    return scores, gaps
