"""Ranges of scores of the cells of binned score counts.

Ranges have shape (2, n_cells): the lowest and the highest possible score of the rows of each cell.
The score of a cell lies within its range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, add_cells, merge_cells, number_cells

if TYPE_CHECKING:
    from skfedauc.counts.bins import Bins

Ranges = NDArray[np.float64]

# A range from score a to score b has the score a + _SHARE * (b - a). With one half, ranges such as
# 1/4 to 3/4 and 0 to 1 would have the same score. Merging adds up cells with the same score.
_SHARE = 0.5 + 0.01 / np.sqrt(2)


def add_with_ranges(
    cells: Cells, ranges: Ranges | None, codes: NDArray[np.intp] | None, n_groups: int
) -> tuple[Cells, Ranges | None]:
    """Add up cells with equal group and score, and return the smallest range of each sum.

    Parameters
    ----------
    cells : Cells
        Cells in any order; the function ignores `starts`.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Range of each cell, or None for exact counts.
    codes : ndarray of intp, shape (n_cells,), or None
        Group number of each cell; None puts all cells into one group.
    n_groups : int

    Returns
    -------
    cells : Cells
        Cells sorted by group and score.
    ranges : ndarray of float64, shape (2, n_cells), or None
        The smallest range that holds the ranges of the added cells.
    """
    added = add_cells(cells, codes, n_groups)
    return added, None if ranges is None else _hull(cells.scores, ranges, codes, added)


def merge_with_ranges(
    parts: Sequence[Cells],
    ranges: Sequence[Ranges | None],
    numbers: Sequence[NDArray[np.intp]],
    n_groups: int,
) -> tuple[Cells, Ranges | None]:
    """Merge the cells of two or more score counts, and return the range of each merged cell.

    Parameters
    ----------
    parts : sequence of Cells
        Cells of each part.
    ranges : sequence of ndarray or None
        Ranges of each part, or None for each part.
    numbers : sequence of ndarray of intp
        New group numbers of each part.
    n_groups : int

    Returns
    -------
    cells : Cells
        The merged cells.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Ranges of the merged cells.
    """
    merged = merge_cells(parts, numbers, n_groups)
    known = [of_part for of_part in ranges if of_part is not None]
    if not known:
        return merged, None
    scores = np.concatenate([part.scores for part in parts])
    codes = np.concatenate(
        [of_part[part.groups] for part, of_part in zip(parts, numbers, strict=True)]
    )
    return merged, _hull(scores, np.concatenate(known, axis=1), codes, merged)


def _hull(
    scores: NDArray[np.float64], ranges: Ranges, codes: NDArray[np.intp] | None, added: Cells
) -> Ranges:
    """Return, for each cell in `added`, the smallest range that holds the ranges of its parts."""
    numbers, _ = number_cells(scores, codes, added.starts.size - 1)
    hull = np.empty((2, added.scores.size))
    hull[0], hull[1] = np.inf, -np.inf
    np.minimum.at(hull[0], numbers, ranges[0])
    np.maximum.at(hull[1], numbers, ranges[1])
    return hull


def n_distinct(ranges: Ranges) -> int:
    """Return the number of distinct ranges; different ranges may have the same score."""
    low, high = ranges
    return int(np.unique(low + 1j * high).size)


def score_between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score near the middle of each range."""
    between: NDArray[np.float64] = (1 - _SHARE) * low + _SHARE * high
    return between


def united_bins(
    bins: Bins, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Ranges]:
    """Return the scores and the ranges of cells that each hold several neighboring bins.

    Parameters
    ----------
    bins : Bins
    low, high : ndarray of int64, shape (n_cells,)
        Numbers of the lowest and of the highest bin of each cell.

    Returns
    -------
    scores : ndarray of float64, shape (n_cells,)
        Score of each cell, which depends only on the bins.
    ranges : ndarray of float64, shape (2, n_cells)
    """
    scores = bins.scores_of(low)
    between = score_between(scores, bins.scores_of(high))
    ranges = np.stack([bins.ranges_of(low)[0], bins.ranges_of(high)[1]])
    return np.where(low == high, scores, between) + 0.0, ranges


def extremes_of(cells: Cells, ranges: Ranges) -> tuple[Cells, Cells]:
    """Return exact cells for the lowest and for the highest AUCs that the ranges permit.

    For the lowest AUCs, the positives of each cell have the lowest score of its range, and the
    negatives have the highest score.
    """
    low, high = ranges
    return _split(cells, high, low), _split(cells, low, high)


def _split(
    cells: Cells, of_negatives: NDArray[np.float64], of_positives: NDArray[np.float64]
) -> Cells:
    """Return cells with separate scores for the negatives and the positives."""
    n_cells = cells.scores.size
    weights = None
    if cells.weights is not None:
        is_positive = np.array([[False], [True]] * 2)
        weights = np.concatenate([cells.weights * ~is_positive, cells.weights * is_positive], 1)
    none = np.zeros(n_cells, np.uint32)
    both = Cells(
        cells.starts,
        np.concatenate([of_negatives, of_positives]),
        np.concatenate([cells.negatives, none]),
        np.concatenate([none, cells.positives]),
        weights,
    )
    kept = (both.negatives > 0) | (both.positives > 0)
    codes = np.concatenate([cells.groups] * 2)[kept]
    both = both._replace(
        scores=both.scores[kept],
        negatives=both.negatives[kept],
        positives=both.positives[kept],
        weights=None if weights is None else weights[:, kept],
    )
    return add_cells(both, codes, cells.starts.size - 1)


def wrong_ranges(scores: NDArray[np.float64], ranges: object, bins: Bins | None) -> str | None:
    """Return why these ranges are invalid for cells with these scores; None for valid ranges."""
    if ranges is None:
        return None if bins is None else "it has bins, but no ranges of scores"
    if (
        not isinstance(ranges, np.ndarray)
        or ranges.dtype != np.float64
        or ranges.shape != (2, scores.size)
    ):
        return "its ranges do not match its cells"
    low, high = ranges
    is_wrong = ~((low <= scores) & (scores <= high) & np.isfinite(low) & np.isfinite(high))
    is_wrong |= ((ranges == 0) & np.signbit(ranges)).any(axis=0)  # only 0.0 is valid, not -0.0
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return (
            f"its score {scores[cell]:.17g} is outside its range from {low[cell]:.17g} to "
            f"{high[cell]:.17g}, at cell {cell}"
        )
    if bins is None or scores.size == 0:
        return None
    try:
        numbers = bins.numbers_of(scores)
    except ValueError:
        return f"its scores are outside the scores of {bins!r}"
    is_wrong = (bins.ranges_of(numbers) != ranges).any(axis=0) | (bins.scores_of(numbers) != scores)
    if is_wrong.any():
        cell = int(np.argmax(is_wrong))
        return f"its range is no bin of {bins!r}, at cell {cell} with the score {scores[cell]:.17g}"
    return None
