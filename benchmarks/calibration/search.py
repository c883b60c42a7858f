"""Search for the designs in which each interval and each test fails most often.

All designs have the first number of runs; those that fail most have more; and the worst two new
draws, so that the published rate is not the largest of many sampling errors. Limits of group AUCs,
and what follows from them, are computed for all runs at once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.calibration.simulation import Floats
from benchmarks.calibration.table import Table
from skfedauc import GroupAUC, compare_models
from skfedauc.counts.moments import ClassRows
from skfedauc.inference import calibration, proportions
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.inference.differences import (
    AllPairs,
    deviate_of_all_pairs,
    deviate_of_furthest_pair,
    difference,
    reach_of_difference,
    sidak,
)
from skfedauc.inference.equal_groups import equal_groups_test
from skfedauc.inference.intervals import AUCSpread, limits
from skfedauc.inference.model_comparison import rate_changes
from skfedauc.inference.quantiles import normal_quantile
from skfedauc.inference.variances import Extremes, Variances
from skfedauc.report.group_auc import estimates_of

# Errors by name: of one run, or of all runs; NaN if the method has no result
Errors = dict[str, Any]
# Worst designs that have new draws
LAST = 2


class Family(NamedTuple):
    """Designs of one kind, and the methods that they try.

    Attributes
    ----------
    designs : dict of str to tuple
        Arguments of `draw` by name of the design.
    draw : callable
        Draws the data of a run from a random generator and the arguments of a design; of all runs
        if it draws them `together`, and then takes their number.
    methods : tuple of callable
        Each returns the `Errors` of the data.
    stages : tuple of tuple of two int
        Runs of each design, and number of designs, from the first stage on.
    together : bool
    """

    designs: dict[str, tuple[Any, ...]]
    draw: Callable[..., Any]
    methods: tuple[Callable[[Any], Errors], ...]
    stages: tuple[tuple[int, int], ...]
    together: bool = False

    def rates(self, name: str, n_runs: int, method: Callable[[Any], Errors]) -> dict[str, float]:
        """Return the mean errors of a method in %; NaN if most runs have no result."""
        rng = np.random.default_rng(zlib.crc32(f"{n_runs}: {name}".encode()))
        if self.together:
            found = dict(method(self.draw(rng, n_runs, *self.designs[name])))
        else:
            runs = [method(self.draw(rng, *self.designs[name])) for _ in range(n_runs)]
            found = {key: np.array([run[key] for run in runs], float) for key in runs[0]}
        return {
            key: 100.0 * float(np.nanmean(values)) if np.isfinite(values).mean() > 0.5 else np.nan
            for key, values in found.items()
        }


class Data(NamedTuple):
    """Reports whose AUCs are known: groups of one run, or of all runs, and rows of two models."""

    report: GroupAUC
    auc: Floats
    m: Floats
    n: Floats
    rows: dict[str, Any]
    both: Floats


# Positives and negatives of a group
SIZES = {5: 250, 10: 500, 20: 500}
# Some designs have groups of 8/800, and a last group of this size.
SMALL = 2, 20
SHAPES = {f"ratio {ratio:.2g}": (ratio, 0.0) for ratio in (1 / 3, 0.5, 1.0, 2.0, 3.0)}
SHAPES |= {f"two values, rate {rate:g}": (0.0, rate) for rate in (0.001, 0.01, 0.1)}


def draw_run(rng: np.random.Generator, *design: Any) -> Data:
    return draw(rng, 1, *design)


def draw(
    rng: np.random.Generator, n_runs: int, k: int, m: int, auc: float, shape: str, step: float,
    kind: str,
) -> Data:  # fmt: skip
    """Draw runs of k groups, whose AUCs fall by `step` from each group to the next."""
    larger = np.where((np.arange(k) == k - 1) & (kind == "unequal"), 10, 1)
    sizes = np.array([m, SIZES.get(m, 100 * m)])[:, None] * larger
    if kind == "small":
        sizes[:, -1] = SMALL
    y = np.tile(np.concatenate([np.arange(a + b) < a for a, b in sizes.T]), n_runs)
    groups = np.repeat(np.arange(n_runs * k), np.tile(sizes.sum(axis=0), n_runs))
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
    both, own = np.sqrt(0.5) * (noise[:2] + noise[2]), aucs[groups % k]
    if ratio:
        both = np.where(y, both * ratio + ndtri(own) * np.sqrt(1.0 + ratio**2), both)
    else:
        both = np.where(ndtr(both) < np.where(y, 2.0 * own - 1.0 + rate, rate), 0.7, 0.3)
    report = GroupAUC.from_predictions(y, both[0], undefined="ignore", **rows)
    return Data(report, aucs, *sizes.astype(float), rows | {"y_true": y}, both)


def any_below(pvalues: Any) -> float:
    return float(np.nanmin(pvalues) < 0.05)


def missed(low: Any, high: Any, truth: Any) -> Floats:
    """Return 1 for each interval without the true value; NaN for none."""
    low, high, truth = np.broadcast_arrays(*(np.asarray(x, float) for x in (low, high, truth)))
    return np.where(np.isnan(low), np.nan, (low > truth) | (truth > high))


def spread_of_runs(data: Data) -> AUCSpread:
    """Return what determines the limits of the AUCs, by run and group."""
    spread = AUCSpread.of(estimates_of(data.report).variances)
    return AUCSpread(*(values.reshape(-1, data.auc.size) for values in spread[:6]))


def group_limits(data: Data) -> Errors:
    spread = spread_of_runs(data)
    low, high = spread.limits(normal_quantile(0.025))
    k = data.auc.size
    most = spread.limit(1.0, normal_quantile(0.025 / k))
    one_sided = spread.limit(0.0, normal_quantile(0.05))
    return {
        "AUC of a group": missed(low, high, data.auc).mean(axis=1),
        "`worst`": missed(low.min(axis=1), most.min(axis=1), data.auc.min()),
        # As if the other groups were far better, which is the least favorable case
        "`test_margin`, worst group": (one_sided > data.auc).mean(axis=1),
    }


def shares_of(data: Data) -> dict[str, Floats]:
    m, n = data.m, data.n
    weights = {"macro": np.ones(m.size), "samples": m + n, "positives": m, "negatives": n}
    return {name: c / c.sum() for name, c in (weights | {"within": m * n}).items()}


def averages(data: Data) -> Errors:
    """Averages of independent rows; with weights, the one whose shares do not depend on them."""
    spread, deviate, found = spread_of_runs(data), normal_quantile(0.025), {}
    if "clusters" in data.rows:
        return dict.fromkeys((f"`{name}`" for name in shares_of(data)), np.full(1, np.nan))
    of_groups = spread.limits(deviate)
    for name, c in shares_of(data).items():
        value, variance = spread.auc @ c, spread.variance @ c**2
        low, high = limits(value, variance, deviate, "logit")
        below, above = (np.sqrt((spread.auc - end) ** 2 @ c**2) for end in of_groups)
        wrong = missed(
            np.minimum(low, value - below), np.maximum(high, value + above), c @ data.auc
        )
        is_known = name == "macro" or "sample_weight" not in data.rows
        found[f"`{name}`"] = wrong if is_known else np.full(1, np.nan)
    return found


def differences(data: Data) -> Errors:
    """Comparisons of pairs by the limits of their groups; p values agree with the intervals."""
    spread, k = spread_of_runs(data), data.auc.size
    first, second = np.triu_indices(k, 1)
    true = data.auc[first] - data.auc[second]

    def of_pairs(deviate: float) -> tuple[Floats, Floats]:
        low, high = spread.limits(deviate)
        below, above = spread.auc - low, high - spread.auc
        apart = spread.auc[:, first] - spread.auc[:, second]
        return (
            apart - reach_of_difference(below[:, first], above[:, second], None),
            apart + reach_of_difference(above[:, first], below[:, second], None),
        )

    def largest(low: Floats, high: Floats, end: int) -> Floats:
        return (np.maximum(high, -low) if end else np.maximum(low, -high)).max(axis=1)

    single, together = of_pairs(normal_quantile(0.025)), of_pairs(deviate_of_all_pairs(0.05, k))
    reference = of_pairs(sidak(0.05, k - 1).deviate)
    least = np.maximum(largest(*together, 0), 0.0)
    most = largest(*of_pairs(deviate_of_furthest_pair(0.025, k)), 1)
    one_sided = largest(*of_pairs(deviate_of_furthest_pair(0.05, k)), 1)
    gap = float(np.ptp(data.auc))
    equivalent = (one_sided < gap).astype(float)
    return {
        "`difference`": missed(least, most, gap),
        "`test_difference`": np.full(1, np.nan) if gap else (least > 0).astype(float),
        "`compare_groups`, one pair": missed(*single, true).mean(axis=1),
        "`compare_groups`, all pairs": missed(*together, true).max(axis=1),
        "`compare_groups`, a reference": missed(*reference, true)[:, : k - 1].max(axis=1),
        "`test_margin`, equivalence": equivalent if gap else np.full(1, np.nan),
    }


def run_of(variances: Variances, here: slice) -> Variances:
    """Return the variances of the groups of one run."""
    parts = {}
    for field in dataclasses.fields(variances):
        name, values = field.name, getattr(variances, field.name)
        if isinstance(values, ClassRows):
            parts[name] = ClassRows(*(part[here] for part in values))
        elif isinstance(values, np.ndarray):
            parts[name] = values[here]
    return dataclasses.replace(variances, **parts)


def equality(data: Data) -> Errors:
    variances, k = estimates_of(data.report).variances, data.auc.size
    if np.ptp(data.auc):
        return {"`test_equal_groups`": np.full(1, np.nan)}
    runs = (run_of(variances, slice(i, i + k)) for i in range(0, variances.auc.size, k))
    pvalues = [equal_groups_test(Extremes(one, one, one)).pvalue for one in runs]
    return {"`test_equal_groups`": np.where(np.isnan(pvalues), np.nan, np.less(pvalues, 0.05))}


def of_all_runs(data: Data) -> Errors:
    """Return the errors of what is computed for all runs at once."""
    return group_limits(data) | averages(data) | differences(data) | equality(data)


def statistics(data: Data) -> Errors:
    """The pooled AUC, as negatives of all groups have one distribution; averages with clusters."""
    table = data.report.confidence_intervals(of="statistics")
    shares = shares_of(data) | {"pooled": data.m / data.m.sum()}
    found = {}
    for name, c in shares.items():
        wrong = missed(*table.loc[name, ["ci_low", "ci_high"]], c @ data.auc)
        if name == "pooled" or "clusters" in data.rows:
            found[f"`{name}`{', clusters' * (name != 'pooled')}"] = float(wrong)
    return found


def rest(data: Data) -> Errors:
    if np.ptp(data.auc):
        return {}
    table = data.report.compare_groups("rest")
    return {"`compare_groups`, the rest": any_below(table["pvalue_adjusted"])}


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
    rows = {"y_true": data.rows["y_true"], "scores": {"a": data.both[0], "b": data.both[1]}}
    rows |= {name: data.rows.get(name) for name in ("groups", "clusters", "sample_weight")}
    found = {}
    for name in ("pooled", "macro"):
        result = compare_models(**rows, statistic=name, min_per_class=1)
        found[f"`compare_models`, {name}"] = float(result.pvalue < 0.05)
    found["`compare_models`, by group"] = any_below(result.by_group["pvalue_adjusted"])
    return found


def named(designs: Iterable[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    found = {}
    for k, m, auc, shape, apart, kind in designs:
        if 2.0 * auc - 1.0 + SHAPES[shape][1] <= 1.0:
            lowest, n = f" to {auc - apart:g}" if apart else "", SIZES.get(m, 100 * m)
            name = f"{k} of {m}/{n}, {auc:g}{lowest}, {shape}{', ' * bool(kind)}{kind}"
            found[name] = (k, m, auc, shape, apart / (k - 1), kind)
    return found


FEW = ("ratio 1", "ratio 2", "ratio 3", "two values, rate 0.01")
# Equal AUCs, AUCs that differ by .1, and other rows
DESIGNS = named(
    itertools.chain(
        itertools.product((2, 5), SIZES, (0.7, 0.9, 0.95), SHAPES, (0.0,), ("",)),
        itertools.product((5,), (5, 20), (0.8, 0.95), SHAPES, (0.1,), ("",)),
        itertools.product(
            (5,), (10, 20), (0.8, 0.95), FEW, (0.0,), ("unequal", "weights", "clusters")
        ),
    )
)
WITH_SMALL = named(itertools.product((2, 5), (8, 20), (0.8, 0.9), FEW, (0.0,), ("small",)))
TOGETHER = Family(
    DESIGNS | WITH_SMALL,
    draw,
    (of_all_runs,),
    ((500, len(DESIGNS | WITH_SMALL)), (2_000, 10)),
    together=True,
)
ONE_BY_ONE = Family(
    DESIGNS,
    draw_run,
    (statistics, rest, ranking, disparities, models),
    ((40, len(DESIGNS)), (100, 10)),
)


class Decisions(NamedTuple):
    """Numbers of rows and of events by group, of which the first has clusters in `sums`."""

    rate: float
    n_rows: Floats
    events: Floats
    sums: proportions.ClusterSums
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
    sums = proportions.ClusterSums(group, cluster, k, group.size, of_cluster * 1.0, five, five)
    noise = rng.normal(size=(3, n))
    paired = np.sqrt(0.5) * (noise[:2] + noise[2]) < ndtri(rate)
    return Decisions(rate, n_rows.astype(float), events.astype(float), sums, paired)


def limits_of_rates(data: Decisions) -> Errors:
    share, found = data.events / data.n_rows, {}
    for rows, value, kind in (
        (data.n_rows, share, ""),
        (data.sums.shares, data.sums.value, ", clusters"),
    ):
        own = proportions.clopper_pearson(value, rows, 0.025)
        found[f"rate{kind}"] = missed(own.low, own.high, data.rate).mean()
        one, two = own.take([0]), own.take([-1])
        apart = difference(one, two)
        found[f"difference of two rates{kind}"] = missed(apart.low, apart.high, 0.0).mean()
        with np.errstate(divide="ignore"):
            most = 1.0 / proportions.lower_limit_of_ratio(two, one)
        relative = missed(proportions.lower_limit_of_ratio(one, two), most, 1.0)
        found[f"ratio of two rates{kind}"] = relative.mean()
        estimates = proportions.estimates_of_shares(value, rows)
        gap = AllPairs(estimates, value.size).largest(0.05)
        found[f"largest difference of rates{kind}"] = missed(*gap, 0.0).mean()
    return found


def changes_of_rates(data: Decisions) -> Errors:
    n = data.paired.shape[1]
    low, high, _ = rate_changes(data.paired, np.zeros(n, np.intp), 1, np.ones(n), 0.95)
    return {"change of a rate, interval": missed(low, high, 0.0).mean()}


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
    ((100, 120), (400, 20)),
)


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
    ((100, 81), (400, 10)),
)


@functools.cache
def searched(n_runs: int) -> dict[str, list[str]]:
    """Return a line for each method: worst rate, median of all designs, and the worst design."""
    lines = {}
    for family in (TOGETHER, ONE_BY_ONE, RATES, PROBABILITIES):
        rates_of = functools.cache(family.rates)
        n_first = family.stages[0][0]
        for method in family.methods:
            keys = {key for name in family.designs for key in rates_of(name, n_first, method)}
            for key in sorted(keys):
                kept = list(family.designs)
                n_last = 4 * n_runs if family.together else n_runs
                for n, n_kept in (*family.stages, (n_last, LAST)):
                    found = {}
                    for name in kept[-n_kept:]:
                        rate = rates_of(name, n, method).get(key, np.nan)
                        found |= {} if np.isnan(rate) else {name: rate}
                    kept = sorted(found, key=found.__getitem__)
                    if n == n_first:
                        median = float(np.median(list(found.values())))
                lines[key] = [f"{found[kept[-1]]:.1f}", f"{median:.1f}", kept[-1]]
                print(key, *lines[key], sep=" | ", flush=True)
    return lines


def line(n_runs: int, _seed: int, key: str) -> list[str]:
    return searched(n_runs)[key]


AVERAGES = "macro", "samples", "positives", "negatives", "within"
NAMES = [
    "AUC of a group",
    *(f"`{name}`" for name in (*AVERAGES, "pooled")),
    *(f"`{name}`, clusters" for name in AVERAGES),
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
    "change of a rate, interval",
    "mean score minus share of positives",
    "slope of calibration",
]
TABLES = [
    Table(
        "The worst design of each method",
        "Share in % of 95 % intervals without the true value, and of tests at 5 % that are wrong, "
        f"in the worst of {len(DESIGNS)} designs of groups (2 or 5 groups of positives/negatives, "
        "AUC, and distribution of the scores: the ratio is the standard deviation of the positives "
        "divided by that of the negatives, and scores of two values have a false positive rate; "
        "one group ten times larger, weights with log-normal distribution, clusters of five rows "
        f"of a class), of {len(WITH_SMALL)} more for limits of group AUCs and what follows from "
        f"them, with a small last group of {SMALL[0]}/{SMALL[1]}, of {len(RATES.designs)} designs "
        "of rates, and of "
        f"{len(PROBABILITIES.designs)} designs of calibrated scores. `median` is that of all "
        "designs. The two worst designs of a search with fewer runs have new draws, of which "
        "`worst` is the larger rate. Limits of group AUCs, and what follows from them, have four "
        "times as many runs.",
        ["method", "worst", "median", "worst design"],
        [(name, line, (name,)) for name in NAMES],
        share=0.5,
    )
]
