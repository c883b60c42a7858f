"""`AuditTables`: tables and facts of an audit, the input of findings and page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.audit import calibration as calibrating
from skfedauc.audit import decisions as deciding
from skfedauc.audit.claims import Claims, Questions
from skfedauc.audit.gaps import LEVEL, GroupComparison
from skfedauc.audit.names import by, named_in
from skfedauc.audit.rates import RateTable
from skfedauc.counts import ScoreCounts
from skfedauc.inference.differences import DifferenceTest
from skfedauc.report import GroupAUC, by_number, estimates_of
from skfedauc.report.threshold_sweep import ThresholdSweep

Favorable = Literal["positive", "negative"]


@dataclass(frozen=True, eq=False)
class AuditTables:
    """Tables, reports and facts of an audit.

    Attributes
    ----------
    report, compared : GroupAUC
        Report on all groups, and on the groups in the comparisons of AUCs.
    columns : tuple of str
        Names of the sensitive columns.
    within : mapping of str to object
        Control columns and their labels, see `FairnessAudit.within`.
    by_group, gaps, quality, tolerances : DataFrame
        Tables, see the attributes of `FairnessAudit` with these names.
    left_out : mapping of str to tuple
        Groups with too few rows for the comparison of AUCs and of each rate.
    has_enough : mapping of str to ndarray of bool
        Whether each group has enough rows for the comparison of a rate, by rate.
    reversed_groups : tuple
        Groups whose AUC is significantly below 0.5.
    largest_difference : DifferenceTest or None
        Test of the largest difference of AUCs, or None for fewer than two compared groups.
    claims : Claims
        P values of all claims.
    min_per_class : int
        Least number of rows, positives or negatives for a comparison.
    reference : object
        Label of the reference group, or None for the other groups together.
    favorable : {"positive", "negative"} or None
        The class that is the favorable outcome.
    has_decisions : bool
        Whether the audit has decisions.
    threshold : float or None
        Threshold of the decisions, or None.
    is_ranking_chosen : bool
        Whether the user asked for the ranking alone.
    facts : mapping of str to object
        Declared facts and provenance, see `FairnessAudit.facts`.
    intersections : callable
        Function without arguments that returns the table `FairnessAudit.intersections`, or None for
        a single column. The page and the document need the table, and findings do not.
    calibration : DataFrame or None
        Table `FairnessAudit.calibration`, or None without a test of calibration.
    sweep : callable
        Function without arguments that returns the result of `FairnessAudit.sweep`, or None in an
        audit of the ranking alone.
    rates : callable
        Function without arguments that returns the table of `FairnessAudit.rates`, or None in an
        audit of the ranking alone.
    """

    report: GroupAUC
    compared: GroupAUC
    columns: tuple[str, ...]
    within: Mapping[str, Any]
    by_group: pd.DataFrame
    gaps: pd.DataFrame
    quality: pd.DataFrame
    tolerances: pd.DataFrame
    left_out: Mapping[str, tuple[Any, ...]]
    has_enough: Mapping[str, NDArray[np.bool_]]
    reversed_groups: tuple[Any, ...]
    largest_difference: DifferenceTest | None
    claims: Claims
    min_per_class: int
    reference: Any
    favorable: Favorable | None
    has_decisions: bool
    threshold: float | None
    is_ranking_chosen: bool
    facts: Mapping[str, Any]
    intersections: Callable[[], pd.DataFrame | None]
    calibration: pd.DataFrame | None
    sweep: Callable[[], ThresholdSweep | None]
    rates: Callable[[], pd.DataFrame | None]

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of all groups."""
        return self.report.counts.groups or ()

    @property
    def grouping(self) -> str:
        """Names of the sensitive columns, and of control columns with their labels."""
        levels = itertools.starmap(named_in, self.within.items())
        return " within ".join([by(self.columns), *levels])

    @property
    def is_weighted(self) -> bool:
        """True if rows have weights."""
        return self.report.counts.is_weighted

    @property
    def is_binned(self) -> bool:
        """True for binned scores."""
        return estimates_of(self.report).pairs.is_binned


def classes_in_words(counts: ScoreCounts) -> str:
    """Return the names of the classes, ``yes (negative class: no)``.

    The result is empty if the names are unknown, or if they are 1 and either 0 or -1.
    """
    seen, positive = counts.classes
    if positive is None or (positive == 1 and {*seen} <= {-1, 0, 1}):
        return ""
    negative = [_words.shortened_label(label) for label in seen if label != positive]
    of_negative = f" (negative class: {negative[0]})" if negative else ""
    return f"{_words.shortened_label(positive)}{of_negative}"


def by_group(comparison: GroupComparison, claims: Claims) -> pd.DataFrame:
    """Return the table `FairnessAudit.by_group` of the groups."""
    report, compared = comparison.report, comparison.compared
    is_compared = ~comparison.is_small
    intervals = by_number(report.counts, report.confidence_intervals(confidence_level=LEVEL))
    table = pd.DataFrame(
        {
            "n_positives": report.counts.n_positives,
            "n_negatives": report.counts.n_negatives,
            "is_small": comparison.is_small,
            "auc": intervals["auc"].to_numpy(),
            "ci_low": intervals["ci_low"].to_numpy(),
            "ci_high": intervals["ci_high"].to_numpy(),
        },
        index=comparison.index,
    )
    with_reference = comparison.with_reference
    of_groups = claims.adjusted["difference" if compared.n_groups == 2 else "group_auc"]
    own_pvalue = with_reference["pvalue"].to_numpy()
    if compared.n_groups == 2:
        # Both rows have the p value of the comparison of the two groups.
        own_pvalue = np.repeat(claims.pvalues["difference"], 2)
        if comparison.reference is not None:
            own_pvalue[with_reference["pvalue"].isna()] = np.nan
    bias, of_compared = (
        by_number(of.counts, of.bias_by_group).drop(columns="auc") for of in (report, compared)
    )
    bias.loc[is_compared] = of_compared.to_numpy()
    for name, values in (
        ("reference_auc", with_reference["reference_auc"].to_numpy()),
        ("pvalue", own_pvalue),
        ("pvalue_adjusted", np.where(np.isnan(own_pvalue), np.nan, of_groups)),
        *((column, bias[column].to_numpy()) for column in bias.columns[:3]),
        ("xauc_pvalue", comparison.cross_gaps.pvalue),
        ("xauc_pvalue_adjusted", claims.adjusted["cross_ranking"]),
        *((column, bias[column].to_numpy()) for column in bias.columns[3:]),
        *((rate, comparison.rates[rate]) for rate in deciding.RATES),
    ):
        if len(values) == len(table):
            table[name] = values
        else:
            table[name] = np.nan
            table.loc[is_compared, name] = np.broadcast_to(values, int(is_compared.sum()))
    return table


def gaps(comparison: GroupComparison, adjusted: Questions) -> pd.DataFrame:
    """Return the table `FairnessAudit.gaps` of the gaps."""
    rows = comparison.gaps(adjusted)
    numbers = ["value", "ci_low", "ci_high", "expected", "pvalue", "pvalue_adjusted"]
    columns = [*numbers, "lowest", "highest", "rate"]
    # With dtype object, integer labels in "lowest" and "highest" do not become floats.
    cells = [[row.get(column, np.nan) for column in columns] for row in rows.values()]
    table = pd.DataFrame(cells, index=list(rows), columns=columns, dtype=object)
    return table.astype(dict.fromkeys(numbers, np.float64)).rename_axis("gap")


def left_out(comparison: GroupComparison) -> dict[str, tuple[Any, ...]]:
    """Return the groups with too few rows for comparisons, see `FairnessAudit.left_out`."""
    has_too_few = {"auc": comparison.is_small} | {
        rate: ~has_enough for rate, has_enough in comparison.has_enough.items()
    }
    return {
        name: tuple(comparison.groups[g] for g in np.flatnonzero(groups))
        for name, groups in has_too_few.items()
    }


def quality(comparison: GroupComparison) -> pd.DataFrame:
    """Return the table `FairnessAudit.quality` of the AUCs of the model."""
    everyone, compared = comparison.everyone, comparison.compared
    columns = ["value", "ci_low", "ci_high"]
    table = everyone.confidence_intervals(confidence_level=LEVEL, of="statistics", over="rows")
    found = table.loc[["pooled", "within"], columns]
    if compared is not everyone:
        table = compared.confidence_intervals(confidence_level=LEVEL, of="statistics", over="rows")
    found.loc["worst"] = table.loc["worst", columns]
    found = found.astype(np.float64).set_axis(["auc", "ci_low", "ci_high"], axis=1)
    lowest: Any = np.nan
    if compared.n_groups:
        place = int(np.nanargmin(estimates_of(compared).pairs.auc))
        lowest = (compared.counts.groups or ())[place]
    return found.assign(group=pd.Series({"worst": lowest}, dtype=object)).rename_axis(None)


def rates(comparison: GroupComparison) -> RateTable:
    """Return the rates of the decisions, see `FairnessAudit.rates`.

    Raises
    ------
    ValueError
        If the audit has no decisions.
    """
    counts, reference = comparison.rate_counts, comparison.reference
    if counts is None:
        raise ValueError("rates need decisions; this audit has none: pass threshold= or y_pred=.")
    return RateTable(
        counts,
        comparison.index,
        max(comparison.min_per_class, 1),
        None if reference is None else comparison.groups.index(reference),
        comparison.report.counts.is_weighted,
        comparison.decision_clusters,
    )


def calibration(comparison: GroupComparison, adjusted: Questions) -> pd.DataFrame:
    """Return the table `FairnessAudit.calibration` of the groups and of all rows."""
    return calibrating.calibration(
        comparison.report.counts,
        estimates_of(comparison.report).pairs.clusters,
        comparison.index,
        adjusted["calibration"],
        LEVEL,
    )


def reversed_groups(comparison: GroupComparison) -> tuple[Any, ...]:
    """Return the groups with an AUC below 0.5, see `FairnessAudit.reversed_groups`."""
    compared = comparison.compared
    n_groups = max(compared.n_groups, 1)
    limits = by_number(
        compared.counts,
        compared.confidence_intervals(confidence_level=1.0 - (1.0 - LEVEL) / n_groups),
    )
    is_reversed = np.flatnonzero(limits["ci_high"].to_numpy() < 0.5)
    order = is_reversed[np.argsort(limits["auc"].to_numpy()[is_reversed], kind="stable")]
    return tuple((compared.counts.groups or ())[g] for g in order)


def row_of(table: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return a row of a table as a dict."""
    return {str(key): value for key, value in table.loc[name].to_dict().items()}
