"""Power of tests of group AUCs, and width of intervals, for given numbers of rows.

The observed AUCs of the groups are independent. Each has a Beta distribution with the true AUC as
its mean, and with the variance of `pair_moments`. A Beta distribution is skewed towards one half,
like the distribution of an observed AUC of few rows; a normal distribution would give too high a
power. The tests use the limits of the package, at the variance of normal scores (or of pilot rows).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.intervals import AUCSpread, normal_quantile
from skfedauc.inference.pair_moments import PairMoments, binormal_moments
from skfedauc.inference.pairwise import deviate_of_all_pairs, deviate_of_furthest_pair

Floats = NDArray[np.float64]

# Nodes and weights of integrals over a standard normal variable, by the trapezoidal rule
_NODES = np.linspace(-6.0, 6.0, 121)
_WEIGHTS = np.exp(-(_NODES**2) / 2.0)
_WEIGHTS /= _WEIGHTS.sum()


class ObservedAUC(NamedTuple):
    """Distribution of the observed AUC of one group.

    Attributes
    ----------
    auc, variance : float
        True AUC, and variance of the observed AUC.
    """

    auc: float
    variance: float

    @property
    def _shapes(self) -> tuple[float, float]:
        total = self.auc * (1.0 - self.auc) / self.variance - 1.0
        return self.auc * total, (1.0 - self.auc) * total

    def below(self, value: ArrayLike) -> Floats:
        """Return the probability that the observed AUC is below a value."""
        from scipy.special import betainc

        found: Floats = betainc(*self._shapes, np.clip(value, 0.0, 1.0))
        return found

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return the quantile of the observed AUC."""
        from scipy.special import betaincinv

        found: Floats = betaincinv(*self._shapes, probability)
        return found


class Design(NamedTuple):
    """Properties of groups and tests that do not depend on the AUC and the number of rows.

    Attributes
    ----------
    prevalence : float
        Share of positives.
    n_groups : int
    confidence_level : float
    sd_ratio : float
        Standard deviation of the scores of the positives divided by that of the negatives.
    scale : PairMoments or None
        Moments of pilot rows divided by the moments of normal scores; None for normal scores.
    """

    prevalence: float
    n_groups: int
    confidence_level: float
    sd_ratio: float = 1.0
    scale: PairMoments | None = None

    def observed(self, auc: float, n_rows: float) -> ObservedAUC:
        """Return the distribution of the observed AUC of a group with this number of rows."""
        m, n = n_rows * self.prevalence, n_rows * (1.0 - self.prevalence)
        moments = binormal_moments(auc, self.sd_ratio)
        if self.scale is not None:
            moments = PairMoments(*(a * b for a, b in zip(moments, self.scale, strict=True)))
        # Estimates from pilot rows can exceed the variance of two independent comparisons, which is
        # the largest variance with two rows of each class.
        return ObservedAUC(auc, min(moments.variance(m, n), auc * (1.0 - auc) / 2.0))

    def reach(self, auc: float, n_rows: float, deviate: float) -> tuple[float, float]:
        """Return the distances of both limits from an AUC; `deviate` is a normal quantile."""
        low, high = self._spread(np.array([auc]), n_rows).limits(deviate, "logit")
        return auc - float(low[0]), float(high[0]) - auc

    def lower_limits(self, aucs: Floats, n_rows: float, deviate: float) -> Floats:
        """Return the lower limits of observed AUCs, at the variance of these AUCs."""
        return self._spread(aucs, n_rows).limit(0.0, deviate, "logit")

    def _spread(self, aucs: Floats, n_rows: float) -> AUCSpread:
        m, n = n_rows * self.prevalence, n_rows * (1.0 - self.prevalence)
        variances = np.array([self.observed(auc, n_rows).variance for auc in aucs.tolist()])
        once = 1.0 / (m * n)
        fixed = (np.full(aucs.size, x) for x in (min(m, n), once, once * ((m + n) / 2.0 - 1.0)))
        return AUCSpread(aucs, variances, *fixed)


def interval_width(design: Design, auc: float, width: float, n_rows: float) -> float:
    """Return the width of the interval at the true AUC; the required width has no effect."""
    tail = (1.0 - design.confidence_level) / 2.0
    return sum(design.reach(auc, n_rows, normal_quantile(tail)))


def power_of_difference(design: Design, auc: float, difference: float, n_rows: float) -> float:
    """Return the power of `GroupAUC.test_difference` if one AUC is lower by `difference`.

    This is the probability that the largest of the other AUCs exceeds the lowest AUC by the
    critical difference.
    """
    others, lowest = design.observed(auc, n_rows), design.observed(auc - difference, n_rows)
    deviate = deviate_of_all_pairs(1.0 - design.confidence_level, design.n_groups)
    of_others = design.reach(auc, n_rows, deviate)[0]
    critical = math.hypot(of_others, design.reach(auc - difference, n_rows, deviate)[1])
    below = others.below(lowest.quantile(_normal_below(_NODES)) + critical)
    return float(_WEIGHTS @ (1.0 - below ** (design.n_groups - 1)))


def power_of_equivalence(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return the power of `GroupAUC.test_equivalence` if all AUCs are equal.

    This is the probability that the range of the AUCs is below the margin minus the distance of the
    limit. The integral is over the largest AUC.
    """
    observed, tail = design.observed(auc, n_rows), 1.0 - design.confidence_level
    deviate = deviate_of_furthest_pair(tail, design.n_groups)
    room = margin - math.hypot(*design.reach(auc, n_rows, deviate))
    if room <= 0.0:
        return 0.0
    largest = _normal_below(_NODES) ** (1.0 / design.n_groups)
    too_low = observed.below(observed.quantile(largest) - room) / largest
    return float(_WEIGHTS @ (1.0 - too_low) ** (design.n_groups - 1))


def power_of_non_inferiority(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return the power of ``GroupAUC.test_worst(auc, margin=margin)`` if all AUCs are equal.

    This is the probability that all observed AUCs exceed the AUC whose lower limit is the bound.
    """
    bound, deviate = auc - margin, normal_quantile(1.0 - design.confidence_level)
    low, high = bound, 1.0 - 1e-6 * (1.0 - bound)
    # With few rows, the lower limit decreases again towards an AUC of 1: find the first AUC. The
    # second grid is between two neighbors of the first grid.
    for _ in range(2):
        aucs = np.linspace(low, high, 65)
        excess = design.lower_limits(aucs, n_rows, deviate) - bound
        if not (excess > 0.0).any():
            return 0.0
        first = int((excess > 0.0).argmax())
        low, high = aucs[first - 1], aucs[first]
    least = float(np.interp(0.0, excess[first - 1 : first + 1], aucs[first - 1 : first + 1]))
    return float(1.0 - design.observed(auc, n_rows).below(least)) ** design.n_groups


def _normal_below(deviate: Floats) -> Floats:
    from scipy.special import ndtr

    found: Floats = ndtr(deviate)
    return found


# Width or power by target: functions of the design, the AUC, the value of the target, and the
# number of rows
REACHED = {
    "width": interval_width,
    "difference": power_of_difference,
    "equivalence": power_of_equivalence,
    "non_inferiority": power_of_non_inferiority,
}
