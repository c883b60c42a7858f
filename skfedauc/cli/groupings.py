"""Reports from the same counts by each column of groups, and by all columns combined."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from skfedauc import GroupAUC, ScoreCounts, _input
from skfedauc._words import counted, listed
from skfedauc.cli.errors import CommandError

# A group with fewer positives or fewer negatives is small; a second report excludes small groups.
SMALL = 10


@dataclasses.dataclass(frozen=True)
class Grouping:
    """A report by one column, or by a combination of columns.

    Attributes
    ----------
    columns : tuple of str
    report : GroupAUC
        Its `n_missing` is the number of rows left out because they have no group.
    lacking : tuple of str
        Columns; the rows left out lack a label in one of these columns.
    decisions : ScoreCounts or None
        Counts of the decisions by the same groups.
    """

    columns: tuple[str, ...]
    report: GroupAUC
    lacking: tuple[str, ...] = ()
    decisions: ScoreCounts | None = None

    @functools.cached_property
    def without_small_groups(self) -> GroupAUC | None:
        """Report without small groups; None if no group is small or fewer than two remain."""
        others = self.report.without_small_groups(SMALL)
        is_another = 1 < others.n_groups < self.report.n_groups
        return others if is_another else None


@dataclasses.dataclass(frozen=True)
class Counted:
    """Counts of predictions by all columns of groups.

    Attributes
    ----------
    counts : ScoreCounts
        Labels of groups are tuples if there are several columns.
    columns : tuple of str
        Names of the columns of groups.
    subject : str
        Beginning of a message that a class is absent, such as "column 'died' has".
    dropped : frozenset of str
        Columns; reports by such a column leave out the groups "(missing)".
    lacks_one : bool
        Whether the rows that `counts.n_missing` counts lack only one of the labels, not all.
    has_weights : bool
    decisions : ScoreCounts or None
        Counts of the decisions by the same groups.
    """

    counts: ScoreCounts
    columns: tuple[str, ...]
    subject: str
    dropped: frozenset[str] = frozenset()
    lacks_one: bool = False
    has_weights: bool = False
    decisions: ScoreCounts | None = None

    @functools.cached_property
    def with_a_label(self) -> ScoreCounts:
        """Counts of the rows that are in at least one report."""
        if not self.dropped.issuperset(self.columns):
            return self.counts
        return _without(self.counts, [set(range(len(self.columns)))])

    def groupings(self) -> list[Grouping]:
        """Return a report by each column, and by all columns; of a summary, by all columns only.

        Raises
        ------
        CommandError
            If a class has no rows.
        """
        return list(self._groupings())

    def _groupings(self) -> Iterator[Grouping]:
        # Groups of a summary cannot be combined.
        several = len(self.columns) > 1 and self.counts.disclosure != "summary"
        for columns in [*((name,) for name in self.columns if several), self.columns]:
            counts = self._by(self.counts, columns)
            lacking = self.columns if self.lacks_one else columns
            self._check_classes(counts, lacking)
            report = GroupAUC(counts, undefined="ignore", group_names=columns)
            decisions = None if self.decisions is None else self._by(self.decisions, columns)
            yield Grouping(columns, report, lacking, decisions)

    def _by(self, counts: ScoreCounts, columns: tuple[str, ...]) -> ScoreCounts:
        """Return the counts by some of the columns, without the rows that their report drops."""
        places = [self.columns.index(name) for name in columns]
        dropped = [{place} for place in places if self.columns[place] in self.dropped]
        counts = _without(counts, dropped)
        return counts if columns == self.columns else counts.regroup(itemgetter(*places))

    def _check_classes(self, counts: ScoreCounts, lacking: tuple[str, ...]) -> None:
        n_withheld = self.counts.withheld.n_groups
        if n_withheld and not len(self.counts):
            all_groups = (
                "the only group is" if n_withheld == 1 else f"all {n_withheld:,} groups are"
            )
            raise CommandError(
                f"{self.subject} no rows: {all_groups} withheld, with few rows of a class; count "
                "again with --small-groups join, fewer --group columns or a smaller --min-count"
            )
        positives, negatives = int(counts.n_positives.sum()), int(counts.n_negatives.sum())
        for name, n_rows in (("positive", positives), ("negative", negatives)):
            if n_rows == 0:
                conditions = ["a weight above 0"] if self.has_weights else []
                if counts.n_missing:
                    conditions.append(f"a group in {listed(lacking, ' and ')}")
                of_rows = f" with {' and '.join(conditions)}" if conditions else ""
                raise CommandError(
                    f"{self.subject} no {name} label among the "
                    f"{counted(positives + negatives, 'row')}{of_rows}; an AUC needs both classes"
                )


def _without(counts: ScoreCounts, places: list[set[int]]) -> ScoreCounts:
    """Leave out groups whose labels are missing at all places of one of the sets.

    The rows of these groups are added to `n_missing`.
    """
    if not places:
        return counts
    missing = [_missing_places(label) for label in counts.groups or ()]
    kept = [g for g, own in enumerate(missing) if not any(own >= some for some in places)]
    n_rows = int(counts.n_positives.sum() + counts.n_negatives.sum())
    counts = counts.select_groups(kept)
    n_kept = int(counts.n_positives.sum() + counts.n_negatives.sum())
    return counts.with_n_missing(counts.n_missing + n_rows - n_kept)


def _missing_places(label: Any) -> set[int]:
    """Return the places of a label's parts that are missing."""
    parts = label if isinstance(label, tuple) else (label,)
    return {place for place, part in enumerate(parts) if part == _input.MISSING}
