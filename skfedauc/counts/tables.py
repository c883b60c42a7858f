"""Conversion of score counts from and to tables with one row per group and score."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _input, _words
from skfedauc._kernel import Cells
from skfedauc.counts.integrity import check_weight_sums
from skfedauc.counts.ranges import Ranges

if TYPE_CHECKING:
    import pandas as pd

COUNT_COLUMNS = ("score", "n_negatives", "n_positives")
RANGE_COLUMNS = ("score_low", "score_high")
WEIGHT_COLUMNS = (
    "weight_negatives",
    "weight_positives",
    "squared_weight_negatives",
    "squared_weight_positives",
)


class CountColumns(NamedTuple):
    """Columns of a table of counts.

    Attributes
    ----------
    cells : Cells
        One cell for each row of the table with a count above 0, in any order; `starts` is empty.
    codes : ndarray of intp or None
        Group number of each cell.
    labels : ndarray or None
        Sorted labels of the groups.
    names : tuple of str
        Names of the group columns.
    ranges : ndarray of float64, shape (2, n_cells), or None
        Lowest and highest score of the rows of each cell; None for exact counts.
    """

    cells: Cells
    codes: NDArray[np.intp] | None
    labels: NDArray[Any] | None
    names: tuple[str, ...]
    ranges: Ranges | None


def read_columns(
    group: Any,
    counts: Mapping[str, Any],
    sums: Mapping[str, Any],
    ends: Mapping[str, Any],
    group_columns: Mapping[str, Any],
) -> CountColumns:
    """Validate the columns of a table of counts.

    Parameters
    ----------
    group : array-like or None
        Group labels.
    counts : mapping of str to array-like
        The columns `score`, `n_negatives` and `n_positives`.
    sums : mapping of str to array-like or None
        Sums of the weights and of the squared weights by class, or None for unweighted rows.
    ends : mapping of str to array-like or None
        The columns `score_low` and `score_high`; both None for exact counts.
    group_columns : mapping of str to array-like
        Columns of group labels by name, as an alternative to `group`.

    Returns
    -------
    CountColumns

    Raises
    ------
    ValueError, TypeError
        If a column is not as `ScoreCounts.from_counts` requires.
    """
    _refuse_whole_table(group, counts, group_columns)
    _check_columns_of_counts(group, counts, sums, ends, group_columns)
    _input.check_row_order({"group": group, **group_columns, **counts, **sums, **ends})
    scores = _input.check_scores(counts["score"], "score") + 0.0
    negatives = _input.check_counts(counts["n_negatives"], "n_negatives")
    positives = _input.check_counts(counts["n_positives"], "n_positives")
    weights = None
    if sums[WEIGHT_COLUMNS[0]] is not None:
        checked = [_input.check_sums(of_rows, name) for name, of_rows in sums.items()]
        for name, of_rows in zip(sums, checked, strict=True):
            _input.check_length(name, of_rows.size, "score", scores.size)
        weights = np.stack(checked)
    for name, size in (("n_negatives", negatives.size), ("n_positives", positives.size)):
        _input.check_length(name, size, "score", scores.size)
    if weights is not None:
        check_weight_sums(weights, negatives, positives)
    ranges = _ranges_of(ends, scores)
    codes: NDArray[np.intp] | None = None
    labels: NDArray[Any] | None = None
    names: tuple[str, ...] = ()
    if group is not None or group_columns:
        codes, labels, names = _encode_group_columns(group, group_columns)
        _input.check_length("group", codes.size, "score", scores.size)
    kept = negatives + positives > 0
    if not kept.all():
        scores, negatives, positives = scores[kept], negatives[kept], positives[kept]
        weights = None if weights is None else weights[:, kept]
        ranges = None if ranges is None else ranges[:, kept]
        if codes is not None and labels is not None:
            codes, labels = _input.drop_unused(codes[kept], labels)
    # Unsorted cells have no starts.
    cells = Cells(np.zeros(0, np.int64), scores, negatives, positives, weights)
    return CountColumns(cells, codes, labels, names, ranges)


def _ranges_of(ends: Mapping[str, Any], scores: NDArray[np.float64]) -> Ranges | None:
    """Return the ranges of the scores; None without columns of ranges."""
    if all(column is None for column in ends.values()):
        return None
    columns = [_input.check_scores(column, name) + 0.0 for name, column in ends.items()]
    for name, column in zip(ends, columns, strict=True):
        _input.check_length(name, column.size, "score", scores.size)
    low, high = columns
    is_wrong = (low > scores) | (scores > high)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        raise ValueError(
            f"score must be from score_low to score_high; got {scores[place]:.17g} with the range "
            f"from {low[place]:.17g} to {high[place]:.17g} in row {place}."
        )
    return np.stack(columns)


def table_of(
    cells: Cells,
    labels: NDArray[Any] | None,
    names: tuple[str, ...],
    ranges: Ranges | None = None,
) -> pd.DataFrame:
    """Return the table of counts that `read_columns` reads."""
    import pandas as pd

    _, scores, negatives, positives, weights = cells
    # 32-bit unsigned integers would wrap around silently when users add or subtract columns.
    counts = {
        "score": scores,
        **({} if ranges is None else dict(zip(RANGE_COLUMNS, ranges, strict=True))),
        "n_negatives": negatives.astype(np.int64),
        "n_positives": positives.astype(np.int64),
    }
    if weights is not None:
        counts |= dict(zip(WEIGHT_COLUMNS, weights, strict=True))
    group_columns: dict[str, NDArray[Any]] = {}
    if labels is not None:
        columns = _input.columns_of_labels(labels)
        # `read_columns` reads columns with the names of ranges as ranges.
        names = names_of_columns(names, len(columns), labels.size, [*counts, *RANGE_COLUMNS])
        if labels.size == 0:
            columns = [labels] * len(names)
        of_cell = cells.groups
        group_columns = dict(zip(names, (column[of_cell] for column in columns), strict=True))
    return pd.DataFrame({**group_columns, **counts})


def names_of_columns(
    names: Iterable[str], n_columns: int, n_groups: int, counted: Iterable[str]
) -> tuple[str, ...]:
    """Return the names of the group columns in a table with the columns `counted`."""
    own = tuple(names)
    # Without labels, only the names determine the number of columns.
    has_other_number = len(own) != n_columns and n_groups > 0
    if not own or has_other_number or set(own) & set(counted):
        return _default_names(n_columns)
    return own


def _default_names(n_columns: int) -> tuple[str, ...]:
    """Return the default names of unnamed group columns."""
    if n_columns == 1:
        return ("group",)
    return tuple(f"group_{number}" for number in range(1, n_columns + 1))


def _check_columns_of_counts(
    group: Any,
    given: Mapping[str, Any],
    sums: Mapping[str, Any],
    ends: Mapping[str, Any],
    group_columns: Mapping[str, Any],
) -> None:
    """Raise an error for missing, superfluous and probably misspelled columns."""
    known = ["group", *given, *sums, *ends]
    for name in group_columns:
        near = difflib.get_close_matches(name, known[1:], n=1, cutoff=0.8)
        if near:
            raise TypeError(
                f"from_counts has no column {_words.shortened(name)}: is it "
                f"{_words.shortened(near[0])}? A column of group labels "
                "needs a name that is less like it."
            )
    absent = [name for name, column in given.items() if column is None]
    if absent:
        raise TypeError(f"from_counts needs the column {', '.join(absent)}; got none.")
    if group is not None and group_columns:
        raise TypeError(
            f"from_counts takes group or columns of labels by name ({', '.join(group_columns)}), "
            "not both."
        )
    absent = [name for name, column in sums.items() if column is None]
    if 0 < len(absent) < len(sums):
        raise TypeError(
            f"counts of weighted rows need {_words.enumerated(list(sums))}; "
            f"{_words.enumerated(absent)} {'is' if len(absent) == 1 else 'are'} missing."
        )
    absent = [name for name, column in ends.items() if column is None]
    if len(absent) == 1:
        raise TypeError(
            f"counts by ranges of scores need the columns {' and '.join(ends)}; {absent[0]} is "
            "missing."
        )


def _refuse_whole_table(
    group: Any, given: Mapping[str, Any], group_columns: Mapping[str, Any]
) -> None:
    """Raise an error if `group` is a whole table; users must pass its columns by name."""
    names = getattr(group, "column_names", getattr(group, "columns", group))
    is_table = isinstance(group, Mapping) or names is not group
    if is_table and not group_columns and all(column is None for column in given.values()):
        kind = type(group).__name__
        is_mapping = isinstance(group, Mapping) or hasattr(group, "keys")
        unpacked = "**table" if is_mapping else "**table.to_pandas()"
        raise TypeError(
            f"from_counts takes columns by name, and got a {kind} as the column of the groups; "
            f"pass its columns, ScoreCounts.from_counts({unpacked})."
        )


def _encode_group_columns(
    group: Any, group_columns: Mapping[str, Any]
) -> tuple[NDArray[np.intp], NDArray[Any], tuple[str, ...]]:
    """Return group numbers, group labels and the names of the group columns."""
    if group is not None:
        codes, labels = _input.encode_groups(group, "group")
        names = _input.names_of(labels, group)
    else:
        codes, labels = _input.encode_columns(group_columns)
        names = tuple(group_columns)
        _input.check_text(names, "the name of a column of groups")
    if names == ("",):
        names = ()
    return codes, labels, () if names == _default_names(len(names)) else names
