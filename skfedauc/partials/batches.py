"""Batches of rows: what they hold, read one at a time, counted by workers, merged."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from joblib import Parallel, delayed

from skfedauc import _validation as validation


class Columns(NamedTuple):
    """Names of the columns of batches that are DataFrames."""

    label: str | None
    score: str | None
    group: str | list[str] | None
    weight: str | None


class _Sized(Protocol):
    @property
    def _n_cells(self) -> int: ...


P = TypeVar("P", bound=_Sized)


class _Unread(NamedTuple):
    """Stands for the batch that could not be read."""

    error: Exception


def check_columns(columns: Columns) -> None:
    """Refuse names that do not tell where labels and scores are."""
    named = [name for name, value in columns._asdict().items() if value is not None]
    if named and (columns.label is None or columns.score is None):
        raise ValueError(
            f"batches of DataFrames need both label= and score=, the names of columns; got "
            f"{', '.join(named)} only."
        )
    for name in ("label", "score", "weight"):
        value = getattr(columns, name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column; got {value!r}.")
    if columns.group is not None and not validation.is_column_names(columns.group):
        raise TypeError(f"group must be a column's name or a list of names; got {columns.group!r}.")


def arguments_of(batch: Any, columns: Columns) -> dict[str, Any]:
    """The rows of a batch, by name of argument."""
    if columns.label is None:
        if not isinstance(batch, tuple | list) or not 2 <= len(batch) <= 4:
            raise TypeError(
                "a batch must be a tuple (y_true, y_score[, groups[, sample_weight]]), or a "
                "DataFrame with the columns named by label=, score=, group= and weight=; got "
                f"{type(batch).__name__}"
                f"{f' of {len(batch)} items' if isinstance(batch, tuple | list) else ''}."
            )
        names = ("y_true", "y_score", "groups", "sample_weight")
        return dict(zip(names, batch, strict=False))
    frame = _as_frame(batch)
    label, score, group, weight = columns
    found = {
        "y_true": validation.column_named(frame, label),
        "y_score": validation.column_named(frame, score),
    }
    if group is not None:
        by_name = [group] if isinstance(group, str) else group
        found["groups"] = validation.columns_of(frame, by_name)
    if weight is not None:
        found["sample_weight"] = validation.column_named(frame, weight)
    return found


def _as_frame(batch: Any) -> Any:
    """The batch, or the table of a pyarrow RecordBatch, as Parquet files are read by."""
    if type(batch).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([batch])
    return batch


def merged_batches(
    batches: Iterable[Any],
    count: Callable[[Any], P],
    merge: Callable[[Iterable[P]], P],
    *,
    n_jobs: int | None,
    verbose: int,
) -> P:
    """Count batches in joblib workers and merge the results as they come.

    What has come is merged into the state whenever it is as large as the state, so that the
    memory taken stays within a small multiple of it and each cell is merged a few times only.
    """
    jobs = (delayed(_counted_batch)(count, *item) for item in _numbered(batches))
    workers = Parallel(n_jobs=n_jobs, verbose=verbose, return_as="generator")
    state: list[P] = []
    waiting: list[P] = []
    for partial in workers(jobs):
        waiting.append(partial)
        size = sum(part._n_cells for part in state)
        if sum(part._n_cells for part in waiting) >= max(size, 1 << 16):
            state, waiting = [merge([*state, *waiting])], []
    if not state and not waiting:
        raise ValueError("batches is empty: there is nothing to count.")
    return merge([*state, *waiting])


def _numbered(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Batches with their number; one that cannot be read ends them and tells why."""
    numbers = itertools.count()
    try:
        for batch in batches:
            yield next(numbers), batch
    except Exception as error:
        yield next(numbers), _Unread(error)


def _counted_batch(count: Callable[[Any], P], number: int, batch: Any) -> P:
    try:
        if isinstance(batch, _Unread):
            raise batch.error
        return count(batch)
    except Exception as error:
        kind = next((k for k in (TypeError, ValueError) if isinstance(error, k)), RuntimeError)
        reason = str(error) if kind is not RuntimeError else f"{type(error).__name__}: {error}"
        raise kind(f"batch {number}: {reason}") from error
