"""Limits of single AUCs: the hull of the logit and of Newcombe's limits, and others."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input
from skfedauc.counts.moments import ClassRows, Floats
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes, Variances, examples_of

NO_VARIATION = "no variation seen: variance bounded"
Method = Literal["logit", "delong", "exact"]
# AUCs whose limits are computed at once: their arrays stay in the cache, which halves the time.
_BLOCK = 1 << 14


def check_confidence_level(confidence_level: Any) -> float:
    try:
        return _input.check_share(confidence_level, "confidence_level")
    except ValueError as error:
        if _input.is_number(confidence_level) and 1 < confidence_level < 100:
            raise ValueError(f"{error} Pass 0.95 for 95 %.") from None
        raise


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
    from scipy.special import expit

    auc, variance = np.asarray(auc, np.float64), np.asarray(variance, np.float64)
    reach = np.asarray(quantile) * np.sqrt(variance) * (1.0 if end else -1.0)
    found: Floats = np.clip(auc + reach, 0.0, 1.0)
    if method == "logit":
        inside = (auc > 0) & (auc < 1)
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
    from scipy.special import rel_entr

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
    def of(cls, variances: Variances) -> AUCSpread:
        """Return what determines the limits of each group's AUC; NaN if undefined."""
        of = variances
        alike = of.alike if of.auc.size > _BLOCK else None
        return cls(of.auc, of.bounded, of.n_pairs, of.once, of.often, of.interval_freedom, alike)

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
        if n > _BLOCK and deviate.ndim == 0:
            if self.alike is not None:
                different = self._replace(alike=None).take(examples_of(self.alike))
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
        from scipy.special import ndtr

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
            moved = np.abs(step - found) > 1e-10
            found = step
            if not moved.any():
                break
        return found


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

    def at(self, end: float) -> AUCSpread:
        """Return the AUCs of one end of the scale."""
        return self.highest if end else self.lowest

    def limit(self, end: float, deviate: ArrayLike) -> Floats:
        """Return lower limits of the lowest AUCs, or upper limits of the highest AUCs."""
        return self.at(end).limit(end, deviate)

    def limits(self, deviate: ArrayLike) -> tuple[Floats, Floats]:
        """Return lower limits of the lowest AUCs and upper limits of the highest AUCs."""
        return self.limit(0.0, deviate), self.limit(1.0, deviate)


# Limits of group AUCs ------------------------------------------------------------------------


def limits_of_groups(variances: Variances, tail: float, method: Method) -> tuple[Floats, Floats]:
    """Return the limits of each AUC, each with error probability `tail`; NaN if undefined."""
    if method != "exact":
        return AUCSpread.of(variances).limits(normal_quantile(tail), method)
    low, high = np.full((2, variances.auc.size), np.nan)
    defined = variances.defined
    auc = variances.auc[defined]
    if variances.weighted:
        classes = variances.positives, variances.negatives
        squares = np.sum([1.0 / np.maximum(rows.effective[defined], 1.0) for rows in classes], 0)
        reach = np.sqrt(-np.log(tail) * squares / 2.0)
        found = np.clip([auc - reach, auc + reach], 0.0, 1.0)
    else:
        n_pairs = np.maximum(variances.n_pairs[defined], 1.0)
        found = np.array(exact_limits(auc, n_pairs, tail))
    low[defined], high[defined] = np.where(variances.bounded[defined] == 0.0, auc, found)
    return low, high


def group_limits(
    variances: Variances, tail: float, method: Method
) -> tuple[Floats, Floats, NDArray[np.str_]]:
    """Return the limits of each group's AUC, each with error probability `tail`, and notes."""
    auc, defined = variances.auc, variances.defined
    limits = limits_of_groups(variances, tail, method)
    bounded = defined & ~(variances.delong > 0) & (method != "exact")
    note = notes_of(variances.negatives, variances.positives, bounded)
    if method == "exact":
        return *limits, note
    if variances.clusters is not None:
        few = "fewer than two clusters of a class: variance bounded"
        note[defined & ~variances.estimable] = few
    is_exact = not variances.weighted and variances.clusters is None
    exact = "perfect separation: exact" if is_exact else "perfect separation"
    note[defined & ((auc == 0.0) | (auc == 1.0))] = exact
    return *limits, note


def notes_of(
    negatives: ClassRows, positives: ClassRows, bounded: NDArray[np.bool_]
) -> NDArray[np.str_]:
    """Return notes on groups that lack a class, or whose variance is an upper bound."""
    note = np.full(bounded.size, "", dtype=object)
    note[bounded] = NO_VARIATION
    for rows, name in ((positives, "positive"), (negatives, "negative")):
        note[bounded & (rows.n == 1)] = f"one {name}: variance bounded"
        note[rows.n == 0] = f"no {name}s"
    return note
