"""Interleaved timings: every way once in turn, several times over, medians reported."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def time_interleaved(
    ways: Mapping[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    *,
    repeats: int = 5,
    slow: float = 2.5,
) -> dict[str, float]:
    """Median seconds of each way, after its result has passed `check`.

    The machine drifts, and a way that leaves much memory behind slows down the next one; so
    the ways take turns, in another order each time. One that needs more than `slow` seconds
    is run once.
    """
    first: dict[str, float] = {}
    for name, way in ways.items():
        began = time.perf_counter()
        result = way()
        first[name] = time.perf_counter() - began
        check(name, result)
        del result
    times: dict[str, list[float]] = {name: [] for name in ways}
    order = random.Random(0)
    for _ in range(repeats):
        for name, way in order.sample(list(ways.items()), len(ways)):
            if first[name] > slow:
                continue
            gc.collect()
            began = time.perf_counter()
            result = way()
            times[name].append(time.perf_counter() - began)
            del result
    return {name: statistics.median(times[name] or [first[name]]) for name in ways}
