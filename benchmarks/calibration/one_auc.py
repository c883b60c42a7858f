"""Intervals of one AUC."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration.simulation import (
    auc_of_rounded_scores,
    draw_rows,
    groups,
    percent,
    report,
    two_values,
)
from benchmarks.calibration.table import Table
from skfedauc import GroupAUC, ScoreCounts
from skfedauc.inference.intervals import group_limits


def single(n_runs: int, seed: int, m: int, n: int, auc: float, ratio: float) -> list[str]:
    """Coverage of the three intervals of one AUC; runs are groups of one `ScoreCounts`."""
    found = report(np.random.default_rng(seed), groups(n_runs, m, n, auc, ratio))
    cells = []
    for method in ("logit", "delong", "exact"):
        table = found.confidence_intervals(method=method)
        cells.append(percent((table["ci_low"] <= auc) & (auc <= table["ci_high"])))
    return cells


def few_positives(n_runs: int, seed: int, m: int, n: int, auc: float) -> list[str]:
    """Coverage of the interval of one AUC by the distribution of the scores.

    There are four distributions: normal scores with equal standard deviations, normal scores with
    twice the standard deviation in the positives, normal scores rounded to whole numbers, and two
    values whose probabilities in the two classes add up to 1.
    """
    rng, cells = np.random.default_rng(seed), []
    for shape in ("normal", "wide", "whole", "two values"):
        held: list[bool] = []
        # Runs are groups of one `ScoreCounts`, of at most a million rows.
        for start in range(0, n_runs, 1_000_000 // (m + n)):
            k = min(n_runs - start, 1_000_000 // (m + n))
            rows = draw_rows(rng, groups(k, m, n, auc, 2.0 if shape == "wide" else 1.0))
            scores, truth = rows.scores, auc
            if shape == "whole":
                scores, truth = scores.round(), auc_of_rounded_scores(auc)
            if shape == "two values":
                scores = two_values(rng, rows.y, auc)
            counts = ScoreCounts.from_predictions(rows.y, scores, groups=rows.groups)
            table = GroupAUC(counts).confidence_intervals()
            held.extend((table["ci_low"] <= truth) & (truth <= table["ci_high"]))
        cells.append(percent(held))
    return cells


def weighted(
    n_runs: int, seed: int, m: int, n: int, auc: float, sigma: float, slope: float = 0.0
) -> list[str]:
    """Coverage of the intervals of one AUC with lognormal weights, times ``exp(slope * score)``.

    The slope moves the weighted scores of both classes equally, which does not change the AUC.
    """
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(m + n) < m, n_runs)
    scores = rng.normal(size=y.size) + ndtri(auc) * np.sqrt(2.0) * y
    weights = np.exp(rng.normal(0, sigma, y.size) + slope * scores)
    codes = np.repeat(np.arange(n_runs), m + n)
    found = GroupAUC.from_predictions(y, scores, groups=codes, sample_weight=weights)
    cells = []
    for method in ("logit", "exact"):
        table = found.confidence_intervals(method=method)
        cells.append(percent((table["ci_low"] <= auc) & (auc <= table["ci_high"])))
    return cells


def unequal_spread(
    n_runs: int, seed: int, m: int, n: int, auc: float, ratio: float, share: float,
    lowest: bool = False,
) -> list[str]:  # fmt: skip
    """Coverage of intervals, errors of each limit, and the error rate of `test_margin(reference=)`.

    Scores are normal. This share of the positives has the distribution of the negatives, or is
    below all negatives (`lowest`), and the AUC of the other positives is such that all positives
    together have the AUC.
    """
    of_share = 0.0 if lowest else share / 2.0
    rng, found = np.random.default_rng(seed), []
    most = 1_000_000 // (m + n)
    for start in range(0, n_runs, most):
        # Runs are groups of one `ScoreCounts`, of at most a million rows.
        k = min(n_runs - start, most)
        rows = draw_rows(rng, groups(k, m, n, (auc - of_share) / (1.0 - share), ratio))
        without = rows.y & (rng.random(rows.y.size) < share)
        others = np.full(rows.y.size, -100.0) if lowest else rng.normal(size=rows.y.size)
        scores = np.where(without, others, rows.scores)
        variances = GroupAUC.from_predictions(
            rows.y, scores, groups=rows.groups
        )._estimates.variances
        low, high, _ = group_limits(variances, 0.025, "logit")
        # The limit at which the p value of `test_margin(reference=)` of a single group is .05
        one_sided, _, _ = group_limits(variances, 0.05, "logit")
        found.append(
            (
                (low <= auc) & (auc <= high),
                low > auc,
                high < auc,
                one_sided > auc,
            )
        )
    return [percent(column) for column in np.concatenate(found, axis=1)]


# Positives, negatives, AUC, ratio of deviations, share of positives without signal or lowest
UNEQUAL: list[tuple[Any, ...]] = [
    (20, 2_000, 0.9, 3.0, 0.0),
    (10, 2_000, 0.8, 3.0, 0.0),
    (20, 500, 0.9, 4.0, 0.0),
    (8, 500, 0.85, 4.0, 0.0),
    (50, 200, 0.9, 3.0, 0.0),
    (100, 400, 0.9, 3.0, 0.0),
    (50, 200, 0.95, 4.0, 0.0),
    (100, 1_000, 0.97, 3.0, 0.0),
    (100, 1_000, 0.98, 4.0, 0.0),
    (8, 200, 0.8, 1.0, 0.3),
    (20, 200, 0.8, 1.0, 0.3),
    (20, 2_000, 0.85, 1.0, 0.2),
    (100, 400, 0.8, 1.0, 0.3),
    (10, 1_000, 0.82, 1.0, 0.15, True),
    (20, 200, 0.85, 1.0, 0.1, True),
    (50, 200, 0.85, 1.0, 0.1, True),
]


SIZES = ((5, 15), (20, 80), (50, 200), (500, 500))


TABLES = [
    Table(
        "Interval of one AUC",
        "Coverage in % of 95 % intervals. Scores are normal. The ratio is the standard "
        "deviation of the positives divided by the standard deviation of the negatives.",
        ["positives / negatives, AUC, ratio of deviations", "logit", "delong", "exact"],
        [
            (f"{m}/{n}, {auc}, {ratio}", single, (m, n, auc, ratio))
            for m, n in SIZES
            for auc in (0.6, 0.75, 0.9, 0.95, 0.99)
            for ratio in (1.0, 2.0, 0.5)
            if ratio == 1.0 or (m, n) == (50, 200)
        ],
        coverage=["logit", "delong", "exact"],
    ),
    Table(
        "One AUC with few positives or tied scores",
        "Coverage in % of 95 % intervals (`logit`). `normal` scores have equal standard "
        "deviations in both classes. `ratio 2` scores are normal, with twice the standard "
        "deviation in the positives. `whole` scores are normal scores that are rounded to "
        "whole numbers. `two values` are scores with only two values.",
        ["positives/negatives, AUC", "normal", "ratio 2", "whole", "two values"],
        [
            (f"{m}/{n:,}, {auc}", few_positives, (m, n, auc))
            for m, n in ((10, 40), (20, 200), (20, 2_000))
            for auc in (0.8, 0.9, 0.95, 0.99)
        ],
        coverage=["normal", "ratio 2", "whole", "two values"],
    ),
    Table(
        "Unequal spread and mixtures",
        "One AUC in designs that are harder than those of the tables above. The ratio is the "
        "standard deviation of the positives divided by the standard deviation of the "
        "negatives. In a mixture, this share of the positives has the same distribution as the "
        "negatives; with `lowest`, it is below all negatives. The column `logit` has the coverage "
        "in % of 95 % intervals. `low limit too high` and `high limit too low` are "
        "the shares in % of `logit` intervals that miss the AUC on each side, and should be 2.5. "
        "`worst` is the error rate in % of `test_margin` at 5 % with the true AUC as the bound.",
        [
            "positives/negatives, AUC, design",
            "logit",
            "low limit too high",
            "high limit too low",
            "worst",
        ],
        [
            (
                f"{m}/{n:,}, {auc}, {f'mixture {share}' if share else f'ratio {ratio:g}'}"
                f"{', lowest' * len(lowest)}",
                unequal_spread,
                (m, n, auc, ratio, share, *lowest),
            )
            for m, n, auc, ratio, share, *lowest in UNEQUAL
        ],
        coverage=["logit"],
        error_rate=["worst"],
    ),
    Table(
        "Rows with weights",
        "Coverage in % of 95 % intervals of one AUC. The logarithms of the weights are normal, or "
        "in the last lines the score times a slope.",
        ["positives/negatives, AUC, standard deviation of log weights", "logit", "exact"],
        [
            *(
                (f"{m}/{n}, {auc}, {sigma}", weighted, (m, n, auc, sigma))
                for m, n in ((20, 80), (50, 200))
                for auc in (0.75, 0.9)
                for sigma in (0.5, 1.0, 2.0)
            ),
            *(
                (f"{m}/{n}, {auc}, slope {slope}", weighted, (m, n, auc, 0.0, slope))
                for m, n, auc, slope in (
                    (50, 200, 0.9, -0.5),
                    (50, 200, 0.9, -1.0),
                    (200, 800, 0.9, -1.0),
                    (200, 800, 0.9, 1.0),
                )
            ),
        ],
        coverage=["logit", "exact"],
    ),
]
