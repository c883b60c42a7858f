"""Comparison of two or more models on the same rows."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from skfedauc import _input
from skfedauc.comparison.arguments import (
    check_comparable,
    check_options,
    checked_rows,
    models_of,
    paired_rows,
    pairs_of,
)
from skfedauc.counts import left_out
from skfedauc.inference import intervals
from skfedauc.inference.effects import Floats, Rows
from skfedauc.inference.limits import check_confidence_level
from skfedauc.inference.models import (
    Comparisons,
    RowValues,
    auc_values,
    compare_all,
    compare_average,
    compare_in_groups,
    compare_over_groups,
    joint_pooled,
    joint_within,
)
from skfedauc.inference.paired_measures import (
    bounded_variances,
    has_valid_averages,
    measure_values,
)
from skfedauc.inference.quantiles import Pairs
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC, shares
from skfedauc.report.statistics import Average

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class ModelComparison:
    """Comparison of models on the same rows, returned by `compare_models`.

    Attributes
    ----------
    estimate, ci_low, ci_high, statistic, pvalue : float
        The difference with the smallest adjusted p value, its simultaneous confidence limits, its
        test statistic and the adjusted p value. With two models, this is their only difference.
        With more, `pvalue` tests the null hypothesis that all models are equally good.
    table : pandas.DataFrame
        A row for each comparison, with the index levels `model_a` and `model_b`. The columns are
        `value_a`, `value_b`, their `difference` (b minus a), its simultaneous confidence limits
        `ci_low` and `ci_high`, `statistic`, `pvalue`, and `pvalue_adjusted` for all comparisons of
        the table. Limits and tests are NaN if the difference has no standard error above 0.
    by_model : pandas.Series
        The AUC or measure of each model.
    by_group : pandas.DataFrame or None
        A row for each group and comparison, with the columns of `table`. Here, `pvalue_adjusted`
        accounts for all comparisons in all groups by the method that `adjustment` names: Holm's,
        or Benjamini and Hochberg's for more than 50 comparisons. Confidence limits have no
        adjustment. Limits and tests are NaN for groups with fewer than two rows of a class.
    over : {"rows", "groups"}
        Source of the sampling error of `table`.
    n_missing : int
        Number of rows without a group label that ``missing="drop"`` left out.
    """

    estimate: float
    ci_low: float
    ci_high: float
    statistic: float
    pvalue: float
    table: pd.DataFrame
    by_model: pd.Series
    by_group: pd.DataFrame | None
    over: intervals.Over = "rows"
    n_missing: int = 0

    def __repr__(self) -> str:
        what = f"{self.by_model.name} of {len(self.by_model)} models"
        ends = f", over new {self.over}{left_out(self.n_missing)})"
        if np.isnan(self.pvalue):
            return f"ModelComparison({what}: no p value{ends}"
        a, b = self.table.index[_clearest(self.table)]
        p = "p" if len(self.table) == 1 else f"smallest of {len(self.table)} adjusted p"
        return (
            f"ModelComparison({what}: {b!r} minus {a!r} {self.estimate:.4f} "
            f"[{self.ci_low:.4f}, {self.ci_high:.4f}], {p} = {self.pvalue:.4g}{ends}"
        )


def compare_models(
    y_true: Any,
    scores: Any,
    *,
    groups: Any = None,
    statistic: Literal["pooled"] | Average = "pooled",
    measure: Measure | None = None,
    over: intervals.Over = "rows",
    reference: Any = None,
    clusters: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    missing: _input.Missing = "raise",
) -> ModelComparison:
    """Compare the AUCs, or another measure, of two or more models on the same rows.

    Pass the scores of a test set, without rows of any model's training set. The rows are needed,
    because scores are paired by row.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes.
    scores : DataFrame, mapping of names to array-likes, or array of shape (n_rows, n_models)
        Finite scores of at least two models; higher scores mean the positive class. The models of
        an array have the names 0, 1, ...
    groups : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
        Group label of each row.
    statistic : {"pooled", "macro", "samples", "positives", "negatives", "within"}, \
default="pooled"
        AUC that the table compares: pooled, or an average of the group AUCs. Choose the statistic
        before you see the results, because p values do not account for a choice of the statistic.
    measure : Measure, default=None
        Measure in place of the AUC: ``PartialAUC(max_fpr=0.1)``, or ``AveragePrecision()`` of
        `skfedauc.measures`.
    over : {"rows", "groups"}, default="rows"
        Source of the sampling error: new rows of the same groups, or new rows of new, random
        groups.
    reference : object, default=None
        Name of the model for a comparison with all other models; None compares all pairs.
    clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
        Cluster of each row, such as a patient with several rows; see `GroupAUC.from_predictions`.
        Rows of the same cluster may be dependent. None means that all rows are independent.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    confidence_level : float, default=0.95
        Simultaneous confidence level of the intervals of `table`.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.

    Returns
    -------
    ModelComparison
        The clearest difference, the tables of all comparisons and of those by group, and the AUC of
        each model.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. If the measure is a sensitivity or a specificity, whose
        differences have no reliable test, or if rows have clusters and a measure other than the
        AUC. If ``over="groups"`` and groups share clusters.

    See Also
    --------
    compare_candidates : Compare the candidates of a search by the scores of its folds.
    auc_critical_difference : The critical difference of two equally good models.
    auc_difference_pvalue : The p value of the difference of two published AUCs, without rows.
    AuditComparison : Compare the audits of two models.

    Notes
    -----
    Variances are DeLong's [1]_, from each row's difference of placement values, with Student's t
    in place of the normal distribution. They hold for these models; `compare_candidates` includes
    the variation from fitting models again.

    With groups, the comparison of pooled AUCs holds for random and for fixed numbers of positives
    and negatives of each group: intervals contain those of both designs, and p values are the
    larger ones. Averages of group AUCs have the observed shares of the groups. With
    ``over="groups"``, the groups are the clusters of the pooled comparison, and the null
    distribution of an average is simulated. `clusters` add up the placement values of their rows
    [2]_.

    Limits and adjusted p values of several comparisons come from the distribution of the largest
    standardized difference [3]_, and over new groups from Bonferroni's method. A limit excludes 0
    if and only if the adjusted p value is below ``1 - confidence_level``.

    A partial AUC has no test if, with a probability above 2.5 %, no row falls between its rates:
    with ``max_fpr=0.1``, for fewer than 36 negatives. Averages of the average precision have no
    test, because the bias in small groups does not cancel.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas
       under two or more correlated receiver operating characteristic curves: a
       nonparametric approach. Biometrics 44(3). https://doi.org/10.2307/2531595
    .. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2). https://doi.org/10.2307/2533958
    .. [3] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general
       parametric models. Biometrical Journal 50(3). https://doi.org/10.1002/bimj.200810425

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skfedauc import compare_models
    >>> X, progression = load_diabetes(as_frame=True, return_X_y=True)
    >>> found = compare_models(progression > 200, X[["bmi", "bp", "s5"]], reference="bmi")
    >>> found.table[["difference", "ci_low", "ci_high", "pvalue_adjusted"]].round(3)
                     difference  ci_low  ci_high  pvalue_adjusted
    model_a model_b
    bmi     bp           -0.067  -0.135    0.001            0.052
            s5            0.015  -0.045    0.074            0.806
    """
    import pandas as pd

    confidence_level = check_confidence_level(confidence_level)
    check_options(statistic, over, groups)
    models = models_of(scores, len(y_true) if hasattr(y_true, "__len__") else None)
    names = list(models)
    pairs = pairs_of(names, reference)
    checked = checked_rows(models, y_true, groups, sample_weight, pos_label, missing, clusters)
    group_names = _input.names_of(checked[0].labels, groups)
    is_auc = measure is None or check_measure(measure).is_auc
    if measure is not None:
        check_comparable(measure, checked[0])
    needs_all = not is_auc or (statistic != "pooled" and over == "rows")
    reports = [
        GroupAUC(GroupPairs.of_rows(rows), undefined="ignore", group_names=group_names)
        for rows in (checked if needs_all else checked[:1])
    ]
    if over == "groups":
        reports[0].variances.check_independent_groups("over='groups'", "Pass over='rows'.")
    rows = paired_rows(checked, reports[0])
    counts = [report.counts for report in reports]

    def values_of(of: Rows) -> RowValues:
        if measure is None or is_auc:
            return auc_values(of)
        of_rows = counts if of is rows else [each.without_groups() for each in counts]
        return measure_values(measure, of, of_rows)

    own = None if groups is None else values_of(rows)
    within = None if own is None else joint_within(rows, own)
    if statistic == "pooled" or own is None or within is None:
        pooled = values_of(rows.pooled())
        by_model = pooled.auc[:, 0]
        if over == "groups":
            found = compare_over_groups(rows, pooled, None, pairs, confidence_level)
        else:
            found = compare_all(joint_pooled(rows, pooled), pairs, confidence_level)
    else:
        share = shares(reports[0].estimates, statistic)
        share = np.zeros(rows.n_groups) if share is None else share
        by_model = np.where(share.any(), np.nan_to_num(own.auc) @ share, np.nan)
        if over == "groups":
            found = compare_over_groups(rows, own, share, pairs, confidence_level)
        else:
            bounded = np.array([report.variances.bounded for report in reports])
            if measure is not None and not is_auc:
                bounded = bounded_variances(measure, counts, own.auc)
            found = compare_average(within, share, bounded, pairs, confidence_level)
        if not has_valid_averages(measure):
            found = found.without_tests()
    table = _table(found, measure)
    table.index = _index(names, pairs)
    by_group = None
    if within is not None:
        of_groups, adjustment = compare_in_groups(within, pairs, confidence_level)
        by_group = _table(of_groups, measure).assign(adjustment=adjustment)
        by_group.index = _index(names, pairs, reports[0].index)
    of_models = pd.Series(
        _scaled(by_model, measure),
        pd.Index(names, name="model", tupleize_cols=False),
        name=f"{statistic} {'AUC' if measure is None else measure.name}",
    )
    clearest = table.iloc[_clearest(table)]
    return ModelComparison(
        float(clearest["difference"]),
        float(clearest["ci_low"]),
        float(clearest["ci_high"]),
        float(clearest["statistic"]),
        float(clearest["pvalue_adjusted"]),
        table,
        of_models,
        by_group,
        over,
        checked[0].n_missing,
    )


# Tables ------------------------------------------------------------------------------------


def _index(names: list[Any], pairs: Pairs, groups: pd.Index | None = None) -> pd.MultiIndex:
    """Return the index of a table of comparisons; the comparisons of a group are consecutive."""
    import pandas as pd

    models = [[names[i] for i in of_pairs] for of_pairs in pairs]
    if groups is None:
        return pd.MultiIndex.from_arrays(models, names=["model_a", "model_b"])
    of_groups = groups.repeat(len(pairs[0]))
    of_labels = [of_groups.get_level_values(i) for i in range(groups.nlevels)]
    return pd.MultiIndex.from_arrays(
        [*of_labels, *(of_model * len(groups) for of_model in models)],
        names=[*groups.names, "model_a", "model_b"],
    )


def _table(found: Comparisons, measure: Measure | None) -> pd.DataFrame:
    """Return a line for each comparison; with several groups, group by group."""
    import pandas as pd

    low, high = (0.0, 1.0) if measure is None else measure.scale
    columns = found._asdict() | {
        name: _scaled(getattr(found, name), measure) for name in ("value_a", "value_b")
    }
    for name in ("difference", "ci_low", "ci_high"):
        columns[name] = columns[name] * (high - low)
    return pd.DataFrame({name: values.T.ravel() for name, values in columns.items()})


def _scaled(values: Floats, measure: Measure | None) -> Floats:
    """Return values of the measure, from values on the scale from 0 to 1."""
    if measure is None:
        return values
    low, high = measure.scale
    return high - (high - low) * (1.0 - values)


def _clearest(table: pd.DataFrame) -> int:
    """Return the place of the comparison with the smallest adjusted p value."""
    pvalues = table["pvalue_adjusted"].to_numpy()
    return 0 if np.isnan(pvalues).all() else int(np.nanargmin(pvalues))
