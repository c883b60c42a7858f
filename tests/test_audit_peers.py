"""Figures of an audit compared with fairlearn, aequitas and AIF360."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn
from sklearn.metrics import accuracy_score, precision_score

from skfedauc import FairnessAudit

# Rows by group, label and decision
COUNTS = {"a": [[30, 10], [8, 32]], "b": [[25, 5], [12, 28]], "c": [[10, 15], [6, 44]]}
# Values of the groups a, b and c, printed by benchmarks/aequitas_aif360.py for these rows and the
# reference a: aequitas 1.1.0 and AIF360 0.6.1 agree on all rates.
RATES = {
    "selection_rate": (0.525, 0.471428571429, 0.786666666667),
    "true_positive_rate": (0.8, 0.7, 0.88),
    "false_positive_rate": (0.25, 0.166666666667, 0.6),
    "precision": (0.761904761905, 0.848484848485, 0.745762711864),
    "false_discovery_rate": (0.238095238095, 0.151515151515, 0.254237288136),
    "false_omission_rate": (0.210526315789, 0.324324324324, 0.375),
    "accuracy": (0.775, 0.757142857143, 0.72),
    "prevalence": (0.5, 0.571428571429, 0.666666666667),
}
# aequitas 1.1.0: disparities of b and c, which are ratios to a. AIF360's disparate_impact is the
# first line, and its ratios of error rates are those of the false positive, discovery and omission
# rate.
RATIOS = {
    "selection_rate": (0.897959183673, 1.498412698413),
    "true_positive_rate": (0.875, 1.1),
    "false_positive_rate": (0.666666666667, 2.4),
    "precision": (1.113636363636, 0.978813559322),
    "false_discovery_rate": (0.636363636364, 1.067796610169),
    "false_omission_rate": (1.540540540541, 1.78125),
}
# AIF360 0.6.1: differences of b and c, the unprivileged groups, from a, the privileged group
DIFFERENCES = {
    "selection_rate": (-0.053571428571, 0.261666666667),  # statistical_parity_difference
    "true_positive_rate": (-0.1, 0.08),  # equal_opportunity_difference
    "false_positive_rate": (-0.083333333333, 0.35),
    "false_discovery_rate": (-0.08658008658, 0.01614205004),
    "false_omission_rate": (0.113798008535, 0.164473684211),
    "accuracy": (-0.017857142857, -0.055),  # error_rate_difference has the opposite sign.
}
AVERAGE_ODDS_DIFFERENCE = (-0.091666666667, 0.215)
# AIF360 0.6.1: comparisons of a, b and c with the other groups as the privileged groups
DIFFERENCES_TO_THE_REST = {
    "selection_rate": (-0.109482758621, -0.180184331797, 0.286666666667),
    "true_positive_rate": (0.0, -0.144444444444, 0.13),
    "false_positive_rate": (-0.113636363636, -0.217948717949, 0.385714285714),
    "false_discovery_rate": (0.020703933747, -0.09600960096, 0.054237288136),
    "false_omission_rate": (-0.12909632572, 0.065065065065, 0.108333333333),
    "accuracy": (0.037068965517, 0.008755760369, -0.046666666667),
}
RATIOS_TO_THE_REST = {
    "selection_rate": (0.827445652174, 0.723479490806, 1.573333333333),
    "false_positive_rate": (0.6875, 0.433333333333, 2.8),
    "false_discovery_rate": (1.095238095238, 0.612121212121, 1.271186440678),
    "false_omission_rate": (0.619883040936, 1.250965250965, 1.40625),
}
# Rounding of the values above
ROUNDING = {"rtol": 0, "atol": 1e-12}


def rows_of(counts):
    cells = [
        (label, decision, group, n)
        for group, table in counts.items()
        for label, row in enumerate(table)
        for decision, n in enumerate(row)
    ]
    *columns, n = zip(*cells, strict=True)
    return [np.repeat(column, n) for column in columns]


def audit(label, decision, group, **options):
    scores = np.where(decision, 0.75, 0.25)
    return FairnessAudit.from_predictions(
        label, scores, groups=group, threshold=0.5, min_per_class=1, **options
    )


def audit_of(reference):
    label, decision, group = rows_of(COUNTS)
    return audit(label, decision, group, reference=reference)


def test_rates_and_comparisons_are_those_of_aequitas_and_aif360():
    rates, rest = audit_of(["a"]).rates(), audit_of("rest").rates()
    assert set(RATES) == set(rates.index.unique("rate"))
    for name, expected in RATES.items():
        np.testing.assert_allclose(rates.loc[name, "value"], expected, **ROUNDING)
    for table, column, values in (
        (rates, "ratio", RATIOS),
        (rates, "difference", DIFFERENCES),
        (rest, "ratio", RATIOS_TO_THE_REST),
        (rest, "difference", DIFFERENCES_TO_THE_REST),
    ):
        for name, expected in values.items():
            np.testing.assert_allclose(
                table.loc[name, column].dropna(), expected, **ROUNDING, err_msg=f"{name} {column}"
            )
    odds = rates["difference"].unstack("rate")[["true_positive_rate", "false_positive_rate"]]
    np.testing.assert_allclose(odds.mean(axis=1).dropna(), AVERAGE_ODDS_DIFFERENCE, **ROUNDING)


def test_gaps_are_those_of_fairlearn():
    label, decision, group = rows_of(COUNTS)
    gaps = audit_of("rest").gaps["value"]
    for ours, theirs in {
        "demographic_parity_difference": fairlearn.demographic_parity_difference,
        "demographic_parity_ratio": fairlearn.demographic_parity_ratio,
        "equalized_odds_difference": fairlearn.equalized_odds_difference,
        "equalized_odds_ratio": fairlearn.equalized_odds_ratio,
        "true_positive_rate_difference": fairlearn.equal_opportunity_difference,
        "false_positive_rate_difference": fairlearn.false_positive_rate_difference,
    }.items():
        assert gaps[ours] == pytest.approx(theirs(label, decision, sensitive_features=group))


@pytest.mark.parametrize("weighted", [False, True])
def test_rates_are_those_of_fairlearn(weighted):
    rng = np.random.default_rng(0)
    label, decision = rng.integers(0, 2, (2, 300))
    group = rng.permutation(np.repeat([*"abcde"], 60))
    weight = rng.exponential(size=300) * (rng.random(300) < 0.9) if weighted else None
    metrics = {
        "selection_rate": fairlearn.selection_rate,
        "true_positive_rate": fairlearn.true_positive_rate,
        "false_positive_rate": fairlearn.false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    frame = fairlearn.MetricFrame(
        metrics=metrics,
        y_true=label,
        y_pred=decision,
        sensitive_features=group,
        sample_params={name: {"sample_weight": weight} for name in metrics},
    )
    rates = audit(label, decision, group, sample_weight=weight).rates()["value"]
    pd.testing.assert_frame_equal(
        rates.unstack("rate")[list(metrics)], frame.by_group, check_names=False
    )
    np.testing.assert_allclose(rates["precision"] + rates["false_discovery_rate"], 1.0)
