"""What the scores must be: scikit-learn's own AUC in plain loops over folds."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

AVERAGES = ["macro", "samples", "positives", "negatives", "within"]
STATISTICS = ["pooled", *AVERAGES, "worst", "ratio", "cross", "neg_difference"]
STATISTICS += ["neg_cross_difference"]


class Expected:
    """The statistics of some rows, as ``expected[name of the scorer]``.

    Parameters
    ----------
    y : array of 0 and 1
    score, site : arrays of as many rows
    weight : array, default=None
    stand_in : float, default=None
        AUC of the sites that lack a class; they are left out if None.
    """

    def __init__(self, y, score, site, *, weight=None, stand_in=None):
        self.y, self.score, self.site = np.asarray(y, int), np.asarray(score), np.asarray(site)
        self.weight = np.ones(self.y.size) if weight is None else np.asarray(weight)
        self.stand_in = stand_in
        self.sites = sorted(set(self.site.tolist()))

    def auc(self, rows):
        return roc_auc_score(self.y[rows], self.score[rows], sample_weight=self.weight[rows])

    def sum_of(self, site, label):
        return self.weight[(self.site == site) & (self.y == label)].sum()

    def of_site(self, site):
        rows = self.site == site
        return self.auc(rows) if len(set(self.y[rows])) == 2 else self.stand_in

    @cached_property
    def aucs(self):
        aucs = {site: self.of_site(site) for site in self.sites}
        return {site: auc for site, auc in aucs.items() if auc is not None}

    @cached_property
    def across(self):
        """Positives of one site against negatives of another: AUC and weight of the pairs."""
        found = {}
        for g in self.sites:
            for h in self.sites:
                pairs = self.sum_of(g, 1) * self.sum_of(h, 0)
                if g != h and pairs:
                    found[g, h] = (
                        self.auc(np.where(self.y == 1, self.site == g, self.site == h)),
                        pairs,
                    )
        return found

    def average(self, name):
        share = {
            "macro": lambda site: 1,
            "samples": lambda site: self.sum_of(site, 1) + self.sum_of(site, 0),
            "positives": lambda site: self.sum_of(site, 1),
            "negatives": lambda site: self.sum_of(site, 0),
            "within": lambda site: self.sum_of(site, 1) * self.sum_of(site, 0),
        }[name]
        return np.average(list(self.aucs.values()), weights=[share(site) for site in self.aucs])

    def __getitem__(self, name):
        if name == "pooled":
            return self.auc(slice(None))
        if name in AVERAGES:
            return self.average(name)
        if name.startswith("auc_"):
            auc = self.of_site(name.removeprefix("auc_"))
            return np.nan if auc is None else auc
        if name == "cross":
            aucs, pairs = np.transpose(list(self.across.values()))
            return np.average(aucs, weights=pairs)
        if name == "neg_cross_difference":
            both = [(g, h) for g, h in self.across if (h, g) in self.across]
            return -max(abs(self.across[g, h][0] - self.across[h, g][0]) for g, h in both)
        low, high = min(self.aucs.values()), max(self.aucs.values())
        return {"worst": low, "ratio": low / high, "neg_difference": low - high}[name]


def rows_of(table, rows):
    """Rows by position, of a pandas or polars table or an array."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def decision(model, X):
    """The scores that rank rows for ``classes_[1]``."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def folds_of(splits, y):
    if isinstance(splits, Iterable):
        return list(splits)
    return list(splits.split(np.zeros((len(y), 1)), y))


def fold_scores(way, statistic, splits, *, model=None, y=None, positive=1):
    """The statistic on the test rows of each fold.

    Parameters
    ----------
    way : Way
        Its X, y, site and model.
    statistic : str, callable, or list of them
        A name, or a function of the fitted model, X and y of the test rows. Of a list, the
        scores have the shape (n_statistics, n_folds).
    splits : splitter or iterable of (train, test)
    model, y : default=None
        To be used instead of the way's.
    positive : label of the positive class
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
        expected = Expected(y[test] == positive, score, way.site[test])
        scores.append(
            [one(fitted, X_test, y[test]) if callable(one) else expected[one] for one in wanted]
        )
    return np.transpose(scores) if isinstance(statistic, list) else np.ravel(scores)
