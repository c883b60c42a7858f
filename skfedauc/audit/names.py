"""Names of groups, and of their columns, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from skfedauc import _words

# Largest number of groups in a sentence
_MOST_NAMED = 5
# Largest number of characters of a label in a sentence
_MOST_CHARACTERS = 60


def named(label: Any) -> str:
    """Return a group's label as text for a sentence, which no reader takes for a figure.

    Quotes enclose a text, and the joined parts of a tuple. "group" precedes other labels, such as
    numbers, dates and intervals.
    """
    if isinstance(label, tuple):
        parts = _words.label_text(label)
        mark = '"' if "'" in parts else "'"
        return _words.shortened_text(f"{mark}{parts}{mark}", _MOST_CHARACTERS)
    text = _code_or_text(label)
    return text if isinstance(label, str | bytes) else f"group {text}"


def named_in(column: str, label: Any) -> str:
    """Return a column and a label of the column as text, ``sex 'f'`` or ``site 3``."""
    return f"{column} {_code_or_text(label)}"


def _code_or_text(label: Any) -> str:
    text = repr(label) if isinstance(label, str | bytes) else _words.label_text(label)
    return _words.shortened_text(text, _MOST_CHARACTERS)


def listed(labels: Iterable[Any], text_of: Callable[[Any], str] = named) -> str:
    """Return groups as ``'b', 'c' and 'd'``; of many, the first and the number of the others."""
    items = [text_of(label) for label in labels]
    n_more = len(items) - _MOST_NAMED
    if n_more > 0:
        items[_MOST_NAMED:] = [_words.counted(n_more, "more group")]
    return _words.enumerated(items)


def crossed(columns: Iterable[str]) -> str:
    """Return the names of columns whose combinations are the groups, joined by a cross."""
    return " \N{MULTIPLICATION SIGN} ".join(columns)


def by(columns: Iterable[str]) -> str:
    """Return the names of columns as in `crossed`, with long names shortened."""
    return crossed(map(_words.shortened_label, columns))
