"""Intersections of sensitive columns, compared with scikit-learn and with reports by hand."""

import datetime
import html
import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests

from skfedauc import FairnessAudit, GroupAUC
from skfedauc.audit.claims import weighted_holm

pytestmark = pytest.mark.usefixtures("few_draws")

POOLED = "(small groups)"


def people(n=2400, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    groups = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "band": rng.choice([20, 40, 60, 80, 100], n, p=[0.4, 0.3, 0.26, 0.02, 0.02]),
            "born": rng.choice([datetime.datetime(2000, 1, day) for day in (1, 2, 3)], n),
        }
    )
    y = rng.integers(0, 2, n)
    is_bad = (groups["sex"] == "f") & (groups["band"] == 40)
    score = (rng.normal(size=n) + np.where(is_bad, 0.0, 1.5) * y).round(2)
    return y, score, groups, rng.uniform(0.5, 2, n) if weighted else None


def audit_of(rows, columns, **options):
    y, score, groups, weight = rows
    return FairnessAudit.from_predictions(
        y, score, groups=groups[list(columns)], sample_weight=weight, **options
    )


def pooled_labels(y, groups, columns, least):
    """Labels of a combination of columns, in which two or more small groups are one group."""
    parts = [groups[name] for name in columns]
    labels = pd.Series(list(zip(*parts, strict=True)) if len(columns) > 1 else list(parts[0]))
    n_smaller = (
        pd.DataFrame({"one": labels, "y": y}).value_counts().unstack(fill_value=0).min(axis=1)
    )
    small = set(n_smaller.index[n_smaller < least])
    if len(small) < 2:
        return labels.tolist()
    return [POOLED if label in small else label for label in labels.tolist()]


@pytest.mark.parametrize(
    ("depth", "least", "weighted"), [(1, 10, False), (2, 30, True), (9, 12, False)]
)
def test_each_combination_is_a_report_of_its_own(depth, least, weighted):
    y, score, groups, weight = rows = people(weighted=weighted)
    table = audit_of(rows, groups, min_per_class=least).intersections(depth)
    combinations = [
        columns
        for n_columns in range(1, min(depth, 3) + 1)
        for columns in itertools.combinations(groups, n_columns)
    ]
    assert set(table["columns"]) == set(combinations)
    of_all = []
    for columns in combinations:
        own = table[table["columns"] == columns]
        own = own.set_axis(pd.Index([*own["group"]], dtype=object, tupleize_cols=False))
        labels = pooled_labels(y, groups, columns, least)
        assert set(own.index) == set(labels)
        # Every row of the data is in one group.
        assert own[["n_positives", "n_negatives"]].to_numpy().sum() == y.size
        names = {label: f"{place:04}" for place, label in enumerate(own.index)}
        report = GroupAUC.from_predictions(
            y, score, groups=[names[label] for label in labels], sample_weight=weight
        )
        ranking = GroupAUC(report._estimates.pairs, min_per_class=least).ranking()
        rest = GroupAUC(report._estimates.pairs, min_per_class=least).compare_groups("rest")
        limits = report.confidence_intervals()
        for label, row in own.iterrows():
            inside = np.array([one == label for one in labels])
            w = None if weight is None else weight[inside]
            expected = roc_auc_score(y[inside], score[inside], sample_weight=w)
            assert row["auc"] == pytest.approx(expected, abs=1e-12)
            assert row["ci_low"] == pytest.approx(limits.loc[names[label], "ci_low"])
            if names[label] not in ranking.index:
                assert min(row["n_positives"], row["n_negatives"]) < least
                assert np.isnan(row["shrunken_auc"])
                assert np.isnan(row["pvalue_adjusted"])
                assert "too few rows for a comparison" in row["finding"]
                continue
            shrunken = ranking.loc[names[label]]
            assert row["shrunken_auc"] == pytest.approx(shrunken["shrunken_auc"])
            assert row["shrunken_ci_high"] == pytest.approx(shrunken["ci_high"])
            compared = rest.loc[names[label]]
            assert row["difference"] == pytest.approx(compared["difference"], abs=1e-12)
            assert row["pvalue"] == pytest.approx(compared["pvalue"], rel=1e-6)
            assert f"{compared['reference_auc']:.3f}" in row["finding"]
        tested = own["pvalue"].dropna()
        of_all.append((columns, tested.iloc[:1] if len(tested) == 2 else tested))
    pvalues = np.concatenate([tested for _, tested in of_all])
    weights = np.concatenate([np.full(len(tested), 1 / len(tested)) for _, tested in of_all])
    adjusted = iter(weighted_holm(pvalues, weights))
    for columns, tested in of_all:
        own = table.loc[table["columns"] == columns, "pvalue_adjusted"].dropna()
        expected = [next(adjusted) for _ in range(len(tested))]
        np.testing.assert_allclose(own, np.broadcast_to(expected, len(own)), rtol=1e-12)
    assert table["shrunken_auc"].dropna().is_monotonic_increasing
    n_compared = table["shrunken_auc"].notna().sum()
    assert table["shrunken_auc"][:n_compared].notna().all()


def test_equal_weights_are_holms_method():
    """With one column, all claims have the same weight."""
    y, score, groups, _ = people()
    audit = FairnessAudit.from_predictions(y, score, groups=groups["band"])
    table = audit.intersections()
    _, expected, *_ = multipletests(table["pvalue"], method="holm")
    np.testing.assert_allclose(table["pvalue_adjusted"], expected, rtol=1e-12)


def test_the_worst_intersection_is_said_first():
    rows = people()
    audit = audit_of(rows, ["sex", "band"], min_per_class=20)
    table = audit.intersections()
    worst = table.iloc[0]
    assert (worst["columns"], worst["group"]) == (("sex", "band"), ("f", 40))
    found = worst["finding"]
    assert found.startswith(f"sex 'f', band 40: AUC {worst['auc']:.3f} (95 % interval ")
    assert f", shrunken {worst['shrunken_auc']:.3f} (" in found
    assert f"It is {-worst['difference']:.3f} below the other groups'" in found
    assert "(adjusted p < 0.001)." in found
    of_sex = table[table["columns"] == ("sex",)]
    assert of_sex["pvalue_adjusted"].nunique() == 1
    assert not any("shrunken" in text for text in of_sex["finding"])
    not_found = table[table["pvalue_adjusted"] > 0.05]["finding"]
    assert len(not_found)
    assert not_found.str.contains("No difference from the other groups is established").all()
    assert (table["group"] == POOLED).sum() == 1
    pooled = table[table["group"] == POOLED].iloc[0]
    assert pooled["columns"] == ("sex", "band")
    assert pooled["finding"].startswith("Small groups by sex × band: AUC ")  # noqa: RUF001
    document = audit.to_dict()["intersections"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document[0]["group"] == ["f", 40]
    assert document[0]["columns"] == ["sex", "band"]
    assert document[0]["auc"] == worst["auc"]
    assert audit.of("sex").to_dict()["intersections"] == []


def test_what_cannot_be_compared_has_no_p_value():
    y, score, groups, _ = people(60)
    audit = FairnessAudit.from_predictions(y, score, groups=groups, min_per_class=40)
    table = audit.intersections(3)
    assert table["pvalue"].isna().all()
    assert table["finding"].str.contains("too few rows for a comparison").all()
    with pytest.raises(ValueError, match="depth must be"):
        audit.intersections(0)


def test_the_page_names_the_five_most_worrying_and_has_all(tmp_path, without_plots):
    audit = audit_of(people(), ["sex", "band"], min_per_class=20)
    audit.to_html(tmp_path / "a.html")
    text = html.unescape((tmp_path / "a.html").read_text(encoding="utf-8"))
    table = audit.intersections()
    assert [f"<li>{sentence}</li>" in text for sentence in table["finding"]] == [
        place < 5 for place in range(len(table))
    ]
    shown = text.partition('class="intersections"')[2].partition("</table>")[0]
    assert shown.count("<tr>") == 1 + len(table)
    numbers = [float(one) for one in re.findall(r'<td data-v="([^"]+)"', shown)]
    columns = table.select_dtypes("number").to_numpy()
    np.testing.assert_array_equal(numbers, columns[~np.isnan(columns)])
    assert "Intersections are adjusted separately" in text
    audit.of("sex").to_html(tmp_path / "b.html")
    text = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "Intersections" not in text
