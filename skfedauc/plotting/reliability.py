"""`ReliabilityDisplay`: share of positives against the mean score, by group."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _input
from skfedauc.inference.calibration import (
    ClusterCells,
    cells_of_probabilities,
    equal_count_bins,
    mean_scores,
)
from skfedauc.inference.rates import wilson
from skfedauc.plotting import drawing
from skfedauc.plotting.base import ReportDisplay
from skfedauc.report import GroupAUC, estimates_of, responses_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox

_TWO_ORDERS = (
    "The display shows predict_proba; for the AUCs of these probabilities, pass "
    "response_method='predict_proba' to GroupAUC.from_estimator."
)
# Error probability of each limit of an interval
_TAIL = 0.025


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(ReportDisplay):
    """Reliability curve by group: share of positives against the mean score in bins.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Each point is a bin of a
    group's rows with its 95 % interval; below the diagonal, scores are too high. Up to 6 groups
    have their own color and line style. If there are more, these are the groups whose mean scores
    deviate most from their share of positives, in standard errors, and up to 30 of the others are
    gray curves without intervals.

    Parameters
    ----------
    report : GroupAUC
        Report to draw. Scores have to be probabilities for the positive class.
    bins : int, default=10
        At most this many bins per group.
    max_groups : int, default=6
        At most this many groups get their own color, from 2 to 6.

    Attributes
    ----------
    mean_score, share, low, high : list of n_groups arrays
        Mean score, share of positives, and the share's limits, in each bin.
    difference : ndarray, shape (n_groups,)
        Mean score minus share of positives over all rows in a group.
    deviation : ndarray, shape (n_groups,)
        The difference in standard errors under perfect calibration.
    curves_ : dict of int to matplotlib ErrorbarContainer
        Curves with their own color, by group index.
    behind_ : dict of int to matplotlib Line2D
        Gray curves, by group index.
    diagonal_ : matplotlib Line2D
        Perfect calibration.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : Reliability curve for all rows.

    Notes
    -----
    A group's bins have equal numbers of its rows, and equal scores are in the same bin.
    Intervals are Wilson's [1]_, one for each point. With weights, bins have equal weights and
    intervals use effective sample sizes, with clusters those of `FairnessAudit`.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22(158).
       https://doi.org/10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots(),
    ...     bins=1,
    ... )
    >>> [share.tolist() for share in display.share]
    [[0.5], [0.5]]
    """

    report: GroupAUC
    _: KW_ONLY
    bins: int = 10
    max_groups: int = len(drawing.STYLES)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_one_set()
        bins = _input.check_whole_number(self.bins, "bins", 1)
        report = self.report
        cells = cells_of_probabilities(report.counts, f"{type(self).__name__}.from_report")
        found = equal_count_bins(cells, bins)
        _, low, high = wilson(found.share, found.n_rows, _TAIL)
        clusters = estimates_of(report).pairs.clusters
        if clusters is not None:
            own = ClusterCells(clusters, cells)
            _, low, high = own.limits_of_bins(found, _TAIL)
        means = mean_scores(cells, 1.0 - 2.0 * _TAIL)
        edges = np.flatnonzero(np.diff(found.groups)) + 1
        self.mean_score, self.share, self.low, self.high = (
            np.split(values, edges) for values in (found.mean, found.share, low, high)
        )
        self.difference, self.deviation = means.mean - means.prevalence, means.deviation

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
        """Return the report of the probabilities; warn if another method gives other AUCs."""
        method, pos_label = settings.pop("response_method"), settings.pop("pos_label")
        _input.check_groups_given(settings["groups"])
        if method is None and not hasattr(estimator, "predict_proba"):
            method = "predict_proba"  # which the estimator lacks, as the error says
        rows = {"y_true": y, "groups": _input.groups_of_rows(settings["groups"], X)}
        rows |= {name: settings[name] for name in ("sample_weight", "missing")}
        found = responses_of(estimator, X, method, pos_label, rows, mend=_TWO_ORDERS)
        return GroupAUC.from_estimator(found.probabilities, X, y, **settings)

    def _plot(self, ax: Axes | None) -> None:
        chosen = drawing.choose(self.deviation, drawing.most_styles(self.max_groups))
        self.ax_ = ax = drawing.axes_or_new(ax, 5.4, 6.4)
        self.figure_ = ax.figure
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=drawing.PALE, linestyle=":", linewidth=1)
        self.behind_: dict[int, Line2D] = {}
        for g in drawing.spread_behind(chosen).tolist():
            (self.behind_[g],) = ax.plot(
                self.mean_score[g], self.share[g], color=drawing.PALE, linewidth=0.6
            )
        self.curves_: dict[int, ErrorbarContainer] = {}
        # Groups with too low scores are above the diagonal.
        shown = chosen.shown.tolist()
        for g, (color, style) in zip(shown, drawing.STYLES, strict=False):
            share = self.share[g]
            self.curves_[g] = ax.errorbar(
                self.mean_score[g],
                share,
                yerr=np.array([share - self.low[g], self.high[g] - share]),
                color=color,
                linestyle=style,
                marker="o",
                markersize=3.5,
                linewidth=1.4,
                elinewidth=0.8,
            )
        top = drawing.top_of([*(self.high[g] for g in shown), *(self.mean_score[g] for g in shown)])
        margin = 0.01 * top
        limits = (-margin, top + margin)
        ax.set(xlabel="Mean score", ylabel="Share of positives", xlim=limits, ylim=limits)
        self._draw_legend(chosen)

    def _draw_legend(self, chosen: drawing.Choice) -> None:
        entries: list[drawing.Entry] = [
            (curve, f"{drawing.text_of(self.groups[g])} ({self.difference[g]:+.3f})")
            for g, curve in self.curves_.items()
        ]
        more, self.note_ = drawing.notes_as_entries(
            list(self.behind_.values()), chosen.left_out.size, [self._left_out]
        )
        low, high = self.ax_.get_xlim()

        def covers(box: Bbox) -> bool:
            right, bottom = (low + (high - low) * end for end in (box.x1, box.y0))
            return any(
                ((self.mean_score[g] <= right) & (self.high[g] >= bottom)).any()
                for g in self.curves_
            )

        drawing.legend_off_curves(
            self.ax_,
            entries + more,
            covers,
            loc="upper left",
            title="Mean score minus\nshare of positives",
            title_fontsize="small",
        )
