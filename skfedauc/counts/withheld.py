"""Groups with few rows of a class that `ScoreCounts.reduced` withheld."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from skfedauc._words import counted
from skfedauc.counts.limits import MOST_ROWS


class Withheld(NamedTuple):
    """Groups that ``reduced(min_count=)`` withheld.

    Attributes
    ----------
    n_groups : int
        Number of groups. A group that two sites withheld counts twice.
    n_negatives, n_positives : int or None
        Number of rows of each class in all these groups; None for a withheld number.
    labels : tuple or None
        Labels of these groups; None for withheld labels.
    is_n_missing_low : bool
        Whether `reduced` withheld a number of rows without a group label because the number was
        below `min_count`. If True, `ScoreCounts.n_missing` is too low.
    most_negatives, most_positives : int or None
        Upper limit of the number of rows of each class in all these groups. The limit of a known
        number is the number. None for an unknown limit.
    """

    n_groups: int = 0
    n_negatives: int | None = 0
    n_positives: int | None = 0
    labels: tuple[Any, ...] | None = ()
    is_n_missing_low: bool = False
    most_negatives: int | None = 0
    most_positives: int | None = 0

    @classmethod
    def merged(cls, parts: Sequence[Withheld]) -> Withheld:
        """Add up withheld groups; a fact that one part lacks is unknown in the sum."""
        labels: list[Any] | None = []
        for part in parts:
            labels = None if labels is None or part.labels is None else [*labels, *part.labels]
        return cls(
            sum(part.n_groups for part in parts),
            _sum([part.n_negatives for part in parts]),
            _sum([part.n_positives for part in parts]),
            None if labels is None else tuple(labels),
            any(part.is_n_missing_low for part in parts),
            _sum([part.most_negatives for part in parts]),
            _sum([part.most_positives for part in parts]),
        )

    @property
    def n_rows(self) -> int | None:
        """Number of rows in these groups; None for a withheld number."""
        return _sum([self.n_negatives, self.n_positives])

    def without_labels(self) -> Withheld:
        """Return the withheld groups without labels, for counts whose groups get other labels."""
        return self._replace(labels=None) if self.n_groups else self

    def in_words(self) -> str:
        """Return a phrase on withheld groups, beginning with a comma; empty without such groups."""
        phrase = ""
        if self.n_groups:
            rows = "" if self.n_rows is None else f" of {counted(self.n_rows, 'row')}"
            phrase = f", {counted(self.n_groups, 'group')}{rows} withheld"
        if self.is_n_missing_low:
            phrase += ", number of rows without a group label withheld"
        return phrase


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def wrong_withheld(withheld: Any) -> str | None:
    """Return why these withheld groups are impossible; None for possible values."""
    wrong = "what it says of withheld groups is impossible"
    if not isinstance(withheld, Withheld):
        return wrong
    n_groups, negatives, positives, labels, is_low, *most = withheld
    if not _is_number(n_groups) or type(is_low) is not bool:
        return wrong
    for number, limit in zip((negatives, positives), most, strict=True):
        if not all(value is None or _is_number(value) for value in (number, limit)):
            return wrong
        if number is not None and limit != number:
            return wrong
    n_rows, most_rows = withheld.n_rows, _sum(most)
    if most_rows is not None and most_rows < n_groups:
        return wrong
    if not n_groups and n_rows != 0:
        return wrong
    if labels is not None and not isinstance(labels, tuple):
        return wrong
    return wrong if labels is not None and len(labels) > n_groups else None


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_ROWS
