"""An audit as a section of a model card, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from skfedauc import _words
from skfedauc.audit.gap_tables import GAPS
from skfedauc.audit.names import crossed

# Largest number of groups in a table
_MOST_GROUPS = 50
_UNDEFINED = "\N{EN DASH}"
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")
_RATES = {
    "selection_rate": "selection rate",
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
    "precision": "precision",
}
_CAVEATS = (
    "A difference that is not established may still exist. An established difference may be too "
    "small to matter. Read the intervals.",
    "Adjusted p values account for all claims of the audit: about 5 % of audits of groups "
    "without any gap, and with calibrated scores, make a claim. Intervals of single groups are not "
    "adjusted.",
    "AUCs measure how rows are ranked, not whether scores are calibrated probabilities.",
    "The numbers are biased if the labels are biased, or if rows are missing from a group.",
    "Intervals and tests assume independent {units} that were not used for training.",
    "No number decides which gaps are unfair.",
)

Document = Mapping[str, Any]


def card_of(parts: Sequence[Document]) -> str:
    """Return sections of a model card from documents, see `FairnessAudit.to_dict`.

    Parameters
    ----------
    parts : sequence of mapping
        Documents of audits of the same predictions by different groups. The last document has the
        facts of the model.
    """
    document = parts[-1]
    # Audits by several columns share the sentences on the adjustment, which the last list has.
    findings = [finding for part in parts for finding in part["findings"]]
    last = {finding: place for place, finding in enumerate(findings)}
    places = iter(range(len(findings)))

    def own_findings(part: Document) -> str:
        own = [finding for finding in part["findings"] if last[finding] == next(places)]
        return as_list(map(escaped, own))

    has_other_rows = len({_rows_of(part) for part in parts}) > 1
    sections = {
        "Model details": as_list(_model_details(document)),
        "Evaluation data": _by_part(parts if has_other_rows else [document], _evaluation_data),
        "Metrics by group": _by_part(parts, _groups),
        "Gaps": _by_part(parts, _gaps),
        "Findings": _by_part(parts, own_findings),
        "Caveats": as_list(caveat.format(units=_units(document)) for caveat in _CAVEATS),
    }
    return as_sections(sections)


def _units(document: Document) -> str:
    """Return what intervals and tests assume to be independent."""
    is_clustered = document["facts"]["n_clusters"] is not None
    return "clusters of rows" if is_clustered else "rows"


def as_sections(sections: Mapping[str, str]) -> str:
    """Return sections with headings of level 2."""
    return "\n".join(f"## {title}\n\n{text}\n" for title, text in sections.items())


def escaped(text: str) -> str:
    """Return text on one line, whose characters have no meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


# Facts ---------------------------------------------------------------------------------------


def _model_details(document: Document) -> Iterator[str]:
    facts = document["facts"]
    yield from declared(facts)
    yield f"Decisions: {decisions(facts)}"


def declared(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the declared names, the positive class and the favorable outcome."""
    for key, name in facts["names"].items():
        if name is not None:
            yield f"{key.capitalize()}: {escaped(name)}"
    if facts["positive_class"] is not None:
        yield f"Positive class: {label_of(facts['positive_class'])}"
    if facts["favorable"] is not None:
        yield f"Favorable outcome: the {facts['favorable']} class"


def decisions(facts: Mapping[str, Any]) -> str:
    """Return a phrase on the decisions of a model."""
    if facts["threshold"] is not None:
        return f"at the threshold {facts['threshold']:g}"
    return "of the model" if facts["has_decisions"] else "none, the audit covers the ranking alone"


def _rows_of(document: Document) -> tuple[Any, ...]:
    """Return the differences between audits of different rows."""
    facts = document["facts"]
    levels = tuple(map(str, facts["within"].items()))
    return facts["n_positives"], facts["n_negatives"], facts["n_missing"], levels


def _evaluation_data(document: Document) -> str:
    facts = document["facts"]
    return as_list(evaluation_data(facts, {"Identifier of the counts": facts["identifier"]}))


def evaluation_data(facts: Mapping[str, Any], identifiers: Mapping[str, str]) -> Iterator[str]:
    """Yield the facts on the rows, and identifiers of counts by description."""
    yield (
        f"{_words.counted(facts['n_rows'], 'row')}: "
        f"{_words.counted(facts['n_positives'], 'positive')} and "
        f"{_words.counted(facts['n_negatives'], 'negative')}"
    )
    small = ""
    if facts["n_small_groups"]:
        least = max(facts["min_per_class"], 1)
        small = (
            f", of which {facts['n_small_groups']:,} with fewer than {least} rows of a class are "
            "left out of comparisons of AUCs"
        )
    if facts["n_clusters"] is not None:
        shared = ""
        if facts["n_shared_clusters"]:
            shared = f", {facts['n_shared_clusters']:,} of them with rows in several groups"
        yield f"{_words.counted(facts['n_clusters'], 'cluster')} of dependent rows{shared}"
    columns = crossed(map(escaped, facts["columns"]))
    yield f"{_words.counted(facts['n_groups'], 'group')} by {columns}{small}"
    for column, level in facts["within"].items():
        yield f"Rows with {escaped(column)}: {label_of(level)}"
    if facts["n_missing"]:
        yield f"{_words.counted(facts['n_missing'], 'row')} without a group left out"
    if facts["n_withheld_groups"]:
        yield f"{_words.counted(facts['n_withheld_groups'], 'group')} withheld"
    reference = "the other groups" if facts["reference"] is None else label_of(facts["reference"])
    yield f"Reference of each group: {reference}"
    yield f"Date: {facts['date']}"
    for name, identifier in identifiers.items():
        yield f"{name}: `{identifier}`"
    yield f"Versions: {', '.join(f'{name} {v}' for name, v in facts['versions'].items())}"


# Tables --------------------------------------------------------------------------------------


def _by_part(parts: Sequence[Document], table: Any) -> str:
    """Return the table of each part, with a heading for each of several parts."""
    if len(parts) == 1:
        return str(table(parts[0]))
    return "\n\n".join(f"### By {_grouping(part['facts'])}\n\n{table(part)}" for part in parts)


def _grouping(facts: Mapping[str, Any]) -> str:
    """Return the columns of the groups, and control columns with their labels."""
    columns = escaped(crossed(facts["columns"]))
    levels = [f"{escaped(name)} {label_of(level)}" for name, level in facts["within"].items()]
    return " within ".join([columns, *levels])


def _groups(document: Document) -> str:
    """Return the table of the groups, sorted by AUC, with the groups with the lowest AUCs."""
    rates = _RATES if document["facts"]["has_decisions"] else {}
    order = sorted(
        range(len(document["groups"])), key=lambda place: _rank(document["groups"][place])
    )
    rows = [
        [
            label_of(group["label"]) + (" (small)" if group["is_small"] else ""),
            f"{group['n_positives']:,}",
            f"{group['n_negatives']:,}",
            with_limits(group, group["auc"]),
            *(
                with_limits(row, row["value"])
                for row in (document["rates"][rate][place] for rate in rates)
            ),
        ]
        for place in order[:_MOST_GROUPS]
        for group in [document["groups"][place]]
    ]
    heading = ["group", "positives", "negatives", "AUC (95 % interval)"]
    heading += [f"{name} (95 % interval)" for name in rates.values()]
    text = as_table(heading, rows)
    n_more = len(order) - len(rows)
    if n_more:
        text += f"\n\n{_words.counted(n_more, 'more group')} with a higher AUC, or without an AUC."
    return text


def _rank(group: Mapping[str, Any]) -> tuple[bool, float]:
    """Return a sort key: groups with the lowest AUC first, small and undefined groups last."""
    auc = group["auc"]
    return auc is None or group["is_small"], 2.0 if auc is None else auc


def _gaps(document: Document) -> str:
    rows = [
        [
            escaped(GAPS[name][0]),
            with_limits(gap, gap["value"]),
            pvalue_of(gap["pvalue_adjusted"]),
            *(_UNDEFINED if gap[side] is None else label_of(gap[side]) for side in _SIDES),
        ]
        for name, gap in document["gaps"].items()
        if gap["value"] is not None
    ]
    if not rows:
        return "Fewer than two groups are large enough for a comparison."
    return as_table(["gap", "value (95 % interval)", "adjusted p", "lowest", "highest"], rows)


_SIDES = ("lowest", "highest")


def as_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all columns but the first one are right-aligned."""
    lines = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_list(items: Iterable[str]) -> str:
    """Return a list with a line for each item."""
    return "\n".join(f"- {item}" for item in items)


# Cells ---------------------------------------------------------------------------------------


def label_of(label: Any) -> str:
    """Return the label of a group or of a class."""
    whole = tuple(label) if isinstance(label, list) else label
    return escaped(_words.shortened_label(whole))


def with_limits(row: Mapping[str, Any], value: float | None) -> str:
    """Return a number with the limits of its interval."""
    if value is None or row["ci_low"] is None:
        return number_of(value)
    return f"{number_of(value)} ({number_of(row['ci_low'])} to {number_of(row['ci_high'])})"


def number_of(value: float | None) -> str:
    """Return a number with three decimals."""
    if value is None:
        return _UNDEFINED
    return "0.000" if round(value, 3) == 0 else f"{value:.3f}"


def pvalue_of(value: float | None) -> str:
    """Return a p value with three decimals."""
    if value is None:
        return _UNDEFINED
    return r"\<0.001" if value < 0.001 else f"{value:.3f}"
