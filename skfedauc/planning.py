"""Number of rows that an interval or a test of group AUCs requires."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.inference.intervals import AUCSpread, check_confidence_level, normal_quantile
from skfedauc.inference.pair_moments import PairMoments, binormal_moments
from skfedauc.inference.pairwise import MOST_GROUPS, deviate_of_all_pairs, studentized_range_tail
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

# Largest number of rows per group in a plan.
_MOST_ROWS = 1e12
# A variance requires two rows of each class.
_LEAST_OF_CLASS = 2.0


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
        True AUC of each group, between 0 and 1. A report on pilot rows replaces the assumptions:
        the AUC is then the statistic "within", and the prevalence and the variance come from the
        pilot rows.
    width : float, default=None
        Width of the confidence interval of each group AUC (`GroupAUC.confidence_intervals`).
    difference : float, default=None
        Difference to detect with `GroupAUC.test_difference`: the AUC of one group is lower than
        `auc`, the AUC of all other groups, by this difference.
    equivalence : float, default=None
        Equivalence margin of `GroupAUC.test_equivalence`. All groups have the same true AUC.
    non_inferiority : float, default=None
        Non-inferiority margin of ``GroupAUC.test_worst(auc, margin=non_inferiority)``. All groups
        have the same true AUC, which is the reference of the test.
    prevalence : float, default=None
        Share of positives in each group, between 0 and 1; required without a pilot report. None
        means the share in the pilot rows.
    n_groups : int, default=None
        Number of groups. None means the number of groups of the pilot report, and 2 without a
        pilot report. The number has no effect on `width`.
    power : float, default=0.8
        Probability that the test shows the result. The power has no effect on `width`.
    confidence_level : float, default=0.95
        Confidence level of the interval or of the test, as in the methods of `GroupAUC`.
    sd_ratio : float, default=1.0
        Standard deviation of the scores of the positives divided by that of the negatives. Must be
        1 with a pilot report, whose scores replace the assumption.

    Returns
    -------
    RowsNeeded
        Result with `n_positives`, `n_negatives` and `n_rows` per group, `assumptions`, and the
        methods `table` and `curve`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, if not exactly one target is passed, if the result
        exceeds 10^12 rows per group, or if the pilot rows do not determine the variance.

    See Also
    --------
    plotting.RowsNeededDisplay : Plot of power or width against the number of rows.
    auc_critical_difference : Critical difference for given numbers of rows.

    Notes
    -----
    The variance V(A) of an AUC A is exact for normal scores [1]_, see
    `auc_critical_difference`. With a pilot report, each moment in V(A) is the moment of normal
    scores, times the ratio of the unbiased estimate to the moment of normal scores at the AUC of
    the pilot. The estimates are pooled over groups.

    Limits of intervals are those of the package at the assumed AUC, so results account for
    intervals that are wider than normal approximations. The observed AUCs are independent normal
    variables with variance V.

    *Width.* The interval at the assumed AUC has the width. The width of about half of all samples
    is larger.

    *Difference.* The test rejects if the largest of the other AUCs exceeds the lowest AUC by
    ``c = sqrt((A - l)^2 + (u - B)^2)``, where l and u are the limits of the AUCs A and B at the
    quantile of the studentized range [2]_. The power is the probability of this event. With two
    groups this is the usual formula for two samples, (z_alpha + z_power) sqrt(V(A) + V(B)) =
    difference, with limits in place of standard errors.

    *Equivalence.* The claim is shown if all differences are below the margin minus
    ``sqrt((A - l)^2 + (u - A)^2)``, with limits at the one-sided quantile. The power is the
    distribution function of the studentized range [2]_.

    *Non-inferiority.* Let x be the AUC whose lower limit equals ``auc - non_inferiority``. The
    power is the probability that all observed AUCs exceed x.

    The formulas assume groups of equal size, prevalence and score distribution, except for the
    lower AUC of one group. Without a pilot report, they assume scores without ties.

    References
    ----------
    .. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below
       the receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Tukey, J. W. (1953). The problem of multiple comparisons. Princeton University.

    Examples
    --------
    Rows per hospital to detect an AUC that is lower by .05, with 10 % positives:

    >>> from skfedauc import rows_needed
    >>> plan = rows_needed(0.8, difference=0.05, prevalence=0.1)
    >>> plan.n_rows == plan.n_positives + plan.n_negatives
    True
    """
    targets = {
        "width": width,
        "difference": difference,
        "equivalence": equivalence,
        "non_inferiority": non_inferiority,
    }
    given = [name for name, value in targets.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"pass exactly one of {_words.enumerated(list(targets), 'or')}; got "
            f"{_words.enumerated(given) if given else 'none'}."
        )
    target = given[0]
    scale, assumed = PairMoments(1.0, 1.0, 1.0), auc
    if isinstance(auc, GroupAUC):
        if sd_ratio != 1.0:
            raise ValueError(
                "sd_ratio must be 1 with a pilot report, whose scores replace the assumption; got "
                f"{_words.shortened(sd_ratio)}."
            )
        assumed, scale = _of_pilot(auc)
        n_groups = auc.n_groups if n_groups is None else n_groups
        if prevalence is None:
            n_positives = int(auc.counts.n_positives.sum())
            prevalence = n_positives / (n_positives + int(auc.counts.n_negatives.sum()))
    elif prevalence is None:
        raise ValueError(
            "prevalence, the share of positives, is required without a pilot report: pass "
            "prevalence=0.1 for 10 % positives."
        )
    if not _input.is_number(sd_ratio) or not 0 < sd_ratio < math.inf:
        raise ValueError(f"sd_ratio must be a number above 0; got {_words.shortened(sd_ratio)}.")
    design = Design(
        target=target,
        prevalence=_input.check_share(prevalence, "prevalence"),
        n_groups=_checked_groups(2 if n_groups is None else n_groups, target),
        power=_input.check_share(power, "power"),
        confidence_level=check_confidence_level(confidence_level),
        sd_ratio=float(sd_ratio),
        scale=scale,
    )
    true_auc = _checked_auc(assumed)
    value = _checked_value(targets[target], target, true_auc)
    n_positives, n_negatives = _rows_of(design, true_auc, value)
    is_pilot = isinstance(auc, GroupAUC)
    return RowsNeeded(n_positives, n_negatives, true_auc, value, is_pilot, design)


def _of_pilot(report: GroupAUC) -> tuple[float, PairMoments]:
    """Return the AUC of pilot rows, and their moments divided by those of normal scores."""
    if report.pairs.is_within_folds or report.pairs.rows_repeat:
        raise ValueError(
            "auc must be a report whose rows are in one test set; got a report over folds. Pass "
            "the report of one fold (folds[0])."
        )
    if report.variances.weighted:
        raise ValueError("auc must be a report of rows without weights; got weighted rows.")
    auc, moments = report.statistic("within"), report.variances.shared_moments
    if not (0 < auc < 1 and min(moments) > 1e-15):
        raise ValueError(
            "the pilot report does not determine the variance of the AUC: there are too few rows, "
            "or the classes are too well separated. Pass the AUC that you expect, and prevalence."
        )
    normal = binormal_moments(auc)
    return auc, PairMoments(*(one / other for one, other in zip(moments, normal, strict=True)))


def _checked_auc(auc: Any) -> float:
    try:
        return _input.check_share(auc, "auc")
    except ValueError as error:
        raise ValueError(f"{error} For pilot rows, pass a GroupAUC.") from None


def _checked_groups(n_groups: Any, target: str) -> int:
    has_pairs = target in ("difference", "equivalence")
    n_groups = _input.check_whole_number(n_groups, "n_groups", 2 if has_pairs else 1)
    if has_pairs and n_groups > MOST_GROUPS:
        raise ValueError(
            f"n_groups must be at most {MOST_GROUPS:,} with {target}; got {n_groups:,}."
        )
    return n_groups


def _checked_value(value: Any, target: str, auc: float) -> float:
    value = _input.check_share(value, target)
    if target in ("difference", "non_inferiority") and not value < auc:
        raise ValueError(f"{target} must be below the AUC, {auc:g}; got {_words.shortened(value)}.")
    return value


class Design(NamedTuple):
    """Assumptions of a plan, except the AUC and the value of the target.

    Attributes
    ----------
    target : {"width", "difference", "equivalence", "non_inferiority"}
    prevalence, power, confidence_level, sd_ratio : float
    n_groups : int
    scale : PairMoments
        Moments of the scores divided by the moments of normal scores.
    """

    target: str
    prevalence: float
    n_groups: int
    power: float
    confidence_level: float
    sd_ratio: float
    scale: PairMoments

    def reached(self, auc: float, value: float, n_rows: float) -> float:
        """Return the width, or the power of the test, with this number of rows per group."""
        m, n = n_rows * self.prevalence, n_rows * (1.0 - self.prevalence)
        if self.target == "width":
            tail = (1.0 - self.confidence_level) / 2.0
            return sum(self.reach(auc, m, n, normal_quantile(tail)))
        power = {
            "difference": self._power_of_difference,
            "equivalence": self._power_of_equivalence,
            "non_inferiority": self._power_of_non_inferiority,
        }[self.target]
        return power(auc, value, m, n)

    def excess(self, auc: float, value: float, n_rows: float) -> float:
        """Return how far a number of rows exceeds the requirement; increases with the number."""
        reached = self.reached(auc, value, n_rows)
        return value - reached if self.target == "width" else reached - self.power

    def variance(self, auc: float, m: float, n: float) -> float:
        """Return the variance of the AUC of m positives and n negatives."""
        normal = binormal_moments(auc, self.sd_ratio)
        parts = (one * other for one, other in zip(normal, self.scale, strict=True))
        return PairMoments(*parts).variance(m, n)

    def reach(self, auc: float, m: float, n: float, deviate: float) -> tuple[float, float]:
        """Return the distances of both limits from the AUC; `deviate` is a normal quantile."""
        once = 1.0 / (m * n)
        parts = auc, self.variance(auc, m, n), min(m, n), once, once * ((m + n) / 2.0 - 1.0)
        low, high = AUCSpread(*(np.array([part]) for part in parts)).limits(deviate, "logit")
        return auc - float(low[0]), float(high[0]) - auc

    def _power_of_difference(self, auc: float, difference: float, m: float, n: float) -> float:
        """Return the probability that the largest of the other AUCs exceeds the lowest AUC by c.

        Integrate over the lowest AUC, a normal variable, by the trapezoidal rule.
        """
        from scipy.special import log_ndtr

        lower = auc - difference
        deviate = deviate_of_all_pairs(1.0 - self.confidence_level, self.n_groups)
        critical = math.hypot(
            self.reach(auc, m, n, deviate)[0], self.reach(lower, m, n, deviate)[1]
        )
        error, error_of_lower = (math.sqrt(self.variance(a, m, n)) for a in (auc, lower))
        x = np.linspace(-9.0, 9.0, 181)
        density = np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi) * (x[1] - x[0])
        distance = (error_of_lower * x + critical - difference) / error
        all_below = (self.n_groups - 1) * log_ndtr(distance)
        return float((density * -np.expm1(all_below)).sum())

    def _power_of_equivalence(self, auc: float, margin: float, m: float, n: float) -> float:
        """Return the probability that the range of the AUCs is below the margin minus c."""
        tail = 1.0 - self.confidence_level
        room = margin - math.hypot(*self.reach(auc, m, n, normal_quantile(tail)))
        if room <= 0.0:
            return 0.0
        error = math.sqrt(self.variance(auc, m, n))
        return 1.0 - float(studentized_range_tail(room / error, self.n_groups))

    def _power_of_non_inferiority(self, auc: float, margin: float, m: float, n: float) -> float:
        """Return the probability that the lower limits of all groups exceed the bound."""
        from scipy.optimize import brentq
        from scipy.special import ndtr

        bound, deviate = auc - margin, normal_quantile(1.0 - self.confidence_level)

        def excess(observed: float) -> float:
            return observed - self.reach(observed, m, n, deviate)[0] - bound

        # Near an AUC of 1 the lower limit decreases again, so search from the bound upwards.
        low, least = bound, math.nan
        for share in np.linspace(0.95, 0.05, 19).tolist():
            high = 1.0 - (1.0 - bound) * share
            if excess(high) > 0.0:
                least = brentq(excess, low, high, xtol=1e-9)
                break
            low = high
        if math.isnan(least):
            return 0.0
        error = math.sqrt(self.variance(auc, m, n))
        return float(ndtr((auc - least) / error)) ** self.n_groups


def _rows_of(design: Design, auc: float, value: float) -> tuple[int, int]:
    """Return the smallest numbers of positives and of negatives per group."""
    from scipy.optimize import brentq

    def excess(log_rows: float) -> float:
        return design.excess(auc, value, math.exp(log_rows))

    low = high = math.log(_LEAST_OF_CLASS / min(design.prevalence, 1.0 - design.prevalence))
    while excess(high) < 0.0:
        low, high = high, high + 1.0
        if high > math.log(_MOST_ROWS):
            raise ValueError(
                f"{design.target}={value:g} requires more than {_MOST_ROWS:,.0f} rows per group; "
                f"pass a larger {design.target}."
            )
    if high > low:
        high = brentq(excess, low, high, xtol=1e-12, rtol=1e-12)
    n_rows = math.exp(high)
    # Rounding errors must not add a row.
    m = math.ceil(n_rows * design.prevalence * (1.0 - 1e-9))
    n = math.ceil(n_rows * (1.0 - design.prevalence) * (1.0 - 1e-9))
    return m, n


# What is assumed, by target
_CLAIMS = {
    "width": "{level:g} % interval of width {value:g}",
    "difference": "detect that one of {groups} has an AUC of {lower:g}, at {alpha:g} %",
    "equivalence": "show that {groups} differ by less than {value:g}, at {alpha:g} %",
    "non_inferiority": "show that {groups} have an AUC above {lower:g}, at {alpha:g} %",
}


@dataclasses.dataclass(frozen=True, repr=False)
class RowsNeeded:
    """Number of rows per group that a result requires, returned by `rows_needed`.

    Attributes
    ----------
    n_positives, n_negatives : int
        Number of rows of each class in each group.
    auc : float
        The assumed AUC.
    value : float
        Value of the target: the width, the difference or the margin.
    is_pilot : bool
        Whether the AUC and the variance come from pilot rows.
    design : Design
        The other assumptions.
    """

    n_positives: int
    n_negatives: int
    auc: float
    value: float
    is_pilot: bool
    design: Design

    @property
    def n_rows(self) -> int:
        """Number of rows of each group."""
        return self.n_positives + self.n_negatives

    @property
    def target(self) -> str:
        """Name of the target: "width", "difference", "equivalence" or "non_inferiority"."""
        return self.design.target

    @property
    def reached(self) -> float:
        """Power of the test, or width of the interval, with these numbers of rows."""
        return self._reached(self.n_rows)

    @property
    def assumptions(self) -> str:
        """The target and the assumptions in words."""
        design = self.design
        claim = _CLAIMS[self.target].format(
            value=self.value,
            auc=round(self.auc, 6),
            lower=round(self.auc - self.value, 6),
            groups=_words.counted(design.n_groups, "group"),
            level=100 * design.confidence_level,
            alpha=round(100 * (1 - design.confidence_level), 6),
        )
        power = "" if self.target == "width" else f" with power {100 * design.power:g} %"
        scores = f"normal scores, ratio of standard deviations {design.sd_ratio:g}"
        return (
            f"{claim}{power}; AUC {self.auc:.4g}, {100 * design.prevalence:.3g} % positives, "
            f"{'moments of pilot rows' if self.is_pilot else scores}"
        )

    def table(
        self, *, aucs: Sequence[float] | None = None, values: Sequence[float] | None = None
    ) -> pd.DataFrame:
        """Return the number of rows per group for several AUCs and values of the target.

        Parameters
        ----------
        aucs : sequence of float, default=None
            AUCs; None means the assumed AUC.
        values : sequence of float, default=None
            Widths, differences or margins; None means half of, the same as, and twice the value of
            this plan.

        Returns
        -------
        pandas.DataFrame
            Number of rows per group. The index holds the AUCs; the columns hold the values of the
            target. Missing (<NA>) if a difference or margin is not below the AUC.

        Raises
        ------
        ValueError
            If an AUC or a value is not between 0 and 1.

        Examples
        --------
        >>> from skfedauc import rows_needed
        >>> plan = rows_needed(0.8, width=0.1, prevalence=0.5)
        >>> plan.table(aucs=[0.7, 0.8], values=[0.05, 0.1]).shape
        (2, 2)
        """
        import pandas as pd

        if values is None:
            values = [x for x in (self.value / 2, self.value, 2 * self.value) if x < 1]
        columns = [_input.check_share(value, "values") for value in values]
        index = [_input.check_share(a, "aucs") for a in ([self.auc] if aucs is None else aucs)]
        is_free = self.target in ("width", "equivalence")
        cells = [
            [sum(_rows_of(self.design, a, x)) if is_free or x < a else None for x in columns]
            for a in index
        ]
        return pd.DataFrame(
            cells,
            index=pd.Index(index, name="auc"),
            columns=pd.Index(columns, name=self.target),
            dtype="Int64",
        )

    def curve(self, n_rows: ArrayLike | None = None) -> pd.DataFrame:
        """Return the power of the test, or the width of the interval, by the number of rows.

        Parameters
        ----------
        n_rows : array-like of float, default=None
            Numbers of rows per group. None means 41 numbers from a quarter to twice `n_rows` of
            this plan.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_rows`, with the column `width` or `power`.

        Raises
        ------
        ValueError
            If a number of rows has fewer than two rows of a class at this prevalence.

        Examples
        --------
        >>> from skfedauc import rows_needed
        >>> plan = rows_needed(0.8, difference=0.1, prevalence=0.5)
        >>> plan.curve([100, 200, 400])["power"].is_monotonic_increasing
        True
        """
        import pandas as pd

        share = min(self.design.prevalence, 1.0 - self.design.prevalence)
        least = _LEAST_OF_CLASS / share
        if n_rows is None:
            n_rows = np.ceil(np.linspace(max(self.n_rows / 4, least), 2 * self.n_rows, 41))
        rows = np.atleast_1d(np.asarray(n_rows, np.float64))
        if not (rows >= least * (1.0 - 1e-9)).all():
            raise ValueError(
                f"n_rows must be at least {math.ceil(least)}, so that a group has two rows of each "
                f"class; got {_words.shortened(n_rows)}."
            )
        name = "width" if self.target == "width" else "power"
        reached = [self._reached(number) for number in rows.tolist()]
        return pd.DataFrame({name: reached}, index=pd.Index(rows, name="n_rows"))

    def _reached(self, n_rows: float) -> float:
        return self.design.reached(self.auc, self.value, n_rows)

    def __repr__(self) -> str:
        return (
            f"RowsNeeded({self.n_rows:,} rows per group: {self.n_positives:,} positives and "
            f"{self.n_negatives:,} negatives): {self.assumptions}"
        )
