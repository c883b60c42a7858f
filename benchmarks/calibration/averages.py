"""Intervals of averages and of the pooled AUC, and their agreement."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.calibration.simulation import covers, groups, interval_of, percent, report
from benchmarks.calibration.table import Plot, Table
from skfedauc import GroupAUC, compare_models
from skfedauc.inference.agreement import certain_bound, class_agreement


def averages(n_runs: int, seed: int, n_groups: int, tau: float, m: int, n: int) -> list[str]:
    """Coverage of the macro average for fixed and random groups, and of the pooled AUC."""
    rng = np.random.default_rng(seed)
    held: dict[str, list[bool]] = {"rows": [], "groups": [], "rows for groups": []}
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, tau, n_groups), 0.55, 0.99)
        found = report(rng, groups(n_groups, m, n, auc))
        over_rows, over_groups = (interval_of(found, "macro", over) for over in ("rows", "groups"))
        held["rows"].append(covers(over_rows, auc.mean()))
        held["groups"].append(covers(over_groups, 0.8))
        held["rows for groups"].append(covers(over_rows, 0.8))
    return [percent(values) for values in held.values()]


def with_small(n_runs: int, seed: int, m: int, auc: float, ratio: float) -> list[str]:
    """Coverage of averages of a group of m/100 m and one of 2/20."""
    rng, of = np.random.default_rng(seed), groups(2, [m, 2], [100 * m, 20], auc, ratio)
    held: dict[str, list[bool]] = {name: [] for name in ("macro", "samples", "within")}
    for _ in range(n_runs):
        found = report(rng, of)
        for name, values in held.items():
            values.append(covers(interval_of(found, name, "rows"), auc))
    return [percent(values) for values in held.values()]


def pooled(n_runs: int, seed: int, n_groups: int, spread: float) -> list[str]:
    """Coverage of the pooled AUC for fixed groups, and for random groups with random shifts.

    Fixed groups have random or fixed numbers of positives and negatives.
    """
    rng = np.random.default_rng(seed)
    # The true value for random groups is simulated with many groups. The true value for fixed
    # groups follows from cross AUCs.
    large = report(rng, groups(4000, 30, 60, 0.75, shift=rng.normal(0, spread, 4000))).pooled
    held = []
    apart, equal = ndtri(0.75) * np.sqrt(2.0), np.full(n_groups, 1.0 / n_groups)
    for _ in range(n_runs):
        shift = rng.normal(0, spread, n_groups)
        found = report(rng, groups(n_groups, 30, 60, 0.75, shift=shift))
        m = rng.binomial(90 * n_groups, 1 / 3)
        numbers = (rng.multinomial(n, equal) for n in (m, 90 * n_groups - m))
        random = report(rng, groups(n_groups, *numbers, 0.75, shift=shift))
        given = float(ndtr((apart + shift[:, None] - shift) / np.sqrt(2.0)).mean())
        held.append(
            [
                covers(interval_of(random, "pooled", "rows"), given),
                covers(interval_of(found, "pooled", "rows"), given),
                covers(interval_of(found, "pooled", "groups"), large),
            ]
        )
    return [percent(values) for values in zip(*held, strict=True)]


def unequal(n_runs: int, seed: int, n_groups: int, tau: float) -> list[str]:
    """Averages of random groups with Zipf-distributed sizes, and two models on the groups' rows."""
    rng = np.random.default_rng(seed)
    size = 3_000 / np.arange(1, n_groups + 1)
    m, n = np.maximum(size / 5, 3).astype(int), np.maximum(size * 4 / 5, 12).astype(int)
    held: dict[str, list[bool]] = {name: [] for name in ("macro", "samples", "within")}
    errs: dict[str, list[bool]] = {name: [] for name in ("pooled", "samples", "within")}
    codes = np.repeat(np.arange(n_groups), m + n)
    y = np.concatenate([np.arange(a + b) < a for a, b in zip(m, n, strict=True)])
    for _ in range(n_runs):
        auc = np.clip(rng.normal(0.8, tau, n_groups), 0.55, 0.99)
        found = report(rng, groups(n_groups, m, n, auc))
        for name, values in held.items():
            values.append(covers(interval_of(found, name, "groups"), 0.8))
        # Either model is better in half of the groups.
        better = rng.normal(0, 0.3, n_groups)[codes]
        shared, *own = rng.normal(size=(3, y.size))
        a = shared + own[0] + (1.5 + better) * y
        b = shared + own[1] + 1.5 * y
        for name, values in errs.items():
            options = {"groups": codes, "over": "groups", "min_per_class": 1}
            compared = compare_models(y, {"a": a, "b": b}, statistic=name, **options)
            values.append(compared.pvalue < 0.05)
    return [percent(values) for values in (*held.values(), *errs.values())]


# Numbers of positives and negatives of four devices, and shifts of their scores
SHARES = np.array([8, 4, 2, 1]), np.array([1, 3, 6, 10])
SHIFTS = np.array([-0.75, -0.25, 0.25, 0.75])
# Averages that equal the pooled AUC if the shifts apply to the positives and to the negatives, by
# case
EQUAL = {
    "identical": (False, False, {"macro", "samples", "positives", "negatives", "within"}),
    "same_negatives": (True, False, {"positives"}),
    "same_positives": (False, True, {"negatives"}),
    "different": (True, True, set[str]()),
}


def cases(n_runs: int, seed: int, case: str, n_rows: int) -> list[str]:
    """Shares of right, wrong and undecided verdicts on the four cases with unequal counts."""
    rng = np.random.default_rng(seed)
    shifts_positives, shifts_negatives, right = EQUAL[case]
    counts = [share * n_rows // 35 for share in SHARES]
    devices = np.concatenate([np.repeat(np.arange(4), of_class) for of_class in counts])
    y = np.arange(devices.size) < counts[0].sum()
    mean = np.where(y, 1.0 + shifts_positives * SHIFTS[devices], shifts_negatives * SHIFTS[devices])
    named, wrong, unsure, other = [], [], [], []
    for _ in range(n_runs):
        # Three digits, because distinct scores take most of the time.
        scores = (mean + rng.normal(size=mean.size)).round(3)
        found = GroupAUC.from_predictions(y, scores, groups=devices).agreement()
        answers = found.table["equivalent_to_pooled"]
        wrong.append(
            any(answers[name] == ("no" if name in right else "yes") for name in answers.index)
        )
        unsure.append((answers == "cannot tell").any())
        named.append(found.case == case)
        other.append(found.case not in (case, "cannot tell"))
    neither = ~np.array(wrong) & ~np.array(unsure)
    return [percent(of_runs) for of_runs in (neither, wrong, unsure, named, other)]


def bound(n_runs: int, seed: int) -> list[str]:
    """Share of random score counts for which the bound holds."""
    rng, held, tight = np.random.default_rng(seed), [], []
    while len(held) < n_runs:
        n, k = rng.integers(2, 40), rng.integers(1, 6)
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        if y.all() or not y.any():
            continue
        scores, codes = rng.integers(1, rng.integers(3, 12), n), rng.integers(0, k, n)
        found = GroupAUC.from_predictions(y, scores, groups=codes, undefined="ignore")
        if found._estimates.pairs.n_undefined == found.n_groups:
            continue
        # The differences and bounds of `agreement`, without its tests
        variances = found._estimates.variances
        averages = found.average("positives"), found.average("negatives")
        difference = np.abs(found.pooled - np.array(averages))
        limit = np.array(
            [
                certain_bound(rows.weight / rows.weight.sum(), side.distances)
                for rows, side in zip(
                    (variances.positives, variances.negatives),
                    class_agreement(found.counts),
                    strict=True,
                )
            ]
        )
        held.append(bool((difference <= limit + 1e-12).all()))
        tight.append(float((difference / limit.clip(1e-12)).max()))
    return [percent(held), f"{np.median(tight):.2f}"]


def equivalence(
    n_runs: int, seed: int, n_groups: int, m: int, n: int, auc: float, levels: float
) -> list[str]:
    """Error rate of `agreement`: an average that differs by `delta` is found equivalent."""
    from scipy.special import ndtr

    rng = np.random.default_rng(seed)
    shift = np.linspace(-levels, levels, n_groups)
    apart = ndtri(auc) * np.sqrt(2.0)
    delta = abs(ndtr((apart + shift[:, None] - shift) / np.sqrt(2.0)).mean() - auc)
    of, told = groups(n_groups, m, n, auc, shift=shift), []
    for _ in range(n_runs):
        table = report(rng, of).agreement(delta).table
        told.append(table.at["macro", "equivalent_to_pooled"] == "yes")
    return [f"{delta:.4f}", percent(told)]


TABLES = [
    Table(
        "Averages of a small group and a larger one",
        "Coverage in % of 95 % intervals of averages of two groups with the same AUC, of which the "
        "second has 2/20. The ratio is the standard deviation of the positives divided by that of "
        "the negatives.",
        ["larger group, AUC, ratio", "macro", "samples", "within"],
        [
            (f"{m}/{100 * m:,}, {auc}, {ratio}", with_small, (m, auc, ratio))
            for m in (8, 20)
            for auc in (0.8, 0.9)
            for ratio in (1.0, 2.0, 3.0)
        ],
        coverage=["macro", "samples", "within"],
    ),
    Table(
        "Average of group AUCs (macro)",
        "Coverage in % of 95 % intervals. `over rows` is the coverage of intervals over rows "
        "for the mean true AUC of these groups. `over groups` is the coverage of intervals "
        "over groups for the mean AUC of the population, .8. `over rows, population` is the "
        "coverage of intervals over rows for the mean AUC of the population.",
        ["groups, tau", "over rows", "over groups", "over rows, population"],
        [
            (f"{g} groups of 50/200, tau {tau}", averages, (g, tau, 50, 200))
            for g, tau in ((5, 0.0), (5, 0.05), (10, 0.05), (40, 0.05))
        ],
        coverage=["over rows", "over groups", "over rows, population"],
    ),
    Table(
        "Pooled AUC",
        "Coverage in % of 95 % intervals. Each group has a random shift of the scores. `over rows` "
        "is the coverage of intervals over rows for the pooled AUC of these groups. The group and "
        "the class of each row are random, with 30 positives and 60 negatives per group on "
        "average. `fixed numbers` is the coverage if each group has exactly 30 positives and 60 "
        "negatives: the interval is then conservative. `over groups` is the coverage of intervals "
        "over groups for the pooled AUC of many such groups, with these numbers.",
        ["groups, standard deviation of the shifts", "over rows", "fixed numbers", "over groups"],
        [
            (f"{g} groups, {confidence_level}", pooled, (g, confidence_level))
            for g, confidence_level in ((5, 0.0), (5, 1.0), (10, 0.5), (10, 1.0), (30, 1.0))
        ],
        coverage=["over rows", "fixed numbers", "over groups"],
    ),
    Table(
        "Random groups of unequal size",
        "Group sizes follow Zipf's law: the largest group has 3,000 rows, and the smallest "
        "group has at least 15 rows. The columns `macro`, `samples` and `within` have the coverage "
        "in % of 95 % intervals over groups for the mean AUC of the population, .8. The other "
        "columns are error rates in % at 5 % of the comparison of two models that are equally good "
        "on average.",
        [
            "groups",
            "macro",
            "samples",
            "within",
            "pooled, error rate",
            "samples, error rate",
            "within, error rate",
        ],
        [(f"{g} groups", unequal, (g, 0.05)) for g in (10, 30, 100)],
        coverage=["macro", "samples", "within"],
        error_rate=["pooled, error rate", "samples, error rate", "within, error rate"],
    ),
    Table(
        "Which average is equivalent to the pooled AUC",
        "Four devices have unequal counts of both classes, and delta is .005. Scores are normal "
        "and have three digits. The columns are shares of runs in %. `all correct`: all verdicts "
        "on averages are correct. `any "
        "wrong`: at least one verdict is wrong. `any undecided`: at least one verdict is "
        '"cannot tell". `case correct`: the named case is correct. `case wrong`: the named '
        'case is wrong. In the other runs, the case is "cannot tell".',
        [
            "case, rows",
            "all correct",
            "any wrong",
            "any undecided",
            "case correct",
            "case wrong",
        ],
        [
            (f"{case}, {rows:,}", cases, (case, rows))
            for rows in (1_000, 100_000, 400_000)
            for case in ("identical", "same_negatives", "same_positives", "different")
        ],
        others=[
            Plot("Averages: share of runs in %", ["all correct", "any wrong", "any undecided"]),
            Plot("Case: share of runs in %", ["case correct", "case wrong"]),
        ],
    ),
    Table(
        "Averages that differ from the pooled AUC by delta",
        "Share of runs in % in which `agreement(delta)` finds the average `macro` equivalent "
        "to the pooled AUC although their true difference is delta. The share should be at "
        "most 5 %. The scores of the groups are shifted against each other.",
        ["groups of positives/negatives, AUC", "delta", "found equivalent"],
        [
            (f"{g} groups of {m}/{n}, {auc}", equivalence, (g, m, n, auc, levels))
            for auc in (0.8, 0.95)
            for m, n in ((5, 200), (10, 400), (50, 200))
            for g, levels in ((2, 0.6), (5, 1.0))
        ],
        error_rate=["found equivalent"],
    ),
    Table(
        "Bound of the difference from the pooled AUC",
        "The score counts are random, with 2 to 39 rows, ties and groups of one class. `within "
        "bound` is the share of score counts in % for which the averages `positives` and "
        "`negatives` differ from the pooled AUC by at most the bound. `median ratio` is the "
        "median ratio of the difference to the bound.",
        ["score counts", "within bound", "median ratio"],
        [("random", bound, ())],
        share=10.0,
    ),
]
