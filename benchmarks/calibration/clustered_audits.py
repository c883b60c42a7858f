"""Audits of clustered rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Table
from skfedauc import FairnessAudit

THRESHOLD = 0.5


class Design(NamedTuple):
    """Design of clusters of 5 rows.

    Attributes
    ----------
    n_groups, n_clusters : int
        Number of groups, and number of clusters per group.
    icc : float
        Correlation of the scores of two rows of the same class in a cluster.
    labels : {"row", "cluster"}
        Half of the rows are positive on average: each row by itself, or all rows of a cluster.
    auc : float
        AUC of all groups; the last group of several may have another AUC.
    last : float
        AUC of the last group.
    is_crossed : bool
        Whether the rows of a cluster belong to random groups, or all rows to one group.
    """

    n_groups: int
    n_clusters: int
    icc: float
    labels: str
    auc: float = 0.8
    last: float = 0.8
    is_crossed: bool = False

    def true_positive_rate(self, auc: float) -> float:
        """Return the true positive rate of a group with this AUC."""
        apart = ndtri(auc) * np.sqrt(2.0)
        return float(ndtr(apart / 2.0 - logit(THRESHOLD) / apart))

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw labels, groups, clusters, and calibrated probabilities as scores."""
        n_clusters = self.n_groups * self.n_clusters
        clusters = np.repeat(np.arange(n_clusters), 5)
        groups = clusters % self.n_groups
        if self.is_crossed:
            groups = rng.integers(0, self.n_groups, clusters.size)
        y = rng.random(clusters.size) < 0.5
        if self.labels == "cluster":
            y = (rng.random(n_clusters) < 0.5)[clusters]
        errors = np.sqrt(self.icc) * rng.normal(size=n_clusters)[clusters]
        errors += np.sqrt(1.0 - self.icc) * rng.normal(size=clusters.size)
        is_last = groups == self.n_groups - 1
        apart = ndtri(np.where(is_last, self.last, self.auc)) * np.sqrt(2.0)
        scores = expit(apart * (errors + apart * y) - apart**2 / 2.0)
        return {"y_true": y, "y_score": scores.round(3), "groups": groups, "clusters": clusters}

    def __str__(self) -> str:
        crossed = ", in all groups" if self.is_crossed else ""
        other = f" and {self.last}" if self.last != self.auc else ""
        return (
            f"{self.n_groups} x {self.n_clusters}{crossed}, {self.icc}, by {self.labels}, "
            f"{self.auc}{other}"
        )


def _intervals(audit: FairnessAudit, of: Design) -> list[bool]:
    """Return whether intervals contain the true value, of the last group or of the gap."""
    last = audit.report.confidence_intervals().iloc[-1]
    test = audit.comparison.largest_difference
    rate = audit.rates().loc["true_positive_rate"].iloc[-1]
    own, other = (of.true_positive_rate(auc) for auc in (of.last, of.auc))
    return [
        last["ci_low"] <= of.last <= last["ci_high"],
        test.ci_low <= abs(of.last - of.auc) <= test.ci_high,
        rate["ci_low"] <= own <= rate["ci_high"],
        rate["difference_ci_low"] <= own - other <= rate["difference_ci_high"],
    ]


def coverage(n_runs: int, seed: int, of: Design) -> list[str]:
    """Coverage of intervals of audits with clusters and without."""
    rng, held = np.random.default_rng(seed), []
    for _ in range(n_runs):
        rows = of.draw(rng)
        both = []
        for clusters in (rows.pop("clusters"), None):
            audit = FairnessAudit.from_predictions(**rows, clusters=clusters, threshold=THRESHOLD)
            both.append(_intervals(audit, of))
        held.append(np.ravel(both))
    return [percent(column) for column in np.transpose(held)]


def false_claims(n_runs: int, seed: int, of: Design) -> list[str]:
    """Error rates of tests of audits with clusters, and shares of audits with any claim."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n_runs):
        rows = of.draw(rng)
        clusters = rows.pop("clusters")
        with_clusters, without = (
            FairnessAudit.from_predictions(**rows, clusters=own, threshold=THRESHOLD).tables.claims
            for own in (clusters, None)
        )
        raw = with_clusters.pvalues
        found.append(
            [
                *(raw[name][0] < 0.05 for name in ("difference", "cross_ranking")),
                *(raw[rate][0] < 0.05 for rate in ("selection_rate", "true_positive_rate")),
                raw["calibration"][0] < 0.05,
                *(
                    any((p < 0.05).any() for p in claims.adjusted.values())
                    for claims in (with_clusters, without)
                ),
            ]
        )
    return [percent(column) for column in np.transpose(found)]


_NAME = "groups x clusters, ICC, labels, AUC"
_TEXT = (
    "Each cluster has 5 rows, of one group or of all groups. Half of the rows are positive: each "
    "row by itself, or all rows of half of the clusters. Scores are calibrated probabilities with "
    "three digits. The logits of two rows of the same class in a cluster have the correlation ICC. "
    "Decisions are at the threshold 0.5. "
)

TABLES = [
    Table(
        "Intervals of audits of clustered rows",
        f"{_TEXT}Coverage in % of 95 % intervals of `FairnessAudit` with `clusters=`, and without: "
        "of the AUC and the true positive rate (TPR) of the last group, of the gap of the group "
        "AUCs, and of the difference of the TPR of the last group and of the others.",
        [
            _NAME,
            *(
                f"{name}{without}"
                for without in ("", " without")
                for name in ("AUC", "AUC gap", "TPR", "TPR difference")
            ),
        ],
        [
            (str(of), coverage, (of,))
            for of in (
                Design(2, 20, 0.3, "cluster"),
                Design(2, 60, 0.3, "row"),
                Design(2, 60, 0.3, "cluster", last=0.9),
                Design(5, 40, 0.6, "cluster"),
                Design(2, 60, 0.6, "cluster", is_crossed=True),
                Design(5, 40, 0.6, "cluster", is_crossed=True),
            )
        ],
        coverage=["AUC", "AUC gap", "TPR", "TPR difference"],
    ),
    Table(
        "Findings of audits of clustered rows without any gap",
        f"{_TEXT}The first five columns are error rates in % of tests at 5 % with `clusters=`: "
        "of the largest difference of AUCs, of the xAUC disparity of the first group, of equal "
        "selection rates and TPRs, and of the calibration of the first group. The last two columns "
        "are the shares of audits in % that make at least one claim (an adjusted p value below "
        ".05), with `clusters=` and without.",
        [
            _NAME,
            "AUC",
            "xAUC",
            "selection rate",
            "TPR",
            "calibration",
            "any claim",
            "any claim without",
        ],
        [
            (str(of), false_claims, (of,))
            for of in (
                Design(2, 20, 0.3, "cluster"),
                Design(2, 60, 0.3, "row"),
                Design(2, 60, 0.6, "cluster"),
                Design(5, 40, 0.6, "cluster"),
                Design(2, 60, 0.6, "cluster", is_crossed=True),
                Design(5, 40, 0.6, "cluster", is_crossed=True),
            )
        ],
        error_rate=["any claim", "any claim without"],
    ),
]
