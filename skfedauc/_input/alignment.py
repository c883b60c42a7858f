"""Rows that belong together: the order of indexed inputs, and groups read from X.

pandas objects are taken by position, as scikit-learn takes them, once their indexes are known to
agree. Only groups that are kept outside X are looked up by label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc._words import all_shortened, listed, shortened


def check_row_order(inputs: Mapping[str, Any], *, is_cut: bool = False) -> None:
    """Refuse pandas inputs whose indexes say that their rows are in different orders.

    Indexes with the same labels in the same order agree. A plain ``RangeIndex(n)`` says nothing
    about rows, so beside it any other labels agree; the same labels in another order do not.

    Parameters
    ----------
    inputs : mapping of str to object
        Inputs by the name of their argument. Those without an index are taken by position.
    is_cut : bool, default=False
        Whether the rows may be a part that scikit-learn cut by position. A plain
        ``RangeIndex(n)`` is then no longer recognisable, so only the same labels in another
        order are refused.

    Raises
    ------
    ValueError
        If two indexes disagree; the message names both arguments and the mend.
    """
    indexes: list[tuple[str, Any]] = [
        (name, values.index) for name, values in inputs.items() if has_index(values)
    ]
    if not indexes:
        return
    names = list(inputs)
    # All are compared with one of them, which is not plain if any is not.
    reference = next((item for item in indexes if not _is_plain(item[1])), indexes[0])
    for item in indexes:
        index, other = item[1], reference[1]
        # Inputs of another length are refused by the check of lengths, which names them.
        if index is other or len(index) != len(other) or index.equals(other):
            continue
        first, second = sorted((item, reference), key=lambda pair: names.index(pair[0]))
        if _same_labels(index, other):
            raise ValueError(
                f"{second[0]} and {first[0]} have the same index labels in different orders: "
                f"{_differing(first, second)}. Rows are taken by position, so put both in one "
                f"order first: {_mend(first, second)}."
            )
        if not is_cut and not _is_plain(index) and not _is_plain(other):
            raise ValueError(
                f"{second[0]} and {first[0]} have different index labels: "
                f"{_differing(first, second)}. Rows are taken by position; if row i of one "
                f"belongs to row i of the other, pass {second[0]}.to_numpy()."
            )


def has_index(values: Any) -> bool:
    """Whether this is a pandas Series or DataFrame, or has an index as these have."""
    return hasattr(values, "iloc") and hasattr(values, "index")


def _is_plain(index: Any) -> bool:
    """Whether an index numbers the rows from 0, as pandas does where none is given."""
    is_range = hasattr(index, "start") and hasattr(index, "step")
    return is_range and index.start == 0 and index.step == 1


def _same_labels(left: Any, right: Any) -> bool:
    if left.nlevels != right.nlevels:
        return False
    return bool(left.isin(right).all() and right.isin(left).all())


def _differing(first: tuple[str, Any], second: tuple[str, Any]) -> str:
    """The first place where two indexes differ, in words."""
    pairs = list(zip(first[1], second[1], strict=True))
    # Missing labels are not equal to themselves, but look alike.
    place = next((i for i, pair in enumerate(pairs) if repr(pair[0]) != repr(pair[1])), 0)
    left, right = pairs[place]
    return f"row {place} is {shortened(left)} in {first[0]} and {shortened(right)} in {second[0]}"


def _mend(first: tuple[str, Any], second: tuple[str, Any]) -> str:
    if first[1].is_unique:
        return f"{second[0]}.loc[{first[0]}.index]"
    return f"labels repeat, so sort both alike, then pass {second[0]}.to_numpy()"


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
                f"groups={shortened(groups)} could be the names of columns of X or the labels of "
                "its "
                "rows; pass labels as an array."
            )
        return groups
    if has_index(groups) and has_index(X) and not _is_by_position(groups, X):
        return aligned(groups, X)
    return groups


def _is_by_position(groups: Any, X: Any) -> bool:
    """Whether the labels of the index need not be looked up, or cannot be."""
    if groups.index is X.index or groups.index.equals(X.index):
        return True
    if len(groups) != len(X) or not (_is_plain(groups.index) or _is_plain(X.index)):
        return False
    # Labels that are all there are looked up, and so are the same labels in another order.
    return X.index.nlevels != groups.index.nlevels or not bool(X.index.isin(groups.index).all())


def columns_of(X: Any, names: list[str], name: str = "groups", table: str = "X") -> Any:
    """These columns of a DataFrame."""
    import narwhals.stable.v1 as nw

    if not nw.dependencies.is_into_dataframe(X) and table != "X":
        raise TypeError(
            f"{name} names the column {shortened(names[0])}, but {table} is a {type(X).__name__} "
            "without "
            "named columns; pass DataFrames, or leave out the names for tuples of arrays."
        )
    if not nw.dependencies.is_into_dataframe(X):
        raise TypeError(
            f"groups names the column{'s' if len(names) > 1 else ''} "
            f"{listed(names)} of X, but X arrived as {type(X).__name__} "
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
            f"{listed(absent)}, not found in {table}. Its columns are {listed(frame.columns)}."
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
    if groups.index.equals(X.index):
        return groups
    check_unique_index(groups, "groups")
    check_unique_index(X, "X")
    places = groups.index.get_indexer(X.index)
    absent = X.index[places < 0]
    if absent.size:
        raise ValueError(
            f"groups has no label for {absent.size} of {places.size} index labels of X, such "
            f"as [{all_shortened(absent[:3].tolist())}]; the index of groups must hold that of X."
        )
    _refuse_reset_index(groups, X, places)
    return groups.iloc[places]


def _refuse_reset_index(groups: Any, X: Any, places: NDArray[np.intp]) -> None:
    """Refuse row numbers as index labels, if they are shuffled in groups and rise in X.

    X may have got new row numbers, by ``reset_index(drop=True)``, where groups kept the old ones:
    they would be looked up under labels of other rows.
    """
    if len(X) < 2 or not X.index.is_monotonic_increasing or (np.diff(places) > 0).all():
        return
    if np.array_equal(np.sort(groups.index.to_numpy()), np.arange(len(groups))):
        raise ValueError(
            "the index of groups holds the row numbers 0 to "
            f"{len(groups) - 1:,} in another order, and that of X in rising order, as after "
            "reset_index. If the labels say which rows belong together, pass "
            "groups=groups.sort_index(); if the rows of groups are already in the order of X, "
            "reset the index of groups, too: groups.reset_index(drop=True)."
        )


def check_unique_index(indexed: Any, name: str) -> None:
    if not indexed.index.is_unique:
        repeated = indexed.index[indexed.index.duplicated()]
        raise ValueError(
            f"the index of {name} has {repeated.size} repeated labels, such as "
            f"[{all_shortened(repeated[:3].tolist())}], so groups cannot be aligned with X; use "
            "reset_index(drop=True) on both."
        )
