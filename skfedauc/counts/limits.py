"""Limits on the numbers of rows in counts, and on the files that a receiver reads."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from skfedauc import _input
from skfedauc._words import described

# Largest number of rows of a class, so that products and sums of counts fit in 64-bit integers
MOST_ROWS = 1 << 40


class LimitError(ValueError):
    """Error for a file that a limit of the receiver refuses."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a receiver of counts accepts.

    `ScoreCounts.load` and `from_bytes` check the limits before they read the columns of a file, so
    that a small file cannot fill the memory. The defaults suit files of your own;
    `GroupAUCAggregator` has lower ones.

    Parameters
    ----------
    max_bytes : int, default=2**34
        Size of a file, and of its content in memory.
    max_rows : int, default=2**40
        Number of counted rows of each class.
    max_label_length : int, default=10_000
        Number of characters of a group label, a class label, a source name or another name.

    See Also
    --------
    ScoreCounts.load : Read a file within limits.
    GroupAUCAggregator : Merge the replies of clients within limits.

    Examples
    --------
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.counts import Limits
    >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
    >>> ScoreCounts.from_bytes(counts.to_bytes(), limits=Limits(max_rows=1))
    Traceback (most recent call last):
    skfedauc.counts.limits.LimitError: data is refused: it counts 2 rows of a class, above the \
receiver's limit of 1; pass limits=Limits(max_rows=...) to accept it.
    """

    max_bytes: int = 1 << 34
    max_rows: int = MOST_ROWS
    max_label_length: int = 10_000

    def __post_init__(self) -> None:
        for field in fields(self):
            number = _input.check_whole_number(getattr(self, field.name), field.name, 0)
            object.__setattr__(self, field.name, number)

    def check(self, name: str, number: int, what: str) -> None:
        """Raise a LimitError for a number above a limit.

        Parameters
        ----------
        name : {"max_bytes", "max_rows", "max_label_length"}
            The limit.
        number : int
            Number to compare with the limit.
        what : str
            Beginning of the message, with ``{}`` for the number.
        """
        most = getattr(self, name)
        if number > most:
            raise LimitError(
                f"{what.format(f'{number:,}')}, above the receiver's limit of {most:,}; pass "
                f"limits=Limits({name}=...) to accept it"
            )

    def check_text(self, length: int) -> None:
        """Raise a LimitError for a label or name of more characters than the limit."""
        self.check("max_label_length", length, "it has a label or name of {} characters")


def check_limits(limits: object) -> Limits:
    """Return the limits, or the default limits for None."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(
            f"limits must be a skfedauc.counts.Limits or None; got {described(limits)}."
        )
    return limits


def check_n_rows(counts: ArrayLike, name: str) -> None:
    """Raise an error for more rows of a class than exact counts permit."""
    total = float(np.sum(counts, dtype=np.float64))
    if total > MOST_ROWS:
        raise ValueError(
            f"{total:.3g} {name} are more than a ScoreCounts can count exactly (2**40)."
        )
