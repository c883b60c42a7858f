"""Layout of plots with a single pair of axes. Import this module late: it imports Matplotlib."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

# Largest move of an edge, in pixels, after which texts need no new measurement
_STILL = 0.25


class PlotLayout(ConstrainedLayoutEngine):
    """Constrained layout that measures texts less often if the figure has one pair of axes.

    Displays lay the figure out several times, and most of these layouts move nothing.
    """

    def execute(self, fig: Figure) -> None:
        """Set the position of the axes so that labels and ticks fit into the figure."""
        if len(fig.axes) != 1:
            super().execute(fig)
            return
        (ax,) = fig.axes
        size, params = fig.get_size_inches(), self.get()
        pads = np.array([params["w_pad"], params["h_pad"]]) / size
        # The ticks depend on the size of the axes, so a new size needs another measurement.
        for _ in range(2):
            old = np.array(ax.get_position(original=True).get_points())
            measured = ax.get_tightbbox(for_layout_only=True)
            if measured is None:
                return
            outer = np.array(measured.transformed(fig.transFigure.inverted()).get_points())
            new = old - outer + np.array([pads, 1.0 - pads])
            is_still = np.abs((new - old) * size * fig.dpi).max() < _STILL
            if is_still or (new[0] >= new[1]).any():
                return
            ax.set_position(Bbox(new), which="original")
            ax.set_in_layout(True)  # `set_position` excludes the axes from layouts.
