"""Search for designs in which intervals of averages cover the true value too rarely.

``python -m benchmarks.calibration.search`` prints the coverage of every design, lowest first.
"""

from __future__ import annotations

import itertools
import zlib
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration.simulation import Floats
from benchmarks.calibration.table import Table
from skfedauc import ScoreCounts
from skfedauc.inference.limits import AUCSpread, limits
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Variances, variances_of

N_GROUPS, AUCS = (1, 2, 5, 20), (0.7, 0.8, 0.9, 0.95, 0.98)
# Negatives for each number of positives
N_NEGATIVES = {5: 250, 10: 500, 20: 500}
RATIOS, RATES = (1 / 3, 0.5, 1.0, 2.0, 3.0), (0.001, 0.01, 0.1)
SHAPES = {f"ratio {ratio:.2g}": (ratio, None) for ratio in RATIOS}
SHAPES |= {f"two values, rate {rate:g}": (None, rate) for rate in RATES}


class Cell(NamedTuple):
    """Coverage in % of the average of groups of one design, and misses on both sides."""

    coverage: float
    too_high: float
    too_low: float
    n_groups: int
    auc: float


def drawn(rng: np.random.Generator, k: int, m: int, auc: float, shape: str) -> ScoreCounts:
    """Draw k groups with normal scores, or with scores of two values."""
    (ratio, rate), n = SHAPES[shape], N_NEGATIVES[m]
    y = np.tile(np.arange(m + n) < m, k)
    if rate is None:
        scores = rng.normal(size=y.size)
        scores = np.where(y, scores * ratio + ndtri(auc) * np.sqrt(1.0 + ratio**2), scores)
    else:
        scores = np.where(rng.random(y.size) < np.where(y, 2.0 * auc - 1.0 + rate, rate), 0.7, 0.3)
    groups = np.repeat(np.arange(k), m + n)
    return ScoreCounts.from_predictions(y, scores, groups=groups)


def average_limits(variances: Variances, n_groups: int) -> tuple[Floats, Floats]:
    """Return the 95 % limits of `macro` of each run; each `n_groups` groups are a run."""
    deviate, spread = normal_quantile(0.025), AUCSpread.of(variances)

    def mean(values: Floats) -> Floats:
        return values.reshape(-1, n_groups).mean(axis=1)

    value, error = mean(spread.auc), np.sqrt(mean(spread.variance) / n_groups)
    low, high = limits(value, error**2, deviate, "logit")
    below, above = (
        np.sqrt(mean((spread.auc - end) ** 2) / n_groups) for end in spread.limits(deviate, "logit")
    )
    if n_groups == 1:
        return value - below, value + above
    return np.minimum(low, value - below), np.maximum(high, value + above)


def cells(n_runs: int, seed: int, m: int, shape: str) -> list[Cell]:
    """Return the cells of all AUCs and numbers of groups; `n_runs` runs of the most groups.

    The same groups make runs of fewer groups, which are therefore more.
    """
    rng, found = np.random.default_rng(seed), []
    for auc in AUCS:
        rate = SHAPES[shape][1]
        if rate is not None and 2.0 * auc - 1.0 + rate > 1.0:
            continue
        missed: dict[int, list[Floats]] = {n_groups: [] for n_groups in N_GROUPS}
        for start in range(0, n_runs, 100):
            k = min(n_runs - start, 100) * max(N_GROUPS)
            variances = variances_of(drawn(rng, k, m, auc, shape))
            for n_groups in N_GROUPS:
                low, high = average_limits(variances, n_groups)
                missed[n_groups].append(np.array([low > auc, high < auc], float))
        for n_groups, parts in missed.items():
            high, low = 100.0 * np.concatenate(parts, axis=1).mean(axis=1)
            found.append(Cell(100.0 - high - low, high, low, n_groups, auc))
    return found


def worst(n_runs: int, seed: int, m: int, shape: str) -> list[str]:
    """Return the lowest coverage over AUCs for each number of groups, and the most misses."""
    found = cells(n_runs, seed, m, shape)
    by_number = [[cell for cell in found if cell.n_groups == n] for n in N_GROUPS]
    lowest = [f"{min(cell.coverage for cell in of_number):.1f}" for of_number in by_number]
    return [*lowest, *(f"{max(getattr(cell, side) for cell in found):.1f}"
                       for side in ("too_high", "too_low"))]  # fmt: skip


TITLE = "Averages with rare positives: a search for bad designs"
LINES = list(itertools.product(N_NEGATIVES, SHAPES))
TABLES = [
    Table(
        TITLE,
        "The lowest coverage in % of 95 % intervals of the macro average over AUCs of .7, .8, .9, "
        ".95 and .98. All groups have the same design, so all averages have the same coverage, and "
        "with one group it is that of the group's AUC. The ratio is the standard deviation of the "
        "positives divided by that of the negatives. Scores of two values have the false positive "
        "rate in the name of the line. `low limit too high` and `high limit too low` are the "
        "largest shares in % of intervals that miss the average on that side in any cell of the "
        "line, and should be 2.5. The number of runs is that of 20 groups; fewer groups have "
        "proportionally more runs.",
        [
            "positives/negatives, scores",
            "1 group",
            *(f"{n} groups" for n in N_GROUPS[1:]),
            "low limit too high",
            "high limit too low",
        ],
        [(f"{m}/{N_NEGATIVES[m]}, {shape}", worst, (m, shape)) for m, shape in LINES],
        share=0.5,
        coverage=["1 group", *(f"{n} groups" for n in N_GROUPS[1:])],
    )
]


def main() -> None:
    found = []
    for m, shape in LINES:
        name = f"{m}/{N_NEGATIVES[m]}, {shape}"
        seed = zlib.crc32(f"{TITLE}: {name}".encode())
        found += [(cell, name) for cell in cells(1_000, seed, m, shape)]
    for cell, name in sorted(found):
        print(
            f"{cell.coverage:5.1f} (low limit too high {cell.too_high:.1f}, high limit too low "
            f"{cell.too_low:.1f}): {cell.n_groups} x {name}, AUC {cell.auc}"
        )


if __name__ == "__main__":
    main()
