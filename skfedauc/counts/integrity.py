"""Checks of score counts from a file or a pickle: order, counts, weights, labels and checksum."""

from __future__ import annotations

import enum
import math
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input
from skfedauc._kernel import Cells
from skfedauc.counts.bins import Bins
from skfedauc.counts.limits import MOST_ROWS
from skfedauc.counts.origin import Source, in_order
from skfedauc.counts.ranges import Ranges, wrong_ranges
from skfedauc.counts.summary import Summary, arrays_of
from skfedauc.counts.summary_integrity import wrong_arrays, wrong_summary
from skfedauc.counts.withheld import Withheld, wrong_withheld


def checksum_of(arrays: Sequence[NDArray[Any]], labels: NDArray[Any] | None, origin: Any) -> int:
    """Return the CRC-32 checksum of the arrays, the labels and the metadata."""
    if labels is not None and labels.dtype.kind != "O":
        arrays = [*arrays, labels]
    checksum = 0
    for array in arrays:
        if array.dtype.kind == "O":  # integers of more than 64 bits
            content: Any = repr(array.tolist()).encode()
        else:
            content = np.ascontiguousarray(array).view(np.uint8).data
        checksum = zlib.crc32(content, checksum)
    if labels is not None and labels.dtype.kind == "O":
        text = "\0".join(map(text_of_label, labels.tolist()))
        checksum = zlib.crc32(text.encode("utf-8", "surrogatepass"), checksum)
    known = [origin.n_missing, list(origin.group_names), *map(_as_list, origin.classes)]
    if origin.sources:  # pickles of unsaved counts keep the checksum of earlier versions
        known += [[*map(list, origin.sources)], origin.is_complete]
    if origin.bins is not None:
        known += [origin.bins.to_dict()]
    if origin.withheld != Withheld():
        names = origin.withheld.labels
        texts = None if names is None else [*map(text_of_label, names)]
        known += [tuple(origin.withheld._replace(labels=None)), texts]
    if origin.is_suppressed or origin.may_repeat:
        known += [origin.is_suppressed, origin.may_repeat]
    return zlib.crc32(repr(known).encode(), checksum)


def _as_list(labels: Any) -> Any:
    return list(labels) if isinstance(labels, tuple) else labels


def text_of_label(label: Any) -> str:
    """Return a unique text for a label that does not depend on versions of libraries."""
    if isinstance(label, str):
        return label
    if isinstance(label, tuple):
        return "\1".join(map(text_of_label, label))
    if isinstance(label, enum.Enum):
        return f"{type(label).__qualname__}.{label.name}"
    if hasattr(label, "closed"):  # `label` is a pandas Interval
        return f"{text_of_label(label.left)} {text_of_label(label.right)} {label.closed}"
    if hasattr(label, "ordinal") and hasattr(label, "start_time"):  # `label` is a pandas Period
        return f"{label.ordinal} {label.start_time}"
    zone = getattr(label, "tzinfo", None)
    return str(label) if zone is None else f"{label} {zone}"


def check_state(
    content: Cells | Summary,
    labels: NDArray[Any] | None,
    origin: Any,
    checksum: int | None = None,
    ranges: Ranges | None = None,
    name: str = "the pickled ScoreCounts",
) -> None:
    """Raise an error for score counts that no rows can have, or with a wrong checksum.

    Parameters
    ----------
    content : Cells or Summary
    labels : ndarray or None
    origin : Origin
    checksum : int, default=None
        Expected checksum of the score counts; None to skip the comparison.
    ranges : ndarray or None, default=None
        Ranges of the cells of binned score counts.
    name : str, default="the pickled ScoreCounts"
        Name of the object that holds the score counts, for the message.

    Raises
    ------
    ValueError
        If the counts are damaged; the message names the reason.
    """
    wrong = _wrong_content(content, labels, origin, ranges)
    found = None
    if wrong is None and checksum is not None:
        found = checksum_of(arrays_of(content, ranges), labels, origin)
    if found != checksum and wrong is None:
        wrong = "its checksum is another one"
    if wrong is not None:
        raise ValueError(f"{name} is damaged: {wrong}. Make it again, or ask for another copy.")


def _wrong_content(
    content: Cells | Summary, labels: NDArray[Any] | None, origin: Any, ranges: Ranges | None
) -> str | None:
    if isinstance(content, Summary):
        wrong = _wrong_summary(content)
        if wrong is None and (ranges is not None or origin.bins is not None):
            wrong = "it is a summary with bins of scores"
        n_groups = content.n_groups if wrong is None else 0
    else:
        wrong = _wrong_cells(content)
        n_groups = content.starts.size - 1 if wrong is None else 0
    wrong = wrong or _wrong_labels(n_groups, labels) or _wrong_origin(origin)
    if wrong is not None or isinstance(content, Summary):
        return wrong
    return wrong_ranges(content.scores, ranges, origin.bins)


def _wrong_cells(cells: Cells) -> str | None:
    starts, scores, negatives, positives, weights = cells
    is_array = [isinstance(array, np.ndarray) for array in (starts, scores, negatives, positives)]
    if not all(is_array) or {starts.ndim, scores.ndim, negatives.ndim, positives.ndim} != {1}:
        return "it has no arrays of cells"
    if starts.dtype != np.intp or starts.size == 0 or starts[0] != 0:
        return "its groups begin nowhere"
    if starts[-1] != scores.size or (np.diff(starts) <= 0).any():
        return "its groups do not hold its cells"
    if scores.dtype != np.float64:
        return "its scores are not finite numbers"
    if not np.isfinite(scores).all():
        return f"its scores are not finite numbers{_at(~np.isfinite(scores), scores)}"
    rises = scores[1:] > scores[:-1]
    # The first cell of a group may have a lower score than the last cell of the previous group.
    rises[starts[1:-1] - 1] = True
    if not rises.all():
        return f"its scores are not in order{_at(np.append(False, ~rises), scores)}"
    is_zero = scores == 0
    if np.signbit(scores[is_zero]).any():
        return f"its scores are not in order{_at(is_zero & np.signbit(scores), scores)}"
    for counts in (negatives, positives):
        if counts.dtype not in (np.uint32, np.uint64) or counts.size != scores.size:
            return "its counts do not match its scores"
        if float(counts.sum(dtype=np.float64)) > MOST_ROWS:
            return "it has more rows than can be counted"
    empty = (negatives == 0) & (positives == 0)
    if empty.any():
        return f"it has cells without rows{_at(empty, scores)}"
    if weights is None:
        return None
    if weights.dtype != np.float64 or weights.shape != (4, scores.size):
        return "its weights do not match its scores"
    return _wrong_weights(weights, negatives, positives)


def _wrong_weights(
    weights: NDArray[np.float64] | None, negatives: NDArray[Any], positives: NDArray[Any]
) -> str | None:
    if weights is None:
        return None
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        return "its weights are not finite numbers of 0 or more"
    try:
        check_weight_sums(weights, negatives, positives)
    except ValueError:
        return "its weights do not match its counts"
    return None


def _wrong_summary(summary: Summary) -> str | None:
    wrong = wrong_arrays(summary)
    if wrong is not None:
        return wrong
    negatives, positives, weights, *_ = summary
    if (negatives < 0).any() or (positives < 0).any():
        return "it has negative numbers of rows"
    if (negatives + positives == 0).any():
        return "it has groups without rows"
    if max(float(n.sum(dtype=np.float64)) for n in (negatives, positives)) > MOST_ROWS:
        return "it has more rows than can be counted"
    return _wrong_weights(weights, negatives, positives) or wrong_summary(summary)


def _at(is_wrong: NDArray[np.bool_], scores: NDArray[np.float64]) -> str:
    """Return a phrase with the first wrong cell and the score of this cell."""
    cell = int(np.argmax(is_wrong))
    return f", at cell {cell} with the score {scores[cell]:.17g}"


def _wrong_labels(n_groups: int, labels: NDArray[Any] | None) -> str | None:
    if labels is None:
        return None if n_groups <= 1 else "its groups have no labels"
    if not isinstance(labels, np.ndarray) or labels.shape != (n_groups,):
        return "its labels do not match its groups"
    return None if _input.are_sorted_labels(labels) else "its labels are not in order"


def _wrong_origin(origin: Any) -> str | None:
    n_missing, names = origin.n_missing, origin.group_names
    if not isinstance(n_missing, int) or n_missing < 0:
        return "the number of rows left out is none"
    if n_missing > MOST_ROWS:
        return "it has more rows left out than can be counted"
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        return "the names of its groups are none"
    if not isinstance(origin.bins, Bins | None):
        return "its bins are none"
    if type(origin.is_suppressed) is not bool or type(origin.may_repeat) is not bool:
        return "its marks are neither set nor unset"
    wrong = wrong_sources(origin.sources, origin.is_complete) or wrong_withheld(origin.withheld)
    if wrong is not None:
        return wrong
    if not isinstance(origin.classes, tuple) or len(origin.classes) != 2:
        return "the labels of its classes are none"
    seen, positive = origin.classes
    if not isinstance(seen, tuple) or not all(
        isinstance(label, int | float | str) and label not in (math.inf, -math.inf)
        for label in (seen if positive is None else (*seen, positive))
    ):
        return "the labels of its classes are none"
    try:
        merged = _input.Classes.merged([_input.Classes(seen, positive)])
    except ValueError:
        return "the labels of its classes do not go together"
    if merged.seen != seen or (seen and positive is None):
        return "the labels of its classes are not in order"
    return None


def wrong_sources(sources: Any, is_complete: Any) -> str | None:
    """Return why these sources are invalid; None for valid sources."""
    if not isinstance(sources, tuple) or not all(
        isinstance(source, Source)
        and isinstance(source.identifier, str)
        and isinstance(source.name, str | None)
        and re.fullmatch("[0-9a-f]{32}", source.identifier)
        for source in sources
    ):
        return "its sources are none"
    if sources != in_order(sources):
        return "its sources are not in order"
    # Complete sources cannot be empty, because unsaved counts have no sources.
    is_possible = isinstance(is_complete, bool) and (sources or not is_complete)
    return None if is_possible else "its sources are none"


def check_weight_sums(
    weights: NDArray[np.float64],
    negatives: NDArray[np.integer[Any]],
    positives: NDArray[np.integer[Any]],
) -> None:
    """Raise an error for sums of weights and of squared weights that no rows can have."""
    for place, (name, counts) in enumerate((("negatives", negatives), ("positives", positives))):
        total, squares = weights[place], weights[place + 2]
        empty = counts == 0
        if ((total > 0) == empty).any() or ((squares > 0) == empty).any():
            raise ValueError(
                f"weight_{name} and squared_weight_{name} must be above 0 where n_{name} is, and 0 "
                "elsewhere."
            )
        # The sum of n squared weights is between W^2 / n, for equal weights, and W^2.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = squares / total**2
            too_small, too_large = share < (1 - 1e-6) / counts, share > 1 + 1e-6
        if (too_small & ~empty).any() or (too_large & ~empty).any():
            raise ValueError(
                f"squared_weight_{name} must be the sums of squared weights: from W**2 / n to W**2 "
                f"for n rows of total weight W = weight_{name}."
            )
