"""The cheat sheet as a PDF file of one page A4, drawn from the sections of its page.

``python docs/build_tools/cheat_sheet.py cheat_sheet.pdf`` writes the file.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "reference" / "cheat_sheet.md"
# Sizes in points
WIDTH, HEIGHT = 595.3, 841.9
MARGIN, GUTTER = 28.0, 16.0
TITLE, HEADING, TEXT = 16.0, 9.5, 7.2
LINE, GAP, SECOND = 1.29 * TEXT, 9.0, 78.0
CODE = "DejaVu Sans Mono"
INK, MUTED, ACCENT = "#1a1a1a", "#4a5a60", "#00596e"


class Line(NamedTuple):
    """A line of the sheet: how it is set, its text, the second cell of a row, space above it."""

    kind: str
    text: str
    second: str = ""
    above: float = 0.0


def plain(text: str) -> str:
    """Text without the marks of Markdown."""
    return re.sub(r"[`*]|\s+$", "", text)


def sections(page: str) -> list[list[Line]]:
    """Lines of each section; the text above the first section is for the page alone."""
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, _, rest = part.partition("\n")
        lines = [Line("heading", heading)]
        pieces = re.split(
            r"^```\{code-block\} \w+\n(.*?)^```$", rest, flags=re.DOTALL | re.MULTILINE
        )
        for number, piece in enumerate(pieces):
            if number % 2:
                lines += [
                    # A comment belongs to the lines below it.
                    Line("code", line, above=2.6 if line.startswith("# ") else 0.0)
                    for line in filter(None, piece.splitlines())
                ]
                continue
            # The heads of tables are for the page alone.
            text = re.sub(r"^\|.*\n\|--.*\n", "", piece, flags=re.MULTILINE)
            for line in filter(None, text.splitlines()):
                if not line.startswith("|"):
                    lines.append(Line("text", plain(line)))
                else:
                    first, second = (plain(cell).strip() for cell in line.strip("|").split("|"))
                    lines.append(Line("row", first, second))
        found.append(lines)
    return found


def height(lines: list[Line]) -> float:
    """Height of a section."""
    return GAP + HEADING * 1.5 + sum(LINE + line.above for line in lines[1:])


def columns(parts: list[list[Line]]) -> list[list[list[Line]]]:
    """Fill two columns from top to bottom, as equal in height as the order of sections permits."""
    total = [sum(map(height, parts[:n])) for n in range(len(parts) + 1)]
    half = min(range(len(total)), key=lambda n: max(total[n], total[-1] - total[n]))
    return [parts[:half], parts[half:]]


def draw(page: str):
    """Draw the sheet; return the figure."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))

    def write(x, y, text, **style):
        figure.text(x / WIDTH, 1 - y / HEIGHT, text, va="baseline", parse_math=False, **style)

    def write_line(line, x, y):
        if line.kind == "heading":
            write(x, y, line.text, size=HEADING, weight="bold", color=ACCENT)
        elif line.kind == "row":
            write(x, y, line.text, size=TEXT, family=CODE, color=INK)
            write(x + SECOND, y, line.second, size=TEXT, color=MUTED)
        elif line.kind == "text":
            write(x, y, line.text, size=TEXT, color=MUTED)
        else:
            is_comment = line.text.lstrip().startswith("#")
            write(x, y, line.text, size=TEXT, family=CODE, color=MUTED if is_comment else INK)

    top = MARGIN + TITLE
    write(MARGIN, top, "skfedauc: AUC over groups", size=TITLE, weight="bold", color=ACCENT)
    names = ["y: labels", "score: scores from 0 to 1", "site: group of each row", "X: DataFrame"]
    write(MARGIN, top + 13, " · ".join(names), size=TEXT + 0.6, color=MUTED)
    width = (WIDTH - 2 * MARGIN - GUTTER) / 2
    for number, column in enumerate(columns(sections(page))):
        x, y = MARGIN + number * (width + GUTTER), top + 16
        for lines in column:
            y += GAP + HEADING
            write_line(lines[0], x, y)
            rule = 1 - (y + 2.5) / HEIGHT
            figure.add_artist(
                Line2D([x / WIDTH, (x + width) / WIDTH], [rule] * 2, color=ACCENT, linewidth=0.5)
            )
            y += HEADING * 0.5
            for line in lines[1:]:
                y += LINE + line.above
                write_line(line, x, y)
    return figure


def save(path: Path) -> None:
    """Write the sheet as a PDF file with the same bytes for the same page."""
    from matplotlib import rc_context

    with rc_context({"pdf.fonttype": 42}):
        draw(PAGE.read_text(encoding="utf-8")).savefig(
            path,
            format="pdf",
            metadata={"Title": "skfedauc: cheat sheet", "CreationDate": None},
        )


if __name__ == "__main__":
    save(Path(sys.argv[1]))
