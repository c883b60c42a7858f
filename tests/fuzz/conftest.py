"""Seeds of random cases; the number of tested cases is printed after the summary."""

from __future__ import annotations

import faulthandler
import itertools
import os
import time
from collections import Counter

import pytest

SECONDS = float(os.environ.get("SKFEDAUC_FUZZ_SECONDS", "0"))
CASES = int(os.environ.get("SKFEDAUC_FUZZ_CASES", "0"))
# Set the seed in the environment, so that all workers use it.
FIRST_SEED = int(os.environ.setdefault("SKFEDAUC_FUZZ_SEED", str(time.time_ns() % 10**12)))
PROPERTY = "random cases"


@pytest.fixture
def seeds(record_property):
    """Function that yields the seeds of a worker: a fixed number, or new seeds for some time."""
    n_tried = 0
    if SECONDS or CASES:
        faulthandler.cancel_dump_traceback_later()  # longer than tests may take, on request

    def draw(n_of_suite, worker=0, n_workers=1):
        nonlocal n_tried
        first = n_workers * FIRST_SEED if SECONDS or CASES else 0
        n_cases = None if SECONDS else CASES or n_of_suite
        until = time.monotonic() + SECONDS
        for seed in itertools.islice(itertools.count(first), worker, n_cases, n_workers):
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
    if SECONDS or CASES:
        terminalreporter.write_line(f"first seed: SKFEDAUC_FUZZ_SEED={FIRST_SEED}")
