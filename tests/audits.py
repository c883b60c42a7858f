"""Rows for the tests of audits, and the values that they should have, from rows."""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from skfedauc import FairnessAudit


def rows_of(seed=0, n=1500, *, n_groups=3, few=0, gap=0.0, digits=3, weighted=False):
    """Return labels, probabilities, groups and weights; the last `few` rows are a tiny group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    logit = rng.normal(size=n) * 1.2 + 0.3 * group
    noise = gap * (group == 0) * rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    score = (1 / (1 + np.exp(-logit - noise))).round(digits)
    labels = np.array([f"g{g}" for g in group], dtype=object)
    if few:
        labels[-few:] = "tiny"
    return y, score, labels, rng.uniform(0.2, 3.0, n) if weighted else None


def audit_of(y, score, groups, weight=None, **options):
    return FairnessAudit.from_predictions(y, score, groups=groups, sample_weight=weight, **options)


def by_rows(y, score, groups, weight, threshold=0.5):
    """Return AUC, xAUC disparity, rates and calibration of each group, from rows."""
    w = np.ones(y.size) if weight is None else weight
    decided = score >= threshold

    def cross(positives, negatives):
        mine = (positives & (y == 1)) | (negatives & (y == 0))
        return roc_auc_score(y[mine], score[mine], sample_weight=w[mine])

    found = {}
    for group in dict.fromkeys(sorted(groups)):
        own = groups == group
        found[group] = {
            "auc": cross(own, own),
            "xauc_disparity": cross(own, ~own) - cross(~own, own),
            "selection_rate": np.average(decided[own], weights=w[own]),
            "true_positive_rate": np.average(decided[own & (y == 1)], weights=w[own & (y == 1)]),
            "false_positive_rate": np.average(decided[own & (y == 0)], weights=w[own & (y == 0)]),
            "calibration": np.average((score - y)[own], weights=w[own]),
        }
    return pd.DataFrame(found).T
