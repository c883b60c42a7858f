"""Time and memory of merging 10,000 replies: ``python -m benchmarks.replies``.

Writes benchmarks/replies.md. Each way runs in a process of its own, whose peak memory includes
Python and the packages. The replies are files on disk before the clock starts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.report import machine
from skfedauc import ScoreCounts

DOCUMENT = Path(__file__).with_suffix(".md")
N_REPLIES, N_ROWS, N_GROUPS = 10_000, 200, 20

MERGE = """
import resource, sys, time
from pathlib import Path
from skfedauc import ScoreCounts
from skfedauc.counts import Limits

paths = sorted(Path(sys.argv[1]).iterdir())
limits = Limits(max_bytes=10**7, max_rows=10**6)
begun, cpu = time.perf_counter(), time.process_time()
counts = ScoreCounts.merge(paths, limits=limits)
seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = counts.n_positives.sum() + counts.n_negatives.sum()
print(len(counts.sources), rows, seconds, cpu, peak)
"""


def write_replies(folder: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(N_REPLIES):
        y = rng.integers(0, 2, N_ROWS)
        score = rng.random(N_ROWS) / 2 + y / 4
        groups = rng.integers(0, N_GROUPS, N_ROWS)
        counts = ScoreCounts.from_predictions(y, score, groups=groups)
        named = counts.with_source(f"client {number}", model="m1", period="2026-10")
        named.save(folder / f"{number}.skfa")


def main() -> None:
    about = machine()
    lines = [
        "# Merging 10,000 replies",
        "",
        f"`python -m benchmarks.replies`: {N_REPLIES:,} files of exact counts of {N_ROWS} rows in "
        f"{N_GROUPS} groups, each with a source, a model and a period, {N_REPLIES * N_ROWS:,} "
        f"distinct scores together. {about['processor']}, Python {about['python']}.",
        "",
        "| way | seconds | seconds of the processor | peak memory |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_replies(Path(folder))
        command = [sys.executable, "-c", MERGE, folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    n_sources, n_rows, seconds, cpu, peak = map(float, printed.split())
    assert (n_sources, n_rows) == (N_REPLIES, N_REPLIES * N_ROWS)
    lines.append(f"| `merge(paths)` | {seconds:.1f} | {cpu:.1f} | {peak:,.0f} MB |")
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
