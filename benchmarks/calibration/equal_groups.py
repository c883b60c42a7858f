"""Tests of equal groups, and the largest difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.calibration.simulation import (
    HOSPITALS,
    Groups,
    draw_rows,
    groups,
    percent,
    report,
    zipf,
)
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC
from skfedauc.inference.differences import null_difference


def equal(n_runs: int, seed: int, of: Callable[[np.random.Generator], Groups]) -> list[str]:
    """Error rates of the test of equal groups and of the comparisons with the rest."""
    rng = np.random.default_rng(seed)
    rejected, rest = [], []
    for _ in range(n_runs):
        found = report(rng, of(rng))
        rejected.append(found.test_equal_groups().pvalue < 0.05)
        if found.n_groups <= 50:
            rest.append((found.compare_groups("rest")["pvalue_adjusted"] < 0.05).any())
    return [percent(rejected), percent(rest) if rest else ""]


def alike(n_groups: int, m: int, n: int, auc: float) -> Callable[[Any], Groups]:
    return lambda rng: groups(n_groups, m, n, auc)


def unlike(n_groups: int, m: int, n: int, auc: float) -> Callable[[Any], Groups]:
    """Equal AUCs with unequal prevalences, standard deviations and scales, drawn for each run."""

    def of(rng: np.random.Generator) -> Groups:
        rows, share = m + n, rng.uniform(0.5, 2.0, n_groups) * m / (m + n)
        m_of = np.clip((rows * share).round().astype(int), max(m // 2, 2), rows - 2)
        return groups(
            n_groups,
            m_of,
            rows - m_of,
            auc,
            ratio=np.exp(rng.uniform(-0.7, 0.7, n_groups)),
            scale=np.exp(rng.uniform(-1.5, 1.5, n_groups)),
            shift=rng.normal(0, 2, n_groups),
        )

    return of


def rare(n_runs: int, seed: int, of: Groups, digits: int | None) -> list[str]:
    """Error rate of the test of equal groups with rounded scores, or scores of two values."""
    rng = np.random.default_rng(seed)
    rejected, rest = [], []
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        scores = rows.scores if digits is None else np.round(rows.scores, digits)
        if digits == 0:
            scores = 2.0 + (rows.scores > 1.0)
        found = GroupAUC.from_predictions(rows.y, scores, groups=rows.groups, undefined="ignore")
        rejected.append(found.test_equal_groups().pvalue < 0.05)
        rest.append((found.compare_groups("rest")["pvalue_adjusted"] < 0.05).any())
    return [percent(rejected), percent(rest)]


def weighted_equal(n_runs: int, seed: int, weights: str, parameter: float) -> list[str]:
    """Error rate of the test of equal groups with weighted rows."""
    rng = np.random.default_rng(seed)
    rejected, rest, of = [], [], groups(3, 100, 300, 0.8)
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        if weights == "gamma":
            weight = rng.gamma(parameter, size=rows.y.size) + 1e-12
        else:
            weight = rng.lognormal(sigma=parameter, size=rows.y.size)
        found = GroupAUC.from_predictions(
            rows.y, rows.scores, groups=rows.groups, sample_weight=weight, undefined="ignore"
        )
        rejected.append(found.test_equal_groups().pvalue < 0.05)
        rest.append((found.compare_groups("rest")["pvalue_adjusted"] < 0.05).any())
    return [percent(rejected), percent(rest)]


def chance(n_runs: int, seed: int, n_groups: int, m: int, n: int) -> list[str]:
    """Mean difference of equal groups, and the mean of the estimated difference."""
    rng, seen, expected = np.random.default_rng(seed), [], []
    for run in range(n_runs):
        found = report(rng, groups(n_groups, m, n, 0.8))
        seen.append(found.estimate)
        if run < 50:
            expected.append(null_difference(found._estimates.variances))
    return [f"{np.mean(seen):.4f}", f"{np.mean(expected):.4f}"]


def extremes(n_runs: int, seed: int, of: Groups) -> list[str]:
    """Coverage of the intervals of the worst AUC and of the difference, by two methods."""
    rng = np.random.default_rng(seed)
    truth = {"worst": of.auc.min(), "difference": np.ptp(of.auc)}
    held: dict[tuple[str, str], list[bool]] = {}
    for _ in range(n_runs):
        found = report(rng, of)
        for method in ("logit", "exact"):
            table = found.confidence_intervals(method=method, of="statistics", over="rows")
            for name, value in truth.items():
                low, high = table.at[name, "ci_low"], table.at[name, "ci_high"]
                held.setdefault((method, name), []).append(low <= value <= high)
    return [percent(values) for values in held.values()]


def largest(n_runs: int, seed: int, of: Groups, kind: str) -> list[str]:
    """Test of the largest difference: rejections, contradictions, coverage; errors of pairs.

    Scores are normal. "whole" rounds the scores, "two values" is 1 for scores above 0.8 and 0 for
    other scores, and a number is the sigma of lognormal weights of the rows.
    """
    rng = np.random.default_rng(seed)
    rejected, contradicts, covers, pairs = [], [], [], []
    truth, alike = float(np.ptp(of.auc)), np.subtract.outer(of.auc, of.auc)
    first, second = np.triu_indices(len(of.auc), 1)
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        scores, weights = rows.scores, None
        if kind == "whole":
            scores = scores.round()
        elif kind == "two values":
            scores = (scores > 0.8).astype(float)
        elif kind:
            weights = np.exp(rng.normal(0, float(kind), scores.size))
        found = GroupAUC.from_predictions(rows.y, scores, groups=rows.groups, sample_weight=weights)
        test = found.test_difference()
        rejected.append(test.pvalue < 0.05)
        contradicts.append((test.pvalue < 0.05) != (test.ci_low > 0))
        covers.append(test.ci_low <= truth <= test.ci_high)
        if truth > 0:
            wrong = alike[first, second] == 0
            pairs.append((found.compare_groups()["pvalue_adjusted"][wrong] < 0.05).any())
    # If all AUCs are equal, a pair is rejected whenever the largest difference is rejected.
    return [percent(v) for v in (rejected, contradicts, covers, pairs or rejected)]


def power(n_runs: int, seed: int, of: Groups) -> list[str]:
    """Power of three tests of equal AUCs.

    The chi-squared test is Cochran's Q with DeLong's variances, computed by statsmodels.
    """
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(seed)
    pvalues = []
    for _ in range(n_runs):
        found = report(rng, of)
        chi_squared = combine_effects(
            found.by_group["auc"].to_numpy(), found._estimates.variances.delong
        )
        pvalues.append(
            (
                found.test_equal_groups().pvalue,
                found.test_difference().pvalue,
                chi_squared.test_homogeneity().pvalue,
            )
        )
    return [percent(of_test < 0.05) for of_test in np.transpose(pvalues)]


def lower(n_groups: int, m: int, n: int, n_lower: int, gap: float) -> Groups:
    """Groups of AUC .8, except for some groups whose AUC is lower by `gap`."""
    return groups(n_groups, m, n, 0.8 - gap * (np.arange(n_groups) < n_lower))


POWER = [
    (
        f"{g} groups of {m}/{n}, {f'{n_lower} lower by {gap}' if gap else 'no gap'}",
        power,
        (lower(g, m, n, n_lower, gap),),
    )
    for g, m, n in ((2, 20, 80), (2, 100, 400), (5, 20, 80), (5, 100, 400), (20, 20, 80),
                    (20, 100, 400), (100, 20, 80))
    for n_lower in ((1,) if g == 2 else (1, g // 2))
    for gap in ((0.0, 0.05, 0.1) if n_lower == 1 else (0.05, 0.1))
]  # fmt: skip


DESIGNS = [
    ("2 groups of 50/200, AUC .8", groups(2, 50, 200, 0.8), ""),
    ("3 groups of 20/2,000, AUC .95", groups(3, 20, 2_000, 0.95), ""),
    ("2 groups of 20/2,000, AUC .95, ratio 2", groups(2, 20, 2_000, 0.95, 2.0), ""),
    ("5 groups of 8/22 to 100/300, AUC .9", groups(5, *HOSPITALS, 0.9), ""),
    ("10 groups of 20/200, AUC .8, ratio 2", groups(10, 20, 200, 0.8, 2.0), ""),
    ("5 groups of 50/200, AUC .7 to .85", groups(5, 50, 200, [0.7, 0.8, 0.8, 0.8, 0.85]), ""),
]


FURTHER_DESIGNS = [
    ("3 groups of 20/200, AUC .9, ratios .5, 1, 2", groups(3, 20, 200, 0.9, [0.5, 1.0, 2.0]), ""),
    ("2 groups of 10/500, AUC .8, ratio 3", groups(2, 10, 500, 0.8, 3.0), ""),
    ("5 groups of 5/500, AUC .7, ratio 3", groups(5, 5, 500, 0.7, 3.0), ""),
    ("10 groups of 20/500, AUC .9, ratio 3", groups(10, 20, 500, 0.9, 3.0), ""),
    ("10 groups of Zipf sizes, AUC .8", groups(10, *zipf(10), 0.8), ""),
    ("10 groups of 5/15, AUC .7", groups(10, 5, 15, 0.7), ""),
    ("5 groups of 50/200, AUC .8, whole scores", groups(5, 50, 200, 0.8), "whole"),
    ("5 groups of 20/200, AUC .9, two values", groups(5, 20, 200, 0.9), "two values"),
    ("5 groups of 50/200, AUC .8, lognormal weights, sigma 1", groups(5, 50, 200, 0.8), "1"),
    ("3 groups of 4/4, AUC .8, lognormal weights, sigma 3", groups(3, 4, 4, 0.8), "3"),
    ("2 groups of 50/200, AUC .7 and .8", groups(2, 50, 200, [0.7, 0.8]), ""),
    (
        "10 groups of 50/200, five of AUC .7 and five of .8",
        groups(10, 50, 200, np.repeat([0.7, 0.8], 5)),
        "",
    ),
    ("4 groups of 20/2,000, AUC .9 and .97", groups(4, 20, 2_000, [0.9, 0.97, 0.97, 0.97]), ""),
]


NULL = [
    (f"{g} groups of {m}/{n}, AUC {auc}, {name}", equal, (make(g, m, n, auc),))
    for g, m, n in ((4, 20, 80), (10, 20, 80), (10, 50, 200), (50, 20, 80), (10, 5, 15))
    for auc in (0.7, 0.9)
    for name, make in (("alike", alike), ("unlike", unlike))
]


TABLES = [
    Table(
        "Tests of equal groups with equal AUCs",
        "Error rates in % of tests at 5 %. `equal groups` is the error rate of "
        "`test_equal_groups`. `with the rest` is the share of runs with at least one error of "
        '`compare_groups("rest")`. "Unlike" groups differ in the share of positives (by a '
        "factor of up to 2), in the ratio of standard deviations, in scale and in shift.",
        ["groups of positives/negatives", "equal groups", "with the rest"],
        NULL,
        error_rate=["equal groups", "with the rest"],
    ),
    Table(
        "Tests of many very small groups with equal AUCs",
        "Error rate in % of `test_equal_groups` at 5 %, in its form for very small groups.",
        ["groups of positives/negatives", "equal groups", ""],
        [
            (f"{g:,} groups of {m}/{n}, AUC {auc}, {name}", equal, (make(g, m, n, auc),))
            for g, m, n in ((1000, 5, 15), (200, 5, 15), (1000, 2, 6))
            for auc in (0.7, 0.9)
            for name, make in (("alike", alike), ("unlike", unlike))
        ],
        error_rate=["equal groups"],
    ),
    Table(
        "Rare positives, ties and unequal sizes with equal AUCs",
        "Error rates in % of tests at 5 %. `equal groups` is the error rate of "
        "`test_equal_groups`. `with the rest` is the share of runs with at least one error of "
        '`compare_groups("rest")`. The ratio is the standard deviation of the positives '
        "divided by the standard deviation of the negatives.",
        ["groups of positives/negatives", "equal groups", "with the rest"],
        [
            ("10 groups of 20/2,000, AUC .9", rare, (groups(10, 20, 2000, 0.9), None)),
            ("10 groups of 20/2,000, AUC .97", rare, (groups(10, 20, 2000, 0.97), None)),
            (
                "10 groups of 20/400, AUC .95, ratio 2",
                rare,
                (groups(10, 20, 400, 0.95, ratio=2.0), None),
            ),
            (
                "2 groups of 20/400, AUC .95, ratio 2",
                rare,
                (groups(2, 20, 400, 0.95, ratio=2.0), None),
            ),
            ("2 groups of 20/400, AUC .9", rare, (groups(2, 20, 400, 0.9), None)),
            ("10 groups of 10/40, AUC .9", rare, (groups(10, 10, 40, 0.9), None)),
            ("10 groups of 3/50, AUC .8", rare, (groups(10, 3, 50, 0.8), None)),
            (
                "10 groups of 20/400, AUC .8 before scores are reduced to two values",
                rare,
                (groups(10, 20, 400, 0.8), 0),
            ),
            (
                "500/5,000 of ratio .5 and 9 groups of 10/100 of ratio 2, AUC .95",
                rare,
                (groups(10, [500, *[10] * 9], [5000, *[100] * 9], 0.95, [0.5, *[2] * 9]), None),
            ),
            *(
                (
                    f"500/2,000 and {k - 1} of {m}/{10 * m}, AUC {auc}, ratio {ratio} in these",
                    rare,
                    (
                        groups(
                            k,
                            [500, *[m] * (k - 1)],
                            [2000, *[10 * m] * (k - 1)],
                            auc,
                            [1, *[ratio] * (k - 1)],
                        ),
                        None,
                    ),
                )
                for k, m, auc, ratio in (
                    (2, 2, 0.8, 1),
                    (2, 5, 0.95, 2),
                    (2, 10, 0.95, 2),
                    (3, 5, 0.95, 2),
                    (3, 10, 0.8, 1),
                    (3, 10, 0.95, 2),
                    (3, 20, 0.95, 2),
                    (5, 10, 0.95, 2),
                )
            ),
            (
                "30 groups by Zipf's law, 3/26 to 200/800, AUC .8",
                rare,
                (
                    groups(
                        30,
                        np.maximum(200 / np.arange(1, 31), 3).astype(int),
                        np.maximum(800 / np.arange(1, 31), 12).astype(int),
                        0.8,
                    ),
                    None,
                ),
            ),
        ],
        error_rate=["equal groups", "with the rest"],
    ),
    Table(
        "Equal groups of weighted rows",
        "Error rates in % of tests at 5 %, as in the previous table. Three groups have 100 "
        "positives and 300 negatives each, and AUC .8.",
        ["weights", "equal groups", "with the rest"],
        [
            ("gamma, shape 0.5", weighted_equal, ("gamma", 0.5)),
            ("gamma, shape 1", weighted_equal, ("gamma", 1.0)),
            ("lognormal, sigma 1", weighted_equal, ("lognormal", 1.0)),
            ("lognormal, sigma 2", weighted_equal, ("lognormal", 2.0)),
            ("lognormal, sigma 3", weighted_equal, ("lognormal", 3.0)),
        ],
        error_rate=["equal groups", "with the rest"],
    ),
    Table(
        "Power of tests of equal groups",
        "Share of runs in % in which the p value is below 5 %: of `test_equal_groups`, of "
        "`test_difference`, and of the chi-squared test (Cochran's Q with DeLong's variances, "
        "computed by statsmodels). The AUC is .8, except for the groups that are lower by the "
        "gap. Without a gap, the share is the error rate.",
        ["groups of positives/negatives", "equal groups", "largest difference", "chi-squared"],
        POWER,
        others=[Plot("Power in %", ["equal groups", "largest difference", "chi-squared"])],
    ),
]

GAPS = [
    Table(
        "The largest difference",
        "`p < .05` is the share of runs in % in which the p value of `test_difference` is "
        "below 5 %. `disagree` is the share of runs in % in which the p value is below 5 % and "
        "the interval contains 0, or the reverse. `coverage` is the coverage in % of the 95 % "
        "interval. `pair errors` is the share of runs in % in which `compare_groups()` finds a "
        "difference between two groups with equal AUCs. The ratio is the standard deviation of "
        "the positives divided by the standard deviation of the negatives.",
        ["groups", "p < .05", "disagree", "coverage", "pair errors"],
        [(name, largest, (of, kind)) for name, of, kind in DESIGNS],
        coverage=["coverage"],
        error_rate=["pair errors"],
    ),
    Table(
        "Further designs of the largest difference",
        "The columns have the same meaning as in the previous table. The designs have unequal "
        "standard deviations or sizes, tied scores or weighted rows.",
        ["groups", "p < .05", "disagree", "coverage", "pair errors"],
        [(name, largest, (of, kind)) for name, of, kind in FURTHER_DESIGNS],
        coverage=["coverage"],
        error_rate=["pair errors"],
    ),
    Table(
        "Largest difference between groups with equal AUCs",
        "`observed` is the mean difference between the largest and the smallest observed AUC "
        "of groups with true AUC .8. `expected` is the mean of `null_difference`.",
        ["groups", "observed", "expected"],
        [
            (f"{g} groups of {m}/{n}", chance, (g, m, n))
            for g, m, n in ((4, 5, 15), (10, 5, 15), (10, 20, 80), (10, 50, 200), (100, 20, 80))
        ],
        others=[Plot("Mean difference of AUCs", ["observed", "expected"])],
    ),
    Table(
        "Worst and difference",
        "Coverage in % of 95 % intervals of the worst AUC and of the difference, by two methods.",
        ["groups", "worst, logit", "difference, logit", "worst, exact", "difference, exact"],
        [
            (
                f"{len(auc)} groups of 50/200, {name}",
                extremes,
                (groups(len(auc), 50, 200, auc),),
            )
            for name, auc in (
                ("all AUC .75", np.full(5, 0.75)),
                ("all AUC .9", np.full(10, 0.9)),
                ("AUC .7 to .9", np.linspace(0.7, 0.9, 5)),
                ("one of AUC .6, others .8", np.r_[0.6, np.full(9, 0.8)]),
            )
        ]
        + [
            (
                f"{len(m)} groups of {name}, all AUC {auc}",
                extremes,
                (groups(len(m), m, n, auc),),
            )
            for name, m, n, auc in (
                ("8/22 to 100/300", *HOSPITALS, 0.9),
                ("8/22 to 100/300", *HOSPITALS, 0.95),
                ("5/15", [5] * 10, [15] * 10, 0.7),
                ("3/50", [3] * 5, [50] * 5, 0.8),
            )
        ],
        coverage=["worst, logit", "difference, logit", "worst, exact", "difference, exact"],
    ),
]
