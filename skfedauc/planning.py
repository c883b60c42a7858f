"""Number of rows that an interval or a test of group AUCs requires."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.counts import ScoreCounts
from skfedauc.inference.differences import MOST_GROUPS
from skfedauc.inference.intervals import check_confidence_level
from skfedauc.inference.power import REACHED, Design, binormal_moments
from skfedauc.inference.variances import PairMoments
from skfedauc.report import GroupAUC, estimates_of

if TYPE_CHECKING:
    import pandas as pd

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
        pilot rows. Rows in the same bin of binned scores count as tied.
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
        Share of positives in each group, between 0 and 1; required without a pilot report. None
        means the share in the pilot rows.
    n_groups : int, default=None
        Group count. None means the number of groups of the pilot report, but at least 2, and
        2 without a pilot report. The number has no effect on `width`.
    power : float, default=0.8
        Probability that the test shows the result. The power has no effect on `width`.
    confidence_level : float, default=0.95
        Confidence level of the interval or the test, as in the methods of `GroupAUC`.
    sd_ratio : float, default=1.0
        Standard deviation of the scores of the positives divided by that of the negatives. Must be
        1 with a pilot report, whose scores replace the assumption.

    Returns
    -------
    RowsNeeded
        Result with `n_positives`, `n_negatives` and `n_rows` per group, and the methods `table` and
        `curve`.

    Raises
    ------
    ValueError
        If an argument is not as described. If there is not exactly one target. If the result
        exceeds 10^12 rows per group. If the pilot rows do not determine the variance.

    See Also
    --------
    auc_critical_difference : Critical difference for given numbers of rows.
    GroupAUC.test_margin : The tests with a margin.

    Notes
    -----
    The variance V(A) of an observed AUC with true AUC A is exact for normal scores [1]_. With a
    pilot report, each moment in V(A) is the moment of normal scores times a ratio. The ratio is the
    unbiased estimate (pooled over groups), divided by the moment of normal scores at the AUC of the
    pilot. Observed AUCs are independent with a Beta distribution, which has the mean A and the
    variance V(A). The limits of tests and intervals have the variance at the observed AUC.

    *Weights.* The plan is for rows without weights. For weights that are independent of the scores,
    multiply the rows in each class by ``n * sum(w**2) / sum(w)**2`` of its n weights w. In
    simulations with gamma weights, plans for a power of 80 % had 81 % (shape 2) and 71 % (0.5).

    *Width.* The interval at the assumed AUC has the width. The interval is wider in about half of
    all samples.

    *Difference.* The test rejects if the largest of the other AUCs, A, exceeds the lowest AUC, B,
    by ``sqrt((A - l)^2 + (u - B)^2)`` with the lower limit l of A and the upper limit u of B, at
    the quantile of the studentized range [2]_. With two groups, and with multiples of standard
    errors as limits, this is the formula of Hanley and McNeil [3]_ for two samples.

    *Equivalence.* The largest AUC A must exceed the smallest AUC B by less than the margin minus
    ``sqrt((u - A)^2 + (B - l)^2)``, with limits at the one-sided quantile.

    *Non-inferiority.* All observed AUCs must exceed the AUC whose lower limit is
    ``auc - non_inferiority``.

    The formulas assume groups of equal size, prevalence and score distribution, except for the
    lower AUC of one group, and without a pilot report scores without ties. In simulations of plans
    for a power of 80 %, the tests have a power of 77.6 to 84.6 %.

    References
    ----------
    .. [1] Bamber, D. (1975). The area above the ordinal dominance graph and the area below
       the receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
       https://doi.org/10.1016/0022-2496(75)90001-2
    .. [2] Tukey, J. W. (1953). The problem of multiple comparisons. Princeton University.
    .. [3] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
       operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    Rows per hospital to detect an AUC that is lower by .05, with 10 % positives:

    >>> from skfedauc import rows_needed
    >>> rows_needed(0.8, difference=0.05, prevalence=0.1)
    RowsNeeded(3,735 rows per group (374 positive) for difference=0.05, AUC 0.8, power 80 %,
    2 groups, 95 % confidence)
    """
    target, value = _given_of(
        width=width,
        difference=difference,
        equivalence=equivalence,
        non_inferiority=non_inferiority,
    )
    sd_ratio = _input.check_number(sd_ratio, "sd_ratio", above=0, at_most=1e6)
    scale = None
    if isinstance(auc, GroupAUC):
        n_groups = auc.n_groups if n_groups is None and auc.n_groups > 1 else n_groups
        auc, scale, of_pilot = _of_pilot(auc, sd_ratio)
        prevalence = of_pilot if prevalence is None else prevalence
    else:
        auc = _checked_auc(auc)
        if prevalence is None:
            raise ValueError(
                "prevalence, the share of positives, is required without a pilot report: pass "
                "prevalence=0.1 for 10 % positives."
            )
    value = _input.check_share(value, target)
    if not _is_possible(target, value, auc):
        raise ValueError(f"{target} must be below the AUC, {auc:g}; got {_words.shortened(value)}.")
    design = Design(
        _input.check_share(prevalence, "prevalence"),
        _checked_groups(2 if n_groups is None else n_groups, target),
        check_confidence_level(confidence_level),
        sd_ratio,
        scale,
    )
    power = _input.check_share(power, "power")
    return RowsNeeded(
        *_rows_of(design, target, auc, value, power), target, value, auc, power, design
    )


def _given_of(**targets: Any) -> tuple[str, Any]:
    """Return the name and the value of the only target."""
    given = [name for name, value in targets.items() if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"pass exactly one of {_words.enumerated(list(targets), 'or')}; got "
            f"{_words.enumerated(given) if given else 'none'}."
        )
    return given[0], targets[given[0]]


def _of_pilot(report: GroupAUC, sd_ratio: float) -> tuple[float, PairMoments, float]:
    """Return AUC, moments divided by the moments of normal scores, and prevalence of pilot rows."""
    if sd_ratio != 1.0:
        raise ValueError(
            "sd_ratio must be 1 with a pilot report, whose scores replace the assumption; got "
            f"{_words.shortened(sd_ratio)}."
        )
    if estimates_of(report).pairs.is_within_folds or estimates_of(report).pairs.rows_repeat:
        raise ValueError(
            "auc must be a report whose rows are in one test set; got a report over folds. Pass "
            "the report of one fold (folds[0])."
        )
    estimates_of(report).check_auc("rows_needed")
    estimates_of(report).pairs.check_independent_rows("rows_needed")
    if estimates_of(report).variances.weighted:
        raise ValueError(
            "auc must be a report of rows without weights; got weighted rows. Pass the expected "
            "AUC and prevalence, and multiply the planned rows of each class by "
            "n * sum(w**2) / sum(w)**2 of its n pilot weights w."
        )
    auc, moments = report.statistic("within"), estimates_of(report).variances.shared_moments
    if not (0 < auc < 1 and min(moments) > 1e-15):
        raise ValueError(
            "the pilot report does not determine the variance of the AUC: there are too few rows, "
            "or the classes are too well separated. Pass the AUC that you expect, and prevalence."
        )
    normal = binormal_moments(auc)
    scale = PairMoments(*(one / other for one, other in zip(moments, normal, strict=True)))
    m, n = int(report.counts.n_positives.sum()), int(report.counts.n_negatives.sum())
    return auc, scale, m / (m + n)


def _checked_auc(auc: Any) -> float:
    try:
        return _input.check_share(auc, "auc")
    except ValueError as error:
        report = "GroupAUC(counts)" if isinstance(auc, ScoreCounts) else "a GroupAUC"
        raise ValueError(f"{error} For pilot rows, pass {report}.") from None


def _checked_groups(n_groups: Any, target: str) -> int:
    has_pairs = target in ("difference", "equivalence")
    checked = _input.check_whole_number(n_groups, "n_groups", 2 if has_pairs else 1)
    if has_pairs and checked > MOST_GROUPS:
        raise ValueError(
            f"n_groups must be at most {MOST_GROUPS:,} with {target}; got {n_groups:,}."
        )
    return checked


def _shares_of(given: Any, name: str) -> list[float]:
    """Return a sequence of numbers between 0 and 1."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"{name} must be a sequence of numbers; got {_words.shortened(given)}. Pass a list, "
            f"{name}=[{given}]."
        )
    return [_input.check_share(value, name) for value in given]


def _numbers_of_rows(n_rows: Any) -> NDArray[np.float64]:
    """Return numbers of rows as an array of one dimension."""
    rows = np.atleast_1d(n_rows)
    if rows.dtype.kind not in "iuf" or rows.ndim > 1:
        raise ValueError(
            f"n_rows must be a number of rows or a sequence of numbers; got "
            f"{_words.shortened(n_rows)}. Pass n_rows=[100, 200], for instance."
        )
    return rows.astype(np.float64)


def _is_possible(target: str, value: float, auc: float) -> bool:
    return target in ("width", "equivalence") or value < auc


def _rows_of(
    design: Design, target: str, auc: float, value: float, power: float
) -> tuple[int, int]:
    """Return the smallest numbers of positives and negatives per group."""
    from scipy.optimize import brentq

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
    return _LEAST_OF_CLASS / min(prevalence, 1.0 - prevalence)


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

    def table(
        self, *, aucs: Sequence[float] | None = None, values: Sequence[float] | None = None
    ) -> pd.DataFrame:
        """Return the number of rows per group for several AUCs and values of the target.

        Parameters
        ----------
        aucs : sequence of float, default=None
            AUCs; None means the assumed AUC.
        values : sequence of float, default=None
            Widths, differences or margins; None means half, once and twice the value of this plan.

        Returns
        -------
        pandas.DataFrame
            Number of rows per group. The index holds the AUCs; the columns hold the values of the
            target. Missing (<NA>) if a difference or a non-inferiority margin is not below the AUC.

        Raises
        ------
        ValueError
            If an AUC or a value is not between 0 and 1.
        TypeError
            If `aucs` or `values` is not a sequence.

        Examples
        --------
        >>> from skfedauc import rows_needed
        >>> plan = rows_needed(0.8, width=0.1, prevalence=0.5)
        >>> plan.table(aucs=[0.7, 0.8], values=[0.05, 0.1])
        width  0.05  0.10
        auc
        0.7    1658   416
        0.8    1204   302
        """
        import pandas as pd

        if values is None:
            values = [x for x in (self.value / 2, self.value, 2 * self.value) if x < 1]
        columns = _shares_of(values, "values")
        index = _shares_of([self.auc] if aucs is None else aucs, "aucs")

        def cell(auc: float, value: float) -> int | None:
            if not _is_possible(self.target, value, auc):
                return None
            return sum(_rows_of(self.design, self.target, auc, value, self.power))

        return pd.DataFrame(
            [[cell(auc, value) for value in columns] for auc in index],
            index=pd.Index(index, name="auc"),
            columns=pd.Index(columns, name=self.target),
            dtype="Int64",
        )

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
            If `n_rows` is not an array of numbers, or a number of rows has fewer than two rows of a
            class at this prevalence.

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
        import pandas as pd

        least = _least_rows(self.design.prevalence)
        if n_rows is None:
            n_rows = np.ceil(np.linspace(max(self.n_rows / 4, least), 2 * self.n_rows, 41))
        rows = _numbers_of_rows(n_rows)
        if not (rows >= least * (1.0 - 1e-9)).all():
            raise ValueError(
                f"n_rows must be at least {math.ceil(least)}, so that a group has two rows of each "
                f"class; got {_words.shortened(n_rows)}."
            )
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
