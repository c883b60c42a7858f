"""Comparison of several models on the same rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from skfedauc import _input, _words
from skfedauc.comparison.rows import ModelRows
from skfedauc.counts import left_out
from skfedauc.inference import intervals
from skfedauc.inference.group_comparisons import adjusted
from skfedauc.inference.joint_models import (
    Differences,
    JointAUCs,
    JointStatistic,
    differences,
    joint_aucs,
    joint_pooled,
)
from skfedauc.inference.quantiles import Pairs
from skfedauc.inference.variances import Floats
from skfedauc.report import AVERAGES, estimates_of, index_of, shares
from skfedauc.report.statistics import Average

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class ModelComparison:
    """Comparison of several models on the same rows, returned by `compare_models`.

    Attributes
    ----------
    statistic : str
        Name of the statistic that `table` compares.
    auc : pandas.Series
        The statistic of each model.
    table : pandas.DataFrame
        A row for each comparison, with the index levels `model_a` and `model_b`. The columns are
        `auc_a`, `auc_b`, their `difference` (a minus b), its simultaneous confidence limits
        `ci_low` and `ci_high`, `statistic`, `pvalue`, and `pvalue_adjusted` for all comparisons of
        the table. Limits and tests are NaN if the difference has no standard error above 0.
    by_group : pandas.DataFrame or None
        A row for each group and comparison, with the columns of `table`. Here, `pvalue_adjusted`
        accounts for all comparisons in all groups. The column `adjustment` names the method:
        Holm's, or Benjamini and Hochberg's for more than 50 comparisons. Confidence limits have no
        adjustment. Limits and tests are NaN for groups with fewer than two rows of a class.
    n_missing : int
        Number of rows without a group label that ``missing="drop"`` left out.
    """

    statistic: str
    auc: pd.Series
    table: pd.DataFrame
    by_group: pd.DataFrame | None
    n_missing: int = 0

    def __repr__(self) -> str:
        text = f"{self.statistic!r}, {len(self.auc)} models, {len(self.table)} comparisons"
        pvalues = self.table["pvalue_adjusted"].to_numpy()
        if np.isnan(pvalues).all():
            return f"ModelComparison({text}): no p value{left_out(self.n_missing)}"
        place = int(np.nanargmin(pvalues))
        a, b = self.table.index.tolist()[place]
        row = self.table.iloc[place]
        return (
            f"ModelComparison({text}): smallest adjusted p value {row['pvalue_adjusted']:.4g}, "
            f"{a!r} minus {b!r} {row['difference']:.4f} "
            f"[{row['ci_low']:.4f}, {row['ci_high']:.4f}]{left_out(self.n_missing)}"
        )


def compare_models(
    y_true: Any,
    scores: Any,
    *,
    groups: Any = None,
    statistic: Literal["pooled"] | Average = "pooled",
    reference: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence_level: float = 0.95,
    missing: _input.Missing = "raise",
    clusters: Any = None,
) -> ModelComparison:
    """Compare the AUCs of several models on the same rows, adjusted for all comparisons.

    Pass the scores of a test set, without rows of any model's training set.

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
    reference : object, default=None
        Name of the model for a comparison with all other models; None compares all pairs.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    confidence_level : float, default=0.95
        Simultaneous confidence level of the intervals of `table`.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
        Cluster of each row, such as a patient with several rows; see `GroupAUC.from_predictions`.
        Rows of the same cluster may be dependent. None means that all rows are independent.

    Returns
    -------
    ModelComparison
        AUC of each model, the table of comparisons, and the table of comparisons by group.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message says what to pass instead.

    See Also
    --------
    compare_roc_auc : Compare two models by all statistics, also for new groups.
    compare_candidates : Compare the candidates of a search by the scores of its folds.
    AuditComparison : Compare the audits of two models.

    Notes
    -----
    The variances of the differences are DeLong's [1]_, for new rows of the same models and groups.
    The variances do not include the variation from fitting models again; `compare_candidates`
    includes this variation.

    The comparison of pooled AUCs with `groups` holds for random numbers of positives and negatives
    of each group, as in a random sample of rows, and for fixed numbers. Intervals contain the
    simultaneous intervals of both designs, and p values are the larger of the p values of both
    designs; see `compare_roc_auc`.

    With `clusters`, each cluster has the sum of its rows' differences of placement values
    (Obuchowski [4]_). The degrees of freedom follow from the sizes of the clusters; see
    `compare_roc_auc`. Averages include the covariances of groups that share clusters.

    Limits and adjusted p values come from the distribution of the largest standardized difference
    if all AUCs are equal, given the estimated correlations of the differences [2]_. Therefore, the
    smallest adjusted p value tests the null hypothesis that all AUCs are equal. A limit excludes 0
    if and only if the adjusted p value is below ``1 - confidence_level``. The computation uses
    10,000 random directions and a fixed seed, with a relative error of about 1 % at a p value of
    .05.

    The distribution is a multivariate t distribution, with the smallest of Satterthwaite's degrees
    of freedom of the differences. Hasler and Hothorn [3]_ use the degrees of freedom of each
    difference instead. For averages, the degrees of freedom use the mean shares of the groups in
    the variance over all comparisons. With a small class, the degrees of freedom are close to its
    number of rows. `pvalue` uses the degrees of freedom of its difference, as `compare_roc_auc`
    does. With 20 models, 10 positives and 100 negatives (AUC .7, correlation .5 of the scores,
    4,000 runs), the family-wise error rate at 5 % is 4 %. With the normal distribution, the error
    rate is 28 %. With 10 models, 50 positives and 200 negatives, the error rate is 5 %. The test is
    conservative if classes are small and AUCs are high: 2 % for 20 models of AUC .8 with 10
    positives.

    With two models, the table has the results of `compare_roc_auc` with ``over="rows"``.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas
       under two or more correlated receiver operating characteristic curves: a
       nonparametric approach. Biometrics 44(3). https://doi.org/10.2307/2531595
    .. [2] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general
       parametric models. Biometrical Journal 50(3). https://doi.org/10.1002/bimj.200810425
    .. [3] Hasler, M. and Hothorn, L. A. (2008). Multiple contrast tests in the presence of
       heteroscedasticity. Biometrical Journal 50(5).
    .. [4] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
       Biometrics 53(2). https://doi.org/10.2307/2533958

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skfedauc import compare_models
    >>> X, progression = load_diabetes(as_frame=True, return_X_y=True)
    >>> found = compare_models(progression > 200, X[["bmi", "bp", "s5"]], reference="bmi")
    >>> found.table[["difference", "ci_low", "ci_high", "pvalue_adjusted"]].round(3)
                     difference  ci_low  ci_high  pvalue_adjusted
    model_a model_b
    bp      bmi          -0.067  -0.135    0.001            0.052
    s5      bmi           0.015  -0.045    0.074            0.806
    """
    import pandas as pd

    confidence_level = intervals.check_confidence_level(confidence_level)
    _check_statistic(statistic, groups)
    models = _models_of(scores, len(y_true) if hasattr(y_true, "__len__") else None)
    pairs = _pairs_of(list(models), reference)
    by_name = {f"scores[{name!r}]": values for name, values in models.items()}
    given = ModelRows.of(y_true, by_name, groups, sample_weight, pos_label, missing, clusters)
    reports = [given.report(k) for k in range(1 if statistic == "pooled" else len(models))]
    rows = given.paired(reports[0])
    within = None if groups is None else joint_aucs(rows)
    by_group = None
    if within is not None:
        by_group = _group_table(within, pairs, confidence_level)
        by_group.index = _index(list(models), pairs, index_of(reports[0]))
    if statistic == "pooled" or within is None:
        joint = JointStatistic.of_designs(joint_pooled(rows), pairs)
    else:
        share = shares(estimates_of(reports[0]), statistic)
        share = np.zeros(rows.n_groups) if share is None else share
        bounded = np.array([estimates_of(report).variances.bounded for report in reports])
        joint = JointStatistic.of_average(within, share, bounded, pairs)
    table = _table(joint, pairs, confidence_level)
    table.index = _index(list(models), pairs)
    names = pd.Index(list(models), name="model", tupleize_cols=False)
    auc = pd.Series(joint.auc, index=names, name="auc")
    return ModelComparison(statistic, auc, table, by_group, given.n_missing)


def _check_statistic(statistic: Any, groups: Any) -> None:
    _input.check_option("statistic", statistic, ("pooled", *AVERAGES))
    if statistic != "pooled" and groups is None:
        raise ValueError(
            f"statistic={statistic!r} is an average of group AUCs, so it needs groups; pass "
            "groups=labels, or statistic='pooled'."
        )


def _models_of(scores: Any, n_rows: int | None) -> dict[Any, Any]:
    """Return the scores of each model by name; `n_rows` is the number of rows of y_true."""
    import narwhals.stable.v2 as nw

    scores = _input.unwrapped(scores)
    if isinstance(scores, Mapping):
        models = dict(scores)
    elif nw.dependencies.is_into_dataframe(scores):
        _check_distinct(list(getattr(scores, "column_names", scores.columns)))
        frame = nw.from_native(scores, eager_only=True)
        models = {name: nw.to_native(frame.get_column(name)) for name in frame.columns}
    else:
        array = np.asarray(scores)
        if array.ndim != 2:
            raise TypeError(
                "scores must be a DataFrame or a mapping with the scores of each model, or an "
                f"array of shape (n_rows, n_models); got {_input.kind_in_words(scores)} of shape "
                f"{array.shape}. Pass {{'a': score_a, 'b': score_b}}."
            )
        if len(array) != n_rows == array.shape[1]:
            raise ValueError(
                "scores must have one row for each row of y_true and one column for each model; "
                f"got {_input.kind_in_words(scores)} of shape {array.shape} for {n_rows} rows. "
                "Pass {'a': score_a, 'b': score_b}, or np.column_stack([score_a, score_b])."
            )
        models = dict(enumerate(array.T))
    if len(models) < 2:
        raise ValueError(
            f"scores must hold the scores of at least two models; got {len(models)}. For one model "
            "use GroupAUC.from_predictions."
        )
    return models


def _check_distinct(names: list[Any]) -> None:
    """Raise an error for several models of the same name."""
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            "scores must have a different name for each model; got several columns named "
            f"{_words.shortened(repeated[0])}. Rename them."
        )


def _pairs_of(names: list[Any], reference: Any) -> Pairs:
    """Return the indices of the first and of the second model of each comparison."""
    if reference is None:
        return np.triu_indices(len(names), 1)
    place = _input.position_of(reference, names)
    if place is None:
        raise ValueError(
            f"reference={_words.shortened(reference)} is not among the models, "
            f"{_words.listed(names, most=10)}."
        )
    others = np.delete(np.arange(len(names)), place)
    return others, np.full(others.size, place)


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


def _table(joint: JointStatistic, pairs: Pairs, confidence_level: float) -> pd.DataFrame:
    """Return the comparisons of a statistic, with simultaneous limits."""
    found, pvalue_adjusted = joint.compared(pairs, confidence_level)
    return _columns(joint.auc, pairs, found).assign(pvalue_adjusted=pvalue_adjusted)


def _group_table(within: JointAUCs, pairs: Pairs, confidence_level: float) -> pd.DataFrame:
    """Return the comparisons in each group, group by group, with adjusted p values."""
    from scipy.special import stdtrit

    first, second = pairs
    freedom = within.degrees_of_freedom[pairs]
    reach = -stdtrit(freedom, (1.0 - confidence_level) / 2.0)
    difference = within.auc[first] - within.auc[second]
    found = differences(difference, within.variance[pairs], freedom, reach)
    table = _columns(within.auc, pairs, found)
    pvalue_adjusted, adjustment = adjusted(table["pvalue"].to_numpy())
    return table.assign(pvalue_adjusted=pvalue_adjusted, adjustment=adjustment)


def _columns(auc: Floats, pairs: Pairs, found: Differences) -> pd.DataFrame:
    """Return a line for each comparison; with several groups, group by group."""
    import pandas as pd

    first, second = pairs
    columns = {"auc_a": auc[first], "auc_b": auc[second], **found._asdict()}
    return pd.DataFrame({name: values.T.ravel() for name, values in columns.items()})
