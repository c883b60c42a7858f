"""Checks of summaries from a file or a pickle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ClassRows, OwnMoments, ratio
from skfedauc.counts.summary import PairSums, Summary, dtype_of_u2

# Relative tolerance for rounding
_CLOSE = 1e-6


def wrong_arrays(summary: Summary) -> str | None:
    """Return why the arrays cannot belong to a summary; None for valid types and sizes."""
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
    """Return why no rows can have this summary; None without a contradiction.

    The module `integrity` checks the numbers of rows and the sums of weights.
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
    """Yield phrases on impossible sums, each with the affected groups."""
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
