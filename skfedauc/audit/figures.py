"""Plots of an audit's page, as SVG for inclusion in HTML."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.audit.names import named
from skfedauc.audit.tables import AuditTables
from skfedauc.pairs import GroupPairs
from skfedauc.plotting import drawing
from skfedauc.plotting.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LINE,
    MARGINS,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    STYLES,
    VERMILLION,
)
from skfedauc.report import GroupAUC, estimates_of
from skfedauc.report.statistics import MATRIX_GROUPS
from skfedauc.report.threshold_sweep import ThresholdSweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Largest numbers of groups in the forest plot, the score plot and the matrix
_MOST_AUCS, _MOST_SCORES, _MOST_IN_MATRIX = 30, 12, 120
# Inches per group of the score plot
_SCORES = 0.5
# Widths in inches. On a phone, the text of a narrow plot is large enough, and a wide plot scrolls.
NARROW, _WIDE = 4.6, 7.2
# Gaps in the plot against the threshold, and their names in the legend
_GAPS = {
    "demographic_parity_difference": "selection rate",
    "true_positive_rate_difference": "true positive rate",
    "false_positive_rate_difference": "false positive rate",
    "precision_difference": "precision",
    "accuracy_difference": "accuracy",
}
# Number of thresholds of scores that are decisions; more thresholds add nothing to a plot
_FEW_THRESHOLDS = 2
# Largest number of groups in a narrow matrix
_MOST_NARROW = 4
# Dots per inch of the image of the cross matrix, the only raster image
_DPI = 150
# Colors of plots, and the names of their CSS variables: the style sheet has other colors in dark
# mode. Matplotlib's defaults are black, white, and shades of gray of the grid and of legends.
_VARIABLES = {
    BLACK: "text",
    "#ffffff": "back",
    GREY: "gray",
    PALE: "pale",
    "#ebebeb": "grid",
    "#cccccc": "pale",
    "#808080": "gray",
    BLUE: "blue",
    VERMILLION: "vermillion",
    GREEN: "green",
    PURPLE: "purple",
    ORANGE: "orange",
    SKY: "sky",
}
_COLOR = re.compile("|".join(_VARIABLES))
_ID_IN_URL = re.compile(r"(?<=url\(#)[^)]+(?=\))")
# Paths of straight lines, and their commands
_NUMBER = r"-?\d+(?:\.\d+)?"
_STRAIGHT = re.compile(rf"(?:[ML] ?{_NUMBER} {_NUMBER}\s*|z\s*(?=M|$))*")
_COMMAND = re.compile(rf"([MLz])(?: ?({_NUMBER}) ({_NUMBER}))?")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")


_COLORS_OF_CELLS = (
    " Colors show by how many standard errors a cell differs from its mirror image: cells within "
    "two standard errors have no color. In a matrix of groups with equal score distributions, "
    "about 5 % of the cells are faintly colored."
)


class Plot(NamedTuple):
    """Plot with a heading, an SVG, and a caption that explains the plot; wide plots scroll."""

    title: str
    svg: str
    caption: str
    is_wide: bool = False


class _Drawing(NamedTuple):
    title: str
    draw: Callable[..., Any]
    inches: float
    about: str
    caption: str
    width: float = NARROW


def plots(tables: AuditTables, prefix: str) -> Iterator[Plot]:
    """Yield the plots of an audit, with SVG ids that begin with `prefix`.

    The plots omit small groups if there are other groups. An impossible plot has no SVG, and a
    caption with the reason.
    """
    report = tables.compared
    without = ""
    if 0 < report.n_groups < tables.report.n_groups:
        without = " Small groups are left out, also of averages and of the pooled AUC."
    if not report.n_groups:
        pairs = GroupPairs(
            tables.report.counts, clusters=estimates_of(tables.report).pairs.clusters
        )
        report = GroupAUC(pairs, undefined="ignore")
    columns = " and ".join(map(_words.shortened_label, tables.columns))
    groups = f"{_words.counted(report.n_groups, 'group')} by {columns}"
    for number, plot in enumerate(_drawings(report, tables)):
        try:
            svg = svg_of(
                partial(plot.draw, report),
                (plot.width, plot.inches),
                f"{prefix}-{number}",
                f"{plot.about}; {groups}",
            )
        except ValueError as error:
            yield Plot(plot.title, "", f"The plot cannot be drawn: {error}")
        else:
            yield Plot(plot.title, svg, plot.caption + without, plot.width > NARROW)


def _drawings(report: GroupAUC, tables: AuditTables) -> Iterator[_Drawing]:
    from skfedauc import plotting

    n_groups = report.n_groups
    sweep = tables.sweep()
    # Threshold on the scale of the scores
    threshold = None if sweep is None else sweep.threshold
    at_threshold = "" if threshold is None else " Dots are the decisions at the threshold."
    yield _Drawing(
        "Group AUCs",
        partial(plotting.GroupAUCDisplay.from_report, max_groups=_MOST_AUCS),
        MARGINS + 0.6 + 1.1 * LINE * min(max(n_groups, 4), _MOST_AUCS + 1),
        f"Group AUCs with 95 % intervals{_span(report)}",
        "Each group's AUC with its 95 % interval, on an axis from 0.5 to 1, or from 0 to 1 if an "
        "interval is below 0.5. Overlapping intervals do not show that groups "
        "are equal; the tables test whether groups differ.",
    )
    yield _Drawing(
        "ROC curves",
        partial(plotting.GroupRocCurveDisplay.from_report, threshold=threshold),
        4.4 + LINE * min(n_groups + 2, len(STYLES) + 3) * (n_groups > 2),
        "ROC curves",
        "If two curves cross, neither group is ranked better everywhere. The curves do not show "
        f"how groups rank against each other.{at_threshold}",
    )
    yield _Drawing(
        "Scores",
        partial(
            plotting.GroupScoreDisplay.from_report, threshold=threshold, max_groups=_MOST_SCORES
        ),
        MARGINS + 0.5 + _SCORES * (max(min(n_groups, _MOST_SCORES + 1), 2) + 1),
        "Histograms of the scores of positives and of negatives",
        "Histograms of the scores, with the same area for each class and group. The model scores "
        "a group higher if both of its histograms lie further to the right.",
    )
    if 2 <= n_groups <= MATRIX_GROUPS:
        is_narrow = n_groups <= _MOST_NARROW
        # The standard errors are those of independent rows.
        colors = "" if estimates_of(report).pairs.clusters is not None else _COLORS_OF_CELLS
        yield _Drawing(
            "Cross AUCs",
            partial(plotting.CrossAUCDisplay.from_report, max_groups=_MOST_IN_MATRIX),
            4.0 if is_narrow else 6.2,
            "Matrix of the AUCs of each group's positives against each group's negatives",
            "Probability that a positive of the row's group outranks a negative of the column's "
            "group. The diagonal has the group AUCs. The difference of two cells that mirror each "
            f"other at the diagonal is the xAUC disparity of the two groups.{colors}",
            NARROW if is_narrow else _WIDE,
        )
    if sweep is not None and len(sweep.gaps) > _FEW_THRESHOLDS:
        yield from _at_thresholds(sweep)
    if tables.calibration is not None:
        yield _Drawing(
            "Reliability",
            plotting.ReliabilityDisplay.from_report,
            5.0,
            "Share of positives against the mean score",
            "Share of positives against the mean score in ten bins with equal numbers of rows "
            "of the group, with a 95 % interval for each point. Points below the diagonal have too "
            "high scores. The numbers in the legend are mean scores minus shares of positives.",
        )


def _at_thresholds(sweep: ThresholdSweep) -> Iterator[_Drawing]:
    marked = ""
    if sweep.threshold is not None:
        marked = " The vertical line is the threshold of the audit."
    yield _Drawing(
        "Gaps against the threshold",
        partial(_draw_gaps, sweep),
        4.0,
        "Differences between the highest and the lowest rate against the threshold",
        "Highest minus lowest rate of a group, if the decisions used another threshold. The gaps "
        "are above 0 also because of sampling error. A threshold that is chosen for a small gap in "
        f"these rows usually has a larger gap in other rows.{marked}",
    )
    yield _Drawing(
        "Selection rates against the threshold",
        partial(_draw_selection_rates, sweep),
        4.0,
        "Selection rate of each group against the threshold",
        f"Share of selected rows, if the decisions used another threshold.{marked}",
    )


def _draw_gaps(sweep: ThresholdSweep, _: GroupAUC, ax: Axes) -> None:
    values = sweep.gaps[list(_GAPS)].to_numpy(np.float64).T
    everyone = np.arange(len(values))
    chosen = drawing.Choice(everyone[::-1], everyone[:0], everyone[:0])
    _draw_steps(sweep, list(_GAPS.values()), values, chosen, drawing.top_of([values]), ax)
    ax.set_ylabel("Highest minus lowest rate")


def _draw_selection_rates(sweep: ThresholdSweep, _: GroupAUC, ax: Axes) -> None:
    rates = sweep.rates["selection_rate"].to_numpy(np.float64)
    values = rates.reshape(sweep.thresholds.size, -1).T
    labels = sweep.rates.index[: len(values)].to_list()
    names = [drawing.text_of(label[1] if len(label) == 2 else label[1:]) for label in labels]
    # The groups with the lowest and the highest rates at the threshold have their own color.
    middle = sweep.thresholds.size // 2
    place = (
        middle if sweep.threshold is None else np.searchsorted(sweep.thresholds, sweep.threshold)
    )
    chosen = drawing.choose(values[:, min(int(place), sweep.thresholds.size - 1)], len(STYLES))
    _draw_steps(sweep, names, values, chosen, 1.0, ax)
    ax.set_ylabel("Selection rate")


def _draw_steps(
    sweep: ThresholdSweep,
    names: list[str],
    values: NDArray[np.float64],
    chosen: drawing.Choice,
    top: float,
    ax: Axes,
) -> None:
    """Draw values at thresholds: between two of them, the value of the higher threshold holds."""
    thresholds = sweep.thresholds
    if np.abs(thresholds).max() > drawing.LARGEST:
        raise ValueError(
            f"the thresholds from {thresholds[0]:.3g} to {thresholds[-1]:.3g} are too large for a "
            "plot; pass smaller thresholds to sweep."
        )
    behind = [
        ax.step(thresholds, values[i], color=PALE, linewidth=0.6)[0]
        for i in drawing.spread_behind(chosen).tolist()
    ]
    entries: list[drawing.Entry] = []
    for i, (color, style) in zip(chosen.shown[::-1].tolist(), STYLES, strict=False):
        (line,) = ax.step(thresholds, values[i], color=color, linestyle=style, linewidth=1.4)
        entries.append((line, names[i]))
    more, _ = drawing.notes_as_entries(behind, chosen.left_out.size, [])
    entries += more
    if sweep.threshold is not None:
        (line,) = ax.plot(
            [sweep.threshold] * 2, [0.0, top], color=BLACK, linestyle=":", linewidth=1
        )
        entries.append((line, f"threshold {sweep.threshold:g}"))
    ax.set_xlabel("Threshold")
    drawing.legend_and_note(ax, entries, "", (0.0, top))
    # The axis continues above the rates, where the legend is.
    ax.set_yticks([tick for tick in ax.get_yticks() if -1e-9 <= tick <= top + 1e-9])


def _span(report: GroupAUC) -> str:
    """Return the lowest and the highest group AUC as text."""
    auc, groups = estimates_of(report).pairs.auc, report.counts.groups or ()
    if np.isnan(auc).all():
        return ""
    ends = int(np.nanargmin(auc)), int(np.nanargmax(auc))
    low, high = (f"{auc[end]:.3f} ({named(groups[end])})" for end in ends)
    return f" from {low} to {high}"


def svg_of(draw: Callable[..., Any], size: tuple[float, float], prefix: str, about: str) -> str:
    """Return a plot as SVG, in Matplotlib's default style instead of the user's style.

    Parameters
    ----------
    draw : callable
        Draws on the axes ``ax=``.
    size : tuple of two float
        Width and height in inches.
    prefix : str
        Beginning of the ids.
    about : str
        Description of the plot for screen readers.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from skfedauc.audit.plot_layout import PlotLayout

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        # The SVG has text instead of outlines. The layout uses a font that is wider than most
        # fonts, so the text also fits in the reader's font.
        mpl.rcParams.update({"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]})
        # Curves need no corners that are less than half a point from the line.
        mpl.rcParams["path.simplify_threshold"] = 0.5
        # The reader's fonts may have glyphs that this font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure = Figure(size, _DPI, layout=PlotLayout())
        # By default, a canvas makes a renderer for each measurement of a text. This canvas has one
        # renderer, with a cache of the sizes of texts.
        FigureCanvasAgg(figure)
        draw(ax=figure.subplots())
        # Compute the layout once: `savefig` would compute the layout and draw the figure twice.
        engine = figure.get_layout_engine()
        if engine is not None:
            engine.execute(figure)
            figure.set_layout_engine("none")
        return _inline(_saved(figure), prefix, about)


def _saved(figure: Figure) -> ElementTree.Element:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    # Omit metadata that differ between runs.
    absent = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    # `figure.savefig` draws the figure twice.
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(file, metadata=absent)
    return ElementTree.fromstring(file.getvalue())


def _inline(svg: ElementTree.Element, prefix: str, about: str) -> str:
    """Return the SVG without namespaces, with ids that are unique on the page."""
    new_ids: dict[str, str] = {}

    def renamed(old: str) -> str:
        return new_ids.setdefault(old, f"{prefix}-{len(new_ids)}")

    for element in svg.iter():
        element.tag = _local(element.tag)
        attributes = {_local(name): value for name, value in element.attrib.items()}
        for name, value in attributes.items():
            if name == "href" and value.startswith("#"):
                attributes[name] = f"#{renamed(value[1:])}"
            elif name == "d":
                attributes[name] = _shorter_path(value)
            elif name in ("x", "y"):
                attributes[name] = _LONG_NUMBER.sub(_shorter, value)
            else:
                value = _ID_IN_URL.sub(lambda found: renamed(found[0]), value)
                attributes[name] = _COLOR.sub(lambda found: f"var(--{_VARIABLES[found[0]]})", value)
        element.attrib = attributes
        if element.tag != "text":
            element.text = None
        element.tail = None
    for element in svg.iter():
        # A style element would apply to the whole page, which has other styles.
        for child in element.findall("style"):
            element.remove(child)
        old = element.attrib.pop("id", None)
        if old in new_ids:
            element.set("id", new_ids[old])
    # The style sheet of the page sets the size.
    del svg.attrib["width"], svg.attrib["height"]
    svg.attrib.update({"role": "img", "aria-label": about})
    return ElementTree.tostring(svg, "unicode")


def _local(name: str) -> str:
    """Return a name without the namespace."""
    return name.rpartition("}")[2]


def _shorter_path(path: str) -> str:
    """Return a path rounded to a tenth of a point, with relative coordinates of straight lines.

    The corners equal the corners of a path with rounded absolute coordinates, because the steps are
    whole tenths.
    """
    if not _STRAIGHT.fullmatch(path):
        return _LONG_NUMBER.sub(_shorter, path)
    found, x, y = [], 0, 0
    for command, *of_point in _COMMAND.findall(path):
        if command == "z":
            found.append("z")
            continue
        new_x, new_y = (round(10.0 * float(number)) for number in of_point)
        right, down = new_x - x, new_y - y
        if command == "M":
            found.append(f"M{_tenths(new_x)} {_tenths(new_y)}")
        elif right == 0:
            found.append(f"v{_tenths(down)}")
        elif down == 0:
            found.append(f"h{_tenths(right)}")
        else:
            found.append(f"l{_tenths(right)} {_tenths(down)}")
        x, y = new_x, new_y
    return "".join(found)


def _tenths(number: int) -> str:
    return str(number // 10) if number % 10 == 0 else str(number / 10.0)


def _shorter(number: re.Match[str]) -> str:
    """Return a coordinate rounded to a tenth of a point."""
    return f"{float(number[0]):.1f}".rstrip("0").rstrip(".")
