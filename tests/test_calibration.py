"""Calibration of scores by group, compared with statsmodels and scikit-learn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.proportion import proportion_confint

from skfedauc import DisclosureError, FairnessAudit, GroupAUC, ScoreCounts, cross_validate_group_auc
from skfedauc.inference import calibration as calibrating
from skfedauc.plotting import ReliabilityDisplay


def rows_of(n=1200, seed=0, digits=3, shift=-0.5, slope=0.7, bias=0.3):
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(size=n) * 1.3 + shift).round(digits).clip(10.0**-digits, 1 - 10.0**-digits)
    y = (rng.random(n) < expit(bias + slope * logit(p))).astype(int)
    return y, p, rng.choice(["b", "a", "c"], n, p=[0.5, 0.4, 0.1])


def table_of(y, p, groups, weights=None):
    counts = ScoreCounts.from_predictions(y, p, groups=groups, sample_weight=weights)
    index = pd.Index(counts.groups, name="group")
    means, slopes = (
        pd.DataFrame(of(counts.cells, 0.95)._asdict(), index)
        for of in (calibrating.mean_scores, calibrating.slopes)
    )
    return means.join(slopes.add_prefix("slope_"))


@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_and_limits_are_those_of_statsmodels(weighted):
    y, p, groups = rows_of()
    weights = np.random.default_rng(1).gamma(2.0, size=y.size) * 1e-80 if weighted else None
    table = table_of(y, p, groups, weights)
    assert table.index.tolist() == ["a", "b", "c"]
    for label in table.index:
        found = table.loc[label]
        own = groups == label
        w = np.ones(own.sum()) if weights is None else weights[own] / weights.mean()
        x, family = logit(p[own]), sm.families.Binomial()
        columns = sm.add_constant(x)
        fit = sm.GLM(y[own], columns, family=family, var_weights=w).fit(tol=1e-12)
        # The variance of the weighted score function, if the model is correct
        mean = fit.fittedvalues
        bread = np.linalg.inv((columns.T * (w * mean * (1 - mean))) @ columns)
        error = np.sqrt(bread @ (columns.T * (w**2 * mean * (1 - mean))) @ columns @ bread)
        if weights is None:
            assert error[-1, -1] == pytest.approx(fit.bse[-1], rel=1e-6)
        low, high = fit.params[-1] + norm.ppf([0.025, 0.975]) * error[-1, -1]
        expected = [fit.params[-1], low, high]
        names = ["slope_estimate", "slope_low", "slope_high"]
        np.testing.assert_allclose(found[names].astype(float), expected, rtol=1e-7)
        assert found["mean"] == pytest.approx(np.average(p[own], weights=w))
        assert found["prevalence"] == pytest.approx(np.average(y[own], weights=w))
        n = w.sum() ** 2 / (w**2).sum()
        limits = proportion_confint(found["prevalence"] * n, n, method="wilson")
        expected = found["mean"] - np.array(limits)[::-1]
        np.testing.assert_allclose(found[["low", "high"]].astype(float), expected, rtol=1e-9)


def test_bins_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    p = rng.permutation((np.arange(1, 601) - 0.5) / 600) ** 2
    y = (rng.random(600) < p**1.2).astype(int)
    groups = np.repeat(["a", "b"], [200, 400])
    cells = ScoreCounts.from_predictions(y, p, groups=groups).cells
    bins = calibrating.equal_count_bins(cells, 10)
    for g, label in enumerate("ab"):
        own = groups == label
        share, mean = calibration_curve(y[own], p[own], n_bins=10, strategy="quantile")
        np.testing.assert_allclose(bins.share[bins.groups == g], share)
        np.testing.assert_allclose(bins.mean[bins.groups == g], mean)
    # Equal weights change nothing, and no bin divides equal scores.
    table, same = table_of(y, p, groups), table_of(y, p, groups, np.full(600, 0.3))
    pd.testing.assert_frame_equal(same, table, rtol=1e-6)
    tied = calibrating.equal_count_bins(ScoreCounts.from_predictions(y, p.round(1)).cells, 10)
    assert np.unique(p.round(1)).size == 11
    assert (np.diff(tied.mean) > 0).all()


@pytest.mark.filterwarnings("ignore:y_score holds only 0 and 1")
def test_undefined_numbers_are_nan_with_a_reason():
    parts = {
        "one class": ([0] * 12, np.linspace(0.1, 0.6, 12)),
        "separated classes": ([0] * 6 + [1] * 6, np.linspace(0.1, 0.6, 12)),
        "scores of 0 or 1": ([0, 1] * 6, [0.0, *np.linspace(0.1, 0.6, 11)]),
        "one score": ([0, 1] * 6, [0.4] * 12),
        "": ([0, 1] * 6, np.linspace(0.1, 0.6, 12)),
    }
    y, p = (np.concatenate([part[i] for part in parts.values()]) for i in (0, 1))
    groups = np.repeat(list("abcde"), 12)
    y, p, groups = np.append(y, 1), np.append(p, 0.3), np.append(groups, "f")
    table = table_of(y, p, groups)
    assert table["slope_note"].tolist() == [*parts, "one class"]
    assert (
        table.loc[[*"abcdf"], ["slope_estimate", "slope_low", "slope_high"]].isna().all(axis=None)
    )
    assert table[["mean", "low", "high"]].notna().all(axis=None)
    # The result of a group does not depend on other groups.
    own = table_of(y[:12], p[:12], groups[:12])
    pd.testing.assert_series_equal(own.loc["a"], table.loc["a", own.columns])
    # Scores of 0 alone: a positive refutes perfect calibration, and negatives do not.
    for labels, is_refuted in (([0, 0, 0], False), ([0, 1, 0], True)):
        cells = ScoreCounts.from_predictions(labels, [0.0] * 3, pos_label=1).cells
        assert (calibrating.mean_scores(cells, 0.95).high < 0).tolist() == [is_refuted]


def test_only_probabilities_have_reliability_curves():
    y, p, groups = rows_of(300)
    with pytest.raises(ValueError, match="needs scores that are probabilities"):
        ReliabilityDisplay.from_predictions(y, logit(p), groups=groups)
    binned = GroupAUC(ScoreCounts.from_predictions(y, p, groups=groups, disclosure="bins"))
    with pytest.raises(DisclosureError, match="from_report needs disclosure='exact'"):
        ReliabilityDisplay.from_report(binned)
    with pytest.raises(TypeError, match="report must be a GroupAUC; got FairnessAudit"):
        ReliabilityDisplay.from_report(FairnessAudit.from_predictions(y, p, groups=groups))
    X = pd.DataFrame({"x": logit(p), "site": groups})
    model = LogisticRegression()
    folds = cross_validate_group_auc(
        model, X[["x"]], y, groups=groups, cv=3, response_method="predict_proba"
    )
    with pytest.raises(ValueError, match="within folds only"):
        ReliabilityDisplay.from_report(folds.within_folds)
    model.fit(X[["x"]], y)
    display = ReliabilityDisplay.from_estimator(model, X[["x"]], y, groups=groups)
    assert np.abs(display.deviation).max() < 5
    plt.close("all")
    whole = GroupAUC(ScoreCounts.from_predictions(y, p))
    display = ReliabilityDisplay.from_report(whole)
    assert [*display.groups] == ["all"]
    empty = GroupAUC(ScoreCounts.from_counts([], [], [], []))
    with pytest.raises(ValueError, match="needs at least one group"):
        ReliabilityDisplay.from_report(empty)
    plt.close("all")
