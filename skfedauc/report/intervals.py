"""Tables of confidence intervals."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference import intervals, limits
from skfedauc.inference.differences import difference_interval
from skfedauc.report import curve_intervals
from skfedauc.report.bounds import Bounds, certain_range, group_bounds, statistic_bounds
from skfedauc.report.curve_intervals import NO_GROUP
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.statistics import AVERAGES, STATISTICS, determined_statistics, shares
from skfedauc.report.undefined import NotDefined

if TYPE_CHECKING:
    import pandas as pd


def _check_rows_of(method: limits.Method, estimates: GroupEstimates) -> None:
    """Raise an error for dependent rows, because the method assumes independent rows.

    The models of several folds depend on the rows in other folds.
    """
    pairs, measure = estimates.pairs, estimates.measure
    if not measure.is_auc:
        pairs.check_no_repeated_rows()
        pairs.check_independent_rows(f"the interval of {measure.name!r}")
    elif method == "exact":
        pairs.check_independent_rows(f"method={method!r}")
        pairs.check_one_model(f"method={method!r}")


def group_intervals(
    estimates: GroupEstimates, index: pd.Index, confidence_level: float, method: limits.Method
) -> pd.DataFrame:
    """Return group intervals, see `GroupAUC.confidence_intervals`."""
    import pandas as pd

    _check_rows_of(method, estimates)
    tail = (1.0 - confidence_level) / 2.0

    def of(end: GroupEstimates) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        if not end.measure.is_auc:
            return curve_intervals.group_limits(end, tail)
        return limits.group_limits(end.variances, tail, method)

    if estimates.pairs.is_binned:
        (low, _, note_low), (_, high, note_high) = map(of, estimates.extremes)
        bounds = map(Bounds, *group_bounds(estimates))
        note = np.array(list(map(_binned_note, bounds, note_low, note_high)), dtype=object)
    else:
        low, high, note = of(estimates)
    columns = {"ci_low": low, "ci_high": high, "method": method, "note": note}
    return pd.DataFrame({estimates.measure.name: estimates.by_group, **columns}, index=index)


def _binned_note(bounds: Bounds, of_low: str, of_high: str) -> str:
    """Return the note of an interval of binned scores, whose limits can have different notes."""
    notes = [of_low] if of_low == of_high else []
    if not notes:
        named = (("lower limit: ", of_low), ("upper limit: ", of_high))
        notes = [name + note for name, note in named if note]
    if not np.isnan(bounds.low):
        notes.append(f"scores are binned: certainly {certain_range(bounds)}")
    return "; ".join(note for note in notes if note)


# Intervals of statistics -----------------------------------------------------------------------


class Sampling(NamedTuple):
    """Arguments of a statistic's interval.

    Attributes
    ----------
    confidence_level : float
    method : {"logit", "delong", "exact", "wilson"}
    new_groups : bool
        Whether the groups are a sample from a population of groups.
    """

    confidence_level: float
    method: limits.Method
    new_groups: bool

    @property
    def tail(self) -> float:
        """Error probability of each limit."""
        return (1.0 - self.confidence_level) / 2.0


class StatisticInterval(NamedTuple):
    """Interval of a named statistic.

    Attributes
    ----------
    compute : callable
        Function of `GroupEstimates` and `Sampling` that returns an `intervals.Interval`, or raises
        `NotDefined` if there is no interval.
    is_monotone : bool
        Whether the limits of binned scores are those of both extremes. If False, `compute`
        considers the extremes.
    of_new_groups : bool
        Whether the interval can be an interval over new groups.
    """

    compute: Callable[[GroupEstimates, Sampling], intervals.Interval]
    is_monotone: bool = True
    of_new_groups: bool = False


def _pooled(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    new_groups = sampling.new_groups
    if not estimates.measure.is_auc:
        return curve_intervals.pooled_interval(estimates, sampling.tail, new_groups=new_groups)
    pooled = estimates.pooled
    if not pooled.rows.defined.any():
        raise NotDefined(NO_GROUP)
    return intervals.pooled_interval(
        pooled, sampling.confidence_level, sampling.method, new_groups=new_groups
    )


def _average(estimates: GroupEstimates, sampling: Sampling, name: str) -> intervals.Interval:
    level, new_groups = sampling.confidence_level, sampling.new_groups
    if not estimates.measure.is_auc:
        tail = sampling.tail
        return curve_intervals.average_interval(estimates, name, tail, new_groups=new_groups)
    share = shares(estimates, name)
    if share is None:
        raise NotDefined(NO_GROUP)
    return intervals.average_interval(
        estimates.in_use, share, level, sampling.method, new_groups=new_groups
    )


def _worst(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    if not estimates.measure.is_auc:
        return curve_intervals.worst_interval(estimates, sampling.tail)
    if not estimates.in_use.defined.any():
        raise NotDefined(NO_GROUP)
    return intervals.worst_interval(estimates.in_use, sampling.confidence_level, sampling.method)


def _difference(estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    if not estimates.measure.is_auc:
        return curve_intervals.difference_interval(estimates, sampling.tail)
    _, used = estimates.group_values
    if not used.any():
        raise NotDefined(NO_GROUP)
    if used.sum() < 2:
        raise NotDefined("needs two groups with both classes")
    return difference_interval(
        estimates.extremes_in_use, sampling.confidence_level, sampling.method
    )


# Statistics with an interval, in the order of the table
INTERVALS: dict[str, StatisticInterval] = {
    "pooled": StatisticInterval(_pooled, of_new_groups=True),
    **{
        name: StatisticInterval(functools.partial(_average, name=name), of_new_groups=True)
        for name in AVERAGES
    },
    "worst": StatisticInterval(_worst),
    "difference": StatisticInterval(_difference, is_monotone=False),
}


def _interval_of(name: str, estimates: GroupEstimates, sampling: Sampling) -> intervals.Interval:
    """Return a statistic's interval, for binned scores from both extremes."""
    of_statistic = INTERVALS[name]
    found = of_statistic.compute(estimates, sampling)
    if not estimates.pairs.is_binned:
        return found
    lowest = highest = found
    if of_statistic.is_monotone:
        lowest, highest = (of_statistic.compute(end, sampling) for end in estimates.extremes)
    note = _binned_note(statistic_bounds(estimates, name), lowest.note, highest.note)
    return intervals.Interval(found.estimate, lowest.low, highest.high, note)


def statistic_intervals(
    estimates: GroupEstimates,
    confidence_level: float,
    method: limits.Method,
    over: str | None,
    *,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the intervals of statistics, see `GroupAUC.confidence_intervals`; None means all."""
    import pandas as pd

    _check_rows_of(method, estimates)
    _, used = estimates.group_values
    new_groups = intervals.is_over_groups(over, int(used.sum()))
    if new_groups and estimates.pairs.clusters is not None:
        if over is not None:
            estimates.variances.check_independent_groups("over='groups'", "Pass over='rows'.")
        new_groups = not estimates.variances.shares_clusters
    rows, quiet = [], estimates.quiet()
    known = INTERVALS if names is None else names
    names = [name for name in determined_statistics(estimates) if name in known]
    for name in names:
        is_new = new_groups and INTERVALS[name].of_new_groups
        low, high, note = np.nan, np.nan, ""
        try:
            _, low, high, note = _interval_of(
                name, quiet, Sampling(confidence_level, method, is_new)
            )
        except NotDefined as error:
            note = error.reason
        value = quiet.value_of(STATISTICS[name].compute)
        estimand = intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS
        rows.append((value, low, high, method, estimand, note))
    columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
    return pd.DataFrame(rows, columns=columns, index=pd.Index(names, name="statistic"))
