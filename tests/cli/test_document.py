"""The JSON document, compared with scikit-learn on the rows that the test has written."""

import numpy as np
import pandas as pd
import pytest
from cli_cases import aucs_of, expected_aucs, save
from sklearn.metrics import roc_auc_score

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


def test_groups_of_one_class_are_null(tmp_path, audit):
    (grouping,) = audit(save(tmp_path / "p.csv", "y,s,g\n0,0.1,a\n1,0.4,a\n1,0.3,b\n"))["groupings"]
    assert aucs_of(grouping) == {"a": 1.0, "b": None}
    assert (grouping["n_groups"], grouping["n_undefined"]) == (2, 1)
    assert grouping["statistics"]["macro"] == 1.0
    assert grouping["statistics"]["difference"] is None


@pytest.mark.parametrize("n_groups", [MATRIX_GROUPS, MATRIX_GROUPS + 1])
def test_the_cross_matrix_is_omitted_above_many_groups(tmp_path, audit, n_groups):
    groups = np.arange(n_groups).repeat(2)
    frame = pd.DataFrame({"y": [0, 1] * n_groups, "s": groups % 7, "g": groups})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (grouping,) = audit(tmp_path / "p.csv")["groupings"]
    is_omitted = n_groups > MATRIX_GROUPS
    assert ("cross_difference" not in grouping["statistics"]) == is_omitted
