"""AUCs of counts with noise for differential privacy, with errors due to noise and to sampling.

A group has the counts p of positives and n of negatives by bin, with noise, and the sums P and N of
these counts. The number of concordant pairs [3]_ is ``U = sum_bc p_b M_bc n_c``. Here ``M_bc`` is 1
if bin b is above bin c and 0 if bin b is below bin c. ``M_bb`` is the share of concordant pairs
within bin b. The estimate of the AUC is ``A = U / (P N)``. The noise of different counts is
independent and has the mean 0, so U and P N are unbiased. Negative counts stay negative, because
setting these counts to 0 would bias the counts of all empty bins upwards.

Noise. For a true AUC A, ``W(A) = U - A P N = sum_bc p_b K_bc n_c`` with ``K = M - A`` has the mean
0. If the noise of each count has the variance v, the variance of W(A) due to noise is ``v (|K n|^2
+ |K'p|^2) + v^2 |K|^2`` with the counts before the noise. With the counts after the noise, the
expectation of ``v (|K n|^2 + |K'p|^2)`` is this variance plus ``v^2 |K|^2``. This sum is between
once and twice the variance. The estimate ``v (|K n|^2 + |K'p|^2)`` is a polynomial of degree 2 in
A. The limits due to noise are the AUCs A at which ``W(A)^2`` equals a squared quantile times the
polynomial. Fieller's theorem [1]_ gives such limits for a ratio whose denominator has noise.

Sampling. DeLong's variance [2]_ is the sum over both classes of the variance of the placement
values divided by the row count. The noise inflates the squared placement value of each
positive in bin b by ``v sum_c K_bc^2 / N^2``. The estimate subtracts this term.

Noise and sampling. The errors due to noise and to sampling are independent. The distance from the
estimate to a limit is therefore the root of the sum of the two squared distances [4]_.

References
----------
.. [1] Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical
   Society, Series B 16(2). https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
.. [2] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two
   or more correlated receiver operating characteristic curves: a nonparametric approach.
   Biometrics 44(3). https://doi.org/10.2307/2531595
.. [3] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
   operating characteristic (ROC) curve. Radiology 143(1).
   https://doi.org/10.1148/radiology.143.1.7063747
.. [4] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
   general approach. Statistics in Medicine 27(10). https://doi.org/10.1002/sim.3095
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.limits import AUCSpread

Floats = NDArray[np.float64]

# The noise dominates if a class has fewer rows than this multiple of the standard error due to
# noise. In simulations (benchmarks/privacy.py), this rule raises the error rate of the intervals by
# at most 1 percentage point for any number of rows.
LEAST_SIGNAL = 4.0


class NoisyCounts(NamedTuple):
    """Counts by group and bin with noise, which can be negative, and its variance by group."""

    negatives: Floats
    positives: Floats
    variance: Floats

    @property
    def n_bins(self) -> int:
        """Bin count."""
        return int(self.positives.shape[-1])

    @property
    def total_error(self) -> Floats:
        """Standard error of the number of rows in each class, due to noise."""
        return np.sqrt(self.n_bins * self.variance)

    @property
    def has_signal(self) -> NDArray[np.bool_]:
        """Whether each group has enough rows in both classes to exceed the noise."""
        least = LEAST_SIGNAL * self.total_error
        enough: NDArray[np.bool_] = np.minimum(self.n_positives, self.n_negatives) > least
        # Without noise, a class still needs a row.
        return enough & (np.minimum(self.n_positives, self.n_negatives) >= 0.5)

    @property
    def n_positives(self) -> Floats:
        """Number of positives with noise."""
        total: Floats = self.positives.sum(axis=-1)
        return total

    @property
    def n_negatives(self) -> Floats:
        """Number of negatives with noise."""
        total: Floats = self.negatives.sum(axis=-1)
        return total

    def take(self, which: NDArray[np.bool_]) -> NoisyCounts:
        """Return the selected groups."""
        return NoisyCounts(*(part[which] for part in self))

    def pooled(self) -> NoisyCounts:
        """Return all groups as one, of shape (1, n_bins)."""
        return NoisyCounts(*(part.sum(axis=0, keepdims=True) for part in self))


class NoisyPairs:
    """AUC of each group for one treatment of ties, and the parts of the intervals.

    `ties` is the share of the pairs within each bin that count as concordant: 0 gives the smallest
    and 1 the largest AUC that the bins permit. Noise can move `auc` below 0 or above 1. `sampling`
    is DeLong's variance, or an upper bound if noise makes it negative; `noise_of_positives` and
    `noise_of_negatives` are the covariances of W(A) with the numbers of rows, due to noise.
    """

    def __init__(self, counts: NoisyCounts, ties: Floats) -> None:
        p, n = counts.positives, counts.negatives
        self.positives, self.negatives = counts.n_positives, counts.n_negatives
        variance, n_bins = counts.variance, counts.n_bins
        # Negatives below the positives of each bin, M n, and positives above the negatives, M'p
        below = np.cumsum(n, axis=-1) - (1.0 - ties) * n
        above = self.positives[..., None] - np.cumsum(p, axis=-1) + ties * p
        pairs = self.positives * self.negatives
        self.auc: Floats = (p * below).sum(axis=-1) / pairs
        # The variance of W(A) / (P N) due to noise is noise[0] - 2 A noise[1] + A^2 noise[2].
        squares = (below**2).sum(axis=-1) + (above**2).sum(axis=-1)
        products = self.negatives * below.sum(axis=-1) + self.positives * above.sum(axis=-1)
        sums = n_bins * (self.negatives**2 + self.positives**2)
        self._noise = tuple(variance * part / pairs**2 for part in (squares, products, sums))
        auc = np.clip(self.auc, 0.0, 1.0)[..., None]
        below -= auc * self.negatives[..., None]
        above -= auc * self.positives[..., None]
        self.noise_of_positives: Floats = variance * below.sum(axis=-1)
        self.noise_of_negatives: Floats = variance * above.sum(axis=-1)
        # Sums of the squares of K over the columns and over the rows, for bins numbered from 0
        lower = np.arange(n_bins)
        higher, own = lower[::-1], (ties - auc) ** 2
        over_negatives = lower * (1.0 - auc) ** 2 + higher * auc**2 + own
        over_positives = higher * (1.0 - auc) ** 2 + lower * auc**2 + own
        below **= 2
        above **= 2
        below -= variance[..., None] * over_negatives
        above -= variance[..., None] * over_positives
        of_positives = (p * below).sum(axis=-1) / np.maximum(self.positives - 1.0, 1.0)
        of_negatives = (n * above).sum(axis=-1) / np.maximum(self.negatives - 1.0, 1.0)
        found = of_positives / (self.positives * self.negatives**2)
        found += of_negatives / (self.negatives * self.positives**2)
        shrunk = (pairs * auc[..., 0] + 0.5) / (pairs + 1.0)
        bound = shrunk * (1.0 - shrunk) / np.minimum(self.positives, self.negatives)
        self.sampling: Floats = np.where(found > 0.0, found, bound)

    @property
    def noise(self) -> Floats:
        """Variance of each AUC, due to noise."""
        squares, products, sums = self._noise
        found: Floats = np.maximum(squares - 2.0 * self.auc * products + self.auc**2 * sums, 0.0)
        return found

    def reach(self, end: int, deviate: float) -> Floats:
        """Return the distance from each AUC to the limit towards `end`, 0 or 1."""
        distances = self._reach_of_sampling(end, deviate), self._reach_of_noise(end, deviate)
        found: Floats = np.hypot(*distances)
        return found

    def _reach_of_sampling(self, end: int, deviate: float) -> Floats:
        auc, once = np.clip(self.auc, 0.0, 1.0), 1.0 / (self.positives * self.negatives)
        spread = AUCSpread(
            auc,
            self.sampling,
            np.minimum(self.positives, self.negatives),
            once,
            once * np.maximum((self.positives + self.negatives) / 2.0 - 1.0, 0.0),
        )
        found: Floats = np.abs(spread.limits(deviate)[end] - auc)
        return found

    def _reach_of_noise(self, end: int, deviate: float) -> Floats:
        """Return the distance to the limit by Fieller's theorem; the distance can be infinite."""
        squares, products, sums = (deviate**2 * part for part in self._noise)
        # (1 - sums) A^2 - 2 (auc - products) A + (auc^2 - squares) = 0
        first, half, last = 1.0 - sums, self.auc - products, self.auc**2 - squares
        root = np.sqrt(np.maximum(half**2 - first * last, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (half + (root if end else -root)) / first
        found: Floats = np.where(first > 0.0, np.abs(limit - self.auc), np.inf)
        return found
