"""Metric functions of labels, scores and groups, in the style of `sklearn.metrics`."""

from __future__ import annotations

from typing import Any, Literal

from skfedauc import _labels
from skfedauc.counts.multiclass import MultiClass, check_multi_class
from skfedauc.measures import Measure, check_measure
from skfedauc.report import GroupAUC, MulticlassGroupAUC
from skfedauc.report.groups import Undefined
from skfedauc.report.multiclass import ClassAverage, check_class_average, check_no_two_classes
from skfedauc.report.statistics import StatisticName, check_statistic


def group_roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any,
    statistic: StatisticName = "macro",
    measure: Measure | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    undefined: Undefined = "skip",
    missing: _labels.Missing = "raise",
    multi_class: MultiClass | Literal["raise"] = "raise",
    class_average: ClassAverage = "macro",
    labels: Any = None,
) -> float:
    """Compute a statistic of the area under the ROC curve (AUC) over groups of rows.

    Parameters
    ----------
    y_true : array-like, shape (n_rows,)
        Labels with two classes; three or more with `multi_class`.
    y_score : array-like, shape (n_rows,) or (n_rows, n_classes)
        Finite scores; higher scores mean the positive class. With `multi_class`, the scores of each
        class; the columns of a data frame are matched by name, see
        `MulticlassCounts.from_predictions`.
    groups : array-like, shape (n_rows,) or (n_rows, n_columns)
        Group label of each row: booleans, integers, strings, dates or categories. With
        several columns each combination is a group, labeled by a tuple.
    statistic : str, default="macro"
        Statistic to compute. ``A_g`` is the AUC of group g.

        - ``"pooled"``: the AUC of all rows together;
        - averages of the ``A_g``: ``"macro"`` (equal weights), ``"samples"``, ``"positives"``,
          ``"negatives"`` (weighted by the group's rows, positives or negatives), ``"within"``
          (weighted by the product of positives and negatives);
        - ``"worst"``: the smallest ``A_g``;
        - gaps: ``"difference"`` (largest minus smallest ``A_g``), ``"ratio"`` (smallest over
          largest), ``"cross_difference"`` (largest difference between the two cross AUCs of two
          groups), ``"tau"`` (standard deviation of the true AUCs);
        - ``"cross"``: the AUC over pairs of rows from different groups;
        - ``"bias_score"``: the mean of the pooled AUC and three generalized means, with power
          -5, of the ``A_g`` and of the two AUCs against other groups of `GroupAUC.bias_by_group`.
    measure : Measure, default=None
        Measure instead of the AUC, such as ``PartialAUC(max_fpr=0.1)`` of `skfedauc.measures`. It
        has "pooled", the averages, "worst" and "difference".
    sample_weight : array-like, shape (n_rows,), default=None
        Weights, 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        How to treat groups that lack a class: leave them out with ("skip") or without ("ignore") a
        warning, raise a ValueError ("raise"), or use a number as their AUC.
    missing : {"raise", "drop", "group"}, default="raise"
        How to treat rows without a group label; see `ScoreCounts.from_predictions`.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How to treat three or more classes: raise an error, or compare each class with the rest
        ("ovr") or with each other class ("ovo") [1]_; see `MulticlassGroupAUC`.
    class_average : {"macro", "weighted"}, default="macro"
        Weights of the classes, or of pairs of classes, with `multi_class`: equal weights
        ("macro"), or the weights of the rows ("weighted").
    labels : array-like, shape (n_classes,), default=None
        Class labels, with `multi_class`, in the order of the columns of `y_score` unless the
        columns have labels as names; None means the sorted labels of `y_true`.

    Returns
    -------
    float
        The statistic; NaN with a warning if undefined.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    See Also
    --------
    GroupAUC : All statistics from one pass over the rows, and each group's AUC.
    make_group_auc_scorer : A scorer of one statistic, for searches and cross-validation.
    MulticlassGroupAUC : All averages and tables for several classes.

    References
    ----------
    .. [1] Hand and Till (2001). Machine Learning 45(2). https://doi.org/10.1023/A:1010920819831

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> y, score = [0, 1, 0, 1, 1], [0.2, 0.6, 0.5, 0.4, 0.9]
    >>> device = ["a", "a", "b", "b", "b"]
    >>> group_roc_auc_score(y, score, groups=device)
    0.75
    >>> group_roc_auc_score(y, score, groups=device, statistic="pooled")
    0.8333333333333334
    """
    check_statistic(statistic, measure=check_measure(measure))
    check_multi_class(multi_class, may_raise=True)
    check_class_average(class_average)
    of_rows: dict[str, Any] = {"groups": groups, "sample_weight": sample_weight}
    of_rows |= {"undefined": undefined, "missing": missing}
    if multi_class != "raise":
        check_no_two_classes(pos_label, measure)
        of_classes = MulticlassGroupAUC.from_predictions(
            y_true, y_score, multi_class=multi_class, labels=labels, **of_rows
        )
        return of_classes.statistic(statistic, class_average)
    if labels is not None:
        raise ValueError("labels needs multi_class='ovr' or 'ovo'.")
    report = GroupAUC.from_predictions(
        y_true, y_score, pos_label=pos_label, measure=measure, **of_rows
    )
    return report.statistic(statistic)
