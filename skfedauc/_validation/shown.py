"""Group labels as a reader sees them."""

from __future__ import annotations

import datetime
from typing import Any


def label_text(label: Any) -> str:
    """A label as text; the parts of a tuple stand side by side, ``va · 1.0 · (55, 65]``.

    A part that would break the line or not be seen is quoted.
    """
    parts = label if isinstance(label, tuple) else (label,)
    return " \N{MIDDLE DOT} ".join(map(_part, parts))


def _part(part: Any) -> str:
    is_naive = isinstance(part, datetime.datetime) and part.tzinfo is None
    if is_naive and part.time() == datetime.time():
        part = part.date()
    text = str(part)
    return text if text.strip() and text.isprintable() else repr(text)
