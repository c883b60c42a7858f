"""Interleaved timings: all functions take turns for several rounds; reports use medians."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Case

OURS = "skfedauc"  # with one thread; names of our other variants begin with this name
LIMIT = "limit: numpy.sort(scores)"
# Seconds for the runs of a peer, which runs at least once.
BUDGET = 2.0
# A run of a faster function repeats the call until it takes this time, up to MOST_CALLS calls.
SHORTEST, MOST_CALLS = 0.05, 20


def time_interleaved(
    ways: Mapping[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    *,
    repeats: int = 5,
    budget: float = BUDGET,
) -> dict[str, list[float]]:
    """Return seconds per call of each function in each round, after `check` accepts its result.

    Speed drifts, and a function that frees much memory slows down the next one. The functions
    therefore take turns, in a new order in each round. The checked run counts for peers that run
    only once.
    """
    first: dict[str, float] = {}
    for name, way in ways.items():
        began = time.perf_counter()
        result = way()
        first[name] = time.perf_counter() - began
        check(name, result)
        del result
    # The first run may be several times slower, because the system allocates memory.
    calls = {n: int(np.clip(SHORTEST / first[n], 1, MOST_CALLS)) for n in ways}
    fit = {n: int(budget / first[n]) if is_peer(n) else repeats for n in ways}
    times: dict[str, list[float]] = {name: [] for name in ways}
    order = random.Random(0)
    for turn in range(repeats):
        for name, way in order.sample(list(ways.items()), len(ways)):
            if fit[name] < max(turn + 1, 2):
                continue
            gc.collect()
            began = time.perf_counter()
            result = repeated(way, calls[name])()
            times[name].append((time.perf_counter() - began) / calls[name])
            del result
    return {name: times[name] or [first[name]] for name in ways}


def repeated(way: Callable[[], Any], calls: int) -> Callable[[], Any]:
    """Repeat a call; each result except the last is discarded at once."""

    def run() -> Any:
        for _ in range(calls - 1):
            way()
        return way()

    return run


def is_peer(name: str) -> bool:
    return name != LIMIT and not name.startswith(OURS)


class Result(NamedTuple):
    """Seconds of each function in each round of a case."""

    case: Case
    runs: dict[str, list[float]]

    @property
    def seconds(self) -> dict[str, float]:
        """Median seconds of each function."""
        return {name: statistics.median(times) for name, times in self.runs.items()}

    @property
    def ours(self) -> float:
        """Median seconds of ours with one thread."""
        return self.seconds[OURS]

    @property
    def best_of_ours(self) -> float:
        """Smaller median of ours with one thread and with several threads."""
        return min(s for name, s in self.seconds.items() if name.startswith(OURS))

    @property
    def peers(self) -> dict[str, float]:
        return {name: s for name, s in self.seconds.items() if is_peer(name)}

    @property
    def best_peer(self) -> str | None:
        return min(self.peers, key=self.peers.__getitem__, default=None)

    def as_json(self) -> dict[str, Any]:
        peer = self.best_peer
        return {
            "case": str(self.case),
            **self.case._asdict(),
            "seconds": self.seconds,
            "n_runs": {name: len(times) for name, times in self.runs.items()},
            "runs": self.runs,
            "ours_over_limit": self.ours / self.seconds[LIMIT],
            "peer_over_ours": {name: s / self.ours for name, s in self.peers.items()},
            "best_peer": peer,
            "best_peer_over_best_of_ours": peer and self.peers[peer] / self.best_of_ours,
        }
