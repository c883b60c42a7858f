"""Tables and texts of the self-contained HTML page of one or several audits."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import importlib.metadata
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import skfedauc
from skfedauc import _input, _words
from skfedauc.audit import figures
from skfedauc.audit.findings import SIGNIFICANT, answers, closing
from skfedauc.audit.tables import AuditTables, classes_in_words
from skfedauc.report import GroupAUC
from skfedauc.report.bounds import certain_range, statistic_bounds

if TYPE_CHECKING:
    import jinja2

# Largest number of groups in a table, and of characters in the tooltip of a long label
MOST_ROWS = 1000
_MOST_IN_TITLE = 1000
_UNDEFINED = "\N{EN DASH}"

# Headings of the columns of `FairnessAudit.by_group`, by topic.
_GROUP_COLUMNS = {
    "Rows": {"n_positives": "positives", "n_negatives": "negatives"},
    "Within the group": {
        "auc": "AUC",
        "ci_low": "95 % from",
        "ci_high": "to",
        "reference_auc": "compared with",
        "pvalue": "unadjusted p of AUC",
        "pvalue_adjusted": "adjusted p of AUC",
    },
    "With the other groups": {
        "bpsn_auc": "BPSN AUC",
        "bnsp_auc": "BNSP AUC",
        "xauc_disparity": "xAUC disparity",
        "xauc_pvalue": "unadjusted p of disparity",
        "xauc_pvalue_adjusted": "adjusted p of disparity",
        "positive_aeg": "positive AEG",
        "negative_aeg": "negative AEG",
    },
    "Decisions": {
        "selection_rate": "selection rate",
        "true_positive_rate": "true positive rate",
        "false_positive_rate": "false positive rate",
    },
}
# Names of the rows of `FairnessAudit.gaps` on the page, and definitions of the rows
_GAPS = {
    "difference": ("AUC difference", "largest minus smallest group AUC"),
    "ratio": ("AUC ratio", "smallest over largest group AUC"),
    "tau": ("tau", "standard deviation of the true group AUCs"),
    "xauc_disparity": (
        "xAUC disparity",
        "disparity of a group that is largest in standard errors",
    ),
    "cross_difference": ("Cross AUC difference", "largest xAUC disparity of two groups"),
    "abroca": ("ABROCA", "largest area between the ROC curves of a group and of all others"),
    "demographic_parity_difference": (
        "Demographic parity difference",
        "largest minus smallest selection rate",
    ),
    "demographic_parity_ratio": (
        "Demographic parity ratio",
        "smallest over largest selection rate",
    ),
    "true_positive_rate_difference": (
        "True positive rate difference",
        "largest minus smallest true positive rate",
    ),
    "false_positive_rate_difference": (
        "False positive rate difference",
        "largest minus smallest false positive rate",
    ),
    "equalized_odds_difference": (
        "Equalized odds difference",
        "larger one of the differences of true and of false positive rates",
    ),
    "equalized_odds_ratio": (
        "Equalized odds ratio",
        "smaller one of the ratios of true and of false positive rates",
    ),
}
_DECISIONS = ("demographic_parity", "true_positive", "false_positive", "equalized_odds")
_COUNTS = ("n_positives", "n_negatives")
_SIGNED = ("xauc_disparity", "positive_aeg", "negative_aeg")
_PVALUES = ("pvalue", "xauc_pvalue")
_ADJUSTED = ("pvalue_adjusted", "xauc_pvalue_adjusted")
_NUMBERS = ("value", "ci_low", "ci_high", "expected", "pvalue", "pvalue_adjusted")


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
    found = [sentence for section in sections for sentence in answers(section.tables)]
    shared = {
        name: text
        for name, text in facts[0].items()
        if all(others.get(name) == text for others in facts)
    }
    return _template().render(
        subject=_words.shortened_label(subject) if subject else "",
        facts={"Groups by": _by(sections[-1].tables), **shared},
        sections=[
            _content(number, section.tables)
            | {"facts": {name: text for name, text in own.items() if name not in shared}}
            for number, (section, own) in enumerate(zip(sections, facts, strict=True), start=1)
        ],
        favorable=sections[0].tables.favorable,
        has_decisions=any(section.tables.has_decisions for section in sections),
        is_weighted=any(section.tables.is_weighted for section in sections),
        is_binned=any(section.tables.is_binned for section in sections),
        significant=SIGNIFICANT,
        closing=list(closing(sections[-1].tables, found)),
        n_claims=sum(family.n_claims for family in {s.tables.claims.family for s in sections}),
        versions={"skfedauc": skfedauc.__version__}
        | {name: importlib.metadata.version(name) for name in ("fairlearn", "scikit-learn")},
    )


@functools.cache
def _template() -> jinja2.Template:
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
    return environment.get_template("page.html.jinja")


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
    columns = _columns_of(tables)
    return {
        "id": f"by-{number}",
        "by": _by(tables),
        "columns": list(map(_words.shortened_label, tables.columns)),
        "group_columns": columns,
        "n_columns": len(tables.columns) + sum(map(len, columns.values())),
        "least_rows": max(tables.min_per_class, 1),
        "findings": answers(tables),
        "gaps": _gap_rows(tables),
        "groups": _group_rows(tables),
        "plots": list(figures.plots(tables, f"plot-{number}")),
    }


def _columns_of(tables: AuditTables) -> dict[str, dict[str, str]]:
    """Return the columns of the table of groups, without rates if there are no decisions."""
    if tables.has_decisions:
        return _GROUP_COLUMNS
    return {about: columns for about, columns in _GROUP_COLUMNS.items() if about != "Decisions"}


# Facts -----------------------------------------------------------------------------------------


def _facts(section: Section) -> dict[str, str]:
    tables, n_dropped = section
    n_dropped = n_dropped or tables.report.n_missing
    counts = tables.report.counts
    n_positives, n_negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
    n_small = len(counts) - tables.compared.n_groups
    facts = {
        "Rows": f"{n_positives + n_negatives:,}",
        "Positives": f"{n_positives:,}",
        "Negatives": f"{n_negatives:,}",
    }
    classes = classes_in_words(counts)
    if classes:
        facts["Positive class"] = classes
    if n_dropped:
        facts["Left out"] = f"{_words.counted(n_dropped, 'row')} without a group"
    withheld = counts.withheld.in_words().removeprefix(", ")
    if withheld:
        facts["Withheld"] = withheld
    if tables.is_weighted:
        facts["Weights"] = "yes"
    facts["Groups"] = f"{len(counts):,}" + (f", {n_small:,} of them small" if n_small else "")
    facts["Pooled AUC"] = _number(GroupAUC(counts, undefined="ignore").pooled)
    if tables.is_binned:
        facts["Scores"] = "binned"
        bounds = statistic_bounds(tables.report.estimates, "pooled")
        if not math.isnan(bounds.low):
            facts["Scores"] += f": pooled AUC certainly {certain_range(bounds)}"
    facts["Decisions"] = _decided(tables)
    if tables.favorable is not None:
        facts["Favorable outcome"] = f"the {tables.favorable} class"
    if tables.reference is not None:
        facts["Reference"] = _words.shortened_label(tables.reference)
    return facts


def _decided(tables: AuditTables) -> str:
    if not tables.has_decisions:
        return "none"
    if tables.threshold is None:
        return "of the model"
    return f"at the threshold {tables.threshold:g}"


def _by(tables: AuditTables) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(map(_words.shortened_label, tables.columns))


# Tables ----------------------------------------------------------------------------------------


class _Cell(NamedTuple):
    """Cell of a table: text, sort key, tooltip of a shortened label, and bold print."""

    text: str
    value: float | str = ""
    more: str = ""
    is_significant: bool = False


class _GroupRows(NamedTuple):
    """Rows of compared groups, rows of small groups, and a text on omitted groups."""

    compared: list[tuple[_Cell, ...]]
    small: list[tuple[_Cell, ...]]
    left_out: str


def _group_rows(tables: AuditTables) -> _GroupRows:
    """Return the rows of the groups, sorted by AUC, with small groups last.

    With more than `MOST_ROWS` groups, the table has the groups with the lowest and with the highest
    AUCs.
    """
    table = tables.by_group
    auc, is_small = table["auc"].to_numpy(), table["is_small"].to_numpy(np.bool_)
    order = np.argsort(auc, kind="stable")
    lowest, beyond, highest = _words.ends(order[~is_small[order]], MOST_ROWS)
    compared = np.concatenate([lowest, highest])
    small, small_beyond = np.split(order[is_small[order]], [MOST_ROWS - compared.size])
    left_out = []
    if beyond.size:
        low, high = auc[beyond[[0, -1]]]
        of_aucs = f"with an AUC of {low:.3f} to {high:.3f}"
        left_out.append(f"{_words.counted(beyond.size, 'group')} {of_aucs}")
    if small_beyond.size:
        left_out.append(_words.counted(small_beyond.size, "small group"))
    names = [name for about in _columns_of(tables).values() for name in about]
    cells = [
        *_label_cells(tables.groups),
        *([_cell(name, value) for value in table[name].tolist()] for name in names),
    ]
    rows = list(zip(*cells, strict=True))
    return _GroupRows([rows[g] for g in compared], [rows[g] for g in small], " and ".join(left_out))


def _label_cells(labels: Sequence[Any]) -> Iterator[list[_Cell]]:
    """Yield a column for each part of the labels, with sort keys by value instead of text."""
    split = [label if isinstance(label, tuple) else (label,) for label in labels]
    for parts in zip(*split, strict=True):
        # encode_groups can also sort labels without a natural order, such as integers and
        # "(missing)", or Enum members.
        places, _ = _input.encode_groups(list(parts))
        yield [_label_cell(*cell) for cell in zip(parts, places.tolist(), strict=True)]


def _gap_rows(tables: AuditTables) -> list[tuple[tuple[str, str], list[_Cell]]]:
    """Return the name, the definition and the cells of each gap."""
    rows = []
    for name, gap in zip(tables.gaps.index, tables.gaps.to_dict("records"), strict=True):
        if not tables.has_decisions and str(name).startswith(_DECISIONS):
            continue
        # The gap determines the format of the value and the limits. The column determines the
        # format of the other cells.
        cells = [_cell(name, gap[column]) for column in _NUMBERS[:3]]
        cells += [_cell(column, gap[column]) for column in _NUMBERS[3:]]
        cells += [_label_cell(gap[side]) for side in ("lowest", "highest")]
        title, meaning = _GAPS[name]
        if isinstance(gap["rate"], str):
            meaning += f": that of the {gap['rate'].replace('_', ' ')}s"
        rows.append(((title, meaning), cells))
    return rows


def _cell(name: str, value: float) -> _Cell:
    """Return the cell of a number, where `name` is the column or the gap of the number."""
    if math.isnan(value):
        return _Cell(_UNDEFINED)
    if name in _COUNTS:
        return _Cell(f"{value:,}", value)
    if name in _PVALUES or name in _ADJUSTED:
        text = "<0.001" if value < 0.001 else f"{value:.3f}"
        is_significant = name in _ADJUSTED and value < SIGNIFICANT
        return _Cell(text, value, is_significant=is_significant)
    return _Cell(_number(value, "+" if name in _SIGNED else ""), value)


def _number(value: float, sign: str = "") -> str:
    """Return a number with three decimals, and 0 without a sign."""
    if math.isnan(value):
        return _UNDEFINED
    if round(value, 3) == 0:
        return "0.000"
    return f"{value:{sign}.3f}".replace("-", "\N{MINUS SIGN}")


def _label_cell(label: Any, place: float | str = "") -> _Cell:
    if isinstance(label, float):  # NaN marks a gap without a lowest or highest group.
        return _Cell(_UNDEFINED)
    whole = _words.label_text(label)
    text = _words.shortened_text(whole)
    if text == whole:
        return _Cell(text, place)
    return _Cell(text, place, _words.shortened_text(whole, _MOST_IN_TITLE))
