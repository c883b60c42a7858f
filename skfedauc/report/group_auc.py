"""`GroupAUC`: report on the AUCs of a `ScoreCounts`, or of the scores of an estimator."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input, _labels, _rows, _sklearn
from skfedauc._sklearn import ModelScores
from skfedauc.cluster_counts import ClusterCounts, position_of_clusters
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.differences import null_difference
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import statistics
from skfedauc.report.estimates import GroupEstimates
from skfedauc.report.group_comparisons import GroupComparisons
from skfedauc.report.groups import (
    LeftOut,
    Undefined,
    UndefinedPolicy,
    check_undefined,
    labels_of_rows,
    large_groups,
    order_of,
)
from skfedauc.report.intervals import GroupIntervals
from skfedauc.report.statistics import STATISTICS, Decomposition, StatisticName
from skfedauc.report.text import FirstLines, first_lines


class AnyRows(TypedDict, total=False):
    """Options that all constructors from rows pass on."""

    sample_weight: Any
    clusters: Any
    missing: _labels.Missing
    min_per_class: int


class RowOptions(AnyRows, total=False):
    """Options of `GroupAUC.from_predictions` that other constructors pass on."""

    pos_label: Any
    n_jobs: int | None
    measure: Measure | None
    undefined: Undefined


class GroupAUC(GroupIntervals, GroupComparisons):
    """Report on AUCs over groups, from score counts.

    Parameters
    ----------
    counts : ScoreCounts or GroupPairs
        Score counts by group, such as the summed counts of many devices.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        Groups that lack a class, and so an AUC, in averages and gaps. "skip" leaves them out with
        one `UndefinedMetricWarning`, "ignore" without a warning, and "raise" raises a ValueError. A
        number replaces their AUC.
    group_names : str or list of str, default=None
        Group column names in tables. None means the `group_names` of the counts.
    clusters : str, default=None
        Name of the group column that holds clusters, such as patients with several rows each; the
        other columns are the groups. None means that all rows are independent.
    min_per_class : int, default=1
        Groups with fewer positives or negatives are left out, with all their rows; the repr names
        them. `undefined` applies to the rest.
    measure : Measure, default=None
        Measure instead of the AUC, such as ``PartialAUC(max_fpr=0.1)`` of `skfedauc.measures`. It
        has `by_group`, `statistics`, `bounds`, `confidence_intervals` and `test_difference`; other
        methods are for AUCs and raise a ValueError.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. With ``undefined="raise"``, also on access to a result
        that is undefined, or to an average or a gap if a group lacks a class.

    See Also
    --------
    group_roc_auc_score : Compute one statistic.
    group_auc_scoring : Scorers for the statistics.
    MulticlassGroupAUC : Report for several classes.
    ScoreCounts.regroup : Combine groups, such as small ones, before the report.
    FairnessAudit : Report on sensitive columns, with decision rates.

    Notes
    -----
    The average by positives is the covariate-adjusted AUC [1]_. Variances are DeLong's [2]_, with
    clusters Obuchowski's [3]_ with Bell and McCaffrey's correction [4]_; limits of averages and
    differences follow from those of the groups [5]_. For binned scores, rows in the same bin are
    tied, and limits and p values are the most cautious ones that the bins permit. Clusters with the
    same label are the same cluster in all groups and at all sites: pass site and patient together
    if sites number their patients from 1. `test_equal_groups`, `tau`, `ranking`,
    ``compare_groups("rest")`` and ``over="groups"`` need groups that share no clusters; `agreement`
    and ``method="exact"`` need independent rows.

    References
    ----------
    .. [1] Janes and Pepe (2009). Biometrika 96(2). https://doi.org/10.1093/biomet/asp002
    .. [2] DeLong, DeLong and Clarke-Pearson (1988). Biometrics 44(3).
       https://doi.org/10.2307/2531595
    .. [3] Obuchowski (1997). Biometrics 53(2). https://doi.org/10.2307/2533958
    .. [4] Bell and McCaffrey (2002). Survey Methodology 28(2), 169-181.
    .. [5] Zou and Donner (2008). Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> from skfedauc import GroupAUC
    >>> y, score = [0, 1, 0, 1, 1], [0.2, 0.6, 0.5, 0.4, 0.9]
    >>> report = GroupAUC.from_predictions(y, score, groups=["a", "a", "b", "b", "b"])
    >>> report.pooled, report.average("macro"), report.difference
    (0.8333333333333334, 0.75, 0.5)
    >>> report.average({"a": 3, "b": 1})
    0.875
    >>> report.decomposition()
    Decomposition(within=0.6666666666666666, cross=1.0, share_within=0.5)
    >>> report.by_group
           auc  n_positives  n_negatives
    group
    a      1.0            1            1
    b      0.5            2            1
    >>> report.statistics()[["samples", "worst", "ratio"]].to_dict()
    {'samples': 0.7, 'worst': 0.5, 'ratio': 0.5}
    """

    def __init__(
        self,
        counts: ScoreCounts | GroupPairs,
        *,
        undefined: Undefined | UndefinedPolicy = "skip",
        group_names: str | Sequence[str] | None = None,
        clusters: str | None = None,
        min_per_class: int = 1,
        measure: Measure | None = None,
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
        names = _labels.check_group_names(given, view_of(counts).labels)
        if clusters is not None:
            pairs.counts_for("clusters=")
            if pairs.clusters is not None or pairs.rows_repeat:
                raise ValueError("clusters= needs a ScoreCounts; got the pairs of a report.")
            position = position_of_clusters(clusters, names)
            counts, of_clusters = ClusterCounts.of_counts(counts, position)
            pairs = GroupPairs(counts, clusters=of_clusters)
            names = names[:position] + names[position + 1 :]
        self._left_out = LeftOut(1)
        least = _input.check_whole_number(min_per_class, "min_per_class", 1)
        if least > 1:
            pairs, self._left_out = large_groups(pairs, least)
        if not isinstance(undefined, UndefinedPolicy):
            undefined = UndefinedPolicy(check_undefined(undefined, measure))
        self._estimates = GroupEstimates(pairs, undefined, check_measure(measure), names)

    @property
    def counts(self) -> ScoreCounts:
        """The counts by group behind the report.

        ``GroupAUC(report.counts)`` has no clusters: it assumes independent rows.
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
        clusters: Any = None,
        n_jobs: int | None = None,
        measure: Measure | None = None,
        undefined: Undefined = "skip",
        missing: _labels.Missing = "raise",
        min_per_class: int = 1,
    ) -> GroupAUC:
        """Make a report from labels, scores and groups.

        Parameters
        ----------
        y_true : array-like, shape (n_rows,)
            Labels with two classes.
        y_score : array-like, shape (n_rows,)
            Finite scores; higher scores mean the positive class.
        groups : array-like, shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like, shape (n_rows,), default=None
            Weights, 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        clusters : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
            Cluster label of each row, such as the patient, which the report does not store.
        n_jobs : int, default=None
            Number of threads; -1 means all processors.
        measure : Measure, default=None
            As in `GroupAUC`.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            As in `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        min_per_class : int, default=1
            As in `GroupAUC`.

        Returns
        -------
        GroupAUC
        """
        undefined, missing = check_undefined(undefined, measure), _labels.check_missing(missing)
        _labels.check_groups_given(groups)
        of_rows = y_true, y_score, groups, sample_weight, pos_label
        rows = _rows.check_rows(*of_rows, missing=missing, clusters=clusters)
        pairs = GroupPairs.of_rows(rows, n_jobs)
        return cls(pairs, undefined=undefined, min_per_class=min_per_class, measure=measure)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        response_method: str | tuple[str, ...] | None = None,
        **options: Unpack[RowOptions],
    ) -> GroupAUC:
        """Make a report from a fitted estimator and data.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like, shape (n_rows, n_features)
            The estimator's input.
        y : array-like, shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like, shape (n_rows,) or (n_rows, n_columns)
            Columns of X by name, or the group labels themselves. If X has an index, its
            labels align a pandas Series with X.
        response_method : str, tuple of str or None, default=None
            The estimator's methods that return scores, preferred first. None means
            "decision_function", else "predict_proba", as in scikit-learn's "roc_auc"; without both,
            "predict", with a warning that the scores of a classifier are its decisions.
        **options : dict
            Options of `from_predictions`, such as ``missing``. Here, ``clusters`` may also be
            columns of X by name, and no ``pos_label`` means ``estimator.classes_[1]``.

        Returns
        -------
        GroupAUC

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
        _input.check_keywords(options, RowOptions.__annotations__, "GroupAUC.from_estimator")
        given: dict[str, Any] = dict(options)
        undefined = check_undefined(given.pop("undefined", "skip"), given.get("measure"))
        missing = _labels.check_missing(given.pop("missing", "raise"))
        weights, clusters = given.pop("sample_weight", None), given.pop("clusters", None)
        pos_label, n_jobs = given.pop("pos_label", None), given.pop("n_jobs", None)
        labels, clusters = labels_of_rows(groups, clusters, X, y, weights)
        y = _input.column_of(y, "y")
        model = _sklearn.scores_of(estimator, X, response_method, pos_label, y=y)
        of_rows = y, model.scores, labels, weights, model.positive
        rows = _rows.check_rows(*of_rows, missing=missing, warn_labels=False, clusters=clusters)
        return cls(GroupPairs.of_rows(rows, n_jobs), undefined=undefined, **given)

    @functools.cached_property
    def pooled(self) -> float:
        """AUC of all rows together."""
        return self.statistic("pooled")

    def average(self, weights: str | Mapping[Any, float]) -> float:
        """Return a weighted average of group AUCs.

        Parameters
        ----------
        weights : {"macro", "samples", "positives", "negatives", "within"} or mapping
            "macro" means equal weights. "samples", "positives" and "negatives" mean the weight of
            the group's rows, positives or negatives, and "within" the product of the last two. Or
            pass a mapping with a weight for each group label.

        Returns
        -------
        float
            NaN if no group has a defined AUC.
        """
        return self._estimates.value_of(lambda of: statistics.average(of, weights))

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
        """Group count; 1 for rows without groups."""
        return len(self.counts)

    def statistic(self, name: StatisticName) -> float:
        """Return a statistic by name.

        Parameters
        ----------
        name : str
            Statistic name; see `group_roc_auc_score`.

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
        """
        known = statistics.check_statistic(name, measure=self._estimates.measure, argument="name")
        return self._estimates.value_of(STATISTICS[known].compute)

    def statistics(self) -> pd.Series:
        """Return all named statistics.

        Returns
        -------
        pandas.Series
            Statistics by name. It omits `cross_difference` with more than 500 groups, what a
            summary by group does not determine, and what measures other than the AUC do not have.
        """
        self._estimates.report_groups()
        return pd.Series(statistics.all_statistics(self._estimates), dtype=np.float64)

    @property
    def by_group(self) -> pd.DataFrame:
        """AUC and class counts by group.

        A row for each group, with the columns `auc` (or the measure name; NaN if undefined),
        `n_positives` and `n_negatives`. Groups have the order of their labels; ordered categories
        of pandas and an Enum of polars keep theirs. The index is a MultiIndex if labels are tuples.
        """
        counts, values = self.counts, {self._estimates.measure.name: self._estimates.by_group}
        sizes = {"n_positives": counts.n_positives, "n_negatives": counts.n_negatives}
        return self._estimates.table(values | sizes)

    def decomposition(self) -> Decomposition:
        """Split the pooled AUC into pairs within groups and pairs across groups.

        Returns
        -------
        Decomposition
            Named tuple of `within`, `cross` and `share_within`; a part without pairs is NaN.
        """
        estimates = self._estimates.of_auc("decomposition", needs_scores=True)
        return statistics.decomposition(estimates.pairs)

    @property
    def cross_matrix(self) -> pd.DataFrame:
        """AUC of each group's positives (rows) against each group's negatives (columns).

        The diagonal holds the group AUCs. Access raises a ValueError if the matrix does not fit in
        memory.
        """
        estimates = self._estimates.of_auc("cross_matrix", needs_scores=True)
        order, positives, negatives = order_of(self.counts), estimates.labels, estimates.labels
        if positives.nlevels == 1:
            positives, negatives = positives.rename("positives"), positives.rename("negatives")
        table = pd.DataFrame(estimates.pairs.cross_auc.copy(), positives, negatives)
        return table.take(order).take(order, axis=1)

    @property
    def bias_by_group(self) -> pd.DataFrame:
        """Bias AUCs and average equality gaps by group [1]_ [2]_.

        They compare a group with its background, the rows in all other groups. NaN if a class is
        absent. Columns besides `auc`:

        * `bpsn_auc`: AUC of the background's positives against the group's negatives, low if many
          of these would be false positives;
        * `bnsp_auc`: AUC of the group's positives against the background's negatives, low if many
          of these positives would be false negatives;
        * `xauc_disparity`: `bnsp_auc` minus `bpsn_auc`;
        * `positive_aeg`, `negative_aeg`: average equality gaps, the probability that a row of the
          group scores above a background row of the same class, minus one half.

        References
        ----------
        .. [1] Borkan et al. (2019). Companion of The Web Conference.
           https://doi.org/10.1145/3308560.3317593
        .. [2] Kallus and Zhou (2019). The fairness of risk scores beyond classification. NeurIPS.

        Examples
        --------
        >>> from skfedauc import GroupAUC
        >>> report = GroupAUC.from_predictions([0, 1, 0, 1], [6, 8, 1, 4], groups=list("aabb"))
        >>> report.bias_by_group[["auc", "bpsn_auc", "bnsp_auc", "xauc_disparity"]]
               auc  bpsn_auc  bnsp_auc  xauc_disparity
        group
        a      1.0       0.0       1.0             1.0
        b      1.0       1.0       0.0            -1.0
        """
        estimates = self._estimates.of_auc("bias_by_group", needs_scores=True)
        return estimates.table(statistics.bias_aucs(estimates.pairs))

    @functools.cached_property
    def tau(self) -> float:
        """Standard deviation of the groups' true AUCs, by restricted maximum likelihood (REML).

        It is at most one half. Groups with fewer than two rows in a class are left out; NaN with
        fewer than two others. For binned scores, it describes the binned scores. Scorers
        (`neg_tau`) average the unbiased estimate of ``tau**2`` instead, which may be negative.
        """
        return self.statistic("tau")

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


def estimates_of(report: GroupAUC) -> GroupEstimates:
    """Return the pairs, variances and group AUCs that determine a report's statistics."""
    return report._estimates  # noqa: SLF001


def null_difference_of(report: GroupAUC) -> float:
    """Return the expected difference from sampling error alone, if all true AUCs are equal."""
    return null_difference(estimates_of(report).of_auc("null_difference").variances)


def first_lines_of(report: GroupAUC) -> FirstLines:
    return first_lines(estimates_of(report), report._left_out.in_words())  # noqa: SLF001


# Largest difference of AUCs without a warning: probabilities can be equal by rounding for rows with
# different decision values.
_ROUNDING = 5e-4


def responses_of(
    estimator: Any,
    X: Any,
    response_method: Any,
    pos_label: Any,
    of_rows: Mapping[str, Any],
    *,
    mend: str,
) -> tuple[ModelScores, ModelScores]:
    """Return scores for AUCs, and scores for thresholds and calibration; warn if the AUCs differ.

    Both are the same object if one order of the rows serves all purposes. `of_rows` are arguments
    of `GroupAUC.from_predictions`, and `mend` the last sentences of the warning.
    """
    y = _input.column_of(of_rows["y_true"], "y")
    scores = _sklearn.scores_of(estimator, X, response_method, pos_label, y=y)
    by_default = response_method is None and scores.method == "decision_function"
    if not by_default or not hasattr(estimator, "predict_proba"):
        return scores, scores
    probabilities = _sklearn.scores_of(estimator, X, "predict_proba", pos_label)
    aucs, others = (_aucs(model, of_rows) for model in (scores, probabilities))
    if np.allclose(aucs, others, rtol=0, atol=1e-12, equal_nan=True):
        return probabilities, probabilities
    if not np.allclose(aucs, others, rtol=0, atol=_ROUNDING, equal_nan=True):
        _input.warn(
            f"{type(estimator).__name__} orders rows differently by decision_function (pooled AUC "
            f"{aucs[0]:.4f}) and by predict_proba (pooled AUC {others[0]:.4f}). {mend}",
        )
    return scores, probabilities


def _aucs(model: ModelScores, of_rows: Mapping[str, Any]) -> NDArray[np.float64]:
    report = GroupAUC.from_predictions(
        y_score=model.scores, pos_label=model.positive, undefined="ignore", **of_rows
    )
    return np.append(report.pooled, report.by_group["auc"])
