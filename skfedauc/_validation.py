"""What users pass, turned into clean arrays; everything else is a clear error.

`check_rows` is the one way in for rows. Group labels are booleans, integers, strings,
dates, or tuples of them (from several columns); inside the package they are numbered, and
the number of a group is the place of its label in sorted order.

Narwhals reads pandas, polars and pyarrow alike; pandas is imported only to number labels
that are not integers.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[Any]

_KINDS = "booleans, integers, strings, dates, or tuples of them"


class Rows(NamedTuple):
    """Checked rows, those of weight 0 left out.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_rows,)
    scores : ndarray of float64, shape (n_rows,)
        Finite.
    codes : None or ndarray of intp, shape (n_rows,)
        Group number of each row.
    labels : None or ndarray, shape (n_groups,)
        Sorted group labels.
    weights : None or ndarray of float64, shape (n_rows,)
        Above 0. None where every row weighs 1.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    codes: NDArray[np.intp] | None
    labels: Labels | None
    weights: NDArray[np.float64] | None


def check_rows(
    y_true: Any,
    y_score: Any,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    *,
    warn_hard_labels: bool = True,
) -> Rows:
    """Check rows as users pass them.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what arrived and what to pass instead.
    """
    scores = check_scores(y_score)
    y = column_of(y_true, "y_true")
    positive = check_labels(y, pos_label)
    check_length("y_score", scores.size, "y_true", positive.size)
    if warn_hard_labels:
        _warn_if_hard_labels(y, scores)
    weights = None if sample_weight is None else check_weights(sample_weight)
    if weights is not None:
        check_length("sample_weight", weights.size, "y_true", positive.size)
    codes, labels = (None, None) if groups is None else encode_groups(groups)
    if codes is not None:
        check_length("groups", codes.size, "y_true", positive.size)
    if weights is None:
        return Rows(positive, scores, codes, labels, None)
    if not weights.all():
        kept = weights > 0
        positive, scores, weights = positive[kept], scores[kept], weights[kept]
        if codes is not None and labels is not None:
            codes, labels = drop_unused(codes[kept], labels)
    all_ones = bool((weights == 1.0).all())
    return Rows(positive, scores, codes, labels, None if all_ones else weights)


def check_length(name: str, size: int, other: str, other_size: int) -> None:
    if size != other_size:
        raise ValueError(
            f"{name} has {size} rows and {other} has {other_size}: pass one value of "
            f"{name} for each row of {other}."
        )


# Columns ---------------------------------------------------------------------------


def column_of(values: Any, name: str) -> NDArray[Any]:
    """A one-dimensional numpy array from any supported column."""
    if isinstance(values, np.ndarray):
        array = values
    elif isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(
            f"{name} must be a one-dimensional array with one value per row; got "
            f"{_described(values)}."
        )
    elif isinstance(values, Mapping | set | frozenset):
        raise TypeError(
            f"{name} must be a one-dimensional array with one value per row; got a "
            f"{type(values).__name__}, whose order says nothing about rows."
        )
    else:
        try:
            array = np.asarray(values)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{name} must be a one-dimensional array; got {_described(values)}, "
                f"which does not convert to one ({error})."
            ) from error
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; drop the masked rows and pass .data.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = ""
        if name == "y_score" and array.ndim == 2 and array.shape[1] == 2:
            hint = (
                " It looks like the output of predict_proba: pass the column of the "
                "positive class, y_score[:, 1]."
            )
        raise ValueError(
            f"{name} must be one-dimensional; got an array of shape {array.shape}.{hint}"
        )
    return array


def _described(values: Any) -> str:
    text = repr(values)
    return f"{type(values).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def check_scores(values: Any, name: str = "y_score") -> NDArray[np.float64]:
    """Scores as finite float64."""
    scores = _as_floats(values, name)
    # The sum is finite only if every score is; it may overflow where all are finite.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = bool(np.isfinite(scores.sum()))
    if not looks_finite and not np.isfinite(scores).all():
        n_nan = int(np.isnan(scores).sum())
        n_infinite = int(np.isinf(scores).sum())
        raise ValueError(
            f"{name} must be finite; got {n_nan} NaN and {n_infinite} infinite values of "
            f"{scores.size}. Drop or impute these rows first."
        )
    return scores


def check_weights(values: Any, name: str = "sample_weight") -> NDArray[np.float64]:
    """Weights as finite float64, none below 0."""
    weights = check_scores(values, name)
    if weights.size and float(weights.min()) < 0:
        raise ValueError(
            f"{name} must be 0 or more; got {int((weights < 0).sum())} negative values."
        )
    return weights


def check_counts(values: Any, name: str) -> NDArray[np.int64]:
    """Whole numbers, none below 0."""
    counts = column_of(values, name)
    if counts.dtype.kind in "iub":
        whole = counts.astype(np.int64)
    else:
        floats = check_scores(counts, name)
        whole = floats.astype(np.int64)
        if not np.array_equal(whole, floats):
            raise ValueError(
                f"{name} must hold whole numbers of rows; got "
                f"{floats[whole != floats][:3].tolist()}. Weighted rows go through "
                "from_predictions(..., sample_weight=...)."
            )
    if whole.size and int(whole.min()) < 0:
        raise ValueError(f"{name} must be 0 or more; got {int((whole < 0).sum())} negative values.")
    return whole


def _as_floats(values: Any, name: str) -> NDArray[np.float64]:
    array = column_of(values, name)
    if array.dtype.kind not in "fiub":
        if array.dtype.kind in "OTU" and array.size:
            try:
                converted = array.astype(np.float64)
            except (ValueError, TypeError):
                converted = None
            # Text that happens to read as numbers is more likely a wrong column.
            if converted is not None and not any(isinstance(v, str) for v in array):
                return converted
        if array.size or array.dtype.kind != "O":
            raise TypeError(
                f"{name} must hold numbers; got an array of {array.dtype} such as "
                f"{array.tolist()[:3]}."
            )
    return np.ascontiguousarray(array, np.float64)


# Labels of the two classes -----------------------------------------------------------


def check_labels(y: NDArray[Any], pos_label: Any = None) -> NDArray[np.bool_]:
    """Whether each label is the positive one.

    As in scikit-learn, `pos_label` may be left out where the labels are among {0, 1},
    {-1, 1} or booleans; it is then 1.
    """
    if y.dtype.kind == "b" and pos_label in (None, True):
        return y
    if pos_label is None and y.dtype.kind in "iu" and y.size:
        # One pass decides the common case.
        low, high = int(y.min()), int(y.max())
        if low >= 0 and high <= 1:
            return y.astype(np.bool_)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise ValueError(
            f"y_true has {int(np.isnan(y).sum())} missing labels of {y.size}; drop these "
            "rows first."
        )
    classes = _classes(y)
    if len(classes) > 2:
        shown = ", ".join(repr(c) for c in classes[:4])
        raise ValueError(
            f"y_true must have two classes; got {len(classes)}: {shown}"
            f"{', ...' if len(classes) > 4 else ''}. AUC compares one class with another: "
            "pass y_true == label to compare one label with the rest."
        )
    if pos_label is None:
        usual = all(isinstance(c, int | float) for c in classes) and (
            set(classes) <= {0, 1} or set(classes) <= {-1, 1}
        )
        if not usual:
            raise ValueError(
                f"y_true has the labels {classes}: pass pos_label=, the one that counts as "
                "positive. It may be left out for {0, 1}, {-1, 1} and booleans only."
            )
        pos_label = 1
    elif len(classes) == 2 and pos_label not in classes:
        raise ValueError(
            f"pos_label={pos_label!r} is not among the labels of y_true, {classes}; pass "
            "one of them."
        )
    return np.asarray(y == pos_label, np.bool_)


def _classes(y: NDArray[Any]) -> list[Any]:
    """Distinct labels as Python objects, sorted where they can be."""
    if y.dtype.kind in "iufb":
        return list(np.unique(y).tolist())
    if y.dtype.kind not in "OUTS":
        raise TypeError(
            f"y_true must hold labels of two classes (numbers, booleans or strings); got "
            f"an array of {y.dtype}."
        )
    missing = count_missing(y)
    if missing:
        raise ValueError(f"y_true has {missing} missing labels of {y.size}; drop these rows first.")
    classes = list(dict.fromkeys(y.tolist()))
    try:
        return sorted(classes)
    except TypeError as error:
        kinds = sorted({type(c).__name__ for c in classes})
        raise TypeError(
            f"y_true mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        ) from error


def _warn_if_hard_labels(y: NDArray[Any], scores: NDArray[np.float64]) -> None:
    """Warn where scores are nothing but the two class labels."""
    if scores.size < 2 or y.dtype.kind not in "biuf":
        return
    low, high = float(scores.min()), float(scores.max())
    if low == high or (low, high) != (float(y.min()), float(y.max())):
        return
    if bool(((scores == low) | (scores == high)).all()):
        warnings.warn(
            f"y_score holds only {low:g} and {high:g}: these look like predicted labels, "
            "and the AUC of labels ignores how sure the model is. Pass "
            "predict_proba(X)[:, 1] or decision_function(X).",
            UserWarning,
            stacklevel=4,
        )


# Groups ------------------------------------------------------------------------------


def count_missing(values: NDArray[Any]) -> int:
    """Number of None, NaN, NaT and pandas.NA in a one-dimensional array."""
    if values.dtype.kind in "biuUS":
        return 0
    if values.dtype.kind in "fmM":
        return int(np.isnan(values).sum() if values.dtype.kind == "f" else np.isnat(values).sum())
    import pandas as pd

    return int(pd.isna(values).sum())


def encode_groups(groups: Any, name: str = "groups") -> tuple[NDArray[np.intp], Labels]:
    """Number the rows' groups.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or (n_rows, n_columns)
        One column of labels, or several whose combinations are the groups: numpy, lists
        (of tuples, for several), pandas, polars, pyarrow.

    Returns
    -------
    codes : ndarray of intp, shape (n_rows,)
    labels : ndarray of shape (n_groups,)
        Sorted; tuples where there are several columns.
    """
    columns = _group_columns(groups, name)
    encoded = [_encode_column(column, name) for column in columns]
    if len(encoded) == 1:
        return encoded[0]
    # Mixed radix number of each combination, then numbers of those that occur.
    combined = encoded[0][0].astype(np.int64)
    n_combinations = encoded[0][1].size
    for codes, labels in encoded[1:]:
        n_combinations *= max(labels.size, 1)
        if n_combinations >= 1 << 62:
            combined, _ = _number_integers(combined)
            n_combinations = (int(combined.max()) + 1) * labels.size
        combined = combined * labels.size + codes
    codes, _ = _number_integers(combined)
    # One row of each combination tells its label.
    example = np.empty(int(codes.max()) + 1 if codes.size else 0, np.intp)
    example[codes] = np.arange(codes.size)
    parts = [labels[part[example]].tolist() for part, labels in encoded]
    return codes, object_array(zip(*parts, strict=True))


def object_array(items: Iterable[Any]) -> Labels:
    """A one-dimensional array of objects, tuples left whole."""
    listed = list(items)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def drop_unused(codes: NDArray[np.intp], labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    """Renumber the groups so that each has a row."""
    used = np.bincount(codes, minlength=labels.size) > 0
    if used.all():
        return codes, labels
    return (np.cumsum(used) - 1)[codes], labels[used]


def _group_columns(groups: Any, name: str) -> list[Any]:
    """Split what the user passed into columns; each is an array or a native series."""
    if isinstance(groups, np.ndarray):
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
            return [_mixed_array(column) for column in zip(*groups, strict=True)]
        return [_mixed_array(groups)]
    if isinstance(groups, str | bytes | Mapping | set) or not hasattr(groups, "__len__"):
        raise TypeError(
            f"{name} must hold one label per row, as an array, a column or a DataFrame of "
            f"columns; got {_described(groups)}."
        )
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_into_dataframe(groups):
        frame = nw.from_native(groups, eager_only=True)
        if frame.shape[1] == 0:
            raise ValueError(f"{name} is a DataFrame without columns.")
        return [nw.to_native(frame[column]) for column in frame.columns]
    if nw.dependencies.is_into_series(groups):
        return [groups]
    return [column_of(groups, name)]


def _mixed_array(values: Iterable[Any]) -> NDArray[Any]:
    """An array of a list of labels that turns no label into another kind."""
    listed = list(values)
    if {type(v) for v in listed} <= {str} or {type(v) for v in listed} <= {int}:
        array = np.asarray(listed) if listed else np.zeros(0, np.int64)
        return array.astype(object) if array.dtype.kind == "U" else array
    return object_array(listed)


def _encode_column(column: Any, name: str) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and sorted labels of one column."""
    categories = None
    if not isinstance(column, np.ndarray):
        column, categories = _plain_column(column, name)
    if categories is not None:
        codes, labels = drop_unused(column, categories)
        order, labels = _sorted_labels(_checked_labels(labels, name))
        return _inverse(order)[codes], labels
    missing = count_missing(column)
    if missing:
        raise ValueError(
            f"{name} has {missing} missing labels of {column.size}; drop these rows, or "
            "give them a label of their own such as 'missing'."
        )
    if column.dtype.kind == "b":
        codes, values = _number_integers(column.view(np.uint8))
        return codes, values.astype(np.bool_)
    if column.dtype.kind in "iu":
        return _number_integers(column)
    if column.dtype.kind == "M":
        codes, values = _number_integers(column.view(np.int64))
        return codes, values.view(column.dtype)
    if column.dtype.kind not in "OUT":
        mend = (
            "convert whole numbers with .astype(int), or cut a continuous column into "
            "bands with text labels"
            if column.dtype.kind == "f"
            else "convert them with .astype(str)"
        )
        raise TypeError(f"{name} must hold {_KINDS}; got an array of {column.dtype}: {mend}.")
    import pandas as pd

    codes, uniques = pd.factorize(column.astype(object, copy=False))
    if column.dtype.kind == "O":
        _refuse_mixed(column, name)
    order, labels = _sorted_labels(_checked_labels(np.asarray(uniques, object), name))
    return _inverse(order)[codes], labels


def _plain_column(column: Any, name: str) -> tuple[NDArray[Any], Labels | None]:
    """A native series as an array; of a categorical, its codes and its categories."""
    import narwhals.stable.v1 as nw

    series = nw.from_native(column, series_only=True)
    missing = int(series.is_null().sum())
    if missing:
        raise ValueError(
            f"{name} has {missing} missing labels of {len(series)}; drop these rows, or "
            "give them a label of their own such as 'missing'."
        )
    if series.dtype in (nw.Categorical, nw.Enum):
        if hasattr(column, "cat") and hasattr(column.cat, "codes"):
            labels = column.cat.categories
            return np.asarray(column.cat.codes, np.intp), np.asarray(labels, object)
        series = series.cast(nw.String)
    if getattr(series.dtype, "time_zone", None) is not None:
        raise TypeError(
            f"{name} holds dates with a time zone; convert them to dates without one, for "
            "instance with .dt.tz_localize(None)."
        )
    array = series.to_numpy()
    return (array.astype(object) if array.dtype.kind in "UT" else array), None


def _number_integers(values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Numbers and sorted distinct values of integers, without sorting where ranges allow."""
    if values.dtype == np.uint64:
        if values.size and int(values.max()) >= 1 << 63:
            distinct, codes = np.unique(values, return_inverse=True)
            return codes, distinct
        values = values.astype(np.int64)
    if values.size == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * values.size + 1024:
        offsets = values.astype(np.intp) - low if low else values.astype(np.intp, copy=False)
        used = np.zeros(high - low + 1, np.bool_)
        used[offsets] = True
        if used.all():
            return offsets, np.arange(low, high + 1)
        return (np.cumsum(used) - 1)[offsets], np.flatnonzero(used) + low
    distinct, codes = np.unique(values.astype(np.int64), return_inverse=True)
    return codes, distinct


def _refuse_mixed(column: NDArray[Any], name: str) -> None:
    from pandas.api.types import infer_dtype

    if infer_dtype(column, skipna=False).startswith("mixed") and not all(
        isinstance(value, tuple) for value in column
    ):
        kinds = sorted({type(value).__name__ for value in column})
        raise TypeError(
            f"{name} mixes labels of different kinds ({', '.join(kinds)}); convert them to "
            "one kind, for instance with .astype(str)."
        )


def _checked_labels(labels: Labels, name: str) -> Labels:
    """Distinct labels in their plainest type; other kinds are refused."""
    items = labels.tolist() if labels.dtype.kind != "M" else labels
    if labels.dtype.kind != "O":
        return labels
    plain = [item.item() if isinstance(item, np.generic) else item for item in items]
    kinds = {_kind(item) for item in plain}
    if None in kinds:
        odd = next(item for item in plain if _kind(item) is None)
        mend = (
            "convert whole numbers with .astype(int), or cut a continuous column into "
            "bands with text labels"
            if isinstance(odd, float)
            else "convert them with .astype(str)"
        )
        raise TypeError(
            f"{name} must hold {_KINDS}; got {odd!r} of type {type(odd).__name__}: {mend}."
        )
    if len(kinds) > 1:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} mixes labels of different kinds ({found}); convert them to one kind, "
            "for instance with .astype(str)."
        )
    kind = kinds.pop() if kinds else "str"
    if kind == "bool":
        return np.asarray(plain, np.bool_)
    if kind == "int":
        return np.asarray(plain)
    if kind == "date":
        return np.asarray(plain, "datetime64[us]")
    return object_array(plain)


def _kind(label: Any) -> Any:
    """What kind of label this is; None if labels may not be of that kind."""
    if isinstance(label, bool | np.bool_):
        return "bool"
    if isinstance(label, int):
        return "int"
    if isinstance(label, str):
        return "str"
    if isinstance(label, datetime.date | np.datetime64):
        return "date"
    if isinstance(label, tuple) and label:
        kinds = tuple(_kind(part) for part in label)
        return None if None in kinds else kinds
    return None


def _sorted_labels(labels: Labels) -> tuple[NDArray[np.intp], Labels]:
    if labels.dtype.kind == "O":
        items = labels.tolist()
        order = np.array(sorted(range(len(items)), key=items.__getitem__), np.intp)
    else:
        order = np.argsort(labels, kind="stable")
    return order, labels[order]


def _inverse(order: NDArray[np.intp]) -> NDArray[np.intp]:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(order.size)
    return inverse


def unite_labels(
    tables: list[Labels], name: str = "groups"
) -> tuple[list[NDArray[np.intp]], Labels]:
    """Number the groups of several states alike.

    Returns
    -------
    numbers : list of ndarray of intp
        For each table, the new numbers of its groups.
    labels : ndarray
        Sorted labels of all tables.
    """
    first = tables[0]
    if all(table is first or np.array_equal(table, first) for table in tables[1:]):
        return [np.arange(first.size)] * len(tables), first
    kinds = {
        _kind(table[0].item() if table.dtype.kind in "biuM" else table[0])
        for table in tables
        if table.size
    }
    if len(kinds) > 1:
        found = ", ".join(sorted(str(kind) for kind in kinds))
        raise TypeError(
            f"{name} are of different kinds in the states to be merged ({found}), so equal "
            "groups cannot be told; use .regroup(str) to make them alike."
        )
    codes, labels = _encode_column(np.concatenate(tables), name)
    return np.split(codes, np.cumsum([table.size for table in tables])[:-1]), labels


def map_labels(
    labels: Iterable[Any], to: Mapping[Any, Any] | Callable[[Any], Any], name: str
) -> tuple[NDArray[np.intp], Labels]:
    """Numbers and labels of the groups that a mapping or function sends labels to."""
    listed = list(labels)
    if isinstance(to, Mapping):
        absent = [label for label in listed if label not in to]
        if absent:
            raise ValueError(
                f"{name} has no entry for {len(absent)} of {len(listed)} groups, among "
                f"them {absent[:3]!r}; add them, or pass a function."
            )
        sent = [to[label] for label in listed]
    elif callable(to):
        sent = [to(label) for label in listed]
    else:
        raise TypeError(
            f"{name} must be a mapping from labels to labels or a function of a label; got "
            f"{_described(to)}."
        )
    if any(isinstance(label, list) for label in sent):
        raise TypeError(f"{name} gave a list as a label; give a tuple.")
    return encode_groups(object_array(sent), name)


def check_groups_given(groups: Any) -> None:
    if groups is None:
        raise TypeError(
            "groups must tell the group of each row; got None. For the AUC of rows without "
            "groups use sklearn.metrics.roc_auc_score or AUCPartial.from_predictions."
        )


# Groups that belong to the rows of X ---------------------------------------------------


def is_column_names(groups: Any) -> bool:
    """Whether this is the name of a column, or a list of names."""
    return isinstance(groups, str) or (
        isinstance(groups, list) and bool(groups) and all(isinstance(g, str) for g in groups)
    )


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


def columns_of(X: Any, names: list[str]) -> Any:
    """These columns of a DataFrame."""
    import narwhals.stable.v1 as nw

    if not nw.dependencies.is_into_dataframe(X):
        raise TypeError(
            f"groups names the column{'s' if len(names) > 1 else ''} "
            f"{', '.join(map(repr, names))} of X, but X arrived as {type(X).__name__} "
            "without named columns. Some tools turn X into a numpy array before they score; "
            "with these, let scikit-learn route the groups: "
            "sklearn.set_config(enable_metadata_routing=True), groups=None here, and "
            "groups=labels in fit (or params={'groups': labels})."
        )
    frame = nw.from_native(X, eager_only=True)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(
            f"groups names the column{'s' if len(absent) > 1 else ''} "
            f"{', '.join(map(repr, absent))}, not found in X. Its columns are "
            f"{', '.join(map(repr, frame.columns[:20]))}"
            f"{', ...' if len(frame.columns) > 20 else ''}."
        )
    return nw.to_native(frame.select(names))


def aligned(groups: Any, X: Any) -> Any:
    """The values of a pandas Series for the index labels of X, in the order of X."""
    if not hasattr(X, "index") or not hasattr(X, "columns"):
        raise TypeError(
            "groups is a pandas Series, to be aligned with the index of X, but X arrived as "
            f"{type(X).__name__} without an index. Some tools turn X into a numpy array "
            "before they score; with these, let scikit-learn route the groups: "
            "sklearn.set_config(enable_metadata_routing=True), groups=None here, and "
            "groups=labels in fit (or params={'groups': labels})."
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
