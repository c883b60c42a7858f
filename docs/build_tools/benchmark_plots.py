"""Plots of the measured times and memory, from the JSON file that the benchmarks write.

The plots are SVG in the colors of the page. The tables are in `benchmarks/README.md`.
"""

import html
import json
import math
from pathlib import Path

from calibration_plots import N_COLORS, mark

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "latest.json"
ROWS = (100_000, 1_000_000, 10_000_000)
LOWEST, HIGHEST = 1e-4, 10.0  # seconds, the axis
# The width is about that of a phone, so that texts are readable there without scrolling.
WIDTH, LEFT, RIGHT, TOP, HEIGHT, LEGEND = 420, 62, 16, 16, 260, 20
LINE, MOST = 40, 80  # of memory; MOST: bytes, the axis
# Names in legends; other names are those of the file
OURS = {"skfedauc": "skfedauc, 1 thread", "skfedauc, n_jobs=2": "skfedauc, 2 threads"}
NUMPY = "limit: numpy.sort(scores)"
LIMIT_SERIES = 11  # gray, with a shape of its own, in both plots


def results():
    """Return the content of the JSON file."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def machine():
    """Return a sentence on the processor and the versions."""
    on = results()["machine"]
    versions = ", ".join(
        f"{name} {version}"
        for name, version in on["versions"].items()
        if version != "not installed"
    )
    processor = on["processor"].replace("(R)", "")
    return (
        f"Measured on {on['date']} on {on['cores']} cores of {processor} with "
        f"{on['memory_gb']:.0f} GB, Python {on['python']}, {versions}."
    )


def times():
    """Return two plots of rows against seconds, with a mark for each median."""
    cases = [
        ("Pooled AUC of all rows", "{} rows, no ties"),
        ("AUCs of 1,000 groups", "{} rows, 1,000 equal groups, no ties"),
    ]
    plots = [_plot_of_rows(title, name) for title, name in cases]
    caption = (
        "Median times of scores without ties; both axes are logarithmic. Missing marks: more than "
        "6 seconds expected. numpy.sort sorts the scores of all rows, and is a limit, no "
        f"competitor. {machine()}"
    )
    return _figure(plots, caption)


def _figure(plots, caption):
    return (
        f'<figure class="benchmark">{"".join(plots)}'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _svg(width, height, described, shapes):
    return (
        f'<div class="calibration" tabindex="0"><svg viewBox="0 0 {width} {height:.0f}" role="img" '
        f'aria-label="{html.escape(described)}">{"".join(shapes)}</svg></div>'
    )


def _text(x, y, words, kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{html.escape(words)}</text>'


def seconds(name):
    """Return medians in seconds by method, each by number of rows."""
    by_case = {result["case"]: result["seconds"] for result in results()["results"]}
    found = {}
    for n_rows in ROWS:
        for method, median in by_case[name.format(f"1e{math.log10(n_rows):.0f}")].items():
            found.setdefault(method, {})[n_rows] = median
    return {method: found[method] for method in sorted(found, key=lambda m: m == NUMPY)}


def _plot_of_rows(title, name):
    medians = seconds(name)
    n_lines = -(-len(medians) // 2)
    top = TOP + 24 + LEGEND * n_lines
    bottom = top + HEIGHT

    def x_of(n_rows):
        share = math.log(n_rows / ROWS[0]) / math.log(ROWS[-1] / ROWS[0])
        return LEFT + 35 + (WIDTH - LEFT - RIGHT - 70) * share

    def y_of(median):
        if not LOWEST < median < HIGHEST:
            raise ValueError(f"the axis from {LOWEST} to {HIGHEST} s does not contain {median}")
        return bottom - HEIGHT * math.log(median / LOWEST) / math.log(HIGHEST / LOWEST)

    shapes = [f'<text x="0" y="{TOP}" class="title">{html.escape(title)}</text>']
    for exponent in range(-4, 2):
        y = bottom - HEIGHT * (exponent + 4) / 5
        shapes.append(f'<path class="tick" d="M{LEFT},{y:.1f} H{WIDTH - RIGHT}"/>')
        shapes.append(_text(LEFT - 8, y + 4, f"{10.0**exponent:g} s", "label"))
    for n_rows in ROWS:
        shapes.append(f'<path class="tick" d="M{x_of(n_rows):.1f},{top} V{bottom}"/>')
        shapes.append(_text(x_of(n_rows), bottom + 18, f"{n_rows:,} rows", "axis"))
    for i, (method, by_rows) in enumerate(medians.items()):
        k = LIMIT_SERIES if method == NUMPY else i
        shown = OURS.get(method, method)
        points = [(x_of(n_rows), y_of(median)) for n_rows, median in by_rows.items()]
        path = " L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        ours = " ours" if method in OURS else ""
        shapes.append(f'<g class="series-{k % N_COLORS}{ours}"><path class="line" d="M{path}"/>')
        shapes += [
            f"<g>{mark(k, x, y)}<title>{html.escape(shown)}, {n_rows:,} rows: {median:.3g} s"
            "</title></g>"
            for (x, y), (n_rows, median) in zip(points, by_rows.items(), strict=True)
        ]
        x, y = (i % 2) * 230, TOP + 22 + LEGEND * (i // 2)
        shapes.append(f"{mark(k, x + 6, y)}</g>{_text(x + 18, y + 4, shown)}")
    described = f"{title}: seconds against rows of {', '.join(medians)}; the table has the values"
    return _svg(WIDTH, bottom + 26, described, shapes)


def memory():
    """Return two plots of bytes per row and per distinct score, with two marks for each case."""
    cases = results()["memory"]
    half = -(-len(cases) // 2)
    plots = [_plot_of_memory(cases[:half]), _plot_of_memory(cases[half:])]
    return _figure(plots, f"Memory of skfedauc. {machine()}")


def _plot_of_memory(cases):
    series = [
        ("peak beyond the rows, per row", "peak_per_row"),
        ("score counts, per distinct score and group", "state_per_cell"),
    ]
    top = TOP + LEGEND * len(series)
    bottom = top + LINE * len(cases)

    def x_of(n_bytes):
        if not 0 <= n_bytes <= MOST:
            raise ValueError(f"the axis from 0 to {MOST} bytes does not contain {n_bytes}")
        return RIGHT + (WIDTH - 2 * RIGHT) * n_bytes / MOST

    shapes = []
    for k, (shown, _) in enumerate(series):
        y = TOP - 4 + LEGEND * k
        shapes.append(f'<g class="series-{k}">{mark(k, 6, y)}</g>{_text(18, y + 4, shown)}')
    for n_bytes in range(0, MOST + 1, 16):
        shapes.append(f'<path class="tick" d="M{x_of(n_bytes):.1f},{top} V{bottom}"/>')
        shapes.append(_text(x_of(n_bytes), bottom + 16, str(n_bytes), "axis"))
    shapes.append(_text(WIDTH / 2, bottom + 34, "Bytes", "axis"))
    for i, case in enumerate(cases):
        y = top + LINE * i
        shapes.append(_text(0, y + 16, case["case"], "start"))
        for k, (shown, key) in enumerate(series):
            shapes.append(
                f'<g class="series-{k}">{mark(k, x_of(case[key]), y + 29)}<title>'
                f"{html.escape(case['case'])}, {shown}: {case[key]:.1f} bytes</title></g>"
            )
    described = "Memory of skfedauc in bytes by case; the table below has the values"
    return _svg(WIDTH, bottom + 42, described, shapes)
