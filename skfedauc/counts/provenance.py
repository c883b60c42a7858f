"""Where counts come from: sources, retries, replacements and withdrawals."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from skfedauc import _input
from skfedauc._words import described, shortened
from skfedauc.counts.disclosure import Disclosure, DisclosureError


class MergeError(ValueError):
    """Merged parts that contradict each other.

    Parameters
    ----------
    fact : str
        What the parts disagree on, with their names.
    mend : str, default=""
        The remedy in Python.
    reason : str, default=""
        What differs: the positive label, more than two class "labels", whether there are "groups",
        the group "columns", the "kinds" of group labels, the level of "disclosure", the "model",
        the "period", "summaries" of one group, or "repeated" for rows that would count twice.
    level : Disclosure, default=None
        Level to which both parts can be reduced.
    message : str, default=None
        The message, if it is not the fact and the remedy.
    """

    def __init__(
        self,
        fact: str,
        mend: str = "",
        reason: str = "",
        level: Disclosure | None = None,
        message: str | None = None,
    ) -> None:
        super().__init__(message or (f"{fact}. {mend}" if mend else fact))
        self.fact, self.reason, self.level = fact, reason, level


class MergeTypeError(MergeError, TypeError):
    """Parts whose group labels differ in kind."""


class MergeDisclosureError(MergeError, DisclosureError):
    """Parts whose disclosure levels prevent merging."""


class Source(NamedTuple):
    """One counting.

    Attributes
    ----------
    name : str or None
        Who counted, such as a hospital.
    model : str or None
        Name, version or hash of the model that scored the rows.
    period : str or None
        When the rows arose, such as "2026-10" or "2026-10-01/2026-10-31".
    metadata : tuple of (str, str)
        Further facts, sorted by key.
    identifier : str
        32 hexadecimal digits: random, or a keyed hash of the counts (``with_source(secret=)``).
    """

    name: str | None = None
    model: str | None = None
    period: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    identifier: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What a second counting shares with the first if the rows are the same."""
        return (self.identifier,) if self.name is None else (self.name, self.model, self.period)

    def to_dict(self) -> dict[str, Any]:
        """Return the known facts as a mapping for JSON."""
        facts = {**self._asdict(), "metadata": dict(self.metadata) or None}
        return {name: value for name, value in facts.items() if value is not None}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Source:
        """Return the source that `to_dict` describes; unknown facts are ignored."""
        known: dict[str, Any] = {name: facts.get(name) for name in cls._fields}
        pairs = tuple(sorted((known["metadata"] or {}).items()))
        return cls(**{**known, "metadata": pairs})

    def in_words(self) -> str:
        """Return the source for messages."""
        if self.name is None:
            return f"the counting {self.identifier}"
        known = [f"the source {shortened(self.name)}"]
        for what, value in (("model", self.model), ("period", self.period)):
            known += [] if value is None else [f"{what} {shortened(value)}"]
        return ", ".join(known)


def new_source(
    name: Any = None,
    model: Any = None,
    period: Any = None,
    metadata: Mapping[str, str] | None = None,
    secret: bytes | None = None,
    digest: Callable[[], bytes] | None = None,
) -> Source:
    """Check `ScoreCounts.with_source`'s arguments, and return a source."""
    for argument, value in {"name": name, "model": model, "period": period}.items():
        if value is not None:
            if not isinstance(value, str):
                raise TypeError(f"{argument} must be a str or None; got {described(value)}.")
            _input.check_text([value], argument)
    pairs = tuple(sorted(dict(metadata or {}).items(), key=str))
    for pair in pairs:
        if not all(isinstance(text, str) for text in pair):
            raise TypeError(f"metadata must map text to text; got {described(pair)}.")
        _input.check_text(pair, "metadata")
    identifier = secrets.token_hex(16)
    if secret is not None:
        if not isinstance(secret, bytes) or len(secret) < 16:
            raise TypeError(
                "secret must be at least 16 random bytes that only the sender knows, such as "
                "secrets.token_bytes(32)."
            )
        content = (b"" if digest is None else digest()) + repr((name, model, period)).encode()
        identifier = hmac.new(secret, content, hashlib.sha256).hexdigest()[:32]
    return Source(name, model, period, pairs, identifier)


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return sources sorted by name, model, period and identifier, each identifier once."""
    found: dict[str, Source] = {}
    for source in sorted(sources, key=lambda s: (*(text or "" for text in s[:3]), s[4], s[3])):
        found.setdefault(source.identifier, source)
    return tuple(found.values())


def identifier_of(sources: Sequence[Source]) -> str:
    """Return an identifier for counts with these sources, which discloses nothing."""
    found = sorted(source.identifier for source in sources)
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()[:32]


def wrong_sources(sources: Any) -> str | None:
    """Return why these sources are invalid; None for valid sources."""
    if not isinstance(sources, tuple):
        return "its sources are none"
    for source in sources:
        if not isinstance(source, Source) or not isinstance(source.identifier, str):
            return "its sources are none"
        pairs = source.metadata
        if not (
            re.fullmatch("[0-9a-f]{32}", source.identifier)
            and all(isinstance(text, str | None) for text in source[:3])
            and isinstance(pairs, tuple)
            and all(isinstance(text, str) for pair in pairs for text in pair)
        ):
            return "its sources are none"
        if pairs != tuple(sorted(dict(pairs).items())):
            return "the metadata of a source is not in order"
    return None if sources == in_order(sources) else "its sources are not in order"


# Which parts to add --------------------------------------------------------------------------


class Entry(NamedTuple):
    """A merge's part: its name in messages, its sources, and a function for its digest."""

    name: str
    sources: tuple[Source, ...]
    digest: Callable[[], bytes]

    @property
    def keys(self) -> set[tuple[Any, ...]]:
        """The sources' keys."""
        return {source.key for source in self.sources}

    @property
    def identifiers(self) -> set[str]:
        """The sources' identifiers."""
        return {source.identifier for source in self.sources}


class Register:
    """Countings that a merge has seen; each counts once.

    Parameters
    ----------
    repeated : {"raise", "replace"}
        As in `ScoreCounts.merge`.
    """

    def __init__(self, repeated: str) -> None:
        self._repeated = _input.check_option("repeated", repeated, ("raise", "replace"))
        self.kept: dict[int, Entry] = {}
        self._by_mark: dict[Any, int] = {}

    def add(self, number: int, entry: Entry) -> list[int] | None:
        """Return which parts this one replaces, by number, or None for a retry."""
        marks = entry.keys | entry.identifiers
        earlier = sorted({self._by_mark[mark] for mark in marks if mark in self._by_mark})
        replaced = [_is_replaced(self.kept[n], entry, self._repeated) for n in earlier]
        if earlier and not all(replaced):
            if any(replaced):
                raise _overlap(self.kept[earlier[0]], entry)
            return None
        for n in earlier:
            gone = self.kept.pop(n)
            for mark in gone.keys | gone.identifiers:
                self._by_mark.pop(mark, None)
        self.kept[number] = entry
        self._by_mark.update(dict.fromkeys(marks, number))
        return earlier

    def check_models(self, models: str) -> None:
        """Raise a MergeError if countings that are kept name different models."""
        if _input.check_option("models", models, ("same", "any")) == "same":
            _check_models(self.kept.values())


def _is_replaced(first: Entry, second: Entry, repeated: str) -> bool:
    """Return whether the second part takes the place of the first; False for a retry."""
    ours, theirs = first.identifiers, second.identifiers
    if first.keys == second.keys:
        if first.digest() == second.digest():
            return False
        if repeated == "replace":
            return True
    elif theirs < ours:  # the part is in the sum already
        return False
    elif ours < theirs or (repeated == "replace" and first.keys < second.keys):
        return True
    raise _overlap(first, second)


def _overlap(first: Entry, second: Entry) -> MergeError:
    if first.keys == second.keys and len(first.sources) == 1:
        return MergeError(
            f"{first.name} and {second.name} both are {second.sources[0].in_words()}, with "
            "different counts",
            "Pass repeated='replace' to keep the last, or name them by with_source if both are to "
            "count, for instance with different periods.",
            "repeated",
        )
    shared = [
        source
        for source in second.sources
        if source.key in first.keys or source.identifier in first.identifiers
    ]
    return MergeError(
        f"{first.name} and {second.name} both contain {shared[0].in_words()}, so rows may count "
        "twice",
        "Leave one of them out, or take the source out of one: whole - part.",
        "repeated",
    )


def _check_models(entries: Iterable[Entry]) -> None:
    seen: dict[str, str] = {}
    for entry in entries:
        for source in entry.sources:
            if source.model is not None:
                seen.setdefault(source.model, f"{entry.name} ({source.in_words()})")
    if len(seen) > 1:
        first, second, *_ = seen.values()
        raise MergeError(
            f"{first} and {second} were scored by different models",
            "Leave one out, or pass models='any' if the scores are comparable.",
            "model",
        )


def without_sources(
    whole: tuple[Source, ...], part: tuple[Source, ...], *, is_complete: bool
) -> tuple[Source, ...]:
    """Return the sources that remain after a part is taken out."""
    known = {source.identifier for source in whole}
    absent = [source for source in part if source.identifier not in known]
    if absent:
        raise MergeError(f"the counts do not contain {absent[0].in_words()}.")
    if is_complete and not part:
        raise MergeError(
            "the part has no source, and all rows of the counts have one: it cannot be among them."
        )
    out = {source.identifier for source in part}
    return tuple(source for source in whole if source.identifier not in out)
