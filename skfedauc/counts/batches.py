"""Batches of rows: counted by joblib workers, a few at a time, and merged."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any, Generic, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skfedauc import _input
from skfedauc.counts.agreement import Agreement
from skfedauc.counts.bins import Bins
from skfedauc.counts.checkpoint import Checkpoint
from skfedauc.counts.columns import Columns, arguments_of
from skfedauc.counts.readers import is_lazy, is_path, read_batch
from skfedauc.counts.state import P

# Packages of joblib backends whose own errors are about workers and not about batches
_BACKENDS = ("distributed", "ray")


def check_label_and_score(columns: Columns) -> None:
    """Refuse columns without a label or score column."""
    named = [name for name, value in columns._asdict().items() if value is not None]
    if named and (columns.label is None or columns.score is None):
        raise ValueError(
            f"batches of DataFrames need both label= and score=, the names of columns; got "
            f"{', '.join(named)} only."
        )


def arguments_of_batch(batch: Any, columns: Columns) -> dict[str, Any]:
    """Read a batch, and return its columns by argument of `from_predictions`."""
    batch = read_batch(batch, columns)
    if columns.label is None:
        if not isinstance(batch, tuple | list) or not 2 <= len(batch) <= 4:
            raise TypeError(
                "a batch must be a tuple (y_true, y_score[, groups[, sample_weight]]), or a "
                "DataFrame with the columns named by label=, score=, group= and weight=, or the "
                f"path of a file with these columns, or a function that returns one; got "
                f"{type(batch).__name__}"
                f"{f' of {len(batch)} items' if isinstance(batch, tuple | list) else ''}."
            )
        names = ("y_true", "y_score", "groups", "sample_weight")
        return dict(zip(names, batch, strict=False))
    return arguments_of(batch, columns)


def scores_of(batch: Any, columns: Columns, bins: Bins | None = None) -> Any:
    """Return the scores of a batch, or the numbers of their bins."""
    scores = _input.column_of(arguments_of_batch(batch, columns)["y_score"], "y_score")
    return scores if bins is None else bins.numbers_of(scores)


def merged_batches(
    batches: Iterable[Any],
    count: Callable[[Any], P],
    merge: Callable[[list[P]], P],
    *,
    n_jobs: int | None,
    verbose: int,
    checkpoint: Checkpoint[P] | None = None,
) -> P:
    """Count batches in joblib workers, a round at a time, and merge the results.

    A round is read only after the previous round is counted, because joblib's generators read ahead
    and keep all waiting batches in memory. Results are merged into the sum whenever the results are
    as large as the sum. Memory then stays within a small multiple of the sum, and each cell is
    merged only a few times.
    """
    if is_lazy(batches):
        raise TypeError(
            "batches must be an iterable of batches; got a single "
            f"{_input.kind_in_words(batches)}. Pass it to ScoreCounts.from_table."
        )
    if isinstance(batches, str | bytes) or not hasattr(batches, "__iter__"):
        mend = " Pass [path] to count one file." if is_path(batches) else ""
        raise TypeError(
            f"batches must be an iterable of batches; got {type(batches).__name__}.{mend}"
        )
    if hasattr(batches, "columns") or hasattr(batches, "column_names"):
        raise TypeError(
            f"batches must be an iterable of batches; got a single {type(batches).__name__}. Pass "
            "it to ScoreCounts.from_table, or [table] to count it as one batch."
        )
    agreement = Agreement(
        "batches", "text by .astype(str)", "pass groups with every batch, or with none"
    )
    n_workers = effective_n_jobs(n_jobs)
    in_flight = 1 if n_workers == 1 else 2 * n_workers
    numbered = _numbered(batches if in_flight == 1 else map(_for_workers, batches))
    done: _Done[P] = _Done(0, [], [])
    if checkpoint is not None:
        n_done, state = checkpoint.read()
        done = _Done(n_done, state, [])
        for counts in state:
            agreement.check("the checkpoint", counts)
        numbered = checkpoint.after_those_done(numbered)
    n_kept, began = done.n_batches, time.monotonic()
    try:
        with Parallel(n_jobs=n_jobs) as workers:
            while batch_round := list(itertools.islice(numbered, in_flight)):
                try:
                    counted = workers(delayed(_counted_batch)(count, *item) for item in batch_round)
                except Exception as error:
                    # Ray wraps the error that a worker raises.
                    wrapped = getattr(error, "cause", None)
                    raised = wrapped if isinstance(wrapped, Exception) else error
                    if not _is_of_worker(raised):
                        raise raised from (error if raised is not error else error.__cause__)
                    last = done.n_batches + len(batch_round) - 1
                    raise _lost(raised, done.n_batches, last, checkpoint) from error
                parts = list(counted)
                for number, counts in enumerate(parts, start=done.n_batches):
                    agreement.check(f"batch {number}", counts)
                # A single assignment ensures that an interrupt leaves each batch either counted or
                # not counted.
                done = done.with_round(parts)
                batch_round.clear()
                if verbose > 0:
                    took = time.monotonic() - began
                    print(f"{done.n_batches} batches counted in {took:.1f} s", file=sys.stderr)
                if done.is_to_merge():
                    done = done.merged(merge)
                if checkpoint is not None and checkpoint.is_due():
                    done = done.merged(merge)
                    checkpoint.write(done.n_batches, done.state[0])
                    n_kept = done.n_batches
    except BaseException:
        if checkpoint is not None and done.n_batches > n_kept:
            done = done.merged(merge)
            checkpoint.write(done.n_batches, done.state[0])
        raise
    if not done.n_batches:
        raise ValueError("batches is empty: there is nothing to count.")
    (whole,) = done.merged(merge).state
    if checkpoint is not None:
        checkpoint.remove()
    return whole


class _Done(NamedTuple, Generic[P]):
    """Batches counted so far: merged counts, and counts to be merged.

    Attributes
    ----------
    n_batches : int
    state : list of at most one ScoreCounts
        The merged counts; empty before the first merge.
    waiting : list of score counts
        Counts of batches that are not merged yet.
    """

    n_batches: int
    state: list[P]
    waiting: list[P]

    def with_round(self, parts: list[P]) -> _Done[P]:
        return _Done(self.n_batches + len(parts), self.state, [*self.waiting, *parts])

    def is_to_merge(self) -> bool:
        size = sum(part.cells.scores.size for part in self.state)
        return sum(part.cells.scores.size for part in self.waiting) >= max(size, 1 << 16)

    def merged(self, merge: Callable[[list[P]], P]) -> _Done[P]:
        return self._replace(state=[merge([*self.state, *self.waiting])], waiting=[])


def _is_of_worker(error: Exception) -> bool:
    """Return whether an error says that a worker was lost, rather than that a batch is invalid."""
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, BrokenExecutor) or package in _BACKENDS


def _lost(
    error: Exception, first: int, last: int, checkpoint: Checkpoint[Any] | None
) -> RuntimeError:
    """Return the error for a worker that was killed, for instance when out of memory, or failed."""
    kind = type(error).__name__
    is_killed = isinstance(error, BrokenExecutor) or "Killed" in kind or "Died" in kind
    what = "was killed, perhaps for lack of memory,"
    if not is_killed:
        lines = str(error).split("\n")
        what = f"failed ({kind}: {next((line for line in lines[::-1] if line.strip()), '')})"
    lost = f"batch {first}" if first == last else f"batches {first} to {last}"
    before = "no batch was counted before"
    if first:
        before = f"the {first:,} before {'was' if first == 1 else 'were'} counted"
    advice = "; checkpoint=path would keep what is counted"
    if checkpoint is not None:
        advice = f", which {checkpoint.path!r} keeps: call again with the same batches to go on"
    return RuntimeError(
        f"a worker {what} while {lost} were counted: {lost} and all later batches are not counted; "
        f"{before}{advice}."
    )


def _for_workers(batch: Any) -> Any:
    """Return a batch that workers can read: with copied arrays, or with an absolute path.

    A reader may reuse the buffers of arrays, and workers may have another working directory.
    """
    if is_path(batch):
        return os.path.abspath(batch)
    if not isinstance(batch, tuple | list):
        return batch
    return tuple(np.array(c) if isinstance(c, np.ndarray) else c for c in batch)


def _numbered(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield batches with their number; errors of the reader name the batch."""
    numbers = itertools.count()
    try:
        for batch in batches:
            yield next(numbers), batch
    except Exception as error:
        raise _error_in_batch(error, next(numbers)) from error


def _counted_batch(count: Callable[[Any], P], number: int, batch: Any) -> P:
    try:
        return count(batch)
    except Exception as error:
        raise _error_in_batch(error, number, batch) from error


def _error_in_batch(error: Exception, number: int, batch: Any = None) -> Exception:
    """Return the error to raise for an error in a batch; it names the file of the batch."""
    name = f"batch {number} ({os.fspath(batch)!r})" if is_path(batch) else f"batch {number}"
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(f"{name}: {error}")
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")
