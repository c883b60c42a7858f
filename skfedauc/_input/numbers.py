"""Single numbers: how many, how large a share.

scikit-learn's `check_scalar` takes True for 1 and NaN for a number of any range, and counting
rows must not need scikit-learn.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skfedauc._words import shortened


def check_whole_number(value: Any, name: str, at_least: int = 1) -> int:
    """A whole number that is not too small."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < at_least:
        raise ValueError(
            f"{name} must be a whole number of at least {at_least}; got {shortened(value)}."
        )
    return int(value)


def check_share(value: Any, name: str) -> float:
    """A number between 0 and 1, both excluded."""
    if not is_number(value) or not 0 < value < 1:
        raise ValueError(f"{name} must be a number between 0 and 1; got {shortened(value)}.")
    return float(value)


def is_number(value: Any) -> bool:
    """Whether this is a real number, which True is not."""
    return isinstance(value, Real) and not isinstance(value, bool)
