"""Measure a whole report beside its counting: ``python -m benchmarks.answer``.

The report is the pooled AUC, both tables of intervals, the test of equal groups, and the ranking.
The tables are printed and written to benchmarks/answer.md. ``--rows 1e6`` only prints the tables of
this number of rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.report import describe, machine
from skfedauc import GroupAUC, ScoreCounts, compare_models

OUTPUT = Path("benchmarks/answer.md")
ROWS = (1_000_000, 10_000_000, 100_000_000)
N_GROUPS = (1, 10, 1_000, 100_000)
# numpy's vector sort, which `roc_auc_score` uses, is slow on some processors.
VECTOR_SORT = "NPY_DISABLE_CPU_FEATURES"
WITHOUT = {VECTOR_SORT: "X86_V4 AVX512_ICL AVX512_SPR"}
COLUMNS = (
    "rows",
    "groups",
    "scores",
    "count",
    "whole",
    "whole / count",
    "roc_auc_score / whole",
    "wall s, 1 thread",
    "wall s, 2 threads",
    "1 / 2 threads",
    "roc_auc_score / 2 threads",
    "bytes a row above the counts",
)
INTRODUCTION = """# The whole answer

Written by `python -m benchmarks.answer`. "count" is `ScoreCounts.from_predictions`, and "whole" is
this count with the pooled AUC, the intervals of groups and of statistics, the test of equal groups
and the ranking. "Three models" is `compare_models` for the scores of three models, beside three
counts. Seconds are those of the processor with one thread, unless the column says "wall". Each
figure is the least of {n_runs} runs (of one run for 1e8 rows), after one run without timing below
1e8 rows. The peak of memory is that of the report after the counting.

"""


class Times(NamedTuple):
    """Seconds of the processor, and wall time."""

    cpu: float
    wall: float


class Data(NamedTuple):
    y: Any
    scores: Any
    groups: Any

    @classmethod
    def make(cls, n_rows: int, n_groups: int, digits: int | None) -> Data:
        rng = np.random.default_rng(0)
        y = rng.random(n_rows) < 0.3
        scores = rng.normal(size=n_rows)
        scores += y
        if digits is not None:
            scores.round(digits, out=scores)
        return cls(y, scores, rng.integers(0, n_groups, n_rows))

    def count(self, n_jobs: int = 1) -> ScoreCounts:
        return ScoreCounts.from_predictions(self.y, self.scores, groups=self.groups, n_jobs=n_jobs)

    def whole(self, n_jobs: int = 1) -> None:
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            answer(self.count(n_jobs))


def answer(counts: ScoreCounts) -> None:
    """Compute the report of counts."""
    report = GroupAUC(counts, undefined="ignore")
    _ = report.pooled
    report.confidence_intervals()
    report.confidence_intervals(of="statistics")
    if len(counts) > 1:
        report.test_equal_groups()
        report.ranking()


def least(call: Callable[[], Any], n_runs: int) -> Times:
    """Return the least times of several runs, after one run without timing."""
    seconds = []
    for _ in range(n_runs + (n_runs > 1)):
        start = time.process_time(), time.perf_counter()
        call()
        seconds.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return Times(*np.array(seconds)[n_runs > 1 :].min(axis=0).tolist())


def bytes_above(data: Data) -> float:
    """Return the peak of memory that a report needs beside its counts, in bytes a row.

    Linux forgets the peak of a process after a write to clear_refs.
    """
    counts = data.count()
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    answer(counts)
    return (_status("VmHWM") - before) / data.y.size


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def cases(n_rows: int) -> Iterator[tuple[int, int | None]]:
    if n_rows >= ROWS[-1]:  # a few minutes
        return iter([(1_000, None), (100_000, None), (1_000, 3)])
    return ((n_groups, digits) for n_groups in N_GROUPS for digits in (None, 3))


def measure(n_rows: int, n_runs: int) -> Iterator[list[str]]:
    n_runs = 1 if n_rows >= ROWS[-1] else n_runs
    peer = None
    for n_groups, digits in cases(n_rows):
        data = Data.make(n_rows, n_groups, digits)
        if peer is None:
            peer = least(partial(roc_auc_score, data.y, data.scores), 1)
        count, whole = least(data.count, n_runs), least(data.whole, n_runs)
        two = least(partial(data.whole, 2), n_runs)
        yield [
            f"{n_rows:,}",
            f"{n_groups:,}",
            "distinct" if digits is None else "three digits",
            f"{count.cpu:.3f}",
            f"{whole.cpu:.3f}",
            f"{whole.cpu / count.cpu:.1f}",
            f"{peer.cpu / whole.cpu:.1f}",
            f"{whole.wall:.3f}",
            f"{two.wall:.3f}",
            f"{whole.wall / two.wall:.2f}",
            f"{peer.wall / two.wall:.1f}",
            f"{bytes_above(data):.0f}" if n_rows >= ROWS[1] else "",
        ]


def three_models(n_rows: int, n_runs: int) -> Iterator[list[str]]:
    for n_groups in (10, 1_000):
        data = Data.make(n_rows, n_groups, None)
        rng = np.random.default_rng(1)
        scores = {name: data.scores + rng.normal(size=n_rows) for name in "abc"}
        count = least(data.count, n_runs)
        of_rows = {"groups": data.groups, "min_per_class": 1}
        found = least(lambda d=data, s=scores, o=of_rows: compare_models(d.y, s, **o), n_runs)
        ratio = found.cpu / count.cpu
        yield [
            f"{n_rows:,}",
            f"{n_groups:,}",
            f"{count.cpu:.3f}",
            f"{found.cpu:.3f}",
            f"{ratio:.1f}",
        ]


def table(columns: tuple[str, ...], rows: Iterator[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return [*lines, ""]


def tables(sizes: tuple[int, ...], n_runs: int) -> list[str]:
    lines = []
    for n_rows in sizes:
        lines += table(COLUMNS, measure(n_rows, n_runs))
    if ROWS[0] in sizes:
        columns = ("rows", "groups", "one count", "three models", "three models / count")
        print("\nThree models:\n")  # `without_vector_sort` reads what is printed
        lines += ["Three models:", "", *table(columns, three_models(ROWS[0], n_runs))]
    return lines


def without_vector_sort(n_runs: int) -> list[str]:
    """Return the tables of a process without numpy's AVX-512 sort, for 1e6 and 1e7 rows."""
    lines = []
    for n_rows in ROWS[:2]:
        command = [sys.executable, "-m", "benchmarks.answer", "--rows", str(n_rows)]
        command += ["--runs", str(n_runs)]
        found = subprocess.run(
            command, env={**os.environ, **WITHOUT}, check=True, capture_output=True, text=True
        )
        lines += [*found.stdout.splitlines(), ""]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, help="only this number of rows; no file")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.rows is not None:
        tables((int(given.rows),), given.runs)
        return
    lines = [*tables(ROWS, given.runs), f"Without numpy's vector sort (`{VECTOR_SORT}`):", ""]
    lines += without_vector_sort(given.runs)
    text = INTRODUCTION.format(n_runs=given.runs) + "\n".join(lines)
    OUTPUT.write_text(f"{text}\n{describe(machine())}\n")


if __name__ == "__main__":
    main()
