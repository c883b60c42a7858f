"""Tables, plots and summary of the self-contained HTML page of a comparison of two models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skfedauc import _words
from skfedauc.audit import cells, figures
from skfedauc.audit.cells import Body, Cell, Column, Row, Table
from skfedauc.audit.comparison_findings import (
    QUANTITIES,
    ComparisonTables,
    answers,
    changed_orders,
    closing,
    signed,
)
from skfedauc.audit.findings import SIGNIFICANT, Finding
from skfedauc.audit.gap_tables import GAPS, QUALITY
from skfedauc.audit.names import by, named
from skfedauc.audit.page import Linked, check_installed, template
from skfedauc.audit.summary import Line
from skfedauc.audit.tables import classes_in_words, row_of
from skfedauc.audit.tolerances import ANSWERS, required
from skfedauc.counts import left_out
from skfedauc.plotting.drawing import BLUE, GREY, LINE, MARGINS, PALE, as_written, text_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from skfedauc.plotting import CandidatesDisplay

_ANSWERED = {"answer": "answer", "value": "value", "ci_low": "limits from", "ci_high": "to"}
# Largest numbers of groups in the table, and in a plot
_MOST_ROWS, _MOST_GROUPS = 1000, 30
# Smallest range of the values of a plot
_LEAST_RANGE = 0.2
_CHANGED = {
    "change": "change",
    "ci_low": "95 % from",
    "ci_high": "to",
    "pvalue": "unadjusted p",
    "pvalue_adjusted": "adjusted p",
}
_DECOMPOSITION = {
    "within": ("Pairs within groups", "a positive and a negative of the same group"),
    "cross": ("Pairs across groups", "a positive and a negative of different groups"),
    "pooled": ("All pairs", "pooled"),
}
_PAIRS = {
    "share": "share of pairs",
    "before": "AUC before",
    "after": "AUC after",
    "change": "change",
    "contribution": "contribution",
    "raised": "raised",
    "lowered": "lowered",
    "reordered": "reordered",
    "reversed": "reversed",
}


def page_of(tables: ComparisonTables, candidates: CandidatesDisplay | None = None) -> str:
    """Return the page of a comparison.

    Parameters
    ----------
    tables : ComparisonTables
    candidates : CandidatesDisplay, default=None
        Candidates of a search, for a plot and a table.

    Raises
    ------
    TypeError
        If `candidates` is not a CandidatesDisplay.
    ImportError
        If jinja2 or matplotlib is missing.
    """
    check_installed()
    search = None if candidates is None else _candidates(candidates)
    section = {
        "id": "changes",
        "by": by(tables.columns),
        "findings": [_linked(finding) for finding in answers(tables)],
        "quality": _quality_table(tables),
        "decomposition": _decomposition_table(tables),
        "gaps": _gap_table(tables),
        "tolerances": _tolerance_table(tables) if len(tables.tolerances) else None,
        "groups": _group_table(tables),
        "plots": list(_plots(tables)),
    }
    page: str = template("comparison.html.jinja").render(
        names=[_words.shortened_label(name) for name in tables.models],
        summary=_summary(tables),
        facts=_facts(tables),
        sections=[section],
        section=section,
        search=search,
        closing=list(closing(tables)),
        has_decisions=tables.has_decisions,
        is_weighted=tables.reports[0].counts.is_weighted,
        significant=SIGNIFICANT,
        n_claims=tables.n_claims,
        versions=tables.facts["versions"],
    )
    return page


# Findings --------------------------------------------------------------------------------------

# Definitions of the topics of findings. Other topics are rows of the table of gaps.
_DEFINITIONS = {
    "pooled": "define-aucs",
    "within": "define-aucs",
    "ranking": "define-ranking",
    "auc": "define-aucs",
    "xauc_disparity": "define-xauc-disparity",
    "selection_rate": "define-rates",
    "true_positive_rate": "define-rates",
    "false_positive_rate": "define-rates",
    "tolerances": "define-tolerances",
}
_TABLES = {
    "pooled": "quality-pooled",
    "within": "quality-within",
    "ranking": "decomposition",
    "tolerances": "tolerances",
}


def _linked(finding: Finding) -> Linked:
    """Return a finding with the ids of its table or row, and of its definition."""
    topic = finding.topic
    if topic == "decisions":
        return Linked(finding.sentence, "", "")
    if topic in QUANTITIES:
        return Linked(finding.sentence, "groups", _DEFINITIONS[topic])
    if topic in _TABLES:
        return Linked(finding.sentence, _TABLES[topic], _DEFINITIONS[topic])
    return Linked(finding.sentence, _gap_id(topic), "define-gaps")


def _gap_id(gap: str) -> str:
    return f"gap-{gap.replace('_', '-')}"


# Facts -----------------------------------------------------------------------------------------


def _facts(tables: ComparisonTables) -> dict[str, str]:
    counts = tables.reports[0].counts
    first, second = map(_words.shortened_label, tables.models)
    n_small = len(counts) - tables.compared[0].n_groups
    n_positives, n_negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    declared = tables.facts["names"].items()
    of_models = tables.facts["models"].values()
    decided = [_decided(of) for of in of_models]
    before, after = (of["identifier"] for of in of_models)
    facts = {
        **{key.capitalize(): _words.shortened_label(name) for key, name in declared if name},
        "Before": first,
        "After": second,
        "Groups by": by(tables.columns),
        "Rows": f"{n_positives + n_negatives:,}",
        "Positives": f"{n_positives:,}",
        "Negatives": f"{n_negatives:,}",
        "Positive class": classes_in_words(counts),
        "Left out": left_out(tables.reports[0].counts.n_missing).removeprefix(", "),
        "Weights": "yes" if counts.is_weighted else "",
        "Groups": f"{len(counts):,}" + (f", {n_small:,} of them small" if n_small else ""),
        "Decisions": " and ".join(dict.fromkeys(decided)),
        "Favorable outcome": f"the {tables.favorable} class" if tables.favorable else "",
        "Date": tables.facts["date"],
        "Identifier of the counts before": before,
        "Identifier of the counts after": after,
    }
    return {name: text for name, text in facts.items() if text}


def _decided(facts: Mapping[str, Any]) -> str:
    if not facts["has_decisions"]:
        return "none"
    if facts["threshold"] is None:
        return "of the model"
    return f"at the threshold {facts['threshold']:g}"


# Summary ---------------------------------------------------------------------------------------


def _summary(tables: ComparisonTables) -> list[Line]:
    """Return lines on the models, the AUC, the ranking, groups, decisions, and tolerances."""
    counts = tables.reports[0].counts
    n_rows = int(counts.n_positives.sum() + counts.n_negatives.sum())
    first, second = map(named, tables.models)
    n_groups = _words.counted(len(tables.groups), "group")
    first_lines = [
        Line("Compared", f"{first} and {second} on the same {n_rows:,} rows of {n_groups}"),
        Line("AUC", _changed(row_of(tables.quality, "pooled"), "all rows together")),
        Line("Ranking", _ranking(tables)),
    ]
    if len(tables.tolerances):
        groups = _groups(tables, tables.quantities)
        groups += "" if tables.has_decisions else "; decisions are not compared"
        return [*first_lines, Line("Groups", groups), Line("Tolerances", _tolerances(tables))]
    decisions = _groups(tables, tables.quantities[2:]) if tables.has_decisions else "not compared"
    groups = _groups(tables, tables.quantities[:2])
    return [*first_lines, Line("Groups", groups), Line("Decisions", decisions)]


def _tolerances(tables: ComparisonTables) -> str:
    """Return the tolerances of each model by answer."""
    said = []
    for place, model in enumerate(tables.models):
        names: dict[str, list[str]] = {}
        for gap, rows in tables.answers_by_gap().items():
            names.setdefault(rows[place]["answer"], []).append(GAPS[gap][0])
        of_model = ", ".join(
            f"{len(names[answer])} {answer} ({', '.join(names[answer])})"
            for answer in ANSWERS
            if answer in names
        )
        said.append(f"{named(model)}: {of_model}")
    return "; ".join(said)


def _changed(row: dict[str, Any], of: str) -> str:
    text = f"{row['before']:.3f} before and {row['after']:.3f} after for {of}"
    if math.isnan(row["pvalue_adjusted"]):
        return text
    is_found = row["pvalue_adjusted"] < SIGNIFICANT
    verdict = "the change is established" if is_found else "no change is established"
    low, high = signed(row["ci_low"]), signed(row["ci_high"])
    return f"{text}, a change of {signed(row['change'])} ({low} to {high}); {verdict}"


def _ranking(tables: ComparisonTables) -> str:
    table = tables.decomposition
    within, cross = (row_of(table, name) for name in ("within", "cross"))
    if math.isnan(within["reordered"]) or math.isnan(cross["reordered"]):
        return "not comparable within and across groups"
    if within["reordered"] == cross["reordered"] == 0:
        return "no pair of a positive and a negative changed its order"
    return changed_orders(tables)


def _groups(tables: ComparisonTables, quantities: list[str]) -> str:
    """Return the numbers of groups with established changes."""
    said = []
    for quantity in quantities:
        n_changed = int((tables.changes_of(quantity)["pvalue_adjusted"] < SIGNIFICANT).sum())
        said.append(f"of the {QUANTITIES[quantity]} in {n_changed:,}")
    tested = _words.enumerated(said)
    return f"changes are established {tested} of {_words.counted(len(tables.groups), 'group')}"


# Tables ----------------------------------------------------------------------------------------


def _cells(row: Mapping[Any, Any]) -> list[Cell]:
    """Return the cells of a change: before, after, the change, its limits and p values."""
    values = [cells.number_cell(name, row[name]) for name in ("before", "after")]
    signed_cells = [_signed_cell(row[name]) for name in ("change", "ci_low", "ci_high")]
    pvalues = [cells.number_cell(name, row[name]) for name in ("pvalue", "pvalue_adjusted")]
    return [*values, *signed_cells, *pvalues]


def _signed_cell(value: float) -> Cell:
    if math.isnan(value):
        return Cell(cells.UNDEFINED)
    return Cell(cells.number_text(value, "+"), value)


def _columns(tables: ComparisonTables) -> list[Column]:
    names = [_words.shortened_label(name) for name in tables.models]
    models = [Column("before", names[0]), Column("after", names[1])]
    return [*models, *(Column(name, heading) for name, heading in _CHANGED.items())]


def _quality_table(tables: ComparisonTables) -> Table:
    rows = []
    for name in tables.quality.index:
        title, note = QUALITY[name]
        label = Cell(title, key=str(name), note=note)
        rows.append(Row([label, *_cells(row_of(tables.quality, name))], f"quality-{name}"))
    columns = [Column("statistic", "AUC", "row"), *_columns(tables)]
    return Table("quality", "AUC of the models", columns, [Body(rows)], style="quality")


def _decomposition_table(tables: ComparisonTables) -> Table:
    rows = []
    for name, (title, note) in _DECOMPOSITION.items():
        row = row_of(tables.decomposition, name)
        found = [Cell(title, key=name, note=note)]
        for column in _PAIRS:
            is_signed = column in ("change", "contribution")
            value = row[column]
            found.append(_signed_cell(value) if is_signed else cells.number_cell(column, value))
        rows.append(Row(found))
    columns = [Column(name, heading) for name, heading in _PAIRS.items()]
    return Table(
        "decomposition",
        "Change of the ranking within and across groups",
        [Column("pairs", "pairs", "row"), *columns],
        [Body(rows)],
        style="quality",
    )


def _gap_table(tables: ComparisonTables) -> Table:
    rows = []
    for name in tables.gaps.index:
        row = row_of(tables.gaps, name)
        if math.isnan(row["change"]):
            continue
        title, note = GAPS[name]
        found = [Cell(title, key=str(name), note=note), *_cells(row)]
        rows.append(Row(found, _gap_id(str(name))))
    columns = [Column("gap", "gap", "row"), *_columns(tables)]
    name = f"Gaps between groups by {by(tables.columns)}"
    return Table("gaps", name, columns, [Body(rows)], style="gaps")


def _tolerance_table(tables: ComparisonTables) -> Table:
    """Return the table of the tolerances, with the answers for both models."""
    rows = []
    for name, of_models in tables.answers_by_gap().items():
        found = [Cell(GAPS[name][0], key=name, note=required(name, of_models[0]["limit"]))]
        for row in of_models:
            numbers = [cells.number_cell(name, row[c]) for c in ("value", "ci_low", "ci_high")]
            found += [cells.label_cell(row["answer"]), *numbers]
        rows.append(Row(found))
    columns = [
        Column(f"{time}_{name}", heading, "label" if name == "answer" else "number")
        for time in ("before", "after")
        for name, heading in _ANSWERED.items()
    ]
    first, second = map(_words.shortened_label, tables.models)
    return Table(
        "tolerances",
        f"Tolerances by {by(tables.columns)}",
        [Column("gap", "tolerance", "row"), *columns],
        [Body(rows)],
        {f"Before: {first}": len(_ANSWERED), f"After: {second}": len(_ANSWERED)},
        style="tolerances",
    )


def _group_table(tables: ComparisonTables) -> Table:
    """Return the table of the changes in each group, one part for each quantity."""
    of_labels = list(zip(*cells.label_columns(tables.groups), strict=True))
    # The largest changes come first, and small groups last.
    change = tables.changes_of("auc")["change"].abs().to_numpy()
    order = np.argsort(-np.nan_to_num(change, nan=-1.0), kind="stable")[:_MOST_ROWS]
    bodies = []
    for quantity in tables.quantities:
        title = QUANTITIES[quantity]
        records = tables.changes_of(quantity).to_dict("records")
        rows = [Row([*of_labels[g], *_cells(records[g])]) for g in order]
        bodies.append(Body(rows, _heading(title), "groups", {"quantity": quantity}))
    names = map(_words.shortened_label, tables.columns)
    return Table(
        "groups",
        f"Changes in the groups by {by(tables.columns)}",
        [*(Column(name, name, "row") for name in names), *_columns(tables)],
        bodies,
        style="sortable",
    )


def _heading(name: str) -> str:
    """Return the name of a quantity with an initial capital; "xAUC" remains."""
    return name if name.startswith("xAUC") else name[0].upper() + name[1:]


# Candidates ------------------------------------------------------------------------------------


def _candidates(display: CandidatesDisplay) -> dict[str, Any]:
    """Return the variables of the candidates of a search: plot, table, and a text on the others."""
    from skfedauc.plotting import CandidatesDisplay

    if not isinstance(display, CandidatesDisplay):
        raise TypeError(
            "candidates must be a CandidatesDisplay, such as CandidatesDisplay.from_search(search, "
            f"score='pooled'); got {_words.described(display)}."
        )
    # Candidates with the best scores come first, and failed candidates last.
    order = np.argsort(-np.nan_to_num(display.scores, nan=-np.inf), kind="stable")
    front = set(display.front)
    rows = [
        Row(
            [
                cells.label_cell(_parameters(display, place)),
                cells.number_cell("score", float(display.scores[place])),
                cells.number_cell("gap", float(display.gaps[place])),
                Cell("yes" if place in front else "no"),
                Cell("yes" if place == display.chosen else "no"),
            ]
        )
        for place in order[:_MOST_ROWS].tolist()
    ]
    columns = [
        Column("candidate", "candidate", "row"),
        Column("score", display.score_name),
        Column("gap", display.gap_name),
        Column("front", "on the front", "label"),
        Column("chosen", "chosen", "label"),
    ]
    about = f"Score and gap of {_words.counted(display.scores.size, 'candidate')} of a search"
    svg = figures.svg_of(display.plot, (figures.NARROW, 4.2), "candidates", about)
    n_more = display.scores.size - len(rows)
    return {
        "table": Table(
            "candidates-table",
            "Candidates of the search",
            columns,
            [Body(rows)],
            style="candidates",
        ),
        "svg": svg,
        "left_out": _words.counted(n_more, "candidate") if n_more else "",
    }


def _parameters(display: CandidatesDisplay, place: int) -> str:
    """Return the parameters of a candidate, or its number without parameters."""
    if display.params is None or not display.params[place]:
        return f"candidate {place}"
    return ", ".join(f"{name}={value}" for name, value in display.params[place].items())


# Plots -----------------------------------------------------------------------------------------


def _plots(tables: ComparisonTables) -> Iterator[figures.Plot]:
    """Yield plots of the changes in each group, and the matrices of both models."""
    for number, quantity in enumerate(tables.quantities):
        name = QUANTITIES[quantity]
        table = tables.changes_of(quantity).reset_index(drop=True)
        shown = table.index[table["change"].notna().to_numpy()]
        if not len(shown):
            continue
        caption = (
            f"The {name} of each group before (hollow) and after (filled), sorted by the value "
            "before. A gray line is the change."
        )
        if len(shown) > _MOST_GROUPS:
            largest = table.loc[shown, "change"].abs().sort_values(ascending=False, kind="stable")
            shown = largest.index[:_MOST_GROUPS]
            caption += f" The plot has the {_MOST_GROUPS} groups with the largest changes."
        heading = f"{_heading(name)} before and after"
        about = f"{heading} in {_words.counted(len(shown), 'group')}"
        height = MARGINS + 0.6 + 1.1 * LINE * max(len(shown), 4)
        draw = partial(_draw_changes, tables, table.loc[shown], quantity)
        size = figures.NARROW, height
        yield figures.Plot(heading, figures.svg_of(draw, size, f"change-{number}", about), caption)
    yield from _matrices(tables)


def _draw_changes(tables: ComparisonTables, table: Any, quantity: str, ax: Axes) -> None:
    ordered = table.sort_values("before", kind="stable")
    place = np.arange(len(ordered))
    ax.hlines(place, ordered["before"], ordered["after"], color=GREY, linewidth=2, zorder=1)
    ax.scatter(ordered["before"], place, facecolor="white", edgecolor=BLUE, zorder=2)
    ax.scatter(ordered["after"], place, facecolor=BLUE, edgecolor=BLUE, s=22, zorder=3)
    if quantity == "xauc_disparity":
        ax.axvline(0.0, color=PALE, zorder=0)
    ax.set_yticks(place, [text_of(tables.groups[g]) for g in ordered.index])
    for label in ax.get_yticklabels():
        as_written(label)
    # A wide axis shows small changes as small.
    low, high = ax.get_xlim()
    widen = max(_LEAST_RANGE - (high - low), 0.0) / 2.0
    ax.set_xlim(low - widen, high + widen)
    ax.set_ylim(-0.8, len(ordered) - 0.2)
    ax.set_xlabel(QUANTITIES[quantity])


def _matrices(tables: ComparisonTables) -> Iterator[figures.Plot]:
    """Yield the cross AUCs of both models on the same scale."""
    from skfedauc import plotting

    reports = tables.compared
    n_groups = reports[0].n_groups
    if not 2 <= n_groups <= _MOST_GROUPS:
        return
    for number, (report, name) in enumerate(zip(reports, tables.models, strict=True)):
        draw = partial(plotting.CrossAUCDisplay.from_report, report, sort=False)
        size = figures.NARROW, 3.6 if n_groups <= 4 else 4.6
        about = f"Cross AUCs of {named(name)}"
        yield figures.Plot(
            f"Cross AUCs of {_words.shortened_label(name)}",
            figures.svg_of(draw, size, f"matrix-{number}", about),
            "Probability that a positive of the row's group outranks a negative of the column's "
            "group. Colors show by how many standard errors a cell differs from its mirror "
            "image at the diagonal: cells within two standard errors have no color. Both matrices "
            "have the same scale of colors and the same order of groups.",
        )
