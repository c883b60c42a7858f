"""Confidence intervals of group AUCs, the pooled AUC, averages and the worst group.

References
----------
.. [1] Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables.
   Journal of the American Statistical Association 58(301).
   https://doi.org/10.1080/01621459.1963.10500830
.. [2] McDiarmid, C. (1989). On the method of bounded differences. Surveys in Combinatorics.
   https://doi.org/10.1017/CBO9781107359949.008
.. [3] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
   Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in Medicine
   25(4). https://doi.org/10.1002/sim.2324
.. [4] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
   operating characteristic (ROC) curve. Radiology 143(1).
   https://doi.org/10.1148/radiology.143.1.7063747
.. [5] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input
from skfedauc.counts.moments import ratio
from skfedauc.inference.quantiles import (
    OverGroups,
    normal_quantile,
    t_quantile,
    variance_over_groups,
)
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]
NO_VARIATION = "no variation seen: variance bounded"
Method = Literal["logit", "delong", "exact"]
Of = Literal["groups", "statistics"]
Over = Literal["rows", "groups"]
METHODS = ("logit", "delong", "exact")

# Largest number of groups that are fixed by default. By default, more groups are random.
FEW_GROUPS = 20


class Interval(NamedTuple):
    """An estimate with its confidence limits, or arrays of estimates and limits.

    Attributes
    ----------
    estimate, low, high : float or ndarray of float64
    note : str or ndarray of str
        Remark on the interval, such as a special case; "" without a remark.
    """

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


def check_method(method: Any) -> Method:
    return _input.check_option("method", method, METHODS)  # type: ignore[no-any-return]


def check_confidence_level(confidence_level: Any) -> float:
    try:
        return _input.check_share(confidence_level, "confidence_level")
    except ValueError as error:
        if _input.is_number(confidence_level) and 1 < confidence_level < 100:
            raise ValueError(f"{error} Pass 0.95 for 95 %.") from None
        raise


# Limits of single AUCs -------------------------------------------------------------------


def limits(
    auc: ArrayLike, variance: ArrayLike, quantile: ArrayLike, method: Method
) -> tuple[Floats, Floats]:
    """Return limits at `quantile` standard errors from AUCs with given variances.

    The "logit" method computes the limits of the logit of an AUC, which is closer to normal than
    the AUC. Such limits stay between 0 and 1. For an AUC of 0 or 1, and with "delong", the function
    returns limits of the AUC itself, clipped to [0, 1].
    """
    from scipy.special import expit

    auc, variance = np.asarray(auc, np.float64), np.asarray(variance, np.float64)
    reach = np.asarray(quantile) * np.sqrt(variance)
    low, high = np.clip(auc - reach, 0.0, 1.0), np.clip(auc + reach, 0.0, 1.0)
    if method == "logit":
        inside = (auc > 0) & (auc < 1)
        auc, reach = np.where(inside, auc, 0.5), np.where(inside, reach, 0.0)
        reach /= auc * (1.0 - auc)
        odds = np.log(auc / (1.0 - auc))
        low = np.where(inside, expit(odds - reach), low)
        high = np.where(inside, expit(odds + reach), high)
    return low, high


def exact_limits(auc: ArrayLike, n_smaller_class: ArrayLike, tail: float) -> tuple[Floats, Floats]:
    """Return limits that hold for any score distribution, each with probability 1 - `tail`.

    Pairing each row of the smaller class with one row of the larger class gives a mean of
    `n_smaller_class` independent comparisons. The AUC is the average of these means over all
    pairings. Hoeffding's bound on such a mean [1]_, in its Kullback-Leibler form, therefore holds
    for the AUC. Bisection finds the limits.
    """
    auc = np.asarray(auc, np.float64)
    allowed = -np.log(tail) / np.asarray(n_smaller_class, np.float64)
    low = _bisected(auc, np.zeros_like(auc), allowed)
    high = _bisected(auc, np.ones_like(auc), allowed)
    return low, high


def _bisected(auc: Floats, end: Floats, allowed: Floats) -> Floats:
    """Return the value between an AUC and `end` whose divergence from the AUC is `allowed`."""
    near, far = auc.copy(), end.copy()
    for _ in range(60):
        middle = (near + far) / 2.0
        within = _divergence(auc, middle) <= allowed
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    # Return the far end of the bracket, so that rounding never shortens an interval.
    return far


def _divergence(observed: Floats, true: Floats) -> Floats:
    """Kullback-Leibler divergence of two Bernoulli distributions."""
    from scipy.special import rel_entr

    found: Floats = rel_entr(observed, true) + rel_entr(1.0 - observed, 1.0 - true)
    return found


def bounded_differences(squared_shares: float, tail: float) -> float:
    """Bound on the deviation of a sum from its expectation, by McDiarmid's inequality [2]_.

    Each row can change the sum by at most a certain amount. `squared_shares` is the sum of the
    squares of these amounts.
    """
    return float(np.sqrt(-np.log(tail) * squared_shares / 2.0))


# Intervals of group AUCs -----------------------------------------------------------------


class AUCSpread(NamedTuple):
    """AUCs with the quantities that determine their limits; one element for each AUC.

    Attributes
    ----------
    auc, variance : ndarray of float64
        AUCs and their estimated variances.
    n_smaller_class : ndarray of float64
        Number of rows of the smaller class.
    once, often : ndarray of float64
        Coefficients of Newcombe's variance, see `_newcombe`.
    degrees_of_freedom : ndarray of float64 or float, default=inf
        Degrees of freedom of the quantiles of Student's t, for clustered rows; infinite for
        independent rows, whose quantiles are normal.
    """

    auc: Floats
    variance: Floats
    n_smaller_class: Floats
    once: Floats
    often: Floats
    degrees_of_freedom: Floats | float = np.inf

    def take(self, which: NDArray[Any] | slice) -> AUCSpread:
        """Return the elements of the selected AUCs."""
        return AUCSpread(*(part[which] for part in np.broadcast_arrays(*self)))

    def limits(self, deviate: ArrayLike, method: Method) -> tuple[Floats, Floats]:
        """Return lower and upper limits; `deviate` is a normal quantile.

        A quantile of Student's t with the same tail replaces the normal quantile if the degrees of
        freedom are finite.
        """
        return self.limit(0.0, deviate, method), self.limit(1.0, deviate, method)

    def limit(self, end: float, deviate: ArrayLike, method: Method) -> Floats:
        """Return the limits towards one end of the scale, 0 or 1.

        With "logit", each limit is the more distant of two limits. The logit limit uses the
        estimated variance. The limit of Newcombe's method 5 [3]_ uses the variance of an AUC whose
        true value is the limit. The estimated variance is much too small if the few rows of a class
        have nearly equal placement values. Examples are an AUC near 1, and tied scores.
        """
        deviate = np.asarray(deviate, np.float64)
        quantile = self.quantile(deviate)
        found = limits(self.auc, self.variance, quantile, method)[int(end)]
        if method == "logit":
            further = np.maximum if end else np.minimum
            found = further(found, self._newcombe(end, quantile))
        return self._with_perfect(end, deviate, found)

    def _with_perfect(self, end: float, deviate: ArrayLike, found: Floats) -> Floats:
        """Replace the limits of perfectly separated groups, and of AUCs without variance.

        With k independent pairs, the probability of perfect separation is at most AUC**k.
        """
        from scipy.special import ndtr

        with np.errstate(divide="ignore"):
            near = np.exp(np.log(ndtr(-np.asarray(deviate))) / np.maximum(self.n_smaller_class, 1))
        perfect = self.auc == 1.0 - end
        found = np.where(perfect, 1.0 - near if end else near, found)
        return np.where((self.variance == 0.0) | (self.auc == end), self.auc, found)

    def signed_limit(self, end: float, deviate: float, method: Method) -> Floats:
        """Return the limits towards one end of the scale for a deviate of either sign.

        A limit with a deviate below 0 misses the true AUC with a probability above one half. For a
        deviate below 0, the limit equals the limit towards the other end with the absolute value of
        the deviate. Perfect separation is an exception: the exact limit is never on the other side
        of the AUC.
        """
        if deviate >= 0.0:
            return self.limit(end, deviate, method)
        return self._with_perfect(end, deviate, self.limit(1.0 - end, -deviate, method))

    def quantile(self, deviate: ArrayLike) -> Floats:
        """Return the quantile of Student's t with the same tail as a normal quantile."""
        from scipy.special import ndtr, stdtrit

        deviate = np.asarray(deviate, np.float64)
        is_normal = np.isinf(self.degrees_of_freedom)
        if is_normal.all():
            return deviate
        # Smaller tails have no quantile in floating point.
        tail = np.maximum(ndtr(-deviate), 1e-300)
        found = -stdtrit(np.where(is_normal, 1.0, self.degrees_of_freedom), tail)
        # For the smallest tails, stdtrit can overflow, to either sign.
        found = np.where(np.isinf(found), 1e100, np.minimum(found, 1e100))
        return np.where(is_normal, deviate, found)

    def _newcombe(self, end: float, deviate: ArrayLike) -> Floats:
        """Return the true AUC t that is `deviate` standard errors away from the estimate.

        The variance at a true AUC t is Hanley and McNeil's formula for exponential distributions
        [4]_. N, the mean of m - 1 and n - 1, replaces both numbers: ``t (1 - t) (1 + N (1 - t) / (2
        - t) + N t / (1 + t)) / (m n)``. This variance equals ``u (once + often (1 + 2 u) / (2 +
        u))`` with ``u = t (1 - t)``. The distance in standard errors increases from the estimate to
        either end, so the solution is unique. Newton's method finds the solution, with bisection if
        a step leaves the bracket. The method starts at Wilson's limit, the solution for a constant
        factor ``(1 + 2 u) / (2 + u)``.
        """
        near, far, squared = np.broadcast_arrays(self.auc, end, np.square(deviate))
        u = self.auc * (1.0 - self.auc)
        scale = squared * (self.once + self.often * (1.0 + 2.0 * u) / (2.0 + u))
        # The product of two roots does not overflow for the largest deviates.
        reach = np.sqrt(scale) * np.sqrt(u + scale / 4.0)
        found: Floats = self.auc + scale / 2.0 + (reach if end else -reach)
        found = np.clip(found / (1.0 + scale), 0.0, 1.0)
        for _ in range(100):
            u, slope = found * (1.0 - found), 1.0 - 2.0 * found
            relative = (1.0 + 2.0 * u) / (2.0 + u)
            excess = (found - self.auc) ** 2 - squared * u * (self.once + self.often * relative)
            derivative = self.once + self.often * (relative + 3.0 * u / (2.0 + u) ** 2)
            derivative = 2.0 * (found - self.auc) - squared * slope * derivative
            inside = excess <= 0.0
            near, far = np.where(inside, found, near), np.where(inside, far, found)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = found - excess / derivative
            allowed = (np.minimum(near, far) <= step) & (step <= np.maximum(near, far))
            step = np.where(allowed, step, (near + far) / 2.0)
            step = np.where(excess == 0.0, found, step)
            # Convergence is quadratic, so a small step means a negligible error. Ignore steps of
            # NaN.
            moved = np.abs(step - found) > 1e-10
            found = step
            if not moved.any():
                break
        return found


def spread_of(variances: Variances) -> AUCSpread:
    """Return the quantities that determine the limits of each group's AUC; NaN if undefined."""
    return AUCSpread(
        variances.auc,
        variances.bounded,
        variances.n_smaller_class,
        *variances.model_coefficients,
        variances.interval_freedom,
    )


def group_limits(
    variances: Variances, tail: float, method: Method
) -> tuple[Floats, Floats, NDArray[np.str_]]:
    """Return the limits of each group's AUC, each with error probability `tail`, and notes."""
    auc = variances.auc
    note = np.full(auc.size, "", dtype=object)
    note[variances.positives.n == 0] = "no positives"
    note[variances.negatives.n == 0] = "no negatives"
    low, high = np.full((2, auc.size), np.nan)
    defined = variances.defined
    if method == "exact":
        n_smaller_class = variances.n_smaller_class[defined]
        if variances.weighted:
            squares = 1 / variances.positives.effective[defined]
            squares += 1 / variances.negatives.effective[defined]
            reach = np.sqrt(-np.log(tail) * squares / 2.0)
            low[defined] = np.clip(auc[defined] - reach, 0.0, 1.0)
            high[defined] = np.clip(auc[defined] + reach, 0.0, 1.0)
        else:
            low[defined], high[defined] = exact_limits(auc[defined], n_smaller_class, tail)
        return low, high, note
    spread = spread_of(variances).take(defined)
    low[defined], high[defined] = spread.limits(normal_quantile(tail), method)
    bounded = defined & ~(variances.delong > 0)
    note[bounded] = NO_VARIATION
    for rows, name in ((variances.positives, "positive"), (variances.negatives, "negative")):
        note[bounded & (rows.n == 1)] = f"one {name}: variance bounded"
    if variances.has_clusters:
        few = "fewer than two clusters of a class: variance bounded"
        note[defined & ~variances.estimable] = few
    is_exact = not (variances.weighted or variances.has_clusters)
    exact = "perfect separation: exact" if is_exact else "perfect separation"
    note[defined & ((auc == 0.0) | (auc == 1.0))] = exact
    return low, high, note


# Intervals of statistics over all groups -----------------------------------------------------

THESE_GROUPS = "these groups, new rows"
NEW_GROUPS = "new groups like these"


def _not_for_new_groups(method: Method) -> str:
    return f"no {method} interval for new groups: pass over='rows'"


def pooled_interval(
    variances: Variances, confidence_level: float, method: Method, *, new_groups: bool
) -> Interval:
    """Interval of the pooled AUC for fixed groups, or for random groups (`new_groups`)."""
    auc, tail = float(variances.pooled.auc[0]), (1.0 - confidence_level) / 2.0
    if method == "exact" and new_groups:
        return Interval(auc, np.nan, np.nan, _not_for_new_groups(method))
    if method == "exact" or (variances.auc.size == 1 and not new_groups):
        low, high, note = group_limits(variances.pooled, tail, method)
        return Interval(auc, float(low[0]), float(high[0]), note[0])
    if not new_groups:
        return mean_pooled_interval([variances], confidence_level, method)
    variance, remark = variances.pooled_clustered, ""
    if np.isnan(variance):
        return Interval(auc, np.nan, np.nan, variances.why_not_clustered)
    if variance == 0.0:
        variance, remark = float(variances.pooled.bounded[0]), NO_VARIATION
    low, high = limits(auc, variance, t_quantile(tail, variances.cluster_freedom), method)
    return Interval(auc, float(low), float(high), remark)


class FoldAverage(NamedTuple):
    """An average of the group AUCs of a fold.

    Attributes
    ----------
    variances : Variances
    auc : ndarray of float64, shape (n_groups,)
        AUC of each group with a share; a number can replace an undefined AUC.
    share : ndarray of float64, shape (n_groups,)
        Weight of each group; sums to 1.
    groups : sequence of hashable
        Label of each group.
    """

    variances: Variances
    auc: Floats
    share: Floats
    groups: Sequence[Any]


def _over_folds(folds: Sequence[FoldAverage]) -> tuple[AUCSpread, Floats]:
    """Return the mean over folds of each group's AUC, and the share of each group.

    Newcombe's variance of such a mean assumes the same true AUC in all folds, whose rows are
    independent.
    """
    numbers: dict[Any, int] = {}
    group = np.array(
        [numbers.setdefault(label, len(numbers)) for fold in folds for label in fold.groups]
    )
    share = np.concatenate([fold.share for fold in folds]) / len(folds)
    total = np.bincount(group, share).astype(np.float64)
    part = ratio(share, total[group], 0.0)
    used = part > 0
    columns = zip(*(spread_of(fold.variances) for fold in folds), strict=True)
    auc, variance, n_smaller_class, once, often, _ = map(np.concatenate, columns)
    # A number that replaces an undefined AUC is a constant without a variance.
    known = used & ~np.isnan(auc)
    auc = np.concatenate([fold.auc for fold in folds])

    def added(values: Floats, counted: NDArray[np.bool_]) -> Floats:
        found = np.bincount(group[counted], values[counted], total.size)
        return found.astype(np.float64)

    mean = added(part * auc, used)
    # The probability of perfect separation in all folds is at most the product of A_k**n_k, and
    # thus at most the mean AUC to the power of the smallest n_k / part_k.
    n_pairs, least = np.full((2, total.size), np.inf)
    np.minimum.at(n_pairs, group[known], n_smaller_class[known] / part[known])
    np.minimum.at(least, group[used], auc[used])
    mean[least == 1.0] = 1.0  # without rounding error
    squares = part**2
    spread = AUCSpread(
        mean,
        added(squares * variance, known),
        n_pairs,
        added(squares * once, known),
        added(squares * often, known),
        # Clustered rows have one fold.
        np.full(total.size, min(fold.variances.average_freedom(fold.share) for fold in folds)),
    )
    return spread, total


def mean_pooled_interval(
    folds: Sequence[Variances], confidence_level: float, method: Method
) -> Interval:
    """Interval of the mean pooled AUC of independent folds, by "logit" or "delong".

    The variance is the sum of the folds' variances, with groups as strata, divided by the squared
    number of folds. With "logit", the result is the smallest interval that contains three others.
    The first interval uses this variance, the second interval uses the variance without strata, and
    the third interval uses Newcombe's variance.
    """
    tail, n_folds = (1.0 - confidence_level) / 2.0, len(folds)
    of_all = [FoldAverage(fold.pooled, fold.pooled.auc, np.ones(1), [0]) for fold in folds]
    of_strata = sum(fold.pooled_fixed for fold in folds) / n_folds**2
    if all(fold.auc.size == 1 for fold in folds) or (n_folds == 1 and not of_strata > 0):
        return mean_of_averages_interval(of_all, confidence_level, method)
    mean, _ = _over_folds(of_all)
    value = float(np.mean([fold.auc[0] for fold in of_all]))
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


def bounded_average_variance(variances: Variances, share: Floats) -> float:
    """Variance of an average for fixed groups, with bounds for variances that are 0 or unknown."""
    counted = (share > 0) & variances.defined
    if variances.shares_clusters:
        # The AUCs may have a correlation of 1.
        return float((share[counted] * np.sqrt(variances.bounded[counted])).sum()) ** 2
    return float((share[counted] ** 2 * variances.bounded[counted]).sum())


def average_interval(
    variances: Variances,
    auc: Floats,
    share: Floats,
    confidence_level: float,
    method: Method,
    *,
    new_groups: bool,
) -> Interval:
    """Interval of an average of group AUCs for fixed groups, or for random groups (`new_groups`).

    Parameters
    ----------
    variances : Variances
    auc : ndarray of float64, shape (n_groups,)
        AUC of each group with a share; a number can replace an undefined AUC.
    share : ndarray of float64, shape (n_groups,)
        Weight of each group; sums to 1.
    confidence_level : float
    method : {"logit", "delong", "exact"}
    new_groups : bool

    Notes
    -----
    For fixed groups see `mean_of_averages_interval`. For random groups see `over_groups`.
    """
    used = share > 0
    value, tail, note = float(np.dot(share[used], auc[used])), (1.0 - confidence_level) / 2.0, ""
    counted = used & variances.defined
    if not new_groups and used.sum() == counted.sum() == 1:
        low, high, notes = (part[counted][0] for part in group_limits(variances, tail, method))
        return Interval(value, float(low), float(high), notes)
    squares = share[counted] ** 2
    if method == "exact":
        if new_groups and np.ptp(share[used]) > 1e-12:
            # The exact bound requires groups of equal size, because random groups have random
            # shares of the rows.
            return Interval(value, np.nan, np.nan, _not_for_new_groups(method))
        if not new_groups:
            squares = squares * (
                1.0 / variances.positives.effective[counted]
                + 1.0 / variances.negatives.effective[counted]
            )
        reach = bounded_differences(float(squares.sum()), tail)
        return Interval(value, max(value - reach, 0.0), min(value + reach, 1.0))
    if not new_groups:
        fold = FoldAverage(variances, auc, share, range(auc.size))
        return mean_of_averages_interval([fold], confidence_level, method)
    if used.sum() < 2:
        return Interval(value, np.nan, np.nan, "needs two groups")
    variance = variance_over_groups(auc[used], share[used])
    quantile = OverGroups(share[used]).quantile(tail)
    if not variance > 0:
        variance = bounded_average_variance(variances, share)
        note = NO_VARIATION
    low, high = limits(value, variance, quantile, method)
    return Interval(value, float(low), float(high), note)


def mean_of_averages_interval(
    folds: Sequence[FoldAverage], confidence_level: float, method: Method
) -> Interval:
    """Interval of the mean over folds of an average of group AUCs, by "logit" or "delong".

    Rows of different folds are independent. With "logit", each limit is the more distant of two.
    The first one follows from the limits of the groups [5]_: with the shares c and the lower limits
    l, the lower limit of the average of the AUCs A is the average minus the root of ``sum (c (A -
    l))**2``. The root is too small if the groups are many and their limits are skewed. The second
    limit is that of the logit of the average.
    """
    tail = (1.0 - confidence_level) / 2.0
    spread, share = _over_folds(folds)
    used = share > 0
    value = float(np.mean([np.dot(f.share[f.share > 0], f.auc[f.share > 0]) for f in folds]))

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


def worst_interval(
    variances: Variances,
    auc: Floats,
    used: NDArray[np.bool_],
    confidence_level: float,
    method: Method,
) -> Interval:
    """Interval of the smallest true AUC of the groups.

    The lower limits need no adjustment: the smallest true AUC belongs to one group, whose own lower
    limit has the required coverage. Bonferroni's method adjusts the upper limits.
    """
    tail = (1.0 - confidence_level) / 2.0
    low, _ = _limits_of_all(variances, auc, used, tail, method)
    _, high = _limits_of_all(variances, auc, used, tail / used.sum(), method)
    return Interval(float(auc[used].min()), float(low.min()), float(high.min()))


def _limits_of_all(
    variances: Variances, auc: Floats, used: NDArray[np.bool_], tail: float, method: Method
) -> tuple[Floats, Floats]:
    """Return the limits of the groups in use; a number for an undefined AUC is its own limit."""
    low, high, _ = group_limits(variances, tail, method)
    low = np.where(variances.defined, low, auc)
    high = np.where(variances.defined, high, auc)
    return low[used], high[used]
