"""Threads, forked processes and killed workers: results stay the same, and nothing hangs."""

import multiprocessing
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from processes import run_python
from sklearn.exceptions import UndefinedMetricWarning

from skfedauc import GroupAUC, ScoreCounts

N_THREADS = 8


def many_rows(n_rows=300_000):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    return y, y + rng.normal(size=n_rows), rng.integers(0, 100, n_rows)


def pooled_of_many_rows(n_jobs):
    y, scores, groups = many_rows()
    return GroupAUC.from_predictions(y, scores, groups=groups, n_jobs=n_jobs).pooled


def in_threads(work):
    barrier = threading.Barrier(N_THREADS, timeout=600)

    def run(_):
        barrier.wait()
        return work()

    with ThreadPoolExecutor(N_THREADS) as threads:  # the barrier needs all at once
        return list(threads.map(run, range(N_THREADS)))


def test_eight_threads_count_alike():
    expected = pooled_of_many_rows(1)
    assert in_threads(lambda: pooled_of_many_rows(2)) == [expected] * N_THREADS


def test_eight_threads_read_one_report_alike():
    y, scores, groups = many_rows(20_000)
    counts = ScoreCounts.from_predictions(y, scores, groups=groups)
    expected, report = GroupAUC(counts).statistics(), GroupAUC(counts)
    for found in in_threads(report.statistics):
        np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


def test_threads_leave_warning_filters_alone():
    rng = np.random.default_rng(0)
    y = np.r_[rng.integers(0, 2, 400), 1]  # the last group lacks a class
    groups = np.r_[rng.integers(0, 5, 400), 9]
    report = GroupAUC.from_predictions(y, rng.random(401), groups=groups)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        for _ in range(20):
            in_threads(report.statistics)
        assert list(warnings.filters) == before
    assert {warning.category for warning in caught} <= {UndefinedMetricWarning}


CHANGING = """
import threading, warnings
import numpy as np
from skfedauc import ScoreCounts
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n = 140_000
y, scores, groups = rng.integers(0, 2, n), rng.random(n), rng.integers(0, 50, n)
done = threading.Event()
def write():
    while not done.is_set():
        scores[:] = rng.random(n) * 10.0 ** rng.integers(-200, 200)
        y[:] = rng.integers(0, 2, n)
writer = threading.Thread(target=write)
writer.start()
for i in range(20):
    for of_groups in (None, groups):
        try:
            ScoreCounts.from_predictions(y, scores, groups=of_groups, n_jobs=1 + i % 2)
        except ValueError:  # no finite sum
            pass
done.set()
writer.join()
"""


def test_rows_that_change_meanwhile_do_not_end_the_process():
    """Group labels do not change, because numpy's indexing is not safe if indices change."""
    run = run_python("-c", CHANGING)
    assert run.returncode == 0, run.stderr


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
# Python 3.12 warns of any fork in a process with threads.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Loky-backed parallel loops:UserWarning")
def test_a_fork_after_threads_counts():
    expected = pooled_of_many_rows(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(pooled_of_many_rows, [2, 1, 2]).get(timeout=600)
    assert found == [expected] * 3


# The process first counts rows, so that all modules are imported, and then has little memory.
LITTLE_MEMORY = """
import resource
import numpy as np
from skfedauc import ScoreCounts

rows = np.arange(4_000_000)
y, scores, groups = rows % 2, rows * 0.1, rows % 7

def count(n):
    return ScoreCounts.from_predictions(y[:n], scores[:n], groups=groups[:n])

few = count(1000)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (60 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    count(rows.size)
except MemoryError:
    print("not enough")
assert count(1000) == few
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_rows_beyond_a_memory_limit_are_an_error_and_no_crash():
    run = run_python("-c", LITTLE_MEMORY)
    assert (run.returncode, run.stdout, run.stderr) == (0, "not enough\n", "")


def test_idle_workers_that_stop_raise_no_error():
    # joblib warns in the thread that hands out jobs, whose end the test would not notice.
    warnings.warn("A worker stopped while some jobs were given to the executor. This", stacklevel=1)
