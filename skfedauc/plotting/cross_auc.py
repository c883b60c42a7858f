"""`CrossAUCDisplay`: heat map of the cross AUCs of all pairs of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc.inference.cross_gap import pair_errors
from skfedauc.plotting import drawing
from skfedauc.plotting.base import ReportDisplay, labels_of
from skfedauc.report import GroupAUC, estimates_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import BoundaryNorm, ListedColormap

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


class CrossAUCDisplay(ReportDisplay):
    """Heat map of the AUC of each group's positives against each group's negatives.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Rows are the groups of the
    positives, columns are the groups of the negatives, and the group AUCs are on the diagonal.
    Cells without pairs have hatching.

    Two cells that mirror each other at the diagonal are equal if the model scores neither of the
    two groups higher. The color of a cell is its difference from the mirrored cell in standard
    errors, on the same scale in every plot: blue if the model scores the group of the row higher
    than the group of the column, red if lower, and none within two standard errors. If all groups
    had the same score distributions, about 5 % of the cells would be faintly colored. Groups are
    sorted from low to high scores, by the average of their positives' minus the average of their
    negatives' cross AUCs.

    Parameters
    ----------
    cross_matrix : array-like of shape (n_groups, n_groups)
        Cross AUCs. Rows are the groups of the positives; NaN without pairs.
    errors : array-like of shape (n_groups, n_groups), default=None
        Standard errors of the differences from the mirrored cells; None draws no colors.
    groups : sequence of length n_groups, default=None
        Labels; None uses numbers.
    n_missing : int, default=0
        Number of rows without a group label, for the note.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        Differences from the mirrored cells in standard errors, in the order of the plot.
    text_ : ndarray of matplotlib Text or None, shape (n_shown, n_shown)
        Numbers in the cells; None if there is no room for them.
    colorbar_ : matplotlib Colorbar or None
    shown_ : ndarray of int
        Indices of the groups shown, from top to bottom.
    note_ : str
        What the plot leaves out; empty if it shows everything.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    GroupAUC.cross_matrix : The cross AUCs as a table.

    Notes
    -----
    Standard errors need independent rows that are all compared with each other, so reports within
    folds and reports with clusters have no colors. Rows in the same bin of binned scores are ties.

    References
    ----------
    .. [1] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond classification:
       bipartite ranking and the xAUC metric. NeurIPS 32.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skfedauc.plotting import CrossAUCDisplay
    >>> display = CrossAUCDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.5, 0.4], groups=["a", "a", "b", "b"], ax=Figure().subplots()
    ... )
    >>> display.cross_matrix.tolist()
    [[1.0, 1.0], [0.5, 0.0]]
    """

    def __init__(
        self,
        cross_matrix: ArrayLike,
        *,
        errors: ArrayLike | None = None,
        groups: Sequence[Any] | None = None,
        n_missing: int = 0,
    ) -> None:
        self.cross_matrix = np.asarray(cross_matrix, np.float64)
        shape = self.cross_matrix.shape
        if self.cross_matrix.ndim != 2 or shape[0] != shape[1] or not shape[0]:
            raise ValueError(f"cross_matrix must have the shape (n_groups, n_groups); got {shape}.")
        self.errors = np.full(shape, np.nan) if errors is None else np.asarray(errors, np.float64)
        if self.errors.shape != shape:
            raise ValueError(
                f"errors must have the shape of cross_matrix, {shape}; got {self.errors.shape}."
            )
        self.groups = range(shape[0]) if groups is None else groups
        self.n_missing = _input.check_whole_number(n_missing, "n_missing", 0)
        _input.check_length("groups", len(self.groups), "cross_matrix", shape[0])

    @classmethod
    def from_report(
        cls,
        report: GroupAUC,
        *,
        sort: bool = True,
        max_groups: int = _MOST_GROUPS,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> CrossAUCDisplay:
        """Draw the cross matrix of a report.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        sort : bool, default=True
            Whether to sort groups from low to high scores; False keeps the order of labels.
        max_groups : int, default=250
            Largest number of groups to draw, at least 2. Of more groups, those at equal distances
            in the order are drawn.
        colorbar : bool, default=True
            Whether to add a color bar.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        CrossAUCDisplay

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, an argument is not as described, or the matrix does not fit in
            memory.
        """
        cls._check_report(report)
        matrix, pairs = estimates_of(report).pairs.cross_auc.copy(), estimates_of(report).pairs
        is_dependent = pairs.is_within_folds or pairs.rows_repeat or pairs.clusters is not None
        errors = None if is_dependent else pair_errors(report.counts)
        display = cls(
            matrix, errors=errors, groups=labels_of(report), n_missing=report.counts.n_missing
        )
        return display.plot(ax, sort=sort, max_groups=max_groups, colorbar=colorbar)

    def _plot(
        self,
        ax: Axes | None = None,
        *,
        sort: bool = True,
        max_groups: int = _MOST_GROUPS,
        colorbar: bool = True,
    ) -> None:
        most = _input.check_whole_number(max_groups, "max_groups", 2)
        n_groups = len(self.groups)
        order = self._order() if sort else np.arange(n_groups)
        if n_groups > most:
            order = order[np.linspace(0, n_groups - 1, most).round().astype(np.intp)]
        self.shown_ = order
        matrix = self.cross_matrix[np.ix_(order, order)]

        self.ax_ = ax = drawing.axes_or_new(ax, 6.2, drawing.WIDTH)
        self.figure_ = ax.figure
        colors, levels = _scale()
        beyond = matrix - matrix.T
        self.im_ = ax.imshow(
            # Equal cells have no color, even if there is no standard error.
            np.divide(beyond, self.errors[np.ix_(order, order)], out=beyond, where=beyond != 0),
            cmap=colors,
            norm=levels,
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
        step = self._draw_labels()
        if step > 1:
            self._write_note([*notes, f"one label in {step} written"])
        if self.colorbar_ is not None:
            self._label_colorbar(self.colorbar_)
        self.text_ = self._draw_values(matrix)

    def _order(self) -> NDArray[np.intp]:
        """Return the groups from low to high scores."""
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
        """Label every n-th group, so that labels have room; return the larger n of both axes."""
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
        """Return width and height of a cell in inches."""
        width, height = drawing.size_of(self.ax_)
        return width / self.shown_.size, height / self.shown_.size

    def _label_colorbar(self, bar: Colorbar) -> None:
        drawing.lay_out(self.ax_)
        drawing.write_fitting(
            bar.ax.yaxis.label,
            [
                "Difference from the cell mirrored at the diagonal, in standard errors",
                "Difference from the mirrored cell\nin standard errors",
                "Standard errors",
            ],
            drawing.size_of(self.ax_)[1],
        )

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
                texts[row, column] = self.ax_.text(
                    column,
                    row,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    fontsize=drawing.SMALL,
                    color=drawing.BLACK,
                )
        return texts


def _scale() -> tuple[ListedColormap, BoundaryNorm]:
    """Return the colors of the intervals between the levels, and the intervals."""
    from matplotlib.colors import BoundaryNorm, ListedColormap, to_rgba

    steps = len(_LEVELS) // 2
    shares = [_MOST_OPAQUE * step / steps for step in range(1, steps + 1)]
    colors = [
        *(to_rgba(_LOWER, share) for share in reversed(shares)),
        to_rgba(_HIGHER, 0.0),
        *(to_rgba(_HIGHER, share) for share in shares),
    ]
    return ListedColormap(colors), BoundaryNorm(_LEVELS, len(colors), extend="both")
