"""Unicode checks, short strings converted to integers, and rules for CSV files.

The integers have the strings' order. Numbering and sorting is faster for integers. Cells of
CSV files are text: 007 is not the number 7.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Largest length of strings to convert to integers
MOST_CHARACTERS = 32
# Number of rows to convert at once: the rows fit in a cache
BLOCK = 1 << 16


def check_text(texts: Iterable[str], name: str) -> None:
    """Refuse text with surrogates, which no file, table or page can hold."""
    listed = list(texts)
    try:
        "".join(listed).encode()
    except UnicodeEncodeError:
        odd = next(text for text in listed if not _is_valid(text))
        raise ValueError(
            f"{name} holds {odd[:60]!a}, which is not valid Unicode: it has a surrogate, probably "
            "because the text was decoded with a wrong encoding. Read the text with the correct "
            "encoding, or replace the surrogates by text.encode('utf-8', 'replace').decode()."
        ) from None


def _is_valid(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def folded(text: str) -> str:
    """Return a key to compare text without regard to case and spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def even_text(column: Any) -> NDArray[np.uint8] | None:
    """Return strings as arrow's bytes, one row per string, or None for different lengths.

    These rows sort like the strings, as UTF-8 preserves code point order.
    """
    import narwhals.stable.v2 as nw

    pa = nw.dependencies.get_pyarrow()
    series = nw.from_native(column, series_only=True)
    if pa is None or series.dtype != nw.String:
        return None
    if nw.dependencies.is_pandas_series(column):
        # pyarrow may not convert strings in another storage.
        of_arrow = getattr(column.dtype, "storage", "") == "pyarrow"
        if not of_arrow and not hasattr(column.dtype, "pyarrow_dtype"):
            return None

    text = series.to_arrow()
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    if text.null_count or not (
        pa.types.is_large_string(text.type) or pa.types.is_string(text.type)
    ):
        return None
    _, offsets, characters = text.buffers()
    places = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(text.type) else np.int32)
    places = places[text.offset : text.offset + len(text) + 1]
    width = int(places[1] - places[0])
    if not 0 < width <= MOST_CHARACTERS:
        return None
    for start in range(0, len(text), BLOCK):
        if (np.diff(places[start : start + BLOCK + 1]) != width).any():
            return None
    return np.frombuffer(characters, np.uint8)[places[0] : places[-1]].reshape(-1, width)


def code_points(text: NDArray[np.str_]) -> NDArray[np.uint32]:
    native = np.ascontiguousarray(text, text.dtype.newbyteorder("="))
    return native.view(np.uint32).reshape(text.size, text.dtype.itemsize // 4)


def digits_as_integers(characters: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.int64] | None:
    """Return integers in the same order as strings, given as character rows.

    Each character is a digit. The base of a digit is the range of the characters at the position of
    the digit. The result is None if the integers do not fit in 64 bits.
    """
    n_rows, width = characters.shape
    if n_rows == 0 or not 0 < width <= MOST_CHARACTERS:
        return None
    # The first rows often show that the integers do not fit in 64 bits.
    if np.prod(np.ptp(characters[:1000], axis=0) + 1.0) >= 1 << 62:
        return None
    low, high = (_by_place(choose, characters) for choose in (np.minimum, np.maximum))
    bases = high.astype(np.int64) - low + 1
    if np.prod(bases, dtype=np.float64) >= 1 << 62:
        return None
    numbers = np.zeros(n_rows, np.int64)
    for start in range(0, n_rows, BLOCK):
        block = numbers[start : start + BLOCK]
        for place in np.flatnonzero(bases > 1):
            block *= bases[place]
            block += characters[start : start + BLOCK, place]
            block -= low[place]
    return numbers


def _by_place(choose: np.ufunc, characters: NDArray[Any]) -> NDArray[Any]:
    """Return the minimum or maximum over all rows by position, for 64 short rows at once."""
    n_rows, width = characters.shape
    whole = n_rows // 64 * 64
    rows = [characters[whole:]]
    if whole:
        many = characters[:whole].reshape(-1, 64 * width)
        rows.append(choose.reduce(many, axis=0).reshape(64, width))
    return np.asarray(choose.reduce(np.concatenate(rows), axis=0))


SEPARATORS = (",", ";", "\t")
_WHOLE_FLOAT = re.compile(r"-?\d+\.0")


def header_of(
    read: Callable[[str], list[str]], default: str = SEPARATORS[0]
) -> tuple[str, list[str]]:
    """Return a file's separator and column names; `read` returns the cells for a separator.

    If the default separator does not split the header, try other separators.
    """
    names: dict[str, list[str]] = {}
    for separator in (default, *SEPARATORS):
        names[separator] = read(separator)
        if len(names[separator]) > 1:
            return separator, names[separator]
    return default, names[default]


def without_zero_decimals(texts: Sequence[str]) -> Sequence[str]:
    """Return a column's distinct labels, without ".0" if all labels end in ".0".

    Many programs write an integer column with ".0" if a value is missing.
    """
    if texts and all(_WHOLE_FLOAT.fullmatch(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts
