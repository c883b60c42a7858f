"""Base class for a report's displays: constructors, checks and common notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import left_out
from skfedauc.inference.limits import Method
from skfedauc.plotting.drawing import check_axes, check_matplotlib
from skfedauc.report import GroupAUC, MulticlassGroupAUC, StatisticName, Undefined, estimates_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Kind: TypeAlias = Literal["auc", "rank"]


class Drawing(TypedDict, total=False):
    """All display options; each display has some."""

    adjusted: bool
    bins: int
    colorbar: bool
    confidence_level: float
    kind: Kind
    max_groups: int | None
    method: Method
    sort: bool
    statistics: Sequence[StatisticName] | None
    threshold: float | None


class ReportDisplay:
    """Base class for displays of a `GroupAUC`.

    Subclasses are data classes with a report and options. They define `_plot`, and `__post_init__`
    for what they compute from the report.
    """

    report: GroupAUC
    note_: str
    ax_: Axes
    figure_: Figure | SubFigure
    _plot: Callable[[Axes | None], None]
    # True if the display needs scores in addition to the AUCs of the groups.
    _needs_scores: ClassVar[bool] = True
    # True if the display draws AUCs, or scores, in place of other measures.
    _needs_auc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_report()

    @classmethod
    def from_report(
        cls, report: GroupAUC, *, ax: Axes | None = None, **drawing: Unpack[Drawing]
    ) -> Self:
        """Make a display from a report, and draw it.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **drawing : dict
            The display's options, such as ``max_groups``: the other arguments of the class.

        Returns
        -------
        ReportDisplay
            The display.

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, or an argument is not as described. A `DisclosureError` if the
            counts do not determine what the display draws.
        """
        check_matplotlib(f"{cls.__name__}.from_report")
        display: Self = cls(report, **drawing)  # type: ignore[call-arg,misc]
        return display.plot(ax)

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
        min_per_class: int = 1,
        ax: Axes | None = None,
        **drawing: Unpack[Drawing],
    ) -> Self:
        """Draw labels and scores: `GroupAUC.from_predictions`, then `from_report`.

        Parameters
        ----------
        y_true, y_score, groups : array-like
            The rows' labels, scores and groups, as in `GroupAUC.from_predictions`.
        sample_weight, pos_label, clusters : object, default=None
            As in `GroupAUC.from_predictions`.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        min_per_class : int, default=1
            Draw only groups with at least this many positives and negatives; see `GroupAUC`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **drawing : dict
            The display's options: the other arguments of the class.

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
            min_per_class=min_per_class,
            clusters=clusters,
        )
        return cls.from_report(report, ax=ax, **drawing)

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
        min_per_class: int = 1,
        ax: Axes | None = None,
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
        min_per_class : int, default=1
            Draw only groups with at least this many positives and negatives; see `GroupAUC`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **drawing : dict
            The display's options: the other arguments of the class.

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
            min_per_class=min_per_class,
        )
        return cls.from_report(report, ax=ax, **drawing)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display again.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. With ``layout="constrained"``, the figure
            leaves room for long labels and for a legend beside the axes. Its options are
            attributes that may be changed before, such as ``display.max_groups = 5``.

        Returns
        -------
        ReportDisplay
            The display itself.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        self._plot(check_axes(ax))
        return self

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
        return GroupAUC.from_estimator(estimator, X, y, **settings)

    def _check_report(self) -> None:
        name, report = f"{type(self).__name__}.from_report", self.report
        if not isinstance(report, GroupAUC):
            mend = "GroupAUC(counts), or use from_predictions for rows"
            if isinstance(report, MulticlassGroupAUC):
                mend = f"one of its reports, such as report[{next(iter(report))!r}]"
            elif isinstance(report, Mapping):
                known = [key for key, value in report.items() if isinstance(value, GroupAUC)]
                mend = f"one report, such as reports[{known[0]!r}]" if known else mend
            raise TypeError(f"report must be a GroupAUC; got {type(report).__name__}. Pass {mend}.")
        if report.n_groups == 0:
            raise ValueError(f"{name} needs at least one group; the report has no rows.")
        if self._needs_auc:
            estimates_of(report).check_auc(name)
        if self._needs_scores:
            estimates_of(report).pairs.check_has_scores(name)

    def _check_one_set(self) -> None:
        """Refuse a report that compares scores within folds only."""
        if len(estimates_of(self.report).pairs.parts) > 1:
            raise ValueError(
                f"{type(self).__name__} draws scores that are compared with each other; the report "
                "compares scores within folds only. Draw the report of one fold (folds[0]), or "
                "the report of all out-of-fold scores (over_folds)."
            )

    @property
    def groups(self) -> Sequence[Any]:
        """Group labels; "all" if the rows have no groups."""
        groups = self.report.counts.groups
        return ("all",) if groups is None else groups

    @property
    def n_missing(self) -> int:
        """How many rows have no group label, and are left out."""
        return self.report.counts.n_missing

    @property
    def _auc(self) -> NDArray[np.float64]:
        """Each group's AUC, NaN if undefined."""
        return estimates_of(self.report).pairs.auc.astype(np.float64)

    @property
    def _left_out(self) -> str:
        """Note on the rows without a group label; empty if there are none."""
        return left_out(self.n_missing).removeprefix(", ")


def floats(table: pd.DataFrame, *names: str) -> list[NDArray[np.float64]]:
    """Return table columns as arrays."""
    return [table[name].to_numpy(np.float64, na_value=np.nan) for name in names]
