"""Base class of the displays of a report: constructors, checks and common notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import left_out
from skfedauc.inference.limits import Method
from skfedauc.plotting.drawing import check_matplotlib
from skfedauc.report import GroupAUC, MulticlassGroupAUC, StatisticName, Undefined

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Kind: TypeAlias = Literal["auc", "rank"]


class Redrawing(TypedDict, total=False):
    """Arguments of `plot` of all displays; each display takes some of them."""

    colorbar: bool
    kind: Kind
    max_groups: int | None
    sort: bool


class Drawing(Redrawing, total=False):
    """Arguments of `from_report` of all displays; each display takes some of them."""

    adjusted: bool
    ax: Axes | None
    bins: int
    confidence_level: float
    method: Method
    statistics: Sequence[StatisticName] | None
    threshold: float | None


class ReportDisplay:
    """Base class of displays of a `GroupAUC`; subclasses define `from_report` and `_plot`."""

    groups: Sequence[Any]
    n_missing: int
    note_: str
    table: pd.DataFrame
    ax_: Axes
    figure_: Figure | SubFigure
    from_report: ClassVar[Callable[..., Any]]
    _plot: Callable[..., None]
    # True if the display needs scores in addition to the AUCs of the groups.
    _needs_scores: ClassVar[bool] = True

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
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        **drawing: Unpack[Drawing],
    ) -> Self:
        """Draw labels and scores: `GroupAUC.from_predictions`, then `from_report`.

        Parameters
        ----------
        y_true, y_score, groups : array-like
            Labels, scores and groups of the rows, as in `GroupAUC.from_predictions`.
        sample_weight, pos_label, clusters : object, default=None
            As in `GroupAUC.from_predictions`.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        **drawing : dict
            Arguments of `from_report`, such as `ax`.

        Returns
        -------
        ReportDisplay
            The display.

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, or an argument is not as described.
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
            clusters=clusters,
        )
        display: Self = cls.from_report(report, **drawing)
        return display

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
        response_method: str | tuple[str, ...] | None = None,
        clusters: Any = None,
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        **drawing: Unpack[Drawing],
    ) -> Self:
        """Draw a fitted estimator: `GroupAUC.from_estimator`, then `from_report`.

        Parameters
        ----------
        estimator, X, y, groups : object
            Fitted estimator and rows, as in `GroupAUC.from_estimator`.
        sample_weight, pos_label, response_method, clusters : object, default=None
            As in `GroupAUC.from_estimator`; `ReliabilityDisplay` draws probabilities by default.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        **drawing : dict
            Arguments of `from_report`, such as `ax`.

        Returns
        -------
        ReportDisplay
            The display.

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, or an argument is not as described.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        report = cls._of_estimator(
            estimator,
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            response_method=response_method,
            clusters=clusters,
            undefined=undefined,
            missing=missing,
        )
        display: Self = cls.from_report(report, **drawing)
        return display

    def plot(self, ax: Axes | None = None, **drawing: Unpack[Redrawing]) -> Self:
        """Draw the display again.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. With ``layout="constrained"``, the figure
            leaves room for long labels and for a legend beside the axes.
        **drawing : dict
            Arguments of `from_report` that change the plot only, such as `max_groups`.

        Returns
        -------
        ReportDisplay
            The display itself.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        self._plot(ax, **drawing)
        return self

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
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
            report.pairs.check_has_scores(name)

    @classmethod
    def _check_one_set(cls, report: GroupAUC) -> None:
        """Refuse a report that compares scores within folds only."""
        if len(report.pairs.parts) > 1:
            raise ValueError(
                f"{cls.__name__} draws scores that are compared with each other; the report "
                "compares scores within folds only. Draw the report of one fold (folds[0]), or "
                "the report of all out-of-fold scores (over_folds)."
            )

    def _columns(self, *names: str) -> list[NDArray[np.float64]]:
        """Return columns of the table as floats."""
        return [self.table[name].to_numpy(np.float64, na_value=np.nan) for name in names]

    def _as_floats(self, *names: str) -> None:
        """Make these attributes arrays of floats, unless None, and check the number of groups."""
        self.n_missing = _input.check_whole_number(self.n_missing, "n_missing", 0)
        if hasattr(self, "table"):
            _input.check_length("table", len(self.table), "groups", len(self.groups))
        for name in names:
            if getattr(self, name) is not None:
                values = np.asarray(getattr(self, name), np.float64)
                _input.check_length(name, len(values), "groups", len(self.groups))
                setattr(self, name, values)

    @property
    def _left_out(self) -> str:
        """Note on the rows without a group label; empty if there are none."""
        return left_out(self.n_missing).removeprefix(", ")


def labels_of(report: GroupAUC) -> tuple[Any, ...]:
    """Return the labels of the groups; "all" if the rows have no groups."""
    groups = report.counts.groups
    return ("all",) if groups is None else groups


def auc_of(report: GroupAUC) -> NDArray[np.float64]:
    """Return the AUC of each group, NaN if undefined."""
    return report.pairs.auc.astype(np.float64)
