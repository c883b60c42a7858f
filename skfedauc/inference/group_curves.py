"""ROC curves of all groups at once, and the variance of a number that summarizes a curve.

A cell, i.e. the rows of a group with one score, is one straight segment of the group's ROC curve. A
tie block of both classes is therefore a diagonal segment, as in `sklearn.metrics.roc_curve`.

The variance of a summary of the curve follows from its influence values [1]_. Influence values are
the derivatives of the summary with respect to the shares of the rows at each score. The influence
values of the whole area are the placement values of DeLong's variance.

References
----------
.. [1] Hampel, F. R. (1974). The influence curve and its role in robust estimation. Journal of the
   American Statistical Association 69(346). https://doi.org/10.1080/01621459.1974.10482962
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.counts.score_counts import with_weights_over
from skfedauc.inference.effects import LEAST_EFFECTIVE, satterthwaite
from skfedauc.inference.limits import limits
from skfedauc.inference.quantiles import t_quantile

Floats = NDArray[np.float64]

# Rates that differ by less than this number are equal: 1 - 0.9 is not exactly the false positive
# rate 1/10.
SAME_RATE = 1e-12


class Influence(NamedTuple):
    """Influence of the rows of each cell on a summary of the curve, up to a constant by class.

    Attributes
    ----------
    positives, negatives : ndarray of float64, shape (n_cells,)
    """

    positives: Floats
    negatives: Floats


class GroupCurves(NamedTuple):
    """ROC curves of all groups, from the cells of `ScoreCounts`.

    The segment of a cell leads from (`left`, `bottom`) to (`right`, `top`). The rates of a class
    without rows are 0.

    Attributes
    ----------
    starts : ndarray of intp, shape (n_groups + 1,)
        The segments of group g are ``starts[g]:starts[g + 1]``, in order of increasing scores, from
        the end of the curve to its beginning. Reversed curves have the opposite order.
    groups : ndarray of intp, shape (n_cells,)
        Group of each segment.
    left, right, bottom, top : ndarray of float64, shape (n_cells,)
        False positive rates (left, right) and true positive rates (bottom, top).
    negatives, positives : ClassRows
        Rows of each class, by group.
    negative_squares, positive_squares : ndarray of float64, shape (n_cells,)
        Sums of the squared weights of the rows of each segment.
    is_weighted : bool
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
        """Return the curves of the groups of score counts."""
        counts = with_weights_over(counts, counts.weight_exponent)
        cells, groups = counts.cells, counts.cells.groups
        negatives, positives = counts.rows_by_class
        amounts = [column.astype(np.float64) for column in cells.amounts]
        of_negatives, of_positives = amounts if cells.weights is None else cells.weights[2:]
        left, right = _shares_above(cells.starts, groups, amounts[0], negatives)
        bottom, top = _shares_above(cells.starts, groups, amounts[1], positives)
        return cls(
            cells.starts,
            groups,
            left,
            right,
            bottom,
            top,
            negatives,
            positives,
            of_negatives,
            of_positives,
            counts.is_weighted,
        )

    def reversed(self) -> GroupCurves:
        """Return the curves of negated scores and exchanged classes.

        The new false positive rate is one minus the true positive rate. The new true positive rate
        is one minus the false positive rate.
        """
        return GroupCurves(
            self.starts,
            self.groups,
            1.0 - self.top,
            1.0 - self.bottom,
            1.0 - self.right,
            1.0 - self.left,
            self.positives,
            self.negatives,
            self.positive_squares,
            self.negative_squares,
            self.is_weighted,
        )

    @property
    def defined(self) -> NDArray[np.bool_]:
        """True for groups with rows of both classes."""
        defined: NDArray[np.bool_] = self.negatives.weight * self.positives.weight > 0
        return defined

    @property
    def estimable(self) -> NDArray[np.bool_]:
        """True for groups with at least two rows of each class, see `Variances.estimable`."""
        return np.logical_and(
            *(
                (rows.n > 1) & (rows.effective >= LEAST_EFFECTIVE)
                for rows in (self.positives, self.negatives)
            )
        )

    def sums(self, values: Floats) -> Floats:
        """Return sums by group of values by segment."""
        if values.size == 0:
            return np.zeros(self.starts.size - 1)
        return np.add.reduceat(values, self.starts[:-1])

    def largest(self, values: Floats) -> Floats:
        """Return the largest value of each group; NaN if the group lacks a class."""
        if values.size == 0:
            return np.zeros(self.starts.size - 1)
        return self.if_defined(np.maximum.reduceat(values, self.starts[:-1]))

    def if_defined(self, of_groups: Floats) -> Floats:
        """Return values by group, with NaN for groups that lack a class."""
        return np.where(self.defined, of_groups, np.nan)

    def share_within(self, rate: Floats) -> Floats:
        """Return the share of each segment with false positive rates of at most `rate`.

        Parameters
        ----------
        rate : ndarray of float64, shape (n_groups,)
            False positive rate, by group.
        """
        until, width = rate[self.groups], self.right - self.left
        vertical = (self.left <= until + SAME_RATE).astype(np.float64)
        share = np.divide(until - self.left, width, out=vertical, where=width > 0)
        return np.clip(share, 0.0, 1.0)


def _shares_above(
    starts: NDArray[np.intp], groups: NDArray[np.intp], amounts: Floats, rows: ClassRows
) -> tuple[Floats, Floats]:
    """Return the shares of a class with higher scores, and with scores at least as high, by cell.

    The sums begin at the highest score. The rates near (0, 0) are therefore exact even if weights
    differ by many orders of magnitude.
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
    """Variances of a summary of each curve; the limits are limits of the logit of the summary.

    Attributes
    ----------
    variance : ndarray of float64, shape (n_groups,)
        NaN without an estimate of the variance.
    degrees_of_freedom : ndarray of float64, shape (n_groups,)
        Degrees of freedom of the quantiles of Student's t.
    """

    variance: Floats
    degrees_of_freedom: Floats

    def averaged(self, share: Floats) -> LogitErrors:
        """Return the errors of an average of the groups, with weights `share`; one element."""
        used = share > 0
        parts = share[used] ** 2 * self.variance[used]
        degrees_of_freedom = satterthwaite(parts, self.degrees_of_freedom[used], np.inf)
        total = parts.sum(keepdims=True)
        return LogitErrors(np.where(total > 0, total, np.nan), degrees_of_freedom)

    def limits(self, summary: Floats, tail: float) -> tuple[Floats, Floats]:
        """Return limits with error probability `tail` each; NaN if the variance is unknown."""
        return limits(
            summary, self.variance, t_quantile(tail, self.degrees_of_freedom), method="logit"
        )


def errors_of(curves: GroupCurves, influence: Influence) -> LogitErrors:
    """Return the variance of a summary of each curve, with Satterthwaite's degrees of freedom.

    The variance is the sum of the variances of the mean influence values of both classes. The
    variance is NaN for groups with too few rows, and if all influence values are equal.
    """
    return errors_of_parts(curves, *parts_of(curves, influence))


def parts_of(curves: GroupCurves, influence: Influence) -> tuple[Floats, Floats]:
    """Return the variances of the mean influence values of the positives and of the negatives.

    For weighted rows, squared weights replace counts, as in DeLong's variance.

    Returns
    -------
    parts, freedom : ndarray of float64, shape (2, n_groups)
        Variances and degrees of freedom; the first row is that of the positives.
    """
    sides = (
        (influence.positives, curves.top - curves.bottom, curves.positive_squares),
        (influence.negatives, curves.right - curves.left, curves.negative_squares),
    )
    parts = np.zeros((2, curves.starts.size - 1))
    freedom = np.ones_like(parts)
    for i, (values, shares, squares) in enumerate(sides):
        rows = curves.negatives if i else curves.positives
        deviations = values - curves.sums(shares * values)[curves.groups]
        # Smaller deviations are rounding errors.
        deviations[np.abs(deviations) < SAME_RATE] = 0.0
        parts[i] = ratio(curves.sums(squares * deviations**2), rows.pairs, 0.0)
        freedom[i] = np.maximum(rows.effective - 1.0, 1.0)
    return parts, freedom


def errors_of_parts(curves: GroupCurves, parts: Floats, freedom: Floats) -> LogitErrors:
    """Return the sums of the variances of both classes, see `parts_of` and `errors_of`."""
    variance = parts.sum(axis=0)
    variance = np.where(curves.estimable & (variance > 0), variance, np.nan)
    return LogitErrors(variance, satterthwaite(parts, freedom))
