"""Cell ranks among the rows in all groups, and groups' U statistics against other groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, concordance, number_cells

Floats = NDArray[np.float64]


class Ranks(NamedTuple):
    """Each cell's rank among the rows in all groups.

    Row 0 of each array refers to negatives, and row 1 refers to positives. The arrays hold unsigned
    integers if all rows have weight 1.

    Attributes
    ----------
    under, up_to : uint64 array or float64, shape (2, n_cells)
        Weight of all rows with a score below the cell's score, and of all rows with a score of at
        most the cell's score.
    total : ndarray of the same type, shape (2,)
        Weight over all rows.
    """

    under: NDArray[Any]
    up_to: NDArray[Any]
    total: NDArray[Any]


def ranks_among_all(cells: Cells) -> Ranks:
    """Return each cell's rank among the rows in all groups."""
    # Counts of at most 2**40 rows are also exact as floats.
    dtype: Any = np.uint64 if cells.weights is None else np.float64
    tie, _ = number_cells(cells.scores)
    under, up_to = np.zeros((2, 2, tie.size), dtype)
    total = np.zeros(2, dtype)
    for i, amounts in enumerate(cells.amounts):
        sums = np.cumsum(np.bincount(tie, amounts)).astype(dtype)
        if sums.size:
            total[i] = sums[-1]
            up_to[i] = sums[tie]
            under[i] = np.append(dtype(0), sums[:-1])[tie]
    return Ranks(under, up_to, total)


def u2_over_all(cells: Cells) -> NDArray[Any]:
    """Return twice Mann-Whitney's U of each group's rows against the rows in all groups.

    U is the weight of the pairs in which the group's row has the higher score; ties count one half.
    """
    ranks = ranks_among_all(cells)
    dtype: Any = ranks.total.dtype.type
    if dtype is np.uint64 and float(ranks.total.max()) ** 2 >= 2.0**62:
        dtype = object  # Python's integers do not overflow.
    below = (ranks.under + ranks.up_to).astype(dtype, copy=False)
    u2 = np.zeros((2, 2, cells.starts.size - 1), dtype)
    if u2.size:
        for i, j in itertools.product(range(2), repeat=2):
            pairs = cells.amounts[i].astype(dtype) * below[j]
            u2[i, j] = np.add.reduceat(pairs, cells.starts[:-1], dtype=dtype)
    return u2


def u2_over_others(cells: Cells) -> NDArray[Any]:
    """Return twice Mann-Whitney's U of each group's rows against the rows in all other groups."""
    u2, own = u2_over_all(cells), concordance(cells)
    negatives, positives, within = (amounts.astype(u2.dtype) for amounts in own[2:])
    u2[1, 0] -= within
    u2[0, 1] -= 2 * negatives * positives - within
    # Over ordered pairs of rows of one class, U sums to half the number of pairs.
    u2[0, 0] -= negatives**2
    u2[1, 1] -= positives**2
    if cells.weights is not None:
        for g in _dominating(own.negatives, own.positives):
            u2[:, :, g] = _u2_of(cells, g)
    return u2


def _dominating(*weights: Floats) -> Iterator[int]:
    """Groups with nearly all of a class's weight: total minus group loses precision."""
    return iter({int(w.argmax()) for w in weights if w.size and w.max() > 0.999 * w.sum()})


def _u2_of(cells: Cells, g: int) -> Floats:
    """Return one group's `u2_over_others`, from sums over the other groups only."""
    mine = np.zeros(cells.scores.size, np.bool_)
    mine[cells.starts[g] : cells.starts[g + 1]] = True
    order = np.flatnonzero(~mine)
    order = order[np.argsort(cells.scores[order], kind="stable")]
    ordered, own = cells.scores[order], cells.scores[mine]
    places = [np.searchsorted(ordered, own, side) for side in ("left", "right")]
    u2 = np.zeros((2, 2))
    for j, amounts in enumerate(cells.amounts):
        sums = np.append(0.0, np.cumsum(amounts[order]))
        below = sums[places[0]] + sums[places[1]]
        for i, of_own in enumerate(cells.amounts):
            u2[i, j] = (of_own[mine] * below).sum()
    return u2


def sum_of_others(values: Floats) -> Floats:
    """Sum over all other groups (last axis), computed without subtraction from the total."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    np.cumsum(values[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(values[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after
