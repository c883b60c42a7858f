"""Variances of group AUCs and the pooled AUC, from placement values summed by group.

The *placement value* of a positive is the share of the negatives that it outranks, and that of a
negative is the share of the positives that outrank it; a tie counts one half. The mean placement
value of either class is the AUC, and the variance of the AUC follows from the variances of the
placement values [1]_. For weighted rows, squared weights replace counts in the variances.

Independent rows, clusters and folds (`designs.py`) fill the same `Variances`, which all limits,
tests and rankings read.

References
----------
.. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
   two or more correlated receiver operating characteristic curves: a nonparametric
   approach. Biometrics 44(3). https://doi.org/10.2307/2531595
.. [2] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data.
   Biometrics 53(2). https://doi.org/10.2307/2533958
.. [3] Birnbaum, Z. W. and Klose, O. M. (1957). Bounds for the variance of the Mann-Whitney
   statistic. Annals of Mathematical Statistics 28(4).
.. [4] Bamber, D. (1975). The area above the ordinal dominance graph and the area below the
   receiver operating characteristic graph. Journal of Mathematical Psychology 12(4).
   https://doi.org/10.1016/0022-2496(75)90001-2
.. [5] Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver
   operating characteristic (ROC) curve. Radiology 143(1).
   https://doi.org/10.1148/radiology.143.1.7063747
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import PlacementSums
from skfedauc.counts import ScoreCounts
from skfedauc.counts.moments import ClassRows, OwnMoments, group_aucs, is_rounding_error, ratio
from skfedauc.counts.score_counts import sums_among_all, view_of, with_weights_over
from skfedauc.inference.effects import (
    LEAST_EFFECTIVE,
    Numbers,
    Units,
    cluster_corrections,
    satterthwaite,
)

Floats = NDArray[np.float64]


SHARED = (
    "assumes independent groups, but {n_shared:,} of {n_clusters:,} clusters have rows in several "
    "groups. Clusters with the same label are the same cluster: if they are different, give them "
    "different labels. {mend}"
)


class Clusters(NamedTuple):
    """Cluster effects on each group's AUC.

    Attributes
    ----------
    units : Units
        Each group's clusters.
    effects : float64 array, shape (n_units,)
        Corrected effects, both classes together.
    scaled : float64 array, shape (n_units,)
        Effects in standard deviations for the group's AUC.
    n_shared : int
        How many clusters have rows in several groups.
    """

    units: Units
    effects: Floats
    scaled: Floats
    n_shared: int

    def check_not_shared(self, result: str, mend: str = "") -> None:
        """Raise an error if groups share clusters, for a result that assumes independent groups."""
        if self.units.shares_clusters:
            numbers = {"n_shared": self.n_shared, "n_clusters": self.units.n_clusters}
            raise ValueError(f"{result} {SHARED.format(mend=mend, **numbers)}".rstrip())

    def correlations(self, first: Numbers, second: Numbers) -> Floats | None:
        """Correlations between the AUCs in group pairs; None if groups share no clusters."""
        if not self.units.shares_clusters:
            return None
        matrix = self._matrix()
        products = [
            matrix[first[i : i + 128]].multiply(matrix[second[i : i + 128]]).sum(axis=1)
            for i in range(0, first.size, 128)
        ]
        found: Floats = np.concatenate([np.zeros(0), *map(np.ravel, products)])
        return np.clip(found, -1.0, 1.0)

    def correlation_matrix(self, used: NDArray[np.bool_]) -> Floats | None:
        """Correlations between all AUCs in use; None if groups share no clusters."""
        if not self.units.shares_clusters:
            return None
        matrix = self._matrix()[np.flatnonzero(used)]
        found: Floats = np.clip((matrix @ matrix.T).toarray(), -1.0, 1.0)
        return found

    def _matrix(self) -> Any:
        from scipy.sparse import csr_array

        shape = self.units.n_groups, self.units.n_clusters
        return csr_array((self.scaled, (self.units.group, self.units.cluster)), shape=shape)


class PairMoments(NamedTuple):
    """Moments of pair comparisons that determine an AUC's variance for any row count [4]_ [5]_.

    Comparing a positive with a negative gives 1, one half (a tie) or 0. `pair` is the variance of a
    comparison, and the others are covariances between two comparisons that share only the negative,
    or only the positive: Q1 - A^2 and Q2 - A^2 in the notation of `auc_critical_difference`.
    """

    pair: float
    same_negative: float
    same_positive: float

    def variance(self, m: float, n: float) -> float:
        """Variance of the AUC with m positives and n negatives."""
        return self.covariance(m, n, 1.0)

    def covariance(self, m: float, n: float, same: float) -> float:
        """Covariance between two models' AUCs if a share `same` of rows has equal scores.

        Two comparisons correlate if they share a row with the same score in both models.
        """
        of_a_negative = same * (m - same) * self.same_negative
        of_a_positive = same * (n - same) * self.same_positive
        return (same**2 * self.pair + of_a_negative + of_a_positive) / (m * n)

    def share_of_same_scores(self, m: float, n: float, correlation: float) -> float:
        """Share of rows with equal scores that gives two models' AUCs this correlation."""
        squared = self.pair - self.same_negative - self.same_positive
        linear = m * self.same_negative + n * self.same_positive
        wanted = correlation * self.variance(m, n) * m * n
        # Return the root of squared * x^2 + linear * x = wanted between 0 and 1, without
        # cancellation.
        return 2 * wanted / (linear + math.sqrt(linear**2 + 4 * squared * wanted))


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

    def with_known(self, auc: Floats, defined: NDArray[np.bool_]) -> Variances:
        """Return these variances with numbers for undefined AUCs, which have no error."""
        bounded = np.where(self.defined, self.bounded, 0.0)
        return dataclasses.replace(self, auc=auc, defined=defined, bounded=bounded)

    @property
    def size_weights(self) -> Floats:
        """M n / (m + n): inverse variances if placement values have equal variances."""
        m, n = self.positives.effective, self.negatives.effective
        return ratio(m * n, m + n, 0.0)

    @property
    def interval_freedom(self) -> Floats:
        """Degrees of freedom for limits: Student's t with clusters, else the normal."""
        return self.degrees_of_freedom if self.clusters else np.full(self.auc.shape, np.inf)

    # Several groups ------------------------------------------------------------------------

    @property
    def shares_clusters(self) -> bool:
        """Whether a cluster has rows in several groups, which makes group AUCs dependent."""
        return self.clusters is not None and self.clusters.units.shares_clusters

    def check_independent_groups(self, result: str, mend: str = "") -> None:
        """Raise an error if groups share clusters, for a result that assumes independent groups."""
        if self.clusters is not None:
            self.clusters.check_not_shared(result, mend)

    def of_average(self, share: Floats) -> float:
        """Variance of an average group AUC for fixed groups; bounds replace unknown variances.

        Parameters
        ----------
        share : float64 array, shape (n_groups,)
            Each group's share in the average; 0 for groups without an AUC.
        """
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
        """Degrees of freedom for random groups: effective group count minus one.

        The effective count is 1 / sum(share**2), the group count if all have equal size.
        """
        share = self.positives.weight / self.positives.weight.sum()
        share = (share + self.negatives.weight / self.negatives.weight.sum()) / 2.0
        return max(1.0 / float((share**2).sum()) - 1.0, 1.0)


class Extremes(NamedTuple):
    """The counts' variances, and those with the lowest and the highest AUCs the bins permit.

    For exact counts, all attributes are the same object. For binned counts, `lowest` and `highest`
    come from `skfedauc.counts.extremes_of`. The true AUC for the scores in `lowest` is at most
    that for the exact scores, so a lower confidence limit for the former is one for the latter.
    Likewise for `highest` and upper limits.

    Attributes
    ----------
    given, lowest, highest : Variances
    """

    given: Variances
    lowest: Variances
    highest: Variances

    @property
    def is_binned(self) -> bool:
        """Whether the extremes differ from the counts."""
        return self.lowest is not self.given


# Single groups -------------------------------------------------------------------------------


def variances_of(counts: ScoreCounts, exponent: int | None = None) -> Variances:
    """Return the variances for independent rows.

    Parameters
    ----------
    counts : ScoreCounts
    exponent : int, default=None
        Sums use the weights divided by two to this power; None means `counts.weight_exponent`.
        The fourth power of very small or large weights underflows or overflows, and no result
        depends on the scale. All folds must have the same exponent.
    """
    counts = with_weights_over(
        counts, view_of(counts).weight_exponent if exponent is None else exponent
    )
    rows = view_of(counts).rows_by_class
    return _of_sums(
        group_aucs(view_of(counts).concordance.u2, *rows), *rows, view_of(counts).own_moments
    )


def _of_sums(auc: Floats, negatives: ClassRows, positives: ClassRows, own: OwnMoments) -> Variances:
    m, n = positives.effective, negatives.effective
    n_pairs, defined = np.minimum(m, n), negatives.weight * positives.weight > 0
    weighted = any(
        not np.allclose(rows.effective, rows.n, rtol=1e-9) for rows in (negatives, positives)
    )
    estimable = (np.minimum(positives.n, negatives.n) > 1) & (n_pairs >= LEAST_EFFECTIVE)
    of_classes = np.array(
        [
            ratio(own.positives_squared, positives.pairs),
            ratio(own.negatives_squared, negatives.pairs),
        ]
    )
    delong = of_classes.sum(axis=0)
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
            np.nan_to_num(of_classes), np.maximum(np.array([m, n]) - 1, 1)
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
    n2, m2, squares = (
        negatives.weight**2,
        positives.weight**2,
        positives.squares * negatives.squares,
    )
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
    """Replace variances of 0 and NaN by A (1 - A) / min(m, n), the largest possible [3]_.

    Half a concordant and half a discordant pair keep A away from 0 and 1.
    """
    shrunk = (pairs * auc + 0.5) / (pairs + 1.0)
    found = variance.copy()
    without = defined & ~(variance > 0)
    found[without] = (shrunk * (1.0 - shrunk))[without] / n_pairs[without]
    return found


def _shared(
    m: Floats, n: Floats, of_classes: Floats, excess: Floats, kept: NDArray[np.bool_]
) -> tuple[PairMoments, Floats]:
    """Return the moments pooled over groups, and the variance that they give for each group.

    Pooling assumes that a class's placement values have equal variances in all groups. The
    estimate is unbiased, except that 0 replaces negative estimates. `excess` is DeLong's variance
    minus the unbiased variance, times the pair count.
    """
    nan = float("nan")
    if not kept.any():
        return PairMoments(nan, nan, nan), np.full(m.shape, nan)
    of_class = of_classes[:, kept] * [m[kept], n[kept]] - excess[kept] / [n[kept], m[kept]]
    of_positives = float(np.average(of_class[0], weights=m[kept] - 1.0))
    of_negatives = float(np.average(of_class[1], weights=n[kept] - 1.0))
    of_pairs = float(np.average(excess[kept], weights=(m * n)[kept] / (m + n)[kept]))
    variance = ratio(of_positives, m) + ratio(of_negatives, n) + ratio(of_pairs, m * n)
    # Values below this limit are rounding error.
    variance = np.where(variance * (m * n) < 1e-14, 0.0, variance)
    moments = PairMoments(of_pairs + of_positives + of_negatives, of_negatives, of_positives)
    return moments, variance


# All groups together -------------------------------------------------------------------------


class Pooled(NamedTuple):
    """The pooled AUC's variances under three assumptions.

    Attributes
    ----------
    rows : Variances
        Variances with all rows as one sample.
    fixed : float
        Variance for fixed groups with fixed row counts.
    random : float
        Variance for random groups [2]_; NaN if unknown, for the reason `why_not_random`.
    random_freedom : float
        Degrees of freedom for `random`.
    n_groups : int
    """

    rows: Variances
    fixed: float
    random: float
    random_freedom: float
    n_groups: int
    why_not_random: str = "needs two groups with rows of each class"


class Stratum(NamedTuple):
    """Sums by group over the rows in one class, from placement values among the rows in all groups.

    Sums have squared weights. Deviations are from the class mean in the group.

    Attributes
    ----------
    rows : ClassRows
    influence : float64 array, shape (n_groups,)
        Summed placement values minus the pooled AUC, over the class's weight.
    once, squared : float64 array, shape (n_groups,)
        Summed deviations, and their summed squares.
    product : float64 array, shape (n_groups,)
        Summed products with the placement values' deviations within the group.
    """

    rows: ClassRows
    influence: Floats
    once: Floats
    squared: Floats
    product: Floats

    @property
    def apart(self) -> Floats:
        """The group's mean placement value minus the pooled AUC."""
        found: Floats = ratio(self.influence, self.rows.weight, 0.0) * self.rows.weight.sum()
        return found

    @property
    def corrections(self) -> Floats:
        """A variance's correction for centering at the group mean."""
        return ratio(self.rows.weight**2, self.rows.pairs, 1.0)

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
    counts = with_weights_over(
        counts, view_of(counts).weight_exponent if exponent is None else exponent
    )
    found, rows = sums_among_all(counts), view_of(counts).rows_by_class
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
    return group_aucs(np.array([u2[1].sum()]), *map(_all_of, rows))


def _all_of(rows: ClassRows) -> ClassRows:
    return ClassRows(*(np.array([values.sum()]) for values in rows))


def all_rows(counts: ScoreCounts, exponent: int | None = None) -> Variances:
    """Return the variances with all rows as one sample, from the groups' sums."""
    if not all(of_class.n.any() for of_class in view_of(counts).rows_by_class):
        return variances_of(counts.regroup(None), exponent)
    counts = with_weights_over(
        counts, view_of(counts).weight_exponent if exponent is None else exponent
    )
    strata, found = strata_of(counts, 0), sums_among_all(counts)
    auc = _pooled_auc(found.u2.astype(np.float64), (strata[0].rows, strata[1].rows))
    return _of_sums(auc, *moments_of_all_rows(strata, found))


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
    negatives, positives = (_all_of(of.rows) for of in strata)
    return negatives, positives, own


def pooled_of(counts: ScoreCounts, variances: Variances, exponent: int | None = None) -> Pooled:
    """Return the pooled AUC's variances for independent rows, with the groups' ones."""
    rows = all_rows(counts, exponent)
    if not rows.defined.any():
        return Pooled(rows, float("nan"), float("nan"), float("nan"), variances.auc.size)
    strata = strata_of(counts, exponent)
    fixed = sum(
        float((of.corrections * (of.within()[0] / of.rows.weight.sum() ** 2)).sum())
        for of in reversed(strata)
    )
    influence, weights = zip(*((of.influence, of.rows.weight) for of in strata), strict=True)
    random = clustered_variance(influence[::-1], weights[::-1])
    return Pooled(rows, max(fixed, 0.0), random, variances.cluster_freedom, variances.auc.size)


def clustered_variance(residuals: Sequence[Floats], weights: Sequence[NDArray[Any]]) -> float:
    """A mean placement value's variance for random groups [2]_; NaN with fewer than two groups.

    Parameters
    ----------
    residuals : sequence of two float64 array, shape (n_groups,)
        For positives and for negatives: each group's summed placement values minus the overall
        mean, divided by the class's weight.
    weights : sequence of two ndarray, shape (n_groups,)
        The class's weight by group.
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
