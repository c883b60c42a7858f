"""Names of the columns of group labels."""

from __future__ import annotations

from typing import Any

from skfedauc._input.labels import Labels
from skfedauc._input.text import check_text
from skfedauc._words import described


def names_of(labels: Labels | None, *sources: Any) -> tuple[str, ...]:
    """Return the names of the group columns from the first source with names.

    An empty name is the same as no name, because polars gives an empty name to an unnamed Series.
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
    """Return the checked names of the group columns, or an empty tuple without names."""
    listed = [names] if isinstance(names, str) else [] if names is None else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"group_names must be a str or a list of str; got {described(names)}.")
    given = () if list(listed) == [""] else tuple(listed)
    check_text(given, "group_names")
    if len(set(given)) < len(given):
        raise ValueError(f"group_names must be different; got {described(names)}.")
    n_columns = _n_columns_of(labels)
    # Without groups the number of columns is unknown.
    is_empty = labels is not None and labels.size == 0
    if given and len(given) != n_columns and not is_empty:
        raise ValueError(
            f"group_names must have one name for each of the {n_columns} columns that groups come "
            f"from; got {described(names)}."
        )
    return given


def _n_columns_of(labels: Labels | None) -> int:
    """Return the number of group columns: the number of parts of the first label."""
    if labels is None:
        return 0
    first = labels[0] if labels.size else None
    return len(first) if isinstance(first, tuple) else 1
