"""Order in which tables list the groups: the order of categories, else that of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc.counts import ScoreCounts
from skfedauc.counts.score_counts import view_of

if TYPE_CHECKING:
    import pandas as pd


def listed(counts: ScoreCounts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the groups of counts in the order of their categories."""
    order = order_of(counts)
    return table if order is None else table.iloc[order]


def by_number(counts: ScoreCounts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a listed table with the groups in the order of the counts."""
    order = order_of(counts)
    return table if order is None else table.iloc[np.argsort(order)]


def order_of(counts: ScoreCounts) -> NDArray[np.intp] | None:
    """Return the numbers of the groups in the order of the categories, or None without an order."""
    orders, groups = view_of(counts).orders, counts.groups
    if not any(orders) or not groups:
        return None
    columns = list(zip(*groups, strict=True)) if isinstance(groups[0], tuple) else [groups]
    if len(columns) != len(orders):
        return None
    keys = [_places(column, order) for column, order in zip(columns, orders, strict=True)]
    return np.lexsort(keys[::-1])


def _places(column: Sequence[Any], order: Sequence[Any]) -> NDArray[np.intp]:
    """Return the place of each label: among the categories, then among the other labels."""
    place = {label: number for number, label in enumerate(order)}
    others = [label for label in dict.fromkeys(column) if label not in place]
    codes, _ = _input.encode_groups(_input.object_array(others))
    place |= {label: len(order) + int(code) for label, code in zip(others, codes, strict=True)}
    return np.array([place[label] for label in column], np.intp)
