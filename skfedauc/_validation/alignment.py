"""Groups that belong to the rows of X: columns of it, or a Series with its index."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_column_names(groups: Any) -> bool:
    """Whether this is the name of a column, or a list of names."""
    return isinstance(groups, str) or (
        isinstance(groups, list) and bool(groups) and all(isinstance(g, str) for g in groups)
    )


def is_series(groups: Any) -> bool:
    """Whether this is a pandas Series."""
    return hasattr(groups, "iloc") and not hasattr(groups, "columns")


def groups_of_rows(groups: Any, X: Any) -> Any:
    """Labels of the rows of X, from names of its columns, an indexed Series or an array."""
    if isinstance(groups, str):
        return columns_of(X, [groups])
    if is_column_names(groups):
        # As many names as rows may be labels; an array of labels is never ambiguous.
        if len(groups) != np.shape(X)[0]:
            return columns_of(X, groups)
        names = getattr(X, "column_names", getattr(X, "columns", ()))
        if set(groups) <= set(names):
            raise ValueError(
                f"groups={groups!r} could be the names of columns of X or the labels of its "
                "rows; pass labels as an array."
            )
        return groups
    if hasattr(groups, "reindex") and hasattr(X, "index") and hasattr(X, "columns"):
        return aligned(groups, X)
    return groups


def columns_of(X: Any, names: list[str], name: str = "groups", table: str = "X") -> Any:
    """These columns of a DataFrame."""
    import narwhals.stable.v1 as nw

    if not nw.dependencies.is_into_dataframe(X) and table != "X":
        raise TypeError(
            f"{name} names the column {names[0]!r}, but {table} is a {type(X).__name__} without "
            "named columns; pass DataFrames, or leave out the names for tuples of arrays."
        )
    if not nw.dependencies.is_into_dataframe(X):
        raise TypeError(
            f"groups names the column{'s' if len(names) > 1 else ''} "
            f"{', '.join(map(repr, names))} of X, but X arrived as {type(X).__name__} "
            "without named columns. Some tools turn X into a numpy array before they score; "
            "with these, let scikit-learn route the groups: "
            "sklearn.set_config(enable_metadata_routing=True), groups=None here, and "
            "groups=labels in fit (or params={'groups': labels}). HistGradientBoosting and "
            "ScoringMonitor route nothing: score the fitted estimator instead."
        )
    frame = nw.from_native(X, eager_only=True)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            f"{name} names the column{'s' if len(absent) > 1 else ''} "
            f"{', '.join(map(repr, absent))}, not found in {table}. Its columns are "
            f"{', '.join(map(repr, frame.columns[:20]))}"
            f"{', ...' if len(frame.columns) > 20 else ''}."
        )
    return nw.to_native(frame.select(names))


def column_named(X: Any, column: str | None, name: str) -> Any:
    """One column of a batch, as a series of its own kind."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(columns_of(X, [str(column)], name, "the batch"), eager_only=True)
    return nw.to_native(frame[str(column)])


def aligned(groups: Any, X: Any) -> Any:
    """The values of a pandas Series for the index labels of X, in the order of X."""
    if not hasattr(X, "index") or not hasattr(X, "columns"):
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            raise TypeError(
                "groups is a pandas Series, to be aligned with the index of X, but X is a "
                f"{type(X).__module__.split('.')[0]} {type(X).__name__}, which has no index. "
                "Make the labels a column of X and pass its name, groups='site'."
            )
        raise TypeError(
            "groups is a pandas Series, to be aligned with the index of X, but X arrived as "
            f"{type(X).__name__} without an index. Some tools turn X into a numpy array "
            "before they score; with these, let scikit-learn route the groups: "
            "sklearn.set_config(enable_metadata_routing=True), groups=None here, and "
            "groups=labels in fit (or params={'groups': labels}). HistGradientBoosting and "
            "ScoringMonitor route nothing: score the fitted estimator instead."
        )
    check_unique_index(groups, "groups")
    check_unique_index(X, "X")
    places = groups.index.get_indexer(X.index)
    absent = X.index[places < 0]
    if absent.size:
        raise ValueError(
            f"groups has no label for {absent.size} of {places.size} index labels of X, such "
            f"as {absent[:3].tolist()!r}; the index of groups must hold that of X."
        )
    return groups.iloc[places]


def check_unique_index(indexed: Any, name: str) -> None:
    if not indexed.index.is_unique:
        repeated = indexed.index[indexed.index.duplicated()]
        raise ValueError(
            f"the index of {name} has {repeated.size} repeated labels, such as "
            f"{repeated[:3].tolist()!r}, so groups cannot be aligned with X; use "
            "reset_index(drop=True) on both."
        )
