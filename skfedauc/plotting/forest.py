"""Forest plots: `GroupAUCDisplay` of group AUCs, `RankingDisplay` of shrunken AUCs and of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts.moments import Floats
from skfedauc.inference.intervals import Method
from skfedauc.inference.ranking import LEAST_GROUPS
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import Choice, Entry, Kind, ReportDisplay, floats
from skfedauc.report.group_auc import estimates_of
from skfedauc.report.groups import by_number
from skfedauc.report.statistics import (
    STATISTICS,
    StatisticName,
    determined_statistics,
    statistics_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.quiver import Quiver

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
# Default of `statistics`. A summary by group does not determine the pooled AUC.
_DEFAULT_LINES: tuple[StatisticName, ...] = ("pooled", "macro", "within")
# Default of `max_groups`
_MOST_GROUPS = 30
# Areas of markers in square points: the smallest, and the additional area of the largest group
_LEAST_AREA, _MORE_AREA = 14.0, 70.0


class _ForestDisplay(ReportDisplay):
    """Base class for a line by group, and a note on the groups left out."""

    confidence_level: float
    max_groups: int | None
    shown_: NDArray[np.intp]

    def _begin(self, ax: Axes | None, values: Floats) -> Choice:
        most = drawing.most_groups(self.max_groups, ax, _MOST_GROUPS, drawing.LINE, 5)
        chosen = drawing.choose(values, most)
        n_lines = max(chosen.n_lines, 4)
        ax = self._draw_on(ax, drawing.MARGINS + 0.6 + 1.1 * drawing.LINE * n_lines)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        self.shown_ = chosen.shown
        return chosen

    def _draw_intervals(self, chosen: Choice, low: Floats, high: Floats) -> None:
        self.intervals_ = self.ax_.hlines(
            chosen.places, low, high, color=drawing.BLUE, linewidth=1.5, zorder=2
        )

    def _finish(
        self, chosen: Choice, values: Floats, name: str, entries: Sequence[Entry], *notes: str
    ) -> None:
        """Write the labels, notes and legend; `name` says what the values are."""
        ax, note = self.ax_, drawing.joined(*notes, self._left_out)
        labels = [drawing.text_of(self.groups[g]) for g in chosen.shown]
        drawing.set_ticks(ax.yaxis, chosen.places.tolist(), labels)
        left_out = chosen.draw_note(ax, values, name)
        drawing.legend_and_note(ax, entries, note, chosen.limits_of_lines)
        self.note_ = drawing.joined(left_out, note)

    @property
    def _level(self) -> str:
        return f"{100 * float(self.confidence_level):g} %"


@dataclass(eq=False, repr=False, kw_only=True)
class GroupAUCDisplay(_ForestDisplay):
    """Forest plot of group AUCs with intervals, and lines for the pooled AUC and averages.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Groups are sorted by AUC. If
    there are too many, only the lowest and the highest are drawn, and a note says how many are left
    out.

    Parameters
    ----------
    report : GroupAUC
        Report to draw.
    confidence_level : float, default=0.95
        Confidence level.
    method : {"logit", "delong", "exact"}, default=None
        Interval method; see `GroupAUC.confidence_intervals`.
    statistics : sequence of str, default=None
        Statistics to draw as lines: "pooled", "macro", "samples", "positives", "negatives",
        "within", "cross", "worst". None means "pooled", "macro" and "within", of those that the
        counts determine.
    max_groups : int, default=None
        Draw at most this many groups, at least 2; None means up to 30, if there is room.

    Attributes
    ----------
    table : pandas.DataFrame
        Each group's AUC, limits and row count.
    markers_ : matplotlib PathCollection
        The AUCs shown, from the lowest to the highest.
    intervals_ : matplotlib LineCollection
    lines_ : dict of str to matplotlib Line2D
        Lines by statistic name.
    shown_ : int array
        Shown groups by index, from the lowest to the highest AUC.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.confidence_intervals : The intervals as a table.
    GroupAUC.compare_groups : Tests for differences between groups.
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

    confidence_level: float = 0.95
    method: Method | None = None
    statistics: Sequence[StatisticName] | None = None
    max_groups: int | None = None

    _needs_scores = False
    _needs_auc = False

    def __post_init__(self) -> None:
        super().__post_init__()
        report, names = self.report, self.statistics
        known, measure = determined_statistics(estimates_of(report)), estimates_of(report).measure
        if names is None:
            names = [name for name in _DEFAULT_LINES if name in known]
        _input.check_type(names, Iterable, "statistics must be a list of names")
        aucs = [name for name in statistics_of(measure) if STATISTICS[name].is_auc]
        for name in names:
            _input.check_option("statistics", name, aucs)
        table = report.confidence_intervals(
            confidence_level=self.confidence_level, method=self.method
        )
        counts = report.counts
        n_rows = counts.n_positives + counts.n_negatives
        columns = [measure.name, "ci_low", "ci_high"]
        self.table = by_number(counts, table)[columns].assign(n_rows=n_rows)
        self._values = {name: report.statistic(name) for name in names}

    def _plot(self, ax: Axes | None) -> None:
        auc, *limits, n_rows = floats(self.table, *self.table)
        chosen = self._begin(ax, auc)
        ax = self.ax_
        shown, low, high = (values[chosen.shown] for values in (auc, *limits))
        self._draw_intervals(chosen, low, high)
        rows = n_rows[chosen.shown]
        areas = _LEAST_AREA + _MORE_AREA * rows / max(rows.max(initial=0), 1)
        self.markers_ = ax.scatter(shown, chosen.places, areas, color=drawing.BLUE, zorder=3)
        ends = chosen.limits_of_lines
        self.lines_: dict[StatisticName, Line2D] = {}
        for name, value in self._values.items():
            if not np.isnan(value):
                color, style = _LINES[name]
                # A wider broken line remains visible on a solid line at the same position.
                width = 1.2 if style == "-" else 2.0
                (self.lines_[name],) = ax.plot(
                    [value] * 2, ends, color=color, linestyle=style, linewidth=width, zorder=1.5
                )
        # Fixed limits do not enlarge small differences.
        drawn = np.concatenate([shown, low, high, list(self._values.values())])
        least = 0.0 if np.isnan(drawn).all() or np.nanmin(drawn) < 0.5 else 0.5
        ax.set_xlim(least - 0.01, 1.01)
        title = estimates_of(self.report).measure.title
        ax.set_xlabel(f"{title} and {self._level} interval, area: number of rows")
        entries = [(line, f"{name} {self._values[name]:.3f}") for name, line in self.lines_.items()]
        absent = drawing.named(self.groups, np.isnan(auc), "an AUC")
        self._finish(chosen, auc, "an AUC", entries, absent)


# Distance of an observed AUC above its shrunken AUC, in rows
_ABOVE = 0.3


@dataclass(eq=False, repr=False, kw_only=True)
class RankingDisplay(_ForestDisplay):
    """Forest plot of shrunken group AUCs, or group ranks with confidence sets.

    Make it with `from_report`, `from_predictions` or `from_estimator`. The best group is at the
    top. If there are too many groups, only both ends are drawn, and a note says how many are left
    out. The legend counts all groups that may be worst, drawn or not.

    Parameters
    ----------
    report : GroupAUC
        Report to draw.
    kind : {"auc", "rank"}, default="auc"
        "auc" draws observed and shrunken AUCs; "rank" draws ranks.
    confidence_level : float, default=0.95
        Confidence level for intervals and rank sets.
    max_groups : int, default=None
        Draw at most this many groups, at least 2; None means up to 30, if there is room.

    Attributes
    ----------
    table : pandas.DataFrame
        What `GroupAUC.ranking` returned.
    markers_ : matplotlib PathCollection
        The shrunken AUCs or ranks shown, from the bottom to the top.
    worst_ : matplotlib PathCollection
        Markers for shown groups that may be worst, on top of `markers_`.
    intervals_ : matplotlib LineCollection
        The intervals or rank sets shown.
    observed_ : matplotlib PathCollection or None
        Observed AUCs; None if no shrunken AUC differs, and for kind "rank".
    arrows_ : matplotlib Quiver or None
        Arrows from the observed to the shrunken AUCs.
    shown_ : int array
        Shown groups by index, from the bottom to the top.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.ranking : The table with these values.
    GroupAUCDisplay : Forest plot with the observed AUCs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import RankingDisplay
    >>> display = RankingDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots(),
    ...     kind="rank",
    ... )
    >>> display.ax_.get_xlabel()
    'rank (1: largest AUC) and 95 % confidence set'
    """

    kind: Kind = "auc"
    confidence_level: float = 0.95
    max_groups: int | None = None

    _needs_scores = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _input.check_option("kind", self.kind, ("auc", "rank"))
        table = self.report.ranking(confidence_level=self.confidence_level)
        self.table = by_number(self.report.counts, table)

    def _plot(self, ax: Axes | None) -> None:
        is_auc = self.kind == "auc"
        auc, shrunken, rank = floats(self.table, "auc", "shrunken_auc", "rank")
        is_ranked = ~np.isnan(rank)
        order = np.where(is_ranked, shrunken if is_auc else auc, np.nan)
        is_shrunken = not np.array_equal(auc[is_ranked], shrunken[is_ranked])
        chosen = self._begin(ax, order)
        self.observed_: PathCollection | None = None
        self.arrows_: Quiver | None = None
        if is_auc:
            entries = self._draw_aucs(chosen, is_shrunken)
            self.ax_.set_xlabel(f"AUC and {self._level} interval")
        else:
            entries = self._draw_ranks(chosen)
            self.ax_.set_xlabel(f"rank (1: largest AUC) and {self._level} confidence set")
        few = is_auc and not is_shrunken and 0 < is_ranked.sum() < LEAST_GROUPS
        self._finish(
            chosen,
            order,
            "a shrunken AUC" if is_auc and is_shrunken else "an AUC",
            entries,
            "AUCs of fewer than four groups are not shrunken" if few else "",
            drawing.named(self.groups, ~is_ranked, "a rank"),
        )

    def _draw_aucs(self, chosen: Choice, is_shrunken: bool) -> list[Entry]:
        ax, place = self.ax_, chosen.places
        drawn = floats(self.table, "auc", "shrunken_auc", "ci_low", "ci_high")
        observed, shrunken, low, high = (values[self.shown_] for values in drawn)
        self._draw_intervals(chosen, low, high)
        limits = np.concatenate([observed, low, high])
        least, most = (float(limits.min()), float(limits.max())) if limits.size else (0.0, 1.0)
        margin = 0.04 * (most - least) + 0.01
        ax.set_xlim(least - margin, most + margin)
        if not is_shrunken:
            return self._draw_markers(shrunken, place, "AUC")
        above = place + _ABOVE
        self.observed_ = ax.scatter(
            observed, above, 16.0, facecolors="none", edgecolors=drawing.GREY, zorder=3
        )
        self.arrows_ = ax.quiver(
            observed,
            above,
            shrunken - observed,
            np.full(place.size, -_ABOVE),
            angles="xy",
            scale_units="xy",
            scale=1.0,
            units="inches",
            width=0.012,
            # The marker covers the tip, so the head must be longer than the marker.
            headwidth=7.0,
            headlength=9.0,
            headaxislength=9.0,
            color=drawing.GREY,
            zorder=2.5,
        )
        return [(self.observed_, "AUC"), *self._draw_markers(shrunken, place, "shrunken AUC")]

    def _draw_ranks(self, chosen: Choice) -> list[Entry]:
        from matplotlib.ticker import MaxNLocator

        ax = self.ax_
        drawn = floats(self.table, "rank", "rank_low", "rank_high")
        rank, low, high = (values[self.shown_] for values in drawn)
        self._draw_intervals(chosen, low, high)
        n_ranked = int((~np.isnan(drawn[0])).sum())
        margin = max(0.5, 0.02 * n_ranked)
        ax.set_xlim(1.0 - margin, max(n_ranked, 1) + margin)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        markers, *worst = self._draw_markers(rank, chosen.places, "rank")
        return [markers, (self.intervals_, "confidence set"), *worst]

    def _draw_markers(self, values: Floats, place: NDArray[np.intp], name: str) -> list[Entry]:
        self.markers_ = self.ax_.scatter(values, place, 30.0, color=drawing.BLUE, zorder=3)
        (all_worst,) = floats(self.table, "may_be_worst")
        which = all_worst[self.shown_] == 1
        self.worst_ = self.ax_.scatter(
            values[which], place[which], 30.0, color=drawing.VERMILLION, zorder=3.1
        )
        may_be_worst = f"may be worst ({np.count_nonzero(all_worst == 1):,})"
        if which.size and which.all():
            # No marker has the color of other groups.
            return [(self.worst_, f"{name}, {may_be_worst}")]
        return [(self.markers_, name), (self.worst_, may_be_worst)]
