"""The JSON document, compared with scikit-learn on the rows that the test has written."""

import numpy as np
import pandas as pd
import pytest
from cli_cases import aucs_of, save

from skfedauc.report.statistics import MATRIX_GROUPS


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
