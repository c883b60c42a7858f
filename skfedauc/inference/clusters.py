"""Variances of clustered rows, from the effects of rows added up by cluster.

They are DeLong's if each row is a cluster. For clusters of unequal size, Obuchowski's own factor
I / (I - 1) for I clusters would be too small.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from skfedauc.cluster_counts import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import Floats, ratio
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference.row_effects import ClassUnits, Rows, cluster_effects, placements
from skfedauc.inference.variances import (
    Clusters,
    Pooled,
    Variances,
    bounded,
    pooled_of,
    variances_of,
)


def rows_of(clusters: ClusterCounts, exponent: int) -> Rows:
    """Return cells by group and cluster as weighted rows in one class each.

    Weights are divided by two to the power `exponent`.
    """
    cells = with_weights_over(clusters.units, exponent).cells
    amounts = np.concatenate([column.astype(np.float64) for column in cells.amounts])
    kept = np.flatnonzero(amounts > 0)
    cell = kept % max(cells.scores.size, 1)
    unit = cells.groups[cell]
    return Rows(
        kept >= cells.scores.size,
        cells.scores[None, cell],
        amounts[kept],
        clusters.group_of[unit],
        clusters.n_groups,
        clusters.cluster_of[unit],
    )


def variances_of_clusters(counts: ScoreCounts, clusters: ClusterCounts) -> Variances:
    """Return the variances for clustered rows; `clusters` has counts of the same rows."""
    independent = variances_of(counts)
    rows = rows_of(clusters, view_of(counts).weight_exponent)
    (of_classes,), units = cluster_effects(rows, placements(rows)[0])
    of_classes[:, ~independent.defined[units.group]] = 0.0
    effects = of_classes.sum(axis=0)
    estimable = independent.estimable & units.has_two
    delong = np.where(estimable, units.by_group(effects**2), np.nan)
    # Pairs of a positive and a negative such that no cluster is in two pairs
    n_negative, n_positive, n_clusters = units.n_in_group
    n_pairs = np.minimum(np.minimum(n_negative, n_positive), np.floor(n_clusters / 2.0))
    n_pairs = np.minimum(n_pairs, independent.n_pairs)
    n_pairs = np.maximum(n_pairs, np.where(independent.defined, 1.0, 0.0))
    auc, defined = independent.auc, independent.defined
    limit = bounded(delong, auc, n_negative * n_positive, n_pairs, defined)
    # Newcombe's variance is that of independent rows; multiply it by the design effect.
    effect = ratio(independent.n_pairs, n_pairs, 1.0)
    known = (delong > 0) & (independent.delong > 0)
    effect[known] = delong[known] / independent.delong[known]
    effect = np.maximum(effect, 1.0)
    scaled = ratio(effects, np.sqrt(limit)[units.group], 0.0)
    return dataclasses.replace(
        independent,
        estimable=estimable,
        delong=delong,
        unbiased=delong,
        bounded=limit,
        shared=_shared_of_clusters(independent, units, of_classes, counts, estimable),
        degrees_of_freedom=units.freedom(),
        n_pairs=n_pairs,
        once=independent.once * effect,
        often=independent.often * effect,
        clusters=Clusters(units, effects, scaled, clusters.n_shared),
    )


def _shared_of_clusters(
    independent: Variances,
    units: ClassUnits,
    of_classes: Floats,
    counts: ScoreCounts,
    kept: NDArray[np.bool_],
) -> Floats:
    """Return variances from pooled placement values, plus pooled covariances within clusters.

    Pooling assumes equal covariances in all groups: of two positives in a cluster, of two
    negatives, and of a positive and a negative. The least sum is 0.
    """
    if not kept.any():
        return np.full(kept.shape, np.nan)
    (x, y), (p, q) = of_classes, units.share
    own = view_of(with_weights_over(counts)).own_moments
    squared = own.negatives_squared, own.positives_squared
    # Parts of the variance due to pairs of rows of a cluster, and the weight of such pairs
    parts = units.by_group(np.array([x**2, y**2, 2.0 * x * y]))
    pairs = units.by_group(np.array([p**2, q**2, 2.0 * p * q]))
    classes = independent.negatives, independent.positives
    for i, rows in enumerate(classes):
        parts[i] -= ratio(squared[i], rows.pairs, 0.0)
        pairs[i] -= ratio(rows.squares, rows.weight**2, 0.0)
    pairs = np.maximum(pairs, 0.0)
    n, m = (rows.effective for rows in classes)
    scale = np.array([n**2, m**2, n * m])
    part, pair = ((scale * values)[:, kept].sum(axis=1) for values in (parts, pairs))
    covariances = np.where(pair > 1e-9 * scale[:, kept].sum(axis=1), ratio(part, pair), 0.0)
    return np.maximum(independent.shared + covariances @ pairs, 0.0)


def pooled_clusters(counts: ScoreCounts, clusters: ClusterCounts) -> Pooled:
    """Return the pooled AUC's variances for clustered rows."""
    together = variances_of_clusters(counts.regroup(None), clusters.without_groups())
    of_rows = pooled_of(counts, variances_of(counts))
    if not together.defined.any():
        return of_rows._replace(rows=together)
    rows = rows_of(clusters, view_of(counts).weight_exponent)
    (of_classes,), units = cluster_effects(rows, placements(rows)[1], among_all=True)
    of_clusters = units.by_cluster(of_classes.sum(axis=0))
    return of_rows._replace(rows=together, fixed=float((of_clusters**2).sum()))
