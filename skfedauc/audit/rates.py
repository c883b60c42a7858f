"""Rates of decisions by group, with limits, from counts by group, class and decision.

Each rate is a share of the rows in its denominator. The denominators of the selection rate, the
accuracy and the prevalence (all rows), and of the true and false positive rate (positives,
negatives) do not depend on the decisions. The denominators of the precision and the false discovery
rate (selected rows) and of the false omission rate (other rows) depend on the decisions. The limits
of these three rates are conditional on the observed number of rows in the denominator.

References
----------
.. [1] Kish, L. (1965). Survey sampling. Wiley.
.. [2] Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap. Chapman and Hall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows
from skfedauc.counts.score_counts import with_weights_over
from skfedauc.inference import rates as limits_of
from skfedauc.inference.limits import check_confidence_level
from skfedauc.inference.rates import ClusterSums

Floats = NDArray[np.float64]
RateMethod = Literal["exact", "bootstrap"]

# Rows of the four cells [negatives, positives] x [not selected, selected]
_ALL, _POSITIVES, _NEGATIVES = ((1, 1), (1, 1)), ((0, 0), (1, 1)), ((1, 1), (0, 0))
_SELECTED, _OTHERS = ((0, 1), (0, 1)), ((1, 0), (1, 0))
# Cells of the denominator, and cells of the numerator
_DEFINITIONS = {
    "selection_rate": (_ALL, _SELECTED),
    "true_positive_rate": (_POSITIVES, _SELECTED),
    "false_positive_rate": (_NEGATIVES, _SELECTED),
    "precision": (_SELECTED, _POSITIVES),
    "false_discovery_rate": (_SELECTED, _NEGATIVES),
    "false_omission_rate": (_OTHERS, _POSITIVES),
    "accuracy": (_ALL, ((1, 0), (0, 1))),
    "prevalence": (_ALL, _POSITIVES),
}
ALL_RATES = tuple(_DEFINITIONS)

_LEAST_RESAMPLES = 100
# Largest product of the numbers of resamples and groups that are drawn at once
_MOST_DRAWN = 1_000_000


class RateCounts(NamedTuple):
    """Rows by class, decision and group.

    Attributes
    ----------
    n : ndarray of int64, shape (2, 2, n_groups)
        Numbers of rows: negatives before positives, rows that are not selected before selected
        rows.
    weight, squares : ndarray of float64, shape (2, 2, n_groups)
        Sums of the weights and of the squared weights; both sums equal `n` without weights.
    """

    n: NDArray[np.int64]
    weight: Floats
    squares: Floats

    @classmethod
    def of(cls, decisions: ScoreCounts) -> RateCounts:
        """Count the rows of decisions, whose scores are 0 and 1."""
        counts = with_weights_over(decisions, decisions.weight_exponent)
        starts, scores, negatives, positives, weights = counts.cells
        selected = scores > 0.5
        n = (negatives, positives)
        parts = (n, n, n) if weights is None else (n, weights[:2], weights[2:])

        def by_group(amounts: Any, dtype: Any) -> NDArray[Any]:
            sides = (~selected, selected)
            cells = [np.where(side, one, 0) for one in amounts for side in sides]
            found = np.add.reduceat(cells, starts[:-1], axis=1, dtype=dtype)
            return np.asarray(found.reshape(2, 2, -1))

        return cls(*map(by_group, parts, (np.int64, np.float64, np.float64)))

    def rows(self, rate: str) -> ClassRows:
        """Return the rows in the denominator of a rate, by group."""
        of_denominator, _ = _DEFINITIONS[rate]
        return ClassRows(*(_total(part, of_denominator) for part in self))

    def shares(self, rate: str) -> Floats:
        """Return a rate by group; NaN for groups without rows in the denominator."""
        return shares_of(self.weight, rate)

    def total_of(self, included: NDArray[np.bool_], *, without_own: bool) -> RateCounts:
        """Return the total of the included groups, for each group optionally without its rows."""
        kept = [np.where(included, part, 0) for part in self]
        totals = [part.sum(axis=-1, keepdims=True) for part in kept]
        if not without_own:
            return RateCounts(*totals)
        rest = [total - part for total, part in zip(totals, kept, strict=True)]
        # Without rows, the subtraction of weights leaves a rounding error.
        return RateCounts(*(np.where(rest[0] > 0, part, 0) for part in rest))


def cluster_sums(decisions: ClusterCounts, rate: str) -> ClusterSums:
    """Return the sums of a rate by unit; a unit holds the rows of one cluster in one group."""
    of_denominator, of_events = (np.array(cells, bool) for cells in _DEFINITIONS[rate])
    counted = RateCounts.of(decisions.units)
    return ClusterSums(
        decisions.group_of,
        decisions.cluster_of,
        _total(counted.weight, of_denominator & of_events),
        _total(counted.weight, of_denominator),
        _total(counted.squares, of_denominator),
        decisions.n_groups,
        decisions.n_clusters,
    )


def _total(part: NDArray[Any], cells: Any) -> NDArray[Any]:
    """Return the sum of some of the cells; the first two axes are class and decision."""
    return np.asarray(part[np.array(cells, bool)].sum(axis=0))


def shares_of(weight: NDArray[Any], rate: str) -> Floats:
    """Return a rate from weights by class and decision, shape (2, 2, ...); NaN without rows."""
    denominator, events = (np.array(cells, bool) for cells in _DEFINITIONS[rate])
    of_events = weight[denominator & events].sum(axis=0)
    # The sum of two parts is exactly the numerator if the other part is 0.
    total = of_events + weight[denominator & ~events].sum(axis=0)
    shares: Floats = np.full(total.shape, np.nan)
    np.divide(of_events, total, out=shares, where=total > 0)
    return shares


@dataclass(frozen=True, eq=False)
class RateTable:
    """Input of a table of rates.

    Attributes
    ----------
    counts : RateCounts
    index : pandas.Index
        Labels of the groups.
    least_rows : int
        Least number of rows in the denominator for a comparison.
    reference : int or None
        Number of the reference group, or None for the other groups together.
    is_weighted : bool
        Whether rows have weights.
    clusters : ClusterCounts or None
        Decisions by group and cluster, or None if all rows are independent.
    """

    counts: RateCounts
    index: pd.Index
    least_rows: int
    reference: int | None
    is_weighted: bool
    clusters: ClusterCounts | None = None

    def table(
        self, method: Any, confidence_level: Any, n_resamples: Any, random_state: Any
    ) -> pd.DataFrame:
        """Return the table of `FairnessAudit.rates`."""
        _input.check_option("method", method, ("exact", "bootstrap"))
        tail = (1.0 - check_confidence_level(confidence_level)) / 2.0
        n_resamples = _input.check_whole_number(n_resamples, "n_resamples", _LEAST_RESAMPLES)
        if method == "bootstrap" and self.is_weighted:
            raise ValueError(
                "method='bootstrap' draws numbers of rows, and does not know the weight of each "
                "row: pass method='exact', whose limits allow for weights."
            )
        if method == "bootstrap" and self.clusters is not None:
            raise ValueError(
                "method='bootstrap' draws single rows, and the rows of this audit are dependent "
                "within clusters: pass method='exact', whose limits allow for clusters."
            )
        tables = {rate: self._of_rate(rate, tail) for rate in ALL_RATES}
        if method == "bootstrap":
            seed = int(_input.check_random_state(random_state).randint(np.iinfo(np.int32).max))
            self._set_bootstrap_limits(tables, tail, n_resamples, seed)
        return pd.concat(tables, names=["rate", *self.index.names])

    def _is_compared(self, rate: str) -> NDArray[np.bool_]:
        """Return whether each group has enough rows for a comparison."""
        enough = np.asarray(self.counts.rows(rate).n >= self.least_rows)
        if self.reference is None:
            return enough
        is_other = np.arange(enough.size) != self.reference
        return np.asarray(enough & is_other & enough[self.reference])

    def _is_in_reference(self, rate: str) -> NDArray[np.bool_]:
        """Return whether each group is in the reference of other groups."""
        if self.reference is not None:
            return np.asarray(np.arange(len(self.index)) == self.reference)
        return np.asarray(self.counts.rows(rate).n >= self.least_rows)

    def _limits(
        self, rate: str, tail: float
    ) -> tuple[limits_of.Limits, limits_of.Limits, Floats | None]:
        """Return the limits of each group and of its reference, and the correlations of both."""
        is_rest, limits = self.reference is None, limits_of.clopper_pearson
        shares = self.counts.shares(rate)
        reference = self.counts.total_of(self._is_in_reference(rate), without_own=is_rest)
        others = reference.shares(rate)
        if self.clusters is None:
            own = limits(shares, self.counts.rows(rate).effective, tail)
            return own, limits(others, reference.rows(rate).effective, tail), None
        sums = cluster_sums(self.clusters, rate)
        own = limits(shares, sums.shares, tail)
        if self.reference is None:
            of_others, correlation = sums.of_others(self._is_in_reference(rate))
            return own, limits(others, of_others, tail), correlation
        of_one = limits_of.Limits(*(part[[self.reference]] for part in own))
        return own, of_one, sums.correlation_with(self.reference)

    def _of_rate(self, rate: str, tail: float) -> pd.DataFrame:
        rows = self.counts.rows(rate)
        own, other, correlation = self._limits(rate, tail)
        compared = self._is_compared(rate)
        columns: dict[str, Any] = {
            "value": own.value,
            "ci_low": own.low,
            "ci_high": own.high,
            "n_rows": rows.n,
            "reference_value": np.where(compared, other.value, np.nan),
        }
        compare = {"difference": limits_of.difference, "ratio": limits_of.ratio}
        for name, function in compare.items():
            found = function(own, other, correlation)
            for column, part in zip(_columns(name), found, strict=True):
                columns[column] = np.where(compared, part, np.nan)
        return pd.DataFrame(columns, index=self.index)

    def _set_bootstrap_limits(
        self, tables: Mapping[str, pd.DataFrame], tail: float, n_resamples: int, seed: int
    ) -> None:
        """Replace the limits by percentiles of resampled rates [2]_.

        The draws are multinomial within each group. Blocks of groups bound the memory. The first
        pass adds up the draws of the reference, which can be the other groups.
        """
        n_groups = len(self.index)
        size = max(_MOST_DRAWN // n_resamples, 1)
        blocks = [slice(start, start + size) for start in range(0, n_groups, size)]
        included = {rate: self._is_in_reference(rate) for rate in tables}
        totals: dict[str, Any] = dict.fromkeys(tables, 0)
        for block in blocks:
            drawn = self._drawn(block, n_resamples, seed)
            for rate in tables:
                totals[rate] += drawn[..., included[rate][block]].sum(axis=-1, keepdims=True)
        for block in blocks:
            drawn = self._drawn(block, n_resamples, seed)
            for rate, table in tables.items():
                own, reference = shares_of(drawn, rate), totals[rate]
                if self.reference is None:
                    reference = reference - np.where(included[rate][block], drawn, 0)
                other = shares_of(reference, rate)
                with np.errstate(divide="ignore", invalid="ignore"):
                    values = {"value": own, "difference": own - other, "ratio": own / other}
                for name, resamples in values.items():
                    for column, limit in zip(
                        _columns(name)[1:], _percentiles(resamples, tail), strict=True
                    ):
                        # Groups without a comparison keep NaN.
                        is_known = table[column].notna().to_numpy()[block]
                        changed = table[column].to_numpy(copy=True)
                        changed[block] = np.where(is_known, limit, np.nan)
                        table[column] = changed

    def _drawn(self, block: slice, n_resamples: int, seed: int) -> NDArray[np.int64]:
        """Return resampled numbers of rows, shape (2, 2, n_resamples, n_groups of the block)."""
        n = self.counts.n[..., block].reshape(4, -1).T
        rng = np.random.default_rng([seed, block.start])
        total = n.sum(axis=1)
        drawn = rng.multinomial(total, n / total[:, None], (n_resamples, total.size))
        return np.moveaxis(drawn, -1, 0).reshape(2, 2, n_resamples, -1)


def _columns(name: str) -> tuple[str, str, str]:
    """Return the names of the columns of an estimate and its limits."""
    prefix = "" if name == "value" else f"{name}_"
    return name, f"{prefix}ci_low", f"{prefix}ci_high"


def _percentiles(values: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return order statistics of resamples, shape (n_resamples, n_values), without undefined ones.

    Interpolation is not possible because resampled ratios can be infinite.
    """
    ordered = np.sort(values, axis=0)  # NaN last
    last = (~np.isnan(ordered)).sum(axis=0) - 1
    columns = np.arange(values.shape[1])
    low = ordered[np.floor(tail * np.maximum(last, 0)).astype(np.intp), columns]
    high = ordered[np.ceil((1.0 - tail) * np.maximum(last, 0)).astype(np.intp), columns]
    return low, high
