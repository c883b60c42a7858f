"""Rules that map scores to numbered bins, exact in float64.

Every rule numbers its bins in the order of the scores, and returns the lowest and the highest
float64 of each bin. The upper bits of a positive float64 hold its binary exponent and the leading
bits of its fraction. As an integer, these bits split each power of two into equal parts.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words

# Bits of the fraction of a float64
_FRACTION = 52
_LARGEST = sys.float_info.max


class Rule(Protocol):
    """A rule that maps finite scores to bins."""

    @property
    def state(self) -> dict[str, Any]:
        """Return the constructor of `Bins` as ``"rule"``, and its arguments by name."""

    @property
    def first(self) -> int:
        """Number of the lowest bin."""

    @property
    def last(self) -> int:
        """Number of the highest bin."""

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest score that the rule accepts."""

    def numbers(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the bin of each score; all scores are in the domain."""

    def ranges(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the lowest and the highest float64 of each bin, of shape (2, n)."""


@dataclass(frozen=True)
class Probabilities:
    """Octaves of the distance to the nearer of 0 and 1, each split into equal parts.

    The bins of the lower half are, in order, the distance 0, all distances below the lowest octave,
    and the parts of the octaves. The upper half mirrors the lower half, and also has the score 0.5.
    """

    octaves: int
    parts: int

    @property
    def state(self) -> dict[str, Any]:
        """Return the name of the constructor of `Bins`, and its arguments."""
        return {"rule": "of_probabilities", "octaves": self.octaves, "parts": self.parts}

    @property
    def first(self) -> int:
        """Number of the lowest bin."""
        return 0

    @property
    def last(self) -> int:
        """Number of the highest bin."""
        return 2 * self._half - 1

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest score that the rule accepts."""
        return 0.0, 1.0

    @property
    def _half(self) -> int:
        """Number of bins below 0.5."""
        return self.octaves * self.parts + 2

    @property
    def _lowest_octave(self) -> float:
        return float(2.0 ** -(self.octaves + 1))

    def numbers(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the bin of each score."""
        is_lower = scores < 0.5
        # The difference is exact from 0.5 on; adding 0.0 converts -0.0 to 0.0.
        distances = np.where(is_lower, scores, 1.0 - scores) + 0.0
        shift = _shift_of(self.parts)
        numbers = distances.view(np.int64) >> shift
        numbers -= _bits_of(self._lowest_octave) >> shift
        numbers += 2
        np.maximum(numbers, distances > 0, out=numbers)
        np.minimum(numbers, self._half - 1, out=numbers)  # no octave includes the distance 0.5
        return np.where(is_lower, numbers, self.last - numbers)

    def ranges(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the lowest and the highest float64 of each bin."""
        is_lower = numbers < self._half
        of_distance = np.where(is_lower, numbers, self.last - numbers)
        shift = _shift_of(self.parts)
        lows = (of_distance - 2 + (_bits_of(self._lowest_octave) >> shift)) << shift
        ends = lows + (1 << shift)  # lowest value of the next bin
        lows[of_distance < 2] = of_distance[of_distance < 2]  # the bits of 0.0 and of 5e-324
        ends[of_distance == 0] = 1
        ends[of_distance == 1] = _bits_of(self._lowest_octave)
        low, end = lows.view(np.float64), ends.view(np.float64)
        below = np.stack([low, np.nextafter(end, 0.0)])
        # Distances are multiples of 2**-53 here, so these differences are exact; see `Bins`.
        above = np.stack([np.nextafter(1.0 - end, 1.0), 1.0 - low])
        above[0, end == 0.5] = 0.5
        above[:, of_distance == 0] = 1.0
        above[1, of_distance == 1] = np.nextafter(1.0, 0.0)
        return np.where(is_lower, below, above)


@dataclass(frozen=True)
class Scores:
    """Powers of two of the absolute value, each split into equal parts; the score 0 has a bin."""

    parts: int

    @property
    def state(self) -> dict[str, Any]:
        """Return the name of the constructor of `Bins`, and its arguments."""
        return {"rule": "of_scores", "parts": self.parts}

    @property
    def first(self) -> int:
        """Number of the lowest bin."""
        return -self.last

    @property
    def last(self) -> int:
        """Number of the highest bin."""
        return (_bits_of(_LARGEST) >> _shift_of(self.parts)) + 1

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest score that the rule accepts."""
        return -_LARGEST, _LARGEST

    def numbers(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the bin of each score."""
        numbers = (np.abs(scores).view(np.int64) >> _shift_of(self.parts)) + 1
        numbers[scores == 0] = 0
        np.negative(numbers, out=numbers, where=scores < 0)
        return numbers

    def ranges(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the lowest and the highest float64 of each bin."""
        size, shift = np.abs(numbers), _shift_of(self.parts)
        nearest = np.maximum((size - 1) << shift, 1).view(np.float64)  # 5e-324 is next to 0
        farthest = ((size << shift) - 1).view(np.float64)
        positive = np.stack([nearest, farthest])
        positive[:, size == 0] = 0.0
        return np.where(numbers < 0, -positive[::-1], positive)


@dataclass(frozen=True)
class Edges:
    """Cut points: each edge is the lowest score of a bin."""

    edges: tuple[float, ...]

    @property
    def state(self) -> dict[str, Any]:
        """Return the name of the constructor of `Bins`, and its arguments."""
        return {"rule": "at", "edges": list(self.edges)}

    @property
    def first(self) -> int:
        """Number of the lowest bin."""
        return 0

    @property
    def last(self) -> int:
        """Number of the highest bin."""
        return len(self.edges)

    @property
    def domain(self) -> tuple[float, float]:
        """Lowest and highest score that the rule accepts."""
        return -_LARGEST, _LARGEST

    @functools.cached_property
    def _array(self) -> NDArray[np.float64]:
        return np.array(self.edges, np.float64)

    def numbers(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of the bin of each score."""
        return np.searchsorted(self._array, scores, side="right").astype(np.int64, copy=False)

    def ranges(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the lowest and the highest float64 of each bin."""
        lows = np.concatenate([[-_LARGEST], self._array])
        highs = np.concatenate([np.nextafter(self._array, -np.inf), [_LARGEST]])
        # Adding 0.0 converts -0.0, the float below 5e-324, to 0.0.
        return np.stack([lows[numbers], highs[numbers]]) + 0.0


def _shift_of(parts: int) -> int:
    """Return the number of lower bits of a float64 that do not change its part."""
    return _FRACTION - (parts.bit_length() - 1)


def _bits_of(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def refines(fine: Rule, coarse: Rule) -> bool:
    """Return whether each bin of a rule is within a single bin of the other rule."""
    if fine.domain[0] < coarse.domain[0] or fine.domain[1] > coarse.domain[1]:
        return False
    if isinstance(fine, Scores):
        if isinstance(coarse, Scores):
            return fine.parts >= coarse.parts  # both numbers of parts are powers of two
        # Check the edges rather than the many bins: each edge must be the lowest score of a bin.
        edges = coarse.ranges(np.arange(coarse.first + 1, coarse.last + 1, dtype=np.int64))[0]
        return np.array_equal(fine.ranges(fine.numbers(edges))[0], edges)
    low, high = fine.ranges(np.arange(fine.first, fine.last + 1, dtype=np.int64))
    return np.array_equal(coarse.numbers(low), coarse.numbers(high))


# Arguments of each constructor that a state may name
_ARGUMENTS = {"of_probabilities": ("octaves", "parts"), "of_scores": ("parts",), "at": ("edges",)}


def arguments_in(state: object) -> tuple[str, dict[str, Any]]:
    """Return the constructor that a state names, and its arguments.

    Raises
    ------
    ValueError, TypeError
        If `state` is not the state of a rule.
    """
    if not isinstance(state, Mapping):
        raise TypeError(
            f"state must be a mapping that Bins.to_dict returned; got {type(state).__name__}."
        )
    # Messages do not quote values of a file, because nested values may be too deep for repr.
    rule = state.get("rule")
    known = _ARGUMENTS.get(rule) if isinstance(rule, str) else None
    if known is None or set(state) != {"rule", *known}:
        keys = [key for key in state if isinstance(key, str)]
        raise ValueError(
            "state must have a rule of 'of_probabilities', 'of_scores' or 'at' and the arguments "
            f"of this constructor; got the keys {_words.listed(keys)}"
            f"{f' and the rule {_words.shortened(rule)}' if isinstance(rule, str) else ''}."
        )
    arguments = {name: state[name] for name in known}
    # Refuse types with surprising conversions, such as True to 1.0 and nested lists to columns.
    for name, value in arguments.items():
        if name == "edges":
            expected = "a list of numbers"
            is_valid = isinstance(value, list) and {*map(type, value)} <= {int, float}
        else:
            expected, is_valid = "a whole number", type(value) is int
        if not is_valid:
            kind = type(value).__name__
            raise TypeError(f"{name} of a state must be {expected}; got {kind}.")
    return str(rule), arguments
