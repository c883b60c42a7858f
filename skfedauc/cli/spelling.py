"""Warnings of group labels that differ only in spelling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skfedauc import _input
from skfedauc._words import shortened
from skfedauc.cli.counts_file import columns_of
from skfedauc.cli.terminal import print_warning
from skfedauc.counts import ScoreCounts

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
