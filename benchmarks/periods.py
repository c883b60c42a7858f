"""Error rate and delay of the sequential test of a change: ``python -m benchmarks.periods``.

Writes benchmarks/periods.md. Without a change, a series errs if the test finds one at the end of
any of 36 months. With a drop, the delay counts the months from the first changed one to the one at
whose end the drop is found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta, norm

from skfedauc import ScoreCounts
from skfedauc.periods import find_change

DOCUMENT = Path(__file__).with_suffix(".md")
N_SERIES, N_DROPS, N_MONTHS = 3000, 300, 36
MONTHS = [f"{2024 + month // 12}-{month % 12 + 1:02}" for month in range(120)]

Rows = Callable[[np.random.Generator, NDArray[np.intp], NDArray[np.intp]], Any]


class Design(NamedTuple):
    """Rows by month, and how many first months are the reference."""

    name: str
    n_reference: int
    n_positives: NDArray[np.intp]
    n_negatives: NDArray[np.intp]
    separation: float = 1.0
    decimals: int = 12
    drift: float = 0.0
    n_groups: int = 1


def separation_of(auc: float) -> float:
    return float(np.sqrt(2) * norm.ppf(auc))


def every_month(n_positives: int, n_negatives: int, n_reference: int) -> dict[str, Any]:
    n_months = N_MONTHS + n_reference
    return {
        "n_reference": n_reference,
        "n_positives": np.full(n_months, n_positives),
        "n_negatives": np.full(n_months, n_negatives),
    }


UNEVEN = np.tile([20, 100, 40, 10], N_MONTHS)
DESIGNS = [
    Design(
        "AUC .80, 100 positives and 400 negatives",
        **every_month(100, 400, 12),
        separation=separation_of(0.8),
    ),
    Design("AUC .90, 20 and 200", **every_month(20, 200, 12), separation=separation_of(0.9)),
    Design("AUC .98, 5 and 50", **every_month(5, 50, 12), separation=separation_of(0.98)),
    Design("AUC .99, 5 and 50", **every_month(5, 50, 12), separation=separation_of(0.99)),
    Design("AUC .99, 10 and 1,000", **every_month(10, 1000, 12), separation=separation_of(0.99)),
    Design("AUC .76, 50 and 50, scores rounded to integers", **every_month(50, 50, 1), decimals=0),
    Design(
        "AUC .76, 1,000 rows in the reference, then 50 to 160",
        1,
        np.append(200, UNEVEN[:N_MONTHS]),
        np.append(800, UNEVEN[1 : N_MONTHS + 1] + 20),
    ),
    Design(
        "AUC .76, 3 groups of 50 and 150, scores of both classes rise",
        **every_month(50, 150, 6),
        drift=0.1,
        n_groups=3,
    ),
]


def counts_of(
    design: Design, rng: np.random.Generator, drop_at: int | None = None, dropped: float = 0.0
) -> ScoreCounts:
    """Simulate one series; from month `drop_at` on the positives have the separation `dropped`."""
    month = np.arange(design.n_positives.size)
    separation = np.full(month.size, design.separation)
    if drop_at is not None:
        separation[drop_at:] = dropped
    frames = []
    for group in range(design.n_groups):
        for label, n, mean in ((0, design.n_negatives, 0), (1, design.n_positives, separation)):
            of_row = np.repeat(month, n)
            means = np.repeat(mean + design.drift * month, n)
            score = np.round(rng.normal(means), design.decimals)
            frames.append(pd.DataFrame({"g": group, "m": of_row, "y": label, "score": score}))
    rows = pd.concat(frames)
    groups = pd.DataFrame({"group": rows["g"], "period": np.array(MONTHS)[rows["m"]]})
    return ScoreCounts.from_predictions(rows["y"], rows["score"], groups=groups)


def error_rate(design: Design) -> float:
    """Return the share of series without a change in which the test finds one in a group."""
    rng = np.random.default_rng(0)
    found = (
        find_change(counts_of(design, rng), n_reference=design.n_reference)["found"].notna().any()
        for _ in range(N_SERIES)
    )
    return float(np.mean(list(found)))


def delays(n_positives: int, n_negatives: int) -> tuple[list[float], float]:
    """Return the quartiles of the delay to find a drop from .80 to .75, and the share found."""
    design = Design(
        "drop", **every_month(n_positives, n_negatives, 12), separation=separation_of(0.8)
    )
    rng = np.random.default_rng(1)
    late, first = [], 18
    for _ in range(N_DROPS):
        counts = counts_of(design, rng, first, separation_of(0.75))
        found = find_change(counts, n_reference=12)["found"].iloc[0]
        late.append(np.inf if found is None else MONTHS.index(found) - first + 1)
    in_time = np.array(late)
    quartiles = np.quantile(in_time, [0.25, 0.5, 0.75], method="higher")
    return quartiles.tolist(), float(np.mean((in_time > 0) & (in_time <= 12)))


def main() -> None:
    """Simulate, and write the tables."""
    begun = time.process_time()
    lines = [
        "# Error rate and delay of the sequential test",
        "",
        f"`python -m benchmarks.periods`: `find_change` after each month, at its defaults. "
        f"{N_SERIES:,} series without a change per line, {N_MONTHS} months after the reference; "
        "the test errs if it finds a change at any look, in any group. Limits are those of Clopper "
        "and Pearson (95 %).",
        "",
        "| rows a month | months of the reference | series with an error | limits |",
        "|---|---|---|---|",
    ]
    for design in DESIGNS:
        rate = error_rate(design)
        n = round(rate * N_SERIES)
        low = beta.ppf(0.025, n, N_SERIES - n + 1) if n else 0.0
        high = beta.ppf(0.975, n + 1, N_SERIES - n)
        lines.append(
            f"| {design.name} | {design.n_reference} | {100 * rate:.1f} % | "
            f"{100 * low:.1f} to {100 * high:.1f} % |"
        )
        print(lines[-1], flush=True)
    lines += [
        "",
        f"Delay to find a drop of the AUC from .80 to .75 that begins after 18 months, 12 of them "
        f"the reference ({N_DROPS} series per line); 1 month means that the first changed month "
        "shows it.",
        "",
        "| rows a month | a quarter of series | half | three quarters | found within a year |",
        "|---|---|---|---|---|",
    ]
    for n_positives, n_negatives in ((50, 200), (100, 400), (300, 1200), (1000, 4000)):
        quartiles, share = delays(n_positives, n_negatives)
        shown = " | ".join(f"{q:.0f} months" if q != 1 else "1 month" for q in quartiles)
        lines.append(f"| {n_positives:,} and {n_negatives:,} | {shown} | {100 * share:.0f} % |")
        print(lines[-1], flush=True)
    lines += ["", f"CPU time: {time.process_time() - begun:.0f} s."]
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
