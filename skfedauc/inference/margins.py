"""Tests with a margin: non-inferiority of the worst group, and equivalence of all groups.

The two tests are intersection-union tests [1]_: the claim for all groups (or pairs of groups) needs
a significant test of each group (or pair). Each single test therefore has the full error
probability, without an adjustment for multiple tests. The test of equivalence consists of two
one-sided tests (TOST) of each pair [2]_.

References
----------
.. [1] Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling.
   Technometrics 24(4). https://doi.org/10.1080/00401706.1982.10487790
.. [2] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power
   approach for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics
   and Biopharmaceutics 15(6). https://doi.org/10.1007/BF01068419
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skfedauc._words import counted, shortened
from skfedauc.inference.differences import (
    FURTHEST,
    MOST_GROUPS,
    UsedGroups,
    deviate_of_furthest_pair,
)
from skfedauc.inference.limits import AUCSpread
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes, Floats, Variances


@dataclasses.dataclass(frozen=True, repr=False)
class MarginTest:
    """Result of `GroupAUC.test_margin`.

    Attributes
    ----------
    claim : str
        The alternative hypothesis in words.
    is_shown : bool
        True if `limit` is on the required side of `bound`, which supports the claim.
    pvalue : float
        P value of the null hypothesis that the claim is wrong. The p value is below ``1 -
        confidence_level`` if and only if `is_shown` is True.
    estimate : float
        The smallest group AUC, or the largest difference between two group AUCs.
    limit : float
        One-sided confidence limit of the true value: a lower limit of the smallest AUC, or an upper
        limit of the largest difference.
    bound : float
        The value that the true value has to exceed (smallest AUC), or stay below (largest
        difference).
    confidence_level : float
        Confidence level of the one-sided limit.
    groups : tuple
        Labels of the groups that determine `limit`: one group, or a pair of groups. The tuple is
        empty without a result.
    n_groups, n_left_out : int
        Number of groups in the test, and number of groups left out because they lack a class. The
        claim does not cover these groups.
    """

    claim: str
    is_shown: bool
    pvalue: float
    estimate: float
    limit: float
    bound: float
    confidence_level: float
    groups: tuple[Any, ...]
    n_groups: int
    n_left_out: int

    def __repr__(self) -> str:
        left_out = f", {self.n_left_out:,} left out" if self.n_left_out else ""
        if not self.groups:
            return (
                f"MarginTest({self.claim}: no result, too few groups have both classes): "
                f"{counted(self.n_groups, 'group')}{left_out}"
            )
        by = " minus ".join(map(shortened, self.groups))
        return (
            f"MarginTest({self.claim}: {'shown' if self.is_shown else 'not shown'}, "
            f"pvalue={self.pvalue:.4g}, estimate={self.estimate:.4g}, "
            f"{self.confidence_level * 100:g} % limit {self.limit:.4g} by {by}): "
            f"{counted(self.n_groups, 'group')}{left_out}"
        )


class Extreme(NamedTuple):
    """One-sided limit of the smallest AUC or of the largest difference.

    Attributes
    ----------
    limit, pvalue : float
    groups : tuple of int
        Indices of the groups that determine the limit, among all groups.
    is_shown : bool
        Whether the limit is on the required side of the bound.
    """

    limit: float
    pvalue: float
    groups: tuple[int, ...]
    is_shown: bool


def worst_above(lowest: Variances, bound: float, tail: float) -> Extreme:
    """Test that all true AUCs are above a bound, with error probability `tail`.

    `lowest` are the groups in use at the lowest AUCs that binned scores permit.
    """
    from scipy.special import ndtr

    numbers = np.flatnonzero(lowest.defined)
    spread = AUCSpread.of(lowest).take(numbers)

    def limits(deviate: float) -> Floats:
        return spread.signed_limit(0.0, deviate)

    found = limits(normal_quantile(tail))
    deviate = _crossing(lambda z: float(limits(z).min()) - bound)
    limit = float(found.min())
    return Extreme(limit, float(ndtr(-deviate)), (int(numbers[found.argmin()]),), limit > bound)


def difference_below(extremes: Extremes, bound: float, tail: float) -> Extreme:
    """Test that all true AUCs of the groups in use differ by less than a bound.

    The error probability is `tail`.
    """
    from scipy.special import ndtr

    groups = UsedGroups.of(extremes)
    n_groups = groups.numbers.size
    limit, pair = groups.limit(1.0, deviate_of_furthest_pair(tail, n_groups))
    deviate = _crossing(lambda z: bound - groups.limit(1.0, z)[0])
    pvalue = float(ndtr(-deviate)) * (2.0 if n_groups > MOST_GROUPS else 1.0)
    numbers = tuple(groups.numbers[list(pair)].tolist())
    return Extreme(min(limit, 1.0), min(pvalue, 1.0), numbers, limit < bound)


def _crossing(distance: Callable[[float], float]) -> float:
    """Return the normal quantile at which a limit reaches its bound.

    `distance` decreases with the quantile; the result is infinite if it has no root.
    """
    from scipy.optimize import brentq

    if distance(-FURTHEST) <= 0.0:
        return -np.inf
    if distance(FURTHEST) > 0.0:
        return np.inf
    return float(brentq(distance, -FURTHEST, FURTHEST, xtol=1e-13, rtol=1e-13))
