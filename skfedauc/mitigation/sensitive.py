"""What a mitigator gets: labels of two classes, and the sensitive columns of X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from skfedauc import _input, _words


class Target(NamedTuple):
    """Classes and labels of the rows.

    Attributes
    ----------
    classes : ndarray, shape (2,)
        Sorted labels.
    codes : int array, shape (n_rows,)
        Index (0 or 1) in `classes` of each row's label.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]


def target_of(y: Any, owner: Any) -> Target:
    """Return the two classes, and the labels of the rows as codes 0 and 1."""
    if y is None:
        raise ValueError(
            f"{type(owner).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(_input.from_array_api(y), warn=True)
    classes, codes = _input.class_labels(y)
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y "
            f"has {classes.size} classes, {', '.join(map(repr, classes[:4].tolist()))}"
            f"{', ...' if classes.size > 4 else ''}. Pass y == label for one class versus rest."
        )
    if classes.size < 2:
        raise ValueError(
            f"y has only one class, {_words.shortened(classes.tolist()[0])}; "
            f"{type(owner).__name__} needs rows of two classes."
        )
    return Target(classes, codes.astype(np.int64))


# Names or positions of columns: all strings or all integers.
Columns: TypeAlias = list[Any]


def check_columns(groups: Any) -> Columns:
    """Return the names or positions of the sensitive columns as a list."""
    several = isinstance(groups, list | tuple)
    columns = list(groups) if several else [groups]
    are_positions = all(
        isinstance(c, int | np.integer) and not isinstance(c, bool) and c >= 0 for c in columns
    )
    if not columns or not (_input.is_column_names(columns) or are_positions):
        raise TypeError(
            "groups must be the name of a column of X or a list of names; if X is an array, "
            "it must be a position from 0 or a list of positions; got "
            f"{_words.shortened(groups)}."
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"groups must name different columns; got {_words.shortened(groups)}.")
    return columns


def checked(estimator: Any, X: Any, reset: bool) -> Any:
    """Check the columns of X, and return X as a DataFrame of its library or as an array.

    With `reset`, the estimator stores the names and the column count.
    """
    X = _input.from_array_api(_input.unwrapped(X))
    if is_frame(X):
        names_of(X)  # refuses repeated names
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    return validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)


def is_frame(X: Any) -> bool:
    return nw.dependencies.is_into_dataframe(X)


def names_of(X: Any) -> list[str]:
    """Return the names of the columns of X; an empty list for an array."""
    try:
        return list(nw.from_native(X, eager_only=True).columns) if is_frame(X) else []
    except DuplicateError as error:
        repeated = " ".join(str(error).split()).partition("- ")[2]
        raise ValueError(f"X has several columns of one name, {repeated}; rename them.") from error


def select(X: Any, columns: Columns) -> list[Any]:
    """Return the sensitive columns of a DataFrame or an array."""
    _check_present(X, columns)
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return [nw.to_native(frame.get_column(name)) for name in columns]
    return [X[:, position] for position in columns]


def _check_present(X: Any, columns: Columns) -> None:
    """Refuse names and positions that X lacks."""
    shown = _words.all_shortened(columns)
    plural = "s" if len(columns) > 1 else ""
    if is_frame(X):
        names = names_of(X)
        if not set(columns) <= set(names):
            raise ValueError(
                f"groups requires the column{plural} {shown} of X; the columns of X are "
                f"{_words.listed(names)}."
            )
    elif _input.is_column_names(columns):
        raise TypeError(
            f"groups names the column{plural} {shown} of X, but X arrived as "
            f"{type(X).__name__} without named columns: pass a DataFrame. If earlier steps of a "
            "pipeline return arrays, make them return DataFrames: "
            "pipeline.set_output(transform='pandas')."
        )
    elif max(columns) >= X.shape[1]:
        raise ValueError(
            f"groups has the position{plural} {shown}, but X has {X.shape[1]} feature(s), "
            "counted from 0."
        )


def without(X: Any, columns: Columns) -> Any:
    """Return X without these columns."""
    _check_present(X, columns)
    if len(columns) == X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} feature(s), all of them in groups, so that no feature is left "
            "to learn from; add features, or pass drop=False."
        )
    if is_frame(X):
        return nw.to_native(nw.from_native(X, eager_only=True).drop(columns))
    return np.delete(X, columns, axis=1)


def like(X: Any, values: NDArray[np.float64]) -> Any:
    """Return values as a DataFrame like X (library, names, index); unchanged if X is an array."""
    if not is_frame(X):
        return values
    if nw.dependencies.is_pandas_dataframe(X):
        return pd.DataFrame(values, index=X.index, columns=X.columns)
    columns = {name: values[:, place] for place, name in enumerate(names_of(X))}
    kind = nw.get_native_namespace(nw.from_native(X, eager_only=True))
    return nw.to_native(nw.from_dict(columns, backend=kind))


def labels_of(columns: Sequence[Any]) -> NDArray[Any]:
    """Return labels of shape (n_rows,), or (n_rows, n_columns) with several columns."""
    labels = []
    for column in columns:
        codes, known = _input.encode_groups(column, "groups")
        # Fairlearn compares labels, which fails for dates.
        labels.append((known.astype(str) if known.dtype.kind == "M" else known)[codes])
    if len(labels) == 1:
        return labels[0]
    return np.column_stack([column.astype(object) for column in labels])


class KnownGroups:
    """Groups of the rows of fit.

    Parameters
    ----------
    labels : ndarray, shape (n_rows,) or (n_rows, n_columns)
    """

    def __init__(self, labels: NDArray[Any]) -> None:
        self._groups = _input.encode_groups(labels, "groups")[1].tolist()
        self.size = len(self._groups)

    def check(self, labels: NDArray[Any], lack: str) -> None:
        """Raise a ValueError that names `lack` for rows of groups absent from fit."""
        codes, groups = _input.encode_groups(labels, "groups")
        unknown = [group not in self._groups for group in groups.tolist()]
        if any(unknown):
            names = ", ".join(map(repr, groups[unknown].tolist()[:5]))
            raise ValueError(
                f"groups has {int(np.asarray(unknown)[codes].sum())} of {codes.size} rows in "
                f"groups that were absent in fit ({names}), so there is no {lack} for "
                f"them; the groups of fit are {', '.join(map(repr, self._groups[:10]))}"
                f"{', ...' if len(self._groups) > 10 else ''}."
            )


class CenteredNumbers:
    """Sensitive columns as numbers with mean 0; a text column becomes one indicator per label.

    Parameters
    ----------
    columns : sequence of columns
        Sensitive columns of the training rows.
    """

    def __init__(self, columns: Sequence[Any]) -> None:
        self._known: list[KnownGroups | None] = []
        self._labels: list[NDArray[Any]] = []
        for column in columns:
            is_numeric = _numbers(column) is not None
            labels = np.empty(0) if is_numeric else labels_of([column])
            self._known.append(None if is_numeric else KnownGroups(labels))
            self._labels.append(np.unique(labels))
        self._means = self._numbers(columns).mean(axis=0)

    def of(self, columns: Sequence[Any]) -> NDArray[np.float64]:
        """Return the centered numbers of these rows, shape (n_rows, n_numbers)."""
        centered: NDArray[np.float64] = self._numbers(columns) - self._means
        return centered

    def _numbers(self, columns: Sequence[Any]) -> NDArray[np.float64]:
        parts = []
        for column, known, labels in zip(columns, self._known, self._labels, strict=True):
            numbers = _numbers(column)
            if known is None and numbers is not None:
                parts.append(numbers[:, np.newaxis])
                continue
            values = labels_of([column])
            if known is None:
                raise TypeError(
                    "groups held numbers in fit, but now holds labels such as "
                    f"{_words.shortened(values[:1].tolist()[0])}; pass columns of numbers."
                )
            known.check(values, "correlation")
            parts.append((values[:, np.newaxis] == labels).astype(np.float64))
        return np.hstack(parts)


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """Return a column of numbers or booleans as floats; None for other columns."""
    if isinstance(column, np.ndarray):
        is_text = column.dtype.kind not in "biufO" or any(
            isinstance(value, str) for value in column if column.dtype.kind == "O"
        )
        numbers = None if is_text else column.astype(np.float64)
    else:
        series = nw.from_native(column, series_only=True)
        is_number = series.dtype.is_numeric() or series.dtype == nw.Boolean
        numbers = series.cast(nw.Float64).to_numpy() if is_number else None
    return None if numbers is None else _input.check_scores(numbers, "groups")
