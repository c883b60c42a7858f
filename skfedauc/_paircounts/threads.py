"""Work done in turn or in threads; numpy lets others run while it sorts and counts."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

# Rows from which on a second thread pays: for a sort or a gather, and for the short steps of
# packing and unpacking keys, which spend as long in handing over the interpreter's lock.
MANY_ROWS = 1 << 18
VERY_MANY_ROWS = 1 << 21


def in_threads(function: Callable[[range], T], numbers: range, n_jobs: int | None) -> list[T]:
    """Results of the function for consecutive parts of the numbers, one part per thread."""
    n_threads = min(_effective_n_jobs(n_jobs), len(numbers))
    if n_threads <= 1:
        return [function(numbers)]
    cuts = [len(numbers) * thread // n_threads for thread in range(n_threads + 1)]
    parts = [numbers[a:b] for a, b in itertools.pairwise(cuts)]
    # joblib.Parallel looks for results every 10 ms, longer than many calls take in all.
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(function, parts))


def _effective_n_jobs(n_jobs: int | None) -> int:
    # Without joblib nobody has set a default for None.
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def jobs_for_long_steps(n_jobs: int | None, n_rows: int) -> int | None:
    """The jobs that a sort or a gather of so many rows is worth."""
    return n_jobs if n_rows >= MANY_ROWS else 1


def jobs_for_short_steps(n_jobs: int | None, n_rows: int) -> int | None:
    """The jobs that packing or reading the keys of so many rows is worth."""
    return n_jobs if n_rows >= VERY_MANY_ROWS else 1
