"""`CrossAUCDisplay`: heat map of all cross AUCs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.inference.cross_gap import pair_errors
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import ReportDisplay
from skfedauc.report.group_auc import estimates_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar

# Default of `max_groups`; with 250 groups, a cell is one or two points wide.
_MOST_GROUPS = 250
# Limits of the color scale in standard errors, and colors of cells below and above their mirror
# image. The colors are transparent, so that black text has contrast on white, and white on black.
_LEVELS = (-8, -6, -4, -2, 2, 4, 6, 8)
_LOWER, _HIGHER = "#d6604d", "#4393c3"
_MOST_OPAQUE = 0.65
# Inches for a number in a cell, and for a character of a tick label.
_VALUE, _CHARACTER = 0.36, 0.075
_MOST_CHARACTERS = 18


@dataclass(eq=False, repr=False, kw_only=True)
class CrossAUCDisplay(ReportDisplay):
    """Heat map of cross AUCs: each group's positives against each group's negatives.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Rows hold the groups'
    positives, columns their negatives, and the diagonal has the group AUCs.
    Cells without pairs have hatching.

    A cell's color is its difference from the cell mirrored at the diagonal in standard errors:
    blue if the model scores the row's group higher than the column's group, red if lower,
    and none within two standard errors. If all groups had the same score distributions, about 5 %
    of the cells would be faintly colored. Groups are sorted from low to high scores.

    Parameters
    ----------
    report : GroupAUC
        Report to draw.
    sort : bool, default=True
        Whether to sort groups from low to high scores; False keeps the order of labels.
    max_groups : int, default=250
        Draw at most this many groups, at least 2. If there are more, those at equal distances in
        the order are drawn.
    colorbar : bool, default=True
        Whether to add a color bar.

    Attributes
    ----------
    cross_matrix : ndarray, shape (n_groups, n_groups)
        Cross AUCs, with a row per group of positives; NaN without pairs.
    errors : ndarray, shape (n_groups, n_groups)
        Standard errors for the differences from the mirrored cells, or NaN.
    im_ : matplotlib AxesImage
        Differences from the mirrored cells in standard errors, in the order of the plot.
    text_ : ndarray of matplotlib Text or None, shape (n_shown, n_shown)
        Numbers in the cells; None if there is no room for them.
    colorbar_ : matplotlib Colorbar or None
    shown_ : int array
        Shown groups by index, from top to bottom.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.cross_matrix : The cross AUCs as a table.

    Notes
    -----
    Standard errors need independent rows that are all compared with each other, so reports within
    folds and reports with clusters have no colors. Rows in one bin are ties.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import CrossAUCDisplay
    >>> display = CrossAUCDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots()
    ... )
    >>> display.cross_matrix.tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """

    sort: bool = True
    max_groups: int = _MOST_GROUPS
    colorbar: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = estimates_of(self.report).pairs
        self.cross_matrix = pairs.cross_auc.copy()
        is_dependent = pairs.is_within_folds or pairs.rows_repeat or pairs.clusters is not None
        self.errors = np.full(self.cross_matrix.shape, np.nan)
        if not is_dependent:
            self.errors = pair_errors(self.report.counts)

    def _plot(self, ax: Axes | None) -> None:
        from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgba

        sort = _input.check_flag(self.sort, "sort")
        colorbar = _input.check_flag(self.colorbar, "colorbar")
        most_groups = _input.check_whole_number(self.max_groups, "max_groups", 2)
        n_groups = len(self.groups)
        order = self._order() if sort else np.arange(n_groups)
        self.shown_ = order = drawing.spread(order, most_groups)
        matrix = self.cross_matrix[np.ix_(order, order)]

        ax = self._draw_on(ax, 6.2)
        most = len(_LEVELS) // 2
        colors = [
            to_rgba(_LOWER if step < 0 else _HIGHER, _MOST_OPAQUE * abs(step) / most)
            for step in range(-most, most + 1)
        ]
        beyond = matrix - matrix.T
        self.im_ = ax.imshow(
            # Equal cells have no color, even if there is no standard error.
            np.divide(beyond, self.errors[np.ix_(order, order)], out=beyond, where=beyond != 0),
            cmap=ListedColormap(colors),
            norm=BoundaryNorm(_LEVELS, len(colors), extend="both"),
            interpolation="nearest",
            # With square cells, constrained layout leaves no room for labels.
            aspect="auto",
        )
        self._hatch(np.isnan(matrix))
        notes = []
        if n_groups > order.size:
            notes.append(
                f"{order.size:,} of {_words.counted(n_groups, 'group')} shown, evenly spread "
                "over their order"
            )
        if np.isnan(matrix).any():
            notes.append("hatched: no such pairs")
        if np.isnan(self.errors).all():
            notes.append("no colors: no standard errors")
        notes += filter(None, [self._left_out])
        self._write_note(notes)
        ax.set_ylabel("Positives of")
        self.colorbar_: Colorbar | None = None
        if colorbar:
            self.colorbar_ = ax.figure.colorbar(self.im_, ax=ax)
            label = "Difference from the mirrored cell\nin standard errors"
            self.colorbar_.set_label(label, fontsize=drawing.SMALL)
        step = self._draw_labels()
        if step > 1:
            self._write_note([*notes, f"one label in {step} written"])
        self.text_ = self._draw_values(matrix)

    def _order(self) -> NDArray[np.intp]:
        known = ~np.isnan(self.cross_matrix)
        center = self.cross_matrix[known].mean() if known.any() else 0.5
        beyond = self.cross_matrix - center
        both = np.concatenate([beyond, -beyond.T], axis=1)
        known = ~np.isnan(both)
        means = np.where(known, both, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return np.argsort(means, kind="stable")

    def _hatch(self, absent: NDArray[np.bool_]) -> None:
        """Mark cells without pairs: whole rows and columns first, then the other cells."""
        from matplotlib.patches import Rectangle

        n = len(absent)
        rows, columns = (np.asarray(absent.all(axis=axis)) for axis in (1, 0))
        boxes = [(-0.5, row - 0.5, n, 1) for row in np.flatnonzero(rows).tolist()]
        boxes += [(column - 0.5, -0.5, 1, n) for column in np.flatnonzero(columns).tolist()]
        cells = np.argwhere(absent & ~rows[:, None] & ~columns)
        boxes += [(column - 0.5, row - 0.5, 1, 1) for row, column in cells.tolist()]
        for left, top, width, height in boxes:
            box = Rectangle((left, top), width, height, facecolor="none", linewidth=0)
            box.set(edgecolor=drawing.PALE, hatch="////")
            self.ax_.add_patch(box)

    def _write_note(self, notes: list[str]) -> None:
        self.note_ = "; ".join(notes)
        self.ax_.set_xlabel("\n".join(["Negatives of", *(f"({note})" for note in notes)]))

    def _draw_labels(self) -> int:
        """Label every n-th group, so that labels have room; return the larger n."""
        ax, n_shown = self.ax_, self.shown_.size
        texts = [drawing.text_of(self.groups[g], _MOST_CHARACTERS) for g in self.shown_]
        drawing.lay_out(ax)
        width, height = self._cell()
        steps = [max(int(np.ceil(drawing.LINE / size)), 1) for size in (width, height)]
        for axis, size, step in zip((ax.xaxis, ax.yaxis), (width, height), steps, strict=True):
            places = list(range(0, n_shown, step))
            labels = [texts[place] for place in places]
            longest = max(map(len, labels)) * _CHARACTER + 0.05
            is_upright = axis is ax.xaxis and longest > size * step
            drawing.set_ticks(axis, places, labels, rotation=90 if is_upright else 0)
        return max(steps)

    def _cell(self) -> tuple[float, float]:
        width, height = drawing.size_of(self.ax_)
        return width / self.shown_.size, height / self.shown_.size

    def _draw_values(self, matrix: NDArray[np.float64]) -> NDArray[np.object_] | None:
        # The axes are smaller than the figure, so a layout may not be necessary.
        whole = self.figure_.bbox.width / self.figure_.dpi
        if whole / self.shown_.size < _VALUE:
            return None
        drawing.lay_out(self.ax_)
        width, height = self._cell()
        if width < _VALUE or height < drawing.LINE:
            return None
        texts: NDArray[np.object_] = np.full(matrix.shape, None)
        for (row, column), value in np.ndenumerate(matrix):
            if not np.isnan(value):
                text = self.ax_.text(column, row, f"{value:.2f}", ha="center", va="center")
                text.set(fontsize=drawing.SMALL, color=drawing.BLACK)
                texts[row, column] = text
        return texts
