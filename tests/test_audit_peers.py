"""Figures of an audit compared with fairlearn, aequitas and AIF360."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn

from skfedauc import FairnessAudit

# Rows by group, label and decision
COUNTS = {"a": [[30, 10], [8, 32]], "b": [[25, 5], [12, 28]], "c": [[10, 15], [6, 44]]}
# Values of the groups a, b and c by aequitas 1.1.0 and AIF360 0.6.1, which agree on all rates.
RATES = {
    "selection_rate": (0.525, 0.471428571429, 0.786666666667),
    "true_positive_rate": (0.8, 0.7, 0.88),
    "false_positive_rate": (0.25, 0.166666666667, 0.6),
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


def test_rates_are_those_of_aequitas_and_aif360():
    table = audit(*rows_of(COUNTS)).by_group()
    for name, expected in RATES.items():
        np.testing.assert_allclose(table[name], expected, **ROUNDING)


def test_gaps_are_those_of_fairlearn():
    label, decision, group = rows_of(COUNTS)
    tolerances = {"demographic_parity_ratio": 0.8, "equalized_odds_difference": 0.1}
    gaps = audit(label, decision, group, tolerances=tolerances).gaps.loc["group"]["estimate"]
    for ours, theirs in {
        "demographic_parity_difference": fairlearn.demographic_parity_difference,
        "demographic_parity_ratio": fairlearn.demographic_parity_ratio,
        "equalized_odds_difference": fairlearn.equalized_odds_difference,
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
    }
    frame = fairlearn.MetricFrame(
        metrics=metrics,
        y_true=label,
        y_pred=decision,
        sensitive_features=group,
        sample_params={name: {"sample_weight": weight} for name in metrics},
    )
    found = audit(label, decision, group, sample_weight=weight)
    rates = found.by_group()[list(metrics)]
    pd.testing.assert_frame_equal(rates, frame.by_group, check_names=False)
    pd.testing.assert_frame_equal(
        found.metric_frame.by_group[list(metrics)], frame.by_group, check_names=False
    )
