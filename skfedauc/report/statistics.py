"""Table of named statistics, shared by reports, functions, scorers and refit rules.

A statistic is a function of `GroupEstimates` that raises `NotDefined` if it has no value.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts import DisclosureError
from skfedauc.counts.disclosure import Need, lacking
from skfedauc.inference import heterogeneity
from skfedauc.inference.variances import Variances
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs, share_of
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import NotDefined

# Names of the statistics below, for type checkers. In scorers, gaps have the prefix "neg_".
Average: TypeAlias = Literal["macro", "samples", "positives", "negatives", "within"]
Gap: TypeAlias = Literal["difference", "cross_difference", "tau"]
_Other: TypeAlias = Literal["pooled", "worst", "ratio", "cross", "bias_score"]
StatisticName: TypeAlias = Average | Gap | _Other
ScorerStatistic: TypeAlias = (
    Average | _Other | Literal["neg_difference", "neg_cross_difference", "neg_tau"]
)

# Largest number of groups in tables with statistics that need the cross matrix.
MATRIX_GROUPS = 500
# If the share of the cross-group pairs is smaller, sum their weights directly, because a difference
# of two sums loses precision.
_FEW_CROSS = 1e-3
# Power of the generalized means of the bias score, and its share of the pooled AUC
_POWER, _POOLED_SHARE = -5.0, 0.25

NO_SPREAD = "tau needs two groups with two rows of each class"
_NO_GAP = "a gap needs two groups with rows of both classes"


class Decomposition(NamedTuple):
    """Decomposition of the pooled AUC into pairs within groups and pairs across groups.

    ``pooled = share_within * within + (1 - share_within) * cross``.

    Attributes
    ----------
    within : float
        AUC over the pairs whose positive and negative are in the same group.
    cross : float
        AUC over the pairs whose positive and negative are in different groups.
    share_within : float
        Share of the pairs that are within groups.
    """

    within: float
    cross: float
    share_within: float


def decomposition(pairs: GroupPairs) -> Decomposition:
    """Split the pooled AUC into pairs within groups and pairs across groups."""
    (u2, weight), (u2_within, weight_within) = pairs.pooled, pairs.within
    if not pairs.has_cross_pairs:
        cross = float("nan")
    elif pairs.u2.dtype.kind == "f" and weight - weight_within < _FEW_CROSS * weight:
        # Sum these few pairs directly, because the difference of two large sums has a large
        # rounding error.
        u2_across, across = pairs.over_others
        cross = share_of(u2_across[1, 0].sum(), across[1, 0].sum())
    else:
        cross = share_of(u2 - u2_within, 2 * (weight - weight_within))
    within = share_of(u2_within, 2 * weight_within)
    return Decomposition(within, cross, share_of(weight_within, weight))


# Averages --------------------------------------------------------------------------------------

# Weights of the group AUCs in each average.
AVERAGES: dict[str, Callable[[GroupPairs], NDArray[Any]]] = {
    "macro": lambda pairs: np.ones(pairs.n_groups),
    "samples": lambda pairs: pairs.positives + pairs.negatives,
    "positives": lambda pairs: pairs.positives,
    "negatives": lambda pairs: pairs.negatives,
    "within": lambda pairs: pairs.of_group,
}


def average(estimates: GroupEstimates, weights: Callable[[GroupPairs], NDArray[Any]]) -> float:
    """Weighted average of the group AUCs."""
    auc, used = estimates.group_values
    of_group = weights(estimates.pairs).astype(np.float64)
    total = float(of_group[used].sum())
    if not total > 0:
        raise NotDefined("no group with a weight above 0 has rows of both classes")
    # Avoid a dot product, because its rounding depends on the number of threads.
    return min(float((of_group[used] * auc[used]).sum()) / total, 1.0)


def shares(estimates: GroupEstimates, name: str) -> NDArray[np.float64] | None:
    """Return group weights in an average, with sum 1; None if no group has weight."""
    _, used = estimates.group_values
    weights = np.where(used, AVERAGES[name](estimates.pairs).astype(np.float64), 0.0)
    total = float(weights.sum())
    return weights / total if total > 0 else None


# Other statistics ------------------------------------------------------------------------------


def pooled(estimates: GroupEstimates) -> float:
    """AUC of all rows together."""
    check_determined("pooled", estimates)
    value = estimates.pooled_value
    if np.isnan(value):
        raise NotDefined("the pooled AUC needs rows of both classes")
    return value


def worst(estimates: GroupEstimates) -> float:
    """Smallest group AUC."""
    auc, used = estimates.group_values
    if not used.any():
        raise NotDefined("no group has rows of both classes")
    return float(auc[used].min())


def difference(estimates: GroupEstimates) -> float:
    """Largest minus smallest group AUC."""
    auc, used = estimates.group_values
    if used.sum() < 2:
        raise NotDefined(_NO_GAP)
    return float(auc[used].max() - auc[used].min())


def ratio(estimates: GroupEstimates) -> float:
    """Smallest over largest group AUC."""
    auc, used = estimates.group_values
    if used.sum() < 2:
        raise NotDefined(_NO_GAP)
    if auc[used].max() <= 0:
        raise NotDefined("a ratio needs a group with an AUC above 0", more_rows_help=False)
    return float(auc[used].min() / auc[used].max())


def cross(estimates: GroupEstimates) -> float:
    """AUC over the pairs of rows from different groups."""
    check_determined("cross", estimates)
    found = decomposition(estimates.pairs).cross
    if np.isnan(found):
        raise NotDefined("the cross AUC needs a pair of rows from two groups")
    return found


def cross_difference(estimates: GroupEstimates) -> float:
    """Largest absolute difference between the two cross AUCs of a pair of groups."""
    check_determined("cross_difference", estimates)
    # A number that replaces the AUC of a group does not replace the cross AUCs of the group.
    estimates.report_groups()
    both = estimates.pairs.defined
    if both.sum() < 2:
        raise NotDefined(_NO_GAP)
    matrix = estimates.pairs.cross_auc[np.ix_(both, both)]
    gaps = np.abs(matrix - matrix.T)[~np.eye(len(matrix), dtype=np.bool_)]
    if np.isnan(gaps).all():
        raise NotDefined("no pair of groups has two cross AUCs")
    return float(np.nanmax(gaps))


def bias_aucs(pairs: GroupPairs) -> dict[str, NDArray[np.float64]]:
    """Compare the rows in each group with the rows in all other groups: columns of a table."""
    u2, of_all = pairs.over_others
    share = np.full(u2.shape, np.nan)
    np.divide(u2, of_all, out=share, where=of_all > 0)
    # Rounding of weights may give slightly more than 1.
    np.clip(share, 0.0, 1.0, out=share)
    bpsn, bnsp = 1.0 - share[0, 1], share[1, 0]
    return {
        "auc": pairs.auc,
        "bpsn_auc": bpsn,
        "bnsp_auc": bnsp,
        "xauc_disparity": bnsp - bpsn,
        "positive_aeg": share[1, 1] - 0.5,
        "negative_aeg": share[0, 0] - 0.5,
    }


def bias_score(estimates: GroupEstimates) -> float:
    """Weighted mean of the pooled AUC and the generalized means of three AUCs by group."""
    check_determined("bias_score", estimates)
    auc, used = estimates.group_values
    bias = bias_aucs(estimates.pairs)
    compared = (auc[used], bias["bpsn_auc"], bias["bnsp_auc"])
    means = [_generalized_mean(values) for values in compared]
    if np.isnan(means).any():
        raise NotDefined(
            "the bias score needs a group with rows of both classes, and other groups with rows "
            "of both classes"
        )
    share = _POOLED_SHARE
    return float(share * estimates.pairs.pooled_auc + (1.0 - share) * np.mean(means))


def _generalized_mean(values: NDArray[np.float64]) -> float:
    """Generalized mean of the values that are not NaN."""
    values = values[~np.isnan(values)]
    if values.size == 0 or values.min() <= 0:
        return 0.0 if values.size else float("nan")
    # Divide by the value whose power is largest, so that no power overflows.
    scale = values.min()
    return float(scale * np.mean((values / scale) ** _POWER) ** (1.0 / _POWER))


def tau(estimates: GroupEstimates) -> float:
    """Standard deviation of the groups' true AUCs, by restricted maximum likelihood."""
    return _spread(estimates, heterogeneity.tau)


def squared_tau(estimates: GroupEstimates) -> float:
    """Unbiased estimate of the square of `tau`, which may be negative."""
    return _spread(estimates, heterogeneity.squared_tau)


def _spread(estimates: GroupEstimates, estimator: Callable[[Variances], float]) -> float:
    if estimates.pairs.rows_repeat:
        raise NotDefined("tau needs folds that test each row at most once")
    if estimates.variances.shares_clusters:
        raise NotDefined("tau needs groups that share no clusters", more_rows_help=False)
    found = estimator(estimates.variances)
    if np.isnan(found):
        raise NotDefined(NO_SPREAD)
    return found


# The table -------------------------------------------------------------------------------------


class Statistic(NamedTuple):
    """A named statistic: its function and its properties for scorers.

    ``score`` is None, or the function that scorers use instead of ``compute``, because its mean
    over folds is unbiased. ``from_score`` converts a mean of ``score`` to the statistic. ``is_auc``
    states that the statistic is on the scale of an AUC, so that displays may draw it as a line.
    ``needs_scores`` states that a summary by group does not determine the statistic.
    ``of_measures`` states that other measures than the AUC have the statistic.
    """

    compute: Callable[[GroupEstimates], float]
    greater_is_better: bool = True
    needs_matrix: bool = False
    score: Callable[[GroupEstimates], float] | None = None
    from_score: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    is_auc: bool = False
    needs_scores: bool = False
    of_measures: bool = False

    @property
    def scored(self) -> Callable[[GroupEstimates], float]:
        """Function of scorers and of metrics of gradient boosting."""
        return self.score or self.compute


STATISTICS: dict[str, Statistic] = {
    "pooled": Statistic(pooled, is_auc=True, needs_scores=True, of_measures=True),
    **{
        name: Statistic(functools.partial(average, weights=weights), is_auc=True, of_measures=True)
        for name, weights in AVERAGES.items()
    },
    "worst": Statistic(worst, is_auc=True, of_measures=True),
    "ratio": Statistic(ratio),
    "cross": Statistic(cross, is_auc=True, needs_scores=True),
    "difference": Statistic(difference, greater_is_better=False, of_measures=True),
    "cross_difference": Statistic(
        cross_difference, greater_is_better=False, needs_matrix=True, needs_scores=True
    ),
    "tau": Statistic(
        tau,
        greater_is_better=False,
        score=squared_tau,
        from_score=lambda squares: np.sqrt(np.maximum(squares, 0.0)),
    ),
    "bias_score": Statistic(bias_score, needs_scores=True),
}


def statistics_of(measure: Measure) -> list[str]:
    """Return the names of the statistics that a measure has."""
    return [name for name, of_name in STATISTICS.items() if measure.is_auc or of_name.of_measures]


def determined_statistics(estimates: GroupEstimates) -> list[str]:
    """Return the statistics of the measure that the counts determine at their disclosure level."""
    has_scores = estimates.pairs.has_scores
    names = statistics_of(estimates.measure)
    return [name for name in names if has_scores or not STATISTICS[name].needs_scores]


def across_groups(estimates: GroupEstimates) -> list[str]:
    """Return why the pooled AUC is above or below the AUC of every group, if it is."""
    is_exact = estimates.measure.is_auc and not estimates.pairs.is_binned
    if not is_exact or "cross" not in determined_statistics(estimates):
        return []
    auc, used = estimates.group_values
    pooled, cross = (estimates.value_of(STATISTICS[of].compute) for of in ("pooled", "cross"))
    is_above, is_below = pooled > auc[used].max(), pooled < auc[used].min()
    if not (is_above or is_below):
        return []
    why = f"because pairs across groups have an AUC of {cross:.3f}"
    return [f"pooled is {'above' if is_above else 'below'} every group's, {why}"]


def check_determined(name: str, estimates: GroupEstimates) -> None:
    """Raise a `DisclosureError` if a statistic needs scores, and the counts are a summary."""
    if estimates.pairs.has_scores:
        return
    known = _words.enumerated([repr(name) for name in determined_statistics(estimates)])
    lacks = lacking(estimates.pairs.counts.disclosure, Need.SCORES)
    raise DisclosureError(f"the statistic {name!r} {lacks} A summary determines {known}.")


def all_statistics(estimates: GroupEstimates) -> dict[str, float]:
    """Compute the named statistics without warnings.

    The result omits statistics that the counts do not determine, and statistics that need a large
    cross matrix.
    """
    quiet, is_large = estimates.quiet(), estimates.pairs.n_groups > MATRIX_GROUPS
    return {
        name: quiet.value_of(STATISTICS[name].compute)
        for name in determined_statistics(estimates)
        if not (STATISTICS[name].needs_matrix and is_large)
    }


# Names in other tools, and the corresponding names here.
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


def check_statistic(
    name: Any,
    *,
    scorer: bool = False,
    measure: Measure | None = None,
    argument: str = "statistic",
) -> str:
    """Return a statistic's name; raise an error that lists all names for another name.

    With `scorer`, gaps have the prefix "neg_", because greater is better in scorers. The statistics
    are those of `measure`; None means the AUC.
    """
    known = statistics_of(check_measure(measure))
    names = {
        name if STATISTICS[name].greater_is_better or not scorer else f"neg_{name}": None
        for name in known
    }
    hint = ""
    if isinstance(name, str) and name not in names:
        plain = name.removeprefix("neg_")
        near = difflib.get_close_matches(name.lower(), names, n=1)
        if name.lower() in _OTHER_NAMES:
            hint = f" {_words.shortened(name)} corresponds to {_OTHER_NAMES[name.lower()]} here."
        elif plain in STATISTICS and plain not in known:
            hint = f" {_words.shortened(plain)} is for AUCs only, and measure is {measure!r}."
        elif near:
            hint = f" Did you mean {_words.shortened(near[0])}?"
    return str(_input.check_option(argument, name, names, hint))


def average_weights(weights: str | Mapping[Any, float], pairs: GroupPairs) -> NDArray[np.float64]:
    """Return each group's weight; see `GroupAUC.average`."""
    if isinstance(weights, str):
        if weights not in AVERAGES:
            check_statistic(weights, argument="weights")
            raise ValueError(
                f"average({_words.shortened(weights)}): this statistic is not an average of group "
                f"AUCs; the averages are {', '.join(AVERAGES)}."
            )
        return AVERAGES[weights](pairs).astype(np.float64)
    if not hasattr(weights, "keys"):
        raise TypeError(
            "weights must be the name of an average, or a mapping with a weight for each group "
            f"label; got {_words.described(weights)}. Pass dict(zip(labels, weights))."
        )
    by_label = {_input.as_label(label): weight for label, weight in dict(weights).items()}
    groups = dict.fromkeys(pairs.counts.groups or ())
    absent = [group for group in groups if group not in by_label]
    unknown = [label for label in by_label if label not in groups]
    if absent or unknown:
        raise ValueError(
            f"weights must have one weight for each group; {len(absent)} of "
            f"{_words.counted(len(groups), 'group')} have no weight, such as "
            f"[{_words.all_shortened(absent[:3])}], and {_words.counted(len(unknown), 'label')} "
            f"without a group, such as [{_words.all_shortened(unknown[:3])}], have a weight."
        )
    return _input.check_weights([by_label[group] for group in groups], "weights")
