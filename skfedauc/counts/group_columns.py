"""Conversion of group labels to columns of a file with one value per group, and back.

Columns have these kinds:

========  ==========================================  ===================================
kind      labels                                      values
========  ==========================================  ===================================
boolean   booleans                                    booleans
integer   integers                                    64-bit integers
unsigned  integers, some of 2**63 or more             unsigned 64-bit integers
text      strings                                     strings
date      dates without a time zone                   microseconds since 1970
instant   dates of one time zone                      microseconds since 1970 in UTC
coded     periods, intervals, tuples, instants of     text, with the labels of all texts
          several time zones
========  ==========================================  ===================================

The label `MISSING` is text in a column of text, and an absent value in all other columns.
"""

from __future__ import annotations

import datetime
import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._input.arrays import object_array
from skfedauc._input.labels import is_missing as is_missing_label
from skfedauc._words import shortened
from skfedauc.counts.label_entries import entry_of, label_of

KINDS = ("boolean", "integer", "unsigned", "text", "date", "instant", "coded")
_KIND_OF_INTEGERS = {"i": "integer", "u": "unsigned"}
# Microseconds of the first and of the last date in Python
_FIRST, _LAST = (
    int(np.datetime64(date, "us").astype(np.int64))
    for date in (datetime.datetime.min, datetime.datetime.max)
)


class GroupColumn(NamedTuple):
    """Column of the group labels, with one value per group.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    values : ndarray, shape (n_groups,)
        bool, int64, uint64, or object (strings). The values of groups without a label are
        arbitrary.
    is_missing : ndarray of bool, shape (n_groups,), or None
        Whether the label is `MISSING`; None without such labels, or for text.
    zone : str or None
        Name of the time zone of instants.
    labels : list of [str, entry] or None
        Texts of a coded column, each with the label that the text denotes.
    """

    kind: str
    values: NDArray[Any]
    is_missing: NDArray[np.bool_] | None = None
    zone: str | None = None
    labels: list[Any] | None = None


def columns_of(labels: NDArray[Any]) -> list[GroupColumn]:
    """Return the columns of group labels, with one column for each part of a tuple.

    Raises
    ------
    TypeError
        If a file cannot hold a label, such as a member of an Enum.
    """
    return [_column_of(part) for part in _input.columns_of_labels(labels)]


def _column_of(labels: NDArray[Any]) -> GroupColumn:
    if labels.dtype.kind == "b":
        return GroupColumn("boolean", labels)
    if labels.dtype.kind in "iu":
        values = labels.astype(np.int64 if labels.dtype.kind == "i" else np.uint64, copy=False)
        return GroupColumn(_KIND_OF_INTEGERS[labels.dtype.kind], values)
    if labels.dtype.kind == "M":
        return GroupColumn("date", _checked_dates(labels.view(np.int64)))
    items = labels.tolist()
    if all(isinstance(item, str) for item in items):
        return GroupColumn("text", object_array(map(str.__str__, items)))
    is_missing = np.fromiter(map(is_missing_label, items), np.bool_, len(items))
    mask = is_missing if is_missing.any() else None
    known = [item for item in items if not is_missing_label(item)]
    types = set(map(type, known))
    if types == {bool}:
        return GroupColumn("boolean", _spread(np.array(known), is_missing), mask)
    if types == {int} and (max(known) < 1 << 63 or min(known) >= 0):
        values = np.array(known, np.int64 if max(known) < 1 << 63 else np.uint64)
        kind = _KIND_OF_INTEGERS[values.dtype.kind]
        return GroupColumn(kind, _spread(values, is_missing), mask)
    if types == {datetime.datetime} and all(date.tzinfo is None for date in known):
        values = np.array(known, "datetime64[us]").view(np.int64)
        return GroupColumn("date", _spread(values, is_missing), mask)
    entries = [entry_of(item) for item in known]
    zones = {entry.get("zone") if isinstance(entry, dict) else None for entry in entries}
    if len(zones) == 1 and None not in zones:
        values = np.array([_microseconds(instant) for instant in known], np.int64)
        return GroupColumn("instant", _spread(values, is_missing), mask, zone=zones.pop())
    coded = [json.dumps(entry) for entry in entries]
    text_of = _texts(coded, known)
    values = object_array(text_of[code] for code in coded)
    pairs = [[text, json.loads(code)] for code, text in text_of.items()]
    return GroupColumn("coded", _spread(values, is_missing), mask, labels=pairs)


def _spread(known: NDArray[Any], is_missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Expand the values of the groups with a label to the values of all groups."""
    if not is_missing.any():
        return known
    values = object_array([""] * is_missing.size) if known.dtype.kind == "O" else None
    if values is None:
        values = np.zeros(is_missing.size, known.dtype)
    values[~is_missing] = known
    return values


def _microseconds(instant: Any) -> int:
    return int(instant.to_datetime64().astype("datetime64[us]").astype(np.int64))


def _texts(coded: list[str], labels: list[Any]) -> dict[str, str]:
    """Return a text for each distinct label; labels whose texts are equal get their code."""
    text_of = {code: str(label) for code, label in zip(coded, labels, strict=True)}
    texts = list(text_of.values())
    if len(set(texts)) == len(texts):
        return text_of
    return {code: code for code in text_of}


def _checked_dates(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Raise an error for NaT and for dates that Python cannot represent."""
    if values.size and (values.min() < _FIRST or values.max() > _LAST):
        raise ValueError("dates must be from the years 1 to 9999")
    return values


def labels_of(columns: list[GroupColumn]) -> NDArray[Any]:
    """Return the group labels of columns from a file.

    Raises
    ------
    Exception
        If a column does not have labels of its kind; the message says why.
    """
    if len(columns) == 1:
        labels = _labels_of(columns[0])
        if labels.size and isinstance(labels[0], tuple):
            raise ValueError("one column has the labels of several")
        return labels
    parts = [_labels_of(column).tolist() for column in columns]
    return object_array(zip(*parts, strict=True))


def _labels_of(column: GroupColumn) -> NDArray[Any]:
    known = column.values if column.is_missing is None else column.values[~column.is_missing]
    labels = _known_labels(column, known)
    if column.is_missing is None:
        return labels
    with_missing = object_array([_input.MISSING] * column.values.size)
    with_missing[~column.is_missing] = object_array(labels.tolist())
    return with_missing


def _known_labels(column: GroupColumn, known: NDArray[Any]) -> NDArray[Any]:
    if column.kind == "unsigned":
        # Integers that fit have the signed type, so that equal labels have equal arrays.
        is_small = known.size == 0 or int(known.max()) < 1 << 63
        return known.astype(np.int64) if is_small else known
    if column.kind == "date":
        return _checked_dates(known).view("datetime64[us]")
    if column.kind == "instant":
        import pandas as pd

        dates = pd.DatetimeIndex(_checked_dates(known).view("datetime64[us]"))
        instants = dates.tz_localize("UTC").tz_convert(column.zone)
        if str(instants.tz) != column.zone:
            raise ValueError(f"{shortened(column.zone)} is no time zone")
        return object_array(instants)
    if column.kind == "coded":
        label_of_text = {text: label_of(entry) for text, entry in column.labels or []}
        # Labels that a simpler kind of column can hold have arrays of another type.
        if _column_of(object_array(label_of_text.values())).kind != "coded":
            raise ValueError("coded labels are of another kind")
        return object_array(label_of_text[text] for text in known)
    return known
