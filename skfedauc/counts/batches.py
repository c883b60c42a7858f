"""Batches counted in joblib workers: reading, counting and merging."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skfedauc import _input, _labels, _rows, _words
from skfedauc.counts.disclosure import Disclosure, check_rule
from skfedauc.counts.files import pyarrow_parquet
from skfedauc.counts.merging import Agreement, sum_of
from skfedauc.counts.reducing import at_level, reduced
from skfedauc.counts.state import State
from skfedauc.counts.tables import Names, arguments_of, checked_names, counted_rows

ENDINGS = (".parquet", ".csv", ".csv.gz")
_PATHS = (str, os.PathLike)
# Packages of joblib backends that raise their own errors about workers
_BACKENDS = ("distributed", "ray")


def count_batches(
    batches: Iterable[Any],
    columns: Mapping[str, str | list[str] | None],
    n_jobs: int | None,
    *,
    pos_label: Any = None,
    missing: _labels.Missing = "raise",
    disclosure: Any = "exact",
) -> State:
    """Check `ScoreCounts.from_batches`'s arguments, and count the batches.

    The loop reads a round after the previous round has ended, because joblib's generators read
    ahead and keep all waiting batches in memory. It merges the counts of rounds once they are as
    large as the sum: memory stays within a small multiple of the sum, and each cell enters only a
    few merges.
    """
    named = [name for name, value in columns.items() if value is not None]
    if named and not {"label", "score"} <= set(named):
        raise ValueError(
            f"batches of DataFrames need both label= and score=, the names of columns; got "
            f"{', '.join(named)} only."
        )
    names = checked_names(columns)
    n_jobs = _input.check_n_jobs(n_jobs)
    missing = _labels.check_missing(missing)
    rule = check_rule(disclosure)
    _refuse_single_batch(batches)
    # Workers count each batch by bins, so that no scores leave them. Summaries of the same groups
    # cannot be merged, and small counts are those of all rows: both follow at the end.
    of_batch = Disclosure(rule.level, rule.bins) if rule.level == "bins" else Disclosure()
    count = functools.partial(_counted_batch, names, pos_label, missing, of_batch)
    n_workers = effective_n_jobs(n_jobs)
    in_flight = 1 if n_workers == 1 else 2 * n_workers
    numbered = _numbered(batches if in_flight == 1 else map(_for_workers, batches))
    agreement = Agreement("batches")
    parts: list[State] = []
    with Parallel(n_jobs=n_jobs) as workers:
        while batch_round := list(itertools.islice(numbered, in_flight)):
            counted = _counted_round(workers, count, batch_round)
            for (number, _), state in zip(batch_round, counted, strict=True):
                agreement.check(f"batch {number}", state)
            batch_round.clear()
            parts += counted
            if sum(part.n_cells for part in parts[1:]) >= max(parts[0].n_cells, 1 << 16):
                parts = [sum_of(parts)]
            del counted
    if not parts:
        raise ValueError("batches is empty: there is nothing to count.")
    whole = sum_of(parts)
    _labels.warn_if_misspelled(whole.classes)
    return whole if rule == of_batch else reduced(whole, rule)


def _refuse_single_batch(batches: Any) -> None:
    """Raise an error for a table, a path and other objects that are not iterables of batches."""
    # Asking a lazy table itself for its columns may run its query.
    is_table = hasattr(type(batches), "columns") or hasattr(type(batches), "column_names")
    is_iterable = hasattr(batches, "__iter__") and not isinstance(batches, bytes)
    is_batch = is_table or (callable(batches) and not is_iterable)
    if is_batch or isinstance(batches, _PATHS):
        raise TypeError(
            f"batches must be an iterable of batches; got a single {type(batches).__name__}. Pass "
            "[batch] to count one batch; ScoreCounts.from_table counts tables that are not in "
            "memory."
        )
    if not is_iterable:
        raise TypeError(f"batches must be an iterable of batches; got {_words.described(batches)}.")


def _counted_round(
    workers: Any, count: Callable[[int, Any], State], batch_round: list[tuple[int, Any]]
) -> list[State]:
    """Return a round's counts by batch."""
    try:
        return list(workers(delayed(count)(*item) for item in batch_round))
    except Exception as error:
        # Ray wraps the error that a worker raises.
        wrapped = getattr(error, "cause", None)
        raised = wrapped if isinstance(wrapped, Exception) else error
        package = type(raised).__module__.partition(".")[0]
        if not isinstance(raised, BrokenExecutor) and package not in _BACKENDS:
            raise raised from (error if raised is not error else error.__cause__)
        # The last line of joblib's message is about traceback text that may not exist.
        reason = str(raised).partition("\nDetailed tracebacks")[0].strip().split("\n")[-1]
        raise RuntimeError(
            f"a worker was killed, perhaps for lack of memory, or failed while batches "
            f"{batch_round[0][0]} to {batch_round[-1][0]} were counted, so no counts are returned "
            f"({type(raised).__name__}: {reason}). To keep those of earlier batches, save the "
            "counts of each, and merge the files."
        ) from error


def _for_workers(batch: Any) -> Any:
    """Return a batch for the workers: copied arrays, or an absolute path.

    A reader may reuse its buffers, and workers may have another working directory.
    """
    if isinstance(batch, _PATHS):
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


def _counted_batch(
    names: Names,
    pos_label: Any,
    missing: _labels.Missing,
    rule: Disclosure,
    number: int,
    batch: Any,
) -> State:
    """Read and count a batch; errors name it."""
    try:
        arguments = _arguments_of_batch(batch, names)
        state = counted_rows(arguments, names, pos_label, missing, warn_labels=False)
        return at_level(state, rule)
    except Exception as error:
        raise _error_in_batch(error, number, batch) from error


def _error_in_batch(error: Exception, number: int, batch: Any = None) -> Exception:
    """Return an error that names the batch's file, for an error in this batch."""
    name = f"batch {number}"
    if isinstance(batch, _PATHS):
        name += f" ({_words.shortened_text(repr(os.fspath(batch)), 500)})"
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(f"{name}: {error}")
    return RuntimeError(f"{name}: {type(error).__name__}: {error}")


def _arguments_of_batch(batch: Any, names: Names) -> dict[str, Any]:
    """Read a file or call a function, and return its columns by argument of `from_predictions`."""
    if isinstance(batch, _PATHS):
        rows = _read_file(os.fspath(batch), names)
    else:
        rows = batch() if callable(batch) else batch
    if names:
        return arguments_of(rows, names)
    is_tuple = isinstance(rows, tuple | list)
    if not is_tuple or not 2 <= len(rows) <= 4:
        raise TypeError(
            "a batch must be a tuple (y_true, y_score[, groups[, sample_weight]]), or a DataFrame "
            "with the columns named by label=, score=, group= and weight=, or the path of a file "
            "with these columns, or a function that returns one; got "
            f"{type(rows).__name__}{f' of {len(rows)} items' if is_tuple else ''}."
        )
    return dict(zip(("y_true", "y_score", "groups", "sample_weight"), rows, strict=False))


def _read_file(path: str, names: Names) -> Any:
    """Return a Parquet or CSV file's columns by name."""
    if not names:
        raise TypeError("files need label= and score=, the names of columns.")
    if not path.lower().endswith(ENDINGS):
        raise ValueError(f"the name of a file must end in {_words.enumerated(ENDINGS, 'or')}.")
    pyarrow_parquet()  # raise the error for a missing package
    import pyarrow as pa

    read = _read_parquet if path.lower().endswith(".parquet") else _read_csv
    try:
        return read(path, names)
    except (pa.ArrowException, OSError) as error:
        # Errors of the operating system have a number; those of pyarrow about content have none.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"the file cannot be read: {' '.join(str(error).split())}") from error


def _read_parquet(path: str, names: Names) -> Any:
    with pyarrow_parquet().ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read(_needed(names, file.schema_arrow.names))
    table.validate(full=True)
    return table


def _read_csv(path: str, names: Names) -> Any:
    """Return a CSV file's columns, with group labels as text, since 007 is not the number 7."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    needed = list(itertools.chain(*names.values()))
    separator, header = _labels.header_of(functools.partial(_header, path), needed)
    if not header:
        raise ValueError("the file cannot be read: it has no header.")
    groups = names.get("group", [])
    # Only empty cells are missing values, because NA may be the label of a group.
    options = arrow_csv.ConvertOptions(
        include_columns=_needed(names, header),
        column_types={name: pa.string() for name in groups},
        null_values=[""],
        strings_can_be_null=True,
    )
    layout = arrow_csv.ParseOptions(delimiter=separator)
    table = arrow_csv.read_csv(path, parse_options=layout, convert_options=options)
    for name in groups:
        written = table[name].unique().drop_null().to_pylist()
        if _labels.without_zero_decimals(written) is not written:
            labels = compute.replace_substring_regex(table[name], r"\.0$", "")
            table = table.set_column(table.column_names.index(name), name, labels)
    return table


def _header(path: str, separator: str) -> list[str]:
    """Return the cells in the first line that is not empty."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    # Replace invalid UTF-8 here; pyarrow raises the error later.
    with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
        return next(filter(None, csv.reader(lines, delimiter=separator)), [])


def _needed(names: Names, known: list[str]) -> list[str]:
    """Return the needed columns by name, each once; raise an error if the file lacks one."""
    for argument, of in names.items():
        _rows.check_column_names(of, known, argument, "the file")
    return list(dict.fromkeys(itertools.chain(*names.values())))
