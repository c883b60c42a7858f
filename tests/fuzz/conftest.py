"""Seeds of random cases; the number of tested cases is printed after the summary."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter

import pytest

SECONDS = float(os.environ.get("SKFEDAUC_FUZZ_SECONDS", "0"))
# Set the seed in the environment, so that all workers use it.
FIRST_SEED = int(os.environ.setdefault("SKFEDAUC_FUZZ_SEED", str(time.time_ns() % 10**12)))
PROPERTY = "random cases"


@pytest.fixture
def seeds(record_property):
    """Function that yields the seeds of a worker: a fixed number, or new seeds for some time."""
    n_tried = 0

    def draw(n_of_suite, worker=0, n_workers=1):
        nonlocal n_tried
        first, last = (n_workers * FIRST_SEED, None) if SECONDS else (0, n_of_suite)
        until = time.monotonic() + SECONDS
        for seed in itertools.islice(itertools.count(first), worker, last, n_workers):
            if SECONDS and time.monotonic() > until:
                return
            n_tried += 1
            yield seed

    yield draw
    assert n_tried
    record_property(PROPERTY, n_tried)


def pytest_terminal_summary(terminalreporter):
    tried = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == PROPERTY and report.when == "teardown":
                    tried[report.nodeid.partition("[")[0]] += value
    for test, n in tried.items():
        terminalreporter.write_line(f"{n:,} random cases: {test}")
    if SECONDS:
        terminalreporter.write_line(f"first seed: SKFEDAUC_FUZZ_SEED={FIRST_SEED}")
