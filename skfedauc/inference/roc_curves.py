"""ROC curves, the area between two curves (ABROCA), and its null distribution.

References
----------
.. [1] Gardner, J., Brooks, C. and Baker, R. (2019). Evaluating the fairness of predictive
   student models through slicing analysis. LAK 9. https://doi.org/10.1145/3303772.3303791
.. [2] Pepe, M. S. and Cai, T. (2004). The analysis of placement values for evaluating
   discriminatory measures. Biometrics 60(2).
   https://doi.org/10.1111/j.0006-341X.2004.00200.x
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells, number_cells

Floats = NDArray[np.float64]

# Largest number of rows that the bootstrap draws one by one. With more rows, the bootstrap draws
# counts on a grid with `_GRID` intervals.
_MOST_ROWS, _GRID = 1 << 16, 1024
# Largest number of heights in a mean of curves at all false positive rates, and number of rates for
# more heights
_MOST_HEIGHTS, _RATES = 1 << 24, 4096


class RocCurve(NamedTuple):
    """Corners of an ROC curve from (0, 0) to (1, 1); a tie block makes a straight segment.

    Attributes
    ----------
    fpr, tpr : ndarray of float64, shape (n_scores + 1,)
        False and true positive rates.
    """

    fpr: Floats
    tpr: Floats

    @classmethod
    def of(cls, negatives: NDArray[Any], positives: NDArray[Any]) -> RocCurve | None:
        """Return the curve of class weights at ascending scores; None if a class has no weight."""
        if not (negatives.any() and positives.any()):
            return None
        return cls(_shares(negatives), _shares(positives))

    @property
    def area(self) -> float:
        """Area under the curve, which is the AUC."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @property
    def turns(self) -> RocCurve:
        """Curve without the corners inside horizontal and vertical lines."""
        rises, advances = np.diff(self.tpr) > 0, np.diff(self.fpr) > 0
        inside = (rises[1:] == rises[:-1]) & (advances[1:] == advances[:-1])
        inside &= rises[1:] != advances[1:]
        kept = np.concatenate([[True], ~inside, [True]])
        return RocCurve(self.fpr[kept], self.tpr[kept])


class RocCurves:
    """ROC curves of each group, and of all other groups together."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    def of_group(self, g: int) -> RocCurve | None:
        """Return the curve of one group."""
        mine = slice(self._cells.starts[g], self._cells.starts[g + 1])
        negatives, positives = self._cells.amounts
        return RocCurve.of(negatives[mine], positives[mine])

    def of_others(self, g: int) -> RocCurve | None:
        """Return the curve of the rows of all other groups together."""
        tie, n_scores = self._ties
        others = np.ones(tie.size, np.bool_)
        others[self._cells.starts[g] : self._cells.starts[g + 1]] = False
        of_others = tie.compress(others)
        negatives, positives = (
            np.bincount(of_others, amounts.compress(others), n_scores)
            for amounts in self._cells.amounts
        )
        return RocCurve.of(negatives, positives)

    @functools.cached_property
    def _ties(self) -> tuple[NDArray[np.int64], int]:
        """Index of each cell's score among the distinct scores, and the number of these scores."""
        tie, starts = number_cells(self._cells.scores)
        return tie, int(starts[-1])


def _shares(weights: NDArray[Any]) -> Floats:
    sums = np.append(0.0, np.cumsum(weights[::-1], dtype=np.float64))
    shares: Floats = sums / sums[-1]
    return shares


def mean_curve(curves: Sequence[RocCurve], weights: Sequence[float]) -> RocCurve:
    """Return the weighted mean of curves at each false positive rate.

    The area under the mean curve is the weighted mean of the areas, because all curves are linear
    between corners. A vertical segment of a curve is also a vertical segment of the mean curve,
    with its length multiplied by the weight of the curve.

    The mean of many long curves omits rates that are closer than 1 / 4,096. The area then differs
    by at most this number.
    """
    if len(curves) == 1:
        return curves[0]
    fpr = np.unique(np.concatenate([curve.fpr for curve in curves]))
    if fpr.size * len(curves) > _MOST_HEIGHTS:
        is_new = np.diff(np.floor(fpr * _RATES)) > 0
        fpr = fpr[np.append(True, is_new) | np.append(is_new, True)]
    # `before` and `after` are the heights just left and just right of each rate: 0 left of rate 0,
    # and 1 right of rate 1.
    before, after = np.zeros(fpr.size), np.zeros(fpr.size)
    for curve, weight in zip(curves, weights, strict=True):
        before[1:] += weight * _at(curve, fpr[1:], "left")
        after[:-1] += weight * _at(curve, fpr[:-1], "right")
    # Sum the weights in the order of the sums of heights, which makes a height of 1 exact.
    total = sum(weights)
    before, after = before / total, after / total
    after[-1] = 1.0
    return RocCurve(np.repeat(fpr, 2), np.column_stack([before, after]).ravel())


def area_between(one: RocCurve, other: RocCurve) -> float:
    """Return the exact area between two curves (ABROCA) [1]_.

    Both curves are linear between any two adjacent corners.
    """
    one, other = one.turns, other.turns
    corners = np.union1d(one.fpr, other.fpr)
    begin, end = corners[:-1], corners[1:]
    first = _at(one, begin, "right") - _at(other, begin, "right")
    last = _at(one, end, "left") - _at(other, end, "left")
    heights = np.abs(first) + np.abs(last)
    # If the curves cross, the area is two triangles instead of a trapezoid.
    crossed = (first**2 + last**2) / np.where(heights > 0, heights, 1.0)
    area = np.where(first * last < 0, crossed, heights)
    return float(((end - begin) * area).sum() / 2.0)


def _at(curve: RocCurve, fpr: Floats, side: Literal["left", "right"]) -> Floats:
    """Return the height of the curve just left or right of each rate."""
    upper = np.searchsorted(curve.fpr, fpr, side)
    lower = upper - 1
    begin, low = curve.fpr[lower], curve.tpr[lower]
    slope = (curve.tpr[upper] - low) / (curve.fpr[upper] - begin)
    return low + (fpr - begin) * slope


def null_areas(
    curves: tuple[RocCurve, RocCurve],
    n_negatives: tuple[int, int],
    n_positives: tuple[int, int],
    n_resamples: int,
    random: np.random.RandomState,
) -> Floats:
    """Draw areas between curves under the null hypothesis that both samples have the same curve.

    The areas come from a bootstrap of placement values. Here, the placement value of a positive is
    the share of its group's negatives that score above the positive. If both groups have the same
    curve, their placement values have the same distribution [2]_. The bootstrap draws the placement
    values of positives from the pooled placement values of both groups, uniformly within a tie
    block. The placement values of negatives are uniform on [0, 1]. Drawn rows in the same tie block
    of their group have a tie.

    With more than `_MOST_ROWS` rows, the bootstrap draws the number of rows between neighboring
    edges instead. The edges are the corners of both curves and the points of a grid, so the time
    does not depend on the number of rows.
    """
    if sum(n_negatives) + sum(n_positives) > _MOST_ROWS:
        return _null_areas_by_numbers(curves, n_negatives, n_positives, n_resamples, random)
    begin = np.concatenate([curve.fpr[:-1] for curve in curves])
    width = np.concatenate([curve.fpr[1:] for curve in curves]) - begin
    share = np.concatenate(
        [np.diff(curve.tpr) * n for curve, n in zip(curves, n_positives, strict=True)]
    )
    heights = np.cumsum(share)
    ties = [_ties_of(curve) for curve in curves]
    areas = np.empty(n_resamples)
    for i in range(n_resamples):
        drawn = []
        for tie, negatives, positives in zip(ties, n_negatives, n_positives, strict=True):
            piece = np.searchsorted(heights, random.random_sample(positives) * heights[-1], "right")
            piece = np.minimum(piece, heights.size - 1)
            placements = begin[piece] + random.random_sample(positives) * width[piece]
            drawn.append(_curve_of(random.random_sample(negatives), placements, tie))
        areas[i] = area_between(*drawn)
    return areas


def _null_areas_by_numbers(
    curves: tuple[RocCurve, RocCurve],
    n_negatives: tuple[int, int],
    n_positives: tuple[int, int],
    n_resamples: int,
    random: np.random.RandomState,
) -> Floats:
    """Draw areas as `null_areas` does, from multinomial counts at and between grid points."""
    grid = np.linspace(0.0, 1.0, _GRID + 1)
    edges = np.unique(np.concatenate([grid, *(curve.fpr for curve in curves)]))
    # Counts at edges and between edges alternate. Negatives are never at an edge, because their
    # placement values are continuous.
    of_negatives = np.zeros(2 * edges.size - 1)
    of_negatives[1::2] = np.diff(edges)
    of_positives = np.zeros(2 * edges.size - 1)
    for curve, n in zip(curves, n_positives, strict=True):
        low, high = _at_edges(curve, edges, "left"), _at_edges(curve, edges, "right")
        of_positives[::2] += n * (high - low)
        of_positives[1::2] += n * (low[1:] - high[:-1])
    of_positives = np.maximum(of_positives, 0.0) / np.maximum(of_positives, 0.0).sum()
    places = np.repeat(edges, 2)[:-1]
    own_place = []
    for begin, end in map(_ties_of, curves):
        place = np.arange(places.size)
        if begin.size:
            tie = np.maximum(np.searchsorted(begin, places, "right") - 1, 0)
            inside = (begin[tie] <= places) & (places < end[tie])
            place = np.where(inside, 2 * np.searchsorted(edges, begin[tie]), place)
        own_place.append(place)
    areas = np.empty(n_resamples)
    for i in range(n_resamples):
        drawn = []
        for place, negatives, positives in zip(own_place, n_negatives, n_positives, strict=True):
            counts = (
                np.bincount(place, random.multinomial(n, shares), places.size)[::-1]
                for n, shares in ((negatives, of_negatives), (positives, of_positives))
            )
            drawn.append(RocCurve(*map(_shares, counts)))
        areas[i] = area_between(*drawn)
    return areas


def _at_edges(curve: RocCurve, edges: Floats, side: Literal["left", "right"]) -> Floats:
    """Return the heights of a curve just left or right of each edge.

    The edges include the corners of the curve. The height is 0 left of the first edge and 1 right
    of the last edge.
    """
    inner = edges[1:] if side == "left" else edges[:-1]
    heights = _at(curve, inner, side)
    return np.append(0.0, heights) if side == "left" else np.append(heights, 1.0)


def _ties_of(curve: RocCurve) -> tuple[Floats, Floats]:
    """Return the beginnings and the ends of the tie blocks with rows of both classes."""
    is_tie = (np.diff(curve.fpr) > 0) & (np.diff(curve.tpr) > 0)
    return curve.fpr[:-1][is_tie], curve.fpr[1:][is_tie]


def _curve_of(negatives: Floats, positives: Floats, ties: tuple[Floats, Floats]) -> RocCurve:
    """Return the ROC curve of rows with these placement values; rows in a tie block are tied."""
    begin, end = ties
    places = np.concatenate([negatives, positives])
    if begin.size:
        tie = np.maximum(np.searchsorted(begin, places, "right") - 1, 0)
        places = np.where((begin[tie] <= places) & (places < end[tie]), begin[tie], places)
    distinct, row = np.unique(places, return_inverse=True)
    # Ascending scores correspond to descending places.
    row = distinct.size - 1 - row
    n_negatives, n_positives = (
        np.bincount(of_class, minlength=distinct.size)
        for of_class in (row[: negatives.size], row[negatives.size :])
    )
    return RocCurve(_shares(n_negatives), _shares(n_positives))
