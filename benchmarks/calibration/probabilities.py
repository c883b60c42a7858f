"""Calibration of scores that are probabilities: slopes and mean scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import ScoreCounts
from skfedauc.inference import calibration

# Groups of one simulated set of rows; a group is a run.
_GROUPS = 250


def perfect(
    n_runs: int, seed: int, n_rows: int, center: float, spread: float, weighted: bool
) -> list[str]:
    """Coverage of limits of perfectly calibrated scores.

    The logits of the scores are normal with this mean and standard deviation.
    """
    rng = np.random.default_rng(seed)
    covered: dict[str, list[Any]] = {"slope": [], "difference": []}
    for _ in range(max(n_runs // _GROUPS, 1)):
        groups = np.repeat(np.arange(_GROUPS), n_rows)
        p = expit(center + spread * rng.normal(size=groups.size))
        weights = rng.gamma(0.5, size=groups.size) if weighted else None
        cells = ScoreCounts.from_predictions(
            rng.random(p.size) < p, p, groups=groups, sample_weight=weights
        ).cells
        means, slopes = calibration.mean_scores(cells, 0.95), calibration.slopes(cells, 0.95)
        covered["difference"].append((means.low <= 0.0) & (means.high >= 0.0))
        is_covered = (slopes.low <= 1.0) & (slopes.high >= 1.0)
        covered["slope"].append(is_covered[~np.isnan(slopes.low)])
    return [percent(np.concatenate(found)) for found in covered.values()]


TABLES = [
    Table(
        "Calibration of probabilities",
        "Scores are the probabilities of the labels (perfect calibration), and their logits are "
        "normal. `positives` in the name of a line is the mean number of positives of a group. "
        "The columns are the coverage in % of 95 % intervals: of the calibration slope if it is "
        "defined, and of the difference of mean score and share of positives. The interval of the "
        "difference is conservative, because the binomial variance is an upper limit.",
        ["group", "slope", "difference"],
        [
            (
                f"{n:,} rows, {positives} positives{', gamma(.5) weights' if weighted else ''}",
                perfect,
                (n, center, spread, weighted),
            )
            for n, positives, center, spread in (
                (30, 15, 0.0, 1.0),
                (100, 16, -2.0, 1.0),
                (400, 62, -2.0, 1.0),
                (1_000, 18, -5.0, 1.5),
                (4_000, 2_000, 0.0, 2.0),
            )
            for weighted in (False, True)
        ],
        coverage=["slope", "difference"],
    ),
]
