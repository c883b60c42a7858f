"""One check for all arguments whose values are listed in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skfedauc._words import all_shortened, enumerated, shortened


def check_option(
    name: str, value: Any, options: Iterable[str | None] | Mapping[Any, str], hint: str = ""
) -> Any:
    """Return the value of an argument that takes one of several names.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : object
    options : iterable of str or None, or mapping
        The names; a mapping explains each in messages, or has "" where a name needs no words.
    hint : str, default=""
        Sentence at the end of the message, after a space.

    Raises
    ------
    ValueError
        If the value is not one of the names, whatever its type.
    """
    known = list(options)
    # Arrays compare by element, so that `in` alone would raise an error of its own.
    if (value is None or isinstance(value, str)) and value in known:
        return value
    words = options if isinstance(options, Mapping) else {}
    explained = [
        f"{option!r} ({words[option]})" if words.get(option) else repr(option) for option in known
    ]
    text = enumerated(explained, "or") if len(known) < 5 else f"one of {all_shortened(known)}"
    raise ValueError(f"{name} must be {text}; got {shortened(value)}.{hint}")
