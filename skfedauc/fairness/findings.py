"""What an audit found, in sentences."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

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
        yield (
            f"{n_small:,} of {audit.report.n_groups:,} groups {verb} fewer than "
            f"{max(audit.min_per_class, 1)} positives or negatives: {they_are} shown, but not "
            "compared."
        )


def _on_group_aucs(audit: FairnessAudit) -> Iterator[str]:
    gap = _gap(audit, "difference")
    compared = audit.compared
    span = (
        f"The AUC within groups goes from {compared.worst:.3f} ({named(gap['lowest'])}) to "
        f"{compared.worst + gap['value']:.3f} ({named(gap['highest'])}), a difference of "
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
    for side, groups in (
        ("worse", found[found["auc"] < middle]),
        ("better", found[found["auc"] >= middle]),
    ):
        if len(groups):
            labels = groups.sort_values("auc", ascending=side == "worse").index
            yield f"It ranks {side} than in the other groups in {_listed(labels)}."


def _on_favour(audit: FairnessAudit) -> Iterator[str]:
    gap = _gap(audit, "xauc_disparity")
    group = gap["highest"] if gap["value"] > 0 else gap["lowest"]
    row = audit.report.bias_by_group.iloc[audit.report.partial.groups.index(group)]  # type: ignore[union-attr]
    numbers = (
        f"its positives outrank the others' negatives with a probability of "
        f"{row['bnsp_auc']:.3f} (BNSP AUC), the others' positives its negatives with "
        f"{row['bpsn_auc']:.3f} (BPSN AUC)"
    )
    if gap["pvalue"] < SIGNIFICANT:
        verb = "favours" if gap["value"] > 0 else "disfavours"
        most = " most clearly" if audit.report.n_groups > 2 else ""
        yield (
            f"Between groups the model {verb} {named(group)}{most}: {numbers}; the disparity is "
            f"{gap['value']:+.3f} ({_shown(gap['pvalue'])})."
        )
    else:
        tested = "cannot be tested" if math.isnan(gap["pvalue"]) else _shown(gap["pvalue"])
        yield (
            f"Between groups no favour is seen: of {named(group)}, {numbers}; the disparity is "
            f"{gap['value']:+.3f} ({tested})."
        )


def _on_decisions(audit: FairnessAudit) -> Iterator[str]:
    parity = _gap(audit, "demographic_parity_difference")
    odds = _gap(audit, "equalized_odds_difference")["value"]
    rates = audit._rates["selection_rate"]
    places = audit.report.partial.groups or ()
    low, high = (rates.iloc[places.index(parity[side])] for side in ("lowest", "highest"))
    by_chance = (
        ""
        if math.isnan(parity["expected"])
        else f" where chance alone would make {parity['expected']:.3f}"
    )
    shares = (
        f"{low:.1%} of every group"
        if parity["value"] == 0
        else f"{low:.1%} of {named(parity['lowest'])} and {high:.1%} of {named(parity['highest'])}"
    )
    yield (
        f"At the threshold {audit.threshold:g} it selects {shares}: a demographic parity "
        f"difference of {parity['value']:.3f}{by_chance}. The equalized odds difference is "
        f"{odds:.3f}."
    )


def _gap(audit: FairnessAudit, name: str) -> dict[str, Any]:
    return {str(key): value for key, value in audit.gaps.loc[name].to_dict().items()}


def named(label: Any) -> str:
    """A group's label in a sentence."""
    if isinstance(label, datetime.datetime):
        return str(label)
    if isinstance(label, tuple):
        return ", ".join(map(named, label))
    text = repr(label)
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[: _MOST_CHARACTERS // 2]}...{text[-_MOST_CHARACTERS // 2 :]}"


def _listed(labels: Iterable[Any]) -> str:
    items = [named(label) for label in labels]
    more = f" and {len(items) - _MOST_NAMED:,} more groups" if len(items) > _MOST_NAMED else ""
    return "; ".join(items[:_MOST_NAMED]) + more


def _shown(pvalue: float) -> str:
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.2g}"
