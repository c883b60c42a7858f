"""Sentences on the findings of an audit.

A sentence claims a gap only if the p value, adjusted for all claims of the audit, is below 5 %. See
`skfedauc.audit.claims`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfedauc import _words
from skfedauc.audit import tolerances as tolerating
from skfedauc.audit.names import listed, named
from skfedauc.audit.tables import AuditTables, row_of
from skfedauc.report import GroupAUC, estimates_of
from skfedauc.report.bounds import certain_range, statistic_bounds

# Level below which the adjusted p value of a gap supports a claim
SIGNIFICANT = 0.05
# Largest number of groupings in the sentence on the claims
_MOST_GROUPINGS = 12
# Meaning of the names of the AUCs between groups
BNSP = "background negative, subgroup positive"
BPSN = "background positive, subgroup negative"
_NOTHING = "no difference is established"
# Names of the rates, and of the rows in their denominators
_RATES = {
    "selection_rate": ("selection rate", "rows"),
    "true_positive_rate": ("true positive rate", "positives"),
    "false_positive_rate": ("false positive rate", "negatives"),
}


class Finding(NamedTuple):
    """Sentence on a question of the audit.

    Attributes
    ----------
    sentence : str
    topic : str
        Topic of the sentence: a row of `FairnessAudit.gaps`, "model", "small_groups",
        "equal_aucs", "group_auc", "calibration", "tolerances", "clusters", or "decisions"
        for missing decisions. The page links the sentence to the table and to the
        definition of the topic.
    """

    sentence: str
    topic: str


def findings(tables: AuditTables) -> tuple[str, ...]:
    """Return one or two sentences on each question of the audit, and on the adjustment."""
    found = answers(tables)
    return (*(finding.sentence for finding in found), *closing(tables, found))


def answers(tables: AuditTables) -> tuple[Finding, ...]:
    """Return one or two findings on each question of the audit."""
    return (
        *_on_the_model(tables),
        *_on_clusters(tables),
        *_on_small_groups(tables),
        *_on_group_aucs(tables),
        *_on_single_groups(tables),
        *_on_ranking_between_groups(tables),
        *_on_decisions(tables),
        *_on_calibration(tables),
        *_on_tolerances(tables),
    )


# Quality of the model -------------------------------------------------------------------


def _on_the_model(tables: AuditTables) -> Iterator[Finding]:
    quality = tables.quality
    pooled, within = (row_of(quality, name) for name in ("pooled", "within"))
    if math.isnan(pooled["auc"]):
        yield Finding(
            "The model cannot be judged: there are no positives, or no negatives.", "model"
        )
        return
    said = f"The AUC of all rows together (pooled) is {_with_interval(pooled)}"
    if not math.isnan(within["auc"]):
        said += f"; within groups it is {_with_interval(within)} on average over pairs"
    worst = row_of(quality, "worst")
    if not math.isnan(worst["auc"]) and tables.compared.n_groups > 1:
        said += f", and {worst['auc']:.3f} in the worst group ({named(worst['group'])})"
    yield Finding(f"{said}.", "model")
    if tables.is_binned:
        certain = certain_range(statistic_bounds(estimates_of(tables.report), "pooled"))
        yield Finding(
            "Scores are binned, and AUCs count a pair of rows in the same bin as a tie: the pooled "
            f"AUC of the exact scores is certainly {certain}, for the rows that are counted.",
            "model",
        )
    withheld = tables.report.counts.disclosure.withheld
    if withheld.n_groups:
        which = withheld.in_words().removeprefix(", ")
        yield Finding(
            f"No number of this audit includes small groups that the sites withheld: {which}.",
            "model",
        )
    check = "check pos_label, and whether higher scores mean the positive class"
    if pooled["ci_high"] < 0.5:
        yield Finding(f"The pooled AUC is below 0.5: {check}.", "model")
        return
    if pooled["ci_low"] <= 0.5:
        yield Finding(
            "The interval of the pooled AUC contains 0.5: these rows do not show that the model "
            "ranks better than at random.",
            "model",
        )
    between = "the pooled AUC comes from differences between groups"
    is_between = pooled["ci_low"] > max(within["ci_high"], 0.5)
    if within["ci_high"] < 0.5:
        yield Finding(
            f"The AUC within groups is below 0.5: {between if is_between else check}.", "model"
        )
    elif within["ci_low"] <= 0.5 < pooled["ci_low"]:
        interval = f"the interval of {within['auc']:.3f} contains 0.5"
        not_established = "An AUC above 0.5 within groups is not established"
        if is_between:
            yield Finding(f"{not_established} ({interval}): {between}.", "model")
        else:
            yield Finding(f"{not_established}: {interval}.", "model")
    reversed_groups = tables.reversed_groups
    if reversed_groups:
        yield Finding(
            f"The AUC is below 0.5 in {listed(reversed_groups)}: {check} in these rows.", "model"
        )


def _with_interval(row: dict[str, Any]) -> str:
    return f"{row['auc']:.3f}{_interval_of(row)}"


def _interval_of(row: dict[str, Any]) -> str:
    """Return the interval in parentheses, or no text for an undefined interval."""
    if math.isnan(row["ci_low"]):
        return ""
    return f" (95 % interval {row['ci_low']:.3f} to {row['ci_high']:.3f})"


# Clusters ----------------------------------------------------------------------------------


def _on_clusters(tables: AuditTables) -> Iterator[Finding]:
    """Describe the clusters, and name the results that are left out."""
    clusters = estimates_of(tables.report).pairs.clusters
    if clusters is None:
        return
    of_clusters = _words.counted(clusters.n_clusters, "cluster")
    shared = ""
    if clusters.n_shared:
        shared = f", {clusters.n_shared:,} of them with rows in several groups"
    yield Finding(
        f"Rows of the same cluster can be dependent: there are {of_clusters}{shared}. Intervals "
        "and tests allow for this dependence.",
        "clusters",
    )
    left_out = []
    if estimates_of(tables.compared).variances.shares_clusters:
        left_out += ["tau", "the mean of a gap if all groups were equal"]
        if tables.compared.n_groups > 2:
            left_out += ["the test of all AUCs together", "the tests of single groups' AUCs"]
    if left_out:
        yield Finding(
            f"{_sentence(_words.enumerated(left_out))} are left out, because they need groups that "
            "share no clusters.",
            "clusters",
        )


# Small groups ------------------------------------------------------------------------------


def _on_small_groups(tables: AuditTables) -> Iterator[Finding]:
    """Name the groups outside of the comparisons of AUCs and of each rate."""
    least = max(tables.min_per_class, 1)
    few = "no" if least == 1 else f"fewer than {least:,}"
    lacking = {"auc": "positives or negatives"} | {k: rows for k, (_, rows) in _RATES.items()}
    called = {"auc": "AUCs"} | {k: f"{name}s" for k, (name, _) in _RATES.items()}
    n_groups = tables.report.n_groups
    for rate, left_out in tables.left_out.items():
        if not left_out or (rate != "auc" and not tables.has_decisions):
            continue
        verb, they_are = ("has", "It is") if len(left_out) == 1 else ("have", "They are")
        yield Finding(
            f"{len(left_out):,} of {_words.counted(n_groups, 'group')} {verb} {few} "
            f"{lacking[rate]} ({listed(left_out)}). {they_are} shown, but left out of comparisons "
            f"of {called[rate]}.",
            "small_groups",
        )
    if tables.compared.n_groups < 2:
        yield Finding(
            "Fewer than two groups are large enough for a comparison of AUCs.", "small_groups"
        )


# Ranking within groups ---------------------------------------------------------------------


def _on_group_aucs(tables: AuditTables) -> Iterator[Finding]:
    if tables.compared.n_groups < 2:
        return
    gap = row_of(tables.gaps, "difference")
    lowest = tables.compared.worst
    if gap["value"] == 0:
        yield Finding(f"The AUC is {lowest:.3f} within every group.", "difference")
    else:
        between = "These two groups" if tables.compared.n_groups == 2 else "Groups"
        yield Finding(
            f"The AUC within groups ranges from {lowest:.3f} ({named(gap['lowest'])}) to "
            f"{lowest + gap['value']:.3f} ({named(gap['highest'])}), a difference of "
            f"{gap['value']:.3f}{_interval_of(gap)}. {_judged(gap, f'{between} differ')}"
            f"{_clearest(tables)}",
            "difference",
        )
    if tables.compared.n_groups == 2:
        return  # For two groups, the test of equal AUCs is the test of the difference.
    adjusted_pvalue = _adjusted_of_equality(tables)
    if math.isnan(adjusted_pvalue):
        return
    adjusted = f"(adjusted {shown_pvalue(adjusted_pvalue)})"
    is_gap_found = gap["pvalue_adjusted"] < SIGNIFICANT
    if adjusted_pvalue < SIGNIFICANT:
        verdict = f"rejects equal group AUCs {adjusted}"
        if not is_gap_found:
            verdict += ", although no difference between two groups is established"
    else:
        verdict = f"does not reject equal group AUCs {adjusted}"
        if is_gap_found:
            verdict += "; it detects a single large difference less often"
    yield Finding(f"The test of all groups together {verdict}.", "equal_aucs")


def _clearest(tables: AuditTables) -> str:
    """Name the pair with the most significant difference, unless another sentence names it."""
    pair = clearest_pair(tables)
    if pair is None:
        return ""
    return f" The difference between {' and '.join(map(named, pair))} is established."


def clearest_pair(tables: AuditTables) -> tuple[Any, Any] | None:
    """Return the pair of groups with the most significant difference of AUCs.

    The group with the larger AUC comes first. None if no difference is established, or if the pair
    is the pair with the largest difference.
    """
    test = tables.largest_difference
    is_found = row_of(tables.gaps, "difference")["pvalue_adjusted"] < SIGNIFICANT
    if not is_found or test is None or test.clearest == (test.highest, test.lowest):
        return None
    return test.clearest


def _adjusted_of_equality(tables: AuditTables) -> float:
    """Return the adjusted p value of the test of equal group AUCs, or NaN without a test."""
    return float(tables.claims.adjusted["equal_aucs"][0])


def _on_single_groups(tables: AuditTables) -> Iterator[Finding]:
    if tables.compared.n_groups <= 2:  # The sentence on the difference covers two groups.
        return
    found = tables.by_group[tables.by_group["pvalue_adjusted"] < SIGNIFICANT]
    reference = tables.reference
    others = "the other groups" if reference is None else named(reference)
    by_auc = found.sort_values("auc")
    is_below = by_auc["auc"] < by_auc["reference_auc"]
    below, above = by_auc.index[is_below], by_auc.index[~is_below][::-1]
    for labels, where in ((below, "lower"), (above, "higher")):
        if len(labels):
            each = _each(labels.tolist()) if reference is None else ""
            yield Finding(
                f"The AUC is {where} in {listed(labels)} than in {others}{each}.", "group_auc"
            )
    largest = row_of(tables.gaps, "difference")["pvalue_adjusted"]
    if not len(found) and min(largest, _adjusted_of_equality(tables)) < SIGNIFICANT:
        yield Finding(
            f"No single group's AUC is shown to differ from that of {others}.", "group_auc"
        )


# Ranking between groups --------------------------------------------------------------------


def _on_ranking_between_groups(tables: AuditTables) -> Iterator[Finding]:
    if tables.compared.n_groups < 2:
        return
    gap = row_of(tables.gaps, "xauc_disparity")
    if gap["value"] == 0:
        yield Finding(
            "No difference in ranking between groups is observed: all xAUC disparities are 0.",
            "xauc_disparity",
        )
        return
    group = gap["highest"] if gap["value"] > 0 else gap["lowest"]
    row = _of_group(tables, group)
    others = "the other groups" if tables.compared.n_groups > 2 else "the other group"
    numbers = (
        f"positives of {named(group)} outrank negatives of {others} with a probability of "
        f"{row['bnsp_auc']:.3f} (BNSP AUC: {BNSP}), and positives of {others} outrank its "
        f"negatives with {row['bpsn_auc']:.3f} (BPSN AUC: {BPSN}); the disparity is "
        f"{_signed(gap['value'])}"
    )
    if math.isnan(gap["pvalue"]):
        yield Finding(f"The ranking between groups cannot be tested: {numbers}.", "xauc_disparity")
        return
    numbers += f" (adjusted {shown_pvalue(gap['pvalue_adjusted'])})"
    if not gap["pvalue_adjusted"] < SIGNIFICANT:
        yield Finding(
            "No difference in ranking between groups is established. The clearest disparity is "
            f"that of {named(group)}: {numbers}.",
            "xauc_disparity",
        )
        return
    # The disparity mixes a shift of scores with the ranking within the group. The AEGs compare rows
    # of the same class.
    causes = (
        f"Compared with rows of the same class in {others}, its average equality gap (AEG) is "
        f"{_signed(row['positive_aeg'])} for positives and {_signed(row['negative_aeg'])} for "
        "negatives."
    )
    is_one = tables.compared.n_groups == 2  # The disparities of two groups differ in sign only.
    start = "The ranking between groups differs" if is_one else "Most clearly"
    yield Finding(
        f"{start}{_in_favor(tables, group, gap['value'])}: {numbers}. {causes}", "xauc_disparity"
    )
    if is_one:
        return
    also = tables.by_group[tables.by_group["xauc_pvalue_adjusted"] < SIGNIFICANT].drop(group)
    by_disparity = also["xauc_disparity"].sort_values()
    for labels, more in (
        (by_disparity[by_disparity > 0].index[::-1], "more"),
        (by_disparity[by_disparity < 0].index, "less"),
    ):
        if len(labels):
            yield Finding(
                f"Positives of {listed(labels)} outrank negatives of {others} {more} often "
                f"than the reverse{_each(labels)}.",
                "xauc_disparity",
            )


def _in_favor(tables: AuditTables, group: Any, disparity: float) -> str:
    """Return whether a disparity favors the group, in terms of a known favorable outcome."""
    if tables.favorable is None:
        return ""
    is_favored = (disparity > 0) == (tables.favorable == "positive")
    return f", to the {'advantage' if is_favored else 'disadvantage'} of {named(group)}"


def _each(labels: Sequence[Any]) -> str:
    """Return that each of several groups is compared with all others: no other pair is tested."""
    return " (each compared with all others together)" if len(labels) > 1 else ""


# Decisions ---------------------------------------------------------------------------------


def _on_decisions(tables: AuditTables) -> Iterator[Finding]:
    if not tables.has_decisions:
        if not tables.is_ranking_chosen:
            yield Finding(f"Decisions are not audited: {_why_not(tables.report)}.", "decisions")
        return
    parity = row_of(tables.gaps, "demographic_parity_difference")
    if math.isnan(parity["value"]):
        yield Finding(
            "Fewer than two groups are large enough for a comparison of rates.", "small_groups"
        )
        return
    is_compared = tables.has_enough["selection_rate"]
    rates = tables.by_group.loc[is_compared, "selection_rate"]
    yield Finding(
        _on_selection_rates(tables, parity, float(rates.iloc[0])), "demographic_parity_difference"
    )
    # If all or no rows are selected, the other rates are equal as well.
    if not (rates == 0.0).all() and not (rates == 1.0).all():
        yield from _on_odds(tables)


def _why_not(report: GroupAUC) -> str:
    """Return the reason for an audit without decisions."""
    counts = report.counts
    scores = counts.cells.scores if counts.ranges is None else counts.ranges
    if scores.min() >= 0 and scores.max() <= 1:
        noun = "range" if counts.disclosure.bins is None else "bin"
        return (
            f"the threshold 0.5 is within a {noun} of scores, and neither another threshold nor "
            "decisions are given"
        )
    if counts.ranges is not None:
        return (
            "binned scores that may be outside 0 to 1 are not probabilities, and neither a "
            "threshold nor decisions are given"
        )
    return (
        f"the scores range from {scores.min():g} to {scores.max():g} and are not probabilities, "
        "and neither a threshold nor decisions are given"
    )


def _on_selection_rates(tables: AuditTables, parity: dict[str, Any], rate: float) -> str:
    """Return a sentence on the selection rates, which are all `rate` if the difference is 0."""
    where = "" if tables.threshold is None else f"At the threshold {tables.threshold:g} "
    model = "The model" if tables.threshold is None else "the model"
    outcome = {"positive": " (the favorable outcome)", "negative": " (the adverse outcome)"}
    predicts = (
        f"{where}{model} predicts the positive class{outcome.get(tables.favorable or '', '')}"
    )
    if parity["value"] == 0:
        whom = {0.0: "no row of any group", 1.0: "every row"}
        return f"{predicts} for {whom.get(rate, f'{rate:.1%} of every group')}."
    return (
        f"{predicts} for {_two_shares(tables, parity, 'selection_rate')}: a demographic parity "
        f"difference of {parity['value']:.3f}{_interval_of(parity)}. "
        f"{_rates_judged(tables, parity, 'selection_rate')}"
    )


def _on_odds(tables: AuditTables) -> Iterator[Finding]:
    odds = row_of(tables.gaps, "equalized_odds_difference")
    if isinstance(odds["rate"], float):  # No rate has two groups with enough rows.
        return
    for rate in (odds["rate"], *({*_RATES} - {"selection_rate", odds["rate"]})):
        is_odds = rate == odds["rate"]
        # The interval of equalized odds is that of the larger of two true differences.
        gap = row_of(tables.gaps, f"{rate}_difference")
        if math.isnan(gap["value"]):
            continue
        name = _RATES[rate][0]
        said = f"The difference of {name}s"
        said += ", the equalized odds difference," if is_odds else ""
        said += f" is {gap['value']:.3f}{_interval_of(gap)}"
        if gap["value"] > 0:
            said += f": {_two_shares(tables, gap, rate)}"
        yield Finding(
            f"{said}. {_rates_judged(tables, gap, rate) if gap['value'] > 0 else ''}".strip(),
            "equalized_odds_difference" if is_odds else f"{rate}_difference",
        )


def _rates_judged(tables: AuditTables, gap: dict[str, Any], rate: str) -> str:
    """Return whether rates differ as text, and describe the test for more than two groups."""
    name, n_groups = _RATES[rate][0], int(tables.has_enough[rate].sum())
    judged = _judged(gap, f"The {name}s differ")
    if n_groups == 2 or math.isnan(gap["pvalue"]):
        return judged
    said = f"{judged} The test covers all {n_groups:,} groups together"
    if gap["pvalue_adjusted"] < SIGNIFICANT:
        said += " and does not show which of them differ"
    return f"{said}."


def _two_shares(tables: AuditTables, gap: dict[str, Any], rate: str) -> str:
    return " and ".join(
        f"{_of_group(tables, gap[side])[rate]:.1%} of {named(gap[side])}"
        for side in ("lowest", "highest")
    )


# Tolerances --------------------------------------------------------------------------------


def _on_tolerances(tables: AuditTables) -> Iterator[Finding]:
    table = tables.tolerances
    for name, row in zip(table.index, table.to_dict("records"), strict=True):
        said = (
            f"Tolerance {row['answer']}: the {tolerating.in_words(name)} has to be "
            f"{tolerating.required(name, row['limit'])}"
        )
        if math.isnan(row["value"]):
            yield Finding(f"{said}, and is undefined.", "tolerances")
            continue
        limits = f"{row['ci_low']:.3f} to {row['ci_high']:.3f}"
        yield Finding(f"{said}, and is {row['value']:.3f} (limits {limits}).", "tolerances")
    if len(table):
        yield Finding(tolerating.MEANING, "tolerances")


# Calibration -------------------------------------------------------------------------------


def _on_calibration(tables: AuditTables) -> Iterator[Finding]:
    """Name the groups whose scores are not calibrated, if there are any."""
    if tables.calibration is None:
        return
    table = tables.calibration.iloc[:-1]  # The last row describes all groups together.
    adjusted = table["pvalue_adjusted"].to_numpy()
    places = [g for g in np.argsort(adjusted, kind="stable").tolist() if adjusted[g] < SIGNIFICANT]
    if not places:
        return
    clearest = _row_at(table, places[0])
    numbers = (
        f"the mean score is {clearest['mean_score']:.3f}, and the share of positives is "
        f"{clearest['prevalence']:.3f}"
    )
    where = ""
    if len(places) > 1:
        where = f"most clearly in {named(tables.groups[places[0]])}, "
    yield Finding(
        "Read as probabilities of the positive class, the scores are not calibrated in "
        f"{listed(tables.groups[g] for g in places)}: {where}{numbers} "
        f"(adjusted {shown_pvalue(clearest['pvalue_adjusted'])}).",
        "calibration",
    )


# Adjustment of the p values ----------------------------------------------------------------


def closing(tables: AuditTables, found: Iterable[Finding]) -> Iterator[str]:
    """Yield sentences on the number of claims, and on gaps without a claim."""
    n_claims, by = tables.claims.family.n_claims, tables.claims.family.groupings
    if n_claims > 1:
        named_by = [*by[:_MOST_GROUPINGS]]
        if len(by) > _MOST_GROUPINGS:
            named_by.append(_words.counted(len(by) - _MOST_GROUPINGS, "other grouping"))
        of = f" by {_words.enumerated(named_by)}" if len(by) > 1 else ""
        calibrated = "" if tables.calibration is None else ", and with calibrated scores,"
        yield (
            f"{n_claims:,} claims are tested{of}. Adjusted p values account for all of them "
            f"(Holm): about 5 % of audits of groups without any gap{calibrated} make a claim."
        )
    if any("is established" in sentence and "o difference" in sentence for sentence, _ in found):
        yield "A difference that is not established may still exist: read its interval."


# Text --------------------------------------------------------------------------------------


def _judged(gap: dict[str, Any], claim: str) -> str:
    """Return a sentence on the evidence for a gap."""
    if math.isnan(gap["pvalue"]):
        return "No test of this difference is possible."
    return f"{_sentence(_verdict(gap, claim))}."


def _verdict(gap: dict[str, Any], claim: str) -> str:
    adjusted = f"(adjusted {shown_pvalue(gap['pvalue_adjusted'])})"
    return f"{claim if gap['pvalue_adjusted'] < SIGNIFICANT else _NOTHING} {adjusted}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _of_group(tables: AuditTables, group: Any) -> dict[str, float]:
    """Return a row of `by_group`."""
    return _row_at(tables.by_group, tables.groups.index(group))


def _row_at(table: pd.DataFrame, place: int) -> dict[str, Any]:
    return {str(key): value for key, value in table.iloc[place].to_dict().items()}


def _signed(value: float) -> str:
    return "0.000" if round(value, 3) == 0 else f"{value:+.3f}"


def shown_pvalue(pvalue: float) -> str:
    """Return a p value as text, ``p = 0.03``."""
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
