"""File with the counts of the first batches, so that `ScoreCounts.from_batches` can resume."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skfedauc._output_file import check_target, write_whole
from skfedauc._words import shortened
from skfedauc.counts.files import content_of, read_content
from skfedauc.counts.label_entries import entry_of
from skfedauc.counts.parquet import pyarrow_parquet, read_file
from skfedauc.counts.readers import identity_of
from skfedauc.counts.state import State, restored

# Largest share of the run time for writing the file
_SHARE = 0.1


class Checkpoint:
    """File with the counts of the first batches.

    Parameters
    ----------
    path : str or os.PathLike
        File to write, and to read if it exists.
    arguments : dict
        Arguments of the call. `read` refuses a file from a call with other arguments.
    scores_of : callable
        Function that returns the scores of a batch, or the bins of the scores for binned counts.

    Notes
    -----
    A checksum of the first batches shows whether a later call has the same batches. The checksum
    covers the scores of batches that hold rows, and the identities of batches that workers read.
    With binned counts, the checksum covers the bins of the scores: a checksum of exact scores would
    let an attacker test guesses of the score in a batch of one row.
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
        """Return the number of batches in the file, and their counts; 0 and None without a file.

        Raises
        ------
        ValueError
            If the file is damaged, or comes from a call with other arguments.
        """
        if not os.path.exists(self.path):
            return 0, None
        try:
            found, facts = read_content(read_file(self.path), "the file")
            state = restored(found.content, found.labels, found.origin, ranges=found.ranges)
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
        """Return whether enough time has passed since the last write of the file."""
        return time.monotonic() - self._written >= self._took * (1 / _SHARE - 1)

    def write(self, n_batches: int, state: State) -> None:
        """Write the counts of the first batches, and replace the file."""
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
    """Return the checksum of the scores, bins or identities of all batches up to this one."""
    identity = identity_of(batch)
    if identity is not None:
        return zlib.crc32(json.dumps(identity).encode(), before)
    try:
        scores = np.ascontiguousarray(scores_of(batch), np.float64)
    except Exception:  # counting will refuse this batch
        return before
    return zlib.crc32(scores.tobytes(), zlib.crc32(str(scores.shape).encode(), before))


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={shortened(value)}" for name, value in arguments.items())
