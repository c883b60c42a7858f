"""Statistics of a measure over groups: pooled, averages, the worst group and the difference."""

from __future__ import annotations

import functools
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc.measures import Measure
from skfedauc.report.bounds import BOUNDS, Bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.measured import Measured
from skfedauc.report.statistics import (
    AVERAGES,
    STATISTICS,
    Average,
    check_determined,
    check_statistic,
    determined_statistics,
)
from skfedauc.report.undefined import NotDefined, Undefined

Floats = NDArray[np.float64]

MeasureStatistic: TypeAlias = Average | Literal["pooled", "worst", "difference"]
# Statistics of measures, in the order of tables
MEASURE_STATISTICS = ("pooled", *AVERAGES, "worst", "difference")


def check_measure_statistic(name: object, *, scorer: bool = False) -> str:
    """Return the name of a statistic of measures; otherwise raise an error that lists all names.

    With `scorer`, the difference has the prefix "neg_", because greater is better in scorers.
    """
    plain = name.removeprefix("neg_") if isinstance(name, str) else None
    if plain in STATISTICS and plain not in MEASURE_STATISTICS:
        names = [
            n if STATISTICS[n].greater_is_better or not scorer else f"neg_{n}"
            for n in MEASURE_STATISTICS
        ]
        raise ValueError(
            f"statistic must be one of {', '.join(map(repr, names))} if there is a measure; got "
            f"{name!r}, which is defined for AUCs only."
        )
    return check_statistic(name, scorer=scorer, among=MEASURE_STATISTICS)


def check_replacement(undefined: Undefined, measure: Measure) -> None:
    """Raise an error for a number in place of undefined values beyond the measure's scale."""
    low, high = measure.scale
    if isinstance(undefined, float) and not low <= undefined <= high:
        raise ValueError(
            f"undefined must be 'skip', 'ignore', 'raise', or a number from {low} to {high}, the "
            f"range of {measure!r}, to use for groups that lack a class; got {undefined}."
        )


class ValueEstimates(GroupEstimates):
    """Values of a measure by group, in place of the AUCs of `GroupEstimates`.

    Functions of `GroupEstimates.group_aucs`, such as averages, therefore return statistics of the
    measure.

    Parameters
    ----------
    estimates : GroupEstimates
    values : ndarray of float64, shape (n_groups,)
    measure : Measure
    """

    def __init__(self, estimates: GroupEstimates, values: Floats, measure: Measure) -> None:
        super().__init__(estimates.pairs, estimates.policy)
        self._values = values
        self._measure = measure

    @functools.cached_property
    def group_aucs(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Values of the groups, with replacements, and a mask of the groups in use."""
        self.policy.report_groups(self.pairs, repr(self._measure))
        defined, replacement = self.pairs.defined, self.policy.replacement
        if replacement is None:
            return self._values, defined
        return np.where(defined, self._values, replacement), np.ones(defined.size, np.bool_)


class MeasureEstimates:
    """A measure of groups, with the policy for groups that lack a class.

    Parameters
    ----------
    estimates : GroupEstimates
    measured : Measured
    """

    def __init__(self, estimates: GroupEstimates, measured: Measured) -> None:
        self.estimates = estimates
        self.measured = measured

    @classmethod
    def of(cls, estimates: GroupEstimates, measure: Measure) -> MeasureEstimates:
        """Return a measure of the groups of estimates.

        `Measured` and `check_replacement` describe the errors.
        """
        measured = Measured(estimates.pairs, measure)
        check_replacement(estimates.policy.undefined, measure)
        return cls(estimates, measured)

    def quiet(self) -> MeasureEstimates:
        """Return these estimates without warnings and errors about undefined values."""
        # Unlike `GroupEstimates.quiet`, omit the variances of the AUCs: measures do not use them.
        estimates = GroupEstimates(self.estimates.pairs, self.estimates.policy.quiet())
        return MeasureEstimates(estimates, self.measured)

    @property
    def names(self) -> list[str]:
        """Statistics that the counts determine."""
        determined = determined_statistics(self.estimates.pairs)
        return [name for name in MEASURE_STATISTICS if name in determined]

    @functools.cached_property
    def values(self) -> ValueEstimates:
        """Estimates with the value of each group in place of its AUC."""
        return self._with(self.measured.index)

    @property
    def by_group(self) -> Floats:
        """Value of each group; NaN if the group lacks a class."""
        return self.measured.scaled(self.measured.index)

    def statistic(self, name: str) -> float:
        """Return a statistic; an undefined statistic is NaN, or causes a warning or an error."""
        if name == "pooled":
            return self.estimates.value_of(lambda _: self._pooled())
        return self.values.value_of(STATISTICS[name].compute)

    def _pooled(self) -> float:
        check_determined("pooled", self.estimates.pairs)
        if np.isnan(self.measured.pooled_index):
            raise NotDefined("the pooled value needs rows of both classes")
        return float(self.measured.scaled(np.array(self.measured.pooled_index)))

    def statistic_bounds(self, name: str) -> Bounds:
        """Return the certain interval of a statistic; NaN for an undefined statistic."""
        if name == "pooled":
            ends = (self.measured.scaled(np.array(end)) for end in self.measured.pooled_bounds)
            return Bounds(*map(float, ends))
        lowest, highest = (self._with(end) for end in self.measured.bounds)
        try:
            return BOUNDS[name]((lowest, highest))
        except NotDefined:
            return Bounds(np.nan, np.nan)

    def _with(self, index: Floats) -> ValueEstimates:
        return ValueEstimates(self.estimates, self.measured.scaled(index), self.measured.measure)
