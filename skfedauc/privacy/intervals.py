"""AUCs of counts with noise for differential privacy, with their intervals and tables.

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

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted
from skfedauc.inference.limits import AUCSpread
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.privacy.state import State

if TYPE_CHECKING:
    import pandas as pd

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


AVERAGES = ("macro", "samples", "positives", "negatives", "within")


class Estimate(NamedTuple):
    """Estimate or estimates, with interval, and standard errors due to sampling and to noise.

    `bin_width` is the estimated difference of the largest and the smallest value that the bins
    permit.
    """

    value: float | Floats
    low: float | Floats
    high: float | Floats
    se_sampling: float | Floats
    se_noise: float | Floats
    bin_width: float | Floats


class NoisyAUCs:
    """AUCs, averages and group intervals without dominating noise.

    A bin that is a point holds a single score: its pairs are ties, which count one half.
    """

    def __init__(self, counts: NoisyCounts, is_point: NDArray[np.bool_]) -> None:
        self._variance, self._n_bins = counts.variance, counts.n_bins
        self.middle = NoisyPairs(counts, np.full(is_point.shape, 0.5))
        self._ends = tuple(NoisyPairs(counts, np.where(is_point, 0.5, end)) for end in (0.0, 1.0))

    def limits(self, end: int, deviate: float) -> tuple[Floats, Floats]:
        """Return AUCs and the distances to their limits towards `end`, 0 or 1.

        The method computes the limits of the estimate and the extreme AUC that the bins
        permit, and returns the limit closer to `end`. Noise can move the smallest AUC that the bins
        permit above the estimate. The lower limit is then the limit of the estimate.
        """
        sign = 1.0 if end else -1.0
        pairs = [self.middle, self._ends[end]]
        auc = np.stack([part.auc for part in pairs])
        reach = np.stack([part.reach(end, deviate) for part in pairs])
        further = np.argmax(sign * auc + reach, axis=0)
        which = further, np.arange(further.size)
        return auc[which], reach[which]

    def of_groups(self, tail: float) -> Estimate:
        """Return the AUC of each group with limits of error probability `tail`."""
        deviate = normal_quantile(tail)
        (low, down), (high, up) = (self.limits(end, deviate) for end in (0, 1))
        return Estimate(
            _clipped(self.middle.auc),
            _clipped(low - down),
            _clipped(high + up),
            np.sqrt(self.middle.sampling),
            np.sqrt(self.middle.noise),
            np.maximum(self._ends[1].auc - self._ends[0].auc, 0.0),
        )

    def average(self, name: str, tail: float) -> Estimate:
        """Return an average of the group AUCs.

        The noise of a weight changes the average, to first order, in proportion to the difference
        between the group AUC and the average.
        """
        deviate, middle = normal_quantile(tail), self.middle
        weights, by_positives, by_negatives = _weights(name, middle.positives, middle.negatives)
        share = weights / weights.sum()
        value = float((share * middle.auc).sum())
        # First-order effect of the weight of a group on the average
        gap = (middle.auc - value) / weights.sum()
        by_positives, by_negatives = by_positives * gap, by_negatives * gap
        of_weights = self._variance * self._n_bins * (by_positives**2 + by_negatives**2)
        once = share / (middle.positives * middle.negatives)
        of_weights += 2.0 * once * by_positives * middle.noise_of_positives
        of_weights += 2.0 * once * by_negatives * middle.noise_of_negatives
        # Below 0 if the noise of weights and the noise of AUCs cancel out
        extra = float(of_weights.sum())
        limits = []
        for end in (0, 1):
            auc, reach = self.limits(end, deviate)
            squared = float(((share * reach) ** 2).sum()) + deviate**2 * extra
            distance = np.sqrt(max(squared, 0.0))
            limits.append(float((share * auc).sum()) + (distance if end else -distance))
        smallest, largest = (float((share * part.auc).sum()) for part in self._ends)
        return Estimate(
            float(_clipped(value)),
            float(_clipped(limits[0])),
            float(_clipped(limits[1])),
            float(np.sqrt((share**2 * middle.sampling).sum())),
            float(np.sqrt(max((share**2 * middle.noise).sum() + extra, 0.0))),
            max(largest - smallest, 0.0),
        )

    def difference(self, tail: float) -> Estimate:
        """Return the largest minus the smallest group AUC.

        By Bonferroni's inequality, the intervals of the differences of all pairs of groups hold
        simultaneously with probability ``1 - 2 tail``. The largest true difference is then between
        the largest lower limit and the largest upper limit.
        """
        auc = _clipped(self.middle.auc)
        n_pairs = auc.size * (auc.size - 1)
        deviate = normal_quantile(2.0 * tail / n_pairs)
        (low, down), (high, up) = (self.limits(end, deviate) for end in (0, 1))
        # Entry (i, j): lower limit of the difference, AUC of group i minus AUC of group j
        least = low[:, None] - high - np.hypot(down[:, None], up)
        np.fill_diagonal(least, np.nan)
        return Estimate(
            float(np.ptp(auc)),
            float(_clipped(np.nanmax(least))),
            float(_clipped(-np.nanmin(least))),
            np.nan,
            np.nan,
            np.nan,
        )


def _clipped(values: float | Floats) -> Floats:
    """Return the values, clipped to the range from 0 to 1."""
    found: Floats = np.clip(values, 0.0, 1.0)
    return found


def _weights(name: str, positives: Floats, negatives: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weights of an average, and their derivatives by positives and by negatives."""
    one, zero = np.ones_like(positives), np.zeros_like(positives)
    return {
        "macro": (one, zero, zero),
        "samples": (positives + negatives, one, one),
        "positives": (positives, one, zero),
        "negatives": (negatives, zero, one),
        "within": (positives * negatives, negatives, positives),
    }[name]


_UNDEFINED = Estimate(*[np.nan] * 6)
_COLUMNS = ("ci_low", "ci_high", "se_sampling", "se_noise", "bin_width")


class IntervalTables:
    """Tables of `PrivateCounts.confidence_intervals`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._noisy = NoisyCounts(
            state.negatives.astype(np.float64), state.positives.astype(np.float64), state.variance
        )
        low, high = state.bins.ranges_of(np.arange(self._noisy.n_bins))
        self._is_point: NDArray[np.bool_] = low == high

    @functools.cached_property
    def _aucs(self) -> NoisyAUCs:
        """Return group AUCs without dominating noise."""
        return NoisyAUCs(self._noisy.take(self._noisy.has_signal), self._is_point)

    def by_group(self, tail: float) -> pd.DataFrame:
        """Return limits of each group's AUC; `tail` is the error rate of each limit."""
        import pandas as pd

        noisy, n_groups = self._noisy, len(self._state.negatives)
        found = dict.fromkeys(("auc", *_COLUMNS), np.full(n_groups, np.nan))
        if noisy.has_signal.any():
            estimates = self._aucs.of_groups(tail)
            for name, values in zip(found, estimates, strict=True):
                found[name] = np.full(n_groups, np.nan)
                found[name][noisy.has_signal] = values
        return pd.DataFrame(
            {
                **found,
                "n_positives": self._state.positives.sum(axis=1),
                "n_negatives": self._state.negatives.sum(axis=1),
                "note": _notes(noisy),
            },
            index=_index_of(self._state),
        )

    def by_statistic(self, tail: float) -> pd.DataFrame:
        """Return the pooled AUC, the averages and the difference of the group AUCs."""
        import pandas as pd

        rows: dict[str, tuple[Estimate, str]] = {"pooled": self._pooled(tail)}
        n_groups, n_used = len(self._state.negatives), int(self._noisy.has_signal.sum())
        note = ""
        if n_used < n_groups:
            note = (
                f"without {n_groups - n_used:,} of {counted(n_groups, 'group')}, in which the "
                "noise dominates"
            )
        if not n_used:
            note = "the noise dominates in every group"
        for name in AVERAGES:
            rows[name] = (self._aucs.average(name, tail) if n_used else _UNDEFINED), note
        if n_used < 2:
            note = "needs two groups in which the noise does not dominate"
        rows["difference"] = (self._aucs.difference(tail) if n_used > 1 else _UNDEFINED), note
        return pd.DataFrame(
            [(*estimate, note) for estimate, note in rows.values()],
            columns=["value", *_COLUMNS, "note"],
            index=pd.Index(list(rows), name="statistic"),
        )

    def _pooled(self, tail: float) -> tuple[Estimate, str]:
        all_rows = self._noisy.pooled()
        (note,) = _notes(all_rows)
        if note:
            return _UNDEFINED, note
        # The AUC of a single group is the average.
        return NoisyAUCs(all_rows, self._is_point).average("macro", tail), note


def _index_of(state: State) -> pd.Index:
    import pandas as pd

    labels, names = state.labels, state.group_names
    if labels is None:
        return pd.Index(["all"], name="group")
    if isinstance(labels[0], tuple):
        named = len(labels[0]) == len(names)
        return pd.MultiIndex.from_tuples(labels.tolist(), names=names if named else None)
    index: pd.Index = pd.Index(labels, name=names[0] if names else "group")
    return index


def _notes(noisy: NoisyCounts) -> list[str]:
    """Return a note for each group with dominating noise."""
    notes = []
    for positives, negatives, error, has_signal in zip(
        noisy.n_positives, noisy.n_negatives, noisy.total_error, noisy.has_signal, strict=True
    ):
        number, noun = min((positives, "positives"), (negatives, "negatives"))
        notes.append(
            ""
            if has_signal
            else f"the noise dominates: {number:,.0f} {noun} with a standard error of {error:,.2g}"
        )
    return notes
