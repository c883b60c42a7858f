"""Labels, names and other values as a reader sees them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import Any

# Characters of a label in tables, sentences and on pages.
MOST_SHOWN = 80
# Characters of a value in messages.
_MOST_QUOTED = 60


def shortened(value: Any) -> str:
    """A value as code; of a long one the beginning, of long text also the length."""
    if isinstance(value, str) and len(value) > _MOST_QUOTED:
        return f"{value[:_MOST_QUOTED]!r}... ({len(value):,} characters)"
    text = repr(value)
    is_long = len(text) > _MOST_QUOTED and not isinstance(value, str)
    return f"{text[: _MOST_QUOTED - 3]}..." if is_long else text


def all_shortened(values: Iterable[Any]) -> str:
    """Values as code, each shortened."""
    return ", ".join(map(shortened, values))


def described(value: Any) -> str:
    """The type of a value, and the value as code, shortened; code may begin with the type."""
    name, text = type(value).__name__, shortened(value)
    return text if re.match(rf"<?([\w.]+\.)?{re.escape(name)}\b", text) else f"{name} {text}"


def shortened_label(label: Any, most: int = MOST_SHOWN) -> str:
    """A label as text; of a long one the beginning and the end, in which labels mostly differ."""
    return shortened_text(label_text(label), most)


def shortened_text(text: str, most: int = MOST_SHOWN) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[1 - half :]}"


def label_text(label: Any) -> str:
    """A label as text; the parts of a tuple stand side by side, ``va · 1.0 · (55, 65]``.

    A part is quoted if it would break the line, not be seen, or be computed by a spreadsheet
    that the text is pasted into: ``'=1+1'``.
    """
    parts = label if isinstance(label, tuple) else (label,)
    return " \N{MIDDLE DOT} ".join(map(_part, parts))


def _part(part: Any) -> str:
    is_naive = isinstance(part, datetime.datetime) and part.tzinfo is None
    if is_naive and part.time() == datetime.time():
        part = part.date()
    text = str(part)
    is_plain = text.strip() and text.isprintable() and not _is_formula(text)
    return text if is_plain else repr(text)


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet computes it; a negative number stays what it is."""
    if not text.lstrip().startswith(("=", "+", "-", "@")):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
