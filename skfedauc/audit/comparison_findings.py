"""Sentences on the comparison of two models.

A sentence claims a change only if the p value, adjusted for all claims of the comparison, is below
5 %. See `skfedauc.audit.claims`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skfedauc import _words
from skfedauc.audit import tolerances as tolerating
from skfedauc.audit.decisions import are_decisions
from skfedauc.audit.findings import SIGNIFICANT, Finding
from skfedauc.audit.names import listed, named
from skfedauc.audit.tables import Favorable, row_of
from skfedauc.report import GroupAUC

# Share of pairs below which a difference of two shares is rounding error
_ROUNDING = 1e-12
# Names of the quantities of groups, and of the gaps
QUANTITIES = {
    "auc": "AUC",
    "xauc_disparity": "xAUC disparity",
    "selection_rate": "selection rate",
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
}
_GAPS = {
    "difference": "The difference of group AUCs",
    "demographic_parity_difference": "The difference of selection rates",
    "true_positive_rate_difference": "The difference of true positive rates",
    "false_positive_rate_difference": "The difference of false positive rates",
}


@dataclass(frozen=True, eq=False)
class ComparisonTables:
    """Tables and facts of a comparison.

    Attributes
    ----------
    models : tuple of two str
        Names of the first and of the second model.
    facts : mapping of str to object
        Declared facts and provenance, see `AuditComparison.facts`.
    reports, compared : tuple of two GroupAUC
        Reports of both models on all groups, and on the groups in the comparisons of AUCs.
    favorable : {"positive", "negative"} or None
        The class that is the favorable outcome.
    n_deciding : int
        Number of models with decisions.
    quality, decomposition, by_group, gaps, tolerances : DataFrame
        Tables, see the attributes of `AuditComparison` with these names.
    n_claims : int
        Number of tested changes.
    columns : tuple of str
        Names of the sensitive columns.
    """

    models: tuple[str, ...]
    facts: Mapping[str, Any]
    reports: tuple[GroupAUC, ...]
    compared: tuple[GroupAUC, ...]
    favorable: Favorable | None
    n_deciding: int
    quality: pd.DataFrame
    decomposition: pd.DataFrame
    by_group: pd.DataFrame
    gaps: pd.DataFrame
    tolerances: pd.DataFrame
    n_claims: int
    columns: tuple[str, ...]

    @property
    def has_decisions(self) -> bool:
        """Whether both models have decisions."""
        return self.n_deciding == 2

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of all groups."""
        return self.reports[0].counts.groups or ()

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities of `by_group`."""
        ranking = [name for name in QUANTITIES if not name.endswith("_rate")]
        return list(QUANTITIES) if self.has_decisions else ranking

    def answers_by_gap(self) -> dict[str, list[dict[Any, Any]]]:
        """Return the rows of `tolerances` by gap: those of the first and of the second model."""
        rows = self.tolerances.to_dict("records")
        gaps = self.tolerances.index.get_level_values("gap")
        return {str(gaps[i]): rows[i : i + 2] for i in range(0, len(rows), 2)}

    def changes_of(self, quantity: str) -> pd.DataFrame:
        """Return the rows of `by_group` for a quantity."""
        return pd.DataFrame(self.by_group.loc[quantity])


def findings(tables: ComparisonTables) -> tuple[str, ...]:
    """Return one or two sentences on each question of the comparison, and on the adjustment."""
    return (*(finding.sentence for finding in answers(tables)), *closing(tables))


def answers(tables: ComparisonTables) -> tuple[Finding, ...]:
    """Return one or two findings on each question of the comparison.

    The topic of a finding is a row of `AuditComparison.quality` or `AuditComparison.gaps`, a
    quantity of `AuditComparison.by_group`, "ranking", "decisions" or "tolerances".
    """
    return (
        *_on_quality(tables),
        *_on_ranking(tables),
        *_on_gaps(tables),
        *_on_groups(tables),
        *_on_decisions(tables),
        *_on_tolerances(tables),
    )


# Quality of the models -------------------------------------------------------------------


def _on_quality(tables: ComparisonTables) -> Iterator[Finding]:
    first, second = map(named, tables.models)
    pooled = row_of(tables.quality, "pooled")
    yield Finding(
        f"The AUC of all rows together (pooled) is {pooled['before']:.3f} of {first} and "
        f"{pooled['after']:.3f} of {second}, {_change(pooled)}. {_judged(pooled)}",
        "pooled",
    )
    within = row_of(tables.quality, "within")
    if not math.isnan(within["change"]):
        yield Finding(
            f"Within groups, the AUC is {within['before']:.3f} of {first} and "
            f"{within['after']:.3f} of {second} on average over pairs, {_change(within)}. "
            f"{_judged(within)}",
            "within",
        )


# Ranking within and across groups ---------------------------------------------------------


def _on_ranking(tables: ComparisonTables) -> Iterator[Finding]:
    within, cross, pooled = (
        row_of(tables.decomposition, name) for name in ("within", "cross", "pooled")
    )
    if math.isnan(within["share"]) or within["share"] == 0 or cross["share"] == 0:
        return
    second = named(tables.models[1])
    if pooled["reordered"] == 0:
        yield Finding(
            f"{_sentence(second)} orders all pairs of a positive and a negative as before: only "
            "decisions can differ.",
            "ranking",
        )
        return
    contributions = (
        f"Of the change of the pooled AUC by {signed(pooled['change'])}, "
        f"{signed(within['contribution'])} comes from pairs within groups, and "
        f"{signed(cross['contribution'])} from pairs across groups."
    )
    if within["reordered"] == 0:
        moved = "only moves groups against each other, so all group AUCs are unchanged"
    elif pooled["reversed"] == 0:
        moved = "reverses no pair of a positive and a negative, but makes ties or breaks them"
    elif within["reversed"] == 0:
        moved = "only moves groups against each other, except for ties"
    elif cross["reordered"] == 0:
        moved = "changes the ranking within groups only"
    else:
        moved = "changes the ranking within groups and across groups"
    yield Finding(
        f"{_sentence(second)} {moved}. {_sentence(changed_orders(tables))}. {contributions}",
        "ranking",
    )


def changed_orders(tables: ComparisonTables) -> str:
    """Return the shares of the pairs with another order, within groups and across groups."""
    said = []
    for kind, of in (("within", "within"), ("cross", "across")):
        row = row_of(tables.decomposition, kind)
        if math.isnan(row["reordered"]):
            continue
        # A pair that becomes a tie, or is no longer a tie, counts one half in `reordered`.
        tied = max(2.0 * (row["reordered"] - row["reversed"]), 0.0)
        shares = [
            f"{_share(share)} {verb}"
            for share, verb in (
                (row["reversed"], "have the opposite order"),
                (tied, "became ties or are no longer ties"),
            )
            if share > _ROUNDING
        ]
        said.append(f"of the pairs {of} groups, {' and '.join(shares) or 'none changed'}")
    return "; ".join(said)


# Gaps and groups --------------------------------------------------------------------------


def _on_gaps(tables: ComparisonTables) -> Iterator[Finding]:
    row = row_of(tables.gaps, "difference")
    if not math.isnan(row["change"]):
        yield _gap(tables, "difference", row)


def _gap(tables: ComparisonTables, gap: str, row: dict[str, float]) -> Finding:
    first, second = map(named, tables.models)
    return Finding(
        f"{_GAPS[gap]} is {row['before']:.3f} of {first} and {row['after']:.3f} of {second}, "
        f"{_change(row)}. {_judged(row)}",
        gap,
    )


def _on_groups(tables: ComparisonTables) -> Iterator[Finding]:
    for quantity in ("auc", "xauc_disparity"):
        name = QUANTITIES[quantity]
        table = tables.changes_of(quantity)
        if table["pvalue"].isna().all() or (table["change"] == 0).all():
            continue
        found = table[table["pvalue_adjusted"] < SIGNIFICANT]
        if not len(found):
            yield Finding(f"No change of the {name} of a group is established.", quantity)
            continue
        # A change is tested, and not whether a disparity is nearer to 0.
        by_size = found.sort_values("change", ascending=False, kind="stable", key=abs)
        shown = "{:.3f}".format if quantity == "auc" else signed
        changes = {
            label: f"{named(label)} ({shown(row['before'])} to {shown(row['after'])})"
            for label, row in zip(by_size.index, by_size.to_dict("records"), strict=True)
        }
        yield Finding(f"The {name} changed in {listed(changes, changes.__getitem__)}.", quantity)


# Decisions --------------------------------------------------------------------------------


def _on_decisions(tables: ComparisonTables) -> Iterator[Finding]:
    if not tables.has_decisions:
        if tables.n_deciding == 1:
            yield Finding(
                "Decisions are not compared, because only one of the models has decisions.",
                "decisions",
            )
        return
    for gap in list(_GAPS)[1:]:
        row = row_of(tables.gaps, gap)
        if math.isnan(row["change"]):
            continue
        yield _gap(tables, gap, row)
        rate = gap.removesuffix("_difference").replace("demographic_parity", "selection_rate")
        table = tables.changes_of(rate)
        found = table[table["pvalue_adjusted"] < SIGNIFICANT]
        raised, lowered = found[found["change"] > 0], found[found["change"] < 0]
        said = [
            f"{verb} in {listed(list(mine.index))}"
            for verb, mine in (("rose", raised), ("fell", lowered))
            if len(mine)
        ]
        if said:
            yield Finding(f"The {QUANTITIES[rate]} {' and '.join(said)}.", rate)


def _on_tolerances(tables: ComparisonTables) -> Iterator[Finding]:
    first, second = map(named, tables.models)
    for gap, rows in tables.answers_by_gap().items():
        said = [
            f"{_answered(row)} for {model}"
            for row, model in zip(rows, (first, second), strict=True)
        ]
        yield Finding(
            f"The {tolerating.in_words(gap)} has to be "
            f"{tolerating.required(gap, rows[0]['limit'])}: {'; '.join(said)}.",
            "tolerances",
        )
    if len(tables.tolerances):
        yield Finding(tolerating.MEANING, "tolerances")


def _answered(row: Mapping[Any, Any]) -> str:
    if math.isnan(row["value"]):
        return f"{row['answer']} (undefined)"
    limits = f"{row['ci_low']:.3f} to {row['ci_high']:.3f}"
    return f"{row['answer']} ({row['value']:.3f}, limits {limits})"


def closing(tables: ComparisonTables) -> Iterator[str]:
    """Yield sentences on models without scores, on the claims and on changes without a claim."""
    for model, report in zip(tables.models, tables.reports, strict=True):
        if report.counts.disclosure.level == "exact" and are_decisions(report.counts):
            yield (
                f"{model} has decisions only, so its AUCs are those of its decisions: the mean of "
                "the true positive rate and the true negative rate."
            )
    yield (
        f"{_words.counted(tables.n_claims, 'change')} "
        f"{'is' if tables.n_claims == 1 else 'are'} tested. Adjusted p values account for all of "
        "them (Holm): about 5 % of comparisons of models without any difference make a claim. A "
        "change that is not established may still exist: read its interval."
    )


# Text -------------------------------------------------------------------------------------


def _change(row: dict[str, float]) -> str:
    if math.isnan(row["ci_low"]):
        return f"a change of {signed(row['change'])}"
    low, high = (signed(row[name]) for name in ("ci_low", "ci_high"))
    return f"a change of {signed(row['change'])} (95 % interval {low} to {high})"


def _judged(row: dict[str, float]) -> str:
    if math.isnan(row["pvalue_adjusted"]):
        return "No test of this change is possible."
    pvalue = row["pvalue_adjusted"]
    shown = "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
    if pvalue < SIGNIFICANT:
        return f"The change is established (adjusted {shown})."
    return f"No change is established (adjusted {shown})."


def signed(value: float) -> str:
    """Return a change with its sign and three decimals, and 0 without a sign."""
    return "0.000" if round(value, 3) == 0 else f"{value:+.3f}"


def _share(value: float) -> str:
    if 0 < value < 0.001:
        return "less than 0.1 %"
    return f"{100.0 * value:.1f} %"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
