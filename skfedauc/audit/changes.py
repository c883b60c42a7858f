"""Changes between two models on the same rows: tables, and the p values of their tests."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc.audit.claims import Claims, Floats, Questions, adjusted_together
from skfedauc.audit.gaps import LEVEL
from skfedauc.audit.names import crossed
from skfedauc.counts.moments import ratio
from skfedauc.inference.changed_pairs import ChangedPairs, changed_pairs
from skfedauc.inference.effects import Rows
from skfedauc.inference.largest_gap import GroupValues, gap_change
from skfedauc.inference.models import (
    Comparisons,
    Joint,
    RowValues,
    auc_values,
    compare_all,
    compare_average,
    joint_cross,
    joint_disparities,
    joint_pooled,
    joint_within,
    tested,
)
from skfedauc.inference.paired_rates import RateChanges, rate_changes
from skfedauc.inference.quantiles import t_quantile
from skfedauc.report import by_number, estimates_of, shares
from skfedauc.report.statistics import MATRIX_GROUPS

if TYPE_CHECKING:
    from skfedauc.audit.fairness_audit import FairnessAudit

# Numbers of the first and of the second model
_PAIR = np.array([0]), np.array([1])
_TESTED = ["change", "ci_low", "ci_high", "pvalue", "pvalue_adjusted"]
# Name of the larger gap of two rates. The larger gap is not tested: the gap of each rate is tested.
_OF_TWO_RATES = "equalized_odds_difference"
# Rates that define each gap, by name of the gap
_GAPS_OF_RATES = {
    "demographic_parity_difference": ("selection_rate",),
    "true_positive_rate_difference": ("true_positive_rate",),
    "false_positive_rate_difference": ("false_positive_rate",),
    _OF_TWO_RATES: ("true_positive_rate", "false_positive_rate"),
}
_WITH_RATIO = ("demographic_parity_difference", _OF_TWO_RATES)
# Share of all pairs below which a difference of sums of weights is rounding error
_ROUNDING = 1e-12


class ComparedRows(NamedTuple):
    """Rows with the scores and the decisions of two models.

    Attributes
    ----------
    rows : Rows
        Labels, scores, weights and groups.
    decisions : ndarray of bool, shape (2, n_rows), or None
        Whether each model predicts the positive class; None unless both models have decisions.
    """

    rows: Rows
    decisions: NDArray[np.bool_] | None


class Changes:
    """Changes between two models: tables with tests, adjusted for all claims.

    Parameters
    ----------
    audits : sequence of two FairnessAudit
        Audits of the first and of the second model on the same rows.
    compared : ComparedRows
        The rows of the audits.
    """

    def __init__(self, audits: Sequence[FairnessAudit], compared: ComparedRows) -> None:
        self.audits = tuple(audits)
        self._rows, self._decisions = compared
        self._groups = audits[0].comparison
        self._is_compared = ~self._groups.is_small

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of all groups."""
        return self._groups.groups

    @property
    def has_decisions(self) -> bool:
        """Whether both models have decisions."""
        return self._decisions is not None

    # Tests -------------------------------------------------------------------------------

    @functools.cached_property
    def _values(self) -> tuple[RowValues, RowValues]:
        return auc_values(self._rows)

    @functools.cached_property
    def _within(self) -> Joint:
        return joint_within(self._rows, self._values[0])

    @functools.cached_property
    def _joint(self) -> dict[str, Comparisons]:
        """Pooled AUC, and AUCs of the pairs within and across groups, of both models."""
        rows, share = self._rows, shares(estimates_of(self.audits[0].report), "within")
        own, pooled = self._values
        share = np.zeros(rows.n_groups) if share is None else share
        bounded = np.array([estimates_of(audit.report).variances.bounded for audit in self.audits])
        return {
            "pooled": compare_all(joint_pooled(rows, pooled), _PAIR, LEVEL),
            "cross": compare_all(joint_cross(rows, own, pooled), _PAIR, LEVEL),
            "within": compare_average(self._within, share, bounded, _PAIR, LEVEL),
        }

    @functools.cached_property
    def _pairs(self) -> dict[str, ChangedPairs]:
        """Weights of the pairs whose order changed, as a single group of pairs of each kind."""
        rows = self._rows
        pooled = changed_pairs(rows.pooled())
        within = ChangedPairs(*(of.sum(keepdims=True) for of in changed_pairs(rows)))
        # Rounding errors of weighted sums are not changes.
        least = _ROUNDING * pooled.pairs
        cross = ChangedPairs(
            *(np.where(a - b > least, a - b, 0.0) for a, b in zip(pooled, within, strict=True))
        )
        return {"within": within, "cross": cross, "pooled": pooled}

    @functools.cached_property
    def _of_groups(self) -> dict[str, Comparisons]:
        """Values before and after by quantity and group, with tests unless a group is small."""
        rows, keep = self._rows, self._is_compared
        variance = np.where(keep, self._within.variance[0, 1], np.nan)
        before, after = (estimates_of(audit.report).pairs.auc for audit in self.audits)
        found = {"auc": _tested(before, after, variance, self._within.freedom[0, 1])}
        disparity = []
        for audit in self.audits:
            of_model, of_compared = (
                by_number(of.counts, of.bias_by_group)["xauc_disparity"].to_numpy().copy()
                for of in (audit.report, audit.compared)
            )
            of_model[keep] = of_compared
            disparity.append(of_model)
        variance, freedom = np.full((2, keep.size), np.nan)
        if keep.sum() > 1:
            joint = joint_disparities(rows.of_groups(keep))
            variance[keep], freedom[keep] = joint.variance[0, 1], joint.freedom[0, 1]
        before, after = disparity
        found["xauc_disparity"] = _tested(before, after, variance, freedom)
        for rate, of in self._rates.items():
            has_enough = self._groups.has_enough[rate]
            low, high, pvalue = (np.where(has_enough, values, np.nan) for values in of[2:5])
            change, statistic = of.after - of.before, np.full(keep.size, np.nan)
            found[rate] = Comparisons(
                of.before, of.after, change, low, high, statistic, pvalue, pvalue
            )
        return found

    @functools.cached_property
    def _rates(self) -> dict[str, RateChanges]:
        """Changes of the rates of decisions, by rate; empty without decisions."""
        if self._decisions is None:
            return {}
        rows = self._rows
        among = {
            "selection_rate": np.ones(rows.positive.size, np.bool_),
            "true_positive_rate": rows.positive,
            "false_positive_rate": ~rows.positive,
        }
        return {
            rate: rate_changes(
                self._decisions[:, mine],
                rows.codes[mine],
                rows.n_groups,
                rows.weights[mine],
                LEVEL,
            )
            for rate, mine in among.items()
        }

    @functools.cached_property
    def _gap_changes(self) -> dict[str, tuple[float, float, float]]:
        """Confidence limits and p value of the changes of gaps, by gap."""
        quantities = {
            "difference": [
                GroupValues.of_aucs(self._rows, self._values[0]).of_groups(self._is_compared)
            ]
        }
        for gap, rates in _GAPS_OF_RATES.items():
            quantities[gap] = [
                self._rates[rate].values.of_groups(self._groups.has_enough[rate])
                for rate in rates
                if rate in self._rates and self._groups.has_enough[rate].sum() > 1
            ]
        found = {}
        for gap, of_gap in quantities.items():
            if of_gap and of_gap[0].values.shape[1] > 1:
                found[gap] = gap_change(of_gap, LEVEL)[1:]
        return found

    @functools.cached_property
    def claims(self) -> Claims:
        """P values of all changes, adjusted together."""
        pvalues: dict[str, Floats] = {name: of.pvalue for name, of in self._joint.items()}
        for quantity, of in self._of_groups.items():
            pvalue = of.pvalue
            if quantity == "xauc_disparity" and self._is_compared.sum() == 2:
                # The disparities of two groups differ in sign only, and have one joint claim.
                pvalue = pvalue[self._is_compared][:1]
            pvalues[quantity] = pvalue
        # The larger gap of two rates is no separate claim.
        pvalues["gaps"] = np.array(
            [gap_of[2] for gap, gap_of in self._gap_changes.items() if gap != _OF_TWO_RATES]
        )
        columns = crossed(self._groups.columns)
        (claims,) = adjusted_together([columns], [pvalues])
        return claims

    @property
    def _adjusted(self) -> Questions:
        return self.claims.adjusted

    # Tables ------------------------------------------------------------------------------

    def quality(self) -> pd.DataFrame:
        """Return the table `AuditComparison.quality`."""
        rows = {}
        for name in ("pooled", "within"):
            values = [float(column[0]) for column in self._joint[name]]
            rows[name] = [*values[:5], values[6], self._adjusted[name][0]]
        before, after = (audit.compared.worst for audit in self.audits)
        rows["worst"] = [before, after, after - before, *[np.nan] * 4]
        columns = ["before", "after", *_TESTED]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def decomposition(self) -> pd.DataFrame:
        """Return the table `AuditComparison.decomposition`."""
        rows, total = {}, float(self._pairs["pooled"].pairs[0])
        for name, of in self._pairs.items():
            found = self._joint[name]
            pairs, raised, lowered, reversed_pairs = (float(amount[0]) for amount in of)
            share = pairs / total
            change = float(found.difference[0])
            rows[name] = {
                "share": share,
                "before": found.value_a[0],
                "after": found.value_b[0],
                "change": change,
                "ci_low": found.ci_low[0],
                "ci_high": found.ci_high[0],
                "pvalue": found.pvalue[0],
                "pvalue_adjusted": self._adjusted[name][0],
                "contribution": share * change if share else 0.0,
                "raised": raised / pairs if pairs else np.nan,
                "lowered": lowered / pairs if pairs else np.nan,
                "reordered": (raised + lowered) / pairs if pairs else np.nan,
                "reversed": reversed_pairs / pairs if pairs else np.nan,
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    def by_group(self) -> pd.DataFrame:
        """Return the table `AuditComparison.by_group`."""
        tables = {}
        for quantity, found in self._of_groups.items():
            adjusted = self._adjusted[quantity]
            if adjusted.size != len(self.groups):
                adjusted = np.where(self._is_compared, adjusted[0], np.nan)
            values = *found[:5], found.pvalue, adjusted
            columns = dict(zip(["before", "after", *_TESTED], values, strict=True))
            tables[quantity] = pd.DataFrame(columns, index=self._groups.index)
        return pd.concat(tables, names=["quantity"])

    def gaps(self) -> pd.DataFrame:
        """Return the table `AuditComparison.gaps`."""
        rows = {}
        adjusted = iter(self._adjusted["gaps"])
        for gap, (before, after) in self._gap_values().items():
            low, high, pvalue = self._gap_changes.get(gap, (np.nan,) * 3)
            is_claim = gap in self._gap_changes and gap != _OF_TWO_RATES
            of_claim = next(adjusted) if is_claim else np.nan
            rows[gap] = [before, after, after - before, low, high, pvalue, of_claim]
        columns = ["before", "after", *_TESTED]
        table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
        return table.rename_axis("gap")

    def _gap_values(self) -> dict[str, list[float]]:
        """Gaps before and after, in the order of the table."""
        compared = [audit.compared for audit in self.audits]
        has_gaps = compared[0].n_groups > 1
        found = {
            gap: [float(report.statistic(gap)) if has_gaps else np.nan for report in compared]
            for gap in ("difference", "ratio", "cross_difference")
            if gap != "cross_difference" or compared[0].n_groups <= MATRIX_GROUPS
        }
        differences: dict[str, Floats] = {}
        ratios: dict[str, Floats] = {}
        for rate, of_rate in self._rates.items():
            values = of_rate.values.values[:, self._groups.has_enough[rate]]
            if values.shape[1] < 2:
                differences[rate] = ratios[rate] = np.full(2, np.nan)
                continue
            low, high = values.min(axis=1), values.max(axis=1)
            differences[rate], ratios[rate] = high - low, ratio(low, high)
        for gap, rates in _GAPS_OF_RATES.items() if self._rates else ():
            # As in audits, odds without rows in one of the rates have the gap of the other rate.
            found[gap] = np.fmax.reduce([differences[rate] for rate in rates]).tolist()
            if gap in _WITH_RATIO:
                of_ratios = np.fmin.reduce([ratios[rate] for rate in rates]).tolist()
                found[gap.replace("_difference", "_ratio")] = of_ratios
        return found


def _tested(before: Floats, after: Floats, variance: Floats, freedom: Floats) -> Comparisons:
    """Compare values by group, each with its own limits."""
    return tested(before, after, variance, freedom, t_quantile((1.0 - LEVEL) / 2.0, freedom))
