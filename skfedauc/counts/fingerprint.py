"""SHA-256 of counts, which identifies the rows of a result."""

from __future__ import annotations

import json
from typing import Any

from skfedauc.counts.integrity import text_of_label
from skfedauc.counts.label_entries import entry_of
from skfedauc.counts.parquet import digest
from skfedauc.counts.state import State


def sha256_of(state: State) -> str:
    """Return the SHA-256 of the counts and of the group labels, in hexadecimal.

    The hash covers what ``==`` of two score counts compares: the level of disclosure, the labels
    and the arrays. The hash leaves out the metadata, such as sources and names of columns.
    """
    labels = None if state.labels is None else list(map(_entry, state.labels.tolist()))
    # JSON in ASCII also represents text that UTF-8 cannot encode.
    return digest({"disclosure": state.disclosure}, [[json.dumps(labels)]], state.arrays)


def _entry(label: Any) -> Any:
    """Return a label as a value that JSON can represent, also for labels that no file can hold."""
    try:
        return entry_of(label)
    except TypeError:
        return {"text": text_of_label(label)}
