"""An audit as one HTML page that needs no network: what it says, in which tables and words."""

from __future__ import annotations

import base64
import datetime
import hashlib
import importlib
import importlib.metadata
import importlib.resources
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _validation as validation
from skfedauc.fairness import figures
from skfedauc.fairness.findings import SIGNIFICANT
from skfedauc.report import GroupAUC

if TYPE_CHECKING:
    from skfedauc.fairness.audit import FairnessAudit

# Most groups that a table lists, and characters of a label that it shows.
MOST_ROWS = 1000
_MOST_CHARACTERS = 80
_UNDEFINED = "\N{EN DASH}"

# Columns of `FairnessAudit.by_group` by what they are about, as the page calls them.
_GROUP_COLUMNS = {
    "Rows": {"n_positives": "positives", "n_negatives": "negatives"},
    "Within the group": {
        "auc": "AUC",
        "ci_low": "95 % from",
        "ci_high": "to",
        "pvalue_adjusted": "p of AUC",
    },
    "With the other groups": {
        "bpsn_auc": "BPSN AUC",
        "bnsp_auc": "BNSP AUC",
        "xauc_disparity": "xAUC disparity",
        "xauc_pvalue_adjusted": "p of disparity",
        "positive_aeg": "positive AEG",
        "negative_aeg": "negative AEG",
    },
    "At the threshold": {
        "selection_rate": "selection rate",
        "true_positive_rate": "true positive rate",
        "false_positive_rate": "false positive rate",
    },
}
# Rows of `FairnessAudit.gaps`, as the page calls them, and what they are.
_GAPS = {
    "difference": ("AUC difference", "largest less smallest group AUC"),
    "ratio": ("AUC ratio", "smallest over largest group AUC"),
    "tau": ("tau", "standard deviation of the true group AUCs, without the noise"),
    "xauc_disparity": (
        "xAUC disparity",
        "of the group that is favoured or disfavoured most clearly",
    ),
    "cross_difference": ("Cross AUC difference", "largest xAUC disparity of two groups"),
    "abroca": ("ABROCA", "largest area between the ROC curves of a group and of all others"),
    "demographic_parity_difference": (
        "Demographic parity difference",
        "largest less smallest selection rate",
    ),
    "demographic_parity_ratio": (
        "Demographic parity ratio",
        "smallest over largest selection rate",
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
_COUNTS = ("n_positives", "n_negatives")
_SIGNED = ("xauc_disparity", "positive_aeg", "negative_aeg")
_PVALUES = ("pvalue", "pvalue_adjusted", "xauc_pvalue_adjusted")


class Section(NamedTuple):
    """An audit and how many rows it leaves out, since they have no group."""

    audit: FairnessAudit
    n_dropped: int = 0


def page(audit: FairnessAudit) -> str:
    """The audit by each of its columns alone, if there are several, and by all of them."""
    columns = audit.columns if len(audit.columns) > 1 else ()
    return page_of([*(Section(audit.of(column)) for column in columns), Section(audit)])


def page_of(sections: Sequence[Section], subject: str = "") -> str:
    """A page of audits of the same predictions by different groups.

    Parameters
    ----------
    sections : sequence of Section
        In their order on the page.
    subject : str, default=""
        What the predictions are called, for the title.

    Returns
    -------
    str
        HTML. The same audits give the same text.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is absent.
    """
    _check_installed()
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["hash_for_policy"] = _hash_for_policy
    source = importlib.resources.files(__package__).joinpath("page.html.jinja").read_text("utf-8")
    facts = [_facts(section) for section in sections]
    shared = {
        name: text
        for name, text in facts[0].items()
        if all(others.get(name) == text for others in facts)
    }
    return environment.from_string(source).render(
        subject=_in_one_line(subject) if subject else "",
        facts={"Groups by": _by(sections[-1].audit), **shared},
        sections=[
            _content(number, section.audit)
            | {"facts": {name: text for name, text in own.items() if name not in shared}}
            for number, (section, own) in enumerate(zip(sections, facts, strict=True), start=1)
        ],
        group_columns=_GROUP_COLUMNS,
        is_weighted=any(_is_weighted(section.audit) for section in sections),
        significant=SIGNIFICANT,
        versions={"skfedauc": skfedauc.__version__}
        | {name: importlib.metadata.version(name) for name in ("fairlearn", "scikit-learn")},
    )


def _check_installed() -> None:
    for name in ("jinja2", "matplotlib"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"an audit as a page requires {name}, which is not installed with skfedauc by "
                'default. Install it by: pip install "skfedauc[html]"'
            ) from error


def _hash_for_policy(script: str) -> str:
    """What a Content-Security-Policy calls a script, so that no other one runs."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _content(number: int, audit: FairnessAudit) -> dict[str, Any]:
    """What the template shows of an audit; numbers, not labels, are in ids."""
    return {
        "id": f"by-{number}",
        "by": _by(audit),
        "columns": list(map(_in_one_line, audit.columns)),
        "n_columns": len(audit.columns) + sum(map(len, _GROUP_COLUMNS.values())),
        "fewest": max(audit.min_per_class, 1),
        "findings": audit.findings,
        "gaps": _gap_rows(audit),
        "groups": _group_rows(audit),
        "pictures": list(figures.pictures(audit, f"plot-{number}")),
    }


# Facts -----------------------------------------------------------------------------------------


def _facts(section: Section) -> dict[str, str]:
    audit, n_dropped = section
    partial = audit.report.partial
    n_positives, n_negatives = int(partial.n_positives.sum()), int(partial.n_negatives.sum())
    n_small = len(partial) - audit.compared.n_groups
    facts = {
        "Rows": f"{n_positives + n_negatives:,}",
        "Positives": f"{n_positives:,}",
        "Negatives": f"{n_negatives:,}",
    }
    if n_dropped:
        facts["Left out"] = f"{validation.counted(n_dropped, 'row')} without a group"
    if _is_weighted(audit):
        facts["Weights"] = "yes"
    facts["Groups"] = f"{len(partial):,}" + (f", {n_small:,} of them small" if n_small else "")
    facts["Pooled AUC"] = _number(GroupAUC(partial, undefined="ignore").pooled)
    facts["Threshold"] = f"{audit.threshold:g}"
    return facts


def _is_weighted(audit: FairnessAudit) -> bool:
    return audit.report.partial._cells.weights is not None


def _by(audit: FairnessAudit) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(map(_in_one_line, audit.columns))


# Tables ----------------------------------------------------------------------------------------


class _Cell(NamedTuple):
    """What a cell shows and is sorted by; the whole of what it shows in part, and its look."""

    text: str
    value: float | str = ""
    whole: str = ""
    is_significant: bool = False


class _GroupRows(NamedTuple):
    """Groups that are compared and that are not, and what is said of groups that are left out."""

    compared: list[tuple[_Cell, ...]]
    small: list[tuple[_Cell, ...]]
    left_out: str


def _group_rows(audit: FairnessAudit) -> _GroupRows:
    """The groups by AUC, small ones last; of too many, the lowest and the highest."""
    table = audit.by_group
    auc, is_small = table["auc"].to_numpy(), table["is_small"].to_numpy(np.bool_)
    order = np.argsort(auc, kind="stable")
    compared, beyond = _ends(order[~is_small[order]], MOST_ROWS)
    small, small_beyond = np.split(order[is_small[order]], [MOST_ROWS - compared.size])
    left_out = []
    if beyond.size:
        low, high = auc[beyond[[0, -1]]]
        of_aucs = f"with an AUC of {low:.3f} to {high:.3f}"
        left_out.append(f"{validation.counted(beyond.size, 'group')} {of_aucs}")
    if small_beyond.size:
        left_out.append(validation.counted(small_beyond.size, "small group"))
    names = [name for about in _GROUP_COLUMNS.values() for name in about]
    cells = [
        *_label_cells(audit.report.partial.groups or ()),
        *([_cell(name, value) for value in table[name].tolist()] for name in names),
    ]
    rows = list(zip(*cells, strict=True))
    return _GroupRows([rows[g] for g in compared], [rows[g] for g in small], " and ".join(left_out))


def _ends(numbers: NDArray[np.intp], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """So many of the first and of the last numbers, and those between them."""
    if numbers.size <= most:
        return numbers, numbers[:0]
    first, between, last = np.split(numbers, [most // 2, numbers.size - (most - most // 2)])
    return np.concatenate([first, last]), between


def _label_cells(labels: Sequence[Any]) -> Iterator[list[_Cell]]:
    """A column for each part of the labels, sorted by its values and not by their text."""
    split = [label if isinstance(label, tuple) else (label,) for label in labels]
    for parts in zip(*split, strict=True):
        places = {part: place for place, part in enumerate(sorted(set(parts)))}
        yield [_label_cell(part, places[part]) for part in parts]


def _gap_rows(audit: FairnessAudit) -> list[tuple[tuple[str, str], list[_Cell]]]:
    """What each gap is called and means, and its cells."""
    rows = []
    for name, gap in zip(audit.gaps.index, audit.gaps.to_dict("records"), strict=True):
        cells = [_cell(name, gap[column]) for column in ("value", "ci_low", "ci_high")]
        cells += [_cell(column, gap[column]) for column in ("expected", "pvalue")]
        cells += [_label_cell(gap[side]) for side in ("lowest", "highest")]
        rows.append((_GAPS[name], cells))
    return rows


def _cell(name: str, value: float) -> _Cell:
    """A number of the column or of the gap of this name."""
    if math.isnan(value):
        return _Cell(_UNDEFINED)
    if name in _COUNTS:
        return _Cell(f"{value:,}", value)
    if name in _PVALUES:
        text = "<0.001" if value < 0.001 else f"{value:.3f}"
        return _Cell(text, value, is_significant=value < SIGNIFICANT)
    return _Cell(_number(value, "+" if name in _SIGNED else ""), value)


def _number(value: float, sign: str = "") -> str:
    """Three decimals; a 0 has no sign."""
    if math.isnan(value):
        return _UNDEFINED
    if round(value, 3) == 0:
        return "0.000"
    return f"{value:{sign}.3f}".replace("-", "\N{MINUS SIGN}")


def _label_cell(label: Any, place: float | str = "") -> _Cell:
    if isinstance(label, float):  # the NaN of a gap without such a group
        return _Cell(_UNDEFINED)
    whole = _in_one_line(label)
    if len(whole) <= _MOST_CHARACTERS:
        return _Cell(whole, place)
    half = _MOST_CHARACTERS // 2
    return _Cell(f"{whole[:half]}\N{HORIZONTAL ELLIPSIS}{whole[1 - half :]}", place, whole)


def _in_one_line(label: Any) -> str:
    """A label as text, or as a quoted one if it would break the line or not be seen."""
    if isinstance(label, tuple):
        return ", ".join(map(_in_one_line, label))
    if isinstance(label, datetime.datetime) and label.time() == datetime.time():
        label = label.date()
    text = str(label)
    return text if text.strip() and text.isprintable() else repr(text)
