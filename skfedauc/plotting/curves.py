"""Curves by group: `GroupRocCurveDisplay` and `ReliabilityDisplay`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from skfedauc import _input, _labels, _rows, _words
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import view_of
from skfedauc.inference.calibration import (
    ClusterCells,
    cells_of_probabilities,
    mean_scores,
    reliability,
)
from skfedauc.inference.curves import GroupCurves, RocCurve, mean_curve
from skfedauc.pairs import GroupPairs
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import STYLES, ReportDisplay
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import estimates_of, responses_of
from skfedauc.report.threshold_sweep import operating_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

# False and true positive rates
Corners: TypeAlias = tuple[Floats, Floats]

# Curves with more corners are thinned on a grid of squares, each smaller than two pixels.
MOST_CORNERS = 1000
GRID = 500
# Largest number of other groups with a gray curve
_MOST_BEHIND = 30
# Ends of axes of shares; plots of different audits then have comparable scales.
_TOPS = (0.05, 0.1, 0.2, 0.5, 1.0)


class Curve(NamedTuple):
    """One ROC curve in a plot: corners, AUC, and the possible area for binned scores."""

    fpr: Floats
    tpr: Floats
    auc: float
    band: Floats | None = None


def group_curves(states: Sequence[ScoreCounts], groups: Sequence[Any]) -> list[RocCurve | None]:
    """Return each group's ROC curve; None if no `ScoreCounts` has both classes of it.

    With several `ScoreCounts`, such as folds, the curve is their mean, weighted by pairs,
    so the area below is the AUC for pairs within each `ScoreCounts`.
    """
    found: dict[Any, list[tuple[RocCurve, float]]] = {label: [] for label in groups}
    for state in states:
        curves, of_state = GroupCurves.of(state), view_of(state).concordance
        for g, label in enumerate(groups if state.groups is None else state.groups):
            curve = curves.corners(g)
            if curve is not None:
                weight = float(of_state.positives[g]) * float(of_state.negatives[g])
                found[label].append((curve, weight))
    return [mean_curve(*zip(*parts, strict=True)) if parts else None for parts in found.values()]


class _CurvesDisplay(ReportDisplay):
    """Base class for a few curves with colors of their own, and others in gray behind them."""

    max_groups: int
    behind_: dict[int, Line2D]
    _points: Callable[[int], Corners]

    def _begin(self, ax: Axes | None, values: Floats) -> tuple[drawing.Choice, Line2D]:
        """Choose the groups with the lowest and the highest values, and draw what is behind them.

        The result also has the diagonal.
        """
        most, n_colors = _input.check_whole_number(self.max_groups, "max_groups", 2), len(STYLES)
        if most > n_colors:
            raise ValueError(
                f"max_groups must be at most {n_colors}, the number of distinct colors; got "
                f"{_words.shortened(self.max_groups)}. Other groups are drawn in gray."
            )
        chosen = drawing.choose(values, most)
        # With an equal aspect, constrained layout leaves no room for a legend beside the axes.
        ax = self._draw_on(ax, 5.4, 6.4)
        (diagonal,) = ax.plot([0, 1], [0, 1], color=drawing.PALE, linestyle=":", linewidth=1)
        self.behind_ = {}
        for g in drawing.spread(chosen.left_out, _MOST_BEHIND).tolist():
            (self.behind_[g],) = ax.plot(*self._points(g), color=drawing.PALE, linewidth=0.6)
        return chosen, diagonal

    def _finish(
        self, chosen: drawing.Choice, entries: list[drawing.Entry], *notes: str, **kwargs: Any
    ) -> None:
        """Write the notes, and draw the legend where it covers no curve."""
        from matplotlib.lines import Line2D

        others, n_behind, n_other = "", len(self.behind_), chosen.left_out.size
        if n_behind:
            others = _words.counted(n_other, "other group")
            if n_behind < n_other:
                others = f"{n_behind} of {others}"
            entries.append((next(iter(self.behind_.values())), others))
        # Legends are narrow, so break lines.
        texts = [textwrap.fill(note, 36) for note in notes if note]
        entries += [(Line2D([], [], linestyle="none"), text) for text in texts]
        self.note_ = drawing.joined(others, *notes)
        if entries:
            drawing.legend_off_curves(self.ax_, entries, **kwargs)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupRocCurveDisplay(_CurvesDisplay):
    """ROC curves for each group, for all rows together, and adjusted for groups.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Up to 6 groups have their
    own color and line style; if there are more, these are the groups with the lowest and the
    highest AUCs. Up to 30 other groups are gray curves in the background, and the legend
    says how many they are.

    Parameters
    ----------
    report : GroupAUC
        Report to draw.
    adjusted : bool, default=False
        Whether to draw the covariate-adjusted curve.
    threshold : float, default=None
        Decision threshold, marked by a dot on each curve with its own color. Rows with a
        score at or above the threshold are selected.
    max_groups : int, default=6
        At most this many groups get their own color, from 2 to 6.

    Attributes
    ----------
    curves : list of Curve
        Each group's curve: `fpr`, `tpr` (empty if the group lacks a class), `auc` (then NaN), and
        for binned scores `band`, the area that certainly contains the curve.
    pooled_curve, adjusted_curve : Curve or None
        Curve for all rows together, and covariate-adjusted curve.
    threshold_rates : ndarray, shape (2, n_groups) or None
        False and true positive rates at the threshold.
    lines_, behind_ : dict of int to matplotlib Line2D
        Curves with their own color, and gray curves, by group index.
    pooled_line_, adjusted_line_ : matplotlib Line2D or None
    bands_ : dict of int or str to matplotlib Polygon
        Areas that certainly contain the curves for binned scores, by group index, "pooled"
        and "adjusted".
    points_ : dict of int to matplotlib Line2D
        Dots at the threshold, by group index.
    chance_level_ : matplotlib Line2D
        Diagonal: the ROC curve for random scores.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    sklearn.metrics.RocCurveDisplay : ROC curve for all rows, or one curve per fold.

    Notes
    -----
    The covariate-adjusted curve [1]_ is the mean of the groups' curves at each false positive rate,
    weighted by positives, and the area under it is the statistic "positives". Ties and bins are
    straight lines, so the area under each curve is the group's AUC. For a report within folds, each
    curve is the mean of the folds' curves, weighted by pairs. Curves with more than 1,000 corners
    are thinned by less than a pixel or two.

    References
    ----------
    .. [1] Janes and Pepe (2009). Biometrika 96(2). https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import GroupRocCurveDisplay
    >>> display = GroupRocCurveDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots()
    ... )
    >>> [curve.auc for curve in display.curves]
    [1.0, 0.0]
    """

    adjusted: bool = False
    threshold: float | None = None
    max_groups: int = len(STYLES)

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = estimates_of(self.report).pairs
        adjusted = _input.check_flag(self.adjusted, "adjusted")
        self.threshold_rates: Floats | None = None
        if self.threshold is not None:
            self._check_one_set()
            self.threshold = at = drawing.check_threshold(self.threshold)
            self.threshold_rates = np.array(operating_points(self.report.counts, at))
        aucs = [*self._auc.tolist(), self.report.pooled]
        if adjusted:
            aucs.append(GroupAUC(pairs, undefined="ignore").statistic("positives"))
        bands: Sequence[Floats | None] = [None] * len(aucs)
        if pairs.is_binned:
            ends = (_corners(extreme, self.groups, adjusted) for extreme in pairs.extremes())
            bands = [
                np.concatenate([np.column_stack(low), np.column_stack(high)[::-1]])
                for low, high in zip(*ends, strict=True)
            ]
        corners = _corners(pairs, self.groups, adjusted)
        found = [Curve(*of, *more) for of, *more in zip(corners, aucs, bands, strict=True)]
        n_groups = len(self.groups)
        self.curves, self.pooled_curve = found[:n_groups], found[n_groups]
        self.adjusted_curve = found[-1] if adjusted else None

    def _plot(self, ax: Axes | None) -> None:
        from matplotlib.lines import Line2D

        chosen, self.chance_level_ = self._begin(ax, self._auc)
        ax = self.ax_
        self.bands_: dict[int | str, Polygon] = {}
        self._entries: list[drawing.Entry] = []
        pooled, adjusted = self.pooled_curve, self.adjusted_curve
        self.pooled_line_ = self._draw("pooled", "pooled", pooled, drawing.BLACK, "-")
        self.adjusted_line_ = self._draw(
            "adjusted", "adjusted for groups", adjusted, drawing.BLACK, "--"
        )
        self.lines_: dict[int, Line2D] = {}
        self.points_: dict[int, Line2D] = {}
        # Sort from the highest to the lowest AUC: the curves have this order from top to bottom.
        for g, (color, style) in zip(chosen.shown[::-1].tolist(), STYLES, strict=False):
            name = drawing.text_of(self.groups[g])
            line = self._draw(g, name, self.curves[g], color, style, 1.6)
            if line is not None:
                self.lines_[g] = line
            if self.threshold_rates is not None:
                at = self.threshold_rates[:, [g]]
                (self.points_[g],) = ax.plot(
                    *at, "o", color=color, markersize=7, markeredgecolor="white", zorder=4
                )
        ax.set(xlabel="False positive rate", ylabel="True positive rate")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        if self.points_:
            dot = Line2D([], [], color=drawing.BLACK, marker="o", linestyle="none")
            self._entries.append((dot, f"threshold {self.threshold:g}"))
        undefined = drawing.not_shown(int(np.isnan(self._auc).sum()), "group", "an AUC")
        self._finish(chosen, self._entries, undefined, self._left_out, loc="lower right")

    def _points(self, group: int) -> Corners:
        return self.curves[group][:2]

    def _draw(
        self, key: Any, name: str, curve: Curve | None, color: str, style: Any, width: float = 2.0
    ) -> Line2D | None:
        """Draw a curve and the area that certainly contains the curve; None without a curve."""
        if curve is None or not np.size(curve.fpr):
            return None
        if curve.band is not None:
            corners = np.asarray(curve.band, np.float64)
            (self.bands_[key],) = self.ax_.fill(*corners.T, color=color, alpha=0.15, linewidth=0)
        (line,) = self.ax_.plot(*curve[:2], color=color, linestyle=style, linewidth=width)
        self._entries.append((line, f"{name} (AUC {curve.auc:.3f})"))
        return line


def _corners(pairs: GroupPairs, groups: Sequence[Any], adjusted: bool) -> list[Corners]:
    """Return the curves for groups and for all rows, and the adjusted curve if asked for."""
    of_groups = group_curves(pairs.parts, groups)
    curves = of_groups + group_curves([part.regroup(None) for part in pairs.parts], ["all"])
    if adjusted:
        weights = pairs.positives.astype(np.float64).tolist()
        parts = [(c, w) for c, w in zip(of_groups, weights, strict=True) if c is not None]
        curves.append(mean_curve(*zip(*parts, strict=True)) if parts else None)
    none = RocCurve(np.zeros(0), np.zeros(0))
    return [none if curve is None else curve.thinned(MOST_CORNERS, GRID) for curve in curves]


_TWO_ORDERS = (
    "The display shows predict_proba; for the AUCs of these probabilities, pass "
    "response_method='predict_proba' to GroupAUC.from_estimator."
)


@dataclass(eq=False, repr=False, kw_only=True)
class ReliabilityDisplay(_CurvesDisplay):
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
    .. [1] Wilson (1927). Journal of the American Statistical Association 22(158).
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

    bins: int = 10
    max_groups: int = len(STYLES)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_one_set()
        bins = _input.check_whole_number(self.bins, "bins", 1)
        report = self.report
        cells = cells_of_probabilities(report.counts, f"{type(self).__name__}.from_report")
        clusters = estimates_of(report).pairs.clusters
        own = None if clusters is None else ClusterCells(clusters, cells)
        found, limits = reliability(cells, bins, own)
        means = mean_scores(cells, 0.95)
        edges = np.flatnonzero(np.diff(found.groups)) + 1
        self.mean_score, self.share, self.low, self.high = (
            np.split(values, edges) for values in (found.mean, found.share, limits.low, limits.high)
        )
        self.difference, self.deviation = means.mean - means.prevalence, means.deviation

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
        """Return the report of the probabilities; warn if another method gives other AUCs."""
        method, pos_label = (settings.pop(name, None) for name in ("response_method", "pos_label"))
        _labels.check_groups_given(settings["groups"])
        if method is None and not hasattr(estimator, "predict_proba"):
            method = "predict_proba"  # which the estimator lacks, as the error says
        rows = {"y_true": y, "groups": _rows.groups_of_rows(settings["groups"], X)}
        given = settings.keys() & {"sample_weight", "missing"}
        rows |= {name: settings[name] for name in given}
        _, probabilities = responses_of(estimator, X, method, pos_label, rows, mend=_TWO_ORDERS)
        return GroupAUC.from_estimator(probabilities, X, y, **settings)

    def _plot(self, ax: Axes | None) -> None:
        chosen, self.diagonal_ = self._begin(ax, self.deviation)
        ax = self.ax_
        self.curves_: dict[int, ErrorbarContainer] = {}
        # Groups with too low scores are above the diagonal.
        shown = chosen.shown.tolist()
        for g, (color, style) in zip(shown, STYLES, strict=False):
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
        drawn = [of[g] for of in (self.high, self.mean_score) for g in shown]
        highest = max((float(np.nanmax(v)) for v in drawn if not np.isnan(v).all()), default=1.0)
        # The smallest round number that includes all shares
        top = next((top for top in _TOPS if highest <= top), 1.0)
        margin = 0.01 * top
        limits = (-margin, top + margin)
        ax.set(xlabel="Mean score", ylabel="Share of positives", xlim=limits, ylim=limits)
        entries: list[drawing.Entry] = [
            (curve, f"{drawing.text_of(self.groups[g])} ({self.difference[g]:+.3f})")
            for g, curve in self.curves_.items()
        ]
        title: Any = {"title": "Mean score minus\nshare of positives", "title_fontsize": "small"}
        self._finish(chosen, entries, self._left_out, loc="upper left", **title)

    def _points(self, group: int) -> Corners:
        return self.mean_score[group], self.share[group]
