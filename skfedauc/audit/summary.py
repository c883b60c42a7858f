"""Summary of one or several audits in at most five lines."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skfedauc import _words
from skfedauc.audit.cells import number_text
from skfedauc.audit.findings import SIGNIFICANT, clearest_pair
from skfedauc.audit.gap_tables import GAPS
from skfedauc.audit.names import by, named, named_in
from skfedauc.audit.tables import AuditTables, classes_in_words, row_of
from skfedauc.audit.tolerances import ANSWERS
from skfedauc.counts import left_out

# Largest number of tolerances with the same answer in the summary
_MOST_TOLERANCES = 12


class Line(NamedTuple):
    """Line of a summary: the topic, and a sentence without a point at the end."""

    about: str
    text: str


def headline(tables: AuditTables) -> str:
    """Return the subject of an audit: groups, classes, decisions and rows without a group."""
    classes = classes_in_words(tables.report.counts)
    of_class = f", positive class {classes}" if classes else ""
    levels = itertools.starmap(named_in, tables.within.items())
    grouped = " within ".join([", ".join(tables.columns), *levels])
    return (
        f"FairnessAudit of {_words.counted(tables.report.n_groups, 'group')} by {grouped}"
        f"{of_class}, {_decided(tables)}{left_out(tables.report.counts.n_missing)}"
    )


def _decided(tables: AuditTables) -> str:
    """Return a phrase on the decisions of an audit."""
    if not tables.has_decisions:
        return "ranking only"
    if tables.threshold is None:
        return "decisions of the model"
    return f"decisions at the threshold {tables.threshold:g}"


def summary(audits: Sequence[AuditTables]) -> list[Line]:
    """Return the subject, the AUC, gaps within and between groups, decisions, and tolerances.

    Parameters
    ----------
    audits : sequence of AuditTables
        Audits of the same predictions by different groups.
    """
    first = [Line("Audited", _audited(audits)), Line("AUC", _auc(audits))]
    within, between = _within(audits), _between(audits)
    decisions = Line("Decisions", _decisions(audits))
    tolerances = _tolerances(audits)
    if tolerances:
        return [*first, Line("Gaps", f"{within}; {between}"), decisions, *tolerances]
    return [*first, Line("Within groups", within), Line("Between groups", between), decisions]


def _audited(audits: Sequence[AuditTables]) -> str:
    # Each label of a control column has an audit of its rows.
    rows, positives = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for a in audits:
        counts = a.report.counts
        rows[a.columns] += int(counts.n_positives.sum() + counts.n_negatives.sum())
        positives[a.columns] += int(counts.n_positives.sum())
    classes = classes_in_words(audits[0].report.counts)
    of_class = f", positive class {classes}" if classes else ""
    groups = [_grouped([a for a in audits if a.columns == columns]) for columns in rows]
    n_positives = f"{_range([*positives.values()])} of them positive{of_class}"
    return f"{_range([*rows.values()])} rows, {n_positives}; {_words.enumerated(groups)}"


def _grouped(audits: Sequence[AuditTables]) -> str:
    """Return the number of groups of audits by the same columns."""
    sizes = [audit.report.n_groups for audit in audits]
    if len(audits) == 1:
        return f"{_words.counted(sizes[0], 'group')} by {audits[0].grouping}"
    of_levels = f"{len(audits):,} labels of {by(list(audits[0].within))}"
    groups = _words.counted(sizes[0], "group") if max(sizes) == 1 else f"{_range(sizes)} groups"
    return f"{groups} by {by(audits[0].columns)} within each of {of_levels}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _auc(audits: Sequence[AuditTables]) -> str:
    pooled = row_of(audits[0].quality, "pooled")
    n_levels = sum(audit.columns == audits[0].columns for audit in audits)
    if n_levels > 1:
        of_levels = [row_of(audit.quality, "pooled")["auc"] for audit in audits[:n_levels]]
        known = [auc for auc in of_levels if not math.isnan(auc)]
        if not known:
            return "undefined: there are no positives, or no negatives"
        low, high = map(number_text, (min(known), max(known)))
        text = f"{low} to {high} for the rows of each label of {by(list(audits[0].within))}"
    elif math.isnan(pooled["auc"]):
        return "undefined: there are no positives, or no negatives"
    else:
        text = f"{_with_interval(pooled['auc'], pooled)} for all rows together"
    lowest = [(row_of(a.quality, "worst"), a) for a in audits if a.compared.n_groups > 1]
    if lowest:
        worst, audit = min(lowest, key=lambda pair: pair[0]["auc"])
        group = f"{named(worst['group'])}{_of(audit, audits)}"
        text += f"; worst group: {_with_interval(worst['auc'], worst)} in {group}"
    return text


def _within(audits: Sequence[AuditTables]) -> str:
    gaps = [(row_of(a.gaps, "difference"), a) for a in audits if a.compared.n_groups > 1]
    if not gaps:
        return "fewer than two groups are large enough for a comparison of AUCs"
    established = [pair for pair in gaps if pair[0]["pvalue_adjusted"] < SIGNIFICANT]
    if established:
        gap, audit = max(established, key=lambda pair: _established_difference(*pair))
        clearest = clearest_pair(audit)
        largest = (
            f"{_with_interval(gap['value'], gap)}, between {named(gap['lowest'])} and "
            f"{named(gap['highest'])}{_of(audit, audits)}"
        )
        if clearest is None:
            return f"the largest established difference of AUCs is {largest}"
        # The largest or the smallest AUC can belong to a tiny group.
        return (
            "the clearest established difference of AUCs is "
            f"{number_text(_established_difference(gap, audit))}, between {named(clearest[1])} "
            f"and {named(clearest[0])}{_of(audit, audits)}; the largest observed difference is "
            f"{largest}"
        )
    gap, audit = max(gaps, key=lambda pair: (_known(pair[0]["ci_high"]), pair[0]["value"]))
    text = "no difference of two groups' AUCs is established"
    if any((a.claims.adjusted["equal_aucs"] < SIGNIFICANT).any() for _, a in gaps):
        text += ", although the AUCs of all groups are not equal"
    if not math.isnan(gap["ci_high"]):
        text += (
            f"; a difference of up to {gap['ci_high']:.3f}{_of(audit, audits)} is compatible with "
            "the rows (95 % interval)"
        )
    return text


def _established_difference(gap: Mapping[str, Any], audit: AuditTables) -> float:
    """Return the difference of AUCs of the most significant pair of groups."""
    pair = clearest_pair(audit)
    if pair is None:
        return float(gap["value"])
    aucs = audit.by_group["auc"].to_numpy()
    high, low = (float(aucs[audit.groups.index(label)]) for label in pair)
    return high - low


def _between(audits: Sequence[AuditTables]) -> str:
    gaps = [(row_of(a.gaps, "xauc_disparity"), a) for a in audits if a.compared.n_groups > 1]
    gaps = [pair for pair in gaps if not math.isnan(pair[0]["value"])]
    if not gaps:
        return "fewer than two groups are large enough for a comparison of their scores"
    established = [pair for pair in gaps if pair[0]["pvalue_adjusted"] < SIGNIFICANT]
    gap, audit = min(established or gaps, key=lambda pair: _known(pair[0]["pvalue_adjusted"], 2.0))
    if gap["value"] == 0:
        return "all xAUC disparities are 0"
    group = gap["highest"] if gap["value"] > 0 else gap["lowest"]
    value = _with_interval(gap["value"], gap, "+")
    if not established:
        return (
            f"no xAUC disparity is established; the clearest one is {value}, of "
            f"{named(group)}{_of(audit, audits)}"
        )
    # Not "scored higher" or "favored": a worse ranking within the group causes a disparity, too.
    return (
        f"the clearest established xAUC disparity is {value}: positives of {named(group)} outrank "
        f"negatives of {'the others' if audit.compared.n_groups > 2 else 'the other group'} "
        f"{'more' if gap['value'] > 0 else 'less'} often than the reverse{_of(audit, audits)}"
    )


def _decisions(audits: Sequence[AuditTables]) -> str:
    audited = [a for a in audits if a.has_decisions]
    if not audited:
        return "not audited"
    threshold = audited[0].threshold
    made = "of the model" if threshold is None else f"at the threshold {threshold:g}"
    gaps = [(row_of(a.gaps, "demographic_parity_difference"), a) for a in audited]
    gaps = [pair for pair in gaps if not math.isnan(pair[0]["value"])]
    if not gaps:
        return f"{made}; fewer than two groups are large enough for a comparison of rates"
    parity, audit = max(gaps, key=_is_established_and_large)
    odds, of_odds = max(
        ((row_of(a.gaps, "equalized_odds_difference"), a) for a in audited),
        key=_is_established_and_large,
    )
    text = (
        f"{made}; demographic parity difference {parity['value']:.3f}{_of(audit, audits)}, "
        f"{_established(parity)}"
    )
    if not math.isnan(odds["value"]):
        text += (
            f"; equalized odds difference {odds['value']:.3f}{_of(of_odds, audits)}, "
            f"{_established(odds)}"
        )
    return text


def _tolerances(audits: Sequence[AuditTables]) -> list[Line]:
    """Return the line of the tolerances by answer, or nothing without tolerances."""
    names: dict[str, list[str]] = {}
    for audit in audits:
        for gap, answer in audit.tolerances["answer"].items():
            names.setdefault(answer, []).append(f"{GAPS[str(gap)][0]}{_of(audit, audits)}")
    if not names:
        return []
    said = [
        f"{len(names[answer])} {answer} ({_first(names[answer])})"
        for answer in ANSWERS
        if answer in names
    ]
    return [Line("Tolerances", "; ".join(said))]


# Text ------------------------------------------------------------------------------------------


def _is_established_and_large(pair: tuple[Mapping[str, Any], AuditTables]) -> tuple[bool, float]:
    gap = pair[0]
    return bool(gap["pvalue_adjusted"] < SIGNIFICANT), _known(gap["value"])


def _established(gap: Mapping[str, Any]) -> str:
    if math.isnan(gap["pvalue_adjusted"]):
        return "not tested"
    return "established" if gap["pvalue_adjusted"] < SIGNIFICANT else "not established"


def _known(value: float, if_undefined: float = -math.inf) -> float:
    return if_undefined if math.isnan(value) else value


def _of(audit: AuditTables, audits: Sequence[AuditTables]) -> str:
    """Name the grouping, if there are several."""
    return f" (by {audit.grouping})" if len(audits) > 1 else ""


def _first(names: Sequence[str]) -> str:
    """Return the first names of tolerances, and the number of further ones."""
    n_more = len(names) - _MOST_TOLERANCES
    more = [f"and {n_more:,} more"] if n_more > 0 else []
    return ", ".join([*names[:_MOST_TOLERANCES], *more])


def _with_interval(value: float, limits: Mapping[str, Any], sign: str = "") -> str:
    text = number_text(value, sign)
    if math.isnan(limits["ci_low"]):
        return text
    low, high = (number_text(limits[end], sign) for end in ("ci_low", "ci_high"))
    return f"{text} (95 % interval {low} to {high})"
