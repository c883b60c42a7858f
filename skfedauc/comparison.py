"""Comparison of two or more models on the same rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from skfedauc import _input, _labels, _rows, _words
from skfedauc.counts.score_counts import left_out
from skfedauc.inference import intervals, measures, model_comparison
from skfedauc.inference.differences import Result
from skfedauc.inference.quantiles import Pairs
from skfedauc.inference.row_effects import Rows
from skfedauc.measures import Measure, check_measure
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import estimates_of
from skfedauc.report.groups import LeftOut, of_one_label, order_of, split_by_size
from skfedauc.report.statistics import AVERAGES, Average, shares

_SIMULTANEOUS = ["simultaneous_low", "simultaneous_high"]


@dataclasses.dataclass(frozen=True, repr=False)
class ModelComparison(Result):
    """Comparison of models on the same rows, returned by `compare_models`.

    Attributes
    ----------
    estimate, ci_low, ci_high, statistic, pvalue : float
        The difference with the smallest adjusted p value, its simultaneous limits, its test
        statistic and the adjusted p value. With two models, this is their only difference. With
        more, `pvalue` tests the null hypothesis that all models are equally good.
    table : pandas.DataFrame
        A row for each comparison, with the index levels `model_a` and `model_b`. The columns are
        `value_a`, `value_b`, their `difference` (b minus a; a `reference` is a), with `ci_low`,
        `ci_high`, `statistic` and `pvalue` of this comparison alone, and `simultaneous_low`,
        `simultaneous_high` and `pvalue_adjusted` for all comparisons together. Limits and tests
        are NaN if the difference has no standard error above 0; but those of equal ranks are 0,
        with the p value 1, if the AUC has one.
    by_model : pandas.Series
        The AUC or measure of each model.
    confidence_level : float
    by_group : pandas.DataFrame or None
        A row for each group and comparison, with limits and `pvalue` of this row alone.
        `pvalue_adjusted` is for all rows by the method that `adjustment` names: Holm's, or
        Benjamini and Hochberg's for more than 50 rows. `note` says why a row has no test.
    over : {"rows", "groups"}
        Source of the sampling error of `table`.
    n_missing : int
        Number of rows without a group label that ``missing="drop"`` left out.
    left_out : str
        Sentence that names the groups that `min_per_class` left out; empty without such groups.
    note : str
        Why there is no `pvalue`; empty if there is one.
    """

    by_model: pd.Series
    by_group: pd.DataFrame | None
    confidence_level: float = 0.95
    over: intervals.Over = "rows"
    n_missing: int = 0
    left_out: str = ""
    note: str = dataclasses.field(default_factory=str)

    def __repr__(self) -> str:
        what = f"{self.by_model.name} of {len(self.by_model)} models"
        ends = f", over new {self.over}{left_out(self.n_missing)}) {self.left_out}".rstrip()
        if np.isnan(self.pvalue):
            return f"ModelComparison({what}: no p value, {self.note}{ends}"
        a, b = (_labels.as_label(name) for name in self.table.index[_clearest(self.table)])
        n = len(self.table)
        p = ", p" if n == 1 else f" for all comparisons, smallest of {n} adjusted p"
        return (
            f"ModelComparison({what}: {_words.shortened(b)} minus {_words.shortened(a)} "
            f"{self.estimate:.4f}, {self.confidence_level * 100:g} % interval "
            f"{self.ci_low:.4f} to {self.ci_high:.4f}{p} = {self.pvalue:.4g}{ends}"
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
    missing: _labels.Missing = "raise",
    min_per_class: int = 10,
) -> ModelComparison:
    """Compare the AUCs, or another measure, of two or more models on the same rows.

    Pass the scores of a test set, without rows of any model's training set.

    Parameters
    ----------
    y_true : array-like, shape (n_rows,)
        Labels with two classes.
    scores : DataFrame, mapping of names to array-likes, or array, shape (n_rows, n_models)
        Finite scores of at least two models; higher scores mean the positive class. The models of
        an array have the names 0, 1, ...
    groups : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
        Group label of each row.
    statistic : {"pooled", "macro", "samples", "positives", "negatives", "within"}, \
default="pooled"
        AUC that the table compares: pooled, or an average of the group AUCs. Choose the statistic
        before you see the results, because p values do not account for a choice of the statistic.
    measure : Measure, default=None
        Measure instead of the AUC: ``PartialAUC(max_fpr=0.1)``, or ``AveragePrecision()`` of
        `skfedauc.measures`.
    over : {"rows", "groups"}, default="rows"
        Source of the sampling error: new rows in the same groups, or new rows of new, random
        groups.
    reference : object, default=None
        Name of the model for a comparison with all other models; None compares all pairs.
    clusters : array-like, shape (n_rows,) or (n_rows, n_columns), default=None
        Each row's cluster, such as a patient with several rows, which may be dependent; see
        `GroupAUC.from_predictions`.
    sample_weight : array-like, shape (n_rows,), default=None
        Weights, 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    confidence_level : float, default=0.95
        Confidence level of each interval, and of all simultaneous intervals of `table` together.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    min_per_class : int, default=10
        Least number of positives and of negatives of a group; smaller groups are left out of all
        numbers, as in `FairnessAudit`.

    Returns
    -------
    ModelComparison
        The clearest difference, the tables of all comparisons and of those by group.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; for sensitivities and specificities, which have no
        reliable test; for clusters with a measure, or with ``over="groups"`` if groups share them.

    See Also
    --------
    compare_candidates : Compare the candidates of a search by the scores of its folds.
    auc_critical_difference : The critical difference of two published AUCs, without rows.

    Notes
    -----
    Variances are DeLong's [1]_, from each row's difference of placement values, with Student's t.
    They hold for these models; `compare_candidates` includes the variation from fitting again. With
    groups, intervals of pooled AUCs contain those for random and for fixed numbers of positives and
    negatives in each group, and p values are the larger ones. Averages have the observed shares of
    the groups. With ``over="groups"``, the groups are the clusters of the pooled comparison, and
    the null distribution of an average is simulated.
    Simultaneous limits and adjusted p values come from the distribution of the largest standardized
    difference [2]_, or over new groups from Bonferroni's method. Limits exclude 0 exactly if the p
    value beside them is below ``1 - confidence_level``.

    A partial AUC has no test if, with a probability above 2.5 %, no row falls between its rates:
    with ``max_fpr=0.1``, for fewer than 36 negatives. Averages of the average precision have none.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson (1988). Biometrics 44(3).
       https://doi.org/10.2307/2531595
    .. [2] Hothorn, Bretz and Westfall (2008). Biometrical Journal 50(3).
       https://doi.org/10.1002/bimj.200810425

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skfedauc import compare_models
    >>> X, progression = load_diabetes(as_frame=True, return_X_y=True)
    >>> found = compare_models(progression > 200, X[["bmi", "bp", "s5"]], reference="bmi")
    >>> found.table[["difference", "simultaneous_low", "simultaneous_high"]].round(3)
                     difference  simultaneous_low  simultaneous_high
    model_a model_b
    bmi     bp           -0.067            -0.135              0.001
            s5            0.015            -0.045              0.074
    """
    confidence_level = intervals.check_confidence_level(confidence_level)
    _input.check_option("statistic", statistic, ("pooled", *AVERAGES))
    _input.check_option("over", over, ("rows", "groups"))
    if groups is None and (statistic != "pooled" or over == "groups"):
        raise ValueError(
            f"statistic={statistic!r} with over={over!r} needs groups; pass groups=labels, or "
            "statistic='pooled' and over='rows'."
        )
    models = _models_of(scores, len(y_true) if hasattr(y_true, "__len__") else None)
    names = list(models)
    pairs = _pairs_of(names, reference)
    of_rows = groups, sample_weight, pos_label
    checked = _checked_rows(models, y_true, of_rows, missing=missing, clusters=clusters)
    checked, small = _of_large_groups(checked, min_per_class)
    measure = check_measure(measure)
    measures.check_comparable(measure, clusters)
    needs_all = not measure.is_auc or (statistic != "pooled" and over == "rows")
    counted = checked if needs_all else checked[:1]
    reports = [GroupAUC(GroupPairs.of_rows(of), undefined="ignore") for of in counted]
    counts, first = [report.counts for report in reports], estimates_of(reports[0])
    if over == "groups":
        first.variances.check_independent_groups("over='groups'", "Pass over='rows'.")
    if statistic != "pooled" and first.pairs.n_undefined:
        left = f"{first.pairs.n_undefined:,} of {_words.counted(first.pairs.n_groups, 'group')}"
        _input.warn(f"{left} without rows of both classes are left out; see by_group.")
    rows = paired_rows(checked, reports[0])

    if measure.is_auc:
        own, pooled = model_comparison.auc_values(rows)
    else:
        own = pooled = measures.measure_values(measure, rows, counts)
        if statistic == "pooled" and groups is not None:
            pooled = measures.measure_values(measure, rows, [of.regroup(None) for of in counts])
    within = None if groups is None else model_comparison.joint_within(rows, own)
    share, values = None, pooled
    if statistic != "pooled":
        share, values = shares(first, statistic), own
        share = np.zeros(rows.n_groups) if share is None else share
    if over == "groups":
        found = model_comparison.compare_over_groups(rows, values, share, pairs, confidence_level)
    elif share is None or within is None:
        joint = model_comparison.joint_pooled(rows, pooled)
        found = model_comparison.compare_all(joint, pairs, confidence_level)
    else:
        limits = np.array([estimates_of(report).variances.bounded for report in reports])
        if not measure.is_auc:
            limits = measures.bounded_variances(measure, counts, own.auc)
        found = model_comparison.compare_average(within, share, limits, pairs, confidence_level)
    table, why_no_test = _table(found, measure), "too few rows or no variation"
    if share is not None and not measures.has_valid_averages(measure):
        table.iloc[:, 3:] = np.nan
        why_no_test = f"averages of {measure.title} have no test"
    table.index = _index(names, pairs)
    by_group = None
    if within is not None:
        found, adjustment = model_comparison.compare_in_groups(within, pairs, confidence_level)
        by_group = _table(found, measure).drop(columns=_SIMULTANEOUS)
        why = model_comparison.why_untested(rows, own, within).repeat(len(pairs[0]))
        notes = np.where(by_group["pvalue"].isna(), why, "")
        by_group = by_group.assign(adjustment=adjustment, note=notes)
        by_group.index = _index(names, pairs, first.labels)
        lines = np.arange(len(by_group)).reshape(-1, len(pairs[0]))  # one row per group
        by_group = by_group.take(lines[order_of(counts[0])].ravel())
    of_models = np.empty(len(names))
    of_models[pairs[0]], of_models[pairs[1]] = table["value_a"], table["value_b"]
    index = pd.Index(names, name="model", tupleize_cols=False)
    by_model = pd.Series(of_models, index, name=f"{statistic} {measure.title}")
    columns = ["difference", *_SIMULTANEOUS, "statistic", "pvalue_adjusted"]
    estimate, low, high, deviate, pvalue = table[columns].iloc[_clearest(table)].tolist()
    of_test: Any = {"estimate": estimate, "ci_low": low, "ci_high": high, "statistic": deviate}
    of_test |= {"pvalue": pvalue, "table": table}
    told = checked[0].n_missing, small.in_words(), why_no_test if np.isnan(pvalue) else ""
    return ModelComparison(by_model, by_group, confidence_level, over, *told, **of_test)


def _of_large_groups(models: list[_rows.Rows], least: Any) -> tuple[list[_rows.Rows], LeftOut]:
    least = _input.check_whole_number(least, "min_per_class", 1)
    codes, labels, positive = models[0].codes, models[0].labels, models[0].positive
    if codes is None or labels is None or least == 1:
        return models, LeftOut(1)
    sizes = [np.bincount(codes[of], minlength=len(labels)) for of in (positive, ~positive)]
    is_large, small = split_by_size(labels.tolist(), sizes, least)
    if not is_large.any():
        most = f"Pass at most {np.min(sizes, axis=0).max(initial=1)}."
        raise ValueError(f"min_per_class={least} leaves out all {len(labels):,} groups. {most}")
    kept = is_large[codes]
    return [of.at(kept) for of in models], small


def paired_rows(models: Sequence[_rows.Rows], report: GroupAUC) -> Rows:
    """Return the scores of all models by row; `report` is the report on one of the models."""
    rows = models[0]
    n_rows = rows.scores.size
    if not 0 < int(rows.positive.sum()) < n_rows:
        of_weight = " with a weight above 0" if rows.weights is not None or not n_rows else ""
        raise ValueError(
            f"y_true must hold both classes; got {'one class' if n_rows else 'no class'} in "
            f"{n_rows} rows{of_weight}{of_one_label(report.counts)}."
        )
    return Rows.of(models, report.n_groups)


def _checked_rows(
    models: Mapping[Any, Any], y_true: Any, of_rows: tuple[Any, Any, Any], **options: Any
) -> list[_rows.Rows]:
    _labels.check_missing(options["missing"])
    by_name = {f"scores[{name!r}]": values for name, values in models.items()}
    _rows.check_row_order(by_name)
    return [
        _rows.check_rows(y_true, values, *of_rows, name=name, warn_labels=False, **options)
        for name, values in by_name.items()
    ]


def _models_of(scores: Any, n_rows: int | None) -> dict[Any, Any]:
    """Return the scores of each model by name; `n_rows` is the number of rows of y_true."""
    scores = _input.unwrapped(scores)
    if isinstance(scores, Mapping):
        models = dict(scores)
    elif nw.dependencies.is_into_dataframe(scores):
        names = list(getattr(scores, "column_names", scores.columns))
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(
                "scores must have a different name for each model; got several columns named "
                f"{_words.shortened(repeated[0])}. Rename them."
            )
        frame = nw.from_native(scores, eager_only=True)
        models = {name: nw.to_native(frame.get_column(name)) for name in frame.columns}
    else:
        with _input.named("scores"):
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


def _pairs_of(names: list[Any], reference: Any) -> Pairs:
    if reference is None:
        return np.triu_indices(len(names), 1)
    place = _labels.position_of(reference, names)
    if place is None:
        raise ValueError(
            f"reference={_words.shortened(reference)} is not among the models, "
            f"{_words.listed(names, most=10)}."
        )
    others = np.delete(np.arange(len(names)), place)
    return np.full(others.size, place), others


def _index(names: list[Any], pairs: Pairs, groups: pd.Index | None = None) -> pd.MultiIndex:
    """Return the index of a table of comparisons; the comparisons of a group are consecutive."""
    models = [[names[i] for i in of_pairs] for of_pairs in pairs]
    if groups is None:
        return pd.MultiIndex.from_arrays(models, names=["model_a", "model_b"])
    of_groups = groups.repeat(len(pairs[0]))
    of_labels = [of_groups.get_level_values(i) for i in range(groups.nlevels)]
    return pd.MultiIndex.from_arrays(
        [*of_labels, *(of_model * len(groups) for of_model in models)],
        names=[*groups.names, "model_a", "model_b"],
    )


def _table(found: model_comparison.Comparisons, measure: Measure) -> pd.DataFrame:
    """Return a line for each comparison; with several groups, group by group."""
    table = pd.DataFrame({name: values.T.ravel() for name, values in found._asdict().items()})
    limits = ["ci_low", "ci_high", *_SIMULTANEOUS]
    table[limits] = table[limits].clip(-1.0, 1.0)
    low, high = measure.scale
    table[["difference", *limits]] *= high - low
    for name in ("value_a", "value_b"):
        table[name] = measures.value_of(measure, table[name].to_numpy())
    return table


def _clearest(table: pd.DataFrame) -> int:
    return int(table["pvalue_adjusted"].fillna(np.inf).to_numpy().argmin())
