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

    Make the display with `from_plan`. A marker shows the number of rows of the plan.

    Parameters
    ----------
    n_rows : array-like of shape (n_points,)
        Numbers of rows per group.
    reached : array-like of shape (n_points,)
        Power or width with these numbers of rows.
    needed : tuple of float
        Number of rows of the plan, and the power or width with this number of rows.
    goal : float, default=None
        Required power, or required width.
    name : {"power", "width"}, default="power"
        Quantity on the vertical axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    needed_marker_ : matplotlib Line2D
    goal_line_ : matplotlib Line2D or None
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
    >>> plan = rows_needed(0.8, difference=0.1, prevalence=0.5)
    >>> display = RowsNeededDisplay.from_plan(plan)
    >>> display.name
    'power'
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    needed_marker_: Line2D
    goal_line_: Line2D | None

    def __init__(
        self,
        *,
        n_rows: ArrayLike,
        reached: ArrayLike,
        needed: tuple[float, float],
        goal: float | None = None,
        name: str = "power",
    ) -> None:
        self.n_rows = np.asarray(n_rows, np.float64)
        self.reached = np.asarray(reached, np.float64)
        self.needed = needed
        self.goal = goal
        self.name = name
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
            If matplotlib is not installed.
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
        name = str(curve.columns[0])
        display = cls(
            n_rows=curve.index.to_numpy(),
            reached=curve[name].to_numpy(),
            needed=(float(plan.n_rows), plan.reached),
            goal=plan.value if name == "width" else plan.design.power,
            name=name,
        )
        return display.plot(ax)

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
        ax = axes_or_new(ax, 4.2, 6.4)
        self.ax_, self.figure_ = ax, ax.figure
        self.goal_line_ = None
        if self.goal is not None:
            self.goal_line_ = ax.axhline(self.goal, color=GREY, linestyle=":", linewidth=1.2)
        (self.line_,) = ax.plot(self.n_rows, self.reached, color=BLUE, linewidth=1.8)
        (self.needed_marker_,) = ax.plot(
            *([number] for number in self.needed),
            linestyle="none",
            marker="D",
            markersize=8,
            color=VERMILLION,
            zorder=3,
        )
        ax.set_xlabel("rows per group")
        ax.set_ylabel("power of the test" if self.name == "power" else "width of the interval")
        if self.name == "power":
            ax.set_ylim(-0.02, 1.02)
        else:
            ax.set_ylim(bottom=0.0)
        handles, texts = [self.needed_marker_], [f"{self.needed[0]:,.0f} rows per group"]
        if self.goal_line_ is not None:
            handles.append(self.goal_line_)
            texts.append(f"required {self.name} {self.goal:g}")
        place = "lower right" if self.name == "power" else "upper right"
        legend_of(ax, handles, texts, loc=place)
        return self
