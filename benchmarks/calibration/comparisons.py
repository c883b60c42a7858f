"""Comparisons of the audits of two models, whose groups may be shifted in opposite ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import AuditComparison, compare_models


def equal_models(
    n_runs: int, seed: int, n_rows: int, n_groups: int, correlation: float, shift: float
) -> list[str]:
    """Share of comparisons of two equally good models with a claim, and coverage of intervals."""
    rng = np.random.default_rng(seed)
    claims, unadjusted, n_claims, by_group, of_gaps = [], [], [], [], []
    for _ in range(n_runs):
        groups, y = rng.integers(0, n_groups, n_rows), rng.random(n_rows) < 0.3
        shared, *own = rng.normal(size=(3, n_rows))
        place = 1.2 * y + shift * np.linspace(-1.0, 1.0, n_groups)[groups] - 1.0
        scores = {
            name: expit(np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * of + place)
            for name, of in zip(("first", "second"), own, strict=True)
        }
        comparison = AuditComparison.from_predictions(y, scores, groups=groups)
        found = comparison._changes.claims
        claims.append(min(np.nanmin(p) for p in found.adjusted.values()) < 0.05)
        unadjusted.append(min(np.nanmin(p) for p in found.pvalues.values()) < 0.05)
        n_claims.append(comparison.n_claims)
        table = comparison.by_group
        by_group.append(_covers_zero(table["ci_low"], table["ci_high"]))
        limits = np.array(list(comparison._changes._gap_changes.values()))
        of_gaps.append(_covers_zero(limits[:, 0], limits[:, 1]))
    return [
        str(max(n_claims)),
        percent(claims),
        percent(unadjusted),
        percent(by_group),
        percent(of_gaps),
    ]


def opposite_shifts(n_runs: int, seed: int, n_rows: int, shift: float, fixed: bool) -> list[str]:
    """Error rates of the tests of AUCs of two equal models that shift one of two groups each.

    `fixed` fixes the numbers of positives and negatives of each group.
    """
    rng, found = np.random.default_rng(seed), []
    for _ in range(n_runs):
        if fixed:
            groups, y = np.divmod(np.arange(n_rows), n_rows // 2)
            y = y < 0.15 * n_rows
        else:
            groups, y = rng.integers(0, 2, n_rows), rng.random(n_rows) < 0.3
        base = rng.normal(size=n_rows) + y
        scores = {"first": base + shift * groups, "second": base + shift * (1 - groups)}
        comparison = AuditComparison.from_predictions(y, scores, groups=groups, threshold=None)
        # The tests of `AuditComparison.decomposition`, without its other columns
        tests = [comparison._changes._joint[name] for name in ("pooled", "cross")]
        without_groups = compare_models(y, scores).pvalue
        found.append([*(float(test.pvalue[0]) for test in tests), without_groups])
    return [percent(pvalues < 0.05) for pvalues in np.transpose(found)]


def _covers_zero(low: pd.Series | np.ndarray, high: pd.Series | np.ndarray) -> float:
    """Return the share of intervals that contain 0."""
    is_known = ~np.isnan(np.asarray(low))
    return float(np.mean((low <= 0)[is_known] & (high >= 0)[is_known]))


TABLES = [
    Table(
        "Comparisons of the audits of two equal models",
        "The normal scores of two models have the same distribution, with an AUC of .80 in each "
        "group, and no true change. The means of the scores of the groups are from minus the "
        "shift to the shift. `claims` is the largest number of tested changes. `any claim` "
        "is the share of comparisons (`AuditComparison`) in % with an adjusted p value below .05, "
        "and `any p value` the share with an unadjusted p value below .05. `changes` and `gaps` "
        "are the mean coverage in % of the 95 % intervals of the changes by group, and of the "
        "changes of gaps.",
        ["rows, groups, correlation of scores, shift", "claims", "any claim", "any p value",
         "changes", "gaps"],
        [
            (f"{n}, {g}, {rho}, {shift}", equal_models, (n, g, rho, shift))
            for n, g, rho, shift in (
                (300, 2, 0.5, 0.0),
                (1_000, 5, 0.5, 0.5),
                (1_000, 5, 0.95, 0.0),
                (4_000, 3, 0.9, 0.5),
            )
        ],
        coverage=["changes"],
        error_rate=["any claim", "any p value"],
    ),
    Table(
        "Comparisons of two models that shift groups in opposite ways",
        "Error rates in % of tests at 5 %. The first model adds the shift to the scores of one of "
        "two groups, and the second model adds the shift to the scores of the other group. Scores "
        "are normal, and 30 % of the rows of each group are positives. Both models have the same "
        "true AUCs: of all rows (`pooled`), and of pairs across groups (`cross`). The numbers of "
        "positives and negatives of each group are random or fixed. `without groups` is DeLong's "
        "test (`compare_models` without `groups=`).",
        ["rows, shift, numbers", "pooled", "cross", "without groups"],
        [
            (f"{n}, {shift}, {'fixed' if fixed else 'random'}", opposite_shifts, (n, shift, fixed))
            for n, shift in ((200, 0.3), (200, 1.0), (600, 1.0))
            for fixed in (False, True)
        ],
        error_rate=["pooled", "cross"],
    ),
]  # fmt: skip
