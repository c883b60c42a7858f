"""Plots of the tables of calibration.md: coverage, error rates and other numbers of each line.

Each plot of a table has the columns of one axis, with a dot for each cell. The table itself moves
into a closed dropdown. At the top of the first topic, heat maps show the coverage of two methods by
size of the group and AUC.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchmarks.calibration.table import Plot


class Layout(NamedTuple):
    """Places in a plot, in pixels.

    Attributes
    ----------
    name : str
        Class of the plot: `skfedauc.css` shows "narrow" plots on phones, "wide" ones elsewhere.
    left, strip, right : int
        Widths of the part of the labels, of the part of the marks, and of the margin.
    line : int
        Height of a line.
    label : int
        Distance of a label from the top of its line.
    middle : int
        Distance of the marks from the top of their line.
    """

    name: str
    left: int
    strip: int
    right: int
    line: int
    label: int
    middle: int

    @property
    def width(self) -> int:
        """Width of the plot."""
        return self.left + self.strip + self.right


WIDE = Layout("wide", 330, 400, 30, 22, 15, 11)
# Labels are above the marks.
NARROW = Layout("narrow", 16, 344, 20, 38, 14, 27)
TOP, BOTTOM, LEGEND_LINE = 34, 40, 20
LONGEST_LABEL = 48  # characters of a label
N_COLORS = 6  # skfedauc.css has them; the first 12 series differ in shape or color
SHAPES = (
    '<circle cx="{x}" cy="{y}" r="5"/>',
    '<rect x="{x0}" y="{y0}" width="9" height="9"/>',
    '<path d="M{x},{y1} l6,10 h-12 z"/>',
    '<path d="M{x},{y2} l6,6 l-6,6 l-6,-6 z"/>',
)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
# The mark where the page gets the heat maps, and the title of the table that has their values
HEAT_MAPS, OF_ONE_AUC = "<!-- heat maps -->", "Interval of one AUC"
METHODS = {"logit": "logit, the default", "delong": "delong, as in pROC"}


class Section(NamedTuple):
    """A table of the page.

    Attributes
    ----------
    title : str
    n_runs : int
    columns : list of str
    lines : list of list of str
    """

    title: str
    n_runs: int
    columns: list[str]
    lines: list[list[str]]


def with_plots(page: str, plots: dict[str, list[Plot]]) -> str:
    """Return the Markdown page with plots above the tables.

    Parameters
    ----------
    page : str
    plots : dict
        The plots of a table, by its title. Other tables are not drawn.
    """
    introduction, *sections = page.split("\n## ")
    drawn = [introduction]
    for section in sections:
        title = section.split("\n")[0]
        if title == OF_ONE_AUC:
            # The mark is above the first table of the topic.
            drawn[-1] = drawn[-1].replace(HEAT_MAPS, heat_maps(read_table(section, title)))
        drawn.append(_with_plots(section, title, plots[title]) if title in plots else section)
    return "\n## ".join(drawn)


def read_table(section: str, title: str) -> Section:
    """Return the table of a section of the page."""
    found = TABLE.search(section)
    runs = re.search(r"([\d,]+) runs per line", section)
    if found is None or runs is None:
        raise ValueError(f"calibration.md: {title!r} lacks a table or its number of runs")
    columns, _, *lines = [
        [cell.strip() for cell in line.strip()[1:-1].split("|")] for line in found[0].splitlines()
    ]
    return Section(title, int(runs[1].replace(",", "")), columns, lines)


def _with_plots(section: str, title: str, plots: list[Plot]) -> str:
    table = read_table(section, title)
    drawn = ""
    for plot in plots:
        if unknown := set(plot.columns) - set(table.columns):
            raise ValueError(f"calibration.md: {title!r} has no columns {sorted(unknown)}")
        both = "\n".join(svg(table, plot, layout) for layout in (WIDE, NARROW))
        drawn += f"```{{raw}} html\n{both}\n```\n\n"
    found = TABLE.search(section)
    dropdown = f":::{{dropdown}} Table\n{found[0]}:::\n"
    return section[: found.start()] + drawn + dropdown + section[found.end() :]


def heat_maps(table: Section) -> str:
    """Return tables of the coverage by size of the group and AUC, colored by the distance from 95.

    The tables have the lines with equal standard deviations of both classes.
    """
    places = [line[0].split(", ") for line in table.lines]
    sizes = list(dict.fromkeys(size for size, _, _ in places))
    aucs = list(dict.fromkeys(auc for _, auc, _ in places))
    error = 2.0 * (95.0 * 5.0 / table.n_runs) ** 0.5
    drawn = ""
    for method, name in METHODS.items():
        column = table.columns.index(method)
        of = {tuple(place): line[column] for place, line in zip(places, table.lines, strict=True)}
        rows = ""
        for size in sizes:
            values = [of[size, auc, "1.0"] for auc in aucs]
            kinds = [
                "low"
                if float(value) < 95.0 - error
                else "high"
                if float(value) > 95.0 + error
                else ""
                for value in values
            ]
            cells = "".join(
                f'<td class="{kind}">{value}</td>'
                for kind, value in zip(kinds, values, strict=True)
            )
            rows += f'<tr><th scope="row">{size}</th>{cells}</tr>'
        heads = "".join(f'<th scope="col">{auc}</th>' for auc in aucs)
        drawn += (
            f'<table class="coverage"><caption>{name}</caption><thead><tr>'
            f'<th scope="col">size, AUC</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        )
    return f'```{{raw}} html\n<div class="coverages">{drawn}</div>\n```'


def svg(table: Section, plot: Plot, layout: Layout) -> str:
    """Return one plot as SVG; its colors come from the page, light or dark.

    Lines without a value are left out.
    """
    lines = []
    for line in table.lines:
        cells = [line[table.columns.index(column)] for column in plot.columns]
        if any(cells):
            lines.append((line[0], [float(cell) if cell else None for cell in cells]))
    seen = [value for _, values in lines for value in values if value is not None]
    nominal, error = plot.nominal, 0.0
    if plot.is_rate:
        error = 2.0 * (nominal * (100.0 - nominal) / table.n_runs) ** 0.5
    if nominal is not None:
        seen += [nominal - error, nominal + error]
    step, low, high = _axis(min(seen), max(seen), nominal or 0.0)

    def x_of(value: float) -> float:
        return layout.left + (value - low) / (high - low) * layout.strip

    legend, n_lines = _legend(plot.columns, layout)
    top = TOP + LEGEND_LINE * (n_lines - 1)
    bottom = top + layout.line * len(lines)
    shapes = []
    if plot.is_rate:
        ends = x_of(max(nominal - error, low)), x_of(min(nominal + error, high))
        shapes.append(
            f'<rect class="band" x="{ends[0]:.1f}" y="{top}" '
            f'width="{ends[1] - ends[0]:.1f}" height="{bottom - top}"/>'
        )
    shapes += _ticks(x_of, low, high, step, top, bottom)
    if nominal is not None:
        shapes.append(f'<path class="nominal" d="M{x_of(nominal):.1f},{top} V{bottom}"/>')
    unit = " %" if plot.axis.endswith("%") else ""
    of_label = _of_label(layout)
    for i, (label, values) in enumerate(lines):
        y = top + layout.line * i
        if layout is NARROW and i:
            shapes.append(f'<path class="tick" d="M0,{y} H{layout.width}"/>')
        shapes.append(
            f'<text {of_label} y="{y + layout.label}">{_short(label)}'
            f"<title>{html.escape(label)}</title></text>"
        )
        shapes += [
            f'<g class="series-{k % N_COLORS}">{mark(k, x_of(value), y + layout.middle)}<title>'
            f"{html.escape(label)}, {html.escape(plot.columns[k])}: {value:g}{unit}</title></g>"
            for k, value in enumerate(values)
            if value is not None
        ]
    axis, height = _names_of_axes(table.columns[0], plot, layout, bottom)
    words = f"{plot.axis} of {', '.join(plot.columns)}; the table below has the values"
    return (
        f'<div class="calibration {layout.name}" tabindex="0">'
        f'<svg viewBox="0 0 {layout.width} {height}" role="img" '
        f'aria-label="{html.escape(words)}">{legend}{"".join(shapes)}{axis}'
        "</svg></div>"
    )


def _of_label(layout: Layout, kind: str = "") -> str:
    """Return the attributes of a label: it ends beside the marks, or starts above them."""
    if layout is NARROW:
        return f'x="0" class="{kind}start"'
    return f'x="{layout.left - 14}" class="{kind}label"'


def _names_of_axes(lines: str, plot: Plot, layout: Layout, bottom: float) -> tuple[str, float]:
    """Return the names of the lines and of the axis, and the height of the plot."""
    name = plot.axis if plot.nominal is None else f"{plot.axis} (nominal {plot.nominal:g})"
    middle = layout.left + layout.strip / 2
    axis = f'<text class="axis" x="{middle}" y="{bottom + 34}">{html.escape(name)}</text>'
    y = bottom + (54 if layout is NARROW else 16)
    of_label = _of_label(layout, "axis ")
    words = f"Lines: {lines}" if layout is NARROW else lines
    wrapped = textwrap.wrap(words, LONGEST_LABEL)
    for i, part in enumerate(wrapped):
        axis += f'<text {of_label} y="{y + 18 * i}">{html.escape(part)}</text>'
    return axis, max(bottom + BOTTOM, y + 18 * (len(wrapped) - 1) + 6)


def _axis(lowest: float, highest: float, nominal: float) -> tuple[float, float, float]:
    """Return step, low end and high end of an axis with at most 7 ticks.

    The axis contains 0, except for rates with a nominal rate above 50 %.
    """
    if nominal > 50.0:
        lowest, highest = min(lowest, 90.0), 100.0
    elif nominal > 0.0:
        lowest, highest = 0.0, max(highest, 10.0)
    else:
        lowest, highest = min(lowest, 0.0), max(highest, 0.0)
    size = 10.0 ** math.floor(math.log10((highest - lowest) / 6.0))
    step = next(size * n for n in (1, 2, 5, 10, 20) if (highest - lowest) / (size * n) <= 6.0)
    low, high = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    return step, low, high


def _ticks(
    x_of: Callable[[float], float], low: float, high: float, step: float, top: float, bottom: float
) -> Iterator[str]:
    for k in range(round((high - low) / step) + 1):
        value = low + k * step
        x = x_of(value)
        yield f'<path class="tick" d="M{x:.1f},{top} V{bottom}"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{bottom + 16}">{round(value, 6):g}</text>'


def _legend(columns: list[str], layout: Layout) -> tuple[str, int]:
    """Return the legend and its number of lines; a series that does not fit starts a new line."""
    widths = [36 + 7.0 * len(column) for column in columns]
    left = x = max(0.0, min(layout.left, layout.width - sum(widths)))
    y, shapes = 14, []
    for k, column in enumerate(columns):
        if x > left and x + widths[k] > layout.width:
            x, y = left, y + LEGEND_LINE
        shapes.append(
            f'<g class="series-{k % N_COLORS}">{mark(k, x + 6, y)}</g>'
            f'<text x="{x + 18:.1f}" y="{y + 4}">{html.escape(column)}</text>'
        )
        x += widths[k]
    return "".join(shapes), 1 + (y - 14) // LEGEND_LINE


def mark(series: int, x: float, y: float) -> str:
    """Return the mark of a series at a point."""
    places = {"x": x, "y": y, "x0": x - 4.5, "y0": y - 4.5, "y1": y - 6, "y2": y - 6}
    shape = SHAPES[series % len(SHAPES)]
    return shape.format(**{name: f"{value:.1f}" for name, value in places.items()})


def _short(label: str) -> str:
    if len(label) > LONGEST_LABEL:
        label = f"{label[: LONGEST_LABEL - 1]}…"
    return html.escape(label)
