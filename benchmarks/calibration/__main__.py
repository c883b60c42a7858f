"""Simulate the tables of ``docs/reference/calibration.md``: ``python -m benchmarks.calibration``.

Each line of a table summarizes simulated data with known true AUCs. The seed of a line follows from
its table and its name, so a line keeps its numbers if others change. The text above the first table
is kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
import zlib
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.calibration import TABLES
from benchmarks.calibration.table import Line, Table


def simulated(table: Table, line: Line, n_runs: int) -> list[str]:
    """Return the name and the numbers of a line."""
    warnings.simplefilter("ignore")
    seed = zlib.crc32(f"{table.title}: {line.name}".encode())
    return [line.name, *line.simulate(n_runs, seed, *line.arguments)]


def section(table: Table, n_runs: int, n_jobs: int) -> str:
    """Simulate a table: its part of the page."""
    n_runs = max(int(n_runs * table.share), 1)
    lines = Parallel(n_jobs=n_jobs)(
        delayed(simulated)(table, line, n_runs) for line in map(Line._make, table.lines)
    )
    used = [i for i, column in enumerate(table.columns) if column]
    rows = [table.columns, ["---"] * len(table.columns), *lines]
    text = [table.title, "", f"{table.text} {n_runs:,} runs per line.", ""]
    text += [f"| {' | '.join(row[i] for i in used)} |" for row in rows]
    return "\n".join([*text, ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="simulated sets of each line")
    parser.add_argument("--only", default="", help="replace the tables whose title holds this")
    parser.add_argument("--jobs", type=int, default=-1, help="processes, -1: all processors")
    parser.add_argument("--out", type=Path, default=Path("docs/reference/calibration.md"))
    arguments = parser.parse_args()
    introduction, *kept = arguments.out.read_text().split("\n## ")
    sections = {part.split("\n")[0]: part for part in kept}
    for table in TABLES:
        if arguments.only not in table.title:
            continue
        began = time.perf_counter()
        sections[table.title] = section(table, arguments.runs, arguments.jobs)
        print(f"## {sections[table.title]}\n{time.perf_counter() - began:.0f} s", flush=True)
        in_order = [sections[one.title] for one in TABLES if one.title in sections]
        arguments.out.write_text("\n## ".join([introduction, *in_order]))


if __name__ == "__main__":
    main()
