"""Audits of clustered rows: variances by infinitesimal jackknife, single rows, ways to an audit."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import logit
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from test_clusters import residuals_of, weights_of
from test_clusters import simulated as clustered_rows

from skfedauc import FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.audit import rates_and_gaps
from skfedauc.audit.answers import answer
from skfedauc.inference import proportions as limits_of
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.inference.model_comparison import joint_disparities

# Cells of denominator and events, [negatives, positives] x [not selected, selected], and the same
# from labels y and decisions d
ALL, SELECTED = ((1, 1), (1, 1)), ((0, 1), (0, 1))
RATES = {
    "selection_rate": (ALL, SELECTED, lambda y, d: (np.ones(y.size, bool), d)),
    "true_positive_rate": (((0, 0), (1, 1)), SELECTED, lambda y, d: (y, d)),
    "false_positive_rate": (((1, 1), (0, 0)), SELECTED, lambda y, d: (~y, d)),
    "false_omission_rate": (((1, 0), (1, 0)), ((0, 0), (1, 1)), lambda y, d: (~d, y)),
}


def simulated(seed, n=300, **kinds):
    """Return rows of clusters of unequal size, with probabilities as scores, of which some tie."""
    rows = clustered_rows(seed, n=n, n_groups=3, n_clusters=60, **kinds)
    rows["y_score"] = stats.norm.cdf(rows["y_score"] / 2).round(2).clip(0.01, 0.99)
    return rows


def audit_of(rows, **changed):
    return FairnessAudit.from_predictions(**{**rows, "threshold": 0.5, **changed})


def jackknifed(function, clusters):
    """Return the derivative of an estimate by the weight of the rows of each cluster."""
    step, found = 1e-4, []
    for cluster in np.unique(clusters):
        own = clusters == cluster
        up, down = (function(np.where(own, 1.0 + s, 1.0)) for s in (step, -step))
        found.append((up - down) / (2.0 * step))
    return np.array(found)


def correction(clusters, weights):
    """Return the factor f of the variance of a ratio, whose denominator has these weights."""
    share = np.bincount(clusters, weights) / weights.sum()
    return 1.0 - 2.0 * (share**3).sum() / (share**2).sum() + (share**2).sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_variances_of_rates_and_their_covariances(shared, weighted):
    rows = simulated(0, shared=shared, weighted=weighted)
    sample, w = audit_of(rows).samples["group"], weights_of(rows)
    y, d, clusters = rows["y_true"], rows["y_score"] >= 0.5, rows["clusters"]
    for of_denominator, of_events, cells in RATES.values():
        sums = sample.sums_of(of_denominator, of_events)
        denominator, events = cells(y, d)
        parts = []
        for group in (0, 1):
            own = denominator & (rows["groups"] == group)

            def of(omega, own=own, events=events):
                return np.average(events[own], weights=(omega * w)[own])

            parts.append(jackknifed(of, clusters) / np.sqrt(correction(clusters, w * own)))
        first, second = parts
        assert_allclose(sums.variance[:2], [(first**2).sum(), (second**2).sum()], rtol=1e-6)
        # Correlations are covariances over standard errors, which are at least those of rows.
        p, n = sums.value, sums.n_rows
        errors = [
            np.sqrt(max((r**2).sum(), p[g] * (1 - p[g]) / (n[g] - 1)) * (n[g] - 1) / n[g])
            for g, r in enumerate(parts)
        ]
        assert (sums.correlation is not None) == shared
        if shared:
            expected = (first @ second) / np.prod(errors)
            assert_allclose(sums.correlation[0, 1], expected, rtol=1e-5)
        # Clopper and Pearson's limits with the effective sample size
        k = 1.0 / ((np.bincount(clusters, w * (denominator & (rows["groups"] == 0)))) ** 2).sum()
        k *= sums.total[0] ** 2
        quantiles = stats.t.ppf(0.975, [n[0] - 1, k - 1])
        effect = max((first**2).sum() / (p[0] * (1 - p[0])) * (n[0] - 1), 1.0)
        n_effective = n[0] / effect * (quantiles[0] / quantiles[1]) ** 2
        k_events = n_effective * p[0]
        low = stats.beta.ppf(0.025, k_events, n_effective - k_events + 1)
        high = stats.beta.ppf(0.975, k_events + 1, n_effective - k_events)
        found = limits_of.clopper_pearson(p, sums.shares, 0.025)
        assert_allclose([found.low[0], found.high[0]], [low, high])


def test_gaps_of_shared_clusters_use_their_correlation():
    """In a cluster, both rows of each group have the same decision, so differences are exact."""
    rng = np.random.default_rng(0)
    d = np.repeat(rng.random(80) < 0.5, 2)
    rows = {
        "y_true": rng.random(160) < 0.5,
        "y_score": np.where(d, 0.9, 0.1),
        "groups": np.tile([0, 1], 80),
        "clusters": np.repeat(np.arange(80), 2),
    }
    name = "demographic_parity_difference"
    found, blind = (
        audit_of(rows, **options).answers["group"][name] for options in ({}, {"clusters": None})
    )
    assert found.estimate == 0
    assert found.ci_high < 0.2 * blind.ci_high


@pytest.mark.parametrize(("shared", "weighted"), [(False, True), (True, False), (True, True)])
def test_errors_of_xauc_disparities(shared, weighted):
    rows = simulated(3, shared=shared, weighted=weighted, n=200)
    sample = audit_of(rows).samples["group"]
    found = rates_and_gaps.QUESTIONS["xauc_disparity"].ask(sample).gaps
    w, y, s, clusters = weights_of(rows), rows["y_true"], rows["y_score"], rows["clusters"]
    pairs = (s[:, None] > s) + 0.5 * (s[:, None] == s)
    of_rows = cross_gaps(sample.report.counts)
    assert_allclose(found.disparity, of_rows.disparity)
    for g in range(3):
        own = rows["groups"] == g
        total = np.zeros(np.unique(clusters).size)
        for positives, negatives, sign in ((y & own, ~y & ~own, 1.0), (y & ~own, ~y & own, -1.0)):
            for sample in (positives, negatives):

                def auc(omega, sample=sample, positives=positives, negatives=negatives):
                    weight = np.where(sample, omega, 1.0) * w
                    product = np.outer(weight * positives, weight * negatives)
                    return (product * pairs).sum() / product.sum()

                of_cluster = np.bincount(clusters, w * sample)[np.unique(clusters)]
                share = of_cluster / of_cluster.sum()
                scale = np.sqrt(1.0 - 2.0 * share + (share**2).sum())
                total += sign * jackknifed(auc, clusters) / scale
        error = max(np.sqrt((total**2).sum()), of_rows.error[g])
        assert_allclose(found.error[g], error, rtol=1e-5)
    low, high = found.limits(0.95)
    quantile = stats.t.ppf(1 - 0.025 / 3, found.freedom)
    assert_allclose(high - low, 2 * quantile * found.error)
    pvalue = 2 * stats.t.sf(np.abs(found.disparity) / found.error, found.freedom)
    assert_allclose(found.pvalue, pvalue)


@pytest.mark.parametrize("shared", [False, True])
def test_limits_of_calibration(shared):
    rows = simulated(4, shared=shared, n=400)
    audit, names = audit_of(rows), ["calibration_slope_ci_low", "calibration_slope_ci_high"]
    table = audit.by_group()
    if shared:  # calibration needs clusters that are each in one group
        assert "calibration" not in table
        table = pd.DataFrame(np.transpose(audit.samples["group"].slopes()[1:3]), columns=names)
    y, p, clusters = rows["y_true"], rows["y_score"], rows["clusters"]
    for g in (0, 1, 2):
        own = rows["groups"] == g
        # Robust standard errors of statsmodels, with the correction of the clusters
        x = logit(p[own])
        columns = np.column_stack([np.ones(own.sum()), x])
        model = sm.GLM(y[own].astype(float), columns, sm.families.Binomial())
        kinds = {"groups": clusters[own], "use_correction": False}
        robust, plain = model.fit(cov_type="cluster", cov_kwds=kinds), model.fit()
        information = plain.fittedvalues * (1 - plain.fittedvalues)
        weight = information * (x - np.average(x, weights=information)) ** 2
        size = np.bincount(clusters[own], weight)
        variance = robust.bse[-1] ** 2 / correction(clusters[own], weight)
        error = max(np.sqrt(variance), plain.bse[-1])
        freedom = size.sum() ** 2 / (size**2).sum() - 1
        reach = stats.t.ppf(0.975, freedom) * error
        row = table.loc[g, names].tolist()
        assert_allclose(row, [robust.params[-1] - reach, robust.params[-1] + reach], rtol=1e-5)


@pytest.mark.parametrize("shared", [False, True])
def test_ways_to_the_same_audit(shared):
    rows = simulated(7, shared=shared, n=400)
    tolerances = {"difference": 0.3, "demographic_parity_difference": 0.4}
    options = {"tolerances": tolerances, "favorable": "positive"}
    expected = audit_of(rows, **options)
    order = np.random.default_rng(0).permutation(400)
    shuffled = {k: None if v is None else v[order] for k, v in rows.items()}
    renamed = np.char.add("patient ", shuffled["clusters"].astype(str))
    found = audit_of(shuffled | {"clusters": renamed}, **options)
    pd.testing.assert_frame_equal(found.gaps, expected.gaps)
    y_pred = np.where(rows["y_score"] >= 0.5, 1, 0)
    of_labels = audit_of(rows, threshold="auto", y_pred=y_pred, **options)
    pd.testing.assert_frame_equal(of_labels.by_group(), expected.by_group())
    # Counts by group and cluster, with decisions by the same columns
    both = pd.DataFrame({"group": rows["groups"], "patient": rows["clusters"]})
    counts = ScoreCounts.from_predictions(rows["y_true"], rows["y_score"], groups=both)
    decisions = counts.map_scores(lambda scores: (scores >= 0.5).astype(float))
    report = GroupAUC(counts, clusters="patient", undefined="ignore")
    for chosen in ({"threshold": 0.5}, {"decisions": decisions}):
        audit = FairnessAudit(report, **chosen, **options)
        pd.testing.assert_frame_equal(audit.gaps, expected.gaps)
        pd.testing.assert_frame_equal(audit.by_group(), expected.by_group())
    with pytest.raises(ValueError, match="Count the decisions by the columns of the report and"):
        FairnessAudit(report, decisions=decisions.regroup(lambda label: label[0]))
    frame = pd.DataFrame({"x": logit(rows["y_score"]), **both})
    model = make_pipeline(
        ColumnTransformer([("x", "passthrough", ["x"])]), LogisticRegression(C=1e9)
    ).fit(frame, rows["y_true"])
    given = rows | {"y_score": model.predict_proba(frame)[:, 1]}
    of_model = {"groups": "group", "clusters": "patient"}
    audit = FairnessAudit.from_estimator(model, frame, rows["y_true"], **of_model)
    by_given = audit_of(given, threshold="auto", y_pred=given["y_score"] >= 0.5)
    pd.testing.assert_frame_equal(audit.gaps, by_given.gaps)
    # The other class has minus these probabilities as scores.
    other = FairnessAudit.from_estimator(
        model, frame, rows["y_true"], threshold=0.4, pos_label=False, **of_model
    )
    reversed_rows = {"y_true": ~given["y_true"], "y_score": 1 - given["y_score"]}
    expected = audit_of(given | reversed_rows, threshold=0.4)
    for name in ("difference", "xauc_disparity", "demographic_parity_difference"):
        found, one = (
            answer(rates_and_gaps.QUESTIONS[name], audit.samples["group"])
            for audit in (other, expected)
        )
        assert_allclose(found.table, one.table, rtol=1e-6)


@pytest.mark.parametrize("sigma", [0.0, 1.5])
def test_intervals_of_ratios_contain_the_ratio(sigma):
    """Groups that share clusters have correlated rates."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(24), 4) % rng.integers(4, 25)
        score, weight = np.where(rng.random(96) < 0.15, 0.9, 0.1), rng.lognormal(0, sigma, 96)
        audit = FairnessAudit.from_predictions(
            np.repeat([0, 1], 48),
            score,
            groups=np.tile(list("abcd"), 24),
            clusters=clusters,
            sample_weight=weight,
            threshold=0.5,
        )
        asked = rates_and_gaps.QUESTIONS["demographic_parity_ratio"]
        found = answer(asked, audit.samples["group"])
        if not np.isnan(found.estimate):
            assert found.ci_low <= found.estimate <= found.ci_high
        assert (found.verdict == "differ") == (found.pvalue < 0.05)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_changes_between_models_on_clustered_rows(shared, weighted):
    """Errors of changes, from residuals by brute force and the jackknife."""
    first = simulated(1, shared=shared, weighted=weighted)
    rng, y, w, groups = np.random.default_rng(0), first["y_true"], weights_of(first), range(3)
    other = np.clip(first["y_score"] + rng.normal(size=y.size).round(1) / 10, 0.01, 0.99)
    both = first, {**first, "y_score": other}
    models = audit_of(both[0]).compare(audit_of(both[1]))._models_by("group")

    def expected_of(question):
        """Residuals by model, group and cluster."""
        if question == "difference":
            return np.array([[residuals_of(of, g).sum(axis=0) for g in groups] for of in both])
        found = []
        for rows, g in ((of, g) for of in both for g in groups):
            own, value = rows["groups"] == g, rows["y_score"] - y
            if question == "true_positive_rate_difference":
                own, value = own & y, rows["y_score"] >= 0.5

            def of_rows(omega, own=own, value=value):
                return np.average(value[own], weights=(omega * w)[own])

            found.append(jackknifed(of_rows, rows["clusters"]))
            found[-1] /= np.sqrt(correction(rows["clusters"], w * own))
        return np.array(found).reshape(2, 3, -1)

    pairs, kept = itertools.permutations(groups, 2), np.ones(3, bool)
    one, other = np.transpose([*pairs])
    for name in ("difference", "true_positive_rate_difference", "calibration_difference"):
        if shared and name == "calibration_difference":
            continue  # needs clusters that are each in one group
        found = rates_and_gaps.QUESTIONS[name].changes(models).contrasts(kept)
        before, after = (of[one] - of[other] for of in expected_of(name))
        largest_before, largest_after = found.values.argmax(axis=1)
        for errors, residuals in (
            (found.paired, after - before),
            (found.crossed[0], after - before[largest_before]),
            (found.crossed[1], after[largest_after] - before),
        ):
            expected = (residuals**2).sum(axis=1)
            if name == "true_positive_rate_difference":  # at least the variances of rows
                assert (errors**2 > 0.999 * expected).all()
            else:
                assert_allclose(errors**2, expected, rtol=1e-5, atol=1e-12)

    changes = rates_and_gaps.QUESTIONS["xauc_disparity"].changes(models)
    for g in groups:
        parts = []
        for rows in both:
            sides = {**rows, "groups": np.where((rows["groups"] == g) == y, 0, 1)}
            one, two = (residuals_of(sides, side).sum(axis=0) for side in (0, 1))
            parts.append(one - two)
        error = np.sqrt(((parts[1] - parts[0]) ** 2).sum())
        low, high = changes.limits(0.95)
        joint = joint_disparities(models.rows)
        reach = stats.t.ppf(0.975, joint.freedom[0, 1, g]) * error
        assert_allclose((high[g] - low[g]) / 2.0, reach, rtol=1e-9)
