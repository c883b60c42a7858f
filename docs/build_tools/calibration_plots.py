"""Plots of the tables of calibration.md: coverage and error rates against nominal rates.

A table becomes one plot for each nominal rate of its columns, with a dot for each cell. The table
itself moves into a closed dropdown. At the top, heat maps show the coverage of two methods by size
of the group and AUC.
"""

import html
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

LABELS, STRIP, LINE, TOP, BOTTOM = 330, 400, 22, 34, 40
LEGEND_LINE = 20
LONGEST_LABEL = 48  # characters beside the strip
WIDTH = LABELS + STRIP + 30
N_COLORS = 6  # skfedauc.css has them; the first 12 series differ in shape or color
SHAPES = (
    '<circle cx="{x}" cy="{y}" r="5"/>',
    '<rect x="{x0}" y="{y0}" width="9" height="9"/>',
    '<path d="M{x},{y1} l6,10 h-12 z"/>',
    '<path d="M{x},{y2} l6,6 l-6,6 l-6,-6 z"/>',
)
NAMES = {95.0: "Coverage in %", 5.0: "Error rate in %"}
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


def with_plots(page: str, nominal: dict[str, dict[str, float]]) -> str:
    """Return the Markdown page with plots above the tables.

    Parameters
    ----------
    page : str
    nominal : dict
        Nominal rates in %, by title and column. Other columns are not drawn.
    """
    introduction, *sections = page.split("\n## ")
    drawn = [introduction]
    for section in sections:
        title = section.split("\n")[0]
        if title == OF_ONE_AUC:
            drawn[0] = drawn[0].replace(HEAT_MAPS, heat_maps(read_table(section, title)))
        drawn.append(_with_plots(section, title, nominal[title]) if title in nominal else section)
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


def _with_plots(section: str, title: str, nominal: dict[str, float]) -> str:
    table = read_table(section, title)
    if unknown := nominal.keys() - set(table.columns):
        raise ValueError(f"calibration.md: {title!r} has no columns {sorted(unknown)}")
    plots = ""
    for rate in sorted(set(nominal.values()), reverse=True):
        drawn = svg(
            table, [column for column in table.columns if nominal.get(column) == rate], rate
        )
        plots += f"```{{raw}} html\n{drawn}\n```\n\n"
    found = TABLE.search(section)
    dropdown = f":::{{dropdown}} Table\n{found[0]}:::\n"
    return section[: found.start()] + plots + dropdown + section[found.end() :]


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


def svg(table: Section, columns: list[str], nominal: float) -> str:
    """Return one plot as SVG; its colors come from the page, light or dark."""
    values = [
        [float(line[table.columns.index(column)] or "nan") for column in columns]
        for line in table.lines
    ]
    seen = [value for line in values for value in line if value == value]
    error = 2.0 * (nominal * (100.0 - nominal) / table.n_runs) ** 0.5
    step, low, high = _axis(min(*seen, nominal - error), max(*seen, nominal + error), nominal)

    def x_of(value: float) -> float:
        return LABELS + (value - low) / (high - low) * STRIP

    legend, n_lines = _legend(columns)
    top = TOP + LEGEND_LINE * (n_lines - 1)
    bottom = top + LINE * len(values)
    shapes = [
        f'<rect class="band" x="{x_of(max(nominal - error, low)):.1f}" y="{top}" '
        f'width="{x_of(min(nominal + error, high)) - x_of(max(nominal - error, low)):.1f}" '
        f'height="{bottom - top}"/>',
        *_ticks(x_of, low, high, step, top, bottom),
        f'<path class="nominal" d="M{x_of(nominal):.1f},{top} V{bottom}"/>',
    ]
    for i, (line, row) in enumerate(zip(table.lines, values, strict=True)):
        y = top + LINE * (i + 0.5)
        shapes.append(
            f'<text x="{LABELS - 14}" y="{y + 4:.1f}" class="label">{_short(line[0])}'
            f"<title>{html.escape(line[0])}</title></text>"
        )
        shapes += [
            f'<g class="series-{k % N_COLORS}">{mark(k, x_of(value), y)}<title>'
            f"{html.escape(line[0])}, {html.escape(columns[k])}: {value:g} %</title></g>"
            for k, value in enumerate(row)
            if value == value
        ]
    axis = "".join(
        f'<text class="axis label" x="{LABELS - 14}" y="{bottom + 16 + 18 * i}">'
        f"{html.escape(words)}</text>"
        for i, words in enumerate(textwrap.wrap(table.columns[0], LONGEST_LABEL))
    )
    axis += (
        f'<text class="axis" x="{LABELS + STRIP / 2}" y="{bottom + 34}">{NAMES[nominal]} '
        f"(nominal {nominal:g})</text>"
    )
    words = f"{NAMES[nominal]} of {', '.join(columns)}; the table below has the values"
    return (
        '<div class="calibration" tabindex="0">'
        f'<svg viewBox="0 0 {WIDTH} {bottom + BOTTOM}" role="img" '
        f'aria-label="{html.escape(words)}">{legend}{"".join(shapes)}{axis}'
        "</svg></div>"
    )


def _axis(lowest: float, highest: float, nominal: float) -> tuple[float, float, float]:
    """Return step, low end and high end of an axis of percentages with at most 7 ticks."""
    if nominal > 50.0:
        lowest, highest = min(lowest, 90.0), 100.0
    else:
        lowest, highest = 0.0, max(highest, 10.0)
    step = next(step for step in (1, 2, 5, 10, 20) if (highest - lowest) / step <= 6.0)
    low, high = lowest // step * step, -(-highest // step) * step
    return step, low, high


def _ticks(
    x_of: Callable[[float], float], low: float, high: float, step: float, top: float, bottom: float
) -> Iterator[str]:
    value = low
    while value <= high:
        x = x_of(value)
        yield f'<path class="tick" d="M{x:.1f},{top} V{bottom}"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{bottom + 16}">{value:g}</text>'
        value += step


def _legend(columns: list[str]) -> tuple[str, int]:
    """Return the legend and its number of lines; a series that does not fit starts a new line."""
    widths = [36 + 7.0 * len(column) for column in columns]
    left = x = max(10.0, min(LABELS, WIDTH - sum(widths)))
    y, shapes = 14, []
    for k, column in enumerate(columns):
        if x > left and x + widths[k] > WIDTH:
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
