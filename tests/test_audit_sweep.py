"""Rates and gaps at many thresholds, compared with fairlearn and with the audit's own gaps."""

import itertools

import numpy as np
import pandas as pd
import pytest
from audits import audit_of, rows_of
from fairlearn import metrics as fairlearn
from oracles import random_case
from rules import without_small

from skfedauc import Bins, DisclosureError, FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.counts.score_counts import view_of

KINDS = itertools.product(("demographic_parity", "equalized_odds"), ("difference", "ratio"))
GAPS = [f"{gap}_{of}" for gap, of in KINDS]


@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_at_every_threshold_are_fairlearns(weighted):
    y, score, groups, weights = rows = rows_of(0, 400, digits=1, weighted=weighted)
    audit = audit_of(*rows, min_per_class=1)
    sweep = audit.sweep()
    assert sweep.threshold == 0.5
    np.testing.assert_array_equal(sweep.thresholds, np.unique(score))
    for threshold, name in itertools.product(sweep.thresholds, GAPS):
        expected = getattr(fairlearn, name)(
            y, score >= threshold, sensitive_features=groups, sample_weight=weights
        )
        found = sweep.gaps.loc[threshold, name]
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    # The operating point has the gaps of the audit.
    at = sweep.gaps.loc[0.5]
    for name in GAPS:
        if name in audit.answers["group"]:
            assert at[name] == pytest.approx(audit.answers["group"][name].estimate, rel=1e-12)


@pytest.mark.parametrize("thresholds", [10**400, [10**400], [np.nan], ["a"], []])
def test_thresholds_are_finite_numbers(thresholds):
    with pytest.raises(ValueError, match="thresholds must be None or a list of finite numbers"):
        audit_of(*rows_of(0, 100), min_per_class=1).sweep(thresholds)


def test_random_cases_with_ties_weights_and_groups_of_one_class():
    rng = np.random.default_rng(1)
    for _ in range(25):
        case = random_case(rng)
        audit = FairnessAudit.from_predictions(**case.arguments, threshold=None, min_per_class=2)
        thresholds = rng.choice(case.scores, 3)
        sweep = audit.sweep(thresholds)
        assert sweep.threshold is None
        np.testing.assert_array_equal(sweep.thresholds, np.unique(thresholds))
        weights = np.ones(case.y.size) if case.weights is None else case.weights
        labels = pd.Series(case.groups, dtype=object)
        for threshold in sweep.thresholds:
            rates, enough = {}, {}
            for label in audit.report.counts.groups:
                own = (labels == label).to_numpy() & (weights > 0)
                y, chosen, w = case.y[own] == 1, case.scores[own] >= threshold, weights[own]
                for name, among, event in (
                    ("selection_rate", y | ~y, chosen),
                    ("true_positive_rate", y, chosen),
                    ("false_positive_rate", ~y, chosen),
                    ("precision", chosen, y),
                    ("accuracy", y | ~y, chosen == y),
                ):
                    value = np.average(event[among], weights=w[among]) if among.any() else np.nan
                    rates.setdefault(name, []).append(value)
                    enough.setdefault(name, []).append(among.sum() >= 2)
            found = sweep.rates.loc[[threshold]]
            expected = pd.DataFrame(rates)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
            gaps = sweep.gaps.loc[threshold]
            for name in ("true_positive_rate", "precision", "accuracy"):
                compared = expected[name][enough[name]]
                gap = np.ptp(compared) if compared.size > 1 else np.nan
                assert gaps[f"{name}_difference"] == pytest.approx(gap, abs=1e-12, nan_ok=True)


def test_many_scores_have_quantiles_as_thresholds():
    rng = np.random.default_rng(3)
    score, y = rng.random(5000) ** 3, rng.integers(0, 2, 5000)
    audit = FairnessAudit.from_predictions(
        y, score, groups=pd.DataFrame({"a": y * 0 + np.arange(5000) % 2, "b": score > 0.2})
    )
    sweep = audit.sweep()
    assert repr(sweep) == "ThresholdSweep(201 thresholds, 4 groups)"
    assert 0.5 in sweep.gaps.index
    assert {score.min(), score.max()} < set(sweep.gaps.index)
    shares = (score >= sweep.thresholds[:, None]).mean(axis=1)
    assert -np.diff(shares).min() < 0.006
    assert sweep.rates.index.names == ["threshold", "a", "b"]
    assert len(sweep.rates) == 4 * 201


def test_binned_scores_have_edges_as_thresholds():
    y, _, groups, _ = rows_of(4, 400)
    score = np.random.default_rng(4).random(y.size).round(3)
    bins = Bins.of_probabilities(10)
    counts = ScoreCounts.from_predictions(y, score, groups=groups, disclosure=bins)
    audit = FairnessAudit(GroupAUC(counts))
    exact = FairnessAudit.from_predictions(y, score, groups=groups)
    sweep = audit.sweep()
    assert 10 < len(sweep.gaps) < np.unique(score).size
    pd.testing.assert_frame_equal(sweep.rates, exact.sweep(sweep.thresholds).rates)
    low, high = view_of(counts).ranges
    with pytest.raises(DisclosureError, match=r"are unknown: it is within a bin of scores"):
        audit.sweep([low.min(), (low + high)[np.argmax(high - low)] / 2])
    fewer = FairnessAudit(GroupAUC(without_small(counts, min_count=20)), threshold=None).sweep()
    assert len(fewer.gaps) >= 1
    pd.testing.assert_frame_equal(fewer.rates, exact.sweep(fewer.thresholds).rates)
