"""Audits of groups without any gap."""

from __future__ import annotations

from typing import Any

import numpy as np
from fairlearn.metrics import MetricFrame
from scipy.special import ndtr, ndtri
from sklearn.metrics import roc_auc_score

from benchmarks.calibration.simulation import Groups, Rows, draw_rows, groups, percent
from benchmarks.calibration.table import Table
from skfedauc import FairnessAudit
from skfedauc.audit.claims import weighted_holm
from skfedauc.audit.decisions import RATES
from skfedauc.audit.gaps import claims_of

# Runs and resamples of fairlearn's bootstrap; a run takes one to two seconds.
BOOTSTRAP_RUNS, RESAMPLES = 100, 100


def no_gap(n_runs: int, seed: int, of: Groups, digits: int, compare: bool) -> list[str]:
    """Error rate of each test, and share of runs in which each interval excludes 0."""
    rng = np.random.default_rng(seed)
    equal_groups, single_group, favour, rates, area, own_interval, bootstrap = (
        [] for _ in range(7)
    )
    for i in range(n_runs):
        rows = draw_rows(rng, of)
        rows = rows._replace(scores=rows.scores.round(digits))
        audit = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, threshold=0.0
        )
        comparison = audit.comparison
        difference = comparison.largest_difference
        equal_groups.append(difference.pvalue < 0.05)
        own_interval.append(difference.ci_low > 0)
        single_group.append((comparison.with_reference["pvalue_adjusted"] < 0.05).any())
        favour.append(comparison.cross_gaps.pvalue_adjusted.min() < 0.05)
        of_odds = [comparison.rate_gaps[rate] for rate in RATES[1:]]
        # The table of gaps has the adjusted p value of the rate with the larger gap.
        adjusted = weighted_holm(np.array([gap["pvalue"] for gap in of_odds]), np.ones(2))
        rates.append(adjusted[np.argmax([gap["value"] for gap in of_odds])] < 0.05)
        if len(of.auc) == 2:
            table = audit.report.abroca(0, n_resamples=RESAMPLES - 1, random_state=i)
            area.append(table["pvalue"].iloc[0] <= 0.05)
        if compare and i < BOOTSTRAP_RUNS:
            bootstrap.append(bootstrap_excludes_0(rows, i))
    families = equal_groups, single_group, favour, rates, area, own_interval, bootstrap
    return [percent(family) if family else "" for family in families]


def bootstrap_excludes_0(rows: Rows, seed: int) -> bool:
    """Whether fairlearn's 95 % bootstrap interval of the difference excludes 0."""
    frame = MetricFrame(
        metrics={"auc": roc_auc_score},
        y_true=rows.y,
        y_pred=rows.scores,
        sensitive_features=rows.groups,
        n_boot=RESAMPLES,
        ci_quantiles=[0.025, 0.975],
        random_state=seed,
    )
    return bool(frame.difference_ci()[0]["auc"] > 0)


def false_claims(n_runs: int, seed: int, n_rows: int, n_labels: Any, weighted: bool) -> list[str]:
    """Share of audits without gaps that make a claim, and that have a raw p value below .05.

    `n_labels` are the numbers of labels of each sensitive column. A fifth of the rows is positive,
    and the AUC is .8. Decisions are made at the median score. Scores have three digits.
    """
    rng = np.random.default_rng(seed)
    claimed, by_themselves, n_claims = [], [], 0
    for _ in range(n_runs):
        y = rng.random(n_rows) < 0.2
        scores = (rng.normal(size=n_rows) + ndtri(0.8) * np.sqrt(2.0) * y).round(3)
        weights = rng.gamma(0.5, size=n_rows) if weighted else None
        columns = np.column_stack([rng.integers(0, n, n_rows) for n in n_labels])
        audit = FairnessAudit.from_predictions(
            y, scores, groups=columns, threshold=np.median(scores), sample_weight=weights
        )
        whole = audit.comparison
        parts = [whole.regrouped([name]) for name in audit.columns] if len(n_labels) > 1 else []
        # The claims of audits, without their tables
        claims = claims_of([*parts, whole])
        claimed.append(any((p < 0.05).any() for of in claims for p in of.adjusted.values()))
        by_themselves.append(any((p < 0.05).any() for of in claims for p in of.pvalues.values()))
        n_claims = max(n_claims, claims[-1].family.n_claims)
    return [f"{n_claims}", percent(claimed), percent(by_themselves)]


def intersections(
    n_runs: int, seed: int, n_rows: int, n_labels: Any, halved: bool, deficit: float
) -> list[str]:
    """Share of audits that establish a difference, and rank and test of one worse intersection.

    A third of the rows is positive, and the AUC is .8, except in one group of the first two
    columns, drawn anew in each run, whose AUC is lower by `deficit`. `halved` labels of a column
    have half as many rows as the label before. Scores have three digits.
    """
    rng = np.random.default_rng(seed)
    established, among_five, worse_found, share_smaller, n_groups = ([] for _ in range(5))
    for _ in range(n_runs):
        y = rng.random(n_rows) < 1 / 3
        shares = [0.5 ** np.arange(n) if halved else np.ones(n) for n in n_labels]
        columns = np.column_stack([rng.choice(p.size, n_rows, p=p / p.sum()) for p in shares])
        worse = tuple(int(rng.integers(n)) for n in n_labels[:2])
        is_worse = (columns[:, :2] == worse).all(axis=1)
        apart = ndtri(np.where(is_worse, 0.8 - deficit, 0.8)) * np.sqrt(2.0)
        scores = (rng.normal(size=n_rows) + apart * y).round(3)
        audit = FairnessAudit.from_predictions(y, scores, groups=columns, threshold=None)
        table = audit.intersections()
        sizes = table[["n_positives", "n_negatives"]].min(axis=1)
        established.append((table["pvalue_adjusted"] < 0.05).any())
        share_smaller.append(np.mean([(sizes < size).mean() for size in sizes[:5]]))
        place = np.array([one == worse for one in table["group"]])
        place &= np.array([one == audit.columns[:2] for one in table["columns"]])
        among_five.append(place[:5].any())
        worse_found.append((table["pvalue_adjusted"][place] < 0.05).any())
        n_groups.append(len(table))
    found = [percent(among_five), percent(worse_found)] if deficit else ["", ""]
    any_claim = "" if deficit else percent(established)
    return [f"{np.median(n_groups):.0f}", any_claim, percent(share_smaller), *found]


def ranking_gaps(n_runs: int, seed: int, of: Groups) -> list[str]:
    """Coverage of intervals of the AUC ratio and of xAUC disparities, and errors of a tolerance.

    The tolerance is that of the largest xAUC disparity at the true value.
    """
    rng = np.random.default_rng(seed)
    ratio = min(of.auc) / max(of.auc)
    apart = ndtri(of.auc) * np.sqrt(2.0)
    # Probability that a positive of the first group outranks a negative of the second group
    outranks = ndtr(((apart + of.shift)[:, None] - of.shift) / np.sqrt(2.0))
    disparity = []
    for g in range(len(of.auc)):
        rest = np.arange(len(of.auc)) != g
        bnsp = np.average(outranks[g][rest], weights=of.n_negatives[rest])
        disparity.append(bnsp - np.average(outranks[:, g][rest], weights=of.n_positives[rest]))
    found = []
    for _ in range(n_runs):
        rows = draw_rows(rng, of)
        comparison = FairnessAudit.from_predictions(
            rows.y, rows.scores, groups=rows.groups, threshold=None
        ).comparison
        low, high = comparison.limits(0.05, 0.025)["ratio"]
        lows, highs = comparison.cross_gaps.limits(0.95)
        largest = np.abs(disparity).max()
        _, least, most = comparison.cross_gaps.largest(0.05, 0.05)
        is_covered = ((lows <= disparity) & (disparity <= highs)).all()
        found.append([low <= ratio <= high, is_covered, most < largest, least > largest])
    return [percent(column) for column in zip(*found, strict=True)]


TABLES = [
    Table(
        "Gaps of ranking",
        "Coverage in % of the 95 % interval of the AUC ratio, and of the 95 % intervals of the "
        "xAUC disparities of all groups simultaneously. `met` and `not met` are the shares in % of "
        "these answers to a tolerance of the largest absolute xAUC disparity at its true value, "
        "which should have at most 5 % each. Scores are normal, and scores of the groups are "
        "shifted from 0 to the shift.",
        [
            "groups of positives/negatives, AUC, shift",
            "AUC ratio",
            "xAUC disparities",
            "met",
            "not met",
        ],
        [
            (
                f"{n_groups} of {m}/{n}, {name}, {shift}",
                ranking_gaps,
                (groups(n_groups, m, n, auc, shift=np.linspace(0.0, shift, n_groups)),),
            )
            for n_groups, m, n, name, auc, shift in (
                (2, 20, 80, ".8", 0.8, 0.0),
                (2, 20, 80, ".7 and .9", [0.7, 0.9], 1.0),
                (2, 200, 200, ".7 and .9", [0.7, 0.9], 1.0),
                (5, 50, 200, ".8", 0.8, 0.0),
                (5, 50, 200, ".7 to .9", np.linspace(0.7, 0.9, 5), 1.0),
                (20, 20, 80, ".7 to .9", np.linspace(0.7, 0.9, 20), 2.0),
            )
        ],
        coverage=["AUC ratio", "xAUC disparities"],
        error_rate=["met", "not met"],
    ),
    Table(
        "Tests and intervals without any gap",
        "All groups have the same score distributions. The first five columns are error rates "
        "in % of tests at 5 %. `equal groups` tests that all group AUCs are equal. `single "
        "groups` tests that the AUC of any group equals the average of the others. `favor` "
        "tests that the model favors no group (`xauc_disparity` of an audit). `rates` tests "
        "that both rates are equal (`equalized_odds_difference`). `ABROCA` tests that two "
        f"groups have one ROC curve (`abroca`, {RESAMPLES - 1} resamples). The other columns "
        "are shares of runs in % in which a 95 % interval of the difference of group AUCs "
        "excludes 0: our interval, and the interval of fairlearn's bootstrap "
        f"({BOOTSTRAP_RUNS} runs, {RESAMPLES} resamples). The bootstrap interval excludes 0 "
        "because a resampled difference is never below 0.",
        [
            "groups",
            "equal groups",
            "single groups",
            "favor",
            "rates",
            "ABROCA",
            "our interval",
            "fairlearn's interval",
        ],
        [
            ("2 groups of 100/400", no_gap, (groups(2, 100, 400, 0.8), 9, True)),
            (
                "2 groups of 100/400, whole scores",
                no_gap,
                (groups(2, 100, 400, 0.8), 0, False),
            ),
            (
                "2 groups, 40/60 and 60/240",
                no_gap,
                (groups(2, [40, 60], [60, 240], 0.8), 9, False),
            ),
            ("5 groups of 50/200", no_gap, (groups(5, 50, 200, 0.8), 9, True)),
            (
                "5 groups of 50/200, scores of 1 digit",
                no_gap,
                (groups(5, 50, 200, 0.8), 1, False),
            ),
            (
                "5 groups, 20/180 to 100/100",
                no_gap,
                (groups(5, [20, 40, 60, 80, 100], [180, 160, 140, 120, 100], 0.8), 9, False),
            ),
            ("10 groups of 20/80, AUC .9", no_gap, (groups(10, 20, 80, 0.9), 9, False)),
        ],
        share=0.1,
        error_rate=[
            "equal groups",
            "single groups",
            "favor",
            "rates",
            "ABROCA",
            "our interval",
            "fairlearn's interval",
        ],
    ),
    Table(
        "Findings of audits without any gap",
        "Rows are assigned to groups at random, so that no gap exists. A fifth of the rows are "
        "positives, and the AUC is .8. `claims` is the largest number of tested claims, by "
        "each column and by all columns together. `any claim` is the share of audits in % with "
        "at least one claim (an adjusted p value below .05). `any p value` is the share of "
        "audits in % with at least one unadjusted p value below .05.",
        ["audit", "claims", "any claim", "any p value"],
        [
            (
                f"{name}, {n_rows:,} rows{', gamma(.5) weights' if weighted else ''}",
                false_claims,
                (n_rows, labels, weighted),
            )
            for name, labels, weighted in (
                ("2 groups", (2,), False),
                ("5 groups", (5,), False),
                ("2 columns of 2 and 3 labels", (2, 3), False),
                ("2 groups", (2,), True),
            )
            for n_rows in (400, 4_000)
        ],
        share=0.5,
        error_rate=["any claim", "any p value"],
    ),
    Table(
        "Intersections of sensitive columns",
        "`FairnessAudit.intersections` of all columns and pairs of columns. Rows are assigned to "
        "groups at random. A third of the rows are positives, and the AUC is .8. In the lines with "
        "a worse group, one random group of the first two columns has a lower AUC. `groups` is the "
        "median number of rows of the table. `any claim` is the share of audits in % that "
        "establish a difference of any group, if all groups are equal. `smaller` is the mean share "
        "in % of groups that are smaller than the first five: 50 means that the order prefers "
        "neither small nor large groups. `among five` is the share of audits in % with the worse "
        "group among the first five, and `established` is the share in % that establish the "
        "difference of the worse group. The worse group may be a small group, which is pooled with "
        "others and cannot be found.",
        ["audit", "groups", "any claim", "smaller", "among five", "established"],
        [
            (
                f"{' x '.join(map(str, labels))} labels{', unequal' if halved else ''}, "
                f"{n_rows:,} rows{f', one AUC .{100 * (0.8 - deficit):.0f}' if deficit else ''}",
                intersections,
                (n_rows, labels, halved, deficit),
            )
            for labels, halved, n_rows, deficits in (
                ((2, 3), False, 2_000, (0.0, 0.1)),
                ((4, 6), True, 4_000, (0.0, 0.15)),
                ((6, 8), False, 4_000, (0.0, 0.2)),
            )
            for deficit in deficits
        ],
        share=0.1,
        error_rate=["any claim"],
    ),
]
