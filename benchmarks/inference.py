"""Time of statistics by group beside other packages: ``python -m benchmarks.inference``.

Other packages compute one group at a time, so their time is the time of a loop over groups. Each
result is compared with ours before the timing. The table is written to benchmarks/inference.md.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import confidenceinterval
import numpy as np
import sklearn
from MLstatkit import Delong_test
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.measure import OURS, time_interleaved
from benchmarks.report import processor
from skfedauc import GroupAUC, compare_models, group_roc_auc_score
from skfedauc.measures import AveragePrecision, PartialAUC

OUTPUT = Path("benchmarks/inference.md")
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    y: NDArray[np.int64]
    scores: Floats
    groups: NDArray[np.int64]

    def by_group(self) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        """Yield labels and scores of each group; the rows are sorted once."""
        order = np.argsort(self.groups, kind="stable")
        ends = np.flatnonzero(np.diff(self.groups[order])) + 1
        yield from zip(
            np.split(self.y[order], ends), np.split(self.scores[order], ends), strict=True
        )

    def loop(self, function: Callable[..., Any], **settings: Any) -> Floats:
        """Return the function's value of each group."""
        return np.array([function(y, scores, **settings) for y, scores in self.by_group()])


class Task(NamedTuple):
    """Our call, the call of a peer, and the largest difference of the results."""

    name: str
    rows: str
    peer: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    tolerance: float = 1e-9


def drawn(n_rows: int, n_groups: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.3).astype(np.int64)
    return Rows(y, (rng.normal(size=n_rows) + y).round(3), rng.integers(0, n_groups, n_rows))


def tasks() -> Iterator[Task]:
    rows = drawn(200_000, 500)
    about = "200,000 rows, 500 groups"
    for measure, peer, function, settings in (
        (PartialAUC(max_fpr=0.1), "roc_auc_score(max_fpr=)", roc_auc_score, {"max_fpr": 0.1}),
        (AveragePrecision(), "average_precision_score", average_precision_score, {}),
    ):
        yield Task(
            f"{measure}, values",
            about,
            f"scikit-learn {peer}",
            lambda measure=measure: GroupAUC.from_predictions(
                rows.y, rows.scores, groups=rows.groups, measure=measure
            ).by_group.iloc[:, 0],
            lambda function=function, settings=settings: rows.loop(function, **settings),
        )

    def limits() -> Any:
        report = GroupAUC.from_predictions(rows.y, rows.scores, groups=rows.groups)
        return report.confidence_intervals(method="delong")[["ci_low", "ci_high"]]

    yield Task(
        "DeLong intervals",
        about,
        "confidenceinterval",
        limits,
        lambda: [confidenceinterval.roc_auc_score(y, s)[1] for y, s in rows.by_group()],
        1e-6,
    )
    yield from of_models()
    yield from of_classes()


def of_models() -> Iterator[Task]:
    rows, n_models = drawn(20_000, 1, seed=1), 5
    rng = np.random.default_rng(2)
    scores = rows.scores[:, None] + rng.normal(size=(rows.y.size, n_models)).round(3)
    first, second = np.triu_indices(n_models, 1)

    def pairs() -> Floats:
        return np.array(
            [
                Delong_test(rows.y, scores[:, a], scores[:, b])[0]
                for a, b in zip(first, second, strict=True)
            ]
        )

    def ours() -> Any:
        return compare_models(rows.y, scores).table["statistic"]

    yield Task("all pairs of 5 models", "20,000 rows", "MLstatkit Delong_test", ours, pairs, 1e-6)


def of_classes() -> Iterator[Task]:
    rows, n_classes = drawn(100_000, 200, seed=3), 4
    rng = np.random.default_rng(4)
    label = rng.integers(0, n_classes, rows.y.size)
    scores = rng.random((label.size, n_classes))
    scores[np.arange(label.size), label] += 0.3
    scores /= scores.sum(axis=1, keepdims=True)
    order = np.argsort(rows.groups, kind="stable")
    ends = np.flatnonzero(np.diff(rows.groups[order])) + 1
    parts = np.split(label[order], ends), np.split(scores[order], ends)
    for multi_class in ("ovr", "ovo"):
        yield Task(
            f"four classes, {multi_class}, mean over groups",
            "100,000 rows, 200 groups",
            "scikit-learn roc_auc_score",
            lambda multi_class=multi_class: group_roc_auc_score(
                label, scores, groups=rows.groups, statistic="macro", multi_class=multi_class
            ),
            lambda multi_class=multi_class: np.mean(
                [roc_auc_score(y, s, multi_class=multi_class) for y, s in zip(*parts, strict=True)]
            ),
        )


def line(task: Task) -> str:
    """Time a task: a line of the table."""

    def check(name: str, result: Any) -> None:
        np.testing.assert_allclose(
            np.ravel(result), np.ravel(task.ours()), rtol=task.tolerance, atol=task.tolerance / 1e3
        )

    times = time_interleaved({OURS: task.ours, task.peer: task.theirs}, check, budget=10.0)
    ours, theirs = (float(np.median(times[name])) for name in (OURS, task.peer))
    cells = task.name, task.rows, f"{ours:.3g} s", task.peer, f"{theirs:.3g} s", theirs / ours
    return "| " + " | ".join(f"{c:.2g}" if isinstance(c, float) else c for c in cells) + " |"


def main() -> None:
    head = ["statistic", "rows", "skfedauc", "peer", "time of the peer", "ratio"]
    lines = [f"| {' | '.join(head)} |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for task in tasks():
        lines.append(line(task))
        print(lines[-1], flush=True)
    OUTPUT.write_text(
        "# Statistics by group beside other packages\n\n"
        "Written by `python -m benchmarks.inference`. Other packages compute one group (or one\n"
        "pair of models) at a time, in a loop. Times are medians of alternating runs with one\n"
        "thread; each result was compared with ours first.\n\n"
        f"{processor()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    main()
