"""What score counts that are read one by one must share, so that they can be merged.

The checks name the first part that differs. A merge of many parts cannot name this part.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from skfedauc import _input
from skfedauc._words import shortened
from skfedauc.counts.origin import Source
from skfedauc.counts.state import State


class Agreement:
    """Class labels and kind of group labels that all parts must share.

    Parameters
    ----------
    parts : str
        Noun for several parts in messages, such as "batches".
    mend : str
        How to convert group labels to one kind, such as "text by .astype(str)".
    """

    def __init__(self, parts: str, mend: str) -> None:
        self._parts, self._mend = parts, mend
        self._classes = _input.Classes()
        self._kind: Any = None

    def note(self, counts: State) -> None:
        """Take over a part whose errors come from elsewhere."""
        with contextlib.suppress(ValueError):
            self._classes = _input.Classes.merged([self._classes, counts.origin.classes])
        self._unite(_input.kind_of(counts.labels))

    def check(self, name: str, counts: State) -> None:
        """Refuse a part with other classes, or with group labels of another kind."""
        try:
            self._classes = _input.Classes.merged([self._classes, counts.origin.classes])
        except ValueError as error:
            raise ValueError(f"{name}: with the {self._parts} before, {error}") from error
        kind, before = _input.kind_of(counts.labels), self._kind
        if not self._unite(kind):
            raise TypeError(
                f"{name}: it has {_described(kind)}, and {self._parts} before had "
                f"{_described(before)}; all need groups of one kind, for instance "
                f"{self._mend}."
            )

    def _unite(self, kind: Any) -> bool:
        """Return whether parts with groups of this kind can be merged with the parts before."""
        if kind is None:  # a part without rows has no kind of group labels
            return True
        united = kind if self._kind is None else _input.unite_kinds(self._kind, kind)
        self._kind = self._kind if united is None else united
        return united is not None


def _described(kind: Any) -> str:
    return kind if kind == "no groups" else f"groups labelled by {kind}"


class Repeats:
    """Identifiers of the countings in all parts, so that no row counts twice."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def check(self, name: str, sources: Iterable[Source]) -> None:
        """Refuse a part with a counting that is in a part before.

        Raises
        ------
        ValueError
            If a counting is repeated; the message names both parts.
        """
        for source in sources:
            shown = name if source.name is None else f"{name} (source {shortened(source.name)})"
            if source.identifier in self._found:
                before = self._found[source.identifier]
                raise ValueError(
                    f"{before} and {shown} contain the same counting, with the identifier "
                    f"{source.identifier}, whose rows would count twice. Leave one of them out, or "
                    "pass repeated='allow' to ScoreCounts.merge."
                )
            self._found[source.identifier] = shown
