"""The displays of a report, made from predictions or an estimator as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from skfedauc.plotting.drawing import check_matplotlib
from skfedauc.report import GroupAUC, Undefined


class ReportDisplay:
    """A display that reads a `GroupAUC`; each has its own `from_report` and `plot`."""

    if TYPE_CHECKING:  # what each display has
        from_report: ClassVar[Any]

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
        missing: str = "raise",
        **kwargs: Any,
    ) -> Self:
        """Draw predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; the higher, the more positive.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            What averages do with groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            What to do with rows without a group label; see `AUCPartial.from_predictions`.
        **kwargs
            Passed on to `from_report`, such as ``ax`` and ``max_groups``.

        Returns
        -------
        display
            It holds what was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described; the message tells what to pass instead.
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        report = GroupAUC.from_predictions(
            y_true,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            undefined=undefined,
            missing=missing,
        )
        return cast(Self, cls.from_report(report, **kwargs))

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
        response_method: str | tuple[str, ...] = ("decision_function", "predict_proba"),
        undefined: Undefined = "skip",
        missing: str = "raise",
        **kwargs: Any,
    ) -> Self:
        """Draw what a fitted estimator predicts.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. A pandas Series is
            aligned with the index of X by label, if X has one.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; ``estimator.classes_[1]`` if left out.
        response_method : str or tuple of str, default=("decision_function", \
"predict_proba")
            Methods of the estimator that give scores, the first that it has being used.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            What averages do with groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            What to do with rows without a group label; see `AUCPartial.from_predictions`.
        **kwargs
            Passed on to `from_report`, such as ``ax`` and ``max_groups``.

        Returns
        -------
        display
            It holds what was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described; the message tells what to pass instead.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        report = GroupAUC.from_estimator(
            estimator,
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            response_method=response_method,
            undefined=undefined,
            missing=missing,
        )
        return cast(Self, cls.from_report(report, **kwargs))

    @classmethod
    def _check_report(cls, report: Any) -> None:
        name = f"{cls.__name__}.from_report"
        check_matplotlib(name)
        if not isinstance(report, GroupAUC):
            raise TypeError(
                f"{name} draws a GroupAUC; got {type(report).__name__}. Pass "
                "GroupAUC(partial), or use from_predictions for rows."
            )
        if report.n_groups == 0:
            raise ValueError(f"{name} needs at least one group; the report has no rows.")


def labels_of(report: GroupAUC) -> tuple[Any, ...]:
    """Labels of the groups; "all" where the rows came without."""
    groups = report.partial.groups
    return ("all",) if groups is None else groups


def auc_of(report: GroupAUC) -> NDArray[np.float64]:
    """AUC of each group, NaN where undefined."""
    return report.by_group["auc"].to_numpy(np.float64)
