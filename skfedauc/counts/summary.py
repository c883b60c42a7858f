"""Summaries by group: class counts, concordant pairs and sums for variances, without scores.

A summary determines the AUC of each group and the variance of this AUC. Pairs of rows of different
groups need scores, so a summary does not determine results for these pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.moments import ClassRows, OwnMoments

Floats = NDArray[np.float64]

# Largest binary exponent of the mean weight. Sums of products of four weights stay within the range
# of floats, which reaches 2**1023.
_MOST_EXPONENT = 200
# Twice U is a Python integer if a group has more pairs than this number.
_MOST_PAIRS = 2.0**62


class PairSums(NamedTuple):
    """Sums by group over the pairs of rows within the group.

    Attributes
    ----------
    u2 : ndarray of uint64, object or float64, shape (n_groups,)
        Twice Mann-Whitney's U, as in `Concordance`.
    moments : OwnMoments
        Sums for the variance of the AUC; 0 for groups that lack a class.
    """

    u2: NDArray[Any]
    moments: OwnMoments


class Summary(NamedTuple):
    """Rows and pairs of rows by group, without scores.

    Attributes
    ----------
    n_negatives, n_positives : ndarray of int64, shape (n_groups,)
        Numbers of rows.
    weights : None or ndarray of float64, shape (4, n_groups)
        Sums of the weights of negatives and of positives, then sums of the squared weights of
        negatives and of positives; None if every row has weight 1.
    sums : PairSums
        Sums over the pairs of rows.
    lowest, highest : PairSums or None
        Sums for the lowest and for the highest AUC that ranges of scores permit; None for summaries
        of exact counts.
    """

    n_negatives: NDArray[np.int64]
    n_positives: NDArray[np.int64]
    weights: Floats | None
    sums: PairSums
    lowest: PairSums | None = None
    highest: PairSums | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.n_negatives.size

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays, in the order of the attributes."""
        weights = [] if self.weights is None else [self.weights]
        known = [sums for sums in self[3:] if sums is not None]
        of_pairs = [array for sums in known for array in (sums.u2, *sums.moments)]
        return [self.n_negatives, self.n_positives, *weights, *of_pairs]

    @property
    def concordance(self) -> Concordance:
        """Rows and concordant pairs of each group."""
        of_rows = self.n_negatives, self.n_positives
        if self.weights is None:
            return Concordance(*of_rows, *of_rows, self.sums.u2)
        return Concordance(*of_rows, self.weights[0], self.weights[1], self.sums.u2)

    @property
    def rows_by_class(self) -> tuple[ClassRows, ClassRows]:
        """Rows of the negatives and of the positives of each group."""
        found = []
        for place, n in enumerate((self.n_negatives, self.n_positives)):
            of_rows = [n.astype(np.float64)] * 2 if self.weights is None else self.weights[place::2]
            found.append(ClassRows(n, *of_rows))
        return found[0], found[1]

    @property
    def extremes(self) -> tuple[Summary, Summary]:
        """Summaries of the same rows with the lowest and with the highest AUCs."""
        low, high = self.lowest or self.sums, self.highest or self.sums
        rows = self._replace(lowest=None, highest=None)
        return rows._replace(sums=low), rows._replace(sums=high)

    def take(self, groups: NDArray[np.intp]) -> Summary:
        """Return the summary of some groups, in this order."""
        negatives, positives = self.n_negatives[groups], self.n_positives[groups]

        def taken(sums: PairSums) -> PairSums:
            moments = OwnMoments(*(values[groups] for values in sums.moments))
            return PairSums(_compact(sums.u2[groups], negatives, positives), moments)

        weights = None if self.weights is None else self.weights[:, groups]
        rows = self._replace(n_negatives=negatives, n_positives=positives, weights=weights)
        return rows.with_sums(taken)

    def over(self, exponent: int) -> Summary:
        """Return the summary with weights divided by ``2**exponent``, without rounding."""
        if self.weights is None or exponent == 0:
            return self
        powers = exponent * np.array([[1], [1], [2], [2]])
        rows = self._replace(weights=np.ldexp(self.weights, -powers))
        return rows.with_sums(lambda sums: _over(sums, exponent))

    def with_sums(self, change: Callable[[PairSums], PairSums]) -> Summary:
        """Return the summary of the same rows with changed sums over pairs."""
        return self._replace(
            sums=change(self.sums),
            lowest=None if self.lowest is None else change(self.lowest),
            highest=None if self.highest is None else change(self.highest),
        )


def _over(sums: PairSums, exponent: int) -> PairSums:
    # The first four moments are sums of squared weights. The last two are sums of products of two
    # squared weights.
    moments = (
        np.ldexp(values, -power * exponent)
        for values, power in zip(sums.moments, (2, 2, 2, 2, 4, 4), strict=True)
    )
    return PairSums(np.ldexp(sums.u2, -2 * exponent), OwnMoments(*moments))


def _compact(
    u2: NDArray[Any], n_negatives: NDArray[np.int64], n_positives: NDArray[np.int64]
) -> NDArray[Any]:
    """Return twice U as unsigned 64-bit integers unless a group has too many pairs."""
    return u2.astype(dtype_of_u2(n_negatives, n_positives)) if u2.dtype.kind == "O" else u2


def dtype_of_u2(n_negatives: NDArray[Any], n_positives: NDArray[Any]) -> np.dtype[Any]:
    """Return the type of twice U: unsigned 64-bit integers unless a group has too many pairs."""
    is_large = n_negatives.astype(np.float64) * n_positives > _MOST_PAIRS
    return np.dtype(object if is_large.any() else np.uint64)


def arrays_of(content: Cells | Summary, ranges: Floats | None) -> list[NDArray[Any]]:
    """Return the arrays of score counts, except the labels of the groups."""
    if isinstance(content, Summary):
        return content.arrays
    return [array for array in (*content, ranges) if array is not None]


def check_exponent(exponent: int) -> None:
    """Raise an error for weights whose products are outside the range of floats.

    Raises
    ------
    ValueError
        If the mean weight is above 2**200 or below 2**-200.
    """
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(
            f"the mean weight of the rows is about 2**{exponent}; a summary needs a mean weight "
            f"from 2**-{_MOST_EXPONENT} to 2**{_MOST_EXPONENT}. Divide the weights by a constant: "
            "AUCs and variances do not depend on the constant."
        )


def pair_sums(found: Concordance, moments: OwnMoments) -> PairSums:
    """Return sums over pairs of rows, with moments of 0 for groups that lack a class."""
    is_defined = (found.n_negatives > 0) & (found.n_positives > 0)
    return PairSums(found.u2, OwnMoments(*(np.where(is_defined, of, 0.0) for of in moments)))


# Merging -------------------------------------------------------------------------------------


def merged_summaries(
    parts: Sequence[Summary], numbers: Sequence[NDArray[np.intp]], n_groups: int
) -> Summary:
    """Merge summaries of different groups.

    Parameters
    ----------
    parts : sequence of Summary
    numbers : sequence of ndarray of intp
        New group numbers of each part. No two groups have the same number.
    n_groups : int
        Number of groups of the result.
    """
    is_weighted = any(part.weights is not None for part in parts)
    has_extremes = any(part.lowest is not None for part in parts)
    alike = [_with(part, is_weighted, has_extremes) for part in parts]

    def joined(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        found = np.zeros((*values[0].shape[:-1], n_groups), np.result_type(*values))
        for of_part, own in zip(values, numbers, strict=True):
            found[..., own] = of_part
        return found

    def joined_sums(of_parts: Sequence[PairSums]) -> PairSums:
        moments = zip(*(sums.moments for sums in of_parts), strict=True)
        return PairSums(joined([sums.u2 for sums in of_parts]), OwnMoments(*map(joined, moments)))

    weights = [part.weights for part in alike if part.weights is not None]
    lowest = [part.lowest for part in alike if part.lowest is not None]
    highest = [part.highest for part in alike if part.highest is not None]
    return Summary(
        joined([part.n_negatives for part in alike]),
        joined([part.n_positives for part in alike]),
        joined(weights) if weights else None,
        joined_sums([part.sums for part in alike]),
        joined_sums(lowest) if lowest else None,
        joined_sums(highest) if highest else None,
    )


def _with(part: Summary, is_weighted: bool, has_extremes: bool) -> Summary:
    """Return the part with weights and extremes, if another part has weights or extremes."""
    if is_weighted and part.weights is None:
        counts = np.stack([part.n_negatives, part.n_positives]).astype(np.float64)
        part = part._replace(weights=np.concatenate([counts, counts]))
        part = part.with_sums(lambda sums: sums._replace(u2=sums.u2.astype(np.float64)))
    if has_extremes and part.lowest is None:
        part = part._replace(lowest=part.sums, highest=part.sums)
    return part
