"""Merging of score counts that come one by one, in rounds of bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple

from skfedauc.counts.agreement import Agreement, MergeError, Repeats
from skfedauc.counts.state import P, State

# Parts wait until those that the caller does not keep have at least _ROUND cells, and at least as
# many cells as the counts that are merged already. A part takes as much memory as its cells and
# another _CELLS_PER_PART cells.
_ROUND, _CELLS_PER_PART = 1 << 16, 1 << 7


class Part(NamedTuple, Generic[P]):
    """Part of a merge.

    Attributes
    ----------
    name : str
        Name in messages.
    counts : ScoreCounts
    is_kept : bool
        Whether the caller keeps the counts in memory, so that merging them early saves nothing.
    """

    name: str
    counts: P
    is_kept: bool = False


def merged_parts(
    parts: Iterable[Part[P]],
    add_up: Callable[[list[P]], P],
    reduce: Callable[[P], P] | None,
    *,
    allow_repeated: bool,
) -> P:
    """Merge parts after checking that they can be merged.

    Parameters
    ----------
    parts : iterable of Part
    add_up : callable
        Adds up a list of score counts.
    reduce : callable or None
        Reduces a part to the level of disclosure of the result; None if all parts have this level.
    allow_repeated : bool
        Whether rows of the same counting may count several times.

    Raises
    ------
    ValueError
        If there are no parts, or if parts cannot be merged.
    """
    waiting: list[P] = []
    size = 0
    for _, counts, is_kept in _checked(parts, reduce, allow_repeated):
        waiting.append(counts)
        if not is_kept:
            size += _n_cells(counts) + _CELLS_PER_PART
        if size >= max(_ROUND, _n_cells(waiting[0])):
            waiting, size = [add_up(waiting)], 0
    if not waiting:
        raise ValueError("merge needs at least one ScoreCounts; got none.")
    return add_up(waiting)


def _n_cells(counts: State) -> int:
    """Return the number of cells, or the number of groups of a summary."""
    return len(counts) if counts.disclosure == "summary" else counts.cells.scores.size


def _checked(
    parts: Iterable[Part[P]], reduce: Callable[[P], P] | None, allow_repeated: bool
) -> Iterator[Part[P]]:
    """Yield the parts at the level of the result, after checking them."""
    repeats = Repeats()
    agreement = Agreement(
        "parts",
        "text by .regroup(str)",
        "name the missing group, for instance by counts.regroup({None: 'device 7'})",
    )
    for part in parts:
        if not allow_repeated:
            repeats.check(part.name, part.counts)
        agreement.check(part.name, part.counts)
        if reduce is not None:
            part = _reduced(part, reduce)
        agreement.check_level(part.name, part.counts)
        yield part
    repeats.warn()


def _reduced(part: Part[P], reduce: Callable[[P], P]) -> Part[P]:
    try:
        reduced = reduce(part.counts)
    except ValueError as error:
        raise MergeError(f"{part.name}: {error}") from error
    return Part(part.name, reduced, part.is_kept and reduced is part.counts)
