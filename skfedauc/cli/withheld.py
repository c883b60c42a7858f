"""Descriptions of withheld groups, which have few rows of a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from skfedauc._words import counted, shortened_label
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.errors import CommandError
from skfedauc.counts import ScoreCounts, Withheld
from skfedauc.counts.reducing import is_small, joined_label

# Largest number of groups to list
_MOST_LISTED = 6


def check_some_remain(exact: ScoreCounts, counts: ScoreCounts, arguments: Arguments) -> None:
    """Refuse counts without rows because ``--min-count`` withholds all groups.

    Raises
    ------
    CommandError
        If no group remains.
    """
    if arguments.min_count is None or len(counts):
        return
    n_rows = int(exact.n_positives.sum() + exact.n_negatives.sum())
    join = "" if arguments.small_groups == "join" else "--small-groups join, "
    raise CommandError(
        f"{arguments.file_name}: all groups have 1 to {arguments.min_count - 1} rows of a class, "
        f"so --min-count {arguments.min_count} withholds all {counted(n_rows, 'row')}; pass "
        f"{join}fewer --group columns or a smaller number"
    )


def small_groups_in_words(
    exact: ScoreCounts, counts: ScoreCounts, arguments: Arguments
) -> Iterator[str]:
    """Yield lines on the groups that ``--min-count`` has joined or withheld, with labels.

    Parameters
    ----------
    exact : ScoreCounts
        Counts of all rows.
    counts : ScoreCounts
        Counts in the output file.
    arguments : Arguments
    """
    if arguments.min_count is None:
        return
    small = np.flatnonzero(is_small([exact.n_negatives, exact.n_positives], arguments.min_count))
    if small.size and exact.groups is not None:
        withheld = counts.disclosure.withheld.n_groups > 0
        labels = _labels([exact.groups[group] for group in small])
        yield (
            f"{'Withheld' if withheld else 'Joined'}: {counted(small.size, 'group')} with "
            f"1 to {arguments.min_count - 1} rows of a class: {labels}"
        )
        if withheld:
            told = withheld_in_words(counts.disclosure.withheld)
            yield f"The file discloses of these groups: {told}"
        else:
            label = shortened_label(joined_label(exact.groups[small[0]]))
            yield f"The file holds their rows as the group {label}"
    if counts.disclosure.withheld.is_n_missing_low:
        yield "Withheld: the number of rows without a group label, because it is small"


def withheld_in_words(withheld: Withheld) -> str:
    """Return the number of withheld groups, and the known facts on rows and labels."""
    phrase = counted(withheld.n_groups, "group")
    of_classes = [
        ("" if number is not None else "at most ") + counted(most, noun)
        for number, most, noun in (
            (withheld.n_positives, withheld.most_positives, "positive"),
            (withheld.n_negatives, withheld.most_negatives, "negative"),
        )
        if most is not None
    ]
    if of_classes:
        phrase += f", {' and '.join(of_classes)}"
    return f"{phrase}: {_labels(withheld.labels)}" if withheld.labels else phrase


def _labels(labels: Sequence[Any]) -> str:
    shown = list(map(shortened_label, labels))
    if len(shown) > _MOST_LISTED:
        half = _MOST_LISTED // 2
        shown = [*shown[:half], "...", *shown[-half:]]
    return "; ".join(shown)
