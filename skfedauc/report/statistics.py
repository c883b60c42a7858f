"""Table of named statistics, shared by reports, functions, scorers and refit rules.

A statistic is a function of `GroupEstimates` that raises `NotDefined` if it has no value. So are
its limits, and the certain interval of a gap of binned scores, which follows from those of the AUCs
by interval arithmetic.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _labels, _words
from skfedauc._kernel import number_cells
from skfedauc.counts import DisclosureError, moments
from skfedauc.counts.disclosure import Need, lacking
from skfedauc.counts.moments import Floats
from skfedauc.inference import heterogeneity, intervals, measures
from skfedauc.inference.curves import LogitErrors
from skfedauc.inference.quantiles import OverGroups, variance_over_groups
from skfedauc.inference.variances import Variances, clustered_variance, freedom_of_shares
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

_NO_GAP = "a gap needs two groups with rows of both classes"
_NO_GROUP = "needs a group with both classes"


class Bounds(NamedTuple):
    """Certain interval of a value, or of each of several values; NaN for an undefined value."""

    low: Any
    high: Any


class Sampling(NamedTuple):
    """Arguments of a statistic's limits, each of which has the error probability `tail`.

    With `new_groups`, the groups are a sample of groups.
    """

    tail: float
    method: intervals.Method
    new_groups: bool


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


# Weights of the group AUCs in each average.
AVERAGES: dict[str, Callable[[GroupPairs], NDArray[Any]]] = {
    "macro": lambda pairs: np.ones(pairs.n_groups),
    "samples": lambda pairs: pairs.positives + pairs.negatives,
    "positives": lambda pairs: pairs.positives,
    "negatives": lambda pairs: pairs.negatives,
    "within": lambda pairs: pairs.of_group,
}


def average(estimates: GroupEstimates, weights: str | Mapping[Any, float]) -> float:
    of_groups = average_weights(weights, estimates.pairs)
    auc, used = estimates.values_in_use, estimates.group_values[1]
    of_group = of_groups[used]
    total = float(of_group.sum())
    if not total > 0:
        raise NotDefined("no group with a weight above 0 has rows of both classes")
    # Avoid a dot product, because its rounding depends on the number of threads.
    return min(float((of_group * auc).sum()) / total, 1.0)


def shares(estimates: GroupEstimates, name: str) -> NDArray[np.float64] | None:
    """Return group weights in an average, with sum 1; None if no group has weight."""
    _, used = estimates.group_values
    weights = np.where(used, AVERAGES[name](estimates.pairs).astype(np.float64), 0.0)
    total = float(weights.sum())
    return weights / total if total > 0 else None


def _average_limits(estimates: GroupEstimates, sampling: Sampling, name: str) -> intervals.Interval:
    tail, method, new_groups = sampling
    measure, defined, share = estimates.measure, estimates.pairs.defined, shares(estimates, name)
    if share is None or not (measure.is_auc or defined[share > 0].any()):
        raise NotDefined(_NO_GROUP)
    if measure.is_auc:
        in_use = estimates.in_use
        return intervals.average_interval(in_use, share, tail, method, new_groups=new_groups)
    low, high = measure.scale
    index = (estimates.group_values[0] - low) / (high - low)
    used = share > 0
    if (used & defined).sum() > 1 and not measures.has_valid_averages(measure):
        raise NotDefined("no interval: averages of the average precision of few rows are biased")
    value = np.clip((share[used] * index[used]).sum(keepdims=True), 0.0, 1.0)
    few, of_class = measures.few_within(measure, estimates.curves, tail)
    n_few, note = int(few[used].sum()), ""
    if n_few:
        note = f"biased: {_words.counted(n_few, 'group')} with few {of_class}s within the rates"
    if not new_groups:
        # A number that replaces the value of a group has no variance.
        counted = np.where(defined, share, 0.0)
        return _on_scale(estimates, *estimates.errors.averaged(counted).limits(value, tail), note)
    if used.sum() < 2:
        raise NotDefined("needs two groups")
    variance = variance_over_groups(index[used], share[used])
    if not variance > 0:
        raise NotDefined("no variation seen: no interval")
    quantile = OverGroups(share[used]).quantile(tail)
    return _on_scale(estimates, *intervals.limits(value, variance, quantile, "logit"), note)


def _on_scale(
    estimates: GroupEstimates, low: Floats, high: Floats, note: str = ""
) -> intervals.Interval:
    least, most = (float(measures.value_of(estimates.measure, end)[0]) for end in (low, high))
    return intervals.Interval(np.nan, least, most, note)


def pooled(estimates: GroupEstimates) -> float:
    """AUC of all rows together."""
    check_determined("pooled", estimates)
    value = estimates.pooled_value
    if np.isnan(value):
        raise NotDefined("the pooled AUC needs rows of both classes")
    return value


def _pooled_limits(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    tail, method, new_groups = sampling
    if np.isnan(estimates.pooled_value):
        raise NotDefined(_NO_GROUP)
    if estimates.measure.is_auc:
        return intervals.pooled_interval(estimates.pooled, tail, method, new_groups=new_groups)
    whole = estimates.whole
    if new_groups:
        variance, freedom = pooled_clustered(estimates)
        if not variance > 0:
            raise NotDefined("needs two groups with rows of each class")
        errors = LogitErrors(np.array([variance]), np.array([freedom]))
        return _on_scale(estimates, *errors.limits(whole.index, tail))
    low, high, note = whole.limits(tail, method)
    return intervals.Interval(np.nan, float(low[0]), float(high[0]), note.column[0])


def pooled_clustered(estimates: GroupEstimates) -> tuple[float, float]:
    """Return the variance of the pooled index for random groups, and its degrees of freedom.

    The influence values of each group's rows are summed, because rows in a group are dependent. The
    formulas are those of `clustered_variance` and `Variances.cluster_freedom` for AUCs.
    """
    curves, pooled, counts = estimates.curves, estimates.whole.curves, estimates.pairs.counts
    influence = measures.influence_of(estimates.measure, pooled)
    # The cells of the pooled curve are the distinct scores of all groups.
    place, _ = number_cells(counts.cells.scores)
    sides = (
        (curves.positives, influence.positives, pooled.top - pooled.bottom,
         curves.top - curves.bottom),
        (curves.negatives, influence.negatives, pooled.right - pooled.left,
         curves.right - curves.left),
    )  # fmt: skip
    residuals, share = [], np.zeros(len(counts))
    for rows, values, of_all, of_group in sides:
        centered = values - float((of_all * values).sum())
        weight = rows.weight / rows.weight.sum()
        residuals.append(curves.sums(of_group * centered[place]) * weight)
        share += weight / 2.0
    variance = clustered_variance(residuals, [curves.positives.weight, curves.negatives.weight])
    return variance, freedom_of_shares(share)


def _values(estimates: GroupEstimates, least: int = 2) -> Floats:
    """Return the values of the groups in use, if they are at least `least` groups."""
    if estimates.values_in_use.size < least:
        raise NotDefined(_NO_GAP if least > 1 else "no group has rows of both classes")
    return estimates.values_in_use


def _worst_limits(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return the limits of the smallest value.

    It belongs to one group, so lower limits need no adjustment; Bonferroni adjusts upper limits.
    """
    values = estimates.values_in_use
    if not values.size:
        raise NotDefined(_NO_GROUP)
    low = estimates.limits_in_use(0, sampling.tail, sampling.method)
    high = estimates.limits_in_use(1, sampling.tail / values.size, sampling.method)
    return intervals.Interval(float(values.min()), float(low.min()), float(high.min()))


def _difference_bounds(estimates: GroupEstimates) -> Bounds:
    low, high = (end.values_in_use for end in estimates.extremes)
    widest = high + _largest_of_others(-low)
    return Bounds(max(0.0, float(low.max() - high.min())), float(widest.max()))


def _difference_limits(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return the limits of the largest minus the smallest value.

    The lower limit of "exact" fails only if a limit of a group fails (Bonferroni). The upper limit
    has to cover the true difference of two groups.
    """
    values, method = estimates.values_in_use, sampling.method
    if not values.size:
        raise NotDefined(_NO_GROUP)
    if values.size < 2:
        raise NotDefined("needs two groups with both classes")
    if method != "exact":
        limits = estimates.all_pairs(method).largest(2.0 * sampling.tail)
        return intervals.Interval(np.ptp(values), *limits)

    (lowest, highest), tail = estimates.extremes, sampling.tail / 2.0
    low = lowest.limits_in_use(0, tail / values.size, method)
    high = highest.limits_in_use(1, tail / values.size, method)
    least = max(float(low.max() - high.min()), 0.0)
    low, high = lowest.limits_in_use(0, tail, method), highest.limits_in_use(1, tail, method)
    return intervals.Interval(np.ptp(values), least, float(high.max() - low.min()))


def _largest_of_others(values: Floats) -> Floats:
    found = np.full(values.size, values.max())
    place = int(values.argmax())
    found[place] = np.delete(values, place).max()
    return found


def ratio(estimates: GroupEstimates) -> float:
    """Smallest over largest group AUC."""
    auc = _values(estimates)
    if auc.max() <= 0:
        raise NotDefined("a ratio needs a group with an AUC above 0", more_rows_help=False)
    return float(auc.min() / auc.max())


def _ratio_bounds(estimates: GroupEstimates) -> Bounds:
    low, high = (end.values_in_use for end in estimates.extremes)
    # A group with an AUC of certainly 0 has the largest AUC only if all AUCs are 0. The ratio is
    # then undefined.
    largest = _largest_of_others(high)
    smallest = np.divide(low, largest, out=np.full(low.size, np.inf), where=largest > 0).min()
    most = float(high.min() / low.max()) if low.max() > 0 else 1.0
    return Bounds(min(float(smallest), 1.0), min(most, 1.0))


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


def _cross_difference_bounds(estimates: GroupEstimates) -> Bounds:
    both = np.ix_(estimates.pairs.defined, estimates.pairs.defined)
    low, high = (end.pairs.cross_auc[both] for end in estimates.extremes)
    off = ~np.eye(len(low), dtype=np.bool_)
    # The two cross AUCs of a pair of groups share no row, so each can be at either end.
    least, most = (low - high.T)[off], (high - low.T)[off]
    return Bounds(max(0.0, float(np.nanmax(least))), float(np.nanmax(most)))


def bias_aucs(pairs: GroupPairs) -> dict[str, NDArray[np.float64]]:
    """Compare the rows in each group with the rows in all other groups: columns of a table."""
    u2, of_all = pairs.over_others
    # Rounding of weights may give slightly more than 1.
    share = np.clip(moments.ratio(u2, of_all), 0.0, 1.0)
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
    bias = bias_aucs(estimates.pairs)
    compared = (estimates.values_in_use, bias["bpsn_auc"], bias["bnsp_auc"])
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


def _spread(estimates: GroupEstimates, estimator: Callable[[Variances], float]) -> float:
    if estimates.pairs.rows_repeat:
        raise NotDefined("tau needs folds that test each row at most once")
    if estimates.variances.shares_clusters:
        raise NotDefined("tau needs groups that share no clusters", more_rows_help=False)
    found = estimator(estimates.variances)
    if np.isnan(found):
        raise NotDefined("tau needs two groups with two rows of each class")
    return found


# Unbiased estimate of the square of tau, which may be negative
squared_tau = functools.partial(_spread, estimator=heterogeneity.squared_tau)


class Statistic(NamedTuple):
    """A named statistic: its function, its intervals, and its properties for scorers.

    A statistic with ``limits`` exists for all measures, others for AUCs only. ``is_mean`` states
    that the limits may be those for new groups. ``is_monotone`` states that the statistic does not
    decrease when a positive gets a higher rank, so that its values at both extremes bound it;
    ``bounds`` is the certain interval of a gap. Neither holds for tau, which depends on variances.

    ``is_auc`` states that the statistic is on the scale of an AUC. ``needs_scores`` states that a
    summary by group does not determine it. ``score`` is None, or the function that scorers use
    instead of ``compute``, because its mean over folds is unbiased; ``from_score`` converts a mean
    of ``score`` to the statistic.
    """

    compute: Callable[[GroupEstimates], float]
    limits: Callable[[GroupEstimates, Sampling], intervals.Interval] | None = None
    bounds: Callable[[GroupEstimates], Bounds] | None = None
    is_monotone: bool = False
    is_mean: bool = False
    is_auc: bool = False
    needs_scores: bool = False
    needs_matrix: bool = False
    greater_is_better: bool = True
    score: Callable[[GroupEstimates], float] | None = None
    from_score: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None

    @property
    def scored(self) -> Callable[[GroupEstimates], float]:
        """Function of scorers and of metrics of gradient boosting."""
        return self.score or self.compute


_of_auc = functools.partial(Statistic, is_monotone=True, is_auc=True)
_gap = functools.partial(Statistic, greater_is_better=False)

STATISTICS: dict[str, Statistic] = {
    "pooled": _of_auc(pooled, _pooled_limits, is_mean=True, needs_scores=True),
    **{
        name: _of_auc(
            functools.partial(average, weights=name),
            functools.partial(_average_limits, name=name),
            is_mean=True,
        )
        for name in AVERAGES
    },
    "worst": _of_auc(lambda of: float(_values(of, 1).min()), _worst_limits),
    "ratio": Statistic(ratio, bounds=_ratio_bounds),
    "cross": _of_auc(cross, needs_scores=True),
    "difference": _gap(
        lambda of: float(np.ptp(_values(of))), _difference_limits, _difference_bounds
    ),
    "cross_difference": _gap(
        cross_difference, bounds=_cross_difference_bounds, needs_matrix=True, needs_scores=True
    ),
    "tau": _gap(
        functools.partial(_spread, estimator=heterogeneity.tau),
        score=squared_tau,
        from_score=lambda squares: np.sqrt(np.maximum(squares, 0.0)),
    ),
    "bias_score": Statistic(bias_score, is_monotone=True, needs_scores=True),
}


def statistics_of(measure: Measure) -> list[str]:
    return [name for name, of_name in STATISTICS.items() if measure.is_auc or of_name.limits]


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
    # As printed, so that a report never says "below every group's" of equal numbers.
    auc = np.round(estimates.values_in_use, 3)
    pooled, cross = (estimates.value_of(STATISTICS[of].compute) for of in ("pooled", "cross"))
    pooled = round(pooled, 3)
    is_above, is_below = pooled > auc.max(), pooled < auc.min()
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
    """Compute the statistics that the counts determine, without warnings and large matrices."""
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
    """Return the name of a statistic of `measure`; raise an error that lists all for another name.

    With `scorer`, gaps have the prefix "neg_", because greater is better in scorers.
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
    by_label = {_labels.as_label(label): weight for label, weight in dict(weights).items()}
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
