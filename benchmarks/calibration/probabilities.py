"""Calibration of scores that are probabilities: intercepts, slopes, Brier scores and the test."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import FairnessAudit, ScoreCounts
from skfedauc.audit.gaps import claims_of
from skfedauc.inference import calibration

# Groups of one simulated set of rows; a group is a run.
_GROUPS = 250
# Rows for the true Brier score
_MANY = 1_000_000


def perfect(
    n_runs: int, seed: int, n_rows: int, center: float, spread: float, weighted: bool
) -> list[str]:
    """Error rate of the test, and coverage of limits, of perfectly calibrated scores.

    The logits of the scores are normal with this mean and standard deviation.
    """
    rng = np.random.default_rng(seed)
    p = expit(center + spread * rng.normal(size=_MANY))
    truth = {"intercept": 0.0, "slope": 1.0, "brier": float((p * (1 - p)).mean()), "means": 0.0}
    rejected, single = [], []
    covered: dict[str, list[Any]] = {name: [] for name in truth}
    error, expected = [], []
    for _ in range(max(n_runs // _GROUPS, 1)):
        groups = np.repeat(np.arange(_GROUPS), n_rows)
        p = expit(center + spread * rng.normal(size=groups.size))
        weights = rng.gamma(0.5, size=groups.size) if weighted else None
        cells = ScoreCounts.from_predictions(
            rng.random(p.size) < p, p, groups=groups, sample_weight=weights
        ).cells
        test = calibration.test_calibration(cells)
        rejected.append(test.pvalue < 0.05)
        single.append(np.abs(test.spiegelhalter) > 1.959964)
        for name, found in (
            ("intercept", calibration.intercepts(cells, 0.95)),
            ("slope", calibration.slopes(cells, 0.95)),
            ("brier", calibration.brier_scores(cells, 0.95)),
            ("means", calibration.mean_scores(cells, 0.95)),
        ):
            is_covered = (found.low <= truth[name]) & (truth[name] <= found.high)
            covered[name].append(is_covered[~np.isnan(found.low)])
        bins = calibration.equal_count_bins(cells, 10)
        error.append(bins.error(_GROUPS))
        expected.append(bins.expected_error(_GROUPS))
    return [
        percent(np.concatenate(rejected)),
        percent(np.concatenate(single)),
        *(percent(np.concatenate(found)) for found in covered.values()),
        f"{np.mean(error):.4f}",
        f"{np.mean(expected):.4f}",
    ]


def false_claims(n_runs: int, seed: int, n_rows: int, n_groups: int) -> list[str]:
    """Share of audits of calibrated scores without gaps that make a claim.

    A claim on the calibration counts separately. Rows are assigned to groups at random.
    """
    rng = np.random.default_rng(seed)
    claimed, on_calibration, raw, n_claims = [], [], [], 0
    for _ in range(n_runs):
        p = expit(rng.normal(size=n_rows) * 1.2 - 1.0)
        audit = FairnessAudit.from_predictions(
            rng.random(n_rows) < p, p, groups=rng.integers(0, n_groups, n_rows)
        )
        (claims,) = claims_of([audit.comparison])
        claimed.append(any((adjusted < 0.05).any() for adjusted in claims.adjusted.values()))
        on_calibration.append((claims.adjusted["calibration"] < 0.05).any())
        raw.append((claims.pvalues["calibration"] < 0.05).any())
        n_claims = max(n_claims, claims.family.n_claims)
    return [f"{n_claims}", percent(claimed), percent(on_calibration), percent(raw)]


TABLES = [
    Table(
        "Calibration of probabilities",
        "Scores are the probabilities of the labels (perfect calibration), and their logits are "
        "normal. `positives` in the name of a line is the mean number of positives of a group. "
        "`test` is the error rate in % of the test of perfect calibration at 5 %, and "
        "`Spiegelhalter` is the error rate in % of the test with Spiegelhalter's z. The next "
        "four columns are the coverage in % of 95 % intervals: of the calibration intercept and "
        "slope if they are defined, of the Brier score, and of the difference of mean score and "
        "share of positives. The interval of the difference is conservative, because the binomial "
        "variance is an upper limit. `ECE` is the mean of the expected calibration error, and `ECE "
        "expected` is the computed mean under perfect calibration.",
        [
            "group",
            "test",
            "Spiegelhalter",
            "intercept",
            "slope",
            "Brier",
            "difference",
            "ECE",
            "ECE expected",
        ],
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
        coverage=["intercept", "slope", "Brier", "difference"],
        error_rate=["test", "Spiegelhalter"],
    ),
    Table(
        "Findings of audits of calibrated scores without any gap",
        "Rows are assigned to groups at random, and scores are the probabilities of the labels. "
        "`claims` is the largest number of tested claims. `any claim` is the share of audits in % "
        "with at least one claim (an adjusted p value below .05). `calibration` is the share with "
        "a claim on the calibration of a group. `any p value` is the share with at least one "
        "unadjusted p value of a test of calibration below .05.",
        ["audit", "claims", "any claim", "calibration", "any p value"],
        [
            (f"{n_groups} groups, {n_rows:,} rows", false_claims, (n_rows, n_groups))
            for n_groups, n_rows in ((2, 400), (5, 500), (5, 4_000), (20, 2_000))
        ],
        error_rate=["any claim", "calibration", "any p value"],
    ),
]
