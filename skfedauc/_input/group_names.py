"""Names of the columns that group labels come from."""

from __future__ import annotations

from typing import Any

from skfedauc._input.labels import Labels
from skfedauc._input.text import check_text
from skfedauc._words import described


def names_of(labels: Labels | None, *sources: Any) -> tuple[str, ...]:
    """Names of the columns that labels come from: of the first source that has them.

    An empty name is none: polars gives it to a Series that was not named.
    """
    for source in sources:
        names = getattr(source, "column_names", getattr(source, "columns", None))
        if names is None:
            name = source if isinstance(source, str) else getattr(source, "name", None)
            names = (name,) if isinstance(name, str) else ()
        names = tuple(map(str, names))
        if names and all(names) and len(names) == _n_columns_of(labels):
            check_text(names, "the name of a column of groups")
            return names
    return ()


def check_group_names(names: Any, labels: Labels | None) -> tuple[str, ...]:
    """Names of the columns that labels come from, one for each; or none."""
    listed = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"group_names must be a str or a list of str; got {described(names)}.")
    given = () if list(listed) == [""] else tuple(listed)
    check_text(given, "group_names")
    if len(set(given)) < len(given):
        raise ValueError(f"group_names must be different; got {described(names)}.")
    n_columns = _n_columns_of(labels)
    # Where there are no groups, nothing tells how many columns they come from.
    is_empty = labels is not None and labels.size == 0
    if given and len(given) != n_columns and not is_empty:
        raise ValueError(
            f"group_names must have one name for each of the {n_columns} columns that groups come "
            f"from; got {described(names)}."
        )
    return given


def _n_columns_of(labels: Labels | None) -> int:
    """Number of columns that labels come from, by the first label."""
    if labels is None:
        return 0
    first = labels[0] if labels.size else None
    return len(first) if isinstance(first, tuple) else 1
