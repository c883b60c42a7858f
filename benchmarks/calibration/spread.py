"""Standard deviation of true AUCs, shrunken AUCs and ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.calibration.simulation import Floats, draw_rows, groups, percent, report
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC
from skfedauc.report.statistics import squared_tau


def spread(n_runs: int, seed: int, n_groups: int, tau: float, m: Any, n: Any) -> list[str]:
    """Means of the estimates of tau, squared for scorers, and the error of REML."""

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
    squares, found = [], []
    for _ in range(n_runs):
        auc = true(rng)
        of_run = report(rng, groups(auc.size, m, n, auc))
        squares.append(squared_tau(of_run._estimates))
        found.append(of_run.tau)
    root = np.sign(np.mean(squares)) * np.sqrt(abs(np.mean(squares)))
    error = np.sqrt(np.mean((np.array(found) - tau) ** 2))
    return [f"{number:.4f}" for number in (root, np.mean(found), error)]


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


TABLES = [
    Table(
        "Standard deviation of the true AUCs (tau)",
        "`root of mean square` is the square root of the mean estimate of tau squared, which "
        "scorers average. `REML` is the mean REML estimate, which reports use, and `error of REML` "
        "its root mean squared error. True AUCs are normal with mean .8, or have a Beta "
        "distribution with mean .9.",
        ["groups, tau", "root of mean square", "REML", "error of REML"],
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
        others=[Plot("Estimates of tau", ["root of mean square", "REML", "error of REML"])],
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
                (5, "one lower", 0.9, 0.3, 200),
                (100, "normal", 0.8, 0.02, 200),
                (100, "normal", 0.8, 0.04, 200),
                (500, "normal", 0.8, 0.02, 20),
                (500, "normal", 0.8, 0.02, 50),
                (500, "normal", 0.8, 0.04, 50),
            )
        ],
        coverage=["interval", "ranks", "set"],
    ),
]
