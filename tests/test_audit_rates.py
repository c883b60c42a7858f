"""Rates of decisions, intervals of their gaps, and tolerances, compared with statsmodels."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import accuracy_score, precision_score, recall_score
from statsmodels.stats.proportion import proportion_confint

from skfedauc import Bins, FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.audit import rates
from skfedauc.audit.rates import ALL_RATES
from skfedauc.datasets import make_group_scores
from skfedauc.inference import differences
from skfedauc.inference import rates as limits_of

pytestmark = pytest.mark.usefixtures("few_draws")

COLUMNS = [
    f"{prefix}ci_{end}" for prefix in ("", "difference_", "ratio_") for end in ("low", "high")
]


def decided(rng, sizes):
    """Labels, predictions and groups; each group has its own rates."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    y, predicted = (rng.random(group.size) < rng.random(len(sizes))[group] for _ in range(2))
    return y.astype(int), predicted.astype(int), group


def audit_of(y, predicted, group, **options):
    scores = np.linspace(0, 1, y.size)
    return FairnessAudit.from_predictions(y, scores, groups=group, y_pred=predicted, **options)


def shares(y, predicted):
    """Numerator and denominator of each rate, by definition."""
    y, predicted = y == 1, predicted == 1
    everyone = np.ones_like(y)
    of_rates = {
        "selection_rate": (predicted, everyone),
        "true_positive_rate": (predicted, y),
        "false_positive_rate": (predicted, ~y),
        "precision": (y, predicted),
        "false_discovery_rate": (~y, predicted),
        "false_omission_rate": (y, ~predicted),
        "accuracy": (y == predicted, everyone),
        "prevalence": (y, everyone),
    }
    return {rate: (int((a & b).sum()), int(b.sum())) for rate, (a, b) in of_rates.items()}


def mover_ratio(a, of_a, b, of_b):
    """Limits of a / b as printed by Donner and Zou, from limits of a and b."""
    (low_a, high_a), (low_b, high_b) = of_a, of_b
    ab = a * b
    root = np.sqrt(ab**2 - low_a * high_b * (2 * a - low_a) * (2 * b - high_b))
    low = (ab - root) / (high_b * (2 * b - high_b))
    root = np.sqrt(ab**2 - high_a * low_b * (2 * a - high_a) * (2 * b - low_b))
    return low, (ab + root) / (low_b * (2 * b - low_b))


# Rates by group ---------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["rest", 2])
def test_rates_are_those_of_statsmodels(reference):
    rng = np.random.default_rng(0)
    y, predicted, group = decided(rng, [12, 40, 150, 9])
    audit = audit_of(y, predicted, group, reference=reference)
    table = audit.rates(confidence_level=0.9)
    assert table.index.get_level_values("rate").unique().tolist() == list(ALL_RATES)
    of_group = [shares(y[group == g], predicted[group == g]) for g in range(4)]
    rows = y[group == 1], predicted[group == 1]
    assert table.loc[("accuracy", 1), "value"] == accuracy_score(*rows)
    assert table.loc[("precision", 1), "value"] == precision_score(*rows)
    assert table.loc[("true_positive_rate", 1), "value"] == recall_score(*rows)
    n_compared = 0
    for rate, g in itertools.product(ALL_RATES, range(4)):
        row = table.loc[(rate, g)]
        k, n = of_group[g][rate]
        assert row["n_rows"] == n
        if n == 0:
            assert row.drop("n_rows").isna().all()
            continue
        limits = proportion_confint(k, n, alpha=0.1, method="beta")
        np.testing.assert_allclose(row[["value", *COLUMNS[:2]]].to_list(), [k / n, *limits])
        enough = [one for one in range(4) if of_group[one][rate][1] >= 10]
        others = [one for one in enough if one != g] if reference == "rest" else [2]
        if g not in enough or g in others or not {*others} & {*enough}:
            assert row[["reference_value", "difference", "ratio", *COLUMNS[2:]]].isna().all()
            continue
        k2, n2 = (sum(of_group[one][rate][i] for one in others) for i in range(2))
        limits2 = proportion_confint(k2, n2, alpha=0.1, method="beta")
        p, q = k / n, k2 / n2
        newcombe = [
            p - q - np.hypot(p - limits[0], limits2[1] - q),
            p - q + np.hypot(limits[1] - p, q - limits2[0]),
        ]
        assert row["reference_value"] == k2 / n2
        np.testing.assert_allclose(row["difference"], k / n - k2 / n2, atol=1e-15)
        np.testing.assert_allclose(row[COLUMNS[2:4]].to_list(), newcombe, atol=1e-12)
        if k2 > 0:
            expected = mover_ratio(k / n, limits, k2 / n2, limits2)
            np.testing.assert_allclose(row[COLUMNS[4:]].to_list(), expected, rtol=1e-9)
        n_compared += 1
    assert n_compared > 8


def test_rates_of_0_and_1_and_without_rows():
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    audit = audit_of(y, np.array([0, 0, 0, 0, 1, 1, 1, 0]), list("aabbabbb"), min_per_class=1)
    table = audit.rates()
    low, high = table.loc[("false_positive_rate", "a"), ["ci_low", "ci_high"]]
    assert low == 0 < high < 1
    assert table.loc[("true_positive_rate", "a"), "ci_high"] == 1
    # No row is selected: neither a ratio nor a precision is defined.
    table = audit_of(y, np.zeros(8, int), list("aabbabbb"), min_per_class=1).rates()
    assert table.loc["precision"].drop(columns="n_rows").isna().all(axis=None)
    of_selection = table.loc["selection_rate"]
    assert of_selection["ratio"].isna().all()
    assert (of_selection["ratio_ci_low"] == 0).all()
    assert np.isposinf(of_selection["ratio_ci_high"]).all()
    assert (table.loc["false_omission_rate", "ratio"] > 0).all()
    ranking = FairnessAudit.from_predictions(y, y / 2, groups=list("aabbabbb"), threshold=None)
    with pytest.raises(ValueError, match="rates need decisions; this audit has none"):
        ranking.rates()


def test_ratios_of_any_shares_have_ordered_limits():
    """The published formula is 0 / 0 if an upper limit is twice the share."""
    n = np.array([1.0, 10.0, 1000.0])
    one = limits_of.wilson(*np.broadcast_arrays(np.linspace(0, 1, 11)[:, None], n), 0.025)
    flat = limits_of.Limits(*(part.ravel() for part in one))
    rows = limits_of.Limits(*(part[:, None] for part in flat))
    found = limits_of.ratio(rows, flat)
    known = ~np.isnan(found.value)
    assert (found.low[known] <= found.value[known] * (1 + 1e-12)).all()
    assert (found.high[known] >= found.value[known] * (1 - 1e-12)).all()
    assert (np.isnan(found.value) == (flat.value == 0)).all()
    twice = limits_of.Limits(*map(np.array, (0.2, 0.1, 0.4)))
    near = twice._replace(high=np.array(0.4 + 1e-9))
    one = limits_of.Limits(*map(np.array, (0.3, 0.2, 0.4)))
    exact = limits_of.ratio(one, twice)
    np.testing.assert_allclose(exact.low, limits_of.ratio(one, near).low, rtol=1e-7)
    assert 0 < exact.low < 1.5


def test_weights_count_by_their_effective_number():
    rng = np.random.default_rng(1)
    y, predicted, group = decided(rng, [40, 60, 100])
    plain = audit_of(y, predicted, group).rates()
    equal = audit_of(y, predicted, group, sample_weight=np.full(y.size, 1e90)).rates()
    np.testing.assert_allclose(equal, plain, rtol=1e-9)
    weight = rng.gamma(1.0, size=y.size)
    table = audit_of(y, predicted, group, sample_weight=weight).rates()
    own = group == 1
    value = np.average(predicted[own], weights=weight[own])
    kish = weight[own].sum() ** 2 / (weight[own] ** 2).sum()
    limits = proportion_confint(kish * value, kish, method="beta")
    row = table.loc[("selection_rate", 1)]
    np.testing.assert_allclose(row[["value", "ci_low", "ci_high"]].to_list(), [value, *limits])
    # All selected rows are in one group: the rate of the others is exactly 0.
    alone = audit_of(y, (group == 0).astype(int), group, sample_weight=weight).rates()
    assert alone.loc[("selection_rate", 0), "reference_value"] == 0


def test_bootstrap_draws_rows_within_groups(monkeypatch):
    rng = np.random.default_rng(2)
    y, predicted, group = decided(rng, [200, 300, 250, 5])
    audit = audit_of(y, predicted, group)
    options = {"n_resamples": 1000, "random_state": 0}
    table = audit.rates("bootstrap", **options)
    assert table.equals(audit.rates("bootstrap", **options))
    exact = audit.rates()
    same = [name for name in table if name not in COLUMNS]
    assert table[same].equals(exact[same])
    assert (table.isna() == exact.isna()).all(axis=None)
    # This bootstrap draws rows, and the audit draws counts. Drawn rows and drawn counts have the
    # same distribution.
    drawn = []
    for _ in range(1000):
        resample = np.concatenate(
            [rng.choice(np.flatnonzero(group == g), (group == g).sum()) for g in range(3)]
        )
        own = group[resample] == 0
        selected = predicted[resample] == 1
        rate = [y[resample][of & selected].mean() for of in (own, ~own)]
        drawn.append([rate[0], rate[0] - rate[1], rate[0] / rate[1]])
    expected = np.quantile(drawn, [0.025, 0.975], axis=0).T.ravel()
    found = table.loc[("precision", 0), COLUMNS].to_numpy(float)
    np.testing.assert_allclose(found, expected, rtol=0.06, atol=0.01)
    monkeypatch.setattr(rates, "_MOST_DRAWN", 3000)  # each call has one group
    in_blocks = audit.rates("bootstrap", **options)
    np.testing.assert_allclose(in_blocks, table, rtol=0.1, atol=0.02)
    weighted = audit_of(y, predicted, group, sample_weight=rng.random(y.size))
    with pytest.raises(ValueError, match="pass method='exact', whose limits allow for weights"):
        weighted.rates("bootstrap")
    for wrong, message in (
        ({"method": "wilson"}, "method must be 'exact' or 'bootstrap'; got 'wilson'"),
        ({"n_resamples": 5}, "n_resamples must be a whole number of at least 100"),
        ({"confidence_level": 95}, "Pass 0.95 for 95 %"),
    ):
        with pytest.raises(ValueError, match=message):
            audit.rates(**wrong)


# Gaps ---------------------------------------------------------------------------------------


def limits_of_pairs(k, n, alpha, tail):
    """Limits of the largest difference and of the smallest ratio, from all pairs one by one."""
    deviates = (
        differences.deviate_of_all_pairs(alpha, len(k)),
        differences.deviate_of_furthest_pair(tail, len(k)),
    )
    found = []
    for deviate in deviates:
        of_one = 2 * limits_of._tail_of(deviate)
        limits = [
            proportion_confint(*of, alpha=of_one, method="beta") for of in zip(k, n, strict=True)
        ]
        pairs = []
        for i, j in itertools.permutations(range(len(k)), 2):
            (a, (la, ua)), (b, (lb, ub)) = ((k[g] / n[g], limits[g]) for g in (i, j))
            reach = np.hypot(a - la, ub - b), np.hypot(ua - a, b - lb)
            pairs.append(
                [a - b - reach[0], a - b + reach[1], *mover_ratio(a, limits[i], b, limits[j])]
            )
        found.append(np.array(pairs))
    together, alone = found
    return (
        (max(together[:, 0].max(), 0), min(alone[:, 1].max(), 1)),
        (alone[:, 2].min(), min(together[:, 3].min(), 1)),
    )


@pytest.mark.parametrize("seed", range(4))
def test_gaps_of_decisions_have_the_limits_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    y, predicted, group = decided(rng, rng.integers(40, 300, 2 + seed))
    audit = audit_of(y, predicted, group, min_per_class=5)
    of_group = [shares(y[group == g], predicted[group == g]) for g in range(2 + seed)]
    odds = []
    for rate, name in (
        ("selection_rate", "demographic_parity"),
        ("true_positive_rate", "true_positive_rate"),
        ("false_positive_rate", "false_positive_rate"),
    ):
        counted = np.array([of[rate] for of in of_group if of[rate][1] >= 5])
        if len(counted) < 2 or (counted[:, 0] == 0).any():
            continue
        difference, ratio = limits_of_pairs(*counted.T, 0.05, 0.025)
        found = audit.gaps.loc[f"{name}_difference", ["ci_low", "ci_high"]].to_list()
        assert found == pytest.approx(difference, abs=1e-9)
        if name == "demographic_parity":
            found = audit.gaps.loc[f"{name}_ratio", ["ci_low", "ci_high"]].to_list()
            assert found == pytest.approx(ratio, abs=1e-9)
        else:
            odds.append(limits_of_pairs(*counted.T, 0.025, 0.025))
    if len(odds) == 2:
        difference, ratio = np.max(odds, axis=0)[0], np.min(odds, axis=0)[1]
        for name, expected in (("difference", difference), ("ratio", ratio)):
            found = audit.gaps.loc[f"equalized_odds_{name}", ["ci_low", "ci_high"]].to_list()
            assert found == pytest.approx(list(expected), abs=1e-9)
    with_interval = audit.gaps[audit.gaps["ci_low"].notna()]
    assert (with_interval["ci_low"] <= with_interval["value"] + 1e-12).drop("xauc_disparity").all()
    assert (with_interval["ci_high"] >= with_interval["value"] - 1e-12).drop("tau").all()


def test_limits_of_two_groups_fail_as_rarely_as_stated():
    """The oracle adds up the probabilities of all numbers of events for which a limit fails."""
    for n_rows in ((10, 10), (10, 400), (40, 40)):
        n = np.array(n_rows, float)
        k, other = (np.arange(size + 1) for size in n_rows)
        one = limits_of.clopper_pearson(k / n[0], n[0], 0.05)
        two = limits_of.clopper_pearson(other / n[1], n[1], 0.05)
        rows = limits_of.Limits(*(part[:, None] for part in one))
        difference, ratio = limits_of.difference(rows, two), limits_of.ratio(rows, two)
        for p, q in itertools.product((0.003, 0.02, 0.1, 0.4, 0.6), (0.02, 0.1, 0.3, 0.6)):
            probability = binom.pmf(k, n[0], p)[:, None] * binom.pmf(other, n[1], q)
            for found, true in ((difference, p - q), (ratio, p / q)):
                assert probability[found.low > true + 1e-12].sum() <= 0.0501
                assert probability[found.high < true - 1e-12].sum() <= 0.0501


def test_gaps_of_very_many_groups_have_wider_limits(monkeypatch):
    rng = np.random.default_rng(0)
    n_rows = rng.integers(20, 200, 300).astype(float)
    values = rng.binomial(n_rows.astype(int), 0.3) / n_rows
    estimates = limits_of.estimates_of_shares(values, n_rows)
    arguments = estimates, n_rows.size, 0.05, 0.025
    exact = [f(*arguments) for f in (limits_of.limits_of_difference, limits_of.limits_of_ratio)]
    monkeypatch.setattr(limits_of, "MOST_GROUPS", 299)
    monkeypatch.setattr(differences, "MOST_GROUPS", 299)
    for near, function in zip(
        exact, (limits_of.limits_of_difference, limits_of.limits_of_ratio), strict=True
    ):
        far = function(*arguments)
        assert far.low <= near.low
        assert near.high <= far.high
        assert far.high - far.low < 2 * (near.high - near.low)


# Tolerances -----------------------------------------------------------------------------------


def people(n=800, shifts=(0, 0.4, 0.4)):
    return make_group_scores("different", n, n, shifts=shifts, random_state=0)


def test_tolerances_are_answered_by_their_limits():
    rows = people()
    names = {
        "difference": (0.01, 0.04, 0.2),
        "ratio": (0.99, 0.97, 0.8),
        "tau": (0.001, 0.02, 0.2),
        "demographic_parity_difference": (0.01, 0.12, 0.4),
        "demographic_parity_ratio": (0.99, 0.8, 0.3),
        "true_positive_rate_difference": (0.01, 0.1, 0.4),
        "false_positive_rate_difference": (0.01, 0.15, 0.4),
        "equalized_odds_difference": (0.01, 0.15, 0.4),
        "equalized_odds_ratio": (0.99, 0.7, 0.3),
    }
    seen = set()
    for i in range(3):
        limits = {name: values[i] for name, values in names.items()}
        audit = FairnessAudit.from_predictions(
            rows.y_true, rows.y_score, groups=rows.groups, threshold=0.5, tolerances=limits
        )
        table = audit.tolerances
        assert table["limit"].to_dict() == limits
        assert (table["value"] == audit.gaps.loc[table.index, "value"]).all()
        for name, row in table.iterrows():
            is_least = name.endswith("ratio")
            inside, outside = row["ci_high"] < row["limit"], row["ci_low"] > row["limit"]
            inside, outside = (outside, inside) if is_least else (inside, outside)
            answer = {(True, False): "met", (False, True): "not met"}.get((inside, outside))
            assert row["answer"] == (answer or "undecided")
            seen.add((name in ("difference", "ratio", "tau"), row["answer"]))
            # On the side of no gap, the limit equals the limit of `gaps`. The other limit is nearer
            # to the value.
            gap = audit.gaps.loc[name]
            far, near = ("ci_low", "ci_high") if is_least else ("ci_high", "ci_low")
            if name == "tau":
                assert row["ci_low"] == gap["ci_low"]
                assert row["ci_high"] == gap["ci_high"]
            else:
                assert row[near] == pytest.approx(gap[near], abs=1e-12)
                assert abs(row[far] - row["value"]) < abs(gap[far] - row["value"])
        equivalence = audit.compared.test_margin(limits["difference"])
        row = table.loc["difference"]
        assert row["ci_high"] == equivalence.limit
        assert (row["answer"] == "met") == equivalence.is_shown
        assert row["ci_low"] == audit.gaps.loc["difference", "ci_low"]
        said = [text for text in audit.findings if text.startswith("Tolerance ")]
        assert [text.partition(":")[0] for text in said] == [
            f"Tolerance {answer}" for answer in table["answer"]
        ]
    assert {answer for _, answer in seen} == {"met", "not met", "undecided"}


def test_a_tolerance_of_xauc_disparities_limits_all_of_them():
    rows = people(300, shifts=(0, 0.25, 0.5, 0.55))
    for limit, answer in ((0.02, "not met"), (0.2, "undecided"), (0.5, "met")):
        audit = FairnessAudit.from_predictions(
            rows.y_true, rows.y_score, groups=rows.groups, threshold=None,
            tolerances={"xauc_disparity": limit},
        )  # fmt: skip
        row = audit.tolerances.loc["xauc_disparity"]
        disparity = audit.by_group["xauc_disparity"].to_numpy()
        # The standard error follows from the p value of each group.
        error = np.abs(disparity) / norm.isf(audit.by_group["xauc_pvalue"].to_numpy() / 2)
        assert row["value"] == np.abs(disparity).max()
        least = (np.abs(disparity) - norm.isf(0.05 / 2 / disparity.size) * error).max()
        assert row["ci_low"] == pytest.approx(least, rel=1e-6)
        most = (np.abs(disparity) + norm.isf(0.05) * error).max()
        assert row["ci_high"] == pytest.approx(most, rel=1e-6)
        assert row["answer"] == answer
        required = f"the largest xAUC disparity has to be at most {limit:g}, and is "
        assert f"Tolerance {answer}: {required}{row['value']:.3f}" in " ".join(audit.findings)
    # Bins widen the limits. A group without a standard error can have any disparity.
    binned = GroupAUC(
        ScoreCounts.from_predictions(
            rows.y_true, rows.y_score, groups=rows.groups, disclosure=Bins.of_scores()
        )
    )
    coarse = FairnessAudit(binned, threshold=None, tolerances={"xauc_disparity": 0.5})
    coarse = coarse.tolerances.loc["xauc_disparity"]
    assert coarse["ci_low"] <= row["ci_low"]
    assert coarse["ci_high"] > row["ci_high"]
    few = FairnessAudit.from_predictions(
        [0, 1, 0, 0, 1, 1], [0.1, 0.5, 0.3, 0.2, 0.6, 0.9], groups=list("aabbbb"),
        threshold=None, min_per_class=1, tolerances={"xauc_disparity": 0.5},
    )  # fmt: skip
    assert few.tolerances.loc["xauc_disparity", ["ci_low", "ci_high"]].tolist() == [0, 1]


def test_tolerances_belong_to_all_audits_of_the_rows():
    rng = np.random.default_rng(0)
    y, predicted, _ = decided(rng, [300])
    columns = rng.integers(0, 2, (300, 2))
    limits = {"difference": 0.2, "demographic_parity_ratio": 0.8}
    audit = FairnessAudit.from_predictions(
        y, rng.random(300), groups=columns, y_pred=predicted, tolerances=limits
    )
    alone = audit.of("column 1")
    for other in (alone, *FairnessAudit.adjusted_together([audit, alone])):
        assert other.tolerances["limit"].to_dict() == limits
    counts = audit.report.counts
    merged = FairnessAudit(
        GroupAUC(counts, undefined="ignore"), decisions=audit.decisions, tolerances=limits
    )
    assert merged.tolerances.equals(audit.tolerances)
    assert FairnessAudit(GroupAUC(counts, undefined="ignore"), threshold=None).tolerances.empty
    small = audit_of(y[:30], predicted[:30], np.arange(30) % 3, tolerances=limits)
    assert small.tolerances.loc["difference"].drop(["limit", "answer"]).isna().all()
    assert small.tolerances["answer"].tolist() == ["undecided", "undecided"]
    assert "Tolerance undecided: the AUC difference has to be at most 0.2, and is undefined." in (
        small.findings
    )


@pytest.mark.parametrize(
    ("tolerances", "error", "message"),
    [
        (0.8, TypeError, "must be a dict of names of gaps and limits.*got float 0.8"),
        ({"demographic_parity": 0.8}, ValueError, "did you mean 'demographic_parity_ratio'"),
        ({"abroca": 0.1}, ValueError, "'abroca', and this gap has no interval"),
        ({"difference": 5}, ValueError, r"tolerances\['difference'\].*Pass 0.05 for 5 %"),
        ({"ratio": True}, ValueError, r"tolerances\['ratio'\] must be a number between 0 and 1"),
        ({"ratio": 0.9, "equalized_odds_ratio": 0.8}, ValueError, "and this audit has none: pass"),
    ],
)
def test_tolerances_that_have_no_answer(tolerances, error, message):
    counts = ScoreCounts.from_predictions(
        [0, 1] * 20, [0.1, 0.7, 0.4, 0.3] * 10, groups=[1, 1, 2, 2] * 10
    )
    with pytest.raises(error, match=message):
        FairnessAudit(GroupAUC(counts), threshold=None, tolerances=tolerances)
