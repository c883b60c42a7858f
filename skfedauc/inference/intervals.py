"""Confidence intervals of the pooled AUC and of averages.

The limits of an average come from the limits of its groups (Zou and Donner 2008), so an average of
one group has the limits of that group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts.moments import Floats, ratio
from skfedauc.inference.limits import (
    NO_VARIATION,
    AUCSpread,
    Method,
    group_limits,
    limits,
)
from skfedauc.inference.quantiles import (
    OverGroups,
    normal_quantile,
    t_quantile,
    variance_over_groups,
)
from skfedauc.inference.variances import Pooled, Variances

Of = Literal["groups", "statistics"]
Over = Literal["rows", "groups"]

# Largest number of groups that are fixed by default. By default, more groups are random.
FEW_GROUPS = 20
THESE_GROUPS = "these groups, new rows"
NEW_GROUPS = "new groups like these"


class Interval(NamedTuple):
    """An estimate with its confidence limits and a remark, or arrays of these."""

    estimate: Any
    low: Any
    high: Any
    note: Any = ""


def is_over_groups(over: Any, n_groups: int) -> bool:
    """Return whether groups are random; None means random above `FEW_GROUPS` groups."""
    if over is None:
        return n_groups > FEW_GROUPS
    options = {
        "rows": "new rows of these groups",
        "groups": "new groups as well",
        None: f"'rows' up to {FEW_GROUPS} groups",
    }
    return bool(_input.check_option("over", over, options) == "groups")


def _not_for_new_groups(method: Method) -> str:
    return f"no {method} interval for new groups: pass over='rows'"


# The pooled AUC ------------------------------------------------------------------------------


def pooled_interval(
    pooled: Pooled, confidence_level: float, method: Method, *, new_groups: bool
) -> Interval:
    """Interval of the pooled AUC for fixed groups, or for random groups (`new_groups`)."""
    auc, tail = float(pooled.rows.auc[0]), (1.0 - confidence_level) / 2.0
    if method == "exact" and new_groups:
        return Interval(auc, np.nan, np.nan, _not_for_new_groups(method))
    if method == "exact" or (pooled.n_groups == 1 and not new_groups):
        low, high, note = group_limits(pooled.rows, tail, method)
        return Interval(auc, float(low[0]), float(high[0]), note[0])
    if not new_groups:
        return mean_pooled_interval([pooled], confidence_level, method)
    variance, remark = pooled.random, ""
    if np.isnan(variance):
        return Interval(auc, np.nan, np.nan, pooled.why_not_random)
    if variance == 0.0:
        variance, remark = float(pooled.rows.bounded[0]), NO_VARIATION
    low, high = limits(auc, variance, t_quantile(tail, pooled.random_freedom), method)
    return Interval(auc, float(low), float(high), remark)


def mean_pooled_interval(
    folds: Sequence[Pooled], confidence_level: float, method: Method
) -> Interval:
    """Interval of the mean pooled AUC of independent folds, by "logit" or "delong".

    The variance is that of the folds with groups as strata. With "logit", the result is the
    smallest interval that contains three others: with this variance, with the variance without
    strata, and with Newcombe's variance.
    """
    tail, n_folds = (1.0 - confidence_level) / 2.0, len(folds)
    of_all = [FoldAverage(fold.rows, np.ones(1), [0]) for fold in folds]
    of_strata = sum(fold.fixed for fold in folds) / n_folds**2
    if all(fold.n_groups == 1 for fold in folds) or (n_folds == 1 and not of_strata > 0):
        return mean_of_averages_interval(of_all, confidence_level, method)
    mean, _ = _over_folds(of_all)
    value = float(np.mean([fold.rows.auc[0] for fold in folds]))
    further = mean.limits(normal_quantile(tail), method)
    least, most = float(further[0][0]), float(further[1][0])
    if value == 1.0:
        return Interval(value, least, most, "perfect separation in every fold")
    if of_strata > 0:
        nearer = limits(value, of_strata, mean.quantile(normal_quantile(tail)), method)
        lower, upper = (float(np.ravel(limit)[0]) for limit in nearer)
        is_hull = method == "logit"
        least, most = (min(least, lower), max(most, upper)) if is_hull else (lower, upper)
    return Interval(value, least, most)


# Averages ------------------------------------------------------------------------------------


class FoldAverage(NamedTuple):
    """An average of the group AUCs of a fold: groups in use, their weights (sum 1) and labels."""

    variances: Variances
    share: Floats
    groups: Sequence[Any]


def _over_folds(folds: Sequence[FoldAverage]) -> tuple[AUCSpread, Floats]:
    """Return the mean over folds, whose rows are independent, of each group's AUC, and its share.

    Newcombe's variance of such a mean assumes the same true AUC in all folds.
    """
    numbers: dict[Any, int] = {}
    group = np.array(
        [numbers.setdefault(label, len(numbers)) for fold in folds for label in fold.groups]
    )
    share = np.concatenate([fold.share for fold in folds]) / len(folds)
    total = np.bincount(group, share).astype(np.float64)
    part = ratio(share, total[group], 0.0)
    used = part > 0
    columns = zip(*(AUCSpread.of(fold.variances)[:5] for fold in folds), strict=True)
    auc, variance, pairs, once, often = map(np.concatenate, columns)
    varies = used & (variance > 0)

    def added(values: Floats, counted: NDArray[np.bool_]) -> Floats:
        found = np.bincount(group[counted], values[counted], total.size)
        return found.astype(np.float64)

    mean = added(part * auc, used)
    # The probability of perfect separation in all folds is at most the product of A_k**n_k, and
    # thus at most the mean AUC to the power of the smallest n_k / part_k.
    n_pairs, least = np.full((2, total.size), np.inf)
    np.minimum.at(n_pairs, group[varies], pairs[varies] / part[varies])
    np.minimum.at(least, group[used], auc[used])
    mean[least == 1.0] = 1.0  # without rounding error
    squares = part**2
    spread = AUCSpread(
        mean,
        added(squares * variance, varies),
        n_pairs,
        added(squares * once, varies),
        added(squares * often, varies),
        # Clustered rows have one fold.
        np.full(total.size, min(fold.variances.average_freedom(fold.share) for fold in folds)),
    )
    return spread, total


def average_interval(
    variances: Variances,
    share: Floats,
    confidence_level: float,
    method: Method,
    *,
    new_groups: bool,
) -> Interval:
    """Interval of an average of group AUCs for fixed groups, or for random groups (`new_groups`).

    A number in place of an undefined AUC has no variance. The shares of the groups sum to 1. See
    `quantiles.OverGroups` for random groups, and else `mean_of_averages_interval`.
    """
    used, auc = share > 0, variances.auc
    value, tail, note = float((share[used] * auc[used]).sum()), (1.0 - confidence_level) / 2.0, ""
    varies = used & (variances.bounded > 0)
    if not new_groups and used.sum() == varies.sum() == 1:
        low, high, notes = (part[used][0] for part in group_limits(variances, tail, method))
        return Interval(value, float(low), float(high), notes)
    if method == "exact":
        # Random groups have random shares of the rows, unless their sizes are equal.
        if new_groups and np.ptp(share[used]) > 1e-12:
            return Interval(value, np.nan, np.nan, _not_for_new_groups(method))
        squares = share[varies] ** 2
        if not new_groups:
            classes = variances.positives, variances.negatives
            squares = squares * sum(1.0 / rows.effective[varies] for rows in classes)
        # McDiarmid's inequality (1989): each row can change the average by at most a certain
        # amount.
        reach = float(np.sqrt(-np.log(tail) * squares.sum() / 2.0))
        return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0))
    if not new_groups:
        fold = FoldAverage(variances, share, range(auc.size))
        return mean_of_averages_interval([fold], confidence_level, method)
    if used.sum() < 2:
        return Interval(value, np.nan, np.nan, "needs two groups")
    variance = variance_over_groups(auc[used], share[used])
    quantile = OverGroups(share[used]).quantile(tail)
    if not variance > 0:
        variance, note = variances.of_average(share), NO_VARIATION
    low, high = limits(value, variance, quantile, method)
    return Interval(value, float(low), float(high), note)


def mean_of_averages_interval(
    folds: Sequence[FoldAverage], confidence_level: float, method: Method
) -> Interval:
    """Interval of the mean over folds of an average of group AUCs, by "logit" or "delong".

    With "logit", each limit is the more distant of two. The first one follows from the limits of
    the groups (Zou and Donner 2008): with the shares c and the lower limits l of the AUCs A, it is
    the average minus the root of ``sum (c (A - l))**2``. The root is too small if the groups are
    many and their limits are skewed. The second limit is that of the logit of the average.
    """
    tail = (1.0 - confidence_level) / 2.0
    spread, share = _over_folds(folds)
    used = share > 0
    value = float(np.mean([f.share[f.share > 0] @ f.variances.auc[f.share > 0] for f in folds]))

    def deviation(parts: Floats) -> float:
        """Standard deviation of a sum; errors of groups that share clusters are dependent."""
        if len(folds) > 1:
            return float(np.sqrt((parts**2).sum()))
        in_deviations = ratio(parts, np.sqrt(spread.variance), 0.0)
        return float(np.sqrt(folds[0].variances.of_average(in_deviations)))

    deviate = normal_quantile(tail)
    least, most = spread.limits(deviate, method)
    if used.sum() == 1:
        low, high = float(least[used][0]), float(most[used][0])
    else:
        variance = deviation(share * np.sqrt(spread.variance)) ** 2
        quantile = np.ravel(spread.quantile(deviate))[0]
        low, high = (float(end) for end in limits(value, variance, quantile, method))
        if method == "logit":
            low = min(low, max(value - deviation(share * (spread.auc - least)), 0.0))
            high = max(high, min(value + deviation(share * (most - spread.auc)), 1.0))
    note = ""
    if not any((fold.variances.delong[fold.share > 0] > 0).any() for fold in folds):
        note = NO_VARIATION
    if (spread.auc[used] == 1.0).all():
        note = f"perfect separation in every group{' and fold' if len(folds) > 1 else ''}"
    return Interval(value, low, high, note)
