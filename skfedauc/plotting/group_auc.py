"""`GroupAUCDisplay`: forest plot of group AUCs, with the pooled AUC and averages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _words
from skfedauc.inference.limits import Method
from skfedauc.plotting import drawing
from skfedauc.plotting.base import ReportDisplay, labels_of
from skfedauc.report import STATISTICS, GroupAUC, StatisticName, by_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Color and line style of the lines of statistics
_LINES: dict[str, tuple[str, Any]] = {
    "pooled": (drawing.BLACK, "-"),
    "macro": (drawing.VERMILLION, (0, (5, 2))),
    "within": (drawing.GREEN, (0, (1, 1))),
    "samples": (drawing.PURPLE, (0, (6, 1, 1, 1))),
    "positives": (drawing.ORANGE, (0, (3, 3))),
    "negatives": (drawing.PURPLE, (0, (1, 3))),
    "cross": (drawing.GREY, "-"),
    "worst": (drawing.GREY, (0, (1, 1))),
}
_OTHER_LINE: tuple[str, Any] = (drawing.BLACK, (0, (4, 1, 1, 1)))
# Default of `statistics`. A summary by group does not determine the pooled AUC.
_DEFAULT_LINES: tuple[StatisticName, ...] = ("pooled", "macro", "within")
# Areas of markers in square points: the smallest, and the additional area of the largest group
_LEAST_AREA, _MORE_AREA = 14.0, 70.0


@dataclass(kw_only=True, eq=False, repr=False)
class GroupAUCDisplay(ReportDisplay):
    """Forest plot of group AUCs with intervals, and lines for the pooled AUC and averages.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Groups are sorted by AUC. If
    there are too many, only the lowest and the highest are drawn, and a note says how many are left
    out.

    Parameters
    ----------
    table : pandas.DataFrame
        A row for each group, with the columns `auc`, `ci_low` and `ci_high`, such as the result of
        `GroupAUC.confidence_intervals`. A column `n_rows` sets the areas of the markers.
    groups : sequence of length n_groups
        Labels.
    statistics : mapping of str to float, default=None
        Name and value of each line; see `from_report`.
    confidence_level : float, default=0.95
        Confidence level of the intervals, for the label.
    n_missing : int, default=0
        Number of rows without a group label, for the note.

    Attributes
    ----------
    markers_ : matplotlib PathCollection
        AUCs of the groups shown, from the lowest to the highest.
    intervals_ : matplotlib LineCollection
    lines_ : dict of str to matplotlib Line2D
        Lines by name of the statistic.
    shown_ : ndarray of int
        Numbers of the groups shown, from the lowest to the highest AUC.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.confidence_intervals : The intervals as a table.
    GroupAUC.compare_groups : Tests of differences between groups.
    RankingDisplay : Shrunken AUCs and ranks.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import GroupAUCDisplay
    >>> display = GroupAUCDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots()
    ... )
    >>> list(display.lines_)
    ['pooled', 'macro', 'within']
    """

    table: pd.DataFrame
    groups: Sequence[Any]
    statistics: Mapping[str, float] | None = None
    confidence_level: float = 0.95
    n_missing: int = 0

    _needs_scores = False

    def __post_init__(self) -> None:
        self._as_floats()
        _check_lines(self.statistics or ())

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
            "negatives", "within", "cross", "worst". None means "pooled", "macro" and "within", of
            those that the counts determine.
        max_groups : int, default=None
            Largest number of groups to draw; None means up to 30, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupAUCDisplay

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, or an argument is not as described.
        DisclosureError
            If the counts are a summary by group that does not determine a requested statistic.
        """
        cls._check_report(report)
        if statistics is None:
            statistics = [name for name in _DEFAULT_LINES if name in report.determined_statistics]
        if isinstance(statistics, str):
            raise TypeError(
                f"statistics must be a sequence of names; got {_words.shortened(statistics)}."
            )
        _check_lines(statistics)
        table = report.confidence_intervals(confidence_level=confidence_level, method=method)
        counts = report.counts
        display = cls(
            table=by_number(counts, table).assign(n_rows=counts.n_positives + counts.n_negatives),
            groups=labels_of(report),
            statistics={name: report.statistic(name) for name in statistics},
            confidence_level=confidence_level,
            n_missing=report.n_missing,
        )
        return display.plot(ax, max_groups=max_groups)

    def _plot(self, ax: Axes | None = None, *, max_groups: int | None = None) -> None:
        auc, low, high = self._columns("auc", "ci_low", "ci_high")
        chosen = drawing.choose(auc, drawing.most_groups(max_groups, ax))
        self.ax_ = ax = drawing.forest_axes(ax, chosen)
        self.figure_, self.shown_ = ax.figure, chosen.shown
        of_shown = auc[self.shown_]
        low, high = low[self.shown_], high[self.shown_]
        self.intervals_ = ax.hlines(
            chosen.places, low, high, color=drawing.BLUE, linewidth=1.5, zorder=2
        )
        self.markers_ = ax.scatter(
            of_shown, chosen.places, self._areas(), color=drawing.BLUE, zorder=3
        )
        values = self.statistics or {}
        ends = drawing.limits_of_lines(chosen)
        self.lines_ = {
            name: self._line(name, value, ends)
            for name, value in values.items()
            if not np.isnan(value)
        }
        # Fixed limits do not enlarge small differences.
        drawn = np.concatenate([of_shown, low, high, list(values.values())])
        least = 0.0 if np.isnan(drawn).all() or np.nanmin(drawn) < 0.5 else 0.5
        ax.set_xlim(least - 0.01, 1.01)
        short = f"AUC and {100 * self.confidence_level:g} % interval"
        sizes = " (area of a marker: number of rows)" * ("n_rows" in self.table)
        self.note_ = drawing.finish_forest(
            ax,
            self.groups,
            chosen,
            auc,
            "an AUC",
            [short + sizes, short],
            [(line, f"{name} {values[name]:.3f}") for name, line in self.lines_.items()],
            drawing.joined(drawing.named(self.groups, np.isnan(auc), "an AUC"), self._left_out),
        )

    def _areas(self) -> Any:
        """Return the areas of the markers in square points."""
        if "n_rows" not in self.table:
            return _LEAST_AREA + _MORE_AREA / 4
        rows = self._columns("n_rows")[0][self.shown_]
        return _LEAST_AREA + _MORE_AREA * rows / max(rows.max(initial=0), 1)

    def _line(self, name: str, value: float, ends: tuple[float, float]) -> Line2D:
        color, style = _LINES.get(name, _OTHER_LINE)
        # A wider broken line remains visible on a solid line at the same position.
        width = 1.2 if style == "-" else 2.0
        (line,) = self.ax_.plot(
            [value] * 2, ends, color=color, linestyle=style, linewidth=width, zorder=1.5
        )
        return line


def _check_lines(statistics: Iterable[str]) -> None:
    aucs = [name for name, statistic in STATISTICS.items() if statistic.is_auc]
    for name in statistics:
        if name not in aucs:
            raise ValueError(
                f"statistics must be AUCs, {', '.join(map(repr, aucs))}; got "
                f"{_words.shortened(name)}."
            )
