"""Checks of single numbers: whole numbers and shares.

These checks replace `sklearn.utils.check_scalar`, which accepts True and NaN. In addition, counting
rows must not import scikit-learn.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skfedauc._words import shortened


def check_whole_number(value: Any, name: str, at_least: int = 1) -> int:
    """Return an integer of at least `at_least`, or raise an error."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < at_least:
        raise ValueError(
            f"{name} must be a whole number of at least {at_least}; got {shortened(value)}."
        )
    return int(value)


def check_share(value: Any, name: str) -> float:
    """Return a float between 0 and 1, exclusive, or raise an error."""
    if not is_number(value) or not 0 < value < 1:
        hint = (
            f" Pass {value / 100:g} for {value:g} %."
            if is_number(value) and 1 < value < 100
            else ""
        )
        raise ValueError(f"{name} must be a number between 0 and 1; got {shortened(value)}.{hint}")
    return float(value)


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number other than a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)
