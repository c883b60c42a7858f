"""Expected scores, from all pairs of rows and plain loops over folds."""

from collections.abc import Iterable

import numpy as np
from oracles import AVERAGES, Case, all_pairs
from sklearn.base import clone

STATISTICS = ["pooled", *AVERAGES, "worst", "ratio", "cross", "neg_difference"]
STATISTICS += ["neg_cross_difference"]


class Expected:
    """The statistics of some rows, as ``expected[name of the scorer]``.

    `stand_in` is the AUC of the sites that lack a class; None leaves these sites out.
    """

    def __init__(self, y, score, site, *, weight=None, stand_in=None):
        rows = np.asarray(y, int), np.asarray(score), np.asarray(site).tolist()
        self.truth = all_pairs(
            Case(*rows, None if weight is None else np.asarray(weight)), stand_in
        )
        self.stand_in = np.nan if stand_in is None else stand_in

    def __getitem__(self, name):
        if name.startswith("auc_"):
            aucs = dict(zip(self.truth.labels, self.truth.auc, strict=True))
            auc = aucs.get(name.removeprefix("auc_"), np.nan)
            return self.stand_in if np.isnan(auc) else auc
        sign = -1 if name.startswith("neg_") else 1
        return sign * self.truth.statistics[name.removeprefix("neg_")]


def rows_of(table, rows):
    """Return rows of a pandas or polars DataFrame or of an array, by position."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def decision(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def folds_of(splits, y):
    if isinstance(splits, Iterable):
        return list(splits)
    return list(splits.split(np.zeros((len(y), 1)), y))


def fold_scores(way, statistic, splits, *, model=None, y=None, positive=1, stand_in=None):
    """Return the statistic on the test rows of each fold.

    A statistic is a name, or a function of the fitted model, X and y of the test rows. A list gives
    scores of shape (n_statistics, n_folds). `model` and `y` replace those of the way.
    """
    model = way.model if model is None else model
    y = way.y if y is None else y
    wanted = statistic if isinstance(statistic, list) else [statistic]
    scores = []
    for train, test in folds_of(splits, y):
        fitted = clone(model).fit(rows_of(way.X, train), y[train])
        X_test = rows_of(way.X, test)
        score = decision(fitted, X_test)
        score = score if fitted.classes_[1] == positive else -score
        expected = Expected(y[test] == positive, score, way.site[test], stand_in=stand_in)
        scores.append(
            [one(fitted, X_test, y[test]) if callable(one) else expected[one] for one in wanted]
        )
    return np.transpose(scores) if isinstance(statistic, list) else np.ravel(scores)
