"""Ranks and classes that a summary discloses: ``python -m benchmarks.summary_ranks``.

All arrangements of m positives among n negatives without ties are summarized. Someone who knows the
scores of all rows, but not their classes, is left with the arrangements that have the sums of the
summary. If one arrangement is left, the summary determines the class of every row. To someone who
knows no scores, the summary then discloses the rank of every positive among the negatives. Output
on numpy 2.4, after two seconds:

```
positives  negatives  arrangements  one is left  median left
        1         20            21      100.0 %            1
        2         20           231      100.0 %            1
        3         12           455       84.6 %            1
        4         10         1,001       64.3 %            1
        6          7         1,716       50.3 %            1
        8          8        12,870       26.0 %            3
        8         12       125,970       10.9 %            6
```
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from skfedauc import ScoreCounts
from skfedauc.counts.score_counts import view_of

SIZES = [(1, 20), (2, 20), (3, 12), (4, 10), (6, 7), (8, 8), (8, 12)]


def n_left(n_positives: int, n_negatives: int) -> NDArray[np.int64]:
    """Return, for each arrangement, the number of arrangements with the same summary."""
    places = list(itertools.combinations_with_replacement(range(n_negatives + 1), n_positives))
    labels = np.repeat([0, 1], [n_negatives, n_positives])
    groups = np.repeat(np.arange(len(places)), labels.size)
    # Positives between the same negatives have the same score, which changes no sum.
    negatives = np.tile(np.arange(n_negatives) + 0.5, (len(places), 1))
    scores = np.concatenate([negatives, np.array(places)], axis=1).ravel()
    counts = ScoreCounts.from_predictions(np.tile(labels, len(places)), scores, groups=groups)
    summary = counts.reduced("summary")
    sums = (
        np.column_stack([view_of(summary).concordance.u2, *view_of(summary).own_moments]).round(8)
        + 0.0
    )
    rows = list(map(tuple, sums.tolist()))
    found = Counter(rows)
    return np.array([found[row] for row in rows])


def main() -> None:
    """Print the table."""
    print("positives  negatives  arrangements  one is left  median left")
    for m, n in SIZES:
        left = n_left(m, n)
        share, median = 100 * float((left == 1).mean()), float(np.median(left))
        print(f"{m:9}  {n:9}  {left.size:12,}  {share:9.1f} %  {median:11.0f}")


if __name__ == "__main__":
    main()
