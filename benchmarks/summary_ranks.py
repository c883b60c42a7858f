"""Ranks that a summary of a small group gives back: ``python -m benchmarks.summary_ranks``.

All arrangements of m positives among n negatives with distinct scores are summarized; positives
between the same negatives have the same score. The share of arrangements whose sums no other
arrangement has is printed: for these, the summary determines the rank of each positive. Output on
numpy 2.4, after a second:

```
positives  negatives  arrangements  ranks determined
        1         20            21            100.0 %
        2         20           231            100.0 %
        3         12           455             84.6 %
        4         10         1,001             64.3 %
        6          7         1,716             50.3 %
        8          8        12,870             26.0 %
```
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from skfedauc import ScoreCounts

SIZES = [(1, 20), (2, 20), (3, 12), (4, 10), (6, 7), (8, 8)]


def share_determined(n_positives: int, n_negatives: int) -> tuple[int, float]:
    """Return the number of arrangements, and the share with sums of their own."""
    places = list(itertools.combinations_with_replacement(range(n_negatives + 1), n_positives))
    negatives = np.arange(n_negatives) + 0.5
    labels = np.repeat([0, 1], [n_negatives, n_positives])
    groups = np.repeat(np.arange(len(places)), labels.size)
    scores = np.concatenate([np.concatenate([negatives, of_one]) for of_one in places])
    counts = ScoreCounts.from_predictions(np.tile(labels, len(places)), scores, groups=groups)
    summary = counts.reduced("summary")
    sums = np.column_stack([summary.concordance.u2, *summary.own_moments]).round(8) + 0.0
    found = Counter(map(tuple, sums.tolist()))
    return len(places), sum(n == 1 for n in found.values()) / len(places)


def main() -> None:
    """Print the table."""
    print("positives  negatives  arrangements  ranks determined")
    for m, n in SIZES:
        n_arrangements, share = share_determined(m, n)
        print(f"{m:9}  {n:9}  {n_arrangements:12,}  {share:16.1%}".replace("%", " %"))


if __name__ == "__main__":
    main()
