"""`CriticalDifferenceDisplay`: average ranks of several models over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input, _words
from skfedauc.comparison import compare_average_ranks
from skfedauc.counts import left_out
from skfedauc.inference.average_ranks import undetected
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    LINE,
    MARGINS,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    lay_out,
    legend_and_note,
    set_ticks,
    size_of,
    text_of,
    write_fitting,
)
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class CriticalDifferenceDisplay:
    """Critical-difference diagram: average ranks of several models over groups.

    Make the display with `from_reports`. Each group ranks the models by AUC. Each model has a row,
    from the smallest average rank at the top. Vertical lines on the right join models if their
    average ranks differ by less than the critical difference.

    Parameters
    ----------
    models : sequence of str, length n_models
        Names.
    average_rank : array-like of shape (n_models,)
        Average rank of each model over groups; 1 is the largest AUC in every group.
    critical_difference : float
        Critical difference of two average ranks.
    confidence_level : float, default=0.95
        Simultaneous confidence level of the critical difference, for the label.
    note : str, default=""
        Note in the plot.

    Attributes
    ----------
    markers_ : matplotlib PathCollection
        Average ranks, from the bottom to the top.
    critical_line_ : matplotlib Line2D
        Line of the length of the critical difference.
    joined_ : list of matplotlib Line2D
        Lines that join models.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    compare_average_ranks : The average ranks, their critical difference and Friedman's test.
    compare_models : Comparison of the AUCs of several models on the same rows.
    auc_critical_difference : Critical difference of two AUCs, not of two average ranks.

    Notes
    -----
    `from_reports` draws the results of `compare_average_ranks`; see `compare_average_ranks` for the
    assumptions. The note gives the p value of Friedman's test, whose null hypothesis is that the
    models have equal ranks on average.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from skfedauc import GroupAUC
    >>> from skfedauc.plotting import CriticalDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(0, 2, 1200), np.repeat(np.arange(12), 100)
    >>> reports = {
    ...     name: GroupAUC.from_predictions(
    ...         y, signal * y + rng.normal(size=y.size), groups=site
    ...     )
    ...     for name, signal in [("weak", 0.2), ("strong", 2.0), ("stronger", 2.1)]
    ... }
    >>> display = CriticalDifferenceDisplay.from_reports(reports)
    >>> round(display.critical_difference, 2)
    0.96
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    markers_: PathCollection
    critical_line_: Line2D
    joined_: list[Line2D]

    def __init__(
        self,
        *,
        models: Sequence[str],
        average_rank: ArrayLike,
        critical_difference: float,
        confidence_level: float = 0.95,
        note: str = "",
    ) -> None:
        self.models = list(models)
        self.average_rank = np.asarray(average_rank, np.float64)
        self.critical_difference = critical_difference
        self.confidence_level = confidence_level
        self.note = note
        _input.check_length("average_rank", self.average_rank.size, "models", len(self.models))

    @classmethod
    def from_reports(
        cls,
        reports: Mapping[str, GroupAUC],
        *,
        confidence_level: float = 0.95,
        ax: Axes | None = None,
    ) -> CriticalDifferenceDisplay:
        """Draw the average ranks of several models.

        Parameters
        ----------
        reports : mapping of str to GroupAUC
            Report of each model by name; at least two. All reports are on the same test rows, and
            groups share no clusters. The comparison omits groups without an AUC in a report.
        confidence_level : float, default=0.95
            Simultaneous confidence level of the critical difference.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError, TypeError
            If an argument is not as described; see `compare_average_ranks`.
        """
        check_matplotlib("CriticalDifferenceDisplay.from_reports")
        found = compare_average_ranks(reports, confidence_level=confidence_level)
        note = (
            f"{_words.counted(found.n_groups, 'group')}; Friedman's test of equal ranks: "
            f"p = {found.pvalue:.2g}"
        )
        if found.n_left_out:
            note += f"; {_words.counted(found.n_left_out, 'group')} without an AUC left out"
        note += left_out(found.n_missing).replace(",", ";", 1)
        display = cls(
            models=found.average_rank.index.tolist(),
            average_rank=found.average_rank.to_numpy(),
            critical_difference=found.critical_difference,
            confidence_level=found.confidence_level,
            note=note,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself.
        """
        check_matplotlib("CriticalDifferenceDisplay.plot")
        from matplotlib.ticker import MaxNLocator

        n_models = len(self.models)
        # Leave one row for the line of the critical difference.
        ax = axes_or_new(ax, MARGINS + 0.6 + 1.1 * LINE * max(n_models + 1, 4))
        self.ax_, self.figure_ = ax, ax.figure
        order = np.argsort(-self.average_rank, kind="stable")
        place = np.arange(n_models)
        row = np.empty(n_models, np.intp)
        row[order] = place
        self.markers_ = ax.scatter(self.average_rank[order], place, 40.0, color=BLUE, zorder=3)
        best = float(self.average_rank.min())
        (self.critical_line_,) = ax.plot(
            [best, best + self.critical_difference],
            [n_models, n_models],
            color=VERMILLION,
            marker="|",
            markersize=9,
            linewidth=2,
        )
        sets = undetected(self.average_rank, self.critical_difference)
        most = max(float(n_models), best + self.critical_difference)
        step = 0.05 * (most - 1.0)
        self.joined_ = [
            ax.plot([most + i * step] * 2, row[models[[0, -1]]], color=BLACK, linewidth=3)[0]
            for i, models in enumerate(sets, 1)
        ]
        ax.set_xlim(1.0 - step, most + (len(sets) + 1) * step)
        ticks = np.asarray(MaxNLocator(integer=True).tick_values(1, n_models))
        ax.set_xticks(ticks[(ticks >= 1) & (ticks <= n_models)])
        set_ticks(ax.yaxis, place.tolist(), [text_of(self.models[model]) for model in order])
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="both", color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        lay_out(ax)
        long = "average rank over groups, 1 is the largest AUC"
        write_fitting(ax.xaxis.label, [long, "average rank"], size_of(ax)[0])
        level = f"{100 * self.confidence_level:g} %"
        length = f"critical difference of ranks {self.critical_difference:.2f}"
        entries = [(self.critical_line_, length)]
        if self.joined_:
            entries.append((self.joined_[0], f"no difference detected at {level}"))
        legend_and_note(
            ax,
            [handle for handle, _ in entries],
            [text for _, text in entries],
            self.note,
            (-0.7, n_models + 0.4),
        )
        return self
