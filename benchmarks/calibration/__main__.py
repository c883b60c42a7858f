"""Simulate the tables of ``docs/reference/calibration.md``: ``python -m benchmarks.calibration``.

Each line of a table summarizes simulated data with known true AUCs. The seed of a line follows from
its table and its name, so a line keeps its numbers if others change. The overview and the texts at
the top of each topic are kept.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
import zlib
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.calibration import PAGES, TABLES
from benchmarks.calibration.table import Line, Table


def simulated(table: Table, line: Line, n_runs: int) -> list[str]:
    """Return the name and the numbers of a line."""
    warnings.simplefilter("ignore")
    seed = zlib.crc32(f"{table.title}: {line.name}".encode())
    return [line.name, *line.simulate(n_runs, seed, *line.arguments)]


def section(table: Table, n_runs: int, n_jobs: int) -> str:
    """Simulate a table: its section of the file."""
    n_runs = max(int(n_runs * table.share), 1)
    lines = Parallel(n_jobs=n_jobs)(
        delayed(simulated)(table, line, n_runs) for line in map(Line._make, table.lines)
    )
    used = [i for i, column in enumerate(table.columns) if column]
    rows = [table.columns, ["---"] * len(table.columns), *lines]
    text = [f"## {table.title}", "", f"{table.text} {n_runs:,} runs per line.", ""]
    text += [f"| {' | '.join(row[i] for i in used)} |" for row in rows]
    return "\n".join([*text, ""])


def replaced(source: str, sections: dict[str, str]) -> str:
    """Return the file with these sections of tables, by title, in the order of `PAGES`.

    The overview, the text of each topic and the other sections are kept, except sections of tables
    that no longer exist.
    """
    overview, *parts = re.split(r"\n(?=##? )", source)
    by_heading = {part.split("\n")[0]: part for part in parts}
    by_heading |= {f"## {title}": section for title, section in sections.items()}
    in_order = [
        by_heading[heading]
        for title, tables in PAGES.items()
        for heading in (f"# {title}", *(f"## {table.title}" for table in tables))
        if heading in by_heading
    ]
    return "\n".join([overview, *in_order])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="simulated sets of each line")
    parser.add_argument("--only", default="", help="replace the tables whose title holds this")
    parser.add_argument("--jobs", type=int, default=-1, help="processes, -1: all processors")
    parser.add_argument("--out", type=Path, default=Path("docs/reference/calibration.md"))
    arguments = parser.parse_args()
    for table in TABLES:
        if arguments.only not in table.title:
            continue
        began = time.perf_counter()
        simulated_now = section(table, arguments.runs, arguments.jobs)
        print(f"{simulated_now}\n{time.perf_counter() - began:.0f} s", flush=True)
        source = arguments.out.read_text(encoding="utf-8")
        text = replaced(source, {table.title: simulated_now})
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
