"""Group and score of a row packed into one integer that sorts as they do.

Speed rests on one fact: numpy sorts integers by value with vector instructions, five to
ten times faster than it sorts an index. So group and score, and in `rows.py` the label,
share one 64-bit integer wherever they fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Keys = NDArray[np.uint64]

# Rows that are worked on at once: a few arrays of them stay in the cache.
STRETCH = 1 << 16
# Keys from which on gathering them in another order is slower than sorting them.
OUT_OF_CACHE = 1 << 22

# Scores of at most six decimal digits are told from others.
_DECIMAL_SCALES = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)

_LOWEST = int(np.iinfo(np.int64).min)


class ScoreCode(NamedTuple):
    """Integers that stand for scores: same order, as few bits as is cheap to find.

    The bits of a float64 of either sign sort as integers once the sign and magnitude of
    negative ones are turned into two's complement (which also makes -0.0 equal to 0.0).
    Scores rarely use all of that range: the integers are counted from the smallest one;
    the unused range around zero is skipped, as are trailing zeros, of which scores that
    once were float32 have 29. Scores of a few decimal digits are the integers that they are
    when multiplied by `scale`, where that is not 0.
    """

    low: int
    gap_from: int
    gap: int
    zeros: int
    scale: float
    width: int

    @classmethod
    def of(cls, scores: Floats, bits: int) -> ScoreCode:
        """The code for these scores, squeezed if that makes room for `bits`, or is cheap."""
        smallest, largest = float(scores.min()), float(scores.max())
        low = _signed_bits(smallest)
        span, gap_from, gap, zeros = _signed_bits(largest) - low, 0, 0, 0
        wanted = span.bit_length() + bits > 64 or scores.size >= STRETCH
        scale = _decimal_scale(scores) if wanted else 0.0
        if scale:
            low, high = round(smallest * scale), round(largest * scale)
            return cls(low, 0, 0, 0, scale, (high - low).bit_length())
        if span.bit_length() + bits > 64 and low < 0 <= span + low:
            nearest = _signed_bits(float(np.abs(scores).min()))
            gap_from = -nearest - low + 1
            # A multiple of 2**32, so that trailing zeros stay zeros.
            gap = max(2 * nearest - 1, 0) >> 32 << 32
            span -= gap
        if span.bit_length() + bits > 64:
            used = int(np.bitwise_or.reduce(scores.view(np.int64)))
            # A gap is a multiple of 2**32 only.
            zeros = min((used & -used).bit_length() - 1, 32 if gap else 64)
            span >>= zeros
        return cls(low, gap_from, gap, zeros, 0.0, span.bit_length())

    def encode(self, scores: Floats, out: Keys | None = None) -> Keys:
        """The integers of these scores, written into `out` if it is given."""
        keys = np.empty(scores.size, np.uint64) if out is None else out
        if self.scale:
            scaled = scores * self.scale
            np.rint(scaled, out=scaled)
            scaled -= self.low
            np.copyto(keys, scaled, casting="unsafe")
            return keys
        bits = scores.view(np.int64)
        signed = _turned(bits) if self.low <= 0 else bits
        # Unsigned arithmetic wraps around, as it has to: a span may take all 64 bits.
        np.subtract(signed.view(np.uint64), np.uint64(self.low % (1 << 64)), out=keys)
        if self.gap:
            keys -= np.uint64(self.gap) * (keys >= np.uint64(self.gap_from))
        if self.zeros:
            keys >>= np.uint64(self.zeros)
        return keys

    def decode(self, keys: Keys) -> Floats:
        """Scores of these keys, which are overwritten."""
        if self.scale:
            scaled = keys.astype(np.float64)
            scaled += self.low
            scaled /= self.scale
            return scaled
        if self.zeros:
            keys <<= np.uint64(self.zeros)
        if self.gap:
            keys += np.uint64(self.gap) * (keys >= np.uint64(self.gap_from))
        keys += np.uint64(self.low % (1 << 64))
        signed = keys.view(np.int64)
        bits = _turned(signed) if self.low < 0 else signed
        return bits.view(np.float64)


def _turned(integers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sign and magnitude turned into two's complement, or back: ``_LOWEST - i`` below 0."""
    sign = integers >> 63
    turned = sign & np.iinfo(np.int64).max
    turned ^= integers
    turned -= sign
    return turned


def _signed_bits(score: float) -> int:
    """The two's complement integer that sorts as this score does."""
    bits = int(np.float64(score).view(np.int64))
    return bits if bits >= 0 else _LOWEST - bits


def _decimal_scale(scores: Floats) -> float:
    """The power of ten by which these scores are exactly integers; 0 if there is none."""
    sample = scores[:: max(scores.size // 32, 1)]
    if not _are_integers_over(sample, _DECIMAL_SCALES[-1]):
        return 0.0
    for scale in _DECIMAL_SCALES:
        if _are_integers_over(sample, scale) and all(
            _are_integers_over(scores[a : a + STRETCH], scale)
            for a in range(0, scores.size, STRETCH)
        ):
            return scale
    return 0.0


def _are_integers_over(scores: Floats, scale: float) -> bool:
    """Whether each score is the float next to some integer, well below 2**53, over `scale`."""
    with np.errstate(over="ignore"):
        scaled = scores * scale
    np.rint(scaled, out=scaled)
    small = scaled.max() < 2.0**50 and scaled.min() > -(2.0**50)
    scaled /= scale
    return bool(small and np.array_equal(scaled, scores))


class Packed(NamedTuple):
    """One integer per row that sorts as group, score and perhaps label do, and the way back."""

    keys: Keys
    n_groups: int
    code: ScoreCode
    distinct: Floats | None
    score_bits: int

    @property
    def width(self) -> int:
        return self.score_bits + (self.n_groups - 1).bit_length()

    def scores(self, keys: Keys) -> Floats:
        """Scores of these keys without labels, which are overwritten."""
        keys &= np.uint64((1 << self.score_bits) - 1)
        return (
            self.code.decode(keys) if self.distinct is None else self.distinct[keys.view(np.int64)]
        )


def pack(
    scores: Floats,
    groups: NDArray[Any] | None,
    n_groups: int,
    labels: Booleans | None = None,
    code: ScoreCode | None = None,
) -> Packed:
    """Pack group and score of each row, and the label as the lowest bit, if it is given.

    `code` is that of the scores if it is known already.

    Where the bits of the score do not fit beside the others, its rank among the distinct scores
    does, for the price of sorting an index.
    """
    other_bits = (n_groups - 1).bit_length() + (labels is not None)
    code = code or ScoreCode.of(scores, other_bits)
    keys, distinct, score_bits = np.empty(scores.size, np.uint64), None, code.width
    is_rank = score_bits + other_bits > 64
    if is_rank:
        distinct = _put_ranks(keys, code, scores)
        score_bits = (distinct.size - 1).bit_length()

    # A stretch at a time, which stays in the cache, so that only the keys are new memory
    for a in range(0, scores.size, STRETCH):
        rows = slice(a, a + STRETCH)
        stretch = keys[rows]
        if not is_rank:
            code.encode(scores[rows], out=stretch)
        if groups is not None:
            stretch |= groups[rows].astype(np.uint64) << np.uint64(score_bits)
        if labels is not None:
            stretch <<= np.uint64(1)
            stretch |= labels[rows]
    return Packed(keys, n_groups, code, distinct, score_bits)


def group_starts(ordered: Keys, n_groups: int, shift: int) -> NDArray[np.int64]:
    """Where each group, whose number is above the lowest `shift` bits, begins; and the end."""
    firsts = np.arange(n_groups, dtype=np.uint64) << np.uint64(shift)
    return np.append(np.searchsorted(ordered, firsts), ordered.size)


def _put_ranks(keys: Keys, code: ScoreCode, scores: Floats) -> Floats:
    """Write the rank of each score among the distinct ones, which are returned."""
    order, ordered = stable_order(code.encode(scores), code.width)
    is_new = is_new_key(ordered)
    ranks = np.cumsum(is_new, dtype=np.uint64)
    ranks -= np.uint64(1)
    keys[order] = ranks
    return code.decode(ordered[is_new])


def stable_order(keys: Keys, width: int) -> tuple[NDArray[np.int64], Keys]:
    """Stable order of keys of `width` bits, and the keys in that order.

    Key and row number are packed into one integer and sorted by value, which is several
    times faster than an argsort. Where they do not fit, the lowest bits of the key are left
    out, and what that leaves in the wrong order, hardly ever anything, is put right.
    """
    row_bits = (keys.size - 1).bit_length()
    left_out = np.uint64(max(width + row_bits - 64, 0))
    packed = np.empty_like(keys)
    rows_of_stretch = np.arange(min(STRETCH, keys.size), dtype=np.uint64)
    for a in range(0, keys.size, STRETCH):
        stretch = packed[a : a + STRETCH]
        np.right_shift(keys[a : a + STRETCH], left_out, out=stretch)
        stretch <<= np.uint64(row_bits)
        stretch += rows_of_stretch[: stretch.size]
        stretch += np.uint64(a)
    packed.sort()
    if left_out == 0:
        ordered = packed >> np.uint64(row_bits)
    packed &= np.uint64((1 << row_bits) - 1)
    order = packed.view(np.int64)
    if left_out == 0:
        return order, ordered
    if keys.size < OUT_OF_CACHE:
        ordered = keys.take(order)
        is_wrong = ordered[1:] < ordered[:-1]
    else:
        # Far from the cache a second sort is faster than gathering, but does not tell which of
        # the keys that are alike without their lowest bits are in the wrong order.
        ordered = np.sort(keys)
        is_wrong = np.empty(keys.size - 1, np.bool_)
        for a in range(0, is_wrong.size, STRETCH):
            wrong = is_wrong[a : a + STRETCH]
            differing = ordered[a + 1 : a + 1 + wrong.size] ^ ordered[a : a + wrong.size]
            differing -= np.uint64(1)
            np.less(differing, (np.uint64(1) << left_out) - np.uint64(1), out=wrong)
    if is_wrong.any():
        alike = np.unique(ordered[1:][is_wrong] >> left_out) << left_out
        first = np.searchsorted(ordered, alike)
        end = np.searchsorted(ordered, alike | (np.uint64(1) << left_out) - np.uint64(1), "right")
        places, run = ranges(first, end)
        rows = order[places]
        # Among those it is the lowest bits that count.
        run_keys = run.astype(np.uint64) << left_out
        run_keys |= keys[rows] & ((np.uint64(1) << left_out) - np.uint64(1))
        run_bits = (alike.size - 1).bit_length()
        rows = rows[stable_order(run_keys, run_bits + int(left_out))[0]]
        order[places], ordered[places] = rows, keys[rows]
    return order, ordered


def taken(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """The values at these places, which are not checked: a quarter faster for it."""
    return values.take(places, mode="wrap")


def ranges(first: NDArray[np.intp], end: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
    """The numbers of each range ``first:end`` after another, and the range each is of."""
    sizes = end - first
    of_range = np.repeat(np.arange(sizes.size), sizes)
    offset = first - np.append(0, np.cumsum(sizes)[:-1])
    return np.arange(of_range.size) + offset[of_range], of_range


def is_new_key(ordered: NDArray[Any]) -> Booleans:
    """Whether each of these sorted keys differs from the one before it."""
    is_new = np.empty(ordered.size, np.bool_)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return is_new
