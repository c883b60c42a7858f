"""Intervals without asymptotic approximation."""

from __future__ import annotations

import numpy as np

from benchmarks.calibration.simulation import (
    Floats,
    Groups,
    auc_of_rounded_scores,
    draw_rows,
    groups,
    percent,
    report,
    two_values,
)
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC, ScoreCounts
from skfedauc.inference.intervals import average_interval
from skfedauc.inference.limits import Method, group_limits

# Methods of intervals that are compared with methods without asymptotic approximation
FREE: tuple[Method, ...] = ("logit", "exact")


WIDTHS = tuple(f"width, {method}" for method in FREE)


def looseness(n_runs: int, seed: int, m: int, n: int, auc: float, shape: str) -> list[str]:
    """Coverage and mean width of intervals of one AUC with and without normal approximation.

    Hoeffding's bound is for a mean of as many pairs as the smaller class has rows. McDiarmid's
    inequality bounds the effect of each row on the AUC (Agarwal et al. 2005).
    """
    rng = np.random.default_rng(seed)
    rows = draw_rows(rng, groups(n_runs, m, n, auc))
    truth, scores = auc, rows.scores
    if shape == "whole":
        scores, truth = scores.round(), auc_of_rounded_scores(auc)
    if shape == "two values":
        scores = two_values(rng, rows.y, auc)
    of_run = np.argsort(rows.groups, kind="stable").reshape(n_runs, m + n)
    limits, observed = np.empty((len(FREE), 2, n_runs)), np.empty(n_runs)
    for i, own in enumerate(of_run):
        drawn = ScoreCounts.from_predictions(rows.y[own], scores[own])
        variances = GroupAUC(drawn)._estimates.variances
        observed[i] = variances.auc[0]
        for number, method in enumerate(FREE):
            low, high, _ = group_limits(variances, 0.025, method)
            limits[number, :, i] = low[0], high[0]
    widths = []
    for share in (1.0 / min(m, n), 1.0 / m + 1.0 / n):
        reach = np.sqrt(np.log(2.0 / 0.05) * share / 2.0)
        widths.append(np.minimum(observed + reach, 1.0) - np.maximum(observed - reach, 0.0))
    return [*covered_and_wide(limits, truth), *(f"{width.mean():.3f}" for width in widths)]


def average_of_pairs(n_runs: int, seed: int, of: Groups) -> list[str]:
    """Coverage and mean width of intervals of the macro average."""
    rng, share = np.random.default_rng(seed), np.full(len(of.auc), 1.0 / len(of.auc))
    limits = np.empty((len(FREE), 2, n_runs))
    for i in range(n_runs):
        drawn = report(rng, of)._estimates
        for number, method in enumerate(FREE):
            found = average_interval(drawn.in_use, share, 0.95, method, new_groups=False)
            limits[number, :, i] = found.low, found.high
    return covered_and_wide(limits, float(np.mean(of.auc)))


def covered_and_wide(limits: Floats, truth: float) -> list[str]:
    """Return the coverage in % of each method, and then the mean width of each method."""
    low, high = limits[:, 0], limits[:, 1]
    covered = (low <= truth) & (truth <= high)
    return [*map(percent, covered), *(f"{width:.3f}" for width in (high - low).mean(axis=1))]


TABLES = [
    Table(
        "Intervals of one AUC without asymptotic approximation",
        "Coverage in % and mean width of 95 % intervals of the same rows. `logit` and "
        "`exact` are methods of `confidence_intervals`. `Hoeffding` is the bound of the mean "
        "of `min(m, n)` independent pairs, and `McDiarmid` is the bound of Agarwal et al. "
        "(2005). No method of `confidence_intervals` returns these two bounds, because `exact` "
        "is never wider. Scores are normal. `whole` scores are rounded to whole numbers, and "
        "`two values` are scores with only two values.",
        ["positives/negatives, AUC", *FREE, *WIDTHS, "width, Hoeffding", "width, McDiarmid"],
        [
            (f"{m}/{n}, {auc}{f', {shape}' if shape else ''}", looseness, (m, n, auc, shape))
            for m, n, shape in (
                (5, 15, ""),
                (5, 15, "two values"),
                (20, 400, ""),
                (50, 200, ""),
                (50, 200, "whole"),
                (500, 500, ""),
            )
            for auc in (0.6, 0.8, 0.95)
        ],
        coverage=FREE,
        others=[Plot("Mean width", [*WIDTHS, "width, Hoeffding", "width, McDiarmid"])],
    ),
    Table(
        "Intervals of an average without asymptotic approximation",
        "Coverage in % and mean width of 95 % intervals of the macro average of the same rows.",
        ["groups of positives/negatives, AUC", *FREE, *WIDTHS],
        [
            (f"{g} groups of {m}/{n}, {auc}", average_of_pairs, (groups(g, m, n, auc),))
            for g in (2, 20, 500)
            for m, n in ((5, 15), (50, 200))
            for auc in (0.8, 0.95)
            if g * (m + n) < 20_000
        ],
        coverage=FREE,
        others=[Plot("Mean width", WIDTHS)],
    ),
]
