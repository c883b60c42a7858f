"""File with the counts of the first batches, from which `ScoreCounts.from_batches` resumes."""

from __future__ import annotations

import datetime
import enum
import io
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from skfedauc._input.arrays import object_array
from skfedauc._kernel import Cells
from skfedauc._output_file import check_target, write_whole
from skfedauc._words import shortened
from skfedauc.counts.origin import Origin

_FORMAT = "skfedauc batches 1"
# Largest share of the run time that is spent on writing the file
_SHARE = 0.1


class State(Protocol):
    """Attributes of `ScoreCounts`, which cannot be imported here."""

    @property
    def cells(self) -> Cells: ...  # noqa: D102
    @property
    def labels(self) -> NDArray[Any] | None: ...  # noqa: D102
    @property
    def origin(self) -> Origin: ...  # noqa: D102


P = TypeVar("P", bound=State)


class Checkpoint(Generic[P]):
    """File with the counts of the first batches.

    Parameters
    ----------
    path : str or os.PathLike
        File to write, and to read if it exists.
    arguments : dict
        Arguments of the call. `read` refuses a file that was written with other arguments.
    restore : callable
        Makes a `ScoreCounts` from cells, labels and origin.
    scores_of : callable
        Returns the scores of a batch.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        arguments: dict[str, Any],
        restore: Callable[[Cells, Any, tuple[Any, ...]], P],
        scores_of: Callable[[Any], Any],
    ) -> None:
        check_target(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} is a device or a pipe, which keeps nothing; pass "
                "the path of a file."
            )
        self.path = os.fspath(path)
        self._arguments = json.loads(json.dumps(arguments, default=_entry))
        self._restore, self._scores_of = restore, scores_of
        self._written, self._took = time.monotonic(), 0.0
        self._n_done, self._expected = 0, 0
        # Item i is the checksum of the scores of all batches before batch i.
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

    def read(self) -> tuple[int, list[P]]:
        """Return the number of batches in the file, and a list with their `ScoreCounts`.

        Raises
        ------
        ValueError
            If the file is damaged, or was written with other arguments.
        """
        if not os.path.exists(self.path):
            return 0, []
        try:
            facts, cells, labels = self._parts()
            n_missing, group_names, (seen, positive) = facts["origin"]
            origin = (n_missing, tuple(group_names), (tuple(seen), positive))
            counts = self._restore(cells, labels, origin)
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
        return self._n_done, [counts]

    def _parts(self) -> tuple[dict[str, Any], Cells, NDArray[Any] | None]:
        with open(self.path, "rb") as file:
            content = io.BytesIO(file.read())  # np.load leaves a damaged file open
        with np.load(content, allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].item())
            if facts["format"] != _FORMAT:
                raise ValueError(f"format {facts['format']!r}")
            found = {name: arrays[name] for name in arrays.files}
        cells = Cells(*(found.get(name) for name in Cells._fields))  # type: ignore[arg-type]
        if facts["labels"] is not None:
            return facts, cells, object_array(map(_label, facts["labels"]))
        return facts, cells, found.get("labels")

    def is_due(self) -> bool:
        """Return whether enough time has passed since the file was last written."""
        return time.monotonic() - self._written >= self._took * (1 / _SHARE - 1)

    def write(self, n_batches: int, counts: P) -> None:
        """Write the counts of the first batches, and replace the file."""
        began = time.monotonic()
        arrays = {k: array for k, array in counts.cells._asdict().items() if array is not None}
        labels, entries = counts.labels, None
        if labels is not None and labels.dtype.kind == "O":
            entries = [_entry(label) for label in labels.tolist()]
        elif labels is not None:
            arrays["labels"] = labels
        facts = {
            "format": _FORMAT,
            "arguments": self._arguments,
            "n_batches": n_batches,
            "checksum": self._checksums[n_batches],
            "labels": entries,
            "origin": list(counts.origin),
        }
        content = io.BytesIO()
        np.savez(content, facts=np.array(json.dumps(facts)), **arrays)
        write_whole(self.path, content.getvalue())
        self._checksums = {k: sum_ for k, sum_ in self._checksums.items() if k >= n_batches}
        self._written = time.monotonic()
        self._took = self._written - began

    def remove(self) -> None:
        """Remove the file after all batches are counted."""
        if os.path.isfile(self.path):
            os.unlink(self.path)


def _checksum(batch: Any, scores_of: Callable[[Any], Any], before: int) -> int:
    """Return the checksum of the scores of a batch and of all earlier batches."""
    try:
        scores = np.ascontiguousarray(scores_of(batch), np.float64)
    except Exception:  # counting will refuse this batch
        return before
    return zlib.crc32(scores.tobytes(), zlib.crc32(str(scores.shape).encode(), before))


def _entry(label: Any) -> Any:
    """Return a label as a value that JSON can represent."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [_entry(part) for part in label]
    if isinstance(label, datetime.datetime) and label.tzinfo is None:
        return {"date": label.isoformat()}
    if isinstance(label, bool | int | float | str):
        return label
    entry = _entry_of_pandas(label)
    if entry is not None:
        return entry
    is_enum = isinstance(label, enum.Enum)
    mend = "[member.name for member in labels]" if is_enum else ".astype(str)"
    raise TypeError(
        "checkpoint= keeps groups labelled by booleans, integers, strings, dates, periods or "
        f"intervals; got {shortened(label)}. Convert labels, for instance by {mend}."
    )


def _entry_of_pandas(label: Any) -> dict[str, Any] | None:
    """Return an entry for a pandas label; None if reading the entry gives a different label."""
    pd = sys.modules.get("pandas")
    entry: dict[str, Any]
    if pd is None:
        return None
    if isinstance(label, pd.Period):
        entry = {"period": label.ordinal, "frequency": label.freqstr}
    elif isinstance(label, pd.Interval):
        entry = {"interval": [_entry(label.left), _entry(label.right)], "closed": label.closed}
    elif isinstance(label, pd.Timestamp):
        entry = {"instant": label.tz_convert("UTC").isoformat(), "zone": str(label.tz)}
    else:
        return None
    try:
        again = _label(entry)
        is_alike = again == label and str(again) == str(label)
    except (TypeError, ValueError, KeyError):  # pandas knows no time zone of this name
        return None
    return entry if is_alike else None


def _label(entry: Any) -> Any:
    if isinstance(entry, list):
        return tuple(map(_label, entry))
    if not isinstance(entry, dict):
        return entry
    if "date" in entry:
        return datetime.datetime.fromisoformat(entry["date"])
    import pandas as pd

    if "period" in entry:
        return pd.Period(ordinal=entry["period"], freq=entry["frequency"])
    if "interval" in entry:
        ends = map(_label, entry["interval"])
        left, right = (pd.Timestamp(e) if isinstance(e, datetime.datetime) else e for e in ends)
        return pd.Interval(left, right, closed=entry["closed"])
    return pd.Timestamp(entry["instant"]).tz_convert(entry["zone"])


def _shown(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={shortened(value)}" for name, value in arguments.items())
