"""What users do besides one large call: small calls, searches, merging, memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import Case, make_rows
from benchmarks.measure import time_interleaved
from skfedauc import AUCPartial, GroupAUC, group_auc_scoring, group_roc_auc_score


def all_scenarios(most_rows: int) -> list[dict[str, Any]]:
    """Each as name, ours in seconds (or bytes), the peer's, and what the peer is."""
    found = [*small_calls(), *merging(), search(), cross_matrix()]
    found += memory(min(most_rows, 10_000_000))
    return [*found, batches(), many_batches()]


def markdown(found: list[dict[str, Any]]) -> str:
    lines = ["### Scenarios", "", "| what | ours | next to | peer / ours |", "|---|---|---|---|"]
    for row in found:
        ratio = f"{row['peer'] / row['ours']:.2f}" if row.get("peer") else ""
        peer = f"{row['peer']:.4g} {row['unit']}: {row['peer_is']}" if row.get("peer") else ""
        lines.append(f"| {row['what']} | {row['ours']:.4g} {row['unit']} | {peer} | {ratio} |")
    return "\n".join(lines)


def _row(what: str, unit: str, ours: float, peer: float | None = None, peer_is: str = "") -> Any:
    return {"what": what, "unit": unit, "ours": ours, "peer": peer, "peer_is": peer_is}


def _pair(what: str, ways: dict[str, Callable[[], Any]], repeats: int = 7) -> dict[str, Any]:
    times = time_interleaved(ways, lambda name, result: None, repeats=repeats)
    (_, ours), *rest = times.items()
    return _row(what, "s", ours, rest[0][1], rest[0][0]) if rest else _row(what, "s", ours)


def small_calls() -> list[dict[str, Any]]:
    """Time a thousand small calls, since searches make as many."""
    from sklearn.metrics import roc_auc_score

    found = []
    for n, calls in ((1_000, 200), (100_000, 10)):
        y, score, group, _ = make_rows(Case(n, 10))

        def ours(y=y, score=score, group=group, calls=calls) -> None:  # type: ignore[no-untyped-def]
            for _ in range(calls):
                group_roc_auc_score(y, score, groups=group)

        def peer(y=y, score=score, calls=calls) -> None:  # type: ignore[no-untyped-def]
            for _ in range(calls):
                roc_auc_score(y, score)

        row = _pair("", {"ours": ours, "roc_auc_score, pooled": peer})
        name = f"one call, {n:,} rows, 10 groups"
        found.append(_row(name, "s", row["ours"] / calls, row["peer"] / calls, row["peer_is"]))
    return found


def merging() -> list[dict[str, Any]]:
    """Merge states next to building one from the same rows."""
    found = []
    for ties, n_groups in (("none", 1), ("none", 1_000), ("3 digits", 1_000)):
        y, score, group, _ = make_rows(Case(2_000_000, n_groups, ties))
        half = 1_000_000
        parts = [
            AUCPartial.from_predictions(y[s], score[s], groups=group[s])
            for s in (slice(half), slice(half, None))
        ]
        found.append(
            _pair(
                f"merge two states of 1e6 rows, {n_groups:,} groups, ties {ties}",
                {
                    "ours": lambda parts=parts: AUCPartial.merge(parts),
                    "build from the 2e6 rows": lambda y=y, score=score, group=group: (
                        AUCPartial.from_predictions(y, score, groups=group)
                    ),
                },
            )
        )
    y, score, group, _ = make_rows(Case(2_000_000, 100))
    parts = [
        AUCPartial.from_predictions(y[i::200], score[i::200], groups=group[i::200])
        for i in range(200)
    ]
    found.append(
        _pair(
            "merge 200 states of 1e4 rows, 100 groups",
            {
                "ours": lambda: AUCPartial.merge(parts),
                "build from the 2e6 rows": lambda: AUCPartial.from_predictions(
                    y, score, groups=group
                ),
            },
        )
    )
    return found


def search() -> dict[str, Any]:
    """Time four group statistics in GridSearchCV next to scoring="roc_auc"."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    y, score, group, _ = make_rows(Case(1_000_000, 1_000))
    X = pd.DataFrame({"x": score, "site": group})

    def scoring_seconds(scoring: Any, refit: Any) -> float:
        grid = GridSearchCV(
            LogisticRegression(max_iter=5, tol=1.0), {"C": [0.1, 1.0]}, scoring=scoring, cv=3
        ).set_params(refit=refit)
        grid.fit(X, y)
        return float(np.sum(grid.cv_results_["mean_score_time"]) * 3)

    statistics = ["pooled", "positives", "worst", "neg_difference"]
    ours, theirs = [], []
    for _ in range(3):
        ours.append(scoring_seconds(group_auc_scoring(statistics, groups="site"), False))
        theirs.append(scoring_seconds("roc_auc", False))
    return _row(
        "scoring time of GridSearchCV, 1e6 rows, 4 statistics, 1,000 groups",
        "s",
        float(np.median(ours)),
        float(np.median(theirs)),
        'the same search with scoring="roc_auc"',
    )


def cross_matrix() -> dict[str, Any]:
    y, score, group, _ = make_rows(Case(1_000_000, 200))
    partial = AUCPartial.from_predictions(y, score, groups=group)
    return _pair(
        "cross_matrix, 1e6 rows, 200 groups",
        {"ours": lambda: GroupAUC(partial, undefined="ignore").cross_matrix},
        repeats=3,
    )


_PEAK = """
import tracemalloc
import numpy as np
from skfedauc import AUCPartial
n, n_groups, weighted = {n}, {n_groups}, {weighted}
rng = np.random.default_rng(0)
y = np.zeros(n, bool); y[: n // 3] = True
score = rng.random(n); group = rng.integers(0, n_groups, n)
weight = rng.random(n) + 0.5 if weighted else None
tracemalloc.start()
partial = AUCPartial.from_predictions(y, score, groups=group, sample_weight=weight)
held, peak = tracemalloc.get_traced_memory()
print(peak / n, held / partial._cells.scores.size)
"""


def memory(n: int) -> list[dict[str, Any]]:
    """Peak memory that numpy allocates beyond the input, and what the state keeps."""
    found = []
    for n_groups in (1, 10, 1_000, n // 10):
        for weighted in (False, True):
            code = _PEAK.format(n=n, n_groups=n_groups, weighted=weighted)
            run = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            peak, state = map(float, run.stdout.split())
            name = f"{n:.0e} rows, {n_groups:,} groups{', weighted' * weighted}"
            found.append(_row(f"peak extra memory per row: {name}", "bytes", peak))
            found.append(_row(f"state per distinct score and group: {name}", "bytes", state))
    return found


_BATCHES = """
import time
import numpy as np
from skfedauc import AUCPartial, GroupAUC
n_batches, n_rows = {n_batches}, {n_rows}
def made():
    for seed in range(n_batches):
        rng = np.random.default_rng(seed)
        score = rng.random(n_rows).round(4)
        yield rng.random(n_rows) < score, score, rng.integers(0, 1000, n_rows)
GroupAUC(AUCPartial.from_predictions([0, 1], [0, 0.5], groups=[0, 0])).pooled
def peak_kilobytes():
    # Of this process alone; getrusage would tell the peak of the one that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
before = peak_kilobytes()
began = time.perf_counter()
if {whole}:
    y, score, group = (np.concatenate(part) for part in zip(*made()))
    state = AUCPartial.from_predictions(y, score, groups=group)
else:
    state = AUCPartial.from_batches(made())
pooled = GroupAUC(state).pooled
seconds = time.perf_counter() - began
peak = peak_kilobytes()
print((peak - before) / 1e6, peak / 1e6, seconds, pooled)
"""


def _in_batches(n_batches: int, n_rows: int, *, whole: bool) -> tuple[float, ...]:
    """Extra and total peak in GB, seconds, pooled AUC, in a process of its own."""
    code = _BATCHES.format(n_batches=n_batches, n_rows=n_rows, whole=whole)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return tuple(map(float, run.stdout.split()))


def batches() -> dict[str, Any]:
    """200 batches of 1e5 rows, made on the fly, next to loading all of them."""
    ours, whole = (_in_batches(200, 100_000, whole=whole) for whole in (False, True))
    if ours[3] != whole[3]:
        raise AssertionError("from_batches: another AUC than of all rows at once")
    what = "peak memory beyond imports: from_batches over 200 batches of 1e5 rows, 4 digits"
    return _row(what, "GB", ours[0], whole[0], "all rows at once")


def many_batches() -> dict[str, Any]:
    """1e8 rows of 4 digits in 1,000 groups, made and counted batch by batch."""
    _, peak, seconds, _ = _in_batches(100, 1_000_000, whole=False)
    return _row(f"peak memory in all: 1e8 rows in 100 batches ({seconds:.0f} s)", "GB", peak)
