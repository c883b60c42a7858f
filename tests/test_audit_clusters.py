"""Audits of clustered rows: variances by infinitesimal jackknife, single rows, ways to an audit."""

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

from skfedauc import FairnessAudit, GroupAUC, ScoreCounts
from skfedauc.audit.rates import cluster_sums
from skfedauc.inference.calibration import ClusterCells
from skfedauc.inference.cross_gap import cross_gaps
from skfedauc.plotting import ReliabilityDisplay

# Denominator and events of each rate, from labels y and decisions d
RATES = {
    "selection_rate": lambda y, d: (np.ones(y.size, bool), d),
    "true_positive_rate": lambda y, d: (y, d),
    "false_positive_rate": lambda y, d: (~y, d),
    "precision": lambda y, d: (d, y),
    "false_omission_rate": lambda y, d: (~d, y),
    "accuracy": lambda y, d: (np.ones(y.size, bool), y == d),
}
LIMITS = ["ci_low", "ci_high", "difference_ci_low", "difference_ci_high", "ratio_ci_low"]


def simulated(seed, *, shared=False, weighted=False, n=300, n_groups=3, n_clusters=60):
    """Return rows with ties, calibrated probabilities and clusters of unequal size."""
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(0, n_clusters, n))
    groups = rng.integers(0, n_groups, n) if shared else clusters % n_groups
    score = stats.norm.cdf(rng.normal(size=n) + 0.7 * rng.normal(size=n_clusters)[clusters])
    score = score.round(2).clip(0.01, 0.99)
    latent = 0.8 * rng.normal(size=n_clusters)[clusters] + 0.6 * rng.normal(size=n)
    return {
        "y_true": stats.norm.cdf(latent) < score,
        "y_score": score,
        "groups": groups,
        "clusters": clusters,
        "sample_weight": rng.uniform(0.5, 2.0, n) if weighted else None,
    }


def audit_of(rows, **changed):
    return FairnessAudit.from_predictions(**{**rows, "threshold": 0.5, **changed})


def weights_of(rows):
    return np.ones(rows["y_true"].size) if rows["sample_weight"] is None else rows["sample_weight"]


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


# Rates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_variances_of_rates_and_their_covariances(shared, weighted):
    rows = simulated(0, shared=shared, weighted=weighted)
    audit, w = audit_of(rows), weights_of(rows)
    y, d, clusters = rows["y_true"], rows["y_score"] >= 0.5, rows["clusters"]
    table = audit.rates()
    for rate, cells in RATES.items():
        sums = cluster_sums(audit.comparison.decision_clusters, rate)
        denominator, events = cells(y, d)
        parts = []
        for members in ([0], [1], [1, 2]):
            own = denominator & np.isin(rows["groups"], members)

            def of(omega, own=own, events=events):
                return np.average(events[own], weights=(omega * w)[own])

            value = jackknifed(of, clusters)
            parts.append(value / np.sqrt(correction(clusters, w * own)))
        first, second, rest = parts
        assert_allclose(sums.variance[:2], [(first**2).sum(), (second**2).sum()], rtol=1e-6)
        shares, of_rest = sums.of_others(np.ones(3, bool))
        assert_allclose(shares.share[0], table.loc[rate]["reference_value"].iloc[0], rtol=1e-9)
        # Correlations are covariances over standard errors, which are at least those of rows.
        p, q = sums.value[0], shares.share[0]
        n, m = sums.n_rows[0], shares.n_rows[0]
        errors = [
            np.sqrt(max((r**2).sum(), x * (1 - x) / (k - 1)) * (k - 1) / k)
            for r, x, k in ((first, p, n), (rest, q, m))
        ]
        assert_allclose(of_rest[0], (first @ rest) / np.prod(errors), rtol=1e-5, atol=1e-12)
        assert (sums.correlation is not None) == shared
        if shared:
            of_second = sums.correlation_with(1)
            assert_allclose(sums.correlation[0, 1], of_second[0], rtol=1e-9)
            assert abs(of_rest[0]) > 1e-3
        # Clopper and Pearson's limits with the effective sample size
        k = 1.0 / ((np.bincount(clusters, w * (denominator & (rows["groups"] == 0)))) ** 2).sum()
        k *= sums.total[0] ** 2
        quantiles = stats.t.ppf(0.975, [n - 1, k - 1])
        effect = max((first**2).sum() / (p * (1 - p)) * (n - 1), 1.0)
        n_effective = n / effect * (quantiles[0] / quantiles[1]) ** 2
        events = n_effective * p
        low = stats.beta.ppf(0.025, events, n_effective - events + 1)
        high = stats.beta.ppf(0.975, events + 1, n_effective - events)
        row = table.loc[rate].iloc[0]
        assert_allclose(row[["ci_low", "ci_high"]].tolist(), [low, high])


@pytest.mark.parametrize("shared", [False, True])
def test_difference_and_ratio_of_two_groups_solve_their_equations(shared):
    """The limit L of a - b has ``(a - b - L)^2 = x^2 + y^2 - 2 r x y``, and likewise a - L b."""
    rows = simulated(1, shared=shared, n_groups=2)
    audit = audit_of(rows)
    for rate in ("selection_rate", "true_positive_rate"):
        sums = cluster_sums(audit.comparison.decision_clusters, rate)
        r = 0.0 if sums.correlation is None else sums.correlation[0, 1]
        first, second = (row for _, row in audit.rates().loc[rate].iterrows())
        a, b = first["value"], second["value"]
        x, y = a - first["ci_low"], second["ci_high"] - b
        reach = a - b - first["difference_ci_low"]
        assert_allclose(reach**2, x**2 + y**2 - 2 * r * x * y)
        low = first["ratio_ci_low"]
        assert_allclose((a - low * b) ** 2, x**2 + (low * y) ** 2 - 2 * r * x * low * y)
        assert_allclose(second["ratio_ci_high"], 1.0 / low)


def test_equal_rates_of_two_groups_have_the_t_test_of_their_variances():
    rows = simulated(2, n_groups=2)
    audit = audit_of(rows)
    shares = cluster_sums(audit.comparison.decision_clusters, "selection_rate").shares
    n, p = shares.n_rows, shares.share
    overall = np.average(p, weights=n)
    variance = shares.effect * overall * (1 - overall) / n
    freedom = variance.sum() ** 2 / (variance**2 / (shares.n_clusters - 1)).sum()
    pvalue = 2 * stats.t.sf(abs(p[0] - p[1]) / np.sqrt(variance.sum()), freedom)
    assert_allclose(audit.gaps.loc["demographic_parity_difference", "pvalue"], pvalue)


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
    row = audit_of(rows).rates().loc["selection_rate"].iloc[0]
    blind = audit_of(rows, clusters=None).rates().loc["selection_rate"].iloc[0]
    assert row["difference"] == 0
    width, without = (r["difference_ci_high"] - r["difference_ci_low"] for r in (row, blind))
    assert width < 0.2 * without


def test_rates_without_variation_or_with_one_cluster():
    """A rate of 0 has the limits of fully dependent rows; a single cluster has no limits."""
    rows = simulated(0)
    rows["y_score"] = np.where(rows["groups"] == 0, 0.1, rows["y_score"])
    table = audit_of(rows).rates().loc["selection_rate"]
    share = np.bincount(rows["clusters"][rows["groups"] == 0])
    k = share.sum() ** 2 / (share**2).sum()
    assert_allclose(table.loc[0, "ci_high"], 1 - 0.025 ** (1 / k))
    rows["clusters"] = np.where(rows["groups"] == 1, 1000, rows["clusters"])
    audit = audit_of(rows)
    table = audit.rates().loc["selection_rate"]
    assert np.isnan(table.loc[1, ["ci_low", "difference_ci_low", "ratio_ci_high"]].tolist()).all()
    assert table.loc[2, "ci_low"] > 0
    # The single cluster may have any rate.
    assert audit.gaps.loc["demographic_parity_difference", "ci_high"] == 1.0
    assert 0 <= audit.gaps.loc["demographic_parity_difference", "pvalue"] <= 1


# Ranking between groups --------------------------------------------------------------------------


@pytest.mark.parametrize(("shared", "weighted"), [(False, True), (True, False), (True, True)])
def test_errors_of_xauc_disparities(shared, weighted):
    rows = simulated(3, shared=shared, weighted=weighted, n=200)
    comparison = audit_of(rows).comparison
    found = comparison.cross_gaps
    w, y, s, clusters = weights_of(rows), rows["y_true"], rows["y_score"], rows["clusters"]
    pairs = (s[:, None] > s) + 0.5 * (s[:, None] == s)
    of_rows = cross_gaps(comparison.compared.counts)
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


# Calibration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_limits_of_calibration(shared):
    rows = simulated(4, shared=shared, n=400)
    table = audit_of(rows).calibration
    y, p, clusters = rows["y_true"], rows["y_score"], rows["clusters"]
    for g in (0, 1, 2, "all"):
        own = np.full(y.size, True) if g == "all" else rows["groups"] == g
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
        row = table.loc[g, ["slope_low", "slope_high"]].tolist()
        assert_allclose(row, [robust.params[-1] - reach, robust.params[-1] + reach], rtol=1e-5)


def test_calibration_of_dependent_labels_is_tested_less_often():
    rows = simulated(5, n=600)
    rows["y_true"] = np.random.default_rng(0).random(600) < rows["y_score"] ** 1.5
    five = np.repeat(np.arange(600), 5)
    often = {k: None if v is None else v[five] for k, v in rows.items()} | {"clusters": five}
    once, found, blind = (
        audit_of(rows | {"clusters": None}),
        audit_of(often),
        audit_of(often, clusters=None),
    )
    # Copies of a row add no information: nearly the p values of the rows.
    assert (found.calibration["pvalue"] > blind.calibration["pvalue"]).all()
    assert_allclose(found.calibration["pvalue"], once.calibration["pvalue"], atol=0.06)
    assert_allclose(found.rates()[LIMITS], once.rates()[LIMITS], atol=0.01)
    point = ["mean_score", "prevalence", "slope"]
    assert_allclose(found.calibration[point], once.calibration[point])


def test_wilson_limits_of_reliability_bins():
    rows = simulated(6)
    report = GroupAUC.from_predictions(**rows)
    found = ReliabilityDisplay.from_report(report, bins=3)
    own = rows["groups"] == 0
    p, y, c = (rows[name][own] for name in ("y_score", "y_true", "clusters"))
    first = p <= found.mean_score[0][0] * 2 if False else np.argsort(np.argsort(p, kind="stable"))
    single = ReliabilityDisplay.from_report(
        GroupAUC.from_predictions(**rows | {"clusters": np.arange(300)}), bins=3
    )
    blind = ReliabilityDisplay.from_report(
        GroupAUC.from_predictions(**rows | {"clusters": None}), bins=3
    )
    del first, y, c
    for one, other in zip(single.low, blind.low, strict=True):
        assert_allclose(one, other)
    wider = np.concatenate(found.high) - np.concatenate(found.low)
    assert (wider > np.concatenate(blind.high) - np.concatenate(blind.low)).all()


# Clusters of single rows -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_single_rows_are_independent_rows(seed):
    """Rates and mean scores have equal limits; tests have nearly equal p values."""
    rows = simulated(seed, n=600) | {"clusters": np.arange(600)}
    found, blind = audit_of(rows), audit_of(rows, clusters=None)
    pd.testing.assert_frame_equal(found.rates(), blind.rates(), rtol=1e-9)
    equal = ["difference_low", "difference_high", "pvalue"]
    assert_allclose(found.calibration[equal], blind.calibration[equal], rtol=1e-9)
    for name in ("selection_rate", "true_positive_rate", "false_positive_rate"):
        p, q = (a.comparison.rate_gaps[name]["pvalue"] for a in (found, blind))
        assert_allclose(p, q, atol=0.01)
    of_decisions = found.gaps.index.str.contains("demographic|_rate_|equalized")
    limits = ["value", "ci_low", "ci_high", "expected"]
    both = (a.gaps.loc[of_decisions, limits] for a in (found, blind))
    assert_allclose(*both, rtol=1e-9)
    assert_allclose(
        found.by_group["xauc_pvalue"], blind.by_group["xauc_pvalue"], rtol=0.05, atol=0.01
    )
    nearly = ["slope_low", "slope_high"]
    assert_allclose(found.calibration[nearly], blind.calibration[nearly], atol=0.12)


# Ways to an audit --------------------------------------------------------------------------------


def assert_same(found, expected):
    """Compare the tables of two audits."""
    for name in ("by_group", "gaps", "quality", "tolerances", "calibration"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))
    pd.testing.assert_frame_equal(found.rates(), expected.rates())
    assert found.findings == expected.findings


@pytest.mark.parametrize("shared", [False, True])
def test_ways_to_the_same_audit(shared):
    rows = simulated(7, shared=shared, n=400)
    tolerances = {"difference": 0.3, "demographic_parity_difference": 0.4}
    options = {"tolerances": tolerances, "favorable": "positive"}
    expected = audit_of(rows, **options)
    order = np.random.default_rng(0).permutation(400)
    shuffled = {k: None if v is None else v[order] for k, v in rows.items()}
    renamed = np.char.add("patient ", shuffled["clusters"].astype(str))
    assert_same(audit_of(shuffled | {"clusters": renamed}, **options), expected)
    y_pred = np.where(rows["y_score"] >= 0.5, 1, 0)
    of_labels = audit_of(rows, threshold="auto", y_pred=y_pred, **options)
    pd.testing.assert_frame_equal(of_labels.rates(), expected.rates())
    # Counts by group and cluster, with decisions by the same columns
    both = pd.DataFrame({"group": rows["groups"], "patient": rows["clusters"]})
    counts = ScoreCounts.from_predictions(rows["y_true"], rows["y_score"], groups=both)
    decisions = counts.map_scores(lambda scores: (scores >= 0.5).astype(float))
    report = GroupAUC(counts, clusters="patient", undefined="ignore")
    for chosen in ({"threshold": 0.5}, {"decisions": decisions}):
        audit = FairnessAudit(report, **chosen, **options)
        pd.testing.assert_frame_equal(audit.gaps, expected.gaps, check_names=False)
        pd.testing.assert_frame_equal(audit.calibration, expected.calibration, check_names=False)
    with pytest.raises(ValueError, match="Count the decisions by the columns of the report and"):
        FairnessAudit(report, decisions=decisions.regroup(lambda label: label[0]))
    frame = pd.DataFrame({"x": logit(rows["y_score"]), **both})
    model = make_pipeline(
        ColumnTransformer([("x", "passthrough", ["x"])]), LogisticRegression(C=1e9)
    ).fit(frame, rows["y_true"])
    given = rows | {"y_score": model.predict_proba(frame)[:, 1]}
    of_model = {"groups": "group", "clusters": "patient"}
    audit = FairnessAudit.from_estimator(model, frame, rows["y_true"], **of_model)
    pd.testing.assert_frame_equal(audit.gaps, audit_of(given).gaps)
    # The other class has minus these probabilities as scores.
    other = FairnessAudit.from_estimator(
        model, frame, rows["y_true"], threshold=0.4, pos_label=False, **of_model
    )
    reversed_rows = {"y_true": ~given["y_true"], "y_score": 1 - given["y_score"]}
    expected = audit_of(given | reversed_rows, threshold=0.4)
    # Audits of other scores than probabilities have no tests of calibration to be adjusted for.
    compared = ["value", "ci_low", "ci_high", "expected", "pvalue"]
    assert_allclose(other.gaps[compared], expected.gaps[compared], rtol=1e-6)


@pytest.mark.parametrize("shared", [False, True])
def test_columns_labels_and_intersections(shared):
    rows = simulated(8, shared=shared, n=600, n_groups=6)
    columns = pd.DataFrame({"sex": rows["groups"] % 2, "band": rows["groups"] // 2})
    y_pred = rows["y_score"] >= 0.5
    options = {"threshold": "auto", "y_pred": y_pred, "min_per_class": 5}
    audit = audit_of(rows | {"groups": columns}, **options)
    for name in ("sex", "band"):
        part, alone = audit.of(name), audit_of(rows | {"groups": columns[[name]]}, **options)
        pd.testing.assert_frame_equal(part.rates(), alone.rates())
        assert_allclose(part.gaps["pvalue"], alone.gaps["pvalue"])
    for band, part in audit.within("band").items():
        own = (columns["band"] == band).to_numpy()
        kept = {k: v[own] for k, v in rows.items() if v is not None}
        alone = audit_of(
            kept | {"groups": columns.loc[own, ["sex"]]}, **options | {"y_pred": y_pred[own]}
        )
        pd.testing.assert_frame_equal(part.rates(), alone.rates())
        limits = ["value", "ci_low", "ci_high", "pvalue"]
        assert_allclose(part.gaps[limits], alone.gaps[limits])
        pd.testing.assert_frame_equal(
            part.calibration.drop(columns=["pvalue_adjusted"]),
            alone.calibration.drop(columns=["pvalue_adjusted"]),
        )
    table = audit.intersections()
    of_band = table[[c == ("band",) for c in table["columns"]]]
    assert of_band["pvalue"].isna().all() == shared
    assert of_band["shrunken_auc"].notna().all()
    small = audit_of(rows | {"groups": columns}, **options | {"min_per_class": 40})
    assert "(small groups)" in small.intersections()["group"].tolist()


# Documents ---------------------------------------------------------------------------------------


def test_what_groups_that_share_clusters_leave_out(tmp_path):
    rows = simulated(9, shared=True, n=400)
    audit = audit_of(rows)
    assert audit.gaps.loc["tau"].drop("rate").isna().all()
    assert audit.gaps["expected"].isna().all()
    assert audit.by_group["pvalue"].isna().all()
    expected = audit_of(rows, clusters=None)
    assert_allclose(audit.by_group["reference_auc"], expected.by_group["reference_auc"])
    shown = ["auc", "bpsn_auc", "bnsp_auc", "xauc_disparity", "positive_aeg", "selection_rate"]
    pd.testing.assert_frame_equal(audit.by_group[shown], expected.by_group[shown])
    assert audit.facts["n_clusters"] == np.unique(rows["clusters"]).size
    assert audit.facts["n_shared_clusters"] > 10
    text = " ".join(audit.findings)
    assert "of them with rows in several groups. Intervals and tests allow for" in text
    assert "Tau, the mean of a gap if all groups were equal, the test of all AUCs" in text
    assert "share no clusters" in text
    audit.to_html(tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    for document in (page, audit.to_markdown()):
        assert "independent clusters" in document
        assert "assume independent rows" not in document
    assert "faintly colored" not in page
    assert audit.to_dict()["gaps"]["tau"]["value"] is None
    two = audit_of(rows | {"groups": rows["groups"] // 2})
    assert 0 <= two.by_group["pvalue"].iloc[0] <= 1
    assert "tests of single groups" not in " ".join(two.findings)


def test_tolerances_and_findings_of_copied_rows():
    """Five copies of each row establish a gap without clusters, and not with clusters."""
    rng = np.random.default_rng(1)
    groups = np.repeat(["a", "b"], 60)
    d = rng.random(120) < np.where(groups == "a", 0.45, 0.6)
    five = np.repeat(np.arange(120), 5)
    y = (np.arange(120) % 2 == 0)[five]
    rows = {
        "y_true": y,
        "y_score": np.where(d, 0.8, 0.2)[five],
        "groups": groups[five],
        "clusters": five,
        "tolerances": {"demographic_parity_difference": 0.06},
    }
    name = "demographic_parity_difference"
    found, blind = audit_of(rows), audit_of(rows, clusters=None)
    assert found.tolerances.loc[name, "answer"] == "undecided"
    assert blind.tolerances.loc[name, "answer"] == "not met"
    assert found.gaps.loc[name, "pvalue_adjusted"] > 0.05 > blind.gaps.loc[name, "pvalue_adjusted"]


def test_arguments():
    rows = simulated(0)
    with pytest.raises(ValueError, match=r"draws single rows, .* dependent within clusters"):
        audit_of(rows).rates("bootstrap")
    with pytest.raises(ValueError, match="clusters"):
        audit_of(rows | {"clusters": rows["clusters"][:-1]})


def test_cells_of_units_have_the_scores_of_their_group():
    rows = simulated(0)
    report = GroupAUC.from_predictions(**rows)
    cells = report.counts.cells
    of_units = ClusterCells(report._estimates.pairs.clusters, cells)
    assert_allclose(cells.scores[of_units.place], of_units.cells.scores)
    assert_allclose(cells.groups[of_units.place], of_units.group)
