"""What skfedauc must agree with: every definition over all pairs of rows, in plain numpy.

Nothing here imports skfedauc. The oracle compares each positive with each negative, which is
slow and hard to get wrong; the random cases are the ones on which fast code goes wrong.
"""

from __future__ import annotations

import datetime
import math
from typing import Any, NamedTuple

import numpy as np

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
    """Rows as a user has them; `groups` is a list of labels, `weights` may be None."""

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
        """Keyword arguments of the package's functions."""
        return {
            "y_true": self.y,
            "y_score": self.scores,
            "groups": self.groups,
            "sample_weight": self.weights,
        }


class Truth(NamedTuple):
    """Every quantity by its definition; groups in sorted order, NaN where undefined."""

    labels: list[Any]
    n_positives: np.ndarray
    n_negatives: np.ndarray
    positives: np.ndarray
    negatives: np.ndarray
    matrix: np.ndarray
    statistics: dict[str, float]
    share_within: float
    bound_positives: float
    bound_negatives: float

    @property
    def auc(self) -> np.ndarray:
        return np.diag(self.matrix)

    @property
    def n_undefined(self) -> int:
        return int(np.isnan(self.auc).sum())


def all_pairs(case: Case, stand_in: float | None = None) -> Truth:
    """Everything by brute force; `stand_in` is the AUC of groups that lack a class."""
    weights = np.ones(case.y.size) if case.weights is None else case.weights
    kept = np.flatnonzero(weights > 0)
    groups = [case.groups[i] for i in kept]
    labels = sorted(set(groups))
    number = {label: g for g, label in enumerate(labels)}
    codes = np.array([number[label] for label in groups], int)
    y, scores, weights = case.y[kept], case.scores[kept], weights[kept]

    pos, neg = y == 1, y != 1
    member = codes[:, None] == np.arange(len(labels))
    wins = np.where(
        scores[pos][:, None] > scores[neg],
        1.0,
        np.where(scores[pos][:, None] == scores[neg], 0.5, 0.0),
    )
    concordant = weights[pos][:, None] * weights[neg] * wins
    by_groups = member[pos].T.astype(float) @ concordant @ member[neg].astype(float)
    positives = np.array([weights[pos & member[:, g]].sum() for g in range(len(labels))])
    negatives = np.array([weights[neg & member[:, g]].sum() for g in range(len(labels))])
    pairs = positives[:, None] * negatives
    matrix = np.full(pairs.shape, np.nan)
    np.divide(by_groups, pairs, out=matrix, where=pairs > 0)

    every = weights[pos].sum() * weights[neg].sum()
    across = ~np.eye(len(labels), dtype=bool)
    pairs_across = float(pairs[across].sum())
    statistics = {
        "pooled": float(concordant.sum() / every) if every else NAN,
        "cross": float(by_groups[across].sum() / pairs_across) if pairs_across else NAN,
    }
    defined = ~np.isnan(np.diag(matrix))
    auc, used = np.diag(matrix).copy(), defined
    if stand_in is not None:
        auc[~defined], used = stand_in, np.ones(len(labels), bool)
    c = {
        "macro": np.ones(len(labels)),
        "samples": positives + negatives,
        "positives": positives,
        "negatives": negatives,
        "within": positives * negatives,
    }
    for name in AVERAGES:
        total = c[name][used].sum()
        statistics[name] = float((c[name] * auc)[used].sum() / total) if total else NAN
    aucs = auc[used]
    two = aucs.size >= 2
    statistics["worst"] = float(aucs.min()) if aucs.size else NAN
    statistics["difference"] = float(aucs.max() - aucs.min()) if two else NAN
    statistics["ratio"] = float(aucs.min() / aucs.max()) if two and aucs.max() > 0 else NAN
    gaps = np.abs(matrix - matrix.T)[np.ix_(defined, defined)]
    statistics["cross_difference"] = float(gaps.max()) if defined.sum() >= 2 else NAN
    variances = shared_variances(
        [
            (wins[np.ix_(a, b)], weights[pos][a], weights[neg][b])
            for a, b in zip(member[pos].T, member[neg].T, strict=True)
        ]
    )
    statistics["tau"] = reml_tau(np.diag(matrix), variances)
    statistics["bias_score"] = bias_score(statistics["pooled"], aucs, by_groups, pairs)
    return Truth(
        labels,
        np.array([(pos & member[:, g]).sum() for g in range(len(labels))], int),
        np.array([(neg & member[:, g]).sum() for g in range(len(labels))], int),
        positives,
        negatives,
        matrix,
        statistics,
        float(np.trace(pairs) / every) if every else NAN,
        _bound(scores, weights, member, pos, neg) if every else NAN,
        _bound(scores, weights, member, neg, pos) if every else NAN,
    )


def bias_score(pooled, auc, concordant, pairs) -> float:
    """Mean of the pooled AUC and three means of the power -5: within, and with other groups."""
    across = ~np.eye(len(pairs), dtype=bool)
    with np.errstate(invalid="ignore", divide="ignore"):
        bnsp, bpsn = ((concordant * across).sum(i) / (pairs * across).sum(i) for i in (1, 0))
        means = [
            np.mean(values[~np.isnan(values)] ** -5.0) ** (-1 / 5)
            for values in (np.asarray(auc), bpsn, bnsp)
            if not np.isnan(values).all()
        ]
    return float(np.mean([pooled, *means])) if len(means) == 3 else NAN


def unbiased_variance(wins, above, below) -> float:
    """Of one AUC: its square less the mean product of comparisons that share no row."""
    if above.size < 2 or below.size < 2:
        return NAN
    weighted = above[:, None] * wins * below
    total = weighted.sum()
    products = total**2 - (weighted.sum(1) ** 2).sum() - (weighted.sum(0) ** 2).sum()
    products += (weighted**2).sum()
    pairs = above.sum() ** 2 - (above**2).sum(), below.sum() ** 2 - (below**2).sum()
    auc = total / above.sum() / below.sum()
    return float(auc**2 - products / pairs[0] / pairs[1])


def signed_tau(auc, variances) -> float:
    """Root, with its sign, of the variance of AUCs that their own variances do not explain."""
    kept = ~np.isnan(variances)
    if kept.sum() < 2:
        return NAN
    square = auc[kept].var(ddof=1) - variances[kept].mean()
    return math.copysign(abs(square) ** 0.5, square)


def has_two_rows(above, below) -> bool:
    """Whether each class has two rows, of weights that make 1.5 effective rows or more."""
    return all(w.size > 1 and w.sum() ** 2 >= 1.5 * (w**2).sum() for w in (above, below))


def shared_variances(groups) -> np.ndarray:
    """Variances of AUCs from pooled variances of placements; NaN with one row of a class.

    `groups` has for each group its matrix of comparisons and the weights of both classes. A
    variance of 0 is replaced by the group's own one, of which 0 is replaced by its upper bound.
    """
    rows, sizes, own = [], [], []
    for wins, above, below in groups:
        if not has_two_rows(above, below):
            continue
        auc = above @ wins @ below / above.sum() / below.sum()
        m, n = above.sum() ** 2 / (above**2).sum(), below.sum() ** 2 / (below**2).sum()
        placements = wins @ below / below.sum(), above @ wins / above.sum()
        of_rows = [
            (w**2 * (p - auc) ** 2).sum() / (w.sum() ** 2 - (w**2).sum()) * size
            for p, w, size in zip(placements, (above, below), (m, n), strict=True)
        ]
        delong = of_rows[0] / m + of_rows[1] / n
        unbiased = unbiased_variance(wins, above, below)
        excess = (delong - unbiased) * m * n
        rows.append([of_rows[0] - excess / n, of_rows[1] - excess / m, excess])
        sizes.append([m, n])
        drawn = (m * n * auc + 0.5) / (m * n + 1)
        weighted = not np.isclose([m, n], [above.size, below.size]).all()
        safe = max(delong, unbiased) if weighted else delong
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


def reml_tau(auc, variances) -> float:
    """The tau from 0 to 1/2 of largest restricted likelihood; NaN below two groups."""
    kept = ~np.isnan(variances)
    if kept.sum() < 2:
        return NAN
    y, v = auc[kept], variances[kept]

    def contrasts(tau):
        """Log density of differences between groups, which their mean does not change."""
        differences = np.eye(y.size)[1:] - np.eye(y.size)[0]
        covariance = differences @ np.diag(v + tau**2) @ differences.T
        d = differences @ y
        return -(np.linalg.slogdet(covariance)[1] + d @ np.linalg.solve(covariance, d)) / 2

    low, high = 0.0, 0.5
    for _ in range(12):  # finer and finer around the best of 41
        grid = np.linspace(low, high, 41)
        best = int(np.argmax([contrasts(tau) for tau in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 40)]
    return float(grid[best])


def _bound(scores, weights, member, averaged, other) -> float:
    """How far pooled can be from the average by `averaged`, by Kolmogorov distances.

    The sum over groups of their share of `averaged` times the distance of their `other`
    rows' score distribution from that of all `other` rows, 1 where a group has none.
    """
    total = weights[averaged].sum()
    bound = 0.0
    for g in range(member.shape[1]):
        share = weights[averaged & member[:, g]].sum() / total
        mine = other & member[:, g]
        distance = kolmogorov(scores, weights, mine, other) if mine.any() else 1.0
        bound += share * distance
    return float(bound)


def kolmogorov(scores, weights, some, others) -> float:
    """Largest distance between the distribution functions of two sets of rows."""
    at = np.unique(scores)
    distribution = [
        (weights[rows] * (scores[rows] <= at[:, None])).sum(axis=1) / weights[rows].sum()
        for rows in (some, others)
    ]
    return float(np.abs(distribution[0] - distribution[1]).max())


# Random cases ----------------------------------------------------------------------------

# Scores are never 0 and 1 alone, which would look like predicted labels.
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
    """Rows with ties, one-class groups and single rows; what is not given is drawn."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, most_groups + 1))
    sizes = np.minimum(rng.geometric(rng.choice([0.1, 0.3, 0.9]), n_groups), 30)
    codes = np.repeat(np.arange(n_groups), sizes)
    # The prevalence of 0 or 1 makes groups of one class.
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


# Comparison ------------------------------------------------------------------------------


def same_number(got: float, expected: float, tolerance: float = 1e-12) -> bool:
    """Whether both are NaN or they are closer than the tolerance."""
    if math.isnan(got) or math.isnan(expected):
        return math.isnan(got) and math.isnan(expected)
    return abs(got - expected) <= tolerance


def same_statistic(name: str, got: float, expected: float) -> bool:
    """The same number; of tau, which is where a function is largest, the same to 7 digits."""
    if name == "tau" and not math.isnan(expected):
        return same_number(got, expected, 1e-7) or same_number(got**2, expected**2, 1e-8)
    return same_number(got, expected)


def plain_label(label: Any) -> Any:
    """A date label as a datetime, however it is kept; others as they are."""
    if isinstance(label, np.datetime64):
        return label.astype("datetime64[us]").item()
    return label
