"""Metadata of a file of score counts, and checks of the metadata.

The metadata hold the version, totals, group names, class labels, sources, level of disclosure,
bins, withheld groups, and the SHA-256 of the content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skfedauc
from skfedauc import _input
from skfedauc._words import shortened
from skfedauc.counts.bins import Bins
from skfedauc.counts.group_columns import KINDS, GroupColumn
from skfedauc.counts.label_entries import entry_of, label_of
from skfedauc.counts.limits import Limits
from skfedauc.counts.origin import Origin, Source
from skfedauc.counts.parquet import COUNTS_FORMAT
from skfedauc.counts.state import State
from skfedauc.counts.withheld import Withheld

# Versions of files of exact counts, of binned counts and of summaries
EXACT, BINNED, SUMMARY = 1, 2, 3
_LEVELS = {EXACT: None, BINNED: "bins", SUMMARY: "summary"}
# Metadata that a file has only if they are true
_MARKS = ("is_suppressed", "may_repeat")
# Types of the metadata that every file has
_TYPES: dict[str, type] = {
    "package": str,
    "n_cells": int,
    "n_groups": int,
    "n_negatives": int,
    "n_positives": int,
    "n_missing": int,
    "is_weighted": bool,
    "group_names": list,
    "labels_seen": list,
    "sources": list,
    "sha256": str,
}


class NewerVersionError(ValueError):
    """Error for a file that a newer version of this package wrote."""


# Writing -------------------------------------------------------------------------------------


def facts_of(
    state: State,
    starts: NDArray[np.intp],
    counted: Mapping[str, NDArray[Any]],
    columns: Sequence[GroupColumn] | None,
    checkpoint: Any,
) -> dict[str, Any]:
    """Return the metadata of a file, except its SHA-256.

    Parameters
    ----------
    state : State
    starts : ndarray of intp, shape (n_groups + 1,)
        First row of each group.
    counted : mapping of str to ndarray
        Columns that follow the group columns.
    columns : sequence of GroupColumn, or None
        Group columns.
    checkpoint : object
        Entry of a checkpoint, or None.
    """
    origin, summary = state.origin, state.summary
    facts: dict[str, Any] = {
        "format": COUNTS_FORMAT,
        "version": EXACT if summary is None else SUMMARY,
        "package": version_of_package(),
        "n_cells": int(starts[-1]),
        "n_groups": starts.size - 1,
        "n_negatives": int(counted["n_negatives"].sum(dtype=np.uint64)),
        "n_positives": int(counted["n_positives"].sum(dtype=np.uint64)),
        "n_missing": origin.n_missing,
        "is_weighted": state.content.weights is not None,
        "group_names": list(origin.group_names),
        "group_columns": None if columns is None else list(map(_facts_of_column, columns)),
        "labels_seen": list(origin.classes.seen),
        "pos_label": origin.classes.pos_label,
        "sources": [source._asdict() for source in origin.sources],
    }
    if state.ranges is not None:
        facts["version"], facts["disclosure"] = BINNED, "bins"
        facts["bins"] = None if origin.bins is None else origin.bins.to_dict()
    if summary is not None:
        facts["disclosure"] = "summary"
        facts["has_limits"] = summary.lowest is not None
    if origin.withheld != Withheld():
        facts["withheld"] = _facts_of_withheld(origin.withheld)
    facts.update({name: True for name in _MARKS if getattr(origin, name)})
    if checkpoint is not None:
        facts["checkpoint"] = checkpoint
    return facts


def version_of_package() -> str:
    """Return the version of this package, or "unknown" without an installation."""
    try:
        return skfedauc.__version__
    except PackageNotFoundError:  # a cluster may send the package to its workers as a plain folder
        return "unknown"


def _facts_of_column(column: GroupColumn) -> dict[str, Any]:
    facts = {"kind": column.kind, "zone": column.zone, "labels": column.labels}
    return {name: value for name, value in facts.items() if value is not None}


def _facts_of_withheld(withheld: Withheld) -> dict[str, Any]:
    labels = withheld.labels
    known = None if labels is None else [entry_of(label) for label in labels]
    return {**withheld._asdict(), "labels": known}


# Reading -------------------------------------------------------------------------------------


def origin_of(facts: Mapping[str, Any]) -> Origin:
    """Return the metadata of the rows."""
    sources = tuple(Source(**source) for source in facts["sources"])
    if not sources and "checkpoint" not in facts:
        raise ValueError("its metadata has no sources")
    bins = facts.get("bins")
    return Origin(
        facts["n_missing"],
        tuple(facts["group_names"]),
        _input.Classes(tuple(facts["labels_seen"]), facts["pos_label"]),
        sources,
        bool(sources),
        None if bins is None else Bins.from_dict(bins),
        _withheld_of(facts),
        *(facts.get(name, False) for name in _MARKS),
    )


def _withheld_of(facts: Mapping[str, Any]) -> Withheld:
    found = facts.get("withheld")
    if found is None:
        return Withheld()
    labels = found["labels"]
    known = None if labels is None else tuple(map(label_of, labels))
    return Withheld(**{**found, "labels": known})


def check_facts(facts: Any, name: str, limits: Limits) -> None:
    """Raise an error for metadata that lack a value or have a value of another type.

    Raises
    ------
    LimitError
        If the metadata have more rows or longer texts than the receiver accepts.
    NewerVersionError
        If a newer version wrote the file; the message has the name of the file.
    ValueError
        If the metadata contradict the format.
    """
    _check_version(facts, name)
    for key, kind in _TYPES.items():
        if type(facts.get(key)) is not kind:
            raise ValueError(f"its metadata has no {key} of type {kind.__name__}")
    _check_origin(facts)
    level = _LEVELS[facts["version"]]
    if facts.get("disclosure") != level or ("bins" in facts) != (level == "bins"):
        raise ValueError("its metadata has another level of disclosure than its version")
    if type(facts.get("has_limits")) is not (bool if level == "summary" else type(None)):
        raise ValueError("its metadata has no has_limits of type bool")
    _check_group_columns(facts["group_columns"])
    n_rows = max(facts["n_negatives"], facts["n_positives"])
    limits.check("max_rows", n_rows, "it counts {} rows of a class")
    limits.check_text(max(map(len, _texts_in(facts)), default=0))


def _texts_in(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the labels and names in the metadata."""
    withheld = facts.get("withheld") or {"labels": None}
    waiting: list[Any] = [facts["group_names"], facts["labels_seen"], facts["pos_label"]]
    waiting += [[source["name"] for source in facts["sources"]], withheld["labels"]]
    waiting += [column.get("labels") for column in facts["group_columns"] or []]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            waiting += value.values() if isinstance(value, dict) else value


def _check_version(facts: Any, name: str) -> None:
    if not isinstance(facts, dict) or facts.get("format") != COUNTS_FORMAT:
        raise ValueError("its metadata has another format")
    version = facts.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its metadata has the version {shortened(version)}")
    if version > SUMMARY:
        raise NewerVersionError(
            f"{name} has version {version} of the file format, written by skfedauc "
            f"{shortened(facts.get('package'))}; skfedauc {version_of_package()} reads versions "
            f"up to {SUMMARY}. Upgrade by: pip install --upgrade skfedauc"
        )


def _check_origin(facts: dict[str, Any]) -> None:
    of_text = facts["group_names"]
    classes = [*facts["labels_seen"], *[facts["pos_label"]] * (facts["pos_label"] is not None)]
    if not all(type(name) is str for name in of_text) or len(set(of_text)) < len(of_text):
        raise ValueError("its metadata has group_names that are no names")
    if not all(type(label) in (int, float, str) and label == label for label in classes):
        raise ValueError("its metadata has labels of classes that are none")
    keys = set(Source._fields)
    if not all(type(source) is dict and set(source) == keys for source in facts["sources"]):
        raise ValueError("its metadata has sources that are none")
    withheld = facts.get("withheld")
    if withheld is not None and not (
        type(withheld) is dict
        and set(withheld) == set(Withheld._fields)
        and isinstance(withheld["labels"], list | None)
    ):
        raise ValueError("its metadata has withheld groups that are none")
    if not all(facts.get(name, True) is True for name in _MARKS):
        raise ValueError("its metadata has a mark that is not true")


def _check_group_columns(columns: Any) -> None:
    if columns is not None and not (type(columns) is list and columns):
        raise ValueError("its metadata has group_columns that are none")
    for column in columns or []:
        if type(column) is not dict or column.get("kind") not in KINDS:
            raise ValueError("its metadata has a column of groups of no known kind")
        has_zone, has_labels = type(column.get("zone")) is str, type(column.get("labels")) is list
        if has_zone != (column["kind"] == "instant") or has_labels != (column["kind"] == "coded"):
            raise ValueError("its metadata does not describe the labels of a column of groups")
