"""Shrunken group AUCs: empirical Bayes estimates of the true AUCs, with intervals.

The true AUCs are normal with mean mu and variance tau2, and the observed AUC of a group is normal
around its true AUC with variance v. The best estimate of a true AUC is then the observed AUC moved
towards mu by the share ``v / (v + tau2)`` of their distance. Mean and tau2 are estimated, and
Morris's formulas [1]_ account for their sampling errors.

References
----------
.. [1] Morris, C. N. (1983). Parametric empirical Bayes inference: theory and applications.
   Journal of the American Statistical Association 78(381).
   https://doi.org/10.1080/01621459.1983.10477920
.. [2] Efron, B. and Morris, C. (1975). Data analysis using Stein's estimator and its
   generalizations. Journal of the American Statistical Association 70(350).
   https://doi.org/10.1080/01621459.1975.10479864
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.heterogeneity import LARGEST_TAU, estimable_aucs, reml
from skfedauc.inference.intervals import group_limits, normal_quantile
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]

# With fewer groups, the observed values themselves are the estimates: shrinkage towards an
# estimated mean reduces the error only from four groups on.
LEAST_GROUPS = 4


class EmpiricalBayes(NamedTuple):
    """Empirical Bayes estimates of true values.

    Attributes
    ----------
    estimate, standard_error : ndarray of float64, shape (n_groups,)
        Estimate of each true value, and its standard error.
    reliability : ndarray of float64, shape (n_groups,)
        Weight of the observed value in the estimate; the mean has the remaining weight.
    mean, tau2 : float
        Estimated mean and variance of the true values.
    """

    estimate: Floats
    standard_error: Floats
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
    variances are equal [2]_. The estimate is ``y - b (y - m)``, and its variance is ::

        v (1 - (1 - w / sum(w)) b) + 2 / (k - 3) b^2 (u + tau2) w (y - m)^2

    with ``u = sum(w v) / sum(w)``. The first term includes the sampling error of m, and the second
    term is the sampling error of b. If all variances are equal and tau2 is above 0, estimate and
    variance are the exact posterior mean and variance under a uniform prior of m and of
    ``v + tau2``.

    The estimator of tau2 is restricted maximum likelihood, as in `GroupAUC.tau`. Morris's estimator
    of tau2 equals it if all variances are equal.
    """
    y, v = np.asarray(values, np.float64), np.asarray(variances, np.float64)
    k = y.size
    tau2 = min(reml(y, v).tau2, LARGEST_TAU**2)
    weight = 1.0 / (v + tau2)
    share = weight / weight.sum()
    mean = float(np.dot(share, y))
    of_mean = (k - 3) / (k - 1) * v * weight
    estimate = y - of_mean * (y - mean)
    typical = float(np.dot(share, v))
    of_weight = 2.0 / (k - 3) * of_mean**2 * (typical + tau2) * weight
    variance = v * (1.0 - (1.0 - share) * of_mean) + of_weight * (y - mean) ** 2
    return EmpiricalBayes(estimate, np.sqrt(variance), 1.0 - of_mean, mean, tau2)


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

    The sampling variances come from placement values pooled over groups (`Variances.shared`): a
    group's own variance is biased low if its AUC is high by sampling error, so the AUC would be
    shrunken too little. With fewer than four groups nothing is shrunken, and the limits are those
    of the single AUCs.
    """
    auc, variance, kept = estimable_aucs(variances)
    tail = (1.0 - confidence_level) / 2.0
    found = np.full((4, kept.size), np.nan)
    if auc.size < LEAST_GROUPS:
        low, high, _ = group_limits(variances, tail, "logit")
        found[:, kept] = auc, low[kept], high[kept], np.ones(auc.size)
    else:
        of = empirical_bayes(auc, variance)
        reach = normal_quantile(tail) * of.standard_error
        low, high = (np.clip(of.estimate + end, 0.0, 1.0) for end in (-reach, reach))
        found[:, kept] = of.estimate, low, high, of.reliability
    return ShrunkenAUCs(*found)
