"""Tests with a margin, and planned numbers of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.calibration.simulation import (
    Groups,
    auc_of_rounded_scores,
    draw_rows,
    groups,
    in_whole_scores,
    percent,
    report,
)
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC, rows_needed


def at_margin(n_runs: int, seed: int, of: Groups, whole: bool) -> list[str]:
    """Error rates of the tests with a margin if the true value is the bound.

    The reference is the smallest true AUC, and the margin of the test of equivalence is the
    largest true difference.
    """
    rng, worst, equivalent = np.random.default_rng(seed), [], []
    aucs = [auc_of_rounded_scores(a) for a in of.auc] if whole else of.auc.tolist()
    for _ in range(n_runs):
        found = GroupAUC(in_whole_scores(draw_rows(rng, of))) if whole else report(rng, of)
        worst.append(found.test_margin(0.0, reference=min(aucs)).is_shown)
        if len(aucs) > 1:
            equivalent.append(found.test_margin(max(aucs) - min(aucs)).is_shown)
    return [percent(equivalent) if equivalent else "", percent(worst)]


AT_MARGIN = [
    ("1 group of 50/200, AUC .8", groups(1, 50, 200, 0.8), False),
    ("1 group of 50/200, AUC .8", groups(1, 50, 200, 0.8), True),
    ("1 group of 20/2,000, AUC .95", groups(1, 20, 2_000, 0.95), False),
    ("1 group of 20/2,000, AUC .95, ratio 2", groups(1, 20, 2_000, 0.95, 2.0), False),
    ("2 groups of 50/200, AUC .7 and .8", groups(2, 50, 200, [0.7, 0.8]), False),
    ("2 groups of 50/200, AUC .7 and .8", groups(2, 50, 200, [0.7, 0.8]), True),
    ("2 groups of 20/2,000, AUC .9 and .97", groups(2, 20, 2_000, [0.9, 0.97]), False),
    (
        "10 groups of 500/2,000, AUC .7 to .85",
        groups(10, 500, 2_000, [0.7, *[0.8] * 8, 0.85]),
        False,
    ),
    (
        "500 groups of 50/200, one AUC of .6, others .9",
        groups(500, 50, 200, [0.6, *[0.9] * 499]),
        False,
    ),
]


def planned(
    n_runs: int, seed: int, target: str, value: float, auc: float, share: float, n_groups: int,
    ratio: float, whole: bool,
) -> list[str]:  # fmt: skip
    """Rows per group of a plan, and the simulated power of the test, or the mean width."""
    rng = np.random.default_rng(seed)
    settings: dict[str, Any] = {target: value, "prevalence": share, "n_groups": n_groups}
    if whole:
        # A pilot report of 400,000 rows, so that the number of rows has no sampling error
        m = round(400_000 * share)
        pilot = in_whole_scores(draw_rows(rng, groups(1, m, 400_000 - m, auc)))
        plan = rows_needed(GroupAUC(pilot), **settings)
    else:
        plan = rows_needed(auc, **settings, sd_ratio=ratio)
    of_group = np.full(n_groups, auc)
    if target == "difference":
        of_group[0] -= value
    of = groups(n_groups, plan.n_positives, plan.n_negatives, of_group, ratio)
    reached = []
    for _ in range(n_runs):
        found = GroupAUC(in_whole_scores(draw_rows(rng, of))) if whole else report(rng, of)
        if target == "width":
            table = found.confidence_intervals()
            reached.append((table["ci_high"] - table["ci_low"]).mean())
        elif target == "difference":
            reached.append(found.test_difference().pvalue < 0.05)
        elif target == "equivalence":
            reached.append(found.test_margin(value).is_shown)
        else:
            true = auc_of_rounded_scores(auc) if whole else auc
            reached.append(found.test_margin(value, reference=true).is_shown)
    shown = ["", f"{np.mean(reached):.4f}"] if target == "width" else [percent(reached), ""]
    return [f"{plan.n_positives:,}", f"{plan.n_rows:,}", *shown]


# Target, value, AUC, share of positives, number of groups, ratio, whole scores, name
PLANS = [
    ("width", 0.05, 0.8, 0.1, 1, 1.0, False, ""),
    ("width", 0.1, 0.95, 0.02, 1, 1.0, False, ""),
    ("difference", 0.05, 0.8, 0.1, 2, 1.0, False, ""),
    ("difference", 0.05, 0.9, 0.1, 10, 1.0, False, ""),
    ("difference", 0.1, 0.95, 0.02, 2, 2.0, False, ", ratio 2"),
    ("difference", 0.2, 0.9, 0.2, 500, 1.0, False, ""),
    ("equivalence", 0.05, 0.8, 0.1, 2, 1.0, False, ""),
    ("equivalence", 0.1, 0.9, 0.3, 10, 1.0, False, ""),
    ("equivalence", 0.1, 0.8, 0.3, 2, 1.0, True, ", whole scores"),
    ("equivalence", 0.2, 0.9, 0.2, 500, 1.0, False, ""),
    ("non_inferiority", 0.05, 0.8, 0.1, 1, 1.0, False, ""),
    ("non_inferiority", 0.05, 0.9, 0.1, 5, 1.0, False, ""),
    ("non_inferiority", 0.03, 0.95, 0.02, 5, 1.0, False, ""),
    ("non_inferiority", 0.05, 0.8, 0.3, 5, 1.0, True, ", whole scores"),
    ("non_inferiority", 0.2, 0.9, 0.2, 500, 1.0, False, ""),
]


TABLES = [
    Table(
        "Tests with a margin",
        "Error rates in % of tests at 5 % if the true value is the bound. `equivalence` is the "
        "error rate of `test_margin` with the largest true difference as the margin. "
        "`worst` is the error rate of `test_margin` with the smallest true AUC as the reference. "
        "Whole scores are rounded to whole numbers.",
        ["groups of positives/negatives", "equivalence", "worst"],
        [
            (f"{name}{', whole scores' if whole else ''}", at_margin, (of, whole))
            for name, of, whole in AT_MARGIN
        ],
        error_rate=("equivalence", "worst"),
    ),
    Table(
        "Planned numbers of rows",
        "`positives` and `rows` are the numbers per group that `rows_needed` returns for a "
        "power of 80 % (or for the width). `power` is the simulated power in % of the test that "
        "was planned, and `width` is the mean width of the intervals. The ratio is the standard "
        "deviation of the positives divided by the standard deviation of the negatives. Whole "
        "scores are rounded to whole numbers, and the plan is made from a pilot report of "
        "400,000 such rows.",
        ["target, AUC, share of positives, groups", "positives", "rows", "power", "width"],
        [
            (
                f"{target} {value}, {auc}, {share}, {n_groups}{kind}",
                planned,
                (target, value, auc, share, n_groups, ratio, whole),
            )
            for target, value, auc, share, n_groups, ratio, whole, kind in PLANS
        ],
        others=[Plot("Power in %", ["power"], 80.0, True)],
    ),
]
