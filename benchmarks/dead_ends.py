"""Measure what was tried and did not help: ``python -m benchmarks.dead_ends``."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from benchmarks.data import Case, make_rows
from benchmarks.measure import repeated, time_interleaved
from skfedauc import AUCPartial, _paircounts

Way = Callable[[], Any]


def sorting(n: int, calls: int) -> Iterator[list[str]]:
    """Orders of n keys of 64 bits next to sorting the keys; `calls` of each a run."""
    keys = np.random.default_rng(0).integers(0, 1 << 63, n, np.uint64)
    ordered = np.sort(keys)

    def is_order(name: str, result: Any) -> None:
        if not np.array_equal(keys[result] if "argsort" in name else result, ordered):
            raise AssertionError(f"{name} does not sort")

    ways: dict[str, Way] = {
        "numpy.sort": lambda: np.sort(keys),
        "numpy.argsort": lambda: np.argsort(keys),
        'numpy.argsort(kind="stable")': lambda: np.argsort(keys, kind="stable"),
    }
    called = {name: repeated(way, calls) for name, way in ways.items()}
    runs = time_interleaved(called, is_order, budget=10)
    yield from _lines(f"{n:,} packed keys", runs, calls)


def threads(n_tasks: int = 16) -> Iterator[list[str]]:
    """Tasks that take no time, in two threads."""

    def in_pool() -> Any:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(abs, range(n_tasks)))

    def in_joblib() -> Any:
        parallel = Parallel(n_jobs=2, backend="threading")
        return parallel(delayed(abs)(number) for number in range(n_tasks))

    def is_right(name: str, result: Any) -> None:
        if result != list(range(n_tasks)):
            raise AssertionError(f"{name} gives other results")

    ways = {"ThreadPoolExecutor": in_pool, 'joblib.Parallel(backend="threading")': in_joblib}
    yield from _lines(f"{n_tasks} trivial tasks", time_interleaved(ways, is_right, repeats=20))


def stretches(n: int = 10_000_000, n_groups: int = 1_000) -> Iterator[list[str]]:
    """Stretches of other lengths, with one thread and with two."""
    y, score, group, _ = make_rows(Case(n, n_groups))
    states: list[AUCPartial] = []

    def is_same(name: str, state: AUCPartial) -> None:
        states[:] = states or [state]
        if state != states[0]:
            raise AssertionError(f"{name}: another state")

    def state_of(bits: int, n_jobs: int) -> AUCPartial:
        with (
            patch.object(_paircounts.stretches, "STRETCH", 1 << bits),
            patch.object(_paircounts.by_value, "STRETCH", 1 << bits),
        ):
            return AUCPartial.from_predictions(y, score, groups=group, n_jobs=n_jobs)

    for n_jobs in (1, 2):
        ways = {
            f"stretches of 2**{bits} rows": partial(state_of, bits, n_jobs) for bits in (16, 15, 18)
        }
        runs = time_interleaved(ways, is_same, repeats=15, budget=10)
        yield from _lines(f"{n:,} rows, {n_groups:,} groups, n_jobs={n_jobs}", runs)


def _lines(what: str, runs: Mapping[str, list[float]], calls: int = 1) -> Iterator[list[str]]:
    """The median of each way, and how many times as long as the first one it is."""
    medians = {name: statistics.median(times) / calls for name, times in runs.items()}
    first = next(iter(medians.values()))
    for name, seconds in medians.items():
        yield [what, name, f"{seconds * 1e3:.3g} ms", f"{seconds / first:.2f}"]


def main() -> None:
    print("| what | way | median | times the first |\n|---|---|---|---|")
    for lines in (sorting(1 << 16, 20), sorting(10_000_000, 1), threads(), stretches()):
        for line in lines:
            print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
