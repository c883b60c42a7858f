"""One function, as `sklearn.metrics` has them: labels, scores and groups to a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skfedauc.report import GroupAUC, Undefined, check_statistic

if TYPE_CHECKING:
    import pandas as pd


def group_roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any,
    statistic: str | None = "macro",
    sample_weight: Any = None,
    pos_label: Any = None,
    undefined: Undefined = "skip",
) -> float | pd.Series:
    """Area under the ROC curve over groups of rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two classes.
    y_score : array-like of shape (n_rows,)
        Finite scores; the higher, the more positive.
    groups : array-like of shape (n_rows,) or (n_rows, n_columns)
        Group label of each row: booleans, integers, strings, dates or categories. With
        several columns each combination is a group, labelled by a tuple.
    statistic : str or None, default="macro"
        What to compute from the group AUCs ``A_g`` and the rest of the rows:

        - ``"pooled"``: the AUC of all rows together;
        - averages of the ``A_g``: ``"macro"`` (all groups alike), ``"samples"``,
          ``"positives"``, ``"negatives"`` (by their weight), ``"pairs"`` (by the product of
          the last two);
        - ``"worst"``: the smallest ``A_g``;
        - gaps: ``"difference"`` (largest minus smallest), ``"ratio"`` (smallest over
          largest), ``"cross_difference"`` (largest difference between the two cross AUCs
          of a pair of groups);
        - ``"cross"``: the AUC over pairs of rows from two groups;
        - None: the AUC of each group.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of 0 or more.
    pos_label : int, float, bool or str, default=None
        The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
    undefined : {"skip", "ignore", "raise"} or float, default="skip"
        What to do with groups that lack a class: leave them out with a warning or without
        one, raise a ValueError, or let a number stand in for their AUC.

    Returns
    -------
    float or pandas.Series
        The statistic; NaN with a warning where it is undefined. With ``statistic=None``, a
        Series indexed by group label.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message tells what to pass instead.

    See Also
    --------
    GroupAUC : All statistics from one pass over the rows.
    make_group_auc_scorer : The same as a scorer for searches.

    Notes
    -----
    Sorting dominates: time grows as ``n_rows * log(n_rows)`` for any number of groups.

    References
    ----------
    .. [1] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a
       receiver operating characteristic (ROC) curve. Radiology 143(1).
       https://doi.org/10.1148/radiology.143.1.7063747
    .. [2] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond
       classification: bipartite ranking and the xAUC metric. NeurIPS 32.

    Examples
    --------
    >>> from skfedauc import group_roc_auc_score
    >>> y, score = [0, 1, 0, 1, 1], [0.2, 0.6, 0.5, 0.4, 0.9]
    >>> device = ["a", "a", "b", "b", "b"]
    >>> group_roc_auc_score(y, score, groups=device)
    0.75
    >>> group_roc_auc_score(y, score, groups=device, statistic="pooled")
    0.8333333333333334
    >>> group_roc_auc_score(y, score, groups=device, statistic=None)
    group
    a    1.0
    b    0.5
    Name: auc, dtype: float64
    """
    if statistic is not None:
        check_statistic(statistic)
    report = GroupAUC.from_predictions(
        y_true,
        y_score,
        groups=groups,
        sample_weight=sample_weight,
        pos_label=pos_label,
        undefined=undefined,
    )
    if statistic is not None:
        return report.statistic(statistic)
    auc = report.by_group["auc"]
    if isinstance(report.undefined, float):
        return auc.fillna(report.undefined)
    report._report_undefined()
    return auc
