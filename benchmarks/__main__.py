"""Measure skfedauc side by side with its peers: ``python -m benchmarks``.

Every result is compared with ours before a time is printed. Writes a Markdown table, a JSON
with every figure, and a plot of time against rows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers, scenarios
from benchmarks.data import Case, Rows, make_rows
from benchmarks.measure import time_interleaved

PACKAGES = [
    "skfedauc",
    "numpy",
    "scikit-learn",
    "pandas",
    "polars",
    "polars-ds",
    "duckdb",
    "fairlearn",
    "torchmetrics",
]
LIMIT = "limit: numpy.sort(scores)"
RESULTS = Path("benchmarks/results")
# A way that would need longer than this, judged by its last time, is left out.
PATIENCE = 6.0


def cases(most_rows: int) -> Iterator[Case]:
    sizes = [n for n in (100_000, 1_000_000, 10_000_000, 100_000_000) if n <= most_rows]
    for n in sizes:
        for ties in ("none", "3 digits", "binary"):
            yield Case(n, ties=ties)
        yield Case(n, weighted=True)
    for n in sizes:
        for ties in ("none", "3 digits"):
            for n_groups in (10, 1_000, 10_000, 100_000, 1_000_000):
                if n_groups * 5 <= n:
                    yield Case(n, n_groups, ties)
        for n_groups in (1_000, 100_000):
            if n_groups * 5 <= n:
                yield Case(n, n_groups, sizes="zipf")
                yield Case(n, n_groups, weighted=True)


def measure(most_rows: int, repeats: int) -> list[dict[str, Any]]:
    results = []
    last: dict[tuple[str, str], tuple[float, float]] = {}
    for case in cases(most_rows):
        rows = make_rows(case)
        ways = (peers.pooled if case.n_groups == 1 else peers.by_group)(rows)
        kind = f"{case.ties} {case.sizes} {case.n_groups == 1} {case.weighted}"
        effort = float(case.n_rows + 1_000 * case.n_groups)
        patient = {}
        for name, way in ways.items():
            seconds, before = last.get((name, kind), (0.0, effort))
            is_peer = not name.startswith(("skfedauc", "limit"))
            if not is_peer or seconds * max(effort / before, 1) < PATIENCE:
                patient[name] = way
        times = time_interleaved(patient, _check(rows, case), repeats=repeats)
        last.update({(name, kind): (seconds, effort) for name, seconds in times.items()})
        results.append({"case": str(case), **case._asdict(), "seconds": times})
        print(_line(results[-1]), flush=True)
    return results


def _check(rows: Rows, case: Case) -> Callable[[str, Any], None]:
    """Compare each way's result with the first one's, which is ours."""
    ours: list[Any] = []

    def check(name: str, result: Any) -> None:
        if name == LIMIT:
            return
        value = result if case.n_groups == 1 else peers.as_series(result)
        if not ours:
            ours.append(value)
        if case.n_groups > 1 and not np.array_equal(value.index, ours[0].index):
            raise AssertionError(f"{name}: other groups than ours in {case}")
        if not np.allclose(value, ours[0], rtol=1e-6 if "torch" in name else 1e-9, atol=1e-9):
            raise AssertionError(f"{name}: other values than ours in {case}")

    return check


def _best_peer(seconds: dict[str, float]) -> tuple[str, float]:
    others = {k: v for k, v in seconds.items() if not k.startswith(("skfedauc", "limit"))}
    return min(others.items(), key=lambda item: item[1]) if others else ("-", float("nan"))


def _line(result: dict[str, Any]) -> str:
    seconds = result["seconds"]
    peer, peer_seconds = _best_peer(seconds)
    return (
        f"{result['case']:<48} ours {seconds['skfedauc']:.4f} s"
        f"  {seconds['skfedauc'] / seconds[LIMIT]:5.1f} x sort"
        f"  best peer {peer_seconds:.4f} s = {peer_seconds / seconds['skfedauc']:.1f} x ({peer})"
    )


def markdown(results: list[dict[str, Any]]) -> str:
    """A table for the pooled AUC and one for group AUCs: seconds, and times ours."""
    text = []
    for title, chosen in (
        ("Pooled AUC", [r for r in results if r["n_groups"] == 1]),
        ("All group AUCs", [r for r in results if r["n_groups"] > 1]),
    ):
        names = list(dict.fromkeys(name for r in chosen for name in r["seconds"]))
        text += [f"### {title}", "", f"| case | {' | '.join(names)} |"]
        text += ["|---" * (len(names) + 1) + "|"]
        for r in chosen:
            ours = r["seconds"]["skfedauc"]
            cells = [
                f"{r['seconds'][n]:.4f} s ({r['seconds'][n] / ours:.2g})"
                if n in r["seconds"]
                else "-"
                for n in names
            ]
            text.append(f"| {r['case']} | {' | '.join(cells)} |")
        text.append("")
    return "\n".join(text)


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Draw time against rows, for 1,000 equal groups without ties."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [
        r
        for r in results
        if r["n_groups"] == 1_000
        and r["ties"] == "none"
        and r["sizes"] == "equal"
        and not r["weighted"]
    ]
    figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    names = list(dict.fromkeys(name for r in chosen for name in r["seconds"]))
    for name in names:
        points = [(r["n_rows"], r["seconds"][name]) for r in chosen if name in r["seconds"]]
        ours = name.startswith("skfedauc")
        style = {"color": "black", "linestyle": ":"} if name == LIMIT else {}
        ax.plot(*zip(*points, strict=True), marker="o", lw=2.5 if ours else 1, label=name, **style)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    ax.set_title("AUC of each of 1,000 groups, scores without ties")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=110)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }


def describe(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return (
        f"Measured on {about['cores']} cores of {about['processor']}, Python {about['python']}, "
        f"{versions}."
    )


def put_into_readme(tables: str) -> None:
    """Replace the tables of benchmarks/README.md."""
    readme = Path("benchmarks/README.md")
    before, rest = readme.read_text().split("<!-- tables -->")
    after = rest.split("<!-- end of tables -->")[1]
    readme.write_text(f"{before}<!-- tables -->\n\n{tables}\n\n<!-- end of tables -->{after}")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7, help="most rows (1e5 to 1e8)")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs of each way")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = measure(int(arguments.rows), arguments.repeats)
    others = scenarios.all_scenarios(int(arguments.rows))
    arguments.out.mkdir(parents=True, exist_ok=True)
    about = machine()
    document = {"machine": about, "results": results, "scenarios": others}
    (arguments.out / "latest.json").write_text(json.dumps(document, indent=1))
    tables = "\n\n".join([markdown(results), scenarios.markdown(others)])
    plot(results, arguments.out / "rows.png")
    if arguments.out == RESULTS:
        put_into_readme(f"{describe(about)}\n\n{tables}")
    print(f"\n{tables}\n\n{describe(about)}")


if __name__ == "__main__":
    main()
