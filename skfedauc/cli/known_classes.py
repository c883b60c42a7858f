"""Number of rows whose class follows from the group and the score of a person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of

Integers = NDArray[np.int64]


class KnownClasses(NamedTuple):
    """Numbers of rows whose class follows from the group and the score.

    Attributes
    ----------
    n_cells : int
        Number of cells with rows of one class, and without overlap with a range of the other class
        in the group.
    n_rows : int
        Number of rows in these cells. The group and the score of such a row reveal the class.
    n_rows_in_part : int
        Number of rows in cells that overlap only partly with ranges of the other class in the
        group. The group and the score reveal the class of such a row if the score is outside of the
        overlap.
    """

    n_cells: int
    n_rows: int
    n_rows_in_part: int


def known_classes(counts: ScoreCounts) -> KnownClasses:
    """Count the rows whose class follows from the group and the score.

    The group and the score of a row reveal the class if all ranges of the group with this score
    have rows of one class.

    Parameters
    ----------
    counts : ScoreCounts
        Counts with cells. Exact scores are ranges of one score.
    """
    cells, ranges = counts.cells, view_of(counts).ranges
    negatives, positives = cells.negatives.astype(np.int64), cells.positives.astype(np.int64)
    n_rows, has_both = negatives + positives, (negatives > 0) & (positives > 0)
    if ranges is None or counts.disclosure.bins is not None:  # No ranges of a group overlap.
        return KnownClasses(int((~has_both).sum()), int(n_rows[~has_both].sum()), 0)
    begins, ends = _places(cells.groups, ranges)
    n_cells, n_known, n_in_part = 0, 0, 0
    for rows, others in ((negatives, positives > 0), (positives, negatives > 0)):
        own = ~others & (rows > 0)
        overlaps, is_covered = _compared(begins[own], ends[own], begins[others], ends[others])
        n_cells += int((~overlaps).sum())
        n_known += int(rows[own][~overlaps].sum())
        n_in_part += int(rows[own][overlaps & ~is_covered].sum())
    return KnownClasses(n_cells, n_known, n_in_part)


def _places(groups: NDArray[np.intp], ranges: NDArray[np.float64]) -> tuple[Integers, Integers]:
    """Return the first place of each range, and the place after the last place of the range.

    Places are whole numbers in the order of the scores. Groups have separate places.
    """
    low, high = ranges
    with np.errstate(over="ignore"):  # Infinity is above the largest score.
        behind = np.nextafter(high, np.inf)
    scores, ranks = np.unique(np.concatenate([low, behind]), return_inverse=True)
    first_of_group = groups.astype(np.int64) * scores.size
    return first_of_group + ranks[: low.size], first_of_group + ranks[low.size :]


def _compared(
    begins: Integers, ends: Integers, other_begins: Integers, other_ends: Integers
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each range overlaps other ranges, and whether other ranges cover it."""
    order = np.argsort(other_begins, kind="stable")
    firsts, reach = other_begins[order], np.maximum.accumulate(other_ends[order])
    # Number of other ranges that begin before the end, without those that end before the beginning
    n_before = np.searchsorted(firsts, ends, side="left")
    overlaps = n_before > np.searchsorted(np.sort(other_ends), begins, side="right")
    # Runs of other ranges without a gap. Other ranges cover a range that lies within one run.
    is_first = np.ones(firsts.size, np.bool_)
    is_first[1:] = firsts[1:] > reach[:-1]
    run = np.searchsorted(firsts[is_first], begins, side="right") - 1
    last = np.append(np.flatnonzero(is_first)[1:], firsts.size) - 1
    is_covered = np.zeros(begins.size, np.bool_)
    is_covered[run >= 0] = reach[last[run[run >= 0]]] >= ends[run >= 0]
    return overlaps, is_covered
