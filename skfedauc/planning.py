"""Critical differences, and the number of rows that an interval or a test of group AUCs requires.

Observed AUCs are independent, with a Beta distribution around the true AUC and the variance of
`PairMoments`: a normal distribution has no skew, and would give too high a power. The tests use
the limits of the package, at the variance of normal scores (or of pilot rows).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtr, ndtri, owens_t

from skfedauc import _input, _words
from skfedauc.counts.moments import Floats
from skfedauc.inference.differences import (
    MOST_GROUPS,
    deviate_of_all_pairs,
    deviate_of_furthest_pair,
)
from skfedauc.inference.intervals import AUCSpread, check_confidence_level
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import PairMoments
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import estimates_of

# Largest number of rows per group in a plan.
_MOST_ROWS = 1e12
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
    separation = ndtri(auc)
    squared = sd_ratio**2

    def shared(correlation: float) -> Any:
        slope = math.sqrt((1 - correlation) / (1 + correlation))
        return auc * (1 - auc) - 2 * owens_t(separation, slope)

    return PairMoments(auc * (1 - auc), shared(1 / (1 + squared)), shared(squared / (1 + squared)))


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

    def _shapes(self, auc: float, n_rows: float) -> tuple[float, float]:
        """Return the shapes of the Beta distribution of a group's observed AUC."""
        total = auc * (1.0 - auc) / float(self._variance(auc, n_rows)) - 1.0
        return auc * total, (1.0 - auc) * total

    def below(self, auc: float, n_rows: float, value: ArrayLike) -> Any:
        """Return the probability that a group's observed AUC is below a value."""
        return betainc(*self._shapes(auc, n_rows), np.clip(value, 0.0, 1.0))

    def quantile(self, auc: float, n_rows: float, probability: ArrayLike) -> Any:
        """Return the quantile of a group's observed AUC; normal scores have none of 0 or 1."""
        found = betaincinv(*self._shapes(auc, n_rows), probability)
        return np.clip(found, _LEAST, 1.0 - _LEAST)

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
        spread = AUCSpread.of_rows(aucs, self._variance(aucs, n_rows), m, n)
        return np.abs(spread.limit(end, deviate) - aucs)

    def reach_of_pairs(self, up: Floats, down: Floats, n_rows: float, deviate: float) -> Floats:
        """Return differences' distances from their limits, for each AUC in `up` and in `down`."""
        ends = ((up, 1.0), (down, 0.0))
        return np.hypot.outer(*(self.reach(aucs, n_rows, deviate, end) for aucs, end in ends))


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
    deviate = deviate_of_all_pairs(1.0 - design.confidence_level, design.n_groups)
    low = design.quantile(auc - difference, n_rows, ndtr(_NODES))
    high = np.linspace(low[0], design.quantile(auc, n_rows, ndtr(_NODES[-1])), _GRID)
    critical = design.reach_of_pairs(low, high, n_rows, deviate)
    least = _first(high, high - low[:, None] - critical)
    return float(_WEIGHTS @ (1.0 - design.below(auc, n_rows, least) ** (design.n_groups - 1)))


def power_of_equivalence(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return `GroupAUC.test_margin`'s power if all AUCs are equal.

    The limit of the difference between the largest and the smallest AUC has to be below the margin.
    The integral is over the largest AUC.
    """
    deviate = deviate_of_furthest_pair(1.0 - design.confidence_level, design.n_groups)
    probability = ndtr(_NODES) ** (1.0 / design.n_groups)
    high = design.quantile(auc, n_rows, probability)
    low = np.linspace(design.quantile(auc, n_rows, ndtr(_NODES[0])), high[-1], _GRID)
    reach = design.reach_of_pairs(high, low, n_rows, deviate)
    least = np.minimum(_first(low, margin - (high[:, None] - low) - reach), high)
    too_low = design.below(auc, n_rows, least) / probability
    return float(_WEIGHTS @ np.maximum(1.0 - too_low, 0.0) ** (design.n_groups - 1))


def power_of_non_inferiority(design: Design, auc: float, margin: float, n_rows: float) -> float:
    """Return the power with ``GroupAUC.test_margin(margin, reference=auc)`` if all AUCs are equal.

    All observed AUCs have to exceed the AUC whose lower limit is the bound.
    """
    bound, deviate = auc - margin, normal_quantile(1.0 - design.confidence_level)
    aucs = np.linspace(bound, 1.0 - _LEAST, _GRID)
    excess = aucs - design.reach(aucs, n_rows, deviate, 0.0) - bound
    least = _first(aucs, excess[None, :])
    return float(1.0 - design.below(auc, n_rows, least)[0]) ** design.n_groups


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


def rows_needed(
    auc: float | GroupAUC,
    *,
    width: float | None = None,
    difference: float | None = None,
    equivalence: float | None = None,
    non_inferiority: float | None = None,
    prevalence: float | None = None,
    n_groups: int | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
    sd_ratio: float = 1.0,
) -> RowsNeeded:
    """Return the number of rows per group that a result about group AUCs requires.

    Pass exactly one of `width`, `difference`, `equivalence` and `non_inferiority`. All groups have
    the same number of rows.

    Parameters
    ----------
    auc : float or GroupAUC
        True AUC of each group, between 0 and 1. Or a report on pilot rows, which gives the AUC (the
        statistic "within"), the prevalence and the variance.
    width : float, default=None
        Width of the confidence interval of each group AUC (`GroupAUC.confidence_intervals`).
    difference : float, default=None
        Difference to detect with `GroupAUC.test_difference`: the AUC of one group is lower than
        `auc`, the AUC of all other groups, by this difference.
    equivalence : float, default=None
        Equivalence margin of `GroupAUC.test_margin`. All groups have the same true AUC.
    non_inferiority : float, default=None
        Non-inferiority margin of ``GroupAUC.test_margin(non_inferiority, reference=auc)``. All
        groups have the same true AUC, which is the test's reference.
    prevalence : float, default=None
        Share of positives in each group, between 0 and 1. None means the share in the pilot rows.
    n_groups : int, default=None
        Group count, without effect on `width`. None means that of the pilot report; at least 2.
    power : float, default=0.8
        Probability that the test shows the result, without effect on `width`.
    confidence_level : float, default=0.95
        Confidence level of the interval or the test, as in the methods of `GroupAUC`.
    sd_ratio : float, default=1.0
        Standard deviation of the positives' scores divided by that of the negatives'; 1 with a
        pilot report, whose scores replace the assumption.

    Returns
    -------
    RowsNeeded
        Result with `n_positives`, `n_negatives` and `n_rows` per group, and the method `curve`.

    Raises
    ------
    ValueError
        If an argument is not as described, if there is not exactly one target, if the result
        exceeds 10^12 rows per group, or if the pilot rows do not determine the variance.

    See Also
    --------
    auc_critical_difference : Critical difference for given numbers of rows.

    Notes
    -----
    The variance V(A) of an observed AUC with true AUC A is exact for normal scores [1]_; a pilot
    report scales its moments by those of the pilot rows. Observed AUCs are independent with a Beta
    distribution of mean A and variance V(A). An interval is wider than `width` in about half of all
    samples. The plan assumes groups of equal size, prevalence and score distribution, except for
    the lower AUC of one group, and without a pilot report scores without ties. In simulations of
    plans for a power of 80 %, the tests have a power of 77.6 to 84.6 %, and of 73 % or more with
    few positives.

    For weights that are independent of the scores, multiply the rows in each class by ``n *
    sum(w**2) / sum(w)**2`` of its n weights w. In simulations with gamma weights, such plans had a
    power of 81 % (shape 2) and 71 % (0.5).

    References
    ----------
    .. [1] Bamber (1975). Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2

    Examples
    --------
    Rows per hospital to detect an AUC that is lower by .05, with 10 % positives:

    >>> from skfedauc import rows_needed
    >>> rows_needed(0.8, difference=0.05, prevalence=0.1)
    RowsNeeded(3,735 rows per group (374 positive) for difference=0.05, AUC 0.8, power 80 %,
    2 groups, 95 % confidence)
    """
    targets = {"width": width, "difference": difference}
    targets |= {"equivalence": equivalence, "non_inferiority": non_inferiority}
    given = [name for name, value in targets.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"pass exactly one of {_words.enumerated(list(targets), 'or')}; got "
            f"{_words.enumerated(given) if given else 'none'}."
        )
    (target,) = given
    sd_ratio = _input.check_number(sd_ratio, "sd_ratio", above=0, at_most=1e6)
    scale = None
    if isinstance(auc, GroupAUC):
        n_groups = auc.n_groups if n_groups is None and auc.n_groups > 1 else n_groups
        auc, scale, of_pilot = _of_pilot(auc, sd_ratio)
        prevalence = of_pilot if prevalence is None else prevalence
    else:
        try:
            auc = _input.check_share(auc, "auc")
        except ValueError as error:
            raise ValueError(f"{error} For pilot rows, pass GroupAUC(counts).") from None
        if prevalence is None:
            raise ValueError(
                "prevalence, the share of positives, is required without a pilot report: pass "
                "prevalence=0.1 for 10 % positives."
            )
    value = _input.check_share(targets[target], target)
    if target not in ("width", "equivalence") and value >= auc:
        raise ValueError(f"{target} must be below the AUC, {auc:g}; got {_words.shortened(value)}.")
    ends = (2, MOST_GROUPS) if target in ("difference", "equivalence") else ()
    n_groups = _input.check_whole_number(2 if n_groups is None else n_groups, "n_groups", *ends)
    design = Design(
        _input.check_share(prevalence, "prevalence"),
        n_groups,
        check_confidence_level(confidence_level),
        sd_ratio,
        scale,
    )
    power = _input.check_share(power, "power")
    return RowsNeeded(
        *_rows_of(design, target, auc, value, power), target, value, auc, power, design
    )


def _of_pilot(report: GroupAUC, sd_ratio: float) -> tuple[float, PairMoments, float]:
    """Return AUC, moments divided by the moments of normal scores, and prevalence of pilot rows."""
    if sd_ratio != 1.0:
        raise ValueError(
            "sd_ratio must be 1 with a pilot report, whose scores replace the assumption; got "
            f"{_words.shortened(sd_ratio)}."
        )
    estimates = estimates_of(report).of_auc("rows_needed")
    estimates.pairs.check_no_repeated_rows()  # first: else over_folds would be recommended
    estimates.pairs.counts_for("rows_needed")
    estimates.pairs.check_independent_rows("rows_needed")
    if estimates.variances.weighted:
        raise ValueError(
            "auc must be a report of rows without weights; got weighted rows. Pass the expected "
            "AUC and prevalence, and multiply the planned rows of each class by "
            "n * sum(w**2) / sum(w)**2 of its n pilot weights w."
        )
    auc, moments = report.statistic("within"), estimates.variances.shared_moments
    if not (0 < auc < 1 and min(moments) > 1e-15):
        raise ValueError(
            "the pilot report does not determine the variance of the AUC: there are too few rows, "
            "or the classes are too well separated. Pass the AUC that you expect, and prevalence."
        )
    normal = binormal_moments(auc)
    scale = PairMoments(*(one / other for one, other in zip(moments, normal, strict=True)))
    m, n = int(report.counts.n_positives.sum()), int(report.counts.n_negatives.sum())
    return auc, scale, m / (m + n)


def _rows_of(
    design: Design, target: str, auc: float, value: float, power: float
) -> tuple[int, int]:
    """Return the smallest numbers of positives and negatives per group."""

    def excess(log_rows: float) -> float:
        reached = REACHED[target](design, auc, value, math.exp(log_rows))
        return value - reached if target == "width" else reached - power

    low = high = math.log(_least_rows(design.prevalence))
    while not excess(high) >= 0.0:
        low, high = high, high + 1.0
        if high > math.log(_MOST_ROWS):
            raise ValueError(
                f"{target}={value:g} requires more than {_MOST_ROWS:,.0f} rows per group; pass a "
                f"larger {target}."
            )
    if high > low:
        high = brentq(excess, low, high, xtol=1e-12, rtol=1e-12)
    # Rounding errors must not add a row.
    n_rows = math.exp(high) * (1.0 - 1e-9)
    return math.ceil(n_rows * design.prevalence), math.ceil(n_rows * (1.0 - design.prevalence))


def _least_rows(prevalence: float) -> float:
    # A variance requires two rows of each class.
    return 2.0 / min(prevalence, 1.0 - prevalence)


@dataclasses.dataclass(frozen=True, repr=False)
class RowsNeeded:
    """Number of rows per group that a result requires, returned by `rows_needed`.

    Attributes
    ----------
    n_positives, n_negatives : int
        Number of rows in each class in each group.
    target : {"width", "difference", "equivalence", "non_inferiority"}
    value : float
        Width, difference or margin.
    auc : float
        The assumed AUC.
    power : float
        Required power; without effect if the target is "width".
    design : Design
        The other assumptions: `prevalence`, `n_groups`, `confidence_level`, `sd_ratio`, and
        `scale`, which is None without a pilot report.
    """

    n_positives: int
    n_negatives: int
    target: str
    value: float
    auc: float
    power: float
    design: Design

    @property
    def n_rows(self) -> int:
        """Number of rows in each group."""
        return self.n_positives + self.n_negatives

    @property
    def reached(self) -> float:
        """The test's power, or the interval width, with this row count."""
        return self._reached(self.n_rows)

    def curve(self, n_rows: ArrayLike | None = None) -> pd.DataFrame:
        """Return the test's power, or the interval width, by the row count.

        Parameters
        ----------
        n_rows : float array-like, default=None
            Numbers of rows per group. None means 41 numbers from a quarter to twice `n_rows` of
            this plan.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_rows`, with the column `width` or `power`.

        Raises
        ------
        ValueError
            If `n_rows` is no array of numbers with two rows of each class at this prevalence.

        Examples
        --------
        >>> from skfedauc import rows_needed
        >>> plan = rows_needed(0.8, difference=0.1, prevalence=0.5)
        >>> plan.curve([100, 200, 400]).round(2)
                power
        n_rows
        100.0    0.29
        200.0    0.54
        400.0    0.83
        """
        least = _least_rows(self.design.prevalence)
        if n_rows is None:
            n_rows = np.ceil(np.linspace(max(self.n_rows / 4, least), 2 * self.n_rows, 41))
        rows = np.atleast_1d(n_rows)
        is_row = rows.dtype.kind in "iuf" and rows.ndim == 1
        if not (is_row and (rows >= least * (1.0 - 1e-9)).all()):
            raise ValueError(
                f"n_rows must be numbers of at least {math.ceil(least)}, so that a group has two "
                f"rows of each class, such as [100, 200]; got {_words.shortened(n_rows)}."
            )
        rows = rows.astype(np.float64)
        name = "width" if self.target == "width" else "power"
        reached = [self._reached(number) for number in rows.tolist()]
        return pd.DataFrame({name: reached}, index=pd.Index(rows, name="n_rows"))

    def _reached(self, n_rows: float) -> float:
        return REACHED[self.target](self.design, self.auc, self.value, n_rows)

    def __repr__(self) -> str:
        design = self.design
        parts = [f"{self.target}={self.value:g}", f"AUC {self.auc:.4g}"]
        if self.target != "width":
            parts += [f"power {100 * self.power:g} %", _words.counted(design.n_groups, "group")]
        parts.append(f"{100 * design.confidence_level:g} % confidence")
        if design.scale is not None:
            parts.append("variance of pilot rows")
        elif design.sd_ratio != 1:
            parts.append(f"sd_ratio={design.sd_ratio:g}")
        return (
            f"RowsNeeded({self.n_rows:,} rows per group ({self.n_positives:,} positive) for "
            f"{', '.join(parts)})"
        )


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
    compare_models : Compare models on the same rows.
    rows_needed : How many rows a study needs.

    Notes
    -----
    The result is ``z sqrt(2 V (1 - correlation))`` with the exact variance V of an AUC of normal
    scores [1]_ [2]_ and the normal quantile z at (1 + confidence_level) / 2.

    For two observed AUCs a and b, ``2 * norm.sf(1.96 * abs(a - b) / critical)`` is the p value of
    equal true AUCs, with the critical difference of their mean at the default level and SciPy's
    ``norm``. In simulations with AUCs of 0.7 to 0.95 and 10/40 to 50/950 positives/negatives,
    equal models have a p value below 5 % in 2 to 6 % of cases.

    References
    ----------
    .. [1] Bamber (1975). Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Owen (1956). Annals of Mathematical Statistics 27(4).
       https://doi.org/10.1214/aoms/1177728074

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
