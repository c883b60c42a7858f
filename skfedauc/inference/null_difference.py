"""Expected largest minus smallest group AUC if all true AUCs are equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skfedauc._kernel import concordance, count_rows, ranks_in_groups
from skfedauc.counts import ScoreCounts
from skfedauc.counts.disclosure import cells_for
from skfedauc.counts.moments import ratio
from skfedauc.inference.variances import Variances

Floats = NDArray[np.float64]

# Least number of rows of the smaller class for which the AUC of a group is treated as normally
# distributed.
_NORMAL_ROWS = 30
# Total of simulated rows, and bounds on the number of simulated sets of groups.
_SIMULATED_ROWS, _LEAST_SETS, _MOST_SETS = 2_000_000, 20, 1_000
_ROWS_AT_ONCE = 1 << 16
# Largest number of distinct placement values. With more values, the simulation merges neighboring
# values.
_MOST_PLACEMENTS = 1024


def null_difference(counts: ScoreCounts, variances: Variances, seed: int = 0) -> float:
    """Return the expected largest minus smallest group AUC if all true AUCs are equal.

    If all groups have at least 30 rows of each class, or with clusters, the group AUCs are normal
    with the variances from placement values pooled over groups. Otherwise, groups are simulated
    from the placement values of `counts`.
    """
    kept = variances.defined
    n_groups = int(kept.sum())
    if n_groups < 2:
        return float("nan")
    variances.check_independent_groups("null_difference")
    # Simulated rows are independent.
    if variances.n_pairs[kept].min() < _NORMAL_ROWS and variances.clusters is None:
        return _simulated_difference(counts, variances, seed)
    shared = variances.shared[kept]
    return mean_range(np.sqrt(np.where(np.isnan(shared), variances.bounded[kept], shared)))


def mean_range(deviations: Floats) -> float:
    """Return the mean range of independent normal variables with mean 0."""
    from scipy.special import log_ndtr

    sizes, counts = np.unique(deviations, return_counts=True)
    if sizes[-1] == 0:
        return 0.0
    x = np.linspace(-10.0, 10.0, 2001) * sizes[-1]
    below, above = np.zeros((2, x.size))
    # P(largest < x) and P(smallest > x) are products over the variables.
    step = max((1 << 21) // x.size, 1)
    for a in range(0, sizes.size, step):
        with np.errstate(divide="ignore"):
            scaled = x[:, None] / np.maximum(sizes[a : a + step], 1e-300)
        below += log_ndtr(scaled) @ counts[a : a + step]
        above += log_ndtr(-scaled) @ counts[a : a + step]
    inside = 1.0 - np.exp(below) - np.exp(above)
    return float(np.trapezoid(inside, x))


def _simulated_difference(counts: ScoreCounts, variances: Variances, seed: int) -> float:
    """Return `null_difference` by simulation of the group AUCs.

    The simulation draws the placement values of positives from the positives of all groups. The
    placement values of negatives are uniform on [0, 1]. For small groups, the simulation draws rows
    one by one. For large groups, the simulation draws the number of rows at each placement value.
    """
    rng = np.random.default_rng(seed)
    kept = variances.defined
    n_positives, n_negatives = (
        np.rint(rows.effective[kept]).astype(np.int64)
        for rows in (variances.positives, variances.negatives)
    )
    placements, shares = _placement_distribution(counts, variances)
    is_large = n_positives + n_negatives > 2 * placements.size
    small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
    n_rows = int((n_positives + n_negatives)[small].sum())
    n_drawn = n_rows + 2 * placements.size * large.size
    n_sets = int(np.clip(_SIMULATED_ROWS // n_drawn, _LEAST_SETS, _MOST_SETS))
    auc = np.empty((n_sets, n_positives.size))
    for g in large:
        auc[:, g] = _aucs_by_numbers(
            rng, placements, shares, int(n_positives[g]), int(n_negatives[g]), n_sets
        )
    up_to = np.cumsum(shares)
    of_small = n_positives[small], n_negatives[small]
    group = np.arange(small.size)
    of_set = np.concatenate([np.repeat(group, n.astype(np.intp)) for n in of_small])
    positive = np.arange(n_rows) < of_small[0].sum()
    # Count the groups of several sets in one call, as separate groups.
    n_at_once = max(_ROWS_AT_ONCE // max(n_rows, 1), 1)
    for start in range(0, n_sets if small.size else 0, n_at_once):
        n = min(n_at_once, n_sets - start)
        scores = rng.random((n, n_rows))
        place = np.searchsorted(up_to, scores[:, positive] * up_to[-1], side="right")
        scores[:, positive] = placements[np.minimum(place, placements.size - 1)]
        groups = np.add.outer(small.size * np.arange(n), of_set)
        found = concordance(
            count_rows(scores.ravel(), np.tile(positive, n), groups.ravel(), n * small.size)
        )
        u2 = found.u2.reshape(n, small.size)
        auc[start : start + n, small] = u2 / (2.0 * of_small[0] * of_small[1])
    return float(np.ptp(auc, axis=1).mean())


def _placement_distribution(counts: ScoreCounts, variances: Variances) -> tuple[Floats, Floats]:
    """Return the sorted placement values of the positives of all groups, with their shares."""
    cells = cells_for(
        counts, "null_difference, which is simulated if a group has fewer than 30 rows of a class,"
    )
    negatives, weights = (amounts.astype(np.float64) for amounts in cells.amounts)
    weight = np.add.reduceat(negatives, cells.starts[:-1])
    found = ranks_in_groups(cells.starts, negatives) * ratio(0.5, weight, 0.0)[cells.groups]
    kept = (weights > 0) & variances.defined[cells.groups]
    found, weights = found[kept], weights[kept]
    placements, place = np.unique(found, return_inverse=True)
    shares: Floats = np.bincount(place, weights / weights.sum()).astype(np.float64)
    if placements.size > _MOST_PLACEMENTS:
        part = np.minimum(np.cumsum(shares) * _MOST_PLACEMENTS, _MOST_PLACEMENTS - 1).astype(int)
        first = np.flatnonzero(np.diff(part, prepend=-1))
        of_part = np.add.reduceat(shares, first)
        placements = np.add.reduceat(shares * placements, first) / of_part
        shares = of_part
    return placements, shares


def _aucs_by_numbers(
    rng: np.random.Generator, placements: Floats, shares: Floats, m: int, n: int, n_sets: int
) -> Floats:
    """Draw sets of m positives and n negatives by placement value, and return their AUCs."""
    # Negatives between two placement values are below the larger value.
    gaps = np.diff(placements, prepend=0.0, append=1.0)
    positives = rng.multinomial(m, shares, n_sets)
    below = np.cumsum(rng.multinomial(n, np.maximum(gaps, 0.0) / gaps.sum(), n_sets), axis=1)
    auc: Floats = (positives / m * (below[:, :-1] / n)).sum(axis=1)
    return auc
