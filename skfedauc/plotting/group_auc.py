"""`GroupAUCDisplay`: forest plot of group AUCs, with the pooled AUC and averages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _words
from skfedauc.inference.intervals import Method
from skfedauc.plotting.base import ReportDisplay, auc_of, labels_of
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINE,
    MARGINS,
    ORANGE,
    PURPLE,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    choose,
    lay_out,
    legend_and_note,
    most_groups,
    named,
    set_ticks,
    size_of,
    text_of,
    write_fitting,
)
from skfedauc.report import (
    STATISTICS,
    GroupAUC,
    StatisticName,
    Undefined,
    by_number,
    determined_statistics,
    estimates_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

# Color and line style of the lines of statistics
_LINES: dict[str, tuple[str, Any]] = {
    "pooled": (BLACK, "-"),
    "macro": (VERMILLION, (0, (5, 2))),
    "within": (GREEN, (0, (1, 1))),
    "samples": (PURPLE, (0, (6, 1, 1, 1))),
    "positives": (ORANGE, (0, (3, 3))),
    "negatives": (PURPLE, (0, (1, 3))),
    "cross": (GREY, "-"),
    "worst": (GREY, (0, (1, 1))),
}
_OTHER_LINE: tuple[str, Any] = (BLACK, (0, (4, 1, 1, 1)))
# Default of `statistics`. A summary by group does not determine the pooled AUC.
_DEFAULT_LINES: tuple[StatisticName, ...] = ("pooled", "macro", "within")
# Areas of markers in square points: the smallest, and the additional area of the largest group
_LEAST_AREA, _MORE_AREA = 14.0, 70.0


class GroupAUCDisplay(ReportDisplay):
    """Forest plot of group AUCs with intervals, and lines for the pooled AUC and averages.

    Make the display with `from_report`, `from_predictions` or `from_estimator`. Groups are in the
    order of their AUCs. If there are too many groups, the display draws the groups with the lowest
    and the highest AUCs. A note says how many groups the display omits.

    Parameters
    ----------
    groups : sequence of length n_groups
        Labels.
    auc, ci_low, ci_high : array-like of shape (n_groups,)
        AUC and limits of its interval, NaN if undefined. The display omits groups without an AUC,
        and the note names these groups.
    confidence_level : float, default=0.95
        Confidence level of the intervals, for the label.
    n_rows : array-like of shape (n_groups,), default=None
        Number of rows of each group; the area of a marker increases with this number.
    statistics : mapping of str to float, default=None
        Name and value of each line. Names are "pooled", "macro", "samples", "positives",
        "negatives", "within", "cross" and "worst". None draws no line.
    n_missing : int, default=0
        Number of rows without a group label, for the note. The display omits these rows.

    Attributes
    ----------
    markers_ : matplotlib PathCollection
        AUCs of the groups shown, from the lowest to the highest.
    intervals_ : matplotlib LineCollection
        Intervals of the groups shown.
    lines_ : dict of str to matplotlib Line2D
        Lines by name of the statistic.
    shown_ : ndarray of int
        Indices of the groups shown, from the lowest to the highest AUC.
    note_ : str
        Note in the plot on groups and rows left out; empty if the plot shows all.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    GroupAUC.confidence_intervals : The intervals as a table.
    GroupAUC.compare_groups : Tests of differences between groups.
    RankingDisplay : Plot of ranks with intervals.

    Notes
    -----
    For binned scores, the display draws the intervals of `GroupAUC.confidence_intervals`, which
    contain the certain intervals of the AUCs.

    If you pass `ax`, make its figure with ``layout="constrained"``, which leaves room for long
    labels.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.plotting import GroupAUCDisplay
    >>> devices = make_group_scores("different", 50, 200, random_state=0)
    >>> report = GroupAUC.from_predictions(
    ...     devices.y_true, devices.y_score, groups=devices.groups
    ... )
    >>> display = GroupAUCDisplay.from_report(report, statistics=["pooled", "macro"])
    >>> list(display.lines_)
    ['pooled', 'macro']
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    markers_: PathCollection
    intervals_: LineCollection
    lines_: dict[str, Line2D]

    _needs_scores = False

    def __init__(
        self,
        *,
        groups: Sequence[Any],
        auc: ArrayLike,
        ci_low: ArrayLike,
        ci_high: ArrayLike,
        confidence_level: float = 0.95,
        n_rows: ArrayLike | None = None,
        statistics: Mapping[str, float] | None = None,
        n_missing: int = 0,
    ) -> None:
        self.groups = groups
        self.auc = np.asarray(auc, np.float64)
        self.ci_low = np.asarray(ci_low, np.float64)
        self.ci_high = np.asarray(ci_high, np.float64)
        self.confidence_level = confidence_level
        self.n_rows = None if n_rows is None else np.asarray(n_rows)
        self.statistics = dict(statistics or {})
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)
        _check_lines(self.statistics)
        for name in ("auc", "ci_low", "ci_high", "n_rows"):
            values = getattr(self, name)
            if values is not None:
                _input.check_length(name, values.size, "groups", len(groups))

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        confidence_level: float = 0.95,
        method: Method = "logit",
        statistics: Sequence[StatisticName] | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupAUCDisplay:
        """Draw the group AUCs of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default="logit"
            Method of the intervals; see `GroupAUC.confidence_intervals`.
        statistics : sequence of str, default=None
            Statistics to draw as lines: "pooled", "macro", "samples", "positives",
            "negatives", "within", "cross", "worst". None draws "pooled", "macro" and "within",
            or "macro" and "within" if the counts are a summary by group.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        DisclosureError
            If the counts are a summary by group that does not determine a requested statistic.
        """
        cls._check_report(report)
        if statistics is None:
            statistics = [
                name
                for name in _DEFAULT_LINES
                if name in determined_statistics(estimates_of(report).pairs)
            ]
        if isinstance(statistics, str):
            raise TypeError(
                f"statistics must be a sequence of names; got {_words.shortened(statistics)}."
            )
        _check_lines(statistics)
        intervals = report.confidence_intervals(confidence_level, method)
        intervals = by_number(report.counts, intervals)
        display = cls(
            groups=labels_of(report),
            auc=auc_of(report),
            ci_low=intervals["ci_low"],
            ci_high=intervals["ci_high"],
            confidence_level=confidence_level,
            n_rows=report.counts.n_positives + report.counts.n_negatives,
            statistics={name: report.statistic(name) for name in statistics},
            n_missing=report.counts.n_missing,
        )
        return display.plot(ax, max_groups=max_groups)

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
        missing: _input.Missing = "raise",
        clusters: Any = None,
        confidence_level: float = 0.95,
        method: Method = "logit",
        statistics: Sequence[StatisticName] | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupAUCDisplay:
        """Draw the group AUCs of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; higher scores mean the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        clusters : array-like of shape (n_rows,) or (n_rows, n_columns), default=None
            Cluster of each row, such as a patient; see `GroupAUC.from_predictions`.
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default="logit"
            Method of the intervals; see `GroupAUC.confidence_intervals`.
        statistics : sequence of str, default=None
            Statistics to draw as lines: "pooled", "macro", "samples", "positives",
            "negatives", "within", "cross", "worst". None draws "pooled", "macro" and "within".
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        report = cls._of_predictions(
            y_true,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            undefined=undefined,
            missing=missing,
            clusters=clusters,
        )
        return cls.from_report(
            report,
            confidence_level=confidence_level,
            method=method,
            statistics=statistics,
            max_groups=max_groups,
            ax=ax,
        )

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
        undefined: Undefined = "skip",
        missing: _input.Missing = "raise",
        clusters: Any = None,
        confidence_level: float = 0.95,
        method: Method = "logit",
        statistics: Sequence[StatisticName] | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupAUCDisplay:
        """Draw the group AUCs of a fitted estimator.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. If X has an index, its labels
            align a pandas Series with X.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; None means ``estimator.classes_[1]``.
        response_method : str, tuple of str or None, default=None
            Methods of the estimator that return scores, in order of preference. None means
            "decision_function", else "predict_proba", as in scikit-learn's "roc_auc".
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            How to treat groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        clusters : str, list of str, or array-like of shape (n_rows,), default=None
            Cluster of each row, such as a patient; see `GroupAUC.from_estimator`.
        confidence_level : float, default=0.95
            Confidence level of the intervals.
        method : {"logit", "delong", "exact"}, default="logit"
            Method of the intervals; see `GroupAUC.confidence_intervals`.
        statistics : sequence of str, default=None
            Statistics to draw as lines: "pooled", "macro", "samples", "positives",
            "negatives", "within", "cross", "worst". None draws "pooled", "macro" and "within".
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 30 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        report = cls._of_estimator(
            estimator,
            X,
            y,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
            response_method=response_method,
            undefined=undefined,
            missing=missing,
            clusters=clusters,
        )
        return cls.from_report(
            report,
            confidence_level=confidence_level,
            method=method,
            statistics=statistics,
            max_groups=max_groups,
            ax=ax,
        )

    def plot(self, ax: Axes | None = None, *, max_groups: int | None = None) -> GroupAUCDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_groups : int, default=None
            Largest number of groups to draw, at least 2. None draws up to 30 groups, if there is
            room.

        Returns
        -------
        GroupAUCDisplay
            The display itself.
        """
        check_matplotlib("GroupAUCDisplay.plot")
        most = most_groups(max_groups, ax)
        chosen = choose(self.auc, most)
        n_drawn = chosen.shown.size + bool(chosen.left_out.size)
        ax = axes_or_new(ax, MARGINS + 0.6 + 1.1 * LINE * max(n_drawn, 4))
        self.ax_, self.figure_ = ax, ax.figure

        # Positions 0, 1, ... count from the bottom. If the plot omits groups, one position between
        # the lowest and the highest groups holds the note.
        place = np.arange(chosen.shown.size)
        place[chosen.lowest.size :] += bool(chosen.left_out.size)
        self.shown_ = chosen.shown
        auc, low, high = (x[chosen.shown] for x in (self.auc, self.ci_low, self.ci_high))
        self.intervals_ = ax.hlines(place, low, high, color=BLUE, linewidth=1.5, zorder=2)
        self.markers_ = ax.scatter(auc, place, self._areas(), color=BLUE, zorder=3)
        self.lines_ = self._draw_lines(n_drawn)
        set_ticks(ax.yaxis, place.tolist(), [text_of(self.groups[g]) for g in chosen.shown])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        self._set_limits(low, high)
        self._draw_xlabel()
        chosen.draw_note(ax, self.auc, chosen.lowest.size)
        undefined = named(self.groups, np.isnan(self.auc), "an AUC")
        note = "; ".join(filter(None, (undefined, self._left_out)))
        legend_and_note(
            ax,
            list(self.lines_.values()),
            [f"{name} {self.statistics[name]:.3f}" for name in self.lines_],
            note,
            (-0.7, max(n_drawn, 1) - 0.3),
        )
        self.note_ = "; ".join(filter(None, (chosen.note(self.auc), note)))
        return self

    def _areas(self) -> Any:
        """Return the areas of the markers in square points."""
        if self.n_rows is None:
            return _LEAST_AREA + _MORE_AREA / 4
        rows = self.n_rows[self.shown_]
        return _LEAST_AREA + _MORE_AREA * rows / max(rows.max(initial=0), 1)

    def _draw_lines(self, n_drawn: int) -> dict[str, Line2D]:
        lines = {}
        for name, value in self.statistics.items():
            if np.isnan(value):
                continue
            colour, style = _LINES.get(name, _OTHER_LINE)
            (lines[name],) = self.ax_.plot(
                [value, value],
                [-0.7, max(n_drawn, 1) - 0.3],
                color=colour,
                linestyle=style,
                # A wider broken line remains visible on a solid line at the same position.
                linewidth=1.2 if style == "-" else 2.0,
                zorder=1.5,
            )
        return lines

    def _draw_xlabel(self) -> None:
        lay_out(self.ax_)
        short = f"AUC and {100 * self.confidence_level:g} % interval"
        sizes = "" if self.n_rows is None else " (area of a marker: number of rows)"
        write_fitting(self.ax_.xaxis.label, [short + sizes, short], size_of(self.ax_)[0])

    def _set_limits(self, *limits: Any) -> None:
        """Set the limits of the AUC axis to 0.5 and 1, or to 0 and 1 for values below 0.5.

        Fixed limits do not enlarge small differences.
        """
        drawn = np.concatenate([*limits, self.auc[self.shown_], list(self.statistics.values())])
        low = 0.0 if np.isnan(drawn).all() or np.nanmin(drawn) < 0.5 else 0.5
        self.ax_.set_xlim(low - 0.01, 1.01)


def _check_lines(statistics: Any) -> None:
    aucs = [name for name, statistic in STATISTICS.items() if statistic.is_auc]
    for name in statistics:
        if name not in aucs:
            raise ValueError(
                f"statistics must be AUCs, {', '.join(map(repr, aucs))}; got "
                f"{_words.shortened(name)}."
            )
