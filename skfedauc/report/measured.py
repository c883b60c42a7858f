"""Values of a measure, such as a partial AUC, of all groups and of all rows together."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference import measures
from skfedauc.inference.curves import GroupCurves
from skfedauc.inference.measures import Errors
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs
from skfedauc.report.bounds import Bounds, group_bounds, rounding_reach, statistic_bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.undefined import UndefinedPolicy

Floats = NDArray[np.float64]


class Measured:
    """Index of a measure of each group and of all rows together, computed lazily.

    An index is a measure on the scale from 0 to 1, see `skfedauc.inference.measures`.

    Parameters
    ----------
    pairs : GroupPairs
    measure : Measure

    Raises
    ------
    TypeError
        If `measure` is not a measure.
    DisclosureError
        If the counts are a summary by group, unless the measure is a transformed AUC.
    ValueError
        If pairs consist of rows of the same fold only, unless the measure is a transformed AUC.
    """

    def __init__(self, pairs: GroupPairs, measure: Measure) -> None:
        self.pairs = pairs
        self.measure = check_measure(measure)
        if not measure.is_auc:
            pairs.counts_for(f"the measure {measure.name!r}")
            pairs.check_has_scores(f"the measure {measure.name!r}")

    def scaled(self, index: Floats) -> Floats:
        """Convert indices to values of the measure."""
        low, high = self.measure.scale
        # An index of 1 has no rounding error.
        return high - (high - low) * (1.0 - index)

    def unscaled(self, value: float) -> float:
        """Convert a value of the measure to an index."""
        low, high = self.measure.scale
        return (value - low) / (high - low)

    @functools.cached_property
    def curves(self) -> GroupCurves:
        """Curve of each group."""
        return GroupCurves.of(self.pairs.counts)

    @functools.cached_property
    def pooled_curve(self) -> GroupCurves:
        """Curve of all rows together."""
        return GroupCurves.of(self.pairs.counts.regroup(None))

    @functools.cached_property
    def index(self) -> Floats:
        """Index of each group; NaN if the group lacks a class.

        If ranges of scores overlap, the index is the middle of the certain interval, as AUCs are.
        """
        if self.measure.is_auc:
            return self.pairs.auc
        if self.pairs.has_overlaps:
            return _middle(self.bounds)
        return measures.index_of(self.measure, self.curves)

    @functools.cached_property
    def pooled_index(self) -> float:
        """Index of all rows together; NaN without rows of both classes."""
        if self.measure.is_auc:
            return self.pairs.pooled_auc
        if self.pairs.n_groups == 0:
            return float("nan")
        if self.pairs.has_overlaps:
            return float(_middle(self.pooled_bounds))
        return float(measures.index_of(self.measure, self.pooled_curve)[0])

    # Sampling errors ----------------------------------------------------------------------------

    @functools.cached_property
    def errors(self) -> tuple[Errors, Errors]:
        """Sampling errors of the index of each group, at both ends of the certain interval."""
        lowest, highest = self.extremes
        errors = measures.errors_of(self.measure, lowest.curves, self.bounds.low)
        if highest is lowest:
            return errors, errors
        return errors, measures.errors_of(self.measure, highest.curves, self.bounds.high)

    # Certain intervals ------------------------------------------------------------------------

    @functools.cached_property
    def extremes(self) -> tuple[Measured, Measured]:
        """Rows with the lowest and with the highest AUCs; for exact scores, this object twice."""
        if not self.pairs.is_binned:
            return self, self
        lowest, highest = (Measured(end, self.measure) for end in self.pairs.extremes())
        return lowest, highest

    @functools.cached_property
    def bounds(self) -> Bounds:
        """Certain interval of the index of each group."""
        if not self.pairs.is_binned:
            return Bounds(self.index, self.index)
        if self.measure.is_auc:
            return group_bounds(self._quiet_estimates)
        return self._bounds_of([end.curves for end in self.extremes])

    @functools.cached_property
    def pooled_bounds(self) -> Bounds:
        """Certain interval of the index of all rows together."""
        if not self.pairs.is_binned or self.pairs.n_groups == 0:
            return Bounds(self.pooled_index, self.pooled_index)
        if self.measure.is_auc:
            return statistic_bounds(self._quiet_estimates, "pooled")
        low, high = self._bounds_of([end.pooled_curve for end in self.extremes])
        return Bounds(float(low[0]), float(high[0]))

    @property
    def _quiet_estimates(self) -> GroupEstimates:
        return GroupEstimates(self.pairs, UndefinedPolicy("ignore", is_quiet=True))

    def _bounds_of(self, curves: Sequence[GroupCurves]) -> Bounds:
        low, high = measures.bounds_of(self.measure, *curves, overlaps=self.pairs.has_overlaps)
        reach = rounding_reach(self.pairs)
        return Bounds(np.maximum(low - reach, 0.0), np.minimum(high + reach, 1.0))


def _middle(bounds: Bounds) -> Floats:
    middle: Floats = (np.asarray(bounds.low) + np.asarray(bounds.high)) / 2.0
    return middle
