"""Tables and texts of the self-contained HTML page of one or several audits."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skfedauc import _words
from skfedauc.audit import figures
from skfedauc.audit.cells import number_text
from skfedauc.audit.findings import SIGNIFICANT, Finding, answers, closing
from skfedauc.audit.gap_tables import (
    gap_id,
    gap_table,
    quality_table,
    tolerance_table,
    worst_intervals,
)
from skfedauc.audit.group_tables import (
    calibration_table,
    group_table,
    intersection_table,
    rate_table,
)
from skfedauc.audit.intersections import MOST_WORRYING
from skfedauc.audit.names import by
from skfedauc.audit.summary import summary
from skfedauc.audit.tables import AuditTables, classes_in_words
from skfedauc.report import GroupAUC, estimates_of
from skfedauc.report.bounds import certain_range, statistic_bounds

if TYPE_CHECKING:
    import jinja2

# Largest number of groups in a table
MOST_ROWS = 1000
# Largest number of groups in the tables of intersections and of calibration
_MOST_OF_OTHERS = 100
# Largest number of groups of each rate; a table has eight rates
_MOST_OF_A_RATE = 20


class Section(NamedTuple):
    """Tables of an audit, and the number of omitted rows without a group label."""

    tables: AuditTables
    n_dropped: int = 0


def page_of(sections: Sequence[Section], subject: str = "") -> str:
    """Return a page of audits of the same predictions by different groups.

    Parameters
    ----------
    sections : sequence of Section
        Audits in the order of the page.
    subject : str, default=""
        Name of the predictions, for the title.

    Returns
    -------
    str
        HTML, which is identical for identical audits.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing.
    """
    check_installed()
    facts = [_facts(section) for section in sections]
    found = [finding for section in sections for finding in answers(section.tables)]
    if len(sections) == 1 or not sections[0].tables.within:
        # The groups by all columns determine the groups by each column.
        for of_section in facts:
            of_section |= _identifiers(sections[-1])
    shared = {
        name: text
        for name, text in facts[0].items()
        if all(others.get(name) == text for others in facts)
    }
    return template("page.html.jinja").render(
        subject=_words.shortened_label(subject) if subject else "",
        summary=summary([section.tables for section in sections]),
        facts={
            "Groups by": _grouped(sections),
            **shared,
        },
        sections=[
            _content(number, section.tables)
            | {"facts": {name: text for name, text in own.items() if name not in shared}}
            for number, (section, own) in enumerate(zip(sections, facts, strict=True), start=1)
        ],
        favorable=sections[0].tables.favorable,
        has_reference=any(section.tables.reference is not None for section in sections),
        has_decisions=any(section.tables.has_decisions for section in sections),
        has_intersections=any(len(section.tables.columns) > 1 for section in sections),
        has_calibration=any(section.tables.calibration is not None for section in sections),
        has_clusters=any(section.tables.facts["n_clusters"] is not None for section in sections),
        is_weighted=any(section.tables.is_weighted for section in sections),
        is_binned=any(section.tables.is_binned for section in sections),
        significant=SIGNIFICANT,
        least=_words.counted(max(sections[0].tables.min_per_class, 1), "row"),
        closing=list(closing(sections[-1].tables, found)),
        n_claims=sum(family.n_claims for family in {s.tables.claims.family for s in sections}),
        versions=sections[0].tables.facts["versions"],
    )


@functools.cache
def template(name: str) -> jinja2.Template:
    """Return the compiled template of a page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["hash_for_policy"] = _hash_for_policy
    return environment.get_template(name)


def check_installed() -> None:
    """Raise an ImportError if a package that pages need is missing."""
    for name in ("jinja2", "matplotlib"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"the page of an audit requires {name}, which is not installed with skfedauc by "
                'default. Install it by: pip install "skfedauc[html]"'
            ) from error


def _hash_for_policy(script: str) -> str:
    """Return the hash of a script for a Content-Security-Policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _content(number: int, tables: AuditTables) -> dict[str, Any]:
    """Return the template's variables for an audit, with HTML ids from numbers."""
    groups, left_out = group_table(tables, number, MOST_ROWS)
    calibration, others = calibration_table(tables, number, _MOST_OF_OTHERS)
    rates, without_rates = rate_table(tables, number, _MOST_OF_A_RATE)
    return {
        "id": f"by-{number}",
        "by": tables.grouping,
        "findings": [_linked(finding, number) for finding in answers(tables)],
        "quality": quality_table(tables, number),
        "gaps": gap_table(tables, number),
        "tolerances": tolerance_table(tables, number) if len(tables.tolerances) else None,
        "groups": groups,
        "left_out": left_out,
        "worst": worst_intervals(tables),
        "n_compared": tables.compared.n_groups,
        "intersections": _intersections(tables, number),
        "rates": rates,
        "rates_left_out": without_rates,
        "calibration": calibration,
        "calibration_left_out": others,
        "plots": list(figures.plots(tables, f"plot-{number}")),
    }


def _intersections(tables: AuditTables, number: int) -> dict[str, Any]:
    """Return the variables of the intersections, empty for a single column."""
    found = tables.intersections()
    if found is None:
        return {}
    n_more = max(len(found) - _MOST_OF_OTHERS, 0)
    return {
        "findings": found["finding"].head(MOST_WORRYING).tolist(),
        "table": intersection_table(
            found.head(_MOST_OF_OTHERS), f"intersections-{number}", tables.grouping
        ),
        "left_out": _words.counted(n_more, "group") if n_more else "",
    }


# Findings --------------------------------------------------------------------------------------


class Linked(NamedTuple):
    """Finding with the ids of its table and of its definition; empty without a table."""

    sentence: str
    table: str
    definition: str


# Definitions of the topics of findings, and the prefix of the id of the table. Topics that are not
# listed are gaps, with a definition of the same name and a row of their own.
_TOPICS = {
    "model": ("model", "pooled-auc"),
    "small_groups": ("groups", "small-groups"),
    "group_auc": ("groups", "p-of-auc"),
    "equal_aucs": ("groups", "equal-aucs"),
    "tolerances": ("tolerances", "tolerances"),
    "decisions": ("", ""),
    "clusters": ("", ""),
    "calibration": ("calibration", "calibration"),
}


def _linked(finding: Finding, number: int) -> Linked:
    """Return a finding with ids of the section with this number."""
    if finding.topic not in _TOPICS:
        definition = f"define-{finding.topic.replace('_', '-')}"
        return Linked(finding.sentence, gap_id(finding.topic, number), definition)
    table, definition = _TOPICS[finding.topic]
    if not table:
        return Linked(finding.sentence, "", "")
    return Linked(finding.sentence, f"{table}-{number}", f"define-{definition}")


# Facts -----------------------------------------------------------------------------------------


def _grouped(sections: Sequence[Section]) -> str:
    """Return the columns of the groups, with the control column of several sections."""
    tables = sections[-1].tables
    if len(sections) == 1 or not tables.within:
        return tables.grouping
    columns = dict.fromkeys(section.tables.columns for section in sections)
    names = _words.enumerated(list(map(by, columns)))
    return f"{names} within each {' and '.join(map(_words.shortened_label, tables.within))}"


def _identifiers(section: Section) -> dict[str, str]:
    facts = section.tables.facts
    return {
        "Identifier of the counts": facts["identifier"],
    }


def _facts(section: Section) -> dict[str, str]:
    tables, n_dropped = section
    n_dropped = n_dropped or tables.report.counts.n_missing
    counts = tables.report.counts
    n_positives, n_negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    n_small = len(counts) - tables.compared.n_groups
    declared = tables.facts["names"].items()
    facts = {
        **{key.capitalize(): _words.shortened_label(name) for key, name in declared if name},
        "Rows": f"{n_positives + n_negatives:,}",
        "Positives": f"{n_positives:,}",
        "Negatives": f"{n_negatives:,}",
    }
    classes = classes_in_words(counts)
    if classes:
        facts["Positive class"] = classes
    if n_dropped:
        facts["Left out"] = f"{_words.counted(n_dropped, 'row')} without a group"
    withheld = counts.disclosure.withheld.in_words().removeprefix(", ")
    if withheld:
        facts["Withheld"] = withheld
    if tables.is_weighted:
        facts["Weights"] = "yes"
    clusters = estimates_of(tables.report).pairs.clusters
    if clusters is not None:
        shared = f", {clusters.n_shared:,} of them in several groups" if clusters.n_shared else ""
        facts["Clusters"] = f"{clusters.n_clusters:,}{shared}"
    facts["Groups"] = f"{len(counts):,}" + (f", {n_small:,} of them small" if n_small else "")
    facts["Pooled AUC"] = number_text(GroupAUC(counts, undefined="ignore").pooled)
    if tables.is_binned:
        facts["Scores"] = "binned"
        bounds = statistic_bounds(estimates_of(tables.report), "pooled")
        if not math.isnan(bounds.low):
            facts["Scores"] += f": pooled AUC certainly {certain_range(bounds)}"
    facts["Decisions"] = _decided(tables)
    if tables.favorable is not None:
        facts["Favorable outcome"] = f"the {tables.favorable} class"
    for column, level in tables.facts["within"].items():
        name = _words.shortened_label(column)
        facts["Within"] = f"{name}: {_words.shortened_label(level)}"
    if tables.reference is not None:
        facts["Reference"] = _words.shortened_label(tables.reference)
    facts["Date"] = tables.facts["date"]
    return facts | _identifiers(section)


def _decided(tables: AuditTables) -> str:
    if not tables.has_decisions:
        return "none"
    if tables.threshold is None:
        return "of the model"
    return f"at the threshold {tables.threshold:g}"
