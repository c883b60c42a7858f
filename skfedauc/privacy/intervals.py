"""Intervals of the AUCs, averages and the difference of counts with noise, and their tables.

An interval covers the sampling error of the rows, the noise, and the unknown order of the scores
within each bin. The lower limit is a limit of the smallest AUC that the bins permit. The upper
limit is a limit of the largest AUC that the bins permit.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.privacy.noisy_pairs import Floats, NoisyCounts, NoisyPairs
from skfedauc.privacy.state import State

if TYPE_CHECKING:
    import pandas as pd

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
