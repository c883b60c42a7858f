"""`GroupScoreDisplay`: score histograms of each group, by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.plotting.base import ReportDisplay, auc_of, labels_of
from skfedauc.plotting.curves import score_histograms
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    GREY,
    MARGINS,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    check_threshold,
    choose,
    legend_and_note,
    set_ticks,
    size_of,
    text_of,
)
from skfedauc.report import GroupAUC, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

# Default of `max_groups`, and minimum height in inches of a group's two histograms
_MOST_GROUPS, _ROW = 12, 0.42
# Height of the highest bin of a group; the distance between groups is 1.
_PEAK = 0.45
ALL_GROUPS = "all groups"


class GroupScoreDisplay(ReportDisplay):
    """Score histograms of the negatives and the positives of each group.

    Make the display with `from_report`, `from_predictions` or `from_estimator`. Each group has a
    base line. The histogram of the positives' scores is above the line, and the histogram of the
    negatives' scores is below the line, upside down. All histograms have the same bins. Heights are
    shares of the class, so both histograms of a group have the same area. Each group has its own
    scale. The first row shows the rows of all groups together. Below, the groups follow in
    descending order of AUC. If there are too many groups, the display draws the groups with the
    lowest and the highest AUCs. A note says how many groups the display omits.

    Parameters
    ----------
    groups : sequence of length n_groups
        Labels.
    edges : array-like of shape (n_bins + 1,)
        Edges of the bins.
    negatives, positives : array-like of shape (n_groups, n_bins)
        Weight of each class by group and bin.
    auc : array-like of shape (n_groups,)
        AUC of each group; NaN if the group lacks a class.
    pooled_auc : float, default=nan
        AUC of all groups together.
    share_beyond : float, default=0.0
        Share of the weight of rows with scores beyond the edges. The first and the last bin include
        these rows.
    n_missing : int, default=0
        Number of rows without a group label, for the note. The display omits these rows.
    threshold : float, default=None
        Threshold of the decisions. If the threshold is beyond the edges, a note reports the
        threshold.

    Attributes
    ----------
    negatives_, positives_ : dict of matplotlib StepPatch
        Histograms by index of the group; the key of all groups together is "all groups".
    threshold_line_ : matplotlib Line2D or None
        Line at the threshold.
    shown_ : ndarray of int
        Indices of the groups shown, from bottom to top.
    note_ : str
        Note in the plot on groups and rows left out; empty if the plot shows all.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    GroupAUC.agreement : Tests of equal score distributions in all groups.

    Notes
    -----
    If the negatives have the same score distribution in all groups, the average weighted by
    positives equals the pooled AUC. If the positives have the same score distribution in all
    groups, the average weighted by negatives equals the pooled AUC. If both conditions hold, all
    averages equal the pooled AUC.

    For binned scores, the display draws all rows of a bin at the middle of the bin.

    If you pass `ax`, make its figure with ``layout="constrained"``, which leaves room for long
    labels.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.plotting import GroupScoreDisplay
    >>> devices = make_group_scores("same_negatives", 50, 200, random_state=0)
    >>> report = GroupAUC.from_predictions(
    ...     devices.y_true, devices.y_score, groups=devices.groups
    ... )
    >>> display = GroupScoreDisplay.from_report(report, bins=20)
    >>> display.negatives.sum(axis=1)
    array([200., 200., 200., 200.])
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    negatives_: dict[int | str, StepPatch]
    positives_: dict[int | str, StepPatch]
    threshold_line_: Line2D | None

    def __init__(
        self,
        *,
        groups: Sequence[Any],
        edges: ArrayLike,
        negatives: ArrayLike,
        positives: ArrayLike,
        auc: ArrayLike,
        pooled_auc: float = float("nan"),
        share_beyond: float = 0.0,
        n_missing: int = 0,
        threshold: float | None = None,
    ) -> None:
        self.groups = groups
        self.edges = np.asarray(edges, np.float64)
        self.negatives = np.asarray(negatives, np.float64)
        self.positives = np.asarray(positives, np.float64)
        self.auc = np.asarray(auc, np.float64)
        self.pooled_auc = pooled_auc
        self.share_beyond = share_beyond
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)
        self.threshold = threshold
        for name in ("negatives", "positives", "auc"):
            _input.check_length(name, len(getattr(self, name)), "groups", len(groups))

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        bins: int = 40,
        threshold: float | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupScoreDisplay:
        """Draw the score distributions of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        bins : int, default=40
            Number of bins from the lowest to the highest score. If 998 of 1,000 rows are in less
            than half of this range, the bins cover only the range of these rows. The outermost bins
            then include the other rows, and a note reports these rows.
        threshold : float, default=None
            Threshold of the decisions, which a vertical line marks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 12 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupScoreDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described, or the report is within folds.
        """
        cls._check_report(report)
        cls._check_one_set(report)
        if threshold is not None:
            threshold = check_threshold(threshold)
        bins = _input.check_whole_number(bins, "bins", 2)
        found = score_histograms(report.counts.cells, bins)
        display = cls(
            groups=labels_of(report),
            edges=found.edges,
            negatives=found.negatives,
            positives=found.positives,
            auc=auc_of(report),
            pooled_auc=report.pooled,
            share_beyond=found.share_beyond,
            n_missing=report.counts.n_missing,
            threshold=threshold,
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
        bins: int = 40,
        threshold: float | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupScoreDisplay:
        """Draw the score distributions of predictions.

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
        bins : int, default=40
            Number of bins from the lowest to the highest score. If 998 of 1,000 rows are in less
            than half of this range, the bins cover only the range of these rows. The outermost bins
            then include the other rows, and a note reports these rows.
        threshold : float, default=None
            Threshold of the decisions, which a vertical line marks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 12 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupScoreDisplay

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
        )
        return cls.from_report(report, bins=bins, threshold=threshold, max_groups=max_groups, ax=ax)

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
        bins: int = 40,
        threshold: float | None = None,
        max_groups: int | None = None,
        ax: Axes | None = None,
    ) -> GroupScoreDisplay:
        """Draw the score distributions of a fitted estimator.

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
        bins : int, default=40
            Number of bins from the lowest to the highest score. If 998 of 1,000 rows are in less
            than half of this range, the bins cover only the range of these rows. The outermost bins
            then include the other rows, and a note reports these rows.
        threshold : float, default=None
            Threshold of the decisions, which a vertical line marks.
        max_groups : int, default=None
            Largest number of groups to draw. None draws up to 12 groups, if there is room.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupScoreDisplay

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
        )
        return cls.from_report(report, bins=bins, threshold=threshold, max_groups=max_groups, ax=ax)

    def plot(self, ax: Axes | None = None, *, max_groups: int | None = None) -> GroupScoreDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_groups : int, default=None
            Largest number of groups to draw, at least 2. None draws up to 12 groups, if there is
            room.

        Returns
        -------
        GroupScoreDisplay
            The display itself.
        """
        check_matplotlib("GroupScoreDisplay.plot")
        most = _MOST_GROUPS
        if max_groups is not None:
            most = _input.check_whole_number(max_groups, "max_groups", 2)
        elif ax is not None:
            # Keep room for the histograms of all groups together, the legend and the note.
            most = min(most, max(int(size_of(ax)[1] / _ROW) - 3, 2))
        undefined = np.flatnonzero(np.isnan(self.auc))
        if len(self.groups) > most:
            undefined = undefined[:0]
        chosen = choose(self.auc, most)
        self.shown_ = np.concatenate([undefined, chosen.shown])
        # Positions 0, 1, ... count from the bottom. If the plot omits groups, one position between
        # the lowest and the highest groups holds the note.
        place = np.arange(self.shown_.size)
        n_below = undefined.size + chosen.lowest.size
        place[n_below:] += bool(chosen.left_out.size)
        top = int(place.max(initial=-1)) + 1
        has_all = len(self.groups) > 1

        ax = axes_or_new(ax, MARGINS + 0.5 + max(1.2 * _ROW * (top + has_all), 1.4))
        self.ax_, self.figure_ = ax, ax.figure
        self.negatives_, self.positives_ = {}, {}
        texts = []
        for g, line in zip(self.shown_.tolist(), place.tolist(), strict=True):
            self._draw(g, line, self.negatives[g], self.positives[g])
            texts.append(self._text(g))
        if has_all:
            self._draw(ALL_GROUPS, top, self.negatives.sum(axis=0), self.positives.sum(axis=0))
            place = np.append(place, top)
            pooled = "" if np.isnan(self.pooled_auc) else f" ({self.pooled_auc:.3f})"
            texts.append(f"{ALL_GROUPS}{pooled}")
        set_ticks(ax.yaxis, place.tolist(), texts)
        ax.tick_params(axis="y", length=0)
        span = self.edges[-1] - self.edges[0]
        limits = self.edges[0] - 0.02 * span, self.edges[-1] + 0.02 * span
        ax.set_xlim(*limits)
        ax.set_xlabel("Score")
        ax.set_ylabel("Group (AUC)")
        chosen.draw_note(ax, self.auc, n_below)

        notes = []
        n_absent = int(np.isnan(self.auc).sum()) - undefined.size
        if n_absent:
            notes.append(f"{_words.counted(n_absent, 'group')} without an AUC not shown")
        if self.share_beyond:
            notes.append(
                f"the outermost bins hold scores beyond them as well ({self.share_beyond:.2%} of "
                "the rows)"
            )
        self.threshold_line_ = None
        if self.threshold is not None:
            if limits[0] <= self.threshold <= limits[1]:
                ends = [-0.5, top + has_all - 0.5]
                (self.threshold_line_,) = ax.plot(
                    [self.threshold] * 2, ends, color=BLACK, linestyle=":", linewidth=1.2
                )
            else:
                notes.append(f"the threshold {self.threshold:g} is beyond these scores")
        notes += filter(None, [self._left_out])
        self._draw_legend("; ".join(notes), top + has_all)
        self.note_ = "; ".join(filter(None, (chosen.note(self.auc), *notes)))
        return self

    def _text(self, group: int) -> str:
        label = text_of(self.groups[group])
        if not np.isnan(self.auc[group]):
            return f"{label} ({self.auc[group]:.3f})"
        lacking = "negatives" if self.positives[group].any() else "positives"
        return f"{label} (no {lacking})"

    def _draw(
        self,
        key: int | str,
        line: int,
        negatives: NDArray[np.float64],
        positives: NDArray[np.float64],
    ) -> None:
        """Draw a group's two histograms with equal areas, scaled to the distance between groups."""
        shares = [
            weight / total if (total := weight.sum()) > 0 else weight
            for weight in (negatives, positives)
        ]
        unit = _PEAK / max(share.max() for share in shares)
        self.negatives_[key], self.positives_[key] = (
            self.ax_.stairs(
                line + sign * unit * share,
                self.edges,
                baseline=line,
                fill=True,
                color=colour,
                alpha=0.85,
                zorder=2,
            )
            for share, sign, colour in zip(shares, (-1, 1), (BLUE, VERMILLION), strict=True)
        )
        self.ax_.plot(self.edges[[0, -1]], [line, line], color=GREY, linewidth=0.6, zorder=3)

    def _draw_legend(self, note: str, n_lines: int) -> None:
        from matplotlib.patches import Patch

        handles: list[Any] = [Patch(color=VERMILLION, alpha=0.85), Patch(color=BLUE, alpha=0.85)]
        texts = ["positives (above)", "negatives (below)"]
        if self.threshold_line_ is not None:
            handles.append(self.threshold_line_)
            texts.append(f"threshold {self.threshold:g}")
        legend_and_note(
            self.ax_,
            handles,
            texts,
            note,
            (-0.6, max(n_lines, 1) - 0.4),
        )
