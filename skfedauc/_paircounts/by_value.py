"""Rows without weights, sorted by value as keys of group, score and label."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import Cells, room_for_cells
from skfedauc._paircounts.keys import (
    STRETCH,
    Booleans,
    Floats,
    Keys,
    Packed,
    ScoreCode,
    is_new_key,
    ranges,
)
from skfedauc._paircounts.stretches import Firsts, at, by_stretch, labels_of, put_counts
from skfedauc._paircounts.threads import in_threads, jobs_for_long_steps, jobs_for_short_steps

# One of so many rows may be hard to tell from another of its group by either of two keys.
RARE = 256
# Rows that tell whether that is likely.
SAMPLE = 4096


def count_by_one_key(packed: Packed, n_jobs: int | None) -> Cells:
    """Cells of keys of group, score and label."""
    keys = packed.keys
    keys.sort()
    # Scores take the place of their keys.
    out = room_for_cells(keys.size, weighted=False, scores=keys.view(np.float64))

    def put(a: int, b: int, place: int) -> Firsts:
        stretch = keys[a:b]
        labels = labels_of(stretch, out)
        stretch >>= np.uint64(1)
        first = put_counts(out, place, labels, is_new_key(stretch))
        cells = at(first, stretch)
        out.scores[place : place + cells.size] = packed.scores(cells)
        return first

    n_jobs = jobs_for_short_steps(n_jobs, keys.size)
    return by_stretch(keys, 1, packed.n_groups, packed.score_bits + 1, put, out, n_jobs)


def count_by_two_keys(
    scores: Floats,
    positive: Booleans,
    groups: NDArray[np.intp] | None,
    n_groups: int,
    code: ScoreCode,
    n_jobs: int | None,
) -> Cells | None:
    """Cells of rows whose group, score and label take more than 64 bits.

    One key holds the group, the upper bits of the score and the label; another one the group,
    as many of the score's upper bits as there is room for, and its lower bits. Sorted by value,
    place i of both is the same row (or one alike in all that counts), unless two rows of a
    group share the upper bits of the second key and differ in the lower ones. That is rare, and
    put right, or not so rare: then the result is None.
    """
    group_bits = (n_groups - 1).bit_length()
    n_lower = code.width + group_bits + 1 - 64
    n_shared = 64 - group_bits - n_lower
    lower_bits = np.uint64((1 << n_lower) - 1)

    def lower_of(codes: Keys, out: Keys | None = None) -> Keys:
        lower = np.right_shift(codes, np.uint64(code.width - n_shared), out=out)
        lower <<= np.uint64(n_lower)
        lower |= codes & lower_bits
        return lower

    def pack_stretch(a: int, upper: Keys, lower: Keys) -> None:
        rows = slice(a, a + upper.size)
        lower_of(code.encode(scores[rows], out=upper), out=lower)
        upper >>= np.uint64(n_lower)
        upper <<= np.uint64(1)
        upper |= positive[rows]
        if groups is not None:
            of_group = groups[rows].astype(np.uint64)
            of_group <<= np.uint64(64 - group_bits)
            upper |= of_group
            lower |= of_group

    # Scores that were computed in more ways than one, such as averages of rounded ones, may all
    # be close to others.
    sample = lower_of(code.encode(scores[:: max(scores.size // SAMPLE, 1)]))
    sample.sort()
    first, end = _places(sample, np.unique(_unclear(sample, n_lower)), n_lower)
    if (end - first).sum() > sample.size // 8:
        return None

    # Not of one array, which the scores that take the place of the first would keep whole
    upper, lower = np.empty(scores.size, np.uint64), np.empty(scores.size, np.uint64)
    stretches = range(0, scores.size, STRETCH)
    n_jobs_if_many = jobs_for_short_steps(n_jobs, scores.size)

    def pack_rows(part: range) -> None:
        for a in part:
            pack_stretch(a, upper[a : a + STRETCH], lower[a : a + STRETCH])

    def sort_keys(part: range) -> None:
        for key in part:
            (upper, lower)[key].sort()

    def find_unclear(part: range) -> Keys:
        return np.concatenate([_unclear(lower[a : a + STRETCH + 1], n_lower) for a in part])

    in_threads(pack_rows, stretches, n_jobs_if_many)
    in_threads(sort_keys, range(2), jobs_for_long_steps(n_jobs, scores.size))
    unclear = np.concatenate(in_threads(find_unclear, stretches, n_jobs_if_many))
    if unclear.size > scores.size // RARE:
        return None
    if unclear.size and not _set_right(upper, lower, np.unique(unclear), n_lower, pack_stretch):
        return None
    # Scores take the place of the first key.
    out = room_for_cells(upper.size, weighted=False, scores=upper.view(np.float64))
    upper_bits = np.uint64((1 << (code.width - n_lower)) - 1)

    def put(a: int, b: int, place: int) -> Firsts:
        keys, others = upper[a:b], lower[a:b]
        labels = labels_of(keys, out)
        keys >>= np.uint64(1)
        is_new = is_new_key(keys)
        is_new |= is_new_key(others)
        first = put_counts(out, place, labels, is_new)
        keys, others = at(first, keys), at(first, others)
        keys &= upper_bits
        keys <<= np.uint64(n_lower)
        others &= lower_bits
        keys |= others
        out.scores[place : place + keys.size] = code.decode(keys)
        return first

    return by_stretch(upper, 1, n_groups, 64 - group_bits, put, out, n_jobs_if_many)


def _unclear(lower: Keys, n_lower: int) -> Keys:
    """The upper bits of sorted keys that differ from the one before in the lower bits only."""
    differing = lower[1:] ^ lower[:-1]
    # Zero wraps around to the largest integer.
    differing -= np.uint64(1)
    return lower[1:][differing < np.uint64((1 << n_lower) - 1)] >> np.uint64(n_lower)


def _places(lower: Keys, unclear: Keys, n_lower: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the runs of sorted keys with these upper bits begin and end."""
    lowest = unclear << np.uint64(n_lower)
    highest = lowest | np.uint64((1 << n_lower) - 1)
    return np.searchsorted(lower, lowest), np.searchsorted(lower, highest, "right")


def _set_right(
    upper: Keys,
    lower: Keys,
    unclear: Keys,
    n_lower: int,
    pack_stretch: Callable[[int, Keys, Keys], None],
) -> bool:
    """Put the rows in order, by both keys, that either key alone leaves unclear.

    `unclear` has what the second key holds of group and score, of each run of such rows.
    Returns False, with nothing done, where these rows are too many.
    """
    first, end = _places(lower, unclear, n_lower)
    if (end - first).sum() > upper.size // RARE:
        return False
    places, _ = ranges(first, end)
    # A look at the lowest bits of each row tells nearly all of the others.
    some_bits = np.uint64((1 << 16) - 1)
    may_be = np.zeros(1 << 16, np.bool_)
    may_be[unclear & some_bits] = True
    found = []
    for a in range(0, upper.size, STRETCH):
        keys = np.empty((2, min(STRETCH, upper.size - a)), np.uint64)
        pack_stretch(a, *keys)
        runs = keys[1] >> np.uint64(n_lower)
        rows = np.flatnonzero(may_be[runs & some_bits])
        rows = rows[np.isin(runs[rows], unclear)]
        found.append(keys[:, rows])
    by_upper, by_lower = np.concatenate(found, axis=1)
    # Labels matter least: they are the lowest bit of the first key.
    order = np.lexsort((by_upper, by_lower, by_upper >> np.uint64(1)))
    upper[places], lower[places] = by_upper[order], by_lower[order]
    return True
