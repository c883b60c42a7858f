"""Findings of an audit as sentences.

A sentence claims a gap only if the p value, adjusted for all claims of the audit, is below 5 %; see
`skfedauc.audit.claims`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from skfedauc import _words
from skfedauc.audit.tables import AuditTables

# A gap is claimed if its adjusted p value is below this.
SIGNIFICANT = 0.05
# Most groups that a sentence names.
_MOST_NAMED = 5
# Most characters of a label that a sentence shows.
_MOST_CHARACTERS = 60
_NOTHING = "no difference is established"
# Names of the rates, and of the rows in their denominators
_RATES = {
    "selection_rate": ("selection rate", "rows"),
    "true_positive_rate": ("true positive rate", "positives"),
    "false_positive_rate": ("false positive rate", "negatives"),
}


def findings(tables: AuditTables) -> tuple[str, ...]:
    """Return one or two sentences on each question of the audit, and on the adjustment."""
    found = answers(tables)
    return (*found, *closing(tables, found))


def answers(tables: AuditTables) -> tuple[str, ...]:
    """Return one or two sentences on each question of the audit."""
    return (
        *_on_the_model(tables),
        *_on_small_groups(tables),
        *_on_group_aucs(tables),
        *_on_single_groups(tables),
        *_on_ranking_between_groups(tables),
        *_on_decisions(tables),
    )


# Quality of the model -------------------------------------------------------------------


def _on_the_model(tables: AuditTables) -> Iterator[str]:
    quality = tables.quality
    pooled, within = (_row(quality, name) for name in ("pooled", "within"))
    if math.isnan(pooled["auc"]):
        yield "The model cannot be judged: there are no positives, or no negatives."
        return
    said = f"The AUC of all rows together (pooled) is {_with_interval(pooled)}"
    if not math.isnan(within["auc"]):
        said += f"; within groups it is {_with_interval(within)} on average over pairs"
    worst = _row(quality, "worst")
    if not math.isnan(worst["auc"]) and tables.compared.n_groups > 1:
        said += f", and {worst['auc']:.3f} in the worst group ({named(worst['group'])})"
    yield f"{said}."
    check = "check pos_label, and whether higher scores mean the positive class"
    if pooled["ci_high"] < 0.5:
        yield f"The pooled AUC is below 0.5: {check}."
        return
    if pooled["ci_low"] <= 0.5:
        yield (
            "The interval of the pooled AUC holds 0.5: these rows do not show that the model ranks "
            "better than at random."
        )
    between = "the pooled AUC comes from differences between groups"
    is_between = pooled["ci_low"] > max(within["ci_high"], 0.5)
    if within["ci_high"] < 0.5:
        yield f"Within groups the AUC is below 0.5: {between if is_between else check}."
    elif within["ci_low"] <= 0.5 < pooled["ci_low"]:
        interval = f"the interval of {within['auc']:.3f} holds 0.5"
        not_established = "Within groups an AUC above 0.5 is not established"
        if is_between:
            yield f"{not_established} ({interval}): {between}."
        else:
            yield f"{not_established}: {interval}."
    reversed_groups = tables.reversed_groups
    if reversed_groups:
        yield f"The AUC is below 0.5 in {_listed(reversed_groups)}: {check} in these rows."


def _with_interval(row: dict[str, Any]) -> str:
    if math.isnan(row["ci_low"]):
        return f"{row['auc']:.3f}"
    return f"{row['auc']:.3f} (95 % interval {row['ci_low']:.3f} to {row['ci_high']:.3f})"


# Small groups ------------------------------------------------------------------------------


def _on_small_groups(tables: AuditTables) -> Iterator[str]:
    """Name the groups that are left out of the comparisons of AUCs and of each rate."""
    least = max(tables.min_per_class, 1)
    few = "no" if least == 1 else f"fewer than {least:,}"
    lacking = {"auc": "positives or negatives"} | {k: rows for k, (_, rows) in _RATES.items()}
    called = {"auc": "AUCs"} | {k: f"{name}s" for k, (name, _) in _RATES.items()}
    n_groups = tables.report.n_groups
    for rate, left_out in tables.left_out.items():
        if not left_out or (rate != "auc" and not tables.has_decisions):
            continue
        verb = "has" if len(left_out) == 1 else "have"
        yield (
            f"{len(left_out):,} of {_words.counted(n_groups, 'group')} {verb} {few} "
            f"{lacking[rate]} ({_listed(left_out)}): shown, but left out of comparisons of "
            f"{called[rate]}."
        )
    if tables.compared.n_groups < 2:
        yield "There are no two groups that are large enough for their AUCs to be compared."


# Ranking within groups ---------------------------------------------------------------------


def _on_group_aucs(tables: AuditTables) -> Iterator[str]:
    if tables.compared.n_groups < 2:
        return
    gap = _row(tables.gaps, "difference")
    lowest = tables.compared.worst
    if gap["value"] == 0:
        yield f"The AUC within groups is {lowest:.3f} in each of them."
    else:
        interval = ""
        if not math.isnan(gap["ci_low"]):
            interval = f" (95 % interval {gap['ci_low']:.3f} to {gap['ci_high']:.3f})"
        between = "These two groups" if tables.compared.n_groups == 2 else "Groups"
        yield (
            f"The AUC within groups goes from {lowest:.3f} ({named(gap['lowest'])}) to "
            f"{lowest + gap['value']:.3f} ({named(gap['highest'])}), a difference of "
            f"{gap['value']:.3f}{interval}. {_judged(gap, f'{between} differ')}{_clearest(tables)}"
        )
    if tables.compared.n_groups == 2:
        return  # with two groups this is the test of the difference
    adjusted_pvalue = _adjusted_of_equality(tables)
    if math.isnan(adjusted_pvalue):
        return
    test_name = "The test that all group AUCs are equal, which takes all groups together,"
    adjusted = f"(adjusted {_shown(adjusted_pvalue)})"
    is_gap_found = gap["pvalue_adjusted"] < SIGNIFICANT
    if adjusted_pvalue < SIGNIFICANT:
        beside = "" if is_gap_found else ", though no difference between two groups is"
        yield f"{test_name} establishes that they are not {adjusted}{beside}."
    elif is_gap_found:
        less = "it detects a single large difference less often"
        yield f"{test_name} does not reject {adjusted}; {less}."
    else:
        yield f"{test_name} does not reject {adjusted}."


def _clearest(tables: AuditTables) -> str:
    """Name the two groups with a significant difference, unless they are named already."""
    test = tables.largest_difference
    is_found = _row(tables.gaps, "difference")["pvalue_adjusted"] < SIGNIFICANT
    if not is_found or test is None or test.clearest in (None, (test.highest, test.lowest)):
        return ""
    return f" It is established for {' and '.join(map(named, test.clearest or ()))}."


def _adjusted_of_equality(tables: AuditTables) -> float:
    """Return the adjusted p value of the test that all group AUCs are equal; NaN without one."""
    return float(tables.claims.adjusted["equal_aucs"][0])


def _on_single_groups(tables: AuditTables) -> Iterator[str]:
    if tables.compared.n_groups <= 2:  # the sentence on the difference covers two groups
        return
    found = tables.by_group[tables.by_group["pvalue_adjusted"] < SIGNIFICANT]
    reference = tables.reference
    than = "that of the other groups" if reference is None else f"that of {named(reference)}"
    is_below = found["auc"] < found["reference_auc"]
    below, above = found[is_below], found[~is_below]
    if len(below):
        labels = below.sort_values("auc").index
        yield f"The AUC is lower than {than} in {_listed(labels)}."
    if len(above):
        labels = above.sort_values("auc", ascending=False).index
        yield f"The AUC is higher than {than} in {_listed(labels)}."
    largest = _row(tables.gaps, "difference")["pvalue_adjusted"]
    if not len(found) and min(largest, _adjusted_of_equality(tables)) < SIGNIFICANT:
        yield f"No single group stands out: of none the AUC is shown to differ from {than}."


# Ranking between groups --------------------------------------------------------------------


def _on_ranking_between_groups(tables: AuditTables) -> Iterator[str]:
    if tables.compared.n_groups < 2:
        return
    gap = _row(tables.gaps, "xauc_disparity")
    if gap["value"] == 0:
        yield "Between groups no difference is seen: all xAUC disparities are 0."
        return
    group = gap["highest"] if gap["value"] > 0 else gap["lowest"]
    row = _of_group(tables, group)
    numbers = (
        f"its positives outrank the others' negatives with a probability of "
        f"{row['bnsp_auc']:.3f} (BNSP AUC), the others' positives outrank its negatives with "
        f"{row['bpsn_auc']:.3f} (BPSN AUC); the disparity is {_signed(gap['value'])}"
    )
    if not gap["pvalue_adjusted"] < SIGNIFICANT:
        if math.isnan(gap["pvalue"]):
            yield f"Between groups no test is possible. Of {named(group)}, {numbers}."
            return
        yield (
            f"Between groups no difference is established. It is clearest for {named(group)}: "
            f"{numbers} (adjusted {_shown(gap['pvalue_adjusted'])})."
        )
        return
    is_one_of_many = tables.compared.n_groups > 2
    most = " most clearly" if is_one_of_many else ""
    yield (
        f"Between groups the model {_scored(tables, [group], gap['value'])}{most}: {numbers} "
        f"(adjusted {_shown(gap['pvalue_adjusted'])})."
    )
    if not is_one_of_many:  # the disparity of the second group is the same gap
        return
    others = tables.by_group[tables.by_group["xauc_pvalue_adjusted"] < SIGNIFICANT].drop(group)
    by_disparity = others["xauc_disparity"].sort_values()
    higher, lower = by_disparity[by_disparity > 0], by_disparity[by_disparity < 0]
    compared = f"Compared with all others, {named(group)} among them, it also"
    if len(higher):
        yield f"{compared} {_scored(tables, higher.index[::-1], 1.0)}."
    if len(lower):
        yield f"{compared} {_scored(tables, lower.index, -1.0)}."


def _scored(tables: AuditTables, groups: Iterable[Any], disparity: float) -> str:
    """Describe how the model ranks groups, in terms of the favorable outcome if it is known."""
    listed = _listed(groups)
    if tables.favorable is None:
        return f"scores {listed} {'higher' if disparity > 0 else 'lower'}"
    is_favored = (disparity > 0) == (tables.favorable == "positive")
    return f"{'favours' if is_favored else 'disfavours'} {listed}"


# Decisions ---------------------------------------------------------------------------------


def _on_decisions(tables: AuditTables) -> Iterator[str]:
    if not tables.has_decisions:
        if not tables.is_ranking_chosen:
            scores = tables.report.counts.cells.scores
            yield (
                f"Decisions are not audited: the scores, from {scores.min():g} to "
                f"{scores.max():g}, are no probabilities, and neither a threshold nor decisions "
                "are given."
            )
        return
    where = "" if tables.threshold is None else f"At the threshold {tables.threshold:g} "
    model = "The model" if tables.threshold is None else "the model"
    outcome = {"positive": " (the favorable outcome)", "negative": " (the adverse outcome)"}
    predicts = (
        f"{where}{model} predicts the positive class{outcome.get(tables.favorable or '', '')}"
    )
    parity = _row(tables.gaps, "demographic_parity_difference")
    if math.isnan(parity["value"]):
        yield "There are no two groups that are large enough for their rates to be compared."
        return
    if parity["value"] == 0:
        is_compared = tables.has_enough["selection_rate"]
        rate = float(tables.by_group.loc[is_compared, "selection_rate"].iloc[0])
        whom = {0.0: "no row of any group", 1.0: "every row"}
        yield f"{predicts} for {whom.get(rate, f'{rate:.1%} of every group')}."
        if rate in whom:
            return
    else:
        yield (
            f"{predicts} for {_two_shares(tables, parity, 'selection_rate')}: a demographic parity "
            f"difference of {parity['value']:.3f}. "
            f"{_rates_judged(tables, parity, 'selection_rate')}"
        )
    odds = _row(tables.gaps, "equalized_odds_difference")
    if isinstance(odds["rate"], float):  # no rate has two groups
        return
    for rate in (odds["rate"], *({*_RATES} - {"selection_rate", odds["rate"]})):
        is_odds = rate == odds["rate"]
        gap = odds if is_odds else _row(tables.gaps, f"{rate}_difference")
        if math.isnan(gap["value"]):
            continue
        name = _RATES[rate][0]
        whole = f", the equalized odds difference, is {gap['value']:.3f}"
        said = f"The difference of {name}s"
        said += whole if is_odds else f" is {gap['value']:.3f}"
        if gap["value"] > 0:
            said += f": {_two_shares(tables, gap, rate)}"
        yield f"{said}. {_rates_judged(tables, gap, rate) if gap['value'] > 0 else ''}".strip()


def _rates_judged(tables: AuditTables, gap: dict[str, Any], rate: str) -> str:
    """Say whether rates differ, and that the test covers all groups if there are more than two."""
    name, n_groups = _RATES[rate][0], int(tables.has_enough[rate].sum())
    judged = _judged(gap, f"The {name}s differ")
    if n_groups == 2 or math.isnan(gap["pvalue"]):
        return judged
    said = f"{judged} The test is of the rates of all {n_groups:,} groups together"
    if gap["pvalue_adjusted"] < SIGNIFICANT:
        said += " and does not say which of them differ"
    return f"{said}."


def _two_shares(tables: AuditTables, gap: dict[str, Any], rate: str) -> str:
    return " and ".join(
        f"{_of_group(tables, gap[side])[rate]:.1%} of {named(gap[side])}"
        for side in ("lowest", "highest")
    )


# Adjustment of the p values ----------------------------------------------------------------


def closing(tables: AuditTables, found: Iterable[str]) -> Iterator[str]:
    """Say how many claims the p values of these sentences are adjusted for."""
    n_claims, by = tables.claims.family.n_claims, tables.claims.family.groupings
    if n_claims > 1:
        of = f" by {_words.enumerated(by)}" if len(by) > 1 else ""
        yield (
            f"{n_claims:,} claims are tested{of}. Adjusted p values are adjusted for all of them "
            "(Holm), so that at most 5 % of audits of groups without any gap make a claim."
        )
    of_rates = ("The difference of ", "At the threshold ", "The model predicts ")
    not_established = {
        sentence.startswith(of_rates)
        for sentence in found
        if "is established" in sentence and "o difference" in sentence
    }
    if False in not_established:
        yield (
            "Where no difference of AUCs is established there may still be one: read its interval."
        )
    if True in not_established:
        yield (
            "Where no difference of rates is established there may still be one: it has no "
            "interval here."
        )


# Text --------------------------------------------------------------------------------------


def _judged(gap: dict[str, Any], claim: str) -> str:
    """Say whether a gap is established."""
    if math.isnan(gap["pvalue"]):
        return "Whether it is more than sampling error cannot be tested."
    return f"{_sentence(_verdict(gap, claim))}."


def _verdict(gap: dict[str, Any], claim: str) -> str:
    adjusted = f"(adjusted {_shown(gap['pvalue_adjusted'])})"
    return f"{claim if gap['pvalue_adjusted'] < SIGNIFICANT else _NOTHING} {adjusted}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _of_group(tables: AuditTables, group: Any) -> dict[str, float]:
    """Return a row of `by_group`."""
    place = tables.groups.index(group)
    return {str(name): value for name, value in tables.by_group.iloc[place].to_dict().items()}


def _row(table: pd.DataFrame, name: str) -> dict[str, Any]:
    return {str(key): value for key, value in table.loc[name].to_dict().items()}


def named(label: Any) -> str:
    """Return a group's label as text for a sentence, including the parts of a tuple."""
    is_text = isinstance(label, str | bytes)
    text = repr(label) if is_text else _words.label_text(label)
    return _words.shortened_text(text, _MOST_CHARACTERS)


def _listed(labels: Iterable[Any]) -> str:
    items = [named(label) for label in labels]
    n_more = len(items) - _MOST_NAMED
    more = f" and {_words.counted(n_more, 'more group')}" if n_more > 0 else ""
    return "; ".join(items[:_MOST_NAMED]) + more


def _signed(value: float) -> str:
    return "0.000" if round(value, 3) == 0 else f"{value:+.3f}"


def _shown(pvalue: float) -> str:
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
