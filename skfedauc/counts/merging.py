"""Merging of score counts from an iterable, in rounds of bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from skfedauc import _input
from skfedauc._words import described
from skfedauc.counts.agreement import Agreement, MergeError, Repeats
from skfedauc.counts.disclosure import Disclosure, check_disclosure
from skfedauc.counts.levels import at_level
from skfedauc.counts.state import State
from skfedauc.counts.sums import sum_of

# A round ends once its parts have at least _ROUND cells, and at least as many cells as the merged
# counts. Parts that the caller keeps in memory do not count. Each part takes as much memory as its
# cells and another _CELLS_PER_PART cells.
_ROUND, _CELLS_PER_PART = 1 << 16, 1 << 7


class Part(NamedTuple):
    """Part of a merge.

    Attributes
    ----------
    name : str
        Name in messages.
    state : State
    is_kept : bool
        Whether the caller keeps the counts in memory, so that an early merge saves no memory.
    """

    name: str
    state: State
    is_kept: bool = False


def merged_parts(parts: Iterable[Part], repeated: str, disclosure: Disclosure | None) -> State:
    """Check that parts agree, and merge the parts.

    Parameters
    ----------
    parts : iterable of Part
    repeated : {"raise", "allow"}
        Whether rows of the same counting may count several times.
    disclosure : "exact", "bins", "summary", Bins or None
        Level of the result, to which the function reduces the parts; None for parts of one level.

    Raises
    ------
    ValueError
        If there are no parts, or if two parts disagree.
    """
    options = {"raise": "an error", "allow": "rows count several times"}
    _input.check_option("repeated", repeated, options)
    level = None if disclosure is None else check_disclosure(disclosure)
    waiting: list[State] = []
    size = 0
    for _, state, is_kept in _checked(parts, level, allow_repeated=repeated == "allow"):
        waiting.append(state)
        if not is_kept:
            size += _n_cells(state) + _CELLS_PER_PART
        if size >= max(_ROUND, _n_cells(waiting[0])):
            waiting, size = [sum_of(waiting)], 0
    if not waiting:
        raise ValueError("parts must have at least one ScoreCounts; got none.")
    merged = sum_of(waiting)
    if repeated == "allow":
        merged = merged._replace(origin=merged.origin._replace(may_repeat=True))
    return merged


def _n_cells(state: State) -> int:
    """Return the number of cells, or the number of groups of a summary."""
    return state.n_groups if state.summary is not None else state.cells.scores.size


def _checked(
    parts: Iterable[Part], level: Disclosure | None, *, allow_repeated: bool
) -> Iterator[Part]:
    """Check each part, and yield the part at the level of the result."""
    repeats = Repeats()
    agreement = Agreement(
        "parts",
        "text by .regroup(str)",
        "name the missing group, for instance by counts.regroup({None: 'device 7'})",
    )
    for part in parts:
        if not allow_repeated:
            repeats.check(part.name, part.state)
        agreement.check(part.name, part.state)
        if level is not None:
            part = _reduced(part, level)
        agreement.check_level(part.name, part.state)
        yield part
    repeats.warn()


def _reduced(part: Part, level: Disclosure) -> Part:
    try:
        reduced = at_level(part.state, level, widen=True)
    except ValueError as error:
        raise MergeError(f"{part.name}: {error}") from error
    return Part(part.name, reduced, part.is_kept and reduced is part.state)


def check_iterable(parts: Any, kind: type) -> None:
    """Raise an error for an argument that is not an iterable of parts, such as a table or a row.

    Parameters
    ----------
    parts : object
        Argument of `ScoreCounts.merge`.
    kind : type
        `ScoreCounts`.
    """
    if isinstance(parts, kind):
        raise TypeError("parts must be an iterable of score counts; got a single one.")
    if isinstance(parts, Mapping):
        wrong = [name for name in parts if not isinstance(name, str) or not name]
        if wrong:
            raise TypeError(
                "parts must be a mapping from names to score counts or paths; got the name "
                f"{described(wrong[0])}."
            )
        return
    if isinstance(parts, str | bytes | os.PathLike) or not isinstance(parts, Iterable):
        raise TypeError(
            "parts must be an iterable of score counts or paths, such as a list; got "
            f"{described(parts)}."
        )
    is_series = hasattr(parts, "iloc") and not hasattr(parts, "columns")
    is_row = is_series and len({isinstance(part, kind) for part in parts}) > 1
    if is_row or hasattr(parts, "columns") or hasattr(parts, "column_names"):
        raise TypeError(
            "parts must be an iterable of score counts; got a "
            f"{'row of a table' if is_row else type(parts).__name__}. Pass the column of score "
            "counts, such as table['counts']."
        )


def wrong_part(part: Any) -> TypeError:
    """Return the error for a part that is neither score counts nor a path, with the remedy."""
    mend = ""
    if isinstance(part, bytes | bytearray | memoryview):
        mend = " ScoreCounts.from_bytes reads the bytes that ScoreCounts.to_bytes returned."
    elif hasattr(part, "releases"):
        mend = " PrivateCounts.merge adds up score counts and private counts."
    elif isinstance(part, tuple | Mapping) or hasattr(part, "columns") or hasattr(part, "iloc"):
        mend = " Pass the column of score counts of a table, such as table['counts']."
    return TypeError(
        f"parts must be ScoreCounts or paths of files; got one of type {type(part).__name__}.{mend}"
    )
