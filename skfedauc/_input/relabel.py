"""Common labels of several `ScoreCounts`, and mapping of labels to new labels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.groups import encode_groups
from skfedauc._input.labels import Labels, as_label, kind_of, unite_kinds
from skfedauc._input.series import encode_column
from skfedauc._words import all_shortened, described


def unite_labels(
    tables: list[Labels], name: str = "groups"
) -> tuple[list[NDArray[np.intp]], Labels]:
    """Number the groups of several `ScoreCounts` by common labels.

    Returns
    -------
    numbers : list of ndarray of intp
        For each `ScoreCounts`, the new numbers of its groups.
    labels : ndarray
        Sorted labels of all `ScoreCounts`.
    """
    kinds = {kind_of(table) for table in tables if table.size}
    if kinds and functools.reduce(unite_kinds, kinds) is None:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} are of different kinds in the score counts to be merged ({found}), so equal "
            "groups cannot be matched; use .regroup(str) to convert all labels to text."
        )
    first = tables[0]
    if all(table is first or np.array_equal(table, first) for table in tables[1:]):
        return [np.arange(first.size)] * len(tables), first
    filled = [table for table in tables if table.size]
    if {"i", "u"} <= {table.dtype.kind for table in filled}:
        low, high = min(int(table[0]) for table in filled), max(int(table[-1]) for table in filled)
        if low < 0:
            raise TypeError(
                f"{name} of the score counts to be merged are integers from {low} to {high}, which "
                "do not fit in 64 bits; use .regroup(str) to convert them to text."
            )
        filled = [table.astype(np.uint64) for table in filled]
    codes, labels = encode_column(np.concatenate(filled), name)
    return np.split(codes, np.cumsum([table.size for table in tables])[:-1]), labels


def map_labels(
    labels: Iterable[Any], to: Mapping[Any, Any] | Callable[[Any], Any], name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Return the group number of each old label and the sorted new labels."""
    listed = list(labels)
    if isinstance(to, Mapping):
        to = {as_label(old): new for old, new in to.items()}
        absent = [label for label in listed if label not in to]
        if absent:
            raise ValueError(
                f"{name} has no entry for {len(absent)} of {len(listed)} groups, among "
                f"them {all_shortened(absent[:3])}; add them, or pass a function."
            )
        sent = [to[label] for label in listed]
    elif callable(to):
        sent = [to(label) for label in listed]
    else:
        raise TypeError(
            f"{name} must be a mapping from labels to labels or a function of a label; got "
            f"{described(to)}."
        )
    if any(isinstance(label, list) for label in sent):
        raise TypeError(f"{name} gave a list as a label; give a tuple.")
    without = sum(label is None for label in sent)
    if without:
        raise ValueError(
            f"{name} gave None for {without} of {len(listed)} groups; give each group a label."
        )
    return encode_groups(sent, name)
