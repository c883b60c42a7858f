"""Gaps between groups, from values with limits: pairs of groups, or each group with all others.

A contrast has the gap's interval, the p value at which this interval excludes equal groups,
and limits for each group that hold for all groups together. All of them come from the same limits,
so they never disagree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.cross_gap import CrossGaps
from skfedauc.inference.differences import (
    MOST_GROUPS,
    all_pairs,
    deviate_of_all_pairs,
    largest_of_pairs,
    reach_of_difference,
)
from skfedauc.inference.rates import (
    Estimates,
    GapLimits,
    Limits,
    limits_of_difference,
    limits_of_ratio,
)

Floats = NDArray[np.float64]

# Normal quantile whose tail probability still has all digits
_FURTHEST = 37.0


class Gap(NamedTuple):
    """Gap between two groups, or a group and all others (`lowest` is None), with its limits.

    Groups are numbers in a contrast, and labels in an answer.
    """

    highest: Any
    lowest: Any
    estimate: float
    ci_low: float
    ci_high: float


class Columns(NamedTuple):
    """Group value limits at 95 %, and limits of their differences for all groups together.

    `difference` is that from the reference group, or the value itself.
    """

    ci_low: Floats
    ci_high: Floats
    difference: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats


class Between:
    """Value differences for all group pairs.

    Parameters
    ----------
    values : float64 array, shape (n_groups,)
    estimates : callable
        Maps a limit's error probability to the values with their limits.
    correlation : float64 array, shape (n_groups, n_groups), default=None
        The values' correlations; None if they are independent.
    n_rows : int array, shape (n_groups,), default=None
        Numbers of rows in the denominators of rates; None for all rows.
    """

    def __init__(
        self,
        values: Floats,
        estimates: Estimates,
        correlation: Floats | None = None,
        n_rows: NDArray[np.int64] | None = None,
    ) -> None:
        self.values, self.estimates, self.correlation = values, estimates, correlation
        self.n_rows, self.n_groups = n_rows, int(values.size)

    @property
    def ends(self) -> tuple[int, int]:
        """Groups with the largest and the smallest value."""
        highest, lowest = int(self.values.argmax()), int(self.values.argmin())
        return highest, lowest if lowest != highest else self.n_groups - 1

    def size(self, highest: int, lowest: int) -> float:
        """Return the gap between two groups."""
        return float(self.values[highest] - self.values[lowest])

    def gap(self, alpha: float) -> GapLimits:
        """Return the limits for the gap between the two true values furthest apart.

        The limits together fail with probability `alpha` at most.
        """
        tails = alpha, alpha / 2.0
        return limits_of_difference(self.estimates, self.n_groups, *tails, self.correlation)

    def excludes_equality(self, limits: GapLimits) -> bool:
        """Return whether the gap's limits exclude equal groups."""
        return limits.low > 0.0

    def pvalue(self) -> float:
        """Return the smallest error probability at which the interval excludes equal groups."""
        from scipy.optimize import brentq

        everyone = np.arange(self.n_groups)

        def lower_limit(deviate: float) -> float:
            return self._lowest(deviate, everyone)[0]

        if lower_limit(0.0) <= 0.0:
            return 1.0
        if lower_limit(_FURTHEST) > 0.0:
            return 0.0
        deviate = brentq(lower_limit, 0.0, _FURTHEST, xtol=1e-13, rtol=1e-13)
        return float(all_pairs(0.05, self.n_groups).pvalue(np.array(deviate)))

    def clearest(self, alpha: float, among: NDArray[np.bool_]) -> Gap | None:
        """Return the chosen groups' most significant gap if it is established, or None."""
        chosen = np.flatnonzero(among)
        if chosen.size < 2:
            return None
        deviate = deviate_of_all_pairs(alpha, self.n_groups)
        low, (g, h) = self._lowest(deviate, chosen)
        if low <= 0.0:
            return None
        # The largest observed gap comes first, if it is established as well.
        ends = chosen[[self.values[chosen].argmax(), self.values[chosen].argmin()]]
        for highest, lowest in (ends, chosen[[g, h]]):
            found = self.columns(alpha, int(lowest))
            limits = found.simultaneous_low[highest], found.simultaneous_high[highest]
            if limits[0] > 0.0:
                break
        ends_of = int(highest), int(lowest)
        return Gap(*ends_of, self.size(*ends_of), float(limits[0]), float(limits[1]))

    def columns(self, alpha: float, reference: int) -> Columns:
        """Return group limits, and limits of the differences from a reference group."""
        lowest, highest = self.estimates(0.025)
        tail = _tail(deviate_of_all_pairs(alpha, self.n_groups))
        low = _differences(*self.estimates(tail), reference, -1.0, self.correlation)
        high = _differences(*self.estimates(tail)[::-1], reference, 1.0, self.correlation)
        apart = self.values - self.values[reference]
        low[reference] = high[reference] = np.nan
        return Columns(lowest.low, highest.high, apart, low, high)

    def _lowest(self, deviate: float, chosen: NDArray[np.intp]) -> tuple[float, tuple[int, int]]:
        """Return the largest lower limit over the chosen groups' pairs, and its pair."""
        lowest, highest = (
            Limits(*(part[chosen] for part in of)) for of in self.estimates(_tail(deviate))
        )
        if self.n_groups > MOST_GROUPS:
            pair = int(lowest.low.argmax()), int(highest.high.argmin())
            return float(lowest.low.max() - highest.high.min()), pair
        correlation = self.correlation
        if correlation is not None:
            correlation = correlation[np.ix_(chosen, chosen)]
        of_first = lowest.value, lowest.value - lowest.low
        of_second = highest.value, highest.high - highest.value
        return largest_of_pairs(of_first, of_second, -1.0, correlation)


class Ratios(Between):
    """Value ratios for all pairs; they exclude 1 exactly if differences exclude 0."""

    def size(self, highest: int, lowest: int) -> float:
        """Return the smaller over the larger value; NaN if both are 0."""
        most = self.values[highest]
        return float(self.values[lowest] / most) if most > 0.0 else float("nan")

    def gap(self, alpha: float) -> GapLimits:
        """Return the limits for the smallest over the largest true value."""
        tails = alpha, alpha / 2.0
        return limits_of_ratio(self.estimates, self.n_groups, *tails, self.correlation)

    def excludes_equality(self, limits: GapLimits) -> bool:
        """Return whether the ratio's limits exclude 1."""
        return limits.high < 1.0

    def clearest(self, alpha: float, among: NDArray[np.bool_]) -> Gap | None:
        """Return None, because the sentence on a ratio is that of its difference."""
        return None


class WithOthers:
    """Each group compared with all other groups: xAUC disparities."""

    n_rows = None

    def __init__(self, gaps: CrossGaps) -> None:
        self.gaps, self.values = gaps, gaps.disparity

    @property
    def ends(self) -> tuple[int, None]:
        """Group with the largest absolute value; of two groups, the one that is favored."""
        return int(np.argmax(np.abs(self.values) + 1e-12 * (self.values > 0.0))), None

    def size(self, highest: int, lowest: None = None) -> float:
        """Return a group's absolute value."""
        return float(abs(self.values[highest]))

    def gap(self, alpha: float) -> GapLimits:
        """Return the limits for the largest absolute value."""
        return GapLimits(*self.gaps.largest(alpha, alpha / 2.0)[1:])

    def excludes_equality(self, limits: GapLimits) -> bool:
        """Return whether the largest absolute value's limits exclude 0."""
        return limits.low > 0.0

    def pvalue(self) -> float:
        """Return the groups' smallest p value, times the comparison count."""
        pvalues = self.gaps.pvalue[np.isfinite(self.gaps.pvalue)]
        n_claims = 1 if self.values.size == 2 else pvalues.size
        return float(min(n_claims * pvalues.min(initial=1.0), 1.0))

    def clearest(self, alpha: float, among: NDArray[np.bool_]) -> Gap | None:
        """Return the most significant chosen group if it is established, or None."""
        low, high = self.gaps.limits(1.0 - alpha)
        # Limits of the absolute value, on the side of the estimate
        least, most = np.where(self.values > 0.0, [low, high], [-high, -low])
        known = np.where(among, np.nan_to_num(least, nan=-np.inf), -np.inf)
        g = self.ends[0]
        if not known[g] > 0.0:
            g = int(known.argmax())
        if not known[g] > 0.0:
            return None
        return Gap(g, None, self.size(g), float(least[g]), float(most[g]))

    def columns(self, alpha: float, reference: int) -> Columns:
        """Return limits for each group alone, and for all groups together."""
        own = self.gaps.limits(0.95, are_simultaneous=False)
        return Columns(*own, self.values, *self.gaps.limits(1.0 - alpha))


Contrast = Between | WithOthers


def _tail(deviate: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-deviate))


def _differences(
    one: Limits, other: Limits, reference: int, sign: float, correlation: Floats | None
) -> Floats:
    """Return lower (sign -1) or upper (sign 1) limits for differences from a reference."""
    of_one = one.value - one.low if sign < 0 else one.high - one.value
    of_other = other.high - other.value if sign < 0 else other.value - other.low
    own = of_other[reference]
    reach = of_one + own
    if one.value.size <= MOST_GROUPS:
        of_pairs = None if correlation is None else correlation[:, reference]
        reach = reach_of_difference(of_one, np.full_like(of_one, own), of_pairs)
    found = one.value - other.value[reference] + sign * reach
    return np.asarray(np.clip(found, -1.0, 1.0))
