"""The outputs of audits and comparisons, and what their document contains, from the answers."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skfedauc import _words
from skfedauc._group_codes import positions_of
from skfedauc._output_file import as_json, plain_label, plain_number, text_or_file
from skfedauc.audit import document, wording
from skfedauc.audit.answers import ESTIMATE, LEVEL, Answer, Audited
from skfedauc.audit.document import Card, Cell, Line, Mark, Panels, Row, Table, rendered
from skfedauc.audit.rates_and_gaps import QUESTIONS
from skfedauc.audit.samples import Sample
from skfedauc.counts.score_counts import view_of
from skfedauc.counts.state import sources_in_words
from skfedauc.inference.calibration import reliability
from skfedauc.inference.intervals import NEW_GROUPS
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.planning import rows_needed
from skfedauc.report.group_auc import estimates_of
from skfedauc.report.intervals import binned_note
from skfedauc.report.statistics import across_groups

if TYPE_CHECKING:
    from skfedauc.audit.document import Document

# Largest numbers of groups in a plot, in a plot of all groups and in a table of the appendix, and
# of tolerances that the headline names
MOST_MARKS, _MOST_IN_PLOT, _MOST_ROWS, _MOST_LISTED = 12, 100, 500, 3
# Largest numbers of points of a curve that is not thinned, and of bins of a group; squares of the
# grid for thinning
_MOST_POINTS, _N_BINS, _GRID = 150, 10, 100
# Difference of AUCs for which an undecided card gives the number of rows, and their power
_PLANNED, _POWER = 0.05, 0.8
# Answers to a tolerance, in the order of a document
ANSWERS = ("met", "not met", "undecided")
_ENDS = ("ci_low", "ci_high")
_LIMITS = (
    "The audit cannot see labels that are wrong for some groups, people beyond these rows and "
    "columns, or why groups differ."
)


class Output:
    """Text, notebook, Markdown, JSON and page of an audit or a comparison, from one `Document`."""

    samples: dict[str, Sample]

    def __getstate__(self) -> dict[str, Any]:
        # What is computed on access holds functions, and is computed again.
        return {name: of for name, of in vars(self).items() if not hasattr(type(self), name)}

    @functools.cached_property
    def _document(self) -> Document:
        return _document_of(self)

    def __repr__(self) -> str:
        return "\n".join(self._document.lines())

    def _repr_html_(self) -> str:
        return rendered(self._document, is_page=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers, tables, sentences and facts as plain values.

        Returns
        -------
        dict
            The `facts`, the `headline`, the answers and left out groups by column, and the
            `tolerances`. Undefined values are None.
        """
        return self._document.data

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return `to_dict` as JSON, or write it to a file.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the document is complete. None returns the document.

        Returns
        -------
        str or None
            The document; None with a `path`.
        """
        return text_or_file(lambda: as_json(self.to_dict()), path)

    def to_markdown(
        self, path: str | os.PathLike[str] | None = None, *, appendix: bool = False
    ) -> str | None:
        """Return the first screen in Markdown, for a model card.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the text is complete. None returns the text.
        appendix : bool, default=False
            Whether the definitions, all tables and the provenance follow.

        Returns
        -------
        str or None
            The text; None with a `path`.
        """
        return text_or_file(lambda: self._document.to_markdown(appendix=appendix), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return a self-contained page, or write it: one screen, and an appendix that folds.

        Parameters
        ----------
        path : str or os.PathLike, default=None
            File to write, replaced only when the page is complete. None returns the page.

        Returns
        -------
        str or None
            The page; None with a `path`.

        Raises
        ------
        ImportError
            If jinja2 is missing; ``pip install "skfedauc[html]"`` installs it.
        OSError
            If writing the file fails. An existing file then remains unchanged.
        """
        return text_or_file(lambda: rendered(self._document, is_page=True), path)


def _document_of(result: Any) -> Document:
    answers, facts, samples = result.answers, result.facts, result.samples
    audits = getattr(result, "audits", (result,))
    n_audits = audits[0]._n_audits  # noqa: SLF001
    primary = [facts["primary"]] if len(audits) == 1 else ["difference", "within"]
    model, models = facts["names"]["model"], list(facts.get("models", [""]))
    # The AUC within groups shares the definition and the table of the gap between them.
    known = [of for by in answers.values() for of in by.values() if of.question.name in QUESTIONS]
    told = [of for of in known if not (of.missing or of.question.is_for_tolerance)]
    asked = [of for of in told if of.question.name not in primary]
    also = [name for name in QUESTIONS if name in {of.question.name for of in asked}]
    levels = {wording.level_text(of.confidence_level) for of in asked}
    also_level = _words.enumerated(sorted(levels), "or") if levels else ""
    title, legend, promise = wording.frame(
        QUESTIONS[primary[0]],
        1.0 - (1.0 - LEVEL) / (len(primary) * n_audits),
        also_level,
        n_audits,
        getattr(result, "models", None),
    )
    headline, tolerances, cases = list[str](), list[Row](), list[dict[str, Any]]()
    for audit, name in zip(audits, models, strict=True):
        rows, of_rows = _tolerances(audit, name)
        headline += [_headline(audit, name), *_on_tolerances(rows, answers, name)]
        tolerances += rows
        cases += of_rows
    tables = [_table(found) for found in known if found.table is not None]
    if len(audits) == 1:
        slopes = [of for of in samples.values() if of.has_probabilities]
        tables += map(_table_of_slopes, slopes if "calibration_difference" in also else [])
    title = f"{model}: {title}" if model else title[:1].upper() + title[1:]
    if len(audits) == 1 and any(len(of.groups) > 2 for of in samples.values()):
        promise += " Beside the two groups furthest apart is that of the largest true difference."
    if any(case["n_rows_to_decide"] for case in cases):
        promise += f" The rows that a tolerance needs decide it in about {100 * _POWER:g} % of "
        promise += "cases, if gaps and shares of groups stay."
    promise, given = f"{promise} {_LIMITS}", [case["answer"] for case in cases]
    return document.Document(
        facts=_facts(facts, audits),
        cards=tuple(
            _card([answers[column][name] for name in primary], sample)
            for column, sample in audits[-1].samples.items()
        ),
        also=tuple(_overview([by[name] for by in answers.values()]) for name in also),
        also_level=also_level,
        tolerances=tuple(tolerances),
        legend=f"Plots: {legend}",
        definitions=tuple({of.question.title: of.question.definition for of in known}.items()),
        tables=tuple(tables),
        plots=plots_of(audits[0]) if len(audits) == 1 else (),
        provenance=_provenance(facts),
        data={
            "title": title,
            "facts": facts,
            "headline": " ".join(headline),
            "columns": {
                column: {
                    "answers": {name: _plain(of) for name, of in by.items()},
                    "left_out": [
                        {"group": plain_label(group), "n_positives": m, "n_negatives": n}
                        for group, m, n in samples[column].left_out
                    ],
                }
                for column, by in answers.items()
            },
            "tolerances": {
                "total": len(cases),
                **{of.replace(" ", "_"): given.count(of) for of in ANSWERS},
                "cases": cases,
            },
            "promise": promise,
        },
    )


def _facts(facts: Mapping[str, Any], audits: Sequence[Audited]) -> tuple[str, ...]:
    label, positive = facts["names"]["label"], facts["positive_class"]
    what = label or (positive if isinstance(positive, str) else "")
    counted = _words.counted(facts["n_positives"], "positive") + (f" ({what})" if what else "")
    parts = [
        f"{_words.counted(facts['n_rows'], 'row')}, {counted}",
        facts["is_weighted"] and "weighted",
        facts["n_clusters"] is not None and _words.counted(facts["n_clusters"], "cluster"),
        facts["n_missing"]
        and f"{_words.counted(facts['n_missing'], 'row')} without a group label left out",
        facts["n_withheld_groups"]
        and f"{_words.counted(facts['n_withheld_groups'], 'group')} withheld",
        binned_note(estimates_of(audits[0].report)),
        sources_in_words(view_of(audits[0].report.counts)),
    ]
    thresholds = dict.fromkeys(audit.facts["threshold"] for audit in audits)
    if not all(audit.decisions is not None for audit in audits):
        parts.append("the ranking alone")
    elif None in thresholds:
        parts.append("decisions as given")
    else:
        parts.append(f"decisions at {_words.enumerated([f'{of:g}' for of in thresholds])}")
    identifiers = _words.enumerated([of.facts["identifier"][:8] for of in audits])
    return (*filter(None, parts), facts["date"][:10], f"audit {identifiers}")


def _headline(audit: Audited, model: str) -> str:
    """Return how good the model is: over all compared rows, and within each column's groups."""
    pooled, within = dict[str, list[str]](), list[str]()
    shown = ["value", *_ENDS, "estimand"]
    for column, sample in audit.samples.items():
        table = sample.shown.confidence_intervals(confidence_level=LEVEL, of="statistics")
        of_all, of_groups = (
            wording.with_limits(QUESTIONS["difference"], gap).replace(
                ")", " over new groups)" if estimand == NEW_GROUPS else ")"
            )
            for *gap, estimand in table.loc[["pooled", "within"], shown].to_numpy()
        )
        pooled.setdefault(of_all, []).append(column)
        if sample.shown.n_groups > 1 and not math.isnan(table.loc["within", "value"]):
            within.append(f"{of_groups} by {column}")
    if len(pooled) > 1:
        items = [f"{of_all} by {_words.enumerated(of)}" for of_all, of in pooled.items()]
        pooled = {wording.listed(items): []}
    are_left_out = any(of.left_out and len(of.groups) > 1 for of in audit.samples.values())
    of_compared = " of compared groups" if are_left_out else ""
    of_model = f"{model}: " if model else ""
    of_groups = f"; within groups {wording.listed(within)}" if within else ""
    return f"{of_model}AUC {next(iter(pooled))} over all rows{of_compared}{of_groups}."


def _on_tolerances(rows: list[Row], columns: Iterable[str], model: str) -> list[str]:
    said, words = list[str](), [cell.word for row in rows for cell in row.cells]
    of_model = f" of {model}" if model else ""
    for word in ANSWERS[1:]:
        items = []
        for row in rows:
            of_word = [cell.word == word for cell in row.cells]
            if any(of_word):
                chosen = _words.enumerated([*itertools.compress(columns, of_word)])
                items.append(f"{row.title.partition(' at ')[0]} by {chosen}")
        if len(items) > _MOST_LISTED:
            items[_MOST_LISTED:] = [f"{len(items) - _MOST_LISTED} more"]
        said += [f"Tolerances{of_model} {word}: {'; '.join(items)}."] if items else []
    met = f"{words.count('met')} of {len(words)}"
    return [*said, f"Tolerances{of_model} met: {met}."] if rows else []


def _card(found: list[Answer], sample: Sample) -> Card:
    primary = found[0]
    notes = wording.on_groups(primary) + _plan(primary, sample)
    if primary.question.name == "difference" and primary.reference is not None:
        why = across_groups(estimates_of(sample.report))
        subject = f"The pooled AUC{sample.within}"
        notes += [f"{said.replace('pooled', subject, 1)}." for said in why]
    notes += filter(None, [sample.remark])
    marks = [] if primary.table is None else _marks(primary)
    if len(marks) > MOST_MARKS:
        half = MOST_MARKS // 2
        notes.insert(0, f"Plot: the {half} lowest and the {half} highest of {len(marks):,} groups.")
    more = marks if MOST_MARKS < len(marks) <= _MOST_IN_PLOT else []
    cells = tuple(_primary_cell(of) for of in found)
    values = primary.models[::-1] or [primary.question.noun, f"{wording.NINETY_FIVE} interval"]
    columns = sample.column, *values, primary.question.rows
    center = sample.shown.pooled if primary.question.name == "difference" else math.nan
    shown = tuple(_ends(marks)), tuple(notes), tuple(more)
    return Card(f"By {sample.column}", cells, *shown, columns, center)


def _primary_cell(found: Answer) -> Cell:
    subject, verdict = found.question.title, found.verdict
    if found.question.name == "within":
        verdict = wording.OF_WITHIN.get(verdict, verdict)
    elif found.models:
        subject += " gap"
    elif not found.is_claim:
        subject = ""
    return Cell(verdict, wording.sentence(found), *found.shown[2:5], subject=subject)


def _overview(found: list[Answer]) -> Row:
    cells = (Cell(of.verdict, wording.short(of), *of.shown[2:5]) for of in found)
    return Row(found[0].question.title, tuple(cells), found[0].question.gloss)


def _plan(found: Answer, sample: Sample) -> list[str]:
    is_open = found.question.name == "difference" and found.verdict == "undecided"
    if not is_open or found.models or sample.clusters:
        return []
    try:
        needed = rows_needed(sample.report, difference=_PLANNED, power=_POWER)
    except ValueError:
        return []  # The rows do not determine the variance.
    return [
        f"To show a difference of {_PLANNED:g} with a probability of {100 * _POWER:g} %, each "
        f"group needs about {needed.n_rows:,} rows."
    ]


def _n_rows_to_decide(found: Answer, sample: Sample) -> int:
    """Return how many rows decide an undecided tolerance if the gap stays, or 0 if none would."""
    limit, apart = found.limit, abs(found.estimate - (found.limit or 0.0))
    if found.tolerated != "undecided" or limit is None or not apart > 0.0:
        return 0
    # A lower limit of 0 is nearer than the error of the gap.
    reach = max(found.ci_high - found.estimate, found.estimate - found.ci_low)
    deviate = normal_quantile((1.0 - found.confidence_level) / 2.0)
    times = (reach / apart * (1.0 + normal_quantile(1.0 - _POWER) / deviate)) ** 2
    return int(float(f"{times * sample.n_rows().sum():.2g}"))


def _marks(found: Answer) -> list[Mark]:
    """Return the plot's rows, lowest first; for two models, the limits are those of the change."""
    names = ["after", "after", "after", "before"] if found.models else ["value", *_ENDS]
    lower, marks = _lower(found), []
    for group in _ordered(found):
        row = found.row(group)
        style = "few" if group in found.few else "low" if group in lower else ""
        value, low, high, *before = (float(row[name]) for name in names)
        label = _words.shortened_label(group)
        marks.append(Mark(label, value, low, high, int(row["n_rows"]), style, *before))
    return marks


def _lower(found: Answer) -> set[Any]:
    """Return the groups that are established to be lower than the largest one, or than another."""
    if found.question.is_with_others or found.models:
        return set()
    lower = {group for group in found.groups if found.row(group)["simultaneous_high"] < 0}
    return lower | {found.shown.lowest} if found.verdict == "differ" else lower


def _ordered(found: Answer) -> list[Any]:
    return sorted(found.groups, key=lambda of: found.row(of)["after" if found.models else "value"])


def _ends(ordered: list[Any]) -> list[Any]:
    half = MOST_MARKS // 2
    return ordered if len(ordered) <= MOST_MARKS else [*ordered[:half], *ordered[-half:]]


def _tolerances(audit: Audited, model: str) -> tuple[list[Row], list[dict[str, Any]]]:
    """Return the table's rows, and the answers by column and gap as plain values."""
    rows, cases = [], []
    for name, limit in audit.facts["tolerances"].items():
        question, cells = QUESTIONS[name], []
        required = f"at {'least' if question.is_ratio else 'most'}"
        for column, of_column in audit.answers.items():
            found: Answer = of_column[name]
            n_rows = _n_rows_to_decide(found, audit.samples[column])
            limits = wording.with_limits(question, found.gap)
            text = wording.short(found) if found.missing else limits
            text += wording.with_few(found)
            text += f"; needs {n_rows:,} rows in all" if n_rows else ""
            cells.append(Cell(found.tolerated, text, *found.gap, float(question.is_ratio), limit))
            case = {"column": column, "gap": name, "required": required}
            case |= {key: plain_number(getattr(found, key)) for key in ("limit", *ESTIMATE[:3])}
            case |= {"answer": found.tolerated, "n_rows_to_decide": n_rows or None}
            cases.append(({"model": model} if model else {}) | case)
        title = question.title
        if not question.is_for_tolerance and not question.is_with_others:
            title += " difference"
        words = filter(None, [f"{title} {required} {limit:g}", model])
        rows.append(Row(", ".join(words), tuple(cells)))
    columns = list(audit.samples)
    return rows, sorted(cases, key=lambda case: columns.index(case["column"]))


def _table(found: Answer) -> Table:
    question, level = found.question, wording.level_text(found.confidence_level)
    values, heading = ["value"], [question.noun, f"{wording.NINETY_FIVE} interval"]
    sign = "+" if found.models or question.is_signed else ""
    if found.models:
        values = ["before", "after"]
        heading = [*found.models, f"{wording.NINETY_FIVE} of change", "change"]
    elif found.reference is not None:
        heading.append(f"minus {_words.shortened_label(found.reference)}")
    scope = "all groups" if found.reference is None else "all pairs"
    rows = []
    for group in _ordered(found)[:_MOST_ROWS]:
        row, cells = found.row(group), [_words.shortened_label(group)]
        cells += [wording.value_text(question, row[name]) for name in values]
        cells.append(wording.limits_text(question, row["ci_low"], row["ci_high"], sign))
        if found.models or found.reference is not None:
            difference = wording.gap_text(question, row["difference"], "+")
            cells.append("reference" if group == found.reference else difference)
        limits = row["simultaneous_low"], row["simultaneous_high"]
        cells.append(wording.limits_text(question, *limits, "+"))
        rows.append((*cells, f"{int(row['n_rows']):,}"))
    note = f"The {_MOST_ROWS} lowest of {len(found.groups):,} groups; the JSON document has all."
    title, said = f"{question.title} by {found.column}", wording.sentence(found)
    columns = (found.column, *heading, f"{level}, {scope}", question.rows)
    return Table(title, said, columns, tuple(rows), note if len(rows) < len(found.groups) else "")


def _table_of_slopes(sample: Sample) -> Table:
    found, rows = sample.slopes(), []
    numbers = zip(sample.groups, sample.n_rows().tolist(), *found[:3], found.note, strict=True)
    for group, n, value, low, high, note in list(numbers)[:_MOST_ROWS]:
        cells = wording.number(value), f"{wording.number(low)} to {wording.number(high)}"
        cells = (str(note), "") if math.isnan(value) else cells
        rows.append((_words.shortened_label(group), *cells, f"{n:,}"))
    said = "The calibration slope is 1 for calibrated scores, and below 1 for too extreme scores."
    heading = (sample.column, "slope", f"{wording.NINETY_FIVE} interval", "rows")
    return Table(f"Calibration slope by {sample.column}", said, heading, tuple(rows))


def _provenance(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = {
        "Label": facts["names"]["label"],
        "Score": facts["names"]["score"],
        "Groups compared": f"with {facts['min_per_class']} rows of each class or more",
        "Disclosure of scores": facts["disclosure"],
        "Differences": "taken before rounding",
        "Weights": "yes" if facts["is_weighted"] else "no",
        "Date": facts["date"],
        "Identifier of the counts": facts.get("identifier"),
        **{f"Counts of {k}": of["identifier"] for k, of in facts.get("models", {}).items()},
        "Versions": ", ".join(f"{k} {version}" for k, version in facts["versions"].items()),
    }
    return tuple((name, text) for name, text in found.items() if text)


def _plain(found: Answer) -> dict[str, Any]:
    keys = [*ESTIMATE[:-1]]
    if found.models and not found.missing:
        keys += ["before", "after"]
    elif found.question.name == "difference" and not found.models:
        keys += ["expected"]
    ends = {key: getattr(found, key) for key in ("highest", "lowest", "reference")}
    labels = {key: None if of is None else plain_label(of) for key, of in ends.items()}
    groups = []
    if found.table is not None and found.question.name != "within":
        for group in found.groups:
            row = {name: plain_number(of) for name, of in found.row(group).items()}
            row["n_rows"] = int(found.row(group)["n_rows"])
            groups.append({"group": plain_label(group), **row})
    return {
        **{key: plain_number(getattr(found, key)) for key in keys},
        "n_claims": found.n_claims,
        "verdict": found.verdict,
        **labels,
        "missing": found.missing,
        "sentence": wording.sentence(found),
        "groups": groups,
    }


def plots_of(audit: Audited) -> tuple[Panels, ...]:
    found = []
    for column, sample in audit.samples.items():
        of_aucs = audit.answers[column]["difference"]
        if of_aucs.table is None:
            continue
        order, n_groups = _ordered(of_aucs), len(sample.groups)
        if n_groups > MOST_MARKS:
            order = _ends([group for group in order if group not in of_aucs.few])
        chosen = positions_of(order, sample.groups).tolist()
        many = "" if len(chosen) == n_groups else f" of {len(chosen)} of {n_groups:,} groups"
        found.append(_roc_curves(sample, of_aucs, chosen, many))
        if sample.has_probabilities:
            found.append(_reliability(sample, chosen, many))
    return tuple(found)


def _roc_curves(sample: Sample, of_aucs: Answer, chosen: list[int], many: str) -> Panels:
    lower, curves, lines = _lower(of_aucs), estimates_of(sample.report).curves, []
    for g in chosen:
        style = "few" if sample.is_few[g] else "low" if sample.groups[g] in lower else ""
        curve = curves.corners(g)
        assert curve is not None
        fpr, tpr = curve.thinned(_MOST_POINTS, _GRID)
        points = tuple(zip(fpr.tolist(), tpr.tolist(), strict=True))
        lines.append(Line(_words.shortened_label(sample.groups[g]), points, style))
    lines.sort(key=lambda line: line.style == "low")  # drawn last
    says = ["Groups that are established to be lower are red"] * bool(lower)
    says += [f"{'those' if says else 'Groups'} of few rows are faint"] * any(sample.is_few[chosen])
    notes = f" {'; '.join(says)}." if says else ""
    caption = f"ROC curves{many}; dotted: scores at random.{notes}"
    axes = "false positive rate", "true positive rate"
    return Panels(f"ROC curves by {sample.column}", caption, axes, (("", tuple(lines)),))


def _reliability(sample: Sample, chosen: list[int], many: str) -> Panels:
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
    return Panels(f"Calibration by {sample.column}", caption, axes, tuple(panels))
