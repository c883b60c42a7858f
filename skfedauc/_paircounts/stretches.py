"""Sorted rows read off as cells, stretch by stretch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import Cells, Integers, closed_up
from skfedauc._paircounts.keys import STRETCH, Booleans, Floats, Keys, group_starts
from skfedauc._paircounts.threads import in_threads

# Which of some sorted rows begin a cell; None where each does.
Firsts = NDArray[np.intp] | None


def by_stretch(
    keys: Keys,
    run_shift: int,
    n_groups: int,
    group_shift: int,
    put: Callable[[int, int, int], Firsts],
    out: Cells,
    n_jobs: int | None,
) -> Cells:
    """Cells of sorted rows.

    ``put(a, b, place)`` fills `out` from this place on with the cells of rows ``a:b``, and returns
    at which of these rows they begin, None if each row is a cell. Rows whose keys are equal
    but for the lowest `run_shift` bits are in one stretch.
    """
    row_starts = group_starts(keys, n_groups, group_shift)
    bounds = [0]
    if keys.size > STRETCH:
        firsts = keys[STRETCH::STRETCH] >> np.uint64(run_shift) << np.uint64(run_shift)
        bounds = np.unique(np.append(0, np.searchsorted(keys, firsts))).tolist()
    bounds.append(keys.size)
    group_bounds = np.searchsorted(row_starts[:-1], bounds).tolist()
    starts = row_starts.copy()

    def put_part(part: range) -> tuple[int, int]:
        """Cells of a part of the stretches, from where its rows begin; the place and number."""
        place = end = bounds[part.start]
        for stretch in part:
            a, b = bounds[stretch : stretch + 2]
            first = put(a, b, end)
            mine = slice(*group_bounds[stretch : stretch + 2])
            local = row_starts[mine] - a
            starts[mine] = end + (local if first is None else np.searchsorted(first, local))
            end += b - a if first is None else first.size
        return place, end - place

    places, sizes = zip(*in_threads(put_part, range(len(bounds) - 1), n_jobs), strict=True)
    if len(places) > 1:
        moved = np.array(places) - np.append(0, np.cumsum(sizes)[:-1])
        starts[:-1] -= moved[np.searchsorted(places, row_starts[:-1], "right") - 1]
    starts[-1] = sum(sizes)
    return closed_up(out, places, sizes, starts)


def at(first: Firsts, values: NDArray[Any]) -> NDArray[Any]:
    """The values of the rows at which cells begin."""
    return values if first is None else values.take(first)


def put_counts(out: Cells, place: int, labels: Integers, is_new: Booleans) -> Firsts:
    """Fill in the rows of each class by cell, from sorted rows; where cells begin, as above."""
    if is_new.all():
        here = slice(place, place + labels.size)
        out.positives[here] = labels
        np.subtract(1, labels, out=out.negatives[here])
        return None
    first = np.flatnonzero(is_new)
    ends = np.append(first[1:], labels.size)
    here = slice(place, place + first.size)
    # Where runs are short, differences of one running sum beat a sum of each.
    sums = np.cumsum(labels, dtype=labels.dtype)
    positives = np.diff(sums.take(ends - 1), prepend=labels.dtype.type(0))
    out.positives[here] = positives
    np.subtract(ends - first, positives, out=out.negatives[here], casting="unsafe")
    return first


def put_weights(
    out: Cells, place: int, labels: Integers, weights: Floats, is_new: Booleans
) -> Firsts:
    """The same for rows and their weights."""
    assert out.weights is not None
    if is_new.all():
        here = slice(place, place + weights.size)
        of_class, squares = out.weights[:2, here], out.weights[2:, here]
        np.multiply(weights, labels, out=of_class[1])
        np.subtract(weights, of_class[1], out=of_class[0])
        np.square(of_class, out=squares)
        return put_counts(out, place, labels, is_new)
    first = np.flatnonzero(is_new)
    here = slice(place, place + first.size)
    # Two bins a cell, one for each class. Runs of rows are short as a rule, so that bins beat a
    # sum of each; they add in the order of the rows.
    bins = np.repeat(np.arange(0, 2 * first.size, 2), np.diff(first, append=weights.size))
    bins += labels

    def by_class(amounts: Floats | None) -> NDArray[Any]:
        return np.bincount(bins, amounts, 2 * first.size).reshape(first.size, 2).T

    out.negatives[here], out.positives[here] = by_class(None)
    out.weights[:2, here] = by_class(weights)
    out.weights[2:, here] = by_class(np.square(weights))
    return first


def labels_of(keys: Keys, out: Cells) -> Integers:
    """The lowest bits, as counts."""
    labels: Integers = keys.astype(out.positives.dtype)
    labels &= labels.dtype.type(1)
    return labels
