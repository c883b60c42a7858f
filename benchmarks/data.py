"""Rows for the benchmarks: equal or skewed group sizes, scores with or without ties."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Case(NamedTuple):
    """Description of the rows of a benchmark."""

    n_rows: int
    n_groups: int = 1
    ties: str = "none"  # none, one, 3 digits, binary
    sizes: str = "equal"  # equal, zipf
    weighted: bool = False
    scores: str = "float64"  # float64 or float32 probabilities, or signed
    labels: str = "integers"  # integers, strings, categories

    def __str__(self) -> str:
        ties = {"none": "no ties", "one": "one tie", "binary": "two scores"}
        parts = [f"{self.n_rows:.0e} rows".replace("e+0", "e"), ties.get(self.ties, self.ties)]
        if self.scores == "float32" and self.ties == "none":
            parts.pop()  # rounding makes ties
        if self.n_groups > 1:
            parts.insert(1, f"{self.n_groups:,} {self.sizes} groups")
        parts += [f"{self.scores} scores"] * (self.scores != "float64")
        parts += [f"{self.labels} as labels"] * (self.labels != "integers")
        return ", ".join([*parts, *["weighted"] * self.weighted])


class Rows(NamedTuple):
    y: NDArray[np.int64]
    score: NDArray[np.floating[Any]]
    group: Any  # an array of integers, or a pandas Series of text or categories
    weight: NDArray[np.float64] | None


def make_rows(case: Case, seed: int = 0) -> Rows:
    """Make rows: informative probabilities, 30 % positives, groups in random order."""
    rng = np.random.default_rng(seed)
    n = case.n_rows
    y = (rng.random(n) < 0.3).astype(np.int64)
    score: NDArray[np.floating[Any]] = rng.normal(size=n) + y
    if case.scores != "signed":
        score = 1 / (1 + np.exp(-score))
    if case.ties == "3 digits":
        score = score.round(3)
    elif case.ties == "binary":
        score = np.where(score > 0.5, 0.75, 0.25)
    if case.scores == "float32":
        score = score.astype(np.float32)
    if case.sizes == "zipf":
        share = 1 / np.arange(1, case.n_groups + 1)
        group = rng.choice(case.n_groups, size=n, p=share / share.sum())
    else:
        group = rng.integers(0, case.n_groups, n)
    if case.ties == "one":
        score[1], group[1] = score[0], group[0]
    weight = rng.uniform(0.5, 2, n) if case.weighted else None
    return Rows(y, score, _labelled(group, case), weight)


def _labelled(group: NDArray[np.int64], case: Case) -> Any:
    """Convert group numbers to labels of the type of the case."""
    if case.labels == "integers":
        return group
    import pandas as pd

    names = pd.Index([f"site {number:06d}" for number in range(case.n_groups)])
    if case.labels == "categories":
        return pd.Series(pd.Categorical.from_codes(group, names))
    return pd.Series(names.take(group))
