"""Rates of decisions by group, and gaps between groups, at many thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.counts import DisclosureError, ScoreCounts
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.score_counts import view_of

# Largest number of thresholds by default, and largest product of this number and the number of
# groups
MOST_THRESHOLDS, _MOST_ROWS = 200, 2_000_000


@dataclass(frozen=True, eq=False)
class ThresholdSweep:
    """Rates and gaps of the decisions at many thresholds.

    A row is selected if its score is at least the threshold.

    Attributes
    ----------
    rates : DataFrame
        One row per threshold and group, with the columns `selection_rate`, `true_positive_rate`,
        `false_positive_rate`, `precision` and `accuracy`. The index has the levels "threshold" and
        the group columns. A rate without rows in its denominator is NaN.
    gaps : DataFrame
        One row per threshold, with gaps between groups that have enough rows; NaN for fewer than
        two such groups. The columns `demographic_parity_difference`, `demographic_parity_ratio`,
        `true_positive_rate_difference`, `false_positive_rate_difference`,
        `equalized_odds_difference` and `equalized_odds_ratio` are those of `FairnessAudit.gaps`;
        `precision_difference` and `accuracy_difference` are largest minus smallest values.
    threshold : float or None
        Threshold of the audit's decisions, or None.
    """

    rates: pd.DataFrame
    gaps: pd.DataFrame
    threshold: float | None = None

    @property
    def thresholds(self) -> Floats:
        """Thresholds in ascending order."""
        return self.gaps.index.to_numpy(np.float64)

    def __repr__(self) -> str:
        n_thresholds = len(self.gaps)
        n_groups = _words.counted(len(self.rates) // max(n_thresholds, 1), "group")
        return f"ThresholdSweep({_words.counted(n_thresholds, 'threshold')}, {n_groups})"


def threshold_sweep(
    counts: ScoreCounts,
    index: pd.Index,
    *,
    thresholds: Any = None,
    threshold: float | None = None,
    least_rows: int = 1,
) -> ThresholdSweep:
    """Return rates and gaps at many thresholds, by default at the distinct scores or at quantiles.

    The default includes the `threshold` of the decisions. Gaps compare rates with at least
    `least_rows` rows in the denominator.
    """
    chosen = _default(counts, threshold) if thresholds is None else check_thresholds(thresholds)
    check_edges(counts, chosen, "or thresholds=None for edges only")
    rates, denominators = rates_at(counts, chosen)
    labels = index.take(np.tile(np.arange(len(index)), chosen.size))
    levels = [labels.get_level_values(i) for i in range(index.nlevels)]
    levels.insert(0, pd.Index(np.repeat(chosen, len(index))))
    names = ["threshold", *index.names]
    enough = {name: n >= max(least_rows, 1) for name, n in denominators.items()}
    return ThresholdSweep(
        pd.DataFrame(
            {name: rate.ravel() for name, rate in rates.items()},
            index=pd.MultiIndex.from_arrays(levels, names=names),
        ),
        pd.DataFrame(_gaps(rates, enough), index=pd.Index(chosen, name="threshold")),
        threshold,
    )


def check_thresholds(thresholds: Any) -> Floats:
    """Return thresholds without duplicates in ascending order."""
    try:
        given = np.asarray(thresholds)
        # numpy converts dates to numbers, and NaT to a finite one.
        found = given.astype(np.float64) if given.dtype.kind in "fiuO" else np.zeros(0)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(
            "thresholds must be None or a list of finite numbers; got "
            f"{_words.shortened(thresholds)}."
        )
    return np.unique(found)


def _default(counts: ScoreCounts, threshold: float | None) -> Floats:
    """Return all distinct scores, or quantiles, and the threshold of the decisions."""
    cells, ranges = counts.cells, view_of(counts).ranges
    scores = cells.scores if ranges is None else ranges[0]
    distinct, place = np.unique(scores, return_inverse=True)
    if ranges is not None:
        # The lowest score of all rows is always an edge.
        kept = np.flatnonzero(~_is_divided(distinct, *ranges))
        distinct, place = distinct[kept], np.searchsorted(kept, place, side="right") - 1
    most = min(MOST_THRESHOLDS, max(_MOST_ROWS // max(len(counts), 1), 10))
    if distinct.size > most:
        rows = sum(amount.astype(np.float64) for amount in cells.amounts)
        up_to = np.cumsum(np.bincount(place, rows, distinct.size))
        quantiles = np.linspace(0.0, up_to[-1], most)
        chosen = np.searchsorted(up_to, quantiles)
        distinct = distinct[np.unique(np.minimum(chosen, distinct.size - 1))]
    return distinct if threshold is None else np.union1d(distinct, [threshold])


def _is_divided(thresholds: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    # A threshold divides a range if it is above the lower end and at most the upper end.
    opened, closed = (
        np.bincount(np.searchsorted(thresholds, end, side="right"), minlength=thresholds.size + 1)
        for end in (low, high)
    )
    return np.cumsum(opened - closed)[: thresholds.size] > 0


def check_edges(counts: ScoreCounts, thresholds: Floats, otherwise: str) -> None:
    """Raise a DisclosureError if a bin has scores on both sides of a threshold.

    `otherwise` is the remedy beside the edges of bins.
    """
    ranges = view_of(counts).ranges
    if ranges is None or not (is_divided := _is_divided(thresholds, *ranges)).any():
        return
    low, high = ranges
    threshold = thresholds[is_divided][0]
    divided = (low < threshold) & (threshold <= high)
    # A bin contains its lower end, and not its upper end.
    ends = f"from {low[divided].min()} to {np.nextafter(high[divided].max(), np.inf)}"
    noun, mend = "bin", "a threshold that is an edge of a bin"
    if counts.disclosure.bins is None:
        noun, mend = "range", "counts by bins that were made without min_count and max_cells"
    raise DisclosureError(
        f"the decisions at threshold={threshold:g} are unknown: it is within a {noun} of scores, "
        f"{ends}. Pass {mend}, {otherwise}."
    )


def rates_at(
    counts: ScoreCounts, thresholds: Floats
) -> tuple[dict[str, Floats], dict[str, NDArray[np.int64]]]:
    """Return rates at ascending thresholds, and numbers of rows in their denominators, by name."""
    cells, ranges = counts.cells, view_of(counts).ranges
    scores = cells.scores if ranges is None else ranges[0]
    # Number of thresholds above the score of each cell
    place = thresholds.size - np.searchsorted(thresholds, scores, side="right")
    place += cells.groups * (thresholds.size + 1)
    shape = len(counts), thresholds.size + 1

    def selected(amounts: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the amount of selected rows, and the amount of all rows."""
        of_place = np.bincount(place, amounts, shape[0] * shape[1]).reshape(shape)
        above: Floats = np.cumsum(of_place, axis=1, dtype=np.float64).T
        return above[-2::-1], np.broadcast_to(above[-1], above[1:].shape)

    def shares(
        negatives: NDArray[Any], positives: NDArray[Any]
    ) -> dict[str, tuple[Floats, Floats]]:
        (false, negatives), (true, positives) = selected(negatives), selected(positives)
        rows, chosen = negatives + positives, false + true
        return {
            "selection_rate": (chosen, rows),
            "true_positive_rate": (true, positives),
            "false_positive_rate": (false, negatives),
            "precision": (true, chosen),
            "accuracy": (true + (negatives - false), rows),
        }

    rates = {name: ratio(*share) for name, share in shares(*cells.amounts).items()}
    numbers = shares(cells.negatives, cells.positives)
    return rates, {name: np.rint(n).astype(np.int64) for name, (_, n) in numbers.items()}


def operating_points(counts: ScoreCounts, threshold: float) -> tuple[Floats, Floats]:
    thresholds = np.array([threshold])
    check_edges(counts, thresholds, "or threshold=None")
    rates, _ = rates_at(counts, thresholds)
    return rates["false_positive_rate"][0], rates["true_positive_rate"][0]


def _gaps(rates: Mapping[str, Floats], enough: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    differences, ratios = {}, {}
    for name, rate in rates.items():
        is_compared = enough[name]
        has_two = is_compared.sum(axis=1) > 1
        low = np.where(has_two, np.where(is_compared, rate, np.inf).min(axis=1), np.nan)
        high = np.where(has_two, np.where(is_compared, rate, -np.inf).max(axis=1), np.nan)
        differences[name] = high - low
        ratios[name] = ratio(low, high)
    true, false = "true_positive_rate", "false_positive_rate"
    return {
        "demographic_parity_difference": differences["selection_rate"],
        "demographic_parity_ratio": ratios["selection_rate"],
        "true_positive_rate_difference": differences[true],
        "false_positive_rate_difference": differences[false],
        # fmax and fmin ignore a rate without a gap.
        "equalized_odds_difference": np.fmax(differences[true], differences[false]),
        "equalized_odds_ratio": np.fmin(ratios[true], ratios[false]),
        "precision_difference": differences["precision"],
        "accuracy_difference": differences["accuracy"],
    }
