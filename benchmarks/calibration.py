"""Coverage of intervals and error rates of tests: ``python -m benchmarks.calibration``.

Each line of a table summarizes simulated data with known true AUCs and fixed seeds. The tables are
written to ``docs/calibration.md``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fairlearn.metrics import MetricFrame
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from skfedauc import (
    FairnessAudit,
    GroupAUC,
    GroupPercentileTransformer,
    ScoreCounts,
    auc_critical_difference,
    auc_difference_pvalue,
    compare_candidates,
    compare_models,
    compare_roc_auc,
    rows_needed,
)
from skfedauc.datasets import make_group_scores
from skfedauc.inference import heterogeneity
from skfedauc.inference.intervals import Method, average_interval, group_limits
from skfedauc.measures import (
    AveragePrecision,
    KolmogorovSmirnov,
    Measure,
    PartialAUC,
    Sensitivity,
    Specificity,
)
from skfedauc.report.statistics import squared_tau

Floats = NDArray[np.float64]
DOCUMENT = Path("docs/calibration.md")
# Methods of intervals that are compared with methods without asymptotic approximation
FREE: tuple[Method, ...] = ("logit", "disjoint_pairs", "exact")
WIDTHS = tuple(f"width, {method}" for method in FREE)


class Groups(NamedTuple):
    """Numbers of rows by group, and distributions of their scores.

    Attributes
    ----------
    n_positives, n_negatives : sequence of int
    auc : sequence of float
        True AUC of each group.
    ratio : sequence of float
        Standard deviation of the positives divided by the standard deviation of the negatives.
    scale, shift : sequence of float
        Factor and offset of the scores of each group.
    """

    n_positives: Any
    n_negatives: Any
    auc: Any
    ratio: Any
    scale: Any
    shift: Any


def groups(n_groups: int, m: Any, n: Any, auc: Any, ratio: Any = 1.0, scale: Any = 1.0,
           shift: Any = 0.0) -> Groups:  # fmt: skip
    return Groups(*(np.broadcast_to(v, n_groups) for v in (m, n, auc, ratio, scale, shift)))


class Rows(NamedTuple):
    y: NDArray[np.bool_]
    scores: Floats
    groups: NDArray[np.int64]


def draw_rows(rng: np.random.Generator, of: Groups) -> Rows:
    """Draw normal scores with the true AUC of each group."""
    number = np.arange(len(of.auc))
    codes = np.concatenate([np.repeat(number, of.n_positives), np.repeat(number, of.n_negatives)])
    y = np.arange(codes.size) < of.n_positives.sum()
    apart = ndtri(of.auc) * np.sqrt(1.0 + of.ratio**2)
    scores = rng.normal(size=codes.size)
    scores[y] = scores[y] * of.ratio[codes[y]] + apart[codes[y]]
    return Rows(y, scores * of.scale[codes] + of.shift[codes], codes)


def draw(rng: np.random.Generator, of: Groups) -> ScoreCounts:
    rows = draw_rows(rng, of)
    return ScoreCounts.from_predictions(rows.y, rows.scores, groups=rows.groups)


def report(rng: np.random.Generator, of: Groups) -> GroupAUC:
    return GroupAUC(draw(rng, of), undefined="ignore")


def percent(values: Any) -> str:
    return f"{100 * float(np.mean(values)):.1f}"


def in_whole_scores(rows: Rows) -> ScoreCounts:
    """Count rows whose scores are rounded to whole numbers."""
    return ScoreCounts.from_predictions(rows.y, rows.scores.round(), groups=rows.groups)


def auc_of_rounded_scores(auc: float, step: float = 1.0) -> float:
    """Return the AUC of normal scores with this AUC after rounding to multiples of `step`."""
    edges = np.arange(-10.0, 15.0, step) + step / 2.0
    below = ndtr(edges)
    of_negatives = np.diff(below)
    of_positives = np.diff(ndtr(edges - ndtri(auc) * np.sqrt(2.0)))
    return float(of_positives @ (below[:-1] + of_negatives / 2.0))


# Each function returns the numbers of a line -----------------------------------------------


def single(n_runs: int, seed: int, m: int, n: int, auc: float, ratio: float) -> list[str]:
    """Coverage of the three intervals of one AUC; runs are groups of one `ScoreCounts`."""
    found = report(np.random.default_rng(seed), groups(n_runs, m, n, auc, ratio))
    cells = []
    for method in ("logit", "delong", "exact"):
        table = found.confidence_intervals(method=method)
        cells.append(percent((table["ci_low"] <= auc) & (auc <= table["ci_high"])))
    return cells


def two_values(rng: np.random.Generator, y: NDArray[np.bool_], auc: float) -> Floats:
    """Draw scores of 0 and 1 whose probabilities in the two classes add up to 1."""
    return (rng.random(y.size) < np.where(y, auc, 1.0 - auc)).astype(float)


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


MEASURES: list[Measure] = [
    PartialAUC(max_fpr=0.1),
    Sensitivity(specificity=0.9),
    Specificity(sensitivity=0.9),
    AveragePrecision(),
    KolmogorovSmirnov(),
]


def true_measures(of: Groups, whole: bool = False) -> Floats:
    """Return the true values of `MEASURES` of the pooled scores of `draw_rows`.

    The values are those of scikit-learn for the probabilities of narrow ranges of scores, or of
    whole scores.
    """
    edges = np.arange(-9.5, 25.0, 1.0) if whole else np.arange(-9.0, 24.0, 0.005)
    apart = ndtri(of.auc) * np.sqrt(1.0 + of.ratio**2)
    negatives = of.n_negatives.sum() * np.diff(ndtr(edges))
    below = ndtr((edges - apart[:, None]) / of.ratio[:, None])
    positives = of.n_positives @ np.diff(below)
    y, score = np.repeat([0, 1], edges.size - 1), np.tile(np.arange(edges.size - 1), 2)
    weights = np.concatenate([negatives, positives])
    fpr, tpr, _ = roc_curve(y, score, sample_weight=weights, drop_intermediate=False)
    return np.array([
        roc_auc_score(y, score, sample_weight=weights, max_fpr=0.1),
        np.interp(0.1, fpr, tpr),
        1.0 - np.interp(0.9, tpr, fpr),
        average_precision_score(y, score, sample_weight=weights),
        (tpr - fpr).max(),
    ])  # fmt: skip


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
            table = GroupAUC(counts).measured(measure).confidence_intervals()
            of_measure.extend((table["ci_low"] <= truth) & (truth <= table["ci_high"]))
    return [percent(of_measure) for of_measure in held]


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
            measured = found.measured(MEASURES[i])
            mean, expected = (np.interp(a, known, true[:, i]).mean() for a in (auc, of_population))
            for over, statistic, target in (
                ("rows", "macro", mean),
                ("groups", "macro", expected),
                ("rows", "pooled", pooled_truth[i]),
            ):
                table = measured.confidence_intervals(of="statistics", over=over)
                low, high = table.loc[statistic, ["ci_low", "ci_high"]]
                held.setdefault((i, over + statistic), []).append(low <= target <= high)
    return [percent(values) for values in held.values()]


def looseness(n_runs: int, seed: int, m: int, n: int, auc: float, shape: str) -> list[str]:
    """Coverage and mean width of intervals of one AUC with and without normal approximation.

    Each run has a ScoreCounts of its own, because the disjoint pairs depend on all counts.
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
        variances = GroupAUC(drawn).variances
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
        drawn = report(rng, of).estimates
        for number, method in enumerate(FREE):
            found = average_interval(
                drawn.variances, drawn.group_aucs[0], share, 0.95, method, new_groups=False
            )
            limits[number, :, i] = found.low, found.high
    return covered_and_wide(limits, float(np.mean(of.auc)))


def covered_and_wide(limits: Floats, truth: float) -> list[str]:
    """Return the coverage in % of each method, and then the mean width of each method."""
    low, high = limits[:, 0], limits[:, 1]
    covered = (low <= truth) & (truth <= high)
    return [*map(percent, covered), *(f"{width:.3f}" for width in (high - low).mean(axis=1))]


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


def averages(n_runs: int, seed: int, n_groups: int, tau: float, m: int, n: int) -> list[str]:
    """Coverage of the macro average for fixed and random groups, and of the pooled AUC."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[bool]] = {"rows": [], "groups": [], "rows for groups": []}
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, tau, n_groups), 0.55, 0.99)
        found = report(rng, groups(n_groups, m, n, auc))
        for over, target, name in (
            ("rows", auc.mean(), "rows"),
            ("groups", 0.8, "groups"),
            ("rows", 0.8, "rows for groups"),
        ):
            row = found.confidence_intervals(of="statistics", over=over).loc["macro"]
            held[name].append(row["ci_low"] <= target <= row["ci_high"])
    return [percent(values) for values in held.values()]


def pooled(n_runs: int, seed: int, n_groups: int, spread: float) -> list[str]:
    """Coverage of the pooled AUC for fixed groups, and for random groups with random shifts."""
    rng = np.random.default_rng(seed)
    # The true value for random groups is simulated with many groups. The true value for fixed
    # groups follows from cross AUCs.
    large = report(rng, groups(4000, 30, 60, 0.75, shift=rng.normal(0, spread, 4000))).pooled
    held: dict[str, list[bool]] = {"rows": [], "groups": []}
    apart = ndtri(0.75) * np.sqrt(2.0)
    for _ in range(n_runs):
        shift = rng.normal(0, spread, n_groups)
        found = report(rng, groups(n_groups, 30, 60, 0.75, shift=shift))
        given = ndtr((apart + shift[:, None] - shift) / np.sqrt(2.0)).mean()
        for over, target in (("rows", given), ("groups", large)):
            row = found.confidence_intervals(of="statistics", over=over).loc["pooled"]
            held[over].append(row["ci_low"] <= target <= row["ci_high"])
    return [percent(values) for values in held.values()]


def paired(n_runs: int, seed: int, m: int, n: int, auc: float, correlation: float) -> list[str]:
    """Error rate of the comparison of two models with equal AUCs."""
    rng, rejected = np.random.default_rng(seed), []
    y = np.arange(m + n) < m
    apart = ndtri(auc) * np.sqrt(2.0)
    for _ in range(n_runs):
        shared, *own = rng.normal(size=(3, m + n))
        a, b = (
            np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * noise + apart * y
            for noise in own
        )
        rejected.append(compare_roc_auc(y, a, b).pvalue < 0.05)
    return [percent(rejected)]


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
        table = compare_models(y, scores, groups=site, statistic=statistic).table
        pvalue = table["pvalue"].min()
        rejected.append(
            [table["pvalue_adjusted"].min() < 0.05, pvalue * len(table) < 0.05, pvalue < 0.05]
        )
    return [percent(rate) for rate in np.transpose(rejected)]


def percentiles(
    n_runs: int, seed: int, n_groups: int, n_training: int, m: int, n: int, auc: float,
    n_digits: int
) -> list[str]:  # fmt: skip
    """Pooled AUC of new rows minus their average by positives: percentiles, and scores.

    The result has the mean and the standard deviation for percentiles, the mean for the scores, and
    the false positive rate at the percentile .9.
    """
    rng, found = np.random.default_rng(seed), []
    shift = rng.normal(0.0, 3.0, n_groups)
    transformer = GroupPercentileTransformer(groups=0)
    for _ in range(n_runs):
        train = draw_rows(rng, groups(n_groups, 1, n_training, auc, shift=shift))
        test = draw_rows(rng, groups(n_groups, m, n, auc, shift=shift))
        known, new = (np.column_stack([r.groups, r.scores.round(n_digits)]) for r in (train, test))
        percentile = transformer.fit(known, train.y).transform(new).ravel()
        report = GroupAUC.from_predictions(test.y, new[:, 1], groups=test.groups)
        found.append(
            [
                roc_auc_score(test.y, percentile) - report.average("positives"),
                report.pooled - report.average("positives"),
                (percentile[~test.y] > 0.9).mean(),
            ]
        )
    adjusted, raw, rate = np.transpose(found)
    return [f"{1000 * value:.1f}" for value in (adjusted.mean(), adjusted.std(), raw.mean())] + [
        percent(rate)
    ]


def weighted(n_runs: int, seed: int, m: int, n: int, auc: float, sigma: float) -> list[str]:
    """Coverage of the intervals of one AUC with lognormal weights."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(m + n) < m, n_runs)
    scores = rng.normal(size=y.size) + ndtri(auc) * np.sqrt(2.0) * y
    weights = np.exp(rng.normal(0, sigma, y.size))
    codes = np.repeat(np.arange(n_runs), m + n)
    found = GroupAUC.from_predictions(y, scores, groups=codes, sample_weight=weights)
    cells = []
    for method in ("logit", "exact"):
        table = found.confidence_intervals(method=method)
        cells.append(percent((table["ci_low"] <= auc) & (auc <= table["ci_high"])))
    return cells


def unequal(n_runs: int, seed: int, n_groups: int, tau: float) -> list[str]:
    """Averages of random groups with Zipf-distributed sizes, and two models on the groups' rows."""
    rng = np.random.default_rng(seed)
    size = 3_000 / np.arange(1, n_groups + 1)
    m, n = np.maximum(size / 5, 3).astype(int), np.maximum(size * 4 / 5, 12).astype(int)
    held: dict[str, list[bool]] = {name: [] for name in ("macro", "samples", "within")}
    errs: dict[str, list[bool]] = {name: [] for name in ("pooled", "samples", "within")}
    codes = np.repeat(np.arange(n_groups), m + n)
    y = np.concatenate([np.arange(a + b) < a for a, b in zip(m, n, strict=True)])
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, tau, n_groups), 0.55, 0.99)
        table = report(rng, groups(n_groups, m, n, auc)).confidence_intervals(
            of="statistics", over="groups"
        )
        for name, values in held.items():
            values.append(table.at[name, "ci_low"] <= 0.8 <= table.at[name, "ci_high"])
        # Either model is better in half of the groups.
        better = rng.normal(0, 0.3, n_groups)[codes]
        shared, *own = rng.normal(size=(3, y.size))
        a = shared + own[0] + (1.5 + better) * y
        b = shared + own[1] + 1.5 * y
        compared = compare_roc_auc(y, a, b, groups=codes, over="groups").table["pvalue"]
        for name, values in errs.items():
            values.append(compared[name] < 0.05)
    return [percent(values) for values in (*held.values(), *errs.values())]


def spread(n_runs: int, seed: int, n_groups: int, tau: float, m: Any, n: Any) -> list[str]:
    """Means of the estimates of tau, squared for scorers; coverage of the interval of REML."""

    def true(rng: np.random.Generator) -> Floats:
        return np.clip(rng.normal(0.8, tau, n_groups), 0.5, 0.995)

    return spread_of(n_runs, seed, true, tau, m, n)


def spread_beta(n_runs: int, seed: int, n_groups: int, tau: float, m: Any, n: Any) -> list[str]:
    """Estimates of tau if true AUCs have a Beta distribution with mean .9."""
    rows = 0.9 * 0.1 / tau**2 - 1

    def true(rng: np.random.Generator) -> Floats:
        return np.clip(rng.beta(0.9 * rows, 0.1 * rows, n_groups), 0.4, 0.9999)

    return spread_of(n_runs, seed, true, tau, m, n)


def spread_of(
    n_runs: int,
    seed: int,
    true: Callable[[np.random.Generator], Floats],
    tau: float,
    m: Any,
    n: Any,
) -> list[str]:
    rng = np.random.default_rng(seed)
    squares, found, held = [], [], []
    for _ in range(n_runs):
        auc = true(rng)
        of_run = report(rng, groups(auc.size, m, n, auc))
        table = of_run.heterogeneity()
        squares.append(squared_tau(of_run.estimates))
        found.append(table["tau"].to_numpy())
        held.append(table.at["reml", "ci_low"] <= tau <= table.at["reml", "ci_high"])
    root = np.sign(np.mean(squares)) * np.sqrt(abs(np.mean(squares)))
    means = [root, *np.mean(found, axis=0)]
    error = np.sqrt(np.mean((np.array(found)[:, 0] - tau) ** 2))
    return [*(f"{mean:.4f}" for mean in means), f"{error:.4f}", percent(held)]


def ranked(
    n_runs: int, seed: int, n_groups: int, prior: str, mean: float, by: float, largest: int,
    digits: int = 8,
) -> list[str]:  # fmt: skip
    """Errors of the shrunken AUCs, coverage of intervals and of sets of ranks, and worst groups.

    Groups have 6 to `largest` positives, four times as many negatives, and scores with this number
    of `digits`. True AUCs have the standard deviation `by`, or one AUC is lower by `by`.
    """
    rng, found = np.random.default_rng(seed), []
    m = np.geomspace(6, largest, n_groups).astype(int)
    for _ in range(n_runs):
        auc = true_aucs(rng, n_groups, prior, mean, by)
        rows = draw_rows(rng, groups(n_groups, m, 4 * m, auc))
        table = GroupAUC.from_predictions(
            rows.y, rows.scores.round(digits), groups=rows.groups
        ).ranking()
        rank, worst = 1 + (auc[None, :] > auc[:, None]).sum(axis=1), auc == auc.min()
        last, may_be_worst = table["rank_high"] == n_groups, table["may_be_worst"].to_numpy(bool)
        found.append(
            (
                ((table["auc"] - auc) ** 2).mean(),
                ((table["shrunken_auc"] - auc) ** 2).mean(),
                ((table["ci_low"] <= auc) & (auc <= table["ci_high"])).mean(),
                ((table["rank_low"] <= rank) & (rank <= table["rank_high"])).all(),
                worst[table["auc"].argmin()],
                worst[table["shrunken_auc"].argmin()],
                may_be_worst[worst].mean(),
                last.sum(),
                may_be_worst.sum(),
            )
        )
    raw, shrunken, *shares, n_last, n_worst = np.mean(np.array(found, np.float64), axis=0)
    errors = [f"{raw**0.5:.4f}", f"{shrunken**0.5:.4f}"]
    return [*errors, *map(percent, shares), f"{n_last:.1f}", f"{n_worst:.1f}"]


def true_aucs(
    rng: np.random.Generator, n_groups: int, prior: str, mean: float, by: float
) -> Floats:
    """Draw true AUCs."""
    auc = np.full(n_groups, mean)
    if prior == "normal":
        auc = rng.normal(mean, by, n_groups)
    elif prior == "Beta":
        total = mean * (1 - mean) / by**2 - 1
        auc = rng.beta(mean * total, (1 - mean) * total, n_groups)
    elif prior == "one lower":
        auc[rng.integers(n_groups)] -= by
    return np.clip(auc, 0.4, 0.9999)


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


def critical(n_runs: int, seed: int, m: int, n: int, auc: float) -> list[str]:
    """Share of pairs of test sets that differ by more than each critical difference."""
    rng = np.random.default_rng(seed)
    y = np.tile(np.arange(m + n) < m, 3 * n_runs)
    scores = rng.normal(size=y.size) + ndtri(auc) * np.sqrt(2.0) * y
    codes = np.repeat(np.arange(3 * n_runs), m + n)
    of_set = GroupAUC.from_predictions(y, scores, groups=codes).by_group["auc"].to_numpy()
    a, b, _ = of_set.reshape(n_runs, 3).T
    apart = np.abs(a - b)
    beyond = [
        apart > auc_critical_difference(auc, m, n, distribution=name)
        for name in ("binormal", "uniform")
    ]
    pilots = scores.reshape(n_runs, 3, m + n)[:, 2]
    by_pilot = []
    for difference, pilot in zip(apart, pilots, strict=True):
        try:
            found = auc_critical_difference(None, m, n, distribution=(y[: m + n], pilot))
        except ValueError:  # perfectly separated pilot rows are refused
            continue
        by_pilot.append(difference > found)
    pvalues = [auc_difference_pvalue(*pair, m, n) for pair in zip(a, b, strict=True)]
    return [*map(percent, beyond), percent(by_pilot), percent(np.array(pvalues) < 0.05)]


def equivalence(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, auc: float, levels: float
) -> list[str]:
    """Error rate of `agreement`: an average that differs by `delta` is found equivalent."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    shift = np.linspace(-levels, levels, n_groups)
    apart = ndtri(auc) * np.sqrt(2.0)
    delta = abs(ndtr((apart + shift[:, None] - shift) / np.sqrt(2.0)).mean() - auc)
    of, told = groups(n_groups, m, n, auc, shift=shift), []
    for _ in range(n_runs):
        table = report(rng, of).agreement(delta).averages
        told.append(table.at["macro", "equivalent_to_pooled"] == "yes")
    return [f"{delta:.4f}", percent(told)]


def at_margin(n_runs: int, seed: int, of: Groups, whole: bool) -> list[str]:
    """Error rates of the tests with a margin if the true value is the bound.

    The bound of `test_worst` is the smallest true AUC, and the margin of `test_equivalence` is the
    largest true difference.
    """
    rng, worst, equivalent = np.random.default_rng(seed), [], []
    aucs = [auc_of_rounded_scores(a) for a in of.auc] if whole else of.auc.tolist()
    for _ in range(n_runs):
        found = GroupAUC(in_whole_scores(draw_rows(rng, of))) if whole else report(rng, of)
        worst.append(found.test_worst(min(aucs)).is_shown)
        if len(aucs) > 1:
            equivalent.append(found.test_equivalence(max(aucs) - min(aucs)).is_shown)
    return [percent(equivalent) if equivalent else "", percent(worst)]


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
            reached.append(found.test_equivalence(value).is_shown)
        else:
            true = auc_of_rounded_scores(auc) if whole else auc
            reached.append(found.test_worst(true, margin=value).is_shown)
    shown = f"{np.mean(reached):.4f}" if target == "width" else percent(reached)
    return [f"{plan.n_positives:,}", f"{plan.n_rows:,}", shown]


def chance(n_runs: int, seed: int, n_groups: int, m: int, n: int) -> list[str]:
    """Mean difference of equal groups, and the mean of the estimated difference."""
    rng, seen, expected = np.random.default_rng(seed), [], []
    for run in range(n_runs):
        found = report(rng, groups(n_groups, m, n, 0.8))
        seen.append(found.difference)
        if run < 50:
            expected.append(heterogeneity.null_difference(found.variances))
    return [f"{np.mean(seen):.4f}", f"{np.mean(expected):.4f}"]


def zipf(n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Class counts of groups whose sizes follow Zipf's law."""
    size = 3_000 / np.arange(1, n_groups + 1)
    return np.maximum(size / 10, 5).astype(int), np.maximum(size * 0.9, 45).astype(int)


# Positives and negatives of five hospitals
HOSPITALS = [100, 50, 25, 12, 8], [300, 150, 75, 38, 22]
COUNTS = {"n_positives": np.array([8, 4, 2, 1]), "n_negatives": np.array([1, 3, 6, 10])}


def cases(n_runs: int, seed: int, case: str, n_rows: int) -> list[str]:
    """Shares of right, wrong and undecided verdicts on the four cases with unequal counts."""
    rng, told = np.random.default_rng(seed), []
    right = {
        "identical": {"macro", "samples", "positives", "negatives", "within"},
        "same_negatives": {"positives"},
        "same_positives": {"negatives"},
        "different": set(),
    }[case]
    named, wrong, unsure = [], [], []
    for _ in range(n_runs):
        counts = {key: value * n_rows // 35 for key, value in COUNTS.items()}
        devices = make_group_scores(case, **counts, random_state=int(rng.integers(1 << 31)))
        found = GroupAUC.from_predictions(
            devices.y_true, devices.y_score, groups=devices.groups
        ).agreement()
        answers = found.averages["equivalent_to_pooled"]
        wrong.append(
            any(answers[name] == ("no" if name in right else "yes") for name in answers.index)
        )
        unsure.append((answers == "cannot tell").any())
        named.append(found.case == case)
        told.append(found.case)
    neither = ~np.array(wrong) & ~np.array(unsure)
    other = [t not in (case, "cannot tell") for t in told]
    return [percent(neither), percent(wrong), percent(unsure), percent(named), percent(other)]


def bound(n_runs: int, seed: int) -> list[str]:
    """Share of random score counts for which the bound holds."""
    rng, held, tight = np.random.default_rng(seed), [], []
    while len(held) < n_runs:
        n, k = rng.integers(2, 40), rng.integers(1, 6)
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        if y.all() or not y.any():
            continue
        scores, codes = rng.integers(1, rng.integers(3, 12), n), rng.integers(0, k, n)
        found = GroupAUC.from_predictions(y, scores, groups=codes, undefined="ignore")
        if found.n_undefined == found.n_groups:
            continue
        table = found.agreement().averages.loc[["positives", "negatives"]]
        held.append(bool((table["difference"].abs() <= table["bound"] + 1e-12).all()))
        tight.append(float((table["difference"].abs() / table["bound"].clip(lower=1e-12)).max()))
    return [percent(held), f"{np.median(tight):.2f}"]


DESIGNS = [
    ("2 groups of 50/200, AUC .8", groups(2, 50, 200, 0.8), ""),
    ("3 groups of 20/2,000, AUC .95", groups(3, 20, 2_000, 0.95), ""),
    ("5 groups of 8/22 to 100/300, AUC .9", groups(5, *HOSPITALS, 0.9), ""),
    ("10 groups of 20/200, AUC .8, ratio 2", groups(10, 20, 200, 0.8, 2.0), ""),
    ("5 groups of 50/200, AUC .7 to .85", groups(5, 50, 200, [0.7, 0.8, 0.8, 0.8, 0.85]), ""),
]
FURTHER_DESIGNS = [
    ("2 groups of 20/2,000, AUC .95, ratio 2", groups(2, 20, 2_000, 0.95, 2.0), ""),
    ("3 groups of 20/200, AUC .9, ratios .5, 1, 2", groups(3, 20, 200, 0.9, [0.5, 1.0, 2.0]), ""),
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

# Runs and resamples of fairlearn's bootstrap; a run takes one to two seconds.
BOOTSTRAP_RUNS, RESAMPLES = 100, 100


def no_gap(n_runs: int, seed: int, of: Groups, digits: int, compare: bool) -> list[str]:
    """Error rate of each test, and share of runs in which each interval excludes 0."""
    rng = np.random.default_rng(seed)
    equal_groups, single_group, favour, rates, area, own_interval, bootstrap = (
        [] for _ in range(7)
    )
    for i in range(n_runs):
        rows = draw_rows(rng, of)
        rows = rows._replace(scores=rows.scores.round(digits))
        audit = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, threshold=0.0
        )
        gaps = audit.gaps.to_dict("index")
        equal_groups.append(gaps["difference"]["pvalue"] < 0.05)
        own_interval.append(gaps["difference"]["ci_low"] > 0)
        adjusted = audit.report.compare_groups("rest")["pvalue_adjusted"]
        single_group.append((adjusted < 0.05).any())
        favour.append(gaps["xauc_disparity"]["pvalue"] < 0.05)
        rates.append(gaps["equalized_odds_difference"]["pvalue"] < 0.05)
        if len(of.auc) == 2:
            table = audit.report.abroca(0, n_resamples=RESAMPLES - 1, random_state=i)
            area.append(table["pvalue"].iloc[0] <= 0.05)
        if compare and i < BOOTSTRAP_RUNS:
            bootstrap.append(bootstrap_excludes_0(rows, i))
    families = equal_groups, single_group, favour, rates, area, own_interval, bootstrap
    return [percent(family) if family else "" for family in families]


def bootstrap_excludes_0(rows: Rows, seed: int) -> bool:
    """Whether fairlearn's 95 % bootstrap interval of the difference excludes 0."""
    frame = MetricFrame(
        metrics={"auc": roc_auc_score},
        y_true=rows.y,
        y_pred=rows.scores,
        sensitive_features=rows.groups,
        n_boot=RESAMPLES,
        ci_quantiles=[0.025, 0.975],
        random_state=seed,
    )
    return bool(frame.difference_ci()[0]["auc"] > 0)


def false_claims(n_runs: int, seed: int, n_rows: int, n_labels: Any, weighted: bool) -> list[str]:
    """Share of audits without gaps that make a claim, and that have a raw p value below .05.

    `n_labels` are the numbers of labels of each sensitive column. A fifth of the rows is positive,
    and the AUC is .8. Decisions are made at the median score. Scores have three digits.
    """
    rng = np.random.default_rng(seed)
    claimed, by_themselves, n_claims = [], [], 0
    for _ in range(n_runs):
        y = rng.random(n_rows) < 0.2
        scores = (rng.normal(size=n_rows) + ndtri(0.8) * np.sqrt(2.0) * y).round(3)
        weights = rng.gamma(0.5, size=n_rows) if weighted else None
        columns = np.column_stack([rng.integers(0, n, n_rows) for n in n_labels])
        audit = FairnessAudit.from_predictions(
            y, scores, groups=columns, threshold=np.median(scores), sample_weight=weights
        )
        audits = [audit.of(name) for name in audit.columns] if len(n_labels) > 1 else []
        adjusted, raw = [], []
        for own in {id(a): a for a in (*audits, audit)}.values():
            # Read the claims, because the tables lack the test that all AUCs are equal.
            adjusted += own.tables.claims.adjusted.values()
            raw += own.tables.claims.pvalues.values()
        claimed.append(any((p < 0.05).any() for p in adjusted))
        by_themselves.append(any((p < 0.05).any() for p in raw))
        n_claims = max(n_claims, audit.n_claims)
    return [f"{n_claims}", percent(claimed), percent(by_themselves)]


# Equal groups -----------------------------------------------------------------------------


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


class Clusters(NamedTuple):
    """Design of clustered rows: in each group, `n` clusters of 1 to `largest` rows.

    Attributes
    ----------
    n, largest : int
    icc : float
        Correlation of the scores of two rows of the same class in a cluster.
    auc : float
    labels : {"row", "cluster"}
        A quarter of the rows are positive: each row by itself, or all rows of a quarter of the
        clusters.
    """

    n: int
    largest: int
    icc: float
    auc: float
    labels: str

    @property
    def truth(self) -> float:
        """True AUC of the rounded scores."""
        return auc_of_rounded_scores(self.auc, 0.5)

    def draw(self, rng: np.random.Generator, n_groups: int, n_models: int = 1) -> dict[str, Any]:
        """Draw labels, scores of each model, groups and clusters.

        Two models have half of the effects of clusters in common.
        """
        n_clusters = n_groups * self.n
        sizes = np.tile(np.arange(self.n) % self.largest + 1, n_groups)
        clusters = np.repeat(np.arange(n_clusters), sizes)
        y = rng.random(clusters.size) < 0.25
        if self.labels == "cluster":
            is_positive = np.tile(np.arange(self.n) < self.n // 4, (n_groups, 1))
            y = rng.permuted(is_positive, axis=1).ravel()[clusters]
        common, *own = rng.normal(size=(n_models + 1, n_clusters))
        effects = own if n_models == 1 else (np.array(own) + common) / np.sqrt(2.0)
        scores = np.sqrt(self.icc) * np.array(effects)[:, clusters]
        scores += np.sqrt(1.0 - self.icc) * rng.normal(size=scores.shape)
        scores += ndtri(self.auc) * np.sqrt(2.0) * y
        scores = np.round(2.0 * scores) / 2.0
        return {"y": y, "scores": scores, "groups": clusters // self.n, "clusters": clusters}

    def __str__(self) -> str:
        return f"{self.n}, 1 to {self.largest}, {self.icc}, {self.auc}, by {self.labels}"


def covered(table: Any, truth: float) -> str:
    table = table.dropna(subset=["ci_low", "ci_high"])
    return percent((table["ci_low"] <= truth) & (truth <= table["ci_high"]))


def clustered(n_runs: int, seed: int, of: Clusters) -> list[str]:
    """Coverage for one AUC without and with clusters, and of the bootstrap; runs are groups."""
    rows = of.draw(np.random.default_rng(seed), n_runs)
    given = rows["y"], rows["scores"][0]
    blind, found = (
        GroupAUC.from_predictions(
            *given, groups=rows["groups"], clusters=clusters, undefined="ignore"
        )
        for clusters in (None, rows["clusters"])
    )
    first = rows["groups"] < n_runs // 4
    drawn = GroupAUC.from_predictions(
        *(column[first] for column in given),
        groups=rows["groups"][first],
        clusters=rows["clusters"][first],
        undefined="ignore",
    ).cluster_bootstrap(n_resamples=400, random_state=0)
    tables = found.confidence_intervals(), drawn, blind.confidence_intervals()
    return [covered(table, of.truth) for table in tables]


def clustered_groups(n_runs: int, seed: int, n_groups: int, of: Clusters) -> list[str]:
    """Coverage for the average `macro`, and error rates of tests of equal AUCs."""
    rng = np.random.default_rng(seed)
    held: list[bool] = []
    rejected: dict[str, list[bool]] = {"equal": [], "difference": [], "without": []}
    for _ in range(n_runs):
        rows = of.draw(rng, n_groups)
        given = rows["y"], rows["scores"][0]
        found, blind = (
            GroupAUC.from_predictions(
                *given, groups=rows["groups"], clusters=clusters, undefined="ignore"
            )
            for clusters in (rows["clusters"], None)
        )
        table = found.confidence_intervals(of="statistics", over="rows").loc["macro"]
        held.append(table["ci_low"] <= of.truth <= table["ci_high"])
        rejected["equal"].append(found.test_equal_groups().pvalue < 0.05)
        rejected["difference"].append(found.test_difference().pvalue < 0.05)
        rejected["without"].append(blind.test_equal_groups().pvalue < 0.05)
    return [percent(held), *map(percent, rejected.values())]


def crossed(n_runs: int, seed: int, n_groups: int, n_clusters: int, icc: float) -> list[str]:
    """Results for groups in which each cluster has two rows: coverage, error rates and powers."""
    rng = np.random.default_rng(seed)
    held: list[bool] = []
    rejected: dict[tuple[float, bool], list[bool]] = {}
    clusters = np.tile(np.repeat(np.arange(n_clusters), 2), n_groups)
    group = np.repeat(np.arange(n_groups), 2 * n_clusters)
    y, is_last = clusters % 2 == 0, group == n_groups - 1
    for _ in range(n_runs):
        own = np.sqrt(icc) * rng.normal(size=n_clusters)[clusters]
        own += np.sqrt(1.0 - icc) * rng.normal(size=clusters.size)
        for gap in (0.0, 0.1):
            apart = ndtri(np.where(is_last, 0.75 + gap, 0.75)) * np.sqrt(2.0)
            scores = np.round(2.0 * (own + apart * y)) / 2.0
            for with_clusters in (True, False):
                found = GroupAUC.from_predictions(
                    y, scores, groups=group, clusters=clusters if with_clusters else None
                )
                is_rejected = found.test_difference().pvalue < 0.05
                rejected.setdefault((gap, with_clusters), []).append(is_rejected)
                if with_clusters and not gap:
                    row = found.confidence_intervals(of="statistics", over="rows").loc["macro"]
                    held.append(row["ci_low"] <= auc_of_rounded_scores(0.75, 0.5) <= row["ci_high"])
    return [percent(values) for values in (held, *rejected.values())]


def paired_clusters(n_runs: int, seed: int, of: Clusters) -> list[str]:
    """Error rate of the comparison of two models with equal AUCs on clustered rows."""
    rng, rejected = np.random.default_rng(seed), {True: [], False: []}
    for _ in range(n_runs):
        rows = of.draw(rng, 1, n_models=2)
        for has_clusters, answers in rejected.items():
            clusters = rows["clusters"] if has_clusters else None
            found = compare_roc_auc(rows["y"], *rows["scores"], clusters=clusters)
            answers.append(found.pvalue < 0.05)
    return [percent(values) for values in rejected.values()]


class Table(NamedTuple):
    title: str
    text: str
    columns: list[str]
    cells: list[tuple[str, Callable[..., list[str]], tuple[Any, ...]]]
    share: float = 1.0  # of the requested runs, for tables whose runs are expensive
    coverage: Sequence[str] = ()  # columns with coverage in % of 95 % intervals
    error_rate: Sequence[str] = ()  # columns with error rates in % of tests at 5 %

    @property
    def nominal(self) -> dict[str, float]:
        """Nominal rates in % of the columns that the documentation draws."""
        return dict.fromkeys(self.coverage, 95.0) | dict.fromkeys(self.error_rate, 5.0)


def tables() -> list[Table]:
    sizes = ((5, 15), (20, 80), (50, 200), (500, 500))
    over_groups = [
        f"{name}, {of}"
        for name in ("partial AUC", "sensitivity", "average precision")
        for of in ("these", "new", "pooled")
    ]
    null = [
        (f"{g} groups of {m}/{n}, AUC {auc}, {name}", equal, (make(g, m, n, auc),))
        for g, m, n in ((4, 20, 80), (10, 20, 80), (10, 50, 200), (50, 20, 80), (10, 5, 15))
        for auc in (0.7, 0.9)
        for name, make in (("alike", alike), ("unlike", unlike))
    ]
    return [
        Table(
            "Interval of one AUC",
            "Coverage in % of 95 % intervals. Scores are normal. The ratio is the standard "
            "deviation of the positives divided by the standard deviation of the negatives.",
            ["positives / negatives, AUC, ratio of deviations", "logit", "delong", "exact"],
            [
                (f"{m}/{n}, {auc}, {ratio}", single, (m, n, auc, ratio))
                for m, n in sizes
                for auc in (0.6, 0.75, 0.9, 0.95, 0.99)
                for ratio in (1.0, 2.0, 0.5)
                if ratio == 1.0 or (m, n) == (50, 200)
            ],
            coverage=["logit", "delong", "exact"],
        ),
        Table(
            "Tests of equal groups with equal AUCs",
            "Error rates in % of tests at 5 %. `equal groups` is the error rate of "
            "`test_equal_groups`. `with the rest` is the share of runs with at least one error of "
            '`compare_groups("rest")`. "Unlike" groups differ in the share of positives (by a '
            "factor of up to 2), in the ratio of standard deviations, in scale and in shift.",
            ["groups of positives/negatives", "equal groups", "with the rest"],
            null,
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
            "Worst and difference",
            "Coverage in % of 95 % intervals of the worst AUC and of the difference, by two "
            "methods.",
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
        Table(
            "Random groups of unequal size",
            "Group sizes follow Zipf's law: the largest group has 3,000 rows, and the smallest "
            "group has at least 15 rows. `macro`, `samples` and `within` are the coverage in % of "
            "95 % intervals over groups for the mean AUC of the population, .8. The other columns "
            "are error rates in % at 5 % of the comparison of two models that are equally good on "
            "average.",
            [
                "groups",
                "macro",
                "samples",
                "within",
                "pooled, error rate",
                "samples, error rate",
                "within, error rate",
            ],
            [(f"{g} groups", unequal, (g, 0.05)) for g in (10, 30, 100)],
            share=0.5,
            coverage=["macro", "samples", "within"],
            error_rate=["pooled, error rate", "samples, error rate", "within, error rate"],
        ),
        Table(
            "Rows with weights",
            "Coverage in % of 95 % intervals of one AUC. The logarithms of the weights are normal.",
            ["positives/negatives, AUC, standard deviation of log weights", "logit", "exact"],
            [
                (f"{m}/{n}, {auc}, {sigma}", weighted, (m, n, auc, sigma))
                for m, n in ((20, 80), (50, 200))
                for auc in (0.75, 0.9)
                for sigma in (0.5, 1.0, 2.0)
            ],
            coverage=["logit", "exact"],
        ),
        Table(
            "Average of group AUCs (macro)",
            "Coverage in % of 95 % intervals. `over rows` is the coverage of intervals over rows "
            "for the mean true AUC of these groups. `over groups` is the coverage of intervals "
            "over groups for the mean AUC of the population, .8. `over rows, population` is the "
            "coverage of intervals over rows for the mean AUC of the population.",
            ["groups, tau", "over rows", "over groups", "over rows, population"],
            [
                (f"{g} groups of 50/200, tau {tau}", averages, (g, tau, 50, 200))
                for g, tau in ((5, 0.0), (5, 0.05), (10, 0.05), (40, 0.05))
            ],
            coverage=["over rows", "over groups", "over rows, population"],
        ),
        Table(
            "Pooled AUC",
            "Coverage in % of 95 % intervals. Each group has 30 positives and 60 negatives, and a "
            "random shift of the scores.",
            ["groups, standard deviation of the shifts", "over rows", "over groups"],
            [
                (f"{g} groups, {confidence_level}", pooled, (g, confidence_level))
                for g, confidence_level in ((5, 0.0), (5, 1.0), (10, 0.5), (10, 1.0), (30, 1.0))
            ],
            coverage=["over rows", "over groups"],
        ),
        Table(
            "Two models on the same rows",
            "Error rate in % of the test at 5 % for two models of equal AUC.",
            ["positives/negatives, AUC, correlation of scores", "error rate"],
            [
                (f"{m}/{n}, {auc}, {rho}", paired, (m, n, auc, rho))
                for m, n in ((20, 80), (50, 200))
                for auc in (0.7, 0.9)
                for rho in (0.0, 0.5, 0.9, 0.99)
            ],
            error_rate=["error rate"],
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
            "Percentiles among the negatives of each group",
            "Pooled AUC of new rows minus the average by positives, in thousandths: mean and "
            "standard deviation of the percentiles of `GroupPercentileTransformer`, and mean of "
            "the scores, which are shifted in each group. The last column is the share in % of new "
            "negatives with a percentile above .9.",
            [
                "groups, training negatives per group, new positives/negatives, AUC",
                "percentiles: mean",
                "standard deviation",
                "scores: mean",
                "false positive rate",
            ],
            [
                (
                    f"{g}, {k}, {m}/{n}, {auc}{', tied scores' if digits == 0 else ''}",
                    percentiles,
                    (g, k, m, n, auc, digits),
                )
                for g, k, m, n, auc, digits in (
                    (2, 10, 100, 400, 0.7, 9),
                    (2, 100, 100, 400, 0.7, 9),
                    (2, 100, 100, 400, 0.95, 9),
                    (10, 100, 20, 80, 0.8, 9),
                    (10, 100, 20, 80, 0.8, 0),
                    (10, 1000, 20, 80, 0.8, 9),
                    (500, 20, 5, 20, 0.8, 9),
                )
            ],
            0.25,
        ),
        Table(
            "Standard deviation of the true AUCs (tau)",
            "`root of mean square` is the square root of the mean estimate of tau squared, which "
            "scorers average. The next four columns are the means of the estimates of "
            "`heterogeneity`. `error of REML` is the root mean squared error of the REML estimate, "
            "which reports use. `coverage` is the coverage in % of the 95 % interval of REML. True "
            "AUCs are normal with mean .8, or have a Beta distribution with mean .9.",
            [
                "groups, tau",
                "root of mean square",
                "REML",
                "Paule-Mandel",
                "moments",
                "DerSimonian-Laird",
                "error of REML",
                "coverage",
            ],
            [
                (f"{g} groups of {m}/{n}, tau {tau}", spread, (g, tau, m, n))
                for g, m, n in ((100, 5, 15), (3, 50, 200), (10, 50, 200), (40, 20, 80))
                for tau in (0.0, 0.03, 0.06)
            ]
            + [
                (
                    f"3 groups of 2,000/6,000 and {tiny} of 3/10, tau {tau}",
                    spread,
                    (3 + tiny, tau, [2000] * 3 + [3] * tiny, [6000] * 3 + [10] * tiny),
                )
                for tiny in (1, 6)
                for tau in (0.0, 0.05)
            ]
            + [
                (f"{g} groups of {m}/{n}, Beta, tau {tau}", spread_beta, (g, tau, m, n))
                for g, m, n in ((10, 50, 200), (40, 50, 200), (40, 300, 700))
                for tau in (0.03, 0.05, 0.08)
            ],
            share=0.25,
            coverage=["coverage"],
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
        ),
        Table(
            "Which average is equivalent to the pooled AUC",
            "Four devices have unequal counts of both classes, and delta is .005. The columns are "
            "shares of runs in %. `all correct`: all verdicts on averages are correct. `any "
            "wrong`: at least one verdict is wrong. `any undecided`: at least one verdict is "
            '"cannot tell". `case correct`: the named case is correct. `case wrong`: the named '
            'case is wrong. In the other runs, the case is "cannot tell".',
            [
                "case, rows",
                "all correct",
                "any wrong",
                "any undecided",
                "case correct",
                "case wrong",
            ],
            [
                (f"{case}, {rows:,}", cases, (case, rows))
                for rows in (1_000, 100_000, 400_000)
                for case in ("identical", "same_negatives", "same_positives", "different")
            ],
            share=0.1,
        ),
        Table(
            "Tests and intervals without any gap",
            "All groups have the same score distributions. The first five columns are error rates "
            "in % of tests at 5 %. `equal groups` tests that all group AUCs are equal. `single "
            "groups` tests that the AUC of any group equals the average of the others. `favor` "
            "tests that the model favors no group (`xauc_disparity` of an audit). `rates` tests "
            "that both rates are equal (`equalized_odds_difference`). `ABROCA` tests that two "
            f"groups have one ROC curve (`abroca`, {RESAMPLES - 1} resamples). The other columns "
            "are shares of runs in % in which a 95 % interval of the difference of group AUCs "
            "excludes 0: our interval, and the interval of fairlearn's bootstrap "
            f"({BOOTSTRAP_RUNS} runs, {RESAMPLES} resamples). The bootstrap interval excludes 0 "
            "because a resampled difference is never below 0.",
            [
                "groups",
                "equal groups",
                "single groups",
                "favor",
                "rates",
                "ABROCA",
                "our interval",
                "fairlearn's interval",
            ],
            [
                ("2 groups of 100/400", no_gap, (groups(2, 100, 400, 0.8), 9, True)),
                (
                    "2 groups of 100/400, whole scores",
                    no_gap,
                    (groups(2, 100, 400, 0.8), 0, False),
                ),
                (
                    "2 groups, 40/60 and 60/240",
                    no_gap,
                    (groups(2, [40, 60], [60, 240], 0.8), 9, False),
                ),
                ("5 groups of 50/200", no_gap, (groups(5, 50, 200, 0.8), 9, True)),
                (
                    "5 groups of 50/200, scores of 1 digit",
                    no_gap,
                    (groups(5, 50, 200, 0.8), 1, False),
                ),
                (
                    "5 groups, 20/180 to 100/100",
                    no_gap,
                    (groups(5, [20, 40, 60, 80, 100], [180, 160, 140, 120, 100], 0.8), 9, False),
                ),
                ("10 groups of 20/80, AUC .9", no_gap, (groups(10, 20, 80, 0.9), 9, False)),
            ],
            error_rate=[
                "equal groups",
                "single groups",
                "favor",
                "rates",
                "ABROCA",
                "our interval",
                "fairlearn's interval",
            ],
        ),
        Table(
            "Findings of audits without any gap",
            "Rows are assigned to groups at random, so that no gap exists. A fifth of the rows are "
            "positives, and the AUC is .8. `claims` is the largest number of tested claims, by "
            "each column and by all columns together. `any claim` is the share of audits in % with "
            "at least one claim (an adjusted p value below .05). `any p value` is the share of "
            "audits in % with at least one unadjusted p value below .05.",
            ["audit", "claims", "any claim", "any p value"],
            [
                (
                    f"{name}, {n_rows:,} rows{', gamma(.5) weights' if weighted else ''}",
                    false_claims,
                    (n_rows, labels, weighted),
                )
                for name, labels, weighted in (
                    ("2 groups", (2,), False),
                    ("5 groups", (5,), False),
                    ("2 columns of 2 and 3 labels", (2, 3), False),
                    ("2 groups", (2,), True),
                )
                for n_rows in (400, 4_000)
            ],
            share=0.5,
            error_rate=["any claim", "any p value"],
        ),
        Table(
            "Bound of the difference from the pooled AUC",
            "The score counts are random, with 2 to 39 rows, ties and groups of one class. `within "
            "bound` is the share of score counts in % for which the averages `positives` and "
            "`negatives` differ from the pooled AUC by at most the bound. `median ratio` is the "
            "median ratio of the difference to the bound.",
            ["score counts", "within bound", "median ratio"],
            [("random", bound, ())],
            share=10.0,
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
            share=0.4,
            coverage=["coverage"],
            error_rate=["pair errors"],
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
            share=0.5,
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
            share=0.5,
            error_rate=["equal groups", "with the rest"],
        ),
        Table(
            "Critical difference",
            "Each pair of test sets has normal scores and equal true AUCs. `binormal`, `uniform` "
            "and `pilot rows` are the shares of pairs in % whose AUCs differ by more than the "
            "critical difference at 5 % (`auc_critical_difference`). The critical difference is "
            "computed for normal scores, for uniform scores, or from pilot rows as numerous as a "
            "test set. `p value` is the share in % of p values of `auc_difference_pvalue` below "
            "5 %.",
            ["positives/negatives, AUC", "binormal", "uniform", "pilot rows", "p value"],
            [
                (f"{m}/{n}, {auc}", critical, (m, n, auc))
                for m, n in ((10, 40), (10, 990), (20, 400), (50, 950))
                for auc in (0.7, 0.8, 0.9, 0.95)
            ],
            share=0.5,
            error_rate=["binormal", "uniform", "pilot rows", "p value"],
        ),
        Table(
            "Averages that differ from the pooled AUC by delta",
            "Share of runs in % in which `agreement(delta)` finds the average `macro` equivalent "
            "to the pooled AUC although their true difference is delta. The share should be at "
            "most 5 %. The scores of the groups are shifted against each other.",
            ["groups of positives/negatives, AUC", "delta", "found equivalent"],
            [
                (f"{g} groups of {m}/{n}, {auc}", equivalence, (g, m, n, auc, levels))
                for auc in (0.8, 0.95)
                for m, n in ((5, 200), (10, 400), (50, 200))
                for g, levels in ((2, 0.6), (5, 1.0))
            ],
            share=0.25,
            error_rate=["found equivalent"],
        ),
        Table(
            "Tests with a margin",
            "Error rates in % of tests at 5 % if the true value is the bound. `equivalence` is the "
            "error rate of `test_equivalence` with the largest true difference as the margin. "
            "`worst` is the error rate of `test_worst` with the smallest true AUC as the bound. "
            "Whole scores are rounded to whole numbers.",
            ["groups of positives/negatives", "equivalence", "worst"],
            [
                (f"{name}{', whole scores' if whole else ''}", at_margin, (of, whole))
                for name, of, whole in AT_MARGIN
            ],
            share=0.25,
            error_rate=("equivalence", "worst"),
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
        Table(
            "Planned numbers of rows",
            "`positives` and `rows` are the numbers per group that `rows_needed` returns for a "
            "power of 80 % (or for the width). `reached` is the simulated power in % of the test "
            "that was planned, or the mean width of the intervals. The ratio is the standard "
            "deviation of the positives divided by the standard deviation of the negatives. Whole "
            "scores are rounded to whole numbers, and the plan is made from a pilot report of "
            "400,000 such rows.",
            ["target, AUC, share of positives, groups", "positives", "rows", "reached"],
            [
                (
                    f"{target} {value}, {auc}, {share}, {n_groups}{kind}",
                    planned,
                    (target, value, auc, share, n_groups, ratio, whole),
                )
                for target, value, auc, share, n_groups, ratio, whole, kind in PLANS
            ],
            share=0.25,
        ),
        Table(
            "Measures of one group",
            "Coverage in % of 95 % intervals of the partial AUC with `max_fpr=0.1`, the "
            "sensitivity at a specificity of .9, the specificity at a sensitivity of .9, the "
            "average precision, and the Kolmogorov-Smirnov distance. Scores are normal. The ratio "
            "is the standard deviation of the positives divided by the standard deviation of the "
            "negatives. `whole` scores are rounded to whole numbers.",
            [
                "positives / negatives, AUC, ratio of deviations",
                "partial AUC",
                "sensitivity",
                "specificity",
                "average precision",
                "KS",
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
                )
            ],
            coverage=["partial AUC", "sensitivity", "specificity", "average precision", "KS"],
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
                *over_groups,
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
            share=0.25,
            coverage=over_groups,
        ),
        Table(
            "Intervals of one AUC without asymptotic approximation",
            "Coverage in % and mean width of 95 % intervals of the same rows. `disjoint_pairs` and "
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
            share=0.5,
            coverage=FREE,
        ),
        Table(
            "Shrunken AUCs and ranks",
            "`error` and `shrunken` are the root mean squared errors of the AUCs and of the "
            "shrunken AUCs. `interval` is the mean coverage in % of the 95 % intervals of "
            "`ranking`. `ranks` is the coverage in % of all sets of ranks simultaneously. `worst` "
            "and `worst, shrunken` are the shares in % of runs in which the group with the "
            "smallest AUC, or with the smallest shrunken AUC, has the smallest true AUC. `set` is "
            "the share in % of runs in which `may_be_worst` contains the group with the smallest "
            "true AUC. `last rank` and `may be worst` are the mean numbers of groups whose "
            "`rank_high` is the last rank, and of groups with `may_be_worst`. True AUCs are equal, "
            "normal or have a Beta distribution with this mean and standard deviation, or one of "
            "them is lower by this number. Groups have from 6 to this number of positives, and "
            "four negatives per positive. Rounded scores have one decimal digit.",
            [
                "groups, true AUCs, most positives",
                "error",
                "shrunken",
                "interval",
                "ranks",
                "worst",
                "worst, shrunken",
                "set",
                "last rank",
                "may be worst",
            ],
            [
                (
                    f"{g}, {prior} {mean}, {by}, {m}{', rounded' if digits else ''}",
                    ranked,
                    (g, prior, mean, by, m, *digits),
                )
                for g, prior, mean, by, m, *digits in (
                    (2, "normal", 0.8, 0.05, 200),
                    (5, "equal", 0.8, 0.0, 200),
                    (5, "normal", 0.8, 0.05, 200),
                    (30, "equal", 0.8, 0.0, 200),
                    (30, "normal", 0.8, 0.04, 200),
                    (30, "normal", 0.8, 0.04, 200, 1),
                    (30, "Beta", 0.9, 0.05, 200),
                    (30, "one lower", 0.8, 0.1, 200),
                    (100, "normal", 0.8, 0.04, 200),
                    (500, "normal", 0.8, 0.04, 50),
                )
            ],
            coverage=["interval", "ranks", "set"],
        ),
        Table(
            "One AUC of clustered rows",
            "Coverage in % of 95 % intervals of one group AUC. The clusters have 1 row, 2 rows, "
            "and so on. Scores are normal and rounded to multiples of 0.5. The scores of two rows "
            "of a cluster have the correlation ICC. A quarter of the rows are positive, drawn by "
            "row, or all rows of a quarter of the clusters. The bootstrap is `cluster_bootstrap` "
            "with 400 resamples, in a quarter of the runs.",
            [
                "clusters, rows, ICC, AUC, labels",
                "with clusters",
                "bootstrap",
                "without clusters",
            ],
            [
                (str(of), clustered, (of,))
                for of in (
                    *(
                        Clusters(n, 20, 0.3, auc, labels)
                        for n in (20, 60, 200)
                        for auc in (0.75, 0.95)
                        for labels in ("row", "cluster")
                    ),
                    *(
                        Clusters(60, largest, icc, 0.75, "cluster")
                        for largest, icc in ((1, 0.0), (20, 0.0), (20, 0.7))
                    ),
                )
            ],
            coverage=["with clusters", "bootstrap", "without clusters"],
        ),
        Table(
            "Equal AUCs of groups of clustered rows",
            "Coverage in % of the 95 % interval of the average `macro` with clusters, and error "
            "rates in % of tests at 5 %, with clusters and without. Clusters and scores are as in "
            "the table of one AUC.",
            [
                "groups x clusters, rows, ICC, AUC, labels",
                "macro",
                "equal groups",
                "difference",
                "equal groups without clusters",
            ],
            [
                (f"{g} x {of}", clustered_groups, (g, of))
                for g, n, labels in (
                    (2, 20, "row"),
                    (2, 20, "cluster"),
                    (2, 60, "cluster"),
                    (10, 20, "cluster"),
                    (10, 60, "cluster"),
                    (100, 20, "cluster"),
                    (500, 20, "cluster"),
                )
                for of in (Clusters(n, 10, 0.3, 0.75, labels),)
            ],
            share=0.25,
            coverage=["macro"],
            error_rate=["equal groups", "difference", "equal groups without clusters"],
        ),
        Table(
            "Clusters with rows in all groups",
            "Each cluster has two rows of one class in each group. Coverage in % of the 95 % "
            "interval of the average `macro` with clusters, error rate in % of `test_difference` "
            "at 5 % for groups with AUC .75, and its power if the last group has AUC .85, with "
            "clusters and without.",
            [
                "groups, clusters, ICC",
                "macro",
                "error rate",
                "error rate without clusters",
                "power",
                "power without clusters",
            ],
            [
                (f"{g}, {n}, {icc}", crossed, (g, n, icc))
                for g, n in ((2, 20), (2, 200), (10, 60), (50, 60))
                for icc in ((0.3, 0.7) if g == 2 else (0.3,))
            ],
            share=0.25,
            coverage=["macro"],
            error_rate=["error rate", "error rate without clusters"],
        ),
        Table(
            "Two models on clustered rows",
            "Error rate in % of `compare_roc_auc` at 5 % for models with equal AUCs, with clusters "
            "and without. Clusters and scores are as in the table of one AUC.",
            ["clusters, rows, ICC, AUC, labels", "with clusters", "without clusters"],
            [
                (str(of), paired_clusters, (of,))
                for n in (20, 60, 200)
                for icc in (0.3, 0.7)
                for of in (Clusters(n, 20, icc, 0.8, "cluster"),)
            ],
            error_rate=["with clusters", "without clusters"],
        ),
    ]


def run(n_runs: int, cell: tuple[str, Callable[..., list[str]], tuple[Any, ...]], seed: int) -> Any:
    name, function, arguments = cell
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    numbers = function(n_runs, seed, *arguments)
    return name, numbers, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="simulated sets of each cell")
    parser.add_argument("--only", default="", help="replace the tables whose title holds this")
    parser.add_argument("--out", type=Path, default=DOCUMENT)
    arguments = parser.parse_args()
    began, sections = time.perf_counter(), {}
    if arguments.only:
        introduction, *kept = arguments.out.read_text().split("\n## ")
        sections = {section.split("\n")[0]: section for section in kept}
    for number, table in enumerate(tables()):
        if arguments.only not in table.title:
            continue
        n_runs = max(int(arguments.runs * table.share), 1)
        lines = Parallel(n_jobs=-1)(
            delayed(run)(n_runs, cell, 1_000 * number + i) for i, cell in enumerate(table.cells)
        )
        used = [i for i, column in enumerate(table.columns) if column]
        rows = [table.columns, ["---"] * len(table.columns)]
        rows += [[name, *numbers] for name, numbers, _ in lines]
        text = [table.title, "", f"{table.text} {n_runs:,} runs per line.", ""]
        text += [f"| {' | '.join(row[i] for i in used)} |" for row in rows]
        sections[table.title] = "\n".join([*text, ""])
        print(f"## {sections[table.title]}", flush=True)
    if not arguments.only:
        introduction = INTRODUCTION.format(minutes=(time.perf_counter() - began) / 60)
    in_order = [sections[table.title] for table in tables() if table.title in sections]
    arguments.out.write_text("\n## ".join([introduction, *in_order]))


INTRODUCTION = """# Calibration of intervals and tests

`python -m benchmarks.calibration` simulates these tables with fixed seeds. The simulation took
{minutes:.0f} minutes on two cores. The standard error of a share of 95 % or of 5 % is 0.5
percentage points with 2,000 runs, 1.0 with 500 runs and 1.4 with 250 runs. In the plots, the band
is the nominal rate plus and minus two standard errors. 50/200 means 50 positives and 200 negatives
per group.

Main limits:

- Intervals of one AUC have a coverage of 93 % or more, with one exception. With 20 positives, 2,000
  negatives, AUC .9 and twice the standard deviation in the positives, the coverage is 92.7 %.
  `exact` intervals always have sufficient coverage, but these intervals are wide.
- `disjoint_pairs` intervals have sufficient coverage, with one exception: very few rows with few
  distinct scores. With 5 positives, 15 negatives, AUC .95 and scores of two values, the coverage is
  93.3 %. The reason is that equal counts have equal pairs, and few different counts are possible.
- `delong` intervals (on the scale of the AUC) are too short with few rows or a large AUC.
- Intervals over rows have too low coverage of the mean AUC of a population of groups: see the last
  column of the table on the average of group AUCs.
- With few rows per class, the comparisons of single groups are conservative.
- The `tau` of reports is 0 or more, and therefore too large on average if the true tau is 0.
  Scorers average an unbiased estimate of tau squared.
- The interval of `tau` assumes normal true AUCs. For AUCs with a Beta distribution, the coverage is
  85 to 96 % in 75 runs. For 100 groups of 5 positives and 15 negatives with tau .06, the coverage
  is 87 %.
- The critical difference from pilot rows (`auc_critical_difference`) is too small with few
  positives and a large AUC. The critical difference for uniform scores is too small as well.
- In some designs, the equivalence test (`agreement`) has too high an error rate if the true
  difference is delta. With two groups and AUC .95, the error rate is up to 11 % of runs.
- Intervals of the difference hold for all groups simultaneously. These intervals are therefore wide
  with many groups.
- The test of the largest difference has an error rate of 6.9 % with 10 groups of 20 positives, 200
  negatives, AUC .8 and twice the standard deviation in the positives. The interval of the
  difference then has a coverage of 93.1 %. With 2 groups of 20 positives, 2,000 negatives, AUC .95
  and twice the standard deviation in the positives, the error rate is 8.0 % in 200 runs.
- The test of equal groups has an error rate of 3.0 to 4.7 % with 3 groups of 100 positives, 300
  negatives and random weights.
- Intervals of the pooled AUC over new groups have too low coverage with five or ten groups whose
  scores are shifted strongly against each other.
- Intervals of partial AUCs, sensitivities, specificities and the average precision of one group
  have a coverage of 91 % or more. The coverage is lowest with 20 positives and 2,000 negatives.
  Intervals of the Kolmogorov-Smirnov distance are much too wide. Measures of small groups are
  biased, so intervals of averages over small groups have too low coverage. For the average
  precision of 10 groups of 20/80, the coverage is 85 %; for 100 groups, it is 18 %.
- Sets of ranks are conservative: all sets hold simultaneously in 97.8 to 100 % of runs, and the set
  of groups that may be worst contains the worst group in 97.5 to 100 %. The intervals of shrunken
  AUCs have a mean coverage of 94.4 to 99.8 %.
- The comparison of two models has a slightly too high error rate with unequal groups.
- The pooled AUC of percentiles among the negatives of each group is .014 below the average by
  positives on average with 10 or 20 training negatives per group. With 100 training negatives, the
  mean difference is .001 to .003.
- An equivalence test of an average with a `delta` of .005 requires about 100,000 rows per group.
  With fewer rows, the answer is mostly "cannot tell".
"""


if __name__ == "__main__":
    # Workers find the functions in the module of this name, not in "__main__".
    from benchmarks import calibration

    calibration.main()
