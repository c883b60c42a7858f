"""What an audit or a comparison says, and how it reads: as text, as Markdown and as a page."""

from __future__ import annotations

import base64
import functools
import itertools
import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from skfedauc import _input

_WIDTH = 96
# What a verdict is called, and its mark, from the most adverse one
VERDICTS = {
    "differ": ("differs", "\N{BALLOT X}"),
    "larger": ("larger", "\N{BALLOT X}"),
    "lower": ("lower", "\N{BALLOT X}"),
    "not met": ("not met", "\N{BALLOT X}"),
    "undecided": ("undecided", "?"),
    "unanswered": ("not asked", "\N{EN DASH}"),
    "smaller": ("smaller", "\N{CHECK MARK}"),
    "higher": ("higher", "\N{CHECK MARK}"),
    "met": ("met", "\N{CHECK MARK}"),
}
# Plot of a card, 460 pixels wide: last pixel of the scale. Left of the scale are the labels, whose
# lines have at most so many characters, which are at most so wide, also on phones.
_RIGHT, _IN_LINE, _CHARACTER = 392, 22, 8.4
# Plot of a table's cell: width and margin
_GLYPH, _MARGIN = 132, 8
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
# Sizes of a single panel and of one of several in pixels, and its margin for labels
_PANELS, _BORDER = (340, 220), 46


class Mark(NamedTuple):
    """A plot's row: a group's value with its interval, or the values of two models.

    `style` is "low" for a group that is established to be lower, and "few" for one with few rows.
    """

    label: str
    value: float
    low: float
    high: float
    n_rows: int
    style: str = ""
    before: float | None = None

    @property
    def note(self) -> str:
        """The style in words."""
        return {"low": "lower", "few": "few rows"}.get(self.style, "")

    @property
    def limits(self) -> str:
        """The interval, or the first model's value."""
        limits = f"{_number(self.low)} to {_number(self.high)}"
        return limits if self.before is None else f"from {_number(self.before)}"


class Cell(NamedTuple):
    """Answer: verdict, text, and the interval from which the verdict is read.

    `null` is the value for equal groups, `limit` a tolerance, and `subject` what the verdict is on.
    """

    verdict: str
    text: str
    estimate: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    null: float = 0.0
    limit: float | None = None
    subject: str = ""

    @property
    def word(self) -> str:
        """The verdict in words, such as "AUC differs"."""
        return f"{self.subject} {VERDICTS[self.verdict][0]}".strip()

    @property
    def mark(self) -> str:
        """The verdict's mark."""
        return VERDICTS[self.verdict][1]


class Card(NamedTuple):
    """Answers by a column with the plot; `all_marks` has all groups if the plot lacks some.

    `columns` are headings for a table of the marks, and `center` is the value over all rows.
    """

    heading: str
    answers: tuple[Cell, ...]
    marks: tuple[Mark, ...]
    notes: tuple[str, ...]
    all_marks: tuple[Mark, ...]
    columns: tuple[str, ...]
    center: float

    @property
    def verdict(self) -> str:
        """The most adverse verdict, which colors the card."""
        return min((of.verdict for of in self.answers), key=list(VERDICTS).index)


class Row(NamedTuple):
    """Overview row: a question with a gloss, or a tolerance, and its answers."""

    title: str
    cells: tuple[Cell, ...]
    gloss: str = ""

    @property
    def heading(self) -> str:
        """The title, with the gloss in brackets."""
        return f"{self.title} ({self.gloss})" if self.gloss else self.title


class Table(NamedTuple):
    """Appendix table, with text in its cells."""

    title: str
    sentence: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Line(NamedTuple):
    """A panel's line or points; `limits` belong to the points."""

    label: str
    points: tuple[tuple[float, float], ...]
    style: str = ""
    limits: tuple[tuple[float, float], ...] = ()


class Panels(NamedTuple):
    """Appendix plots: one panel for each title, with some groups' lines, on one scale."""

    title: str
    caption: str
    axes: tuple[str, str]
    panels: tuple[tuple[str, tuple[Line, ...]], ...]

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """Scales of both axes, which have the same ends."""
        lines = itertools.chain.from_iterable(of_panel for _, of_panel in self.panels)
        known = [of for line in lines for pair in (*line.points, *line.limits) for of in pair]
        low, high = min(known, default=0.0), max(known, default=1.0)
        pad, size = 0.02 * max(high - low, 0.02), _PANELS[len(self.panels) > 1]
        ends = max(low - pad, 0.0), max(min(high + pad, 1.0), low + 0.02)
        return Scale(*ends, _BORDER, size - 14), Scale(*ends, size - _BORDER, 10)

    def names(self) -> list[tuple[float, float, str]]:
        """Return places and labels of highlighted curves, where they cross the other diagonal."""
        (across, upward), places = self.scales, list[tuple[float, float, str]]()
        for line in self.panels[0][1]:
            if line.style == "low" and not line.limits:
                x, y = min(line.points, key=lambda point: abs(sum(point) - 1.0))
                for number, text in reversed([*enumerate(_lines_of(line.label))]):
                    above = places[-1][1] - 13.0 if places else math.inf
                    below = min(upward(y) + 12.0 + 13.0 * number, above)
                    places.append((across(x) + 7.0, below, text))
        return places


class Document(NamedTuple):
    """An audit's content; `data` has the numbers, the title and the sentences as plain values."""

    facts: tuple[str, ...]
    cards: tuple[Card, ...]
    also: tuple[Row, ...]
    also_level: str
    tolerances: tuple[Row, ...]
    legend: str
    definitions: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    plots: tuple[Panels, ...]
    provenance: tuple[tuple[str, str], ...]
    data: dict[str, Any]

    def lines(self) -> list[str]:
        """Return the first screen's lines for a terminal."""
        lines = [self.data["title"], *_wrapped(" \N{MIDDLE DOT} ".join(self.facts), "")]
        lines += ["", *_wrapped(self.data["headline"], "")]
        for card in self.cards:
            lines += ["", card.heading]
            for cell in card.answers:
                lines += _wrapped(f"{cell.mark} {cell.text}", "  ")
            for note in card.notes:
                lines += _wrapped(note, "    ")
            width = max((len(mark.label) for mark in card.marks), default=0)
            for mark in card.marks:
                said = f"{_number(mark.value)}  {mark.limits}  {mark.n_rows:>9,} rows  {mark.note}"
                lines.append(f"    {mark.label:<{width}}  {said}".rstrip())
        if self.also:
            lines += ["", f"Also asked (intervals at {self.also_level})"]
            lines += self._overview_lines(self.also)
        if self.tolerances:
            lines += ["", "Tolerances", *self._overview_lines(self.tolerances)]
        return [*lines, "", *_wrapped(self.data["promise"], "")]

    def _overview_lines(self, rows: Iterable[Row]) -> Iterator[str]:
        for row in rows:
            yield f"  {row.heading}"
            for column, cell in zip(self.data["columns"], row.cells, strict=True):
                of_column = f"by {column}: " if len(row.cells) > 1 else ""
                yield from _wrapped(f"{cell.mark} {of_column}{cell.word}: {cell.text}", "    ")

    def to_markdown(self, *, appendix: bool) -> str:
        """Return a section of a model card: the first screen, and perhaps the appendix."""
        appendix = _input.check_flag(appendix, "appendix")
        # Names of sources and of classes are text, not markup.
        facts = [re.sub(r"[\\`*_\[\]~$|&]", r"\\\g<0>", fact) for fact in self.facts]
        lines = [f"## {self.data['title']}", "", " \N{MIDDLE DOT} ".join(facts), ""]
        lines += [self.data["headline"], ""]
        for card in self.cards:
            said = [of.text.replace(of.word, f"**{of.word}**", 1) for of in card.answers]
            lines += [f"### {card.heading}", "", *said, *card.notes, ""]
            marks = [
                (of.label, _number(of.value), of.limits, f"{of.n_rows:,}", of.note)
                for of in card.marks
            ]
            lines += [*_markdown_table((*card.columns, ""), marks), ""] if marks else []
        by_column = tuple(f"by {column}" for column in self.data["columns"])
        for title, rows in (("Also asked", self.also), ("Tolerance", self.tolerances)):
            table = [
                (row.heading, *(f"**{of.word}**: {of.text}" for of in row.cells)) for row in rows
            ]
            lines += [*_markdown_table((title, *by_column), table), ""] if rows else []
        lines.append(self.data["promise"])
        if appendix:
            lines += ["", "### Definitions", ""]
            lines += [f"- **{title}**: {text}" for title, text in self.definitions]
            for of in self.tables:
                lines += ["", f"### {of.title}", "", of.sentence, ""]
                lines += _markdown_table(of.heading, of.rows)
                lines += ["", of.note] if of.note else []
            lines += ["", "### Provenance", ""]
            lines += [f"- {what}: {value}" for what, value in self.provenance]
        # Markdown would read group labels as HTML.
        return re.sub(r"<(?=[\w/!?])", "&lt;", "\n".join(lines)) + "\n"


def unbroken(text: str) -> str:
    """Keep numbers with their units, and p values, on one line by no-break spaces."""
    for found in ("p < ", "p = ", " %", " points"):
        text = text.replace(found, found.replace(" ", "\N{NO-BREAK SPACE}"))
    return text


def _wrapped(text: str, indent: str) -> list[str]:
    further = indent + "  " * bool(indent)
    wrapper = textwrap.TextWrapper(
        _WIDTH, indent, further, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrapper.wrap(unbroken(text))]


def _markdown_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    table = [heading, ["---"] * len(heading), *rows]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in table]
    return [f"| {' | '.join(row)} |" for row in escaped]


class Scale(NamedTuple):
    """Linear scale from values to pixels; values beyond its ends are drawn at the ends."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """Return a value's pixel."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.first + min(max(share, 0.0), 1.0) * (self.last - self.first), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return pixels and labels for at most six round values, which do not overlap."""
        most = min(6.0, abs(self.last - self.first) / 45.0)
        step = next((s for s in _STEPS if (self.high - self.low) / s <= most), 0.5)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [count * step for count in range(first, last + 1)]
        return [(self(of), "0" if abs(of) < 1e-9 else _number(of, 2)) for of in values]


def _number(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _scale_of_cards(cards: tuple[Card, ...]) -> Scale | None:
    """Return the scale that all cards share; a few rows' wide intervals do not widen it."""
    marks = [mark for card in cards for mark in (card.all_marks or card.marks)]
    if not marks:
        return None
    ends = [end for mark in marks for end in (mark.value, mark.before) if end is not None]
    precise = [mark for mark in marks if mark.style != "few"] or marks
    ends += [end for mark in precise for end in (mark.low, mark.high)]
    pad = 0.04 * max(max(ends) - min(ends), 0.02)
    left = 16 + _CHARACTER * max(len(line) for mark in marks for line in _lines_of(mark.label))
    return Scale(min(ends) - pad, max(ends) + pad, round(left), _RIGHT)


def _lines_of(label: str) -> list[str]:
    """Return the whole label in lines that fit beside a plot."""
    return textwrap.wrap(label, _IN_LINE) or [label]


def _scale_of_row(row: Row) -> Scale:
    known = [cell for cell in row.cells if not math.isnan(cell.low)]
    ends = [end for cell in known for end in (cell.null, cell.low, cell.high)]
    ends += [cell.limit for cell in known if cell.limit is not None]
    return Scale(min(ends), max(max(ends), min(ends) + 1e-6), _MARGIN, _GLYPH - _MARGIN)


def _download(document: Document) -> str:
    text = json.dumps(document.data, allow_nan=False, separators=(",", ":"))
    return f"data:application/json;base64,{base64.b64encode(text.encode()).decode()}"


@functools.cache
def _templates() -> Any:
    check_installed()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    folder = Path(__file__).parent / "templates"
    found = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = Markup((folder / "style.css").read_text("utf-8"))
    found.globals |= {"scale_of_row": _scale_of_row, "download": _download, "border": _BORDER}
    found.globals |= {"style": style, "is_nan": math.isnan}
    found.filters |= {"unbroken": unbroken, "number": _number, "lines": _lines_of}
    return found


def check_installed() -> None:
    _input.imported("jinja2", "the page of an audit requires jinja2", "html")


def rendered(document: Document, *, is_page: bool) -> str:
    template = _templates().get_template("page.html.jinja")
    scale = _scale_of_cards(document.cards)
    return str(template.render(document=document, scale=scale, is_page=is_page))
