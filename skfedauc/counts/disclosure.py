"""Levels of disclosure of score counts, and the reduction of counts to a lower level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from skfedauc._kernel import Cells
from skfedauc._words import described, enumerated
from skfedauc.counts.bins import Bins
from skfedauc.counts.ranges import Ranges
from skfedauc.counts.state import State

# What `reduced` and other functions take as `disclosure`
Disclosure: TypeAlias = Literal["exact", "bins"] | Bins
# Levels of disclosure, from the highest to the lowest
LEVELS = ("exact", "bins")


class DisclosureError(ValueError):
    """Error for a result that counts of this level of disclosure do not determine."""


def check_disclosure(disclosure: object) -> Literal["exact"] | Bins:
    """Return the level "exact", or the bins that `disclosure` names.

    Raises
    ------
    ValueError
        If `disclosure` is text, but no level.
    TypeError
        If `disclosure` is neither text nor `Bins`.
    """
    if isinstance(disclosure, Bins):
        return disclosure
    if not isinstance(disclosure, str):
        raise TypeError(
            f"disclosure must be 'exact', 'bins' or a Bins; got {described(disclosure)}."
        )
    if disclosure == "exact":
        return "exact"
    if disclosure == "bins":
        return Bins.of_probabilities()
    raise ValueError(f"disclosure must be 'exact', 'bins' or a Bins; got {described(disclosure)}.")


def level_in_words(counts: State) -> str:
    """Return the level of disclosure of score counts, with the rule of the bins."""
    if counts.ranges is None:
        return "exact"
    return "ranges of scores" if counts.origin.bins is None else repr(counts.origin.bins)


def check_levels(parts: Sequence[State]) -> None:
    """Refuse to merge exact counts with binned counts, and counts with different bins.

    Ranges that are no bins of one rule can be merged with any bins.

    Raises
    ------
    ValueError
        If the parts have different levels of disclosure or different bins.
    """
    first: dict[object, int] = {}
    for number, part in enumerate(parts):
        first.setdefault("exact" if part.ranges is None else part.origin.bins, number)
    if "exact" not in first:
        first.pop(None, None)
    if len(first) > 1:
        found = [f"part {number} is {level_in_words(parts[number])}" for number in first.values()]
        raise ValueError(
            f"the score counts disclose their scores differently: {enumerated(found[:4])}. Reduce "
            "them to the same level first, by counts.reduced(disclosure)."
        )


def reduced_cells(counts: State, disclosure: object) -> tuple[Cells, Ranges, Bins] | None:
    """Return the unmerged cells of the counts at a lower level; None if nothing changes.

    Raises
    ------
    ValueError, TypeError
        If the counts cannot be reduced to this level.
    """
    to, bins = check_disclosure(disclosure), counts.origin.bins
    if to == "exact":
        if counts.ranges is not None:
            raise ValueError(
                "disclosure='exact' would disclose more than these counts hold: they are "
                f"{level_in_words(counts)}. Count the rows again with disclosure='exact'."
            )
        return None
    if to == bins:
        return None
    scores = counts.cells.scores
    if counts.ranges is None:
        numbers = to.numbers_of(scores)
    elif bins is not None and not bins.refines(to):
        raise ValueError(
            f"counts with {bins!r} cannot be reduced to {to!r}, whose bins are no unions of "
            "theirs. Count the rows again, or pass bins that contain theirs."
        )
    else:
        numbers, highest = (to.numbers_of(ends) for ends in counts.ranges)
        if (numbers != highest).any():
            cell = int(np.argmax(numbers != highest))
            low, high = counts.ranges[:, cell]
            raise ValueError(
                f"the counts cannot be reduced to {to!r}: the range from {low:.17g} to "
                f"{high:.17g} is not within one of its bins. Count the rows again."
            )
    cells = counts.cells._replace(scores=to.scores_of(numbers))
    return cells, to.ranges_of(numbers), to
