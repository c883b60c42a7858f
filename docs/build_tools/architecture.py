"""Diagram of the package's modules, drawn from their imports.

Each box is a module or a folder of skfedauc with the first paragraph of its docstring. A box is
below all boxes that import from it.
"""

import ast
import functools
import html
import itertools
import textwrap
from graphlib import TopologicalSorter
from pathlib import Path

import skfedauc

PACKAGE = Path(skfedauc.__file__).parent
WIDTH, BOX_HEIGHT, GAP, LEVEL_GAP, LINE = 820, 86, 14, 40, 17
NARROW = 8  # width of an arrow that crosses a level


def rooms() -> dict[str, Path]:
    """Return, by name of a module or folder, the file with its docstring."""
    files = {file.stem: file for file in PACKAGE.glob("*.py") if file.stem != "__init__"}
    return files | {file.parent.name: file for file in PACKAGE.glob("*/__init__.py")}


@functools.cache
def needs(name: str) -> set[str]:
    """Return the modules that a module imports from; imports for type checkers count."""
    folder = PACKAGE / name
    found: set[str] = set()
    for file in folder.glob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        nodes: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
        while nodes:
            node = nodes.pop()
            # Expressions import nothing.
            nodes += (n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skfedauc"):
                for alias in node.names:
                    found.add(_room_of(f"{node.module}.{alias.name}".split(".")[1]))
    return found - {name}


def _room_of(part: str) -> str:
    """Return the module of a public name, or the module itself."""
    return skfedauc._MODULES.get(part, part).split(".")[0]


def levels() -> tuple[list[list[str]], dict[str, set[str]]]:
    """Return the modules of each level, from the lowest, and the imports of each module."""
    graph = {name: needs(name) & rooms().keys() for name in rooms()}
    order = list(TopologicalSorter(graph).static_order())
    level_of: dict[str, int] = {}
    for name in order:
        level_of[name] = 1 + max((level_of[below] for below in graph[name]), default=-1)
    # Move each module to just below the modules that import it, so that arrows are short.
    for name in reversed(order):
        above = [level_of[user] for user in graph if name in graph[user]]
        level_of[name] = min(above) - 1 if above else level_of[name]
    highest = max(level_of.values())
    by_level = [[n for n in sorted(graph) if level_of[n] == i] for i in range(highest + 1)]
    return by_level, graph


def direct(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out imports that a longer path through other modules implies."""

    @functools.cache
    def below(name: str) -> set[str]:
        return graph[name].union(*(below(n) for n in graph[name]))

    return {
        name: {n for n in mine if not any(n in below(other) for other in mine)}
        for name, mine in graph.items()
    }


class Arrows:
    """Arrows as chains of points, one point per level that an arrow crosses."""

    def __init__(self, by_level: list[list[str]], graph: dict[str, set[str]]) -> None:
        level_of = {name: i for i, names in enumerate(by_level) for name in names}
        self.chains: list[list[str]] = []
        self.levels = [list(names) for names in by_level]
        for upper, lowers in sorted(direct(graph).items()):
            for lower in sorted(lowers):
                between = range(level_of[upper] - 1, level_of[lower], -1)
                # An arrow that crosses a level occupies a narrow place there.
                places = [f"{upper}>{lower}:{level}" for level in between]
                for level, place in zip(between, places, strict=True):
                    self.levels[level].append(place)
                self.chains.append([upper, *places, lower])

    def sort(self, level: int, middle_of: dict[str, float]) -> list[str]:
        """Sort the places of a level by the mean position of their arrows' origins."""

        def key(name: str) -> float:
            above = [
                middle_of[before]
                for chain in self.chains
                for before, after in itertools.pairwise(chain)
                if after == name
            ]
            return sum(above) / len(above) if above else WIDTH

        return sorted(self.levels[level], key=key)


def svg() -> str:
    """Return the diagram as SVG; its colors come from the page, light or dark."""
    by_level, graph = levels()
    arrows = Arrows(by_level, graph)
    middle: dict[str, float] = {}
    top: dict[str, float] = {}
    shapes, y = [], float(GAP)
    for level in reversed(range(len(by_level))):
        names = arrows.sort(level, middle)
        n_rooms = len(by_level[level])
        room = WIDTH - GAP * (len(names) + 1) - NARROW * (len(names) - n_rooms)
        width = min(250.0, room / n_rooms)
        widths = [width if name in graph else NARROW for name in names]
        x = (WIDTH - sum(widths) - GAP * (len(names) - 1)) / 2
        for name, own in zip(names, widths, strict=True):
            middle[name], top[name] = x + own / 2, y
            if name in graph:
                shapes.append(_box(name, x, y, own))
            x += own + GAP
        y += BOX_HEIGHT + LEVEL_GAP
    lines = [_arrow([(middle[name], top[name]) for name in chain]) for chain in arrows.chains]
    height = y - LEVEL_GAP + GAP
    return (
        f'<div class="architecture"><svg viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="Layers of the package, each importing from those below">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>'
        f"{''.join(lines)}{''.join(shapes)}</svg></div>"
    )


def _box(name: str, x: float, y: float, width: float) -> str:
    docstring = ast.get_docstring(ast.parse(rooms()[name].read_text(encoding="utf-8"))) or ""
    words = docstring.split("\n\n")[0].replace("\n", " ").replace("`", "")
    lines = textwrap.wrap(words, int((width - 20) / 6.9), max_lines=3, placeholder=" …")
    text = "".join(
        f'<text x="{x + 10:.1f}" y="{y + 38 + LINE * i:.1f}">{html.escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{x + 10:.1f}" y="{y + 20:.1f}">{name}</text>{text}'
    )


def _arrow(points: list[tuple[float, float]]) -> str:
    """Draw an arrow from the bottom of a box to the top of another, vertical across levels."""
    x, y = points[0]
    path = f"M{x:.1f},{y + BOX_HEIGHT:.1f}"
    for (x, y), (next_x, next_y) in itertools.pairwise(points):
        foot, bend = y + BOX_HEIGHT, (y + BOX_HEIGHT + next_y) / 2
        path += f" L{x:.1f},{foot:.1f} C{x:.1f},{bend:.1f} {next_x:.1f},{bend:.1f}"
        path += f" {next_x:.1f},{next_y:.1f}"
    return f'<path class="arrow" marker-end="url(#tip)" d="{path}"/>'
