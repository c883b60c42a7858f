"""Rules that pick the candidate of a search: for ``refit=``."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skfedauc import _validation as validation
from skfedauc.inference.intervals import check_level
from skfedauc.inference.luck import compared_with_best, split_scores
from skfedauc.report import STATISTICS, Gap

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class _RefitRule:
    """Base of the rules: a callable that finds its scorer in a search.

    A search looks its scorer up by ``scorer_[refit]``, so a rule has the hash of its score's name
    and equals that name. Two rules are equal if all their parameters are.
    """

    score: str

    def __post_init__(self) -> None:
        if not isinstance(self.score, str):
            raise TypeError(f"score must be the name of a score; got {type(self.score).__name__}.")

    def __hash__(self) -> int:
        return hash(self.score)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.score == other
        if type(other) is type(self):
            return self._parameters() == other._parameters()
        return NotImplemented

    def __format__(self, spec: str) -> str:
        """Name of the score, for keys such as ``f"mean_test_{search.refit}"``."""
        return format(self.score, spec)

    def __repr__(self) -> str:
        score, *others = self._parameters().items()
        shown = [f"{name}={_shown(value)}" for name, value in others]
        return f"{type(self).__name__}({', '.join([repr(score[1]), *shown])})"

    def _parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _set(self, name: str, value: Any) -> None:
        """Store a checked parameter; rules do not change afterwards, as keys must not."""
        object.__setattr__(self, name, value)


def _shown(value: Any) -> str:
    """How a parameter is written in code."""
    name = getattr(value, "__qualname__", None)
    return str(name) if callable(value) and name else repr(value)


@dataclass(frozen=True, eq=False, repr=False)
class select_within_gap(_RefitRule):
    """Pick the best score among the candidates whose gap is within a limit.

    For ``refit=`` of `GridSearchCV` and `RandomizedSearchCV` with several metrics. The rule
    equals the name of its score, so that ``search.score`` and nested cross-validation work,
    which they do not with a plain function.

    Parameters
    ----------
    score : str
        Name of the score to be best, a key of ``scoring``.
    gap : {"difference", "cross_difference", "tau"}, default="difference"
        The gap to be limited; ``scoring`` has to hold it with ``"neg_"`` in front.
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
    select_simplest_tied : The simplest candidate that cannot be told from the best.

    Notes
    -----
    With small folds the largest minus the smallest group AUC is mostly sampling error: of 4
    hospitals without any difference (500 rows each, AUC .76, 5 folds) its mean over the folds was
    .10 on average and never below .05 in 300 simulated runs. Set `at_most` above what chance makes
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

    _: KW_ONLY
    gap: Gap = "difference"
    at_most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not validation.is_number(self.at_most) or not self.at_most >= 0:
            raise ValueError(f"at_most must be a number of 0 or more; got {self.at_most!r}.")
        _checked_gap(self.gap)
        self._set("at_most", float(self.at_most))

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Index of the picked candidate among those of ``cv_results_``."""
        score, gap = scores_and_gaps(cv_results, self.score, self.gap)
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


# More splits than this are seldom folds that test each row once.
_MOST_FOLDS = 10


@dataclass(frozen=True, eq=False, repr=False)
class select_simplest_tied(_RefitRule):
    """Pick the simplest of the candidates that cannot be told from the best.

    For ``refit=`` of `GridSearchCV` and `RandomizedSearchCV`. `luck_report` tells which candidates
    are tied with the best. The rule equals the name of its score, as `select_within_gap` does.

    Parameters
    ----------
    score : str
        Name of the score, a key of ``scoring``; "score" where there is a single one.
    simplest : str or callable
        Name of a parameter of the search that holds numbers, of which the smallest is the
        simplest; with "-" in front, the largest. Or a function of a candidate's parameters, a
        dict, that gives a key to sort by, smallest first; to be pickled with the search it
        has to be a function of a module, not a lambda.
    test_fraction : float, default=None
        Share of the rows that each split tests on, between 0 and 1. None takes each split
        for one of as many folds: ``1 / n_splits``. With repeated folds or random splits pass
        it, such as 0.2 for 5 folds repeated 10 times.
    level : float, default=0.95
        Candidates are tied with the best unless their adjusted p value is at most 1 - level.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; in a search, if the score is not there, all
        candidates failed, tied candidates have no such parameter or one that is no number, or
        there are more than 10 splits, hardly folds that test each row once, and no
        ``test_fraction``.

    See Also
    --------
    luck_report : The candidates with their differences to the best and p values.
    select_within_gap : The best candidate within a limit of the gap.

    Notes
    -----
    As the rule of one standard error does, it takes a model that is simpler for a score that
    is not known to be lower; but by a test of the paired differences that allows for what
    splits have in common [1]_, adjusted for the number of pairs. Of the candidates that
    are equally simple the one with the best score is picked. Too small a ``test_fraction`` calls
    too many differences real, and fewer candidates tied.

    A callable for ``refit=`` sees ``cv_results_`` only, not the splitter; hence ``test_fraction``.

    With few splits the test tells little apart, and a much simpler candidate that is somewhat
    worse may be picked: repeat the folds.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52(3). https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
    >>> from skfedauc import select_simplest_tied
    >>> X, y = make_classification(200, random_state=0)
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.0001, 0.01, 1.0]},
    ...     scoring="roc_auc",
    ...     cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0),
    ...     refit=select_simplest_tied("score", simplest="C", test_fraction=0.2),
    ... ).fit(X, y)
    >>> search.best_params_
    {'C': 0.0001}
    """

    _: KW_ONLY
    simplest: str | Callable[[Mapping[str, Any]], Any]
    test_fraction: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        simplest = self.simplest
        if not callable(simplest) and not (isinstance(simplest, str) and simplest.strip("-")):
            raise TypeError(
                "simplest must be the name of a parameter, with '-' in front if larger is simpler, "
                f"or a function of a candidate's parameters; got {simplest!r}."
            )
        if self.test_fraction is not None:
            share = validation.check_share(self.test_fraction, "test_fraction")
            self._set("test_fraction", share)
        self._set("level", check_level(self.level))

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Index of the picked candidate among those of ``cv_results_``."""
        score = self.score
        fraction = self.test_fraction
        if fraction is None:
            fraction = self._fraction_of_folds(split_scores(cv_results, score).shape[1])
        compared = compared_with_best(cv_results, score, fraction, self.level)
        tied = compared.candidates[compared.tied].tolist()
        parameters = list(cv_results["params"])
        keys = [self._key(parameters[candidate]) for candidate in tied]
        # They are in order of score, and the first of equal keys is taken.
        return int(tied[keys.index(min(keys))])

    def _fraction_of_folds(self, n_splits: int) -> float:
        if n_splits > _MOST_FOLDS:
            raise ValueError(
                f"select_simplest_tied cannot tell what share of the rows each of {n_splits} "
                "splits tests on; pass test_fraction, such as 0.2 for 5 folds that are repeated."
            )
        return 1 / n_splits

    def _key(self, parameters: Mapping[str, Any]) -> Any:
        if not isinstance(self.simplest, str):
            return self.simplest(parameters)
        name = self.simplest.removeprefix("-")
        if name not in parameters:
            raise ValueError(
                f"simplest={self.simplest!r} names no parameter of the tied candidate "
                f"{parameters!r}; name one that all candidates have, or pass a function of their "
                "parameters."
            )
        value = parameters[name]
        if not isinstance(value, Real) or np.isnan(float(value)):
            raise ValueError(
                f"simplest={self.simplest!r}: the tied candidate {parameters!r} has {value!r}, "
                "which is no number to sort by; pass a function of the parameters, such as "
                f"lambda p: order.index(p[{name!r}])."
            )
        return -value if self.simplest.startswith("-") else value


def pareto_front(search: Any, *, score: str, gap: Gap = "difference") -> pd.DataFrame:
    """List the candidates of a search that no other beats in both score and gap.

    Parameters
    ----------
    search : fitted GridSearchCV or RandomizedSearchCV
        With the score and the gap among its metrics.
    score : str
        Name of the score, a key of ``scoring``.
    gap : {"difference", "cross_difference", "tau"}, default="difference"
        Name of the gap; ``scoring`` has to hold it with ``"neg_"`` in front.

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
    TypeError
        If `score` is not a str.
    NotFittedError
        If the search is not fitted.

    See Also
    --------
    select_within_gap : For ``refit=``, the best score within a limit of the gap.
    CandidatesDisplay : The plot of all candidates.

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
    if not isinstance(score, str):
        raise TypeError(f"score must be the name of a score; got {type(score).__name__}.")
    results = search.cv_results_
    scores, gaps = scores_and_gaps(results, score, _checked_gap(gap))
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


def _checked_gap(gap: Any) -> Gap:
    gaps = [name for name, statistic in STATISTICS.items() if not statistic.greater_is_better]
    if not isinstance(gap, str) or gap not in gaps:
        raise ValueError(f"gap must be one of {', '.join(map(repr, gaps))}; got {gap!r}.")
    return cast(Gap, gap)


def scores_and_gaps(
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
    if gap == "tau":
        # Scorers give its square, which is unbiased; the root is cut at 0 after averaging.
        gaps = np.sqrt(np.maximum(gaps, 0.0))
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
