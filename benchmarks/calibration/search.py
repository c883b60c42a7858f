"""Search for the designs in which each interval and each test fails most often.

Many designs with few runs; those that fail most with more; the worst two with new draws, so that
the published rate is not the largest of many sampling errors.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.calibration.simulation import Floats
from benchmarks.calibration.table import Table
from skfedauc import GroupAUC, compare_models
from skfedauc.inference import calibration, paired_rates, rates
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.report import estimates_of

# Share of wrong results by name; NaN if the method has no result
Errors = Mapping[str, float]
# Designs that remain after the first runs of all designs, and numbers of runs
FIRST_RUNS, SECOND_RUNS, KEPT, LAST = 40, 100, 10, 2


class Family(NamedTuple):
    """Designs of one kind, and the methods that they try.

    Attributes
    ----------
    designs : dict of str to tuple
        Arguments of `draw` by name of the design.
    draw : callable
        Draws the data of one run from a random generator and the arguments of a design.
    methods : tuple of callable
        Each returns the `Errors` of one run from its data.
    """

    designs: dict[str, tuple[Any, ...]]
    draw: Callable[..., Any]
    methods: tuple[Callable[[Any], Errors], ...]

    def rates(self, name: str, n_runs: int, method: Callable[[Any], Errors]) -> dict[str, float]:
        """Return the mean errors of a method in %; NaN if most runs have no result."""
        rng = np.random.default_rng(zlib.crc32(f"{n_runs}: {name}".encode()))
        runs = [method(self.draw(rng, *self.designs[name])) for _ in range(n_runs)]
        found = {key: np.array([run[key] for run in runs], float) for key in runs[0]}
        return {
            key: 100.0 * float(np.nanmean(values)) if np.isfinite(values).mean() > 0.5 else np.nan
            for key, values in found.items()
        }


# AUCs ----------------------------------------------------------------------------------------


class Data(NamedTuple):
    """A report of groups whose AUCs are known, with the rows and the scores of a second model."""

    report: GroupAUC
    auc: Floats
    m: Floats
    n: Floats
    rows: dict[str, Any]
    second: Floats


# Positives and negatives of a group
SIZES = {5: 250, 10: 500, 20: 500}
SHAPES = {f"ratio {ratio:.2g}": (ratio, 0.0) for ratio in (1 / 3, 0.5, 1.0, 2.0, 3.0)}
SHAPES |= {f"two values, rate {rate:g}": (0.0, rate) for rate in (0.001, 0.01, 0.1)}


def draw(
    rng: np.random.Generator, k: int, m: int, auc: float, shape: str, step: float, kind: str
) -> Data:
    """Draw k groups, whose AUCs fall by `step` from each group to the next."""
    sizes = np.array([m, SIZES[m]])[:, None] * np.where(np.arange(k) < k - 1, 1, 10)
    if kind != "unequal":
        sizes = np.repeat([[m], [SIZES[m]]], k, axis=1)
    y = np.concatenate([np.arange(a + b) < a for a, b in sizes.T])
    groups = np.repeat(np.arange(k), sizes.sum(axis=0))
    aucs = auc - step * np.arange(k)
    noise = rng.normal(size=(3, y.size))
    rows: dict[str, Any] = {"groups": groups}
    if kind == "weights":
        rows["sample_weight"] = np.exp(rng.normal(size=y.size))
    if kind == "clusters":
        # Five rows of a class and a group are a cluster.
        rows["clusters"] = np.arange(y.size) // 5 * 2 + y
        shared = rng.normal(size=(3, rows["clusters"].max() + 1))
        noise = np.sqrt(0.3) * shared[:, rows["clusters"]] + np.sqrt(0.7) * noise
    ratio, rate = SHAPES[shape]
    both = np.sqrt(0.5) * (noise[:2] + noise[2])
    if ratio:
        apart = (ndtri(aucs) * np.sqrt(1.0 + ratio**2))[groups]
        both = np.where(y, both * ratio + apart, both)
    else:
        both = (ndtr(both) < np.where(y, 2.0 * aucs[groups] - 1.0 + rate, rate)).astype(float)
    report = GroupAUC.from_predictions(y, both[0], undefined="ignore", **rows)
    return Data(report, aucs, *sizes.astype(float), rows | {"y_true": y}, both)


def any_below(pvalues: Any) -> float:
    return float(np.nanmin(pvalues) < 0.05)


def missed(low: Any, high: Any, truth: Any) -> Floats:
    """Return 1 for each interval without the true value; NaN for none."""
    low, high, truth = np.broadcast_arrays(*(np.asarray(x, float) for x in (low, high, truth)))
    return np.where(np.isnan(low), np.nan, (low > truth) | (truth > high))


def group_limits(data: Data) -> Errors:
    table = data.report.confidence_intervals()
    return {"AUC of a group": float(missed(table["ci_low"], table["ci_high"], data.auc).mean())}


def statistics(data: Data) -> Errors:
    table = data.report.confidence_intervals(of="statistics")
    share = {
        "macro": np.ones(data.m.size),
        "samples": data.m + data.n,
        "positives": data.m,
        "negatives": data.n,
        "within": data.m * data.n,
    }
    truth = {name: float(c @ data.auc / c.sum()) for name, c in share.items()}
    # The negatives of all groups have one distribution.
    truth |= {"pooled": truth["positives"], "worst": data.auc.min(), "difference": np.ptp(data.auc)}
    limits = table[["ci_low", "ci_high"]]
    return {f"`{name}`": float(missed(*limits.loc[name], x)) for name, x in truth.items()}


def comparisons(data: Data) -> Errors:
    k = data.auc.size
    first, second = np.triu_indices(k, 1)
    pairs = data.report.compare_groups()
    apart = data.auc[first] - data.auc[second]
    others = data.auc[0] - data.auc[1:]
    one = data.report.compare_groups([0])
    found = {
        "`compare_groups`, one pair": missed(pairs["ci_low"], pairs["ci_high"], apart).mean(),
        "`compare_groups`, all pairs": missed(
            pairs["simultaneous_low"], pairs["simultaneous_high"], apart
        ).max(),
        "`compare_groups`, a reference": missed(
            one["simultaneous_low"], one["simultaneous_high"], -others
        ).max(),
    }
    if not np.ptp(data.auc):
        found["`compare_groups`, the rest"] = any_below(
            data.report.compare_groups("rest")["pvalue_adjusted"]
        )
        found["`test_difference`"] = float(data.report.test_difference().pvalue < 0.05)
    return found


def equality(data: Data) -> Errors:
    if np.ptp(data.auc):
        return {}
    return {"`test_equal_groups`": float(data.report.test_equal_groups().pvalue < 0.05)}


def margins(data: Data) -> Errors:
    """Test at the bound: the smallest AUC or the largest difference is as large as the margin."""
    worst = data.report.test_margin(0.0, reference=float(data.auc.min()))
    found = {"`test_margin`, worst group": float(worst.pvalue < 0.05)}
    if np.ptp(data.auc):
        equivalent = data.report.test_margin(float(np.ptp(data.auc)))
        found["`test_margin`, equivalence"] = float(equivalent.pvalue < 0.05)
    return found


def ranking(data: Data) -> Errors:
    if not np.ptp(data.auc):
        return {}
    table = data.report.ranking()
    true = np.arange(1, data.auc.size + 1)  # the largest AUC has rank 1
    best_first = table["rank_low"].to_numpy(), table["rank_high"].to_numpy()
    return {
        "`ranking`, ranks of all groups": missed(*best_first, true).max(),
        "`ranking`, worst group": float(not table["may_be_worst"].iloc[-1]),
    }


def disparities(data: Data) -> Errors:
    estimates = estimates_of(data.report)
    found = cross_gaps(data.report.counts, estimates.pairs.clusters)
    of_all = (data.m * data.auc).sum()
    others = (of_all - data.m * data.auc) / (data.m.sum() - data.m)
    return {"xAUC disparities": missed(*found.limits(0.95), data.auc - others).max()}


def models(data: Data) -> Errors:
    rows = {"y_true": data.rows["y_true"], "scores": {"a": data.second[0], "b": data.second[1]}}
    rows |= {name: data.rows.get(name) for name in ("groups", "clusters", "sample_weight")}
    found = {}
    for name in ("pooled", "macro"):
        result = compare_models(**rows, statistic=name)
        found[f"`compare_models`, {name}"] = float(result.pvalue < 0.05)
    found["`compare_models`, by group"] = any_below(result.by_group["pvalue_adjusted"])
    return found


def auc_designs() -> dict[str, tuple[Any, ...]]:
    """Return designs of equal AUCs, of AUCs that differ by .1, and of other rows."""
    equal = itertools.product((2, 5), SIZES, (0.7, 0.9, 0.95), SHAPES, (0.0,), ("",))
    lower = itertools.product((5,), (5, 20), (0.8, 0.95), SHAPES, (0.1,), ("",))
    few = ("ratio 1", "ratio 2", "ratio 3", "two values, rate 0.01")
    kinds = ("unequal", "weights", "clusters")
    others = itertools.product((5,), (10, 20), (0.8, 0.95), few, (0.0,), kinds)
    found = {}
    for k, m, auc, shape, apart, kind in itertools.chain(equal, lower, others):
        if 2.0 * auc - 1.0 + SHAPES[shape][1] <= 1.0:
            lowest = f" to {auc - apart:g}" if apart else ""
            name = f"{k} of {m}/{SIZES[m]}, {auc:g}{lowest}, {shape}{', ' * bool(kind)}{kind}"
            found[name] = (k, m, auc, shape, apart / (k - 1), kind)
    return found


AUCS = Family(
    auc_designs(),
    draw,
    (group_limits, statistics, comparisons, equality, margins, ranking, disparities, models),
)


# Rates ---------------------------------------------------------------------------------------


class Decisions(NamedTuple):
    """Numbers of rows and of events by group, of which the first has clusters in `sums`."""

    rate: float
    n_rows: Floats
    events: Floats
    sums: rates.ClusterSums
    paired: Floats


def draw_decisions(rng: np.random.Generator, k: int, n: int, rate: float, larger: int) -> Decisions:
    n_rows = np.full(k, n)
    n_rows[-1] *= larger
    events = rng.binomial(n_rows, rate)
    # Clusters of five rows with a correlation of .2
    n_clusters = np.maximum(n_rows // 5, 2)
    group = np.repeat(np.arange(k), n_clusters)
    of_cluster = rng.binomial(5, rng.beta(4.0 * rate, 4.0 * (1.0 - rate), group.size))
    five = np.full(group.size, 5.0)
    cluster = np.arange(group.size)
    sums = rates.ClusterSums(group, cluster, of_cluster * 1.0, five, five, k, group.size)
    noise = rng.normal(size=(3, n))
    paired = np.sqrt(0.5) * (noise[:2] + noise[2]) < ndtri(rate)
    return Decisions(rate, n_rows.astype(float), events.astype(float), sums, paired)


def limits_of_rates(data: Decisions) -> Errors:
    share, found = data.events / data.n_rows, {}
    for rows, value, kind in (
        (data.n_rows, share, ""),
        (data.sums.shares, data.sums.value, ", clusters"),
    ):
        _, low, high = own = rates.clopper_pearson(value, rows, 0.025)
        found[f"rate{kind}"] = missed(low, high, data.rate).mean()
        one, two = (rates.Limits(*(part[[g]] for part in own)) for g in (0, -1))
        apart, relative = rates.difference(one, two), rates.ratio(one, two)
        found[f"difference of two rates{kind}"] = missed(apart.low, apart.high, 0.0).mean()
        found[f"ratio of two rates{kind}"] = missed(relative.low, relative.high, 1.0).mean()
        estimates = rates.estimates_of_shares(value, rows)
        gap = rates.limits_of_difference(estimates, value.size, 0.05, 0.025)
        found[f"largest difference of rates{kind}"] = missed(*gap, 0.0).mean()
    found["equal rates, clusters"] = float(data.sums.test_equal() < 0.05)
    return found


def changes_of_rates(data: Decisions) -> Errors:
    n = data.paired.shape[1]
    found = paired_rates.rate_changes(data.paired, np.zeros(n, np.intp), 1, np.ones(n), 0.95)
    return {
        "change of a rate, interval": missed(found.ci_low, found.ci_high, 0.0).mean(),
        "change of a rate, test": float(found.pvalue[0] < 0.05),
    }


RATES = Family(
    {
        f"{k} of {n}{f', one of {n * larger}' if larger > 1 else ''}, rate {rate:g}": (
            *(k, n, rate, larger),
        )
        for k, n, rate, larger in itertools.product(
            (2, 5, 20), (5, 10, 20, 100), (0.01, 0.05, 0.2, 0.5, 0.9), (1, 50)
        )
    },
    draw_decisions,
    (limits_of_rates, changes_of_rates),
)


# Probabilities -------------------------------------------------------------------------------


def draw_probabilities(
    rng: np.random.Generator, n: int, mean: float, precision: float, kind: str
) -> GroupAUC:
    """Draw ten groups of calibrated scores from a Beta distribution."""
    scores = np.clip(rng.beta(mean * precision, (1 - mean) * precision, 10 * n), 1e-9, 1 - 1e-9)
    noise, rows = rng.normal(size=10 * n), {"groups": np.arange(10 * n) % 10}
    if kind == "weights":
        rows["sample_weight"] = np.exp(rng.normal(size=10 * n))
    if kind == "clusters":
        rows["clusters"] = np.arange(10 * n) // 50 * 10 + rows["groups"]
        shared = rng.normal(size=rows["clusters"].max() + 1)[rows["clusters"]]
        noise = np.sqrt(0.3) * shared + np.sqrt(0.7) * noise
    return GroupAUC.from_predictions(
        ndtr(noise) < scores, scores, pos_label=True, undefined="ignore", **rows
    )


def calibrated(report: GroupAUC) -> Errors:
    cells, clusters = report.counts.cells, estimates_of(report).pairs.clusters
    own = None if clusters is None else calibration.ClusterCells(clusters, cells)
    means = calibration.mean_scores(cells, 0.95, own)
    slopes = calibration.slopes(cells, 0.95, own)
    has_slope = np.isfinite(slopes.low)
    wrong = missed(slopes.low, slopes.high, 1.0)[has_slope]
    return {
        "mean score minus share of positives": float(np.nanmean(missed(means.low, means.high, 0))),
        "slope of calibration": float(wrong.mean()) if has_slope.any() else np.nan,
    }


PROBABILITIES = Family(
    {
        f"{n} rows, mean {mean:g}, precision {precision:g}{', ' * bool(kind)}{kind}": (
            *(n, mean, precision, kind),
        )
        for n, mean, precision, kind in itertools.product(
            (20, 50, 500), (0.02, 0.1, 0.5), (0.5, 5.0, 100.0), ("", "weights", "clusters")
        )
    },
    draw_probabilities,
    (calibrated,),
)


# Search --------------------------------------------------------------------------------------


@functools.cache
def searched(n_runs: int) -> dict[str, list[str]]:
    """Return a line for each method: worst rate, median of all designs, and the worst design."""
    lines = {}
    for family in (AUCS, RATES, PROBABILITIES):
        rates_of = functools.cache(family.rates)
        key_of = {
            method: {key for name in family.designs for key in rates_of(name, FIRST_RUNS, method)}
            for method in family.methods
        }
        for method, keys in key_of.items():
            for key in sorted(keys):
                stages = (FIRST_RUNS, len(family.designs)), (SECOND_RUNS, KEPT), (n_runs, LAST)
                kept: list[str] = list(family.designs)
                for n, n_kept in stages:
                    found = {}
                    for name in kept[-n_kept:]:
                        rate = rates_of(name, n, method).get(key, np.nan)
                        found |= {} if np.isnan(rate) else {name: rate}
                    kept = sorted(found, key=found.__getitem__)
                    if n == FIRST_RUNS:
                        median = float(np.median(list(found.values())))
                lines[key] = [f"{found[kept[-1]]:.1f}", f"{median:.1f}", kept[-1]]
                print(key, *lines[key], sep=" | ", flush=True)
    return lines


def line(n_runs: int, _seed: int, key: str) -> list[str]:
    return searched(n_runs)[key]


NAMES = [
    "AUC of a group",
    *(f"`{name}`" for name in ("macro", "samples", "positives", "negatives", "within", "pooled")),
    "`worst`",
    "`difference`",
    *(f"`compare_groups`, {name}" for name in ("one pair", "all pairs", "a reference", "the rest")),
    "`test_difference`",
    "`test_equal_groups`",
    "`test_margin`, worst group",
    "`test_margin`, equivalence",
    "`ranking`, ranks of all groups",
    "`ranking`, worst group",
    "xAUC disparities",
    *(f"`compare_models`, {name}" for name in ("pooled", "macro", "by group")),
    *(
        f"{name}{kind}"
        for kind in ("", ", clusters")
        for name in (
            "rate",
            "difference of two rates",
            "ratio of two rates",
            "largest difference of rates",
        )
    ),
    "equal rates, clusters",
    "change of a rate, interval",
    "change of a rate, test",
    "mean score minus share of positives",
    "slope of calibration",
]
TABLES = [
    Table(
        "The worst design of each method",
        f"Share in % of 95 % intervals without the true value, and of tests at 5 % that are wrong, "
        f"in the worst of {len(AUCS.designs)} designs of AUCs, {len(RATES.designs)} of rates and "
        f"{len(PROBABILITIES.designs)} of probabilities. `median` is that of all designs with "
        f"{FIRST_RUNS} runs each. The {KEPT} worst designs had {SECOND_RUNS} further runs, and the "
        f"{LAST} worst of these new draws, which `worst` shows.",
        ["method", "worst", "median", "worst design"],
        [(name, line, (name,)) for name in NAMES],
        share=0.5,
        error_rate=["worst", "median"],
    )
]
