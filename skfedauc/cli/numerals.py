"""Numbers written as text, with a decimal point or a decimal comma."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def number(text: str) -> float:
    """Return the float nearest to the number in the text, or NaN for other text."""
    try:
        return float(text) if _is_plain(text) else math.nan
    except ValueError:
        return math.nan


def numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the float nearest to the number in each text, or NaN for other text."""
    if _is_plain("".join(cells)):
        try:
            return cells.astype(np.float64)
        except ValueError:
            pass
    return np.array([number(cell) for cell in cells], np.float64)


def has_decimal_comma(text: str) -> bool:
    """Return whether the text is a number with a decimal comma, such as 1,5."""
    has_one = text.count(",") == 1 and "." not in text
    return has_one and math.isfinite(number(text.replace(",", ".")))


def with_point(text: str) -> str:
    """Replace the decimal comma of a number by a point, and return other text unchanged."""
    return text.replace(",", ".") if has_decimal_comma(text) else text


def _is_plain(text: str) -> bool:
    """Return whether the text lacks Python's own numerals, such as 1_0 and digits of any script."""
    return text.isascii() and "_" not in text
