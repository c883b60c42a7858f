"""Rules that map each score to a bin, exact in float64.

Every rule numbers its bins by increasing score. The upper bits in a positive float64 hold
its binary exponent and its fraction's leading bits: as an integer, these bits split each
power of two into equal parts.
"""

from __future__ import annotations

import bisect
import functools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells, Floats

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# Largest number of parts of an octave, which limits the memory of the bins
_MOST_PARTS = 1 << 16
# Limit of octaves plus bits of a part; within this limit, each bin next to 1 has a float64
_MOST_BITS = 51
_LARGEST = sys.float_info.max


# A rule has the name of its constructor, whose arguments are its fields, the numbers of its first
# and its last bin, the domain of its scores, the number of each score's bin, also as an expression
# for other engines, and the lowest score of each bin. The highest score of a bin is the float64
# before the lowest one of the next bin.


@dataclass(frozen=True)
class _Probabilities:
    """Octaves by distance to 0 or 1, whichever is nearer, each split into equal parts.

    The lower half's bins are, in order, the distance 0, all distances below the lowest octave,
    and the octaves' parts. The upper half mirrors the lower half, and also has the score 0.5.
    """

    octaves: int
    parts: int

    name: ClassVar[str] = "of_probabilities"
    first: ClassVar[int] = 0
    domain: ClassVar[tuple[float, float]] = 0.0, 1.0

    @property
    def last(self) -> int:
        return 2 * self._half - 1

    @property
    def _half(self) -> int:  # how many bins are below 0.5
        return self.octaves * self.parts + 2

    @property
    def _lowest_octave(self) -> int:  # which part of all positive floats, in order, is its first
        return _bits_of(2.0 ** -(self.octaves + 1)) >> _shift_of(self.parts)

    def numbers(self, scores: Floats) -> NDArray[np.int64]:
        is_lower = scores < 0.5
        # The difference is exact from 0.5 on; adding 0.0 converts -0.0 to 0.0.
        distances = np.where(is_lower, scores, 1.0 - scores) + 0.0
        numbers = distances.view(np.int64) >> _shift_of(self.parts)
        numbers -= self._lowest_octave - 2
        np.maximum(numbers, distances > 0, out=numbers)
        np.minimum(numbers, self._half - 1, out=numbers)  # no octave includes the distance 0.5
        return np.where(is_lower, numbers, self.last - numbers)

    def lowest(self, numbers: NDArray[np.int64]) -> Floats:
        is_lower = numbers <= self._half  # the bin of 0.5 begins where the lower half ends
        # An upper bin begins above the score at which its mirror image ends.
        of_distance = np.where(is_lower, numbers, self.last + 1 - numbers)
        bits = (of_distance + (self._lowest_octave - 2)) << _shift_of(self.parts)
        bits[of_distance < 2] = of_distance[of_distance < 2]  # the bits of 0.0 and of 5e-324
        distances = bits.view(np.float64)
        # Distances are multiples of 2**-53 here, so these differences are exact; see `Bins`.
        return np.where(is_lower, distances, np.nextafter(1.0 - distances, 1.0))

    def expression(self, score: nw.Expr) -> nw.Expr:
        exponents = range(-self.octaves - 1, -1)

        def number(distance: nw.Expr) -> nw.Expr:
            in_octaves = _part_of_octave(distance, exponents, self.parts) + 2.0
            is_below = distance < 2.0 ** exponents[0]
            return _either(is_below, _either(distance > 0, 1.0, 0.0), in_octaves)

        upper, middle = float(self.last) - number(1 - score), float(self.last // 2 + 1)
        return _either(score < 0.5, number(score), _either(score > 0.5, upper, middle))


@dataclass(frozen=True)
class _Scores:
    """Powers of two by absolute value, each split into equal parts; the score 0 has a bin."""

    parts: int

    name: ClassVar[str] = "of_scores"
    domain: ClassVar[tuple[float, float]] = -_LARGEST, _LARGEST

    @property
    def first(self) -> int:
        return -self.last

    @property
    def last(self) -> int:
        return (_bits_of(_LARGEST) >> _shift_of(self.parts)) + 1

    def numbers(self, scores: Floats) -> NDArray[np.int64]:
        numbers = (np.abs(scores).view(np.int64) >> _shift_of(self.parts)) + 1
        numbers[scores == 0] = 0
        np.negative(numbers, out=numbers, where=scores < 0)
        return numbers

    def lowest(self, numbers: NDArray[np.int64]) -> Floats:
        size, shift = np.abs(numbers), _shift_of(self.parts)
        nearest = np.maximum((size - 1) << shift, 1).view(np.float64)  # 5e-324 is next to 0
        farthest = ((size << shift) - 1).view(np.float64)
        positive = np.where(numbers == 0, 0.0, nearest)
        return np.where(numbers < 0, -farthest, positive)

    def expression(self, score: nw.Expr) -> nw.Expr:
        size, lowest = score.abs(), 2.0 ** _EXPONENTS[0]
        first = float(1 + (_EXPONENTS[0] + 1023) * self.parts)  # subnormals have the exponent -1023
        number = _part_of_octave(size, _EXPONENTS, self.parts) + first
        is_valid = (size >= lowest) & (size < 2.0 ** _EXPONENTS[-1] * 2)
        number = _either(is_valid, number * _either(score > 0, 1.0, -1.0), float(NOT_BINNED))
        return _either(score == 0, 0.0, number)


@dataclass(frozen=True)
class _Edges:
    """Cut points: each edge is the lowest score of a bin."""

    edges: tuple[float, ...]

    name: ClassVar[str] = "at"
    first: ClassVar[int] = 0
    domain: ClassVar[tuple[float, float]] = -_LARGEST, _LARGEST

    @property
    def last(self) -> int:
        return len(self.edges)

    @functools.cached_property
    def _lowest(self) -> Floats:
        return np.array([-_LARGEST, *self.edges])

    def numbers(self, scores: Floats) -> NDArray[np.int64]:
        found = np.searchsorted(self._lowest[1:], scores, side="right")
        return found.astype(np.int64, copy=False)

    def lowest(self, numbers: NDArray[np.int64]) -> Floats:
        return self._lowest[numbers]

    def expression(self, score: nw.Expr) -> nw.Expr:
        return _chosen(score, self.edges, list(map(float, range(self.last + 1))))


def _shift_of(parts: int) -> int:
    return 52 - (parts.bit_length() - 1)  # of the bits of the fraction of a float64


def _bits_of(number: float) -> int:
    return int(np.float64(number).view(np.int64))


_Rule: TypeAlias = _Probabilities | _Scores | _Edges


# Constructors that a state may name, and their arguments
_ARGUMENTS = [(rule.name, {field.name for field in fields(rule)}) for rule in get_args(_Rule)]


class Immutable:
    """Objects whose attributes cannot be set or deleted."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; {name} cannot be deleted.")


class Bins(Immutable):
    """Rule that maps each score to a numbered bin, exact in float64.

    Counts by bin disclose less than counts by score: a site sends how many rows of each class are
    in each bin. `ScoreCounts.merge` adds up counts with equal `Bins`.

    Attributes
    ----------
    n_bins : int or None
        Bin count; None for `of_scores`, which has about ``4094 * parts`` bins.

    See Also
    --------
    Disclosure : What a site coarsens or withholds.

    Examples
    --------
    >>> from skfedauc import Bins
    >>> bins = Bins.of_probabilities(octaves=3, parts=2)
    >>> numbers = bins.numbers_of([0.0, 0.01, 0.3, 0.7, 1.0])
    >>> numbers.tolist()
    [0, 1, 6, 9, 15]
    >>> bins.ranges_of(numbers).round(4)
    array([[0.    , 0.    , 0.25  , 0.625 , 1.    ],
           [0.    , 0.0625, 0.375 , 0.75  , 1.    ]])
    """

    __slots__ = ("_rule",)

    _rule: _Rule

    def __init__(self) -> None:
        raise TypeError(
            "Bins has no public constructor: use Bins.of_probabilities(), Bins.of_scores(), "
            "Bins.at(edges) or Bins.of_quantiles(counts, n_bins)."
        )

    @classmethod
    def _of(cls, rule: _Rule) -> Bins:
        bins = object.__new__(cls)
        object.__setattr__(bins, "_rule", rule)
        return bins

    @classmethod
    def of_probabilities(cls, octaves: int = 20, parts: int = 64) -> Bins:
        """Return bins for scores from 0 to 1 that are narrower near 0 and near 1.

        Octaves cover the distances of scores to 0 or 1, whichever is nearer, from
        ``2**-(octaves + 1)`` to 1/2: an octave's largest distance is twice its smallest one. Each
        octave has equally wide parts. The scores 0 and 1 have their own bins, and so have the
        smaller distances near 0 and near 1.

        Parameters
        ----------
        octaves : int, default=20
            Octaves, 1 or more. The default reaches down to the distance 4.8e-7.
        parts : int, default=64
            Parts per octave, a power of two up to 65,536. A bin is at most ``1 / parts`` of its
            distance wide. ``octaves + log2(parts)`` may be at most 51, since float64 has no finer
            scores near 1.

        Returns
        -------
        Bins
            ``2 * (octaves * parts + 1) + 2`` bins, by default 2,564, symmetric around 0.5, which is
            in the upper half.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.of_probabilities().n_bins
        2564
        """
        octaves = _input.check_whole_number(octaves, "octaves")
        parts = _check_parts(parts)
        if octaves + parts.bit_length() - 1 > _MOST_BITS:
            raise ValueError(
                f"octaves + log2(parts) must be at most {_MOST_BITS}, since float64 has no finer "
                f"scores near 1; got octaves={_words.shortened(octaves)} and parts={parts}."
            )
        return cls._of(_Probabilities(octaves, parts))

    @classmethod
    def of_scores(cls, parts: int = 64) -> Bins:
        """Return bins for scores in any range: a fixed number for each power of two.

        Parameters
        ----------
        parts : int, default=64
            Equally wide parts between two powers of two, a power of two up to 65,536. The width of
            a bin is at most ``1 / parts`` of its scores, except below 2.3e-308.

        Returns
        -------
        Bins
            Bins with ``n_bins=None``. The score 0 has its own bin, and the bin number for
            ``-score`` is minus the one for ``score``.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> bins = Bins.of_scores(parts=4)
        >>> bins.ranges_of(bins.numbers_of([-3.2, 0.0, 1.6])).round(2)
        array([[-3.5 ,  0.  ,  1.5 ],
               [-3.  ,  0.  ,  1.75]])
        """
        return cls._of(_Scores(_check_parts(parts)))

    @classmethod
    def at(cls, edges: ArrayLike) -> Bins:
        """Return bins between cut points.

        Parameters
        ----------
        edges : array-like, shape (n_edges,)
            Finite cut points in increasing order, at least one. A cut point is the lowest score in
            a bin, in float64: 0.7 in float32 is below 0.7.

        Returns
        -------
        Bins
            ``n_edges + 1`` bins for scores in any range, the first below all cut points.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.at([0.1, 0.5]).numbers_of([0.05, 0.1, 0.3, 0.5, 7.0]).tolist()
        [0, 1, 1, 2, 2]
        """
        checked = _input.check_scores(edges, "edges") + 0.0
        if not checked.size:
            raise ValueError("edges must hold at least one cut point; got none.")
        if checked[0] == -sys.float_info.max:
            raise ValueError(
                f"edges must be larger than {-sys.float_info.max}, the lowest float64: no score is "
                "below it."
            )
        unordered = np.flatnonzero(np.diff(checked) <= 0)
        if unordered.size:
            pair = checked[unordered[0] : unordered[0] + 2].tolist()
            raise ValueError(
                f"edges must be in increasing order without repetitions; got {pair[0]} before "
                f"{pair[1]}. Pass np.unique(edges)."
            )
        return cls._of(_Edges(tuple(checked.tolist())))

    @classmethod
    def of_quantiles(cls, counts: Any, n_bins: int) -> Bins:
        """Return bins with about equal row counts, from the counts of all sites.

        Sites agree on these bins in one round: each site sends binned counts of earlier rows, in
        many bins, and receives the cut points. The AUCs' certain intervals are mostly narrower than
        with as many fixed bins.

        Parameters
        ----------
        counts : ScoreCounts
            Counts of the rows in all sites and groups, usually binned. The method ignores weights.
        n_bins : int
            At most this many bins, 2 or more.

        Returns
        -------
        Bins
            Bins like those from `at`, whose edges are bin edges (or scores) in `counts`. They
            minimize the limit on the rows in a bin; a bin or score above it has its own bin.

        Examples
        --------
        >>> from skfedauc import Bins, ScoreCounts
        >>> scores = [0.02, 0.03, 0.04, 0.3]
        >>> counts = ScoreCounts.from_predictions([0, 0, 1, 1], scores, disclosure="bins")
        >>> Bins.of_quantiles(counts, n_bins=2).numbers_of(scores)
        array([0, 0, 1, 1])
        """
        state: Any = getattr(counts, "_state", None)  # the class is defined from this one
        if not hasattr(state, "ranges"):
            raise TypeError(f"counts must be a ScoreCounts; got {_words.described(counts)}.")
        n_bins = _input.check_whole_number(n_bins, "n_bins", at_least=2)
        starts, n_rows = _blocks(counts.cells, state.ranges)
        total = np.concatenate([[0], np.cumsum(n_rows)])
        # A larger limit never gives more bins, and the largest permits a single bin of all rows.
        limits = range(int(total[-1]) + 1)
        least = bisect.bisect_left(
            limits, True, key=lambda most: _firsts(total, most, n_bins) != []
        )
        edges = starts[_firsts(total, least, n_bins)[1:]]
        if not edges.size:
            raise ValueError(
                "counts must have rows of at least two scores or bins, or there is nothing to cut; "
                f"got {_words.described(counts)}."
            )
        return cls.at(edges)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Bins:
        """Return the bins that `to_dict` describes.

        Parameters
        ----------
        state : mapping
            What `to_dict` returned.

        Returns
        -------
        Bins
        """
        if not isinstance(state, Mapping):
            raise TypeError(
                f"state must be a mapping that Bins.to_dict returned; got {type(state).__name__}."
            )
        # Messages do not quote values of a file, because nested values may be too deep for repr.
        rule, arguments = state.get("rule"), {**state}
        arguments.pop("rule", None)
        # Other types have surprising conversions, such as True to 1.0 and nested lists to columns.
        numbers = arguments.get("edges", list(arguments.values()))
        kinds = {int, float} if rule == "at" else {int}
        is_valid = isinstance(numbers, list) and {*map(type, numbers)} <= kinds
        has_names = (rule, set(arguments)) in _ARGUMENTS
        if not has_names or not is_valid:
            raise (TypeError if has_names else ValueError)(
                "state must have a rule of 'of_probabilities', 'of_scores' or 'at' and the "
                "arguments of this constructor, which are whole numbers or a list of numbers; got "
                f"the keys {_words.listed(key for key in state if isinstance(key, str))}."
            )
        found: Bins = getattr(cls, str(rule))(**arguments)  # a rule is the name of a constructor
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the constructor's name and arguments.

        Returns
        -------
        dict
            Mapping that JSON can represent, such as ``{"rule": "at", "edges": [0.5]}``.
        """
        facts = {field.name: getattr(self._rule, field.name) for field in fields(self._rule)}
        if isinstance(self._rule, _Edges):
            facts["edges"] = list(self._rule.edges)
        return {"rule": self._rule.name, **facts}

    @property
    def n_bins(self) -> int | None:
        """Bin count; None for `of_scores`."""
        if isinstance(self._rule, _Scores):
            return None
        return self._rule.last - self._rule.first + 1

    def numbers_of(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Return each score's bin number.

        Parameters
        ----------
        scores : array-like, shape (n_scores,)
            Finite scores.

        Returns
        -------
        int64 array, shape (n_scores,)
            Bin numbers, in the same order.

        Raises
        ------
        ValueError
            If a score is outside the bins' domain.
        """
        checked = _input.check_scores(scores, "scores")
        low, high = self._rule.domain
        if checked.size and (checked.min() < low or checked.max() > high):
            raise ValueError(
                "scores must be from 0 to 1 for Bins.of_probabilities; got scores from "
                f"{checked.min()} to {checked.max()}. Bins.of_scores() has bins for all scores."
            )
        return self._rule.numbers(np.ascontiguousarray(checked))

    def ranges_of(self, numbers: ArrayLike) -> Floats:
        """Return each bin's lowest and highest score.

        Parameters
        ----------
        numbers : int array-like, shape (n_numbers,)
            Bin numbers.

        Returns
        -------
        float64 array, shape (2, n_numbers)
            Lowest and highest scores.
        """
        checked, rule = self._check_numbers(numbers), self._rule
        following = rule.lowest(np.minimum(checked + 1, rule.last))
        highest = np.where(checked == rule.last, rule.domain[1], np.nextafter(following, -np.inf))
        # Adding 0.0 converts -0.0, which may be the float below 5e-324, to 0.0.
        return np.stack([rule.lowest(checked), highest]) + 0.0

    def scores_of(self, numbers: ArrayLike) -> Floats:
        """Return the score that represents each bin.

        Parameters
        ----------
        numbers : int array-like, shape (n_numbers,)
            Bin numbers.

        Returns
        -------
        float64 array, shape (n_numbers,)
            A score within each bin.
        """
        checked = self._check_numbers(numbers)
        low, high = self.ranges_of(checked)
        # No difference overflows, because the bins of `of_scores` are narrow.
        if isinstance(self._rule, _Edges):
            low = np.where(checked == 0, high, low)
            high = np.where(checked == self._rule.last, low, high)
        with np.errstate(over="ignore"):
            half = (high - low) / 2
        # The difference of two edges may be larger than the largest float.
        return np.asarray(np.where(np.isfinite(half), low + half, low / 2 + high / 2))

    def refines(self, other: Bins) -> bool:
        """Return whether each bin is within a single bin in `other`.

        Parameters
        ----------
        other : Bins
            Bins to compare with.

        Returns
        -------
        bool
            Whether counts by these bins can be reduced to `other`.
        """
        _input.check_type(other, Bins, "other must be Bins")
        fine, coarse = self._rule, other._rule
        if fine.domain[0] < coarse.domain[0] or fine.domain[1] > coarse.domain[1]:
            return False
        if isinstance(fine, _Scores):
            if isinstance(coarse, _Scores):
                return fine.parts >= coarse.parts  # both numbers of parts are powers of two
            # Check the edges rather than the many bins: each must be the lowest score of a bin.
            edges = coarse.lowest(np.arange(coarse.first + 1, coarse.last + 1, dtype=np.int64))
            return np.array_equal(fine.lowest(fine.numbers(edges)), edges)
        low, high = self.ranges_of(np.arange(fine.first, fine.last + 1, dtype=np.int64))
        return np.array_equal(coarse.numbers(low), coarse.numbers(high))

    def _check_numbers(self, numbers: ArrayLike) -> NDArray[np.int64]:
        array = _input.column_of(numbers, "numbers")
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(
                f"numbers must be a column of whole numbers; got {_words.described(numbers)}."
            )
        first, last = self._rule.first, self._rule.last
        if array.size and (array.min() < first or array.max() > last):
            outside = array[(array < first) | (array > last)]
            raise ValueError(
                f"numbers must be from {first} to {last}, the first and the last bin; got "
                f"{outside[0]}."
            )
        return array.astype(np.int64)

    def __eq__(self, other: object) -> bool:
        return self._rule == other._rule if isinstance(other, Bins) else NotImplemented

    def __hash__(self) -> int:
        return hash((Bins, self._rule))

    def __reduce__(self) -> tuple[Any, ...]:
        return Bins.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        state = self.to_dict()
        rule, edges = state.pop("rule"), state.get("edges")
        if edges is None:
            arguments = ", ".join(f"{name}={value}" for name, value in state.items())
            return f"Bins.{rule}({arguments})"
        if len(edges) > 8:
            return f"Bins.at([{edges[0]}, {edges[1]}, ..., {edges[-1]}])  # {len(edges)} edges"
        return f"Bins.at({edges})"


def _check_parts(parts: Any) -> int:
    parts = _input.check_whole_number(parts, "parts")
    if parts > _MOST_PARTS or parts & (parts - 1):
        raise ValueError(
            f"parts must be a power of two up to {_MOST_PARTS:,}, such as 64; got "
            f"{_words.shortened(parts)}."
        )
    return int(parts)


# Bins in other engines

# Result of the expression for scores without a bin
NOT_BINNED = -(1 << 40)
# Exponents of the absolute values from 5.4e-20 to 1.8e19; other scores have no bin
_EXPONENTS = range(-64, 64)


def expression_of(bins: Bins, score: nw.Expr) -> nw.Expr:
    """Return the number of the bin of a score in float64, or `NOT_BINNED`, for other engines."""
    import narwhals.stable.v2 as nw

    rule = bins._rule  # noqa: SLF001
    low, high = rule.domain
    # Some engines sort NaN above all numbers, and others do not compare NaN.
    is_valid = (score >= low) & (score <= high)
    number = _either(is_valid, rule.expression(score), float(NOT_BINNED))
    # PostgreSQL treats constants as decimals, which Ibis does not expect.
    return number.cast(nw.Int64)


def _part_of_octave(value: nw.Expr, exponents: range, parts: int) -> nw.Expr:
    """Return which equally wide part of the octaves holds a value, from 0 in the first octave."""
    lowest = [2.0**exponent for exponent in exponents]
    factors = [parts / low for low in lowest]
    # The lowest value of an octave, times its factor, is the number of parts.
    firsts = [float((number - 1) * parts) for number in range(len(lowest))]
    number = (value * _chosen(value, lowest[1:], factors)).floor()
    return number + _chosen(value, lowest[1:], firsts)


def _chosen(value: nw.Expr, edges: Sequence[float], results: Sequence[float]) -> nw.Expr:
    """Return result i for values from edge i - 1 to below edge i, from a balanced tree."""
    import narwhals.stable.v2 as nw

    if not edges:
        return nw.lit(results[0])
    middle = len(edges) // 2
    below = _chosen(value, edges[:middle], results[: middle + 1])
    above = _chosen(value, edges[middle + 1 :], results[middle + 1 :])
    return _either(value < edges[middle], below, above)


def _either(condition: nw.Expr, then: nw.Expr | float, otherwise: nw.Expr | float) -> nw.Expr:
    import narwhals.stable.v2 as nw

    first, second = (nw.lit(of) if isinstance(of, float) else of for of in (then, otherwise))
    return nw.when(condition).then(first).otherwise(second)


# Edges at quantiles


def _blocks(cells: Cells, ranges: Floats | None) -> tuple[Floats, NDArray[np.int64]]:
    """Return each overlapping block's lowest score and row count, over all groups."""
    lows, highs = (cells.scores, cells.scores) if ranges is None else ranges
    n_rows = cells.negatives.astype(np.int64) + cells.positives.astype(np.int64)
    order = np.argsort(lows, kind="stable")
    lows, reached = lows[order], np.maximum.accumulate(highs[order])
    begins = np.flatnonzero(np.concatenate([[True], lows[1:] > reached[:-1]])[: lows.size])
    return lows[begins], np.add.reduceat(n_rows[order], begins) if begins.size else n_rows


def _firsts(total: NDArray[np.int64], limit: int, n_bins: int) -> list[int]:
    """Fill bins up to a limit from the lowest score on, and return each bin's first block.

    Return nothing if the limit needs more bins.
    """
    firsts, n_blocks = [0], total.size - 1
    while True:
        first = firsts[-1]
        following = int(np.searchsorted(total, total[first] + limit, side="right")) - 1
        following = max(following, first + 1)
        if following >= n_blocks:
            return firsts
        if len(firsts) == n_bins:
            return []
        firsts.append(following)
