"""Rules that select a candidate of a search, for ``refit=``."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.inference.limits import check_confidence_level
from skfedauc.model_selection.candidates import (
    check_margin,
    compared_with_best,
    split_scores,
)
from skfedauc.report import STATISTICS


@dataclass(frozen=True, eq=False, repr=False)
class _RefitRule:
    """Base class of refit rules: a callable that is also a key of the search's scorers.

    A search looks up its scorer by ``scorer_[refit]``. A rule therefore equals the name of its
    score and has the hash of this name. Two rules are equal if all their parameters are equal.
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
        """Return the score's name, for keys such as ``f"mean_test_{search.refit}"``."""
        return format(self.score, spec)

    def __repr__(self) -> str:
        score, *others = self._parameters().items()
        shown = [f"{name}={_shown(value)}" for name, value in others]
        return f"{type(self).__name__}({', '.join([repr(score[1]), *shown])})"

    def _parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _set(self, name: str, value: Any) -> None:
        """Store a validated parameter; rules are otherwise immutable, since rules are dict keys."""
        object.__setattr__(self, name, value)


def _shown(value: Any) -> str:
    """Format a parameter as code."""
    name = getattr(value, "__qualname__", None)
    return str(name) if callable(value) and name else repr(value)


@dataclass(frozen=True, eq=False, repr=False)
class SelectWithinGap(_RefitRule):
    """Refit rule that selects the best score among candidates with a gap within a limit.

    Pass the rule as ``refit=`` to `GridSearchCV` or `RandomizedSearchCV` with several metrics. It
    equals the name of its score, so ``search.score`` and nested cross-validation work, which fail
    with a plain function. Halving searches ignore it.

    Parameters
    ----------
    score : str
        Name of the score to maximize, a key of ``scoring``.
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
    SelectSimplest : Select the simplest candidate tied with the best.
    CandidatesDisplay : Plot the candidates and the front.

    Notes
    -----
    With small folds, the difference is mostly sampling error: with 4 hospitals of equal true AUC
    (500 rows each, AUC .76, 5 folds), its mean over the folds was .10 on average. Set `at_most`
    above what equal groups would show. The search has no `best_score_`; the score is
    ``cv_results_["mean_test_..."][best_index_]``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skfedauc import (
    ...     SelectWithinGap, WithinGroupStratifiedKFold, group_auc_scoring
    ... )
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"dose": rng.normal(size=400), "site": [1, 2] * 200})
    >>> y = X["dose"] + rng.normal(size=400) > 0
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.001, 1.0]},
    ...     cv=WithinGroupStratifiedKFold(5, groups="site"),
    ...     scoring=group_auc_scoring(["pooled", "neg_difference"], groups="site"),
    ...     refit=SelectWithinGap("pooled", gap="difference", at_most=0.2),
    ... ).fit(X, y)
    >>> search.refit
    SelectWithinGap('pooled', gap='difference', at_most=0.2)
    """

    _: KW_ONLY
    gap: str = "difference"
    at_most: float

    def __post_init__(self) -> None:
        super().__post_init__()
        at_most = self.at_most
        if not (isinstance(at_most, float) and at_most == math.inf):
            at_most = _input.check_number(at_most, "at_most", at_least=0)
        checked_gap(self.gap)
        self._set("at_most", at_most)

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the selected candidate in ``cv_results_``."""
        score, gap = scores_and_gaps(cv_results, self.score, self.gap)
        within = gap <= self.at_most
        if not within.any():
            smallest = int(np.nanargmin(gap))
            warnings.warn(
                f"no candidate has a mean {self.gap} of at most {self.at_most:g}; selected the "
                f"candidate with the smallest {self.gap}, {gap[smallest]:.4g}.",
                UserWarning,
                stacklevel=2,
            )
            return smallest
        return int(np.argmax(np.where(within, score, -np.inf)))


# Largest probable number of splits without repetition; more splits are probably repeated folds.
_MOST_FOLDS = 10


@dataclass(frozen=True, eq=False, repr=False)
class SelectSimplest(_RefitRule):
    """Refit rule that selects the simplest candidate tied with, or not inferior to, the best.

    Pass the rule as ``refit=`` to `GridSearchCV` or `RandomizedSearchCV`; it equals the name of its
    score, as `SelectWithinGap` does. `compare_candidates` lists the candidates among which it
    selects.

    Parameters
    ----------
    score : str
        Score name, which is a key of ``scoring``; "score" for a single score.
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
        Non-inferiority margin, above 0, in units of the score. If None, the choice is among the
        tied candidates.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. In a search, if the score is missing, or all candidates
        failed. If a tied candidate lacks the parameter, or its value is not a number. If there are
        more than 10 splits, which are probably repeated folds, without ``test_fraction``.

    See Also
    --------
    compare_candidates : List the candidates with their differences from the best and p values.
    SelectWithinGap : Select the best candidate within a limit of the gap.

    Notes
    -----
    Like the one-standard-error rule, it prefers a simpler model whose score is not detectably
    lower, by a paired test that corrects for overlapping training sets [1]_. Among equally simple
    candidates, the best score wins. With few splits, the test has little power: the rule may select
    a somewhat worse candidate, or, with ``margin``, a needlessly complex one. Repeat the folds. To
    test the worst group of the selected model, use `GroupAUC.test_margin` with other rows, because
    the score "worst" of a fold is on average too low.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52(3). https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
    >>> from skfedauc import SelectSimplest
    >>> X, y = make_classification(200, random_state=0)
    >>> search = GridSearchCV(
    ...     LogisticRegression(),
    ...     {"C": [0.0001, 0.01, 1.0]},
    ...     scoring="roc_auc",
    ...     cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0),
    ...     refit=SelectSimplest("score", simplest="C", test_fraction=0.2),
    ... ).fit(X, y)
    >>> search.best_params_
    {'C': 0.0001}

    Select the simplest candidate that the test shows to be worse than the best by less than .1:

    >>> rule = SelectSimplest("score", simplest="C", test_fraction=0.2, margin=0.1)
    >>> search.cv_results_["params"][rule(search.cv_results_)]
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
        if self.test_fraction is not None:
            share = _input.check_share(self.test_fraction, "test_fraction")
            self._set("test_fraction", share)
        self._set("confidence_level", check_confidence_level(self.confidence_level))
        self._set("margin", check_margin(self.margin))

    def __call__(self, cv_results: Mapping[str, Any]) -> int:
        """Return the index of the selected candidate in ``cv_results_``."""
        score = self.score
        fraction = self.test_fraction
        if fraction is None:
            fraction = self._fraction_of_folds(split_scores(cv_results, score).shape[1])
        compared = compared_with_best(
            cv_results, score, fraction, self.confidence_level, self.margin
        )
        accepted = compared.candidates[compared.accepted].tolist()
        parameters = list(cv_results["params"])
        keys = [self._key(parameters[candidate]) for candidate in accepted]
        # Candidates have the order of their scores, so the first candidate of a key is the best.
        return int(accepted[keys.index(min(keys))])

    def _fraction_of_folds(self, n_splits: int) -> float:
        if n_splits > _MOST_FOLDS:
            raise ValueError(
                f"SelectSimplest does not know the share of the rows in the test set of each of "
                f"{n_splits} splits; pass test_fraction, such as 0.2 for 5 folds that are repeated."
            )
        return 1 / n_splits

    def _key(self, parameters: Mapping[str, Any]) -> Any:
        if not isinstance(self.simplest, str):
            return self.simplest(parameters)
        name = self.simplest.removeprefix("-")
        if name not in parameters:
            raise ValueError(
                f"simplest={_words.shortened(self.simplest)} names no parameter of the tied "
                f"candidate, which has {_words.all_shortened(list(parameters)[:20])}; name a "
                "parameter that all candidates have, or pass a function of their parameters."
            )
        value = parameters[name]
        if not isinstance(value, Real) or np.isnan(float(value)):
            raise ValueError(
                f"simplest={_words.shortened(self.simplest)}: the tied candidate "
                f"{_words.shortened(parameters)} has {_words.shortened(value)}, "
                "which is not a number; pass a function of the parameters, such as "
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
    cv_results: Mapping[str, Any], score: str, gap: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean score and mean gap of each candidate; NaN for failed candidates."""
    keys = (f"mean_test_{score}", f"mean_test_neg_{gap}")
    absent = [key.removeprefix("mean_test_") for key in keys if key not in cv_results]
    if absent:
        there = [k.removeprefix("mean_test_") for k in cv_results if k.startswith("mean_test_")]
        named = " or ".join(map(_words.shortened, absent))
        raise ValueError(
            f"the search has no score named {named}; it has "
            f"{', '.join(map(repr, there))}. Pass scoring=group_auc_scoring([...], groups=...); "
            "there, names of gaps have the prefix 'neg_'."
        )
    scores = np.asarray(cv_results[keys[0]], np.float64)
    gaps = -np.asarray(cv_results[keys[1]], np.float64)
    # Differences of measures are not in the table.
    statistic = STATISTICS.get(gap)
    if statistic is not None and statistic.from_score is not None:
        gaps = statistic.from_score(gaps)
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
