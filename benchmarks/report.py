"""Results as Markdown tables and a plot, and a description of the machine."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data import Case
from benchmarks.measure import LIMIT, OURS, Result

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
SKLEARN = "scikit-learn roc_auc_score"
# Numbers of groups between which growth is measured.
GROWTH_GROUPS = (1, 10, 1_000, 10_000)


def _table(title: str, columns: list[str], rows: list[list[str]]) -> str:
    lines = [f"### {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


class Claim(NamedTuple):
    """A claim about the worst of several figures, each with the case of its measurement."""

    what: str
    figures: list[tuple[float, str]]
    at_least: float | None = None
    at_most: float | None = None
    unit: str = " times"

    @property
    def row(self) -> list[str]:
        figure, where = (min if self.at_most is None else max)(self.figures)
        met = ""
        if self.at_least is not None:
            met = "yes" if figure >= self.at_least else "no"
        elif self.at_most is not None:
            met = "yes" if figure <= self.at_most else "no"
        return [self.what, f"{figure:.3g}{self.unit}", where, met]


def summary(
    results: list[Result], scenarios: list[dict[str, Any]], memory: list[dict[str, Any]]
) -> str:
    """Table of the claims with their worst figures; claims without a measurement are left out."""
    claims = [*_claims_of_cases(results), *_claims_of_scenarios(scenarios)]
    claims.append(
        Claim(
            "a state without weights: at most 24 bytes per distinct score and group",
            [(m["state_per_cell"], m["case"]) for m in memory if not m["weighted"]],
            at_most=24,
            unit=" bytes",
        )
    )
    rows = [claim.row for claim in claims if claim.figures]
    return _table("Summary", ["claim", "worst figure", "where", "met"], rows)


def _claims_of_cases(results: list[Result]) -> Iterator[Claim]:
    large = [r for r in results if r.case.n_rows == 10_000_000]
    pooled = [r for r in large if r.case.n_groups == 1]
    for kind, chosen in (
        ("no ties, no weights", [r for r in pooled if _is_plain(r)]),
        ("any scores, no weights", [r for r in pooled if not r.case.weighted]),
    ):
        yield Claim(
            f"pooled, 1e7 rows, {kind}: time / time of numpy.sort at most 4",
            [(r.ours / r.seconds[LIMIT], str(r.case)) for r in chosen],
            at_most=4,
        )
    for kind, chosen in (
        ("no ties, no weights", [r for r in pooled if _is_plain(r)]),
        ("any scores and weights", pooled),
    ):
        yield Claim(
            f"pooled, 1e7 rows, {kind}: at least 8 times faster than roc_auc_score",
            [(r.peers[SKLEARN] / r.ours, str(r.case)) for r in chosen if SKLEARN in r.peers],
            at_least=8,
        )
    middle = [r for r in results if r.case.n_rows == 1_000_000]
    for size, peer, factor, grouped in (
        ("1e7", "", 1.0, [r for r in large if r.case.n_groups > 1]),
        ("1e6", "polars", 1.5, [r for r in middle if r.case.n_groups > 1]),
    ):
        next_to = peer or "every peer"
        bound = f"at least {factor} times faster than" if factor > 1 else "faster than"
        yield Claim(
            f"by group, {size} rows, one or two threads: {bound} {next_to}",
            [figure for r in grouped for figure in _peers_over(r, r.best_of_ours, peer)],
            at_least=factor,
        )
        one_thread = [figure for r in grouped for figure in _peers_over(r, r.ours, peer)]
        if one_thread:
            name = peer or "the fastest peer"
            yield Claim(
                f"by group, {size} rows, one thread: time of {name} / time of skfedauc",
                [min(one_thread)],
            )
    yield Claim(
        "weighted: time / time without weights, with equal numbers of threads, at most 3",
        list(_weighted_over_unweighted(results)),
        at_most=3,
    )
    yield Claim(
        "time per row with 1e7 rows / time per row with 1e5 rows below 2.5",
        [
            (by_rows[10_000_000] / by_rows[100_000], what)
            for what, by_rows in _nanoseconds_per_row(results).items()
            if what != LIMIT and {100_000, 10_000_000} <= by_rows.keys()
        ],
        at_most=2.5,
    )


def _peers_over(result: Result, ours: float, prefix: str) -> Iterator[tuple[float, str]]:
    for name, seconds in result.peers.items():
        if name.startswith(prefix):
            yield seconds / ours, f"{result.case}: {name}"


def _weighted_over_unweighted(results: list[Result]) -> Iterator[tuple[float, str]]:
    by_case = {r.case: r for r in results}
    for r in results:
        unweighted = by_case.get(r.case._replace(weighted=False))
        if r.case.weighted and unweighted:
            for name in r.seconds:
                if name.startswith(OURS):
                    yield r.seconds[name] / unweighted.seconds[name], f"{r.case}: {name}"


def _claims_of_scenarios(scenarios: list[dict[str, Any]]) -> Iterator[Claim]:
    def rows(topic: str) -> list[dict[str, Any]]:
        return [row for row in scenarios if row["topic"] == topic]

    yield Claim(
        'GridSearchCV: scoring takes less time than with scoring="roc_auc"',
        [(row["peer"] / row["ours"], row["what"]) for row in rows("search")],
        at_least=1,
    )
    yield Claim(
        "a call with 1,000 rows: below 0.5 ms",
        [(row["ours"] * 1e3, row["what"]) for row in rows("call of 1,000 rows")],
        at_most=0.5,
        unit=" ms",
    )
    yield Claim(
        "a call with 100,000 rows: time minus time of the kernel below 2 ms",
        [((row["ours"] - row["peer"]) * 1e3, row["what"]) for row in rows("fixed cost")],
        at_most=2,
        unit=" ms",
    )
    yield Claim(
        "1e8 rows in batches: peak memory at most 4 GB",
        [(row["ours"], row["what"]) for row in rows("many batches")],
        at_most=4,
        unit=" GB",
    )
    yield Claim(
        "merging 200 states: time of counting their rows / time of merging",
        [(row["peer"] / row["ours"], row["what"]) for row in rows("merge of many")],
    )
    yield Claim(
        "merging two states: time of counting their rows / time of merging at least 1",
        [(row["peer"] / row["ours"], row["what"]) for row in rows("merge of two")],
        at_least=1,
    )


def kernel_table(found: list[dict[str, Any]]) -> str:
    """Claims about the kernel, with numpy's AVX-512 sort and without it."""
    rows = [
        [
            row["claim"],
            row["numpy"],
            f"{'at least' if row['at_least'] else 'at most'} {row['bound']:g}{row['unit']}",
            f"{row['figure']:.3g}{row['unit']}",
            row["where"],
            "yes" if row["met"] else "no",
        ]
        for row in found
    ]
    columns = ["claim", "numpy", "bound", "worst figure", "where", "met"]
    return _table("Claims about the kernel", columns, rows)


def _is_plain(result: Result) -> bool:
    """Whether the case has the default options, except numbers of rows and groups."""
    return result.case == Case(result.case.n_rows, result.case.n_groups)


def _nanoseconds_per_row(results: list[Result]) -> dict[str, dict[int, float]]:
    """Table of time by number of rows, for each number of groups and for the limit."""
    found = {}
    for n_groups in GROWTH_GROUPS:
        chosen = [r for r in results if _is_plain(r) and r.case.n_groups == n_groups]
        what = "pooled" if n_groups == 1 else f"{n_groups:,} groups"
        found[what] = {r.case.n_rows: r.ours / r.case.n_rows * 1e9 for r in chosen}
        if n_groups == 1:
            found[LIMIT] = {r.case.n_rows: r.seconds[LIMIT] / r.case.n_rows * 1e9 for r in chosen}
    return found


def growth_table(results: list[Result]) -> str:
    """Nanoseconds per row, by number of rows."""
    per_row = _nanoseconds_per_row(results)
    sizes = [f"{n:.0e}".replace("e+0", "e") for n in per_row["pooled"]]
    rows = []
    for what, by_rows in per_row.items():
        times = list(by_rows.values())
        rows.append([what, *(f"{ns:.1f} ns" for ns in times), f"{times[-1] / times[0]:.2f}"])
    title = f"Time per row, {sizes[0]} to {sizes[-1]}"
    return _table(title, ["no ties, one thread", *(f"{n} rows" for n in sizes), "growth"], rows)


def time_tables(results: list[Result]) -> str:
    """Tables for the pooled AUC and for group AUCs: seconds, and ratios to ours."""
    text = []
    for title, chosen in (
        ("Pooled AUC", [r for r in results if r.case.n_groups == 1]),
        ("All group AUCs", [r for r in results if r.case.n_groups > 1]),
    ):
        names = list(dict.fromkeys(name for r in chosen for name in r.runs))
        rows = [[str(r.case), *(_cell(r, name) for name in names)] for r in chosen]
        text.append(_table(title, ["case", *names], rows))
    return "\n\n".join(text)


def _cell(result: Result, name: str) -> str:
    if name not in result.runs:
        return "-"
    seconds, runs = result.seconds[name], result.runs[name]
    spread = "*" if len(runs) == 1 else f" [{min(runs):.3g} to {max(runs):.3g}]"
    return f"{seconds:.4f} s{spread} ({seconds / result.ours:.2g})"


def scenario_table(scenarios: list[dict[str, Any]]) -> str:
    rows = []
    for row in scenarios:
        unit, runs = row["unit"], row["runs"]
        peer = ratio = ""
        once = {name: "*" * (len(times) == 1) for name, times in runs.items()}
        if row["peer"]:
            peer = f"{row['peer']:.4g} {unit}{once[row['peer_is']]}: {row['peer_is']}"
            ratio = f"{row['peer'] / row['ours']:.2f}"
        rows.append([row["what"], f"{row['ours']:.4g} {unit}{once['ours']}", peer, ratio])
    return _table("Scenarios", ["what", "ours", "next to", "peer / ours"], rows)


def memory_table(memory: list[dict[str, Any]]) -> str:
    columns = ["case", "peak beyond the rows", "state per distinct score and group"]
    rows = [
        [
            row["case"],
            f"{row['peak_per_row']:.1f} bytes a row",
            f"{row['state_per_cell']:.1f} bytes",
        ]
        for row in memory
    ]
    return _table("Memory of a state", columns, rows)


def plot(results: list[Result], path: Path) -> None:
    """Draw time against rows, for 1,000 equal groups without ties."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    chosen = [r for r in results if _is_plain(r) and r.case.n_groups == 1_000]
    figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    for name in dict.fromkeys(name for r in chosen for name in r.runs):
        points = [(r.case.n_rows, r.seconds[name]) for r in chosen if name in r.seconds]
        style: dict[str, Any] = {"color": "black", "linestyle": ":"} if name == LIMIT else {}
        width = 2.5 if name.startswith(OURS) else 1
        ax.plot(*zip(*points, strict=True), marker="o", lw=width, label=name, **style)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    ax.set_title("AUC of each of 1,000 groups, scores without ties")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=110)


def machine() -> dict[str, Any]:
    """Machine, versions, commit and date of the figures."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "python": platform.python_version(),
        "versions": versions,
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def processor_ticks() -> tuple[int, int]:
    """Ticks that a hypervisor gave to other machines, and all ticks, since the machine started."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:  # systems other than Linux
        return 0, 0
    ticks = [int(field) for field in fields]
    return ticks[7], sum(ticks)


def share_stolen(before: tuple[int, int]) -> float | None:
    """Share of processor time that a hypervisor gave to other machines since `before`."""
    (stolen, total), (stolen_before, total_before) = processor_ticks(), before
    return (stolen - stolen_before) / (total - total_before) if total > total_before else None


def describe(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    memory = f" with {about['memory_gb']:.0f} GB" if about["memory_gb"] else ""
    commit, dash, dirty = (about["commit"] or "").partition("-")
    at_commit = f", commit {commit[:10]}{dash}{dirty}" if commit else ""
    stolen = about.get("share_stolen")
    others = "" if stolen is None else f" Other virtual machines took {stolen:.1%} of their time."
    return (
        f"Measured on {about['date']}{at_commit}, on {about['cores']} cores of "
        f"{about['processor']}{memory}, Python {about['python']}, {versions}.{others}"
    )


def _commit() -> str | None:
    """Git commit, with "-dirty" if files differ from it; None outside git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        run = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


def _memory_gb() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return None


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
