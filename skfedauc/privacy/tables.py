"""Tables of AUCs of counts with noise for differential privacy, by group and by statistic."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import counted
from skfedauc.privacy.intervals import AVERAGES, Estimate, NoisyAUCs
from skfedauc.privacy.noisy_pairs import NoisyCounts
from skfedauc.privacy.state import State

if TYPE_CHECKING:
    import pandas as pd

_UNDEFINED = Estimate(*[np.nan] * 6)
_COLUMNS = ("ci_low", "ci_high", "se_sampling", "se_noise", "bin_width")


class IntervalTables:
    """Tables of `PrivateCounts.confidence_intervals`.

    Parameters
    ----------
    state : State
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._noisy = NoisyCounts(
            state.negatives.astype(np.float64), state.positives.astype(np.float64), state.variance
        )
        low, high = state.bins.ranges_of(np.arange(self._noisy.n_bins))
        self._is_point: NDArray[np.bool_] = low == high

    @functools.cached_property
    def _aucs(self) -> NoisyAUCs:
        """Return the AUCs of the groups without dominating noise."""
        return NoisyAUCs(self._noisy.take(self._noisy.has_signal), self._is_point)

    def by_group(self, tail: float) -> pd.DataFrame:
        """Return the AUC of each group; `tail` is the error rate of each limit."""
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
