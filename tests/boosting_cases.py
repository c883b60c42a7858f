"""Rows of three sites for boosting, and the statistics that metrics must report."""

import numpy as np

from skfedauc import group_roc_auc_score


def rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    site = rng.choice(["bern", "lima", "oslo"], size=n_rows, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(n_rows, 4)).round(1)
    noise = np.where(site == "oslo", 3.0, 1.0)
    y = (X[:, 0] - X[:, 1] + noise * rng.normal(size=n_rows) > 0.5).astype(int)
    return X, y, site


TRAIN = rows(400, 0)
VALID = rows(300, 1)
WEIGHTS = np.random.default_rng(2).integers(1, 5, size=300) / 2


def oracle(statistic, y, scores, site, sample_weight=None):
    """The statistic of all rows; greater is better."""
    value = group_roc_auc_score(
        y,
        scores,
        groups=site,
        statistic=statistic.removeprefix("neg_"),
        sample_weight=sample_weight,
    )
    return -value if statistic.startswith("neg_") else value
