"""Measure a whole report beside its counting: ``python -m benchmarks.answer``.

The report is the pooled AUC, both tables of intervals, the test of equal groups, and the ranking.
The table is printed and written to benchmarks/answer.md. ``--rows 1e6`` only prints the table.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.report import describe, machine
from skfedauc import GroupAUC, ScoreCounts

OUTPUT = Path("benchmarks/answer.md")
ROWS = (1_000_000, 10_000_000)
N_GROUPS = (1, 10, 1_000, 100_000)
COLUMNS = (
    "rows",
    "groups",
    "scores",
    "count",
    "whole",
    "whole / count",
    "roc_auc_score / whole",
    "whole, wall s, 1 thread",
    "2 threads",
    "1 / 2 threads",
)
INTRODUCTION = """# The whole answer

Written by `python -m benchmarks.answer`. "count" is `ScoreCounts.from_predictions`, and "whole" is
this count with the pooled AUC, the intervals of groups and of statistics, the test of equal groups
and the ranking. Seconds are those of the processor with one thread, unless the column says "wall".
Each figure is the median of {n_runs} runs after one run without timing.

"""


def count(y: Any, scores: Any, groups: Any, n_jobs: int = 1) -> ScoreCounts:
    return ScoreCounts.from_predictions(y, scores, groups=groups, n_jobs=n_jobs)


def whole(y: Any, scores: Any, groups: Any, n_jobs: int = 1) -> None:
    """Compute the report of rows."""
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        counts = count(y, scores, groups, n_jobs)
        report = GroupAUC(counts, undefined="ignore")
        _ = report.pooled
        report.confidence_intervals()
        report.confidence_intervals(of="statistics")
        if len(counts) > 1:
            report.test_equal_groups()
            report.ranking()


def median(call: Callable[[], Any], n_runs: int, clock: Callable[[], float]) -> float:
    """Return the median time of a call, after one call without timing."""
    call()
    seconds = []
    for _ in range(n_runs):
        start = clock()
        call()
        seconds.append(clock() - start)
    return statistics.median(seconds)


def measure(sizes: tuple[int, ...], n_runs: int) -> Iterator[list[str]]:
    for n_rows in sizes:
        peer = None
        for n_groups in N_GROUPS:
            for digits in (None, 3):
                rng = np.random.default_rng(0)
                y = rng.random(n_rows) < 0.3
                scores = rng.normal(size=n_rows) + y
                scores = scores if digits is None else scores.round(digits)
                groups = rng.integers(0, n_groups, n_rows)
                if peer is None:
                    peer = median(partial(roc_auc_score, y, scores), 1, time.process_time)
                cpu = [
                    median(partial(call, y, scores, groups), n_runs, time.process_time)
                    for call in (count, whole)
                ]
                wall = [
                    median(partial(whole, y, scores, groups, n), n_runs, time.perf_counter)
                    for n in (1, 2)
                ]
                yield [
                    f"{n_rows:,}",
                    f"{n_groups:,}",
                    "distinct" if digits is None else "three digits",
                    *(f"{seconds:.3f}" for seconds in cpu),
                    f"{cpu[1] / cpu[0]:.1f}",
                    f"{peer / cpu[1]:.1f}",
                    *(f"{seconds:.3f}" for seconds in wall),
                    f"{wall[0] / wall[1]:.2f}",
                ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, help="only this number of rows; no file")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [" | ".join(["", *COLUMNS, ""]).strip(), "|" + " --- |" * len(COLUMNS)]
    print("\n".join(lines), flush=True)
    for row in measure(ROWS if given.rows is None else (int(given.rows),), given.runs):
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    if given.rows is None:
        text = INTRODUCTION.format(n_runs=given.runs) + "\n".join(lines)
        OUTPUT.write_text(f"{text}\n\n{describe(machine())}\n")


if __name__ == "__main__":
    main()
