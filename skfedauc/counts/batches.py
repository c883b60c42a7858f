"""Batches counted in joblib workers: reading, counting and merging, and the checkpoint file."""

from __future__ import annotations

import csv
import datetime
import functools
import gzip
import inspect
import itertools
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skfedauc import _input, _words
from skfedauc._output_file import check_target, write_whole
from skfedauc.counts.bins import Bins
from skfedauc.counts.disclosure import Disclosure, check_rule
from skfedauc.counts.files import content_of, entry_of, read_content
from skfedauc.counts.merging import Agreement, sum_of
from skfedauc.counts.parquet import pyarrow_parquet, read_file
from skfedauc.counts.reducing import at_level, reduced, within
from skfedauc.counts.state import State
from skfedauc.counts.tables import Columns, arguments_of, check_columns, counted_rows

ENDINGS = (".parquet", ".csv", ".csv.gz")
# Packages of joblib backends that raise their own errors about workers
_BACKENDS = ("distributed", "ray")
# Largest share of the run time for writing the checkpoint
_SHARE = 0.1


def count_batches(
    batches: Iterable[Any],
    columns: Columns,
    *,
    pos_label: Any,
    missing: _input.Missing,
    n_jobs: int | None,
    verbose: int,
    checkpoint: str | os.PathLike[str] | None,
    disclosure: Any,
    max_cells: int | None,
) -> State:
    """Check `ScoreCounts.from_batches`'s arguments, and count the batches."""
    named = [name for name, value in columns._asdict().items() if value is not None]
    if named and (columns.label is None or columns.score is None):
        raise ValueError(
            f"batches of DataFrames need both label= and score=, the names of columns; got "
            f"{', '.join(named)} only."
        )
    check_columns(columns)
    n_jobs = _input.check_n_jobs(n_jobs)
    verbose = _input.check_whole_number(verbose, "verbose", 0)
    missing = _input.check_missing(missing)
    rule = check_rule(disclosure)
    if max_cells is not None:
        max_cells = _input.check_whole_number(max_cells, "max_cells")
        if rule.level == "summary" or rule.min_count is not None:
            got = "'summary'" if rule.level == "summary" else repr(rule)
            raise ValueError(f"max_cells needs disclosure='bins' or 'exact'; got {got}.")
    # Workers count each batch by bins, so that no scores leave them. Summaries of the same groups
    # cannot be merged, and small counts are those of all rows: both follow at the end.
    of_batch = Disclosure(rule.level, rule.bins) if rule.level == "bins" else Disclosure()
    count = functools.partial(
        count_batch,
        columns=columns,
        pos_label=pos_label,
        missing=missing,
        rule=of_batch,
        has_ranges=max_cells is not None,
    )
    kept = None
    if checkpoint is not None:
        arguments = {**columns._asdict(), "pos_label": pos_label, "missing": missing}
        arguments |= {} if rule.bins is None else {"disclosure": rule.bins.to_dict()}
        arguments |= {} if max_cells is None else {"max_cells": max_cells}
        kept = Checkpoint(checkpoint, arguments, functools.partial(scores_of, columns, rule.bins))
    whole = _merged_batches(batches, count, max_cells, n_jobs, verbose, kept)
    _input.warn_if_misspelled(whole.classes)
    return whole if rule == of_batch else reduced(whole, rule)


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


def scores_of(columns: Columns, bins: Bins | None, batch: Any) -> Any:
    """Return a batch's scores, or their bin numbers."""
    scores = _input.column_of(arguments_of_batch(batch, columns)["y_score"], "y_score")
    return scores if bins is None else bins.numbers_of(scores)


def count_batch(
    batch: Any,
    columns: Columns,
    pos_label: Any,
    missing: _input.Missing,
    rule: Disclosure,
    has_ranges: bool,
) -> State:
    """Count a batch; with `has_ranges`, binned and exact counts have ranges."""
    arguments = arguments_of_batch(batch, columns)
    state = counted_rows(arguments, columns, pos_label, missing, warn_labels=False)
    state = at_level(state, rule)
    if has_ranges:  # keep all cells
        state = within(state, max(state.cells.scores.size, 1))
    return state


def _merged_batches(
    batches: Iterable[Any],
    count: Callable[[Any], State],
    max_cells: int | None,
    n_jobs: int | None,
    verbose: int,
    checkpoint: Checkpoint | None,
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
    sums = _Sums(max_cells, checkpoint)
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
    """Return a round's counts by batch; its first batch has the number `first`."""
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
    """Return a batch for the workers: copied arrays, or an absolute path.

    A reader may reuse its buffers, and workers may have another working directory.
    """
    if is_path(batch):
        return os.path.abspath(batch)
    if not isinstance(batch, tuple | list):
        return batch
    return tuple(np.array(c) if isinstance(c, np.ndarray) else c for c in batch)


def _numbered(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield batches with their number; reader errors name the batch."""
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
    """Return an error that names the batch's file, for an error in this batch."""
    name = f"batch {number}"
    if is_path(batch):
        name += f" ({_words.shortened_text(repr(os.fspath(batch)), 500)})"
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(f"{name}: {error}")
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")


# Sums of batches -----------------------------------------------------------------------------


class _Done(NamedTuple):
    """Counts from the first batches: merged ones, and ones that wait for the next merge."""

    n_batches: int = 0
    merged: State | None = None
    waiting: tuple[State, ...] = ()


class _Sums:
    """Summed batch counts; a checkpoint keeps the sum if counting ends early.

    A single assignment replaces `done`, so that an interrupt cannot leave a batch partly counted.
    """

    def __init__(self, max_cells: int | None, checkpoint: Checkpoint | None) -> None:
        self._max_cells, self._checkpoint = max_cells, checkpoint
        self.done = _Done() if checkpoint is None else _Done(*checkpoint.read())
        self._n_kept = self.done.n_batches

    def add(self, parts: list[State]) -> None:
        """Append a round's batch counts, without merging them."""
        done = self.done
        self.done = _Done(done.n_batches + len(parts), done.merged, (*done.waiting, *parts))

    def merge_if_due(self) -> None:
        """Merge the appended counts if they are large, and write the checkpoint after some time."""
        size = 0 if self.done.merged is None else self.done.merged.cells.scores.size
        if sum(part.cells.scores.size for part in self.done.waiting) >= max(size, 1 << 16):
            self._merge_all()
        if self._checkpoint is not None and self._checkpoint.is_due():
            self._keep(self._checkpoint)

    def whole(self) -> State:
        """Return the sum over all batches; the checkpoint stays until the caller has saved it."""
        if not self.done.n_batches:
            raise ValueError("batches is empty: there is nothing to count.")
        whole = self._merge_all()
        if self._checkpoint is not None and self.done.n_batches > self._n_kept:
            try:
                self._keep(self._checkpoint)
            except OSError as error:  # the counts are in memory, and an error would lose them
                _input.warn(
                    f"the checkpoint does not have the last batches: {error}. Save the result "
                    "elsewhere.",
                    UserWarning,
                )
        return whole

    def _merge_all(self) -> State:
        before = [] if self.done.merged is None else [self.done.merged]
        merged = sum_of([*before, *self.done.waiting])
        if self._max_cells is not None:
            merged = within(merged, self._max_cells)
        self.done = _Done(self.done.n_batches, merged)
        return merged

    def _keep(self, checkpoint: Checkpoint) -> None:
        checkpoint.write(self.done.n_batches, self._merge_all())
        self._n_kept = self.done.n_batches

    def __enter__(self) -> _Sums:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        checkpoint = self._checkpoint
        if kind is not None and checkpoint is not None and self.done.n_batches > self._n_kept:
            self._keep(checkpoint)


# Reading of batches --------------------------------------------------------------------------


def is_path(batch: Any) -> bool:
    """Return whether a batch is a file's path."""
    return isinstance(batch, str | os.PathLike)


def read_batch(batch: Any, columns: Columns) -> Any:
    """Read a file or call a function, and return the rows; return other batches unchanged."""
    if is_path(batch):
        return _read_file(os.fspath(batch), columns)
    rows = batch() if callable(batch) else batch
    if is_path(rows):
        raise TypeError(
            f"the function returns the path {_words.shortened(os.fspath(rows))}; pass the path "
            "itself as the batch."
        )
    if is_lazy(rows):
        raise TypeError(
            f"the rows of a {_input.kind_in_words(rows)} are not in memory: collect them into a "
            "DataFrame, in polars by .collect(), or pass the table to ScoreCounts.from_table."
        )
    return rows


def is_lazy(table: Any) -> bool:
    """Return whether a table keeps its rows outside memory."""
    if isinstance(table, tuple | list):
        return False
    # The import is local because counting rows in arrays does not need narwhals.
    import narwhals.stable.v2 as nw

    # narwhals refuses a DataFrame with repeated names, whatever the columns in use.
    if nw.dependencies.is_into_dataframe(table):
        return False
    return isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame)


def _read_file(path: str, columns: Columns) -> Any:
    """Return a Parquet or CSV file's columns by name."""
    if columns.label is None:
        raise TypeError("files need label= and score=, the names of columns.")
    ending = next((end for end in ENDINGS if path.lower().endswith(end)), None)
    if ending is None:
        raise ValueError(f"the name of a file must end in {_words.enumerated(ENDINGS, 'or')}.")
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError('files need pyarrow: pip install "skfedauc[files]"') from error
    try:
        return _read_parquet(path, columns) if ending == ".parquet" else _read_csv(path, columns)
    except pa.ArrowException as error:
        raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _read_parquet(path: str, columns: Columns) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read(_needed(columns, file.schema_arrow.names))
    table.validate(full=True)
    return table


def _read_csv(path: str, columns: Columns) -> Any:
    """Return a CSV file's columns, with group labels as text, since 007 is not the number 7."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator, _ = _input.header_of(functools.partial(_header, path))
    layout = arrow_csv.ParseOptions(delimiter=separator)
    with arrow_csv.open_csv(path, parse_options=layout) as reader:
        needed = _needed(columns, reader.schema.names)
    groups = columns.by_argument.get("group", [])
    # Only empty cells are missing values, because NA may be the label of a group.
    options = arrow_csv.ConvertOptions(
        include_columns=needed,
        column_types={name: pa.string() for name in groups},
        null_values=[""],
        strings_can_be_null=True,
    )
    table = arrow_csv.read_csv(path, parse_options=layout, convert_options=options)
    for name in groups:
        labels = _without_zero_decimals(table[name])
        table = table.set_column(table.column_names.index(name), name, labels)
    return table


def _header(path: str, separator: str) -> list[str]:
    """Return the cells in the first line that is not empty."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    # Replace invalid UTF-8 here; pyarrow raises the error later.
    with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(filter(None, csv.reader(lines, delimiter=separator)), [])


def _without_zero_decimals(labels: Any) -> Any:
    """Remove the ending ".0" if all texts in a column are integers with this ending."""
    import pyarrow as pa
    from pyarrow import compute

    known = labels.unique().drop_null()
    written = known.to_pylist()
    texts = _input.without_zero_decimals(written)
    if texts is written:
        return labels
    return pa.chunked_array([pa.array(texts, pa.string())]).take(
        compute.index_in(labels, value_set=known)
    )


def _needed(columns: Columns, known: list[str]) -> list[str]:
    """Return the needed columns by name, each once; raise an error if the file lacks one."""
    for argument, names in columns.by_argument.items():
        _input.check_column_names(names, known, argument, "the file")
    return list(dict.fromkeys(name for names in columns.by_argument.values() for name in names))


# The checkpoint ------------------------------------------------------------------------------


class Checkpoint:
    """File with the first batches' counts, so that a later call can resume.

    A checksum over the first batches shows whether a later call has the same batches. It covers
    the scores if batches hold rows, and the batches' identities if workers read them. With binned
    counts, it covers the bins: a checksum over exact scores would let an attacker test guesses for
    the score in a batch with one row.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        arguments: dict[str, Any],
        scores_of: Callable[[Any], Any],
    ) -> None:
        check_target(path, "checkpoint")
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} is a device or a pipe, which keeps nothing; pass "
                "the path of a file."
            )
        pyarrow_parquet()  # raise the error for a missing package before counting
        self.path = os.fspath(path)
        self._arguments = json.loads(json.dumps(arguments, default=entry_of))
        self._scores_of = scores_of
        self._written, self._took = time.monotonic(), 0.0
        self._n_done, self._expected = 0, 0
        # Item i is the checksum of all batches before batch i.
        self._checksums = {0: 0}

    def after_those_done(self, numbered: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Read all batches, and yield the batches that the file does not cover."""
        n_read = 0
        for number, batch in numbered:
            n_read = number + 1
            before = self._checksums.pop(number)
            self._checksums[n_read] = _checksum(batch, self._scores_of, before)
            if number >= self._n_done:
                self._checksums[number] = before
                yield number, batch
            elif n_read == self._n_done and self._checksums[n_read] != self._expected:
                raise self._other_batches()
        if n_read < self._n_done:
            raise self._other_batches()

    def _other_batches(self) -> ValueError:
        return ValueError(
            f"checkpoint={self.path!r} is of {self._n_done} other batches; pass the same batches "
            "in the same order, or remove the file to begin again."
        )

    def read(self) -> tuple[int, State | None]:
        """Return how many batches the file has, and their counts; 0 and None without a file."""
        if not os.path.exists(self.path):
            return 0, None
        try:
            state, facts = read_content(read_file(self.path), "the file")
            self._n_done, self._expected = int(facts["n_batches"]), int(facts["checksum"])
        except Exception as error:  # a damaged file may raise any exception
            raise ValueError(
                f"checkpoint={self.path!r} is no checkpoint of from_batches, or is damaged "
                f"({type(error).__name__}: {error}); remove it, or pass another path."
            ) from error
        if facts["arguments"] != self._arguments:
            raise ValueError(
                f"checkpoint={self.path!r} was made with {_shown(facts['arguments'])}; got "
                f"{_shown(self._arguments)}. Pass the same, or remove the file to begin again."
            )
        return self._n_done, state

    def is_due(self) -> bool:
        """Return whether enough time has passed since the file was last written."""
        return time.monotonic() - self._written >= self._took * (1 / _SHARE - 1)

    def write(self, n_batches: int, state: State) -> None:
        """Write the first batches' counts, and replace the file."""
        began = time.monotonic()
        facts = {
            "arguments": self._arguments,
            "n_batches": n_batches,
            "checksum": self._checksums[n_batches],
        }
        write_whole(self.path, content_of(state, facts))
        self._checksums = {k: sum_ for k, sum_ in self._checksums.items() if k >= n_batches}
        self._written = time.monotonic()
        self._took = self._written - began


def _checksum(batch: Any, scores_of: Callable[[Any], Any], before: int) -> int:
    """Return the checksum over all batches' scores, bins or identities up to this one."""
    identity = _identity_of(batch)
    if identity is not None:
        return zlib.crc32(json.dumps(identity).encode(), before)
    try:
        scores = np.ascontiguousarray(scores_of(batch), np.float64)
    except Exception:  # counting will refuse this batch
        return before
    return zlib.crc32(scores.tobytes(), zlib.crc32(str(scores.shape).encode(), before))


def _identity_of(batch: Any) -> list[Any] | None:
    """Return values that identify a batch for workers to read; None for a batch with rows.

    The absolute path and the size identify a file, and the name identifies a function. The identity
    of a `functools.partial` includes its arguments.
    """
    if is_path(batch):
        path = os.path.abspath(os.fspath(batch))
        return [path, os.path.getsize(path) if os.path.exists(path) else None]
    if not callable(batch):
        return None
    is_partial = isinstance(batch, functools.partial)
    function = batch.func if is_partial else batch
    name = getattr(function, "__qualname__", "<>")
    # The names of lambdas and of functions within functions contain "<".
    if not inspect.isfunction(function) or "<" in name:
        raise TypeError(
            "checkpoint= identifies a function by its name, which "
            f"{_words.described(function)} lacks; pass paths, or functools.partial(read, day) of a "
            "function that is defined in a module."
        )
    identity = [function.__module__, name]
    if is_partial:
        arguments = [*enumerate(batch.args), *sorted(batch.keywords.items())]
        identity += [f"{key}={_plain(value)}" for key, value in arguments]
    return identity


def _plain(value: Any) -> str:
    """Return an argument's code; the code is the same in every process."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if value is None or isinstance(value, str | bytes | int | float | datetime.date):
        return repr(value)
    raise TypeError(
        "checkpoint= identifies a functools.partial by its arguments, which must be text, numbers, "
        f"dates, paths or lists of these; got {_words.described(value)}."
    )


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_words.shortened(value)}" for name, value in arguments.items())
