"""Rows to measure on: group sizes equal or skewed, scores with ties or without."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Case(NamedTuple):
    """What is measured: rows of float64 scores in integer groups."""

    n_rows: int
    n_groups: int = 1
    ties: str = "none"  # none, 3 digits, binary
    sizes: str = "equal"  # equal, zipf
    weighted: bool = False

    def __str__(self) -> str:
        ties = {"none": "no ties", "3 digits": "3 digits", "binary": "two scores"}[self.ties]
        parts = [f"{self.n_rows:.0e} rows".replace("e+0", "e"), ties]
        if self.n_groups > 1:
            parts.insert(1, f"{self.n_groups:,} {self.sizes} groups")
        return ", ".join([*parts, *["weighted"] * self.weighted])


class Rows(NamedTuple):
    y: NDArray[np.int64]
    score: NDArray[np.float64]
    group: NDArray[np.int64]
    weight: NDArray[np.float64] | None


def make_rows(case: Case, seed: int = 0) -> Rows:
    """Probabilities that tell the classes apart, 30 % positives, groups in random order."""
    rng = np.random.default_rng(seed)
    n = case.n_rows
    y = (rng.random(n) < 0.3).astype(np.int64)
    score = 1 / (1 + np.exp(-rng.normal(size=n) - y))
    if case.ties == "3 digits":
        score = score.round(3)
    elif case.ties == "binary":
        score = np.where(score > 0.5, 0.75, 0.25)
    if case.sizes == "zipf":
        share = 1 / np.arange(1, case.n_groups + 1)
        group = rng.choice(case.n_groups, size=n, p=share / share.sum())
    else:
        group = rng.integers(0, case.n_groups, n)
    weight = rng.uniform(0.5, 2, n) if case.weighted else None
    return Rows(y, score, group, weight)
