"""Group ROC curves, the area between two curves (ABROCA), and the variance of a summary.

The rows in a group with one score are one straight segment of its curve, so a tie block of both
classes is a diagonal segment, as in `sklearn.metrics.roc_curve`. The variance of a summary of the
curve follows from its influence values (Hampel 1974), its derivatives with respect to the shares of
the rows at each score. Those of the whole area are the placement values of DeLong's variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, Floats, ratio
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference.intervals import limits
from skfedauc.inference.quantiles import t_quantile
from skfedauc.inference.row_effects import LEAST_EFFECTIVE, satterthwaite

# Rates that differ by less than this number are equal: 1 - 0.9 is not exactly the false positive
# rate 1/10.
SAME_RATE = 1e-12
# Largest number of heights in a mean of curves at all false positive rates, and number of rates for
# more heights
_MOST_HEIGHTS, _RATES = 1 << 24, 4096


class Influence(NamedTuple):
    """Each cell's influence on a curve summary, up to a constant by class."""

    positives: Floats
    negatives: Floats


class GroupCurves(NamedTuple):
    """All groups' ROC curves: a segment for each cell, from (left, bottom) to (right, top).

    Group g has the segments ``starts[g]:starts[g + 1]``, by increasing score, from the curve's end
    to its beginning; reversed curves have the opposite order. `left` and `right` are false positive
    rates, `bottom` and `top` true positive rates; 0 for a class without rows. The squares are sums
    of squared weights by segment.
    """

    starts: NDArray[np.intp]
    groups: NDArray[np.intp]
    left: Floats
    right: Floats
    bottom: Floats
    top: Floats
    negatives: ClassRows
    positives: ClassRows
    negative_squares: Floats
    positive_squares: Floats
    is_weighted: bool

    @classmethod
    def of(cls, counts: ScoreCounts) -> GroupCurves:
        """Return the groups' curves from score counts."""
        counts = with_weights_over(counts)
        cells, groups, by_class = counts.cells, counts.cells.groups, view_of(counts).rows_by_class
        amounts = [column.astype(np.float64) for column in cells.amounts]
        squares = amounts if cells.weights is None else cells.weights[2:]
        (left, right), (bottom, top) = (
            _shares_above(cells.starts, groups, amount, rows)
            for amount, rows in zip(amounts, by_class, strict=True)
        )
        return cls(
            cells.starts,
            groups,
            *(left, right, bottom, top),
            *by_class,
            *(squares[0], squares[1]),
            view_of(counts).is_weighted,
        )

    def corners(self, group: int) -> RocCurve | None:
        """Return the corners of a group's curve; None if the group lacks a class."""
        if not self.defined[group]:
            return None
        mine = slice(self.starts[group], self.starts[group + 1])
        fpr, tpr = (np.append(0.0, rates[mine][::-1]) for rates in (self.right, self.top))
        return RocCurve(fpr, tpr)

    def reversed(self) -> GroupCurves:
        """Return the curves for negated scores and exchanged classes."""
        return self._replace(
            left=1.0 - self.top,
            right=1.0 - self.bottom,
            bottom=1.0 - self.right,
            top=1.0 - self.left,
            negatives=self.positives,
            positives=self.negatives,
            negative_squares=self.positive_squares,
            positive_squares=self.negative_squares,
        )

    @property
    def defined(self) -> NDArray[np.bool_]:
        """True for groups with rows in both classes."""
        return self.negatives.weight * self.positives.weight > 0

    @property
    def estimable(self) -> NDArray[np.bool_]:
        """True for groups with at least two rows in each class, see `Variances.estimable`."""
        classes = self.negatives, self.positives
        return np.logical_and(*((x.n > 1) & (x.effective >= LEAST_EFFECTIVE) for x in classes))

    def sums(self, values: Floats) -> Floats:
        """Sum values by segment over each group."""
        return np.add.reduceat(values, self.starts[:-1])

    def if_defined(self, of_groups: Floats) -> Floats:
        """Return values by group, with NaN for groups that lack a class."""
        return np.where(self.defined, of_groups, np.nan)

    def by_segment(self, rate: float | Floats) -> Floats:
        """Return each segment's rate, from a rate of all groups or by group."""
        return np.broadcast_to(rate, self.starts.size - 1)[self.groups]

    def share_within(self, rate: float | Floats) -> Floats:
        """Return each segment's share with false positive rates up to `rate`."""
        until, width = self.by_segment(rate), self.right - self.left
        vertical = (self.left <= until + SAME_RATE).astype(np.float64)
        share = np.divide(until - self.left, width, out=vertical, where=width > 0)
        return np.clip(share, 0.0, 1.0)


def _shares_above(
    starts: NDArray[np.intp], groups: NDArray[np.intp], amounts: Floats, rows: ClassRows
) -> tuple[Floats, Floats]:
    """Return by cell which class share has higher scores, and scores at least as high.

    Sums begin at the highest score, so the rates near (0, 0) are exact for any weights.
    """
    up_to = (ranks_in_groups(starts[-1] - starts[::-1], amounts[::-1])[::-1] + amounts) / 2.0
    above = np.zeros_like(up_to)
    above[:-1] = up_to[1:]
    above[starts[1:] - 1] = 0.0
    total = rows.weight[groups]
    begin, end = (np.minimum(ratio(part, total, 0.0), 1.0) for part in (above, up_to))
    # Without rounding error, the share is 1 if no row of the class has a lower score.
    none_lower = (ranks_in_groups(starts, amounts) <= amounts) & (total > 0)
    begin[none_lower & (amounts == 0)] = 1.0
    end[none_lower] = 1.0
    # Segments without rows of the class have no width, and the others have no negative width.
    return begin, np.where(amounts > 0, np.maximum(begin, end), begin)


class LogitErrors(NamedTuple):
    """Variances of each curve's summary (NaN if unknown), and degrees of freedom."""

    variance: Floats
    degrees_of_freedom: Floats

    def averaged(self, share: Floats) -> LogitErrors:
        """Return the errors of a group average with weights `share`; one element."""
        used = share > 0
        parts = share[used] ** 2 * self.variance[used]
        degrees_of_freedom = satterthwaite(parts, self.degrees_of_freedom[used], np.inf)
        total = parts.sum(keepdims=True)
        return LogitErrors(np.where(total > 0, total, np.nan), degrees_of_freedom)

    def limits(self, summary: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return limits by the summary's logit, each with error probability `tail`."""
        # For the smallest tails, the quantile overflows in scipy, and has the wrong sign.
        quantile = np.minimum(np.abs(t_quantile(tail, self.degrees_of_freedom)), 1e300)
        return limits(summary, self.variance, quantile, "logit")


def logit_errors_of(curves: GroupCurves, influence: Influence) -> LogitErrors:
    """Return a summary's variances: those of mean influence values, summed over classes.

    NaN for groups with too few rows, and if all influence values are equal.
    """
    n = np.array([curves.positives.effective, curves.negatives.effective])
    return summed_errors(curves, variances_by_class(curves, influence), n)


def variances_by_class(curves: GroupCurves, influence: Influence) -> Floats:
    """Return the variances of mean influence values of the positives and the negatives, by group.

    Weighted rows have squared weights, as in DeLong's variance.
    """
    sides = (
        (influence.positives, curves.top - curves.bottom, curves.positive_squares),
        (influence.negatives, curves.right - curves.left, curves.negative_squares),
    )
    classes, parts = (curves.positives, curves.negatives), []
    for rows, (values, shares, squares) in zip(classes, sides, strict=True):
        deviations = values - curves.sums(shares * values)[curves.groups]
        # Smaller deviations are rounding errors.
        deviations[np.abs(deviations) < SAME_RATE] = 0.0
        parts.append(ratio(curves.sums(squares * deviations**2), rows.pairs, 0.0))
    return np.array(parts)


def summed_errors(curves: GroupCurves, parts: Floats, n: Floats) -> LogitErrors:
    """Return the sums of the variances of both classes, which come from `n` rows."""
    variance = parts.sum(axis=0)
    variance = np.where(curves.estimable & (variance > 0), variance, np.nan)
    return LogitErrors(variance, satterthwaite(parts, np.maximum(n - 1.0, 1.0)))


class RocCurve(NamedTuple):
    """One ROC curve's corners from (0, 0) to (1, 1): false and true positive rates."""

    fpr: Floats
    tpr: Floats

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

    def thinned(self, most: int, grid: int) -> RocCurve:
        """Return the curve for a plot; with more than `most` turns, no point moves over 1 / grid.

        The area under the thinned curve differs by at most about half of this.
        """
        fpr, tpr = self.turns
        if fpr.size <= most:
            return RocCurve(fpr, tpr)
        # Keep the first and the last corner in each square of the grid.
        column, row = np.floor(fpr * grid), np.floor(tpr * grid)
        is_new = (np.diff(column) > 0) | (np.diff(row) > 0)
        kept = np.append(True, is_new) | np.append(is_new, True)
        return RocCurve(fpr[kept], tpr[kept])


def mean_curve(curves: Sequence[RocCurve], weights: Sequence[float]) -> RocCurve:
    """Return the weighted mean curve at each false positive rate.

    Its area is the weighted mean area. With many long curves, it omits rates closer than
    1 / 4,096, and its area then differs by at most this number.
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
    """Return the exact area between two curves (ABROCA) (Gardner et al. 2019)."""
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
    """Return the curve's height just left or right of each rate."""
    upper = np.searchsorted(curve.fpr, fpr, side)
    lower = upper - 1
    begin, low = curve.fpr[lower], curve.tpr[lower]
    slope = (curve.tpr[upper] - low) / (curve.fpr[upper] - begin)
    return low + (fpr - begin) * slope
