"""Prove and measure certain intervals of binned scores: ``python -m benchmarks.bins``.

The first part counts data sets in which a certain interval does not hold the exact value, computed
over all pairs of rows. The second part measures the widths of the intervals, and the errors of
packages that report no certain interval. The tables are printed and written to benchmarks/bins.md.

``--keras PYTHON`` and ``--spark PYTHON`` name interpreters of environments with these packages; the
default is the interpreter that runs this script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from skfedauc import Bins, GroupAUC, ScoreCounts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OUTPUT = Path("benchmarks/bins.md")
DATA_SETS = 1_000
# Larger than the rounding error of either side of a comparison with the exact value
ROUNDING = 1e-12
ROWS, SITES = 200_000, 8
NUMBERS = (64, 1_024, 65_536)
STATISTICS = (
    "pooled",
    "macro",
    "samples",
    "positives",
    "negatives",
    "within",
    "worst",
    "ratio",
    "cross",
    "difference",
    "cross_difference",
    "bias_score",
)


def expit(x: Floats) -> Floats:
    found: Floats = 1.0 / (1.0 + np.exp(-x))
    return found


def _uniform(rng: np.random.Generator, n: int) -> Floats:
    return rng.random(n)


def _skewed(rng: np.random.Generator, n: int) -> Floats:
    return expit(4.0 * rng.normal(size=n))


def _rare(rng: np.random.Generator, n: int) -> Floats:
    return expit(1.5 * rng.normal(size=n) - 7.0)


def _tied(rng: np.random.Generator, n: int) -> Floats:
    return expit(1.5 * rng.normal(size=n)).round(2)


# Scores by design. Labels are drawn with the score as the probability of a positive, before ties.
DESIGNS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "uniform": _uniform,
    "skewed": _skewed,
    "rare events": _rare,
    "tied": _tied,
}


class Rows(NamedTuple):
    y: Ints
    scores: Floats
    groups: Ints
    weights: Floats | None

    def counts(
        self, disclosure: Any, which: NDArray[np.bool_] | slice = slice(None)
    ) -> ScoreCounts:
        return ScoreCounts.from_predictions(
            self.y[which],
            self.scores[which],
            groups=self.groups[which],
            sample_weight=None if self.weights is None else self.weights[which],
            disclosure=disclosure,
        )


def exact_values(rows: Rows) -> tuple[dict[str, float], Floats]:
    """Return the statistics and the group AUCs by their definitions, over all pairs of rows."""
    weights = np.ones(rows.y.size) if rows.weights is None else rows.weights
    kept = weights > 0
    y, scores, weights = rows.y[kept], rows.scores[kept], weights[kept]
    labels, codes = np.unique(rows.groups[kept], return_inverse=True)
    of_group = codes[:, None] == np.arange(labels.size)
    pos, neg = y == 1, y == 0
    wins = (scores[pos][:, None] > scores[neg]) + 0.5 * (scores[pos][:, None] == scores[neg])
    weight = np.outer(weights[pos], weights[neg])
    a, b = of_group[pos].astype(float), of_group[neg].astype(float)
    pairs, concordant = a.T @ weight @ b, a.T @ (weight * wins) @ b
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = concordant / pairs
        positives, negatives = a.T @ weights[pos], b.T @ weights[neg]
        auc = np.diag(matrix)
        used = ~np.isnan(auc)
        others = ~np.eye(labels.size, dtype=bool)
        gaps = np.abs(matrix - matrix.T)[np.outer(used, used) & others]
        bnsp = (concordant * others).sum(1) / (pairs * others).sum(1)
        bpsn = (concordant * others).sum(0) / (pairs * others).sum(0)
        values = {
            "pooled": concordant.sum() / pairs.sum(),
            "within": np.trace(concordant) / np.trace(pairs),
            "cross": (concordant * others).sum() / (pairs * others).sum(),
        }
        for name, share in (
            ("macro", np.ones(labels.size)),
            ("samples", positives + negatives),
            ("positives", positives),
            ("negatives", negatives),
        ):
            values[name] = (share * auc)[used].sum() / share[used].sum()
        values["bias_score"] = 0.25 * values["pooled"] + 0.25 * sum(
            _power_mean(of_groups) for of_groups in (auc, bpsn, bnsp)
        )
    low, high = (np.nan, np.nan) if not used.any() else (auc[used].min(), auc[used].max())
    values["worst"] = low
    values["difference"] = high - low if used.sum() > 1 else np.nan
    values["ratio"] = low / high if used.sum() > 1 and high > 0 else np.nan
    values["cross_difference"] = gaps.max() if gaps.size else np.nan
    return {name: float(values[name]) for name in STATISTICS}, auc


def _power_mean(values: Floats) -> float:
    values = values[~np.isnan(values)]
    if not values.size:
        return float("nan")
    return float(np.mean(values**-5.0) ** -0.2) if values.min() > 0 else 0.0


class Checked(NamedTuple):
    n_intervals: int
    n_violations: int
    n_wide: int
    n_of_halves: int


def _random_bins(rng: np.random.Generator, rows: Rows) -> Bins:
    """Return bins of any kind, coarse or fine."""
    parts = int(2 ** rng.integers(0, 8))
    kind = rng.integers(4)
    if kind == 0:
        return Bins.of_probabilities(octaves=int(rng.integers(1, 24)), parts=parts)
    if kind == 1:
        return Bins.of_scores(parts=parts)
    if kind == 2:
        return Bins.at(np.unique(rng.random(int(rng.integers(1, 60)))))
    first = rows.counts(Bins.of_probabilities(octaves=12, parts=64))
    return Bins.of_quantiles(first, int(rng.integers(2, 40)))


def _random_rows(rng: np.random.Generator, design: str) -> Rows:
    """Return 40 to 300 rows in groups of unequal size, some of which lack a class."""
    n, n_groups = int(rng.integers(40, 300)), int(rng.integers(1, 9))
    scores = DESIGNS[design](rng, n)
    # Few data sets of this size have positives of rare events, so draw more positives.
    chance = np.minimum(scores * 100.0, 0.5) if design == "rare events" else scores
    y = (rng.random(n) < chance).astype(np.int64)
    y[:2] = 0, 1
    groups = rng.choice(n_groups, n, p=rng.dirichlet(np.full(n_groups, 2.0)))
    weights = str(rng.choice(["none", "integer", "float"]))
    of_rows = {"integer": rng.integers(0, 4, n).astype(float), "float": rng.lognormal(size=n)}
    return Rows(y, scores, groups.astype(np.int64), of_rows.get(weights))


def _merged(rng: np.random.Generator, rows: Rows, bins: Bins) -> ScoreCounts:
    """Merge the counts of random sites in a random order, as a random tree."""
    site = rng.integers(0, rng.integers(1, 7), rows.y.size)
    parts = [rows.counts(bins, site == number) for number in np.unique(site)]
    while len(parts) > 1:
        rng.shuffle(parts)
        n_merged = int(rng.integers(2, min(len(parts), 3) + 1))
        parts = [ScoreCounts.merge(parts[:n_merged]), *parts[n_merged:]]
    return parts[0]


def check(design: str, n_data_sets: int) -> dict[str, Checked]:
    """Count intervals that do not hold the exact value, or the value of the binned scores."""
    found = {name: np.zeros(4, np.int64) for name in (*STATISTICS, "group AUCs")}
    for seed in range(n_data_sets):
        rng = np.random.default_rng([sorted(DESIGNS).index(design), seed])
        rows = _random_rows(rng, design)
        counts = _merged(rng, rows, _random_bins(rng, rows))
        binned = GroupAUC(counts, undefined="ignore")
        values, aucs = exact_values(rows)
        table, of_groups = binned.bounds(), binned.bounds(of="groups")
        for name, exact in values.items():
            found[name] += _judged(exact, *table.loc[name])
        for exact, row in zip(aucs, of_groups.itertuples(index=False, name=None), strict=True):
            found["group AUCs"] += _judged(exact, *row)
    return {name: Checked(*counted.tolist()) for name, counted in found.items()}


def _judged(exact: float, value: float, low: float, high: float) -> Ints:
    """Return 1, and whether the interval is violated, has a width, and is violated if halved."""
    if np.isnan(exact):
        return np.zeros(4, np.int64)
    holds = low - ROUNDING <= exact <= high + ROUNDING and (np.isnan(value) or low <= value <= high)
    is_in_half = abs(exact - (low + high) / 2.0) <= (high - low) / 4.0 + ROUNDING
    return np.array([1, not holds, high - low > ROUNDING, not is_in_half], np.int64)


def violations(n_data_sets: int) -> Iterator[str]:
    """Yield the lines of the first part."""
    found = {design: check(design, n_data_sets) for design in DESIGNS}
    total = [sum(of[i] for by in found.values() for of in by.values()) for i in range(4)]
    yield from (
        "## Violations",
        "",
        f"{n_data_sets:,} random data sets of each design, of 40 to 300 rows in one to eight "
        "groups of unequal size, some with one class; a third with integer weights, a third with "
        "real weights. The rows are split into one to six sites. Each site counts its rows in the "
        "same bins, drawn at random: probabilities, scores, edges or quantiles, from 2 to some "
        "6,000 bins. The sites' counts are merged in random order. The exact values are computed "
        "over all pairs of the exact rows. An interval is violated if it does not hold the exact "
        "value (up to 1e-12, for the rounding error of both sides) or the value of the binned "
        "scores.",
        "",
        f"**{total[1]} of {total[0]:,} intervals are violated**; {total[2]:,} have a width above "
        f"0. As a control, {total[3]:,} intervals would be violated if they were half as wide. "
        "Cells: violations / intervals.",
        "",
        f"| statistic | {' | '.join(DESIGNS)} |",
        "| --- |" + " --- |" * len(DESIGNS),
    )
    for name in (*STATISTICS, "group AUCs"):
        cells = [f"{of[name].n_violations} / {of[name].n_intervals:,}" for of in found.values()]
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""


class Width(NamedTuple):
    n_used: int
    width: float
    error: float


# Octaves and parts of `Bins.of_probabilities` with about the wanted number of bins
_OF_PROBABILITIES = {64: (15, 2), 1_024: (16, 32), 65_536: (32, 1_024)}


def _rows_of(design: str) -> Rows:
    rng = np.random.default_rng(0)
    scores = DESIGNS[design](rng, ROWS)
    y = (rng.random(ROWS) < scores).astype(np.int64)
    return Rows(y, scores, rng.integers(0, SITES, ROWS), None)


def _bins_of(rows: Rows, wanted: int) -> dict[str, Bins]:
    octaves, parts = _OF_PROBABILITIES[wanted]
    kinds = {
        "`Bins.of_probabilities`": Bins.of_probabilities(octaves=octaves, parts=parts),
        "`Bins.at`, equal widths": Bins.at(np.linspace(0, 1, wanted + 1)[1:-1]),
    }
    # The number of bins in use depends on the scores: take the power of two that comes nearest.
    powers = [2**power for power in range(17)]
    used = [np.unique(Bins.of_scores(n).numbers_of(rows.scores)).size for n in powers]
    nearest = int(np.argmin(np.abs(np.log(used) - np.log(wanted))))
    kinds["`Bins.of_scores`"] = Bins.of_scores(powers[nearest])
    first = rows.counts(Bins.of_probabilities(octaves=32, parts=2_048))
    kinds["`Bins.of_quantiles`"] = Bins.of_quantiles(first, wanted)
    return kinds


def widths(rows: Rows, exact: float) -> dict[str, list[Width]]:
    """Return the width and the error of the pooled AUC by kind of bins, for each number of bins."""
    found: dict[str, list[Width]] = {}
    for wanted in NUMBERS:
        for kind, bins in _bins_of(rows, wanted).items():
            sites = [rows.counts(bins, rows.groups == site) for site in range(SITES)]
            counts = ScoreCounts.merge(sites)
            of_all = GroupAUC(counts.regroup(None)).bounds()
            value, low, high = (float(number) for number in of_all.to_numpy()[0])
            if not low <= exact <= high:
                raise RuntimeError(f"{kind}: {exact} is not in the interval {low} to {high}")
            n_used = np.unique(counts.cells.scores).size
            found.setdefault(kind, []).append(Width(n_used, high - low, value - exact))
    return found


def _of_peer(peer: str, python: str, rows: Rows) -> list[float] | str:
    """Return the AUCs of another package, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, y=rows.y.astype(float), scores=rows.scores, numbers=NUMBERS)
        command = [python, "benchmarks/bins_peers.py", peer, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def tables(pythons: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the second part."""
    yield from (
        "## Widths",
        "",
        f"Pooled AUC of {ROWS:,} rows at {SITES} sites. `width` is the width of the certain "
        "interval, `error` is the value of the binned scores minus the exact AUC, and `used` is "
        "the number of bins that have rows. The number of bins of `Bins.of_scores` is not fixed, "
        "so its resolution is chosen for the nearest number of bins in use. `Bins.of_quantiles` "
        "needs an earlier round: here 131,076 bins of probabilities. The counts do not disclose "
        "that all rows of a bin are tied, so the width of tied scores is above 0.",
        "",
        'Keras\' `AUC(num_thresholds=, curve="ROC", summation_method="interpolation")` and '
        "Spark's `BinaryClassificationEvaluator(numBins=)`, which uses "
        "BinaryClassificationMetrics, get the same rows. They report a value without a bound. "
        "Spark joins neighboring distinct scores only if there are at least twice as many as bins; "
        "otherwise its AUC is exact.",
        "",
    )
    for design in DESIGNS:
        rows = _rows_of(design)
        exact = GroupAUC(rows.counts("exact").regroup(None)).pooled
        n_distinct = np.unique(rows.scores).size
        yield from (
            f"### {design}",
            "",
            f"{int(rows.y.sum()):,} positives, {n_distinct:,} distinct scores, exact AUC "
            f"{exact:.6f}.",
            "",
            "| | " + " | ".join(f"{n:,} bins: used | width | error" for n in NUMBERS) + " |",
            "| --- |" + " --- |" * 3 * len(NUMBERS),
        )
        for kind, of_kind in widths(rows, exact).items():
            cells = [f"{w.n_used:,} | {w.width:.1e} | {w.error:+.1e}" for w in of_kind]
            yield f"| {kind} | {' | '.join(cells)} |"
        for peer, python in pythons.items():
            found = _of_peer(peer, python, rows)
            if isinstance(found, str):
                yield f"| {peer.capitalize()}: {found} |" + " |" * 3 * len(NUMBERS)
                continue
            cells = [f" | no bound | {value - exact:+.1e}" for value in found]
            yield f"| {peer.capitalize()} | {' | '.join(cells)} |"
        yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for peer in ("keras", "spark"):
        parser.add_argument(f"--{peer}", metavar="PYTHON", default=sys.executable)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    arguments = parser.parse_args()
    began = time.process_time()
    lines = [
        "# Certain intervals of binned scores",
        "",
        f"Written by `python -m benchmarks.bins`. {report.describe(report.machine())}",
        "",
        *violations(arguments.data_sets),
    ]
    print("\n".join(lines))
    rest = list(tables({"keras": arguments.keras, "spark": arguments.spark}))
    rest.append(f"All of it took {time.process_time() - began:.0f} s of processor time, without ")
    rest[-1] += "Keras and Spark."
    print("\n".join(rest))
    OUTPUT.write_text("\n".join([*lines, *rest, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
