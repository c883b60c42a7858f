"""One-dimensional arrays from whatever users pass: scores, weights, counts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_length(name: str, size: int, other: str, other_size: int) -> None:
    if size != other_size:
        raise ValueError(
            f"{name} has {size} rows and {other} has {other_size}: pass one value of "
            f"{name} for each row of {other}."
        )


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here."""
    package = __name__.partition(".")[0]
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != package and module != "functools":
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def column_of(values: Any, name: str) -> NDArray[Any]:
    """A one-dimensional numpy array from any supported column."""
    if isinstance(values, np.ndarray):
        array = values
    elif isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise TypeError(
            f"{name} must be a one-dimensional array with one value per row; got "
            f"{described(values)}."
        )
    elif isinstance(values, Mapping | set | frozenset):
        raise TypeError(
            f"{name} must be a one-dimensional array with one value per row; got a "
            f"{type(values).__name__}, whose order says nothing about rows."
        )
    else:
        try:
            array = np.asarray(values)
            if array.dtype.kind in "US" and not all(isinstance(v, str) for v in values):
                array = object_array(values)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{name} must be a one-dimensional array; got {described(values)}, "
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


def described(values: Any) -> str:
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
    if weights.size and float(weights.max()) > 1e100:
        raise ValueError(
            f"{name} must be at most 1e100, since products of weights are added up; got "
            f"{weights.max():.3g}. Divide all weights by their mean."
        )
    positive = weights[(weights > 0) & (weights < 1e-100)]
    if positive.size:
        raise ValueError(
            f"{name} must be 0 or at least 1e-100, since products of weights are added up; got "
            f"{positive.min():.3g}. Divide all weights by their mean."
        )
    return weights


def check_n_jobs(n_jobs: Any) -> int | None:
    """Number of jobs as joblib takes it."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0; got {n_jobs!r}.")
    return int(n_jobs)


def check_counts(values: Any, name: str) -> NDArray[np.int64]:
    """Whole numbers, none below 0."""
    counts = column_of(values, name)
    if counts.dtype.kind in "iub" and (
        counts.dtype != np.uint64 or counts.max(initial=0) < 1 << 63
    ):
        whole = counts.astype(np.int64)
    else:
        floats = check_scores(counts, name)
        with np.errstate(invalid="ignore"):
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
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        low, high = int(array.min()), int(array.max())
        if max(-low, high) > 1 << 53:
            raise ValueError(
                f"{name} holds integers beyond 2**53 ({low} to {high}), which would tie as "
                "floats; pass their ranks, for instance scipy.stats.rankdata(y_score)."
            )
    return np.ascontiguousarray(array, np.float64)


def count_missing(values: NDArray[Any]) -> int:
    """Number of None, NaN, NaT and pandas.NA in a one-dimensional array."""
    if values.dtype.kind in "biuUS":
        return 0
    if values.dtype.kind in "fmM":
        return int(np.isnan(values).sum() if values.dtype.kind == "f" else np.isnat(values).sum())
    import pandas as pd

    return int(pd.isna(values).sum())


def object_array(items: Iterable[Any]) -> NDArray[Any]:
    """A one-dimensional array of objects, tuples left whole."""
    listed = list(items)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array
