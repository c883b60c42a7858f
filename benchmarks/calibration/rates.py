"""Intervals of gaps of rates of decisions, and answers to tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calibration.simulation import Groups, draw_rows, groups, percent
from benchmarks.calibration.table import Plot, Table
from skfedauc import FairnessAudit
from skfedauc.inference.differences import AllPairs
from skfedauc.inference.proportions import estimates_of_shares, limits_of_ratio

TOLERANCES = {
    "difference": 0.05,
    "demographic_parity_ratio": 0.8,
    "equalized_odds_difference": 0.1,
}


def gap_intervals(n_runs: int, seed: int, rates: Any, n_rows: Any) -> list[str]:
    """Coverage of 95 % intervals of the gaps of a rate, and error rates of their one-sided limits.

    A limit beyond the true value gives a wrong answer to a tolerance at the true value.
    """
    rng = np.random.default_rng(seed)
    rates = np.array(rates, np.float64)
    n_rows = np.broadcast_to(n_rows, rates.size)
    difference, ratio = np.ptp(rates), rates.min() / rates.max()
    found = []
    for shares in rng.binomial(n_rows, rates, (n_runs, rates.size)) / n_rows:
        pairs = AllPairs(estimates_of_shares(shares, n_rows.astype(np.float64)), rates.size)
        low, high = pairs.largest(0.05)
        low_ratio, high_ratio = limits_of_ratio(pairs, 0.05)
        most, least = pairs.largest(0.1)[1], 0.0
        if shares.any():  # Otherwise, the ratio is undefined.
            least = limits_of_ratio(pairs, 0.1)[0]
        found.append(
            [
                low <= difference <= high,
                low_ratio <= ratio <= high_ratio,
                most < difference,
                least > ratio,
                low > difference,
                high_ratio < ratio,
            ]
        )
    return [percent(column) for column in zip(*found, strict=True)]


def answers(n_runs: int, seed: int, of: Groups, rates: Any) -> list[str]:
    """Shares of the answers to three tolerances."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        decided = rng.random(rows.y.size) < np.asarray(rates)[rows.groups]
        audit = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, y_pred=decided, tolerances=TOLERANCES
        )
        found.append(audit.tolerances["answer"].tolist())
    return [
        percent([one == answer for one in of_gap])
        for of_gap in zip(*found, strict=True)
        for answer in ("met", "not met")
    ]


GAPS = [
    ("2 groups of 50, .3", [0.3] * 2, 50),
    ("2 groups of 50, .02", [0.02] * 2, 50),
    ("2 groups of 20 and 2,000, .02", [0.02] * 2, [20, 2_000]),
    ("2 groups of 100, .3 and .5", [0.3, 0.5], 100),
    ("2 groups of 1,000, .3 and .4", [0.3, 0.4], 1_000),
    ("2 groups of 1,000 and 10, .885 and .985", [0.885, 0.985], [1_000, 10]),
    ("2 groups of 10 and 1,000, .02 and .35", [0.02, 0.35], [10, 1_000]),
    ("4 groups of 100, .3", [0.3] * 4, 100),
    ("4 groups of 50 to 400, .2 to .5", [0.2, 0.3, 0.4, 0.5], [50, 100, 200, 400]),
    ("20 groups of 100, .3", [0.3] * 20, 100),
    ("20 groups of 30, .02", [0.02] * 20, 30),
    ("20 groups, 19 of 10 and one of 10,000, .01", [0.01] * 20, [10] * 19 + [10_000]),
    ("20 groups of 40, one .8, others .2", [0.2] * 19 + [0.8], 40),
    ("20 groups of 200, .01 to .03", np.linspace(0.01, 0.03, 20), 200),
]
ANSWERS = [
    ("no gap, 2 groups of 100/400", groups(2, 100, 400, 0.8), [0.4, 0.4]),
    ("no gap, 2 groups of 1,000/4,000", groups(2, 1_000, 4_000, 0.8), [0.4, 0.4]),
    ("no gap, 20 groups of 20/80", groups(20, 20, 80, 0.8), [0.4] * 20),
    ("no gap, 2 groups of 100/400, rate .02", groups(2, 100, 400, 0.8), [0.02, 0.02]),
    ("at the limits, 2 groups of 100/400", groups(2, 100, 400, [0.8, 0.75]), [0.5, 0.4]),
    ("at the limits, 2 groups of 1,000/4,000", groups(2, 1_000, 4_000, [0.8, 0.75]), [0.5, 0.4]),
    ("twice the limits, 2 groups of 1,000/4,000", groups(2, 1_000, 4_000, [0.8, 0.7]), [0.5, 0.3]),
]

TABLES = [
    Table(
        "Gaps of rates of decisions",
        "Largest difference and smallest ratio of the rates of groups. The first two columns are "
        "the coverage in % of 95 % intervals. The other columns are error rates in % of answers to "
        "a tolerance at the true value: `met` if the one-sided limit is within the true value, "
        "and `not met` if the limit on the side of no gap is beyond the true value. Rates without "
        "a gap cannot give a wrong `met`.",
        [
            "groups of rows, rates",
            "difference",
            "ratio",
            "met, difference",
            "met, ratio",
            "not met, difference",
            "not met, ratio",
        ],
        [(name, gap_intervals, (rates, n_rows)) for name, rates, n_rows in GAPS],
        coverage=("difference", "ratio"),
        error_rate=("met, difference", "met, ratio", "not met, difference", "not met, ratio"),
    ),
    Table(
        "Answers to tolerances",
        "Answers of audits in %: the difference of group AUCs is at most 0.05, the ratio of "
        "selection rates is at least 0.8, and the equalized odds difference is at most 0.1. The "
        "remaining answers are `undecided`. Without a gap, `not met` is wrong. At the limits, each "
        "of both answers should have at most 5 %. At twice the limits, `met` is wrong. Predictions "
        "have the rate of the group in both classes.",
        [
            "groups of positives/negatives",
            "AUC difference met",
            "AUC difference not met",
            "selection rates met",
            "selection rates not met",
            "equalized odds met",
            "equalized odds not met",
        ],
        [(name, answers, (of, rates)) for name, of, rates in ANSWERS],
        others=[
            Plot(f"{gap}: share of audits in %", [f"{gap} met", f"{gap} not met"])
            for gap in ("AUC difference", "selection rates", "equalized odds")
        ],
    ),
]
