"""Define `Bins`, a rule that maps each score to a bin, so that a site can keep its scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells
from skfedauc.counts.bin_rules import (
    Edges,
    Probabilities,
    Rule,
    Scores,
    arguments_in,
    refines,
)
from skfedauc.counts.quantiles import quantile_edges

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

# Largest number of parts of an octave, which limits the memory of the bins
_MOST_PARTS = 1 << 16
# Limit of octaves plus bits of a part; within this limit, each bin next to 1 has a float64
_MOST_BITS = 51


class _Counts(Protocol):
    """Protocol of score counts, because the module of `ScoreCounts` imports this module."""

    @property
    def cells(self) -> Cells: ...
    @property
    def ranges(self) -> NDArray[np.float64] | None: ...


class Bins:
    """Rule that maps each score to a numbered bin, exact in float64.

    Score counts by bin disclose less than score counts by score: a site sends the number of rows of
    each class in each bin, and not the scores. `ScoreCounts.merge` adds up counts with equal
    `Bins`.

    Build `Bins` with `of_probabilities` (scores from 0 to 1), `of_scores` (scores of any range),
    `at` (cut points) or `of_quantiles` (cut points that sites agree on in one round).

    The numbers of the bins follow the order of the scores. Each bin has a lowest and a highest
    float64 score. There are no gaps between bins: the float64 above the highest score of a bin is
    the lowest score of the next bin.

    `Bins` are immutable and hashable. Two `Bins` are equal if the same constructor made them from
    the same arguments.

    Attributes
    ----------
    n_bins : int or None
        Number of bins; None for `of_scores`, which has about ``4094 * parts`` bins.

    See Also
    --------
    ScoreCounts.reduced : Score counts by bin.
    PrivateCounts : Counts by bin with noise for differential privacy.

    Notes
    -----
    Bins compare scores as float64. The conversion of a float32 score to float64 is exact, so the
    score is in the bin of its exact value: ``np.float32(0.1)`` is larger than 0.1.

    Examples
    --------
    >>> from skfedauc import Bins
    >>> bins = Bins.of_probabilities(octaves=3, parts=2)
    >>> bins.n_bins
    16
    >>> numbers = bins.numbers_of([0.0, 0.01, 0.3, 0.7, 1.0])
    >>> numbers.tolist()
    [0, 1, 6, 9, 15]
    >>> bins.ranges_of(numbers).round(4)
    array([[0.    , 0.    , 0.25  , 0.625 , 1.    ],
           [0.    , 0.0625, 0.375 , 0.75  , 1.    ]])
    """

    __slots__ = ("_rule",)

    _rule: Rule

    def __init__(self) -> None:
        raise TypeError(
            "Bins has no public constructor: use Bins.of_probabilities(), Bins.of_scores(), "
            "Bins.at(edges) or Bins.of_quantiles(counts, n_bins)."
        )

    @classmethod
    def _of(cls, rule: Rule) -> Bins:
        bins = object.__new__(cls)
        object.__setattr__(bins, "_rule", rule)
        return bins

    # Building ----------------------------------------------------------------------

    @classmethod
    def of_probabilities(cls, octaves: int = 20, parts: int = 64) -> Bins:
        """Return bins for scores from 0 to 1 that are narrower near 0 and near 1.

        Each score has the distance ``q = min(p, 1 - p)`` to the nearer of 0 and 1. Octaves cover
        the distances from ``2**-(octaves + 1)`` to 1/2: the largest distance of an octave is twice
        its smallest distance. Each octave has parts of equal width. The scores exactly 0 and
        exactly 1 have bins of their own. The distances between 0 and ``2**-(octaves + 1)`` also
        have bins of their own, one near 0 and one near 1.

        Parameters
        ----------
        octaves : int, default=20
            Number of octaves, 1 or more. The default reaches down to the distance 4.8e-7.
        parts : int, default=64
            Number of parts of each octave, a power of two up to 65,536. The width of a bin is at
            most ``1 / parts`` of its distance. ``octaves + log2(parts)`` may be at most 51, since
            float64 has no finer scores near 1.

        Returns
        -------
        Bins
            ``2 * (octaves * parts + 1) + 2`` bins, by default 2,564. The bins are symmetric: a
            score p above 0.5 and the score 1 - p are in bins of equal distance from the first and
            the last bin. The score 0.5 is in the upper half.

        Raises
        ------
        ValueError
            If an argument is not as described.

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
        return cls._of(Probabilities(octaves, parts))

    @classmethod
    def of_scores(cls, parts: int = 64) -> Bins:
        """Return bins for scores of any range: a fixed number of bins for each power of two.

        The sign of a score and the powers of two around its absolute value determine a range, which
        has parts of equal width. The score 0 has a bin of its own.

        Parameters
        ----------
        parts : int, default=64
            Number of parts between two powers of two, a power of two up to 65,536. The width of
            a bin is at most ``1 / parts`` of its scores, except below 2.3e-308.

        Returns
        -------
        Bins
            Bins with ``n_bins=None``. The number of the bin of ``-score`` is the negative number of
            the bin of ``score``; 0 is the number of the bin of the score 0.

        Raises
        ------
        ValueError
            If `parts` is not as described.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> bins = Bins.of_scores(parts=4)
        >>> bins.ranges_of(bins.numbers_of([-3.2, 0.0, 1.6])).round(2)
        array([[-3.5 ,  0.  ,  1.5 ],
               [-3.  ,  0.  ,  1.75]])
        """
        return cls._of(Scores(_check_parts(parts)))

    @classmethod
    def at(cls, edges: ArrayLike) -> Bins:
        """Return bins between cut points.

        Parameters
        ----------
        edges : array-like of shape (n_edges,)
            Finite cut points in increasing order, at least one. A cut point is the lowest score of
            a bin. The scores below the first cut point are also a bin.

        Returns
        -------
        Bins
            ``n_edges + 1`` bins for scores of any range.

        Raises
        ------
        ValueError, TypeError
            If `edges` is not as described.

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
        return cls._of(Edges(tuple(checked.tolist())))

    @classmethod
    def of_quantiles(cls, counts: _Counts, n_bins: int) -> Bins:
        """Return bins with about equal numbers of rows, from counts of all sites.

        Sites agree on these bins in one round: each site sends binned counts of earlier rows, and
        receives the cut points. The certain intervals of AUCs are mostly narrower than with the
        same number of fixed bins. The intervals are never narrower than the certain intervals of
        `counts`, because the cut points are edges of the bins of `counts`. Use many bins in this
        round.

        Parameters
        ----------
        counts : ScoreCounts
            Counts of the rows of all sites and groups, usually binned. The method ignores weights.
        n_bins : int
            Largest number of bins, 2 or more.

        Returns
        -------
        Bins
            Bins of `at`, whose edges are edges of the bins (or scores) of `counts`. The edges
            minimize the limit on the number of rows of a bin. A single bin or score of `counts`
            with more rows than the limit is a bin of its own.

        Raises
        ------
        ValueError
            If `n_bins` is below 2, or all rows of `counts` have one score or are in one bin.
        DisclosureError
            If `counts` are a summary, which has no scores.
        TypeError
            If `counts` is no `ScoreCounts`.

        Examples
        --------
        Two sites count by fixed bins. The coordinator adds up the counts, and returns the edges:

        >>> from skfedauc import Bins, ScoreCounts
        >>> scores = {"va": [0.02, 0.03, 0.04, 0.3], "oslo": [0.01, 0.05, 0.06, 0.9]}
        >>> of_sites = [
        ...     ScoreCounts.from_predictions([0, 0, 1, 1], scores[site], disclosure="bins")
        ...     for site in scores
        ... ]
        >>> bins = Bins.of_quantiles(ScoreCounts.merge(of_sites), n_bins=4)
        >>> bins.numbers_of(scores["va"]), bins.numbers_of(scores["oslo"])
        (array([0, 1, 1, 3]), array([0, 2, 2, 3]))

        The sites then count their next rows by these bins:

        >>> ScoreCounts.from_predictions([0, 1, 1], [0.01, 0.05, 0.8], disclosure=bins)
        ScoreCounts(no groups, 3 rows: 2 positives and 1 negative, 3 bins)
        """
        if not hasattr(counts, "cells") or not hasattr(counts, "ranges"):
            raise TypeError(f"counts must be a ScoreCounts; got {_words.described(counts)}.")
        n_bins = _input.check_whole_number(n_bins, "n_bins", at_least=2)
        edges = quantile_edges(counts.cells, counts.ranges, n_bins)
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
            A mapping with the keys of `to_dict`, for instance from JSON.

        Returns
        -------
        Bins

        Raises
        ------
        ValueError, TypeError
            If `state` is not a mapping that `to_dict` returned.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.from_dict({"rule": "at", "edges": [0.1, 0.5]})
        Bins.at([0.1, 0.5])
        """
        makers: dict[str, Callable[..., Bins]] = {
            "of_probabilities": cls.of_probabilities,
            "of_scores": cls.of_scores,
            "at": cls.at,
        }
        rule, arguments = arguments_in(state)
        return makers[rule](**arguments)

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the arguments of the constructor as a mapping for JSON.

        Returns
        -------
        dict
            The name of the constructor as ``"rule"``, and the arguments by name: integers, and the
            edges as a list of floats. Bins of `of_quantiles` have the rule ``"at"``.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.of_scores(parts=16).to_dict()
        {'rule': 'of_scores', 'parts': 16}
        """
        return self._rule.state

    # Bins --------------------------------------------------------------------------

    @property
    def n_bins(self) -> int | None:
        """Number of bins; None for `of_scores`."""
        if isinstance(self._rule, Scores):
            return None
        return self._rule.last - self._rule.first + 1

    def numbers_of(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Return the number of the bin of each score.

        Parameters
        ----------
        scores : array-like of shape (n_scores,)
            Finite scores, which are from 0 to 1 for `of_probabilities`.

        Returns
        -------
        ndarray of int64, shape (n_scores,)
            Numbers in the order of the scores, from 0 to ``n_bins - 1``; `of_scores` also has
            negative numbers.

        Raises
        ------
        ValueError, TypeError
            If `scores` is not as described.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.of_probabilities(octaves=3, parts=2).numbers_of([0.0, 0.49, 0.5, 1.0])
        array([ 0,  7,  8, 15])
        """
        checked = _input.check_scores(scores, "scores")
        low, high = self._rule.domain
        if checked.size and (checked.min() < low or checked.max() > high):
            raise ValueError(
                "scores must be from 0 to 1 for Bins.of_probabilities; got scores from "
                f"{checked.min()} to {checked.max()}. Bins.of_scores() has bins for all scores."
            )
        return self._rule.numbers(np.ascontiguousarray(checked))

    def ranges_of(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Return the lowest and the highest score of each bin.

        Parameters
        ----------
        numbers : array-like of int, shape (n_numbers,)
            Numbers of bins, as `numbers_of` returns.

        Returns
        -------
        ndarray of shape (2, n_numbers)
            The lowest and the highest float64 score of each bin. The bin includes both scores. A
            bin without a lower or upper limit ends at the lowest or highest float64.

        Raises
        ------
        ValueError, TypeError
            If an item of the argument is no number of a bin.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.at([0.25, 0.5]).ranges_of([1]).tolist()
        [[0.25], [0.49999999999999994]]
        """
        return self._rule.ranges(self._check_numbers(numbers))

    def scores_of(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Return the score that represents each bin.

        Parameters
        ----------
        numbers : array-like of int, shape (n_numbers,)
            Numbers of bins, as `numbers_of` returns.

        Returns
        -------
        ndarray of shape (n_numbers,)
            The middle of the lowest and the highest score of each bin. The middle belongs to the
            bin, and increases with the number. The representative of a bin of `at` without a lower
            or upper limit is the score of the bin next to the edge.

        Raises
        ------
        ValueError, TypeError
            If an item of the argument is no number of a bin.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> Bins.of_probabilities(octaves=3, parts=2).scores_of([0, 4, 15]).round(4)
        array([0.    , 0.1562, 1.    ])
        """
        checked = self._check_numbers(numbers)
        low, high = self._rule.ranges(checked)
        # No difference overflows, because the bins of `of_scores` are narrow.
        if isinstance(self._rule, Edges):
            low = np.where(checked == 0, high, low)
            high = np.where(checked == self._rule.last, low, high)
        with np.errstate(over="ignore"):
            half = (high - low) / 2
        # The difference of two edges may be larger than the largest float.
        middle: NDArray[np.float64] = np.where(np.isfinite(half), low + half, low / 2 + high / 2)
        return middle

    def expression(self, score: nw.Expr) -> nw.Expr:
        """Return the number of the bin as a narwhals expression, for tables in other engines.

        The expression is exact: databases and lazy tables compute the numbers of `numbers_of`.
        `ScoreCounts.from_table` uses the expression.

        Parameters
        ----------
        score : narwhals.stable.v2.Expr
            Column of scores in float64; ``nw.col("risk").cast(nw.Float64)`` converts float32.

        Returns
        -------
        narwhals.stable.v2.Expr
            The number as Int64, or ``-2**40`` for a score that the expression leaves to
            `numbers_of`. Such scores are missing, NaN or infinite. For `of_probabilities`, such
            scores also include scores outside the range from 0 to 1. For `of_scores`, such scores
            also include nonzero scores with an absolute value below ``2**-64`` (5.4e-20) or of
            ``2**64`` (1.8e19) or more.

        Notes
        -----
        The length of the expression is proportional to the number of octaves; the number of parts
        does not matter. For `at`, the length is proportional to the number of edges.

        Examples
        --------
        >>> import narwhals.stable.v2 as nw
        >>> import polars as pl
        >>> from skfedauc import Bins
        >>> table = nw.from_native(pl.LazyFrame({"risk": [0.0, 0.3, 1.0, 1.5]}))
        >>> number = Bins.of_probabilities(octaves=3, parts=2).expression(nw.col("risk"))
        >>> table.select(number=number).collect()["number"].to_list()
        [0, 6, 15, -1099511627776]
        """
        from skfedauc.counts.bin_expressions import expression_of

        return expression_of(self._rule, score)

    def refines(self, other: Bins) -> bool:
        """Return whether each bin is within a single bin of `other`.

        Counts by these bins then give the counts by the bins of `other`.

        Parameters
        ----------
        other : Bins
            Bins that may be coarser.

        Returns
        -------
        bool
            False if these bins have scores that `other` does not accept.

        Raises
        ------
        TypeError
            If `other` is not `Bins`.

        Examples
        --------
        >>> from skfedauc import Bins
        >>> fine, coarse = Bins.of_probabilities(parts=64), Bins.of_probabilities(parts=16)
        >>> fine.refines(coarse), coarse.refines(fine)
        (True, False)
        """
        if not isinstance(other, Bins):
            raise TypeError(f"other must be Bins; got {_words.described(other)}.")
        return refines(self._rule, other._rule)

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

    # Objects -----------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return self._rule == other._rule if isinstance(other, Bins) else NotImplemented

    def __hash__(self) -> int:
        return hash((Bins, self._rule))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Bins is immutable; {name} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Bins is immutable; {name} cannot be deleted.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Bins.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        state = self._rule.state
        rule, edges = state.pop("rule"), state.get("edges")
        if edges is None:
            arguments = ", ".join(f"{name}={value}" for name, value in state.items())
            return f"Bins.{rule}({arguments})"
        if len(edges) > 8:
            return f"Bins.at([{edges[0]}, {edges[1]}, ..., {edges[-1]}])  # {len(edges)} edges"
        return f"Bins.at({edges})"


def _check_parts(parts: Any) -> int:
    """Return the number of parts; raise an error unless the number is a power of two."""
    parts = _input.check_whole_number(parts, "parts")
    if parts > _MOST_PARTS or parts & (parts - 1):
        raise ValueError(
            f"parts must be a power of two up to {_MOST_PARTS:,}, such as 64; got "
            f"{_words.shortened(parts)}."
        )
    return int(parts)
