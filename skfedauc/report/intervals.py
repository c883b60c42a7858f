"""Certain intervals of binned scores, and confidence intervals, of groups and of named statistics.

The exact score of a row can be anywhere in the range of its cell. The exact value of a statistic
that does not decrease when a positive gets a higher rank is between its values at both extremes,
see `GroupPairs.extremes`; no narrower interval is certain. A withheld row and any other row can
have either order, so intervals that cover withheld rows count each such pair either way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfedauc import _input
from skfedauc.counts.score_counts import view_of
from skfedauc.inference import intervals
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.groups import NotDefined, order_of
from skfedauc.report.statistics import (
    STATISTICS,
    Bounds,
    Sampling,
    all_statistics,
    determined_statistics,
)


class GroupIntervals:
    """The part of a report with certain intervals and confidence intervals."""

    _estimates: GroupEstimates

    def bounds(self, of: intervals.Of = "statistics", *, withheld: bool = False) -> pd.DataFrame:
        """Return certain intervals, which contain the statistics of the exact scores.

        At `low`, each positive has the lowest score of its bin and each negative the highest; at
        `high`, the reverse. Those of gaps follow by interval arithmetic.

        Parameters
        ----------
        of : {"statistics", "groups"}, default="statistics"
            "statistics" gives an interval for each named statistic, "groups" for each group.
        withheld : bool, default=False
            Whether the intervals of statistics cover every possible number of rows of the groups
            that `min_count` withheld. Averages, `worst` and `difference` have such an interval if
            the counts hold the labels of these groups; statistics that compare groups do not.

        Returns
        -------
        pandas.DataFrame
            A row for each statistic or group: `value`, and the ends `low` and `high`, which are
            equal for exact scores. NaN for undefined values, and for `tau` of binned scores.

        Raises
        ------
        ValueError
            If `withheld` is True for groups, for weighted rows, or for withheld groups whose
            numbers of rows have no known limits.

        Examples
        --------
        >>> from skfedauc import GroupAUC, ScoreCounts
        >>> score, groups = [0.2, 0.6, 0.501, 0.503], ["a", "a", "b", "b"]
        >>> rows = {"y_true": [0, 1, 0, 1], "y_score": score, "groups": groups}
        >>> counts = ScoreCounts.from_predictions(**rows, disclosure="bins")
        >>> GroupAUC(counts).bounds(of="groups")
               value  low  high
        group
        a        1.0  1.0   1.0
        b        0.5  0.0   1.0
        """
        estimates = self._estimates
        _input.check_option("of", of, ("groups", "statistics"))
        withheld = _input.check_flag(withheld, "withheld")
        if of == "groups":
            if withheld:
                raise ValueError("withheld=True needs of='statistics'; got of='groups'.")
            of_groups = {"value": estimates.by_group, **group_bounds(estimates)._asdict()}
            return estimates.table(of_groups)
        estimates.report_groups()
        rows = {}
        for name, value in all_statistics(estimates).items():
            is_exact = not estimates.pairs.is_binned
            ends = (value, value) if is_exact else statistic_bounds(estimates, name)
            rows[name] = (value, *ends)
        index, columns = pd.Index(rows, name="statistic"), ["value", "low", "high"]
        table = pd.DataFrame(list(rows.values()), index, columns, dtype=np.float64)
        return cover_withheld(table, estimates.of_auc("withheld=True")) if withheld else table

    def confidence_intervals(
        self,
        *,
        confidence_level: float = 0.95,
        method: intervals.Method | None = None,
        of: intervals.Of = "groups",
        over: intervals.Over | None = None,
    ) -> pd.DataFrame:
        """Return confidence intervals for group AUCs, or for statistics over all groups.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level.
        method : {"logit", "delong", "exact"}, default=None
            "logit" has limits on the logit scale, or those of Newcombe's method 5 [1]_ where they
            are further out; "delong" on the AUC scale, clipped to [0, 1]. "exact" holds for any
            distribution of independent rows, and is wide. None means "logit", or the only method of
            a measure instead of the AUC.
        of : {"groups", "statistics"}, default="groups"
            "groups" gives an interval for each group; "statistics" gives intervals for the pooled
            AUC, the averages, the worst AUC and the difference.
        over : {"rows", "groups"} or None, default=None
            Source of the sampling error of the pooled AUC and the averages: new rows of the same
            groups, or new rows of new, random groups. None means "rows" for up to 20 groups or
            groups that share clusters, and "groups" for more.

        Returns
        -------
        pandas.DataFrame
            By group: `auc` (or the measure's name), `ci_low`, `ci_high`, `method` and `note`.
            By statistic: `value` instead of `auc`, and the `estimand` in words. Limits are NaN if
            there is no interval; `note` gives the reason, or a special case.

        Notes
        -----
        The pooled AUC of these groups has the groups as strata; for new groups they are clusters,
        with Student's t, which covers too rarely with few, strongly shifted groups (92.4 % for 5).
        Other measures treat the rows of a pooled value as one sample; averages of the average
        precision have no interval. The calibration page has the simulated coverage.

        References
        ----------
        .. [1] Newcombe (2006). Statistics in Medicine 25(4). https://doi.org/10.1002/sim.2324

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> y, score, groups = [0, 1] * 50, range(100), [1, 2, 2, 1] * 25
        >>> report = GroupAUC.from_predictions(y, score, groups=groups)
        >>> report.confidence_intervals().columns.tolist()
        ['auc', 'ci_low', 'ci_high', 'method', 'note']
        """
        estimates = self._estimates
        confidence_level = intervals.check_confidence_level(confidence_level)
        methods = estimates.measure.methods
        way = methods[0] if method is None else _input.check_option("method", method, methods)
        _input.check_option("of", of, ("groups", "statistics"))
        if of == "statistics":
            return statistic_intervals(estimates, confidence_level, way, over)
        if over is not None:
            raise ValueError("over applies to statistics over all groups: pass of='statistics'.")
        table = group_intervals(estimates, confidence_level, way)
        return table.take(order_of(estimates.pairs.counts))


def group_bounds(estimates: GroupEstimates) -> Bounds:
    """Return the certain intervals of the group values, each of shape (n_groups,)."""
    low, high = (end.by_group for end in estimates.extremes)
    return _widened(estimates, Bounds(low, high))


def statistic_bounds(estimates: GroupEstimates, name: str) -> Bounds:
    """Return the certain interval of a statistic; NaN if it is undefined or unknown, as for tau."""
    statistic, (lowest, highest) = STATISTICS[name], estimates.extremes
    low = high = np.nan
    with contextlib.suppress(NotDefined):
        # A gap that is undefined for the highest AUCs is undefined for all possible scores.
        if statistic.is_monotone:
            low, high = statistic.compute(lowest), statistic.compute(highest)
        elif statistic.bounds and not np.isnan(statistic.compute(highest)):
            low, high = statistic.bounds(estimates)
    return _widened(estimates, Bounds(low, high), name)


def _widened(estimates: GroupEstimates, bounds: Bounds, name: str = "") -> Bounds:
    """Widen an interval by the rounding error of sums of floats; sums of integers are exact."""
    pairs = estimates.pairs
    # The extremes of other measures than the AUC allow for rounding errors.
    if not pairs.is_binned or not estimates.measure.is_auc:
        return bounds
    reach = 0.0
    if estimates.extremes[0].pairs.u2.dtype.kind == "f":
        # If few pairs are across groups, the cross AUC is the difference of sums that are up to
        # 1,000 times larger.
        reach = pairs.rounding_reach * (1e3 if name == "cross" else 1.0)
    elif name in ("bias_score", "cross_difference"):
        reach = 1e-12  # rounding error of means of powers, and of a matrix of floats
    return Bounds(np.maximum(bounds.low - reach, 0.0), np.minimum(bounds.high + reach, 1.0))


def certain_range(bounds: Bounds, digits: int = 4) -> str:
    """Return a certain interval in words; rounding never shortens the interval."""
    scale = 10.0**digits
    low = np.floor(float(bounds.low) * scale) / scale
    high = np.ceil(float(bounds.high) * scale) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}"


def binned_note(estimates: GroupEstimates) -> str:
    """Return a note on binned scores, with the certain interval of the pooled AUC, if it is one."""
    if not estimates.pairs.is_binned:
        return ""
    if not estimates.pairs.has_scores:
        return "scores were binned"
    pooled = statistic_bounds(estimates, "pooled")
    if np.isnan(pooled.low):
        return "scores are binned"
    counted = " of the counted rows" if estimates.pairs.counts.disclosure.withheld.n_groups else ""
    return (
        f"scores are binned: the pooled AUC{counted} is certainly {certain_range(pooled)} "
        f"(width {pooled.high - pooled.low:.1e})"
    )


# Largest rounding error of an end of an interval, which is a ratio of sums of few products
_REACH = 1e-14


def cover_withheld(table: pd.DataFrame, estimates: GroupEstimates) -> pd.DataFrame:
    """Widen the intervals of statistics to cover the rows of withheld groups."""
    counts = estimates.pairs.counts_for("withheld=True")
    withheld = counts.disclosure.withheld
    if withheld.n_groups == 0:
        return table
    most_negatives, most_positives = withheld.most_negatives, withheld.most_positives
    if most_negatives is None or most_positives is None:
        raise ValueError(
            "withheld=True needs the numbers of withheld rows, or limits of these numbers, and "
            "these counts hold only the number of withheld groups. Reduce with "
            "Disclosure(tell_withheld='rows')."
        )
    if view_of(counts).is_weighted:
        raise ValueError(
            "withheld=True needs counts without sample weights: the weights of withheld rows are "
            "unknown."
        )
    n_negatives, n_positives = int(counts.n_negatives.sum()), int(counts.n_positives.sum())
    n_pairs = n_negatives * n_positives
    all_pairs = (n_negatives + most_negatives) * (n_positives + most_positives)
    # Weight of the known AUCs and weight of the unknown AUCs, by statistic
    weights: dict[str, tuple[Any, Any]] = {"pooled": (n_pairs, all_pairs - n_pairs)}
    known = {name: (low, high) for name, low, high in table[["low", "high"]].itertuples()}
    ends = {}
    if withheld.labels is not None and set(withheld.labels).isdisjoint(counts.groups or ()):
        used = estimates.group_values[1]
        negatives = counts.n_negatives[used].astype(np.float64)
        positives = counts.n_positives[used].astype(np.float64)
        weights |= {
            "macro": (int(used.sum()), withheld.n_groups),
            "samples": (negatives.sum() + positives.sum(), most_negatives + most_positives),
            "positives": (positives.sum(), most_positives),
            "negatives": (negatives.sum(), most_negatives),
            # The most pairs within groups, if all withheld rows are of one group
            "within": ((negatives * positives).sum(), most_negatives * most_positives),
        }
        low, high = known["difference"][0], known["worst"][1]
        ends["difference"] = 0.0 if np.isnan(low) else low, 1.0
        ends["worst"] = 0.0, 1.0 if np.isnan(high) else high
    for name in weights.keys() & known.keys():
        (low, high), (of_known, of_withheld) = known[name], weights[name]
        if of_known + of_withheld > 0:
            share = of_known / (of_known + of_withheld)
            ends[name] = (low * share, 1 - (1 - high) * share) if of_known else (0.0, 1.0)
    low, high = np.transpose([ends.get(name, (np.nan, np.nan)) for name in known])
    return table.assign(low=np.maximum(low - _REACH, 0.0), high=np.minimum(high + _REACH, 1.0))


def check_rows_of(method: intervals.Method, estimates: GroupEstimates) -> None:
    """Raise an error for dependent rows, such as those of several models, fitted to other folds."""
    pairs, measure = estimates.pairs, estimates.measure
    if not measure.is_auc:
        pairs.check_no_repeated_rows()
        pairs.check_independent_rows(f"the interval of {measure.name!r}")
    elif method == "exact":
        pairs.check_independent_rows(f"method={method!r}")
        pairs.check_one_model(f"method={method!r}")


def group_intervals(
    estimates: GroupEstimates, confidence_level: float, method: intervals.Method
) -> pd.DataFrame:
    check_rows_of(method, estimates)
    tail = (1.0 - confidence_level) / 2.0
    ends = estimates.extremes if estimates.pairs.is_binned else (estimates,)
    limits = [end.limits(tail, method) for end in ends]
    (low, _, of_low), (_, high, of_high) = limits[0], limits[-1]
    note = of_low.column
    if estimates.pairs.is_binned:
        bounds = map(Bounds, *group_bounds(estimates))
        note = np.array([*map(_note_of_binned, bounds, note, of_high.column)], dtype=object)
    columns = {estimates.measure.name: estimates.by_group, "ci_low": low, "ci_high": high}
    return pd.DataFrame(columns, estimates.labels).assign(method=method, note=note)


def _note_of_binned(bounds: Bounds, of_low: str, of_high: str) -> str:
    """Return the note of an interval of binned scores, whose limits can have different notes."""
    notes = [of_low]
    if of_low != of_high:
        named = {"lower limit: ": of_low, "upper limit: ": of_high}
        notes = [name + note for name, note in named.items() if note]
    if not np.isnan(bounds.low):
        notes.append(f"scores are binned: certainly {certain_range(bounds)}")
    return "; ".join(filter(None, notes))


def statistic_intervals(
    estimates: GroupEstimates,
    confidence_level: float,
    method: intervals.Method,
    over: str | None,
    *,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the intervals of statistics, see `GroupAUC.confidence_intervals`; None means all."""
    check_rows_of(method, estimates)
    _, used = estimates.group_values
    new_groups = intervals.is_over_groups(over, int(used.sum()))
    if new_groups and estimates.pairs.clusters is not None:
        if over is not None:
            estimates.variances.check_independent_groups("over='groups'", "Pass over='rows'.")
        new_groups = not estimates.variances.shares_clusters
    quiet, is_binned = estimates.quiet(), estimates.pairs.is_binned
    rows = {}
    for name in determined_statistics(estimates):
        statistic = STATISTICS[name]
        if statistic.limits is None or (names is not None and name not in names):
            continue
        is_new = new_groups and statistic.is_mean
        sampling = Sampling((1.0 - confidence_level) / 2.0, method, is_new)
        # Without monotonicity, the function considers the extremes.
        ends = quiet.extremes if is_binned and statistic.is_monotone else (quiet,)
        low, high, note = np.nan, np.nan, ""
        try:
            found = [statistic.limits(end, sampling) for end in ends]
            low, high, note = found[0].low, found[-1].high, found[0].note
            if is_binned:
                note = _note_of_binned(statistic_bounds(quiet, name), note, found[-1].note)
        except NotDefined as error:
            note = error.reason
        value = quiet.value_of(statistic.compute)
        estimand = intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS
        rows[name] = value, low, high, method, estimand, note
    columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
    return pd.DataFrame(list(rows.values()), pd.Index(rows, name="statistic"), columns)
