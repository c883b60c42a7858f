"""`CrossAUCDisplay`: each group's positives against each group's negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _validation as validation
from skfedauc.plotting.base import ReportDisplay, labels_of
from skfedauc.plotting.drawing import (
    LINE,
    SMALL,
    WIDTH,
    axes_or_new,
    check_matplotlib,
    lay_out,
    set_ticks,
    size_of,
    text_of,
    write_fitting,
)
from skfedauc.report import GroupAUC, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

# Most groups, so that a cell is a point or two wide.
_MOST_GROUPS = 250
# Differences from the centre less than this are not blown up to strong colours.
_LEAST_RANGE = 0.05
# Inches that a number needs, and a character of a tick label.
_VALUE, _CHARACTER = 0.36, 0.075
_MOST_CHARACTERS = 18


class CrossAUCDisplay(ReportDisplay):
    """Heat map of the AUC of each group's positives against each group's negatives.

    Make it with `from_report`, `from_predictions` or `from_estimator`. Rows are the positives'
    group, columns the negatives'; the group AUCs are on the diagonal. Red cells are below the
    pooled AUC, blue ones above. Cells without pairs are hatched.

    Groups are in the order of how high they score: of how much better their positives do against
    all negatives, and how much worse all positives do against their negatives, than the pooled
    AUC. Where groups' scores are shifted against each other the plot is then red above the
    diagonal and blue below; where all groups have the same scores it has none.

    Parameters
    ----------
    cross_matrix : array-like of shape (n_groups, n_groups)
        Rows are the positives' group; NaN where there is no pair.
    groups : sequence of length n_groups, default=None
        Labels; None takes numbers.
    pooled_auc : float, default=None
        The AUC in the middle of the colours; None takes 0.5.
    n_missing : int, default=0
        Rows that are not counted, since they have no group label; the note says how many.

    Attributes
    ----------
    im_ : matplotlib AxesImage
        The matrix of the groups shown, in their order.
    text_ : ndarray of matplotlib Text or None, shape (n_shown, n_shown)
        The numbers in the cells; None where there is no room for them.
    colorbar_ : matplotlib Colorbar or None
    shown_ : ndarray of int
        Numbers of the groups shown, from above downwards.
    note_ : str
        What the plot says of what it does not show; empty if it shows all.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    GroupAUC.cross_matrix : The numbers.

    References
    ----------
    .. [1] Kallus, N. and Zhou, A. (2019). The fairness of risk scores beyond classification:
       bipartite ranking and the xAUC metric. NeurIPS 32.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skfedauc import CrossAUCDisplay, GroupAUC, make_devices
    >>> devices = make_devices("different", 50, 200, random_state=0)
    >>> report = GroupAUC.from_predictions(
    ...     devices.y_true, devices.y_score, groups=devices.groups
    ... )
    >>> display = CrossAUCDisplay.from_report(report)
    >>> display.shown_  # the first device scores lowest
    array([0, 1, 2, 3])
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    im_: AxesImage
    text_: NDArray[np.object_] | None
    colorbar_: Colorbar | None

    def __init__(
        self,
        cross_matrix: ArrayLike,
        *,
        groups: Sequence[Any] | None = None,
        pooled_auc: float | None = None,
        n_missing: int = 0,
    ) -> None:
        self.cross_matrix = np.asarray(cross_matrix, np.float64)
        shape = self.cross_matrix.shape
        if self.cross_matrix.ndim != 2 or shape[0] != shape[1] or not shape[0]:
            raise ValueError(f"cross_matrix must be groups by groups; got the shape {shape}.")
        self.groups = range(shape[0]) if groups is None else groups
        self.pooled_auc = pooled_auc
        self.n_missing = validation.check_whole_number(n_missing, "n_missing", 0)
        validation.check_length("groups", len(self.groups), "cross_matrix", shape[0])

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
            What to draw.
        sort : bool, default=True
            Order groups by how high they score; False keeps the order of labels.
        max_groups : int, default=250
            Most groups to draw, at least 2. Of more, so many evenly spread over the order are
            drawn, and the plot says so.
        colorbar : bool, default=True
            Whether to add a bar of the colours.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        CrossAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described, or the matrix would not fit in memory.
        """
        cls._check_report(report)
        matrix = report.cross_matrix.to_numpy()
        pooled = None if np.isnan(matrix).all() else report.pooled
        display = cls(
            matrix, groups=labels_of(report), pooled_auc=pooled, n_missing=report.n_missing
        )
        return display.plot(ax, sort=sort, max_groups=max_groups, colorbar=colorbar)

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
        missing: validation.Missing = "raise",
        sort: bool = True,
        max_groups: int = _MOST_GROUPS,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> CrossAUCDisplay:
        """Draw the cross matrix of predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_score : array-like of shape (n_rows,)
            Finite scores; the higher, the more positive.
        groups : array-like of shape (n_rows,) or (n_rows, n_columns)
            Group label of each row; with several columns each combination is a group.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; required unless labels are in {0, 1}, {-1, 1} or booleans.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            What averages do with groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            What to do with rows without a group label; see `AUCPartial.from_predictions`.
        sort : bool, default=True
            Order groups by how high they score; False keeps the order of labels.
        max_groups : int, default=250
            Most groups to draw, at least 2. Of more, so many evenly spread over the order are
            drawn, and the plot says so.
        colorbar : bool, default=True
            Whether to add a bar of the colours.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        CrossAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described, or the matrix would not fit in memory.
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
        return cls.from_report(report, sort=sort, max_groups=max_groups, colorbar=colorbar, ax=ax)

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
        response_method: str | tuple[str, ...] = ("decision_function", "predict_proba"),
        undefined: Undefined = "skip",
        missing: validation.Missing = "raise",
        sort: bool = True,
        max_groups: int = _MOST_GROUPS,
        colorbar: bool = True,
        ax: Axes | None = None,
    ) -> CrossAUCDisplay:
        """Draw the cross matrix of what a fitted estimator predicts.

        Parameters
        ----------
        estimator : estimator object
            A fitted binary classifier, or a pipeline or search that ends in one.
        X : array-like of shape (n_rows, n_features)
            Input of the estimator.
        y : array-like of shape (n_rows,)
            True labels.
        groups : str, list of str, or array-like of shape (n_rows,) or (n_rows, n_columns)
            Name or names of columns of X, or the labels themselves. A pandas Series is
            aligned with the index of X by label, if X has one.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of 0 or more.
        pos_label : int, float, bool or str, default=None
            The positive label; ``estimator.classes_[1]`` if left out.
        response_method : str or tuple of str, default=("decision_function", \
"predict_proba")
            Methods of the estimator that give scores, the first that it has being used.
        undefined : {"skip", "ignore", "raise"} or float, default="skip"
            What averages do with groups that lack a class; see `GroupAUC`.
        missing : {"raise", "drop", "group"}, default="raise"
            What to do with rows without a group label; see `AUCPartial.from_predictions`.
        sort : bool, default=True
            Order groups by how high they score; False keeps the order of labels.
        max_groups : int, default=250
            Most groups to draw, at least 2. Of more, so many evenly spread over the order are
            drawn, and the plot says so.
        colorbar : bool, default=True
            Whether to add a bar of the colours.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        CrossAUCDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError, TypeError
            If an argument is not as described, or the matrix would not fit in memory.
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
        return cls.from_report(report, sort=sort, max_groups=max_groups, colorbar=colorbar, ax=ax)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        sort: bool = True,
        max_groups: int = _MOST_GROUPS,
        colorbar: bool = True,
    ) -> CrossAUCDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        sort : bool, default=True
            Order groups by how high they score; False keeps the order of labels.
        max_groups : int, default=250
            Most groups to draw, at least 2. Of more, so many evenly spread over the order are
            drawn, and the plot says so.
        colorbar : bool, default=True
            Whether to add a bar of the colours.

        Returns
        -------
        CrossAUCDisplay
            The display itself.
        """
        check_matplotlib("CrossAUCDisplay.plot")
        most = validation.check_whole_number(max_groups, "max_groups", 2)
        n_groups = len(self.groups)
        order = self._order() if sort else np.arange(n_groups)
        if n_groups > most:
            order = order[np.linspace(0, n_groups - 1, most).round().astype(np.intp)]
        self.shown_ = order
        matrix = self.cross_matrix[np.ix_(order, order)]

        ax = axes_or_new(ax, 6.2, WIDTH)
        self.ax_, self.figure_ = ax, ax.figure
        center = self._center
        reach = max(np.nanmax(np.abs(matrix - center), initial=0.0), _LEAST_RANGE)
        self.im_ = ax.imshow(
            matrix,
            cmap="RdBu",
            vmin=center - reach,
            vmax=center + reach,
            interpolation="nearest",
            # Square cells would leave labels no room under constrained layout.
            aspect="auto",
        )
        # Cells without a number are transparent.
        ax.patch.set(facecolor="0.93", edgecolor="0.7", hatch="////")
        notes = []
        if n_groups > order.size:
            notes.append(
                f"{order.size:,} of {validation.counted(n_groups, 'group')} shown, evenly spread "
                "over their order"
            )
        if np.isnan(matrix).any():
            notes.append("hatched: no such pairs")
        notes += filter(None, [self._left_out])
        self._write_note(notes)
        ax.set_ylabel("Positives of")
        self.colorbar_ = None
        if colorbar:
            self.colorbar_ = ax.figure.colorbar(self.im_, ax=ax)
        step = self._draw_labels()
        if step > 1:
            self._write_note([*notes, f"one label in {step} written"])
        if self.colorbar_ is not None:
            self._label_colorbar(self.colorbar_, reach)
        self.text_ = self._draw_values(matrix)
        return self

    @property
    def _center(self) -> float:
        return 0.5 if self.pooled_auc is None else self.pooled_auc

    def _order(self) -> NDArray[np.intp]:
        """Groups from the lowest to the highest scoring."""
        beyond = self.cross_matrix - self._center
        both = np.concatenate([beyond, -beyond.T], axis=1)
        known = ~np.isnan(both)
        level = np.where(known, both, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        return np.argsort(level, kind="stable")

    def _write_note(self, notes: list[str]) -> None:
        self.note_ = "; ".join(notes)
        self.ax_.set_xlabel("\n".join(["Negatives of", *(f"({note})" for note in notes)]))

    def _draw_labels(self) -> int:
        """Label as many groups as have room, evenly spread; at most one in how many."""
        ax, n_shown = self.ax_, self.shown_.size
        texts = [text_of(self.groups[g], _MOST_CHARACTERS) for g in self.shown_]
        lay_out(ax)
        width, height = self._cell()
        steps = [max(int(np.ceil(LINE / size)), 1) for size in (width, height)]
        for axis, size, step in zip((ax.xaxis, ax.yaxis), (width, height), steps, strict=True):
            places = list(range(0, n_shown, step))
            labels = [texts[place] for place in places]
            longest = max(map(len, labels)) * _CHARACTER + 0.05
            is_upright = axis is ax.xaxis and longest > size * step
            set_ticks(axis, places, labels, rotation=90 if is_upright else 0)
        return max(steps)

    def _cell(self) -> tuple[float, float]:
        """Inches that a cell is wide and high."""
        width, height = size_of(self.ax_)
        return width / self.shown_.size, height / self.shown_.size

    def _label_colorbar(self, bar: Colorbar, reach: float) -> None:
        lay_out(self.ax_)
        white = "0.5" if self.pooled_auc is None else f"pooled AUC, {self.pooled_auc:.3f}"
        # Colours are alike on both sides of the middle; what no AUC can be is left out.
        bar.ax.set_ylim(max(self._center - reach, 0.0), min(self._center + reach, 1.0))
        write_fitting(
            bar.ax.yaxis.label,
            [
                f"AUC of the row's positives against the column's negatives (white: {white})",
                f"AUC of the row's positives\nagainst the column's negatives\n(white: {white})",
                f"AUC\n(white: {white})",
            ],
            size_of(self.ax_)[1],
        )

    def _draw_values(self, matrix: NDArray[np.float64]) -> NDArray[np.object_] | None:
        lay_out(self.ax_)
        width, height = self._cell()
        if width < _VALUE or height < LINE:
            return None
        texts: NDArray[np.object_] = np.full(matrix.shape, None)
        for (row, column), value in np.ndenumerate(matrix):
            if not np.isnan(value):
                texts[row, column] = self._draw_value(row, column, value)
        return texts

    def _draw_value(self, row: int, column: int, value: float) -> Text:
        red, green, blue, _ = self.im_.to_rgba(np.array([value]))[0]
        # Relative luminance, Recommendation ITU-R BT.709
        is_dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
        return self.ax_.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=SMALL,
            color="white" if is_dark else "black",
        )
