"""`RowsNeededDisplay`: power of a test, or width of an interval, by the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input
from skfedauc.planning import RowsNeeded
from skfedauc.plotting.drawing import (
    BLUE,
    GREY,
    VERMILLION,
    axes_or_new,
    check_matplotlib,
    legend_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class RowsNeededDisplay:
    """Curve of the power of a test, or of the width of an interval, by the number of rows.

    Make the display with `from_plan`. A marker shows the number of rows of the plan, and a
    horizontal line shows the required power or width.

    Parameters
    ----------
    plan : RowsNeeded
        Result of `rows_needed`.
    n_rows : array-like of shape (n_points,)
        Numbers of rows per group.
    reached : array-like of shape (n_points,)
        Power or width with these numbers of rows.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    marker_ : matplotlib Line2D
    goal_line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    skfedauc.rows_needed : Number of rows that a result requires.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import rows_needed
    >>> from skfedauc.plotting import RowsNeededDisplay
    >>> plan = rows_needed(0.8, difference=0.05, prevalence=0.1)
    >>> display = RowsNeededDisplay.from_plan(plan)
    >>> display.ax_.get_ylabel()
    'power of the test'
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    marker_: Line2D
    goal_line_: Line2D

    def __init__(self, *, plan: RowsNeeded, n_rows: ArrayLike, reached: ArrayLike) -> None:
        self.plan = plan
        self.n_rows = np.asarray(n_rows, np.float64)
        self.reached = np.asarray(reached, np.float64)
        _input.check_length("reached", self.reached.size, "n_rows", self.n_rows.size)

    @classmethod
    def from_plan(
        cls, plan: RowsNeeded, *, n_rows: ArrayLike | None = None, ax: Axes | None = None
    ) -> RowsNeededDisplay:
        """Draw the curve of a plan.

        Parameters
        ----------
        plan : RowsNeeded
            Result of `rows_needed`.
        n_rows : array-like of float, default=None
            Numbers of rows per group; None means a quarter to twice the number of the plan.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RowsNeededDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing.
        TypeError
            If `plan` is not a result of `rows_needed`.
        ValueError
            If a number of rows is too small, see `RowsNeeded.curve`.
        """
        check_matplotlib("RowsNeededDisplay.from_plan")
        if not isinstance(plan, RowsNeeded):
            raise TypeError(
                "RowsNeededDisplay.from_plan draws a result of rows_needed; got "
                f"{type(plan).__name__}."
            )
        curve = plan.curve(n_rows)
        return cls(plan=plan, n_rows=curve.index, reached=curve.iloc[:, 0]).plot(ax)

    def plot(self, ax: Axes | None = None) -> RowsNeededDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        RowsNeededDisplay
            The display itself.
        """
        check_matplotlib("RowsNeededDisplay.plot")
        ax, plan = axes_or_new(ax, 4.2, 6.4), self.plan
        self.ax_, self.figure_ = ax, ax.figure
        is_width = plan.target == "width"
        goal, name = (plan.value, "width") if is_width else (plan.power, "power")
        self.goal_line_ = ax.axhline(goal, color=GREY, linestyle=":", linewidth=1.2)
        (self.line_,) = ax.plot(self.n_rows, self.reached, color=BLUE, linewidth=1.8)
        (self.marker_,) = ax.plot(
            [plan.n_rows], [plan.reached], "D", markersize=8, color=VERMILLION, zorder=3
        )
        ax.set_xlabel("rows per group")
        ax.set_ylabel("width of the interval" if is_width else "power of the test")
        ax.set_ylim(0.0, None if is_width else 1.02)
        legend_of(
            ax,
            [self.marker_, self.goal_line_],
            [f"{plan.n_rows:,} rows per group", f"required {name} {goal:g}"],
            loc="upper right" if is_width else "lower right",
        )
        return self
