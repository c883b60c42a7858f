"""Ranks of the groups by their true AUCs, and the groups that may have the smallest true AUC.

A group has rank 1 if no group has a larger AUC. Simultaneous intervals show that a groups have
larger true AUCs than group g, and that b groups have smaller true AUCs. The rank of group g among k
groups is then from 1 + a to k - b [1]_. These ranges are simultaneous confidence sets: the ranges
contain the ranks of all groups with at least the confidence level of the intervals.

The set of groups that may have the smallest true AUC needs fewer comparisons than the ranks [2]_.
To rule out a group, a one-sided comparison has to show that another group has a smaller true AUC.
Only the k - 1 comparisons of the worst group itself can rule out the worst group. The adjustment is
therefore for k - 1 comparisons instead of all pairs. The comparisons of the worst group have a
positive correlation, so Sidak's quantile is an upper bound of the exact quantile [3]_.

References
----------
.. [1] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with
   applications to mobility across neighbourhoods and academic achievement across countries. Review
   of Economic Studies 91(1). https://doi.org/10.1093/restud/rdad006
.. [2] Gupta, S. S. (1965). On some multiple decision (selection and ranking) rules. Technometrics
   7(2), 225-245.
.. [3] Slepian, D. (1962). Bell System Technical Journal 41(2), 463-501: the inequality for the
   maximum of correlated normal variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc.inference.pairwise import Spreads, n_clearly_different
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes

Ints = NDArray[np.int64]

# Largest number of comparisons of each group with other groups, to rule the group out
_MOST_OTHERS = 256
_AT_ONCE = 512


class RankSets(NamedTuple):
    """Ranks of groups, and confidence sets of the ranks of their true AUCs.

    Attributes
    ----------
    rank : ndarray of int64, shape (n_groups,)
        Rank of the observed AUC; 1 is the largest AUC. Tied groups all have the smallest of their
        ranks.
    low, high : ndarray of int64, shape (n_groups,)
        First and last rank of the confidence set.
    may_be_worst : ndarray of bool, shape (n_groups,)
        Whether the group is in the confidence set of the group with the smallest true AUC.
    """

    rank: Ints
    low: Ints
    high: Ints
    may_be_worst: NDArray[np.bool_]


def rank_sets(extremes: Extremes, ranked: NDArray[np.bool_], confidence_level: float) -> RankSets:
    """Return the ranks of the groups in use, with simultaneous confidence sets.

    The comparison of all pairs of groups is that of `pairwise.all_pairs`. For binned scores, each
    comparison has the groups at the least favorable extremes, so the sets hold for the exact
    scores.
    """
    auc = extremes.given.auc[ranked]
    # Count the larger AUCs.
    rank = 1 + auc.size - np.searchsorted(np.sort(auc), auc, side="right")
    spreads = Spreads.of(extremes).take(ranked)
    n_larger, n_smaller = n_clearly_different(spreads, confidence_level)
    return RankSets(
        rank.astype(np.int64),
        1 + n_larger,
        auc.size - n_smaller,
        may_be_smallest(spreads, confidence_level),
    )


def may_be_smallest(spreads: Spreads, confidence_level: float) -> NDArray[np.bool_]:
    """Return the groups that may have the smallest true AUC [2]_.

    The set contains the group with the smallest true AUC with probability `confidence_level`. The
    function compares each group with the 256 groups whose upper limits are smallest. With more
    groups, the omitted comparisons could only rule out further groups.
    """
    lowest, highest = spreads.lowest.auc, spreads.highest.auc
    if lowest.size < 2:
        return np.ones(lowest.size, np.bool_)
    tail = -np.expm1(np.log(confidence_level) / (lowest.size - 1))
    low, high = spreads.limits(normal_quantile(min(float(tail), 0.5)), "logit")
    others = np.argsort(high, kind="stable")[:_MOST_OTHERS]
    of_others = (high - highest)[others]
    found = np.empty(lowest.size, np.bool_)
    for start in range(0, lowest.size, _AT_ONCE):
        here = slice(start, start + _AT_ONCE)
        # Compare squares, because `hypot` takes most of the time of large rankings.
        apart = lowest[here, None] - highest[others]
        squared_reach = np.square(lowest - low)[here, None] + np.square(of_others)
        is_larger = (apart > 0.0) & (np.square(apart) > squared_reach)
        found[here] = ~is_larger.any(axis=1)
    return found
