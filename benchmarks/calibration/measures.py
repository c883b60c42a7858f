"""Partial AUC and other measures of scores."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.calibration.simulation import Floats, Groups, draw_rows, groups, percent
from benchmarks.calibration.table import Table
from skfedauc import GroupAUC, ScoreCounts
from skfedauc.measures import (
    AveragePrecision,
    Measure,
    PartialAUC,
    Sensitivity,
    Specificity,
)
from skfedauc.report.intervals import statistic_intervals

MEASURES: list[Measure] = [
    PartialAUC(max_fpr=0.1),
    Sensitivity(specificity=0.9),
    Specificity(sensitivity=0.9),
    AveragePrecision(),
    PartialAUC(min_tpr=0.9),
    Sensitivity(specificity=0.95),
    Specificity(sensitivity=0.95),
]
# Names of `MEASURES` in the table of one group
NAMES = [
    "partial AUC",
    "sensitivity",
    "specificity",
    "average precision",
    "partial AUC, min_tpr",
    "sensitivity at .95",
    "specificity at .95",
]


def true_measures(of: Groups, whole: bool = False) -> Floats:
    """Return the true values of `MEASURES` of the pooled scores of `draw_rows`.

    The ROC curve has a point for each whole score, or for each limit of narrow ranges of scores.
    """
    edges = np.arange(-9.5, 25.0, 1.0) if whole else np.arange(-7.0, 16.0, 0.01)
    apart = ndtri(of.auc) * np.sqrt(1.0 + of.ratio**2)
    # Points of the curve from no positive predictions to all rows
    fpr = np.concatenate([[0.0], ndtr(-edges[::-1]), [1.0]])
    above = ndtr((apart[:, None] - edges[::-1]) / of.ratio[:, None])
    m, n = of.n_positives.sum(), of.n_negatives.sum()
    tpr = np.concatenate([[0.0], of.n_positives @ above / m, [1.0]])
    precision = m * tpr / np.maximum(m * tpr + n * fpr, 1e-300)
    if not whole:
        # The mean over a range of scores
        precision[2:] = (precision[1:-1] + precision[2:]) / 2.0
    return np.array([
        standardized_area(fpr, tpr, 0.1),
        np.interp(0.1, fpr, tpr),
        1.0 - np.interp(0.9, tpr, fpr),
        np.diff(tpr) @ precision[1:],
        standardized_area((1.0 - tpr)[::-1], (1.0 - fpr)[::-1], 0.1),
        np.interp(0.05, fpr, tpr),
        1.0 - np.interp(0.95, tpr, fpr),
    ])  # fmt: skip


def standardized_area(fpr: Floats, tpr: Floats, max_fpr: float) -> float:
    """Return the area of a ROC curve up to `max_fpr`, standardized as by `roc_auc_score`."""
    last = np.searchsorted(fpr, max_fpr, side="right")
    up_to = np.append(fpr[:last], max_fpr), np.append(tpr[:last], np.interp(max_fpr, fpr, tpr))
    smallest = max_fpr**2 / 2.0
    return float((1.0 + (np.trapezoid(up_to[1], up_to[0]) - smallest) / (max_fpr - smallest)) / 2.0)


def measures(n_runs: int, seed: int, of: Groups, whole: bool) -> list[str]:
    """Coverage of the intervals of the measures of one group; runs are groups."""
    truths, rng = true_measures(of, whole), np.random.default_rng(seed)
    held = [list[bool]() for _ in MEASURES]
    most = 1_000_000 // int(of.n_positives[0] + of.n_negatives[0])
    for start in range(0, n_runs, most):
        same = groups(min(n_runs - start, most), *(part[0] for part in of))
        rows = draw_rows(rng, same)
        scores = rows.scores.round() if whole else rows.scores
        counts = ScoreCounts.from_predictions(rows.y, scores, groups=rows.groups)
        for measure, truth, of_measure in zip(MEASURES, truths, held, strict=True):
            table = GroupAUC(counts, measure=measure).confidence_intervals()
            of_measure.extend((table["ci_low"] <= truth) & (truth <= table["ci_high"]))
    return [percent(of_measure) for of_measure in held]


def limits_of_statistic(found: GroupAUC, statistic: str, over: str) -> Floats:
    """Return the 95 % limits of a statistic, without the other rows of the table."""
    method, estimates = found._estimates.measure.methods[0], found._estimates.quiet()
    table = statistic_intervals(estimates, 0.95, method, over, names=[statistic])
    return table.loc[statistic, ["ci_low", "ci_high"]].to_numpy(np.float64)


def measures_over_groups(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, tau: float, whole: bool
) -> list[str]:
    """Coverage of the intervals of macro averages and pooled values; AUCs of groups are random."""
    rng, known = np.random.default_rng(seed), np.linspace(0.5, 0.995, 100)
    true = np.array([true_measures(groups(1, m, n, auc), whole) for auc in known])
    of_population = np.clip(rng.normal(0.8, tau, 100_000), 0.55, 0.99)
    held: dict[tuple[int, str], list[bool]] = {}
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, tau, n_groups), 0.55, 0.99)
        of = groups(n_groups, m, n, auc)
        rows = draw_rows(rng, of)
        scores = rows.scores.round() if whole else rows.scores
        found = GroupAUC.from_predictions(rows.y, scores, groups=rows.groups, undefined="ignore")
        pooled_truth = true_measures(of, whole)
        for i in (0, 1, 3):
            measured = GroupAUC(found.counts, undefined="ignore", measure=MEASURES[i])
            mean, expected = (np.interp(a, known, true[:, i]).mean() for a in (auc, of_population))
            for over, statistic, target in (
                ("rows", "macro", mean),
                ("groups", "macro", expected),
                ("rows", "pooled", pooled_truth[i]),
            ):
                if i == 3 and statistic == "macro":  # averages without an interval
                    continue
                low, high = limits_of_statistic(measured, statistic, over)
                held.setdefault((i, over + statistic), []).append(low <= target <= high)
    return [percent(values) for values in held.values()]


OVER_GROUPS = [
    f"{name}, {of}" for name in ("partial AUC", "sensitivity") for of in ("these", "new", "pooled")
] + ["average precision, pooled"]


TABLES = [
    Table(
        "Measures of one group",
        "Coverage in % of 95 % intervals of the partial AUC with `max_fpr=0.1`, the "
        "sensitivity at a specificity of .9, the specificity at a sensitivity of .9, the "
        "average precision, the partial AUC with `min_tpr=0.9`, "
        "and the sensitivity and specificity at .95. Scores are normal. The ratio is the standard "
        "deviation of the positives divided by the standard deviation of the negatives. `whole` "
        "scores are rounded to whole numbers.",
        [
            "positives / negatives, AUC, ratio of deviations",
            *NAMES,
        ],
        [
            (
                f"{m}/{n:,}, {auc}, {ratio}{', whole' if whole else ''}",
                measures,
                (groups(1, m, n, auc, ratio), whole),
            )
            for m, n, auc, ratio, whole in (
                (5, 15, 0.75, 1.0, False),
                (20, 80, 0.75, 1.0, False),
                (20, 80, 0.9, 1.0, False),
                (50, 200, 0.6, 1.0, False),
                (50, 200, 0.75, 1.0, False),
                (50, 200, 0.9, 1.0, False),
                (50, 200, 0.95, 1.0, False),
                (50, 200, 0.9, 2.0, False),
                (50, 200, 0.75, 1.0, True),
                (50, 200, 0.9, 1.0, True),
                (500, 500, 0.9, 1.0, False),
                (20, 2000, 0.75, 1.0, False),
                (20, 2000, 0.9, 1.0, False),
                (20, 2000, 0.95, 1.0, False),
                (20, 2000, 0.9, 2.0, False),
                (10, 1000, 0.96, 1.0, False),
                (10, 1000, 0.99, 1.0, False),
                (50, 500, 0.99, 1.0, False),
                (20, 400, 0.8, 1.0, False),
                (80, 20, 0.8, 1.0, False),
                (80, 20, 0.95, 1.0, False),
                (200, 50, 0.8, 1.0, False),
                (400, 50, 0.95, 1.0, False),
                (400, 50, 0.8, 2.0, True),
                (1000, 10, 0.96, 1.0, False),
            )
        ],
        coverage=NAMES,
    ),
    Table(
        "Measures of several groups",
        "Coverage in % of 95 % intervals of measures as in the previous table. The true AUCs "
        "of the groups are normal with mean .8 and standard deviation tau. `these` is the "
        'macro average of these groups (`over="rows"`), `new` the macro average of a '
        'population of groups (`over="groups"`), and `pooled` the pooled value of these '
        "groups.",
        [
            "groups of positives / negatives, tau",
            *OVER_GROUPS,
        ],
        [
            (
                f"{n_groups} groups of {m}/{n}, {tau}{', whole' if whole else ''}",
                measures_over_groups,
                (n_groups, m, n, tau, whole),
            )
            for n_groups, m, n, tau, whole in (
                (2, 50, 200, 0.0, False),
                (10, 20, 80, 0.05, False),
                (10, 50, 200, 0.05, True),
                (100, 20, 80, 0.05, False),
                (500, 5, 15, 0.05, False),
            )
        ],
        coverage=OVER_GROUPS,
    ),
]
