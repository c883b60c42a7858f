"""Counting of batches of rows in joblib workers, and merging of the counts."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skfedauc import _input
from skfedauc._words import shortened_text
from skfedauc.counts.agreement import Agreement
from skfedauc.counts.batch_sums import BatchSums
from skfedauc.counts.bins import Bins
from skfedauc.counts.checkpoint import Checkpoint
from skfedauc.counts.columns import Columns, arguments_of, check_columns, naming_columns
from skfedauc.counts.counting import count_rows
from skfedauc.counts.disclosure import Disclosure, check_disclosure
from skfedauc.counts.joining import within
from skfedauc.counts.levels import at_level
from skfedauc.counts.readers import is_lazy, is_path, read_batch
from skfedauc.counts.state import State
from skfedauc.counts.sums import sum_of, sum_within

# Packages of joblib backends that raise their own errors about workers
_BACKENDS = ("distributed", "ray")


def count_batches(
    batches: Iterable[Any],
    columns: Columns,
    *,
    pos_label: Any,
    missing: _input.Missing,
    n_jobs: int | None,
    verbose: int,
    checkpoint: str | os.PathLike[str] | None,
    disclosure: Disclosure,
    max_cells: int | None,
) -> State:
    """Check the arguments of `ScoreCounts.from_batches`, and count the batches."""
    check_label_and_score(columns)
    check_columns(columns)
    n_jobs = _input.check_n_jobs(n_jobs)
    verbose = _input.check_whole_number(verbose, "verbose", 0)
    missing = _input.check_missing(missing)
    level = check_disclosure(disclosure)
    merge: Callable[[list[State]], State] = sum_of
    if max_cells is not None:
        max_cells = _input.check_whole_number(max_cells, "max_cells")
        if level == "summary":
            raise ValueError("max_cells needs disclosure='bins' or 'exact'; got 'summary'.")
        merge = functools.partial(sum_within, max_cells=max_cells)
    count = functools.partial(
        count_batch,
        columns=columns,
        pos_label=pos_label,
        missing=missing,
        # Count exactly here, because `merge` refuses summaries with the same groups.
        disclosure="exact" if level == "summary" else level,
        has_ranges=max_cells is not None,
    )
    kept = None
    if checkpoint is not None:
        bins = level if isinstance(level, Bins) else None
        arguments = {**columns._asdict(), "pos_label": pos_label, "missing": missing}
        arguments |= {} if bins is None else {"disclosure": bins.to_dict()}
        arguments |= {} if max_cells is None else {"max_cells": max_cells}
        scores = functools.partial(scores_of, columns=columns, bins=bins)
        kept = Checkpoint(checkpoint, arguments, scores)
    whole = merged_batches(batches, count, merge, n_jobs=n_jobs, verbose=verbose, checkpoint=kept)
    return at_level(whole, level) if level == "summary" else whole


def check_label_and_score(columns: Columns) -> None:
    """Raise an error for columns without a label or score column."""
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


def count_batch(
    batch: Any,
    columns: Columns,
    pos_label: Any,
    missing: _input.Missing,
    disclosure: Disclosure,
    has_ranges: bool,
) -> State:
    """Count the rows of a batch; with `has_ranges`, binned and exact counts have ranges."""
    arguments = arguments_of_batch(batch, columns)
    with naming_columns(columns):
        rows = _input.check_rows(
            **arguments, pos_label=pos_label, missing=missing, warn_labels=False
        )
    names = _input.names_of(rows.labels, arguments.get("groups"))
    state = at_level(count_rows(rows, group_names=names), disclosure)
    if has_ranges:  # keep all cells
        state = within(state, max(state.cells.scores.size, 1))
    return state


def merged_batches(
    batches: Iterable[Any],
    count: Callable[[Any], State],
    merge: Callable[[list[State]], State],
    *,
    n_jobs: int | None,
    verbose: int,
    checkpoint: Checkpoint | None = None,
) -> State:
    """Count batches in joblib workers, a round at a time, and merge the results.

    The loop reads a round after the previous round has ended, because joblib's generators read
    ahead and keep all waiting batches in memory. The loop merges the results of the rounds once
    they are as large as the sum. Memory then stays within a small multiple of the sum, and each
    cell enters only a few merges.
    """
    _refuse_single_batch(batches)
    n_workers = effective_n_jobs(n_jobs)
    in_flight = 1 if n_workers == 1 else 2 * n_workers
    numbered = _numbered(batches if in_flight == 1 else map(_for_workers, batches))
    agreement = Agreement(
        "batches", "text by .astype(str)", "pass groups with every batch, or with none"
    )
    sums = BatchSums(merge, checkpoint)
    if checkpoint is not None:
        if sums.done.merged is not None:
            agreement.check("the checkpoint", sums.done.merged)
        numbered = checkpoint.after_those_done(numbered)
    began = time.monotonic()
    with sums, Parallel(n_jobs=n_jobs) as workers:
        while batch_round := list(itertools.islice(numbered, in_flight)):
            first = sums.done.n_batches
            parts = _counted_round(workers, count, batch_round, first, checkpoint)
            for number, state in enumerate(parts, start=first):
                agreement.check(f"batch {number}", state)
            sums.add(parts)
            batch_round.clear()
            if verbose > 0:
                took = time.monotonic() - began
                print(f"{sums.done.n_batches} batches counted in {took:.1f} s", file=sys.stderr)
            sums.merge_if_due()
    return sums.whole()


def _refuse_single_batch(batches: Any) -> None:
    """Raise an error for a table, a path and other objects that are not iterables of batches."""
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


def _counted_round(
    workers: Any,
    count: Callable[[Any], State],
    batch_round: list[tuple[int, Any]],
    first: int,
    checkpoint: Checkpoint | None,
) -> list[State]:
    """Return the counts of the batches of a round; its first batch has the number `first`."""
    try:
        return list(workers(delayed(_counted_batch)(count, *item) for item in batch_round))
    except Exception as error:
        # Ray wraps the error that a worker raises.
        wrapped = getattr(error, "cause", None)
        raised = wrapped if isinstance(wrapped, Exception) else error
        if not _is_of_worker(raised):
            raise raised from (error if raised is not error else error.__cause__)
        raise _lost(raised, first, first + len(batch_round) - 1, checkpoint) from error


def _is_of_worker(error: Exception) -> bool:
    """Return whether an error reports a lost worker rather than an invalid batch."""
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, BrokenExecutor) or package in _BACKENDS


def _lost(error: Exception, first: int, last: int, checkpoint: Checkpoint | None) -> RuntimeError:
    """Return the error for a worker that failed or ended early, for instance without memory."""
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
    """Return a batch for the workers: copies of arrays, or an absolute path.

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


def _counted_batch(count: Callable[[Any], State], number: int, batch: Any) -> State:
    try:
        return count(batch)
    except Exception as error:
        raise _error_in_batch(error, number, batch) from error


def _error_in_batch(error: Exception, number: int, batch: Any = None) -> Exception:
    """Return an error that names the file of the batch, for an error in this batch."""
    name = f"batch {number}"
    if is_path(batch):
        name += f" ({shortened_text(repr(os.fspath(batch)), 500)})"
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(f"{name}: {error}")
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")
