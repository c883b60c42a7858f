"""Measure the claims about the kernel: ``python -m benchmarks.kernel`` prints figures as JSON.

``--out`` writes a page with the worst figure of each claim. `variants` measures in a process with
numpy's AVX-512 sort and in a process without it, because many processors do not have AVX-512.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers, report
from benchmarks.data import Case, Rows, make_rows
from benchmarks.measure import LIMIT, OURS
from benchmarks.scenarios import peak_of
from skfedauc import GroupAUC, ScoreCounts, group_roc_auc_score
from skfedauc import _kernel as kernel

WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
Way = Callable[[], Any]


class Figure(NamedTuple):
    """A claim, the case in which it was measured, the figure, and the bound of the claim."""

    claim: str
    where: str
    figure: float
    bound: float
    at_least: bool
    unit: str = " times"


def timed(ways: Mapping[str, Way], repeats: int = 5) -> tuple[dict[str, float], dict[str, float]]:
    """Return the least wall and CPU seconds of each function; functions take turns.

    Other work on the machine makes runs slower, so the fastest run has the least disturbance. A
    virtual machine may return unused memory to its host, and getting the memory back may take four
    times as long as the work. So each function runs twice in its turn, and only the second run
    counts.
    """
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            way()
            began = time.perf_counter(), time.process_time()
            way()
            seconds[name].append((time.perf_counter() - began[0], time.process_time() - began[1]))
    wall, cpu = (
        {name: min(run[i] for run in runs) for name, runs in seconds.items()} for i in range(2)
    )
    return wall, cpu


def by_group(n: int, repeats: int) -> Iterator[Figure]:
    for n_groups in (2, 10, 100, 1_000, 10_000, 100_000, 1_000_000):
        for ties in ("none", "3 digits"):
            case = Case(n, n_groups, ties)
            wanted = (OURS, "polars rank.over", "polars group_by rank")
            ways = peers.by_group(make_rows(case))
            chosen = {name: ways[name] for name in ways if name.startswith(wanted)}
            wall, cpu = timed(chosen, repeats)
            threads = next(name for name in wall if name.startswith(f"{OURS},"))
            polars = [name for name in wall if name.startswith("polars")]
            best, of_cpu = min(wall[p] for p in polars), min(cpu[p] for p in polars)
            where, size = str(case), f"{n:.0e}".replace("e+0", "e")
            yield Figure(
                f"by group, {size} rows, two threads each: time of polars / time of skfedauc",
                where,
                best / wall[threads],
                5 if n >= 10_000_000 else 3,
                True,
            )
            yield Figure(
                f"by group, {size} rows: CPU seconds of polars / CPU seconds of skfedauc",
                where,
                of_cpu / cpu[OURS],
                3,
                True,
            )
            yield Figure(
                f"by group, {size} rows: time of polars with two threads / time of skfedauc with "
                "one thread",
                where,
                best / wall[OURS],
                1,
                True,
            )


def pooled(n: int, repeats: int) -> Iterator[Figure]:
    rows, size = make_rows(Case(n)), f"{n:.0e}".replace("e+0", "e")
    ways = {k: w for k, w in peers.pooled(rows).items() if k in (OURS, LIMIT) or "scikit" in k}
    ways["two"] = lambda: (
        GroupAUC(ScoreCounts.from_predictions(rows.y, rows.score, n_jobs=2)).pooled
    )
    wall, _ = timed(ways, repeats)
    sklearn = next(name for name in wall if "scikit" in name)
    yield Figure(
        f"pooled, {size} rows, one thread: time of roc_auc_score / time of skfedauc",
        str(Case(n)),
        wall[sklearn] / wall[OURS],
        15,
        True,
    )
    yield Figure(
        f"pooled, {size} rows, two threads: time of skfedauc / time of numpy.sort",
        str(Case(n)),
        wall["two"] / wall[LIMIT],
        2,
        False,
    )


def variations(n: int, repeats: int) -> Iterator[Figure]:
    """Time weights, float32, text and threads next to the default case."""
    for n_groups in (1, 1_000):

        def way(case: Case, n_jobs: int | None = None) -> Way:
            y, score, group, weight = make_rows(case)
            groups = None if case.n_groups == 1 else group
            return lambda: ScoreCounts.from_predictions(
                y, score, groups=groups, sample_weight=weight, n_jobs=n_jobs
            )

        ways = {
            "plain": way(Case(n, n_groups)),
            "two threads": way(Case(n, n_groups), 2),
            "weights": way(Case(n, n_groups, weighted=True)),
            "float32": way(Case(n, n_groups, scores="float32")),
        }
        if n_groups > 1:
            ways["text labels"] = way(Case(n, n_groups, labels="strings"))
        wall, _ = timed(ways, repeats)
        where = str(Case(n, n_groups))
        for name, claim, bound in (
            ("weights", "weights: time / time without weights", 1.8),
            ("float32", "float32 scores: time / time with float64 scores", 1.05),
            ("text labels", "text labels: time / time with integer labels", 1.5),
        ):
            if name in wall:
                yield Figure(claim, where, wall[name] / wall["plain"], bound, False)
        if n >= 10_000_000:
            claim = "two threads: time with one thread / time with two threads"
            yield Figure(claim, where, wall["plain"] / wall["two threads"], 1.7, True)


def merging(repeats: int) -> Iterator[Figure]:
    for n_groups in (1, 1_000):
        rows = make_rows(Case(2_000_000, n_groups))
        halves = [_state(rows, slice(1_000_000)), _state(rows, slice(1_000_000, None))]
        ways = {
            "merge": lambda halves=halves: ScoreCounts.merge(halves),
            "build": lambda rows=rows: _state(rows, slice(None)),
        }
        wall, _ = timed(ways, repeats)
        claim = "merging two states of 1e6 rows: time of counting the rows / time of merging"
        yield Figure(claim, f"{n_groups:,} groups", wall["build"] / wall["merge"], 4, True)
    rows = make_rows(Case(2_000_000, 100))
    parts = [_state(rows, slice(i, None, 200)) for i in range(200)]
    ways = {"merge": lambda: ScoreCounts.merge(parts), "build": lambda: _state(rows, slice(None))}
    wall, _ = timed(ways, repeats)
    claim = "merging 200 states of 1e4 rows: time of counting the rows / time of merging"
    yield Figure(claim, "100 groups", wall["build"] / wall["merge"], 1, True)


def _state(rows: Rows, chosen: slice) -> ScoreCounts:
    y, score, group, _ = rows
    return ScoreCounts.from_predictions(y[chosen], score[chosen], groups=group[chosen])


def adversarial(n: int, repeats: int) -> Iterator[Figure]:
    """Time scores that are slow to sort, next to random scores."""
    rng = np.random.default_rng(0)
    y, plain, group, _ = make_rows(Case(n, 1_000))

    def near(centre: Any, reach: int) -> Any:
        return (np.asarray(centre, float).view(np.int64) + rng.integers(0, reach, n)).view(float)

    far = np.where(rng.random(n) < 0.999, near(np.full(n, 0.5), n), rng.normal(size=n) * 1e300)
    scores = {
        "random": plain,
        "nearly equal": near(np.full(n, 0.5), 100),
        "one ulp apart": near(np.full(n, 0.5), 4 * n),
        "one ulp apart and a few far off": far,
        "two far clusters": near(rng.choice([1e-9, 1e9], n), n),
        "six far clusters": near(10.0 ** rng.choice([-30, -9, -1, 2, 12, 25], n), n),
        "sorted": np.sort(plain),
        "reversed": np.sort(plain)[::-1].copy(),
        "one outlier every 11 bits": _outliers(rng, n, 0),
        "1 % outliers every 11 bits": _outliers(rng, n, 0.01),
        "10 % outliers every 11 bits": _outliers(rng, n, 0.1),
        "clusters within clusters": np.cumprod(rng.choice([0.5, 1.0], n)) + 0.0,
        "four scores every 6 bits": sum(rng.integers(0, 4, n) << b for b in range(0, 62, 6)).view(
            float
        ),
    }
    one_apart = np.zeros(n, np.int64)
    one_apart[0] = 1
    positive = y == 1
    weight = rng.uniform(0.1, 3.0, n)
    for name, groups, n_groups, weights in (
        ("one group", None, 1, None),
        ("one group, weights", None, 1, weight),
        ("1,000 groups", group, 1_000, None),
        ("1,000 groups, weights", group, 1_000, weight),
        ("all in one group but one", one_apart, 2, None),
    ):
        ways = {
            kind: lambda s=s, g=groups, k=n_groups, w=weights: kernel.count_rows(
                s, positive, g, k, w
            )
            for kind, s in scores.items()
        }
        wall, _ = timed(ways, repeats)
        for kind in list(scores)[1:]:
            claim = "adversarial scores: time / time of random scores"
            yield Figure(claim, f"{kind}, {name}", wall[kind] / wall["random"], 2, False)


def _outliers(rng: np.random.Generator, n: int, share: float) -> NDArray[np.float64]:
    """Return scores of random low bits; each higher bit is set for one or a share of the scores."""
    bits = rng.integers(0, 1 << 22, n)
    for bit in (33, 44, 55):
        bits[rng.random(n) < share if share else rng.integers(n)] |= 1 << bit
    return bits.view(np.float64)


def small_and_wide(repeats: int) -> Iterator[Figure]:
    y, score, group, _ = make_rows(Case(1_000, 10))

    def hundred_calls() -> None:
        for _ in range(100):
            group_roc_auc_score(y, score, groups=group, statistic="macro")

    wall, _ = timed({"call": hundred_calls}, repeats)
    yield Figure("a call", "1,000 rows, 10 groups", wall["call"] * 10, 0.3, False, " ms")
    ways = {}
    for n_groups in (2_000, 4_000):
        y, score, group, _ = make_rows(Case(1_000_000, n_groups))
        report = ScoreCounts.from_predictions(y, score, groups=group)
        ways[str(n_groups)] = lambda p=report: GroupAUC(p, undefined="ignore").statistic(
            "cross_difference"
        )
    wall, _ = timed(ways, min(repeats, 2))
    claim = "cross_difference: time of 4,000 groups / time of 2,000 groups"
    yield Figure(claim, "1e6 rows", wall["4000"] / wall["2000"], 4.5, False)


def in_memory(n: int) -> Iterator[Figure]:
    case = Case(n, 1_000)
    peak, _, seconds = peak_of(case)
    where = f"{case}: {seconds:.1f} s with one thread, {peak * n / 1e9:.1f} GB"
    yield Figure("1e8 rows in memory: additional bytes per row", where, peak, 40, False, "")


def all_figures(most_rows: int, repeats: int) -> Iterator[Figure]:
    for n in (n for n in (1_000_000, 10_000_000) if n <= most_rows):
        yield from by_group(n, repeats)
        yield from pooled(n, repeats)
    yield from variations(min(most_rows, 10_000_000), repeats)
    yield from merging(repeats)
    yield from adversarial(1_000_000, repeats)
    yield from small_and_wide(repeats)
    if most_rows >= 10_000_000:
        yield from in_memory(100_000_000)


def variants(most_rows: int, repeats: int) -> list[dict[str, Any]]:
    """Return the worst figure of each claim, with and without numpy's AVX-512 sort."""
    found = []
    for name, changes in (("as it is", {}), ("without AVX-512 in numpy", WITHOUT_AVX512)):
        command = [sys.executable, "-m", "benchmarks.kernel", str(most_rows), str(repeats)]
        environment = {**os.environ, **changes}
        run = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        figures = [Figure(**json.loads(line)) for line in run.stdout.splitlines()]
        for claim in dict.fromkeys(f.claim for f in figures):
            mine = [f for f in figures if f.claim == claim]
            worst = (min if mine[0].at_least else max)(mine, key=lambda f: f.figure)
            met = worst.figure >= worst.bound if worst.at_least else worst.figure <= worst.bound
            found.append({"numpy": name, **worst._asdict(), "met": bool(met)})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", type=float, nargs="?", default=1e7)
    parser.add_argument("repeats", type=int, nargs="?", default=5)
    parser.add_argument("--out", type=Path, help="write a page with the worst figures")
    arguments = parser.parse_args()
    most_rows, repeats = int(arguments.rows), arguments.repeats
    if arguments.out is None:
        for figure in all_figures(most_rows, repeats):
            print(json.dumps(figure._asdict()), flush=True)
        return
    about = report.describe(report.machine())
    title = "# The kernel on another processor"
    table = report.kernel_table(variants(most_rows, repeats))
    written = f"Written by `python -m benchmarks.kernel --out {arguments.out}`. {about}"
    arguments.out.write_text(f"{title}\n\n{written}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
