"""Group and score of a row packed into one integer that sorts as they do.

Speed rests on one fact: numpy sorts integers by value with vector instructions, five to
ten times faster than it sorts an index. So group and score, and in `cells.py` the label,
share one 64-bit integer wherever they fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_LOWEST = int(np.iinfo(np.int64).min)


class ScoreCode(NamedTuple):
    """Integers that stand for scores: same order, as few bits as is cheap to find.

    The bits of a float64 of either sign sort as integers once the sign and magnitude of
    negative ones are turned into two's complement (which also makes -0.0 equal to 0.0).
    Scores rarely use all of that range: the integers are counted from the smallest one;
    the unused range around zero is skipped, as are trailing zeros, of which scores that
    once were float32 have 29.
    """

    low: int
    gap_from: int
    gap: int
    zeros: int
    width: int

    @classmethod
    def of(cls, scores: Floats, bits: int) -> ScoreCode:
        """The code for these scores, squeezed only if that makes room for `bits`."""
        low = _signed_bits(float(scores.min()))
        span, gap_from, gap, zeros = _signed_bits(float(scores.max())) - low, 0, 0, 0
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
        return cls(low, gap_from, gap, zeros, span.bit_length())

    def encode(self, scores: Floats) -> Keys:
        bits = scores.view(np.int64)
        signed = np.where(bits < 0, _LOWEST - bits, bits) if self.low <= 0 else bits
        # Unsigned arithmetic wraps around, as it has to: a span may take all 64 bits.
        keys = signed.view(np.uint64) - np.uint64(self.low % (1 << 64))
        if self.gap:
            keys -= np.uint64(self.gap) * (keys >= np.uint64(self.gap_from))
        if self.zeros:
            keys >>= np.uint64(self.zeros)
        return keys

    def decode(self, keys: Keys) -> Floats:
        """Scores of these keys, which are overwritten."""
        if self.zeros:
            keys <<= np.uint64(self.zeros)
        if self.gap:
            keys += np.uint64(self.gap) * (keys >= np.uint64(self.gap_from))
        keys += np.uint64(self.low % (1 << 64))
        signed = keys.view(np.int64)
        bits = np.where(signed < 0, _LOWEST - signed, signed) if self.low < 0 else signed
        return bits.view(np.float64)


def _signed_bits(score: float) -> int:
    """The two's complement integer that sorts as this score does."""
    bits = int(np.float64(score).view(np.int64))
    return bits if bits >= 0 else _LOWEST - bits


class Packed(NamedTuple):
    """One integer per row that sorts as (group, score), and the way back."""

    keys: Keys
    n_groups: int
    code: ScoreCode
    distinct: Floats | None
    score_bits: int

    @property
    def width(self) -> int:
        return self.score_bits + (self.n_groups - 1).bit_length()

    def scores(self, keys: Keys) -> Floats:
        score_keys = keys & np.uint64((1 << self.score_bits) - 1)
        if self.distinct is None:
            return self.code.decode(score_keys)
        return self.distinct[score_keys.view(np.int64)]

    def starts(self, ordered: Keys) -> NDArray[np.int64]:
        """Where each group begins among these sorted keys, and their number."""
        firsts = np.arange(self.n_groups, dtype=np.uint64) << np.uint64(self.score_bits)
        return np.append(np.searchsorted(ordered, firsts), ordered.size)


def pack(scores: Floats, groups: Keys | None, n_groups: int, spare: int) -> Packed:
    """Pack group and score of each row, the upper `spare` bits left free.

    `groups` is overwritten.

    Where the bits of the score do not fit beside those of the group, its rank among the
    distinct scores does, for the price of sorting an index.
    """
    group_bits = (n_groups - 1).bit_length()
    code = ScoreCode.of(scores, group_bits + spare)
    keys, distinct, score_bits = code.encode(scores), None, code.width
    if score_bits + group_bits + spare > 64:
        order, ordered = stable_order(keys, code.width)
        is_new = is_new_key(ordered)
        distinct = code.decode(ordered[is_new])
        ranks = np.cumsum(is_new, dtype=np.uint64)
        ranks -= np.uint64(1)
        keys[order] = ranks
        score_bits = (distinct.size - 1).bit_length()
    if groups is not None:
        groups <<= np.uint64(score_bits)
        keys |= groups
    return Packed(keys, n_groups, code, distinct, score_bits)


def stable_order(keys: Keys, width: int) -> tuple[NDArray[np.int64], Keys]:
    """Stable order of keys of `width` bits, and the keys in that order.

    Key and row number are packed into one integer and sorted by value, which is several
    times faster than an argsort. Where they do not fit, the lowest bits of the key are left
    out, and what that leaves in the wrong order, hardly ever anything, is put right.
    """
    row_bits = (keys.size - 1).bit_length()
    left_out = np.uint64(max(width + row_bits - 64, 0))
    packed = keys >> left_out
    packed <<= np.uint64(row_bits)
    packed |= np.arange(keys.size, dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << row_bits) - 1)
    order = packed.view(np.int64)
    ordered = keys.take(order)
    is_wrong = ordered[1:] < ordered[:-1]
    if is_wrong.any():
        run = np.cumsum(is_new_key(ordered >> left_out)) - 1
        to_sort = np.zeros(run[-1] + 1, np.bool_)
        to_sort[run[1:][is_wrong]] = True
        places = np.flatnonzero(to_sort[run])
        right = places[np.lexsort((ordered[places], run[places]))]
        order[places], ordered[places] = order[right], ordered[right]
    return order, ordered


def is_new_key(ordered: NDArray[Any]) -> Booleans:
    """Whether each of these sorted keys differs from the one before it."""
    is_new = np.empty(ordered.size, np.bool_)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return is_new
