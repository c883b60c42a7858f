"""AUC variances for rows that are not one independent sample: pairs within folds, and clusters.

Within folds, a group's AUC averages its AUCs in the folds, weighted by pairs. The
variance of this average, given the models of the folds, is the sum of the folds' variances times
the squared shares of pairs.

Clusters, such as several rows of each patient, are independent, and the rows in a cluster may be
dependent. The effects of the rows in a cluster add up, and the variance is the sum of the squared
sums [1]_, corrected for clusters of unequal size (`effects.py`). If each row is a cluster, this is
DeLong's variance. With unequal numbers of rows, Obuchowski's own factor I / (I - 1) for I clusters
is too small: in an example with 5 clusters of positives and geometric numbers of rows, the variance
was 24 % too small.

References
----------
.. [1] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skfedauc.clusters import ClusterCounts
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, ratio
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference.effects import Rows, Units, cluster_effects, placements
from skfedauc.inference.variances import (
    Clusters,
    Floats,
    PairMoments,
    Pooled,
    Variances,
    bounded,
    pooled_of,
    variances_of,
)
from skfedauc.pairs import GroupPairs


def folds_of(pairs: GroupPairs) -> Variances:
    """Return the group AUCs' variances for pairs within folds."""
    return combined(_parts(pairs), pairs.positions, pairs.n_groups)


def pooled_folds(pairs: GroupPairs) -> Pooled:
    """Return the pooled AUC's variances for pairs within folds; not known for random groups."""
    exponent = view_of(pairs.counts).weight_exponent
    folds = [
        pooled_of(part, of_part, exponent)
        for part, of_part in zip(pairs.parts, _parts(pairs), strict=True)
    ]
    rows = [fold.rows for fold in folds]
    n_pairs = np.array([_pairs(fold)[0] for fold in rows])
    used = n_pairs > 0  # folds with both classes
    of_folds = np.array([fold.fixed for fold in folds])[used]
    fixed = float((n_pairs[used] / n_pairs.sum()) ** 2 @ of_folds)
    nan = float("nan")
    together = combined(rows, [np.zeros(1, np.intp)] * len(folds), 1)
    return Pooled(together, fixed, nan, nan, pairs.n_groups, "not known within folds")


def _parts(pairs: GroupPairs) -> list[Variances]:
    exponent = view_of(pairs.counts).weight_exponent
    return [variances_of(part, exponent) for part in pairs.parts]


def _pairs(fold: Variances) -> Floats:
    return fold.negatives.weight * fold.positives.weight


def combined(
    folds: Sequence[Variances], positions: Sequence[NDArray[np.intp]], n_groups: int
) -> Variances:
    """Return the variances for averages over folds.

    Parameters
    ----------
    folds : sequence of Variances
    positions : sequence of ndarray of intp
        For each fold, its groups' indices among all groups.
    n_groups : int
        Group count over all folds.
    """

    def added(of_folds: Sequence[NDArray[Any]]) -> NDArray[Any]:
        total = np.zeros(n_groups, of_folds[0].dtype)
        for place, values in zip(positions, of_folds, strict=True):
            total[place] += values
        return total

    all_pairs = added([_pairs(fold) for fold in folds])
    shares = [
        ratio(_pairs(fold), all_pairs[place], 0.0)
        for fold, place in zip(folds, positions, strict=True)
    ]

    def averaged(of_folds: Sequence[Floats], power: int = 2) -> Floats:
        """Sum values over folds times a power of the group's pair share."""
        used = zip(of_folds, shares, strict=True)
        return added([np.where(share > 0, values, 0.0) * share**power for values, share in used])

    def rows_of(classes: Sequence[ClassRows]) -> ClassRows:
        return ClassRows(*(added(values) for values in zip(*classes, strict=True)))

    defined = all_pairs > 0
    lacking = [
        ((share > 0) & ~fold.estimable).astype(np.int64)
        for fold, share in zip(folds, shares, strict=True)
    ]
    estimable = defined & (added(lacking) == 0)
    bounded = averaged([fold.bounded for fold in folds])
    imprecision = averaged([fold.bounded**2 / fold.degrees_of_freedom for fold in folds], 4)
    nan = float("nan")
    return Variances(
        auc=np.where(defined, averaged([fold.auc for fold in folds], 1), np.nan),
        defined=defined,
        estimable=estimable,
        delong=np.where(estimable, averaged([fold.delong for fold in folds]), np.nan),
        unbiased=np.where(estimable, averaged([fold.unbiased for fold in folds]), np.nan),
        bounded=bounded,
        # Folds without an estimable group have the groups' own variances.
        shared=averaged([np.where(np.isnan(f.shared), f.bounded, f.shared) for f in folds]),
        degrees_of_freedom=np.maximum(ratio(bounded**2, imprecision, 1.0), 1.0),
        n_pairs=added([fold.n_pairs for fold in folds]),
        once=averaged([fold.once for fold in folds]),
        often=averaged([fold.often for fold in folds]),
        negatives=rows_of([fold.negatives for fold in folds]),
        positives=rows_of([fold.positives for fold in folds]),
        weighted=any(fold.weighted for fold in folds),
        shared_moments=PairMoments(nan, nan, nan),
    )


def rows_of(clusters: ClusterCounts, exponent: int) -> Rows:
    """Return cells by group and cluster as weighted rows in one class each.

    Weights are divided by two to the power `exponent`.
    """
    cells = clusters.with_weights_over(exponent).units.cells
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
    """Return the variances for clustered rows.

    Parameters
    ----------
    counts : ScoreCounts
        Counts by group.
    clusters : ClusterCounts
        The same rows' counts by group and cluster.
    """
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
        shared=_shared(independent, units, of_classes, counts, estimable),
        degrees_of_freedom=units.freedom(),
        n_pairs=n_pairs,
        once=independent.once * effect,
        often=independent.often * effect,
        clusters=Clusters(units, effects, scaled, clusters.n_shared),
    )


def _shared(
    independent: Variances,
    units: Units,
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
    own = view_of(with_weights_over(counts, view_of(counts).weight_exponent)).own_moments
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
