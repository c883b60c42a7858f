"""A comparison of two models as a section of a model card, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skfedauc import _words
from skfedauc.audit.card import (
    as_list,
    as_sections,
    as_table,
    decisions,
    declared,
    escaped,
    evaluation_data,
    label_of,
    number_of,
    pvalue_of,
    with_limits,
)
from skfedauc.audit.gap_tables import GAPS, QUALITY
from skfedauc.audit.tolerances import required

# Largest number of groups in a table
_MOST_GROUPS = 50
_PAIRS = {"within": "AUC within groups", "cross": "AUC across groups"}
_CAVEATS = (
    "A change that is not established may still exist. An established change may be too small to "
    "matter. Read the intervals.",
    "Adjusted p values account for all changes: about 5 % of comparisons of models without any "
    "difference make a claim. Intervals are not adjusted.",
    "The comparison covers these two models. The variation of fitting the models again is not "
    "included, and neither is a choice of the models on the same rows.",
    "The numbers are biased if the labels are biased, or if rows are missing from a group.",
    "Intervals and tests assume independent rows that were not used for training.",
    "No number decides which gaps are unfair, or whether a mitigation is justified.",
)

Document = Mapping[str, Any]


def card_of(document: Document) -> str:
    """Return a model card section from the result of `AuditComparison.to_dict`."""
    facts = document["facts"]
    models = {name: escaped(name) for name in facts["models"]}
    identifiers = {
        f"Identifier of the counts of {models[name]}": of["identifier"]
        for name, of in facts["models"].items()
    }
    sections = {
        "Models": as_list(_models(facts, list(models.values()))),
        "Evaluation data": as_list(evaluation_data(facts, identifiers)),
        "Changes": _changes(document, list(models.values())),
        "Changes by group": _groups(document, list(models.values())),
        "Tolerances": _tolerances(document, list(models.values())),
        "Findings": as_list(map(escaped, document["findings"])),
        "Caveats": as_list(_CAVEATS),
    }
    return as_sections({title: text for title, text in sections.items() if text})


def _models(facts: Mapping[str, Any], models: Sequence[str]) -> Iterator[str]:
    yield f"Before: {models[0]}"
    yield f"After: {models[1]}"
    yield from declared(facts)
    of_models = [decisions(of) for of in facts["models"].values()]
    for model, of_model in zip(models, of_models, strict=True):
        yield f"Decisions of {model}: {of_model}"


def _changes(document: Document, models: Sequence[str]) -> str:
    named = {QUALITY["pooled"][0]: document["quality"]["pooled"]}
    named |= {title: document["decomposition"][name] for name, title in _PAIRS.items()}
    named |= {escaped(GAPS[name][0]): row for name, row in document["gaps"].items()}
    rows = [
        [name, *_values(row), pvalue_of(row["pvalue_adjusted"])]
        for name, row in named.items()
        if row["change"] is not None
    ]
    return as_table(["value", *models, "change (95 % interval)", "adjusted p"], rows)


def _groups(document: Document, models: Sequence[str]) -> str:
    """Return the table of the AUCs of the groups, with the groups with the largest changes."""
    groups = [group for group in document["groups"] if group["auc"]["change"] is not None]
    groups.sort(key=lambda group: -abs(group["auc"]["change"]))
    rows = [
        [label_of(group["label"]), *_values(row), pvalue_of(row["pvalue_adjusted"])]
        for group in groups[:_MOST_GROUPS]
        for row in [group["auc"]]
    ]
    if not rows:
        return ""
    heading = ["group", *(f"AUC of {model}" for model in models)]
    text = as_table([*heading, "change (95 % interval)", "adjusted p"], rows)
    n_more = len(document["groups"]) - len(rows)
    if n_more:
        text += f"\n\n{_words.counted(n_more, 'more group')} with a smaller or undefined change."
    return text


def _tolerances(document: Document, models: Sequence[str]) -> str:
    rows = [
        [
            f"{escaped(GAPS[gap][0])} {required(gap, found['limit'])}",
            *(
                f"{found[time]['answer']}: {with_limits(found[time], found[time]['value'])}"
                for time in ("before", "after")
            ),
        ]
        for gap, found in document["tolerances"].items()
    ]
    return as_table(["tolerance", *(f"{model} (limits)" for model in models)], rows) if rows else ""


def _values(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of the values before and after, and of the change."""
    return [number_of(row["before"]), number_of(row["after"]), with_limits(row, row["change"])]
