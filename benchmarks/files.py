"""Measure files of score counts: ``python -m benchmarks.files``.

Each file is read again and compared with the counts before its figures are printed. The tables are
printed and written to benchmarks/files.md.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow

from benchmarks import report
from skfedauc import ScoreCounts

OUTPUT = Path("benchmarks/files.md")
SIZES = (10_000, 1_000_000, 10_000_000)
# Cells up to which CSV is measured, because longer files take minutes
MOST_CELLS_OF_CSV = 1_000_000
# Number of cells up to which a format is measured several times
FEW_CELLS, REPEATS = 1_000_000, 3


class Format(NamedTuple):
    """A way to write score counts to a file, and to read them."""

    name: str
    write: Callable[[ScoreCounts, Path], Any]
    read: Callable[[Path], ScoreCounts]


def _pickle(counts: ScoreCounts, path: Path) -> None:
    path.write_bytes(pickle.dumps(counts))


FORMATS = [
    Format("`save`, `load`", lambda counts, path: counts.save(path), ScoreCounts.load),
    Format("pickle", _pickle, lambda path: pickle.loads(path.read_bytes())),
    Format(
        "`to_counts().to_parquet`",
        lambda counts, path: counts.to_counts().to_parquet(path),
        lambda path: ScoreCounts.from_counts(**pd.read_parquet(path)),
    ),
    Format(
        "`to_counts().to_csv`",
        lambda counts, path: counts.to_counts().to_csv(path, index=False),
        lambda path: ScoreCounts.from_counts(**pd.read_csv(path)),
    ),
]


def make_counts(n_cells: int, digits: int | None, seed: int = 0) -> ScoreCounts:
    """Make counts of one row per cell: 100 groups of distinct scores, or scores of some digits."""
    rng = np.random.default_rng(seed)
    if digits is None:
        groups, scores = np.arange(n_cells) % 100, rng.random(n_cells)
    else:
        most = min(10**digits // 2, n_cells // 2)  # scores of each group
        groups = np.repeat(np.arange(n_cells // most), most)
        chosen = [rng.choice(10**digits, most, replace=False) for _ in range(n_cells // most)]
        scores = np.concatenate(chosen) / 10**digits
    names = np.array([f"site {number:04d}" for number in range(int(groups.max()) + 1)], object)
    positive = rng.random(n_cells) < scores
    return ScoreCounts.from_counts(
        score=scores,
        n_negatives=~positive * 1,
        n_positives=positive * 1,
        site=pd.Series(pd.Categorical.from_codes(groups, names)),
    )


def measure_formats(folder: Path) -> list[list[str]]:
    """Bytes per cell and seconds of each format."""
    rows = []
    for n_cells in SIZES:
        for digits in (None, 4):
            counts = make_counts(n_cells, digits)
            for one in FORMATS:
                if "csv" in one.name and n_cells > MOST_CELLS_OF_CSV:
                    continue
                size, wrote, read = _measure(one, counts, folder / "counts")
                scores = "distinct" if digits is None else f"{digits} digits"
                cells = f"{n_cells:.0e}".replace("e+0", "e")
                rows.append([cells, scores, one.name, f"{size:.1f}", f"{wrote:.3f}", f"{read:.3f}"])
                print(*rows[-1], flush=True)
    return rows


def _measure(one: Format, counts: ScoreCounts, path: Path) -> tuple[float, float, float]:
    wrote, read = [], []
    is_short = counts.cells.scores.size <= FEW_CELLS and "csv" not in one.name
    for _ in range(REPEATS if is_short else 1):
        began = time.process_time()
        one.write(counts, path)
        middle = time.process_time()
        again = one.read(path)
        wrote.append(middle - began)
        read.append(time.process_time() - middle)
        if again != counts:
            raise AssertionError(f"{one.name} does not give the same counts")
    return path.stat().st_size / counts.cells.scores.size, min(wrote), min(read)


# The peak of the process, because Python does not see the memory of the compiled kernel.
_MERGE = """
import sys, time
from pathlib import Path
from skfedauc import ScoreCounts
def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1])
paths = sorted(Path(sys.argv[1]).glob("*.skfa"))[:int(sys.argv[2])]
ScoreCounts.merge(paths[:1])  # imports
before = kilobytes("VmRSS")
began = time.process_time()
merged = ScoreCounts.merge(paths)
print(time.process_time() - began, (kilobytes("VmHWM") - before) / 1024, merged.cells.scores.size)
"""


def measure_merges(folder: Path) -> list[list[str]]:
    """Seconds and peak memory of merging 100 and 1,000 files."""
    rows = []
    for digits, n_cells in ((4, 20_000), (None, 5_000)):
        for number in range(1000):
            make_counts(n_cells, digits, number).save(folder / f"{number:04d}.skfa")
        for n_files in (100, 1000):
            run = subprocess.run(
                [sys.executable, "-c", _MERGE, str(folder), str(n_files)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds, peak, merged = (float(number) for number in run.stdout.split())
            scores = "distinct" if digits is None else f"{digits} digits"
            counted = [f"{n_files:,}", f"{n_cells:,}", scores, f"{merged:,.0f}"]
            rows.append([*counted, f"{seconds:.1f}", f"{peak:,.0f} MB"])
            print(*rows[-1], flush=True)
    return rows


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        formats = _table(
            ["cells", "scores", "format", "bytes per cell", "write, s", "read, s"],
            measure_formats(Path(folder)),
        )
        merges = _table(
            ["files", "cells per file", "scores", "merged cells", "seconds", "peak memory"],
            measure_merges(Path(folder)),
        )
    OUTPUT.write_text(
        f"""# Files of score counts

Written by `python -m benchmarks.files`. {report.describe(report.machine())}
pyarrow {pyarrow.__version__}. The load average before the measurements was {load:.0f}.

## Size and time

Counts of one row per cell with text as groups. Each file is read again, and the counts are compared
with the counts before. Times are seconds of processor time of all threads: the shortest of
{REPEATS} runs, or a single run for CSV and for more than {FEW_CELLS:,} cells.

{formats}

## Merging

`ScoreCounts.merge` of paths, in seconds of processor time. The peak memory is the memory of the
process beyond its memory before the merge.

{merges}
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
