"""Sum of the counts of batches; a checkpoint keeps the sum if counting ends early."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from skfedauc import _input
from skfedauc.counts.checkpoint import Checkpoint
from skfedauc.counts.state import State


class _Done(NamedTuple):
    """Counts of the first batches: merged counts and counts before their merge.

    Attributes
    ----------
    n_batches : int
    merged : State or None
        Merged counts, or None before the first merge.
    waiting : tuple of State
        Counts before their merge.
    """

    n_batches: int = 0
    merged: State | None = None
    waiting: tuple[State, ...] = ()


class BatchSums:
    """Sum of the counts of batches; a checkpoint keeps the sum if counting ends early.

    Parameters
    ----------
    merge : callable
        Function that adds up a list of counts.
    checkpoint : Checkpoint or None

    Attributes
    ----------
    done : _Done
        A single assignment replaces this attribute, so that an interrupt cannot leave a batch
        partly counted.
    """

    def __init__(
        self, merge: Callable[[list[State]], State], checkpoint: Checkpoint | None
    ) -> None:
        self._merge, self._checkpoint = merge, checkpoint
        self.done = _Done() if checkpoint is None else _Done(*checkpoint.read())
        self._n_kept = self.done.n_batches

    def add(self, parts: list[State]) -> None:
        """Append the counts of the batches of a round, without merging them."""
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
        """Return the sum of all batches; the checkpoint keeps it until the caller has saved it."""
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
        merged = self._merge([*before, *self.done.waiting])
        self.done = _Done(self.done.n_batches, merged)
        return merged

    def _keep(self, checkpoint: Checkpoint) -> None:
        checkpoint.write(self.done.n_batches, self._merge_all())
        self._n_kept = self.done.n_batches

    def __enter__(self) -> BatchSums:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        checkpoint = self._checkpoint
        if kind is not None and checkpoint is not None and self.done.n_batches > self._n_kept:
            self._keep(checkpoint)
