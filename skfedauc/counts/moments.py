"""Sums by group that determine the AUC of each group and its variance, without scores.

Exact and binned counts compute these sums from cells; summaries keep them in place of cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells

Floats = NDArray[np.float64]

# Bound on the rounding error of the deviations of placement values from their mean. The error is
# largest for millions of weighted rows. A single discordant pair of m positives and n negatives
# gives the positives deviations with the root mean square 1 / (n sqrt(m)).
_ROUNDING_ERROR = 1e-10


class ClassRows(NamedTuple):
    """Numbers and weights of the rows in one class by group."""

    n: NDArray[np.int64]
    weight: Floats
    squares: Floats

    def others(self) -> ClassRows:
        """Return the class's rows in all other groups."""
        n, weight, squares = self
        return ClassRows(n.sum() - n, weight.sum() - weight, squares.sum() - squares)

    @property
    def pairs(self) -> Floats:
        """Return the weight of the ordered pairs of two different rows; 0 for a single row."""
        return np.where(self.n > 1, self.weight**2 - self.squares, 0.0)

    @property
    def effective(self) -> Floats:
        """Return Kish's effective sample size; 0 without rows."""
        return ratio(self.weight**2, self.squares, 0.0)

    @property
    def corrections(self) -> Floats:
        """DeLong's variance corrections for the estimated mean of the class in the group."""
        return ratio(self.weight**2, self.pairs, 1.0)

    def of_all(self) -> Self:
        """Return the rows of all groups (last axis) together."""
        return type(self)(*(of.sum(axis=-1, keepdims=True) for of in self))


class OwnMoments(NamedTuple):
    """Sums by group over rows, from placement values within the group."""

    positives_once: Floats
    positives_squared: Floats
    negatives_once: Floats
    negatives_squared: Floats
    comparisons: Floats
    comparisons_squared: Floats


def group_aucs(u2: NDArray[Any], negatives: ClassRows, positives: ClassRows) -> Floats:
    """Return each group's AUC; NaN if the group lacks a class."""
    pairs = negatives.weight * positives.weight
    return np.minimum(ratio(u2.astype(np.float64) / 2.0, pairs), 1.0)


def is_rounding_error(squared: Any, weights: Any) -> Any:
    """Return whether sums of squared deviations of placement values or AUCs are rounding error."""
    return squared <= _ROUNDING_ERROR**2 * weights


def ratio(part: Any, whole: Floats, otherwise: float = float("nan")) -> Floats:
    """Return part / whole, or `otherwise` where the whole is 0."""
    with np.errstate(all="ignore"):
        return np.where(whole > 0, part / whole, otherwise)


# Summaries


class Summary(NamedTuple):
    """Rows and row pairs by group, without scores.

    `u2` and `moments`, of shapes (n, n_groups) and (n, 6, n_groups), have twice Mann-Whitney's U
    and `OwnMoments`. For binned scores, n is 3, with the lowest and the highest AUCs.
    """

    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]
    weights: Floats | None
    u2: NDArray[Any]
    moments: Floats

    @property
    def starts(self) -> NDArray[np.intp]:
        """First row of each group, and the number of rows, as in cells: a row per group."""
        return np.arange(self.negatives.size + 1)

    @property
    def has_limits(self) -> bool:
        """Whether there are sums with the lowest and the highest AUCs."""
        return len(self.u2) > 1

    def take(self, groups: NDArray[np.intp]) -> Summary:
        """Return some groups' summary, in this order."""
        negatives, positives = self.negatives[groups], self.positives[groups]
        weights = None if self.weights is None else self.weights[:, groups]
        u2 = self.u2[:, groups]
        if u2.dtype.kind == "O":
            u2 = u2.astype(dtype_of_u2(negatives, positives))
        return Summary(negatives, positives, weights, u2, self.moments[..., groups])


def dtype_of_u2(n_negatives: NDArray[Any], n_positives: NDArray[Any]) -> np.dtype[Any]:
    """Return the type of twice U: uint64, or Python integers if a group has many pairs."""
    is_large = n_negatives.astype(np.float64) * n_positives > 2.0**62
    return np.dtype(object if is_large.any() else np.uint64)


def merged_summaries(
    parts: Sequence[Summary], numbers: Sequence[NDArray[np.intp]], n_groups: int
) -> Summary:
    if any(part.weights is not None for part in parts):
        parts = [
            part._replace(weights=weights_of(part), u2=part.u2.astype(np.float64)) for part in parts
        ]

    def joined(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        # Groups whose AUC is exact get it for the lowest and the highest AUC as well.
        rows = np.broadcast_shapes(*(of_part.shape[:-1] for of_part in values))
        found = np.zeros((*rows, n_groups), np.result_type(*values))
        for of_part, own in zip(values, numbers, strict=True):
            found[..., own] = of_part
        return found

    columns = zip(*parts, strict=True)
    merged: Any = [None if values[0] is None else joined(values) for values in columns]
    return Summary(*merged)


def weights_of(content: Cells | Summary) -> Floats:
    """Return sums of weights and squared weights by class; unweighted rows have weight 1."""
    if content.weights is not None:
        return content.weights
    counts = np.stack([content.negatives, content.positives]).astype(np.float64)
    return np.concatenate([counts, counts])


# Checks of summaries from files

# Relative tolerance for rounding
_CLOSE = 1e-6


def faults_of_summary(
    summary: Summary, negatives: ClassRows, positives: ClassRows
) -> Iterator[tuple[str, Any]]:
    """Yield what may be wrong with a summary, and whether it is, also by group."""
    is_finite = np.isfinite(summary.u2.astype(np.float64)).all()
    yield "its sums are not finite numbers", not (is_finite and np.isfinite(summary.moments).all())
    # Without weights, twice U is an exact number.
    near: Any = 0 if summary.weights is None else _CLOSE * (negatives.weight * positives.weight)
    names = ("", "lowest ", "highest ")
    for name, u2, moments in zip(names, summary.u2, summary.moments, strict=False):
        own = OwnMoments(*moments)
        pairs = u2.astype(np.float64)
        for what, is_wrong in _wrong_sums(pairs, own, negatives, positives, near):
            yield f"its {name}{what}", is_wrong
    if summary.has_limits:
        value, low, high = summary.u2
        is_wrong = np.asarray((low > value + near) | (value > high + near), np.bool_)
        yield "its u2 is not from lowest_u2 to highest_u2", is_wrong


def _wrong_sums(
    u2: Floats, moments: OwnMoments, negatives: ClassRows, positives: ClassRows, near: Any
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield phrases on impossible sums, each with the affected groups."""
    pairs, has_equal_weights = negatives.weight * positives.weight, np.ndim(near) == 0
    most = 2.0 * pairs + near
    yield "u2 is not from 0 to twice its number of pairs", _are_outside(u2, 0.0, most)
    auc = ratio(u2 / 2.0, pairs, 0.0)
    for name, rows, once, squared in (
        ("positives", positives, moments.positives_once, moments.positives_squared),
        ("negatives", negatives, moments.negatives_once, moments.negatives_squared),
    ):
        # A placement value differs from the AUC by at most the larger of A and 1 - A, and that of a
        # single row not at all.
        most = rows.squares * np.maximum(auc, 1.0 - auc) ** 2
        most = np.where((pairs > 0) & (rows.n > 1), most, 0.0)
        near = _CLOSE * rows.squares * (pairs > 0)
        yield f"{name}_squared is negative or too large", _are_outside(squared, 0.0, most + near)
        # Deviations with equal weights add up to 0. The other limit is that of Cauchy and Schwarz.
        limit = near if has_equal_weights else np.sqrt(rows.squares * (squared + near))
        yield f"{name}_once is too large", _are_outside(once, -limit, limit)
    once, squared = moments.comparisons, moments.comparisons_squared
    of_squares = np.where(pairs > 0, negatives.squares * positives.squares, 0.0)
    low, high = 1.0 - _CLOSE, 1.0 + _CLOSE
    # A comparison is 1, one half or 0, and its square is 1, one quarter or 0. The number of
    # comparisons above 0 is therefore 3 * comparisons - 2 * comparisons_squared.
    is_wrong = _are_outside(squared, once / 2.0 * low, once * high)
    is_wrong |= ~(3.0 * once - 2.0 * squared <= of_squares * high)
    yield "comparisons and comparisons_squared contradict each other", is_wrong
    if has_equal_weights:
        yield "comparisons are not half of u2", ~(np.abs(once - auc * pairs) <= once * _CLOSE)
        # The sum of squares of the comparisons, minus their mean, is at least the sum of squares
        # that the row means and the column means explain.
        explained = negatives.weight * moments.positives_squared
        explained += positives.weight * moments.negatives_squared
        whole = squared - auc**2 * pairs
        yield "sums of squares are too large for u2", ~(explained <= whole + _CLOSE * pairs)


def _are_outside(values: Floats, low: Floats | float, high: Floats) -> NDArray[np.bool_]:
    return ~((low <= values) & (values <= high))
