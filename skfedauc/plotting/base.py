"""Base class of the displays of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import left_out
from skfedauc.plotting.drawing import check_matplotlib
from skfedauc.report import GroupAUC, MulticlassGroupAUC, estimates_of


class ReportDisplay:
    """Base class of displays of a `GroupAUC`; subclasses define constructors and `plot`."""

    n_missing: int
    # True if the display needs scores in addition to the AUCs of the groups.
    _needs_scores: ClassVar[bool] = True

    @property
    def _left_out(self) -> str:
        """Note on the rows without a group label; empty if there are none."""
        return left_out(self.n_missing).removeprefix(", ")

    @classmethod
    def _of_predictions(cls, y_true: Any, y_score: Any, **settings: Any) -> GroupAUC:
        check_matplotlib(f"{cls.__name__}.from_predictions")
        return GroupAUC.from_predictions(y_true, y_score, **settings)

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
        check_matplotlib(f"{cls.__name__}.from_estimator")
        return GroupAUC.from_estimator(estimator, X, y, **settings)

    @classmethod
    def _check_report(cls, report: Any) -> None:
        name = f"{cls.__name__}.from_report"
        check_matplotlib(name)
        if not isinstance(report, GroupAUC):
            mend = "GroupAUC(counts), or use from_predictions for rows"
            if isinstance(report, MulticlassGroupAUC):
                mend = f"one of its reports, such as report[{next(iter(report))!r}]"
            elif isinstance(report, Mapping):
                known = [key for key, value in report.items() if isinstance(value, GroupAUC)]
                mend = f"one report, such as reports[{known[0]!r}]" if known else mend
            raise TypeError(f"{name} draws a GroupAUC; got {type(report).__name__}. Pass {mend}.")
        if report.n_groups == 0:
            raise ValueError(f"{name} needs at least one group; the report has no rows.")
        if cls._needs_scores:
            estimates_of(report).pairs.check_has_scores(name)

    @classmethod
    def _check_one_set(cls, report: GroupAUC) -> None:
        """Refuse a report that compares scores within folds only."""
        if len(estimates_of(report).pairs.parts) > 1:
            raise ValueError(
                f"{cls.__name__} draws scores that are compared with each other; the report "
                "compares scores within folds only. Draw the report of one fold (folds[0]), or "
                "the report of all out-of-fold scores (over_folds)."
            )


def labels_of(report: GroupAUC) -> tuple[Any, ...]:
    """Return the labels of the groups; "all" if the rows have no groups."""
    groups = report.counts.groups
    return ("all",) if groups is None else groups


def auc_of(report: GroupAUC) -> NDArray[np.float64]:
    """Return the AUC of each group, NaN if undefined."""
    return estimates_of(report).pairs.auc.astype(np.float64)
