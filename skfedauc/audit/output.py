"""What audits and comparisons return: text, notebook, Markdown, JSON and a page.

All outputs render one `Document`; none of them computes, selects or words anything.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from skfedauc._output_file import check_target, write_whole
from skfedauc.audit.document import Card, Document, Row, unbroken

# Plot of a card, 460 pixels wide: last pixel of the scale. Left of the scale are the labels, whose
# characters are at most this wide, also on phones.
_RIGHT, _CHARACTER = 392, 8.4
# Plot of a table's cell: width and margin
_GLYPH, _MARGIN = 132, 8
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
# Size of a panel in pixels, and its margin for labels
_PANEL, _BORDER = 220, 30


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
        """Return pixels and labels for at most six round values."""
        step = next((s for s in _STEPS if (self.high - self.low) / s <= 6), 0.5)
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
    ends = [of.value if of.before is None else of.before for of in marks]
    ends += [mark.value for mark in marks]
    precise = [mark for mark in marks if mark.style != "few"] or marks
    ends += [mark.low for mark in precise] + [mark.high for mark in precise]
    pad = 0.04 * max(max(ends) - min(ends), 0.02)
    left = 16 + _CHARACTER * max(len(mark.label) for mark in marks)
    return Scale(min(ends) - pad, max(ends) + pad, round(left), _RIGHT)


def _scale_of_row(row: Row) -> Scale:
    """Return the scale that the intervals in all cells of a row share."""
    known = [cell for cell in row.cells if not math.isnan(cell.low)]
    ends = [end for cell in known for end in (cell.null, cell.low, cell.high)]
    ends += [cell.limit for cell in known if cell.limit is not None]
    return Scale(min(ends), max(max(ends), min(ends) + 1e-6), _MARGIN, _GLYPH - _MARGIN)


def _pixels(points: Any) -> list[tuple[float, float]]:
    """Return a panel's points in pixels; its axes are from 0 to 1."""
    across = Scale(0.0, 1.0, _BORDER, _PANEL - 4)
    upward = Scale(0.0, 1.0, _PANEL - _BORDER, 4)
    return [(across(x), upward(y)) for x, y in points]


def _download(document: Document) -> str:
    """Return the JSON document as an address that a link can save."""
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
    found.globals |= {"scale_of_row": _scale_of_row, "pixels": _pixels, "download": _download}
    found.globals["style"] = Markup((folder / "style.css").read_text("utf-8"))
    found.globals |= {"panel": {"size": _PANEL, "border": _BORDER}, "is_nan": math.isnan}
    found.filters |= {"unbroken": unbroken, "number": _number}
    return found


def check_installed() -> None:
    """Raise an ImportError that names the remedy if jinja2 is missing."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise ImportError(
            "the page of an audit requires jinja2, which is not installed with skfedauc by "
            'default. Install it by: pip install "skfedauc[html]"'
        ) from None


def rendered(document: Document, *, is_page: bool) -> str:
    """Return the page, or the first screen alone for notebooks."""
    template = _templates().get_template("page.html.jinja")
    scale = _scale_of_cards(document.cards)
    text: str = template.render(document=document, scale=scale, is_page=is_page)
    return text


class Output:
    """Outputs for an object with a document."""

    @property
    def document(self) -> Document:
        """What all outputs hold: the first screen, the appendix and the numbers."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self.document.lines())

    def _repr_html_(self) -> str:
        """Return the first screen, for notebooks."""
        return rendered(self.document, is_page=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers, tables, sentences and facts as plain values.

        Returns
        -------
        dict
            The `facts`, the `headline`, the answers and left out groups by column, and the
            `tolerances`. Undefined values are None.
        """
        return self.document.data

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return `to_dict` as JSON, or write it to a file.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the document is complete. None returns the document.

        Returns
        -------
        str or None
            The document; None with a `path`.
        """
        return _text_or_file(lambda: as_json(self.to_dict()), path)

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the first screen, the tables and the definitions in Markdown, for a model card.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the text is complete. None returns the text.

        Returns
        -------
        str or None
            The text; None with a `path`.
        """
        return _text_or_file(self.document.to_markdown, path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return a self-contained page, or write it: one screen, and an appendix that folds.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the page is complete. None returns the page.

        Returns
        -------
        str or None
            The page; None with a `path`.

        Raises
        ------
        ImportError
            If jinja2 is missing; ``pip install "skfedauc[html]"`` installs it.
        OSError
            If writing the file fails. An existing file then remains unchanged.
        """
        return _text_or_file(lambda: rendered(self.document, is_page=True), path)


def as_json(document: dict[str, Any], *, is_printed: bool = False) -> str:
    """Return nested plain values as JSON, without NaN or infinite numbers; ASCII if printed."""
    return json.dumps(document, indent=2, ensure_ascii=is_printed, allow_nan=False)


def _text_or_file(make: Callable[[], str], path: str | os.PathLike[str] | None) -> str | None:
    """Return the text, or write it; a path that cannot be written is refused first."""
    if path is None:
        return make()
    check_target(path)
    write_whole(path, make())
    return None
