"""`GroupScoreDisplay`: score histograms by group and class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _input
from skfedauc._kernel import Cells
from skfedauc.counts.moments import Floats
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import ReportDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

# Default of `max_groups`, and minimum height in inches of a group's two histograms
_MOST_GROUPS, _ROW = 12, 0.42
# Height of the highest bin of a group; the distance between groups is 1.
_PEAK = 0.45
ALL_GROUPS = "all groups"
# Share of the rows in each tail; if these rows are outliers, the outermost bins include them.
_TAIL = 0.001


@dataclass(eq=False, repr=False, kw_only=True)
class GroupScoreDisplay(ReportDisplay):
    """Score histograms by group, for negatives and for positives.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Each group has a base line,
    with its positives above and its negatives upside down below.
    Both have the same area, and all groups have the same bins. All groups together come first, then
    the groups from the highest to the lowest AUC. If there are too many, only both ends are drawn,
    and a note says how many are left out.

    Parameters
    ----------
    report : GroupAUC
        Report to draw.
    bins : int, default=40
        Bins from the lowest to the highest score. If 998 of 1,000 rows are in less than
        half of this range, the bins cover only the range of these rows, the outermost bins include
        the others, and a note says so.
    threshold : float, default=None
        Decision threshold, marked by a vertical line.
    max_groups : int, default=None
        Draw at most this many groups, at least 2; None means up to 12, if there is room.

    Attributes
    ----------
    edges : ndarray, shape (n_bins + 1,)
        Bin edges.
    negatives, positives : ndarray, shape (n_groups, n_bins)
        Class weights by group and bin.
    negatives_, positives_ : dict of matplotlib StepPatch
        Histograms by group index; all groups together have the key "all groups".
    threshold_line_ : matplotlib Line2D or None
    shown_ : int array
        Shown groups by index, from bottom to top.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.agreement : Tests whether score distributions are equal in all groups.

    Notes
    -----
    Binned scores are drawn at the middle of their bin.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import GroupScoreDisplay
    >>> display = GroupScoreDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots(),
    ...     bins=2,
    ... )
    >>> display.negatives.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    bins: int = 40
    threshold: float | None = None
    max_groups: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_one_set()
        if self.threshold is not None:
            self.threshold = drawing.check_threshold(self.threshold)
        bins = _input.check_whole_number(self.bins, "bins", 2)
        found = _histograms(self.report.counts.cells, bins)
        self.edges, self.negatives, self.positives, self._share_beyond = found

    def _plot(self, ax: Axes | None) -> None:
        # All groups together have a row as well.
        most = drawing.most_groups(self.max_groups, ax, _MOST_GROUPS, _ROW, 3)
        undefined = np.flatnonzero(np.isnan(self._auc))
        n_absent = undefined.size if len(self.groups) > most else 0
        chosen = drawing.choose(self._auc, most)
        if not n_absent:  # Groups without an AUC are at the bottom.
            chosen = chosen._replace(lowest=np.concatenate([undefined, chosen.lowest]))
        self.shown_, places, top = chosen.shown, chosen.places.tolist(), chosen.n_lines
        has_all = len(self.groups) > 1

        ax = self._draw_on(ax, drawing.MARGINS + 0.5 + max(1.2 * _ROW * (top + has_all), 1.4))
        self.negatives_: dict[int | str, StepPatch] = {}
        self.positives_: dict[int | str, StepPatch] = {}
        for g, place in zip(self.shown_.tolist(), places, strict=True):
            self._draw(g, place, self.negatives[g], self.positives[g])
        texts = [self._text(g) for g in self.shown_.tolist()]
        if has_all:
            self._draw(ALL_GROUPS, top, self.negatives.sum(axis=0), self.positives.sum(axis=0))
            places.append(top)
            pooled = "" if np.isnan(self.report.pooled) else f" ({self.report.pooled:.3f})"
            texts.append(f"{ALL_GROUPS}{pooled}")
            top += 1
        drawing.set_ticks(ax.yaxis, places, texts)
        ax.tick_params(axis="y", length=0)
        margin = 0.02 * (self.edges[-1] - self.edges[0])
        limits = self.edges[0] - margin, self.edges[-1] + margin
        ax.set(xlim=limits, xlabel="Score", ylabel="Group (AUC)")
        left_out = chosen.draw_note(ax, self._auc)
        note = self._draw_legend(top, drawing.not_shown(n_absent, "group", "an AUC"))
        self.note_ = drawing.joined(left_out, note)

    def _draw_legend(self, top: int, *notes: str) -> str:
        """Draw the threshold and the legend, below the height `top`, and return all notes."""
        from matplotlib.patches import Patch

        ax = self.ax_
        if self._share_beyond:
            share = f"{self._share_beyond:.2%} of the rows"
            notes += (f"the outermost bins hold scores beyond them as well ({share})",)
        entries: list[drawing.Entry] = [
            (Patch(color=drawing.VERMILLION, alpha=0.85), "positives (above)"),
            (Patch(color=drawing.BLUE, alpha=0.85), "negatives (below)"),
        ]
        self.threshold_line_: Line2D | None = None
        low, high = ax.get_xlim()
        if self.threshold is not None and low <= self.threshold <= high:
            self.threshold_line_ = drawing.draw_limit(ax, self.threshold, (-0.5, top - 0.5))
            entries.append((self.threshold_line_, f"threshold {self.threshold:g}"))
        elif self.threshold is not None:
            notes += (f"the threshold {self.threshold:g} is beyond these scores",)
        note = drawing.joined(*notes, self._left_out)
        drawing.legend_and_note(ax, entries, note, (-0.6, max(top, 1) - 0.4))
        return note

    def _text(self, group: int) -> str:
        label = drawing.text_of(self.groups[group])
        if not np.isnan(self._auc[group]):
            return f"{label} ({self._auc[group]:.3f})"
        lacking = "negatives" if self.positives[group].any() else "positives"
        return f"{label} (no {lacking})"

    def _draw(
        self,
        key: int | str,
        place: int,
        negatives: Floats,
        positives: Floats,
    ) -> None:
        negatives, positives = (of / (of.sum() or 1.0) for of in (negatives, positives))
        unit = _PEAK / max(negatives.max(), positives.max())
        style: Any = {"baseline": place, "fill": True, "alpha": 0.85, "zorder": 2}
        self.negatives_[key] = self.ax_.stairs(
            place - unit * negatives, self.edges, color=drawing.BLUE, **style
        )
        self.positives_[key] = self.ax_.stairs(
            place + unit * positives, self.edges, color=drawing.VERMILLION, **style
        )
        self.ax_.plot(
            self.edges[[0, -1]], [place, place], color=drawing.GREY, linewidth=0.6, zorder=3
        )


def _histograms(cells: Cells, n_bins: int) -> tuple[Floats, Floats, Floats, float]:
    """Return edges, negatives and positives by group and bin, and the share beyond the edges."""
    negatives, positives = (amount.astype(np.float64) for amount in cells.amounts)
    scores, weights = cells.scores, negatives + positives
    low, high = _limits(scores, weights)
    if max(-low, high) > drawing.LARGEST:
        raise ValueError(
            f"the scores from {low:.3g} to {high:.3g} are too large for histogram bins; plot "
            "ranks or logarithms of the scores."
        )
    if low == high:
        half = max(0.5, abs(low) / 2**20)  # Adding 0.5 to a large score has no effect.
        low, high = low - half, high + half
    edges = np.linspace(low, high, n_bins + 1)
    inside = np.clip(scores, edges[0], edges[-1])
    share_beyond = float(weights[inside != scores].sum() / weights.sum())
    bins = np.arange(cells.starts.size), edges
    negatives, positives = (
        np.histogram2d(cells.groups, inside, bins, weights=of)[0] for of in (negatives, positives)
    )
    return edges, negatives, positives, share_beyond


def _limits(scores: Floats, weights: Floats) -> tuple[float, float]:
    """Return the lowest and the highest score, or tail quantiles if there are outliers."""
    low, high = float(scores.min()), float(scores.max())
    order = np.argsort(scores)
    below = np.cumsum(weights[order])
    at = np.searchsorted(below, np.array([_TAIL, 1 - _TAIL]) * below[-1])
    inner_low, inner_high = scores[order[np.minimum(at, scores.size - 1)]].tolist()
    # Compare halves, because the difference of two floats can overflow.
    far = high / 2 - low / 2 > inner_high - inner_low
    return (inner_low, inner_high) if far and inner_low < inner_high else (low, high)
