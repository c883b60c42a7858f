"""Percentiles among the negatives of each group."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.calibration.simulation import draw_rows, groups, percent
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC, GroupPercentileTransformer


def percentiles(
    n_runs: int, seed: int, n_groups: int, n_training: int, m: int, n: int, auc: float,
    n_digits: int
) -> list[str]:  # fmt: skip
    """Pooled AUC of new rows minus their average by positives: percentiles, and scores.

    The result has the mean and the standard deviation for percentiles, the mean for the scores, and
    the false positive rate at the percentile .9.
    """
    rng, found = np.random.default_rng(seed), []
    shift = rng.normal(0.0, 3.0, n_groups)
    transformer = GroupPercentileTransformer(groups=0)
    for _ in range(n_runs):
        train = draw_rows(rng, groups(n_groups, 1, n_training, auc, shift=shift))
        test = draw_rows(rng, groups(n_groups, m, n, auc, shift=shift))
        known, new = (np.column_stack([r.groups, r.scores.round(n_digits)]) for r in (train, test))
        percentile = transformer.fit(known, train.y).transform(new).ravel()
        report = GroupAUC.from_predictions(test.y, new[:, 1], groups=test.groups)
        found.append(
            [
                roc_auc_score(test.y, percentile) - report.average("positives"),
                report.pooled - report.average("positives"),
                (percentile[~test.y] > 0.9).mean(),
            ]
        )
    adjusted, raw, rate = np.transpose(found)
    return [f"{1000 * value:.1f}" for value in (adjusted.mean(), adjusted.std(), raw.mean())] + [
        percent(rate)
    ]


TABLES = [
    Table(
        "Percentiles among the negatives of each group",
        "Pooled AUC of new rows minus the average by positives, in thousandths: mean and "
        "standard deviation of the percentiles of `GroupPercentileTransformer`, and mean of "
        "the scores, which are shifted in each group. The last column is the share in % of new "
        "negatives with a percentile above .9.",
        [
            "groups, training negatives per group, new positives/negatives, AUC",
            "percentiles: mean",
            "standard deviation",
            "scores: mean",
            "false positive rate",
        ],
        [
            (
                f"{g}, {k}, {m}/{n}, {auc}{', tied scores' if digits == 0 else ''}",
                percentiles,
                (g, k, m, n, auc, digits),
            )
            for g, k, m, n, auc, digits in (
                (2, 10, 100, 400, 0.7, 9),
                (2, 100, 100, 400, 0.7, 9),
                (2, 100, 100, 400, 0.95, 9),
                (10, 100, 20, 80, 0.8, 9),
                (10, 100, 20, 80, 0.8, 0),
                (10, 1000, 20, 80, 0.8, 9),
                (500, 20, 5, 20, 0.8, 9),
            )
        ],
        others=[
            Plot("Mean difference in thousandths", ["percentiles: mean", "scores: mean"], 0.0),
            Plot("False positive rate in %", ["false positive rate"], 10.0),
        ],
    ),
]
