"""`RankingDisplay`: forest plots of shrunken group AUCs and of group ranks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.inference.ranking import LEAST_GROUPS
from skfedauc.plotting import drawing
from skfedauc.plotting.base import Kind, ReportDisplay, floats
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.quiver import Quiver

# Distance of an observed AUC above its shrunken AUC, in rows
_ABOVE = 0.3


@dataclass(eq=False, repr=False)
class RankingDisplay(ReportDisplay):
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

    report: GroupAUC
    _: KW_ONLY
    kind: Kind = "auc"
    confidence_level: float = 0.95
    max_groups: int | None = None

    _needs_scores = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _input.check_option("kind", self.kind, ("auc", "rank"))
        self.table = self.report.ranking(confidence_level=self.confidence_level)

    def _plot(self, ax: Axes | None) -> None:
        is_auc = self.kind == "auc"
        auc, shrunken, rank = floats(self.table, "auc", "shrunken_auc", "rank")
        is_ranked = ~np.isnan(rank)
        order = np.where(is_ranked, shrunken if is_auc else auc, np.nan)
        is_shrunken = not np.array_equal(auc[is_ranked], shrunken[is_ranked])
        chosen = drawing.choose(order, drawing.most_groups(self.max_groups, ax))
        self.ax_ = ax = drawing.forest_axes(ax, chosen)
        self.figure_, self.shown_ = ax.figure, chosen.shown
        self.observed_: PathCollection | None = None
        self.arrows_: Quiver | None = None
        level = f"{100 * float(self.confidence_level):g} %"
        if is_auc:
            entries = self._draw_aucs(chosen.places, is_shrunken)
            ax.set_xlabel(f"AUC and {level} interval")
        else:
            entries = self._draw_ranks(chosen.places)
            ax.set_xlabel(f"rank (1: largest AUC) and {level} confidence set")
        few = is_auc and not is_shrunken and 0 < is_ranked.sum() < LEAST_GROUPS
        self.note_ = drawing.finish_forest(
            ax,
            self.groups,
            chosen,
            order,
            "a shrunken AUC" if is_auc and is_shrunken else "an AUC",
            entries,
            drawing.joined(
                "AUCs of fewer than four groups are not shrunken" if few else "",
                drawing.named(self.groups, ~is_ranked, "a rank"),
                self._left_out,
            ),
        )

    def _draw_aucs(self, place: NDArray[np.intp], is_shrunken: bool) -> list[drawing.Entry]:
        """Draw observed and shrunken AUCs, and return the legend's entries."""
        ax = self.ax_
        drawn = floats(self.table, "auc", "shrunken_auc", "ci_low", "ci_high")
        observed, shrunken, low, high = (values[self.shown_] for values in drawn)
        self.intervals_ = ax.hlines(place, low, high, color=drawing.BLUE, linewidth=1.5, zorder=2)
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

    def _draw_ranks(self, place: NDArray[np.intp]) -> list[drawing.Entry]:
        """Draw ranks with their confidence sets, and return the legend's entries."""
        from matplotlib.ticker import MaxNLocator

        ax = self.ax_
        drawn = floats(self.table, "rank", "rank_low", "rank_high")
        rank, low, high = (values[self.shown_] for values in drawn)
        self.intervals_ = ax.hlines(place, low, high, color=drawing.BLUE, linewidth=1.5, zorder=2)
        n_ranked = int((~np.isnan(drawn[0])).sum())
        margin = max(0.5, 0.02 * n_ranked)
        ax.set_xlim(1.0 - margin, max(n_ranked, 1) + margin)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        markers, *worst = self._draw_markers(rank, place, "rank")
        return [markers, (self.intervals_, "confidence set"), *worst]

    def _draw_markers(
        self, values: NDArray[np.float64], place: NDArray[np.intp], name: str
    ) -> list[drawing.Entry]:
        """Draw the group markers, and return the legend's entries."""
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
