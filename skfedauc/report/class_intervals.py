"""Intervals of averages over the classes of `MulticlassGroupAUC`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import MulticlassRows
from skfedauc.inference import limits
from skfedauc.inference.effects import ClassAverages, Comparison, Rows, near_one
from skfedauc.inference.limits import AUCSpread
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Floats, Variances
from skfedauc.report.group_auc import GroupAUC, estimates_of
from skfedauc.report.statistics import AVERAGES, shares

if TYPE_CHECKING:
    import pandas as pd


class _AUCs(NamedTuple):
    """AUCs of groups (rows) and comparisons (columns); 0 without a variance if undefined.

    Attributes
    ----------
    spread : AUCSpread
        The AUCs, and what determines their limits; arrays of shape (n_groups, n_comparisons).
    is_known : bool array, shape (n_groups, n_comparisons)
        Whether the variance is an estimate above 0, in place of a bound.
    """

    spread: AUCSpread
    is_known: NDArray[np.bool_]


class ClassIntervals:
    """Intervals of averages over the classes.

    Parameters
    ----------
    reports : mapping of GroupAUC
        Report of each comparison.
    rows : MulticlassRows
        Rows of the reports.
    places : sequence of ndarray of intp
        For each report, the number of each of its groups among all groups.
    n_groups : int
        Number of all groups.
    confidence_level : float
    """

    def __init__(
        self,
        reports: Mapping[Any, GroupAUC],
        rows: MulticlassRows,
        places: Sequence[NDArray[np.intp]],
        n_groups: int,
        confidence_level: float,
    ) -> None:
        self._reports, self._rows = reports, rows
        self._places, self._n_groups = places, n_groups
        self._tail = (1.0 - confidence_level) / 2.0

    def of_groups(self, average: Floats, weights: Floats) -> dict[str, Any]:
        """Return the columns of the intervals of each group's average.

        Parameters
        ----------
        average : float64 array, shape (n_groups,)
        weights : float64 array, shape (n_groups, n_comparisons)
        """
        total = weights.sum(axis=1, keepdims=True)
        share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        freedom = np.min(self._aucs.spread.degrees_of_freedom, axis=1)
        return {"auc": average, **self._limits(average, share, self._aucs, freedom)}

    def of_statistics(self, class_weights: Floats) -> pd.DataFrame:
        """Return the intervals of the pooled value and the averages over groups.

        Parameters
        ----------
        class_weights : float64 array, shape (n_comparisons,)
        """
        import pandas as pd

        share = class_weights / class_weights.sum()
        table = {"pooled": self._pooled(share)}
        for name in AVERAGES:
            found = self._average(name, share)
            if found is not None:
                table[name] = found
        columns = pd.DataFrame(table.values(), index=pd.Index(table, name="statistic"))
        return columns[["value", "standard_error", "ci_low", "ci_high", "note"]]

    # Statistics --------------------------------------------------------------------------------

    def _pooled(self, share: Floats) -> dict[str, Any]:
        """Return the interval of the pooled value, with the rows in all groups as one sample."""
        parts = [estimates_of(report).pooled.rows for report in self._reports.values()]
        aucs = _aucs_of(parts, [np.zeros(1, np.intp)] * len(parts), 1)
        value = np.array([share @ aucs.spread.auc[0]])
        freedom = np.min(aucs.spread.degrees_of_freedom, axis=1)
        found = self._limits(value, share[None, :], aucs, freedom)
        return {"value": value[0], **{name: column[0] for name, column in found.items()}}

    def _average(self, name: str, share: Floats) -> dict[str, Any] | None:
        """Return the interval of an average over groups; None for an undefined average."""
        weights = np.zeros((self._n_groups, len(share)))
        value, freedom = 0.0, np.inf
        for k, report in enumerate(self._reports.values()):
            of_groups = shares(estimates_of(report), name)
            if of_groups is None:
                return None
            used = of_groups > 0
            value += share[k] * float(of_groups[used] @ estimates_of(report).group_values[0][used])
            weights[self._places[k], k] = share[k] * of_groups
            freedom = min(freedom, estimates_of(report).variances.average_freedom(of_groups))
        of_all = np.array([value]), weights, self._aucs, np.array([freedom])
        found = self._limits(*of_all, is_average=True)
        return {"value": value, **{key: column[0] for key, column in found.items()}}

    def _limits(
        self,
        value: Floats,
        weights: Floats,
        aucs: _AUCs,
        freedom: Floats,
        *,
        is_average: bool = False,
    ) -> dict[str, Any]:
        """Return standard errors, limits and notes of averages by group, or of one average."""
        averages = self._averages if aucs is self._aucs else self._averages_of(aucs)
        deviation = averages.of_average if is_average else averages.of_groups
        deviate = normal_quantile(self._tail)
        spread = aucs.spread._replace(degrees_of_freedom=freedom[:, None])
        error = np.array(deviation(weights * np.sqrt(spread.variance)))
        quantile = np.ravel(spread.quantile(deviate))
        low, high = limits.limits(np.nan_to_num(value), error**2, quantile, "logit")
        least, most = spread.limits(deviate, "logit")
        low = np.minimum(low, value - deviation(weights * (spread.auc - least)))
        high = np.maximum(high, value + deviation(weights * (most - spread.auc)))

        def by_average(condition: NDArray[np.bool_]) -> NDArray[np.bool_]:
            return np.atleast_1d(condition.any(axis=None if is_average else 1))

        used = weights > 0
        note = np.where(
            by_average(used & ~aucs.is_known), "a variance is 0 or unknown: bounded", ""
        )
        note = np.where(by_average(used & (spread.auc < 1)), note, "perfect separation")
        note = np.where(np.isnan(value), "a class is absent", note)
        columns = {"standard_error": error, "ci_low": np.maximum(low, 0.0),
                   "ci_high": np.minimum(high, 1.0)}  # fmt: skip
        columns = {name: np.where(np.isnan(value), np.nan, of) for name, of in columns.items()}
        return {**columns, "note": note}

    # Rows --------------------------------------------------------------------------------------

    @functools.cached_property
    def _aucs(self) -> _AUCs:
        parts = [estimates_of(report).variances for report in self._reports.values()]
        return _aucs_of(parts, self._places, self._n_groups)

    @functools.cached_property
    def _averages(self) -> ClassAverages:
        return self._averages_of(self._aucs)

    def _averages_of(self, aucs: _AUCs) -> ClassAverages:
        """Return the deviations of averages of the AUCs by group, or of all rows as one group."""
        is_pooled = aucs is not self._aucs
        first = self._rows.first
        n_rows = first.positive.size
        clusters = np.arange(n_rows) if first.clusters is None else first.clusters
        codes, comparisons = np.zeros(n_rows, np.intp), []
        for key, places in zip(self._reports, self._places, strict=True):
            own, numbers = self._rows.of(key), self._rows.numbers(key)
            own_codes = np.zeros(numbers.size, np.intp) if own.codes is None else own.codes
            if is_pooled:
                own_codes, places = np.zeros_like(own_codes), np.zeros(1, np.intp)
            codes[numbers] = places[own_codes]
            comparisons.append(
                Comparison(
                    Rows(
                        own.positive,
                        own.scores.astype(np.float64, copy=False)[None],
                        np.ones(numbers.size) if own.weights is None else near_one(own.weights),
                        own_codes,
                        places.size,
                    ),
                    numbers,
                )
            )
        return ClassAverages(comparisons, codes, clusters, aucs.is_known)


def _aucs_of(
    parts: Sequence[Variances], places: Sequence[NDArray[np.intp]], n_groups: int
) -> _AUCs:
    """Return the AUCs of the comparisons, whose groups have these places among all groups."""
    # A number that replaces an undefined AUC is a constant.
    constant = (0.0, 0.0, 1.0, 0.0, 0.0, np.inf)
    tables = [np.full((n_groups, len(parts)), value) for value in constant]
    is_known = np.zeros((n_groups, len(parts)), np.bool_)
    for k, (of, place) in enumerate(zip(parts, places, strict=True)):
        own = place[of.defined]
        for table, values in zip(tables, AUCSpread.of(of).take(of.defined), strict=True):
            table[own, k] = values
        is_known[own, k] = of.delong[of.defined] > 0
    return _AUCs(AUCSpread(*tables), is_known)
