"""`GroupMeasure`: report on a measure by group, such as a partial AUC or the average precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from skfedauc import _input, _words
from skfedauc.counts import left_out
from skfedauc.inference import intervals, limits, measures
from skfedauc.measures import Measure
from skfedauc.report.bounds import Bounds
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.intervals import group_intervals, statistic_intervals
from skfedauc.report.measure_intervals import group_limits, notes, statistic_limits
from skfedauc.report.measure_statistics import (
    MeasureEstimates,
    MeasureStatistic,
    check_measure_statistic,
)
from skfedauc.report.undefined import NotDefined, UndefinedPolicy

if TYPE_CHECKING:
    import pandas as pd


class GroupMeasure:
    """Report on a measure by group, returned by `GroupAUC.measured`.

    Parameters
    ----------
    estimates : GroupEstimates
    measure : Measure
    index : callable
        Function that returns the index of the groups in tables.

    Attributes
    ----------
    measure : Measure
    """

    def __init__(
        self, estimates: GroupEstimates, measure: Measure, index: Callable[[], pd.Index]
    ) -> None:
        self.measure = measure
        self._estimates = MeasureEstimates.of(estimates, measure)
        self._measured = self._estimates.measured
        self._index = index

    @property
    def by_group(self) -> pd.DataFrame:
        """Measure and class counts of each group.

        The DataFrame has a row for each group. The columns are the name of the measure (NaN if the
        group lacks a class), `n_positives` and `n_negatives`.
        """
        import pandas as pd

        counts = self._measured.pairs.counts
        columns = {
            self.measure.name: self._estimates.by_group,
            "n_positives": counts.n_positives,
            "n_negatives": counts.n_negatives,
        }
        return pd.DataFrame(columns, index=self._index())

    def statistic(self, name: MeasureStatistic) -> float:
        """Return a statistic of the measure by name.

        Parameters
        ----------
        name : str
            One of "pooled", "macro", "samples", "positives", "negatives", "within", "worst",
            "difference", as in `GroupAUC.statistic`, with the measure in place of the AUC.

        Returns
        -------
        float
            The statistic; NaN if undefined.

        Raises
        ------
        ValueError
            If there is no statistic of measures with this name.
        DisclosureError
            If the counts are a summary by group, which does not determine the statistic.
        """
        return self._estimates.statistic(check_measure_statistic(name))

    def statistics(self) -> pd.Series:
        """Return all statistics of the measure.

        Returns
        -------
        pandas.Series
            Statistics by name, see `statistic`.
        """
        import pandas as pd

        estimates = self._estimates.estimates
        estimates.policy.report_groups(estimates.pairs, repr(self.measure))
        quiet = self._estimates.quiet()
        return pd.Series({name: quiet.statistic(name) for name in quiet.names}, dtype=np.float64)

    def bounds(self, of: intervals.Of = "statistics") -> pd.DataFrame:
        """Return certain intervals, which contain the values of the exact scores.

        Parameters
        ----------
        of : {"statistics", "groups"}, default="statistics"
            "statistics" gives an interval for each statistic, "groups" for each group.

        Returns
        -------
        pandas.DataFrame
            `value`, and the ends `low` and `high` of the certain interval, as in `GroupAUC.bounds`.
            For exact scores, the two ends equal the value.

        Raises
        ------
        ValueError
            If `of` is not a listed value.

        Notes
        -----
        The value treats all rows of a range of scores as tied. If a positive gets a higher score or
        a negative a lower score, no point of the ROC curve moves down. The interval of a partial
        AUC, sensitivity or specificity therefore has the values at both extremes of
        `ScoreCounts.extremes` as its ends. The average precision is lowest if the positives of a
        range also have different scores. If ranges overlap, the value is the middle of the
        interval, and the upper end of the interval of the average precision may be too high.
        """
        import pandas as pd

        _input.check_option("of", of, ("groups", "statistics"))
        if of == "groups":
            low, high = (self._measured.scaled(end) for end in self._measured.bounds)
            value = self._estimates.by_group
            return pd.DataFrame({"value": value, "low": low, "high": high}, index=self._index())
        values, quiet = self.statistics(), self._estimates.quiet()
        ends = [Bounds(value, value) for value in values]
        if self._measured.pairs.is_binned:
            ends = [quiet.statistic_bounds(str(name)) for name in values.index]
        table = pd.DataFrame(ends, columns=["low", "high"], index=values.index)
        table.index.name = "statistic"
        table.insert(0, "value", values.to_numpy())
        return table.astype(np.float64)

    def confidence_intervals(
        self,
        *,
        confidence_level: float = 0.95,
        method: limits.Method | None = None,
        of: intervals.Of = "groups",
        over: intervals.Over | None = None,
    ) -> pd.DataFrame:
        """Return confidence intervals of the measure by group, or of its statistics.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default=None
            Method of the intervals of the whole AUC (``PartialAUC(max_fpr=1)``), as in
            `GroupAUC.confidence_intervals`; None means "logit". Other measures have one method
            each, see the notes.
        of : {"groups", "statistics"}, default="groups"
            "groups" gives an interval for each group; "statistics" gives intervals for the pooled
            value, the averages, the worst value and the difference.
        over : {"rows", "groups"} or None, default=None
            Source of the sampling error of the pooled value and the averages, as in
            `GroupAUC.confidence_intervals`.

        Returns
        -------
        pandas.DataFrame
            `value`, `ci_low`, `ci_high`, the `method` and a `note`. By statistic, also the
            `estimand` in words. Limits are NaN if there is no interval; `note` gives the reason.

        Raises
        ------
        ValueError
            If an argument is not as described. If the measure has no intervals with this `method`.
            If rows belong to several test sets. If rows have clusters, and the measure is not the
            whole AUC. If the method is "exact", and the scores are out-of-fold scores of several
            models.

        Notes
        -----
        The methods are:

        - "logit" for partial AUCs and the average precision: limits on the logit scale, with
          quantiles of Student's t. The variance comes from influence values, see
          `skfedauc.inference.group_curves`.
        - "wilson" for sensitivities and specificities: Wilson's limits with an effective number of
          rows, which accounts for the sampling error of the threshold.

        For out-of-fold scores of several models, the methods "logit" and "wilson" describe the
        pooled scores, and are approximate: both methods treat the scores as scores of one model.

        Simulations used at least 20 rows of each class. Intervals of groups with a confidence level
        of 95 % have a coverage of about 95 % or more; intervals of the average precision have a
        coverage of 90 % or more. Few rows can determine the threshold of a partial AUC, a
        sensitivity or a specificity, such as 20 positives for ``min_tpr=0.9``. In this case, the
        lower limit is small or the smallest possible value, and `note` has a remark.

        Measures of small groups have a bias. With 20 positives, 80 negatives and an AUC of .8, the
        average precision is .03 too high on average. An average over groups has the same bias, and
        its interval does not allow for the bias. Averages of the average precision therefore have
        no interval: for 100 such groups, its coverage would be 18 %. Intervals of their mean
        partial AUC (``max_fpr=0.1``) have a coverage of 82 %. For 10 such groups, it is 84 % for
        ``min_tpr=0.9`` and 43 % for the specificity at a sensitivity of .95. The note of an average
        counts the groups with few rows within the rates.

        The whole AUC has the intervals of `GroupAUC.confidence_intervals`. The intervals of the
        difference of other measures combine the limits of the groups, with Bonferroni's correction
        for the lower limit, and are therefore wider.

        The interval of the pooled value for fixed groups treats the rows of all groups as one
        sample. The variance is therefore too large if the scores of the groups differ. As in
        `GroupAUC`, the limits of the worst value are unadjusted lower limits, and upper limits with
        Bonferroni's correction. For binned scores, the lower limit uses the lowest possible value,
        and the upper limit uses the highest possible value, with the variances of both extremes.
        """
        level = limits.check_confidence_level(confidence_level)
        _input.check_option("of", of, ("groups", "statistics"))
        if of == "groups" and over is not None:
            raise ValueError("over applies to statistics over all groups: pass of='statistics'.")
        self._measured.pairs.check_no_repeated_rows()
        if self.measure.is_auc:
            way: limits.Method = "logit" if method is None else limits.check_method(method)
            return self._intervals_of_auc(level, way, of, over)
        if method is not None:
            raise ValueError(
                f"method is for transformed AUCs; intervals of {self.measure!r} have the method "
                f"{measures.method_of(self.measure)!r}. Leave out method="
                f"{_words.shortened(method)}."
            )
        self._measured.pairs.check_independent_rows(f"the interval of {self.measure.name!r}")
        tail = (1.0 - level) / 2.0
        return self._of_groups(tail) if of == "groups" else self._of_statistics(tail, over)

    def _of_groups(self, tail: float) -> pd.DataFrame:
        import pandas as pd

        found = group_limits(self._measured, tail)
        columns = {
            "value": self._estimates.by_group,
            "ci_low": self._measured.scaled(found.low),
            "ci_high": self._measured.scaled(found.high),
            "method": measures.method_of(self.measure),
            "note": notes(self._measured, found.note),
        }
        return pd.DataFrame(columns, index=self._index())

    def _of_statistics(self, tail: float, over: intervals.Over | None) -> pd.DataFrame:
        import pandas as pd

        values, quiet = self.statistics(), self._estimates.quiet()
        _, used = quiet.values.group_aucs
        new_groups = intervals.is_over_groups(over, int(used.sum()))
        method, rows = measures.method_of(self.measure), []
        for name in quiet.names:
            is_new = new_groups and name not in ("worst", "difference")
            low, high, note = np.nan, np.nan, ""
            try:
                low, high, note = statistic_limits(quiet, name, tail, new_groups=is_new)
            except NotDefined as error:
                note = error.reason
            ends = np.array([low, high])
            if name == "difference":
                # The offset of the scale cancels.
                ends *= np.diff(self.measure.scale)
            else:
                ends = self._measured.scaled(ends)
            estimand = intervals.NEW_GROUPS if is_new else intervals.THESE_GROUPS
            rows.append((values[name], *ends, method, estimand, note))
        columns = ["value", "ci_low", "ci_high", "method", "estimand", "note"]
        return pd.DataFrame(rows, columns=columns, index=pd.Index(quiet.names, name="statistic"))

    def _intervals_of_auc(
        self,
        confidence_level: float,
        method: limits.Method,
        of: intervals.Of,
        over: intervals.Over | None,
    ) -> pd.DataFrame:
        """Return the transformed intervals of AUCs."""
        estimates = self._estimates.estimates
        replacement = estimates.policy.replacement
        if replacement is not None:
            # The user's number replaces the measure, so convert the number to an AUC.
            policy = UndefinedPolicy(self._measured.unscaled(replacement))
            estimates = GroupEstimates(estimates.pairs, policy)
        if of == "groups":
            table = group_intervals(estimates, self._index(), confidence_level, method)
            table = table.rename(columns={"auc": "value"})
        else:
            table = statistic_intervals(estimates, confidence_level, method, over)
        if self._measured.pairs.is_binned:
            # Notes give the certain interval of the AUC.
            table["note"] = table["note"].str.replace("certainly", "AUC certainly")
        low, high = self.measure.scale
        numbers = ["value", "ci_low", "ci_high"]
        table[numbers] = (high - low) * table[numbers]
        # The offset cancels in differences.
        is_shifted = np.ones(len(table), np.bool_)
        if of == "statistics":
            is_shifted = table.index.to_numpy() != "difference"
        table.loc[is_shifted, numbers] += low
        return table

    def __repr__(self) -> str:
        pairs, quiet = self._measured.pairs, self._estimates.quiet()
        lines = [
            f"{self.measure!r} of {_words.counted(pairs.n_groups, 'group')}"
            f"{left_out(pairs.counts.n_missing)}{pairs.counts.disclosure.withheld.in_words()}"
        ]
        lines += [f"  {name:<16} {quiet.statistic(name):.4f}" for name in quiet.names]
        return "\n".join(lines)
