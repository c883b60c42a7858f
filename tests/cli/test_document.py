"""The JSON document, compared with scikit-learn on the rows that the test has written."""

import numpy as np
import pandas as pd
import pytest
from cli_cases import LONG, WEIGHTED, aucs_of, expected_aucs, save, with_gaps
from sklearn.metrics import roc_auc_score

from skfedauc import FairnessAudit
from skfedauc.report import STATISTICS
from skfedauc.report.statistics import MATRIX_GROUPS


def test_numbers_are_those_of_scikit_learn(frame, written, audit):
    document = audit(written)
    (grouping,) = document["groupings"]
    expected = expected_aucs(frame, "g")
    assert grouping["by"] == ["g"]
    assert set(expected) == {"007", "7", "NA", "nan", "2024-01-31", "a, b"}
    assert aucs_of(grouping) == pytest.approx(expected, abs=1e-12)
    statistics, parts = grouping["statistics"], grouping["decomposition"]
    assert list(statistics) == list(STATISTICS)
    assert statistics["pooled"] == pytest.approx(roc_auc_score(frame["y"], frame["s"]), abs=1e-12)
    assert statistics["macro"] == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    assert statistics["worst"] == min(aucs_of(grouping).values())
    assert statistics["pooled"] == pytest.approx(
        parts["share_within"] * parts["within"] + (1 - parts["share_within"]) * parts["cross"],
        abs=1e-12,
    )
    assert (document["n_positives"], document["n_negatives"]) == (
        (frame["y"] == 1).sum(),
        (frame["y"] == 0).sum(),
    )
    for group in grouping["groups"]:
        rows = frame[frame["g"] == group["label"]]
        assert group["n_positives"] == (rows["y"] == 1).sum()
        assert group["n_negatives"] == (rows["y"] == 0).sum()


def test_several_columns_of_groups_alone_and_combined(frame, written, audit):
    document = audit(written, *WEIGHTED, "--group", "sex", "--group", "g")
    used = frame[frame["w"] > 0]
    assert [grouping["by"] for grouping in document["groupings"]] == [["g"], ["sex"], ["g", "sex"]]
    for grouping, by in zip(document["groupings"], ["g", "sex", ["g", "sex"]], strict=True):
        assert aucs_of(grouping) == pytest.approx(expected_aucs(used, by, "w"), abs=1e-12)
    assert document["n_positives"] == (used["y"] == 1).sum()


def test_each_grouping_has_the_rows_with_its_groups(frame, gaps, audit):
    used = with_gaps(frame)
    used = used[used["w"] > 0]
    document = audit(gaps, *WEIGHTED, "--group", "sex", "--missing", "drop")
    for grouping, by in zip(document["groupings"], ["g", "sex", ["g", "sex"]], strict=True):
        kept = used.dropna(subset=by)
        assert aucs_of(grouping) == pytest.approx(expected_aucs(kept, by, "w"), abs=1e-12)
        # Statistics are those of the groups with 10 rows of each class, as the audit's answers.
        sizes = kept.groupby(by)["y"].agg(["sum", "size"])
        is_large = (sizes["sum"] >= 10) & (sizes["size"] - sizes["sum"] >= 10)
        assert grouping["n_compared"] == is_large.sum() >= 2
        compared = kept.join(is_large.rename("is_large"), on=by).query("is_large")
        pooled = roc_auc_score(compared["y"], compared["s"], sample_weight=compared["w"])
        assert grouping["statistics"]["pooled"] == pytest.approx(pooled, abs=1e-12)
        assert grouping["n_positives"] == (kept["y"] == 1).sum()
        assert grouping["n_negatives"] == (kept["y"] == 0).sum()
    n_dropped = [int(used[by].isna().any(axis=1).sum()) for by in (["g"], ["sex"], ["g", "sex"])]
    assert [grouping["n_dropped"] for grouping in document["groupings"]] == n_dropped
    kept = used.dropna(subset=["g", "sex"], how="all")
    assert document["n_positives"] == (kept["y"] == 1).sum()
    assert document["n_negatives"] == (kept["y"] == 0).sum()


def test_the_document_has_the_audit_of_python(tmp_path, audit):
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "tiny"], [80, 60, 12])
    y = np.append(rng.integers(0, 2, 140), [0] * 11 + [1])
    score = rng.normal(size=152) + y
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": y, "s": score, "g": group}).to_csv(path, index=False)
    document = audit(path)
    expected = FairnessAudit.from_predictions(y, score, groups=group).to_dict()["columns"]["group"]
    found = document["columns"]["g"]
    assert found["left_out"] == expected["left_out"]
    assert found["left_out"] == [{"group": "tiny", "n_positives": 1, "n_negatives": 11}]
    of_file, of_python = (of["answers"]["difference"] for of in (found, expected))
    assert of_file == of_python


def test_groups_of_one_class_are_null(tmp_path, audit):
    (grouping,) = audit(save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n"))["groupings"]
    assert aucs_of(grouping) == {"a": 1.0, "b": None}
    assert (grouping["n_groups"], grouping["n_undefined"]) == (2, 1)
    assert grouping["statistics"]["macro"] == 1.0
    assert grouping["statistics"]["difference"] is None


def test_no_group_has_both_classes(tmp_path, audit):
    (grouping,) = audit(save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,b\n"))["groupings"]
    assert grouping["statistics"]["pooled"] == 1.0
    assert grouping["statistics"]["worst"] is None
    assert grouping["decomposition"] == {"within": None, "cross": 1.0, "share_within": 0.0}


def test_long_labels_are_complete(tmp_path, audit):
    labels = [f"{LONG}{end}" for end in "ab"]
    text = "y,s,g\n" + "".join(f"{y},{y + 0.1},{label}\n" for label in labels for y in (0, 1))
    (grouping,) = audit(save(tmp_path / "p.csv", text))["groupings"]
    assert list(aucs_of(grouping)) == labels


@pytest.mark.parametrize("n_groups", [MATRIX_GROUPS, MATRIX_GROUPS + 1])
def test_the_cross_matrix_is_omitted_above_many_groups(tmp_path, audit, n_groups):
    groups = np.arange(n_groups).repeat(2)
    frame = pd.DataFrame({"y": [0, 1] * n_groups, "s": groups % 7, "g": groups})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (grouping,) = audit(tmp_path / "p.csv")["groupings"]
    is_omitted = n_groups > MATRIX_GROUPS
    assert ("cross_difference" not in grouping["statistics"]) == is_omitted
