"""Comparisons of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import (
    GroupAUC,
    auc_critical_difference,
    compare_candidates,
    compare_models,
)
from skfedauc.measures import AveragePrecision, Measure, PartialAUC


def paired(
    n_runs: int, seed: int, m: int, n: int, auc: float, correlation: float, ratio: float = 1.0
) -> list[str]:
    """Error rate of the comparison of two models with equal AUCs.

    `ratio` is the standard deviation of the positives by the second model.
    """
    rng, rejected = np.random.default_rng(seed), []
    y = np.arange(m + n) < m
    for _ in range(n_runs):
        shared, *own = rng.normal(size=(3, m + n))
        a, b = (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise for noise in own)
        a, b = (
            np.where(y, of * scores + ndtri(auc) * np.sqrt(1.0 + of**2), scores)
            for of, scores in ((1.0, a), (ratio, b))
        )
        rejected.append(compare_models(y, {"a": a, "b": b}).pvalue < 0.05)
    return [percent(rejected)]


def paired_interval(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, auc: float, other: float
) -> list[str]:
    """Coverage of the interval of the difference of two models; their scores correlate by .5."""
    rng = np.random.default_rng(seed)
    covered: dict[str, list[bool]] = {"pooled": [], "macro": []}
    y = np.tile(np.arange(m + n) < m, n_groups)
    group = np.repeat(np.arange(n_groups), m + n)
    apart = np.sqrt(2.0) * ndtri([auc, other])
    for _ in range(n_runs):
        shared, *own = np.sqrt(0.5) * rng.normal(size=(3, y.size))
        scores = {i: shared + own[i] + apart[i] * y for i in (1, 0)}
        for name, of_runs in covered.items():
            options: dict[str, Any] = {"groups": group, "statistic": name, "min_per_class": 1}
            table = compare_models(y, scores, **options).table
            found = table.loc[(1, 0)]
            of_runs.append(bool(found["ci_low"] <= auc - other <= found["ci_high"]))
    return [percent(of_runs) for of_runs in covered.values()]


MEASURES = {
    "partial AUC": PartialAUC(max_fpr=0.1),
    "partial AUC, min_tpr": PartialAUC(min_tpr=0.9),
    "average precision": AveragePrecision(),
}
# There is no test of averages of the average precision.
OF_MEASURES = [f"{name}, {of}" for name in MEASURES for of in ("pooled", "macro")][:-1]


def true_measure(measure: Measure, apart: float, ratio: float, m: int, n: int) -> float:
    """Return the measure of positives with mean `apart` and another standard deviation.

    The negatives are standard normal. Partial areas are shares of the largest possible area.
    """
    if isinstance(measure, AveragePrecision):
        scores = np.linspace(-12.0, 40.0, 20_001)
        fpr, tpr = ndtr(-scores), ndtr((apart - scores) / ratio)
        precision = m * tpr / (m * tpr + n * fpr + 1e-300)
        return float(-np.trapezoid(precision, tpr))
    assert isinstance(measure, PartialAUC)
    rates = (np.arange(20_000) + 0.5) / 20_000 * measure.width
    if measure.min_tpr is None:
        return float(ndtr((apart + ndtri(rates)) / ratio).mean())
    return float(ndtr(apart + ratio * ndtri(rates)).mean())


def by_measure(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, auc: float, correlation: float,
    ratio: float,
) -> list[str]:  # fmt: skip
    """Error rates of the comparison of two models with equal measures.

    The positives of the second model have the standard deviation `ratio`, and the mean with which
    the true measures of both models are equal.
    """
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(m + n) < m, n_groups)
    site = np.repeat(np.arange(n_groups), m + n) if n_groups > 1 else None
    apart = ndtri(auc) * np.sqrt(2.0)
    of_second = {}
    for name, measure in MEASURES.items():
        truth = true_measure(measure, apart, 1.0, m, n)
        of_second[name] = brentq(
            lambda mean, measure=measure, truth=truth: (
                true_measure(measure, mean, ratio, m, n) - truth
            ),
            -8.0,
            14.0,
        )
    pvalues: dict[str, list[list[float]]] = {name: [] for name in MEASURES}
    for _ in range(n_runs):
        shared, *own = rng.normal(size=(3, y.size))
        a, b = (np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * z for z in own)
        for name, measure in MEASURES.items():
            second = np.where(y, of_second[name] + ratio * b, b)
            models = {"first": a + apart * y, "second": second}
            options: dict[str, Any] = {"groups": site, "measure": measure, "min_per_class": 1}
            statistics: list[Any] = ["pooled", "macro"]
            pvalues[name].append(
                [compare_models(y, models, statistic=s, **options).pvalue for s in statistics]
            )
    # There is no test with few rows within the rates, and no average of a single group.
    columns = np.concatenate([np.transpose(values) for values in pvalues.values()])
    cells = ["" if np.isnan(column).any() else percent(column < 0.05) for column in columns]
    return cells[: len(OF_MEASURES)]


def several(
    n_runs: int, seed: int, n_models: int, n_groups: int, m: int, n: int, auc: float,
    correlation: float, n_scores: int | None
) -> list[str]:  # fmt: skip
    """Share of runs in which any two of several equally good models differ.

    `n_scores` is the number of distinct scores; None draws continuous scores.
    """
    rng, rejected = np.random.default_rng(seed), []
    y = np.tile(np.arange(m + n) < m, n_groups)
    site = np.repeat(np.arange(n_groups), m + n)
    apart = ndtri(auc) * np.sqrt(2.0)
    for _ in range(n_runs):
        shared, own = rng.normal(size=(y.size, 1)), rng.normal(size=(y.size, n_models))
        scores = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
        scores += y[:, None] * apart
        if n_scores:
            scores = np.floor(np.clip(ndtr(scores), 0, 1 - 1e-9) * n_scores)
        statistic: Any = "pooled" if n_groups == 1 else "positives"
        options: dict[str, Any] = {"groups": site, "statistic": statistic, "min_per_class": 1}
        table = compare_models(y, scores, **options).table
        pvalue = table["pvalue"].min()
        rejected.append(
            [table["pvalue_adjusted"].min() < 0.05, pvalue * len(table) < 0.05, pvalue < 0.05]
        )
    return [percent(rate) for rate in np.transpose(rejected)]


def critical(n_runs: int, seed: int, m: int, n: int, auc: float) -> list[str]:
    """Share of pairs of test sets that differ by more than each critical difference."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(m + n) < m, 3 * n_runs)
    scores = rng.normal(size=y.size) + ndtri(auc) * np.sqrt(2.0) * y
    codes = np.repeat(np.arange(3 * n_runs), m + n)
    of_set = GroupAUC.from_predictions(y, scores, groups=codes).by_group["auc"].to_numpy()
    a, b, _ = of_set.reshape(n_runs, 3).T
    apart = np.abs(a - b)
    beyond = apart > auc_critical_difference(auc, m, n)
    # The p value is below 5 % where the AUCs differ by more than the critical difference of their
    # mean. Two AUCs of 1 do not differ.
    center = np.minimum((a + b) / 2, np.nextafter(1.0, 0.0))
    significant = [
        gap > auc_critical_difference(mean, m, n) for gap, mean in zip(apart, center, strict=True)
    ]
    return [percent(beyond), percent(significant)]


def candidates_at_margin(n_runs: int, seed: int, n_candidates: int, n_splits: int) -> list[str]:
    """Share of runs in which a candidate that is worse by the margin is found not inferior.

    Scores of a candidate in two splits have correlation .2, the share of rows in a test set. This
    is the assumption of Nadeau and Bengio.
    """
    rng, margin, wrong = np.random.default_rng(seed), 0.1, []
    true = np.where(np.arange(n_candidates) == 0, 0.8, 0.8 - margin)
    parameters = [{"number": number} for number in range(n_candidates)]
    for _ in range(n_runs):
        of_search = np.sqrt(0.2) * rng.normal(size=n_candidates)
        of_split = np.sqrt(0.8) * rng.normal(size=(n_splits, n_candidates))
        scores = true + 0.02 * (of_search + of_split)
        results = {f"split{i}_test_score": split for i, split in enumerate(scores)}
        results |= {"mean_test_score": scores.mean(axis=0), "params": parameters}
        table = compare_candidates(results, "score", test_fraction=0.2, margin=margin)
        shown = table.index[table["not_inferior"]]
        wrong.append(any(true[i] <= true[table.index[0]] - margin for i in shown))
    return [percent(wrong)]


TABLES = [
    Table(
        "Two models on the same rows",
        "Error rate in % of the test at 5 % for two models of equal AUC. In the last lines, the "
        "positives of the second model have a larger standard deviation.",
        ["positives/negatives, AUC, correlation of scores", "error rate"],
        [
            *(
                (f"{m}/{n}, {auc}, {rho}", paired, (m, n, auc, rho))
                for m, n in ((20, 80), (50, 200))
                for auc in (0.7, 0.9)
                for rho in (0.0, 0.5, 0.9, 0.99)
            ),
            *(
                (f"{m}/{n}, {auc}, 0.5, ratio {ratio}", paired, (m, n, auc, 0.5, ratio))
                for m, n, auc, ratio in (
                    (10, 500, 0.9, 3),
                    (20, 500, 0.95, 3),
                    (50, 500, 0.95, 3),
                    (50, 500, 0.95, 2),
                    (200, 800, 0.9, 3),
                )
            ),
        ],
        error_rate=["error rate"],
    ),
    Table(
        "Interval of the difference of two models",
        "Coverage in % of 95 % intervals of the difference of two models with different AUCs. The "
        "scores have the correlation .5, and all groups have the same AUCs.",
        ["groups of positives/negatives, AUCs", "pooled", "macro"],
        [
            (f"{g} of {m}/{n}, {auc} and {other}", paired_interval, (g, m, n, auc, other))
            for g, m, n, auc, other in (
                (1, 10, 400, 0.95, 0.85),
                (2, 5, 200, 0.95, 0.85),
                (2, 5, 200, 0.98, 0.7),
                (2, 20, 400, 0.95, 0.85),
                (5, 10, 400, 0.95, 0.85),
                (2, 50, 200, 0.9, 0.8),
            )
        ],
        share=0.5,
        coverage=["pooled", "macro"],
    ),
    Table(
        "Two models on the same rows, by other measures",
        "Error rates in % of tests at 5 % for two models with equal measures: the partial AUC with "
        "`max_fpr=0.1` and with `min_tpr=0.9`, and the average precision. The positives of the "
        "first model have the standard deviation 1, and those of the second model the standard "
        "deviation in the name of the line. `pooled` compares the measures of all rows, and "
        "`macro` the averages of the groups. Cells are empty without a test, because few rows are "
        "within the rates.",
        [
            "groups of positives/negatives, AUC, correlation of scores, standard deviation",
            *OF_MEASURES,
        ],
        [
            (
                f"{g} of {m}/{n}, {auc}, {rho}, {ratio}",
                by_measure,
                (g, m, n, auc, rho, ratio),
            )
            for g, m, n, auc, rho, ratio in (
                (1, 20, 80, 0.75, 0.5, 1.0),
                (1, 20, 80, 0.75, 0.5, 2.0),
                (1, 50, 200, 0.75, 0.5, 1.0),
                (1, 50, 200, 0.75, 0.5, 2.0),
                (1, 50, 200, 0.9, 0.95, 2.0),
                (1, 20, 2000, 0.75, 0.5, 2.0),
                (1, 500, 500, 0.9, 0.5, 2.0),
                (5, 20, 80, 0.75, 0.5, 1.0),
                (5, 20, 80, 0.75, 0.5, 2.0),
                (20, 20, 80, 0.75, 0.5, 2.0),
                (20, 50, 200, 0.75, 0.5, 2.0),
            )
        ],
        error_rate=OF_MEASURES,
    ),
    Table(
        "Several models on the same rows",
        "Share in % of runs in which any two of several models of equal AUC differ at 5 %: p "
        "values of `compare_models` adjusted by the largest difference, p values with "
        "Bonferroni's adjustment, and unadjusted p values. The pooled AUC is compared, or the "
        "average by positives of several groups.",
        [
            "models, groups of positives/negatives, AUC, correlation of scores",
            "adjusted",
            "Bonferroni",
            "unadjusted",
        ],
        [
            (
                f"{k}, {g} of {m}/{n}, {auc}, {rho}"
                f"{f', {n_scores} distinct scores' if n_scores else ''}",
                several,
                (k, g, m, n, auc, rho, n_scores),
            )
            for k, g, m, n, auc, rho, n_scores in (
                (20, 1, 10, 100, 0.7, 0.5, None),
                (10, 1, 20, 80, 0.8, 0.5, None),
                (10, 1, 50, 200, 0.7, 0.5, None),
                (3, 1, 20, 80, 0.7, 0.5, None),
                (3, 1, 20, 80, 0.9, 0.9, None),
                (3, 1, 50, 200, 0.9, 0.5, 5),
                (10, 1, 50, 200, 0.9, 0.9, None),
                (3, 2, 50, 200, 0.8, 0.5, None),
                (3, 10, 20, 80, 0.8, 0.5, None),
                (3, 500, 5, 20, 0.8, 0.5, None),
            )
        ],
        error_rate=("adjusted", "Bonferroni"),
    ),
    Table(
        "Critical difference",
        "Each pair of test sets has normal scores and equal true AUCs. `difference` is the share "
        "of pairs in % whose AUCs differ by more than the critical difference at 5 % "
        "(`auc_critical_difference`). `p value` is the share of pairs in % whose "
        "AUCs differ by more than the critical difference of their mean, so that the p value is "
        "below 5 %.",
        ["positives/negatives, AUC", "difference", "p value"],
        [
            (f"{m}/{n}, {auc}", critical, (m, n, auc))
            for m, n in ((10, 40), (10, 990), (20, 400), (50, 950))
            for auc in (0.7, 0.8, 0.9, 0.95)
        ],
        error_rate=["difference", "p value"],
    ),
    Table(
        "Candidates of a search at the margin",
        "Share of runs in % in which `compare_candidates(margin=0.1)` finds a candidate not "
        "inferior at 5 % although its true score is lower by .1 than the true score of the "
        "candidate with the best mean score. One candidate has the true score .8, and all "
        "others have .7. Scores are normal with standard deviation .02, and the scores of two "
        "splits have correlation .2.",
        ["candidates, splits", "found not inferior"],
        [
            (f"{candidates}, {splits}", candidates_at_margin, (candidates, splits))
            for candidates in (2, 30)
            for splits in (5, 20)
        ],
        error_rate=("found not inferior",),
    ),
]
