"""Variances of group AUCs and the pooled AUC, from placement values summed by group.

The *placement value* of a positive is the share of the negatives that it outranks, and that of a
negative is the share of the positives that outrank it; a tie counts one half. The mean placement
value of either class is the AUC, and the variance of the AUC follows from the variances of the
placement values (DeLong et al. 1988). For weighted rows, squared weights replace counts in the
variances.

Independent rows, pairs within folds and clusters fill the same `Variances`, which all limits, tests
and rankings read. Within folds, a group's AUC averages its AUCs in the folds, weighted by pairs.
The variance of this average, given the models of the folds, is the sum of the folds' variances
times the squared shares of pairs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skfedauc._group_codes import example_rows
from skfedauc._kernel import PlacementSums
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import (
    ClassRows,
    Floats,
    OwnMoments,
    group_aucs,
    is_rounding_error,
    ratio,
)
from skfedauc.counts.score_counts import view_of, with_weights_over
from skfedauc.inference.row_effects import (
    LEAST_EFFECTIVE,
    ClassUnits,
    Numbers,
    cluster_corrections,
    satterthwaite,
)
from skfedauc.pairs import GroupPairs


class Clusters(NamedTuple):
    """Cluster effects on each group's AUC, by unit.

    The corrected `effects` are those of both classes together, and `scaled` is in standard
    deviations for the group's AUC. `n_shared` clusters have rows in several groups.
    """

    units: ClassUnits
    effects: Floats
    scaled: Floats
    n_shared: int

    def correlations(self, first: Numbers, second: Numbers) -> Floats:
        """Correlations between the AUCs in group pairs."""
        table = self.units.table(self.scaled)
        products = [
            table[first[i : i + 128]].multiply(table[second[i : i + 128]]).sum(axis=1)
            for i in range(0, first.size, 128)
        ]
        found: Floats = np.concatenate([np.zeros(0), *map(np.ravel, products)])
        return np.clip(found, -1.0, 1.0)

    def correlation_matrix(self, used: Numbers) -> Floats:
        """Correlations between all AUCs in use."""
        return self.units.correlations_of(self.scaled, used)


class PairMoments(NamedTuple):
    """Moments of pair comparisons that determine an AUC's variance for any row count.

    Comparing a positive with a negative gives 1, one half (a tie) or 0. `pair` is the variance of a
    comparison, and the others are covariances between two comparisons that share only the negative,
    or only the positive: Q1 - A^2 and Q2 - A^2 in the notation of `auc_critical_difference`, which
    has the formula (Bamber 1975; Hanley and McNeil 1982).
    """

    pair: float = np.nan
    same_negative: float = np.nan
    same_positive: float = np.nan

    def variance(self, m: float, n: float) -> float:
        """Variance of the AUC with m positives and n negatives."""
        shared = (m - 1.0) * self.same_negative + (n - 1.0) * self.same_positive
        return (self.pair + shared) / (m * n)


@dataclasses.dataclass(frozen=True, eq=False)
class Variances:
    """AUCs by group, and what their limits and tests need; one element for each group.

    Attributes
    ----------
    auc : float64 array
        NaN if the group lacks a class.
    defined, estimable : bool array
        Whether the group has an AUC, and whether its variance can be estimated: two rows
        (effective sample size 1.5) of each class, and with clusters also two clusters.
    delong : float64 array
        DeLong's or Obuchowski's variance; NaN unless estimable.
    unbiased : float64 array
        Unbiased variance, possibly negative; with clusters `delong`.
    bounded : float64 array
        `delong`, with an upper bound (Birnbaum and Klose 1957) in place of 0 and NaN; 0 for a
        known AUC.
    shared : float64 array
        Variance from placement values pooled over groups; NaN if no group is estimable. The own
        variance is too small where sampling error makes the AUC high, so rankings and tests
        against the rest use this one.
    degrees_of_freedom : float64 array
        Satterthwaite's degrees of freedom for `delong`; at least 1.
    n_pairs : float64 array
        Independent pairs: rows (effective sample size), or clusters, in the smaller class.
    once, often : float64 array
        Coefficients in Newcombe's variance: 1 / (m n), and ((m + n) / 2 - 1) / (m n).
    negatives, positives : ClassRows
    weighted : bool
        Whether weights differ within a group and class; else they do not change variances.
    shared_moments : PairMoments
        Moments behind `shared`, which give an AUC's variance for any row counts.
    clusters : Clusters or None
        Units if rows are clustered; None if all rows are independent.
    """

    auc: Floats
    defined: NDArray[np.bool_]
    estimable: NDArray[np.bool_]
    delong: Floats
    unbiased: Floats
    bounded: Floats
    shared: Floats
    degrees_of_freedom: Floats
    n_pairs: Floats
    once: Floats
    often: Floats
    negatives: ClassRows
    positives: ClassRows
    weighted: bool
    shared_moments: PairMoments
    clusters: Clusters | None = None

    @functools.cached_property
    def alike(self) -> Numbers:
        """Numbers of the groups; groups with the same AUC, sizes and variances share one.

        Limits are computed once for such groups: of 100,000 groups of ten rows, 12,000 differ.
        """
        columns = self.auc, self.bounded, self.shared, self.n_pairs, self.once, self.often
        return numbered(*columns, *([self.degrees_of_freedom] if self.clusters else []))

    def with_known(self, auc: Floats, defined: NDArray[np.bool_]) -> Variances:
        """Return these variances with numbers for undefined AUCs, which have no error."""
        # Sums of weights may round an AUC of 1, whose limits are others than those of AUCs near 1.
        auc = np.where(np.abs(auc - self.auc) < 1e-9, self.auc, auc)
        if self.clusters is None and np.array_equal(auc, self.auc, equal_nan=True):
            return self
        bounded = np.where(self.defined, self.bounded, 0.0)
        return dataclasses.replace(self, auc=auc, defined=defined, bounded=bounded)

    @property
    def size_weights(self) -> Floats:
        """M n / (m + n): inverse variances if placement values have equal variances."""
        m, n = self.positives.effective, self.negatives.effective
        return ratio(m * n, m + n, 0.0)

    @property
    def shares_clusters(self) -> bool:
        """Whether a cluster has rows in several groups, which makes group AUCs dependent."""
        return self.clusters is not None and self.clusters.units.shares_clusters

    def check_independent_groups(self, result: str, mend: str = "") -> None:
        """Raise an error if groups share clusters, for a result that assumes independent groups."""
        if self.clusters is not None and self.shares_clusters:
            raise ValueError(
                f"{result} assumes independent groups, but {self.clusters.n_shared:,} of "
                f"{self.clusters.units.n_clusters:,} clusters have rows in several groups. "
                "Clusters with the same label are the same cluster: if they are different, give "
                f"them different labels. {mend}".rstrip()
            )

    def of_average(self, share: Floats) -> float:
        """Variance of an average with these shares of fixed groups; bounds replace unknown ones."""
        if self.clusters is not None:
            parts = share, self.bounded, self.estimable, self.clusters.effects
            return self.clusters.units.of_average(*parts)
        used = share > 0
        return float((share[used] ** 2 * self.bounded[used]).sum())

    def average_freedom(self, share: Floats) -> float:
        """Degrees of freedom for an average's variance; infinite for the normal."""
        if self.clusters is None:
            return float("inf")
        variances = np.where(self.defined, self.bounded, 0.0)
        return self.clusters.units.average_freedom(share, variances, self.degrees_of_freedom)

    @property
    def cluster_freedom(self) -> float:
        """Degrees of freedom for random groups, see ``freedom_of_shares``."""
        share = self.positives.weight / self.positives.weight.sum()
        share = (share + self.negatives.weight / self.negatives.weight.sum()) / 2.0
        return freedom_of_shares(share)


def numbered(*columns: NDArray[Any]) -> Numbers:
    """Number the elements of columns; elements that are equal in all columns share a number."""
    bits = [np.ascontiguousarray(column, np.float64).view(np.uint64) for column in columns]
    key = np.zeros_like(bits[0])
    for column in bits:
        key = (key ^ column) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    found = np.asarray(pd.factorize(key)[0])
    # Equal keys of elements that differ are next to impossible; then number all elements.
    example = example_rows(found)[found]
    is_same = all(np.array_equal(column, column[example]) for column in bits)
    return found if is_same else np.arange(key.size)


class Extremes(NamedTuple):
    """The counts' variances, and those with the lowest and the highest AUCs the bins permit.

    For exact counts, all three are the same object. The true AUC for the scores in `lowest` is at
    most that for the exact scores, so its lower limit also holds for the exact scores. Likewise for
    `highest` and upper limits.
    """

    given: Variances
    lowest: Variances
    highest: Variances

    @property
    def is_binned(self) -> bool:
        """Whether the extremes differ from the counts."""
        return self.lowest is not self.given


def variances_of(counts: ScoreCounts, exponent: int | None = None) -> Variances:
    """Return the variances for independent rows.

    Sums use the weights divided by two to the power `exponent`; None means
    `counts.weight_exponent`. The fourth power of very small or large weights underflows or
    overflows, and no result depends on the scale. All folds must have the same exponent.
    """
    counts = with_weights_over(counts, exponent)
    state, rows = view_of(counts), view_of(counts).rows_by_class
    return _of_sums(group_aucs(state.concordance.u2, *rows), *rows, state.own_moments)


def _of_sums(auc: Floats, negatives: ClassRows, positives: ClassRows, own: OwnMoments) -> Variances:
    m, n = positives.effective, negatives.effective
    n_pairs, defined = np.minimum(m, n), negatives.weight * positives.weight > 0
    weighted = not all(
        np.array_equal(size, rows.n) or np.allclose(size, rows.n, rtol=1e-9)
        for size, rows in ((n, negatives), (m, positives))
    )
    estimable = (np.minimum(positives.n, negatives.n) > 1) & (n_pairs >= LEAST_EFFECTIVE)
    of_classes = np.array(
        [
            ratio(own.positives_squared, positives.pairs),
            ratio(own.negatives_squared, negatives.pairs),
        ]
    )
    delong = of_classes.sum(axis=0)
    # Without variation, an AUC near 1 is perfect separation with the rounding of sums of weights.
    is_flat = (own.positives_squared == 0.0) & (own.negatives_squared == 0.0)
    auc = np.where(is_flat & (auc > 1.0 - 1e-9), 1.0, auc)
    unbiased = _unbiased(auc, negatives, positives, own, delong)
    moments, shared = _shared(m, n, of_classes, (delong - unbiased) * m * n, estimable)
    once = ratio(1.0, m * n, 0.0)
    return Variances(
        auc=auc,
        defined=defined,
        estimable=estimable,
        delong=delong,
        unbiased=unbiased,
        # Unequal weights of rows can make DeLong's variance too small.
        bounded=bounded(
            np.fmax(delong, unbiased) if weighted else delong, auc, m * n, n_pairs, defined
        ),
        shared=shared,
        degrees_of_freedom=satterthwaite(
            np.where(of_classes > 0.0, of_classes, 0.0), np.maximum(np.array([m, n]) - 1, 1)
        ),
        n_pairs=n_pairs,
        once=once,
        often=once * ((m + n) / 2.0 - 1.0),
        negatives=negatives,
        positives=positives,
        weighted=weighted,
        shared_moments=moments,
    )


def _unbiased(
    auc: Floats, negatives: ClassRows, positives: ClassRows, own: OwnMoments, delong: Floats
) -> Floats:
    """Return the squared AUC minus an unbiased estimate of its squared expectation.

    The estimate is the mean product over comparisons that share no row.
    """
    n2, m2 = negatives.weight**2, positives.weight**2
    squares = positives.squares * negatives.squares
    # Center the comparisons at the AUC to reduce rounding error.
    comparisons = own.comparisons - auc * squares
    comparisons_squared = own.comparisons_squared - 2 * auc * own.comparisons + auc**2 * squares
    once = n2 * own.positives_once + m2 * own.negatives_once - comparisons
    squared = n2 * own.positives_squared + m2 * own.negatives_squared - comparisons_squared
    found = ratio(2 * auc * once + squared, positives.pairs * negatives.pairs)
    # If the placement values of each class are equal, so are all comparisons.
    return np.where(delong == 0.0, 0.0, found)


def bounded(
    variance: Floats, auc: Floats, pairs: Floats, n_pairs: Floats, defined: NDArray[np.bool_]
) -> Floats:
    """Replace variances of 0 and NaN by the largest possible, A (1 - A) / min(m, n).

    By Birnbaum and Klose (1957). Half a concordant and half a discordant pair keep A away from 0
    and 1.
    """
    shrunk = (pairs * auc + 0.5) / (pairs + 1.0)
    return np.where(defined & ~(variance > 0), ratio(shrunk * (1.0 - shrunk), n_pairs), variance)


def _shared(
    m: Floats, n: Floats, of_classes: Floats, excess: Floats, kept: NDArray[np.bool_]
) -> tuple[PairMoments, Floats]:
    """Return the moments pooled over groups, and the variance that they give for each group.

    Pooling assumes that a class's placement values have equal variances in all groups. The
    estimate is unbiased, except that 0 replaces negative estimates. `excess` is DeLong's variance
    minus the unbiased variance, times the pair count.
    """
    if not kept.any():
        return PairMoments(), np.full(m.shape, np.nan)
    used = np.flatnonzero(kept)
    of_m, of_n, of_both = m[used], n[used], excess[used]
    of_class = of_classes[:, used] * [of_m, of_n] - of_both / [of_n, of_m]
    of_positives = float(np.average(of_class[0], weights=of_m - 1.0))
    of_negatives = float(np.average(of_class[1], weights=of_n - 1.0))
    of_pairs = float(np.average(of_both, weights=of_m * of_n / (of_m + of_n)))
    variance = ratio(of_positives, m) + ratio(of_negatives, n) + ratio(of_pairs, m * n)
    # Values below this limit are rounding error.
    variance = np.where(variance * (m * n) < 1e-14, 0.0, variance)
    moments = PairMoments(of_pairs + of_positives + of_negatives, of_negatives, of_positives)
    return moments, variance


class Pooled(NamedTuple):
    """The pooled AUC's variances under three assumptions.

    `rows` has all rows as one sample, `fixed` is for fixed groups with fixed row counts, and
    `random` for random groups as clusters; NaN if unknown, for the reason `why_not_random`.
    """

    rows: Variances
    n_groups: int
    fixed: float = np.nan
    random: float = np.nan
    random_freedom: float = np.nan
    why_not_random: str = "needs two groups with rows of each class"


@dataclasses.dataclass(frozen=True, eq=False)
class Stratum:
    """Sums by group over the rows in one class, from placement values among the rows in all groups.

    Sums have squared weights. Deviations are from the class mean in the group. `influence` sums the
    placement values minus the pooled AUC, over the class's weight; `once` and `squared` the
    deviations and their squares; `product` their products with the placement values' deviations
    within the group.
    """

    rows: ClassRows
    influence: Floats
    once: Floats
    squared: Floats
    product: Floats

    @functools.cached_property
    def apart(self) -> Floats:
        """The group's mean placement value minus the pooled AUC."""
        return np.asarray(ratio(self.influence, self.rows.weight, 0.0) * self.rows.weight.sum())

    def within(self) -> tuple[Floats, Floats]:
        """Return `squared` and `product` without rounding error.

        A single row has no deviation from its own mean; use the overall mean.
        """
        squared = (
            self.squared + np.where(self.rows.n == 1, self.apart, 0.0) ** 2 * self.rows.squares
        )
        is_error = is_rounding_error(squared, self.rows.squares)
        return np.where(is_error, 0.0, squared), np.where(is_error, 0.0, self.product)


def strata_of(counts: ScoreCounts, exponent: int | None = None) -> tuple[Stratum, Stratum]:
    """Return the sums for negatives and positives."""
    counts = with_weights_over(counts, exponent)
    found, rows = view_of(counts).sums_among_all, view_of(counts).rows_by_class
    n, p = (of_class.weight for of_class in rows)
    u2 = found.u2.astype(np.float64)
    auc = float(_pooled_auc(u2, rows)[0])
    placements, lost = u2[1] / (2.0 * n.sum()), u2[0] / (2.0 * p.sum())
    influence = (n - lost - n * auc) / n.sum(), (placements - p * auc) / p.sum()
    negatives, positives = (
        Stratum(rows[i], influence[i], found.once[i], found.squared[i], found.product[i])
        for i in (0, 1)
    )
    return negatives, positives


def _pooled_auc(u2: Floats, rows: tuple[ClassRows, ClassRows]) -> Floats:
    return group_aucs(np.array([u2[1].sum()]), *(of_class.of_all() for of_class in rows))


def moments_of_all_rows(
    strata: tuple[Stratum, Stratum], found: PlacementSums
) -> tuple[ClassRows, ClassRows, OwnMoments]:
    """Return all groups' rows as one group, and their placement value sums."""
    sums = []
    for of in strata:
        # Move the center from the means of the groups to the pooled AUC.
        once = (of.once + of.apart * of.rows.squares).sum()
        squared = (of.squared + 2.0 * of.apart * of.once + of.apart**2 * of.rows.squares).sum()
        of_class = np.array([[once], [squared]])
        of_class[:, is_rounding_error(of_class[1], of.rows.squares.sum())] = 0.0
        sums.append(of_class)
    comparisons = (np.array([of.sum()]) for of in (found.comparisons, found.comparisons_squared))
    own = OwnMoments(*sums[1], *sums[0], *comparisons)
    negatives, positives = (of.rows.of_all() for of in strata)
    return negatives, positives, own


def pooled_of(counts: ScoreCounts, variances: Variances, exponent: int | None = None) -> Pooled:
    """Return the pooled AUC's variances for independent rows, with the groups' ones."""
    counts, n_groups = with_weights_over(counts, exponent), variances.auc.size
    if not all(of_class.n.any() for of_class in view_of(counts).rows_by_class):
        return Pooled(variances_of(counts.regroup(None), 0), n_groups)
    strata, found = strata_of(counts, 0), view_of(counts).sums_among_all
    auc = _pooled_auc(found.u2.astype(np.float64), (strata[0].rows, strata[1].rows))
    rows = _of_sums(auc, *moments_of_all_rows(strata, found))
    fixed = sum(
        float((of.rows.corrections * (of.within()[0] / of.rows.weight.sum() ** 2)).sum())
        for of in reversed(strata)
    )
    influence, weights = zip(*((of.influence, of.rows.weight) for of in strata), strict=True)
    random = clustered_variance(influence[::-1], weights[::-1])
    return Pooled(rows, n_groups, max(fixed, 0.0), random, variances.cluster_freedom)


def clustered_variance(residuals: Sequence[Floats], weights: Sequence[NDArray[Any]]) -> float:
    """Variance of a mean placement value for random groups; NaN with fewer than two groups.

    The groups are clusters (Obuchowski 1997). For positives and for negatives, `weights` has the
    weight of each group, and `residuals` each group's summed placement values minus the overall
    mean, over the weight of the class.
    """
    total, shares = np.zeros((2, residuals[0].size))
    for residual, weight in zip(residuals, weights, strict=True):
        if (weight > 0).sum() < 2:
            return float("nan")
        of_class = weight.astype(np.float64)
        sums = (np.full_like(of_class, values.sum()) for values in (of_class, of_class**2))
        total += cluster_corrections(of_class, *sums) * residual
        shares += of_class / of_class.sum()
    variance = (total**2).sum()
    return 0.0 if is_rounding_error(variance, (shares**2).sum()) else float(variance)


def freedom_of_shares(share: Floats) -> float:
    """Return an effective number of clusters, 1 / sum(share**2), minus one; at least 1."""
    return max(1.0 / float((share**2).sum()) - 1.0, 1.0)


def folds_of(pairs: GroupPairs) -> Variances:
    """Return the group AUCs' variances for pairs within folds."""
    exponent = view_of(pairs.counts).weight_exponent
    parts = [variances_of(part, exponent) for part in pairs.parts]
    return combined(parts, pairs.positions, pairs.n_groups)


def pooled_folds(pairs: GroupPairs) -> Pooled:
    """Return the pooled AUC's variances for pairs within folds; not known for random groups."""
    exponent = view_of(pairs.counts).weight_exponent
    folds = [pooled_of(part, variances_of(part, exponent), exponent) for part in pairs.parts]
    rows = [fold.rows for fold in folds]
    n_pairs = np.concatenate([*map(_pairs, rows)])
    used = n_pairs > 0  # folds with both classes
    of_folds = np.array([fold.fixed for fold in folds])[used]
    fixed = float((n_pairs[used] / n_pairs.sum()) ** 2 @ of_folds)
    together = combined(rows, [np.zeros(1, np.intp)] * len(folds), 1)
    return Pooled(together, pairs.n_groups, fixed, why_not_random="not known within folds")


class Folds(NamedTuple):
    """The groups of several folds, one after the other, for means over folds.

    Rows in different folds are independent. `group` and `share` have each one's group number and
    its share in the group's mean, and `total` the groups' summed weights.
    """

    folds: Sequence[Variances]
    group: Numbers
    share: Floats
    total: Floats

    @classmethod
    def of(cls, folds: Sequence[Variances], group: Numbers, weight: Floats, n_groups: int) -> Folds:
        """Return the groups with these weights."""
        total = np.bincount(group, weight, n_groups).astype(np.float64)
        return cls(folds, group, ratio(weight, total[group], 0.0), total)

    def column(self, name: str) -> NDArray[Any]:
        """Return an attribute of the variances, for the groups of all folds."""
        return np.concatenate([getattr(fold, name) for fold in self.folds])

    def sums(self, values: NDArray[Any] | str, power: int = 2) -> Floats:
        """Sum values over folds times a power of the shares; without a share they do not count."""
        column = self.column(values) if isinstance(values, str) else values
        amounts = np.where(self.share > 0, column, 0.0) * self.share**power
        return np.bincount(self.group, amounts, self.total.size).astype(np.float64)


def _pairs(fold: Variances) -> Floats:
    return fold.negatives.weight * fold.positives.weight


def combined(folds: Sequence[Variances], positions: Sequence[Numbers], n_groups: int) -> Variances:
    """Return the variances for averages over folds; a fold's groups have `positions` among all."""
    group, n_pairs = np.concatenate(positions), np.concatenate([*map(_pairs, folds)])
    found = Folds.of(folds, group, n_pairs, n_groups)

    def added(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        values = np.concatenate(parts)
        return np.bincount(group, values, n_groups).astype(values.dtype)

    def rows_of(classes: Sequence[ClassRows]) -> ClassRows:
        return ClassRows(*map(added, zip(*classes, strict=True)))

    defined = found.total > 0
    estimable = defined & (found.sums(~found.column("estimable"), 0) == 0)
    own, shared = found.column("bounded"), found.column("shared")
    bounded = found.sums(own)
    imprecision = found.sums(own**2 / found.column("degrees_of_freedom"), 4)
    return Variances(
        auc=np.where(defined, found.sums("auc", 1), np.nan),
        defined=defined,
        estimable=estimable,
        delong=np.where(estimable, found.sums("delong"), np.nan),
        unbiased=np.where(estimable, found.sums("unbiased"), np.nan),
        bounded=bounded,
        # Folds without an estimable group have the groups' own variances.
        shared=found.sums(np.where(np.isnan(shared), own, shared)),
        degrees_of_freedom=np.maximum(ratio(bounded**2, imprecision, 1.0), 1.0),
        n_pairs=added([fold.n_pairs for fold in folds]),
        once=found.sums("once"),
        often=found.sums("often"),
        negatives=rows_of([fold.negatives for fold in folds]),
        positives=rows_of([fold.positives for fold in folds]),
        weighted=any(fold.weighted for fold in folds),
        shared_moments=PairMoments(),
    )
