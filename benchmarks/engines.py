"""Count rows of Parquet files by engine: ``python -m benchmarks.engines``.

Each engine runs in a process of its own. Its counts must be equal to the counts of pandas, bit for
bit. The tables are printed and written to benchmarks/engines.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import describe, machine
from skfedauc import ScoreCounts
from skfedauc.counts import view_of

OUT = Path("benchmarks/engines.md")
COLUMNS = {"label": "ill", "score": "risk", "group": "site"}
N_GROUPS = 1_000
ROWS_OF_FILE = 1_000_000
PACKAGES = ("duckdb", "polars", "dask", "pyspark", "sqlframe", "pyarrow", "narwhals")
# Seconds between two looks at the processes of an engine
STEP = 0.05


# Engines -----------------------------------------------------------------------------------------


def with_pandas(folder: Path) -> ScoreCounts:
    import pandas as pd

    frame = pd.read_parquet(folder, columns=list(COLUMNS.values()))
    return ScoreCounts.from_table(frame, **COLUMNS)


def with_polars(folder: Path) -> ScoreCounts:
    import polars as pl

    return ScoreCounts.from_table(pl.scan_parquet(folder / "*.parquet"), **COLUMNS)


def with_polars_streaming(folder: Path) -> ScoreCounts:
    import polars as pl

    pl.Config.set_engine_affinity("streaming")
    return with_polars(folder)


def with_duckdb(folder: Path) -> ScoreCounts:
    import duckdb

    return ScoreCounts.from_table(duckdb.read_parquet(f"{folder}/*.parquet"), **COLUMNS)


def with_sqlframe(folder: Path) -> ScoreCounts:
    from sqlframe.duckdb import DuckDBSession

    table = DuckDBSession().read.parquet(f"{folder}/*.parquet")
    return ScoreCounts.from_table(table, **COLUMNS)


def with_dask(folder: Path) -> ScoreCounts:
    import dask.dataframe as dd

    table = dd.read_parquet(folder, columns=list(COLUMNS.values()))
    return ScoreCounts.from_table(table, **COLUMNS)


def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the same packages
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", False)
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.driver.memory", "4g")
        .config("spark.driver.maxResultSize", "2g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def with_spark(folder: Path) -> ScoreCounts:
    return ScoreCounts.from_table(_spark().read.parquet(str(folder)), **COLUMNS)


def with_spark_partitions(folder: Path) -> ScoreCounts:
    import pyarrow as pa

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        counts = ScoreCounts.from_batches(batches, **COLUMNS)
        yield pa.RecordBatch.from_pydict({"counts": [counts.to_bytes()]})

    table = _spark().read.parquet(str(folder)).select(*COLUMNS.values())
    counted = table.mapInArrow(count, "counts binary").toLocalIterator()
    return ScoreCounts.merge(ScoreCounts.from_bytes(bytes(row.counts)) for row in counted)


def with_files(folder: Path) -> ScoreCounts:
    return ScoreCounts.from_batches(sorted(folder.glob("*.parquet")), **COLUMNS, n_jobs=2)


ENGINES: dict[str, Callable[[Path], ScoreCounts]] = {
    "pandas, in memory": with_pandas,
    "files in two workers (from_batches)": with_files,
    "polars, lazy": with_polars,
    "polars, streaming": with_polars_streaming,
    "DuckDB": with_duckdb,
    "SQLFrame on DuckDB": with_sqlframe,
    "Dask": with_dask,
    "PySpark": with_spark,
    "PySpark, partitions (mapInArrow)": with_spark_partitions,
}
GROWING = ("DuckDB", "PySpark")


# Rows --------------------------------------------------------------------------------------------


def write_rows(folder: Path, n_rows: int) -> None:
    """Write Parquet files: 1,000 groups, 30 % positives, scores of three digits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for number, start in enumerate(range(0, n_rows, ROWS_OF_FILE)):
        n = min(ROWS_OF_FILE, n_rows - start)
        rng = np.random.default_rng(number)
        ill = (rng.random(n) < 0.3).astype(np.int64)
        risk = (1 / (1 + np.exp(-rng.normal(size=n) - ill))).round(3)
        rows = {"ill": ill, "risk": risk, "site": rng.integers(0, N_GROUPS, n)}
        pq.write_table(pa.table(rows), folder / f"{number:03d}.parquet")


# Measuring ---------------------------------------------------------------------------------------


class Run(NamedTuple):
    """Cost of one engine, of all its processes from start to end.

    Attributes
    ----------
    seconds : float
        Wall time, start of the engine included.
    cpu : float
        Seconds of CPU of all processes.
    peak : float
        Largest sum of the processes' resident memory, in MB.
    digest : str
        SHA-256 of the counts.
    n_cells : int
    """

    seconds: float
    cpu: float
    peak: float
    digest: str
    n_cells: int


def measured(engine: str, folder: Path) -> Run:
    """Run an engine in a new process, and look at its processes until it ends."""
    command = [sys.executable, "-m", "benchmarks.engines", "--engine", engine, str(folder)]
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as told:
        started = subprocess.Popen(command, stdout=told, stderr=subprocess.DEVNULL)
        peak, cpu = 0.0, dict[int, float]()
        while started.poll() is None:
            costs = _costs_of_tree(started.pid)
            peak = max(peak, sum(memory for _, memory in costs.values()))
            cpu |= {pid: seconds for pid, (seconds, _) in costs.items()}
            time.sleep(STEP)
        seconds = time.perf_counter() - began
        told.seek(0)
        lines = told.read().splitlines()
    if started.returncode:
        raise RuntimeError(f"{engine}: failed")
    found = json.loads(lines[-1])
    return Run(seconds, sum(cpu.values()), peak, found["digest"], found["n_cells"])


def _costs_of_tree(root: int) -> dict[int, tuple[float, float]]:
    """Return seconds of CPU and MB of memory of a process and its descendants, by their numbers."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    parent, costs = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        pid = int(folder.name)
        parent[pid] = int(fields[1])
        costs[pid] = (
            (int(fields[11]) + int(fields[12])) / ticks,
            int(fields[21]) * page / 1e6,
        )

    def is_of_tree(pid: int) -> bool:
        while pid in parent and pid != root:
            pid = parent[pid]
        return pid == root

    return {pid: cost for pid, cost in costs.items() if is_of_tree(pid)}


def run_engine(engine: str, folder: Path) -> None:
    """Count the rows in this process, and print the digest of the counts."""
    warnings.simplefilter("ignore")
    counts = ENGINES[engine](folder)
    digest = hashlib.sha256()
    for array in (*counts.cells[:4], view_of(counts).labels):
        assert array is not None
        digest.update(np.ascontiguousarray(array).tobytes())
    print(json.dumps({"digest": digest.hexdigest(), "n_cells": counts.cells.scores.size}))


# Tables ------------------------------------------------------------------------------------------


def table(runs: dict[str, Run], first: str) -> str:
    lines = [f"| {first} | wall s | CPU s | peak MB | counts |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {run.seconds:.1f} | {run.cpu:.1f} | {run.peak:,.0f} | "
        f"{run.n_cells:,} cells, equal |"
        for name, run in runs.items()
    ]
    return "\n".join(lines)


def compare(runs: dict[str, Run], of: str) -> None:
    if len({run.digest for run in runs.values()}) > 1:
        raise AssertionError(f"{of}: the counts differ: {runs}")


def put_into_page(tables: str) -> None:
    before, rest = OUT.read_text(encoding="utf-8").split("<!-- tables -->")
    after = rest.split("<!-- end of tables -->")[1]
    text = f"{before}<!-- tables -->\n\n{tables}\n\n<!-- end of tables -->{after}"
    OUT.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7, help="rows of the comparison")
    parser.add_argument("--most", type=float, default=1e8, help="most rows of the growth")
    parser.add_argument("--without", nargs="*", default=[], choices=ENGINES, help="engines")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("folder", nargs="?", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine is not None:
        run_engine(arguments.engine, arguments.folder)
        return
    growth: dict[str, Run] = {}
    growing = [name for name in GROWING if name not in arguments.without]
    with tempfile.TemporaryDirectory(prefix="skfedauc-engines-") as work:
        folder = Path(work) / "rows"
        write_rows(folder, int(arguments.rows))
        runs = {}
        for engine in [name for name in ENGINES if name not in arguments.without]:
            runs[engine] = measured(engine, folder)
            print(engine, runs[engine], flush=True)
        compare(runs, f"{arguments.rows:.0e} rows")
        n_rows = 1_000_000
        while n_rows <= arguments.most:
            folder = Path(work) / f"rows_{n_rows}"
            write_rows(folder, n_rows)
            of_size = {engine: measured(engine, folder) for engine in growing}
            print(n_rows, of_size, flush=True)
            compare(of_size, f"{n_rows:,} rows")
            growth |= {f"{name}, {n_rows:,} rows": run for name, run in of_size.items()}
            for file in folder.iterdir():
                file.unlink()
            n_rows *= 10
    about = machine()
    about["versions"] = {name: version(name) for name in PACKAGES}
    tables = "\n\n".join(
        [
            describe(about),
            f"### {int(arguments.rows):,} rows, {N_GROUPS:,} groups",
            table(runs, "engine"),
            "### Growth",
            table(growth, "engine and rows"),
        ]
    )
    if arguments.rows >= 1e7:
        put_into_page(tables)
    print(f"\n{tables}")


if __name__ == "__main__":
    main()
