"""Table of named statistics, shared by reports, functions, scorers and refit rules."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words

if TYPE_CHECKING:
    from skfedauc.report.group_auc import GroupAUC

Undefined: TypeAlias = Literal["skip", "ignore", "raise"] | float

# Names of the table below, for type checkers; in scorers gaps have the prefix "neg_".
Average: TypeAlias = Literal["macro", "samples", "positives", "negatives", "within"]
Gap: TypeAlias = Literal["difference", "cross_difference", "tau"]
StatisticName: TypeAlias = (
    Average | Gap | Literal["pooled", "worst", "ratio", "cross", "bias_score"]
)
ScorerStatistic: TypeAlias = (
    Average
    | Literal["pooled", "worst", "ratio", "cross", "bias_score"]
    | Literal["neg_difference", "neg_cross_difference", "neg_tau"]
)


class Statistic(NamedTuple):
    """A named statistic: its function and its properties for scorers.

    ``score``, if given, is the function that scorers use instead of ``compute``, because its mean
    over folds is unbiased.
    """

    compute: Callable[[GroupAUC], float]
    greater_is_better: bool = True
    needs_matrix: bool = False
    score: Callable[[GroupAUC], float] | None = None


# Weights of the group AUCs in each average.
AVERAGES: dict[str, Callable[[GroupAUC], NDArray[Any]]] = {
    "macro": lambda report: np.ones(report.n_groups),
    "samples": lambda report: report.pairs.positives + report.pairs.negatives,
    "positives": lambda report: report.pairs.positives,
    "negatives": lambda report: report.pairs.negatives,
    "within": lambda report: report.pairs.of_group,
}


def _average(report: GroupAUC, name: str) -> float:
    return report.average(name)


def _cross(report: GroupAUC) -> float:
    cross = report.decomposition().cross
    if np.isnan(cross):
        return report._not_defined("the cross AUC needs a pair of rows from two groups")
    return cross


STATISTICS: dict[str, Statistic] = {
    "pooled": Statistic(lambda report: report.pooled),
    **{name: Statistic(functools.partial(_average, name=name)) for name in AVERAGES},
    "worst": Statistic(lambda report: report.worst),
    "ratio": Statistic(lambda report: report.ratio),
    "cross": Statistic(_cross),
    "difference": Statistic(lambda report: report.difference, greater_is_better=False),
    "cross_difference": Statistic(
        lambda report: report.cross_difference, greater_is_better=False, needs_matrix=True
    ),
    "tau": Statistic(
        lambda report: report.tau,
        greater_is_better=False,
        score=lambda report: report._squared_tau,
    ),
    "bias_score": Statistic(lambda report: report.bias_score()),
}

# Names used by other tools, and the corresponding names here.
_OTHER_NAMES = {
    "micro": "'pooled' (all rows together)",
    "weighted": "'positives' (groups weighted by their number of positives, the support)",
    "auc": "'pooled'",
    "pairs": "'within'",
    "stratified": "'within'",
    "gauc": "'samples' (by impressions), 'positives' (by clicks) or 'macro'",
    "mean": "'macro'",
    "min": "'worst'",
    "gap": "'difference'",
}


def check_statistic(name: Any, *, scorer: bool = False) -> str:
    """Return the name if there is such a statistic; otherwise raise an error that lists all names.

    With `scorer`, names are those of scorers, where greater is better: gaps have the prefix
    "neg_".
    """
    names = {
        name if statistic.greater_is_better or not scorer else f"neg_{name}": None
        for name, statistic in STATISTICS.items()
    }
    if isinstance(name, str) and name in names:
        return name
    hint = ""
    if isinstance(name, str):
        near = difflib.get_close_matches(name.lower(), names, n=1)
        if name.lower() in _OTHER_NAMES:
            hint = f" {_words.shortened(name)} corresponds to {_OTHER_NAMES[name.lower()]} here."
        elif scorer and f"neg_{name}" in names:
            hint = f" Greater must be better in a scorer: use 'neg_{name}'."
        elif not scorer and name.removeprefix("neg_") in names:
            plain = name.removeprefix("neg_")  # a known statistic
            hint = f" Only scorers have the prefix 'neg_': use {plain!r}."
        elif near:
            hint = f" Did you mean {_words.shortened(near[0])}?"
    raise ValueError(
        f"statistic must be one of {', '.join(map(repr, names))}; got "
        f"{_words.shortened(name)}.{hint}"
    )


def check_undefined(undefined: Any) -> Undefined:
    """Validate the argument `undefined`; return numbers as float."""
    if isinstance(undefined, str) and undefined in ("skip", "ignore", "raise"):
        return cast(Undefined, undefined)
    is_number = isinstance(undefined, int | float) and not isinstance(undefined, bool)
    if is_number and 0 <= undefined <= 1:
        return float(undefined)
    raise ValueError(
        "undefined must be 'skip', 'ignore', 'raise' or a number from 0 to 1, used as "
        f"the AUC of groups that lack a class; got {_words.shortened(undefined)}."
    )
