"""Shortcuts of the simulations of the calibration page give the results of the public functions."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from benchmarks.calibration import search
from benchmarks.calibration.measures import MEASURES, limits_of_statistic, true_measures
from benchmarks.calibration.simulation import draw_rows, groups, interval_of, report
from skfedauc import GroupAUC
from skfedauc.inference.intervals import group_limits


def test_limits_of_statistics_are_those_of_the_tables():
    found = report(
        np.random.default_rng(0), groups(4, [5, 20, 30, 40], 60, 0.8, shift=[0, 1, 2, 3])
    )
    for over in ("rows", "groups"):
        table = found.confidence_intervals(of="statistics", over=over)
        for name in ("pooled", "macro", "samples", "within"):
            interval = interval_of(found, name, over)
            assert (interval.low, interval.high) == tuple(table.loc[name, ["ci_low", "ci_high"]])
        for measure in MEASURES[:4]:
            measured = GroupAUC(found._estimates.pairs, measure=measure)
            table = measured.confidence_intervals(of="statistics", over=over)
            for name in ("pooled", "macro"):
                expected = table.loc[name, ["ci_low", "ci_high"]].to_list()
                limits = limits_of_statistic(measured, name, over)
                assert limits == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("k", [2, 5])
def test_a_tiny_group_beside_a_larger_one_does_not_decide_the_test_of_equal_groups(k):
    data = search.draw(np.random.default_rng(0), 200, k, 20, 0.9, "ratio 2", 0.0, "small")
    assert search.equality(data)["`test_equal_groups`"].mean() < 0.06


def test_a_run_is_cut_from_variances_that_number_equal_groups():
    variances = report(np.random.default_rng(0), groups(4, 20, 60, 0.8))._estimates.variances
    assert variances.alike.size == 4  # cached, and no field
    np.testing.assert_array_equal(search.run_of(variances, slice(1, 3)).auc, variances.auc[1:3])


@pytest.mark.parametrize(("shape", "step"), [("ratio 3", 0.1), ("two values, rate 0.01", 0.0)])
def test_errors_of_runs_together_are_those_of_single_reports(shape, step):
    n_runs, k = 40, 3
    data = search.draw(np.random.default_rng(0), n_runs, k, 5, 0.9, shape, step, "")
    found, y, scores = search.of_all_runs(data), data.rows["y_true"], data.both[0]
    true = {"worst": data.auc.min(), "difference": np.ptp(data.auc)}
    true |= {name: c @ data.auc for name, c in search.shares_of(data).items()}
    apart = [data.auc[i] - data.auc[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    from_first = data.auc[1:] - data.auc[0]
    expected = {key: [] for key, values in found.items() if not np.isnan(values).any()}
    for run in range(n_runs):
        own = data.rows["groups"] // k == run
        report = GroupAUC.from_predictions(y[own], scores[own], groups=data.rows["groups"][own])
        table, each = report.confidence_intervals(of="statistics"), report.confidence_intervals()
        pairs, one = report.compare_groups(), report.compare_groups([k * run])
        shown = [
            GroupAUC.from_predictions(y[of], scores[of], groups=data.rows["groups"][of])
            .test_margin(0.0, reference=data.auc[g])
            .is_shown
            for g in range(k)
            for of in [data.rows["groups"] == k * run + g]
        ]

        def missed(table, true, prefix="ci"):
            return search.missed(table[f"{prefix}_low"], table[f"{prefix}_high"], true)

        of_run = {f"`{name}`": missed(table.loc[name], truth) for name, truth in true.items()}
        of_run |= {
            "AUC of a group": missed(each, data.auc).mean(),
            "`compare_groups`, one pair": missed(pairs, apart).mean(),
            "`compare_groups`, all pairs": missed(pairs, apart, "simultaneous").max(),
            "`compare_groups`, a reference": missed(one, from_first, "simultaneous").max(),
            "`test_margin`, worst group": np.mean(shown),
            "`test_margin`, equivalence": bool(step) and report.test_margin(2 * step).is_shown,
            "`test_difference`": report.test_difference().pvalue < 0.05,
            "`test_equal_groups`": report.test_equal_groups().pvalue < 0.05,
        }
        for key, of_key in expected.items():
            of_key.append(of_run[key])
    assert len(expected) > 11
    for key, of_key in expected.items():
        np.testing.assert_array_equal(found[key], of_key, err_msg=key)
    assert sum(any(of_key) for of_key in expected.values()) > 4


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
