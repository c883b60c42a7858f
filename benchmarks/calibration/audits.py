"""Audits of groups without any gap, and comparisons of equal models: false verdicts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.calibration.simulation import percent
from benchmarks.calibration.table import Plot, Table
from skfedauc import FairnessAudit
from skfedauc.audit.answers import Answer

Floats = NDArray[np.float64]


class Design(NamedTuple):
    """Rows of groups without any gap, whose scores are the probabilities of the labels.

    Attributes
    ----------
    sizes : sequence of int
        Numbers of rows of the groups.
    center, spread : float
        Mean and standard deviation of the logits, which determine prevalence and AUC.
    digits : int
        Decimals of the scores; few decimals make ties.
    cluster : int
        Rows of a cluster, which have the same probability; 1 for independent rows.
    is_shared : bool
        Whether the rows of a cluster are in any groups, instead of in one.
    """

    sizes: Any
    center: float = 0.0
    spread: float = 1.2
    digits: int = 9
    cluster: int = 1
    is_shared: bool = False

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw the arguments of `FairnessAudit.from_predictions`."""
        groups = np.repeat(np.arange(len(self.sizes)), self.sizes)
        groups = rng.permutation(groups) if self.is_shared else groups
        cluster = np.arange(groups.size) // self.cluster
        logits = self.center + self.spread * rng.normal(size=cluster[-1] + 1)[cluster]
        p = expit(logits)
        rows = {"y_true": rng.random(p.size) < p, "y_score": p.round(self.digits), "groups": groups}
        return rows if self.cluster == 1 else rows | {"clusters": cluster}


def is_apart(found: Answer) -> bool:
    """Return whether verdict, interval and p value disagree."""
    excludes = found.ci_low > 0.0 or found.ci_high < 0.0
    return not found.is_claim == excludes == (found.pvalue < 0.05)


def false_verdicts(n_runs: int, seed: int, of: Design) -> list[str]:
    """Shares of audits with a false verdict on the primary question, and on any other."""
    rng, primary, others, apart = np.random.default_rng(seed), [], [], 0
    for _ in range(n_runs):
        audit = FairnessAudit.from_predictions(**of.draw(rng), threshold=float(expit(of.center)))
        found = audit.answers["group"]
        primary.append(found["difference"].is_claim)
        secondary = [one for name, one in found.items() if name != "difference" and not one.missing]
        others.append(any(one.is_claim for one in secondary))
        apart += sum(map(is_apart, [found["difference"], *secondary]))
    return [percent(primary), percent(others), str(apart)]


def power(n_runs: int, seed: int, sizes: Any, spreads: Any) -> list[str]:
    """Shares of audits, and of tests of the report, that find a difference of AUCs."""
    rng, found = np.random.default_rng(seed), []
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(n_runs):
        p = expit(np.asarray(spreads)[groups] * rng.normal(size=groups.size))
        audit = FairnessAudit.from_predictions(rng.random(p.size) < p, p, groups=groups)
        test = audit.report.test_difference()
        found.append([audit.answers["group"]["difference"].is_claim, test.pvalue < 0.05])
    return [percent(of) for of in zip(*found, strict=True)]


def false_changes(n_runs: int, seed: int, of: Design, noise: float) -> list[str]:
    """Shares of comparisons of two equally good models that claim a change."""
    rng, primary, others, apart = np.random.default_rng(seed), [], [], 0
    for _ in range(n_runs):
        rows = of.draw(rng)
        logits = np.log(rows["y_score"] / (1.0 - rows["y_score"]))
        # Rows of a cluster have equal scores.
        clusters = rows.get("clusters", np.arange(logits.size))
        noises = noise * rng.normal(size=(2, clusters[-1] + 1))[:, clusters]
        first, second = (
            FairnessAudit.from_predictions(
                **rows | {"y_score": expit(logits + of_rows)}, threshold=float(expit(of.center))
            )
            for of_rows in noises
        )
        found = first.compare(second).answers["group"]
        primary.append(found["difference"].is_claim or found["within"].is_claim)
        known = {name: one for name, one in found.items() if not one.missing}
        secondary = [one for name, one in known.items() if name not in ("difference", "within")]
        others.append(any(one.is_claim for one in secondary))
        apart += sum(map(is_apart, known.values()))
    return [percent(primary), percent(others), str(apart)]


DESIGNS = {
    "2 groups of 200 rows": Design([200] * 2),
    "2 groups of 800 and 200, scores of one decimal": Design([800, 200], digits=1),
    "4 groups of 100 to 2,000": Design([2_000, 800, 300, 100]),
    "4 groups of 300 to 3,000, 5 % positives": Design([3_000, 1_200, 600, 300], center=-3.6),
    "3 groups of 400 to 4,000, AUC .95, 4 % positives": Design([4_000, 800, 400], -7.0, 3.2),
    "20 groups of 100": Design([100] * 20),
    "3 groups of 300, clusters of 5 equal scores": Design([300] * 3, cluster=5),
    "3 groups of 300, such clusters in all groups": Design([300] * 3, cluster=5, is_shared=True),
}
VERDICTS = ["groups", "primary", "any other", "verdicts apart from interval or p"]

TABLES = [
    Table(
        "False verdicts of audits without any gap",
        "Rows are assigned to groups at random, and scores are the probabilities of the labels. "
        "The columns are the shares of audits in % with a false verdict on the primary question "
        "(the AUC) and on any other (ranking, selection, true and false positive rates, "
        "calibration), and the number of answers whose verdict, interval and p value disagree.",
        VERDICTS,
        [(name, false_verdicts, (of,)) for name, of in DESIGNS.items()],
        share=1.0,
        error_rate=["primary", "any other"],
    ),
    Table(
        "False verdicts of comparisons of two equal models",
        "Two models add independent noise to the logits of the same rows or clusters, so that no "
        "true change exists. A false verdict on the primary question is one on the AUC gap or on "
        "the AUC within groups.",
        VERDICTS,
        [(name, false_changes, (of, 0.5)) for name, of in DESIGNS.items() if of.digits > 1],
        share=0.3,
        error_rate=["primary", "any other"],
    ),
    Table(
        "Power of the primary question of audits",
        "The spread of the logits of a group determines its AUC. The columns are the shares in % "
        "of audits that find a difference, and of tests of the report (`test_difference`).",
        ["groups", "audit", "test"],
        [
            ("2 groups of 300, spreads 1 and 1.6", power, ([300] * 2, [1.0, 1.6])),
            (
                "4 groups of 100 to 2,000, one of 1.8",
                power,
                ([2_000, 800, 300, 100], [1.2, 1.2, 1.8, 1.2]),
            ),
        ],
        share=0.25,
        others=[Plot("Power in %", ["audit", "test"])],
    ),
]
