"""`ReliabilityDisplay`: share of positives against the mean score, by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _words
from skfedauc.inference.calibration import (
    ClusterCells,
    cells_of_probabilities,
    equal_count_bins,
    mean_scores,
)
from skfedauc.inference.proportions import wilson
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.plotting.base import ReportDisplay, labels_of
from skfedauc.plotting.drawing import (
    PALE,
    STYLES,
    Choice,
    axes_or_new,
    check_matplotlib,
    choose,
    lay_out,
    legend_of,
    most_styles,
    spread_behind,
    text_of,
    top_of,
)
from skfedauc.report import GroupAUC, estimates_of, responses_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

_TWO_ORDERS = (
    "The display shows predict_proba; for the AUCs of these probabilities, pass "
    "response_method='predict_proba' to GroupAUC.from_estimator."
)
# Error probability of each limit of an interval
_TAIL = 0.025


class ReliabilityDisplay(ReportDisplay):
    """Reliability curve of each group: share of positives against the mean score in bins.

    Make the display with `from_report`, `from_predictions` or `from_estimator`. Each point is a bin
    of a group's rows with its 95 % interval. Points on the diagonal are calibrated, and points
    below the diagonal have too high scores. Up to 6 groups have their own color and line style. If
    there are more groups, the groups whose mean scores deviate most from their share of positives,
    in standard errors, have their own color. Up to 30 of the other groups are gray curves without
    intervals.

    Parameters
    ----------
    groups : sequence of length n_groups
        Labels.
    mean_score, share : sequences of n_groups arrays
        Mean score, and share of positives in each bin of a group.
    low, high : sequences of n_groups arrays
        Limits of each share.
    difference : array-like of shape (n_groups,)
        Mean score minus share of positives of all rows of a group.
    deviation : array-like of shape (n_groups,)
        The difference in standard errors under perfect calibration.
    n_missing : int, default=0
        Number of rows without a group label, for the note. The display omits these rows.

    Attributes
    ----------
    curves_ : dict of int to matplotlib ErrorbarContainer
        Curves of the groups in the legend, by index of the group.
    behind_ : dict of int to matplotlib Line2D
        Curves drawn in gray, by index of the group.
    diagonal_ : matplotlib Line2D
        Perfect calibration.
    note_ : str
        Note in the plot on groups without their own color, and on rows left out.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    FairnessAudit.calibration : Mean score minus share of positives, slope and a test, by group.
    sklearn.calibration.CalibrationDisplay : Reliability curve of all rows.

    Notes
    -----
    The bins of a group have equal numbers of its rows. Equal scores are in the same bin, so groups
    with few distinct scores have fewer bins. Intervals are Wilson's [1]_, one for each point. With
    weights, bins have equal weights, and intervals use effective sample sizes. If the rows of a
    report have clusters, the effective sample sizes are those of `FairnessAudit.rates`.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22(158).
       https://doi.org/10.1080/01621459.1927.10502953

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc.plotting import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], bins=1
    ... )
    >>> [share.tolist() for share in display.share]
    [[0.5], [0.5]]
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    curves_: dict[int, ErrorbarContainer]
    behind_: dict[int, Line2D]
    diagonal_: Line2D

    def __init__(
        self,
        *,
        groups: Sequence[Any],
        mean_score: Sequence[ArrayLike],
        share: Sequence[ArrayLike],
        low: Sequence[ArrayLike],
        high: Sequence[ArrayLike],
        difference: ArrayLike,
        deviation: ArrayLike,
        n_missing: int = 0,
    ) -> None:
        self.groups = groups
        for name, arrays in (
            ("mean_score", mean_score),
            ("share", share),
            ("low", low),
            ("high", high),
        ):
            _input.check_length(name, len(arrays), "groups", len(groups))
            setattr(self, name, [np.asarray(array, np.float64) for array in arrays])
        self.difference = np.asarray(difference, np.float64)
        self.deviation = np.asarray(deviation, np.float64)
        for name in ("difference", "deviation"):
            _input.check_length(name, getattr(self, name).size, "groups", len(groups))
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)

    mean_score: list[Any]
    share: list[Any]
    low: list[Any]
    high: list[Any]

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        bins: int = 10,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the reliability curves of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw. Scores have to be probabilities of the positive class.
        bins : int, default=10
            Largest number of bins of each group.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described, scores are not from 0 to 1, or the report is within
            folds. A `DisclosureError` for binned scores.
        """
        cls._check_report(report)
        cls._check_one_set(report)
        bins = _input.check_whole_number(bins, "bins", 1)
        cells = cells_of_probabilities(report.counts, f"{cls.__name__}.from_report")
        found = equal_count_bins(cells, bins)
        _, low, high = wilson(found.share, found.n_rows, normal_quantile(_TAIL))
        clusters = estimates_of(report).pairs.clusters
        if clusters is not None:
            own = ClusterCells(clusters, cells)
            _, low, high = own.limits_of_bins(found, _TAIL)
        means = mean_scores(cells, 1.0 - 2.0 * _TAIL)
        edges = np.flatnonzero(np.diff(found.groups)) + 1
        display = cls(
            groups=labels_of(report),
            mean_score=np.split(found.mean, edges),
            share=np.split(found.share, edges),
            low=np.split(low, edges),
            high=np.split(high, edges),
            difference=means.mean - means.prevalence,
            deviation=means.deviation,
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
        missing: _input.Missing = "raise",
        bins: int = 10,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the reliability curves of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Probabilities of the positive class.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        bins : int, default=10
            Largest number of bins of each group.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay

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
            undefined="ignore",
            missing=missing,
        )
        return cls.from_report(report, bins=bins, max_groups=max_groups, ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        sample_weight: Any = None,
        missing: _input.Missing = "raise",
        bins: int = 10,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> ReliabilityDisplay:
        """Draw the reliability curves of a fitted estimator.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier with `predict_proba`, or a pipeline or search that ends in
            one. The positive class is ``estimator.classes_[1]``.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. If X has an index, its labels
            align a pandas Series with X.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        missing : {"raise", "drop", "group"}, default="raise"
            How to treat rows without a group label; see `ScoreCounts.from_predictions`.
        bins : int, default=10
            Largest number of bins of each group.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        check_matplotlib("ReliabilityDisplay.from_estimator")
        _input.check_groups_given(groups)
        of_rows = {"sample_weight": sample_weight, "missing": missing}
        labels = _input.groups_of_rows(groups, X)
        found = responses_of(
            estimator,
            X,
            None if hasattr(estimator, "predict_proba") else "predict_proba",
            None,
            {"y_true": y, "groups": labels, **of_rows},
            mend=_TWO_ORDERS,
        )
        report = GroupAUC.from_estimator(
            found.probabilities, X, y, groups=groups, undefined="ignore", **of_rows
        )
        return cls.from_report(report, bins=bins, max_groups=max_groups, ax=ax)

    def plot(self, ax: Axes | None = None, *, max_groups: int = len(STYLES)) -> ReliabilityDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        check_matplotlib("ReliabilityDisplay.plot")
        chosen = choose(self.deviation, most_styles(max_groups))
        ax = axes_or_new(ax, 5.4, 6.4)
        self.ax_, self.figure_ = ax, ax.figure
        (self.diagonal_,) = ax.plot([0, 1], [0, 1], color=PALE, linestyle=":", linewidth=1)
        self.behind_ = {}
        for g in spread_behind(chosen).tolist():
            (self.behind_[g],) = ax.plot(
                self.mean_score[g], self.share[g], color=PALE, linewidth=0.6
            )
        self.curves_ = {}
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
        top = top_of([*(self.high[g] for g in shown), *(self.mean_score[g] for g in shown)])
        margin = 0.01 * top
        limits = (-margin, top + margin)
        ax.set(xlabel="Mean score", ylabel="Share of positives", xlim=limits, ylim=limits)
        self._draw_legend(chosen, top)
        return self

    def _draw_legend(self, chosen: Choice, top: float) -> None:
        """Draw the legend in the axes if it covers no interval, otherwise beside the axes."""
        from matplotlib.lines import Line2D

        entries: list[tuple[Any, str]] = [
            (curve, f"{text_of(self.groups[g])} ({self.difference[g]:+.3f})")
            for g, curve in self.curves_.items()
        ]
        notes = []
        if self.behind_:
            note = f"{len(self.behind_)} of {_words.counted(chosen.left_out.size, 'other group')}"
            if len(self.behind_) == chosen.left_out.size:
                note = _words.counted(len(self.behind_), "other group")
            entries.append((next(iter(self.behind_.values())), note))
            notes.append(note)
        if self.n_missing:
            text = self._left_out.replace(" without ", " without\n")
            entries.append((Line2D([], [], linestyle="none"), text))
            notes.append(self._left_out)
        self.note_ = "; ".join(notes)
        handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
        title = {"title": "Mean score minus\nshare of positives", "title_fontsize": "small"}
        is_laid_out = lay_out(self.ax_)
        legend = legend_of(self.ax_, handles, texts, loc="upper left", **title)
        box = legend.get_window_extent().transformed(self.ax_.transData.inverted())
        is_covering = any(
            ((self.mean_score[g] <= box.x1) & (self.high[g] >= box.y0)).any() for g in self.curves_
        )
        if is_covering and is_laid_out and box.width < 0.6 * top:
            legend.remove()
            legend_of(
                self.ax_, handles, texts, loc="upper left", bbox_to_anchor=(1.02, 1.0), **title
            )
