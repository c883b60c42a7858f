"""Rows put in order by keys that hold their number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import Cells, Integers
from skfedauc._paircounts.keys import (
    STRETCH,
    Booleans,
    Floats,
    ScoreCode,
    is_new_key,
    stable_order,
    taken,
)
from skfedauc._paircounts.stretches import Firsts, at, by_stretch, labels_of
from skfedauc._paircounts.threads import in_threads, jobs_for_long_steps, jobs_for_short_steps


def by_row_number(
    scores: Floats,
    positive: Booleans | None,
    groups: NDArray[np.intp] | None,
    n_groups: int,
    code: ScoreCode,
    put_rows: Callable[[int, NDArray[np.int64], Integers, Booleans], Firsts],
    out: Cells,
    n_jobs: int | None,
) -> Cells:
    """Cells of rows in order of group and score, equal ones in the order that they came in.

    ``put_rows(place, rows, labels, is_new)`` fills all columns of `out` from a place on but for
    the scores: from the numbers of the rows in order, their labels (0 where `positive` is None),
    and whether each begins a cell. It returns where cells begin, or None if each row is one.
    """
    group_bits, row_bits = (n_groups - 1).bit_length(), (scores.size - 1).bit_length()
    n_upper = min(code.width, 63 - group_bits - row_bits)
    is_exact = n_upper == code.width
    # Scores take the place of the keys.
    keys = out.scores.view(np.uint64)

    def pack_rows(part: range) -> None:
        for a in part:
            stretch, rows = keys[a : a + STRETCH], slice(a, a + STRETCH)
            code.encode(scores[rows], out=stretch)
            stretch >>= np.uint64(code.width - n_upper)
            if groups is not None:
                stretch |= groups[rows].astype(np.uint64) << np.uint64(n_upper)
            stretch <<= np.uint64(row_bits + 1)
            stretch |= np.arange(2 * a, 2 * (a + stretch.size), 2, dtype=np.uint64)
            if positive is not None:
                stretch |= positive[rows]

    n_jobs_if_many = jobs_for_short_steps(n_jobs, scores.size)
    in_threads(pack_rows, range(0, scores.size, STRETCH), n_jobs_if_many)
    keys.sort()

    def put(a: int, b: int, place: int) -> Firsts:
        stretch = keys[a:b]
        labels = labels_of(stretch, out)
        rows = (stretch >> np.uint64(1)).view(np.int64)
        rows &= (1 << row_bits) - 1
        stretch >>= np.uint64(row_bits + 1)
        is_new = is_new_key(stretch)
        if is_exact:
            first = put_rows(place, rows, labels, is_new)
            upper = at(first, stretch)
            upper &= np.uint64((1 << n_upper) - 1)
            out.scores[place : place + upper.size] = code.decode(upper)
            return first
        ordered = taken(scores, rows)
        _order_runs(is_new, ordered, rows, labels, code, code.width - n_upper)
        is_new |= is_new_key(ordered)
        first = put_rows(place, rows, labels, is_new)
        ordered = at(first, ordered)
        # -0.0 becomes 0.0.
        np.add(ordered, 0.0, out=out.scores[place : place + ordered.size])
        return first

    n_jobs = jobs_for_long_steps(n_jobs, scores.size)
    return by_stretch(keys, row_bits + 1, n_groups, n_upper + row_bits + 1, put, out, n_jobs)


def _order_runs(
    is_new: Booleans,
    scores: Floats,
    rows: NDArray[np.int64],
    labels: Integers,
    code: ScoreCode,
    n_lacking: int,
) -> None:
    """Put the rows of each run, which begins where `is_new`, in order of score.

    Codes of scores of one run differ in the lowest `n_lacking` bits only.
    """
    is_wrong = scores[1:] < scores[:-1]
    is_wrong &= ~is_new[1:]
    if not is_wrong.any():
        return
    run = np.cumsum(is_new) - 1
    has_wrong = np.zeros(int(run[-1]) + 1, np.bool_)
    has_wrong[run[1:][is_wrong]] = True
    places = np.flatnonzero(has_wrong[run])
    # By the bits that the keys lack, then by run
    lacking = code.encode(scores[places]) & np.uint64((1 << n_lacking) - 1)
    by_score = places[stable_order(lacking, n_lacking)[0]]
    runs = run[by_score].astype(np.uint64)
    by_run = by_score[stable_order(runs, int(run[-1]).bit_length())[0]]
    for column in (scores, rows, labels):
        column[places] = column[by_run]
