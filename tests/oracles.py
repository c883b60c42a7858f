"""Expected results: every definition over all pairs of rows, in plain numpy.

Nothing here imports skfedauc. The oracle compares each positive with each negative, which is slow
and simple. The random cases have ties, tiny groups and unequal weights.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import UserDict
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats

AVERAGES = ("macro", "samples", "positives", "negatives", "within")
STATISTICS = (
    "pooled",
    *AVERAGES,
    "worst",
    "ratio",
    "cross",
    "difference",
    "cross_difference",
    "tau",
    "bias_score",
)
NAN = float("nan")


class Case(NamedTuple):
    """Rows in the form of user input; `groups` is a list of labels, `weights` can be None."""

    y: np.ndarray
    scores: np.ndarray
    groups: list[Any]
    weights: np.ndarray | None

    def take(self, rows: Any) -> Case:
        rows = np.arange(self.y.size)[rows]
        return Case(
            self.y[rows],
            self.scores[rows],
            [self.groups[i] for i in rows],
            None if self.weights is None else self.weights[rows],
        )

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "y_true": self.y,
            "y_score": self.scores,
            "groups": self.groups,
            "sample_weight": self.weights,
        }


class Statistics(UserDict[str, Any]):
    """Statistics by name, from functions that are called at first access."""

    def __getitem__(self, name: str) -> float:
        if callable(self.data[name]):
            self.data[name] = float(self.data[name]())
        return self.data[name]


def comparisons(positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Return 1 for pairs in which the positive has the higher score, 1/2 for ties, otherwise 0."""
    above = np.asarray(positives)[:, None] > np.asarray(negatives)
    return np.where(above, 1.0, np.where(np.equal.outer(positives, negatives), 0.5, 0.0))


def placements(y, scores, weights, others=True):
    """Return the placement value of each row among the rows of the other class.

    `others` has the rows that count for each row; without such rows, the value is NaN.
    """
    wins = comparisons(scores, scores)
    counts = others & np.not_equal.outer(y, y)
    return _ratio((counts * np.where(y[:, None], wins, wins.T)) @ weights, counts @ weights)


class Counts(NamedTuple):
    """Twice the number of concordant pairs, and the weight of each class."""

    u2: Any
    positives: Any
    negatives: Any


def counts_by_search(y, scores, weights=None) -> Counts:
    """Count the concordant pairs of one group by two binary searches per positive.

    Unlike the comparison of all pairs, binary searches are possible with many rows. The counts are
    exact without weights.
    """
    scores, of_positives = np.asarray(scores, np.float64), np.asarray(y) == 1
    order = np.argsort(scores[~of_positives], kind="stable")
    negatives = scores[~of_positives][order]
    # Negatives below each positive, and negatives below or tied with each positive
    ranks = [np.searchsorted(negatives, scores[of_positives], side) for side in ("left", "right")]
    if weights is None:
        return Counts(int(sum(r.sum() for r in ranks)), int(of_positives.sum()), negatives.size)
    weights = np.asarray(weights, np.longdouble)
    up_to = np.append(np.longdouble(0), np.cumsum(weights[~of_positives][order]))
    u2 = sum((weights[of_positives] * up_to[rank]).sum() for rank in ranks)
    return Counts(u2, weights[of_positives].sum(), up_to[-1])


class Truth:
    """All quantities by their definitions; groups are sorted, undefined values are NaN.

    `stand_in` replaces the AUC of groups that lack a class. With `fold`, the fold of each row, only
    pairs within a fold are compared.
    """

    def __init__(self, case: Case, stand_in: float | None = None, fold: Any = None) -> None:
        weights = np.ones(case.y.size) if case.weights is None else case.weights
        kept = np.flatnonzero(weights > 0)
        groups = [case.groups[i] for i in kept]
        self.labels = sorted(set(groups))
        number = {label: g for g, label in enumerate(self.labels)}
        codes = np.array([number[label] for label in groups], int)
        self._member = codes[:, None] == np.arange(len(self.labels))
        y, self._scores, self._weights = case.y[kept], case.scores[kept], weights[kept]
        self._fold = np.zeros(kept.size) if fold is None else np.asarray(fold)[kept]
        self._rows = pos, neg = y == 1, y != 1

        self.n_positives, self.n_negatives = (self._member[rows].sum(axis=0) for rows in (pos, neg))
        self.positives, self.negatives = (
            self._weights[rows] @ self._member[rows] for rows in (pos, neg)
        )
        self._wins = comparisons(self._scores[pos], self._scores[neg])
        pairs = np.multiply.outer(self._weights[pos], self._weights[neg])
        pairs *= np.equal.outer(self._fold[pos], self._fold[neg])
        of_positives, of_negatives = (self._member[rows].astype(float) for rows in (pos, neg))
        self._pairs = of_positives.T @ pairs @ of_negatives
        self._concordant = of_positives.T @ (pairs * self._wins) @ of_negatives
        self.matrix = _ratio(self._concordant, self._pairs)

        self._used_auc, used = self.auc.copy(), ~np.isnan(self.auc)
        if stand_in is not None:
            self._used_auc[~used], used = stand_in, np.ones(len(self.labels), bool)
        self._used = used
        self.statistics = Statistics(
            {
                "pooled": lambda: _ratio(self._concordant.sum(), self._pairs.sum()),
                "macro": lambda: self._average(np.ones(len(self.labels))),
                "samples": lambda: self._average(self.positives + self.negatives),
                "positives": lambda: self._average(self.positives),
                "negatives": lambda: self._average(self.negatives),
                "within": lambda: self._average(np.diag(self._pairs)),
                "worst": lambda: self._extremes()[0],
                "ratio": lambda: _ratio(*self._extremes()) if used.sum() > 1 else NAN,
                "difference": lambda: np.diff(self._extremes())[0] if used.sum() > 1 else NAN,
                "cross": self._cross,
                "cross_difference": self._cross_difference,
                "tau": self._tau,
                "bias_score": lambda: bias_score(
                    self.statistics["pooled"], self._used_auc[used], self._concordant, self._pairs
                ),
            }
        )

    @property
    def auc(self) -> np.ndarray:
        return np.diag(self.matrix)

    @property
    def n_undefined(self) -> int:
        return int(np.isnan(self.auc).sum())

    @property
    def share_within(self) -> float:
        return float(_ratio(np.trace(self._pairs), self._pairs.sum()))

    def _average(self, weights) -> float:
        total = weights[self._used].sum()
        return (weights * self._used_auc)[self._used].sum() / total if total else NAN

    def _extremes(self) -> tuple[float, float]:
        auc = self._used_auc[self._used]
        return (auc.min(), auc.max()) if auc.size else (NAN, NAN)

    def _cross(self) -> float:
        across = ~np.eye(len(self.labels), dtype=bool)
        return _ratio(self._concordant[across].sum(), self._pairs[across].sum())

    def _cross_difference(self) -> float:
        """Skip groups without pairs in both directions, which occur within folds."""
        defined = ~np.isnan(self.auc)
        gaps = np.abs(self.matrix - self.matrix.T)[np.ix_(defined, defined)]
        gaps = gaps[~np.isnan(gaps) & ~np.eye(len(gaps), dtype=bool)]
        return gaps.max() if gaps.size else NAN

    def _tau(self) -> float:
        """Use the variance of a weighted mean over independent folds for each group's AUC."""
        pos, neg = self._rows
        squares, totals = np.zeros((2, len(self.labels)))
        for fold in np.unique(self._fold):
            groups = []
            for mine in (self._member & (self._fold == fold)[:, None]).T:
                a, b = mine[pos], mine[neg]
                weights = self._weights[mine & pos], self._weights[mine & neg]
                groups.append((self._wins[np.ix_(a, b)], *weights))
            in_fold = np.array([above.sum() * below.sum() for _, above, below in groups])
            # A group without pairs in the fold has no variance there.
            squares += np.where(in_fold > 0, in_fold**2 * shared_variances(groups), 0.0)
            totals += in_fold
        return reml_tau(self.auc, _ratio(squares, totals**2))


all_pairs = Truth


def _ratio(numerator: Any, denominator: Any) -> Any:
    full = np.full(np.shape(denominator), NAN)
    return np.divide(numerator, denominator, out=full, where=np.greater(denominator, 0))[()]


def bias_score(pooled, auc, concordant, pairs) -> float:
    """Return the mean of the pooled AUC and the generalized means of three bias AUCs."""
    across = ~np.eye(len(pairs), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        bnsp, bpsn = ((concordant * across).sum(i) / (pairs * across).sum(i) for i in (1, 0))
        means = [
            np.mean(values[~np.isnan(values)] ** -5.0) ** (-1 / 5)
            for values in (np.asarray(auc), bpsn, bnsp)
            if not np.isnan(values).all()
        ]
    return float(np.mean([pooled, *means])) if len(means) == 3 else NAN


def delong(wins, above, below) -> tuple[float, list[float]]:
    """Return an AUC, and the parts of DeLong's variance due to positives and to negatives.

    `wins` has the comparisons of all pairs; `above` and `below` are the weights of both classes.
    """
    auc = above @ wins @ below / above.sum() / below.sum()
    placements = (wins @ below / below.sum(), above), (above @ wins / above.sum(), below)
    return auc, [
        (w**2 * (p - auc) ** 2).sum() / (w.sum() ** 2 - (w**2).sum()) for p, w in placements
    ]


def unbiased_variance(wins, above, below) -> float:
    """Return the squared AUC minus the mean product of two comparisons without a common row."""
    if above.size < 2 or below.size < 2:
        return NAN
    weighted = above[:, None] * wins * below
    total = weighted.sum()
    products = total**2 - (weighted.sum(1) ** 2).sum() - (weighted.sum(0) ** 2).sum()
    products += (weighted**2).sum()
    pairs = above.sum() ** 2 - (above**2).sum(), below.sum() ** 2 - (below**2).sum()
    auc = total / above.sum() / below.sum()
    return float(auc**2 - products / pairs[0] / pairs[1])


def has_two_rows(above, below) -> bool:
    """Return whether each class has two rows and an effective sample size of at least 1.5."""
    return all(w.size > 1 and w.sum() ** 2 >= 1.5 * (w**2).sum() for w in (above, below))


def shared_variances(groups) -> np.ndarray:
    """Return variances of AUCs from pooled placement values; NaN with one row of a class.

    `groups` has the matrix of comparisons and the weights of both classes of each group. The
    group's own variance replaces a variance of 0. An upper bound replaces an own variance of 0.
    """
    rows, sizes, own = [], [], []
    for wins, above, below in groups:
        if not has_two_rows(above, below):
            continue
        auc, (of_positives, of_negatives) = delong(wins, above, below)
        m, n = above.sum() ** 2 / (above**2).sum(), below.sum() ** 2 / (below**2).sum()
        variance = of_positives + of_negatives
        unbiased = unbiased_variance(wins, above, below)
        excess = (variance - unbiased) * m * n
        rows.append([of_positives * m - excess / n, of_negatives * n - excess / m, excess])
        sizes.append([m, n])
        drawn = (m * n * auc + 0.5) / (m * n + 1)
        weighted = not np.isclose([m, n], [above.size, below.size]).all()
        safe = max(variance, unbiased) if weighted else variance
        own.append(safe if safe > 1e-15 else drawn * (1 - drawn) / min(m, n))
    found = np.full(len(groups), NAN)
    if rows:
        (m, n), parts = np.array(sizes).T, np.array(rows).T
        weights = m - 1, n - 1, m * n / (m + n)
        means = [np.average(part, weights=w) for part, w in zip(parts, weights, strict=True)]
        shared = means[0] / m + means[1] / n + means[2] / (m * n)
        estimable = [has_two_rows(above, below) for _, above, below in groups]
        found[estimable] = np.where(shared * m * n > 1e-14, shared, own)
    return found


def restricted_deviance(tau, auc, variances) -> np.ndarray:
    """Return minus twice the restricted log likelihood for each tau, up to a constant.

    The restricted likelihood is the density of the differences between groups, which do not depend
    on the mean of the groups.
    """
    contrasts = np.eye(auc.size)[1:] - np.eye(auc.size)[0]
    differences = contrasts @ auc
    v = variances + np.square(tau)[:, None]
    covariance = contrasts @ (v[:, None] * contrasts).swapaxes(1, 2)
    columns = np.broadcast_to(differences, (len(tau), differences.size))[..., None]
    solved = np.linalg.solve(covariance, columns)[..., 0]
    return np.linalg.slogdet(covariance)[1] + solved @ differences


def reml_tau(auc, variances) -> float:
    """Return the tau from 0 to 1/2 with the largest restricted likelihood; NaN below two groups."""
    kept = ~np.isnan(variances)
    if kept.sum() < 2:
        return NAN
    y, v = auc[kept], variances[kept]
    low, high = 0.0, 0.5
    for _ in range(12):  # refine the grid around the best of 41 values
        grid = np.linspace(low, high, 41)
        best = int(np.argmin(restricted_deviance(grid, y, v)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    return float(grid[best])


def hull(auc, variance, m, n, deviate) -> tuple[float, float]:
    """Return the limits of an AUC of m positives and n negatives, at a normal quantile."""
    if auc == 1.0:
        return stats.norm.sf(deviate) ** (1 / min(m, n)), 1.0
    return general_hull(auc, variance, 1 / (m * n), ((m + n) / 2 - 1) / (m * n), deviate)


def general_hull(auc, variance, once, often, deviate) -> tuple[float, float]:
    """Return the further of the logit limits and of the limits of Newcombe's method 5."""
    reach = deviate * np.sqrt(variance) / (auc * (1 - auc))
    odds = np.log(auc / (1 - auc))
    low, high = 1 / (1 + np.exp(reach - odds)), 1 / (1 + np.exp(-reach - odds))

    def excess(t):
        variance = t * (1 - t) * (once + often * ((1 - t) / (2 - t) + t / (1 + t)))
        return abs(t - auc) - deviate * np.sqrt(variance)

    near = optimize.brentq(excess, 0.0, auc, xtol=1e-15)
    far = optimize.brentq(excess, auc, 1.0, xtol=1e-15)
    return min(low, near), max(high, far)


def mover(one, other):
    """Return the limits of the difference of two values, each given with its limits.

    The method is that of Zou and Donner (2008).
    """
    (a, low_a, high_a), (b, low_b, high_b) = one, other
    below, above = np.hypot(a - low_a, high_b - b), np.hypot(high_a - a, b - low_b)
    return a - b - below, a - b + above


def mover_of_pairs(values, low, high):
    """Return the limits of the differences of all ordered pairs of values."""
    one, other = np.transpose([*itertools.permutations(range(len(values)), 2)])
    groups = np.array([values, low, high])
    return mover(groups[:, one], groups[:, other])


# No scores are only 0 and 1, because these look like predicted labels.
SCORES = {
    "no ties": lambda rng, n: rng.normal(size=n),
    "many ties": lambda rng, n: rng.normal(size=n).round(1) + 0.05,
    "five values": lambda rng, n: rng.integers(2, 7, n).astype(float),
    "one value": lambda rng, n: np.full(n, 0.375),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32).astype(float),
    "probabilities": lambda rng, n: rng.beta(2, 3, n),
    "votes": lambda rng, n: rng.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], n),
}

WEIGHTS = {
    "unit": lambda rng, n: None,
    "integer": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "float": lambda rng, n: rng.uniform(0.05, 3.0, n) * (rng.random(n) < 0.9),
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-3, 3, n),
}

LABELS = {
    "int": lambda g: g,
    "negative int": lambda g: 7 - 3 * g,
    "large int": lambda g: (g - 20) * 10**15,
    "str": lambda g: f"site {g}",
    "unicode": lambda g: "αβγ"[g % 3] + "<é>" * (g // 3),
    "bool": lambda g: g % 2 == 0,
    "date": lambda g: datetime.datetime(2020, 1, 1) + datetime.timedelta(days=37 * g),
    "pair": lambda g: ("fm"[g % 2], g // 2),
    "triple": lambda g: ("xyz"[g % 3], g % 2 == 0, f"{g}"),
}


def random_case(
    seed: int,
    *,
    weights: str | None = None,
    scores: str | None = None,
    labels: str | None = None,
    most_groups: int = 50,
) -> Case:
    """Return rows with ties, one-class groups and single rows; None draws the kind of a column."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, most_groups + 1))
    sizes = np.minimum(rng.geometric(rng.choice([0.1, 0.3, 0.9]), n_groups), 30)
    codes = np.repeat(np.arange(n_groups), sizes.astype(np.intp))
    # A prevalence of 0 or 1 makes groups of one class.
    prevalence = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], n_groups, p=[0.1, 0.25, 0.3, 0.25, 0.1])
    shift = rng.normal(0, 0.5, n_groups)
    y = (rng.random(codes.size) < prevalence[codes]).astype(int)
    kind = scores or rng.choice(list(SCORES))
    s = SCORES[kind](rng, codes.size)
    if kind == "no ties":
        s = s + y * 0.7 + shift[codes]
    order = rng.permutation(codes.size)
    label = LABELS[labels or rng.choice(list(LABELS))]
    kind = weights or rng.choice(list(WEIGHTS))
    return Case(
        y[order],
        s[order],
        [label(int(g)) for g in codes[order]],
        WEIGHTS[kind](rng, codes.size),
    )


def same_number(got: float, expected: float, tolerance: float = 1e-12) -> bool:
    """Return whether both numbers are NaN, or differ by at most the tolerance."""
    if math.isnan(got) or math.isnan(expected):
        return math.isnan(got) and math.isnan(expected)
    return abs(got - expected) <= tolerance


def same_statistic(name: str, got: float, expected: float) -> bool:
    """Return whether statistics agree; tau, the argument of a maximum, to 7 digits only."""
    if name == "tau" and not math.isnan(expected):
        return same_number(got, expected, 1e-7) or same_number(got**2, expected**2, 1e-8)
    return same_number(got, expected)


def plain_label(label: Any) -> Any:
    """Return a date label of any type as a datetime; return other labels unchanged."""
    if isinstance(label, np.datetime64):
        return label.astype("datetime64[us]").item()
    return label
