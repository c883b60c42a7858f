"""Intervals of AUCs from disjoint random pairs, valid for any number of rows.

A random positive and a random negative are a concordant pair with a probability equal to the AUC,
if a fair coin decides each tie. Pairs without a common row are independent. The number of
concordant pairs among such pairs is binomial, so the limits of Clopper and Pearson hold for the AUC
[1]_. The limits assume independent rows, and nothing about the scores.

The draw of the pairs must not depend on the ranks of the rows. Counts do not contain the order of
the rows. A constant seed would pair the same ranks in all counts of the same size, which causes a
systematic error. The seed of a group is therefore a hash of the counts of this group. Equal counts
have equal limits, and the limits of a group do not depend on other groups or on names. Increasing
transformations of the scores do not change the hash. Counts with few possible values, such as those
of ten rows with the same score, have few sets of pairs. For such counts, the coverage holds on
average over distributions, not for each distribution. In an average, groups with equal counts have
different seeds, because the systematic errors of equal pairs would add up.

An average of group AUCs also has a binomial bound. The pairs are the slots of a line of length 1,
on which each group has a segment as long as its share. A slot draws a group by the parts of the
slot in the segments of the groups, and takes an unused pair of this group. The outcomes are
independent, and the mean of their probabilities is the average. Hoeffding [2]_ proved that the
number of concordant pairs then has smaller tails than the binomial distribution with this mean, at
least one pair away from the expected number. Nearer to the expected number, binomial tails are
larger than one quarter [3]_, so no limit with a smaller tail lies in this range. The limits of one
concordant pair, and of all pairs except one, follow from the sum of the probabilities.

References
----------
.. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
   illustrated in the case of the binomial. Biometrika 26(4).
   https://doi.org/10.1093/biomet/26.4.404
.. [2] Hoeffding, W. (1956). On the distribution of the number of successes in independent trials.
   Annals of Mathematical Statistics 27(3). https://doi.org/10.1214/aoms/1177728178
.. [3] Greenberg, S. and Mohri, M. (2014). Tight lower bound on the probability of a binomial
   exceeding its expectation. Statistics and Probability Letters 86.
   https://doi.org/10.1016/j.spl.2013.12.009
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import Cells
from skfedauc.inference.binomial import lower_limit, upper_limit

Floats = NDArray[np.float64]

# Largest number of pairs of a group. More pairs would need memory for each row of the counts; the
# interval of a million pairs is at most 0.002 wide.
MOST_PAIRS = 1_000_000


class DisjointPairs(NamedTuple):
    """Random pairs of a positive and a negative of the same group, without common rows.

    Attributes
    ----------
    starts : ndarray of intp, shape (n_groups + 1,)
        The pairs of group g are ``starts[g]:starts[g + 1]``, in random order.
    is_concordant : ndarray of bool, shape (n_pairs,)
        True if the positive has the higher score; a coin decides ties.
    seeds : sequence of int
        Hash of the counts of each group.
    """

    starts: NDArray[np.intp]
    is_concordant: NDArray[np.bool_]
    seeds: Sequence[int]

    @property
    def n_pairs(self) -> NDArray[np.int64]:
        """Number of pairs of each group."""
        return np.diff(self.starts)

    @property
    def n_concordant(self) -> NDArray[np.int64]:
        """Number of concordant pairs of each group."""
        up_to = np.append(0, np.cumsum(self.is_concordant, dtype=np.int64))
        return np.diff(up_to[self.starts])

    def limits(self, tail: float) -> tuple[Floats, Floats]:
        """Return the limits of each group's AUC, each with error probability `tail`.

        The limits are NaN for groups without pairs.
        """
        concordant, pairs = self.n_concordant, self.n_pairs
        return lower_limit(concordant, pairs, tail), upper_limit(concordant, pairs, tail)


def draw_pairs(cells: Cells, *, of_average: bool = False) -> DisjointPairs:
    """Draw as many disjoint pairs of each group as the smaller class has rows.

    Parameters
    ----------
    cells : Cells
        Counts of unweighted rows.
    of_average : bool, default=False
        Whether groups with equal counts get different pairs, for `average_limits`.
    """
    drawn, starts, seeds = [], [0], []
    seen: Counter[int] = Counter()
    for first, end in zip(cells.starts[:-1].tolist(), cells.starts[1:].tolist(), strict=True):
        of_group = [of_class[first:end] for of_class in (cells.negatives, cells.positives)]
        seed = _seed_of(of_group)
        repeats = [seen[seed]] if of_average and seen[seed] else []
        rng = np.random.default_rng([seed, *repeats])
        seeds.append(seed)
        seen[seed] += 1
        negatives, positives = (np.cumsum(counts, dtype=np.int64) for counts in of_group)
        n_pairs = int(min(negatives[-1], positives[-1], MOST_PAIRS))
        starts.append(starts[-1] + n_pairs)
        if n_pairs == 0:
            continue
        # Number of the cell of each drawn row; cells have the order of their scores.
        negative, positive = (
            np.searchsorted(up_to, rng.choice(int(up_to[-1]), n_pairs, replace=False), "right")
            for up_to in (negatives, positives)
        )
        coins = rng.integers(0, 2, n_pairs) == 1
        drawn.append((positive > negative) | ((positive == negative) & coins))
    is_concordant = np.concatenate(drawn) if drawn else np.zeros(0, np.bool_)
    return DisjointPairs(np.array(starts, np.intp), is_concordant, seeds)


def _seed_of(counts: Sequence[NDArray[Any]]) -> int:
    """Return a hash of the counts of both classes of a group, in the order of the scores."""
    digest = hashlib.sha256()
    for part in (np.array([0, len(counts[0])]), *counts):
        digest.update(part.astype("<i8").tobytes())
    return int.from_bytes(digest.digest()[:16], "little")


# Averages --------------------------------------------------------------------------------------


def average_limits(pairs: DisjointPairs, share: Floats, tail: float) -> tuple[float, float, int]:
    """Return the limits of an average of group AUCs, each with error probability `tail`.

    Parameters
    ----------
    pairs : DisjointPairs
        Pairs with different seeds, see `draw_pairs`.
    share : ndarray of float64, shape (n_groups,)
        Weight of each group, with sum 1. Groups with a share have pairs.
    tail : float
        A tail above one quarter counts as one quarter.

    Returns
    -------
    low, high : float
        Limits.
    n_slots : int
        Number of pairs that determine the limits.
    """
    # The order of the groups on the line is that of their hashes, so names have no effect.
    of_group = sorted(np.flatnonzero(share > 0).tolist(), key=pairs.seeds.__getitem__)
    used = np.array(of_group, np.intp)
    ends = np.cumsum(share[used])
    ends /= ends[-1]
    n_slots = _most_slots(ends, pairs.n_pairs[used])
    # A uniform point in each slot draws the group whose segment holds the point.
    seed = [1, *(pairs.seeds[g] for g in of_group)]
    uniform = np.random.default_rng(seed).random(n_slots)
    points = (np.arange(n_slots) + uniform) / n_slots
    drawn = np.minimum(np.searchsorted(ends, points, "right"), used.size - 1)
    taken = np.bincount(drawn, minlength=used.size)
    # The theorems cover only binomial tails up to one quarter.
    tail = min(tail, 0.25)
    first = pairs.starts[used]
    n_concordant = sum(
        int(pairs.is_concordant[start : start + n].sum())
        for start, n in zip(first.tolist(), taken.tolist(), strict=True)
    )
    low = float(lower_limit(n_concordant, n_slots, tail))
    high = float(upper_limit(n_concordant, n_slots, tail))
    # The theorems do not hold for an expected number of at most one pair. The probability of any
    # concordant pair is at most the sum of the probabilities. The other end follows by symmetry.
    if n_concordant == 1:
        low = min(low, tail / n_slots)
    if n_concordant == n_slots - 1:
        high = max(high, 1.0 - tail / n_slots)
    return low, high, n_slots


def _most_slots(ends: Floats, n_pairs: NDArray[np.int64]) -> int:
    """Return the largest found number of slots for which no group can run out of pairs.

    A group needs a pair for each slot that overlaps the group's segment. The number of these slots
    is at least the group's share times the number of all slots. The search goes down from the
    resulting upper bound, with larger steps for larger numbers.
    """
    starts = np.append(0.0, ends[:-1])
    n_slots = int(min(float((n_pairs / (ends - starts)).min()) + 1e-9, float(n_pairs.sum())))
    while n_slots > 1:
        overlapped = np.ceil(ends * n_slots - 1e-9) - np.floor(starts * n_slots + 1e-9)
        if (overlapped <= n_pairs).all():
            return n_slots
        n_slots -= max(1, n_slots // 50)
    return 1
