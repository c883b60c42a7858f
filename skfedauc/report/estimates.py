"""`GroupEstimates`: values of a measure by group, with variances and pairs, for every statistic."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _labels
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import view_of
from skfedauc.inference import measures, variances
from skfedauc.inference.clusters import pooled_clusters, variances_of_clusters
from skfedauc.inference.curves import GroupCurves
from skfedauc.inference.differences import AllPairs
from skfedauc.inference.intervals import AUCSpread, Limits, Method, Notes, group_limits
from skfedauc.inference.proportions import tail_of
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes, Pooled, Variances
from skfedauc.measures import AUC, Measure
from skfedauc.pairs import GroupPairs
from skfedauc.report.groups import NotDefined, UndefinedPolicy, order_of


@dataclasses.dataclass(eq=False, repr=False)
class GroupEstimates:
    """Values of a measure by group, and the pairs of rows that determine them.

    An *index* is a measure on a linear scale from 0 to 1. The index of an AUC is the AUC. Other
    measures than the AUC need scores, and rows that are all compared with each other. Tables name
    the columns of groups by `group_names`.
    """

    pairs: GroupPairs
    policy: UndefinedPolicy
    measure: Measure = dataclasses.field(default_factory=AUC)
    group_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.measure.is_auc:
            self.pairs.counts_for(f"the measure {self.measure.name!r}")
            self.pairs.check_has_scores(f"the measure {self.measure.name!r}")

    def of_auc(self, result: str, *, needs_scores: bool = False) -> GroupEstimates:
        """Return these estimates; raise an error for what does not have the result."""
        if not self.measure.is_auc:
            raise ValueError(
                f"{result} is for AUCs, and this report has measure={self.measure!r}. Make a "
                "report without measure=."
            )
        if needs_scores:
            self.pairs.check_has_scores(result)
        return self

    def report_groups(self) -> None:
        """Warn or raise, as the policy requires, if groups lack a class."""
        self.policy.report_groups(self.pairs, self.measure.title)

    @functools.cached_property
    def labels(self) -> pd.Index:
        """Group labels as an index, in the order of ``counts.groups``."""
        labels = view_of(self.pairs.counts).labels
        if labels is None:
            return pd.Index(["all"] * self.pairs.n_groups, name="group")
        return _labels.index_of_labels(labels, self.group_names)

    def table(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """Return a table of the groups, in the order of their categories."""
        return pd.DataFrame(columns, index=self.labels).take(order_of(self.pairs.counts))

    @functools.cached_property
    def index(self) -> Floats:
        """Each group's index; NaN if the group lacks a class.

        For overlapping ranges of scores, it is the middle of its certain interval.
        """
        if self.measure.is_auc:
            return self.pairs.auc
        if self.pairs.has_overlaps:
            lowest, highest = self.extremes
            return (lowest.index + highest.index) / 2.0
        return measures.index_of(self.measure, self.curves)

    @functools.cached_property
    def whole(self) -> GroupEstimates:
        """Estimates of all rows together, as one group, of another measure than the AUC."""
        if self.pairs.counts.groups is None:
            return self
        pairs = GroupPairs(self.pairs.counts.regroup(None))
        return GroupEstimates(pairs, self.policy, self.measure)

    @property
    def by_group(self) -> Floats:
        """Each group's value; NaN if the group lacks a class."""
        return measures.value_of(self.measure, self.index)

    @property
    def pooled_value(self) -> float:
        """Value of all rows together; NaN without rows in both classes."""
        if self.measure.is_auc:
            return self.pairs.pooled_auc
        return float(self.whole.by_group[0]) if self.pairs.n_groups else float("nan")

    @functools.cached_property
    def group_values(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Group values for averages and gaps, and a mask of the groups in use.

        The first access warns or raises, if the policy requires this, for groups that lack a class.
        """
        self.report_groups()
        values, replacement = self.by_group, self.policy.replacement
        if replacement is None:
            return values, self.pairs.defined
        return np.where(self.pairs.defined, values, replacement), np.ones(values.size, np.bool_)

    @functools.cached_property
    def values_in_use(self) -> Floats:
        """The values of the groups in use."""
        values, used = self.group_values
        return values[used]

    @property
    def n_replaced(self) -> int:
        """Number of groups in use without an AUC: a number stands in its place, with no error."""
        return int((~self.pairs.defined[self.group_values[1]]).sum())

    def value_of(self, statistic: Callable[[GroupEstimates], float]) -> float:
        """Compute a statistic; an undefined statistic is NaN, or causes a warning or an error."""
        try:
            return statistic(self)
        except NotDefined as error:
            return self.policy.nan(error, self.pairs)

    @functools.cached_property
    def variances(self) -> Variances:
        """Variances of the group AUCs, for rows that are in one test set only."""
        pairs = self.pairs
        if pairs.clusters is not None:
            return variances_of_clusters(pairs.counts, pairs.clusters)
        pairs.check_no_repeated_rows()
        if pairs.is_within_folds:
            return variances.folds_of(pairs)
        return variances.variances_of(pairs.counts)

    @functools.cached_property
    def pooled(self) -> Pooled:
        """Variances of the pooled AUC."""
        pairs = self.pairs
        if pairs.clusters is not None:
            return pooled_clusters(pairs.counts, pairs.clusters)
        pairs.check_no_repeated_rows()
        if pairs.is_within_folds:
            return variances.pooled_folds(pairs)
        return variances.pooled_of(pairs.counts, self.variances)

    @property
    def variances_at_extremes(self) -> Extremes:
        """Variances of these estimates and both extremes."""
        lowest, highest = self.extremes
        given = self.variances
        if self.pairs.has_overlaps:
            given = dataclasses.replace(given, auc=self.pairs.auc)
        return Extremes(given, lowest.variances, highest.variances)

    @functools.cached_property
    def in_use(self) -> Variances:
        """Group variances in averages and gaps; a number for an undefined AUC has none."""
        return self.variances.with_known(*self.group_values)

    @property
    def extremes_in_use(self) -> Extremes:
        """Group variances in averages and gaps, here and at both extremes."""
        return Extremes(self.in_use, *(end.in_use for end in self.extremes))

    @functools.cached_property
    def curves(self) -> GroupCurves:
        """Each group's curve."""
        return GroupCurves.of(self.pairs.counts)

    @functools.cached_property
    def errors(self) -> measures.Errors:
        """Sampling errors of each group's index."""
        return measures.errors_of(self.measure, self.curves, self.index)

    @functools.cached_property
    def _guard(self) -> measures.Guard | None:
        # Tests find p values by many limits, which share the guard's variances.
        return measures.guard_of(self.measure, self.curves, self.index)

    def limits(self, tail: float, method: Method) -> tuple[Floats, Floats, Notes]:
        """Return limits of the group values, each with error probability `tail`, and notes."""
        measure = self.measure
        if measure.is_auc:
            return group_limits(self.variances, tail, method)
        known = self.curves, self.errors, self._guard, self.index
        low, high, note = measures.limits_of(measure, *known, tail)
        return measures.value_of(measure, low), measures.value_of(measure, high), note

    def limits_in_use(self, end: int, tail: float, method: Method) -> Floats:
        """Return the lower (0) or upper (1) limits of the groups in use.

        A number for an undefined value is its own limit.
        """
        if self.measure.is_auc and method != "exact":
            found = AUCSpread.of(self.variances).limit(end, normal_quantile(tail), method)
        else:
            found = self.limits(tail, method)[:2][end]
        values, used = self.group_values
        return np.where(self.pairs.defined, found, values)[used]

    @property
    def has_intervals(self) -> bool:
        """Whether values have sampling errors: rows may repeat, or measures' rows be clustered."""
        is_clustered = self.pairs.clusters is not None and not self.measure.is_auc
        return not (self.pairs.rows_repeat or is_clustered)

    def all_pairs(self, method: Method) -> AllPairs:
        """Return the differences between all pairs of groups in use."""
        (values, used), (least, most) = self.group_values, self.measure.scale
        if self.measure.is_auc:
            return AllPairs.of(self.extremes_in_use, method)
        ends = self.extremes if self.pairs.is_binned else (self,)
        lowest, highest = ends[0].values_in_use, ends[-1].values_in_use

        def of_measure(deviate: float) -> tuple[Limits, Limits]:
            found = [end.limits(tail_of(deviate), method) for end in ends]
            limits = found[0][0], found[-1][1]
            # A number for an undefined value is its own limit.
            low, high = (np.where(self.pairs.defined, of, values)[used] for of in limits)
            return Limits(lowest, low, lowest), Limits(highest, highest, high)

        return AllPairs(of_measure, int(used.sum()), most=most - least)

    @property
    def extremes(self) -> tuple[GroupEstimates, GroupEstimates]:
        """Estimates with the lowest and with the highest possible values, without warnings.

        For exact scores, these are the same estimates twice; see `GroupPairs.extremes`.
        """
        return self._ends if self.pairs.is_binned else (self, self)

    @functools.cached_property
    def _ends(self) -> tuple[GroupEstimates, GroupEstimates]:
        policy = self.policy.quiet()
        lowest, highest = (
            GroupEstimates(end, policy, self.measure) for end in self.pairs.extremes()
        )
        if not self.measure.is_auc:
            # The average precision is not lowest where the AUC is.
            curves, reach = (lowest.curves, highest.curves), self.pairs.rounding_reach
            low, high = measures.bounds_of(self.measure, *curves, overlaps=self.pairs.has_overlaps)
            lowest.index = np.maximum(low - reach, 0.0)
            highest.index = np.minimum(high + reach, 1.0)
            if self.whole is not self and self.pairs.n_groups:
                lowest.whole, highest.whole = self.whole.extremes
        return lowest, highest

    def quiet(self) -> GroupEstimates:
        """Return these estimates without warnings and errors about undefined values."""
        if self.policy.is_quiet:
            return self
        quiet = copy.copy(self)  # It shares what is computed already.
        quiet.policy = self.policy.quiet()
        return quiet

    def of_measure(self, measure: Measure) -> GroupEstimates:
        """Return the estimates of a measure for the same rows, with the same policy."""
        return GroupEstimates(self.pairs, self.policy, measure, self.group_names)
