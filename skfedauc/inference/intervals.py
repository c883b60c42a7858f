"""Limits of single AUCs, and confidence intervals of the pooled AUC and averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr, rel_entr, stdtrit

from skfedauc import _input
from skfedauc._group_codes import example_rows
from skfedauc.counts.moments import ClassRows, Floats, ratio
from skfedauc.inference.quantiles import (
    OverGroups,
    normal_quantile,
    t_quantile,
    variance_over_groups,
)
from skfedauc.inference.variances import Extremes, Folds, Pooled, Variances

NO_VARIATION = "no variation seen: variance bounded"
Method = Literal["logit", "delong", "exact"]
# AUCs whose limits are computed at once: their arrays stay in the cache, which halves the time.
_BLOCK = 1 << 14

Of = Literal["groups", "statistics"]
Over = Literal["rows", "groups"]

# Largest number of groups that are fixed by default. By default, more groups are random.
FEW_GROUPS = 20
THESE_GROUPS = "these groups, new rows"
NEW_GROUPS = "new groups like these"


def check_confidence_level(confidence_level: Any) -> float:
    return _input.check_share(confidence_level, "confidence_level")


def limits(
    auc: ArrayLike, variance: ArrayLike, quantile: ArrayLike, method: Method
) -> tuple[Floats, Floats]:
    """Return limits at `quantile` standard errors from AUCs with given variances.

    "logit" gives limits of the logit of an AUC, which is closer to normal. For an AUC of 0 or 1,
    and with "delong", they are limits of the AUC itself, clipped to [0, 1].
    """
    low, high = (_limit(end, auc, variance, quantile, method) for end in (0.0, 1.0))
    return low, high


def _limit(
    end: float, auc: ArrayLike, variance: ArrayLike, quantile: ArrayLike, method: Method
) -> Floats:
    """Return the limits towards one end of the scale, 0 or 1."""
    auc, variance = np.asarray(auc, np.float64), np.asarray(variance, np.float64)
    reach = np.asarray(quantile) * np.sqrt(variance) * (1.0 if end else -1.0)
    found: Floats = np.clip(auc + reach, 0.0, 1.0)
    if method == "logit":
        inside = (auc > 0) & (auc < 1.0 - 1e-12)  # An average may be 1 with rounding.
        auc, reach = np.where(inside, auc, 0.5), np.where(inside, reach, 0.0)
        odds = np.log(auc / (1.0 - auc))
        found = np.where(inside, expit(odds + reach / (auc * (1.0 - auc))), found)
    return found


def exact_limits(auc: ArrayLike, n_smaller_class: ArrayLike, tail: float) -> tuple[Floats, Floats]:
    """Return limits that hold for any score distribution, each with probability 1 - `tail`.

    The AUC is an average, over pairings of the rows in both classes, of means of `n_smaller_class`
    independent comparisons. Hoeffding's bound on such a mean (1963), in its Kullback-Leibler form,
    therefore holds for the AUC.
    """
    auc = np.asarray(auc, np.float64)
    allowed = -np.log(tail) / np.asarray(n_smaller_class, np.float64)
    near, far = np.stack([auc, auc]), np.stack([np.zeros_like(auc), np.ones_like(auc)])
    for _ in range(60):
        middle = (near + far) / 2.0
        divergence = rel_entr(auc, middle) + rel_entr(1.0 - auc, 1.0 - middle)
        within = divergence <= allowed
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    # Return the far ends of the brackets, so that rounding never shortens an interval.
    return far[0], far[1]


class AUCSpread(NamedTuple):
    """AUCs with what determines their limits, as in `Variances`; one element for each AUC.

    A known AUC has the variance 0. Degrees of freedom are infinite for independent rows, whose
    quantiles are normal. AUCs with the same number in `alike` have the same limits.
    """

    auc: Floats
    variance: Floats
    n_pairs: Floats
    once: Floats
    often: Floats
    degrees_of_freedom: Floats | float = np.inf
    alike: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, of: Variances) -> AUCSpread:
        """Return what determines the limits of each group's AUC; NaN if undefined."""
        alike = of.alike if of.auc.size > _BLOCK else None
        freedom = of.degrees_of_freedom if of.clusters else np.full(of.auc.shape, np.inf)
        return cls(of.auc, of.bounded, of.n_pairs, of.once, of.often, freedom, alike)

    @classmethod
    def of_rows(cls, auc: Floats, variance: Floats, m: Any, n: Any) -> AUCSpread:
        """Return AUCs of m positives and n negatives, as numbers or arrays."""
        once = ratio(1.0, np.asarray(m * n), 0.0)
        often = once * np.maximum((m + n) / 2.0 - 1.0, 0.0)
        return cls(auc, variance, np.minimum(m, n), once, often)

    def take(self, which: NDArray[Any] | slice) -> AUCSpread:
        """Return the elements of the selected AUCs."""
        alike = None if self.alike is None else self.alike[which]
        parts = (part[which] for part in np.broadcast_arrays(*self[:6]))
        return AUCSpread(*parts)._replace(alike=alike)

    def limits(self, deviate: ArrayLike, method: Method = "logit") -> tuple[Floats, Floats]:
        """Return lower and upper limits; `deviate` is a normal quantile, see `quantile`."""
        return self.limit(0.0, deviate, method), self.limit(1.0, deviate, method)

    def limit(self, end: float, deviate: ArrayLike, method: Method = "logit") -> Floats:
        """Return the limits towards one end of the scale, 0 or 1.

        With "logit", each limit is the more distant of two. The logit limit uses the estimated
        variance, which is much too small if the few rows in a class have nearly equal placement
        values: an AUC near 1, or tied scores. Newcombe's limit (2006) uses the variance of an AUC
        whose true value is the limit.
        """
        deviate = np.asarray(deviate, np.float64)
        n = self.auc.size
        if n > _BLOCK and self.auc.ndim == 1 and deviate.ndim == 0:
            if self.alike is not None:
                different = self._replace(alike=None).take(example_rows(self.alike))
                return different.limit(end, deviate, method)[self.alike]
            blocks = (self.take(slice(i, i + _BLOCK)) for i in range(0, n, _BLOCK))
            return np.concatenate([block.limit(end, deviate, method) for block in blocks])
        quantile = self.quantile(deviate)
        found = _limit(end, self.auc, self.variance, quantile, method)
        if method == "logit":
            further = np.maximum if end else np.minimum
            found = further(found, self._newcombe(end, quantile))
        return self._with_perfect(end, deviate, found)

    def _with_perfect(self, end: float, deviate: ArrayLike, found: Floats) -> Floats:
        """Replace the limits of perfectly separated groups, and of known AUCs.

        With k independent pairs, the probability of perfect separation is at most AUC**k.
        """
        with np.errstate(divide="ignore"):
            near = np.exp(np.log(ndtr(-np.asarray(deviate))) / np.maximum(self.n_pairs, 1))
        perfect = self.auc == 1.0 - end
        found = np.where(perfect, 1.0 - near if end else near, found)
        return np.where((self.variance == 0.0) | (self.auc == end), self.auc, found)

    def signed_limit(self, end: float, deviate: float, method: Method = "logit") -> Floats:
        """Return the limits towards one end of the scale for a deviate of either sign.

        With a deviate below 0, it is the limit towards the other end; but the exact limit of
        perfect separation is never on the other side of the AUC.
        """
        if deviate >= 0.0:
            return self.limit(end, deviate, method)
        return self._with_perfect(end, deviate, self.limit(1.0 - end, -deviate, method))

    def with_errors(self, found: Limits, deviate: ArrayLike) -> Limits:
        """Return limits; those of clustered rows have standard errors."""
        if np.isinf(self.degrees_of_freedom).all():
            return found
        quantile = np.copysign(self.quantile(np.abs(deviate)), deviate)
        return found._replace(error=np.sqrt(self.variance), quantile=quantile)

    def quantile(self, deviate: ArrayLike) -> Floats:
        """Return the quantile of Student's t with the same tail as a normal quantile."""
        deviate = np.asarray(deviate, np.float64)
        is_normal = np.isinf(self.degrees_of_freedom)
        if is_normal.all():
            return deviate
        # Smaller tails have no quantile in floating point.
        tail = np.maximum(ndtr(-deviate), 1e-300)
        found = -stdtrit(np.where(is_normal, 1.0, self.degrees_of_freedom), tail)
        # For the smallest tails, stdtrit can overflow, to either sign, or return NaN.
        found = np.where(np.isfinite(found), np.minimum(found, 1e100), 1e100)
        return np.where(is_normal, deviate, found)

    def _newcombe(self, end: float, deviate: ArrayLike) -> Floats:
        """Return the true AUC t that is `deviate` standard errors away from the estimate.

        The variance at t is Hanley and McNeil's for exponential distributions (1982), with the mean
        N of m - 1 and n - 1 for both numbers: ``t (1 - t) (1 + N (1 - t) / (2 - t) + N t / (1 + t))
        / (m n)``, or ``u (once + often (1 + 2 u) / (2 + u))`` with ``u = t (1 - t)``. Newton's
        method starts at Wilson's limit, the solution for a constant last factor, and goes half way
        to an end if a step leaves the range.
        """
        low, high = np.minimum(self.auc, end), np.maximum(self.auc, end)
        squared = np.square(deviate)
        # With ``w = 1 / (2 + u)``, the last factor of the variance is ``2 - 3 w``.
        constant, often = squared * (self.once + 2.0 * self.often), 3.0 * squared * self.often
        u = self.auc * (1.0 - self.auc)
        scale = constant - often / (2.0 + u)
        # The product of two roots does not overflow for the largest deviates.
        reach = np.sqrt(scale) * np.sqrt(u + scale / 4.0)
        found: Floats = self.auc + scale / 2.0 + (reach if end else -reach)
        found = np.clip(found / (1.0 + scale), 0.0, 1.0)
        for _ in range(100):
            u, apart = found * (1.0 - found), found - self.auc
            w = 1.0 / (2.0 + u)
            excess = apart * apart - u * (constant - often * w)
            derivative = (2.0 * found - 1.0) * (constant - 2.0 * often * w * w) + 2.0 * apart
            with np.errstate(divide="ignore", invalid="ignore"):
                step = found - excess / derivative
            allowed = (low <= step) & (step <= high)
            if not allowed.all():
                middle = (found + np.where(excess > 0.0, self.auc, end)) / 2.0
                step = np.where(allowed, step, np.where(excess == 0.0, found, middle))
            # Convergence is quadratic, so a small step means a negligible error. Ignore NaN.
            moved = np.abs(step - found) > 1e-10 + 1e-7 * np.abs(apart)
            found = step
            if not moved.any():
                break
        return found


def newcombe_variance(true: float, once: Floats, often: Floats) -> Floats:
    """Return the variances of AUCs with a true value, see `AUCSpread` for the other arguments."""
    u = true * (1.0 - true)
    return u * (once + often * (1.0 + 2.0 * u) / (2.0 + u))


class Limits(NamedTuple):
    """Values with a lower and an upper limit each.

    Values that may be correlated have standard errors and the quantiles of the limits.
    """

    value: Floats
    low: Floats
    high: Floats
    error: Floats | None = None
    quantile: Any = None

    def take(self, which: Any) -> Limits:
        """Return some of the values with their limits."""
        parts = (part if part is None else part[which] for part in self)
        return Limits._make(parts)


class Spreads(NamedTuple):
    """Group AUCs at both extremes of binned scores; the extremes of exact scores are equal.

    A lower limit uses the lowest AUCs, and an upper limit the highest.
    """

    lowest: AUCSpread
    highest: AUCSpread

    @classmethod
    def of(cls, extremes: Extremes) -> Spreads:
        """Return the spreads of all groups."""
        lowest = AUCSpread.of(extremes.lowest)
        is_exact = extremes.highest is extremes.lowest
        return cls(lowest, lowest if is_exact else AUCSpread.of(extremes.highest))

    def take(self, which: NDArray[Any] | slice) -> Spreads:
        """Return the elements of the selected AUCs."""
        return Spreads(self.lowest.take(which), self.highest.take(which))

    def estimates(self, deviate: float, method: Method = "logit") -> tuple[Limits, Limits]:
        """Return the lowest AUCs with lower limits, and the highest with upper limits."""
        low, high = self.lowest.auc, self.highest.auc
        below = Limits(low, self.lowest.signed_limit(0.0, deviate, method), low)
        above = Limits(high, high, self.highest.signed_limit(1.0, deviate, method))
        return self.lowest.with_errors(below, deviate), self.highest.with_errors(above, deviate)


class Notes:
    """Remarks by group, kept as numbers of a few texts, which is fast to make a column from."""

    def __init__(self, n_groups: int) -> None:
        self._numbers, self._texts = np.zeros(n_groups, np.intp), [""]

    def __setitem__(self, groups: Any, text: str) -> None:
        self._numbers[groups] = len(self._texts)
        self._texts.append(text)

    def put_before(self, groups: NDArray[np.bool_], text: str) -> None:
        """Put a text before the remarks on groups."""
        self._numbers[groups] += len(self._texts)
        self._texts += ["; ".join(filter(None, (text, after))) for after in self._texts]

    @property
    def column(self) -> Any:
        """The remarks as a column of a table, by group."""
        dtype = None if self._numbers.size else object  # as pandas makes it of no strings
        return pd.Series(self._texts, dtype=dtype).array.take(self._numbers)


def group_limits(variances: Variances, tail: float, method: Method) -> tuple[Floats, Floats, Notes]:
    """Return each group's limits (NaN if undefined), with error probability `tail`, and notes."""
    auc, defined, is_exact = variances.auc, variances.defined, method == "exact"
    bounded = defined & ~(variances.delong > 0) & (not is_exact)
    note = notes_of(variances.negatives, variances.positives, bounded)
    if is_exact:
        return *_distribution_free(variances, tail), note
    if variances.clusters is not None:
        few = "fewer than two clusters of a class: variance bounded"
        note[defined & ~variances.estimable] = few
    exact = "" if variances.weighted or variances.clusters is not None else ": exact"
    note[defined & ((auc == 0.0) | (auc == 1.0))] = f"perfect separation{exact}"
    return *AUCSpread.of(variances).limits(normal_quantile(tail), method), note


def _distribution_free(variances: Variances, tail: float) -> Floats:
    """Return limits by Hoeffding's inequalities, of shape (2, n_groups)."""
    limits = np.full((2, variances.auc.size), np.nan)
    defined = variances.defined
    auc = variances.auc[defined]
    if variances.weighted:
        classes = variances.positives, variances.negatives
        squares = np.sum([1.0 / np.maximum(rows.effective[defined], 1.0) for rows in classes], 0)
        reach = np.sqrt(-np.log(tail) * squares / 2.0)
        found = np.clip([auc - reach, auc + reach], 0.0, 1.0)
    else:
        found = np.array(exact_limits(auc, np.maximum(variances.n_pairs[defined], 1.0), tail))
    limits[:, defined] = np.where(variances.bounded[defined] == 0.0, auc, found)
    return limits


def notes_of(negatives: ClassRows, positives: ClassRows, bounded: NDArray[np.bool_]) -> Notes:
    """Return notes on groups that lack a class, or whose variance is an upper bound."""
    note = Notes(bounded.size)
    note[bounded] = NO_VARIATION
    for rows, name in ((positives, "positive"), (negatives, "negative")):
        note[bounded & (rows.n == 1)] = f"one {name}: variance bounded"
        note[rows.n == 0] = f"no {name}s"
    return note


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


def pooled_interval(pooled: Pooled, tail: float, method: Method, *, new_groups: bool) -> Interval:
    """Interval of the pooled AUC for fixed groups, or for random groups (`new_groups`)."""
    auc = float(pooled.rows.auc[0])
    if method == "exact" and new_groups:
        return Interval(auc, np.nan, np.nan, _not_for_new_groups(method))
    if method == "exact" or (pooled.n_groups == 1 and not new_groups):
        low, high, note = group_limits(pooled.rows, tail, method)
        return Interval(auc, float(low[0]), float(high[0]), note.column[0])
    if not new_groups:
        return mean_pooled_interval([pooled], tail, method)
    variance, remark = pooled.random, ""
    if np.isnan(variance):
        return Interval(auc, np.nan, np.nan, pooled.why_not_random)
    if variance == 0.0:
        variance, remark = float(pooled.rows.bounded[0]), NO_VARIATION
    low, high = limits(auc, variance, t_quantile(tail, pooled.random_freedom), method)
    return Interval(auc, float(low), float(high), remark)


def mean_pooled_interval(folds: Sequence[Pooled], tail: float, method: Method) -> Interval:
    """Interval of the mean pooled AUC of independent folds, by "logit" or "delong".

    The variance is that of the folds with groups as strata. With "logit", the result is the
    smallest interval that contains three others: with this variance, with the variance without
    strata, and with Newcombe's variance.
    """
    n_folds = len(folds)
    of_all = [FoldAverage(fold.rows, np.ones(1), [0]) for fold in folds]
    of_strata = sum(fold.fixed for fold in folds) / n_folds**2
    if all(fold.n_groups == 1 for fold in folds) or (n_folds == 1 and not of_strata > 0):
        return mean_of_averages_interval(of_all, tail, method)
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


class FoldAverage(NamedTuple):
    """An average of the group AUCs of a fold: groups in use, their weights (sum 1) and labels."""

    variances: Variances
    share: Floats
    groups: Sequence[Any]


def _over_folds(folds: Sequence[FoldAverage]) -> tuple[AUCSpread, Floats]:
    """Return the mean over folds, whose rows are independent, of each group's AUC, and its share.

    Newcombe's variance of such a mean assumes the same true AUC in all folds.
    """
    labels = [label for fold in folds for label in fold.groups]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    group = np.array([numbers[label] for label in labels])
    weight = np.concatenate([fold.share for fold in folds]) / len(folds)
    found = Folds.of([fold.variances for fold in folds], group, weight, len(numbers))
    auc, used = found.column("auc"), found.share > 0
    varies = used & (found.column("bounded") > 0)
    # The probability of perfect separation in all folds is at most the product of A_k**n_k, and
    # thus at most the mean AUC to the power of the smallest n_k / share_k.
    n_pairs, least = np.full((2, len(numbers)), np.inf)
    np.minimum.at(n_pairs, group[varies], found.column("n_pairs")[varies] / found.share[varies])
    np.minimum.at(least, group[used], auc[used])
    mean = found.sums(auc, 1)
    mean[least == 1.0] = 1.0  # without rounding error
    # Clustered rows have one fold.
    freedom = min(fold.variances.average_freedom(fold.share) for fold in folds)
    variance, once, often = map(found.sums, ("bounded", "once", "often"))
    spread = AUCSpread(mean, variance, n_pairs, once, often, np.full(mean.size, freedom))
    return spread, found.total


def average_interval(
    variances: Variances, share: Floats, tail: float, method: Method, *, new_groups: bool
) -> Interval:
    """Interval of an average of group AUCs for fixed groups, or for random groups (`new_groups`).

    A number in place of an undefined AUC has no variance. The shares of the groups sum to 1. See
    `quantiles.OverGroups` for random groups, and else `mean_of_averages_interval`.
    """
    used, note = np.flatnonzero(share > 0), ""
    auc, weight, varies = variances.auc[used], share[used], variances.bounded[used] > 0
    value = float((weight * auc).sum())
    if not new_groups and used.size == varies.sum() == 1:
        (low, high, notes), g = group_limits(variances, tail, method), used[0]
        return Interval(value, float(low[g]), float(high[g]), notes.column[g])
    if method == "exact":
        # Random groups have random shares of the rows, unless their sizes are equal.
        if new_groups and np.ptp(weight) > 1e-12:
            return Interval(value, np.nan, np.nan, _not_for_new_groups(method))
        squares = weight[varies] ** 2
        if not new_groups:
            classes = variances.positives, variances.negatives
            squares = squares * sum(1.0 / rows.effective[used[varies]] for rows in classes)
        # McDiarmid's inequality (1989): each row can change the average by at most a certain
        # amount.
        reach = float(np.sqrt(-np.log(tail) * squares.sum() / 2.0))
        return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0))
    if not new_groups:
        fold = FoldAverage(variances, share, range(share.size))
        return mean_of_averages_interval([fold], tail, method)
    if used.size < 2:
        return Interval(value, np.nan, np.nan, "needs two groups")
    variance = variance_over_groups(auc, weight)
    quantile = OverGroups(weight).quantile(tail)
    if not variance > 0:
        variance, note = variances.of_average(share), NO_VARIATION
    low, high = limits(value, variance, quantile, method)
    return Interval(value, float(low), float(high), note)


def mean_of_averages_interval(
    folds: Sequence[FoldAverage], tail: float, method: Method
) -> Interval:
    """Interval of the mean over folds of an average of group AUCs, by "logit" or "delong".

    With "logit", each limit is the more distant of two. The first one follows from the limits of
    the groups (Zou and Donner 2008): with the shares c and the lower limits l of the AUCs A, it is
    the average minus the root of ``sum (c (A - l))**2``. The root is too small if the groups are
    many and their limits are skewed. The second limit is that of the logit of the average.
    """
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
