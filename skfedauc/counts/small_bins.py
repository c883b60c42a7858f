"""Joining of neighboring bins until no count is small."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, compact_counts
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import DisclosureError, check_disclosure
from skfedauc.counts.levels import level_in_words
from skfedauc.counts.ranges import Ranges, united_bins
from skfedauc.counts.state import State, added

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def check_protects(state: State, disclosure: object) -> None:
    """Raise an error for a level of disclosure that gives single rows their own ranges or scores.

    Parameters
    ----------
    state : State
    disclosure : "exact", "bins", "summary", Bins or None
        Level of the result, or None for the level of the counts.

    Raises
    ------
    DisclosureError
        If the level is neither bins nor a summary.
    """
    level = state.disclosure if disclosure is None else check_disclosure(disclosure)
    if isinstance(level, Bins) or level == "summary":
        return
    if level == "exact" or state.bins is None:
        mend = "disclosure='bins', a Bins or 'summary'"
        if state.ranges is not None:
            mend = "disclosure='summary', or min_count before counts are joined or merged"
        raise DisclosureError(
            f"min_count needs bins of one rule or a summary; the result would be "
            f"{level_in_words(state)}. Pass {mend}."
        )


def with_small_bins_joined(state: State, min_count: int) -> State:
    """Join bins whose counts are small, and return summaries unchanged."""
    if state.bins is None:
        return state
    cells, ranges, codes = join_small(state.cells, state.bins, min_count)
    in_groups = None if state.labels is None else codes
    return added(cells, in_groups, state.labels, state.origin._replace(bins=None), ranges)


def join_small(cells: Cells, bins: Bins, min_count: int) -> tuple[Cells, Ranges, NDArray[np.intp]]:
    """Join neighboring bins of each group and class until each count is at least `min_count`.

    Parameters
    ----------
    cells : Cells
        Cells by bin. Each group has no rows of a class, or at least `min_count`.
    bins : Bins
        Bins of the cells.
    min_count : int

    Returns
    -------
    cells : Cells
        Unsorted cells, each with rows of one class; `starts` has no meaning.
    ranges : ndarray of float64, shape (2, n_cells)
        Range of each cell. The ranges of a group and class do not overlap.
    codes : ndarray of intp, shape (n_cells,)
        Group of each cell.

    Notes
    -----
    The function joins bins from the lowest to the highest. If the last bins together have too few
    rows, the function joins them to the previous cell.

    A range from the lowest to the highest bin with rows would disclose the lowest and the highest
    score of a few rows, up to the width of a bin. The function therefore rounds the ends of each
    range outwards, to multiples of about half the number of bins in the range. Between two cells,
    one edge limits both ranges: the edge whose number is a multiple of the highest power of two.
    """
    numbers = bins.numbers_of(cells.scores)
    parts = [_of_class(cells, numbers, bins, min_count, of_class) for of_class in (0, 1)]
    (negatives, *_), (positives, *_) = parts
    none = [np.zeros_like(of_class) for of_class in (negatives, positives)]
    weights = None
    if cells.weights is not None:
        weights = np.concatenate([part[4] for part in parts], axis=1)
    joined = Cells(
        cells.starts,
        np.concatenate([part[1] for part in parts]),
        compact_counts(np.concatenate([negatives, none[1]])),
        compact_counts(np.concatenate([none[0], positives])),
        weights,
    )
    ranges = np.concatenate([part[2] for part in parts], axis=1)
    return joined, ranges, np.concatenate([part[3] for part in parts])


def _of_class(
    cells: Cells, numbers: Integers, bins: Bins, min_count: int, of_class: int
) -> tuple[Integers, Floats, Ranges, NDArray[np.intp], Floats]:
    """Return counts, scores, ranges, groups and weights of the joined cells of a class."""
    counts = (cells.negatives, cells.positives)[of_class].astype(np.int64)
    used = np.flatnonzero(counts)
    counts, numbers, codes = counts[used], numbers[used], cells.groups[used]
    first = _first_of_runs(counts, codes, min_count)
    last = np.append(first[1:], used.size)[: first.size] - 1
    low, high = _rounded(numbers[first], numbers[last], codes[first], bins)
    scores, ranges = united_bins(bins, low, high)
    weights = np.zeros((4, first.size))
    if cells.weights is not None and first.size:
        of_rows = [of_class, of_class + 2]
        weights[of_rows] = np.add.reduceat(cells.weights[of_rows][:, used], first, axis=1)
    return (
        np.add.reduceat(counts, first) if first.size else counts[:0],
        scores,
        ranges,
        codes[first],
        weights,
    )


def _first_of_runs(counts: Integers, codes: NDArray[np.intp], least: int) -> NDArray[np.intp]:
    """Return the first item of each run within a group; every run has a sum of at least `least`."""
    if not counts.size:  # without counts, `least` may be too large for an array
        return np.zeros(0, np.intp)
    upto = np.cumsum(counts)
    before = upto - counts
    behind_group = np.searchsorted(codes, codes, side="right")
    # A run that begins here ends within the group only if the rest of the group has enough rows.
    is_enough = before + least <= upto[behind_group - 1]
    behind = np.where(is_enough, np.searchsorted(upto, before + least) + 1, behind_group)
    firsts, item = [], 0
    behind_of, is_run = behind.tolist(), is_enough.tolist()
    while item < counts.size:
        if is_run[item]:
            firsts.append(item)
        item = behind_of[item]
    return np.array(firsts, np.intp)


def _rounded(
    first: Integers, last: Integers, codes: NDArray[np.intp], bins: Bins
) -> tuple[Integers, Integers]:
    """Return the lowest and the highest bin of ranges, rounded outwards without overlap."""
    if bins.n_bins is None:
        least, most = bins.numbers_of([-sys.float_info.max, sys.float_info.max]).tolist()
    else:
        least, most = 0, bins.n_bins - 1
    n_bits = np.maximum(_bit_length(last - first) - 1, 0)
    low = np.maximum(first >> n_bits << n_bits, least)
    high = np.minimum(((last >> n_bits) + 1 << n_bits) - 1, most)
    # Between two cells of a group, the edge with the roundest number limits both ranges.
    is_pair = codes[1:] == codes[:-1]
    ends, begins = last[:-1], first[1:]
    differing = np.maximum(_bit_length(ends ^ begins) - 1, 0)
    edges = np.where((ends < 0) & (begins >= 0), 0, begins >> differing << differing)
    low[1:] = np.where(is_pair, np.maximum(low[1:], edges), low[1:])
    high[:-1] = np.where(is_pair, np.minimum(high[:-1], edges - 1), high[:-1])
    return low, high


def _bit_length(numbers: Integers) -> Integers:
    """Return the number of bits of each nonnegative number below 2**53."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
