"""Checks for single arguments: options, numbers, flags, paths and seeds.

One function for each kind, with one form of message: "name must be ...; got value". Scikit-learn's
`check_scalar` accepts True and NaN, and importing it would slow down devices that count rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from skfedauc._words import all_shortened, described, enumerated, shortened

# Larger numbers overflow where C code takes them.
_LARGEST = (1 << 63) - 1
_MOST_JOBS = (1 << 31) - 1


def check_option(
    name: str, value: Any, options: Iterable[str | None] | Mapping[Any, str], hint: str = ""
) -> Any:
    """Return an argument that takes one among several names, after checking it.

    A mapping explains each name in messages, or has "" where a name needs no words.
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


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number that a float can hold, and not a boolean."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def check_number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
    hint: str = "",
) -> float:
    """Return a finite number within the given ends as a float, or raise a ValueError."""
    number = float(value) if is_number(value) else math.nan
    is_within = (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    )
    if not is_within:
        ends = {"above": above, "at least": at_least, "below": below, "at most": at_most}
        words = [f"{word} {end:g}" for word, end in ends.items() if end is not None]
        what = f"a number {enumerated(words)}" if words else "a finite number"
        raise ValueError(f"{name} must be {what}; got {shortened(value)}.{hint}")
    return number


def check_share(value: Any, name: str) -> float:
    """Return a float between 0 and 1, exclusive, or raise a ValueError."""
    if not is_number(value) or not 0 < value < 1:
        hint = (
            f" Pass {value / 100:g} for {value:g} %."
            if is_number(value) and 1 < value < 100
            else ""
        )
        raise ValueError(f"{name} must be a number between 0 and 1; got {shortened(value)}.{hint}")
    return float(value)


def check_whole_number(value: Any, name: str, at_least: int = 1, at_most: int = _LARGEST) -> int:
    """Return an integer of at least `at_least`, or raise a ValueError."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not at_least <= value <= at_most:
        ends = f"at most {at_most:,}" if is_whole and value > at_most else f"at least {at_least}"
        raise ValueError(f"{name} must be a whole number of {ends}; got {shortened(value)}.")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """Return True or False, or raise a TypeError."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {described(value)}.")
    return bool(value)


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return the checked `n_jobs`."""
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0 or abs(n_jobs) > _MOST_JOBS):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0; got {shortened(n_jobs)}."
        )
    return None if n_jobs is None else int(n_jobs)


def check_random_state(random_state: Any) -> np.random.RandomState:
    """Return a random number generator for None, an integer or a generator, as scikit-learn."""
    from sklearn.utils import check_random_state

    try:
        generator: np.random.RandomState = check_random_state(random_state)
        return generator
    except (ValueError, TypeError):
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1 or a numpy RandomState; "
            f"got {shortened(random_state)}."
        ) from None
