"""Rows sorted by group and score, and equal ones added up to cells.

Rows are sorted in one of three ways, whichever is the quickest that the scores allow:

* where few pairs of group and score are possible, a table counts each: nothing is sorted;
* without weights, keys of group, score and label are sorted by value. Where they are longer
  than 64 bits, two arrays of keys share the bits of the score between them;
* with weights, or where that fails, keys hold group, the highest bits of the score, and the
  number of the row.

What is sorted is read off stretch by stretch, in threads; no cell is in two stretches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._paircounts.cells import (
    Cells,
    Integers,
    closed_up,
    columns_of,
    compact_counts,
    have_one_row,
    no_cells,
    room_for_cells,
)
from skfedauc._paircounts.keys import (
    STRETCH,
    Booleans,
    Floats,
    Keys,
    Packed,
    ScoreCode,
    group_starts,
    is_new_key,
    pack,
    ranges,
    stable_order,
    taken,
)
from skfedauc._paircounts.threads import in_threads

# Which of some sorted rows begin a cell; None where each does.
Firsts = NDArray[np.intp] | None

# Rows from which on a second thread pays: for a sort or a gather, and for the short steps of
# packing and unpacking keys, which spend as long in handing over the interpreter's lock.
MANY_ROWS = 1 << 18
VERY_MANY_ROWS = 1 << 21
# Keys of which a table of sums stays in the cache.
MOST_DENSE = 1 << 18
# One of so many rows may be hard to tell from another of its group by either of two keys.
RARE = 256
# Rows that tell whether that is likely.
SAMPLE = 4096


def count_rows(
    scores: Floats,
    positive: Booleans,
    groups: NDArray[np.intp] | None = None,
    n_groups: int = 1,
    n_jobs: int | None = None,
) -> Cells:
    """Cells of rows that weigh 1.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Finite.
    positive : ndarray of bool, shape (n_rows,)
    groups : ndarray of intp, shape (n_rows,), default=None
        Group numbers; each of ``range(n_groups)`` occurs. None where there is one group.
    n_groups : int, default=1
    n_jobs : int, default=None
        Threads, as scikit-learn counts them. The result does not depend on it.

    Returns
    -------
    Cells
        Their arrays may be the first parts of others that are up to a third larger.
    """
    if scores.size == 0:
        return no_cells()
    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + 1)
    if _is_dense(code.width + bits, scores.size):
        return _count_in_table(pack(scores, groups, n_groups, positive, code), None)
    if code.width + bits < 64:
        return _count_by_one_key(pack(scores, groups, n_groups, positive, code), n_jobs)
    cells = _count_by_two_keys(scores, positive, groups, n_groups, code, n_jobs)
    if cells is not None:
        return cells
    out = room_for_cells(scores.size, weighted=False)

    def put(place: int, rows: Any, labels: Integers, is_new: Booleans) -> Firsts:
        return _put_counts(out, place, labels, is_new)

    return _by_row_number(scores, positive, groups, n_groups, code, put, out, n_jobs)


def weigh_rows(
    scores: Floats,
    positive: Booleans,
    weights: Floats,
    groups: NDArray[np.intp] | None = None,
    n_groups: int = 1,
    n_jobs: int | None = None,
) -> Cells:
    """Cells of rows with weights above 0; otherwise as `count_rows`."""
    if scores.size == 0:
        return no_cells(weighted=True)
    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + (scores.size - 1).bit_length() + 1)
    if _is_dense(code.width + bits, scores.size):
        return _count_in_table(pack(scores, groups, n_groups, positive, code), weights)
    out = room_for_cells(scores.size, weighted=True)

    def put(place: int, rows: NDArray[np.int64], labels: Integers, is_new: Booleans) -> Firsts:
        return _put_weights(out, place, labels, taken(weights, rows), is_new)

    return _by_row_number(scores, positive, groups, n_groups, code, put, out, n_jobs)


def add_cells(cells: Cells, groups: NDArray[np.intp] | None = None, n_groups: int = 1) -> Cells:
    """Cells in any order, with repetitions and new group numbers, sorted and added up.

    Parameters
    ----------
    cells : Cells
        Its `starts` are not looked at.
    groups : ndarray of intp, shape (n_cells,), default=None
        Group number of each cell; each of ``range(n_groups)`` occurs. None puts all
        cells into one group.
    n_groups : int, default=1

    Returns
    -------
    Cells
    """
    _, scores, negatives, positives, weights = cells
    if scores.size == 0:
        return no_cells(weighted=weights is not None)
    # Where few rows share a cell, counting the rows beats adding up cells.
    if weights is None and have_one_row(negatives, positives):
        return count_rows(scores, positives.astype(np.bool_), groups, n_groups, n_jobs=1)
    n_negatives, n_positives = (float(counts.sum(dtype=np.float64)) for counts in cells[2:4])
    if weights is None and n_negatives + n_positives <= 1.2 * scores.size:
        of_row = np.concatenate([_repeated(negatives), _repeated(positives)])
        positive = np.zeros(of_row.size, np.bool_)
        positive[int(n_negatives) :] = True
        row_groups = None if groups is None else groups[of_row]
        return count_rows(scores[of_row], positive, row_groups, n_groups, n_jobs=1)
    large = n_negatives + n_positives >= 1 << 32
    out = room_for_cells(scores.size, weighted=weights is not None, large=large)

    def put(place: int, rows: NDArray[np.int64], labels: Any, is_new: Booleans) -> Firsts:
        first = np.flatnonzero(is_new)
        here = slice(place, place + first.size)
        for added, amounts in zip(columns_of(out)[1:], columns_of(cells)[1:], strict=True):
            of_row = amounts.take(rows, axis=-1)
            added[..., here] = np.add.reduceat(of_row, first, axis=-1, dtype=added.dtype)
        return first

    bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, bits + (scores.size - 1).bit_length() + 1)
    return _by_row_number(scores, None, groups, n_groups, code, put, out, n_jobs=1)


def _repeated(counts: Integers) -> NDArray[np.intp]:
    """Index of each cell, once per row that it counts."""
    return np.repeat(np.arange(counts.size), counts.astype(np.intp))


def cells_of_rows(
    scores: Floats, groups: NDArray[np.intp], n_groups: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Number of the cell that each row belongs to, and the first cell of each group."""
    if scores.size == 0:
        return np.zeros(0, np.intp), np.zeros(n_groups + 1, np.int64)
    packed = pack(scores, groups, n_groups)
    order, keys = stable_order(packed.keys, packed.width)
    is_new = is_new_key(keys)
    cell = np.empty(scores.size, np.intp)
    cell[order] = np.cumsum(is_new) - 1
    return cell, group_starts(keys[is_new], n_groups, packed.score_bits)


# By a table ----------------------------------------------------------------------------


def _is_dense(width: int, n_rows: int) -> bool:
    """Whether so few keys are possible that a table of them all is small and well filled."""
    return 1 << width <= MOST_DENSE and 4 << width <= n_rows


def _count_in_table(packed: Packed, weights: Floats | None) -> Cells:
    """Cells by counting each possible key with its label, without sorting."""
    numbers, n_keys = packed.keys.view(np.int64), 1 << packed.width

    def sums(amounts: Floats | None) -> NDArray[Any]:
        """By key, of negatives and of positives, added in the order of the rows."""
        return np.bincount(numbers, amounts, 2 * n_keys).reshape(n_keys, 2).T

    counts = sums(None)
    occupied = np.flatnonzero(counts.any(axis=0))
    keys = occupied.astype(np.uint64)
    negatives, positives = counts[:, occupied]
    if weights is not None:
        weights = np.concatenate(
            [sums(weights)[:, occupied], sums(np.square(weights))[:, occupied]]
        )
    return Cells(
        group_starts(keys, packed.n_groups, packed.score_bits),
        packed.scores(keys),
        compact_counts(negatives),
        compact_counts(positives),
        weights,
    )


# By keys sorted by value ---------------------------------------------------------------


def _count_by_one_key(packed: Packed, n_jobs: int | None) -> Cells:
    """Cells of keys of group, score and label."""
    keys = packed.keys
    keys.sort()
    # Scores take the place of their keys.
    out = room_for_cells(keys.size, weighted=False, scores=keys.view(np.float64))

    def put(a: int, b: int, place: int) -> Firsts:
        stretch = keys[a:b]
        labels = _labels(stretch, out)
        stretch >>= np.uint64(1)
        first = _put_counts(out, place, labels, is_new_key(stretch))
        cells = _at(first, stretch)
        out.scores[place : place + cells.size] = packed.scores(cells)
        return first

    n_jobs = _worth(n_jobs, keys.size, VERY_MANY_ROWS)
    return _by_stretch(keys, 1, packed.n_groups, packed.score_bits + 1, put, out, n_jobs)


def _count_by_two_keys(
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
    n_jobs_if_many = _worth(n_jobs, scores.size, VERY_MANY_ROWS)

    def pack_rows(part: range) -> None:
        for a in part:
            pack_stretch(a, upper[a : a + STRETCH], lower[a : a + STRETCH])

    def sort_keys(part: range) -> None:
        for key in part:
            (upper, lower)[key].sort()

    def find_unclear(part: range) -> Keys:
        return np.concatenate([_unclear(lower[a : a + STRETCH + 1], n_lower) for a in part])

    in_threads(pack_rows, stretches, n_jobs_if_many)
    in_threads(sort_keys, range(2), _worth(n_jobs, scores.size, MANY_ROWS))
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
        labels = _labels(keys, out)
        keys >>= np.uint64(1)
        is_new = is_new_key(keys)
        is_new |= is_new_key(others)
        first = _put_counts(out, place, labels, is_new)
        keys, others = _at(first, keys), _at(first, others)
        keys &= upper_bits
        keys <<= np.uint64(n_lower)
        others &= lower_bits
        keys |= others
        out.scores[place : place + keys.size] = code.decode(keys)
        return first

    return _by_stretch(upper, 1, n_groups, 64 - group_bits, put, out, n_jobs_if_many)


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


def _labels(keys: Keys, out: Cells) -> Integers:
    """The lowest bits, as counts."""
    labels: Integers = keys.astype(out.positives.dtype)
    labels &= labels.dtype.type(1)
    return labels


# By keys that hold the number of the row -----------------------------------------------


def _by_row_number(
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

    n_jobs_if_many = _worth(n_jobs, scores.size, VERY_MANY_ROWS)
    in_threads(pack_rows, range(0, scores.size, STRETCH), n_jobs_if_many)
    keys.sort()

    def put(a: int, b: int, place: int) -> Firsts:
        stretch = keys[a:b]
        labels = _labels(stretch, out)
        rows = (stretch >> np.uint64(1)).view(np.int64)
        rows &= (1 << row_bits) - 1
        stretch >>= np.uint64(row_bits + 1)
        is_new = is_new_key(stretch)
        if is_exact:
            first = put_rows(place, rows, labels, is_new)
            upper = _at(first, stretch)
            upper &= np.uint64((1 << n_upper) - 1)
            out.scores[place : place + upper.size] = code.decode(upper)
            return first
        ordered = taken(scores, rows)
        _order_runs(is_new, ordered, rows, labels, code, code.width - n_upper)
        is_new |= is_new_key(ordered)
        first = put_rows(place, rows, labels, is_new)
        ordered = _at(first, ordered)
        # -0.0 becomes 0.0.
        np.add(ordered, 0.0, out=out.scores[place : place + ordered.size])
        return first

    n_jobs = _worth(n_jobs, scores.size, MANY_ROWS)
    return _by_stretch(keys, row_bits + 1, n_groups, n_upper + row_bits + 1, put, out, n_jobs)


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


# Read off stretch by stretch -----------------------------------------------------------


def _worth(n_jobs: int | None, n_rows: int, enough: int) -> int | None:
    return n_jobs if n_rows >= enough else 1


def _by_stretch(
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


def _at(first: Firsts, values: NDArray[Any]) -> NDArray[Any]:
    """The values of the rows at which cells begin."""
    return values if first is None else values.take(first)


def _put_counts(out: Cells, place: int, labels: Integers, is_new: Booleans) -> Firsts:
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


def _put_weights(
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
        return _put_counts(out, place, labels, is_new)
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
