"""Measure skfedauc and its peers: ``python -m benchmarks``.

Each result is compared with our result before its time is printed. The tables are printed and
written to benchmarks/README.md, together with a JSON file of all figures and a plot of time against
rows.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.metrics import roc_auc_score

from benchmarks import kernel, peers, report, scenarios
from benchmarks.data import Case, Rows, make_rows
from benchmarks.measure import LIMIT, Result, is_peer, time_interleaved

RESULTS = Path("benchmarks/results")
# Seconds; a peer is left out if its previous times predict a longer time.
PATIENCE = 6.0


def cases(most_rows: int) -> Iterator[Case]:
    sizes = [n for n in (100_000, 1_000_000, 10_000_000, 100_000_000) if n <= most_rows]
    for n in sizes:
        for ties in ("none", "3 digits", "binary"):
            yield Case(n, ties=ties)
        yield Case(n, scores="float32")
        yield Case(n, weighted=True)
        yield Case(n, ties="3 digits", weighted=True)
    for n in sizes:
        yield from (case for case in _by_group(n) if case.n_groups * 5 <= n)


def _by_group(n: int) -> Iterator[Case]:
    for ties in ("none", "3 digits"):
        for n_groups in (10, 1_000, 10_000, 100_000, 1_000_000):
            yield Case(n, n_groups, ties)
    for n_groups in (1_000, 100_000):
        yield Case(n, n_groups, "binary")
    largest = n >= 10_000_000
    for n_groups in (10, 1_000, 10_000, 100_000, 1_000_000) if largest else (1_000, 100_000):
        yield Case(n, n_groups, sizes="zipf")
    for ties in ("none", "3 digits"):
        for n_groups in (10, 1_000, 100_000):
            yield Case(n, n_groups, ties, weighted=True)
    yield Case(n, 1_000, scores="float32")
    for n_groups in (1_000,) if largest else (1_000, 100_000):
        yield Case(n, n_groups, labels="strings")


def measure(most_rows: int, repeats: int) -> list[Result]:
    results: list[Result] = []
    for case in cases(most_rows):
        rows = make_rows(case)
        ways = (peers.pooled if case.n_groups == 1 else peers.by_group)(rows)
        patient = {
            name: way
            for name, way in ways.items()
            if not is_peer(name) or _expected(name, case, results) < PATIENCE
        }
        runs = time_interleaved(patient, _check(rows, case), repeats=repeats)
        results.append(Result(case, runs))
        print(_line(results[-1]), flush=True)
    return results


def _expected(name: str, case: Case, results: list[Result]) -> float:
    """Predict seconds from previous cases, by the time per row and the time per group."""
    like = [r for r in results if name in r.seconds]
    if not like:
        return 0.0
    sizes = np.array([(r.case.n_rows, r.case.n_groups) for r in like], float)
    (by_row, by_group), _ = nnls(sizes, np.array([r.seconds[name] for r in like]))
    return float(by_row * case.n_rows + by_group * case.n_groups)


def _check(rows: Rows, case: Case) -> Callable[[str, Any], None]:
    """Return a check that compares each result with ours, and our result with scikit-learn."""
    ours: list[Any] = []

    def check(name: str, result: Any) -> None:
        if name == LIMIT:
            return
        value = result if case.n_groups == 1 else peers.as_series(result)
        if not ours:
            ours.append(value)
            _check_some_groups(value, rows, case)
        if case.n_groups > 1 and not np.array_equal(value.index, ours[0].index):
            raise AssertionError(f"{name}: other groups than ours in {case}")
        if not np.allclose(value, ours[0], rtol=1e-6 if "torch" in name else 1e-9, atol=1e-9):
            raise AssertionError(f"{name}: other values than ours in {case}")

    return check


def _check_some_groups(found: Any, rows: Rows, case: Case) -> None:
    """Compare three groups with scikit-learn, the only peer that supports weights."""
    if case.n_groups == 1:
        return  # scikit-learn is among the peers
    for label in found.index[[0, len(found) // 2, -1]]:
        mine = np.asarray(rows.group == label)
        if not 0 < rows.y[mine].sum() < mine.sum():
            continue
        weight = None if rows.weight is None else rows.weight[mine]
        expected = roc_auc_score(rows.y[mine], rows.score[mine], sample_weight=weight)
        if not np.isclose(found[label], expected, rtol=1e-9, atol=1e-9):
            raise AssertionError(f"group {label} has another AUC than roc_auc_score in {case}")


def _line(result: Result) -> str:
    line = f"{result.case!s:<48} ours {result.ours:.4f} s"
    line += f"  {result.ours / result.seconds[LIMIT]:5.1f} x sort"
    if (peer := result.best_peer) is None:
        return line
    seconds = result.seconds[peer]
    return f"{line}  best peer {seconds:.4f} s = {seconds / result.ours:.1f} x ({peer})"


def put_into_readme(tables: str) -> None:
    """Replace the tables of benchmarks/README.md."""
    readme = Path("benchmarks/README.md")
    before, rest = readme.read_text().split("<!-- tables -->")
    after = rest.split("<!-- end of tables -->")[1]
    readme.write_text(f"{before}<!-- tables -->\n\n{tables}\n\n<!-- end of tables -->{after}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows",
        type=float,
        default=1e7,
        help="most rows, 1e5 to 1e8 (default: 1e7, which takes about 40 minutes)",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="most timed runs of each way (default: 5)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help=f"folder of the JSON and the plot (default: {RESULTS}, with the tables of "
        "benchmarks/README.md; from 1e7 rows on only, since below that most claims have no figure)",
    )
    arguments = parser.parse_args()
    if not 1e5 <= arguments.rows <= 1e8:
        parser.error("--rows must be from 1e5 to 1e8")
    keep = arguments.out is None and arguments.rows >= 1e7
    out = RESULTS if keep else arguments.out
    warnings.simplefilter("ignore")
    before = report.processor_ticks()
    results = measure(int(arguments.rows), arguments.repeats)
    others = scenarios.all_scenarios()
    memory = scenarios.memory(min(int(arguments.rows), 10_000_000))
    claims = kernel.variants(min(int(arguments.rows), 10_000_000), arguments.repeats)
    about = {**report.machine(), "share_stolen": report.share_stolen(before)}
    document = {
        "machine": about,
        "results": [result.as_json() for result in results],
        "scenarios": others,
        "memory": memory,
        "kernel": claims,
    }
    tables = "\n\n".join(
        [
            report.describe(about),
            report.summary(results, others, memory),
            report.kernel_table(claims),
            report.growth_table(results),
            report.time_tables(results),
            report.scenario_table(others),
            report.memory_table(memory),
        ]
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "latest.json").write_text(json.dumps(document, indent=1))
        report.plot(results, out / "rows.png")
    if keep:
        put_into_readme(tables)
    print(f"\n{tables}")


if __name__ == "__main__":
    main()
