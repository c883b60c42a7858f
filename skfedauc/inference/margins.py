"""Tests with a margin: non-inferiority of the worst group, and equivalence of all groups.

Both are intersection-union tests [1]_: a claim on all groups (or pairs) needs a significant test of
each, so each has the full error probability. Equivalence has two one-sided tests of each pair [2]_.

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
from typing import Any, NamedTuple

import numpy as np

from skfedauc._words import counted, shortened
from skfedauc.inference.differences import (
    MOST_GROUPS,
    UsedGroups,
    crossing,
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
        Whether `limit` is on the required side of `bound`.
    pvalue : float
        P value of the claim being wrong; below ``1 - confidence_level`` exactly if `is_shown`.
    estimate : float
        The smallest group AUC, or the largest difference between two group AUCs.
    limit : float
        One-sided limit of the true value: a lower limit of the smallest AUC, or an upper limit of
        the largest difference.
    bound : float
        What the smallest AUC has to exceed, or the largest difference has to stay below.
    confidence_level : float
        Level of the one-sided limit.
    groups : tuple
        Labels of the group or of the pair that determines `limit`; empty without a result.
    n_groups, n_left_out : int
        Groups in the test, and groups that lack a class, which the claim does not cover.
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
    """One-sided limit, the groups that determine it, and whether it is beyond the bound."""

    limit: float
    pvalue: float
    groups: tuple[int, ...]
    is_shown: bool


def worst_above(lowest: Variances, bound: float, tail: float) -> Extreme:
    """Test that all true AUCs are above a bound; binned scores have their lowest AUCs."""
    from scipy.special import ndtr

    numbers = np.flatnonzero(lowest.defined)
    spread = AUCSpread.of(lowest).take(numbers)

    def limits(deviate: float) -> Floats:
        return spread.signed_limit(0.0, deviate)

    found = limits(normal_quantile(tail))
    deviate = crossing(lambda z: float(limits(z).min()) - bound)
    limit = float(found.min())
    return Extreme(limit, float(ndtr(-deviate)), (int(numbers[found.argmin()]),), limit > bound)


def difference_below(extremes: Extremes, bound: float, tail: float) -> Extreme:
    """Test that all true AUCs of the groups in use differ by less than a bound."""
    from scipy.special import ndtr

    groups = UsedGroups.of(extremes)
    n_groups = groups.numbers.size
    limit, pair = groups.limit(1.0, deviate_of_furthest_pair(tail, n_groups))
    deviate = crossing(lambda z: bound - groups.limit(1.0, z)[0])
    pvalue = float(ndtr(-deviate)) * (2.0 if n_groups > MOST_GROUPS else 1.0)
    numbers = tuple(groups.numbers[list(pair)].tolist())
    return Extreme(min(limit, 1.0), min(pvalue, 1.0), numbers, limit < bound)
