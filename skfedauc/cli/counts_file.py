"""Reading, writing and summaries of files of counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from skfedauc import _input
from skfedauc._words import counted, enumerated, shortened, shortened_label
from skfedauc.cli.options import ENDINGS
from skfedauc.cli.terminal import CommandError, OutputError, print_warning
from skfedauc.counts import LimitError, ScoreCounts
from skfedauc.counts.parquet import (
    PRIVATE_FORMAT,
    DamagedFileError,
    OtherFileError,
    pyarrow_parquet,
)

# Largest number of groups, of sources and of releases to list
MOST_LISTED = 6


def read_counts(path: str) -> ScoreCounts:
    """Return the counts in a file."""
    if not os.path.isfile(path):
        raise CommandError(f"{path}: no such file")
    try:
        return ScoreCounts.load(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ImportError as error:
        raise CommandError(str(error).removesuffix(".")) from None
    except OtherFileError:
        if holds_private_counts(path):
            raise CommandError(
                f"{path} holds counts with noise for differential privacy; skfedauc show describes "
                "it, and skfedauc.privacy.PrivateCounts.load reads it in Python"
            ) from None
        is_of_rows = path.lower().endswith(ENDINGS)
        hint = "; skfedauc audit and skfedauc count read predictions" if is_of_rows else ""
        raise CommandError(f"{path} is not a file that skfedauc count wrote{hint}") from None
    except DamagedFileError as error:
        # Errors of pyarrow have another type, and do not help the user.
        is_told = type(error.__cause__) is ValueError
        wrong = f": {error.__cause__}" if is_told else " or was cut off when it was copied"
        raise CommandError(f"{path} is damaged{wrong}; ask for another copy") from None
    except LimitError as error:
        told = str(error).removesuffix(".")
        raise CommandError(f"{told} by ScoreCounts.load in Python") from None
    except ValueError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def holds_private_counts(path: str) -> bool:
    """Return whether a file is readable and has the format of private counts."""
    try:
        metadata = pyarrow_parquet().read_metadata(path).metadata or {}
        facts = json.loads(metadata.get(b"skfedauc", b"null"))
    except Exception:  # A damaged file may raise any exception.
        return False
    return isinstance(facts, dict) and facts.get("format") == PRIVATE_FORMAT


def write_counts(counts: ScoreCounts, path: str, source: str | None = None, **facts: Any) -> None:
    """Write counts to a file, completely or not at all."""
    try:
        if any(text is not None for text in (source, *facts.values())):
            counts = counts.with_source(source, **facts)
        counts.save(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None
    except (ImportError, TypeError, ValueError) as error:
        raise CommandError(str(error).removesuffix(".")) from None


def check_files_can_be_used() -> None:
    """Raise an error if the package for files of counts is missing."""
    try:
        pyarrow_parquet()
    except ImportError as error:
        raise CommandError(str(error).removesuffix(".")) from None


def versions_of(path: str) -> tuple[str, int]:
    """Return a file's versions of skfedauc and the file format."""
    metadata = pyarrow_parquet().read_metadata(path).metadata
    facts = json.loads(metadata[b"skfedauc"])
    return facts["package"], facts["version"]


def columns_of(counts: ScoreCounts) -> tuple[str, ...]:
    """Return the group column names, by default "group", or "group_1" and so on."""
    if not counts.groups:
        return counts.group_names or ("group",)
    first = counts.groups[0]
    n_columns = len(first) if isinstance(first, tuple) else 1
    if len(counts.group_names) == n_columns:
        return counts.group_names
    return ("group",) if n_columns == 1 else tuple(f"group_{i + 1}" for i in range(n_columns))


def headline(counts: ScoreCounts, name: str, weighted: str = "") -> str:
    """Return a line with the name of a file and the numbers of rows by class."""
    return f"{name}: {rows_by_class(counts)}{weighted}"


def n_by_class(counts: ScoreCounts) -> dict[str, int]:
    """Return the numbers of positives and negatives, as entries of a document."""
    return {
        "n_positives": int(counts.n_positives.sum()),
        "n_negatives": int(counts.n_negatives.sum()),
    }


def rows_by_class(counts: ScoreCounts) -> str:
    """Return the numbers of rows, of positives and of negatives."""
    positives, negatives = n_by_class(counts).values()
    return (
        f"{counted(positives + negatives, 'row')}, "
        f"{counted(positives, 'positive')} and {counted(negatives, 'negative')}"
    )


def groups_in_words(counts: ScoreCounts) -> str:
    """Return a phrase with the number of groups and the group columns."""
    if counts.groups is None:
        return "no groups"
    columns = " x ".join(map(shortened_label, columns_of(counts)))
    return f"{counted(len(counts), 'group')} by {columns}"


def labels_in_words(groups: Sequence[Any]) -> str:
    """Return group labels; of many groups, the first and the last labels."""
    labels = list(map(shortened_label, groups))
    if len(labels) > MOST_LISTED:
        half = MOST_LISTED // 2
        labels = [*labels[:half], "...", *labels[-half:]]
    return "; ".join(labels)


def names_of_sources(counts: ScoreCounts, most: int = 5) -> str:
    """Return source names, with identifiers for sources without a name."""
    names = [
        source.identifier[:8] if source.name is None else shortened(source.name)
        for source in counts.sources
    ]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return enumerated(names) if names else "no source"


# Largest number of pairs of labels in a warning
_MOST_PAIRS = 3


def warn_of_spellings(counts: ScoreCounts) -> None:
    """Warn if labels of a column of groups differ only in case or spaces."""
    if not counts.groups:
        return
    rows = [label if isinstance(label, tuple) else (label,) for label in counts.groups]
    for name, labels in zip(columns_of(counts), zip(*rows, strict=True), strict=True):
        pairs = _pairs(labels)
        if pairs:
            shown = [" and ".join(map(shortened, pair)) for pair in pairs[:_MOST_PAIRS]]
            more = len(pairs) - _MOST_PAIRS
            if more > 0:
                shown.append(f"{more:,} more")
            print_warning(
                f"column {shortened(name)} has labels that differ only in case or spaces and count "
                f"as different groups: {', '.join(shown)}; if they are the same group, write them "
                "in one way and count again"
            )


def _pairs(labels: Iterable[Any]) -> list[list[str]]:
    """Return two labels of each set of labels that differ only in case or spaces."""
    spellings: dict[str, list[str]] = {}
    for text in sorted({label for label in labels if isinstance(label, str)}):
        spellings.setdefault(_input.folded(text), []).append(text)
    return [texts[:2] for texts in spellings.values() if len(texts) > 1]
