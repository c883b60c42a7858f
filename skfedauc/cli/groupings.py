"""Reports from the same counts by each column of groups, and by all columns combined."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from skfedauc import GroupAUC, ScoreCounts, _input
from skfedauc._words import counted, listed, shortened, shortened_label
from skfedauc.cli.arguments import SMALL
from skfedauc.cli.terminal import CommandError
from skfedauc.counts.score_counts import select_groups, with_n_missing
from skfedauc.report import estimates_of, group_names_of


@dataclasses.dataclass(frozen=True)
class Grouping:
    """Report by one column, or by a combination of columns.

    The report of a grouping to be split also has the control column. Each omitted row lacks a label
    in one of the columns `lacking`. `within` has the control column and its label.
    """

    columns: tuple[str, ...]
    report: GroupAUC
    n_dropped: int = 0
    lacking: tuple[str, ...] = ()
    decisions: ScoreCounts | None = None
    min_per_class: int = SMALL
    within: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    dropped_by_level: Mapping[Any, int] = dataclasses.field(default_factory=dict)

    @property
    def by(self) -> str:
        """Column names, and the label of the control column, as text."""
        levels = [f" within {name} {shortened(label)}" for name, label in self.within.items()]
        return f"{' x '.join(map(shortened_label, self.columns))}{''.join(levels)}"

    def of_level(self, column: str, level: Any, report: GroupAUC) -> Grouping:
        """Return the part of this grouping with one label of the control column."""
        return dataclasses.replace(
            self,
            report=report,
            n_dropped=self.dropped_by_level.get(level, 0),
            within={column: level},
        )

    @functools.cached_property
    def shown(self) -> GroupAUC:
        """Report without small groups; the whole report if fewer than two groups remain."""
        others = GroupAUC(
            estimates_of(self.report).pairs,
            undefined="ignore",
            group_names=group_names_of(self.report),
            min_per_class=max(self.min_per_class, 1),
        )
        return others if 1 < others.n_groups < self.report.n_groups else self.report


@dataclasses.dataclass(frozen=True)
class Counted:
    """Counts of predictions by all columns, also those of clusters and of `within`.

    `subject` begins the message for an absent class, such as "column 'died' has". Reports by the
    columns in `dropped` omit the groups "(missing)". With `lacks_one`, the rows of
    `counts.n_missing` lack one of the labels rather than all labels.
    """

    counts: ScoreCounts
    columns: tuple[str, ...]
    subject: str
    dropped: frozenset[str] = frozenset()
    lacks_one: bool = False
    has_weights: bool = False
    decisions: ScoreCounts | None = None
    clusters: str | None = None
    min_per_class: int = SMALL
    within: str | None = None

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Names of group columns to be compared."""
        others = (self.clusters, self.within)
        return tuple(name for name in self.columns if name not in others)

    @functools.cached_property
    def n_without_level(self) -> int:
        """Number of omitted rows without a label of the control column."""
        return 0 if self.within is None else self._with_level.n_missing

    def without_level_in_words(self) -> str:
        """Return the end of the headline, with the rows without a label of the control column."""
        if not self.n_without_level:
            return ""
        names = self.columns if self.lacks_one else (str(self.within),)
        return f"; {counted(self.n_without_level, 'row')} without {listed(names, ' or ')} dropped"

    @functools.cached_property
    def _with_level(self) -> ScoreCounts:
        """Counts of rows with a label of the control column; of all rows without this column."""
        if self.within not in self.dropped:
            return self.counts
        return _without(self.counts, [{self.columns.index(self.within)}])

    @functools.cached_property
    def with_a_label(self) -> ScoreCounts:
        """Counts of the rows that are in at least one report."""
        counts = self._with_level
        if not self.dropped.issuperset(self.group_columns):
            return counts
        return _without(counts, [{self.columns.index(name) for name in self.group_columns}])

    @functools.cached_property
    def groupings(self) -> list[Grouping]:
        """Report by each column and by all columns; for a summary, by all only."""
        return list(self._groupings())

    def _groupings(self) -> Iterator[Grouping]:
        # A summary does not determine the AUC of several groups together.
        names = self.group_columns
        several = len(names) > 1 and self.counts.disclosure.level != "summary"
        others = tuple(name for name in (self.clusters, self.within) if name is not None)
        for columns in [*((name,) for name in names if several), names]:
            counts = self._by(self.counts, (*columns, *others))
            lacking = self.columns if self.lacks_one else columns
            self._check_classes(counts, lacking)
            report = GroupAUC(
                counts,
                undefined="ignore",
                group_names=(*columns, *others),
                clusters=self.clusters,
            )
            decisions = None
            if self.decisions is not None:
                decisions = self._by(self.decisions, (*columns, *others))
            yield Grouping(
                columns,
                report,
                report.counts.n_missing,
                lacking,
                decisions,
                self.min_per_class,
                dropped_by_level=self._dropped_by_level(columns),
            )

    def _dropped_by_level(self, columns: tuple[str, ...]) -> dict[Any, int]:
        """Return the number of rows without a group in these columns, by label of `within`."""
        if self.within is None:
            return {}
        place = self.columns.index(self.within)
        chosen: dict[Any, list[int]] = {}
        for g, label in enumerate(self.counts.groups or ()):
            chosen.setdefault(label[place], []).append(g)
        dropped = [{self.columns.index(name)} for name in columns if name in self.dropped]
        return {
            level: _without(
                with_n_missing(select_groups(self.counts, groups), 0), dropped
            ).n_missing
            for level, groups in chosen.items()
        }

    def _by(self, counts: ScoreCounts, columns: tuple[str, ...]) -> ScoreCounts:
        """Return the counts by some of the columns, without the rows that the report omits."""
        places = [self.columns.index(name) for name in columns]
        dropped = [{place} for place in places if self.columns[place] in self.dropped]
        counts = _without(counts, dropped)
        return counts if columns == self.columns else counts.regroup(itemgetter(*places))

    def _check_classes(self, counts: ScoreCounts, lacking: tuple[str, ...]) -> None:
        n_withheld = self.counts.disclosure.withheld.n_groups
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
    """Omit groups whose labels are missing at all places of one of the sets.

    `n_missing` includes the rows of these groups.
    """
    if not places:
        return counts
    missing = [_missing_places(label) for label in counts.groups or ()]
    kept = [g for g, own in enumerate(missing) if not any(own >= some for some in places)]
    n_rows = int(counts.n_positives.sum() + counts.n_negatives.sum())
    counts = select_groups(counts, kept)
    n_kept = int(counts.n_positives.sum() + counts.n_negatives.sum())
    return with_n_missing(counts, counts.n_missing + n_rows - n_kept)


def _missing_places(label: Any) -> set[int]:
    """Return the places of the missing parts of a label."""
    parts = label if isinstance(label, tuple) else (label,)
    return {place for place, part in enumerate(parts) if part == _input.MISSING}
