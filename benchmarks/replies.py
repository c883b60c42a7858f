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

way, folder = sys.argv[1:]
paths = sorted(Path(folder).iterdir())
limits = Limits(max_bytes=10**7, max_rows=10**6)
begun, cpu = time.perf_counter(), time.process_time()
if way == "files":
    counts = ScoreCounts.merge(paths, limits=limits)
elif way == "skip":
    counts = ScoreCounts.merge(paths, on_invalid="skip", limits=limits)
else:
    replies = (ScoreCounts.from_bytes(path.read_bytes(), limits=limits) for path in paths)
    counts = ScoreCounts.merge(replies)
seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = counts.n_positives.sum() + counts.n_negatives.sum()
print(len(counts.sources), rows, seconds, cpu, peak)
"""
WAYS = {
    "files": "`merge(paths)`",
    "skip": "`merge(paths, on_invalid='skip')`",
    "stream": "`merge(from_bytes(reply) for reply in replies)`",
}


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
        for way, title in WAYS.items():
            command = [sys.executable, "-c", MERGE, way, folder]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            n_sources, n_rows, seconds, cpu, peak = map(float, printed.split())
            assert (n_sources, n_rows) == (N_REPLIES, N_REPLIES * N_ROWS)
            lines.append(f"| {title} | {seconds:.1f} | {cpu:.1f} | {peak:,.0f} MB |")
            print(lines[-1], flush=True)
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
