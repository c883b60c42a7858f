"""Summaries by group: class counts, concordant pairs and the sums for variances, without scores.

A summary determines the AUC of each group and the variance of this AUC. Pairs of rows of different
groups need the scores, which a summary does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, Concordance
from skfedauc.counts.moments import ClassRows, OwnMoments, ratio

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
        both; None if every row has weight 1.
    sums : PairSums
        Sums over the pairs of rows.
    lowest, highest : PairSums or None
        Sums for the lowest and for the highest AUC that ranges of scores permit; None if the
        scores were known exactly.
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
        of_classes = self.n_negatives, self.n_positives
        weights = of_classes if self.weights is None else tuple(self.weights[:2])
        return Concordance(*of_classes, *weights, self.sums.u2)  # type: ignore[call-arg]

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
        of_classes = self.n_negatives[groups], self.n_positives[groups]

        def taken(sums: PairSums | None) -> PairSums | None:
            if sums is None:
                return None
            moments = OwnMoments(*(values[groups] for values in sums.moments))
            return PairSums(_compact(sums.u2[groups], *of_classes), moments)

        weights = None if self.weights is None else self.weights[:, groups]
        return Summary(*of_classes, weights, *map(taken, self[3:]))  # type: ignore[arg-type]

    def over(self, exponent: int) -> Summary:
        """Divide the weights by two to the power `exponent`, which is exact."""
        if self.weights is None or exponent == 0:
            return self
        powers = exponent * np.array([[1], [1], [2], [2]])
        sums = (None if of is None else _over(of, exponent) for of in self[3:])
        return Summary(*self[:2], np.ldexp(self.weights, -powers), *sums)  # type: ignore[arg-type]


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
    """Refuse weights whose products are outside the range of floats.

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
        For each part, the new numbers of its groups. No two groups have the same number.
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

    def joined_sums(of_parts: Sequence[PairSums | None]) -> PairSums | None:
        known = [sums for sums in of_parts if sums is not None]
        if not known:
            return None
        moments = zip(*(sums.moments for sums in known), strict=True)
        return PairSums(joined([sums.u2 for sums in known]), OwnMoments(*map(joined, moments)))

    weights = [part.weights for part in alike if part.weights is not None]
    return Summary(
        joined([part.n_negatives for part in alike]),
        joined([part.n_positives for part in alike]),
        joined(weights) if weights else None,
        *(joined_sums(of_parts) for of_parts in zip(*(part[3:] for part in alike), strict=True)),  # type: ignore[arg-type]
    )


def _with(part: Summary, is_weighted: bool, has_extremes: bool) -> Summary:
    """Return the part with weights and extremes, if other parts have them."""
    if is_weighted and part.weights is None:
        counts = np.stack([part.n_negatives, part.n_positives]).astype(np.float64)
        as_floats = (
            None if of is None else of._replace(u2=of.u2.astype(np.float64)) for of in part[3:]
        )
        part = Summary(*part[:2], np.concatenate([counts, counts]), *as_floats)  # type: ignore[arg-type]
    if has_extremes and part.lowest is None:
        part = part._replace(lowest=part.sums, highest=part.sums)
    return part


# Checks --------------------------------------------------------------------------------------

# Relative tolerance for rounding
_CLOSE = 1e-6


def wrong_arrays(summary: Summary) -> str | None:
    """Return why the arrays cannot be those of a summary; None if types and sizes are right."""
    negatives, positives, weights, *of_pairs = summary
    floats: list[Any] = [] if weights is None else [weights]
    known = [sums for sums in of_pairs if sums is not None]
    if (summary.lowest is None) != (summary.highest is None) or summary.sums is None:
        return "its sums are incomplete"
    for sums in known:
        if not isinstance(sums, PairSums) or not isinstance(sums.moments, OwnMoments):
            return "its sums are incomplete"
        floats += [*sums.moments, *([] if weights is None else [sums.u2])]
    arrays = [negatives, positives, *floats, *(sums.u2 for sums in known)]
    if not all(isinstance(array, np.ndarray) for array in arrays):
        return "it has no arrays of groups"
    if weights is not None and weights.shape[:-1] != (4,):
        return "its weights do not match its groups"
    n_groups = negatives.size
    if any(array.shape[-1:] != (n_groups,) for array in arrays) or any(
        array.ndim != 1 for array in arrays if array is not weights
    ):
        return "its sums do not match its groups"
    if negatives.dtype != np.int64 or positives.dtype != np.int64:
        return "its numbers of rows are not integers"
    if not all(array.dtype == np.float64 and np.isfinite(array).all() for array in floats):
        return "its sums are not finite numbers"
    if weights is not None:
        return None
    wanted = dtype_of_u2(negatives, positives)
    is_whole = all(
        sums.u2.dtype == wanted and all(type(value) is int for value in sums.u2.tolist())
        for sums in known
    )
    return None if is_whole else "its u2 are not whole numbers"


def wrong_summary(summary: Summary) -> str | None:
    """Return why no rows have this summary; None if no contradiction is found.

    `integrity` checks the numbers of rows and the sums of weights, as it does for cells.
    """
    negatives, positives = summary.rows_by_class
    pairs = negatives.weight * positives.weight
    # Without weights, twice U is an exact number.
    near: Any = 0 if summary.weights is None else _CLOSE * pairs
    for name, sums in zip(("", "lowest ", "highest "), summary[3:], strict=True):
        if sums is None:
            continue
        u2 = sums.u2.astype(np.float64)
        is_wrong = ~((u2 >= 0) & (u2 <= 2.0 * pairs + near))
        if is_wrong.any():
            return f"its {name}u2 is not from 0 to twice its number of pairs{_at(is_wrong)}"
        for what, is_wrong in _wrong_moments(sums, negatives, positives, summary.weights is None):
            if is_wrong.any():
                return f"its {name}{what}{_at(is_wrong)}"
    if summary.lowest is not None and summary.highest is not None:
        low, value, high = (of.u2 for of in (summary.lowest, summary.sums, summary.highest))
        is_wrong = np.asarray((low > value + near) | (value > high + near), np.bool_)
        if is_wrong.any():
            return f"its u2 is not from lowest_u2 to highest_u2{_at(is_wrong)}"
    return None


def _wrong_moments(
    sums: PairSums, negatives: ClassRows, positives: ClassRows, has_equal_weights: bool
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield phrases on impossible sums, each with the groups to which the phrase applies."""
    moments = sums.moments
    pairs = negatives.weight * positives.weight
    auc = ratio(sums.u2.astype(np.float64) / 2.0, pairs, 0.0)
    for name, rows, once, squared in (
        ("positives", positives, moments.positives_once, moments.positives_squared),
        ("negatives", negatives, moments.negatives_once, moments.negatives_squared),
    ):
        # A placement value differs from the AUC by at most the larger of A and 1 - A.
        most = np.where(pairs > 0, rows.squares * np.maximum(auc, 1.0 - auc) ** 2, 0.0)
        near = _CLOSE * rows.squares * (pairs > 0)
        yield (
            f"{name}_squared is negative or too large",
            ~((squared >= 0) & (squared <= most + near)),
        )
        # By the inequality of Cauchy and Schwarz
        yield (
            f"{name}_once is too large",
            ~(np.abs(once) <= np.sqrt(rows.squares * (squared + near))),
        )
        yield f"{name}_squared is not 0 for a single row", (rows.n == 1) & ~(squared <= near)
        if has_equal_weights:
            yield f"{name}_once is not 0", ~(np.abs(once) <= near)
    once, squared = moments.comparisons, moments.comparisons_squared
    of_squares = np.where(pairs > 0, negatives.squares * positives.squares, 0.0)
    low, high = 1.0 - _CLOSE, 1.0 + _CLOSE
    # A comparison is 1, one half or 0, and its square is 1, one quarter or 0. The number of
    # comparisons above 0 is therefore 3 * comparisons - 2 * comparisons_squared.
    is_possible = (squared >= once / 2.0 * low) & (squared <= once * high)
    is_possible &= 3.0 * once - 2.0 * squared <= of_squares * high
    yield "comparisons and comparisons_squared contradict each other", ~is_possible
    if has_equal_weights:
        yield "comparisons are not half of u2", ~(np.abs(once - auc * pairs) <= once * _CLOSE)
        # The sum of squares of the comparisons, minus their mean, is at least the sum of squares
        # that the row means and the column means explain.
        explained = negatives.weight * moments.positives_squared
        explained += positives.weight * moments.negatives_squared
        whole = squared - auc**2 * pairs
        yield "sums of squares are too large for u2", ~(explained <= whole + _CLOSE * pairs)


def _at(is_wrong: NDArray[np.bool_]) -> str:
    """Return a phrase with the first wrong group."""
    return f", in group {int(np.argmax(is_wrong))}"
