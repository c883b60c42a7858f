"""Row effects on AUCs, for rows that must be paired: several models, clusters, several classes.

A row's effect on an AUC is how far its placement value deviates from its class mean, times its
class share. Effects add up: to the error of an average AUC, or of a difference between models, or
to a cluster's contribution. A variance sums the squared effects of independent *units*, which are
rows, or the rows in one cluster in one group (DeLong et al. 1988; Obuchowski 1997). A correction
accounts for the estimated mean: DeLong's for rows, Bell and McCaffrey's for clusters (2002).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skfedauc import _rows
from skfedauc._group_codes import number_integers
from skfedauc._kernel import placements as placements_of_rows
from skfedauc.counts.moments import ClassRows, Floats, is_rounding_error, ratio

Numbers = NDArray[np.intp]

# Least effective sample size for a variance. Below this size, one row has most of the weight.
LEAST_EFFECTIVE = 1.5
# Placement values are between 0 and 1, so a standard error below this limit is rounding error.
ROUNDING = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Rows with scores from one or more models, shape (n_models, n_rows).

    `codes` has group numbers, and `clusters` cluster numbers; None if all rows are independent.
    """

    positive: NDArray[np.bool_]
    scores: Floats
    weights: Floats
    codes: Numbers
    n_groups: int
    clusters: Numbers | None = None

    @classmethod
    def of(cls, models: Sequence[_rows.Rows], n_groups: int) -> Rows:
        """Return validated rows with the scores of each model; a single group has all rows."""
        rows = models[0]
        scores = np.array([model.scores for model in models], np.float64)
        codes, weights = rows.codes, np.ones(scores.shape[1])
        if rows.weights is not None:
            # Division by a power of two avoids overflow; the scale changes no result.
            weights = np.ldexp(rows.weights, -np.frexp(rows.weights.mean())[1])
        if codes is None or n_groups == 1:
            codes = np.zeros(weights.size, np.intp)
        return cls(rows.positive, scores, weights, codes, n_groups, rows.clusters)

    def pooled(self) -> Rows:
        """Return the rows in one group."""
        return dataclasses.replace(self, codes=np.zeros_like(self.codes), n_groups=1)

    def of_groups(self, kept: NDArray[np.bool_]) -> Rows:
        """Return the rows in some groups, numbered again."""
        mine = kept[self.codes]
        return Rows(
            self.positive[mine],
            self.scores[:, mine],
            self.weights[mine],
            (np.cumsum(kept) - 1)[self.codes[mine]],
            int(kept.sum()),
            None if self.clusters is None else self.clusters[mine],
        )

    @functools.cached_property
    def is_weighted(self) -> bool:
        """Whether the weights of rows differ."""
        return bool((self.weights != self.weights[:1]).any())

    @functools.cached_property
    def key(self) -> Numbers:
        """Each row's class and group: group numbers for negatives, then for positives."""
        return self.positive * self.n_groups + self.codes

    def by_class(self, amounts: Floats | None) -> Floats:
        """Sum row amounts (None counts rows) by class, negatives first, and by group."""
        found = np.bincount(self.key, amounts, 2 * self.n_groups)
        return found.astype(np.float64).reshape(2, self.n_groups)

    @functools.cached_property
    def sizes(self) -> Sizes:
        """Row counts, weights and squared weights by class and group."""
        of_rows = self.by_class(None)
        n = of_rows.astype(np.int64)
        if not self.is_weighted:
            weight = float(self.weights[:1].sum())
            return Sizes(n, weight * of_rows, weight**2 * of_rows)
        return Sizes(n, self.by_class(self.weights), self.by_class(self.weights**2))


class Sizes(ClassRows):
    """Row counts, summed weights and squared weights by class and group (2, n_groups)."""

    @property
    def few(self) -> NDArray[np.bool_]:
        """Groups where a class has too small an effective sample size for a variance."""
        return np.asarray(self.effective.min(axis=0) < LEAST_EFFECTIVE, np.bool_)


def placements(rows: Rows) -> tuple[Sequence[Floats], Sequence[Floats]]:
    """Return placement values by model: within groups (NaN if one lacks a class), and among all."""
    weights = rows.weights if rows.is_weighted else None
    of_rows = rows.positive, rows.codes, rows.n_groups, weights
    within, among_all = zip(*(placements_of_rows(of, *of_rows) for of in rows.scores), strict=True)
    return within, among_all


@dataclasses.dataclass(frozen=True, eq=False)
class Units:
    """Independent parts when rows are clustered: a unit has one cluster's rows in one group."""

    group: Numbers
    cluster: Numbers
    n_groups: int
    n_clusters: int

    @property
    def shares_clusters(self) -> bool:
        """Whether a cluster has rows in several groups."""
        return self.group.size > self.n_clusters

    def by_group(self, values: Any) -> Floats:
        """Sum unit values by group; the last axis holds units."""
        if values.ndim == 1:
            return np.bincount(self.group, values, self.n_groups).astype(np.float64)
        return np.array([self.by_group(row) for row in values])

    def by_cluster(self, values: Floats) -> Floats:
        """Sum unit values by cluster."""
        return np.bincount(self.cluster, values, self.n_clusters).astype(np.float64)

    def table(self, values: Floats) -> Any:
        """Return unit values as a sparse array, with a row for each group."""
        shape = self.n_groups, self.n_clusters
        return csr_array((values, (self.group, self.cluster)), shape=shape)

    def correlations_of(self, scaled: Floats, groups: Any = slice(None)) -> Floats:
        """Return the correlations between groups, from unit effects in standard deviations."""
        table = self.table(scaled)[groups]
        return np.asarray(np.clip((table @ table.T).toarray(), -1.0, 1.0))


@dataclasses.dataclass(frozen=True, eq=False)
class ClassUnits(Units):
    """Units with their weights: negatives, then positives, shape (2, n_units)."""

    weights: Floats

    @classmethod
    def of(cls, rows: Rows) -> tuple[ClassUnits, Numbers]:
        """Return the units of clustered rows, and each row's unit."""
        assert rows.clusters is not None
        n_clusters = int(rows.clusters.max(initial=-1)) + 1
        unit, distinct = number_integers(rows.codes.astype(np.int64) * n_clusters + rows.clusters)
        group, cluster = np.divmod(distinct.astype(np.intp), max(n_clusters, 1))
        part = rows.positive * distinct.size + unit
        weights = np.bincount(part, rows.weights, 2 * distinct.size).astype(np.float64)
        return cls(group, cluster, rows.n_groups, n_clusters, weights.reshape(2, -1)), unit

    @property
    def n_in_group(self) -> Floats:
        """Unit counts by group: with negatives, with positives, and all; shape (3, G)."""
        return self.by_group(np.concatenate([self.weights > 0, np.ones((1, self.group.size))]))

    @property
    def has_two(self) -> NDArray[np.bool_]:
        """Return the groups with two units in each class, as a variance requires."""
        return np.asarray((self.n_in_group[:2] > 1).all(axis=0), np.bool_)

    @property
    def share(self) -> Floats:
        """Each unit's share in its group's weight by class, shape (2, n_units)."""
        return ratio(self.weights, self.by_group(self.weights)[:, self.group], 0.0)

    def freedom(self) -> Floats:
        """Return the degrees of freedom of each group's variance, from the sizes of its units.

        The squared shares replace the variances: a variance that sampling error makes too small
        would otherwise get too many degrees of freedom.
        """
        share = self.share
        squares = self.by_group(share**2)
        of_classes = np.maximum(ratio(1.0, squares, 1.0) - 1.0, 1.0)
        of_all = ratio(1.0, self.by_group(share.mean(axis=0) ** 2), 1.0) - 1.0
        return np.maximum(np.minimum(satterthwaite(squares, of_classes, np.inf), of_all), 1.0)

    def average_freedom(self, share: Floats, variances: Floats, freedom: Floats) -> float:
        """Return the degrees of freedom of the variance of an average of groups; at least 1."""
        used = (share > 0) & (variances > 0)
        found = satterthwaite(share[used] ** 2 * variances[used], freedom[used], np.inf)
        of_unit = np.where(used, share, 0.0)[self.group] * self.share.mean(axis=0)
        of_cluster = self.by_cluster(of_unit)
        of_all = ratio(of_cluster.sum() ** 2, np.asarray((of_cluster**2).sum()), 1.0) - 1.0
        return max(float(np.minimum(found, of_all)), 1.0)

    def of_average(
        self, share: Floats, variances: Floats, known: NDArray[np.bool_], effects: Floats
    ) -> float:
        """Return the variance of an average over groups.

        A group whose variance is not known has a bound in `variances`. If groups share clusters,
        its AUC may correlate fully with the other groups' average.
        """
        used = share > 0
        parts = share[used] ** 2 * variances[used]
        if not self.shares_clusters:
            return float(parts.sum())
        in_average = np.where(known, share, 0.0)[self.group] * effects
        across = float((self.by_cluster(in_average) ** 2).sum() - (in_average**2).sum())
        variance = float(parts[known[used]].sum()) + across
        return float((np.sqrt(max(variance, 0.0)) + np.sqrt(parts[~known[used]]).sum()) ** 2)


def cluster_effects(
    rows: Rows, values: Sequence[Floats], *, among_all: bool = False
) -> tuple[Floats, ClassUnits]:
    """Return the corrected cluster effects, from their rows' placement values by model.

    With `among_all`, the values are placement values among the rows in all groups, and the groups
    are fixed strata: deviations are from the group mean, in units of all rows.
    """
    units, unit = ClassUnits.of(rows)
    n_groups, n_units = rows.n_groups, units.group.size
    part = rows.positive * n_units + unit
    of_rows = (rows.weights * np.nan_to_num(of_model) for of_model in values)
    effects = np.array([np.bincount(part, of_model, 2 * n_units) for of_model in of_rows])
    weights, key = units.weights.ravel(), np.append(units.group, n_groups + units.group)

    def by_class(amounts: Any) -> Floats:
        return np.bincount(key, amounts, 2 * n_groups).astype(np.float64)

    totals, squares = by_class(weights), by_class(weights**2)
    several = by_class(weights > 0) > 1
    whole = totals
    if among_all:
        whole = np.repeat(totals.reshape(2, -1).sum(axis=1), n_groups)
    scale = cluster_corrections(weights, totals[key], squares[key]) * ratio(1.0, whole, 0.0)[key]
    for of_model in effects:
        of_groups = by_class(of_model)
        centre = ratio(of_groups, totals, 0.0)
        if among_all:
            # A single unit has no deviation from the mean of its group; use the overall mean.
            overall = np.repeat(of_groups.reshape(2, -1).sum(axis=1), n_groups) / whole
            centre = np.where(several, centre, overall)
        of_model -= weights * centre[key]
        of_model *= scale
        is_error = is_rounding_error(by_class(of_model**2), ratio(squares, whole**2, 0.0))
        of_model[is_error[key]] = 0.0
    return effects.reshape(len(effects), 2, -1), units


def cluster_corrections(weights: Floats, totals: Floats, squares: Floats) -> Floats:
    """Return Bell and McCaffrey's correction of each cluster's residual for the common mean.

    A cluster's residual is its deviation from its share of the overall sum. Its variance is the
    cluster's variance times ``1 - 2 share + sum(share^2)``, if cluster variances are proportional
    to their squared shares. The correction is the inverse root of this factor. `totals` and
    `squares` are the sums of the weights and of their squares over all clusters.
    """
    # Compute the factor as a sum of two terms that are at least 0.
    others = np.maximum(squares - weights**2, 0.0)
    remaining = ratio((totals - weights) ** 2 + others, totals**2, 1.0)
    # A single cluster has no residual, or a residual around an overall mean.
    return np.sqrt(ratio(1.0, remaining, 1.0))


def satterthwaite(variances: Floats, degrees_of_freedom: Floats, otherwise: float = 1.0) -> Floats:
    """Return the degrees of freedom of a sum of independent variances (first axis); at least 1.

    `otherwise` is the result if the sum has no sampling error.
    """
    squares = np.asarray((variances**2 / degrees_of_freedom).sum(axis=0))
    return np.maximum(ratio(variances.sum(axis=0) ** 2, squares, otherwise), 1.0)


class ClassAverages:
    """Standard deviations of AUC averages over comparisons and groups.

    A comparison of classes has its rows, with one score, and their numbers among all rows.
    Rows in different clusters are independent. `is_known`, shape (n_groups, n_comparisons), tells
    whether an AUC has an estimated variance above 0. Other AUCs may have a correlation of 1 with
    the rest.
    """

    def __init__(
        self,
        comparisons: Sequence[tuple[Rows, Numbers]],
        codes: NDArray[np.intp],
        clusters: NDArray[np.intp],
        is_known: NDArray[np.bool_],
    ) -> None:
        every = np.ones(codes.size)
        all_rows = Rows(every > 0, every[None], every, codes, len(is_known), clusters)
        self._units, unit = ClassUnits.of(all_rows)
        self._is_known = is_known
        n_units = self._units.group.size
        effects = [np.bincount(unit[of], _effects(rows), n_units) for rows, of in comparisons]
        deviations = np.sqrt(self._units.by_group(np.square(effects)))
        scale = ratio(1.0, deviations, 0.0) * is_known.T
        self._effects = np.array(effects) * scale[:, self._units.group]

    def of_groups(self, deviations: Floats) -> Floats:
        """Return the standard deviation of each group's summed errors over the comparisons.

        `deviations` has those of each error, shape (n_groups, n_comparisons).
        """
        effects, unknown = self._parts(deviations)
        return np.sqrt(self._units.by_group(effects**2)) + unknown

    def of_average(self, deviations: Floats) -> float:
        """Return the standard deviation of all errors' sum over groups and comparisons."""
        if not self._units.shares_clusters:
            return float(np.sqrt((self.of_groups(deviations) ** 2).sum()))
        effects, unknown = self._parts(deviations)
        return float(np.sqrt((self._units.by_cluster(effects) ** 2).sum()) + unknown.sum())

    def _parts(self, deviations: Floats) -> tuple[Floats, Floats]:
        """Return the known errors' sum by unit, and the other errors' sum by group."""
        known = (self._effects * deviations.T[:, self._units.group]).sum(axis=0)
        return known, np.where(self._is_known, 0.0, deviations).sum(axis=1)


def _effects(rows: Rows) -> Floats:
    """Return each row's effect on its group's AUC; 0 in groups that lack a class."""
    values = np.nan_to_num(placements(rows)[0][0])
    total = rows.by_class(rows.weights)
    mean = ratio(rows.by_class(rows.weights * values), total, 0.0)
    place = rows.positive.astype(np.intp), rows.codes
    return rows.weights * (values - mean[place]) / total[place]
