"""Counts, lists, labels and other values as words of messages, tables, plots and pages."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Largest number of characters of a label in tables, in sentences and on pages
MOST_SHOWN = 80
# Largest number of characters of a value in messages
_MOST_QUOTED = 60


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, ``1 row`` or ``3,000 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def pvalue_text(pvalue: float) -> str:
    """Return ``p = 0.031``, with further digits where two would hide the side of 5 %."""
    if pvalue < 1e-4:
        return "p < 0.0001"
    text = f"{pvalue:.2g}"
    digits = 2
    while (float(text) < 0.05) != (pvalue < 0.05) and digits < 9:
        digits += 1
        text = f"{pvalue:.{digits}g}"
    return f"p = {text}"


def enumerated(items: Sequence[str], last: str = "and") -> str:
    """Return ``a``, ``a and b``, or ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def listed(values: Iterable[Any], between: str = ", ", most: int = 20) -> str:
    """Return shortened values as code; of more than `most` values, the first and the number."""
    known = list(values)
    text = between.join(map(shortened, known[:most]))
    return f"{text}, ... ({len(known):,} in all)" if len(known) > most else text


def ends(
    ordered: NDArray[np.intp], most: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Split ordered numbers into the lowest, the middle and the highest numbers.

    The lowest and the highest part together hold `most` numbers. If there are at most `most`
    numbers, the lowest part holds all numbers.
    """
    if ordered.size <= most:
        return ordered, ordered[:0], ordered[:0]
    first, last = (most + 1) // 2, ordered.size - most // 2
    return ordered[:first], ordered[first:last], ordered[last:]


def shortened(value: Any) -> str:
    """Return a value as shortened code; the length follows a long text."""
    if isinstance(value, str) and len(value) > _MOST_QUOTED:
        return f"{value[:_MOST_QUOTED]!r}... ({len(value):,} characters)"
    text = repr(value)
    is_long = len(text) > _MOST_QUOTED and not isinstance(value, str)
    return f"{text[: _MOST_QUOTED - 3]}..." if is_long else text


def all_shortened(values: Iterable[Any]) -> str:
    """Return all values as code, each shortened."""
    return ", ".join(map(shortened, values))


def described(value: Any) -> str:
    """Return the type of a value and its shortened code; the code alone if it names the type."""
    name, text = type(value).__name__, shortened(value)
    return text if re.match(rf"<?([\w.]+\.)?{re.escape(name)}\b", text) else f"{name} {text}"


def shortened_label(label: Any, most: int = MOST_SHOWN) -> str:
    """Return a label as text, cut in the middle if long, because labels differ at the ends."""
    return shortened_text(label_text(label), most)


def shortened_text(text: str, most: int = MOST_SHOWN) -> str:
    """Return a text, cut in the middle if it has more than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half].rstrip()}\N{HORIZONTAL ELLIPSIS}{text[half + 1 - most :].lstrip()}"


def label_text(label: Any) -> str:
    """Return a label as text, a tuple as its joined parts, ``va · 1.0 · (55, 65]``.

    Quotes enclose a part that breaks the line or is invisible. Quotes also enclose a formula that a
    spreadsheet would compute, ``'=1+1'``.
    """
    parts = label if isinstance(label, tuple) else (label,)
    return " \N{MIDDLE DOT} ".join(map(_part, parts))


def _part(part: Any) -> str:
    is_naive = isinstance(part, datetime.datetime) and part.tzinfo is None
    if is_naive and part.time() == datetime.time():
        part = part.date()
    text = str(part)
    is_formula = text.lstrip().startswith(("=", "+", "-", "@"))
    with contextlib.suppress(ValueError):  # A negative number is no formula.
        float(text)
        is_formula = False
    return text if text.strip() and text.isprintable() and not is_formula else repr(text)
