"""What an audit found, in sentences."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from skfedauc._validation import counted

if TYPE_CHECKING:
    from skfedauc.fairness.audit import FairnessAudit

# P values below this count as a difference.
SIGNIFICANT = 0.05
# Groups that a sentence names.
_MOST_NAMED = 5
# Characters of a label that a sentence shows.
_MOST_CHARACTERS = 60


def findings(audit: FairnessAudit) -> tuple[str, ...]:
    """One sentence or two on each question that the audit asks."""
    if audit.compared.n_groups < 2:
        too_few = "There are no two groups that are large enough to be compared."
        return (*_on_small_groups(audit), too_few)
    return (
        *_on_small_groups(audit),
        *_on_group_aucs(audit),
        *_on_single_groups(audit),
        *_on_favour(audit),
        *_on_decisions(audit),
    )


def _on_small_groups(audit: FairnessAudit) -> Iterator[str]:
    n_small = audit.report.n_groups - audit.compared.n_groups
    if n_small:
        verb, they_are = ("has", "it is") if n_small == 1 else ("have", "they are")
        least = audit.min_per_class
        lacking = "no" if least <= 1 else f"fewer than {least:,}"
        yield (
            f"{n_small:,} of {counted(audit.report.n_groups, 'group')} {verb} {lacking} positives "
            f"or negatives: {they_are} shown, but not compared."
        )


def _on_group_aucs(audit: FairnessAudit) -> Iterator[str]:
    gap = _gap(audit, "difference")
    lowest = audit.compared.worst
    if gap["value"] == 0:
        yield f"The AUC within groups is {lowest:.3f} in each of them."
        return
    span = (
        f"The AUC within groups goes from {lowest:.3f} ({named(gap['lowest'])}) to "
        f"{lowest + gap['value']:.3f} ({named(gap['highest'])}), a difference of "
        f"{gap['value']:.3f}; chance alone would make {gap['expected']:.3f} on average"
    )
    if math.isnan(gap["pvalue"]):
        yield f"{span}. Whether it is more than chance cannot be tested."
    elif gap["pvalue"] < SIGNIFICANT:
        yield f"{span}. The groups differ ({_shown(gap['pvalue'])})."
    else:
        yield (
            f"{span}. The groups cannot be told apart ({_shown(gap['pvalue'])}), which does not "
            "show that they are alike."
        )


def _on_single_groups(audit: FairnessAudit) -> Iterator[str]:
    if audit.compared.n_groups == 2:  # the test of all groups has said it
        return
    found = audit.by_group[audit.by_group["pvalue_adjusted"] < SIGNIFICANT]
    middle = audit.compared.average("macro")
    below, above = found[found["auc"] < middle], found[found["auc"] >= middle]
    if len(below):
        labels = below.sort_values("auc").index
        yield f"The AUC is below the average of the other groups' AUCs in {_listed(labels)}."
    if len(above):
        labels = above.sort_values("auc", ascending=False).index
        yield f"The AUC is above the average of the other groups' AUCs in {_listed(labels)}."


def _on_favour(audit: FairnessAudit) -> Iterator[str]:
    gap = _gap(audit, "xauc_disparity")
    if gap["value"] == 0:
        yield "Between groups no favour is seen: all xAUC disparities are 0."
        return
    group = gap["highest"] if gap["value"] > 0 else gap["lowest"]
    row = _of_group(audit, group)
    numbers = (
        f"its positives outrank the others' negatives with a probability of "
        f"{row['bnsp_auc']:.3f} (BNSP AUC), the others' positives its negatives with "
        f"{row['bpsn_auc']:.3f} (BPSN AUC)"
    )
    if not gap["pvalue"] < SIGNIFICANT:
        tested = "cannot be tested" if math.isnan(gap["pvalue"]) else _shown(gap["pvalue"])
        yield (
            f"Between groups no favour is seen: of {named(group)}, {numbers}; the disparity is "
            f"{_signed(gap['value'])} ({tested})."
        )
        return
    verb = "favours" if gap["value"] > 0 else "disfavours"
    others = audit.by_group[audit.by_group["xauc_pvalue_adjusted"] < SIGNIFICANT].drop(group)
    most = " most clearly" if audit.compared.n_groups > 2 else ""
    yield (
        f"Between groups the model {verb} {named(group)}{most}: {numbers}; the disparity is "
        f"{_signed(gap['value'])} ({_shown(gap['pvalue'])})."
    )
    if audit.compared.n_groups == 2:  # the other one is the other side of it
        return
    by_disparity = others["xauc_disparity"].sort_values()
    favoured, disfavoured = by_disparity[by_disparity > 0], by_disparity[by_disparity < 0]
    compared = f"Compared with all others, {named(group)} among them, it also"
    if len(favoured):
        yield f"{compared} favours {_listed(favoured.index[::-1])}."
    if len(disfavoured):
        yield f"{compared} disfavours {_listed(disfavoured.index)}."


def _on_decisions(audit: FairnessAudit) -> Iterator[str]:
    parity, odds = (
        _gap(audit, f"{name}_difference") for name in ("demographic_parity", "equalized_odds")
    )
    decided = f"At the threshold {audit.threshold:g} it selects"
    if parity["value"] == 0:
        rate = audit.by_group.loc[~audit.by_group["is_small"], "selection_rate"].iloc[0]
        whom = {0.0: "no row of any group", 1.0: "every row"}
        yield f"{decided} {whom.get(rate, f'{rate:.1%} of every group')}."
        if rate in whom:
            return
    else:
        low, high = (
            f"{_of_group(audit, parity[side])['selection_rate']:.1%} of {named(parity[side])}"
            for side in ("lowest", "highest")
        )
        yield (
            f"{decided} {low} and {high}: a demographic parity difference of "
            f"{parity['value']:.3f} where chance alone would make {parity['expected']:.3f} "
            f"({_shown(parity['pvalue'])})."
        )
    yield f"The equalized odds difference is {odds['value']:.3f} ({_shown(odds['pvalue'])})."


def _of_group(audit: FairnessAudit, group: Any) -> dict[str, float]:
    """A row of `by_group`."""
    place = (audit.report.partial.groups or ()).index(group)
    return {str(name): value for name, value in audit.by_group.iloc[place].to_dict().items()}


def _gap(audit: FairnessAudit, name: str) -> dict[str, Any]:
    return {str(key): value for key, value in audit.gaps.loc[name].to_dict().items()}


def named(label: Any) -> str:
    """A group's label in a sentence."""
    if isinstance(label, datetime.datetime):
        return str(label)
    if isinstance(label, tuple):
        return f"({', '.join(map(named, label))})"
    text = repr(label)
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[: _MOST_CHARACTERS // 2]}...{text[-_MOST_CHARACTERS // 2 :]}"


def _listed(labels: Iterable[Any]) -> str:
    items = [named(label) for label in labels]
    more = f" and {len(items) - _MOST_NAMED:,} more groups" if len(items) > _MOST_NAMED else ""
    return "; ".join(items[:_MOST_NAMED]) + more


def _signed(value: float) -> str:
    return "0.000" if round(value, 3) == 0 else f"{value:+.3f}"


def _shown(pvalue: float) -> str:
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
