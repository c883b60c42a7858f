"""Conversion of group labels to values that JSON can represent, and back."""

from __future__ import annotations

import datetime
import enum
import sys
from typing import Any

import numpy as np

from skfedauc._words import shortened


def entry_of(label: Any) -> Any:
    """Return a label as a value that JSON can represent.

    Parameters
    ----------
    label : object
        A group label.

    Raises
    ------
    TypeError
        If the label is a member of an Enum, or `label_of` would not return the same label.
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [entry_of(part) for part in label]
    if isinstance(label, datetime.datetime) and label.tzinfo is None:
        return {"date": label.isoformat()}
    if isinstance(label, bool | int | float | str):
        return label
    entry = _entry_of_pandas(label)
    if entry is not None:
        return entry
    is_enum = isinstance(label, enum.Enum)
    mend = "[member.name for member in labels]" if is_enum else ".astype(str)"
    raise TypeError(
        "files keep groups labelled by booleans, integers, strings, dates, periods or intervals; "
        f"got {shortened(label)}. Convert labels, for instance by {mend}."
    )


def _entry_of_pandas(label: Any) -> dict[str, Any] | None:
    """Return an entry for a pandas label; None if reading the entry gives a different label."""
    pd = sys.modules.get("pandas")
    entry: dict[str, Any]
    if pd is None:
        return None
    if isinstance(label, pd.Period):
        entry = {"period": label.ordinal, "frequency": label.freqstr}
    elif isinstance(label, pd.Interval):
        ends = [entry_of(end) for end in (label.left, label.right)]
        entry = {"interval": ends, "closed": label.closed}
    elif isinstance(label, pd.Timestamp):
        entry = {"instant": label.tz_convert("UTC").isoformat(), "zone": str(label.tz)}
    else:
        return None
    try:
        again = label_of(entry)
        is_alike = again == label and str(again) == str(label)
    except (TypeError, ValueError, KeyError):  # pandas may not know the time zone
        return None
    return entry if is_alike else None


def label_of(entry: Any) -> Any:
    """Return the label of an entry.

    Raises
    ------
    ValueError, TypeError, KeyError
        If `entry_of` does not make such an entry.
    """
    if isinstance(entry, list):
        return tuple(map(label_of, entry))
    if not isinstance(entry, dict):
        return entry
    if "date" in entry:
        return datetime.datetime.fromisoformat(entry["date"])
    import pandas as pd

    if "period" in entry:
        return pd.Period(ordinal=entry["period"], freq=entry["frequency"])
    if "interval" in entry:
        ends = map(label_of, entry["interval"])
        left, right = (pd.Timestamp(e) if isinstance(e, datetime.datetime) else e for e in ends)
        return pd.Interval(left, right, closed=entry["closed"])
    return pd.Timestamp(entry["instant"]).tz_convert(entry["zone"])
