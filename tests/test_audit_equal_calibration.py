"""Test of equal calibration of groups, compared with statsmodels and simulations."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import chi2

from skfedauc import DisclosureError, FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.inference import equal_calibration
from skfedauc.inference.equal_calibration import test_equal_calibration as equality_of


def rows_of(sizes, seed=0, shift=0.0, center=-0.5, curve=lambda x: x, digits=None):
    """Return labels, scores and groups with the same calibration curve."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x = center + 1.2 * rng.normal(size=groups.size)
    x += shift * np.linspace(-1.0, 1.0, len(sizes))[groups]
    p = expit(x) if digits is None else expit(x).round(digits)
    y = (rng.random(p.size) < expit(curve(logit(p.clip(1e-3, 1 - 1e-3))))).astype(int)
    return y, p, groups


def natural_spline(x, knots):
    """Return the columns of a restricted cubic spline, with the truncated powers of Harrell."""
    cube = [np.maximum(x - knot, 0) ** 3 for knot in knots]
    before, last = knots[-2:]
    bends = [
        cube[j]
        - cube[-2] * (last - knot) / (last - before)
        + cube[-1] * (before - knot) / (last - before)
        for j, knot in enumerate(knots[:-2])
    ]
    return np.column_stack([np.ones_like(x), x, *bends])


@pytest.mark.parametrize(("sizes", "quantiles"), [
    ([900, 400], (0.05, 0.275, 0.5, 0.725, 0.95)),
    ([300, 500, 120, 80], (0.05, 0.275, 0.5, 0.725, 0.95)),
    ([60, 48], (0.1, 0.5, 0.9)),
])  # fmt: skip
def test_the_statistic_is_the_score_test_of_statsmodels(sizes, quantiles):
    y, p, groups = rows_of(sizes, shift=0.3, curve=lambda x: 0.3 + 0.6 * x)
    x = logit(p)
    n = p.size
    knots = np.sort(x)[np.ceil(np.array(quantiles) * n - 0.5).astype(int)]
    common = natural_spline(x, knots)
    own = [f for g in range(1, len(sizes)) for f in (groups == g, (groups == g) * x)]
    model = sm.GLM(y, common, family=sm.families.Binomial())
    null = model.fit(tol=1e-13)
    extra = np.column_stack(own)
    statistic, _, n_free = model.score_test(null.params, exog_extra=extra)
    found = FairnessAudit.from_predictions(y, p, groups=groups).equal_calibration
    assert found["degrees_of_freedom"] == n_free == 2 * (len(sizes) - 1)
    assert found["statistic"] == pytest.approx(np.ravel(statistic)[0], rel=1e-4, abs=1e-3)
    assert found["pvalue"] == pytest.approx(chi2.sf(found["statistic"], n_free), rel=1e-9)
    # The likelihood-ratio test of the same terms
    full = sm.GLM(y, np.column_stack([common, extra]), family=sm.families.Binomial()).fit()
    assert found["statistic"] == pytest.approx(2 * (full.llf - null.llf), rel=0.1)
    table = FairnessAudit.from_predictions(y, p, groups=groups).calibration
    expected = pd.Series(null.fittedvalues).groupby(groups).mean()
    np.testing.assert_allclose(table["prevalence_expected"].iloc[:-1], expected, rtol=1e-6)
    assert np.isnan(table["prevalence_expected"].iloc[-1])


def test_weights_have_the_generalized_score_test():
    """Compare with dense matrices of Boos's formula, and numbers of rows with repeated rows."""
    y, p, groups = rows_of([400, 250, 150], digits=2)
    rng = np.random.default_rng(3)
    weights = rng.gamma(2.0, size=y.size)
    cells = ScoreCounts.from_predictions(y, p, groups=groups, sample_weight=weights).cells
    found = equality_of(cells)
    x = logit(p)
    scale = weights.sum()
    order = np.argsort(x, kind="stable")
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / scale
    # All rows with the same score are in one cell, and the midrank of the cell counts.
    place = pd.Series(middle).groupby(x[order]).agg(["first", "last"])
    total = pd.Series(weights).groupby(x).sum() / scale
    middle = total.cumsum() - total / 2
    knots = [middle.index[np.searchsorted(middle, q)] for q in (0.05, 0.275, 0.5, 0.725, 0.95)]
    assert len(place) == len(total)
    common = natural_spline(x, np.array(knots))
    null = sm.GLM(y, common, family=sm.families.Binomial(), var_weights=weights).fit(tol=1e-13)
    mean = null.fittedvalues
    extra = np.column_stack([f for g in (1, 2) for f in (groups == g, (groups == g) * x)])
    bread = weights * mean * (1 - mean)
    explained = np.linalg.solve((common.T * bread) @ common, (common.T * bread) @ extra)
    efficient = extra - common @ explained
    score = efficient.T @ (weights * (y - mean))
    covariance = (efficient.T * (weights**2 * mean * (1 - mean))) @ efficient
    assert found.degrees_of_freedom == 4
    assert found.statistic == pytest.approx(score @ np.linalg.solve(covariance, score), rel=1e-5)
    # The scale of the weights has no effect, and equal weights give the result without weights.
    for factor in (1e-80, 7.0):
        cells = ScoreCounts.from_predictions(
            y, p, groups=groups, sample_weight=weights * factor
        ).cells
        assert equality_of(cells).statistic == pytest.approx(found.statistic, rel=1e-5)
    plain = equality_of(ScoreCounts.from_predictions(y, p, groups=groups).cells)
    equal = ScoreCounts.from_predictions(y, p, groups=groups, sample_weight=np.full(800, 0.3))
    assert equality_of(equal.cells).statistic == pytest.approx(plain.statistic, rel=1e-5)
    permuted = rng.permutation(800)
    again = ScoreCounts.from_predictions(y[permuted], p[permuted], groups=groups[permuted]).cells
    assert equality_of(again).pvalue == plain.pvalue


def test_the_same_miscalibration_in_all_groups_is_no_gap():
    """Scores are far too high, along a bent curve, and groups have different scores."""
    y, p, groups = rows_of([3000, 3000], shift=1.0, curve=lambda x: np.minimum(2 * x, -1.0))
    audit = FairnessAudit.from_predictions(y, p, groups=groups)
    assert (audit.calibration["pvalue_adjusted"].iloc[:2] < 1e-3).all()
    assert audit.equal_calibration["pvalue"] > 0.05
    # A test with a line in place of the curve rejects, because the common curve is bent.
    x = logit(p)
    model = sm.GLM(y, sm.add_constant(x), family=sm.families.Binomial())
    extra = np.column_stack([groups, groups * x])
    assert model.score_test(model.fit().params, exog_extra=extra)[1] < 1e-6
    (text,) = (text for text in audit.findings if "in calibration between groups" in text)
    adjusted = audit.equal_calibration["pvalue_adjusted"]
    assert text == (
        f"No difference in calibration between groups is established (adjusted p = {adjusted:.2g})."
    )
    assert any("not calibrated in group 1 and group 0:" in text for text in audit.findings)
    # Remove half of the positives of one group.
    less = y * ((groups == 0) | (np.arange(6000) % 2))
    audit = FairnessAudit.from_predictions(less, p, groups=groups)
    assert audit.equal_calibration["pvalue_adjusted"] < 1e-6
    (text,) = (text for text in audit.findings if "calibration differs" in text)
    difference = audit.calibration["prevalence"] - audit.calibration["prevalence_expected"]
    assert difference[0] > 0 > difference[1]
    row = audit.calibration.loc[0]
    said = f"Most clearly in group 0, the share of positives is {row['prevalence']:.3f}, and "
    assert said in text
    assert f"{row['prevalence_expected']:.3f} is expected for its scores" in text
    equal = audit.to_dict()["calibration"]["equal"]
    assert equal == audit.equal_calibration.to_dict()


def test_groups_that_cannot_be_fitted_take_part():
    y, p, groups = rows_of([400, 12, 12, 12, 5])
    y[groups == 1], y[groups == 2] = 0, 1
    p[groups == 3] = 0.3
    audit = FairnessAudit.from_predictions(y, p, groups=groups)
    found = audit.equal_calibration
    # The group with one score has no slope, and the group of 5 rows is small.
    assert found["degrees_of_freedom"] == 2 * 4 - 2 - 1
    assert found["pvalue"] < 0.01
    assert audit.calibration["prevalence_expected"].isna().tolist() == [False] * 4 + [True] * 2
    # Scores of exactly 0 and 1
    y, p, groups = rows_of([300, 300], digits=1, center=0.0)
    assert {0.0, 1.0} <= {*p}
    assert 0 < FairnessAudit.from_predictions(y, p, groups=groups).equal_calibration["pvalue"] <= 1
    # Cases: separated classes, one class, one group, and few groups with enough rows
    separated = FairnessAudit.from_predictions(p > 0.5, p, groups=groups).equal_calibration
    assert separated["pvalue"] > 0.05
    for labels, of in ((np.zeros(600), groups), (y, 0 * groups), (y, np.minimum(range(600), 9))):
        audit = FairnessAudit.from_predictions(labels, p, groups=of, pos_label=1)
        assert np.isnan(audit.equal_calibration["pvalue"])
        assert not any("in calibration between" in text for text in audit.findings)
    ranking = FairnessAudit.from_predictions(y, p, groups=groups, threshold=None)
    assert ranking.equal_calibration["pvalue"] > 0
    assert np.isnan(ranking.equal_calibration["pvalue_adjusted"])
    with pytest.raises(ValueError, match="equal_calibration needs scores that are probabilities"):
        _ = FairnessAudit.from_predictions(y, 2 * p, groups=groups).equal_calibration
    binned = GroupAUC(ScoreCounts.from_predictions(y, p, groups=groups, disclosure="bins"))
    with pytest.raises(DisclosureError, match="equal_calibration needs disclosure='exact'"):
        _ = FairnessAudit(binned).equal_calibration


def test_size_of_the_test(monkeypatch):
    """Few and many rows, unequal groups, rare positives and shifted groups.

    The simulation keeps the level for any number of larger statistics at which it stops.
    """
    monkeypatch.setattr(equal_calibration, "_ENOUGH", 20)
    for n, (sizes, options) in enumerate([
        ([25] * 2, {}),
        ([20, 600], {}),
        ([25] * 12, {"shift": 1.0, "curve": lambda x: 0.5 * x}),
        ([300] * 3, {"center": -4.0}),
        ([15] * 60, {"center": -1.0}),
    ]):  # fmt: skip
        pvalues = []
        for seed in range(100):
            y, p, groups = rows_of(sizes, seed=1000 * n + seed, **options)
            cells = ScoreCounts.from_predictions(y, p, groups=groups, pos_label=1).cells
            pvalues.append(equality_of(cells).pvalue)
        # Five standard errors of a share of 100 runs
        assert np.mean(np.array(pvalues) < 0.05) < 0.05 + 0.11
        assert np.mean(np.array(pvalues) < 0.5) > 0.25


def test_simulated_pvalues_are_those_of_many_draws():
    """Too few draws with one seed would have the same error in all sets of rows of a kind."""
    rng = np.random.default_rng(9)
    errors = []
    for seed in range(30):
        y, p, groups = rows_of([25, 400], seed=seed)
        found = equality_of(ScoreCounts.from_predictions(y, p, groups=groups, pos_label=1).cells)
        if not 0.02 < found.pvalue < 0.2:
            continue
        # The fit of the curve changes the result by less than 1e-3, which is below the simulation
        # error.
        x = logit(p)
        knots = np.quantile(x, (0.05, 0.275, 0.5, 0.725, 0.95), method="inverted_cdf")
        common = natural_spline(x, knots)
        mean = sm.GLM(y, common, family=sm.families.Binomial()).fit().fittedvalues
        extra = np.column_stack([groups, groups * x])
        bread = mean * (1 - mean)
        explained = np.linalg.solve((common.T * bread) @ common, (common.T * bread) @ extra)
        efficient = extra - common @ explained
        inverse = np.linalg.inv((efficient.T * bread) @ efficient)
        scores = ((rng.random((20_000, y.size)) < mean) - mean) @ efficient
        statistics = np.einsum("ni,ij,nj->n", scores, inverse, scores)
        observed = (y - mean) @ efficient
        reference = (statistics >= observed @ inverse @ observed).mean()
        errors.append(np.log(found.pvalue / reference))
    assert len(errors) > 3
    assert np.abs(errors).mean() < 0.15
