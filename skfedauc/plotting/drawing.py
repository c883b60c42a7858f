"""Base class of a report's displays, and what displays draw with: axes, labels, legends, notes."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypedDict,
    Unpack,
)

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc.counts.moments import Floats
from skfedauc.counts.score_counts import left_out
from skfedauc.inference.intervals import Method
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import RowOptions, estimates_of
from skfedauc.report.statistics import StatisticName

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

# Artist and text of an entry of a legend
Entry: TypeAlias = tuple[Any, str]

# Colors visible on white, and distinguishable for color-blind readers. Source: Okabe, M. and Ito,
# K. (2008). Color universal design. https://jfly.uni-koeln.de/color/
BLACK, GREY, PALE = "#000000", "#767676", "#bdbdbd"
BLUE, VERMILLION, GREEN = "#0072b2", "#d55e00", "#009e73"
PURPLE, ORANGE, SKY = "#cc79a7", "#e69f00", "#56b4e9"
# Each color has its own line style, for readers who cannot distinguish colors.
STYLES: list[tuple[str, Any]] = [
    (BLUE, "-"),
    (VERMILLION, "--"),
    (GREEN, "-."),
    (PURPLE, (0, (1, 1))),
    (ORANGE, (0, (6, 1, 1, 1, 1, 1))),
    (SKY, (0, (8, 3))),
]
SMALL = "small"
# Height in inches of a line of small text, with some space around it
LINE = 0.19
# Width of a figure in inches, and approximate height of its labels, title and margins
WIDTH, MARGINS = 8.0, 1.0
MOST_CHARACTERS = 24
# Largest number of listed labels of other groups
_MOST_NAMES = 3

# Inches that a legend beside or below the axes leaves, and inches of the labels below the axes
_LEAST_WIDTH, _BELOW = 2.2, 0.5
# Largest score to draw: sums of larger coordinates overflow in Matplotlib.
LARGEST = 1e300


def check_matplotlib(caller: str) -> None:
    _input.imported("matplotlib", f"{caller} requires matplotlib", "plot")


def check_threshold(threshold: Any) -> float:
    return _input.check_number(threshold, "threshold", hint=" None draws no threshold.")


def size_of(ax: Axes) -> tuple[float, float]:
    """Return the axes' width and height in inches."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return box.width / dpi, box.height / dpi


def lay_out(ax: Axes) -> bool:
    """Run the figure's layout engine; return False if it has none."""
    figure = ax.figure.figure  # `ax.figure` may be a subfigure.
    engine = figure.get_layout_engine() if figure is not None else None
    if engine is None:
        return False
    engine.execute(figure)
    return True


def text_of(label: Any, most: int = MOST_CHARACTERS) -> str:
    """Return a label as one text line; a long label gets an ellipsis in the middle."""
    return _words.shortened_label(label, most)


def as_written(text: Text) -> Text:
    """Show a text literally, even if it looks like a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def length_of(text: Text) -> float:
    """Return how long a text is in inches, horizontal or vertical."""
    box = text.get_window_extent()
    return float(max(box.width, box.height) / text.figure.dpi) if text.figure else 0.0


def set_ticks(axis: Axis, positions: Sequence[float], texts: Sequence[str], **kwargs: Any) -> None:
    """Set ticks with small, literal labels."""
    for text in axis.set_ticks(list(positions), labels=list(texts), fontsize=SMALL, **kwargs):
        as_written(text.label1)
        as_written(text.label2)


class Choice(NamedTuple):
    """Indices of the groups with an AUC, by ascending AUC, in three parts."""

    lowest: NDArray[np.intp]
    left_out: NDArray[np.intp]
    highest: NDArray[np.intp]

    @property
    def shown(self) -> NDArray[np.intp]:
        """Groups to draw."""
        return np.concatenate([self.lowest, self.highest])

    @property
    def places(self) -> NDArray[np.intp]:
        """Positions for the groups to draw, from the bottom; the note has its own."""
        places = np.arange(self.shown.size)
        places[self.lowest.size :] += bool(self.left_out.size)
        return places

    @property
    def n_lines(self) -> int:
        """How many positions there are, with the note's."""
        return self.shown.size + bool(self.left_out.size)

    @property
    def limits_of_lines(self) -> tuple[float, float]:
        """A forest plot's lower and upper line ends."""
        return -0.7, max(self.n_lines, 1) - 0.3

    def draw_note(self, ax: Axes, auc: Floats, name: str = "an AUC") -> str:
        """Write which groups are left out between both ends, or their number; return the note."""
        if not self.left_out.size:
            return ""
        low, high = auc[self.left_out[[0, -1]]].tolist()
        n_groups = _words.counted(self.left_out.size, "group")
        note = f"{n_groups} with {name} of {low:.3f} to {high:.3f} not shown"
        lay_out(ax)
        text = ax.text(
            0.5,
            self.lowest.size,
            "",
            transform=ax.get_yaxis_transform(),
            color=GREY,
            fontsize=SMALL,
            ha="center",
            va="center_baseline",
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1},
            zorder=4,
        )
        as_written(text).set_text(note)
        if length_of(text) > 0.95 * size_of(ax)[0]:
            text.set_text(f"{n_groups} not shown")
        return note


def choose(auc: Floats, most: int) -> Choice:
    """Choose the groups with the lowest and the highest AUCs, at most `most` in total."""
    order = np.argsort(auc, kind="stable")[: int((~np.isnan(auc)).sum())]
    return Choice(*_words.ends(order, most))


def most_groups(max_groups: Any, ax: Axes | None, most: int, row: float, n_other: int) -> int:
    """Return how many groups a plot shows as rows; None means up to `most`, if they fit.

    A row has the height `row` in inches, and `n_other` rows are for the legend and notes.
    """
    if max_groups is not None:
        return _input.check_whole_number(max_groups, "max_groups", 2)
    return most if ax is None else min(most, max(int(size_of(ax)[1] / row) - n_other, 2))


def spread(ordered: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return at most `most` groups, evenly spread over their order."""
    if ordered.size <= most:
        return ordered
    return ordered[np.linspace(0, ordered.size - 1, most).round().astype(np.intp)]


def not_shown(number: int, noun: str, lacking: str) -> str:
    """Return the note on what lacks a value; empty if there is nothing."""
    return f"{_words.counted(number, noun)} without {lacking} not shown" if number else ""


def named(groups: Sequence[Any], absent: NDArray[np.bool_], lacking: str) -> str:
    """Return the note that names the groups left out; empty if there are none."""
    which = np.flatnonzero(absent)
    if not which.size:
        return ""
    names = [text_of(groups[g]) for g in which[:_MOST_NAMES]]
    more = ", …" if which.size > len(names) else ""
    return f"{not_shown(which.size, 'group', lacking)}: {', '.join(names)}{more}"


def joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def draw_limit(ax: Axes, at: float, ends: tuple[float, float]) -> Line2D:
    (line,) = ax.plot([at] * 2, ends, color=BLACK, linestyle=":", linewidth=1.2)
    return line


def legend_of(ax: Axes, entries: Sequence[Entry], **kwargs: Any) -> Any:
    """Draw a legend, also for texts that begin with an underscore."""
    # Matplotlib omits entries that begin with an underscore, so set the texts afterwards.
    numbers = [str(number) for number in range(len(entries))]
    legend = ax.legend([handle for handle, _ in entries], numbers, fontsize=SMALL, **kwargs)
    for written, (_, text) in zip(legend.get_texts(), entries, strict=True):
        as_written(written).set_text(text)
    return legend


def legend_off_curves(ax: Axes, entries: Sequence[Entry], **kwargs: Any) -> None:
    """Draw a legend in the axes if it covers no curve, otherwise beside or below the axes.

    In small axes, and in a figure without a layout engine, the legend stays in the axes.
    """
    is_laid_out = lay_out(ax)
    legend = legend_of(ax, entries, **kwargs)
    box = legend.get_window_extent()
    paths = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    for bars in ax.collections:
        paths += map(bars.get_transform().transform_path, bars.get_paths())
    if not is_laid_out or not any(path.intersects_bbox(box, filled=False) for path in paths):
        return
    box = box.transformed(ax.transAxes.inverted())
    width, height = size_of(ax)
    if (1.0 - box.width) * width > _LEAST_WIDTH:
        outside = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    elif (1.0 - box.height) * height > _LEAST_WIDTH + _BELOW:
        outside = {"loc": "upper center", "bbox_to_anchor": (0.5, -_BELOW / height)}
    else:
        return
    legend.remove()
    legend_of(ax, entries, **{**kwargs, **outside})


def legend_and_note(
    ax: Axes, entries: Sequence[Entry], note: str, limits: tuple[float, float]
) -> None:
    """Draw a legend above the data and a note below, within the axes.

    `limits` are the data limits on the vertical axis, which becomes longer to make room.
    """
    lay_out(ax)
    width, height = size_of(ax)
    above, below = 0.0, 0.08
    for columns in range(len(entries), 0, -1):
        legend = legend_of(
            ax,
            entries,
            loc="upper center",
            ncols=columns,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.2,
            handlelength=1.8,
        )
        box = legend.get_window_extent()
        above = box.height / ax.figure.dpi + 0.05
        if box.width / ax.figure.dpi <= 0.98 * width:
            break
    if note:
        written = as_written(
            ax.text(0.01, 0.01, note, transform=ax.transAxes, fontsize=SMALL, color=GREY)
        )
        share = length_of(written) / (0.94 * width)
        if share > 1:
            written.set_text(textwrap.fill(note, max(int(0.95 * len(note) / share), 10)))
        below = written.get_window_extent().height / ax.figure.dpi + 0.08
    low, high = limits
    unit = (high - low) / max(height - above - below, height / 4)
    ax.set_ylim(low - below * unit, high + above * unit)


Kind: TypeAlias = Literal["auc", "rank"]


class Drawing(TypedDict, total=False):
    """All display options; each display has some."""

    adjusted: bool
    bins: int
    colorbar: bool
    confidence_level: float
    kind: Kind
    max_groups: int | None
    method: Method
    sort: bool
    statistics: Sequence[StatisticName] | None
    threshold: float | None


class RowsAndDrawing(Drawing, RowOptions, total=False):
    """Options of `GroupAUC.from_predictions`, and of displays."""


class EstimatorAndDrawing(RowsAndDrawing, total=False):
    """Options of `GroupAUC.from_estimator`, and of displays."""

    response_method: str | tuple[str, ...] | None


class Display:
    """Base class for displays, which define `_plot`."""

    note_: str
    ax_: Axes
    figure_: Figure | SubFigure
    _plot: Callable[[Axes | None], None]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display again.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure. With ``layout="constrained"``, the figure
            leaves room for long labels and for a legend beside the axes. Its options are
            attributes that may be changed before, such as ``display.max_groups = 5``.

        Returns
        -------
        ReportDisplay
            The display itself.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.axes import Axes

        _input.check_type(ax, Axes | None, "ax must be matplotlib axes")
        self._plot(ax)
        return self

    def _draw_on(self, ax: Axes | None, height: float, width: float = WIDTH) -> Axes:
        """Draw on `ax`, or on axes in a new figure with this size in inches."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@dataclass(eq=False, repr=False)
class ReportDisplay(Display):
    """Base class for displays of a `GroupAUC`.

    Subclasses are data classes with options. They define `_plot`, and `__post_init__` for what they
    compute from the report.
    """

    report: GroupAUC
    # True if the display needs scores in addition to the AUCs of the groups.
    _needs_scores: ClassVar[bool] = True
    # True if the display draws AUCs, or scores, in place of other measures.
    _needs_auc: ClassVar[bool] = True

    def __post_init__(self) -> None:
        name, report = f"{type(self).__name__}.from_report", self.report
        if not isinstance(report, GroupAUC):
            mend = "GroupAUC(counts), or use from_predictions for rows"
            held = report.items() if isinstance(report, Mapping) else ()
            key = next((key for key, value in held if isinstance(value, GroupAUC)), None)
            if key is not None:
                mend = f"one of its reports, such as report[{_words.shortened(key)}]"
            raise TypeError(f"report must be a GroupAUC; got {type(report).__name__}. Pass {mend}.")
        if report.n_groups == 0:
            raise ValueError(f"{name} needs at least one group; the report has no rows.")
        if self._needs_auc:
            estimates_of(report).of_auc(name)
        if self._needs_scores:
            estimates_of(report).pairs.check_has_scores(name)

    @classmethod
    def from_report(
        cls, report: GroupAUC, *, ax: Axes | None = None, **drawing: Unpack[Drawing]
    ) -> Self:
        """Make a display from a report, and draw it.

        Parameters
        ----------
        report : GroupAUC
            Report to draw.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **drawing : dict
            The display's options, such as ``max_groups``: the other arguments of the class.

        Returns
        -------
        ReportDisplay
            The display.

        Raises
        ------
        ImportError, ValueError, TypeError
            If matplotlib is missing, or an argument is not as described. A `DisclosureError` if the
            counts do not determine what the display draws.
        """
        check_matplotlib(f"{cls.__name__}.from_report")
        display: Self = cls(report, **drawing)  # type: ignore[misc]
        return display.plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        groups: Any,
        ax: Axes | None = None,
        **options: Unpack[RowsAndDrawing],
    ) -> Self:
        """Draw labels and scores: `GroupAUC.from_predictions`, then `from_report`.

        Parameters
        ----------
        y_true, y_score, groups : array-like
            The rows' labels, scores and groups, as in `GroupAUC.from_predictions`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **options : dict
            Options of `GroupAUC.from_predictions`, such as ``sample_weight`` and ``missing``, and
            of the display, such as ``max_groups``.

        Returns
        -------
        ReportDisplay
            The display.
        """
        settings, drawing = cls._divided(GroupAUC.from_predictions, options)
        report = GroupAUC.from_predictions(y_true, y_score, groups=groups, **settings)
        return cls.from_report(report, ax=ax, **drawing)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any,
        ax: Axes | None = None,
        **options: Unpack[EstimatorAndDrawing],
    ) -> Self:
        """Draw a fitted estimator: `GroupAUC.from_estimator`, then `from_report`.

        Parameters
        ----------
        estimator, X, y, groups : object
            Fitted estimator and rows, as in `GroupAUC.from_estimator`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        **options : dict
            Options of `GroupAUC.from_estimator`, such as ``response_method``, and of the display,
            such as ``max_groups``. `ReliabilityDisplay` draws probabilities by default.

        Returns
        -------
        ReportDisplay
            The display.
        """
        settings, drawing = cls._divided(GroupAUC.from_estimator, options)
        report = cls._of_estimator(estimator, X, y, groups=groups, **settings)
        return cls.from_report(report, ax=ax, **drawing)

    @classmethod
    def _divided(
        cls, constructor: Callable[..., GroupAUC], options: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        check_matplotlib(f"{cls.__name__}.{constructor.__name__}")
        of_display = inspect.signature(cls).parameters
        drawing = {name: value for name, value in options.items() if name in of_display}
        settings = {name: value for name, value in options.items() if name not in of_display}
        known = {*inspect.signature(constructor).parameters, *RowOptions.__annotations__}
        _input.check_keywords(settings, known, f"{cls.__name__}.{constructor.__name__}")
        return settings, drawing

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any, **settings: Any) -> GroupAUC:
        return GroupAUC.from_estimator(estimator, X, y, **settings)

    def _check_one_set(self) -> None:
        if len(estimates_of(self.report).pairs.parts) > 1:
            raise ValueError(
                f"{type(self).__name__} draws scores that are compared with each other; the report "
                "compares scores within folds only. Draw the report of one fold (folds[0]), or "
                "the report of all out-of-fold scores (over_folds)."
            )

    @property
    def groups(self) -> Sequence[Any]:
        """Group labels; "all" if the rows have no groups."""
        groups = self.report.counts.groups
        return ("all",) if groups is None else groups

    @property
    def n_missing(self) -> int:
        """How many rows have no group label, and are left out."""
        return self.report.counts.n_missing

    @property
    def _auc(self) -> Floats:
        return estimates_of(self.report).pairs.auc.astype(np.float64)

    @property
    def _left_out(self) -> str:
        """Note on the small groups and the rows that the report leaves out; empty if none are."""
        small = self.report._left_out  # noqa: SLF001
        labels = [label for label, *_ in small.groups]
        groups = named(labels, np.ones(len(labels), np.bool_), f"{small.least} rows of each class")
        return joined(groups, left_out(self.n_missing).removeprefix(", "))


def floats(table: pd.DataFrame, *names: str) -> list[Floats]:
    return [table[name].to_numpy(np.float64, na_value=np.nan) for name in names]
