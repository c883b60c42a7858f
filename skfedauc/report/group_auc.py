"""`GroupAUC`: report on the AUCs of a `ScoreCounts`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _sklearn
from skfedauc.clusters import ClusterCounts, position_of_clusters
from skfedauc.counts import ScoreCounts
from skfedauc.inference import heterogeneity, intervals, limits
from skfedauc.inference.differences import DifferenceTest, null_difference
from skfedauc.inference.equal_groups import EqualGroupsTest, equal_groups_test
from skfedauc.inference.margins import MarginTest
from skfedauc.measures import Measure
from skfedauc.pairs import GroupPairs
from skfedauc.report.agreement import Agreement, agreement_with_pooled
from skfedauc.report.bias import abroca_table, bias_table
from skfedauc.report.bounds import bounds_table, group_bounds_table
from skfedauc.report.comparisons import comparison_table, difference_test
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_measure import GroupMeasure
from skfedauc.report.intervals import group_intervals, statistic_intervals
from skfedauc.report.listing import listed
from skfedauc.report.margins import equivalence_test, worst_test
from skfedauc.report.ranking import ranking_table
from skfedauc.report.small_groups import LeftOut, large_groups
from skfedauc.report.statistics import (
    NO_SPREAD,
    STATISTICS,
    Decomposition,
    StatisticName,
    all_statistics,
    average,
    check_statistic,
    decomposition,
)
from skfedauc.report.text import FirstLines, first_lines
from skfedauc.report.undefined import NotDefined, Undefined, UndefinedPolicy, check_undefined
from skfedauc.report.weights import average_weights
from skfedauc.report.withheld import cover_withheld

if TYPE_CHECKING:
    import pandas as pd


class GroupAUC:
    """Report on AUCs over groups, from score counts.

    Parameters
    ----------
    counts : ScoreCounts or GroupPairs
        Score counts by group, such as the sum of the counts of many devices. A `GroupPairs` also
        determines the pairs of rows, as in the reports of a cross-validation.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class, and therefore an AUC, in averages and gaps. "skip"
        omits these groups, with one `UndefinedMetricWarning` that counts the groups. "ignore" omits
        these groups without a warning. "raise" raises a ValueError. A number replaces the AUC of
        these groups.
    group_names : str or list of str, default=None
        Names of the group columns in tables: one name for each column that the groups come from.
        None means the `group_names` of the counts.
    clusters : str, default=None
        Name of the group column that holds the clusters, such as patients with several rows each.
        The other columns are the groups of the report. With clusters, variances, intervals and
        tests allow for dependent rows of the same cluster. None means that all rows are
        independent.
    min_per_class : int, default=1
        Groups with fewer positives or negatives are left out, with all their rows, because tiny
        groups dominate `worst` and `difference`. The repr lists these groups. 1 leaves out no
        group; `undefined` applies to groups that lack a class.

    Attributes
    ----------
    counts : ScoreCounts
        Counts by group, without the clusters. A report of these counts assumes independent rows.
    undefined : str or float

    Raises
    ------
    TypeError
        If `counts` is not a ScoreCounts, or `group_names` are not strings.
    ValueError
        If `undefined` is not a listed value. If the number of names differs from the number of
        columns. If `clusters` is not the name of a group column. With ``undefined="raise"``, also
        on access to an average or a gap if a group lacks a class, and on access to an undefined
        result.

    See Also
    --------
    group_roc_auc_score : Compute one statistic.
    group_auc_scoring : Scorers of the statistics.
    MulticlassGroupAUC : Report for several classes.
    ScoreCounts : Counts of the scores that a report is computed from.
    ScoreCounts.regroup : Combine groups, such as small ones, before the report.
    FairnessAudit : Report on sensitive columns, with rates of decisions.
    GroupAUCAggregator : Report from the counts of Flower's clients.

    Notes
    -----
    The pooled AUC is the average of the cross AUCs of all pairs (g, h) of groups, weighted by
    ``W+_g W-_h`` [1]_. Here, ``W+_g`` and ``W-_g`` are the weights of the positives and of the
    negatives of group g.

    The average of the group AUCs by positives is the covariate-adjusted AUC [2]_. The average by
    positives equals the pooled AUC if the negatives have the same score distribution in all groups.
    The average by negatives equals the pooled AUC if the positives have the same score distribution
    in all groups.

    For binned scores (``counts.disclosure`` is "bins"), a pair of rows in the same bin counts as a
    tie. `bounds` gives intervals that certainly contain the values of the exact scores.

    Rows of the same cluster may be dependent, and clusters are independent. The variance of each
    AUC is then Obuchowski's [3]_, with Bell and McCaffrey's correction for clusters of unequal size
    [4]_. Student's t replaces the normal distribution. The degrees of freedom are at most the
    effective number of clusters minus one. The point estimates do not change. Intervals also use an
    approximation, Newcombe's variance times a design effect; see `confidence_intervals`.

    Clusters with the same label are the same cluster, in all groups and in all merged counts. A
    cluster can therefore have rows in several groups and at several sites. If sites number their
    patients from 1, the labels of different patients are equal. Then pass site and patient together
    as clusters. The repr shows how many clusters there are, and how many of them span groups.

    `test_equal_groups`, `tau`, `ranking`,
    ``compare_groups("rest")`` and ``over="groups"`` need groups that share no clusters.
    `agreement`, the p values of `abroca`, ``method="exact"``,
    audits, intervals of measures other than AUCs, and the pilot
    report of `rows_needed` need independent rows. With clusters, all these methods raise an error,
    except `tau`, which is NaN.

    Counts by group and cluster show which rows belong together. The report does not use the labels
    themselves, so replace the labels by random numbers before counting. The random numbers must be
    different for different clusters, also at different sites, and equal for the rows of a cluster.

    References
    ----------
    .. [1] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond
       classification: bipartite ranking and the xAUC metric. NeurIPS 32.
    .. [2] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on
       classification accuracy using the covariate-adjusted ROC curve. Biometrika 96(2).
       https://doi.org/10.1093/biomet/asp002
    .. [3] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2). https://doi.org/10.2307/2533958
    .. [4] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
       regression with multi-stage samples. Survey Methodology 28(2).

    Examples
    --------
    >>> from skfedauc import GroupAUC
    >>> report = GroupAUC.from_predictions(
    ...     y_true=[0, 1, 0, 1, 1], y_score=[0.2, 0.6, 0.5, 0.4, 0.9],
    ...     groups=["a", "a", "b", "b", "b"],
    ... )
    >>> report.pooled, report.average("macro"), report.difference
    (0.8333333333333334, 0.75, 0.5)
    >>> report.by_group
           auc  n_positives  n_negatives
    group
    a      1.0            1            1
    b      0.5            2            1

    Counts of rows by site and patient, whose patients are the clusters:

    >>> from skfedauc import ScoreCounts
    >>> counts = ScoreCounts.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=[("a", 17), ("a", 17), ("a", 4), ("a", 9)]
    ... )
    >>> by_patient = GroupAUC(counts, group_names=["site", "patient"], clusters="patient")
    >>> print(repr(by_patient).splitlines()[0])
    AUC over 1 group by site: 4 rows, 2 positives and 2 negatives, in 3 clusters
    """

    def __init__(
        self,
        counts: ScoreCounts | GroupPairs,
        *,
        undefined: Undefined | UndefinedPolicy = "skip",
        group_names: str | Sequence[str] | None = None,
        clusters: str | None = None,
        min_per_class: int = 1,
    ) -> None:
        pairs = GroupPairs(counts) if isinstance(counts, ScoreCounts) else counts
        if not isinstance(pairs, GroupPairs):
            raise TypeError(
                f"counts must be a ScoreCounts; got {type(counts).__name__}. Use "
                "GroupAUC.from_predictions(y_true, y_score, groups=...) for rows, or "
                "MulticlassGroupAUC for a MulticlassCounts."
            )
        counts = pairs.counts
        given = counts.group_names if group_names is None else group_names
        names = _input.check_group_names(given, counts.labels)
        if clusters is not None:
            pairs.counts_for("clusters=")
            if pairs.clusters is not None or pairs.rows_repeat:
                raise ValueError("clusters= needs a ScoreCounts; got the pairs of a report.")
            position = position_of_clusters(clusters, names)
            counts, of_clusters = ClusterCounts.of_counts(counts, position)
            pairs = GroupPairs(counts, clusters=of_clusters)
            names = names[:position] + names[position + 1 :]
        self._group_names = names
        self._left_out = LeftOut(1, ())
        least = _input.check_whole_number(min_per_class, "min_per_class", 1)
        if least > 1:
            pairs, self._left_out = large_groups(pairs, least)
        if not isinstance(undefined, UndefinedPolicy):
            undefined = UndefinedPolicy(undefined)
        self._estimates = GroupEstimates(pairs, undefined)

    @property
    def counts(self) -> ScoreCounts:
        """Counts by group, the source of the report.

        The counts do not include the clusters of the rows. ``GroupAUC(report.counts)`` assumes
        independent rows.
        """
        return self._estimates.pairs.counts

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
        clusters: Any = None,
        min_per_class: int = 1,
    ) -> GroupAUC:
        """Make a report from labels, scores and groups.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; higher scores mean the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads. None means 1 unless in a `joblib.parallel_config` context; -1 means
            all processors.
        clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Cluster of each row, such as a patient with several rows; see `GroupAUC`. Rows of the
            same cluster may be dependent. With several columns, such as site and patient, each
            combination of labels is a cluster. None means that all rows are independent. Labels
            have the types of group labels, and every row needs a label. The report does not store
            the labels.
        min_per_class : int, default=1
            Groups with fewer positives or negatives are left out; see `GroupAUC`.

        Returns
        -------
        GroupAUC

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=["a", "a"]).pooled
        1.0
        """
        undefined = check_undefined(undefined)
        _input.check_groups_given(groups)
        rows = _input.check_rows(
            y_true,
            y_score,
            groups,
            sample_weight,
            pos_label,
            missing=_input.check_missing(missing),
            clusters=clusters,
        )
        pairs = GroupPairs.of_rows(rows, n_jobs, _input.names_of(rows.labels, groups))
        return cls(pairs, undefined=undefined, min_per_class=min_per_class)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        pos_label: Any = None,
        response_method: str | tuple[str, ...] | None = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        n_jobs: int | None = None,
        clusters: Any = None,
        min_per_class: int = 1,
    ) -> GroupAUC:
        """Make a report from a fitted estimator and data.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the group labels themselves. If X has an index, its
            labels align a pandas Series with X.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; None means ``estimator.classes_[1]``.
        response_method : str, tuple of str or None, default=None
            Methods of the estimator that return scores, in order of preference. None means
            "decision_function", else "predict_proba", as in scikit-learn's "roc_auc".
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        n_jobs : int, default=None
            Number of threads for counting, not for prediction. None means 1 unless in a
            `joblib.parallel_config` context; -1 means all processors.
        clusters : str, list of str, or array-like of shape (n_rows,), default=None
            Name or names of columns of X that identify the cluster of each row, or the cluster of
            each row; see `GroupAUC.from_predictions`.
        min_per_class : int, default=1
            Groups with fewer positives or negatives are left out; see `GroupAUC`.

        Returns
        -------
        GroupAUC

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skfedauc import GroupAUC
        >>> X = pd.DataFrame({"age": [30, 60, 40, 70], "site": [1, 1, 2, 2]})
        >>> model = LogisticRegression().fit(X, [0, 1, 0, 1])
        >>> GroupAUC.from_estimator(model, X, [0, 1, 0, 1], groups="site").average("macro")
        1.0
        """
        undefined, missing = check_undefined(undefined), _input.check_missing(missing)
        _input.check_groups_given(groups)
        labels = _input.groups_of_rows(groups, X)
        of_clusters = None if clusters is None else _input.groups_of_rows(clusters, X, "clusters")
        _input.check_row_order(
            {
                "X": X,
                "y": y,
                "groups": labels,
                "sample_weight": sample_weight,
                "clusters": of_clusters,
            }
        )
        model = _sklearn.scores_of(estimator, X, response_method, pos_label)
        rows = _input.check_rows(
            y,
            model.scores,
            labels,
            sample_weight,
            model.positive,
            missing=missing,
            warn_labels=False,
            clusters=of_clusters,
        )
        pairs = GroupPairs.of_rows(rows, n_jobs, _input.names_of(rows.labels, labels, groups))
        return cls(pairs, undefined=undefined, min_per_class=min_per_class)

    # Single numbers ------------------------------------------------------------------

    @functools.cached_property
    def pooled(self) -> float:
        """AUC of all rows together."""
        return self.statistic("pooled")

    def average(self, weights: str | Mapping[Any, float] | ArrayLike) -> float:
        """Return a weighted average of the group AUCs.

        Parameters
        ----------
        weights : {"macro", "samples", "positives", "negatives", "within"}, mapping or array
            Weights of the groups. "macro" means equal weights. "samples", "positives" and
            "negatives" mean the weight of the group's rows, positives or negatives. "within" means
            the product of the weights of the group's positives and negatives. Alternatively, pass a
            mapping or pandas Series with a weight for each label, or an array of weights in the
            order of ``by_group``.

        Returns
        -------
        float
            NaN if no group has a defined AUC.

        Raises
        ------
        ValueError, TypeError
            If the weights are not as described.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.average({"a": 0.9, "b": 0.1})
        0.9
        """
        of_group = average_weights(weights, self._estimates.pairs)
        return self._estimates.value_of(lambda found: average(found, lambda _: of_group))

    @functools.cached_property
    def worst(self) -> float:
        """Smallest group AUC."""
        return self.statistic("worst")

    @functools.cached_property
    def difference(self) -> float:
        """Largest minus smallest group AUC; NaN with fewer than two defined groups."""
        return self.statistic("difference")

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 for rows without groups."""
        return len(self.counts)

    def statistic(self, name: StatisticName) -> float:
        """Return a statistic by name.

        Parameters
        ----------
        name : str
            One of "pooled", "macro", "samples", "positives", "negatives", "within",
            "worst", "ratio", "cross", "difference", "cross_difference", "tau",
            "bias_score".

        Returns
        -------
        float
            The statistic; NaN if undefined.

        Raises
        ------
        ValueError
            If there is no statistic with this name.
        DisclosureError
            If the counts are a summary by group, which does not determine the statistic.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions([0, 1], [0.2, 0.6], groups=["a", "a"])
        >>> report.statistic("within")
        1.0
        """
        return self._estimates.value_of(STATISTICS[check_statistic(name)].compute)

    # Tables --------------------------------------------------------------------------

    def statistics(self) -> pd.Series:
        """Return all named statistics.

        Returns
        -------
        pandas.Series
            Statistics by name. With more than 500 groups, the Series omits `cross_difference`,
            which needs the cross matrix; use ``statistic("cross_difference")`` instead. The Series
            also omits statistics that a summary by group does not determine; see
            `determined_statistics`.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.statistics().round(2)
        pooled              0.75
        macro               0.50
        samples             0.50
        positives           0.50
        negatives           0.50
        within              0.50
        worst               0.00
        ratio               0.00
        cross               1.00
        difference          1.00
        cross_difference    0.00
        tau                  NaN
        bias_score          0.69
        dtype: float64
        """
        import pandas as pd

        self._estimates.policy.report_groups(self._estimates.pairs)
        return pd.Series(all_statistics(self._estimates), dtype=np.float64)

    def measured(self, measure: Measure) -> GroupMeasure:
        """Return a report on another measure of the ranking than the AUC.

        Parameters
        ----------
        measure : Measure
            A measure of `skfedauc.measures`: ``PartialAUC(max_fpr=0.1)``,
            ``PartialAUC(min_tpr=0.9)``, ``Sensitivity(specificity=0.9)``,
            ``Specificity(sensitivity=0.9)``, or ``AveragePrecision()``.

        Returns
        -------
        GroupMeasure
            The measure by group, pooled and averaged, with intervals. The argument `undefined` of
            this report also applies to groups without a value of the measure.

        Raises
        ------
        TypeError
            If `measure` is not a measure.
        DisclosureError
            If the counts are a summary by group, which determines no part of the ROC curve.
        ValueError
            If pairs consist of rows of the same fold only, unless the measure is a transformed AUC.
            If `undefined` is a number that the measure cannot have.

        See Also
        --------
        AveragePrecision : Average precision.
        Measure : A measure of your own.
        PartialAUC : Partial AUC.
        Sensitivity : Sensitivity at a specificity.
        Specificity : Specificity at a sensitivity.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.measures import PartialAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], groups=["a"] * 6
        ... )
        >>> report.measured(PartialAUC(max_fpr=0.5)).by_group.round(3)
               partial_auc_max_fpr_0.5  n_positives  n_negatives
        group
        a                        0.852            3            3
        """
        return GroupMeasure(self._estimates, measure, self._index)

    def bounds(self, of: intervals.Of = "statistics", *, withheld: bool = False) -> pd.DataFrame:
        """Return certain intervals, which contain the statistics of the exact scores.

        Parameters
        ----------
        of : {"statistics", "groups"}, default="statistics"
            "statistics" gives an interval for each named statistic, "groups" for each group AUC.
        withheld : bool, default=False
            Whether the intervals of statistics cover the rows of groups that `min_count` withheld.
            The counts hold only the numbers of these rows, or upper limits of the numbers. The
            interval holds for every number up to the limit. The pooled AUC has such an interval.
            Averages, `worst` and `difference` have such an interval if the counts hold the labels
            of these groups, and no such group is in the report. The interval is NaN for other
            statistics.

        Returns
        -------
        pandas.DataFrame
            A row for each statistic or group: `value`, and the ends `low` and `high` of the certain
            interval. For exact scores, the two ends equal the value. NaN for undefined values, and
            for `tau` of binned scores, which has no certain interval. With more than 500 groups,
            the table omits `cross_difference`, as `statistics` does.

        Raises
        ------
        ValueError
            If `of` is not a listed value. If `withheld` is True for groups, for weighted rows, or
            for withheld groups whose numbers of rows have no known limits.

        See Also
        --------
        ScoreCounts.withheld : Groups that were withheld.
        ScoreCounts.extremes : Exact counts of the same rows with the lowest and highest AUCs.

        Notes
        -----
        A pair of a positive and a negative counts one half in `value` if its order is unknown. The
        order is unknown for rows in the same bin or in overlapping ranges. A group AUC, the pooled
        AUC and each average are therefore in the middle of their intervals. All tables of a report
        have these values. For variances, `tau` and areas between ROC curves, all rows of a range
        count as rows with the score that represents the range.

        The interval is not a confidence interval, and does not depend on the distribution of the
        scores. At `low`, each positive has the lowest score of its bin, and each negative has the
        highest score; at `high`, the reverse. `low` and `high` of the AUCs, of the averages and of
        `bias_score` are possible values, so no narrower interval is certain. The intervals of gaps
        follow from the intervals of the AUCs. The upper end of `difference` and of
        `cross_difference` is a possible value, but the other ends of gaps may be impossible values.

        With sample weights, intervals are wider by the largest possible rounding error of the sums
        of weights. ``lowest, highest = report.counts.extremes()`` gives the certain intervals of
        other AUCs, such as ``GroupAUC(lowest).cross_matrix`` and
        ``GroupAUC(highest).cross_matrix``.

        Examples
        --------
        >>> from skfedauc import GroupAUC, ScoreCounts
        >>> counts = ScoreCounts.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.501, 0.503], groups=["a", "a", "b", "b"],
        ...     disclosure="bins",
        ... )
        >>> GroupAUC(counts).bounds().loc[["pooled", "worst"]]
                   value   low  high
        statistic
        pooled     0.875  0.75   1.0
        worst      0.500  0.00   1.0
        >>> GroupAUC(counts).bounds(of="groups")
               value  low  high
        group
        a        1.0  1.0   1.0
        b        0.5  0.0   1.0
        """
        _input.check_option("of", of, ("groups", "statistics"))
        if of == "groups":
            if withheld:
                raise ValueError("withheld=True needs of='statistics'; got of='groups'.")
            return group_bounds_table(self._estimates, self._index())
        self._estimates.policy.report_groups(self._estimates.pairs)
        table = bounds_table(self._estimates)
        return cover_withheld(table, self._estimates) if withheld else table

    @property
    def by_group(self) -> pd.DataFrame:
        """AUC and class counts of each group.

        The DataFrame has a row for each group, and the columns `auc` (NaN if undefined),
        `n_positives` and `n_negatives`. Ordered categories of pandas and an Enum of polars keep
        their order, and other groups have the order of their labels. The index is a MultiIndex if
        labels are tuples. `ranking` returns shrunken AUCs and ranks of the same groups.
        """
        import pandas as pd

        table = pd.DataFrame(
            {
                "auc": self._estimates.pairs.auc,
                "n_positives": self.counts.n_positives,
                "n_negatives": self.counts.n_negatives,
            },
            index=self._index(),
        )
        return listed(self.counts, table)

    def decomposition(self) -> Decomposition:
        """Split the pooled AUC into pairs within groups and pairs across groups.

        Returns
        -------
        Decomposition
            Named tuple of `within`, `cross` and `share_within`, such that
            ``pooled = share_within * within + (1 - share_within) * cross``. A part
            without pairs is NaN.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.decomposition()
        Decomposition(within=0.5, cross=1.0, share_within=0.5)
        """
        self._estimates.pairs.check_has_scores("decomposition")
        return decomposition(self._estimates.pairs)

    @property
    def cross_matrix(self) -> pd.DataFrame:
        """AUC of each group's positives against each group's negatives.

        The DataFrame has one row and one column for each group. Rows are the groups of the
        positives, columns are the groups of the negatives, and the diagonal holds the group AUCs.
        Access raises a ValueError if the matrix does not fit in memory.

        See Also
        --------
        CrossAUCDisplay : The table as a plot.
        """
        import pandas as pd

        self._estimates.pairs.check_has_scores("cross_matrix")
        table = pd.DataFrame(
            self._estimates.pairs.cross_auc.copy(),
            index=self._index("positives"),
            columns=self._index("negatives"),
        )
        return listed(self.counts, listed(self.counts, table).T).T

    @property
    def bias_by_group(self) -> pd.DataFrame:
        """Bias AUCs and average equality gaps of each group.

        Bias AUCs and equality gaps compare a group with its background, the rows of all other
        groups. The DataFrame has a row for each group, and these columns [1]_, [2]_, with NaN if a
        class is absent:

        ``auc``: the group AUC. A low value means that the model separates the group's own classes
        badly.

        ``bpsn_auc``: AUC of the background's positives against the group's negatives. A low value
        means that the group's negatives have high scores, which leads to many false positives.

        ``bnsp_auc``: AUC of the group's positives against the background's negatives. A low value
        means that the group's positives have low scores, which leads to many false negatives.

        ``xauc_disparity``: `bnsp_auc` minus `bpsn_auc`; above 0 if positives of the group outrank
        negatives of the background more often than the reverse.

        ``positive_aeg``, ``negative_aeg``: average equality gaps of the positives and of the
        negatives. The gap is the probability that a row of the group scores above a background row
        of the same class, minus one half. The gap ranges from -0.5 (always below) to 0.5 (always
        above).

        Notes
        -----
        `bnsp_auc` and `bpsn_auc` are the two cross AUCs (xAUC [2]_) between the group and its
        background. `cross_matrix` has the cross AUCs of every two groups, and `cross_difference` is
        their largest disparity. Sorting the scores dominates the time, for any number of groups.

        References
        ----------
        .. [1] Borkan, D., Dixon, L., Sorensen, J., Thain, N. and Vasserman, L. (2019). Nuanced
           metrics for measuring unintended bias with real data for text classification.
           Companion of The Web Conference. https://doi.org/10.1145/3308560.3317593
        .. [2] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond
           classification: bipartite ranking and the xAUC metric. NeurIPS 32.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.6, 0.8, 0.1, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.bias_by_group[["auc", "bpsn_auc", "bnsp_auc", "xauc_disparity"]]
               auc  bpsn_auc  bnsp_auc  xauc_disparity
        group
        a      1.0       0.0       1.0             1.0
        b      1.0       1.0       0.0            -1.0
        """
        return listed(self.counts, bias_table(self._estimates.pairs, self._index()))

    def abroca(
        self, reference: Any = "rest", *, n_resamples: int = 0, random_state: Any = None
    ) -> pd.DataFrame:
        """Return the area between the ROC curves of each group and of a reference (ABROCA).

        Parameters
        ----------
        reference : "rest" or a group's label, default="rest"
            "rest" compares each group with the pooled rows of all other groups. A label compares
            all other groups with the group that has this label. If a group has the name "rest",
            pass this label in a list.
        n_resamples : int, default=0
            Number of draws of the area under the null hypothesis that both curves are equal. 0
            leaves out `expected` and the p values. The smallest possible p value with 1,000 draws
            is about 0.001.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.

        Returns
        -------
        pandas.DataFrame
            A row for each group, with `auc`, `reference_auc`, and `abroca` [1]_, the exact area
            between the two curves. The area is 0 if the curves are equal. The area is at least the
            absolute difference of the AUCs, and equals this difference if the curves do not cross.
            With `n_resamples`, further columns are `expected` (the mean area under the null
            hypothesis), `pvalue`, `pvalue_adjusted` and the `adjustment`: Holm's, or Benjamini and
            Hochberg's for more than 50 groups. NaN if a class is absent.

        Raises
        ------
        ValueError
            If there is no such group. If `n_resamples` is not a whole number of 0 or more. If
            `n_resamples` is above 0, and rows have weights or belong to several test sets.

        Notes
        -----
        The area is never negative, so sampling error alone makes the area positive. Compare the
        area with `expected`. A resample draws the placement values of the positives (the share of
        negatives above the positive) from the pooled placement values of both curves [2]_. A
        comparison with the rest takes a pass over all distinct scores.

        For binned scores, each bin is a straight segment of the curves. The area then differs from
        the area of the exact scores by at most the sum of the widths of the certain intervals of
        both AUCs; see `bounds`.

        References
        ----------
        .. [1] Gardner, J., Brooks, C. and Baker, R. (2019). Evaluating the fairness of
           predictive student models through slicing analysis. LAK 9.
           https://doi.org/10.1145/3303772.3303791
        .. [2] Pepe, M. S. and Cai, T. (2004). The analysis of placement values for evaluating
           discriminatory measures. Biometrics 60(2).
           https://doi.org/10.1111/j.0006-341X.2004.00200.x

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions(
        ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"]
        ... )
        >>> report.abroca("a")
               auc  reference_auc  abroca
        group
        b      0.0            1.0     1.0
        """
        return abroca_table(
            self._estimates.pairs, self._index(), reference, n_resamples, random_state
        )

    # Intervals -------------------------------------------------------------------------

    def confidence_intervals(
        self,
        *,
        confidence_level: float = 0.95,
        method: limits.Method = "logit",
        of: intervals.Of = "groups",
        over: intervals.Over | None = None,
    ) -> pd.DataFrame:
        """Return confidence intervals of the group AUCs, or of statistics over all groups.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default="logit"
            "logit" uses DeLong's variance with limits on the logit scale. For group AUCs, and for
            the pooled AUC with fixed groups, the limit of Newcombe's method 5 [1]_ replaces the
            logit limit if Newcombe's limit is further out. Limits of averages of fixed groups
            follow from the limits of the groups. "delong" uses DeLong's variance with
            limits on the AUC scale, clipped to [0, 1]. "exact" gives limits for any distribution of
            independent rows; exact limits are wide with few rows. Clusters and out-of-fold scores
            of several models permit "logit" and "delong" only.
        of : {"groups", "statistics"}, default="groups"
            "groups" gives an interval for each group AUC; "statistics" gives intervals for the
            pooled AUC, the averages, the worst AUC and the difference.
        over : {"rows", "groups"} or None, default=None
            Source of the sampling error of the pooled AUC and the averages. "rows" means new rows
            of the same, fixed groups. "groups" means new rows of new, random groups from the
            population of the groups. None means "rows" for up to 20 groups and "groups" for more
            groups. With groups that share clusters, None means "rows". The intervals of the worst
            AUC and the difference are always for fixed groups.

        Returns
        -------
        pandas.DataFrame
            By group: `auc`, `ci_low`, `ci_high`, `method`, and `note`, which states a special case
            such as perfect separation. By statistic: `value` in place of `auc`, and the `estimand`
            in words. Limits are NaN if there is no interval; `note` gives the reason. For a summary
            by group, the table omits the pooled AUC.

        Raises
        ------
        ValueError
            If an argument is not as described.

        See Also
        --------
        GroupAUCDisplay : The AUCs and their intervals as a plot.

        Notes
        -----
        The page "Calibration of intervals and tests" has the simulated coverage. DeLong's variance
        has a downward bias with few positives, an AUC near 1 or tied scores. With 20 positives and
        2,000 negatives at AUC 0.99, limits on the logit scale alone cover the true value in 80 % of
        samples. Newcombe's method assumes a variance for each possible AUC. The further of the two
        limits has a coverage of 91.8 % or more in the simulated designs if the standard deviation
        of the positives is at most twice that of the negatives. With 8 to 20 positives and three or
        four times the standard deviation, it is 89 to 90 %, and about as low with 5 positives and
        scores of two values.

        With DeLong's variance V [2]_ of an AUC A, the limits on the logit scale are
        ``expit(logit(A) -+ z * sqrt(V) / (A (1 - A)))``, where z is the normal quantile. With
        perfect separation, the limit is ``tail^(1/k)``. Here, the tail is
        ``(1 - confidence_level) / 2``, and k is the number of rows of the smaller class.

        For an average of fixed groups, "logit" also takes the further of two limits. One is the
        logit limit with the variance ``sum(share^2 * V)``. The other one follows from the limits of
        the groups [6]_: with the lower limits l, it is the average minus
        ``sqrt(sum(share^2 * (A - l)^2))``. With clusters, all groups have the degrees of freedom of
        the average, and shared clusters add their correlations. With one group, the pooled AUC, the
        averages and the worst AUC therefore have the same limits.

        The limits of Newcombe's method 5 for m positives and n negatives are the two solutions t
        of::

            (A - t)^2 = z^2 * t (1 - t) / (m n) * (1 + N (1 - t) / (2 - t) + N t / (1 + t))
            N = (m + n) / 2 - 1

        The right side contains the variance that Hanley and McNeil [3]_ derived for exponential
        distributions, with N in place of m - 1 and n - 1. For weighted rows, m and n are effective
        sample sizes (Kish).

        For the pooled AUC, let v be the share of all negatives that a positive outranks, or the
        share of all positives that outrank a negative; ties count one half. The mean of v over the
        m positives, and over the n negatives, is the pooled AUC A. With ``over="rows"``, the groups
        are strata with fixed numbers m_g and n_g of rows, and the variance is::

            V = sum_g m_g / (m_g - 1) * sum_{positives of g} (v - mean_g)^2 / m^2
              + sum_g n_g / (n_g - 1) * sum_{negatives of g} (v - mean_g)^2 / n^2

        Here, mean_g is the mean of v over the rows of the class in group g. The term of a single
        row is ``(v - A)^2 / m^2``, or ``(v - A)^2 / n^2``. The "delong" limits are
        ``A -+ z * sqrt(V)``. With "logit", each limit is the furthest of three limits: the logit
        limit with V, the logit limit with DeLong's variance of all rows as one group, and
        Newcombe's limit for m and n.

        With ``over="groups"``, the groups are clusters [4]_. The quantile of Student's t with
        ``max(1 / sum_g s_g^2 - 1, 1)`` degrees of freedom replaces z. Here, s_g is the mean of
        ``m_g / m`` and ``n_g / n``. The variance is::

            V = sum_g (c(m_g / m) * sum_{positives of g} (v - A) / m
                       + c(n_g / n) * sum_{negatives of g} (v - A) / n)^2
            c(x_g) = 1 / sqrt(1 - 2 x_g + sum_h x_h^2)

        The factors c correct the deviations for their common mean, as Bell and McCaffrey [5]_
        correct residuals.

        For random groups an average is a weighted mean of the group AUCs. With equal weights its
        interval uses the quantiles of Student's t. With unequal weights the weighted mean and its
        variance estimate are dependent, so the quantiles come from simulated normal values with a
        fixed seed.

        For the pooled AUC, ``over="rows"`` gives an interval for the same groups, and
        ``over="groups"`` gives an interval for new groups, such as other hospitals. The interval
        over groups is wider if the scores of the groups are shifted against each other. With few,
        strongly shifted groups, its coverage is too low: 92.4 % for 5 groups and 93.2 % for 10
        groups, if the shifts have the same standard deviation as the scores.

        "exact" inverts Hoeffding's bound in its Kullback-Leibler form.

        With clusters, the variance of clustered rows replaces DeLong's variance, and Student's t
        replaces the normal distribution; see `GroupAUC`. Newcombe's variance has no form for
        clusters. Newcombe's method therefore uses the variance times the design effect of the
        group: the variance of clustered rows divided by DeLong's variance, and at least 1. The
        interval of the difference uses the correlations of groups that share clusters.

        The interval of the difference is the interval of `test_difference`. Intervals of single
        groups do not show whether two groups differ: see `test_difference`, `compare_groups` and
        `test_equal_groups`. Formulas and sources are in `skfedauc.inference`.

        For binned scores, the lower limit is the limit of the rows with the lowest AUCs that the
        bins permit. The upper limit is the limit of the rows with the highest AUCs. `note` states
        the certain interval of the value (see `bounds`). Limits of the difference use the lowest
        AUC of one group and the highest AUC of the other. Suppose that the bins do not depend on
        the rows, such as the bins of `Bins.of_probabilities`. The rows of each extreme are then
        independent rows, with a true AUC of at most (or at least) the true AUC of the exact scores.
        The coverage is therefore at least the coverage of the method for these rows. If the bins
        depend on the rows, such as quantiles or joined bins, the coverage is only approximately as
        high. The interval contains the certain interval, but not necessarily the confidence
        interval of the exact scores, whose variance may be larger.

        References
        ----------
        .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
           Mann-Whitney statistic. Part 2: asymptotic methods and evaluation. Statistics in
           Medicine 25(4). https://doi.org/10.1002/sim.2324
        .. [2] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas
           under two or more correlated receiver operating characteristic curves: a nonparametric
           approach. Biometrics 44(3). https://doi.org/10.2307/2531595
        .. [3] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
           receiver operating characteristic (ROC) curve. Radiology 143(1).
           https://doi.org/10.1148/radiology.143.1.7063747
        .. [4] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
           Biometrics 53(2). https://doi.org/10.2307/2533958
        .. [5] Bell, R. M. and McCaffrey, D. F. (2002). Bias reduction in standard errors for linear
           regression with multi-stage samples. Survey Methodology 28(2).
        .. [6] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.confidence_intervals().columns.tolist()
        ['auc', 'ci_low', 'ci_high', 'method', 'note']
        """
        confidence_level, way = (
            limits.check_confidence_level(confidence_level),
            limits.check_method(method),
        )
        _input.check_option("of", of, ("groups", "statistics"))
        if of == "statistics":
            return statistic_intervals(self._estimates, confidence_level, way, over)
        if over is not None:
            raise ValueError("over applies to statistics over all groups: pass of='statistics'.")
        table = group_intervals(self._estimates, self._index(), confidence_level, way)
        return listed(self.counts, table)

    # Are the groups equal? --------------------------------------------------------------

    def test_equal_groups(self) -> EqualGroupsTest:
        """Test that all groups have the same true AUC.

        Returns
        -------
        EqualGroupsTest
            Result with `statistic`, `pvalue`, `method`, `degrees_of_freedom`, `n_groups` and
            `n_left_out`. The test omits `n_left_out` groups with fewer than two positives or two
            negatives (with weights: an effective sample size below 1.5).

        Notes
        -----
        The statistic is the weighted variance of the group AUCs, divided by its expectation under
        the null hypothesis. The null distribution is an F distribution. Box's approximation [1]_
        gives the numerator degrees of freedom, and Satterthwaite's approximation gives the
        denominator degrees of freedom.

        Group variances are unbiased estimates. With weights, DeLong's variances replace these
        estimates, with half the degrees of freedom of their effective sample sizes. Simulations
        under the null hypothesis used 3 groups of 400 rows. The rejection rate was 2.2 to 4.8 %
        with gamma (shape 0.5 and 1) and lognormal (sigma 1, 2 and 3) weights.

        With clusters, the test uses the variances of clustered rows. The degrees of freedom of
        these variances follow from the effective numbers of clusters with positives and with
        negatives. In simulations of 20 groups of 15 to 60 clusters, a third of them positive, the
        rejection rate was 2 to 6 %.

        In simulations of two groups of 100 positives and 400 negatives with AUC .8 and .7, the
        power was 75 %. Cochran's Q with DeLong's variances had a similar power, but its error rate
        was 34 % for 100 groups of 20 positives and 80 negatives, and 4 % for this test.

        `method` names the form of the test. A special form applies to 100 or more groups with fewer
        than 10 rows of the smaller class on average. The statistic of the special form is a sum of
        one term per group, with a normal null distribution. A large p value does not show that the
        groups are equal: see the interval of the difference.

        For binned scores, the statistic uses those AUCs within their certain intervals (see
        `bounds`) that differ least. The p value is the largest of three p values. The three p
        values use the variances of the binned scores, of the rows with the lowest AUCs, and of the
        rows with the highest AUCs. The exact AUCs differ at least as much, but the variances of the
        exact scores may be larger. The p value is therefore cautious, but not certainly an upper
        bound.

        References
        ----------
        .. [1] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in
           nonparametric factorial designs. Journal of the American Statistical Association
           92(440). https://doi.org/10.1080/01621459.1997.10473671

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.test_equal_groups().pvalue > 0.05
        True
        """
        return equal_groups_test(self._estimates.variances_at_extremes)

    def test_difference(self, *, confidence_level: float = 0.95) -> DifferenceTest:
        """Test that all group AUCs are equal, by the interval of their largest difference.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the interval.

        Returns
        -------
        DifferenceTest
            Result with the `difference`, its confidence limits `ci_low` and `ci_high`, the
            `pvalue`, `n_groups` and `method`. `highest` and `lowest` are the labels of the groups
            with the highest and the lowest AUC. `clearest` is the pair of groups with the most
            significant difference. NaN with fewer than two groups that have an AUC.

        Raises
        ------
        ValueError
            If `confidence_level` is not between 0 and 1.

        Notes
        -----
        The test compares all pairs of groups simultaneously. The confidence limits of the
        difference of a pair follow from the limits of its two groups [1]_, with quantiles of the
        studentized range. For two groups, the method is the comparison of two samples. The p value
        is the smallest error rate at which the interval excludes 0. The p value equals the smallest
        `pvalue_adjusted` of `compare_groups()` if `compare_groups` can compare all groups. Above
        2,000 groups, the test compares the largest lower limit of a group with the smallest upper
        limit, with Bonferroni's correction.

        `test_equal_groups` tests this null hypothesis by the variance of all group AUCs, and has
        more power against many small differences.

        For binned scores, the lower limit of the difference of two groups uses the lowest AUC of
        one group and the highest AUC of the other. The p value follows from this limit. The p value
        is 1 if every two certain intervals overlap. The interval has the guarantees of
        `confidence_intervals`. The adjustment for all pairs is approximate, because each group has
        two AUCs in its comparisons.

        References
        ----------
        .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> test = report.test_difference()
        >>> test.ci_low, test.pvalue > 0.05
        (0.0, True)
        """
        return difference_test(self._estimates, self._index(), confidence_level)

    # Tests with a margin ------------------------------------------------------------------

    def test_margin(
        self, margin: float, *, reference: float | None = None, confidence_level: float = 0.95
    ) -> MarginTest:
        """Test that all groups differ by less than a margin, or that none is inferior.

        Without `reference`, the claim is that the true AUCs of every two groups differ by less than
        `margin` (equivalence). With `reference`, the claim is that the true AUC of every group
        exceeds ``reference - margin`` (non-inferiority).

        Parameters
        ----------
        margin : float
            Equivalence margin, between 0 and 1, or how far below the reference an AUC may be, which
            may be 0.
        reference : float, default=None
            AUC to compare the groups with, between 0 and 1, such as a required or a published AUC.
            The reference has no sampling error.
        confidence_level : float, default=0.95
            Confidence level of the one-sided limit. The error rate of the test is ``1 -
            confidence_level``.

        Returns
        -------
        MarginTest
            Result with `is_shown`, `pvalue`, `estimate` (the largest difference, or the smallest
            AUC), its one-sided confidence `limit`, and the `groups` with the limit. NaN if too few
            groups have an AUC.

        Raises
        ------
        ValueError
            If an argument is not as described.

        See Also
        --------
        agreement : Equivalence of averages with the pooled AUC.
        rows_needed : Number of rows that the test requires.

        Notes
        -----
        Both are intersection-union tests [1]_: the test of each pair of groups, two one-sided tests
        (TOST) [2]_, or of each group has the full error rate, because the claim requires all of
        them to pass. The `limit` is the limit of ``confidence_intervals(confidence_level=2 *
        confidence_level - 1, of="statistics")``, and the p value is the smallest error rate at
        which the limit supports the claim. Binned scores use the limit at their extremes.

        With many groups, the power is low. Failing to show the claim does not show the opposite,
        and the claim does not cover groups that lack a class. Non-inferiority errs more often than
        5 % if few positives have a larger standard deviation than the negatives: with 8 to 20
        positives and three or four times the standard deviation, in 9.7 to 14.8 % of runs.

        References
        ----------
        .. [1] Berger, R. L. (1982). Multiparameter hypothesis testing and acceptance sampling.
           Technometrics 24(4). https://doi.org/10.1080/00401706.1982.10487790
        .. [2] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the
           power approach for assessing the equivalence of average bioavailability. Journal of
           Pharmacokinetics and Biopharmaceutics 15(6). https://doi.org/10.1007/BF01068419

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 2000, 8000, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.test_margin(0.1).is_shown
        True
        >>> report.test_margin(0.15, reference=0.75).is_shown
        True
        """
        if reference is None:
            return equivalence_test(self._estimates, self._index(), margin, confidence_level)
        return worst_test(self._estimates, self._index(), reference, margin, confidence_level)

    def compare_groups(
        self, reference: Any = None, *, confidence_level: float = 0.95
    ) -> pd.DataFrame:
        """Compare all pairs of groups, or each group with a reference group or with the rest.

        Parameters
        ----------
        reference : None, "rest" or a group's label, default=None
            None compares all pairs of groups (up to 500 groups). "rest" compares each group with a
            weighted average of the AUCs of the other groups. A label compares all other groups with
            the group that has this label. If a group has the name "rest", pass this label in a
            list.
        confidence_level : float, default=0.95
            Confidence level of each interval, and of all simultaneous intervals together.

        Returns
        -------
        pandas.DataFrame
            A row for each comparison. The columns are `auc`, `reference_auc` and their
            `difference`, with the confidence limits `ci_low` and `ci_high`, the `statistic` and the
            `pvalue` of this comparison alone. `simultaneous_low` and `simultaneous_high` are
            limits of all comparisons together, and belong to `pvalue_adjusted`; `adjustment` names
            the method. Comparisons with a group that lacks a class are NaN, and so is "rest"
            without other groups. A group with a single row of a class has the largest possible
            variance, as in `confidence_intervals`.

        Raises
        ------
        ValueError
            If there is no such group. If `reference` is None with more than 500 groups.

        See Also
        --------
        GroupAUCDisplay : The AUCs of the groups as a plot.

        Notes
        -----
        The confidence limits of the difference of two AUCs follow from the limits of each AUC in
        `confidence_intervals` [1]_. The p value is the smallest error rate at which the interval
        excludes 0, and `statistic` is the normal quantile of the p value. Comparisons of all pairs
        of groups use Tukey's and Kramer's method with quantiles of the studentized range [2]_.
        Comparisons with a reference group or with the rest use Sidak's method [3]_, which does not
        require independent comparisons. An interval excludes 0 if and only if `pvalue` is below
        ``1 - confidence_level``, and a simultaneous interval if and only if `pvalue_adjusted` is.
        With two groups, "rest" makes one comparison, without adjustment.

        `test_difference` is a summary of all pairs: its p value is the smallest `pvalue_adjusted`,
        its lower limit the largest simultaneous limit that a pair exceeds, and its upper limit the
        largest limit `ci_high` (or ``-ci_low``), because only the pair that is furthest apart has
        to be covered.

        In the average of the other groups ("rest") a group with m positives and n negatives has the
        weight ``m n / (m + n)``. The weights are inverse-variance weights if the placement values
        of both classes have equal variances. A tiny group therefore has little weight. The weights
        depend only on the numbers of rows (with sample weights: on effective sample sizes), and
        count as constants: the variance of the average is ``sum w^2 v / (sum w)^2``. Here, ``v`` is
        the larger of the group's DeLong variance and the variance from placement values pooled over
        groups. Simulations under the null hypothesis (2,000 runs) used 10 groups of 3/50 or 20/400
        positives/negatives, AUCs of .8 to .95, tied scores and unequal standard deviations. At most
        3.1 % of runs had an adjusted p value below 5 %. With two groups of 20/400, AUC .95 and
        unequal standard deviations, 5.4 % of runs had such a p value.

        For binned scores, each test uses the possible difference nearest to 0, as in
        `test_difference`.

        References
        ----------
        .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
           measures: a general approach. Statistics in Medicine 27(10).
           https://doi.org/10.1002/sim.3095
        .. [2] Kramer, C. Y. (1956). Extension of multiple range tests to group means with unequal
           numbers of replications. Biometrics 12(3). https://doi.org/10.2307/3001469
        .. [3] Sidak, Z. (1967). Rectangular confidence regions for the means of multivariate
           normal distributions. Journal of the American Statistical Association 62(318).
           https://doi.org/10.1080/01621459.1967.10482935

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores("identical", 50, 200, random_state=0)
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> bool((report.compare_groups("rest")["pvalue_adjusted"] > 0.05).all())
        True
        """
        confidence_level = limits.check_confidence_level(confidence_level)
        return comparison_table(
            self.counts,
            self._estimates.variances_at_extremes,
            self._index(),
            reference,
            confidence_level,
        )

    # Which group is worst? ---------------------------------------------------------------

    def ranking(self, *, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return shrunken group AUCs, and the ranks of the groups with confidence sets.

        The table answers which group is worst, and has the index of `by_group`. The smallest and
        the largest observed AUC often belong to the groups with the fewest rows, because their AUCs
        have the largest sampling errors. Shrinkage moves an AUC towards the mean of the groups, and
        more so if the group has few rows.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Confidence level of the intervals and of the set of groups that may be worst, and
            simultaneous confidence level of the sets of ranks.

        Returns
        -------
        pandas.DataFrame
            A row for each group. `auc` is the observed AUC. `shrunken_auc` is the empirical Bayes
            estimate of the true AUC, with confidence limits `ci_low` and `ci_high` of the true AUC.
            `reliability` is the weight of `auc` in `shrunken_auc`; the mean of the groups has the
            remaining weight. `rank` is the rank of `auc`, and `rank_low` to `rank_high` is the
            confidence set of the rank of the true AUC. Rank 1 is the largest AUC. `may_be_worst`
            marks the confidence set of the group with the smallest true AUC.

            A group has a rank if it has at least two rows of each class (with weights: an effective
            sample size of at least 1.5). Other groups have NaN or NA; `note` gives the reason.

        Raises
        ------
        ValueError
            If `confidence_level` is not between 0 and 1, or rows belong to several test sets, as in
            repeated folds.

        See Also
        --------
        GroupAUC.compare_groups : The differences of the AUCs of all pairs of groups.
        GroupAUC.tau : The standard deviation of the true AUCs.
        skfedauc.plotting.RankingDisplay : The table as a plot.

        Notes
        -----
        *Shrunken AUCs.* True AUCs have mean mu and standard deviation `tau`, and group g has the
        sampling variance v. Morris's estimate [1]_ is ``auc - b (auc - mu)`` with ``b = (k - 3) /
        (k - 1) v / (v + tau^2)`` for k groups. The first factor corrects the bias of b due to the
        sampling error of `tau`. Sampling variances come from placement values pooled over groups,
        as in `tau`. With fewer than four ranked groups, there is no shrinkage, as `note`
        says, and the limits are those of `confidence_intervals`.

        The limits are quantiles of the posterior distribution of the true AUC [5]_. True AUCs are
        normal, and the priors of mu and of ``tau^2`` are uniform, so the interval accounts for the
        sampling errors of mu and of `tau`. `shrunken_auc` is not the posterior mean, and the
        interval need not be symmetric. If `shrunken_auc` is outside of the limits, as at a low
        confidence level, the method extends the interval to `shrunken_auc`.

        The interval is valid on average over groups. The page "Calibration of intervals and tests"
        has simulations of 2 to 500 groups of 6 to 200 positives. The mean coverage of 95 %
        intervals is 94.3 to 99.7 %, and is highest if all true AUCs are equal.

        A group without observed variation, as with perfect separation, has at least the variance
        ``A (1 - A) / k``, as `note` says. The AUC A is the AUC of k independent pairs, with half a
        concordant and half a discordant pair added. k is the number of rows of the smaller class.

        The interval is not valid for each single group: the intervals of groups far from the mean
        cover less often. In simulations with skewed or heavy-tailed true AUCs, the intervals
        contain 5 to 80 % of the true AUCs more than two `tau` from the mean. Use
        `confidence_intervals` for a group selected without knowledge of the data. Use the sets of
        ranks to find the worst group.

        *Ranks.* The comparison of all pairs of groups is that of `compare_groups`. `rank_low` is 1
        plus the number of groups with a significantly larger AUC. `rank_high` is the number of
        ranked groups minus the number of groups with a significantly smaller AUC [2]_. All sets
        contain the ranks of the true AUCs simultaneously, for any distribution of the true AUCs.
        The sets are conservative: in simulations, all sets hold in 98.2 to 100 % of samples. Above
        2,000 groups, the method compares the simultaneous intervals of the groups instead, with
        Bonferroni's correction [3]_.

        *Worst group.* `may_be_worst` is Gupta's subset selection [4]_: the set omits a group if a
        one-sided comparison shows that another group has a smaller true AUC. The adjustment is for
        the number of other groups, not for all pairs. The set is therefore at most as large as the
        set of groups whose `rank_high` is the last rank. The order of the shrunken AUCs can differ
        from `rank`. With unequal numbers of rows, the smallest shrunken AUC identifies the group
        with the smallest true AUC more often than the smallest AUC.

        For binned scores, the sets of ranks and of groups hold for the exact scores, as in
        `compare_groups`. The limits are the limits of the binned scores, extended to the limits at
        both extremes of the exact scores. `shrunken_auc` and `reliability` describe the binned
        scores, and have no certain interval.

        References
        ----------
        .. [1] Morris, C. N. (1983). Parametric empirical Bayes inference: theory and applications.
           Journal of the American Statistical Association 78(381).
           https://doi.org/10.1080/01621459.1983.10477920
        .. [2] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks
           with applications to mobility across neighbourhoods and academic achievement across
           countries. Review of Economic Studies 91(1). https://doi.org/10.1093/restud/rdad006
        .. [3] Klein, M., Wright, T. and Wieczorek, J. (2020). A joint confidence region for an
           overall ranking of populations. Journal of the Royal Statistical Society C 69(3).
           https://doi.org/10.1111/rssc.12402
        .. [4] Gupta, S. S. (1965). On some multiple decision (selection and ranking) rules.
           Technometrics 7(2), 225-245.
        .. [5] Morris, C. N. and Lysy, M. (2012). Shrinkage estimation in multilevel normal models.
           Statistical Science 27(1). https://arxiv.org/abs/1203.5610

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores(
        ...     "same_negatives", 200, 800, shifts=[-1, 0, 0, 0, 0.1], random_state=0
        ... )
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.ranking()[["rank_low", "rank_high", "may_be_worst"]]
                  rank_low  rank_high  may_be_worst
        group
        device 1         5          5          True
        device 2         1          4         False
        device 3         1          4         False
        device 4         1          4         False
        device 5         1          4         False

        Join the table to `by_group` to see the numbers of rows:

        >>> table = report.by_group.join(report.ranking().drop(columns="auc"))
        >>> table[["auc", "shrunken_auc", "n_positives"]].round(3).iloc[0].tolist()
        [0.509, 0.512, 200.0]
        """
        confidence_level = limits.check_confidence_level(confidence_level)
        if self._estimates.policy.undefined == "raise":
            # Otherwise, `note` gives the reason without a warning.
            self._estimates.policy.report_groups(self._estimates.pairs)
        return ranking_table(self._estimates, self._index(), confidence_level)

    # Standard deviation of the true AUCs -------------------------------------------------

    @functools.cached_property
    def tau(self) -> float:
        """Standard deviation of the groups' true AUCs, by restricted maximum likelihood (REML).

        For binned scores, tau describes the binned scores, and has no certain interval.

        A tiny group has little influence on the estimate, because weights increase with the numbers
        of rows. The estimate is at
        most one half, the largest possible standard deviation of AUCs. The estimate omits groups
        with fewer than two rows of a class; NaN with fewer than two remaining groups.

        Scorers (`neg_tau`) average the unbiased estimate of ``tau**2`` instead: the variance of the
        group AUCs minus the mean of their estimated variances. The unbiased estimate may be
        negative.
        """
        return self.statistic("tau")

    # Equivalence of averages and the pooled AUC --------------------------------------------

    def agreement(self, delta: float = 0.005) -> Agreement:
        """Test which averages of group AUCs are equivalent to the pooled AUC.

        Parameters
        ----------
        delta : float, default=0.005
            Equivalence margin: the largest difference of two AUCs that count as equivalent.

        Returns
        -------
        Agreement
            Result with a `verdict` in words, and tables of averages and of score distributions.

        Raises
        ------
        ValueError
            If `delta` is not between 0 and 1, or if a class has no rows.

        See Also
        --------
        GroupScoreDisplay : The scores of the groups as a plot.

        Notes
        -----
        The method is an equivalence test (TOST). An average is equivalent to the pooled AUC if the
        90 % interval of their difference is within `delta` of 0. Two one-sided tests then reject at
        5 %. An average is not equivalent if the 99 % interval lies entirely beyond `delta`. The
        stricter level accounts for the tests of five averages. Failing to detect a difference does
        not show that there is no difference. The Anderson-Darling test [1]_ shows which score
        distributions differ.

        The intervals hold for new rows of the same groups if the group and the class of each row
        are random. For fixed numbers of rows by group and class, the intervals are conservative.

        The interval is a normal approximation, and the error rate may exceed 5 %. Simulations used
        two groups and an AUC of .95, with 5 to 50 positives and 200 to 400 negatives per group. The
        result for an average with a true difference of `delta` was "yes" in up to 8.8 % of
        simulations.

        For binned scores, the intervals cover each difference within the certain intervals of the
        pooled AUC and of the average, and `bound` is also wider. The distances and the
        Anderson-Darling test compare the distributions over bins. Equal distributions of scores
        have equal distributions over bins.

        References
        ----------
        .. [1] Scholz, F. W. and Stephens, M. A. (1987). K-sample Anderson-Darling tests. Journal
           of the American Statistical Association 82(399).
           https://doi.org/10.1080/01621459.1987.10478517

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> from skfedauc.datasets import make_group_scores
        >>> devices = make_group_scores(
        ...     "same_negatives", [8000, 4000, 2000, 1000], 10_000, random_state=0
        ... )
        >>> report = GroupAUC.from_predictions(
        ...     devices.y_true, devices.y_score, groups=devices.groups
        ... )
        >>> report.agreement(delta=0.01).case
        'same_negatives'
        """
        return agreement_with_pooled(self._estimates, delta)

    # Display ----------------------------------------------------------------------

    def _index(self, name: str | None = None) -> pd.Index:
        """Index of group labels, named `name` or by the columns that the labels come from."""
        import pandas as pd

        labels = self.counts.labels
        if labels is None:
            return pd.Index(["all"] * self.n_groups, name=name or "group")
        if labels.size and isinstance(labels[0], tuple):
            names = self._group_names
            named = {len(label) for label in labels} == {len(names)}
            return pd.MultiIndex.from_tuples(labels, names=names if named else None)
        own_name = self._group_names[0] if self._group_names else "group"
        index: pd.Index = pd.Index(labels, name=name or own_name)
        return index

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = f"; use statistic({name!r})" if name in STATISTICS else ""
            raise AttributeError(f"GroupAUC has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        return first_lines_of(self).text()

    def _repr_html_(self) -> str:
        return first_lines_of(self).html()

    def _repr_markdown_(self) -> str:
        return first_lines_of(self).markdown()


# For the other modules of the package, which compute from the same estimates ----------------------


def estimates_of(report: GroupAUC) -> GroupEstimates:
    """Return the pairs, variances and group AUCs that determine the statistics of a report."""
    return report._estimates  # noqa: SLF001


def index_of(report: GroupAUC) -> pd.Index:
    """Return the labels of the groups as an index, in the order of ``counts.groups``."""
    return report._index()  # noqa: SLF001


def group_names_of(report: GroupAUC) -> tuple[str, ...]:
    """Return the names of the group columns in tables."""
    return report._group_names  # noqa: SLF001


def null_difference_of(report: GroupAUC) -> float:
    """Return the expected difference from sampling error alone, if all true AUCs are equal."""
    return null_difference(estimates_of(report).variances)


def spread_of(report: GroupAUC, *, confidence_level: float = 0.95) -> pd.Series:
    """Return tau with its limits, the mean AUC, the share of variance `i2`, and Cochran's Q."""
    import pandas as pd

    estimates = estimates_of(report)
    found = heterogeneity.heterogeneity(
        estimates.variances, limits.check_confidence_level(confidence_level)
    )
    if np.isnan(found.tau):
        estimates.policy.nan(NotDefined(NO_SPREAD), estimates.pairs)
    return pd.Series(found._asdict())


def first_lines_of(report: GroupAUC) -> FirstLines:
    """Return what a report shows first."""
    left_out = report._left_out.in_words()  # noqa: SLF001
    return first_lines(estimates_of(report), index_of(report), left_out)
