"""Numbers written as text, with a decimal point or a decimal comma."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def number(text: str) -> float:
    """Return the float nearest to the written number; NaN if the text is not a number."""
    try:
        return float(text) if _is_plain(text) else math.nan
    except ValueError:
        return math.nan


def numbers(cells: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the float nearest to each text; NaN where the text is not a number."""
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
    """Replace the decimal comma of a number by a point; return other text unchanged."""
    return text.replace(",", ".") if has_decimal_comma(text) else text


def _is_plain(text: str) -> bool:
    """Return whether the text lacks numerals that only Python reads: 1_0, digits of any script."""
    return text.isascii() and "_" not in text
