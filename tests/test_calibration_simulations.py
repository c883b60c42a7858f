"""Shortcuts of the simulations of the calibration page give the results of the public functions."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from benchmarks.calibration.measures import MEASURES, limits_of_statistic, true_measures
from benchmarks.calibration.simulation import draw_rows, groups, interval_of, report
from skfedauc import GroupAUC
from skfedauc.inference.limits import group_limits


def test_interval_is_that_of_the_table():
    found = report(
        np.random.default_rng(0), groups(4, [5, 20, 30, 40], 60, 0.8, shift=[0, 1, 2, 3])
    )
    for over in ("rows", "groups"):
        table = found.confidence_intervals(of="statistics", over=over)
        for name in ("pooled", "macro", "samples", "within"):
            interval = interval_of(found, name, over)
            assert (interval.low, interval.high) == tuple(table.loc[name, ["ci_low", "ci_high"]])


def test_limits_of_a_measure_are_those_of_the_table():
    found = report(np.random.default_rng(0), groups(4, [5, 20, 30, 40], 60, 0.8))
    for measure in MEASURES[:4]:
        estimates = found._estimates
        measured = GroupAUC(estimates.pairs, measure=measure)
        for over in ("rows", "groups"):
            table = measured.confidence_intervals(of="statistics", over=over)
            for name in ("pooled", "macro"):
                limits = limits_of_statistic(measured, name, over)
                expected = table.loc[name, ["ci_low", "ci_high"]].to_list()
                assert limits == pytest.approx(expected, nan_ok=True)


def test_runs_as_groups_have_the_limits_of_single_runs():
    rows = draw_rows(np.random.default_rng(0), groups(20, 8, 50, 0.8, 3.0))
    together = GroupAUC.from_predictions(
        rows.y, rows.scores, groups=rows.groups
    )._estimates.variances
    bound = 0.7
    for g in range(20):
        own = rows.groups == g
        one = GroupAUC.from_predictions(rows.y[own], rows.scores[own], groups=rows.groups[own])
        for method in ("logit", "exact"):
            low, high, _ = group_limits(together, 0.025, method)
            table = one.confidence_intervals(method=method)
            assert low[g] == pytest.approx(table["ci_low"].iloc[0], abs=1e-9)
            assert high[g] == pytest.approx(table["ci_high"].iloc[0], abs=1e-9)
        one_sided, _, _ = group_limits(together, 0.05, "logit")
        assert (one_sided[g] > bound) == one.test_margin(0.0, reference=bound).is_shown


@pytest.mark.parametrize("whole", [False, True])
def test_true_measures_are_those_of_many_rows_in_scikit_learn(whole):
    of = groups(3, [20, 20, 40], [80, 100, 50], [0.6, 0.8, 0.95], ratio=[1.0, 2.0, 0.5])
    many = of._replace(n_positives=of.n_positives * 2_000, n_negatives=of.n_negatives * 2_000)
    rows = draw_rows(np.random.default_rng(0), many)
    scores = rows.scores.round() if whole else rows.scores
    fpr, tpr, _ = roc_curve(rows.y, scores, drop_intermediate=False)
    expected = [
        roc_auc_score(rows.y, scores, max_fpr=0.1),
        np.interp(0.1, fpr, tpr),
        1.0 - np.interp(0.9, tpr, fpr),
        average_precision_score(rows.y, scores),
        roc_auc_score(~rows.y, -scores, max_fpr=0.1),
        np.interp(0.05, fpr, tpr),
        1.0 - np.interp(0.95, tpr, fpr),
    ]
    assert len(expected) == len(MEASURES)
    assert true_measures(of, whole) == pytest.approx(expected, abs=0.006)
