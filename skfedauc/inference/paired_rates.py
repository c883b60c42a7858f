"""Changes of a rate between two kinds of decisions on the same rows.

The interval of the change is Newcombe's method 10 [1]_: the Wilson limits of both rates, combined
with the correlation phi of the decisions, whose numerator has a continuity correction. The test is
McNemar's exact test [2]_: without a change, each row with different decisions has either decision
with probability one half. With weights, Kish's effective sample sizes replace the numbers of rows.

References
----------
.. [1] Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial
   proportions based on paired data. Statistics in Medicine 17(22).
   https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C
.. [2] McNemar, Q. (1947). Note on the sampling error of the difference between correlated
   proportions or percentages. Psychometrika 12(2). https://doi.org/10.1007/BF02295996
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.counts.moments import ratio
from skfedauc.inference.effects import Floats
from skfedauc.inference.largest_gap import GroupValues
from skfedauc.inference.rates import difference, wilson


class RateChanges(NamedTuple):
    """A rate before and after in each group, and its change.

    Attributes
    ----------
    before, after : ndarray of float64, shape (n_groups,)
        Rates; NaN for a group without rows.
    ci_low, ci_high : ndarray of float64, shape (n_groups,)
        Confidence limits of ``after - before``.
    pvalue : ndarray of float64, shape (n_groups,)
        P value of no change; 1 if all decisions are equal.
    values : GroupValues
        The rates with variances, for the change of a gap between groups.
    """

    before: Floats
    after: Floats
    ci_low: Floats
    ci_high: Floats
    pvalue: Floats
    values: GroupValues


def rate_changes(
    decisions: NDArray[np.bool_],
    codes: NDArray[np.intp],
    n_groups: int,
    weights: Floats,
    confidence_level: float,
) -> RateChanges:
    """Return the changes of the share of positive decisions by group.

    Parameters
    ----------
    decisions : ndarray of bool, shape (2, n_rows)
        Whether the decisions before and after are positive.
    codes : ndarray of intp, shape (n_rows,)
        Group numbers.
    n_groups : int
    weights : ndarray of float64, shape (n_rows,)
    confidence_level : float
    """
    before, after = decisions

    def total(amounts: Floats) -> Floats:
        return np.bincount(codes, amounts, n_groups).astype(np.float64)

    of_rows, squares = total(weights), total(weights**2)
    n_rows = ratio(of_rows**2, squares, 0.0)
    both, lost, gained, neither = (
        ratio(total(weights * cell), of_rows)
        for cell in (before & after, before & ~after, ~before & after, ~before & ~after)
    )
    shares = np.array([both + lost, both + gained])
    product = n_rows * (both * neither - gained * lost)
    product = np.where(product > 0, np.maximum(product - 0.5, 0.0), product)
    margins = (shares * (1.0 - shares)).prod(axis=0)
    phi = ratio(product, n_rows * np.sqrt(margins), 0.0)
    tail = (1.0 - confidence_level) / 2.0
    of_before, of_after = (wilson(share, n_rows, tail) for share in shares)
    change = difference(of_after, of_before, phi)
    # Each row with different decisions is a trial.
    changed = before != after
    trials = ratio(total(weights * changed) ** 2, total(weights**2 * changed), 0.0)
    pvalue = _binomial_pvalue(trials * ratio(gained, gained + lost, 0.0), trials)
    # Shares of 0 and 1 have a variance of 0. Adding one row of each decision makes the variance
    # positive.
    smoothed = (n_rows * shares + 1.0) / (n_rows + 2.0)
    n_known = np.maximum(n_rows, 1.0)
    values = GroupValues(
        shares,
        smoothed * (1.0 - smoothed) / n_known,
        (both - shares[0] * shares[1]) / n_known,
        np.full(shares.shape, np.inf),
    )
    pvalue[n_rows == 0] = np.nan
    return RateChanges(shares[0], shares[1], change.low, change.high, pvalue, values)


def _binomial_pvalue(events: Floats, trials: Floats) -> Floats:
    """Return the two-sided p value of the null hypothesis that events have probability one half.

    The tails are incomplete beta functions, which also have values for effective numbers.
    """
    from scipy.special import betainc

    pvalue = np.ones(trials.shape)
    some = trials > 0
    k, m = events[some], trials[some]
    # The probability of 0 or more events is 1, and likewise of m or fewer events.
    at_least = np.where(k > 0, betainc(np.maximum(k, 1e-300), m - k + 1.0, 0.5), 1.0)
    at_most = np.where(k < m, betainc(np.maximum(m - k, 1e-300), k + 1.0, 0.5), 1.0)
    pvalue[some] = np.minimum(2.0 * np.minimum(at_least, at_most), 1.0)
    return pvalue
