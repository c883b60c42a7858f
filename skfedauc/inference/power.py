"""Critical differences, and power and interval width of tests, for given row counts.

Observed AUCs are independent, with a Beta distribution around the true AUC and the variance of
`PairMoments`: a normal distribution has no skew, and would give too high a power. The tests use
the limits of the package, at the variance of normal scores (or of pilot rows).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input
from skfedauc.inference.differences import deviate_of_all_pairs, deviate_of_furthest_pair
from skfedauc.inference.intervals import AUCSpread, check_confidence_level
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import PairMoments

Floats = NDArray[np.float64]

# Nodes and weights of integrals over a standard normal variable, by the trapezoidal rule
_NODES = np.linspace(-6.0, 6.0, 121)
_WEIGHTS = np.exp(-(_NODES**2) / 2.0)
_WEIGHTS /= _WEIGHTS.sum()
# Number of AUCs for the interpolation of limits
_GRID = 257
_LEAST = 1e-6


def binormal_moments(auc: Any, sd_ratio: float = 1.0) -> PairMoments:
    """Return the moments for normal scores, with an AUC between 0 and 1, or an array of these.

    Two comparisons that share a row are signs of two normal variables with correlation rho. If the
    standard deviation of the positives is r times that of the negatives, rho is ``1 / (1 + r^2)``
    for a shared negative and ``r^2 / (1 + r^2)`` for a shared positive. The probability that both
    variables are positive is ``Phi(h) - 2 T(h, sqrt((1 - rho) / (1 + rho)))``, where
    ``h = Phi^-1(A)`` and T is Owen's function (1956).
    """
    from scipy.special import ndtri, owens_t

    separation = ndtri(auc)
    squared = sd_ratio**2

    def shared(correlation: float) -> Any:
        slope = math.sqrt((1 - correlation) / (1 + correlation))
        return auc * (1 - auc) - 2 * owens_t(separation, slope)

    return PairMoments(auc * (1 - auc), shared(1 / (1 + squared)), shared(squared / (1 + squared)))


class ObservedAUC(NamedTuple):
    """Distribution of one group's observed AUC, from its true AUC and its variance."""

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
        """Return the observed AUC's quantile."""
        from scipy.special import betaincinv

        found: Floats = betaincinv(*self._shapes, probability)
        # Normal scores have no AUC of 0 or 1.
        return np.clip(found, _LEAST, 1.0 - _LEAST)


class Design(NamedTuple):
    """Properties of groups and tests that do not depend on the AUC and the row count.

    `sd_ratio` is the positives' standard deviation over the negatives', and `scale` the moments of
    pilot rows over those for normal scores; None for normal scores.
    """

    prevalence: float
    n_groups: int
    confidence_level: float
    sd_ratio: float = 1.0
    scale: PairMoments | None = None

    def observed(self, auc: float, n_rows: float) -> ObservedAUC:
        """Return how a group's observed AUC is distributed with this row count."""
        return ObservedAUC(auc, float(self._variance(auc, n_rows)))

    def _variance(self, auc: Any, n_rows: float) -> Any:
        m, n = n_rows * self.prevalence, n_rows * (1.0 - self.prevalence)
        moments = binormal_moments(auc, self.sd_ratio)
        if self.scale is not None:
            moments = PairMoments(*(a * b for a, b in zip(moments, self.scale, strict=True)))
        # The largest variance with two rows of each class is that of two independent comparisons.
        return np.minimum(moments.variance(m, n), auc * (1.0 - auc) / 2.0)

    def reach(self, aucs: Floats, n_rows: float, deviate: float, end: float) -> Floats:
        """Return AUCs' distances from their lower (end 0) or upper (end 1) limits."""
        m, n = n_rows * self.prevalence, n_rows * (1.0 - self.prevalence)
        once = 1.0 / (m * n)
        fixed = (np.full(aucs.size, x) for x in (min(m, n), once, once * ((m + n) / 2.0 - 1.0)))
        return np.abs(
            AUCSpread(aucs, self._variance(aucs, n_rows), *fixed).limit(end, deviate) - aucs
        )


def interval_width(design: Design, auc: float, width: float, n_rows: float) -> float:
    """Return the interval width at the true AUC; the required width has no effect."""
    tail = (1.0 - design.confidence_level) / 2.0
    one, deviate = np.array([auc]), normal_quantile(tail)
    return float(sum(design.reach(one, n_rows, deviate, end)[0] for end in (0.0, 1.0)))


def power_of_difference(design: Design, auc: float, difference: float, n_rows: float) -> float:
    """Return `GroupAUC.test_difference`'s power if one AUC is lower by `difference`.

    The test rejects if the largest of the other AUCs exceeds the lowest one by the critical
    difference of these two. The integral is over the lowest AUC.
    """
    from scipy.special import ndtr

    others, lowest = design.observed(auc, n_rows), design.observed(auc - difference, n_rows)
    deviate = deviate_of_all_pairs(1.0 - design.confidence_level, design.n_groups)
    low = lowest.quantile(ndtr(_NODES))
    high = np.linspace(low[0], others.quantile(ndtr(_NODES[-1])), _GRID)
    critical = np.hypot(
        design.reach(low, n_rows, deviate, 1.0)[:, None], design.reach(high, n_rows, deviate, 0.0)
    )
    least = _first(high, high - low[:, None] - critical)
    return float(_WEIGHTS @ (1.0 - others.below(least) ** (design.n_groups - 1)))


def power_of_equivalence(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return `GroupAUC.test_margin`'s power if all AUCs are equal.

    The limit of the difference between the largest and the smallest AUC has to be below the margin.
    The integral is over the largest AUC.
    """
    from scipy.special import ndtr

    observed, tail = design.observed(auc, n_rows), 1.0 - design.confidence_level
    deviate = deviate_of_furthest_pair(tail, design.n_groups)
    probability = ndtr(_NODES) ** (1.0 / design.n_groups)
    high = observed.quantile(probability)
    low = np.linspace(observed.quantile(ndtr(_NODES[0])), high[-1], _GRID)
    reach = np.hypot(
        design.reach(high, n_rows, deviate, 1.0)[:, None], design.reach(low, n_rows, deviate, 0.0)
    )
    least = np.minimum(_first(low, margin - (high[:, None] - low) - reach), high)
    too_low = observed.below(least) / probability
    return float(_WEIGHTS @ np.maximum(1.0 - too_low, 0.0) ** (design.n_groups - 1))


def power_of_non_inferiority(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return the power with ``GroupAUC.test_margin(margin, reference=auc)`` if all AUCs are equal.

    All observed AUCs have to exceed the AUC whose lower limit is the bound.
    """
    bound, deviate = auc - margin, normal_quantile(1.0 - design.confidence_level)
    aucs = np.linspace(bound, 1.0 - _LEAST, _GRID)
    excess = aucs - design.reach(aucs, n_rows, deviate, 0.0) - bound
    least = _first(aucs, excess[None, :])
    return float(1.0 - design.observed(auc, n_rows).below(least)[0]) ** design.n_groups


def _first(aucs: Floats, excess: Floats) -> Floats:
    """Return the AUC at which each `excess` row becomes positive, or infinity."""
    positive = excess > 0.0
    end = np.maximum(positive.argmax(axis=1), 1)
    rows = np.arange(len(excess))
    before, after = excess[rows, end - 1], excess[rows, end]
    share = np.clip(-before / (after - before), 0.0, 1.0)
    found = aucs[end - 1] + share * (aucs[end] - aucs[end - 1])
    return np.where(positive.any(axis=1), found, np.inf)


# Width or power by target: functions of the design, the AUC, the value of the target, and the
# number of rows
REACHED = {
    "width": interval_width,
    "difference": power_of_difference,
    "equivalence": power_of_equivalence,
    "non_inferiority": power_of_non_inferiority,
}


# Critical differences ----------------------------------------------------------------------------


def auc_critical_difference(
    auc: float,
    n_positives: int,
    n_negatives: int,
    *,
    confidence_level: float = 0.95,
    correlation: float = 0.0,
) -> float:
    """Return the critical difference between the observed AUCs of two equally good models.

    They differ by more with probability ``1 - confidence_level``. The scores of both classes are
    normal with the same standard deviation, and the two test sets are independent and equally
    large. Pass `correlation` for two models on the same rows.

    Parameters
    ----------
    auc : float
        Both models' true AUC, between 0 and 1. For two observed AUCs, their mean.
    n_positives, n_negatives : int
        Row count by class in a test set.
    confidence_level : float, default=0.95
        Probability that the observed difference is at most the critical difference.
    correlation : float, default=0.0
        Correlation between the two observed AUCs, from 0 to below 1. The more similar two models
        on the same rows are, the larger it is.

    Returns
    -------
    float
        The critical absolute difference.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    compare_candidates : A search's candidates that are tied with the best.
    compare_models : Compare models on the same rows.
    rows_needed : How many rows a study needs.

    Notes
    -----
    With m positives and n negatives, the AUC A has exactly the variance [1]_ [2]_ ::

        V = [A (1 - A) + (m - 1)(Q1 - A^2) + (n - 1)(Q2 - A^2)] / (m n)

    where Q1 is the probability that two positives both outrank the same negative, and Q2 is the
    probability that a positive outranks two negatives. With normal scores
    ``Q1 = Q2 = Phi(h) - 2 T(h, 1 / sqrt(3))``, where Phi is the normal distribution function,
    ``h = Phi^-1(A)`` and T is Owen's function [3]_. The result is ``z sqrt(2 V (1 - correlation))``
    with the normal quantile z at (1 + confidence_level) / 2.

    For two observed AUCs a and b, ``2 * norm.sf(1.96 * abs(a - b) / critical)`` is the p value of
    equal true AUCs, with the critical difference of their mean at the default level and SciPy's
    ``norm``. In simulations with AUCs of 0.7 to 0.95 and 10/40 to 50/950 positives/negatives,
    equal models have a p value below 5 % in 2 to 6 % of cases.

    References
    ----------
    .. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below
       the receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
       receiver operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747
    .. [3] Owen, D. B. (1956). Tables for computing bivariate normal probabilities. Annals of
       Mathematical Statistics 27(4). https://doi.org/10.1214/aoms/1177728074

    Examples
    --------
    Two models of AUC 0.8 on test sets of 200 positives and 800 negatives:

    >>> from skfedauc import auc_critical_difference
    >>> round(auc_critical_difference(0.8, 200, 800), 3)
    0.048
    >>> round(auc_critical_difference(0.8, 200, 800, correlation=0.75), 3)
    0.024
    """
    m = _input.check_whole_number(n_positives, "n_positives")
    n = _input.check_whole_number(n_negatives, "n_negatives")
    hint = (
        " The AUCs of two models on the same rows have a positive correlation; with independent "
        "test sets it is 0."
    )
    correlation = _input.check_number(correlation, "correlation", at_least=0, below=1, hint=hint)
    confidence_level = check_confidence_level(confidence_level)
    auc = _input.check_share(auc, "auc")
    quantile = normal_quantile((1 - confidence_level) / 2)
    variance = float(binormal_moments(auc).variance(m, n))
    return quantile * math.sqrt(2 * variance * (1 - correlation))
