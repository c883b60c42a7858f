"""`ThresholdDisplay`: rates of each group, or gaps between groups, against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _words
from skfedauc.plotting.curves import LARGEST
from skfedauc.plotting.drawing import (
    BLACK,
    PALE,
    STYLES,
    Choice,
    axes_or_new,
    check_matplotlib,
    choose,
    legend_and_note,
    most_styles,
    spread_behind,
    text_of,
    top_of,
)
from skfedauc.report.threshold_sweep import RATES, ThresholdSweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

GAPS = "gaps"
# Gaps in the plot, and their names in the legend
_GAP_NAMES = {
    "demographic_parity_difference": "selection rate",
    "true_positive_rate_difference": "true positive rate",
    "false_positive_rate_difference": "false positive rate",
    "precision_difference": "precision",
    "accuracy_difference": "accuracy",
}


class ThresholdDisplay:
    """Rates of each group, or gaps between groups, against the threshold of the decisions.

    Make the display with `from_sweep`. A vertical line marks the threshold of the audit, and dots
    mark the values at this threshold. Up to 6 groups have their own color and line style. If there
    are more groups, the groups with the lowest and the highest rates at the threshold have their
    own color. Up to 30 of the other groups are gray curves in the background.

    Parameters
    ----------
    names : sequence of length n_curves
        Labels of the groups, or names of the rates with a gap.
    thresholds : array-like of shape (n_thresholds,)
        Thresholds in ascending order.
    values : array-like of shape (n_curves, n_thresholds)
        Rates or gaps, or NaN.
    show : str, default="gaps"
        Name of the rate, or "gaps".
    threshold : float, default=None
        Threshold to mark.

    Attributes
    ----------
    lines_ : dict of int to matplotlib Line2D
        Curves in the legend, by index.
    behind_ : dict of int to matplotlib Line2D
        Curves drawn in gray, by index.
    points_ : dict of int to matplotlib Line2D
        Dots at the threshold, by index; empty without a threshold.
    threshold_line_ : matplotlib Line2D or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    FairnessAudit.sweep : Rates and gaps at many thresholds.

    Notes
    -----
    The rates change only at scores. Between two thresholds of the sweep, the curves have the value
    of the higher threshold, which is exact if the sweep has all distinct scores.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import FairnessAudit
    >>> from skfedauc.plotting import ThresholdDisplay
    >>> audit = FairnessAudit.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], min_per_class=1
    ... )
    >>> display = ThresholdDisplay.from_sweep(audit.sweep(), show="selection_rate")
    >>> display.values.round(2).tolist()
    [[1.0, 0.5, 0.5, 0.5], [1.0, 1.0, 0.5, 0.0]]
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[int, Line2D]
    behind_: dict[int, Line2D]
    points_: dict[int, Line2D]
    threshold_line_: Line2D | None

    def __init__(
        self,
        *,
        names: Sequence[Any],
        thresholds: ArrayLike,
        values: ArrayLike,
        show: str = GAPS,
        threshold: float | None = None,
    ) -> None:
        self.names = names
        self.thresholds = np.asarray(thresholds, np.float64)
        self.values = np.asarray(values, np.float64)
        self.show = show
        self.threshold = threshold
        _input.check_length("values", len(self.values), "names", len(names))
        _input.check_length("values", self.values.shape[1], "thresholds", self.thresholds.size)

    @classmethod
    def from_sweep(
        cls,
        sweep: ThresholdSweep,
        *,
        show: str = GAPS,
        max_groups: int = len(STYLES),
        ax: Axes | None = None,
    ) -> ThresholdDisplay:
        """Draw rates or gaps at many thresholds.

        Parameters
        ----------
        sweep : ThresholdSweep
            Result of `FairnessAudit.sweep`.
        show : str, default="gaps"
            What to draw: "gaps" for the differences between the highest and the lowest rate of a
            group, or "selection_rate", "true_positive_rate", "false_positive_rate", "precision" or
            "accuracy" for this rate of each group.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        ThresholdDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described.
        """
        check_matplotlib("ThresholdDisplay.from_sweep")
        if not isinstance(sweep, ThresholdSweep):
            raise TypeError(
                "ThresholdDisplay.from_sweep draws the result of FairnessAudit.sweep; got "
                f"{type(sweep).__name__}. Pass audit.sweep()."
            )
        _input.check_option("show", show, (GAPS, *RATES))
        thresholds = sweep.thresholds
        if np.abs(thresholds).max() > LARGEST:
            raise ValueError(
                f"the thresholds from {thresholds[0]:.3g} to {thresholds[-1]:.3g} are too large "
                "for a plot; pass smaller thresholds to sweep."
            )
        names: Sequence[Any]
        if show == GAPS:
            values = sweep.gaps[list(_GAP_NAMES)].to_numpy(np.float64).T
            names = list(_GAP_NAMES.values())
        else:
            values = sweep.rates[show].to_numpy(np.float64).reshape(thresholds.size, -1).T
            first = sweep.rates.index[: len(values)].to_list()
            names = [label[1] if len(label) == 2 else label[1:] for label in first]
        display = cls(
            names=names,
            thresholds=thresholds,
            values=values,
            show=show,
            threshold=sweep.threshold,
        )
        return display.plot(ax, max_groups=max_groups)

    def plot(self, ax: Axes | None = None, *, max_groups: int = len(STYLES)) -> ThresholdDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        max_groups : int, default=6
            Largest number of groups with their own color, from 2 to 6.

        Returns
        -------
        ThresholdDisplay
            The display itself.
        """
        check_matplotlib("ThresholdDisplay.plot")
        chosen = self._chosen(most_styles(max_groups))
        ax = axes_or_new(ax, 4.2, 6.4)
        self.ax_, self.figure_ = ax, ax.figure
        top = 1.0 if self.show != GAPS else top_of([self.values])
        self.threshold_line_ = None
        if self.threshold is not None:
            (self.threshold_line_,) = ax.plot(
                [self.threshold] * 2, [0.0, top], color=BLACK, linestyle=":", linewidth=1
            )
        self.behind_ = {
            i: self._draw(i, color=PALE, linewidth=0.6) for i in spread_behind(chosen).tolist()
        }
        self.lines_, self.points_ = {}, {}
        place = self._place()
        for i, (color, style) in zip(chosen.shown[::-1].tolist(), STYLES, strict=False):
            self.lines_[i] = self._draw(i, color=color, linestyle=style, linewidth=1.4)
            if place is not None:
                (self.points_[i],) = ax.plot(
                    self.thresholds[[place]],
                    self.values[i, [place]],
                    "o",
                    color=color,
                    markersize=5,
                )
        name = self.show.replace("_", " ").capitalize()
        ylabel = "Highest minus lowest rate" if self.show == GAPS else name
        ax.set(xlabel="Threshold", ylabel=ylabel)
        self._draw_legend(chosen, place, top)
        return self

    def _place(self) -> int | None:
        """Return the place of the threshold of the audit among the thresholds."""
        if self.threshold is None or self.threshold not in self.thresholds:
            return None
        return int(np.searchsorted(self.thresholds, self.threshold))

    def _chosen(self, most: int) -> Choice:
        """Choose curves by their values at the threshold, or in the middle of the thresholds."""
        if self.show == GAPS:
            order = -np.arange(len(self.names), dtype=np.float64)
            return choose(order, len(STYLES))
        place = self._place()
        of_place = self.values[:, self.thresholds.size // 2 if place is None else place]
        # Groups without a rate at this threshold may have a rate at other thresholds. Groups
        # without a rate get the median.
        middle = 0.0 if np.isnan(of_place).all() else np.nanmedian(of_place)
        return choose(np.where(np.isnan(of_place), middle, of_place), most)

    def _draw(self, i: int, **kwargs: Any) -> Line2D:
        # Between changes, one point is enough.
        values = self.values[i]
        is_same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        is_last = np.append(~is_same, True)
        is_last[0] = True
        (line,) = self.ax_.plot(
            self.thresholds[is_last], values[is_last], drawstyle="steps-pre", **kwargs
        )
        return line

    def _draw_legend(self, chosen: Choice, place: int | None, top: float) -> None:
        entries: list[tuple[Any, str]] = []
        for i, line in self.lines_.items():
            text = text_of(self.names[i])
            if place is not None and not np.isnan(self.values[i, place]):
                text += f" ({self.values[i, place]:.3f})"
            entries.append((line, text))
        if self.behind_:
            n_other = _words.counted(chosen.left_out.size, "other group")
            note = n_other
            if len(self.behind_) < chosen.left_out.size:
                note = f"{len(self.behind_)} of {n_other}"
            entries.append((next(iter(self.behind_.values())), note))
        if self.threshold_line_ is not None:
            entries.append((self.threshold_line_, f"threshold {self.threshold:g}"))
        handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
        legend_and_note(self.ax_, handles, texts, "", (0.0, top))
        # The axis continues above the rates, where the legend is.
        self.ax_.set_yticks([tick for tick in self.ax_.get_yticks() if -1e-9 <= tick <= top + 1e-9])
