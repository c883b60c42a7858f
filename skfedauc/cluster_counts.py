"""`ClusterCounts`: score counts by group and cluster, for rows that are not independent."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc import _rows
from skfedauc._group_codes import number_integers, positions_of
from skfedauc._words import all_shortened, described
from skfedauc.counts import ScoreCounts
from skfedauc.counts.disclosure import Need, needs
from skfedauc.counts.score_counts import counts_of_rows, extremes_of, select_groups

Numbers = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ClusterCounts:
    """Score counts by unit; a unit holds one cluster's rows in one group.

    Clusters are independent of each other, and rows in the same cluster may be dependent. A cluster
    can have rows in several groups. The counts keep no cluster labels. `group_of` and `cluster_of`
    have the numbers of each unit of `units`; each group and each cluster has a unit.
    """

    units: ScoreCounts
    group_of: Numbers
    cluster_of: Numbers

    @property
    def n_groups(self) -> int:
        """Group count; 0 without rows."""
        return int(self.group_of.max(initial=-1)) + 1

    @property
    def n_clusters(self) -> int:
        """Cluster count."""
        return int(self.cluster_of.max(initial=-1)) + 1

    @classmethod
    def of_rows(cls, rows: _rows.Rows, n_jobs: int | None = None) -> ClusterCounts:
        """Count validated rows with clusters by group and cluster, with `n_jobs` threads."""
        assert rows.clusters is not None
        codes = np.zeros(rows.scores.size, np.intp) if rows.codes is None else rows.codes
        unit, group_of, cluster_of = _units_of(codes, rows.clusters)
        units = rows._replace(codes=unit, labels=np.arange(group_of.size), names=())
        return cls(counts_of_rows(units, n_jobs), group_of, cluster_of)

    @classmethod
    def of_counts(cls, counts: ScoreCounts, position: int) -> tuple[ScoreCounts, ClusterCounts]:
        """Split counts by group and cluster into counts by group and cluster counts.

        The column of labels at `position` holds the clusters. Without another column, the rows have
        no groups. A summary by group raises a `DisclosureError`.
        """
        needs(counts.disclosure, Need.SCORES, "a report with clusters")
        labels = counts.groups or ()
        if not labels:
            none = np.zeros(0, np.intp)
            return counts, cls(counts, none, none)
        has_groups = isinstance(labels[0], tuple)

        def without_cluster(label: Any) -> Any:
            parts = label[:position] + label[position + 1 :] if has_groups else (None,)
            return parts[0] if len(parts) == 1 else parts

        by_group = counts.regroup(without_cluster if has_groups else None)
        group_of = positions_of(map(without_cluster, labels), by_group.groups or (None,))
        clusters = [label[position] if has_groups else label for label in labels]
        cluster_of = positions_of(clusters, tuple(dict.fromkeys(clusters)))
        return by_group, cls(counts, group_of, cluster_of)

    @property
    def n_shared(self) -> int:
        """How many clusters have rows in several groups."""
        if self.n_groups < 2:
            return 0
        return int((np.bincount(self.cluster_of, minlength=self.n_clusters) > 1).sum())

    def extremes(self) -> tuple[ClusterCounts, ClusterCounts]:
        """The same rows' counts with the lowest and the highest AUCs."""
        low, high = extremes_of(self.units)
        return dataclasses.replace(self, units=low), dataclasses.replace(self, units=high)

    def without_groups(self) -> ClusterCounts:
        """Return the counts with all rows in one group; a cluster can then have several units."""
        return dataclasses.replace(self, group_of=np.zeros_like(self.group_of))

    def regroup(self, numbers: Numbers) -> ClusterCounts:
        """Return the counts by other groups, given each group's new number."""
        unit, group_of, cluster_of = _units_of(numbers[self.group_of], self.cluster_of)
        labels = self.units.groups or ()
        units = self.units.regroup(dict(zip(labels, unit.tolist(), strict=True)))
        return ClusterCounts(units, group_of, cluster_of)

    def select_groups(self, numbers: Numbers) -> ClusterCounts:
        """Return some groups' counts, given their numbers in increasing order."""
        place = np.full(self.n_groups, -1, np.intp)
        place[numbers] = np.arange(numbers.size)
        kept = np.flatnonzero(place[self.group_of] >= 0)
        cluster_of, _ = number_integers(self.cluster_of[kept])
        units = select_groups(self.units, kept)
        return ClusterCounts(units, place[self.group_of[kept]], cluster_of)


def _units_of(groups: Numbers, clusters: Numbers) -> tuple[Numbers, ...]:
    """Return the unit of each group and cluster, and the group and the cluster of each unit."""
    n_clusters = int(clusters.max(initial=0)) + 1
    unit, distinct = number_integers(groups.astype(np.int64) * n_clusters + clusters)
    return unit, *np.divmod(distinct.astype(np.intp), n_clusters)


def position_of_clusters(clusters: Any, names: tuple[str, ...]) -> int:
    if not isinstance(clusters, str) or clusters not in names:
        known = f"the names are {all_shortened(names)}: pass one of them"
        if not names:
            known = "the columns have no names: pass group_names=['site', 'patient'], for example"
        raise (ValueError if isinstance(clusters, str) else TypeError)(
            "clusters must be the name of the group column of the counts that holds the clusters; "
            f"got {described(clusters)}, and {known}, or the cluster of each row to "
            "GroupAUC.from_predictions."
        )
    return names.index(clusters)
