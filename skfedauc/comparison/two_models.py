"""Comparison of two models on the same rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _input
from skfedauc.comparison.rows import ModelRows
from skfedauc.counts import left_out
from skfedauc.inference import intervals
from skfedauc.inference.group_comparisons import adjusted
from skfedauc.inference.paired import (
    ROUNDING,
    PairedDifferences,
    PairedRows,
    paired_differences,
    placement_values,
)
from skfedauc.inference.paired_measures import (
    has_valid_averages,
    is_comparable,
    measure_values,
    too_few_within,
    variance_of,
)
from skfedauc.inference.quantiles import OverGroups, StudentT, variance_over_groups
from skfedauc.inference.variances import Floats, satterthwaite
from skfedauc.measures import Measure, Sensitivity, Specificity, check_measure
from skfedauc.report import AVERAGES, GroupAUC, estimates_of, index_of, shares
from skfedauc.report.measured import Measured

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class PairedComparison:
    """Comparison of two models on the same rows, returned by `compare_roc_auc`.

    Attributes
    ----------
    statistic, pvalue : float
        Test statistic and two-sided p value of the difference of the pooled AUCs.
    table : pandas.DataFrame
        A row for the pooled AUC and, with groups, for each average. The columns are `auc_a`,
        `auc_b` (with a measure, `value_a` and `value_b`), their `difference` (a minus b), its
        confidence limits `ci_low` and `ci_high`, `statistic`, `pvalue`, and the `estimand` in
        words. Limits and tests are NaN if the difference has no standard error above 0, and for
        averages of the average precision.
    by_group : pandas.DataFrame or None
        A row for each group, with the columns of `table` except `estimand`. The column
        `pvalue_adjusted` is the p value adjusted for the number of groups. The column `adjustment`
        names the method: Holm's, or Benjamini and Hochberg's for more than 50 groups. Confidence
        limits have no adjustment. Limits and tests are NaN for groups with fewer than two rows of a
        class. For partial AUCs, limits and tests are also NaN for groups with few rows within the
        rates.
    n_missing : int
        Number of rows without a group label that ``missing="drop"`` left out. The tables and the
        pooled AUCs omit these rows.
    measure : Measure or None
        Measure that the tables compare; None for the AUC.
    """

    statistic: float
    pvalue: float
    table: pd.DataFrame
    by_group: pd.DataFrame | None
    n_missing: int = 0
    measure: Measure | None = None

    def __repr__(self) -> str:
        pooled = self.table.loc["pooled"]
        name = "AUC" if self.measure is None else self.measure.name
        return (
            f"PairedComparison(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}): pooled "
            f"{name} {pooled.iloc[0]:.4f} and {pooled.iloc[1]:.4f}, difference "
            f"{pooled['difference']:.4f} [{pooled['ci_low']:.4f}, {pooled['ci_high']:.4f}], over "
            f"{pooled['estimand']}{left_out(self.n_missing)}"
        )


def compare_roc_auc(
    y_true: Any,
    score_a: Any,
    score_b: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    over: intervals.Over | None = None,
    confidence_level: float = 0.95,
    missing: _input.Missing = "raise",
    clusters: Any = None,
    measure: Measure | None = None,
) -> PairedComparison:
    """Compare the AUCs, or other measures, of two models on the same rows.

    Unlike the other functions, this function needs the rows, because it pairs the scores by row.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes.
    score_a, score_b : array-like of shape (n_rows,)
        Finite scores of the two models; higher scores mean the positive class.
    groups : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
        Group label of each row.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    over : {"rows", "groups"} or None, default=None
        Source of the sampling error: new rows of the same, fixed groups ("rows"), or new rows of
        new, random groups ("groups"). None means "rows" for up to 20 groups and "groups" for more
        groups. With groups that share clusters, None means "rows". With "groups", the pooled
        comparison uses the variance for clustered data [2]_ with the groups as clusters, corrected
        for unequal sizes.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
        Cluster of each row, such as a patient with several rows; see `GroupAUC.from_predictions`.
        Rows of the same cluster may be dependent. None means that all rows are independent.
    measure : Measure, default=None
        Measure in place of the AUC, such as ``PartialAUC(max_fpr=0.1)``, or ``AveragePrecision()``
        of `skfedauc.measures`.

    Returns
    -------
    PairedComparison
        `statistic` and `pvalue` of the pooled AUCs, two tables, and the number of rows left out.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. If the measure is a sensitivity or a specificity,
        whose differences have no reliable test. If rows have clusters,
        and the measure is a partial AUC or the average precision.

    See Also
    --------
    compare_candidates : Compare the candidates of a search with the best one.
    auc_critical_difference : The critical difference of two equally good models.
    auc_difference_pvalue : The p value of the difference of two published AUCs, without rows.
    compare_models : Compare several models.

    Notes
    -----
    The variance of a difference follows from each row's difference of placement values [1]_.

    With ``over="rows"``, the pooled comparison holds for two designs: random numbers of positives
    and negatives of each group, as in a random sample of rows, and fixed numbers. The first design
    has DeLong's variance of all rows, and the second design has the groups as strata. The interval
    contains the intervals of both designs, and `pvalue` is the larger p value. `statistic` belongs
    to the larger p value. If models shift groups against each other, the variance of random numbers
    is much larger, and the test is conservative for fixed numbers. Averages of group AUCs have the
    observed shares of the groups.

    With ``over="groups"``, the test compares the pooled difference with Student's t distribution.
    Few groups or unequal sizes reduce its degrees of freedom. For an average, the null distribution
    is simulated: the distribution of a weighted mean divided by the estimated standard error of the
    mean.

    The test compares the statistic with Student's t distribution. The degrees of freedom follow
    from the variances of both classes and their numbers of rows, or effective sample sizes of
    weighted rows (Satterthwaite [3]_). With a small class, the degrees of freedom are close to its
    number of rows. Many other programs, such as pROC, use the normal distribution, which rejects
    too often with few positives. An example has 10 positives, 100 negatives, AUC .7 and correlation
    .5 of the scores. At 5 %, the error rate in 4,000 runs is 7.2 % with the normal distribution and
    4.8 % with Student's t distribution. The comparison is NaN if the effective sample size of a
    class is below 1.5, because nearly all the weight is then in one row.

    With `clusters`, each cluster has the sum of its rows' differences of placement values. The
    variance is Obuchowski's [2]_, corrected for clusters of unequal size (see
    `skfedauc.inference.clusters`). The degrees of freedom are at most the effective number of
    clusters minus one. Averages include the covariances of groups that share clusters.

    Identical scores have a p value of 1. The test is conservative if the models agree on nearly all
    rows.

    With a partial AUC or the average precision, differences of influence values replace differences
    of placement values, see `GroupAUC.measured`. The influence values of a partial AUC include the
    sampling error of the threshold [4]_. The degrees of freedom count the rows within the rates
    only. Limits and tests are NaN if the probability that no row is within the rates exceeds 2.5 %:
    with ``max_fpr=0.1``, for fewer than 36 negatives. The share of positives of the average
    precision is fixed. Tests of averages of the average precision are NaN: small groups have a
    bias, which does not cancel if the ROC curves of the models differ in shape. In simulations with
    2,000 runs, the error rates of partial AUCs were 0.0 to 7.0 %, and those of the pooled average
    precision 5.0 to 6.8 %.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas
       under two or more correlated receiver operating characteristic curves: a
       nonparametric approach. Biometrics 44(3). https://doi.org/10.2307/2531595
    .. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2). https://doi.org/10.2307/2533958
    .. [3] Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance
       components. Biometrics Bulletin 2(6). https://doi.org/10.2307/3002019
    .. [4] He, Y. and Escobar, M. (2008). Nonparametric statistical inference method for partial
       areas under receiver operating characteristic curves, with application to genomic studies.
       Statistics in Medicine 27(25). https://doi.org/10.1002/sim.3335

    Examples
    --------
    >>> from skfedauc import compare_roc_auc
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> compare_roc_auc(
    ...     y, [0.1, 0.2, 0.3, 0.6, 0.4, 0.5, 0.7, 0.8], [0.3, 0.1, 0.5, 0.6, 0.2, 0.4, 0.7, 0.8]
    ... )
    PairedComparison(statistic=1.108, pvalue=0.3104): pooled AUC 0.8750 and 0.6875, \
difference 0.1875 [-0.2266, 0.6016], over these groups, new rows
    """
    confidence_level = intervals.check_confidence_level(confidence_level)
    scores = {"score_a": score_a, "score_b": score_b}
    rows = ModelRows.of(y_true, scores, groups, sample_weight, pos_label, missing, clusters)
    reports = [rows.report(0), rows.report(1)]
    report = reports[0]
    n_groups, paired_rows = report.n_groups, rows.paired(report)
    if measure is not None:
        _check_comparable(check_measure(measure), paired_rows)
    found, bound = _differences(paired_rows, reports, measure)
    new_groups = (
        intervals.is_over_groups(over, n_groups - estimates_of(report).pairs.n_undefined)
        and groups is not None
    )
    if new_groups and found.clusters is not None:
        if over is not None:
            estimates_of(report).variances.check_independent_groups(
                "over='groups'", "Pass over='rows'."
            )
        new_groups = not found.clusters.units.shares_clusters
    degrees_of_freedom = found.degrees_of_freedom
    if new_groups:
        null = StudentT(estimates_of(report).variances.cluster_freedom)
        pooled = _paired(found.pooled, found.pooled_clustered, confidence_level, null)
    else:
        designs = zip(found.pooled_fixed.tolist(), found.pooled_freedom.tolist(), strict=True)
        pooled = _hull(
            *(
                _paired(found.pooled, variance, confidence_level, StudentT(freedom))
                for variance, freedom in designs
            )
        )
    lines = {"pooled": pooled}
    if groups is None:
        return _comparison(lines, new_groups, None, rows.n_missing, measure)
    of_group = np.where(np.isnan(found.variance), bound, found.variance)
    lines |= _averages(found, of_group, report, new_groups, confidence_level, measure)
    by_group = [
        _paired(
            found.auc[:, g], found.variance[g], confidence_level, StudentT(degrees_of_freedom[g])
        )
        for g in range(n_groups)
    ]
    groups_table = _paired_table(by_group, index_of(report), measure)
    pvalue_adjusted, adjustment = adjusted(groups_table["pvalue"].to_numpy())
    groups_table = groups_table.assign(pvalue_adjusted=pvalue_adjusted, adjustment=adjustment)
    return _comparison(lines, new_groups, groups_table, rows.n_missing, measure)


def _averages(
    found: PairedDifferences,
    of_group: Floats,
    report: GroupAUC,
    new_groups: bool,
    confidence_level: float,
    measure: Measure | None,
) -> dict[str, list[float]]:
    """Return a table row for each average; `of_group` are variances of groups, or their bounds."""
    lines: dict[str, list[float]] = {}
    difference, degrees_of_freedom = found.auc[0] - found.auc[1], found.degrees_of_freedom
    null: StudentT | OverGroups
    for name in AVERAGES:
        share = shares(estimates_of(report), name)
        if share is None:
            continue
        used = share > 0
        if new_groups:
            null, variance = OverGroups(share[used]), float("nan")
            if used.sum() > 1:
                variance = variance_over_groups(difference[used], share[used])
        elif found.clusters is None:
            parts = share[used] ** 2 * of_group[used]
            variance = float(parts.sum())
            null = StudentT(float(satterthwaite(parts, degrees_of_freedom[used], np.inf)))
        else:
            variance, freedom = found.clusters.average(share, of_group)
            null = StudentT(freedom)
        if not has_valid_averages(measure):
            variance = float("nan")
        lines[name] = _paired(found.auc[:, used] @ share[used], variance, confidence_level, null)
    return lines


def _check_comparable(measure: Measure, rows: PairedRows) -> None:
    """Raise an error for a measure or for clusters without a test."""
    if not is_comparable(measure):
        rate = 0.2
        if isinstance(measure, Sensitivity):
            rate = 1.0 - measure.specificity
        instead = f"PartialAUC(max_fpr={rate:.3g})"
        if isinstance(measure, Specificity):
            instead = f"PartialAUC(min_tpr={measure.sensitivity:.3g})"
        raise ValueError(
            "measure must be a partial AUC or AveragePrecision(), because there is no "
            f"reliable test of the difference of two models for {measure!r}. Pass "
            f"measure={instead}, or measure=None to compare AUCs."
        )
    if rows.clusters is not None and not measure.is_auc:
        raise ValueError(
            f"the comparison by {measure!r} is for independent rows; got clusters. Leave out "
            "measure to compare AUCs of clustered rows."
        )


def _differences(
    rows: PairedRows, reports: Sequence[GroupAUC], measure: Measure | None
) -> tuple[PairedDifferences, Floats]:
    """Return the differences of two models, and upper bounds of their variances by group.

    The variance of a difference is at most twice the sum of both variances.
    """
    if measure is None or measure.is_auc:
        bounds = [estimates_of(report).variances.bounded for report in reports]
        return paired_differences(rows, placement_values(rows)), 2.0 * (bounds[0] + bounds[1])
    models = [Measured(estimates_of(report).pairs, measure) for report in reports]
    curves, pooled = [m.curves for m in models], [m.pooled_curve for m in models]
    found = paired_differences(rows, measure_values(measure, rows, curves, pooled))
    bounds = [variance_of(measure, model.curves, model.index) for model in models]
    few, is_few = too_few_within(measure, curves[0]), too_few_within(measure, pooled[0])
    found = found._replace(
        variance=np.where(few, np.nan, found.variance),
        pooled_fixed=np.where(is_few, np.nan, found.pooled_fixed),
        pooled_clustered=float("nan") if is_few[0] else found.pooled_clustered,
    )
    return found, 2.0 * (bounds[0] + bounds[1])


def _paired(
    auc: Floats, variance: float, confidence_level: float, null: StudentT | OverGroups
) -> list[float]:
    """Return a table row: both AUCs, their difference, its limits, statistic and p value."""
    a, b = auc.tolist()
    difference, error = a - b, np.sqrt(0.0 if variance < ROUNDING**2 else variance)
    if a == b and error == 0:
        statistic, pvalue = 0.0, 1.0
    elif not error > 0:
        # A standard error of 0 gives no statistic.
        return [a, b, difference, np.nan, np.nan, np.nan, np.nan]
    else:
        statistic = difference / error
        pvalue = 2.0 * null.tail(abs(statistic))
    reach = null.quantile((1.0 - confidence_level) / 2.0) * error
    return [a, b, difference, difference - reach, difference + reach, statistic, pvalue]


def _hull(one: list[float], other: list[float]) -> list[float]:
    """Return a table row with limits that contain those of both rows, and the larger p value."""
    limits = [float(np.fmin(one[3], other[3])), float(np.fmax(one[4], other[4]))]
    test = other[5:] if np.isnan(one[6]) or other[6] > one[6] else one[5:]
    return [*one[:3], *limits, *test]


def _paired_table(lines: list[list[float]], index: Any, measure: Measure | None) -> pd.DataFrame:
    """Return the table with these rows, on the scale of the measure instead of 0 to 1."""
    import pandas as pd

    values, of_models = np.array(lines, np.float64), ["auc_a", "auc_b"]
    if measure is not None:
        low, high = measure.scale
        values[:, :2] = high - (high - low) * (1.0 - values[:, :2])
        # The difference and its limits
        values[:, 2:5] *= high - low
        of_models = ["value_a", "value_b"]
    columns = [*of_models, "difference", "ci_low", "ci_high", "statistic", "pvalue"]
    return pd.DataFrame(values, columns=columns, index=index)


def _comparison(
    lines: dict[str, list[float]],
    new_groups: bool,
    by_group: pd.DataFrame | None,
    n_missing: int,
    measure: Measure | None,
) -> PairedComparison:
    estimand = intervals.NEW_GROUPS if new_groups else intervals.THESE_GROUPS
    *_, statistic, pvalue = lines["pooled"]
    table = _paired_table(list(lines.values()), list(lines), measure).assign(estimand=estimand)
    return PairedComparison(statistic, pvalue, table, by_group, n_missing, measure)
