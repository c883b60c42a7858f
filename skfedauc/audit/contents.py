"""The contents of an audit's and a comparison's documents, from their answers: text and plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
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
    Line,
    Mark,
    Panels,
    Row,
    Table,
    plain_label,
    plain_number,
)
from skfedauc.audit.questions import QUESTIONS
from skfedauc.audit.samples import Sample
from skfedauc.inference.calibration import reliability
from skfedauc.planning import rows_needed
from skfedauc.report import GroupAUC, estimates_of
from skfedauc.report.intervals import binned_note
from skfedauc.report.statistics import across_groups

Answers = Mapping[str, Mapping[str, Answer]]

# Largest numbers of groups in a plot, in a plot of all groups and in a table of the appendix, and
# the largest number of characters of a plot's label
MOST_MARKS, _MOST_IN_PLOT, _MOST_ROWS, _MOST_IN_LABEL = 12, 100, 500, 16
# Difference of AUCs for which an undecided card gives the number of rows
_PLANNED = 0.05
# Answers to a tolerance, in the order of a document
ANSWERS = ("met", "not met", "undecided")
# Verdicts on the change of the AUC within groups
_OF_WITHIN: dict[str, Any] = {"smaller": "lower", "larger": "higher"}
_ENDS = ("ci_low", "ci_high")
_NUMBERS = ("estimate", *_ENDS, "confidence_level", "pvalue")
_LIMITS = (
    "The audit is about the rows that it was given. It cannot see labels that are wrong for some "
    "groups, people whom these columns do not describe, or why groups differ."
)


def document_of_audit(audit: Audited) -> Document:
    """Return the document for one model's audit."""
    primary, level = QUESTIONS[audit.primary], 1.0 - (1.0 - LEVEL) / audit.n_audits
    also = _level_of(audit.answers, _also(audit.answers, [primary.name]))
    return _document(
        audit,
        [audit],
        [primary.name],
        title=f"do groups differ in {primary.noun}?",
        center=audit.report.pooled if primary.name == "difference" else math.nan,
        legend=f"{primary.noun} with {wording.NINETY_FIVE} interval, lowest first; dashed: "
        "all rows together; pale: few rows; at right: rows.",
        promise=wording.promise(primary, level, also, audit.n_audits),
    )


def document_of_comparison(comparison: Any) -> Document:
    """Return the document for a comparison between two models."""
    first, second = comparison.models
    answers, primary = comparison.answers, ["difference", "within"]
    level = 1.0 - (1.0 - LEVEL) / len(primary)
    return _document(
        comparison,
        list(comparison.audits),
        primary,
        title=f"did gaps between groups change from {first} to {second}?",
        center=comparison.audits[1].report.pooled,
        legend=f"AUC of {first} (\N{WHITE CIRCLE}) and {second} (\N{BLACK CIRCLE}); dashed: "
        f"all rows together with {second}; at right: rows.",
        promise=wording.promise_of_changes(level, _level_of(answers, _also(answers, primary))),
    )


def _document(
    result: Any,
    audits: list[Audited],
    primary: list[str],
    *,
    title: str,
    center: float,
    legend: str,
    promise: str,
) -> Document:
    """Return the document for the answers of an audit, or of a comparison of audits."""
    answers, facts, samples = result.answers, result.facts, audits[0].samples
    model, favorable = facts["names"]["model"], facts["favorable"]
    models = list(facts.get("models", [""]))
    also = _also(answers, primary)
    tolerances = [
        replace(row, title=f"{row.title}, {name}" if name else row.title)
        for name, audit in zip(models, audits, strict=True)
        for row in _tolerances(audit)
    ]
    headline = [_headline(audit, name) for name, audit in zip(models, audits, strict=True)]
    if len(audits) == 1:
        headline += [_on_tolerance(row, answers) for row in tolerances]
    cards = [
        _card([answers[column][name] for name in primary], sample, favorable)
        for column, sample in samples.items()
    ]
    tables = [
        _table(found, favorable)
        for of_column in answers.values()
        for name, found in of_column.items()
        if found.table is not None and name != "within"
    ]
    if "calibration_difference" in also and len(audits) == 1:
        tables += [
            _table_of_slopes(sample, column)
            for column, sample in samples.items()
            if sample.has_probabilities
        ]
    asked = dict.fromkeys(name for of in answers.values() for name in of if name != "within")
    overview = [
        Row(
            QUESTIONS[name].title,
            tuple(_cell(of[name], wording.short(of[name], favorable)) for of in answers.values()),
            QUESTIONS[name].gloss,
        )
        for name in also
    ]
    return Document(
        title=f"{model}: {title}" if model else title[:1].upper() + title[1:],
        facts=_facts(facts, audits),
        headline=" ".join(headline),
        cards=tuple(cards),
        center=center,
        columns=tuple(answers),
        also=tuple(overview),
        also_level=_level_of(answers, also) or wording.NINETY_FIVE,
        tolerances=tuple(tolerances),
        legend=f"Plots: {legend}",
        promise=f"{promise} {_LIMITS}",
        definitions=tuple((QUESTIONS[name].title, QUESTIONS[name].definition) for name in asked),
        tables=tuple(tables),
        plots=plots_of(audits[0]) if len(audits) == 1 else (),
        provenance=tuple(_provenance(facts)),
        data={
            "facts": facts,
            "headline": " ".join(headline),
            "columns": {
                column: _plain_column(of_column, samples[column], favorable)
                for column, of_column in answers.items()
            },
            "tolerances": _plain_tolerances(audits, models),
        },
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


def _headline(audit: Audited, model: str) -> str:
    """Return how good the model is: all rows together, and within each column's groups."""

    def auc(report: GroupAUC, name: str) -> str:
        table = report.confidence_intervals(confidence_level=LEVEL, of="statistics")
        row = table[["value", *_ENDS]].to_dict("index")[name]
        return wording.with_limits(QUESTIONS["difference"], list(row.values()))

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


def _card(found: list[Answer], sample: Sample, favorable: str | None) -> Card:
    primary = found[0]
    notes = wording.on_groups(primary) + _plan(primary, sample)
    if primary.question.name == "difference" and primary.reference is not None:
        why = across_groups(estimates_of(sample.report))
        notes += [f"{said.replace('pooled', 'The pooled AUC', 1)}." for said in why]
    notes += [sample.remark] * bool(sample.remark)
    marks = shown = [] if primary.table is None else _marks(primary)
    if len(marks) > MOST_MARKS:
        half = MOST_MARKS // 2
        shown = [*marks[:half], *marks[-half:]]
        notes.insert(0, f"Plot: the {half} lowest and the {half} highest of {len(marks):,} groups.")
    more = marks if MOST_MARKS < len(marks) <= _MOST_IN_PLOT else []
    cells = tuple(_primary_cell(of, favorable) for of in found)
    return Card(f"By {sample.column}", cells, tuple(shown), tuple(notes), tuple(more))


def _primary_cell(found: Answer, favorable: str | None) -> Cell:
    subject, verdict = found.question.title, found.verdict
    if found.question.name == "within":
        verdict = _OF_WITHIN.get(verdict, verdict)
    elif found.models:
        subject += " gap"
    elif not found.is_claim:
        subject = ""
    cell = _cell(found, wording.sentence(found, favorable))
    return replace(cell, subject=subject, verdict=verdict)


def _plan(found: Answer, sample: Sample) -> list[str]:
    """Return how many rows would show a difference, for an undecided AUC difference."""
    is_open = found.question.name == "difference" and found.verdict == "undecided"
    if not is_open or found.models or sample.clusters:
        return []
    try:
        needed = rows_needed(sample.report, difference=_PLANNED)
    except ValueError:
        return []  # The rows do not determine the variance.
    return [
        f"To show a difference of {_PLANNED:g} with a probability of 80 %, each group needs about "
        f"{needed.n_rows:,} rows."
    ]


def _marks(found: Answer) -> list[Mark]:
    """Return the plot's rows, lowest first; for two models, the limits are those of the change."""
    assert found.table is not None
    names = ["after", "after", "after", "before"] if found.models else ["value", *_ENDS]
    rows, is_lower, marks = found.table.to_dict("records"), _is_lower(found), []
    for g in _order(found).tolist():
        row, group = rows[g], found.groups[g]
        style = "low" if is_lower[g] else "few" if group in found.few else ""
        label = _words.shortened_label(group, _MOST_IN_LABEL)
        value, low, high, *before = (float(row[name]) for name in names)
        marks.append(Mark(label, value, low, high, int(row["n_rows"]), style, *before))
    return marks


def _is_lower(found: Answer) -> NDArray[np.bool_]:
    """Return whether each group is established to be lower than the largest one."""
    assert found.table is not None
    if found.question.is_with_others or found.models:
        return np.zeros(len(found.groups), np.bool_)
    if found.verdict == "differ" and len(found.groups) == 2:  # the lower one can be the reference
        return np.array([group == found.lowest for group in found.groups])
    return found.table["simultaneous_high"].to_numpy(np.float64) < 0


def _order(found: Answer) -> NDArray[np.intp]:
    """Return the groups by their value, the lowest first."""
    assert found.table is not None
    values = found.table["after" if found.models else "value"].to_numpy()
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
            text = wording.with_limits(question, found.gap)
            if found.missing:
                text = wording.short(found)
            null = 1.0 if question.is_ratio else 0.0
            cells.append(Cell(tolerance(found, limit), text, *found.gap, null=null, limit=limit))
        title = question.title
        if not question.is_ratio and not question.parts and not question.is_with_others:
            title += " difference"
        rows.append(Row(f"{title} {wording.bound_text(question, limit)}", tuple(cells)))
    return rows


# Appendix ----------------------------------------------------------------------------------------


def _table(found: Answer, favorable: str | None) -> Table:
    """Return the table of an answer's groups, or of their changes."""
    assert found.table is not None
    question, level = found.question, wording.level_text(found.confidence_level)
    values, heading = ["value"], [question.noun, f"{wording.NINETY_FIVE} interval"]
    sign = "+" if found.models or question.is_signed else ""
    if found.models:
        values = ["before", "after"]
        heading = [*found.models, f"{wording.NINETY_FIVE} of change", "change"]
    elif found.reference is not None:
        heading.append(f"minus {_words.shortened_label(found.reference)}")
    scope = "all groups" if found.reference is None else "all pairs"
    records, rows = found.table.to_dict("records"), []
    order = _order(found).tolist()
    for g in order[:_MOST_ROWS]:
        row, group = records[g], found.groups[g]
        cells = [_words.shortened_label(group), f"{int(row['n_rows']):,}"]
        cells += [wording.value_text(question, row[name]) for name in values]
        cells.append(wording.limits_text(question, row["ci_low"], row["ci_high"], sign))
        if found.models or found.reference is not None:
            difference = wording.gap_text(question, row["difference"], "+")
            cells.append("reference" if group == found.reference else difference)
        limits = row["simultaneous_low"], row["simultaneous_high"]
        rows.append((*cells, wording.limits_text(question, *limits, "+")))
    note = ""
    if len(order) > _MOST_ROWS:
        note = f"The {_MOST_ROWS} lowest of {len(order):,} groups; the JSON document has all."
    title, said = f"{question.title} by {found.column}", wording.sentence(found, favorable)
    columns = (found.column, question.rows, *heading, f"{level}, {scope}")
    return Table(title, said, columns, tuple(rows), note)


def _table_of_slopes(sample: Sample, column: str) -> Table:
    """Return the groups' calibration slopes as a table."""
    found, n_rows, rows = sample.slopes(), sample.n_rows("rows").tolist(), []
    numbers = zip(sample.groups, n_rows, *found[:3], found.note, strict=True)
    for group, n, value, low, high, note in list(numbers)[:_MOST_ROWS]:
        cells = wording.number(value), f"{wording.number(low)} to {wording.number(high)}"
        if math.isnan(value):
            cells = str(note), ""
        rows.append((_words.shortened_label(group), f"{n:,}", *cells))
    said = "The calibration slope is 1 for calibrated scores, and below 1 for too extreme scores."
    heading = (column, "rows", "slope", f"{wording.NINETY_FIVE} interval")
    return Table(f"Calibration slope by {column}", said, heading, tuple(rows))


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


def _plain_column(
    answers: Mapping[str, Answer], sample: Sample, favorable: str | None
) -> dict[str, Any]:
    """Return a column's answers and left out groups as plain values."""
    return {
        "answers": {name: _plain(of, favorable) for name, of in answers.items()},
        "left_out": [
            {"group": plain_label(group), "n_positives": m, "n_negatives": n}
            for group, m, n in sample.left_out
        ],
    }


def _plain(found: Answer, favorable: str | None) -> dict[str, Any]:
    """Return an answer as plain values."""
    numbers: dict[str, Any] = {key: plain_number(getattr(found, key)) for key in _NUMBERS}
    if found.models and not found.missing:
        numbers |= {key: plain_number(getattr(found, key)) for key in ("before", "after")}
    elif found.question.name == "difference" and not found.models:
        numbers["expected"] = plain_number(found.expected)
    ends = {key: getattr(found, key) for key in ("highest", "lowest", "reference")}
    labels = {key: None if of is None else plain_label(of) for key, of in ends.items()}
    groups = []
    if found.table is not None and found.question.name != "within":
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
        "sentence": wording.sentence(found, favorable),
        "groups": groups,
    }


def _plain_tolerances(audits: list[Audited], models: list[str]) -> dict[str, Any]:
    """Return the answers to tolerances, and each answer's count."""
    cases = [
        {
            **({"model": model} if model else {}),
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


# Plots --------------------------------------------------------------------------------------------


# Largest numbers of points of a curve that is not thinned, and of bins of a group; squares of the
# grid for thinning
_MOST_POINTS, _N_BINS, _GRID = 150, 10, 100


def plots_of(audit: Audited) -> tuple[Panels, ...]:
    """Return each column's plots: ROC curves, and calibration if scores are probabilities."""
    found = []
    for column, sample in audit.samples.items():
        of_aucs = audit.answers[column]["difference"]
        if of_aucs.table is None:
            continue
        chosen, n_groups = _shown(_order(of_aucs), sample.is_few), len(sample.groups)
        many = "" if len(chosen) == n_groups else f" of {len(chosen)} of {n_groups:,} groups"
        found.append(_roc_curves(column, sample, of_aucs, chosen, many))
        if sample.has_probabilities:
            found.append(_reliability(column, sample, chosen, many))
    return tuple(found)


def _shown(order: NDArray[np.intp], is_few: NDArray[np.bool_]) -> list[int]:
    """Return the groups to draw by AUC: all, or the lowest and highest that are not few."""
    if order.size > MOST_MARKS:
        large = order[~is_few[order]]
        order = large if large.size >= 2 else order
        lowest, _, highest = _words.ends(order, MOST_MARKS)
        order = np.append(lowest, highest)
    return [int(g) for g in order]


def _roc_curves(
    column: str, sample: Sample, of_aucs: Answer, chosen: list[int], many: str
) -> Panels:
    is_lower, curves, lines = _is_lower(of_aucs), estimates_of(sample.report).curves, []
    for g in chosen:
        style = "low" if is_lower[g] else "few" if sample.is_few[g] else ""
        curve = curves.corners(g)
        assert curve is not None
        fpr, tpr = curve.thinned(_MOST_POINTS, _GRID)
        points = tuple(zip(fpr.tolist(), tpr.tolist(), strict=True))
        lines.append(Line(_words.shortened_label(sample.groups[g]), points, style))
    lines.sort(key=lambda line: line.style == "low")  # drawn last
    says = "Groups that are established to be lower are red" if is_lower.any() else ""
    few = "those of few rows are faint" if sample.is_few[chosen].any() else ""
    notes = "; ".join(filter(None, [says, few]))
    caption = f"ROC curves{many}, the lowest AUC first.{f' {notes}.' if notes else ''}"
    axes = "false positive rate", "true positive rate"
    return Panels(f"ROC curves by {column}", caption, axes, (("", tuple(lines)),))


def _reliability(column: str, sample: Sample, chosen: list[int], many: str) -> Panels:
    bins, limits = reliability(sample.report.counts.cells, _N_BINS, sample.cells_of_clusters())
    panels = []
    for g in chosen:
        mine = bins.groups == g
        points = tuple(zip(bins.mean[mine].tolist(), bins.share[mine].tolist(), strict=True))
        ends = tuple(zip(limits.low[mine].tolist(), limits.high[mine].tolist(), strict=True))
        style = "few" if sample.is_few[g] else ""
        name = _words.shortened_label(sample.groups[g])
        panels.append((name, (Line(name, points, style, ends),)))
    caption = (
        f"Share of positives with 95 % interval in up to {_N_BINS} bins of equal numbers of rows"
        f"{many}. On the diagonal, the scores are the shares."
    )
    axes = "mean score", "share of positives"
    return Panels(f"Calibration by {column}", caption, axes, tuple(panels))
