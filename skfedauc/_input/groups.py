"""Groups from one or several label columns, and column names.

Inside the package, groups have numbers: a group's number is the position of its label among
the sorted labels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.alignment import unwrapped
from skfedauc._input.arguments import check_option
from skfedauc._input.arrays import (
    check_length,
    column_of,
    from_array_api,
    number_of_rows,
    object_array,
    total_of_rows,
)
from skfedauc._input.encoding import drop_unused, encode_column, example_rows, number_integers
from skfedauc._input.labels import MISSING, Labels, as_label, kind_of, label_array, unite_kinds
from skfedauc._input.text import check_text
from skfedauc._words import all_shortened, described

# How to treat rows without a group label
Missing: TypeAlias = Literal["raise", "drop", "group"]


def check_missing(missing: Any) -> Missing:
    """Return `missing` after checking it."""
    options = {
        "raise": "an error",
        "drop": "leave rows without a group label out",
        "group": f"make them the group {MISSING!r}",
    }
    return check_option("missing", missing, options)  # type: ignore[no-any-return]


def check_groups_given(groups: Any) -> None:
    if groups is None:
        raise TypeError(
            "groups must give the group of each row; got None. For the AUC of rows without "
            "groups use sklearn.metrics.roc_auc_score or ScoreCounts.from_predictions."
        )


def encode_groups(
    groups: Any,
    name: str = "groups",
    missing: Missing = "raise",
    n_rows: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.intp], Labels]:
    """Return each row's group number, and the sorted group labels.

    Combinations of several columns are groups. Rows without a label in a column raise a ValueError,
    get the number -1 ("drop"), or get the label `MISSING` in the column ("group"). `n_rows` is each
    label's row count, for messages.
    """
    return _encode_all(_group_columns(groups, name), name, missing, n_rows)


def category_orders(groups: Any) -> tuple[tuple[Any, ...], ...]:
    """Return each group label column's ordered categories, with () for other columns.

    Ordered are pandas categories that are declared so, and polars Enum. The result is () if
    no column has ordered categories.
    """
    if not hasattr(groups, "dtype") and not hasattr(groups, "columns"):
        return ()
    columns = [] if isinstance(groups, np.ndarray) else _group_columns(groups, "groups")
    orders = tuple(map(_categories_of, columns))
    return orders if any(orders) else ()


def _categories_of(column: Any) -> tuple[Any, ...]:
    dtype: Any = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", False):
        return tuple(dtype.categories.tolist())
    if type(dtype).__name__ == "Enum":
        return tuple(dtype.categories.to_list())
    return ()


def encode_columns(columns: Mapping[str, Any]) -> tuple[NDArray[np.intp], Labels]:
    """Return each row's group number, and the labels, from several named columns."""
    several = []
    for name, column in columns.items():
        own = _group_columns(column, name)
        if len(own) != 1:
            raise ValueError(f"{name} must be one column of labels; got {len(own)}.")
        several += own
    first, *others = columns
    for name, column in zip(others, several[1:], strict=True):
        check_length(name, len(column), first, len(several[0]))
    return _encode_all(several, ", ".join(columns), "raise")


def _group_columns(groups: Any, name: str) -> list[Any]:
    """Convert the group labels that users pass to columns: numpy arrays or native series."""
    groups = from_array_api(unwrapped(groups))
    if isinstance(groups, np.ndarray):
        if isinstance(groups, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array; drop the masked rows and pass .data.")
        if groups.ndim == 2 and groups.shape[1] > 0:
            return [groups[:, i] for i in range(groups.shape[1])]
        return [column_of(groups, name)]
    if isinstance(groups, list | tuple):
        if groups and all(isinstance(row, tuple | list) for row in groups):
            widths = {len(row) for row in groups}
            if len(widths) > 1 or widths == {0}:
                raise ValueError(
                    f"{name} must give every row the same number of labels; got rows of "
                    f"{sorted(widths)} labels."
                )
            return [label_array(column) for column in zip(*groups, strict=True)]
        columns = sorted(kind.__name__ for kind in set(map(type, groups)) if _is_column(kind))
        if columns:
            raise TypeError(
                f"{name} is a {type(groups).__name__} of {len(groups)} columns ("
                f"{', '.join(columns)}): pass one column as it is, several as a DataFrame, such as "
                "pandas.DataFrame({'site': site, 'sex': sex}), or as an array, "
                "numpy.column_stack([site, sex])."
            )
        return [label_array(groups)]
    if isinstance(groups, str | bytes | Mapping | set) or not hasattr(groups, "__len__"):
        mend = " Pass pandas.DataFrame(groups)." if isinstance(groups, Mapping) else ""
        raise TypeError(
            f"{name} must hold one label per row, as an array, a column or a DataFrame of "
            f"columns; got {described(groups)}.{mend}"
        )
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_series(groups):
        return [groups]
    if nw.dependencies.is_into_dataframe(groups):
        names = list(getattr(groups, "column_names", groups.columns))
        repeated = sorted({str(column) for column in names if names.count(column) > 1})
        if repeated:
            raise ValueError(f"{name} has several columns named {all_shortened(repeated)}.")
        frame = nw.from_native(groups, eager_only=True)
        if frame.shape[1] == 0:
            raise ValueError(f"{name} is a DataFrame without columns.")
        return [nw.to_native(frame.get_column(column)) for column in frame.columns]
    pa = nw.dependencies.get_pyarrow()
    if pa is not None and isinstance(groups, pa.Array):
        return [pa.chunked_array([groups])]
    pd = nw.dependencies.get_pandas()
    if pd is not None and isinstance(groups, pd.Index | pd.api.extensions.ExtensionArray):
        return [column_of(groups, name) if hasattr(groups, "levels") else pd.Series(groups)]
    return [column_of(groups, name)]


def _is_column(kind: type) -> bool:
    """Return whether objects with this class are label columns rather than single labels."""
    has_rows = hasattr(kind, "__len__") and not issubclass(kind, str | bytes)
    return has_rows and (hasattr(kind, "dtype") or hasattr(kind, "type"))


def _encode_all(
    columns: list[Any], name: str, missing: Missing, n_rows: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.intp], Labels]:
    encoded = [encode_column(column, name) for column in columns]
    has_gaps = [
        # Integers of numpy are never missing.
        not (isinstance(column, np.ndarray) and column.dtype.kind in "biu")
        and bool(codes.size)
        and int(codes.min()) < 0
        for column, (codes, _) in zip(columns, encoded, strict=True)
    ]
    if any(has_gaps) and missing == "group":
        encoded = [
            _with_missing_group(codes, labels, name) if gaps else (codes, labels)
            for (codes, labels), gaps in zip(encoded, has_gaps, strict=True)
        ]
    elif any(has_gaps):
        has_label = np.all([codes >= 0 for codes, _ in encoded], axis=0)
        if missing == "raise":
            n_missing = number_of_rows(~has_label, n_rows)
            _refuse_missing(n_missing, total_of_rows(has_label.size, n_rows), name)
        codes = np.full(has_label.size, -1, np.intp)
        kept = [drop_unused(numbers[has_label], labels) for numbers, labels in encoded]
        codes[has_label], labels = _combined(kept)
        return codes, labels
    return _combined(encoded)


def _refuse_missing(n_missing: int, n_rows: int, name: str) -> None:
    mend = "drop these rows, or give them a label of their own such as 'missing'"
    if name == "groups":
        mend = (
            "pass missing='drop' to leave these rows out, or missing='group' to give them a "
            f"label of their own, {MISSING!r}"
        )
    if name == "clusters":
        mend = "drop these rows, or give each of them a label of its own"
    raise ValueError(f"{name} has {n_missing} missing labels of {n_rows}; {mend}.")


def _combined(
    encoded: list[tuple[NDArray[np.intp], Labels]],
) -> tuple[NDArray[np.intp], Labels]:
    """Return numbers and labels for combinations of encoded columns."""
    if len(encoded) == 1:
        return encoded[0]
    # Number all possible combinations, then only the combinations that occur.
    combined = encoded[0][0].astype(np.int64)
    n_combinations = encoded[0][1].size
    for codes, labels in encoded[1:]:
        n_combinations *= max(labels.size, 1)
        if n_combinations >= 1 << 62:
            combined, _ = number_integers(combined)
            n_combinations = (int(combined.max()) + 1) * labels.size
        combined = combined * labels.size + codes
    codes, _ = number_integers(combined)
    # Read the label of a combination from one of its rows.
    example = example_rows(codes)
    parts = [labels[part[example]].tolist() for part, labels in encoded]
    return codes, object_array(zip(*parts, strict=True))


def _with_missing_group(
    codes: NDArray[np.intp], labels: Labels, name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Give the rows without a label the last group, with the label `MISSING`."""
    if labels.size and isinstance(labels[-1], str) and labels[-1] == MISSING:
        raise ValueError(
            f"{name} has rows without a label, and a group called {MISSING!r} already; rename "
            "that group, or pass missing='drop'."
        )
    return (
        np.where(codes < 0, labels.size, codes),
        object_array([*labels.tolist(), MISSING]),
    )


def names_of(labels: Labels | None, *sources: Any) -> tuple[str, ...]:
    """Return the group column names from the first source with names.

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
    """Return the checked group column names, or an empty tuple without names."""
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
    """Return how many group columns there are: how many parts the first label has."""
    if labels is None:
        return 0
    first = labels[0] if labels.size else None
    return len(first) if isinstance(first, tuple) else 1


def unite_labels(
    tables: list[Labels], name: str = "groups"
) -> tuple[list[NDArray[np.intp]], Labels]:
    """Number the groups in several `ScoreCounts` by common labels."""
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
    """Return each old label's group number and the sorted new labels."""
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
