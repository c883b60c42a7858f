"""Average ranks of several models over groups: Friedman's test and Nemenyi's critical difference.

Each group ranks the models by AUC, and the average rank of a model is the mean over groups [1]_.
Groups are the blocks of the design, so rows of different groups must be independent.

References
----------
.. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
   Machine Learning Research 7. https://www.jmlr.org/papers/v7/demsar06a.html
.. [2] Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the
   analysis of variance. Journal of the American Statistical Association 32(200).
   https://doi.org/10.1080/01621459.1937.10503522
.. [3] Iman, R. L. and Davenport, J. M. (1980). Approximations of the critical region of the
   Friedman statistic. Communications in Statistics - Theory and Methods 9(6).
   https://doi.org/10.1080/03610928008827904
.. [4] Nemenyi, P. B. (1963). Distribution-free multiple comparisons. PhD thesis, Princeton
   University.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skfedauc.inference.studentized_range import studentized_range_quantile

Floats = NDArray[np.float64]


class AverageRanks(NamedTuple):
    """Average ranks of models, with a test that all models have the same distribution of ranks.

    Attributes
    ----------
    ranks : ndarray of float64, shape (n_models,)
        Average rank of each model; 1 is the largest value in every group. Tied models have the mean
        of their ranks.
    critical_difference : float
        Nemenyi's critical difference of two average ranks, simultaneous for all pairs of models.
    statistic, pvalue : float
        Friedman's chi-square statistic, corrected for ties, and the p value of its F form.
    """

    ranks: Floats
    critical_difference: float
    statistic: float
    pvalue: float


def average_ranks(values: ArrayLike, confidence_level: float) -> AverageRanks:
    """Rank the models within each group, and compare their average ranks.

    Parameters
    ----------
    values : array-like of shape (n_groups, n_models)
        AUC of each model in each group; at least two groups and two models.
    confidence_level : float
        Simultaneous confidence level of the critical difference.

    Notes
    -----
    With N groups and k models, the critical difference is ``q sqrt(k (k + 1) / (12 N))``, where q
    is the quantile of the range of k standard normal variables [4]_. Friedman's statistic [2]_ c
    has the F form ``(N - 1) c / (N (k - 1) - c)`` with k - 1 and (k - 1) (N - 1) degrees of freedom
    [3]_. The p value is at least the probability that all groups have the same order.
    """
    from scipy.special import fdtrc
    from scipy.stats import rankdata

    ranks = rankdata(-np.asarray(values, np.float64), axis=1)
    n_groups, n_models = ranks.shape
    mean = ranks.mean(axis=0)
    middle = (n_models + 1) / 2.0
    of_ties = float(((ranks - middle) ** 2).sum())
    between = n_groups**2 * float(((mean - middle) ** 2).sum())
    statistic = (n_models - 1) * between / of_ties if of_ties > 0 else 0.0
    remaining = n_groups * (n_models - 1) - statistic
    pvalue = 0.0
    if remaining > 1e-9:
        freedom = n_models - 1, (n_models - 1) * (n_groups - 1)
        pvalue = float(fdtrc(*freedom, (n_groups - 1) * statistic / remaining))
    pvalue = max(pvalue, math.exp(-(n_groups - 1) * math.lgamma(n_models + 1)))
    quantile = studentized_range_quantile(1.0 - confidence_level, n_models)
    critical = quantile * math.sqrt(n_models * (n_models + 1) / (12.0 * n_groups))
    return AverageRanks(mean, critical, statistic, pvalue)


def undetected(ranks: ArrayLike, critical_difference: float) -> list[NDArray[np.intp]]:
    """Return the largest sets of models whose average ranks differ by less than the critical value.

    Each set holds the indices of at least two models, in ascending order of their average ranks. No
    set is a part of another set.
    """
    values = np.asarray(ranks, np.float64)
    order = np.argsort(values, kind="stable")
    found: list[NDArray[np.intp]] = []
    last = 0
    for first in range(order.size):
        within = values[order] - values[order[first]] < critical_difference
        end = int(np.flatnonzero(within)[-1]) + 1
        if end > max(last, first + 1):
            found.append(order[first:end])
            last = end
    return found
