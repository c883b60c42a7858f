"""Intervals of averages over the classes of `MulticlassGroupAUC`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts import MulticlassRows
from skfedauc.inference import intervals
from skfedauc.inference.class_averages import ClassAverages, Comparison
from skfedauc.inference.paired import PairedRows, near_one
from skfedauc.inference.variances import Floats
from skfedauc.report.group_auc import GroupAUC
from skfedauc.report.statistics import AVERAGES, shares

if TYPE_CHECKING:
    import pandas as pd


class _AUCs(NamedTuple):
    """AUCs of groups (rows) and comparisons (columns); 0 if undefined.

    Attributes
    ----------
    auc, variance, bound, n_smaller_class : ndarray of float64, shape (n_groups, n_comparisons)
        The AUCs, their variances (NaN if unknown), their variances with bounds in place of 0 and of
        unknown variances, and the numbers of rows of the smaller class.
    """

    auc: Floats
    variance: Floats
    bound: Floats
    n_smaller_class: Floats


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
        average : ndarray of float64, shape (n_groups,)
        weights : ndarray of float64, shape (n_groups, n_comparisons)
        """
        total = weights.sum(axis=1, keepdims=True)
        share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        freedom = self._table(lambda report: report.variances.interval_freedom, np.inf)
        variance = self._averages.of_groups(share)
        perfect = _perfect_limits(self._aucs, share, self._tail)
        found = self._limits(average, variance, freedom.min(axis=1), perfect)
        is_bounded = ((share > 0) & ~(self._aucs.variance > 0)).any(axis=1)
        found["note"] = np.where(is_bounded, "a variance is 0 or unknown: bounded", "")
        found["note"][perfect < 1.0] = "perfect separation"
        found["note"][np.isnan(average)] = "a class is absent"
        return {"auc": average, **found}

    def of_statistics(self, class_weights: Floats) -> pd.DataFrame:
        """Return the intervals of the pooled value and of the averages over groups.

        Parameters
        ----------
        class_weights : ndarray of float64, shape (n_comparisons,)
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
        """Return the interval of the pooled value, with the rows of all groups as one sample."""
        parts = [report.variances.pooled for report in self._reports.values()]
        aucs = _AUCs(
            *(
                np.array([[getattr(part, name)[0] for part in parts]])
                for name in ("auc", "delong", "bounded", "n_smaller_class")
            )
        )
        weights = share[None, :]
        value = (weights * aucs.auc).sum(axis=1)
        averages = self._averages_of(aucs, is_pooled=True)
        freedom = np.array([min(part.interval_freedom[0] for part in parts)])
        perfect = _perfect_limits(aucs, weights, self._tail)
        found = self._limits(value, averages.of_groups(weights), freedom, perfect)
        row = {"value": value[0], **{name: column[0] for name, column in found.items()}}
        is_bounded = not (aucs.variance > 0).all()
        return {**row, "note": _note(perfect[0] < 1.0, is_bounded=is_bounded)}

    def _average(self, name: str, share: Floats) -> dict[str, Any] | None:
        """Return the interval of an average over groups; None for an undefined average."""
        weights = np.zeros((self._n_groups, len(share)))
        value, freedom = 0.0, np.inf
        for k, report in enumerate(self._reports.values()):
            of_groups = shares(report.estimates, name)
            if of_groups is None:
                return None
            used = of_groups > 0
            value += share[k] * float(of_groups[used] @ report.estimates.group_aucs[0][used])
            weights[self._places[k], k] = share[k] * of_groups
            freedom = min(freedom, report.variances.average_freedom(of_groups))
        variance, _ = self._averages.of_average(weights)
        perfect = _perfect_limits(self._aucs, weights.reshape(1, -1), self._tail)
        ends = self._limits(np.array([value]), np.array([variance]), np.array([freedom]), perfect)
        row = {"value": value, **{key: column[0] for key, column in ends.items()}}
        is_bounded = bool(np.isnan(self._aucs.variance[weights > 0]).any()) or not variance > 0
        return {**row, "note": _note(perfect[0] < 1.0, is_bounded=is_bounded)}

    def _limits(
        self, value: Floats, variance: Floats, freedom: Floats, perfect: Floats
    ) -> dict[str, Any]:
        """Return standard errors and limits; `perfect` is the lower limit of perfect separation."""
        quantile = np.where(
            np.isinf(freedom),
            intervals.normal_quantile(self._tail),
            intervals.t_quantile(self._tail, np.where(np.isinf(freedom), 1.0, freedom)),
        )
        low, high = intervals.limits(np.nan_to_num(value), variance, quantile, "logit")
        is_perfect = perfect < 1.0
        low, high = np.where(is_perfect, perfect, low), np.where(is_perfect, 1.0, high)
        columns = {"standard_error": np.sqrt(variance), "ci_low": low, "ci_high": high}
        return {name: np.where(np.isnan(value), np.nan, of) for name, of in columns.items()}

    # Rows --------------------------------------------------------------------------------------

    def _table(self, values_of: Callable[[GroupAUC], Floats], absent: float) -> Floats:
        found = np.full((self._n_groups, len(self._reports)), absent)
        for k, report in enumerate(self._reports.values()):
            found[self._places[k], k] = values_of(report)
        return found

    @functools.cached_property
    def _aucs(self) -> _AUCs:
        def table(name: str) -> Floats:
            # A number that replaces an undefined AUC is a constant.
            return self._table(
                lambda report: np.where(report.pairs.defined, getattr(report.variances, name), 0.0),
                0.0,
            )

        return _AUCs(*map(table, ("auc", "delong", "bounded", "n_smaller_class")))

    @functools.cached_property
    def _averages(self) -> ClassAverages:
        return self._averages_of(self._aucs, is_pooled=False)

    def _averages_of(self, aucs: _AUCs, *, is_pooled: bool) -> ClassAverages:
        """Return the variances of averages; `is_pooled` puts all rows into one group."""
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
                    PairedRows(
                        own.positive,
                        [own.scores.astype(np.float64, copy=False)],
                        np.ones(numbers.size) if own.weights is None else near_one(own.weights),
                        own_codes,
                        places.size,
                    ),
                    numbers,
                )
            )
        return ClassAverages(comparisons, codes, clusters, aucs.variance, aucs.bound)


def _perfect_limits(aucs: _AUCs, weights: Floats, tail: float) -> Floats:
    """Return the lower limit of each average of AUCs that are all 1; 1 for other averages.

    Suppose that a true average is smaller than the average of the lower limits of the AUCs. Then
    one of the true AUCs is smaller than its limit, and perfect separation has at most the
    probability `tail`.
    """
    auc, n = (np.broadcast_to(of.reshape(len(weights), -1), weights.shape)
              for of in (aucs.auc, aucs.n_smaller_class))  # fmt: skip
    least = np.exp(np.log(tail) / np.maximum(n, 1e-9))
    is_perfect = ((auc == 1.0) | (weights == 0.0)).all(axis=1)
    found: Floats = np.where(is_perfect, (weights * least).sum(axis=1), 1.0)
    return found


def _note(is_perfect: bool, *, is_bounded: bool) -> str:
    if is_perfect:
        return "perfect separation"
    return "a variance is 0 or unknown: bounded" if is_bounded else ""
