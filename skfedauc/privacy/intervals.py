"""AUCs of counts with noise for differential privacy, with their intervals and tables.

A group has the counts p of positives and n of negatives by bin, with noise, and their sums P and N.
The number of concordant pairs [3]_ is ``U = sum_bc p_b M_bc n_c``, where ``M_bc`` is 1 if bin b is
above bin c, 0 if it is below, and ``M_bb`` the share of concordant pairs within bin b. The estimate
of the AUC is ``A = U / (P N)``. The noise of different counts is independent and has the mean 0, so
U and P N are unbiased. Negative counts stay negative: setting them to 0 would bias the counts of
all empty bins upwards.

Noise. For a true AUC A, ``W(A) = U - A P N = sum_bc p_b K_bc n_c`` with ``K = M - A`` has the mean
0. If the noise of each count has the variance v, that of W(A) due to noise is ``v (|K n|^2 +
|K'p|^2) + v^2 |K|^2`` with the counts before the noise. The estimate ``v (|K n|^2 + |K'p|^2)`` with
the counts after the noise is, on average, between once and twice this variance, and a polynomial of
degree 2 in A. The limits due to noise are the AUCs A at which ``W(A)^2`` equals a squared quantile
times the polynomial: Fieller's limits [1]_ of a ratio whose denominator has noise.

Sampling. DeLong's variance [2]_ is the sum over both classes of the variance of the placement
values divided by the row count. The noise inflates the squared placement value of each
positive in bin b by ``v sum_c K_bc^2 / N^2``, which the estimate subtracts.

Noise and sampling. Both errors are independent, so the distance from the estimate to a limit is the
root of the sum of the two squared distances [4]_.

Bins. An interval also covers the unknown order of the scores within each bin: the lower limit is
one of the smallest AUC that the bins permit, and the upper limit one of the largest.

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
import pandas as pd
from numpy.typing import NDArray

from skfedauc._labels import index_of_labels
from skfedauc._words import counted
from skfedauc.counts.moments import Floats
from skfedauc.inference.intervals import AUCSpread
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.privacy.state import State

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
    def n_rows(self) -> tuple[Floats, Floats]:
        """Numbers of negatives and positives by group, with noise."""
        return self.negatives.sum(axis=-1), self.positives.sum(axis=-1)

    @property
    def total_error(self) -> Floats:
        """Standard error of the number of rows in each class, due to noise."""
        return np.asarray(np.sqrt(self.positives.shape[-1] * self.variance))

    @property
    def has_signal(self) -> NDArray[np.bool_]:
        """Whether each group has enough rows in both classes to exceed the noise."""
        smaller = np.minimum(*self.n_rows)
        # Without noise, a class still needs a row.
        return np.asarray((smaller > LEAST_SIGNAL * self.total_error) & (smaller >= 0.5))

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
        self.negatives, self.positives = counts.n_rows
        variance, n_bins = counts.variance, p.shape[-1]
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
        found = squares - 2.0 * self.auc * products + self.auc**2 * sums
        return np.asarray(np.maximum(found, 0.0))

    def reach(self, end: int, deviate: float) -> Floats:
        """Return the distance from each AUC to the limit towards `end`, 0 or 1; can be infinite."""
        auc = np.clip(self.auc, 0.0, 1.0)
        spread = AUCSpread.of_rows(auc, self.sampling, self.positives, self.negatives)
        of_sampling = np.abs(spread.limit(end, deviate) - auc)
        # Fieller's limits: (1 - sums) A^2 - 2 (auc - products) A + (auc^2 - squares) = 0
        squares, products, sums = (deviate**2 * part for part in self._noise)
        first, half, last = 1.0 - sums, self.auc - products, self.auc**2 - squares
        root = np.sqrt(np.maximum(half**2 - first * last, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (half + (root if end else -root)) / first
        of_noise = np.where(first > 0.0, np.abs(limit - self.auc), np.inf)
        return np.asarray(np.hypot(of_sampling, of_noise))


class Estimate(NamedTuple):
    """Estimates with intervals, and standard errors due to sampling and to noise.

    `bin_width` is the estimated difference of the largest and the smallest value that the bins
    permit.
    """

    value: Floats
    ci_low: Floats
    ci_high: Floats
    se_sampling: Floats
    se_noise: Floats
    bin_width: Floats


AVERAGES = ("macro", "samples", "positives", "negatives", "within")
_UNDEFINED = Estimate(*[np.full(1, np.nan)] * 6)


class NoisyAUCs:
    """AUCs, averages and group intervals without dominating noise.

    A bin that is a point holds a single score: its pairs are ties, which count one half.
    """

    def __init__(self, counts: NoisyCounts, is_point: NDArray[np.bool_]) -> None:
        self._variance, self._n_bins = counts.variance, is_point.size
        self.middle = NoisyPairs(counts, np.full(is_point.shape, 0.5))
        self._ends = tuple(NoisyPairs(counts, np.where(is_point, 0.5, end)) for end in (0.0, 1.0))

    def _limits(self, end: int, deviate: float) -> tuple[Floats, Floats]:
        """Return AUCs and the distances to their limits towards `end`, 0 or 1.

        Of the estimate and the extreme AUC that the bins permit, it is the one whose limit is
        further out: noise can move the extreme AUC to the other side of the estimate.
        """
        sign, pairs = 1.0 if end else -1.0, (self.middle, self._ends[end])
        auc = np.stack([part.auc for part in pairs])
        reach = np.stack([part.reach(end, deviate) for part in pairs])
        further = np.argmax(sign * auc + reach, axis=0)
        return np.choose(further, auc), np.choose(further, reach)

    def estimate(self, name: str | None, tail: float) -> Estimate:
        """Return an average of the group AUCs, of shape (1,), or without a name each group's AUC.

        `tail` is the error rate of each limit. The noise of a weight changes the average, to first
        order, in proportion to the difference between the group AUC and the average.
        """

        def total(values: Floats) -> Floats:
            return values if name is None else values.sum(keepdims=True)

        deviate, middle = normal_quantile(tail), self.middle
        weights, by_positives, by_negatives = _weights(name, middle.positives, middle.negatives)
        share = weights / total(weights)
        value = total(share * middle.auc)
        # First-order effect of the weight of a group on the average
        gap = (middle.auc - value) / total(weights)
        by_positives, by_negatives = by_positives * gap, by_negatives * gap
        of_weights = self._variance * self._n_bins * (by_positives**2 + by_negatives**2)
        once = share / (middle.positives * middle.negatives)
        of_weights += 2.0 * once * by_positives * middle.noise_of_positives
        of_weights += 2.0 * once * by_negatives * middle.noise_of_negatives
        # Below 0 if the noise of weights and the noise of AUCs cancel out
        extra = total(of_weights)
        limits = []
        for end, sign in ((0, -1.0), (1, 1.0)):
            auc, reach = self._limits(end, deviate)
            squared = total((share * reach) ** 2) + deviate**2 * extra
            limit = total(share * auc) + sign * np.sqrt(np.maximum(squared, 0.0))
            limits.append(np.clip(limit, 0.0, 1.0))
        smallest, largest = (total(share * part.auc) for part in self._ends)
        return Estimate(
            np.clip(value, 0.0, 1.0),
            limits[0],
            limits[1],
            np.sqrt(total(share**2 * middle.sampling)),
            np.sqrt(np.maximum(total(share**2 * middle.noise) + extra, 0.0)),
            np.maximum(largest - smallest, 0.0),
        )

    def difference(self, tail: float) -> Estimate:
        """Return the largest minus the smallest group AUC.

        By Bonferroni's inequality, the intervals of the differences of all pairs of groups hold
        simultaneously with probability ``1 - 2 tail``. The largest true difference is then between
        the largest lower limit and the largest upper limit.
        """
        auc = np.clip(self.middle.auc, 0.0, 1.0)
        deviate = normal_quantile(2.0 * tail / (auc.size * (auc.size - 1)))
        (low, down), (high, up) = (self._limits(end, deviate) for end in (0, 1))
        # Entry (i, j): lower limit of the difference, AUC of group i minus AUC of group j
        least = low[:, None] - high - np.hypot(down[:, None], up)
        np.fill_diagonal(least, np.nan)
        ends = np.clip([np.nanmax(least), -np.nanmin(least)], 0.0, 1.0)
        value = np.array([np.ptp(auc)])
        return _UNDEFINED._replace(value=value, ci_low=ends[:1], ci_high=ends[1:])


def _weights(name: str | None, positives: Floats, negatives: Floats) -> tuple[Floats, ...]:
    """Return the weights of an average, and their derivatives by positives and by negatives."""
    one, zero = np.ones_like(positives), np.zeros_like(positives)
    return {
        "samples": (positives + negatives, one, one),
        "positives": (positives, one, zero),
        "negatives": (negatives, zero, one),
        "within": (positives * negatives, negatives, positives),
    }.get(name or "", (one, zero, zero))


def interval_table(state: State, of: str, tail: float) -> pd.DataFrame:
    """Return the table of `PrivateCounts.confidence_intervals`; `tail` is each limit's error."""
    counts = state.negatives.astype(np.float64), state.positives.astype(np.float64)
    noisy = NoisyCounts(*counts, state.variance)
    low, high = state.bins.ranges_of(np.arange(state.negatives.shape[1]))
    aucs = NoisyAUCs(noisy.take(noisy.has_signal), low == high)
    if of == "statistics":
        return _by_statistic(noisy, aucs, low == high, tail)
    found = np.full((len(Estimate._fields), len(state.negatives)), np.nan)
    found[:, noisy.has_signal] = aucs.estimate(None, tail)
    index = index_of_labels(["all"] if state.labels is None else state.labels, state.group_names)
    return pd.DataFrame(found.T, index, ["auc", *Estimate._fields[1:]]).assign(
        n_positives=state.positives.sum(axis=1),
        n_negatives=state.negatives.sum(axis=1),
        note=_notes(noisy),
    )


def _by_statistic(
    noisy: NoisyCounts, aucs: NoisyAUCs, is_point: NDArray[np.bool_], tail: float
) -> pd.DataFrame:
    all_rows = noisy.pooled()
    (note,) = _notes(all_rows)
    pooled = _UNDEFINED if note else NoisyAUCs(all_rows, is_point).estimate(None, tail)
    rows = {"pooled": (pooled, note)}
    n_groups, n_used = noisy.variance.size, int(noisy.has_signal.sum())
    note = ""
    if n_used < n_groups:
        left_out = f"{n_groups - n_used:,} of {counted(n_groups, 'group')}"
        note = f"without {left_out}, in which the noise dominates"
    for name in AVERAGES:
        rows[name] = (aucs.estimate(name, tail) if n_used else _UNDEFINED), note
    if n_used < 2:
        note = "needs two groups in which the noise does not dominate"
    rows["difference"] = (aucs.difference(tail) if n_used > 1 else _UNDEFINED), note
    return pd.DataFrame(
        [(*map(float, np.concatenate(estimate)), note) for estimate, note in rows.values()],
        columns=[*Estimate._fields, "note"],
        index=pd.Index(list(rows), name="statistic"),
    )


def _notes(noisy: NoisyCounts) -> list[str]:
    """Return a note for each group with dominating noise."""
    notes = []
    for negatives, positives, error, has_signal in zip(
        *noisy.n_rows, noisy.total_error, noisy.has_signal, strict=True
    ):
        number, noun = min((positives, "positives"), (negatives, "negatives"))
        text = f"the noise dominates: {number:,.0f} {noun} with a standard error of {error:,.2g}"
        notes.append("" if has_signal else text)
    return notes
