"""File with the first batches' counts, so that `ScoreCounts.from_batches` can resume."""

from __future__ import annotations

import datetime
import functools
import inspect
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skfedauc import _words
from skfedauc._output_file import check_target, write_whole
from skfedauc._words import shortened
from skfedauc.counts.files import content_of, read_content
from skfedauc.counts.labels import entry_of
from skfedauc.counts.parquet import pyarrow_parquet, read_file
from skfedauc.counts.state import State

# Largest share of the run time for writing the file
_SHARE = 0.1


class Checkpoint:
    """File with the first batches' counts.

    Parameters
    ----------
    path : str or os.PathLike
        File to write, and to read if it exists.
    arguments : dict
        The call's arguments. `read` refuses a file from a call with other arguments.
    scores_of : callable
        Function that returns a batch's scores, or their bins for binned counts.

    Notes
    -----
    A checksum over the first batches shows whether a later call has the same batches. The checksum
    covers the scores if batches hold rows, and the batches' identities if workers read them.
    With binned counts, it covers the bins: a checksum over exact scores would
    let an attacker test guesses for the score in a batch with one row.
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
    identity = identity_of(batch)
    if identity is not None:
        return zlib.crc32(json.dumps(identity).encode(), before)
    try:
        scores = np.ascontiguousarray(scores_of(batch), np.float64)
    except Exception:  # counting will refuse this batch
        return before
    return zlib.crc32(scores.tobytes(), zlib.crc32(str(scores.shape).encode(), before))


def is_path(batch: Any) -> bool:
    """Return whether a batch is a file's path."""
    return isinstance(batch, str | os.PathLike)


def identity_of(batch: Any) -> list[Any] | None:
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
    return ", ".join(f"{name}={shortened(value)}" for name, value in arguments.items())
