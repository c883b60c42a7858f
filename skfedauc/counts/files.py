"""Counts outside this package: tables of counts, files, and what a receiver of files accepts.

`file_format` has the bytes of files. It needs pyarrow, so that it is imported where files are read
or written.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import enum
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _rows
from skfedauc._kernel import Cells
from skfedauc._output_file import check_target, write_whole
from skfedauc._words import counted, described, enumerated, listed, shortened
from skfedauc.counts.bins import Immutable
from skfedauc.counts.disclosure import Disclosure
from skfedauc.counts.moments import OwnMoments
from skfedauc.counts.state import State, check_weight_sums, wrong_ranges

if TYPE_CHECKING:
    import pandas as pd

# Columns of counts, after the columns of the group labels and of the scores
N_ROWS = ("n_negatives", "n_positives")
RANGE_COLUMNS = ("score_low", "score_high")
WEIGHT_COLUMNS = (
    "weight_negatives",
    "weight_positives",
    "squared_weight_negatives",
    "squared_weight_positives",
)
_OPTIONAL = (*WEIGHT_COLUMNS, *RANGE_COLUMNS)
# Prefixes of the sums of a summary; the last two are of the lowest and the highest AUC that score
# ranges permit
PREFIXES = ("", "lowest_", "highest_")


class RefusedError(ValueError):
    """A file that is refused although it is not damaged."""


class OtherFileError(RefusedError):
    """Error for data that are not score counts."""


class LimitError(RefusedError):
    """A file that a receiver's limit refuses."""


def check(is_right: Mapping[str, object]) -> None:
    """Raise a ValueError with the reason whose condition does not hold."""
    for reason, holds in is_right.items():
        if not holds:
            raise ValueError(reason)


def pyarrow_parquet() -> Any:
    return _input.imported("pyarrow.parquet", "Files of ScoreCounts need pyarrow", "files")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """What a receiver accepts; checked before anything large is read.

    The defaults suit your own files; `GroupAUCAggregator` has lower ones.

    Parameters
    ----------
    max_bytes : int, default=2**34
        A file's size, and its content's in memory.
    max_rows : int, default=2**40
        Counted rows by class.
    max_cells, max_groups, max_sources : int, default=2**40
        Cells, groups and sources.
    max_label_length : int, default=10_000
        Characters in a group label, a class label, a source name or another name.
    groups : collection of labels, default=None
        The only groups that the sender may have, also as withheld ones; None for any.
    source : str, default=None
        The only source name that the sender may use; None for any.

    Examples
    --------
    >>> from skfedauc import ScoreCounts
    >>> from skfedauc.counts import Limits
    >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.4, 0.7], groups=["oslo"] * 3)
    >>> ScoreCounts.from_bytes(counts.to_bytes(), limits=Limits(max_rows=1))
    Traceback (most recent call last):
    skfedauc.counts.files.LimitError: data is refused: it counts 2 rows of a class, above the \
receiver's limit of 1; pass limits=Limits(max_rows=...) to accept it.
    """

    max_bytes: int = 1 << 34
    max_rows: int = _input.MOST_ROWS
    max_cells: int = 1 << 40
    max_groups: int = 1 << 40
    max_sources: int = 1 << 40
    max_label_length: int = 10_000
    groups: Any = None
    source: str | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.name.startswith("max_"):
                number = _input.check_whole_number(getattr(self, field.name), field.name, 0)
                object.__setattr__(self, field.name, number)
        if self.groups is not None:
            _input.check_type(self.groups, Iterable, "groups must be a list of labels")
            object.__setattr__(self, "groups", tuple(self.groups))
        _input.check_type(self.source, str | None, "source must be a name or None")

    def check(self, name: str, number: int, what: str) -> None:
        """Raise a LimitError for a number above a limit; `what` is a sentence with ``{}``."""
        most = getattr(self, name)
        if number > most:
            raise LimitError(
                f"{what.format(f'{number:,}')}, above the receiver's limit of {most:,}; pass "
                f"limits=Limits({name}=...) to accept it"
            )

    def check_text(self, length: int) -> None:
        """Raise a LimitError for a label or name with more characters than the limit."""
        self.check("max_label_length", length, "it has a label or name of {} characters")

    def check_sender(self, state: State) -> None:
        """Raise a LimitError for groups, also withheld ones, or sources of other senders."""
        own: list[Any] = [] if state.labels is None else state.labels.tolist()
        labels = [*own, *(state.disclosure.withheld.labels or ())]
        self.check("max_groups", len(labels), "it has {} groups")
        if self.groups is not None:
            if state.labels is None and state.n_cells:
                raise LimitError(
                    f"it has rows without a group, and its sender may have {listed(self.groups)}"
                )
            others = [label for label in labels if label not in self.groups]
            if others:
                raise LimitError(
                    f"it has rows of {counted(len(others), 'group')} that its sender may not "
                    f"have: {listed(others)}"
                )
        names = {source.name for source in state.sources} - {self.source}
        if self.source is not None and names:
            raise LimitError(f"it has counts of another source, {listed(names)}")


def check_limits(limits: object) -> Limits:
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise TypeError(
            f"limits must be a skfedauc.counts.Limits or None; got {described(limits)}."
        )
    return limits


class Saved(Immutable):
    """Counts that files and messages hold."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, completely or not at all.

        The file is a Parquet file, which polars, DuckDB, Spark and other tools read, and which
        ``skfedauc show`` describes. That of a `ScoreCounts` has the columns of `to_counts`, and the
        page "File format" defines it; the first `save`, `to_bytes` or audit gives counts without a
        source a random identifier, so that `merge` adds them only once.

        Parameters
        ----------
        path : str or os.PathLike
            File to write or replace; the customary ending is ``.skfa``.

        Raises
        ------
        OSError
            If the file cannot be written.
        TypeError
            If group labels are members of an `enum.Enum`, or dates whose time zone has no name.
        ImportError
            If pyarrow is not installed: ``pip install "skfedauc[files]"``.

        Examples
        --------
        >>> import tempfile
        >>> from skfedauc import ScoreCounts
        >>> counts = ScoreCounts.from_predictions([0, 1, 1], [0.2, 0.2, 0.7], groups=list("aab"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counts.save(f"{folder}/monday.skfa")
        ...     ScoreCounts.load(f"{folder}/monday.skfa") == counts
        True
        """
        check_target(path)
        write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the content of the file that `save` writes.

        Returns
        -------
        bytes
            Content of a Parquet file, for a message or a column of a database.

        Raises
        ------
        TypeError, ImportError
            As in `save`.
        """
        return self._of_file()

    def _of_file(self) -> bytes:
        raise NotImplementedError


def column_names(level: str, is_weighted: bool, has_limits: bool | None) -> tuple[str, ...]:
    """Return the column names after the group columns.

    A summary has `u2`, twice Mann-Whitney's U, and the sums in `OwnMoments`; ``lowest_`` and
    ``highest_`` belong to the lowest and the highest AUC that score ranges permit.
    """
    weights = WEIGHT_COLUMNS if is_weighted else ()
    if level == "summary":
        prefixes = PREFIXES if has_limits else PREFIXES[:1]
        sums = [prefix + name for prefix in prefixes for name in ("u2", *OwnMoments._fields)]
        return (*N_ROWS, *weights, *sums)
    return ("score", *(RANGE_COLUMNS if level == "bins" else ()), *N_ROWS, *weights)


def values_of(state: State) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Return each group's first row, and the columns after the group columns."""
    content, summary = state.content, state.summary
    # Unsigned integers would wrap around silently when users add or subtract columns.
    columns: list[Any] = [of.astype(np.int64) for of in (content.negatives, content.positives)]
    columns += [] if content.weights is None else list(content.weights)
    if summary is None:
        columns = [state.cells.scores, *([] if state.ranges is None else state.ranges), *columns]
    else:
        for u2, moments in zip(summary.u2, summary.moments, strict=True):
            columns += [u2, *moments]
    names = column_names(state.disclosure.level, state.is_weighted, not state.has_exact_aucs)
    return content.starts, dict(zip(names, columns, strict=True))


def stacked(values: Mapping[str, NDArray[Any]], names: Sequence[str]) -> Any:
    """Return columns as rows of one array; None if there are none of these names."""
    known = [values[name] for name in names if name in values]
    return np.stack(known) if known else None


def named_columns(state: State, taken: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return the group columns of a table, with one label per group; none has a name in `taken`."""
    names, labels = state.group_names, state.labels
    if labels is None:
        return {}
    columns = [labels]
    if not labels.size:  # only the names determine the number of columns
        columns *= max(1, len(names))
    elif isinstance(labels[0], tuple):
        columns = [_labels.label_array(column) for column in zip(*labels.tolist(), strict=True)]
    if not len(names) == len(columns) == len(set(names) - set(taken)):
        names = _labels.default_names(len(columns))
    return dict(zip(names, columns, strict=True))


def state_of_table(group: Any, counts: Mapping[str, Any], columns: Mapping[str, Any]) -> State:
    """Return the state of a table of counts, with the arguments of `ScoreCounts.from_counts`."""
    given = {name: column for name, column in {**counts, **columns}.items() if column is not None}
    absent = [name for name in counts if name not in given]
    if absent:
        table = "table.to_pandas()" if hasattr(group, "to_pandas") else "table"
        raise TypeError(
            f"from_counts needs the column {', '.join(absent)}; got none. It takes the columns of "
            f"a table by name: ScoreCounts.from_counts(**{table})."
        )
    by_name = {name: given.pop(name) for name in columns if name in given and name not in _OPTIONAL}
    for together in (WEIGHT_COLUMNS, RANGE_COLUMNS):
        absent = [name for name in together if name not in given]
        if 0 < len(absent) < len(together):
            raise TypeError(
                f"from_counts needs {enumerated(together)} together; "
                f"{enumerated(absent)} {'is' if len(absent) == 1 else 'are'} missing."
            )
    for name in by_name:
        # The score is passed, so that "scores" is a column of labels.
        near = difflib.get_close_matches(name, [*N_ROWS, *_OPTIONAL], n=1, cutoff=0.8)
        if near:
            raise TypeError(
                f"from_counts has no column {shortened(name)}: is it "
                f"{shortened(near[0])}? A column of group labels needs a name that is less "
                "like it."
            )
    if group is not None and by_name:
        raise TypeError(
            f"from_counts takes group or columns of labels by name ({', '.join(by_name)}), not "
            "both."
        )
    _rows.check_row_order({"group": group, **by_name, **given})
    found = {name: _checked_column(name, column) for name, column in given.items()}
    scores = found["score"]
    for name, column in found.items():
        _input.check_length(name, column.size, "score", scores.size)
    negatives, positives = (found[name] for name in N_ROWS)
    weights, ranges = stacked(found, WEIGHT_COLUMNS), stacked(found, RANGE_COLUMNS)
    if weights is not None:
        check_weight_sums(weights, negatives, positives)
    wrong = wrong_ranges(scores, ranges)
    if wrong is not None:
        raise ValueError(f"score must be from score_low to score_high: {wrong}.")
    kept = negatives + positives > 0
    codes: NDArray[np.intp] | None = None
    labels, names = None, tuple(by_name)
    if group is not None:
        codes, labels = _group_codes.encode_groups(group, "group")[:2]
        names = _labels.names_of(labels, group)
    elif by_name:
        codes, labels = _group_codes.encode_columns(by_name)
        _labels.check_text(names, "the name of a column of groups")
    if names in (("",), _labels.default_names(len(names))):
        names = ()
    if codes is not None and labels is not None:
        _input.check_length("group", codes.size, "score", scores.size)
        codes, labels = _group_codes.drop_unused(codes[kept], labels)
    no_starts = np.zeros(0, np.int64)  # cells out of order
    cells = Cells(no_starts, scores, negatives, positives, weights).take(kept, no_starts)
    ranges = None if ranges is None else ranges[:, kept]
    rule = Disclosure("exact" if ranges is None else "bins")
    return State(cells, labels, ranges, rule, names).summed(codes)


def _checked_column(name: str, column: Any) -> NDArray[Any]:
    if name in N_ROWS:
        return _input.check_counts(column, name)
    if name in WEIGHT_COLUMNS:
        return _input.check_sums(column, name)
    return _input.check_scores(column, name) + 0.0  # -0.0 becomes 0.0


def table_of(state: State) -> pd.DataFrame:
    """Return the table of counts that `state_of_table` reads."""
    import pandas as pd

    (_, counts), of_cell = values_of(state), state.cells.groups
    # `state_of_table` reads columns with these names as ranges and weights.
    columns = named_columns(state, [*counts, *_OPTIONAL])
    return pd.DataFrame({**{name: of[of_cell] for name, of in columns.items()}, **counts})


def entry_of(label: Any) -> Any:
    """Return a label as a value that JSON can represent."""
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
