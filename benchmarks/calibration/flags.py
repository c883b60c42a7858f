"""Statements of audits that mark a group or a gap, where no gap exists or a gap is at its limit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.calibration.simulation import (
    answers_to,
    draw_rows,
    groups,
    interval_of,
    percent,
)
from benchmarks.calibration.table import Table
from skfedauc import FairnessAudit
from skfedauc.audit.claims import adjusted_together
from skfedauc.inference.cross_gap import pair_errors
from skfedauc.report import spread_of

# Questions of the claims of an audit, by column
_QUESTIONS = {
    "AUC difference": "difference",
    "equal AUCs": "equal_aucs",
    "group AUC": "group_auc",
    "xAUC": "cross_ranking",
    "selection rate": "selection_rate",
    "true positive rate": "true_positive_rate",
    "false positive rate": "false_positive_rate",
    "calibration": "calibration",
}
# Gaps whose limits may exclude the value without a gap, by column
_LIMITS = {
    "limit of ratio": "ratio",
    "limit of parity": "demographic_parity_difference",
    "limit of odds": "equalized_odds_difference",
}


class Design(NamedTuple):
    """Rows without any gap: numbers of rows by group, and the kind of the rows.

    Attributes
    ----------
    n_rows : sequence of int
        Number of rows of each group.
    center : float
        Mean of the logits of the scores, whose standard deviation is 1.2.
    digits : int
        Number of digits of the scores.
    weighted : bool
        Whether rows have weights with a gamma(.5) distribution.
    """

    n_rows: Any
    center: float = -1.0
    digits: int = 6
    weighted: bool = False

    def audit(self, rng: np.random.Generator) -> FairnessAudit:
        """Draw the scores and the labels of rows, and audit the rows."""
        step = 10.0**-self.digits
        names = np.repeat(np.arange(len(self.n_rows)), self.n_rows)
        p = expit(self.center + 1.2 * rng.normal(size=names.size)).round(self.digits)
        p = p.clip(step, 1.0 - step)
        return FairnessAudit.from_predictions(
            rng.random(p.size) < p,
            p,
            groups=names,
            threshold=expit(self.center + 0.6),
            sample_weight=rng.gamma(0.5, size=p.size) if self.weighted else None,
        )


def no_gap(n_runs: int, seed: int, of: Design) -> list[str]:
    """Share of audits that make a claim, and of questions and limits that find a gap."""
    rng = np.random.default_rng(seed)
    columns = "any claim", *_QUESTIONS, *_LIMITS, "limit of tau", "colored cells"
    found: dict[str, list[Any]] = {name: [] for name in columns}
    for _ in range(n_runs):
        comparison = of.audit(rng).comparison
        (claims,) = adjusted_together(["group"], [comparison.pvalues])
        found["any claim"].append(any((p < 0.05).any() for p in claims.adjusted.values()))
        for name, question in _QUESTIONS.items():
            pvalues = claims.pvalues[question][~np.isnan(claims.pvalues[question])]
            if pvalues.size:
                # Bonferroni's and Holm's methods agree on whether there is any claim.
                found[name].append(pvalues.min() * pvalues.size < 0.05)
        limits = comparison.limits(0.05, 0.025)
        for name, gap in _LIMITS.items():
            if gap in limits:
                low, high = limits[gap]
                found[name].append(high < 1.0 if gap == "ratio" else low > 0.0)
        compared = comparison.compared
        if compared.n_groups < 2:
            continue
        found["limit of tau"].append(spread_of(compared, confidence_level=0.95)["ci_low"] > 0.0)
        matrix = compared.cross_matrix.to_numpy()
        pairs = np.triu_indices(len(matrix), 1)
        errors = pair_errors(compared.counts)[pairs]
        found["colored cells"].append(np.mean(np.abs(matrix - matrix.T)[pairs] > 2.0 * errors))
    return [percent(flags) if flags else "" for flags in found.values()]


def random_model(n_runs: int, seed: int, n_rows: Any, digits: int) -> list[str]:
    """Share of audits with a statement on the model, if scores are independent of the labels."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_runs):
        names = np.repeat(np.arange(len(n_rows)), n_rows)
        y, scores = rng.random(names.size) < 0.3, rng.normal(size=names.size).round(digits)
        audit = FairnessAudit.from_predictions(y, scores, groups=names, threshold=None)
        everyone = audit.comparison.everyone
        pooled, within = (interval_of(everyone, name, "rows") for name in ("pooled", "within"))
        found.append(
            [
                pooled.high < 0.5,
                pooled.low > 0.5,
                within.high < 0.5,
                pooled.low > max(within.high, 0.5),
                len(audit.reversed_groups) > 0,
            ]
        )
    return [percent(column) for column in zip(*found, strict=True)]


def at_the_limit(n_runs: int, seed: int, n_groups: int, m: int, n: int) -> list[str]:
    """Shares of the answers to tolerances of gaps that are exactly at their limits.

    One group has the lowest AUC, and another one the lowest rates. The other groups are equal.
    """
    rng = np.random.default_rng(seed)
    of = groups(n_groups, m, n, np.append(0.75, np.full(n_groups - 1, 0.85)))
    rates = np.append(np.full(n_groups - 1, 0.5), 0.4)
    tolerances = {"difference": 0.1, "ratio": 0.75 / 0.85, "true_positive_rate_difference": 0.1,
                  "equalized_odds_difference": 0.1, "equalized_odds_ratio": 0.8}  # fmt: skip
    found = []
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        decided = rng.random(rows.y.size) < rates[rows.groups]
        audit = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, y_pred=decided
        )
        found.append([given == answer for given in answers_to(audit, tolerances)
                      for answer in ("met", "not met")])  # fmt: skip
    return [percent(column) for column in zip(*found, strict=True)]


def tau_at_the_limit(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, tau: float
) -> list[str]:
    """Shares of the answers to a tolerance of tau at the true value, with normal true AUCs."""
    rng = np.random.default_rng(seed)
    answers = []
    for _ in range(n_runs):
        aucs = (0.8 + tau * rng.normal(size=n_groups)).clip(0.5, 0.99)
        rows = draw_rows(rng, groups(n_groups, m, n, aucs))
        audit = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, threshold=None
        )
        answers += answers_to(audit, {"tau": tau})
    return [percent([one == answer for one in answers]) for answer in ("met", "not met")]


def within_column(n_runs: int, seed: int, n_labels: int, n_levels: int, n_rows: int) -> list[str]:
    """Share of audits within the levels of a control column that make a claim, without any gap."""
    rng = np.random.default_rng(seed)
    claimed, raw = [], []
    for _ in range(n_runs):
        level = rng.integers(n_levels, size=n_rows)
        p = expit(1.2 * rng.normal(size=n_rows) - 1.0 + 0.5 * (level - level.mean()))
        columns = np.column_stack([rng.integers(n_labels, size=n_rows), level])
        audit = FairnessAudit.from_predictions(rng.random(n_rows) < p, p, groups=columns)
        within = audit.comparison.within(audit.columns[1])
        parts = [part.pvalues for part in within.values()]
        claims = adjusted_together([""] * len(parts), parts)
        claimed.append(any((p < 0.05).any() for of in claims for p in of.adjusted.values()))
        raw.append(any((p < 0.05).any() for of in parts for p in of.values()))
    return [percent(claimed), percent(raw)]


def _unequal(n_groups: int, largest: int) -> Any:
    """Return numbers of rows by Zipf's law, at least 20."""
    return np.maximum(largest / np.arange(1, n_groups + 1), 20).astype(int)


_OF_TWO_GROUPS = {
    "2 groups of 200": Design([200] * 2),
    "2 groups of 50 and 2,000": Design([50, 2_000]),
    "2 groups of 200, scores of one digit": Design([200] * 2, digits=1),
    "2 groups of 1,000, 2 % positives": Design([1_000] * 2, -4.5),
    "2 groups of 500, gamma(.5) weights": Design([500] * 2, weighted=True),
}
_OF_MANY_GROUPS = {
    "10 groups of 200": Design([200] * 10),
    "10 groups of 200 to 2,000": Design(_unequal(10, 2_000)),
    "10 groups of 200, scores of one digit": Design([200] * 10, digits=1),
    "10 groups of 1,000, 2 % positives": Design([1_000] * 10, -4.5),
    "10 groups of 500, gamma(.5) weights": Design([500] * 10, weighted=True),
    "50 groups of 100": Design([100] * 50),
    "50 groups of 100 to 5,000": Design(_unequal(50, 5_000)),
    "50 groups of 300, 5 % positives": Design([300] * 50, -3.5),
}

_COLUMNS = ["any claim", *_QUESTIONS, *_LIMITS, "limit of tau", "colored cells"]
# Questions that audits of two groups do not have
_OF_MANY = ("equal AUCs", "group AUC")

TABLES = [
    Table(
        "Statements of audits of two groups without any gap",
        "Scores are the probabilities of the labels, and have the same distribution in both "
        "groups, which have these numbers of rows. `any claim` is the share of audits in % with a "
        "claim: an adjusted p value below .05, which makes a number bold and a finding claim a "
        "gap. The next columns are the shares of audits with a p value below .05 of one question, "
        "adjusted for the groups of the question (Holm) but not for the other questions: the "
        "difference of AUCs, whose interval then excludes 0, the xAUC disparity, the three rates, "
        "and a group that is not calibrated. The columns of limits are the shares of audits whose "
        "95 % interval of a gap excludes the value without a gap: the AUC ratio, demographic "
        "parity, equalized odds, and tau. `colored cells` is the mean share of cells of the cross "
        "matrix with a color.",
        ["groups", *("" if name in _OF_MANY else name for name in _COLUMNS)],
        [(name, no_gap, (design,)) for name, design in _OF_TWO_GROUPS.items()],
        share=0.5,
        error_rate=[name for name in _COLUMNS if name not in _OF_MANY],
    ),
    Table(
        "Statements of audits without any gap",
        "The columns are those of the table of two groups, and the test that all AUCs are equal, "
        "and an AUC of a group that differs from the others.",
        ["groups", *_COLUMNS],
        [(name, no_gap, (design,)) for name, design in _OF_MANY_GROUPS.items()],
        share=0.2,
        error_rate=_COLUMNS,
    ),
    Table(
        "Statements on models that rank at random",
        "Scores are independent of the labels, so all AUCs are .5, and 30 % of the rows are "
        "positive. The columns are the shares of audits in % with these statements: the pooled AUC "
        "is below 0.5, or above 0.5, the AUC within groups is below 0.5, the pooled AUC comes from "
        "differences between groups, and the AUC of any group is below 0.5 (`reversed_groups`). "
        "The first three are one side of a 95 % interval and should have at most 2.5 %.",
        ["groups", "pooled below", "pooled above", "within below", "between", "group below"],
        [
            (name, random_model, arguments)
            for name, arguments in {
                "2 groups of 100": ([100] * 2, 9),
                "2 groups of 50 and 2,000": ([50, 2_000], 9),
                "10 groups of 200": ([200] * 10, 9),
                "10 groups of 200, whole scores": ([200] * 10, 0),
                "50 groups of 100": ([100] * 50, 9),
            }.items()
        ],
        error_rate=["pooled below", "pooled above", "within below", "between", "group below"],
    ),
    Table(
        "Tolerances of gaps at the limit",
        "Shares in % of the answers `met` and `not met` if the true gap is exactly at the limit: "
        "an AUC difference of .1, an AUC ratio of .88, a difference of true positive rates of .1, "
        "an equalized odds difference of .1, and an equalized odds ratio of .8. Each of the "
        "answers should have at most 5 %. One group has the AUC .75 and all others .85. Another "
        "group has the rate .4 in both classes, and all others have .5.",
        [
            "groups of positives/negatives",
            *(
                f"{gap} {answer}"
                for gap in ("AUC difference", "ratio", "TPR", "odds", "odds ratio")
                for answer in ("met", "not met")
            ),
        ],
        [
            (f"{n_groups} groups of {m:,}/{n:,}", at_the_limit, (n_groups, m, n))
            for n_groups, m, n in (
                (2, 100, 400),
                (2, 1_000, 1_000),
                (10, 100, 400),
                (10, 500, 500),
                (50, 100, 200),
            )
        ],
        error_rate=[
            f"{gap} {answer}"
            for gap in ("AUC difference", "ratio", "TPR", "odds", "odds ratio")
            for answer in ("met", "not met")
        ],
    ),
    Table(
        "Tolerance of tau at the limit",
        "Shares in % of the answers to a tolerance of tau at its true value. True AUCs are normal "
        "with mean .8. Each of the answers should have at most 5 %.",
        ["groups of positives/negatives, tau", "met", "not met"],
        [
            (f"{n_groups} groups of {m}/{n}, {tau}", tau_at_the_limit, (n_groups, m, n, tau))
            for n_groups, m, n, tau in (
                (3, 50, 200, 0.05),
                (10, 50, 200, 0.03),
                (10, 50, 200, 0.06),
                (50, 50, 200, 0.03),
                (50, 20, 80, 0.06),
            )
        ],
        error_rate=["met", "not met"],
    ),
    Table(
        "Audits within a control column",
        "`FairnessAudit.within` of groups without any gap, with higher scores in higher levels of "
        "the control column. `any claim` is the share in % with a claim within any level (an "
        "adjusted p value below .05), and `any p value` the share with an unadjusted p value below "
        ".05.",
        ["groups, levels, rows", "any claim", "any p value"],
        [
            (f"{n_labels}, {n_levels}, {n_rows:,}", within_column, (n_labels, n_levels, n_rows))
            for n_labels, n_levels, n_rows in ((2, 2, 1_000), (3, 5, 3_000), (2, 10, 3_000))
        ],
        share=0.1,
        error_rate=["any claim", "any p value"],
    ),
]
