"""AUCs of all combinations of several sensitive columns, with shrinkage and one adjustment."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skfedauc import _words
from skfedauc.audit.claims import adjusted_together
from skfedauc.audit.findings import SIGNIFICANT, shown_pvalue
from skfedauc.audit.gaps import LEVEL, GroupComparison, is_small
from skfedauc.audit.names import crossed, named_in
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC, by_number, estimates_of, large_groups

# Label of the small groups of a combination of columns together
SMALL_GROUPS = "(small groups)"
# Number of groups that the page names
MOST_WORRYING = 5
_COLUMNS = [
    "columns",
    "group",
    "n_positives",
    "n_negatives",
    "auc",
    "ci_low",
    "ci_high",
    "shrunken_auc",
    "shrunken_ci_low",
    "shrunken_ci_high",
    "rest_auc",
    "difference",
    "pvalue",
    "pvalue_adjusted",
    "finding",
]
_OF_RANKING = {
    "shrunken_auc": "shrunken_auc",
    "ci_low": "shrunken_ci_low",
    "ci_high": "shrunken_ci_high",
}
_OF_COMPARISON = {"reference_auc": "rest_auc", "difference": "difference", "pvalue": "pvalue"}


def intersections(comparison: GroupComparison, depth: int) -> pd.DataFrame:
    """Return the table of `FairnessAudit.intersections`."""
    parts = [
        _of_columns(
            comparison if columns == comparison.columns else comparison.regrouped(columns), columns
        )
        for columns in _combinations(comparison.columns, depth)
    ]
    pvalues = [{"rest": _claims_in(table)} for table in parts]
    names = [crossed(table["columns"].iloc[0]) for table in parts]
    for table, claims in zip(parts, adjusted_together(names, pvalues), strict=True):
        compared, adjusted = table["pvalue"].notna().to_numpy(), np.full(len(table), np.nan)
        adjusted[compared] = claims.adjusted["rest"]
        table["pvalue_adjusted"] = adjusted
        rows = table.to_dict("records")
        table["finding"] = [_finding({str(k): v for k, v in row.items()}) for row in rows]
    found = pd.concat(parts, ignore_index=True)[_COLUMNS]
    return found.sort_values("shrunken_auc", kind="stable", ignore_index=True)


def _combinations(columns: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    for n_columns in range(1, min(depth, len(columns)) + 1):
        yield from itertools.combinations(columns, n_columns)


def _of_columns(comparison: GroupComparison, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of a combination of columns, without adjusted p values."""
    least = max(comparison.min_per_class, 1)
    pairs, labels = _pooled(estimates_of(comparison.report).pairs, least)
    report, counts = GroupAUC(pairs, undefined="ignore"), pairs.counts
    limits = by_number(counts, report.confidence_intervals(confidence_level=LEVEL))
    of_compared = {
        name: np.full(len(labels), np.nan)
        for name in (*_OF_RANKING.values(), *_OF_COMPARISON.values())
    }
    compared = GroupAUC(large_groups(pairs, least)[0], undefined="ignore")
    if compared.n_groups > 1:
        rows = ~is_small(counts, least)
        for names, found in (
            (_OF_RANKING, _ranking(compared)),
            (_OF_COMPARISON, _comparison_with_rest(compared)),
        ):
            for name, own in names.items():
                of_compared[own][rows] = found[name].to_numpy(np.float64)
    return pd.DataFrame(
        {
            "columns": pd.Series([columns] * len(labels), dtype=object),
            "group": pd.Series(labels, dtype=object),
            "n_positives": counts.n_positives,
            "n_negatives": counts.n_negatives,
            **{name: limits[name].to_numpy() for name in ("auc", "ci_low", "ci_high")},
            **of_compared,
        }
    )


def _ranking(compared: GroupAUC) -> pd.DataFrame:
    """Return shrunken AUCs with limits; the AUCs themselves if groups share clusters."""
    if not estimates_of(compared).variances.shares_clusters:
        return compared.ranking(confidence_level=LEVEL)
    limits = by_number(compared.counts, compared.confidence_intervals(confidence_level=LEVEL))
    return limits.rename(columns={"auc": "shrunken_auc"})


def _comparison_with_rest(compared: GroupAUC) -> pd.DataFrame:
    """Return comparisons with the other groups, without a test if groups share clusters."""
    if compared.n_groups == 2 or not estimates_of(compared).variances.shares_clusters:
        table = compared.compare_groups("rest", confidence_level=LEVEL)
    else:
        of_rows = GroupAUC(compared.counts, undefined="ignore").compare_groups("rest")
        table = of_rows.assign(pvalue=np.nan)
    return by_number(compared.counts, table)


def _pooled(pairs: GroupPairs, least: int) -> tuple[GroupPairs, list[Any]]:
    """Return counts in which two or more small groups are one group, and the labels of groups."""
    counts, clusters = pairs.counts, pairs.clusters
    labels = list(counts.groups or ())
    small = is_small(counts, least)
    if small.sum() < 2:
        return GroupPairs(counts, clusters=clusters), labels
    # Numbers in place of labels, because a text may not be a label beside labels of other kinds.
    numbers = np.where(small, len(labels), np.arange(len(labels)))
    pooled = counts.regroup(dict(zip(labels, numbers.tolist(), strict=True)))
    kept = [label for label, is_one in zip(labels, small, strict=True) if not is_one]
    if clusters is not None:
        distinct, number = np.unique(numbers, return_inverse=True)
        clusters = clusters.regroup(number.astype(np.intp), distinct.size)
    return GroupPairs(pooled, clusters=clusters), [*kept, SMALL_GROUPS]


def _claims_in(table: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the p values of the claims; the comparison of two groups is one claim."""
    pvalues = table["pvalue"].dropna().to_numpy()
    return pvalues[:1] if pvalues.size == 2 else pvalues


# Sentences -----------------------------------------------------------------------------------


def _finding(row: Mapping[str, Any]) -> str:
    """Return a sentence on the AUC of a group and on its difference from the other groups."""
    n_rows = (
        f"{_words.counted(row['n_positives'], 'positive')} and "
        f"{_words.counted(row['n_negatives'], 'negative')}"
    )
    if math.isnan(row["difference"]):
        return f"{_whole_name(row)}: {n_rows}, too few rows for a comparison, or no other group."
    auc = f"AUC {row['auc']:.3f} (95 % interval {row['ci_low']:.3f} to {row['ci_high']:.3f})"
    if row["shrunken_auc"] != row["auc"]:
        auc += (
            f", shrunken {row['shrunken_auc']:.3f} ({row['shrunken_ci_low']:.3f} to "
            f"{row['shrunken_ci_high']:.3f})"
        )
    direction = "below" if row["difference"] < 0 else "above"
    size = f"{abs(row['difference']):.3f} {direction} the other groups' {row['rest_auc']:.3f}"
    shown = f"adjusted {shown_pvalue(row['pvalue_adjusted'])}"
    verdict = f"No difference from the other groups is established ({shown}): it is {size}."
    if row["pvalue_adjusted"] < SIGNIFICANT:
        verdict = f"It is {size} ({shown})."
    if math.isnan(row["pvalue_adjusted"]):
        verdict = f"It is {size}; no test is possible."
    return f"{_whole_name(row)}: {auc}, {n_rows}. {verdict}"


def _whole_name(row: Mapping[str, Any]) -> str:
    """Return the columns and the labels of a group, ``sex 'f', region 'north'``."""
    columns = row["columns"]
    if isinstance(row["group"], str) and row["group"] == SMALL_GROUPS:
        return f"Small groups by {crossed(columns)}"
    label = row["group"] if len(columns) > 1 else (row["group"],)
    return ", ".join(itertools.starmap(named_in, zip(columns, label, strict=True)))
