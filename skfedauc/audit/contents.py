"""The contents of an audit's and a comparison's documents, from their answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _words
from skfedauc.audit import wording
from skfedauc.audit.answers import LEVEL, Answer, Audited, tolerance
from skfedauc.audit.document import (
    Card,
    Cell,
    Document,
    Mark,
    Row,
    Table,
    plain_label,
    plain_number,
)
from skfedauc.audit.questions import QUESTIONS
from skfedauc.audit.samples import Sample
from skfedauc.planning import rows_needed
from skfedauc.report import estimates_of
from skfedauc.report.intervals import binned_note

Answers = Mapping[str, Mapping[str, Answer]]

# Largest numbers of groups in a plot of the first screen, in a plot of the appendix and in a table
# of the appendix, and the largest number of characters of a plot's label
MOST_MARKS, _MOST_IN_PLOT, _MOST_ROWS, _MOST_IN_LABEL = 12, 100, 500, 16
# Difference of AUCs for which an undecided card gives the number of rows
_PLANNED = 0.05
# Answers to a tolerance, in the order of a document
ANSWERS = ("met", "not met", "undecided")
_NUMBERS = ("estimate", "ci_low", "ci_high", "confidence_level", "pvalue")
_LIMITS = (
    "The audit is about the rows that it was given. It cannot see labels that are wrong for some "
    "groups, people whom these columns do not describe, or why groups differ."
)


@dataclass(frozen=True)
class Voice:
    """How a document words an answer: its sentence, its cell, and its table in the appendix."""

    sentence: Callable[[Answer], str]
    short: Callable[[Answer], str]
    table: Callable[[Answer], Table]


def document_of_audit(audit: Audited) -> Document:
    """Return the document for one model's audit."""
    primary, answers = QUESTIONS[audit.primary], audit.answers
    favorable = audit.favorable

    def said(found: Answer) -> str:
        return wording.sentence(found, favorable)

    cards, center = [], math.nan
    if primary.name == "difference":
        center = audit.report.pooled
    for column, sample in audit.samples.items():
        found = answers[column][primary.name]
        subject = primary.title if found.is_claim else ""
        notes = wording.on_groups(found) + _plan(found, sample)
        cell = replace(_cell(found, said(found)), subject=subject)
        cards.append(_card(found, sample, (cell,), center, notes))
    levels = {found[primary.name].confidence_level for found in answers.values()}
    level = min((of for of in levels if not math.isnan(of)), default=LEVEL)
    also = _also(answers, [primary.name])
    tolerances = tuple(_tolerances(audit))
    voice = Voice(said, lambda found: wording.short(found, favorable), _table_of_groups)
    return _document(
        answers,
        audit.facts,
        [audit],
        voice,
        also=also,
        title=f"do groups differ in {primary.noun}?",
        headline=" ".join([_headline(audit), *(_on_tolerance(row, answers) for row in tolerances)]),
        cards=tuple(cards),
        tolerances=tolerances,
        legend=f"Plots: {primary.noun} with {wording.NINETY_FIVE} interval, lowest first; dashed: "
        "all rows together; pale: few rows; at right: rows.",
        promise=wording.promise(primary, level, _level_of(answers, also), audit.n_audits),
    )


def document_of_comparison(
    audits: tuple[Audited, Audited],
    models: tuple[str, str],
    answers: Answers,
    facts: dict[str, Any],
) -> Document:
    """Return the document for a comparison between two models."""
    first, second = models

    def said(found: Answer) -> str:
        return wording.change_sentence(found, models)

    cards = []
    for column, sample in audits[0].samples.items():
        gap, within = answers[column]["difference"], answers[column]["within"]
        of_within = {"smaller": "lower", "larger": "higher"}.get(within.verdict, within.verdict)
        text = wording.change_sentence(within, models, is_within=True)
        cells = (
            replace(_cell(gap, said(gap)), subject="AUC gap"),
            replace(_cell(within, text), subject="AUC within groups", verdict=of_within),
        )
        cards.append(_card(gap, sample, cells, audits[1].report.pooled, []))
    also = _also(answers, ["difference", "within"])
    tolerances = [
        replace(row, title=f"{row.title}, {name}")
        for name, audit in zip(models, audits, strict=True)
        for row in _tolerances(audit)
    ]
    voice = Voice(said, wording.short_change, lambda found: _table_of_changes(found, models))
    return _document(
        answers,
        facts,
        list(audits),
        voice,
        also=also,
        title=f"did gaps between groups change from {first} to {second}?",
        headline=" ".join(map(_headline, audits, models)),
        cards=tuple(cards),
        tolerances=tuple(tolerances),
        legend=f"Plots: AUC of {first} (\N{WHITE CIRCLE}) and {second} (\N{BLACK CIRCLE}); dashed: "
        f"all rows together with {second}; at right: rows.",
        promise=wording.promise_of_changes(1.0 - (1.0 - LEVEL) / 2.0, _level_of(answers, also)),
    )


def _document(
    answers: Answers,
    facts: dict[str, Any],
    audits: list[Audited],
    voice: Voice,
    *,
    also: list[str],
    title: str,
    tolerances: tuple[Row, ...],
    **parts: Any,
) -> Document:
    model = facts["names"]["model"]
    tables = [
        replace(table, title=f"{found.question.title} by {column}")
        for column, of_column in answers.items()
        for name, found in of_column.items()
        if found.table is not None and name != "within"
        for table in [voice.table(found)]
    ]
    asked = dict.fromkeys(name for of in answers.values() for name in of if name != "within")
    samples = audits[0].samples
    data = {
        "facts": facts,
        "headline": parts["headline"],
        "columns": {
            column: {
                "answers": {name: _plain(of, voice, name) for name, of in of_column.items()},
                "left_out": [
                    {"group": plain_label(group), "n_positives": m, "n_negatives": n}
                    for group, m, n in samples[column].left_out
                ],
            }
            for column, of_column in answers.items()
        },
        "tolerances": _plain_tolerances(audits, facts),
    }
    return Document(
        title=f"{model}: {title}" if model else title[:1].upper() + title[1:],
        facts=_facts(facts, audits),
        columns=tuple(answers),
        also=tuple(
            Row(
                QUESTIONS[name].title,
                tuple(_cell(of[name], voice.short(of[name])) for of in answers.values()),
                QUESTIONS[name].gloss,
            )
            for name in also
        ),
        also_level=_level_of(answers, also) or wording.NINETY_FIVE,
        tolerances=tolerances,
        definitions=tuple((QUESTIONS[name].title, QUESTIONS[name].definition) for name in asked),
        tables=tuple(tables),
        provenance=tuple(_provenance(facts)),
        data=data,
        promise=f"{parts.pop('promise')} {_LIMITS}",
        **parts,
    )


# Parts of the first screen -----------------------------------------------------------------------


def _also(answers: Answers, primary: list[str]) -> list[str]:
    """Return which secondary questions are answered by at least one column."""
    names = dict.fromkeys(name for of_column in answers.values() for name in of_column)
    return [
        name
        for name in names
        if name not in primary
        and not QUESTIONS[name].is_for_tolerance
        and any(not of_column[name].missing for of_column in answers.values())
    ]


def _level_of(answers: Answers, names: list[str]) -> str:
    """Return some answers' interval levels; empty without answers."""
    found = [of_column[name] for of_column in answers.values() for name in names]
    levels = {wording.level_text(of.confidence_level) for of in found if not of.missing}
    return _words.enumerated(sorted(levels), "or") if levels else ""


def _facts(facts: Mapping[str, Any], audits: list[Audited]) -> tuple[str, ...]:
    label, positive = facts["names"]["label"], facts["positive_class"]
    what = label or (positive if isinstance(positive, str) else "")
    counted = _words.counted(facts["n_positives"], "positive") + (f" ({what})" if what else "")
    parts = [f"{_words.counted(facts['n_rows'], 'row')}, {counted}"]
    if facts["n_clusters"] is not None:
        parts.append(_words.counted(facts["n_clusters"], "cluster"))
    if facts["n_missing"]:
        parts.append(f"{_words.counted(facts['n_missing'], 'row')} without a group label left out")
    if facts["n_withheld_groups"]:
        parts.append(f"{_words.counted(facts['n_withheld_groups'], 'group')} withheld")
    note = binned_note(estimates_of(audits[0].report))
    if note:
        parts.append(note)
    thresholds = dict.fromkeys(audit.threshold for audit in audits)
    if not all(audit.decisions is not None for audit in audits):
        parts.append("the ranking alone")
    elif None in thresholds:
        parts.append("decisions as given")
    else:
        parts.append(f"decisions at {_words.enumerated([f'{of:g}' for of in thresholds])}")
    return (*parts, facts["date"][:10], f"audit {audits[0].facts['identifier'][:8]}")


def _headline(audit: Audited, model: str = "") -> str:
    """Return how good the model is: all rows together, and within each column's groups."""

    def auc(report: Any, name: str) -> str:
        table = report.confidence_intervals(confidence_level=LEVEL, of="statistics")
        row = table[["value", "ci_low", "ci_high"]].to_dict("index")[name]
        value, low, high = map(wording.number, row.values())
        return f"{value} ({low} to {high})" if row["ci_low"] == row["ci_low"] else value

    within = [
        f"{auc(sample.report, 'within')} by {column}"
        for column, sample in audit.samples.items()
        if len(sample.groups) > 1
    ]
    of_model = f"{model}: " if model else ""
    of_groups = f"; within groups {_words.enumerated(within)}" if within else ""
    return f"{of_model}AUC {auc(audit.report, 'pooled')} over all rows{of_groups}."


def _on_tolerance(row: Row, columns: Iterable[str]) -> str:
    """Return a tolerance's verdicts for the headline, the most adverse first."""
    said: dict[str, list[str]] = {}
    for column, cell in sorted(zip(columns, row.cells, strict=True), key=lambda of: of[1].severity):
        said.setdefault(cell.word, []).append(column)
    verdicts = [f"{word} by {_words.enumerated(of_word)}" for word, of_word in said.items()]
    return f"Tolerance ({row.title}): {'; '.join(verdicts)}."


def _card(
    found: Answer, sample: Sample, cells: tuple[Cell, ...], center: float, notes: list[str]
) -> Card:
    marks = [] if found.table is None else _marks(found, sample)
    notes = notes + [sample.remark] * bool(sample.remark)
    shown = marks
    if len(marks) > MOST_MARKS:
        half = MOST_MARKS // 2
        shown = [*marks[:half], *marks[-half:]]
        notes.insert(0, f"Plot: the {half} lowest and the {half} highest of {len(marks):,} groups.")
    more = marks if MOST_MARKS < len(marks) <= _MOST_IN_PLOT else []
    heading = f"By {sample.column}"
    return Card(heading, cells, tuple(shown), center, tuple(notes), tuple(more))


def _plan(found: Answer, sample: Sample) -> list[str]:
    """Return how many rows would show a difference, for an undecided AUC difference."""
    if found.question.name != "difference" or found.verdict != "undecided" or sample.clusters:
        return []
    try:
        needed = rows_needed(sample.report, difference=_PLANNED)
    except ValueError:
        return []  # The rows do not determine the variance.
    return [
        f"To show a difference of {_PLANNED:g} with a probability of 80 %, each group needs about "
        f"{needed.n_rows:,} rows."
    ]


def _marks(found: Answer, sample: Sample) -> list[Mark]:
    """Return the plot's rows, lowest first."""
    assert found.table is not None
    rows = found.table.to_dict("records")
    # Of two groups, the lower one can be the reference.
    is_pair = found.verdict == "differ" and len(rows) == 2
    order = _order(found)
    marks = []
    for g in order.tolist():
        row, group = rows[g], found.groups[g]
        is_lower = group == found.lowest if is_pair else row["simultaneous_high"] < 0
        is_lower = is_lower and not found.question.is_with_others and "before" not in row
        style = "low" if is_lower else "few" if group in sample.few_groups else ""
        label = _words.shortened_label(group, _MOST_IN_LABEL)
        value, low, high, before = row.get("value"), row["ci_low"], row["ci_high"], None
        if "before" in row:  # The limits are those of the change.
            value, low, high, before = (float(row[name]) for name in ["after"] * 3 + ["before"])
        marks.append(Mark(label, value, low, high, int(row["n_rows"]), style, before))
    return marks


def _order(found: Answer) -> NDArray[np.intp]:
    """Return the groups by their value, the lowest first."""
    assert found.table is not None
    values = found.table["after" if "after" in found.table else "value"].to_numpy()
    return np.argsort(values, kind="stable")


def _cell(found: Answer, text: str) -> Cell:
    return Cell(found.verdict, text, *found.shown[2:])


def _tolerances(audit: Audited) -> list[Row]:
    """Return a row for each tolerance."""
    rows = []
    for name, limit in audit.facts["tolerances"].items():
        question, cells = QUESTIONS[name], []
        for of_column in audit.answers.values():
            found: Answer = of_column[name]
            if found.missing:
                cells.append(_cell(found, wording.short(found)))
                continue
            text = wording.with_limits(question, found.gap)
            null = 1.0 if question.is_ratio else 0.0
            cells.append(Cell(tolerance(found, limit), text, *found.gap, null=null, limit=limit))
        title = question.title
        if not question.is_ratio and not question.parts and not question.is_with_others:
            title += " difference"
        rows.append(Row(f"{title} {wording.bound_text(question, limit)}", tuple(cells)))
    return rows


# Appendix ----------------------------------------------------------------------------------------


def _table_of_groups(found: Answer) -> Table:
    """Return the table of an answer's groups."""
    heading, scope = [found.question.noun, f"{wording.NINETY_FIVE} interval"], "all groups"
    if found.reference is not None:
        heading, scope = [*heading, f"minus {wording.label(found.reference)}"], "all pairs"
    return _table(found, wording.sentence(found), ["value"], heading, scope)


def _table_of_changes(found: Answer, models: tuple[str, str]) -> Table:
    """Return the groups' changes as a table."""
    heading = [*models, f"{wording.NINETY_FIVE} of change", "change"]
    said = wording.change_sentence(found, models)
    return _table(found, said, ["before", "after"], heading, "all groups")


def _table(found: Answer, said: str, values: list[str], heading: list[str], scope: str) -> Table:
    assert found.table is not None
    question, level = found.question, wording.level_text(found.confidence_level)
    sign = "" if values == ["value"] else "+"
    records, rows = found.table.to_dict("records"), []
    order = _order(found).tolist()
    for g in order[:_MOST_ROWS]:
        row, group = records[g], found.groups[g]
        cells = [wording.label(group), f"{int(row['n_rows']):,}"]
        cells += [wording.value_text(question, row[name]) for name in values]
        cells.append(wording.limits_text(question, row["ci_low"], row["ci_high"], sign))
        if not question.is_with_others or sign:
            difference = wording.gap_text(question, row["difference"], "+")
            cells.append("reference" if group == found.reference else difference)
        limits = row["simultaneous_low"], row["simultaneous_high"]
        rows.append((*cells, wording.limits_text(question, *limits, "+")))
    note = ""
    if len(order) > _MOST_ROWS:
        note = f"The {_MOST_ROWS} lowest of {len(order):,} groups; the JSON document has all."
    columns = (found.column, question.rows, *heading, f"{level}, {scope}")
    return Table("", said, columns, tuple(rows), note)


def _provenance(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return where the numbers come from, as names and texts."""
    names = {"label": "Label", "score": "Score"}
    found = [(names[key], facts["names"][key]) for key in names if facts["names"][key]]
    found += [
        ("Groups compared", f"with {facts['min_per_class']} rows of each class or more"),
        ("Disclosure of scores", facts["disclosure"]),
        ("Weights", "yes" if facts["is_weighted"] else "no"),
        ("Date", facts["date"]),
    ]
    if "identifier" in facts:
        found.append(("Identifier of the counts", facts["identifier"]))
    else:
        found += [(f"Counts of {k}", of["identifier"]) for k, of in facts["models"].items()]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return [*found, ("Versions", versions)]


# Plain values ------------------------------------------------------------------------------------


def _plain(found: Answer, voice: Voice, name: str) -> dict[str, Any]:
    """Return an answer as plain values."""
    numbers: dict[str, Any] = {key: plain_number(getattr(found, key)) for key in _NUMBERS}
    if "before" in (found.table if found.table is not None else ()):
        numbers |= {key: plain_number(getattr(found, key)) for key in ("before", "after")}
    elif found.question.name == "difference":
        numbers["expected"] = plain_number(found.expected)
    ends = {key: getattr(found, key) for key in ("highest", "lowest", "reference")}
    labels = {key: None if of is None else plain_label(of) for key, of in ends.items()}
    groups = []
    if found.table is not None and name != "within":
        for group, row in zip(found.groups, found.table.to_dict("records"), strict=True):
            of_group = {str(key): plain_number(of) for key, of in row.items() if key != "n_rows"}
            n_rows = int(row["n_rows"])
            groups.append({"group": plain_label(group), "n_rows": n_rows, **of_group})
    return {
        **numbers,
        "n_claims": found.n_claims,
        "verdict": found.verdict,
        **labels,
        "missing": found.missing,
        "sentence": voice.sentence(found),
        "groups": groups,
    }


def _plain_tolerances(audits: list[Audited], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers to tolerances, and each answer's count."""
    models = list(facts.get("models", [None]))
    cases = [
        {
            **({} if model is None else {"model": model}),
            "column": row["column"],
            "gap": row["gap"],
            "required": wording.bound_text(QUESTIONS[row["gap"]], row["limit"]).rpartition(" ")[0],
            **{key: plain_number(row[key]) for key in ("limit", "estimate", "ci_low", "ci_high")},
            "answer": row["answer"],
        }
        for model, audit in zip(models, audits, strict=True)
        for row in audit.tolerances.reset_index().to_dict("records")
    ]
    answers = [case["answer"] for case in cases]
    counts = {answer.replace(" ", "_"): answers.count(answer) for answer in ANSWERS}
    return {"total": len(cases), **counts, "cases": cases}
