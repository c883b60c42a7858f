"""Ratios of sums over clustered rows, such as rates of decisions of several rows of each patient.

Rows of the same cluster may be dependent; clusters are independent. A ratio of a group is E / M.
Cluster c has the part e_c of the numerator and the part m_c of the denominator, and the residual
``r_c = (e_c - m_c E / M) / M``. The linearized variance [1]_ of the ratio is the sum of the squares
of the residuals, divided by ``f = 1 - 2 sum(s_c^3) / sum(s_c^2) + sum(s_c^2)`` with the shares
``s_c = m_c / M``. The division makes the variance unbiased if the rows of a cluster are fully
dependent. With k clusters of equal size, f is (k - 1) / k. If groups share clusters, the ratios of
groups g and h have the covariance ``sum r_gc r_hc / sqrt(f_g f_h)``.

The design effect [2]_ of a rate p of n rows is the variance divided by ``p (1 - p) / (n - 1)``, and
at least 1. Limits of rates use the effective sample size of Korn and Graubard [3]_: n divided by
the design effect, times ``(t_{n-1} / t_{k-1})^2``. These are quantiles of Student's t, and k is the
effective number of clusters, ``1 / sum(s_c^2)``. If each row is a cluster, the effective sample
size is n. A rate of 0 or 1 has no estimated variance. Its effective sample size is k, the effective
sample size of fully dependent rows.

References
----------
.. [1] Cochran, W. G. (1977). Sampling techniques. Wiley.
.. [2] Rao, J. N. K. and Scott, A. J. (1992). A simple method for the analysis of clustered binary
   data. Biometrics 48(2). https://doi.org/10.2307/2532311
.. [3] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
   expected number of positive counts estimated from survey data. Survey Methodology 24(2).
.. [4] Brunner, E., Dette, H. and Munk, A. (1997). Box-type approximations in nonparametric
   factorial designs. Journal of the American Statistical Association 92(440).
   https://doi.org/10.1080/01621459.1997.10473671
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

# Effective number of clusters up to which there is a single cluster, apart from rounding error
_ONE_CLUSTER = 1.0 + 1e-9


class Shares(NamedTuple):
    """Shares of clustered rows, such as rates, with their precision.

    Attributes
    ----------
    share : ndarray of float64, shape (n,)
        NaN without rows.
    n_rows : ndarray of float64, shape (n,)
        Number of rows in the denominator, or Kish's effective sample size of weighted rows.
    n_clusters : ndarray of float64, shape (n,)
        Effective number of clusters.
    effect : ndarray of float64, shape (n,)
        Design effect. Without an estimated variance, the design effect of fully dependent rows.
    is_estimated : ndarray of bool, shape (n,)
        Whether the variance is an estimate.
    """

    share: Floats
    n_rows: Floats
    n_clusters: Floats
    effect: Floats
    is_estimated: NDArray[np.bool_]

    @property
    def effective(self) -> Floats:
        """Number of rows over the design effect; 0 without rows."""
        return ratio(self.n_rows, self.effect, 0.0)

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """True for shares of at least two clusters."""
        return np.asarray(self.n_clusters > _ONE_CLUSTER)

    def effective_rows(self, tail: float) -> Floats:
        """Return Korn and Graubard's effective sample size [3]_ for limits; 0 without rows.

        Parameters
        ----------
        tail : float
            Probability with which a limit may fail.
        """
        return self.effective / self._stretch(np.asarray(tail)) ** 2

    def _stretch(self, tail: Floats) -> Floats:
        """Return by how much few clusters stretch the limits: a ratio of quantiles of t."""
        from scipy.special import stdtrit

        # The ratio of the quantiles converges as the tail approaches one half.
        tail = np.broadcast_to(np.minimum(tail, 0.49), self.share.shape)
        found, known = np.ones(self.share.shape), self.is_estimated
        found[known] = stdtrit(self.n_clusters[known] - 1.0, tail[known])
        found[known] /= stdtrit(self.n_rows[known] - 1.0, tail[known])
        return found

    def tail_of(self, standardized: Floats) -> Floats:
        """Return the tail probability whose limits are this number of standard errors away.

        The standard errors are those of `effective`. The function inverts the limits by bisection.
        """
        from scipy.special import ndtri

        low, high = np.full(self.share.shape, -690.0), np.full(self.share.shape, np.log(0.5))
        for _ in range(50):
            middle = (low + high) / 2.0
            is_inside = -ndtri(np.exp(middle)) * self._stretch(np.exp(middle)) > standardized
            low, high = np.where(is_inside, middle, low), np.where(is_inside, high, middle)
        return np.where(np.isinf(standardized), 0.0, np.exp(high))

    def variance(self, share: Floats) -> Floats:
        """Return the variances if the true shares are `share`; 0 without rows."""
        return ratio(share * (1.0 - share), self.effective, 0.0)


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums over the rows of units; a unit holds the rows of one cluster in one group.

    Attributes
    ----------
    group, cluster : ndarray of intp, shape (n_units,)
        Group number and cluster number of each unit; no two units have both in common.
    events, weight, squares : ndarray of float64, shape (n_units,)
        Numerator of the ratio, and sums of the weights and of the squared weights of the rows in
        the denominator.
    n_groups, n_clusters : int
    """

    group: Numbers
    cluster: Numbers
    events: Floats
    weight: Floats
    squares: Floats
    n_groups: int
    n_clusters: int

    def _by_group(self, values: Floats) -> Floats:
        return np.bincount(self.group, values, self.n_groups).astype(np.float64)

    def _by_cluster(self, values: Floats) -> Floats:
        return np.bincount(self.cluster, values, self.n_clusters).astype(np.float64)

    @functools.cached_property
    def total(self) -> Floats:
        """Weight of the rows of each group."""
        return self._by_group(self.weight)

    @functools.cached_property
    def value(self) -> Floats:
        """Ratio of each group; NaN without rows."""
        return ratio(self._by_group(self.events), self.total)

    @property
    def n_effective_clusters(self) -> Floats:
        """Effective number of clusters of each group; 0 without rows."""
        return ratio(self.total**2, self._by_group(self.weight**2), 0.0)

    @functools.cached_property
    def residuals(self) -> Floats:
        """Residual of each unit, whose squares add up to the variances; shape (n_units,)."""
        centered = self.events - self.weight * np.nan_to_num(self.value)[self.group]
        return centered * ratio(np.sqrt(self._scale), self.total, 0.0)[self.group]

    @property
    def _scale(self) -> Floats:
        squares, cubes = self._by_group(self.weight**2), self._by_group(self.weight**3)
        return _correction(self.total, squares, cubes)

    @functools.cached_property
    def variance(self) -> Floats:
        """Variance of the ratio of each group; 0 for a single cluster."""
        return self._by_group(self.residuals**2)

    @functools.cached_property
    def shares_clusters(self) -> bool:
        """True if a cluster has rows of the denominator in several groups."""
        return bool((self._by_cluster((self.weight > 0).astype(np.float64)) > 1).any())

    def precision_of(self, share: Floats) -> Shares:
        """Return shares of the rows, such as prevalences, with the variances of these ratios."""
        return _shares(share, self.variance, self.n_rows, self.n_effective_clusters)

    @property
    def n_rows(self) -> Floats:
        """Number of rows of each group, or Kish's effective sample size of weighted rows."""
        return ratio(self.total**2, self._by_group(self.squares), 0.0)

    @functools.cached_property
    def shares(self) -> Shares:
        """Ratios of groups that are shares of the rows in the denominator."""
        return self.precision_of(self.value)

    def select(self, chosen: NDArray[np.bool_]) -> ClusterSums:
        """Return the sums of some of the groups."""
        place = np.cumsum(chosen) - 1
        kept = chosen[self.group]
        return ClusterSums(
            place[self.group[kept]],
            self.cluster[kept],
            self.events[kept],
            self.weight[kept],
            self.squares[kept],
            int(chosen.sum()),
            self.n_clusters,
        )

    # Several groups ------------------------------------------------------------------------

    @functools.cached_property
    def _standardized(self) -> Floats:
        """Residuals of the units over the standard error of the share of the group."""
        error = np.sqrt(self.shares.variance(np.nan_to_num(self.value)))
        return self.residuals * ratio(1.0, error, 0.0)[self.group]

    @functools.cached_property
    def correlation(self) -> Floats | None:
        """Correlations of the shares of all pairs of groups; None if they are independent."""
        if not self.shares_clusters:
            return None
        from scipy.sparse import csr_array

        shape = self.n_groups, self.n_clusters
        matrix = csr_array((self._standardized, (self.group, self.cluster)), shape=shape)
        found: Floats = np.clip((matrix @ matrix.T).toarray(), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found

    def correlation_with(self, group: int) -> Floats:
        """Return the correlations of all shares with the share of one group."""
        of_cluster = np.zeros(self.n_clusters)
        own = self.group == group
        of_cluster[self.cluster[own]] = self._standardized[own]
        products = self._by_group(self._standardized * of_cluster[self.cluster])
        return np.clip(products, -1.0, 1.0)

    def of_others(self, included: NDArray[np.bool_]) -> tuple[Shares, Floats]:
        """Return the share of all included other groups together, for each group.

        Parameters
        ----------
        included : ndarray of bool, shape (n_groups,)

        Returns
        -------
        shares : Shares
        correlation : ndarray of float64, shape (n_groups,)
            Correlation of the share of the group with the share of the others.
        """
        kept = included[self.group]
        columns = (self.events, self.weight, self.squares)
        own = [np.where(kept, column, 0.0) for column in columns]
        events, weight, _ = (self._by_cluster(column)[self.cluster] for column in own)
        of_cluster = [self._by_cluster(column) for column in own]
        others = events - own[0], weight - own[1]

        def total(one: Floats, several: Floats, all_clusters: Floats) -> Floats:
            """Return sums over all clusters, with the other groups' part of the own clusters."""
            found = np.asarray(all_clusters.sum()) + self._by_group(one - several)
            return np.maximum(found, 0.0)

        e, m = of_cluster[:2]
        of_rows = total(others[1], weight, m)
        squares = total(others[1] ** 2, weight**2, m**2)
        cubes = total(others[1] ** 3, weight**3, m**3)
        row_squares = np.maximum(of_cluster[2].sum() - self._by_group(own[2]), 0.0)
        # Without rows, the subtraction of weights leaves a rounding error.
        has_rows = of_rows > 1e-9 * max(float(m.sum()), 1e-300)
        of_rows, squares = np.where(has_rows, of_rows, 0.0), np.where(has_rows, squares, 0.0)
        value = np.clip(ratio(total(others[0], events, e), of_rows), 0.0, 1.0)
        center = np.nan_to_num(value)
        spread = total(others[0] ** 2, events**2, e**2)
        spread -= 2.0 * center * total(others[0] * others[1], events * weight, e * m)
        spread += center**2 * squares
        scale = _correction(of_rows, squares, cubes)
        variance = ratio(scale * np.maximum(spread, 0.0), of_rows**2, 0.0)
        n_rows, n_clusters = ratio(of_rows**2, row_squares, 0.0), ratio(of_rows**2, squares, 0.0)
        shares = _shares(value, variance, n_rows, n_clusters)
        residual = others[0] - center[self.group] * others[1]
        residual *= ratio(np.sqrt(scale), of_rows, 0.0)[self.group]
        covariance = self._by_group(self._standardized * residual)
        error = np.sqrt(shares.variance(center))
        return shares, np.clip(ratio(covariance, error, 0.0), -1.0, 1.0)

    # Test ----------------------------------------------------------------------------------

    def test_equal(self) -> float:
        """Return the p value of the test that all groups have the same share.

        The statistic is the weighted variance of the shares over its estimated mean, with the
        numbers of rows as weights. The null distribution of the statistic is approximately an F
        distribution [4]_. Box's approximation gives the numerator degrees of freedom, and
        Satterthwaite's approximation the denominator degrees of freedom. Each variance is that of
        the overall share times the design effect of the group, and has k - 1 degrees of freedom for
        k clusters. If groups share clusters, the degrees of freedom are at most the effective
        number of all clusters minus 1. Two groups have the square of the two-sample t statistic.
        """
        from scipy.special import fdtrc

        shares, weight = self.shares, self.n_rows
        all_rows = weight.sum()
        overall = float(weight @ shares.share / all_rows)
        between = float(weight @ (shares.share - overall) ** 2)
        variance = shares.variance(np.full(weight.shape, overall))
        factor = weight * (1.0 - weight / all_rows)
        freedom = np.where(shares.is_estimated, shares.n_clusters - 1.0, np.inf)
        freedom = np.maximum(freedom, 1e-9)
        of_expected = float(((factor * variance) ** 2 / freedom).sum())
        expected = float(factor @ variance)
        most = np.inf
        if self.correlation is None:
            spread = weight * variance
            squares = float((spread**2 * (1.0 - 2.0 * weight / all_rows)).sum())
            squares += float((weight @ spread) ** 2 / all_rows**2)
        else:
            error = np.sqrt(variance)
            covariance = self.correlation * error[:, None] * error
            root = np.sqrt(weight)
            # The matrix of the quadratic form is that of centering at the weighted mean.
            centered = covariance * root[:, None] * root
            centered -= np.outer(root, root @ centered) / all_rows
            centered -= np.outer(centered @ root, root) / all_rows
            expected = float(np.trace(centered))
            squares = float((centered * centered.T).sum())
            of_unit = (factor * variance / self.total)[self.group] * self.weight
            of_cluster = self._by_cluster(of_unit)
            most = max(float(of_cluster.sum() ** 2 / (of_cluster**2).sum()) - 1.0, 1e-9)
        if between <= 1e-20 * all_rows:
            return 1.0
        if not expected > 0.0:
            return float("nan")
        of_variance = expected**2 / of_expected if of_expected > 0.0 else np.inf
        of_variance = min(of_variance, most, 1e9)
        return float(fdtrc(expected**2 / squares, of_variance, between / expected))


def _correction(total: Floats, squares: Floats, cubes: Floats) -> Floats:
    """Return 1 / f from sums of powers of the weights of clusters; 0 for a single cluster."""
    share = ratio(squares, total**2, 1.0)
    remaining = 1.0 - 2.0 * ratio(cubes, squares * total, 1.0) + share
    return np.where(ratio(1.0, share, 1.0) > _ONE_CLUSTER, ratio(1.0, remaining, 0.0), 0.0)


def _shares(value: Floats, variance: Floats, n_rows: Floats, n_clusters: Floats) -> Shares:
    of_rows = np.nan_to_num(value * (1.0 - value))
    # Rounding error of a share of 0 or 1 of weighted rows is no variation.
    is_estimated = (of_rows > 1e-12) & (n_clusters > _ONE_CLUSTER) & (n_rows > _ONE_CLUSTER)
    effect = ratio(n_rows, n_clusters, 1.0)
    found = ratio(variance * np.maximum(n_rows - 1.0, 0.0), of_rows, 1.0)
    effect = np.where(is_estimated, np.maximum(found, 1.0), np.maximum(effect, 1.0))
    return Shares(value, n_rows, n_clusters, effect, is_estimated)
