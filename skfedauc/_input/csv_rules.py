"""Rules for reading CSV files, in batches and on the command line.

Cells are text: 007 is not the number 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

SEPARATORS = (",", ";", "\t")
_WHOLE_FLOAT = re.compile(r"-?\d+\.0")


def header_of(
    read: Callable[[str], list[str]], default: str = SEPARATORS[0]
) -> tuple[str, list[str]]:
    """Return the separator and the column names of a file.

    If the default separator does not split the header, try other separators.

    Parameters
    ----------
    read : callable
        Returns the cells of the header for a separator.
    default : str, default=","
        The usual separator of files with this ending.
    """
    names: dict[str, list[str]] = {}
    for separator in (default, *SEPARATORS):
        names[separator] = read(separator)
        if len(names[separator]) > 1:
            return separator, names[separator]
    return default, names[default]


def without_zero_decimals(texts: Sequence[str]) -> Sequence[str]:
    """Return the distinct labels of a column, without ".0" if all labels end in ".0".

    Many programs write a column of integers with ".0" if a value is missing.
    """
    if texts and all(_WHOLE_FLOAT.fullmatch(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts
