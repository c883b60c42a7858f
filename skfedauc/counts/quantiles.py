"""Cut points between scores or ranges of scores, for bins of about equal numbers of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells


def quantile_edges(
    cells: Cells, ranges: NDArray[np.float64] | None, n_bins: int
) -> NDArray[np.float64]:
    """Return the cut points of at most `n_bins` bins; no cut point is within a range.

    The cut points minimize the largest number of rows of a bin of several scores or ranges.

    Parameters
    ----------
    cells : Cells
    ranges : ndarray of shape (2, n_cells) or None
        Lowest and highest score of each cell; None if the scores of the cells are exact.
    n_bins : int

    Returns
    -------
    ndarray
        At most ``n_bins - 1`` increasing cut points; empty without a place for a cut point.
    """
    starts, n_rows = _blocks(cells, ranges)
    total = np.concatenate([[0], np.cumsum(n_rows)])
    # A larger limit never gives more bins.
    low, high = 0, int(total[-1])
    while low < high:
        middle = (low + high) // 2
        if _firsts(total, middle, n_bins) is None:
            low = middle + 1
        else:
            high = middle
    firsts = _firsts(total, low, n_bins)
    assert firsts is not None  # the largest limit permits a single bin of all rows
    return starts[firsts[1:]]


def _blocks(
    cells: Cells, ranges: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the lowest score and the rows of each block of overlapping ranges, over all groups."""
    lows, highs = (cells.scores, cells.scores) if ranges is None else ranges
    n_rows = cells.negatives.astype(np.int64) + cells.positives.astype(np.int64)
    order = np.argsort(lows, kind="stable")
    lows, reached = lows[order], np.maximum.accumulate(highs[order])
    begins = np.flatnonzero(np.concatenate([[True], lows[1:] > reached[:-1]])[: lows.size])
    return lows[begins], np.add.reduceat(n_rows[order], begins) if begins.size else n_rows


def _firsts(total: NDArray[np.int64], limit: int, n_bins: int) -> list[int] | None:
    """Fill bins up to a limit from the lowest score on, and return the first block of each bin.

    Only a bin of one block may have more than `limit` rows. The result is None if the limit
    requires more than `n_bins` bins.
    """
    firsts, n_blocks = [0], total.size - 1
    while True:
        first = firsts[-1]
        following = int(np.searchsorted(total, total[first] + limit, side="right")) - 1
        following = max(following, first + 1)
        if following >= n_blocks:
            return firsts
        if len(firsts) == n_bins:
            return None
        firsts.append(following)
