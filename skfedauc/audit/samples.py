"""The rows of an audit by one column: the compared groups, and the decisions on their rows.

Decisions are counts with the score 1 for rows with a positive decision, and 0 for other rows. They
are grouped, selected and merged like scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import _group_codes, _input, _labels, _words
from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.moments import ClassRows
from skfedauc.counts.score_counts import extremes_of, view_of, with_weights_over
from skfedauc.inference.calibration import ClusterCells, are_exact_probabilities, slopes
from skfedauc.inference.intervals import Interval
from skfedauc.inference.proportions import ClusterSums
from skfedauc.pairs import GroupPairs
from skfedauc.report import GroupAUC
from skfedauc.report.group_auc import estimates_of
from skfedauc.report.groups import large_groups
from skfedauc.report.threshold_sweep import check_edges

# Number of rows of the smaller class below which a group is not headlined
FEW = 50
# Rows of the four cells [negatives, positives] x [not selected, selected]
Cells = tuple[tuple[int, int], tuple[int, int]]


class Decided(NamedTuple):
    """Numbers of rows and sums of their weights and squared weights, shape (2, 2, n_groups).

    Negatives are before positives, and rows that are not selected before selected ones. Clustered
    rows are by unit instead of by group.
    """

    n: NDArray[Any]
    weight: NDArray[Any]
    squares: NDArray[Any]

    @classmethod
    def of(cls, decisions: ScoreCounts) -> Decided:
        """Count the rows of decisions, whose scores are 0 and 1."""
        counts = with_weights_over(decisions)
        starts, scores, negatives, positives, weights = counts.cells
        n = np.array([negatives, positives])
        amounts = (n, n, n) if weights is None else (n, weights[:2], weights[2:])
        sides = np.array([scores <= 0.5, scores > 0.5])
        cells = (np.asarray(of)[:, None] * sides for of in amounts)
        return cls(*(np.add.reduceat(of, starts[:-1], axis=-1) for of in cells))

    def rows(self, cells: Any) -> ClassRows:
        """Return the rows of some of the four cells, by group."""
        chosen = np.array(cells, bool)
        return ClassRows(*(np.asarray(part[chosen].sum(axis=0)) for part in self))


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of one model in the groups by one column, or by the combinations of several columns.

    All questions read the same groups, those with enough rows in each class.

    `report` and `decisions` have the compared groups, with at least `least` rows of each class, and
    `pairs` all groups. `left_out` has the label and the numbers of positives and negatives of each
    other group, and `remark` is a sentence on them. `within` is a control column with its label,
    `` within hospital north``, or empty.
    """

    names: tuple[str, ...]
    report: GroupAUC
    decisions: GroupPairs | None
    pairs: GroupPairs
    least: int
    left_out: tuple[tuple[Any, int, int], ...]
    remark: str
    within: str = ""

    @property
    def column(self) -> str:
        """Column name, or of several columns with a sign of multiplication."""
        return " \N{MULTIPLICATION SIGN} ".join(self.names) + self.within

    @property
    def shown(self) -> GroupAUC:
        """Report on the compared groups, or on all groups if fewer than two can be compared."""
        is_compared = len(self.groups) > 1
        return self.report if is_compared else GroupAUC(self.pairs, undefined="ignore")

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of the compared groups, in the order of the report."""
        return self.report.counts.groups or ()

    @property
    def clusters(self) -> ClusterCounts | None:
        """Counts by group and cluster, or None if all rows are independent."""
        return estimates_of(self.report).pairs.clusters

    def n_rows(self, which: str = "rows") -> NDArray[np.int64]:
        """Return the groups' numbers of "positives", "negatives" or "rows"."""
        counts = self.report.counts
        by_class = {"positives": counts.n_positives, "negatives": counts.n_negatives}
        return by_class.get(which, counts.n_positives + counts.n_negatives)

    @property
    def is_few(self) -> NDArray[np.bool_]:
        """Whether each group has too few rows in a class to be headlined."""
        return ~estimates_of(self.report).pairs.has_per_class(FEW)

    @property
    def few_groups(self) -> frozenset[Any]:
        """Groups with too few rows in a class, unless all groups have."""
        few = frozenset(g for g, is_few in zip(self.groups, self.is_few, strict=True) if is_few)
        return few if len(few) < len(self.groups) else frozenset()

    @property
    def is_headlined(self) -> NDArray[np.bool_]:
        """Whether a sentence may name each group: those with enough rows, or all if one has."""
        enough = ~self.is_few
        return enough if enough.sum() > 1 else enough | True

    @property
    def shares_clusters(self) -> bool:
        """Whether a cluster has rows in several of the compared groups."""
        return estimates_of(self.report).variances.shares_clusters

    @property
    def has_probabilities(self) -> bool:
        """Whether scores are exact probabilities, and not only decisions, 0 or 1 (or -1 and 0)."""
        counts = self.report.counts
        is_exact = view_of(counts).ranges is None and are_exact_probabilities(counts)
        both = ((0.0, 1.0), (-1.0, 0.0))
        return is_exact and not any(np.isin(counts.cells.scores, of).all() for of in both)

    def slopes(self) -> Interval:
        """Return the calibration slopes of the groups with 95 % intervals."""
        return slopes(self.report.counts.cells, 0.95, self.cells_of_clusters())

    def cells_of_clusters(self) -> ClusterCells | None:
        """Return the cells by cluster, or None if all rows are independent."""
        clusters = self.clusters
        return None if clusters is None else ClusterCells(clusters, self.report.counts.cells)

    def sums_of(self, denominator: Cells, events: Cells) -> ClusterSums | None:
        """Return the sums of a rate by unit, or None if all rows are independent."""
        units = None if self.decisions is None else self.decisions.clusters
        if units is None:
            return None
        of = Decided.of(units.units)
        rows, chosen = of.rows(denominator), of.rows(np.logical_and(denominator, events))
        parts = chosen.weight, rows.weight, rows.squares
        sums = (np.asarray(part, np.float64) for part in parts)
        of_units = units.group_of, units.cluster_of, units.n_groups, units.n_clusters
        return ClusterSums(*of_units, *sums)


def samples_of(
    report: GroupAUC, decisions: GroupPairs | None, columns: Sequence[Sequence[str]], least: int
) -> dict[str, Sample]:
    names, found = column_names(report), dict[str, Sample]()
    for chosen in columns:
        pairs = _by_columns(estimates_of(report).pairs, names, chosen)
        decided = None if decisions is None else _by_columns(decisions, names, chosen)
        large, left_out = large_groups(pairs, max(least, 1))
        if decided is not None and left_out.groups:
            decided = decided.selected(np.flatnonzero(pairs.has_per_class(left_out.least)))
        own = GroupAUC(large, undefined="ignore", group_names=list(chosen))
        others = least, left_out.groups, left_out.in_words()
        sample = Sample(tuple(chosen), own, decided, pairs, *others)
        if sample.column in found:
            raise ValueError(
                f"intersections has a combination with the name of another column, "
                f"{_words.shortened(sample.column)}; rename the column."
            )
        found[sample.column] = sample
    return found


def levels_of(
    report: GroupAUC, decisions: GroupPairs | None, column: str
) -> dict[Any, tuple[GroupPairs, GroupPairs | None]]:
    """Return the rows and decisions by the other columns, for each label of one column."""
    pairs, names = estimates_of(report).pairs, column_names(report)
    own = labels_by(pairs.counts.groups or (), names, [column])
    others = [name for name in names if name != column]
    codes = _group_codes.encode_groups(_input.object_array(own)).codes
    found = {}
    for number in range(int(codes.max()) + 1):
        kept = np.flatnonzero(codes == number)
        decided = None
        if decisions is not None:
            decided = _by_columns(decisions.selected(kept), names, others)
        found[own[kept[0]]] = _by_columns(pairs.selected(kept), names, others), decided
    return found


def _by_columns(pairs: GroupPairs, names: Sequence[str], chosen: Sequence[str]) -> GroupPairs:
    if len(chosen) == len(names):
        return pairs
    labels, clusters = pairs.counts.groups or (), pairs.clusters
    parts = labels_by(labels, names, chosen)
    counts = pairs.counts.regroup(dict(zip(labels, parts, strict=True)))
    if clusters is not None:
        clusters = clusters.regroup(_group_codes.positions_of(parts, counts.groups or ()))
    return GroupPairs(counts, clusters=clusters)


def labels_by(labels: Sequence[Any], names: Sequence[str], chosen: Sequence[str]) -> Sequence[Any]:
    """Return group labels by some of the columns; a label by one column is no tuple."""
    if len(chosen) == len(names):
        return labels
    return list(map(itemgetter(*map(names.index, chosen)), labels))


def column_names(report: GroupAUC) -> tuple[str, ...]:
    return _labels.column_names(report.counts.groups, estimates_of(report).group_names)


def decisions_at(counts: ScoreCounts, threshold: float) -> ScoreCounts:
    """Return the decisions that select rows with a score of at least the threshold."""
    otherwise = "decisions= with counts of the decisions, or threshold=None to audit the ranking"
    if view_of(counts).ranges is not None:
        check_edges(counts, np.array([threshold]), f"{otherwise} alone")
    # All scores of a bin are on the same side of the threshold.
    exact, _ = extremes_of(counts)
    return exact.map_scores(lambda scores: (scores >= threshold).astype(np.float64))


def check_decisions(decisions: Any, counts: ScoreCounts) -> ScoreCounts:
    if not isinstance(decisions, ScoreCounts):
        raise TypeError(
            f"decisions must be a ScoreCounts whose scores are 0 and 1; got "
            f"{_words.described(decisions)}. Pass predicted labels as y_pred= to "
            "FairnessAudit.from_predictions."
        )
    needs(decisions.disclosure, Need.SCORES, "decisions")
    scores = decisions.cells.scores
    if not ((scores == 0) | (scores == 1)).all():
        raise ValueError(
            f"decisions must have the scores 0 and 1 only; got scores from {scores.min():g} to "
            f"{scores.max():g}."
        )
    same_rows = decisions.groups == counts.groups and all(
        np.array_equal(getattr(decisions, name), getattr(counts, name))
        for name in ("n_positives", "n_negatives")
    )
    if not same_rows:
        raise ValueError(
            "decisions must have the rows of the report: the same groups, with the same numbers of "
            f"positives and negatives. The decisions are {decisions!r}; the report has "
            f"{counts!r}. Count the decisions by the columns of the report and its column of "
            "clusters, if it has one, or pass y_pred=, and its clusters=, to "
            "FairnessAudit.from_predictions."
        )
    return decisions


def decisions_of(report: GroupAUC, decisions: ScoreCounts | None) -> GroupPairs | None:
    """Return the decisions by the groups of a report; clustered ones are counted by unit."""
    clusters = estimates_of(report).pairs.clusters
    if decisions is None or clusters is None:
        return None if decisions is None else GroupPairs(decisions)
    labels = report.counts.groups or ()
    of_units = [labels[g] for g in clusters.group_of]
    counts = decisions.regroup(dict(zip(decisions.groups or (), of_units, strict=True)))
    return GroupPairs(counts, clusters=replace(clusters, units=decisions))
