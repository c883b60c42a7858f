"""Statements of audits that mark a group or a gap, where no gap exists or a gap is at its limit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.calibration.simulation import percent
from skfedauc import FairnessAudit

# Questions of the claims of an audit, by column
_QUESTIONS = {
    "largest AUC difference": "difference",
    "equal AUCs": "equal_aucs",
    "AUC of a group": "group_auc",
    "xAUC disparity": "cross_ranking",
    "selection rates": "selection_rate",
    "true positive rates": "true_positive_rate",
    "false positive rates": "false_positive_rate",
    "calibrated groups": "calibration",
    "equal calibration": "equal_calibration",
}
# Gaps whose limits may exclude the value without a gap, by column
_LIMITS = {
    "AUC ratio": "ratio",
    "tau": "tau",
    "demographic parity": "demographic_parity_difference",
    "equalized odds": "equalized_odds_difference",
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


def no_flag(n_runs: int, seed: int, of: Design) -> list[str]:
    """Share of audits that make a claim, and of questions and limits that find a gap."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(of.n_rows)), of.n_rows)
    found: dict[str, list[bool]] = {name: [] for name in ("any claim", *_QUESTIONS, *_LIMITS)}
    for _ in range(n_runs):
        step = 10.0**-of.digits
        p = expit(of.center + 1.2 * rng.normal(size=groups.size)).round(of.digits)
        p = p.clip(step, 1.0 - step)
        audit = FairnessAudit.from_predictions(
            rng.random(p.size) < p,
            p,
            groups=groups,
            threshold=expit(of.center + 0.6),
            sample_weight=rng.gamma(0.5, size=p.size) if of.weighted else None,
        )
        claims = audit.tables.claims
        found["any claim"].append(any((p < 0.05).any() for p in claims.adjusted.values()))
        for name, question in _QUESTIONS.items():
            pvalues = claims.pvalues.get(question, np.full(1, np.nan))
            pvalues = pvalues[~np.isnan(pvalues)]
            if pvalues.size:
                # Bonferroni's and Holm's methods agree on whether there is any claim.
                found[name].append(bool(pvalues.min() * pvalues.size < 0.05))
        gaps = audit.gaps
        for name, gap in _LIMITS.items():
            low, high = gaps.loc[gap, ["ci_low", "ci_high"]]
            if not np.isnan(low):
                found[name].append(high < 1.0 if gap == "ratio" else low > 0.0)
    return [percent(flags) if flags else "" for flags in found.values()]
