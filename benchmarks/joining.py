"""Measure certain intervals of joined cells: ``python -m benchmarks.joining``.

Each interval is compared with the exact AUC. The tables are printed and written to
benchmarks/joining.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skfedauc import Bins, GroupAUC, ScoreCounts
from skfedauc.counts import Disclosure
from skfedauc.counts.score_counts import extremes_of, select_groups, view_of

OUTPUT = Path("benchmarks/joining.md")
# Rows of the streams, and their batches
N_ROWS, N_BATCHES = 200_000, 40
SIZES = (64, 256, 1_024, 4_096)
# States that are joined apart and then merged in random order
N_SITES, N_TREES = 16, 400


class Rows(NamedTuple):
    """Rows of a design; `groups` are numbers of sites."""

    y: NDArray[np.bool_]
    scores: NDArray[np.float64]
    groups: NDArray[np.intp]

    def counted(self, rows: Any = slice(None), *, by_group: bool = False) -> ScoreCounts:
        groups = self.groups[rows] if by_group else None
        return ScoreCounts.from_predictions(self.y[rows], self.scores[rows], groups=groups)


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))


def _uniform(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    scores = rng.random(n)
    return rng.random(n) < scores, scores


def _skewed(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    logits = rng.normal(-4, 2, n)
    return rng.random(n) < _sigmoid(logits), _sigmoid(logits + rng.normal(size=n))


def _rare(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.random(n) < 0.002
    return y, _sigmoid(rng.normal(-6, 1.5, n) + 2 * y)


def _tied(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    scores = np.minimum(rng.zipf(1.3, n), 5000) / 5000
    return rng.random(n) < scores**0.3, scores


def _balanced(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.random(n) < 0.5
    return y, _sigmoid(rng.normal(size=n) + 1.5 * y)


def _five_percent(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.random(n) < 0.05
    return y, _sigmoid(rng.normal(-3, 1, n) + 1.5 * y)


def _confident(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    y = rng.random(n) < 0.5
    return y, _sigmoid(rng.normal(-4, 3, n) + 8 * y)


DESIGNS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "uniform": _uniform,
    "skewed": _skewed,
    "rare (0.2 %)": _rare,
    "tied": _tied,
}
DESIGNS_OF_SITES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "balanced, AUC .86": _balanced,
    "5 % positives": _five_percent,
    "balanced, AUC .97": _confident,
}


def make_rows(design: Callable[..., tuple[Any, Any]], n: int, n_sites: int = 1) -> Rows:
    rng = np.random.default_rng(0)
    return Rows(*design(rng, n), rng.integers(0, n_sites, n))


def width(counts: ScoreCounts, exact: ScoreCounts) -> float:
    """Width of the certain interval of the pooled AUC, after checking that it holds the AUC."""
    low, high = (GroupAUC(end, undefined="ignore").pooled for end in extremes_of(counts))
    auc = GroupAUC(exact, undefined="ignore").pooled
    if not low <= auc <= high:
        raise AssertionError(f"the AUC {auc} is outside the interval from {low} to {high}")
    return high - low


def _macro_width(counts: ScoreCounts) -> float:
    low, high = (GroupAUC(end, undefined="ignore").average("macro") for end in extremes_of(counts))
    return float(high - low)


def joined_together(counts: ScoreCounts, min_count: int) -> ScoreCounts:
    """Join the bins of both classes alike, until each class has no or enough rows.

    The ranges are the unions of the bins, and not rounded outwards.
    """
    columns: list[tuple[Any, ...]] = []
    cells, ranges = counts.cells, view_of(counts).ranges
    for g, (start, stop) in enumerate(zip(cells.starts[:-1], cells.starts[1:], strict=True)):
        runs: list[list[int]] = []
        for cell in range(start, stop):
            n = [int(cells.negatives[cell]), int(cells.positives[cell])]
            if runs and not _are_enough(runs[-1][2:], min_count):
                runs[-1] = [runs[-1][0], cell, runs[-1][2] + n[0], runs[-1][3] + n[1]]
            else:
                runs.append([cell, cell, *n])
        while len(runs) > 1 and not _are_enough(runs[-1][2:], min_count):
            last = runs.pop()
            runs[-1] = [runs[-1][0], last[1], runs[-1][2] + last[2], runs[-1][3] + last[3]]
        for first, last_cell, negatives, positives in runs:
            low, high = ranges[0, first], ranges[1, last_cell]
            columns.append((g, (low + high) / 2, negatives, positives, low, high))
    names = ("group", "score", "n_negatives", "n_positives", "score_low", "score_high")
    return ScoreCounts.from_counts(**dict(zip(names, zip(*columns, strict=True), strict=True)))


def _are_enough(numbers: list[int], least: int) -> bool:
    return all(n == 0 or n >= least for n in numbers)


def measure_small() -> Iterator[list[str]]:
    for name, design in DESIGNS_OF_SITES.items():
        for n_rows in (100_000, 10_000, 1_000):
            rows = make_rows(design, n_rows, 20)
            exact = rows.counted(by_group=True)
            for least in (5, 20):
                counts = exact.reduced(Disclosure("bins", min_count=least))
                row = [name, f"{n_rows:,}", str(least), f"{counts.disclosure.withheld.n_groups}"]
                if 0 in (counts.n_negatives.sum(), counts.n_positives.sum()):
                    yield [*row, "-", "-", "-", "-", "-"]
                    continue
                sent = select_groups(exact, [exact.groups.index(g) for g in counts.groups])
                bins = sent.reduced("bins")
                together = joined_together(bins, least)
                yield [
                    *row,
                    f"{width(bins, sent):.1e}",
                    f"{width(counts, sent):.1e}",
                    f"{width(together, sent):.1e}",
                    f"{_macro_width(counts):.1e}",
                    f"{_macro_width(together):.1e}",
                ]


def _bins_of_size(exact: ScoreCounts, most: int) -> ScoreCounts | None:
    """Return counts by `Bins.of_scores` of at most `most` bins; None if there are more."""
    found = None
    for bits in range(17):
        counts = exact.reduced(Bins.of_scores(1 << bits))
        if counts.cells.scores.size > most:
            break
        found = counts
    return found


def measure_few() -> Iterator[list[str]]:
    for name, design in DESIGNS.items():
        rows = make_rows(design, N_ROWS, N_SITES)
        exact = rows.counted()
        for most in SIZES:
            once = exact.reduced(max_cells=most)
            stream = None
            for batch in np.array_split(np.arange(N_ROWS), N_BATCHES):
                new = rows.counted(batch).reduced(max_cells=N_ROWS)
                stream = (new if stream is None else stream + new).reduced(max_cells=most)
            apart = _merged([rows.counted(rows.groups == g) for g in range(N_SITES)], most, 0)
            bins = _bins_of_size(exact, most)
            yield [
                name,
                f"{most:,}",
                f"{32 * most / 1024:g} KiB",
                *(f"{width(counts, exact):.1e}" for counts in (once, stream, apart)),
                "-" if bins is None else f"{width(bins, exact):.1e}",
            ]


def _merged(states: list[ScoreCounts], most: int, seed: int) -> ScoreCounts:
    """Join the cells of each state, and merge and join two random states until there is one."""
    rng = np.random.default_rng(seed)
    states = [state.reduced(max_cells=most) for state in states]
    while len(states) > 1:
        first, second = (states.pop(rng.integers(len(states))) for _ in range(2))
        states.append((first + second).reduced(max_cells=most))
    return states[0]


def measure_trees() -> str:
    """Merge states in random orders; `width` checks that each interval holds the AUC."""
    widths = []
    for seed in range(N_TREES):
        rng = np.random.default_rng(seed)
        design = list(DESIGNS.values())[seed % len(DESIGNS)]
        y, scores = design(rng, 4_000)
        rows = Rows(y, scores, rng.integers(0, rng.integers(2, 24), y.size))
        parts = [rows.counted(rows.groups == g) for g in np.unique(rows.groups)]
        if not 0 < y.sum() < y.size:
            continue
        most = int(rng.integers(16, 300))
        widths.append(width(_merged(parts, most, seed), rows.counted()) * most)
    return (
        f"{len(widths)} random orders of merges of 2 to 23 states of 4,000 rows, with joins in "
        "between to a random number of cells from 16 to 300: each interval holds the exact AUC. "
        f"The width times the number of cells has the median {np.median(widths):.1f} and the "
        f"largest value {max(widths):.0f}."
    )


def measure_time() -> str:
    rows = make_rows(_uniform, 1_000_000)
    exact = rows.counted()
    times = []
    for most in (256, 4_096, 65_536):
        began = time.process_time()
        exact.reduced(max_cells=most)
        times.append(f"{time.process_time() - began:.1f} s to {most:,}")
    return f"Joining 1,000,000 cells takes {', '.join(times)} (seconds of processor time)."


def _table(columns: list[str], rows: Iterator[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns)]
    for row in rows:
        print(*row, flush=True)
        lines.append(row)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    small = _table(
        [
            "rows of 20 sites", "rows", "min_count", "withheld", "bins, pooled", "pooled",
            "classes together, pooled", "macro", "classes together, macro",
        ],
        measure_small(),
    )  # fmt: skip
    few = _table(
        ["scores", "max_cells", "size", "once", "stream", "sites", "Bins.of_scores"],
        measure_few(),
    )
    trees, seconds = measure_trees(), measure_time()
    OUTPUT.write_text(
        f"""# Joined cells

Written by `python -m benchmarks.joining`. The figures are widths of the certain interval of the
pooled AUC, or of the macro average in columns with "macro". Each interval was compared with the
exact AUC, and holds this AUC.

## No small counts: `reduced("bins", min_count=)`

Rows of 20 sites of about equal size, reduced apart by site and merged. "bins" has the width of the
bins without `min_count`. "classes together" joins the same bins for both classes. It has narrower
intervals of group AUCs, and wider intervals of the pooled AUC, although its ranges are not rounded
outwards. `min_count` therefore joins the bins of each class apart.

**With few rows per site, the interval is wide.** With `min_count=20` and 10,000 rows in 20 sites,
the interval is wider than most differences that matter. With 1,000 rows, the interval reaches
from 0 to 1. For n positives and m negatives of all sites, the interval of the pooled AUC is about
``sites * min_count * (1 / n + 1 / m)`` wide, or more if sites have few rows.

{small}

## Few cells: `reduced(max_cells=)`

{N_ROWS:,} rows. "once" joins the cells of all rows once. "stream" adds {N_BATCHES} batches, with
joins after each. "sites" joins {N_SITES} parts of the rows apart, and merges them in random order
with joins after each merge. "Bins.of_scores" has the largest number of parts whose bins with rows
are at most `max_cells`.

{few}

{trees}

{seconds}
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
