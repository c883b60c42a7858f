"""Scorer of the average over classes of one group statistic."""

from __future__ import annotations

from typing import Any

from skfedauc import _input, _sklearn
from skfedauc.counts import MultiClass, MulticlassCounts
from skfedauc.report import (
    STATISTICS,
    ClassAverage,
    MulticlassGroupAUC,
    Undefined,
    UndefinedPolicy,
)
from skfedauc.scoring.group_scorer import GroupAUCScorer, shared


class MulticlassGroupAUCScorer(GroupAUCScorer):
    """Scorer of the average over classes of one group statistic.

    Parameters
    ----------
    statistic : str
        Name of the statistic in scorers.
    groups : str, list of str, pandas.Series or None
    undefined : {"skip", "ignore", "raise"} or float
    response_method : str, tuple of str or None
    missing : {"raise", "drop", "group"}
    multi_class : {"ovr", "ovo"}
    class_average : {"macro", "weighted"}
    label : object, default=None
        Label of the group whose average over classes is the score, if `statistic` is "group".
    """

    _default_responses = _sklearn.OF_CLASSES

    def __init__(
        self,
        statistic: str,
        groups: Any,
        undefined: Undefined,
        response_method: str | tuple[str, ...] | None,
        missing: _input.Missing,
        multi_class: MultiClass,
        class_average: ClassAverage,
        label: Any = None,
    ) -> None:
        super().__init__(statistic, groups, undefined, None, response_method, label, missing)
        self._multi_class = multi_class
        self._class_average = class_average

    def _value(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: Any,
        groups: Any,
        sample_weight: Any,
    ) -> float:
        key, kept = self._key(groups, sample_weight)
        rows = X, y_true, groups, sample_weight
        report = shared(
            method_caller,
            (key, self._multi_class),
            kept,
            lambda: self._report(method_caller, estimator, *rows),
        )
        if self._statistic == "group":
            values = report.average_by_group(self._class_average).to_numpy()
            # The policies of the reports name a comparison of classes in their messages.
            policy = UndefinedPolicy(self._undefined, warns_once=True, reported=self._reported())
            return self._of_group(report.groups, values, policy)
        statistic = STATISTICS[self._statistic.removeprefix("neg_")]
        return report.averaged(statistic.score or statistic.compute, self._class_average)

    def _report(
        self,
        method_caller: Any,
        estimator: Any,
        X: Any,
        y_true: Any,
        groups: Any,
        sample_weight: Any,
    ) -> MulticlassGroupAUC:
        y_true, labels, sample_weight = self._rows(X, y_true, groups, sample_weight)
        classes, scores = _sklearn.class_scores_of(
            estimator,
            X,
            self._response_method,
            remedy="Make the scorer without multi_class.",
            method_caller=method_caller,
        )
        counts = MulticlassCounts.from_predictions(
            y_true,
            scores,
            groups=labels,
            multi_class=self._multi_class,
            labels=classes,
            sample_weight=sample_weight,
            missing=self._missing,
        )
        return MulticlassGroupAUC(counts, undefined=self._undefined)

    def __repr__(self) -> str:
        parts = f"multi_class={self._multi_class!r}"
        if self._class_average != "macro":
            parts += f", class_average={self._class_average!r}"
        return f"{super().__repr__()[:-1]}, {parts})"
