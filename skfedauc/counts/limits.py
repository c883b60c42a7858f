"""Limit on the number of rows in exact score counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Largest number of rows of a class, so that products and sums of counts fit in 64-bit integers
MOST_ROWS = 1 << 40


def check_n_rows(counts: ArrayLike, name: str) -> None:
    """Raise an error for more rows of a class than exact counts permit."""
    total = float(np.sum(counts, dtype=np.float64))
    if total > MOST_ROWS:
        raise ValueError(
            f"{total:.3g} {name} are more than a ScoreCounts can count exactly (2**40)."
        )
