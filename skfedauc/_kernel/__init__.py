"""The kernel, which counts rows by group and score, and counts pairs from these counts.

A *cell* is one distinct score within one group, with the numbers of negatives and positives
that have it. The folder `_kernel` contains all loops over rows or cells. The loops are in C++
(`module.cpp` and the headers, each of which begins with what it does), and in numpy for
installations without a compiler (`_numpy.py`).

The environment variable ``SKFEDAUC_KERNEL`` selects the kernel. "compiled" raises an ImportError if
the compiled kernel is missing, and "numpy" selects the kernel in numpy. By default, the package
uses the compiled kernel if possible.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import _numpy

# Version of the arguments of the compiled functions
_INTERFACE = 7
_implementation: Any = _numpy
_asked = os.environ.get("SKFEDAUC_KERNEL", "")
if _asked not in ("", "compiled", "numpy"):
    raise ImportError(f"SKFEDAUC_KERNEL must be 'compiled' or 'numpy'; got {_asked!r}.")
if _asked != "numpy":
    try:
        _compiled = importlib.import_module("skfedauc._kernel._compiled")
        if getattr(_compiled, "INTERFACE", 1) != _INTERFACE:
            raise ImportError("The compiled kernel is of another version: build skfedauc again.")
        _implementation = _compiled
    except ImportError:
        if _asked == "compiled":
            raise

# Smallest number of rows for which a second thread saves time
_FEW_ROWS = 1 << 16
# Largest number of rows that the compiled kernel counts at once, in 32 bits
_MOST_ROWS = (1 << 32) - 1
_MOST_THREADS = 256
# Smallest number of rows whose ranks among all rows need more than 32 bits
_MANY_ROWS = 1 << 32
# Mean number of cells above which the kernel merges several states in pairs
_LONG = 1 << 16

Floats = NDArray[np.float64]
Counts = NDArray[np.integer[Any]]


class Cells(NamedTuple):
    """Cells sorted by group and, within a group, by score.

    Attributes
    ----------
    starts : intp array, shape (n_groups + 1,)
        First cell in each group, and the cell count. Group g has the cells
        ``starts[g]:starts[g + 1]``, which are at least one cell.
    scores : float64 array, shape (n_cells,)
    negatives, positives : ndarray of uint32 or uint64, shape (n_cells,)
        Numbers of rows, in 32 bits if all numbers fit. Equal states then have equal arrays.
    weights : None or float64 array, shape (4, n_cells)
        None if every row has weight 1. Otherwise, the first two rows of the array are the sums of
        the weights of negatives and positives. The last two rows are the sums of the squared
        weights.
    """

    starts: NDArray[np.intp]
    scores: Floats
    negatives: Counts
    positives: Counts
    weights: Floats | None

    @property
    def amounts(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Weight of the negatives and the positives in each cell."""
        if self.weights is None:
            return self.negatives, self.positives
        return self.weights[0], self.weights[1]

    @property
    def groups(self) -> NDArray[np.intp]:
        """Group number by cell."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def take(self, chosen: NDArray[Any], starts: NDArray[np.intp]) -> Cells:
        """Return the cells at positions, or where a mask is True, with the groups' new `starts`."""
        columns = [column[chosen] for column in (self.scores, self.negatives, self.positives)]
        weights = None if self.weights is None else self.weights[:, chosen]
        return _compact((starts, *columns, weights))


class Concordance(NamedTuple):
    """Rows and concordant pairs by group.

    Attributes
    ----------
    n_negatives, n_positives : int64 array, shape (n_groups,)
        Rows.
    negatives, positives : int64 array or float64, shape (n_groups,)
        Row weights; row counts if every row has weight 1.
    u2 : uint64 array, object or float64, shape (n_groups,)
        Twice Mann-Whitney's U, for which a concordant pair counts 2 and a tie counts 1. The AUC of
        a group is ``u2 / (2 * negatives * positives)``. Without weights, the values are exact
        integers of 64 bits, or Python integers if a group has more than 2**62 pairs.
    """

    n_negatives: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    negatives: NDArray[Any]
    positives: NDArray[Any]
    u2: NDArray[Any]


class PlacementSums(NamedTuple):
    """Sums by group over the rows in each class, from the placement values of these rows.

    The placement value of a row is the share of the rows in the other class that the row outranks.
    A tie counts one half. Row 0 of each array refers to negatives, and row 1 refers to positives;
    a negative outranks the positives with higher scores. Deviations are differences from the mean
    of the class in the group, and sums of deviations have squared weights.
    """

    # Twice the weight of pairs between a row in the group and a lower row in the other class; a tie
    # counts one. Unsigned integers if all rows have weight 1.
    u2: NDArray[Any]
    once: Floats  # sums of the deviations
    squared: Floats  # sums of their squares
    # Sums of the comparisons (1, one half or 0) of a positive in the group with a negative, and of
    # their squares, with products of squared weights, shape (n_groups,)
    comparisons: Floats
    comparisons_squared: Floats
    product: Floats  # sums of their products with the deviations within the group


def name() -> str:
    """Return which kernel is in use: "compiled" or "numpy"."""
    return "numpy" if _implementation is _numpy else "compiled"


def count_rows(
    scores: NDArray[np.float64] | NDArray[np.float32],
    positive: NDArray[np.bool_],
    groups: NDArray[np.intp] | None = None,
    n_groups: int = 1,
    weights: Floats | None = None,
    n_jobs: int | None = None,
) -> Cells:
    """Count rows with finite scores by group and score.

    Each of ``range(n_groups)`` occurs in `groups`. Weights are above 0. None means one group, or
    the weight 1. The result does not depend on `n_jobs`.
    """
    if scores.size > _MOST_ROWS:
        columns: Any = scores, positive, groups, weights
        middle = scores.size // 2
        halves = []
        for half in (slice(middle), slice(middle, None)):
            mine: list[Any] = [None if column is None else column[half] for column in columns]
            halves.append(count_rows(mine[0], mine[1], mine[2], n_groups, mine[3], n_jobs))
        return merge_cells(halves, [np.arange(n_groups)] * 2, n_groups)
    if weights is not None:
        scores = scores.astype(np.float64, copy=False)
    n_threads = _n_threads(scores.size, n_jobs)
    classes = _array(positive, np.bool_).view(np.uint8)  # A Boolean array may have bytes above 1.
    rows = _array(scores), classes, _array(groups, np.intp)
    weights = _array(weights, np.float64)
    n_groups = n_groups if scores.size else 0  # Every group has rows.
    return Cells(*_implementation.count_rows(*rows, n_groups, weights, n_threads))


def add_cells(cells: Cells, groups: NDArray[np.intp] | None = None, n_groups: int = 1) -> Cells:
    """Sort cells by new group numbers and scores, and add up cells with equal group and score.

    The cells, in any order, have at least one row each, and their `starts` do not matter. Each of
    ``range(n_groups)`` occurs in `groups`; None puts all cells into one group.
    """
    n_groups = n_groups if cells.scores.size else 0  # Every group has rows.
    cell, starts = number_cells(cells.scores, groups, n_groups)
    n_cells, dtype = int(starts[-1]), _dtype([cells])
    scores = np.empty(n_cells)
    scores[cell] = cells.scores + 0.0  # Convert -0.0 to 0.0.
    counts = np.zeros((2, n_cells), dtype)
    for of_class, column in zip(counts, cells[2:4], strict=True):
        if dtype is np.uint32:  # As floats, these sums are exact.
            of_class[:] = np.bincount(cell, column, n_cells)
        else:
            np.add.at(of_class, cell, column)
    weights = None
    if cells.weights is not None:
        sums = [np.bincount(cell, column, n_cells) for column in cells.weights]
        weights = np.array(sums, np.float64)
    return _compact((starts, scores, *counts, weights))


def merge_cells(
    parts: Sequence[Cells], numbers: Sequence[NDArray[np.intp]], n_groups: int
) -> Cells:
    """Merge cells from two or more states, all with weights or all without weights.

    `numbers` are the new group numbers of each part, in increasing order; together they are
    ``range(n_groups)``.
    """
    if len(parts) > 2 and sum(part.scores.size for part in parts) > len(parts) * _LONG:
        middle = len(parts) // 2
        halves = slice(middle), slice(middle, None)
        mine = [np.unique(np.concatenate(numbers[half])) for half in halves]
        parts = [
            merge_cells(parts[half], [np.searchsorted(of, n) for n in numbers[half]], of.size)
            for half, of in zip(halves, mine, strict=True)
        ]
        numbers = mine
    is_pair = len(parts) == 2 and all(part.scores.size for part in parts)
    if not is_pair or _implementation is _numpy:
        # Mostly few cells, for which sorting is faster than merging in pairs
        groups = [of[part.groups] for of, part in zip(numbers, parts, strict=True)]
        columns: Any = zip(*parts, strict=True)
        joined: Any = [None if of[0] is None else np.concatenate(of, axis=-1) for of in columns]
        return add_cells(Cells(*joined), np.concatenate(groups), n_groups)
    dtype = _dtype(parts)
    states = [_columns(part, dtype) for part in parts]
    of_groups = [_array(of_part, np.intp) for of_part in numbers]
    return _compact(_implementation.merge_states(states, of_groups, n_groups))


def number_cells(
    scores: Floats, groups: NDArray[np.intp] | None = None, n_groups: int = 1
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the cell number of each row, and the first cell in each group.

    For one group, the cell numbers are the scores' dense ranks from 0.
    """
    columns = _array(scores, np.float64), _array(groups, np.intp)
    cell, starts = _implementation.number_cells(*columns, n_groups, 1)
    return cell, starts


def placements(
    scores: Floats,
    positive: NDArray[np.bool_],
    groups: NDArray[np.intp],
    n_groups: int,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the placement value of each row within its group, and among the rows in all groups.

    The placement value is NaN where all rows, in the group or overall, have one class. Weights are
    above 0; None means the weight 1.
    """
    is_large = max(scores.size, 2 * n_groups) >= _MANY_ROWS
    implementation: Any = _numpy if is_large else _implementation
    rows = _array(scores, np.float64), _array(positive, np.bool_).view(np.uint8)
    of_rows = _array(groups, np.intp), n_groups, _array(weights, np.float64)
    within, among_all = implementation.placements(*rows, *of_rows)
    return within, among_all


def concordance(cells: Cells, n_jobs: int | None = None) -> Concordance:
    """Count rows and concordant pairs of each group."""
    u2, rows = _sums("pair_sums", cells._replace(weights=None), n_jobs)
    n_negatives, n_positives = rows.astype(np.int64)
    if cells.weights is not None:
        u2, (negatives, positives) = _sums("pair_sums", cells, n_jobs)
        return Concordance(n_negatives, n_positives, negatives, positives, u2[1])
    pairs = u2[1]
    large = np.flatnonzero(rows[0] * rows[1] > 2.0**62)
    if large.size:
        pairs = pairs.astype(object)
    for g in large:
        mine = slice(*cells.starts[g : g + 2])
        of_negatives, of_positives = (column[mine].astype(object) for column in cells.amounts)
        pairs[g] = int(((2 * np.cumsum(of_negatives) - of_negatives) * of_positives).sum())
    return Concordance(n_negatives, n_positives, n_negatives, n_positives, pairs)


def placement_sums(
    cells: Cells, *, among_all: bool = False, n_jobs: int | None = None
) -> tuple[PlacementSums, PlacementSums]:
    """Add up the placement values of the rows in each group, within the group and among all rows.

    Without `among_all`, it returns the sums within the group twice. The result does not depend on
    `n_jobs`.
    """
    if cells.weights is None and total(cells.negatives) + total(cells.positives) >= _MANY_ROWS:
        # As floats, counts up to 2**53 are exact.
        weights = np.array([cells.negatives, cells.positives] * 2, np.float64)
        cells = cells._replace(weights=weights)
    if cells.starts.size <= 2:
        among_all = False  # One group has all rows.
    u2, sums = _sums("sums_among_all" if among_all else "sums_within", cells, n_jobs)
    found = []
    for of_rows, first in ((u2[:2], 2), (u2[2:], 8))[: 1 + among_all]:
        once, squared, comparisons = (sums[first + k : first + k + 2] for k in (0, 2, 4))
        # The kernel adds up the deviations of the share of lower positives.
        once = np.array([-once[0], once[1]])
        product = sums[14:] if first == 8 else squared
        of_class = PlacementSums(of_rows, once, squared, comparisons[0], comparisons[1], product)
        found.append(of_class)
    return found[0], found[-1]


def _sums(task: str, cells: Cells, n_jobs: int | None) -> tuple[NDArray[Any], Floats]:
    """Return a task's U statistics and sums by group.

    The U statistics have shape (2, n_groups): those of negatives against lower positives, and those
    of positives against lower negatives. Those among all rows are two more rows.
    """
    implementation: Any = _implementation
    dtype: type[np.unsignedinteger[Any]] = np.uint32
    if cells.weights is not None:
        empty = np.zeros(0, np.uint32)
        cells = cells._replace(negatives=empty, positives=empty)
    elif not cells.negatives.dtype == cells.positives.dtype == np.uint32:
        implementation, dtype = _numpy, np.uint64  # few cells
    u2, sums = getattr(implementation, task)(
        _columns(cells, dtype), _n_threads(cells.scores.size, n_jobs)
    )
    u2 = u2.view(np.uint64 if cells.weights is None else np.float64)
    n_groups = cells.starts.size - 1
    n_u2, n_sums = {"pair_sums": (2, 2), "sums_within": (2, 8), "sums_among_all": (4, 16)}[task]
    return u2.reshape(n_u2, n_groups), sums.reshape(n_sums, n_groups)


def ranks_in_groups(starts: NDArray[np.intp], amounts: NDArray[Any]) -> Floats:
    """Return twice the amount of lower cells in the group plus the cell's amount, by cell."""
    return np.asarray(_implementation.ranks_in_groups(_array(starts), _array(amounts, np.float64)))


def cross_concordance(cells: Cells) -> Floats:
    """Return twice Mann-Whitney's U of each group's positives against each group's negatives.

    Without weights, values below 2**53 are exact.
    """
    n_groups = cells.starts.size - 1
    n_threads = _n_threads(cells.scores.size, None)
    ranks, starts = _implementation.number_cells(_array(cells.scores), None, 1, n_threads)
    amounts = (_array(column, np.float64) for column in cells.amounts)
    u2: Floats = _implementation.cross_pairs(
        _array(cells.starts), ranks, int(starts[1]), *amounts, n_threads
    )
    return u2.reshape(n_groups, n_groups)


def total(counts: NDArray[Any]) -> int:
    return int(counts.sum(dtype=np.uint64))


def compact_counts(counts: NDArray[Any]) -> Counts:
    """Return counts as 32-bit integers if all counts fit."""
    small = counts.dtype == np.uint32 or int(counts.max(initial=0)) < 1 << 32
    return counts.astype(np.uint32 if small else np.uint64, copy=False)


def _compact(columns: Sequence[Any]) -> Cells:
    starts, scores, negatives, positives, weights = columns
    return Cells(starts, scores, compact_counts(negatives), compact_counts(positives), weights)


def _dtype(parts: Sequence[Cells]) -> type[np.unsignedinteger[Any]]:
    """Return the smallest integer type that holds the sum of all counts."""
    n_rows = sum(total(counts) for part in parts for counts in part[2:4])
    return np.uint32 if n_rows < 1 << 32 else np.uint64


def _columns(cells: Cells, dtype: type[np.unsignedinteger[Any]]) -> Cells:
    """Convert cells to the kernel's types, with the same type for counts of both classes."""
    negatives, positives = (_array(column, dtype) for column in cells[2:4])
    weights = _array(cells.weights, np.float64)
    return Cells(_array(cells.starts), _array(cells.scores), negatives, positives, weights)


def _array(values: Any, dtype: Any = None) -> Any:
    """Convert values to a contiguous, aligned array, and return None for None."""
    if values is None:
        return None
    flags = values.flags
    # `numpy.require` takes longer than merging a small state.
    if flags.c_contiguous and flags.aligned and dtype in (None, values.dtype):
        return values
    return np.require(values, dtype, ["C", "A"])


def _n_threads(n_items: int, n_jobs: int | None) -> int:
    """Return how many threads to use for rows or cells, as in scikit-learn."""
    # Without joblib, None has no default.
    if n_items < _FEW_ROWS or n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    from joblib import effective_n_jobs

    return min(1 + n_items // _FEW_ROWS, _MOST_THREADS, int(effective_n_jobs(n_jobs)))
