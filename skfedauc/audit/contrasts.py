"""Gaps between groups, from values with limits: pairs of groups, or each group with all others.

A contrast has the gap's interval, the p value at which this interval excludes equal groups,
and limits for each group that hold for all groups together. All of them come from the same limits,
so they never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.cross_gap import CrossGaps
from skfedauc.inference.differences import (
    MOST_GROUPS,
    all_pairs,
    crossing,
    deviate_of_all_pairs,
    reach_of_difference,
)
from skfedauc.inference.rates import (
    Estimates,
    GapLimits,
    Limits,
    largest_difference,
    limits_of_difference,
    limits_of_ratio,
    reaches,
    tail_of,
)

Floats = NDArray[np.float64]
# Columns of a table: group value limits at 95 %, differences from the reference group (or the
# values themselves), and limits of these differences for all groups together
Columns: TypeAlias = dict[str, Floats]

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


@dataclass(frozen=True, eq=False)
class Between:
    """Value differences for all group pairs, or ratios, which exclude 1 if differences exclude 0.

    `estimates` maps a limit's error probability to the values with their limits; `correlation` is
    None for independent values. `n_rows` are the denominators of rates, None for all rows.
    """

    values: Floats
    estimates: Estimates
    correlation: Floats | None = None
    n_rows: NDArray[np.int64] | None = None
    is_ratio: bool = False

    @property
    def ends(self) -> tuple[int, int]:
        """Groups with the largest and the smallest value."""
        highest, lowest = int(self.values.argmax()), int(self.values.argmin())
        return highest, lowest if lowest != highest else self.values.size - 1

    def size(self, highest: int, lowest: int) -> float:
        """Return the gap between two groups; the ratio of zeros is NaN."""
        most, least = float(self.values[highest]), float(self.values[lowest])
        if not self.is_ratio:
            return most - least
        return least / most if most > 0.0 else float("nan")

    def gap(self, alpha: float) -> GapLimits:
        """Return the limits for the gap between the two true values furthest apart.

        The limits together fail with probability `alpha` at most.
        """
        limits = limits_of_ratio if self.is_ratio else limits_of_difference
        return limits(self.estimates, self.values.size, alpha, alpha / 2.0, self.correlation)

    def excludes_equality(self, limits: GapLimits) -> bool:
        """Return whether the gap's limits exclude equal groups."""
        return limits.high < 1.0 if self.is_ratio else limits.low > 0.0

    def pvalue(self) -> float:
        """Return the smallest error probability at which the interval excludes equal groups."""
        everyone = np.arange(self.values.size)
        deviate = crossing(lambda z: self._lowest(min(z, _FURTHEST), everyone)[0], 0.0)
        if np.isinf(deviate):
            return 1.0 if deviate < 0.0 else 0.0
        return float(all_pairs(0.05, everyone.size).pvalue(np.array(deviate)))

    def clearest(self, alpha: float, among: NDArray[np.bool_]) -> Gap | None:
        """Return the chosen groups' most significant difference if it is established, or None."""
        chosen = np.flatnonzero(among)
        if chosen.size < 2 or self.is_ratio:
            return None
        low, (g, h) = self._lowest(deviate_of_all_pairs(alpha, self.values.size), chosen)
        if low <= 0.0:
            return None
        # The largest observed gap comes first, if it is established as well.
        ends = chosen[[self.values[chosen].argmax(), self.values[chosen].argmin()]]
        for pair in (ends, chosen[[g, h]]):
            highest, lowest = map(int, pair)
            found = self.columns(alpha, lowest)
            limits = [float(found[f"simultaneous_{end}"][highest]) for end in ("low", "high")]
            if limits[0] > 0.0:
                break
        return Gap(highest, lowest, self.size(highest, lowest), *limits)

    def columns(self, alpha: float, reference: int) -> Columns:
        """Return group limits, and limits of the differences from a reference group."""
        lowest, highest = self.estimates(0.025)
        ends = self.estimates(tail_of(deviate_of_all_pairs(alpha, self.values.size)))
        low = _differences(*ends, reference, -1.0, self.correlation)
        high = _differences(*ends[::-1], reference, 1.0, self.correlation)
        low[reference] = high[reference] = np.nan
        return {
            "ci_low": lowest.low,
            "ci_high": highest.high,
            "difference": self.values - self.values[reference],
            "simultaneous_low": low,
            "simultaneous_high": high,
        }

    def _lowest(self, deviate: float, chosen: NDArray[np.intp]) -> tuple[float, tuple[int, int]]:
        """Return the largest lower limit over the chosen groups' pairs, and its pair."""
        lowest, highest = (
            Limits(*(part[chosen] for part in of)) for of in self.estimates(tail_of(deviate))
        )
        correlation = self.correlation
        if correlation is not None:
            correlation = correlation[np.ix_(chosen, chosen)]
        return largest_difference(lowest, highest, -1.0, correlation)


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
        return GapLimits(*self.gaps.largest(alpha, alpha / 2.0))

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
        names = "ci_low", "ci_high", "difference", "simultaneous_low", "simultaneous_high"
        own = self.gaps.limits(0.95, are_simultaneous=False)
        return dict(zip(names, [*own, self.values, *self.gaps.limits(1.0 - alpha)], strict=True))


Contrast = Between | WithOthers


def _differences(
    one: Limits, other: Limits, reference: int, sign: float, correlation: Floats | None
) -> Floats:
    """Return lower (sign -1) or upper (sign 1) limits for differences from a reference."""
    of_one, of_other = reaches(one, other, sign)
    own = of_other[reference]
    reach = of_one + own
    if one.value.size <= MOST_GROUPS:
        of_pairs = None if correlation is None else correlation[:, reference]
        reach = reach_of_difference(of_one, np.full_like(of_one, own), of_pairs)
    found = one.value - other.value[reference] + sign * reach
    return np.asarray(np.clip(found, -1.0, 1.0))
