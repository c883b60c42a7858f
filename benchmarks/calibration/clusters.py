"""Clustered rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration.simulation import (
    auc_of_rounded_scores,
    covers,
    interval_of,
    percent,
)
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC, compare_models
from skfedauc.inference.differences import difference
from skfedauc.inference.intervals import Spreads
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes
from skfedauc.report.group_auc import estimates_of

# Negatives for each positive of two readings
PER_POSITIVE = 10


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

        Models have half of the effects of clusters in common.
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
    """Coverage for one AUC without and with clusters; runs are groups."""
    rows = of.draw(np.random.default_rng(seed), n_runs)
    given = rows["y"], rows["scores"][0]
    blind, found = (
        GroupAUC.from_predictions(
            *given, groups=rows["groups"], clusters=clusters, undefined="ignore"
        )
        for clusters in (None, rows["clusters"])
    )
    tables = found.confidence_intervals(), blind.confidence_intervals()
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
        held.append(covers(interval_of(found, "macro", "rows"), of.truth))
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
    truth = auc_of_rounded_scores(0.75, 0.5)
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
                    held.append(covers(interval_of(found, "macro", "rows"), truth))
    return [percent(values) for values in (held, *rejected.values())]


def paired_readings(
    n_runs: int, seed: int, m: int, rho: float, one: float, other: float
) -> list[str]:
    """Return how often limits miss the difference of two readings of each case."""
    rng, n = np.random.default_rng(seed), n_runs * (m + PER_POSITIVE * m)
    y, run = np.tile(np.arange(n // n_runs) < m, n_runs), np.repeat(np.arange(n_runs), n // n_runs)
    scores = np.sqrt(rho) * rng.normal(size=n) + np.sqrt(1.0 - rho) * rng.normal(size=(2, n))
    scores += np.sqrt(2.0) * y * ndtri([[one], [other]])
    groups = np.concatenate([2 * run, 2 * run + 1])
    found = GroupAUC.from_predictions(
        np.tile(y, 2), scores.ravel(), groups=groups, clusters=np.tile(np.arange(n), 2)
    )
    variances, first = estimates_of(found).variances, np.arange(0, 2 * n_runs, 2)
    assert variances.clusters is not None
    spreads = Spreads.of(Extremes(variances, variances, variances))
    correlation = variances.clusters.correlations(first, first + 1)
    missed = []
    for is_of_zou in (False, True):
        for tail in (0.025, 0.0005):
            low, high = spreads.estimates(normal_quantile(tail))
            both = low._replace(high=high.high)
            both = both._replace(error=None) if is_of_zou else both
            apart = difference(both.take(first), both.take(first + 1), correlation)
            missed.append(percent((apart.low > one - other) | (one - other > apart.high)))
    return missed


def paired_clusters(n_runs: int, seed: int, of: Clusters) -> list[str]:
    """Error rate of the comparison of two models with equal AUCs on clustered rows."""
    rng, rejected = np.random.default_rng(seed), {True: [], False: []}
    for _ in range(n_runs):
        rows = of.draw(rng, 1, n_models=2)
        for has_clusters, answers in rejected.items():
            clusters = rows["clusters"] if has_clusters else None
            found = compare_models(rows["y"], rows["scores"].T, clusters=clusters)
            answers.append(found.pvalue < 0.05)
    return [percent(values) for values in rejected.values()]


def several_models(n_runs: int, seed: int, n_models: int, of: Clusters) -> list[str]:
    """Share of runs in which any two of several equally good models differ."""
    rng, rejected = np.random.default_rng(seed), []
    for _ in range(n_runs):
        rows = of.draw(rng, 1, n_models)
        rejected.append(
            [
                compare_models(rows["y"], rows["scores"].T, clusters=clusters)
                .table["pvalue_adjusted"]
                .min()
                < 0.05
                for clusters in (rows["clusters"], None)
            ]
        )
    return [percent(rate) for rate in np.transpose(rejected)]


TABLES = [
    Table(
        "One AUC of clustered rows",
        "Coverage in % of 95 % intervals of one group AUC. The clusters have 1 row, 2 rows, "
        "and so on. Scores are normal and rounded to multiples of 0.5. The scores of two rows "
        "of a cluster have the correlation ICC. A quarter of the rows are positive, drawn by "
        "row, or all rows of a quarter of the clusters.",
        [
            "clusters, rows, ICC, AUC, labels",
            "with clusters",
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
        coverage=["with clusters", "without clusters"],
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
        coverage=["macro"],
        error_rate=["error rate", "error rate without clusters"],
        others=[Plot("Power in %", ["power", "power without clusters"])],
    ),
    Table(
        "Two readings of each case",
        "Each case is a cluster with one row in each of two groups, whose scores have the "
        f"correlation rho, and {PER_POSITIVE} negatives for each positive. Share in % of "
        "intervals without the true difference of the AUCs, at 95 % and at 99.9 %, and the same of "
        "intervals with the correlation of the limits (Zou 2007), which the package does not use.",
        [
            "positives, rho, AUCs",
            "95 %",
            "99.9 %",
            "Zou, 95 %",
            "Zou, 99.9 %",
        ],
        [
            (f"{m}, {rho}, {one} and {other}", paired_readings, (m, rho, one, other))
            for one, other in ((0.8, 0.8), (0.6, 0.6), (0.95, 0.8))
            for m in (3, 5, 10, 20)
            for rho in (0.5, 0.9, 0.99)
        ],
        share=5.0,
        others=[Plot("Missed at 95 %, in %", ["95 %", "Zou, 95 %"], 5.0, True)],
    ),
    Table(
        "Two models on clustered rows",
        "Error rate in % of `compare_models` at 5 % for models with equal AUCs, with clusters "
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
    Table(
        "Several models on clustered rows",
        "Share in % of runs in which any two of several models with equal AUCs differ at 5 %: "
        "adjusted p values of `compare_models`, with clusters and without. Clusters and scores "
        "are as in the table of one AUC.",
        ["models, clusters, rows, ICC, AUC, labels", "with clusters", "without clusters"],
        [
            (f"{k}, {of}", several_models, (k, of))
            for k, n, labels in (
                (3, 20, "cluster"),
                (3, 60, "row"),
                (10, 60, "cluster"),
                (10, 200, "cluster"),
            )
            for of in (Clusters(n, 20, 0.3, 0.75, labels),)
        ],
        error_rate=["with clusters", "without clusters"],
    ),
]
