"""Reports of the same rows by each column of groups, and by all columns combined."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from operator import itemgetter

from skfedauc import GroupAUC, ScoreCounts
from skfedauc._words import counted, listed, shortened
from skfedauc.cli.arguments import Arguments
from skfedauc.cli.errors import CommandError
from skfedauc.cli.rows import Rows
from skfedauc.cli.terminal import print_warning

# A group with fewer positives or fewer negatives is small; a second report excludes small groups.
SMALL = 10


@dataclasses.dataclass(frozen=True)
class Grouping:
    """A report by one column, or by a combination of columns.

    Attributes
    ----------
    columns : tuple of str
    report : GroupAUC
    n_dropped : int
        Number of rows without a group in one of the columns.
    decisions : ScoreCounts or None
        Counts of the decisions by the same groups.
    """

    columns: tuple[str, ...]
    report: GroupAUC
    n_dropped: int = 0
    decisions: ScoreCounts | None = None

    @functools.cached_property
    def without_small_groups(self) -> GroupAUC | None:
        """Report without small groups; None if no group is small or fewer than two remain."""
        others = self.report.without_small_groups(SMALL)
        is_another = 1 < others.n_groups < self.report.n_groups
        return others if is_another else None


def groupings_of(rows: Rows, arguments: Arguments) -> list[Grouping]:
    """Return a report by each column, and by all columns; print the warnings of the library once.

    Raises
    ------
    CommandError
        If a class has no rows, or if the library refuses a column.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counts = count(rows, arguments)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print_warning(_with_column_names(message, arguments))
    decisions: dict[tuple[str, ...], ScoreCounts] = {}
    if rows.decisions is not None:
        with warnings.catch_warnings():
            # Decisions are counted as scores: suppress the warning that scores look like labels.
            warnings.simplefilter("ignore")
            decisions = count(rows._replace(scores=rows.decisions), arguments)
    return [
        Grouping(
            columns,
            GroupAUC(by_columns, undefined="ignore", group_names=columns),
            rows.n_without(columns),
            decisions.get(columns),
        )
        for columns, by_columns in counts.items()
    ]


def count(rows: Rows, arguments: Arguments) -> dict[tuple[str, ...], ScoreCounts]:
    """Return the counts of the rows by each column, and then by all columns."""
    columns = tuple(rows.groups.columns)
    alone: list[tuple[str, ...]] = [(name,) for name in columns] if len(columns) > 1 else []
    if rows.n_with(columns) < len(rows.groups):
        # Each combination of columns has its own rows.
        return {names: _count(rows.having(names), arguments) for names in [*alone, columns]}
    combined = _count(rows, arguments)
    by_column = {names: combined.regroup(itemgetter(i)) for i, names in enumerate(alone)}
    return {**by_column, columns: combined}


def _count(rows: Rows, arguments: Arguments) -> ScoreCounts:
    for name, n_rows in zip(("positive", "negative"), rows.n_by_class(), strict=True):
        if n_rows == 0:
            raise CommandError(
                f"column {shortened(arguments.label)} has no {name} label among the "
                f"{_described(rows)}; an AUC needs both classes"
            )
    try:
        return ScoreCounts.from_predictions(
            rows.labels,
            rows.scores,
            groups=rows.groups,
            sample_weight=rows.weights,
            pos_label=rows.positive,
        )
    except (ValueError, TypeError) as error:
        raise CommandError(_with_column_names(str(error), arguments)) from error


def _described(rows: Rows) -> str:
    """Return the number of rows, and a phrase that says which rows are counted."""
    conditions = [] if rows.weights is None else ["a weight above 0"]
    if rows.n_without(rows.groups.columns):
        conditions.append(f"a group in {listed(rows.groups.columns, ' and ')}")
    number = counted(sum(rows.n_by_class()), "row")
    return f"{number} with {' and '.join(conditions)}" if conditions else number


def _with_column_names(message: str, arguments: Arguments) -> str:
    """Replace argument names in a message of the library by column names."""
    for argument, column in (("y_score", arguments.score), ("sample_weight", arguments.weight)):
        message = message.replace(argument, f"column {shortened(column)}")
    return message
