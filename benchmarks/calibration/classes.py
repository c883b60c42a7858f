"""Intervals of averages over three or more classes."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import MulticlassGroupAUC

WAYS = ("ovr", "ovo")


def averages_over_classes(
    n_runs: int, seed: int, sizes: tuple[int, ...], auc: float, rows_per_cluster: int
) -> list[str]:
    """Coverage of the intervals of averages over classes; runs are groups.

    The scores of a row have a correlation of one half, because half of their variance is common to
    all classes. With clusters, the common part has a variance of .3 among clusters.
    """
    rng, n_rows = np.random.default_rng(seed), sum(sizes)
    y = np.repeat(np.arange(len(sizes)), sizes)
    # Rows of a cluster have random classes.
    y = np.concatenate([rng.permutation(y) for _ in range(n_runs)])
    run, cluster = np.arange(y.size) // n_rows, np.arange(y.size) // rows_per_cluster
    share = 0.3 if rows_per_cluster > 1 else 0.0
    common = np.sqrt(0.5 - share) * rng.normal(size=y.size)
    common += np.sqrt(share) * rng.normal(size=cluster[-1] + 1)[cluster]
    own = np.sqrt(0.5) * rng.normal(size=(y.size, len(sizes)))
    apart = ndtri(auc) * np.sqrt(2.0)
    scores = common[:, None] + own + apart * (y[:, None] == np.arange(len(sizes)))
    found = []
    for multi_class in WAYS:
        report = MulticlassGroupAUC.from_predictions(
            y, scores, groups=run, multi_class=multi_class,
            clusters=cluster if rows_per_cluster > 1 else None,
        )  # fmt: skip
        for class_average in ("macro", "weighted"):
            table = report.confidence_intervals(class_average=class_average)
            found.append((table["ci_low"] <= auc) & (auc <= table["ci_high"]))
    return [percent(covered) for covered in found]


COVERED = [f"{way}, {average}" for way in WAYS for average in ("macro", "weighted")]

TABLES = [
    Table(
        "Intervals of averages over classes",
        "Coverage in % of 95 % intervals of `MulticlassGroupAUC`, for averages over the classes of "
        "one group with these numbers of rows by class. Scores are normal, with this AUC of each "
        "class against each other class, and a correlation of .5 between the scores of a row. "
        "With clusters of several rows, the scores of two rows of a cluster have a correlation of "
        ".3.",
        ["rows by class, AUC", *COVERED],
        [
            (
                f"{'/'.join(map(str, sizes))}, {auc}"
                f"{f', {rows} rows per cluster' if rows > 1 else ''}",
                averages_over_classes,
                (sizes, auc, rows),
            )
            for sizes, rows in (
                ((10, 10, 10), 1),
                ((5, 20, 200), 1),
                ((10, 50, 100), 1),
                ((100, 100, 100), 1),
                ((20,) * 6, 1),
                ((40, 40, 40), 4),
            )
            for auc in (0.6, 0.8, 0.95)
        ],
        coverage=COVERED,
    ),
]
