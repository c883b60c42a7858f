"""Counts by period, comparison with a reference period, and the sequential test of a change."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid
from scipy.stats import beta, norm

from skfedauc import Bins, Disclosure, GroupAUC, ScoreCounts, periods
from skfedauc.periods import compare_periods, find_change
from skfedauc.report.group_auc import estimates_of

MONTHS = [f"2026-{month:02}" for month in range(1, 13)]


def month_of(rng, n=120, shift=1.0, groups=None):
    y = rng.integers(0, 2, n)
    return y, np.round(rng.normal(size=n) + shift * y, 2), groups


def parts_of(seed, groups=("a", "b"), shifts=None, n=120):
    rng = np.random.default_rng(seed)
    parts = []
    for number, month in enumerate(MONTHS):
        y, score, _ = month_of(rng, n, 1.0 if shifts is None else shifts[number])
        label = None if groups is None else rng.choice(groups, n)
        counts = ScoreCounts.from_predictions(y, score, groups=label)
        parts.append(counts.with_source("va", model="m1", period=month))
    return parts


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("groups", [None, ["a", "b"], [3, 20], [("a", 1), ("a", 2)]])
def test_merging_by_period_is_counting_with_the_period_as_a_group_column(groups, seed):
    rng = np.random.default_rng(seed)
    frames, parts = [], []
    for month in rng.permutation(MONTHS[:4]):
        y, score, _ = month_of(rng, 50)
        rows = pd.DataFrame({"y": y, "score": score, "period": month})
        columns = []
        if groups is not None:
            chosen = [groups[i] for i in rng.integers(2, size=50)]
            of_row = [label if isinstance(label, tuple) else (label,) for label in chosen]
            columns = [f"column {i}" for i in range(len(of_row[0]))]
            rows[columns] = pd.DataFrame(of_row)
        own = rows[columns] if columns else None
        counts = ScoreCounts.from_predictions(rows["y"], rows["score"], groups=own)
        parts.append(counts.with_source("va", period=month))
        frames.append(rows)
    table = pd.concat(frames, ignore_index=True)
    expected = ScoreCounts.from_predictions(
        table["y"], table["score"], groups=table[[*columns, "period"]]
    )
    merged = ScoreCounts.merge(parts, by_period=True)
    assert merged == expected
    assert merged.group_names == (*columns, "period")
    # Months can be added later, and a part that comes again counts once.
    first = ScoreCounts.merge(parts[:2], by_period=True)
    assert ScoreCounts.merge([first, *parts[1:]], by_period=True) == expected


def test_a_file_keeps_the_period_beside_another_column_of_this_name():
    groups = pd.DataFrame({"period": ["day", "night"], "site": ["va", "va"]})
    counts = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=groups)
    merged = ScoreCounts.merge([counts.with_source("oslo", period="7")], by_period=True)
    again = ScoreCounts.from_bytes(merged.to_bytes())
    assert (again, again.group_names) == (merged, ("period", "site", "period"))
    assert again.groups == (("day", "va", "7"), ("night", "va", "7"))
    shifts = pd.Series(["day", "night"], name="period")
    counts = ScoreCounts.from_predictions([0, 1], [0.1, 0.2], groups=shifts)
    merged = ScoreCounts.merge([counts.with_source("oslo", period="7")], by_period=True)
    assert merged.groups == (("day", "7"), ("night", "7"))
    assert ScoreCounts.merge([counts], by_period=True) == counts


@pytest.mark.parametrize(("level", "error"), [(Bins.of_scores(), 0.01), ("summary", 1e-12)])
def test_periods_of_each_level(level, error):
    parts = [part.reduced(level) for part in parts_of(1)]
    counts = ScoreCounts.merge(parts, by_period=True)
    exact = ScoreCounts.merge(parts_of(1), by_period=True)
    reports = GroupAUC(counts).by_group["auc"], GroupAUC(exact).by_group["auc"]
    np.testing.assert_allclose(*reports, atol=error)
    changes = find_change(counts)["difference"], find_change(exact)["difference"]
    np.testing.assert_allclose(*changes, atol=error)


def test_each_group_is_compared_with_its_own_reference():
    counts = ScoreCounts.merge(parts_of(2), by_period=True)
    table = compare_periods(counts, "2026-03", confidence_level=0.9)
    assert table.index.names == ["group", "period"]
    assert len(table) == 22
    for group in "ab":
        alone = ScoreCounts.merge(
            [
                ScoreCounts.from_counts(**cells.drop(columns="group"))
                for _, cells in counts.to_counts().query("group == @group").groupby("period")
            ]
        )
        expected = GroupAUC(alone).compare_groups("2026-03", confidence_level=0.9)
        pd.testing.assert_frame_equal(table.loc[group], expected)


def test_a_reference_period_without_rows_in_a_group_leaves_it_out():
    parts = parts_of(3)
    only_b = parts[0].regroup({"a": "b", "b": "b"}).with_source("va", model="m1", period="2026-01")
    counts = ScoreCounts.merge([only_b, *parts[1:]], by_period=True)
    assert set(compare_periods(counts, "2026-01").index.get_level_values(0)) == {"b"}
    for unknown in ("2025", None, np.array(["2025", "2026-01"])):
        with pytest.raises(ValueError, match="reference must be a period of the counts; got "):
            compare_periods(counts, unknown)


def log_ratio_by_integration(auc, variances, start, shift):
    """Log of the mean likelihood ratio of the AUCs' contrasts, over normal changes."""
    n = auc.size
    contrasts = np.eye(n)[1:] - np.eye(n)[0]  # free of the unknown AUC before the change
    covariance = contrasts @ np.diag(variances) @ contrasts.T
    changed = contrasts @ (np.arange(n) >= start)
    changes = np.linspace(-8 * shift, 8 * shift, 4001)
    left = contrasts @ auc - np.outer(changes, changed)
    squares = np.einsum("ij,ij->i", left, np.linalg.solve(covariance, left.T).T)
    logarithms = (squares[changes.size // 2] - squares) / 2  # against no change
    return np.log(trapezoid(np.exp(logarithms) * norm(scale=shift).pdf(changes), changes))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shift", [0.02, 0.2])
def test_the_evidence_is_a_likelihood_ratio_of_normal_aucs(seed, shift, monkeypatch):
    """All looks by numerical integration of multivariate normal densities."""
    monkeypatch.setattr(periods, "_skew", lambda *_: 0.0)
    shifts = [1.0] * 6 + [0.2] * 6
    counts = ScoreCounts.merge(parts_of(seed, None, shifts), by_period=True)
    estimates = estimates_of(GroupAUC(counts)).variances
    auc, weight = estimates.auc, estimates.size_weights
    n_reference, best = 3, []
    for last in range(n_reference, 12):
        so_far = slice(0, last + 1)
        scale = (weight**2 * estimates.delong)[so_far].sum() / weight[so_far].sum()
        evidence = [
            np.log(24 / ((start - n_reference + 24) * (start - n_reference + 25)))
            + log_ratio_by_integration(auc[so_far], scale / weight[so_far], start, shift)
            for start in range(n_reference, last + 1)
        ]
        best.append((max(evidence), n_reference + int(np.argmax(evidence))))
    found = find_change(counts, n_reference=n_reference, shift=shift).loc["all"]
    assert found["since"] == MONTHS[best[-1][1]]
    pvalue = min(1.0, np.exp(-max(value for value, _ in best)))
    np.testing.assert_allclose(found["pvalue"], pvalue, rtol=1e-6)
    established = [last for last, (value, _) in enumerate(best, 3) if value >= np.log(20)]
    assert found["found"] == (MONTHS[established[0]] if established else None)


def test_few_positives_and_aucs_near_1_give_few_false_changes():
    """With the variances of normal AUCs, 7 of these series have a change."""
    n_found = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        month = np.repeat(np.arange(36), 510)
        y = np.tile(np.arange(510) < 10, 36)
        groups = pd.Series(month + 100, name="period")
        counts = ScoreCounts.from_predictions(y, rng.normal(3.3 * y), groups=groups)
        n_found += find_change(counts, n_reference=12).loc["all", "found"] is not None
    assert n_found == 0
    for a, b in ((0.1, 9.9), (20.0, 5.0)):
        of = beta(a, b)
        expected = float(of.stats("s")) * of.std()
        assert periods._skew(of.mean(), of.var()) == pytest.approx(expected, rel=1e-9)


def test_the_interval_excludes_0_where_the_last_look_establishes_the_change():
    n_found = 0
    for seed in range(40):
        shifts = [1.0] * 6 + [1.0 - seed / 50] * 6
        counts = ScoreCounts.merge(parts_of(seed, None, shifts, 200), by_period=True)
        found = find_change(counts, n_reference=4).loc["all"]
        excludes = not found["ci_low"] <= 0 <= found["ci_high"]
        if excludes:
            assert found["pvalue"] <= 0.05
            assert found["found"] is not None
        elif found["found"] is not None:  # established at an earlier look
            assert found["found"] < MONTHS[-1]
        n_found += excludes
    assert 5 < n_found < 35


def test_several_groups_share_the_error():
    counts = ScoreCounts.merge(parts_of(5, ("a", "b", "c")), by_period=True)
    together = find_change(counts, n_reference=2)
    for group in "abc":
        cells = counts.to_counts().query("group == @group").drop(columns="group")
        alone = find_change(ScoreCounts.from_counts(**cells), n_reference=2).loc["all"]
        row = together.loc[group]
        assert (row["found"] is None) == (row["pvalue"] > 0.05)
        assert row["since"] == alone["since"]
        assert row["difference"] == pytest.approx(alone["difference"], abs=1e-14)
        assert row["ci_low"] < alone["ci_low"]
        assert row["pvalue"] >= alone["pvalue"]


def test_ordered_periods_are_looked_at_in_their_order():
    names = list("lkjihgfedcba")
    rng = np.random.default_rng(1)
    month = np.repeat(np.arange(12), 800)
    y = rng.integers(0, 2, month.size)
    score = rng.normal(size=month.size) + y * np.where(month < 8, 1.5, 0.5)
    periods = pd.Categorical.from_codes(month, names, ordered=True)
    groups = pd.Series(periods, name="period")
    found = find_change(ScoreCounts.from_predictions(y, score, groups=groups))
    assert found["since"].item() == names[8]


@pytest.mark.parametrize("joined", ["min_count", "max_cells"])
def test_joined_ranges_are_refused(joined):
    """Ranges of a small month are wider, which would look like a change."""
    parts = [
        part.reduced(max_cells=20)
        if joined == "max_cells"
        else part.reduced(Disclosure("bins", Bins.of_scores(), min_count=5))
        for part in parts_of(7)
    ]
    counts = ScoreCounts.merge(parts, by_period=True)
    with pytest.raises(ValueError, match="ranges that were joined by min_count or max_cells"):
        find_change(counts)
    assert compare_periods(counts, "2026-01")["pvalue"].notna().any()


def test_periods_that_may_not_be_in_order_of_time_are_refused(tmp_path):
    names = [f"{month} 2026" for month in ("Sep", "Oct", "Nov", "Dec")]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2400)
    score, period = rng.normal(size=2400) + y, np.repeat(names, 600)
    ordered = pd.Series(pd.Categorical(period, names, ordered=True), name="period")
    known = ScoreCounts.from_predictions(y, score, groups=ordered)
    assert find_change(known).loc["all", "n_periods"] == 4
    known.save(tmp_path / "known.skfa")
    plain = pd.Series(period, name="period")
    for counts in (
        ScoreCounts.load(tmp_path / "known.skfa"),
        ScoreCounts.from_predictions(y, score, groups=plain),
    ):
        with pytest.raises(ValueError, match="order of their text, 'Dec 2026', 'Nov 2026'"):
            find_change(counts)
    for texts in (["Q1 2026", "Q4 2025"], ["01/2026", "12/2025"], ["2026", "2025", "2024"]):
        named = pd.Series(np.resize(texts, 2400), name="period")
        counts = ScoreCounts.from_predictions(y, score, groups=named)
        if texts[0] != "2026":
            with pytest.raises(ValueError, match="order of their text"):
                find_change(counts)
    assert find_change(counts).loc["all", "n_periods"] == 3
    lacking = pd.Series(np.where(period == names[0], None, "2026-10"), name="period")
    with pytest.raises(ValueError, match="is no point in time; count the rows with missing='drop'"):
        find_change(ScoreCounts.from_predictions(y, score, groups=lacking, missing="group"))
