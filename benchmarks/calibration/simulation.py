"""Simulated scores with known true AUCs, and shares in %."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skfedauc import GroupAUC, ScoreCounts
from skfedauc.inference.intervals import Interval
from skfedauc.report.statistics import STATISTICS, Sampling

Floats = NDArray[np.float64]


class Groups(NamedTuple):
    """Numbers of rows by group, and distributions of their scores.

    Attributes
    ----------
    n_positives, n_negatives : sequence of int
    auc : sequence of float
        True AUC of each group.
    ratio : sequence of float
        Standard deviation of the positives divided by the standard deviation of the negatives.
    scale, shift : sequence of float
        Factor and offset of the scores of each group.
    """

    n_positives: Any
    n_negatives: Any
    auc: Any
    ratio: Any
    scale: Any
    shift: Any


def groups(n_groups: int, m: Any, n: Any, auc: Any, ratio: Any = 1.0, scale: Any = 1.0,
           shift: Any = 0.0) -> Groups:  # fmt: skip
    return Groups(*(np.broadcast_to(v, n_groups) for v in (m, n, auc, ratio, scale, shift)))


class Rows(NamedTuple):
    y: NDArray[np.bool_]
    scores: Floats
    groups: NDArray[np.int64]


def draw_rows(rng: np.random.Generator, of: Groups) -> Rows:
    """Draw normal scores with the true AUC of each group."""
    number = np.arange(len(of.auc))
    codes = np.concatenate([np.repeat(number, of.n_positives), np.repeat(number, of.n_negatives)])
    y = np.arange(codes.size) < of.n_positives.sum()
    apart = ndtri(of.auc) * np.sqrt(1.0 + of.ratio**2)
    scores = rng.normal(size=codes.size)
    scores[y] = scores[y] * of.ratio[codes[y]] + apart[codes[y]]
    return Rows(y, scores * of.scale[codes] + of.shift[codes], codes)


def draw(rng: np.random.Generator, of: Groups) -> ScoreCounts:
    rows = draw_rows(rng, of)
    return ScoreCounts.from_predictions(rows.y, rows.scores, groups=rows.groups)


def report(rng: np.random.Generator, of: Groups) -> GroupAUC:
    return GroupAUC(draw(rng, of), undefined="ignore")


def percent(values: Any) -> str:
    return f"{100 * float(np.mean(values)):.1f}"


def in_whole_scores(rows: Rows) -> ScoreCounts:
    """Count rows whose scores are rounded to whole numbers."""
    return ScoreCounts.from_predictions(rows.y, rows.scores.round(), groups=rows.groups)


def auc_of_rounded_scores(auc: float, step: float = 1.0) -> float:
    """Return the AUC of normal scores with this AUC after rounding to multiples of `step`."""
    edges = np.arange(-10.0, 15.0, step) + step / 2.0
    below = ndtr(edges)
    of_negatives = np.diff(below)
    of_positives = np.diff(ndtr(edges - ndtri(auc) * np.sqrt(2.0)))
    return float(of_positives @ (below[:-1] + of_negatives / 2.0))


def two_values(rng: np.random.Generator, y: NDArray[np.bool_], auc: float) -> Floats:
    """Draw scores of 0 and 1 whose probabilities in the two classes add up to 1."""
    return (rng.random(y.size) < np.where(y, auc, 1.0 - auc)).astype(float)


def interval_of(found: GroupAUC, statistic: str, over: str) -> Interval:
    """Return the 95 % interval of a statistic, without the other rows of the table."""
    sampling = Sampling((1.0 - 0.95) / 2.0, "logit", over == "groups")
    return STATISTICS[statistic].limits(found._estimates, sampling)


def covers(interval: Interval, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


# Positives and negatives of five hospitals
HOSPITALS = [100, 50, 25, 12, 8], [300, 150, 75, 38, 22]


def zipf(n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Class counts of groups whose sizes follow Zipf's law."""
    size = 3_000 / np.arange(1, n_groups + 1)
    return np.maximum(size / 10, 5).astype(int), np.maximum(size * 0.9, 45).astype(int)
