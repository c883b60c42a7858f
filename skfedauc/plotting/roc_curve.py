"""`GroupRocCurveDisplay`: ROC curves of each group, of all rows, and adjusted for groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.pairs import GroupPairs
from skfedauc.plotting.base import ReportDisplay, auc_of, labels_of
from skfedauc.plotting.curves import adjusted_curve, drawn_corners, group_curves
from skfedauc.plotting.drawing import (
    BLACK,
    PALE,
    STYLES,
    Choice,
    axes_or_new,
    check_matplotlib,
    check_threshold,
    choose,
    lay_out,
    legend_of,
    most_styles,
    size_of,
    spread_behind,
    text_of,
)
from skfedauc.report import GroupAUC, Undefined, estimates_of
from skfedauc.report.threshold_sweep import operating_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]

# Inches that a legend beside or below the axes leaves, and inches of the labels below the axes
_LEAST_WIDTH, _BELOW = 2.2, 0.5


class _Curves(NamedTuple):
    """Curves of all groups, of all rows together, and covariate-adjusted (empty if not drawn)."""

    of_groups: list[Curve]
    pooled: Curve
    adjusted: Curve

    @classmethod
    def of(cls, pairs: GroupPairs, groups: Sequence[Any], adjusted: bool) -> _Curves:
        """Return the curves of these pairs."""
        (pooled,) = group_curves([part.without_groups() for part in pairs.parts], ["all"])
        of_groups = group_curves(pairs.parts, groups)
        mean = adjusted_curve(of_groups, pairs.positives) if adjusted else None
        return cls(list(map(drawn_corners, of_groups)), drawn_corners(pooled), drawn_corners(mean))


def _outline(lowest: Curve, highest: Curve) -> NDArray[np.float64]:
    """Return the outline of the area between two curves."""
    return np.concatenate([np.column_stack(lowest), np.column_stack(highest)[::-1]])


def _adjusted_auc(pairs: GroupPairs) -> float:
    """Return the average of the defined group AUCs by positives; NaN without a defined AUC."""
    weights = pairs.positives[pairs.defined].astype(np.float64)
    return float(np.average(pairs.auc[pairs.defined], weights=weights)) if weights.size else np.nan


class GroupRocCurveDisplay(ReportDisplay):
    """ROC curves of each group, of all rows together, and adjusted for groups.

    Make the display with `from_report`, `from_predictions` or `from_estimator`. Up to 6 groups have
    their own color and line style. If there are more groups, the groups with the lowest and the
    highest AUCs have their own color. Up to 30 of the other groups are gray curves in the
    background, evenly spread over the order of their AUCs. The legend says how many groups are
    gray.

    Parameters
    ----------
    groups : sequence of length n_groups
        Labels.
    fpr, tpr : sequences of n_groups arrays
        False and true positive rates of each group, from 0 to 1; empty if the group lacks a class.
    auc : array-like of shape (n_groups,)
        AUC of each group; NaN if the group lacks a class.
    pooled_fpr, pooled_tpr : array-like, default=None
        False and true positive rates of all rows together.
    pooled_auc : float, default=None
        AUC of all rows together.
    n_missing : int, default=0
        Number of rows without a group label, for the note. The display omits these rows.
    bands : sequence of n_groups arrays of shape (n_corners, 2), default=None
        For binned scores: outline of the area that certainly contains the curve of each group, as
        false and true positive rates. Empty if the group lacks a class.
    pooled_band : array-like of shape (n_corners, 2), default=None
        Outline of the area that certainly contains the curve of all rows together.
    adjusted_fpr, adjusted_tpr : array-like, default=None
        False and true positive rates of the covariate-adjusted curve.
    adjusted_auc : float, default=None
        Area under the covariate-adjusted curve.
    adjusted_band : array-like of shape (n_corners, 2), default=None
        Outline of the area that certainly contains the covariate-adjusted curve.
    threshold : float, default=None
        Threshold of the decisions.
    threshold_fpr, threshold_tpr : array-like of shape (n_groups,), default=None
        False and true positive rates of each group at the threshold.

    Attributes
    ----------
    lines_ : dict of int to matplotlib Line2D
        Curves of the groups in the legend, by index of the group.
    behind_ : dict of int to matplotlib Line2D
        Curves drawn in gray, by index of the group.
    pooled_line_ : matplotlib Line2D or None
        Curve of all rows together.
    adjusted_line_ : matplotlib Line2D or None
        Covariate-adjusted curve.
    bands_ : dict of int, str or None to matplotlib Polygon
        Areas that certainly contain the curves of binned scores, by index of the group. None is the
        index of all rows together, and "adjusted" is the index of the covariate-adjusted curve. The
        dict is empty for exact scores, and has no entry for gray groups.
    points_ : dict of int to matplotlib Line2D
        Dots at the threshold, by index of the group; empty without a threshold.
    chance_level_ : matplotlib Line2D
        Diagonal: the ROC curve of random scores.
    note_ : str
        Note in the plot on groups without their own color or without a curve.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn.metrics.RocCurveDisplay : ROC curve of all rows, or one curve per fold.

    Notes
    -----
    The covariate-adjusted ROC curve [1]_ is the mean of the groups' curves at each false positive
    rate, weighted by positives. Choose a threshold in each group such that all groups have this
    false positive rate: the height of the curve is the true positive rate over all groups. The area
    under the curve is the average by positives, the statistic ``"positives"``. The curve omits
    groups that lack a class.

    Tie blocks are straight lines, so the area under each curve is the group's AUC. If the report
    compares rows within folds only, each curve is a mean of the folds' curves. The mean at each
    false positive rate has the folds' pairs as weights. The area under the mean curve is the AUC
    within folds. For binned scores, each bin is a straight line, and the shaded area certainly
    contains the curve of the exact scores.

    The display thins curves with more than 1,000 corners on a grid of 500 by 500 squares. The AUCs
    in the legend are exact.

    If you pass `ax`, make its figure with ``layout="constrained"``. The display can then move a
    legend that covers a curve to the right of the axes, except in small axes.

    References
    ----------
    .. [1] Janes, H. and Pepe, M. S. (2009). Adjusting for covariate effects on classification
       accuracy using the covariate-adjusted receiver operating characteristic curve.
       Biometrika 96(2). https://doi.org/10.1093/biomet/asp002

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.datasets import make_group_scores
    >>> from skfedauc.plotting import GroupRocCurveDisplay
    >>> devices = make_group_scores("different", 50, 200, random_state=0)
    >>> report = GroupAUC.from_predictions(
    ...     devices.y_true, devices.y_score, groups=devices.groups
    ... )
    >>> display = GroupRocCurveDisplay.from_report(report)
    >>> len(display.lines_)
    4
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[int, Line2D]
    behind_: dict[int, Line2D]
    pooled_line_: Line2D | None
    adjusted_line_: Line2D | None
    bands_: dict[int | str | None, Polygon]
    chance_level_: Line2D

    def __init__(
        self,
        *,
        groups: Sequence[Any],
        fpr: Sequence[NDArray[np.float64]],
        tpr: Sequence[NDArray[np.float64]],
        auc: ArrayLike,
        pooled_fpr: ArrayLike | None = None,
        pooled_tpr: ArrayLike | None = None,
        pooled_auc: float | None = None,
        n_missing: int = 0,
        bands: Sequence[NDArray[np.float64]] | None = None,
        pooled_band: ArrayLike | None = None,
        adjusted_fpr: ArrayLike | None = None,
        adjusted_tpr: ArrayLike | None = None,
        adjusted_auc: float | None = None,
        adjusted_band: ArrayLike | None = None,
        threshold: float | None = None,
        threshold_fpr: ArrayLike | None = None,
        threshold_tpr: ArrayLike | None = None,
    ) -> None:
        self.groups = groups
        self.fpr = fpr
        self.tpr = tpr
        self.auc = np.asarray(auc, np.float64)
        self.pooled_fpr = pooled_fpr
        self.pooled_tpr = pooled_tpr
        self.pooled_auc = pooled_auc
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)
        self.bands = bands
        self.pooled_band = pooled_band
        self.adjusted_fpr = adjusted_fpr
        self.adjusted_tpr = adjusted_tpr
        self.adjusted_auc = adjusted_auc
        self.adjusted_band = adjusted_band
        self.threshold = threshold
        self.threshold_fpr: NDArray[np.float64] | None = None
        self.threshold_tpr: NDArray[np.float64] | None = None
        if threshold_fpr is not None and threshold_tpr is not None:
            self.threshold_fpr = np.asarray(threshold_fpr, np.float64)
            self.threshold_tpr = np.asarray(threshold_tpr, np.float64)
            for name in ("threshold_fpr", "threshold_tpr"):
                _input.check_length(name, getattr(self, name).size, "groups", len(groups))
        if bands is not None:
            _input.check_length("bands", len(bands), "groups", len(groups))
        for name, size in (("fpr", len(fpr)), ("tpr", len(tpr)), ("auc", self.auc.size)):
            _input.check_length(name, size, "groups", len(groups))

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        adjusted: bool = False,
        threshold: float | None = None,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> GroupRocCurveDisplay:
        """Draw the ROC curves of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        adjusted : bool, default=False
            Whether to draw the covariate-adjusted ROC curve, whose area is the average by
            positives.
        threshold : float, default=None
            Threshold of the decisions, which a dot marks on each curve with its own color. Rows
            with a score of at least the threshold are selected.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupRocCurveDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        cls._check_report(report)
        if not isinstance(adjusted, bool):
            raise TypeError(f"adjusted must be True or False; got {_words.shortened(adjusted)}.")
        points: tuple[ArrayLike | None, ArrayLike | None] = None, None
        if threshold is not None:
            cls._check_one_set(report)
            points = operating_points(report.counts, check_threshold(threshold))
        groups = labels_of(report)
        curves = _Curves.of(estimates_of(report).pairs, groups, adjusted)
        bands, pooled_band, adjusted_band = None, None, None
        if estimates_of(report).pairs.is_binned:
            low, high = (
                _Curves.of(ends, groups, adjusted) for ends in estimates_of(report).pairs.extremes()
            )
            bands = list(map(_outline, low.of_groups, high.of_groups))
            pooled_band = _outline(low.pooled, high.pooled)
            adjusted_band = _outline(low.adjusted, high.adjusted)
        display = cls(
            groups=groups,
            fpr=[fpr for fpr, _ in curves.of_groups],
            tpr=[tpr for _, tpr in curves.of_groups],
            auc=auc_of(report),
            pooled_fpr=curves.pooled[0],
            pooled_tpr=curves.pooled[1],
            pooled_auc=report.pooled,
            n_missing=report.counts.n_missing,
            bands=bands,
            pooled_band=pooled_band,
            adjusted_fpr=curves.adjusted[0] if adjusted else None,
            adjusted_tpr=curves.adjusted[1] if adjusted else None,
            adjusted_auc=_adjusted_auc(estimates_of(report).pairs) if adjusted else None,
            adjusted_band=adjusted_band if adjusted else None,
            threshold=threshold,
            threshold_fpr=points[0],
            threshold_tpr=points[1],
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
        adjusted: bool = False,
        threshold: float | None = None,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> GroupRocCurveDisplay:
        """Draw the ROC curves of predictions.

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
        adjusted : bool, default=False
            Whether to draw the covariate-adjusted ROC curve; see `from_report`.
        threshold : float, default=None
            Threshold of the decisions, which a dot marks on each curve with its own color. Rows
            with a score of at least the threshold are selected.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupRocCurveDisplay

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
        return cls.from_report(
            report, adjusted=adjusted, threshold=threshold, max_groups=max_groups, ax=ax
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
        adjusted: bool = False,
        threshold: float | None = None,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> GroupRocCurveDisplay:
        """Draw the ROC curves of a fitted estimator.

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
        adjusted : bool, default=False
            Whether to draw the covariate-adjusted ROC curve; see `from_report`.
        threshold : float, default=None
            Threshold of the decisions, which a dot marks on each curve with its own color. Rows
            with a score of at least the threshold are selected.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        GroupRocCurveDisplay

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
        return cls.from_report(
            report, adjusted=adjusted, threshold=threshold, max_groups=max_groups, ax=ax
        )

    def plot(
        self, ax: Axes | None = None, *, max_groups: int = len(STYLES)
    ) -> GroupRocCurveDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.

        Returns
        -------
        GroupRocCurveDisplay
            The display itself.
        """
        check_matplotlib("GroupRocCurveDisplay.plot")
        chosen = choose(self.auc, most_styles(max_groups))
        # With an equal aspect, constrained layout leaves no room for a legend beside the axes.
        ax = axes_or_new(ax, 5.4, 6.4)
        self.ax_, self.figure_ = ax, ax.figure
        (self.chance_level_,) = ax.plot([0, 1], [0, 1], color=PALE, linestyle=":", linewidth=1)

        self.behind_ = {
            g: self._draw(self.fpr[g], self.tpr[g], color=PALE, linewidth=0.6)
            for g in spread_behind(chosen).tolist()
        }
        self.pooled_line_ = None
        if self.pooled_fpr is not None and np.size(self.pooled_fpr):
            self.pooled_line_ = self._draw(
                self.pooled_fpr, self.pooled_tpr, color=BLACK, linewidth=2.0
            )
        self.adjusted_line_ = None
        if self.adjusted_fpr is not None and np.size(self.adjusted_fpr):
            self.adjusted_line_ = self._draw(
                self.adjusted_fpr, self.adjusted_tpr, color=BLACK, linestyle="--", linewidth=2.0
            )
        self.lines_, self.bands_, self.points_ = {}, {}, {}
        if self.pooled_band is not None:
            self._shade(None, self.pooled_band, BLACK)
        if self.adjusted_band is not None:
            self._shade("adjusted", self.adjusted_band, BLACK)
        # Sort from the highest to the lowest AUC: the curves have this order from top to bottom.
        for g, (colour, style) in zip(chosen.shown[::-1].tolist(), STYLES, strict=False):
            self.lines_[g] = self._draw(
                self.fpr[g], self.tpr[g], color=colour, linestyle=style, linewidth=1.6
            )
            if self.bands is not None:
                self._shade(g, self.bands[g], colour)
            if self.threshold_fpr is not None and self.threshold_tpr is not None:
                x, y = self.threshold_fpr[[g]], self.threshold_tpr[[g]]
                self.points_[g] = self._draw(
                    x, y, color=colour, marker="o", markersize=7, markeredgecolor="white", zorder=4
                )
        ax.set(
            xlabel="False positive rate",
            ylabel="True positive rate",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.01),
        )
        self._draw_legend(chosen)
        return self

    def _draw(self, fpr: Any, tpr: Any, **kwargs: Any) -> Line2D:
        (line,) = self.ax_.plot(fpr, tpr, **kwargs)
        return line

    def _shade(self, g: int | str | None, outline: ArrayLike, color: str) -> None:
        corners = np.asarray(outline, np.float64)
        if corners.size:
            (self.bands_[g],) = self.ax_.fill(*corners.T, color=color, alpha=0.15, linewidth=0)

    def _draw_legend(self, chosen: Choice) -> None:
        """Draw the legend in the axes if it covers no curve, otherwise beside or below the axes."""
        from matplotlib.lines import Line2D

        entries: list[tuple[Line2D, str]] = []
        if self.pooled_line_ is not None:
            pooled = "" if self.pooled_auc is None else f" (AUC {self.pooled_auc:.3f})"
            entries.append((self.pooled_line_, f"pooled{pooled}"))
        if self.adjusted_line_ is not None:
            area = "" if self.adjusted_auc is None else f" (AUC {self.adjusted_auc:.3f})"
            entries.append((self.adjusted_line_, f"adjusted for groups{area}"))
        for g, line in self.lines_.items():
            entries.append((line, f"{text_of(self.groups[g])} (AUC {self.auc[g]:.3f})"))
        if self.points_:
            dot = Line2D([], [], color=BLACK, marker="o", linestyle="none")
            entries.append((dot, f"threshold {self.threshold:g}"))
        notes = []
        if self.behind_:
            grey = next(iter(self.behind_.values()))
            note = f"{len(self.behind_)} of {_words.counted(chosen.left_out.size, 'other group')}"
            if len(self.behind_) == chosen.left_out.size:
                note = _words.counted(len(self.behind_), "other group")
            entries.append((grey, note))
            notes.append(note)
        n_undefined = int(np.isnan(self.auc).sum())
        if n_undefined:
            note = f"{_words.counted(n_undefined, 'group')} without\nan AUC not shown"
            entries.append((Line2D([], [], linestyle="none"), note))
            notes.append(note.replace("\n", " "))
        if self.n_missing:
            text = self._left_out.replace(" without ", " without\n")
            entries.append((Line2D([], [], linestyle="none"), text))
            notes.append(self._left_out)
        self.note_ = "; ".join(notes)

        handles, texts = [line for line, _ in entries], [text for _, text in entries]
        if not entries:
            return
        ax = self.ax_
        is_laid_out = lay_out(ax)
        legend = legend_of(ax, handles, texts, loc="lower right")
        box = legend.get_window_extent().transformed(ax.transAxes.inverted())
        # Curves never decrease, so a curve above the upper left corner of the legend is above all
        # of the legend.
        curves = [line for line, _ in entries] + list(self.behind_.values()) + [self.chance_level_]
        is_covering = any(_height_at(line, box.x0) < box.y1 for line in curves)
        if not is_covering or not is_laid_out:
            return
        width, height = size_of(ax)
        if (1.0 - box.width) * width > _LEAST_WIDTH:
            legend.remove()
            legend_of(ax, handles, texts, loc="upper left", bbox_to_anchor=(1.02, 1.0))
        elif (1.0 - box.height) * height > _LEAST_WIDTH + _BELOW:
            legend.remove()
            below = (0.5, -_BELOW / height)
            legend_of(ax, handles, texts, loc="upper center", bbox_to_anchor=below)


def _height_at(line: Line2D, fpr: float) -> float:
    """Return the true positive rate of a curve at a false positive rate; 1 without a curve."""
    x, y = (np.asarray(values, np.float64) for values in line.get_data())
    if not x.size:
        return 1.0
    return float(np.interp(fpr, x, y))
