"""Shrunken group AUCs: empirical Bayes estimates of the true AUCs, with intervals.

The model has normal true AUCs with mean mu and variance tau2. The observed AUC of a group is
normal, with the group's true AUC as mean and with variance v. The best estimate of a true AUC is
the weighted mean of the observed AUC and mu, in which mu has the weight ``v / (v + tau2)``.
Morris's method [1]_ replaces mu and tau2 by estimates. The intervals are intervals of the posterior
distribution of a true AUC with uniform priors of mu and tau2 [3]_.

References
----------
.. [1] Morris, C. N. (1983). Parametric empirical Bayes inference: theory and applications.
   Journal of the American Statistical Association 78(381).
   https://doi.org/10.1080/01621459.1983.10477920
.. [2] Efron, B. and Morris, C. (1975). Data analysis using Stein's estimator and its
   generalizations. Journal of the American Statistical Association 70(350).
   https://doi.org/10.1080/01621459.1975.10479864
.. [3] Morris, C. N. and Lysy, M. (2012). Shrinkage estimation in multilevel normal models.
   Statistical Science 27(1). https://arxiv.org/abs/1203.5610
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.heterogeneity import (
    LARGEST_TAU,
    estimable_aucs,
    reml,
    reml_interval,
    restricted_log_likelihood,
)
from skfedauc.inference.intervals import group_limits
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]

# Least number of groups for shrinkage. Shrinkage towards an estimated mean reduces the error only
# with at least four groups.
LEAST_GROUPS = 4

# The posterior of tau2 is negligible outside of the interval of tau2 at this confidence level.
_NEARLY_SURE = 1.0 - 1e-6
# Number of nodes of the integral over tau2
_N_NODES = 32
# Largest number of steps to a quantile, and the error of the probability at which the steps end
_MOST_STEPS, _TOLERANCE = 30, 1e-8
_GROUPS_AT_ONCE = 4096


class EmpiricalBayes(NamedTuple):
    """Empirical Bayes estimates of true values.

    Attributes
    ----------
    estimate : ndarray of float64, shape (n_groups,)
        Estimate of each true value.
    reliability : ndarray of float64, shape (n_groups,)
        Weight of the observed value in the estimate; the mean has the remaining weight.
    mean, tau2 : float
        Estimated mean and variance of the true values.
    """

    estimate: Floats
    reliability: Floats
    mean: float
    tau2: float


def empirical_bayes(values: ArrayLike, variances: ArrayLike) -> EmpiricalBayes:
    """Estimate the true values of at least four groups by Morris's method [1]_.

    Parameters
    ----------
    values, variances : array-like of shape (n_groups,)
        Observed values, and their sampling variances, which are above 0.

    Notes
    -----
    With k groups, ``w = 1 / (v + tau2)`` and the weighted mean ``m = sum(w y) / sum(w)``, the
    weight of the mean is ``b = (k - 3) / (k - 1) v w``. The first factor makes b unbiased if all
    variances are equal [2]_. The estimate is ``y - b (y - m)``.

    The estimator of tau2 is restricted maximum likelihood, as in `GroupAUC.tau`. If all variances
    are equal, Morris's estimator of tau2 is the same.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    k = y.size
    tau2 = min(reml(y, v).tau2, LARGEST_TAU**2)
    weight = 1.0 / (v + tau2)
    mean = float(np.dot(weight, y) / weight.sum())
    of_mean = (k - 3) / (k - 1) * v * weight
    return EmpiricalBayes(y - of_mean * (y - mean), 1.0 - of_mean, mean, tau2)


def posterior_limits(
    values: ArrayLike, variances: ArrayLike, confidence_level: float
) -> tuple[Floats, Floats]:
    """Return limits of the true values of at least four groups, from their posterior [3]_.

    Parameters
    ----------
    values, variances : array-like of shape (n_groups,)
        Observed values, and their sampling variances, which are above 0.
    confidence_level : float

    Notes
    -----
    Let w and m be as in `empirical_bayes`, and let the mean have a uniform prior. Given tau2, the
    posterior of a true value is normal with mean ``y - v w (y - m)`` and variance ``tau2 v w + (v
    w)^2 / sum(w)``. The posterior of tau2 is proportional to the restricted likelihood, because the
    prior of tau2 is uniform from 0 to LARGEST_TAU**2. The limits are quantiles of the mixture over
    tau2.

    Limits at a single estimate of tau2 are too narrow if tau is small and the number of groups is
    large. The estimate is then often 0, although true values differ. The prior of tau2 also
    matters: limits with a uniform prior of tau have a coverage below the confidence level.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    of = _posterior(y, v)
    tail = (1.0 - confidence_level) / 2.0
    low, high = np.empty((2, y.size))
    for start in range(0, y.size, _GROUPS_AT_ONCE):
        here = slice(start, start + _GROUPS_AT_ONCE)
        of_mean = v[here] / (v[here] + of.tau2)
        centers = y[here] - of_mean * (y[here] - of.mean)
        deviations = np.sqrt(of.tau2 * of_mean + of_mean**2 * of.mean_variance)
        low[here] = _lower_quantiles(of.share, centers, deviations, tail)
        high[here] = -_lower_quantiles(of.share, -centers, deviations, tail)
    return low, high


class _Posterior(NamedTuple):
    """Posterior of tau2 and of the mean, on nodes of tau2.

    Attributes
    ----------
    share : ndarray of float64, shape (n_nodes,)
        Posterior probability of each node.
    tau2, mean, mean_variance : ndarray of float64, shape (n_nodes, 1)
        Variance of the true values; mean and variance of the posterior of their mean.
    """

    share: Floats
    tau2: Floats
    mean: Floats
    mean_variance: Floats


def _posterior(y: Floats, v: Floats) -> _Posterior:
    """Return the posterior on nodes of Gauss and Legendre's rule for ``log(v + tau2)``."""
    typical = v.size / (1.0 / v).sum()
    ends = np.log(np.square(reml_interval(y, v, _NEARLY_SURE)) + typical)
    points, lengths = np.polynomial.legendre.leggauss(_N_NODES)
    variance = np.exp(ends.mean() + np.ptp(ends) / 2.0 * points)
    nodes = np.maximum(variance - typical, 0.0)
    found = np.empty((3, _N_NODES))
    for i, tau2 in enumerate(nodes.tolist()):
        weight = 1.0 / (v + tau2)
        total = weight.sum()
        found[:, i] = restricted_log_likelihood(y, v, tau2), np.dot(weight, y) / total, 1.0 / total
    likelihood, mean, mean_variance = found
    # A uniform density of tau2 is proportional to the variance on the logarithmic scale.
    share = lengths * variance * np.exp(likelihood - likelihood.max())
    columns = (part[:, None] for part in (nodes, mean, mean_variance))
    return _Posterior(share / share.sum(), *columns)


def _lower_quantiles(share: Floats, means: Floats, deviations: Floats, tail: float) -> Floats:
    """Return the quantile at `tail` of each column's mixture of normal distributions.

    Parameters
    ----------
    share : ndarray of float64, shape (n_nodes,)
    means, deviations : ndarray of float64, shape (n_nodes, n_groups)
    tail : float
    """
    from scipy.special import ndtr, ndtri

    deviate = -normal_quantile(tail)
    # A quantile of a mixture is between the smallest and the largest quantile of its components.
    quantiles = means + deviate * deviations
    low, high = quantiles.min(axis=0), quantiles.max(axis=0)
    found = share @ quantiles
    for _ in range(_MOST_STEPS):
        scaled = (found - means) / deviations
        below = share @ ndtr(scaled)
        if np.abs(below - tail).max() < _TOLERANCE:
            break
        low, high = np.where(below < tail, found, low), np.where(below < tail, high, found)
        # Newton's step for the deviate of the probability, which is nearly linear
        reached = ndtri(np.clip(below, 1e-12, 1.0 - 1e-12))
        density = share @ (np.exp(-np.square(scaled) / 2.0) / deviations)
        step = ratio((deviate - reached) * np.exp(-np.square(reached) / 2.0), density)
        is_inside = (low <= found + step) & (found + step <= high)
        found = np.where(is_inside, found + step, (low + high) / 2.0)
    return found


class ShrunkenAUCs(NamedTuple):
    """Shrunken group AUCs with confidence limits; NaN for groups without a variance.

    Attributes
    ----------
    auc, low, high : ndarray of float64, shape (n_groups,)
        Shrunken AUC and its limits.
    reliability : ndarray of float64, shape (n_groups,)
        Weight of the observed AUC in the shrunken AUC.
    """

    auc: Floats
    low: Floats
    high: Floats
    reliability: Floats


def shrunken_aucs(variances: Variances, confidence_level: float) -> ShrunkenAUCs:
    """Return the shrunken AUC of each group that has a variance.

    The sampling variances come from placement values pooled over groups (`Variances.shared`). A
    group's own variance has a downward bias if sampling error makes the group's AUC high. With the
    group's own variance, such an AUC would shrink too little. With fewer than four groups, the
    function returns the observed AUCs with the limits of single AUCs.
    """
    auc, variance, kept = estimable_aucs(variances)
    found = np.full((4, kept.size), np.nan)
    if auc.size < LEAST_GROUPS:
        low, high, _ = group_limits(variances, (1.0 - confidence_level) / 2.0, "logit")
        found[:, kept] = auc, low[kept], high[kept], np.ones(auc.size)
    else:
        variance = np.maximum(variance, _without_variation(variances)[kept])
        of = empirical_bayes(auc, variance)
        low, high = posterior_limits(auc, variance, confidence_level)
        # At a low confidence level, the estimate can be outside of the limits.
        low, high = np.minimum(low, of.estimate), np.maximum(high, of.estimate)
        low, high = np.clip([low, high], 0.0, 1.0)
        found[:, kept] = of.estimate, low, high, of.reliability
    return ShrunkenAUCs(*found)


def _without_variation(variances: Variances) -> Floats:
    """Return least variances of groups without variation, as with perfect separation; else 0.

    The variance is ``A (1 - A) / k``. The AUC A is the AUC of k independent pairs, with half a
    concordant and half a discordant pair added.
    """
    n_pairs = variances.n_smaller_class
    auc = (n_pairs * variances.auc + 0.5) / (n_pairs + 1.0)
    return np.where(variances.delong == 0.0, ratio(auc * (1.0 - auc), n_pairs), 0.0)
